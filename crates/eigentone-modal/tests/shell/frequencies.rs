//! Frequencies of free bodies.

use super::common::*;
use eigentone_core::Material;
use eigentone_core::mesh::primitives;
use std::f64::consts::TAU;

/// ω a² √(ρh/D) = 13.468 19.596 24.270 34.801 (twice) 61.093 (twice) 63.686 (Leissa), 33² vertices.
#[test]
fn a_square_plate_is_leissas() {
    let steel = Material { poisson: 0.3, ..material("steel") };
    let (side, thickness) = (0.2, 0.002);
    let unit =
        (steel.bending_stiffness_n_m(thickness) / (steel.density_kg_m3 * thickness)).sqrt() / (side * side * TAU);
    let truth = [13.468, 19.596, 24.270, 34.801, 34.801, 61.093, 61.093, 63.686].map(|v| v * unit);
    for mesh in [primitives::plate(side, side, 33, 33), jittered_plate([side, side], [32, 32], 0.3)] {
        let found = elastic_hz(&uniform(&mesh, &steel, thickness), 1000.0);
        assert!(
            worst_error(&found, &truth) < 0.01,
            "{:?}",
            found.iter().zip(truth).map(|(f, t)| f / t - 1.0).collect::<Vec<_>>()
        );
    }
}

/// A steel tube, middle radius 30 mm, 120 mm long, 2 mm, at a thousand vertices: 1435.6 1580.4 4044.0 4245.2 Hz, each twice, by
/// axisymmetric solid elements. Six times as many vertices change little.
#[test]
fn a_tube_is_that_of_solid_elements() {
    let solid = twice(&[1435.6, 1580.4, 4044.0, 4245.2]);
    let coarse = elastic_hz(&uniform(&tube(0.03, 0.12, 36, 26), &material("steel"), 0.002), 4600.0);
    assert!(worst_error(&coarse, &solid) < 0.01, "{coarse:?}");
    let fine = elastic_hz(&uniform(&tube(0.03, 0.12, 88, 64), &material("steel"), 0.002), 4600.0);
    assert!(worst_error(&coarse[..8], &fine[..8]) < 0.005, "{coarse:?} {fine:?}");
}

/// A steel hemisphere, middle radius 60 mm, 2 mm: 557.2 1489.6 2739.9 Hz, each twice, by axisymmetric solid elements.
#[test]
fn a_hemisphere_is_that_of_solid_elements() {
    let solid = twice(&[557.2, 1489.6, 2739.9]);
    let found = elastic_hz(&uniform(&hemisphere(0.06, 22), &material("steel"), 0.002), 3000.0);
    assert!(worst_error(&found, &solid) < 0.015, "{found:?}");
}

/// A body sounds the same however it lies.
#[test]
fn frequencies_do_not_depend_on_the_pose() {
    let mesh = hemisphere(0.06, 5);
    let mut turned = mesh.clone();
    turned.transform(glam::DQuat::from_scaled_axis(glam::DVec3::new(0.3, -1.1, 0.7)), glam::DVec3::new(1.0, 2.0, 3.0));
    let [a, b] = [mesh, turned].map(|m| elastic_hz(&uniform(&m, &material("steel"), 0.002), 3000.0));
    assert_eq!(a.len(), b.len());
    assert!(worst_error(&a, &b) < 1e-8);
}
