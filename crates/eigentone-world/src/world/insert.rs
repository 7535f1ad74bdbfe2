//! Bodies come and go.

use super::act::{Dirty, Param};
use super::{BodyState, World, finite};
use crate::body::{Body, Kind, MaterialRef, Params, Sound};
use crate::error::{WorldError, check};
use crate::key::BodyKey;
use crate::models::{ModelRequest, TaskControl};
use crate::settings::Timing;
use crate::shape::{Collider, Shape};
use eigentone_core::contact::Pose;
use eigentone_core::event::BodyId;
use eigentone_core::{Material, ModalModel, Vec3};
use eigentone_sim::rigid::{self, BodySpec, Mass};
use eigentone_synth::contact::ContactBody;
use eigentone_synth::{BodySettings, EngineError};
use std::sync::Arc;

impl World {
    /// Adds a body. It is there at once: its own model is made in the background, and until that is ready a provisional one sounds.
    ///
    /// # Errors
    /// If a name is unknown, a number makes no sense, its shape cannot collide, or there is no room. Nothing has changed then.
    pub fn insert(&mut self, body: Body) -> Result<BodyKey, WorldError> {
        let max = self.settings.max_bodies;
        let key = self.bodies.vacant().ok_or(WorldError::Full { what: "bodies", max, setting: "max_bodies" })?;
        self.insert_as(key, body)?;
        Ok(key)
    }

    /// Adds a body under a key that was its own before.
    pub(crate) fn insert_as(&mut self, key: BodyKey, body: Body) -> Result<(), WorldError> {
        self.insert_with(key, body, None)
    }

    /// The same with a model that was made for it before.
    pub(crate) fn insert_with(
        &mut self,
        key: BodyKey,
        mut body: Body,
        made: Option<Arc<ModalModel>>,
    ) -> Result<(), WorldError> {
        check_body(&body)?;
        body.rotation = body.rotation.normalize();
        let material = self.material(&body.material)?;
        let surface = self.surfaces.of(&body.surface, &material)?;
        let mass_kg = mass_of(&body, &material);
        check("the mass", mass_kg, 1e-9..=1e9, "positive, in kg")?;
        let (model, request) = match made {
            Some(model) => (Some(model), None),
            None => self.first_model(&body, &material)?,
        };
        let mut state = BodyState {
            pose: pose_of(key.number(), &body),
            material,
            surface,
            mass_kg,
            engine: None,
            voice: None,
            model: None,
            base: None,
            shared_with: None,
            rigid: false,
            dirty: Dirty::default(),
            next: model,
            task: None,
            placed: false,
            excited: true,
            grab: None,
            body,
        };
        if let Sound::Shared { with, .. } = state.body.sound {
            let sounds = self.state(with)?.engine.is_some() || self.state(with)?.next.is_some();
            if !sounds {
                return Err(WorldError::Unfit("a body can share only with one that sounds"));
            }
        }
        self.collide(key, &mut state)?;
        for param in Param::ALL.into_iter().filter(|p| p.get(&state.body.params) != p.get(&Params::default())) {
            state.dirty.insert(param);
            self.dirty.insert(key);
        }
        self.tracker.set_pose(state.pose);
        self.tracker.set_damping(key.number(), state.body.damping_now());
        let partner = self.partner(&state);
        self.tracker.add(key.number(), partner);
        let shared = if let Sound::Shared { with, .. } = state.body.sound { Some(with) } else { None };
        self.bodies.insert_at(key, state);
        self.swap(key);
        if let Some(with) = shared {
            self.tell_sharers(with);
        }
        // Those that sound through it, if it was there before.
        self.tell_sharers(key);
        self.tell_soft(key);
        if let Err(error) = self.start_soft(key) {
            self.remove(key)?;
            return Err(error);
        }
        if let Some(request) = request {
            self.start_task(key, request);
        }
        Ok(())
    }

    /// Takes a body out. What it sounds fades within a block.
    ///
    /// # Errors
    /// If it is gone already.
    pub fn remove(&mut self, key: BodyKey) -> Result<Body, WorldError> {
        let body = self.current(key).ok_or(WorldError::Gone(key))?;
        let state = self.bodies.remove(key).ok_or(WorldError::Gone(key))?;
        self.tasks.get().cancel_for(key);
        self.remove_bridges_of(key);
        self.tracker.remove(key.number());
        if state.rigid {
            // It is there, by the line above.
            let _ = self.rigid.get().remove(key.number());
        }
        self.soft.remove(key);
        if let Some(id) = state.engine {
            self.let_go(id);
        }
        self.tell_sharers(key);
        self.end_voice(&state);
        Ok(body)
    }

