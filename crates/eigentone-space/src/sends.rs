//! From acoustic parameters to the gains with which a source enters the shared filters.
//!
//! *Direct sound*: 10^{L/20}/max(d, 0.5 m).
//!
//! *Early reflections* between two filters of times T_j < T < T_{j+1}: with a(T) = 10^{−3t*/T}, t* = 0.1 s, the lower one gets the share
//! [a(T_{j+1}) − a(T)]/[a(T_{j+1}) − a(T_j)] and the upper one the rest, so that both together have the right amplitude at t* (Raghuvanshi & Snyder 2014, equation 6a
//! repaired).
//!
//! For fields, T is not the early decay itself: that is how the whole response falls at first, late reverberation included; see `sends/early_time.rs`.
//!
//! *Late reverberation* uses all three filters, one of them with a small or negative share; see `sends/shares.rs`.
//!
//! *Late level*: the power at the joint goes on. Of an early decay T_E the last 25 ms have the energy E* = (Σ α_j √E_j*)². Half of that time before the
//! joint power was higher by 10^{6·0.0125/T_E} than at it, half of that time behind it is lower by 10^{−6·0.0125/T_L}. The first 25 ms of late reverberation get
//! E*·10^{−6·0.0125·(1/T_E + 1/T_L)}. With equal decays this is E*·10^{−6·0.025/T}, the paper's value; with T_E = 0.5 s and T_L = 3 s the latter would
//! make a step of 1.2 dB.
//!
//! *Times that are shorter* than those of any filter become that of the shortest, but what follows is what the true decay would leave:
//!
//! - Early reflections keep their energy. Late ones start from where the true early decay is after 200 ms, not from where the filter is: 0.1 s outdoors
//!   means −120 dB there, and no reverberation.
//! - Late reverberation keeps its energy, which for an exponential decay is its power times T: it starts lower by T/T_j. Its end is later than it should
//!   be, but it is not louder.
//!
//! *Times that are longer* become that of the longest, and the joint stays continuous.
//!
//! ```
//! use eigentone_core::acoustics::Parameters;
//! use eigentone_space::{air::Air, canonical::Canonical, sends::Sends};
//!
//! let filters = Canonical::new(44_100.0, &Air::default());
//! let hall =
//!     Parameters { direct_db: -3.0, early_db: -12.0, early_decay_s: 1.0, late_decay_s: 2.0, tilt_db: 0.0 };
//! let (sends, clamped) = Sends::new(&hall, 4.0, &filters);
//! assert!((sends.direct - 0.177).abs() < 1e-3 && !clamped.late);
//! assert_eq!(sends.early[0], 0.0, "a filter has just this decay");
//! assert!(sends.late[1] > 0.0 && sends.late[2] > 0.0);
//! ```

mod early_time;
mod shares;

use crate::canonical::{Canonical, EARLY_LENGTH_S, EARLY_TIMES_S, JOINT_S, LATE_TIMES_S};
use eigentone_core::acoustics::Parameters;
use std::f64::consts::{LN_10, LOG2_10};

pub(crate) use early_time::EarlyTimes;
pub(crate) use shares::LateShares;

/// Sources are not nearer than this, in m: the sound of a point would grow without end.
pub const NEAREST_M: f64 = 0.5;
/// t* of early reflections, in s.
const EARLY_MATCH_S: f64 = 0.1;
/// Levels beyond count as these, in dB; so does what is not a number, as the lower.
const LEVELS_DB: [f64; 2] = [-300.0, 60.0];
/// Shorter decays count as this, in s: all of them are over before they are heard.
const SHORTEST_S: f64 = 1e-3;

/// Gains of one source, each to be multiplied with its sound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sends {
    /// Direct sound.
    pub direct: f32,
    /// Into the early filters.
    pub early: [f32; 3],
    /// Into the late filters; can be negative.
    pub late: [f32; 3],
}

/// Which times were outside those of the filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clamped {
    /// The early decay is not within 0.5 to 3 s.
    pub early: bool,
    /// The late decay is not within 0.75 to 3 s.
    pub late: bool,
}

