//! What listeners hear of sounding bodies in rooms, in real time.
//!
//! An acoustic field says for a source and a listener how loud direct and early sound are and how fast sound decays. All sources share six fixed filters: each gives
//! its sound to them with gains that follow from its parameters, so that the rooms of a thousand sources cost hardly more than that of one.

#![deny(unsafe_code)]

pub mod air;
pub mod canonical;
pub mod convolve;
pub mod decode;
pub mod sends;

/// Samples per block, as of the synthesis.
pub const BLOCK: usize = 64;
