//! What the studio knows of a body beside the world: its number, where it stands in the file, its versions.

use super::Session;
use super::files::Staged;
use super::modes::ModeState;
use eigentone_world::{BodyKey, EventKind, Kind, Sound};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A body.
#[derive(Clone, Debug)]
pub struct Entry {
    /// In the world.
    pub key: BodyKey,
    /// Number of its `[[body]]`, if it has one.
    pub table: Option<usize>,
    /// Whether it is one of several of the same table.
    pub copy: bool,
    /// Which of them, counted from 1; of a soft body, the number of its `[[soft]]`, counted from 0.
    pub number: usize,
    /// Name of its material.
    pub material: String,
    /// Name of its surface.
    pub surface: Option<String>,
    /// Its shape's key in the file.
    pub shape: String,
    /// Where the file has it begin.
    pub position: [f64; 3],
    /// How it is turned then.
    pub rotation: [f64; 4],
    /// What was done to single modes.
    pub modes: BTreeMap<usize, ModeState>,
    /// Modes that were added, with the number of the one whose shape each has.
    pub added: Vec<(usize, ModeState)>,
    /// The picture of its map of roughness, as the file names it.
    pub map: Option<String>,
    /// Changes when its form does.
    pub mesh_version: u64,
    /// Changes when its model does.
    pub model_version: u64,
    /// The model that the version stands for.
    pub model: usize,
}

impl Session {
    pub(super) fn enter_all(&mut self, staged: &[Staged]) {
        for one in staged {
            self.enter(one);
        }
    }

    /// Gives a body its number.
    pub(super) fn enter(&mut self, staged: &Staged) -> u64 {
        let id = self.next_id;
        self.enter_as(id, staged);
        id
    }

    /// The same under a number that it had before.
    pub(super) fn enter_as(&mut self, id: u64, staged: &Staged) {
        self.next_id = self.next_id.max(id + 1);
        let key = staged.key;
        let name = self.world.body(key).map(|b| b.name.clone()).unwrap_or_default();
        // It is there: it has just been inserted.
        let _ = self.world.set_label(key, &name, id);
        let body = staged.body.as_ref();
        let edits = || body.into_iter().flat_map(|b| &b.mode_edits);
        let modes = edits().filter(|e| !e.add).map(|e| (e.mode, ModeState::of(e))).collect();
        let added = edits().filter(|e| e.add).map(|e| (e.mode, ModeState::of(e))).collect();
        self.entries.insert(
            id,
            Entry {
                key,
                table: staged.table,
                copy: staged.copy,
                number: staged.number,
                material: body.map(|b| b.material.clone()).unwrap_or_default(),
                surface: body.and_then(|b| b.surface.clone()),
                shape: body.map_or_else(|| "soft".to_owned(), |b| b.shape.key().to_owned()),
                position: body.map(|b| b.position).unwrap_or_default(),
                rotation: body.map_or([0.0, 0.0, 0.0, 1.0], |b| b.rotation.quaternion()),
                modes,
                added,
                map: body.and_then(|b| b.surface_map.as_ref()).map(|map| map.image.clone()),
                mesh_version: 1,
                model_version: 1,
                model: self.model_address(key),
            },
        );
        self.by_key.insert(key, id);
    }

    pub(super) fn model_address(&self, key: BodyKey) -> usize {
        self.world.model(key).map_or(0, |m| Arc::as_ptr(m) as usize)
    }

