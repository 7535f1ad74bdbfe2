//! Colliders made ready for computation: where and when a path meets them.

use super::collider::{Frame, Quadric, Shape};
use super::path::{Bounds, Path};
use super::roots::{polynomial, quadratic};
use eigentone_core::Vec3;
use std::f64::consts::TAU;

/// Impacts of a particle closer together than this are one impact. Far below a sample, far above the rounding of a root.
pub(super) const SAME_IMPACT_S: f64 = 1e-9;
/// Rounding allowed for at the walls of a quadric's box, relative to its size: a sphere touches its box from inside.
const BOX_ROUNDING: f64 = 1e-9;

/// A collider's surface.
#[derive(Clone, Debug)]
pub(super) enum Surface {
    Flat(Flat),
    Curved(Curved),
}

impl Surface {
    /// Checks a shape and prepares it; the error says what is wrong.
    pub(super) fn new(shape: &Shape) -> Result<Self, &'static str> {
        match *shape {
            Shape::Quad { corner, edges } => Flat::new(corner, edges, false).map(Self::Flat),
            Shape::Disc { centre, axes } => Flat::new(centre, axes, true).map(Self::Flat),
            Shape::Sphere { centre, radius_m } => {
                positive(radius_m)?;
                let quadric = Quadric::ellipsoid(Vec3::splat(radius_m));
                Curved::new(Frame::at(centre), quadric).map(Self::Curved)
            }
            Shape::Cylinder { base, axis, radius_m } => {
                positive(radius_m)?;
                positive(axis.length())?;
                let quadric = Quadric::cylinder(radius_m, axis.length());
                Curved::new(Frame::along(base, axis), quadric).map(Self::Curved)
            }
            Shape::Quadric { frame, surface } => Curved::new(frame, surface).map(Self::Curved),
        }
    }

    /// The first time in `(SAME_IMPACT_S, until]` at which a path meets the surface. A path that starts `on_it` has the root `t = 0` divided
    /// out exactly, so that rounding cannot make it strike again where it has just bounced.
    pub(super) fn first_hit(&self, path: &Path, on_it: bool, until: f64) -> Option<f64> {
        match self {
            Self::Flat(flat) => flat.first_hit(path, on_it, until),
            Self::Curved(curved) => curved.first_hit(path, on_it, until),
        }
    }

    /// A vector along the normal at a point of the surface, of either sign; zero at the tip of a cone.
    pub(super) fn normal_at(&self, point: Vec3) -> Vec3 {
        match self {
            Self::Flat(flat) => flat.normal,
            Self::Curved(curved) => curved.gradient_at(point),
        }
    }

    /// Where a point of the surface is in its own `[0, 1]²`.
    pub(super) fn uv_at(&self, point: Vec3) -> [f64; 2] {
        let uv = match self {
            Self::Flat(flat) => flat.uv_at(point),
            Self::Curved(curved) => curved.uv_at(point),
        };
        uv.map(|x| x.clamp(0.0, 1.0))
    }

    pub(super) fn bounds(&self) -> Bounds {
        match self {
            Self::Flat(flat) => flat.bounds,
            Self::Curved(curved) => curved.world_bounds(),
        }
    }
}

fn positive(measure: f64) -> Result<(), &'static str> {
    if measure > 0.0 && measure.is_finite() { Ok(()) } else { Err("radius and length must be finite and more than 0") }
}

/// A parallelogram or an ellipse: `N·(p − p₀) = 0`, and two coordinates in the plane.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    origin: Vec3,
    normal: Vec3,
    /// Dual to the edges: `dual[i]·edges[j] = δᵢⱼ`.
    dual: [Vec3; 2],
    round: bool,
    bounds: Bounds,
}

impl Flat {
    fn new(origin: Vec3, [e0, e1]: [Vec3; 2], round: bool) -> Result<Self, &'static str> {
        let cross = e0.cross(e1);
        let square = cross.length_squared();
        if !(origin.is_finite() && square.is_finite()) {
            return Err("position and edges must be finite");
        }
        // Edges that are parallel to within rounding span no plane.
        if square <= 1e-18 * e0.length_squared() * e1.length_squared() || square < f64::MIN_POSITIVE {
            return Err("edges must not be zero or parallel");
        }
        let bounds = if round {
            let reach = (e0 * e0 + e1 * e1).map(f64::sqrt);
            Bounds { low: origin - reach, high: origin + reach }
        } else {
            let (low, high) = (e0.min(Vec3::ZERO) + e1.min(Vec3::ZERO), e0.max(Vec3::ZERO) + e1.max(Vec3::ZERO));
            Bounds { low: origin + low, high: origin + high }
        };
        let dual = [e1.cross(cross) / square, cross.cross(e0) / square];
        Ok(Self { origin, normal: cross / square.sqrt(), dual, round, bounds })
    }

    /// `N·(½at² + v₀t + x₀ − p₀) = 0`.
    fn first_hit(&self, path: &Path, on_it: bool, until: f64) -> Option<f64> {
        let slope = self.normal.dot(path.velocity);
        let curvature = 0.5 * self.normal.dot(path.acceleration);
        let roots = if on_it {
            quadratic([slope, curvature, 0.0])
        } else {
            quadratic([self.normal.dot(path.position - self.origin), slope, curvature])
        };
        let hit = |t: &f64| *t > SAME_IMPACT_S && *t <= until && self.contains(path.at(*t));
        roots.as_slice().iter().copied().find(hit)
    }

    fn coordinates(&self, point: Vec3) -> [f64; 2] {
        self.dual.map(|dual| dual.dot(point - self.origin))
    }

    fn contains(&self, point: Vec3) -> bool {
        let [s, t] = self.coordinates(point);
        if self.round { s * s + t * t <= 1.0 } else { (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) }
    }

    fn uv_at(&self, point: Vec3) -> [f64; 2] {
        let coordinates = self.coordinates(point);
        if self.round { coordinates.map(|x| 0.5 * (x + 1.0)) } else { coordinates }
    }
}

