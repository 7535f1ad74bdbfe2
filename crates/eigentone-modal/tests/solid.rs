//! Solids against beam and sphere theory.

use eigentone_core::mesh::primitives;
use eigentone_core::{Material, MaterialTable, Method, ModalModel, TetMesh, TriMesh, Vec3};
use eigentone_modal::analytic::timoshenko_free_bar;
use eigentone_modal::eigen::{self, Band};
use eigentone_modal::solid::tets::{self, Order};
use eigentone_modal::{MeshModelSettings, MethodChoice, Progress, model_from_mesh, model_from_tets};
use std::f64::consts::TAU;

const BAR: Vec3 = Vec3::new(0.2, 0.02, 0.01);

fn steel() -> Material {
    MaterialTable::builtin().get("steel").unwrap().clone()
}

fn rotations() -> impl Iterator<Item = glam::DQuat> {
    [Vec3::ZERO, Vec3::new(0.3, -1.1, 0.7), Vec3::new(-2.0, 0.4, 1.3)].into_iter().map(glam::DQuat::from_scaled_axis)
}

fn rotated(mesh: &TriMesh, q: glam::DQuat) -> TriMesh {
    let mut mesh = mesh.clone();
    mesh.transform(q, Vec3::new(0.5, -0.2, 0.1));
    mesh
}

/// Frequencies of a bar's modes by kind: share of the motion along each of its own axes.
fn by_axis(model: &ModalModel, q: glam::DQuat) -> [Vec<f64>; 3] {
    let mut kinds: [Vec<f64>; 3] = Default::default();
    for (n, mode) in model.modes.iter().enumerate() {
        let share = (0..model.shapes.sites())
            .map(|s| {
                let u = q.inverse() * model.shapes.get(s, n);
                u * u
            })
            .sum::<Vec3>();
        let total = share.element_sum();
        for k in 0..3 {
            if share[k] > 0.75 * total {
                kinds[k].push(mode.frequency_hz);
            }
        }
    }
    kinds
}

/// A steel bar 200 × 20 × 10 mm at any rotation, default settings: first bending 1285.6 and 2506.5 Hz (Timoshenko) within 2 %,
/// first longitudinal 12 619 Hz within 1 %.
#[test]
fn a_solid_bar_has_timoshenkos_frequencies() {
    let mesh = primitives::cuboid(BAR, [20, 2, 1]);
    let thin = timoshenko_free_bar(BAR.x, BAR.z, &steel(), 1)[0];
    let wide = timoshenko_free_bar(BAR.x, BAR.y, &steel(), 1)[0];
    assert!((thin - 1285.6).abs() < 0.1 && (wide - 2506.5).abs() < 0.1, "{thin} {wide}");
    for q in rotations() {
        let model =
            model_from_mesh(&rotated(&mesh, q), &steel(), &MeshModelSettings::default(), &Progress::silent()).unwrap();
        assert_eq!(model.info.method, Method::Solid);
        assert!((model.info.mass_kg.unwrap() / (7850.0 * 4e-5) - 1.0).abs() < 0.005);
        let [along, across, through] = by_axis(&model, q);
        assert!((through[0] / thin - 1.0).abs() < 0.02, "{through:?}");
        assert!((across[0] / wide - 1.0).abs() < 0.02, "{across:?}");
        assert!((along[0] / 12_619.0 - 1.0).abs() < 0.01, "{along:?}");
    }
}

/// Rigid motions and their count do not depend on cut cells: a bar of triangles that is off every grid line.
#[test]
fn a_sphere_has_its_lowest_torsional_mode() {
    let radius = 0.05;
    let settings = MeshModelSettings { highest_hz: 40_000.0, max_modes: 12, ..Default::default() };
    let truth = 2.501 * (steel().shear_pa() / steel().density_kg_m3).sqrt() / (TAU * radius);
    for q in rotations().take(2) {
        let mesh = rotated(&primitives::sphere(radius, 64, 32), q);
        let model = model_from_mesh(&mesh, &steel(), &settings, &Progress::silent()).unwrap();
        // Five-fold: the torsional modes of order two.
        for mode in &model.modes[..5] {
            assert!((mode.frequency_hz / truth - 1.0).abs() < 0.02, "{} against {truth}", mode.frequency_hz);
        }
        assert!(!model.info.warnings.iter().any(|w| w.contains("cost no energy")), "{:?}", model.info.warnings);
    }
}

