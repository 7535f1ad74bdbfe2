//! Any mesh: it can be heard, or the refusal names a cause and a way out.

#[path = "zoo/defects.rs"]
mod defects;
#[path = "zoo/judge.rs"]
mod judge;
#[path = "zoo/revolved.rs"]
mod revolved;
#[path = "zoo/shapes.rs"]
mod shapes;

use defects::DEFECTS;
use eigentone_core::{MaterialTable, TriMesh};
use eigentone_modal::Detail::Draft;
use eigentone_modal::{MeshModelSettings, Progress, model_from_mesh};
use judge::{WayOut, ends_early, faults, way_out};
use rayon::prelude::*;
use shapes::{Detail, SHAPES};
use std::time::Instant;

const MATERIALS: [&str; 5] = ["steel", "glass", "aluminium", "bronze", "ceramic"];

/// Shapes that are shown with every defect: closed, open, two skins, flat, re-entrant, without an inside.
const WITH_DEFECTS: [&str; 8] = ["box", "sphere", "tube", "bowl", "plate", "L block", "hollow box", "tumbler"];

struct Exhibit {
    name: String,
    material: &'static str,
    mesh: TriMesh,
}

fn zoo() -> Vec<Exhibit> {
    let mut zoo = Vec::new();
    let mut add = |name: String, mesh: TriMesh| {
        let material = MATERIALS[zoo.len() % MATERIALS.len()];
        zoo.push(Exhibit { name, material, mesh });
    };
    for (shape, make) in SHAPES {
        for detail in Detail::ALL {
            add(format!("{shape}, {detail:?}"), make(detail));
        }
    }
    for (shape, make) in SHAPES.into_iter().filter(|(shape, _)| WITH_DEFECTS.contains(shape)) {
        for (k, (defect, spoil)) in DEFECTS.into_iter().enumerate() {
            let detail = if k % 2 == 0 { Detail::Coarse } else { Detail::Long };
            add(format!("{shape}, {detail:?}, {defect}"), spoil(make(detail)));
        }
    }
    zoo
}

/// A first draft, with few contact sites.
fn draft() -> MeshModelSettings {
    MeshModelSettings { detail: Draft, max_sites: 128, ..Default::default() }
}

enum Outcome {
    Sounded,
    /// Refused, and after what the refusal asked for it sounded, or only a person can do that.
    Refused,
    Wrong(Vec<String>),
}

fn show(exhibit: &Exhibit) -> Outcome {
    let settings = draft();
    let band = [settings.lowest_hz, settings.highest_hz];
    let build = |mesh: &TriMesh, settings: &MeshModelSettings| {
        let material = MaterialTable::builtin().get(exhibit.material).unwrap().clone();
        model_from_mesh(mesh, &material, settings, &Progress::silent())
    };
    let refusal = match build(&exhibit.mesh, &settings) {
        Ok(model) => {
            let mut faults = faults(&model, band);
            if exhibit.mesh.diagonal() < 2.0 {
                faults.extend(ends_early(&model));
            }
            return if faults.is_empty() { Outcome::Sounded } else { Outcome::Wrong(faults) };
        }
        Err(refusal) => refusal,
    };
    let retry = |mesh: &TriMesh, settings: &MeshModelSettings| match build(mesh, settings) {
        Ok(model) => faults(&model, band),
        Err(again) => vec![format!("refused with “{refusal}”, and after that with “{again}”")],
    };
    let faults = match way_out(&refusal.to_string()) {
        None => vec![format!("refused without a way out: “{refusal}”")],
        Some(WayOut::Words) => Vec::new(),
        Some(WayOut::Scale(factor)) => {
            let mut mesh = exhibit.mesh.clone();
            mesh.scale(factor);
            retry(&mesh, &settings)
        }
        Some(WayOut::Thickness(thickness)) => {
            retry(&exhibit.mesh, &MeshModelSettings { thickness_m: Some(thickness), ..settings.clone() })
        }
    };
    if faults.is_empty() { Outcome::Refused } else { Outcome::Wrong(faults) }
}

/// Over two hundred meshes: shapes, tessellations and defects. `ZOO=tube` shows only those with “tube” in their name.
#[test]
fn every_mesh_sounds_or_is_refused_with_a_way_out() {
    let wanted = std::env::var("ZOO").unwrap_or_default();
    let zoo: Vec<Exhibit> = zoo().into_iter().filter(|e| e.name.contains(&wanted)).collect();
    let outcomes: Vec<(f64, Outcome)> = zoo
        .par_iter()
        .map(|exhibit| {
            let started = Instant::now();
            let outcome = show(exhibit);
            (started.elapsed().as_secs_f64(), outcome)
        })
        .collect();
    let (mut sounded, mut refused, mut wrong) = (0, 0, Vec::new());
    for (exhibit, (seconds, outcome)) in zoo.iter().zip(&outcomes) {
        match outcome {
            Outcome::Sounded => sounded += 1,
            Outcome::Refused => refused += 1,
            Outcome::Wrong(faults) => {
                wrong.push(format!("{} ({}): {}", exhibit.name, exhibit.material, faults.join("; ")))
            }
        }
        if *seconds > 5.0 {
            println!("{seconds:.1} s: {}", exhibit.name);
        }
    }
    println!("zoo: {} meshes, {sounded} sounded, {refused} refused with a way out, {} wrong", zoo.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The zoo is as large as it says, and everything in it is finite.
#[test]
fn the_zoo_has_over_two_hundred_meshes() {
    let zoo = zoo();
    assert!(zoo.len() >= 200, "{}", zoo.len());
    for exhibit in &zoo {
        assert!(!exhibit.mesh.triangles.is_empty(), "{}", exhibit.name);
        assert!(exhibit.mesh.positions.iter().all(|p| p.is_finite()), "{}", exhibit.name);
        assert!(exhibit.mesh.triangles.len() < 12_000, "{}: {}", exhibit.name, exhibit.mesh.triangles.len());
    }
}

/// The judge itself: refusals with and without a way out.
#[test]
fn a_way_out_is_read_from_a_refusal() {
    let large =
        "the body is 173 m across, more than the 50 m that can be modelled; if it is in millimetres, scale it by 0.001";
    assert_eq!(way_out(large), Some(WayOut::Scale(0.001)));
    assert_eq!(way_out("no walls were found; give it a thickness of 2 mm"), Some(WayOut::Thickness(0.002)));
    assert_eq!(way_out("the surface does not close; make it a shell with a thickness"), Some(WayOut::Words));
    assert_eq!(way_out("no mode lies between 20 and 22000 Hz"), None);
}
