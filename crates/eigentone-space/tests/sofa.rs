//! SOFA files: a small one of our own, and what is not one.

use eigentone_space::BLOCK;
use eigentone_space::direct::{BUSES, Direct, Spatial, Target};
use eigentone_space::hrtf::{Hrtf, SofaError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn sphere() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sphere.sofa")
}

/// An impulse from the right arrives first and louder at the right ear, 0.66 ms before the left one, at another rate than the file's.
#[test]
fn a_file_is_heard_from_the_right_side() {
    let hrtf = Hrtf::load(&sphere(), 44_100.0).expect("the file of this repository");
    let mut direct = Direct::new(44_100.0, 1, Spatial::Hrtf(Arc::new(hrtf), 16));
    direct.aim(0, Target { direction: [1.0, 0.0, 0.0], ..Target::default() });
    let (mut out, mut buses) = ([[0.0; BLOCK]; 2], [[0.0; BLOCK]; BUSES]);
    let mut x = [0.0; BLOCK];
    x[0] = 1.0;
    direct.add(0, &x, &mut out, &mut buses);
    let onset = |ear: &[f32; BLOCK]| {
        let peak = ear.iter().fold(0.0f32, |m, y| m.max(y.abs()));
        ear.iter().position(|y| y.abs() > 0.3 * peak).expect("sound")
    };
    let [left, right] = &out;
    let apart_s = (onset(left) as f32 - onset(right) as f32) / 44_100.0;
    assert!((apart_s - 0.66e-3).abs() < 0.1e-3, "{apart_s}");
    let energy = |ear: &[f32; BLOCK]| ear.iter().map(|y| y * y).sum::<f32>();
    assert!(energy(right) > 8.0 * energy(left));
}

#[test]
fn what_is_no_sofa_file_is_named() {
    let missing = Hrtf::load(Path::new("/nowhere/at.sofa"), 48_000.0).expect_err("no file");
    assert!(missing.to_string().contains("/nowhere/at.sofa"), "{missing}");
    let text = Hrtf::parse(Path::new("a.txt"), b"just a text", 48_000.0).expect_err("a text");
    assert!(matches!(&text, SofaError::Malformed { .. }) && text.to_string().contains("a.txt"), "{text}");
}

/// Cut short or with any byte changed a file gives an error or a head, never a panic. The parser's own panics are caught; their messages are not wanted here.
#[test]
fn broken_files_are_errors() {
    let good = std::fs::read(sphere()).expect("the file of this repository");
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for length in (0..good.len()).step_by(good.len() / 40) {
        assert!(Hrtf::parse(Path::new("cut"), &good[..length], 48_000.0).is_err());
    }
    for at in (0..good.len()).step_by(37) {
        let mut broken = good.clone();
        broken[at] ^= 0xff;
        let _ = Hrtf::parse(Path::new("changed"), &broken, 48_000.0);
    }
    std::panic::set_hook(hook);
}
