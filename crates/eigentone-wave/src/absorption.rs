//! From the absorption of handbooks to the admittance of a locally reacting wall.
//!
//! Tables give the absorption of sound from all directions. A wall with the admittance `b` (relative to that of air) absorbs
//! `8b (1 + b/(1+b) − 2b ln((1+b)/b))` of it (the Paris integral of `4b cos θ/(cos θ + b)²`), 95.1 % at most.

/// Absorption of sound from all directions by a wall of this admittance.
pub fn random_incidence(admittance: f64) -> f64 {
    let b = admittance;
    if b <= 0.0 { 0.0 } else { 8.0 * b * (1.0 + b / (1.0 + b) - 2.0 * b * ((1.0 + b) / b).ln()) }
}

/// Admittance at which the absorption of sound from all directions is greatest.
const MOST: f64 = 0.638;

/// Admittance of a wall with this absorption of sound from all directions. What is more than a wall can absorb gets the admittance that absorbs most; one is
/// an opening and gets that of air.
pub fn admittance(absorption: f64) -> f64 {
    if absorption >= 1.0 {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, MOST);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if random_incidence(middle) < absorption { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paris_integral_is_inverted() {
        for (absorption, expected) in [(0.05, 0.0067), (0.1, 0.0140), (0.3, 0.0506)] {
            let b = admittance(absorption);
            assert!((b - expected).abs() < 1e-4, "{absorption} {b}");
            let steps = 20_000;
            let sum: f64 = (0..steps)
                .map(|i| {
                    let angle = std::f64::consts::FRAC_PI_2 * (i as f64 + 0.5) / steps as f64;
                    let cos = angle.cos();
                    4.0 * b * cos / (cos + b).powi(2) * (2.0 * angle).sin()
                })
                .sum();
            let integral = sum * std::f64::consts::FRAC_PI_2 / steps as f64;
            assert!((integral - absorption).abs() < 1e-6, "{integral}");
        }
        assert!((random_incidence(MOST) - 0.951).abs() < 1e-3);
        assert!(
            random_incidence(MOST) >= random_incidence(MOST * 0.99)
                && random_incidence(MOST) >= random_incidence(MOST * 1.01)
        );
        assert_eq!(admittance(1.0), 1.0);
        assert!(admittance(0.0) < 1e-12);
    }
}
