//! A body before it is in a world, and what the world remembers of it: plain data.

use crate::key::BodyKey;
use crate::shape::Shape;
use crate::voicing::Voicing;
use eigentone_core::texture::{SurfaceMap, Texture};
use eigentone_core::{DiffuseBand, Material, ModalModel, Vec3};
use eigentone_modal::MeshModelSettings;
use eigentone_sim::rigid::{Drive, Key};
use eigentone_space::directivity::Directivity;
use eigentone_synth::texture::SurfaceRuntime;
use eigentone_synth::{Glide, Nonlinear};
use glam::DQuat;
use std::sync::Arc;

/// What moves a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Kind {
    /// Nothing.
    Fixed,
    /// Forces.
    #[default]
    Dynamic,
    /// Its velocity and spin, whatever is in the way.
    Kinematic,
    /// A path, linear between its keys, whatever is in the way.
    Path(Vec<Key>),
    /// Another physics engine: where it is comes with [contact frames](crate::World::feed).
    External,
}

/// What a body sounds with.
#[derive(Clone, Debug, Default)]
pub enum Sound {
    /// A model that the world has made of shape and material, in the background; a provisional one sounds until it is ready.
    #[default]
    Made,
    /// The same with settings of its own.
    MadeWith(Arc<MeshModelSettings>),
    /// This model.
    Model(Arc<ModalModel>),
    /// The resonator of another body: a hundred leaves of one tree. Blows count by the factor.
    Shared {
        /// The other.
        with: BodyKey,
        /// Factor of blows.
        factor: f32,
    },
    /// Samples that somebody else makes, at one metre and in Pa: a recording, an external voice. [`World::voice`](crate::World::voice) takes them.
    Voice,
    /// Nothing. It collides all the same, and what strikes it sounds.
    Silent,
}

/// What a body is like to the touch.
#[derive(Clone, Debug, Default)]
pub enum Surface {
    /// Smooth, and as stiff as the material.
    #[default]
    OfMaterial,
    /// By name, from the table in the settings.
    Named(String),
    /// This one.
    Texture(Arc<Texture>),
    /// This one, made ready already.
    Ready(Arc<SurfaceRuntime>),
}

/// What a body is made of.
#[derive(Clone, Debug)]
pub enum MaterialRef {
    /// By name, from the table in the settings.
    Named(String),
    /// This.
    Material(Arc<Material>),
}

/// What can be heard and seen changing: each has a setter in [`World`](crate::World).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Loudness as a factor.
    pub gain: f32,
    /// Importance when something must be left out; counts as loudness too.
    pub emphasis: f32,
    /// Factor of all decay rates, 0.1 to 50.
    pub damping: f32,
    /// Factor of all frequencies.
    pub frequency: f32,
    /// Strain; what it does to the pitch is [`Body::strain_sensitivity`].
    pub strain: f32,
    /// All lengths, as a factor of the shape: frequencies go with its inverse, masses with its cube.
    pub size: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { gain: 1.0, emphasis: 1.0, damping: 1.0, frequency: 1.0, strain: 0.0, size: 1.0 }
    }
}

/// A body: `Body::dynamic(mesh).material("steel").position(Vec3::Z)`.
#[derive(Clone, Debug)]
pub struct Body {
    /// For lists and messages.
    pub name: String,
    /// Anything of yours: an entity, a pointer, an index.
    pub user_data: u64,
    /// Its form, at size one.
    pub shape: Shape,
    /// What moves it.
    pub kind: Kind,
    /// What it is made of.
    pub material: MaterialRef,
    /// What it sounds with.
    pub sound: Sound,
    /// What it is like to the touch.
    pub surface: Surface,
    /// How rough the surface is from place to place.
    pub surface_map: Option<Arc<SurfaceMap>>,
    /// Its mass at size one; that of its model or of its shape if not given.
    pub mass_kg: Option<f64>,
    /// Coulomb's coefficient; the surface's if not given.
    pub friction: Option<f64>,
    /// Share of the speed that a bounce keeps; the surface's if not given.
    pub restitution: Option<f64>,
    /// Rate at which spins die away, in 1/s.
    pub spin_damping: f64,
    /// Coefficient of rolling resistance, 0 to 1: what rolls on others slows down by about this share of gravity, and comes to rest.
    pub rolling_resistance: f64,
    /// Where its origin is.
    pub position: Vec3,
    /// How it is turned.
    pub rotation: DQuat,
    /// Of its centre of mass, in m/s.
    pub velocity: Vec3,
    /// In rad/s.
    pub spin: Vec3,
    /// A pull that holds a speed.
    pub drive: Option<Drive>,
    /// Whether it is held in the hand: it stays where it is and rings briefly.
    pub held: bool,
    /// Whether it is there; what is not there rests where it is and touches nothing.
    pub present: bool,
    /// What can be changed while it sounds.
    pub params: Params,
    /// How its modes are changed by taste.
    pub voicing: Voicing,
    /// Shift of all frequencies per unit of strain, as a share.
    pub strain_sensitivity: f32,
    /// Pitch that follows loudness.
    pub glide: Option<Glide>,
    /// Modes that drive each other.
    pub nonlinear: Option<Nonlinear>,
    /// Noise bands in place of the model's.
    pub diffuse: Option<Vec<DiffuseBand>>,
    /// Directions in which it is louder; the axis is in its own frame.
    pub directivity: Option<Directivity>,
    /// Its finite elements, if it is soft: see [`World::insert_soft`](crate::World::insert_soft).
    pub soft: Option<Arc<crate::soft::SoftSpec>>,
}

