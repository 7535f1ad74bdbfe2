//! Convex bodies with flat faces.

use crate::soft::SoftError;
use eigentone_core::Vec3;
use rapier3d::math::Vector;
use rapier3d::parry::transformation::try_convex_hull;

/// Faces whose normals differ by less than this, as 1 − cos, are one.
const SAME_FACE: f64 = 1e-9;
/// Least volume of a hull, relative to the cube of its size.
const LEAST_VOLUME: f64 = 1e-6;

/// A convex body: what is behind all of its planes.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    /// Unit normals, and how far their planes are from the origin, in m.
    planes: Vec<(Vec3, f64)>,
    reach_m: f64,
    thickness_m: f64,
}

impl Hull {
    /// The hull of points.
    ///
    /// # Errors
    /// [`SoftError::Collider`] if they enclose no volume or are not finite.
    pub fn new(points: &[Vec3]) -> Result<Self, SoftError> {
        let flat = || SoftError::Collider {
            problem: "the points of a hull enclose no volume; give four or more that do not lie in a plane".to_owned(),
        };
        if points.iter().any(|p| !p.as_vec3().is_finite()) {
            return Err(SoftError::Collider { problem: "a point of a hull is not finite".to_owned() });
        }
        if points.len() < 4 {
            return Err(flat());
        }
        let middle = points.iter().sum::<Vec3>() / points.len() as f64;
        let size_m = points.iter().map(|p| p.distance(middle)).fold(0.0, f64::max);
        // About its middle and of unit size: the search is in single precision.
        let near: Vec<Vector> =
            points.iter().map(|p| ((*p - middle) / size_m).as_vec3()).map(|p| Vector::new(p.x, p.y, p.z)).collect();
        if near.iter().any(|p| !p.is_finite()) {
            return Err(flat());
        }
        let (corners, faces) = try_convex_hull(&near).map_err(|_| flat())?;
        let corner = |n: u32| {
            Vec3::new(f64::from(corners[n as usize].x), corners[n as usize].y.into(), corners[n as usize].z.into())
        };
        let mut volume = 0.0;
        let mut normals: Vec<(f64, Vec3)> = Vec::new();
        for face in faces {
            let [a, b, c] = face.map(corner);
            let area = (b - a).cross(c - a);
            volume += a.dot(b.cross(c)) / 6.0;
            normals.extend(area.try_normalize().map(|normal| (area.length_squared(), normal)));
        }
        if volume.is_nan() || volume < LEAST_VOLUME {
            return Err(flat());
        }
        // Large faces have the better normals.
        normals.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut planes: Vec<(Vec3, f64)> = Vec::new();
        let mut thickness_m = f64::INFINITY;
        for (_, normal) in normals {
            if planes.iter().all(|(other, _)| other.dot(normal) < 1.0 - SAME_FACE) {
                let along = || points.iter().map(|p| p.dot(normal));
                let (least, most) = (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max));
                thickness_m = thickness_m.min(most - least);
                planes.push((normal, most));
            }
        }
        let reach_m = points.iter().map(|p| p.length()).fold(0.0, f64::max);
        Ok(Self { planes, reach_m, thickness_m })
    }

    /// How deep a point is inside, and the way out; `None` outside.
    pub fn depth(&self, p: Vec3) -> Option<(f64, Vec3)> {
        let mut best = (f64::INFINITY, Vec3::Z);
        for (normal, offset) in &self.planes {
            let depth = offset - normal.dot(p);
            if depth <= 0.0 || depth.is_nan() {
                return None;
            }
            if depth < best.0 {
                best = (depth, *normal);
            }
        }
        Some(best)
    }

    /// How far a point outside is from it, at least, in m; negative or zero inside.
    pub fn distance_m(&self, p: Vec3) -> f64 {
        self.planes.iter().map(|(normal, offset)| normal.dot(p) - offset).fold(f64::NEG_INFINITY, f64::max)
    }

    pub(super) fn reach_m(&self) -> f64 {
        self.reach_m
    }

    pub(super) fn thickness_m(&self) -> f64 {
        self.thickness_m
    }
}
