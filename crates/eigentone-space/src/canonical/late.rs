//! Late reverberation: noise that decays, and decays faster where air takes more.
//!
//! One noise n(t) per channel, Gaussian, uncorrelated between the channels; the filter of a time T_j is n(t)·10^{−3t/T_j}, so that filters add up coherently.
//!
//! - *Even energy*: chance alone would make the energy of 25 ms differ by 0.2 dB at 44.1 kHz and by 0.4 dB at 8 kHz. The first 25 ms set the level of all that
//!   follows, so every 25 ms of the noise are scaled to the same energy.
//! - *Air* is applied once, to the noise, in short windows: what sounds at time t has lost 10^{−α(f)ct/20}. The time counts from the end of the first 25 ms.
//!   Early filters know nothing of air, so this is where both have the same spectrum; and unit energy of the first 25 ms then is unit gain for every
//!   frequency at every sample rate. If air took its part there, scaling to unit energy would raise low frequencies, the more the higher the rate.

use super::{JOINT_S, LATE_TIMES_S, gaussian, samples};
use crate::air::Air;
use eigentone_core::Noise;
use eigentone_core::SOUND_M_S;
use realfft::RealFftPlanner;

/// Any other would do.
const SEED: u64 = 0x6c61_7465_0000;
/// Windows of the transform last about this long, in s: short against the decay of high frequencies, long against one period of low ones.
const WINDOW_S: f64 = 0.02;

/// The late filters for all of [`LATE_TIMES_S`].
pub fn filters(sample_rate_hz: f64, air: &Air) -> [[Vec<f32>; 2]; 3] {
    let longest_s = LATE_TIMES_S.into_iter().fold(0.0, f64::max);
    let length = (longest_s * sample_rate_hz).ceil() as usize;
    let joint = samples(JOINT_S, sample_rate_hz);
    let mut noise = Noise::new(SEED);
    let common: [Vec<f32>; 2] = std::array::from_fn(|_| {
        let mut channel = even_noise(&mut noise, length, joint);
        absorb(&mut channel, sample_rate_hz, air);
        channel
    });
    LATE_TIMES_S.map(|time_s| {
        let length = (time_s * sample_rate_hz).ceil() as usize;
        let envelope = |n: usize| 10f64.powf(-3.0 * n as f64 / (sample_rate_hz * time_s));
        common.each_ref().map(|channel| {
            let decaying = || channel[..length].iter().enumerate().map(|(n, &x)| f64::from(x) * envelope(n));
            let gain = decaying().take(joint).map(|x| x * x).sum::<f64>().sqrt().recip();
            decaying().map(|x| (gain * x) as f32).collect()
        })
    })
}

/// Gaussian noise of unit variance in every stretch of `even` samples.
fn even_noise(noise: &mut Noise, length: usize, even: usize) -> Vec<f32> {
    let mut samples: Vec<f32> = (0..length).map(|_| gaussian(noise) as f32).collect();
    for stretch in samples.chunks_mut(even) {
        let gain = (stretch.len() as f64 / super::energy(stretch)).sqrt() as f32;
        stretch.iter_mut().for_each(|x| *x *= gain);
    }
    samples
}

/// Takes from every window what air takes until then. Windows are sines, before and after the transform, and overlap by half: their squares add up to one.
fn absorb(samples: &mut [f32], sample_rate_hz: f64, air: &Air) {
    let size = ((WINDOW_S * sample_rate_hz) as usize).next_power_of_two();
    let hop = size / 2;
    let mut planner = RealFftPlanner::<f32>::new();
    let (forward, inverse) = (planner.plan_fft_forward(size), planner.plan_fft_inverse(size));
    let window: Vec<f32> =
        (0..size).map(|n| (std::f64::consts::PI * (n as f64 + 0.5) / size as f64).sin() as f32).collect();
    let loss_db_per_s: Vec<f64> =
        (0..=hop).map(|k| SOUND_M_S * air.attenuation_db_per_m(k as f64 * sample_rate_hz / size as f64)).collect();

    let mut absorbed = vec![0.0; samples.len()];
    let (mut frame, mut spectrum) = (forward.make_input_vec(), forward.make_output_vec());
    // The first window begins half its length before the first sample.
    for start in (0..samples.len() + hop).step_by(hop) {
        let at = |n: usize| (start + n).checked_sub(hop);
        for (n, x) in frame.iter_mut().enumerate() {
            *x = at(n).and_then(|i| samples.get(i)).map_or(0.0, |s| s * window[n]);
        }
        let time_s = (start as f64 / sample_rate_hz - JOINT_S).max(0.0);
        // Lengths are those of the plan, which is all that could be wrong.
        let _ = forward.process(&mut frame, &mut spectrum);
        for (bin, loss) in spectrum.iter_mut().zip(&loss_db_per_s) {
            *bin *= (10f64.powf(-loss * time_s / 20.0) / size as f64) as f32;
        }
        let _ = inverse.process(&mut spectrum, &mut frame);
        for (n, x) in frame.iter().enumerate() {
            if let Some(out) = at(n).and_then(|i| absorbed.get_mut(i)) {
                *out += x * window[n];
            }
        }
    }
    samples.copy_from_slice(&absorbed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn air_that_takes_nothing_changes_nothing() {
        let noise = even_noise(&mut Noise::new(1), 50_000, 1000);
        let mut same = noise.clone();
        absorb(&mut same, 44_100.0, &Air::LOSSLESS);
        assert!(noise.iter().zip(&same).all(|(a, b)| (a - b).abs() < 1e-5));
    }

    /// A steady tone falls by α·c dB per second.
    #[test]
    fn a_tone_falls_as_air_has_it() {
        let rate_hz = 44_100.0;
        for frequency_hz in [1000.0, 4000.0, 8000.0] {
            let tone = |n: usize| (std::f64::consts::TAU * frequency_hz * n as f64 / rate_hz).sin() as f32;
            let mut samples: Vec<f32> = (0..88_200).map(tone).collect();
            absorb(&mut samples, rate_hz, &Air::default());
            let level_db = |at_s: f64| {
                let from = (at_s * rate_hz) as usize;
                10.0 * super::super::energy(&samples[from - 441..from + 441]).log10()
            };
            let fall_db = level_db(0.2) - level_db(1.2);
            let expected_db = SOUND_M_S * Air::default().attenuation_db_per_m(frequency_hz);
            assert!((fall_db / expected_db - 1.0).abs() < 0.02, "{frequency_hz} Hz: {fall_db} {expected_db}");
        }
    }
}
