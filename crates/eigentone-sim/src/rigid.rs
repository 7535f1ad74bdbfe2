//! Rigid bodies: a world of rapier, read as a contact stream.
//!
//! [`World::step`] moves every [body](BodySpec) by one step and tells what touched: for each point the momentum that passed, how
//! the surfaces slide (REFERENCE E.1: `v = v_cm + ω × (r − r_cm)`), how fast they met, and when within the step. Momentum is
//! kept: the impulses of all contacts are what changes the bodies' momenta besides gravity and drives.
//!
//! Bodies never sleep, so that a resting one reports `m g dt` in every step, and fast ones are not tested along their path but
//! held back by contacts foreseen within the step, so that the time of an impact is known to a fraction of the step.
//!
//! ```
//! use eigentone_core::Vec3;
//! use eigentone_sim::rigid::{BodySpec, Kind, Shape, World, WorldSettings};
//!
//! let mut world = World::new(WorldSettings::default())?;
//! let floor = Shape::Box { half: Vec3::new(1.0, 1.0, 0.1) };
//! world.add(&BodySpec { kind: Kind::Fixed, position: Vec3::new(0.0, 0.0, -0.1), ..BodySpec::new(floor) })?;
//! let ball = Shape::Sphere { radius: 0.02 };
//! world.add(&BodySpec { position: Vec3::new(0.0, 0.0, 0.3), ..BodySpec::new(ball) })?;
//! let struck = (0..480).map(|_| world.step()).find(|frame| !frame.contacts.is_empty()).unwrap();
//! assert_eq!(struck.contacts[0].bodies, [0, 1]);
//! # Ok::<(), eigentone_sim::rigid::RigidError>(())
//! ```

mod engine;
mod friction;
mod mass;
mod motion;
mod shape;
mod spec;
mod step;
mod torus;
mod touch;
mod travel;

pub use spec::{BodySpec, Drive, Key, Kind, Mass, Part, RigidError, Shape};
pub use step::Overlap;

use eigentone_core::Vec3;
use eigentone_core::contact::Pose;
use engine::{checked, checked_turn, from_engine, in_range, positive, to_array, to_engine};
use motion::{Motion, Motor, on_path};
use rapier3d::math::Pose as EnginePose;
use rapier3d::prelude::{
    ActiveHooks, CoefficientCombineRule, ColliderBuilder, PhysicsWorld, RigidBody, RigidBodyBuilder, RigidBodyHandle,
};
use std::collections::BTreeMap;
use travel::Surface;

/// How a world is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldSettings {
    /// In m/s².
    pub gravity: Vec3,
    /// Length of a step in s; at most 1/60. Contacts want 1/240 or less.
    pub step_s: f64,
    /// Parts into which the solver cuts a step: more for tall stacks.
    pub substeps: u32,
    /// Bodies at most.
    pub most_bodies: usize,
}

impl Default for WorldSettings {
    /// Earth's gravity along −z, 480 steps per second in 4 parts, 10,000 bodies.
    fn default() -> Self {
        Self { gravity: Vec3::new(0.0, 0.0, -9.81), step_s: 1.0 / 480.0, substeps: 4, most_bodies: 10_000 }
    }
}

/// What we remember of a body.
struct Body {
    handle: RigidBodyHandle,
    dynamic: bool,
    surface: Surface,
    path: Vec<Key>,
    motor: Option<Motor>,
    /// See [`World::lag`].
    untouched: bool,
    before: Motion,
    after: Motion,
    told: Option<Pose>,
}

/// Bodies under gravity, and what touches.
pub struct World {
    settings: WorldSettings,
    engine: PhysicsWorld,
    bodies: Vec<Body>,
    steps: u64,
    /// Pairs that touch: their number and the step in which they last did.
    touching: BTreeMap<[u32; 2], (u64, u64)>,
    contacts_made: u64,
}

impl World {
    /// An empty world.
    pub fn new(settings: WorldSettings) -> Result<Self, RigidError> {
        checked("gravity", settings.gravity)?;
        in_range("step_s", settings.step_s, 1e-5, 1.0 / 60.0)?;
        in_range("substeps", f64::from(settings.substeps), 1.0, 64.0)?;
        let mut world = PhysicsWorld::new();
        world.gravity = to_engine(settings.gravity);
        world.integration_parameters = engine::parameters(&settings);
        world.narrow_phase.set_query_dispatcher(torus::dispatch::Dispatcher);
        Ok(Self { settings, engine: world, bodies: Vec::new(), steps: 0, touching: BTreeMap::new(), contacts_made: 0 })
    }

