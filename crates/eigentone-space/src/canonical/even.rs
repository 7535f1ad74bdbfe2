//! Noise that is even in every octave.
//!
//! Noise whose energy is the same in every few milliseconds still is not so for low frequencies: of the octave up to 250 Hz there are but six independent values in 25 ms.
//! A field is simulated up to some hundred hertz, and there chance made early decays of 200 ms wrong by 10 % though those of the whole band were right
//! within 3 %. So octaves below 1 kHz are taken out one by one, each is divided by its own slow envelope, and put back.

use realfft::RealFftPlanner;

/// Ends of the octaves that are made even, in Hz.
const ENDS_HZ: [f64; 6] = [0.0, 62.5, 125.0, 250.0, 500.0, 1000.0];
const OCTAVES: usize = ENDS_HZ.len() - 1;
/// Envelopes are smoothed by a bell of this standard deviation, in periods of an octave's width.
const PERIODS: f64 = 3.0;
/// What one octave gains leaks into the next.
const PASSES: usize = 4;
/// No envelope is followed farther than this.
const MOST_GAIN: f64 = 4.0;

/// Makes noise of unit variance even in each octave.
pub fn even_octaves(noise: &mut [f64], sample_rate_hz: f64) {
    if noise.is_empty() {
        return;
    }
    let edges = vec![1.0; noise.len()];
    for _ in 0..PASSES {
        let all = octaves(noise, sample_rate_hz);
        for (k, octave) in all.iter().enumerate() {
            let wide_hz = ENDS_HZ[k + 1] - ENDS_HZ[k];
            let width = PERIODS * sample_rate_hz / wide_hz;
            // White noise has its energy in proportion to the width.
            let expected = 2.0 * wide_hz / sample_rate_hz;
            let energy = blurred(&octave.iter().map(|x| x * x).collect::<Vec<_>>(), width);
            let edges = blurred(&edges, width);
            for (((x, part), energy), edge) in noise.iter_mut().zip(octave).zip(energy).zip(edges) {
                let gain = (expected * edge / energy.max(1e-30)).sqrt().clamp(MOST_GAIN.recip(), MOST_GAIN);
                *x += (gain - 1.0) * part;
            }
        }
    }
}

/// What lies in each of the octaves.
fn octaves(samples: &[f64], sample_rate_hz: f64) -> [Vec<f64>; OCTAVES] {
    let size = samples.len();
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, inverse) = (planner.plan_fft_forward(size), planner.plan_fft_inverse(size));
    let (mut frame, mut spectrum) = (samples.to_vec(), forward.make_output_vec());
    // Lengths are those of the plan, which is all that could be wrong.
    let _ = forward.process(&mut frame, &mut spectrum);
    std::array::from_fn(|k| {
        let bin = |hz: f64| ((hz * size as f64 / sample_rate_hz).ceil() as usize).min(spectrum.len());
        let mut part = inverse.make_input_vec();
        let band = bin(ENDS_HZ[k])..bin(ENDS_HZ[k + 1]);
        part[band.clone()].copy_from_slice(&spectrum[band]);
        part.iter_mut().for_each(|x| *x /= size as f64);
        let mut octave = inverse.make_output_vec();
        let _ = inverse.process(&mut part, &mut octave);
        octave
    })
}

/// Three boxes in a row, with the standard deviation `width` in samples; nothing is beyond the ends.
fn blurred(samples: &[f64], width: f64) -> Vec<f64> {
    let half = ((4.0 * width * width + 1.0).sqrt() / 2.0).round() as usize;
    let mut out = samples.to_vec();
    let mut sums = vec![0.0; samples.len()];
    for _ in 0..3 {
        let mut sum: f64 = out.iter().take(half).sum();
        for (k, place) in sums.iter_mut().enumerate() {
            sum += out.get(k + half).copied().unwrap_or(0.0);
            sum -= k.checked_sub(half + 1).map_or(0.0, |gone| out[gone]);
            *place = sum / (2 * half + 1) as f64;
        }
        std::mem::swap(&mut out, &mut sums);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::gaussian;
    use eigentone_core::Noise;

    /// Ratio of the standard deviation to the mean of energies in 50 ms, by octave.
    fn unevenness(noise: &[f64], rate_hz: f64) -> [f64; OCTAVES] {
        octaves(noise, rate_hz).map(|octave| {
            let energies: Vec<f64> =
                octave.chunks_exact((0.05 * rate_hz) as usize).map(|c| c.iter().map(|x| x * x).sum()).collect();
            let mean = energies.iter().sum::<f64>() / energies.len() as f64;
            (energies.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / energies.len() as f64).sqrt() / mean
        })
    }

    #[test]
    fn octaves_become_even_and_the_rest_stays() {
        let rate_hz = 16_000.0;
        let mut source = Noise::new(3);
        let before: Vec<f64> = (0..32_000).map(|_| gaussian(&mut source)).collect();
        let mut after = before.clone();
        even_octaves(&mut after, rate_hz);
        let (was, is) = (unevenness(&before, rate_hz), unevenness(&after, rate_hz));
        for octave in 1..OCTAVES {
            assert!(is[octave] < 0.6 * was[octave], "{was:?} {is:?}");
        }
        let changed: f64 = before.iter().zip(&after).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 32_000.0;
        assert!(changed < 0.05, "{changed}");
    }

    #[test]
    fn a_blur_has_its_width_and_keeps_the_sum() {
        for width in [3.0, 25.0, 140.0] {
            let mut click = vec![0.0; 2001];
            click[1000] = 1.0;
            let out = blurred(&click, width);
            let variance: f64 = out.iter().enumerate().map(|(n, x)| x * (n as f64 - 1000.0).powi(2)).sum();
            assert!((out.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!((variance.sqrt() / width - 1.0).abs() < 0.05, "{width}: {}", variance.sqrt());
        }
        assert_eq!(blurred(&[1.0], 5.0).len(), 1);
    }
}
