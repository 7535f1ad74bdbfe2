//! Bodies that touch: what one sounds is a force on another.
//!
//! The sound of the first, delayed by a block, low-passed and scaled, acts on the second. The coupling is relative: at one, the second's strongest
//! resonance would answer a tone of the first as loud as it is. So the gain once around any loop is at most the product of the couplings in it. The
//! couplings into each body are kept to a sum of 0.7 at most, which makes every network of them stable (small-gain theorem). A gap only takes away: what is quieter than it
//! does not reach the other body, what is louder buzzes (Menzies 2011, §6.3).

use crate::BLOCK;
use eigentone_core::event::BodyId;
use eigentone_core::model::{Contact, SiteBlend};

/// Largest sum of the couplings into one body.
pub(super) const MAX_COUPLING: f32 = 0.7;

/// A connection as the control side orders it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// No other bridge's.
    pub number: u64,
    pub from: BodyId,
    pub to: BodyId,
    pub site: SiteBlend,
    pub direction: [f32; 3],
    /// From pascals of the first to newtons on the second.
    pub force_per_pa: f32,
    /// Share by which a one-pole low-pass follows its input in a sample.
    pub follow: f32,
    pub gap: Gap,
    /// Share of what passes that is heard by itself.
    pub direct: f32,
}

/// A distance that a vibration must bridge before the two touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gap {
    /// In pascals of the first body's sound; zero if they always touch.
    pub size_pa: f32,
    /// Whether they touch in one direction only.
    pub one_sided: bool,
}

impl Gap {
    /// `max(0, |y| − gap)·sgn y`.
    fn pass(&self, y: f32) -> f32 {
        match (self.size_pa > 0.0, self.one_sided) {
            (false, _) => y,
            (true, true) => (y - self.size_pa).max(0.0),
            (true, false) => (y.abs() - self.size_pa).max(0.0).copysign(y),
        }
    }
}

/// How one body acts on another.
#[derive(Clone, Copy, Debug)]
pub struct BridgeSettings<'a> {
    /// Whose sound it is.
    pub from: BodyId,
    /// On whom it acts.
    pub to: BodyId,
    /// Where.
    pub contact: &'a Contact,
    /// Along which direction.
    pub direction: [f32; 3],
    /// What it comes to at the second's strongest resonance, 0 to 0.7; what exceeds 0.7 over all bridges into a body is cut.
    pub coupling: f32,
    /// Takes the treble away.
    pub low_pass_hz: f64,
    /// Makes it buzz.
    pub gap: Gap,
    /// Share of what passes that is heard by itself, with the second body.
    pub direct: f32,
}

impl<'a> BridgeSettings<'a> {
    /// A plain bridge.
    pub fn new(from: BodyId, to: BodyId, contact: &'a Contact, direction: [f32; 3], coupling: f32) -> Self {
        Self { from, to, contact, direction, coupling, low_pass_hz: 20_000.0, gap: Gap::default(), direct: 0.0 }
    }
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
    pub fn carry(&mut self, sound: &[f32; BLOCK], force: &mut [f32; BLOCK], direct: &mut [f32; BLOCK], scale: f32) {
        for n in 0..BLOCK {
            let y = if sound[n].is_finite() { self.link.gap.pass(sound[n]) } else { 0.0 };
            self.state += self.link.follow * (y - self.state);
            force[n] = self.state * self.link.force_per_pa * scale;
            direct[n] = self.state * self.link.direct;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quieter than the gap: nothing. Louder: what exceeds it. On one side or both.
    #[test]
    fn only_what_exceeds_the_gap_passes() {
        let both = Gap { size_pa: 0.5, one_sided: false };
        let one = Gap { size_pa: 0.5, one_sided: true };
        assert_eq!([-2.0, -0.4, 0.0, 0.4, 0.75].map(|y| both.pass(y)), [-1.5, -0.0, 0.0, 0.0, 0.25]);
        assert_eq!([-2.0, -0.4, 0.0, 0.4, 0.75].map(|y| one.pass(y)), [0.0, 0.0, 0.0, 0.0, 0.25]);
    }
}
