//! Rooms: the field that is seen is the one that is heard, and bakes from the page are those of the command.

use crate::client::{Client, Fixture, PLATE, read_back};
use eigentone_core::Vec3;
use eigentone_io::{read_field, read_field_bytes};
use eigentone_scene::bake::{self, Options as BakeOptions, job};
use eigentone_scene::rooms::query;
use eigentone_scene::scene::cache::ModelCache;
use eigentone_studio::field::level_db;
use eigentone_studio::{Options, shelf};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A small room with walls that absorb a fifth, and a plate in it.
const BOX: &str = r#"
[acoustics]
room = "shoebox"
size = [4, 3, 2.5]
f_max_hz = 250
spacing_m = 2
above_floor_m = 1.2
spacing_z_m = 10
grid_m = 1
margin_m = 1
padding_m = 2
[acoustics.materials]
wall = 0.2
"#;

fn boxed() -> String {
    format!("{PLATE}{BOX}")
}

/// The same as `eigentone bake`, with all cores.
fn baked(scene: &Path, output: &Path) -> Vec<u8> {
    let prepared = bake::prepare(&read_back(scene)).unwrap();
    job::bake(&prepared, output, &BakeOptions::default(), &AtomicBool::new(false), &|_| {}).unwrap();
    std::fs::read(output).unwrap()
}

/// Waits for a bake to come so far, however slow the machine.
fn bake_event(page: &mut Client, stage: &str) -> Value {
    let begin = Instant::now();
    let mut seen = 0;
    while begin.elapsed() < Duration::from_secs(300) {
        let found = page.events[seen..].iter().position(|e| e["event"] == "bake" && e["stage"] == stage);
        if let Some(at) = found {
            return page.events[seen + at].clone();
        }
        seen = page.events.len();
        page.next(Duration::from_secs(1));
    }
    panic!("the bake never was {stage}: {:#?}", page.events);
}

fn last_rooms(page: &Client) -> Value {
    page.events.iter().rev().find(|e| e["event"] == "scene").unwrap()["rooms"].clone()
}

/// A bake from the page makes the bytes that the command makes; it is heard at once, saved beside the scene, and can be undone.
#[test]
fn a_bake_from_the_page_is_the_bake_of_the_command() {
    let fixture = Fixture::new(&boxed());
    let mut page = fixture.connect();
    page.event(|e| e["event"] == "scene");
    assert_eq!(last_rooms(&page)["acoustics"], true);
    assert_eq!(last_rooms(&page)["field"], false);
    let estimate = page.must(json!({ "do": "estimate_bake" }));
    let of = estimate["probes"].as_u64().unwrap();
    assert!(of >= 2 && estimate["seconds"].as_f64().unwrap() > 0.0 && estimate["stored_bytes"].as_u64().unwrap() > 0);
    page.listen();
    page.must(json!({ "do": "bake" }));
    let heard = page.hear(22_050);
    assert_eq!(heard.len(), 22_050, "sound goes on while rooms are baked");
    bake_event(&mut page, "done");
    let shares: Vec<u64> = page
        .events
        .iter()
        .filter(|e| e["event"] == "bake" && e["stage"] == "baking")
        .filter_map(|e| e["finished"].as_u64())
        .collect();
    assert_eq!(shares, (0..=of).collect::<Vec<_>>(), "every probe is told, once");
    assert_eq!(last_rooms(&page)["field"], true);

    page.must(json!({ "do": "save" }));
    let saved = fixture.folder.path().join("scene.field.safetensors");
    let own = std::fs::read(&saved).unwrap();
    let other = fixture.folder.path().join("command.field.safetensors");
    assert!(own == baked(&fixture.file(), &other), "the same to the byte");
    let (source, listener) = ([1.0, 1.0, 1.2], [3.2, 2.1, 1.3]);
    let told = page.must(json!({ "do": "query_field", "source": source, "listener": listener }));
    let field = Arc::new(read_field(&other).unwrap());
    let answer = query(&field, Vec3::from_array(source), Vec3::from_array(listener));
    assert_eq!(told["late_decay_s"].as_f64().unwrap(), answer.parameters.late_decay_s);
    assert_eq!(told["early_db"].as_f64().unwrap(), answer.parameters.early_db);
    assert_eq!(told["level_db"].as_f64().unwrap(), level_db(&answer));

    page.must(json!({ "do": "undo" }));
    assert_eq!(last_rooms(&page)["field"], false, "undone");
    page.must(json!({ "do": "redo" }));
    assert_eq!(last_rooms(&page)["field"], true);
    let again =
        Fixture::of(Options { scene: Some(fixture.file()), ..Options::default() }, tempfile::tempdir().unwrap());
    let mut page = again.connect();
    page.event(|e| e["event"] == "scene" && e["rooms"]["field"] == true);
}

