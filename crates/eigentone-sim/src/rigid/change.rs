//! What can be changed of a body while the world runs.

use super::body::{check_drive, check_friction, check_kind, check_restitution, check_spin_damping};
use super::drag::Drag;
use super::motion::{Motor, on_path};
use super::shape::Built;
use super::spec::{Drive, Kind, Mass, RigidError, Shape};
use super::travel::Surface;
use super::{World, checked, checked_turn, engine, positive, to_engine};
use eigentone_core::Vec3;
use rapier3d::math::Pose as EnginePose;
use rapier3d::prelude::{Collider, RigidBodyType};

impl World {
    /// Puts a body elsewhere, with the velocity that it has. What is in the way is pushed aside; a [frozen](Self::frozen) body takes part again.
    pub fn set_pose(&mut self, body: u32, position: Vec3, rotation: [f64; 4]) -> Result<(), RigidError> {
        let place = EnginePose::from_parts(to_engine(checked("position", position)?), checked_turn(rotation)?);
        let (kept, engine) = self.get_mut(body)?;
        if !kept.path.is_empty() {
            return Err(RigidError::OnPath { body });
        }
        engine.set_position(place, true);
        kept.frozen = false;
        engine.set_enabled(kept.present);
        Ok(())
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

    /// Changes a body's mass, in kg; its inertia goes with it. One that forces do not move has it once they do.
    pub fn set_mass(&mut self, body: u32, mass_kg: f64) -> Result<(), RigidError> {
        let mass = Mass::Kg(positive("mass", mass_kg)?);
        let (kept, _) = self.get_mut(body)?;
        let (bulk, closed, dynamic) = (kept.bulk, kept.closed, kept.dynamic);
        if dynamic {
            bulk.weigh(mass, closed)?;
        }
        kept.mass = mass;
        self.apply_mass(body)
    }

    /// Changes Coulomb's coefficient of a body.
    pub fn set_friction(&mut self, body: u32, friction: f64) -> Result<(), RigidError> {
        check_friction(friction)?;
        self.collider_mut(body)?.set_friction(friction as f32);
        Ok(())
    }

    /// Changes the share of the speed that a bounce keeps.
    pub fn set_restitution(&mut self, body: u32, restitution: f64) -> Result<(), RigidError> {
        check_restitution(restitution)?;
        self.collider_mut(body)?.set_restitution(restitution as f32);
        Ok(())
    }

    /// Changes the rate at which a body's spin dies away, in 1/s.
    pub fn set_spin_damping(&mut self, body: u32, spin_damping: f64) -> Result<(), RigidError> {
        check_spin_damping(spin_damping)?;
        let (kept, engine) = self.get_mut(body)?;
        kept.spin_damping = spin_damping;
        if kept.dynamic {
            engine.set_angular_damping(spin_damping as f32);
        }
        Ok(())
    }

    /// Changes what moves a body: holds it (`Fixed`), lets it go (`Dynamic`), leads it (`Kinematic`, `Path`). It keeps its velocity, unless it is
    /// held; on a path it is where the path is now. Drive and drag wait until forces move it again.
    pub fn set_kind(&mut self, body: u32, kind: Kind) -> Result<(), RigidError> {
        check_kind(&kind)?;
        let (lag, now_s) = (self.lag(), self.time_s());
        let (kept, engine) = self.get_mut(body)?;
        let dynamic = kind == Kind::Dynamic;
        if dynamic {
            kept.bulk.weigh(kept.mass, kept.closed)?;
        }
        if dynamic == kept.dynamic && kept.path.is_empty() && engine.body_type() == body_type(&kind) {
            return Ok(());
        }
        let (old_centre, spin) = (engine.center_of_mass(), engine.angvel());
        let mut velocity = engine.linvel();
        if kept.untouched {
            velocity += to_engine(lag);
        }
        engine.reset_forces(true);
        engine.reset_torques(true);
        engine.set_body_type(body_type(&kind), true);
        engine.set_angular_damping(if dynamic { kept.spin_damping as f32 } else { 0.0 });
        engine.enable_gyroscopic_forces(dynamic);
        (kept.dynamic, kept.untouched) = (dynamic, dynamic);
        if let Some(motor) = &mut kept.motor {
            motor.rest();
        }
        kept.path = if let Kind::Path(keys) = kind { keys } else { Vec::new() };
        if !kept.path.is_empty() {
            engine.set_position(on_path(&kept.path, now_s), true);
        }
        self.apply_mass(body)?;
        let (_, engine) = self.get_mut(body)?;
        if !engine.is_fixed() {
            // The velocity is that of the centre of mass, which may have moved within the body.
            velocity += spin.cross(engine.center_of_mass() - old_centre);
            engine.set_linvel(if dynamic { velocity - to_engine(lag) } else { velocity }, true);
        }
        Ok(())
    }

    /// Gives a body another shape or size. A mass in kg stays, a density gives another mass.
    pub fn set_shape(&mut self, body: u32, shape: &Shape) -> Result<(), RigidError> {
        if shape.has_rings() {
            engine::stiffen(&mut self.engine.integration_parameters);
        }
        let (kept, _) = self.get(body).ok_or(RigidError::NoBody { body })?;
        let built = Built::new(shape)?;
        let (bulk, closed) = built.bulk();
        if kept.dynamic {
            bulk.weigh(kept.mass, closed)?;
        }
        let (place_in_body, engine_shape) = built.into_collider();
        let collider = self.collider_mut(body)?;
        collider.set_shape(engine_shape);
        collider.set_position_wrt_parent(place_in_body);
        let (kept, _) = self.get_mut(body)?;
        (kept.bulk, kept.closed, kept.surface) = (bulk, closed, Surface::of(shape));
        self.apply_mass(body)
    }

    /// Changes gravity, in m/s².
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), RigidError> {
        checked("gravity", gravity)?;
        let old = self.lag();
        self.settings.gravity = gravity;
        self.engine.gravity = to_engine(gravity);
        // Who flies freely keeps its true velocity.
        let change = to_engine(old - self.lag());
        for body in self.bodies.iter().flatten().filter(|b| b.untouched) {
            if let Some(engine) = self.engine.bodies.get_mut(body.handle) {
                engine.set_linvel(engine.linvel() + change, true);
            }
        }
        Ok(())
    }

