//! Joint refinement of poles: separable nonlinear least squares.
//!
//! The recordings are `x_k[n] = Σ_i Re(c_ik z_iⁿ) + noise`: linear in the amplitudes `c`, which differ from take to take,
//! and nonlinear in the poles `z`, which all takes share. Variable projection (Golub & Pereyra 1973, in Kaufman's 1975
//! form) solves for the amplitudes inside each step and moves only the poles:
//!
//! ```text
//! H δ = g,   H = Σ_k D_kᵀD_k − D_kᵀΦ_k (Φ_kᵀΦ_k)⁻¹ Φ_kᵀD_k,   g = Σ_k D_kᵀ r_k
//! ```
//!
//! with `Φ` the modes, `D` their derivatives along `log z` and `r` the residual; Levenberg and Marquardt guard the step.
//! All matrices come in closed form from [`gram`](super::gram). For white noise the minimum is the maximum-likelihood
//! estimate, hence it reaches the Cramér–Rao bound where ESPRIT does not.
//!
//! Many modes are refined in blocks of neighbours, each against the recording minus all other modes.

use super::{
    gram::{C64, LogPole, ONE, Pair, correlate},
    linalg::{Cholesky, Square},
};
use rayon::prelude::*;

/// Largest number of modes solved together. Modes further apart barely see each other.
const BLOCK: usize = 32;

/// Ridge on the amplitudes, relative: keeps two poles that fall together from growing against each other.
const RIDGE: f64 = 1e-9;

/// How hard to try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Most sweeps over all blocks.
    pub sweeps: usize,
    /// Most steps per block and sweep.
    pub steps: usize,
    /// Gain of a step that is not worth another, as a part of the energy of the residual.
    pub tolerance: f64,
}

/// Poles and one complex amplitude per take and mode.
#[derive(Clone, Debug, Default)]
pub(super) struct Modes {
    pub poles: Vec<LogPole>,
    /// `amplitudes[take][mode]`.
    pub amplitudes: Vec<Vec<C64>>,
}

/// Slowest and fastest decay allowed, per sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecayRange {
    pub slowest: f64,
    pub fastest: f64,
}

impl DecayRange {
    /// Fastest decay at the frequency of a pole; a quality factor below two is no mode.
    fn fastest_at(&self, pole: LogPole) -> f64 {
        self.fastest.min(pole.im / 4.0).max(self.slowest)
    }

    /// Brings a pole into range.
    pub fn clamp(&self, pole: LogPole) -> LogPole {
        C64::new(-(-pole.re).clamp(self.slowest, self.fastest_at(pole)), pole.im)
    }

    /// Whether a pole would decay still faster if it might: contact noise rather than a mode.
    pub fn too_fast(&self, pole: LogPole) -> bool {
        -pole.re > 0.95 * self.fastest_at(pole)
    }
}

impl Modes {
    /// Least-squares amplitudes of given poles, all jointly.
    pub fn with_poles(takes: &[Vec<f64>], poles: Vec<LogPole>) -> Self {
        let n = poles.len();
        let products: Vec<Vec<C64>> =
            takes.iter().map(|x| poles.par_iter().map(|&s| correlate(x, s)[0]).collect()).collect();
        let mut amplitudes: Vec<Vec<C64>> = Vec::new();
        let mut factor: Option<(usize, Cholesky)> = None;
        for (x, products) in takes.iter().zip(products) {
            if factor.as_ref().is_none_or(|(len, _)| *len != x.len()) {
                factor = Some((x.len(), Cholesky::new(&gram_matrix(&poles, x.len()), RIDGE)));
            }
            let mut b = real_products(&products);
            if let Some((_, cholesky)) = &factor {
                cholesky.solve(&mut b);
            }
            amplitudes.push((0..n).map(|i| C64::new(b[2 * i], b[2 * i + 1])).collect());
        }
        Self { poles, amplitudes }
    }

    /// The takes minus these modes.
    pub fn residual(&self, takes: &[Vec<f64>]) -> Vec<Vec<f64>> {
        takes
            .par_iter()
            .zip(&self.amplitudes)
            .map(|(x, amplitudes)| {
                let mut r = x.clone();
                for (&c, &s) in amplitudes.iter().zip(&self.poles) {
                    super::gram::add_mode(&mut r, c, s, 0.0, -1.0);
                }
                r
            })
            .collect()
    }

