//! What has become of each mode, for those who look.

use super::decide::HYSTERESIS_DB;
use super::tones::Heard;
use super::view::View;
use super::{Body, Status, World};

/// Level of one pascal, in dB SPL.
const PASCAL_DB: f32 = 93.979_4;

/// Levels below this are told as this, in dB SPL.
const SILENT_DB: f32 = -200.0;

/// What has become of a mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum ModeStatus {
    /// Its body is silent.
    #[default]
    Asleep = 0,
    /// It is computed.
    Sounding = 1,
    /// Others hide it, or the ear does not hear it.
    Masked = 2,
    /// It is below the truncation level.
    Truncated = 3,
    /// The budget is spent.
    Scaled = 4,
}

impl ModeStatus {
    pub(crate) fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Sounding,
            2 => Self::Masked,
            3 => Self::Truncated,
            4 => Self::Scaled,
            _ => Self::Asleep,
        }
    }
}

impl Body {
    /// Tells of every mode its frequency in Hz, its level at the ear in dB SPL as it is played, and what has become of it.
    pub fn look(&mut self, now: u64, view: &View<'_>, world: &World, mut each: impl FnMut(f32, f32, ModeStatus)) {
        // While modes fade, levels are those of the last visit.
        if self.fade_left == 0 && !self.account.asleep {
            self.settle(now, world);
            self.measure(now, world);
        }
        self.tones.follow(&self.table, &self.modulation);
        let gain_db = self.gain_db();
        let shift_db = view.hearing.map_or(PASCAL_DB, |h| h.shift_db);
        let Heard { threshold, cell, share, .. } = self.tones.now(&self.table);
        let tuning = self.modulation.tuning()[0];
        for k in 0..self.table.len {
            let (own, heard) = (self.level[k] + gain_db, self.level[k] + gain_db + shift_db);
            let hidden = view.hearing.map(|h| h.curve.at((cell[k], share[k])).max(threshold[k]));
            let status = match self.status[k] {
                _ if self.account.asleep => ModeStatus::Asleep,
                Status::On | Status::Entering | Status::Leaving => ModeStatus::Sounding,
                Status::Off if own < view.truncation_db => ModeStatus::Truncated,
                Status::Off if hidden.is_some_and(|hidden| heard < hidden + HYSTERESIS_DB) => ModeStatus::Masked,
                Status::Off => ModeStatus::Scaled,
            };
            let level = if status == ModeStatus::Asleep { SILENT_DB } else { heard.max(SILENT_DB) };
            each(self.table.frequency_hz[k] * tuning, level, status);
        }
    }
}
