//! What falls: the cloud, and how hard it strikes.

use super::ParticleError;
use super::path::Bounds;
use eigentone_core::{Noise, Vec3};
use std::f64::consts::TAU;

/// More particles than this are refused; each takes about 120 bytes.
pub const MAX_PARTICLES: usize = 10_000_000;
/// More bounces than this are refused.
pub const MAX_BOUNCES: u32 = 1000;

/// A cloud of particles. `y` is up.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloud {
    /// How many are in flight.
    pub particles: usize,
    /// Where they start.
    pub region: Region,
    /// Mean velocity at the start.
    pub velocity_m_s: Vec3,
    /// Each component of the velocity at the start is off its mean by up to this, uniformly.
    pub spread_m_s: f64,
    /// Acceleration on the way.
    pub gravity_m_s2: Vec3,
    /// Smallest and largest mass, uniform in between.
    pub mass_kg: [f64; 2],
    /// How hard they strike.
    pub energy: EnergyLaw,
    /// Share `e` of the normal velocity that a bounce gives back.
    pub restitution: f64,
    /// Share of the tangential velocity that a bounce leaves.
    pub slide: f64,
    /// How often a particle bounces; the impact after its last bounce ends its flight.
    pub bounces: u32,
    /// Whether a particle that has bounced its last or left the scene starts anew in the cloud.
    pub regenerate: bool,
    /// First starts are spread over this time. The duration of a flight makes an even hail; 0 lets all fall together.
    pub onset_s: f64,
    /// A particle that has struck nothing for this long counts as having left the scene.
    pub longest_flight_s: f64,
    /// Another seed, another hail of the same kind.
    pub seed: u64,
}

impl Default for Cloud {
    /// Hailstones of 0.2–5 g over a square of 2 m, at about the speed that stones of 1 cm reach in air.
    fn default() -> Self {
        Self {
            particles: 1000,
            region: Region::Box { low: Vec3::new(-1.0, 4.0, -1.0), high: Vec3::new(1.0, 5.0, 1.0) },
            velocity_m_s: Vec3::new(0.0, -10.0, 0.0),
            spread_m_s: 0.5,
            gravity_m_s2: Vec3::new(0.0, -9.81, 0.0),
            mass_kg: [0.2e-3, 5e-3],
            energy: EnergyLaw::default(),
            restitution: 0.3,
            slide: 1.0,
            bounces: 2,
            regenerate: true,
            onset_s: 0.5,
            longest_flight_s: 60.0,
            seed: 1,
        }
    }
}

/// Where particles start, uniformly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// An axis-aligned box.
    Box {
        /// Smallest coordinates.
        low: Vec3,
        /// Largest coordinates.
        high: Vec3,
    },
    /// A disc.
    Disc {
        /// Its centre.
        centre: Vec3,
        /// Any vector perpendicular to it.
        normal: Vec3,
        /// Its radius.
        radius_m: f64,
    },
}

impl Region {
    /// A place in it. On a disc the radius goes as `√u`, so that equal areas get equal shares.
    pub(super) fn draw(&self, noise: &mut Noise) -> Vec3 {
        match *self {
            Self::Box { low, high } => {
                low + (high - low) * Vec3::new(noise.uniform(), noise.uniform(), noise.uniform())
            }
            Self::Disc { centre, normal, radius_m } => {
                let (x, y) = normal.normalize().any_orthonormal_pair();
                let (sin, cos) = (TAU * noise.uniform()).sin_cos();
                centre + radius_m * noise.uniform().sqrt() * (cos * x + sin * y)
            }
        }
    }

    pub(super) fn bounds(&self) -> Bounds {
        match *self {
            Self::Box { low, high } => Bounds { low, high },
            Self::Disc { centre, radius_m, .. } => Bounds { low: centre, high: centre }.padded(radius_m),
        }
    }

    pub(super) fn check(&self) -> Result<(), ParticleError> {
        match *self {
            Self::Box { low, high } => {
                finite("corner of the cloud", low)?;
                finite("corner of the cloud", high)?;
                let least = (high - low).min_element();
                require("extent of the cloud", least, least >= 0.0, "0 or more in every axis")
            }
            Self::Disc { centre, normal, radius_m } => {
                finite("centre of the cloud", centre)?;
                finite("normal of the cloud", normal)?;
                let length = normal.length();
                let usable = normal.try_normalize().is_some();
                require("length of the normal of the cloud", length, usable, "more than 0")?;
                require("radius of the cloud", radius_m, radius_m >= 0.0, "0 m or more")
            }
        }
    }
}

