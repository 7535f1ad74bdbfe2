//! Contact frames from anybody's rapier world.
//!
//! A program with a rapier world of its own calls [`ContactReader::read`] once after each step and gets what [`World::step`](super::World::step) would
//! give: both read manifolds with the same code. Impulses are the solver's. Rapier does not keep how fast surfaces came together before
//! it solved; the reader takes that from the velocities that it saw at the last call, and gravity. Where the program changes velocities between
//! two steps, it calls [`ContactReader::remember`] before the step.
//!
//! What differs from our own world, unless the program sees to it (see [`recommended_parameters`](super::recommended_parameters)):
//! - rapier's default friction model keeps no impulses along the surface: friction is then reported as 0, slip is not;
//! - recycled contacts keep the place and the distance of an earlier step, so that moments of impacts are coarse;
//! - at 60 steps per second with a prediction of 2 cm, a fall ends up to a step early or late;
//! - friction of sliding boxes is up to 14 % below Coulomb's, which our world corrects by a hook;
//! - a body that sleeps repeats the impulses of its last step, which are its weight.

use super::ledger::{Ledger, differs};
use super::motion::Motion;
use super::touch::{self, Side};
use super::travel::Surface;
use super::{from_engine, to_array};
use eigentone_core::Vec3;
use eigentone_core::contact::{ContactFrame, Pose};
use rapier3d::glamx::Quat;
use rapier3d::math::{Pose as EnginePose, Vector};
use rapier3d::prelude::{
    Collider, ColliderHandle, ColliderSet, IntegrationParameters, NarrowPhase, PhysicsWorld, RigidBodyHandle,
    RigidBodySet,
};
use std::collections::{BTreeMap, HashMap};
use std::f32::consts::FRAC_PI_2;

/// Which body of ours a collider belongs to; several may belong to one. `None`: it is not heard.
pub type BodyOf = Box<dyn Fn(ColliderHandle, &Collider) -> Option<u32> + Send + Sync>;

/// How a [`ContactReader`] reads.
pub struct ReaderSettings {
    /// Whose a collider is; without it, its `user_data` is the number of its body (if larger than a `u32`, it is not heard).
    pub body_of: Option<BodyOf>,
    /// Whether frames carry the poses of bodies that have moved. A body with several colliders is where its rapier body is.
    pub poses: bool,
}

impl Default for ReaderSettings {
    /// Numbers in `user_data`; with poses.
    fn default() -> Self {
        Self { body_of: None, poses: true }
    }
}

/// Reads contact frames from a rapier world, one per step.
///
/// ```
/// use eigentone_sim::rigid::rapier::prelude::*;
/// use eigentone_sim::rigid::{ContactReader, ReaderSettings, recommended_parameters};
///
/// let mut world = PhysicsWorld::new();
/// world.integration_parameters = recommended_parameters(1.0 / 480.0, 4);
/// world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::cuboid(1.0, 0.1, 1.0).user_data(0));
/// let ball = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.4, 0.0)).soft_ccd_prediction(0.5);
/// world.insert(ball, ColliderBuilder::ball(0.05).user_data(1));
/// let mut reader = ContactReader::new(ReaderSettings::default());
/// let struck = (0..480).find_map(|_| {
///     world.step();
///     let frame = reader.read(&world);
///     (!frame.contacts.is_empty()).then_some(frame)
/// });
/// assert_eq!(struck.unwrap().contacts[0].bodies, [0, 1]);
/// ```
pub struct ContactReader {
    settings: ReaderSettings,
    motions: HashMap<RigidBodyHandle, Motion>,
    told: BTreeMap<u32, Pose>,
    ledger: Ledger,
    time_s: f64,
}

impl ContactReader {
    /// A reader that has seen nothing yet. Called before the first step, [`remember`](Self::remember) lets it know the velocities that bodies start with.
    pub fn new(settings: ReaderSettings) -> Self {
        Self { settings, motions: HashMap::new(), told: BTreeMap::new(), ledger: Ledger::default(), time_s: 0.0 }
    }

