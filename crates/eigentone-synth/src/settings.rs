//! How an engine is made: chosen once.

use crate::body::{Glide, Nonlinear};
use crate::policy::Quality;
use eigentone_core::{DiffuseBand, ModalModel};
use std::sync::Arc;
use thiserror::Error;

/// An engine's size and limits. Memory is taken when the engine is made and when bodies are added, never by the audio side.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// 8,000 to 384,000 Hz.
    pub sample_rate_hz: f64,
    /// Bodies at once.
    pub max_bodies: usize,
    /// Modes of one body.
    pub max_modes_per_body: usize,
    /// Events that can wait for their time.
    pub max_events: usize,
    /// Messages that the audio side takes in per block of 64 samples; others wait for the next. A message takes some 0.1 µs.
    pub max_messages_per_block: usize,
    /// Work on events in one block of 64 samples, in blows on bodies of a hundred modes; a blow on a larger body counts for more, the others of a body that is struck several times for less. What
    /// does not fit is summed per body, put off to the next blocks in the order of audibility, and given up when it is 20 ms late: see [`Stats`](crate::Stats). `usize::MAX` does all events one by
    /// one however long that takes, which is right where nobody waits for the sound.
    pub max_events_per_block: usize,
    /// Bridges between bodies.
    pub max_bridges: usize,
    /// Contacts that slide or roll at once.
    pub max_contacts: usize,
    /// Impulses are clipped to this, in N·s.
    pub max_impulse_ns: f32,
    /// Forces are clipped to this, in N.
    pub max_force_n: f32,
    /// What may be left out.
    pub quality: Quality,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sample_rate_hz: 44_100.0,
            max_bodies: 1024,
            max_modes_per_body: 8192,
            max_events: 16_384,
            max_messages_per_block: 1536,
            max_events_per_block: 96,
            max_bridges: 64,
            max_contacts: 256,
            max_impulse_ns: 100.0,
            max_force_n: 10_000.0,
            quality: Quality::default(),
        }
    }
}

/// A body to be added.
#[derive(Clone, Debug)]
pub struct BodySettings {
    /// Its modes.
    pub model: Arc<ModalModel>,
    /// Noise bands beside the modes; the model's own by default.
    pub diffuse: Vec<DiffuseBand>,
    /// Factor of its sound, for instance `1/distance`.
    pub gain: f32,
    /// Pitch that follows loudness.
    pub glide: Option<Glide>,
    /// Shift of all frequencies per unit of strain, as a share.
    pub strain_sensitivity: f32,
    /// Modes that drive each other.
    pub nonlinear: Option<Nonlinear>,
}

impl BodySettings {
    /// A plain body.
    pub fn new(model: Arc<ModalModel>) -> Self {
        let diffuse = model.diffuse.clone();
        Self { model, diffuse, gain: 1.0, glide: None, strain_sensitivity: 0.0, nonlinear: None }
    }
}

/// Why an engine could not be made or changed.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum EngineError {
    /// Out of the range that the engine is made for.
    #[error("a sample rate of {0} Hz; the engine runs from 8000 to 384000 Hz")]
    SampleRate(f64),
    /// No place left.
    #[error("all {0} places for bodies are taken; remove one, or raise `Settings::max_bodies`")]
    Bodies(usize),
    /// A model that is too large.
    #[error(
        "the model `{name}` has {modes} modes, more than the {most} of `Settings::max_modes_per_body`; compress it or raise the limit"
    )]
    Modes {
        /// Name of the model.
        name: String,
        /// Its modes.
        modes: usize,
        /// The limit.
        most: usize,
    },
    /// A model that contradicts itself.
    #[error("the model `{name}` cannot be used: {why}")]
    Model {
        /// Name of the model.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// A body's gain, glide, strain or nonlinearity is infinite or not a number.
    #[error("the settings of the body made of `{name}` hold a number that is not finite")]
    NotFinite {
        /// Name of the model.
        name: String,
    },
    /// The way to the audio side is full.
    #[error("the queue to the audio side is full; call again after it has run")]
    QueueFull,
    /// The body has been removed.
    #[error("there is no such body any more")]
    NoSuchBody,
    /// No place left.
    #[error("all {0} bridges are taken; raise `Settings::max_bridges`")]
    Bridges(usize),
    /// No place left.
    #[error("all {0} places for contacts are taken; raise `Settings::max_contacts`")]
    Contacts(usize),
    /// The contact has been closed.
    #[error("there is no such contact any more")]
    NoSuchContact,
    /// The audio side is gone.
    #[error("the audio side has been dropped")]
    Closed,
}
