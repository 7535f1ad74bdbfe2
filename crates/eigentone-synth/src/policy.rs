//! What is worth computing: decisions made once per policy frame, in the order of audibility.
//!
//! - [`hearing`]: Bark scale and threshold of hearing
//! - [`masking`]: which modes other modes hide (van den Doel, Knott & Pai 2004)
//! - [`self_mask()`]: the same for one model, offline, whatever the blow
//! - [`quota`]: who gets how many modes when they do not suffice for all (Raghuvanshi & Lin 2006)

use crate::BLOCK;

pub mod hearing;
pub mod masking;
pub mod quota;
mod self_mask;

pub use self_mask::{MaskedModel, self_mask};

/// Blocks per policy frame: 1024 samples up to 50 kHz, 2048 above.
pub(crate) fn frame_blocks(sample_rate_hz: f64) -> usize {
    if sample_rate_hz < 50_000.0 { 1024 / BLOCK } else { 2048 / BLOCK }
}

/// Levels of playback and masking beyond this are taken for it, in dB: from the quietest to the loudest a 32-bit float could mean.
const MAX_DB: f32 = 300.0;

/// What the engine may leave out. The default leaves out only what cannot be heard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Modes whose amplitude falls below this sleep, in pascals. The default is half a step of 16-bit audio with full scale at
    /// 20 Pa; zero keeps every mode awake.
    pub truncation_pa: f32,
    /// Leave out modes that others mask, if set.
    pub masking: Option<Masking>,
    /// At most this many modes are computed at once, over all bodies, if set.
    pub budget: Option<Budget>,
}

impl Default for Quality {
    fn default() -> Self {
        Self { truncation_pa: 0.5 * 20.0 / 32_768.0, masking: Some(Masking::default()), budget: None }
    }
}

impl Quality {
    /// Everything is computed, always: the reference that others are compared with.
    pub const FULL: Self = Self { truncation_pa: 0.0, masking: None, budget: None };

    /// The same with numbers that make no sense replaced by ones that leave out less.
    pub(crate) fn made_safe(mut self) -> Self {
        if !(self.truncation_pa >= 0.0 && self.truncation_pa.is_finite()) {
            self.truncation_pa = 0.0;
        }
        self.masking = self.masking.filter(|m| {
            let (Playback::TotalAt(db) | Playback::PascalAt(db)) = m.playback;
            db.is_finite() && m.offset_db.is_finite()
        });
        if let Some(masking) = &mut self.masking {
            let within = |db: f32| db.clamp(-MAX_DB, MAX_DB);
            masking.offset_db = masking.offset_db.clamp(0.0, MAX_DB);
            masking.playback = match masking.playback {
                Playback::TotalAt(db) => Playback::TotalAt(within(db)),
                Playback::PascalAt(db) => Playback::PascalAt(within(db)),
            };
        }
        self
    }
}

/// How modes are pruned by masking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Masking {
    /// How far below its own level a mode masks at its own frequency, in dB. Small prunes more: 0 keeps about a fiftieth of a dense
    /// spectrum, 5 a tenth, 20 most of it.
    pub offset_db: f32,
    /// How loud it is played.
    pub playback: Playback,
    /// Gives the energy of the modes left out in a Bark band to those that are kept there.
    pub compensate: bool,
}

impl Default for Masking {
    fn default() -> Self {
        Self { offset_db: 5.0, playback: Playback::default(), compensate: false }
    }
}

/// What a sound's level is at the listener's ear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Playback {
    /// Unknown: all that sounds together is taken to be this loud, in dB SPL. The usual choice is 60 dB.
    TotalAt(f32),
    /// Known: a pressure of 1 Pa in the engine (at one metre from the body, unless its gain says otherwise) arrives at this level, in dB SPL.
    /// 94 plays sounds as loud as they are.
    PascalAt(f32),
}

impl Playback {
    /// From the engine's levels (10 log10 of mean square pressures) to dB SPL, when all that sounds has this energy; `None` if nothing does and the
    /// level is relative to all.
    pub(crate) fn shift_db(self, total: f32) -> Option<f32> {
        match self {
            Self::PascalAt(db) => Some(db),
            Self::TotalAt(db) => (total > 0.0).then(|| db - 10.0 * total.log10()),
        }
    }
}

impl Default for Playback {
    fn default() -> Self {
        Self::TotalAt(60.0)
    }
}

/// A limit on modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Modes computed at once.
    pub modes: usize,
    /// How much less each body gets than the next louder one, in modes: 0 shares evenly, a large value serves the loudest
    /// body completely before the next.
    pub slope: f32,
}

impl Budget {
    /// A budget shared with a gentle preference for loud bodies.
    pub const fn of(modes: usize) -> Self {
        Self { modes, slope: 2.0 }
    }
}
