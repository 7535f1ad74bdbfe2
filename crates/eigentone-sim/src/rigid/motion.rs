//! How a body moves, what pulls it, and where its path leads.

use super::spec::{Drive, Key};
use super::{checked_turn, from_engine, to_engine};
use eigentone_core::Vec3;
use rapier3d::math::Pose as EnginePose;
use rapier3d::prelude::RigidBody;

/// Pose and velocities at one instant.
#[derive(Clone, Copy, Default)]
pub(super) struct Motion {
    pub(super) place: EnginePose,
    /// Centre of mass in the world.
    pub(super) centre: Vec3,
    /// Of the centre of mass.
    pub(super) velocity: Vec3,
    pub(super) spin: Vec3,
}

impl Motion {
    pub(super) fn of(body: &RigidBody) -> Self {
        Self {
            place: *body.position(),
            centre: from_engine(body.center_of_mass()),
            velocity: from_engine(body.linvel()),
            spin: from_engine(body.angvel()),
        }
    }

    /// Velocity of the body's matter at a point of the world: `v + ω × (r − r_cm)`.
    pub(super) fn at(&self, point: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(point - self.centre)
    }

    /// At this place with the mean of two velocities.
    pub(super) fn halfway(self, later: &Self) -> Self {
        Self { velocity: 0.5 * (self.velocity + later.velocity), spin: 0.5 * (self.spin + later.spin), ..self }
    }
}

/// Holds a speed: with the error `e` of the velocity along the drive, the pull of a step of length `dt` is
/// `F = I + m e / dt`, and `I` gains a quarter of `m e / dt`. A steady drag is then met without error, and a change
/// dies away as `z² − z + ¼ = 0`, by half per step.
#[derive(Clone, Copy)]
pub(super) struct Motor {
    drive: Drive,
    steady_n: f64,
}

impl Motor {
    pub(super) fn new(drive: Drive) -> Self {
        Self { drive, steady_n: 0.0 }
    }

    /// Forgets the steady pull.
    pub(super) fn rest(&mut self) {
        self.steady_n = 0.0;
    }

    /// Sets the pull for the next step.
    pub(super) fn pull(&mut self, body: &mut RigidBody, step_s: f64) {
        let along = self.drive.velocity.normalize_or_zero();
        let error = self.drive.velocity.length() - from_engine(body.linvel()).dot(along);
        let most = self.drive.max_force_n;
        let correction = f64::from(body.mass()) * error / step_s;
        let force = (self.steady_n + correction).clamp(-most, most);
        self.steady_n = (self.steady_n + 0.25 * correction).clamp(-most, most);
        body.reset_forces(false);
        body.add_force(to_engine(along * force), false);
    }
}

/// Where a path is at a time; its keys have been checked.
pub(super) fn on_path(keys: &[Key], time_s: f64) -> EnginePose {
    let place =
        |key: &Key| EnginePose::from_parts(to_engine(key.position), checked_turn(key.rotation).unwrap_or_default());
    let next = keys.partition_point(|k| k.time_s <= time_s);
    let (Some(a), Some(b)) = (keys.get(next.wrapping_sub(1)), keys.get(next)) else {
        return place(&keys[next.saturating_sub(1).min(keys.len() - 1)]);
    };
    let share = ((time_s - a.time_s) / (b.time_s - a.time_s)) as f32;
    let (from, to) = (place(a), place(b));
    EnginePose::from_parts(from.translation.lerp(to.translation, share), from.rotation.slerp(to.rotation, share))
}
