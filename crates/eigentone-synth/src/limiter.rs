//! A limiter that looks one block ahead: nothing that comes out exceeds the ceiling.
//!
//! Each block's wanted gain is `t = min(1, ceiling/peak)`. While a block is emitted the next is known, and the gain moves in a straight
//! line to `min(release, t, t_next)`. The line begins and ends at or below the `t` of its block, so that `|out| ≤ ceiling` exactly.

use crate::BLOCK;

/// Time constant with which the gain recovers.
const RELEASE_S: f32 = 0.1;

/// A limiter for one channel, or for several with a common gain; delays by one [`BLOCK`].
#[derive(Clone, Debug)]
pub struct Limiter<const CHANNELS: usize = 1> {
    held: [[f32; BLOCK]; CHANNELS],
    held_peak: f32,
    gain: f32,
    /// Share of the way to one that is left after a block.
    release: f32,
}

impl<const CHANNELS: usize> Limiter<CHANNELS> {
    /// A limiter at rest.
    pub fn new(sample_rate_hz: f64) -> Self {
        Self {
            held: [[0.0; BLOCK]; CHANNELS],
            held_peak: 0.0,
            gain: 1.0,
            release: (-(BLOCK as f64) / (f64::from(RELEASE_S) * sample_rate_hz)).exp() as f32,
        }
    }

    /// Takes a block of each channel in and gives the one before it out, in place. Samples that are not finite become silence; their number is
    /// returned.
    pub fn process(&mut self, blocks: &mut [[f32; BLOCK]; CHANNELS], ceiling: f32) -> usize {
        let mut broken = 0;
        let mut peak = 0.0f32;
        for x in blocks.iter_mut().flatten() {
            if !x.is_finite() {
                *x = 0.0;
                broken += 1;
            }
            peak = peak.max(x.abs());
        }
        std::mem::swap(blocks, &mut self.held);
        let wanted = |peak: f32| if peak > ceiling { ceiling / peak } else { 1.0 };
        let recovered = 1.0 - (1.0 - self.gain) * self.release;
        let end = recovered.min(wanted(self.held_peak)).min(wanted(peak));
        if self.gain < 1.0 || end < 1.0 {
            let step = (end - self.gain) / BLOCK as f32;
            for block in blocks {
                for (n, x) in block.iter_mut().enumerate() {
                    // Rounding could carry the last digit over.
                    *x = (*x * (self.gain + step * n as f32)).clamp(-ceiling, ceiling);
                }
            }
        }
        self.gain = end;
        self.held_peak = peak;
        broken
    }

    /// Gain at the end of the last block.
    pub fn gain(&self) -> f32 {
        self.gain
    }

    /// Whether nothing is held back and the gain is one: silence in gives silence out.
    pub fn is_idle(&self) -> bool {
        self.held_peak == 0.0 && self.gain > 0.999
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;

    /// Spikes of 25 in noise come out at the ceiling and not above; what is below the ceiling for long passes unchanged.
    #[test]
    fn nothing_exceeds_the_ceiling() {
        let mut limiter = Limiter::<1>::new(44_100.0);
        let mut noise = Noise::new(51);
        let (mut largest, mut sent) = (0.0f32, Vec::new());
        let mut received = Vec::new();
        for b in 0..4000 {
            let mut block: [f32; BLOCK] = std::array::from_fn(|_| 0.8 * noise.bipolar() as f32);
            if b < 2000 && b % 7 == 0 {
                block[b % BLOCK] = 25.0;
            }
            sent.extend(block);
            let mut out = [block];
            limiter.process(&mut out, 1.0);
            let [block] = out;
            received.extend(block);
            largest = block.iter().fold(largest, |m, x| m.max(x.abs()));
        }
        assert!(largest <= 1.0 && largest > 0.99, "{largest}");
        let tail = 3900 * BLOCK..3999 * BLOCK;
        assert!(tail.clone().all(|n| (received[n + BLOCK] / sent[n] - 1.0).abs() < 1e-3));
        let ratio = |n: usize| received[n + BLOCK] / sent[n];
        let steps = (1..1000 * BLOCK).filter(|&n| sent[n].abs() > 0.01 && sent[n - 1].abs() > 0.01);
        assert!(steps.into_iter().all(|n| (ratio(n) - ratio(n - 1)).abs() < 0.02), "the gain has no steps");
    }

    #[test]
    fn what_is_not_a_number_becomes_silence() {
        let mut limiter = Limiter::<2>::new(48_000.0);
        let mut blocks = [[f32::NAN; BLOCK], [0.0; BLOCK]];
        blocks[1][3] = f32::INFINITY;
        assert_eq!(limiter.process(&mut blocks, 1.0), BLOCK + 1);
        limiter.process(&mut blocks, 1.0);
        assert_eq!(blocks, [[0.0; BLOCK]; 2]);
    }

    /// A spike in one channel turns both down alike: the image does not move.
    #[test]
    fn channels_share_one_gain() {
        let mut limiter = Limiter::<2>::new(48_000.0);
        for b in 0..20 {
            let mut blocks = [[0.5; BLOCK], [0.25; BLOCK]];
            blocks[1][0] = if b == 5 { 8.0 } else { 0.25 };
            limiter.process(&mut blocks, 1.0);
            assert!(b == 0 || (1..BLOCK).all(|n| (blocks[0][n] / blocks[1][n] - 2.0).abs() < 1e-5));
        }
    }
}
