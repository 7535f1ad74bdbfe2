//! One step of the world, and what it has to tell.

use super::body::Body;
use super::friction::Sliding;
use super::ledger::differs;
use super::motion::{Motion, on_path};
use super::touch::{self, Side};
use super::{World, from_engine};
use eigentone_core::Vec3;
use eigentone_core::contact::{Contact, ContactFrame, Phase, Pose};
use rapier3d::prelude::ColliderHandle;

/// Two bodies that overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Which.
    pub bodies: [u32; 2],
    /// How deep, in m.
    pub depth_m: f64,
}

/// Overlaps below this, in m, are how things rest on one another and not worth a warning.
const OVERLAP_M: f64 = 1e-4;

impl World {
    /// Moves everything by one step. Bodies that have not moved since they were last told are left out of the poses, and
    /// contacts are in the order of their bodies' numbers.
    pub fn step(&mut self) -> ContactFrame {
        self.hold_speeds();
        self.drive();
        self.note_motions(|body| &mut body.before);
        self.engine.step_with_events(&Sliding, &());
        self.steps += 1;
        self.freeze_lost();
        self.note_motions(|body| &mut body.after);
        let contacts = self.contacts();
        for number in contacts.iter().filter(|c| c.phase != Phase::End).flat_map(|c| c.bodies) {
            if let Some(body) = &mut self.bodies[number as usize] {
                body.untouched = false;
            }
        }
        let poses = self.moved();
        self.resist_rolling(&contacts);
        ContactFrame { time_s: self.time_s(), step_s: self.settings.step_s, poses, contacts, strains: Vec::new() }
    }

    /// Bodies that overlap by more than a tenth of a millimetre: worth a warning before the first step, for they will be pushed
    /// apart. Does not move anything.
    pub fn initial_overlaps(&mut self) -> Vec<Overlap> {
        let step = std::mem::replace(&mut self.engine.integration_parameters.dt, 0.0);
        self.engine.step();
        self.engine.integration_parameters.dt = step;
        let mut overlaps: Vec<Overlap> = self
            .engine
            .contact_pairs()
            .filter_map(|pair| {
                let depth_m = -f64::from(pair.find_deepest_contact()?.1.dist);
                let mut bodies = [pair.collider1, pair.collider2].map(|c| self.number_of(c));
                bodies.sort_unstable();
                (depth_m > OVERLAP_M).then_some(Overlap { bodies, depth_m })
            })
            .collect();
        overlaps.sort_by_key(|o| o.bodies);
        overlaps
    }

    fn note_motions(&mut self, slot: impl Fn(&mut Body) -> &mut Motion) {
        for number in 0..self.bodies.len() {
            if let Some(body) = &self.bodies[number]
                && let Some(engine) = self.engine.bodies.get(body.handle)
            {
                let motion = self.motion_of(body, engine);
                self.bodies[number].as_mut().into_iter().for_each(|body| *slot(body) = motion);
            }
        }
    }

    /// Sets what pulls or leads bodies during the next step.
    fn drive(&mut self) {
        let (step_s, next_s) = (self.settings.step_s, (self.steps + 1) as f64 * self.settings.step_s);
        let lag = self.lag();
        for body in self.bodies.iter_mut().flatten() {
            if !body.path.is_empty() {
                self.engine.bodies[body.handle].set_next_kinematic_position(on_path(&body.path, next_s));
            }
            if !body.dynamic {
                continue;
            }
            if let Some(motor) = &mut body.motor {
                motor.pull(&mut self.engine.bodies[body.handle], step_s);
            }
            if let Some(drag) = &body.drag {
                let engine = &mut self.engine.bodies[body.handle];
                if body.motor.is_none() {
                    engine.reset_forces(false);
                }
                engine.reset_torques(false);
                let late = if body.untouched { lag } else { Vec3::ZERO };
                drag.pull(engine, from_engine(engine.linvel()) + late, step_s, self.settings.substeps);
            }
        }
    }

    fn contacts(&mut self) -> Vec<Contact> {
        let side = |collider| {
            let number = self.number_of(collider);
            let body = self.bodies.get(number as usize)?.as_ref()?;
            Some(Side {
                number,
                before: body.before,
                after: body.after,
                pull: if body.dynamic { self.settings.gravity } else { Vec3::ZERO },
                surface: body.surface,
                place: body.before.place,
            })
        };
        let contacts = touch::contacts(self.engine.contact_pairs(), &self.engine.bodies, self.settings.step_s, side);
        self.ledger.enter(contacts)
    }

    fn moved(&mut self) -> Vec<Pose> {
        let mut poses = Vec::new();
        for number in 0..self.bodies.len() {
            let Some((body, engine)) = self.get(number as u32) else { continue };
            let pose = self.pose_of(number as u32, body, engine);
            if body.told.is_none_or(|told| differs(&told, &pose)) {
                poses.push(pose);
            }
        }
        for pose in &poses {
            self.bodies[pose.body as usize].as_mut().into_iter().for_each(|body| body.told = Some(*pose));
        }
        poses
    }

    fn number_of(&self, collider: ColliderHandle) -> u32 {
        self.engine.colliders.get(collider).map_or(u32::MAX, |c| c.user_data as u32)
    }
}
