//! What moves, and what its motion does: rigid bodies as a [contact stream](eigentone_core::contact), and hail.
#![forbid(unsafe_code)]

pub mod particles;
pub mod rigid;
