//! A ring of round stock as a collider of its own: all points within `r` of a circle of radius `R` around the z axis.
//!
//! A ring is then one shape with a handful of contacts instead of a chain of convex links with hundreds of candidates, and it is
//! round: it rolls without corners. With `ρ = √(x² + y²)` the signed distance to its surface is `√((ρ − R)² + z²) − r`
//! everywhere outside. The engine does not know such a shape; [`Dispatcher`](dispatch::Dispatcher) finds its contacts.

mod circles;
mod convex;
pub(super) mod dispatch;
mod plane;
mod touch;

use rapier3d::math::{Pose, Vector};
use rapier3d::parry::bounding_volume::{Aabb, BoundingSphere};
use rapier3d::parry::mass_properties::MassProperties;
use rapier3d::parry::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use rapier3d::parry::shape::{FeatureId, Shape, ShapeType, TypedShape};
use std::f32::consts::{FRAC_PI_4, PI};

/// Steps of a ray towards the surface at most, and how near counts as there, as a share of the stock's radius.
const RAY_STEPS: usize = 128;
const RAY_NEAR: f32 = 1e-4;

/// A ring around the z axis, centred on the origin; lengths in m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Torus {
    /// Of the circle in the middle of the stock.
    pub(super) radius: f32,
    pub(super) stock_radius: f32,
}

impl Torus {
    /// The point of the circle nearest to a point; any on the axis.
    fn foot(&self, point: Vector) -> Vector {
        let flat = Vector::new(point.x, point.y, 0.0);
        self.radius * flat.try_normalize().unwrap_or(Vector::X)
    }

    fn signed_distance(&self, point: Vector) -> f32 {
        point.distance(self.foot(point)) - self.stock_radius
    }

    /// Half the extent along a direction whose component along the ring's axis is `along`.
    fn half_extent(&self, along: f32) -> f32 {
        self.radius * (1.0 - along * along).max(0.0).sqrt() + self.stock_radius
    }
}

impl PointQuery for Torus {
    fn project_local_point(&self, point: Vector, solid: bool) -> PointProjection {
        let foot = self.foot(point);
        let is_inside = point.distance_squared(foot) <= self.stock_radius * self.stock_radius;
        if is_inside && solid {
            return PointProjection::new(true, point);
        }
        let outward = (point - foot).try_normalize().unwrap_or(Vector::Z);
        PointProjection::new(is_inside, foot + outward * self.stock_radius)
    }

    fn project_local_point_and_get_feature(&self, point: Vector) -> (PointProjection, FeatureId) {
        (self.project_local_point(point, false), FeatureId::Face(0))
    }
}

impl RayCast for Torus {
    /// Goes by the distance to the surface, which no ray can cross within it.
    fn cast_local_ray_and_get_normal(&self, ray: &Ray, most: f32, solid: bool) -> Option<RayIntersection> {
        let speed = ray.dir.length();
        let inside = self.signed_distance(ray.origin) < 0.0;
        if inside && solid {
            return Some(RayIntersection::new(0.0, Vector::ZERO, FeatureId::Face(0)));
        }
        if speed <= 0.0 {
            return None;
        }
        let mut time = 0.0;
        for _ in 0..RAY_STEPS {
            let point = ray.point_at(time);
            let gap = self.signed_distance(point).abs();
            if gap <= RAY_NEAR * self.stock_radius {
                let outward = (point - self.foot(point)).normalize_or_zero();
                let normal = if inside { -outward } else { outward };
                return Some(RayIntersection::new(time, normal, FeatureId::Face(0)));
            }
            time += gap / speed;
            if time > most {
                return None;
            }
        }
        None
    }
}

impl Shape for Torus {
    fn compute_local_aabb(&self) -> Aabb {
        self.compute_aabb(&Pose::IDENTITY)
    }

