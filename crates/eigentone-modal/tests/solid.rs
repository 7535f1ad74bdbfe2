//! Solids against beam and sphere theory.

use eigentone_core::mesh::primitives;
use eigentone_core::{Material, MaterialTable, Method, ModalModel, TetMesh, TriMesh, Vec3};
use eigentone_modal::Supports;
use eigentone_modal::analytic::timoshenko_free_bar;
use eigentone_modal::eigen::{self, Band};
use eigentone_modal::solid::tets::{self, Order};
use eigentone_modal::solid::{self, element::Elasticity, model::SolidLimits};
use eigentone_modal::{Detail, MeshModelSettings, MethodChoice, Progress, model_from_mesh, model_from_tets};
use faer::Mat;
use faer::linalg::solvers::Solve;
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

/// The torsional modes of order two of a sphere have `ωR/c_S = 2.5011`, within 0.5 %.
#[test]
fn the_torsion_of_a_sphere_is_exact_to_half_a_percent() {
    let radius = 0.05;
    let settings = MeshModelSettings { highest_hz: 40_000.0, max_modes: 12, ..Default::default() };
    let shear = (steel().shear_pa() / steel().density_kg_m3).sqrt();
    let model =
        model_from_mesh(&primitives::sphere(radius, 128, 64), &steel(), &settings, &Progress::silent()).unwrap();
    for mode in &model.modes[..5] {
        let found = TAU * mode.frequency_hz * radius / shear;
        assert!((found / 2.5011 - 1.0).abs() < 0.005, "{found}");
    }
}

/// A steel cube of 1 m, given as 12 triangles, against a Ritz method with Legendre polynomials of degree 12.
#[test]
fn a_cube_has_the_modes_of_a_ritz_method() {
    let cube = primitives::cuboid(Vec3::ONE, [1; 3]);
    let settings = MeshModelSettings { detail: Detail::Fine, highest_hz: 7000.0, ..Default::default() };
    let model = model_from_mesh(&cube, &steel(), &settings, &Progress::silent()).unwrap();
    let truth = [1428.4, 1428.4, 1922.2, 1922.2, 1922.2, 1955.8, 1955.8, 1955.8];
    for (mode, truth) in model.modes.iter().zip(truth) {
        assert!((mode.frequency_hz / truth - 1.0).abs() < 0.005, "{} against {truth}", mode.frequency_hz);
    }
    assert!((model.modes.len() as f64 / 193.0 - 1.0).abs() < 0.1, "{}", model.modes.len());
}

/// The first twenty modes of a draft are within 2 % of those of a normal model, and the notes say where modes end and why.
#[test]
fn a_draft_agrees_with_the_normal_model() {
    let mut body = primitives::sphere(0.5, 40, 20);
    body.positions.iter_mut().for_each(|p| *p *= 1.0 + 0.3 * (5.0 * p.x + 1.0).sin() * (4.0 * p.y).cos());
    for mesh in [primitives::cuboid(Vec3::new(1.0, 0.8, 0.6), [1; 3]), body] {
        let [draft, normal] = [Detail::Draft, Detail::Normal].map(|detail| {
            let settings = MeshModelSettings { detail, ..Default::default() };
            model_from_mesh(&mesh, &steel(), &settings, &Progress::silent()).unwrap()
        });
        for (a, b) in draft.modes.iter().zip(&normal.modes).take(20) {
            assert!((a.frequency_hz / b.frequency_hz - 1.0).abs() < 0.02, "{} {}", a.frequency_hz, b.frequency_hz);
        }
        assert!(draft.modes.len() >= 60 && normal.modes.len() > draft.modes.len());
        assert!(normal.info.notes.iter().any(|n| n.contains("modes end at") && n.contains("band of hearing")));
    }
}

