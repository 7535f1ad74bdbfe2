//! From a skin to the middle of the wall.

use super::parts::{Part, Parts};
use eigentone_core::{TriMesh, Vec3};
use glam::DMat3;
use std::f64::consts::FRAC_1_SQRT_2;

/// A middle surface, uneven yet.
pub struct Rough {
    pub mesh: TriMesh,
    pub thickness_m: Vec<f64>,
    pub rod_share: f64,
}

/// Share of its area below which a moved triangle is the end of a round rim, which has shrunk to a line.
const SHRUNK: f64 = 0.3;

/// Weight of moving straight inward, where the planes around a vertex leave it a choice.
const STRAIGHT: f64 = 1e-3;

/// Moves the kept triangles inward: walls by half their thickness, rods to the tube that stands for them.
pub fn offset(mesh: &TriMesh, parts: &Parts, kept: &[bool]) -> Rough {
    let depth = |t: usize| match parts.part[t] {
        // The surface lies at D/2 and the tube at D/√8.
        Part::Rod => 0.5 * (1.0 - FRAC_1_SQRT_2) * parts.thickness_m[t],
        _ => 0.5 * parts.thickness_m[t],
    };
    let mut planes = vec![Planes::NONE; mesh.positions.len()];
    for t in (0..kept.len()).filter(|&t| kept[t]) {
        let corners = mesh.corners(t);
        for k in 0..3 {
            let (u, v) = (corners[(k + 1) % 3] - corners[k], corners[(k + 2) % 3] - corners[k]);
            let angle = u.angle_between(v);
            if angle.is_finite() {
                planes[mesh.triangles[t][k] as usize].add(parts.normals[t], angle, depth(t));
            }
        }
    }
    let positions: Vec<Vec3> = mesh.positions.iter().zip(&planes).map(|(p, planes)| *p + planes.way()).collect();
    let mut rough =
        Rough { mesh: TriMesh { positions, triangles: Vec::new() }, thickness_m: Vec::new(), rod_share: 0.0 };
    let (mut rods, mut total) = (0.0, 0.0);
    for t in (0..kept.len()).filter(|&t| kept[t]) {
        let [a, b, c] = mesh.triangles[t].map(|v| rough.mesh.positions[v as usize]);
        // Its area, counted negative if it has turned over.
        let area = 0.5 * (b - a).cross(c - a).dot(parts.normals[t]);
        if area > SHRUNK * parts.areas[t] {
            let rod = parts.part[t] == Part::Rod;
            rods += if rod { parts.areas[t] } else { 0.0 };
            total += parts.areas[t];
            rough.mesh.triangles.push(mesh.triangles[t]);
            rough.thickness_m.push(parts.thickness_m[t] * if rod { 0.5 * FRAC_1_SQRT_2 } else { 1.0 });
        }
    }
    rough.mesh.drop_unused_vertices();
    rough.rod_share = if total > 0.0 { rods / total } else { 0.0 };
    rough
}

/// Planes that a vertex should come to lie on.
#[derive(Clone, Copy)]
struct Planes {
    matrix: DMat3,
    /// −Σ weight · depth · normal.
    vector: Vec3,
    /// Σ weight · normal, Σ weight · depth, Σ weight.
    normal: Vec3,
    depth: f64,
    weight: f64,
}

impl Planes {
    const NONE: Self = Self { matrix: DMat3::ZERO, vector: Vec3::ZERO, normal: Vec3::ZERO, depth: 0.0, weight: 0.0 };

    fn add(&mut self, normal: Vec3, weight: f64, depth: f64) {
        let column = |k: usize| weight * normal * normal[k];
        self.matrix += DMat3::from_cols(column(0), column(1), column(2));
        self.vector -= weight * depth * normal;
        self.normal += weight * normal;
        self.depth += weight * depth;
        self.weight += weight;
    }

    /// `min Σ w (n·d + depth)² + ε |d − d₀|²` with `d₀` straight inward.
    fn way(&self) -> Vec3 {
        if self.weight <= 0.0 {
            return Vec3::ZERO;
        }
        let straight = -self.normal.normalize_or_zero() * (self.depth / self.weight);
        let small = STRAIGHT * self.weight;
        let matrix = self.matrix + DMat3::from_diagonal(Vec3::splat(small));
        let way = matrix.inverse() * (self.vector + small * straight);
        // At a spike the planes meet far away.
        if way.is_finite() && way.length() < 4.0 * straight.length() { way } else { straight }
    }
}
