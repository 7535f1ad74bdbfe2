//! What the policy and a body tell each other when it is decided which modes are computed.

use crate::policy::Playback;
use crate::policy::masking::{Curve, Maskers};

/// What the policy sees when it looks at a body.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// Masking, if it is on.
    pub hearing: Option<Hearing<'a>>,
    /// Modes below this level sleep (in dB of the engine's own mean square; minus infinity: none).
    pub truncation_db: f32,
    /// Bodies with this energy and more get all modes they want, as far as there are any.
    pub served: f32,
}

impl View<'_> {
    /// Whether nothing is ever left out.
    pub fn takes_all(&self) -> bool {
        self.hearing.is_none() && self.truncation_db == f32::NEG_INFINITY
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Hearing<'a> {
    pub curve: &'a Curve,
    /// From the engine's levels to dB SPL at the ear, when the curve was made.
    pub shift_db: f32,
    pub offset_db: f32,
    pub playback: Playback,
    /// Energy of all other bodies.
    pub others: f32,
}

impl Hearing<'_> {
    /// From levels to dB SPL now that the body has this energy.
    pub fn shift_with(&self, energy: f32) -> f32 {
        self.playback.shift_db(self.others + energy).unwrap_or(self.shift_db)
    }
}

/// What a visit collects for the next frame.
pub(crate) struct Harvest<'a> {
    pub maskers: &'a mut Maskers,
    /// Energy of all modes and of those computed, per Bark band.
    pub bands: Option<&'a mut Bands>,
    /// Gains that make up for what is left out, per Bark band.
    pub makeup: Option<&'a [f32; BANDS]>,
    /// Samples until the next visit.
    pub frame: f32,
}

/// Bark bands.
pub(crate) const BANDS: usize = 27;

/// Energies per Bark band.
#[derive(Clone, Debug)]
pub(crate) struct Bands {
    pub all: [f32; BANDS],
    pub kept: [f32; BANDS],
}

impl Default for Bands {
    fn default() -> Self {
        Self { all: [0.0; BANDS], kept: [0.0; BANDS] }
    }
}
