//! What is heard of sources at rest, in motion, and that come and go.

use super::*;
use crate::hrtf::tests::spherical_head;
use eigentone_core::Noise;
use std::f64::consts::TAU;

const RATE_HZ: f64 = 44_100.0;

type Heard = ([[f32; BLOCK]; 2], [[f32; BLOCK]; BUSES]);

fn spatials() -> [Spatial; 3] {
    let head = Hrtf::from_measurements(&spherical_head(RATE_HZ, 256), RATE_HZ, RATE_HZ).expect("a head");
    [Spatial::Pan, Spatial::Head, Spatial::Hrtf(Arc::new(head), 2)]
}

fn add(direct: &mut Direct, slot: usize, x: &[f32; BLOCK]) -> Heard {
    let mut heard = ([[0.0; BLOCK]; 2], [[0.0; BLOCK]; BUSES]);
    direct.add(slot, x, &mut heard.0, &mut heard.1);
    heard
}

fn tone(hz: f64, block: usize) -> [f32; BLOCK] {
    std::array::from_fn(|n| (TAU * hz / RATE_HZ * (block * BLOCK + n) as f64).sin() as f32)
}

/// Largest second difference of the left ear: clicks stand out in it, and a pure tone has `(2 sin πf/fs)²`.
fn bend(sound: &[f32]) -> f32 {
    sound.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).fold(0.0, f32::max)
}

#[test]
fn in_front_and_above_both_ears_hear_the_same() {
    for spatial in spatials() {
        for direction in [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]] {
            let mut direct = Direct::new(RATE_HZ, 1, spatial.clone());
            direct.aim(0, Target { direction, tilt_db: -3.0, directivity_gain: 0.5, ..Target::default() });
            for b in 0..20 {
                let ([left, right], _) = add(&mut direct, 0, &tone(700.0, b));
                let apart = left.iter().zip(&right).map(|(l, r)| (l - r).abs()).fold(0.0, f32::max);
                assert!(apart < 0.02, "{spatial:?} {direction:?}: {apart}");
                assert!(b < 2 || left.iter().any(|y| y.abs() > 0.1), "{spatial:?} sounds");
            }
        }
    }
}

/// One at low frequencies, and Brown and Duda's `α` at high ones, at both ears.
#[test]
fn shadow_acts_on_high_frequencies_only() {
    let loudest = |hz: f64, direction: [f32; 3]| {
        let mut direct = Direct::new(RATE_HZ, 1, Spatial::Head);
        direct.aim(0, Target { direction, ..Target::default() });
        let mut peak = [0.0f32; 2];
        for b in 0..60 {
            let (out, _) = add(&mut direct, 0, &tone(hz, b));
            for ear in 0..2 {
                peak[ear] = out[ear].iter().fold(if b < 30 { 0.0 } else { peak[ear] }, |m, y| m.max(y.abs()));
            }
        }
        peak
    };
    let [left, right] = loudest(50.0, [1.0, 0.0, 0.0]);
    assert!((left - 1.0).abs() < 0.02 && (right - 1.0).abs() < 0.02, "{left} {right}");
    let [left, right] = loudest(12_000.0, [1.0, 0.0, 0.0]);
    let ears = head::ears(1.0);
    assert!((right / ears[1].shadow - 1.0).abs() < 0.05 && (left / ears[0].shadow - 1.0).abs() < 0.1, "{left} {right}");
}

