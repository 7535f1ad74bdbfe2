//! Surfaces, resonators and modes, shaped while they sound.

use crate::client::{Client, Fixture, PLATE, dominant_hz, read_back, rms};
use eigentone_scene::scene::{RenderOptions, render};
use serde_json::{Value, json};
use std::path::Path;

/// A steel bar that is held back on a belt of bumps: it stays where it is, and what runs below it is not heard by itself.
const SCRAPE: &str = r#"title = "scrape"
duration_s = 3
[output]
full_scale_pa = 200
[quality]
truncation_pa = 0
[listener]
position = [0, 0, 1]
look = [0, 1, 0]
[[body]]
name = "belt"
box = [200, 1, 0.1]
kinematic = true
velocity = [-0.3, 0, 0]
silent = true
surface = "concrete"
position = [99, 0, -0.05]
[[body]]
name = "other belt"
box = [1, 1, 0.1]
fixed = true
silent = true
surface = "concrete"
position = [0, 0, -5]
[[body]]
name = "bar"
box = [0.3, 0.1, 0.02]
material = "steel"
method = "solid"
detail = "draft"
position = [0, 0, 0.0101]
drive = { velocity = [1e-6, 0, 0], force_n = 500 }
"#;

fn rendered(file: &Path) -> Vec<f32> {
    let scene = read_back(file);
    let rendering = render(&scene, &RenderOptions::default(), &eigentone_modal::Progress::silent()).unwrap();
    let [left, _] = rendering.channels;
    left
}

/// The amplitude of one frequency in a sound.
fn level_at(sound: &[f32], hz: f64) -> f64 {
    let n = sound.len() as f64;
    let (mut re, mut im) = (0.0, 0.0);
    for (i, x) in sound.iter().enumerate() {
        let window = 0.5 - 0.5 * (std::f64::consts::TAU * i as f64 / n).cos();
        let (sin, cos) = (std::f64::consts::TAU * hz * i as f64 / 44_100.0).sin_cos();
        (re, im) = (re + f64::from(*x) * window * cos, im - f64::from(*x) * window * sin);
    }
    4.0 * re.hypot(im) / n
}

/// A blow in a corner region where no low mode has a node, from its onset on.
fn struck(page: &mut Client<'_>, body: u64, frames: usize) -> Vec<f32> {
    page.sound.clear();
    page.must(json!({ "do": "strike", "body": body, "at": [0.037, 0.029, 0], "impulse_ns": 0.01, "mallet": "rubber" }));
    let sound = page.hear_on(frames + 16_384);
    let peak = sound.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
    let onset = sound.iter().position(|x| x.abs() > 0.1 * peak).unwrap();
    page.must(json!({ "do": "hold", "body": body, "on": true }));
    page.hear(22_050);
    page.must(json!({ "do": "hold", "body": body, "on": false }));
    page.hear(4096);
    sound[onset.min(16_384)..][..frames].to_vec()
}

