//! Which decay early reflections need so that the whole response has the early decay that was asked for.
//!
//! An early decay T_E is how fast Schroeder's curve I(t) = ∫_t^∞ E falls from −3 to −13 dB. With T_E = 1.5 s that lasts until 325 ms, but early filters end
//! after 200 ms; and at every time I holds all that is still to come. If E falls as 10^{−6t/T} for 200 ms and as 10^{−6t/T_L} from there on, the curve falls more as
//! T_L has it than as T has it: rooms with T_E = 1.2 s and T_L = 1.8 s sounded like 1.6 s at first. On top of that, a field knows E only by windows, the first of
//! which has its middle 44 ms after the onset at 500 Hz, and 87 ms at 250 Hz. [`EarlyTimes`] holds the T for which the curve from there on is right. For
//! T_L = T_E that is T_E itself.
//!
//! The less the curve depends on T, the more T would have to differ from T_E. It is kept within a factor of [`FARTHEST`], so that parameters a little off do not become early
//! reflections of quite another room.

use crate::canonical::{EARLY_LENGTH_S, EARLY_TIMES_S, LATE_TIMES_S};
use std::f64::consts::LN_10;

/// Points of the table along each axis, evenly spaced in the logarithm of time.
const EARLY: usize = 48;
const LATE: usize = 24;

/// How many times longer or shorter than T_E its T may be. Tuned on the abbey at 250 Hz, where early decays are heard wrong by 16.3 % in the mean with 1, 15.1 % with 1.6 and
/// 13.6 % with 2.
const FARTHEST: f64 = 2.0;

/// T by T_E and T_L.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyTimes {
    table: Vec<[f32; EARLY]>,
}

impl EarlyTimes {
    /// For a field that ends at `f_max_hz`.
    pub fn new(f_max_hz: f64) -> Self {
        // Half a window of 256 samples of 0.3398 ms at 500 Hz.
        let from_s = 0.5 * 256.0 * 0.3398e-3 * 500.0 / f_max_hz.max(50.0);
        let column = |late: usize| {
            let late_s = point(&LATE_TIMES_S, late, LATE);
            std::array::from_fn(|early| solve(point(&EARLY_TIMES_S, early, EARLY), late_s, from_s) as f32)
        };
        Self { table: (0..LATE).map(column).collect() }
    }

    /// T for times within those of the filters.
    pub fn at(&self, early_s: f64, late_s: f64) -> f64 {
        let (e, e_part) = place(&EARLY_TIMES_S, early_s, EARLY);
        let (l, l_part) = place(&LATE_TIMES_S, late_s, LATE);
        let along = |l: usize| {
            let column = &self.table[l];
            f64::from(column[e]) * (1.0 - e_part) + f64::from(column[e + 1]) * e_part
        };
        along(l) * (1.0 - l_part) + along(l + 1) * l_part
    }
}

fn point(times_s: &[f64; 3], index: usize, count: usize) -> f64 {
    times_s[0] * (times_s[2] / times_s[0]).powf(index as f64 / (count - 1) as f64)
}

/// The point at or before a time, and how far it is to the next.
fn place(times_s: &[f64; 3], time_s: f64, count: usize) -> (usize, f64) {
    let at = (time_s / times_s[0]).ln() / (times_s[2] / times_s[0]).ln() * (count - 1) as f64;
    let index = (at.max(0.0) as usize).min(count - 2);
    (index, (at - index as f64).clamp(0.0, 1.0))
}

/// By bisection: a slower early decay makes a slower whole.
fn solve(early_s: f64, late_s: f64, from_s: f64) -> f64 {
    let [mut low, mut high] = [(early_s / FARTHEST).max(EARLY_TIMES_S[0]), (early_s * FARTHEST).min(EARLY_TIMES_S[2])];
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        *(if whole_decay_s(middle, late_s, from_s) < early_s { &mut low } else { &mut high }) = middle;
    }
    let solved_s = (low * high).sqrt();
    // Where the curve hardly depends on T there is nothing to gain, and T stays what it is.
    let depends =
        (whole_decay_s(early_s * FARTHEST, late_s, from_s) / whole_decay_s(early_s / FARTHEST, late_s, from_s)).ln()
            / (2.0 * FARTHEST.ln());
    early_s * (solved_s / early_s).powf(((depends - 0.03) / 0.1).clamp(0.0, 1.0))
}

/// T_E, seen from a time on, of a response that decays with `early_s` for 200 ms and with `late_s` from there on.
fn whole_decay_s(early_s: f64, late_s: f64, from_s: f64) -> f64 {
    let (early, late) = (6.0 * LN_10 / early_s, 6.0 * LN_10 / late_s);
    // I(t) = (1/k)(e^{−kt} − e^{−kL}) + e^{−kL}/l up to L, and e^{−kL} e^{−l(t−L)}/l behind.
    let end = (-early * EARLY_LENGTH_S).exp();
    let offset = end / late - end / early;
    let whole = if from_s < EARLY_LENGTH_S {
        (-early * from_s).exp() / early + offset
    } else {
        end * (-late * (from_s - EARLY_LENGTH_S)).exp() / late
    };
    let time_of = |fall_db: f64| {
        let left = whole * 10f64.powf(-0.1 * fall_db);
        if left > end / late {
            -(early * (left - offset)).ln() / early
        } else {
            EARLY_LENGTH_S - (left * late / end).ln() / late
        }
    };
    6.0 * (time_of(13.0) - time_of(3.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the integral by sums.
    #[test]
    fn the_whole_decays_as_asked() {
        for (f_max_hz, early_s, late_s) in [
            (500.0, 0.8, 0.8),
            (250.0, 1.5, 1.5),
            (500.0, 1.5, 1.6),
            (250.0, 1.2, 1.25),
            (500.0, 1.0, 0.93),
            (500.0, 1.2, 1.3),
        ] {
            let t = EarlyTimes::new(f_max_hz).at(early_s, late_s);
            let step_s = 1e-4;
            let energy = |n: usize| {
                let at = n as f64 * step_s;
                let fall = at.min(EARLY_LENGTH_S) / t + (at - EARLY_LENGTH_S).max(0.0) / late_s;
                10f64.powf(-6.0 * fall)
            };
            let mut curve: Vec<f64> = (0..60_000)
                .rev()
                .scan(0.0, |sum, n| {
                    *sum += energy(n);
                    Some(*sum)
                })
                .collect();
            curve.reverse();
            let from = (0.0435 * 500.0 / f_max_hz / step_s) as usize;
            let below = |db: f64| curve.iter().position(|i| *i < curve[from] * 10f64.powf(-0.1 * db)).unwrap();
            let found_s = 6.0 * step_s * (below(13.0) - below(3.0)) as f64;
            assert!((found_s / early_s - 1.0).abs() < 0.01, "{early_s} {late_s}: {t} {found_s}");
        }
    }

    #[test]
    fn what_cannot_be_had_is_as_near_as_filters_get() {
        let times = EarlyTimes::new(500.0);
        assert!((times.at(0.5, 3.0) - 0.5).abs() < 1e-3);
        assert!((times.at(3.0, 0.75) - 3.0).abs() < 1e-2);
        assert!((times.at(1.5, 3.0) - 0.75).abs() < 1e-2);
    }
}
