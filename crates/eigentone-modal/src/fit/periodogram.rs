//! What a residual still holds: a periodogram matched to damped sinusoids.
//!
//! A single mode of decay `d` and frequency `f` added to white noise is best detected by the energy of the projection on
//! it, `E(f, d) = |Σ x[n] e^{−dn/fs} e^{−j2πfn/fs}|² / (½ Σ e^{−2dn/fs})`. On a ladder of decays this is one FFT each; a
//! step of 2.5 in `d` loses at most 5 % of the energy, by `4dd′/(d + d′)²`.
//!
//! Under noise of any smooth colour, decaying or not, `E` is exponentially distributed about its local mean, which the
//! median of the neighbourhood estimates ([`Periodogram::level`]). A peak counts as a mode if it stands [`PROMINENCE`]
//! times above that mean: a false alarm has the probability `e^{−PROMINENCE}` per resolved cell.

use super::gram::{C64, LogPole};
use rayon::prelude::*;
use rustfft::FftPlanner;
use std::f64::consts::TAU;

/// Energy of a mode over the mean energy of its surroundings that makes it credible. A recording has about 1e5 cells;
/// `e^{−15}` of them are a thirtieth of one.
pub(super) const PROMINENCE: f64 = 15.0;

/// Ratio of neighbouring decays on the ladder.
const LADDER_STEP: f64 = 2.5;

/// A peak of the residual.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peak {
    pub pole: LogPole,
    pub energy: f64,
}

/// Energies on one rung of the ladder.
struct Rung {
    decay_per_s: f64,
    bin_hz: f64,
    energy: Vec<f64>,
    level: Vec<f64>,
    /// Bins per entry of `level`.
    stride: usize,
}

/// Projection energies of a set of takes over frequency and decay.
pub(super) struct Periodogram {
    sample_rate: f64,
    rungs: Vec<Rung>,
}

impl Periodogram {
    /// Analyses the takes together, with decays from `slowest` to `fastest` in 1/s.
    pub fn new(takes: &[Vec<f64>], sample_rate: f64, slowest: f64, fastest: f64) -> Self {
        let mut decays = vec![slowest];
        while decays[decays.len() - 1] * LADDER_STEP < fastest {
            decays.push(decays[decays.len() - 1] * LADDER_STEP);
        }
        let rungs = decays.par_iter().map(|&d| Rung::new(takes, sample_rate, d)).collect();
        Self { sample_rate, rungs }
    }

    /// Expected energy of the projection on a pole if there is no mode near it.
    pub fn level(&self, pole: LogPole) -> f64 {
        let decay = -pole.re * self.sample_rate;
        let distance = |r: &Rung| (r.decay_per_s / decay).ln().abs();
        let rung = self.rungs.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        rung.map_or(0.0, |r| r.level_at(pole.im / TAU * self.sample_rate / r.bin_hz))
    }

    /// Credible peaks between two frequencies, strongest first, at most one per resolved cell.
    pub fn peaks(&self, low_hz: f64, high_hz: f64, most: usize) -> Vec<Peak> {
        let mut all: Vec<(f64, f64, f64)> = self.rungs.iter().flat_map(|r| r.peaks(low_hz, high_hz)).collect();
        all.sort_by(|a, b| b.2.total_cmp(&a.2));
        let mut kept: Vec<(f64, f64, f64)> = Vec::new();
        for peak in all {
            let apart = |k: &(f64, f64, f64)| (k.0 - peak.0).abs() > 0.5 * k.1.max(peak.1) + 0.5 * self.rungs[0].bin_hz;
            if kept.len() < most && kept.iter().all(apart) {
                kept.push(peak);
            }
        }
        let pole = |f: f64, d: f64| C64::new(-d, TAU * f) / self.sample_rate;
        kept.into_iter().map(|(f, d, energy)| Peak { pole: pole(f, d), energy }).collect()
    }
}

impl Rung {
    fn new(takes: &[Vec<f64>], sample_rate: f64, decay_per_s: f64) -> Self {
        let longest = takes.iter().map(Vec::len).max().unwrap_or(0);
        let window = longest.min((7.0 * sample_rate / decay_per_s) as usize + 16);
        let size = (2 * window).next_power_of_two();
        let fft = FftPlanner::new().plan_fft_forward(size);
        let step = (-decay_per_s / sample_rate).exp();
        let mut energy = vec![0.0; size / 2];
        for take in takes {
            let mut buffer = vec![C64::default(); size];
            let mut weight = 1.0;
            let mut norm = 0.0;
            for (b, x) in buffer.iter_mut().zip(&take[..take.len().min(window)]) {
                *b = C64::new(x * weight, 0.0);
                norm += 0.5 * weight * weight;
                weight *= step;
            }
            fft.process(&mut buffer);
            energy.iter_mut().zip(&buffer).for_each(|(e, b)| *e += b.norm_sqr() / f64::max(norm, 1e-300));
        }
        let bin_hz = sample_rate / size as f64;
        let (level, stride) = local_means(&energy, bin_hz, decay_per_s, takes.len());
        Self { decay_per_s, bin_hz, energy, level, stride }
    }

