//! First-order low-pass filters of a whole block without waiting.
//!
//! `y[n] = p y[n−1] + ½(1 − p)(x[n] + x[n−1])` is the low-pass `1/(1 + s/ω)` by the bilinear transform: one at 0, nothing at fs/2. Written as it stands, every sample
//! waits for the one before. Here eight samples are computed at once, as their own answers to the eight that came in plus `pᵏ` times what the past left:
//!
//! `y[k] = Σ h[k − i] x[i] + pᵏ (p y[−1] + b x[−1])`, `b = ½(1 − p)`, `h = b, b(1 + p), b(1 + p)p, …`
//!
//! Only the last term waits. The compiler makes one wide instruction of each line of the inner loops.

use crate::BLOCK;
use crate::kernel::multiply_add;
use std::f64::consts::PI;

/// States smaller than this become zero: decaying ones would end as subnormal numbers, which are slow.
const SMALLEST: f32 = 1e-20;

/// What a filter remembers between blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OnePole {
    input: f32,
    output: f32,
}

/// What eight samples are weighted with.
struct Answers {
    /// Powers of the pole from the zeroth on.
    powers: [f32; 8],
    /// Seven zeros, then the answer to an impulse: from there on back lie its delayed copies.
    answer: [f32; 15],
}

/// Not inlined: the compiler would see the zeros and take the triangle of products apart into single ones, which is slower than to multiply with zero.
#[inline(never)]
fn answers(p: f32) -> Answers {
    let b = 0.5 * (1.0 - p);
    let (p2, p4) = (p * p, p * p * p * p);
    let powers = [1.0, p, p2, p2 * p, p4, p4 * p, p4 * p2, p4 * p2 * p];
    let mut answer = [0.0; 15];
    answer[7] = b;
    for k in 0..7 {
        answer[8 + k] = b * (1.0 + p) * powers[k];
    }
    Answers { powers, answer }
}

/// The pole of a low-pass that is 3 dB down at `cutoff_hz`.
pub(crate) fn pole(cutoff_hz: f64, sample_rate_hz: f64) -> f32 {
    // Above 0.45 fs the tangent runs away; nothing that is heard lies there.
    let k = (PI * (cutoff_hz / sample_rate_hz).clamp(0.0, 0.45)).tan();
    ((1.0 - k) / (1.0 + k)) as f32
}

impl OnePole {
    /// Filters `x` into `y`.
    #[inline(always)]
    pub(crate) fn low_pass<const FUSED: bool>(&mut self, p: f32, x: &[f32; BLOCK], y: &mut [f32; BLOCK]) {
        let b = 0.5 * (1.0 - p);
        let Answers { powers, answer } = answers(p);
        let (mut past, mut last) = (multiply_add::<FUSED>(p, self.output, b * self.input), self.output);
        for (y, x) in y.as_chunks_mut::<8>().0.iter_mut().zip(x.as_chunks::<8>().0) {
            let mut sum = [0.0; 8];
            for i in 0..8 {
                for k in 0..8 {
                    sum[k] = multiply_add::<FUSED>(answer[7 + k - i], x[i], sum[k]);
                }
            }
            for k in 0..8 {
                y[k] = multiply_add::<FUSED>(powers[k], past, sum[k]);
            }
            last = y[7];
            past = multiply_add::<FUSED>(p, last, b * x[7]);
        }
        self.input = x[BLOCK - 1];
        self.output = if last.abs() > SMALLEST { last } else { 0.0 };
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
                let x = std::array::from_fn(|_| noise.bipolar() as f32);
                let mut y = [0.0; BLOCK];
                state.low_pass::<false>(p, &x, &mut y);
                for n in 0..BLOCK {
                    let now = f64::from(x[n]);
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
