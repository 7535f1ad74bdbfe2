//! Soft bodies: what is drawn is what is simulated, and what was simulated can be seen and heard again.

use crate::client::{Client, Fixture, PLATE};
use eigentone_core::Vec3;
use eigentone_modal::Progress;
use eigentone_scene::scene::cache::ModelCache;
use eigentone_scene::scene::{CachedModels, Plan, Room};
use eigentone_scene::{Scene, Stage};
use eigentone_world::Timing;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A cube of jelly whose lower side is 5 cm above the floor.
const JELLY: &str = r#"title = "jelly"
[output]
full_scale_pa = 20
[listener]
position = [0.0, -0.5, 0.1]
[[body]]
name = "floor"
plane = true
[[soft]]
name = "cube"
box = [0.04, 0.04, 0.04]
size_m = 0.02
young = 1e5
poisson = 0.4
density = 1000
phi = 0
psi = 20
position = [0.0, 0.0, 0.07]
"#;

const PATIENCE: Duration = Duration::from_secs(120);

/// A picture as it came: frame, time, step, and the positions over those at rest.
struct Shown {
    frame: u64,
    time_s: f64,
    step_m: f32,
    moved: Vec<Vec3>,
    bytes: Vec<u8>,
}

fn pictures(page: &mut Client<'_>) -> Vec<Shown> {
    let taken = std::mem::take(&mut page.packets);
    taken.iter().filter(|p| p[0] == 12).map(|p| shown(p)).collect()
}

fn shown(p: &[u8]) -> Shown {
    let f32_at = |at: usize| f32::from_le_bytes(p[at..at + 4].try_into().unwrap());
    let count = u32::from_le_bytes(p[32..36].try_into().unwrap()) as usize;
    assert_eq!(p.len(), 56 + 6 * count, "as long as it says");
    let step_m = f32_at(36);
    let offset = [40, 44, 48].map(|at| f64::from(f32_at(at)));
    let i16_at = |at: usize| f64::from(i16::from_le_bytes(p[at..at + 2].try_into().unwrap()));
    let moved = (0..count).map(|v| {
        let coordinate = |k: usize| offset[k] + f64::from(step_m) * i16_at(56 + 6 * v + 2 * k);
        Vec3::new(coordinate(0), coordinate(1), coordinate(2))
    });
    Shown {
        frame: u64::from_le_bytes(p[8..16].try_into().unwrap()),
        time_s: f64::from_le_bytes(p[16..24].try_into().unwrap()),
        step_m,
        moved: moved.collect(),
        bytes: p[24..].to_vec(),
    }
}

/// Waits until the newest word on the time is what is wanted.
fn transport(page: &mut Client<'_>, wanted: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let last = page.events.iter().rev().find(|e| e["event"] == "transport");
        if let Some(last) = last.filter(|e| wanted(e)) {
            return last.clone();
        }
        assert!(begin.elapsed() < PATIENCE, "{last:?}");
        page.next(Duration::from_secs(5));
    }
}

fn simulate_until(page: &mut Client<'_>, time_s: f64) {
    transport(page, |t| t["end_s"].as_f64().is_some_and(|end| end >= time_s));
}

/// Forgets what is known of the time, so that only news count.
fn forget(page: &mut Client<'_>) {
    page.events.retain(|e| e["event"] != "transport");
}

