//! How a world is made.

use crate::models::{MeshModels, ModelSource};
use eigentone_core::acoustics::Field;
use eigentone_core::texture::TextureTable;
use eigentone_core::{MaterialTable, Vec3};
use eigentone_space::direct::Spatial;
use eigentone_synth::Quality;
use std::sync::Arc;

/// The sound pressure that full scale stands for if nothing else is said, in Pa: 120 dB above 20 µPa. Loud enough for a hammer on an anvil, and 24 bits still reach the
/// threshold of hearing.
pub const FULL_SCALE_PA: f64 = 20.0;

/// How time passes on the two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// Sound is made while the world moves, by another thread at its own pace. What happens is heard so much later, in s: longer than a step, a block of the host and what a game's frame
    /// may be late by.
    Live {
        /// From motion to sound, before the latency of host and device.
        latency_s: f64,
    },
    /// Sound is made in turns with the motion: what happens at a time is heard at exactly that sample.
    Offline,
}

/// How a world is made: sizes, which are fixed, and what it starts with, most of which can be changed.
#[derive(Clone)]
pub struct Settings {
    /// Samples per second, 8,000 to 384,000.
    pub sample_rate_hz: f64,
    /// How the two sides share time.
    pub timing: Timing,
    /// Bodies at once.
    pub max_bodies: usize,
    /// Modes of one body.
    pub max_modes_per_body: usize,
    /// Events that can wait for their time.
    pub max_events: usize,
    /// Contacts that slide or roll at once.
    pub max_contacts: usize,
    /// Bridges between bodies.
    pub max_bridges: usize,
    /// Voices and soft bodies: sources of ready-made samples.
    pub max_voices: usize,
    /// Blows beyond this are clipped before anything sounds, in N·s.
    pub max_impulse_ns: f32,
    /// Forces of contacts beyond this are clipped, in N.
    pub max_force_n: f32,
    /// Speeds of contacts beyond this are clipped, in m/s.
    pub max_speed_m_s: f32,
    /// In m/s².
    pub gravity: Vec3,
    /// Length of a step of the simulation, in s.
    pub step_s: f64,
    /// Length of a step of soft bodies, in s; the longest that is stable if not given.
    pub soft_step_s: Option<f64>,
    /// What may be left out.
    pub quality: Quality,
    /// Processor time per 64 samples that the audio side may take, in µs; modes are left out in the order of audibility to keep it. For live use: what is heard then depends on the machine.
    pub budget_us: Option<f64>,
    /// Sound pressure that full scale stands for, in Pa.
    pub full_scale_pa: f64,
    /// How directions are heard.
    pub spatial: Spatial,
    /// Whether sound takes its time, so that what moves changes its pitch.
    pub doppler: bool,
    /// The baked rooms; `None` means free field.
    pub rooms: Option<Arc<Field>>,
    /// Materials by name.
    pub materials: MaterialTable,
    /// Surfaces by name.
    pub surfaces: TextureTable,
    /// Makes models of meshes.
    pub models: Arc<dyn ModelSource>,
    /// Another seed, another grain of the same surfaces.
    pub seed: u64,
}

impl Default for Settings {
    /// Live, with 30 ms from motion to sound.
    fn default() -> Self {
        Self {
            sample_rate_hz: 44_100.0,
            timing: Timing::Live { latency_s: 0.03 },
            max_bodies: 1024,
            max_modes_per_body: 8192,
            max_events: 16_384,
            max_contacts: 256,
            max_bridges: 64,
            max_voices: 16,
            max_impulse_ns: 100.0,
            max_force_n: 10_000.0,
            max_speed_m_s: 100.0,
            gravity: Vec3::new(0.0, 0.0, -9.81),
            step_s: 1.0 / 480.0,
            soft_step_s: None,
            quality: Quality::default(),
            budget_us: None,
            full_scale_pa: FULL_SCALE_PA,
            spatial: Spatial::Head,
            doppler: false,
            rooms: None,
            materials: MaterialTable::builtin(),
            surfaces: TextureTable::builtin(),
            models: Arc::new(MeshModels::default()),
            seed: 1,
        }
    }
}

impl Settings {
    /// For rendering in turns: advance, then process.
    pub fn offline() -> Self {
        Self { timing: Timing::Offline, ..Self::default() }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("sample_rate_hz", &self.sample_rate_hz)
            .field("timing", &self.timing)
            .field("max_bodies", &self.max_bodies)
            .field("step_s", &self.step_s)
            .field("quality", &self.quality)
            .finish_non_exhaustive()
    }
}
