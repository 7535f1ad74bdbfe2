//! What does not move: ground, walls, posts.
//!
//! A surface node below the surface of a collider is pushed out by a spring and a damper, f = k·depth − c·v, never pulled. k is ten times
//! Y·a/h, what one element below the node would do (a its share of the surface), so that bodies deform rather than sink in; but not more than m/20Δt², which a step can follow; c is a fifth of critical. Deeper than a tenth of an
//! element no node gets: what would carry it there is taken from its velocity. Friction takes from the tangential velocity as much as it can,
//! up to μ times the normal impulse: Coulomb's law, sticking included, without a regularised slip that creeps.

use super::kernel::Four;
use eigentone_core::Vec3;
use glam::DQuat;

/// Shape of a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// All that is behind a plane through `point` with the unit vector `normal`.
    Plane {
        /// On the plane.
        point: Vec3,
        /// Away from the solid side.
        normal: Vec3,
    },
    /// A ball.
    Sphere {
        /// Middle.
        centre: Vec3,
        /// In m.
        radius_m: f64,
    },
    /// A box.
    Cuboid {
        /// Middle.
        centre: Vec3,
        /// Half of its edges, in m.
        half_m: Vec3,
        /// How it is turned.
        rotation: DQuat,
    },
}

/// Something solid that stays where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// For events.
    pub name: String,
    /// Where it is.
    pub shape: Shape,
    /// Coefficient of friction.
    pub friction: f64,
}

impl Collider {
    /// The half-space below a height.
    pub fn ground(height_m: f64, friction: f64) -> Self {
        let shape = Shape::Plane { point: Vec3::Z * height_m, normal: Vec3::Z };
        Self { name: "ground".to_owned(), shape, friction }
    }

    /// How deep a point is inside, and the way out; `None` outside.
    pub fn depth(&self, p: Vec3) -> Option<(f64, Vec3)> {
        match self.shape {
            Shape::Plane { point, normal } => {
                let depth = (point - p).dot(normal);
                (depth > 0.0).then_some((depth, normal))
            }
            Shape::Sphere { centre, radius_m } => {
                let away = p - centre;
                let depth = radius_m - away.length();
                (depth > 0.0).then(|| (depth, away.normalize_or(Vec3::Z)))
            }
            Shape::Cuboid { centre, half_m, rotation } => {
                let local = rotation.inverse() * (p - centre);
                let inside = half_m - local.abs();
                if inside.min_element() <= 0.0 {
                    return None;
                }
                let axis = (0..3).min_by(|&a, &b| inside[a].total_cmp(&inside[b]))?;
                let mut out = Vec3::ZERO;
                out[axis] = if local[axis] < 0.0 { -1.0 } else { 1.0 };
                Some((inside[axis], rotation * out))
            }
        }
    }
}

impl Collider {
    /// How far a point outside is from it, at least, in m; negative or zero inside.
    pub fn distance_m(&self, p: Vec3) -> f64 {
        match self.shape {
            Shape::Plane { point, normal } => (p - point).dot(normal),
            Shape::Sphere { centre, radius_m } => p.distance(centre) - radius_m,
            Shape::Cuboid { centre, half_m, rotation } => {
                ((rotation.inverse() * (p - centre)).abs() - half_m).max_element()
            }
        }
    }
}

/// Which nodes are near which colliders, so that not all have to be looked at in every step.
#[derive(Clone, Debug, Default)]
pub(super) struct Near {
    /// Nodes and colliders.
    pub pairs: Vec<(u32, u32)>,
    left_m: f64,
}

impl Near {
    /// To be called before every step with the farthest that anything has moved in the last one.
    pub fn moved(&mut self, farthest_m: f64, colliders: &[Collider], positions: &[Four], margin_m: f64) {
        self.left_m -= farthest_m;
        if self.left_m > 0.0 || colliders.is_empty() {
            return;
        }
        self.pairs.clear();
        let mut gap_m = f64::INFINITY;
        for (n, p) in positions.iter().enumerate() {
            for (number, collider) in colliders.iter().enumerate() {
                let distance_m = collider.distance_m(p.point());
                if distance_m < margin_m {
                    self.pairs.push((n as u32, number as u32));
                } else {
                    gap_m = gap_m.min(distance_m);
                }
            }
        }
        // Nothing else gets there before it has gone that far.
        self.left_m = if gap_m.is_finite() { gap_m } else { f64::INFINITY };
    }
}