/// Every value of a slice is what the field says from the source to the middle of its cell; nothing is shown in walls and outside.
#[test]
fn slices_are_what_the_field_says() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    page.must(json!({ "do": "open", "scene": "two-rooms" }));
    let described = fixture.get_json("/api/field");
    assert_eq!(described["field"]["directions"], false);
    assert_eq!(described["field"]["parameters"].as_array().unwrap().len(), 6);
    let field = Arc::new(read_field_bytes(shelf::FIELDS[0].1).unwrap());
    let source = Vec3::new(1.4, 3.6, 1.2);
    for (k, name) in ["level", "direct", "early", "early_decay", "late_decay", "tilt"].into_iter().enumerate() {
        let path = format!("/api/field/slice?parameter={name}&height_m=1.5&source=1.4,3.6,1.2&step_m=0.25");
        let (status, bytes) = fixture.http("GET", &path, b"");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
        let whole = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let float = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let [columns, rows] = [whole(0), whole(4)];
        assert_eq!(bytes.len(), 24 + 4 * (columns * rows) as usize);
        let (mut known, mut shut) = (0, 0);
        for row in 0..rows {
            for column in 0..columns {
                let value = float(24 + 4 * (row * columns + column) as usize);
                let at = |corner: f32, i: u32| f64::from(corner) + (f64::from(i) + 0.5) * f64::from(float(16));
                let point = Vec3::new(at(float(8), column), at(float(12), row), f64::from(float(20)));
                if value.is_nan() {
                    shut += 1;
                    continue;
                }
                known += 1;
                let answer = query(&field, source, point);
                let p = answer.parameters;
                let wanted =
                    [level_db(&answer), p.direct_db, p.early_db, p.early_decay_s, p.late_decay_s, p.tilt_db][k];
                // The corner is told with 24 bits.
                assert!((f64::from(value) - wanted).abs() < 1e-3 * wanted.abs().max(1.0), "{name} at {point}: {value}");
            }
        }
        assert!(known > 600 && shut > 0 && shut < known / 4, "{name}: {known} values, {shut} in walls");
    }
}

/// Two rooms and a door open at once, with the field that a bake of the shipped scene makes: louder and longer in the bare room.
#[test]
fn the_shipped_rooms_open_at_once_and_are_those_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::of(Options { home: Some(folder.path().to_owned()), ..Options::default() }, folder);
    let mut page = fixture.connect();
    page.must(json!({ "do": "open", "scene": "two-rooms" }));
    page.event(|e| e["event"] == "scene" && e["rooms"]["field"] == true);
    let beware = |e: &&Value| e["level"] == "warning" && e["text"].as_str().is_some_and(|t| t.contains("rooms"));
    assert_eq!(page.events.iter().find(beware).cloned(), None);
    let source = [1.4, 3.6, 1.2];
    let mut ask = |at: [f64; 3]| page.must(json!({ "do": "query_field", "source": source, "listener": at }));
    let [bare, furnished, out] = [[3.2, 2.5, 1.6], [8.0, 4.2, 1.6], [40.0, 2.5, 1.6]].map(&mut ask);
    let number = |answer: &Value, key: &str| answer[key].as_f64().unwrap();
    assert!(number(&bare, "level_db") > number(&furnished, "level_db") + 6.0, "{bare} {furnished}");
    assert_eq!([&bare["known"], &furnished["known"]], [true, true]);
    fixture.get_json("/api/field");
    assert_eq!(
        page.must(json!({ "do": "query_field", "source": source, "listener": [40.0, 2.5, 1.6] }))["known"],
        false,
        "{out}"
    );
    let (status, walls) = fixture.http("GET", "/api/field/walls", b"");
    let triangles = u32::from_le_bytes(walls[4..8].try_into().unwrap());
    assert!(status == 200 && triangles > 100, "{triangles}");
    page.must(json!({ "do": "save", "file": "rooms" }));
    let home = fixture.folder.path();
    assert!(std::fs::read(home.join("rooms.field.safetensors")).unwrap() == shelf::FIELDS[0].1);
    let output = home.join("again.field.safetensors");
    assert!(
        baked(&home.join("rooms.toml"), &output) == shelf::FIELDS[0].1,
        "bake scenes/two-rooms.toml anew, into crates/eigentone-studio/scenes"
    );
}