    /// Refines all poles, block by block, and re-solves the amplitudes.
    pub fn refine(mut self, takes: &[Vec<f64>], range: DecayRange, effort: Effort) -> Self {
        let energy = |r: &[Vec<f64>]| r.iter().flatten().map(|x| x * x).sum::<f64>();
        self.sort();
        let mut residual = self.residual(takes);
        let mut left = energy(&residual);
        for sweep in 0..effort.sweeps {
            let blocks = blocks(&self.poles, sweep % 2 == 1);
            // All blocks start from the same state, so the result does not depend on who finishes first.
            let refined: Vec<Vec<LogPole>> = blocks
                .into_par_iter()
                .map(|block| {
                    let targets = self.targets(&residual, block.clone());
                    let problem =
                        Problem { targets: &targets, range, enough: effort.tolerance * left, steps: effort.steps };
                    problem.solve(&self.poles[block])
                })
                .collect();
            let mut next = Self::with_poles(takes, refined.into_iter().flatten().collect());
            next.sort();
            residual = next.residual(takes);
            let before = std::mem::replace(&mut left, energy(&residual));
            if left > before {
                break;
            }
            self = next;
            if before - left < 10.0 * effort.tolerance * before {
                break;
            }
        }
        self
    }

    /// The residual with the modes of one block put back.
    fn targets(&self, residual: &[Vec<f64>], block: std::ops::Range<usize>) -> Vec<Vec<f64>> {
        let mut targets = residual.to_vec();
        for (target, amplitudes) in targets.iter_mut().zip(&self.amplitudes) {
            for (&c, &s) in amplitudes[block.clone()].iter().zip(&self.poles[block.clone()]) {
                super::gram::add_mode(target, c, s, 0.0, 1.0);
            }
        }
        targets
    }

    /// Orders by frequency.
    pub fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.poles.len()).collect();
        order.sort_by(|&a, &b| self.poles[a].im.total_cmp(&self.poles[b].im));
        self.poles = order.iter().map(|&i| self.poles[i]).collect();
        for amplitudes in &mut self.amplitudes {
            *amplitudes = order.iter().map(|&i| amplitudes[i]).collect();
        }
    }

    /// Keeps the modes for which `keep` holds.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut flags = keep.iter();
        self.poles.retain(|_| *flags.next().unwrap_or(&false));
        for amplitudes in &mut self.amplitudes {
            let mut flags = keep.iter();
            amplitudes.retain(|_| *flags.next().unwrap_or(&false));
        }
    }
}

/// `Re(u b)` for the cosine and sine directions.
fn real_products(products: &[C64]) -> Vec<f64> {
    products.iter().flat_map(|b| [b.re, -b.im]).collect()
}

/// `ΦᵀΦ` of the cosine and sine parts of all poles.
pub(super) fn gram_matrix(poles: &[LogPole], len: usize) -> Square<f64> {
    let mut g = Square::zeros(2 * poles.len());
    for i in 0..poles.len() {
        for j in 0..=i {
            put(&mut g, i, j, Pair::new(poles[i], poles[j], len).block(0, ONE, ONE));
        }
    }
    g
}

/// Writes a 2 × 2 block and its mirror image.
fn put(matrix: &mut Square<f64>, i: usize, j: usize, block: [[f64; 2]; 2]) {
    for (r, row) in block.iter().enumerate() {
        for (c, value) in row.iter().enumerate() {
            matrix.set(2 * i + r, 2 * j + c, *value);
            matrix.set(2 * j + c, 2 * i + r, *value);
        }
    }
}

/// Ranges of neighbouring modes, cut at the widest gaps.
fn blocks(poles: &[LogPole], shifted: bool) -> Vec<std::ops::Range<usize>> {
    let mut cuts = Vec::new();
    let mut start = 0;
    let mut size = if shifted { BLOCK / 2 } else { BLOCK };
    while poles.len() - start > size {
        let gap = |i: &usize| (poles[*i].im - poles[*i - 1].im) / poles[*i].im.max(1e-9);
        let cut =
            (start + size / 2 + 1..=start + size).max_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(start + size);
        cuts.push(start..cut);
        start = cut;
        size = BLOCK;
    }
    cuts.push(start..poles.len());
    cuts
}

/// One block of modes.
struct Problem<'a> {
    /// The takes minus all other modes.
    targets: &'a [Vec<f64>],
    range: DecayRange,
    /// A gain in energy that is not worth another step.
    enough: f64,
    steps: usize,
}

/// The problem linearised about some poles.
struct Point {
    poles: Vec<LogPole>,
    /// Energy explained.
    gain: f64,
    hessian: Square<f64>,
    gradient: Vec<f64>,
}

