//! The contact stream: what touches what, where, how hard, and how it slides and rolls.
//!
//! A physics engine (ours, or any other) hands over one [`ContactFrame`] per step; the synthesis turns the stream into impacts, scraping and rolling. Everything
//! is in world coordinates and SI units, and nothing in here knows how the motion was computed. A body is a number that the simulation gave it.

use serde::{Deserialize, Serialize};

/// One step of a simulation: where bodies are at its end, and what touched during it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactFrame {
    /// When the step ended, in s since the beginning.
    pub time_s: f64,
    /// How long it was.
    pub step_s: f64,
    /// Where bodies are. Those that have not moved since the last frame may be left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub poses: Vec<Pose>,
    /// All pairs that touch, and those that have just parted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contacts: Vec<Contact>,
    /// Bodies whose strain has changed: it shifts their pitch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strains: Vec<Strain>,
}

/// How a body is deformed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strain {
    /// Which body.
    pub body: u32,
    /// The strain; positive where it is stretched.
    pub strain: f32,
}

/// Where a body is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Which body.
    pub body: u32,
    /// Of the origin of its mesh.
    pub position: [f32; 3],
    /// As a quaternion, `[x, y, z, w]`.
    pub rotation: [f32; 4],
    /// Of its centre of mass, in m/s.
    #[serde(default)]
    pub velocity: [f32; 3],
}

impl Pose {
    /// A body at rest in the origin.
    pub fn at_origin(body: u32) -> Self {
        Self { body, position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], velocity: [0.0; 3] }
    }

    fn turn(&self) -> glam::DQuat {
        let [x, y, z, w] = self.rotation.map(f64::from);
        let turn = glam::DQuat::from_xyzw(x, y, z, w);
        if turn.length_squared() > 0.0 && turn.is_finite() { turn.normalize() } else { glam::DQuat::IDENTITY }
    }

    /// A point of the world in the body's own frame.
    pub fn to_local(&self, point: [f32; 3]) -> crate::Vec3 {
        let away =
            crate::Vec3::from_array(point.map(f64::from)) - crate::Vec3::from_array(self.position.map(f64::from));
        self.turn().inverse() * away
    }

    /// A direction of the world in the body's own frame.
    pub fn direction_to_local(&self, direction: crate::Vec3) -> crate::Vec3 {
        self.turn().inverse() * direction
    }

    /// A direction of the body in the world.
    pub fn direction_to_world(&self, direction: crate::Vec3) -> crate::Vec3 {
        self.turn() * direction
    }

    /// A point of the body in the world.
    pub fn to_world(&self, local: crate::Vec3) -> crate::Vec3 {
        self.turn() * local + crate::Vec3::from_array(self.position.map(f64::from))
    }
}

/// Whether a contact is new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It was not there in the last frame.
    Begin,
    /// It was.
    #[default]
    Stay,
    /// It is not there any more; the points are gone.
    End,
}

/// A pair of surfaces that touch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// The same for as long as the contact lasts, and no other's meanwhile.
    pub id: u64,
    /// The two bodies.
    pub bodies: [u32; 2],
    /// Whether it is new.
    #[serde(default)]
    pub phase: Phase,
    /// Where they touch; empty at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<ContactPoint>,
}

/// One of the points in which two surfaces touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactPoint {
    /// Where, in the world.
    pub position: [f32; 3],
    /// Unit vector from the first body to the second.
    pub normal: [f32; 3],
    /// Momentum that passed along the normal in this step, in N·s; not negative.
    pub normal_impulse_ns: f32,
    /// Momentum that friction gave to the first body, in N·s.
    #[serde(default)]
    pub tangent_impulse_ns: [f32; 3],
    /// Velocity of the first body's surface against the second's, without the part along the normal, in m/s.
    #[serde(default)]
    pub slip_m_s: [f32; 3],
    /// Speed at which the surfaces came together before this step's impulses, in m/s; negative if they parted.
    #[serde(default)]
    pub approach_m_s: f32,
    /// When they met, in s after the step's beginning; used for impacts.
    #[serde(default)]
    pub touch_s: f32,
    /// Speed at which the point of contact travels over each of the two surfaces, in m/s, where the simulation knows it from their
    /// curvature. Without it the synthesis follows the positions of the points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub travel_m_s: Option<[f32; 2]>,
}

impl ContactFrame {
    /// Whether every number in it is finite and no list is longer than `most`.
    pub fn is_sane(&self, most: usize) -> bool {
        let finite = |x: &[f32]| x.iter().all(|x| x.is_finite());
        let point = |p: &ContactPoint| {
            finite(&p.position)
                && finite(&p.normal)
                && finite(&p.tangent_impulse_ns)
                && finite(&p.slip_m_s)
                && finite(&[p.normal_impulse_ns, p.approach_m_s, p.touch_s])
                && p.travel_m_s.is_none_or(|t| finite(&t))
        };
        let pose = |p: &Pose| finite(&p.position) && finite(&p.rotation) && finite(&p.velocity);
        self.time_s.is_finite()
            && self.step_s.is_finite()
            && self.step_s >= 0.0
            && self.poses.len() <= most
            && self.contacts.len() <= most
            && self.strains.len() <= most
            && self.strains.iter().all(|s| s.strain.is_finite())
            && self.poses.iter().all(pose)
            && self.contacts.iter().all(|c| c.points.len() <= most && c.points.iter().all(point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There and back again: a quarter turn about z takes x to y.
    #[test]
    fn poses_turn_and_move() {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let pose = Pose { position: [1.0, 2.0, 3.0], rotation: [0.0, 0.0, half, half], ..Pose::at_origin(0) };
        let world = pose.to_world(crate::Vec3::X);
        assert!((world - crate::Vec3::new(1.0, 3.0, 3.0)).length() < 1e-6);
        assert!((pose.to_local([1.0, 3.0, 3.0]) - crate::Vec3::X).length() < 1e-6);
        assert!((pose.direction_to_local(crate::Vec3::Y) - crate::Vec3::X).length() < 1e-6);
    }
}
