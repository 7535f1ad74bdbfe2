//! The search for modes: propose, select, refine, look again.
//!
//! 1. ESPRIT [proposes](super::esprit) poles, too many of them.
//! 2. [Matching pursuit](super::pursuit) selects those that explain most.
//! 3. The chosen poles are [refined](super::refine) jointly.
//! 4. The [periodogram](super::periodogram) of the residual shows what was missed; that is added and 3 repeated.
//! 5. A mode whose removal costs no more energy than noise would yield at its place is dropped.

use super::{
    FitSettings, esprit,
    gram::LogPole,
    linalg::Cholesky,
    periodogram::{PROMINENCE, Periodogram},
    pursuit::Pursuit,
    refine::{DecayRange, Effort, Modes, gram_matrix},
};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Fastest decay taken for a mode, in 1/s: 60 dB in 2.3 ms.
const FASTEST_PER_S: f64 = 3000.0;
/// Rounds of looking at the residual.
const ROUNDS: usize = 6;
/// Durations of the first refinements, in s; the last uses everything. Frequencies must be known to a fraction of one
/// over the duration, which the candidates are not for a long recording.
const STAGES_S: [f64; 2] = [0.4, 1.6];

/// Refinement on the way and at the end. One standard deviation of every parameter is worth the energy of one sample of
/// noise, that is `1/len` of the residual.
const ROUGH: Effort = Effort { sweeps: 2, steps: 5, tolerance: 1e-4 };
const FINE: Effort = Effort { sweeps: 4, steps: 10, tolerance: 1e-7 };
/// Least energies of modes in the stages of the first guess, as a part of all. Strong modes come first, so that weaker
/// ones are judged by what those leave, not by their skirts.
const FIRST_GUESS: [f64; 4] = [5e-2, 5e-3, 5e-4, 5e-5];
/// Part of the energy of the recordings that makes a mode worth having even among neighbours as strong. Tuned on drums,
/// wood and glass: ten times more loses audible partials, ten times less turns decaying noise into modes.
const SHARE: f64 = 5e-4;
/// Squared correlation of two modes above which they cannot be told apart and would only be fitted against each other.
const SAME: f64 = 0.97;

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
            modes = if self.settings.refine { modes.refine(self.takes, self.range(), ROUGH) } else { modes };
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
        let mut modes = Modes { poles: self.select(poles), amplitudes: Vec::new() };
        for stage in STAGES_S {
            let len = (stage * self.sample_rate) as usize;
            if self.takes.iter().any(|x| x.len() > len + len / 4) {
                let short = self.first(len);
                modes = Modes::with_poles(&short, modes.poles).refine(&short, self.range(), ROUGH);
            }
        }
        Modes::with_poles(self.takes, modes.poles).refine(self.takes, self.range(), ROUGH)
    }

    /// The first samples of all takes.
    fn first(&self, len: usize) -> Vec<Vec<f64>> {
        self.takes.iter().map(|x| x[..x.len().min(len)].to_vec()).collect()
    }

    /// Those of the proposed poles that explain much and stand out of what the stronger ones leave.
    fn select(&self, poles: Vec<LogPole>) -> Vec<LogPole> {
        let shortest = self.takes.iter().map(Vec::len).min().unwrap_or(0);
        let short = self.first(shortest.min((STAGES_S[0] * self.sample_rate) as usize));
        let total: f64 = short.iter().flatten().map(|x| x * x).sum();
        let mut pursuit = Pursuit::new(&short, poles);
        let mut chosen: Vec<LogPole> = Vec::new();
        for part in FIRST_GUESS {
            let residual = Modes::with_poles(&short, chosen.clone()).residual(&short);
            let periodogram = self.periodogram(&residual);
            let least = |pole: LogPole| (part * total).max(self.least_energy(&periodogram, pole, total));
            let room = self.settings.max_modes - chosen.len();
            chosen.extend(pursuit.run(least, room));
        }
        chosen
    }

    /// Energy that a mode must have to count: out of the noise, and either a [`SHARE`] of everything or prominent among
    /// its surroundings.
    fn least_energy(&self, periodogram: &Periodogram, pole: LogPole, total: f64) -> f64 {
        let noise = 2.0 * self.noise * self.takes.len() as f64;
        (PROMINENCE * periodogram.level(pole)).min(SHARE * total).max(PROMINENCE * noise)
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
        self.separate(modes);
        let total: f64 = self.takes.iter().flatten().map(|x| x * x).sum();
        let costs = removal_costs(self.takes, modes);
        let keep: Vec<bool> = modes
            .poles
            .iter()
            .zip(&costs)
            .map(|(&pole, cost)| *cost > self.least_energy(periodogram, pole, total))
            .collect();
        if keep.iter().any(|k| !k) {
            modes.retain(&keep);
            *modes = Modes::with_poles(self.takes, std::mem::take(&mut modes.poles));
        }
    }

    /// Of modes that cannot be told apart, keeps the one that matters most.
    fn separate(&self, modes: &mut Modes) {
        let costs = removal_costs(self.takes, modes);
        let mut order: Vec<usize> = (0..costs.len()).collect();
        order.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]).then(a.cmp(&b)));
        let mut keep = vec![false; costs.len()];
        for i in order {
            let same = |j: usize| keep[j] && correlation(modes.poles[i], modes.poles[j]) > SAME;
            keep[i] = !self.range().too_fast(modes.poles[i]) && !(0..costs.len()).any(same);
        }
        if keep.iter().any(|k| !k) {
            modes.retain(&keep);
            *modes = Modes::with_poles(self.takes, std::mem::take(&mut modes.poles));
        }
    }

    fn finish(&self, mut modes: Modes) -> Modes {
        modes.sort();
        for effort in [ROUGH, FINE] {
            if self.settings.refine && !modes.poles.is_empty() {
                modes = modes.refine(self.takes, self.range(), effort);
            }
            self.separate(&mut modes);
            let floor = self.floor(&modes);
            let (low, high) = self.band();
            let loud = |i: usize| modes.amplitudes.iter().any(|take| take[i].norm() >= floor);
            let inside = |i: usize| (low..=high).contains(&(modes.poles[i].im / TAU * self.sample_rate));
            let keep: Vec<bool> = (0..modes.poles.len()).map(|i| loud(i) && inside(i)).collect();
            modes.retain(&keep);
            modes = Modes::with_poles(self.takes, modes.poles);
        }
        modes
    }
}

/// Squared correlation of two damped sinusoids of long duration: `4dd′/((d + d′)² + (ω − ω′)²)`.
fn correlation(a: LogPole, b: LogPole) -> f64 {
    4.0 * a.re * b.re / ((a.re + b.re).powi(2) + (a.im - b.im).powi(2))
}

/// Amplitude of a mode that has this energy within `len` samples.
fn amplitude(energy: f64, pole: LogPole, len: f64) -> f64 {
    let rate = -2.0 * pole.re;
    let sum = (1.0 - (-rate * len).exp()) / rate.max(1e-12);
    (2.0 * energy / sum.max(1.0)).sqrt()
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
