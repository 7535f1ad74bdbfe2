//! `play` and stems.

mod common;

use common::Bench;

const SCENE: &str = "duration_s = 1\n[[body]]\nplane = true\nsurface = 'wood'\n[[body]]\nname = 'block'\nbox = [0.1, 0.06, 0.04]\nmaterial = 'wood'\nsurface = 'wood'\nposition = [0, 0, 0.2]\n";

/// The report of a scene that was played live without a device has the keys that programs rely on.
#[test]
fn playing_without_a_device_is_reported() {
    let bench = Bench::new();
    let scene = bench.write("fall.toml", SCENE);
    let report =
        bench.json(&["play", scene.to_str().unwrap(), "--headless", "--seconds", "0.5", "--json", "--no-cache"]);
    for key in [
        "seconds",
        "blocks",
        "late_blocks",
        "block_share_median",
        "block_share_worst",
        "latency_ms",
        "realtime_factor",
        "modes_mixed_mean",
    ] {
        assert!(report[key].is_number(), "{key}: {report}");
    }
    assert!(report["blocks"].as_u64().unwrap() > 40, "{report}");
    let out = bench.run(&["play", scene.to_str().unwrap(), "--headless", "--seconds", "-1"]);
    assert_eq!(out.status.code(), Some(2));
    if !cfg!(feature = "device") {
        let out = bench.run(&["play", scene.to_str().unwrap()]);
        assert!(String::from_utf8_lossy(&out.stderr).contains("--headless"), "a way out");
    }
}

/// The stem of the only body that sounds is the mix before distance and direction: with the listener one metre in front, both are the same.
#[test]
fn stems_are_the_parts_of_the_mix() {
    let bench = Bench::new();
    let text = format!(
        "{SCENE}collider = 'none'\n[listener]\nposition = [0, -1, 0.2]\n[output]\nfull_scale_pa = 20\n[[event]]\ntime_s = 0.1\nbody = 'block'\nimpulse_ns = 0.02\n"
    );
    let scene = bench.write("blow.toml", text);
    bench.good(&[
        "render",
        scene.to_str().unwrap(),
        "-o",
        "mix.wav",
        "--stems",
        "stems",
        "--format",
        "float32",
        "--no-cache",
    ]);
    let stems: Vec<_> = std::fs::read_dir(bench.path("stems")).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(stems.len(), 1, "{stems:?}");
    let mix = eigentone::io::read_audio(&bench.path("mix.wav")).unwrap();
    let stem = eigentone::io::read_audio(&stems[0]).unwrap();
    let (mix, stem) = (&mix.channels[0], &stem.channels[0]);
    let peak = mix.iter().fold(0.0f32, |m, y| m.max(y.abs()));
    let worst = mix.iter().zip(stem).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(mix.len() == stem.len() && peak > 1e-4 && worst < 1e-3 * peak, "{worst} {peak}");
}
