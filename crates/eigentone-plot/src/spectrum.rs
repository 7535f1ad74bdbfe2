//! Short-time spectra for pictures: power in dB over pixel columns and rows of a logarithmic frequency axis.
//!
//! Frames are weighted with a Hann window, whose side lobes fall by 18 dB per octave and leave the 90 dB of the scale some
//! ten bins from a partial, and padded to twice their length so that the low rows, many of which share a bin, vary smoothly.

use super::axis::Axis;
use realfft::RealFftPlanner;
use std::f64::consts::TAU;

/// Lowest level shown, in dB below the loudest.
pub(super) const FLOOR_DB: f64 = -90.0;

/// Levels in dB relative to full scale, column by column, bottom row first.
pub(super) struct Spectrogram {
    pub columns: usize,
    pub rows: usize,
    levels: Vec<f32>,
}

impl Spectrogram {
    pub fn new(samples: &[f32], rate_hz: f64, axis: &Axis, columns: usize, rows: usize) -> Self {
        let (columns, rows) = (columns.max(1), rows.max(1));
        let mut analyser = Analyser::new(frame_length(samples.len(), rate_hz));
        let span = samples.len() as f64 / columns as f64;
        // Long sounds: several frames per column, so that nothing between them is missed.
        let per_column = (2.0 * span / analyser.length as f64).ceil().clamp(1.0, 64.0) as usize;
        let edges: Vec<f64> = (0..=rows).map(|r| axis.value(r as f64 / rows as f64) / rate_hz).collect();
        let mut levels = Vec::with_capacity(columns * rows);
        for column in 0..columns {
            let mut power = vec![0f64; analyser.bins()];
            for k in 0..per_column {
                let centre = span * (column as f64 + (k as f64 + 0.5) / per_column as f64);
                for (sum, p) in power.iter_mut().zip(analyser.power(samples, centre)) {
                    *sum = sum.max(*p);
                }
            }
            levels.extend(edges.windows(2).map(|e| decibels(band(&power, e[0], e[1])) as f32));
        }
        Self { columns, rows, levels }
    }

    /// Level at a column and a row counted from the bottom.
    pub fn level(&self, column: usize, row: usize) -> f64 {
        f64::from(self.levels[column.min(self.columns - 1) * self.rows + row.min(self.rows - 1)])
    }

    pub fn loudest(&self) -> f64 {
        f64::from(self.levels.iter().copied().fold(f32::MIN, f32::max))
    }
}

/// About an eighth of the sound, between 23 and 93 ms, in a power of two.
fn frame_length(samples: usize, rate_hz: f64) -> usize {
    let longest = (0.093 * rate_hz).max(64.0);
    let wanted = (samples as f64 / 8.0).clamp(0.023 * rate_hz, longest).clamp(32.0, 65_536.0);
    1 << (wanted.log2().round() as u32)
}

struct Analyser {
    length: usize,
    window: Vec<f32>,
    gain: f64,
    transform: std::sync::Arc<dyn realfft::RealToComplex<f32>>,
    input: Vec<f32>,
    output: Vec<realfft::num_complex::Complex<f32>>,
    power: Vec<f64>,
}

impl Analyser {
    fn new(length: usize) -> Self {
        let transform = RealFftPlanner::<f32>::new().plan_fft_forward(2 * length);
        let window: Vec<f32> =
            (0..length).map(|k| (0.5 - 0.5 * (TAU * (k as f64 + 0.5) / length as f64).cos()) as f32).collect();
        // A full-scale sine reads 0 dB.
        let gain = 2.0 / window.iter().map(|w| f64::from(*w)).sum::<f64>();
        let (input, output) = (transform.make_input_vec(), transform.make_output_vec());
        Self { length, window, gain, transform, input, power: vec![0.0; output.len()], output }
    }

    fn bins(&self) -> usize {
        self.output.len()
    }

