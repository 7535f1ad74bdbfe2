//! What moves, and what its motion does: rigid bodies as a [contact stream](eigentone_core::contact), hail, and soft bodies that are heard themselves.
#![deny(unsafe_code)]

pub mod particles;
pub mod rigid;
pub mod soft;
