//! The fit against signals whose modes are known.

use super::{testing::*, *};

const RATE: f64 = 44_100.0;

/// Errors over a set of signals.
#[derive(Default, Debug)]
struct Score {
    modes: usize,
    missed: usize,
    false_modes: usize,
    frequency: Vec<f64>,
    decay: Vec<f64>,
    gain_db: Vec<f64>,
}

impl Score {
    fn p95(values: &[f64]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[(sorted.len() * 95 / 100).min(sorted.len() - 1)]
    }

    fn add(&mut self, truth: &[Truth], model: &ModalModel) {
        self.modes += truth.len();
        let mut used = vec![false; model.modes.len()];
        for t in truth {
            let near = |i: &usize| (model.modes[*i].frequency_hz - t.hz).abs();
            let best = (0..used.len()).filter(|i| !used[*i]).min_by(|a, b| near(a).total_cmp(&near(b)));
            let Some(i) = best.filter(|i| near(i) < 0.005 * t.hz + 3.0) else {
                self.missed += 1;
                continue;
            };
            used[i] = true;
            self.frequency.push(near(&i) / t.hz);
            self.decay.push((model.modes[i].decay_per_s / t.decay - 1.0).abs());
            self.gain_db.push((20.0 * (model.shapes.get(0, i).z.abs() / t.amplitude).log10()).abs());
        }
        self.false_modes += used.iter().filter(|u| !**u).count();
    }

    fn print(&self, what: &str) {
        println!(
            "{what}: {} modes, {} missed, {} false, p95 f {:.1e} d {:.2} % gain {:.3} dB",
            self.modes,
            self.missed,
            self.false_modes,
            Self::p95(&self.frequency),
            100.0 * Self::p95(&self.decay),
            Self::p95(&self.gain_db)
        );
    }
}

fn score(snr_db: f64, seeds: std::ops::Range<u64>) -> Score {
    let mut score = Score::default();
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let truth = twenty_modes(&mut rng);
        let samples = ring(&truth, RATE, 1.2, snr_db, &mut rng);
        let fitted = fit(&[Take { samples: &samples, position: None }], &FitSettings::default()).unwrap();
        fitted.model.validate().unwrap();
        score.add(&truth, &fitted.model);
    }
    score.print(&format!("{snr_db} dB"));
    score
}

#[test]
fn sixty_db_above_noise_modes_are_found_to_a_thousandth_and_decays_to_a_twentieth() {
    let score = score(60.0, 0..8);
    assert!(Score::p95(&score.frequency) < 1e-3);
    assert!(Score::p95(&score.decay) < 0.05);
    assert!(score.missed * 20 <= score.modes);
    assert!(score.false_modes * 50 <= score.modes);
}

#[test]
fn forty_db_above_noise_decays_are_found_to_a_tenth() {
    let score = score(40.0, 100..108);
    assert!(Score::p95(&score.frequency) < 1e-3);
    assert!(Score::p95(&score.decay) < 0.10);
    assert!(score.missed * 20 <= score.modes);
    assert!(score.false_modes * 50 <= score.modes);
}

/// Three places: the same poles, amplitudes of either sign, and each mode almost silent somewhere. The recordings start
/// at different times.
#[test]
fn strikes_at_three_places_share_their_modes_and_keep_their_signs() {
    let (mut gain_errors, mut wrong_signs, mut signs) = (Vec::new(), 0, 0);
    let mut poles = Score::default();
    for seed in 0..3 {
        let mut rng = Rng::new(500 + seed);
        let truth = twenty_modes(&mut rng);
        let factors: Vec<[f64; 3]> = (0..truth.len())
            .map(|n| {
                let mut f = [0; 3].map(|_| rng.between(0.2, 1.0) * if rng.uniform() < 0.5 { -1.0 } else { 1.0 });
                f[n % 3] *= if n % 2 == 0 { 0.003 } else { 1.0 };
                f
            })
            .collect();
        let recordings: Vec<Vec<f32>> = (0..3)
            .map(|k| {
                let at_place: Vec<Truth> =
                    truth.iter().zip(&factors).map(|(t, f)| Truth { amplitude: t.amplitude * f[k], ..*t }).collect();
                let lead: Vec<f32> = (0..1000 * k).map(|_| 1e-5 * rng.gaussian() as f32).collect();
                [lead, ring(&at_place, RATE, 1.2, 60.0, &mut rng)].concat()
            })
            .collect();
        let takes: Vec<Take> = recordings
            .iter()
            .zip([Vec3::ZERO, Vec3::X, Vec3::Y])
            .map(|(samples, place)| Take { samples, position: Some(place) })
            .collect();
        let model = fit(&takes, &FitSettings::default()).unwrap().model;
        model.validate().unwrap();
        poles.add(&truth, &model);
        assert_eq!(model.surface.positions.len(), 3);
        for (t, f) in truth.iter().zip(&factors) {
            let Some(n) = model.modes.iter().position(|m| (m.frequency_hz - t.hz).abs() < 3.0) else { continue };
            let gains = [0, 1, 2].map(|k| model.shapes.get(k, n).z / t.amplitude);
            let strongest = (0..3).max_by(|&a, &b| f[a].abs().total_cmp(&f[b].abs())).unwrap();
            for k in 0..3 {
                gain_errors.push((gains[k].abs() - f[k].abs()).abs() / f[strongest].abs());
                if f[k].abs() > 0.1 {
                    signs += 1;
                    wrong_signs += usize::from(gains[k] * gains[strongest] * f[k] * f[strongest] < 0.0);
                }
            }
        }
    }
    let gain = Score::p95(&gain_errors);
    poles.print("three places");
    println!("gain error p95 {:.2} % of the strongest place, {wrong_signs} of {signs} signs wrong", 100.0 * gain);
    assert!(gain < 0.03 && wrong_signs * 50 <= signs);
    assert!(poles.missed * 20 <= poles.modes && Score::p95(&poles.decay) < 0.05 && poles.false_modes <= 1);
}

