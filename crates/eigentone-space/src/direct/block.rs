//! One block of one source: plain loops over arrays, compiled by [`kernel`](crate::kernel) for several instruction sets.
//!
//! dry → tilt → directivity → for each ear `gain · (α + (1 − α)·low-pass)` or a measured response → delay → out; dry → six sends. Every gain goes in a straight
//! line over the block.

use crate::BLOCK;
use crate::delay;
use crate::kernel::multiply_add;
use crate::one_pole::OnePole;
use crate::tilt::LOW_PASSES;

/// Buses of reverberation: three early, three late.
pub const BUSES: usize = 6;

/// Gains of a tilt that is none.
const FLAT: [f32; 1 + LOW_PASSES] = [1.0, 0.0, 0.0];

/// Everything that goes in a straight line from the end of one block to the end of the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ramped {
    pub sends: [f32; BUSES],
    /// Gains dry and behind each low-pass.
    pub tilt: [f32; 1 + LOW_PASSES],
    /// Gains dry and behind the low-pass.
    pub directivity: [f32; 2],
    /// The same for each ear, times the gain of the source.
    pub ears: [[f32; 2]; 2],
    /// Gain of measured responses.
    pub measured: f32,
    /// Delay to each ear in samples.
    pub delays: [f32; 2],
}

/// Poles of the low-passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Poles {
    pub tilt: [f32; LOW_PASSES],
    pub directivity: f32,
    pub head: f32,
}

/// Memories of the low-passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filters {
    pub tilt: [OnePole; LOW_PASSES],
    pub directivity: OnePole,
    pub head: OnePole,
}

impl Filters {
    pub(crate) fn is_finite(&self) -> bool {
        self.tilt.iter().chain([&self.directivity, &self.head]).all(OnePole::is_finite)
    }
}

/// Convolution with measured responses of both ears, from those of the last block to those of the next.
pub(crate) struct Measured<'a> {
    /// What came in, oldest first: one less than taps, and room for a block.
    pub line: &'a mut [f32],
    /// Taps of the ears, last first.
    pub now: [&'a [f32]; 2],
    /// As they shall be; `None` if they stay.
    pub next: Option<[&'a [f32]; 2]>,
}

/// Delay to the ears, or none for plain panning.
pub(crate) struct Ears<'a> {
    /// What each ear got before the block, oldest first.
    pub past: [&'a mut [f32]; 2],
    /// Room for the past and a block.
    pub scratch: &'a mut [f32],
    pub measured: Option<Measured<'a>>,
}

/// Work for one block.
pub(crate) struct Job<'a> {
    pub x: &'a [f32; BLOCK],
    pub now: &'a Ramped,
    pub next: &'a Ramped,
    pub poles: Poles,
    pub filters: &'a mut Filters,
    /// Whether there is direct sound, not only sends.
    pub direct: bool,
    pub ears: Option<Ears<'a>>,
    pub out: &'a mut [[f32; BLOCK]; 2],
    pub buses: &'a mut [[f32; BLOCK]; BUSES],
}

/// `(n + 1)/64`: shares of the way through a block.
const SHARES: [f32; BLOCK] = {
    let mut shares = [0.0; BLOCK];
    let mut n = 0;
    while n < BLOCK {
        shares[n] = (n + 1) as f32 / BLOCK as f32;
        n += 1;
    }
    shares
};

