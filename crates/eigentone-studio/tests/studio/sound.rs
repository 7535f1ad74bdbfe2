//! What is heard.

use crate::client::{Fixture, PLATE, dominant_hz, rms};
use serde_json::json;

/// First frequency of a simply supported plate, `π/2 · (1/a² + 1/b²) · √(D/ρh)`, with `D = E h³ / 12(1−ν²)`.
fn plate_hz(young_pa: f64, density: f64, poisson: f64) -> f64 {
    let (a, b, h) = (0.3f64, 0.2f64, 0.002f64);
    let stiffness = young_pa * h.powi(3) / (12.0 * (1.0 - poisson * poisson));
    std::f64::consts::FRAC_PI_2 * (a.powi(-2) + b.powi(-2)) * (stiffness / (density * h)).sqrt()
}

/// A blow in the middle with a soft mallet rings at the plate's first frequency; one of four times the impulse is four times as loud; another material has another pitch, and undo brings the first back.
#[test]
fn a_strike_is_heard_at_the_frequency_of_the_plate() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let plate = page.id("plate");
    page.listen();
    page.hear(4096);
    let strike = |impulse: f64| json!({ "do": "strike", "body": plate, "at": [0, 0, 0], "impulse_ns": impulse, "mallet": "felt" });
    let struck = |page: &mut crate::client::Client<'_>, impulse: f64| {
        page.sound.clear();
        page.must(strike(impulse));
        let sound = page.hear_on(65_536);
        let peak = sound.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
        let onset = sound.iter().position(|x| x.abs() > 0.1 * peak).unwrap();
        let sound = sound[onset + 2048..onset + 2048 + 32_768].to_vec();
        // Stopped by hand, so that the next begins in silence.
        page.must(json!({ "do": "hold", "body": plate, "on": true }));
        page.hear(22_050);
        page.must(json!({ "do": "hold", "body": plate, "on": false }));
        // Letting go is heard as late as all motion is; a blow is heard at once.
        page.hear(4096);
        sound
    };
    let steel_hz = plate_hz(200e9, 7850.0, 0.29);
    let soft = struck(&mut page, 0.001);
    let found = dominant_hz(&soft);
    assert!((found / steel_hz - 1.0).abs() < 0.002, "{found} Hz, not {steel_hz}");
    let told = fixture.get_json(&format!("/api/model/{plate}"))["modes"][0]["frequency_hz"].as_f64().unwrap();
    assert!((found / told - 1.0).abs() < 0.002, "{found} Hz, but the model says {told}");

    let hard = struck(&mut page, 0.004);
    let ratio = rms(&hard) / rms(&soft);
    assert!(
        (3.6..4.4).contains(&ratio),
        "four times the impulse is {ratio} times as loud: {} and {}",
        rms(&soft),
        rms(&hard)
    );

    page.must(json!({ "do": "set", "body": plate, "material": "glass" }));
    let glass_hz = plate_hz(65e9, 2500.0, 0.22);
    let found = dominant_hz(&struck(&mut page, 0.01));
    assert!((found / glass_hz - 1.0).abs() < 0.002, "{found} Hz, not {glass_hz}");

    page.must(json!({ "do": "undo" }));
    let found = dominant_hz(&struck(&mut page, 0.01));
    assert!((found / steel_hz - 1.0).abs() < 0.002, "{found} Hz after undo, not {steel_hz}");

    page.must(json!({ "do": "set", "body": plate, "pitch": 1.5 }));
    let found = dominant_hz(&struck(&mut page, 0.01));
    assert!((found / (1.5 * steel_hz) - 1.0).abs() < 0.003, "{found} Hz with the pitch raised");
}

