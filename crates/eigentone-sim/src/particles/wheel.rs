//! The wheel of ticks on which particles wait for their next event (Varghese & Lauck 1987, hashed timing wheel).
//!
//! Putting a particle on and taking it off cost the same however many wait. What lies more than one turn ahead shares a slot with what is due sooner,
//! and is put back when the slot comes up.

/// Ticks per second: a power of two, so that the tick of a time is exact. Between 16 and 1024 the speed is the same.
const TICKS_PER_S: f64 = 128.0;
/// Slots; one turn is 8 s, longer than most flights.
const SLOTS: usize = 1024;

/// Indices of particles, by the tick of their next event.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    slots: Vec<Vec<u32>>,
}

impl Wheel {
    pub(super) fn new() -> Self {
        Self { slots: vec![Vec::new(); SLOTS] }
    }

    /// The tick in which a time lies.
    pub(super) fn tick(time_s: f64) -> u64 {
        (time_s * TICKS_PER_S) as u64
    }

    /// Lets a particle wait for a time.
    pub(super) fn put(&mut self, particle: u32, time_s: f64) {
        self.slots[Self::tick(time_s) as usize % SLOTS].push(particle);
    }

    /// Lets a particle wait for another time than it did.
    pub(super) fn change(&mut self, particle: u32, from_s: f64, to_s: f64) {
        let slot = &mut self.slots[Self::tick(from_s) as usize % SLOTS];
        if let Some(place) = slot.iter().position(|&p| p == particle) {
            slot.swap_remove(place);
        }
        self.put(particle, to_s);
    }

    /// Takes everyone off the slot of a tick.
    pub(super) fn take(&mut self, tick: u64) -> Vec<u32> {
        std::mem::take(&mut self.slots[tick as usize % SLOTS])
    }

    /// Gives back the memory of a slot that was taken.
    pub(super) fn give_back(&mut self, tick: u64, mut emptied: Vec<u32>) {
        emptied.clear();
        let slot = &mut self.slots[tick as usize % SLOTS];
        emptied.append(slot);
        *slot = emptied;
    }
}
