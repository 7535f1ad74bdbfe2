//! What bodies are like to the touch: a surface changed while something scrapes on it.
//!
//! The `[[surface]]`s of the file say what there is: a change is written there, read back as the command would read it, and given to every body that it concerns.

use super::Session;
use crate::document::put;
use crate::fault::Fault;
use crate::request::SurfaceChange;
use eigentone_core::texture::{Curve, Profile, Texture, TextureTable};
use eigentone_scene::{Scene, textures};
use eigentone_synth::BLOCK;
use eigentone_synth::texture::{ContactState, Generator, SurfaceRuntime};
use eigentone_world::Surface;
use rustfft::{FftPlanner, num_complex::Complex};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use toml_edit::{Array, InlineTable, Item, Table, TableLike};

/// How deep the keys of a surface lie at most.
const MAX_DEPTH: usize = 6;

/// Points of the drawn profile.
const PROFILE_POINTS: usize = 384;

/// Bands of the drawn spectrum: from 40 Hz on, six to the octave.
const BANDS: usize = 54;
const LOWEST_HZ: f64 = 40.0;
const BANDS_PER_OCTAVE: f64 = 6.0;

/// Length of one transform, in samples.
const WINDOW: usize = 4096;

/// Transforms that are averaged.
const WINDOWS: usize = 20;

impl Session {
    /// The textures that ship and those of the scene.
    ///
    /// # Errors
    /// Says which key of which `[[surface]]` is wrong.
    pub fn surface_table(&self) -> Result<TextureTable, Fault> {
        let scene = Scene::parse(&self.text.surfaces_alone(), &self.scene.folder, "the scene's surfaces")?;
        Ok(eigentone_scene::scene::surface_table(&scene)?)
    }

    /// A surface by its name, made ready.
    pub(super) fn surface_named(&self, name: &str) -> Result<Surface, Fault> {
        let table = self.surface_table()?;
        let texture = table.get(name).map_err(|e| Fault::bad(e.to_string(), "GET /api/surfaces has all names"))?;
        Ok(Surface::Ready(self.ready(texture)?))
    }

    /// Makes a texture ready; recordings are not made again for a body that has them already.
    fn ready(&self, texture: &Texture) -> Result<Arc<SurfaceRuntime>, Fault> {
        let others = self.entries.values().filter_map(|e| self.world.surface_of(e.key));
        for other in others.filter(|s| s.texture().name == texture.name && !s.is_smooth()) {
            if other.texture() == texture {
                return Ok(other.clone());
            }
            if let Ok(Some(ready)) = other.with_texture(texture) {
                return Ok(ready);
            }
        }
        Ok(textures::prepare(texture, Some(&self.scene.folder), self.scene.seed, self.rate_hz())?)
    }

    pub(super) fn surface(&mut self, change: &SurfaceChange) -> Result<Value, Fault> {
        self.key(change.body)?;
        let text = self.text.clone();
        let continued = self.history.continues(change.gesture, change.body);
        self.begin_step("surface", change.gesture, change.body);
        match self.edit_surface(change) {
            Ok(answer) => {
                self.begin_holds = false;
                self.changed();
                Ok(answer)
            }
            Err(fault) => {
                self.text = text;
                if !continued {
                    self.history.forget_last();
                }
                Err(fault)
            }
        }
    }

    fn edit_surface(&mut self, change: &SurfaceChange) -> Result<Value, Fault> {
        let had = self.entries.get(&change.body).and_then(|e| e.surface.clone());
        let name = match had.as_ref().filter(|name| !change.own && self.text.surface(name).is_some()) {
            Some(name) => name.clone(),
            None => self.fork(change.body, had.as_deref())?,
        };
        let table = self.text.surface_mut(&name).ok_or_else(|| Fault::failed("the surface is gone", "undo"))?;
        lay_keys(table, &change.set)?;
        let known = self.surface_table()?;
        let texture = known.get(&name).map_err(|e| Fault::bad(e.to_string(), ""))?.clone();
        let ready = self.ready(&texture)?;
        let key = self.key(change.body)?;
        self.world.set_surface(key, Surface::Ready(ready))?;
        if had.as_ref() != Some(&name) {
            if let Some(entry) = self.entries.get_mut(&change.body) {
                entry.surface = Some(name.clone());
            }
            self.write(change.body, |table| put(table, "surface", name.as_str().into()));
        }
        let bodies = self.give_surfaces(&known)?;
        self.tell_body(change.body);
        Ok(json!({ "surface": name, "bodies": bodies }))
    }

