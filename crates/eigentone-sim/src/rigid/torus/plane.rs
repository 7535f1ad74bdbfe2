//! A ring on a plane, and on the face of a box, which is one for as long as the ring does not reach over its edges.
//!
//! Seen from the ring, at the height `h` of its centre over a plane of unit normal `n`, a point of its circle at the angle `φ` is
//! at `h + R (n_x cos φ + n_y sin φ)`: lowest in the direction `−(n_x, n_y)`. This point and those a quarter, a half and three
//! quarters of a turn on carry the ring: exact for one that stands or leans, and enough for one that lies. (Points close to the lowest
//! one make a polygon of a ring that rolls: it loses its wobble at their corners, twice as fast.)

use super::Torus;
use super::touch::Touch;
use rapier3d::math::{Pose, Vector};
use rapier3d::parry::shape::Cuboid;

/// A ring that lies flat has no lowest point: while the one of the last step is not higher than the new one by this, in m, it
/// stays, so that the points do not jump about within the rounding.
const STAYS_M: f32 = 5e-7;

/// Where a ring touches a plane: its normal and the height of the ring's centre over it, both seen from the ring. `last` is the
/// lowest point of the step before.
fn touches(ring: &Torus, normal: Vector, height: f32, last: Option<Vector>, reach: f32) -> Vec<Touch> {
    let tilt = normal.x.hypot(normal.y);
    let lowest = Vector::new(-normal.x, -normal.y, 0.0) / tilt.max(f32::MIN_POSITIVE);
    let flat = |v: Vector| Vector::new(v.x, v.y, 0.0).try_normalize();
    let stays = |&kept: &Vector| ring.radius * tilt * (1.0 - lowest.dot(kept)) < STAYS_M;
    let first = last.and_then(flat).filter(stays).or_else(|| flat(lowest)).unwrap_or(Vector::X);
    let second = Vector::new(-first.y, first.x, 0.0);
    let mut touches = Vec::new();
    for direction in [first, second, -first, -second] {
        let place = direction * ring.radius;
        let gap = height + normal.dot(place) - ring.stock_radius;
        if gap < reach {
            let on_ring = place - normal * ring.stock_radius;
            touches.push(Touch { on_ring, on_other: on_ring - normal * gap, normal: -normal, gap, group: 0 });
        }
    }
    touches
}

/// Where a ring touches a face of a box; `None` if it reaches over the edges. `place` is the ring in the box's frame.
pub(super) fn on_box(
    ring: &Torus,
    cuboid: &Cuboid,
    place: &Pose,
    last: Option<Vector>,
    reach: f32,
) -> Option<Vec<Touch>> {
    let (centre, axis) = (place.translation, place.rotation * Vector::Z);
    let half = cuboid.half_extents;
    let within = |k: usize| centre[k].abs() + ring.radius * (1.0 - axis[k] * axis[k]).max(0.0).sqrt() <= half[k];
    let over = |k: usize| centre[k].abs() - half[k];
    let face =
        (0..3).filter(|&k| within((k + 1) % 3) && within((k + 2) % 3)).max_by(|&a, &b| over(a).total_cmp(&over(b)))?;
    let mut outward = Vector::ZERO;
    outward[face] = centre[face].signum();
    let mut touches = touches(ring, place.rotation.inverse() * outward, over(face), last, reach);
    touches.iter_mut().for_each(|t| t.on_other = place.transform_point(t.on_other));
    Some(touches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rapier3d::math::Rotation;

    const RING: Torus = Torus { radius: 0.025, stock_radius: 0.003 };

    /// The lowest point of a ring leaning by `α` with its centre at `h` is at `h − R sin α − r`.
    #[test]
    fn a_leaning_ring_touches_in_its_lowest_point() {
        let slab = Cuboid::new(Vector::new(0.5, 0.4, 0.01));
        for tilt in [0.0f32, 0.01, 0.3, 1.2, std::f32::consts::FRAC_PI_2] {
            let height = 0.01 + RING.radius * tilt.sin() + RING.stock_radius - 1e-4;
            let turn = Rotation::from_rotation_z(0.7) * Rotation::from_rotation_y(tilt);
            let place = Pose::from_parts(Vector::new(0.1, -0.05, height), turn);
            let touches = on_box(&RING, &slab, &place, None, 1e-3).unwrap();
            assert_eq!(touches.len(), if tilt < 0.02 { 4 } else { 1 });
            assert!((touches[0].gap + 1e-4).abs() < 1e-7, "{tilt}: {:?}", touches[0]);
            assert!((touches[0].on_other.z - 0.01).abs() < 1e-7);
            let lowest = place.transform_point(touches[0].on_ring);
            assert!((lowest.z - 0.01 + 1e-4).abs() < 1e-7, "{tilt}: {lowest}");
            assert!((turn * touches[0].normal + Vector::Z).length() < 1e-6);
        }
    }

    /// A ring that reaches over an edge is not on a plane, and one that lies keeps its points.
    #[test]
    fn faces_end_and_points_stay() {
        let slab = Cuboid::new(Vector::new(0.5, 0.4, 0.01));
        let at = |x: f32| Pose::from_translation(Vector::new(x, 0.0, 0.013));
        assert!(on_box(&RING, &slab, &at(0.48), None, 1e-3).is_none());
        let kept = Vector::new(0.6, 0.8, -0.1);
        let touches = on_box(&RING, &slab, &at(0.0), Some(kept), 1e-3).unwrap();
        let direction = Vector::new(touches[0].on_ring.x, touches[0].on_ring.y, 0.0).normalize();
        assert!((direction - Vector::new(0.6, 0.8, 0.0)).length() < 1e-6, "{direction}");
    }
}
