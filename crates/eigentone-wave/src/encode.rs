//! From the response at one point to the five numbers that describe it.
//!
//! A simulation sends out the pulse s(t) = exp(−((t − t₀)/σ)²), σ = √(ln 10)/(π ν_max), with unit peak at 1 m, and records the pressure P(t) at every
//! point. Its spectrum is √π σ 10^{−(ν/ν_max)²}: −20 dB at ν_max. [`Encoder`] cuts what arrives after the onset τ (first |P| over −90 dB) by smooth
//! steps w(t) = ½(1 + erf(t/σ_w)), σ_w = 3σ, into
//!
//! - direct sound, P·w(−(t − τ − Δ_DS − 2σ_w)),
//! - early reflections, P·w(t − τ − Δ_DS − 2σ_w)·w(−(t − τ − Δ_DS − Δ_ER − 2σ_w)),
//! - all but the direct sound, P·w(t − τ − Δ_DS − 2σ_w), whose decay gives both reverberation times (see `decay.rs`).
//!
//! Levels are means over three octaves in dB (see `loudness.rs`). The method is that of Raghuvanshi and Snyder, "Parametric wave field coding for
//! precomputed sound propagation" (2014), repaired where it contradicts itself, and changed in one respect:
//!
//! **The room keeps an offset.** The pulse has a net area, so the pressure in a closed room rises by up to several times the pulse's peak and stays there.
//! It rises as the reverberation falls, from nothing at the onset. Early reflections are therefore freed of a ramp from 0 at the onset to the local mean at
//! their end; subtracting the late mean instead puts a step where there was none. With noise that decays in 0.3 / 1 / 3 s and an
//! offset of 2.0 that grows as in a room of that decay, the level errs by 2.8 / 0.7 / 0.1 dB without correction, by 2.2 / 1.0 / 0.6 dB with the late
//! mean and by 0.1 / 0.0 / 0.0 dB with the ramp. Windows of the decay lose mean and slope, each its own.
//!
//! ```
//! use eigentone_wave::encode::{Encoder, Timing};
//!
//! let timing = Timing::new(500.0, 0.3375e-3);
//! let distance_m = 10.0;
//! let steps = (timing.duration_s(distance_m) / timing.step_s) as usize;
//! let free: Vec<f32> =
//!     (0..steps).map(|k| (timing.pulse(k as f64 * timing.step_s - distance_m / 340.0) / distance_m) as f32).collect();
//! let heard = Encoder::new(&timing).encode(&free, distance_m).unwrap();
//! assert!(heard.direct_db.abs() < 0.01 && heard.early_db < -70.0 && heard.tilt_db.abs() < 0.01);
//! ```

mod decay;
mod loudness;

use decay::Decay;
use eigentone_core::acoustics::{Parameters, SOUND_M_S};
use loudness::{BANDS, Loudness};

/// Everything about time and frequency that follows from ν_max.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// ν_max, where the three octaves end, in Hz.
    pub f_max_hz: f64,
    /// Time between two samples of a response, in s. Responses must hold ν_max: it should be below 1/(2 ν_max).
    pub step_s: f64,
    /// Δ_DS, in s: how long after the onset sound still counts as direct; 5σ if that is longer.
    pub direct_s: f64,
    /// Δ_ER, in s: how long early reflections last after that.
    pub early_s: f64,
    /// Δ_LR, in s: how long a stretch at the end of the response gives the late decay.
    pub late_s: f64,
    /// What is not louder than this is no sound, in dB relative to the pulse's peak at 1 m.
    pub onset_db: f64,
}

impl Timing {
    /// Δ_DS, Δ_ER, Δ_LR = 5, 200, 600 ms and an onset at −90 dB, whatever the frequency.
    pub fn new(f_max_hz: f64, step_s: f64) -> Self {
        Self { f_max_hz, step_s, direct_s: 0.005, early_s: 0.2, late_s: 0.6, onset_db: -90.0 }
    }

    /// σ of the source's pulse, in s: 0.966 ms at 500 Hz. Its standard deviation is σ/√2.
    pub fn sigma_s(&self) -> f64 {
        std::f64::consts::LN_10.sqrt() / (std::f64::consts::PI * self.f_max_hz)
    }

    /// t₀ = 5σ, in s: when the pulse leaves the source with its peak. It starts at −217 dB.
    pub fn pulse_delay_s(&self) -> f64 {
        5.0 * self.sigma_s()
    }

    /// σ_w = 3σ, in s: width of the steps between direct sound, early reflections and the rest.
    pub fn window_s(&self) -> f64 {
        3.0 * self.sigma_s()
    }

    /// s(t), the pulse as it arrives at 1 m less the time it travels.
    pub fn pulse(&self, t: f64) -> f64 {
        (-((t - self.pulse_delay_s()) / self.sigma_s()).powi(2)).exp()
    }

    /// How long to simulate so that a point in sight at this distance has its direct, early and late parts, in s.
    pub fn duration_s(&self, farthest_m: f64) -> f64 {
        let parts_s = self.direct_end_s() + self.early_s + self.late_s + 2.0 * self.window_s();
        farthest_m / SOUND_M_S + self.pulse_delay_s() + parts_s
    }

