//! Bodies as they come into the world and leave it.

use super::drag::Drag;
use super::mass::Bulk;
use super::motion::{Motion, Motor, on_path};
use super::shape::Built;
use super::spec::{BodySpec, Drive, Key, Kind, Mass, RigidError};
use super::travel::Surface;
use super::{World, checked, checked_turn, engine, in_range, positive, to_engine};
use eigentone_core::contact::Pose;
use rapier3d::math::Pose as EnginePose;
use rapier3d::prelude::{
    ActiveHooks, CoefficientCombineRule, ColliderBuilder, ColliderHandle, RigidBodyBuilder, RigidBodyHandle,
};

/// What we remember of a body.
#[derive(Clone)]
pub(super) struct Body {
    pub(super) handle: RigidBodyHandle,
    pub(super) collider: ColliderHandle,
    pub(super) dynamic: bool,
    pub(super) surface: Surface,
    pub(super) path: Vec<Key>,
    pub(super) motor: Option<Motor>,
    pub(super) drag: Option<Drag>,
    /// What its mass and inertia come from, should forces move it later.
    pub(super) bulk: Bulk,
    pub(super) closed: bool,
    pub(super) mass: Mass,
    pub(super) spin_damping: f64,
    pub(super) rolling_resistance: f64,
    /// Whether it is to take part.
    pub(super) present: bool,
    /// See [`World::frozen`].
    pub(super) frozen: bool,
    /// See [`World::lag`].
    pub(super) untouched: bool,
    pub(super) before: Motion,
    pub(super) after: Motion,
    pub(super) told: Option<Pose>,
}

impl World {
    /// Adds a body and gives its number: 0, 1, 2, …, always the one after the largest.
    pub fn add(&mut self, spec: &BodySpec) -> Result<u32, RigidError> {
        let number = self.bodies.iter().rposition(Option::is_some).map_or(0, |last| last + 1) as u32;
        self.insert(number, spec)?;
        Ok(number)
    }

    /// Adds a body under a number that is free and below [`WorldSettings::max_bodies`](super::WorldSettings::max_bodies).
    pub fn insert(&mut self, number: u32, spec: &BodySpec) -> Result<(), RigidError> {
        if number as usize >= self.settings.max_bodies {
            return Err(RigidError::TooMany { most: self.settings.max_bodies });
        }
        if self.contains(number) {
            return Err(RigidError::Taken { body: number });
        }
        check(spec)?;
        let dynamic = spec.kind == Kind::Dynamic;
        let place = EnginePose::from_parts(to_engine(spec.position), checked_turn(spec.rotation)?);
        let velocity = to_engine(spec.velocity);
        let built = Built::new(&spec.shape)?;
        let (bulk, closed) = built.bulk();
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
                .additional_mass_properties(bulk.properties(bulk.weigh(spec.mass, closed)?))
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
            .user_data(u128::from(number));
        let (handle, collider) = self.engine.insert(builder, collider);
        self.weigh_again(handle);
        if self.bodies.len() <= number as usize {
            self.bodies.resize_with(number as usize + 1, || None);
        }
        self.bodies[number as usize] = Some(Body {
            handle,
            collider,
            dynamic,
            surface: Surface::of(&spec.shape),
            path: if let Kind::Path(keys) = &spec.kind { keys.clone() } else { Vec::new() },
            motor: spec.drive.filter(|_| dynamic).map(Motor::new),
            drag: None,
            bulk,
            closed,
            mass: spec.mass,
            spin_damping: spec.spin_damping,
            rolling_resistance: spec.rolling_resistance,
            present: true,
            frozen: false,
            untouched: dynamic,
            before: Motion::default(),
            after: Motion::default(),
            told: None,
        });
        Ok(())
    }

    /// Takes a body away for good. The next frame tells the end of its contacts; its number is free again at once, and whoever gets it
    /// begins contacts of its own.
    pub fn remove(&mut self, number: u32) -> Result<(), RigidError> {
        let slot = self.bodies.get_mut(number as usize).and_then(Option::take);
        let body = slot.ok_or(RigidError::NoBody { body: number })?;
        self.engine.remove_body(body.handle);
        self.ledger.forget(number);
        Ok(())
    }

    /// Lets the mass count from now on, not only from the next step.
    pub(super) fn weigh_again(&mut self, handle: RigidBodyHandle) {
        let (bodies, colliders) = (&mut self.engine.bodies, &self.engine.colliders);
        bodies[handle].recompute_mass_properties_from_colliders(colliders);
    }
}

/// Everything but the shape and the mass.
fn check(spec: &BodySpec) -> Result<(), RigidError> {
    checked("position", spec.position)?;
    checked("velocity", spec.velocity)?;
    checked("spin", spec.spin)?;
    check_friction(spec.friction)?;
    check_restitution(spec.restitution)?;
    check_spin_damping(spec.spin_damping)?;
    in_range("rolling_resistance", spec.rolling_resistance, 0.0, 1.0)?;
    spec.drive.iter().try_for_each(check_drive)?;
    check_kind(&spec.kind)
}

pub(super) fn check_friction(friction: f64) -> Result<(), RigidError> {
    in_range("friction", friction, 0.0, 100.0)
}

pub(super) fn check_restitution(restitution: f64) -> Result<(), RigidError> {
    in_range("restitution", restitution, 0.0, 1.0)
}

pub(super) fn check_spin_damping(spin_damping: f64) -> Result<(), RigidError> {
    in_range("spin_damping", spin_damping, 0.0, 1000.0)
}

pub(super) fn check_drive(drive: &Drive) -> Result<(), RigidError> {
    checked("the drive's velocity", drive.velocity)?;
    positive("the drive's force", drive.max_force_n).map(|_| ())
}

pub(super) fn check_kind(kind: &Kind) -> Result<(), RigidError> {
    let Kind::Path(keys) = kind else { return Ok(()) };
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
