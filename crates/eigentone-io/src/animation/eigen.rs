//! Eigenvalues of small symmetric matrices by cyclic Jacobi rotations (Golub and Van Loan, *Matrix Computations*, §8.5): short, and as
//! exact as the matrix.

/// Sweeps after which it stops in any case; convergence is quadratic and takes six to ten.
const MAX_SWEEPS: usize = 40;

/// Eigenvalues, largest first, and their unit eigenvectors as rows, of the `n × n` matrix `a` in row order.
pub(super) fn symmetric(mut a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut vectors: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    let negligible = 1e-17 * a.iter().map(|x| x * x).sum::<f64>().sqrt();
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                if a[p * n + q].abs() > negligible {
                    rotate(&mut a, n, &mut vectors, (p, q));
                    rotated = true;
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]));
    let values = order.iter().map(|&i| a[i * n + i]).collect();
    (values, order.iter().map(|&i| std::mem::take(&mut vectors[i])).collect())
}

/// The rotation in the plane of `p` and `q` that makes their off-diagonal element vanish.
fn rotate(a: &mut [f64], n: usize, vectors: &mut [Vec<f64>], (p, q): (usize, usize)) {
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turn = |x: &mut f64, y: &mut f64| (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    let (upper, lower) = a.split_at_mut(q * n);
    upper[p * n..][..n].iter_mut().zip(&mut lower[..n]).for_each(|(x, y)| turn(x, y));
    for row in a.chunks_exact_mut(n) {
        let (left, right) = row.split_at_mut(q);
        turn(&mut left[p], &mut right[0]);
    }
    (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
    let (upper, lower) = vectors.split_at_mut(q);
    upper[p].iter_mut().zip(&mut lower[0]).for_each(|(x, y)| turn(x, y));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_its_eigenvectors_stretched() {
        let n = 9;
        let wild = |i: usize, j: usize| ((1 + i.min(j)) as f64 * 1.7 + (i.max(j) as f64).powi(2) * 0.31).sin();
        let a: Vec<f64> = (0..n * n).map(|ij| wild(ij / n, ij % n)).collect();
        let (values, vectors) = symmetric(a.clone(), n);
        assert!(values.windows(2).all(|w| w[0] >= w[1]));
        for (value, v) in values.iter().zip(&vectors) {
            for i in 0..n {
                let product: f64 = (0..n).map(|j| a[i * n + j] * v[j]).sum();
                assert!((product - value * v[i]).abs() < 1e-13);
            }
            assert!((v.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-13);
        }
    }
}
