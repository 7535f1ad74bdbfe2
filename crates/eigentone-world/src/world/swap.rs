//! Models exchanged while they ring: those made in the background, and those that somebody chose.

use super::World;
use super::act::Param;
use super::insert::engine_settings;
use crate::body::{Body, MaterialRef, Sound, Surface};
use crate::error::WorldError;
use crate::events::{EventKind, WorldEvent};
use crate::key::BodyKey;
use crate::models::{Finished, ModelRequest, TaskId};
use eigentone_core::material::DampingLaw;
use eigentone_core::{Material, ModalModel};
use eigentone_synth::EngineError;
use std::sync::Arc;

impl World {
    /// Starts to make a model. If no thread can be had, the provisional one stays, and that is said.
    pub(super) fn start_task(&mut self, key: BodyKey, request: ModelRequest) {
        self.tasks.get().cancel_for(key);
        if let Err(why) = self.tasks.get().start(key, request) {
            self.model_failed(key, None, why);
        }
    }

    /// Nobody waits for this model any more: the body keeps the one it has.
    pub fn cancel_task(&mut self, task: TaskId) {
        self.tasks.get().cancel(task);
    }

    fn model_failed(&mut self, body: BodyKey, task: Option<TaskId>, why: String) {
        self.say(WorldEvent { time_s: self.time.now_s, kind: EventKind::ModelFailed { body, task, why } });
    }

    /// Takes in models that are ready.
    pub(super) fn take_models(&mut self) {
        for Finished { task, body, result, draft } in self.tasks.get().finished() {
            match result {
                Ok(Some(model)) => {
                    if let Some(state) = self.bodies.get_mut(body) {
                        (state.next, state.task) = (Some(model), (!draft).then_some(task));
                        self.swap(body);
                    }
                }
                // Nothing of it can be heard: the provisional one was too kind.
                Ok(None) => {
                    self.end_resonator(body);
                    self.say(WorldEvent { time_s: self.time.now_s, kind: EventKind::ModelReady { body, task } });
                }
                Err(why) => self.model_failed(body, Some(task), why),
            }
        }
    }

    /// Lets a body sound with the model that waits for it. If there is no room on the way to the audio side, it goes on waiting.
    pub(super) fn swap(&mut self, key: BodyKey) {
        let Some(state) = self.bodies.get_mut(key) else { return };
        let Some(base) = state.next.take() else { return };
        let (size, voicing) = (state.body.params.size, &state.body.voicing);
        let mut model = base.clone();
        if !voicing.is_neutral() {
            model = Arc::new(voicing.apply(&model));
        }
        if size != 1.0 {
            model = Arc::new(scaled(&model, size));
        }
        let settings = engine_settings(&state.body, &model);
        let had = state.engine;
        let done = match had {
            Some(id) => self.engine.get().swap(id, &settings).map(|()| id),
            None => self.engine.get().add(&settings),
        };
        match done {
            Ok(id) => {
                (state.engine, state.model, state.base) = (Some(id), Some(model), Some(base));
                state.excited = true;
                let task = state.task.take();
                if had.is_none() {
                    for param in Param::ALL.into_iter().filter(|p| *p != Param::Gain) {
                        state.dirty.insert(param);
                    }
                    self.dirty.insert(key);
                }
                self.owners.insert(id.slot, (id, key));
                self.tell_tracker(key);
                self.tell_sharers(key);
                if let Some(task) = task {
                    let kind = EventKind::ModelReady { body: key, task };
                    self.say(WorldEvent { time_s: self.time.now_s, kind });
                }
            }
            Err(EngineError::QueueFull | EngineError::Bodies(_)) => {
                state.next = Some(base);
                self.waiting.insert(key);
            }
            Err(error) => {
                let task = state.task.take();
                self.model_failed(key, task, error.to_string());
            }
        }
    }

    /// The same model again, at another size or with another kind of resonator.
    pub(super) fn retune(&mut self, key: BodyKey) {
        if let Some(state) = self.bodies.get_mut(key) {
            state.next = state.next.take().or(state.base.clone());
            self.swap(key);
        }
    }

    /// Those that sound through a body do so through what it is now, or not at all.
    pub(super) fn tell_sharers(&mut self, key: BodyKey) {
        let shares = |sound: &Sound| matches!(sound, Sound::Shared { with, .. } if *with == key);
        let all: Vec<BodyKey> = self.bodies.iter().filter(|(_, s)| shares(&s.body.sound)).map(|(k, _)| k).collect();
        let root = self.bodies.get(key).and_then(|state| state.engine);
        for sharer in all {
            let Some(state) = self.bodies.get_mut(sharer) else { continue };
            let Sound::Shared { factor, .. } = state.body.sound else { continue };
            if state.shared_with != root || state.engine.is_none() {
                let old = state.engine.take();
                let id = root.and_then(|root| self.engine.get().share(root, factor).ok());
                (state.engine, state.shared_with) = (id, root.filter(|_| id.is_some()));
                if let Some(id) = id {
                    self.owners.insert(id.slot, (id, sharer));
                }
                old.into_iter().for_each(|id| self.let_go(id));
            }
            self.tell_tracker(sharer);
        }
    }

    fn end_resonator(&mut self, key: BodyKey) {
        let Some(state) = self.bodies.get_mut(key) else { return };
        (state.model, state.base, state.next) = (None, None, None);
        if let Some(id) = state.engine.take() {
            state.placed = false;
            self.let_go(id);
        }
        self.tell_tracker(key);
        self.tell_sharers(key);
    }

    pub(super) fn set_sound_now(&mut self, key: BodyKey, sound: Sound) -> Result<(), WorldError> {
        let material = self.state(key)?.material.clone();
        self.set_sound_of(key, sound, &material)
    }

