//! Shapes of colliders: how deep a point is inside, the way out, and how far it is from outside.
//!
//! Depths are distances to the nearest feature of the surface. Planes, spheres, boxes, cylinders and capsules cost some ten operations per point; a [`Hull`] one product
//! per face; a [`SolidMesh`] a search in a tree of boxes, about two microseconds for a thousand triangles and by far the slowest: where a hull or a few of them will do, use those.

mod hull;
mod solid;

pub use hull::Hull;
pub use solid::SolidMesh;

use super::SoftError;
use eigentone_core::{TriMesh, Vec3};
use glam::DQuat;
use std::sync::Arc;

/// Shape of a collider.
#[derive(Clone, Debug, PartialEq)]
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
    /// A box, thick or thin.
    Cuboid {
        /// Middle.
        centre: Vec3,
        /// Half of its edges, in m.
        half_m: Vec3,
        /// How it is turned.
        rotation: DQuat,
    },
    /// A cylinder with flat ends, along z before it is turned.
    Cylinder {
        /// Middle.
        centre: Vec3,
        /// In m.
        radius_m: f64,
        /// Half of its length, in m.
        half_height_m: f64,
        /// How it is turned.
        rotation: DQuat,
    },
    /// A cylinder with round ends, along z before it is turned.
    Capsule {
        /// Middle.
        centre: Vec3,
        /// In m.
        radius_m: f64,
        /// Half of the length between the centres of its ends, in m.
        half_height_m: f64,
        /// How it is turned.
        rotation: DQuat,
    },
    /// A convex body with flat faces.
    Hull(Arc<Hull>),
    /// What a closed surface of triangles encloses.
    Mesh(Arc<SolidMesh>),
    /// All of several.
    Compound(Arc<[Shape]>),
}

impl Shape {
    /// The convex hull of points.
    ///
    /// # Errors
    /// [`SoftError::Collider`] if they enclose no volume or are not finite.
    pub fn hull(points: &[Vec3]) -> Result<Self, SoftError> {
        Ok(Self::Hull(Arc::new(Hull::new(points)?)))
    }

    /// What a closed mesh encloses. Triangles may face inwards, if all do.
    ///
    /// # Errors
    /// [`SoftError::Collider`] if it is not closed.
    pub fn mesh(mesh: TriMesh) -> Result<Self, SoftError> {
        Ok(Self::Mesh(Arc::new(SolidMesh::new(mesh)?)))
    }

    /// How deep a point is inside, in m, and the way out; `None` outside.
    pub fn depth(&self, p: Vec3) -> Option<(f64, Vec3)> {
        match self {
            Self::Plane { point, normal } => {
                let depth = (*point - p).dot(*normal);
                (depth > 0.0).then_some((depth, *normal))
            }
            Self::Sphere { centre, radius_m } => ball_depth(p - *centre, *radius_m),
            Self::Cuboid { centre, half_m, rotation } => {
                let local = rotation.inverse() * (p - *centre);
                let inside = *half_m - local.abs();
                if !inside.cmpgt(Vec3::ZERO).all() {
                    return None;
                }
                let axis = (0..3).min_by(|&a, &b| inside[a].total_cmp(&inside[b]))?;
                let mut out = Vec3::ZERO;
                out[axis] = if local[axis] < 0.0 { -1.0 } else { 1.0 };
                Some((inside[axis], *rotation * out))
            }
            Self::Cylinder { centre, radius_m, half_height_m, rotation } => {
                let local = rotation.inverse() * (p - *centre);
                let around = Vec3::new(local.x, local.y, 0.0);
                let (side, end) = (radius_m - around.length(), half_height_m - local.z.abs());
                if side <= 0.0 || end <= 0.0 || side.is_nan() || end.is_nan() {
                    None
                } else if side < end {
                    Some((side, *rotation * around.normalize_or(Vec3::X)))
                } else {
                    Some((end, *rotation * Vec3::Z * if local.z < 0.0 { -1.0 } else { 1.0 }))
                }
            }
            Self::Capsule { centre, radius_m, half_height_m, rotation } => {
                let (depth_m, out) =
                    ball_depth(from_axis(rotation.inverse() * (p - *centre), *half_height_m), *radius_m)?;
                Some((depth_m, *rotation * out))
            }
            Self::Hull(hull) => hull.depth(p),
            Self::Mesh(mesh) => mesh.depth(p),
            // The deepest: the way out of one part may lead into another, but not out of a deeper one.
            Self::Compound(parts) => parts.iter().filter_map(|s| s.depth(p)).max_by(|a, b| a.0.total_cmp(&b.0)),
        }
    }

