//! How a body resonates beside its modes: noise bands, modes that drive each other, pitch that follows loudness.
//!
//! What is asked is written as a scene file has it and read as the command reads it, so that what is heard is what is saved.

use super::Session;
use super::surfaces::toml_value;
use crate::document::put;
use crate::fault::Fault;
use crate::request::ResonatorChange;
use eigentone_core::DiffuseBand;
use eigentone_scene::Scene;
use eigentone_scene::scene::Body;
use eigentone_synth::{Glide, Nonlinear, Shaper};
use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Table};

impl Session {
    pub(super) fn resonator(&mut self, change: &ResonatorChange) -> Result<Value, Fault> {
        let (id, key) = (change.body, self.key(change.body)?);
        if self.world.model(key).is_none() {
            return Err(Fault::bad("this body has no resonator", "choose a material first"));
        }
        let now = self.resonator_info(id)?;
        let mut keys: Vec<(&str, Option<toml_edit::Value>)> = Vec::new();
        for (name, wanted) in [("glide", &change.glide), ("nonlinear", &change.nonlinear)] {
            if let Some(wanted) = wanted {
                keys.push((name, wanted.as_ref().map(|w| toml_value(&over(&now[name], w), 0)).transpose()?));
            }
        }
        if let Some(bands) = &change.diffuse {
            let all = |bands: &Vec<Map<String, Value>>| bands.iter().cloned().map(Value::Object).collect::<Value>();
            keys.push(("diffuse", bands.as_ref().map(|b| toml_value(&all(b), 0)).transpose()?));
        }
        let read = read(&keys)?;
        self.begin_step(keys.first().map_or("resonator", |(name, _)| name), change.gesture, id);
        let (glide, nonlinear) = eigentone_scene::scene::resonator(&read);
        let body = self.world.body(key).ok_or_else(|| Fault::no_body(id))?;
        let strain = body.strain_sensitivity;
        let glide = if change.glide.is_some() { glide } else { body.glide };
        let nonlinear = if change.nonlinear.is_some() { nonlinear } else { body.nonlinear };
        if change.glide.is_some() || change.nonlinear.is_some() {
            self.world.set_resonator(key, glide, nonlinear, strain)?;
        }
        if change.diffuse.is_some() {
            self.world.set_diffuse(key, read.diffuse.clone())?;
        }
        self.write(id, |table| {
            for (name, value) in keys {
                match value {
                    Some(value) => put_over(table, name, value),
                    None => {
                        table.remove(name);
                    }
                }
            }
        });
        self.changed();
        self.tell_body(id);
        Ok(json!({}))
    }

    /// A body's resonator as pages see it.
    ///
    /// # Errors
    /// If the body is gone.
    pub fn resonator_info(&self, id: u64) -> Result<Value, Fault> {
        let key = self.key(id)?;
        let body = self.world.body(key).ok_or_else(|| Fault::no_body(id))?;
        let of_model = self.world.base_model(key).map_or(&[][..], |m| &m.diffuse);
        let bands = body.diffuse.as_deref().unwrap_or(of_model);
        Ok(json!({
            "glide": body.glide.map(glide_json),
            "nonlinear": body.nonlinear.map(nonlinear_json),
            "diffuse": bands.iter().map(band_json).collect::<Vec<_>>(),
            "own_diffuse": body.diffuse.is_some(),
        }))
    }
}

/// Keys laid over those that are there.
fn over(now: &Value, wanted: &Map<String, Value>) -> Value {
    let mut all = now.as_object().cloned().unwrap_or_default();
    all.extend(wanted.clone());
    Value::Object(all)
}

/// Writes a value whole, also over a table that was spread over several keys.
fn put_over(table: &mut Table, name: &str, value: toml_edit::Value) {
    if table.get(name).is_some_and(|item| !item.is_value()) {
        table.remove(name);
    }
    put(table, name, value);
}

/// What a scene makes of some keys of a body.
fn read(keys: &[(&str, Option<toml_edit::Value>)]) -> Result<Body, Fault> {
    let mut doc = DocumentMut::new();
    let mut body = Table::new();
    put(&mut body, "sphere", 0.1.into());
    for (name, value) in keys {
        if let Some(value) = value {
            put(&mut body, name, value.clone());
        }
    }
    let mut bodies = toml_edit::ArrayOfTables::new();
    bodies.push(body);
    doc.insert("body", toml_edit::Item::ArrayOfTables(bodies));
    let scene = Scene::parse(&doc.to_string(), ".".as_ref(), "the resonator")
        .map_err(|e| Fault::bad(e.to_string(), "docs/scenes.md has the keys and their ranges"))?;
    scene.bodies.into_iter().next().ok_or_else(|| Fault::failed("nothing was read", ""))
}

/// A number as short as its precision allows: 0.02, not 0.019999999552965164.
fn short(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(f64::from(x))
}

fn glide_json(g: Glide) -> Value {
    json!({ "amount": short(g.amount), "energy_pa2": short(g.energy_pa2), "focus": short(g.focus) })
}

fn nonlinear_json(n: Nonlinear) -> Value {
    let shaper = match n.shaper {
        Shaper::Square => "square",
        Shaper::SignedSquare => "signed_square",
        Shaper::Saturating => "saturating",
    };
    json!({ "sections": n.sections, "coupling": short(n.coupling), "reference_pa": short(n.reference_pa), "shaper": shaper })
}

fn band_json(band: &DiffuseBand) -> Value {
    json!({ "low_hz": band.low_hz, "high_hz": band.high_hz, "gain": band.gain, "t60_s": band.t60_s })
}
