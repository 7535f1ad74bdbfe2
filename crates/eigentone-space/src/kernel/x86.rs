//! The loops for x86-64 with AVX2.

use super::Block;
use crate::direct::block::{Job, block};

/// The loops for AVX2 with fused multiply-add, if the machine has both.
pub(super) fn avx2() -> Option<Block> {
    #[target_feature(enable = "avx2,fma")]
    fn run(job: Job<'_>) {
        block::<true>(job);
    }
    fn entry(job: Job<'_>) {
        // SAFETY: `entry` is only handed out below, after both instruction sets have been detected.
        unsafe { run(job) }
    }
    (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(entry)
}
