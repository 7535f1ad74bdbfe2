//! Finite elements of linear elasticity: `K = ∫BᵀCB dV`, `M = ∫ρ NᵀN dV`.
//!
//! Strain is `(ε_xx, ε_yy, ε_zz, γ_xy, γ_yz, γ_zx)`. For an isotropic material the 3×3 block of `K` that couples nodes `a` and `b`
//! is `λ ∇N_a ∇N_bᵀ + μ ∇N_b ∇N_aᵀ + μ (∇N_a·∇N_b) I`, which is what is computed here; no 6×n matrix is ever formed.

use crate::eigen::Block;
use eigentone_core::{Material, Vec3};

/// `∫∇N_a·C·∇N_bᵀ` integrand for one pair of nodes.
pub fn stiffness_block(material: &Material, a: Vec3, b: Vec3) -> Block {
    let (lambda, mu) = (material.lame_lambda_pa(), material.shear_pa());
    let dot = mu * a.dot(b);
    std::array::from_fn(|r| {
        std::array::from_fn(|c| lambda * a[r] * b[c] + mu * b[r] * a[c] + if r == c { dot } else { 0.0 })
    })
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
    points: Vec<HexMatrices>,
}

impl HexTables {
    /// Tables for cells with edges `size`.
    pub fn new(material: &Material, size: Vec3) -> Self {
        let points = (0..125)
            .map(|q| {
                let at = Vec3::from_array([q / 25, q / 5 % 5, q % 5].map(|k| GAUSS5[k].0));
                let (values, gradients) = hex27(at, size);
                HexMatrices {
                    stiffness: hex_pairs()
                        .map(|(a, b)| stiffness_block(material, gradients[a], gradients[b]))
                        .collect(),
                    mass: hex_pairs().map(|(a, b)| material.density_kg_m3 * values[a] * values[b]).collect(),
                }
            })
            .collect();
        Self { points }
    }

    /// Element matrices with the given weight (a volume) at each of the 125 points.
    pub fn integrate(&self, weights: &[f64; 125]) -> HexMatrices {
        let pairs = self.points[0].mass.len();
        let mut sum = HexMatrices { stiffness: vec![[[0.0; 3]; 3]; pairs], mass: vec![0.0; pairs] };
        for (point, &w) in self.points.iter().zip(weights) {
            for (s, p) in sum
                .stiffness
                .as_flattened_mut()
                .as_flattened_mut()
                .iter_mut()
                .zip(point.stiffness.as_flattened().as_flattened())
            {
                *s += w * p;
            }
            for (s, p) in sum.mass.iter_mut().zip(&point.mass) {
                *s += w * p;
            }
        }
        sum
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
        let cell = HexTables::new(&material, size).integrate(&full_weights(size));
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
}
