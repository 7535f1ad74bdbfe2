//! Where two circles come near each other.
//!
//! With a point `p(φ)` of the first circle in the frame of the second, whose radius is `R`, the squared distance between the two
//! is `g(φ) = (ρ − R)² + z²`. As `p · p' = c · p'` with the first circle's centre `c`, `g'/2 = c · p' − R (x x' + y y') / ρ`. Its
//! zeros are the places sought: minima, up to four of them, and the maxima between them, which keep a ring on another
//! from rocking. The smaller circle is walked, for seen from it the larger one is smooth.

use rapier3d::math::{Pose, Vector};
use std::f32::consts::TAU;
use std::sync::LazyLock;

/// Points walked: two minima nearer than one of these arcs count as one.
const SAMPLES: usize = 64;
/// Circles whose distance varies by less than this, in m, run alongside each other. Half of what the engine lets bodies overlap:
/// below that the nearest place wanders with the rounding, and impulses that cannot be carried on from step to step
/// let a stack sink.
const EVEN_M: f32 = 5e-5;
/// Steps towards a zero: each adds about half again as many digits.
const STEPS: usize = 6;

/// Cosines and sines of the angles walked.
static AROUND: LazyLock<[[f32; SAMPLES]; 2]> = LazyLock::new(|| {
    let angle = |k: usize| f64::from(TAU) * k as f64 / SAMPLES as f64;
    [std::array::from_fn(|k| angle(k).cos() as f32), std::array::from_fn(|k| angle(k).sin() as f32)]
});

/// A pair of points, the first on the first circle and the second on the second, each in its own circle's frame.
pub(super) type Places = Vec<[Vector; 2]>;

/// One circle in the frame of another that lies in the plane of x and y around the origin.
struct Walk {
    centre: Vector,
    /// The walked circle's x and y axes times its radius.
    axes: [Vector; 2],
    radius: f32,
    other_radius: f32,
}

impl Walk {
    fn new(place: &Pose, radius: f32, other_radius: f32) -> Self {
        let axes = [Vector::X, Vector::Y].map(|axis| place.rotation * axis * radius);
        Self { centre: place.translation, axes, radius, other_radius }
    }

    /// Half the slope of the squared distance, and the squared distance.
    #[inline(always)]
    fn slope(&self, cos: f32, sin: f32) -> (f32, f32) {
        let p = self.centre + self.axes[0] * cos + self.axes[1] * sin;
        let t = self.axes[1] * cos - self.axes[0] * sin;
        let rho = (p.x * p.x + p.y * p.y).sqrt().max(f32::MIN_POSITIVE);
        let away = rho - self.other_radius;
        let slope = self.centre.dot(t) - self.other_radius * (p.x * t.x + p.y * t.y) / rho;
        (slope, away * away + p.z * p.z)
    }

    /// The zero of the slope between two angles with slopes of different signs (false position, Illinois variant).
    fn zero(&self, mut a: [f32; 2], mut b: [f32; 2]) -> f32 {
        for _ in 0..STEPS {
            let angle = b[0] - b[1] * (b[0] - a[0]) / (b[1] - a[1]);
            if !(angle > a[0].min(b[0]) && angle < a[0].max(b[0])) {
                break;
            }
            let slope = self.slope(angle.cos(), angle.sin()).0;
            if (slope > 0.0) == (b[1] > 0.0) {
                a[1] *= 0.5;
            } else {
                a = b;
            }
            b = [angle, slope];
        }
        b[0]
    }

    /// The two points at an angle: on the walked circle and on the other, each in its own frame.
    fn places(&self, angle: f32) -> [Vector; 2] {
        let (sin, cos) = angle.sin_cos();
        let p = self.centre + self.axes[0] * cos + self.axes[1] * sin;
        let foot = Vector::new(p.x, p.y, 0.0).try_normalize().unwrap_or(Vector::X);
        [Vector::new(cos, sin, 0.0) * self.radius, foot * self.other_radius]
    }

    fn near(&self, reach: f32, places: &mut Places) {
        let (mut slopes, mut squares) = ([0.0; SAMPLES], [0.0; SAMPLES]);
        for k in 0..SAMPLES {
            (slopes[k], squares[k]) = self.slope(AROUND[0][k], AROUND[1][k]);
        }
        let (least, most) = squares.iter().fold((f32::MAX, 0.0f32), |(l, m), &s| (l.min(s), m.max(s)));
        let arc = TAU / SAMPLES as f32;
        // No point between two samples is nearer than they are by more than half the arc.
        if least.sqrt() > reach + 0.5 * arc * self.radius {
            return;
        }
        if most.sqrt() - least.sqrt() < EVEN_M {
            let quarters = if least.sqrt() <= reach { 4 } else { 0 };
            places.extend((0..quarters).map(|quarter| self.places(TAU * 0.25 * quarter as f32)));
            return;
        }
        for k in 0..SAMPLES {
            let next = (k + 1) % SAMPLES;
            let nearest = squares[k].min(squares[next]).sqrt();
            if (slopes[k] > 0.0) == (slopes[next] > 0.0) || nearest > reach + 0.5 * arc * self.radius {
                continue;
            }
            let angle = k as f32 * arc;
            let zero = self.zero([angle, slopes[k]], [angle + arc, slopes[next]]);
            if self.slope(zero.cos(), zero.sin()).1 <= reach * reach {
                places.push(self.places(zero));
            }
        }
    }
}

