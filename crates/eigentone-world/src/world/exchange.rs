//! Models exchanged while they ring: those made in the background, and those that somebody chose.

use super::World;
use super::insert::engine_settings;
use crate::body::{Sound, Stuff, Surface};
use crate::error::WorldError;
use crate::events::{EventKind, WorldEvent};
use crate::key::BodyKey;
use crate::models::{Finished, ModelRequest};
use eigentone_core::material::DampingLaw;
use eigentone_core::{Material, ModalModel};
use std::sync::Arc;

impl World {
    /// Starts to make a model. If no thread can be had, the provisional one stays, and that is said.
    pub(super) fn start_task(&mut self, key: BodyKey, request: ModelRequest) {
        self.tasks.get().cancel_for(key);
        if let Err(why) = self.tasks.get().start(key, request) {
            self.failed(key, None, why);
        }
    }

    fn failed(&mut self, body: BodyKey, task: Option<crate::models::TaskId>, why: String) {
        let task = task.unwrap_or_default();
        self.say(WorldEvent { time_s: self.time.now_s, kind: EventKind::ModelFailed { body, task, why } });
    }

    /// Takes in models that are ready.
    pub(super) fn take_models(&mut self) {
        for Finished { task, body, result } in self.tasks.get().finished() {
            match result {
                Ok(model) => {
                    let Some(live) = self.bodies.get_mut(body) else { continue };
                    match model {
                        Some(model) => live.next = Some(model),
                        // Nothing of it can be heard: the provisional one was too kind.
                        None => self.end_resonator(body),
                    }
                    self.exchange(body);
                    self.say(WorldEvent { time_s: self.time.now_s, kind: EventKind::ModelReady { body, task } });
                }
                Err(why) => self.failed(body, Some(task), why),
            }
        }
    }

    /// Waits until all models are made, for renders that must not depend on how fast the machine is.
    pub fn wait_for_models(&mut self) {
        while self.tasks.get().status().next().is_some() {
            std::thread::sleep(std::time::Duration::from_millis(1));
            self.take_models();
        }
    }

    /// Lets a body sound with the model that waits for it. If there is no room now, it goes on waiting.
    pub(super) fn exchange(&mut self, key: BodyKey) {
        let Some(live) = self.bodies.get_mut(key) else { return };
        let Some(model) = live.next.take() else { return };
        let settings = engine_settings(&live.body, &model);
        let done = match live.engine {
            Some(id) => self.engine.get().swap(id, &settings).map(|()| id),
            None => self.engine.get().add(&settings),
        };
        match done {
            Ok(id) => {
                live.engine = Some(id);
                live.model = Some(model);
                live.excited = true;
                live.dirty.emphasis |= live.body.params.emphasis != 1.0;
                live.dirty.frequency |= live.body.params.frequency != 1.0;
                live.dirty.strain |= live.body.params.strain != 0.0;
                self.owners.insert(id.slot, (id, key));
                self.tell_tracker(key);
                self.tell_sharers(key);
                self.flush(key);
            }
            Err(eigentone_synth::EngineError::QueueFull) => live.next = Some(model),
            Err(error) => self.failed(key, None, error.to_string()),
        }
    }

    /// Those that sound through a body strike its new sites.
    fn tell_sharers(&mut self, key: BodyKey) {
        let shares = |sound: &Sound| matches!(sound, Sound::Shared { with, .. } if *with == key);
        let all: Vec<BodyKey> = self.bodies.iter().filter(|(_, l)| shares(&l.body.sound)).map(|(k, _)| k).collect();
        all.into_iter().for_each(|sharer| self.tell_tracker(sharer));
    }

    fn end_resonator(&mut self, key: BodyKey) {
        let Some(live) = self.bodies.get_mut(key) else { return };
        (live.model, live.next) = (None, None);
        if let Some(id) = live.engine.take() {
            live.placed = false;
            self.let_go(id);
        }
        self.tell_tracker(key);
    }

