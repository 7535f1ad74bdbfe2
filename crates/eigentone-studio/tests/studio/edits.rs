//! Bodies added, changed, undone.

use crate::client::{Fixture, PLATE};
use serde_json::json;

/// Forty moves of a slider are one step; undo does not rewind motion; redo brings the last value back.
#[test]
fn a_gesture_is_one_step() {
    let scene = "[[body]]\nname = 'floor'\nplane = true\n[[body]]\nname = 'box'\nbox = [0.1, 0.1, 0.1]\nmaterial = 'wood'\nposition = [0, 0, 0.5]\n";
    let fixture = Fixture::new(scene);
    let mut page = fixture.connect();
    let id = page.id("box");
    for i in 0..40 {
        page.must(json!({ "do": "set", "body": id, "gesture": 7, "pitch": 1.0 + 0.01 * f64::from(i) }));
    }
    std::thread::sleep(std::time::Duration::from_millis(700));
    let history = page.event(|e| e["event"] == "history" && e["undo"] == 1);
    assert_eq!((history["redo"].as_u64(), history["label"].as_str()), (Some(0), Some("pitch")));
    page.must(json!({ "do": "undo" }));
    assert_eq!(page.body("box")["pitch"], 1.0);
    page.packets.clear();
    while !page.packets.iter().any(|p| p[0] == 2) {
        page.next(std::time::Duration::from_secs(5)).unwrap();
    }
    let state = page.packets.iter().find(|p| p[0] == 2).unwrap();
    let entry = state[32..].chunks(44).find(|e| f64::from_le_bytes(e[..8].try_into().unwrap()) as u64 == id).unwrap();
    let height = f32::from_le_bytes(entry[16..20].try_into().unwrap());
    assert!(height < 0.2, "it has fallen and stays down: {height}");
    page.must(json!({ "do": "redo" }));
    let pitch = page.body("box")["pitch"].as_f64().unwrap();
    assert!((pitch - 1.39).abs() < 1e-6, "{pitch}");
    assert_eq!(page.ask(json!({ "do": "redo" }))["ok"], false);
}

/// Objects come from the shelf, sound at once, are duplicated and removed, and come back under their numbers.
#[test]
fn bodies_come_and_go_and_come_back() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    for object in fixture.get_json("/api/shelf")["objects"].as_array().unwrap() {
        let answer = page.must(json!({ "do": "add", "object": object["name"] }));
        let id = answer["body"].as_u64().unwrap();
        let told = page.event(|e| e["event"] == "body" && e["body"]["id"] == id);
        assert_eq!(told["body"]["sounds"], true, "{told}");
        page.must(json!({ "do": "strike", "body": id, "impulse_ns": 0.01 }));
        page.must(json!({ "do": "remove", "body": id }));
        page.event(|e| e["event"] == "gone" && e["body"] == id);
    }
    let bar = page.must(json!({ "do": "add", "object": "bar", "material": "brass" }))["body"].as_u64().unwrap();
    let copy = page.must(json!({ "do": "duplicate", "body": bar }))["body"].as_u64().unwrap();
    assert!(copy > bar);
    page.must(json!({ "do": "set", "body": copy, "size": 0.5, "name": "little bar", "gain": 0.5 }));
    page.must(json!({ "do": "remove", "body": copy }));
    assert_eq!(page.ask(json!({ "do": "strike", "body": copy, "impulse_ns": 0.01 }))["ok"], false);
    page.must(json!({ "do": "undo" }));
    let back = page.body("little bar");
    assert_eq!(
        (back["id"].as_u64(), back["size"].as_f64(), back["material"].as_str()),
        (Some(copy), Some(0.5), Some("brass"))
    );
    page.must(json!({ "do": "strike", "body": copy, "impulse_ns": 0.01 }));
    assert_eq!(page.ask(json!({ "do": "add", "object": "spaceship" }))["ok"], false);
}

/// Two slots hold two sounds of the same scene; another scene can be opened and undone.
#[test]
fn slots_and_scenes_are_gone_back_to() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let id = page.id("plate");
    page.must(json!({ "do": "ab", "slot": "a", "store": true }));
    page.must(json!({ "do": "set", "body": id, "brightness": 6.0, "damping": 4.0 }));
    page.must(json!({ "do": "ab", "slot": "b", "store": true }));
    page.must(json!({ "do": "ab", "slot": "a" }));
    assert_eq!(page.body("plate")["brightness"], 0.0);
    page.must(json!({ "do": "ab", "slot": "b" }));
    assert_eq!(
        (page.body("plate")["brightness"].as_f64(), page.body("plate")["damping"].as_f64()),
        (Some(6.0), Some(4.0))
    );

    page.must(json!({ "do": "open", "scene": "empty" }));
    page.event(|e| e["event"] == "scene" && e["title"] == "Untitled");
    page.must(json!({ "do": "undo" }));
    page.event(|e| e["event"] == "history" && e["redo"] == 1);
    assert_eq!(page.body("plate")["brightness"], 6.0);
    assert!(page.id("plate") > id, "in another world it has another number");
}