/// A source that passes at 20 m/s one metre away: the second difference stays that of a tone whose pitch is moved by the ears' delays. A step of 1 % would add 0.01.
#[test]
fn motion_does_not_click() {
    for spatial in spatials() {
        let render = |speed_m_s: f32| {
            let mut direct = Direct::new(RATE_HZ, 1, spatial.clone());
            let mut sound = Vec::new();
            for b in 0..400 {
                let along = speed_m_s * (b as f32 - 200.0) * BLOCK as f32 / RATE_HZ as f32;
                let distance_m = (along * along + 1.0).sqrt();
                let target = Target {
                    direction: [along, 1.0, 0.1],
                    tilt_db: -1.0 - along.abs().min(3.0),
                    directivity_gain: 0.5 + 0.5 / distance_m,
                    gain: 1.0,
                    ..Target::default()
                };
                direct.aim(0, target);
                sound.extend(add(&mut direct, 0, &tone(300.0, b)).0[0]);
            }
            sound
        };
        let skip = 20 * BLOCK;
        let peak = |s: &[f32]| s.iter().fold(0.0f32, |m, y| m.max(y.abs()));
        let (moving, still) = (render(20.0), render(0.0));
        let of_tone = (2.0 * (std::f64::consts::PI * 300.0 / RATE_HZ).sin()).powi(2) as f32;
        let per_peak = bend(&moving[skip..]) / peak(&moving[skip..]);
        assert!((bend(&still[skip..]) / peak(&still[skip..]) / of_tone - 1.0).abs() < 0.05, "{spatial:?}");
        assert!(per_peak < 1.15 * of_tone + 1.5e-3, "{spatial:?}: {per_peak} for a tone's {of_tone}");
    }
}

/// From nothing to loud to nothing, from left to right at once, in one block each: lines and limited delays, no leaps.
#[test]
fn leaps_of_targets_become_lines() {
    for spatial in spatials() {
        let mut direct = Direct::new(RATE_HZ, 1, spatial.clone());
        let mut sound = Vec::new();
        for b in 0..200 {
            let side = if b / 40 % 2 == 0 { 1.0 } else { -1.0 };
            let gain = if b / 20 % 2 == 0 { 1.0 } else { 0.0 };
            direct.aim(0, Target { direction: [side, 0.0, 0.0], gain, tilt_db: -3.0 * gain, ..Target::default() });
            sound.extend(add(&mut direct, 0, &tone(300.0, b)).0[0]);
        }
        let largest = bend(&sound[10 * BLOCK..]);
        assert!(largest < 0.03, "{spatial:?}: {largest}");
    }
}

#[test]
fn sends_sum_and_go_in_lines() {
    let mut direct = Direct::new(RATE_HZ, 2, Spatial::Head);
    let target = Target { gain: 0.0, early: [0.1, 0.0, 0.3], late: [0.0, 0.5, -0.6], ..Target::default() };
    direct.aim(0, target);
    direct.aim(1, target);
    let x = [1.0; BLOCK];
    let mut heard = ([[0.0; BLOCK]; 2], [[0.0; BLOCK]; BUSES]);
    direct.add(0, &x, &mut heard.0, &mut heard.1);
    direct.add(1, &x, &mut heard.0, &mut heard.1);
    for (bus, gain) in heard.1.iter().zip([0.1, 0.0, 0.3, 0.0, 0.5, -0.6]) {
        assert!(bus.iter().all(|y| (y - 2.0 * gain).abs() < 1e-6));
    }
    assert_eq!(heard.0, [[0.0; BLOCK]; 2]);
    direct.aim(0, Target { early: [0.1, 0.8, 0.3], ..target });
    let (_, buses) = add(&mut direct, 0, &x);
    for (n, y) in buses[1].iter().enumerate() {
        assert!((y - 0.8 * (n + 1) as f32 / BLOCK as f32).abs() < 1e-6);
    }
}

#[test]
fn released_sources_fade_and_are_silent() {
    for spatial in spatials() {
        let mut direct = Direct::new(RATE_HZ, 1, spatial);
        assert!(direct.is_silent(0));
        direct.aim(0, Target { late: [1.0; 3], ..Target::default() });
        assert!(!direct.is_silent(0));
        for b in 0..10 {
            add(&mut direct, 0, &tone(300.0, b));
        }
        direct.release(0);
        let mut sound = Vec::new();
        for b in 10..15 {
            sound.extend(add(&mut direct, 0, &tone(300.0, b)).0[0]);
        }
        // The line to silence begins with a bend of 1/64.
        assert!(bend(&sound) < 0.03 && direct.is_silent(0), "{}", bend(&sound));
        assert_eq!(add(&mut direct, 0, &[1.0; BLOCK]), ([[0.0; BLOCK]; 2], [[0.0; BLOCK]; BUSES]));
        assert!(sound[4 * BLOCK..].iter().all(|y| *y == 0.0));
    }
}

