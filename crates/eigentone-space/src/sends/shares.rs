//! Shares of the three late filters for any decay between theirs.
//!
//! The sum of two decays is bent: fast at first, slow in the end. Two neighbours that are right at one moment (0.75·T, say) have T30 within 4 % by
//! themselves, but their first 10 dB fall too fast by 16 %, and behind early reflections of the same decay, where only these first decibels are heard, EDT is
//! short by about 15 % and T30 by 11 %. The third filter straightens the bend: its share is small or negative.
//!
//! Shares w_j are those with Σw_j = 1, so that the power at the joint is as set, that minimise
//! ∫ 10^{6βt/T}·(Σ w_j·10^{−3t/T_j} − 10^{−3t/T})² dt down to −50 dB. β = 0 would care for energy alone, hence for the first decibels, β = 1 for every
//! decibel alike. Both constants are tuned: with them T30 of late reverberation errs by 4.4 %, EDT and T30 of a whole response by 3.2 and 3.1 %. 10 dB or 0.2
//! more or less carry one of these over its bound of 5 or 6 %. What the longest filter leaves behind a short decay stays below −54 dB, as with two filters.

use crate::canonical::LATE_TIMES_S;

/// How far down the decay is to be right, in dB.
const DEPTH_DB: f64 = 50.0;
/// β: how much the end counts.
const EVENNESS: f64 = 0.65;
/// Decays in the table, the filters' own among them; between two of them shares are interpolated.
const ENTRIES: usize = 129;
/// Steps of the integral.
const STEPS: usize = 400;

/// A table of shares over the logarithm of the decay.
#[derive(Clone, Debug, PartialEq)]
pub struct LateShares(Vec<[f64; 3]>);

impl LateShares {
    /// Computes the table.
    pub fn new() -> Self {
        let time_s = |entry: usize| LATE_TIMES_S[0] * span().powf(entry as f64 / (ENTRIES - 1) as f64);
        Self((0..ENTRIES).map(|entry| best_shares(time_s(entry))).collect())
    }

    /// Shares for a decay, which must lie between those of the filters.
    pub fn at(&self, time_s: f64) -> [f64; 3] {
        let place = (time_s / LATE_TIMES_S[0]).ln() / span().ln() * (ENTRIES - 1) as f64;
        let below = (place as usize).min(ENTRIES - 2);
        let along = place - below as f64;
        let (a, b) = (&self.0[below], &self.0[below + 1]);
        std::array::from_fn(|j| a[j] + along * (b[j] - a[j]))
    }
}

fn span() -> f64 {
    LATE_TIMES_S[2] / LATE_TIMES_S[0]
}

/// Least squares for the first and the last share; the middle one is the rest.
fn best_shares(time_s: f64) -> [f64; 3] {
    let [mut aa, mut ab, mut bb, mut ar, mut br] = [0.0; 5];
    for step in 0..STEPS {
        let t = (step as f64 + 0.5) / STEPS as f64 * time_s * DEPTH_DB / 60.0;
        let decay = |time_s: f64| 10f64.powf(-3.0 * t / time_s);
        let [first, middle, last] = LATE_TIMES_S.map(decay);
        let (a, b, rest) = (first - middle, last - middle, decay(time_s) - middle);
        let weight = 10f64.powf(6.0 * EVENNESS * t / time_s);
        aa += weight * a * a;
        ab += weight * a * b;
        bb += weight * b * b;
        ar += weight * a * rest;
        br += weight * b * rest;
    }
    let determinant = aa * bb - ab * ab;
    let first = (ar * bb - br * ab) / determinant;
    let last = (br * aa - ar * ab) / determinant;
    [first, 1.0 - first - last, last]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_a_filters_own_decay_is_its_alone() {
        let shares = LateShares::new();
        for entry in 0..=1000 {
            let time_s = 0.75 * 4f64.powf(f64::from(entry) / 1000.0);
            assert!((shares.at(time_s).iter().sum::<f64>() - 1.0).abs() < 1e-9, "{time_s}");
        }
        for (j, time_s) in LATE_TIMES_S.into_iter().enumerate() {
            for (other, share) in shares.at(time_s).into_iter().enumerate() {
                assert!((share - f64::from(u8::from(other == j))).abs() < 1e-7, "{time_s}: {share}");
            }
        }
    }

    /// The envelope follows the decay to within 1.5 dB over the first 40 dB; two filters leave it by 3.
    #[test]
    fn the_sum_is_nearly_straight() {
        let shares = LateShares::new();
        for entry in 0..=60 {
            let time_s = 0.75 * 4f64.powf(f64::from(entry) / 60.0);
            for step in 0..=40 {
                let t = time_s * f64::from(step) / 60.0;
                let sum: f64 =
                    shares.at(time_s).iter().zip(LATE_TIMES_S).map(|(w, t_j)| w * 10f64.powf(-3.0 * t / t_j)).sum();
                let off_db = 20.0 * sum.log10() + f64::from(step);
                assert!(off_db.abs() < 1.5, "{time_s} s at −{step} dB: {off_db}");
            }
        }
    }
}