    /// Adds a body and gives its number: 0, 1, 2, …
    pub fn add(&mut self, spec: &BodySpec) -> Result<u32, RigidError> {
        if self.bodies.len() >= self.settings.most_bodies {
            return Err(RigidError::TooMany { most: self.settings.most_bodies });
        }
        check(spec)?;
        let dynamic = spec.kind == Kind::Dynamic;
        let place = EnginePose::from_parts(to_engine(spec.position), checked_turn(spec.rotation)?);
        let velocity = to_engine(spec.velocity);
        let built = shape::Built::new(&spec.shape)?;
        let builder = match &spec.kind {
            Kind::Fixed => RigidBodyBuilder::fixed().pose(place),
            Kind::Path(keys) => RigidBodyBuilder::kinematic_position_based().pose(on_path(keys, self.time_s())),
            Kind::Kinematic => {
                RigidBodyBuilder::kinematic_velocity_based().pose(place).linvel(velocity).angvel(to_engine(spec.spin))
            }
            Kind::Dynamic => RigidBodyBuilder::dynamic()
                .pose(place)
                .linvel(velocity - to_engine(self.lag()))
                .angvel(to_engine(spec.spin))
                .angular_damping(spec.spin_damping as f32)
                .additional_mass_properties(built.properties(spec.mass)?)
                .gyroscopic_forces_enabled(true),
        };
        let builder = builder.can_sleep(false).soft_ccd_prediction(engine::FORESEEN_M);
        if spec.shape.has_rings() {
            engine::stiffen(&mut self.engine.integration_parameters);
        }
        let (place_in_body, shape) = built.into_collider();
        let collider = ColliderBuilder::new(shape)
            .position(place_in_body)
            .density(0.0)
            .friction(spec.friction as f32)
            .friction_combine_rule(CoefficientCombineRule::Average)
            .restitution(spec.restitution as f32)
            .restitution_combine_rule(CoefficientCombineRule::Min)
            .active_hooks(ActiveHooks::MODIFY_SOLVER_CONTACTS)
            .user_data(self.bodies.len() as u128);
        let (handle, _) = self.engine.insert(builder, collider);
        // The mass counts from now on, not only from the first step.
        let (bodies, colliders) = (&mut self.engine.bodies, &self.engine.colliders);
        bodies[handle].recompute_mass_properties_from_colliders(colliders);
        self.bodies.push(Body {
            handle,
            dynamic,
            surface: Surface::of(&spec.shape),
            path: if let Kind::Path(keys) = &spec.kind { keys.clone() } else { Vec::new() },
            motor: spec.drive.filter(|_| dynamic).map(Motor::new),
            untouched: dynamic,
            before: Motion::default(),
            after: Motion::default(),
            told: None,
        });
        Ok(self.bodies.len() as u32 - 1)
    }

