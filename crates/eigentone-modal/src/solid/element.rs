//! Finite elements of linear elasticity: `K = ∫BᵀCB dV`, `M = ∫ρ NᵀN dV`.
//!
//! Strain is `(ε_xx, ε_yy, ε_zz, γ_yz, γ_zx, γ_xy)` (Voigt's order). The 3×3 block of `K` that couples nodes `a` and `b` is
//! `B_aᵀ C B_b`, with the gradient of a shape function in the 6×3 matrix `B`.

use crate::eigen::Block;
use eigentone_core::{Material, Vec3};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use glam::DMat3;

/// What an elastic solid is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elasticity {
    /// Stress per strain in pascals, in Voigt's order `xx, yy, zz, yz, zx, xy` with `γ = 2ε`.
    pub stiffness_pa: [[f64; 6]; 6],
    /// Density in kg/m³.
    pub density_kg_m3: f64,
}

/// The two axes of each of Voigt's indices.
const VOIGT: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [1, 2], [2, 0], [0, 1]];

/// Voigt's index of two axes.
fn voigt(i: usize, j: usize) -> usize {
    if i == j { i } else { 6 - i - j }
}

impl Elasticity {
    /// The same in all directions.
    pub fn isotropic(material: &Material) -> Self {
        let (lambda, mu) = (material.lame_lambda_pa(), material.shear_pa());
        let stiffness_pa = std::array::from_fn(|i| {
            std::array::from_fn(|j| match (i < 3 && j < 3, i == j) {
                (true, true) => lambda + 2.0 * mu,
                (true, false) => lambda,
                (false, same) => mu * f64::from(u8::from(same)),
            })
        });
        Self { stiffness_pa, density_kg_m3: material.density_kg_m3 }
    }

    /// The same solid along the axes of a frame, given by its columns: `c'_ijkl = R_pi R_qj R_rk R_sl c_pqrs`.
    pub fn in_frame(&self, axes: DMat3) -> Self {
        let r = |world: usize, own: usize| axes.col(own)[world];
        // The 6×6 matrix that turns strains of the frame into those of the world; its transpose turns stresses back.
        let turn: [[f64; 6]; 6] = std::array::from_fn(|p| {
            let [i, j] = VOIGT[p];
            std::array::from_fn(|q| {
                let [k, l] = VOIGT[q];
                let product = r(i, k) * r(j, l);
                match (i == j, k == l) {
                    (true, _) => product,
                    (false, true) => 2.0 * product,
                    (false, false) => product + r(i, l) * r(j, k),
                }
            })
        });
        let mut stiffness_pa = [[0.0; 6]; 6];
        for (i, row) in stiffness_pa.iter_mut().enumerate() {
            for (j, x) in row.iter_mut().enumerate() {
                for p in 0..6 {
                    *x += (0..6).map(|q| turn[p][i] * self.stiffness_pa[p][q] * turn[q][j]).sum::<f64>();
                }
            }
        }
        Self { stiffness_pa, ..*self }
    }

    /// Slowest and fastest plane waves along the axes, in m/s: square roots of the smallest shear and largest normal stiffness
    /// over density.
    pub fn wave_speeds_m_s(&self) -> [f64; 2] {
        let c = &self.stiffness_pa;
        let shear = c[3][3].min(c[4][4]).min(c[5][5]);
        let normal = c[0][0].max(c[1][1]).max(c[2][2]);
        [shear, normal].map(|x| (x / self.density_kg_m3).max(0.0).sqrt())
    }

    /// `∇N_a·C·∇N_bᵀ`: the integrand of the stiffness of one pair of nodes.
    pub fn block(&self, a: Vec3, b: Vec3) -> Block {
        let mut block = [[0.0; 3]; 3];
        for (i, row) in block.iter_mut().enumerate() {
            for (k, x) in row.iter_mut().enumerate() {
                for j in 0..3 {
                    let stress = &self.stiffness_pa[voigt(i, j)];
                    *x += a[j] * (0..3).map(|l| stress[voigt(k, l)] * b[l]).sum::<f64>();
                }
            }
        }
        block
    }
}

/// Abscissas and weights of Gauss–Legendre quadrature on `[−1, 1]`, five points: exact to degree nine.
pub const GAUSS5: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];

/// Values and derivatives at `x ∈ [−1, 1]` of the three quadratic Lagrange polynomials with nodes −1, 0, 1.
pub fn quadratic(x: f64) -> ([f64; 3], [f64; 3]) {
    ([0.5 * x * (x - 1.0), 1.0 - x * x, 0.5 * x * (x + 1.0)], [x - 0.5, -2.0 * x, x + 0.5])
}

