//! The inner loops, each in the best instruction set of the machine.
//!
//! - [`cosine`]: the three-dimensional cosine transform as products of small matrices. A transform over `n` points takes `n/2` multiplications per
//!   value after its even and odd halves are separated, in any length; up to a hundred points or so that is faster than a fast Fourier transform,
//!   because it needs no shuffling and keeps every lane of the machine busy.
//! - [`stencil`]: the Laplacian of a row of cells
//! - [`tile`]: the product itself, and the choice of instructions

pub mod cosine;
pub mod stencil;
mod tile;