    /// The end of the last step, in s.
    pub fn time_s(&self) -> f64 {
        self.steps as f64 * self.settings.step_s
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Where a body is.
    pub fn pose(&self, body: u32) -> Option<Pose> {
        self.get(body).map(|(kept, engine)| self.pose_of(body, kept, engine))
    }

    /// Velocity of a body's centre of mass.
    pub fn velocity(&self, body: u32) -> Option<Vec3> {
        self.get(body).map(|(kept, engine)| self.motion_of(kept, engine).velocity)
    }

    /// A body's spin, in rad/s.
    pub fn spin(&self, body: u32) -> Option<Vec3> {
        self.get(body).map(|(_, engine)| from_engine(engine.angvel()))
    }

    /// A body's mass in kg; 0 unless forces move it.
    pub fn mass_kg(&self, body: u32) -> Option<f64> {
        self.get(body).map(|(_, engine)| f64::from(engine.mass()))
    }

    /// A body's centre of mass in the world.
    pub fn centre_of_mass(&self, body: u32) -> Option<Vec3> {
        self.get(body).map(|(_, engine)| from_engine(engine.center_of_mass()))
    }

    /// Makes a body move otherwise from now on.
    pub fn set_velocity(&mut self, body: u32, velocity: Vec3, spin: Vec3) -> Result<(), RigidError> {
        checked("velocity", velocity)?;
        checked("spin", spin)?;
        let lag = self.lag();
        let (kept, engine) = self.get_mut(body)?;
        let velocity = if kept.untouched { velocity - lag } else { velocity };
        engine.set_linvel(to_engine(velocity), true);
        engine.set_angvel(to_engine(spin), true);
        Ok(())
    }

    /// Takes a body out of the world or puts it back: out of it, it rests where it is and touches nothing.
    pub fn set_present(&mut self, body: u32, present: bool) -> Result<(), RigidError> {
        let (_, engine) = self.get_mut(body)?;
        engine.set_enabled(present);
        Ok(())
    }

    /// Strikes a body with an impulse, in N·s, at a point of the world.
    pub fn push(&mut self, body: u32, impulse_ns: Vec3, point: Vec3) -> Result<(), RigidError> {
        checked("impulse", impulse_ns)?;
        checked("point", point)?;
        let (_, engine) = self.get_mut(body)?;
        engine.apply_impulse_at_point(to_engine(impulse_ns), to_engine(point), true);
        Ok(())
    }

    /// Changes, begins or ends the [drive](Drive) of a dynamic body; nothing happens to others.
    pub fn set_drive(&mut self, body: u32, drive: Option<Drive>) -> Result<(), RigidError> {
        drive.iter().try_for_each(check_drive)?;
        let (kept, engine) = self.get_mut(body)?;
        engine.reset_forces(true);
        kept.motor = drive.filter(|_| kept.dynamic).map(Motor::new);
        Ok(())
    }

    /// How far the engine's velocity of a body in free flight lags behind the true one. Within a substep of length `h` the engine
    /// adds `g h` before it moves the body, so that a fall from rest would end `h / 2` too early. Bodies start `g h / 2` behind
    /// instead, and then follow the exact parabola until something touches them.
    fn lag(&self) -> Vec3 {
        self.settings.gravity * (0.5 * self.settings.step_s / f64::from(self.settings.substeps))
    }

    fn motion_of(&self, kept: &Body, engine: &RigidBody) -> Motion {
        let mut motion = Motion::of(engine);
        if kept.untouched {
            motion.velocity += self.lag();
        }
        motion
    }

    fn pose_of(&self, body: u32, kept: &Body, engine: &RigidBody) -> Pose {
        let place = engine.position();
        Pose {
            body,
            position: place.translation.to_array(),
            rotation: place.rotation.to_array(),
            velocity: to_array(self.motion_of(kept, engine).velocity),
        }
    }

    fn get(&self, body: u32) -> Option<(&Body, &RigidBody)> {
        let kept = self.bodies.get(body as usize)?;
        Some((kept, self.engine.bodies.get(kept.handle)?))
    }

    fn get_mut(&mut self, body: u32) -> Result<(&mut Body, &mut RigidBody), RigidError> {
        let kept = self.bodies.get_mut(body as usize).ok_or(RigidError::NoBody { body })?;
        let engine = self.engine.bodies.get_mut(kept.handle).ok_or(RigidError::NoBody { body })?;
        Ok((kept, engine))
    }
}

/// Everything but the shape and the mass.
fn check(spec: &BodySpec) -> Result<(), RigidError> {
    checked("position", spec.position)?;
    checked("velocity", spec.velocity)?;
    checked("spin", spec.spin)?;
    in_range("friction", spec.friction, 0.0, 100.0)?;
    in_range("restitution", spec.restitution, 0.0, 1.0)?;
    in_range("spin_damping", spec.spin_damping, 0.0, 1000.0)?;
    spec.drive.iter().try_for_each(check_drive)?;
    let Kind::Path(keys) = &spec.kind else { return Ok(()) };
    if keys.is_empty() {
        return Err(RigidError::Empty { what: "the path" });
    }
    for key in keys {
        checked("a key's position", key.position)?;
        checked_turn(key.rotation)?;
        in_range("a key's time", key.time_s, 0.0, 1e6)?;
    }
    if keys.windows(2).all(|k| k[0].time_s < k[1].time_s) { Ok(()) } else { Err(RigidError::PathOrder) }
}

fn check_drive(drive: &Drive) -> Result<(), RigidError> {
    checked("the drive's velocity", drive.velocity)?;
    positive("the drive's force", drive.most_force_n).map(|_| ())
}
