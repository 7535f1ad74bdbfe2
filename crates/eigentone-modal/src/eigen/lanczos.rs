//! Block Lanczos iteration on `(K − σM)⁻¹M` with full reorthogonalisation.
//!
//! Eigenvalues `θ` of the operator are `1/(λ − σ)`: those of the pencil next to the shift come out first. The basis is kept
//! `M`-orthonormal by a full pass of block Gram–Schmidt after the three-term recurrence, so that no copies ("ghosts") of converged
//! pairs appear and the projected matrix is what theory says (Grimes, Lewis & Simon 1994, without their shortcuts).

use super::factor::{Factor, Scratch};
use super::pencil::MassOperator;
use super::{EigenError, Eigenpairs, Pencil, dense};
use eigentone_core::Noise;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// Columns per block. Wide enough that solves run at the speed of matrix products and that the multiple eigenvalues of
/// symmetric bodies fit into one block; but a basis of given size reaches a lower polynomial degree the wider its blocks
/// are. Tuned on solids and shells of 15,000 unknowns: 8 and 16 take some 15 % longer.
const BLOCK: usize = 12;

/// A Ritz pair counts as converged when its residual is below this share of its `θ`. The error of the eigenvalue is the
/// square of it over the relative gap, that of the eigenvector about this divided by the gap.
const TOLERANCE: f64 = 1e-6;

/// An interval of eigenvalues and how many the inertia count says it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Eigenvalues below the lower end.
    pub below: usize,
    /// Eigenvalues inside.
    pub count: usize,
}

struct Basis<'a> {
    mass: &'a MassOperator,
    /// The first `len` columns are in use.
    vectors: Mat<f64>,
    len: usize,
    /// Vectors there may be in the end.
    limit: usize,
    /// `M` times the last columns in use: up to two blocks.
    weighted: Mat<f64>,
    projected: Mat<f64>,
}

impl<'a> Basis<'a> {
    fn new(mass: &'a MassOperator, n: usize, expected: usize, limit: usize) -> Self {
        let projected = Mat::zeros(expected, expected);
        Self { mass, vectors: Mat::zeros(n, expected), len: 0, limit, weighted: Mat::zeros(n, 0), projected }
    }

    fn used(&self) -> MatRef<'_, f64> {
        self.vectors.as_ref().subcols(0, self.len)
    }

    /// `M` times the last `columns` vectors.
    fn weighted(&self, columns: usize) -> MatRef<'_, f64> {
        self.weighted.as_ref().subcols(self.weighted.ncols() - columns, columns)
    }

    /// Removes from `block` its part in the basis and returns the coefficients removed: first along the last two blocks, where
    /// in exact arithmetic all of it lies, then, to undo rounding, along all.
    fn orthogonalise(&self, block: &mut Mat<f64>) -> Mat<f64> {
        let mut total = Mat::zeros(self.len, block.ncols());
        let recent = self.weighted.ncols();
        let part = product(self.weighted.transpose(), block.as_ref());
        let against = self.used().subcols(self.len - recent, recent);
        matmul(block.as_mut(), Accum::Add, against, part.as_ref(), -1.0, Par::Seq);
        total.as_mut().subrows_mut(self.len - recent, recent).copy_from(part);
        let part = product(self.used().transpose(), self.mass.times(block.as_ref()).as_ref());
        matmul(block.as_mut(), Accum::Add, self.used(), part.as_ref(), -1.0, Par::Seq);
        total += part;
        total
    }

    /// Appends the span of `block` (already orthogonal to the basis) and returns `B` with `block = new · B`. Directions
    /// without substance are left out; the result may have fewer rows than `block` has columns.
    fn append(&mut self, block: &Mat<f64>) -> Result<Mat<f64>, EigenError> {
        let (to_first, b1) = normaliser(product(block.transpose(), self.mass.times(block.as_ref()).as_ref()))?;
        let first = product(block.as_ref(), to_first.as_ref());
        // Once more: the first time is as accurate as the block is well-conditioned.
        let weighted = self.mass.times(first.as_ref());
        let (to_second, b2) = normaliser(product(first.transpose(), weighted.as_ref()))?;
        let taken = to_second.ncols().min(self.limit - self.len);
        let to_second = to_second.subcols(0, taken);
        self.make_room(taken);
        let place = self.vectors.as_mut().subcols_mut(self.len, taken);
        matmul(place, Accum::Replace, first.as_ref(), to_second, 1.0, Par::Seq);
        self.len += taken;
        let kept = self.weighted(self.weighted.ncols().min(BLOCK));
        self.weighted = faer::concat![[kept, product(weighted.as_ref(), to_second)]];
        Ok(product(b2.as_ref(), b1.as_ref()).subrows(0, taken).to_owned())
    }

    /// Enlarges the memory by a third if it is short: touching all that a hard slice could need costs more than copying.
    fn make_room(&mut self, columns: usize) {
        let (n, size) = (self.vectors.nrows(), self.vectors.ncols());
        if self.len + columns > size {
            let larger = (size + size / 3 + columns).min(self.limit);
            self.vectors.resize_with(n, larger, |_, _| 0.0);
            self.projected.resize_with(larger, larger, |_, _| 0.0);
        }
    }
}

