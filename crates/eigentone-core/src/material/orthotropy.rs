//! Materials with a grain: nine elastic constants along three axes, and their rotation into a body.
//!
//! Wood is stiff along the grain (L), soft across the annual rings (R, radial) and softer still along them (T, tangential).
//! The compliance in these axes is (Wood Handbook, chapter 5)
//!
//! ```text
//! S = [1/E_L  −ν_LR/E_L  −ν_LT/E_L; ·  1/E_R  −ν_RT/E_R; ·  ·  1/E_T],   and 1/G_RT, 1/G_LT, 1/G_LR
//! ```
//!
//! in Voigt's order `xx yy zz yz xz xy` with engineering shear strains. A thin wall is in plane stress: with `S` rotated into
//! the wall's own axes, its stiffness is the inverse of the rows and columns `xx yy xy`. For a wall that holds two of the axes
//! this is the textbook `C₁₁ = E₁/d, C₂₂ = E₂/d, C₁₂ = ν₁₂E₂/d, C₆₆ = G₁₂, d = 1 − ν₁₂²E₂/E₁`; for any other wall it is that
//! of a piece cut from the block at this angle.

use super::{Material, MaterialError};
use crate::Vec3;
use serde::{Deserialize, Serialize};

/// The nine elastic constants of a material with three planes of symmetry. Letters: L along the grain, R radial, T tangential.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orthotropy {
    /// Young's modulus along the grain, in Pa.
    pub young_l_pa: f64,
    /// Radial Young's modulus, in Pa.
    pub young_r_pa: f64,
    /// Tangential Young's modulus, in Pa.
    pub young_t_pa: f64,
    /// Shear modulus in the plane of grain and radius, in Pa.
    pub shear_lr_pa: f64,
    /// Shear modulus in the plane of grain and tangent, in Pa.
    pub shear_lt_pa: f64,
    /// Shear modulus across the grain ("rolling shear"), in Pa.
    pub shear_rt_pa: f64,
    /// Radial contraction over stretch along the grain.
    pub poisson_lr: f64,
    /// Tangential contraction over stretch along the grain.
    pub poisson_lt: f64,
    /// Tangential contraction over radial stretch.
    pub poisson_rt: f64,
}

/// How a body was cut from its block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grain {
    /// Direction of the grain (L).
    pub along: Vec3,
    /// Direction from the heart of the tree outward (R); only its part across the grain counts.
    pub radial: Vec3,
}

impl Default for Grain {
    /// Grain along x, radius along y: a board in the plane of x and y is quarter-sawn, as sound boards are.
    fn default() -> Self {
        Self { along: Vec3::X, radial: Vec3::Y }
    }
}

impl Grain {
    /// The directions L, R and T as an orthonormal right-handed frame. Directions that are zero, not finite or parallel are
    /// replaced by some that are not.
    pub fn axes(&self) -> [Vec3; 3] {
        let along = self.along.try_normalize().unwrap_or(Vec3::X);
        let across = self.radial - along * self.radial.dot(along);
        // A radius that is the grain up to rounding has no direction across it.
        let clear = across.length_squared() > 1e-12 * self.radial.length_squared();
        let radial = across.try_normalize().filter(|_| clear).unwrap_or_else(|| along.any_orthonormal_vector());
        [along, radial, along.cross(radial)]
    }
}

/// Elasticity of a thin wall in its own axes 1, 2 (in the wall) and 3 (across it).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneStress {
    /// Stress over strain in the wall, in Pa: 11, 22 and engineering shear 12.
    pub stiffness_pa: [[f64; 3]; 3],
    /// Transverse shear moduli 13 and 23, in Pa.
    pub shear_pa: [f64; 2],
}

/// Index pairs of Voigt's order.
const PAIRS: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [1, 2], [0, 2], [0, 1]];

