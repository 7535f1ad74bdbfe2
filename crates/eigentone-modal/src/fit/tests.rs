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
            "{what}: {} modes, {} missed, {} false, p95 f {:.1e} d {:.2} % gain {:.2} dB",
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

/// The same over many signals: `cargo test --release -p eigentone-modal fit -- --ignored --nocapture`.
#[test]
#[ignore = "a minute; for figures, not for every run"]
fn many_signals() {
    for snr_db in [80.0, 60.0, 40.0, 20.0] {
        let start = std::time::Instant::now();
        score(snr_db, 0..50);
        println!("{:.2} s per signal", start.elapsed().as_secs_f64() / 50.0);
    }
}
