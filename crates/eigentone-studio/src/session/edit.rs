//! Changes of bodies: in the world and in the file together.

use super::Session;
use crate::document::{list, put, put_number};
use crate::fault::Fault;
use crate::request::Set;
use eigentone_core::Vec3;
use eigentone_core::units::Decibels;
use eigentone_scene::Scene;
use eigentone_world::{Collider, Kind, Sound, Surface, Voicing};
use glam::DQuat;
use serde_json::{Value, json};
use std::sync::Arc;
use toml_edit::Table;

/// Longest name of a body, in bytes.
const LONGEST_NAME: usize = 128;

impl Session {
    pub(super) fn set(&mut self, set: &Set) -> Result<Value, Fault> {
        self.key(set.body)?;
        check(set)?;
        let label = label(set);
        let continued = self.history.continues(set.gesture, set.body);
        self.begin_step(label, set.gesture, set.body);
        match self.set_all(set) {
            Ok(()) => {
                self.changed();
                self.tell_body(set.body);
                Ok(json!({}))
            }
            Err(fault) => {
                if !continued {
                    self.history.forget_last();
                }
                Err(fault)
            }
        }
    }

    fn set_all(&mut self, set: &Set) -> Result<(), Fault> {
        let (id, key) = (set.body, self.key(set.body)?);
        if let Some(name) = &set.name {
            self.set_name(id, name)?;
        }
        if let Some(material) = &set.material {
            self.set_material(id, material)?;
        }
        if let Some(surface) = &set.surface {
            self.set_surface(id, surface.as_deref().filter(|s| !s.is_empty()))?;
        }
        if let Some(size) = set.size {
            self.world.set_size(key, size)?;
            self.write(id, |table| put_number(table, "size", size, 1.0));
            self.begin_holds = false;
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.mesh_version += 1;
            }
        }
        if let Some(pitch) = set.pitch {
            self.world.set_frequency(key, pitch as f32)?;
            self.write(id, |table| put_number(table, "pitch", pitch, 1.0));
        }
        if let Some(damping) = set.damping {
            self.world.set_damping(key, damping as f32)?;
            self.write(id, |table| put_number(table, "damping", damping.clamp(0.1, 50.0), 1.0));
        }
        if let Some(brightness) = set.brightness {
            let edits = self.world.body(key).map(|b| b.voicing.edits.clone()).unwrap_or_default();
            self.world.set_voicing(key, Voicing { brightness_db: brightness, edits })?;
            self.write(id, |table| put_number(table, "brightness_db", brightness, 0.0));
        }
        if let Some(gain) = set.gain {
            self.world.set_gain(key, gain as f32)?;
            // Silence has no decibels: −200 is as good.
            let db = Decibels::from_amplitude(gain.max(1e-10)).get();
            self.write(id, |table| put_number(table, "gain_db", (db * 1e4).round() / 1e4, 0.0));
        }
        if set.position.is_some() || set.rotation.is_some() {
            self.set_place(id, set.position, set.rotation)?;
        }
        if let Some(fixed) = set.fixed {
            self.world.set_kind(key, if fixed { Kind::Fixed } else { Kind::Dynamic })?;
            self.begin_holds = false;
            self.write(id, |table| put(table, "fixed", fixed.into()));
        }
        Ok(())
    }

    /// The body's `[[body]]`, with what is said of it as a copy.
    pub(super) fn own_table(&self, id: u64) -> Option<Table> {
        let entry = self.entries.get(&id)?;
        let mut table = self.text.body(entry.table?)?.clone();
        if entry.copy {
            crate::document::copies::merge(&mut table, entry.number);
        }
        Some(table)
    }

    /// Writes into the body's `[[body]]` or `[[soft]]`; what is one of several copies, into its `copy_edits`.
    pub(super) fn write(&mut self, id: u64, change: impl FnOnce(&mut Table)) {
        let Some(entry) = self.entries.get(&id) else { return };
        let table = match entry.table {
            Some(index) => self.text.body_mut(index),
            None if entry.shape == "soft" => self.text.soft_mut(entry.number),
            None => None,
        };
        match table {
            Some(table) if entry.copy => crate::document::copies::edit(table, entry.number, change),
            Some(table) => change(table),
            None if !self.unsaveable_told.insert(id) => {}
            None => {
                let name = self.world.body(entry.key).map(|b| b.name.clone()).unwrap_or_default();
                self.hub.log(
                    "warning",
                    &format!("`{name}` is dropped by a melody: what is changed of it is heard, but not saved"),
                );
            }
        }
    }

    fn set_material(&mut self, id: u64, name: &str) -> Result<(), Fault> {
        let key = self.key(id)?;
        let new = self.world.settings().materials.get(name).map_err(|e| Fault::bad(e.to_string(), ""))?.clone();
        let table = self.own_table(id).map(|t| of_material(t, &new.name));
        let planned = table.as_ref().filter(|t| is_quick(t)).and_then(|table| self.plan(table).ok());
        let old_density = self.world.material_of(key).map_or(new.density_kg_m3, |m| m.density_kg_m3);
        let size = self.world.body(key).map_or(1.0, |b| b.params.size);
        let mass = self.world.mass_kg(key);
        let silent = self
            .world
            .body(key)
            .is_some_and(|b| matches!(b.sound, Sound::Silent) && b.shape.collider == Collider::Floor);
        let material = Arc::new(new.clone());
        match &planned {
            // In turns every model is waited for: so only the one that is wanted is made.
            Some(new) if self.turns.is_some() => {
                self.world.set_material_with(key, material, new.planned.world_body().sound)?;
            }
            _ => self.world.set_material_data(key, material)?,
        }
        match planned {
            Some(_) if self.turns.is_some() => {}
            Some(new) => self.world.set_sound(key, new.planned.world_body().sound)?,
            None if silent => self.world.set_sound(key, Sound::Silent)?,
            None => {}
        }
        if let (Some(mass), false) = (mass, table.is_some_and(|t| t.contains_key("mass_kg"))) {
            self.world.set_mass(key, mass / size.powi(3) * new.density_kg_m3 / old_density)?;
        }
        let Some(entry) = self.entries.get_mut(&id) else { return Ok(()) };
        new.name.clone_into(&mut entry.material);
        if entry.surface.is_none() {
            // A smooth surface is as stiff as what it is of.
            self.world.set_surface(key, Surface::OfMaterial)?;
        }
        self.begin_holds = false;
        self.write(id, |table| *table = of_material(table.clone(), &new.name));
        Ok(())
    }

    fn set_surface(&mut self, id: u64, name: Option<&str>) -> Result<(), Fault> {
        let key = self.key(id)?;
        let surface = name.map_or(Ok(Surface::OfMaterial), |name| self.surface_named(name))?;
        self.world.set_surface(key, surface)?;
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.surface = name.map(str::to_owned);
        }
        self.begin_holds = false;
        self.write(id, |table| match name {
            Some(name) => put(table, "surface", name.into()),
            None => {
                table.remove("surface");
            }
        });
        Ok(())
    }

    fn set_name(&mut self, id: u64, name: &str) -> Result<(), Fault> {
        let key = self.key(id)?;
        if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
            return Err(Fault::bad("a name has 1 to 128 letters", ""));
        }
        if self.world.bodies().any(|(other, b)| other != key && b.name == name) {
            return Err(Fault::bad(format!("another body is called `{name}`"), "choose another name"));
        }
        if self.entries.get(&id).is_some_and(|e| e.copy) {
            let hint = "copies are named after their [[body]]; duplicate it for one of its own";
            return Err(Fault::bad("a copy has no name of its own", hint));
        }
        let old = self.world.body(key).map(|b| b.name.clone()).unwrap_or_default();
        self.world.set_label(key, name, id)?;
        match self.entries.get(&id).and_then(|e| e.table.filter(|_| !e.copy)) {
            Some(index) => self.text.rename(index, &old, name),
            None => self.write(id, |table| put(table, "name", name.into())),
        }
        Ok(())
    }

    fn set_place(&mut self, id: u64, position: Option<[f64; 3]>, rotation: Option<[f64; 4]>) -> Result<(), Fault> {
        let key = self.key(id)?;
        let pose = *self.world.pose(key).ok_or_else(|| Fault::no_body(id))?;
        let place = position.unwrap_or(pose.position.map(f64::from));
        let turn = rotation.unwrap_or(pose.rotation.map(f64::from));
        self.world.set_pose(key, Vec3::from_array(place), DQuat::from_array(turn))?;
        let _ = self.world.set_motion(key, Vec3::ZERO, Vec3::ZERO);
        self.place_begin(id, place, turn);
        Ok(())
    }

    /// Where a body begins, in the file.
    fn place_begin(&mut self, id: u64, position: [f64; 3], rotation: [f64; 4]) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let turned = entry.rotation != rotation;
        (entry.position, entry.rotation) = (position, rotation);
        self.begin_holds = false;
        self.write(id, |table| {
            put(table, "position", list(&position));
            if turned {
                put(table, "rotation", list(&rotation));
            }
            table.remove("lands");
        });
    }

    /// Where bodies are now is where they begin.
    pub(super) fn settle(&mut self, body: Option<u64>) -> Result<Value, Fault> {
        if let Some(id) = body {
            self.key(id)?;
        }
        self.begin_step("settle", None, 0);
        let all: Vec<u64> = self.entries.keys().copied().filter(|id| body.is_none_or(|b| b == *id)).collect();
        for id in all {
            let Some(entry) = self.entries.get(&id).filter(|e| e.table.is_some()) else { continue };
            let moves = self.world.body(entry.key).is_some_and(|b| b.kind == Kind::Dynamic);
            if let Some(pose) = self.world.pose(entry.key).copied().filter(|_| moves) {
                self.place_begin(id, pose.position.map(f64::from), pose.rotation.map(f64::from));
            }
        }
        self.changed();
        Ok(json!({}))
    }

    pub(super) fn remove(&mut self, id: u64) -> Result<Value, Fault> {
        let key = self.key(id)?;
        let entry = self.entries[&id].clone();
        if entry.copy || entry.table.is_none() {
            let hint = "edit the scene file: it is one of several copies, dropped by a melody, or soft";
            return Err(Fault::bad("this body cannot be removed by itself", hint));
        }
        let name = self.world.body(key).map(|b| b.name.clone()).unwrap_or_default();
        let before = self.moment();
        let mut text = self.text.clone();
        if let Some(index) = entry.table {
            text.remove_body(index, &name);
            // What others say of it must not be left behind.
            Scene::parse(&text.text(), &self.scene.folder, "the scene without it")
                .map_err(|e| Fault::bad(e.to_string(), "something else needs this body; remove that first"))?;
        }
        self.world.remove(key)?;
        self.text = text;
        self.history.push(before, "remove", None);
        self.entries.remove(&id);
        self.by_key.remove(&key);
        self.grabs.retain(|_, grab| grab.body() != key);
        for other in self.entries.values_mut() {
            if let (Some(own), Some(gone)) = (other.table, entry.table) {
                other.table = Some(if own > gone { own - 1 } else { own });
            }
        }
        self.watched = self.watched.filter(|w| *w != id);
        self.begin_holds = false;
        self.hub.event(&json!({ "event": "gone", "body": id }));
        self.changed();
        Ok(json!({}))
    }
}