/// Renders a block.
#[inline(always)]
pub(crate) fn block<const FUSED: bool>(job: Job<'_>) {
    let Job { x, now, next, poles, filters, direct, ears, out, buses } = job;
    for (k, bus) in buses.iter_mut().enumerate() {
        add_scaled::<FUSED>(x, now.sends[k], next.sends[k], bus);
    }
    if !direct {
        return;
    }
    let mut sound = *x;
    let mut low = [0.0; BLOCK];
    if [now.tilt, next.tilt] != [FLAT; 2] {
        let mut high = [0.0; BLOCK];
        filters.tilt[0].low_pass::<FUSED>(poles.tilt[0], &sound, &mut low);
        filters.tilt[1].low_pass::<FUSED>(poles.tilt[1], &sound, &mut high);
        mix::<FUSED>(&mut sound, &low, [now.tilt[0], now.tilt[1]], [next.tilt[0], next.tilt[1]]);
        add_scaled::<FUSED>(&high, now.tilt[2], next.tilt[2], &mut sound);
    }
    if [now.directivity[1], next.directivity[1]] != [0.0; 2] {
        filters.directivity.low_pass::<FUSED>(poles.directivity, &sound, &mut low);
        mix::<FUSED>(&mut sound, &low, now.directivity, next.directivity);
    }
    let Some(Ears { past, scratch, mut measured }) = ears else {
        for (ear, out) in out.iter_mut().enumerate() {
            add_scaled::<FUSED>(&sound, now.ears[ear][0], next.ears[ear][0], out);
        }
        return;
    };
    let shadowed = [now.ears, next.ears] != [[[0.0; 2]; 2]; 2];
    // Also when measured responses take its place: it comes back without a jump.
    filters.head.low_pass::<FUSED>(poles.head, &sound, &mut low);
    if let Some(measured) = &mut measured {
        let room = measured.line.len().saturating_sub(BLOCK);
        measured.line[room..].copy_from_slice(&sound);
    }
    for (ear, past) in past.into_iter().enumerate() {
        let length = past.len();
        let (before, at_ear) = scratch.split_at_mut(length);
        before.copy_from_slice(past);
        let Some(at_ear) = at_ear.first_chunk_mut::<BLOCK>() else { return };
        if shadowed {
            let ([d0, l0], [d1, l1]) = (now.ears[ear], next.ears[ear]);
            let (d1, l1) = (d1 - d0, l1 - l0);
            for n in 0..BLOCK {
                let dry = multiply_add::<FUSED>(SHARES[n], d1, d0);
                let wet = multiply_add::<FUSED>(SHARES[n], l1, l0);
                at_ear[n] = multiply_add::<FUSED>(dry, sound[n], wet * low[n]);
            }
        } else {
            at_ear.fill(0.0);
        }
        if let Some(measured) = &measured {
            measured.add::<FUSED>(ear, now.measured, next.measured, at_ear);
        }
        let mut delayed = [0.0; BLOCK];
        delay::read::<FUSED>(scratch, length, now.delays[ear], next.delays[ear], &mut delayed);
        for (y, x) in out[ear].iter_mut().zip(&delayed) {
            *y += x;
        }
        past.copy_from_slice(&scratch[scratch.len() - length..]);
    }
    if let Some(measured) = measured {
        measured.line.copy_within(BLOCK.., 0);
    }
}

impl Measured<'_> {
    #[inline(always)]
    fn add<const FUSED: bool>(&self, ear: usize, from: f32, to: f32, at_ear: &mut [f32; BLOCK]) {
        if from == 0.0 && to == 0.0 {
            return;
        }
        let mut sound = convolve::<FUSED>(self.line, self.now[ear]);
        if let Some(next) = self.next {
            let after = convolve::<FUSED>(self.line, next[ear]);
            for n in 0..BLOCK {
                sound[n] = multiply_add::<FUSED>(SHARES[n], after[n] - sound[n], sound[n]);
            }
        }
        add_scaled::<FUSED>(&sound, from, to, at_ear);
    }
}

/// `y[n] = Σ taps[k] · line[n + k]`.
#[inline(always)]
fn convolve<const FUSED: bool>(line: &[f32], taps: &[f32]) -> [f32; BLOCK] {
    let mut sum = [0.0; BLOCK];
    for (near, tap) in line.windows(BLOCK).zip(taps) {
        for n in 0..BLOCK {
            sum[n] = multiply_add::<FUSED>(*tap, near[n], sum[n]);
        }
    }
    sum
}

/// Adds `x` with a gain that goes from `from` to `to`; nothing if it is and stays zero.
#[inline(always)]
fn add_scaled<const FUSED: bool>(x: &[f32; BLOCK], from: f32, to: f32, out: &mut [f32; BLOCK]) {
    if from == 0.0 && to == 0.0 {
        return;
    }
    let way = to - from;
    for n in 0..BLOCK {
        out[n] = multiply_add::<FUSED>(multiply_add::<FUSED>(SHARES[n], way, from), x[n], out[n]);
    }
}

/// `dry · sound + wet · low`, in place.
#[inline(always)]
fn mix<const FUSED: bool>(sound: &mut [f32; BLOCK], low: &[f32; BLOCK], [d0, l0]: [f32; 2], [d1, l1]: [f32; 2]) {
    let (d1, l1) = (d1 - d0, l1 - l0);
    for n in 0..BLOCK {
        let dry = multiply_add::<FUSED>(SHARES[n], d1, d0);
        let wet = multiply_add::<FUSED>(SHARES[n], l1, l0);
        sound[n] = multiply_add::<FUSED>(dry, sound[n], wet * low[n]);
    }
}
