//! What moves bodies, if it is not the world's own physics.

use eigentone_core::contact::ContactFrame;

/// Somebody who tells what touches, step by step: a recording, another physics engine, a script. See [`World::set_motion_source`](crate::World::set_motion_source).
pub trait MotionSource: Send + Sync {
    /// What happens in the step from `begin_s` to `end_s` of game time: one frame, several, or none. Bodies are called by their [numbers](crate::BodyKey::number).
    ///
    /// # Errors
    /// Says what is wrong; the world tells it as an event, and nothing moves any more.
    fn frames(&mut self, begin_s: f64, end_s: f64) -> Result<Vec<ContactFrame>, String>;
}
