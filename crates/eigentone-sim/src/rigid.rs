//! Rigid bodies: a world of rapier, read as a contact stream.
//!
//! [`World::step`] moves every [body](BodySpec) by one step and tells what touched: for each point the momentum that passed, how
//! the surfaces slide (`v = v_cm + ω × (r − r_cm)`), how fast they met, and when within the step. Momentum is
//! kept: the impulses of all contacts are what changes the bodies' momenta besides gravity and drives.
//!
//! Bodies never sleep, so that a resting one reports `m g dt` in every step, and fast ones are not tested along their path but
//! held back by contacts foreseen within the step, so that the time of an impact is known to a fraction of the step.
//!
//! Everything can be changed between two steps: bodies are [inserted](World::insert) and [removed](World::remove), held and let go
//! ([`World::set_kind`]), [dragged](Drag), and the whole motion can be [kept and taken up again](Snapshot). A program that has a rapier world
//! of its own reads its contacts with a [`ContactReader`].
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

mod body;
mod change;
mod drag;
mod engine;
mod friction;
mod ledger;
mod limits;
mod mass;
mod motion;
mod reader;
mod rolling;
mod shape;
mod snapshot;
mod spec;
mod step;
mod torus;
mod touch;
mod travel;

pub use drag::Drag;
pub use engine::recommended_parameters;
pub use rapier3d as rapier;
pub use reader::{BodyOf, ContactReader, ReaderSettings};
pub use snapshot::Snapshot;
pub use spec::{BodySpec, Drive, Key, Kind, Mass, Part, RigidError, Shape};
pub use step::Overlap;

use body::Body;
use eigentone_core::Vec3;
use eigentone_core::contact::Pose;
use engine::{checked, checked_turn, from_engine, in_range, positive, to_array, to_engine};
use ledger::Ledger;
use motion::Motion;
use rapier3d::prelude::{PhysicsWorld, RigidBody};

/// How a world is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldSettings {
    /// In m/s².
    pub gravity: Vec3,
    /// Length of a step in s; at most 1/60. Contacts want 1/240 or less.
    pub step_s: f64,
    /// Parts into which the solver cuts a step: more for tall stacks.
    pub substeps: u32,
    /// Bodies at most; their numbers are below this.
    pub max_bodies: usize,
    /// The fastest that a body may move, in m/s; what is faster is held back to it and [counted](World::clipped).
    pub max_speed_m_s: f64,
}

impl Default for WorldSettings {
    /// Earth's gravity along −z, 480 steps per second in 4 parts, 10,000 bodies, and no more than 400 m/s: what falls on Earth stays
    /// below, and in one step nothing travels further than a metre.
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, 0.0, -9.81),
            step_s: 1.0 / 480.0,
            substeps: 4,
            max_bodies: 10_000,
            max_speed_m_s: 400.0,
        }
    }
}

/// More bodies than this cannot be asked for: their table is as long as the largest number.
const MAX_BODIES: f64 = (1 << 20) as f64;

/// Bodies under gravity, and what touches.
pub struct World {
    settings: WorldSettings,
    engine: PhysicsWorld,
    /// By their numbers.
    bodies: Vec<Option<Body>>,
    steps: u64,
    ledger: Ledger,
    clipped: u64,
}

impl World {
    /// An empty world.
    pub fn new(settings: WorldSettings) -> Result<Self, RigidError> {
        checked("gravity", settings.gravity)?;
        in_range("step_s", settings.step_s, 1e-5, 1.0 / 60.0)?;
        in_range("substeps", f64::from(settings.substeps), 1.0, 64.0)?;
        in_range("max_bodies", settings.max_bodies as f64, 1.0, MAX_BODIES)?;
        in_range("max_speed_m_s", settings.max_speed_m_s, 1e-3, 1e5)?;
        let mut world = PhysicsWorld::new();
        world.gravity = to_engine(settings.gravity);
        world.integration_parameters = engine::parameters(&settings);
        world.narrow_phase.set_query_dispatcher(torus::dispatch::Dispatcher);
        // rapier 0.36.1 numbers its islands anew in its first step, but looks for bodies by the numbers from before: with bodies in it, one that was fixed
        // between `initial_overlaps` and that step makes it panic.
        world.step();
        Ok(Self { settings, engine: world, bodies: Vec::new(), steps: 0, ledger: Ledger::default(), clipped: 0 })
    }

    /// The end of the last step, in s.
    pub fn time_s(&self) -> f64 {
        self.steps as f64 * self.settings.step_s
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.bodies.iter().flatten().count()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.bodies.iter().all(Option::is_none)
    }

    /// Whether a body has this number.
    pub fn contains(&self, body: u32) -> bool {
        self.get(body).is_some()
    }

    /// Where a body is.
    pub fn pose(&self, body: u32) -> Option<Pose> {
        self.get(body).map(|(kept, engine)| self.pose_of(body, kept, engine))
    }

    /// Velocity of a body's centre of mass.
    pub fn velocity(&self, body: u32) -> Option<Vec3> {
        self.get(body).map(|(kept, engine)| self.motion_of(kept, engine).velocity)
    }

    /// Velocity of the origin of a body's mesh.
    pub fn origin_velocity(&self, body: u32) -> Option<Vec3> {
        let (kept, engine) = self.get(body)?;
        Some(self.motion_of(kept, engine).at(from_engine(engine.position().translation)))
    }

    /// The spring that drags a body.
    pub fn drag(&self, body: u32) -> Option<Drag> {
        self.get(body)?.0.drag
    }

    /// How many steps have passed: what time it is, for paths and frames.
    pub fn set_steps(&mut self, steps: u64) {
        self.steps = steps;
    }

    /// A body's spin, in rad/s.
    pub fn spin(&self, body: u32) -> Option<Vec3> {
        self.get(body).map(|(_, engine)| from_engine(engine.angvel()))
    }

    /// A body's mass in kg; 0 unless forces move it.
    pub fn mass_kg(&self, body: u32) -> Option<f64> {
        self.get(body).map(|(kept, engine)| if kept.dynamic { f64::from(engine.mass()) } else { 0.0 })
    }

    /// A body's centre of mass in the world.
    pub fn centre_of_mass(&self, body: u32) -> Option<Vec3> {
        self.get(body).map(|(_, engine)| from_engine(engine.center_of_mass()))
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
        let kept = self.bodies.get(body as usize)?.as_ref()?;
        Some((kept, self.engine.bodies.get(kept.handle)?))
    }

    fn get_mut(&mut self, body: u32) -> Result<(&mut Body, &mut RigidBody), RigidError> {
        let kept = self.bodies.get_mut(body as usize).and_then(Option::as_mut).ok_or(RigidError::NoBody { body })?;
        let engine = self.engine.bodies.get_mut(kept.handle).ok_or(RigidError::NoBody { body })?;
        Ok((kept, engine))
    }
}