    /// Power of the frame around a sample.
    fn power(&mut self, samples: &[f32], centre: f64) -> &[f64] {
        // Frames at the end stay inside the sound: a cut there would show as a click that nobody hears.
        let last = samples.len().saturating_sub(self.length) as i64;
        let start = (centre.round() as i64 - self.length as i64 / 2).min(last);
        self.input.fill(0.0);
        for (k, (x, w)) in self.input.iter_mut().zip(&self.window).enumerate() {
            let at = usize::try_from(start + k as i64).ok().and_then(|i| samples.get(i)).copied();
            *x = at.filter(|v| v.is_finite()).unwrap_or(0.0) * w;
        }
        if self.transform.process(&mut self.input, &mut self.output).is_err() {
            self.power.fill(0.0);
            return &self.power;
        }
        for (p, z) in self.power.iter_mut().zip(&self.output) {
            *p = f64::from(z.norm_sqr()) * self.gain * self.gain;
        }
        &self.power
    }
}

/// Largest power in a band of frequencies relative to the sample rate, interpolated where the band is narrower than a bin.
fn band(power: &[f64], low: f64, high: f64) -> f64 {
    let per_rate = 2.0 * (power.len() - 1) as f64;
    let (low, high) = (low * per_rate, high * per_rate);
    let last = power.len() - 1;
    let centre = 0.5 * (low + high);
    if centre > last as f64 {
        return 0.0;
    }
    let k = (centre as usize).min(last.saturating_sub(1));
    let t = centre - k as f64;
    let between = power[k] * (1.0 - t) + power.get(k + 1).copied().unwrap_or(0.0) * t;
    let inside = low.ceil() as usize..=(high.floor() as usize).min(last);
    inside.map(|k| power[k]).fold(between, f64::max)
}

fn decibels(power: f64) -> f64 {
    10.0 * power.max(1e-30).log10()
}

/// Level in dB of the whole sound along a frequency axis: mean power over frames.
pub(super) fn mean_spectrum(samples: &[f32], rate_hz: f64, axis: &Axis, points: usize) -> Vec<f64> {
    // Time does not matter here: four times the frame, as far as the sound is long enough.
    let frame = 4 * frame_length(samples.len(), rate_hz);
    let fits = samples.len().next_power_of_two() / 2;
    let mut analyser = Analyser::new(frame.min(fits).max(32));
    let hop = analyser.length as f64 / 2.0;
    let frames = ((samples.len() as f64 / hop).ceil() as usize).max(1);
    let mut power = vec![0f64; analyser.bins()];
    for k in 0..frames {
        for (sum, p) in power.iter_mut().zip(analyser.power(samples, (k as f64 + 0.5) * hop)) {
            *sum += p / frames as f64;
        }
    }
    let edge = |k: usize| axis.value(k as f64 / points as f64) / rate_hz;
    (0..points).map(|k| decibels(band(&power, edge(k), edge(k + 1)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_scale_sine_reads_zero_decibels_in_its_row() {
        let rate = 44_100.0;
        let sine: Vec<f32> = (0..44_100).map(|k| (TAU * 1000.0 * f64::from(k) / rate).sin() as f32).collect();
        let axis = Axis::log(20.0, 20_000.0, "");
        let gram = Spectrogram::new(&sine, rate, &axis, 50, 300);
        let row = (300.0 * f64::from(axis.share(1000.0))) as usize;
        assert!(gram.level(25, row).abs() < 0.5, "{}", gram.level(25, row));
        assert!(gram.level(25, row + 60) < -80.0 && gram.level(25, row - 60) < -80.0);
        let mean = mean_spectrum(&sine, rate, &axis, 300);
        assert!((mean[row]).abs() < 1.0);
    }

    #[test]
    fn silence_and_single_samples_have_spectra() {
        let axis = Axis::log(20.0, 20_000.0, "");
        for samples in [&[][..], &[1.0], &[f32::NAN, f32::INFINITY], &[0.0; 500]] {
            let gram = Spectrogram::new(samples, 44_100.0, &axis, 10, 10);
            assert!(gram.loudest().is_finite());
        }
    }
}
