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
    overlap::{correlation, independence, removal_costs},
    periodogram::{Cumulative, PROMINENCE, Periodogram},
    pursuit::Pursuit,
    refine::{DecayRange, Effort, Modes},
};
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
const FIRST_GUESS: [f64; 4] = [5e-2, 5e-3, 5e-4, 1e-5];
/// Part of the energy of the recordings that makes a mode worth having even among neighbours as strong. Tuned on drums,
/// wood and glass: ten times more loses audible partials, ten times less turns decaying noise into modes.
const SHARE: f64 = 5e-4;
/// Part of the energy of its octave that makes a mode worth having: a line in an otherwise quiet region. Decaying noise
/// has some hundred cells in an octave about 1 kHz, of which the strongest holds a tenth; lower octaves have fewer.
const OCTAVE_SHARE: f64 = 0.1;
const FEW_CELLS_HZ: f64 = 150.0;
/// Least part of a mode's own energy that is missed without it. Modes that fall short are fitted against each other, as to
/// follow a drum's falling pitch; played without their phases they would be far too loud. Two modes of decay `d` pass
/// when they are more than `d/2π` apart in frequency.
const INDEPENDENT: f64 = 0.2;
/// Squared correlation that makes two modes neighbours.
const NEIGHBOURS: f64 = 0.2;

/// The takes as the search sees them, and what it may look for.
pub(super) struct Search<'a> {
    pub takes: &'a [Vec<f64>],
    pub sample_rate: f64,
    pub settings: &'a FitSettings,
    /// Noise variance per sample, mean over the takes.
    pub noise: f64,
}

impl Search<'_> {
    fn lengths(&self) -> Vec<usize> {
        self.takes.iter().map(Vec::len).collect()
    }

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
        let spectrum = Cumulative::new(&short, self.sample_rate);
        let mut pursuit = Pursuit::new(&short, poles);
        let mut chosen: Vec<LogPole> = Vec::new();
        for part in FIRST_GUESS {
            let residual = Modes::with_poles(&short, chosen.clone()).residual(&short);
            let periodogram = self.periodogram(&residual);
            let least = |pole: LogPole| (part * spectrum.total()).max(self.least_energy(&periodogram, pole, &spectrum));
            let room = self.settings.max_modes - chosen.len();
            chosen.extend(pursuit.run(least, room));
        }
        chosen
    }

    /// Energy that a mode must have to count: out of the noise, and either a [`SHARE`] of everything, an
    /// [`OCTAVE_SHARE`] of its octave, or prominent among its surroundings.
    fn least_energy(&self, periodogram: &Periodogram, pole: LogPole, spectrum: &Cumulative) -> f64 {
        let noise = 2.0 * self.noise * self.takes.len() as f64;
        let hz = pole.im / TAU * self.sample_rate;
        let octave = (OCTAVE_SHARE + FEW_CELLS_HZ / hz) * spectrum.octave(hz);
        let share = octave.min(SHARE * spectrum.total());
        (PROMINENCE * periodogram.level(pole)).min(share).max(PROMINENCE * noise)
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
        let spectrum = Cumulative::new(self.takes, self.sample_rate);
        let costs = removal_costs(&self.lengths(), modes);
        let keep: Vec<bool> = modes
            .poles
            .iter()
            .zip(&costs)
            .map(|(&pole, cost)| *cost > self.least_energy(periodogram, pole, &spectrum))
            .collect();
        self.keep(modes, &keep);
    }

    /// Drops what only serves to cancel something else: of neighbours the least [independent](INDEPENDENT) at a time.
    fn separate(&self, modes: &mut Modes) {
        let slow: Vec<bool> = modes.poles.iter().map(|&s| !self.range().too_fast(s)).collect();
        self.keep(modes, &slow);
        for _ in 0..12 {
            let part = independence(&self.lengths(), modes);
            let worse = |j: usize, i: usize| part[j] < part[i] || (part[j] == part[i] && j < i);
            let near = |j: usize, i: usize| correlation(modes.poles[i], modes.poles[j]) > NEIGHBOURS;
            let worst = |i: usize| (0..part.len()).all(|j| j == i || !worse(j, i) || !near(j, i));
            let keep: Vec<bool> = (0..part.len()).map(|i| part[i] >= INDEPENDENT || !worst(i)).collect();
            if keep.iter().all(|k| *k) {
                break;
            }
            self.keep(modes, &keep);
        }
    }

    /// Leaves out modes and lets the others make up for them.
    fn keep(&self, modes: &mut Modes, keep: &[bool]) {
        if keep.iter().any(|k| !k) {
            modes.retain(keep);
            *modes = Modes::with_poles(self.takes, std::mem::take(&mut modes.poles));
        }
    }

    fn finish(&self, mut modes: Modes) -> Modes {
        modes.sort();
        // Whatever is taken out, the others must make up for: only a set from which nothing falls is final.
        for _ in 0..4 {
            if self.settings.refine && !modes.poles.is_empty() {
                modes = modes.refine(self.takes, self.range(), FINE);
            }
            let before = modes.poles.len();
            self.separate(&mut modes);
            self.drop_faint(&mut modes);
            if modes.poles.len() == before {
                break;
            }
        }
        modes
    }

    /// Drops modes below the floor and those that were refined out of the band.
    fn drop_faint(&self, modes: &mut Modes) {
        let floor = self.floor(modes);
        let (low, high) = self.band();
        let loud = |i: usize| modes.amplitudes.iter().any(|take| take[i].norm() >= floor);
        let inside = |i: usize| (low..=high).contains(&(modes.poles[i].im / TAU * self.sample_rate));
        let keep: Vec<bool> = (0..modes.poles.len()).map(|i| loud(i) && inside(i)).collect();
        self.keep(modes, &keep);
    }
}

/// Amplitude of a mode that has this energy within `len` samples.
fn amplitude(energy: f64, pole: LogPole, len: f64) -> f64 {
    let rate = -2.0 * pole.re;
    let sum = (1.0 - (-rate * len).exp()) / rate.max(1e-12);
    (2.0 * energy / sum.max(1.0)).sqrt()
}
