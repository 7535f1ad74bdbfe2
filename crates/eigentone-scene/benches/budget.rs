//! Many bodies: what compression, truncation and quality scaling bring (Raghuvanshi & Lin 2006, Figures 4 and 8).
//!
//! `cargo bench -p eigentone-scene --bench budget [-- --quick]`. 200 plates and bowls fall and bounce. Counted are policy frames
//! of 1024 samples per second of computing; 43 of them are real time at 44.1 kHz. A picture of the active modes over time, for truncation at 0.01 and 2
//! steps of 16-bit audio, goes to the target folder.

use eigentone_core::Noise;
use eigentone_core::event::{Action, Event, Moment};
use eigentone_core::mesh::primitives;
use eigentone_core::model::SiteBlend;
use eigentone_core::{MaterialTable, ModalModel, TriMesh};
use eigentone_modal::{Compression, MeshModelSettings, Progress, model_from_mesh};
use eigentone_plot::{Curve, curves_picture};
use eigentone_synth::BLOCK;
use eigentone_synth::engine as synth_engine;
use eigentone_synth::{BodySettings, Budget, Masking, Quality};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const BODIES: usize = 200;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let models = models();
    let merged: Vec<Arc<ModalModel>> = models.iter().map(|m| Arc::new(Compression::default().apply(m))).collect();
    let count = |models: &[Arc<ModalModel>]| (0..BODIES).map(|i| models[i % models.len()].modes.len()).sum::<usize>();
    println!("{BODIES} bodies, {} modes, {} after compression", count(&models), count(&merged));
    let seconds = if quick { 1.0 } else { 4.0 };
    let step = 20.0 / 32_768.0;
    let plain = Quality::FULL;
    let truncated = Quality { truncation_pa: 2.0 * step, masking: None, budget: None };
    let scaled = Quality { budget: Some(Budget::of(2000)), ..truncated };
    let heard = Quality { masking: Some(Masking::default()), ..scaled };
    let mut runs = Vec::new();
    for (name, models, quality) in [
        ("nothing left out", &models, plain),
        ("compressed and truncated", &merged, truncated),
        ("and at most 2000 modes", &merged, scaled),
        ("and masking", &merged, heard),
    ] {
        let run = fall(models, quality, seconds);
        println!("{name}: {:.0} frames per second, {:.0} modes mixed on average", run.frames_per_s, run.mixed);
        runs.push(run);
    }
    println!("figure budget.fps_plain = {:.0} frames/s", runs[0].frames_per_s);
    println!("figure budget.fps_compressed = {:.0} frames/s", runs[1].frames_per_s);
    println!("figure budget.fps_scaled = {:.0} frames/s", runs[2].frames_per_s);
    assert!(runs[2].mixed_most <= 2000);

    let curves: Vec<Curve> = [0.01, 2.0]
        .map(|tau| {
            let quality = Quality { truncation_pa: tau * step, masking: None, budget: None };
            let points = fall(&merged, quality, if quick { 2.0 } else { 6.0 }).active;
            Curve { name: format!("τ = {tau}"), points }
        })
        .to_vec();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/active-modes.png");
    let picture = curves_picture("modes computed, 200 bodies struck in the first second", "time (s)", "modes", &curves);
    match std::fs::write(&file, picture.png_bytes()) {
        Ok(()) => println!("wrote target/active-modes.png"),
        Err(error) => println!("target/active-modes.png: {error}"),
    }
}

struct Run {
    frames_per_s: f64,
    mixed: f64,
    mixed_most: u64,
    active: Vec<(f64, f64)>,
}

/// All bodies fall within the first second, bouncing five times each.
fn fall(models: &[Arc<ModalModel>], quality: Quality, seconds: f64) -> Run {
    let settings = eigentone_synth::Settings { quality, ..Default::default() };
    let (mut handle, mut processor) = synth_engine(settings).expect("an engine");
    let mut noise = Noise::new(2006);
    for i in 0..BODIES {
        let model = &models[i % models.len()];
        let body = handle.add(&BodySettings::new(model.clone())).expect("room");
        let mut time = noise.uniform();
        for bounce in 0..5 {
            let site = SiteBlend::single((noise.uniform() * model.surface.positions.len() as f64) as u32);
            let size = 0.02 * 0.6f32.powi(bounce);
            let action = Action::Blow { site, impulse_ns: [0.2 * size, 0.1 * size, size], duration_s: 3e-4 };
            handle.send(Event { time: Moment::at(time, 44_100.0), body, action }).expect("room");
            time += 0.2 * 0.6f64.powi(bounce);
        }
    }
    let blocks = (seconds * 44_100.0) as usize / BLOCK;
    let mut active = Vec::new();
    let start = Instant::now();
    for block in 0..blocks {
        processor.next_block();
        if block % 16 == 0 {
            active.push(((block * BLOCK) as f64 / 44_100.0, processor.stats().mixed as f64));
        }
    }
    let elapsed = start.elapsed().as_secs_f64();
    let stats = processor.stats();
    Run {
        frames_per_s: blocks as f64 / 16.0 / elapsed,
        mixed: stats.mixed_sum as f64 / stats.blocks as f64,
        mixed_most: stats.mixed_most,
        active,
    }
}

fn models() -> Vec<Arc<ModalModel>> {
    let materials = MaterialTable::builtin();
    let settings =
        MeshModelSettings { thickness_m: Some(0.002), refine_vertices: 900, max_sites: 200, ..Default::default() };
    let meshes = [
        (primitives::plate(0.3, 0.2, 20, 14), "steel"),
        (primitives::plate(0.25, 0.25, 18, 18), "brass"),
        (primitives::bowl(0.1, 24, 10), "glass"),
    ];
    let make = |(mesh, material): (TriMesh, &str)| {
        let material = materials.get(material).expect("a built-in material");
        Arc::new(model_from_mesh(&mesh, material, &settings, &Progress::silent()).expect("a model"))
    };
    meshes.into_iter().map(make).collect()
}
