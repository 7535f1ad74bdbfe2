//! What a soft body is made of.

use super::SoftError;
use eigentone_core::material::lame_pa;

/// An isotropic elastic material with viscosity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftMaterial {
    /// Young's modulus, in Pa.
    pub young_pa: f64,
    /// Poisson's ratio, 0 to 0.49.
    pub poisson: f64,
    /// Density, in kg/m³.
    pub density_kg_m3: f64,
    /// φ, viscosity against changes of volume, in Pa·s.
    pub phi_pa_s: f64,
    /// ψ, viscosity against changes of shape, in Pa·s.
    pub psi_pa_s: f64,
    /// γ, braking of all motion against the air, in 1/s: the mass-proportional part of Rayleigh damping.
    pub gamma_per_s: f64,
}

/// Soft rubber: a jelly that one would rather call firm.
impl Default for SoftMaterial {
    fn default() -> Self {
        Self { young_pa: 1e6, poisson: 0.4, density_kg_m3: 1000.0, phi_pa_s: 0.0, psi_pa_s: 10.0, gamma_per_s: 0.0 }
    }
}

impl SoftMaterial {
    /// The material whose viscosity is Rayleigh damping: φ = ηλ and ψ = ημ.
    #[must_use]
    pub fn with_rayleigh(mut self, gamma_per_s: f64, eta_s: f64) -> Self {
        let [lambda, mu] = self.lame_pa();
        (self.phi_pa_s, self.psi_pa_s, self.gamma_per_s) = (eta_s * lambda, eta_s * mu, gamma_per_s);
        self
    }

    /// Lamé's λ and μ, in Pa.
    pub fn lame_pa(&self) -> [f64; 2] {
        lame_pa(self.young_pa, self.poisson)
    }

    /// Speed of compression waves, √((λ + 2μ)/ρ), in m/s. Nothing is faster.
    pub fn fastest_m_s(&self) -> f64 {
        let [lambda, mu] = self.lame_pa();
        ((lambda + 2.0 * mu) / self.density_kg_m3).sqrt()
    }

    /// Each number by the name it has in scenes, with the least and the most that make sense.
    pub const RANGES: [(&'static str, f64, f64); 6] = [
        ("young", 1e2, 1e12),
        ("poisson", 0.0, 0.49),
        ("density", 1.0, 3e4),
        ("phi", 0.0, 1e9),
        ("psi", 0.0, 1e9),
        ("gamma", 0.0, 1e6),
    ];

    /// Whether every number makes sense.
    ///
    /// # Errors
    /// [`SoftError::Material`], which names the number and its range.
    pub fn check(&self) -> Result<(), SoftError> {
        let values = [self.young_pa, self.poisson, self.density_kg_m3, self.phi_pa_s, self.psi_pa_s, self.gamma_per_s];
        for ((name, least, most), value) in Self::RANGES.into_iter().zip(values) {
            if !(least..=most).contains(&value) {
                return Err(SoftError::Material { name, value, least, most });
            }
        }
        Ok(())
    }
}
