//! The inner loops: banks of damped oscillators, many modes at a time, state in registers across a block.
//!
//! Two recurrences, both with the output gain of a mode folded into its state:
//!
//! - **rotation**: a complex state `z ← P z`, `P = e^{(−d + jω)/fs}`, output `Re z`. Precise at every frequency and safe to modulate.
//! - **two-pole**: `y[n] = 2R cos θ · y[n−1] − R² · y[n−2] + w x[n]`, `P = R e^{jθ}`. Half the work, but in single precision its pitch is right
//!   only where `θ` is not small. The force is differenced once for all modes, `x[n] = (F[n] − F[n−2])/2`: with zeros at 0 and fs/2 the
//!   answer to an impulse is `R^n cos nθ` like the rotation's, for every `θ`.
//!
//! Every loop exists in a plain form that defines it ([`Kernels::scalar`]) and in the widest form the machine has, chosen once at run time
//! ([`Kernels::best`]). Sums are kept in eight partial sums per sample ([`Partial`]) and folded at the end of a body's block.
//!
//! `unsafe` is confined to this folder. It is needed for two things: calling a function compiled for an instruction set after that set has
//! been detected, and loads and stores of eight neighbours inside slices whose length was checked on entry.

mod denormals;
mod lanes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use denormals::without_denormals;
pub use wide::{HalfSineFilter, Levels, Poles};
pub(crate) use wide::{Place, advance_one};

/// Modes in a group of lanes: arrays of a bank are a multiple of this long.
pub const LANES: usize = 8;

/// Eight partial sums of one sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Partial(pub [f32; LANES]);

impl Partial {
    /// The sample.
    pub fn sum(&self) -> f32 {
        let a = &self.0;
        ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
    }
}

/// State and coefficients of a stretch of a bank. For rotation the states are `Re z`, `Im z` and the coefficients `Re P`, `Im P`; for
/// two-pole `y[n−1]`, `y[n−2]` and `2R cos θ`, `−R²`. All four have the same length, a multiple of [`LANES`].
pub struct Bank<'a> {
    /// First state.
    pub s0: &'a mut [f32],
    /// Second state.
    pub s1: &'a mut [f32],
    /// First coefficient.
    pub c0: &'a [f32],
    /// Second coefficient.
    pub c1: &'a [f32],
}

impl Bank<'_> {
    /// The same for some of the modes.
    pub(crate) fn part(self, range: std::ops::Range<usize>) -> Self {
        Self {
            s0: &mut self.s0[range.clone()],
            s1: &mut self.s1[range.clone()],
            c0: &self.c0[range.clone()],
            c1: &self.c1[range],
        }
    }

    /// Length, after checking that all arrays have it and that it is a multiple of [`LANES`].
    ///
    /// # Panics
    /// If not. The banks of this crate are built that way.
    #[inline(always)]
    fn checked_len(&self) -> usize {
        let n = self.s0.len();
        assert!(
            n.is_multiple_of(LANES) && self.s1.len() == n && self.c0.len() == n && self.c1.len() == n,
            "arrays of a bank"
        );
        n
    }
}

type Free = fn(Bank<'_>, &mut [Partial]);
type Driven = fn(Bank<'_>, weights: &[f32], force: &[f32], &mut [Partial]);
type Fold = fn(&[Partial], &mut [f32]);
type Halves = fn(Bank<'_>, jump: [&[f32]; 2], &mut [Partial]);
type Step = fn(Bank<'_>, weights: &[f32], force: f32) -> f32;

/// The loops in one instruction set.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// Name of the instruction set.
    pub name: &'static str,
    /// Adds the next samples of a bank left to itself.
    pub rotation_free: Free,
    /// The same for few modes, which would wait for their own results: both halves of an even number of samples at once. `jump` is `P` to the power of
    /// half that number. Overwrites what was there.
    pub rotation_halves: Halves,
    /// The same under a force: before each sample, `z += w F`.
    pub rotation_driven: Driven,
    /// One sample of a driven bank, for feedback that closes every sample.
    pub rotation_step: Step,
    /// Adds the next samples of a bank left to itself.
    pub two_pole_free: Free,
    /// The same under a force that was differenced as the [module](self) says.
    pub two_pole_driven: Driven,
    /// Sums the partial sums of each sample.
    pub fold: Fold,
    /// Per-mode work of the policy and of events; see [`wide`].
    pub(crate) wide: wide::Wide,
}

impl std::fmt::Debug for Kernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernels({})", self.name)
    }
}

impl Kernels {
    /// One mode after the other: the definition.
    pub const fn scalar() -> Self {
        Self {
            name: "scalar",
            rotation_free: scalar::rotation_free,
            rotation_halves: scalar::rotation_halves,
            rotation_driven: scalar::rotation_driven,
            rotation_step: scalar::rotation_step,
            two_pole_free: scalar::two_pole_free,
            two_pole_driven: scalar::two_pole_driven,
            fold: scalar::fold,
            wide: wide::Wide::portable(),
        }
    }

    /// Eight lanes in plain Rust, for machines without a form of their own.
    pub const fn portable() -> Self {
        Self {
            name: "portable",
            rotation_free: lanes::portable::rotation_free,
            rotation_halves: lanes::portable::rotation_halves,
            rotation_driven: lanes::portable::rotation_driven,
            rotation_step: lanes::portable::rotation_step,
            two_pole_free: lanes::portable::two_pole_free,
            two_pole_driven: lanes::portable::two_pole_driven,
            fold: lanes::portable::fold,
            wide: wide::Wide::portable(),
        }
    }

    /// Every form that this machine can run, best first.
    pub fn available() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(x86::avx2());
            all.push(x86::sse2());
        }
        #[cfg(target_arch = "aarch64")]
        all.push(neon::neon());
        all.push(Self::portable());
        all.push(Self::scalar());
        all
    }

    /// The fastest form that this machine can run.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        return x86::avx2().unwrap_or_else(x86::sse2);
        #[cfg(target_arch = "aarch64")]
        return neon::neon();
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return Self::portable();
    }
}

