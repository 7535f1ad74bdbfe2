//! Triangle meshes in memory. Nothing is assumed of their topology: open, non-manifold, in several pieces, or a soup.
//!
//! - [`primitives`]: generators for the shapes that scenes and tests use
//! - [`repair`]: welding, and dropping what cannot sound
//! - [`report`]: what is in a mesh and what is wrong with it
//! - [`remesh`]: finer or coarser triangles for the solvers
//! - [`isotropic`]: even triangles of a given size over the same surface
//! - [`thickened`]: a wall for a surface that has none
//! - [`unit_guesses`]: in which unit a mesh of this size was drawn

pub mod isotropic;
pub mod nearest;
pub mod primitives;
pub mod remesh;
pub mod repair;
pub mod report;
mod thicken;
mod units;

pub use isotropic::{RemeshSettings, Remeshed};
pub use nearest::{NearestTree, RayHit, SurfacePoint, nearest_on_triangle, ray_triangle};
pub use thicken::thickened;
pub use units::{UnitGuess, unit_guesses};

use crate::Vec3;
use std::collections::BTreeMap;

/// Lowest and highest corner of the box around some points; inside out if there are none.
pub fn bounds_of(points: impl IntoIterator<Item = Vec3>) -> [Vec3; 2] {
    points.into_iter().fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)])
}

/// Triangles over shared vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions in metres.
    pub positions: Vec<Vec3>,
    /// Vertex indices of each triangle, anticlockwise seen from outside where the mesh has an outside.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// The three corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|v| self.positions[v as usize])
    }

    /// Normal of a triangle with the length of twice its area.
    pub fn area_normal(&self, triangle: usize) -> Vec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a)
    }

    /// Area of a triangle in m².
    pub fn triangle_area(&self, triangle: usize) -> f64 {
        0.5 * self.area_normal(triangle).length()
    }

    /// Total area in m².
    pub fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|t| self.triangle_area(t)).sum()
    }

    /// Enclosed volume in m³ by the divergence theorem; positive if the triangles face outward. Means nothing for an
    /// open mesh.
    pub fn signed_volume(&self) -> f64 {
        let origin = self.positions.first().copied().unwrap_or_default();
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t).map(|p| p - origin);
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }

    /// Lumped area of each vertex: a third of its triangles' areas.
    pub fn vertex_areas(&self) -> Vec<f64> {
        let mut areas = vec![0.0; self.positions.len()];
        for (t, triangle) in self.triangles.iter().enumerate() {
            let third = self.triangle_area(t) / 3.0;
            for &v in triangle {
                areas[v as usize] += third;
            }
        }
        areas
    }

    /// Area-weighted unit normals of the vertices. A face that opposes the running sum is flipped, so that a soup with
    /// mixed orientation still has usable normals (their sign is then arbitrary). Isolated vertices get +Z.
    pub fn vertex_normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.positions.len()];
        for (t, triangle) in self.triangles.iter().enumerate() {
            let n = self.area_normal(t);
            for &v in triangle {
                let sum = &mut normals[v as usize];
                *sum += if sum.dot(n) < 0.0 { -n } else { n };
            }
        }
        normals.iter().map(|n| n.normalize_or(Vec3::Z)).collect()
    }

    /// Lowest and highest corner of the bounding box; `None` without vertices.
    pub fn bounds(&self) -> Option<[Vec3; 2]> {
        (!self.positions.is_empty()).then(|| bounds_of(self.positions.iter().copied()))
    }

    /// Length of the bounding box's diagonal.
    pub fn diagonal(&self) -> f64 {
        self.bounds().map_or(0.0, |[lo, hi]| (hi - lo).length())
    }

    /// Every undirected edge once, lower vertex first, with the triangles that share it.
    pub fn edges(&self) -> BTreeMap<[u32; 2], Vec<u32>> {
        let mut edges: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for (t, &[a, b, c]) in self.triangles.iter().enumerate() {
            for [i, j] in [[a, b], [b, c], [c, a]] {
                edges.entry([i.min(j), i.max(j)]).or_default().push(t as u32);
            }
        }
        edges
    }

    /// Neighbours of every vertex, in rising order.
    pub fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut neighbours = vec![Vec::new(); self.positions.len()];
        for [i, j] in self.edges().into_keys() {
            neighbours[i as usize].push(j);
            neighbours[j as usize].push(i);
        }
        neighbours.iter_mut().for_each(|n| n.sort_unstable());
        neighbours
    }

    /// For each vertex the number of its connected component, and how many components there are. Vertices without a
    /// triangle are components of their own.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let mut parent: Vec<u32> = (0..self.positions.len() as u32).collect();
        fn root(parent: &mut [u32], mut v: u32) -> u32 {
            while parent[v as usize] != v {
                parent[v as usize] = parent[parent[v as usize] as usize];
                v = parent[v as usize];
            }
            v
        }
        for &[a, b, c] in &self.triangles {
            let ra = root(&mut parent, a);
            for v in [b, c] {
                let rv = root(&mut parent, v);
                parent[rv as usize] = ra;
            }
        }
        let mut number = BTreeMap::new();
        let component = (0..self.positions.len() as u32)
            .map(|v| {
                let next = number.len() as u32;
                *number.entry(root(&mut parent, v)).or_insert(next)
            })
            .collect();
        (component, number.len())
    }

    /// Multiplies every coordinate.
    pub fn scale(&mut self, factor: f64) {
        self.positions.iter_mut().for_each(|p| *p *= factor);
    }

    /// Applies a rotation and then a translation.
    pub fn transform(&mut self, rotation: glam::DQuat, translation: Vec3) {
        self.positions.iter_mut().for_each(|p| *p = rotation * *p + translation);
    }

    /// Adds another mesh's triangles, without welding.
    pub fn append(&mut self, other: &TriMesh) {
        let base = self.positions.len() as u32;
        self.positions.extend_from_slice(&other.positions);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + base)));
    }
}
