//! All eigenpairs of a small pencil, by reduction to a standard dense problem.
//!
//! `M = C Cᵀ`, `A = C⁻¹ K C⁻ᵀ = V Λ Vᵀ`, `U = C⁻ᵀ V`: then `UᵀMU = I` and `UᵀKU = Λ`.

use super::{EigenError, Eigenpairs, Pencil};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, MatRef, Par, Spec};

/// QR iteration at every size. The divide-and-conquer that faer 0.24 uses from 128 rows on deflates too eagerly: on a
/// stiffness matrix with its cluster of zero eigenvalues the residual is 5e-5 of the norm instead of 1e-14 (see the test).
fn accurate() -> Spec<SelfAdjointEvdParams, f64> {
    let mut params = Spec::<SelfAdjointEvdParams, f64>::default();
    params.config.recursion_threshold = usize::MAX;
    params
}

/// Eigenvalues in rising order and eigenvectors of a symmetric matrix.
///
/// # Errors
/// [`EigenError::OutOfMemory`] or [`EigenError::NotConverged`].
pub fn symmetric(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), EigenError> {
    let n = matrix.nrows();
    let params = accurate();
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, params);
    let mut memory = MemBuffer::try_new(scratch).map_err(|_| EigenError::OutOfMemory)?;
    let mut values = vec![0.0; n];
    let mut vectors = Mat::zeros(n, n);
    self_adjoint_evd(
        matrix,
        faer::ColMut::from_slice_mut(&mut values).as_diagonal_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        params,
    )
    .map_err(|_| EigenError::NotConverged { wanted: n, found: 0 })?;
    Ok((values, vectors))
}

/// All eigenpairs of the pencil below `upper`.
///
/// # Errors
/// [`EigenError::MassNotPositive`] if M has no Cholesky factor.
pub fn solve(pencil: &Pencil, upper: f64) -> Result<Eigenpairs, EigenError> {
    let n = pencil.unknowns();
    let mut stiffness = Mat::<f64>::zeros(n, n);
    let mut mass = Mat::<f64>::zeros(n, n);
    pencil.for_each(|i, j, block, m| {
        for k in 0..3 {
            for l in 0..3 {
                stiffness[(3 * i + k, 3 * j + l)] = block[k][l];
            }
            mass[(3 * i + k, 3 * j + k)] = m;
        }
    });
    let factor = mass.llt(faer::Side::Lower).map_err(|_| EigenError::MassNotPositive)?;
    let lower = factor.L();
    solve_lower_triangular_in_place(lower, stiffness.as_mut(), Par::Seq);
    solve_lower_triangular_in_place(lower, stiffness.as_mut().transpose_mut(), Par::Seq);
    let (values, mut vectors) = symmetric(stiffness.as_ref())?;
    solve_upper_triangular_in_place(lower.transpose(), vectors.as_mut(), Par::Seq);
    let kept = values.partition_point(|&v| v < upper);
    let vectors = vectors.subcols(0, kept).to_owned();
    Ok(Eigenpairs { values: values[..kept].to_vec(), vectors })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of 200 springs with stiffnesses over eight decades, free at both ends: `A = V Λ Vᵀ` to machine precision,
    /// including the clustered small eigenvalues.
    #[test]
    fn the_dense_solver_is_accurate_on_badly_scaled_clusters() {
        let n = 200;
        let mut a = Mat::<f64>::zeros(n, n);
        for i in 0..n - 1 {
            let k = 10f64.powi(8 - (i % 9) as i32);
            a[(i, i)] += k;
            a[(i + 1, i + 1)] += k;
            a[(i, i + 1)] -= k;
            a[(i + 1, i)] -= k;
        }
        let (values, vectors) = symmetric(a.as_ref()).unwrap();
        let scaled = Mat::from_fn(n, n, |i, j| vectors[(i, j)] * values[j]);
        assert!((&a * &vectors - scaled).norm_max() < 1e-12 * a.norm_max());
        let identity = Mat::<f64>::identity(n, n);
        assert!((vectors.transpose() * &vectors - identity).norm_max() < 1e-12);
    }
}
