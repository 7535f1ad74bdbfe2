//! Models fitted to recordings of a struck object.
//!
//! A struck object that is let ring sounds as `x(t) = Σ_n a_n e^{−d_n t} cos(2πf_n t + φ_n)` plus a remainder of contact
//! noise and modes too dense to tell apart. Given recordings of strikes at one or several places, [`fit`] finds
//! frequencies and decays common to all, an amplitude for each place, and describes the remainder as bands of decaying
//! noise ([`DiffuseBand`](eigentone_core::DiffuseBand)).
//!
//! The steps, a module each:
//!
//! 1. `onset`: the strike is found and cut out;
//! 2. `esprit`: sub-band ESPRIT proposes poles;
//! 3. `search`: those that explain most are selected (`pursuit`), and what the residual still shows (`periodogram`) is
//!    added;
//! 4. `refine`: all poles are refined jointly by separable nonlinear least squares, with inner products in closed form
//!    (`gram`), down to the Cramér–Rao bound;
//! 5. `diffuse`: the remainder becomes noise bands, by maximum likelihood;
//! 6. `gains` and `assemble`: model, resynthesis and report.
//!
//! ```
//! use eigentone_modal::fit::{FitSettings, Take, fit};
//!
//! let ring = |n: i32| (-10.0 * n as f32 / 44_100.0).exp() * (0.1 * n as f32).cos();
//! let samples: Vec<f32> = (0..22_050).map(ring).collect();
//! let fitted = fit(&[Take { samples: &samples, position: None }], &FitSettings::default()).unwrap();
//! let mode = fitted.model.modes[0];
//! assert!((mode.frequency_hz - 0.1 * 44_100.0 / std::f64::consts::TAU).abs() < 0.01);
//! assert!((mode.decay_per_s - 10.0).abs() < 0.01);
//! ```

mod assemble;
mod diffuse;
mod esprit;
mod gains;
mod gram;
mod linalg;
mod onset;
mod overlap;
mod periodogram;
mod pursuit;
mod refine;
mod search;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use eigentone_core::{ModalModel, Vec3};
use thiserror::Error;

/// One recording of one strike.
#[derive(Clone, Copy, Debug)]
pub struct Take<'a> {
    /// Mono samples.
    pub samples: &'a [f32],
    /// Where the object was struck, in metres. May be left out if there is only one take.
    pub position: Option<Vec3>,
}

/// What to look for.
#[derive(Clone, Debug, PartialEq)]
pub struct FitSettings {
    /// Sample rate of all takes in Hz. Default 44 100.
    pub sample_rate_hz: f64,
    /// Largest number of modes. Default 160; a bell has 20, a cymbal more than can be told apart.
    pub max_modes: usize,
    /// Modes this far below the strongest are left out, in dB. Default 60.
    pub floor_db: f64,
    /// Lowest frequency of a mode in Hz. Default 20.
    pub lowest_hz: f64,
    /// Highest frequency of a mode in Hz. Default 18 000, and never above 47 % of the sample rate.
    pub highest_hz: f64,
    /// Longest part of a recording that is analysed, in s. Default 8.
    pub longest_s: f64,
    /// Whether to use ESPRIT and joint refinement. Without, peaks of a periodogram are taken as they are: a rough
    /// preview, with decays good to a factor of 1.5. Default true.
    pub refine: bool,
    /// Name of the model. Default "recording".
    pub name: String,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self {
            sample_rate_hz: 44_100.0,
            max_modes: 160,
            floor_db: 60.0,
            lowest_hz: 20.0,
            highest_hz: 18_000.0,
            longest_s: 8.0,
            refine: true,
            name: "recording".to_owned(),
        }
    }
}

/// How well one take is explained.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeReport {
    /// Time of the strike in the recording, in s.
    pub onset_s: f64,
    /// Time at which the model's modes start, in s: the onset after a sharp blow, up to 5 ms later after a soft one.
    pub start_s: f64,
    /// Duration that was analysed, in s.
    pub analysed_s: f64,
    /// Level of the quietest part after the strike over the peak, in dB.
    pub noise_floor_db: f64,
    /// Modes heard in this take: amplitude within `floor_db` of the strongest.
    pub modes: usize,
    /// Part of the energy from the onset on that the modes explain, phases included.
    pub explained: f64,
    /// Energy left after the modes over the energy of the take, in dB.
    pub residual_db: f64,
    /// Root mean square over bands of the level difference between take and full resynthesis in the first quarter of a
    /// second, in dB; bands more than 50 dB below the strongest do not count.
    pub band_error_db: f64,
}

/// How well the takes are explained.
#[derive(Clone, Debug, PartialEq)]
pub struct FitReport {
    /// Take by take.
    pub takes: Vec<TakeReport>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// A model and how it compares with the recordings.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model; one contact site per take.
    pub model: ModalModel,
    /// Figures of merit.
    pub report: FitReport,
    /// Per take, as long as the recording and aligned with it: modes with their fitted phases and band noise.
    pub resynthesis: Vec<Vec<f32>>,
}