    /// Middle of the step from direct sound to early reflections, in s after the onset: Δ_DS + 2σ_w, where Δ_DS is not shorter than 5σ (4.8 ms at 500 Hz).
    /// With 5 ms at 250 Hz the pulse itself would leak into early reflections with −43 dB; so it does with −75 dB at both frequencies.
    fn direct_end_s(&self) -> f64 {
        self.direct_s.max(5.0 * self.sigma_s()) + 2.0 * self.window_s()
    }

    /// Length of the windows of the decay, in s: 256 samples of 0.3398 ms at 500 Hz, and in proportion to the wavelength.
    fn decay_window_s(&self) -> f64 {
        256.0 * 0.3398e-3 * 500.0 / self.f_max_hz
    }

    /// A time in samples; numbers that make no sense become few or many, but not more than memory holds.
    fn samples(&self, seconds: f64) -> usize {
        ((seconds / self.step_s).round() as usize).min(1 << 18)
    }
}

/// Turns responses into [`Parameters`]: plans, windows and scratch memory of all its steps. One per thread.
pub struct Encoder {
    onset: f32,
    step_s: f64,
    /// When a pulse from the source itself could be over the onset's level, in s.
    before_peak_s: f64,
    /// Gates and the ramp start at the onset.
    direct_gate: Vec<f32>,
    early_gate: Vec<f32>,
    /// Share of the offset at the end of early reflections that is there already, times their gate.
    early_ramp: Vec<f32>,
    /// Rise of the gate of all that is not direct; one beyond.
    rest_gate: Vec<f32>,
    /// Where the offset is measured, in samples after the onset.
    offset_span: std::ops::Range<usize>,
    direct: Loudness,
    early: Loudness,
    decay: Decay,
    segment: Vec<f32>,
}

impl Encoder {
    /// Plans for responses of any length with this timing. If ν_max is beyond what the step can hold, bands end where the spectrum does.
    pub fn new(timing: &Timing) -> Self {
        let window_s = timing.window_s();
        let direct_end_s = timing.direct_end_s();
        let early_end_s = direct_end_s + timing.early_s;
        let step = |t: f64| 0.5 * erfc(-t / window_s);
        let table = |until_s: f64, f: &dyn Fn(f64) -> f64| -> Vec<f32> {
            (0..=timing.samples(until_s)).map(|k| f(k as f64 * timing.step_s) as f32).collect()
        };
        let early_gate = |t: f64| step(t - direct_end_s) * step(early_end_s - t);
        let direct_gate = table(direct_end_s + 2.0 * window_s, &|t| step(direct_end_s - t));
        let early_until_s = early_end_s + 2.0 * window_s;
        // Three periods of the lowest frequency: less takes reflections for an offset, more misses how fast it grows.
        let offset_s = 3.0 * 8.0 / timing.f_max_hz;
        let offset_from = timing.samples((early_end_s - 0.5 * offset_s).max(0.0));
        Self {
            onset: 10f64.powf(timing.onset_db / 20.0) as f32,
            step_s: timing.step_s,
            before_peak_s: (timing.pulse_delay_s() - 4.0 * timing.sigma_s()).max(0.0),
            direct: Loudness::new(timing, direct_gate.len()),
            direct_gate,
            early_gate: table(early_until_s, &early_gate),
            early_ramp: table(early_until_s, &|t| (t / early_end_s).min(1.0) * early_gate(t)),
            rest_gate: table(direct_end_s + 4.0 * window_s, &|t| step(t - direct_end_s)),
            offset_span: offset_from..offset_from + timing.samples(offset_s).max(1),
            early: Loudness::new(timing, timing.samples(early_until_s) + 1),
            decay: Decay::new(timing),
            segment: Vec::new(),
        }
    }

    /// What a response says. `distance_m` is from source to receiver. `None` if no sound arrives (nothing is over the onset's level) or a sample is not a
    /// number; otherwise all numbers are finite:
    ///
    /// - levels and the tilt as they are, but bands do not fall below −300 dB, nor distances below 1 mm,
    /// - decays within what can be stored (44 ms to 21.6 s). A curve that never falls by 13 dB is used as far as it goes. What lies under the onset's
    ///   level takes no part; if no reflections are over it, or the response ends within two windows after the onset, both decays are the shortest. If the
    ///   sound dies before the late part begins, the late decay is that of the last four windows with sound.
    pub fn encode(&mut self, response: &[f32], distance_m: f64) -> Option<Parameters> {
        self.encode_all([(response, distance_m)])
    }