impl Sends {
    /// Gains for what arrives over a distance. They are finite and continuous in all parameters.
    pub fn new(parameters: &Parameters, distance_m: f64, filters: &Canonical) -> (Self, Clamped) {
        let (whole_s, early_clamped) = within(parameters.early_decay_s, &EARLY_TIMES_S);
        let (late_s, late_clamped) = within(parameters.late_decay_s, &LATE_TIMES_S);
        let early_s = filters.early_times.as_ref().map_or(whole_s, |times| times.at(whole_s, late_s));
        let early_gain = gain(parameters.early_db);
        let early = between_early(early_s).map(|share| early_gain * share);

        let at_end: f64 = early.iter().zip(&filters.early_ends).map(|(send, end)| send * end).sum();
        let onwards = pow10(-1.5 * JOINT_S * (early_s.recip() + late_s.recip()));
        let true_early_s = parameters.early_decay_s.max(SHORTEST_S);
        let left = if true_early_s < whole_s { (end_share(true_early_s) / SHORTEST_END_SHARE).sqrt() } else { 1.0 };
        let spread = (parameters.late_decay_s.max(SHORTEST_S) / late_s).min(1.0).sqrt();
        let late_gain = at_end * onwards * left * spread;
        let late = filters.late_shares.at(late_s).map(|share| (late_gain * share) as f32);

        let direct = (gain(parameters.direct_db) / distance_m.max(NEAREST_M)) as f32;
        let clamped = Clamped { early: early_clamped, late: late_clamped };
        (Self { direct, early: early.map(|send| send as f32), late }, clamped)
    }
}

fn pow10(x: f64) -> f64 {
    (x * LOG2_10).exp2()
}

fn gain(level_db: f64) -> f64 {
    let [least, most] = LEVELS_DB;
    pow10(level_db.max(least).min(most) / 20.0)
}

/// The nearest time that filters can have, and whether that is another.
fn within(time_s: f64, times_s: &[f64; 3]) -> (f64, bool) {
    let nearest_s = time_s.max(times_s[0]).min(times_s[2]);
    (nearest_s, nearest_s != time_s)
}

/// Shares of the early filters whose sum has a decay of `time_s`.
fn between_early(time_s: f64) -> [f64; 3] {
    let amplitude = |time_s: f64| pow10(-3.0 * EARLY_MATCH_S / time_s);
    let lower = usize::from(time_s >= EARLY_TIMES_S[1]);
    let above = amplitude(EARLY_TIMES_S[lower + 1]);
    let share = (above - amplitude(time_s)) / (above - amplitude(EARLY_TIMES_S[lower]));
    let mut shares = [0.0; 3];
    shares[lower] = share.clamp(0.0, 1.0);
    shares[lower + 1] = 1.0 - shares[lower];
    shares
}

/// Share of the last 25 ms in the energy of 200 ms of a decay.
fn end_share(time_s: f64) -> f64 {
    let rate = -6.0 * LN_10 / time_s;
    (rate * (EARLY_LENGTH_S - JOINT_S)).exp() * (rate * JOINT_S).exp_m1() / (rate * EARLY_LENGTH_S).exp_m1()
}

