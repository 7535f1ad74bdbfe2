//! The encoder against responses whose parameters are known: pulses, echoes, decaying noise, offsets.

use eigentone_core::Noise;
use eigentone_core::acoustics::{Parameter, Parameters, SOUND_M_S};
use eigentone_wave::encode::{Encoder, Timing};

/// Both bakes: half the frequency with twice the step.
fn timings() -> [Timing; 2] {
    [Timing::new(500.0, 0.3375e-3), Timing::new(250.0, 0.675e-3)]
}

fn sampled(timing: &Timing, duration_s: f64, p: impl Fn(f64) -> f64) -> Vec<f32> {
    (0..(duration_s / timing.step_s) as usize).map(|k| p(k as f64 * timing.step_s) as f32).collect()
}

/// Pulses that arrive after (delay in s, with gain) besides the direct sound in free field.
fn echoes(timing: &Timing, distance_m: f64, echoes: &[(f64, f64)]) -> Vec<f32> {
    let arrival_s = distance_m / SOUND_M_S;
    sampled(timing, timing.duration_s(distance_m), |t| {
        let later: f64 = echoes.iter().map(|(delay, gain)| gain * timing.pulse(t - arrival_s - delay)).sum();
        timing.pulse(t - arrival_s) / distance_m + later
    })
}

/// Noise that decays by 60 dB in `t60_s` after the direct sound at 5 m, as the pulse would sound in it.
fn reverberant(timing: &Timing, t60_s: f64, duration_s: f64, seed: u64) -> Vec<f32> {
    const DISTANCE_M: f64 = 5.0;
    let arrival_s = DISTANCE_M / SOUND_M_S;
    let mut noise = Noise::new(seed);
    let steps = (duration_s / timing.step_s) as usize;
    let first = (arrival_s / timing.step_s).ceil() as usize;
    let mut impulses = vec![0.0; steps];
    for (k, x) in impulses.iter_mut().enumerate().skip(first) {
        *x = 0.3 * noise.bipolar() * 10f64.powf(-3.0 * (k as f64 * timing.step_s - arrival_s) / t60_s);
    }
    let reach = (2.0 * timing.pulse_delay_s() / timing.step_s) as usize;
    let pulse: Vec<f64> = (0..=reach).map(|k| timing.pulse(k as f64 * timing.step_s)).collect();
    (0..steps)
        .map(|n| {
            let late: f64 = pulse.iter().zip(impulses[..=n].iter().rev()).map(|(s, x)| s * x).sum();
            (timing.pulse(n as f64 * timing.step_s - arrival_s) / DISTANCE_M + late) as f32
        })
        .collect()
}

fn encode(timing: &Timing, response: &[f32], distance_m: f64) -> Parameters {
    Encoder::new(timing).encode(response, distance_m).expect("there is sound")
}

fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found:.4}, expected {expected:.4} ± {tolerance}");
}

/// p = s(t − r/c)/r.
#[test]
fn free_field_is_the_reference_of_levels_at_all_distances() {
    for timing in timings() {
        for distance_m in [1.0, 1.7, 3.0, 10.0, 25.0, 40.0] {
            let found = encode(&timing, &echoes(&timing, distance_m, &[]), distance_m);
            println!("{} Hz, {distance_m} m: {found:?}", timing.f_max_hz);
            assert_near("direct sound", found.direct_db, 0.0, 0.02);
            assert_near("tilt", found.tilt_db, 0.0, 0.02);
            assert!(found.early_db < -70.0, "leak into early reflections at {distance_m} m: {}", found.early_db);
            let least_s = Parameter::LateDecay.from_steps(Parameter::LateDecay.range()[0]);
            assert_eq!([found.early_decay_s, found.late_decay_s], [least_s; 2], "nothing decays in free field");
        }
    }
}