/// Twice the roughness is twice the force: +6.02 dB, live as far as noise can tell and in the saved scene sample by sample. Only bodies that use the surface's name change; undo restores the library's.
#[test]
fn twice_the_roughness_is_twice_the_scrape() {
    let fixture = Fixture::new(SCRAPE);
    let mut page = fixture.connect();
    let (belt, other) = (page.id("belt"), page.id("other belt"));
    page.event(|e| e["event"] == "scene");
    let bar = page.id("bar");
    page.event(|e| {
        let of = |body: &Value| body["id"] == bar && body["provisional"] == false;
        e["body"].is_object() && of(&e["body"]) || e["bodies"].as_array().is_some_and(|all| all.iter().any(of))
    });
    page.listen();
    page.hear(66_150);
    let plain = rendered(&fixture.file());
    let before = rms(&page.hear(176_400));
    for (k, roughness) in [1.2, 1.6, 2.0].into_iter().enumerate() {
        let answer =
            page.must(json!({ "do": "surface", "body": belt, "gesture": 5, "set": { "roughness": roughness } }));
        assert_eq!(
            (answer["surface"].as_str(), answer["bodies"].as_u64()),
            (Some("my concrete"), Some(1)),
            "change {k}"
        );
    }
    page.hear(22_050);
    let after = rms(&page.hear(176_400));
    let db = 20.0 * (after / before).log10();
    assert!((db - 6.02).abs() < 1.5, "{db} dB live, from {before} to {after}");
    let info = fixture.get_json(&format!("/api/surface/{belt}"));
    assert_eq!(
        (info["own"].as_bool(), info["like"].as_str(), info["texture"]["roughness"].as_f64()),
        (Some(true), Some("concrete"), Some(2.0))
    );
    assert!(
        info["sketch"]["height"].as_array().unwrap().len() > 100
            && info["sketch"]["level_db"].as_array().unwrap().len() > 40
    );
    assert_eq!(fixture.get_json(&format!("/api/surface/{other}"))["name"], "concrete", "others keep theirs");
    assert!(fixture.get_json("/api/surfaces").as_array().unwrap().contains(&json!("my concrete")));

    page.must(json!({ "do": "save" }));
    let text = std::fs::read_to_string(fixture.file()).unwrap();
    assert!(text.contains("like = \"concrete\"") && text.contains("roughness = 2"), "{text}");
    let rough = rendered(&fixture.file());
    assert!(rms(&plain) > 1e-6);
    let worst = plain.iter().zip(&rough).map(|(a, b)| (2.0 * a - b).abs()).fold(0.0, f32::max);
    let peak = rough.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
    assert!(20.0 * f64::from(worst / peak).log10() < -80.0, "off by {worst} of {peak}");

    let history = page.event(|e| e["event"] == "history" && e["undo"] == 1);
    assert_eq!(history["label"], "surface", "three changes of one gesture are one step");
    page.must(json!({ "do": "undo" }));
    let info = fixture.get_json(&format!("/api/surface/{belt}"));
    assert_eq!((info["name"].as_str(), info["texture"]["roughness"].as_f64()), (Some("concrete"), Some(1.0)));
    page.must(json!({ "do": "redo" }));
    assert_eq!(fixture.get_json(&format!("/api/surface/{belt}"))["name"], "my concrete");
}

/// A surface that two bodies share is changed for both, unless one wants its own; nonsense is refused and nothing has changed.
#[test]
fn a_surface_belongs_to_all_that_use_its_name() {
    let fixture = Fixture::new(SCRAPE);
    let mut page = fixture.connect();
    let (belt, other) = (page.id("belt"), page.id("other belt"));
    page.must(json!({ "do": "surface", "body": belt, "set": { "friction": 0.3 } }));
    page.must(json!({ "do": "set", "body": other, "surface": "my concrete" }));
    let answer = page.must(json!({ "do": "surface", "body": belt, "set": { "profile": { "rough": { "grain_m": 0.01 } }, "low_pass": { "order": 2 } } }));
    assert_eq!(answer["bodies"], 2);
    let of = |body: u64| fixture.get_json(&format!("/api/surface/{body}"));
    for body in [belt, other] {
        let texture = &of(body)["texture"];
        assert_eq!(
            (texture["low_pass"]["order"].as_u64(), texture["friction"].as_f64().map(|f| (f * 1e6).round() / 1e6)),
            (Some(2), Some(0.3))
        );
        assert!((texture["profile"]["rough"]["grain_m"].as_f64().unwrap() - 0.01).abs() < 1e-6);
    }
    assert_eq!(of(belt)["others"], json!(["other belt"]));
    page.must(json!({ "do": "surface", "body": other, "own": true, "set": { "friction": 0.9 } }));
    assert_eq!((of(belt)["name"].as_str(), of(other)["name"].as_str()), (Some("my concrete"), Some("my concrete 2")));
    let text = String::from_utf8(fixture.http("GET", "/api/scene.toml", b"").1).unwrap();
    for wrong in [
        json!({ "friction": -1 }),
        json!({ "colour": 3 }),
        json!({ "low_pass": { "slip": [] } }),
        json!({ "profile": { "recorded": {} } }),
        json!({ "name": "x" }),
    ] {
        let answer = page.ask(json!({ "do": "surface", "body": belt, "set": wrong }));
        assert!(answer["ok"] == false && !answer["error"].as_str().unwrap().is_empty(), "{answer}");
    }
    assert_eq!(String::from_utf8(fixture.http("GET", "/api/scene.toml", b"").1).unwrap(), text);
    eigentone_scene::Scene::parse(&text, fixture.folder.path(), "scene").unwrap();
}

