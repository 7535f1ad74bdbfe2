//! From numbers to levels and back.
//!
//! The steps are quantised along a line with the running error fed back: `q = ⌊(Δf + r)/Δq + ½⌋, r ← r + Δf − q Δq`. The error
//! before a sample is `r = f′ − Δq Σq`, so the sum of all `q` up to a sample is `⌊f/Δq + ½⌋`: the levels do not depend on
//! the way along which they are reached, nothing accumulates, and the steps `q` are their differences. A sample that is not valid
//! takes the level of the one before, so `q = 0` there.

use crate::acoustics::Parameter;

/// The quanta that can be stored, in steps that are just noticeable. With the least of them levels have fourteen bits.
pub const QUANTUM_RANGE: [f32; 2] = [1.0 / 64.0, 64.0];

/// Whether fields can be stored with a quantum.
pub fn is_quantum(quantum: f32) -> bool {
    (QUANTUM_RANGE[0]..=QUANTUM_RANGE[1]).contains(&quantum)
}

/// The level of a number within the range of its parameter: halves go up. What is not a number is the least.
pub(super) fn level(parameter: Parameter, value: f32, quantum: f32) -> i16 {
    let [least, most] = parameter.range();
    round(value.max(least).min(most), quantum)
}

fn round(value: f32, quantum: f32) -> i16 {
    let (value, quantum) = (f64::from(value), f64::from(quantum));
    let near = (value / quantum + 0.5).floor();
    // The quotient is rounded; the product of a level and a quantum is exact.
    let error = value - near * quantum;
    let level = if error >= quantum / 2.0 {
        near + 1.0
    } else if error < -quantum / 2.0 {
        near - 1.0
    } else {
        near
    };
    level as i16
}

/// The least and the greatest level of a parameter.
pub(super) fn bounds(parameter: Parameter, quantum: f32) -> [i32; 2] {
    parameter.range().map(|end| i32::from(round(end, quantum)))
}

/// The number that a level stands for.
#[inline]
pub(super) fn value(level: i32, quantum: f32) -> f32 {
    level as f32 * quantum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_the_sums_of_the_reference_with_its_running_error() {
        let (quantum, mut f, mut state) = (3.0f64, 0.0f64, 7u32);
        let (mut last, mut error, mut sum) = (0.0, 0.0, 0.0);
        for _ in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Multiples of 1/8: everything is exact.
            f = (f + f64::from((state >> 20) as i32 % 65 - 32) / 8.0).clamp(-70.0, 20.0);
            let change = f - last;
            let q = ((change + error) / quantum + 0.5).floor();
            error += change - q * quantum;
            (last, sum) = (f, sum + q);
            assert_eq!(f64::from(level(Parameter::Direct, f as f32, 3.0)), sum, "{f}");
        }
    }

    #[test]
    fn values_keep_their_level() {
        for quantum in [1.0 / 64.0, 0.1, 0.7, 1.0, 3.0, 64.0] {
            for p in Parameter::ALL {
                let [least, most] = bounds(p, quantum);
                for l in least..=most {
                    assert_eq!(i32::from(round(value(l, quantum), quantum)), l, "{quantum}");
                }
            }
        }
        assert_eq!(level(Parameter::Tilt, f32::NAN, 1.0), -30);
        assert_eq!(level(Parameter::Tilt, f32::INFINITY, 1.0), 30);
        assert_eq!(level(Parameter::Tilt, 1.5, 3.0), 1);
        assert_eq!(level(Parameter::Tilt, -1.5, 3.0), 0);
    }
}
