//! Physical units as types.
//!
//! Public functions of the engine take and return these, so that a caller cannot pass milliseconds for seconds or
//! amplitude for decibels. Inside kernels plain `f64` with a suffix (`_hz`, `_s`, `_db`) is used instead.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident, $symbol:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $name {
            /// The bare number.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)?;
                f.write_str(concat!(" ", $symbol))
            }
        }
    };
}

unit!(
    /// Frequency in cycles per second.
    Hertz,
    "Hz"
);
unit!(
    /// A duration in seconds.
    Seconds,
    "s"
);
unit!(
    /// Level in decibels: `20·log10` of an amplitude ratio, `10·log10` of an energy ratio.
    Decibels,
    "dB"
);
unit!(
    /// A length in metres.
    Metres,
    "m"
);
unit!(
    /// An impulse (momentum transfer) in newton-seconds.
    NewtonSeconds,
    "N·s"
);

impl Hertz {
    /// Angular frequency in radians per second.
    pub fn angular(self) -> f64 {
        std::f64::consts::TAU * self.0
    }
}

impl Decibels {
    /// The amplitude ratio this level stands for.
    pub fn amplitude(self) -> f64 {
        10f64.powf(self.0 / 20.0)
    }

    /// The level of an amplitude ratio; minus infinity for zero.
    pub fn from_amplitude(ratio: f64) -> Self {
        Self(20.0 * ratio.abs().log10())
    }

    /// The level of an energy ratio; minus infinity for zero.
    pub fn from_energy(ratio: f64) -> Self {
        Self(10.0 * ratio.abs().log10())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_decibels_are_a_factor_of_ten() {
        assert!((Decibels(20.0).amplitude() - 10.0).abs() < 1e-12);
        assert!((Decibels::from_amplitude(10.0).get() - 20.0).abs() < 1e-12);
        assert!((Decibels::from_energy(10.0).get() - 10.0).abs() < 1e-12);
    }

    #[test]
    fn a_unit_prints_with_its_symbol() {
        assert_eq!(format!("{:.1}", Hertz(440.0)), "440.0 Hz");
    }
}
