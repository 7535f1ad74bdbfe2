//! Generators for the shapes that scenes, tests and the demo use. Sizes in metres; every mesh is centred on the origin
//! unless stated, and closed ones face outward. Segment counts below the smallest sensible number are raised to it.

use super::TriMesh;
use crate::Vec3;
use std::f64::consts::{PI, TAU};

/// A flat rectangle in the xy plane with `nx × ny` vertices and alternating diagonals.
pub fn plate(length_x: f64, length_y: f64, nx: usize, ny: usize) -> TriMesh {
    let (nx, ny) = (nx.max(2), ny.max(2));
    let mut mesh = grid(nx, ny, |i, j| {
        let at = |k: usize, n: usize, l: f64| l * (k as f64 / (n - 1) as f64 - 0.5);
        Vec3::new(at(i, nx, length_x), at(j, ny, length_y), 0.0)
    });
    // One-way diagonals make a plate stiffer along one of them; alternate.
    for j in 0..ny - 1 {
        for i in (0..nx - 1).filter(|i| (i + j) % 2 == 1) {
            let cell = 2 * (j * (nx - 1) + i);
            let [p, q, s] = mesh.triangles[cell];
            let r = mesh.triangles[cell + 1][2];
            mesh.triangles[cell] = [p, q, r];
            mesh.triangles[cell + 1] = [q, s, r];
        }
    }
    mesh
}

/// A box with the given full side lengths, each face cut into a grid of `cells` per axis.
pub fn cuboid(size: Vec3, cells: [usize; 3]) -> TriMesh {
    let cells = cells.map(|c| c.max(1));
    let mut mesh = TriMesh::default();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [-0.5, 0.5] {
            let mut face = plate(size[u], size[v], cells[u] + 1, cells[v] + 1);
            for p in &mut face.positions {
                let mut q = Vec3::ZERO;
                q[u] = p.x;
                q[v] = p.y;
                q[axis] = side * size[axis];
                *p = q;
            }
            if side < 0.0 {
                face.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            }
            mesh.append(&face);
        }
    }
    welded(mesh)
}

/// A solid bar along x: a [`cuboid`] whose triangles are about as long as its shortest side.
pub fn bar(length: f64, width: f64, thickness: f64) -> TriMesh {
    let shortest = length.min(width).min(thickness);
    let cells = [length, width, thickness].map(|l| ((l / shortest).round() as usize).clamp(1, 64));
    cuboid(Vec3::new(length, width, thickness), cells)
}

/// A flat disc in the xy plane with rings of vertices around its centre.
pub fn disc(radius: f64, rings: usize) -> TriMesh {
    let rings = rings.max(1);
    let mut mesh = TriMesh { positions: vec![Vec3::ZERO], triangles: Vec::new() };
    // Ring k has 6k vertices: equilateral triangles everywhere.
    let start = |k: usize| if k == 0 { 0 } else { 1 + 3 * k * (k - 1) };
    for k in 1..=rings {
        let r = radius * k as f64 / rings as f64;
        for i in 0..6 * k {
            let (sin, cos) = (TAU * i as f64 / (6 * k) as f64).sin_cos();
            mesh.positions.push(Vec3::new(r * cos, r * sin, 0.0));
        }
        let inner = |i: usize| if k == 1 { 0 } else { (start(k - 1) + i % (6 * (k - 1))) as u32 };
        let outer = |i: usize| (start(k) + i % (6 * k)) as u32;
        for sector in 0..6 {
            for i in 0..k {
                let (o, n) = (sector * k + i, sector * (k - 1) + i);
                mesh.triangles.push([inner(n), outer(o), outer(o + 1)]);
                if i + 1 < k {
                    mesh.triangles.push([inner(n), outer(o + 1), inner(n + 1)]);
                }
            }
        }
    }
    mesh
}

/// A torus around the z axis: a ring of round stock.
pub fn ring(radius: f64, stock_radius: f64, around: usize, across: usize) -> TriMesh {
    let (around, across) = (around.max(3), across.max(3));
    // Welding closes both seams.
    welded(grid(around + 1, across + 1, |i, j| {
        let (s, c) = (TAU * i as f64 / around as f64).sin_cos();
        let (t, d) = (TAU * j as f64 / across as f64).sin_cos();
        let r = radius + stock_radius * d;
        Vec3::new(r * c, r * s, stock_radius * t)
    }))
}

