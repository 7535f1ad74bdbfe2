//! A spherical head, sampled as measurements, must come back as itself.

use super::*;
use crate::BLOCK;
use crate::head;
use crate::one_pole::{OnePole, pole};

/// Responses of the spherical head on a coarse grid, each late by its delay plus a millisecond.
pub(crate) fn spherical_head(rate_hz: f64, length: usize) -> Vec<Measurement> {
    let mut all = Vec::new();
    for e in (0..ELEVATIONS).step_by(3) {
        for a in (0..AZIMUTHS).step_by(3) {
            let direction = grid_direction(e, a).map(|x| x as f32);
            let ears = head::ears(direction[0]);
            let response = |ear: head::Ear| {
                let late = (f64::from(ear.delay_s) + 1e-3) * rate_hz;
                // A band-limited impulse: what a fractional delay is.
                let impulse = |n: usize| {
                    let x = std::f64::consts::PI * (n as f64 - late);
                    let window = (0.5 + 0.5 * (x / 24.0).clamp(-3.2, 3.2).cos()).powi(1);
                    let sinc = if x.abs() < 1e-9 { 1.0 } else { x.sin() / x };
                    if (x / 24.0).abs() < std::f64::consts::PI { (window * sinc) as f32 } else { 0.0 }
                };
                let dry: Vec<f32> = (0..length).map(impulse).collect();
                let (mut filter, mut low) = (OnePole::default(), Vec::new());
                for block in dry.chunks(BLOCK) {
                    let mut x = [0.0; BLOCK];
                    x[..block.len()].copy_from_slice(block);
                    let mut y = [0.0; BLOCK];
                    filter.low_pass::<false>(pole(head::pole_hz(), rate_hz), &x, &mut y);
                    low.extend(y);
                }
                dry.iter().zip(&low).map(|(d, l)| ear.shadow * d + (1.0 - ear.shadow) * l).collect::<Vec<f32>>()
            };
            all.push(Measurement { direction, responses: ears.map(response), delays_s: [0.0; 2] });
        }
    }
    all
}

/// The delays between the ears survive alignment, blending and another sample rate; so do levels.
#[test]
fn delays_and_levels_come_back() {
    for rate_hz in [44_100.0, 48_000.0, 96_000.0] {
        let hrtf = Hrtf::from_measurements(&spherical_head(44_100.0, 256), 44_100.0, rate_hz).expect("a head");
        let mut taps = [vec![0.0; hrtf.taps()], vec![0.0; hrtf.taps()]];
        for degrees in [0.0f32, 20.0, 45.0, 70.0, 90.0, -45.0] {
            let (right, forward) = degrees.to_radians().sin_cos();
            let [l, r] = &mut taps;
            let delays = hrtf.blend([right, forward, 0.0], [l, r]);
            let ears = head::ears(right);
            let expected_s = ears[0].delay_s - ears[1].delay_s;
            let found_s = (delays[0] - delays[1]) / rate_hz as f32;
            assert!((found_s - expected_s).abs() < 4e-5, "{rate_hz} Hz, {degrees}°: {found_s} for {expected_s}");
            for taps in &taps {
                let sum: f32 = taps.iter().sum();
                assert!((sum - 1.0).abs() < 0.1, "{rate_hz} Hz, {degrees}°: at low frequencies {sum}");
            }
        }
    }
}

#[test]
fn broken_measurements_are_named() {
    let good = spherical_head(44_100.0, 128);
    let fails = |m: &[Measurement], hz: f64| Hrtf::from_measurements(m, hz, 48_000.0).err();
    assert_eq!(fails(&[], 44_100.0), Some(HrtfError::Silent));
    assert_eq!(fails(&good, 0.0), Some(HrtfError::Rate));
    assert_eq!(fails(&good, f64::NAN), Some(HrtfError::Rate));
    let mut broken = good.clone();
    broken[7].responses[1][3] = f32::NAN;
    assert_eq!(fails(&broken, 44_100.0), Some(HrtfError::NotFinite(7)));
    let mut silent = good;
    silent.iter_mut().for_each(|m| m.responses[0].fill(0.0));
    assert_eq!(fails(&silent, 44_100.0), Some(HrtfError::Silent));
}
