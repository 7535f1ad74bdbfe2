//! The small dense problems of the fit: Cholesky, a leading invariant subspace, complex eigenvalues.
//!
//! All of them have a few dozen rows, run inside parallel loops and must give the same bits on every machine load, so
//! they are plain sequential loops: Cholesky with a relative ridge, orthogonal iteration (Golub & Van Loan, §8.2.4) and
//! the shifted QR iteration on a Hessenberg matrix (§7.5), eigenvalues only.

use super::gram::C64;

/// A square matrix, row by row.
#[derive(Clone, Debug)]
pub(super) struct Square<T> {
    pub order: usize,
    pub data: Vec<T>,
}

impl<T: Copy + Default> Square<T> {
    pub fn zeros(order: usize) -> Self {
        Self { order, data: vec![T::default(); order * order] }
    }

    pub fn at(&self, row: usize, col: usize) -> T {
        self.data[row * self.order + col]
    }

    pub fn set(&mut self, row: usize, col: usize, value: T) {
        self.data[row * self.order + col] = value;
    }

    pub fn row(&self, row: usize) -> &[T] {
        &self.data[row * self.order..(row + 1) * self.order]
    }
}

/// A lower Cholesky factor.
pub(super) struct Cholesky(Square<f64>);

impl Cholesky {
    /// Factors a symmetric positive semidefinite matrix, adding `ridge` times each diagonal entry. Directions that
    /// vanish to rounding are held at zero instead of blowing up.
    pub fn new(matrix: &Square<f64>, ridge: f64) -> Self {
        let n = matrix.order;
        let mut l = matrix.clone();
        for i in 0..n {
            for j in 0..=i {
                let (head, tail) = l.data.split_at(i * n);
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                if i == j {
                    let diagonal = tail[i];
                    let pivot = diagonal * (1.0 + ridge) - dot(&tail[..i], &tail[..i]);
                    let kept = if pivot > diagonal.abs() * 1e-13 { pivot.sqrt() } else { f64::INFINITY };
                    l.set(i, i, kept);
                } else {
                    let value = tail[j] - dot(&tail[..j], &head[j * n..j * n + j]);
                    l.set(i, j, value / l.at(j, j));
                }
            }
        }
        Self(l)
    }

    /// `L⁻¹ b` in place.
    pub fn forward(&self, b: &mut [f64]) {
        for i in 0..self.0.order {
            let sum: f64 = self.0.row(i)[..i].iter().zip(&*b).map(|(l, x)| l * x).sum();
            b[i] = (b[i] - sum) / self.0.at(i, i);
        }
    }

    /// `(LLᵀ)⁻¹ b` in place.
    pub fn solve(&self, b: &mut [f64]) {
        self.forward(b);
        for i in (0..self.0.order).rev() {
            b[i] /= self.0.at(i, i);
            let x = b[i];
            for (y, l) in b[..i].iter_mut().zip(&self.0.row(i)[..i]) {
                *y -= l * x;
            }
        }
    }
}

/// Leading `rank` eigenvectors (rows of the answer) of a Hermitian positive semidefinite matrix, and their Rayleigh
/// quotients. Rows beyond the numerical rank come back as zero.
pub(super) fn leading_subspace(matrix: &Square<C64>, rank: usize) -> (Vec<Vec<C64>>, Vec<f64>) {
    const ITERATIONS: usize = 12;
    let n = matrix.order;
    // A fixed, generic start: rows of a chirp are never all orthogonal to the signal.
    let mut basis: Vec<Vec<C64>> = (0..rank)
        .map(|k| {
            (0..n).map(|i| C64::from_polar(1.0, 2.4 * ((k + 1) * (i + 1)) as f64 + 0.31 * (i * i) as f64)).collect()
        })
        .collect();
    let mut quotients = vec![0.0; rank];
    for _ in 0..ITERATIONS {
        orthonormalise(&mut basis);
        for (row, quotient) in basis.iter_mut().zip(&mut quotients) {
            let image: Vec<C64> =
                (0..n).map(|i| matrix.row(i).iter().zip(&*row).map(|(a, x)| a * x).sum::<C64>()).collect();
            *quotient = row.iter().zip(&image).map(|(x, y)| (x.conj() * y).re).sum();
            *row = image;
        }
    }
    orthonormalise(&mut basis);
    (basis, quotients)
}

fn orthonormalise(rows: &mut [Vec<C64>]) {
    for k in 0..rows.len() {
        let (done, rest) = rows.split_at_mut(k);
        let row = &mut rest[0];
        let before: f64 = row.iter().map(|x| x.norm_sqr()).sum();
        // Twice is enough (Kahan): the second pass removes what rounding left.
        for _ in 0..2 {
            for other in &*done {
                let dot: C64 = other.iter().zip(&*row).map(|(o, x)| o.conj() * x).sum();
                row.iter_mut().zip(other).for_each(|(x, o)| *x -= o * dot);
            }
        }
        let norm = row.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        let scale = if norm > 1e-14 * before.sqrt() && norm > 1e-150 { 1.0 / norm } else { 0.0 };
        row.iter_mut().for_each(|x| *x *= scale);
    }
}