/// Any targets, among them what is not a number, with sources coming and going: what is heard is finite and bounded.
#[test]
fn whatever_comes_is_finite() {
    for (spatial, doppler) in spatials().into_iter().flat_map(|s| [(s.clone(), false), (s, true)]) {
        let mut direct = Direct::new(RATE_HZ, 8, spatial);
        direct.set_doppler(doppler);
        let mut noise = Noise::new(6);
        for _ in 0..3000 {
            let slot = (noise.uniform() * 9.0) as usize;
            let mut any = || match (noise.uniform() * 12.0) as u32 {
                0 => f32::NAN,
                1 => f32::INFINITY,
                2 => -f32::INFINITY,
                3 => 1e30,
                4 => 0.0,
                _ => 10.0 * noise.bipolar() as f32,
            };
            let target = Target {
                gain: any(),
                tilt_db: any(),
                direction: [any(), any(), any()],
                distance_m: any(),
                early: [any(), any(), any()],
                late: [any(), any(), any()],
                directivity_gain: any(),
                directivity_cutoff_hz: 100.0 * any(),
            };
            direct.aim(slot, target);
            if noise.uniform() < 0.1 {
                direct.release(slot);
            }
            let mut x: [f32; BLOCK] = std::array::from_fn(|_| noise.bipolar() as f32);
            if noise.uniform() < 0.05 {
                x[7] = f32::NAN;
            }
            let heard = add(&mut direct, slot, &x);
            let all = heard.0.as_flattened().iter().chain(heard.1.as_flattened());
            assert!(all.into_iter().all(|y| y.abs() < 2e4), "doppler {doppler}");
        }
    }
}

/// Both forms of the loops compute the same.
#[test]
fn wide_loops_equal_the_portable_ones() {
    for spatial in spatials() {
        let (mut best, mut plain) =
            (Direct::new(RATE_HZ, 1, spatial.clone()), Direct::new(RATE_HZ, 1, spatial.clone()));
        plain.render = kernel::portable;
        let mut noise = Noise::new(9);
        for b in 0..200 {
            let angle = 0.02 * b as f32;
            let target = Target {
                direction: [angle.sin(), angle.cos(), 0.3],
                tilt_db: -3.0 - angle.sin(),
                directivity_gain: 0.5,
                early: [angle.cos(); 3],
                ..Target::default()
            };
            let x = std::array::from_fn(|_| noise.bipolar() as f32);
            best.aim(0, target);
            plain.aim(0, target);
            let (a, b) = (add(&mut best, 0, &x), add(&mut plain, 0, &x));
            for (a, b) in a.0.as_flattened().iter().zip(b.0.as_flattened()) {
                assert!((a - b).abs() < 1e-5, "{spatial:?}: {a} and {b}");
            }
        }
    }
}

/// Measured responses go to the loudest: a louder third source takes the place of the quietest.
#[test]
fn loudest_sources_get_measured_responses() {
    let [.., spatial] = spatials();
    let mut direct = Direct::new(RATE_HZ, 4, spatial);
    let loud = |gain: f32| Target { gain, ..Target::default() };
    for b in 0..6 {
        for (slot, gain) in [(0, 0.2), (1, 0.5), (2, 0.1)] {
            direct.aim(slot, loud(gain));
            add(&mut direct, slot, &tone(300.0, b));
        }
    }
    let holders = |direct: &Direct| {
        let mut slots: Vec<usize> = direct.voices.as_ref().into_iter().flat_map(Voices::holders).collect();
        slots.sort_unstable();
        slots
    };
    assert_eq!(holders(&direct), [0, 1]);
    let mut sound = Vec::new();
    for b in 6..12 {
        for (slot, gain) in [(0, 0.2), (1, 0.5), (2, 0.9)] {
            direct.aim(slot, loud(gain));
            let (out, _) = add(&mut direct, slot, &tone(300.0, b));
            if slot == 2 {
                sound.extend(out[0]);
            }
        }
    }
    assert_eq!(holders(&direct), [1, 2]);
    assert!(bend(&sound) < 0.02, "{}", bend(&sound));
}
