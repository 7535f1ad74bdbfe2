//! Where sounds come from, until rooms answer: level by distance, and a place between left and right.

use eigentone_core::{NEAREST_M, Vec3};

/// A listener.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ear {
    position: Vec3,
    right: Vec3,
}

impl Ear {
    /// Who looks along `look`; up is +z.
    pub fn new(position: Vec3, look: Vec3) -> Self {
        // Who looks straight up or down has the right hand along x.
        let right = look.cross(Vec3::Z).normalize_or(Vec3::X);
        Self { position, right }
    }

    /// Level of a source, whose models sound as at one metre: `1/r`.
    pub fn level(&self, source: Vec3) -> f64 {
        1.0 / source.distance(self.position).max(NEAREST_M)
    }

    /// Gains left and right: equal power, `√2 cos` and `√2 sin` of an angle that goes from 0 far left to 90° far right. In front both are one.
    pub fn balance(&self, source: Vec3) -> [f64; 2] {
        let to_right = (source - self.position).normalize_or_zero().dot(self.right);
        let angle = 0.25 * std::f64::consts::PI * (1.0 + to_right);
        [std::f64::consts::SQRT_2 * angle.cos(), std::f64::consts::SQRT_2 * angle.sin()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// −6 dB per doubling of distance; the sum of the squares of the gains is two everywhere; far right is right.
    #[test]
    fn level_falls_with_distance_and_power_stays() {
        let ear = Ear::new(Vec3::ZERO, Vec3::Y);
        assert!((ear.level(Vec3::Y * 4.0) / ear.level(Vec3::Y * 2.0) - 0.5).abs() < 1e-12);
        for place in [Vec3::X, -Vec3::X, Vec3::Y, Vec3::new(1.0, 2.0, -0.3)] {
            let [left, right] = ear.balance(place);
            assert!((left * left + right * right - 2.0).abs() < 1e-12);
        }
        assert!(ear.balance(Vec3::X)[0] < 1e-12 && ear.balance(-Vec3::X)[1] < 1e-12);
        assert!((ear.balance(Vec3::Y)[0] - 1.0).abs() < 1e-12);
    }
}
