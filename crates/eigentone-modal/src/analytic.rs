//! Shapes whose modes are known in closed form, or nearly so: strings, bars, plates and discs.
//!
//! Each solves a bending (or string) equation `ρh ∂²w/∂t² + 𝓛w = 0` for displacement `w` along +Z, with mass-normalised
//! shapes `∫ ρh φ_n² dA = 1`, so that an impulse `J` at `x_s` moves mode `n` with velocity `φ_n(x_s)·J`. Sources:
//! Fletcher & Rossing, *The Physics of Musical Instruments*, chapters 2 and 3; Leissa, *Vibration of Plates* (NASA SP-160).
//!
//! - stiff strings: `f_n = n f₀ √(1 + B n²)`
//! - slender bars (Euler–Bernoulli), free or clamped at one end, optionally with [tuned](Tuning) partials
//! - thin rectangular plates, simply supported (closed form) or free ([Ritz's method](ritz_free_plate))
//! - thin discs, clamped or free (Bessel functions)
//!
//! Every body lies in the xy plane around the origin: lengths along x, widths along y.
//!
//! Loudness: uniform bodies have `∫ φ_n² dA = 1/ρh` exactly, hence the radiation gain that [`eigentone_core::model`] defines
//! is `ρ₀c/√(4π) · 1/√(ρh)` for every mode, whose sign is that of the net volume velocity `∫ φ_n dA` (plus where that
//! vanishes, as it does for every free body). With [`AnalyticSettings::pickup`] the gain is instead
//! `ρ₀c/√(4π) · √A · φ_n(x_p)`, as if the whole area `A` moved like the pickup point: the same loudness on average over
//! all pickup points, but a pickup on a nodal line does not hear that mode.
//!
//! ```
//! use eigentone_core::MaterialTable;
//! use eigentone_modal::analytic::{self, AnalyticSettings, BarSupport, Shape};
//!
//! let steel = MaterialTable::builtin().get("steel").unwrap().clone();
//! let bar = Shape::Bar { length: 0.2, width: 0.03, thickness: 0.005, support: BarSupport::Free, tuning: None };
//! let model = analytic::model(&bar, &steel, &AnalyticSettings::default()).unwrap();
//! assert!((model.modes[1].frequency_hz / model.modes[0].frequency_hz - 2.7565).abs() < 1e-4);
//! ```

mod assemble;
mod bar;
mod bessel;
mod disc;
mod numeric;
mod ritz;
mod string;
mod supported;
mod timoshenko;

#[cfg(test)]
mod tests;

pub use assemble::model;
pub use ritz::ritz_free_plate;
pub use timoshenko::timoshenko_free_bar;

use eigentone_core::{
    AUDIBLE_HZ, Material, Vec3,
    material::{DampingLaw, MaterialError},
};
use thiserror::Error;

/// A body whose modes are known. Sizes in metres.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A round stiff string between two fixed ends, along x; it moves along z.
    String {
        /// Speaking length.
        length: f64,
        /// Diameter of the wire.
        diameter: f64,
        /// What keeps it taut.
        pull: Pull,
    },
    /// A slender bar of rectangular section along x. Only bending in the direction of the thickness (z) is modelled;
    /// bending sideways, torsion and stretching are left out.
    Bar {
        /// Along x.
        length: f64,
        /// Along y.
        width: f64,
        /// Along z, the direction of motion.
        thickness: f64,
        /// How it is held.
        support: BarSupport,
        /// Partials tuned by undercutting; `None` for a plain bar.
        tuning: Option<Tuning>,
    },
    /// A thin rectangular plate.
    Plate {
        /// Along x.
        length: f64,
        /// Along y.
        width: f64,
        /// Along z.
        thickness: f64,
        /// How its edges are held.
        support: PlateSupport,
    },
    /// A thin round plate.
    Disc {
        /// Radius.
        radius: f64,
        /// Along z.
        thickness: f64,
        /// How its edge is held.
        support: DiscSupport,
    },
}

/// What keeps a string taut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pull {
    /// Tension in newtons.
    Tension(f64),
    /// Frequency in Hz of the first partial as it sounds, stiffness included; the tension follows.
    Fundamental(f64),
}

