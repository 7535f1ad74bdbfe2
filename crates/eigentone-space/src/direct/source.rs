//! What is kept of one source.

use super::Target;
use crate::BLOCK;
use crate::direct::block::{Filters, Poles, Ramped};
use crate::one_pole::pole;
use crate::tilt::{self, STEEPEST_DB, TiltTable};

/// Gains below this are nothing: −120 dB.
const NOTHING: f32 = 1e-6;

/// Greatest gain: 60 dB.
const LOUDEST: f32 = 1e3;

/// Most samples that the delay to an ear moves per block. Only sources that leap reach it.
const DELAY_STEP: f32 = BLOCK as f32 / 8.0;

/// Whether a place is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Life {
    #[default]
    Free,
    /// Aimed, but not heard yet: it begins at its target.
    New,
    On,
    /// Released, and on its way to silence.
    Leaving,
}

/// One source.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub life: Life,
    pub target: Target,
    pub now: Ramped,
    pub next: Ramped,
    /// Delays to go to, in samples.
    pub delays: [f32; 2],
    pub filters: Filters,
    directivity_pole: f32,
    /// Blocks to go until the delays to the ears are empty.
    drain: u8,
    /// Number of the voice of measured responses that it has, plus one.
    pub voice: u16,
}

impl Source {
    /// Takes a target that has been [made safe](made_safe).
    pub(super) fn set(&mut self, target: Target, sample_rate_hz: f64) {
        if self.directivity_pole == 0.0 || self.target.directivity_cutoff_hz != target.directivity_cutoff_hz {
            self.directivity_pole = pole(f64::from(target.directivity_cutoff_hz), sample_rate_hz);
        }
        self.target = target;
    }

    /// Sets where the next block goes to; a new source is there already.
    pub(super) fn go_to(&mut self, next: Ramped, drain: u8) {
        let delays = self.next.delays;
        self.next = Ramped { delays, tilt: tilt::gains(self.target.tilt_db), ..next };
        if self.life == Life::New {
            self.next.delays = self.delays;
            self.now = self.next;
        }
        if self.gains_direct() {
            self.drain = drain;
        }
    }

    /// Whether it gives anything to buses in the next block.
    pub(super) fn sends(&self) -> bool {
        [self.now.sends, self.next.sends].as_flattened().iter().any(|g| *g != 0.0)
    }

    /// Whether it is heard directly in the next block.
    pub(super) fn audible(&self) -> bool {
        self.drain > 0 || self.gains_direct()
    }

    fn gains_direct(&self) -> bool {
        let some = |r: &Ramped| r.measured != 0.0 || r.ears.as_flattened().iter().any(|g| *g != 0.0);
        some(&self.now) || some(&self.next)
    }

    /// Moves what must not leap. Returns the poles of the next block.
    pub(super) fn advance(&mut self, tilts: &TiltTable, longest_delay: f32) -> Poles {
        for (ear, next) in self.next.delays.iter_mut().enumerate() {
            let now = self.now.delays[ear];
            *next = self.delays[ear].clamp(now - DELAY_STEP, now + DELAY_STEP).clamp(0.0, longest_delay);
        }
        Poles { tilt: tilts.poles(), directivity: self.directivity_pole, head: 0.0 }
    }

    /// After a block: what was to come has come.
    pub(super) fn finish(&mut self, drain: u8) {
        let sounded = self.gains_direct();
        self.now = self.next;
        self.drain = if sounded { drain } else { self.drain.saturating_sub(1) };
        if self.life == Life::New {
            self.life = Life::On;
        }
    }
}

/// The target with numbers in place of what is none, gains within bounds and a direction of unit length.
pub(super) fn made_safe(target: Target) -> Target {
    let finite = |x: f32, otherwise: f32| if x.is_finite() { x } else { otherwise };
    let gain = |g: f32| if g.is_finite() && g.abs() >= NOTHING { g.clamp(-LOUDEST, LOUDEST) } else { 0.0 };
    let [x, y, z] = target.direction;
    let length = (x * x + y * y + z * z).sqrt();
    let usable = length.is_finite() && length > 1e-12;
    Target {
        gain: gain(target.gain),
        tilt_db: finite(target.tilt_db, 0.0).clamp(STEEPEST_DB, 0.0),
        direction: if usable { [x / length, y / length, z / length] } else { [0.0, 1.0, 0.0] },
        distance_m: finite(target.distance_m, 0.0).clamp(0.0, 1e6),
        early: target.early.map(gain),
        late: target.late.map(gain),
        directivity_gain: finite(target.directivity_gain, 1.0).clamp(0.0, 1.0),
        directivity_cutoff_hz: finite(target.directivity_cutoff_hz, 500.0).clamp(10.0, 1e5),
    }
}
