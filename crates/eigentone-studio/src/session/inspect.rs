//! What pages may ask of a body over HTTP.

use super::Session;
use crate::fault::Fault;
use eigentone_core::{ModalModel, TriMesh};
use eigentone_world::MIN_DAMPING;
use serde_json::{Value, json};
use std::sync::Arc;

impl Session {
    /// A body's surface at size one, and its size.
    pub fn drawn(&self, id: u64) -> Result<(Arc<TriMesh>, f64), Fault> {
        let body = self.world.body(self.key(id)?).ok_or_else(|| Fault::no_body(id))?;
        Ok((body.shape.mesh.clone(), body.params.size))
    }

    /// A body's model as it was made.
    pub fn base_model(&self, id: u64) -> Result<Arc<ModalModel>, Fault> {
        let silent = || Fault::missing("this body has no model", "choose a material first");
        self.world.base_model(self.key(id)?).cloned().ok_or_else(silent)
    }

    /// The model that a mode of a body takes its shape from, and its number there.
    ///
    /// # Errors
    /// If the body is gone or has no model.
    pub fn shape_of(&self, id: u64, mode: usize) -> Result<(Arc<ModalModel>, usize), Fault> {
        let model = self.base_model(id)?;
        let added = mode.checked_sub(model.modes.len()).and_then(|k| self.entries.get(&id)?.added.get(k));
        let mode = added.map_or(mode, |(like, _)| *like);
        Ok((model, mode))
    }

    /// A body's model as it sounds, at its pitch and damping; its name, its gain and the sample rate.
    pub fn sounding_model(&self, id: u64) -> Result<(Arc<ModalModel>, String, f64, f64), Fault> {
        let key = self.key(id)?;
        let silent = || Fault::missing("this body has no model", "choose a material first");
        let model = self.world.model(key).cloned().ok_or_else(silent)?;
        let body = self.world.body(key).ok_or_else(|| Fault::no_body(id))?;
        let (frequency, damping) = (f64::from(body.params.frequency), f64::from(body.params.damping.max(MIN_DAMPING)));
        let mut model = model;
        if (frequency, damping) != (1.0, 1.0) {
            for mode in &mut Arc::make_mut(&mut model).modes {
                mode.frequency_hz = (mode.frequency_hz * frequency).clamp(1.0, 96_000.0);
                mode.decay_per_s = (mode.decay_per_s * damping).min(1e6);
            }
        }
        Ok((model, body.name.clone(), f64::from(body.params.gain), self.rate_hz()))
    }

    /// A body's modes, as they sound now.
    pub fn model_json(&self, id: u64) -> Result<Value, Fault> {
        let (model, ..) = self.sounding_model(id)?;
        let gains = model.overall_gains();
        let entry = self.entries.get(&id).ok_or_else(|| Fault::no_body(id))?;
        let count = self.world.base_model(entry.key).map_or(model.modes.len(), |base| base.modes.len());
        let numbers = self.world.body(entry.key).map(|b| b.voicing.numbers(count)).unwrap_or_default();
        let deleted: Vec<usize> = entry.modes.iter().filter(|(_, s)| s.deleted).map(|(mode, _)| *mode).collect();
        let mode = |(k, (m, gain)): (usize, (&eigentone_core::Mode, f64))| {
            let mut row = json!({ "frequency_hz": m.frequency_hz, "decay_per_s": m.decay_per_s, "gain": gain });
            let number = numbers.get(k).copied().unwrap_or(k);
            row["number"] = number.into();
            let added = number.checked_sub(count).and_then(|k| entry.added.get(k));
            if let Some((like, _)) = added {
                row["like"] = (*like).into();
            }
            if let Some(state) = added.map(|(_, state)| state).or(entry.modes.get(&number)) {
                row["factor"] = state.gain.into();
                row["mute"] = state.mute.into();
                row["solo"] = state.solo.into();
            }
            row
        };
        let modes: Vec<Value> = model.modes.iter().zip(gains).enumerate().map(mode).collect();
        Ok(json!({
            "name": model.info.name,
            "material": model.info.material,
            "method": model.info.method.to_string(),
            "modes": modes,
            "deleted": deleted,
            "sites": model.surface.positions.len(),
            "mass_kg": model.info.mass_kg,
            "warnings": model.info.warnings,
            "tail_from_hz": model.diffuse.first().map(|b| b.low_hz),
        }))
    }
}
