//! The force of one tetrahedron on its corners, written as the equations are.
//!
//! With rest positions m, world positions p, velocities v and ∇N_i the gradient of corner i's barycentric coordinate at rest:
//!
//! - F = Σ p_i ∇N_iᵀ, Ḟ = Σ v_i ∇N_iᵀ
//! - ε = FᵀF − 1 and ν̇ = FᵀḞ + ḞᵀF, both without the usual ½
//! - σ = (λ tr ε + φ tr ν̇) 1 + 2μ ε + 2ψ ν̇
//! - f_i = −(V/2) F σ ∇N_i
//!
//! This is −∂U/∂p of the energy U = V(½λ tr(E)² + μ E:E) with E = ε/2, the material of St Venant and Kirchhoff.
//!
//! **Guard.** That material resists compression the less the flatter it is, and not at all when turned inside out. So when J = det F falls below J₀ there is
//! another energy, V κ/2 (J₀ − J)² with κ = λ + 2μ, whose force V κ (J₀ − J) cof(F) ∇N_i pushes an element back from either side. Down to J₀ = 0.3 nothing
//! changes.
//!
//! The simulation itself uses the [`kernel`](super::kernel), four elements at a time; this is what it is compared with.

use super::SoftMaterial;
use eigentone_core::Vec3;
use eigentone_core::tet::barycentric_gradients;
use glam::DMat3;

/// J₀, the share of its volume below which an element is pushed back.
pub const LEAST_VOLUME_SHARE: f64 = 0.3;

/// A tetrahedron at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// ∇N of each corner, in 1/m.
    pub gradients: [Vec3; 4],
    /// Volume, in m³.
    pub volume_m3: f64,
}

impl Element {
    /// From its corners, in an order that gives a positive volume.
    pub fn new(corners: [Vec3; 4]) -> Self {
        let (gradients, volume_m3) = barycentric_gradients(corners);
        Self { gradients, volume_m3 }
    }

    /// The least of its altitudes, in m: 1/max|∇N|.
    pub fn least_altitude_m(&self) -> f64 {
        self.gradients.iter().map(|g| g.length()).fold(0.0, f64::max).recip()
    }

    /// F or Ḟ.
    fn gradient(&self, of: &[Vec3; 4]) -> DMat3 {
        let column = |axis: usize| of.iter().zip(&self.gradients).map(|(p, g)| *p * g[axis]).sum();
        DMat3::from_cols(column(0), column(1), column(2))
    }

    /// Forces on the corners, in N.
    pub fn forces(&self, material: &SoftMaterial, positions: &[Vec3; 4], velocities: &[Vec3; 4]) -> [Vec3; 4] {
        let (f, f_dot) = (self.gradient(positions), self.gradient(velocities));
        self.forces_of(material, &f, f.transpose() * f_dot + f_dot.transpose() * f)
    }

    /// The same with ν̇ from where the corners were a step before: the change of FᵀF.
    pub fn forces_between(
        &self,
        material: &SoftMaterial,
        before: &[Vec3; 4],
        now: &[Vec3; 4],
        step_s: f64,
    ) -> [Vec3; 4] {
        let (was, is) = (self.gradient(before), self.gradient(now));
        self.forces_of(material, &is, (is.transpose() * is - was.transpose() * was) * step_s.recip())
    }

    fn forces_of(&self, material: &SoftMaterial, f: &DMat3, rate: DMat3) -> [Vec3; 4] {
        let [lambda, mu] = material.lame_pa();
        let strain = f.transpose() * *f - DMat3::IDENTITY;
        let trace = |m: &DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
        let pressure = lambda * trace(&strain) + material.phi_pa_s * trace(&rate);
        let stress = DMat3::IDENTITY * pressure + strain * (2.0 * mu) + rate * (2.0 * material.psi_pa_s);
        let mut push = *f * stress * (-0.5 * self.volume_m3);
        let j = f.determinant();
        if j < LEAST_VOLUME_SHARE {
            push += cofactor(f) * (self.volume_m3 * (lambda + 2.0 * mu) * (LEAST_VOLUME_SHARE - j));
        }
        self.gradients.map(|g| push * g)
    }

    /// Elastic energy, in J.
    pub fn energy_j(&self, material: &SoftMaterial, positions: &[Vec3; 4]) -> f64 {
        let [lambda, mu] = material.lame_pa();
        let f = self.gradient(positions);
        let e = (f.transpose() * f - DMat3::IDENTITY) * 0.5;
        let trace = e.x_axis.x + e.y_axis.y + e.z_axis.z;
        let square = e.x_axis.length_squared() + e.y_axis.length_squared() + e.z_axis.length_squared();
        let short = (LEAST_VOLUME_SHARE - f.determinant()).max(0.0);
        self.volume_m3 * (0.5 * lambda * trace * trace + mu * square + 0.5 * (lambda + 2.0 * mu) * short * short)
    }
}

