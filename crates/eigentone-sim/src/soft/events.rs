//! Who touched whom, and when.

use eigentone_core::Vec3;
use std::collections::BTreeMap;

/// A contact between two things, from its first to its last step.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    /// When it began, in s.
    pub time_s: f64,
    /// When it was over, or until now.
    pub end_s: f64,
    /// Which body.
    pub body: usize,
    /// With which other: bodies first, then colliders.
    pub other: usize,
    /// Where it began.
    pub position: Vec3,
    /// What the body got of it, in N·s.
    pub impulse_ns: Vec3,
}

/// Touches that follow within this time are one, in s.
const SAME_S: f64 = 0.005;

/// Collects touches.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    going: BTreeMap<(usize, usize), Touch>,
    over: Vec<Touch>,
}

impl Touches {
    /// Adds what one node felt in one step.
    pub fn add(&mut self, body: usize, other: usize, time_s: f64, position: Vec3, impulse_ns: Vec3) {
        let new = Touch { time_s, end_s: time_s, body, other, position, impulse_ns };
        self.going
            .entry((body, other))
            .and_modify(|touch| {
                if time_s - touch.end_s > SAME_S {
                    self.over.push(std::mem::replace(touch, new.clone()));
                } else {
                    touch.end_s = time_s;
                    touch.impulse_ns += impulse_ns;
                }
            })
            .or_insert(new);
    }

    /// Takes those that are over at a time.
    pub fn drain(&mut self, time_s: f64) -> Vec<Touch> {
        let over: Vec<_> = self.going.iter().filter(|(_, t)| time_s - t.end_s > SAME_S).map(|(key, _)| *key).collect();
        self.over.extend(over.iter().filter_map(|key| self.going.remove(key)));
        let mut touches = std::mem::take(&mut self.over);
        touches.sort_by(|a, b| a.time_s.total_cmp(&b.time_s).then((a.body, a.other).cmp(&(b.body, b.other))));
        touches
    }
}