/// Eigenvalues of a general complex matrix; fewer than its order if the iteration does not converge.
pub(super) fn eigenvalues(mut a: Square<C64>) -> Vec<C64> {
    hessenberg(&mut a);
    let mut found = Vec::with_capacity(a.order);
    let mut high = a.order;
    let mut stalled = 0;
    while high > 0 {
        let mut low = high - 1;
        while low > 0 {
            let scale = a.at(low, low).norm() + a.at(low - 1, low - 1).norm();
            if a.at(low, low - 1).norm() <= 1e-14 * scale {
                break;
            }
            low -= 1;
        }
        if low == high - 1 {
            found.push(a.at(low, low));
            high -= 1;
            stalled = 0;
        } else {
            stalled += 1;
            if stalled > 60 {
                break;
            }
            qr_sweep(&mut a, low, high, stalled % 10 == 0);
        }
    }
    found.retain(|z| z.re.is_finite() && z.im.is_finite());
    found
}

/// One QR step `H − σI = QR`, `H ← RQ + σI` on rows `low..high`, with Wilkinson's shift.
fn qr_sweep(a: &mut Square<C64>, low: usize, high: usize, exceptional: bool) {
    let (p, q) = (high - 2, high - 1);
    let shift = if exceptional { a.at(q, p) + a.at(q, q) } else { wilkinson(a, p, q) };
    for i in low..high {
        a.set(i, i, a.at(i, i) - shift);
    }
    let mut rotations = Vec::with_capacity(high - low);
    for k in low..high - 1 {
        let (x, y) = (a.at(k, k), a.at(k + 1, k));
        let r = x.norm().hypot(y.norm());
        let (c, s) = if r > 0.0 { (x / r, y / r) } else { (C64::new(1.0, 0.0), C64::default()) };
        for j in k..high {
            let (u, v) = (a.at(k, j), a.at(k + 1, j));
            a.set(k, j, c.conj() * u + s.conj() * v);
            a.set(k + 1, j, c * v - s * u);
        }
        rotations.push((c, s));
    }
    for (k, (c, s)) in (low..).zip(rotations) {
        for i in low..(k + 2).min(high) {
            let (u, v) = (a.at(i, k), a.at(i, k + 1));
            a.set(i, k, u * c + v * s);
            a.set(i, k + 1, v * c.conj() - u * s.conj());
        }
    }
    for i in low..high {
        a.set(i, i, a.at(i, i) + shift);
    }
}

/// The eigenvalue of the trailing 2 × 2 block nearer to its last entry.
fn wilkinson(a: &Square<C64>, p: usize, q: usize) -> C64 {
    let half = (a.at(p, p) - a.at(q, q)) * 0.5;
    let root = (half * half + a.at(p, q) * a.at(q, p)).sqrt();
    let (one, two) = (half + root, half - root);
    a.at(q, q) + if one.norm_sqr() < two.norm_sqr() { one } else { two }
}

/// Reduces to Hessenberg form by Gaussian similarity with pivoting (Wilkinson & Reinsch, `elmhes`).
fn hessenberg(a: &mut Square<C64>) {
    let n = a.order;
    for m in 1..n.saturating_sub(1) {
        let pivot =
            (m..n).max_by(|&i, &j| a.at(i, m - 1).norm_sqr().total_cmp(&a.at(j, m - 1).norm_sqr())).unwrap_or(m);
        if a.at(pivot, m - 1).norm_sqr() == 0.0 {
            continue;
        }
        for j in 0..n {
            a.data.swap(pivot * n + j, m * n + j);
        }
        for i in 0..n {
            a.data.swap(i * n + pivot, i * n + m);
        }
        for i in m + 1..n {
            let factor = a.at(i, m - 1) / a.at(m, m - 1);
            for j in 0..n {
                a.set(i, j, a.at(i, j) - factor * a.at(m, j));
            }
            for j in 0..n {
                a.set(j, m, a.at(j, m) + factor * a.at(j, i));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_a_companion_matrix_are_the_roots() {
        let roots: Vec<C64> = (0..9).map(|k| C64::from_polar(0.9 + 0.02 * k as f64, 0.4 * k as f64)).collect();
        let mut polynomial = vec![C64::new(1.0, 0.0)];
        for r in &roots {
            let mut next = vec![C64::default(); polynomial.len() + 1];
            for (i, c) in polynomial.iter().enumerate() {
                next[i] += c;
                next[i + 1] -= c * r;
            }
            polynomial = next;
        }
        let mut companion = Square::zeros(roots.len());
        for i in 0..roots.len() {
            companion.set(0, i, -polynomial[i + 1]);
            if i > 0 {
                companion.set(i, i - 1, C64::new(1.0, 0.0));
            }
        }
        let found = eigenvalues(companion);
        assert_eq!(found.len(), roots.len());
        for r in &roots {
            assert!(found.iter().any(|f| (f - r).norm() < 1e-9), "{r} not in {found:?}");
        }
    }

    #[test]
    fn cholesky_solves_and_survives_dependent_columns() {
        let mut m = Square::zeros(3);
        for (i, row) in [[4.0, 2.0, 2.0], [2.0, 3.0, 1.0], [2.0, 1.0, 1.0]].iter().enumerate() {
            for (j, v) in row.iter().enumerate() {
                m.set(i, j, *v);
            }
        }
        let mut b = vec![2.0, 1.0, 1.0];
        Cholesky::new(&m, 0.0).solve(&mut b);
        assert!(b.iter().all(|x| x.is_finite()));
        m.set(2, 2, 5.0);
        let truth = [0.25, 2.0, -3.3];
        let mut b: Vec<f64> = (0..3).map(|i| m.row(i).iter().zip(truth).map(|(a, x)| a * x).sum()).collect();
        Cholesky::new(&m, 0.0).solve(&mut b);
        assert!(b.iter().zip(truth).all(|(x, t)| (x - t).abs() < 1e-12), "{b:?}");
    }
}
