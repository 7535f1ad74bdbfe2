//! From fitted modes to a model, a resynthesis and a report.
//!
//! The engine starts every mode as a cosine, so of a complex amplitude only the magnitude and, between takes, the sign
//! survive: a mode that two places move in opposite directions. Takes are aligned to their onsets only within a fraction
//! of a millisecond, hence the delay `τ_k` of each take is found first, as the one that makes the phase differences
//! `φ_ik − φ_i0 − ω_i τ_k` of all modes fall on 0 or π: the maximum of `Σ_i |c_ik c_i0| cos 2(φ_ik − φ_i0 − ω_i τ_k)`.

use super::{
    Fit, FitError, FitReport, FitSettings, TakeReport, diffuse,
    gram::{C64, LogPole, add_mode},
    onset::Trimmed,
    refine::Modes,
};
use eigentone_core::{DiffuseBand, Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface, Vec3};
use std::f64::consts::TAU;

/// Largest delay between takes that is looked for, in s.
const LARGEST_DELAY_S: f64 = 1e-3;

/// All that is known at the end.
pub(super) struct Assembly<'a> {
    pub trimmed: &'a [Trimmed],
    pub positions: &'a [Vec3],
    pub modes: Modes,
    /// Where the modes of each take start.
    pub starts: Vec<usize>,
    pub settings: &'a FitSettings,
    /// Decays below this are tones that do not decay.
    pub steady_per_s: f64,
}

