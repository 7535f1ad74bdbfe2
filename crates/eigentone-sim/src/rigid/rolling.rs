//! Rolling resistance: what rolls slowly comes to rest.
//!
//! A body that rolls under a normal force `N` at a distance `r` from its centre of mass is held back by the torque `c N r` against its spin, whatever its speed: a ball is slowed by `5/7 c g`. A torque that goes
//! with the speed alone never ends the rocking of a round bottom made of facets, each of which gives back a little of what the others took.

use super::{World, from_engine, to_engine};
use eigentone_core::Vec3;
use eigentone_core::contact::{Contact, Phase};

impl World {
    /// Slows the spin of bodies with rolling resistance by what their contacts carried in this step.
    pub(super) fn resist_rolling(&mut self, contacts: &[Contact]) {
        for (number, body) in self.bodies.iter().enumerate() {
            let Some(body) = body.as_ref().filter(|b| b.dynamic && b.present && b.rolling_resistance > 0.0) else {
                continue;
            };
            let engine = &mut self.engine.bodies[body.handle];
            let centre = from_engine(engine.center_of_mass());
            let carried: f64 = contacts
                .iter()
                .filter(|c| c.phase != Phase::End && c.bodies.contains(&(number as u32)))
                .flat_map(|c| &c.points)
                .map(|p| {
                    let arm_m = Vec3::from_array(p.position.map(f64::from)).distance(centre);
                    f64::from(p.normal_impulse_ns) * arm_m
                })
                .sum();
            let spin = from_engine(engine.angvel());
            let Some(axis) = spin.try_normalize().filter(|_| carried > 0.0) else { continue };
            let inertia = engine.mass_properties().effective_world_inv_inertia;
            let slower = body.rolling_resistance * carried * from_engine(inertia * to_engine(axis));
            // It brakes and never drives.
            let left = if slower.dot(axis) < spin.length() { spin - slower } else { Vec3::ZERO };
            engine.set_angvel(to_engine(left), false);
        }
    }
}