/// [`end_share`] of the shortest early filter, 0.5 s; a test compares.
const SHORTEST_END_SHARE: f64 = 0.003_978_047_534_189_476;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::air::Air;
    use eigentone_core::Noise;

    fn room(early_decay_s: f64, late_decay_s: f64) -> Parameters {
        Parameters { direct_db: 0.0, early_db: 0.0, early_decay_s, late_decay_s, tilt_db: 0.0 }
    }

    fn all(sends: &Sends) -> Vec<f32> {
        [&[sends.direct][..], &sends.early, &sends.late].concat()
    }

    #[test]
    fn the_stored_share_is_that_of_the_shortest_filter() {
        assert!((end_share(EARLY_TIMES_S[0]) / SHORTEST_END_SHARE - 1.0).abs() < 1e-12, "{}", end_share(0.5));
    }

    /// T = T_j gives all to filter j.
    #[test]
    fn a_filters_own_time_sends_to_it_alone() {
        let filters = Canonical::new(16_000.0, &Air::default());
        for j in 0..3 {
            let (early, clamped) = Sends::new(&room(EARLY_TIMES_S[j], LATE_TIMES_S[j]), 1.0, &filters);
            // Of a fast early decay nothing is measured behind the joint.
            let (late, _) = Sends::new(&room(EARLY_TIMES_S[0], LATE_TIMES_S[j]), 1.0, &filters);
            for other in 0..3 {
                assert!((early.early[other] - f32::from(u8::from(other == j))).abs() < 1e-6);
                assert!((late.late[other].abs() > 1e-6) == (other == j));
            }
            assert_eq!(clamped, Clamped::default());
        }
    }

    #[test]
    fn times_outside_are_clamped_and_counted() {
        let filters = Canonical::new(16_000.0, &Air::default());
        for (early_s, late_s, early, late) in
            [(0.4, 1.0, true, false), (1.0, 0.7, false, true), (9.0, 9.0, true, true), (3.0, 3.0, false, false)]
        {
            let (sends, clamped) = Sends::new(&room(early_s, late_s), 1.0, &filters);
            assert_eq!(clamped, Clamped { early, late }, "{early_s} {late_s}");
            assert!((sends.early.iter().sum::<f32>() - 1.0).abs() < 1e-6, "early sound keeps its level");
        }
    }

    /// Outdoors the decay of 0.1 s has fallen by 105 to 120 dB where late reverberation starts. A late decay of a third of the shortest starts 4.8 dB lower.
    #[test]
    fn short_decays_leave_little_behind() {
        let filters = Canonical::new(16_000.0, &Air::default());
        let late = |early_s, late_s| Sends::new(&room(early_s, late_s), 1.0, &filters).0.late[0];
        assert!(20.0 * late(0.1, 0.1).log10() < -105.0);
        let lower_db = 20.0 * (late(0.5, 0.25) / late(0.5, 0.75)).log10();
        assert!((lower_db + 4.77).abs() < 0.01, "{lower_db}");
    }

    /// A millionth more of everything moves no gain by more than 50 millionths of the largest of its kind. At 50 ms the late gain moves by 29.
    #[test]
    fn gains_are_continuous() {
        let filters = Canonical::new(16_000.0, &Air::default());
        let mut noise = Noise::new(7);
        let edges_s = [0.5, 0.75, 1.0, 1.5, 3.0];
        for trial in 0..20_000 {
            let mut time_s = || match edges_s.get((noise.uniform() * 10.0) as usize) {
                Some(edge_s) => edge_s * (1.0 - 5e-7),
                None => 10f64.powf(-1.3 + 2.3 * noise.uniform()),
            };
            let here = room(time_s(), time_s());
            let mut there = here;
            there.early_decay_s *= 1.0 + 1e-6;
            there.late_decay_s *= 1.0 + 1e-6;
            there.early_db += 1e-6;
            there.direct_db += 1e-6;
            let [a, b] = [here, there].map(|p| Sends::new(&p, 0.5, &filters).0);
            for (a, b) in [([a.direct; 3], [b.direct; 3]), (a.early, b.early), (a.late, b.late)] {
                let largest = a.iter().fold(1e-3, |m: f32, g| m.max(g.abs()));
                let near = |(a, b): (&f32, &f32)| (a - b).abs() < 5e-5 * largest;
                assert!(a.iter().zip(&b).all(near), "{trial} {here:?}: {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn gains_of_anything_are_finite() {
        let filters = Canonical::new(8_000.0, &Air::default());
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e-300, 1e300, 1.0];
        for x in odd {
            for y in odd {
                for p in [Parameters::from_array([x, y, x, y, x]), Parameters::from_array([1.0, y, x, 1.0, y])] {
                    let (sends, _) = Sends::new(&p, y, &filters);
                    assert!(all(&sends).iter().all(|g| g.is_finite()), "{p:?} {sends:?}");
                }
            }
        }
    }
}
