//! Soft bodies against what is known of them.

mod bars;
mod drops;
mod energy;
mod sound;
mod touch;
