//! Fields that the element must hold exactly.

use super::common::*;
use eigentone_core::mesh::primitives;
use eigentone_core::{Material, TriMesh, Vec3};
use eigentone_modal::shell::{ShellError, ShellProperties, ThicknessField, assemble};
use faer::Mat;

const THICKNESS: f64 = 0.002;

/// Displacement and rotation of each vertex as a vector of the pencil.
fn field(mesh: &TriMesh, at: impl Fn(Vec3) -> [f64; 6]) -> Mat<f64> {
    let values: Vec<[f64; 6]> = mesh.positions.iter().map(|&p| at(p)).collect();
    Mat::from_fn(6 * values.len(), 1, |r, _| values[r / 6][r % 6])
}

/// `½ uᵀKu`, and the largest force inside the patch over the largest of all.
fn energy_and_residual(mesh: &TriMesh, material: &Material, u: &Mat<f64>) -> (f64, f64) {
    let force = uniform(mesh, material, THICKNESS).pencil.stiffness_times(u.as_ref());
    let [low, high] = mesh.bounds().unwrap();
    let inner = |p: Vec3| (0..2).all(|k| p[k] > low[k] + 1e-9 && p[k] < high[k] - 1e-9);
    let largest = |chosen: &dyn Fn(usize) -> bool| {
        (0..force.nrows()).filter(|r| chosen(r / 6)).map(|r| force[(r, 0)].abs()).fold(0.0, f64::max)
    };
    let energy = 0.5 * (0..u.nrows()).map(|r| u[(r, 0)] * force[(r, 0)]).sum::<f64>();
    (energy, largest(&|v| inner(mesh.positions[v])) / largest(&|_| true))
}

fn quadratic(c: &[[f64; 3]; 3], e: [f64; 3]) -> f64 {
    (0..3).map(|i| (0..3).map(|j| e[i] * c[i][j] * e[j]).sum::<f64>()).sum()
}

/// Constant strain and constant curvature on a mesh with 30 % jitter: energy that of the plate, no force inside; for steel and
/// for spruce with its grain askew.
#[test]
fn constant_strain_and_curvature_are_exact() {
    let mesh = jittered_plate([0.1, 0.1], [4, 4], 0.3);
    for material in [material("steel"), material("spruce")] {
        let wall = [Vec3::X, Vec3::Y, Vec3::Z];
        let c = material.plane_stress(&wall, &Default::default()).stiffness_pa;
        for [a, b, d, e] in [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0], [0.3, 1.0, -0.4, 0.2]] {
            let u = field(&mesh, |p| [a * p.x + b * p.y, d * p.x + e * p.y, 0.0, 0.0, 0.0, 0.5 * (d - b)]);
            let (energy, residual) = energy_and_residual(&mesh, &material, &u);
            let truth = 0.5 * quadratic(&c, [a, e, b + d]) * THICKNESS * 0.01;
            assert!((energy / truth - 1.0).abs() < 1e-9 && residual < 1e-9, "{energy} {truth} {residual}");
        }
        for [a, b, d] in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, -0.2, 0.7]] {
            let u = field(&mesh, |p| {
                let w = 0.5 * (a * p.x * p.x + b * p.y * p.y + d * p.x * p.y);
                [0.0, 0.0, w, b * p.y + 0.5 * d * p.x, -(a * p.x + 0.5 * d * p.y), 0.0]
            });
            let (energy, residual) = energy_and_residual(&mesh, &material, &u);
            let truth = 0.5 * quadratic(&c, [a, b, d]) * THICKNESS.powi(3) / 12.0 * 0.01;
            assert!((energy / truth - 1.0).abs() < 1e-9 && residual < 1e-9, "{energy} {truth} {residual}");
        }
    }
}

/// A rectangle of two triangles bent in its plane, aspect 1 to 16: the energy is that of the beam (constant-strain triangles
/// are 4 to 300 times too stiff).
#[test]
fn bending_in_the_plane_is_exact_at_any_aspect() {
    for poisson in [0.0, 0.29] {
        let steel = Material { poisson, ..material("steel") };
        for aspect in [1.0, 2.0, 4.0, 8.0, 16.0] {
            let (length, height) = (0.01 * aspect, 0.01);
            let positions = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
                .map(|[x, y]| 0.5 * Vec3::new(x * length, y * height, 0.0))
                .to_vec();
            let mesh = TriMesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]] };
            let u = field(&mesh, |p| [-p.x * p.y, 0.5 * (p.x * p.x + poisson * p.y * p.y), 0.0, 0.0, 0.0, p.x]);
            let (energy, _) = energy_and_residual(&mesh, &steel, &u);
            let truth = 0.5 * steel.young_pa * THICKNESS * height.powi(3) / 12.0 * length;
            assert!((energy / truth - 1.0).abs() < 1e-6, "{poisson} {aspect}: {}", energy / truth);
        }
    }
}

