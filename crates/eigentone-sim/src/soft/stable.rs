//! How long a step may be.
//!
//! Central differences are stable for Δt < 2/ω_max, and on lumped linear tetrahedra 2/ω_max is 0.91 to 0.97 h/c with h the least altitude and c the speed of
//! compression waves. Half of h/c is used, which keeps the energy within 3 % and leaves room for strains of several percent.
//!
//! *Viscosity* acts on the velocity of half a step before, which costs stability: with ξ the share of critical damping of the fastest mode,
//! Δt < (2/ω_max)(√(1+ξ²) − ξ) (Belytschko, Liu and Moran 2000, section 6.2). Viscosities as in Rayleigh damping η = (φ + 2ψ)/(λ + 2μ) give ξ = ηc/h. Keeping below
//! both Δt ≤ h/2c and Δt ≤ h²/2ηc² by themselves is not enough where ξ is about one.
//!
//! *Strain*: an element that is k times stiffer has frequencies √k times higher, and ξ as well.

use super::SoftMaterial;
use super::element::Element;

/// Share of h/c.
pub const SHARE: f64 = 0.5;

/// What limits the step of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLimit {
    /// 0.5 h/c of the worst element, in s.
    pub elastic_s: f64,
    /// ξ = ηc/h of that element.
    pub viscous: f64,
}

impl StepLimit {
    /// The limit of one element.
    pub fn of(element: &Element, material: &SoftMaterial) -> Self {
        let [lambda, mu] = material.lame_pa();
        let (c, h) = (material.fastest_m_s(), element.least_altitude_m());
        let eta_s = (material.phi_pa_s + 2.0 * material.psi_pa_s) / (lambda + 2.0 * mu);
        Self { elastic_s: SHARE * h / c, viscous: eta_s * c / h }
    }

    /// The longest step while elements are `stiffer` times as stiff as at rest, in s.
    pub fn step_s(&self, stiffer: f64) -> f64 {
        let faster = stiffer.max(1.0).sqrt();
        let xi = self.viscous * faster;
        // √(1+ξ²) − ξ without cancellation.
        self.elastic_s / faster / (xi.hypot(1.0) + xi)
    }
}