    /// Takes a body out of the world or puts it back: out of it, it rests where it is and touches nothing.
    pub fn set_present(&mut self, body: u32, present: bool) -> Result<(), RigidError> {
        let (kept, engine) = self.get_mut(body)?;
        (kept.present, kept.frozen) = (present, false);
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

    /// Begins, moves or ends the [drag](Drag) of a body. It pulls while the body is dynamic and waits while it is not.
    pub fn set_drag(&mut self, body: u32, drag: Option<Drag>) -> Result<(), RigidError> {
        drag.iter().try_for_each(Drag::check)?;
        let (kept, engine) = self.get_mut(body)?;
        if kept.drag.is_some() {
            engine.reset_forces(true);
            engine.reset_torques(true);
        }
        kept.drag = drag;
        Ok(())
    }

    /// Gives the engine the mass of a body that forces move.
    fn apply_mass(&mut self, body: u32) -> Result<(), RigidError> {
        let (kept, engine) = self.get_mut(body)?;
        if kept.dynamic {
            let mass_kg = kept.bulk.weigh(kept.mass, kept.closed)?;
            engine.set_additional_mass_properties(kept.bulk.properties(mass_kg), true);
            let handle = kept.handle;
            self.weigh_again(handle);
        }
        Ok(())
    }

    fn collider_mut(&mut self, body: u32) -> Result<&mut Collider, RigidError> {
        let (kept, _) = self.get(body).ok_or(RigidError::NoBody { body })?;
        let collider = kept.collider;
        self.engine.colliders.get_mut(collider).ok_or(RigidError::NoBody { body })
    }
}

fn body_type(kind: &Kind) -> RigidBodyType {
    match kind {
        Kind::Fixed => RigidBodyType::Fixed,
        Kind::Dynamic => RigidBodyType::Dynamic,
        Kind::Kinematic => RigidBodyType::KinematicVelocityBased,
        Kind::Path(_) => RigidBodyType::KinematicPositionBased,
    }
}
