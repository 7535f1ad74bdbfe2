//! From complex amplitudes to the real gains of a model.
//!
//! The engine starts every mode as a cosine, so of a complex amplitude only the magnitude and, between takes, the sign
//! survive: a mode that two places move in opposite directions. Takes are aligned to their onsets only within a fraction
//! of a millisecond, hence the delay `τ_k` of each take is found first, as the one that makes the phase differences
//! `φ_ik − φ_i0 − ω_i τ_k` of all modes fall on 0 or π: the maximum of `Σ_i |c_ik c_i0| cos 2(φ_ik − φ_i0 − ω_i τ_k)`.
//!
//! Modes that overlap strongly interfere, and as cosines they interfere differently. A group of such modes is scaled so
//! that it keeps its energy, `gᵀ ΦᵀΦ g` over the cosines alone.

use super::{
    gram::{C64, LogPole, Pair},
    overlap::{correlation, independence},
    refine::Modes,
};

/// Largest delay between takes that is looked for, in s.
const LARGEST_DELAY_S: f64 = 1e-3;

/// Modes that keep this part of their energy to themselves stay as they are.
const INDEPENDENT: f64 = 0.5;
/// Squared correlation above which two others belong to one group.
const NEIGHBOURS: f64 = 0.1;

/// Gains `[take][mode]` with which the engine plays the takes again. The amplitudes of take `k` hold `after[k]` samples
/// after its onset, and it was analysed for `lengths[k]` samples.
pub(super) fn playing_gains(modes: &Modes, after: &[f64], lengths: &[usize], sample_rate: f64) -> Vec<Vec<f64>> {
    let mut gains = signed_gains(modes, after, sample_rate);
    for group in groups(modes, lengths).iter().filter(|g| g.len() > 1) {
        for ((gains, amplitudes), &len) in gains.iter_mut().zip(&modes.amplitudes).zip(lengths) {
            let (mut heard, mut played) = (0.0, 0.0);
            for &i in group {
                for &j in group {
                    let pair = Pair::new(modes.poles[i], modes.poles[j], len);
                    heard += pair.block(0, amplitudes[i], amplitudes[j])[0][0];
                    played += pair.block(0, C64::new(gains[i], 0.0), C64::new(gains[j], 0.0))[0][0];
                }
            }
            let scale = (heard / played).max(0.0).sqrt().clamp(0.03, 2.0);
            if scale.is_finite() {
                group.iter().for_each(|&i| gains[i] *= scale);
            }
        }
    }
    gains
}

/// Connected groups of overlapping modes.
fn groups(modes: &Modes, lengths: &[usize]) -> Vec<Vec<usize>> {
    let part = independence(lengths, modes);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in (0..part.len()).filter(|&i| part[i] < INDEPENDENT) {
        let touches = |g: &Vec<usize>| g.iter().any(|&j| correlation(modes.poles[i], modes.poles[j]) > NEIGHBOURS);
        let (mut joined, rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(touches);
        groups = rest;
        joined.push(vec![i]);
        groups.push(joined.concat());
    }
    groups
}

/// Magnitudes with the signs that hold between takes; the strongest take of each mode is positive. The amplitudes of take
/// `k` hold `after[k]` samples after its onset.
fn signed_gains(modes: &Modes, after: &[f64], sample_rate: f64) -> Vec<Vec<f64>> {
    let total = |take: &[C64]| take.iter().map(|c| c.norm_sqr()).sum::<f64>();
    let turned = |take: &[C64], by: f64| -> Vec<C64> {
        take.iter().zip(&modes.poles).map(|(c, s)| c * C64::from_polar(1.0, -s.im * by)).collect()
    };
    let at_onset: Vec<Vec<C64>> = modes.amplitudes.iter().zip(after).map(|(take, by)| turned(take, *by)).collect();
    let loudest = at_onset.iter().max_by(|a, b| total(a).total_cmp(&total(b)));
    let aligned: Vec<Vec<C64>> = at_onset
        .iter()
        .map(|take| {
            let delay = loudest.map_or(0.0, |reference| best_delay(&modes.poles, reference, take, sample_rate));
            turned(take, delay)
        })
        .collect();
    let mut gains = vec![vec![0.0; modes.poles.len()]; aligned.len()];
    for n in 0..modes.poles.len() {
        let axis = aligned.iter().map(|take| take[n] * take[n]).sum::<C64>().sqrt();
        let strongest = aligned.iter().map(|take| take[n]).max_by(|a, b| a.norm_sqr().total_cmp(&b.norm_sqr()));
        let side = |c: C64| if (c * axis.conj()).re < 0.0 { -1.0 } else { 1.0 };
        let flip = strongest.map_or(1.0, side);
        for (row, take) in gains.iter_mut().zip(&aligned) {
            row[n] = flip * side(take[n]) * take[n].norm();
        }
    }
    gains
}

/// Delay in samples of a take after the reference that makes their modes agree up to sign.
fn best_delay(poles: &[LogPole], reference: &[C64], take: &[C64], sample_rate: f64) -> f64 {
    let products: Vec<C64> = reference.iter().zip(take).map(|(r, c)| c * r.conj()).collect();
    let score = |delay: f64| -> f64 {
        let agreement = |(p, s): (&C64, &LogPole)| p.norm() * (2.0 * (p.arg() - s.im * delay)).cos();
        products.iter().zip(poles).map(agreement).sum()
    };
    // Fine enough for the highest mode; among equals the smallest delay wins.
    let highest = poles.iter().map(|s| s.im).fold(1e-6, f64::max);
    let step = 0.1 / highest;
    let count = (LARGEST_DELAY_S * sample_rate / step) as i64;
    let mut best = (score(0.0) * (1.0 + 1e-9), 0.0);
    for k in (1..=count).flat_map(|k| [k, -k]) {
        let delay = k as f64 * step;
        let value = score(delay);
        if value > best.0 {
            best = (value, delay);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A falling pitch is fitted by modes that cancel; as cosines they must not be louder than the recording.
    #[test]
    fn overlapping_modes_keep_their_energy_when_played_as_cosines() {
        let poles = vec![C64::new(-4e-4, 0.0160), C64::new(-6e-4, 0.0163), C64::new(-5e-4, 0.5)];
        let amplitudes = vec![vec![C64::new(0.0, 4.0), C64::new(0.0, -4.2), C64::new(0.6, 0.8)]];
        let gains =
            playing_gains(&Modes { poles: poles.clone(), amplitudes: amplitudes.clone() }, &[0.0], &[20_000], 44_100.0);
        let energy = |c: &dyn Fn(usize) -> C64| -> f64 {
            (0..20_000).map(|n| (0..2).map(|i| (c(i) * (poles[i] * n as f64).exp()).re).sum::<f64>().powi(2)).sum()
        };
        let (heard, played) = (energy(&|i| amplitudes[0][i]), energy(&|i| C64::new(gains[0][i], 0.0)));
        assert!((played / heard - 1.0).abs() < 0.01, "{played} for {heard}");
        assert!((gains[0][2] - 1.0).abs() < 1e-12);
    }
}
