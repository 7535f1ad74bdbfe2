//! Shells that are held, stand or hang.

use super::common::*;
use eigentone_core::mesh::primitives;
use eigentone_core::{Material, Vec3};
use eigentone_modal::eigen::dense;
use eigentone_modal::shell::{ShellProperties, assemble_held};
use eigentone_modal::supports::{Support, Supports, lowest_points};
use faer::Mat;
use std::f64::consts::TAU;

/// A steel strip 200 × 10 × 1 mm clamped at one end: βL = 1.8751 4.6941 7.8548 of the clamped-free beam, within 3 %.
#[test]
fn a_clamped_strip_is_a_cantilever() {
    let steel = material("steel");
    let (length, t) = (0.2, 0.001);
    let mesh = primitives::plate(length, 0.01, 61, 4);
    let side = Support::ClampedSide { point: mesh.bounds().unwrap()[0], normal: Vec3::X, distance_m: 1e-6 };
    let body = assemble_held(&mesh, &ShellProperties::uniform(&steel, t), &side.into()).unwrap();
    assert_eq!(body.rigid_motions, 0);
    let pairs = solve(&body.pencil, 500.0);
    let truth = [1.875_10, 4.694_09, 7.854_76f64].map(|beta| {
        beta * beta / (TAU * length * length) * (steel.young_pa * t * t / (12.0 * steel.density_kg_m3)).sqrt()
    });
    let shapes = body.translations(&pairs.vectors);
    let even = |c: usize| {
        let across =
            |r: usize| (0..61).map(|i| (0..4).map(|j| shapes[(3 * (61 * j + i) + r, c)]).sum::<f64>().abs()).sum();
        let (z, y): (f64, f64) = (across(2), across(1));
        z > y
    };
    let f = hertz(&pairs.values);
    let found: Vec<f64> = (0..f.len()).filter(|&c| even(c)).map(|c| f[c]).collect();
    assert!(worst_error(&found, &truth) < 0.03, "{found:?} {truth:?}");
}

/// A clamped square plate: ω a² √(ρh/D) = 35.99 73.39 (twice) 108.2 (Leissa); a clamped round one: λ² = 10.2158, 21.2604 (twice).
#[test]
fn clamped_plates_are_leissas() {
    let steel = Material { poisson: 0.3, ..material("steel") };
    let (size, t) = (0.2, 0.001);
    let unit = (steel.bending_stiffness_n_m(t) / (steel.density_kg_m3 * t)).sqrt() / (size * size * TAU);
    let supports = Supports::from(Support::ClampedBorders);
    for (mesh, truth) in [
        (primitives::plate(size, size, 33, 33), vec![35.99, 73.39, 73.39, 108.2]),
        (primitives::disc(size, 18), vec![10.2158, 21.2604, 21.2604]),
    ] {
        let body = assemble_held(&mesh, &ShellProperties::uniform(&steel, t), &supports).unwrap();
        let found = elastic_hz(&body, 1000.0);
        assert!(worst_error(&found, &truth.iter().map(|v| v * unit).collect::<Vec<_>>()) < 0.01, "{found:?}");
    }
}

/// Legendre polynomials, orthonormal on −1…1, and their first two derivatives at x.
fn legendre(n: usize, x: f64) -> [Vec<f64>; 3] {
    let mut p = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
    for k in 0..n {
        let m = k as f64;
        let value = |d: usize, j: usize, p: &[Vec<f64>; 3]| if j < n { p[d][j] } else { 0.0 };
        match k {
            0 => p[0][0] = 1.0,
            1 => (p[0][1], p[1][1]) = (x, 1.0),
            _ => {
                for d in 0..3 {
                    let lower = if d > 0 { d as f64 * value(d - 1, k - 1, &p) } else { 0.0 };
                    let last = x * value(d, k - 1, &p) + lower;
                    p[d][k] = ((2.0 * m - 1.0) * last - (m - 1.0) * value(d, k - 2, &p)) / m;
                }
            }
        }
    }
    p.map(|row| row.iter().enumerate().map(|(k, v)| v * (k as f64 + 0.5).sqrt()).collect())
}

/// Frequencies in Hz of a plate with free edges that cannot move across its plane at some points, by Ritz: Legendre products
/// from which the constraints were projected out.
fn ritz_on_points(side: [f64; 2], stiffness: f64, areal_mass: f64, nu: f64, points: &[[f64; 2]]) -> Vec<f64> {
    let n = 18;
    let size = n * n;
    // Gauss–Legendre points as eigenvalues of the Jacobi matrix, weights from the orthonormal polynomials there.
    let jacobi = Mat::from_fn(n + 2, n + 2, |i, j| {
        let k = i.max(j) as f64;
        if i.abs_diff(j) == 1 { k / (4.0 * k * k - 1.0).sqrt() } else { 0.0 }
    });
    let (nodes, _) = dense::symmetric(jacobi.as_ref()).unwrap();
    let tables: Vec<([Vec<f64>; 3], f64)> = nodes
        .iter()
        .map(|&x| (legendre(n + 2, x), 1.0 / legendre(n + 2, x)[0].iter().map(|p| p * p).sum::<f64>()))
        .collect();
    let overlap =
        |d: usize, e: usize| Mat::from_fn(n, n, |i, j| tables.iter().map(|(p, w)| w * p[d][i] * p[e][j]).sum::<f64>());
    let (i00, i11, i22, i20) = (overlap(0, 0), overlap(1, 1), overlap(2, 2), overlap(2, 0));
    let [sx, sy] = side.map(|s| 2.0 / s);
    let k = Mat::from_fn(size, size, |r, c| {
        let (a, b, p, q) = (r / n, r % n, c / n, c % n);
        let mixed = i20[(a, p)] * i20[(q, b)] + i20[(p, a)] * i20[(b, q)];
        stiffness / areal_mass
            * (sx.powi(4) * i22[(a, p)] * i00[(b, q)]
                + sy.powi(4) * i00[(a, p)] * i22[(b, q)]
                + (sx * sy).powi(2) * (nu * mixed + 2.0 * (1.0 - nu) * i11[(a, p)] * i11[(b, q)]))
    });
    // Orthonormal rows that span the constraints.
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for &[x, y] in points {
        let (px, py) = (legendre(n, sx * x), legendre(n, sy * y));
        let mut row: Vec<f64> = (0..size).map(|r| px[0][r / n] * py[0][r % n]).collect();
        for other in &rows {
            let dot: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(other).for_each(|(a, b)| *a -= dot * b);
        }
        let norm = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        rows.push(row.iter().map(|a| a / norm).collect());
    }
    let projector = Mat::from_fn(size, size, |r, c| {
        f64::from(u8::from(r == c)) - rows.iter().map(|row| row[r] * row[c]).sum::<f64>()
    });
    let held = &projector * &k * &projector;
    let (values, _) = dense::symmetric(held.as_ref()).unwrap();
    // The constraints themselves and, if fewer than three points, rigid motions are zero.
    let top = values[size - 1];
    hertz(&values.into_iter().filter(|&v| v > 1e-11 * top).collect::<Vec<_>>())
}

