//! Sources that do not radiate alike into all directions.
//!
//! Below a frequency that goes with their size all sources are omnidirectional. Above it the level at an angle θ off the axis tends to `1 − q ½(1 − cos θ)`: one on the axis,
//! and with `q` = 1 the cardioid. As a filter: `g + (1 − g)/(1 + jf/f_c)`, one at low frequencies, `g` at high ones.

use eigentone_core::Vec3;

/// How a source radiates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Directivity {
    /// Direction in which it is loudest, of any length, in the frame in which directions to listeners are given.
    pub axis: Vec3,
    /// 0: alike into all directions; 1: a cardioid, with nothing behind.
    pub pattern: f32,
    /// Below this it radiates alike into all directions.
    pub cutoff_hz: f32,
}

impl Default for Directivity {
    fn default() -> Self {
        Self { axis: Vec3::Y, pattern: 0.0, cutoff_hz: 500.0 }
    }
}

impl Directivity {
    /// Gain at high frequencies towards a listener, from 0 to 1. An axis or a direction without length counts as on the axis.
    pub fn gain(&self, to_listener: Vec3) -> f32 {
        // What has no length or is not a number has no unit vector.
        let Some(cosine) = self.axis.try_normalize().zip(to_listener.try_normalize()).map(|(a, b)| a.dot(b)) else {
            return 1.0;
        };
        let pattern = if self.pattern.is_finite() { self.pattern.clamp(0.0, 1.0) } else { 0.0 };
        (1.0 - pattern * 0.5 * (1.0 - cosine as f32)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `1 − q ½(1 − cos θ)`.
    #[test]
    fn gain_follows_the_cardioid() {
        let directivity = Directivity { axis: Vec3::X * 3.0, pattern: 1.0, ..Default::default() };
        for (direction, gain) in [(Vec3::X, 1.0), (Vec3::Y, 0.5), (-Vec3::X, 0.0), (Vec3::ZERO, 1.0)] {
            assert!((directivity.gain(direction) - gain).abs() < 1e-6);
        }
        let half = Directivity { pattern: 0.5, ..directivity };
        assert!((half.gain(-Vec3::X) - 0.5).abs() < 1e-6);
        assert_eq!(Directivity::default().gain(-Vec3::Y), 1.0);
    }

    #[test]
    fn what_is_not_a_number_is_omnidirectional() {
        let broken = Directivity { axis: Vec3::NAN, pattern: f32::NAN, cutoff_hz: f32::NAN };
        assert_eq!(broken.gain(Vec3::X), 1.0);
        assert_eq!(Directivity { pattern: 1.0, ..Default::default() }.gain(Vec3::NAN), 1.0);
    }
}
