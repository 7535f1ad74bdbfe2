//! Thin and thick bodies, as a modelling tool exports them, against independent solid solutions (`reference/`).
//!
//! Every tessellation with default settings: the first fifteen elastic modes, sorted, twins counted twice, within 3 %.
//! `cargo test --release -p eigentone-modal --test accuracy -- --nocapture` prints the rows of the table in `docs/accuracy.md`.

#[path = "zoo/bodies.rs"]
mod bodies;
#[path = "zoo/revolved.rs"]
mod revolved;

use bodies::{Body, Tessellation, bodies};
use eigentone_modal::{MeshModelSettings, Progress, model_from_mesh};

const TOLERANCE: f64 = 0.03;

/// What was found for one mesh.
struct Row {
    mean: f64,
    /// Signed error of the worst mode; infinite if modes are missing.
    worst: f64,
    /// Mass over density times the mesh's own volume, for closed meshes.
    mass: Option<f64>,
    method: String,
}

fn measure(body: &Body, case: &Tessellation) -> Row {
    let settings = MeshModelSettings { thickness_m: case.thickness_m, ..Default::default() };
    let model = model_from_mesh(&case.mesh, &body.material, &settings, &Progress::silent())
        .unwrap_or_else(|error| panic!("{}, {}: {error}", body.name, case.name));
    let errors: Vec<f64> = (0..body.modes_hz.len())
        .map(|n| model.modes.get(n).map_or(f64::INFINITY, |m| m.frequency_hz / body.modes_hz[n] - 1.0))
        .collect();
    let volume = case.thickness_m.is_none().then(|| case.mesh.signed_volume());
    Row {
        mean: errors.iter().map(|e| e.abs()).sum::<f64>() / errors.len() as f64,
        worst: errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(f64::INFINITY),
        mass: volume.zip(model.info.mass_kg).map(|(v, m)| m / (v * body.material.density_kg_m3)),
        method: model.info.method.to_string(),
    }
}

fn within_tolerance(name: &str) {
    let body = bodies().into_iter().find(|b| b.name == name).unwrap_or_else(|| panic!("no reference for {name}"));
    let mut wrong = Vec::new();
    for case in body.tessellations() {
        let row = measure(&body, &case);
        println!(
            "| {name} | {} | {} | {} | {:.2} % | {:+.2} % |",
            case.name,
            case.mesh.triangles.len(),
            row.method,
            100.0 * row.mean,
            100.0 * row.worst
        );
        if row.worst.abs() > TOLERANCE {
            wrong.push(format!("{}: worst of fifteen modes {:+.1} %", case.name, 100.0 * row.worst));
        }
        if row.mass.is_some_and(|mass| (mass - 1.0).abs() > 0.01) {
            wrong.push(format!("{}: mass times {:.4}", case.name, row.mass.unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}

#[test]
fn a_tube_is_within_three_percent() {
    within_tolerance("tube");
}

#[test]
fn a_hemisphere_is_within_three_percent() {
    within_tolerance("hemisphere");
}

#[test]
fn a_cup_is_within_three_percent() {
    within_tolerance("cup");
}

#[test]
fn a_pan_is_within_three_percent() {
    within_tolerance("pan");
}

#[test]
fn a_bell_of_uneven_thickness_is_within_three_percent() {
    within_tolerance("bell");
}

#[test]
fn a_wine_bowl_is_within_three_percent() {
    within_tolerance("wine bowl");
}

#[test]
fn a_hollow_box_is_within_three_percent() {
    within_tolerance("box");
}

/// The meshes themselves: closed where they should be, and their volume that of the reference within the chords' share.
#[test]
fn the_meshes_are_those_bodies() {
    for body in bodies() {
        for case in body.tessellations() {
            let report = case.mesh.report();
            assert_eq!(report.watertight, case.thickness_m.is_none(), "{}, {}", body.name, case.name);
            let volume = case.thickness_m.map_or(case.mesh.signed_volume(), |t| t * case.mesh.area());
            let error = volume / body.volume_m3 - 1.0;
            println!("{}, {}: volume {:+.2} %", body.name, case.name, 100.0 * error);
            assert!(error.abs() < 0.015, "{}, {}: volume {:+.2} %", body.name, case.name, 100.0 * error);
        }
    }
}
