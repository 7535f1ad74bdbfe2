//! Rest, masking, exchange of models, comparison and leaving: what happens on the way of the sound.

use crate::client::{Client, Fixture, PLATE, rms};
use eigentone_scene::Scene;
use eigentone_scene::scene::{RenderOptions, render};
use serde_json::{Value, json};
use std::time::Duration;

/// Parts of a tenth of a second that a model may take to be made.
const MAX_WAITS: usize = 1200;

fn f32_at(bytes: &[u8], at: usize) -> f32 {
    f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Packets of meters that came.
fn meters<'a>(page: &'a Client<'_>) -> impl Iterator<Item = &'a Vec<u8>> {
    page.packets.iter().filter(|p| p[0] == 4)
}

/// What the studio begins with comes to rest: after eight seconds of simulated time nothing is louder than −80 dBFS.
#[test]
fn the_table_of_things_comes_to_rest() {
    let text = include_str!("../../scenes/default.toml").replace("duration_s = 600", "duration_s = 16");
    let scene = Scene::parse(&text, std::path::Path::new("."), "default.toml").unwrap();
    let silent = eigentone_modal::Progress::silent();
    let rendering = render(&scene, &RenderOptions::default(), &silent).unwrap();
    let peak = |from_s: f64, to_s: f64| {
        let frames = (from_s * 44_100.0) as usize..(to_s * 44_100.0) as usize;
        rendering.channels.iter().flat_map(|c| &c[frames.clone()]).fold(0.0f32, |peak, x| peak.max(x.abs()))
    };
    assert!(peak(0.0, 1.0) > 1e-2, "it is heard at first: {}", peak(0.0, 1.0));
    for second in 8..16 {
        let peak = peak(f64::from(second), f64::from(second + 1));
        assert!(peak < 1e-4, "{} dBFS in second {second}", 20.0 * peak.log10());
    }
}

/// Four steel panes, whose hundreds of modes mask one another.
fn panes() -> String {
    let pane = |i: usize| {
        format!(
            "[[body]]\nname = 'pane {i}'\nplate = [0.5, 0.4]\nthickness_m = 0.001\nmaterial = 'steel'\nedges = 'supported'\nfixed = true\nposition = [{}, 0, 0.2]\n",
            i as f64 * 0.6 - 0.9
        )
    };
    (0..4).map(pane).collect::<String>() + "[quality]\nmasking_db = 5\nplayback_db = 70\n"
}

/// The share of modes that are kept is those mixed of all that ring; the further below others a mode may hide, the fewer are left out, and without masking all are kept.
#[test]
fn the_kept_share_rises_with_the_masking_threshold() {
    let fixture = Fixture::new(&panes());
    let mut page = fixture.connect();
    page.listen();
    page.must(json!({ "do": "hail", "on": true, "center": [0, 0, 0.8], "size": [2.4, 0.4, 0.2], "particles": 300 }));
    page.hear(66_150);
    let mut shares = Vec::new();
    for masking in [json!(0), json!(6), json!(15), Value::Null] {
        page.must(json!({ "do": "quality", "masking_db": masking }));
        page.hear(22_050);
        page.packets.clear();
        page.hear(88_200);
        let told: Vec<f32> = meters(&page).map(|p| f32_at(p, 16 + 4 * 15)).filter(|x| x.is_finite()).collect();
        assert!(told.len() > 20 && told.iter().all(|x| (0.0..=1.0).contains(x)), "{told:?}");
        shares.push(told.iter().sum::<f32>() / told.len() as f32);
    }
    assert!(shares.windows(2).all(|s| s[0] + 0.02 < s[1]), "{shares:?}");
    assert!(shares[0] < 0.6 && shares[3] > 0.95, "{shares:?}");
}

/// Power of a sound around a frequency, by a Hann window of its whole length.
fn power_at(sound: &[f32], hz: f64) -> f64 {
    let n = sound.len() as f64;
    let (mut re, mut im) = (0.0, 0.0);
    for (i, x) in sound.iter().enumerate() {
        let window = 0.5 - 0.5 * (2.0 * std::f64::consts::PI * i as f64 / n).cos();
        let (sin, cos) = (2.0 * std::f64::consts::PI * hz * i as f64 / 44_100.0).sin_cos();
        re += f64::from(*x) * window * cos;
        im += f64::from(*x) * window * sin;
    }
    re * re + im * im
}

/// `provisional` ends when the sound that has come is the final model's, not before. After a change of material a bell first sounds as the old model with all frequencies in the ratio of the speeds of sound, `√(E/ρ)`;
/// the true ones also depend on Poisson's ratio, as `1/√(1−ν²)` for a shell. It rings all the time: of what comes after the word, nothing is of the first kind.
#[test]
fn a_body_is_provisional_until_its_own_model_is_heard() {
    let scene = "[[body]]\nname = 'bell'\nbell = { lip_radius = 0.06, height = 0.1, around = 24, along = 8 }\nthickness_m = 0.004\nmaterial = 'glass'\nfixed = true\nposition = [0, 0, 1]\n[listener]\nposition = [0, -0.6, 1]\n";
    let fixture = Fixture::new(scene);
    let mut page = fixture.connect();
    let bell = page.id("bell");
    page.listen();
    for _ in 0..MAX_WAITS {
        if page.body_now(bell)["provisional"] == false {
            break;
        }
        page.hear(4096);
    }
    let glass_hz = page.body_now(bell)["first_hz"].as_f64().unwrap();
    let materials = fixture.get_json("/api/materials");
    let of = |name: &str| materials.as_array().unwrap().iter().find(|m| m["name"] == name).unwrap().clone();
    let speed = |m: &Value| (m["young_pa"].as_f64().unwrap() / m["density_kg_m3"].as_f64().unwrap()).sqrt();
    let like_hz = glass_hz * speed(&of("brass")) / speed(&of("glass"));
    page.must(json!({ "do": "set", "body": bell, "material": "brass" }));
    assert_eq!(page.body_now(bell)["provisional"], true, "its model has to be made");

    page.sound.clear();
    let begin = page.received;
    let strike = json!({ "do": "strike", "body": bell, "at": [0.06, 0, 0], "direction": [-1, 0, 0], "impulse_ns": 0.01, "mallet": "rubber" });
    for _ in 0..MAX_WAITS {
        if page.body_now(bell)["provisional"] == false {
            break;
        }
        page.send_text(&strike.to_string());
        page.hear_on(page.sound.len() + 4096);
    }
    let told = |e: &&Value| e["event"] == "body" && e["body"]["id"] == bell && e["body"]["provisional"] == false;
    let event = page.events.iter().rev().find(told).expect("its model is made in the end").clone();
    let from = event["received"].as_u64().unwrap() as usize - begin;
    let brass_hz = event["body"]["first_hz"].as_f64().unwrap();
    assert!((brass_hz / like_hz - 1.0).abs() > 0.01, "the two can be told apart: {like_hz} and {brass_hz} Hz");
    let sound = page.hear_on(from + 8192)[from..].to_vec();
    let ratio_db = 10.0 * (power_at(&sound, like_hz) / power_at(&sound, brass_hz)).log10();
    assert!(ratio_db < -40.0, "{like_hz} Hz is still heard at {ratio_db} dB of {brass_hz} Hz");
}

/// A state with a gain four times as large is played as loud as the other while the two are compared, and at its own level as soon as something is changed.
#[test]
fn compared_states_are_equally_loud() {
    // So damped that each blow is over before the next.
    let fixture = Fixture::new(&PLATE.replace("fixed = true", "fixed = true\ndamping = 30"));
    let mut page = fixture.connect();
    let plate = page.id("plate");
    page.listen();
    page.hear(4096);
    let level_db = |page: &mut Client<'_>| {
        page.sound.clear();
        page.must(
            json!({ "do": "strike", "body": plate, "at": [0.03, 0.02, 0], "impulse_ns": 0.002, "mallet": "rubber" }),
        );
        let sound = page.hear_on(66_150);
        let peak = sound.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
        let onset = sound.iter().position(|x| x.abs() > 0.1 * peak).unwrap();
        20.0 * rms(&sound[onset..onset + 17_640]).log10()
    };
    let quiet = level_db(&mut page);
    page.must(json!({ "do": "ab", "slot": "a", "store": true }));
    page.must(json!({ "do": "set", "body": plate, "gain": 3.981 }));
    let loud = level_db(&mut page);
    assert!((loud - quiet - 12.0).abs() < 0.5, "by itself it is {} dB louder", loud - quiet);
    page.must(json!({ "do": "ab", "slot": "b", "store": true }));

    page.must(json!({ "do": "ab", "slot": "a", "store": false }));
    let a = level_db(&mut page);
    let trim = page.must(json!({ "do": "ab", "slot": "b", "store": false }))["trim_db"].as_f64().unwrap();
    let b = level_db(&mut page);
    assert!((trim + 12.0).abs() < 0.2, "turned down by {trim} dB");
    assert!((a - b).abs() < 1.0, "{a} and {b} dB");
    assert!((a - quiet).abs() < 0.5, "the quieter one is as it was: {a} and {quiet} dB");

    page.must(json!({ "do": "set", "body": plate, "gain": 3.98 }));
    page.event(|e| e["event"] == "trim" && e["trim_db"] == 0.0);
    let changed = level_db(&mut page);
    assert!((changed - loud).abs() < 0.5, "what is changed is heard at its own level: {changed} and {loud} dB");
}

/// Two seconds after the last page has left no block is rendered any more: six seconds later the count of frames has gone on for no more than four.
#[test]
fn nothing_is_rendered_when_nobody_is_there() {
    let fixture = Fixture::new(PLATE);
    let last_frame = |page: &mut Client<'_>| {
        page.packets.clear();
        page.hear(8192);
        meters(page).map(|p| u64_at(p, 8)).max().unwrap()
    };
    let mut page = fixture.connect();
    page.listen();
    let before = last_frame(&mut page);
    drop(page);
    std::thread::sleep(Duration::from_secs(6));
    let mut page = fixture.connect();
    page.must(json!({ "do": "play", "on": true }));
    page.packets.clear();
    while meters(&page).next().is_none() {
        page.next(Duration::from_secs(5));
    }
    let after = meters(&page).map(|p| u64_at(p, 8)).next().unwrap();
    let went_on_s = (after - before) as f64 / 44_100.0;
    assert!(went_on_s < 4.0, "the world went on for {went_on_s} s");
}
