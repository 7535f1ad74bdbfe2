//! How a spatial renderer is made.

use crate::air::Air;
use crate::decode::DecoderSettings;
use crate::direct::Spatial;
use eigentone_core::acoustics::Field;
use std::sync::Arc;

/// How a space is made.
#[derive(Clone, Debug)]
pub struct SpaceSettings {
    /// Samples per second.
    pub sample_rate_hz: f64,
    /// Sources at once: bodies have slots below this.
    pub max_sources: usize,
    /// How directions are heard.
    pub spatial: Spatial,
    /// Whether sound takes its time, so that what moves changes its pitch.
    pub doppler: bool,
    /// The baked field; `None` means free field.
    pub field: Option<Arc<Field>>,
    /// How it is decoded.
    pub decoder: DecoderSettings,
    /// What the air absorbs of late sound.
    pub air: Air,
    /// How often each source is placed, in s. Sound goes in straight lines over this time.
    pub update_s: f64,
}

impl Default for SpaceSettings {
    /// Open air, up to 256 sources, a spherical head.
    fn default() -> Self {
        Self {
            sample_rate_hz: 44_100.0,
            max_sources: 256,
            spatial: Spatial::Head,
            doppler: false,
            field: None,
            decoder: DecoderSettings::default(),
            air: Air::default(),
            update_s: 1.0 / 120.0,
        }
    }
}