/// One mode is retuned, muted and soloed by its number, and the model says so.
#[test]
fn modes_are_edited_one_by_one() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let id = page.id("plate");
    let model = || fixture.get_json(&format!("/api/model/{id}"));
    let before = model();
    let hz = |m: &serde_json::Value, k: usize| m["modes"][k]["frequency_hz"].as_f64().unwrap();
    page.must(json!({ "do": "mode", "body": id, "mode": 1, "frequency_hz": 1.1 * hz(&before, 1), "decay_per_s": 9.0 }));
    let after = model();
    assert!((hz(&after, 1) / hz(&before, 1) - 1.1).abs() < 1e-9 && hz(&after, 0) == hz(&before, 0));
    assert!((after["modes"][1]["decay_per_s"].as_f64().unwrap() - 9.0).abs() < 1e-9);
    page.must(json!({ "do": "mode", "body": id, "mode": 2, "solo": true }));
    let solo = model();
    assert!(solo["modes"][0]["gain"] == 0.0 && solo["modes"][2]["gain"].as_f64().unwrap() > 0.0);
    page.must(json!({ "do": "undo" }));
    page.must(json!({ "do": "undo" }));
    assert_eq!(model()["modes"], before["modes"]);
    assert_eq!(page.ask(json!({ "do": "mode", "body": id, "mode": 100_000 }))["ok"], false);
}

/// What is asked why it is silent answers with the reason.
#[test]
fn silence_has_reasons() {
    let scene = "[[body]]\nname = 'floor'\nplane = true\n[[body]]\nname = 'box'\nbox = [0.1, 0.1, 0.1]\nmaterial = 'wood'\nposition = [0, 0, 0.06]\n";
    let fixture = Fixture::new(scene);
    let mut page = fixture.connect();
    let (floor, id) = (page.id("floor"), page.id("box"));
    let mut reasons = |body: u64| page.must(json!({ "do": "why", "body": body }))["reasons"].to_string();
    assert!(reasons(floor).contains("silent by itself"));
    let _ = reasons(id);
    page.must(json!({ "do": "set", "body": id, "gain": 0.0 }));
    let told = page.must(json!({ "do": "why", "body": id }))["reasons"].to_string();
    assert!(told.contains("gain"), "{told}");
}

/// Hail falls on what is there, rings it, follows the mouse, and stops.
#[test]
fn hail_falls_where_the_mouse_is() {
    let scene = "[[body]]\nname = 'floor'\nplane = true\n[[body]]\nname = 'sheet'\nplate = [0.4, 0.4]\nthickness_m = 0.001\nmaterial = 'steel'\nedges = 'supported'\nfixed = true\nposition = [1, 0, 0.2]\n";
    let fixture = Fixture::new(scene);
    let mut page = fixture.connect();
    let sheet = page.id("sheet");
    page.listen();
    let struck = |page: &crate::client::Client<'_>, body: u64| {
        let rows = page.packets.iter().filter(|p| p[0] == 3).flat_map(|p| p[24..].chunks(40));
        rows.filter(|r| f64::from_le_bytes(r[8..16].try_into().unwrap()) as u64 == body).count()
    };
    page.must(json!({ "do": "hail", "on": true, "center": [-1, 0, 0.6], "size": [0.2, 0.2, 0.1], "particles": 40 }));
    page.hear(66_150);
    assert_eq!(struck(&page, sheet), 0, "the cloud is elsewhere");
    assert!(page.packets.iter().any(|p| p[0] == 6 && p.len() > 24), "stones are drawn");
    page.must(json!({ "do": "hail", "center": [1, 0, 0.6] }));
    page.packets.clear();
    let sound = page.hear(88_200);
    assert!(struck(&page, sheet) > 5, "{} stones struck it", struck(&page, sheet));
    assert!(crate::client::rms(&sound) > 1e-5);
    page.must(json!({ "do": "hail", "on": false }));
    assert_eq!(page.event(|e| e["event"] == "hail" && e["hail"]["on"] == false)["hail"]["particles"], 40);
}

