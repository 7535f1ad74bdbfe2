//! A look at one body's modes while they ring: levels, what has become of each, and the masking curve above them.
//!
//! The control side names a body; the audio side writes its modes into a table of atomics once per policy frame, and counts before and after (a sequence lock): whoever reads while it is written tries again. Nobody waits, and
//! nothing is allocated. Levels of a watched body are measured and not only estimated, which does not change its sound beyond rounding.

use super::processor::Processor;
use crate::body::ModeStatus;
use crate::policy::hearing;
use crate::policy::masking::{CELLS, CELLS_PER_BARK};
use eigentone_core::event::BodyId;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Nobody is watched.
const NOBODY: u64 = u64::MAX;

/// Points of the masking curve that are told: every half Bark.
const BANDS: usize = 54;

/// Times that a reader tries before it gives up until later.
const TRIES: usize = 8;

/// A mode as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeLevel {
    /// Frequency at which it rings now, in Hz.
    pub frequency_hz: f32,
    /// Level at the ear, in dB SPL as it is played.
    pub level_db: f32,
    /// What has become of it.
    pub status: ModeStatus,
}

/// The modes of a body at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModeLevels {
    /// Those that the sample rate can carry, in the order of the model.
    pub modes: Vec<ModeLevel>,
    /// Frequency in Hz and level in dB SPL below which nothing is heard, from the lowest band on: the threshold of hearing and what masks.
    pub threshold: Vec<[f32; 2]>,
}

/// Between the two sides.
#[derive(Debug)]
pub(crate) struct Probe {
    watched: AtomicU64,
    /// Odd while the table is being written.
    sequence: AtomicU64,
    of: AtomicU64,
    count: AtomicU32,
    modes: Box<[[AtomicU32; 3]]>,
    curve: [AtomicU32; BANDS],
    /// In Hz.
    bands: [f32; BANDS],
}

fn bits(id: BodyId) -> u64 {
    u64::from(id.generation) << 32 | u64::from(id.slot)
}

impl Probe {
    pub fn new(max_modes: usize) -> Self {
        Self {
            watched: AtomicU64::new(NOBODY),
            sequence: AtomicU64::new(0),
            of: AtomicU64::new(NOBODY),
            count: AtomicU32::new(0),
            modes: (0..max_modes).map(|_| Default::default()).collect(),
            curve: std::array::from_fn(|_| AtomicU32::new(0)),
            bands: std::array::from_fn(|band| frequency_of(0.5 * band as f64) as f32),
        }
    }

    pub fn watch(&self, id: Option<BodyId>) {
        self.watched.store(id.map_or(NOBODY, bits), Ordering::Relaxed);
    }

    /// What was last written of the body; `None` if nothing was, or it is being written all the time.
    pub fn read(&self, id: BodyId, into: &mut ModeLevels) -> Option<()> {
        let value = |x: &AtomicU32| f32::from_bits(x.load(Ordering::Relaxed));
        for _ in 0..TRIES {
            let before = self.sequence.load(Ordering::Acquire);
            if !before.is_multiple_of(2) || self.of.load(Ordering::Relaxed) != bits(id) {
                continue;
            }
            let count = self.count.load(Ordering::Relaxed) as usize;
            into.modes.clear();
            into.modes.extend(self.modes.iter().take(count).map(|[hz, db, status]| ModeLevel {
                frequency_hz: value(hz),
                level_db: value(db),
                status: ModeStatus::from_number(status.load(Ordering::Relaxed)),
            }));
            into.threshold.clear();
            into.threshold.extend(self.bands.iter().zip(&self.curve).map(|(hz, db)| [*hz, value(db)]));
            std::sync::atomic::fence(Ordering::Acquire);
            if self.sequence.load(Ordering::Relaxed) == before {
                return Some(());
            }
        }
        None
    }
}

/// The frequency of a place on the Bark scale, by halving.
fn frequency_of(bark: f64) -> f64 {
    let (mut low_hz, mut high_hz) = (1.0, 1e5);
    for _ in 0..60 {
        let middle_hz = 0.5 * (low_hz + high_hz);
        if hearing::bark(middle_hz) < bark { low_hz = middle_hz } else { high_hz = middle_hz }
    }
    low_hz
}

