//! The loop over four lanes, written once for every instruction set.

use super::{Four, FourElements, FourSingles, Job, LANES};
use crate::soft::element::LEAST_VOLUME_SHARE;

/// One number of each of four elements, in registers.
///
/// # Safety
/// Implementations may use instructions that not every machine has. Whoever calls a function generic over this trait makes sure, by run-time detection, that the
/// machine has those of the type.
#[allow(unsafe_code)]
pub(super) unsafe trait Lanes: Copy {
    fn splat(x: f64) -> Self;
    fn load(from: &FourSingles) -> Self;
    fn load_exact(from: &Four) -> Self;
    fn store(self, to: &mut Four);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `self · b + c`.
    fn mul_add(self, b: Self, c: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn any_positive(self) -> bool;
    fn greatest(self) -> f64;
    /// Coordinates of four points of a list.
    ///
    /// # Safety
    /// All places are within the list.
    unsafe fn coordinates(points: &[Four], places: [usize; LANES]) -> [Self; 3];
    /// Adds four points, given by their coordinates, to four of a list, one after the other.
    ///
    /// # Safety
    /// All places are within the list.
    unsafe fn add_points(coordinates: [Self; 3], to: &mut [Four], places: [usize; LANES]);
}

type Matrix<L> = [[L; 3]; 3];
/// xx, yy, zz, xy, xz, yz.
type Symmetric<L> = [L; 6];

/// The loop.
///
/// # Panics
/// If there are fewer positions or forces than the elements have nodes. Nobody outside this folder can make elements that say otherwise.
#[inline(always)]
pub(super) fn run<L: Lanes>(job: Job<'_>) -> f64 {
    let nodes = job.elements.nodes;
    assert!(job.positions.len() >= nodes && job.forces.len() >= nodes);
    let mut stiffest = L::splat(1.0);
    let per_s = L::splat(job.per_s);
    for (four, before) in job.elements.fours.iter().zip(job.squares) {
        let [lambda, mu, phi, psi] = job.materials[four.material as usize];
        let gradients = load(&four.gradients);
        let f = gradient::<L>(four, &gradients, job.positions);
        let square = product(&f, &f);
        let one = L::splat(1.0);
        let trace = square[0].add(square[1]).add(square[2]).sub(L::splat(3.0));
        let two_mu = L::splat(2.0 * mu);
        let mut stress = square;
        let pressure = L::splat(lambda).mul(trace);
        for k in 0..3 {
            stress[k] = two_mu.mul_add(square[k].sub(one), pressure);
            stress[k + 3] = two_mu.mul(square[k + 3]);
        }
        if phi != 0.0 || psi != 0.0 {
            let mut rate = square;
            for k in 0..6 {
                rate[k] = square[k].sub(L::load_exact(&before[k])).mul(per_s);
                square[k].store(&mut before[k]);
            }
            let pressure = L::splat(phi).mul(rate[0].add(rate[1]).add(rate[2]));
            let two_psi = L::splat(2.0 * psi);
            for k in 0..3 {
                stress[k] = two_psi.mul_add(rate[k], stress[k].add(pressure));
                stress[k + 3] = two_psi.mul_add(rate[k + 3], stress[k + 3]);
            }
        }
        let mut push = times_symmetric(&f, &stress);

        let short = L::splat(LEAST_VOLUME_SHARE).sub(determinant(&f));
        let squeezed = short.any_positive();
        if squeezed {
            let by = L::splat(-2.0 * (lambda + 2.0 * mu)).mul(short.max(L::splat(0.0)));
            add_cofactor(&mut push, &f, by);
        }
        let half_volume = L::load(&four.half_volume);
        for row in &mut push {
            for p in row {
                *p = p.mul(half_volume);
            }
        }
        corner_forces(four, &gradients, &push, job.forces);
        if job.measure {
            stiffest = stiffest.max(stiffness(&square, squeezed));
        }
    }
    stiffest.greatest()
}

// Closures would not be compiled for the instructions of `L`: they are functions of their own, and none may be left.

#[inline(always)]
fn load<L: Lanes>(m: &[[FourSingles; 3]; 3]) -> Matrix<L> {
    let mut out = [[L::splat(0.0); 3]; 3];
    for row in 0..3 {
        for column in 0..3 {
            out[row][column] = L::load(&m[row][column]);
        }
    }
    out
}

/// Coordinates of one corner of four elements.
#[inline(always)]
fn corner<L: Lanes>(four: &FourElements, corner: usize, of: &[Four]) -> [L; 3] {
    // SAFETY: `run` has made sure that there are as many positions as the elements have nodes.
    unsafe { L::coordinates(of, places(four, corner)) }
}

/// F, `[row][column]`.
#[inline(always)]
fn gradient<L: Lanes>(four: &FourElements, gradients: &Matrix<L>, of: &[Four]) -> Matrix<L> {
    let first = corner::<L>(four, 0, of);
    let mut edges = [corner::<L>(four, 1, of), corner::<L>(four, 2, of), corner::<L>(four, 3, of)];
    for edge in &mut edges {
        for k in 0..3 {
            edge[k] = edge[k].sub(first[k]);
        }
    }
    let mut f = [[first[0]; 3]; 3];
    for row in 0..3 {
        for column in 0..3 {
            let two = edges[1][row].mul_add(gradients[1][column], edges[0][row].mul(gradients[0][column]));
            f[row][column] = edges[2][row].mul_add(gradients[2][column], two);
        }
    }
    f
}

const PAIRS: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

/// `aᵀ b`, of which only the upper half is wanted.
#[inline(always)]
fn product<L: Lanes>(a: &Matrix<L>, b: &Matrix<L>) -> Symmetric<L> {
    let mut out = [a[0][0]; 6];
    for entry in 0..6 {
        let [i, k] = PAIRS[entry];
        out[entry] = a[2][i].mul_add(b[2][k], a[1][i].mul_add(b[1][k], a[0][i].mul(b[0][k])));
    }
    out
}

#[inline(always)]
fn times_symmetric<L: Lanes>(f: &Matrix<L>, s: &Symmetric<L>) -> Matrix<L> {
    const ENTRY: [[usize; 3]; 3] = [[0, 3, 4], [3, 1, 5], [4, 5, 2]];
    let mut out = *f;
    for row in 0..3 {
        for column in 0..3 {
            let [x, y, z] = ENTRY[column];
            out[row][column] = f[row][2].mul_add(s[z], f[row][1].mul_add(s[y], f[row][0].mul(s[x])));
        }
    }
    out
}

#[inline(always)]
fn add_cofactor<L: Lanes>(push: &mut Matrix<L>, f: &Matrix<L>, by: L) {
    for row in 0..3 {
        let (a, b) = (&f[(row + 1) % 3], &f[(row + 2) % 3]);
        for (column, push) in push[row].iter_mut().enumerate() {
            let (k, l) = ((column + 1) % 3, (column + 2) % 3);
            *push = by.mul_add(a[k].mul(b[l]).sub(a[l].mul(b[k])), *push);
        }
    }
}

#[inline(always)]
fn minor<L: Lanes>(f: &Matrix<L>, k: usize, l: usize) -> L {
    f[1][k].mul(f[2][l]).sub(f[1][l].mul(f[2][k]))
}

#[inline(always)]
fn determinant<L: Lanes>(f: &Matrix<L>) -> L {
    let two = f[0][1].mul_add(minor(f, 2, 0), f[0][0].mul(minor(f, 1, 2)));
    f[0][2].mul_add(minor(f, 0, 1), two)
}

/// Forces `push ∇N` on the last three corners, and what balances them on the first.
#[inline(always)]
fn corner_forces<L: Lanes>(four: &FourElements, gradients: &Matrix<L>, push: &Matrix<L>, forces: &mut [Four]) {
    let zero = L::splat(0.0);
    let mut first = [zero; 3];
    for (corner, g) in gradients.iter().enumerate() {
        let mut force = [zero; 3];
        for row in 0..3 {
            let two = push[row][1].mul_add(g[1], push[row][0].mul(g[0]));
            force[row] = push[row][2].mul_add(g[2], two);
            first[row] = first[row].sub(force[row]);
        }
        // SAFETY: `run` has made sure that there are as many forces as the elements have nodes.
        unsafe { L::add_points(force, forces, places(four, corner + 1)) };
    }
    // SAFETY: as above.
    unsafe { L::add_points(first, forces, places(four, 0)) };
}

/// Nodes of one corner of four elements.
#[inline(always)]
fn places(four: &FourElements, corner: usize) -> [usize; LANES] {
    let n = &four.nodes;
    [n[0][corner] as usize, n[1][corner] as usize, n[2][corner] as usize, n[3][corner] as usize]
}

/// How many times stiffer than at rest elements are: (3s² − 1)/2 for a stretch s, from P = (λ + 2μ)(s³ − s)/2, of which s² is bounded by the greatest row sum of
/// FᵀF; and s⁴ more where the guard takes part.
#[inline(always)]
fn stiffness<L: Lanes>(c: &Symmetric<L>, squeezed: bool) -> L {
    let [xy, xz, yz] = [c[3].abs(), c[4].abs(), c[5].abs()];
    let square = c[0].add(xy).add(xz).max(c[1].add(xy).add(yz)).max(c[2].add(xz).add(yz));
    let stretched = square.mul_add(L::splat(1.5), L::splat(-0.5));
    if squeezed { square.mul_add(square, stretched) } else { stretched }
}

/// Lanes of any machine.
#[derive(Clone, Copy)]
pub(super) struct Portable([f64; LANES]);

impl Portable {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let (a, b) = (self.0, other.0);
        Self([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
    }
}

// SAFETY: plain arithmetic.
#[allow(unsafe_code)]
unsafe impl Lanes for Portable {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; LANES])
    }
    #[inline(always)]
    fn load(from: &FourSingles) -> Self {
        Self(from.0.map(f64::from))
    }
    #[inline(always)]
    fn load_exact(from: &Four) -> Self {
        Self(from.0)
    }
    #[inline(always)]
    fn store(self, to: &mut Four) {
        to.0 = self.0;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.each(other, |a, b| a * b)
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self.mul(b).add(c)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.each(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.each(self, |a, _| a.abs())
    }
    #[inline(always)]
    fn any_positive(self) -> bool {
        self.0.iter().any(|x| *x > 0.0)
    }
    #[inline(always)]
    fn greatest(self) -> f64 {
        self.0.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }
    #[inline(always)]
    unsafe fn coordinates(points: &[Four], [a, b, c, d]: [usize; LANES]) -> [Self; 3] {
        [0, 1, 2].map(|k| Self([points[a].0[k], points[b].0[k], points[c].0[k], points[d].0[k]]))
    }
    #[inline(always)]
    unsafe fn add_points([x, y, z]: [Self; 3], to: &mut [Four], places: [usize; LANES]) {
        for k in 0..LANES {
            let sum = &mut to[places[k]].0;
            sum[0] += x.0[k];
            sum[1] += y.0[k];
            sum[2] += z.0[k];
        }
    }
}
