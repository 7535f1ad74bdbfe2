//! Bark scale and threshold of hearing.

/// Critical-band rate in Bark (Traunmüller 1990, with his corrections at both ends). Differs by at most 0.21 Bark from Zwicker's tables.
pub fn bark(frequency_hz: f64) -> f64 {
    let b = 26.81 * frequency_hz / (1960.0 + frequency_hz) - 0.53;
    if b < 2.0 {
        b + 0.15 * (2.0 - b)
    } else if b > 20.1 {
        b + 0.22 * (b - 20.1)
    } else {
        b
    }
}

/// Threshold of hearing in quiet, in dB SPL (Terhardt 1979).
pub fn threshold_db(frequency_hz: f64) -> f64 {
    let k = frequency_hz / 1000.0;
    3.64 * k.powf(-0.8) - 6.5 * (-0.6 * (k - 3.3).powi(2)).exp() + 1e-3 * k.powi(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the threshold, and Bark against Zwicker & Terhardt's formula.
    #[test]
    fn threshold_and_bark_have_their_published_values() {
        for (hz, db) in [(100.0, 22.95), (1000.0, 3.37), (3300.0, -4.98), (10_000.0, 10.58), (15_000.0, 51.04)] {
            assert!((threshold_db(hz) - db).abs() < 0.01, "{hz} Hz: {}", threshold_db(hz));
        }
        let mut hz: f64 = 50.0;
        while hz < 15_000.0 {
            let zwicker = 13.0 * (0.000_76 * hz).atan() + 3.5 * (hz / 7500.0).powi(2).atan();
            assert!((bark(hz) - zwicker).abs() < 0.25, "{hz} Hz: {} {zwicker}", bark(hz));
            hz *= 1.1;
        }
    }
}
