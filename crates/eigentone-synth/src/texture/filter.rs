//! The low-pass behind every profile, and the band-pass of loose particles (RBJ cookbook sections, transposed direct form II).

use std::f64::consts::{PI, TAU};

/// Qualities of the sections of a Butterworth low-pass of order 4.
const BUTTERWORTH_4: [f64; 2] = [0.541, 1.307];

#[derive(Clone, Copy, Debug, Default)]
struct Section {
    b: [f64; 3],
    a: [f64; 2],
    state: [f64; 2],
}

impl Section {
    fn first_order(&mut self, cutoff: f64) {
        let t = (PI * cutoff).tan();
        (self.b, self.a) = ([t / (1.0 + t), t / (1.0 + t), 0.0], [(t - 1.0) / (t + 1.0), 0.0]);
    }

    fn second_order(&mut self, cutoff: f64, q: f64) {
        let (sin, cos) = (TAU * cutoff).sin_cos();
        let alpha = sin / (2.0 * q);
        let (b, a0) = (0.5 * (1.0 - cos), 1.0 + alpha);
        (self.b, self.a) = ([b / a0, 2.0 * b / a0, b / a0], [-2.0 * cos / a0, (1.0 - alpha) / a0]);
    }

    #[inline]
    fn step(&mut self, x: f64) -> f64 {
        let y = self.b[0] * x + self.state[0];
        self.state = [self.b[1] * x - self.a[0] * y + self.state[1], self.b[2] * x - self.a[1] * y];
        y
    }
}

/// A low-pass of order 0, 1, 2 or 4. A new cut-off keeps the state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LowPass {
    sections: [Section; 2],
    used: usize,
}

impl LowPass {
    /// Cut-off as a share of the sample rate.
    pub fn tune(&mut self, order: u8, cutoff: f64) {
        // Below this f64 sections would take seconds to settle; above, the cookbook's warping closes the band.
        let cutoff = cutoff.clamp(1e-4, 0.45);
        let [first, second] = &mut self.sections;
        self.used = match order {
            0 => 0,
            1 => {
                first.first_order(cutoff);
                1
            }
            2 => {
                first.second_order(cutoff, std::f64::consts::FRAC_1_SQRT_2);
                1
            }
            _ => {
                first.second_order(cutoff, BUTTERWORTH_4[0]);
                second.second_order(cutoff, BUTTERWORTH_4[1]);
                2
            }
        };
    }

    #[inline]
    pub fn step(&mut self, x: f32) -> f32 {
        self.sections[..self.used].iter_mut().fold(f64::from(x), |x, section| section.step(x)) as f32
    }

    pub fn reset(&mut self) {
        self.sections.iter_mut().for_each(|s| s.state = [0.0; 2]);
    }
}

/// A band-pass through which white noise keeps its variance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BandPass {
    b0: f32,
    a: [f32; 2],
    state: [f32; 2],
}

impl BandPass {
    /// Centre as a share of the sample rate.
    pub fn tuned(centre: f32, q: f32) -> Self {
        let (sin, cos) = (TAU as f32 * centre.clamp(1e-3, 0.45)).sin_cos();
        let alpha = sin / (2.0 * q);
        let a0 = 1.0 + alpha;
        // The cookbook's section of unit peak is ½(1 − all-pass): it keeps α/(1 + α) of the power of white noise.
        Self { b0: (alpha / a0).sqrt(), a: [-2.0 * cos / a0, (1.0 - alpha) / a0], state: [0.0; 2] }
    }

    #[inline]
    pub fn step(&mut self, x: f32) -> f32 {
        let y = self.b0 * x + self.state[0];
        self.state = [self.state[1] - self.a[0] * y, -self.b0 * x - self.a[1] * y];
        y
    }

    pub fn reset(&mut self) {
        self.state = [0.0; 2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;

    /// Response to a tone, in decibels.
    fn response_db(order: u8, cutoff: f64, tone: f64) -> f64 {
        let mut filter = LowPass::default();
        filter.tune(order, cutoff);
        let (mut re, mut im) = (0.0, 0.0);
        for n in 0..20_000 {
            let y = f64::from(filter.step(if n == 0 { 1.0 } else { 0.0 }));
            let (sin, cos) = (TAU * tone * f64::from(n)).sin_cos();
            (re, im) = (re + y * cos, im + y * sin);
        }
        20.0 * re.hypot(im).log10()
    }

    /// 3 dB down at the cut-off and 6 dB per octave and order above, well below half the sample rate where the warping is small.
    #[test]
    fn low_passes_have_their_slopes() {
        assert_eq!(response_db(0, 0.005, 0.02), 0.0);
        for order in [1, 2, 4] {
            assert!((response_db(order, 0.005, 0.005) + 3.01).abs() < 0.05);
            assert!(response_db(order, 0.005, 0.0001).abs() < 0.01);
            let slope = response_db(order, 0.005, 0.03) - response_db(order, 0.005, 0.06);
            assert!((slope - 6.02 * f64::from(order)).abs() < 0.6, "order {order}: {slope} dB per octave");
        }
    }

    #[test]
    fn white_noise_keeps_its_variance_in_any_band() {
        for (centre, q) in [(0.02, 0.7), (0.1, 3.0), (0.3, 20.0)] {
            let (mut filter, mut noise) = (BandPass::tuned(centre, q), Noise::new(4));
            let power = (0..400_000).map(|_| filter.step(3f32.sqrt() * noise.bipolar() as f32).powi(2)).sum::<f32>();
            assert!((power / 400_000.0 - 1.0).abs() < 0.1, "{centre} {q}: {power}");
        }
    }
}
