//! Free rectangular plates by Ritz's method: no closed form is known.
//!
//! Bending energy `½D ∬ w_xx² + w_yy² + 2ν w_xx w_yy + 2(1−ν) w_xy²` is made stationary at fixed kinetic energy over products of
//! Legendre polynomials, which need no boundary condition: free edges are natural (Leissa 1973, *J. Sound Vib.* 31). With
//! orthonormal polynomials `p_n` the mass is the identity and `p_n′ = Σ √((2n+1)(2k+1)) p_k` over `k = n−1, n−3, …`
//! gives every integral exactly. Modes are even or odd in x and in y: four problems of a quarter the size.
//!
//! Stiffness entries grow like the eighth power of the degree, so that diagonalising `K` would drown the lowest modes in
//! rounding. Instead `(K + 1)⁻¹` is diagonalised, whose largest eigenvalues are the lowest modes. A mode counts as
//! converged if the last term per direction and parity did not move it; others are dropped.

use super::assemble::{Partial, Wanted};
use faer::{
    Accum, Mat, Par,
    diag::Diag,
    dyn_stack::{MemBuffer, MemStack},
    linalg::{cholesky::llt, evd, matmul::matmul, triangular_inverse::invert_lower_triangular},
};
use std::f64::consts::TAU;

/// Terms beyond the half-waves of the highest mode: from there on the error falls by decades per term.
const SPARE_TERMS: usize = 14;
/// Largest of the four problems: about a second of dense algebra each.
const MAX_UNKNOWNS: usize = 1600;
/// A mode whose eigenvalue moves by less than this share (half of it in frequency) is converged.
const CONVERGED: f64 = 1e-5;

/// The lowest frequencies in Hz of a free rectangular plate of sides `a`, `b` in m, bending stiffness `bending_n_m`, mass per
/// area `areal_mass` in kg/m² and Poisson's ratio `poisson`, without the three rigid motions. Empty if a value is impossible.
///
/// ```
/// use eigentone_modal::analytic::ritz_free_plate;
/// // Leissa's square plate: ω a² √(ρh/D) = 13.468, 19.596, 24.270 for ν = 0.3
/// let hz = ritz_free_plate(1.0, 1.0, 1.0, 1.0, 0.3, 3);
/// assert!((hz[0] * std::f64::consts::TAU - 13.468).abs() < 1e-3);
/// ```
pub fn ritz_free_plate(a: f64, b: f64, bending_n_m: f64, areal_mass: f64, poisson: f64, count: usize) -> Vec<f64> {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    if ![a, b, bending_n_m, areal_mass].into_iter().all(positive) || poisson.abs() >= 1.0 || poisson.is_nan() {
        return Vec::new();
    }
    let wanted = Wanted { low_hz: 0.0, high_hz: f64::INFINITY, max_modes: count };
    let (found, _) = partials([a, b], areal_mass, bending_n_m / areal_mass, poisson, wanted);
    let mut hz: Vec<f64> = found.iter().map(|p| p.frequency_hz).collect();
    hz.sort_by(f64::total_cmp);
    hz.truncate(count);
    hz
}