fn png(width: u32, height: u32, grey: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().unwrap().write_image_data(grey).unwrap();
    bytes
}

/// A picture over the bar, black on its left half and white on its right one, as rough as two: a contact under the middle of the left half is silent. All white with a factor of two is the same as a roughness of two, sample by sample. The picture is saved beside the scene, and `render` reads it.
#[test]
fn a_picture_makes_places_rough_and_smooth() {
    let scene = SCRAPE.replace("surface = \"concrete\"\n", "");
    let scene = scene.replace("name = \"bar\"", "name = \"bar\"\nsurface = \"concrete\"");
    let fixture = Fixture::new(&scene);
    let mut page = fixture.connect();
    let bar = page.id("bar");
    let plain = rendered(&fixture.file());
    assert!(rms(&plain) > 1e-6);
    let lay = |grey: &[u8], query: &str| {
        let path = format!("/api/map?body={bar}&name=worn.png&{query}");
        let (status, body) = fixture.http("POST", &path, &png(grey.len() as u32, 1, grey));
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    };
    lay(&[255, 255], "dark=0&bright=2");
    page.must(json!({ "do": "save" }));
    let twice = rendered(&fixture.file());
    let peak = twice.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
    let worst = plain.iter().zip(&twice).map(|(a, b)| (2.0 * a - b).abs()).fold(0.0, f32::max);
    assert!(20.0 * f64::from(worst / peak).log10() < -80.0, "off by {worst} of {peak}");
    let map = read_back(&fixture.file()).bodies[2].surface_map.clone().unwrap();
    assert!(map.image.starts_with("uploads/") && fixture.folder.path().join(&map.image).is_file(), "{map:?}");
    assert_eq!(fixture.http("GET", &format!("/api/map/{bar}"), b""), (200, png(2, 1, &[255, 255])));

    // Of the four corners it stands on, the two on the dark side are silent.
    lay(&[0, 255], "dark=0&bright=1");
    page.must(json!({ "do": "save" }));
    let half = rendered(&fixture.file());
    assert!(rms(&half) < 0.9 * rms(&plain) && rms(&half) > 0.1 * rms(&plain), "{} of {}", rms(&half), rms(&plain));
    page.must(json!({ "do": "surface_map", "body": bar, "bright": 0 }));
    page.must(json!({ "do": "save" }));
    let none = rendered(&fixture.file());
    assert!(rms(&none[22_050..]) < 1e-3 * rms(&plain), "{} of {}", rms(&none), rms(&plain));

    page.must(json!({ "do": "undo" }));
    assert_eq!(page.body("bar")["map"]["bright"], 1.0);
    page.must(json!({ "do": "surface_map", "body": bar, "remove": true }));
    assert_eq!(fixture.http("GET", &format!("/api/map/{bar}"), b"").0, 404);
    let (status, _) = fixture.http("POST", &format!("/api/map?body={bar}&name=x.png"), b"no picture");
    assert_eq!(status, 400);
}

fn modes(fixture: &Fixture, body: u64) -> Vec<Value> {
    fixture.get_json(&format!("/api/model/{body}"))["modes"].as_array().unwrap().clone()
}

