//! Guesses of the unit in which a mesh was drawn, from its size alone. Files of most formats do not say: STL, for instance, is usually in
//! millimetres.

use std::ops::RangeInclusive;

/// Sizes beyond which a mesh is probably not in metres, in m.
const BELIEVED_M: RangeInclusive<f64> = 2e-3..=20.0;

/// Sizes of things that are struck every day, in m.
const EVERYDAY_M: RangeInclusive<f64> = 5e-3..=3.0;

/// Why a mesh may have another size than it says, and what its lengths are to be multiplied by then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitGuess {
    /// Completes "if it …".
    pub reason: &'static str,
    /// Factor that gives metres.
    pub factor: f64,
}

const fn guess(reason: &'static str, factor: f64) -> UnitGuess {
    UnitGuess { reason, factor }
}

const TOO_LARGE: [UnitGuess; 3] =
    [guess("is in millimetres", 1e-3), guess("is in centimetres", 1e-2), guess("is in inches", 0.0254)];

const TOO_SMALL: [UnitGuess; 3] = [
    guess("was divided by 1000 on its way", 1e3),
    guess("was divided by 100 on its way", 1e2),
    guess("was divided by a million on its way", 1e6),
];

/// What may be meant by a mesh that is so many metres across: the units that would give it the size of an everyday thing, or, if none does,
/// the one that comes nearest. Nothing if the size can be believed, and if it is no size.
pub fn unit_guesses(diagonal_m: f64) -> Vec<UnitGuess> {
    if !(diagonal_m.is_finite() && diagonal_m > 0.0) || BELIEVED_M.contains(&diagonal_m) {
        return Vec::new();
    }
    let all: &[UnitGuess] = if diagonal_m > 1.0 { &TOO_LARGE } else { &TOO_SMALL };
    let likely: Vec<UnitGuess> =
        all.iter().copied().filter(|g| EVERYDAY_M.contains(&(diagonal_m * g.factor))).collect();
    if !likely.is_empty() {
        return likely;
    }
    // How many times too large or too small it still is.
    let off = |g: &UnitGuess| {
        let size_m = diagonal_m * g.factor;
        (size_m / EVERYDAY_M.end()).max(EVERYDAY_M.start() / size_m)
    };
    all.iter().copied().min_by(|a, b| off(a).total_cmp(&off(b))).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(diagonal_m: f64) -> Vec<f64> {
        unit_guesses(diagonal_m).iter().map(|g| g.factor).collect()
    }

    #[test]
    fn a_guess_gives_an_everyday_size() {
        // A bowl of 18 cm drawn in millimetres; a spoon; a table in centimetres.
        assert_eq!(factors(180.0), [1e-3, 1e-2]);
        assert_eq!(factors(25.0), [1e-3, 1e-2, 0.0254]);
        assert_eq!(factors(2500.0), [1e-3]);
        // Nothing fits: the nearest.
        assert_eq!(factors(4000.0), [1e-3]);
        assert_eq!(factors(2e5), [1e-3]);
        assert_eq!(factors(1.8e-4), [1e3, 1e2]);
        assert_eq!(factors(1e-12), [1e6]);
    }

    #[test]
    fn sizes_that_can_be_believed_are() {
        for size in [2e-3, 0.18, 3.0, 20.0, 0.0, f64::NAN, f64::INFINITY] {
            assert!(unit_guesses(size).is_empty(), "{size}");
        }
    }
}