    /// How far a point outside is from it, at least, in m; negative or zero inside.
    pub fn distance_m(&self, p: Vec3) -> f64 {
        match self {
            Self::Plane { point, normal } => (p - *point).dot(*normal),
            Self::Sphere { centre, radius_m } => p.distance(*centre) - radius_m,
            Self::Cuboid { centre, half_m, rotation } => {
                ((rotation.inverse() * (p - *centre)).abs() - *half_m).max_element()
            }
            Self::Cylinder { centre, radius_m, half_height_m, rotation } => {
                let local = rotation.inverse() * (p - *centre);
                (local.x.hypot(local.y) - radius_m).max(local.z.abs() - half_height_m)
            }
            Self::Capsule { centre, radius_m, half_height_m, rotation } => {
                from_axis(rotation.inverse() * (p - *centre), *half_height_m).length() - radius_m
            }
            Self::Hull(hull) => hull.distance_m(p),
            Self::Mesh(mesh) => mesh.distance_m(p),
            Self::Compound(parts) => parts.iter().map(|s| s.distance_m(p)).fold(f64::INFINITY, f64::min),
        }
    }

    /// How far its farthest point is from the origin, in m.
    pub(super) fn reach_m(&self) -> f64 {
        match self {
            Self::Plane { .. } => f64::INFINITY,
            Self::Sphere { centre, radius_m } => centre.length() + radius_m,
            Self::Cuboid { centre, half_m, .. } => centre.length() + half_m.length(),
            Self::Cylinder { centre, radius_m, half_height_m, .. } => centre.length() + radius_m.hypot(*half_height_m),
            Self::Capsule { centre, radius_m, half_height_m, .. } => centre.length() + radius_m + half_height_m,
            Self::Hull(hull) => hull.reach_m(),
            Self::Mesh(mesh) => mesh.reach_m(),
            Self::Compound(parts) => parts.iter().map(Self::reach_m).fold(0.0, f64::max),
        }
    }

    /// How thick it is where it is thinnest, in m: of meshes the mean, twice the volume over the surface.
    pub(super) fn thickness_m(&self) -> f64 {
        match self {
            Self::Plane { .. } => f64::INFINITY,
            Self::Sphere { radius_m, .. } | Self::Capsule { radius_m, .. } => 2.0 * radius_m,
            Self::Cuboid { half_m, .. } => 2.0 * half_m.min_element(),
            Self::Cylinder { radius_m, half_height_m, .. } => 2.0 * radius_m.min(*half_height_m),
            Self::Hull(hull) => hull.thickness_m(),
            Self::Mesh(mesh) => mesh.thickness_m(),
            Self::Compound(parts) => parts.iter().map(Self::thickness_m).fold(f64::INFINITY, f64::min),
        }
    }
}

fn ball_depth(away: Vec3, radius_m: f64) -> Option<(f64, Vec3)> {
    let depth = radius_m - away.length();
    (depth > 0.0).then(|| (depth, away.normalize_or(Vec3::Z)))
}

