//! The search for modes: propose, select, refine, look again.
//!
//! 1. ESPRIT [proposes](super::esprit) poles, too many of them.
//! 2. Order-recursive matching pursuit takes the pole that explains most of what is left, again and again. Since all
//!    inner products are known in closed form this is elimination in one matrix.
//! 3. The chosen poles are [refined](super::refine) jointly.
//! 4. The [periodogram](super::periodogram) of the residual shows what was missed; that is added and 3 repeated.
//! 5. A mode whose removal costs no more energy than noise would yield at its place is dropped.

use super::{
    FitSettings, esprit,
    gram::{C64, LogPole, correlate},
    linalg::{Cholesky, Square},
    periodogram::{PROMINENCE, Periodogram},
    refine::{DecayRange, Modes, gram_matrix},
};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Fastest decay taken for a mode, in 1/s: 60 dB in 6 ms.
const FASTEST_PER_S: f64 = 1200.0;
/// Rounds of looking at the residual.
const ROUNDS: usize = 6;
/// Durations of the first refinements, in s; the last uses everything. Frequencies must be known to a fraction of one
/// over the duration, which the candidates are not for a long recording.
const STAGES_S: [f64; 2] = [0.4, 1.6];

/// The takes as the search sees them, and what it may look for.
pub(super) struct Search<'a> {
    pub takes: &'a [Vec<f64>],
    pub sample_rate: f64,
    pub settings: &'a FitSettings,
    /// Noise variance per sample, mean over the takes.
    pub noise: f64,
}

impl Search<'_> {
    /// Duration of the longest take in s.
    pub fn duration_s(&self) -> f64 {
        self.takes.iter().map(Vec::len).max().unwrap_or(0) as f64 / self.sample_rate
    }

    /// A pole slower than this does not decay within the recording.
    pub fn slowest_per_s(&self) -> f64 {
        0.05 / self.duration_s()
    }

    fn range(&self) -> DecayRange {
        DecayRange { slowest: self.slowest_per_s() / self.sample_rate, fastest: FASTEST_PER_S / self.sample_rate }
    }

    fn band(&self) -> (f64, f64) {
        let high = self.settings.highest_hz.min(0.47 * self.sample_rate);
        (self.settings.lowest_hz, high)
    }

    /// All modes found, in rising order of frequency.
    pub fn run(&self) -> Modes {
        let mut modes = Modes::with_poles(self.takes, Vec::new());
        if self.settings.refine {
            modes = self.first_guess();
        }
        for round in 0..ROUNDS {
            let residual = modes.residual(self.takes);
            let periodogram = self.periodogram(&residual);
            self.prune(&mut modes, &periodogram);
            let fresh = self.missing(&modes, &periodogram);
            if fresh.is_empty() {
                break;
            }
            let mut poles = modes.poles.clone();
            poles.extend(fresh);
            modes = Modes::with_poles(self.takes, poles);
            modes = if self.settings.refine { modes.refine(self.takes, self.range(), 2, 6) } else { modes };
            if round == ROUNDS - 1 {
                let periodogram = self.periodogram(&modes.residual(self.takes));
                self.prune(&mut modes, &periodogram);
            }
        }
        self.finish(modes)
    }

    fn periodogram(&self, residual: &[Vec<f64>]) -> Periodogram {
        let slowest = (0.7 / self.duration_s()).min(FASTEST_PER_S / 4.0);
        Periodogram::new(residual, self.sample_rate, slowest, FASTEST_PER_S)
    }

    fn first_guess(&self) -> Modes {
        let (low, high) = self.band();
        let found = esprit::candidates(self.takes, self.sample_rate, low, high);
        let mut poles: Vec<LogPole> = Vec::new();
        for pole in found.into_iter().map(|s| self.range().clamp(s)) {
            let near = |p: &LogPole| (p - pole).norm() < 0.1 * p.re.abs().min(pole.re.abs());
            let frequency = pole.im / TAU * self.sample_rate;
            if frequency > low && frequency < high && !poles.iter().any(near) {
                poles.push(pole);
            }
        }
        let mut modes = Modes { poles: self.pursue(poles), amplitudes: Vec::new() };
        for stage in STAGES_S {
            let len = (stage * self.sample_rate) as usize;
            if self.takes.iter().any(|x| x.len() > len + len / 4) {
                let short: Vec<Vec<f64>> = self.takes.iter().map(|x| x[..x.len().min(len)].to_vec()).collect();
                modes = Modes::with_poles(&short, modes.poles).refine(&short, self.range(), 2, 6);
            }
        }
        Modes::with_poles(self.takes, modes.poles).refine(self.takes, self.range(), 2, 6)
    }

    /// Matching pursuit over candidate poles.
    fn pursue(&self, poles: Vec<LogPole>) -> Vec<LogPole> {
        let len = self.takes.iter().map(Vec::len).min().unwrap_or(0).min((STAGES_S[0] * self.sample_rate) as usize);
        let mut b: Vec<Vec<f64>> = self
            .takes
            .iter()
            .map(|x| poles.par_iter().flat_map_iter(|&s| [correlate(&x[..len], s)[0]]).collect::<Vec<C64>>())
            .map(|products| products.iter().flat_map(|p| [p.re, -p.im]).collect())
            .collect();
        let mut g = gram_matrix(&poles, len);
        let full: Vec<f64> = (0..poles.len()).map(|i| determinant(&g, i)).collect();
        let total: f64 = self.takes.iter().flat_map(|x| &x[..len]).map(|x| x * x).sum();
        let least = (2.0 * PROMINENCE * self.noise * self.takes.len() as f64).max(1e-5 * total);
        let mut chosen = Vec::new();
        let mut free = vec![true; poles.len()];
        while chosen.len() < self.settings.max_modes {
            // A pole almost spanned by the chosen ones would only be fitted against them.
            let usable = |i: &usize| free[*i] && determinant(&g, *i) > 1e-3 * full[*i];
            let best = (0..poles.len())
                .filter(usable)
                .map(|i| (i, b.iter().map(|b| explained(&g, b, i)).sum::<f64>()))
                .max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)));
            let Some((i, energy)) = best.filter(|(_, e)| *e > least) else { break };
            debug_assert!(energy.is_finite());
            eliminate(&mut g, &mut b, i);
            free[i] = false;
            chosen.push(poles[i]);
        }
        chosen
    }

    /// Peaks of the residual worth adding.
    fn missing(&self, modes: &Modes, periodogram: &Periodogram) -> Vec<LogPole> {
        let (low, high) = self.band();
        let room = self.settings.max_modes.saturating_sub(modes.poles.len());
        let floor = self.floor(modes);
        let mut peaks = periodogram.peaks(low, high, room);
        peaks.retain(|p| amplitude(p.energy, p.pole, self.duration_s() * self.sample_rate) > floor);
        peaks.into_iter().map(|p| self.range().clamp(p.pole)).collect()
    }

    /// Smallest amplitude of interest.
    fn floor(&self, modes: &Modes) -> f64 {
        let strongest = modes.amplitudes.iter().flatten().map(|c| c.norm()).fold(0.0, f64::max);
        strongest * 10f64.powf(-self.settings.floor_db.abs() / 20.0)
    }

    /// Drops modes that explain no more than noise would.
    fn prune(&self, modes: &mut Modes, periodogram: &Periodogram) {
        let costs = removal_costs(self.takes, modes);
        let keep: Vec<bool> = modes
            .poles
            .iter()
            .zip(&costs)
            .map(|(&pole, cost)| {
                *cost > PROMINENCE * periodogram.level(pole).max(2.0 * self.noise * self.takes.len() as f64)
            })
            .collect();
        if keep.iter().any(|k| !k) {
            modes.retain(&keep);
            *modes = Modes::with_poles(self.takes, std::mem::take(&mut modes.poles));
        }
    }

    fn finish(&self, mut modes: Modes) -> Modes {
        let floor = self.floor(&modes);
        let (low, high) = self.band();
        let loud = |i: usize| modes.amplitudes.iter().any(|take| take[i].norm() >= floor);
        let inside = |i: usize| (low..=high).contains(&(modes.poles[i].im / TAU * self.sample_rate));
        let keep: Vec<bool> = (0..modes.poles.len()).map(|i| loud(i) && inside(i)).collect();
        modes.retain(&keep);
        modes = Modes::with_poles(self.takes, modes.poles);
        if self.settings.refine && !modes.poles.is_empty() {
            modes = modes.refine(self.takes, self.range(), 4, 10);
        }
        modes
    }
}

