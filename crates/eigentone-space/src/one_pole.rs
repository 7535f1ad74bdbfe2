//! First-order low-pass filters of a whole block without waiting.
//!
//! `y[n] = p y[n−1] + ½(1 − p)(x[n] + x[n−1])` is the low-pass `1/(1 + s/ω)` by the bilinear transform: one at 0, nothing at fs/2. Written as it stands, every sample
//! waits for the one before. Put into itself three times it reads
//!
//! `y[n] = p⁸ y[n−8] + (1 + p⁴ z⁻⁴)(1 + p² z⁻²)(1 + p z⁻¹) u[n]`,
//!
//! so that eight neighbours are independent of each other; what the block before left behind enters as `u[0] += p y[−1]`. All loops are over whole arrays
//! and are made wide by the compiler.

use crate::BLOCK;
use crate::kernel::multiply_add;
use std::f64::consts::PI;

/// Room in front of a padded block.
pub(crate) const PAD: usize = 8;

/// A block with room in front. Only the last place of the room is used: it holds the sample before the block.
pub(crate) type Padded = [f32; PAD + BLOCK];

/// States smaller than this become zero: decaying ones would end as subnormal numbers, which are slow.
const SMALLEST: f32 = 1e-20;

/// What a filter remembers between blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OnePole {
    input: f32,
    output: f32,
}

/// The pole of a low-pass that is 3 dB down at `cutoff_hz`.
pub(crate) fn pole(cutoff_hz: f64, sample_rate_hz: f64) -> f32 {
    // Above 0.45 fs the tangent runs away; nothing that is heard lies there.
    let k = (PI * (cutoff_hz / sample_rate_hz).clamp(0.0, 0.45)).tan();
    ((1.0 - k) / (1.0 + k)) as f32
}

impl OnePole {
    /// Filters `x[PAD..]` into `y`, and leaves in `x[PAD − 1]` the sample before.
    #[inline(always)]
    pub(crate) fn low_pass<const FUSED: bool>(&mut self, p: f32, x: &mut Padded, y: &mut [f32; BLOCK]) {
        x[PAD - 1] = self.input;
        self.input = x[PAD + BLOCK - 1];
        let b = 0.5 * (1.0 - p);
        let (p2, p4) = (p * p, p * p * p * p);
        let p8 = p4 * p4;
        let mut u = [0.0; PAD + BLOCK];
        let mut v = [0.0; PAD + BLOCK];
        for n in PAD..PAD + BLOCK {
            u[n] = b * (x[n] + x[n - 1]);
        }
        u[PAD] += p * self.output;
        for n in PAD..PAD + BLOCK {
            v[n] = multiply_add::<FUSED>(p, u[n - 1], u[n]);
        }
        for n in PAD..PAD + BLOCK {
            u[n] = multiply_add::<FUSED>(p2, v[n - 2], v[n]);
        }
        for n in PAD..PAD + BLOCK {
            v[n] = multiply_add::<FUSED>(p4, u[n - 4], u[n]);
        }
        let mut lanes = [0.0; 8];
        for (y, v) in y.chunks_exact_mut(8).zip(v[PAD..].chunks_exact(8)) {
            for l in 0..8 {
                lanes[l] = multiply_add::<FUSED>(p8, lanes[l], v[l]);
                y[l] = lanes[l];
            }
        }
        self.output = if lanes[7].abs() > SMALLEST { lanes[7] } else { 0.0 };
    }

    /// Whether the memory is a number.
    pub(crate) fn is_finite(&self) -> bool {
        self.input.is_finite() && self.output.is_finite()
    }
}

/// Level of `dry + wet · low-pass` at a frequency, squared.
pub(crate) fn power(dry: f64, wet: f64, pole: f64, hz: f64, sample_rate_hz: f64) -> f64 {
    // The low-pass is 1/(1 + j r) with r the ratio of the tangents.
    let k = (1.0 - pole) / (1.0 + pole);
    let r = (PI * hz / sample_rate_hz).tan() / k;
    let (re, im) = (dry + wet / (1.0 + r * r), -wet * r / (1.0 + r * r));
    re * re + im * im
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;

    /// The wide form is the recurrence it was made from, across blocks, for slow and fast poles.
    #[test]
    fn wide_form_equals_the_recurrence() {
        for cutoff_hz in [20.0, 1250.0, 15_000.0] {
            let p = pole(cutoff_hz, 44_100.0);
            let (mut state, mut noise) = (OnePole::default(), Noise::new(1));
            let (mut x1, mut y1) = (0.0f64, 0.0f64);
            for _ in 0..50 {
                let mut x: Padded = [0.0; PAD + BLOCK];
                x[PAD..].fill_with(|| noise.bipolar() as f32);
                let mut y = [0.0; BLOCK];
                state.low_pass::<false>(p, &mut x, &mut y);
                for n in 0..BLOCK {
                    let now = f64::from(x[PAD + n]);
                    y1 = f64::from(p) * y1 + 0.5 * (1.0 - f64::from(p)) * (now + x1);
                    x1 = now;
                    assert!((y1 - f64::from(y[n])).abs() < 2e-6, "{cutoff_hz} Hz: {y1} and {}", y[n]);
                }
            }
        }
    }

    #[test]
    fn three_decibels_at_the_cutoff() {
        let p = f64::from(pole(1000.0, 48_000.0));
        assert!((power(0.0, 1.0, p, 1000.0, 48_000.0) - 0.5).abs() < 1e-5);
        assert!((power(1.0, 0.0, p, 9000.0, 48_000.0) - 1.0).abs() < 1e-12);
    }
}
