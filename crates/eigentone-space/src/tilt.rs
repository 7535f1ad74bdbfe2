//! The tilt of direct sound: a fall towards high frequencies behind obstacles.
//!
//! A field gives the level of direct sound as the mean over the three octaves that end at its highest frequency, and its slope over them in dB per octave. The filter
//! here has that slope over these octaves and, over them, a mean level of 0 dB. It is a pole and a zero. The zero stays four octaves above the field's highest frequency; the pole comes
//! down to meet the slope, from the zero (flat) to well below the octaves. Above the field, where nothing is known, sound goes on falling as far as the zero and no further: with up to
//! 6 dB per octave there, where diffraction around an edge tends to 3, but over all that is heard not by more than some 25 dB, about the most that barriers achieve.
//!
//! One pole falls with less than 6 dB per octave. What is asked for beyond [`STEEPEST_DB`] becomes that; rising slopes, which only interference makes, become flat. Poles and gains are
//! tabulated; sound behind a filter whose pole moves a little from block to block has no steps, because the filter's memory is its output.

use crate::one_pole::{pole, power};

/// The steepest slope the filter has, in dB per octave.
pub const STEEPEST_DB: f32 = -5.75;

/// Entries of the table.
const ENTRIES: usize = 116;

/// Octaves from the field's highest frequency to the zero.
const ZERO_OCTAVES: i32 = 4;

/// `dry + wet · low-pass` with this pole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tilt {
    /// Gain of what comes in.
    pub dry: f32,
    /// Gain of what has gone through the low-pass.
    pub wet: f32,
    /// Pole of the low-pass `(1 − p)/2 · (1 + z⁻¹)/(1 − p z⁻¹)`.
    pub pole: f32,
}

/// Filters for all slopes.
#[derive(Clone, Debug)]
pub struct TiltTable {
    /// From flat to steepest.
    entries: Vec<Tilt>,
}

impl TiltTable {
    /// Filters for a field that ends at `f_max_hz`.
    pub fn new(f_max_hz: f64, sample_rate_hz: f64) -> Self {
        let f_max_hz = if f_max_hz.is_finite() { f_max_hz.clamp(20.0, 0.05 * sample_rate_hz) } else { 500.0 };
        let zero_hz = (f_max_hz * 2f64.powi(ZERO_OCTAVES)).min(0.4 * sample_rate_hz);
        let entries = (0..ENTRIES).map(|i| {
            let wanted_db = f64::from(STEEPEST_DB) * i as f64 / (ENTRIES - 1) as f64;
            // The slope falls steadily as the pole goes down: halve the octaves between.
            let (mut low, mut high) = ((f_max_hz / 100.0).log2(), zero_hz.log2());
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                let shape = Shape::new(middle.exp2(), zero_hz, sample_rate_hz);
                if shape.slope_and_mean_db(f_max_hz, sample_rate_hz)[0] > wanted_db {
                    high = middle
                } else {
                    low = middle
                }
            }
            let shape = Shape::new(high.exp2(), zero_hz, sample_rate_hz);
            let gain = 10f64.powf(-shape.slope_and_mean_db(f_max_hz, sample_rate_hz)[1] / 20.0);
            let [dry, wet] = if i == 0 { [1.0, 0.0] } else { [gain * shape.dry, gain * (1.0 - shape.dry)] };
            Tilt { dry: dry as f32, wet: wet as f32, pole: shape.pole as f32 }
        });
        Self { entries: entries.collect() }
    }

    /// The filter for a slope in dB per octave. Rising slopes and what is not a number are flat.
    #[inline]
    pub fn at(&self, tilt_db: f32) -> Tilt {
        let place = (tilt_db / STEEPEST_DB).clamp(0.0, 1.0) * (ENTRIES - 1) as f32;
        let below = (place as usize).min(ENTRIES - 2);
        let share = if place.is_finite() { place - below as f32 } else { 0.0 };
        let [a, b] = [self.entries[below], self.entries[below + 1]];
        let mix = |a: f32, b: f32| a + share * (b - a);
        Tilt { dry: mix(a.dry, b.dry), wet: mix(a.wet, b.wet), pole: mix(a.pole, b.pole) }
    }
}

