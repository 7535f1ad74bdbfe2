//! Transverse shear: thick plates.

use super::common::*;
use eigentone_core::mesh::primitives;
use eigentone_core::{Material, Vec3};
use eigentone_modal::shell::{ShellProperties, assemble_held, kirchhoff_correction};
use eigentone_modal::supports::{Support, Supports};
use std::f64::consts::{PI, TAU};

/// The lowest antisymmetric Lamb wave of a plate: the root of `tanh(qh)/tanh(ph) = (k²+q²)²/4k²pq`, `h = t/2`,
/// `p² = k² − ω²/c_P²`, `q² = k² − ω²/c_S²`. In rad/s.
fn lamb_wave(material: &Material, thickness: f64, k: f64) -> f64 {
    let (mu, rho, nu) = (material.shear_pa(), material.density_kg_m3, material.poisson);
    let (shear, pressure) = ((mu / rho).sqrt(), (2.0 * mu * (1.0 - nu) / (1.0 - 2.0 * nu) / rho).sqrt());
    let h = 0.5 * thickness;
    let mismatch = |omega: f64| {
        let q = (k * k - (omega / shear).powi(2)).sqrt();
        let p = (k * k - (omega / pressure).powi(2)).sqrt();
        (q * h).tanh() / (p * h).tanh() - (k * k + q * q).powi(2) / (4.0 * k * k * p * q)
    };
    let (mut low, mut high) = (0.1 * kirchhoff(material, thickness, k), 0.92 * k * shear);
    high = high.min(1.02 * kirchhoff(material, thickness, k));
    let sign = mismatch(low).signum();
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if mismatch(middle).signum() == sign { low = middle } else { high = middle }
    }
    low
}

fn kirchhoff(material: &Material, t: f64, k: f64) -> f64 {
    k * k * (material.bending_stiffness_n_m(t) / (material.density_kg_m3 * t)).sqrt()
}

/// Kirchhoff overshoots the exact wave by 0.4 1.7 6.6 16.8 % at λ/t = 40 20 10 6; the factor leaves −.02 −.1 −.4 −1.3 %.
#[test]
fn the_correction_meets_lamb_waves() {
    let steel = material("steel");
    for (ratio, plain, left) in [(40.0, 0.4, -0.02), (20.0, 1.7, -0.1), (10.0, 6.6, -0.4), (6.0, 16.8, -1.3)] {
        let (t, k) = (0.01, TAU / (ratio * 0.01));
        let (exact, thin) = (lamb_wave(&steel, t, k), kirchhoff(&steel, t, k));
        let error = |omega: f64| 100.0 * (omega / exact - 1.0);
        assert!((error(thin) - plain).abs() < 0.2, "{ratio}: {}", error(thin));
        let corrected = error(thin * kirchhoff_correction(k, t, steel.poisson));
        assert!((corrected - left).abs() < 0.1, "{ratio}: {corrected}");
    }
}

/// The lower root of `(Sk² − ρtω²)(Dk² + S − ρt³ω²/12) = S²k²`, `S = ⅚Gt`: Mindlin's plate and, with EI for D, Timoshenko's beam.
fn mindlin_hz(bending: f64, shear: f64, mass: f64, inertia: f64, k: f64) -> f64 {
    let (a, b) = (mass * inertia, -(mass * (bending * k * k + shear) + inertia * shear * k * k));
    let c = shear * k * k * (bending * k * k + shear) - shear * shear * k * k;
    ((-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)).sqrt() / TAU
}

/// A simply supported square steel plate, side 14 t, so that λ = 10 t for the fourth mode: within 1 % of Mindlin's plate for every
/// bending mode up to there, where thin-plate theory with rotary inertia is 5 % high. Modes in the plane stay as they are.
#[test]
fn a_thick_plate_is_mindlins() {
    let steel = material("steel");
    let (side, t) = (0.14, 0.01);
    let mesh = primitives::plate(side, side, 41, 41);
    let supports = Supports::from(Support::PinnedBorders);
    let body = assemble_held(&mesh, &ShellProperties::uniform(&steel, t), &supports).unwrap();
    assert_eq!(body.rigid_motions, 0);
    let pairs = solve(&body.pencil, 24_000.0);
    let energies = body.bending_energies(&pairs.vectors);
    let corrected = body.with_transverse_shear(&pairs);
    let mut bending = Vec::new();
    for (n, (&value, &better)) in pairs.values.iter().zip(&corrected).enumerate() {
        if energies[n].stiffness > 0.5 * value {
            bending.push(hertz(&[value, better]));
        } else {
            assert!((better / value - 1.0).abs() < 1e-9);
        }
    }
    let (d, rho) = (steel.bending_stiffness_n_m(t), steel.density_kg_m3);
    let truth = |m: f64, n: f64| {
        let k = PI / side * (m * m + n * n).sqrt();
        mindlin_hz(d, steel.shear_pa() * t * 5.0 / 6.0, rho * t, rho * t.powi(3) / 12.0, k)
    };
    let modes = [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (2.0, 2.0)];
    for (found, (m, n)) in bending.iter().zip(modes) {
        assert!((found[1] / truth(m, n) - 1.0).abs() < 0.01, "{m} {n}: {found:?} {}", truth(m, n));
    }
    assert!(bending[3][0] / truth(2.0, 2.0) > 1.04);
}

/// A rosewood bar 350 × 40 × 20 mm on its two ends is Timoshenko's with G_LT, twelve times softer than E_L: the correction is
/// twice that of steel. Third mode (λ = 12 t) within 2 %.
#[test]
fn a_wooden_bar_gives_way_by_shear() {
    let rosewood = material("rosewood");
    let wood = rosewood.orthotropy.unwrap();
    let (length, t) = (0.35, 0.02);
    let mesh = primitives::plate(length, 0.04, 71, 9);
    let [low, high] = mesh.bounds().unwrap();
    let ends: Vec<Vec3> =
        mesh.positions.iter().copied().filter(|p| p.x - low.x < 1e-9 || high.x - p.x < 1e-9).collect();
    let supports = Supports::from(Support::Points { points: ends, radius_m: 0.0 });
    let body = assemble_held(&mesh, &ShellProperties::uniform(&rosewood, t), &supports).unwrap();
    let pairs = solve(&body.pencil, 5000.0);
    let shapes = body.translations(&pairs.vectors);
    // Bending along the bar: the deflection does not change sign across it.
    let along = |c: usize| {
        let z = |v: usize| shapes[(3 * v + 2, c)];
        let even: f64 = (0..71).map(|i| (0..9).map(|j| z(71 * j + i)).sum::<f64>().abs()).sum();
        let total: f64 = (0..71 * 9).map(|v| z(v).abs()).sum();
        let flat: f64 = (0..71 * 9).map(|v| shapes[(3 * v, c)].abs() + shapes[(3 * v + 1, c)].abs()).sum();
        even > 0.7 * total && total > flat
    };
    let corrected = hertz(&body.with_transverse_shear(&pairs));
    let found: Vec<f64> = (0..corrected.len()).filter(|&c| along(c)).map(|c| corrected[c]).collect();
    let rho = rosewood.density_kg_m3;
    for n in 1..=3 {
        let k = PI * f64::from(n) / length;
        let bending = wood.young_l_pa * t.powi(3) / 12.0;
        let truth = mindlin_hz(bending, wood.shear_lt_pa * t * 5.0 / 6.0, rho * t, rho * t.powi(3) / 12.0, k);
        let at = found[n as usize - 1];
        assert!((at / truth - 1.0).abs() < 0.02, "{n}: {at} {truth}");
    }
}