/// From the Gram matrix `AᵀMA` of a block: `T` and `B` such that `Q = A T` is `M`-orthonormal and `A = Q B`, by
/// eigen-decomposition.
fn normaliser(gram: Mat<f64>) -> Result<(Mat<f64>, Mat<f64>), EigenError> {
    // Scaling by the diagonal first keeps columns of very different length apart.
    let scale: Vec<f64> = (0..gram.ncols()).map(|i| gram[(i, i)].max(f64::MIN_POSITIVE).sqrt()).collect();
    let scaled = Mat::from_fn(gram.nrows(), gram.ncols(), |i, j| gram[(i, j)] / (scale[i] * scale[j]));
    let (values, vectors) = dense::symmetric(scaled.as_ref())?;
    let kept: Vec<usize> = (0..values.len()).filter(|&k| values[k] > 1e-13 && values[k].is_finite()).collect();
    let t = Mat::from_fn(scale.len(), kept.len(), |i, k| vectors[(i, kept[k])] / (scale[i] * values[kept[k]].sqrt()));
    let b = Mat::from_fn(kept.len(), scale.len(), |k, j| values[kept[k]].sqrt() * vectors[(j, kept[k])] * scale[j]);
    Ok((t, b))
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

fn random_block(noise: &mut Noise, rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| noise.bipolar())
}

/// Finds all eigenpairs of a slice.
///
/// # Errors
/// [`EigenError::NotConverged`] if the basis grew to its limit without finding as many as the inertia count says.
pub fn solve_slice(
    pencil: &Pencil,
    factor: &Factor<'_>,
    sigma: f64,
    slice: Slice,
    advance: &dyn Fn(f64),
) -> Result<Eigenpairs, EigenError> {
    let n = pencil.unknowns();
    let capacity = (4 * slice.count + 30 * BLOCK).min(n);
    let mass = pencil.mass_operator();
    let mut next_check = (2 * slice.count + 4 * BLOCK).min(capacity);
    let mut basis = Basis::new(&mass, n, (next_check + 2 * BLOCK).min(capacity), capacity);
    let mut memory = Scratch::default();
    let mut noise = Noise::new(0x5EED);
    let mut apply = |mut block: Mat<f64>| -> Result<Mat<f64>, EigenError> {
        factor.solve(block.as_mut(), &mut memory)?;
        Ok(block)
    };

    let start = random_block(&mut noise, n, BLOCK.min(capacity));
    basis.append(&apply(mass.times(start.as_ref()))?)?;
    let mut current = 0..basis.len;
    loop {
        let mut image = apply(basis.weighted(current.len()).to_owned())?;
        let coefficients = basis.orthogonalise(&mut image);
        basis.projected.as_mut().submatrix_mut(0, current.start, basis.len, current.len()).copy_from(&coefficients);
        let before = basis.len;
        let below = basis.append(&image)?;
        let fresh = basis.len - before;
        advance(basis.len as f64 / (2.0 * slice.count as f64 + BLOCK as f64));

        // The basis is full, or closed under the operator: what it holds is all there is.
        let finished = fresh == 0 || basis.len >= capacity;
        if before >= next_check || finished {
            let found = ritz_pairs(&basis, before, &below, sigma, slice)?;
            if found.values.len() >= slice.count {
                return Ok(found);
            }
            if finished && before < n && basis.len >= capacity {
                return Err(EigenError::NotConverged { wanted: slice.count, found: found.values.len() });
            }
            // Each check costs a dense eigenproblem; wait until most of what is missing can have converged.
            let missing = slice.count - found.values.len();
            next_check = (before + (missing / 2).max(before / 16)).min(capacity);
        }
        if fresh == 0 {
            // An invariant subspace: go on in a fresh direction, which is coupled to it by rounding only.
            let mut fresh_start = apply(mass.times(random_block(&mut noise, n, BLOCK).as_ref()))?;
            for _ in 0..2 {
                basis.orthogonalise(&mut fresh_start);
            }
            basis.append(&fresh_start)?;
            if basis.len == before {
                return Err(EigenError::NotConverged { wanted: slice.count, found: 0 });
            }
        }
        current = before..basis.len;
    }
}

/// The converged pairs inside the slice, from the projected matrix over the first `size` basis vectors. `below` couples
/// the last block to what follows.
fn ritz_pairs(
    basis: &Basis<'_>,
    size: usize,
    below: &Mat<f64>,
    sigma: f64,
    slice: Slice,
) -> Result<Eigenpairs, EigenError> {
    // The upper triangle of `projected` holds the coefficients; mirror it.
    let t = &basis.projected;
    let symmetric = Mat::from_fn(size, size, |i, j| if i <= j { t[(i, j)] } else { t[(j, i)] });
    let (thetas, vectors) = dense::symmetric(symmetric.as_ref())?;
    let last = size - below.ncols();
    let mut chosen: Vec<(f64, usize)> = Vec::new();
    for (k, &theta) in thetas.iter().enumerate() {
        let lambda = sigma + 1.0 / theta;
        if lambda >= slice.low && lambda < slice.high {
            let bottom = vectors.as_ref().submatrix(last, k, below.ncols(), 1);
            let residual = product(below.as_ref(), bottom).norm_l2();
            if residual <= TOLERANCE * theta.abs() {
                chosen.push((lambda, k));
            }
        }
    }
    chosen.sort_by(|a, b| a.0.total_cmp(&b.0));
    if chosen.len() < slice.count {
        // Only counted; no need for the vectors.
        let values = chosen.iter().map(|c| c.0).collect();
        return Ok(Eigenpairs { values, vectors: Mat::new() });
    }
    let weights = Mat::from_fn(size, chosen.len(), |i, c| vectors[(i, chosen[c].1)]);
    let vectors = product(basis.vectors.as_ref().subcols(0, size), weights.as_ref());
    Ok(Eigenpairs { values: chosen.iter().map(|c| c.0).collect(), vectors })
}