/// A cylinder around the z axis: an open tube, or with flat caps.
pub fn cylinder(radius: f64, height: f64, around: usize, along: usize, capped: bool) -> TriMesh {
    let (around, along) = (around.max(3), along.max(1));
    let mut profile: Vec<[f64; 2]> = (0..=along).map(|k| [radius, height * (k as f64 / along as f64 - 0.5)]).collect();
    if capped {
        let rings = ((around as f64 / TAU).round() as usize).max(1);
        let cap = |z: f64| (0..rings).map(move |k| [radius * k as f64 / rings as f64, z]);
        let mut closed: Vec<[f64; 2]> = cap(-0.5 * height).collect();
        closed.append(&mut profile);
        closed.extend(cap(0.5 * height).collect::<Vec<_>>().into_iter().rev());
        profile = closed;
    }
    revolve(&profile, around)
}

/// An open hemispherical bowl, rim up, as a mid-surface: its centre at the origin, its bottom at `z = −radius`.
pub fn bowl(radius: f64, around: usize, along: usize) -> TriMesh {
    let along = along.max(2);
    let profile: Vec<[f64; 2]> = (0..=along)
        .map(|k| {
            let (s, c) = (0.5 * PI * k as f64 / along as f64).sin_cos();
            [radius * s, -radius * c]
        })
        .collect();
    revolve(&profile, around)
}

/// An open drinking glass as a mid-surface: a flat base at `z = 0`, a wall that widens to the rim.
pub fn tumbler(base_radius: f64, rim_radius: f64, height: f64, around: usize, along: usize) -> TriMesh {
    let along = along.max(4);
    let slant = (rim_radius - base_radius).hypot(height);
    let on_base = ((along as f64 * base_radius / (base_radius + slant)).round() as usize).clamp(1, along - 1);
    let on_wall = along - on_base;
    let mut profile: Vec<[f64; 2]> = (0..on_base).map(|k| [base_radius * k as f64 / on_base as f64, 0.0]).collect();
    profile.extend((0..=on_wall).map(|k| {
        let t = k as f64 / on_wall as f64;
        [base_radius + t * (rim_radius - base_radius), t * height]
    }));
    revolve(&profile, around)
}

/// An open bell as a mid-surface: crown at the top (`z = height`), lip at `z = 0`. The profile is a smooth curve through the
/// proportions of a church bell: shoulder at half the lip radius, waist, and a flared sound bow.
pub fn bell(lip_radius: f64, height: f64, around: usize, along: usize) -> TriMesh {
    /// `(radius, height)` as shares of lip radius and bell height, crown first; proportions read off drawings of
    /// minor-third bells.
    const PROFILE: [[f64; 2]; 10] = [
        [0.0, 1.0],
        [0.25, 0.995],
        [0.44, 0.96],
        [0.52, 0.88],
        [0.55, 0.72],
        [0.59, 0.52],
        [0.66, 0.33],
        [0.76, 0.17],
        [0.89, 0.06],
        [1.0, 0.0],
    ];
    let curve: Vec<[f64; 2]> = PROFILE.iter().map(|[r, z]| [r * lip_radius, z * height]).collect();
    // Lip first, so that the faces look outward.
    let mut profile = resample(&curve, along.max(4));
    profile.reverse();
    revolve(&profile, around)
}

/// A sphere with `around` meridians and `along` rows.
pub fn sphere(radius: f64, around: usize, along: usize) -> TriMesh {
    let along = along.max(3);
    let profile: Vec<[f64; 2]> = (0..=along)
        .map(|k| {
            let (s, c) = (PI * k as f64 / along as f64).sin_cos();
            [if k == along { 0.0 } else { radius * s }, -radius * c]
        })
        .collect();
    revolve(&profile, around)
}

/// Turns a profile of `(radius, z)` points around the z axis. Points on the axis become single vertices. With the profile
/// running upward at positive radius the faces look outward.
pub fn revolve(profile: &[[f64; 2]], around: usize) -> TriMesh {
    let around = around.max(3);
    welded(grid(around + 1, profile.len(), |i, j| {
        let (s, c) = (TAU * (i % around) as f64 / around as f64).sin_cos();
        let [r, z] = profile[j];
        Vec3::new(r * c, r * s, z)
    }))
}