/// A steel plate 0.3 × 0.2 m, 2 mm, on three feet against Ritz with the points projected out: first six within 3 %. Without
/// points the same Ritz is Leissa's free plate.
#[test]
fn a_plate_on_three_feet_is_that_of_ritz() {
    let steel = Material { poisson: 0.3, ..material("steel") };
    let t = 0.002;
    let (d, areal) = (steel.bending_stiffness_n_m(t), steel.density_kg_m3 * t);
    let free = ritz_on_points([1.0, 1.0], 1.0, 1.0, 0.3, &[]);
    assert!((free[0] * TAU / 13.468 - 1.0).abs() < 1e-3, "{}", free[0] * TAU);

    let feet = [[-0.12, -0.08], [0.12, -0.08], [0.0, 0.07]];
    let truth = ritz_on_points([0.3, 0.2], d, areal, 0.3, &feet);
    let mesh = primitives::plate(0.3, 0.2, 61, 41);
    let middle = {
        let [low, high] = mesh.bounds().unwrap();
        0.5 * (low + high)
    };
    let points = feet.map(|[x, y]| middle + Vec3::new(x, y, 0.0)).to_vec();
    let supports = Supports::from(Support::Feet { points });
    let body = assemble_held(&mesh, &ShellProperties::uniform(&steel, t), &supports).unwrap();
    // It still slides and turns on the table.
    assert_eq!(body.rigid_motions, 3);
    let found = elastic_hz(&body, 800.0);
    assert!(worst_error(&found, &truth[..6]) < 0.03, "{found:?} {:?}", &truth[..6]);
}

/// What remains free: three rotations of a hung body, one (about the line) between two points, none at three; sliding on feet.
#[test]
fn rigid_motions_follow_the_supports() {
    let mesh = primitives::plate(0.2, 0.1, 9, 5);
    let [low, high] = mesh.bounds().unwrap();
    let corner = Vec3::new(low.x, high.y, 0.0);
    let points = |list: &[Vec3]| Support::Points { points: list.to_vec(), radius_m: 0.0 };
    let oblique = Vec3::new(0.3, 0.2, 0.9);
    let cases: [(Supports, usize); 8] = [
        (Supports::default(), 6),
        (Support::Hanging { point: low }.into(), 3),
        (points(&[low, high]).into(), 1),
        (points(&[low, high, corner]).into(), 0),
        (Support::Feet { points: vec![low, high, corner] }.into(), 3),
        (Support::Feet { points: vec![low, high] }.into(), 4),
        (Supports { list: vec![Support::Hanging { point: low }, Support::Feet { points: vec![high, corner] }] }, 1),
        (Support::ClampedSide { point: low, normal: Vec3::X, distance_m: 1e-6 }.into(), 0),
    ];
    for pose in [glam::DQuat::IDENTITY, glam::DQuat::from_scaled_axis(oblique)] {
        for (supports, expected) in &cases {
            let mut mesh = mesh.clone();
            // Feet hold along z in any pose; the others turn with the body.
            let turned = pose != glam::DQuat::IDENTITY;
            if turned && !matches!(supports.list.as_slice(), [] | [Support::Hanging { .. }]) {
                continue;
            }
            mesh.transform(pose, Vec3::ZERO);
            let steel = material("steel");
            let body = assemble_held(&mesh, &ShellProperties::uniform(&steel, 0.002), supports).unwrap();
            assert_eq!(body.rigid_motions, *expected, "{supports:?}");
            elastic_hz(&body, 1500.0);
        }
    }
}

/// Feet are at the lowest places and far apart: the corners of a table.
#[test]
fn feet_are_found_at_the_corners() {
    let mut table = primitives::plate(1.2, 0.8, 13, 9);
    table.append(&{
        let mut top = primitives::plate(1.2, 0.8, 5, 5);
        top.transform(glam::DQuat::IDENTITY, Vec3::Z);
        top
    });
    let feet = lowest_points(&table, 4);
    let [low, high] = table.bounds().unwrap();
    for x in [low.x, high.x] {
        for y in [low.y, high.y] {
            assert!(feet.iter().any(|p| p.distance(Vec3::new(x, y, low.z)) < 1e-9), "{feet:?}");
        }
    }
    assert_eq!(lowest_points(&table, 1000).len(), 13 * 9);
    assert!(lowest_points(&Default::default(), 3).is_empty());
}
