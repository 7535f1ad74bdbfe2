//! Meshes and shorthands.

use eigentone_core::{Material, MaterialTable, TriMesh, Vec3};
use eigentone_modal::Progress;
use eigentone_modal::eigen::{self, Band, Eigenpairs, Pencil};
use eigentone_modal::shell::{ShellBody, ShellProperties, assemble};
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, TAU};

pub fn material(name: &str) -> Material {
    MaterialTable::builtin().get(name).unwrap().clone()
}

pub fn uniform(mesh: &TriMesh, material: &Material, thickness_m: f64) -> ShellBody {
    assemble(mesh, &ShellProperties::uniform(material, thickness_m)).unwrap()
}

pub fn solve(pencil: &Pencil, highest_hz: f64) -> Eigenpairs {
    let band = Band { upper: (TAU * highest_hz).powi(2), most: usize::MAX };
    eigen::solve(pencil, band, &Progress::silent()).unwrap()
}

pub fn hertz(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.max(0.0).sqrt() / TAU).collect()
}

/// Frequencies in Hz without the rigid motions, of which there must be as many as expected.
pub fn elastic_hz(body: &ShellBody, highest_hz: f64) -> Vec<f64> {
    let f = hertz(&solve(&body.pencil, highest_hz).values);
    let rigid = f.iter().filter(|&&f| f < 0.5).count();
    assert_eq!(rigid, body.rigid_motions, "{:?}", &f[..10.min(f.len())]);
    f[rigid..].to_vec()
}

/// Largest relative difference of the first frequencies.
pub fn worst_error(found: &[f64], truth: &[f64]) -> f64 {
    assert!(found.len() >= truth.len(), "{found:?}");
    found.iter().zip(truth).map(|(f, t)| (f / t - 1.0).abs()).fold(0.0, f64::max)
}

pub fn twice(values: &[f64]) -> Vec<f64> {
    values.iter().flat_map(|&v| [v, v]).collect()
}

/// A plate in the plane of x and y whose inner vertices are moved by up to `share` of a cell.
pub fn jittered_plate(size: [f64; 2], cells: [usize; 2], share: f64) -> TriMesh {
    let mut mesh = eigentone_core::mesh::primitives::plate(size[0], size[1], cells[0] + 1, cells[1] + 1);
    let [low, high] = mesh.bounds().unwrap();
    let mut noise = eigentone_core::Noise::new(7);
    let step = Vec3::new(size[0] / cells[0] as f64, size[1] / cells[1] as f64, 0.0);
    for p in &mut mesh.positions {
        let moved = *p + share * step * Vec3::new(noise.bipolar(), noise.bipolar(), 0.0);
        let inside = |k: usize| p[k] > low[k] + 1e-9 && p[k] < high[k] - 1e-9;
        if inside(0) && inside(1) {
            *p = moved;
        }
    }
    mesh
}

/// A tube along z of `around` × (`along` + 1) vertices, every other ring turned by half a step.
pub fn tube(radius: f64, length: f64, around: usize, along: usize) -> TriMesh {
    let mut mesh = TriMesh::default();
    for j in 0..=along {
        for i in 0..around {
            let a = TAU * (i as f64 + if j % 2 == 1 { 0.5 } else { 0.0 }) / around as f64;
            mesh.positions.push(Vec3::new(radius * a.cos(), radius * a.sin(), length * j as f64 / along as f64));
        }
    }
    for j in 0..along {
        for i in 0..around {
            let place = |i: usize, j: usize| (j * around + i % around) as u32;
            let (a, b, c, d) = (place(i, j), place(i + 1, j), place(i, j + 1), place(i + 1, j + 1));
            mesh.triangles.extend(if j % 2 == 1 { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] });
        }
    }
    mesh
}

/// A hemisphere with its pole up: the upper faces of an octahedron, each in n² triangles of equal arcs.
pub fn hemisphere(radius: f64, n: usize) -> TriMesh {
    let mut mesh = TriMesh::default();
    let mut known: BTreeMap<[i64; 3], u32> = BTreeMap::new();
    let corners = [Vec3::X, Vec3::Y, Vec3::NEG_X, Vec3::NEG_Y];
    for s in 0..4 {
        let mut vertex = |i: usize, j: usize| {
            let arc = |k: usize| (FRAC_PI_2 * k as f64 / n as f64).sin();
            let p = arc(i) * corners[s] + arc(j) * corners[(s + 1) % 4] + arc(n - i - j) * Vec3::Z;
            let p = radius * p.normalize();
            *known.entry(p.to_array().map(|x| (x / radius * 1e9).round() as i64)).or_insert_with(|| {
                mesh.positions.push(p);
                mesh.positions.len() as u32 - 1
            })
        };
        for i in 0..n {
            for j in 0..n - i {
                let first = [vertex(i, j), vertex(i + 1, j), vertex(i, j + 1)];
                let second = (i + j + 1 < n).then(|| [vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)]);
                mesh.triangles.push(first);
                mesh.triangles.extend(second);
            }
        }
    }
    mesh
}

/// A hemisphere of rings around a pole: `around` needles meet there.
pub fn pole_fan(radius: f64, around: usize, along: usize) -> TriMesh {
    let mut mesh = TriMesh { positions: vec![radius * Vec3::Z], triangles: Vec::new() };
    for j in 1..=along {
        let (s, c) = (FRAC_PI_2 * j as f64 / along as f64).sin_cos();
        for i in 0..around {
            let (sa, ca) = (TAU * i as f64 / around as f64).sin_cos();
            mesh.positions.push(radius * Vec3::new(s * ca, s * sa, c));
        }
    }
    let place = |i: usize, j: usize| (1 + (j - 1) * around + i % around) as u32;
    for i in 0..around {
        mesh.triangles.push([0, place(i, 1), place(i + 1, 1)]);
        for j in 1..along {
            let (a, b, c, d) = (place(i, j), place(i + 1, j), place(i, j + 1), place(i + 1, j + 1));
            mesh.triangles.extend([[a, c, d], [a, d, b]]);
        }
    }
    mesh
}
