//! Requests that shape how a body sounds: its surface, its resonator, its modes.

use super::given;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What is done to one mode.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ModeChange {
    /// Whose.
    pub body: u64,
    /// Which: its number in the model, counted from 0; added ones are counted on from there.
    pub mode: usize,
    /// Requests with the same number are one step of undo.
    pub gesture: Option<u64>,
    /// In Hz, as it is heard.
    pub frequency_hz: Option<f64>,
    /// In 1/s.
    pub decay_per_s: Option<f64>,
    /// Factor of its loudness.
    pub gain: Option<f64>,
    /// Not heard.
    pub mute: Option<bool>,
    /// Only those that have it are heard.
    pub solo: Option<bool>,
    /// As the model has it.
    pub reset: bool,
    /// Takes it out.
    pub delete: bool,
}

/// A mode that is to be added.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ModeAddition {
    /// To which body.
    pub body: u64,
    /// Requests with the same number are one step of undo.
    pub gesture: Option<u64>,
    /// In Hz, as it is to be heard.
    pub frequency_hz: f64,
    /// In 1/s; that of the mode whose shape it has if not given.
    pub decay_per_s: Option<f64>,
    /// Factor of that mode's loudness.
    pub gain: Option<f64>,
    /// The mode of the model whose shape it has; the nearest in frequency if not given.
    pub like: Option<usize>,
}

/// What is done to a body's surface.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SurfaceChange {
    /// Whose.
    pub body: u64,
    /// Requests with the same number are one step of undo.
    pub gesture: Option<u64>,
    /// Keys of a `[[surface]]` that are changed, as docs/surfaces.md has them; null for what the surface is like.
    pub set: Map<String, Value>,
    /// Makes a copy for this body alone, also of a surface that the scene has already.
    pub own: bool,
}

/// What is done to the map of a body's roughness.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MapChange {
    /// Whose.
    pub body: u64,
    /// Requests with the same number are one step of undo.
    pub gesture: Option<u64>,
    /// Factor of roughness where the picture is black.
    pub dark: Option<f64>,
    /// Factor where it is white.
    pub bright: Option<f64>,
    /// Takes the map away.
    pub remove: bool,
}

/// What is done to a body's resonator; null switches off, and leaves noise bands to the model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ResonatorChange {
    /// Whose.
    pub body: u64,
    /// Requests with the same number are one step of undo.
    pub gesture: Option<u64>,
    /// Keys of `glide`.
    #[serde(deserialize_with = "given")]
    pub glide: Option<Option<Map<String, Value>>>,
    /// Keys of `nonlinear`.
    #[serde(deserialize_with = "given")]
    pub nonlinear: Option<Option<Map<String, Value>>>,
    /// All bands of `diffuse`.
    #[serde(deserialize_with = "given")]
    pub diffuse: Option<Option<Vec<Map<String, Value>>>>,
}