/// A filter of gain one at low frequencies.
struct Shape {
    dry: f64,
    pole: f64,
}

impl Shape {
    fn new(pole_hz: f64, zero_hz: f64, sample_rate_hz: f64) -> Self {
        let tangent = |hz: f64| (std::f64::consts::PI * hz / sample_rate_hz).tan();
        // (1 + dry·s/ω)/(1 + s/ω): the zero lies at ω/dry.
        Self { dry: tangent(pole_hz) / tangent(zero_hz), pole: f64::from(pole(pole_hz, sample_rate_hz)) }
    }

    /// Least-squares slope per octave, and mean, of the levels in the middle of the three octaves.
    fn slope_and_mean_db(&self, f_max_hz: f64, sample_rate_hz: f64) -> [f64; 2] {
        let level = |octaves: f64| {
            let hz = f_max_hz * octaves.exp2();
            10.0 * power(self.dry, 1.0 - self.dry, self.pole, hz, sample_rate_hz).log10()
        };
        let levels = [-2.5, -1.5, -0.5].map(level);
        [0.5 * (levels[2] - levels[0]), levels.iter().sum::<f64>() / 3.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level_db(tilt: Tilt, hz: f64, sample_rate_hz: f64) -> f64 {
        10.0 * power(f64::from(tilt.dry), f64::from(tilt.wet), f64::from(tilt.pole), hz, sample_rate_hz).log10()
    }

    /// Mean 0 dB and the slope asked for over the three octaves, between the entries of the table as well.
    #[test]
    fn slope_and_level_over_the_octaves() {
        for (f_max_hz, rate_hz) in [(250.0, 44_100.0), (500.0, 44_100.0), (500.0, 48_000.0), (1000.0, 96_000.0)] {
            let table = TiltTable::new(f_max_hz, rate_hz);
            for i in 0..=120 {
                let wanted_db = -0.05 * i as f32;
                let levels = [-2.5f64, -1.5, -0.5].map(|o| level_db(table.at(wanted_db), f_max_hz * o.exp2(), rate_hz));
                let slope_db = 0.5 * (levels[2] - levels[0]);
                let mean_db = levels.iter().sum::<f64>() / 3.0;
                assert!(mean_db.abs() < 0.05, "{f_max_hz} Hz, {wanted_db}: mean {mean_db}");
                let possible_db = f64::from(wanted_db.max(STEEPEST_DB));
                assert!((slope_db - possible_db).abs() < 0.05, "{f_max_hz} Hz, {wanted_db}: slope {slope_db}");
            }
        }
    }

    #[test]
    fn flat_where_it_rises_and_continuous() {
        let table = TiltTable::new(500.0, 44_100.0);
        for tilt_db in [0.0, 3.0, f32::INFINITY, f32::NAN] {
            let flat = table.at(tilt_db);
            assert!(flat.dry == 1.0 && flat.wet == 0.0, "{tilt_db}: {flat:?}");
        }
        for i in 0..6000 {
            let [a, b] = [table.at(-0.001 * i as f32), table.at(-0.001 * (i + 1) as f32)];
            let moved = (a.dry - b.dry).abs().max((a.wet - b.wet).abs()).max((a.pole - b.pole).abs());
            assert!(moved < 0.02, "at {i}: {moved}");
        }
        assert_eq!(table.at(f32::NEG_INFINITY), table.at(-6.0));
    }

    /// Above the field sound goes on falling, never with more than 6 dB per octave, and no further than to the zero.
    #[test]
    fn goes_on_falling_above() {
        let table = TiltTable::new(500.0, 44_100.0);
        for tilt_db in [-1.0, -3.0, -5.0] {
            let tilt = table.at(tilt_db);
            let octaves = [0.0f64, 1.0, 2.0, 3.0].map(|o| level_db(tilt, 500.0 * o.exp2(), 44_100.0));
            for pair in octaves.windows(2) {
                let fall_db = pair[0] - pair[1];
                assert!((1.0..6.1).contains(&fall_db), "{tilt_db}: {octaves:?}");
            }
            assert!(level_db(tilt, 500.0, 44_100.0) - level_db(tilt, 20_000.0, 44_100.0) < 27.0);
        }
    }
}
