//! Sets of slots that are walked in rising order at the cost of what is in them, not of what could be.

use std::sync::atomic::{AtomicU64, Ordering};

/// A set of slots below a limit: bits, and for each word of bits one more bit that says whether it has any.
#[derive(Clone, Debug)]
pub(crate) struct SlotSet {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl SlotSet {
    /// Room for slots below `limit`.
    pub(crate) fn new(limit: usize) -> Self {
        let words = limit.div_ceil(64);
        Self { words: vec![0; words], summary: vec![0; words.div_ceil(64)] }
    }

    /// Adds a slot; one that is out of bounds is left out.
    pub(crate) fn insert(&mut self, slot: usize) {
        if let Some(word) = self.words.get_mut(slot / 64) {
            *word |= 1 << (slot % 64);
            self.summary[slot / 4096] |= 1 << (slot / 64 % 64);
        }
    }

    /// Takes a slot out.
    pub(crate) fn remove(&mut self, slot: usize) {
        if let Some(word) = self.words.get_mut(slot / 64) {
            *word &= !(1 << (slot % 64));
            if *word == 0 {
                self.summary[slot / 4096] &= !(1 << (slot / 64 % 64));
            }
        }
    }

    /// The lowest slot that is in it and not below `from`.
    pub(crate) fn next(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let here = self.words.get(word)? & (u64::MAX << (from % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        let mut above = word + 1;
        while let Some(summary) = self.summary.get(above / 64) {
            let full = summary & (u64::MAX << (above % 64));
            if full != 0 {
                let word = above / 64 * 64 + full.trailing_zeros() as usize;
                return Some(word * 64 + self.words[word].trailing_zeros() as usize);
            }
            above = (above / 64 + 1) * 64;
        }
        None
    }

    /// All of them, from the lowest on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let slot = self.next(from)?;
            from = slot + 1;
            Some(slot)
        })
    }

    /// Takes all of them out.
    pub(crate) fn clear(&mut self) {
        while let Some(slot) = self.next(0) {
            self.words[slot / 64] = 0;
            self.summary[slot / 4096] &= !(1 << (slot / 64 % 64));
        }
    }
}

/// Which slots have sound on its way: the audio side writes when that changes, the control side reads whenever it likes.
#[derive(Debug)]
pub(crate) struct Sounding(Box<[AtomicU64]>);

impl Sounding {
    pub(crate) fn new(limit: usize) -> Self {
        Self((0..limit.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn set(&self, slot: usize, sounds: bool) {
        let Some(word) = self.0.get(slot / 64) else { return };
        let bit = 1 << (slot % 64);
        if sounds {
            word.fetch_or(bit, Ordering::Relaxed);
        } else {
            word.fetch_and(!bit, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self, slot: usize) -> bool {
        self.0.get(slot / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (slot % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;
    use std::collections::BTreeSet;

    /// Against the set of the standard library, across the edges of words and of words of words.
    #[test]
    fn slots_come_in_order() {
        for limit in [0, 1, 64, 65, 4096, 4097, 10_000] {
            let (mut set, mut truth, mut noise) = (SlotSet::new(limit), BTreeSet::new(), Noise::new(3));
            for round in 0..2000 {
                let slot = (noise.uniform() * limit as f64) as usize;
                if noise.uniform() < 0.6 && slot < limit {
                    set.insert(slot);
                    truth.insert(slot);
                } else {
                    set.remove(slot);
                    truth.remove(&slot);
                }
                if round % 100 == 0 {
                    assert!(set.iter().eq(truth.iter().copied()), "{limit}");
                    let from = (noise.uniform() * 11_000.0) as usize;
                    assert_eq!(set.next(from), truth.range(from..).next().copied(), "{limit} from {from}");
                }
            }
            set.insert(1 << 40);
            set.remove(1 << 40);
            set.clear();
            assert_eq!(set.iter().next(), None);
        }
    }

    #[test]
    fn bits_of_sound_are_those_that_were_set() {
        let sounding = Sounding::new(130);
        for slot in [0, 63, 64, 129] {
            sounding.set(slot, true);
        }
        sounding.set(64, false);
        sounding.set(1 << 30, true);
        assert_eq!([0, 1, 63, 64, 129, 1 << 30].map(|s| sounding.get(s)), [true, false, true, false, true, false]);
    }
}
