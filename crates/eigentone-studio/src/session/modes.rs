//! Modes one by one: watched while they ring, and edited.

use super::Session;
use crate::document::put;
use crate::fault::Fault;
use crate::packet::{Kind, Packet};
use crate::request::{ModeAddition, ModeChange};
use eigentone_core::{ModalModel, Mode};
use eigentone_synth::ModeLevels;
use eigentone_world::{EditKind, MIN_DAMPING, ModeEdit, Voicing};
use serde_json::{Value, json};
use std::sync::Arc;
use toml_edit::{Array, InlineTable};

/// Modes of one body that may be edited.
const MAX_EDITS: usize = 1024;

/// Modes that may be added to one body.
const MAX_ADDED: usize = 256;

/// Factors of a mode's frequency that an edit may have; those of an added mode are to the one whose shape it has.
const RETUNED: [f64; 2] = [0.1, 10.0];
const ADDED: [f64; 2] = [1e-3, 1e3];

/// What was done to one mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeState {
    /// Factor of its frequency.
    pub frequency: f64,
    /// Factor of its decay rate.
    pub decay: f64,
    /// Factor of its loudness.
    pub gain: f64,
    /// Not heard.
    pub mute: bool,
    /// Only those that have it are heard.
    pub solo: bool,
    /// Taken out.
    pub deleted: bool,
}

impl Default for ModeState {
    fn default() -> Self {
        Self { frequency: 1.0, decay: 1.0, gain: 1.0, mute: false, solo: false, deleted: false }
    }
}

impl ModeState {
    /// As a file has it.
    pub fn of(edit: &eigentone_scene::scene::ModeEdit) -> Self {
        let mute = edit.gain == 0.0;
        let gain = if mute { 1.0 } else { edit.gain };
        Self { frequency: edit.frequency, decay: edit.decay, gain, mute, solo: false, deleted: edit.delete }
    }
}

impl Session {
    /// Subscribes to the modes of one body.
    pub(super) fn watch(&mut self, body: Option<u64>) -> Result<Value, Fault> {
        if let Some(id) = body {
            self.key(id)?;
        }
        self.watched = body;
        let key = body.and_then(|id| self.entries.get(&id)).map(|e| e.key);
        self.world.watch_modes(key);
        Ok(json!({}))
    }

    /// What the watched body's modes are doing.
    pub(super) fn tell_modes(&mut self) {
        let Some((id, key)) = self.watched.and_then(|id| Some((id, self.entries.get(&id)?.key))) else { return };
        // A model that was exchanged may have another place in the engine.
        self.world.watch_modes(Some(key));
        let mut levels = ModeLevels::default();
        if !self.world.mode_levels(key, &mut levels) {
            return;
        }
        let mut packet = Packet::new(Kind::Modes, 16 + 12 * levels.modes.len() + 8 * levels.threshold.len());
        packet.f64(id as f64).u32(levels.modes.len() as u32).u32(levels.threshold.len() as u32);
        for mode in &levels.modes {
            packet.f32s(&[mode.frequency_hz, mode.level_db]).u32(mode.status as u32);
        }
        levels.threshold.iter().for_each(|band| {
            packet.f32s(band);
        });
        self.hub.packet(packet.finish());
    }

    fn modes_of(&self, id: u64) -> Result<Arc<ModalModel>, Fault> {
        let silent = || Fault::bad("this body has no modes", "choose a material first");
        self.world.base_model(self.key(id)?).cloned().ok_or_else(silent)
    }

    /// Factors from what the model has to what is heard, of frequency and decay: size, pitch and damping.
    fn heard(&self, id: u64) -> Result<[f64; 2], Fault> {
        let params = self.world.body(self.key(id)?).ok_or_else(|| Fault::no_body(id))?.params;
        let damping = f64::from(params.damping.max(MIN_DAMPING));
        Ok([f64::from(params.frequency) / params.size, damping / params.size])
    }

    pub(super) fn mode(&mut self, change: &ModeChange) -> Result<Value, Fault> {
        let id = change.body;
        let base = self.modes_of(id)?;
        let count = base.modes.len();
        let heard = self.heard(id)?;
        let entry = self.entries.get(&id).ok_or_else(|| Fault::no_body(id))?;
        let added = change.mode.checked_sub(count);
        let (like, mut state, range) = match added {
            Some(k) => {
                let all = count + entry.added.len();
                let hint = format!("this body has {all}, counted from 0");
                let (like, state) =
                    *entry.added.get(k).ok_or_else(|| Fault::bad(format!("mode {}", change.mode), hint))?;
                (like, state, ADDED)
            }
            None => (change.mode, entry.modes.get(&change.mode).copied().unwrap_or_default(), RETUNED),
        };
        if entry.modes.len() >= MAX_EDITS && added.is_none() && !entry.modes.contains_key(&change.mode) {
            return Err(Fault::bad(format!("{MAX_EDITS} modes of this body are edited already"), "undo some"));
        }
        let left = self.world.body(self.key(id)?).map_or(0, |b| b.voicing.numbers(count).len());
        if change.delete && left <= 1 {
            return Err(Fault::bad("this is the last mode", "mute it, or choose `silent` in the scene file"));
        }
        // An added mode is nothing but its edit: there is no model to go back to.
        if change.reset && added.is_none() {
            state = ModeState::default();
        }
        state.deleted |= change.delete;
        let mode = base.modes.get(like).copied().ok_or_else(|| Fault::bad(format!("mode {like} is gone"), "undo"))?;
        retune(&mut state, change, &mode, heard, range)?;
        self.begin_step(if change.delete { "delete mode" } else { "mode" }, change.gesture, id);
        if let Some(entry) = self.entries.get_mut(&id) {
            match added {
                Some(k) if state.deleted => {
                    entry.added.remove(k);
                }
                Some(k) => entry.added[k].1 = state,
                None if state == ModeState::default() => {
                    entry.modes.remove(&change.mode);
                }
                None => {
                    entry.modes.insert(change.mode, state);
                }
            }
        }
        self.voice(id, count)?;
        self.changed();
        self.tell_body(id);
        Ok(json!({}))
    }

