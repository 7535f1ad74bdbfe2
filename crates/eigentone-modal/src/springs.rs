//! Spring-mass surfaces: a surface mesh as point masses joined by springs, with bending.
//!
//! After Raghuvanshi & Lin (2006): vertex `i` has the mass `m_i = ρ t a_i` of its share of the surface, every edge is a spring
//! along its direction. Springs alone cannot resist motion across a flat face (a plate of N vertices would have N + 3
//! zero-energy motions), so each vertex also carries the bending energy of the plate theory,
//!
//! ```text
//! ½ D A_i κᵀQκ,   Q = [[1,0,ν],[0,2(1−ν),0],[ν,0,1]],   D = E t³ / 12(1−ν²)
//! ```
//!
//! with the curvature `κ = (κ₁₁, κ₁₂, κ₂₂)` of the normal displacement, fitted by weighted least squares over the two rings
//! of neighbours. What that fit leaves over is stiff as well, which keeps zigzags from vertex to vertex out of the spectrum. A rigid
//! rotation gives a displacement that is linear in the tangent plane, hence no curvature and no remainder: exactly six zero
//! modes remain. Only positions, neighbours and normals are used, so any soup will do.

use crate::eigen::{Block, EigenError, Pencil, dense};
use eigentone_core::{Material, TriMesh, Vec3};
use faer::Mat;
use std::collections::BTreeSet;

/// How stiff the spring of an edge is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Springs {
    /// `k = E t Σ area(T)/|e|²` over the triangles T at the edge: exactly isotropic (with ν = 1/3) on equilateral triangles,
    /// and independent of how finely the surface is meshed.
    #[default]
    AreaWeighted,
    /// `k = E t`, as printed in the paper. Depends on the mesh.
    Uniform,
}

/// What a shell is made of, besides its mesh and material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShellSettings {
    /// Thickness in metres.
    pub thickness_m: f64,
    /// Stiffness of the edges.
    pub springs: Springs,
    /// Whether the shell resists bending. Off reproduces the paper, and its mute flat faces.
    pub bending: bool,
}

/// Neighbours used for the curvature of one vertex, at most. Two rings of a regular mesh are 18; the hub of a fan would
/// otherwise couple everything with everything.
const MAX_NEIGHBOURS: usize = 32;

/// Singular values below this share of the largest are noise.
const RCOND: f64 = 1e-3;

/// Stiffness of what the curvature fit leaves over. Smooth bending leaves next to nothing, but a zigzag from vertex to vertex
/// is all remainder: without this term it costs almost no energy, and the spectrum fills with such motions far below the
/// mesh's limit (a plate of 30 × 20 vertices: 257 modes under 4 kHz instead of 50). Tuned on that plate; at 100 the term also
/// cancels the softening of short waves by the fit: the first 28 modes are within 3 % for regular, one-way, jittered and bisected
/// meshes alike, against −12…−16 % without.
const REST_STIFFNESS: f64 = 100.0;

/// Stiffness and mass of a shell; one node per vertex of the mesh.
///
/// # Errors
/// [`EigenError`] from the small least-squares problems; in practice only on exhausted memory.
pub fn assemble(mesh: &TriMesh, material: &Material, settings: &ShellSettings) -> Result<Pencil, EigenError> {
    let curvatures = if settings.bending { curvatures(mesh)? } else { Vec::new() };
    let edges: Vec<[u32; 2]> = mesh.edges().into_keys().collect();
    let groups = edges.iter().map(|e| &e[..]).chain(curvatures.iter().map(|c| &c.nodes[..]));
    let mut pencil = Pencil::with_groups(mesh.positions.len(), groups);

    let areas = mesh.vertex_areas();
    for (i, area) in areas.iter().enumerate() {
        pencil.add_mass(i as u32, i as u32, material.density_kg_m3 * settings.thickness_m * area);
    }
    add_springs(&mut pencil, mesh, material, settings);
    let stiffness = material.bending_stiffness_n_m(settings.thickness_m);
    for (curvature, area) in curvatures.iter().zip(&areas) {
        curvature.add_energy(&mut pencil, stiffness * area, material.poisson);
    }
    Ok(pencil)
}

