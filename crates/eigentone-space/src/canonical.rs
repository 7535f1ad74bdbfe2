//! The six filters that all sources share.
//!
//! Rooms differ in level and decay, hardly in what one can hear of single reflections. So there are three filters for early reflections and three for late
//! reverberation, each with a decay of its own, and a source gives its sound to two or three of each kind (see [`sends`](crate::sends)). Filters of one kind
//! are the same sequence under different envelopes: their sum is that sequence under the sum of the envelopes, as if it had been made for the decay in
//! between. The method is that of Raghuvanshi and Snyder, "Parametric wave field coding for precomputed sound propagation" (2014), repaired.
//!
//! Both channels of a filter have the same energy: early ones in every 5 ms, late ones in every 25 ms (before air takes its share). What holds for the
//! mean of the channels therefore holds for each, and no filter pulls to one side.
//!
//! ```
//! use eigentone_space::air::Air;
//! use eigentone_space::canonical::Canonical;
//!
//! let filters = Canonical::new(44_100.0, &Air::default());
//! let energy = |filter: &[f32]| filter.iter().map(|x| x * x).sum::<f32>();
//! assert!((energy(&filters.early[1][0]) - 1.0).abs() < 1e-5);
//! assert!((energy(&filters.late[2][1][..1102]) - 1.0).abs() < 1e-2);
//! ```

mod early;
mod late;

use crate::air::Air;
use crate::sends::{EarlyTimes, LateShares};
use eigentone_core::Noise;

/// Reverberation times of the early filters, in s.
pub const EARLY_TIMES_S: [f64; 3] = [0.5, 1.0, 3.0];
/// Reverberation times of the late filters, in s.
pub const LATE_TIMES_S: [f64; 3] = [0.75, 1.5, 3.0];
/// When early filters begin, in s after the direct sound.
pub const EARLY_START_S: f64 = 0.005;

/// When early sound begins after direct sound in a field that ends at `f_max_hz`, in s: 11 ms at 500 Hz. The pulse of the simulation is not a click, so what follows the direct sound closely was counted as part of
/// it: half of it at 8 ms, next to nothing one width of that step later. Were early sound to begin before, some of it would count twice.
pub fn early_start_s(f_max_hz: f64) -> f64 {
    let sigma_s = std::f64::consts::LN_10.sqrt() / (std::f64::consts::PI * f_max_hz.max(1.0));
    // The middle of the step is 6 σ after Δ_DS, its width 3 σ, and the onset 2.7 σ before the peak.
    EARLY_START_S.max(5.0 * sigma_s) + (6.0 + 3.0 - 2.7) * sigma_s
}
/// Length of early filters, in s.
pub const EARLY_LENGTH_S: f64 = 0.2;
/// When late filters begin, in s after the direct sound: where early ones end.
pub const LATE_START_S: f64 = EARLY_START_S + EARLY_LENGTH_S;
/// Length of the ends that meet at the joint, in s: the energy of the last of these of an early filter sets the level of the first of a late one.
pub const JOINT_S: f64 = 0.025;
/// Sample rates for which filters can be made, in Hz.
pub const RATES_HZ: std::ops::RangeInclusive<f64> = 8_000.0..=384_000.0;

/// The filters for one sample rate. Same rate and same air, same filters.
#[derive(Clone, Debug, PartialEq)]
pub struct Canonical {
    /// Samples per second.
    pub sample_rate_hz: f64,
    /// Early filters by the order of [`EARLY_TIMES_S`], left and right: 200 ms of unit energy.
    pub early: [[Vec<f32>; 2]; 3],
    /// Late filters by the order of [`LATE_TIMES_S`], left and right: down to −60 dB, of unit energy in their first 25 ms.
    pub late: [[Vec<f32>; 2]; 3],
    /// Root of the energy of the last 25 ms of each early filter, mean of the channels.
    pub early_ends: [f64; 3],
    /// How late filters add up to decays between theirs.
    pub(crate) late_shares: LateShares,
    /// Which early decay makes a whole response decay as it should, for fields whose decays were measured on whole responses.
    pub(crate) early_times: Option<EarlyTimes>,
}

impl Canonical {
    /// Makes the filters. Rates outside [`RATES_HZ`] count as its limits.
    pub fn new(sample_rate_hz: f64, air: &Air) -> Self {
        let sample_rate_hz = usable_rate_hz(sample_rate_hz);
        let early = early::filters(sample_rate_hz);
        let joint = samples(JOINT_S, sample_rate_hz);
        let early_ends = early.each_ref().map(|channels| {
            let end = channels.iter().map(|filter| energy(&filter[filter.len() - joint..])).sum::<f64>();
            (0.5 * end).sqrt()
        });
        let late = late::filters(sample_rate_hz, air);
        Self { sample_rate_hz, early, late, early_ends, late_shares: LateShares::new(), early_times: None }
    }

    /// For the parameters of a field that ends at `f_max_hz`, whose early decays are those of whole responses. Without this, an early decay is that of the early reflections alone.
    #[must_use]
    pub fn for_field(mut self, f_max_hz: f64) -> Self {
        self.early_times = Some(EarlyTimes::new(f_max_hz));
        self
    }
}

/// The nearest rate for which there are filters; the lowest for what is not a number.
pub(crate) fn usable_rate_hz(sample_rate_hz: f64) -> f64 {
    sample_rate_hz.max(*RATES_HZ.start()).min(*RATES_HZ.end())
}

/// A time in samples.
pub(crate) fn samples(time_s: f64, sample_rate_hz: f64) -> usize {
    (time_s * sample_rate_hz).round() as usize
}

fn energy(samples: &[f32]) -> f64 {
    samples.iter().map(|&x| f64::from(x).powi(2)).sum()
}

/// A normal deviate (Box and Muller 1958).
fn gaussian(noise: &mut Noise) -> f64 {
    let radius = (-2.0 * (1.0 - noise.uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * noise.uniform()).cos()
}