    /// Gives every body the texture that its surface's name stands for now; gives how many have another one, with the first that was changed.
    fn give_surfaces(&mut self, known: &TextureTable) -> Result<usize, Fault> {
        let named: Vec<_> = self.entries.values().filter_map(|e| Some((e.key, e.surface.clone()?))).collect();
        let mut changed = 1;
        for (key, name) in named {
            let Ok(texture) = known.get(&name) else { continue };
            if self.world.surface_of(key).is_some_and(|s| s.texture() != texture) {
                let ready = self.ready(texture)?;
                self.world.set_surface(key, Surface::Ready(ready))?;
                changed += 1;
            }
        }
        Ok(changed)
    }

    /// Adds a `[[surface]]` that is like the one that a body has, and so far the same; gives its name.
    fn fork(&mut self, id: u64, like: Option<&str>) -> Result<String, Fault> {
        let key = self.key(id)?;
        let known = self.surface_table()?;
        let base = format!("my {}", like.unwrap_or("surface").trim_start_matches("my "));
        let name = std::iter::once(base.clone()).chain((2..10_000).map(|n| format!("{base} {n}")));
        let name = name.into_iter().find(|name| known.get(name).is_err());
        let name = name.ok_or_else(|| Fault::bad("there are too many surfaces", "remove some from the scene file"))?;
        let mut table = Table::new();
        put(&mut table, "name", name.as_str().into());
        match like {
            Some(like) => put(&mut table, "like", like.into()),
            // Smooth, and as stiff as what it is of.
            None => {
                let stiffness = self.world.surface_of(key).map_or(1e6, |s| s.texture().stiffness_n_m);
                put(&mut table, "stiffness_n_m", f64::from(stiffness).into());
            }
        }
        self.text.push_surface(table);
        Ok(name)
    }

    /// A body's surface as pages see it, made ready to be drawn, and the sample rate.
    pub fn surface_info(&self, id: u64) -> Result<(Value, Arc<SurfaceRuntime>, f64), Fault> {
        let key = self.key(id)?;
        let entry = self.entries.get(&id).ok_or_else(|| Fault::no_body(id))?;
        let ready = self.world.surface_of(key).cloned().ok_or_else(|| Fault::no_body(id))?;
        let own = entry.surface.as_ref().and_then(|name| self.text.surface(name));
        let others =
            self.entries.iter().filter(|(other, e)| **other != id && own.is_some() && e.surface == entry.surface);
        let names: Vec<&str> =
            others.filter_map(|(_, e)| self.world.body(e.key)).map(|b| b.name.as_str()).take(100).collect();
        let info = json!({
            "name": entry.surface,
            "own": own.is_some(),
            "like": own.and_then(|t| t.get("like")).and_then(Item::as_str),
            "others": names,
            "texture": serde_json::to_value(ready.texture()).unwrap_or_default(),
        });
        Ok((info, ready, self.rate_hz()))
    }
}

/// Writes keys into the table of a surface.
fn lay_keys(table: &mut Table, keys: &Map<String, Value>) -> Result<(), Fault> {
    for (key, value) in keys {
        let files = key == "impact" && value.get("takes").is_some();
        if matches!(key.as_str(), "name" | "like") || files || value.get("recorded").is_some() {
            let hint = "names, bases and recordings are written in the scene file: see docs/surfaces.md";
            return Err(Fault::bad(format!("`{key}` is not changed here"), hint));
        }
        lay(table, key, value, 0)?;
    }
    Ok(())
}

/// Writes a value, key by key where both are tables. A profile of another kind replaces the old one.
fn lay(table: &mut dyn TableLike, key: &str, value: &Value, depth: usize) -> Result<(), Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::bad("keys that lie too deep", "see docs/surfaces.md"));
    }
    let same_kind =
        |old: &dyn TableLike, new: &Map<String, Value>| key != "profile" || new.keys().all(|k| old.contains_key(k));
    match (value, table.get_mut(key).and_then(Item::as_table_like_mut)) {
        (Value::Null, _) => {
            table.remove(key);
        }
        (Value::Object(new), Some(old)) if same_kind(old, new) => {
            for (key, value) in new {
                lay(old, key, value, depth + 1)?;
            }
        }
        _ => {
            table.insert(key, Item::Value(toml_value(value, depth)?));
        }
    }
    Ok(())
}