/// Energies of two echoes add up if all bands hold whole periods of their interference (64 ms apart: two from 31.25 to 62.5 Hz):
/// 10 log10(0.2² + 0.1²) = −13.01 dB.
#[test]
fn early_level_is_the_energy_of_two_known_echoes() {
    for timing in timings() {
        let found = encode(&timing, &echoes(&timing, 5.0, &[(0.03, 0.2), (0.094, 0.1)]), 5.0);
        println!("{} Hz: {found:?}", timing.f_max_hz);
        assert_near("early reflections", found.early_db, -13.01, 0.03);
        assert_near("direct sound", found.direct_db, 0.0, 0.03);
    }
}

/// Behind a faint forerunner that sets the onset, an echo is direct sound, then both, then a reflection, at 500 Hz.
#[test]
fn an_echo_passes_from_direct_sound_to_early_reflections() {
    let levels = |timing: &Timing, delay_s: f64| {
        let gain = 1000.0;
        let found = encode(timing, &echoes(timing, 1.0, &[(delay_s, gain)]), 1.0);
        [found.direct_db - 60.0, found.early_db - 60.0]
    };
    let [at_500, at_250] = timings();
    let [direct, _] = levels(&at_500, 0.004);
    assert_near("direct at 4 ms", direct, -0.3, 0.2);
    let both = levels(&at_500, 0.008);
    assert_near("direct at 8 ms", both[0], -6.4, 0.4);
    assert_near("early at 8 ms", both[1], -5.1, 0.4);
    let [_, early] = levels(&at_500, 0.012);
    assert_near("early at 12 ms", early, -0.2, 0.2);

    // The middle of the step: Δ_DS + 2σ_w after the onset, with Δ_DS the longer of 5 ms and 5σ.
    for timing in [at_500, at_250] {
        let first = echoes(&timing, 1.0, &[]).iter().position(|p| p.abs() > 10f32.powf(-4.5)).unwrap();
        let lead_s = 1.0 / SOUND_M_S + timing.pulse_delay_s() - first as f64 * timing.step_s;
        let direct_s = timing.direct_s.max(5.0 * timing.sigma_s());
        let [direct, early] = levels(&timing, direct_s + 2.0 * timing.window_s() - lead_s);
        println!("{} Hz, middle: direct {direct:.2}, early {early:.2} dB", timing.f_max_hz);
        assert_near("equal shares", direct - early, 0.0, 0.1);
        assert_near("half the amplitude each", 0.5 * (direct + early), -6.02, 0.6);
    }
}

/// Slope in dB per octave, by least squares, of the mean of a power spectrum over the three octaves, which is a function of ν/ν_max.
fn octave_slope(power: impl Fn(f64) -> f64) -> f64 {
    let level = |from: f64| {
        let mean = (0..1000).map(|k| power(from * (1.0 + (f64::from(k) + 0.5) / 1000.0))).sum::<f64>() / 1000.0;
        10.0 * mean.log10()
    };
    0.5 * (level(0.5) - level(0.125))
}

