//! Why something was refused.

use crate::key::{BodyKey, BridgeKey};
use eigentone_core::material::MaterialError;
use eigentone_core::texture::TextureError;
use eigentone_sim::particles::ParticleError;
use eigentone_sim::rigid::RigidError;
use eigentone_sim::soft::SoftError;
use eigentone_synth::EngineError;
use eigentone_synth::texture::PrepareError;

/// Why a world could not be made or changed. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The body has been removed.
    #[error("there is no such body any more")]
    Gone(BodyKey),
    /// The bridge has been removed, by itself or with one of its bodies.
    #[error("there is no such bridge any more")]
    BridgeGone(BridgeKey),
    /// All places are taken.
    #[error("all {max} places for {what} are taken; remove some, or raise `Settings::{setting}`")]
    Full {
        /// For what.
        what: &'static str,
        /// How many there are.
        max: usize,
        /// What to raise.
        setting: &'static str,
    },
    /// A number that makes no sense.
    #[error("{what} is {found}; it must be {wanted}")]
    Number {
        /// Which.
        what: &'static str,
        /// What it was.
        found: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// Something asked of a body that does not have it.
    #[error("{0}")]
    Unfit(&'static str),
    /// No model could be made.
    #[error("no model for `{name}`: {why}")]
    Model {
        /// Of which body.
        name: String,
        /// Why.
        why: String,
    },
    /// By the physics.
    #[error(transparent)]
    Rigid(#[from] RigidError),
    /// By the synthesis.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// By the particles.
    #[error(transparent)]
    Particles(#[from] ParticleError),
    /// By soft bodies.
    #[error(transparent)]
    Soft(#[from] SoftError),
    /// No such material.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// No such surface.
    #[error(transparent)]
    Surface(#[from] TextureError),
    /// A surface that cannot be used.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
}

/// Refuses numbers that are not finite, or outside a range.
pub(crate) fn check(
    what: &'static str,
    found: f64,
    range: std::ops::RangeInclusive<f64>,
    wanted: &'static str,
) -> Result<(), WorldError> {
    if range.contains(&found) { Ok(()) } else { Err(WorldError::Number { what, found, wanted }) }
}