/// A quadric in its frame, with a symmetric matrix.
#[derive(Clone, Debug)]
pub(super) struct Curved {
    frame: Frame,
    quadric: Quadric,
    /// The box of the quadric, larger by rounding.
    clip: Bounds,
}

impl Curved {
    fn new(frame: Frame, quadric: Quadric) -> Result<Self, &'static str> {
        let [x, y, z] = frame.axes;
        let skew = [x.dot(y), y.dot(z), z.dot(x), x.length() - 1.0, y.length() - 1.0, z.length() - 1.0];
        if !(frame.origin.is_finite() && skew.iter().all(|s| s.abs() < 1e-6)) {
            return Err("the frame must be finite, with perpendicular unit vectors as axes");
        }
        let Quadric { a, b, c, low, high } = quadric;
        let numbers = [a[0], a[1], a[2], b, low, high];
        if !(numbers.iter().all(|v| v.is_finite()) && c.is_finite()) {
            return Err("coefficients and box of a quadric must be finite");
        }
        if low.cmpge(high).any() {
            return Err("the box of a quadric must have an extent in every axis");
        }
        if a == [Vec3::ZERO; 3] && b == Vec3::ZERO {
            return Err("a quadric needs a coefficient besides the constant");
        }
        let column = |i: usize| Vec3::new(a[0][i], a[1][i], a[2][i]);
        let symmetric = [0, 1, 2].map(|i| 0.5 * (a[i] + column(i)));
        let clip = Bounds { low, high }.padded(BOX_ROUNDING * (high - low).length());
        Ok(Self { frame, quadric: Quadric { a: symmetric, ..quadric }, clip })
    }

    fn times_matrix(&self, v: Vec3) -> Vec3 {
        Vec3::from_array(self.quadric.a.map(|row| row.dot(v)))
    }

    /// The quartic `f(p(t))`, with `x₀`, `v₀` and `a` in own coordinates.
    fn first_hit(&self, path: &Path, on_it: bool, until: f64) -> Option<f64> {
        let x = self.frame.point_to_own(path.position);
        let v = self.frame.direction_to_own(path.velocity);
        let half = 0.5 * self.frame.direction_to_own(path.acceleration);
        let (ax, av, ah) = (self.times_matrix(x), self.times_matrix(v), self.times_matrix(half));
        let b = self.quadric.b;
        let quartic = [
            x.dot(ax) + b.dot(x) + self.quadric.c,
            2.0 * x.dot(av) + b.dot(v),
            v.dot(av) + 2.0 * x.dot(ah) + b.dot(half),
            2.0 * v.dot(ah),
            half.dot(ah),
        ];
        let roots = polynomial(&quartic[usize::from(on_it)..], SAME_IMPACT_S, until);
        let hit = |t: &f64| self.clip.contains(x + *t * (v + *t * half));
        roots.as_slice().iter().copied().find(hit)
    }

    /// `∇f = 2 A x + b`.
    fn gradient_at(&self, point: Vec3) -> Vec3 {
        let own = self.frame.point_to_own(point);
        self.frame.direction_to_world(2.0 * self.times_matrix(own) + self.quadric.b)
    }

    fn uv_at(&self, point: Vec3) -> [f64; 2] {
        let own = self.frame.point_to_own(point);
        let (low, high) = (self.quadric.low.z, self.quadric.high.z);
        [0.5 + own.y.atan2(own.x) / TAU, (own.z - low) / (high - low)]
    }

    fn world_bounds(&self) -> Bounds {
        let middle = 0.5 * (self.clip.low + self.clip.high);
        let half = 0.5 * (self.clip.high - self.clip.low);
        let centre = self.frame.origin + self.frame.direction_to_world(middle);
        let [x, y, z] = self.frame.axes.map(Vec3::abs);
        let reach = half.x * x + half.y * y + half.z * z;
        Bounds { low: centre - reach, high: centre + reach }
    }
}
