//! What makes resonators more than banks of modes: measured on their sound.

mod common;

use common::{act, impulse, mix, point, rms, tone};
use eigentone_core::event::Action;
use eigentone_core::{ModalModel, Vec3};
use eigentone_synth::{BLOCK, BodySettings, BridgeSettings, Glide, Nonlinear, Quality, Settings, Shaper, engine};
use std::sync::Arc;

const RATE: f64 = 44_100.0;

fn full() -> Settings {
    Settings { quality: Quality::FULL, ..Settings::default() }
}

fn render(settings: &BodySettings, newton_seconds: f32, actions: &[(u64, Action)], blocks: usize) -> Vec<f32> {
    let (mut handle, mut processor) = engine(full()).unwrap();
    let body = handle.add(settings).unwrap();
    handle.send(impulse(body, 0, newton_seconds)).unwrap();
    actions.iter().for_each(|&(sample, action)| handle.send(act(body, sample, action)).unwrap());
    mix(&mut processor, blocks)
}

/// Frequency near `hz`, from the turn of the phase between two windows.
fn frequency(x: &[f32], hz: f64) -> f64 {
    let half = x.len() / 2;
    let phase = |part: &[f32]| {
        let (re, im) = tone(part, hz, RATE);
        im.atan2(re)
    };
    let expected = std::f64::consts::TAU * hz * half as f64 / RATE;
    let turned = phase(&x[half..]) - phase(&x[..half]);
    // Phases are relative to the start of each window; what is beyond the expected turn is the deviation.
    let deviation = (turned - expected + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI;
    hz + deviation * RATE / (std::f64::consts::TAU * half as f64)
}

/// A gong: eight low modes that a blow excites and sixteen high ones it hardly does.
fn gong() -> Arc<ModalModel> {
    let modes: Vec<(f64, f64, f64)> =
        (0..24).map(|i| (150.0 * 1.22f64.powi(i), 3.0, if i < 12 { 1.0 } else { 0.003 })).collect();
    point(&modes)
}

fn share_above(sound: &[f32], hz: f64) -> f64 {
    // First differences weigh a tone by its frequency; a steep high-pass from a few of them.
    let mut high: Vec<f32> = sound.to_vec();
    for _ in 0..3 {
        high = high.windows(2).map(|w| w[1] - w[0]).collect();
    }
    let norm = (2.0 * (std::f64::consts::PI * hz / RATE).sin()).powi(3);
    rms(&high) / norm / rms(sound)
}

/// A nonlinear body sounds brighter the harder it is struck, a linear one does not.
#[test]
fn brightness_rises_with_level_only_in_nonlinear_bodies() {
    let plain = BodySettings::new(gong());
    for shaper in [Shaper::Square, Shaper::SignedSquare, Shaper::Saturating] {
        let nonlinear = Nonlinear { sections: 3, coupling: 0.8, reference_pa: 1.0, shaper };
        let curved = BodySettings { nonlinear: Some(nonlinear), ..plain.clone() };
        let brightness =
            |settings: &BodySettings, size: f32| share_above(&render(settings, size, &[], 400)[8000..], 3000.0);
        let (soft, hard) = (brightness(&curved, 0.02), brightness(&curved, 1.0));
        assert!(hard > 2.0 * soft, "{shaper:?}: {soft} {hard}");
        let (soft, hard) = (brightness(&plain, 0.02), brightness(&plain, 1.0));
        assert!((hard / soft - 1.0).abs() < 0.01, "linear: {soft} {hard}");
        let sound = render(&curved, 100.0, &[], 5000);
        assert!(sound.iter().all(|y| y.is_finite()));
        assert!(rms(&sound[300_000..]) < 1e-3 * rms(&sound[..100_000]), "it dies away");
    }
}

/// A glide has the set sign and size at high energy and ends at the rest pitch.
#[test]
fn pitch_glides_and_comes_to_rest() {
    for amount in [0.05f32, -0.05] {
        let settings = BodySettings {
            glide: Some(Glide { amount, energy_pa2: 0.001, focus: 0.0 }),
            ..BodySettings::new(point(&[(500.0, 3.0, 1.0)]))
        };
        let sound = render(&settings, 1.0, &[], 2500);
        // While the energy is far above E₀ nearly the whole shift is there.
        let loud = frequency(&sound[2000..6000], 500.0 * (1.0 + f64::from(amount)));
        assert!((loud / 500.0 - 1.0 - f64::from(amount)).abs() < 0.1 * 0.05, "{amount}: {loud} Hz");
        let rest = frequency(&sound[140_000..160_000], 500.0);
        assert!((rest - 500.0).abs() < 0.05, "{rest} Hz");
    }
}

/// Strain shifts the pitch by strain times sensitivity, and back.
#[test]
fn strain_shifts_the_pitch() {
    let settings = BodySettings { strain_sensitivity: 2.0, ..BodySettings::new(point(&[(800.0, 0.5, 1.0)])) };
    let sound = render(&settings, 1.0, &[(0, Action::Strain(0.03)), (44_100, Action::Strain(0.0))], 1500);
    let bent = frequency(&sound[10_000..30_000], 848.0);
    assert!((bent - 848.0).abs() < 0.1, "{bent}");
    let back = frequency(&sound[60_000..90_000], 800.0);
    assert!((back - 800.0).abs() < 0.1, "{back}");
}

/// Damping D divides T60 by D; frequency scales pitch.
#[test]
fn damping_divides_the_decay_time() {
    let d = 2.0;
    for damping in [1.0f32, 3.0, 20.0] {
        let sound = render(
            &BodySettings::new(point(&[(600.0, d, 1.0), (5000.0, d, 1.0)])),
            1.0,
            &[(0, Action::Damping(damping))],
            700,
        );
        for hz in [600.0, 5000.0] {
            let level = |from: usize| common::level_db(&sound[from..from + 2000], hz, RATE);
            let fall = level(500) - level(500 + 6000);
            let found = fall / 8.686 / (6000.0 / RATE);
            assert!((found / (d * f64::from(damping)) - 1.0).abs() < 0.01, "{hz} Hz, D = {damping}: {found}");
        }
    }
    let low = render(&BodySettings::new(point(&[(600.0, d, 1.0)])), 1.0, &[(0, Action::Frequency(0.5))], 300);
    assert!((frequency(&low[1000..15_000], 300.0) - 300.0).abs() < 0.05);
}

/// Two bodies in tune, bridged both ways as strongly as is allowed, and one with itself: bounded for a minute, and dying away.
#[test]
fn a_loop_of_bridges_stays_bounded() {
    let model = point(&[(300.0, 0.2, 1.0), (1000.0, 0.2, 0.7), (4000.0, 0.3, 0.5)]);
    let contact = model.nearest_contact(Vec3::ZERO).unwrap();
    let (mut handle, mut processor) = engine(full()).unwrap();
    let one = handle.add(&BodySettings::new(model.clone())).unwrap();
    let two = handle.add(&BodySettings::new(model.clone())).unwrap();
    let z = [0.0, 0.0, 1.0];
    let granted = handle.bridge(&BridgeSettings::new(one, two, &contact, z, 5.0)).unwrap().coupling;
    assert_eq!(granted, 0.7);
    assert_eq!(handle.bridge(&BridgeSettings::new(two, one, &contact, z, 0.5)).unwrap().coupling, 0.5);
    assert!(
        (handle.bridge(&BridgeSettings::new(one, one, &contact, z, 0.5)).unwrap().coupling - 0.2).abs() < 1e-6,
        "what is left of 0.7"
    );
    handle.send(impulse(one, 0, 1.0)).unwrap();
    let mut loudest = 0.0f64;
    let mut heard_two = 0.0f64;
    let mut last = 0.0;
    for second in 0..60 {
        let mut sum = 0.0f64;
        for _ in 0..44_100 / BLOCK {
            processor.next_block();
            for (id, bus) in processor.buses() {
                let level = rms(bus);
                sum += level;
                heard_two = if id == two { heard_two.max(level) } else { heard_two };
            }
        }
        loudest = loudest.max(sum);
        last = sum;
        assert!(sum.is_finite(), "second {second}");
    }
    assert!(heard_two > 0.05, "the second body answers: {heard_two}");
    assert!(last < 0.2 * loudest, "{last} {loudest}");
}