/// Small holes and flipped triangles do not matter.
#[test]
fn a_damaged_bar_is_still_a_bar() {
    let mut mesh = rotated(&primitives::cuboid(BAR, [40, 4, 2]), rotations().nth(1).unwrap());
    mesh.triangles.drain(10..13);
    mesh.triangles[100].swap(0, 1);
    let model = model_from_mesh(&mesh, &steel(), &MeshModelSettings::default(), &Progress::silent()).unwrap();
    assert_eq!(model.info.method, Method::Solid);
    assert!((model.modes[0].frequency_hz / 1285.6 - 1.0).abs() < 0.02, "{}", model.modes[0].frequency_hz);
}

/// A closed can with a wall of a thousandth of its size cannot be a solid: `auto` says so and makes a shell.
#[test]
fn a_wall_too_thin_for_cells_becomes_a_shell() {
    let mut can = primitives::cylinder(0.1, 0.2, 48, 12, true);
    let mut inner = primitives::cylinder(0.0998, 0.1996, 48, 12, true);
    inner.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    can.append(&inner);
    let settings = MeshModelSettings { max_modes: 20, max_vertices: 1500, refine_vertices: 1500, ..Default::default() };
    let model = model_from_mesh(&can, &steel(), &settings, &Progress::silent()).unwrap();
    assert_eq!(model.info.method, Method::Shell);
    let said = [model.info.notes, model.info.warnings].concat().join("; ");
    assert!(said.contains("walls of 0.20 mm") && said.contains("half the measured wall"), "{said}");
    let solid = MeshModelSettings { method: MethodChoice::Solid, ..settings };
    assert!(model_from_mesh(&can, &steel(), &solid, &Progress::silent()).is_err());
}

/// A bar cut into tetrahedra.
fn tet_bar(cells: [usize; 3]) -> TetMesh {
    TetMesh::block(BAR, cells)
}

fn tet_frequencies(cells: [usize; 3], order: Order, material: &Material) -> Vec<[f64; 4]> {
    let mesh = tet_bar(cells);
    let body = tets::assemble(&mesh, material, order);
    let pairs =
        eigen::solve(&body.pencil, Band { upper: (TAU * 16_000.0).powi(2), most: 40 }, &Progress::silent()).unwrap();
    (0..pairs.values.len())
        .map(|c| {
            let mut share = [0.0; 3];
            for n in 0..mesh.positions.len() {
                (0..3).for_each(|k| share[k] += pairs.vectors[(3 * n + k, c)].powi(2));
            }
            let total: f64 = share.iter().sum();
            [pairs.values[c].max(0.0).sqrt() / TAU, share[0] / total, share[1] / total, share[2] / total]
        })
        .collect()
}

fn first(modes: &[[f64; 4]], axis: usize) -> f64 {
    modes.iter().find(|m| m[0] > 50.0 && m[1 + axis] > 0.75).unwrap()[0]
}

/// F rows 23 and 24: linear tetrahedra are right along the bar and too stiff across it, less so when refined.
#[test]
fn linear_tetrahedra_lock_in_bending_and_converge() {
    let material = Material { poisson: 0.3, ..steel() };
    let c0 = (material.young_pa / material.density_kg_m3).sqrt();
    let euler = 4.730_040_74f64.powi(2) / (TAU * BAR.x * BAR.x) * c0 * BAR.z / 12f64.sqrt();
    let mut before = f64::INFINITY;
    for cells in [[20, 2, 1], [20, 2, 2], [40, 4, 4]] {
        let modes = tet_frequencies(cells, Order::Linear, &material);
        assert_eq!(modes.iter().filter(|m| m[0] < 1.0).count(), 6);
        let longitudinal = first(&modes, 0) / (c0 / (2.0 * BAR.x));
        assert!((longitudinal - 1.0).abs() < 0.01, "{longitudinal}");
        let bending = first(&modes, 2) / euler;
        assert!(bending > 1.0 && bending < before, "{cells:?}: {bending}");
        before = bending;
    }
    assert!(before < 1.15, "{before}");
}

/// Quadratic tetrahedra need one layer: 10 × 1 × 1 cells are within 1 % of Timoshenko.
#[test]
fn quadratic_tetrahedra_do_not_lock() {
    let modes = tet_frequencies([10, 1, 1], Order::Quadratic, &steel());
    for (axis, truth) in [(2, 1285.6), (1, 2506.5), (0, 12_619.0)] {
        let found = first(&modes, axis);
        assert!((found / truth - 1.0).abs() < 0.01, "{found} against {truth}");
    }
    let model =
        model_from_tets(&tet_bar([10, 1, 1]), &steel(), &MeshModelSettings::default(), &Progress::silent()).unwrap();
    assert!((model.modes[0].frequency_hz / 1285.6 - 1.0).abs() < 0.01);
    assert_eq!(model.shapes.sites(), model.surface.positions.len());
}
