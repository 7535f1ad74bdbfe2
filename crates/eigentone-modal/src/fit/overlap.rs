//! How far modes stand on their own.
//!
//! A mode that shares nothing with others is missed by all of its energy when it is left out, and the residual grows by
//! `E = cᵀ(ΦᵀΦ)ᵢᵢ c`. A mode that others can stand in for, or that only cancels them, is missed by less: by
//! `cᵀ [(ΦᵀΦ)⁻¹]ᵢᵢ⁻¹ c`. The quotient of the two is its independence.

use super::{
    gram::{C64, LogPole, Pair},
    linalg::Cholesky,
    refine::{Modes, gram_matrix},
};
use rayon::prelude::*;

/// Squared correlation of two damped sinusoids of long duration: `4dd′/((d + d′)² + (ω − ω′)²)`.
pub(super) fn correlation(a: LogPole, b: LogPole) -> f64 {
    4.0 * a.re * b.re / ((a.re + b.re).powi(2) + (a.im - b.im).powi(2))
}

/// Part of each mode's own energy that is missed without it, over takes of these lengths.
pub(super) fn independence(lengths: &[usize], modes: &Modes) -> Vec<f64> {
    let own = own_energies(lengths, modes);
    removal_costs(lengths, modes).iter().zip(&own).map(|(cost, own)| cost / own.max(1e-300)).collect()
}

/// Energy of each mode alone.
fn own_energies(lengths: &[usize], modes: &Modes) -> Vec<f64> {
    let energy = |i: usize| -> f64 {
        let pair = |len: usize, c: C64| Pair::new(modes.poles[i], modes.poles[i], len).block(0, c, c)[0][0];
        lengths.iter().zip(&modes.amplitudes).map(|(&len, amplitudes)| pair(len, amplitudes[i])).sum()
    };
    (0..modes.poles.len()).map(energy).collect()
}

/// Energy by which the residual would grow without each mode: `cᵀ [(ΦᵀΦ)⁻¹]ᵢᵢ⁻¹ c`.
pub(super) fn removal_costs(lengths: &[usize], modes: &Modes) -> Vec<f64> {
    let n = modes.poles.len();
    let mut costs = vec![0.0; n];
    let mut blocks: (usize, Vec<[f64; 3]>) = (usize::MAX, Vec::new());
    for (&len, amplitudes) in lengths.iter().zip(&modes.amplitudes) {
        if blocks.0 != len {
            let cholesky = Cholesky::new(&gram_matrix(&modes.poles, len), 1e-9);
            let inverse = (0..n).into_par_iter().map(|i| {
                let column = |k: usize| {
                    let mut unit = vec![0.0; 2 * n];
                    unit[2 * i + k] = 1.0;
                    cholesky.solve(&mut unit);
                    [unit[2 * i], unit[2 * i + 1]]
                };
                let ([a, c], [_, d]) = (column(0), column(1));
                [a, c, d]
            });
            blocks = (len, inverse.collect());
        }
        for ((cost, z), [a, c, d]) in costs.iter_mut().zip(amplitudes).zip(&blocks.1) {
            let det = a * d - c * c;
            let value = (d * z.re * z.re - 2.0 * c * z.re * z.im + a * z.im * z.im) / det;
            *cost += if value.is_finite() { value.max(0.0) } else { 0.0 };
        }
    }
    costs
}
