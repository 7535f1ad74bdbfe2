//! Colliders that move: where they are, and what a path looks like from them.
//!
//! A collider moves in a straight line between two calls, so that seen from it a particle still follows a parabola, `x₀ + (v₀ − u) t + ½ a t²`,
//! and impacts keep their closed form. One that turns is followed in short windows: for that long, a particle sees it move in a straight line with
//! the velocity that it has where the particle is.

use super::ParticleError;
use super::path::{Bounds, Path};
use super::settings::{finite, require};
use eigentone_core::Vec3;
use glam::DQuat;

/// Where a collider's own frame is in the world; its [shape](super::Shape) is given in that frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Of the frame's origin.
    pub position: Vec3,
    /// As a quaternion `[x, y, z, w]`.
    pub rotation: [f64; 4],
}

impl Default for Pose {
    /// The frame is the world's.
    fn default() -> Self {
        Self { position: Vec3::ZERO, rotation: [0.0, 0.0, 0.0, 1.0] }
    }
}

/// A pose and its motion, true at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    pub(super) since_s: f64,
    origin: Vec3,
    turn: DQuat,
    pub(super) velocity: Vec3,
    spin: Vec3,
}

impl Placed {
    /// At rest in the world's frame.
    pub(super) const HOME: Self =
        Self { since_s: 0.0, origin: Vec3::ZERO, turn: DQuat::IDENTITY, velocity: Vec3::ZERO, spin: Vec3::ZERO };

    pub(super) fn new(since_s: f64, pose: Pose, velocity: Vec3, spin: Vec3) -> Result<Self, ParticleError> {
        finite("position of a collider", pose.position)?;
        finite("velocity of a collider", velocity)?;
        finite("spin of a collider", spin)?;
        let turn = DQuat::from_array(pose.rotation);
        let length = turn.length_squared();
        require("square of a rotation's quaternion", length, length > 1e-12, "more than 0")?;
        Ok(Self { since_s, origin: pose.position, turn: turn.normalize(), velocity, spin })
    }

    pub(super) fn moves(&self) -> bool {
        self.velocity != Vec3::ZERO || self.spin != Vec3::ZERO
    }

    pub(super) fn turns(&self) -> bool {
        self.spin != Vec3::ZERO
    }

    /// Whether it is where another is and moves like it, whenever that was said.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let same = Self { since_s: other.since_s, ..*self } == *other;
        same && (!self.moves() || self.since_s == other.since_s)
    }

    /// The same motion later: carried along, and turned.
    pub(super) fn later(&self, time_s: f64) -> Self {
        let angle = self.spin * (time_s - self.since_s);
        let turn =
            if angle == Vec3::ZERO { self.turn } else { (DQuat::from_scaled_axis(angle) * self.turn).normalize() };
        Self { since_s: time_s, origin: self.origin_at(time_s), turn, ..*self }
    }

    /// As a particle that is at a point at a time sees it from then on: turned no further, and carried along with what is there.
    pub(super) fn seen_from(&self, point: Vec3, time_s: f64) -> Self {
        let then = self.later(time_s);
        Self { velocity: then.velocity_at(point, time_s), ..then }
    }

    fn origin_at(&self, time_s: f64) -> Vec3 {
        self.origin + (time_s - self.since_s) * self.velocity
    }

    pub(super) fn point_to_own(&self, point: Vec3, time_s: f64) -> Vec3 {
        self.turn.inverse() * (point - self.origin_at(time_s))
    }

    pub(super) fn point_to_world(&self, own: Vec3, time_s: f64) -> Vec3 {
        self.turn * own + self.origin_at(time_s)
    }

    pub(super) fn direction_to_world(&self, own: Vec3) -> Vec3 {
        self.turn * own
    }

    /// A path that begins at a time, as the collider sees it.
    pub(super) fn path_to_own(&self, path: &Path, time_s: f64) -> Path {
        let back = self.turn.inverse();
        Path {
            position: self.point_to_own(path.position, time_s),
            velocity: back * (path.velocity - self.velocity),
            acceleration: back * path.acceleration,
        }
    }

    /// Velocity of the collider's matter at a point of the world.
    pub(super) fn velocity_at(&self, point: Vec3, time_s: f64) -> Vec3 {
        self.velocity + self.spin.cross(point - self.origin_at(time_s))
    }

    /// No point of an own box is faster, in m/s.
    pub(super) fn fastest(&self, own: &Bounds) -> f64 {
        self.velocity.length() + self.rim_speed(own)
    }

    fn rim_speed(&self, own: &Bounds) -> f64 {
        self.spin.length() * own.low.abs().max(own.high.abs()).length()
    }

    /// The box around an own box, from `since_s` for a time.
    pub(super) fn sweep(&self, own: &Bounds, lasts_s: f64) -> Bounds {
        let (middle, half) = (0.5 * (own.low + own.high), 0.5 * (own.high - own.low));
        let axes = Vec3::AXES.map(|axis| (self.turn * axis).abs());
        let reach = half.x * axes[0] + half.y * axes[1] + half.z * axes[2];
        let centre = self.turn * middle + self.origin;
        let here = Bounds { low: centre - reach, high: centre + reach };
        let way = lasts_s * self.velocity;
        here.union(Bounds { low: here.low + way, high: here.high + way }).padded(lasts_s * self.rim_speed(own))
    }
}
