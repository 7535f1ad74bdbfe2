//! Everything that can be changed, by name. Setters do not fail for a full way to the audio side: what is asked is sent when there is room, and of several the last one counts.

use super::World;
use crate::body::{Kind, MaterialRef, Sound, Surface};
use crate::change::Change;
use crate::error::{WorldError, check};
use crate::key::BodyKey;
use crate::listener::Pose;
use crate::voicing::Voicing;
use eigentone_core::acoustics::Field;
use eigentone_core::texture::SurfaceMap;
use eigentone_core::{Material, ModalModel, Vec3};
use eigentone_sim::rigid::Drive;
use eigentone_space::directivity::Directivity;
use eigentone_synth::{Glide, Nonlinear, Quality};
use glam::DQuat;
use std::sync::Arc;

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) = $change:expr;)*) => {
        impl World {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// If the body is gone, or what is asked makes no sense for it.
                pub fn $name(&mut self, key: BodyKey, $($arg: $type),*) -> Result<(), WorldError> {
                    self.change(key, $change)
                }
            )*
        }
    };
}

setters! {
    /// Puts a body somewhere.
    set_pose(position: Vec3, rotation: DQuat) = Change::Pose { position, rotation };
    /// Makes a body move with a velocity in m/s; its spin stays.
    set_velocity(velocity: Vec3) = Change::Velocity { velocity, spin: None };
    /// Makes a body move with a velocity in m/s and spin in rad/s.
    set_motion(velocity: Vec3, spin: Vec3) = Change::Velocity { velocity, spin: Some(spin) };
    /// Pushes a body with an impulse in N·s, in the world, at its centre of mass; it is not heard by itself.
    push(impulse_ns: Vec3) = Change::Push { impulse_ns, at: None };
    /// Pushes a body at a place in its own frame.
    push_at(impulse_ns: Vec3, local: Vec3) = Change::Push { impulse_ns, at: Some(local) };
    /// Pulls a body along at a speed, or stops pulling.
    set_drive(drive: Option<Drive>) = Change::Drive(drive);
    /// Changes what moves a body.
    set_kind(kind: Kind) = Change::Kind(kind);
    /// Takes a body out of the physics where it is, or puts it back.
    set_present(present: bool) = Change::Present(present);
    /// Changes a body's mass, in kg.
    set_mass(mass_kg: f64) = Change::Mass(mass_kg);
    /// Changes a body's coefficient of friction.
    set_friction(friction: f64) = Change::Friction(friction);
    /// Changes the share of the speed that a bounce keeps.
    set_restitution(restitution: f64) = Change::Restitution(restitution);
    /// Changes a body's loudness, as a factor.
    set_gain(gain: f32) = Change::Gain(gain);
    /// Changes a body's importance when something must be left out; counts as loudness too.
    set_emphasis(emphasis: f32) = Change::Emphasis(emphasis);
    /// Multiplies all decay rates by this, 0.1 to 50; what touches the body damps it further.
    set_damping(damping: f32) = Change::Damping(damping);
    /// Multiplies all frequencies by this, from what the model has.
    set_frequency(factor: f32) = Change::Frequency(factor);
    /// Strains a body.
    set_strain(strain: f32) = Change::Strain(strain);
    /// Makes a body larger or smaller, as a factor of its own shape: lower or higher, heavier or lighter.
    set_size(size: f64) = Change::Size(size);
    /// Makes a body of another material, by name: its sound goes over into the new at once, and gets better when its model is ready.
    set_material(name: &str) = Change::Material(MaterialRef::Named(name.to_owned()));
    /// The same with a material of one's own.
    set_material_data(material: Arc<Material>) = Change::Material(MaterialRef::Material(material));
    /// Gives a body another model: what both have in common rings on.
    set_model(model: Arc<ModalModel>) = Change::Sound(Sound::Model(model));
    /// Changes what a body sounds with.
    set_sound(sound: Sound) = Change::Sound(sound);
    /// Changes what a body is like to the touch.
    set_surface(surface: Surface) = Change::Surface(surface);
    /// Makes a body stop sounding, within a block.
    silence() = Change::Silence;
}

impl World {
    /// Changes the contact spring of a body's surface, in N/m: 1e4 soft to 1e8 steel.
    ///
    /// # Errors
    /// If the body is gone or the number makes no sense.
    pub fn set_hardness(&mut self, key: BodyKey, stiffness_n_m: f32) -> Result<(), WorldError> {
        check("the hardness", f64::from(stiffness_n_m), 1e2..=1e10, "in N/m, 1e4 to 1e8")?;
        let mut texture = self.state(key)?.surface.texture().clone();
        texture.stiffness_n_m = stiffness_n_m;
        self.set_surface(key, Surface::Texture(Arc::new(texture)))
    }