    /// Adds a mode with the shape of another.
    pub(super) fn add_mode(&mut self, addition: &ModeAddition) -> Result<Value, Fault> {
        let id = addition.body;
        let base = self.modes_of(id)?;
        let (count, heard) = (base.modes.len(), self.heard(id)?);
        let hz = addition.frequency_hz;
        if !(1.0..=20_000.0).contains(&hz) {
            return Err(Fault::bad(format!("a frequency of {hz} Hz"), "give 1 to 20000"));
        }
        let apart = |mode: &Mode| (mode.frequency_hz * heard[0] / hz).ln().abs();
        let nearest = (0..count).min_by(|&a, &b| apart(&base.modes[a]).total_cmp(&apart(&base.modes[b])));
        let like = addition.like.or(nearest).filter(|like| *like < count);
        let like = like.ok_or_else(|| {
            Fault::bad("there is no mode whose shape it could have", format!("the model has {count}, counted from 0"))
        })?;
        let had = self.entries.get(&id).map_or(0, |e| e.added.len());
        if had >= MAX_ADDED || count + had >= super::files::MODES_PER_BODY {
            return Err(Fault::bad(format!("{had} modes were added to this body already"), "delete some"));
        }
        let change = ModeChange {
            frequency_hz: Some(hz),
            decay_per_s: addition.decay_per_s,
            gain: addition.gain,
            ..ModeChange::default()
        };
        let mut state = ModeState::default();
        retune(&mut state, &change, &base.modes[like], heard, ADDED)?;
        self.begin_step("add mode", addition.gesture, id);
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.added.push((like, state));
        }
        self.voice(id, count)?;
        self.changed();
        self.tell_body(id);
        Ok(json!({ "mode": count + had }))
    }

    /// Tells world and file what is done to a body's modes.
    fn voice(&mut self, id: u64, count: usize) -> Result<(), Fault> {
        let entry = self.entries.get(&id).ok_or_else(|| Fault::no_body(id))?;
        let (key, states, added) = (entry.key, entry.modes.clone(), entry.added.clone());
        let solo = states.values().chain(added.iter().map(|(_, s)| s)).any(|s| s.solo && !s.deleted);
        let edit = |mode: usize, state: ModeState, kind: EditKind| {
            let heard = !state.mute && (!solo || state.solo);
            let gain = if heard { state.gain } else { 0.0 };
            ModeEdit { mode, frequency: state.frequency, decay: state.decay, gain, kind }
        };
        let changed = (0..count).filter(|m| solo || states.contains_key(m)).map(|mode| {
            let state = states.get(&mode).copied().unwrap_or_default();
            edit(mode, state, if state.deleted { EditKind::Delete } else { EditKind::Change })
        });
        let edits = changed.chain(added.iter().map(|(like, state)| edit(*like, *state, EditKind::Add))).collect();
        let brightness_db = self.world.body(key).map_or(0.0, |b| b.voicing.brightness_db);
        self.world.set_voicing(key, Voicing { brightness_db, edits })?;
        self.write(id, |table| {
            let changes = states.iter().map(|(mode, state)| row(*mode, state, false)).filter(|row| row.len() > 1);
            let written: Array = changes.chain(added.iter().map(|(like, state)| row(*like, state, true))).collect();
            if written.is_empty() {
                table.remove("mode_edits");
            } else {
                put(table, "mode_edits", written.into());
            }
        });
        Ok(())
    }
}

/// Takes in what is asked of a mode, given as it is heard.
fn retune(
    state: &mut ModeState,
    change: &ModeChange,
    mode: &Mode,
    heard: [f64; 2],
    range: [f64; 2],
) -> Result<(), Fault> {
    let factor = |x: f64, of: f64, what: &str, [low, high]: [f64; 2]| {
        let factor = x / of;
        if (low..=high).contains(&factor) {
            Ok(factor)
        } else {
            Err(Fault::bad(format!("{what} {x}"), format!("give {:.4} to {:.4}", of * low, of * high)))
        }
    };
    if let Some(hz) = change.frequency_hz {
        state.frequency = factor(hz, mode.frequency_hz * heard[0], "a frequency of", range)?;
    }
    if let Some(decay) = change.decay_per_s {
        state.decay = factor(decay, mode.decay_per_s * heard[1], "a decay of", [1e-3, 1e3])?;
    }
    if let Some(gain) = change.gain {
        state.gain = factor(gain, 1.0, "a gain of", [0.0, 1e3])?;
    }
    state.mute = change.mute.unwrap_or(state.mute);
    state.solo = change.solo.unwrap_or(state.solo);
    Ok(())
}

/// An edit as a scene file has it.
fn row(mode: usize, state: &ModeState, add: bool) -> InlineTable {
    let mut row = InlineTable::new();
    row.insert("mode", (mode as i64).into());
    if state.deleted {
        row.insert("delete", true.into());
        return row;
    }
    if add {
        row.insert("add", true.into());
    }
    let gain = if state.mute { 0.0 } else { state.gain };
    for (key, x) in [("frequency", state.frequency), ("decay", state.decay), ("gain", gain)] {
        if x != 1.0 {
            row.insert(key, x.into());
        }
    }
    row
}
