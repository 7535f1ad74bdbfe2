//! Scenes live: they play without a device, and go back to where they were.

use eigentone_core::contact::ContactFrame;
use eigentone_modal::Progress;
use eigentone_scene::scene::cache::ModelCache;
use eigentone_scene::scene::{Live, Plan, PlayOptions, Scene, Stage, play_headless};
use eigentone_world::{Timing, World};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn shipped(name: &str) -> Scene {
    Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name)).unwrap()
}

fn frames(world: &mut World, steps: usize) -> Vec<ContactFrame> {
    (0..steps).for_each(|_| world.single_step());
    world.drain_frames().collect()
}

/// In every shipped scene without soft bodies: stepping on from a restored snapshot gives the same contact frames and the same events as if nothing had happened, bit for bit.
#[test]
fn every_scene_goes_on_from_where_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name()).collect();
    names.sort();
    let mut tried = 0;
    for name in names.iter().filter_map(|n| n.to_str()).filter(|n| n.ends_with(".toml")) {
        let mut scene = shipped(name);
        if scene.bodies.is_empty() || !scene.softs.is_empty() {
            continue;
        }
        // What sounds is not what is looked at; models would take their time.
        scene.acoustics = None;
        let plan = Plan::new(&scene, &ModelCache::standard(), &Progress::silent()).unwrap();
        let (mut stage, _out) = Stage::new(&scene, &plan, Timing::Offline, 20.0, &Progress::silent()).unwrap();
        let world = &mut stage.world;
        world.set_recording(true);
        frames(world, 240);
        world.drain_events().for_each(drop);
        let snapshot = world.snapshot();
        let (expected, events) = (frames(world, 240), world.drain_events().collect::<Vec<_>>());
        world.restore(&snapshot).unwrap();
        world.drain_frames().for_each(drop);
        world.drain_events().for_each(drop);
        let (found, again) = (frames(world, 240), world.drain_events().collect::<Vec<_>>());
        assert!(expected == found, "{name}: other frames");
        assert!(events == again, "{name}: other events");
        tried += 1;
    }
    assert!(tried >= 9, "{tried} scenes");
}

/// Every bit of where the nodes of soft bodies are and how they move.
fn soft_bits(world: &World) -> Vec<u64> {
    let soft = world.soft_world().unwrap();
    let all = soft.bodies().flat_map(|(_, body)| body.positions().chain(body.velocities()).collect::<Vec<_>>());
    all.flat_map(|v| v.to_array().map(f64::to_bits)).collect()
}

/// In every shipped scene with soft bodies, on coarser meshes and with bodies brought near each other so that they touch within milliseconds (the whole scenes take minutes): stepping on from a restored snapshot, taken
/// during a contact or before, gives the same nodes, contact frames and events as if nothing had happened, bit for bit.
#[test]
fn every_soft_scene_goes_on_from_where_it_was() {
    let cases = [("jelly", 2.0, 0.0523), ("bar", 2.0, 0.0), ("bowl", 1.6, 0.0755), ("drum", 1.6, 0.0135)];
    for (name, coarser, nearer_m) in cases {
        let mut scene = shipped(&format!("{name}.toml"));
        for soft in &mut scene.softs {
            let held = soft.name == "skin" || soft.name == "bar";
            // A skin of less than one element would not be felt.
            soft.size_m = soft.size_m.map(|size| if soft.name == "skin" { size } else { coarser * size });
            soft.position[2] -= if held { 0.0 } else { nearer_m };
        }
        let plan = Plan::new(&scene, &ModelCache::standard(), &Progress::silent()).unwrap();
        let (mut stage, _out) = Stage::new(&scene, &plan, Timing::Offline, 20.0, &Progress::silent()).unwrap();
        let world = &mut stage.world;
        world.set_recording(true);
        let go = |world: &mut World, steps: usize| {
            let nodes: Vec<_> = (0..steps)
                .map(|_| {
                    world.single_step();
                    soft_bits(world)
                })
                .collect();
            (nodes, world.drain_frames().collect::<Vec<_>>(), world.drain_events().collect::<Vec<_>>())
        };
        let begin = world.snapshot();
        let touched = go(world, 8).2.len();
        let (middle, middle_s) = (world.snapshot(), world.time_s());
        let expected = go(world, 16);
        world.end_soft_contacts();
        let times: Vec<f64> = expected.2.iter().cloned().chain(world.drain_events()).map(|e| e.time_s).collect();
        println!("{name}: {touched} contacts were over before 17 ms, others began at {times:?} s");
        assert!(!times.is_empty(), "{name}: nothing touched");
        let during = times.iter().any(|t| *t < middle_s);
        assert!(during, "{name}: no contact lasted while the snapshot was taken");
        for _ in 0..2 {
            world.restore(&middle).unwrap();
            let found = go(world, 16);
            assert!(expected.0 == found.0, "{name}: other nodes");
            assert!(expected.1 == found.1 && expected.2 == found.2, "{name}: other frames or events");
        }
        // From further back, over a body that was gone meanwhile.
        world.remove(stage.softs[0]).unwrap();
        (0..3).for_each(|_| world.single_step());
        world.restore(&begin).unwrap();
        world.drain_frames().for_each(drop);
        go(world, 8);
        assert!(expected == go(world, 16), "{name}: other steps from the beginning");
    }
}

/// Against the clock, without a device: blocks are asked for at the right pace, and it reports what it took.
#[test]
fn a_scene_plays_without_a_device() {
    let options = PlayOptions { seconds: Some(1.0), cache: ModelCache::standard(), ..PlayOptions::default() };
    let stop = Arc::new(AtomicBool::new(false));
    let report = play_headless(&shipped("squeal.toml"), &options, &stop, &Progress::silent()).unwrap();
    let expected = report.seconds * 44_100.0 / 256.0;
    assert!((report.blocks as f64 - expected).abs() < 0.1 * expected, "{report:?}");
    assert!(report.modes_mixed_mean > 0.0 && report.latency_ms > 30.0, "{report:?}");
}

/// Live and in turns, a scene that is over begins anew: the second time is as the first.
#[test]
fn a_scene_begins_anew() {
    let mut scene = shipped("wood.toml");
    scene.duration_s = 0.5;
    let options = PlayOptions { cache: ModelCache::standard(), ..PlayOptions::default() };
    let (mut live, mut out) = Live::new(&scene, &options, None, &Progress::silent()).unwrap();
    let mut block = [0.0; 512];
    let mut heights = Vec::new();
    for _ in 0..2 * (0.5 * 44_100.0 / 256.0) as usize {
        live.advance(256.0 / 44_100.0).unwrap();
        out.process(&mut block, 2);
        let world = &live.stage().world;
        let lowest = world.bodies().map(|(_, b)| b.position.z).fold(f64::INFINITY, f64::min);
        heights.push((world.time_s(), lowest));
    }
    let first = heights.iter().position(|h| h.0 > 0.2).unwrap();
    let again = heights.iter().rposition(|h| h.0 < heights[first].0 - 1e-9).unwrap() + 1;
    assert!(again > first + 20, "time went back: {first} {again}");
    assert_eq!(heights[again], heights[first]);
}