    fn set_sound_of(&mut self, key: BodyKey, sound: Sound, material: &Arc<Material>) -> Result<(), WorldError> {
        let state = self.state(key)?;
        let becomes_shared = matches!(sound, Sound::Shared { .. }) && matches!(state.body.sound, Sound::Silent);
        let fixed = |s: &Sound| matches!(s, Sound::Voice | Sound::Shared { .. });
        if becomes_shared {
            let Sound::Shared { with, .. } = sound else { return Ok(()) };
            self.state(with)?;
            self.state_mut(key)?.body.sound = sound;
            self.tell_sharers(with);
            return Ok(());
        }
        if fixed(&sound) || fixed(&state.body.sound) {
            return Err(WorldError::Unfit(
                "voices and shared resonators cannot be exchanged; remove the body and insert another",
            ));
        }
        let body = Body { sound, ..state.body.clone() };
        let (model, request) = self.first_model(&body, material)?;
        self.tasks.get().cancel_for(key);
        let state = self.state_mut(key)?;
        state.body = body;
        match model {
            // A provisional model is worth it only where there is none that fits better.
            Some(_) if request.is_some() && state.model.is_some() => {}
            Some(model) => {
                state.next = Some(model);
                self.swap(key);
            }
            None => self.end_resonator(key),
        }
        if let Some(request) = request {
            self.start_task(key, request);
        }
        Ok(())
    }

    /// What it is made of: what was there sounds as the new material would until its own model is ready.
    pub(super) fn set_material_now(&mut self, key: BodyKey, material: MaterialRef) -> Result<(), WorldError> {
        let new = self.material(&material)?;
        let mut body = self.state(key)?.body.clone();
        body.material = material;
        if matches!(body.sound, Sound::Model(_) | Sound::Silent) {
            body.sound = Sound::Made;
        }
        let surface = self.surfaces.of(&body.surface, &new)?;
        let made = matches!(body.sound, Sound::Made | Sound::MadeWith(_));
        let (first, request) = if made { self.first_model(&body, &new)? } else { (None, None) };
        let state = self.state_mut(key)?;
        let old = std::mem::replace(&mut state.material, new.clone());
        (state.body, state.surface) = (body, surface);
        if made {
            let like = state.base.as_ref().map(|base| Arc::new(of_other_material(base, &old, &new)));
            state.next = if request.is_none() { first } else { like.or(first) };
            self.swap(key);
        }
        self.weigh(key)?;
        if let Some(request) = request {
            self.start_task(key, request);
        }
        Ok(())
    }

    /// Makes a body of another material whose sound is known already: nothing else is made in between.
    ///
    /// # Errors
    /// If the body is gone, is a voice or sounds through another, or the sound makes no sense for it.
    pub fn set_material_with(&mut self, key: BodyKey, material: Arc<Material>, sound: Sound) -> Result<(), WorldError> {
        let state = self.state(key)?;
        let surface = self.surfaces.of(&state.body.surface.clone(), &material)?;
        self.set_sound_of(key, sound, &material)?;
        let state = self.state_mut(key)?;
        state.body.material = MaterialRef::Material(material.clone());
        (state.material, state.surface) = (material, surface);
        self.weigh(key)
    }

    pub(super) fn set_surface_now(&mut self, key: BodyKey, surface: Surface) -> Result<(), WorldError> {
        let material = self.state(key)?.material.clone();
        let ready = self.surfaces.of(&surface, &material)?;
        let state = self.state_mut(key)?;
        (state.surface, state.body.surface) = (ready.clone(), surface);
        let (is_rigid, friction, restitution) = (state.rigid, state.body.friction, state.body.restitution);
        if is_rigid {
            let texture = ready.texture();
            let rigid = self.rigid.get();
            rigid.set_friction(key.number(), friction.unwrap_or(f64::from(texture.friction)))?;
            rigid.set_restitution(key.number(), restitution.unwrap_or(f64::from(texture.restitution)))?;
        }
        self.tell_tracker(key);
        Ok(())
    }
}

/// A model of the same shape with all lengths times a factor: frequencies and decays go with its inverse. Shapes are normalised by mass, so they go with the inverse root of the cube; the gain is the root of what
/// their square sums to over the surface, `s⁻³ · s²`.
pub(super) fn scaled(model: &ModalModel, factor: f64) -> ModalModel {
    let mut scaled = model.clone();
    for mode in &mut scaled.modes {
        mode.frequency_hz /= factor;
        mode.decay_per_s /= factor;
        mode.output_gain /= factor.sqrt();
    }
    let lengths = factor as f32;
    scaled.surface.positions.iter_mut().flatten().for_each(|x| *x *= lengths);
    scaled.shapes = model.shapes.clone().scaled(factor.powf(-1.5) as f32);
    scaled.info.mass_kg = scaled.info.mass_kg.map(|kg| kg * factor.powi(3));
    scaled
}

/// The same shape of another material: frequencies go with the speed of sound in it, `√(E/ρ)`, decays with its damping.
fn of_other_material(model: &ModalModel, old: &Material, new: &Material) -> ModalModel {
    let speed = |m: &Material| (m.young_pa / m.density_kg_m3).sqrt();
    let ratio = speed(new) / speed(old);
    let lighter = (old.density_kg_m3 / new.density_kg_m3).sqrt();
    let mut changed = model.clone();
    for mode in &mut changed.modes {
        mode.frequency_hz *= ratio;
        mode.decay_per_s = new.damping(DampingLaw::default()).decay_per_s(mode.frequency_hz);
        mode.output_gain *= lighter;
    }
    changed.shapes = model.shapes.clone().scaled(lighter as f32);
    changed.info.material.clone_from(&new.name);
    changed
}
