//! Real roots of polynomials up to the fourth degree, in ascending order.
//!
//! Quadratics in the form that does not cancel (Press et al., Numerical Recipes §5.6): `q = −½ (b + sgn(b) √Δ)`, `t = q/a` and `c/q`. Higher
//! degrees by isolation: between two neighbouring roots of the derivative a polynomial is monotonic, so it has a root there exactly if its
//! sign changes; Newton's method, kept inside the bracket by bisection, finds it.

/// Newton's method stops at steps shorter than this, in s.
const STEP_S: f64 = 1e-13;
/// Halving a bracket this often exhausts the 53 bits of the mantissa, and leaves room for roots that nearly coincide.
const MAX_STEPS: usize = 100;

/// Up to four roots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roots {
    list: [f64; 4],
    count: usize,
}

impl Roots {
    pub(super) fn as_slice(&self) -> &[f64] {
        &self.list[..self.count]
    }

    fn push(&mut self, root: f64) {
        if self.count < self.list.len() && root.is_finite() {
            self.list[self.count] = root;
            self.count += 1;
        }
    }
}

/// Roots of `c + b t + a t²`. A double root is given twice.
pub(super) fn quadratic([c, b, a]: [f64; 3]) -> Roots {
    let mut roots = Roots::default();
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 {
        return roots;
    }
    let q = -0.5 * (b + discriminant.sqrt().copysign(b));
    // A quadratic without its first coefficient has a root at infinity, which is not kept.
    let (first, second) = if q == 0.0 { (q / a, q / a) } else { (q / a, c / q) };
    let (lower, upper) = if first < second { (first, second) } else { (second, first) };
    roots.push(lower);
    roots.push(upper);
    roots
}

/// Roots in `(low, high]` of the polynomial with these coefficients, the constant first; at most five of them.
pub(super) fn polynomial(coefficients: &[f64], low: f64, high: f64) -> Roots {
    let mut roots = Roots::default();
    if let &[c, b, a] = coefficients {
        for &root in quadratic([c, b, a]).as_slice().iter().filter(|&&t| t > low && t <= high) {
            roots.push(root);
        }
        return roots;
    }
    let mut derivative = [0.0; 4];
    for (i, (slope, c)) in derivative.iter_mut().zip(&coefficients[1..]).enumerate() {
        *slope = (i + 1) as f64 * c;
    }
    let turns = polynomial(&derivative[..coefficients.len() - 1], low, high);
    let (mut start, mut before) = (low, value_and_slope(coefficients, low).0);
    for &end in turns.as_slice().iter().chain([&high]) {
        let after = value_and_slope(coefficients, end).0;
        if after == 0.0 && end > start {
            roots.push(end);
        } else if before * after < 0.0 {
            roots.push(bracketed(coefficients, start, end, before));
        }
        (start, before) = (end, after);
    }
    roots
}

/// Horner's scheme for a polynomial and its derivative.
fn value_and_slope(coefficients: &[f64], t: f64) -> (f64, f64) {
    coefficients.iter().rev().fold((0.0, 0.0), |(value, slope), c| (value * t + c, slope * t + value))
}

/// The root between `low` and `high`, where the polynomial is monotonic and changes its sign; `at_low` is its value at `low`.
fn bracketed(coefficients: &[f64], mut low: f64, mut high: f64, at_low: f64) -> f64 {
    let mut t = 0.5 * (low + high);
    for _ in 0..MAX_STEPS {
        let (value, slope) = value_and_slope(coefficients, t);
        if (value < 0.0) == (at_low < 0.0) {
            low = t;
        } else {
            high = t;
        }
        let newton = t - value / slope;
        let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
        let step = (next - t).abs();
        t = next;
        if step < STEP_S {
            break;
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(t − 10⁻⁸)(t − 10⁸)`: the textbook formula loses the small root altogether.
    #[test]
    fn the_small_root_of_a_quadratic_survives() {
        let roots = quadratic([1.0, -(1e8 + 1e-8), 1.0]);
        assert!((roots.as_slice()[0] / 1e-8 - 1.0).abs() < 1e-12 && (roots.as_slice()[1] / 1e8 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn linear_and_constant_equations_are_quadratics_too() {
        assert_eq!(quadratic([-6.0, 3.0, 0.0]).as_slice(), [2.0]);
        assert_eq!(quadratic([-6.0, -3.0, 0.0]).as_slice(), [-2.0]);
        assert!(quadratic([1.0, 0.0, 0.0]).as_slice().is_empty());
        assert!(quadratic([0.0, 0.0, 0.0]).as_slice().is_empty());
        assert_eq!(quadratic([0.0, 0.0, 2.0]).as_slice(), [0.0, 0.0]);
    }

    /// `(t−1)(t−2)(t−3)(t−4) = 24 − 50t + 35t² − 10t³ + t⁴`.
    #[test]
    fn all_roots_of_a_quartic_are_found_in_order() {
        let roots = polynomial(&[24.0, -50.0, 35.0, -10.0, 1.0], 0.0, 10.0);
        assert_eq!(roots.as_slice().len(), 4);
        assert!(roots.as_slice().iter().zip([1.0, 2.0, 3.0, 4.0]).all(|(r, t)| (r - t).abs() < 1e-12));
        assert_eq!(polynomial(&[24.0, -50.0, 35.0, -10.0, 1.0], 1.5, 3.5).as_slice().len(), 2);
    }

    /// `((t−1)² − ε²)(t² + 1)`: two roots a distance 2ε apart.
    #[test]
    fn neighbouring_roots_are_both_found() {
        for gap in [1e-3, 1e-5, 1e-7] {
            let c = 1.0 - gap * gap;
            let roots = polynomial(&[c, -2.0, 1.0 + c, -2.0, 1.0], 0.0, 5.0);
            let [first, second] = roots.as_slice() else { panic!("{gap}: {roots:?}") };
            assert!((first - (1.0 - gap)).abs() < 1e-8 && (second - (1.0 + gap)).abs() < 1e-8, "{gap}: {roots:?}");
        }
    }
}
