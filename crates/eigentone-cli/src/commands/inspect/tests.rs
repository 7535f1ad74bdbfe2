//! What is told of scenes.

use super::file::{Inspected, Inspection};
use eigentone::Error;

fn inspected(text: &str) -> Result<Inspected, Error> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scene.toml");
    std::fs::write(&file, text).unwrap();
    Inspected::new(&file, 1.0)
}

const ROOM: &str = "[acoustics]\nroom = 'shoebox'\nsize = [5, 4, 2.5]\nf_max_hz = 300\nmaterials = { wall = 'brick' }\n\
                    spacing_m = 2\n";

#[test]
fn rooms_are_counted_and_drawn_unless_there_are_bodies() {
    let alone = inspected(ROOM).unwrap();
    let Inspection::Scene(scene) = &alone.inspection else { panic!("not a scene") };
    let acoustics = scene.acoustics.as_ref().unwrap();
    assert!(acoustics.probes > 1 && acoustics.cell_m.is_some() && acoustics.materials.len() == 1);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    let stage = inspected(&format!("{ROOM}[[body]]\nname = 'pea'\nsphere = 0.1\n")).unwrap();
    let size = |i: &Inspected| [i.picture().width(), i.picture().height()];
    assert_eq!(size(&stage), [1400, 780]);
    assert_ne!(size(&alone), [1400, 780]);
    // What cannot be simulated is told, and something is drawn all the same.
    let broken = inspected("[acoustics]\nroom = 'palace'\n").unwrap();
    let Inspection::Scene(scene) = &broken.inspection else { panic!("not a scene") };
    assert!(scene.acoustics.as_ref().unwrap().warnings[0].contains("palace"));
    assert!(broken.picture().png_bytes().len() > 1000);
}

#[test]
fn an_inspected_scene_is_counted_and_its_faults_are_told() {
    let text = "title = 'a test'\nduration_s = 2\nseed = 9\n[[body]]\nplane = true\n[[body]]\nname = 'pea'\nsphere = 0.01\n\
                material = 'peas'\nsurface = 'no such'\n[body.copies]\ncount = [3, 2, 1]\n[[body]]\nname = 'bell'\n\
                mesh = 'missing.obj'\n[[event]]\ntime_s = 0.1\nbody = 'bell'\nimpulse_ns = 1\n";
    let found = inspected(text).unwrap();
    let Inspection::Scene(scene) = &found.inspection else { panic!("not a scene") };
    assert_eq!((scene.title.as_str(), scene.duration_s, scene.seed), ("a test", 2.0, 9));
    assert_eq!((scene.bodies, scene.sounding, scene.events, scene.particles), (8, 7, 1, 0));
    assert_eq!(scene.surfaces, ["no such"]);
    for word in ["missing.obj", "peas", "no such"] {
        assert!(scene.warnings.iter().any(|w| w.contains(word)), "{word}: {:?}", scene.warnings);
    }
    assert!(found.picture().png_bytes().len() > 1000);
    let error = inspected("[[body]]\nsphere = 1\npostion = [0, 0, 1]\n").err().unwrap();
    assert!(error.to_string().contains("did you mean `position`?"));
}
