//! Levels of three octaves.
//!
//! Q = FFT(P)·Δt / (√π σ 10^{−(ν/ν_max)²}) is the response to an impulse instead of the pulse: 1 at all frequencies for the direct sound at 1 m. A band's
//! level is that of the mean of |Q|² over its bins.

use super::Timing;
use realfft::num_complex::Complex32;
use realfft::{RealFftPlanner, RealToComplex};
use std::ops::Range;
use std::sync::Arc;

/// Octaves, the last of which ends at ν_max.
pub const BANDS: usize = 3;

/// Power of a silent band: −300 dB.
const SILENCE: f64 = 1e-30;

/// Fourier transform of segments up to a length, and what divides the pulse out of it.
pub struct Loudness {
    fft: Arc<dyn RealToComplex<f32>>,
    input: Vec<f32>,
    spectrum: Vec<Complex32>,
    scratch: Vec<Complex32>,
    bands: [Range<usize>; BANDS],
    /// For each bin, what turns its power into the share of its band's mean |Q|².
    weights: Vec<f32>,
}

impl Loudness {
    pub fn new(timing: &Timing, longest: usize) -> Self {
        // Bins are dense enough that sums over them are integrals of |Q|² (half the inverse of the length), and at least 16 to the lowest octave.
        let finest = timing.samples(128.0 / timing.f_max_hz);
        let size = (2 * longest).max(finest).max(64).next_power_of_two();
        let fft = RealFftPlanner::new().plan_fft_forward(size);
        let (input, spectrum, scratch) = (fft.make_input_vec(), fft.make_output_vec(), fft.make_scratch_vec());
        let bin_hz = 1.0 / (size as f64 * timing.step_s);
        let bin = |hz: f64| ((hz / bin_hz).ceil() as usize).min(spectrum.len());
        let bands = [8.0, 4.0, 2.0].map(|d| bin(timing.f_max_hz / d)..bin(2.0 * timing.f_max_hz / d));
        let mut weights = vec![0.0; spectrum.len()];
        for band in bands.clone() {
            let bins = band.len() as f64;
            for k in band {
                let relative = k as f64 * bin_hz / timing.f_max_hz;
                let pulse = std::f64::consts::PI.sqrt() * timing.sigma_s() * 10f64.powf(-relative * relative);
                weights[k] = ((timing.step_s / pulse).powi(2) / bins) as f32;
            }
        }
        Self { fft, input, spectrum, scratch, bands, weights }
    }

    /// The three levels, from the lowest octave up, in dB. Segments beyond the length given to [`new`](Self::new) are cut.
    pub fn levels_db(&mut self, segment: &[f32]) -> [f64; BANDS] {
        let filled = segment.len().min(self.input.len());
        self.input[..filled].copy_from_slice(&segment[..filled]);
        self.input[filled..].fill(0.0);
        self.fft
            .process_with_scratch(&mut self.input, &mut self.spectrum, &mut self.scratch)
            .expect("buffers are those the plan asks for");
        self.bands.clone().map(|band| {
            let power = |(x, w): (&Complex32, &f32)| f64::from(x.norm_sqr() * w);
            let sum: f64 = self.spectrum[band.clone()].iter().zip(&self.weights[band]).map(power).sum();
            10.0 * sum.max(SILENCE).log10()
        })
    }
}
