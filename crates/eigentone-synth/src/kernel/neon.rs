//! Lanes of 64-bit ARM: two NEON registers, which every such machine has.

use super::lanes::{Eight, entry_points};
use super::{Kernels, wide};
use std::arch::aarch64::*;

/// The loops for NEON.
pub(super) fn neon() -> Kernels {
    Kernels {
        name: "neon",
        rotation_free,
        rotation_halves,
        rotation_driven,
        rotation_step,
        two_pole_free,
        two_pole_driven,
        fold,
        wide: wide::Wide::portable(),
    }
}

#[derive(Clone, Copy)]
pub struct QPair(float32x4_t, float32x4_t);

// SAFETY: NEON is part of AArch64.
unsafe impl Eight for QPair {
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for eight numbers at the pointer.
        unsafe { Self(vld1q_f32(from), vld1q_f32(from.add(4))) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for eight numbers at the pointer.
        unsafe {
            vst1q_f32(to, self.0);
            vst1q_f32(to.add(4), self.1);
        }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: only instructions that the machine has, as at the implementation.
        unsafe { Self(vdupq_n_f32(x), vdupq_n_f32(x)) }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: only instructions that the machine has, as at the implementation.
        unsafe { Self(vaddq_f32(self.0, other.0), vaddq_f32(self.1, other.1)) }
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        // SAFETY: only instructions that the machine has, as at the implementation.
        unsafe { Self(vmulq_f32(self.0, other.0), vmulq_f32(self.1, other.1)) }
    }
    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: only instructions that the machine has, as at the implementation.
        unsafe { Self(vfmaq_f32(c.0, self.0, b.0), vfmaq_f32(c.1, self.1, b.1)) }
    }
    #[inline(always)]
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: only instructions that the machine has, as at the implementation.
        unsafe { Self(vfmsq_f32(c.0, self.0, b.0), vfmsq_f32(c.1, self.1, b.1)) }
    }
}

entry_points!(QPair);