/// A mesh that is dropped sounds within a second, of the material that was chosen, and can be drawn.
#[test]
fn a_dropped_mesh_sounds_at_once() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    page.event(|e| e["event"] == "scene");
    let mut obj = String::new();
    for (x, y, z) in [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)] {
        obj += &format!("v {} {} {}\n", 300 * x, 40 * y, 10 * z);
    }
    for f in ["1 4 3 2", "5 6 7 8", "1 2 6 5", "2 3 7 6", "3 4 8 7", "4 1 5 8"] {
        obj += &format!("f {f}\n");
    }
    let begin = std::time::Instant::now();
    let (status, body) =
        fixture.http("POST", "/api/mesh?name=my%20bar.obj&material=aluminium&scale=0.001", obj.as_bytes());
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let id = answer["body"].as_u64().unwrap();
    page.must(json!({ "do": "strike", "body": id, "impulse_ns": 0.02 }));
    assert!(begin.elapsed().as_secs_f64() < 1.0, "it took {:?}", begin.elapsed());
    let (status, mesh) = fixture.http("GET", &format!("/api/mesh/{id}"), b"");
    let count = |at: usize| u32::from_le_bytes(mesh[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((status, mesh.len()), (200, 8 + 12 * (count(0) + count(4))));
    let (status, shape) = fixture.http("GET", &format!("/api/shape/{id}/0"), b"");
    assert_eq!((status, shape.len()), (200, 12 * count(0)));
    let told = page.event(|e| e["event"] == "body" && e["body"]["id"] == id && e["body"]["provisional"] == false);
    // A free bar of aluminium, 0.3 m long and 10 mm thick: f = 22.37/2π · √(EI/ρA)/L² = 1.028 h √(E/ρ)/L².
    let truth = 1.028 * 0.01 * (70e9f64 / 2700.0).sqrt() / 0.09;
    let first = told["body"]["first_hz"].as_f64().unwrap();
    assert!((first / truth - 1.0).abs() < 0.03, "{first} Hz, not {truth}");
    page.must(json!({ "do": "save" }));
    let scene = crate::client::read_back(&fixture.file());
    let eigentone_scene::scene::Shape::Mesh(file) = &scene.bodies[1].shape else { panic!("{:?}", scene.bodies[1]) };
    assert!(scene.resolve(file).is_ok(), "{file} was saved beside the scene");
}

/// A recording of a decaying tone becomes a body that has its frequency.
#[test]
fn a_recording_is_fitted() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    page.event(|e| e["event"] == "scene");
    let rate = 44_100u32;
    let mut wav = Vec::new();
    let tone = |n: u32| {
        let t = f64::from(n) / f64::from(rate);
        0.5 * (-6.0 * t).exp()
            * ((2.0 * std::f64::consts::PI * 440.0 * t).sin() + 0.4 * (2.0 * std::f64::consts::PI * 1170.0 * t).sin())
    };
    let mut writer = hound::WavWriter::new(
        std::io::Cursor::new(&mut wav),
        hound::WavSpec { channels: 1, sample_rate: rate, bits_per_sample: 16, sample_format: hound::SampleFormat::Int },
    )
    .unwrap();
    (0..rate).for_each(|n| writer.write_sample((32_767.0 * tone(n)) as i16).unwrap());
    writer.finalize().unwrap();
    let (status, body) = fixture.http("POST", "/api/fit?name=ping.wav", &wav);
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let model = fixture.get_json(&format!("/api/model/{}", answer["body"]));
    let found = |hz: f64| {
        model["modes"].as_array().unwrap().iter().any(|m| (m["frequency_hz"].as_f64().unwrap() - hz).abs() < 1.0)
    };
    assert!(found(440.0) && found(1170.0), "{model}");
}

/// A take is what was heard; variations are so many files, the same for the same seed.
#[test]
fn takes_and_variations_are_exported() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let id = page.id("plate");
    page.listen();
    page.must(json!({ "do": "strike", "body": id, "at": [0, 0, 0], "impulse_ns": 0.05 }));
    let heard = page.hear(22_050);
    let (status, wav) = fixture.http("GET", "/api/export/take.wav", b"");
    assert_eq!((status, &wav[..4]), (200, &b"RIFF"[..]));
    let reader = hound::WavReader::new(std::io::Cursor::new(wav)).unwrap();
    assert_eq!((reader.spec().channels, reader.spec().sample_rate), (2, 44_100));
    let left: Vec<f32> = reader.into_samples::<f32>().step_by(2).map(Result::unwrap).collect();
    let loudest = heard.iter().fold(0.0f32, |a, b| a.max(b.abs()));
    assert!(loudest > 1e-4 && left.iter().any(|x| x.abs() == loudest), "the take has what was heard");

    let wanted = json!({ "body": id, "count": 3, "seed": 5, "spread": 0.5 }).to_string();
    let (status, zip) = fixture.http("POST", "/api/export/variations", wanted.as_bytes());
    assert_eq!((status, &zip[..4]), (200, &b"PK\x03\x04"[..]));
    assert_eq!(zip.windows(12).filter(|w| w.starts_with(b"plate_0") && w.ends_with(b".wav")).count(), 6, "twice each");
    assert_eq!(fixture.http("POST", "/api/export/variations", wanted.as_bytes()).1, zip);
    let (status, _) = fixture.http("POST", "/api/export/variations", b"{\"body\":1,\"count\":1000000}");
    assert_eq!(status, 400);
}
