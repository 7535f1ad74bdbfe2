//! Known signals for the tests.

use std::f64::consts::TAU;

/// xorshift64*.
pub(super) struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        let mut rng = Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..16 {
            rng.uniform();
        }
        rng
    }

    pub fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    pub fn log_between(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    pub fn gaussian(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().max(1e-300).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

/// A mode of a known signal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truth {
    pub hz: f64,
    pub decay: f64,
    pub amplitude: f64,
    pub phase: f64,
}

/// Twenty modes from 150 to 9000 Hz, further apart than 25 Hz and 1.5 %, decays of 3 to 60 per second, over 30 dB.
pub(super) fn twenty_modes(rng: &mut Rng) -> Vec<Truth> {
    let mut modes: Vec<Truth> = Vec::new();
    while modes.len() < 20 {
        let hz = rng.log_between(150.0, 9000.0);
        if modes.iter().all(|m| (m.hz - hz).abs() > f64::max(25.0, 0.015 * hz)) {
            modes.push(Truth { hz, decay: 0.0, amplitude: 0.0, phase: 0.0 });
        }
    }
    for mode in &mut modes {
        mode.decay = rng.log_between(3.0, 60.0);
        mode.amplitude = 10f64.powf(rng.between(-30.0, 0.0) / 20.0);
        mode.phase = rng.between(0.0, TAU);
    }
    modes.sort_by(|a, b| a.hz.total_cmp(&b.hz));
    modes
}

/// The modes ringing for `seconds`, with white noise `snr_db` below the first tenth of a second.
pub(super) fn ring(modes: &[Truth], rate: f64, seconds: f64, snr_db: f64, rng: &mut Rng) -> Vec<f32> {
    let len = (seconds * rate) as usize;
    let mut out = vec![0.0; len];
    for m in modes {
        let (mut value, step) = (
            rustfft::num_complex::Complex::from_polar(m.amplitude, m.phase),
            rustfft::num_complex::Complex::new(-m.decay / rate, TAU * m.hz / rate).exp(),
        );
        for y in &mut out {
            *y += value.im;
            value *= step;
        }
    }
    let first = &out[..((0.1 * rate) as usize).min(len)];
    let rms = (first.iter().map(|x| x * x).sum::<f64>() / first.len() as f64).sqrt();
    let noise = rms * 10f64.powf(-snr_db / 20.0);
    out.iter().map(|x| (x + noise * rng.gaussian()) as f32).collect()
}
