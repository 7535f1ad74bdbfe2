//! Undo, redo and reset.

use super::Session;
use super::files::prepare;
use crate::fault::Fault;
use crate::history::Moment;
use eigentone_core::Vec3;
use glam::DQuat;
use serde_json::{Value, json};

impl Session {
    pub(super) fn undo(&mut self) -> Result<Value, Fault> {
        let now = self.moment();
        let before = self.history.undo(|| now).ok_or_else(|| Fault::bad("there is nothing to undo", ""))?;
        self.end_comparison();
        self.go_to(before)
    }

    pub(super) fn redo(&mut self) -> Result<Value, Fault> {
        let now = self.moment();
        let after = self.history.redo(|| now).ok_or_else(|| Fault::bad("there is nothing to redo", ""))?;
        self.end_comparison();
        self.go_to(after)
    }

    /// Makes the scene what it was, without touching how things move.
    pub(super) fn go_to(&mut self, moment: Moment) -> Result<Value, Fault> {
        (self.dirty, self.unsaved) = (true, true);
        if moment.epoch != self.epoch {
            // Another scene was opened in between: it is put on stage again.
            let prepared = prepare(&moment.text.text(), moment.file, &self.folders)?;
            self.install(prepared);
            return Ok(json!({}));
        }
        let listener = self.world.listener();
        let old = std::mem::replace(&mut self.entries, moment.entries);
        self.text = moment.text;
        self.file = moment.file;
        let restored = self.world.restore_document(&moment.document);
        self.world.set_listener(listener);
        self.by_key = self.entries.iter().map(|(id, e)| (e.key, *id)).collect();
        if old.keys().ne(self.entries.keys()) {
            self.begin_holds = false;
        }
        let ids: Vec<u64> = self.entries.keys().copied().collect();
        for id in ids {
            let Some(entry) = self.entries.get_mut(&id) else { continue };
            let Some(before) = old.get(&id) else { continue };
            // Versions never go back: pages would keep what they have.
            entry.mesh_version = entry.mesh_version.max(before.mesh_version) + 1;
            entry.model_version = entry.model_version.max(before.model_version) + 1;
            let (key, position, rotation) = (entry.key, entry.position, entry.rotation);
            if (before.position, before.rotation) != (position, rotation) {
                let _ = self.world.set_pose(key, Vec3::from_array(position), DQuat::from_array(rotation));
            }
        }
        self.hail = super::hail::HailState::of(&self.world);
        self.grabs.retain(|_, grab| self.by_key.contains_key(&grab.body()));
        restored?;
        self.tell_scene();
        Ok(json!({}))
    }

    /// Everything goes back to where it began.
    pub(super) fn reset(&mut self) -> Result<Value, Fault> {
        self.grabs.clear();
        if self.turns.is_some() && self.recording.is_none() {
            // A take was made: from here on sound has a thread of its own again.
            let prepared = prepare(&self.text.text(), self.file.clone(), &self.folders)?;
            self.install_with(prepared, true);
            return Ok(json!({}));
        }
        if self.begin_holds {
            let document = self.world.document();
            let snapshot = eigentone_world::Snapshot { document, motion: self.begin.motion.clone() };
            self.world.restore(&snapshot)?;
        }
        let starts: Vec<_> = self.entries.values().map(|e| (e.key, e.position, e.rotation)).collect();
        for (key, position, rotation) in starts {
            let moves = self.world.body(key).is_some_and(|b| b.soft.is_none() && b.present);
            if moves && !self.begin_holds {
                self.world.set_pose(key, Vec3::from_array(position), DQuat::from_array(rotation))?;
                let _ = self.world.set_motion(key, Vec3::ZERO, Vec3::ZERO);
            }
            let _ = self.world.silence(key);
        }
        self.begin_tape();
        self.tell_scene();
        Ok(json!({}))
    }
}
