//! A ring against anything convex: the distance `d(φ)` from its circle to the body, walked all around.
//!
//! By the envelope theorem `d' = n · t` with the body's outward normal `n` at the nearest point and the circle's tangent `t`;
//! where it rises through zero the two are nearest. Around each such place, points with nearly the same normal carry the ring as
//! well: it may lie on a face.

use super::Torus;
use super::touch::Touch;
use rapier3d::math::{Pose, Vector};
use rapier3d::parry::query::details::NormalConstraints;
use rapier3d::parry::shape::Shape;
use std::f32::consts::TAU;

/// Points walked.
const SAMPLES: usize = 24;
/// Steps towards a nearest point.
const STEPS: usize = 10;
/// Normals within 5° are of one face: cos 5°.
const ALIKE: f32 = 0.996;
/// Points of one face keep this apart, as a share of the ring's radius, and are at most so many.
const APART: f32 = 0.3;
const MAX_POINTS: usize = 4;
/// Faces at most.
const MAX_FACES: usize = 4;

/// A point of the ring's circle and what is nearest to it, in the body's frame.
#[derive(Clone, Copy)]
struct Probe {
    at: Vector,
    foot: Vector,
    /// Outward from the body; zero where the circle passes through its surface.
    normal: Vector,
    distance: f32,
    /// Of the circle, of unit length.
    tangent: Vector,
    slope: f32,
}

struct Walk<'a> {
    body: &'a dyn Shape,
    place: &'a Pose,
    radius: f32,
}

impl Walk<'_> {
    fn probe(&self, angle: f32) -> Probe {
        let (sin, cos) = angle.sin_cos();
        let at = self.place.transform_point(Vector::new(cos, sin, 0.0) * self.radius);
        let nearest = self.body.project_local_point(at, false);
        let sign = if nearest.is_inside { -1.0 } else { 1.0 };
        let normal = (at - nearest.point).normalize_or_zero() * sign;
        let tangent = self.place.rotation * Vector::new(-sin, cos, 0.0);
        let distance = at.distance(nearest.point) * sign;
        Probe { at, foot: nearest.point, normal, distance, tangent, slope: normal.dot(tangent) }
    }

    /// The nearest place between two angles, one before and one after it (false position, Illinois variant).
    fn nearest(&self, mut a: (f32, f32), mut b: (f32, f32), between: [Probe; 2]) -> Probe {
        let mut best = if between[0].distance < between[1].distance { between[0] } else { between[1] };
        for _ in 0..STEPS {
            let angle = b.0 - b.1 * (b.0 - a.0) / (b.1 - a.1);
            if !(angle > a.0.min(b.0) && angle < a.0.max(b.0)) {
                break;
            }
            let probe = self.probe(angle);
            if probe.distance < best.distance {
                best = probe;
            }
            if (probe.slope > 0.0) == (b.1 > 0.0) {
                a.1 *= 0.5;
            } else {
                a = b;
            }
            b = (angle, probe.slope);
        }
        best
    }
}

/// Where a ring touches a convex body; `place` is the ring in its frame, and `limits` are on the body's normals.
pub(super) fn on_convex(
    ring: &Torus,
    body: &dyn Shape,
    place: &Pose,
    limits: Option<&dyn NormalConstraints>,
    reach: f32,
) -> Vec<Touch> {
    let mut touches = Vec::new();
    let (walk, reach) = (Walk { body, place, radius: ring.radius }, reach + ring.stock_radius);
    let from_centre = body.project_local_point(place.translation, true).point.distance(place.translation);
    if from_centre > ring.radius + reach {
        return touches;
    }
    let arc = TAU / SAMPLES as f32;
    let samples: [Probe; SAMPLES] = std::array::from_fn(|k| walk.probe(k as f32 * arc));
    let mut minima = Vec::new();
    for k in 0..SAMPLES {
        let pair = [samples[k], samples[(k + 1) % SAMPLES]];
        let [before, after] = pair.map(|p| p.slope);
        if before <= 0.0 && after > 0.0 && pair[0].distance.min(pair[1].distance) < reach + 0.5 * arc * ring.radius {
            let angle = k as f32 * arc;
            minima.push(walk.nearest((angle, before), (angle + arc, after), pair));
        }
    }
    // A ring around the axis of a round face is as near all around.
    if minima.is_empty() {
        minima.extend(samples.iter().copied().min_by(|a, b| a.distance.total_cmp(&b.distance)));
    }
    minima.retain(|p| p.distance < reach && p.normal != Vector::ZERO);
    minima.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    let mut faces: Vec<Vector> = Vec::new();
    for minimum in &minima {
        if faces.len() == MAX_FACES || faces.iter().any(|n| n.dot(minimum.normal) > ALIKE) {
            continue;
        }
        let mut normal = minimum.normal;
        if limits.is_some_and(|l| !l.project_local_normal_mut(&mut normal)) {
            continue;
        }
        let group = faces.len();
        faces.push(minimum.normal);
        let alike = |p: &&Probe| p.distance < reach && p.normal.dot(minimum.normal) > ALIKE;
        let candidates: Vec<Probe> = minima.iter().chain(&samples).filter(alike).copied().collect();
        for probe in spread(*minimum, &candidates, APART * ring.radius) {
            // The stock's point farthest down along the normal.
            let down = normal.reject_from_normalized(probe.tangent).normalize_or_zero();
            let on_ring = probe.at - down * ring.stock_radius;
            let gap = (on_ring - probe.foot).dot(normal);
            touches.push(Touch {
                on_ring: place.inverse_transform_point(on_ring),
                on_other: on_ring - normal * gap,
                normal: place.rotation.inverse() * -normal,
                gap,
                group,
            });
        }
    }
    touches
}

