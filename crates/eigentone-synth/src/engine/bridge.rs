//! Bodies that touch: what one sounds is a force on another.
//!
//! The sound of the first, delayed by a block, low-passed and scaled, acts on the second. The coupling is relative: at one, the second's strongest
//! resonance would answer a tone of the first as loud as it is. So the gain once around any loop is at most the product of the couplings in it. The
//! couplings into each body are kept to a sum of 0.7 at most, which makes every network of them stable (small-gain theorem).

use crate::BLOCK;
use eigentone_core::event::BodyId;
use eigentone_core::model::SiteBlend;

/// Largest sum of the couplings into one body.
pub(super) const MOST_COUPLING: f32 = 0.7;

/// A connection as the control side orders it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub from: BodyId,
    pub to: BodyId,
    pub site: SiteBlend,
    pub direction: [f32; 3],
    /// From pascals of the first to newtons on the second.
    pub force_per_pa: f32,
    /// Share by which a one-pole low-pass follows its input in a sample.
    pub follow: f32,
}

/// A connection at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bridge {
    pub link: Link,
    pub drive: usize,
    state: f32,
}

impl Bridge {
    pub fn new(link: Link, drive: usize) -> Self {
        Self { link, drive, state: 0.0 }
    }

    /// The force of the coming block from the sound of the last.
    pub fn carry(&mut self, sound: &[f32; BLOCK], force: &mut [f32; BLOCK], scale: f32) {
        for (f, y) in force.iter_mut().zip(sound) {
            let y = if y.is_finite() { *y } else { 0.0 };
            self.state += self.link.follow * (y - self.state);
            *f = self.state * self.link.force_per_pa * scale;
        }
    }
}
