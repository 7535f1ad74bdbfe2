//! Spring-mass surfaces against plate, beam and ring theory.

use eigentone_core::mesh::primitives;
use eigentone_core::{Material, MaterialTable, Method, TriMesh, Vec3};
use eigentone_modal::analytic::ritz_free_plate;
use eigentone_modal::eigen::{self, Band, Eigenpairs, Pencil};
use eigentone_modal::springs::{ShellSettings, Springs, assemble, mesh_limit_hz};
use eigentone_modal::{MeshModelSettings, MethodChoice, Progress, model_from_mesh};
use std::f64::consts::TAU;

fn steel() -> Material {
    // Plate theory's tables are for ν = 0.3.
    Material { poisson: 0.3, ..MaterialTable::builtin().get("steel").unwrap().clone() }
}

fn pencil(mesh: &TriMesh, material: &Material, thickness_m: f64, bending: bool) -> Pencil {
    assemble(mesh, material, &ShellSettings { thickness_m, springs: Springs::AreaWeighted, bending }).unwrap()
}

fn solve(pencil: &Pencil, highest_hz: f64) -> Eigenpairs {
    let band = Band { upper: (TAU * highest_hz).powi(2), most: usize::MAX };
    eigen::solve(pencil, band, &Progress::silent()).unwrap()
}

fn hertz(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.max(0.0).sqrt() / TAU).collect()
}

/// Moves inner vertices at random within half a cell; those on the rim slide along it.
fn jitter(mut mesh: TriMesh, nx: usize, ny: usize, size: [f64; 2]) -> TriMesh {
    let mut state = 1u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    for (n, p) in mesh.positions.iter_mut().enumerate() {
        let (i, j) = (n % nx, n / nx);
        let (dx, dy) = (noise(), noise());
        if i > 0 && i < nx - 1 {
            p.x += 0.5 * dx * size[0] / (nx - 1) as f64;
        }
        if j > 0 && j < ny - 1 {
            p.y += 0.5 * dy * size[1] / (ny - 1) as f64;
        }
    }
    mesh
}

/// Σm = ρ·t·area, on a curved and a jittered mesh.
#[test]
fn masses_sum_to_density_times_thickness_times_area() {
    let plate = jitter(primitives::plate(0.3, 0.2, 30, 20), 30, 20, [0.3, 0.2]);
    for mesh in [plate, primitives::bowl(0.1, 32, 10), primitives::bell(0.1, 0.12, 24, 12)] {
        let truth = steel().density_kg_m3 * 0.002 * mesh.area();
        assert!((pencil(&mesh, &steel(), 0.002, true).total_mass() / truth - 1.0).abs() < 1e-9);
    }
}

/// With springs alone a flat plate of N vertices has N + 3 motions that cost nothing.
#[test]
fn springs_alone_leave_a_plate_mute() {
    let mesh = primitives::plate(0.3, 0.2, 12, 9);
    let p = pencil(&mesh, &steel(), 0.002, false);
    let values = solve(&p, 1e7).values;
    let largest = values.iter().fold(0.0, |a: f64, &b| a.max(b));
    assert_eq!(values.iter().filter(|&&v| v < 1e-8 * largest).count(), mesh.positions.len() + 3);
}

/// With bending exactly six remain, on flat, folded and curved surfaces.
#[test]
fn bending_leaves_exactly_the_six_rigid_motions() {
    let meshes = [
        primitives::plate(0.3, 0.2, 12, 9),
        primitives::cuboid(Vec3::new(0.2, 0.04, 0.03), [8, 2, 2]),
        primitives::cylinder(0.05, 0.06, 32, 4, false),
        primitives::bowl(0.1, 16, 6),
    ];
    for mesh in meshes {
        let values = solve(&pencil(&mesh, &steel(), 0.002, true), 1e7).values;
        let largest = values.iter().fold(0.0, |a: f64, &b| a.max(b));
        assert_eq!(values.iter().filter(|&&v| v < 1e-8 * largest).count(), 6);
    }
}