/// A first point and those farthest from it and from each other.
fn spread(first: Probe, candidates: &[Probe], apart: f32) -> Vec<Probe> {
    let mut chosen = vec![first];
    while chosen.len() < MAX_POINTS {
        let room = |p: &Probe| chosen.iter().map(|c| c.at.distance(p.at)).fold(f32::MAX, f32::min);
        let farthest = candidates.iter().max_by(|a, b| room(a).total_cmp(&room(b)));
        match farthest {
            Some(p) if room(p) > apart => chosen.push(*p),
            _ => break,
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use rapier3d::math::Rotation;
    use rapier3d::parry::shape::{Ball, Cuboid, Cylinder, Triangle};

    /// The deepest touch is as deep as the nearest of four thousand points of the circle, and its points lie on both surfaces.
    #[test]
    fn the_deepest_touch_is_the_deepest_there_is() {
        let ring = Torus { radius: 0.025, stock_radius: 0.003 };
        let corners = [Vector::new(-0.03, -0.02, 0.0), Vector::new(0.04, -0.01, 0.01), Vector::new(0.0, 0.03, 0.0)];
        let bodies: [&dyn Shape; 4] = [
            &Cuboid::new(Vector::new(0.02, 0.01, 0.03)),
            &Cylinder::new(0.03, 0.01),
            &Ball::new(0.012),
            &Triangle::new(corners[0], corners[1], corners[2]),
        ];
        let mut touched = 0;
        for k in 0..2000 {
            let turn = f64::from(k);
            let wave = |f: f64| (f * turn).sin() as f32;
            let euler = rapier3d::glamx::EulerRot::XYZ;
            let rotation = Rotation::from_euler(euler, 3.0 * wave(1.3), 3.0 * wave(2.1), 3.0 * wave(0.7));
            let place = Pose::from_parts(0.04 * Vector::new(wave(0.31), wave(0.57), wave(0.83)), rotation);
            let body = bodies[k as usize % 4];
            let walk = Walk { body, place: &place, radius: ring.radius };
            let nearest = (0..4096).map(|n| walk.probe(n as f32 * TAU / 4096.0).distance).fold(f32::MAX, f32::min);
            // Circles that pass through the body have no direction to leave it in that all would agree on.
            if nearest < 1e-3 {
                continue;
            }
            let touches = on_convex(&ring, body, &place, None, 0.002);
            let expected = nearest - ring.stock_radius;
            let deepest = touches.iter().map(|t| t.gap).fold(f32::MAX, f32::min);
            if expected < 0.0019 {
                assert!((deepest - expected).abs() < 2e-5, "case {k}: {deepest} {expected}");
                touched += 1;
            }
            for t in &touches {
                assert!(ring.signed_distance(t.on_ring).abs() < 1e-6, "case {k}: {t:?}");
                let across = place.transform_point(t.on_ring) - t.on_other;
                assert!((across.length() - t.gap.abs()).abs() < 1e-6, "case {k}: {t:?}");
            }
        }
        assert!(touched > 150, "{touched}");
    }
}
