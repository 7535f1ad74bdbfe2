//! Stiffness of a facet in its plane: the optimal triangle with drilling rotations (OPT).
//!
//! Felippa (2003), *A study of optimal membrane triangles with drilling freedoms*, CU-CAS-03-02: the template with α_b = 3/2 and
//! `β₀ = ½(1−4ν²)`, `K = (t/A) L C Lᵀ + ¾β₀ Tᵀ K_θ T`. The first term passes the patch test by itself; the second gives a stiffness
//! to drilling rotations other than the mean rotation, such that bending in the plane is exact at any aspect ratio.

use super::facet::{Facet, next};

/// A square matrix of nine unknowns: three per corner.
pub type Nine = [[f64; 9]; 9];

/// The share of the higher-order stiffness may not vanish: ν near ½ would leave drilling rotations free.
const LEAST_BETA: f64 = 0.01;

/// Stiffness of the unknowns `(u, v, θ)` of each corner, in the facet's axes.
pub fn stiffness(facet: &Facet) -> Nine {
    let c = &facet.elastic.stiffness_pa;
    let lumping = lumping(facet);
    let basic = facet.stiff_thickness_m / facet.area;
    let stress: [[f64; 3]; 9] =
        std::array::from_fn(|i| std::array::from_fn(|k| basic * (0..3).map(|j| lumping[i][j] * c[j][k]).sum::<f64>()));

    // ν of an orthotropic sheet, as it enters the coupling of the two normal strains.
    let poisson = c[0][1] / (c[0][0] * c[1][1]).sqrt();
    let beta = (0.5 * (1.0 - 4.0 * poisson * poisson)).max(LEAST_BETA);
    let higher = higher_order(facet);
    let drilling = drilling(facet);
    let torque: [[f64; 9]; 3] = std::array::from_fn(|r| {
        std::array::from_fn(|j| 0.75 * beta * (0..3).map(|k| higher[r][k] * drilling[k][j]).sum::<f64>())
    });
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            (0..3).map(|k| stress[i][k] * lumping[j][k] + drilling[k][i] * torque[k][j]).sum::<f64>()
        })
    })
}

/// `L`: the corner forces of a constant stress.
fn lumping(facet: &Facet) -> [[f64; 3]; 9] {
    let (x, y) = (&facet.x, &facet.y);
    let mut rows = [[0.0; 3]; 9];
    for i in 0..3 {
        let (j, k) = next(i);
        let (y_jk, x_kj) = (y[j] - y[k], x[k] - x[j]);
        let (y_ik, y_ji, x_ki, x_ij) = (y[i] - y[k], y[j] - y[i], x[k] - x[i], x[i] - x[j]);
        rows[3 * i] = [0.5 * y_jk, 0.0, 0.5 * x_kj];
        rows[3 * i + 1] = [0.0, 0.5 * x_kj, 0.5 * y_jk];
        rows[3 * i + 2] =
            [0.125 * y_jk * (y_ik - y_ji), 0.125 * x_kj * (x_ki - x_ij), 0.25 * (x_ki * y_ik - x_ij * y_ji)];
    }
    rows
}

/// `T`: corner rotations less the mean rotation of the triangle.
fn drilling(facet: &Facet) -> [[f64; 9]; 3] {
    let mut rows = [[0.0; 9]; 3];
    for i in 0..3 {
        let (j, k) = next(i);
        for row in &mut rows {
            row[3 * i] = (facet.x[k] - facet.x[j]) / (4.0 * facet.area);
            row[3 * i + 1] = (facet.y[k] - facet.y[j]) / (4.0 * facet.area);
        }
        rows[i][3 * i + 2] = 1.0;
    }
    rows
}

/// `K_θ`, integrated at the middles of the edges.
fn higher_order(facet: &Facet) -> [[f64; 3]; 3] {
    const CORNERS: [[[f64; 3]; 3]; 3] = [
        [[1.0, 2.0, 1.0], [0.0, 1.0, -1.0], [-1.0, -1.0, -2.0]],
        [[-2.0, -1.0, -1.0], [1.0, 1.0, 2.0], [-1.0, 0.0, 1.0]],
        [[1.0, -1.0, 0.0], [-1.0, -2.0, -1.0], [2.0, 1.0, 1.0]],
    ];
    let x = |i: usize, j: usize| facet.x[i - 1] - facet.x[j - 1];
    let y = |i: usize, j: usize| facet.y[i - 1] - facet.y[j - 1];
    let squares = [(2, 1), (3, 2), (1, 3)].map(|(i, j)| x(i, j).powi(2) + y(i, j).powi(2));
    // From natural strains along the edges to Cartesian ones; the squares of the lengths cancel against those in Q.
    let natural = [
        [y(2, 3) * y(1, 3), y(3, 1) * y(2, 1), y(1, 2) * y(3, 2)],
        [x(2, 3) * x(1, 3), x(3, 1) * x(2, 1), x(1, 2) * x(3, 2)],
        [
            y(2, 3) * x(3, 1) + x(3, 2) * y(1, 3),
            y(3, 1) * x(1, 2) + x(1, 3) * y(2, 1),
            y(1, 2) * x(2, 3) + x(2, 1) * y(3, 2),
        ],
    ];
    let c = &facet.elastic.stiffness_pa;
    let te: [[f64; 3]; 3] =
        std::array::from_fn(|r| std::array::from_fn(|e| natural[r][e] * squares[e] / (4.0 * facet.area * facet.area)));
    let half: [[f64; 3]; 3] =
        std::array::from_fn(|r| std::array::from_fn(|e| (0..3).map(|k| c[r][k] * te[k][e]).sum::<f64>()));
    let edge: [[f64; 3]; 3] =
        std::array::from_fn(|d| std::array::from_fn(|e| (0..3).map(|k| te[k][d] * half[k][e]).sum::<f64>()));
    let mut sum = [[0.0; 3]; 3];
    for (m, n) in [(0, 1), (1, 2), (2, 0)] {
        let q: [[f64; 3]; 3] = std::array::from_fn(|e| {
            std::array::from_fn(|k| facet.area / (3.0 * squares[e]) * (CORNERS[m][e][k] + CORNERS[n][e][k]))
        });
        let right: [[f64; 3]; 3] =
            std::array::from_fn(|d| std::array::from_fn(|k| (0..3).map(|e| edge[d][e] * q[e][k]).sum::<f64>()));
        for (i, row) in sum.iter_mut().enumerate() {
            for (k, total) in row.iter_mut().enumerate() {
                *total += facet.area * facet.stiff_thickness_m * (0..3).map(|d| q[d][i] * right[d][k]).sum::<f64>();
            }
        }
    }
    sum
}
