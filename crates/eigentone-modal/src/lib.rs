//! From a mesh, a shape or a recording to a [`ModalModel`](eigentone_core::ModalModel).
//!
//! - [`analytic`]: strings, bars, plates and discs in closed form
//! - [`fit`]: recordings of a real object
#![forbid(unsafe_code)]

pub mod analytic;
pub mod fit;