/// Why recordings cannot be fitted. Takes are counted from zero in the fields and from one in messages.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FitError {
    /// No recordings.
    #[error("no recordings given; a fit needs at least one")]
    NoTakes,
    /// A recording without samples.
    #[error("recording {} is empty", .take + 1)]
    Empty {
        /// Index of the take.
        take: usize,
    },
    /// A recording with NaN or infinity.
    #[error("recording {} is not finite at sample {at}; convert it again", .take + 1)]
    NotFinite {
        /// Index of the take.
        take: usize,
        /// Index of the sample.
        at: usize,
    },
    /// A recording of nothing, or of a constant.
    #[error("recording {} is silent", .take + 1)]
    Silent {
        /// Index of the take.
        take: usize,
    },
    /// A recording that ends right after the strike.
    #[error("recording {} has {:.1} ms after the strike, but a fit needs at least {:.0} ms; let the object ring out",
        .take + 1, .usable_s * 1e3, onset::SHORTEST_S * 1e3)]
    TooShort {
        /// Index of the take.
        take: usize,
        /// What there is, in s.
        usable_s: f64,
    },
    /// A setting outside its range.
    #[error("{what} is {value}, but must be {expected}")]
    Setting {
        /// Which.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// Several takes without knowing where the object was struck.
    #[error("recording {} of {count} has no position; give each as REC@X,Y,Z with the struck place in metres", .take + 1)]
    NoPosition {
        /// Index of the take.
        take: usize,
        /// Number of takes.
        count: usize,
    },
    /// A position that is no place.
    #[error("the position of recording {} is not finite", .take + 1)]
    BadPosition {
        /// Index of the take.
        take: usize,
    },
    /// Two takes at one place.
    #[error("recordings {} and {} are at the same place; leave one out or move it", .first + 1, .second + 1)]
    SamePosition {
        /// Index of a take.
        first: usize,
        /// Index of another.
        second: usize,
    },
    /// Nothing rings.
    #[error(
        "no mode rises above the noise between {lowest_hz} and {highest_hz} Hz; record closer and in a quieter room, let \
         the object ring out, or widen the frequency range or the floor of {floor_db} dB"
    )]
    NoModes {
        /// Lower end of the search.
        lowest_hz: f64,
        /// Upper end of the search.
        highest_hz: f64,
        /// Floor below the strongest mode.
        floor_db: f64,
    },
}

impl FitSettings {
    fn check(&self) -> Result<(), FitError> {
        let bad = |what, value, expected| Err(FitError::Setting { what, value, expected });
        if !(4_000.0..=768_000.0).contains(&self.sample_rate_hz) {
            return bad("sample_rate_hz", self.sample_rate_hz, "between 4000 and 768000 Hz");
        }
        if !(1..=4096).contains(&self.max_modes) {
            return bad("max_modes", self.max_modes as f64, "between 1 and 4096");
        }
        if !(self.floor_db.is_finite() && self.floor_db > 0.0) {
            return bad("floor_db", self.floor_db, "above 0 dB");
        }
        if !(self.lowest_hz >= 1.0 && self.lowest_hz < 0.4 * self.sample_rate_hz) {
            return bad("lowest_hz", self.lowest_hz, "at least 1 Hz and below 40 % of the sample rate");
        }
        if !(self.highest_hz > self.lowest_hz && self.highest_hz.is_finite()) {
            return bad("highest_hz", self.highest_hz, "above lowest_hz");
        }
        if !(self.longest_s >= onset::SHORTEST_S && self.longest_s <= 600.0) {
            return bad("longest_s", self.longest_s, "between 0.02 and 600 s");
        }
        Ok(())
    }
}

/// Fits one model to recordings of strikes on one object.
///
/// # Errors
/// If the recordings or settings cannot be used, or nothing rings; see [`FitError`].
pub fn fit(takes: &[Take<'_>], settings: &FitSettings) -> Result<Fit, FitError> {
    settings.check()?;
    let positions = positions(takes)?;
    let rate = settings.sample_rate_hz;
    let trimmed = takes
        .iter()
        .enumerate()
        .map(|(index, take)| onset::trim(take.samples, index, rate, settings.longest_s))
        .collect::<Result<Vec<_>, _>>()?;
    let analysed: Vec<Vec<f64>> = trimmed.iter().map(|t| t.samples[t.start..t.end].to_vec()).collect();
    let noise = trimmed.iter().map(|t| t.noise_rms * t.noise_rms).sum::<f64>() / trimmed.len() as f64;
    let search = search::Search { takes: &analysed, sample_rate: rate, settings, noise };
    let modes = search.run();
    let steady_per_s = search.slowest_per_s() * 1.01;
    let starts = trimmed.iter().map(|t| t.start).collect();
    assemble::Assembly { trimmed: &trimmed, positions: &positions, modes, starts, settings, steady_per_s }.finish()
}

fn positions(takes: &[Take<'_>]) -> Result<Vec<Vec3>, FitError> {
    if takes.is_empty() {
        return Err(FitError::NoTakes);
    }
    let count = takes.len();
    let mut positions: Vec<Vec3> = Vec::with_capacity(count);
    for (take, Take { position, .. }) in takes.iter().enumerate() {
        let position = match position {
            Some(p) if p.is_finite() && p.abs().max_element() < 1e6 => *p,
            Some(_) => return Err(FitError::BadPosition { take }),
            None if count == 1 => Vec3::ZERO,
            None => return Err(FitError::NoPosition { take, count }),
        };
        if let Some(first) = positions.iter().position(|p| p.distance(position) < 1e-6) {
            return Err(FitError::SamePosition { first, second: take });
        }
        positions.push(position);
    }
    Ok(positions)
}