/// Amplitude of a mode that has this energy within `len` samples.
fn amplitude(energy: f64, pole: LogPole, len: f64) -> f64 {
    let rate = -2.0 * pole.re;
    let sum = (1.0 - (-rate * len).exp()) / rate.max(1e-12);
    (2.0 * energy / sum.max(1.0)).sqrt()
}

fn determinant(g: &Square<f64>, i: usize) -> f64 {
    g.at(2 * i, 2 * i) * g.at(2 * i + 1, 2 * i + 1) - g.at(2 * i, 2 * i + 1).powi(2)
}

/// Energy of the projection of what is left on candidate `i`.
fn explained(g: &Square<f64>, b: &[f64], i: usize) -> f64 {
    let (p, q) = (b[2 * i], b[2 * i + 1]);
    let (a, c, d) = (g.at(2 * i, 2 * i), g.at(2 * i, 2 * i + 1), g.at(2 * i + 1, 2 * i + 1));
    (d * p * p - 2.0 * c * p * q + a * q * q) / determinant(g, i)
}

/// Projects everything off the two columns of candidate `i`.
fn eliminate(g: &mut Square<f64>, b: &mut [Vec<f64>], i: usize) {
    for pivot in [2 * i, 2 * i + 1] {
        let row = g.row(pivot).to_vec();
        if row[pivot] <= 0.0 {
            continue;
        }
        for (k, weight) in row.iter().map(|x| x / row[pivot]).enumerate() {
            if weight != 0.0 {
                let order = g.order;
                g.data[k * order..(k + 1) * order].iter_mut().zip(&row).for_each(|(y, x)| *y -= weight * x);
            }
        }
        for b in b.iter_mut() {
            let value = b[pivot] / row[pivot];
            b.iter_mut().zip(&row).for_each(|(y, x)| *y -= value * x);
        }
    }
}

/// Energy by which the residual would grow without each mode: `cᵀ [(ΦᵀΦ)⁻¹]ᵢᵢ⁻¹ c`.
fn removal_costs(takes: &[Vec<f64>], modes: &Modes) -> Vec<f64> {
    let n = modes.poles.len();
    let mut costs = vec![0.0; n];
    let mut blocks: (usize, Vec<[f64; 3]>) = (usize::MAX, Vec::new());
    for (x, amplitudes) in takes.iter().zip(&modes.amplitudes) {
        if blocks.0 != x.len() {
            let cholesky = Cholesky::new(&gram_matrix(&modes.poles, x.len()), 1e-9);
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
            blocks = (x.len(), inverse.collect());
        }
        for ((cost, z), [a, c, d]) in costs.iter_mut().zip(amplitudes).zip(&blocks.1) {
            let det = a * d - c * c;
            let value = (d * z.re * z.re - 2.0 * c * z.re * z.im + a * z.im * z.im) / det;
            *cost += if value.is_finite() { value.max(0.0) } else { 0.0 };
        }
    }
    costs
}
