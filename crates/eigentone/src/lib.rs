//! Physically based sound: give it a mesh and a material, and hear it.
#![forbid(unsafe_code)]

pub mod plot;
