//! Solids: finite elements that are right in bending without a heroic mesh.
//!
//! - [`model`]: chooses cells for a body, solves it, and reads off its surface
//! - [`cells`]: from any closed surface, by finite cells of 27-node hexahedra
//! - [`tets`]: from an imported tetrahedral mesh
//! - [`stuffing`]: a tetrahedral mesh from any closed surface
//! - [`columns`], [`distance`], [`frame`], [`element`], [`dissection`]: what they are made of
//! - [`probe`]: whether a mesh is closed, and how thick its walls are

pub mod cells;
pub mod columns;
pub mod dissection;
pub mod distance;
pub mod element;
pub mod frame;
pub mod model;
pub mod probe;
pub mod stuffing;
pub mod tets;