    fn compute_aabb(&self, place: &Pose) -> Aabb {
        let axis = place.rotation * Vector::Z;
        Aabb::from_half_extents(place.translation, axis.map(|along| self.half_extent(along)))
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        BoundingSphere::new(Vector::ZERO, self.radius + self.stock_radius)
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(*self)
    }

    /// Only a ring scaled alike in all directions is one.
    fn scale_dyn(&self, scale: Vector, _: u32) -> Option<Box<dyn Shape>> {
        let even = scale.x == scale.y && scale.y == scale.z && scale.x > 0.0;
        let scaled = Self { radius: self.radius * scale.x, stock_radius: self.stock_radius * scale.x };
        even.then(|| Box::new(scaled) as Box<dyn Shape>)
    }

    fn mass_properties(&self, density: f32) -> MassProperties {
        let (big, small) = (self.radius * self.radius, self.stock_radius * self.stock_radius);
        let mass = density * 2.0 * PI * PI * self.radius * small;
        let across = mass * (0.5 * big + 0.625 * small);
        MassProperties::new(Vector::ZERO, mass, Vector::new(across, across, mass * (big + 0.75 * small)))
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    fn ccd_thickness(&self) -> f32 {
        self.stock_radius
    }

    fn ccd_angular_thickness(&self) -> f32 {
        FRAC_PI_4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rapier3d::math::Rotation;

    const RING: Torus = Torus { radius: 0.025, stock_radius: 0.003 };

    /// Points of the surface in a place, by its two angles.
    fn surface(place: &Pose) -> impl Iterator<Item = Vector> {
        let angle = |k: usize| k as f32 * std::f32::consts::TAU / 64.0;
        (0..64 * 64).map(move |k| {
            let ((s, c), (t, d)) = (angle(k / 64).sin_cos(), angle(k % 64).sin_cos());
            let rho = RING.radius + RING.stock_radius * d;
            place.transform_point(Vector::new(rho * c, rho * s, RING.stock_radius * t))
        })
    }

    /// The box around a turned ring is the one around its surface.
    #[test]
    fn its_box_is_tight() {
        for turn in [0.0f32, 0.4, 1.1, 1.57] {
            let place = Pose::from_parts(Vector::new(0.1, 0.2, -0.3), Rotation::from_rotation_x(turn));
            let aabb = RING.compute_aabb(&place);
            let (low, high) = surface(&place).fold((Vector::MAX, Vector::MIN), |(l, h), p| (l.min(p), h.max(p)));
            assert!((aabb.mins - low).length() < 2e-4 && (aabb.maxs - high).length() < 2e-4, "{aabb:?} {low} {high}");
            assert!(low.cmpge(aabb.mins - 1e-6).all() && high.cmple(aabb.maxs + 1e-6).all());
        }
    }

    /// Rays hit the front of the stock, pass through the hole, and leave from within; points are projected on the surface.
    #[test]
    fn rays_and_points_meet_its_surface() {
        let ray = |origin, dir| RING.cast_local_ray_and_get_normal(&Ray::new(origin, dir), 10.0, false);
        let hit = ray(Vector::new(0.1, 0.0, 0.0), Vector::new(-2.0, 0.0, 0.0)).unwrap();
        assert!((hit.time_of_impact - 0.036).abs() < 1e-6 && (hit.normal - Vector::X).length() < 1e-4, "{hit:?}");
        assert!(ray(Vector::new(0.01, 0.0, 0.1), -Vector::Z).is_none());
        let out = ray(Vector::new(0.025, 0.0, 0.0), Vector::Z).unwrap();
        assert!((out.time_of_impact - 0.003).abs() < 1e-6, "{out:?}");
        for point in [Vector::new(0.024, 0.001, 0.001), Vector::new(0.0, 0.1, 0.2), Vector::ZERO] {
            let projected = RING.project_local_point(point, false);
            assert!(RING.signed_distance(projected.point).abs() < 1e-7, "{projected:?}");
            assert_eq!(projected.is_inside, RING.signed_distance(point) < 0.0);
        }
    }
}