impl Processor {
    /// Writes what the watched body's modes are doing, if one is watched. Once per policy frame, between two blocks.
    pub(super) fn tell_modes(&mut self) {
        let watched = self.probe.watched.load(Ordering::Relaxed);
        if watched == NOBODY {
            return;
        }
        let id = BodyId { slot: watched as u32, generation: (watched >> 32) as u32 };
        let Some(slot) = super::processor::resolve(&self.places, id) else { return };
        let Some(body) = self.places[slot as usize].body.as_mut() else { return };
        let probe = self.probe.clone();
        let view =
            super::perception::view(&self.quality, &self.perception.curve, self.perception.levels(body.account.energy));
        probe.sequence.fetch_add(1, Ordering::Relaxed);
        std::sync::atomic::fence(Ordering::Release);
        probe.of.store(watched, Ordering::Relaxed);
        let mut count = 0;
        body.look(self.clock, &view, &self.world, |frequency_hz, level_db, status| {
            if let Some([hz, db, place]) = probe.modes.get(count) {
                hz.store(frequency_hz.to_bits(), Ordering::Relaxed);
                db.store(level_db.to_bits(), Ordering::Relaxed);
                place.store(status as u32, Ordering::Relaxed);
                count += 1;
            }
        });
        probe.count.store(count as u32, Ordering::Relaxed);
        for (band, (place, hz)) in probe.curve.iter().zip(&probe.bands).enumerate() {
            let cell = ((0.5 * band as f32 * CELLS_PER_BARK) as u16).min(CELLS as u16 - 1);
            let quiet = hearing::threshold_db(f64::from(*hz)) as f32;
            let masked = if self.quality.masking.is_some() { self.perception.curve.at((cell, 0.0)) } else { quiet };
            place.store(masked.max(quiet).to_bits(), Ordering::Relaxed);
        }
        probe.sequence.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Masking, Quality};
    use crate::{BLOCK, BodySettings, Settings, engine};
    use eigentone_core::event::{Action, Event, Moment};
    use eigentone_core::mesh::primitives;
    use eigentone_core::model::{Method, ModelInfo, SiteBlend};
    use eigentone_core::{ModalModel, Mode, ShapeTable, Surface, Vec3};
    use std::sync::Arc;

    fn model(modes: &[(f64, f64)]) -> Arc<ModalModel> {
        let mesh = primitives::plate(1.0, 1.0, 2, 2);
        let mode = |&(frequency_hz, output_gain): &(f64, f64)| Mode { frequency_hz, decay_per_s: 2.0, output_gain };
        Arc::new(ModalModel {
            info: ModelInfo::new("test", Method::Shell, "steel"),
            modes: modes.iter().map(mode).collect(),
            shapes: ShapeTable::from_fn(mesh.positions.len(), modes.len(), |_, _| Vec3::Z),
            surface: Surface::from_mesh(&mesh),
            diffuse: Vec::new(),
        })
    }

    /// Renders for a while after a blow; what is told of the modes, and the root mean square of the last blocks in Pa.
    fn watched(modes: &[(f64, f64)], quality: Quality) -> (ModeLevels, f64) {
        let settings = Settings { quality, ..Settings::default() };
        let (mut handle, mut processor) = engine(settings).unwrap();
        let body = handle.add(&BodySettings::new(model(modes))).unwrap();
        handle.watch_modes(Some(body));
        let action = Action::Impulse { site: SiteBlend::single(0), impulse_ns: [0.0, 0.0, 0.1] };
        handle.send(Event { time: Moment::NOW, body, action }).unwrap();
        let (mut squares, mut told) = (0.0, ModeLevels::default());
        // The probe looks at the beginning of each policy frame of 16 blocks: the last one is in the middle of what is measured.
        for block in 0..72 {
            processor.next_block();
            if block >= 56 {
                let sound = processor.buses().next().map_or([0.0; BLOCK], |(_, bus)| *bus);
                squares += sound.iter().map(|x| f64::from(x * x)).sum::<f64>();
            }
        }
        assert!(handle.mode_levels(body, &mut told));
        let other = BodyId { slot: body.slot + 1, ..body };
        assert!(!handle.mode_levels(other, &mut ModeLevels::default()), "only the watched body is told");
        (told, (squares / (16 * BLOCK) as f64).sqrt())
    }

    /// A single mode is told as loud as it is heard: 20 log₁₀ of its root mean square over 20 µPa.
    #[test]
    fn a_mode_is_told_as_loud_as_it_is() {
        let (told, rms_pa) = watched(&[(1000.0, 0.5)], Quality::FULL);
        let [mode] = told.modes[..] else { panic!("{told:?}") };
        let truth_db = 20.0 * (rms_pa / 2e-5).log10();
        assert!((f64::from(mode.level_db) - truth_db).abs() < 0.1, "{mode:?}, heard {truth_db} dB");
        assert_eq!((mode.frequency_hz, mode.status), (1000.0, ModeStatus::Sounding));
        assert!(told.threshold.is_sorted_by(|a, b| a[0] < b[0]), "bands rise");
    }

    /// A mode 60 dB below its neighbour in the same critical band is masked; what is below the truncation level is truncated; and where the masker is the threshold is above that of quiet.
    #[test]
    fn what_is_left_out_says_why() {
        let masking = Quality { truncation_pa: 0.0, masking: Some(Masking::default()), budget: None };
        let (told, _) = watched(&[(1000.0, 0.5), (1030.0, 0.0005)], masking);
        assert_eq!(told.modes.iter().map(|m| m.status).collect::<Vec<_>>(), [ModeStatus::Sounding, ModeStatus::Masked]);
        let near =
            told.threshold.iter().min_by(|a, b| (a[0] - 1000.0).abs().total_cmp(&(b[0] - 1000.0).abs())).unwrap();
        assert!(near[1] > told.modes[1].level_db && near[1] > 30.0, "{near:?}");

        let truncating = Quality { truncation_pa: 1e-3, masking: None, budget: None };
        let (told, _) = watched(&[(1000.0, 0.5), (3000.0, 0.0005)], truncating);
        assert_eq!(
            told.modes.iter().map(|m| m.status).collect::<Vec<_>>(),
            [ModeStatus::Sounding, ModeStatus::Truncated]
        );
    }
}
