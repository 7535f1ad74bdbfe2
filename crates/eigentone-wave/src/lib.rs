//! Wave acoustics of scenes: from a triangle soup to a field of perceptual parameters.

pub mod probe;
pub mod rooms;
pub mod voxel;
pub mod walls;