/// A mode that was added rings at its frequency and dies away at its rate; a deleted one is gone; other bodies of the same model keep theirs. Saved and read back it is the same, `render` hears it, and undo restores.
#[test]
fn modes_come_and_go() {
    let scene = format!(
        "{PLATE}\n[[event]]\nbody = \"plate\"\ntime_s = 0.1\nimpulse_ns = 0.01\nhardness = \"rubber\"\nat = [0.037, 0.029, 0]\n"
    );
    let fixture = Fixture::new(&scene);
    let mut page = fixture.connect();
    let plate = page.id("plate");
    let copy = page.must(json!({ "do": "duplicate", "body": plate }))["body"].as_u64().unwrap();
    let (own, others) = (modes(&fixture, plate), modes(&fixture, copy));
    let plain = rendered(&fixture.file());
    let count = own.len();
    // Between the first and the second mode of the plate.
    let hz = (own[0]["frequency_hz"].as_f64().unwrap() * own[1]["frequency_hz"].as_f64().unwrap()).sqrt();
    let answer = page.must(
        json!({ "do": "mode_add", "body": plate, "frequency_hz": hz, "decay_per_s": 5.0, "gain": 2.0, "like": 0 }),
    );
    assert_eq!(answer["mode"].as_u64(), Some(count as u64));
    let with = modes(&fixture, plate);
    assert_eq!(
        (with.len(), with[count]["number"].as_u64(), with[count]["like"].as_u64()),
        (count + 1, Some(count as u64), Some(0))
    );
    page.listen();
    page.hear(4096);
    page.must(json!({ "do": "mode", "body": plate, "mode": count, "solo": true }));
    page.hear(8192);
    let sound = struck(&mut page, plate, 44_100);
    let found = dominant_hz(&sound[2048..2048 + 32_768]);
    assert!((found / hz - 1.0).abs() < 0.002, "{found} Hz, not {hz}");
    let fall = (rms(&sound[4410..8820]) / rms(&sound[30_870..35_280])).ln() / (26_460.0 / 44_100.0);
    assert!((fall / 5.0 - 1.0).abs() < 0.05, "it dies away at {fall} per second");
    page.must(json!({ "do": "mode", "body": plate, "mode": count, "solo": false }));

    let first = own[0]["frequency_hz"].as_f64().unwrap();
    page.must(json!({ "do": "mode", "body": plate, "mode": 0, "delete": true }));
    let model = fixture.get_json(&format!("/api/model/{plate}"));
    assert_eq!((model["deleted"].clone(), model["modes"][0]["number"].as_u64()), (json!([0]), Some(1)));
    page.must(json!({ "do": "mode", "body": plate, "mode": 1, "frequency_hz": 1.02 * own[1]["frequency_hz"].as_f64().unwrap() }));
    assert_eq!(modes(&fixture, copy), others, "the copy has the modes that it had");
    let shaped = modes(&fixture, plate);

    page.must(json!({ "do": "save" }));
    let sound = rendered(&fixture.file());
    let (before, after) = (&plain[6615..6615 + 65_536], &sound[6615..6615 + 65_536]);
    let level = |sound: &[f32], hz: f64| 20.0 * level_at(sound, hz).log10();
    assert!(
        level(after, first) < level(before, first) - 40.0,
        "{} and {} dB",
        level(after, first),
        level(before, first)
    );
    assert!(level(after, hz) > level(before, hz) + 20.0, "{} and {} dB", level(after, hz), level(before, hz));

    let again = Fixture::new(&std::fs::read_to_string(fixture.file()).unwrap());
    let mut other = again.connect();
    let reread = modes(&again, other.id("plate"));
    for (a, b) in shaped.iter().zip(&reread) {
        assert_eq!(
            (&a["frequency_hz"], &a["decay_per_s"], &a["number"]),
            (&b["frequency_hz"], &b["decay_per_s"], &b["number"])
        );
    }
    assert_eq!(reread.len(), shaped.len());
    for _ in 0..5 {
        page.must(json!({ "do": "undo" }));
    }
    assert_eq!(modes(&fixture, plate), own);
    for wrong in
        [json!({ "frequency_hz": 0 }), json!({ "frequency_hz": 1e9 }), json!({ "frequency_hz": 300, "like": 100_000 })]
    {
        let mut request = wrong;
        (request["do"], request["body"]) = ("mode_add".into(), plate.into());
        assert_eq!(page.ask(request)["ok"], false);
    }
}

