//! Lanes of x86-64: one AVX register.

use super::lanes::{self, Lanes};
use super::{Four, FourSingles, Job, Kernel, LANES, Weigh};
use std::arch::x86_64::*;

/// The loop for AVX2 with fused multiply-add, if the machine has both.
pub(super) fn avx2() -> Option<Kernel> {
    #[target_feature(enable = "avx2,fma")]
    fn run(job: Job<'_>) -> f64 {
        lanes::run::<Ymm>(job)
    }
    fn entry(job: Job<'_>) -> f64 {
        // SAFETY: `entry` is only handed out below, after both instruction sets have been detected.
        unsafe { run(job) }
    }
    (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(entry)
}

/// `sums += by · values` for AVX2 with fused multiply-add, if the machine has both.
pub(super) fn weigh_avx2() -> Option<Weigh> {
    #[target_feature(enable = "avx2,fma")]
    fn run(by: f64, values: &[f64], sums: &mut [f64]) {
        for (sum, x) in sums.iter_mut().zip(values) {
            *sum = by.mul_add(*x, *sum);
        }
    }
    fn entry(by: f64, values: &[f64], sums: &mut [f64]) {
        // SAFETY: `entry` is only handed out below, after both instruction sets have been detected.
        unsafe { run(by, values, sums) }
    }
    (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(entry)
}

#[derive(Clone, Copy)]
struct Ymm(__m256d);

// SAFETY: this type is used by `run` above alone, which is reached only after AVX2 and FMA have been detected. `Four` and `FourSingles` are aligned as aligned loads and stores
// want it, and a reference to one is valid for reading or writing all of them.
unsafe impl Lanes for Ymm {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe { Self(_mm256_set1_pd(x)) }
    }
    #[inline(always)]
    fn load(from: &FourSingles) -> Self {
        // SAFETY: the references are valid and aligned, as at the implementation.
        unsafe { Self(_mm256_cvtps_pd(_mm_load_ps(from.0.as_ptr()))) }
    }
    #[inline(always)]
    fn load_exact(from: &Four) -> Self {
        // SAFETY: the references are valid and aligned, as at the implementation.
        unsafe { Self(_mm256_load_pd(from.0.as_ptr())) }
    }
    #[inline(always)]
    fn store(self, to: &mut Four) {
        // SAFETY: the references are valid and aligned, as at the implementation.
        unsafe { _mm256_store_pd(to.0.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe { Self(_mm256_add_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe { Self(_mm256_sub_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe { Self(_mm256_mul_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe { Self(_mm256_fmadd_pd(self.0, b.0, c.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe { Self(_mm256_max_pd(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe { Self(_mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0)) }
    }
    #[inline(always)]
    fn any_positive(self) -> bool {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, _mm256_setzero_pd())) != 0 }
    }
    #[inline(always)]
    fn greatest(self) -> f64 {
        let mut four = Four::default();
        // SAFETY: the references are valid and aligned, as at the implementation.
        unsafe { _mm256_store_pd(four.0.as_mut_ptr(), self.0) };
        four.0.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }
    #[inline(always)]
    unsafe fn coordinates(points: &[Four], [a, b, c, d]: [usize; LANES]) -> [Self; 3] {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe {
            // Places are within the list, by the trait's terms, and a point is four numbers.
            let from = points.as_ptr().cast::<f64>();
            let (a, b) = (_mm256_load_pd(from.add(4 * a)), _mm256_load_pd(from.add(4 * b)));
            let (c, d) = (_mm256_load_pd(from.add(4 * c)), _mm256_load_pd(from.add(4 * d)));
            let (ab_xz, ab_yw) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (cd_xz, cd_yw) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            [
                Self(_mm256_permute2f128_pd::<0x20>(ab_xz, cd_xz)),
                Self(_mm256_permute2f128_pd::<0x20>(ab_yw, cd_yw)),
                Self(_mm256_permute2f128_pd::<0x31>(ab_xz, cd_xz)),
            ]
        }
    }
    #[inline(always)]
    unsafe fn add_points([x, y, z]: [Self; 3], to: &mut [Four], places: [usize; LANES]) {
        // SAFETY: only instructions that were detected, as at the implementation.
        unsafe {
            let zero = _mm256_setzero_pd();
            let (xy_02, xy_13) = (_mm256_unpacklo_pd(x.0, y.0), _mm256_unpackhi_pd(x.0, y.0));
            let (zw_02, zw_13) = (_mm256_unpacklo_pd(z.0, zero), _mm256_unpackhi_pd(z.0, zero));
            let rows = [
                _mm256_permute2f128_pd::<0x20>(xy_02, zw_02),
                _mm256_permute2f128_pd::<0x20>(xy_13, zw_13),
                _mm256_permute2f128_pd::<0x31>(xy_02, zw_02),
                _mm256_permute2f128_pd::<0x31>(xy_13, zw_13),
            ];
            for lane in 0..LANES {
                let sum = to.as_mut_ptr().add(places[lane]).cast::<f64>();
                _mm256_store_pd(sum, _mm256_add_pd(_mm256_load_pd(sum), rows[lane]));
            }
        }
    }
}
