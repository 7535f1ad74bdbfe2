//! The shared filters at work: six inputs, two outputs, on time and evenly.
//!
//! Filters of up to three seconds are convolved in blocks of the frequency domain. Large blocks are cheap but come late, small ones are dear but soon ready, so a
//! filter is cut into levels of blocks that grow with the delay. A level of size B gathers B samples, has the time of the next B samples to
//! work, and is heard after 2·B. Its work is cut into small units that are spread over that time. Only the level of 64 samples works at once.
//!
//! | delay at 44.1 kHz | size | blocks |
//! | --- | --- | --- |
//! | 221 to 540 | 64 | 5 |
//! | 541 to 2076 | 256 | 6 |
//! | 2077 to 9040 | 1024 | 7 |
//! | 9041 on (late) | 4096 | 9, 17, 33 |
//!
//! Delays are exact: early filters begin 5 ms after the direct sound, late ones 205 ms. There is no latency.
//!
//! ```
//! use eigentone_space::BLOCK;
//! use eigentone_space::{air::Air, canonical::Canonical, convolve::Reverb};
//!
//! let filters = Canonical::new(44_100.0, &Air::default());
//! let mut reverb = Reverb::new(44_100.0, &filters);
//! let mut click = [[0.0; BLOCK]; 6];
//! click[0][0] = 1.0;
//! let mut heard = Vec::new();
//! for _ in 0..10 {
//!     let mut out = [[0.0; BLOCK]; 2];
//!     reverb.process(&click, &mut out);
//!     heard.extend(out[0]);
//!     click[0][0] = 0.0;
//! }
//! assert!((heard[300] - filters.early[0][0][300 - 221]).abs() < 1e-6);
//! ```

mod level;
mod transform;

use crate::BLOCK;
use crate::canonical::{Canonical, EARLY_LENGTH_S, EARLY_START_S, samples, usable_rate_hz};
use level::{Filter, Level};

/// Inputs: three early, three late, in the order of the canonical filters.
pub const INPUTS: usize = 6;
/// Louder samples count as this. Without a limit sums of finite numbers could overflow.
const LOUDEST: f32 = 1e15;
/// Softer samples count as silence: 300 dB below one. Without a limit sounds that die away would fill spectra with denormal numbers, which are slow.
const SOFTEST: f32 = 1e-15;

/// The canonical filters as a running convolution.
pub struct Reverb {
    levels: Vec<Level>,
    history: History,
    pending: Pending,
    /// How long after the last sound all is silent, in samples.
    tail: u64,
}

/// The last samples of all inputs. Its length is twice the largest block, so that a block stays while the next is gathered.
pub(crate) struct History {
    inputs: [Vec<f32>; INPUTS],
    /// The first sample that is not yet there.
    now: u64,
    /// For each input the end of the last block that was not silent.
    sound_until: [u64; INPUTS],
}

impl History {
    fn new(length: usize) -> Self {
        Self { inputs: std::array::from_fn(|_| vec![0.0; length]), now: 0, sound_until: [0; INPUTS] }
    }

    fn push(&mut self, inputs: &[[f32; BLOCK]; INPUTS]) {
        let length = self.inputs[0].len();
        let at = (self.now % length as u64) as usize;
        self.now += BLOCK as u64;
        for (i, (held, block)) in self.inputs.iter_mut().zip(inputs).enumerate() {
            let mut peak = 0.0f32;
            for (held, x) in held[at..at + BLOCK].iter_mut().zip(block) {
                // Also catches what is not a number.
                let audible = x.abs() >= SOFTEST && x.abs() < f32::INFINITY;
                *held = if audible { x.clamp(-LOUDEST, LOUDEST) } else { 0.0 };
                peak = peak.max(held.abs());
            }
            if peak > 0.0 {
                self.sound_until[i] = self.now;
            }
        }
    }