/// White noise of variance σ² that decays has the power `σ²·2B/fs` in a band of width `B`, and the same T60 in each.
#[test]
fn decaying_noise_becomes_bands_of_its_level_and_decay() {
    for (seed, t60) in [(0, 0.4), (1, 1.2)] {
        let mut rng = Rng::new(900 + seed);
        let modes: Vec<Truth> =
            [440.0, 1234.5, 3333.0].map(|hz| Truth { hz, decay: 5.0, amplitude: 0.3, phase: 0.4 }).into();
        let mut samples = ring(&modes, RATE, 2.0, 200.0, &mut rng);
        let (level, floor): (f64, f64) = (0.1, 1e-4);
        for (n, x) in samples.iter_mut().enumerate() {
            let envelope: f64 = level * (-1000f64.ln() / t60 * n as f64 / RATE).exp();
            *x += (envelope.hypot(floor) * rng.gaussian()) as f32;
        }
        let fitted = fit(&[Take { samples: &samples, position: None }], &FitSettings::default()).unwrap();
        assert_eq!(fitted.model.modes.len(), 3, "{:?}", fitted.model.modes);
        let bands: Vec<_> = fitted.model.diffuse.iter().filter(|b| b.low_hz > 400.0).collect();
        assert!(bands.len() >= 11);
        let mut worst: f64 = 0.0;
        for band in bands {
            let truth = level * (2.0 * (band.high_hz - band.low_hz) / RATE).sqrt();
            worst = worst.max((band.t60_s / t60 - 1.0).abs());
            assert!((band.t60_s / t60 - 1.0).abs() < 0.15, "T60 {t60}: {band:?}");
            assert!((20.0 * (band.gain / truth).log10()).abs() < 3.0, "gain {truth}: {band:?}");
        }
        let report = &fitted.report.takes[0];
        println!("T60 {t60}: within {:.1} %, levels within {:.2} dB", 100.0 * worst, report.band_error_db);
        assert!(report.band_error_db < 1.0);
    }
}

/// The resynthesis is the recording again, sample by sample, where modes are all there is.
#[test]
fn the_resynthesis_lies_on_the_recording() {
    let mut rng = Rng::new(42);
    let truth = twenty_modes(&mut rng);
    let mut samples = vec![0.0; 3000];
    samples.extend(ring(&truth, RATE, 1.0, 60.0, &mut rng));
    let fitted = fit(&[Take { samples: &samples, position: None }], &FitSettings::default()).unwrap();
    let again = &fitted.resynthesis[0];
    assert_eq!(again.len(), samples.len());
    let energy: f32 = samples.iter().map(|x| x * x).sum();
    let error: f32 = samples.iter().zip(again).skip(3200).map(|(a, b)| (a - b).powi(2)).sum();
    assert!(error < 1e-4 * energy, "{}", error / energy);
    let report = &fitted.report.takes[0];
    assert!((report.onset_s - 3000.0 / RATE).abs() < 5e-4);
    assert!(report.explained > 0.99, "{report:?}");
}

