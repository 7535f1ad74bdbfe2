//! Scenes opened and saved.

use crate::client::{Fixture, PLATE, read_back};
use eigentone_studio::Options;
use serde_json::json;

/// What was not touched stays to the letter; what was is written where the command reads it.
#[test]
fn a_saved_scene_keeps_what_the_studio_does_not_know() {
    let text = format!(
        "{PLATE}directivity = {{ axis = [0, 0, 1], pattern = 0.3, cutoff_hz = 900 }} # mine\n\n# the end\n[[event]]\ntime_s = 1.5\nbody = \"plate\"\nimpulse_ns = 0.1\n"
    );
    let fixture = Fixture::new(&text);
    let mut page = fixture.connect();
    let id = page.id("plate");
    page.must(json!({ "do": "save" }));
    assert_eq!(std::fs::read_to_string(fixture.file()).unwrap(), text, "nothing was changed, so nothing changes");
    page.must(json!({ "do": "set", "body": id, "material": "glass", "pitch": 1.25, "gain": 0.5, "brightness": -3.0 }));
    page.must(json!({ "do": "mode", "body": id, "mode": 3, "mute": true }));
    page.must(json!({ "do": "save" }));
    let saved = std::fs::read_to_string(fixture.file()).unwrap();
    for kept in ["# my plate", "# of steel", "# mine", "# the end", "directivity", "time_s = 1.5"] {
        assert!(saved.contains(kept), "{kept} is lost:\n{saved}");
    }
    let scene = read_back(&fixture.file());
    let plate = &scene.bodies[0];
    assert_eq!((plate.material.as_str(), plate.pitch, plate.brightness_db), ("glass", 1.25, -3.0));
    assert!((plate.gain_db + 6.0206).abs() < 1e-3);
    assert_eq!((plate.mode_edits[0].mode, plate.mode_edits[0].gain), (3, 0.0));
    drop(page);
    drop(fixture);
}

/// The same scene opened again has the same bodies and parameters.
#[test]
fn a_saved_scene_opens_as_it_was() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let id = page.id("plate");
    page.must(json!({ "do": "set", "body": id, "size": 0.8, "damping": 3.0, "name": "my plate" }));
    page.must(json!({ "do": "add", "object": "ring", "position": [0.1, 0.2, 0.3] }));
    page.must(json!({ "do": "save" }));
    let text = String::from_utf8(fixture.http("GET", "/api/scene.toml", b"").1).unwrap();
    assert_eq!(text, std::fs::read_to_string(fixture.file()).unwrap());
    let again = Fixture::new(&text);
    let mut other = again.connect();
    let plate = other.body("my plate");
    assert_eq!((plate["size"].as_f64(), plate["damping"].as_f64()), (Some(0.8), Some(3.0)));
    assert_eq!(other.body("ring")["material"], "steel");
    let (status, _) = again.http("POST", "/api/scene", b"[[body]]\nsphere = 1\npostion = [0, 0, 1]\n");
    assert_eq!(status, 400, "a scene that cannot be read is refused, and nothing changes");
    other.must(json!({ "do": "strike", "body": plate["id"], "impulse_ns": 0.01 }));
}

/// Unsaved work is kept beside the scene and offered again; saving takes it away.
#[test]
fn unsaved_work_is_kept() {
    let fixture = Fixture::new(PLATE);
    let file = fixture.file();
    let mut page = fixture.connect();
    let id = page.id("plate");
    page.must(json!({ "do": "set", "body": id, "pitch": 2.0 }));
    drop(page);
    let Fixture { studio, folder, .. } = fixture;
    drop(studio);
    let kept = folder.path().join("scene.toml.autosave");
    assert!(std::fs::read_to_string(&kept).unwrap().contains("pitch = 2"));
    let again =
        Fixture::of(Options { scene: Some(file), home: Some(folder.path().to_owned()), ..Options::default() }, folder);
    let mut page = again.connect();
    assert_eq!(page.event(|e| e["event"] == "hello")["autosave"], true);
    let id = page.id("plate");
    page.must(json!({ "do": "set", "body": id, "gain": 0.5 }));
    page.must(json!({ "do": "open", "scene": "autosave" }));
    page.event(|e| e["event"] == "scene" && e["bodies"][0]["pitch"] == 2.0);
    page.must(json!({ "do": "save" }));
    assert!(!kept.exists() && !folder_has(&again, "before"), "what is saved need not be kept");
    assert_eq!(read_back(&again.file()).bodies[0].pitch, 2.0);
}

fn folder_has(fixture: &Fixture, ending: &str) -> bool {
    std::fs::read_dir(fixture.folder.path()).unwrap().any(|f| f.unwrap().path().to_string_lossy().ends_with(ending))
}

/// A scene without a file is saved under a plain name where the studio was started, and nowhere else.
#[test]
fn new_scenes_are_saved_under_plain_names() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().to_owned();
    let fixture = Fixture::of(Options { home: Some(home.clone()), ..Options::default() }, folder);
    let mut page = fixture.connect();
    page.event(|e| e["event"] == "scene");
    assert_eq!(page.ask(json!({ "do": "save" }))["ok"], false);
    for bad in ["../x.toml", "/tmp/x.toml", "a/b", "", "..", "c:\\x", ".hidden"] {
        assert_eq!(page.ask(json!({ "do": "save", "file": bad }))["ok"], false, "{bad}");
    }
    page.must(json!({ "do": "save", "file": "mine" }));
    read_back(&home.join("mine.toml"));
    std::fs::write(home.join("other.toml"), "x").unwrap();
    assert_eq!(page.ask(json!({ "do": "save", "file": "other" }))["ok"], false, "nothing of others is overwritten");
}

/// All scenes that ship can be opened, and are those of the repository.
#[test]
fn scenes_that_ship_are_those_of_the_repository() {
    let shared = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    for scene in eigentone_studio::shelf::SCENES {
        eigentone_scene::Scene::parse(scene.text, ".".as_ref(), scene.name).unwrap();
        if scene.name != "default" && shared.is_dir() {
            let file = shared.join(format!("{}.toml", scene.name));
            let text = std::fs::read_to_string(&file).unwrap();
            assert_eq!(text, scene.text, "copy scenes/{}.toml to crates/eigentone-studio/scenes", scene.name);
        }
    }
}
