//! From fitted modes to a model, a resynthesis and a report.
//!
//! The residual is `x − Σ Re(c z^n)` from the onset on; what it holds beyond noise becomes the diffuse part. The
//! resynthesis is both added up again, with the fitted phases; the model keeps only the [gains](super::gains).

use super::{
    Fit, FitError, FitReport, FitSettings, TakeReport, diffuse,
    gains::playing_gains,
    gram::{LogPole, add_mode},
    onset::Trimmed,
    refine::Modes,
};
use eigentone_core::{DiffuseBand, Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface, Vec3};
use std::f64::consts::TAU;

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
        let lengths: Vec<usize> = self.trimmed.iter().map(|t| t.end - t.start).collect();
        let gains = playing_gains(&self.modes, &after, &lengths, rate);
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
