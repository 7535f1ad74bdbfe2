//! What goes wrong in files: each defect turns a clean mesh into one as it is found in practice.

use eigentone_core::mesh::thickened;
use eigentone_core::{DQuat, TriMesh, Vec3};

/// A name and what it does to a mesh.
pub type Defect = (&'static str, fn(TriMesh) -> TriMesh);

/// Every defect.
pub const DEFECTS: [Defect; 18] = [
    ("fan", fan),
    ("slivers", slivers),
    ("unwelded", unwelded),
    ("flipped parts", |mesh| flipped(mesh, 3)),
    ("inside out", |mesh| flipped(mesh, 1)),
    ("two skins", two_skins),
    ("holes", holes),
    ("T-junctions", t_junctions),
    ("interpenetrating", |mesh| with_copy(mesh, 0.2, 0.7)),
    ("pieces", |mesh| with_copy(mesh, 1.7, 0.0)),
    ("duplicated triangles", |mut mesh| {
        mesh.triangles.extend_from_within(..);
        mesh
    }),
    ("zero-area triangles", zero_area),
    ("1 mm", |mesh| sized(mesh, 1e-3)),
    ("20 m", |mesh| sized(mesh, 20.0)),
    ("in millimetres", |mut mesh| {
        mesh.scale(1000.0);
        mesh
    }),
    ("stretched", stretched),
    ("far away", |mesh| moved(mesh, Vec3::new(1e3, -1e3, 1e3))),
    ("unused vertices", |mut mesh| {
        mesh.positions.extend((0..20).map(|k| Vec3::splat(k as f64)));
        mesh
    }),
];

/// An edge with forty points on it, and the fans of its two neighbours.
fn fan(mut mesh: TriMesh) -> TriMesh {
    const POINTS: u32 = 40;
    let longest = mesh.edges().into_iter().max_by(|a, b| length(&mesh, a.0).total_cmp(&length(&mesh, b.0)));
    let Some(([a, b], neighbours)) = longest else { return mesh };
    let [p, q] = [a, b].map(|v| mesh.positions[v as usize]);
    let first = mesh.positions.len() as u32;
    mesh.positions.extend((1..=POINTS).map(|k| p.lerp(q, f64::from(k) / f64::from(POINTS + 1))));
    let along: Vec<u32> = std::iter::once(a).chain(first..first + POINTS).chain([b]).collect();
    for t in neighbours {
        let corners = mesh.triangles[t as usize];
        for pair in along.windows(2) {
            // The same triangle with its edge replaced by one piece of it.
            mesh.triangles.push(corners.map(|v| {
                if v == a {
                    pair[0]
                } else if v == b {
                    pair[1]
                } else {
                    v
                }
            }));
        }
        mesh.triangles[t as usize] = [a, a, b];
    }
    mesh
}

fn length(mesh: &TriMesh, edge: [u32; 2]) -> f64 {
    mesh.positions[edge[0] as usize].distance(mesh.positions[edge[1] as usize])
}

/// Every third triangle gets a vertex a hundred-thousandth of the way from one of its edges.
fn slivers(mut mesh: TriMesh) -> TriMesh {
    for t in (0..mesh.triangles.len()).step_by(3) {
        let [a, b, c] = mesh.triangles[t];
        let [p, q, r] = mesh.corners(t);
        let fresh = mesh.positions.len() as u32;
        mesh.positions.push((0.5 * (p + q)).lerp(r, 1e-5));
        mesh.triangles[t] = [a, b, fresh];
        mesh.triangles.extend([[b, c, fresh], [c, a, fresh]]);
    }
    mesh
}

fn unwelded(mesh: TriMesh) -> TriMesh {
    let positions = (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t)).collect();
    let triangles = (0..mesh.triangles.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    TriMesh { positions, triangles }
}

fn flipped(mut mesh: TriMesh, every: usize) -> TriMesh {
    mesh.triangles.iter_mut().step_by(every).for_each(|t| t.swap(1, 2));
    mesh
}

/// A wall around an open surface; a smaller copy inside a closed one.
fn two_skins(mut mesh: TriMesh) -> TriMesh {
    let _ = mesh.repair();
    mesh.orient();
    if !mesh.report().watertight {
        let thickness = 0.02 * mesh.diagonal();
        return thickened(&mesh, thickness);
    }
    let middle = mesh.bounds().map_or(Vec3::ZERO, |[low, high]| 0.5 * (low + high));
    let mut inner = flipped(mesh.clone(), 1);
    inner.positions.iter_mut().for_each(|p| *p = middle + 0.93 * (*p - middle));
    mesh.append(&inner);
    mesh
}

/// Every seventh triangle is missing.
fn holes(mut mesh: TriMesh) -> TriMesh {
    let mut k = 0;
    mesh.triangles.retain(|_| {
        k += 1;
        k % 7 != 0
    });
    mesh
}

/// Every fifth triangle is split at the middle of an edge, its neighbour is not.
fn t_junctions(mut mesh: TriMesh) -> TriMesh {
    for t in (0..mesh.triangles.len()).step_by(5) {
        let [a, b, c] = mesh.triangles[t];
        let [p, q, _] = mesh.corners(t);
        let fresh = mesh.positions.len() as u32;
        mesh.positions.push(0.5 * (p + q));
        mesh.triangles[t] = [a, fresh, c];
        mesh.triangles.push([fresh, b, c]);
    }
    mesh
}

/// With a copy, moved by a share of the size and turned.
fn with_copy(mut mesh: TriMesh, by: f64, turn: f64) -> TriMesh {
    let mut other = mesh.clone();
    other.transform(DQuat::from_rotation_z(turn), Vec3::new(by * mesh.diagonal(), 0.0, 0.01 * mesh.diagonal()));
    mesh.append(&other);
    mesh
}

fn zero_area(mut mesh: TriMesh) -> TriMesh {
    for t in (0..mesh.triangles.len()).step_by(4) {
        let [a, b, _] = mesh.triangles[t];
        let [p, q, _] = mesh.corners(t);
        let fresh = mesh.positions.len() as u32;
        mesh.positions.push(p.lerp(q, 0.3));
        mesh.triangles.extend([[a, b, fresh], [a, b, b]]);
    }
    mesh
}

fn sized(mut mesh: TriMesh, diagonal_m: f64) -> TriMesh {
    mesh.scale(diagonal_m / mesh.diagonal());
    mesh
}

/// Thirty times as long as it was wide, at the old size.
fn stretched(mut mesh: TriMesh) -> TriMesh {
    let size = mesh.diagonal();
    mesh.positions.iter_mut().for_each(|p| p.x *= 30.0);
    sized(mesh, size)
}

fn moved(mut mesh: TriMesh, by: Vec3) -> TriMesh {
    mesh.positions.iter_mut().for_each(|p| *p += by);
    mesh
}