/// A value as a scene file has it.
pub(super) fn toml_value(value: &Value, depth: usize) -> Result<toml_edit::Value, Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::bad("values that lie too deep", "see docs/surfaces.md"));
    }
    Ok(match value {
        Value::Bool(x) => (*x).into(),
        Value::Number(x) => match x.as_i64() {
            Some(x) => x.into(),
            None => x.as_f64().unwrap_or_default().into(),
        },
        Value::String(x) => x.as_str().into(),
        Value::Array(all) => all.iter().map(|x| toml_value(x, depth + 1)).collect::<Result<Array, _>>()?.into(),
        Value::Object(all) => {
            let mut table = InlineTable::new();
            for (key, x) in all.iter().filter(|(_, x)| !x.is_null()) {
                table.insert(key, toml_value(x, depth + 1)?);
            }
            table.into()
        }
        Value::Null => return Err(Fault::bad("null where a value is needed", "see docs/surfaces.md")),
    })
}

/// What there is to see of a surface: its profile as a contact reads it, and the spectrum of the force at a speed in m/s and a load in N.
pub fn sketch(surface: &Arc<SurfaceRuntime>, speed_m_s: f32, force_n: f32, rate_hz: f64) -> Value {
    let bare = Texture {
        low_pass: eigentone_core::texture::LowPass { order: 0, ..surface.texture().low_pass },
        gain: eigentone_core::texture::Gain { slip: Curve::constant(1.0), force: Curve::constant(1.0) },
        ..surface.texture().clone()
    };
    let over_m = length_m(&surface.texture().profile);
    // So fast that the profile passes within the points that are drawn; slower where it would be too fast.
    let speed = over_m.map_or(speed_m_s, |length| (length / PROFILE_POINTS as f32 * rate_hz as f32).min(20.0));
    let samples = over_m.map_or(0.06 * rate_hz, |length| f64::from(length / speed) * rate_hz) as usize;
    let profile: Vec<f32> = match surface.with_texture(&bare) {
        Ok(Some(bare)) => scraped(&bare, speed, force_n, samples.clamp(PROFILE_POINTS, rate_hz as usize), rate_hz),
        _ => Vec::new(),
    };
    let stride = (profile.len() / PROFILE_POINTS).max(1);
    let strongest = |part: &[f32]| part.iter().copied().fold(0.0f32, |a, b| if b.abs() > a.abs() { b } else { a });
    let height: Vec<f32> = profile.chunks(stride).map(strongest).take(PROFILE_POINTS).collect();
    let sound = scraped(surface, speed_m_s, force_n, WINDOW * (WINDOWS + 1) / 2, rate_hz);
    let (frequency_hz, level_db) = spectrum(&sound, rate_hz);
    json!({
        "speed_m_s": speed_m_s,
        "force_n": force_n,
        "length_m": over_m,
        "length_s": over_m.is_none().then_some(samples as f64 / rate_hz),
        "height": height,
        "frequency_hz": frequency_hz,
        "level_db": level_db,
    })
}

/// How much of a profile is worth drawing, in m; `None` for what goes by time.
fn length_m(profile: &Profile) -> Option<f32> {
    match profile {
        Profile::Bumps(b) => Some(12.0 * (b.mark_m + b.space_m)),
        Profile::Rough(r) => Some(5.0 * r.grain_m),
        _ => None,
    }
}

/// The force of a contact that moves evenly, after it has come up to speed.
fn scraped(surface: &Arc<SurfaceRuntime>, speed_m_s: f32, force_n: f32, samples: usize, rate_hz: f64) -> Vec<f32> {
    let mut generator = Generator::new(surface.clone(), 1);
    let mut state = ContactState { slip_m_s: speed_m_s, travel_m_s: speed_m_s, force_n, ..ContactState::default() };
    let mut out = vec![0.0; samples.div_ceil(BLOCK) * BLOCK];
    let mut skipped = [0.0; BLOCK];
    for _ in 0..8 {
        generator.fill(&state, &mut skipped);
        state.position_m += f64::from(speed_m_s) * BLOCK as f64 / rate_hz;
    }
    for block in out.chunks_mut(BLOCK) {
        generator.fill(&state, block);
        state.position_m += f64::from(speed_m_s) * BLOCK as f64 / rate_hz;
    }
    out.truncate(samples);
    out
}