    fn level_at(&self, bin: f64) -> f64 {
        self.level[((bin / self.stride as f64) as usize).min(self.level.len() - 1)]
    }

    fn peaks(&self, low_hz: f64, high_hz: f64) -> Vec<(f64, f64, f64)> {
        let low = ((low_hz / self.bin_hz) as usize).max(1);
        let high = ((high_hz / self.bin_hz) as usize).min(self.energy.len().saturating_sub(1));
        let e = &self.energy;
        (low..high)
            .filter(|&i| e[i] >= e[i - 1] && e[i] > e[i + 1] && e[i] > PROMINENCE * self.level_at(i as f64))
            .map(|i| {
                let bend = e[i - 1] - 2.0 * e[i] + e[i + 1];
                let shift = if bend < 0.0 { 0.5 * (e[i - 1] - e[i + 1]) / bend } else { 0.0 };
                ((i as f64 + shift.clamp(-0.5, 0.5)) * self.bin_hz, self.decay_per_s, e[i])
            })
            .collect()
    }
}

/// Energy of the takes below each frequency.
pub(super) struct Cumulative {
    bin_hz: f64,
    below: Vec<f64>,
}

impl Cumulative {
    /// Sums the spectra of the takes; the sum over all frequencies is their energy.
    pub fn new(takes: &[Vec<f64>], sample_rate: f64) -> Self {
        let size = takes.iter().map(Vec::len).max().unwrap_or(0).next_power_of_two().max(2);
        let fft = FftPlanner::new().plan_fft_forward(size);
        let mut power = vec![0.0; size / 2];
        for take in takes {
            let mut buffer: Vec<C64> = take.iter().map(|x| C64::new(*x, 0.0)).collect();
            buffer.resize(size, C64::default());
            fft.process(&mut buffer);
            power.iter_mut().zip(&buffer).for_each(|(p, b)| *p += b.norm_sqr() * 2.0 / size as f64);
        }
        let mut sum = 0.0;
        let below = power.into_iter().map(|p| {
            sum += p;
            sum
        });
        Self { bin_hz: sample_rate / size as f64, below: below.collect() }
    }

    /// All of it.
    pub fn total(&self) -> f64 {
        self.below[self.below.len() - 1]
    }

    /// Energy in the octave about a frequency.
    pub fn octave(&self, hz: f64) -> f64 {
        let at = |hz: f64| self.below[((hz / self.bin_hz).max(0.0) as usize).min(self.below.len() - 1)];
        at(hz * std::f64::consts::SQRT_2) - at(hz * std::f64::consts::FRAC_1_SQRT_2)
    }
}

/// Mean of the energies about each bin, from the median: for one take the energy is exponentially distributed and its
/// mean is median/ln 2; for more takes it is a Gamma variable, whose median approaches the mean.
fn local_means(energy: &[f64], bin_hz: f64, decay_per_s: f64, takes: usize) -> (Vec<f64>, usize) {
    let cell_hz = (decay_per_s / std::f64::consts::PI).max(bin_hz);
    let half = ((12.0 * cell_hz).max(40.0) / bin_hz).ceil() as usize;
    let stride = (half / 4).max(1);
    // One value per half cell is all the information there is.
    let every = ((0.5 * cell_hz / bin_hz) as usize).clamp(1, half);
    let shape = takes.max(1) as f64;
    let mean_over_median = if takes <= 1 { 1.0 / std::f64::consts::LN_2 } else { 1.0 / (1.0 - 1.0 / (3.0 * shape)) };
    let mut scratch = Vec::new();
    let level = (0..energy.len())
        .step_by(stride)
        .map(|centre| {
            scratch.clear();
            let range = centre.saturating_sub(half)..(centre + half).min(energy.len());
            scratch.extend(range.step_by(every).map(|i| energy[i]));
            let middle = scratch.len() / 2;
            let (_, median, _) = scratch.select_nth_unstable_by(middle, f64::total_cmp);
            *median * mean_over_median
        })
        .collect();
    (level, stride)
}
