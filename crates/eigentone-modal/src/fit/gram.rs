//! Inner products of damped sinusoids, in closed form.
//!
//! Every column of the least-squares problem has the form `Re(u nᵖ zⁿ)` with a complex pole `z = e^s` and `p = 0` (a
//! mode) or `1` (its derivative along `s`). Two of them have the inner product
//!
//! ```text
//! Σₙ Re(u nᵖ zⁿ) Re(v n^q wⁿ) = ½ Re( u v S_{p+q}(zw) + u v* S_{p+q}(zw*) ),   S_k(x) = Σ_{n<N} nᵏ xⁿ
//! ```
//!
//! so that the normal equations of any number of modes cost nothing that grows with the length of the recording; only
//! the products with the recording itself do ([`correlate`]). The sums are built by doubling `N`, which stays exact where
//! the textbook quotient `(1 − xᴺ)/(1 − x)` cancels, as for two slowly decaying poles close to each other.

use rustfft::num_complex::Complex;

/// Complex double.
pub(super) type C64 = Complex<f64>;

/// A damped sinusoid in units of samples: `s = −d/fs + j 2πf/fs`.
pub(super) type LogPole = C64;

/// The power sums `S₀, S₁, S₂` of a ratio.
#[derive(Clone, Copy, Default)]
pub(super) struct PowerSums(pub [C64; 3]);

impl PowerSums {
    /// `Σ_{n<len} nᵏ e^{sn}` for `k = 0, 1, 2`; `Re s ≤ 0`.
    pub fn new(log_ratio: C64, len: usize) -> Self {
        let ratio = log_ratio.exp();
        let zero = C64::default();
        let (mut s0, mut s1, mut s2) = (zero, zero, zero);
        let (mut power, mut count) = (C64::new(1.0, 0.0), 0.0);
        for bit in (0..usize::BITS - len.leading_zeros()).rev() {
            s2 += power * (s2 + s1 * (2.0 * count) + s0 * (count * count));
            s1 += power * (s1 + s0 * count);
            s0 += power * s0;
            power = power * power;
            count *= 2.0;
            if len >> bit & 1 == 1 {
                s0 += power;
                s1 += power * count;
                s2 += power * (count * count);
                power *= ratio;
                count += 1.0;
            }
        }
        Self([s0, s1, s2])
    }
}

/// All inner products of two poles: the sums of `zw` and of `zw*`.
#[derive(Clone, Copy, Default)]
pub(super) struct Pair {
    sum: PowerSums,
    difference: PowerSums,
}

impl Pair {
    /// The pair of poles `a`, `b` over `len` samples.
    pub fn new(a: LogPole, b: LogPole, len: usize) -> Self {
        Self { sum: PowerSums::new(a + b, len), difference: PowerSums::new(a + b.conj(), len) }
    }

    /// The 2 × 2 block for the directions `u ∈ {a, ja}` and `v ∈ {b, jb}`.
    pub fn block(&self, order: usize, a: C64, b: C64) -> [[f64; 2]; 2] {
        let p = a * b * self.sum.0[order] * 0.5;
        let m = a * b.conj() * self.difference.0[order] * 0.5;
        // Multiplying u by j turns both terms by j; multiplying v by j turns the first by j, the second by −j.
        [[p.re + m.re, -p.im + m.im], [-p.im - m.im, -p.re + m.re]]
    }
}

/// One: the direction of the cosine part.
pub(super) const ONE: C64 = C64::new(1.0, 0.0);

/// Decay after which a mode is taken for gone: 140 dB.
const HEARD_NEPERS: f64 = 16.2;

const LANES: usize = 4;

