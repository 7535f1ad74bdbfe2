//! The spatial renderer: what a listener hears of sounding bodies in rooms and in free field, in real time.
//!
//! An acoustic field says for a source and a listener how loud direct and early sound are and how fast sound decays. All sources share six fixed filters: each gives
//! its sound to them with gains that follow from its parameters, so that the rooms of a thousand sources cost hardly more than that of one.

#![deny(unsafe_code)]

pub mod air;
pub mod canonical;
pub mod convolve;
pub mod decode;
mod delay;
pub mod direct;
pub mod directivity;
mod doppler;
mod exchange;
pub mod head;
pub mod hrtf;
#[allow(unsafe_code)]
mod kernel;
mod one_pole;
pub mod pan;
pub mod renderer;
pub mod room;
pub mod sends;
mod slots;
pub mod thread;
pub mod tilt;

pub use doppler::MAX_DELAYED;

/// Samples per block, as of the synthesis.
pub const BLOCK: usize = 64;
