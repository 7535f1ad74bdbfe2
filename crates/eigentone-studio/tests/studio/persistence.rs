//! What is kept: edits of copies and soft bodies, unsaved work, the scene of a page that comes back.

use crate::client::{Fixture, PLATE, read_back};
use serde_json::json;

const COPIES: &str = r#"[[body]]
name = "floor"
plane = true
[[body]]
name = "pea" # three
sphere = 0.01
material = "glass"
silent = true
position = [0, 0, 0.01]
copies = { count = [3, 1, 1], spacing = [0.1, 0.1, 0.1] }
"#;

/// One of three copies is changed, saved, and read back changed; the others are as they were, and all of it can be undone.
#[test]
fn changes_of_a_copy_are_saved() {
    let fixture = Fixture::new(COPIES);
    let mut page = fixture.connect();
    let id = page.id("pea 2");
    page.must(json!({ "do": "set", "body": id, "gain": 0.5, "position": [0.1, 0.3, 0.02], "fixed": true }));
    page.must(json!({ "do": "set", "body": id, "size": 1.5 }));
    assert_eq!(page.ask(json!({ "do": "set", "body": id, "name": "bean" }))["ok"], false);
    page.must(json!({ "do": "save" }));
    let scene = read_back(&fixture.file());
    let pea = scene.bodies.iter().find(|b| b.name == "pea").unwrap();
    let [edit] = &pea.copy_edits[..] else { panic!("{:?}", pea.copy_edits) };
    assert_eq!((edit.copy, edit.size, edit.fixed), (2, Some(1.5), Some(true)));
    assert_eq!(edit.position, Some([0.1, 0.3, 0.02]));
    assert!((edit.gain_db.unwrap() + 6.0206).abs() < 1e-3 && pea.size == 1.0);
    assert!(std::fs::read_to_string(fixture.file()).unwrap().contains("# three"));
    page.must(json!({ "do": "undo" }));
    page.must(json!({ "do": "undo" }));
    page.must(json!({ "do": "save" }));
    assert_eq!(std::fs::read_to_string(fixture.file()).unwrap(), COPIES);
}

/// How loud a soft body is and what it is called is saved in its `[[soft]]`.
#[test]
fn changes_of_a_soft_body_are_saved() {
    let fixture = Fixture::new("[[soft]] # wobbly\nname = \"jelly\"\nbox = [0.1, 0.1, 0.1]\nposition = [0, 0, 0.2]\n");
    let mut page = fixture.connect();
    let id = page.id("jelly");
    page.must(json!({ "do": "set", "body": id, "gain": 2.0, "name": "pudding" }));
    page.must(json!({ "do": "save" }));
    let scene = read_back(&fixture.file());
    assert!((scene.softs[0].gain_db - 6.0206).abs() < 1e-3 && scene.softs[0].name == "pudding");
    assert!(std::fs::read_to_string(fixture.file()).unwrap().contains("# wobbly"));
}

/// A page that leaves and comes back finds the scene as it was, with what was changed and what can be undone.
#[test]
fn a_page_that_comes_back_finds_its_scene() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let id = page.id("plate");
    page.must(json!({ "do": "set", "body": id, "pitch": 1.25 }));
    let added = page.must(json!({ "do": "add", "object": "ball" }))["body"].clone();
    drop(page);
    let mut page = fixture.connect();
    assert_eq!(page.body("plate")["pitch"], 1.25);
    assert_eq!(page.body("ball")["id"], added);
    let history = page.event(|e| e["event"] == "history");
    assert_eq!(history["undo"], 2);
}
