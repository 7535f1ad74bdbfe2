//! Events that wait for their time.
//!
//! What happens is kept in one place and ordered by a small key, so that a flood of events moves few bytes. A block takes in at most so many of those that are due as the engine may look at;
//! the others stay, in the order of time.

use crate::policy::Quality;
use eigentone_core::event::{Action, BodyId, Moment};
use eigentone_core::model::SiteBlend;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What will happen.
#[derive(Clone, Copy, Debug)]
pub(super) enum PendingKind {
    Act(Action),
    Remove,
    Quality(Quality),
}

impl PendingKind {
    /// Whether it must never get lost.
    fn is_vital(&self) -> bool {
        matches!(self, PendingKind::Remove | PendingKind::Quality(_))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub time: Moment,
    pub body: BodyId,
    pub what: PendingKind,
    /// Whether its block had no time for it, or had passed when it came.
    pub put_off: bool,
}

/// Order in time; a blow with a larger fraction comes later, and of those at the same time the one that arrived first is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    sample: u64,
    /// Positive floats sort as their bits.
    fraction: u32,
    number: u64,
    index: u32,
}

/// An event whose time has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// The place of the body it happens to; the last of all if there is none.
    pub slot: u32,
    /// What became of it.
    pub fate: Fate,
    key: Key,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It happens in this block.
    Now,
    /// It waits for another block.
    Later,
    /// It is too late for it.
    Never,
}

/// A bounded heap, and those whose time has come.
#[derive(Debug)]
pub(super) struct Waiting {
    heap: BinaryHeap<Reverse<Key>>,
    events: Vec<Pending>,
    free: Vec<u32>,
    due: Vec<Due>,
    most: usize,
    /// Most events that are looked at in one block.
    max_due: usize,
    counter: u64,
}

impl Waiting {
    /// Room for `most` events and for `vital` ones beside them.
    pub fn new(most: usize, vital: usize, max_due: usize) -> Self {
        let room = most + vital;
        let max_due = max_due.clamp(1, room.max(1));
        Self {
            heap: BinaryHeap::with_capacity(room),
            events: Vec::with_capacity(room),
            free: Vec::with_capacity(room),
            due: Vec::with_capacity(room),
            most,
            max_due,
            counter: 0,
        }
    }

    /// Takes an event in, which may be late already; false if there is no room.
    pub fn push(&mut self, time: Moment, body: BodyId, what: PendingKind, late: bool) -> bool {
        let room = if what.is_vital() { self.events.capacity() } else { self.most };
        if self.len() >= room {
            return false;
        }
        let event = Pending { time, body, what, put_off: late };
        let index = match self.free.pop() {
            Some(index) => {
                self.events[index as usize] = event;
                index
            }
            None => {
                self.events.push(event);
                self.events.len() as u32 - 1
            }
        };
        self.counter += 1;
        let fraction = time.fraction.max(0.0).to_bits();
        self.heap.push(Reverse(Key { sample: time.sample, fraction, number: self.counter, index }));
        true
    }

    pub fn len(&self) -> usize {
        self.heap.len() + self.due.len()
    }

    /// Collects what is due before `end`, by body (as `slot` maps it) and then by time; what was put off is among it. Says how many of them should have happened before `begin` and were not looked at then.
    pub fn collect(&mut self, begin: u64, end: u64, slot: impl Fn(BodyId) -> u32) -> u64 {
        let mut unseen = 0;
        while self.due.len() < self.max_due
            && let Some(Reverse(key)) = self.heap.peek().filter(|next| next.0.sample < end).copied()
        {
            self.heap.pop();
            if key.sample > 0 && key.sample < begin {
                let event = &mut self.events[key.index as usize];
                unseen += u64::from(!std::mem::replace(&mut event.put_off, true));
            }
            self.due.push(Due { slot: u32::MAX, fate: Fate::Now, key });
        }
        for due in &mut self.due {
            due.slot = slot(self.events[due.key.index as usize].body);
        }
        self.due.sort_unstable_by_key(|due| (due.slot, due.key));
        unseen
    }

    /// What [`Waiting::collect`] found.
    pub fn due(&self) -> &[Due] {
        &self.due
    }

    /// The event of the `i`th that is due.
    pub fn event(&self, i: usize) -> &Pending {
        &self.events[self.due[i].key.index as usize]
    }

    /// Puts the `i`th that is due off to the next block; says whether that happens to it for the first time.
    pub fn put_off(&mut self, i: usize) -> bool {
        self.due[i].fate = Fate::Later;
        let event = &mut self.events[self.due[i].key.index as usize];
        !std::mem::replace(&mut event.put_off, true)
    }

    /// The `i`th that is due will not happen.
    pub fn drop(&mut self, i: usize) {
        self.due[i].fate = Fate::Never;
    }

    /// Ends a block: all that is due has happened, but for what was put off.
    pub fn finish(&mut self) {
        let free = &mut self.free;
        self.due.retain_mut(|due| {
            let later = due.fate == Fate::Later;
            if !later {
                free.push(due.key.index);
            }
            due.fate = Fate::Now;
            later
        });
    }

    /// Changes where everything that waits will happen, for bodies that `of` says.
    pub fn move_sites(&mut self, of: impl Fn(BodyId) -> bool, to: impl Fn(&mut SiteBlend)) {
        let waiting = self.heap.iter().map(|Reverse(key)| key.index).chain(self.due.iter().map(|due| due.key.index));
        for index in waiting {
            let event = &mut self.events[index as usize];
            if let PendingKind::Act(Action::Blow { site, .. } | Action::Impulse { site, .. }) = &mut event.what
                && of(event.body)
            {
                to(site);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many are due, a block sees no more than it may look at, the earliest first; nothing is lost and none comes twice.
    #[test]
    fn a_flood_comes_in_the_order_of_time() {
        let mut waiting = Waiting::new(100, 10, 16);
        let body = BodyId { slot: 0, generation: 1 };
        for n in 0..100u64 {
            let time = Moment { sample: (37 * n) % 100, fraction: 0.0 };
            assert!(waiting.push(time, body, PendingKind::Act(Action::Gain(time.sample as f32)), false));
        }
        assert!(!waiting.push(Moment::NOW, body, PendingKind::Act(Action::Silence), false), "full");
        assert!(
            waiting.push(Moment { sample: 1000, fraction: 0.0 }, body, PendingKind::Remove, false),
            "but never for a removal"
        );
        let mut seen = Vec::new();
        while seen.len() < 100 {
            waiting.collect(0, 500, |_| 0);
            let count = waiting.due().len();
            assert!(count <= 16);
            for i in 0..count {
                // Every third is put off once.
                let event = waiting.event(i);
                if event.time.sample.is_multiple_of(3) && !event.put_off {
                    assert!(waiting.put_off(i));
                } else {
                    seen.push(event.time.sample);
                }
            }
            waiting.finish();
        }
        assert_eq!(waiting.len(), 1);
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..100));
    }
}