/// A free steel plate of 30 × 20 vertices, 0.3 × 0.2 m, 2 mm, against Ritz: first six within 5 %, first eight within 7 %,
/// for alternating diagonals and for a jittered mesh; and with the default settings, which refine the mesh.
#[test]
fn a_free_plate_has_the_frequencies_of_plate_theory() {
    let d = steel().bending_stiffness_n_m(0.002);
    let truth = ritz_free_plate(0.3, 0.2, d, steel().density_kg_m3 * 0.002, 0.3, 8);
    let regular = primitives::plate(0.3, 0.2, 30, 20);
    for mesh in [regular.clone(), jitter(regular, 30, 20, [0.3, 0.2])] {
        let raw = hertz(&solve(&pencil(&mesh, &steel(), 0.002, true), 1000.0).values)[6..].to_vec();
        let settings = MeshModelSettings { thickness_m: Some(0.002), highest_hz: 5000.0, ..Default::default() };
        let model = model_from_mesh(&mesh, &steel(), &settings, &Progress::silent()).unwrap();
        let refined: Vec<f64> = model.modes.iter().map(|m| m.frequency_hz).collect();
        for found in [&raw, &refined] {
            for (n, truth) in truth.iter().enumerate() {
                let error = found[n] / truth - 1.0;
                assert!(error.abs() < if n < 6 { 0.05 } else { 0.07 }, "mode {n}: {} against {truth}", found[n]);
            }
        }
    }
}

/// The number of bending modes below the mesh's limit is that of plate theory within 6 %: no motion of the mesh alone (a zigzag from
/// vertex to vertex) passes for a mode. Every one of the first 28 is within 5 %.
#[test]
fn no_spurious_modes_below_the_mesh_limit() {
    let d = steel().bending_stiffness_n_m(0.002);
    let truth = ritz_free_plate(0.3, 0.2, d, steel().density_kg_m3 * 0.002, 0.3, 100);
    let mut bisected = primitives::plate(0.3, 0.2, 2, 2);
    bisected.refine(0.012, 5000);
    let regular = primitives::plate(0.3, 0.2, 30, 20);
    for mesh in [regular.clone(), jitter(regular, 30, 20, [0.3, 0.2]), bisected] {
        let limit = mesh_limit_hz(mesh.report().mean_edge_m, &steel(), 0.002).min(5500.0);
        let pairs = solve(&pencil(&mesh, &steel(), 0.002, true), limit);
        let vertices = mesh.positions.len();
        let energy = |c: usize, k: usize| (0..vertices).map(|n| pairs.vectors[(3 * n + k, c)].powi(2)).sum::<f64>();
        let bending: Vec<f64> = hertz(&pairs.values)
            .into_iter()
            .enumerate()
            .filter(|&(c, f)| f > 1.0 && energy(c, 2) > energy(c, 0) + energy(c, 1))
            .map(|(_, f)| f)
            .collect();
        let expected = truth.iter().filter(|&&f| f < limit).count();
        assert!((bending.len() as f64 / expected as f64 - 1.0).abs() < 0.06, "{} of {expected}", bending.len());
        for (found, truth) in bending.iter().zip(&truth).take(28) {
            assert!((found / truth - 1.0).abs() < 0.05, "{found} against {truth}");
        }
    }
}

/// The square plate's first eight modes, ω a² √(ρh/D) = 13.468 19.596 24.270 34.801 (twice) 61.093 (twice) 63.686, within 5 %.
#[test]
fn a_square_plate_has_its_published_frequencies() {
    let thickness = 0.002;
    let mesh = primitives::plate(0.25, 0.25, 24, 24);
    let settings = MeshModelSettings { thickness_m: Some(thickness), highest_hz: 3000.0, ..Default::default() };
    let model = model_from_mesh(&mesh, &steel(), &settings, &Progress::silent()).unwrap();
    let unit =
        (steel().bending_stiffness_n_m(thickness) / (steel().density_kg_m3 * thickness)).sqrt() / (0.25 * 0.25 * TAU);
    for (mode, truth) in model.modes.iter().zip([13.468, 19.596, 24.270, 34.801, 34.801, 61.093, 61.093, 63.686]) {
        let found = mode.frequency_hz / unit;
        assert!((found / truth - 1.0).abs() < 0.05, "{found} against {truth}");
    }
}

