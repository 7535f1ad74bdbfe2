//! Wave acoustics of scenes: from a triangle soup to a field of perceptual parameters.

pub mod absorption;
mod kernel;
pub mod oracle;
pub mod solver;
