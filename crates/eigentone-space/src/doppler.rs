//! Sound that takes time to arrive: a moving source changes its pitch.

use crate::BLOCK;
use crate::delay::{self, MARGIN};
use eigentone_core::SOUND_M_S;

/// The longest way in time; what is farther arrives as if from there (171.5 m).
pub const LONGEST_S: f64 = 0.5;

/// Time in which delays come in or go out while sources sound, in s.
const FADE_S: f64 = 0.03;

/// Most samples that the delay moves per block: half the speed of sound.
const FASTEST: f64 = 0.5 * BLOCK as f64;

/// Room for a block that is read while the delay moves as fast as it may.
const WINDOW: usize = 2 * BLOCK + FASTEST as usize + 2 * MARGIN;

/// So many sources have delays at once; what sounds beyond that arrives without one. More than can be told apart, and the memory stays the same for ten thousand sources.
pub const MAX_DELAYED: usize = 256;

/// What sounding sources emitted lately. Memory: half a second for each that can be delayed at once, 88 kB at 44.1 kHz.
#[derive(Debug)]
pub(crate) struct Doppler {
    rings: Vec<f32>,
    /// Samples per ring.
    length: usize,
    /// Rings that nobody has.
    free: Vec<u16>,
    places: Vec<Place>,
    samples_per_m: f64,
    /// Share that comes in per block.
    step: f32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Number of its ring plus one; it has none while it is silent.
    ring: u16,
    /// Whether it has been aimed.
    aimed: bool,
    /// Blocks until its ring holds all that is on its way, and the share of it that is heard from then on, in place of what arrives at once.
    filling: u32,
    share: f32,
    /// Where the next block goes, in its ring.
    head: usize,
    /// Delay at the end of the last block, in samples.
    now: f64,
    goal: f64,
}

impl Doppler {
    pub(crate) fn new(sample_rate_hz: f64, sources: usize) -> Self {
        let length = ((LONGEST_S * sample_rate_hz) as usize + WINDOW + BLOCK).next_multiple_of(BLOCK);
        let rings = sources.min(MAX_DELAYED);
        Self {
            rings: vec![0.0; length * rings],
            length,
            free: (0..rings as u16).rev().collect(),
            places: vec![Place::default(); sources],
            samples_per_m: sample_rate_hz / SOUND_M_S,
            step: fade_step(sample_rate_hz),
        }
    }

    /// Sets the distance to go to, at once if the source is new; its past is then silence.
    pub(crate) fn aim(&mut self, slot: usize, distance_m: f32, new: bool) {
        let Some(place) = self.places.get_mut(slot) else { return };
        let most = (self.length - WINDOW - BLOCK) as f64;
        place.goal = (f64::from(distance_m) * self.samples_per_m).clamp(0.0, most);
        if new || !place.aimed {
            (place.now, place.aimed) = (place.goal, true);
        }
        if new {
            self.rest(slot);
        }
    }

    /// Takes the ring of a source away: nothing of it is on its way.
    pub(crate) fn rest(&mut self, slot: usize) {
        if let Some(place) = self.places.get_mut(slot)
            && let Some(ring) = std::mem::take(&mut place.ring).checked_sub(1)
        {
            self.free.push(ring);
        }
    }

    /// Takes a block in and gives out what arrives. `distance_m` counts if the source has not been aimed since there are delays; `sounded` says that it was heard before this block: if it has
    /// no ring yet, it arrives at once until the ring is filled, and then fades over to what is late.
    pub(crate) fn pass(&mut self, slot: usize, distance_m: f32, sounded: bool, x: &[f32; BLOCK]) -> [f32; BLOCK] {
        if self.places.get(slot).is_some_and(|p| !p.aimed) {
            self.aim(slot, distance_m, true);
        }
        let Some(place) = self.places.get_mut(slot) else { return *x };
        if place.ring == 0 {
            let Some(ring) = self.free.pop() else { return *x };
            (place.ring, place.head, place.share) = (ring + 1, 0, 1.0);
            if sounded {
                (place.now, place.share) = (place.goal, 0.0);
                place.filling = ((place.goal + WINDOW as f64) / BLOCK as f64).ceil() as u32;
            }
            self.rings[usize::from(ring) * self.length..][..self.length].fill(0.0);
        }
        let ring = &mut self.rings[usize::from(place.ring - 1) * self.length..][..self.length];
        ring[place.head..place.head + BLOCK].copy_from_slice(x);
        let next = place.goal.clamp(place.now - FASTEST, place.now + FASTEST);
        // The whole samples both ends have in common are skipped; the rest is exact in single precision.
        let whole = place.now.min(next).floor();
        let from = (place.now - whole) as f32;
        let to = (next - whole) as f32;
        let newest = WINDOW - BLOCK;
        let begin = (place.head + 2 * self.length - whole as usize - newest) % self.length;
        let mut window = [0.0; WINDOW];
        let first = WINDOW.min(self.length - begin);
        window[..first].copy_from_slice(&ring[begin..begin + first]);
        window[first..].copy_from_slice(&ring[..WINDOW - first]);
        let mut out = [0.0; BLOCK];
        delay::read::<false>(&window, newest, from, to, &mut out);
        place.head = (place.head + BLOCK) % self.length;
        place.now = next;
        if place.filling > 0 {
            place.filling -= 1;
            return *x;
        }
        if place.share < 1.0 {
            let from = place.share;
            place.share = (from + self.step).min(1.0);
            return between(x, &out, [smooth(from), smooth(place.share)]);
        }
        out
    }
}

