//! Wave acoustics of scenes: from a triangle soup to a field of perceptual parameters.
//!
//! - [`solver`]: the wave equation in a voxelised scene; [`oracle`]: the same by plain finite differences
//! - [`absorption`]: from handbook numbers to walls
//! - [`encode`]: from the response at a point to five numbers

pub mod absorption;
pub mod encode;
mod kernel;
pub mod oracle;
pub mod solver;