    /// A block of an input, if it is there and not silent. `first` must be a multiple of `size`.
    pub(crate) fn sounding(&self, input: usize, first: u64, size: usize) -> Option<&[f32]> {
        let held = &self.inputs[input];
        let at = (first % held.len() as u64) as usize;
        (self.sound_until[input] > first).then(|| &held[at..at + size])
    }
}

/// Output that is known already, for both channels.
pub(crate) struct Pending {
    channels: [Vec<f32>; 2],
}

impl Pending {
    fn new(length: usize) -> Self {
        Self { channels: std::array::from_fn(|_| vec![0.0; length]) }
    }

    /// Adds samples from a moment on.
    pub(crate) fn add(&mut self, channel: usize, first: u64, samples: impl ExactSizeIterator<Item = f32> + Clone) {
        let ring = &mut self.channels[channel];
        let at = (first % ring.len() as u64) as usize;
        let straight = samples.len().min(ring.len() - at);
        ring[at..].iter_mut().zip(samples.clone()).for_each(|(y, x)| *y += x);
        ring.iter_mut().zip(samples.skip(straight)).for_each(|(y, x)| *y += x);
    }

    /// Adds a block to the output and makes room for later ones.
    fn take(&mut self, first: u64, out: &mut [[f32; BLOCK]; 2]) {
        for (ring, out) in self.channels.iter_mut().zip(out) {
            let at = (first % ring.len() as u64) as usize;
            for (y, x) in out.iter_mut().zip(&mut ring[at..at + BLOCK]) {
                *y += std::mem::take(x);
            }
        }
    }
}

impl std::fmt::Debug for Reverb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reverb").field("idle", &self.is_idle()).finish_non_exhaustive()
    }
}

impl Reverb {
    /// Plans and transforms all filters; early ones begin 5 ms after the direct sound.
    pub fn new(sample_rate_hz: f64, filters: &Canonical) -> Self {
        Self::starting(sample_rate_hz, filters, EARLY_START_S)
    }

    /// The same with early filters that begin so long after the direct sound, not less than 5 ms and not more than 50 ms. This is the only place that allocates.
    pub fn starting(sample_rate_hz: f64, filters: &Canonical, early_start_s: f64) -> Self {
        let sensible = if early_start_s.is_finite() { early_start_s } else { EARLY_START_S };
        let early_start_s = sensible.clamp(EARLY_START_S, 0.05);
        let late_start_s = early_start_s + EARLY_LENGTH_S;
        let rate_hz = usable_rate_hz(sample_rate_hz);
        let sizes = sizes(rate_hz);
        let mut levels = Vec::new();
        for (first_input, start_s, kind) in [(0, early_start_s, &filters.early), (3, late_start_s, &filters.late)] {
            let start = samples(start_s, rate_hz);
            let length = kind.iter().flatten().map(Vec::len).max().unwrap_or(0);
            for stretch in stretches(start, start + length, &sizes) {
                let of_input = |(i, channels): (usize, &[Vec<f32>; 2])| Filter {
                    input: first_input + i,
                    channels: channels.each_ref().map(|c| {
                        let from = (stretch.delay - start).min(c.len());
                        c[from..(from + stretch.size * stretch.blocks).min(c.len())].to_vec()
                    }),
                };
                let filters: Vec<Filter> = kind.iter().enumerate().map(of_input).collect();
                levels.push(Level::new(stretch.size, stretch.delay, &filters));
            }
        }
        let largest = levels.iter().map(|level| level.size()).max().unwrap_or(BLOCK);
        let reach = levels.iter().map(Level::reach).max().unwrap_or(0);
        let tail = levels.iter().map(Level::tail).max().unwrap_or(0);
        Self {
            levels,
            history: History::new(2 * largest),
            pending: Pending::new((reach + BLOCK).next_power_of_two()),
            tail: tail as u64,
        }
    }