impl Assembly<'_> {
    pub fn finish(mut self) -> Result<Fit, FitError> {
        let rate = self.settings.sample_rate_hz;
        for k in 0..self.trimmed.len() {
            self.reach_back(k);
        }
        let mut warnings = self.warnings();
        let steady = self.split_steady(&mut warnings);
        if self.modes.poles.is_empty() {
            let FitSettings { lowest_hz, highest_hz, floor_db, .. } = *self.settings;
            return Err(FitError::NoModes { lowest_hz, highest_hz, floor_db });
        }
        let modal: Vec<Vec<f64>> = (0..self.trimmed.len()).map(|k| self.ringing(&self.modes, k)).collect();
        let residuals: Vec<Vec<f64>> = (0..self.trimmed.len()).map(|k| self.remainder(&steady, &modal[k], k)).collect();
        let bands = diffuse::fit_bands(&residuals, &self.oscillators(), rate);
        let mut takes = Vec::new();
        let mut resynthesis = Vec::new();
        for (k, (take, modal)) in self.trimmed.iter().zip(&modal).enumerate() {
            let mut full = modal.clone();
            let noise = diffuse::synthesise(&bands, rate, take.samples.len() - take.onset, k as u64 + 1);
            full[take.onset..].iter_mut().zip(noise).for_each(|(y, x)| *y += x);
            takes.push(self.take_report(k, modal, &full));
            resynthesis.push(full.iter().map(|x| *x as f32).collect());
        }
        let mut model = self.model(bands);
        if takes.iter().any(|t| t.explained < 0.5) {
            warnings.push("the modes explain less than half of a recording; most of it is noise or dense".to_owned());
        }
        model.info.warnings = warnings.clone();
        Ok(Fit { model, report: FitReport { takes, warnings }, resynthesis })
    }

    fn warnings(&self) -> Vec<String> {
        let rate = self.settings.sample_rate_hz;
        let mut warnings = Vec::new();
        for (k, take) in self.trimmed.iter().enumerate() {
            if let Some(at) = take.second_strike {
                let at = at as f64 / rate;
                warnings.push(format!("recording {} holds a second strike at {at:.3} s; it ends there", k + 1));
            }
            let clipped = take.samples.iter().filter(|x| x.abs() > 0.999 * take.peak).count();
            if clipped > 32 && clipped * 200 > take.end - take.start {
                warnings.push(format!("recording {} seems clipped; record it at a lower level", k + 1));
            }
        }
        if self.modes.poles.len() >= self.settings.max_modes {
            warnings.push(format!("stopped at the limit of {} modes", self.settings.max_modes));
        }
        warnings
    }

    /// Lets the modes of take `k` start earlier, as far as they explain three quarters of the energy before the start. A
    /// blow much shorter than a period sets all modes in motion at once; a soft one does not.
    fn reach_back(&mut self, k: usize) {
        let take = &self.trimmed[k];
        let before = take.start - take.onset;
        let mut modal = vec![0.0; before];
        for (&c, &s) in self.modes.amplitudes[k].iter().zip(&self.modes.poles) {
            add_mode(&mut modal, c, s, -(before as f64), 1.0);
        }
        let (mut energy, mut error, mut start) = (0.0, 0.0, take.start);
        for n in (take.onset..take.start).rev() {
            energy += take.samples[n].powi(2);
            error += (take.samples[n] - modal[n - take.onset]).powi(2);
            if error < 0.25 * energy {
                start = n;
            }
        }
        let shift = (take.start - start) as f64;
        for (c, s) in self.modes.amplitudes[k].iter_mut().zip(&self.modes.poles) {
            *c *= (-s * shift).exp();
        }
        self.starts[k] = start;
    }

    /// Takes tones that do not decay, such as mains hum, out of the modes.
    fn split_steady(&mut self, warnings: &mut Vec<String>) -> Modes {
        let rate = self.settings.sample_rate_hz;
        let longest = self.trimmed.iter().map(|t| t.end - t.start).max().unwrap_or(0) as f64 / rate;
        let level = |i: usize| self.modes.amplitudes.iter().map(|take| take[i].norm()).fold(0.0, f64::max);
        let loudest = (0..self.modes.poles.len()).map(level).fold(0.0, f64::max);
        let mut steady = vec![false; self.modes.poles.len()];
        for (i, s) in self.modes.poles.iter().enumerate().filter(|(_, s)| -s.re * rate <= self.steady_per_s) {
            let hz = s.im / TAU * rate;
            steady[i] = longest > 0.5 && level(i) < 0.1 * loudest;
            warnings.push(if steady[i] {
                format!("a steady tone at {hz:.1} Hz was taken for hum and left out")
            } else {
                format!("the mode at {hz:.1} Hz does not decay within the recording; its decay is a guess")
            });
        }
        let mut hum = self.modes.clone();
        hum.retain(&steady);
        self.modes.retain(&steady.iter().map(|s| !s).collect::<Vec<_>>());
        hum
    }

    /// A set of modes in take `k`, from its start to the end of the recording.
    fn ringing(&self, modes: &Modes, k: usize) -> Vec<f64> {
        let take = &self.trimmed[k];
        let mut out = vec![0.0; take.samples.len()];
        for (&c, &s) in modes.amplitudes[k].iter().zip(&modes.poles) {
            add_mode(&mut out[self.starts[k]..], c, s, 0.0, 1.0);
        }
        out
    }

    /// The take from its onset on without modes and hum.
    fn remainder(&self, steady: &Modes, modal: &[f64], k: usize) -> Vec<f64> {
        let take = &self.trimmed[k];
        let stop = take.second_strike.unwrap_or(take.samples.len());
        let longest = (2.0 * self.settings.longest_s * self.settings.sample_rate_hz) as usize;
        let span = take.onset..stop.min(take.onset + longest);
        let hum = self.ringing(steady, k);
        span.map(|n| take.samples[n] - modal[n] - hum[n]).collect()
    }

    fn oscillators(&self) -> Vec<Mode> {
        let rate = self.settings.sample_rate_hz;
        let mode = |s: &LogPole| Mode { frequency_hz: s.im / TAU * rate, decay_per_s: -s.re * rate, output_gain: 1.0 };
        self.modes.poles.iter().map(mode).collect()
    }

    fn model(&self, bands: Vec<DiffuseBand>) -> ModalModel {
        let rate = self.settings.sample_rate_hz;
        let after: Vec<f64> = self.trimmed.iter().zip(&self.starts).map(|(t, s)| (s - t.onset) as f64).collect();
        let gains = signed_gains(&self.modes, &after, rate);
        let sites = self.positions.len();
        ModalModel {
            info: ModelInfo::new(&self.settings.name, Method::Fit, ""),
            modes: self.oscillators(),
            surface: Surface {
                positions: self.positions.iter().map(|p| p.as_vec3().to_array()).collect(),
                normals: vec![[0.0, 0.0, 1.0]; sites],
                triangles: Vec::new(),
            },
            shapes: ShapeTable::from_fn(sites, self.modes.poles.len(), |s, n| Vec3::Z * gains[s][n]),
            diffuse: bands,
        }
    }

    fn take_report(&self, k: usize, modal: &[f64], full: &[f64]) -> TakeReport {
        let rate = self.settings.sample_rate_hz;
        let take = &self.trimmed[k];
        let heard = take.onset..take.end;
        let early = take.onset..take.end.min(take.onset + (0.25 * rate) as usize);
        let energy: f64 = take.samples[heard.clone()].iter().map(|x| x * x).sum();
        let left: f64 = heard.clone().map(|n| (take.samples[n] - modal[n]).powi(2)).sum();
        let strongest = self.modes.amplitudes[k].iter().map(|c| c.norm()).fold(0.0, f64::max);
        let floor = strongest * 10f64.powf(-self.settings.floor_db / 20.0);
        TakeReport {
            onset_s: take.onset as f64 / rate,
            start_s: self.starts[k] as f64 / rate,
            analysed_s: (take.end - self.starts[k]) as f64 / rate,
            noise_floor_db: 20.0 * (take.noise_rms.max(1e-12) / take.peak).log10(),
            modes: self.modes.amplitudes[k].iter().filter(|c| c.norm() >= floor).count(),
            explained: (1.0 - left / energy).max(0.0),
            residual_db: 10.0 * (left / energy).max(1e-30).log10(),
            band_error_db: diffuse::band_difference_db(&take.samples[early.clone()], &full[early], rate),
        }
    }
}

