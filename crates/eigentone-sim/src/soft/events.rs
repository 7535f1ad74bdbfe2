//! Who touched whom, and when.

use super::{ColliderId, SoftId};
use eigentone_core::Vec3;
use std::collections::BTreeMap;

/// What a body touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Partner {
    /// Another soft body.
    Body(SoftId),
    /// Something rigid.
    Collider(ColliderId),
}

/// A contact between two things, from its first to its last step.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    /// When it began, in s.
    pub time_s: f64,
    /// When it was over, or until now.
    pub end_s: f64,
    /// Which body, as they were numbered when it began.
    pub body: usize,
    /// With which other, as they were numbered when it began: bodies first, then colliders.
    pub other: usize,
    /// Which body, whatever came or went since.
    pub body_id: SoftId,
    /// With which other.
    pub partner: Partner,
    /// Where it began.
    pub position: Vec3,
    /// What the body got of it, in N·s.
    pub impulse_ns: Vec3,
}

/// Touches that follow within this time are one, in s.
pub(super) const SAME_S: f64 = 0.005;

/// Collects touches.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    going: BTreeMap<(SoftId, Partner), Touch>,
    over: Vec<Touch>,
}

impl Touches {
    /// Adds what one node felt in one step.
    pub fn add(&mut self, new: Touch) {
        self.going
            .entry((new.body_id, new.partner))
            .and_modify(|touch| {
                if new.time_s - touch.end_s > SAME_S {
                    self.over.push(std::mem::replace(touch, new.clone()));
                } else {
                    touch.end_s = new.time_s;
                    touch.impulse_ns += new.impulse_ns;
                }
            })
            .or_insert(new);
    }

    /// Ends what goes on with something that leaves.
    pub fn end(&mut self, gone: impl Fn(SoftId, Partner) -> bool) {
        self.finish(|key, _| gone(key.0, key.1));
    }

    /// Takes those that are over at a time.
    pub fn drain(&mut self, time_s: f64) -> Vec<Touch> {
        self.finish(|_, touch| time_s - touch.end_s > SAME_S);
        let mut touches = std::mem::take(&mut self.over);
        touches.sort_by(|a, b| a.time_s.total_cmp(&b.time_s).then((a.body_id, a.partner).cmp(&(b.body_id, b.partner))));
        touches
    }

    fn finish(&mut self, over: impl Fn(&(SoftId, Partner), &Touch) -> bool) {
        let over: Vec<_> = self.going.iter().filter(|(key, touch)| over(key, touch)).map(|(key, _)| *key).collect();
        self.over.extend(over.iter().filter_map(|key| self.going.remove(key)));
    }
}
