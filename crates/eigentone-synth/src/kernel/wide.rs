//! Per-mode work that happens once per event or policy frame: plain loops, compiled for the widest vectors the machine has.
//!
//! There is no arithmetic here that a compiler cannot turn into vector instructions: sines, powers and logarithms are polynomials (fitted by
//! Chebyshev interpolation to the error given at each) and choices are selections.

use super::LANES;
use crate::policy::masking::{self, EDGES, Maskers};
use std::f32::consts::FRAC_PI_4;

/// What a mode does in one sample: the phase it gains, as a share of a turn times 2³² (so that whole turns vanish by themselves), and the
/// logarithm to base two of its shrinking.
#[derive(Clone, Copy)]
pub struct Poles<'a> {
    /// Phase per sample.
    pub turn: &'a [u32],
    /// Base-2 logarithm of the amplitude's factor per sample; negative.
    pub fade: &'a [f32],
    /// All frequencies are multiplied by this.
    pub scale: f32,
    /// All decay rates are multiplied by this.
    pub damping: f32,
}

/// Energies and levels of modes.
pub struct Levels<'a> {
    /// `|z|²/2`.
    pub energy: &'a mut [f32],
    /// The same in decibels.
    pub level: &'a mut [f32],
}

/// A blow of finite length as a filter: a half-sine of length `T` weakens a mode at `f` by `cos(πfT)/(1 − (2fT)²)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSineFilter {
    /// `T`, in samples.
    pub length: f32,
}

/// Where modes lie and what hides them.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub threshold: &'a [f32],
    pub cell: &'a [u16],
    pub share: &'a [f32],
    pub edges: &'a [f32; EDGES],
}

