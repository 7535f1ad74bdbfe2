//! One key per body, for physics, contacts, synthesis and space.

use std::collections::VecDeque;

/// A body of a [`World`](crate::World). Keys of bodies that are gone are never taken for others: what is asked of them answers that they are gone. A body that comes back by
/// [`restore`](crate::World::restore) has its old key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyKey {
    index: u32,
    generation: u32,
}

impl BodyKey {
    /// The number of the body in contact frames: what a physics engine of your own should call it. Numbers are used again after a body is gone, those that have been free for longest first.
    pub fn number(self) -> u32 {
        self.index
    }

    /// As one number, to be kept where a key does not fit.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// Back from [`to_bits`](Self::to_bits).
    pub fn from_bits(bits: u64) -> Self {
        Self { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

/// A bridge of a [`World`](crate::World). As with bodies, keys of bridges that are gone are never taken for others, and one that comes back by an undo has its old key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BridgeKey(pub(crate) BodyKey);

impl BridgeKey {
    /// As one number, to be kept where a key does not fit.
    pub fn to_bits(self) -> u64 {
        self.0.to_bits()
    }

    /// Back from [`to_bits`](Self::to_bits).
    pub fn from_bits(bits: u64) -> Self {
        Self(BodyKey::from_bits(bits))
    }
}

/// Things by key, in places that are used again.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    places: Vec<Slot<T>>,
    /// Free places, the one that has been free for longest first: frames of a physics engine that still name the old body do not move a new one.
    free: VecDeque<u32>,
    max: usize,
    len: usize,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    /// Of what is there, or was last.
    generation: u32,
    /// The next that will be given out: higher than any before, also after a restore.
    next: u32,
    value: Option<T>,
}

impl<T> Slots<T> {
    pub fn new(max: usize) -> Self {
        Self { places: Vec::new(), free: VecDeque::new(), max, len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The key to be used next; `None` if all places are taken.
    pub fn vacant(&self) -> Option<BodyKey> {
        if self.places.len() < self.max {
            return Some(BodyKey { index: self.places.len() as u32, generation: 0 });
        }
        let index = *self.free.front()?;
        Some(BodyKey { index, generation: self.places[index as usize].next })
    }

    /// Whether a key may be used: its place exists or could.
    pub fn fits(&self, key: BodyKey) -> bool {
        (key.index as usize) < self.max
    }

    /// Puts something under a key that was known before and [fits](Self::fits), or is [vacant](Self::vacant). What is there already is replaced.
    pub fn insert_at(&mut self, key: BodyKey, value: T) {
        while self.places.len() <= key.index as usize {
            self.free.push_back(self.places.len() as u32);
            self.places.push(Slot { generation: 0, next: 0, value: None });
        }
        let slot = &mut self.places[key.index as usize];
        self.len += usize::from(slot.value.is_none());
        slot.generation = key.generation;
        slot.next = slot.next.max(key.generation.wrapping_add(1));
        slot.value = Some(value);
        self.free.retain(|&index| index != key.index);
    }

    pub fn remove(&mut self, key: BodyKey) -> Option<T> {
        let slot = self.places.get_mut(key.index as usize).filter(|s| s.generation == key.generation)?;
        let value = slot.value.take()?;
        self.free.push_back(key.index);
        self.len -= 1;
        Some(value)
    }

    pub fn get(&self, key: BodyKey) -> Option<&T> {
        self.places.get(key.index as usize).filter(|s| s.generation == key.generation)?.value.as_ref()
    }

    pub fn get_mut(&mut self, key: BodyKey) -> Option<&mut T> {
        self.places.get_mut(key.index as usize).filter(|s| s.generation == key.generation)?.value.as_mut()
    }

    /// Whatever is under a number now.
    pub fn key_of(&self, number: u32) -> Option<BodyKey> {
        let slot = self.places.get(number as usize).filter(|s| s.value.is_some())?;
        Some(BodyKey { index: number, generation: slot.generation })
    }

    pub fn by_number_mut(&mut self, number: u32) -> Option<&mut T> {
        self.places.get_mut(number as usize)?.value.as_mut()
    }

    pub fn iter(&self) -> impl Iterator<Item = (BodyKey, &T)> {
        self.places.iter().enumerate().filter_map(|(index, slot)| {
            let key = BodyKey { index: index as u32, generation: slot.generation };
            slot.value.as_ref().map(|value| (key, value))
        })
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (BodyKey, &mut T)> {
        self.places.iter_mut().enumerate().filter_map(|(index, slot)| {
            let key = BodyKey { index: index as u32, generation: slot.generation };
            slot.value.as_mut().map(|value| (key, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert<T>(slots: &mut Slots<T>, value: T) -> Option<BodyKey> {
        let key = slots.vacant()?;
        slots.insert_at(key, value);
        Some(key)
    }

    /// A stale key answers that it is stale, a revived one answers again, and a new one in the same place is neither.
    #[test]
    fn keys_never_mean_another() {
        let mut slots = Slots::new(2);
        let a = insert(&mut slots, "a").unwrap();
        let b = insert(&mut slots, "b").unwrap();
        assert_eq!(insert(&mut slots, "c"), None);
        assert_eq!(slots.remove(a), Some("a"));
        let c = insert(&mut slots, "c").unwrap();
        assert_eq!((c.number(), slots.get(a), slots.get(c)), (a.number(), None, Some(&"c")));
        slots.remove(c);
        slots.insert_at(a, "a again");
        assert_eq!((slots.get(a), slots.get(c), slots.len()), (Some(&"a again"), None, 2));
        slots.remove(a);
        let d = insert(&mut slots, "d").unwrap();
        assert!(d != a && d != c && d != b);
        assert_eq!(BodyKey::from_bits(d.to_bits()), d);
    }
}
