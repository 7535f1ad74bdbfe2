//! Bodies of finite elements that deform, collide and sound.
//!
//! After O'Brien, Cook and Essl, "Synthesizing sounds from physically based motion" (2001): a body is cut into tetrahedra, moved in steps of microseconds, and what its
//! surface does to the air is the sound.
//!
//! - [`SoftMaterial`]: stiffness, density, viscosity
//! - [`SoftBody`]: tetrahedra with a material, where they are and how they move
//! - [`SoftWorld`]: all bodies, what they collide with, and time; its parts are [`element`] (the equations), [`kernel`] (the loop), [`stable`] (the step), [`collider`] and
//!   [`pairs`] (contact)
//! - [`radiate`]: from the motion of surfaces to the sound at listeners
//!
//! Bodies come and go while the world runs ([`SoftWorld::insert`], [`SoftWorld::remove`]), and so do colliders, which may stand for rigid bodies that somebody else moves:
//! [`SoftWorld::move_collider`] tells where they are ([`motion`], [`recoil`]), [`SoftWorld::drain_impulses`] what they got, and [`SoftWorld::drain_forces`] the same sample by sample, for what rings.
//!
//! ```
//! use eigentone_core::{TetMesh, Vec3};
//! use eigentone_sim::soft::{Collider, SoftBody, SoftMaterial, SoftWorld, WorldSettings};
//!
//! let corner = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|p| 0.1 * p + Vec3::Z).to_vec();
//! let mesh = TetMesh { positions: corner, tets: vec![[0, 1, 2, 3]] };
//! let body = SoftBody::new("jelly", mesh, SoftMaterial::default());
//! let settings = WorldSettings { colliders: vec![Collider::ground(0.0, 0.5)], ..WorldSettings::default() };
//! let mut world = SoftWorld::new(vec![body], &settings)?;
//! while world.time_s() < 0.1 {
//!     world.step()?;
//! }
//! let fallen_m = 1.0 - world.body(0).positions().map(|p| p.z).fold(f64::INFINITY, f64::min);
//! assert!((fallen_m - 0.5 * 9.81 * 0.01).abs() < 1e-4);
//! # Ok::<(), eigentone_sim::soft::SoftError>(())
//! ```

mod body;
mod chunk;
pub mod collider;
pub mod element;
mod events;
mod feedback;
mod id;
pub mod kernel;
mod material;
pub mod motion;
mod near;
pub mod pairs;
pub mod radiate;
pub mod recoil;
pub mod shape;
pub mod stable;
mod view;
mod world;

pub use body::SoftBody;
pub use collider::Collider;
pub use events::{Partner, Touch};
pub use feedback::{ColliderImpulse, ContactForce};
pub use id::{ColliderId, SoftId};
pub use material::SoftMaterial;
pub use motion::Pose;
pub use radiate::DrySound;
pub use recoil::Inertia;
pub use shape::Shape;
pub use view::{BodyView, Energy};
pub use world::{SoftWorld, WorldSettings};

/// Why a soft body cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SoftError {
    /// A number of the material makes no sense.
    #[error("{name} is {value}, but must be between {least} and {most}")]
    Material {
        /// Which.
        name: &'static str,
        /// As it is.
        value: f64,
        /// Least that makes sense.
        least: f64,
        /// Most that makes sense.
        most: f64,
    },
    /// A mesh that is none.
    #[error("body `{body}` {problem}")]
    Mesh {
        /// Which.
        body: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The step that was asked for is too long.
    #[error(
        "a step of {asked_s:.3e} s is unstable: body `{body}` needs {needed_s:.3e} s or less; leave the step out to have it chosen, or use larger elements or a softer material"
    )]
    Step {
        /// As asked.
        asked_s: f64,
        /// Longest that is stable.
        needed_s: f64,
        /// Whose elements need it.
        body: String,
    },
    /// So many steps would be needed that nobody would wait for them.
    #[error(
        "body `{body}` needs steps of {needed_s:.3e} s: {steps:.1e} in a second; use larger elements or a softer material, or give it modes instead of simulating it"
    )]
    TooSlow {
        /// Whose elements need it.
        body: String,
        /// Longest step that is stable.
        needed_s: f64,
        /// Steps in a second.
        steps: f64,
    },
    /// A body got out of hand. It is frozen; the world goes on.
    #[error(
        "at {time_s:.4} s body `{body}` became unstable: its elements are so stretched that a step of {needed_s:.2e} s would be needed; use a stiffer or more viscous material, a slower motion, or larger elements"
    )]
    Unstable {
        /// Which.
        body: String,
        /// What it is known by.
        id: SoftId,
        /// When.
        time_s: f64,
        /// The step that would have been needed.
        needed_s: f64,
    },
    /// A body got out of hand. It is frozen; the world goes on.
    #[error(
        "at {time_s:.4} s body `{body}` flew apart: some of it was faster than {max_m_s:.0e} m/s; push it less, or use a more viscous material or larger elements"
    )]
    Exploded {
        /// Which.
        body: String,
        /// What it is known by.
        id: SoftId,
        /// When.
        time_s: f64,
        /// Fastest that makes sense.
        max_m_s: f64,
    },
    /// A shape that cannot be collided with.
    #[error("a collider cannot be made: {problem}")]
    Collider {
        /// What is wrong and what to do.
        problem: String,
    },
}

impl SoftError {
    /// The body that got out of hand, if it is about one.
    pub fn body_id(&self) -> Option<SoftId> {
        match self {
            Self::Unstable { id, .. } | Self::Exploded { id, .. } => Some(*id),
            _ => None,
        }
    }
}