/// The highest frequency in Hz whose bending wave is still longer than five edges of the given mean length: above it the
/// mesh is too coarse for the modes to mean anything.
pub fn mesh_limit_hz(mean_edge_m: f64, material: &Material, thickness_m: f64) -> f64 {
    let wave_number = std::f64::consts::TAU / (5.0 * mean_edge_m);
    let stiffness = material.bending_stiffness_n_m(thickness_m) / (material.density_kg_m3 * thickness_m);
    wave_number * wave_number * stiffness.sqrt() / std::f64::consts::TAU
}

/// The mean edge length at which [`mesh_limit_hz`] is the given frequency.
pub fn edge_for_limit_m(limit_hz: f64, material: &Material, thickness_m: f64) -> f64 {
    let at_one_metre = mesh_limit_hz(1.0, material, thickness_m);
    (at_one_metre / limit_hz).sqrt()
}

fn add_springs(pencil: &mut Pencil, mesh: &TriMesh, material: &Material, settings: &ShellSettings) {
    let membrane = material.young_pa * settings.thickness_m;
    for ([i, j], triangles) in mesh.edges() {
        let along = mesh.positions[j as usize] - mesh.positions[i as usize];
        let k = match settings.springs {
            Springs::Uniform => membrane,
            Springs::AreaWeighted => {
                let area: f64 = triangles.iter().map(|&t| mesh.triangle_area(t as usize)).sum();
                membrane * area / along.length_squared()
            }
        };
        let d = along.normalize_or_zero();
        let block: Block = std::array::from_fn(|r| std::array::from_fn(|c| k * d[r] * d[c]));
        let minus = block.map(|row| row.map(|x| -x));
        for (a, b, value) in [(i, i, &block), (j, j, &block), (i, j, &minus), (j, i, &minus)] {
            pencil.add_stiffness(a, b, value);
        }
    }
}

/// The curvature of the surface's normal displacement at one vertex as a linear function of its neighbours' positions.
struct Curvature {
    /// Neighbours, and the vertex itself last.
    nodes: Vec<u32>,
    /// `κ = Σ rows[k] · (n·u_k)`, one column of three per node.
    rows: Vec<[f64; 3]>,
    /// What the fit leaves over, weighted, in units of curvature: one row per neighbour, one column per node.
    rest: Vec<Vec<f64>>,
    normal: Vec3,
}

impl Curvature {
    /// Adds `weight · (κᵀQκ + remainder)` to the stiffness.
    fn add_energy(&self, pencil: &mut Pencil, weight: f64, poisson: f64) {
        for (a, [a11, a12, a22]) in self.rows.iter().enumerate() {
            let q = [a11 + poisson * a22, 2.0 * (1.0 - poisson) * a12, poisson * a11 + a22];
            for (b, [b11, b12, b22]) in self.rows.iter().enumerate() {
                let rest: f64 = self.rest.iter().map(|r| r[a] * r[b]).sum();
                let energy = weight * (q[0] * b11 + q[1] * b12 + q[2] * b22 + REST_STIFFNESS * rest);
                let n = self.normal;
                let block: Block = std::array::from_fn(|r| std::array::from_fn(|c| energy * n[r] * n[c]));
                pencil.add_stiffness(self.nodes[a], self.nodes[b], &block);
            }
        }
    }
}
fn curvatures(mesh: &TriMesh) -> Result<Vec<Curvature>, EigenError> {
    let neighbours = mesh.neighbours();
    let normals = mesh.vertex_normals();
    (0..mesh.positions.len()).map(|i| curvature(mesh, &neighbours, normals[i], i)).collect()
}