impl Orthotropy {
    /// The constants of a material that ships with the engine; `None` for those without grain.
    pub(super) fn builtin(name: &str) -> Option<Self> {
        // Sitka spruce: ratios to E_L of the Wood Handbook, table 5–1 and 5–2.
        const SPRUCE_L: f64 = 11e9;
        match name {
            "spruce" => Some(Self {
                young_l_pa: SPRUCE_L,
                young_r_pa: 0.078 * SPRUCE_L,
                young_t_pa: 0.043 * SPRUCE_L,
                shear_lr_pa: 0.064 * SPRUCE_L,
                shear_lt_pa: 0.061 * SPRUCE_L,
                shear_rt_pa: 0.003 * SPRUCE_L,
                poisson_lr: 0.372,
                poisson_lt: 0.467,
                poisson_rt: 0.435,
            }),
            // E_L inside the 17–26 GPa reported for Dalbergia (Brémaud); the others are typical of dense hardwoods.
            "rosewood" => Some(Self {
                young_l_pa: 20e9,
                young_r_pa: 2.6e9,
                young_t_pa: 1.4e9,
                shear_lr_pa: 2.2e9,
                shear_lt_pa: 1.6e9,
                shear_rt_pa: 0.5e9,
                poisson_lr: 0.36,
                poisson_lt: 0.45,
                poisson_rt: 0.55,
            }),
            _ => None,
        }
    }

    /// The same material with all moduli multiplied.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            young_l_pa: factor * self.young_l_pa,
            young_r_pa: factor * self.young_r_pa,
            young_t_pa: factor * self.young_t_pa,
            shear_lr_pa: factor * self.shear_lr_pa,
            shear_lt_pa: factor * self.shear_lt_pa,
            shear_rt_pa: factor * self.shear_rt_pa,
            ..*self
        }
    }

    /// Strain over stress in the axes L, R, T, in 1/Pa, in Voigt's order.
    pub fn compliance_voigt(&self) -> [[f64; 6]; 6] {
        let mut s = [[0.0; 6]; 6];
        let [lr, lt] = [self.poisson_lr, self.poisson_lt].map(|nu| -nu / self.young_l_pa);
        let rt = -self.poisson_rt / self.young_r_pa;
        s[0][..3].copy_from_slice(&[1.0 / self.young_l_pa, lr, lt]);
        s[1][..3].copy_from_slice(&[lr, 1.0 / self.young_r_pa, rt]);
        s[2][..3].copy_from_slice(&[lt, rt, 1.0 / self.young_t_pa]);
        for (k, g) in [self.shear_rt_pa, self.shear_lt_pa, self.shear_lr_pa].into_iter().enumerate() {
            s[3 + k][3 + k] = 1.0 / g;
        }
        s
    }

    /// Stress over strain in the axes L, R, T, in Pa, in Voigt's order.
    pub fn stiffness_voigt(&self) -> [[f64; 6]; 6] {
        let s = self.compliance_voigt();
        let normal = inverse3([0, 1, 2].map(|r| [s[r][0], s[r][1], s[r][2]]));
        let mut c = [[0.0; 6]; 6];
        for (row, values) in c.iter_mut().zip(normal) {
            row[..3].copy_from_slice(&values);
        }
        (3..6).for_each(|k| c[k][k] = 1.0 / s[k][k]);
        c
    }

    /// Checks that deforming the material in any way costs energy.
    ///
    /// # Errors
    /// Names the first constant that makes it impossible.
    pub(super) fn validate(&self, name: &str) -> Result<(), MaterialError> {
        let fail = |property, value, expected| {
            Err(MaterialError::Impossible { name: name.to_owned(), property, value, expected })
        };
        let moduli = [
            ("young_l_pa", self.young_l_pa),
            ("young_r_pa", self.young_r_pa),
            ("young_t_pa", self.young_t_pa),
            ("shear_lr_pa", self.shear_lr_pa),
            ("shear_lt_pa", self.shear_lt_pa),
            ("shear_rt_pa", self.shear_rt_pa),
        ];
        if let Some(&(what, value)) = moduli.iter().find(|(_, v)| !(*v > 0.0 && *v <= 1e13)) {
            return fail(what, value, "between 0 and 1e13 Pa");
        }
        // S scaled to a unit diagonal; it is positive definite if its leading minors are.
        let lr = self.poisson_lr * (self.young_r_pa / self.young_l_pa).sqrt();
        let lt = self.poisson_lt * (self.young_t_pa / self.young_l_pa).sqrt();
        let rt = self.poisson_rt * (self.young_t_pa / self.young_r_pa).sqrt();
        let pairs = [("poisson_lr", self.poisson_lr, lr), ("poisson_lt", self.poisson_lt, lt)];
        for (what, value, scaled) in pairs.into_iter().chain([("poisson_rt", self.poisson_rt, rt)]) {
            if scaled.is_nan() || scaled.abs() >= 1.0 {
                return fail(what, value, "smaller than the root of the ratio of the two Young's moduli");
            }
        }
        let determinant = 1.0 - lr * lr - lt * lt - rt * rt - 2.0 * lr * lt * rt;
        if determinant > 1e-6 {
            Ok(())
        } else {
            fail("poisson_rt", self.poisson_rt, "such that the three Poisson's ratios leave the stiffness positive")
        }
    }
}

