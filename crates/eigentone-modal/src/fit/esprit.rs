//! Candidate poles by sub-band ESPRIT.
//!
//! ESPRIT (Roy & Kailath 1989) reads the poles of a sum of exponentials off the shift invariance of its signal
//! subspace: with the Hankel matrix `H` of the signal, `U` its leading left singular vectors and `U↑`, `U↓` the same
//! without the last and the first row, `U↑ Φ = U↓` and the poles are the eigenvalues of `Φ`. All takes share their poles,
//! so their Hankel matrices stand side by side and only `H Hᴴ` is ever formed.
//!
//! The recording is cut into bands, each shifted to zero frequency, low-passed and decimated, so that the matrices stay
//! small and every band judges its own noise. The filter has finite length and its first half is dropped, hence what
//! remains is an exact sum of exponentials again. Two passes look at different scales: narrow bands over a third of a
//! second resolve ringing modes, wide bands over 40 ms catch those that die at once.
//!
//! The order is chosen generously. Which candidates are modes is decided later, by how much of the recording each
//! explains.

use super::{
    gram::{C64, LogPole},
    linalg::{Square, eigenvalues, leading_subspace},
};
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

/// How one pass cuts the spectrum and time.
struct Pass {
    /// Least width of a band in Hz.
    width_hz: f64,
    /// Least width as a fraction of frequency.
    relative: f64,
    /// Duration analysed in s.
    span_s: f64,
    /// Most poles per band.
    order: usize,
    /// Most rows of the Hankel matrix.
    rows: usize,
}

/// Tuned: the narrow pass on twenty synthetic modes from 150 to 9000 Hz, the wide one on wood blocks.
const PASSES: [Pass; 2] = [
    Pass { width_hz: 150.0, relative: 0.12, span_s: 0.35, order: 16, rows: 64 },
    Pass { width_hz: 800.0, relative: 0.5, span_s: 0.04, order: 12, rows: 40 },
];

/// Length of the low-pass in decimated samples.
const FILTER_SPAN: usize = 16;

/// Candidate poles of all takes together, as logarithms per sample, in rising order of band.
pub(super) fn candidates(takes: &[Vec<f64>], sample_rate: f64, low_hz: f64, high_hz: f64) -> Vec<LogPole> {
    let mut bands = Vec::new();
    for pass in &PASSES {
        let mut edge = low_hz;
        while edge < high_hz {
            let width = pass.width_hz.max(pass.relative * edge);
            bands.push((pass, edge, edge + width));
            edge += width;
        }
    }
    bands.par_iter().flat_map_iter(|&(pass, low, high)| band_poles(takes, sample_rate, pass, low, high)).collect()
}

fn band_poles(takes: &[Vec<f64>], sample_rate: f64, pass: &Pass, low: f64, high: f64) -> Vec<LogPole> {
    let (width, centre) = (high - low, 0.5 * (low + high));
    let decimation = ((sample_rate / (2.0 * width)) as usize).max(1);
    let wanted = (pass.span_s * sample_rate) as usize / decimation;
    let filter = Filter::new(centre / sample_rate, 0.62 * width / sample_rate, decimation);
    let bands: Vec<Vec<C64>> = takes.iter().map(|x| filter.apply(x, wanted)).collect();
    let shortest = bands.iter().map(Vec::len).min().unwrap_or(0);
    let rows = (shortest / 2).min(pass.rows);
    if rows < 6 {
        return Vec::new();
    }
    let covariance = hankel_covariance(&bands, rows);
    let order = pass.order.min(rows / 2);
    let (basis, energy) = leading_subspace(&covariance, order);
    let trace: f64 = (0..rows).map(|i| covariance.at(i, i).re).sum();
    // What the subspace leaves, spread over the remaining dimensions, is the noise of one of them.
    let noise = ((trace - energy.iter().sum::<f64>()) / (rows - order) as f64).max(0.0);
    let floor = (4.0 * noise).max(1e-13 * energy[0]);
    let signal = energy.iter().filter(|e| **e > floor && **e > 0.0).count();
    let poles = shift_eigenvalues(&basis[..signal]);
    let rate = sample_rate / decimation as f64;
    let inside = |f: f64| f > low - 0.1 * width && f < high + 0.1 * width;
    poles
        .into_iter()
        .map(|z| z.ln() * rate + C64::new(0.0, TAU * centre))
        .filter(|s| s.re < 3.0 / pass.span_s && s.re.is_finite() && inside(s.im / TAU))
        .map(|s| s / sample_rate)
        .collect()
}

