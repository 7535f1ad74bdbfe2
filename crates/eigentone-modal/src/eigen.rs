//! The eigensolver: every mode of `K u = λ M u` in a band of frequencies, with proof that none is missing.
//!
//! Small problems are solved densely. Large ones are cut into slices of at most a few hundred eigenvalues; each slice is
//! solved by block Lanczos iteration around a shift ([`lanczos`]). The number of eigenvalues in every slice is known
//! beforehand from the inertia of a sparse factorisation ([`factor`]); a slice that does not come up with exactly that
//! many is cut in two, and if that does not help either the run fails rather than return an incomplete model.

pub mod dense;
pub mod factor;
pub mod lanczos;
mod pencil;

pub use pencil::{Block, MassOperator, Pencil};

use crate::Progress;
use factor::{Factor, Symbolic};
use faer::Mat;
use lanczos::Slice;
use thiserror::Error;

/// Unknowns up to which the dense solver is used: below, it is faster than one factorisation and its iterations.
const DENSE_UNKNOWNS: usize = 700;

/// Eigenvalues per slice. More need a larger basis, whose orthogonalisation grows with the square; fewer need more
/// factorisations.
const SLICE: usize = 320;

/// Times a failing slice is halved before giving up.
const HALVINGS: usize = 6;

/// Eigenvalues in rising order and the vectors that belong to them, `M`-orthonormal, one column each.
#[derive(Clone, Debug)]
pub struct Eigenpairs {
    /// `λ = ω²`, in 1/s².
    pub values: Vec<f64>,
    /// Mode shapes, in 1/√kg.
    pub vectors: Mat<f64>,
}

/// Why there is no complete set of modes.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum EigenError {
    /// Not enough memory for the factors.
    #[error("not enough memory for the factorisation; use fewer elements or vertices")]
    OutOfMemory,
    /// The mass matrix is not positive definite.
    #[error("the mass matrix is not positive definite: some part of the body has no mass")]
    MassNotPositive,
    /// A shift coincides with an eigenvalue, or the matrices are not finite.
    #[error("the factorisation broke down at shift {sigma:e}")]
    Breakdown {
        /// The shift in 1/s².
        sigma: f64,
    },
    /// Fewer eigenvalues than the inertia count.
    #[error("{wanted} modes exist in the band (by inertia count), but the iteration found only {found}")]
    NotConverged {
        /// How many exist.
        wanted: usize,
        /// How many were found.
        found: usize,
    },
}

/// Which eigenvalues are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Upper end of the band, in 1/s² (`ω²`). The lower end is zero: rigid motions are included.
    pub upper: f64,
    /// At most this many of the lowest eigenvalues.
    pub most: usize,
}

/// Finds all eigenpairs of the band. Parts of the body that do not touch are solved one by one: each brings its own six rigid
/// motions, and an eigenvalue of multiplicity six hundred would be hard on any iteration.
///
/// # Errors
/// See [`EigenError`]; in particular [`EigenError::NotConverged`] if completeness cannot be proved.
pub fn solve(pencil: &Pencil, band: Band, progress: &Progress<'_>) -> Result<Eigenpairs, EigenError> {
    let parts = pencil.components();
    if parts.len() <= 1 {
        return solve_connected(pencil, band, progress);
    }
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    let mut solutions = Vec::new();
    for (p, nodes) in parts.iter().enumerate() {
        let share = |stage: &str, s: f64| progress.report(stage, (p as f64 + s) / parts.len() as f64);
        let pairs = solve_connected(&pencil.part(nodes), band, &Progress::new(&share))?;
        found.extend(pairs.values.iter().enumerate().map(|(column, &value)| (value, p, column)));
        solutions.push(pairs.vectors);
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.truncate(band.most);
    let mut vectors = Mat::zeros(pencil.unknowns(), found.len());
    for (c, &(_, p, column)) in found.iter().enumerate() {
        for (local, &node) in parts[p].iter().enumerate() {
            for k in 0..3 {
                vectors[(3 * node as usize + k, c)] = solutions[p][(3 * local + k, column)];
            }
        }
    }
    Ok(Eigenpairs { values: found.iter().map(|f| f.0).collect(), vectors })
}

fn solve_connected(pencil: &Pencil, band: Band, progress: &Progress<'_>) -> Result<Eigenpairs, EigenError> {
    if pencil.unknowns() <= DENSE_UNKNOWNS {
        let mut pairs = dense::solve(pencil, band.upper)?;
        pairs.truncate(band.most);
        return Ok(pairs);
    }
    Slicer::new(pencil)?.run(band, progress)
}

impl Eigenpairs {
    fn truncate(&mut self, most: usize) {
        let kept = self.values.len().min(most);
        self.values.truncate(kept);
        self.vectors = self.vectors.subcols(0, kept).to_owned();
    }
}

struct Slicer<'a> {
    pencil: &'a Pencil,
    symbolic: Symbolic,
}

impl<'a> Slicer<'a> {
    fn new(pencil: &'a Pencil) -> Result<Self, EigenError> {
        Ok(Self { pencil, symbolic: Symbolic::new(pencil)? })
    }