/// Weighted least squares of `w_j = n·(u_j − u_i)` onto `[ξ, η, ½ξ², ξη, ½η²]` with weights `1/(ξ²+η²)`; the last three
/// rows of the pseudo-inverse are the curvature operator.
fn curvature(mesh: &TriMesh, neighbours: &[Vec<u32>], normal: Vec3, i: usize) -> Result<Curvature, EigenError> {
    let centre = mesh.positions[i];
    let mut nodes = two_rings(mesh, neighbours, i);
    let (e1, e2) = normal.any_orthonormal_pair();
    let tangential = |j: &u32| {
        let d = mesh.positions[*j as usize] - centre;
        [d.dot(e1), d.dot(e2)]
    };
    let places: Vec<[f64; 2]> = nodes.iter().map(tangential).collect();
    let h = (places.iter().map(|[x, y]| x * x + y * y).sum::<f64>() / places.len().max(1) as f64).sqrt();
    let mut rows = vec![[0.0; 3]; nodes.len()];
    let mut rest = Vec::new();
    if h > 0.0 {
        let terms: Vec<([f64; 5], f64)> = places
            .iter()
            .map(|[x, y]| {
                let (x, y) = (x / h, y / h);
                ([x, y, 0.5 * x * x, x * y, 0.5 * y * y], 1.0 / (x * x + y * y).max(1e-3))
            })
            .collect();
        let normal_matrix = Mat::from_fn(5, 5, |r, c| terms.iter().map(|(p, w)| w * p[r] * p[c]).sum::<f64>());
        let (values, vectors) = dense::symmetric(normal_matrix.as_ref())?;
        let inverse = |r: usize, c: usize| -> f64 {
            (0..5)
                .filter(|&k| values[k] > RCOND * RCOND * values[4])
                .map(|k| vectors[(r, k)] * vectors[(c, k)] / values[k])
                .sum()
        };
        // Row by row: the pseudo-inverse's answer to a unit displacement of each neighbour.
        let fits: Vec<[f64; 5]> = terms
            .iter()
            .map(|(p, w)| std::array::from_fn(|r| w * (0..5).map(|c| inverse(r, c) * p[c]).sum::<f64>()))
            .collect();
        for (row, fit) in rows.iter_mut().zip(&fits) {
            *row = [fit[2], fit[3], fit[4]].map(|x| x / (h * h));
        }
        let total: f64 = terms.iter().map(|(_, w)| w).sum();
        rest = terms
            .iter()
            .enumerate()
            .map(|(j, (p, w))| {
                let left = |k: usize| f64::from(u8::from(j == k)) - (0..5).map(|c| p[c] * fits[k][c]).sum::<f64>();
                (0..terms.len()).map(|k| (w / total).sqrt() / (h * h) * left(k)).collect()
            })
            .collect();
    }
    let own = rows.iter().fold([0.0; 3], |sum, r| std::array::from_fn(|k| sum[k] - r[k]));
    nodes.push(i as u32);
    rows.push(own);
    rest.iter_mut().for_each(|r: &mut Vec<f64>| r.push(-r.iter().sum::<f64>()));
    Ok(Curvature { nodes, rows, rest, normal })
}

/// Neighbours and their neighbours; of very many, the nearest.
fn two_rings(mesh: &TriMesh, neighbours: &[Vec<u32>], i: usize) -> Vec<u32> {
    let mut rings: BTreeSet<u32> = BTreeSet::new();
    for &j in &neighbours[i] {
        rings.insert(j);
        rings.extend(&neighbours[j as usize]);
    }
    rings.remove(&(i as u32));
    let mut nodes: Vec<u32> = rings.into_iter().collect();
    if nodes.len() > MAX_NEIGHBOURS {
        let distance = |j: &u32| mesh.positions[*j as usize].distance_squared(mesh.positions[i]);
        nodes.sort_by(|a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)));
        nodes.truncate(MAX_NEIGHBOURS);
        nodes.sort_unstable();
    }
    nodes
}
