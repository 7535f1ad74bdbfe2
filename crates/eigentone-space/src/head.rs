//! A sphere with two ears.
//!
//! Brown and Duda, "A structural model for binaural sound synthesis", IEEE Trans. Speech and Audio Processing 6 (1998). With a the radius, c the speed of sound and θ the angle
//! between the ear's axis and the source:
//!
//! - delay (Woodworth): `(a/c)(1 − cos θ)` on the side of the ear, `(a/c)(1 + θ − π/2)` behind the horizon; relative to the wave's arrival at the near side of the sphere, so
//!   that it is never negative. The difference between the ears is `(a/c)(φ + sin φ)` at azimuth φ.
//! - shadow: `(1 + jαω/2ω₀)/(1 + jω/2ω₀)`, `ω₀ = c/a`, `α = (1 + α_min/2) + (1 − α_min/2) cos(180° θ/θ_min)`, `α_min` = 0.1, `θ_min` = 150°. One at low frequencies; at high ones 6 dB more
//!   towards the source, 20 dB less on the far side, a little more again right behind (the bright spot).
//!
//! The pole does not depend on the direction. The filter is `α + (1 − α)·low-pass`: one low-pass serves both ears, and motion only moves gains.
//! The ears sit at ±90°. Delay and shadow then depend on a single number, the direction's component to the right.

use eigentone_core::{HEAD_RADIUS_M, SOUND_M_S};
use std::f32::consts::{FRAC_PI_2, PI};

/// Least gain at high frequencies.
const ALPHA_MIN: f32 = 0.1;

/// Angle of the least gain, in radians: 150°.
const THETA_MIN: f32 = 150.0 / 180.0 * PI;

/// What reaches one ear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ear {
    /// Delay after the wave has reached the near side of the head.
    pub delay_s: f32,
    /// Gain at high frequencies; at low ones it is one.
    pub shadow: f32,
}

/// Frequency of the pole of the shadow, `2ω₀/2π`.
pub fn pole_hz() -> f64 {
    SOUND_M_S / (std::f64::consts::PI * HEAD_RADIUS_M)
}

/// The longest delay of an ear.
pub fn longest_delay_s() -> f64 {
    HEAD_RADIUS_M / SOUND_M_S * (1.0 + std::f64::consts::FRAC_PI_2)
}

/// Left and right ear for a direction with this component to the right (the sine of the angle to the median plane).
#[inline]
pub fn ears(to_right: f32) -> [Ear; 2] {
    let to_right = to_right.clamp(-1.0, 1.0);
    // The angles to the ears are π/2 ± β. One sine and cosine give those of both.
    let beta = arc_sine(to_right);
    let turn = PI / THETA_MIN;
    let (sine, cosine) = (turn * beta).sin_cos();
    let (side_sine, side_cosine) = (turn * FRAC_PI_2).sin_cos();
    let shadow = |cosine: f32| (1.0 + 0.5 * ALPHA_MIN) + (1.0 - 0.5 * ALPHA_MIN) * cosine;
    let (even, odd) = (side_cosine * cosine, side_sine * sine);
    let (near, far) = (1.0 - to_right.abs(), 1.0 + beta.abs());
    let [left, right] = if to_right > 0.0 { [far, near] } else { [near, far] };
    let radius_s = (HEAD_RADIUS_M / SOUND_M_S) as f32;
    [
        Ear { delay_s: radius_s * left, shadow: shadow(even - odd) },
        Ear { delay_s: radius_s * right, shadow: shadow(even + odd) },
    ]
}

/// Within 3e-7: Abramowitz and Stegun 4.4.46.
#[inline]
fn arc_sine(x: f32) -> f32 {
    let a = x.abs().min(1.0);
    const C: [f32; 8] = [
        FRAC_PI_2,
        -0.214_598_8,
        0.088_978_99,
        -0.050_174_3,
        0.030_891_88,
        -0.017_088_126,
        0.006_670_09,
        -0.001_262_491,
    ];
    let polynomial = C.iter().rev().fold(0.0, |sum, c| sum * a + c);
    (FRAC_PI_2 - (1.0 - a).sqrt() * polynomial).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Woodworth: `(a/c)(φ + sin φ)`; 0.66 ms at the side.
    #[test]
    fn delay_between_the_ears_is_woodworths() {
        for degrees in [0.0f64, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0] {
            let azimuth = degrees.to_radians();
            let [left, right] = ears(azimuth.sin() as f32);
            let expected_s = HEAD_RADIUS_M / SOUND_M_S * (azimuth + azimuth.sin());
            assert!((f64::from(left.delay_s - right.delay_s) - expected_s).abs() < 1e-6, "{degrees}°");
        }
        let [left, right] = ears(1.0);
        assert!(((left.delay_s - right.delay_s) / 0.66e-3 - 1.0).abs() < 0.05);
        assert!(f64::from(left.delay_s) <= longest_delay_s() * 1.000_001 && right.delay_s.abs() < 1e-9);
    }

    /// +6 dB towards the ear, −20 dB at 150°, and more again right behind it.
    #[test]
    fn shadow_is_brown_and_dudas() {
        let right = |theta_degrees: f64| ears(theta_degrees.to_radians().cos() as f32)[1].shadow;
        assert!((right(0.0) - 2.0).abs() < 1e-4);
        assert!((right(150.0) - 0.1).abs() < 1e-4);
        assert!((right(90.0) - (1.05 + 0.95 * 108f32.to_radians().cos())).abs() < 1e-4);
        assert!(right(180.0) > right(150.0));
    }

    #[test]
    fn left_mirrors_right_and_the_middle_is_even() {
        for i in 0..=100 {
            let to_right = 0.02 * i as f32 - 1.0;
            let ([a, b], [c, d]) = (ears(to_right), ears(-to_right));
            for (one, other) in [(a, d), (b, c)] {
                assert!((one.delay_s - other.delay_s).abs() < 1e-9 && (one.shadow - other.shadow).abs() < 1e-5);
            }
        }
        // In front, behind, straight up.
        let [left, right] = ears(0.0);
        assert!((left.delay_s - right.delay_s).abs() < 1e-9 && (left.shadow - right.shadow).abs() < 1e-5);
    }

    #[test]
    fn arc_sine_is_true() {
        for i in -1000..=1000 {
            let x = i as f32 / 1000.0;
            assert!((arc_sine(x) - x.asin()).abs() < 1e-6, "{x}");
        }
    }
}