impl Material {
    /// Stress over strain in the material's axes L, R, T, in Pa, in Voigt's order `xx yy zz yz xz xy` with engineering shear.
    pub fn stiffness_voigt(&self) -> [[f64; 6]; 6] {
        if let Some(wood) = &self.orthotropy {
            return wood.stiffness_voigt();
        }
        let (lambda, mu) = (self.lame_lambda_pa(), self.shear_pa());
        let mut c = [[0.0; 6]; 6];
        for r in 0..3 {
            c[r][..3].fill(lambda);
            c[r][r] += 2.0 * mu;
            c[3 + r][3 + r] = mu;
        }
        c
    }

    /// Elasticity of a thin wall with the given orthonormal axes (two in the wall, the third across it).
    pub fn plane_stress(&self, wall: &[Vec3; 3], grain: &Grain) -> PlaneStress {
        let Some(wood) = &self.orthotropy else {
            let c11 = self.young_pa / (1.0 - self.poisson * self.poisson);
            let (c12, g) = (self.poisson * c11, self.shear_pa());
            return PlaneStress { stiffness_pa: [[c11, c12, 0.0], [c12, c11, 0.0], [0.0, 0.0, g]], shear_pa: [g, g] };
        };
        let axes = grain.axes();
        let local = axes.map(|a| Vec3::from_array(wall.map(|w| w.dot(a))));
        let s = rotate_compliance(&wood.compliance_voigt(), &local);
        let plane = [0, 1, 5];
        let stiffness_pa = inverse3(plane.map(|r| plane.map(|c| s[r][c])));
        PlaneStress { stiffness_pa, shear_pa: [1.0 / s[4][4], 1.0 / s[3][3]] }
    }
}

/// A stiffness in Voigt's order from the orthonormal frame `axes` into the frame in which these axes are given:
/// `C′_ijkl = R_ip R_jq R_kr R_ls C_pqrs`, where column `p` of R is `axes[p]`.
pub fn rotate_voigt(stiffness: &[[f64; 6]; 6], axes: &[Vec3; 3]) -> [[f64; 6]; 6] {
    let bond = |p: usize, q: usize| {
        let ([i, j], [k, l]) = (PAIRS[p], PAIRS[q]);
        let straight = axes[k][i] * axes[l][j];
        if k == l { straight } else { straight + axes[l][i] * axes[k][j] }
    };
    congruence(stiffness, bond)
}

/// The same for a compliance, whose shear strains count twice.
fn rotate_compliance(compliance: &[[f64; 6]; 6], axes: &[Vec3; 3]) -> [[f64; 6]; 6] {
    let bond = |p: usize, q: usize| {
        let ([i, j], [k, l]) = (PAIRS[p], PAIRS[q]);
        let (straight, crossed) = (axes[k][i] * axes[l][j], axes[l][i] * axes[k][j]);
        if i == j { straight } else { straight + crossed }
    };
    congruence(compliance, bond)
}

