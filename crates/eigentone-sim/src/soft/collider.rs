//! What is rigid: ground, walls, posts, and rigid bodies that move.
//!
//! A surface node below the surface of a collider is pushed out by a spring and a damper, f = k·depth − c·v, never pulled. k is ten times
//! Y·a/h, what one element below the node would do (a its share of the surface), so that bodies deform rather than sink in; but not more than m/20Δt², which a step can follow; c is a fifth of critical. Deeper than a tenth of an
//! element no node gets: what would carry it there is taken from its velocity. Friction takes from the tangential velocity as much as it can,
//! up to μ times the normal impulse: Coulomb's law, sticking included, without a regularised slip that creeps. Velocities are those relative to the surface of the collider at the
//! node. Only nodes are looked at: something narrower than the elements it meets passes between them.
//!
//! Of a collider that moves, and of all shapes but planes, spheres and boxes that do not, the depth is limited to `THIN` of its thickness as well: a node is to leave a thin plate on the side it came from.

pub use super::shape::{Hull, Shape, SolidMesh};
use eigentone_core::Vec3;

/// How deep nodes may get into a thin collider, relative to its thickness.
pub(super) const THIN: f64 = 0.3;

/// Something rigid. A [`SoftWorld`](super::SoftWorld) can move it; its shape is then in its own coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// For events.
    pub name: String,
    /// Its surface, and where that is.
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
        self.shape.depth(p)
    }

    /// How far a point outside is from it, at least, in m; negative or zero inside.
    pub fn distance_m(&self, p: Vec3) -> f64 {
        self.shape.distance_m(p)
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
    use glam::DQuat;

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