/// det(F) F⁻ᵀ, for any F.
fn cofactor(f: &DMat3) -> DMat3 {
    DMat3::from_cols(f.y_axis.cross(f.z_axis), f.z_axis.cross(f.x_axis), f.x_axis.cross(f.y_axis))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use eigentone_core::Noise;

    pub fn random_point(noise: &mut Noise, size: f64) -> Vec3 {
        let mut coordinate = || size * (2.0 * noise.uniform() - 1.0);
        Vec3::new(coordinate(), coordinate(), coordinate())
    }

    /// A tetrahedron with a volume worth the name.
    pub fn random_element(noise: &mut Noise) -> (Element, [Vec3; 4]) {
        loop {
            let mut rest: [Vec3; 4] = std::array::from_fn(|_| random_point(noise, 1.0));
            if Element::new(rest).volume_m3 < 0.0 {
                rest.swap(2, 3);
            }
            if Element::new(rest).volume_m3 > 0.05 {
                return (Element::new(rest), rest);
            }
        }
    }

    const RUBBER: SoftMaterial = SoftMaterial {
        young_pa: 1e6,
        poisson: 0.35,
        density_kg_m3: 1100.0,
        phi_pa_s: 70.0,
        psi_pa_s: 30.0,
        gamma_per_s: 0.0,
    };

    /// f = −∂U/∂p. Half of the elements are squeezed or turned inside out, so that the guard takes part.
    #[test]
    fn forces_are_the_slope_of_the_energy() {
        let mut noise = Noise::new(1);
        let mut guarded = 0;
        for trial in 0..40 {
            let (element, rest) = random_element(&mut noise);
            let squeeze = if trial % 2 == 0 { 1.0 } else { -0.3 + 0.6 * noise.uniform() };
            let positions = rest.map(|p| Vec3::new(p.x, p.y, squeeze * p.z) + random_point(&mut noise, 0.1));
            guarded += usize::from(element.gradient(&positions).determinant() < LEAST_VOLUME_SHARE);
            let forces = element.forces(&RUBBER, &positions, &[Vec3::ZERO; 4]);
            let largest = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
            for (corner, force) in forces.iter().enumerate() {
                for axis in 0..3 {
                    let energy = |by: f64| {
                        let mut moved = positions;
                        moved[corner][axis] += by;
                        element.energy_j(&RUBBER, &moved)
                    };
                    let slope = (energy(1e-5) - energy(-1e-5)) / 2e-5;
                    assert!((force[axis] + slope).abs() < 1e-6 * largest, "{trial}: {} {slope}", force[axis]);
                }
            }
        }
        assert!(guarded > 10, "{guarded}");
    }

    /// Neither net force nor torque, with viscosity.
    #[test]
    fn forces_balance() {
        let mut noise = Noise::new(2);
        for _ in 0..100 {
            let (element, rest) = random_element(&mut noise);
            let positions = rest.map(|p| p + random_point(&mut noise, 0.5));
            let velocities = std::array::from_fn(|_| random_point(&mut noise, 10.0));
            let forces = element.forces(&RUBBER, &positions, &velocities);
            let scale: f64 = forces.iter().map(|f| f.length()).sum();
            let torque: Vec3 = positions.iter().zip(&forces).map(|(p, f)| p.cross(*f)).sum();
            assert!(forces.iter().sum::<Vec3>().length() < 1e-10 * scale);
            assert!(torque.length() < 1e-10 * scale);
        }
    }

    /// Viscosity takes energy from every motion but a rigid one.
    #[test]
    fn viscosity_takes_energy() {
        let mut noise = Noise::new(3);
        let still = SoftMaterial { phi_pa_s: 0.0, psi_pa_s: 0.0, ..RUBBER };
        for _ in 0..100 {
            let (element, rest) = random_element(&mut noise);
            let power = |velocities: &[Vec3; 4]| -> f64 {
                let with = element.forces(&RUBBER, &rest, velocities);
                let without = element.forces(&still, &rest, velocities);
                (0..4).map(|c| (with[c] - without[c]).dot(velocities[c])).sum()
            };
            let (spin, drift) = (random_point(&mut noise, 1.0), random_point(&mut noise, 1.0));
            assert!(power(&rest.map(|p| drift + spin.cross(p))).abs() < 1e-9);
            assert!(power(&std::array::from_fn(|_| random_point(&mut noise, 1.0))) < 0.0);
        }
    }
}