/// A xylophone bar as a flat strip of 60 × 8 vertices, 0.35 × 0.04 m, 20 mm: the first four bending modes within 1.5 % of
/// Euler–Bernoulli. Bending modes are those whose displacement is even across the width.
#[test]
fn a_strip_is_a_bar() {
    let wood = Material { young_pa: 16e9, density_kg_m3: 1000.0, poisson: 0.3, ..steel() };
    let (length, thickness) = (0.35, 0.02);
    let mesh = primitives::plate(length, 0.04, 60, 8);
    let pairs = solve(&pencil(&mesh, &wood, thickness, true), 9000.0);
    let bending: Vec<f64> = hertz(&pairs.values)
        .into_iter()
        .enumerate()
        .skip(6)
        .filter(|&(c, _)| {
            let z = |i: usize, j: usize| pairs.vectors[(3 * (j * 60 + i) + 2, c)];
            let total: f64 = (0..480).map(|n| pairs.vectors[(3 * n + 2, c)].abs()).sum();
            let even: f64 = (0..60).map(|i| (0..8).map(|j| z(i, j)).sum::<f64>().abs()).sum();
            let out_of_plane: f64 = (0..480).map(|n| pairs.vectors[(3 * n + 2, c)].powi(2)).sum();
            let in_plane: f64 =
                (0..480).map(|n| pairs.vectors[(3 * n, c)].powi(2) + pairs.vectors[(3 * n + 1, c)].powi(2)).sum();
            even > 0.5 * total && out_of_plane > in_plane
        })
        .map(|(_, f)| f)
        .collect();
    for (n, beta) in [4.730_040_74, 7.853_204_62, 10.995_607_8, 14.137_165_5f64].into_iter().enumerate() {
        let truth = beta * beta / (TAU * length * length)
            * (wood.young_pa * thickness * thickness / (12.0 * wood.density_kg_m3)).sqrt();
        assert!((bending[n] / truth - 1.0).abs() < 0.015, "mode {n}: {} against {truth}", bending[n]);
    }
}

/// The lowest pair of a steel tube, R = 50 mm, L = 60 mm, t = 2 mm, is the n = 2 ring mode, 498 Hz (thin ring) to 522 Hz (plane
/// strain).
#[test]
fn a_tube_has_its_ring_mode() {
    for mesh in [primitives::cylinder(0.05, 0.06, 32, 4, false), primitives::cylinder(0.05, 0.06, 64, 9, false)] {
        let f = hertz(&solve(&pencil(&mesh, &steel(), 0.002, true), 2000.0).values);
        assert!((480.0..540.0).contains(&f[6]) && (480.0..540.0).contains(&f[7]), "{:?}", &f[6..8]);
    }
}