/// A spectrum times (ν/ν_ref)^−k falls by 6.02 k dB per octave. For k = −1 and −2 these are derivatives of the pulse. Diffraction at an edge has k = ½: then
/// the filter is 1/(a + iω)^k with a well below the lowest octave, the impulse response of which is t^(k−1) e^(−at)/Γ(k).
#[test]
fn tilt_is_the_slope_of_the_spectrum() {
    for timing in timings() {
        let (sigma, arrival_s) = (timing.sigma_s(), 5.0 / SOUND_M_S);
        let duration_s = timing.duration_s(5.0);
        let tilt = |p: &dyn Fn(f64) -> f64| encode(&timing, &sampled(&timing, duration_s, p), 5.0).tilt_db;
        let x = |t: f64| (t - timing.pulse_delay_s() - arrival_s) / sigma;
        let once = tilt(&|t| x(t) * (-x(t) * x(t)).exp());
        let twice = tilt(&|t| (2.0 * x(t) * x(t) - 1.0) * (-x(t) * x(t)).exp());
        // A pulse half as long again, as a low pass makes it: 10^(−2.25(ν/ν_max)²) instead of 10^(−(ν/ν_max)²).
        let long = tilt(&|t| (-x(t) * x(t) / 2.25).exp());

        let relative_corner = 1.0 / 20.0;
        let corner = std::f64::consts::TAU * timing.f_max_hz * relative_corner;
        // With u = v^(1/k) the pole of t^(k−1) is gone.
        let edge = |t: f64, k: f64| -> f64 {
            let (most, steps) = ((8.0 / corner).powf(k), 800);
            let dv = most / f64::from(steps);
            let after = |v: f64| timing.pulse(t - arrival_s - v.powf(1.0 / k)) * (-corner * v.powf(1.0 / k)).exp();
            (0..steps).map(|n| after((f64::from(n) + 0.5) * dv)).sum::<f64>() * dv
        };
        let half = tilt(&|t| edge(t, 0.5));
        let half_truth = octave_slope(|f| (f * f + relative_corner * relative_corner).powf(-0.5));
        let long_truth = octave_slope(|f| 10f64.powf(-2.5 * f * f));
        println!(
            "{} Hz: derivatives {once:.2} {twice:.2}, long {long:.2} ({long_truth:.2}), edge {half:.2} ({half_truth:.2}) dB/octave",
            timing.f_max_hz
        );
        assert_near("derivative", once, 6.02, 0.3);
        assert_near("second derivative", twice, 12.04, 0.3);
        assert_near("long pulse", long, long_truth, 0.3);
        assert_near("edge", half, half_truth, 0.3);
        assert_near("edge without corner", half, -3.01, 0.3);
    }
}

/// Mean and standard deviation of early and late decay over true ones.
fn decay_ratios(timing: &Timing, t60_s: f64, seeds: u64) -> [[f64; 2]; 2] {
    let mut encoder = Encoder::new(timing);
    let mut ratios = [vec![], vec![]];
    for seed in 0..seeds {
        let found = encoder.encode(&reverberant(timing, t60_s, timing.duration_s(20.0), seed), 5.0).unwrap();
        ratios[0].push(found.early_decay_s / t60_s);
        ratios[1].push(found.late_decay_s / t60_s);
    }
    ratios.map(|r| {
        let mean = r.iter().sum::<f64>() / r.len() as f64;
        let variance = r.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / r.len() as f64;
        [mean, variance.sqrt()]
    })
}

/// Noise times 10^(−3t/T) has both reverberation times T.
#[test]
fn decays_of_exponential_noise_are_found() {
    for timing in timings() {
        for t60_s in [0.3, 0.5, 1.0, 2.0, 3.0] {
            let [early, late] = decay_ratios(&timing, t60_s, 48);
            println!("{} Hz, {t60_s} s: early {early:.3?}, late {late:.3?}", timing.f_max_hz);
            assert_near(&format!("early decay of {t60_s} s, mean"), early[0], 1.0, 0.12);
            if t60_s <= 2.0 {
                assert_near(&format!("late decay of {t60_s} s, mean"), late[0], 1.0, 0.05);
            }
        }
    }
}

/// Two coupled rooms: what falls first gives the early decay, what remains the late one.
#[test]
fn early_and_late_decay_are_told_apart() {
    for timing in timings() {
        let (duration_s, seeds) = (timing.duration_s(20.0), 32);
        let mut mean = [0.0; 2];
        for seed in 0..seeds {
            let [fast, slow] = [(0.3, seed), (1.5, seed + 100)].map(|(t, s)| reverberant(&timing, t, duration_s, s));
            let both: Vec<f32> = fast.iter().zip(&slow).map(|(f, s)| f + 0.03 * s).collect();
            let found = encode(&timing, &both, 5.0);
            mean[0] += found.early_decay_s / seeds as f64;
            mean[1] += found.late_decay_s / seeds as f64;
        }
        println!("{} Hz: {mean:.3?} s", timing.f_max_hz);
        // At 250 Hz a window is 174 ms long, in which the first room falls by 35 dB.
        assert_near("early decay", mean[0], 0.3, if timing.f_max_hz > 250.0 { 0.045 } else { 0.12 });
        assert_near("late decay", mean[1], 1.5, 0.15);
    }
}