/// Frequencies in Hz, and the root mean square force in the band around each in dB re 1 N (Welch's method with Hann windows).
fn spectrum(force_n: &[f32], rate_hz: f64) -> (Vec<f64>, Vec<f64>) {
    let transform = FftPlanner::new().plan_fft_forward(WINDOW);
    let window = |i: usize| 0.5 - 0.5 * (std::f64::consts::TAU * i as f64 / WINDOW as f64).cos();
    let mut power = vec![0.0; WINDOW / 2];
    let mut count = 0.0;
    for start in (0..force_n.len().saturating_sub(WINDOW - 1)).step_by(WINDOW / 2) {
        let part = &force_n[start..start + WINDOW];
        let mut bins: Vec<Complex<f64>> =
            part.iter().enumerate().map(|(i, x)| Complex::new(f64::from(*x) * window(i), 0.0)).collect();
        transform.process(&mut bins);
        power.iter_mut().zip(&bins).for_each(|(p, bin)| *p += bin.norm_sqr());
        count += 1.0;
    }
    // A Hann window keeps three eighths of the power; both halves of the spectrum count.
    let scale = 2.0 / (0.375 * (WINDOW * WINDOW) as f64 * f64::max(count, 1.0));
    let each_hz = rate_hz / WINDOW as f64;
    let edge = |band: f64| LOWEST_HZ * 2f64.powf((band - 0.5) / BANDS_PER_OCTAVE) / each_hz;
    let (mut frequencies, mut levels) = (Vec::new(), Vec::new());
    for band in 0..BANDS {
        let (from, to) = (edge(band as f64), edge(band as f64 + 1.0));
        if to >= power.len() as f64 {
            break;
        }
        // Bands narrower than a bin have their share of it.
        let inside: f64 = (from as usize..=to as usize)
            .map(|bin| power[bin] * (to.min(bin as f64 + 1.0) - from.max(bin as f64)).max(0.0))
            .sum();
        frequencies.push(LOWEST_HZ * 2f64.powf(band as f64 / BANDS_PER_OCTAVE));
        levels.push(10.0 * (inside * scale).max(1e-20).log10());
    }
    (frequencies, levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A force of one newton (root mean square) that is spread evenly up to half the sample rate has in each band the share that the band has of it.
    #[test]
    fn white_noise_has_its_power_in_proportion_to_the_width_of_bands() {
        let mut noise = eigentone_core::Noise::new(3);
        let force: Vec<f32> = (0..400_000).map(|_| (3f64.sqrt() * noise.bipolar()) as f32).collect();
        let (frequency_hz, level_db) = spectrum(&force, 44_100.0);
        for (hz, level) in frequency_hz.iter().zip(&level_db).filter(|(hz, _)| **hz > 500.0) {
            let width = hz * (2f64.powf(0.5 / BANDS_PER_OCTAVE) - 2f64.powf(-0.5 / BANDS_PER_OCTAVE));
            let truth = 10.0 * (width / 22_050.0).log10();
            assert!((level - truth).abs() < 0.8, "{hz} Hz: {level} dB, not {truth}");
        }
    }

    /// Keys are laid over what is there; a profile of another kind replaces the old one; null takes a key out.
    #[test]
    fn keys_are_laid_over() {
        let mut doc: toml_edit::DocumentMut =
            "friction = 0.4 # slippery\nprofile.rough.octaves = 3\n[low_pass]\norder = 1\n".parse().unwrap();
        let lay =
            |doc: &mut toml_edit::DocumentMut, keys: Value| lay_keys(doc.as_table_mut(), keys.as_object().unwrap());
        lay(
            &mut doc,
            json!({ "profile": { "rough": { "grain_m": 0.003 } }, "low_pass": { "slip": [[0, 200], [1, 9000]] } }),
        )
        .unwrap();
        let text = doc.to_string();
        assert!(
            text.contains("octaves = 3") && text.contains("grain_m = 0.003") && text.contains("# slippery"),
            "{text}"
        );
        lay(&mut doc, json!({ "profile": { "bumps": {} }, "friction": null })).unwrap();
        let text = doc.to_string();
        assert!(!text.contains("octaves") && text.contains("bumps") && !text.contains("friction"), "{text}");
        assert!(lay(&mut doc, json!({ "impact": { "takes": ["/etc/passwd"] } })).is_err());
        assert!(lay(&mut doc, json!({ "like": "sand" })).is_err());
        let mut deep = json!(1);
        (0..50).for_each(|_| deep = json!([deep]));
        assert!(lay(&mut doc, json!({ "gain": deep })).is_err());
    }
}