/// How a bar is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarSupport {
    /// Both ends free: xylophone, glockenspiel, chime.
    #[default]
    Free,
    /// Clamped at `x = −length/2`, free at the other end: kalimba, music box, ruler on a table.
    ClampedFree,
}

/// How a plate's edges are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlateSupport {
    /// All edges free: a hung sheet.
    #[default]
    Free,
    /// All edges held but free to turn.
    SimplySupported,
}

/// How a disc's edge is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiscSupport {
    /// Free: a cymbal without its dome, a coin.
    #[default]
    Free,
    /// Clamped.
    Clamped,
}

/// Partials of a bar tuned by undercutting it.
///
/// The first partials are moved to `ratios` times the fundamental; the partials above keep their spacing relative to
/// the last tuned one. Shapes and mass stay those of the uniform bar: the undercut moves nodes by a few per cent of the
/// length, which is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Frequencies of the first partials relative to the fundamental; the first is 1 and they rise.
    pub ratios: Vec<f64>,
    /// Frequency of the fundamental in Hz; `None` keeps that of the uniform bar (an undercut lowers it).
    pub fundamental_hz: Option<f64>,
}

impl Tuning {
    /// Xylophone bars, 1 : 3 : 6 (a twelfth above the fundamental). Fletcher & Rossing, chapter 19.
    pub fn xylophone() -> Self {
        Self { ratios: vec![1.0, 3.0, 6.0], fundamental_hz: None }
    }

    /// Marimba bars, 1 : 4 : 9.2 (a double octave above the fundamental). Fletcher & Rossing, chapter 19.
    pub fn marimba() -> Self {
        Self { ratios: vec![1.0, 4.0, 9.2], fundamental_hz: None }
    }
}

/// How a shape becomes a model.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyticSettings {
    /// Name of the model; if empty, that of the kind of shape.
    pub name: String,
    /// Damping law.
    pub damping: DampingLaw,
    /// Modes below this frequency in Hz are left out.
    pub low_hz: f64,
    /// Modes above this frequency in Hz are left out.
    pub high_hz: f64,
    /// At most so many modes, the lowest.
    pub max_modes: usize,
    /// Where the sound is picked up (moved to the nearest place of the body); `None` for all the sound it radiates.
    pub pickup: Option<Vec3>,
}

impl Default for AnalyticSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            damping: DampingLaw::LossFactor,
            low_hz: *AUDIBLE_HZ.start(),
            high_hz: *AUDIBLE_HZ.end(),
            max_modes: 256,
            pickup: None,
        }
    }
}

/// Why a shape has no model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum AnalyticError {
    /// A measure that no such body has.
    #[error("{what} is {value}, but must be {expected}")]
    Measure {
        /// The measure.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed.
        expected: String,
    },
    /// The material is impossible.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// Nothing to hear.
    #[error(
        "no mode between {low_hz} and {high_hz} Hz{}; a longer or thinner body sounds lower, a shorter or thicker one higher",
        lowest_hz.map(|f| format!(" (the lowest is at {f:.1} Hz)")).unwrap_or_default()
    )]
    NoModes {
        /// Lower limit of the band.
        low_hz: f64,
        /// Upper limit of the band.
        high_hz: f64,
        /// The lowest mode, where one was found.
        lowest_hz: Option<f64>,
    },
    /// A sheet so large and thin that what can be heard of it is no longer modes.
    #[error("about {below:.0} modes lie below {low_hz} Hz already; use a smaller or thicker body")]
    Dense {
        /// Modes below the band.
        below: f64,
        /// Lower limit of the band.
        low_hz: f64,
    },
}

/// The largest body, in m. Beyond it the lowest modes of anything are far below hearing.
const LARGEST_M: f64 = 100.0;
/// The smallest measure, in m: foil and hair are ten times thicker.
const SMALLEST_M: f64 = 1e-6;
/// Bodies thicker than this share of their shortest side are neither slender nor thin.
const THICKEST_SHARE: f64 = 0.5;

fn check(what: &'static str, value: f64, low: f64, high: f64, unit: &str) -> Result<(), AnalyticError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(AnalyticError::Measure { what, value, expected: format!("between {low} and {high} {unit}") })
}