/// Least factor of decay rates.
pub const MIN_DAMPING: f32 = 0.1;

/// Damping by a hand that holds a body.
const HAND_DAMPING: f32 = 20.0;

/// Rate at which spins die away if nothing else is said, in 1/s: rolling resistance, tuned so that a tube rolls for a few seconds.
const SPIN_DAMPING: f64 = 0.8;

impl Body {
    fn new(shape: Shape, kind: Kind) -> Self {
        Self {
            name: String::new(),
            user_data: 0,
            shape,
            kind,
            material: MaterialRef::Named("wood".to_owned()),
            sound: Sound::Made,
            surface: Surface::OfMaterial,
            surface_map: None,
            mass_kg: None,
            friction: None,
            restitution: None,
            spin_damping: SPIN_DAMPING,
            rolling_resistance: 0.0,
            position: Vec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            drive: None,
            held: false,
            present: true,
            params: Params::default(),
            voicing: Voicing::default(),
            strain_sensitivity: 0.0,
            glide: None,
            nonlinear: None,
            diffuse: None,
            directivity: None,
            soft: None,
        }
    }

    /// One that forces move, of wood unless said otherwise.
    pub fn dynamic(shape: impl Into<Shape>) -> Self {
        Self::new(shape.into(), Kind::Dynamic)
    }

    /// One that does not move and does not ring by itself, until it is given a [material](Self::material) or a [model](Self::model).
    pub fn fixed(shape: impl Into<Shape>) -> Self {
        Self { sound: Sound::Silent, ..Self::new(shape.into(), Kind::Fixed) }
    }

    /// One that moves with its velocity, whatever is in the way.
    pub fn kinematic(shape: impl Into<Shape>) -> Self {
        Self::new(shape.into(), Kind::Kinematic)
    }

    /// One that another physics engine moves: contacts and poses come with [frames](crate::World::feed).
    pub fn external(shape: impl Into<Shape>) -> Self {
        Self::new(shape.into(), Kind::External)
    }

    /// A place from which samples of yours are heard: see [`World::voice`](crate::World::voice).
    pub fn voice_at(position: Vec3) -> Self {
        let shape = Shape::sphere(0.01).with_collider(crate::Collider::None);
        Self { sound: Sound::Voice, position, ..Self::new(shape, Kind::External) }
    }

    /// Of this material, by name; it rings as that.
    pub fn material(self, name: impl Into<String>) -> Self {
        let sound = if matches!(self.sound, Sound::Silent) { Sound::Made } else { self.sound };
        Self { material: MaterialRef::Named(name.into()), sound, ..self }
    }

    /// Of this material.
    pub fn made_of(self, material: impl Into<Arc<Material>>) -> Self {
        let sound = if matches!(self.sound, Sound::Silent) { Sound::Made } else { self.sound };
        Self { material: MaterialRef::Material(material.into()), sound, ..self }
    }

    /// With this model.
    pub fn model(self, model: Arc<ModalModel>) -> Self {
        Self { sound: Sound::Model(model), ..self }
    }

    /// Through the resonator of another body.
    pub fn shares(self, with: BodyKey) -> Self {
        Self { sound: Sound::Shared { with, factor: 1.0 }, ..self }
    }

    /// Without a sound of its own.
    pub fn silent(self) -> Self {
        Self { sound: Sound::Silent, ..self }
    }

    /// With this surface, by name.
    pub fn surface(self, name: impl Into<String>) -> Self {
        Self { surface: Surface::Named(name.into()), ..self }
    }

    /// At this place.
    pub fn position(self, position: Vec3) -> Self {
        Self { position, ..self }
    }

    /// Turned like this.
    pub fn rotation(self, rotation: DQuat) -> Self {
        Self { rotation, ..self }
    }

    /// Moving like this, in m/s.
    pub fn velocity(self, velocity: Vec3) -> Self {
        Self { velocity, ..self }
    }

    /// Spinning like this, in rad/s.
    pub fn spin(self, spin: Vec3) -> Self {
        Self { spin, ..self }
    }

    /// As heavy as this, in kg, at size one.
    pub fn mass(self, mass_kg: f64) -> Self {
        Self { mass_kg: Some(mass_kg), ..self }
    }

    /// With this coefficient of friction.
    pub fn friction(self, friction: f64) -> Self {
        Self { friction: Some(friction), ..self }
    }

    /// With this loudness, as a factor.
    pub fn gain(mut self, gain: f32) -> Self {
        self.params.gain = gain;
        self
    }

    /// With this name.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// With a number of yours.
    pub fn user_data(self, user_data: u64) -> Self {
        Self { user_data, ..self }
    }

    /// Whether forces can move it.
    pub(crate) fn moves(&self) -> bool {
        self.kind == Kind::Dynamic && !self.held
    }

    /// What moves it now: nothing, while it is held.
    pub(crate) fn moved_by(&self) -> &Kind {
        if self.held { &Kind::Fixed } else { &self.kind }
    }

    /// Factor of its decay rates now: a hand damps.
    pub(crate) fn damping_now(&self) -> f32 {
        self.params.damping.max(MIN_DAMPING) * if self.held { HAND_DAMPING } else { 1.0 }
    }

    /// Its form at its size.
    pub(crate) fn sized(&self) -> Shape {
        if self.params.size == 1.0 { self.shape.clone() } else { self.shape.scaled(self.params.size) }
    }
}