/// From the nearest point of the axis of a capsule.
fn from_axis(local: Vec3, half_height_m: f64) -> Vec3 {
    let half_m = half_height_m.max(0.0);
    local - Vec3::Z * local.z.max(-half_m).min(half_m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;
    use eigentone_core::mesh::primitives;
    use std::f64::consts::FRAC_PI_2;

    fn random(noise: &mut Noise, size: f64) -> Vec3 {
        size * Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar())
    }

    /// Every shape at random points: going out by the depth gets to the surface, to within `within`; outside, `distance_m` is never more than the way to it.
    fn is_a_distance(shape: &Shape, size: f64, within: f64) {
        let mut noise = Noise::new(7);
        let (mut inside, mut outside) = (0, 0);
        for _ in 0..4000 {
            let p = random(&mut noise, size);
            match shape.depth(p) {
                Some((depth_m, out)) => {
                    inside += 1;
                    assert!((out.length() - 1.0).abs() < 1e-9, "{out}");
                    assert!(shape.distance_m(p) <= 0.0);
                    let [short, beyond] = [0.999 * depth_m - within, depth_m + within + 1e-9].map(|d| p + out * d);
                    assert!(short == p || depth_m < 2.0 * within || shape.depth(short).is_some(), "{p} {depth_m}");
                    assert!(shape.depth(beyond).is_none_or(|(d, _)| d <= within), "{shape:?} {p} {depth_m} {out}");
                    // No way out is shorter.
                    for _ in 0..10 {
                        let other = random(&mut noise, 1.0).normalize_or(Vec3::X);
                        assert!(shape.depth(p + other * (0.999 * depth_m - within).max(0.0)).is_some(), "{p} {other}");
                    }
                }
                None => {
                    outside += 1;
                    let distance_m = shape.distance_m(p);
                    assert!(distance_m >= -within, "{p} {distance_m}");
                    for _ in 0..10 {
                        let other = random(&mut noise, 1.0).normalize_or(Vec3::X);
                        assert!(shape.depth(p + other * (0.999 * distance_m - within).max(0.0)).is_none());
                    }
                }
            }
        }
        assert!(inside > 100 && outside > 100, "{inside} {outside}");
    }

    #[test]
    fn depths_are_ways_to_the_surface() {
        let (centre, rotation) =
            (Vec3::new(0.1, -0.05, 0.2), DQuat::from_rotation_x(0.7) * DQuat::from_rotation_y(0.4));
        let (radius_m, half_height_m) = (0.4, 0.3);
        let half_m = Vec3::new(0.5, 0.3, 0.2);
        is_a_distance(&Shape::Sphere { centre, radius_m }, 0.8, 0.0);
        is_a_distance(&Shape::Cuboid { centre, half_m, rotation }, 0.8, 0.0);
        is_a_distance(&Shape::Cylinder { centre, radius_m, half_height_m, rotation }, 0.8, 0.0);
        is_a_distance(&Shape::Capsule { centre, radius_m, half_height_m, rotation }, 0.9, 0.0);
        let corners: Vec<Vec3> = (0..40).scan(Noise::new(5), |noise, _| Some(random(noise, 0.6))).collect();
        is_a_distance(&Shape::hull(&corners).unwrap(), 0.8, 1e-7);
        is_a_distance(&Shape::mesh(primitives::ring(0.5, 0.2, 24, 12)).unwrap(), 0.8, 1e-9);
        let reversed = |mut mesh: TriMesh| {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            mesh
        };
        is_a_distance(&Shape::mesh(reversed(primitives::cuboid(Vec3::splat(0.8), [2, 2, 2]))).unwrap(), 0.8, 1e-9);
    }

    /// The same box in five ways.
    #[test]
    fn a_box_is_a_box() {
        let half_m = Vec3::new(0.3, 0.2, 0.1);
        let rotation = DQuat::from_rotation_z(0.3);
        let solid = Shape::Cuboid { centre: Vec3::ZERO, half_m, rotation };
        let mut mesh = primitives::cuboid(2.0 * half_m, [3, 2, 1]);
        mesh.transform(rotation, Vec3::ZERO);
        let parts = [-0.15, 0.15].map(|x| Shape::Cuboid {
            centre: rotation * Vec3::X * x,
            half_m: Vec3::new(0.15, 0.2, 0.1),
            rotation,
        });
        let others =
            [Shape::hull(&mesh.positions).unwrap(), Shape::mesh(mesh).unwrap(), Shape::Compound(parts.to_vec().into())];
        for shape in &others {
            assert!((shape.thickness_m() - 0.2).abs() < 0.11, "{}", shape.thickness_m());
            assert!((shape.reach_m() - half_m.length()).abs() < 0.05, "{}", shape.reach_m());
        }
        let mut noise = Noise::new(2);
        for _ in 0..2000 {
            let p = random(&mut noise, 0.4);
            let expected = solid.depth(p);
            for shape in &others[..2] {
                match (expected, shape.depth(p)) {
                    (Some((a, n)), Some((b, m))) => assert!((a - b).abs() < 1e-6 && (n.dot(m) > 0.999 || a > 0.04)),
                    (None, None) => {}
                    (a, b) => assert!(a.or(b).unwrap().0 < 1e-6),
                }
            }
            // Where the two halves meet there is no surface to be had.
            assert_eq!(others[2].depth(p).is_some(), expected.is_some() && (rotation.inverse() * p).x != 0.0);
        }
    }

    /// A point beside the sharp edge of a wedge is outside, though it is behind the plane of the nearest triangle.
    #[test]
    fn sharp_edges_have_an_outside() {
        let mesh = primitives::cylinder(0.5, 0.05, 16, 1, true);
        let disc = Shape::mesh(mesh).unwrap();
        let exact = Shape::Cylinder {
            centre: Vec3::ZERO,
            radius_m: 0.5,
            half_height_m: 0.025,
            rotation: DQuat::from_rotation_z(FRAC_PI_2),
        };
        let mut noise = Noise::new(9);
        for _ in 0..3000 {
            let p = random(&mut noise, 0.7) * Vec3::new(1.0, 1.0, 0.2);
            // Between the polygon and the circle they differ.
            if (p.truncate().length() - 0.5).abs() > 0.02 {
                assert_eq!(disc.depth(p).is_some(), exact.depth(p).is_some(), "{p}");
            }
        }
    }

    #[test]
    fn nonsense_is_refused_or_never_touched() {
        assert!(Shape::hull(&[Vec3::ZERO, Vec3::X, Vec3::Y]).is_err());
        assert!(Shape::hull(&[Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y]).is_err());
        assert!(Shape::hull(&[Vec3::NAN; 8]).is_err());
        assert!(Shape::hull(&[]).is_err());
        assert!(Shape::mesh(primitives::plate(1.0, 1.0, 3, 3)).is_err());
        assert!(Shape::mesh(TriMesh::default()).is_err());
        let mut bad = primitives::cuboid(Vec3::ONE, [1, 1, 1]);
        bad.positions[0].x = f64::NAN;
        assert!(Shape::mesh(bad.clone()).is_err());
        bad.positions[0].x = 0.0;
        bad.triangles[0][0] = 99;
        assert!(Shape::mesh(bad).is_err());
        let rotation = DQuat::IDENTITY;
        for radius_m in [f64::NAN, -1.0, 0.0] {
            let (centre, half_height_m) = (Vec3::ZERO, radius_m);
            for shape in [
                Shape::Sphere { centre, radius_m },
                Shape::Cylinder { centre, radius_m, half_height_m, rotation },
                Shape::Capsule { centre, radius_m, half_height_m, rotation },
                Shape::Cuboid { centre, half_m: Vec3::splat(radius_m), rotation },
            ] {
                assert!(shape.depth(Vec3::ZERO).is_none(), "{shape:?}");
            }
        }
    }
}
