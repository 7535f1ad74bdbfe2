//! What a continuous force will make of the modes it acts on.

use super::World;
use crate::BLOCK;
use crate::kernel::{Bank, LANES, Partial};

/// The spectrum of a force, as the energies of a row of resonators that listen to it.
#[derive(Debug)]
pub(crate) struct ForceSpectrum {
    re: [f32; Self::POINTS],
    im: [f32; Self::POINTS],
    c0: [f32; Self::POINTS],
    c1: [f32; Self::POINTS],
    rate_hz: f32,
}

impl Default for ForceSpectrum {
    fn default() -> Self {
        Self {
            re: [0.0; Self::POINTS],
            im: [0.0; Self::POINTS],
            c0: [0.0; Self::POINTS],
            c1: [0.0; Self::POINTS],
            rate_hz: 0.0,
        }
    }
}

impl ForceSpectrum {
    const POINTS: usize = 32;
    /// Lowest point, and octaves from there to the highest: a point every 3.4 semitones.
    const LOWEST_HZ: f32 = 40.0;
    const OCTAVES: f32 = 9.0;
    /// Decay of the listening resonators in 1/s: they remember some 10 ms.
    const MEMORY: f32 = 100.0;

    fn tune(&mut self, rate_hz: f32) {
        for i in 0..Self::POINTS {
            let hz = Self::LOWEST_HZ * (Self::OCTAVES * i as f32 / (Self::POINTS - 1) as f32).exp2();
            let shrink = if hz < 0.49 * rate_hz { (-Self::MEMORY / rate_hz).exp() } else { 0.0 };
            let theta = std::f32::consts::TAU * hz / rate_hz;
            (self.c0[i], self.c1[i]) = (shrink * theta.cos(), shrink * theta.sin());
        }
        self.rate_hz = rate_hz;
    }

    /// Hears the next samples of the force.
    pub fn listen(&mut self, force: &[f32], world: &World) {
        if self.rate_hz != world.rate_hz as f32 {
            self.tune(world.rate_hz as f32);
        }
        let mut out = [Partial::default(); BLOCK];
        let bank = Bank { s0: &mut self.re, s1: &mut self.im, c0: &self.c0, c1: &self.c1 };
        (world.kernels.rotation_driven)(bank, &[1.0; Self::POINTS], force, &mut out[..force.len()]);
    }

    /// Power per sample near a frequency: the variance of white noise that would sound the same there.
    pub fn power(&self, hz: f32, rate_hz: f32) -> f32 {
        let place = (hz / Self::LOWEST_HZ).log2() / Self::OCTAVES * (Self::POINTS - 1) as f32;
        let i = (place.round().max(0.0) as usize).min(Self::POINTS - 1);
        // Noise of variance s keeps |z|² at s fs/(2d).
        (self.re[i] * self.re[i] + self.im[i] * self.im[i]) * 2.0 * Self::MEMORY / rate_hz
    }
}

const _: () = assert!(ForceSpectrum::POINTS.is_multiple_of(LANES));