    /// What responses at several points of one place say together: levels and tilts are means in dB, decays those of the sum of all energies, each relative to its
    /// whole and from its onset on. A sum wavers less than its parts, so decays are surer than means of decays would be. Points without sound take no part.
    pub fn encode_all<'a>(&mut self, responses: impl IntoIterator<Item = (&'a [f32], f64)>) -> Option<Parameters> {
        self.decay.clear();
        let mut sums = [0.0; 3];
        let mut count = 0.0;
        for (response, distance_m) in responses {
            if let Some(levels) = self.add(response, distance_m) {
                sums.iter_mut().zip(levels).for_each(|(sum, level)| *sum += level);
                count += 1.0;
            }
        }
        if count == 0.0 {
            return None;
        }
        let [direct_db, early_db, tilt_db] = sums.map(|sum| sum / count);
        let [early_decay_s, late_decay_s] = self.decay.times_s();
        let parameters = Parameters { direct_db, early_db, early_decay_s, late_decay_s, tilt_db };
        // Only a timing that makes no sense gets here with anything else.
        parameters.to_array().iter().all(|x| x.is_finite()).then_some(parameters)
    }

    /// Levels of direct sound and early reflections and the tilt of one response, whose energies are added to those of the decay.
    fn add(&mut self, response: &[f32], distance_m: f64) -> Option<[f64; 3]> {
        // Magnitudes order as their bits do, and what is not finite lies above all numbers.
        let peak_bits = response.iter().fold(0, |most: u32, p| most.max(p.to_bits() & 0x7fff_ffff));
        let peak = f32::from_bits(peak_bits);
        if !(peak.is_finite() && peak >= f32::MIN_POSITIVE) {
            return None;
        }
        let distance_m = if distance_m.is_nan() { 1.0 } else { distance_m.clamp(1e-3, 1e9) };
        // Nothing is faster than sound. What a simulation shows before is the ripple of a source in a single cell, which has no room for high wave numbers.
        let earliest = (self.before_peak_s + distance_m / SOUND_M_S) / self.step_s;
        let onset = response.iter().enumerate().skip(earliest as usize).find(|(_, p)| p.abs() > self.onset)?.0;
        // All that follows is relative to the peak, so that no square overflows.
        let scale = peak.recip();
        let scale_db = 20.0 * f64::from(peak).log10();
        let heard = &response[onset..];

        let cut = |gate: &[f32], segment: &mut Vec<f32>| {
            segment.clear();
            segment.extend(heard.iter().zip(gate).map(|(p, g)| p * scale * g));
        };
        cut(&self.direct_gate, &mut self.segment);
        let direct = self.direct.levels_db(&self.segment);

        cut(&self.early_gate, &mut self.segment);
        let around = self.offset_span.start.min(heard.len())..self.offset_span.end.min(heard.len());
        let offset = mean(&heard[around], scale);
        self.segment.iter_mut().zip(&self.early_ramp).for_each(|(p, ramp)| *p -= offset * ramp);
        let early = self.early.levels_db(&self.segment);

        self.segment.clear();
        let rising = self.rest_gate.len().min(heard.len());
        self.segment.extend(heard[..rising].iter().zip(&self.rest_gate).map(|(p, g)| p * scale * g));
        self.segment.extend(heard[rising..].iter().map(|p| p * scale));
        self.decay.add(&self.segment, f64::from(scale));

        let level = |bands: [f64; BANDS]| bands.iter().sum::<f64>() / BANDS as f64 + scale_db;
        // The tilt by least squares over −1, 0, 1.
        Some([level(direct) + 20.0 * distance_m.log10(), level(early), 0.5 * (direct[2] - direct[0])])
    }
}

fn mean(samples: &[f32], scale: f32) -> f32 {
    samples.iter().map(|p| p * scale).sum::<f32>() / samples.len().max(1) as f32
}

/// 1 − erf(x), relative error below 1.2e-7: Press et al., *Numerical Recipes in C*, 2nd ed., §6.2.
fn erfc(x: f64) -> f64 {
    const C: [f64; 10] = [
        -1.26551223,
        1.00002368,
        0.37409196,
        0.09678418,
        -0.18628806,
        0.27886807,
        -1.13520398,
        1.48851587,
        -0.82215223,
        0.17087277,
    ];
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let tail = t * (-x * x + C.iter().rev().fold(0.0, |sum, c| sum * t + c)).exp();
    if x >= 0.0 { tail } else { 2.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of erf from Abramowitz and Stegun, table 7.1.
    #[test]
    fn the_error_function_has_its_tabulated_values() {
        for (x, erf) in [(0.0, 0.0), (0.5, 0.5204998778), (1.0, 0.8427007929), (2.0, 0.9953222650)] {
            assert!((1.0 - erfc(x) - erf).abs() < 2e-7, "{x}");
            assert!((erfc(-x) - 1.0 - erf).abs() < 2e-7, "−{x}");
        }
    }

    /// The figures of the paper.
    #[test]
    fn times_at_500_hz_are_those_of_the_reference() {
        let timing = Timing::new(500.0, 0.3375e-3);
        assert!((timing.sigma_s() - 0.966e-3).abs() < 1e-6);
        assert!((timing.window_s() - 2.90e-3).abs() < 1e-5);
        assert!((20.0 * timing.pulse(0.0).log10() + 217.0).abs() < 0.2);
        assert_eq!(timing.pulse(timing.pulse_delay_s()), 1.0);
        assert!((timing.duration_s(34.0) - 0.1 - 0.00483 - 0.805 - 0.01159).abs() < 1e-4);
    }
}
