//! Who listens.

use eigentone_core::Vec3;
use glam::{DMat3, DQuat};

/// Where a listener is and how the head is turned. Without a turn it looks along +y, with +z up and +x to the right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Of the middle of the head.
    pub position: Vec3,
    /// From the head's own frame into the world.
    pub rotation: DQuat,
}

impl Pose {
    /// A head here, turned like this.
    pub fn new(position: Vec3, rotation: DQuat) -> Self {
        Self { position, rotation }
    }

    /// A head here, upright, that looks along a direction.
    pub fn looking(position: Vec3, look: Vec3) -> Self {
        let forward = look.normalize_or(Vec3::Y);
        // Who looks straight up or down has the right hand along x.
        let right = forward.cross(Vec3::Z).normalize_or(Vec3::X);
        let turn = DMat3::from_cols(right, forward, right.cross(forward));
        Self { position, rotation: DQuat::from_mat3(&turn) }
    }

    /// Where it looks.
    pub fn look(&self) -> Vec3 {
        self.rotation * Vec3::Y
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite() && self.rotation.length_squared() > 1e-12
    }
}

impl Default for Pose {
    /// Two metres in front of the origin (on the side of −y), at the height of somebody sitting.
    fn default() -> Self {
        Self::looking(Vec3::new(0.0, -2.0, 1.2), Vec3::Y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_a_rotation() {
        for look in [Vec3::Y, -Vec3::X, Vec3::new(1.0, 1.0, -0.5), Vec3::Z] {
            let pose = Pose::looking(Vec3::ZERO, look);
            assert!((pose.look() - look.normalize()).length() < 1e-9);
            assert!((pose.rotation * Vec3::X).z.abs() < 1e-9, "the ears are level");
        }
    }
}