    /// Takes all bodies out, ends what was scheduled and begins at time zero; settings, listener and rooms stay.
    pub fn reset(&mut self) {
        let all: Vec<BodyKey> = self.bodies.iter().map(|(key, _)| key).collect();
        for key in all {
            // They are there: they were just listed.
            let _ = self.remove(key);
        }
        self.hail = None;
        self.soft.stop();
        self.script = Default::default();
        self.clock.set_game_time(self.time.now_s, 0.0);
        self.time = super::GameTime { paused: self.time.paused, ..Default::default() };
        self.rigid.get().set_steps(0);
    }

    /// A body as it would be inserted again now.
    pub(crate) fn current(&mut self, key: BodyKey) -> Option<Body> {
        let spin = self.rigid.get().spin(key.number());
        let state = self.bodies.get(key)?;
        let mut body = state.body.clone();
        if state.rigid {
            body.spin = spin.unwrap_or(body.spin);
        }
        Some(body)
    }

    /// Ends a resonator, and the space's knowledge of it.
    pub(super) fn let_go(&mut self, id: BodyId) {
        // What finds no room now is tried again with the next advance.
        if self.engine.get().remove(id) == Err(EngineError::QueueFull) {
            self.removals.push(id);
        }
        self.leaving.push(id);
    }

    pub(super) fn material(&self, stuff: &MaterialRef) -> Result<Arc<Material>, WorldError> {
        Ok(match stuff {
            MaterialRef::Named(name) => Arc::new(self.settings.materials.get(name)?.clone()),
            MaterialRef::Material(material) => material.clone(),
        })
    }

    /// What a body sounds with at first, and what is to be made for it.
    pub(super) fn first_model(
        &mut self,
        body: &Body,
        material: &Arc<Material>,
    ) -> Result<(Option<Arc<ModalModel>>, Option<ModelRequest>), WorldError> {
        let settings = match &body.sound {
            Sound::Made => None,
            Sound::MadeWith(settings) => Some(settings.clone()),
            Sound::Model(model) => {
                self.check_model(body, model)?;
                return Ok((Some(model.clone()), None));
            }
            Sound::Shared { .. } | Sound::Voice | Sound::Silent => return Ok((None, None)),
        };
        let request = ModelRequest {
            name: body.name.clone(),
            mesh: body.shape.mesh.clone(),
            material: material.clone(),
            thickness_m: body.shape.thickness_m,
            settings,
        };
        let source = self.tasks.get().source().clone();
        let failed = |why| WorldError::Model { name: body.name.clone(), why };
        // Offline nothing may depend on how fast the machine is.
        if self.settings.timing == Timing::Offline {
            let model = source.model(&request, &TaskControl::default()).map_err(failed)?;
            return Ok((model, None));
        }
        let first = source.provisional(&request).map_err(failed)?;
        Ok((first, Some(request)))
    }

    fn check_model(&self, body: &Body, model: &ModalModel) -> Result<(), WorldError> {
        let failed = |why: String| WorldError::Model { name: body.name.clone(), why };
        model.validate().map_err(|e| failed(e.to_string()))?;
        let (modes, max) = (model.modes.len(), self.settings.max_modes_per_body);
        if modes > max {
            return Err(failed(format!(
                "it has {modes} modes; compress it, or raise `Settings::max_modes_per_body` from {max}"
            )));
        }
        Ok(())
    }

    /// Adds a body to the physics, if it collides and nobody else moves it.
    fn collide(&mut self, key: BodyKey, state: &mut BodyState) -> Result<(), WorldError> {
        if state.body.kind == Kind::External {
            return Ok(());
        }
        let shape = state.body.sized();
        let Some(spec) = spec(state, &shape) else { return Ok(()) };
        let rigid = self.rigid.get();
        rigid.insert(key.number(), &spec)?;
        if !state.body.present {
            rigid.set_present(key.number(), false)?;
        }
        state.rigid = true;
        Ok(())
    }

