//! The loops over eight lanes, written once for every instruction set.

use super::{Bank, LANES, Partial};

/// Eight numbers in registers.
///
/// # Safety
/// Implementations may use instructions that not every machine has. Whoever calls a function generic over this trait makes sure, by
/// run-time detection, that the machine has those of the type.
pub(super) unsafe trait Eight: Copy {
    /// # Safety
    /// `from` is valid for reading eight numbers.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    /// `to` is valid for writing eight numbers.
    unsafe fn store(self, to: *mut f32);
    /// The same number in all lanes.
    ///
    /// # Safety
    /// The machine has the instructions of the type.
    unsafe fn splat(x: f32) -> Self;
    /// `self + other`.
    ///
    /// # Safety
    /// The machine has the instructions of the type.
    unsafe fn add(self, other: Self) -> Self;
    /// `self · other`.
    ///
    /// # Safety
    /// The machine has the instructions of the type.
    unsafe fn mul(self, other: Self) -> Self;
    /// `self · b + c`.
    ///
    /// # Safety
    /// The machine has the instructions of the type.
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c − self · b`.
    ///
    /// # Safety
    /// The machine has the instructions of the type.
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// The sum of the lanes of each.
    ///
    /// # Safety
    /// The machine has the instructions of the type.
    #[inline(always)]
    unsafe fn sums(eight: [Self; 8]) -> Self {
        let mut sums = [0.0; 8];
        for (sum, lanes) in sums.iter_mut().zip(eight) {
            let mut partial = Partial::default();
            // SAFETY: eight numbers fit into a partial sum.
            unsafe { lanes.store(partial.0.as_mut_ptr()) };
            *sum = partial.sum();
        }
        // SAFETY: the array has eight numbers.
        unsafe { Self::load(sums.as_ptr()) }
    }
}

/// What pushes a bank from sample to sample: nothing, or a force with a weight per mode. A type rather than an option, so that each case
/// is compiled by itself.
pub(super) trait Push: Copy {
    const ACTS: bool;
    /// Weights of the eight modes from `at` on.
    ///
    /// # Safety
    /// There are eight weights from `at` on, and the machine has the instructions of `E`.
    unsafe fn weights<E: Eight>(self, at: usize) -> E;
    /// Force at a sample.
    ///
    /// # Safety
    /// There is such a sample, and the machine has the instructions of `E`.
    unsafe fn force<E: Eight>(self, sample: usize) -> E;
}

#[derive(Clone, Copy)]
struct Nothing;

impl Push for Nothing {
    const ACTS: bool = false;
    #[inline(always)]
    unsafe fn weights<E: Eight>(self, _: usize) -> E {
        // SAFETY: the caller vouches for the instructions of `E`.
        unsafe { E::splat(0.0) }
    }
    #[inline(always)]
    unsafe fn force<E: Eight>(self, _: usize) -> E {
        // SAFETY: the caller vouches for the instructions of `E`.
        unsafe { E::splat(0.0) }
    }
}

/// Pointers to as many weights as the bank has modes and as many forces as there are samples.
#[derive(Clone, Copy)]
struct Force {
    weights: *const f32,
    samples: *const f32,
}

impl Push for Force {
    const ACTS: bool = true;
    #[inline(always)]
    unsafe fn weights<E: Eight>(self, at: usize) -> E {
        // SAFETY: the caller vouches for eight weights from `at` on, and for the instructions of `E`.
        unsafe { E::load(self.weights.add(at)) }
    }
    #[inline(always)]
    unsafe fn force<E: Eight>(self, sample: usize) -> E {
        // SAFETY: the caller vouches for the sample, and for the instructions of `E`.
        unsafe { E::splat(*self.samples.add(sample)) }
    }
}

/// Runs `$r::group::<E, _, G>` over all groups of eight: four at a time while enough are left, then in threes and twos, because a single
/// one would wait for its own results.
macro_rules! in_groups {
    ($len:expr, |$at:ident| $r:ident::<$e:ident>($($arg:expr),*)) => {{
        let vectors = $len / LANES;
        let mut done = 0;
        while done < vectors {
            let $at = done * LANES;
            done += match vectors - done {
                1 => { $r::group::<$e, _, 1>($($arg),*); 1 }
                2 => { $r::group::<$e, _, 2>($($arg),*); 2 }
                3 | 5 | 6 => { $r::group::<$e, _, 3>($($arg),*); 3 }
                _ => { $r::group::<$e, _, 4>($($arg),*); 4 }
            };
        }
    }};
}

/// How a bank goes from sample to sample.
pub(super) trait Recurrence {
    /// Adds the samples of `G` groups of eight from `at` on. `push` is valid for the whole bank and all samples.
    ///
    /// # Safety
    /// As for [`Eight`]; and `at + 8·G` is at most the length of all arrays of the bank.
    unsafe fn group<E: Eight, P: Push, const G: usize>(bank: &mut Bank<'_>, at: usize, push: P, out: &mut [Partial]);
}

pub(super) struct Rotation;
pub(super) struct TwoPole;

/// # Safety
/// As for [`Eight`].
#[inline(always)]
pub(super) unsafe fn free<E: Eight, R: Recurrence>(mut bank: Bank<'_>, out: &mut [Partial]) {
    let n = bank.checked_len();
    // SAFETY: `n` is the checked length of all arrays, and groups stay below it.
    unsafe { in_groups!(n, |at| R::<E>(&mut bank, at, Nothing, out)) }
}

/// # Safety
/// As for [`Eight`].
#[inline(always)]
pub(super) unsafe fn driven<E: Eight, R: Recurrence>(
    mut bank: Bank<'_>,
    weights: &[f32],
    force: &[f32],
    out: &mut [Partial],
) {
    let n = bank.checked_len();
    assert!(weights.len() == n && force.len() == out.len(), "weights and force of a bank");
    let push = Force { weights: weights.as_ptr(), samples: force.as_ptr() };
    // SAFETY: as above; there is a weight for every mode and a force for every sample.
    unsafe { in_groups!(n, |at| R::<E>(&mut bank, at, push, out)) }
}

/// # Safety
/// As for [`Eight`].
#[inline(always)]
pub(super) unsafe fn step<E: Eight, R: Recurrence>(bank: Bank<'_>, weights: &[f32], force: f32) -> f32 {
    let mut out = [Partial::default()];
    // SAFETY: as for the caller.
    unsafe { driven::<E, R>(bank, weights, &[force], &mut out) };
    out[0].sum()
}

impl Recurrence for Rotation {
    #[inline(always)]
    unsafe fn group<E: Eight, P: Push, const G: usize>(bank: &mut Bank<'_>, at: usize, push: P, out: &mut [Partial]) {
        // SAFETY: the caller guarantees `at + 8·G` ≤ the length of all arrays.
        unsafe {
            let at_lane = |p: *const f32, g: usize| E::load(p.add(at + g * LANES));
            let c: [E; G] = std::array::from_fn(|g| at_lane(bank.c0.as_ptr(), g));
            let s: [E; G] = std::array::from_fn(|g| at_lane(bank.c1.as_ptr(), g));
            let mut re: [E; G] = std::array::from_fn(|g| at_lane(bank.s0.as_ptr(), g));
            let mut im: [E; G] = std::array::from_fn(|g| at_lane(bank.s1.as_ptr(), g));
            for (t, sample) in out.iter_mut().enumerate() {
                if P::ACTS {
                    let force = push.force::<E>(t);
                    for (g, re) in re.iter_mut().enumerate() {
                        *re = push.weights::<E>(at + g * LANES).mul_add(force, *re);
                    }
                }
                let sum = sum_of(re);
                E::load(sample.0.as_ptr()).add(sum).store(sample.0.as_mut_ptr());
                for g in 0..G {
                    let turned = s[g].neg_mul_add(im[g], c[g].mul(re[g]));
                    im[g] = s[g].mul_add(re[g], c[g].mul(im[g]));
                    re[g] = turned;
                }
            }
            for g in 0..G {
                re[g].store(bank.s0.as_mut_ptr().add(at + g * LANES));
                im[g].store(bank.s1.as_mut_ptr().add(at + g * LANES));
            }
        }
    }
}

/// # Safety
/// As for [`Eight`].
#[inline(always)]
pub(super) unsafe fn rotation_halves<E: Eight>(mut bank: Bank<'_>, jump: [&[f32]; 2], out: &mut [Partial]) {
    let n = bank.checked_len();
    assert!(jump[0].len() == n && jump[1].len() == n && out.len().is_multiple_of(2), "jumps and samples of a bank");
    let mut at = 0;
    while at < n {
        // SAFETY: `n` is the checked length of all arrays, and groups stay below it.
        unsafe {
            at += LANES
                * match (at, n - at) {
                    (0, LANES) => quarters_group::<E, true>(&mut bank, jump, at, out),
                    (0, _) => halves_group::<E, 2, true>(&mut bank, jump, at, out),
                    (_, LANES) => quarters_group::<E, false>(&mut bank, jump, at, out),
                    _ => halves_group::<E, 2, false>(&mut bank, jump, at, out),
                };
        }
    }
}

/// Like [`Rotation`], with a second copy of the states half the samples ahead; the `FIRST` group overwrites what was there. Returns `G`.
///
/// # Safety
/// `at + 8·G` ≤ the length of all arrays, and the machine has the instructions of `E`.
#[inline(always)]
unsafe fn halves_group<E: Eight, const G: usize, const FIRST: bool>(
    bank: &mut Bank<'_>,
    jump: [&[f32]; 2],
    at: usize,
    out: &mut [Partial],
) -> usize {
    // SAFETY: the caller guarantees `at + 8·G` ≤ the length of all arrays.
    unsafe {
        let at_lane = |p: *const f32, g: usize| E::load(p.add(at + g * LANES));
        let c: [E; G] = std::array::from_fn(|g| at_lane(bank.c0.as_ptr(), g));
        let s: [E; G] = std::array::from_fn(|g| at_lane(bank.c1.as_ptr(), g));
        let mut re: [E; G] = std::array::from_fn(|g| at_lane(bank.s0.as_ptr(), g));
        let mut im: [E; G] = std::array::from_fn(|g| at_lane(bank.s1.as_ptr(), g));
        let (mut ahead_re, mut ahead_im) = (re, im);
        for g in 0..G {
            let (jc, js) = (at_lane(jump[0].as_ptr(), g), at_lane(jump[1].as_ptr(), g));
            ahead_re[g] = js.neg_mul_add(im[g], jc.mul(re[g]));
            ahead_im[g] = js.mul_add(re[g], jc.mul(im[g]));
        }
        let (first, second) = out.split_at_mut(out.len() / 2);
        for (early, late) in first.iter_mut().zip(second) {
            let (mut y_early, mut y_late) = (sum_of(re), sum_of(ahead_re));
            if !FIRST {
                y_early = E::load(early.0.as_ptr()).add(y_early);
                y_late = E::load(late.0.as_ptr()).add(y_late);
            }
            y_early.store(early.0.as_mut_ptr());
            y_late.store(late.0.as_mut_ptr());
            for g in 0..G {
                let turned = s[g].neg_mul_add(im[g], c[g].mul(re[g]));
                im[g] = s[g].mul_add(re[g], c[g].mul(im[g]));
                re[g] = turned;
                let turned = s[g].neg_mul_add(ahead_im[g], c[g].mul(ahead_re[g]));
                ahead_im[g] = s[g].mul_add(ahead_re[g], c[g].mul(ahead_im[g]));
                ahead_re[g] = turned;
            }
        }
        for g in 0..G {
            ahead_re[g].store(bank.s0.as_mut_ptr().add(at + g * LANES));
            ahead_im[g].store(bank.s1.as_mut_ptr().add(at + g * LANES));
        }
    }
    G
}

/// The same for a single group of eight, which would still wait: all four quarters at once. The second quarter begins where turning by `P` as often
/// would have led; the later half is that turned by `jump`. Returns 1.
///
/// # Safety
/// `at + 8` ≤ the length of all arrays, and the machine has the instructions of `E`.
#[inline(always)]
unsafe fn quarters_group<E: Eight, const FIRST: bool>(
    bank: &mut Bank<'_>,
    jump: [&[f32]; 2],
    at: usize,
    out: &mut [Partial],
) -> usize {
    if !out.len().is_multiple_of(4) || !(out.len() / 4).is_power_of_two() {
        // SAFETY: as for the caller.
        return unsafe { halves_group::<E, 1, FIRST>(bank, jump, at, out) };
    }
    // SAFETY: the caller guarantees `at + 8` ≤ the length of all arrays.
    unsafe {
        let at_lane = |p: *const f32| E::load(p.add(at));
        let turn = |(c, s): (E, E), (re, im): (E, E)| (s.neg_mul_add(im, c.mul(re)), s.mul_add(re, c.mul(im)));
        let p = (at_lane(bank.c0.as_ptr()), at_lane(bank.c1.as_ptr()));
        let half = (at_lane(jump[0].as_ptr()), at_lane(jump[1].as_ptr()));
        let mut quarter = p;
        for _ in 0..(out.len() / 4).trailing_zeros() {
            quarter = turn(quarter, quarter);
        }
        let first = (at_lane(bank.s0.as_ptr()), at_lane(bank.s1.as_ptr()));
        let second = turn(quarter, first);
        let mut z = [first, second, turn(half, first), turn(half, second)];
        let (early, late) = out.split_at_mut(out.len() / 2);
        let (a, b) = early.split_at_mut(early.len() / 2);
        let (c, d) = late.split_at_mut(late.len() / 2);
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            for (z, sample) in z.iter_mut().zip([a, b, c, d]) {
                let y = if FIRST { z.0 } else { E::load(sample.0.as_ptr()).add(z.0) };
                y.store(sample.0.as_mut_ptr());
                *z = turn(p, *z);
            }
        }
        z[3].0.store(bank.s0.as_mut_ptr().add(at));
        z[3].1.store(bank.s1.as_mut_ptr().add(at));
    }
    1
}

/// Two samples per turn: the older state is overwritten by the new sample, so that nothing is moved.
impl Recurrence for TwoPole {
    #[inline(always)]
    unsafe fn group<E: Eight, P: Push, const G: usize>(bank: &mut Bank<'_>, at: usize, push: P, out: &mut [Partial]) {
        // SAFETY: the caller guarantees `at + 8·G` ≤ the length of all arrays.
        unsafe {
            let at_lane = |p: *const f32, g: usize| E::load(p.add(at + g * LANES));
            let a1: [E; G] = std::array::from_fn(|g| at_lane(bank.c0.as_ptr(), g));
            let a2: [E; G] = std::array::from_fn(|g| at_lane(bank.c1.as_ptr(), g));
            let mut last: [E; G] = std::array::from_fn(|g| at_lane(bank.s0.as_ptr(), g));
            let mut before: [E; G] = std::array::from_fn(|g| at_lane(bank.s1.as_ptr(), g));
            let samples = out.len();
            let mut pairs = out.chunks_exact_mut(2);
            for (pair, two) in pairs.by_ref().enumerate() {
                let [first, second] = two else { unreachable!("chunks of two") };
                two_pole_step(push, at, 2 * pair, [&a1, &a2], &mut before, &last, first);
                two_pole_step(push, at, 2 * pair + 1, [&a1, &a2], &mut last, &before, second);
            }
            if let [sample] = pairs.into_remainder() {
                two_pole_step(push, at, samples - 1, [&a1, &a2], &mut before, &last, sample);
                std::mem::swap(&mut before, &mut last);
            }
            for g in 0..G {
                last[g].store(bank.s0.as_mut_ptr().add(at + g * LANES));
                before[g].store(bank.s1.as_mut_ptr().add(at + g * LANES));
            }
        }
    }
}

/// One sample: `new` comes in as `y[n−2]` and goes out as `y[n]`.
///
/// # Safety
/// What `push` asks of its caller at `at` and `t` holds, and the machine has the instructions of `E`.
#[inline(always)]
unsafe fn two_pole_step<E: Eight, P: Push, const G: usize>(
    push: P,
    at: usize,
    t: usize,
    [a1, a2]: [&[E; G]; 2],
    new: &mut [E; G],
    last: &[E; G],
    sample: &mut Partial,
) {
    // SAFETY: as for the caller.
    unsafe {
        // In this order: the product with the oldest state can be had early, and the force is added while the newest is awaited.
        for new in new.iter_mut().zip(a2) {
            *new.0 = new.1.mul(*new.0);
        }
        if P::ACTS {
            let force = push.force::<E>(t);
            for (g, new) in new.iter_mut().enumerate() {
                *new = push.weights::<E>(at + g * LANES).mul_add(force, *new);
            }
        }
        for g in 0..G {
            new[g] = a1[g].mul_add(last[g], new[g]);
        }
        E::load(sample.0.as_ptr()).add(sum_of(*new)).store(sample.0.as_mut_ptr());
    }
}

/// # Safety
/// As for [`Eight`].
#[inline(always)]
pub(super) unsafe fn fold<E: Eight>(sums: &[Partial], out: &mut [f32]) {
    assert!(sums.len() == out.len(), "a sum for every sample");
    let whole = out.len() / LANES * LANES;
    for n in (0..whole).step_by(LANES) {
        // SAFETY: eight partial sums and eight samples from `n` on are inside their slices.
        unsafe {
            let eight = std::array::from_fn(|k| E::load(sums.get_unchecked(n + k).0.as_ptr()));
            E::sums(eight).store(out.as_mut_ptr().add(n));
        }
    }
    for n in whole..out.len() {
        out[n] = sums[n].sum();
    }
}

/// # Safety
/// The machine has the instructions of `E`.
#[inline(always)]
unsafe fn sum_of<E: Eight, const G: usize>(x: [E; G]) -> E {
    // SAFETY: the caller runs on a machine with the instructions of `E`.
    unsafe {
        match G {
            1 => x[0],
            2 => x[0].add(x[1]),
            3 => x[0].add(x[1]).add(x[2]),
            _ => x[0].add(x[1]).add(x[2].add(x[3])),
        }
    }
}

/// One entry point: `$name` calls the generic `$call`, compiled for the instructions of `$feature` if there are any.
macro_rules! entry_point {
    ([$($feature:meta)?] fn $name:ident($($arg:ident: $ty:ty),*) $(-> $out:ty)? { $call:expr }) => {
        pub fn $name($($arg: $ty),*) $(-> $out)? {
            $(#[$feature])?
            unsafe fn run($($arg: $ty),*) $(-> $out)? {
                // SAFETY: the instructions are there, see below.
                unsafe { $call($($arg),*) }
            }
            // SAFETY: this function is only handed out after the instruction set has been detected.
            unsafe { run($($arg),*) }
        }
    };
}
pub(super) use entry_point;

/// Makes the entry points for one type of lanes.
macro_rules! entry_points {
    ($lanes:ty $(, #[$feature:meta])?) => {
        use crate::kernel::lanes::{self, Rotation, TwoPole};
        use crate::kernel::{Bank, Partial};

        lanes::entry_point!([$($feature)?] fn rotation_free(bank: Bank<'_>, out: &mut [Partial]) {
            lanes::free::<$lanes, Rotation>
        });
        lanes::entry_point!([$($feature)?] fn rotation_halves(bank: Bank<'_>, jump: [&[f32]; 2], out: &mut [Partial]) {
            lanes::rotation_halves::<$lanes>
        });
        lanes::entry_point!([$($feature)?] fn rotation_driven(bank: Bank<'_>, weights: &[f32], force: &[f32], out: &mut [Partial]) {
            lanes::driven::<$lanes, Rotation>
        });
        lanes::entry_point!([$($feature)?] fn rotation_step(bank: Bank<'_>, weights: &[f32], force: f32) -> f32 {
            lanes::step::<$lanes, Rotation>
        });
        lanes::entry_point!([$($feature)?] fn two_pole_free(bank: Bank<'_>, out: &mut [Partial]) {
            lanes::free::<$lanes, TwoPole>
        });
        lanes::entry_point!([$($feature)?] fn two_pole_driven(bank: Bank<'_>, weights: &[f32], force: &[f32], out: &mut [Partial]) {
            lanes::driven::<$lanes, TwoPole>
        });
        lanes::entry_point!([$($feature)?] fn fold(sums: &[Partial], out: &mut [f32]) {
            lanes::fold::<$lanes>
        });
    };
}
pub(super) use entry_points;

/// Eight lanes as an array: correct everywhere, as fast as the compiler makes it.
pub(super) mod portable {
    use super::Eight;

    #[derive(Clone, Copy)]
    pub struct Array([f32; 8]);

    impl Array {
        #[inline(always)]
        fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
            Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
        }
    }

    // SAFETY: uses no special instructions.
    unsafe impl Eight for Array {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: valid for reading, by contract; an array has the alignment of its elements.
            Self(unsafe { *from.cast() })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: valid for writing, by contract.
            unsafe { *to.cast() = self.0 }
        }
        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            Self([x; 8])
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            self.zip(other, |a, b| a + b)
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            self.zip(other, |a, b| a * b)
        }
        #[inline(always)]
        unsafe fn mul_add(self, b: Self, c: Self) -> Self {
            self.zip(b, |a, b| a * b).zip(c, |a, c| a + c)
        }
        #[inline(always)]
        unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
            self.zip(b, |a, b| a * b).zip(c, |a, c| c - a)
        }
    }

    entry_points!(Array);
}