#[test]
fn mains_hum_is_no_mode() {
    let mut rng = Rng::new(3);
    let modes = [Truth { hz: 900.0, decay: 8.0, amplitude: 0.8, phase: 0.0 }];
    let mut samples = ring(&modes, RATE, 1.5, 70.0, &mut rng);
    for (n, x) in samples.iter_mut().enumerate() {
        *x += 0.01 * (std::f32::consts::TAU * 50.0 * n as f32 / RATE as f32).sin();
    }
    let fitted = fit(&[Take { samples: &samples, position: None }], &FitSettings::default()).unwrap();
    assert_eq!(fitted.model.modes.len(), 1);
    assert!(fitted.report.warnings.iter().any(|w| w.contains("50.0 Hz")), "{:?}", fitted.report.warnings);
}

#[test]
fn what_cannot_be_fitted_is_refused_with_advice() {
    let settings = FitSettings::default();
    let one = |samples: &[f32]| fit(&[Take { samples, position: None }], &settings).map(|_| ()).unwrap_err();
    assert_eq!(fit(&[], &settings).map(|_| ()).unwrap_err(), FitError::NoTakes);
    assert_eq!(one(&[]), FitError::Empty { take: 0 });
    assert_eq!(one(&[0.0; 5000]), FitError::Silent { take: 0 });
    assert_eq!(one(&[0.25; 5000]), FitError::Silent { take: 0 });
    assert_eq!(one(&[0.0, f32::NAN]), FitError::NotFinite { take: 0, at: 1 });
    assert!(matches!(one(&[0.0, 1.0, -1.0]), FitError::TooShort { .. }));
    let mut rng = Rng::new(1);
    let noise: Vec<f32> = (0..44_100).map(|_| rng.gaussian() as f32).collect();
    assert!(matches!(one(&noise), FitError::NoModes { .. }));
    let take = Take { samples: &noise, position: None };
    let error = fit(&[take, take], &settings).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("REC@X,Y,Z"), "{error}");
    let here = Take { position: Some(Vec3::X), ..take };
    assert_eq!(fit(&[here, here], &settings).map(|_| ()).unwrap_err(), FitError::SamePosition { first: 0, second: 1 });
    for rate in [0.0, -1.0, f64::NAN, 1e9] {
        let settings = FitSettings { sample_rate_hz: rate, ..FitSettings::default() };
        assert!(matches!(fit(&[take], &settings), Err(FitError::Setting { what: "sample_rate_hz", .. })));
    }
}

/// Signals nobody would record on purpose.
fn odd_signal(rng: &mut Rng, rate: f64) -> Vec<f32> {
    let len = [1, 5, 100, 900, 4000, 15_000][(rng.uniform() * 6.0) as usize];
    let kind = (rng.uniform() * 7.0) as usize;
    let (hz, level) = (rng.log_between(10.0, 0.6 * rate), rng.log_between(1e-8, 1e3));
    let sample = |n: usize, rng: &mut Rng| match kind {
        0 => rng.gaussian(),
        1 => 1.0,
        2 => f64::from(n % 2500 == 77),
        3 => (std::f64::consts::TAU * hz * n as f64 / rate).sin().signum(),
        4 => (50.0 * (-0.002 * n as f64).exp() * (0.1 * n as f64).sin()).clamp(-1.0, 1.0),
        5 => n as f64 / len as f64,
        _ => (0.0003 * n as f64).exp() * (0.3 * n as f64).sin(),
    };
    (0..len).map(|n| (level * sample(n, rng)) as f32).collect()
}

#[test]
fn no_input_makes_it_panic_or_return_nonsense() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let rate = [8_000.0, 22_050.0, 44_100.0, 96_000.0, 192_000.0][(rng.uniform() * 5.0) as usize];
        let settings =
            FitSettings { sample_rate_hz: rate, max_modes: 24, refine: seed % 4 > 0, ..FitSettings::default() };
        let signals = [odd_signal(&mut rng, rate), odd_signal(&mut rng, rate)];
        let takes: Vec<Take> = signals
            .iter()
            .zip([Vec3::ZERO, Vec3::Y])
            .take(1 + seed as usize % 2)
            .map(|(samples, place)| Take { samples, position: Some(place) })
            .collect();
        if let Ok(fitted) = fit(&takes, &settings) {
            fitted.model.validate().unwrap();
            assert!(fitted.model.modes.is_sorted_by_key(|m| m.frequency_hz.to_bits()));
            assert!(fitted.resynthesis.iter().flatten().all(|x| x.is_finite()));
            assert!(fitted.report.takes.iter().all(|t| t.explained.is_finite() && t.band_error_db.is_finite()));
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let mut rng = Rng::new(11);
    let samples = ring(&twenty_modes(&mut rng), 22_050.0, 0.6, 40.0, &mut rng);
    let settings = FitSettings { sample_rate_hz: 22_050.0, ..FitSettings::default() };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&[Take { samples: &samples, position: None }], &settings).unwrap())
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one.model, three.model);
    assert_eq!(one.resynthesis, three.resynthesis);
}