    /// What the tracker is told of a body.
    pub(super) fn partner(&mut self, state: &BodyState) -> ContactBody {
        let mass_kg = if *state.body.moved_by() == Kind::Fixed { f64::INFINITY } else { state.mass_kg };
        let model = match state.body.sound {
            Sound::Shared { with, .. } => self.bodies.get(with).and_then(|other| other.model.as_ref()),
            _ => state.model.as_ref(),
        };
        let partner = match state.engine.zip(model) {
            Some((id, model)) => {
                let address = Arc::as_ptr(model) as usize;
                if !self.partners.contains_key(&address) {
                    // Those that only this list still knows: once by itself, once by its finder of places.
                    self.partners.retain(|_, (model, _)| Arc::strong_count(model) > 2);
                    let partner = ContactBody::of(id, model.clone(), mass_kg);
                    self.partners.insert(address, (model.clone(), partner));
                }
                self.partners[&address].1.clone().for_body(id).with_mass(mass_kg)
            }
            None => ContactBody::silent().with_mass(mass_kg),
        };
        let map = state.body.surface_map.clone().map(|map| (map, state.body.params.size));
        partner.with_surface(state.surface.clone()).with_map(map)
    }
}

/// How a body sounds.
pub(super) fn engine_settings(body: &Body, model: &Arc<ModalModel>) -> BodySettings {
    let mut settings = BodySettings::new(model.clone());
    settings.gain = body.params.gain;
    settings.strain_sensitivity = body.strain_sensitivity;
    settings.glide = body.glide;
    settings.nonlinear = body.nonlinear;
    if let Some(bands) = &body.diffuse {
        settings.diffuse = bands.clone();
    }
    settings
}

/// What the physics is told of a body; `None` if it does not collide.
fn spec<'a>(state: &BodyState, shape: &'a Shape) -> Option<BodySpec<'a>> {
    let body = &state.body;
    let shape = shape.rigid(body.moves())?;
    let texture = state.surface.texture();
    Some(BodySpec {
        mass: Mass::Kg(state.mass_kg),
        position: body.position,
        rotation: body.rotation.to_array(),
        velocity: body.velocity,
        spin: body.spin,
        friction: body.friction.unwrap_or(f64::from(texture.friction)),
        restitution: body.restitution.unwrap_or(f64::from(texture.restitution)),
        spin_damping: body.spin_damping,
        rolling_resistance: body.rolling_resistance,
        kind: rigid_kind(body.moved_by()),
        drive: body.drive,
        ..BodySpec::new(shape)
    })
}

pub(super) fn rigid_kind(kind: &Kind) -> rigid::Kind {
    match kind {
        Kind::Fixed | Kind::External => rigid::Kind::Fixed,
        Kind::Dynamic => rigid::Kind::Dynamic,
        Kind::Kinematic => rigid::Kind::Kinematic,
        Kind::Path(keys) => rigid::Kind::Path(keys.clone()),
    }
}

/// The mass of a body at its size: as it says, or of its model, or of its shape.
pub(super) fn mass_of(body: &Body, material: &Material) -> f64 {
    let of_model = match &body.sound {
        Sound::Model(model) => model.info.mass_kg,
        _ => None,
    };
    let infinite = body.shape.collider == Collider::Floor;
    let at_size_one = body.mass_kg.or(of_model.filter(|_| !infinite));
    let kg = at_size_one.unwrap_or_else(|| body.shape.mass_kg(material.density_kg_m3).clamp(1e-6, 1e9));
    kg * body.params.size.powi(3)
}

pub(super) fn pose_of(number: u32, body: &Body) -> Pose {
    Pose {
        body: number,
        position: body.position.to_array().map(|x| x as f32),
        rotation: body.rotation.to_array().map(|x| x as f32),
        velocity: body.velocity.to_array().map(|x| x as f32),
    }
}

fn check_body(body: &Body) -> Result<(), WorldError> {
    for (what, v) in [("the position", body.position), ("the velocity", body.velocity), ("the spin", body.spin)] {
        finite(what, v)?;
    }
    check("the length of the rotation's quaternion", body.rotation.length(), 1e-3..=1e3, "near one")?;
    for param in Param::ALL.into_iter().chain([Param::Damping]) {
        param.check(param.get(&body.params))?;
    }
    check("the size", body.params.size, 1e-3..=1e3, "a factor, 0.001 to 1000")?;
    check("the strain sensitivity", f64::from(body.strain_sensitivity), -1e6..=1e6, "finite")?;
    if !body.voicing.makes_sense() {
        return Err(WorldError::Unfit("a voicing has a tilt within 48 dB per octave and factors that are positive"));
    }
    if let Sound::Shared { factor, .. } = body.sound {
        check("the factor of shared blows", f64::from(factor), -1e6..=1e6, "finite")?;
    }
    for band in body.diffuse.iter().flatten() {
        band.validate().map_err(|e| WorldError::Model { name: body.name.clone(), why: e.to_string() })?;
    }
    if body.shape.mesh.positions.iter().any(|p: &Vec3| !p.is_finite()) {
        return Err(WorldError::Unfit("the mesh has vertices that are not numbers"));
    }
    Ok(())
}
