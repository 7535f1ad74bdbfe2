//! Which triangles of the skins are walls, rods or rims, and how thick they are there.

use crate::body_kind::{PARALLEL, THICK};
use crate::thickness::{Opposite, middle, tiny_m};
use eigentone_core::mesh::{NearestTree, Remeshed, nearest_on_triangle};
use eigentone_core::{Ordered, TriMesh, Vec3};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a triangle of a skin belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A wall with a second skin.
    Wall,
    /// A part as wide as thick.
    Rod,
    /// The edge of a wall.
    Rim,
}

/// The parts of two skins.
pub struct Parts {
    pub part: Vec<Part>,
    /// Thickness at each triangle in metres.
    pub thickness_m: Vec<f64>,
    /// Where the ray from each wall met the other skin; none where walls have grown.
    pub opposite: Vec<Option<Vec3>>,
    pub areas: Vec<f64>,
    pub normals: Vec<Vec3>,
    /// Pairs of triangles that share an edge, and the cosine between their normals.
    pub pairs: Vec<([u32; 2], f64)>,
}

/// A rod is between `1/ROUND` and `ROUND` times as wide as thick.
const ROUND: f64 = 2.5;

/// Rods are no thicker than this many medians of the walls.
const THICK_ROD: f64 = 12.0;

/// Walls grow over edges flatter than 30°, this many thicknesses and edges far: rays at a mitre run inside the next wall.
const FLAT: f64 = 0.866;
const GROW: f64 = 1.5;

impl Parts {
    pub fn of(even: &Remeshed, body: &NearestTree, median_m: f64) -> Self {
        let mesh = &even.mesh;
        let seen: Vec<(Part, f64, Option<Vec3>)> =
            (0..mesh.triangles.len()).into_par_iter().map(|t| look(even, t, body, median_m)).collect();
        let normals: Vec<Vec3> = (0..mesh.triangles.len()).map(|t| mesh.area_normal(t).normalize_or_zero()).collect();
        let mut parts = Self {
            part: seen.iter().map(|s| s.0).collect(),
            thickness_m: seen.iter().map(|s| s.1).collect(),
            opposite: seen.iter().map(|s| s.2).collect(),
            areas: (0..mesh.triangles.len()).map(|t| mesh.triangle_area(t)).collect(),
            pairs: pairs(mesh, &normals),
            normals,
        };
        parts.grow(mesh, even.edge_m);
        parts
    }

    /// Share of the surface that is walls or rods.
    pub fn share(&self) -> f64 {
        let kept = self.part.iter().zip(&self.areas).filter(|(p, _)| **p != Part::Rim).map(|(_, a)| a).sum::<f64>();
        kept / self.areas.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// Walls and rods grow over what is next to them on the same skin and not much further away than they are thick.
    fn grow(&mut self, mesh: &TriMesh, edge_m: f64) {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); self.part.len()];
        for &([s, t], cosine) in &self.pairs {
            if cosine > FLAT {
                neighbours[s as usize].push(t);
                neighbours[t as usize].push(s);
            }
        }
        let mut queue = BinaryHeap::new();
        let mut reached = vec![f64::INFINITY; self.part.len()];
        for (t, (part, reached)) in self.part.iter().zip(&mut reached).enumerate() {
            if *part != Part::Rim {
                *reached = 0.0;
                queue.push(Reverse((Ordered(0.0), t as u32, t as u32)));
            }
        }
        while let Some(Reverse((Ordered(so_far), t, from))) = queue.pop() {
            if so_far > reached[t as usize] {
                continue;
            }
            if self.part[t as usize] == Part::Rim {
                self.part[t as usize] = self.part[from as usize];
                self.thickness_m[t as usize] = self.thickness_m[from as usize];
            }
            for &next in &neighbours[t as usize] {
                let far = so_far + middle(mesh, t as usize).distance(middle(mesh, next as usize));
                let limit = GROW * self.thickness_m[from as usize] + edge_m;
                if self.part[next as usize] == Part::Rim && far < limit && far < reached[next as usize] {
                    reached[next as usize] = far;
                    queue.push(Reverse((Ordered(far), next, from)));
                }
            }
        }
    }
}

/// Looks inward from the place of the body that a triangle stands for.
fn look(even: &Remeshed, t: usize, body: &NearestTree, median_m: f64) -> (Part, f64, Option<Vec3>) {
    let source = even.source[t] as usize;
    let corners = body.mesh().corners(source);
    let w = nearest_on_triangle(middle(&even.mesh, t), corners);
    let point = corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
    let Some(normal) = body.mesh().area_normal(source).try_normalize() else { return (Part::Rim, 0.0, None) };
    let tiny = tiny_m(body.mesh());
    let seen = Opposite::seen_from(body, point, normal, tiny);
    let thickness = seen.distance_m;
    if seen.facing < PARALLEL && thickness < THICK_ROD * median_m {
        let width = width(body, point - 0.5 * thickness * normal, normal, tiny, ROUND * thickness);
        if (1.0 / ROUND..ROUND).contains(&(width / thickness)) {
            return (Part::Rod, thickness, None);
        }
        if thickness < THICK * median_m && width > thickness {
            return (Part::Wall, thickness, Some(point - thickness * normal));
        }
    }
    (Part::Rim, 0.0, None)
}

/// The shortest chord through a place across `normal`, among a few; at most `enough`.
fn width(body: &NearestTree, place: Vec3, normal: Vec3, tiny: f64, enough: f64) -> f64 {
    let (u, v) = normal.any_orthonormal_pair();
    let directions = [0.0, 1.0, 2.0].map(|k: f64| {
        let (s, c) = (0.2 + k * std::f64::consts::FRAC_PI_3).sin_cos();
        c * u + s * v
    });
    let side = |d: Vec3| body.ray(place, d, tiny).map_or(f64::INFINITY, |hit| hit.distance);
    let chord = |d: Vec3| {
        let one = side(d);
        if one > enough { one } else { one + side(-d) }
    };
    directions.into_iter().map(chord).fold(f64::INFINITY, f64::min)
}

fn pairs(mesh: &TriMesh, normals: &[Vec3]) -> Vec<([u32; 2], f64)> {
    let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * mesh.triangles.len());
    for (t, &[a, b, c]) in mesh.triangles.iter().enumerate() {
        edges.extend([[a, b], [b, c], [c, a]].map(|[i, j]| ([i.min(j), i.max(j)], t as u32)));
    }
    edges.sort_unstable();
    let shared = edges.chunk_by(|p, q| p.0 == q.0).filter(|group| group.len() == 2);
    shared.map(|g| ([g[0].1, g[1].1], normals[g[0].1 as usize].dot(normals[g[1].1 as usize]))).collect()
}