/// The loops as they are defined.
mod scalar {
    use super::{Bank, LANES, Partial};

    pub fn fold(sums: &[Partial], out: &mut [f32]) {
        out.iter_mut().zip(sums).for_each(|(y, sum)| *y = sum.sum());
    }

    pub fn rotation_free(bank: Bank<'_>, out: &mut [Partial]) {
        for i in 0..bank.checked_len() {
            for sample in out.iter_mut() {
                let (re, im) = (bank.s0[i], bank.s1[i]);
                sample.0[i % LANES] += re;
                bank.s0[i] = bank.c0[i] * re - bank.c1[i] * im;
                bank.s1[i] = bank.c0[i] * im + bank.c1[i] * re;
            }
        }
    }

    pub fn rotation_halves(bank: Bank<'_>, jump: [&[f32]; 2], out: &mut [Partial]) {
        out.fill(Partial::default());
        let (first, second) = out.split_at_mut(out.len() / 2);
        let n = bank.checked_len();
        for (i, (&c, &s)) in jump[0].iter().zip(jump[1]).enumerate().take(n) {
            let (mut re, mut im) = (bank.s0[i], bank.s1[i]);
            let mut ahead = (c * re - s * im, c * im + s * re);
            for (early, late) in first.iter_mut().zip(second.iter_mut()) {
                early.0[i % LANES] += re;
                late.0[i % LANES] += ahead.0;
                (re, im) = (bank.c0[i] * re - bank.c1[i] * im, bank.c0[i] * im + bank.c1[i] * re);
                ahead = (bank.c0[i] * ahead.0 - bank.c1[i] * ahead.1, bank.c0[i] * ahead.1 + bank.c1[i] * ahead.0);
            }
            (bank.s0[i], bank.s1[i]) = ahead;
        }
    }

    pub fn rotation_driven(bank: Bank<'_>, weights: &[f32], force: &[f32], out: &mut [Partial]) {
        for (i, weight) in weights.iter().enumerate().take(bank.checked_len()) {
            for (sample, f) in out.iter_mut().zip(force) {
                let (re, im) = (bank.s0[i] + weight * f, bank.s1[i]);
                sample.0[i % LANES] += re;
                bank.s0[i] = bank.c0[i] * re - bank.c1[i] * im;
                bank.s1[i] = bank.c0[i] * im + bank.c1[i] * re;
            }
        }
    }

    pub fn rotation_step(bank: Bank<'_>, weights: &[f32], force: f32) -> f32 {
        let mut out = [Partial::default()];
        rotation_driven(bank, weights, &[force], &mut out);
        out[0].sum()
    }

    pub fn two_pole_free(bank: Bank<'_>, out: &mut [Partial]) {
        for i in 0..bank.checked_len() {
            for sample in out.iter_mut() {
                let y = bank.c0[i] * bank.s0[i] + bank.c1[i] * bank.s1[i];
                sample.0[i % LANES] += y;
                bank.s1[i] = bank.s0[i];
                bank.s0[i] = y;
            }
        }
    }

    pub fn two_pole_driven(bank: Bank<'_>, weights: &[f32], force: &[f32], out: &mut [Partial]) {
        for (i, weight) in weights.iter().enumerate().take(bank.checked_len()) {
            for (sample, x) in out.iter_mut().zip(force) {
                let y = bank.c0[i] * bank.s0[i] + (bank.c1[i] * bank.s1[i] + weight * x);
                sample.0[i % LANES] += y;
                bank.s1[i] = bank.s0[i];
                bank.s0[i] = y;
            }
        }
    }
}

#[cfg(test)]
mod tests;
