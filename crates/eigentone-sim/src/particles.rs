//! Particles that fall, bounce and strike colliders, with impact times in closed form.
//!
//! The hail of van den Doel, Knott & Pai 2004: between impacts a particle follows `p(t) = x₀ + v₀ t + ½ a t²`, a collider is a surface `f(p) = 0` with a test of its
//! extent, and an impact is the smallest root of `f(p(t)) = 0` that passes the test: a quadratic for flat colliders, a quartic for quadrics. The
//! energy of an impact is drawn from a law, or that of the motion, and the momentum given to the collider is `J = (1 + e) √(2 m E)`.
//!
//! [`Cloud`] and [`Collider`]s say what there is, [`Simulation`] turns them into [`Impact`]s, and an [`ImpactMap`] keeps a frame of these
//! for display. Time is not cut into steps: the next impact of a particle is computed once, when the particle starts or bounces, and waits on a wheel
//! of ticks for its turn. Colliders [move](Simulation::set_collider_pose) in straight lines between two calls: particles whose next impact this changes
//! are aimed anew, and speeds count against the surface. Every particle has its own stream of random numbers, so the impacts depend on the seed alone.
//!
//! ```
//! use eigentone_core::Vec3;
//! use eigentone_sim::particles::{Cloud, Collider, Shape, Simulation};
//!
//! let table = Shape::Quad { corner: Vec3::new(-1.0, 0.7, -1.0), edges: [2.0 * Vec3::X, 2.0 * Vec3::Z] };
//! // Left half of the table: another model.
//! let table = Collider::new(table).with_part([0.0, 0.5], [0.0, 1.0], 1);
//! let mut hail = Simulation::new(Cloud::default(), vec![table])?;
//! let mut impacts = Vec::new();
//! hail.advance(2.0, &mut impacts);
//! assert!(impacts.len() > 1000 && impacts.iter().all(|i| (i.part == 1) == (i.uv[0] < 0.5)));
//! # Ok::<(), eigentone_sim::particles::ParticleError>(())
//! ```

mod collider;
mod map;
mod particle;
mod path;
mod pose;
mod roots;
mod scene;
mod settings;
mod simulation;
mod surface;
mod watch;
mod wheel;

pub use collider::{Collider, Frame, Part, Quadric, Shape};
pub use map::{Cell, ImpactMap, MAX_CELLS};
pub use pose::Pose;
pub use settings::{Cloud, EnergyLaw, MAX_BOUNCES, MAX_PARTICLES, Region};
pub use simulation::Simulation;

use eigentone_core::Vec3;
use thiserror::Error;

/// A particle has struck a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// When, in s since the beginning.
    pub time_s: f64,
    /// Which particle.
    pub particle: u32,
    /// Which collider.
    pub collider: u32,
    /// Which of the collider's parts.
    pub part: u32,
    /// How often the particle had bounced before, since it left the cloud.
    pub bounce: u32,
    /// Where on the collider, each in `[0, 1]`.
    pub uv: [f64; 2],
    /// Where in the world.
    pub position: Vec3,
    /// Unit normal of the surface on the side that was struck.
    pub normal: Vec3,
    /// Mass of the particle.
    pub mass_kg: f64,
    /// Energy of the impact.
    pub energy_j: f64,
    /// Momentum given to the collider, against the normal.
    pub impulse_ns: Vec3,
}

/// Why there is no simulation, or no map.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ParticleError {
    /// A setting makes no sense.
    #[error("{what} is {value}, but must be {expected}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A collider has no surface that could be struck.
    #[error("collider {index}: {problem}")]
    Collider {
        /// Index of the collider.
        index: usize,
        /// What is wrong, and what is expected.
        problem: &'static str,
    },
}
