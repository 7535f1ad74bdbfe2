//! Bodies come and go.

use super::{Dirty, Live, World, finite};
use crate::body::{Body, Kind, Sound, Stuff};
use crate::error::{WorldError, check};
use crate::key::BodyKey;
use crate::models::ModelRequest;
use crate::shape::Collider;
use eigentone_core::contact::Pose;
use eigentone_core::event::BodyId;
use eigentone_core::{Material, ModalModel, Vec3};
use eigentone_sim::rigid::{self, BodySpec, Mass};
use eigentone_synth::BodySettings;
use eigentone_synth::contact::Partner;
use std::sync::Arc;

impl World {
    /// Adds a body. It is there at once: its own model is made in the background, and until that is ready a provisional one sounds.
    ///
    /// # Errors
    /// If a name is unknown, a number makes no sense, its shape cannot collide, or there is no room. Nothing has changed then.
    pub fn insert(&mut self, body: Body) -> Result<BodyKey, WorldError> {
        let max = self.settings.max_bodies;
        let key =
            self.bodies.vacant().ok_or(WorldError::Full { what: "bodies", max, setting: "max_bodies" })?;
        self.insert_as(key, body)?;
        Ok(key)
    }

    /// Adds a body under a key that was its own before.
    pub(crate) fn insert_as(&mut self, key: BodyKey, body: Body) -> Result<(), WorldError> {
        check_params(&body)?;
        let material = self.material(&body.material)?;
        let surface = self.surfaces.of(&body.surface, &material)?;
        let mass_kg = body.mass_kg.unwrap_or_else(|| mass_of(&body, &material));
        check("the mass", mass_kg, 1e-9..=1e9, "positive, in kg")?;
        let (model, request) = self.first_model(&body, &material)?;
        let mut live = Live {
            pose: pose_of(key.number(), &body),
            material,
            surface,
            mass_kg,
            engine: None,
            voice: None,
            model: None,
            rigid: false,
            dirty: Dirty::default(),
            next: None,
            placed: false,
            excited: true,
            grab: None,
            held: None,
            body,
        };
        live.engine = self.resonator(&live.body, model.as_ref())?;
        live.model = model;
        if let Err(error) = self.collide(key, &mut live) {
            if let Some(id) = live.engine {
                self.let_go(id);
            }
            return Err(error);
        }
        if let Some(id) = live.engine {
            self.owners.insert(id.slot, (id, key));
        }
        live.dirty = Dirty {
            gain: false,
            emphasis: live.body.params.emphasis != 1.0,
            frequency: live.body.params.frequency != 1.0,
            strain: live.body.params.strain != 0.0,
        };
        self.tracker.set_pose(live.pose);
        self.tracker.set_damping(key.number(), live.body.params.damping);
        let partner = self.partner(&live);
        self.tracker.add(key.number(), partner);
        self.bodies.insert_at(key, live);
        self.flush(key);
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
        let live = self.bodies.remove(key).ok_or(WorldError::Gone(key))?;
        self.tasks.get().cancel_for(key);
        self.script.forget(key);
        self.tracker.remove(key.number(), self.time.now_s, self.engine.get());
        if live.rigid {
            // It is there, by the line above.
            let _ = self.rigid.get().remove(key.number());
        }
        self.soft.remove(key);
        if let Some(hail) = &mut self.hail {
            hail.forget(key);
        }
        if let Some(id) = live.engine {
            self.let_go(id);
        }
        self.end_voice(&live);
        Ok(live.body)
    }

    /// Takes all bodies out, ends what was scheduled and begins at time zero; settings, listener and rooms stay.
    pub fn reset(&mut self) {
        let all: Vec<BodyKey> = self.bodies.iter().map(|(key, _)| key).collect();
        for key in all {
            // They are there: they were just listed.
            let _ = self.remove(key);
        }
        self.hail = None;
        self.script = Default::default();
        self.clock.set_game_time(self.time.now_s, 0.0);
        self.time = super::GameTime { paused: self.time.paused, ..Default::default() };
        self.rigid.get().reset_time();
        self.tracker.forget_times();
    }

    /// Ends a resonator, and the space's knowledge of it.
    pub(super) fn let_go(&mut self, id: BodyId) {
        // A removal waits in the handle until there is room.
        let _ = self.engine.get().remove(id);
        self.owners.remove(&id.slot);
        self.leaving.push(id);
    }