/// Magnitudes with the signs that hold between takes; the strongest take of each mode is positive. The amplitudes of take
/// `k` hold `after[k]` samples after its onset.
fn signed_gains(modes: &Modes, after: &[f64], sample_rate: f64) -> Vec<Vec<f64>> {
    let total = |take: &[C64]| take.iter().map(|c| c.norm_sqr()).sum::<f64>();
    let turned = |take: &[C64], by: f64| -> Vec<C64> {
        take.iter().zip(&modes.poles).map(|(c, s)| c * C64::from_polar(1.0, -s.im * by)).collect()
    };
    let at_onset: Vec<Vec<C64>> = modes.amplitudes.iter().zip(after).map(|(take, by)| turned(take, *by)).collect();
    let loudest = at_onset.iter().max_by(|a, b| total(a).total_cmp(&total(b)));
    let aligned: Vec<Vec<C64>> = at_onset
        .iter()
        .map(|take| {
            let delay = loudest.map_or(0.0, |reference| best_delay(&modes.poles, reference, take, sample_rate));
            turned(take, delay)
        })
        .collect();
    let mut gains = vec![vec![0.0; modes.poles.len()]; aligned.len()];
    for n in 0..modes.poles.len() {
        let axis = aligned.iter().map(|take| take[n] * take[n]).sum::<C64>().sqrt();
        let strongest = aligned.iter().map(|take| take[n]).max_by(|a, b| a.norm_sqr().total_cmp(&b.norm_sqr()));
        let side = |c: C64| if (c * axis.conj()).re < 0.0 { -1.0 } else { 1.0 };
        let flip = strongest.map_or(1.0, side);
        for (row, take) in gains.iter_mut().zip(&aligned) {
            row[n] = flip * side(take[n]) * take[n].norm();
        }
    }
    gains
}

/// Delay in samples of a take after the reference that makes their modes agree up to sign.
fn best_delay(poles: &[LogPole], reference: &[C64], take: &[C64], sample_rate: f64) -> f64 {
    let products: Vec<C64> = reference.iter().zip(take).map(|(r, c)| c * r.conj()).collect();
    let score = |delay: f64| -> f64 {
        let agreement = |(p, s): (&C64, &LogPole)| p.norm() * (2.0 * (p.arg() - s.im * delay)).cos();
        products.iter().zip(poles).map(agreement).sum()
    };
    // Fine enough for the highest mode; among equals the smallest delay wins.
    let highest = poles.iter().map(|s| s.im).fold(1e-6, f64::max);
    let step = 0.1 / highest;
    let count = (LARGEST_DELAY_S * sample_rate / step) as i64;
    let mut best = (score(0.0) * (1.0 + 1e-9), 0.0);
    for k in (1..=count).flat_map(|k| [k, -k]) {
        let delay = k as f64 * step;
        let value = score(delay);
        if value > best.0 {
            best = (value, delay);
        }
    }
    best.1
}
