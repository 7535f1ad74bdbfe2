//! What a free rigid body does before it has been told.
//!
//! The impulses a soft body gives to a collider reach the rigid simulation with its next step, and what becomes of them comes back [`DELAY_STEPS`](super::motion::DELAY_STEPS) later. For milliseconds a
//! light box would be as hard to move as a wall, and fly off with several times the speed of what it was hit by. A collider whose [`Inertia`] is known gives way at once:
//! the impulses that are not yet in the poses it was told move it, w = ΣJ/m, and are taken back as the told motion takes over. So soft body and box share their momentum
//! while they touch, not afterwards. What it is ahead by then is given up slowly (`RETURN_S`).
//!
//! A box on a floor does not give way, whatever its mass. How much of an impulse is seen in the velocities it is told is learned from step to step, and only that share is used.

use super::motion::{Motion, Pose, turned};
use eigentone_core::Vec3;
use glam::DMat3;

/// Time in which a collider goes back to where it was told to be, in s: if it is free, and if it is held. Tuned: a free one really is ahead of what it was told, so it may take longer than a contact
/// of most soft bodies (50 ms take 6 % of the speed of a box that is five times lighter); one that is held is where it was told to be.
const RETURN_S: [f64; 2] = [0.2, 0.02];
/// How fast the share is learned, of the difference in each step.
const LEARN: f64 = 0.5;

/// What a rigid body resists with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    /// In kg.
    pub mass_kg: f64,
    /// Centre of mass in the collider's coordinates.
    pub centre: Vec3,
    /// Moments of inertia about it, in the collider's axes, in kg·m².
    pub moments_kg_m2: DMat3,
}

impl Inertia {
    /// Of a ball of uniform density with the same mass and the radius of gyration given, in m.
    pub fn uniform(mass_kg: f64, gyration_m: f64) -> Self {
        let moment = mass_kg * gyration_m * gyration_m;
        Self { mass_kg, centre: Vec3::ZERO, moments_kg_m2: DMat3::from_diagonal(Vec3::splat(moment)) }
    }

    /// Whether its numbers can be used.
    fn inverse(&self) -> Option<DMat3> {
        let inverse = self.moments_kg_m2.inverse();
        let usable = self.mass_kg > 0.0 && self.mass_kg.is_finite() && self.centre.is_finite() && inverse.is_finite();
        usable.then_some(inverse)
    }
}

/// Momentum and angular momentum about the centre of mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Momentum {
    linear: Vec3,
    angular: Vec3,
}

impl Momentum {
    fn plus(self, by: f64, other: Self) -> Self {
        Self { linear: self.linear + by * other.linear, angular: self.angular + by * other.angular }
    }
}

/// How a collider gives way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Recoil {
    inertia: Inertia,
    inverse: DMat3,
    /// Given since impulses were last drained.
    fresh: Momentum,
    /// Drained, but not in what was told yet.
    drained: Momentum,
    /// In what was told last, which the motion takes over.
    told: Momentum,
    /// Share that is seen in what is told.
    share: f64,
    /// How far ahead it is.
    offset: Vec3,
    turn: Vec3,
}

impl Recoil {
    /// Without any. `None` if the numbers make no sense.
    pub fn new(inertia: Inertia) -> Option<Self> {
        let (none, inverse) = (Momentum::default(), inertia.inverse()?);
        let (offset, turn) = (Vec3::ZERO, Vec3::ZERO);
        Some(Self { inertia, inverse, fresh: none, drained: none, told: none, share: 1.0, offset, turn })
    }

    /// Gets an impulse at a place; `pose` is where the collider is.
    pub fn push(&mut self, pose: &Pose, at: Vec3, impulse_ns: Vec3) {
        let arm = at - (pose.position + pose.rotation * self.inertia.centre);
        self.fresh = self.fresh.plus(1.0, Momentum { linear: impulse_ns, angular: arm.cross(impulse_ns) });
    }

    /// The rigid simulation has been given what there is.
    pub fn drain(&mut self) {
        self.drained = self.drained.plus(1.0, std::mem::take(&mut self.fresh));
    }

    /// To be called before [`Motion::follow`]: what was drained is in the pose that comes. `fall` is the velocity that a free body gains in a step.
    pub fn follow(&mut self, motion: &Motion, velocity: Vec3, now_s: f64, fall: Vec3) {
        let expected = self.drained.linear / self.inertia.mass_kg;
        let square = expected.length_squared();
        let seen = if square > 0.0 { (velocity - motion.told().velocity - fall).dot(expected) / square } else { 1.0 };
        if seen.is_finite() {
            self.share += LEARN * (seen.clamp(0.0, 1.0) - self.share);
        }
        let left = 1.0 - motion.progress(now_s);
        self.told = std::mem::take(&mut self.drained).plus(left, self.told);
    }

    /// Nothing of what was counts any more.
    pub fn forget(&mut self) {
        if let Some(fresh) = Self::new(self.inertia) {
            *self = Self { fresh: self.fresh, ..fresh };
        }
    }

    /// Where the collider really is, `step_s` after it was asked last.
    pub fn at(&mut self, motion: &Motion, time_s: f64, step_s: f64) -> Pose {
        let mut pose = motion.at(time_s);
        let going = self.fresh.plus(1.0, self.drained).plus(1.0 - motion.progress(time_s), self.told);
        let axes = DMat3::from_quat(pose.rotation);
        let return_per_s = self.share / RETURN_S[0] + (1.0 - self.share) / RETURN_S[1];
        let velocity = going.linear * (self.share / self.inertia.mass_kg) - self.offset * return_per_s;
        let spin = axes * (self.inverse * (axes.transpose() * going.angular)) * self.share - self.turn * return_per_s;
        self.offset += velocity * step_s;
        self.turn += spin * step_s;
        let arm = pose.rotation * self.inertia.centre;
        let (centre, at_centre) = (pose.position + arm + self.offset, pose.velocity_at(pose.position + arm) + velocity);
        pose.rotation = turned(self.turn) * pose.rotation;
        pose.spin += spin;
        let arm = pose.rotation * self.inertia.centre;
        pose.position = centre - arm;
        pose.velocity = at_centre - pose.spin.cross(arm);
        pose
    }
}
