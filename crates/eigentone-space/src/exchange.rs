//! Reverberation that is exchanged while it sounds.
//!
//! All that an exchange needs is made on the control side and goes to the audio side in one message. There the new reverberation is given the buses over [`FADE_S`] with equal power, while
//! the old one is given less and less of them. What it has been given rings out to its end, then its memory goes back to the control side. If exchanges follow each other faster than that, the
//! oldest that rings is faded out over [`FADE_S`] as well. Nothing here allocates or frees.

use crate::BLOCK;
use crate::convolve::{INPUTS, Reverb};
use crate::doppler::{Doppler, smooth};
use crate::tilt::TiltTable;

/// Reverberations on the audio side at once: one that is given sound, and those that ring out.
pub(crate) const MAX_HALLS: usize = 4;

/// Of these, so many ring out in peace.
const RINGING_OUT: usize = 2;

/// Time in which one reverberation takes the place of another, in s.
pub(crate) const FADE_S: f64 = 0.1;

/// What the control side has made for the audio side.
#[derive(Debug)]
pub(crate) enum Exchange {
    /// Another field: its reverberation, which free field has none of, and its tilts.
    Field { hall: Option<Box<Hall>>, tilts: TiltTable },
    /// Delays for all sources, or none.
    Doppler(Option<Box<Doppler>>),
}

/// What goes back, to be freed.
#[derive(Debug)]
pub(crate) enum Returned {
    Hall(Box<Hall>),
    Doppler(Box<Doppler>),
}

/// A reverberation, what share of the buses it is given, and what share of it is heard.
#[derive(Debug)]
pub(crate) struct Hall {
    reverb: Reverb,
    given: Fade,
    heard: Fade,
}

impl Hall {
    pub(crate) fn new(reverb: Reverb) -> Self {
        Self { reverb, given: Fade { now: 0.0, goal: 0.0 }, heard: Fade { now: 1.0, goal: 1.0 } }
    }
}

/// A quarter turn from nothing to all, slow at its ends: two that go against each other have equal power.
#[derive(Clone, Copy, Debug)]
struct Fade {
    now: f32,
    goal: f32,
}

impl Fade {
    fn is(&self, value: f32) -> bool {
        self.now == value && self.goal == value
    }

    /// One block on. Returns the gains at its beginning and its end.
    fn advance(&mut self, step: f32) -> [f32; 2] {
        let gain = |phase: f32| if phase == 1.0 { 1.0 } else { (std::f32::consts::FRAC_PI_2 * smooth(phase)).sin() };
        let from = gain(self.now);
        self.now = self.goal.clamp(self.now - step, self.now + step);
        [from, gain(self.now)]
    }
}

/// All reverberations on the audio side.
#[derive(Debug)]
pub(crate) struct Halls {
    /// From the oldest on; empty places come last.
    halls: [Option<Box<Hall>>; MAX_HALLS],
    /// Phase that a fade moves in a block.
    step: f32,
}

impl Halls {
    /// Begins with a reverberation that is given all from the start.
    pub(crate) fn new(reverb: Option<Reverb>, sample_rate_hz: f64) -> Self {
        let all = Fade { now: 1.0, goal: 1.0 };
        let first = reverb.map(|reverb| Box::new(Hall { reverb, given: all, heard: all }));
        let mut halls = [const { None }; MAX_HALLS];
        halls[0] = first;
        Self { halls, step: (BLOCK as f64 / (FADE_S * sample_rate_hz)).clamp(1e-6, 1.0) as f32 }
    }

    /// Blocks that a fade takes.
    pub(crate) fn fade(&self) -> u32 {
        (1.0 / self.step).ceil() as u32
    }

    /// Whether one more finds a place.
    pub(crate) fn has_room(&self) -> bool {
        self.halls[MAX_HALLS - 1].is_none()
    }

