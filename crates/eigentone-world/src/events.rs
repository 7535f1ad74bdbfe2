//! What a world tells: to be read with [`World::drain_events`](crate::World::drain_events).

use crate::key::BodyKey;
use crate::models::TaskId;
use eigentone_sim::particles::Impact;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldEvent {
    /// When, in s of game time.
    pub time_s: f64,
    /// What.
    pub kind: EventKind,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// A blow between two bodies, or on one.
    Impact {
        /// Between whom; the first is `None` for a blow by hand, a script or a particle.
        bodies: [Option<BodyKey>; 2],
        /// Where, in the world.
        position: [f32; 3],
        /// Momentum that passed, in N·s.
        impulse_ns: f32,
        /// Speed at which surfaces met, where they did.
        approach_m_s: Option<f32>,
        /// Which particle, if it was one.
        particle: Option<Impact>,
    },
    /// Sliding or rolling began to be heard.
    ContactBegin {
        /// Between whom.
        bodies: [Option<BodyKey>; 2],
        /// Where, in the world.
        position: [f32; 3],
    },
    /// It ended.
    ContactEnd {
        /// Between whom.
        bodies: [Option<BodyKey>; 2],
        /// Where, in the world.
        position: [f32; 3],
    },
    /// The model of a body is ready and sounds from now on.
    ModelReady {
        /// Whose.
        body: BodyKey,
        /// By which task.
        task: TaskId,
    },
    /// No better model than the provisional one could be made.
    ModelFailed {
        /// Whose.
        body: BodyKey,
        /// By which task, if it came to that.
        task: Option<TaskId>,
        /// Why.
        why: String,
    },
    /// A body left the world or its motion broke; it stands still where it last was.
    Frozen {
        /// Which.
        body: BodyKey,
    },
    /// Something that was scheduled made no sense when its time came.
    Refused {
        /// For which body.
        body: BodyKey,
        /// Why.
        why: String,
    },
    /// What moved bodies broke down; nothing moves any more.
    MotionFailed {
        /// Why.
        why: String,
    },
    /// Soft bodies take so many times as long as they may; what they sound is late or missing.
    SoftTooSlow {
        /// Seconds of computation per second of motion.
        times_real_time: f64,
    },
    /// A soft body burst and was taken out.
    SoftFailed {
        /// Which.
        body: BodyKey,
        /// Why.
        why: String,
    },
}