    /// Factorises at `sigma`, which is moved up a little if it happens to be an eigenvalue.
    fn factor_near(&self, sigma: &mut f64) -> Result<Factor<'_>, EigenError> {
        for _ in 0..4 {
            match Factor::new(&self.symbolic, self.pencil, *sigma) {
                Err(EigenError::Breakdown { .. }) => *sigma *= 1.0 + 1e-7,
                other => return other,
            }
        }
        Err(EigenError::Breakdown { sigma: *sigma })
    }

    /// Eigenvalues below `bound`, which is moved like a shift.
    fn count_below(&self, bound: &mut f64) -> Result<usize, EigenError> {
        Ok(self.factor_near(bound)?.eigenvalues_below())
    }

    fn run(&self, band: Band, progress: &Progress<'_>) -> Result<Eigenpairs, EigenError> {
        progress.report("modes", 0.0);
        let mut upper = band.upper;
        let mut total = self.count_below(&mut upper)?;
        // Fewer modes asked for than the band holds: lower its top until it holds hardly more. Mode counts grow between linearly
        // (plates) and cubically (solids) with frequency, which makes for better guesses than halving.
        let (mut too_low, mut power) = (0.0, 2.0);
        for _ in 0..24 {
            if total <= band.most.saturating_add(band.most / 8 + 8) {
                break;
            }
            let guess = upper * ((1.06 * band.most as f64 + 1.0) / total as f64).powf(2.0 / power);
            let mut trial = if guess > too_low { guess } else { 0.5 * (too_low + upper) };
            let count = self.count_below(&mut trial)?;
            if count > 0 && count != total {
                power = (2.0 * (total as f64 / count as f64).ln() / (upper / trial).ln()).clamp(0.7, 4.0);
            }
            if count < band.most {
                too_low = trial;
            } else {
                (upper, total) = (trial, count);
            }
        }
        let mut slices = vec![Slice { low: f64::NEG_INFINITY, high: upper, below: 0, count: total }];
        self.cut(&mut slices)?;
        let mut pairs = Eigenpairs { values: Vec::new(), vectors: Mat::zeros(self.pencil.unknowns(), total) };
        for slice in slices {
            let done = pairs.values.len();
            let advance = |share: f64| {
                progress.report("modes", (done as f64 + share.min(1.0) * slice.count as f64) / total.max(1) as f64)
            };
            let found = self.solve_slice(slice, HALVINGS, &advance)?;
            pairs.vectors.as_mut().subcols_mut(done, found.values.len()).copy_from(&found.vectors);
            pairs.values.extend(found.values);
        }
        pairs.truncate(band.most);
        Ok(pairs)
    }

    /// Halves slices (in frequency) until none holds more than [`SLICE`].
    fn cut(&self, slices: &mut Vec<Slice>) -> Result<(), EigenError> {
        let mut at = 0;
        while at < slices.len() {
            let slice = slices[at];
            let low = slice.low.max(0.0);
            if slice.count <= SLICE || slice.high - low < 1e-6 * slice.high {
                at += 1;
                continue;
            }
            let [lower, upper] = self.halve(slice)?;
            slices[at] = lower;
            slices.insert(at + 1, upper);
        }
        Ok(())
    }

    /// Cuts a slice in the middle of its frequencies.
    fn halve(&self, slice: Slice) -> Result<[Slice; 2], EigenError> {
        let mean_root = 0.5 * (slice.low.max(0.0).sqrt() + slice.high.sqrt());
        let mut cut = mean_root * mean_root;
        let count = self.count_below(&mut cut)? - slice.below;
        let lower = Slice { high: cut, count, ..slice };
        Ok([lower, Slice { low: cut, below: slice.below + count, count: slice.count - count, ..slice }])
    }

    fn solve_slice(&self, slice: Slice, halvings: usize, advance: &dyn Fn(f64)) -> Result<Eigenpairs, EigenError> {
        if slice.count == 0 {
            return Ok(Eigenpairs { values: Vec::new(), vectors: Mat::zeros(self.pencil.unknowns(), 0) });
        }
        // The middle converges fastest: a shift at the lower end needs a basis a third larger.
        let mut sigma = 0.5 * (slice.low.max(0.0) + slice.high);
        let factor = self.factor_near(&mut sigma)?;
        match lanczos::solve_slice(self.pencil, &factor, sigma, slice, advance) {
            Ok(pairs) if pairs.values.len() == slice.count => Ok(pairs),
            Ok(pairs) => Err(EigenError::NotConverged { wanted: slice.count, found: pairs.values.len() }),
            Err(EigenError::NotConverged { .. }) if halvings > 0 && slice.count > 1 => {
                let [lower, upper] = self.halve(slice)?;
                let mut pairs = self.solve_slice(lower, halvings - 1, advance)?;
                let more = self.solve_slice(upper, halvings - 1, advance)?;
                let columns = faer::concat![[pairs.vectors, more.vectors]];
                pairs.vectors = columns;
                pairs.values.extend(more.values);
                Ok(pairs)
            }
            Err(other) => Err(other),
        }
    }
}
