//! What is struck: shapes as plain data.

use eigentone_core::Vec3;

/// A surface that can be struck from both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Where it is.
    pub shape: Shape,
    /// Which model sounds where: the first part that contains an impact gives its number, 0 if none does.
    pub parts: Vec<Part>,
}

impl Collider {
    /// A collider that is one part, number 0.
    pub fn new(shape: Shape) -> Self {
        Self { shape, parts: Vec::new() }
    }

    /// The same with one more part.
    pub fn with_part(mut self, u: [f64; 2], v: [f64; 2], part: u32) -> Self {
        self.parts.push(Part { u, v, part });
        self
    }

    /// The part at a place.
    pub fn part_at(&self, uv: [f64; 2]) -> u32 {
        self.parts.iter().find(|p| p.contains(uv)).map_or(0, |p| p.part)
    }
}

/// A rectangle in the `(u, v)` space of a collider. The lower edges belong to it, the upper ones only at 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// From and to, in `[0, 1]`.
    pub u: [f64; 2],
    /// From and to, in `[0, 1]`.
    pub v: [f64; 2],
    /// Its number.
    pub part: u32,
}

impl Part {
    fn contains(&self, [u, v]: [f64; 2]) -> bool {
        let within = |[from, to]: [f64; 2], x: f64| x >= from && (x < to || (x == to && to == 1.0));
        within(self.u, u) && within(self.v, v)
    }
}

/// The form of a collider, and how `(u, v)` runs over it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A parallelogram `corner + u edges[0] + v edges[1]`.
    Quad {
        /// One of its corners.
        corner: Vec3,
        /// The edges that meet there.
        edges: [Vec3; 2],
    },
    /// An ellipse `centre + s axes[0] + t axes[1]`, `s² + t² ≤ 1`; `u = (s+1)/2`, `v = (t+1)/2`.
    Disc {
        /// Its centre.
        centre: Vec3,
        /// Its half axes. They need not be perpendicular (then they are conjugate half diameters).
        axes: [Vec3; 2],
    },
    /// A sphere. `u` is the angle about `z` from `−π` to `π`, `v` the height along `z`: equal areas stay equal.
    Sphere {
        /// Its centre.
        centre: Vec3,
        /// Its radius.
        radius_m: f64,
    },
    /// The wall of a cylinder, open at both ends. `u` is the angle about the axis, `v` the place along it.
    Cylinder {
        /// Centre of one end.
        base: Vec3,
        /// From there to the centre of the other end.
        axis: Vec3,
        /// Its radius.
        radius_m: f64,
    },
    /// The part of a quadric in a box. `u` is the angle about the frame's third axis, `v` the place along it.
    Quadric {
        /// Where its own coordinates are in the world.
        frame: Frame,
        /// The surface.
        surface: Quadric,
    },
}

impl Shape {
    /// A circular disc.
    pub fn disc(centre: Vec3, normal: Vec3, radius_m: f64) -> Self {
        let (x, y) = normal.try_normalize().unwrap_or(Vec3::NAN).any_orthonormal_pair();
        Self::Disc { centre, axes: [radius_m * x, radius_m * y] }
    }
}

/// Own coordinates of a quadric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Its origin in the world.
    pub origin: Vec3,
    /// Its axes in the world: unit vectors, perpendicular to each other.
    pub axes: [Vec3; 3],
}

impl Frame {
    /// Parallel to the world.
    pub fn at(origin: Vec3) -> Self {
        Self { origin, axes: Vec3::AXES }
    }

    /// With the third axis in a given direction.
    pub fn along(origin: Vec3, direction: Vec3) -> Self {
        let z = direction.try_normalize().unwrap_or(Vec3::NAN);
        let (x, y) = z.any_orthonormal_pair();
        Self { origin, axes: [x, y, z] }
    }

    pub(super) fn point_to_own(&self, point: Vec3) -> Vec3 {
        self.direction_to_own(point - self.origin)
    }

    pub(super) fn direction_to_own(&self, direction: Vec3) -> Vec3 {
        Vec3::from_array(self.axes.map(|axis| axis.dot(direction)))
    }

    pub(super) fn direction_to_world(&self, own: Vec3) -> Vec3 {
        own.x * self.axes[0] + own.y * self.axes[1] + own.z * self.axes[2]
    }
}

/// The surface `xᵀ A x + b·x + c = 0`, as far as it lies in the box from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quadric {
    /// Rows of `A`; only its symmetric part matters.
    pub a: [Vec3; 3],
    /// The linear part.
    pub b: Vec3,
    /// The constant.
    pub c: f64,
    /// Smallest own coordinates.
    pub low: Vec3,
    /// Largest own coordinates.
    pub high: Vec3,
}

impl Quadric {
    /// The ellipsoid `Σ (xᵢ/rᵢ)² = 1`.
    pub fn ellipsoid(radii: Vec3) -> Self {
        let square = (radii * radii).recip();
        let a = [square.x * Vec3::X, square.y * Vec3::Y, square.z * Vec3::Z];
        Self { a, b: Vec3::ZERO, c: -1.0, low: -radii, high: radii }
    }

    /// The cylinder `x² + y² = r²` from `z = 0` to `height_m`.
    pub fn cylinder(radius_m: f64, height_m: f64) -> Self {
        Self {
            a: [Vec3::X, Vec3::Y, Vec3::ZERO],
            b: Vec3::ZERO,
            c: -radius_m * radius_m,
            low: Vec3::new(-radius_m, -radius_m, 0.0),
            high: Vec3::new(radius_m, radius_m, height_m),
        }
    }
}
