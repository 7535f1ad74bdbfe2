//! Takes: what was heard is kept with how it came about, and can be rendered again.

use crate::client::{Client, Fixture, read_back};
use eigentone_modal::Progress;
use eigentone_scene::scene::cache::ModelCache;
use eigentone_scene::{RenderOptions, render};
use eigentone_studio::render_take;
use eigentone_studio::take_file::TakeFile;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A plate and a bar that falls on a rough floor and can be dragged.
const SCENE: &str = r#"title = "take"
[output]
full_scale_pa = 1000
[listener]
position = [0, -0.6, 0.4]
look = [0, 1, 0]
[[body]]
name = "floor"
plane = true
surface = "concrete"
[[body]]
name = "plate"
plate = [0.3, 0.2]
thickness_m = 0.002
edges = "supported"
material = "steel"
position = [0, 0.4, 0.2]
fixed = true
collider = "none"
[[body]]
name = "bar"
bar = [0.22, 0.035, 0.008]
material = "aluminium"
position = [0, 0, 0.05]
"#;

/// Both channels of a WAV file.
fn channels(bytes: &[u8]) -> Vec<Vec<f32>> {
    eigentone_io::read_audio_bytes(bytes).unwrap().channels
}

/// The recording's files, in the fixture's folder.
fn exported(fixture: &Fixture) -> (Vec<Vec<f32>>, PathBuf, TakeFile) {
    let (status, wav) = fixture.http("GET", "/api/export/recording.wav", b"");
    assert_eq!(status, 200);
    let (status, json) = fixture.http("GET", "/api/export/recording.take.json", b"");
    assert_eq!(status, 200);
    let file = fixture.folder.path().join("scene.take.json");
    std::fs::write(&file, &json).unwrap();
    (channels(&wav), file, TakeFile::read(&json).unwrap())
}

fn record(page: &mut Client<'_>, request: Value) {
    page.must(request);
    page.event(|e| e["event"] == "take" && e["recording"] == true);
}

/// The take played again is the same to the last bit.
fn assert_same(fixture: &Fixture) -> Vec<Vec<f32>> {
    let (kept, file, _) = exported(fixture);
    let again = render_take(&file, ModelCache::none(), &Progress::silent()).unwrap();
    let both = |channel: usize| again.samples.iter().skip(channel).step_by(2).copied().collect::<Vec<f32>>();
    let first = (0..kept[0].len()).find(|&i| (0..2).any(|c| kept[c][i].to_bits() != both(c)[i].to_bits()));
    assert_eq!(first, None, "the first of {} samples that differs", kept[0].len());
    assert_eq!(again.samples.len(), 2 * kept[0].len());
    assert!(again.same && again.differences.is_empty(), "{:?}", again.differences);
    kept
}

/// Struck at several times, dragged over the floor, made of another material, stopped, slowed down: what `render` makes of the take is what was recorded, and what was recorded is what the page heard, bit for bit.
#[test]
fn a_take_renders_to_what_was_heard() {
    // A page that gives no credit for a second, because a model is being made or this machine has other things to do, misses frames, which their numbers tell: it has heard the take until then, and may listen to another.
    assert!((0..3).any(|_| heard_of_a_take() > 30_000), "no take was heard for long enough without a gap");
}

/// Records a take; the samples of it that were heard before frames were passed over on the way to the page.
fn heard_of_a_take() -> usize {
    let fixture = Fixture::new(SCENE);
    let mut page = fixture.connect();
    let (plate, bar) = (page.id("plate"), page.id("bar"));
    page.listen();
    page.hear(2000);
    page.must(json!({ "do": "listener", "position": [0.1, -0.5, 0.5], "look": [0, 1, -0.2], "up": [0, 0, 1] }));
    record(&mut page, json!({ "do": "record", "on": true }));
    page.sound.clear();
    (page.next_frame, page.unbroken) = (None, None);
    assert_eq!((page.id("plate"), page.id("bar")), (plate, bar), "bodies keep their numbers");
    page.hear_on(9000);
    page.must(json!({ "do": "strike", "body": plate, "impulse_ns": 0.05, "mallet": "metal" }));
    page.hear_on(14_000);
    let grab = page.must(json!({ "do": "grab", "body": bar, "at": [0, 0, 0.01] }))["grab"].clone();
    for i in 0..12 {
        page.must(json!({ "do": "drag", "grab": grab, "to": [0.03 * f64::from(i), 0.0, 0.01] }));
        page.hear_on(14_000 + 1500 * i as usize);
    }
    page.must(json!({ "do": "release", "grab": grab }));
    page.must(json!({ "do": "set", "body": plate, "material": "glass" }));
    page.must(json!({ "do": "strike", "body": plate, "impulse_ns": 0.03, "at": [0.05, 0.03, 0] }));
    page.hear_on(45_000);
    page.must(json!({ "do": "play", "on": false }));
    page.hear_on(50_000);
    page.must(json!({ "do": "strike", "body": bar, "impulse_ns": 0.02 }));
    page.hear_on(55_000);
    page.must(json!({ "do": "play", "on": true }));
    page.must(json!({ "do": "speed", "value": 0.5 }));
    page.must(json!({ "do": "strike", "body": bar, "impulse_ns": 0.2, "push": true }));
    page.must(json!({ "do": "undo" }));
    page.hear_on(80_000);
    page.must(json!({ "do": "record", "on": false }));
    let heard = page.sound[..page.unbroken.unwrap_or(page.sound.len())].to_vec();
    let kept = assert_same(&fixture);
    // The page may have heard the end of what was before; the take begins where its first sounding samples are.
    let b = kept[0].iter().position(|y| *y != 0.0).unwrap();
    let Some(a) = heard.windows(64).position(|w| *w == kept[0][b..b + 64]) else {
        assert!(page.unbroken.is_some(), "the take's beginning was not heard");
        return 0;
    };
    let length = (heard.len() - a).min(kept[0].len() - b);
    assert!(length > 60_000 || page.unbroken.is_some(), "{length}");
    let first = (0..length).find(|i| heard[a + i] != kept[0][b + i]);
    assert_eq!(first, None, "the first of {length} samples that was heard otherwise");
    let loudest = kept[0].iter().fold(0.0f32, |m, x| m.max(x.abs()));
    assert!(loudest > 1e-3, "{loudest}");
    length
}

