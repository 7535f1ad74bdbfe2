//! How many modes a body has, and how many of them can be told apart.
//!
//! Weyl's law with its surface term counts the modes of a free elastic solid of volume `V` and surface `S` (Dupuis, Mazo & Onsager
//! 1960): `N(f) = (4π/3)V f³(1/c_P³ + 2/c_S³) + (π/4)S f²/c_S² · (2r² − 3r + 3)/(1 − r)`, `r = (c_S/c_P)²`. Plates and shells of
//! area `S` have `N(f) = S f/2q` with `q = √(D/ρt)`.
//!
//! The ear hears about one band per ERB, `24.7 (4.37 f/1000 + 1)` Hz wide (Glasberg & Moore 1990). Where more than ten modes fall
//! into one, single modes are no longer heard, only their density.

use std::f64::consts::PI;

/// Modes per ERB above which single modes are not heard.
pub const MODES_PER_BAND: f64 = 10.0;

/// Width of the ear's band around a frequency, both in Hz.
pub fn erb_hz(frequency_hz: f64) -> f64 {
    24.7 * (4.37e-3 * frequency_hz + 1.0)
}

/// The number of modes below a frequency: `N(f) = max(a f³ + b f², c f)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModeCount {
    cubic: f64,
    square: f64,
    linear: f64,
}

impl ModeCount {
    /// Of a solid with the given volume, surface and wave speeds (shear, pressure).
    pub fn solid(volume_m3: f64, area_m2: f64, [shear_m_s, pressure_m_s]: [f64; 2]) -> Self {
        let r = (shear_m_s / pressure_m_s).powi(2);
        Self {
            cubic: 4.0 * PI / 3.0 * volume_m3 * (pressure_m_s.powi(-3) + 2.0 * shear_m_s.powi(-3)),
            square: PI / 4.0 * area_m2 / shear_m_s.powi(2) * (2.0 * r * r - 3.0 * r + 3.0) / (1.0 - r),
            linear: 0.0,
        }
    }

    /// Of a plate or shell whose middle surface has the given area, with `q = √(D/ρt)` in m²/s.
    pub fn plate(area_m2: f64, q_m2_s: f64) -> Self {
        Self { linear: area_m2 / (2.0 * q_m2_s), ..Self::default() }
    }

    /// The larger of two counts at every frequency: a flat solid bends like a plate first.
    pub fn or_at_least(self, other: Self) -> Self {
        Self {
            cubic: self.cubic.max(other.cubic),
            square: self.square.max(other.square),
            linear: self.linear.max(other.linear),
        }
    }

    /// Modes below a frequency.
    pub fn below(&self, frequency_hz: f64) -> f64 {
        ((self.cubic * frequency_hz + self.square) * frequency_hz * frequency_hz).max(self.linear * frequency_hz)
    }

    /// Modes per Hz at a frequency.
    pub fn per_hz(&self, frequency_hz: f64) -> f64 {
        let f = frequency_hz;
        if self.linear * f > (self.cubic * f + self.square) * f * f {
            self.linear
        } else {
            (3.0 * self.cubic * f + 2.0 * self.square) * f
        }
    }

    /// The frequency above which more than [`MODES_PER_BAND`] fall into one ERB, at most `highest_hz`.
    pub fn dense_from_hz(&self, highest_hz: f64) -> f64 {
        self.denser_from_hz(1.0, highest_hz)
    }

    /// The same for `reach` times as many modes.
    pub fn denser_from_hz(&self, reach: f64, highest_hz: f64) -> f64 {
        bisect(highest_hz, |f| self.per_hz(f) * erb_hz(f) > reach * MODES_PER_BAND)
    }

    /// The frequency below which there are `count` modes, at most `highest_hz`.
    pub fn frequency_hz(&self, count: f64, highest_hz: f64) -> f64 {
        bisect(highest_hz, |f| self.below(f) > count)
    }
}

/// The lowest frequency for which `above` holds, or `highest_hz`.
fn bisect(highest_hz: f64, above: impl Fn(f64) -> bool) -> f64 {
    if !above(highest_hz) {
        return highest_hz;
    }
    let (mut low, mut high) = (0.0, highest_hz);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if above(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::MaterialTable;

    /// A steel cube of 1 m has 447 modes below 10 kHz and 2953 below 20 kHz by Weyl's law, and ten in a band from
    /// 3.7 kHz on; 193 lie below 7 kHz by a Ritz method, within 10 %.
    #[test]
    fn weyls_law_counts_the_modes_of_a_steel_cube() {
        let steel = MaterialTable::builtin().get("steel").unwrap().clone();
        let shear = (steel.shear_pa() / steel.density_kg_m3).sqrt();
        let pressure = ((steel.lame_lambda_pa() + 2.0 * steel.shear_pa()) / steel.density_kg_m3).sqrt();
        let cube = ModeCount::solid(1.0, 6.0, [shear, pressure]);
        assert!((cube.below(7000.0) / 193.0 - 1.0).abs() < 0.1, "{}", cube.below(7000.0));
        assert!((cube.below(10e3) / 447.0 - 1.0).abs() < 0.02, "{}", cube.below(10e3));
        assert!((cube.below(20e3) / 2953.0 - 1.0).abs() < 0.02, "{}", cube.below(20e3));
        let dense = cube.dense_from_hz(20e3);
        assert!((dense / 3700.0 - 1.0).abs() < 0.03, "{dense}");
        assert!((cube.below(dense) - 36.0).abs() < 2.0);
        assert!((cube.frequency_hz(300.0, 20e3) / 8600.0 - 1.0).abs() < 0.02, "{}", cube.frequency_hz(300.0, 20e3));
        let small = ModeCount::solid(1e-3, 0.06, [shear, pressure]);
        assert!((small.below(20e3) - 9.0).abs() < 1.0);
        assert_eq!(small.dense_from_hz(20e3), 20e3);
    }

    /// A plate has its modes evenly: simply supported 0.3 × 0.2 m, counted one by one, within 10 % at 200 modes.
    #[test]
    fn plates_have_their_modes_evenly() {
        let (a, b, q) = (0.3, 0.2, 3.0);
        let count = ModeCount::plate(a * b, q);
        let f = 60_000.0 / 3.0;
        let mut exact = 0;
        for m in 1..200 {
            for n in 1..200 {
                let k2 = (PI * f64::from(m) / a).powi(2) + (PI * f64::from(n) / b).powi(2);
                exact += i32::from(q * k2 / (2.0 * PI) < f);
            }
        }
        // Supported edges take a share; a free plate would gain it.
        assert!((f64::from(exact) / count.below(f) - 1.0).abs() < 0.12, "{exact} {}", count.below(f));
        assert_eq!(count.per_hz(500.0), count.per_hz(5000.0));
    }
}
