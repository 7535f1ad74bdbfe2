//! The diffuse part of a sound: noise in bands, each dying away at its own pace.
//!
//! For every band, white noise passes a fourth-order band-pass (two RBJ sections), is scaled to the band's level and shrinks as
//! `10^{−3t/T60}`. The noise is seeded: the same model sounds the same every time.

use eigentone_core::{DiffuseBand, Noise};
use std::f64::consts::{PI, TAU};

/// Adds the diffuse answer to a unit impulse, times `amount`, to `out`.
pub fn add(bands: &[DiffuseBand], amount: f64, sample_rate_hz: f64, out: &mut [f64]) {
    for (b, band) in bands.iter().enumerate() {
        let high = band.high_hz.min(0.49 * sample_rate_hz);
        if high <= band.low_hz || band.gain == 0.0 {
            continue;
        }
        let centre = (band.low_hz.max(10.0) * high).sqrt();
        let mut sections = [BandPass::new(centre, high - band.low_hz, sample_rate_hz); 2];
        let mut noise = Noise::new(0xD1FF_u64.wrapping_mul(b as u64 + 1));
        // Until the filters have settled.
        let warm_up = (4.0 * sample_rate_hz / (high - band.low_hz)) as usize;
        (0..warm_up).for_each(|_| {
            sections.iter_mut().fold(white(&mut noise), |x, s| s.step(x));
        });
        let gain = amount * band.gain / BandPass::power_gain(&sections[0]).sqrt();
        let shrink = 10f64.powf(-3.0 / (band.t60_s * sample_rate_hz));
        let mut envelope = gain;
        for sample in out.iter_mut() {
            *sample += envelope * sections.iter_mut().fold(white(&mut noise), |x, s| s.step(x));
            envelope *= shrink;
        }
    }
}

/// A band-pass of constant peak gain one (Bristow-Johnson's cookbook), as a direct form with two states.
#[derive(Clone, Copy)]
struct BandPass {
    b0: f64,
    a: [f64; 2],
    state: [f64; 2],
}

impl BandPass {
    fn new(centre_hz: f64, width_hz: f64, sample_rate_hz: f64) -> Self {
        let w = (TAU * centre_hz / sample_rate_hz).min(0.98 * PI);
        let alpha = w.sin() * 0.5 * width_hz / centre_hz;
        let a0 = 1.0 + alpha;
        Self { b0: alpha / a0, a: [-2.0 * w.cos() / a0, (1.0 - alpha) / a0], state: [0.0; 2] }
    }

    fn step(&mut self, x: f64) -> f64 {
        let y = self.b0 * x + self.state[0];
        self.state = [self.state[1] - self.a[0] * y, -self.b0 * x - self.a[1] * y];
        y
    }

    /// Mean power of unit white noise after two such sections, by summing the squared impulse response.
    fn power_gain(section: &Self) -> f64 {
        let mut pair = [Self { state: [0.0; 2], ..*section }; 2];
        let mut sum = 0.0;
        let (mut input, mut quiet) = (1.0, 0);
        while quiet < 200 {
            let y = pair.iter_mut().fold(input, |x, s| s.step(x));
            input = 0.0;
            sum += y * y;
            quiet = if y * y < 1e-9 * sum { quiet + 1 } else { 0 };
        }
        sum.max(f64::MIN_POSITIVE)
    }
}

/// White noise of unit variance, uniform.
fn white(noise: &mut Noise) -> f64 {
    3f64.sqrt() * noise.bipolar()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Level at the start and decay time, measured on the rendered noise.
    #[test]
    fn a_band_has_its_level_and_decay() {
        let rate = 44_100.0;
        let band = DiffuseBand { low_hz: 1000.0, high_hz: 2000.0, gain: 0.3, t60_s: 0.5 };
        let mut out = vec![0.0; 44_100];
        add(&[band], 2.0, rate, &mut out);
        let power = |from: f64, to: f64| {
            let range = (from * rate) as usize..(to * rate) as usize;
            let n = range.len() as f64;
            out[range].iter().map(|x| x * x).sum::<f64>() / n
        };
        // Energy shrinks by 10^{−6t/T60}; over the first 50 ms its mean is known.
        let k = 6.0 * 10f64.ln() / 0.5;
        let expected = 0.36 * (1.0 - (-k * 0.05f64).exp()) / (k * 0.05);
        assert!((10.0 * (power(0.0, 0.05) / expected).log10()).abs() < 1.5);
        let slope = 10.0 * (power(0.05, 0.1) / power(0.35, 0.4)).log10() / 0.3;
        assert!((60.0 / slope / 0.5 - 1.0).abs() < 0.15, "{}", 60.0 / slope);
    }
}
