//! How a body's modes are changed by taste: a tilt over frequency, and single modes retuned, damped, made louder, added or deleted. The model itself stays as it was made.
//!
//! The tilt multiplies the gain of a mode at `f` by `10^(b·log₂(f/f₀)/20)`, where `b` is in dB per octave and `f₀` is 1 kHz, within ±60 dB.

use eigentone_core::{ModalModel, Mode};
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
    /// What becomes of the mode.
    pub kind: EditKind,
}

/// What an edit does with the mode that it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditKind {
    /// Changes it.
    #[default]
    Change,
    /// Leaves it as it is, and adds another with its shape: the factors are those of the new one, to what the model has.
    Add,
    /// Takes it out; the factors do not matter.
    Delete,
}

impl ModeEdit {
    /// Nothing done to a mode.
    pub fn of(mode: usize) -> Self {
        Self { mode, frequency: 1.0, decay: 1.0, gain: 1.0, kind: EditKind::Change }
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

    /// Numbers of the modes that sound, in the order of the [voiced](Self::apply) model: those of the model without the deleted ones, then the added ones, counted on from the `count` that the model has.
    pub fn numbers(&self, count: usize) -> Vec<usize> {
        let deleted = |mode: &usize| self.edits.iter().any(|e| e.kind == EditKind::Delete && e.mode == *mode);
        let added = self.added(count).enumerate().map(|(k, _)| count + k);
        if self.edits.iter().all(|e| e.kind != EditKind::Delete) {
            return (0..count).chain(added).collect();
        }
        (0..count).filter(|mode| !deleted(mode)).chain(added).collect()
    }

    fn added(&self, count: usize) -> impl Iterator<Item = &ModeEdit> {
        self.edits.iter().filter(move |e| e.kind == EditKind::Add && e.mode < count)
    }

    /// The model as it is to sound. Modes stay in their order, also where a retuned one passes its neighbour; added ones come last.
    pub fn apply(&self, model: &ModalModel) -> ModalModel {
        let count = model.modes.len();
        let added: Vec<&ModeEdit> = self.added(count).collect();
        let numbers = self.numbers(count);
        let mut voiced = if numbers.iter().copied().eq(0..count) {
            model.clone()
        } else {
            let shapes: Vec<usize> =
                numbers.iter().map(|&n| n.checked_sub(count).map_or(n, |k| added[k].mode)).collect();
            model.of_modes(&shapes)
        };
        let change = |edit: &ModeEdit, mode: &mut Mode| {
            mode.frequency_hz = (mode.frequency_hz * edit.frequency).clamp(1.0, 96_000.0);
            mode.decay_per_s = (mode.decay_per_s * edit.decay).clamp(1e-3, 1e6);
            mode.output_gain *= edit.gain;
        };
        for (&number, mode) in numbers.iter().zip(&mut voiced.modes) {
            // What is added has a frequency of its own, and is as loud there as the tilt makes it.
            let own_hz = number.checked_sub(count).map_or(1.0, |k| added[k].frequency) * mode.frequency_hz;
            let tilt_db = self.brightness_db * (own_hz / PIVOT_HZ).log2();
            mode.output_gain *= 10f64.powf(tilt_db.clamp(-MAX_TILT_DB, MAX_TILT_DB) / 20.0);
            if let Some(k) = number.checked_sub(count) {
                change(added[k], mode);
            }
        }
        for edit in self.edits.iter().filter(|e| e.kind == EditKind::Change && e.mode < count) {
            if let Ok(place) = numbers.binary_search(&edit.mode) {
                change(edit, &mut voiced.modes[place]);
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

    /// One deleted, one added with the shape of another, one retuned: each keeps its number, and nothing else changes.
    #[test]
    fn modes_come_and_go_by_their_numbers() {
        let steel = MaterialTable::builtin().get("steel").unwrap().clone();
        let shape = Shape::Plate { length: 0.3, width: 0.2, thickness: 0.002, support: PlateSupport::SimplySupported };
        let plate = model(&shape, &steel, &AnalyticSettings::default()).unwrap();
        let count = plate.modes.len();
        let delete = ModeEdit { kind: EditKind::Delete, ..ModeEdit::of(1) };
        let add = ModeEdit { kind: EditKind::Add, frequency: 1.5, decay: 0.5, gain: 2.0, ..ModeEdit::of(4) };
        let retune = ModeEdit { frequency: 1.1, ..ModeEdit::of(2) };
        let voicing = Voicing { brightness_db: 0.0, edits: [delete, add, retune].into() };
        let voiced = voicing.apply(&plate);
        voiced.validate().unwrap();
        let numbers = voicing.numbers(count);
        assert_eq!((numbers.len(), &numbers[..3], numbers[count - 1]), (count, &[0, 2, 3][..], count));
        let (new, like) = (voiced.modes[count - 1], plate.modes[4]);
        assert_eq!(new.frequency_hz, 1.5 * like.frequency_hz);
        assert_eq!((new.decay_per_s, new.output_gain), (0.5 * like.decay_per_s, 2.0 * like.output_gain));
        assert_eq!(voiced.shapes.get(7, count - 1), plate.shapes.get(7, 4));
        assert_eq!(voiced.modes[1].frequency_hz, 1.1 * plate.modes[2].frequency_hz);
        assert_eq!((voiced.modes[2], voiced.shapes.get(7, 2)), (plate.modes[3], plate.shapes.get(7, 3)));
    }
}
