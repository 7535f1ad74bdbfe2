//! What air takes from sound on its way: ISO 9613-1.
//!
//! Viscosity and heat conduction take a share that grows with f². Oxygen and nitrogen take more: their molecules store vibration and give it back too late, each
//! around its relaxation frequency, which depends on humidity.

/// Temperature to which the formula refers, in K.
const REFERENCE_K: f64 = 293.15;
/// Triple point of water, in K.
const TRIPLE_POINT_K: f64 = 273.16;
/// Pressure to which the formula refers, in kPa.
const REFERENCE_KPA: f64 = 101.325;

/// The state of the air between walls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// Temperature in °C.
    pub temperature_c: f64,
    /// Relative humidity in percent.
    pub humidity_percent: f64,
    /// Static pressure in kPa.
    pub pressure_kpa: f64,
    /// Share of the attenuation that counts: 1 as it is, 0 for air that takes nothing.
    pub share: f64,
}

impl Default for Air {
    /// 20 °C, 50 % humidity at sea level.
    fn default() -> Self {
        Self { temperature_c: 20.0, humidity_percent: 50.0, pressure_kpa: REFERENCE_KPA, share: 1.0 }
    }
}

impl Air {
    /// Air that takes nothing: all frequencies decay alike.
    pub const LOSSLESS: Self =
        Self { temperature_c: 20.0, humidity_percent: 50.0, pressure_kpa: REFERENCE_KPA, share: 0.0 };

    /// Attenuation of a pure tone in dB per metre. Numbers beyond −70 to 60 °C, 0 to 100 % and 10 to 200 kPa count as those limits; what is not a number
    /// counts as the lower one.
    pub fn attenuation_db_per_m(&self, frequency_hz: f64) -> f64 {
        let within = |x: f64, least: f64, most: f64| x.max(least).min(most);
        let f2 = within(frequency_hz, 0.0, 1e6).powi(2);
        let kelvin = within(self.temperature_c, -70.0, 60.0) + 273.15;
        let pressure = within(self.pressure_kpa, 10.0, 200.0) / REFERENCE_KPA;
        let warmth = kelvin / REFERENCE_K;

        let saturation = 10f64.powf(-6.8346 * (TRIPLE_POINT_K / kelvin).powf(1.261) + 4.6151);
        // Molar concentration of water vapour in percent.
        let water = within(self.humidity_percent, 0.0, 100.0) * saturation / pressure;
        let oxygen_hz = pressure * (24.0 + 4.04e4 * water * (0.02 + water) / (0.391 + water));
        let nitrogen_hz =
            pressure / warmth.sqrt() * (9.0 + 280.0 * water * (-4.170 * (warmth.powf(-1.0 / 3.0) - 1.0)).exp());

        let classical = 1.84e-11 / pressure * warmth.sqrt();
        let oxygen = 0.01275 * (-2239.1 / kelvin).exp() / (oxygen_hz + f2 / oxygen_hz);
        let nitrogen = 0.1068 * (-3352.0 / kelvin).exp() / (nitrogen_hz + f2 / nitrogen_hz);
        within(self.share, 0.0, 10.0) * 8.686 * f2 * (classical + warmth.powf(-2.5) * (oxygen + nitrogen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of ISO 9613-1 at 20 °C and 50 %, and the standard's own value at 1 kHz.
    #[test]
    fn attenuation_is_that_of_the_standard() {
        let table_db_per_km = [0.121, 0.440, 1.31, 2.73, 4.67, 9.89, 29.7, 105.0, 365.0];
        for (octave, expected) in table_db_per_km.into_iter().enumerate() {
            let frequency_hz = 62.5 * f64::from(1 << octave);
            let found = 1000.0 * Air::default().attenuation_db_per_m(frequency_hz);
            assert!((found / expected - 1.0).abs() < 5e-3, "{frequency_hz} Hz: {found}");
        }
        assert!((1000.0 * Air::default().attenuation_db_per_m(1000.0) / 4.66 - 1.0).abs() < 5e-3);
    }

    #[test]
    fn no_state_of_the_air_gives_anything_but_a_finite_loss() {
        for x in [f64::NAN, f64::NEG_INFINITY, f64::INFINITY, 0.0, -1e300, 1e300] {
            let air = Air { temperature_c: x, humidity_percent: x, pressure_kpa: x, share: 1.0 };
            let loss = air.attenuation_db_per_m(1000.0);
            assert!(loss.is_finite() && loss >= 0.0, "{x}: {loss}");
            assert!(Air::default().attenuation_db_per_m(x).is_finite());
        }
        assert_eq!(Air::LOSSLESS.attenuation_db_per_m(16_000.0), 0.0);
    }
}