fn peak(response: &[f32]) -> f32 {
    response.iter().fold(0.0, |most, p| most.max(p.abs()))
}

/// A pressure that stays is no sound, whether it comes with the sound or was there before. In the latter case it is the onset: windows of the decay start
/// with it, elsewhere than without it, which alone changes single late decays by up to their spread. A click at −80 dB gives both the same onset.
#[test]
fn a_constant_offset_does_not_change_the_late_decay() {
    for timing in timings() {
        for t60_s in [0.3, 0.6, 1.0, 2.0] {
            let mut worst = [0.0f64; 2];
            for seed in 0..8 {
                let mut plain = reverberant(&timing, t60_s, timing.duration_s(20.0), seed);
                let offset = 2.0 * peak(&plain);
                let onset = plain.iter().position(|p| p.abs() > 10f32.powf(-4.5)).unwrap();
                let late_s = |response: &[f32]| encode(&timing, response, 5.0).late_decay_s;
                let mut compare = |k: usize, first: usize, plain: &[f32]| {
                    let mut lifted = plain.to_vec();
                    lifted[first..].iter_mut().for_each(|p| *p += offset);
                    worst[k] = worst[k].max((late_s(&lifted) / late_s(plain) - 1.0).abs());
                };
                compare(0, onset, &plain);
                // With the same onset, as early as sound can be there.
                plain[..onset].fill(1e-4);
                compare(1, 0, &plain);
            }
            println!("{} Hz, {t60_s} s: from the onset {:.1e}, always {:.1e}", timing.f_max_hz, worst[0], worst[1]);
            assert!(worst.iter().all(|&w| w < 0.005), "late decay of {t60_s} s changes by {worst:?}");
        }
    }
}

/// In a closed room the mean pressure obeys p'' + p'/θ = source: it rises to its offset within θ = V/(cbS), which is 0.147 of the reverberation time.
#[test]
fn the_offset_of_a_closed_room_changes_nothing_that_is_heard() {
    for timing in timings() {
        for t60_s in [0.3, 1.0, 3.0] {
            let mut worst = [0.0f64; 3];
            for seed in 0..8 {
                let plain = reverberant(&timing, t60_s, timing.duration_s(20.0), seed);
                let offset = 2.0 * peak(&plain);
                let rise = |t: f64| 1.0 - (-t.max(0.0) / (0.147 * t60_s)).exp();
                let delay_s = 5.0 / SOUND_M_S + timing.pulse_delay_s();
                let lifted: Vec<f32> = (plain.iter().enumerate())
                    .map(|(k, p)| p + offset * rise(k as f64 * timing.step_s - delay_s) as f32)
                    .collect();
                let [found, expected] = [&lifted, &plain].map(|r| encode(&timing, r, 5.0));
                let changes = [
                    found.early_db - expected.early_db,
                    found.early_decay_s / expected.early_decay_s - 1.0,
                    found.late_decay_s / expected.late_decay_s - 1.0,
                ];
                worst.iter_mut().zip(changes).for_each(|(w, c)| *w = w.max(c.abs()));
            }
            println!("{} Hz, {t60_s} s: {worst:.4?}", timing.f_max_hz);
            assert!(worst[0] < 0.6, "early level changes by {} dB", worst[0]);
            assert!(worst[1] < 0.05 && worst[2] < 0.02, "decays change by {worst:?}");
        }
    }
}