    /// Takes a block of each input and adds what is heard during that block to `out`. Samples that are not finite count as silence, those beyond ±10¹⁵ as that,
    /// those below 10⁻¹⁵ as none: whatever comes in, all that is added is finite.
    pub fn process(&mut self, inputs: &[[f32; BLOCK]; INPUTS], out: &mut [[f32; BLOCK]; 2]) {
        let now = self.history.now;
        for level in self.levels.iter_mut().filter(|level| !level.works_at_once()) {
            level.advance(now, &self.history, &mut self.pending);
        }
        self.history.push(inputs);
        for level in self.levels.iter_mut().filter(|level| level.works_at_once()) {
            level.advance(now + BLOCK as u64, &self.history, &mut self.pending);
        }
        self.pending.take(now, out);
    }

    /// Whether silence in gives silence out: nothing that was heard is left.
    pub fn is_idle(&self) -> bool {
        self.history.sound_until.iter().all(|&until| until == 0 || self.history.now >= until + self.tail)
    }

    /// How long after the last sound it is idle, in samples: the longest filter and a few blocks.
    pub fn tail(&self) -> usize {
        self.tail as usize
    }
}

/// A part of all filters of one kind that has one size of blocks.
#[derive(Debug, PartialEq)]
struct Stretch {
    size: usize,
    delay: usize,
    blocks: usize,
}

/// Sizes of blocks. The largest grows with the rate, as do the delays of late filters.
fn sizes(rate_hz: f64) -> [usize; 4] {
    let largest = match rate_hz {
        ..50_000.0 => 4096,
        ..100_000.0 => 8192,
        _ => 16_384,
    };
    [BLOCK, 256, 1024, largest]
}

/// Cuts the delays from `start` to `end` without gap or overlap: at every delay the largest size that is ready by then and has
/// something to fill it.
fn stretches(start: usize, end: usize, sizes: &[usize; 4]) -> Vec<Stretch> {
    let mut cut = Vec::new();
    let mut delay = start;
    while delay < end {
        let at = sizes.iter().rposition(|size| 2 * size <= delay).unwrap_or(0);
        // A larger size for less than one of its blocks is not worth its transforms.
        let next = sizes.get(at + 1).filter(|next| 3 * **next <= end);
        let until = next.map_or(end, |next| 2 * next);
        let blocks = (until - delay).div_ceil(sizes[at]);
        cut.push(Stretch { size: sizes[at], delay, blocks });
        delay += blocks * sizes[at];
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_join_and_are_ready_in_time() {
        for rate_hz in [8_000.0, 11_025.0, 16_000.0, 22_050.0, 44_100.0, 48_000.0, 96_000.0, 192_000.0] {
            for (start_s, length_s) in [(EARLY_START_S, 0.2), (crate::canonical::LATE_START_S, 3.0)] {
                let start = samples(start_s, rate_hz);
                let end = start + samples(length_s, rate_hz);
                let cut = stretches(start, end, &sizes(rate_hz));
                let mut delay = start;
                for stretch in &cut {
                    assert_eq!(stretch.delay, delay);
                    assert!(stretch.size == BLOCK || stretch.delay >= 2 * stretch.size, "{rate_hz} {stretch:?}");
                    delay += stretch.size * stretch.blocks;
                }
                assert!(delay >= end && delay < end + cut.last().map_or(0, |s| s.size), "{rate_hz} {cut:?}");
            }
        }
    }

    /// The table above.
    #[test]
    fn at_44100_hz_four_sizes_share_the_work() {
        let cut = |start, end| {
            let stretches = stretches(start, end, &sizes(44_100.0));
            stretches.iter().map(|s| (s.delay, s.size, s.blocks)).collect::<Vec<_>>()
        };
        assert_eq!(cut(221, 221 + 8820), [(221, 64, 5), (541, 256, 6), (2077, 1024, 7)]);
        assert_eq!(cut(9041, 9041 + 132_300), [(9041, 4096, 33)]);
    }
}
