//! Which places need work in a block: cost follows what sounds, not what exists.
//!
//! A place is on the list while its body sounds, is worth a look by the policy, or has something happen to it. The list is in the order of the places, so that sums over it are the same
//! however a body came onto it.

/// A sorted list of places.
#[derive(Debug)]
pub(super) struct Awake {
    slots: Vec<u32>,
    /// Those that have come since the list was last put in order.
    woken: Vec<u32>,
    listed: Vec<bool>,
}

impl Awake {
    /// An empty list for so many places.
    pub fn new(places: usize) -> Self {
        Self { slots: Vec::with_capacity(places), woken: Vec::with_capacity(places), listed: vec![false; places] }
    }

    /// Puts a place on the list, if it is not there.
    pub fn add(&mut self, slot: usize) {
        if !std::mem::replace(&mut self.listed[slot], true) {
            self.woken.push(slot as u32);
        }
    }

    /// Puts those that have come in order.
    pub fn sort(&mut self) {
        if self.woken.is_empty() {
            return;
        }
        self.woken.sort_unstable();
        let (mut from, mut new) = (self.slots.len(), self.woken.len());
        self.slots.resize(from + new, 0);
        // From the last on, so that nothing is overwritten before it has moved.
        for to in (0..from + new).rev() {
            if new == 0 {
                break;
            }
            let old_is_last = from > 0 && self.slots[from - 1] > self.woken[new - 1];
            self.slots[to] = if old_is_last {
                from -= 1;
                self.slots[from]
            } else {
                new -= 1;
                self.woken[new]
            };
        }
        self.woken.clear();
    }

    /// The places, in order.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Takes those off the list that have nothing to do.
    pub fn retain(&mut self, busy: impl Fn(usize) -> bool) {
        let listed = &mut self.listed;
        self.slots.retain(|&slot| {
            let stays = busy(slot as usize);
            listed[slot as usize] = stays;
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;
    use std::collections::BTreeSet;

    /// The list is the sorted set of what was added and not taken off.
    #[test]
    fn the_list_is_a_sorted_set() {
        let (mut awake, mut truth, mut noise) = (Awake::new(200), BTreeSet::new(), Noise::new(3));
        for _ in 0..500 {
            for _ in 0..(noise.uniform() * 20.0) as usize {
                let slot = (noise.uniform() * 200.0) as usize;
                awake.add(slot);
                truth.insert(slot as u32);
            }
            awake.sort();
            assert!(awake.slots().iter().eq(&truth));
            let (a, b) = (noise.uniform(), 1 + (noise.uniform() * 5.0) as usize);
            let stays = |slot: usize| (slot % b) as f64 > a;
            awake.retain(stays);
            truth.retain(|&slot| stays(slot as usize));
        }
    }
}