    /// A body as pages see it.
    pub fn body_json(&mut self, id: u64) -> Option<Value> {
        let key = self.entries.get(&id)?.key;
        let address = self.model_address(key);
        let being_made = self.world.is_model_pending(key) || self.is_settling(id);
        let entry = self.entries.get_mut(&id)?;
        if entry.model != address {
            (entry.model, entry.model_version) = (address, entry.model_version + 1);
        }
        let (entry, body) = (&*entry, self.world.body(key)?);
        let model = self.world.model(key);
        let kind = match body.kind {
            _ if body.soft.is_some() => "dynamic",
            Kind::Fixed => "fixed",
            Kind::Dynamic => "dynamic",
            Kind::Kinematic | Kind::Path(_) | Kind::External => "kinematic",
        };
        Some(json!({
            "id": id,
            "name": body.name,
            "material": entry.material,
            "surface": entry.surface,
            "map": body.surface_map.as_ref().zip(entry.map.as_ref()).map(|(map, file)| {
                let [dark, bright] = map.factors();
                json!({ "file": file, "dark": dark, "bright": bright })
            }),
            "kind": kind,
            "shape": entry.shape,
            "sounds": model.is_some() || matches!(body.sound, Sound::Voice) || body.soft.is_some(),
            "provisional": being_made,
            "modes": model.map_or(0, |m| m.modes.len()),
            "first_hz": model.and_then(|m| m.modes.first()).map(|m| m.frequency_hz * f64::from(body.params.frequency)),
            "mass_kg": self.world.mass_kg(key),
            "size": body.params.size,
            "pitch": body.params.frequency,
            "damping": body.params.damping,
            "brightness": body.voicing.brightness_db,
            "gain": body.params.gain,
            "present": body.present,
            "mesh_version": entry.mesh_version,
            "model_version": entry.model_version,
            "color": self.scene.softs.iter().find(|s| body.soft.is_some() && s.name == body.name).and_then(|s| s.color),
        }))
    }

    /// Tells everybody what has become of a body.
    pub(super) fn tell_body(&mut self, id: u64) {
        if let Some(body) = self.body_json(id) {
            self.hub.event(&json!({ "event": "body", "body": body }));
        }
    }

    /// What the world tells of itself.
    pub(super) fn take_events(&mut self) {
        let events: Vec<_> = self.world.drain_events().collect();
        for event in events {
            match event.kind {
                EventKind::Impact { bodies, position, impulse_ns, .. } => {
                    self.note_contact(bodies, position, impulse_ns, 0);
                }
                EventKind::ContactBegin { bodies, position } => self.note_contact(bodies, position, 0.0, 1),
                EventKind::ContactEnd { bodies, position } => self.note_contact(bodies, position, 0.0, 2),
                EventKind::ModelReady { body, .. } => {
                    if let Some(&id) = self.by_key.get(&body) {
                        self.model_ready(id);
                    }
                }
                EventKind::ModelFailed { body, why, .. } => {
                    let name = self.world.body(body).map(|b| b.name.clone()).unwrap_or_default();
                    self.hub.log("warning", &format!("no better model could be made of `{name}`: {why}"));
                    if let Some(&id) = self.by_key.get(&body) {
                        self.tasks_told.remove(&id);
                        self.hub.event(&json!({ "event": "task", "body": id, "stage": "failed", "share": 1.0 }));
                        self.tell_body(id);
                    }
                }
                EventKind::Frozen { body } => {
                    let name = self.world.body(body).map(|b| b.name.clone()).unwrap_or_default();
                    self.hub.log(
                        "warning",
                        &format!("`{name}` flew out of the world and stands still now; reset brings it back"),
                    );
                }
                EventKind::Refused { why, .. }
                | EventKind::SoftFailed { why, .. }
                | EventKind::MotionFailed { why } => {
                    self.hub.log("warning", &why);
                }
                EventKind::SoftTooSlow { times_real_time } => {
                    let text = format!(
                        "soft bodies take {times_real_time:.1} times as long as they may: their sound is late or missing"
                    );
                    self.hub.log("warning", &text);
                }
                _ => {}
            }
        }
    }

    /// How far models are that are being made.
    pub(super) fn tell_tasks(&mut self) {
        for task in self.world.tasks() {
            let Some(&id) = self.by_key.get(&task.body) else { continue };
            let told = (task.stage.clone(), task.share);
            if self.tasks_told.get(&id) != Some(&told) {
                let share = f64::from(task.share);
                self.hub.event(&json!({ "event": "task", "body": id, "stage": task.stage, "share": share }));
                self.tasks_told.insert(id, told);
            }
        }
    }
}
