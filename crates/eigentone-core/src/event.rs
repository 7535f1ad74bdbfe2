//! What happens to bodies, and when: the vocabulary between whoever moves things and whoever makes them sound.

use crate::model::SiteBlend;

/// A body in an engine. Stays unique: when a body is removed and another takes its place, the ids differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BodyId {
    /// Place in the engine.
    pub slot: u32,
    /// How often the place has been taken.
    pub generation: u32,
}

/// A moment on the engine's clock: a sample and a share of the time to the next, `0 ≤ fraction < 1`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// Whole samples since the engine began.
    pub sample: u64,
    /// The rest.
    pub fraction: f32,
}

impl Moment {
    /// As soon as possible: moments that have passed are served at once.
    pub const NOW: Self = Self { sample: 0, fraction: 0.0 };

    /// A time in seconds on the clock of an engine with this sample rate.
    pub fn at(seconds: f64, sample_rate_hz: f64) -> Self {
        let samples = (seconds * sample_rate_hz).max(0.0);
        Self { sample: samples as u64, fraction: samples.fract() as f32 }
    }
}

/// Something that happens to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub time: Moment,
    /// To whom.
    pub body: BodyId,
    /// What.
    pub action: Action,
}

/// What can happen to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// A blow of no length.
    Impulse {
        /// Where.
        site: SiteBlend,
        /// Momentum given to the body, in N·s.
        impulse_ns: [f32; 3],
    },
    /// A blow of finite length, whose force is a half-sine.
    Blow {
        /// Where.
        site: SiteBlend,
        /// Momentum given to the body, in N·s.
        impulse_ns: [f32; 3],
        /// How long it lasts.
        duration_s: f32,
    },
    /// All decay rates are multiplied by this from now on: 0.1 to 50; 1 left alone, about 20 held in the hand. Less than 0.1 counts as 0.1.
    Damping(f32),
    /// All frequencies are multiplied by this from now on.
    Frequency(f32),
    /// The body is deformed by this strain; how far that shifts its pitch is a property of the body.
    Strain(f32),
    /// The sound is multiplied by this, for instance for its distance from the listener.
    Gain(f32),
    /// Like gain, but the body also counts as that much more important when modes are left out: what the user looks at.
    Emphasis(f32),
    /// The body falls silent, within a block.
    Silence,
}
