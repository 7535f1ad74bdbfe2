//! Levels of what is heard: peaks, root mean squares, and momentary loudness by ITU-R BS.1770-4 (K-weighting, 400 ms).
//!
//! The two biquads are those of the standard in analogue form, a shelf of 4 dB above 1.7 kHz and a high pass at 38 Hz, brought to any sample rate by the bilinear transform; at 48 kHz they have the coefficients of its tables.

use std::f64::consts::PI;

/// Window of momentary loudness, in s.
const WINDOW_S: f64 = 0.4;

/// Parts of the window.
const PARTS: usize = 8;

/// Loudness of silence, in LUFS.
pub const SILENCE_LUFS: f32 = -120.0;

/// What is heard now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heard {
    /// Largest sample since the last call, left and right.
    pub peak: [f32; 2],
    /// Root mean square since the last call, left and right.
    pub rms: [f32; 2],
    /// Momentary loudness.
    pub loudness_lufs: f32,
}

#[derive(Clone, Copy, Debug)]
struct Biquad {
    b: [f64; 3],
    a: [f64; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Memory([f64; 2]);

impl Biquad {
    fn step(&self, memory: &mut Memory, x: f64) -> f64 {
        let y = self.b[0] * x + memory.0[0];
        memory.0 = [self.b[1] * x - self.a[0] * y + memory.0[1], self.b[2] * x - self.a[1] * y];
        y
    }

    /// The high shelf: +4 dB.
    fn shelf(rate_hz: f64) -> Self {
        let (f0, gain_db, q) = (1_681.974_450_955_533, 3.999_843_853_973_347, 0.707_175_236_955_419_6);
        let k = (PI * f0 / rate_hz).tan();
        let vh = 10f64.powf(gain_db / 20.0);
        let vb = vh.powf(0.499_666_774_154_541_6);
        let a0 = 1.0 + k / q + k * k;
        Self {
            b: [(vh + vb * k / q + k * k) / a0, 2.0 * (k * k - vh) / a0, (vh - vb * k / q + k * k) / a0],
            a: [2.0 * (k * k - 1.0) / a0, (1.0 - k / q + k * k) / a0],
        }
    }

    fn high_pass(rate_hz: f64) -> Self {
        let (f0, q) = (38.135_470_876_024_44, 0.500_327_037_323_877_3);
        let k = (PI * f0 / rate_hz).tan();
        let a0 = 1.0 + k / q + k * k;
        Self { b: [1.0, -2.0, 1.0], a: [2.0 * (k * k - 1.0) / a0, (1.0 - k / q + k * k) / a0] }
    }
}

/// Measures a stereo sound.
#[derive(Debug)]
pub struct Meter {
    filters: [Biquad; 2],
    memory: [[Memory; 2]; 2],
    part_frames: usize,
    /// Energies of the last parts of the window, and of the one that is being filled.
    parts: [f64; PARTS],
    part: usize,
    filled: usize,
    peak: [f32; 2],
    squares: [f64; 2],
    frames: usize,
}

impl Meter {
    /// At a sample rate.
    pub fn new(rate_hz: f64) -> Self {
        Self {
            filters: [Biquad::shelf(rate_hz), Biquad::high_pass(rate_hz)],
            memory: Default::default(),
            part_frames: ((WINDOW_S / PARTS as f64 * rate_hz) as usize).max(1),
            parts: [0.0; PARTS],
            part: 0,
            filled: 0,
            peak: [0.0; 2],
            squares: [0.0; 2],
            frames: 0,
        }
    }

    /// Hears frames: left, right, …
    pub fn hear(&mut self, samples: &[f32]) {
        for frame in samples.chunks_exact(2) {
            let mut energy = 0.0;
            for (channel, &x) in frame.iter().enumerate() {
                self.peak[channel] = self.peak[channel].max(x.abs());
                self.squares[channel] += f64::from(x * x);
                let memory = &mut self.memory[channel];
                let shelved = self.filters[0].step(&mut memory[0], f64::from(x));
                let y = self.filters[1].step(&mut memory[1], shelved);
                energy += y * y;
            }
            self.frames += 1;
            self.filled += 1;
            self.parts[self.part] += energy;
            if self.filled == self.part_frames {
                self.part = (self.part + 1) % PARTS;
                (self.parts[self.part], self.filled) = (0.0, 0);
            }
        }
    }

    /// What was heard since the last call.
    pub fn read(&mut self) -> Heard {
        let frames = self.frames.max(1) as f64;
        let window = (self.part_frames * (PARTS - 1) + self.filled).max(1) as f64;
        let mean = self.parts.iter().sum::<f64>() / window;
        let loudness_lufs = if mean > 1e-12 { (-0.691 + 10.0 * mean.log10()) as f32 } else { SILENCE_LUFS };
        let heard = Heard { peak: self.peak, rms: self.squares.map(|s| (s / frames).sqrt() as f32), loudness_lufs };
        (self.peak, self.squares, self.frames) = ([0.0; 2], [0.0; 2], 0);
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BS.1770-4: a sine of 997 Hz at 0 dBFS in one channel is at −3.01 LUFS; at 48 kHz the shelf has the standard's coefficients.
    #[test]
    fn the_standard_calibration_tone_is_at_minus_three() {
        for rate_hz in [44_100.0, 48_000.0] {
            let mut meter = Meter::new(rate_hz);
            let tone: Vec<f32> = (0..rate_hz as usize)
                .flat_map(|n| [(2.0 * PI * 997.0 * n as f64 / rate_hz).sin() as f32, 0.0])
                .collect();
            meter.hear(&tone);
            let heard = meter.read();
            assert!((heard.loudness_lufs + 3.01).abs() < 0.05, "{heard:?}");
            assert!((heard.rms[0] - 0.5f32.sqrt()).abs() < 1e-3 && heard.peak[1] == 0.0, "{heard:?}");
        }
        let shelf = Biquad::shelf(48_000.0);
        assert!((shelf.b[0] - 1.535_124_859_586_97).abs() < 1e-9 && (shelf.a[0] + 1.690_659_293_182_41).abs() < 1e-9);
    }
}