/// How the energy of an impact is assigned. Drawn energies are those of the first impact of a flight; after `n` bounces `e²ⁿ` of it is left, as on
/// a level floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EnergyLaw {
    /// `p(E) ∝ 1/E` on `[E₁/ratio, E₁]`, drawn as `E = E₀ (E₁/E₀)ᵘ`: sounded most natural to van den Doel et al. 2004.
    InverseE {
        /// `E₁`.
        most_j: f64,
        /// `E₁/E₀`.
        ratio: f64,
    },
    /// Uniform on `[E₁/ratio, E₁]`.
    Box {
        /// `E₁`.
        most_j: f64,
        /// `E₁/E₀`.
        ratio: f64,
    },
    /// That of the motion along the normal, `½ m vₙ²`; the impulse is then `(1 + e) m vₙ`.
    Kinetic,
}

impl Default for EnergyLaw {
    /// Up to that of the largest default stone, 5 g at 10 m/s.
    fn default() -> Self {
        Self::InverseE { most_j: 0.25, ratio: 1000.0 }
    }
}

impl EnergyLaw {
    /// An energy for the first impact; `None` if the motion decides.
    pub(super) fn draw(&self, noise: &mut Noise) -> Option<f64> {
        let u = noise.uniform();
        match *self {
            Self::InverseE { most_j, ratio } => Some(most_j * ratio.powf(u - 1.0)),
            Self::Box { most_j, ratio } => Some(most_j * (u + (1.0 - u) / ratio)),
            Self::Kinetic => None,
        }
    }

    fn check(&self) -> Result<(), ParticleError> {
        match *self {
            Self::InverseE { most_j, ratio } | Self::Box { most_j, ratio } => {
                require("largest energy", most_j, most_j > 0.0, "more than 0 J")?;
                require("ratio of the energies", ratio, ratio >= 1.0, "1 or more")
            }
            Self::Kinetic => Ok(()),
        }
    }
}

impl Cloud {
    pub(super) fn check(&self) -> Result<(), ParticleError> {
        check_count(self.particles)?;
        self.region.check()?;
        self.energy.check()?;
        finite("velocity", self.velocity_m_s)?;
        finite("gravity", self.gravity_m_s2)?;
        let [least, most] = self.mass_kg;
        require("smallest mass", least, least > 0.0, "more than 0 kg")?;
        require("largest mass", most, most >= least, "no less than the smallest")?;
        require("spread of the velocity", self.spread_m_s, self.spread_m_s >= 0.0, "0 m/s or more")?;
        require("restitution", self.restitution, (0.0..=1.0).contains(&self.restitution), "in 0..=1")?;
        require("slide", self.slide, (0.0..=1.0).contains(&self.slide), "in 0..=1")?;
        require("onset", self.onset_s, self.onset_s >= 0.0, "0 s or more")?;
        require("longest flight", self.longest_flight_s, self.longest_flight_s > 0.0, "more than 0 s")?;
        require("number of bounces", f64::from(self.bounces), self.bounces <= MAX_BOUNCES, "at most 1,000")
    }
}

pub(super) fn check_count(particles: usize) -> Result<(), ParticleError> {
    let allowed = (1..=MAX_PARTICLES).contains(&particles);
    require("number of particles", particles as f64, allowed, "1 to 10,000,000")
}

/// An error unless the value is finite and the condition holds.
pub(super) fn require(
    what: &'static str,
    value: f64,
    condition: bool,
    expected: &'static str,
) -> Result<(), ParticleError> {
    if value.is_finite() && condition { Ok(()) } else { Err(ParticleError::Setting { what, value, expected }) }
}

pub(super) fn finite(what: &'static str, vector: Vec3) -> Result<(), ParticleError> {
    let worst = vector.to_array().into_iter().find(|x| !x.is_finite()).unwrap_or(0.0);
    require(what, worst, true, "finite")
}