/// A spruce bar along its grain, turned in space: first bending by Timoshenko's beam with E_L, G_LR and a shear factor of 5/6, 3 %.
#[test]
fn an_orthotropic_bar_bends_with_its_moduli_along_the_grain() {
    let (length, width, height) = (0.3, 0.02, 0.02);
    let (density, along, shear) = (420.0, 11.0e9, 0.70e9);
    // Compliances of Sitka spruce (Wood Handbook): E_L, E_R, E_T; ν_LR, ν_LT, ν_RT; G_RT, G_LT, G_LR.
    let (radial, tangential) = (0.86e9, 0.47e9);
    let mut compliance = Mat::<f64>::zeros(6, 6);
    for (i, e) in [along, radial, tangential].into_iter().enumerate() {
        compliance[(i, i)] = 1.0 / e;
    }
    for (i, j, nu, e) in [(0, 1, 0.37, along), (0, 2, 0.47, along), (1, 2, 0.43, radial)] {
        compliance[(i, j)] = -nu / e;
        compliance[(j, i)] = -nu / e;
    }
    for (i, g) in [(3, 0.033e9), (4, 0.67e9), (5, shear)] {
        compliance[(i, i)] = 1.0 / g;
    }
    let inverse = compliance.partial_piv_lu().solve(Mat::<f64>::identity(6, 6));
    let own = Elasticity {
        stiffness_pa: std::array::from_fn(|i| std::array::from_fn(|j| inverse[(i, j)])),
        density_kg_m3: density,
    };
    let q = glam::DQuat::from_scaled_axis(Vec3::new(0.3, -1.1, 0.7));
    let mesh = rotated(&primitives::cuboid(Vec3::new(length, width, height), [15, 1, 1]), q);
    let elasticity = own.in_frame(glam::DMat3::from_quat(q.inverse()));
    let limits = SolidLimits {
        detail: Detail::Normal,
        reach: 1.4,
        highest_hz: 6000.0,
        max_modes: 40,
        max_sites: 200,
        cell_m: None,
        max_unknowns: 45_000,
    };
    let modes = solid::model::solve(&mesh, &elasticity, &limits, &Supports::default(), &Progress::silent()).unwrap();
    let bending = |shear_pa: f64| free_timoshenko(length, height, density, along, shear_pa);
    let found: Vec<f64> = modes.values.iter().skip(6).take(2).map(|v| v.sqrt() / TAU).collect();
    // Across the radial and the tangential direction.
    let mut truth = [bending(shear), bending(0.67e9)];
    truth.sort_by(f64::total_cmp);
    for (found, truth) in found.iter().zip(truth) {
        assert!((found / truth - 1.0).abs() < 0.03, "{found} against {truth}");
    }
}

/// First bending frequency of a free bar of square section by Timoshenko's theory. The isotropic solver knows E and `κG` only, with
/// `κG = 5E/(12 + 11ν)`; the ν that makes it `5G/6` stands for the modulus along the grain.
fn free_timoshenko(length: f64, height: f64, density: f64, young_pa: f64, shear_pa: f64) -> f64 {
    let poisson = (6.0 * young_pa / shear_pa - 12.0) / 11.0;
    let material = Material { young_pa, density_kg_m3: density, poisson, ..steel() };
    timoshenko_free_bar(length, height, &material, 1)[0]
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

/// A closed can with a wall of a thousandth of its size cannot be a solid: `auto` models its walls along their middle, and says how thick they are.
#[test]
fn a_wall_too_thin_for_cells_is_modelled_along_its_middle() {
    let mut can = primitives::cylinder(0.1, 0.2, 48, 12, true);
    let mut inner = primitives::cylinder(0.0998, 0.1996, 48, 12, true);
    inner.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    can.append(&inner);
    let settings = MeshModelSettings { max_modes: 20, max_vertices: 1500, refine_vertices: 1500, ..Default::default() };
    let model = model_from_mesh(&can, &steel(), &settings, &Progress::silent()).unwrap();
    assert_eq!(model.info.method, Method::Walls);
    let said = [model.info.notes, model.info.warnings].concat().join("; ");
    assert!(said.contains("walls 0.20 mm thick"), "{said}");
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

/// Linear tetrahedra are right along the bar and too stiff across it, less so when refined.
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
