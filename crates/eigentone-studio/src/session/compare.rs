//! Two states compared at equal loudness: the louder of the two is played as loud as the other.
//!
//! Loudness is that of a blow on each body that differs between the two, rendered offline and measured by BS.1770; of several bodies their mean power counts. Nothing of this is part of the scene: what is changed
//! next is heard at its own level again.

use super::Session;
use crate::fault::Fault;
use crate::history::Moment;
use crate::loudness::{Meter, SILENCE_LUFS};
use eigentone_core::units::Decibels;
use eigentone_core::{ModalModel, Vec3};
use eigentone_synth::{Strike, strike};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Length of the blow that is measured, in s.
const BLOW_S: f64 = 0.8;

/// Its impulse, in N·s: the same in both states, so that its size does not matter.
const IMPULSE_NS: f64 = 0.05;

/// Where it strikes, as shares of the body's sides.
const PLACE: Vec3 = Vec3::new(0.71, 0.62, 1.0);

/// Bodies and modes that are measured at most: about 50 ms of work.
const MAX_BODIES: usize = 16;
const MAX_MODES: usize = 8192;

/// Bodies whose loudness differs by less are the same in both, in dB.
const SAME_DB: f64 = 0.1;

/// A state that is kept, and how its bodies sound.
#[derive(Clone, Debug)]
struct Kept {
    moment: Moment,
    voices: BTreeMap<u64, Voice>,
}

/// What decides how loud a blow on a body is.
#[derive(Clone, Debug)]
struct Voice {
    model: Arc<ModalModel>,
    frequency: f32,
    damping: f32,
    gain: f32,
}

/// The two states, and by how much what is heard is turned down.
#[derive(Debug, Default)]
pub(super) struct Compared {
    kept: [Option<Kept>; 2],
    trim_db: f64,
}

impl Session {
    pub(super) fn ab(&mut self, slot: usize, store: bool) -> Result<Value, Fault> {
        if store {
            let moment = self.moment();
            self.compared.kept[slot] = Some(Kept { moment, voices: self.voices() });
            return Ok(json!({ "stored": true }));
        }
        let hint = "store something there first";
        let kept = self.compared.kept[slot].clone().ok_or_else(|| Fault::bad("this slot is empty", hint))?;
        let before = self.moment();
        self.history.push(before, if slot == 0 { "slot A" } else { "slot B" }, None);
        self.go_to(kept.moment)?;
        let voices = self.voices();
        let trim_db =
            self.compared.kept[1 - slot].as_ref().map_or(0.0, |other| trim_db(&voices, &other.voices, self.rate_hz()));
        if let Some(kept) = &mut self.compared.kept[slot] {
            kept.voices = voices;
        }
        self.set_trim(trim_db);
        Ok(json!({ "trim_db": trim_db }))
    }

    /// Something is changed: it is heard at its own level again.
    pub(super) fn end_comparison(&mut self) {
        if self.compared.trim_db != 0.0 {
            self.set_trim(0.0);
        }
    }

    fn set_trim(&mut self, trim_db: f64) {
        self.compared.trim_db = trim_db;
        self.audio.pace().set_gain(Decibels(trim_db).amplitude() as f32);
        self.hub.event(&json!({ "event": "trim", "trim_db": trim_db }));
    }

    fn voices(&self) -> BTreeMap<u64, Voice> {
        let voice = |(id, entry): (&u64, &super::Entry)| {
            let (model, body) = (self.world.model(entry.key)?.clone(), self.world.body(entry.key)?);
            let params = &body.params;
            Some((*id, Voice { model, frequency: params.frequency, damping: params.damping, gain: params.gain }))
        };
        self.entries.iter().filter_map(voice).collect()
    }
}

/// By how much one state has to be turned down to be no louder than the other, in dB: zero or less.
fn trim_db(here: &BTreeMap<u64, Voice>, there: &BTreeMap<u64, Voice>, rate_hz: f64) -> f64 {
    let mut modes = 0;
    let pairs = here.iter().filter_map(|(id, a)| Some((a, there.get(id)?))).filter(|(a, b)| !a.is_same(b));
    let measured = pairs.take(MAX_BODIES).filter_map(|(a, b)| {
        modes += a.model.modes.len() + b.model.modes.len();
        (modes <= MAX_MODES).then(|| [a.loudness_lufs(rate_hz), b.loudness_lufs(rate_hz)])
    });
    let audible = |l: &[f64; 2]| l.iter().all(|l| *l > f64::from(SILENCE_LUFS)) && (l[0] - l[1]).abs() > SAME_DB;
    let mut powers = [0.0; 2];
    for pair in measured.filter(audible) {
        powers.iter_mut().zip(pair).for_each(|(power, lufs)| *power += 10f64.powf(lufs / 10.0));
    }
    if powers[0] > 0.0 { (10.0 * (powers[1] / powers[0]).log10()).min(0.0) } else { 0.0 }
}

impl Voice {
    fn is_same(&self, other: &Self) -> bool {
        let numbers = |v: &Self| (v.frequency, v.damping, v.gain);
        Arc::ptr_eq(&self.model, &other.model) && numbers(self) == numbers(other)
    }

    /// Loudest 400 ms of a blow, in LUFS but for a constant.
    fn loudness_lufs(&self, rate_hz: f64) -> f64 {
        let silent = f64::from(SILENCE_LUFS);
        let model = self.sounding();
        let mallet = eigentone_world::Mallet::default();
        let sites = model.surface.positions.iter().map(|p| Vec3::from_array(p.map(f64::from)));
        let [low, high] = eigentone_core::mesh::bounds_of(sites);
        // On top and off all axes of symmetry, so that few modes are at rest there.
        let Some(contact) = model.nearest_contact(low + (high - low) * PLACE) else { return silent };
        let blow =
            Strike { contact, impulse_ns: IMPULSE_NS, stiffness_n_m: mallet.stiffness_n_m, mallet_kg: mallet.mass_kg };
        let Ok(sound) = strike(&model, &blow, rate_hz, BLOW_S) else { return silent };
        let mut meter = Meter::new(rate_hz);
        let loudest = sound.chunks((0.05 * rate_hz) as usize + 1).fold(SILENCE_LUFS, |loudest, part| {
            let stereo: Vec<f32> = part.iter().flat_map(|x| [self.gain * x; 2]).collect();
            meter.hear(&stereo);
            loudest.max(meter.read().loudness_lufs)
        });
        f64::from(loudest)
    }

    /// The model at its pitch and damping.
    fn sounding(&self) -> Arc<ModalModel> {
        let mut model = self.model.clone();
        let (frequency, damping) = (f64::from(self.frequency), f64::from(self.damping.max(1.0)));
        if (frequency, damping) != (1.0, 1.0) {
            for mode in &mut Arc::make_mut(&mut model).modes {
                mode.frequency_hz = (mode.frequency_hz * frequency).clamp(1.0, 96_000.0);
                mode.decay_per_s = (mode.decay_per_s * damping).min(1e6);
            }
        }
        model
    }
}
