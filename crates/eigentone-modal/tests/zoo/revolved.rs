//! Walls of revolution as a modelling tool makes them: two skins and the rims that close them. Profiles are
//! `(radius, z)` points in metres.

use eigentone_core::{TriMesh, Vec3};
use std::f64::consts::TAU;

/// Vertices of a skin, ring by ring. A ring on the axis is one vertex.
struct Skin {
    rings: Vec<Vec<u32>>,
}

impl Skin {
    fn add(mesh: &mut TriMesh, profile: &[[f64; 2]], around: usize) -> Self {
        let rings = profile
            .iter()
            .map(|&[r, z]| {
                let count = if r < 1e-9 { 1 } else { around };
                let first = mesh.positions.len() as u32;
                mesh.positions.extend((0..count).map(|k| {
                    let (sin, cos) = (TAU * k as f64 / around as f64).sin_cos();
                    if count == 1 { Vec3::new(0.0, 0.0, z) } else { Vec3::new(r * cos, r * sin, z) }
                }));
                (first..first + count as u32).collect()
            })
            .collect();
        let skin = Self { rings };
        for pair in skin.rings.windows(2) {
            stitch(mesh, &pair[0], &pair[1]);
        }
        skin
    }
}

/// Triangles between two rings that may differ in their number of vertices; a ring of one is the tip of a fan.
fn stitch(mesh: &mut TriMesh, low: &[u32], high: &[u32]) {
    let (a, b) = (low.len(), high.len());
    let (mut i, mut j) = (0, 0);
    while i < a || j < b {
        // The next vertex is that at the smaller angle; a tip never moves.
        let step_low = j == b || (i < a && (i + 1) * b <= (j + 1) * a);
        let (p, q) = (low[i % a], high[j % b]);
        if step_low {
            if a > 1 {
                mesh.triangles.push([p, low[(i + 1) % a], q]);
            }
            i += 1;
        } else {
            if b > 1 {
                mesh.triangles.push([p, high[(j + 1) % b], q]);
            }
            j += 1;
        }
    }
}

/// The closed surface of a wall between two profiles that run the same way. Ends off the axis get rims.
pub fn wall(outer: &[[f64; 2]], inner: &[[f64; 2]], around_outer: usize, around_inner: usize) -> TriMesh {
    let mut mesh = TriMesh::default();
    let out = Skin::add(&mut mesh, outer, around_outer);
    let inside = Skin::add(&mut mesh, inner, around_inner);
    let ends = [(out.rings.first(), inside.rings.first()), (out.rings.last(), inside.rings.last())];
    for (a, b) in ends {
        if let (Some(a), Some(b)) = (a, b)
            && (a.len() > 1 || b.len() > 1)
        {
            stitch(&mut mesh, a, b);
        }
    }
    mesh.orient();
    if mesh.signed_volume() < 0.0 {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    mesh
}

/// One open skin.
pub fn skin(profile: &[[f64; 2]], around: usize) -> TriMesh {
    let mut mesh = TriMesh::default();
    Skin::add(&mut mesh, profile, around);
    mesh
}