/// What a spring and a damper, a hard stop and friction make of a velocity. `mass_kg` is that of the node, or what two sides together resist with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// k, in N/m.
    pub stiffness_n_m: f64,
    /// In kg.
    pub mass_kg: f64,
    /// Deepest that is allowed, in m.
    pub deepest_m: f64,
    /// μ.
    pub friction: f64,
}

/// Share of critical damping in a contact.
const DAMPING: f64 = 0.2;

/// How much stiffer a contact is than the element below it.
const STIFFER: f64 = 10.0;

impl Spring {
    /// k of a node from what lies below it, and what a step can follow.
    pub fn stiffness_n_m(young_pa: f64, area_m2: f64, height_m: f64, mass_kg: f64, step_s: f64) -> f64 {
        (STIFFER * young_pa * area_m2 / height_m).min(0.05 * mass_kg / (step_s * step_s))
    }

    /// Change of velocity in one step of a node at this depth that moves with `velocity` relative to what it touches.
    pub fn change(&self, depth_m: f64, normal: Vec3, velocity: Vec3, step_s: f64) -> Vec3 {
        let along = velocity.dot(normal);
        let damping = 2.0 * DAMPING * (self.stiffness_n_m * self.mass_kg).sqrt();
        let push = (self.stiffness_n_m * depth_m - damping * along).max(0.0) * step_s / self.mass_kg;
        let stop = (-(self.deepest_m - depth_m).max(0.0) / step_s - (along + push)).max(0.0);
        let normal_change = push + stop;
        let slip = velocity - along * normal;
        let slip_speed = slip.length();
        let grip = (self.friction * normal_change).min(slip_speed);
        let friction = if slip_speed > 0.0 { slip * (grip / slip_speed) } else { Vec3::ZERO };
        normal * normal_change - friction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_of_shapes() {
        let post = Collider {
            name: String::new(),
            shape: Shape::Cuboid {
                centre: Vec3::X,
                half_m: Vec3::new(0.1, 0.2, 0.3),
                rotation: DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2),
            },
            friction: 0.0,
        };
        let (depth, out) = post.depth(Vec3::new(1.0, 0.08, 0.0)).unwrap();
        assert!((depth - 0.02).abs() < 1e-12 && (out - Vec3::Y).length() < 1e-12);
        assert!(post.depth(Vec3::new(1.0, 0.15, 0.0)).is_none());
        let (depth, out) = Collider::ground(0.5, 0.0).depth(Vec3::new(3.0, 1.0, 0.25)).unwrap();
        assert_eq!((depth, out), (0.25, Vec3::Z));
        let ball =
            Collider { name: String::new(), shape: Shape::Sphere { centre: Vec3::ZERO, radius_m: 1.0 }, friction: 0.0 };
        assert!((ball.depth(Vec3::Y * 0.75).unwrap().0 - 0.25).abs() < 1e-12);
        assert!(ball.depth(Vec3::Y * 1.25).is_none());
    }

    /// A mass on the spring is thrown back with e^{−ζπ/√(1−ζ²)} of its speed, about half (a little more: nothing pulls it back at the end), and slides as μ has it.
    #[test]
    fn a_mass_bounces_and_slides() {
        let spring = Spring { stiffness_n_m: 1000.0, mass_kg: 0.1, deepest_m: 1.0, friction: 0.3 };
        let (mut x, mut v, step_s) = (Vec3::ZERO, Vec3::new(2.0, 0.0, -1.0), 1e-6);
        loop {
            v += spring.change(-x.z, Vec3::Z, v, step_s);
            x += v * step_s;
            if x.z > 0.0 {
                break;
            }
        }
        let expected = (-0.2 * std::f64::consts::PI / 0.96f64.sqrt()).exp();
        assert!(v.z > expected && v.z < 1.15 * expected, "{} {expected}", v.z);
        assert!((2.0 - v.x - 0.3 * (1.0 + v.z)).abs() < 1e-3, "{v}");
    }

    #[test]
    fn nothing_gets_deeper_than_it_may() {
        let spring = Spring { stiffness_n_m: 1.0, mass_kg: 1.0, deepest_m: 0.01, friction: 0.0 };
        let (mut x, mut v, step_s) = (0.0, Vec3::Z * -100.0, 1e-4);
        for _ in 0..1000 {
            v.z -= 1e4 * step_s;
            if x < 0.0 {
                v += spring.change(-x, Vec3::Z, v, step_s);
            }
            x += v.z * step_s;
            assert!(x > -0.0201, "{x}");
        }
    }
}
