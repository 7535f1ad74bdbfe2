//! From a mesh, a shape or a recording to a [`ModalModel`](eigentone_core::ModalModel).
//!
//! - [`analytic`]: strings, bars, plates and discs in closed form
//! - [`fit`]: recordings of a real object
//! - [`eigen`]: the eigensolver behind the mesh methods
#![forbid(unsafe_code)]

pub mod analytic;
pub mod eigen;
pub mod fit;
pub mod shell;
pub mod solid;
mod progress;

pub use progress::Progress;
