//! The tilt of direct sound: a fall towards high frequencies behind obstacles.
//!
//! A field gives the level of direct sound as the mean over the three octaves that end at its highest frequency, and its slope over them in dB per octave. The filter
//! here has that slope over these octaves and, over them, a mean level of 0 dB. Above them, where nothing is known, it goes on with the same slope, as diffraction around an edge does, down to the
//! level of the dry sound in it.
//!
//! A slope that is not a multiple of 6 dB per octave is a sum of first-order low-passes with positive gains (∫ μ(ω)/(s + ω) dω = s^{−a}). Two of them and the dry sound meet it within 0.4 dB over the
//! three octaves and within 2.5 dB over five more. Their poles stay where they are and only gains move, so that a tilt that moves is never heard as a step.

use crate::one_pole::pole;

/// The steepest slope the filter has, in dB per octave.
pub const STEEPEST_DB: f32 = -5.5;

/// From one entry of the table to the next, in dB per octave.
const STEP_DB: f32 = -0.5;

/// Low-passes beside the dry sound.
pub(crate) const LOW_PASSES: usize = 2;

/// Their poles in units of the field's highest frequency.
const POLES: [f64; LOW_PASSES] = [0.1, 1.2];

/// Gains of the dry sound and of the low-passes, from flat to steepest: fitted by least squares to the levels from an eighth of the highest frequency to 32 times it, the octaves of the
/// field with three times the weight, and then scaled to a mean of 0 dB over these.
const GAINS: [[f32; 1 + LOW_PASSES]; 12] = [
    [1.0, 0.0, 0.0],
    [0.7531, 0.2337, 0.2416],
    [0.5575, 0.5248, 0.4014],
    [0.4058, 0.8522, 0.4936],
    [0.2899, 1.2017, 0.5324],
    [0.2027, 1.5641, 0.5291],
    [0.1383, 1.9329, 0.4929],
    [0.0917, 2.3033, 0.4310],
    [0.0589, 2.6698, 0.3492],
    [0.0364, 3.0236, 0.2535],
    [0.0214, 3.3505, 0.1505],
    [0.0116, 3.6324, 0.0489],
];

/// Filters for all slopes.
#[derive(Clone, Copy, Debug)]
pub struct TiltTable {
    poles: [f32; LOW_PASSES],
}

impl TiltTable {
    /// Filters for a field that ends at `f_max_hz`.
    pub fn new(f_max_hz: f64, sample_rate_hz: f64) -> Self {
        let f_max_hz = if f_max_hz.is_finite() { f_max_hz.clamp(20.0, 0.05 * sample_rate_hz) } else { 500.0 };
        Self { poles: POLES.map(|p| pole(p * f_max_hz, sample_rate_hz)) }
    }

    /// On the way to others.
    pub(crate) fn towards(&self, other: &Self, share: f32) -> Self {
        Self { poles: std::array::from_fn(|k| self.poles[k] + share * (other.poles[k] - self.poles[k])) }
    }

    /// Poles of the low-passes.
    pub(crate) fn poles(&self) -> [f32; LOW_PASSES] {
        self.poles
    }
}

/// Gains of the dry sound and of the low-passes for a slope in dB per octave. Rising slopes, which only interference makes, and what is not a number are flat.
#[inline]
pub(crate) fn gains(tilt_db: f32) -> [f32; 1 + LOW_PASSES] {
    let place = (tilt_db / STEP_DB).clamp(0.0, (GAINS.len() - 1) as f32);
    let below = (place as usize).min(GAINS.len() - 2);
    let share = if place.is_finite() { place - below as f32 } else { 0.0 };
    let [a, b] = [GAINS[below], GAINS[below + 1]];
    std::array::from_fn(|k| a[k] + share * (b[k] - a[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the sum at a frequency, by the bilinear transform.
    fn level_db(tilt_db: f32, table: &TiltTable, hz: f64, sample_rate_hz: f64) -> f64 {
        let gains = gains(tilt_db).map(f64::from);
        let (mut re, mut im) = (gains[0], 0.0);
        for (gain, p) in gains[1..].iter().zip(table.poles()) {
            let k = (1.0 - f64::from(p)) / (1.0 + f64::from(p));
            let r = (std::f64::consts::PI * hz / sample_rate_hz).tan() / k;
            re += gain / (1.0 + r * r);
            im -= gain * r / (1.0 + r * r);
        }
        10.0 * (re * re + im * im).log10()
    }

    /// Mean 0 dB and the slope asked for over the three octaves, between the entries of the table as well.
    #[test]
    fn slope_and_level_over_the_octaves() {
        for (f_max_hz, rate_hz) in [(250.0, 44_100.0), (500.0, 44_100.0), (500.0, 48_000.0), (1000.0, 96_000.0)] {
            let table = TiltTable::new(f_max_hz, rate_hz);
            for i in 0..=120 {
                let wanted_db = -0.05 * i as f32;
                let levels = [-2.5f64, -1.5, -0.5].map(|o| level_db(wanted_db, &table, f_max_hz * o.exp2(), rate_hz));
                let slope_db = 0.5 * (levels[2] - levels[0]);
                let mean_db = levels.iter().sum::<f64>() / 3.0;
                assert!(mean_db.abs() < 0.1, "{f_max_hz} Hz, {wanted_db}: mean {mean_db}");
                let possible_db = f64::from(wanted_db.max(STEEPEST_DB));
                assert!((slope_db - possible_db).abs() < 0.25, "{f_max_hz} Hz, {wanted_db}: slope {slope_db}");
            }
        }
    }

    #[test]
    fn flat_where_it_rises_and_continuous() {
        for tilt_db in [0.0, 3.0, f32::INFINITY, f32::NAN] {
            assert_eq!(gains(tilt_db), [1.0, 0.0, 0.0], "{tilt_db}");
        }
        for i in 0..6000 {
            let [a, b] = [gains(-0.001 * i as f32), gains(-0.001 * (i + 1) as f32)];
            assert!((0..3).all(|k| (a[k] - b[k]).abs() < 0.002), "at {i}");
        }
        assert_eq!(gains(f32::NEG_INFINITY), gains(STEEPEST_DB));
    }

    /// Above the field it goes on with the slope it has.
    #[test]
    fn goes_on_falling_above() {
        let table = TiltTable::new(500.0, 44_100.0);
        for tilt_db in [-1.0f32, -3.0, -5.0] {
            for octaves in [1.0f64, 2.0, 3.0, 4.0, 5.0] {
                let found = level_db(tilt_db, &table, 500.0 * octaves.exp2(), 44_100.0);
                let expected = f64::from(tilt_db) * (octaves + 1.5);
                assert!((found - expected).abs() < 3.0, "{tilt_db} at {octaves}: {found} for {expected}");
            }
        }
    }
}
