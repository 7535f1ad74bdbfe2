//! How a body's modes are changed by taste: a tilt over frequency, and single modes retuned, damped or made louder. The model itself stays as it was made.
//!
//! The tilt multiplies the gain of a mode at `f` by `10^(b·log₂(f/f₀)/20)`, where `b` is in dB per octave and `f₀` is 1 kHz, within ±60 dB.

use eigentone_core::ModalModel;
use std::sync::Arc;

/// Frequency whose loudness a tilt leaves alone, in Hz.
pub const PIVOT_HZ: f64 = 1000.0;

/// A tilt never changes a mode by more than this, in dB.
const MAX_TILT_DB: f64 = 60.0;

/// What is done to one mode of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeEdit {
    /// Number of the mode in the model.
    pub mode: usize,
    /// Factor of its frequency.
    pub frequency: f64,
    /// Factor of its decay rate.
    pub decay: f64,
    /// Factor of its loudness; zero mutes it.
    pub gain: f64,
}

impl ModeEdit {
    /// Nothing done to a mode.
    pub fn of(mode: usize) -> Self {
        Self { mode, frequency: 1.0, decay: 1.0, gain: 1.0 }
    }

    fn makes_sense(&self) -> bool {
        (1e-3..=1e3).contains(&self.frequency) && (1e-6..=1e6).contains(&self.decay) && self.gain.abs() <= 1e6
    }
}

/// How a body's modes are changed: see [`World::set_voicing`](crate::World::set_voicing).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Voicing {
    /// Tilt of loudness over frequency, in dB per octave: positive is brighter.
    pub brightness_db: f64,
    /// Single modes; those that the model does not have are passed over.
    pub edits: Arc<[ModeEdit]>,
}

impl Voicing {
    /// Whether it changes nothing.
    pub fn is_neutral(&self) -> bool {
        self.brightness_db == 0.0 && self.edits.is_empty()
    }

    /// Whether its numbers can be used.
    pub(crate) fn makes_sense(&self) -> bool {
        self.brightness_db.abs() <= 48.0 && self.edits.iter().all(ModeEdit::makes_sense)
    }

    /// The model as it is to sound. Modes keep their numbers, also where a retuned one passes its neighbour.
    pub fn apply(&self, model: &ModalModel) -> ModalModel {
        let mut voiced = model.clone();
        for mode in &mut voiced.modes {
            let tilt_db = self.brightness_db * (mode.frequency_hz / PIVOT_HZ).log2();
            mode.output_gain *= 10f64.powf(tilt_db.clamp(-MAX_TILT_DB, MAX_TILT_DB) / 20.0);
        }
        for edit in self.edits.iter() {
            if let Some(mode) = voiced.modes.get_mut(edit.mode) {
                mode.frequency_hz = (mode.frequency_hz * edit.frequency).clamp(1.0, 96_000.0);
                mode.decay_per_s = (mode.decay_per_s * edit.decay).clamp(1e-3, 1e6);
                mode.output_gain *= edit.gain;
            }
        }
        voiced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::MaterialTable;
    use eigentone_modal::analytic::{AnalyticSettings, PlateSupport, Shape, model};

    /// `b` dB per octave: one octave above the pivot is louder by `b`, one below quieter by it; a muted mode has no gain left and the others are as they were.
    #[test]
    fn a_tilt_is_so_many_decibels_per_octave() {
        let steel = MaterialTable::builtin().get("steel").unwrap().clone();
        let shape = Shape::Plate { length: 0.3, width: 0.2, thickness: 0.002, support: PlateSupport::SimplySupported };
        let plate = model(&shape, &steel, &AnalyticSettings::default()).unwrap();
        let mute = ModeEdit { gain: 0.0, ..ModeEdit::of(1) };
        let voiced = Voicing { brightness_db: 3.0, edits: [mute].into() }.apply(&plate);
        voiced.validate().unwrap();
        for (k, (old, new)) in plate.modes.iter().zip(&voiced.modes).enumerate().filter(|(k, _)| *k != 1) {
            let octaves = (old.frequency_hz / 1000.0).log2();
            let db = 20.0 * (new.output_gain / old.output_gain).log10();
            assert!((db - 3.0 * octaves).abs() < 1e-9, "mode {k}: {db} dB at {octaves} octaves");
        }
        assert_eq!(voiced.modes[1].output_gain, 0.0);
        assert!(Voicing::default().is_neutral() && Voicing::default().apply(&plate) == plate);
    }
}