    /// Lays a map of its roughness over a body, or takes it away. Contacts that sound go on.
    ///
    /// # Errors
    /// If the body is gone.
    pub fn set_surface_map(&mut self, key: BodyKey, map: Option<Arc<SurfaceMap>>) -> Result<(), WorldError> {
        self.state_mut(key)?.body.surface_map = map;
        self.tell_tracker(key);
        Ok(())
    }

    /// Changes how a body resonates beside its modes: pitch that follows loudness, modes that drive each other, how strain shifts its pitch.
    ///
    /// # Errors
    /// If the body is gone.
    pub fn set_resonator(
        &mut self,
        key: BodyKey,
        glide: Option<Glide>,
        nonlinear: Option<Nonlinear>,
        strain_sensitivity: f32,
    ) -> Result<(), WorldError> {
        check("the strain sensitivity", f64::from(strain_sensitivity), -1e6..=1e6, "finite")?;
        let numbers = glide.iter().flat_map(|g| [g.amount, g.energy_pa2, g.focus]);
        for x in numbers.chain(nonlinear.iter().flat_map(|n| [n.coupling, n.reference_pa])) {
            check("a number of the resonator", f64::from(x), -1e30..=1e30, "finite")?;
        }
        let state = self.state_mut(key)?;
        (state.body.glide, state.body.nonlinear) = (glide, nonlinear);
        state.body.strain_sensitivity = strain_sensitivity;
        self.retune(key);
        Ok(())
    }

    /// Changes the noise bands of a body; `None` for those of its model.
    ///
    /// # Errors
    /// If the body is gone or a band cannot be.
    pub fn set_diffuse(
        &mut self,
        key: BodyKey,
        bands: Option<Vec<eigentone_core::DiffuseBand>>,
    ) -> Result<(), WorldError> {
        for band in bands.iter().flatten() {
            band.validate().map_err(|e| WorldError::Model { name: String::new(), why: e.to_string() })?;
        }
        self.state_mut(key)?.body.diffuse = bands;
        self.retune(key);
        Ok(())
    }

    /// Changes a body's modes by taste: a tilt over frequency, single modes. What both have in common rings on.
    ///
    /// # Errors
    /// If the body is gone, or a number makes no sense.
    pub fn set_voicing(&mut self, key: BodyKey, voicing: Voicing) -> Result<(), WorldError> {
        if !voicing.makes_sense() {
            return Err(WorldError::Unfit(
                "a voicing has a tilt within 48 dB per octave and factors that are positive",
            ));
        }
        self.state_mut(key)?.body.voicing = voicing;
        self.retune(key);
        Ok(())
    }

    /// Changes the directions in which a body is louder.
    ///
    /// # Errors
    /// If the body is gone.
    pub fn set_directivity(&mut self, key: BodyKey, directivity: Option<Directivity>) -> Result<(), WorldError> {
        self.state_mut(key)?.body.directivity = directivity;
        Ok(())
    }

    /// Changes the name and the number of yours that a body has.
    ///
    /// # Errors
    /// If the body is gone.
    pub fn set_label(&mut self, key: BodyKey, name: &str, user_data: u64) -> Result<(), WorldError> {
        let body = &mut self.state_mut(key)?.body;
        name.clone_into(&mut body.name);
        body.user_data = user_data;
        Ok(())
    }

    /// Where the listener is and how the head is turned. What is not a number is passed over.
    pub fn set_listener(&mut self, pose: Pose) {
        if pose.is_finite() {
            self.listener = Pose { rotation: pose.rotation.normalize(), ..pose };
            self.space.get().listen_pose(self.listener.position, self.listener.rotation);
            self.moved = true;
        }
    }

    /// Sets the baked rooms, exchanges them, or takes them away: `None` means free field.
    pub fn set_rooms(&mut self, rooms: Option<Arc<Field>>) {
        self.settings.rooms.clone_from(&rooms);
        self.space.get().set_field(rooms);
        self.moved = true;
    }

    /// Changes what may be left out.
    pub fn set_quality(&mut self, quality: Quality) {
        self.settings.quality = quality;
        self.flush_quality = self.engine.get().set_quality(quality, eigentone_core::event::Moment::NOW).is_err();
    }

    /// Limits the processor time of the audio side per 64 samples, in µs, or lifts the limit.
    pub fn set_budget_us(&mut self, budget_us: Option<f64>) {
        let budget_us = budget_us.filter(|us| us.is_finite() && *us > 0.0);
        self.settings.budget_us = budget_us;
        self.shared.set_budget_us(budget_us.unwrap_or(0.0) as f32);
    }

    /// Changes gravity, in m/s².
    ///
    /// # Errors
    /// If it is not a number.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), WorldError> {
        super::finite("gravity", gravity)?;
        self.rigid.get().set_gravity(gravity)?;
        self.soft.set_gravity(gravity);
        self.settings.gravity = gravity;
        Ok(())
    }
}