/// A damping of a tenth makes a mode ring ten times as long, stably, and is saved.
#[test]
fn damping_may_be_less_than_what_the_material_has() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let plate = page.id("plate");
    page.must(json!({ "do": "mode", "body": plate, "mode": 0, "decay_per_s": 20.0, "solo": true }));
    page.must(json!({ "do": "set", "body": plate, "damping": 0.1 }));
    assert!((modes(&fixture, plate)[0]["decay_per_s"].as_f64().unwrap() - 2.0).abs() < 1e-6);
    page.listen();
    page.hear(8192);
    let sound = struck(&mut page, plate, 88_200);
    let fall = (rms(&sound[4410..13_230]) / rms(&sound[70_560..79_380])).ln() / 1.5;
    assert!((fall / 2.0 - 1.0).abs() < 0.05, "it dies away at {fall} per second");
    page.must(json!({ "do": "save" }));
    assert_eq!(read_back(&fixture.file()).bodies[0].damping, 0.1);
    assert_eq!(page.ask(json!({ "do": "set", "body": plate, "damping": 0.01 }))["ok"], false);
}

/// A band of noise is heard where it was set and dies away as it was told; glide and nonlinearity are saved as the command reads them; each is undone.
#[test]
fn resonators_are_changed_while_they_ring() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let plate = page.id("plate");
    let info = || fixture.get_json(&format!("/api/resonator/{plate}"));
    let before = info();
    assert_eq!((before["glide"].clone(), before["own_diffuse"].clone()), (Value::Null, json!(false)));
    page.listen();
    page.hear(4096);
    let band = |gain: f64| json!([{ "low_hz": 9000.0, "high_hz": 10_000.0, "gain": gain, "t60_s": 1.0 }]);
    let strip = |sound: &[f32]| {
        (0..20).map(|k| level_at(&sound[..8192], 9050.0 + 45.0 * f64::from(k)).powi(2)).sum::<f64>().sqrt()
    };
    let plain = strip(&struck(&mut page, plate, 44_100));
    for gain in [1.0, 5.0, 20.0] {
        page.must(json!({ "do": "resonator", "body": plate, "gesture": 3, "diffuse": band(gain) }));
    }
    page.hear(8192);
    let noisy = struck(&mut page, plate, 44_100);
    assert!(strip(&noisy) > 5.0 * plain, "{} and {plain}", strip(&noisy));
    page.must(json!({ "do": "resonator", "body": plate, "glide": { "amount": 0.1 }, "nonlinear": { "sections": 2, "shaper": "saturating" } }));
    page.must(json!({ "do": "resonator", "body": plate, "glide": { "focus": 1 } }));
    let now = info();
    assert_eq!(
        (now["glide"]["amount"].as_f64(), now["glide"]["focus"].as_f64(), now["nonlinear"]["shaper"].as_str()),
        (Some(0.1), Some(1.0), Some("saturating"))
    );
    page.must(json!({ "do": "save" }));
    let saved = &read_back(&fixture.file()).bodies[0];
    assert_eq!((saved.glide.unwrap().amount, saved.nonlinear.unwrap().sections), (0.1, 2));
    assert_eq!(saved.diffuse.as_ref().map(|b| (b.len(), b[0].gain)), Some((1, 20.0)));
    for wrong in [
        json!({ "glide": { "amount": 3 } }),
        json!({ "nonlinear": { "sections": 9 } }),
        json!({ "diffuse": [{ "low_hz": 5, "high_hz": 1, "gain": 1, "t60_s": 1 }] }),
        json!({ "glide": { "colour": 1 } }),
    ] {
        let mut request = wrong;
        (request["do"], request["body"]) = ("resonator".into(), plate.into());
        assert_eq!(page.ask(request.clone())["ok"], false, "{request}");
    }
    assert_eq!(info(), now);
    for _ in 0..3 {
        page.must(json!({ "do": "undo" }));
    }
    assert_eq!(info(), before);
    let text = String::from_utf8(fixture.http("GET", "/api/scene.toml", b"").1).unwrap();
    assert_eq!(text, PLATE);
}