/// Number of nodes of the hexahedron.
pub const HEX_NODES: usize = 27;

/// Place of node `n` in the 3×3×3 lattice of a hexahedron.
pub fn hex_node(n: usize) -> [usize; 3] {
    [n / 9, n / 3 % 3, n % 3]
}

/// Shape functions of the 27-node hexahedron with edges `size` at local coordinates in `[−1, 1]³`, and their gradients.
pub fn hex27(at: Vec3, size: Vec3) -> ([f64; HEX_NODES], [Vec3; HEX_NODES]) {
    let [x, y, z] = [at.x, at.y, at.z].map(quadratic);
    let mut values = [0.0; HEX_NODES];
    let mut gradients = [Vec3::ZERO; HEX_NODES];
    for n in 0..HEX_NODES {
        let [i, j, k] = hex_node(n);
        values[n] = x.0[i] * y.0[j] * z.0[k];
        gradients[n] =
            Vec3::new(x.1[i] * y.0[j] * z.0[k], x.0[i] * y.1[j] * z.0[k], x.0[i] * y.0[j] * z.1[k]) * 2.0 / size;
    }
    (values, gradients)
}

/// Element matrices of a hexahedron: for nodes `a ≤ b` (in this order, row by row) the stiffness block and the mass.
#[derive(Clone)]
pub struct HexMatrices {
    /// `K_ab`.
    pub stiffness: Vec<Block>,
    /// `M_ab`.
    pub mass: Vec<f64>,
}

/// The pairs `a ≤ b` of a hexahedron's nodes in the order of [`HexMatrices`].
pub fn hex_pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..HEX_NODES).flat_map(|a| (a..HEX_NODES).map(move |b| (a, b)))
}

/// Integrands of the element matrices at the 5×5×5 Gauss points, computed once per cell size.
///
/// Products of the shape functions and their derivatives are polynomials of degree four at most in each coordinate, so a
/// rule that integrates those exactly over the filled part of a cell (moment fitting) integrates the matrices exactly.
pub struct HexTables {
    /// A column per Gauss point: the stiffness blocks of all pairs, row by row, then the masses.
    points: Mat<f64>,
}

/// Pairs of nodes, with themselves too.
const PAIRS: usize = HEX_NODES * (HEX_NODES + 1) / 2;

impl HexTables {
    /// Tables for cells with edges `size`.
    pub fn new(elasticity: &Elasticity, size: Vec3) -> Self {
        let mut points = Mat::zeros(10 * PAIRS, 125);
        for q in 0..125 {
            let at = Vec3::from_array([q / 25, q / 5 % 5, q % 5].map(|k| GAUSS5[k].0));
            let (values, gradients) = hex27(at, size);
            for (p, (a, b)) in hex_pairs().enumerate() {
                let block = elasticity.block(gradients[a], gradients[b]);
                block.as_flattened().iter().enumerate().for_each(|(k, &x)| points[(9 * p + k, q)] = x);
                points[(9 * PAIRS + p, q)] = elasticity.density_kg_m3 * values[a] * values[b];
            }
        }
        Self { points }
    }

    /// Element matrices with the given weight (a volume) at each of the 125 points.
    pub fn integrate(&self, weights: &[f64; 125]) -> HexMatrices {
        self.integrate_many(&[weights]).remove(0)
    }

    /// The same for many cells at once, as one product of matrices.
    pub fn integrate_many(&self, weights: &[&[f64; 125]]) -> Vec<HexMatrices> {
        let weights = Mat::from_fn(125, weights.len(), |q, c| weights[c][q]);
        let mut sums = Mat::<f64>::zeros(10 * PAIRS, weights.ncols());
        matmul(sums.as_mut(), Accum::Replace, self.points.as_ref(), weights.as_ref(), 1.0, Par::Seq);
        let block = |c: usize, p: usize| std::array::from_fn(|r| std::array::from_fn(|k| sums[(9 * p + 3 * r + k, c)]));
        (0..weights.ncols())
            .map(|c| HexMatrices {
                stiffness: (0..PAIRS).map(|p| block(c, p)).collect(),
                mass: (0..PAIRS).map(|p| sums[(9 * PAIRS + p, c)]).collect(),
            })
            .collect()
    }
}

/// Gauss weights of a whole cell with edges `size`.
pub fn full_weights(size: Vec3) -> [f64; 125] {
    let volume = size.element_product() / 8.0;
    std::array::from_fn(|q| volume * GAUSS5[q / 25].1 * GAUSS5[q / 5 % 5].1 * GAUSS5[q % 5].1)
}