/// A scene that plays by itself, saved and rendered by the command, sounds as the studio's take of it: the same sums, scaled in another order, so within some units in the last place of 24 bits.
#[test]
fn what_is_saved_renders_to_what_the_take_has() {
    let events = "[[event]]\nbody = \"plate\"\ntime_s = 0.1\nimpulse_ns = 0.05\n";
    let fixture = Fixture::new(&format!("duration_s = 1.0\n{SCENE}{events}"));
    let mut page = fixture.connect();
    let id = page.id("plate");
    page.listen();
    page.must(json!({ "do": "set", "body": id, "pitch": 1.2, "damping": 2.0 }));
    record(&mut page, json!({ "do": "record", "on": true }));
    page.hear(60_000);
    page.must(json!({ "do": "record", "on": false }));
    page.must(json!({ "do": "save" }));
    let kept = assert_same(&fixture);
    let rendered = render(&read_back(&fixture.file()), &RenderOptions::default(), &Progress::silent()).unwrap();
    let length = rendered.channels[0].len().min(44_100);
    for (take, file) in kept.iter().zip(&rendered.channels) {
        let peak = file.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        let worst = take[..length].iter().zip(&file[..length]).map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
        assert!(peak > 1e-3 && worst <= 1e-6 * peak.max(0.1), "{worst} of {peak}");
    }
}

/// From where things are now: bodies begin there, at rest; the ZIP has sound, take and nothing else that the scene does not read.
#[test]
fn a_take_may_begin_from_now() {
    let fixture = Fixture::new(SCENE);
    let mut page = fixture.connect();
    let bar = page.id("bar");
    page.listen();
    page.hear(44_100);
    record(&mut page, json!({ "do": "record", "on": true, "settle": true }));
    page.hear(10_000);
    page.must(json!({ "do": "strike", "body": bar, "impulse_ns": 0.05 }));
    page.hear(10_000);
    page.must(json!({ "do": "record", "on": false }));
    let (_, _, take) = exported(&fixture);
    let scene = eigentone_scene::Scene::parse(&take.scene, ".".as_ref(), "x").unwrap();
    let height = scene.bodies.iter().find(|b| b.name == "bar").unwrap().position[2];
    assert!(height < 0.02, "it lies on the floor: {height}");
    assert_same(&fixture);
    let (status, zip) = fixture.http("GET", "/api/export/recording.zip", b"");
    assert!(status == 200 && zip.starts_with(b"PK\x03\x04"));
    let names = |name: &str| zip.windows(name.len()).filter(|w| *w == name.as_bytes()).count();
    assert_eq!((names("scene.wav"), names("scene.take.json")), (2, 2));
    // Ending what is not recorded, and recording again, after everything goes back.
    assert_eq!(page.ask(json!({ "do": "record", "on": false }))["ok"], false);
    page.must(json!({ "do": "reset" }));
    page.must(json!({ "do": "strike", "body": bar, "impulse_ns": 0.05 }));
    let heard = page.hear(20_000);
    assert!(heard.iter().any(|x| x.abs() > 1e-4), "it plays on, live");
}

/// Another scene, or no page any more, ends a take; what there is of it is kept.
#[test]
fn what_ends_the_scene_ends_the_take() {
    let fixture = Fixture::new(SCENE);
    let mut page = fixture.connect();
    page.listen();
    record(&mut page, json!({ "do": "record", "on": true }));
    page.hear(10_000);
    page.must(json!({ "do": "open", "scene": "empty" }));
    page.event(|e| e["event"] == "take" && e["recording"] == false && e["ready"] == true);
    let (kept, _, take) = exported(&fixture);
    assert!(kept[0].len() >= 9000 && take.scene_file == "scene.toml");
}