/// Exactly six, on flat, curved and folded walls, on a pole of 24 needles, and per piece.
#[test]
fn rigid_motions_are_six() {
    let mut pieces = primitives::plate(0.1, 0.1, 5, 5);
    let mut other = hemisphere(0.05, 4);
    other.transform(glam::DQuat::from_rotation_x(0.7), Vec3::new(0.0, 0.0, 1.0));
    pieces.append(&other);
    let meshes = [
        (primitives::plate(0.1, 0.1, 7, 7), 6),
        (tube(0.03, 0.12, 12, 6), 6),
        (hemisphere(0.06, 4), 6),
        (pole_fan(0.06, 24, 4), 6),
        (pole_fan(0.06, 96, 8), 6),
        (primitives::cuboid(Vec3::new(0.2, 0.04, 0.03), [8, 2, 2]), 6),
        (pieces, 12),
    ];
    for (mesh, expected) in meshes {
        let body = uniform(&mesh, &material("steel"), THICKNESS);
        assert_eq!(body.rigid_motions, expected);
        let f = hertz(&solve(&body.pencil, 9000.0).values);
        assert!(f[expected - 1] < 1e-4 * f[expected], "{:?}", &f[..expected + 1]);
    }
}

/// ρ t × area, on a uniform and on a varying wall, whatever is stiffened; and lists of the wrong length are refused.
#[test]
fn the_mass_is_that_of_the_wall() {
    let steel = material("steel");
    let mesh = hemisphere(0.06, 5);
    let thickness: Vec<f64> = (0..mesh.triangles.len()).map(|t| 0.001 + 1e-5 * t as f64).collect();
    let truth: f64 = (0..mesh.triangles.len()).map(|t| 7850.0 * thickness[t] * mesh.triangle_area(t)).sum();
    let varying = ShellProperties {
        thickness: ThicknessField::PerTriangle(thickness.clone()),
        stiffening: Some(vec![1.25; thickness.len()]),
        ..ShellProperties::uniform(&steel, 0.0)
    };
    assert!((assemble(&mesh, &varying).unwrap().mass_kg / truth - 1.0).abs() < 1e-12);
    let short = ShellProperties { stiffening: Some(vec![1.0]), ..varying.clone() };
    assert_eq!(
        assemble(&mesh, &short).unwrap_err(),
        ShellError::Count { what: "stiffening", expected: thickness.len(), found: 1 }
    );
    let none = ShellProperties { thickness: ThicknessField::Uniform(f64::NAN), ..varying };
    assert!(matches!(assemble(&mesh, &none), Err(ShellError::Value { what: "thickness", triangle: 0, .. })));
}

/// Stiffness by the factor in the plane and by its cube across it, with the same mass: bending frequencies rise by the factor to
/// the power 3/2 but for rotary inertia.
#[test]
fn stiffening_adds_stiffness_and_no_mass() {
    let steel = material("steel");
    let mesh = primitives::plate(0.2, 0.2, 9, 9);
    let plain = ShellProperties::uniform(&steel, 0.001);
    let stiff = ShellProperties { stiffening: Some(vec![1.25; mesh.triangles.len()]), ..plain.clone() };
    let [a, b] = [plain, stiff].map(|p| elastic_hz(&assemble(&mesh, &p).unwrap(), 400.0));
    assert!((b[0] / a[0] / 1.25f64.powf(1.5) - 1.0).abs() < 1e-3);
}

/// Zero-area triangles, a needle of nothing, an unused vertex and positions that are not finite: no NaN, and the count of rigid
/// motions is right for what is left.
#[test]
fn degenerate_triangles_do_no_harm() {
    let clean = primitives::plate(0.2, 0.1, 9, 5);
    let truth = elastic_hz(&uniform(&clean, &material("steel"), THICKNESS), 2000.0);
    let mut dirty = clean.clone();
    let base = dirty.positions.len() as u32;
    dirty.positions.extend([
        0.5 * (clean.positions[0] + clean.positions[1]),
        Vec3::new(5.0, 0.0, 0.0),
        Vec3::new(5.0, 0.0, 1e-9),
        Vec3::NAN,
    ]);
    dirty.triangles.extend([[0, base, 1], [0, 0, 1], [3, 4, 4], [base + 1, base + 2, 2], [base + 3, 0, 1]]);
    let body = uniform(&dirty, &material("steel"), THICKNESS);
    assert_eq!(body.skipped_triangles, 5);
    let found = elastic_hz(&body, 2000.0);
    assert_eq!(found.len(), truth.len());
    assert!(worst_error(&found, &truth) < 1e-6);
    let nothing = TriMesh { positions: clean.positions, triangles: vec![[0, 0, 0]] };
    assert!(matches!(
        assemble(&nothing, &ShellProperties::uniform(&material("steel"), THICKNESS)),
        Err(ShellError::NoWall)
    ));
}

/// `½ΣU = ½ω²` splits into bending and stretching: all of the one across a plate, all of the other in it.
#[test]
fn modes_of_a_plate_are_bending_or_stretching() {
    let body = uniform(&primitives::plate(0.1, 0.08, 11, 9), &material("steel"), THICKNESS);
    let pairs = solve(&body.pencil, 30_000.0);
    let shapes = body.translations(&pairs.vectors);
    let energies = body.bending_energies(&pairs.vectors);
    let mut kinds = [0, 0];
    for n in 6..pairs.values.len() {
        let motion = |k: usize| (k..shapes.nrows()).step_by(3).map(|r| shapes[(r, n)].powi(2)).sum::<f64>();
        let across = motion(2) > motion(0) + motion(1);
        let share = energies[n].stiffness / pairs.values[n];
        assert!((share - f64::from(u8::from(across))).abs() < 1e-6, "{share}");
        kinds[usize::from(across)] += 1;
    }
    assert!(kinds[0] > 1 && kinds[1] > 10, "{kinds:?}");
}
