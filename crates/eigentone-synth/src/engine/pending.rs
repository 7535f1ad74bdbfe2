//! Events that wait for their time.

use crate::policy::Quality;
use eigentone_core::event::{Action, BodyId, Moment};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What will happen.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Act(Action),
    Remove,
    Quality(Quality),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub time: Moment,
    /// In the order of arrival, for events at the same time.
    pub number: u64,
    pub body: BodyId,
    pub what: What,
}

impl Pending {
    /// Order in time; a blow with a larger fraction comes later.
    fn key(&self) -> (u64, u32, u64) {
        // Positive floats sort as their bits.
        (self.time.sample, self.time.fraction.max(0.0).to_bits(), self.number)
    }
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Pending {}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pending {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// A bounded heap, and those whose time has come.
#[derive(Debug)]
pub(super) struct Waiting {
    heap: BinaryHeap<Reverse<Pending>>,
    due: Vec<Pending>,
    most: usize,
    counter: u64,
}

impl Waiting {
    pub fn new(most: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(most), due: Vec::with_capacity(most), most, counter: 0 }
    }

    /// Takes an event in; false if there is no room.
    pub fn push(&mut self, time: Moment, body: BodyId, what: What) -> bool {
        if self.heap.len() >= self.most {
            return false;
        }
        self.counter += 1;
        self.heap.push(Reverse(Pending { time, number: self.counter, body, what }));
        true
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Collects what is due before `end`, by body (as `slot` maps it) and then by time.
    pub fn collect(&mut self, end: u64, slot: impl Fn(BodyId) -> u32) {
        self.due.clear();
        while let Some(Reverse(next)) = self.heap.peek() {
            if next.time.sample >= end {
                break;
            }
            if let Some(Reverse(next)) = self.heap.pop() {
                self.due.push(next);
            }
        }
        self.due.sort_unstable_by_key(|p| (slot(p.body), p.key()));
    }

    /// What [`Waiting::collect`] found.
    pub fn due(&self) -> &[Pending] {
        &self.due
    }
}
