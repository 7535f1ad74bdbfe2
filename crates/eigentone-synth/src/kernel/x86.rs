//! Lanes of x86-64: one AVX register, or two of SSE2, which every such machine has.

use super::{Kernels, wide};

/// The loops for AVX2 with fused multiply-add, if the machine has both.
pub(super) fn avx2() -> Option<Kernels> {
    (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Kernels {
        name: "avx2",
        rotation_free: avx2::rotation_free,
        rotation_halves: avx2::rotation_halves,
        rotation_driven: avx2::rotation_driven,
        rotation_step: avx2::rotation_step,
        two_pole_free: avx2::two_pole_free,
        two_pole_driven: avx2::two_pole_driven,
        fold: avx2::fold,
        wide: wide::Wide::avx2(),
    })
}

/// The loops for SSE2.
pub(super) fn sse2() -> Kernels {
    Kernels {
        name: "sse2",
        rotation_free: sse2::rotation_free,
        rotation_halves: sse2::rotation_halves,
        rotation_driven: sse2::rotation_driven,
        rotation_step: sse2::rotation_step,
        two_pole_free: sse2::two_pole_free,
        two_pole_driven: sse2::two_pole_driven,
        fold: sse2::fold,
        wide: wide::Wide::portable(),
    }
}

mod avx2 {
    use crate::kernel::lanes::{Eight, entry_points};
    use std::arch::x86_64::*;

    #[derive(Clone, Copy)]
    pub struct Ymm(__m256);

    // SAFETY: whoever uses this type has detected AVX2 and FMA. Unaligned loads and stores are used throughout.
    unsafe impl Eight for Ymm {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller vouches for eight numbers at the pointer.
            unsafe { Self(_mm256_loadu_ps(from)) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller vouches for eight numbers at the pointer.
            unsafe { _mm256_storeu_ps(to, self.0) }
        }
        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe { Self(_mm256_set1_ps(x)) }
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe { Self(_mm256_add_ps(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe { Self(_mm256_mul_ps(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe { Self(_mm256_fmadd_ps(self.0, b.0, c.0)) }
        }
        #[inline(always)]
        unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe { Self(_mm256_fnmadd_ps(self.0, b.0, c.0)) }
        }
        #[inline(always)]
        unsafe fn sums(v: [Self; 8]) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe {
                // Sums of neighbours twice leave, in each half of a register, the sums of four lanes of four registers.
                let pairs = |a: Self, b: Self| _mm256_hadd_ps(a.0, b.0);
                let low = _mm256_hadd_ps(pairs(v[0], v[1]), pairs(v[2], v[3]));
                let high = _mm256_hadd_ps(pairs(v[4], v[5]), pairs(v[6], v[7]));
                Self(_mm256_add_ps(
                    _mm256_permute2f128_ps::<0x20>(low, high),
                    _mm256_permute2f128_ps::<0x31>(low, high),
                ))
            }
        }
    }

    entry_points!(Ymm, #[target_feature(enable = "avx2,fma")]);
}

mod sse2 {
    use crate::kernel::lanes::{Eight, entry_points};
    use std::arch::x86_64::*;

    #[derive(Clone, Copy)]
    pub struct XmmPair(__m128, __m128);

    // SAFETY: SSE2 is part of x86-64. Unaligned loads and stores are used throughout.
    unsafe impl Eight for XmmPair {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller vouches for eight numbers at the pointer.
            unsafe { Self(_mm_loadu_ps(from), _mm_loadu_ps(from.add(4))) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller vouches for eight numbers at the pointer.
            unsafe {
                _mm_storeu_ps(to, self.0);
                _mm_storeu_ps(to.add(4), self.1);
            }
        }
        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe { Self(_mm_set1_ps(x), _mm_set1_ps(x)) }
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe { Self(_mm_add_ps(self.0, other.0), _mm_add_ps(self.1, other.1)) }
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe { Self(_mm_mul_ps(self.0, other.0), _mm_mul_ps(self.1, other.1)) }
        }
        #[inline(always)]
        unsafe fn mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe { self.mul(b).add(c) }
        }
        #[inline(always)]
        unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: only instructions that the machine has, as at the implementation.
            unsafe {
                let product = self.mul(b);
                Self(_mm_sub_ps(c.0, product.0), _mm_sub_ps(c.1, product.1))
            }
        }
    }

    entry_points!(XmmPair);
}
