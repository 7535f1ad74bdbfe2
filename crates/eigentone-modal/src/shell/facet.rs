//! A triangle of the wall in its own plane.

use eigentone_core::material::PlaneStress;
use eigentone_core::{Grain, Material, Vec3};

/// Below this quality (`4√3 A/Σl²`, 1 for an equilateral triangle) a triangle has no wall: its bending stiffness grows with the
/// inverse cube of its height and would drown the rest of the body in rounding.
pub const LEAST_QUALITY: f64 = 1e-4;

/// A triangle with its axes, flattened corners and elasticity.
#[derive(Clone, Debug)]
pub struct Facet {
    /// Vertices in the mesh.
    pub vertices: [u32; 3],
    /// Two axes in the plane and the normal. With grain the first axis follows it.
    pub axes: [Vec3; 3],
    /// Corners along the first axis, from the first corner, in metres.
    pub x: [f64; 3],
    /// Corners along the second axis.
    pub y: [f64; 3],
    /// Area in m².
    pub area: f64,
    /// Thickness that has mass, in metres.
    pub thickness_m: f64,
    /// Thickness that resists, in metres.
    pub stiff_thickness_m: f64,
    /// Elasticity in the facet's axes.
    pub elastic: PlaneStress,
}

impl Facet {
    /// Flattens a triangle; `None` if it is degenerate or not finite.
    pub fn new(vertices: [u32; 3], corners: [Vec3; 3], material: &Material, grain: &Grain) -> Option<Self> {
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a);
        let twice_area = normal.length();
        let squares = (b - a).length_squared() + (c - b).length_squared() + (a - c).length_squared();
        let quality = 2.0 * 3f64.sqrt() * twice_area / squares;
        if !(quality >= LEAST_QUALITY && squares.is_finite()) {
            return None;
        }
        let n = normal / twice_area;
        let edge = (b - a).try_normalize()?;
        let first = if material.orthotropy.is_some() {
            let along = grain.axes()[0];
            let flat = along - n * along.dot(n);
            if flat.length_squared() > 1e-12 { flat.normalize() } else { edge }
        } else {
            edge
        };
        let axes = [first, n.cross(first), n];
        let along = |axis: Vec3| corners.map(|p| (p - a).dot(axis));
        Some(Self {
            vertices,
            axes,
            x: along(axes[0]),
            y: along(axes[1]),
            area: 0.5 * twice_area,
            thickness_m: 0.0,
            stiff_thickness_m: 0.0,
            elastic: material.plane_stress(&axes, grain),
        })
    }
}

/// The corners that follow corner `i` around the triangle.
pub fn next(i: usize) -> (usize, usize) {
    ((i + 1) % 3, (i + 2) % 3)
}