/// Places where circles of two radii in the x-y planes of their frames are within reach of each other and nearest, or farthest
/// between two such; four places if they run alongside. `place` is the second frame in the first.
pub(super) fn near(place: &Pose, radii: [f32; 2], reach: f32) -> Places {
    let mut places = Places::new();
    if place.translation.length() > radii[0] + radii[1] + reach {
        return places;
    }
    if radii[0] <= radii[1] {
        Walk::new(&place.inverse(), radii[0], radii[1]).near(reach, &mut places);
    } else {
        Walk::new(place, radii[1], radii[0]).near(reach, &mut places);
        places.iter_mut().for_each(|p| p.swap(0, 1));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use rapier3d::math::Rotation;

    const RADII: [f32; 2] = [0.025, 0.04];

    /// From an angle on the first circle to the second, in double precision.
    fn distance(place: &Pose, radii: [f32; 2], angle: f64) -> f64 {
        let turn = glam::DQuat::from_array(place.rotation.to_array().map(f64::from)).normalize();
        let at = glam::DVec3::new(angle.cos(), angle.sin(), 0.0) * f64::from(radii[0]);
        let p = turn.inverse() * (at - glam::DVec3::from_array(place.translation.to_array().map(f64::from)));
        (p.x.hypot(p.y) - f64::from(radii[1])).hypot(p.z)
    }

    /// Every minimum of the distance within reach, by trying four thousand angles, is among the places found, and the points of a
    /// place are on their circles and as far apart as they should be.
    #[test]
    fn all_nearest_places_are_found() {
        let (mut found, mut many) = (0, 0);
        for k in 0..2000 {
            let turn = f64::from(k);
            let wave = |f: f64| (f * turn).sin() as f32;
            let rotation =
                Rotation::from_euler(rapier3d::glamx::EulerRot::XYZ, 3.0 * wave(1.3), 3.0 * wave(2.1), 3.0 * wave(0.7));
            let place = Pose::from_parts(0.05 * Vector::new(wave(0.31), wave(0.57), 0.5 * wave(0.83)), rotation);
            let radii = if k % 2 == 0 { RADII } else { [RADII[1], RADII[0]] };
            let reach = 0.008;
            let places = near(&place, radii, reach);
            for [first, second] in &places {
                assert!((first.length() - radii[0]).abs() < 1e-6 && (second.length() - radii[1]).abs() < 1e-6);
                assert!(first.distance(place.transform_point(*second)) < reach * 1.001);
            }
            let steps = 4096;
            let d = |n: i32| distance(&place, radii, f64::from(n) * std::f64::consts::TAU / f64::from(steps));
            let minima: Vec<f64> = (0..steps)
                .filter(|&n| d(n) < d(n - 1) && d(n) <= d(n + 1) && d(n) < 0.99 * f64::from(reach))
                .map(d)
                .collect();
            for minimum in &minima {
                let gap = |p: &[Vector; 2]| f64::from(p[0].distance(place.transform_point(p[1])));
                // Where circles cross, the tried angle may be half a step beside the minimum.
                let tried = minimum - 0.5 * std::f64::consts::TAU / f64::from(steps) * f64::from(radii[0]);
                let is_it = |p: &[Vector; 2]| (tried - 1e-6..minimum + 2e-6).contains(&gap(p));
                assert!(places.iter().any(is_it), "case {k}: {minimum} is missing among {places:?}");
            }
            found += minima.len();
            many += usize::from(minima.len() > 1);
        }
        assert!(found > 300 && many > 30, "{found} {many}");
    }

    /// Coaxial circles are carried at four places, a quarter turn apart.
    #[test]
    fn coaxial_circles_touch_all_around() {
        let places = near(&Pose::from_translation(Vector::new(0.0, 0.0, 0.006)), [0.025; 2], 0.007);
        assert_eq!(places.len(), 4);
        let sum: Vector = places.iter().map(|p| p[0]).sum();
        assert!(sum.length() < 1e-6 && places.iter().all(|p| (p[0].distance(p[1])) < 1e-6), "{places:?}");
        assert!(near(&Pose::from_translation(Vector::new(0.0, 0.0, 0.006)), [0.025; 2], 0.005).is_empty());
    }
}