/// Pieces that do not touch ring on their own: two plates have every mode twice, and twelve rigid motions.
#[test]
fn separate_pieces_have_six_rigid_motions_each() {
    let one = primitives::plate(0.3, 0.2, 14, 10);
    let mut two = one.clone();
    let mut other = one.clone();
    other.transform(glam::DQuat::from_rotation_x(0.7), Vec3::new(0.0, 0.0, 1.0));
    two.append(&other);
    let alone = hertz(&solve(&pencil(&one, &steel(), 0.002, true), 2000.0).values);
    let together = hertz(&solve(&pencil(&two, &steel(), 0.002, true), 2000.0).values);
    assert_eq!(together.len(), 2 * alone.len());
    for (n, f) in alone.iter().enumerate().skip(6) {
        assert!((together[2 * n] / f - 1.0).abs() < 1e-9 && (together[2 * n + 1] / f - 1.0).abs() < 1e-9);
    }
    let settings = MeshModelSettings {
        method: MethodChoice::Springs,
        thickness_m: Some(0.002),
        refine_vertices: 0,
        highest_hz: 2000.0,
        ..Default::default()
    };
    let model = model_from_mesh(&two, &steel(), &settings, &Progress::silent()).unwrap();
    assert!(!model.info.warnings.iter().any(|w| w.contains("cost no energy")), "{:?}", model.info.warnings);
    assert_eq!(model.modes.len(), 2 * (alone.len() - 6));
}

/// A fin across a plate, a triangle hanging by one corner and a soup of unwelded triangles: all sound, and what is odd is said.
#[test]
fn any_soup_sounds() {
    let mut soup = TriMesh::default();
    let plate = primitives::plate(0.2, 0.1, 12, 7);
    for t in 0..plate.triangles.len() {
        let base = soup.positions.len() as u32;
        soup.positions.extend(plate.corners(t));
        // Every other triangle faces the other way.
        soup.triangles.push(if t % 2 == 0 { [base, base + 1, base + 2] } else { [base, base + 2, base + 1] });
    }
    let settings = MeshModelSettings { method: MethodChoice::Springs, thickness_m: Some(0.002), ..Default::default() };
    let mended = model_from_mesh(&soup, &steel(), &settings, &Progress::silent()).unwrap();
    let whole = model_from_mesh(&plate, &steel(), &settings, &Progress::silent()).unwrap();
    assert_eq!(mended.info.method, Method::Springs);
    assert!((mended.modes[0].frequency_hz / whole.modes[0].frequency_hz - 1.0).abs() < 0.02);

    let mut hanging = plate;
    let corner = hanging.positions[0];
    hanging.positions.extend([corner + Vec3::new(-0.02, 0.0, 0.01), corner + Vec3::new(-0.02, -0.01, 0.0)]);
    hanging.triangles.push([0, 84, 85]);
    let raw = MeshModelSettings { refine_vertices: 0, ..settings };
    let model = model_from_mesh(&hanging, &steel(), &raw, &Progress::silent()).unwrap();
    assert!(model.modes.len() > 10);
}

/// The paper's own springs (`k = E t`) are an option: on a regular grid, in-plane modes are off, bending modes are not.
#[test]
fn uniform_springs_are_an_option() {
    let mesh = primitives::plate(0.3, 0.2, 20, 14);
    let uniform =
        assemble(&mesh, &steel(), &ShellSettings { thickness_m: 0.002, springs: Springs::Uniform, bending: true })
            .unwrap();
    let f = hertz(&solve(&uniform, 500.0).values);
    let g = hertz(&solve(&pencil(&mesh, &steel(), 0.002, true), 500.0).values);
    assert!((f[6] / g[6] - 1.0).abs() < 1e-6);
    assert_ne!(uniform.entries(), 0);
}

/// `auto` takes an open surface for a shell, says so, and says which thickness it assumed.
#[test]
fn an_open_surface_is_a_shell() {
    let settings = MeshModelSettings { highest_hz: 3000.0, ..Default::default() };
    let model = model_from_mesh(&primitives::bowl(0.06, 24, 8), &steel(), &settings, &Progress::silent()).unwrap();
    assert_eq!(model.info.method, Method::Shell);
    let said = [model.info.notes, model.info.warnings].concat().join("; ");
    assert!(said.contains("an open shell") && said.contains("no thickness given"), "{said}");
    let refused = MeshModelSettings { method: MethodChoice::Solid, ..settings };
    model_from_mesh(&primitives::bowl(0.06, 24, 8), &steel(), &refused, &Progress::silent()).unwrap_err();
}
