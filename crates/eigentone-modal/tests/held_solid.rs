//! Solids that are held, against beam theory.

use eigentone_core::mesh::primitives;
use eigentone_core::{Material, MaterialTable, TriMesh, Vec3};
use eigentone_modal::Progress;
use eigentone_modal::eigen::{self, Band};
use eigentone_modal::solid::cells::{CellBody, Cells, Grid};
use eigentone_modal::solid::distance::DistanceTree;
use eigentone_modal::solid::element::Elasticity;
use eigentone_modal::solid::frame::Frame;
use eigentone_modal::supports::{SPRING, Support, Supports, hold_cells, hold_cells_with};
use std::f64::consts::TAU;

const BAR: Vec3 = Vec3::new(0.2, 0.012, 0.008);

fn steel() -> Material {
    MaterialTable::builtin().get("steel").unwrap().clone()
}

fn cells(mesh: &TriMesh, edge: f64) -> CellBody {
    let grid = Grid::new(Frame::of(mesh), Vec3::splat(edge));
    let cells = Cells::classify(grid, mesh, &DistanceTree::new(mesh), &Progress::silent());
    cells.assemble(&Elasticity::isotropic(&steel()), &Progress::silent())
}

fn hertz(body: &CellBody, highest_hz: f64) -> Vec<f64> {
    let band = Band { upper: (TAU * highest_hz).powi(2), most: usize::MAX };
    let values = eigen::solve(&body.pencil, band, &Progress::silent()).unwrap().values;
    values.iter().map(|v| v.max(0.0).sqrt() / TAU).collect()
}

/// A bar and where it is clamped, at some rotation.
fn clamped_bar(q: glam::DQuat) -> (TriMesh, Supports) {
    let mut mesh = primitives::cuboid(BAR, [40, 3, 2]);
    mesh.transform(q, Vec3::new(0.1, 0.2, 0.3));
    let point = q * Vec3::new(-0.5 * BAR.x, 0.0, 0.0) + Vec3::new(0.1, 0.2, 0.3);
    (mesh, Support::ClampedSide { point, normal: q * Vec3::X, distance_m: 1e-6 }.into())
}

/// A steel bar 200 × 12 × 8 mm clamped at one face, straight and at an angle: first bending both ways, βL = 1.8751, and second,
/// 4.6941, within 2 % of the beam (which has neither shear nor a clamp that gives way).
#[test]
fn a_clamped_bar_is_a_cantilever() {
    let beam = |beta: f64, thickness: f64| {
        beta * beta / (TAU * BAR.x * BAR.x)
            * (steel().young_pa * thickness * thickness / (12.0 * steel().density_kg_m3)).sqrt()
    };
    let truth = [beam(1.875_10, BAR.z), beam(1.875_10, BAR.y), beam(4.694_09, BAR.z), beam(4.694_09, BAR.y)];
    for q in [glam::DQuat::IDENTITY, glam::DQuat::from_scaled_axis(Vec3::new(0.3, -1.1, 0.7))] {
        let (mesh, supports) = clamped_bar(q);
        let mut body = cells(&mesh, 0.01);
        assert_eq!(hold_cells(&mut body, &mesh, &supports), 0);
        let found = hertz(&body, 2000.0);
        for (f, t) in found.iter().zip(truth) {
            assert!((f / t - 1.0).abs() < 0.02, "{found:?} {truth:?}");
        }
    }
}

/// What springs leave of a rigid clamp falls with their stiffness, ten times stiffer by ten; the default is within 0.05 %, and no mode
/// appears or is lost.
#[test]
fn the_springs_that_hold_a_solid_are_stiff_enough() {
    let (mesh, supports) = clamped_bar(glam::DQuat::IDENTITY);
    let at = |spring: f64| {
        let mut body = cells(&mesh, 0.01);
        hold_cells_with(&mut body, &mesh, &supports, spring);
        hertz(&body, 5000.0)
    };
    let found = [1e-1, 1.0, 1e1, 1e2].map(|factor| at(factor * SPRING));
    let change = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
    };
    let changes: Vec<f64> = found.windows(2).map(|w| change(&w[0], &w[1])).collect();
    assert!(changes[1] < 5e-4, "{changes:?}");
    assert!(changes.windows(2).all(|c| (0.05..0.2).contains(&(c[1] / c[0]))), "{changes:?}");
}

/// Hung by a point three rotations remain; on three feet two displacements and one rotation.
#[test]
fn rigid_motions_follow_the_supports() {
    let mesh = primitives::cuboid(Vec3::new(0.1, 0.08, 0.06), [4, 4, 4]);
    let [low, high] = mesh.bounds().unwrap();
    let feet = vec![low, Vec3::new(high.x, low.y, low.z), Vec3::new(low.x, high.y, low.z)];
    let cases: [(Supports, usize); 4] = [
        (Supports::default(), 6),
        (Support::Hanging { point: high }.into(), 3),
        (Support::Feet { points: feet.clone() }.into(), 3),
        (Support::Points { points: feet, radius_m: 0.001 }.into(), 0),
    ];
    for (supports, expected) in cases {
        let mut body = cells(&mesh, 0.03);
        assert_eq!(hold_cells(&mut body, &mesh, &supports), expected);
        let found = hertz(&body, 40_000.0);
        let rigid = found.iter().filter(|&&f| f < 1.0).count();
        assert_eq!(rigid, expected, "{:?}", &found[..8]);
    }
}
