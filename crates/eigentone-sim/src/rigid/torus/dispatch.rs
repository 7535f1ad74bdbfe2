//! Finds the contacts of rings, and leaves everything else to the engine.

use super::Torus;
use super::touch::{Side, Touch};
use super::{circles, convex, plane};
use rapier3d::geometry::{ContactData, ContactManifold, ContactManifoldData};
use rapier3d::math::{Pose, Vector};
use rapier3d::parry::query::details::{
    ContactManifoldsWorkspace, NormalConstraints, ShapeCastOptions, contact_manifolds_composite_shape_composite_shape,
    contact_manifolds_composite_shape_shape, contact_manifolds_trimesh_shape_shapes,
};
use rapier3d::parry::query::{
    ClosestPoints, Contact, DefaultQueryDispatcher, NonlinearRigidMotion, PersistentQueryDispatcher, QueryDispatcher,
    ShapeCastHit, ShapeDistance, ShapeIntersection, Unsupported,
};
use rapier3d::parry::shape::{Shape, ShapeType};

/// The engine's dispatcher, and rings.
pub(in crate::rigid) struct Dispatcher;

/// A ring within a pair, if there is one; the first of two.
fn side<'a>(place: &Pose, one: &'a dyn Shape, two: &'a dyn Shape) -> Option<(Side<'a>, &'a dyn Shape)> {
    if let Some(ring) = one.as_shape::<Torus>() {
        Some((Side { ring, place: place.inverse(), second: false }, two))
    } else {
        two.as_shape::<Torus>().map(|ring| (Side { ring, place: *place, second: true }, one))
    }
}

/// Where a ring touches something that is not composed of parts.
fn touches(
    side: &Side,
    other: &dyn Shape,
    last: Option<Vector>,
    limits: Option<&dyn NormalConstraints>,
    reach: f32,
) -> Vec<Touch> {
    if let Some(second) = other.as_shape::<Torus>() {
        on_ring([side.ring, second], &side.place.inverse(), reach)
    } else {
        let on_face = other.as_cuboid().and_then(|c| plane::on_box(side.ring, c, &side.place, last, reach));
        on_face.unwrap_or_else(|| convex::on_convex(side.ring, other, &side.place, limits, reach))
    }
}

/// Where two rings touch; `place` is the second in the frame of the first.
fn on_ring(rings: [&Torus; 2], place: &Pose, reach: f32) -> Vec<Touch> {
    let stock = rings.map(|r| r.stock_radius);
    let reach = reach + stock[0] + stock[1];
    let places = circles::near(place, rings.map(|r| r.radius), reach);
    let touch = |(group, [first, second]): (usize, [Vector; 2])| {
        let across = place.transform_point(second) - first;
        // Circles that cross are pushed apart at right angles to both.
        let tangents = [Vector::Z.cross(first), place.rotation * Vector::Z.cross(second)];
        let normal = across.try_normalize().or_else(|| tangents[0].cross(tangents[1]).try_normalize());
        let normal = normal.unwrap_or(Vector::Z);
        let on_other = second - place.rotation.inverse() * normal * stock[1];
        let gap = across.length() - stock[0] - stock[1];
        Touch { on_ring: first + normal * stock[0], on_other, normal, gap, group }
    };
    places.into_iter().enumerate().map(touch).collect()
}

impl PersistentQueryDispatcher<ContactManifoldData, ContactData> for Dispatcher {
    fn contact_manifolds(
        &self,
        place: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        reach: f32,
        manifolds: &mut Vec<ContactManifold>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        let ring = side(place, one, two);
        let compound = [one, two].map(|s| s.shape_type() == ShapeType::Compound);
        if ring.is_none() && compound == [false; 2] {
            return DefaultQueryDispatcher.contact_manifolds(place, one, two, reach, manifolds, workspace);
        }
        // As the engine does it, but the parts come back to us: there may be rings among them.
        match (one.as_composite_shape(), two.as_composite_shape(), ring) {
            (Some(a), Some(b), _) => {
                contact_manifolds_composite_shape_composite_shape(self, place, a, b, reach, manifolds, workspace);
            }
            (Some(a), None, _) if compound[0] => {
                contact_manifolds_composite_shape_shape(self, place, a, two, reach, manifolds, workspace, false);
            }
            (None, Some(b), _) if compound[1] => {
                let back = place.inverse();
                contact_manifolds_composite_shape_shape(self, &back, b, one, reach, manifolds, workspace, true);
            }
            (None, None, Some((side, other))) => {
                let last = side.last(manifolds.first());
                side.write(&touches(&side, other, last, None, reach), manifolds, workspace);
            }
            _ => contact_manifolds_trimesh_shape_shapes(self, place, one, two, reach, manifolds, workspace),
        }
        Ok(())
    }

    fn contact_manifold_convex_convex(
        &self,
        place: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        limits_one: Option<&dyn NormalConstraints>,
        limits_two: Option<&dyn NormalConstraints>,
        reach: f32,
        manifold: &mut ContactManifold,
    ) -> Result<(), Unsupported> {
        let Some((side, other)) = side(place, one, two) else {
            return DefaultQueryDispatcher
                .contact_manifold_convex_convex(place, one, two, limits_one, limits_two, reach, manifold);
        };
        let limits = if side.second { limits_one } else { limits_two };
        let last = side.last(Some(manifold));
        side.write_deepest(&touches(&side, other, last, limits, reach), manifold);
        Ok(())
    }
}

/// Nothing in the world asks these of a ring: it has neither sensors nor paths tested for the time of impact.
impl QueryDispatcher for Dispatcher {
    fn intersection_test(
        &self,
        place: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
    ) -> Result<ShapeIntersection, Unsupported> {
        DefaultQueryDispatcher.intersection_test(place, one, two)
    }

    fn distance(&self, place: &Pose, one: &dyn Shape, two: &dyn Shape) -> Result<ShapeDistance, Unsupported> {
        DefaultQueryDispatcher.distance(place, one, two)
    }

    fn contact(
        &self,
        place: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        reach: f32,
    ) -> Result<Option<Contact>, Unsupported> {
        DefaultQueryDispatcher.contact(place, one, two, reach)
    }

    fn closest_points(
        &self,
        place: &Pose,
        one: &dyn Shape,
        two: &dyn Shape,
        most: f32,
    ) -> Result<ClosestPoints, Unsupported> {
        DefaultQueryDispatcher.closest_points(place, one, two, most)
    }

    fn cast_shapes(
        &self,
        place: &Pose,
        velocity: Vector,
        one: &dyn Shape,
        two: &dyn Shape,
        options: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        DefaultQueryDispatcher.cast_shapes(place, velocity, one, two, options)
    }

    fn cast_shapes_nonlinear(
        &self,
        motion_one: &NonlinearRigidMotion,
        one: &dyn Shape,
        motion_two: &NonlinearRigidMotion,
        two: &dyn Shape,
        from_s: f32,
        to_s: f32,
        stop: bool,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        DefaultQueryDispatcher.cast_shapes_nonlinear(motion_one, one, motion_two, two, from_s, to_s, stop)
    }
}