    pub(super) fn set_sound(&mut self, key: BodyKey, sound: Sound) -> Result<(), WorldError> {
        let live = self.live(key)?;
        let fixed = |s: &Sound| matches!(s, Sound::Voice | Sound::Shared { .. });
        if fixed(&sound) || fixed(&live.body.sound) {
            return Err(WorldError::Unfit(
                "voices and shared resonators cannot be exchanged; remove the body and insert another",
            ));
        }
        let body = crate::body::Body { sound, ..live.body.clone() };
        let material = live.material.clone();
        let (model, request) = self.first_model(&body, &material)?;
        self.tasks.get().cancel_for(key);
        self.live_mut(key)?.body = body;
        match model {
            // A provisional model is worth it only where there is none that fits better.
            Some(_) if request.is_some() && self.live(key)?.model.is_some() => {}
            Some(model) => {
                self.live_mut(key)?.next = Some(model);
                self.exchange(key);
            }
            None => self.end_resonator(key),
        }
        if let Some(request) = request {
            self.start_task(key, request);
        }
        Ok(())
    }

    /// What it is made of: of a model that was made of shape and material, a provisional one of the new material sounds at once.
    pub(super) fn set_stuff(&mut self, key: BodyKey, stuff: Stuff) -> Result<(), WorldError> {
        let material = self.material(&stuff)?;
        let live = self.live(key)?;
        let mut body = live.body.clone();
        body.material = stuff;
        if !matches!(body.sound, Sound::MadeWith(_)) {
            body.sound = match body.sound {
                Sound::Model(_) | Sound::Silent => Sound::Made,
                other => other,
            };
        }
        let surface = self.surfaces.of(&body.surface, &material)?;
        let old = self.live(key)?.material.clone();
        let made = matches!(body.sound, Sound::Made | Sound::MadeWith(_));
        let request = if made { self.first_model(&body, &material)?.1 } else { None };
        let live = self.live_mut(key)?;
        (live.body, live.material, live.surface) = (body, material.clone(), surface);
        if let (true, Some(model)) = (made, live.model.clone()) {
            live.next = Some(Arc::new(of_other_material(&model, &old, &material)));
            self.exchange(key);
        }
        self.weigh(key)?;
        self.tell_tracker(key);
        if let Some(request) = request {
            self.start_task(key, request);
        }
        Ok(())
    }

    pub(super) fn set_surface_of(&mut self, key: BodyKey, surface: Surface) -> Result<(), WorldError> {
        let material = self.live(key)?.material.clone();
        let ready = self.surfaces.of(&surface, &material)?;
        let live = self.live_mut(key)?;
        (live.surface, live.body.surface) = (ready.clone(), surface);
        let (is_rigid, friction, restitution) = (live.rigid, live.body.friction, live.body.restitution);
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

/// A model of the same shape with all lengths times a factor: frequencies go with its inverse, and the decay that a material has at a frequency with them. Shapes are normalised by mass, so they go with
/// the inverse root of the cube.
pub(super) fn scaled(model: &ModalModel, factor: f64) -> ModalModel {
    let mut scaled = model.clone();
    for mode in &mut scaled.modes {
        mode.frequency_hz /= factor;
        mode.decay_per_s /= factor;
        // The root of what its shape sums to over the surface: s⁻³ of the shape's square, s² of the surface.
        mode.output_gain /= factor.sqrt();
    }
    let lengths = factor as f32;
    scaled.surface.positions.iter_mut().flatten().for_each(|x| *x *= lengths);
    scaled.shapes = scaled.shapes.clone().scaled(factor.powf(-1.5) as f32);
    scaled.info.mass_kg = scaled.info.mass_kg.map(|kg| kg * factor.powi(3));
    scaled
}

/// The same shape of another material, until its own model is ready: frequencies go with the speed of sound in it, `√(E/ρ)`, decays with its damping.
fn of_other_material(
    model: &ModalModel,
    old: &Material,
    new: &Material,
) -> ModalModel {
    let speed = |m: &Material| (m.young_pa / m.density_kg_m3).sqrt();
    let ratio = speed(new) / speed(old);
    let lighter = (old.density_kg_m3 / new.density_kg_m3).sqrt();
    let mut changed = model.clone();
    for mode in &mut changed.modes {
        mode.frequency_hz *= ratio;
        mode.decay_per_s = new.damping(DampingLaw::default()).decay_per_s(mode.frequency_hz);
        mode.output_gain *= lighter;
    }
    changed.shapes = changed.shapes.clone().scaled(lighter as f32);
    changed.info.material = new.name.clone();
    changed
}