/// Whether the model of a `[[body]]` need not be waited for: pitches are tuned by making several, and compressed ones are made at once.
fn is_quick(table: &Table) -> bool {
    !["tune", "tune_hz", "compress", "shares", "lands"].iter().any(|key| table.contains_key(key))
}

/// The same of another material: heard, and without a model of its own.
fn of_material(mut table: Table, material: &str) -> Table {
    put(&mut table, "material", material.into());
    table.remove("model");
    if table.get("silent").and_then(toml_edit::Item::as_bool) == Some(true) {
        table.remove("silent");
    }
    table
}

/// Refuses numbers before anything is changed.
fn check(set: &Set) -> Result<(), Fault> {
    let ranges = [
        ("size", set.size, 0.01, 100.0),
        ("pitch", set.pitch, 0.05, 20.0),
        ("damping", set.damping, 0.1, 50.0),
        ("brightness", set.brightness, -24.0, 24.0),
        ("gain", set.gain, 0.0, 1000.0),
    ];
    for (what, value, low, high) in ranges {
        if let Some(value) = value.filter(|v| !(low..=high).contains(v)) {
            return Err(Fault::bad(format!("{what} is {value}"), format!("give {low} to {high}")));
        }
    }
    let numbers = set.position.iter().flatten().chain(set.rotation.iter().flatten());
    if numbers.clone().any(|x| !x.is_finite() || x.abs() > 1e5) {
        return Err(Fault::bad("a place is not a number or too far away", "stay within 100 km"));
    }
    if set.rotation.is_some_and(|q| q.iter().map(|x| x * x).sum::<f64>() < 1e-6) {
        return Err(Fault::bad("a rotation without a direction", "give a quaternion x, y, z, w"));
    }
    Ok(())
}

/// What a step of undo is called.
fn label(set: &Set) -> &'static str {
    [
        (set.material.is_some(), "material"),
        (set.surface.is_some(), "surface"),
        (set.size.is_some(), "size"),
        (set.pitch.is_some(), "pitch"),
        (set.damping.is_some(), "damping"),
        (set.brightness.is_some(), "brightness"),
        (set.gain.is_some(), "gain"),
        (set.position.is_some() || set.rotation.is_some(), "place"),
        (set.name.is_some(), "name"),
        (set.fixed.is_some(), "fixed"),
    ]
    .iter()
    .find(|(given, _)| *given)
    .map_or("change", |(_, label)| label)
}
