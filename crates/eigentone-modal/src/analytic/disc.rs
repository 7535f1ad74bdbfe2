//! Thin discs: `f = λ²/(2πR²) √(D/ρh)` with `W(r) = J_n(λr/R) + C I_n(λr/R)` times `cos nθ` or `sin nθ` (Leissa 1969, chapter 2).
//!
//! At a clamped edge `W = W′ = 0`. At a free edge the bending moment `M = W″ + ν(W′ − n²W)` and Kirchhoff's shear force
//! `V = (∇²W)′ − (1−ν) n² (W′ − W)` vanish (radius one). With `∇²J = −λ²J`, `∇²I = λ²I` both are linear in function and slope, so
//! the edge is a 2×2 determinant whose roots are `λ`. `I` is carried as `e^{−λ}I`, which keeps every entry of order one.

use super::{
    DiscSupport,
    assemble::{Partial, Wanted},
    bessel::{j, scaled_i},
    numeric::{bisect, integrate},
};
use std::f64::consts::{PI, TAU};

/// What must vanish at the edge, for the `J` part and the `e^{−λ}I` part: `[[first_J, first_I], [second_J, second_I]]`.
pub(super) fn edge(n: usize, lambda: f64, poisson: f64, support: DiscSupport) -> [[f64; 2]; 2] {
    let ([jv, jd], [iv, id]) = (j(n, lambda), scaled_i(n, lambda));
    let (jd, id) = (lambda * jd, lambda * id);
    match support {
        DiscSupport::Clamped => [[jv, iv], [jd, id]],
        DiscSupport::Free => {
            let (l2, n2, q) = (lambda * lambda, (n * n) as f64, 1.0 - poisson);
            let moment = [-l2 * jv - q * (jd - n2 * jv), l2 * iv - q * (id - n2 * iv)];
            let shear = [-l2 * jd - q * n2 * (jd - jv), l2 * id - q * n2 * (id - iv)];
            [moment, shear]
        }
    }
}

/// Roots `λ` up to a limit for one angular order, and the first beyond it if there is none below.
pub(super) fn roots(n: usize, limit: f64, poisson: f64, support: DiscSupport) -> Vec<f64> {
    // Roots of one order lie about π apart, and none lies below 0.5 max(n, 1) (λ ≈ 2.3 for the lowest of all).
    const STEP: f64 = 0.05;
    let determinant = |x: f64| {
        let [[a, b], [c, d]] = edge(n, x, poisson, support);
        // The I column is as small as e^{−λ}I_n; dividing by it keeps the sign and avoids underflow.
        a * (d / b.abs().max(d.abs())) - c * (b / b.abs().max(d.abs()))
    };
    let mut found = Vec::new();
    let mut low = 0.5 * n.max(1) as f64;
    let mut at_low = determinant(low);
    while low < limit {
        let high = low + STEP;
        let at_high = determinant(high);
        if at_low * at_high <= 0.0 && at_low != 0.0 {
            found.push(bisect([low, high], determinant));
        }
        (low, at_low) = (high, at_high);
    }
    found
}

/// Radial shape of one mode on the unit disc, not normalised.
#[derive(Clone, Copy)]
pub(super) struct Radial {
    pub n: usize,
    pub lambda: f64,
    /// `C e^{λ}`.
    pub hyperbolic: f64,
}

impl Radial {
    pub fn new(n: usize, lambda: f64, poisson: f64, support: DiscSupport) -> Self {
        let [[a, b], [c, d]] = edge(n, lambda, poisson, support);
        // Either row gives C; the larger one loses fewer digits.
        let hyperbolic = if b.abs() > d.abs() { -a / b } else { -c / d };
        Self { n, lambda, hyperbolic }
    }

    pub fn at(&self, r: f64) -> f64 {
        let x = self.lambda * r;
        j(self.n, x)[0] + self.hyperbolic * scaled_i(self.n, x)[0] * (x - self.lambda).exp()
    }

    /// `∫₀¹ W^p r dr`.
    fn moment(&self, power: i32) -> f64 {
        // A panel per third of a wave, where eight points integrate to rounding.
        integrate(0.0, 1.0, 4 + self.lambda.ceil() as usize / 2, |r| self.at(r).powi(power) * r)
    }
}

pub(super) fn partials(
    radius: f64,
    areal_mass: f64,
    stiffness_per_mass: f64,
    poisson: f64,
    support: DiscSupport,
    wanted: Wanted,
) -> Vec<Partial> {
    let held = if support == DiscSupport::Clamped { 1.5 } else { 0.0 };
    let reach = wanted.plate_wavenumber(PI * radius * radius, TAU * radius, stiffness_per_mass, held);
    // Far enough that even a tiny disc reports its lowest mode.
    let limit = (reach * radius).max(5.0);
    let mut found = Vec::new();
    for n in (0..).take_while(|&n| 0.5 * n as f64 <= limit) {
        for lambda in roots(n, limit, poisson, support) {
            let radial = Radial::new(n, lambda, poisson, support);
            let angular = if n == 0 { TAU } else { PI };
            let amplitude = 1.0 / (areal_mass * radius * radius * angular * radial.moment(2)).sqrt();
            let net = if n == 0 && support == DiscSupport::Clamped { radial.moment(1) } else { 0.0 };
            for quarter in 0..if n == 0 { 1 } else { 2 } {
                let phase = 0.5 * PI * f64::from(quarter);
                found.push(Partial {
                    frequency_hz: (lambda / radius).powi(2) * stiffness_per_mass.sqrt() / TAU,
                    wavenumber: lambda / radius,
                    net,
                    shape: Box::new(move |x, y| {
                        let turn = if n == 0 { 1.0 } else { (n as f64 * y.atan2(x) - phase).cos() };
                        amplitude * radial.at(x.hypot(y) / radius) * turn
                    }),
                });
            }
        }
    }
    found
}
