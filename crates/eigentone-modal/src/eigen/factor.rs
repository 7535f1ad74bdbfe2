//! Sparse factorisation of `K − σM = L B Lᵀ`, with solves and the inertia count.
//!
//! By Sylvester's law of inertia the number of negative eigenvalues of the block-diagonal `B` is the number of
//! eigenvalues of the pencil below `σ`: the proof that no mode was missed. Bunch–Kaufman pivoting inside the supernodes
//! keeps the factorisation of an indefinite matrix stable.

use super::{EigenError, Pencil};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, IntranodeLbltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky, supernodal::SupernodalIntranodeLbltRef,
};
use faer::{Conj, MatMut, Par, Side};

/// Elimination order and fill of a pencil's pattern, computed once and used at every shift.
pub struct Symbolic {
    cholesky: SymbolicCholesky<usize>,
}

impl Symbolic {
    /// Analyses the pattern.
    ///
    /// # Errors
    /// [`EigenError::OutOfMemory`].
    pub fn new(pencil: &Pencil) -> Result<Self, EigenError> {
        let matrix = pencil.shifted(0.0);
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..Default::default()
        };
        let forward: Vec<usize> = pencil
            .elimination_order()
            .unwrap_or_default()
            .iter()
            .flat_map(|&n| (0..3).map(move |k| 3 * n as usize + k))
            .collect();
        let mut inverse = vec![0; forward.len()];
        forward.iter().enumerate().for_each(|(k, &i)| inverse[i] = k);
        let ordering = if forward.is_empty() {
            SymmetricOrdering::Amd
        } else {
            SymmetricOrdering::Custom(PermRef::new_checked(&forward, &inverse, forward.len()))
        };
        let cholesky = factorize_symbolic_cholesky(matrix.symbolic(), Side::Upper, ordering, params)
            .map_err(|_| EigenError::OutOfMemory)?;
        Ok(Self { cholesky })
    }

    /// Number of entries of the factor.
    pub fn entries(&self) -> usize {
        self.cholesky.len_val()
    }
}

/// The factors at one shift.
pub struct Factor<'a> {
    symbolic: &'a Symbolic,
    values: Vec<f64>,
    subdiagonal: Vec<f64>,
    forward: Vec<usize>,
    inverse: Vec<usize>,
}

impl<'a> Factor<'a> {
    /// Factorises `K − σM`.
    ///
    /// # Errors
    /// [`EigenError::OutOfMemory`], or [`EigenError::Breakdown`] if the factors are not finite (σ hit an eigenvalue).
    pub fn new(symbolic: &'a Symbolic, pencil: &Pencil, sigma: f64) -> Result<Self, EigenError> {
        let matrix = pencil.shifted(sigma);
        let n = pencil.unknowns();
        let cholesky = &symbolic.cholesky;
        let scratch = cholesky.factorize_numeric_intranode_lblt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::try_new(scratch).map_err(|_| EigenError::OutOfMemory)?;
        let mut factor = Self {
            symbolic,
            values: vec![0.0; cholesky.len_val()],
            subdiagonal: vec![0.0; n],
            forward: vec![0; n],
            inverse: vec![0; n],
        };
        cholesky.factorize_numeric_intranode_lblt(
            &mut factor.values,
            &mut factor.subdiagonal,
            &mut factor.forward,
            &mut factor.inverse,
            matrix.as_ref(),
            Side::Upper,
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        if factor.values.iter().chain(&factor.subdiagonal).all(|x| x.is_finite()) {
            Ok(factor)
        } else {
            Err(EigenError::Breakdown { sigma })
        }
    }

    /// Number of eigenvalues of the pencil below the shift.
    pub fn eigenvalues_below(&self) -> usize {
        let SymbolicCholeskyRaw::Supernodal(structure) = self.symbolic.cholesky.raw() else {
            unreachable!("the supernodal form is forced in Symbolic::new");
        };
        let perm = PermRef::new_checked(&self.forward, &self.inverse, self.forward.len());
        let factor = SupernodalIntranodeLbltRef::new(structure, &self.values, &self.subdiagonal, perm);
        let mut negative = 0;
        for s in 0..structure.n_supernodes() {
            let node = factor.supernode(s);
            let (start, block) = (node.start(), node.val());
            let mut j = 0;
            while j < block.ncols() {
                let off = self.subdiagonal[start + j];
                if off == 0.0 {
                    negative += usize::from(block[(j, j)] < 0.0);
                    j += 1;
                } else {
                    let (a, c) = (block[(j, j)], block[(j + 1, j + 1)]);
                    // One eigenvalue of each sign if the determinant is negative, else both have the sign of the trace.
                    negative += if a * c - off * off < 0.0 { 1 } else { 2 * usize::from(a + c < 0.0) };
                    j += 2;
                }
            }
        }
        negative
    }

    /// Replaces each column `b` of `rhs` by the solution of `(K − σM) x = b`.
    ///
    /// # Errors
    /// [`EigenError::OutOfMemory`].
    pub fn solve(&self, rhs: MatMut<'_, f64>, memory: &mut Scratch) -> Result<(), EigenError> {
        let cholesky = &self.symbolic.cholesky;
        if memory.columns < rhs.ncols() {
            let request = cholesky.solve_in_place_scratch::<f64>(rhs.ncols(), Par::Seq);
            memory.buffer = Some(MemBuffer::try_new(request).map_err(|_| EigenError::OutOfMemory)?);
            memory.columns = rhs.ncols();
        }
        let Some(buffer) = &mut memory.buffer else { return Ok(()) };
        let perm = PermRef::new_checked(&self.forward, &self.inverse, self.forward.len());
        IntranodeLbltRef::new(cholesky, &self.values, &self.subdiagonal, perm).solve_in_place_with_conj(
            Conj::No,
            rhs,
            Par::Seq,
            MemStack::new(buffer),
        );
        Ok(())
    }
}

/// Memory for solves, kept between them.
#[derive(Default)]
pub struct Scratch {
    buffer: Option<MemBuffer>,
    columns: usize,
}