/// The modes of a watched body: asleep before, the lowest sounding at its frequency after a blow, and meters, state and contacts that fit.
#[test]
fn modes_meters_and_state_are_told() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let plate = page.id("plate");
    page.must(json!({ "do": "modes", "body": plate }));
    page.listen();
    page.hear(8192);
    page.packets.clear();
    page.must(json!({ "do": "strike", "body": plate, "at": [0, 0, 0], "impulse_ns": 0.02, "mallet": "felt" }));
    page.hear(22_050);
    let f32_at = |b: &[u8], at: usize| f32::from_le_bytes(b[at..at + 4].try_into().unwrap());
    let u32_at = |b: &[u8], at: usize| u32::from_le_bytes(b[at..at + 4].try_into().unwrap());
    let f64_at = |b: &[u8], at: usize| f64::from_le_bytes(b[at..at + 8].try_into().unwrap());
    let last =
        |kind: u8| page.packets.iter().rev().find(|p| p[0] == kind).unwrap_or_else(|| panic!("no packet {kind}"));

    let modes = last(5);
    let (count, bands) = (u32_at(modes, 16) as usize, u32_at(modes, 20) as usize);
    assert_eq!(f64_at(modes, 8) as u64, plate);
    assert_eq!(modes.len(), 24 + 12 * count + 8 * bands);
    let first = (f32_at(modes, 24), f32_at(modes, 28), u32_at(modes, 32));
    assert!((first.0 - 160.0).abs() < 30.0 && first.1 > 20.0 && first.2 == 1, "{first:?}");
    assert!(bands > 10);

    let meters = last(4);
    assert_eq!(meters.len(), 16 + 4 * 18);
    assert!(f32_at(meters, 16) > 1e-4 && f32_at(meters, 32) > -80.0, "peak and loudness");
    assert!(f32_at(meters, 36) > 0.0 && f32_at(meters, 36) < 1.0, "load");
    assert!(f32_at(meters, 40) > 0.0, "modes");

    let state = last(2);
    assert_eq!((u32_at(state, 24), state.len()), (1, 32 + 44));
    assert_eq!(f64_at(state, 32) as u64, plate);
    assert!(f32_at(state, 68) > 30.0, "level {}", f32_at(state, 68));
    assert_eq!(u32_at(state, 72) & 1, 1, "it sounds");

    let contact = page.packets.iter().find(|p| p[0] == 3).unwrap();
    assert_eq!((u32_at(contact, 16), contact.len()), (1, 24 + 40));
    assert_eq!((f64_at(contact, 24), f64_at(contact, 32) as u64), (0.0, plate));
    assert!((f32_at(contact, 52) - 0.02).abs() < 1e-6);
}

/// A body that falls is dragged up again by the mouse, follows it, and is heard when it lands.
#[test]
fn a_body_is_dragged_and_thrown() {
    let scene = "[[body]]\nname = 'floor'\nplane = true\n[[body]]\nname = 'box'\nbox = [0.1, 0.1, 0.1]\nmaterial = 'wood'\nposition = [0, 0, 0.06]\n";
    let fixture = Fixture::new(scene);
    let mut page = fixture.connect();
    let id = page.id("box");
    page.listen();
    page.hear(8192);
    let grab = page.must(json!({ "do": "grab", "body": id, "at": [0, 0, 0.06] }))["grab"].as_u64().unwrap();
    for step in 1..=40 {
        page.must(json!({ "do": "drag", "grab": grab, "to": [0.01 * step as f64, 0, 0.06 + 0.01 * step as f64] }));
        page.hear(882);
    }
    page.hear(8192);
    let state = page.packets.iter().rev().find(|p| p[0] == 2).unwrap().clone();
    let entry = state[32..].chunks(44).find(|e| f64::from_le_bytes(e[..8].try_into().unwrap()) as u64 == id).unwrap();
    let at = |i: usize| f32::from_le_bytes(entry[8 + 4 * i..12 + 4 * i].try_into().unwrap());
    assert!((at(0) - 0.4).abs() < 0.08 && (at(2) - 0.46).abs() < 0.08, "it followed to {}, {}", at(0), at(2));
    page.packets.clear();
    page.must(json!({ "do": "release", "grab": grab }));
    let sound = page.hear(33_000);
    assert!(rms(&sound) > 1e-5, "it is heard when it lands");
    assert!(page.packets.iter().any(|p| p[0] == 3), "its impact is told");
    let answer = page.ask(json!({ "do": "drag", "grab": grab, "to": [0, 0, 0] }));
    assert_eq!(answer["ok"], false, "what was let go cannot be dragged");
}

/// Whoever leads the clock leaves: the other goes on listening. With nobody there everything stops, and goes on when a page comes back.
#[test]
fn the_clock_is_handed_over_and_rests_without_pages() {
    let fixture = Fixture::new(PLATE);
    let mut second = fixture.connect();
    {
        let mut first = fixture.connect();
        first.listen();
        first.hear(2048);
        second.listen();
        first.hear(8192);
    }
    second.hear(16_384);
    let plate = second.id("plate");
    second.must(json!({ "do": "strike", "body": plate, "impulse_ns": 0.05 }));
    assert!(rms(&second.hear(16_384)) > 1e-5);
    drop(second);
    std::thread::sleep(std::time::Duration::from_millis(2600));
    let cpu = |_: ()| {
        std::fs::read_to_string("/proc/self/stat").ok().and_then(|s| {
            let fields: Vec<u64> = s.rsplit(')').next()?.split_whitespace().filter_map(|f| f.parse().ok()).collect();
            Some(fields.get(10)? + fields.get(11)?)
        })
    };
    if let Some(before) = cpu(()) {
        std::thread::sleep(std::time::Duration::from_millis(1000));
        // In hundredths of a second; other tests run in the same process, so this only tells on its own.
        let alone = std::env::var_os("RUST_TEST_THREADS").is_some_and(|n| n == "1");
        let spent = cpu(()).unwrap() - before;
        assert!(!alone || spent <= 3, "{spent} hundredths of a second were spent with no page open");
    }
    let mut third = fixture.connect();
    third.listen();
    third.must(json!({ "do": "strike", "body": plate, "impulse_ns": 0.05 }));
    assert!(rms(&third.hear(16_384)) > 1e-5, "it resumes");
}