/// `Σ x[n] zⁿ` and `Σ n x[n] zⁿ`. Stops where the mode has decayed by 140 dB.
pub(super) fn correlate(samples: &[f64], s: LogPole) -> [C64; 2] {
    let heard = if s.re < 0.0 { (HEARD_NEPERS / -s.re).ceil().min(1e12) as usize } else { usize::MAX };
    let samples = &samples[..samples.len().min(heard)];
    let step = (s * LANES as f64).exp();
    let start: [C64; LANES] = std::array::from_fn(|k| (s * k as f64).exp());
    let (mut re, mut im) = (start.map(|z| z.re), start.map(|z| z.im));
    let mut sums = [[0.0; LANES]; 4];
    let mut index: [f64; LANES] = std::array::from_fn(|k| k as f64);
    let mut chunks = samples.chunks_exact(LANES);
    for x in &mut chunks {
        for k in 0..LANES {
            let (a, b) = (x[k] * re[k], x[k] * im[k]);
            sums[0][k] += a;
            sums[1][k] += b;
            sums[2][k] += a * index[k];
            sums[3][k] += b * index[k];
            let turned = re[k] * step.re - im[k] * step.im;
            im[k] = re[k] * step.im + im[k] * step.re;
            re[k] = turned;
            index[k] += LANES as f64;
        }
    }
    for (k, x) in chunks.remainder().iter().enumerate() {
        sums[0][k] += x * re[k];
        sums[1][k] += x * im[k];
        sums[2][k] += x * re[k] * index[k];
        sums[3][k] += x * im[k] * index[k];
    }
    let total = sums.map(|lanes| lanes.iter().sum::<f64>());
    [C64::new(total[0], total[1]), C64::new(total[2], total[3])]
}

/// Adds `gain · Re(c e^{s(n + offset)})` to `out[n]`.
pub(super) fn add_mode(out: &mut [f64], c: C64, s: LogPole, offset: f64, gain: f64) {
    let heard = if s.re < 0.0 { (HEARD_NEPERS / -s.re).ceil().min(1e12) as usize } else { usize::MAX };
    let step = s.exp();
    for (block, chunk) in out[..].chunks_mut(2048).enumerate() {
        if block * 2048 > heard {
            break;
        }
        let mut phasor = c * gain * (s * ((block * 2048) as f64 + offset)).exp();
        for y in chunk {
            *y += phasor.re;
            phasor *= step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms_are_the_sums_they_stand_for() {
        let (a, b) = (C64::new(-0.002, 0.3), C64::new(-0.0001, 0.31));
        let (u, v) = (C64::new(0.3, -0.7), C64::new(-1.1, 0.2));
        let turn = [ONE, C64::new(0.0, 1.0)];
        for len in [0, 1, 2, 7, 1000] {
            let pair = Pair::new(a, b, len);
            let brute = |order: usize, u: C64, v: C64| -> f64 {
                let term = |t: f64| (u * (a * t).exp()).re * (v * (b * t).exp()).re * t.powi(order as i32);
                (0..len).map(|n| term(n as f64)).sum()
            };
            for order in 0..3 {
                for (r, block) in pair.block(order, u, v).iter().enumerate() {
                    for (c, value) in block.iter().enumerate() {
                        let truth = brute(order, u * turn[r], v * turn[c]);
                        assert!((value - truth).abs() < 1e-9 * (1.0 + truth.abs()), "{len} {order}");
                    }
                }
            }
        }
    }

    #[test]
    fn correlation_is_the_sum_it_stands_for() {
        let s = C64::new(-0.003, 0.4);
        let x: Vec<f64> = (0..1003).map(|n| (n as f64 * 0.77).sin()).collect();
        let brute = x.iter().enumerate().fold([C64::default(); 2], |acc, (n, x)| {
            let term = (s * n as f64).exp() * *x;
            [acc[0] + term, acc[1] + term * n as f64]
        });
        let fast = correlate(&x, s);
        assert!((fast[0] - brute[0]).norm() < 1e-9 && (fast[1] - brute[1]).norm() < 1e-6);
        let mut y = x.clone();
        add_mode(&mut y, C64::new(1.0, 2.0), s, 3.0, -1.0);
        let expected = x[5] - (C64::new(1.0, 2.0) * (s * 8.0).exp()).re;
        assert!((y[5] - expected).abs() < 1e-12);
    }
}
