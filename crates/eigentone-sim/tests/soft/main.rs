//! Soft bodies against what is known of them.

mod bars;
mod drops;
mod dry;
mod energy;
mod live;
mod moving;
mod recoil;
mod sound;
mod touch;
