//! The loops of a block, compiled for the instructions the machine has.
//!
//! [`direct::block`](crate::direct::block::block) is plain Rust over arrays and safe everywhere. Here it is compiled a second time for AVX2 with fused multiply-add, whose registers
//! are twice as wide, and one of the two is chosen once at run time.
//!
//! `unsafe` is confined to this folder and needed for one thing: calling a function compiled for an instruction set after that set has been detected.

use crate::direct::block::{Job, block};

#[cfg(target_arch = "x86_64")]
mod x86;

/// A form of the loops.
pub(crate) type Block = fn(Job<'_>);

/// The best form this machine can run.
pub(crate) fn best() -> Block {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = x86::avx2() {
        return avx2;
    }
    portable
}

/// The loops in the instructions that every machine of this kind has.
pub(crate) fn portable(job: Job<'_>) {
    // Arm rounds once as well, at no cost.
    block::<{ cfg!(target_arch = "aarch64") }>(job);
}

/// `a · b + c`, rounded once if `FUSED`, which is only fast where the machine has an instruction for it.
#[inline(always)]
pub(crate) fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}
