//! Links that somebody has put where the studio reads and writes: never followed out of a folder.
#![cfg(unix)]

use crate::client::{Fixture, PLATE};
use eigentone_scene::scene::cache::ModelCache;
use eigentone_studio::Options;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const SECRET: &str = "# secret\n";

const TETRAHEDRON: &[u8] = b"v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

/// A folder with a scene, one with models and one that nobody may touch.
struct Places {
    fixture: Option<Fixture>,
    outside: tempfile::TempDir,
    scene: PathBuf,
    cache: PathBuf,
}

impl Places {
    /// Something is put beside the scene before the studio begins.
    fn new(before: impl FnOnce(&Path, &Path)) -> Self {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret.toml"), SECRET).unwrap();
        let home = folder.path().join("home");
        let cache = folder.path().join("cache");
        std::fs::create_dir(&home).unwrap();
        let scene = home.join("scene.toml");
        std::fs::write(&scene, PLATE).unwrap();
        before(&home, outside.path());
        let options = Options {
            scene: Some(scene.clone()),
            home: Some(home),
            cache: ModelCache::in_folder(&cache),
            ..Options::default()
        };
        Self { fixture: Some(Fixture::of(options, folder)), outside, scene, cache }
    }

    fn fixture(&self) -> &Fixture {
        self.fixture.as_ref().unwrap()
    }

    fn secret(&self) -> PathBuf {
        self.outside.path().join("secret.toml")
    }

    /// Nothing outside has changed or come.
    fn assert_untouched(&self) {
        assert_eq!(std::fs::read_to_string(self.secret()).unwrap(), SECRET);
        assert_eq!(std::fs::read_dir(self.outside.path()).unwrap().count(), 1);
    }
}

/// A name that is a link is taken, wherever it leads; a scene that has become a link to another folder is not saved.
#[test]
fn a_scene_is_not_saved_through_a_link() {
    let places = Places::new(|home, outside| {
        symlink(outside.join("secret.toml"), home.join("link.toml")).unwrap();
        symlink(outside.join("new.toml"), home.join("dangling.toml")).unwrap();
        symlink(outside, home.join("folder.toml")).unwrap();
    });
    let mut page = places.fixture().connect();
    for name in ["link", "link.toml", "dangling", "folder"] {
        assert_eq!(page.ask(json!({ "do": "save", "file": name }))["ok"], false, "{name}");
    }
    std::fs::remove_file(&places.scene).unwrap();
    symlink(places.secret(), &places.scene).unwrap();
    let answer = page.ask(json!({ "do": "save" }));
    assert!(answer["ok"] == false && answer["error"].as_str().unwrap().contains("link"), "{answer}");
    std::fs::remove_file(&places.scene).unwrap();
    symlink(places.outside.path().join("new.toml"), &places.scene).unwrap();
    assert_eq!(page.ask(json!({ "do": "save" }))["ok"], false, "a link that leads nowhere");
    places.assert_untouched();
    assert_eq!(page.ask(json!({ "do": "save", "file": "elsewhere" }))["ok"], true);
}

/// A link in the autosave's place is replaced by the autosave, and is not read.
#[test]
fn an_autosave_is_neither_written_nor_read_through_a_link() {
    let mut places = Places::new(|home, outside| {
        symlink(outside.join("secret.toml"), home.join("scene.toml.autosave")).unwrap();
        symlink(outside.join("secret.toml"), home.join("scene.toml.autosave.before")).unwrap();
    });
    let mut page = places.fixture().connect();
    let hello = page.event(|e| e["event"] == "hello");
    assert_eq!(hello["autosave"], false, "a link is not unsaved work");
    let answer = page.ask(json!({ "do": "open", "scene": "autosave" }));
    assert!(answer["ok"] == false && !answer.to_string().contains("secret"), "{answer}");
    let plate = page.id("plate");
    page.must(json!({ "do": "set", "body": plate, "pitch": 1.5 }));
    drop(page);
    // Ending the studio writes what is not saved.
    let Fixture { studio, folder, .. } = places.fixture.take().unwrap();
    drop(studio);
    let kept = places.scene.with_file_name("scene.toml.autosave");
    assert!(kept.symlink_metadata().unwrap().is_file(), "it is a file of its own now");
    assert!(std::fs::read_to_string(&kept).unwrap().contains("pitch"));
    places.assert_untouched();
    drop(folder);
}

/// Uploaded files do not leave their folder by a link, on the way in or when a scene is saved.
#[test]
fn uploads_do_not_follow_links() {
    let places = Places::new(|_, _| {});
    let mut page = places.fixture().connect();
    let upload =
        || places.fixture().http("POST", "/api/mesh?name=..%2f..%2fevil%00%5c.obj&material=steel", TETRAHEDRON);
    let (status, answer) = upload();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
    let session = std::fs::read_dir(places.cache.join("studio")).unwrap().next().unwrap().unwrap().path();
    let uploads = session.join("uploads");
    let kept: Vec<PathBuf> = std::fs::read_dir(&uploads).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let name = kept[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) && !name.contains(".."), "{name}");
    // A link in place of the kept file is replaced when the same file comes again.
    std::fs::remove_file(&kept[0]).unwrap();
    symlink(places.outside.path().join("victim.obj"), &kept[0]).unwrap();
    assert_eq!(upload().0, 200);
    assert!(kept[0].symlink_metadata().unwrap().is_file());
    places.assert_untouched();
    // The folder beside the scene may be a link.
    let beside = places.scene.with_file_name("uploads");
    symlink(places.outside.path(), &beside).unwrap();
    assert_eq!(page.ask(json!({ "do": "save" }))["ok"], false, "the folder is a link");
    places.assert_untouched();
    // Or a file in it.
    std::fs::remove_file(&beside).unwrap();
    std::fs::create_dir(&beside).unwrap();
    symlink(places.outside.path().join("victim.obj"), beside.join(&name)).unwrap();
    page.must(json!({ "do": "save" }));
    assert!(beside.join(&name).symlink_metadata().unwrap().is_file());
    places.assert_untouched();
    // What is a link in the kept folder is not copied out of it.
    std::fs::remove_file(beside.join(&name)).unwrap();
    std::fs::remove_file(&kept[0]).unwrap();
    symlink(places.secret(), &kept[0]).unwrap();
    page.must(json!({ "do": "save" }));
    assert!(!beside.join(&name).exists());
    let (status, text) = places.fixture().http(
        "POST",
        "/api/scene",
        format!("[[body]]\nmesh = \"uploads/{name}\"\nmaterial = \"steel\"\n").as_bytes(),
    );
    assert!(
        status == 400 && !String::from_utf8_lossy(&text).contains("# secret"),
        "a scene does not read through a link"
    );
}
