//! What the encoder costs.
//!
//! `cargo bench -p eigentone-wave --bench encode`. Noise that decays in a second, as long as a probe's simulation at the defaults is.

use eigentone_core::Noise;
use eigentone_wave::encode::{Encoder, Timing};
use std::time::Instant;

fn main() {
    for (f_max_hz, step_s) in [(500.0, 0.3375e-3), (250.0, 0.675e-3)] {
        let timing = Timing::new(f_max_hz, step_s);
        let mut noise = Noise::new(1);
        let mut response = || -> Vec<f32> {
            (0..2800).map(|n| (noise.bipolar() * 10f64.powf(-3.0 * n as f64 * step_s)) as f32).collect()
        };
        let responses: Vec<_> = (0..32).map(|_| response()).collect();
        let mut encoder = Encoder::new(&timing);
        let mut best_us = f64::INFINITY;
        for _ in 0..100 {
            let start = Instant::now();
            responses.iter().for_each(|r| assert!(encoder.encode(r, 5.0).is_some()));
            best_us = best_us.min(1e6 * start.elapsed().as_secs_f64() / responses.len() as f64);
        }
        println!("figure encode.us_at_{f_max_hz:.0}_hz = {best_us:.1} us");
    }
}