/// Share of a fade that one block is.
pub(crate) fn fade_step(sample_rate_hz: f64) -> f32 {
    (BLOCK as f64 / (FADE_S * sample_rate_hz)) as f32
}

/// A share that leaves and arrives without a bend.
pub(crate) fn smooth(share: f32) -> f32 {
    share * share * (3.0 - 2.0 * share)
}

/// From one block to another, by a share that goes in a straight line.
pub(crate) fn between(x: &[f32; BLOCK], y: &[f32; BLOCK], [from, to]: [f32; 2]) -> [f32; BLOCK] {
    let step = (to - from) / BLOCK as f32;
    std::array::from_fn(|n| x[n] + (from + step * (n + 1) as f32) * (y[n] - x[n]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// A tone of 1 kHz that comes nearer at 34.3 m/s sounds at 1.1 kHz: one tenth of the speed of sound, `f/(1 − v/c)` in the source's time, `f(1 + v/c)` as the delay shrinks by `v/c` per sample.
    #[test]
    fn pitch_rises_as_the_source_comes_near() {
        let (rate_hz, speed) = (44_100.0, 0.1 * SOUND_M_S);
        let mut doppler = Doppler::new(rate_hz, 2);
        doppler.aim(1, 60.0, true);
        let mut sound = Vec::new();
        for b in 0..600 {
            let t = |n: usize| (b * BLOCK + n) as f64 / rate_hz;
            let x = std::array::from_fn(|n| (TAU * 1000.0 * t(n)).sin() as f32);
            doppler.aim(1, (60.0 - speed * t(BLOCK)) as f32, false);
            sound.extend(doppler.pass(1, 60.0, false, &x));
        }
        let late = &sound[12_000..34_050];
        let crossings = late.windows(2).filter(|w| w[0] < 0.0 && w[1] >= 0.0).count();
        assert!((crossings as f64 / 0.5 - 1100.0).abs() < 4.0, "{crossings}");
        let bend = late.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).fold(0.0, f32::max);
        assert!(bend < (TAU * 1100.0 / rate_hz).powi(2) as f32 * 1.05, "{bend}");
    }

    /// 34.3 m are 0.1 s.
    #[test]
    fn sound_arrives_after_its_way() {
        let mut doppler = Doppler::new(44_100.0, 1);
        doppler.aim(0, 34.3, true);
        let mut sound = Vec::new();
        for b in 0..100 {
            let mut x = [0.0; BLOCK];
            x[0] = if b == 0 { 1.0 } else { 0.0 };
            sound.extend(doppler.pass(0, 34.3, false, &x));
        }
        let peak = sound.iter().position(|y| *y > 0.5);
        assert_eq!(peak, Some(4410 + delay::LEAD));
    }

    /// Rings go from source to source, and their past does not: the first sound of the next owner is alone. Beyond their number sound passes as it is.
    #[test]
    fn rings_are_handed_on() {
        let mut doppler = Doppler::new(8000.0, MAX_DELAYED + 2);
        for slot in 0..MAX_DELAYED {
            doppler.aim(slot, 20.0, true);
            doppler.pass(slot, 20.0, false, &[1.0; BLOCK]);
        }
        let late = MAX_DELAYED;
        doppler.aim(late, 20.0, true);
        assert_eq!(doppler.pass(late, 20.0, false, &[0.5; BLOCK]), [0.5; BLOCK], "no ring is left");
        doppler.rest(7);
        for _ in 0..20 {
            assert_eq!(
                doppler.pass(late, 20.0, false, &[0.0; BLOCK]),
                [0.0; BLOCK],
                "what the last owner emitted is gone"
            );
        }
        assert_eq!(doppler.pass(7, 20.0, false, &[0.5; BLOCK]), [0.5; BLOCK], "the ring has gone");
        assert_eq!(doppler.pass(usize::MAX, 20.0, false, &[0.5; BLOCK]), [0.5; BLOCK]);
    }
}
