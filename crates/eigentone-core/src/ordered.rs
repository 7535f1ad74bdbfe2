//! Numbers that can be sorted and queued.

use std::cmp::Ordering;

/// A length or cost with a total order, for heaps and sorted sets; not meant for NaN, which comes last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ordered(pub f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