pub(super) fn partials(
    sides: [f64; 2],
    areal_mass: f64,
    stiffness_per_mass: f64,
    poisson: f64,
    wanted: Wanted,
) -> (Vec<Partial>, Vec<String>) {
    let [a, b] = sides;
    let reach = wanted.plate_wavenumber(a * b, 2.0 * (a + b), stiffness_per_mass, 0.0);
    // Terms per direction and parity.
    let mut terms = sides.map(|side| ((0.5 * reach * side) as usize + SPARE_TERMS) / 2 + 1);
    terms = terms.map(|t| t.min(MAX_UNKNOWNS));
    while terms[0] * terms[1] > MAX_UNKNOWNS {
        let longer = usize::from(terms[1] > terms[0]);
        terms[longer] -= terms[longer].div_ceil(50);
    }
    // Eigenvalues are in units of (2/a · 2/b)²; the lowest mode is sought even if it lies beyond the band.
    let unit = 16.0 / (a * b).powi(2);
    let (mut found, mut dropped) = (Vec::new(), 0);
    for parity in [[0, 0], [1, 0], [0, 1], [1, 1]] {
        let plate = Problem { parity, terms, aspect: b / a, poisson };
        let rigid = usize::from(parity != [1, 1]);
        let (values, vectors) = plate.solve();
        let coarse = plate.coarser().solve_values();
        for k in rigid..values.len() {
            let wavenumber = (values[k] * unit).sqrt().sqrt();
            if wavenumber > reach && k > rigid {
                break;
            }
            if coarse.get(k).is_none_or(|c| c / values[k] - 1.0 > CONVERGED) {
                dropped += 1;
                continue;
            }
            let scale = 2.0 / (areal_mass * a * b).sqrt();
            let coefficients: Vec<f64> = (0..vectors.nrows()).map(|i| scale * vectors[(i, k)]).collect();
            found.push(Partial {
                frequency_hz: (values[k] * unit * stiffness_per_mass).sqrt() / TAU,
                wavenumber,
                // Free bodies do not move as a whole.
                net: 0.0,
                shape: shape(coefficients, plate, sides),
            });
        }
    }
    let warning = format!("{dropped} modes near the top of the band were left out: they need finer terms to be exact");
    (found, if dropped > 0 { vec![warning] } else { Vec::new() })
}

/// The shape at `(x, y)`, with the sign that makes the corner at `(a/2, b/2)` positive.
fn shape(mut coefficients: Vec<f64>, plate: Problem, [a, b]: [f64; 2]) -> Box<dyn Fn(f64, f64) -> f64> {
    let sum = move |c: &[f64], x: f64, y: f64| -> f64 {
        let [px, py] = [(x, 0), (y, 1)].map(|(u, d)| legendre(u, plate.parity[d], plate.terms[d]));
        c.chunks(py.len()).zip(&px).map(|(row, p)| p * row.iter().zip(&py).map(|(c, q)| c * q).sum::<f64>()).sum()
    };
    if sum(&coefficients, 1.0, 1.0) < 0.0 {
        coefficients.iter_mut().for_each(|c| *c = -*c);
    }
    Box::new(move |x, y| sum(&coefficients, 2.0 * x / a, 2.0 * y / b))
}

/// Orthonormal Legendre polynomials of one parity at `u`: degrees `parity, parity + 2, …`.
fn legendre(u: f64, parity: usize, terms: usize) -> Vec<f64> {
    let (mut before, mut here) = (0.0, 1.0);
    let mut values = Vec::with_capacity(terms);
    for n in 0..parity + 2 * terms {
        if n % 2 == parity {
            values.push(here * (n as f64 + 0.5).sqrt());
        }
        let n = n as f64;
        (before, here) = (here, ((2.0 * n + 1.0) * u * here - n * before) / (n + 1.0));
    }
    values.truncate(terms);
    values
}

/// `∫p_i′p_k′`, `∫p_i″p_k″` and `∫p_i″p_k` for the degrees of one parity.
struct Integrals {
    i11: Mat<f64>,
    i22: Mat<f64>,
    i20: Mat<f64>,
}

impl Integrals {
    fn new(parity: usize, terms: usize) -> Self {
        let degree = |i: usize, parity: usize| 2 * i + parity;
        // Column n of `first` holds the coefficients of p_n′, which has the other parity.
        let slope = |from: usize, to: usize| {
            Mat::from_fn(terms + 1, terms, move |k, i| {
                let (k, n) = (degree(k, to), degree(i, from));
                if k < n { ((2 * n + 1) as f64 * (2 * k + 1) as f64).sqrt() } else { 0.0 }
            })
        };
        let first = slope(parity, 1 - parity);
        let back = slope(1 - parity, parity);
        // Degrees up to that of p_n′ are covered by `terms` rows of the other parity.
        let second = Mat::from_fn(terms, terms, |k, i| (0..terms).map(|m| back[(k, m)] * first[(m, i)]).sum());
        let product = |u: &Mat<f64>, v: &Mat<f64>| {
            Mat::from_fn(terms, terms, |i, k| (0..u.nrows()).map(|m| u[(m, i)] * v[(m, k)]).sum())
        };
        Self { i11: product(&first, &first), i22: product(&second, &second), i20: second.transpose().to_owned() }
    }
}