/// The loops in one instruction set.
#[derive(Clone, Copy)]
#[expect(clippy::type_complexity, reason = "the arguments have names, which type aliases would hide")]
pub(crate) struct Wide {
    /// Decibels by which modes are above all that could hide them; `shift` is added to their levels.
    pub judge: fn(level: &[f32], place: Place<'_>, shift: f32, out: &mut [f32]),
    /// The places in `values` of those that are `least` or more, in order, written to `at`; their number is added to `count`.
    pub select: fn(values: &[f32], least: f32, at: &mut [u32], count: &mut usize),
    /// `out = Σ coefficient · row`.
    pub combine: fn(rows: [&[f32]; 9], coefficients: [f32; 9], out: &mut [f32]),
    /// `z ← z P^(now − since)` for states that were true at `since`.
    pub advance: fn(re: &mut [f32], im: &mut [f32], poles: Poles<'_>, since: &[u32], now: u32),
    /// Free decay over some samples.
    pub decay: fn(out: Levels<'_>, fade: &[f32], elapsed: f32),
    /// The same over a whole policy frame, for which the factors are known.
    pub decay_frame: fn(out: Levels<'_>, fall: &[f32], shrink: &[f32]),
    /// See [`masking::Curve::rebuild`](crate::policy::masking::Curve::rebuild).
    pub mask: fn(edges: &mut [f32; EDGES], maskers: &Maskers, shift_db: f32, offset_db: f32),
    /// `z ← z + push · (1 + j slant) · P^ahead`, for a blow `ahead` samples ago (negative: still to come).
    pub inject: fn(re: &mut [f32], im: &mut [f32], push: &[f32], slant: &[f32], poles: Poles<'_>, ahead: f32),
    /// Energies and levels of `z`.
    pub levels: fn(re: &[f32], im: &[f32], Levels<'_>),
    /// Real and imaginary part of `P`; the frequency of each mode is raised by `amount · spread`.
    pub poles: fn(poles: Poles<'_>, spread: &[f32], amount: f32, re: &mut [f32], im: &mut [f32]),
    /// Weakens `push` as a blow of finite length does.
    pub soften: fn(push: &mut [f32], turn: &[u32], HalfSineFilter),
}

macro_rules! instruction_sets {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => {
        impl Wide {
            /// For the instructions every machine of this kind has.
            pub const fn portable() -> Self {
                Self { $($name: body::$name),* }
            }

            /// For AVX2 with FMA. Hand out only after detecting both.
            #[cfg(target_arch = "x86_64")]
            pub(super) const fn avx2() -> Self {
                Self { $($name: avx2::$name),* }
            }
        }

        #[cfg(target_arch = "x86_64")]
        mod avx2 {
            use super::{EDGES, HalfSineFilter, Levels, Maskers, Place, Poles, body};
            $(pub fn $name($($arg: $ty),*) {
                #[target_feature(enable = "avx2,fma")]
                unsafe fn run($($arg: $ty),*) {
                    body::$name($($arg),*)
                }
                // SAFETY: this function is only handed out after the instruction set has been detected.
                unsafe { run($($arg),*) }
            })*
        }
    };
}

instruction_sets! {
    select(values: &[f32], least: f32, at: &mut [u32], count: &mut usize);
    combine(rows: [&[f32]; 9], coefficients: [f32; 9], out: &mut [f32]);
    advance(re: &mut [f32], im: &mut [f32], poles: Poles<'_>, since: &[u32], now: u32);
    decay(out: Levels<'_>, fade: &[f32], elapsed: f32);
    decay_frame(out: Levels<'_>, fall: &[f32], shrink: &[f32]);
    mask(edges: &mut [f32; EDGES], maskers: &Maskers, shift_db: f32, offset_db: f32);
    inject(re: &mut [f32], im: &mut [f32], push: &[f32], slant: &[f32], poles: Poles<'_>, ahead: f32);
    levels(re: &[f32], im: &[f32], out: Levels<'_>);
    poles(poles: Poles<'_>, spread: &[f32], amount: f32, re: &mut [f32], im: &mut [f32]);
    soften(push: &mut [f32], turn: &[u32], filter: HalfSineFilter);
    judge(level: &[f32], place: Place<'_>, shift: f32, out: &mut [f32]);
}

mod body {
    use super::*;

    #[inline(always)]
    pub fn select(values: &[f32], least: f32, at: &mut [u32], count: &mut usize) {
        let at = &mut at[..values.len()];
        for (group, values) in values.chunks(LANES).enumerate() {
            // As bits of a number, so that no decision is made per value: which ones it will be is hard to guess.
            let mut bits = 0;
            for (i, value) in values.iter().enumerate() {
                bits |= u32::from(*value >= least) << i;
            }
            while bits != 0 {
                at[*count] = (group * LANES) as u32 + bits.trailing_zeros();
                *count += 1;
                bits &= bits - 1;
            }
        }
    }

    #[inline(always)]
    pub fn combine(rows: [&[f32]; 9], coefficients: [f32; 9], out: &mut [f32]) {
        let n = out.len();
        let rows = rows.map(|row| &row[..n]);
        for i in 0..n {
            let mut sum = 0.0;
            for k in 0..9 {
                sum += coefficients[k] * rows[k][i];
            }
            out[i] = sum;
        }
    }

    #[inline(always)]
    pub fn advance(re: &mut [f32], im: &mut [f32], poles: Poles<'_>, since: &[u32], now: u32) {
        let n = re.len();
        let (im, turn, fade, since) = (&mut im[..n], &poles.turn[..n], &poles.fade[..n], &since[..n]);
        let mut rotate = |i: usize, (sin, cos): (f32, f32), elapsed: f32| {
            let shrink = exp2(fade[i] * (elapsed * poles.damping));
            let (c, s) = (shrink * cos, shrink * sin);
            let turned = re[i] * c - im[i] * s;
            im[i] = re[i] * s + im[i] * c;
            re[i] = turned;
        };
        if poles.scale == 1.0 {
            for i in 0..n {
                let elapsed = now.wrapping_sub(since[i]);
                rotate(i, sin_cos(share_of_turn(turn[i].wrapping_mul(elapsed))), elapsed as f32);
            }
        } else {
            for i in 0..n {
                let elapsed = now.wrapping_sub(since[i]) as f32;
                rotate(i, sin_cos(share_of_turn(turn[i]) * (elapsed * poles.scale)), elapsed);
            }
        }
    }

    #[inline(always)]
    pub fn decay(out: Levels<'_>, fade: &[f32], elapsed: f32) {
        let n = out.level.len();
        let (level, energy, fade) = (&mut out.level[..n], &mut out.energy[..n], &fade[..n]);
        for i in 0..n {
            let octaves = 2.0 * fade[i] * elapsed;
            level[i] += 3.010_3 * octaves;
            energy[i] *= exp2(octaves);
        }
    }

    #[inline(always)]
    pub fn decay_frame(out: Levels<'_>, fall: &[f32], shrink: &[f32]) {
        let n = out.level.len();
        let (level, energy) = (&mut out.level[..n], &mut out.energy[..n]);
        let (fall, shrink) = (&fall[..n], &shrink[..n]);
        for i in 0..n {
            level[i] -= fall[i];
            energy[i] *= shrink[i];
        }
    }

    #[inline(always)]
    pub fn mask(edges: &mut [f32; EDGES], maskers: &Maskers, shift_db: f32, offset_db: f32) {
        masking::mask(edges, maskers, shift_db, offset_db);
    }

    #[inline(always)]
    pub fn inject(re: &mut [f32], im: &mut [f32], push: &[f32], slant: &[f32], poles: Poles<'_>, ahead: f32) {
        let n = re.len();
        let (im, push, slant) = (&mut im[..n], &push[..n], &slant[..n]);
        let (turn, fade) = (&poles.turn[..n], &poles.fade[..n]);
        let (samples, span) = (ahead * poles.scale, ahead * poles.damping);
        for i in 0..n {
            let (sin, cos) = sin_cos(share_of_turn(turn[i]) * samples);
            // For what is still to come the power would grow; a mode that dies within the blow is not made louder by that.
            let size = push[i] * exp2((fade[i] * span).min(1.0));
            re[i] += size * (cos - slant[i] * sin);
            im[i] += size * (sin + slant[i] * cos);
        }
    }

    #[inline(always)]
    pub fn levels(re: &[f32], im: &[f32], out: Levels<'_>) {
        let n = re.len();
        let (im, energy, level) = (&im[..n], &mut out.energy[..n], &mut out.level[..n]);
        for i in 0..n {
            let e = 0.5 * (re[i] * re[i] + im[i] * im[i]);
            energy[i] = e;
            level[i] = decibels(e);
        }
    }

    #[inline(always)]
    pub fn poles(poles: Poles<'_>, spread: &[f32], amount: f32, re: &mut [f32], im: &mut [f32]) {
        let n = re.len();
        let (im, spread) = (&mut im[..n], &spread[..n]);
        let (turn, fade) = (&poles.turn[..n], &poles.fade[..n]);
        for i in 0..n {
            // Half a turn per sample is as fast as anything can be; what a glide would carry beyond it stays just below.
            let turns = (share_of_turn(turn[i]) * poles.scale * (1.0 + amount * spread[i])).clamp(0.0, 0.49);
            let (sin, cos) = sin_cos(turns);
            let shrink = exp2(fade[i] * poles.damping);
            re[i] = shrink * cos;
            im[i] = shrink * sin;
        }
    }

    #[inline(always)]
    pub fn soften(push: &mut [f32], turn: &[u32], filter: HalfSineFilter) {
        let n = push.len();
        let turn = &turn[..n];
        for i in 0..n {
            let x = share_of_turn(turn[i]) * filter.length;
            let below = 1.0 - 4.0 * x * x;
            // At x = 1/2 both vanish and the quotient is π/4.
            let factor = if below.abs() < 1e-3 { FRAC_PI_4 } else { sin_cos(0.5 * x).1 / below };
            push[i] *= factor;
        }
    }

    #[inline(always)]
    pub fn judge(level: &[f32], place: Place<'_>, shift: f32, out: &mut [f32]) {
        let n = level.len();
        let (threshold, cell, share, out) = (&place.threshold[..n], &place.cell[..n], &place.share[..n], &mut out[..n]);
        for i in 0..n {
            let c = usize::from(cell[i]).min(EDGES - 2);
            let (low, high) = (place.edges[c], place.edges[c + 1]);
            let curve = low + share[i] * (high - low);
            let hidden = if curve > threshold[i] { curve } else { threshold[i] };
            out[i] = level[i] + shift - hidden;
        }
    }

    /// A phase as a share of a turn, −1/2…1/2.
    #[inline(always)]
    pub fn share_of_turn(phase: u32) -> f32 {
        phase as i32 as f32 * (1.0 / 4_294_967_296.0)
    }
}

/// One mode by itself: `z ← z P^elapsed`.
pub(crate) fn advance_one(z: (f32, f32), turn: u32, fade: f32, scale: f32, damping: f32, elapsed: u32) -> (f32, f32) {
    let turns = if scale == 1.0 {
        body::share_of_turn(turn.wrapping_mul(elapsed))
    } else {
        body::share_of_turn(turn) * (elapsed as f32 * scale)
    };
    let (sin, cos) = sin_cos(turns);
    let shrink = exp2(fade * (elapsed as f32 * damping));
    (shrink * (z.0 * cos - z.1 * sin), shrink * (z.0 * sin + z.1 * cos))
}

/// To the nearest integer, for |x| < 2²².
#[inline(always)]
fn round(x: f32) -> f32 {
    const BIG: f32 = 12_582_912.0;
    (x + BIG) - BIG
}

/// Sine and cosine of `x` turns, |x| < 2²⁰, to 2e-7.
#[inline(always)]
pub(crate) fn sin_cos(x: f32) -> (f32, f32) {
    let x = x - round(x);
    let quarter = round(4.0 * x);
    let r = x - 0.25 * quarter;
    let u = r * r;
    let sin = r * (6.283_185_4 + u * (-41.341_663 + u * (81.592_55 + u * -75.401_84)));
    let cos = 1.0 + u * (-19.739_208 + u * (64.939_316 + u * (-85.442_85 + u * 59.220_288)));
    // Quarter turns: −2, −1, 0, 1, 2.
    let odd = quarter.abs() == 1.0;
    let (a, b) = if odd { (cos, sin) } else { (sin, cos) };
    let (sign_a, sign_b) = if odd { (quarter, -quarter) } else { (1.0 - quarter.abs(), 1.0 - quarter.abs()) };
    (sign_a * a, sign_b * b)
}

/// `2^x` to 3e-7 of its value; zero below −126.
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    let clamped = x.clamp(-126.0, 126.0);
    let whole = round(clamped - 0.5);
    let t = clamped - whole;
    let p = 1.0
        + t * (0.693_146_93
            + t * (0.240_230_5
                + t * (0.055_480_428 + t * (0.009_684_581 + t * (0.001_238_782_1 + t * 0.000_218_775_05)))));
    let power = f32::from_bits(((whole as i32 + 127) as u32) << 23);
    if x < -126.0 { 0.0 } else { p * power }
}

/// `10 log10 x` to 1e-5 dB; about −379 for everything below the smallest normal number.
#[inline(always)]
pub(crate) fn decibels(x: f32) -> f32 {
    let bits = x.max(f32::MIN_POSITIVE).to_bits();
    // Split so that the mantissa lies in 3/4…3/2.
    let shifted = bits.wrapping_sub(0x3f40_0000);
    let exponent = (shifted as i32 >> 23) as f32;
    let t = f32::from_bits(bits.wrapping_sub(shifted & 0xff80_0000)) - 1.0;
    let p = 1.442_695_3
        + t * (-0.721_350_7
            + t * (0.480_847_5
                + t * (-0.360_335_3
                    + t * (0.290_073_57 + t * (-0.250_652_2 + t * (0.204_127_34 + t * -0.096_163_97))))));
    3.010_3 * (exponent + t * p)
}