/// `Σ H Hᴴ` over the takes. Along a diagonal only the ends of the sum change, so each entry costs one update.
fn hankel_covariance(bands: &[Vec<C64>], rows: usize) -> Square<C64> {
    let mut total = Square::zeros(rows);
    for z in bands {
        let columns = z.len() + 1 - rows;
        for lag in 0..rows {
            let mut sum: C64 = (0..columns).map(|k| z[lag + k] * z[k].conj()).sum();
            for j in 0..rows - lag {
                let i = j + lag;
                total.set(i, j, total.at(i, j) + sum);
                if lag > 0 {
                    total.set(j, i, total.at(j, i) + sum.conj());
                }
                if i + columns < z.len() {
                    sum += z[i + columns] * z[j + columns].conj() - z[i] * z[j].conj();
                }
            }
        }
    }
    total
}

/// Poles of the rotation between the basis without its last and without its first row.
fn shift_eigenvalues(basis: &[Vec<C64>]) -> Vec<C64> {
    let q = basis.len();
    let mut phi = Square::zeros(q);
    if q == 0 {
        return Vec::new();
    }
    let last = basis[0].len() - 1;
    // U↑ᴴU↑ = I − u uᴴ with u the conjugate of the last row of U, so its inverse is I + u uᴴ/(1 − |u|²).
    let u: Vec<C64> = basis.iter().map(|row| row[last].conj()).collect();
    let weight = 1.0 / (1.0 - u.iter().map(|x| x.norm_sqr()).sum::<f64>()).max(1e-9);
    let mut cross = Square::zeros(q);
    for i in 0..q {
        for j in 0..q {
            let dot: C64 = (0..last).map(|n| basis[i][n].conj() * basis[j][n + 1]).sum();
            cross.set(i, j, dot);
        }
    }
    for j in 0..q {
        let along: C64 = (0..q).map(|i| u[i].conj() * cross.at(i, j)).sum();
        for (i, u) in u.iter().enumerate() {
            phi.set(i, j, cross.at(i, j) + u * along * weight);
        }
    }
    eigenvalues(phi)
}

/// A band-pass that decimates: windowed-sinc low-pass (Blackman), shifted to the centre of the band.
struct Filter {
    taps: Vec<C64>,
    turn: f64,
    decimation: usize,
}

impl Filter {
    /// `centre` and `cutoff` in cycles per sample.
    fn new(centre: f64, cutoff: f64, decimation: usize) -> Self {
        let half = (FILTER_SPAN * decimation / 2) as isize;
        let mut taps: Vec<f64> = (-half..=half)
            .map(|k| {
                let t = k as f64;
                let sinc = if k == 0 { 2.0 * cutoff } else { (TAU * cutoff * t).sin() / (PI * t) };
                let x = PI * t / (half as f64 + 1.0);
                sinc * (0.42 + 0.5 * x.cos() + 0.08 * (2.0 * x).cos())
            })
            .collect();
        let sum: f64 = taps.iter().sum();
        taps.iter_mut().for_each(|t| *t /= sum);
        let turn = -TAU * centre;
        let taps = (-half..=half).zip(taps).map(|(k, t)| C64::from_polar(t, turn * k as f64)).collect();
        Self { taps, turn, decimation }
    }

    /// At most `wanted` samples, starting where the filter first lies inside the recording.
    fn apply(&self, x: &[f64], wanted: usize) -> Vec<C64> {
        let centre = self.taps.len() / 2;
        x.windows(self.taps.len())
            .step_by(self.decimation)
            .take(wanted)
            .enumerate()
            .map(|(m, window)| {
                let sum: C64 = window.iter().zip(&self.taps).map(|(x, t)| t * *x).sum();
                sum * C64::from_polar(1.0, (self.turn * (m * self.decimation + centre) as f64) % TAU)
            })
            .collect()
    }
}
