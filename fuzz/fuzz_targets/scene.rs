#![no_main]

use eigentone_scene::Scene;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(scene) = Scene::parse(text, Path::new("."), "fuzz.toml") {
        scene.check().expect("what is read is checked");
        for melody in &scene.melodies {
            melody.score().expect("what is checked can be played");
        }
        for body in &scene.bodies {
            let turn: f64 = body.rotation.quaternion().iter().map(|x| x * x).sum();
            assert!((turn - 1.0).abs() < 1e-9, "{turn}");
        }
    }
});
