//! Bodies that come: from the shelf, from files, from others.

use super::Session;
use super::files::{Folders, Staged};
use crate::document::{SceneText, list, put};
use crate::fault::Fault;
use eigentone_core::TriMesh;
use eigentone_modal::Progress;
use eigentone_scene::Scene;
use eigentone_scene::scene::{Plan, Planned};
use eigentone_world::Collider;
use serde_json::{Value, json};
use std::path::PathBuf;
use toml_edit::Table;

/// A body that is to come, as the file would describe it.
#[derive(Clone, Debug)]
pub struct Draft {
    table: Table,
    /// A scene of this body alone.
    text: String,
    folder: PathBuf,
    folders: Folders,
}

/// The same, ready to be inserted.
#[derive(Debug)]
pub struct Ready {
    table: Table,
    /// The body.
    pub planned: Planned,
    warnings: Vec<String>,
}

impl Draft {
    /// Makes its mesh and what it sounds with at first. May take a while for a large mesh.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn plan(self) -> Result<Ready, Fault> {
        let mut scene = Scene::parse(&self.text, &self.folder, "the new body")?;
        scene.more_folders = vec![self.folders.session.clone()];
        let plan = Plan::draft(&scene, &self.folders.cache, &Progress::silent())?;
        let warnings = plan.warnings;
        let planned = plan.bodies.into_iter().next().ok_or_else(|| Fault::bad("there is no body in this", ""))?;
        Ok(Ready { table: self.table, planned, warnings })
    }
}

impl Ready {
    /// Its `[[body]]`.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

impl Session {
    pub(super) fn add_object(
        &mut self,
        object: &str,
        position: Option<[f64; 3]>,
        material: Option<&str>,
    ) -> Result<Value, Fault> {
        let object = crate::shelf::find(object)?;
        let text = SceneText::parse(&object.table())?;
        let mut table = text.body(0).cloned().unwrap_or_default();
        if let Some(material) = material {
            put(&mut table, "material", material.into());
        }
        let ready = self.plan(&table)?;
        self.add(ready, position, "add")
    }

    pub(super) fn duplicate(&mut self, id: u64) -> Result<Value, Fault> {
        let key = self.key(id)?;
        let hint = "only bodies with a [[body]] of their own can be duplicated";
        let mut table = self.own_table(id).ok_or_else(|| Fault::bad("this body cannot be duplicated", hint))?;
        for key in ["lands", "copies", "shares", "template", "appears_s", "lives_s"] {
            table.remove(key);
        }
        let pose = *self.world.pose(key).ok_or_else(|| Fault::no_body(id))?;
        let width = self.world.body(key).and_then(|b| b.shape.mesh.bounds().map(|[a, z]| (z - a).x * b.params.size));
        let mut place = pose.position.map(f64::from);
        place[0] += 1.1 * width.unwrap_or(0.1).min(2.0) + 0.01;
        put(&mut table, "rotation", list(&pose.rotation.map(f64::from)));
        let ready = self.plan(&table)?;
        self.add(ready, Some(place), "duplicate")
    }

    /// A body that is to come, to be [planned](Draft::plan) wherever there is time.
    pub fn draft(&self, table: &Table) -> Draft {
        let text = self.text.alone(table);
        Draft { table: table.clone(), text, folder: self.scene.folder.clone(), folders: self.folders.clone() }
    }

    pub(super) fn plan(&self, table: &Table) -> Result<Ready, Fault> {
        self.draft(table).plan()
    }

    /// Adds a body that is ready.
    pub fn add(&mut self, ready: Ready, position: Option<[f64; 3]>, label: &str) -> Result<Value, Fault> {
        let Ready { mut table, mut planned, warnings } = ready;
        planned.body.name = self.free_name(&planned.body.name);
        put(&mut table, "name", planned.body.name.as_str().into());
        planned.body.position = position.unwrap_or_else(|| self.free_place(&planned.mesh));
        put(&mut table, "position", list(&planned.body.position));
        let before = self.moment();
        let key = self.world.insert(planned.world_body())?;
        self.history.push(before, label, None);
        let index = self.text.push_body(table);
        self.begin_holds = false;
        let id = self.enter(&Staged { key, table: Some(index), copy: false, number: 1, body: Some(planned.body) });
        self.changed();
        self.tell_body(id);
        Ok(json!({ "body": id, "warnings": warnings }))
    }

    /// A name that no other body has.
    fn free_name(&self, wanted: &str) -> String {
        let base = wanted.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
        let base = if base.is_empty() { "body" } else { base };
        let taken = |name: &str| self.world.bodies().any(|(_, b)| b.name == name);
        if !taken(wanted) && !wanted.is_empty() {
            return wanted.to_owned();
        }
        (2..).map(|n| format!("{base} {n}")).find(|name| !taken(name)).unwrap_or_default()
    }

    /// A place above everything near the middle, so that it falls down.
    fn free_place(&self, mesh: &TriMesh) -> [f64; 3] {
        let below = mesh.bounds().map_or(0.0, |[low, _]| -low.z);
        let radius = mesh.bounds().map_or(0.1, |[low, high]| 0.5 * (high - low).truncate().length());
        let mut top: f64 = 0.0;
        for (key, body) in self.world.bodies().filter(|(_, b)| b.present && b.shape.collider != Collider::Floor) {
            let Some((pose, [low, high])) = self.world.pose(key).zip(body.shape.mesh.bounds()) else { continue };
            let reach = 0.5 * body.params.size * (high - low).length();
            let middle = pose.to_world(0.5 * body.params.size * (low + high));
            if middle.truncate().length() < reach + radius && middle.z < 2.0 {
                top = top.max(middle.z + reach);
            }
        }
        [0.0, 0.0, top + below + 0.02]
    }
}