/// Listens at a quarter of real time: what is heard depends on frames that were rendered, not on how fast this machine is. False if this thread was not let run for so long that frames were passed over.
fn hear_slowly(page: &mut Client<'_>, frames: usize) -> bool {
    page.sound.clear();
    (page.next_frame, page.gaps) = (None, 0);
    while page.sound.len() < frames {
        let wanted = page.sound.len() + 128;
        page.send_text(&json!({ "do": "credit", "frames": 128 }).to_string());
        let begin = Instant::now();
        while page.sound.len() < wanted && begin.elapsed() < PATIENCE {
            page.next(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(9));
    }
    page.gaps == 0
}

/// The drawn vertices are those of an offline run of the same scene at the same time, to half a step of 32767 and the rounding of f32.
#[test]
fn a_picture_is_the_surface_that_is_simulated() {
    let fixture = Fixture::new(JELLY);
    let mut page = fixture.connect();
    let id = page.id("cube");
    let (status, mesh) = fixture.http("GET", &format!("/api/mesh/{id}"), b"");
    assert_eq!(status, 200);
    simulate_until(&mut page, 0.3);
    // Of what is simulated faster than it is seen, the picture comes later.
    let begin = Instant::now();
    let picture = loop {
        if let Some(picture) = pictures(&mut page).into_iter().rfind(|p| p.time_s > 0.15) {
            break picture;
        }
        assert!(begin.elapsed() < PATIENCE, "no pictures come");
        page.next(Duration::from_millis(100));
    };

    let scene = Scene::parse(JELLY, fixture.folder.path(), "jelly.toml").unwrap();
    let (cache, silent) = (ModelCache::none(), Progress::silent());
    let plan = Plan::draft(&scene, &cache, &silent).unwrap();
    let room = Room {
        timing: Timing::Offline,
        full_scale_pa: 20.0,
        more_bodies: 0,
        modes_per_body: 16,
        models: Arc::new(CachedModels { cache: cache.clone() }),
    };
    let (stage, _out) = Stage::with_room(&scene, &plan, &room, &silent).unwrap();
    let (mut world, key) = (stage.world, stage.softs[0]);
    while world.time_s() < picture.time_s - 1e-9 {
        world.single_step();
    }
    let nodes = world.body(key).unwrap().soft.as_ref().unwrap().body.surface().1;
    let (_, body) = world.soft_world().unwrap().bodies().next().unwrap();
    let positions: Vec<Vec3> = body.positions().collect();
    assert_eq!(nodes.len(), picture.moved.len());
    let mut fell = 0.0f64;
    for (vertex, node) in nodes.iter().enumerate() {
        let at = |k: usize| f32::from_le_bytes(mesh[8 + 12 * vertex + 4 * k..][..4].try_into().unwrap());
        let rest = Vec3::new(f64::from(at(0)), f64::from(at(1)), f64::from(at(2)));
        let error = (rest + picture.moved[vertex] - positions[*node as usize]).abs().max_element();
        assert!(error <= 0.5 * f64::from(picture.step_m) + 1e-7, "vertex {vertex} is off by {error} m");
        fell = fell.max(-picture.moved[vertex].z);
    }
    assert!(fell > 0.02, "it fell by {fell} m");
    assert!(picture.step_m < 0.05 / 32767.0, "a step of {} m", picture.step_m);
}

/// Paused, the picture stands; sought, it is the one of then; gone on with from a snapshot of then, everything happens again bit for bit.
#[test]
fn pause_seek_and_simulating_again_give_the_same_pictures() {
    let fixture = Fixture::new(JELLY);
    let mut page = fixture.connect();
    simulate_until(&mut page, 0.6);
    let first: BTreeMap<u64, Vec<u8>> =
        pictures(&mut page).into_iter().map(|p| (p.time_s.to_bits(), p.bytes)).collect();
    assert!(first.len() >= 5, "{} pictures", first.len());
    page.must(json!({ "do": "play", "on": false }));
    page.must(json!({ "do": "seek", "time_s": 0.3 }));
    forget(&mut page);
    transport(&mut page, |t| t["time_s"] == 0.3);
    pictures(&mut page);
    let begin = Instant::now();
    let mut still = Vec::new();
    while still.len() < 10 && begin.elapsed() < PATIENCE {
        page.next(Duration::from_secs(5));
        still.extend(pictures(&mut page));
    }
    for picture in &still {
        assert!(picture.time_s <= 0.3 + 1e-9 && picture.time_s > 0.3 - 0.034, "{}", picture.time_s);
        assert_eq!(picture.bytes, still[0].bytes);
        if let Some(before) = first.get(&picture.time_s.to_bits()) {
            assert_eq!(before, &picture.bytes, "the picture of then");
        }
    }
    // A step moves the world on from the snapshot at 0.25 s: what came after is simulated anew.
    page.must(json!({ "do": "step" }));
    forget(&mut page);
    let now = transport(&mut page, |t| t["end_s"].is_number());
    assert!(now["end_s"].as_f64().unwrap() < 0.3, "{now}");
    page.must(json!({ "do": "play", "on": true }));
    pictures(&mut page);
    simulate_until(&mut page, 0.6);
    let again = pictures(&mut page);
    let known = again.iter().filter(|p| p.time_s > 0.3 && first.contains_key(&p.time_s.to_bits()));
    let same: Vec<bool> = known.map(|p| first[&p.time_s.to_bits()] == p.bytes).collect();
    assert!(same.len() >= 2 && same.iter().all(|same| *same), "{same:?}");
}

/// What was simulated is heard in real time when it is played again, twice the same, and in step with the picture: a cube that falls h metres is heard √(2h/g) s later.
#[test]
fn it_sounds_the_same_again_and_in_step_with_the_picture() {
    let fixture = Fixture::new(JELLY);
    let mut page = fixture.connect();
    simulate_until(&mut page, 0.45);
    page.must(json!({ "do": "play", "on": false }));
    page.must(json!({ "do": "audio", "lead": 128 }));
    let lands_s = (2.0 * 0.05f64 / 9.81).sqrt();
    let mut heard = Vec::new();
    for _ in 0..20 {
        if heard.len() == 2 {
            break;
        }
        page.must(json!({ "do": "seek", "time_s": 0.0 }));
        page.must(json!({ "do": "play", "on": true }));
        pictures(&mut page);
        let whole = hear_slowly(&mut page, 20_000);
        page.must(json!({ "do": "play", "on": false }));
        if !whole {
            continue;
        }
        let first_frame = page.next_frame.unwrap() - page.sound.len() as u64;
        let peak = page.sound.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        assert!(peak > 1e-6, "it is heard");
        let onset = page.sound.iter().position(|x| x.abs() > 0.05 * peak).unwrap();
        // The frame at which the picture of the landing is due: stamps are those of the first picture that is not earlier.
        let shown = pictures(&mut page);
        let due = shown.iter().find(|p| p.time_s >= lands_s).map(|p| p.frame).expect("the landing is shown");
        let late_s = (first_frame + onset as u64) as f64 / 44_100.0 - due as f64 / 44_100.0;
        // Pictures are 1/30 s apart and sent 31 times a second.
        assert!(late_s.abs() < 0.08, "the sound is {late_s:.3} s late");
        heard.push(page.sound[onset.saturating_sub(500)..(onset + 6000).min(page.sound.len())].to_vec());
    }
    let n = heard[0].len().min(heard[1].len());
    let energy = |x: &[f32]| x.iter().map(|v| f64::from(v * v)).sum::<f64>();
    let alike = (-200i64..=200)
        .map(|lag| {
            let (a, b) = (&heard[0][200..n - 200], &heard[1][(200 + lag) as usize..(n as i64 - 200 + lag) as usize]);
            let dot: f64 = a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum();
            dot / (energy(a) * energy(b)).sqrt()
        })
        .fold(0.0, f64::max);
    // Not to the bit: blocks of the listener's filters begin at another frame.
    assert!(alike > 0.999, "correlation {alike}");
}

/// Time can be sought where it was simulated, and only in scenes with soft bodies.
#[test]
fn seeking_is_bounded() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let refused = page.ask(json!({ "do": "seek", "time_s": 0.1 }));
    assert!(refused["ok"] == false && !refused["hint"].as_str().unwrap().is_empty(), "{refused}");
    let fixture = Fixture::new(JELLY);
    let mut page = fixture.connect();
    simulate_until(&mut page, 0.1);
    page.must(json!({ "do": "play", "on": false }));
    forget(&mut page);
    let end_s = transport(&mut page, |t| t["simulating"] == false)["end_s"].as_f64().unwrap();
    assert!(page.must(json!({ "do": "seek", "time_s": 1e300 }))["time_s"].as_f64().unwrap() >= end_s);
    assert_eq!(page.must(json!({ "do": "seek", "time_s": -1e300 }))["time_s"], 0.0);
    page.must(json!({ "do": "reset" }));
    forget(&mut page);
    transport(&mut page, |t| t["end_s"] == 0.0);
}
