//! Thick bars: Timoshenko's theory, in which shear and rotary inertia lower the modes that Euler and Bernoulli place too high.
//!
//! Free–free frequency equation of Huang (1961, *J. Appl. Mech.* 28, equation 35), with Cowper's shear coefficient for a
//! rectangle `κ = 10(1+ν)/(12+11ν)`, `r² = I/AL²`, `s² = EI/κAGL²`, `b² = ρAω²L⁴/EI`:
//!
//! ```text
//! 2 − 2 cosh bα cos bβ + b/√(1−b²r²s²) · [b²r²(r²−s²)² + 3r² − s²] sinh bα sin bβ = 0
//! α, β = { [∓(r²+s²) + √((r²−s²)² + 4/b²)] / 2 }^½
//! ```

use super::{bar, numeric::bisect};
use eigentone_core::Material;
use std::f64::consts::TAU;

/// The lowest bending frequencies in Hz of a free bar of rectangular section that moves along its thickness. Fewer than
/// `count` if the cut-off `b r s = 1` comes first, above which the theory has a second kind of wave.
pub fn timoshenko_free_bar(length: f64, thickness: f64, material: &Material, count: usize) -> Vec<f64> {
    let nu = material.poisson;
    let kappa = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
    let r2 = thickness * thickness / (12.0 * length * length);
    let s2 = r2 * material.young_pa / (kappa * material.shear_pa());
    // Divided by cosh bα, which would overflow.
    let determinant = |b: f64| {
        let b2 = b * b;
        let root = ((r2 - s2).powi(2) + 4.0 / b2).sqrt();
        let bend = b * (0.5 * (root - r2 - s2)).sqrt();
        let wave = b * (0.5 * (root + r2 + s2)).sqrt();
        let mixed = b / (1.0 - b2 * r2 * s2).sqrt() * (b2 * r2 * (r2 - s2).powi(2) + 3.0 * r2 - s2);
        2.0 / bend.cosh() - 2.0 * wave.cos() + mixed * bend.tanh() * wave.sin()
    };
    let per_b = (material.young_pa / material.density_kg_m3 * r2).sqrt() / (TAU * length);
    let cutoff = 1.0 / (r2 * s2).sqrt();
    let first = bar::root(1, false).powi(2);
    let step = 0.01 * first;
    let mut found = Vec::new();
    let (mut low, mut at_low) = (0.1 * first, determinant(0.1 * first));
    while found.len() < count && low + step < cutoff {
        let high = low + step;
        let at_high = determinant(high);
        if at_low * at_high < 0.0 {
            found.push(per_b * bisect([low, high], determinant));
        }
        (low, at_low) = (high, at_high);
    }
    found
}