    pub(super) fn material(&self, stuff: &Stuff) -> Result<Arc<Material>, WorldError> {
        Ok(match stuff {
            Stuff::Named(name) => Arc::new(self.settings.materials.get(name)?.clone()),
            Stuff::Material(material) => material.clone(),
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
            Sound::Model(model) => return Ok((Some(model.clone()), None)),
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
        let first = source
            .provisional(&request)
            .map_err(|why| WorldError::Model { name: body.name.clone(), why })?;
        Ok((first, Some(request)))
    }

    /// Adds the resonator of a body, if it has one.
    pub(super) fn resonator(
        &mut self,
        body: &Body,
        model: Option<&Arc<ModalModel>>,
    ) -> Result<Option<BodyId>, WorldError> {
        if let Sound::Shared { with, factor } = body.sound {
            let other = self.live(with)?.engine;
            let other = other.ok_or(WorldError::Unfit("a body can share only with one that sounds"))?;
            return Ok(Some(self.engine.get().share(other, factor)?));
        }
        let Some(model) = model else { return Ok(None) };
        Ok(Some(self.engine.get().add(&engine_settings(body, model))?))
    }

    /// Adds a body to the physics, if it collides and nobody else moves it.
    fn collide(&mut self, key: BodyKey, live: &mut Live) -> Result<(), WorldError> {
        if live.body.kind == Kind::External {
            return Ok(());
        }
        let Some(spec) = spec(live) else { return Ok(()) };
        let rigid = self.rigid.get();
        rigid.insert(key.number(), &spec)?;
        if !live.body.present {
            rigid.set_present(key.number(), false)?;
        }
        live.rigid = true;
        Ok(())
    }

    /// What the tracker is told of a body.
    pub(super) fn partner(&mut self, live: &Live) -> Partner {
        let mass_kg = if live.body.kind == Kind::Fixed { f64::INFINITY } else { live.mass_kg };
        let model = match live.body.sound {
            Sound::Shared { with, .. } => self.bodies.get(with).and_then(|other| other.model.as_ref()),
            _ => live.model.as_ref(),
        };
        let partner = match live.engine.zip(model) {
            Some((id, model)) => {
                let address = Arc::as_ptr(model) as usize;
                if !self.partners.contains_key(&address) {
                    // Those that only this list still knows: once by itself, once by its finder of places.
                    self.partners.retain(|_, (model, _)| Arc::strong_count(model) > 2);
                    let partner = Partner::of(id, model.clone(), mass_kg);
                    self.partners.insert(address, (model.clone(), partner));
                }
                let partner = self.partners[&address].1.clone().for_body(id).with_mass(mass_kg);
                partner
            }
            None => Partner::silent().with_mass(mass_kg),
        };
        partner.with_surface(live.surface.clone())
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
pub(super) fn spec(live: &Live) -> Option<BodySpec<'_>> {
    let body = &live.body;
    let shape = body.shape.rigid(body.moves())?;
    let texture = live.surface.texture();
    Some(BodySpec {
        mass: Mass::Kg(live.mass_kg),
        position: body.position,
        rotation: body.rotation.to_array(),
        velocity: body.velocity,
        spin: body.spin,
        friction: body.friction.unwrap_or(f64::from(texture.friction)),
        restitution: body.restitution.unwrap_or(f64::from(texture.restitution)),
        spin_damping: body.spin_damping,
        kind: rigid_kind(&body.kind),
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

/// The mass of a body that does not say: of its model, or of its shape.
pub(super) fn mass_of(body: &Body, material: &Material) -> f64 {
    let of_model = match &body.sound {
        Sound::Model(model) => model.info.mass_kg,
        _ => None,
    };
    let infinite = body.shape.collider == Collider::Floor;
    of_model.filter(|_| !infinite).unwrap_or_else(|| body.shape.mass_kg(material.density_kg_m3)).clamp(1e-6, 1e9)
}

pub(super) fn pose_of(number: u32, body: &Body) -> Pose {
    Pose {
        body: number,
        position: body.position.to_array().map(|x| x as f32),
        rotation: body.rotation.to_array().map(|x| x as f32),
        velocity: body.velocity.to_array().map(|x| x as f32),
    }
}

fn check_params(body: &Body) -> Result<(), WorldError> {
    for (what, v) in [("the position", body.position), ("the velocity", body.velocity), ("the spin", body.spin)] {
        finite(what, v)?;
    }
    let turn = body.rotation.length();
    check("the length of the rotation's quaternion", turn, 1e-3..=1e3, "near one")?;
    let p = body.params;
    for (what, x) in [
        ("the gain", p.gain),
        ("the emphasis", p.emphasis),
        ("the damping", p.damping),
        ("the frequency factor", p.frequency),
        ("the strain", p.strain),
        ("the strain sensitivity", body.strain_sensitivity),
    ] {
        check(what, f64::from(x), -1e6..=1e6, "finite")?;
    }
    if body.shape.mesh.positions.iter().any(|p: &Vec3| !p.is_finite()) {
        return Err(WorldError::Unfit("the mesh has vertices that are not numbers"));
    }
    Ok(())
}
