//! What is known of a scene after it was played: the sound, what it took, what happened.

use eigentone_io::Recorded;
use eigentone_sim::particles::ImpactMap;
use eigentone_synth::Stats;
use serde::Serialize;
use std::sync::Arc;

/// A scene as it was heard.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// Left and right, full scale at one.
    pub channels: [Vec<f32>; 2],
    /// Samples per second.
    pub sample_rate_hz: u32,
    /// What it took.
    pub stats: RenderStats,
    /// What happened, in the order of time.
    pub events: Vec<EventRecord>,
    /// Where particles struck, if there are any.
    pub impact_map: Option<ImpactMap>,
    /// Soft bodies as they are seen, if that was asked for.
    pub animation: Option<Arc<Recorded>>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// The numbers of `render --stats`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RenderStats {
    /// Length of the sound.
    pub duration_s: f64,
    /// Samples per second.
    pub sample_rate_hz: f64,
    /// The seed that was used.
    pub seed: u64,
    /// Bodies in the scene.
    pub bodies: usize,
    /// Bodies that sounded at least once.
    pub bodies_heard: usize,
    /// How much happened.
    pub events: EventCounts,
    /// Modes that were computed, and why others were not.
    pub modes: ModeCounts,
    /// Where the time went.
    pub seconds: Seconds,
    /// Length of the sound over the time that it took, models not counted.
    pub realtime_factor: f64,
    /// Length of the sound over the time that the synthesis took.
    pub synthesis_realtime_factor: f64,
    /// Blocks in which more modes were computed than the budget allows: always zero.
    pub over_budget_blocks: u64,
    /// Loudest sample.
    pub peak_dbfs: f64,
    /// Samples that were not numbers: always zero.
    pub non_finite_samples: u64,
    /// Sound pressure of full scale, in Pa.
    pub full_scale_pa: f64,
    /// What the rooms were asked for, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rooms: Option<RoomCounts>,
    /// What soft bodies took, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft: Option<SoftCounts>,
}

/// What soft bodies took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SoftCounts {
    /// Bodies.
    pub bodies: usize,
    /// Tetrahedra of all of them.
    pub elements: usize,
    /// Steps in a second of sound.
    pub steps_per_s: f64,
    /// Into how many parts a step was divided where bodies were stretched most.
    pub divided_most: u32,
    /// Sharpest angle between two faces of a tetrahedron.
    pub least_dihedral_deg: f64,
}

/// How often parameters of rooms were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RoomCounts {
    /// For a body and a moment.
    pub asked: u64,
    /// Of these, decays that are shorter or longer than those of the filters.
    pub clamped: u64,
    /// Of these, places of which the field knows nothing: open air stood in.
    pub unknown: u64,
}

/// How much happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EventCounts {
    /// Blows.
    pub impacts: usize,
    /// Contacts that slid or rolled.
    pub contacts: usize,
}

/// Modes, on the average over all blocks unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ModeCounts {
    /// Of all bodies.
    pub total: usize,
    /// Computed.
    pub mixed_mean: f64,
    /// Most that were computed at once.
    pub mixed_max: u64,
    /// Of bodies that sounded.
    pub awake_mean: f64,
    /// Left out because they were too quiet.
    pub truncated_mean: f64,
    /// Left out because others masked them.
    pub masked_mean: f64,
    /// Left out because the budget was spent.
    pub scaled_mean: f64,
}

impl ModeCounts {
    /// Counts a block: the means are sums until [`ModeCounts::averaged`].
    pub(super) fn add(&mut self, block: &Stats) {
        self.mixed_mean += block.mixed as f64;
        self.awake_mean += block.modes as f64;
        self.truncated_mean += block.truncated as f64;
        self.masked_mean += block.masked as f64;
        self.scaled_mean += block.scaled as f64;
    }

    /// From sums over so many blocks to means.
    pub(super) fn averaged(self, blocks: u64) -> Self {
        let mean = |sum: f64| sum / blocks.max(1) as f64;
        Self {
            mixed_mean: mean(self.mixed_mean),
            awake_mean: mean(self.awake_mean),
            truncated_mean: mean(self.truncated_mean),
            masked_mean: mean(self.masked_mean),
            scaled_mean: mean(self.scaled_mean),
            ..self
        }
    }
}

/// Wall-clock times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Making models, or reading them.
    pub models: f64,
    /// Moving bodies and particles, and finding out what that does.
    pub simulation: f64,
    /// Sounding.
    pub synthesis: f64,
    /// Placing sounds in space.
    pub propagation: f64,
}

/// One entry of `render --events`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventRecord {
    /// When.
    pub time_s: f64,
    /// What.
    pub kind: EventKind,
    /// Name of the first body; empty for a particle or a scripted blow.
    pub body_a: String,
    /// Name of the second.
    pub body_b: String,
    /// Where, in the world.
    pub position: [f32; 3],
    /// Momentum that passed, for blows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impulse_ns: Option<f32>,
    /// Speed at which the surfaces met, for blows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approach_m_s: Option<f32>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A blow.
    Impact,
    /// Sliding or rolling began.
    ContactBegin,
    /// It ended.
    ContactEnd,
}
