//! Slender bars (Euler–Bernoulli): `f_n = (β_nL)²/(2πL²) √(EI/ρA)`, with `cos βL cosh βL = ±1` (+ free, − clamped–free).
//!
//! Textbook shapes are differences of hyperbolic functions that agree to all digits at the tenth mode. Here the growing
//! exponential is counted from the far end instead, so that every term is at most one. The free bar is written about its
//! centre, where each mode is even or odd: `φ = cos βξ / cos ½βL + cosh βξ / cosh ½βL`, or with sines. Both families have
//! `∫ φ² dx = L`.

use super::{
    Tuning,
    assemble::{Partial, Wanted},
};
use std::f64::consts::{PI, TAU};

/// A uniform bar along x, centred.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    pub length: f64,
    /// Total mass.
    pub mass: f64,
    /// `√(EI/ρA)` in m²/s.
    pub wave: f64,
    /// Clamped at the low end.
    pub clamped: bool,
}

/// `βL` of the `n`-th bending mode, counted from one.
pub(super) fn root(n: usize, clamped: bool) -> f64 {
    let (sign, start) = if clamped { (1.0, n as f64 - 0.5) } else { (-1.0, n as f64 + 0.5) };
    let mut x = PI * start;
    for _ in 0..20 {
        let sech = 1.0 / x.cosh();
        let step = (x.cos() + sign * sech) / (-x.sin() - sign * sech * x.tanh());
        x -= step;
        if step.abs() < 1e-15 * x {
            break;
        }
    }
    x
}

/// Shape of the `n`-th mode at `x` in `0..=1`, with mean square one.
pub(super) fn shape(n: usize, beta: f64, clamped: bool, x: f64) -> f64 {
    if clamped { clamped_shape(beta, x) } else { free_shape(n, beta, x) }
}

fn free_shape(n: usize, beta: f64, x: f64) -> f64 {
    let (xi, half) = (x - 0.5, 0.5 * beta);
    let grown = (beta * (xi.abs() - 0.5)).exp();
    let shrunk = (-beta * (xi.abs() + 0.5)).exp();
    if n % 2 == 1 {
        (beta * xi).cos() / half.cos() + (grown + shrunk) / (1.0 + (-beta).exp())
    } else {
        (beta * xi).sin() / half.sin() + xi.signum() * (grown - shrunk) / (1.0 - (-beta).exp())
    }
}

fn clamped_shape(beta: f64, x: f64) -> f64 {
    let (sin, cos) = beta.sin_cos();
    let decay = (-beta).exp();
    // 1 − σ = (sin βL − cos βL − e^{−βL}) / (sinh βL + sin βL), with e^{βL} taken out of the denominator.
    let lack = 2.0 * (sin - cos - decay) / (1.0 - decay * decay + 2.0 * sin * decay);
    let sigma = 1.0 - lack * decay;
    let hyperbolic = 0.5 * (lack * (beta * (x - 1.0)).exp() + (1.0 + sigma) * (-beta * x).exp());
    hyperbolic - (beta * x).cos() + sigma * (beta * x).sin()
}

impl Bar {
    fn natural_hz(&self, n: usize) -> f64 {
        (root(n, self.clamped) / self.length).powi(2) * self.wave / TAU
    }

    /// Frequency of the `n`-th partial after tuning; see [`Tuning`].
    fn frequency_hz(&self, n: usize, tuning: Option<&Tuning>) -> f64 {
        let Some(Tuning { ratios, fundamental_hz }) = tuning else {
            return self.natural_hz(n);
        };
        let fundamental = fundamental_hz.unwrap_or_else(|| self.natural_hz(1));
        let last = ratios.len();
        match ratios.get(n - 1) {
            Some(ratio) => fundamental * ratio,
            None => fundamental * ratios[last - 1] * self.natural_hz(n) / self.natural_hz(last),
        }
    }

    pub fn partials(&self, tuning: Option<&Tuning>, wanted: Wanted) -> Vec<Partial> {
        let first = (1..).find(|&n| self.frequency_hz(n, tuning) >= wanted.low_hz).unwrap_or(1);
        let amplitude = 1.0 / self.mass.sqrt();
        (first..)
            .take(wanted.max_modes)
            .take_while(|&n| n == first || self.frequency_hz(n, tuning) <= wanted.high_hz)
            .map(|n| {
                let Bar { length, clamped, .. } = *self;
                let beta = root(n, clamped);
                Partial {
                    frequency_hz: self.frequency_hz(n, tuning),
                    wavenumber: beta / length,
                    // Clamped: ∫φ dx = 2σL/β > 0. Free: orthogonal to translation.
                    net: f64::from(u8::from(clamped)),
                    shape: Box::new(move |x, _| amplitude * shape(n, beta, clamped, x / length + 0.5)),
                }
            })
            .collect()
    }
}