impl Shape {
    /// The kind of shape, as a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Shape::String { .. } => "string",
            Shape::Bar { .. } => "bar",
            Shape::Plate { .. } => "plate",
            Shape::Disc { .. } => "disc",
        }
    }

    /// Checks every measure.
    ///
    /// # Errors
    /// [`AnalyticError::Measure`] names the first that is impossible.
    pub fn validate(&self) -> Result<(), AnalyticError> {
        let size = |what, value| check(what, value, SMALLEST_M, LARGEST_M, "m");
        let thin = |what, value, across: f64| check(what, value, SMALLEST_M, THICKEST_SHARE * across, "m");
        match self {
            Shape::String { length, diameter, pull } => {
                size("length", *length)?;
                thin("diameter", *diameter, 0.2 * *length)?;
                match *pull {
                    Pull::Tension(newtons) => check("tension", newtons, 1e-6, 1e6, "N"),
                    Pull::Fundamental(hz) => check("fundamental", hz, 0.1, 1e5, "Hz"),
                }
            }
            Shape::Bar { length, width, thickness, tuning, .. } => {
                size("length", *length)?;
                size("width", *width)?;
                thin("thickness", *thickness, *length)?;
                tuning.as_ref().map_or(Ok(()), Tuning::validate)
            }
            Shape::Plate { length, width, thickness, .. } => {
                size("length", *length)?;
                size("width", *width)?;
                // Slenderer than this, a plate is a bar, and Ritz's method would need too many terms along it.
                check("length/width", length / width, 0.02, 50.0, "(use a bar beyond)")?;
                thin("thickness", *thickness, length.min(*width))
            }
            Shape::Disc { radius, thickness, .. } => {
                size("radius", *radius)?;
                thin("thickness", *thickness, 2.0 * radius)
            }
        }
    }

    /// Area of the face in m² that moves air; of a string, its length times its diameter.
    fn face_area(&self) -> f64 {
        match *self {
            Shape::String { length, diameter, .. } => length * diameter,
            Shape::Bar { length, width, .. } | Shape::Plate { length, width, .. } => length * width,
            Shape::Disc { radius, .. } => std::f64::consts::PI * radius * radius,
        }
    }

    /// Mass per face area in kg/m².
    fn areal_mass(&self, material: &Material) -> f64 {
        material.density_kg_m3
            * match *self {
                Shape::String { diameter, .. } => std::f64::consts::FRAC_PI_4 * diameter,
                Shape::Bar { thickness, .. } | Shape::Plate { thickness, .. } | Shape::Disc { thickness, .. } => {
                    thickness
                }
            }
    }

    /// Mass of the body in kg.
    pub fn mass_kg(&self, material: &Material) -> f64 {
        self.areal_mass(material) * self.face_area()
    }

    /// The place on the body nearest to a point.
    fn project(&self, point: Vec3) -> [f64; 2] {
        match *self {
            Shape::String { length, .. } => [point.x.clamp(-0.5 * length, 0.5 * length), 0.0],
            Shape::Bar { length, width, .. } | Shape::Plate { length, width, .. } => {
                [point.x.clamp(-0.5 * length, 0.5 * length), point.y.clamp(-0.5 * width, 0.5 * width)]
            }
            Shape::Disc { radius, .. } => {
                let inward = (radius / point.x.hypot(point.y)).min(1.0);
                [point.x * inward, point.y * inward]
            }
        }
    }
}

impl Tuning {
    fn validate(&self) -> Result<(), AnalyticError> {
        let first = self.ratios.first().copied().unwrap_or(f64::NAN);
        check("first tuning ratio", first, 1.0, 1.0, "")?;
        for pair in self.ratios.windows(2) {
            check("tuning ratio", pair[1], pair[0], 1e4, "(ratios rise)")?;
        }
        self.fundamental_hz.map_or(Ok(()), |hz| check("fundamental", hz, 0.1, 1e5, "Hz"))
    }
}

impl AnalyticSettings {
    fn validate(&self) -> Result<(), AnalyticError> {
        check("low_hz", self.low_hz, 1.0, 96_000.0, "Hz")?;
        check("high_hz", self.high_hz, self.low_hz, 96_000.0, "Hz")?;
        check("max_modes", self.max_modes as f64, 1.0, 4096.0, "")?;
        match self.pickup {
            Some(p) if !p.is_finite() => {
                Err(AnalyticError::Measure { what: "pickup", value: f64::NAN, expected: "finite".to_owned() })
            }
            _ => Ok(()),
        }
    }
}