/// `Some` must be finite; what has no sound or no sense must be `None`.
#[test]
fn hostile_responses_give_nothing_or_finite_numbers() {
    for timing in timings() {
        let mut encoder = Encoder::new(&timing);
        for silent in [vec![], vec![0.0], vec![0.0; 2800], vec![1e-5; 2800], vec![-1e-40; 300], vec![f32::NAN]] {
            assert_eq!(encoder.encode(&silent, 5.0), None);
        }
        for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for at in [0, 100, 2799] {
                let mut response = reverberant(&timing, 1.0, 2800.5 * timing.step_s, 1);
                response[at] = broken;
                assert_eq!(encoder.encode(&response, 5.0), None);
            }
        }
        let mut noise = Noise::new(7);
        let mut shapes: Vec<Vec<f32>> = vec![
            vec![1.0],
            vec![f32::MAX; 2800],
            vec![1.0; 2800],
            (0..2800).map(|k| k as f32).collect(),
            (0..2800).map(|k| if k % 2 == 0 { f32::MAX } else { f32::MIN }).collect(),
            (0..2800).map(|k| if k == 2799 { 1.0 } else { 0.0 }).collect(),
            (0..2800).map(|k| if k % 700 == 0 { 1.0 } else { 0.0 }).collect(),
            (0..2800).map(|k| (k as f32 * 0.01).exp()).collect(),
            (0..2800).map(|k| if k == 0 { 1.0 } else { 1e-38 / k as f32 }).collect(),
        ];
        shapes.extend((0..700).step_by(7).map(|n| (0..=n).map(|_| noise.bipolar() as f32).collect()));
        for response in &shapes {
            for distance_m in [5.0, 0.0, -1.0, f64::NAN, f64::INFINITY] {
                // Some, exactly if there is sound once sound can have come so far.
                let away_m = if distance_m.is_nan() { 1.0 } else { distance_m.clamp(1e-3, 1e9) };
                let earliest = (away_m / SOUND_M_S + timing.sigma_s()) / timing.step_s;
                let heard = response.iter().skip(earliest as usize).any(|p| p.abs() > 10f32.powf(-4.5));
                let found = encoder.encode(response, distance_m);
                assert_eq!(found.is_some(), heard, "{distance_m} m, {} samples", response.len());
                let Some(found) = found else { continue };
                assert!(found.to_array().iter().all(|x| x.is_finite()), "{found:?}");
                for decay_s in [found.early_decay_s, found.late_decay_s] {
                    assert!((0.044..21.7).contains(&decay_s), "{found:?}");
                }
            }
        }
    }
}

#[test]
fn timings_without_sense_do_not_panic() {
    let response: Vec<f32> = reverberant(&timings()[0], 1.0, 0.9, 1);
    for f_max_hz in [500.0, 0.0, -1.0, 1e-9, 1e12, f64::NAN, f64::INFINITY] {
        for step_s in [0.3375e-3, 0.0, -1.0, 1e6, f64::NAN, f64::INFINITY] {
            let mut timing = Timing::new(f_max_hz, step_s);
            for onset_db in [-90.0, f64::NEG_INFINITY, f64::NAN] {
                timing.onset_db = onset_db;
                if let Some(found) = Encoder::new(&timing).encode(&response, 5.0) {
                    assert!(found.to_array().iter().all(|x| x.is_finite()), "{timing:?}: {found:?}");
                }
            }
        }
    }
}

/// A decay that hardly falls within the response is long, and one that grows the longest.
#[test]
fn curves_that_do_not_fall_by_13_db_give_long_decays() {
    for timing in timings() {
        let found = encode(&timing, &reverberant(&timing, 12.0, timing.duration_s(20.0), 3), 5.0);
        assert!(found.early_decay_s > 4.0 && found.late_decay_s > 4.0, "{found:?}");
        let found = encode(&timing, &reverberant(&timing, -2.0, timing.duration_s(20.0), 3), 5.0);
        assert!(found.late_decay_s > 15.0, "{found:?}");
    }
}
