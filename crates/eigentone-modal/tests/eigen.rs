//! The iterative eigensolver against the dense one and against exact properties.

use eigentone_core::mesh::primitives;
use eigentone_core::{Material, MaterialTable};
use eigentone_modal::Progress;
use eigentone_modal::eigen::{self, Band, Pencil, dense};
use eigentone_modal::springs::{ShellSettings, Springs, assemble};
use faer::Mat;
use std::f64::consts::TAU;

fn steel() -> Material {
    MaterialTable::builtin().get("steel").unwrap().clone()
}

fn plate(nx: usize, ny: usize) -> Pencil {
    let settings = ShellSettings { thickness_m: 0.002, springs: Springs::AreaWeighted, bending: true };
    assemble(&primitives::plate(0.3, 0.2, nx, ny), &steel(), &settings).unwrap()
}

/// Every eigenvalue of the dense solver is found by the iteration, in several slices, to nine digits and with multiplicity.
#[test]
fn the_iteration_misses_nothing() {
    let settings = ShellSettings { thickness_m: 0.003, springs: Springs::AreaWeighted, bending: true };
    let sphere = assemble(&primitives::sphere(0.1, 24, 14), &steel(), &settings).unwrap();
    for pencil in [plate(20, 15), sphere] {
        assert!(pencil.unknowns() > 700, "small problems are solved densely");
        let upper = (TAU * 22_000.0f64).powi(2);
        let truth = dense::solve(&pencil, upper).unwrap();
        let found = eigen::solve(&pencil, Band { upper, most: usize::MAX }, &Progress::silent()).unwrap();
        assert_eq!(found.values.len(), truth.values.len());
        for (a, b) in found.values.iter().zip(&truth.values).skip(6) {
            assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        }
        let identity = found.vectors.transpose() * pencil.mass_times(found.vectors.as_ref());
        let error = identity - Mat::<f64>::identity(found.values.len(), found.values.len());
        assert!(error.norm_max() < 1e-6, "modes are mass-orthonormal: {}", error.norm_max());
    }
}

/// With very uneven masses `UᵀMU = I` and `UᵀKU = Λ` hold to 1e-8.
#[test]
fn uneven_masses_are_handled_by_the_generalised_problem() {
    let mut pencil = plate(8, 6);
    for i in 0..pencil.nodes() as u32 {
        pencil.add_mass(i, i, 1e-4 * f64::from((i * 7919) % 16));
    }
    let pairs = dense::solve(&pencil, f64::INFINITY).unwrap();
    let n = pairs.values.len();
    let mass = pairs.vectors.transpose() * pencil.mass_times(pairs.vectors.as_ref());
    assert!((mass - Mat::<f64>::identity(n, n)).norm_max() < 1e-8);
    let stiffness = pairs.vectors.transpose() * pencil.stiffness_times(pairs.vectors.as_ref());
    let largest = pairs.values[n - 1];
    let lambda = Mat::from_fn(n, n, |i, j| if i == j { pairs.values[i] } else { 0.0 });
    assert!((stiffness - lambda).norm_max() < 1e-8 * largest);
}

/// Asking for the lowest N gives exactly those.
#[test]
fn the_lowest_modes_are_the_lowest() {
    let pencil = plate(20, 15);
    let upper = (TAU * 22_000.0f64).powi(2);
    let truth = dense::solve(&pencil, upper).unwrap();
    let few = eigen::solve(&pencil, Band { upper, most: 25 }, &Progress::silent()).unwrap();
    assert_eq!(few.values.len(), 25);
    for (a, b) in few.values.iter().zip(&truth.values).skip(6) {
        assert!((a / b - 1.0).abs() < 1e-9);
    }
    assert_eq!(few.vectors.ncols(), 25);
}

/// A mass matrix that is not positive definite is refused, not solved.
#[test]
fn a_body_without_mass_is_refused() {
    let group: [&[u32]; 1] = [&[0, 1]];
    let mut pencil = Pencil::with_groups(2, group.into_iter());
    pencil.add_stiffness(0, 0, &[[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]);
    assert_eq!(dense::solve(&pencil, 1.0).unwrap_err(), eigen::EigenError::MassNotPositive);
}