/// A cancelled bake ends, changes nothing and leaves no file; a paused one waits and then goes on.
#[test]
fn a_cancelled_bake_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    // Some minutes on a fast machine.
    let large = boxed().replace("[4, 3, 2.5]", "[16, 12, 5]").replace("f_max_hz = 250", "f_max_hz = 500");
    std::fs::write(&scene, large).unwrap();
    let cache = folder.path().join("cache");
    let options = Options {
        scene: Some(scene),
        cache: ModelCache::in_folder(&cache),
        home: Some(folder.path().to_owned()),
        ..Options::default()
    };
    let fixture = Fixture::of(options, folder);
    let mut page = fixture.connect();
    page.event(|e| e["event"] == "scene");
    page.must(json!({ "do": "bake" }));
    bake_event(&mut page, "baking");
    assert_eq!(page.ask(json!({ "do": "bake" }))["ok"], false, "one at a time");
    page.must(json!({ "do": "pause_bake", "on": true }));
    bake_event(&mut page, "paused");
    page.must(json!({ "do": "cancel_bake" }));
    bake_event(&mut page, "cancelled");
    assert_eq!(page.ask(json!({ "do": "cancel_bake" }))["ok"], false, "there is none any more");
    page.must(json!({ "do": "save" }));
    assert_eq!(last_rooms(&page)["field"], false);
    let left = files_below(&cache).into_iter().chain(files_below(fixture.folder.path()));
    let left: Vec<String> = left.filter(|f| f.contains("field") && !f.ends_with("fields")).collect();
    assert_eq!(left, Vec::<String>::new());
    // And after it another can begin.
    page.events.clear();
    page.must(json!({ "do": "bake" }));
    bake_event(&mut page, "baking");
}

fn files_below(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    entries
        .flat_map(|path| {
            let mut all = files_below(&path);
            all.push(path.to_string_lossy().into_owned());
            all
        })
        .collect()
}

/// Asks that make no sense are refused with a way out, and nothing happens.
#[test]
fn malformed_asks_about_rooms_are_refused() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    page.event(|e| e["event"] == "scene");
    for request in ["bake", "estimate_bake", "cancel_bake"] {
        assert_eq!(page.ask(json!({ "do": request }))["ok"], false, "{request} without rooms");
    }
    assert_eq!(page.ask(json!({ "do": "query_field", "source": [0, 0, 0] }))["ok"], false);
    assert_eq!(fixture.get_json("/api/field")["field"], Value::Null);
    assert_eq!(fixture.http("GET", "/api/field/walls", b"").0, 400);
    let slice = "/api/field/slice?parameter=level&height_m=1&source=1,1,1";
    assert_eq!(fixture.http("GET", slice, b"").0, 404, "no field");
    page.must(json!({ "do": "open", "scene": "two-rooms" }));
    assert_eq!(fixture.http("GET", slice, b"").0, 200);
    for bad in [
        "parameter=loudness&height_m=1&source=1,1,1",
        "parameter=level&height_m=1&source=1,1",
        "parameter=level&height_m=1&source=1,1,1,1",
        "parameter=level&height_m=1&source=NaN,1,1",
        "parameter=level&height_m=1&source=x",
        "parameter=level&height_m=inf&source=1,1,1",
        "parameter=level&height_m=900&source=1,1,1",
        "parameter=level&height_m=1&source=1,1,1&step_m=1e-9",
        "parameter=level&height_m=1&source=1,1,1&step_m=-1",
        "parameter=level&height_m=1&source=1,1,1&step_m=NaN",
        "parameter=level&height_m=1",
        "",
    ] {
        assert_eq!(fixture.http("GET", &format!("/api/field/slice?{bad}"), b"").0, 400, "{bad}");
    }
    for bad in [json!([1, 2]), json!("x"), json!([1, 2, null])] {
        assert_eq!(page.ask(json!({ "do": "query_field", "source": bad }))["ok"], false);
    }
    assert_eq!(page.ask(json!({ "do": "pause_bake" }))["ok"], false);
    let huge = boxed().replace("[4, 3, 2.5]", "[40, 30, 8]").replace("f_max_hz = 250", "f_max_hz = 500");
    let huge = Fixture::new(&huge);
    let mut page = huge.connect();
    let answer = page.ask(json!({ "do": "bake" }));
    assert!(answer["ok"] == false && answer["hint"].as_str().unwrap().contains("eigentone bake"), "{answer}");
}