/// Points at equal arc length along a Catmull–Rom curve through the given ones.
fn resample(points: &[[f64; 2]], segments: usize) -> Vec<[f64; 2]> {
    const FINE: usize = 64;
    let last = points.len() - 1;
    let at = |t: f64| -> [f64; 2] {
        let k = (t.floor() as usize).min(last - 1);
        let u = t - k as f64;
        let p = |i: isize| points[(k as isize + i).clamp(0, last as isize) as usize];
        let [a, b, c, d] = [p(-1), p(0), p(1), p(2)];
        std::array::from_fn(|x| {
            b[x] + 0.5
                * u
                * (c[x] - a[x]
                    + u * (2.0 * a[x] - 5.0 * b[x] + 4.0 * c[x] - d[x] + u * (3.0 * (b[x] - c[x]) + d[x] - a[x])))
        })
    };
    let fine: Vec<[f64; 2]> = (0..=last * FINE).map(|k| at(k as f64 / FINE as f64)).collect();
    let mut arc = vec![0.0];
    for w in fine.windows(2) {
        arc.push(arc[arc.len() - 1] + (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1]));
    }
    let total = arc[arc.len() - 1];
    (0..=segments)
        .map(|k| {
            let wanted = total * k as f64 / segments as f64;
            fine[arc.partition_point(|&s| s < wanted - 1e-12 * total).min(fine.len() - 1)]
        })
        .collect()
}

/// A grid of quadrilaterals, two triangles each.
fn grid(nu: usize, nv: usize, position: impl Fn(usize, usize) -> Vec3) -> TriMesh {
    let mut mesh = TriMesh::default();
    for j in 0..nv {
        for i in 0..nu {
            mesh.positions.push(position(i, j));
        }
    }
    for j in 0..nv - 1 {
        for i in 0..nu - 1 {
            let p = (j * nu + i) as u32;
            let (q, r) = (p + 1, p + nu as u32);
            let s = r + 1;
            mesh.triangles.extend([[p, q, s], [p, s, r]]);
        }
    }
    mesh
}

/// Closes seams and poles. The generators above make no mesh that repair would refuse.
fn welded(mut mesh: TriMesh) -> TriMesh {
    let _ = mesh.repair();
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_shapes_enclose_their_volume() {
        let shapes = [
            ("cuboid", cuboid(Vec3::new(0.2, 0.02, 0.01), [20, 2, 1]), 4e-5),
            ("bar", bar(0.2, 0.02, 0.01), 4e-5),
            ("ring", ring(0.05, 0.005, 200, 60), 2.0 * PI * PI * 0.05 * 0.005 * 0.005),
            ("cylinder", cylinder(0.05, 0.1, 200, 10, true), PI * 0.05 * 0.05 * 0.1),
            ("sphere", sphere(0.1, 120, 60), 4.0 / 3.0 * PI * 1e-3),
        ];
        for (name, mesh, volume) in shapes {
            let report = mesh.report();
            assert!(report.watertight, "{name}: {report:?}");
            assert!((mesh.signed_volume() / volume - 1.0).abs() < 0.005, "{name}: {}", mesh.signed_volume());
        }
    }

    #[test]
    fn open_shapes_have_their_area_and_one_rim() {
        let shapes = [
            ("plate", plate(0.3, 0.2, 30, 20), 0.06),
            ("disc", disc(0.1, 20), PI * 0.01),
            ("bowl", bowl(0.1, 96, 24), TAU * 0.01),
            ("tumbler", tumbler(0.03, 0.03, 0.1, 96, 24), PI * 9e-4 + TAU * 0.03 * 0.1),
        ];
        for (name, mesh, area) in shapes {
            assert!((mesh.area() / area - 1.0).abs() < 0.005, "{name}: {}", mesh.area());
            assert_eq!(mesh.report().holes, 1, "{name}");
        }
        assert_eq!(plate(0.3, 0.2, 30, 20).positions.len(), 600);
    }

    #[test]
    fn a_bell_is_open_at_the_lip_and_faces_outward() {
        let mesh = bell(0.1, 0.12, 48, 24);
        let report = mesh.report();
        assert_eq!((report.holes, report.components, report.boundary_edges), (1, 1, 48));
        assert!((report.bounds[1][2] - 0.12).abs() < 1e-9 && report.bounds[0][2].abs() < 1e-9);
        let outward = mesh
            .vertex_normals()
            .iter()
            .zip(&mesh.positions)
            .filter(|(n, p)| n.dot(**p - Vec3::new(0.0, 0.0, 0.03)) > 0.0)
            .count();
        assert!(outward * 10 > mesh.positions.len() * 9, "{outward} of {}", mesh.positions.len());
    }
}
