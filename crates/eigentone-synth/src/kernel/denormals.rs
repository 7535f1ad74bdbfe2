//! Numbers too small to be normal.

/// Runs `work` with numbers too small to be normal taken as zero: on most machines computing with them is a hundred times slower, and decaying
/// resonators are full of them.
pub(crate) fn without_denormals<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: the mode is set back before this returns, also on unwinding. Within `work` arithmetic differs from Rust's rules only in that
    // subnormal results and operands are zero; nothing in this crate relies on them for memory safety.
    unsafe { no_denormals::no_denormals(work) }
}