/// `N A Nᵀ` with `N` given by its entries.
fn congruence(a: &[[f64; 6]; 6], entry: impl Fn(usize, usize) -> f64) -> [[f64; 6]; 6] {
    let n: [[f64; 6]; 6] = std::array::from_fn(|p| std::array::from_fn(|q| entry(p, q)));
    let half: [[f64; 6]; 6] =
        std::array::from_fn(|p| std::array::from_fn(|q| (0..6).map(|k| n[p][k] * a[k][q]).sum::<f64>()));
    std::array::from_fn(|p| std::array::from_fn(|q| (0..6).map(|k| half[p][k] * n[q][k]).sum::<f64>()))
}

/// Inverse of a 3×3 matrix by cofactors.
fn inverse3(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let cofactor = |r: usize, c: usize| {
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
    };
    let determinant: f64 = (0..3).map(|c| m[0][c] * cofactor(0, c)).sum();
    std::array::from_fn(|r| std::array::from_fn(|c| cofactor(c, r) / determinant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MaterialTable;
    use glam::{DMat3, DQuat};

    fn spruce() -> Material {
        MaterialTable::builtin().get("spruce").unwrap().clone()
    }

    fn turned(by: Vec3) -> [Vec3; 3] {
        let m = DMat3::from_quat(DQuat::from_scaled_axis(by));
        [m.x_axis, m.y_axis, m.z_axis]
    }

    fn close(a: &[[f64; 6]; 6], b: &[[f64; 6]; 6], tolerance: f64) -> bool {
        let scale = a.iter().flatten().fold(0.0, |m: f64, v| m.max(v.abs()));
        a.iter().flatten().zip(b.iter().flatten()).all(|(x, y)| (x - y).abs() < tolerance * scale)
    }

    /// C S = 1, for wood and for an isotropic material written as orthotropic.
    #[test]
    fn the_stiffness_is_the_inverse_of_the_compliance() {
        let wood = spruce().orthotropy.unwrap();
        let (c, s) = (wood.stiffness_voigt(), wood.compliance_voigt());
        for (r, row) in c.iter().enumerate() {
            let product: [f64; 6] = std::array::from_fn(|k| row.iter().zip(&s).map(|(c, s)| c * s[k]).sum());
            let identity = product.iter().enumerate().all(|(k, v)| (v - f64::from(u8::from(r == k))).abs() < 1e-12);
            assert!(identity, "row {r}: {product:?}");
        }
    }

    /// E, ν, G = E/2(1+ν) in all directions is the isotropic material, and turning it changes nothing.
    #[test]
    fn equal_constants_are_isotropic() {
        let steel = MaterialTable::builtin().get("steel").unwrap().clone();
        let (e, nu, g) = (steel.young_pa, steel.poisson, steel.shear_pa());
        let same = Orthotropy {
            young_l_pa: e,
            young_r_pa: e,
            young_t_pa: e,
            shear_lr_pa: g,
            shear_lt_pa: g,
            shear_rt_pa: g,
            poisson_lr: nu,
            poisson_lt: nu,
            poisson_rt: nu,
        };
        let c = steel.stiffness_voigt();
        assert!(close(&c, &same.stiffness_voigt(), 1e-12));
        let axes = turned(Vec3::new(0.4, -1.2, 0.3));
        assert!(close(&c, &rotate_voigt(&c, &axes), 1e-12));
        let wrapped = Material { orthotropy: Some(same), ..steel.clone() };
        let (a, b) = (steel.plane_stress(&axes, &Grain::default()), wrapped.plane_stress(&axes, &Grain::default()));
        for (x, y) in a.stiffness_pa.as_flattened().iter().zip(b.stiffness_pa.as_flattened()) {
            assert!((x - y).abs() < 1e-12 * e);
        }
        assert!((a.shear_pa[0] / b.shear_pa[1] - 1.0).abs() < 1e-12);
    }

    /// `½ ε:C:ε` does not depend on the frame in which strain and stiffness are written.
    #[test]
    fn turning_keeps_the_energy_of_a_strain() {
        let c = spruce().stiffness_voigt();
        let axes = turned(Vec3::new(-0.7, 0.5, 1.9));
        let strain = [[0.3, -0.2, 0.5], [-0.2, 0.1, 0.7], [0.5, 0.7, -0.4]];
        let world = DMat3::from_cols_array_2d(&strain);
        let r = DMat3::from_cols(axes[0], axes[1], axes[2]);
        let local = r.transpose() * world * r;
        let energy = |c: &[[f64; 6]; 6], e: DMat3| {
            let e = e.to_cols_array_2d();
            let v = [e[0][0], e[1][1], e[2][2], 2.0 * e[1][2], 2.0 * e[0][2], 2.0 * e[0][1]];
            (0..6).map(|i| (0..6).map(|j| v[i] * c[i][j] * v[j]).sum::<f64>()).sum::<f64>()
        };
        let (there, here) = (energy(&c, local), energy(&rotate_voigt(&c, &axes), world));
        assert!((there / here - 1.0).abs() < 1e-12);
    }

    /// A board along grain and radius: C₁₁ = E₁/d, C₂₂ = E₂/d, C₁₂ = ν₁₂E₂/d, C₆₆ = G₁₂. Turned on its side it shows R's place
    /// to T.
    #[test]
    fn a_board_along_the_grain_has_the_textbook_plane_stress() {
        let (material, grain) = (spruce(), Grain::default());
        let wood = material.orthotropy.unwrap();
        let walls = [[Vec3::X, Vec3::Y, Vec3::Z], [Vec3::X, Vec3::NEG_Z, Vec3::Y]];
        let constants = [
            (wood.young_r_pa, wood.poisson_lr, wood.shear_lr_pa, [wood.shear_lt_pa, wood.shear_rt_pa]),
            (wood.young_t_pa, wood.poisson_lt, wood.shear_lt_pa, [wood.shear_lr_pa, wood.shear_rt_pa]),
        ];
        for (wall, (e2, nu, g, through)) in walls.iter().zip(constants) {
            let d = 1.0 - nu * nu * e2 / wood.young_l_pa;
            let truth = [[wood.young_l_pa / d, nu * e2 / d, 0.0], [nu * e2 / d, e2 / d, 0.0], [0.0, 0.0, g]];
            let found = material.plane_stress(wall, &grain);
            for (x, y) in found.stiffness_pa.as_flattened().iter().zip(truth.as_flattened()) {
                assert!((x - y).abs() < 1e-12 * wood.young_l_pa, "{x} {y}");
            }
            for (x, y) in found.shear_pa.iter().zip(through) {
                assert!((x / y - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn impossible_constants_are_named() {
        let mut wood = spruce();
        let good = wood.orthotropy.unwrap();
        wood.orthotropy = Some(Orthotropy { poisson_rt: 1.6, ..good });
        assert!(wood.validate().unwrap_err().to_string().contains("poisson_rt is 1.6"));
        wood.orthotropy = Some(Orthotropy { shear_rt_pa: 0.0, ..good });
        assert!(wood.validate().unwrap_err().to_string().contains("shear_rt_pa is 0"));
        wood.orthotropy = Some(Orthotropy { young_r_pa: f64::NAN, ..good });
        assert!(wood.validate().is_err());
        wood.orthotropy = Some(Orthotropy { poisson_lr: 3.0, poisson_lt: 3.0, poisson_rt: 0.9, ..good });
        assert!(wood.validate().is_err());
    }

    /// Whatever the directions given, the axes are orthonormal and right-handed.
    #[test]
    fn grain_axes_are_always_a_frame() {
        let odd = [Vec3::ZERO, Vec3::NAN, Vec3::X, Vec3::new(1e-200, 0.0, 0.0), Vec3::new(1.0, 1e-9, 0.0), Vec3::Z];
        for along in odd {
            for radial in odd {
                let [l, r, t] = Grain { along, radial }.axes();
                assert!((l.cross(r).dot(t) - 1.0).abs() < 1e-9 && l.dot(r).abs() < 1e-9, "{along} {radial}");
            }
        }
    }
}