/// One of the four symmetry classes.
#[derive(Clone, Copy)]
struct Problem {
    parity: [usize; 2],
    terms: [usize; 2],
    /// b/a.
    aspect: f64,
    poisson: f64,
}

impl Problem {
    fn coarser(self) -> Self {
        Self { terms: self.terms.map(|t| t - 1), ..self }
    }

    /// Stiffness in units of `D (2/a · 2/b)²`, over products with the index of y running fastest.
    fn stiffness(&self) -> Mat<f64> {
        let [x, y] = [0, 1].map(|d| Integrals::new(self.parity[d], self.terms[d]));
        let [nx, ny] = self.terms;
        let (r2, nu) = (self.aspect * self.aspect, self.poisson);
        Mat::from_fn(nx * ny, nx * ny, |p, q| {
            let ([i, j], [k, l]) = ([p / ny, p % ny], [q / ny, q % ny]);
            let along_x = if j == l { r2 * x.i22[(i, k)] } else { 0.0 };
            let along_y = if i == k { y.i22[(j, l)] / r2 } else { 0.0 };
            along_x
                + along_y
                + nu * (x.i20[(i, k)] * y.i20[(l, j)] + x.i20[(k, i)] * y.i20[(j, l)])
                + 2.0 * (1.0 - nu) * x.i11[(i, k)] * y.i11[(j, l)]
        })
    }

    /// `(K + 1)⁻¹ = L⁻ᵀL⁻¹` as its factor `L⁻¹`. One thread, so that the bytes do not depend on the machine.
    fn inverse_factor(&self) -> Mat<f64> {
        let mut k = self.stiffness();
        let n = k.nrows();
        (0..n).for_each(|i| k[(i, i)] += 1.0);
        let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
        let stack = MemStack::new(&mut memory);
        llt::factor::cholesky_in_place(k.as_mut(), Default::default(), Par::Seq, stack, Default::default())
            .expect("a positive semidefinite matrix plus the identity has a Cholesky factor");
        let mut inverse = Mat::zeros(n, n);
        invert_lower_triangular(inverse.as_mut(), k.as_ref(), Par::Seq);
        inverse
    }

    /// Eigenvalues in rising order, without and with mass-normalised vectors.
    fn solve_values(&self) -> Vec<f64> {
        self.decompose(evd::ComputeEigenvectors::No).0
    }

    fn solve(&self) -> (Vec<f64>, Mat<f64>) {
        self.decompose(evd::ComputeEigenvectors::Yes)
    }

    fn decompose(&self, vectors: evd::ComputeEigenvectors) -> (Vec<f64>, Mat<f64>) {
        let factor = self.inverse_factor();
        let n = factor.nrows();
        let mut inverse = Mat::zeros(n, n);
        matmul(inverse.as_mut(), Accum::Replace, factor.transpose(), factor.as_ref(), 1.0, Par::Seq);
        let (mut values, mut basis) = (Diag::zeros(n), Mat::zeros(n, n));
        let mut memory = MemBuffer::new(evd::self_adjoint_evd_scratch::<f64>(n, vectors, Par::Seq, Default::default()));
        let wanted = matches!(vectors, evd::ComputeEigenvectors::Yes).then(|| basis.as_mut());
        let stack = MemStack::new(&mut memory);
        evd::self_adjoint_evd(inverse.as_ref(), values.as_mut(), wanted, Par::Seq, stack, Default::default())
            .expect("a finite symmetric matrix has eigenvalues");
        // Largest of the inverse first.
        let mu: Vec<f64> = values.column_vector().iter().rev().copied().collect();
        let lambda = mu.iter().map(|m| (1.0 / m - 1.0).max(0.0)).collect();
        (lambda, Mat::from_fn(n, n, |i, k| basis[(i, n - 1 - k)]))
    }
}
