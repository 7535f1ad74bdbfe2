//! Where a recorded strike begins and where it is lost in noise.
//!
//! A strike is told from clicks and rumble by energy: the onset lies in the first window of 20 ms that holds a tenth of
//! the energy of the richest such window. Inside it, the onset is the first sample that rises out of what came before.
//! Modes are fitted from a little later, when half of the peak is reached: before that the striker still pushes.

use super::FitError;

/// Window that decides what is the strike, in s.
const STRIKE_WINDOW_S: f64 = 0.02;
/// Resolution of energies, in s.
const FRAME_S: f64 = 0.0025;
/// Shortest usable recording after the onset, in s.
pub(super) const SHORTEST_S: f64 = 0.02;

/// One take, centred, with its interesting part marked in samples.
#[derive(Clone, Debug)]
pub(super) struct Trimmed {
    pub samples: Vec<f64>,
    /// First sample of the strike.
    pub onset: usize,
    /// First sample of the modal fit.
    pub start: usize,
    /// One past the last sample of the modal fit.
    pub end: usize,
    /// Root mean square of the quietest part after the strike.
    pub noise_rms: f64,
    /// Largest magnitude.
    pub peak: f64,
    /// Time of a second strike, at which the analysis was cut.
    pub second_strike: Option<usize>,
}

/// Finds the strike in a take. `take` is its index, for errors.
pub(super) fn trim(samples: &[f32], take: usize, sample_rate: f64, longest_s: f64) -> Result<Trimmed, FitError> {
    if samples.is_empty() {
        return Err(FitError::Empty { take });
    }
    if let Some(at) = samples.iter().position(|x| !x.is_finite()) {
        return Err(FitError::NotFinite { take, at });
    }
    let samples = centred(samples, sample_rate);
    let peak = samples.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    // 180 dB below full scale: not even rounding of 24-bit samples is that small.
    if peak < 1e-9 {
        return Err(FitError::Silent { take });
    }
    let frame = ((FRAME_S * sample_rate) as usize).max(1);
    let energy: Vec<f64> = samples.chunks(frame).map(|c| c.iter().map(|x| x * x).sum::<f64>() / frame as f64).collect();
    let onset = onset(&samples, &energy, frame, sample_rate);
    let rise = &samples[onset..samples.len().min(onset + (0.005 * sample_rate) as usize + 1)];
    let crest = rise.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let start = onset + rise.iter().position(|x| x.abs() >= 0.5 * crest).unwrap_or(0);

    let first = onset / frame;
    let noise = quietest(&energy[first..]);
    let second_strike = second_strike(&energy[first..]).map(|m| (first + m) * frame);
    let stop = second_strike.unwrap_or(samples.len());
    let heard =
        energy[first..stop.div_ceil(frame).min(energy.len())].iter().rposition(|e| *e > 2.0 * noise).unwrap_or(0);
    // Single modes can be followed well below the noise of the whole band.
    let generous = start + (1.5 * (heard * frame) as f64 + 0.1 * sample_rate) as usize;
    let end = generous.min(stop).min(start + (longest_s * sample_rate) as usize);
    let usable_s = end.saturating_sub(start) as f64 / sample_rate;
    if usable_s < SHORTEST_S {
        return Err(FitError::TooShort { take, usable_s });
    }
    Ok(Trimmed { samples, onset, start, end, noise_rms: noise.sqrt(), peak, second_strike })
}

/// Removes the mean of the last quarter, which holds the offset of the recorder and little sound.
fn centred(samples: &[f32], sample_rate: f64) -> Vec<f64> {
    let quarter = samples.len() / 4;
    let tail = if quarter as f64 > 0.05 * sample_rate { &samples[samples.len() - quarter..] } else { samples };
    let mean = tail.iter().map(|x| f64::from(*x)).sum::<f64>() / tail.len() as f64;
    samples.iter().map(|x| f64::from(*x) - mean).collect()
}