    /// From now on `hall` is given the buses, or none is. Gives it back if there is no room for it.
    pub(crate) fn exchange(&mut self, hall: Option<Box<Hall>>) -> Option<Box<Hall>> {
        if hall.is_some() && !self.has_room() {
            return hall;
        }
        let ringing = self.halls.iter().flatten().count();
        for (age, old) in self.halls.iter_mut().flatten().enumerate() {
            old.given.goal = 0.0;
            if ringing - age > RINGING_OUT {
                old.heard.goal = 0.0;
            }
        }
        let mut hall = hall?;
        hall.given.goal = 1.0;
        if let Some(free) = self.halls.iter_mut().find(|h| h.is_none()) {
            *free = Some(hall);
        }
        None
    }

    /// Adds what is heard of all of them in a block.
    pub(crate) fn process(&mut self, buses: &[[f32; BLOCK]; INPUTS], out: &mut [[f32; BLOCK]; 2]) {
        for hall in self.halls.iter_mut().flatten() {
            let given = if hall.given.is(1.0) { None } else { Some(scaled(buses, hall.given.advance(self.step))) };
            let inputs = given.as_ref().unwrap_or(buses);
            if hall.heard.is(1.0) {
                hall.reverb.process(inputs, out);
                continue;
            }
            let mut own = [[0.0; BLOCK]; 2];
            hall.reverb.process(inputs, &mut own);
            let own = scaled(&own, hall.heard.advance(self.step));
            out.as_flattened_mut().iter_mut().zip(own.as_flattened()).for_each(|(y, x)| *y += x);
        }
    }

    /// One that is given nothing any more and is not heard any more.
    pub(crate) fn done(&mut self) -> Option<Box<Hall>> {
        let over = |h: &Hall| h.given.is(0.0) && (h.heard.is(0.0) || h.reverb.is_idle());
        let at = self.halls.iter().position(|h| h.as_ref().is_some_and(|h| over(h)))?;
        let hall = self.halls[at].take();
        self.halls[at..].rotate_left(1);
        hall
    }

    /// Whether silence in gives silence out.
    pub(crate) fn is_idle(&self) -> bool {
        self.halls.iter().flatten().all(|h| h.reverb.is_idle())
    }
}

/// Blocks with a gain that goes in a straight line.
fn scaled<const N: usize>(blocks: &[[f32; BLOCK]; N], [from, to]: [f32; 2]) -> [[f32; BLOCK]; N] {
    if from == 0.0 && to == 0.0 {
        return [[0.0; BLOCK]; N];
    }
    let step = (to - from) / BLOCK as f32;
    blocks.map(|block| std::array::from_fn(|n| block[n] * (from + step * (n + 1) as f32)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::air::Air;
    use crate::canonical::Canonical;

    const RATE_HZ: f64 = 16_000.0;

    fn hall() -> Reverb {
        Reverb::new(RATE_HZ, &Canonical::new(RATE_HZ, &Air::default()))
    }

    /// However fast exchanges come, every reverberation comes back, and none waits for a place longer than a fade takes.
    #[test]
    fn all_halls_come_back_in_time() {
        let filters = Canonical::new(RATE_HZ, &Air::default());
        let mut halls = Halls::new(Some(hall()), RATE_HZ);
        let buses = [[0.1; BLOCK]; INPUTS];
        let mut spare: Vec<Box<Hall>> = (0..9).map(|_| Box::new(Hall::new(Reverb::new(RATE_HZ, &filters)))).collect();
        let (mut back, mut waited, mut longest) = (0, 0, 0);
        for _ in 0..2000 {
            if halls.has_room() {
                if let Some(next) = spare.pop() {
                    assert!(halls.exchange(Some(next)).is_none());
                }
                waited = 0;
            } else {
                waited += 1;
            }
            longest = longest.max(waited);
            halls.process(&buses, &mut [[0.0; BLOCK]; 2]);
            back += usize::from(halls.done().is_some());
        }
        let fade = (FADE_S * RATE_HZ / BLOCK as f64).ceil() as usize;
        assert!(longest <= fade + 1, "{longest} blocks, a fade is {fade}");
        assert!(back >= 9 && spare.is_empty(), "{back}");
        assert!(halls.exchange(None).is_none());
        for _ in 0..2000 {
            halls.process(&buses, &mut [[0.0; BLOCK]; 2]);
            back += usize::from(halls.done().is_some());
        }
        assert_eq!((back, halls.is_idle()), (10, true));
    }
}