/// Integrals over `[low, high] ⊂ [−1, 1]` of the five Lagrange polynomials through the Gauss points: the weights with which
/// values at those points integrate any polynomial of degree four over that part exactly.
pub fn partial_weights(low: f64, high: f64) -> [f64; 5] {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    // Three Gauss points are exact to degree five.
    const G3: [(f64, f64); 3] =
        [(-0.774_596_669_241_483_4, 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.774_596_669_241_483_4, 5.0 / 9.0)];
    let mut weights = [0.0; 5];
    for (g, w) in G3 {
        let x = middle + half * g;
        for (k, weight) in weights.iter_mut().enumerate() {
            let others = (0..5).filter(|&j| j != k);
            *weight += half * w * others.map(|j| (x - GAUSS5[j].0) / (GAUSS5[k].0 - GAUSS5[j].0)).product::<f64>();
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::MaterialTable;

    #[test]
    fn partial_weights_integrate_degree_four_exactly() {
        let w = partial_weights(-0.3, 0.85);
        for degree in 0..5 {
            let got: f64 = (0..5).map(|k| w[k] * GAUSS5[k].0.powi(degree)).sum();
            let truth = (0.85f64.powi(degree + 1) - (-0.3f64).powi(degree + 1)) / f64::from(degree + 1);
            assert!((got - truth).abs() < 1e-14, "degree {degree}: {got} {truth}");
        }
    }

    /// `∫ρ dV` is the mass, rigid motions cost nothing, and a uniform strain costs `½ E ε² V` under uniaxial stress.
    #[test]
    fn a_hexahedron_has_its_mass_and_its_energy() {
        let material = MaterialTable::builtin().get("steel").unwrap().clone();
        let size = Vec3::new(0.01, 0.02, 0.015);
        let cell = HexTables::new(&Elasticity::isotropic(&material), size).integrate(&full_weights(size));
        let total: f64 = hex_pairs().zip(&cell.mass).map(|((a, b), m)| if a == b { *m } else { 2.0 * m }).sum();
        assert!((total / (material.density_kg_m3 * size.element_product()) - 1.0).abs() < 1e-12);

        let energy = |u: &dyn Fn(Vec3) -> Vec3| -> f64 {
            let at = |n: usize| u((Vec3::from_array(hex_node(n).map(|i| i as f64)) / 2.0) * size);
            hex_pairs()
                .zip(&cell.stiffness)
                .map(|((a, b), k)| {
                    let (ua, ub) = (at(a), at(b));
                    let kub = Vec3::from_array(k.map(|row| Vec3::from_array(row).dot(ub)));
                    ua.dot(kub) * if a == b { 0.5 } else { 1.0 }
                })
                .sum()
        };
        let strain = 1e-3;
        let nu = material.poisson;
        let uniaxial = energy(&|p| strain * Vec3::new(p.x, -nu * p.y, -nu * p.z));
        let truth = 0.5 * material.young_pa * strain * strain * size.element_product();
        assert!((uniaxial / truth - 1.0).abs() < 1e-9);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            // A unit displacement of a single node would cost about E times the size of the cell.
            assert!(energy(&|p| axis.cross(p) + axis).abs() < 1e-12 * material.young_pa * size.x);
        }
    }

    /// Turning an isotropic solid changes nothing; turning an orthotropic one by 90° swaps its axes, and back restores it.
    #[test]
    fn elasticity_turns_like_a_tensor() {
        let steel = Elasticity::isotropic(MaterialTable::builtin().get("steel").unwrap());
        let near = |a: &Elasticity, b: &Elasticity| {
            let largest = a.stiffness_pa[0][0].max(a.stiffness_pa[1][1]);
            let pairs = a.stiffness_pa.as_flattened().iter().zip(b.stiffness_pa.as_flattened());
            pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) < 1e-12 * largest
        };
        let skew = DMat3::from_quat(glam::DQuat::from_scaled_axis(Vec3::new(0.3, -1.1, 0.7)));
        assert!(near(&steel, &steel.in_frame(skew)));
        let mut wood = steel;
        wood.stiffness_pa[0][0] *= 9.0;
        wood.stiffness_pa[3][3] *= 0.1;
        assert!(near(&wood, &wood.in_frame(skew).in_frame(skew.transpose())));
        let quarter = wood.in_frame(DMat3::from_rotation_z(std::f64::consts::FRAC_PI_2));
        assert!((quarter.stiffness_pa[1][1] / wood.stiffness_pa[0][0] - 1.0).abs() < 1e-12);
        assert!((quarter.stiffness_pa[4][4] / wood.stiffness_pa[3][3] - 1.0).abs() < 1e-12);
    }
}