fn onset(samples: &[f64], energy: &[f64], frame: usize, sample_rate: f64) -> usize {
    let span = (STRIKE_WINDOW_S / FRAME_S) as usize;
    let window = |m: usize| energy[m..energy.len().min(m + span)].iter().sum::<f64>();
    let windows: Vec<f64> = (0..energy.len()).map(window).collect();
    let richest = windows.iter().fold(0.0f64, |a, b| a.max(*b));
    let first = windows.iter().position(|e| *e >= 0.1 * richest).unwrap_or(0) * frame;
    let last = samples.len().min(first + ((STRIKE_WINDOW_S + FRAME_S) * sample_rate) as usize + 1);
    let crest = samples[first..last].iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let certain = first + samples[first..last].iter().position(|x| x.abs() >= 0.25 * crest).unwrap_or(0);

    // From where it is certain, back to where it rises out of the quietest millisecond before.
    let quiet_span = (0.001 * sample_rate) as usize + 1;
    let lead = &samples[certain.saturating_sub((0.02 * sample_rate) as usize)..certain];
    let rms = |w: &[f64]| (w.iter().map(|x| x * x).sum::<f64>() / w.len() as f64).sqrt();
    let noise = lead.windows(quiet_span).map(rms).fold(f64::INFINITY, f64::min);
    let threshold = (6.0 * noise).min(0.25 * crest).max(0.03 * crest);
    let mut onset = certain;
    let gap = quiet_span / 2;
    for n in (0..certain).rev() {
        if samples[n].abs() >= threshold {
            onset = n;
        } else if onset - n > gap {
            break;
        }
    }
    onset
}

/// Mean energy of the quietest run of frames in the last half, a tenth of the whole long.
fn quietest(energy: &[f64]) -> f64 {
    let run = (energy.len() / 10).clamp(1, 40);
    let tail = &energy[energy.len() / 2..];
    tail.windows(run.min(tail.len())).map(|w| w.iter().sum::<f64>() / w.len() as f64).fold(f64::INFINITY, f64::min)
}

/// First frame that jumps 12 dB above the 60 ms before it and reaches 5 % of the strike's energy. Beating modes fall and
/// rise too, but not within so short a time.
fn second_strike(energy: &[f64]) -> Option<usize> {
    let span = (0.06 / FRAME_S) as usize;
    let strongest = energy.iter().take(span).fold(0.0f64, |a, b| a.max(*b));
    (2 * span..energy.len()).find(|&m| {
        let before = energy[m - span..m].iter().fold(0.0f64, |a, b| a.max(*b));
        energy[m] > 16.0 * before && energy[m] > 0.05 * strongest
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::testing::Rng;

    const RATE: f64 = 44_100.0;

    fn strike(at: usize, noise: f64, offset: f64) -> Vec<f32> {
        let mut rng = Rng::new(7);
        (0..44_100)
            .map(|n| {
                let t = (n as f64 - at as f64) / RATE;
                let ring = if t >= 0.0 { (-20.0 * t).exp() * (6000.0 * t).cos() } else { 0.0 };
                (ring + noise * rng.gaussian() + offset) as f32
            })
            .collect()
    }

    #[test]
    fn the_onset_is_found_within_half_a_millisecond() {
        for (noise, offset) in [(0.0, 0.0), (1e-4, 0.0), (1e-2, 0.2), (0.05, -0.5)] {
            for at in [0, 1, 777, 12_345] {
                let found = trim(&strike(at, noise, offset), 0, RATE, 8.0).unwrap().onset;
                assert!(found.abs_diff(at) <= 22, "noise {noise}: {found} for {at}");
            }
        }
    }

    #[test]
    fn clicks_before_the_strike_are_passed_over() {
        let mut take = strike(20_000, 1e-3, 0.0);
        for at in [100, 5_000, 11_000] {
            take[at] = 0.8;
        }
        let found = trim(&take, 0, RATE, 8.0).unwrap().onset;
        assert!(found.abs_diff(20_000) <= 22, "{found}");
    }

    #[test]
    fn a_second_strike_ends_the_analysis() {
        let mut take = strike(1_000, 1e-4, 0.0);
        for (n, x) in strike(23_000, 0.0, 0.0).iter().enumerate() {
            take[n] += x;
        }
        let trimmed = trim(&take, 0, RATE, 8.0).unwrap();
        assert!(trimmed.end.abs_diff(23_000) < 200, "{}", trimmed.end);
    }
}
