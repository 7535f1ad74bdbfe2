//! Maps of roughness: a picture over a body.

use super::Session;
use super::uploads::Picture;
use crate::document::put;
use crate::fault::Fault;
use crate::request::MapChange;
use eigentone_core::texture::SurfaceMap;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use toml_edit::InlineTable;

impl Session {
    /// Lays a picture over a body; black makes its surface `factors[0]` times as rough, white `factors[1]` times.
    ///
    /// # Errors
    /// If the body is gone or has no extent, or a factor makes no sense.
    pub fn lay_map(&mut self, id: u64, picture: &Picture, factors: [f64; 2]) -> Result<Value, Fault> {
        let body = self.world.body(self.key(id)?).ok_or_else(|| Fault::no_body(id))?;
        let map = eigentone_scene::scene::lay_map(&picture.grey, &body.shape.mesh, factors);
        let map = map.map_err(|e| Fault::bad(e.to_string(), "give factors of 0 to 100"))?;
        let smooth = self.world.surface_of(self.key(id)?).is_some_and(|s| s.is_smooth());
        self.differ("a picture was laid over a body");
        self.begin_step("map", None, id);
        self.give_map(id, Some((Arc::new(map), picture.file.clone())))?;
        let warnings: &[&str] =
            if smooth { &["the surface is smooth: choose one that is not, or the map is not heard"] } else { &[] };
        Ok(json!({ "body": id, "warnings": warnings }))
    }

    pub(super) fn surface_map(&mut self, change: &MapChange) -> Result<Value, Fault> {
        let id = change.body;
        let body = self.world.body(self.key(id)?).ok_or_else(|| Fault::no_body(id))?;
        let file = self.entries.get(&id).and_then(|e| e.map.clone());
        let none = || Fault::bad("there is no map over this body", "POST /api/map lays one");
        let (map, file) = body.surface_map.clone().zip(file).ok_or_else(none)?;
        let new = if change.remove {
            None
        } else {
            let [dark, bright] = map.factors();
            let factors = [change.dark.map_or(dark, |x| x as f32), change.bright.map_or(bright, |x| x as f32)];
            let map = map.with_factors(factors).map_err(|e| Fault::bad(e.to_string(), "give factors of 0 to 100"))?;
            Some((Arc::new(map), file))
        };
        self.begin_step("map", change.gesture, id);
        self.give_map(id, new)?;
        Ok(json!({}))
    }

    fn give_map(&mut self, id: u64, map: Option<(Arc<SurfaceMap>, String)>) -> Result<(), Fault> {
        let key = self.key(id)?;
        self.world.set_surface_map(key, map.as_ref().map(|(map, _)| map.clone()))?;
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.map = map.as_ref().map(|(_, file)| file.clone());
        }
        self.write(id, |table| match &map {
            Some((map, file)) => {
                let [dark, bright] = map.factors().map(|f| (f64::from(f) * 1e6).round() / 1e6);
                let mut row = InlineTable::new();
                row.insert("image", file.as_str().into());
                row.insert("dark", dark.into());
                row.insert("bright", bright.into());
                put(table, "surface_map", row.into());
            }
            None => {
                table.remove("surface_map");
            }
        });
        self.changed();
        self.tell_body(id);
        Ok(())
    }

    /// The file of a body's map.
    ///
    /// # Errors
    /// If it has none.
    pub fn map_file(&self, id: u64) -> Result<PathBuf, Fault> {
        self.key(id)?;
        let none = || Fault::missing("there is no map over this body", "POST /api/map lays one");
        let name = self.entries.get(&id).and_then(|e| e.map.as_ref()).ok_or_else(none)?;
        Ok(self.scene.resolve(name)?)
    }
}
