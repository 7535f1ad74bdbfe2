//! Modes one by one: watched while they ring, and edited.

use super::Session;
use crate::document::put;
use crate::fault::Fault;
use crate::packet::{Kind, Packet};
use crate::request::ModeChange;
use eigentone_synth::ModeLevels;
use eigentone_world::{ModeEdit, Voicing};
use serde_json::{Value, json};
use toml_edit::{Array, InlineTable};

/// Modes of one body that may be edited.
const MAX_EDITS: usize = 1024;

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
}

impl Default for ModeState {
    fn default() -> Self {
        Self { frequency: 1.0, decay: 1.0, gain: 1.0, mute: false, solo: false }
    }
}

impl ModeState {
    /// As a file has it.
    pub fn of(edit: &eigentone_scene::scene::ModeEdit) -> Self {
        let mute = edit.gain == 0.0;
        let gain = if mute { 1.0 } else { edit.gain };
        Self { frequency: edit.frequency, decay: edit.decay, gain, mute, solo: false }
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

    pub(super) fn mode(&mut self, change: &ModeChange) -> Result<Value, Fault> {
        let (id, key) = (change.body, self.key(change.body)?);
        let silent = || Fault::bad("this body has no modes", "choose a material first");
        let base = self.world.base_model(key).cloned().ok_or_else(silent)?;
        let count = base.modes.len();
        let mode = base.modes.get(change.mode).copied().ok_or_else(|| {
            Fault::bad(format!("mode {}", change.mode), format!("this body has {count}, counted from 0"))
        })?;
        let body = self.world.body(key).ok_or_else(|| Fault::no_body(id))?;
        // As it is heard: at its size, pitch and damping.
        let damped = f64::from(body.params.damping.max(1.0)) / body.params.size;
        let shown = f64::from(body.params.frequency) / body.params.size;
        let entry = self.entries.get(&id).ok_or_else(|| Fault::no_body(id))?;
        if entry.modes.len() >= MAX_EDITS && !entry.modes.contains_key(&change.mode) {
            return Err(Fault::bad(format!("{MAX_EDITS} modes of this body are edited already"), "undo some"));
        }
        let mut state = if change.reset {
            ModeState::default()
        } else {
            entry.modes.get(&change.mode).copied().unwrap_or_default()
        };
        let factor = |x: f64, of: f64, what: &str, low: f64, high: f64| {
            let factor = x / of;
            if (low..=high).contains(&factor) {
                Ok(factor)
            } else {
                Err(Fault::bad(format!("{what} {x}"), format!("give {:.4} to {:.4}", of * low, of * high)))
            }
        };
        if let Some(hz) = change.frequency_hz {
            state.frequency = factor(hz, mode.frequency_hz * shown, "a frequency of", 0.1, 10.0)?;
        }
        if let Some(decay) = change.decay_per_s {
            state.decay = factor(decay, mode.decay_per_s * damped, "a decay of", 1e-3, 1e3)?;
        }
        if let Some(gain) = change.gain {
            state.gain = factor(gain, 1.0, "a gain of", 0.0, 1e3)?;
        }
        state.mute = change.mute.unwrap_or(state.mute);
        state.solo = change.solo.unwrap_or(state.solo);
        self.begin_step("mode", change.gesture, id);
        if let Some(entry) = self.entries.get_mut(&id) {
            if state == ModeState::default() {
                entry.modes.remove(&change.mode);
            } else {
                entry.modes.insert(change.mode, state);
            }
        }
        self.voice(id, count)?;
        self.changed();
        self.tell_body(id);
        Ok(json!({}))
    }

    /// Tells world and file what is done to a body's modes.
    fn voice(&mut self, id: u64, count: usize) -> Result<(), Fault> {
        let entry = self.entries.get(&id).ok_or_else(|| Fault::no_body(id))?;
        let (key, states) = (entry.key, entry.modes.clone());
        let solo = states.values().any(|s| s.solo);
        let edit = |mode: usize| {
            let state = states.get(&mode).copied().unwrap_or_default();
            let heard = !state.mute && (!solo || state.solo);
            ModeEdit {
                mode,
                frequency: state.frequency,
                decay: state.decay,
                gain: if heard { state.gain } else { 0.0 },
            }
        };
        let edits = (0..count).filter(|m| solo || states.contains_key(m)).map(edit).collect();
        let brightness_db = self.world.body(key).map_or(0.0, |b| b.voicing.brightness_db);
        self.world.set_voicing(key, Voicing { brightness_db, edits })?;
        self.write(id, |table| {
            let written: Array = states
                .iter()
                .map(|(mode, s)| {
                    let mut row = InlineTable::new();
                    row.insert("mode", (*mode as i64).into());
                    let gain = if s.mute { 0.0 } else { s.gain };
                    for (key, x) in [("frequency", s.frequency), ("decay", s.decay), ("gain", gain)] {
                        if x != 1.0 {
                            row.insert(key, x.into());
                        }
                    }
                    row
                })
                .filter(|row| row.len() > 1)
                .collect();
            if written.is_empty() {
                table.remove("mode_edits");
            } else {
                put(table, "mode_edits", written.into());
            }
        });
        Ok(())
    }
}