impl Problem<'_> {
    fn solve(&self, start: &[LogPole]) -> Vec<LogPole> {
        let mut here = self.linearise(start.to_vec());
        let mut damping = 1e-3;
        for _ in 0..self.steps {
            let mut step = here.gradient.clone();
            Cholesky::new(&here.hessian, damping).solve(&mut step);
            let poles: Vec<LogPole> = here
                .poles
                .iter()
                .zip(step.chunks_exact(2))
                .map(|(&s, d)| self.limited(s, C64::new(d[0], d[1])))
                .collect();
            let moved = poles.iter().zip(&here.poles).map(|(a, b)| (a - b).norm() / -b.re).fold(0.0, f64::max);
            let there = self.linearise(poles);
            let better = there.gain - here.gain;
            if better >= 0.0 {
                here = there;
                damping = (damping * 0.2).max(1e-9);
            } else {
                damping *= 8.0;
            }
            if moved < 1e-6 || damping > 1e6 || (0.0..self.enough).contains(&better) {
                break;
            }
        }
        here.poles
    }

    /// A step no larger than the region in which the linearisation means anything.
    fn limited(&self, pole: LogPole, step: C64) -> LogPole {
        if !(step.re.is_finite() && step.im.is_finite()) {
            return pole;
        }
        let decay = -pole.re;
        let wide = decay.max(2.0 * self.range.slowest);
        let decay = (decay - step.re).clamp(0.4 * decay, 2.5 * decay);
        self.range.clamp(C64::new(-decay, (pole.im + step.im.clamp(-wide, wide)).clamp(1e-4, std::f64::consts::PI)))
    }

    fn linearise(&self, poles: Vec<LogPole>) -> Point {
        let n = poles.len();
        let mut point = Point { poles, gain: 0.0, hessian: Square::zeros(2 * n), gradient: vec![0.0; 2 * n] };
        let mut pairs: (usize, Vec<Pair>) = (usize::MAX, Vec::new());
        for x in self.targets {
            if pairs.0 != x.len() {
                let p = &point.poles;
                let sums = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                pairs = (x.len(), sums.map(|(i, j)| Pair::new(p[i], p[j], x.len())).collect());
            }
            add_take(&mut point, x, &pairs.1);
        }
        point
    }
}

/// Adds one take to the linearised problem.
fn add_take(point: &mut Point, target: &[f64], pairs: &[Pair]) {
    let n = point.poles.len();
    let products = point.poles.iter().map(|&s| correlate(target, s)).collect::<Vec<_>>();
    let mut g = Square::zeros(2 * n);
    for i in 0..n {
        for j in 0..=i {
            put(&mut g, i, j, pairs[i * n + j].block(0, ONE, ONE));
        }
    }
    let cholesky = Cholesky::new(&g, RIDGE);
    let b = real_products(&products.iter().map(|p| p[0]).collect::<Vec<_>>());
    let mut a = b.clone();
    cholesky.solve(&mut a);
    point.gain += a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>();
    let c: Vec<C64> = a.chunks_exact(2).map(|v| C64::new(v[0], v[1])).collect();

    // Columns of L⁻¹ΦᵀD, one row of `whitened` per derivative.
    let mut whitened = vec![vec![0.0; 2 * n]; 2 * n];
    for i in 0..n {
        let slope = products[i][1] * c[i];
        let mut expected = [slope.re, -slope.im];
        for j in 0..n {
            let block = pairs[i * n + j].block(1, c[i], ONE);
            for r in 0..2 {
                whitened[2 * i + r][2 * j] = block[r][0];
                whitened[2 * i + r][2 * j + 1] = block[r][1];
                expected[r] -= block[r][0] * a[2 * j] + block[r][1] * a[2 * j + 1];
            }
        }
        point.gradient[2 * i] += expected[0];
        point.gradient[2 * i + 1] += expected[1];
    }
    whitened.iter_mut().for_each(|row| cholesky.forward(row));
    for i in 0..n {
        for j in 0..n {
            let block = pairs[i * n + j].block(2, c[i], c[j]);
            for (r, row) in block.iter().enumerate() {
                for (q, value) in row.iter().enumerate() {
                    let (u, v) = (2 * i + r, 2 * j + q);
                    let projected: f64 = whitened[u].iter().zip(&whitened[v]).map(|(x, y)| x * y).sum();
                    point.hessian.set(u, v, point.hessian.at(u, v) + value - projected);
                }
            }
        }
    }
}