    /// Notes where bodies are and how they move. Only needed where the program changes that between a [`read`](Self::read) and the next step.
    pub fn remember(&mut self, bodies: &RigidBodySet) {
        self.motions.clear();
        self.motions.extend(bodies.iter().map(|(handle, body)| (handle, Motion::of(body))));
    }

    /// What touched during the step that was just made.
    pub fn read(&mut self, world: &PhysicsWorld) -> ContactFrame {
        let parameters = &world.integration_parameters;
        self.read_parts(&world.bodies, &world.colliders, &world.narrow_phase, parameters, world.gravity)
    }

    /// The same for a program that keeps rapier's parts by themselves.
    pub fn read_parts(
        &mut self,
        bodies: &RigidBodySet,
        colliders: &ColliderSet,
        narrow_phase: &NarrowPhase,
        parameters: &IntegrationParameters,
        gravity: Vector,
    ) -> ContactFrame {
        let step_s = f64::from(parameters.dt);
        self.time_s += step_s;
        let side = |handle| {
            let collider = colliders.get(handle)?;
            let number = self.number_of(handle, collider)?;
            let surface = Surface::of_engine(collider.shape());
            let Some((parent, body)) = collider.parent().and_then(|p| Some((p, bodies.get(p)?))) else {
                let rest = at_rest(collider);
                let place = surface_place(surface, *collider.position());
                return Some(Side { number, before: rest, after: rest, pull: Vec3::ZERO, surface, place });
            };
            let after = Motion::of(body);
            let falls = if body.is_dynamic() { f64::from(body.gravity_scale()) } else { 0.0 };
            let pull = from_engine(gravity) * falls;
            // Of a body that has just come, only the end of its first step is known.
            let before = self.motions.get(&parent).copied().unwrap_or(after);
            let place_in_body = collider.position_wrt_parent().copied().unwrap_or(EnginePose::IDENTITY);
            let place = surface_place(surface, before.place * place_in_body);
            Some(Side { number, before, after, pull, surface, place })
        };
        let contacts = touch::joined(touch::contacts(narrow_phase.contact_pairs(), bodies, step_s, side));
        let contacts = self.ledger.enter(contacts);
        let poses = if self.settings.poses { self.moved(bodies, colliders) } else { Vec::new() };
        self.remember(bodies);
        ContactFrame { time_s: self.time_s, step_s, poses, contacts, ..ContactFrame::default() }
    }

    fn number_of(&self, handle: ColliderHandle, collider: &Collider) -> Option<u32> {
        match &self.settings.body_of {
            Some(body_of) => body_of(handle, collider),
            None => u32::try_from(collider.user_data).ok(),
        }
    }

    fn moved(&mut self, bodies: &RigidBodySet, colliders: &ColliderSet) -> Vec<Pose> {
        let mut now = BTreeMap::new();
        for (handle, collider) in colliders.iter() {
            let Some(body) = self.number_of(handle, collider) else { continue };
            now.entry(body).or_insert_with(|| {
                let parent = collider.parent().and_then(|p| bodies.get(p));
                let motion = parent.map_or_else(|| at_rest(collider), Motion::of);
                Pose {
                    body,
                    position: motion.place.translation.to_array(),
                    rotation: motion.place.rotation.to_array(),
                    velocity: to_array(motion.velocity),
                }
            });
        }
        // A number that comes back is told anew.
        self.told.retain(|body, _| now.contains_key(body));
        let mut poses = Vec::new();
        for (body, pose) in now {
            if self.told.get(&body).is_none_or(|told| differs(told, &pose)) {
                self.told.insert(body, pose);
                poses.push(pose);
            }
        }
        poses
    }
}

/// A collider that belongs to no rapier body.
fn at_rest(collider: &Collider) -> Motion {
    let place = *collider.position();
    Motion { place, centre: from_engine(place.translation), ..Motion::default() }
}

/// The frame in which a surface's curvature is told: cylinders along z.
fn surface_place(surface: Surface, place: EnginePose) -> EnginePose {
    match surface {
        Surface::Cylinder { .. } => place * EnginePose::from_parts(Vector::ZERO, Quat::from_rotation_x(-FRAC_PI_2)),
        _ => place,
    }
}
