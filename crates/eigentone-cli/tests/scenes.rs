//! The demo's scenes are those that ship.

use std::path::Path;

/// A package holds only its own folder, so the command has copies.
#[test]
fn the_demo_plays_the_scenes_that_ship() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let shared = own.join("../../../scenes");
    let files: Vec<_> = std::fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files.len(), 5);
    for file in files {
        let text = |folder: &Path| std::fs::read_to_string(folder.join(&file)).unwrap();
        assert_eq!(text(&own), text(&shared), "copy scenes/{} to crates/eigentone-cli/scenes", file.display());
    }
}
