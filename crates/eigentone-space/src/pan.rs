//! A place between left and right by level alone.

/// Gains left and right of a direction with this component to the right: equal power, `√2 cos` and `√2 sin` of an angle that goes from 0 far left to 90° far right. In front
/// both are one.
pub fn gains(to_right: f32) -> [f32; 2] {
    // √2 cos(45° + a) = cos a − sin a: exactly one in front.
    let (sine, cosine) = (std::f32::consts::FRAC_PI_4 * to_right.clamp(-1.0, 1.0)).sin_cos();
    [cosine - sine, cosine + sine]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_stays_and_front_is_one() {
        for to_right in [-1.0, -0.3, 0.0, 0.7, 1.0] {
            let [left, right] = gains(to_right);
            assert!((left * left + right * right - 2.0).abs() < 1e-5);
        }
        assert_eq!(gains(0.0), [1.0; 2]);
        assert!(gains(1.0)[0].abs() < 1e-6 && gains(-1.0)[1].abs() < 1e-6 && gains(1.0)[1] > 1.4);
    }
}
