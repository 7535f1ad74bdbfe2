//! Stiffness of a facet across its plane: the discrete Kirchhoff triangle (DKT).
//!
//! Batoz, Bathe & Ho (1980), *Int. J. Numer. Meth. Eng.* 15: the slopes of the deflection are quadratic over the triangle and
//! meet Kirchhoff's assumption (no transverse shear) along the edges. With `g_s`, `g_n` the slopes along and across an edge,
//! its middle has `g_s = 3(w_j−w_i)/2l − ¼(g_s,i+g_s,j)` and the mean `g_n`. Curvatures `κ = (g_x,x; g_y,y; g_x,y+g_y,x)` are linear,
//! so that three points integrate `K = (t³/12) ∫ BᵀCB` exactly.

use super::facet::{Facet, next};
use super::membrane::Nine;

/// Curvatures over unknowns, `κ = B q`: one row per curvature.
pub type Curvatures = [[f64; 9]; 3];

/// The operators at the middles of the three edges. Unknowns: `(w, θ_x = w,y, θ_y = −w,x)` of each corner.
pub fn curvatures(facet: &Facet) -> [Curvatures; 3] {
    let slopes = slopes(facet);
    let (x, y) = (&facet.x, &facet.y);
    // Gradients of the triangle's coordinates.
    let gradient: [[f64; 2]; 3] = std::array::from_fn(|i| {
        let (j, k) = next(i);
        [(y[j] - y[k]) / (2.0 * facet.area), (x[k] - x[j]) / (2.0 * facet.area)]
    });
    [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]].map(|at| {
        let mut b = [[0.0; 9]; 3];
        for n in 0..6 {
            let d: [f64; 2] = std::array::from_fn(|axis| {
                if n < 3 {
                    (4.0 * at[n] - 1.0) * gradient[n][axis]
                } else {
                    let (i, j) = (n - 3, (n - 2) % 3);
                    4.0 * (at[i] * gradient[j][axis] + at[j] * gradient[i][axis])
                }
            });
            for q in 0..9 {
                let [g_x, g_y] = [slopes[n][0][q], slopes[n][1][q]];
                b[0][q] += d[0] * g_x;
                b[1][q] += d[1] * g_y;
                b[2][q] += d[1] * g_x + d[0] * g_y;
            }
        }
        b
    })
}

/// Slopes `w,x` and `w,y` at the corners and the middles of the edges over the nine unknowns.
fn slopes(facet: &Facet) -> [[[f64; 9]; 2]; 6] {
    let mut slopes = [[[0.0; 9]; 2]; 6];
    for i in 0..3 {
        slopes[i][0][3 * i + 2] = -1.0;
        slopes[i][1][3 * i + 1] = 1.0;
    }
    for i in 0..3 {
        let j = (i + 1) % 3;
        let (dx, dy) = (facet.x[j] - facet.x[i], facet.y[j] - facet.y[i]);
        let length = dx.hypot(dy);
        let (c, s) = (dx / length, dy / length);
        let [g_x, g_y] = &mut slopes[3 + i];
        for (corner, rise) in [(i, -1.5 / length), (j, 1.5 / length)] {
            g_x[3 * corner] += rise * c;
            g_y[3 * corner] += rise * s;
            // Slopes along (s, −c) and across (c, s) the edge over (θ_x, θ_y).
            for (r, (along, across)) in [(s, c), (-c, s)].into_iter().enumerate() {
                g_x[3 * corner + 1 + r] += -0.25 * along * c - 0.5 * across * s;
                g_y[3 * corner + 1 + r] += -0.25 * along * s + 0.5 * across * c;
            }
        }
    }
    slopes
}

/// `t³/12` times the weight of an integration point, in m⁵.
pub fn point_weight(facet: &Facet) -> f64 {
    facet.area * facet.stiff_thickness_m.powi(3) / 36.0
}

/// Stiffness of the unknowns `(w, θ_x, θ_y)` of each corner, in the facet's axes.
pub fn stiffness(facet: &Facet) -> Nine {
    let (c, weight) = (&facet.elastic.stiffness_pa, point_weight(facet));
    let mut k = [[0.0; 9]; 9];
    for b in curvatures(facet) {
        let moments: Curvatures =
            std::array::from_fn(|r| std::array::from_fn(|q| weight * (0..3).map(|s| c[r][s] * b[s][q]).sum::<f64>()));
        for (i, row) in k.iter_mut().enumerate() {
            for (j, total) in row.iter_mut().enumerate() {
                *total += b[0][i] * moments[0][j] + b[1][i] * moments[1][j] + b[2][i] * moments[2][j];
            }
        }
    }
    k
}
