//! Early reflections: peaks from all directions that drown in diffuse sound.
//!
//! One common sequence S + D. S are 250 peaks of random sign and size at distinct prime delays, so that no comb is heard; each comes from a direction of its own,
//! heard by two cardioids g = ½(1 ± sin azimuth). D = t³·G(t) is Gaussian noise that grows, with a tenth of the energy. Within bins of 5 ms S is scaled to
//! the energy that a decay of 1 s has there and D leaves, and their sum to unit energy. The filter of a time T_j is the sequence times √E_j, where
//! E_j = ∫10^{−6t/T_j} over the bin, with a sum of one.
//!
//! Had every T_j its own shares of S and D, interpolated decays would err by 6.4 % instead of 2.7 %.

use super::{EARLY_LENGTH_S, EARLY_TIMES_S, gaussian, samples};
use eigentone_core::Noise;

/// Peaks in 200 ms. At 8 kHz there are 251 primes for them.
const PEAKS: usize = 250;
/// Bins of 5 ms. Were they 10 ms long, the last 25 ms would be two and a half: chance would set the level of late reverberation, and EDT of whole
/// responses differ by up to 2.6 % from rate to rate.
const BINS: usize = 40;
/// Energy of the diffuse part relative to the whole, where the whole leaves room for it.
const DIFFUSE_SHARE: f64 = 0.1;
/// Reverberation time for which the shares of peaks and diffuse sound are computed, in s.
const SHARES_TIME_S: f64 = 1.0;
/// Any other would do.
const SEED: u64 = 0x6561_726c_7900;

/// A reflection.
struct Peak {
    delay: usize,
    amplitude: f64,
    /// Sine of the azimuth from which it comes; positive is left.
    side: f64,
}

/// The early filters for all of [`EARLY_TIMES_S`].
pub fn filters(sample_rate_hz: f64) -> [[Vec<f32>; 2]; 3] {
    let length = samples(EARLY_LENGTH_S, sample_rate_hz);
    let mut noise = Noise::new(SEED);
    let peaks = peaks(&mut noise, length);
    let common = [1.0, -1.0].map(|ear| common_sequence(&mut noise, &peaks, ear, length));
    EARLY_TIMES_S.map(|time_s| {
        let energies = bin_energies(time_s);
        common.each_ref().map(|sequence| {
            let scaled =
                |bin: usize| sequence[span(bin, length)].iter().map(move |x| (x * energies[bin].sqrt()) as f32);
            (0..BINS).flat_map(scaled).collect()
        })
    })
}

/// The samples of a bin.
fn span(bin: usize, length: usize) -> std::ops::Range<usize> {
    bin * length / BINS..(bin + 1) * length / BINS
}

/// Share of each bin in the energy of 200 ms of a decay.
fn bin_energies(time_s: f64) -> [f64; BINS] {
    let ratio = 10f64.powf(-6.0 * EARLY_LENGTH_S / BINS as f64 / time_s);
    let whole = 1.0 - ratio.powi(BINS as i32);
    std::array::from_fn(|bin| ratio.powi(bin as i32) * (1.0 - ratio) / whole)
}

/// Peaks at nearly the same times for every rate: each takes the prime next to its time that is still free.
fn peaks(noise: &mut Noise, length: usize) -> Vec<Peak> {
    let mut free = primes_below(length);
    (0..PEAKS)
        .filter_map(|_| {
            let time = (noise.uniform() * length as f64) as usize;
            let amplitude = (0.3 + 0.7 * noise.uniform()) * if noise.bits() & 1 == 0 { 1.0 } else { -1.0 };
            let side = (std::f64::consts::TAU * noise.uniform()).sin();
            let above = free.partition_point(|&prime| prime < time);
            let nearest =
                (above.saturating_sub(1)..(above + 1).min(free.len())).min_by_key(|&at| free[at].abs_diff(time))?;
            Some(Peak { delay: free.remove(nearest), amplitude, side })
        })
        .collect()
}

fn primes_below(end: usize) -> Vec<usize> {
    let mut composite = vec![false; end];
    let mut primes = Vec::new();
    for n in 2..end {
        if !composite[n] {
            primes.push(n);
            (n * n..end).step_by(n).for_each(|multiple| composite[multiple] = true);
        }
    }
    primes
}

/// S + D as one ear hears them, of unit energy in every bin. `ear` is 1 for the left and −1 for the right.
fn common_sequence(noise: &mut Noise, peaks: &[Peak], ear: f64, length: usize) -> Vec<f64> {
    let mut diffuse: Vec<f64> = (0..length).map(|n| (n as f64 / length as f64).powi(3) * gaussian(noise)).collect();
    let mut sharp = vec![0.0; length];
    for peak in peaks {
        sharp[peak.delay] += peak.amplitude * 0.5 * (1.0 + ear * peak.side);
    }
    let energy = |part: &[f64]| part.iter().map(|x| x * x).sum::<f64>();
    let scale = |part: &mut [f64], by: f64| part.iter_mut().for_each(|x| *x *= by);
    let by = (DIFFUSE_SHARE / energy(&diffuse)).sqrt();
    scale(&mut diffuse, by);

    for (bin, room) in bin_energies(SHARES_TIME_S).into_iter().enumerate() {
        let (diffuse, sharp) = (&mut diffuse[span(bin, length)], &mut sharp[span(bin, length)]);
        let most = (room / energy(diffuse)).sqrt().min(1.0);
        scale(diffuse, most);
        let peaks_energy = energy(sharp);
        if peaks_energy > 0.0 {
            scale(sharp, ((room - energy(diffuse)).max(0.0) / peaks_energy).sqrt());
        }
        diffuse.iter_mut().zip(sharp).for_each(|(d, s)| *d += *s);
        // Peaks and diffuse sound are not quite orthogonal, and a bin without peaks is all diffuse.
        let by = energy(diffuse).sqrt().recip();
        scale(diffuse, by);
    }
    diffuse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_at_distinct_primes_whatever_the_rate() {
        for rate_hz in [8_000.0, 11_025.0, 44_100.0, 192_000.0] {
            let length = samples(EARLY_LENGTH_S, rate_hz);
            let primes = primes_below(length);
            let mut delays: Vec<usize> = peaks(&mut Noise::new(SEED), length).iter().map(|p| p.delay).collect();
            delays.sort_unstable();
            delays.dedup();
            assert_eq!(delays.len(), PEAKS);
            assert!(delays.iter().all(|d| primes.binary_search(d).is_ok()), "{rate_hz}");
        }
        assert_eq!(primes_below(30), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    }

    #[test]
    fn energies_of_bins_are_those_of_the_decay() {
        for time_s in EARLY_TIMES_S {
            let energies = bin_energies(time_s);
            assert!((energies.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let fall_db = 10.0 * (energies[0] / energies[BINS - 1]).log10();
            assert!((fall_db - 60.0 * 0.195 / time_s).abs() < 1e-9);
        }
    }
}
