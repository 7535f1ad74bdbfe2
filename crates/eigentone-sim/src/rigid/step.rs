//! One step of the world, and what it has to tell.

use super::World;
use super::friction::Sliding;
use super::motion::on_path;
use super::touch::Pair;
use eigentone_core::contact::{Contact, ContactFrame, Phase, Pose};
use rapier3d::prelude::{ColliderHandle, ContactPair};

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
/// A pose is told again once it has changed by this much (m, quaternion, m/s): far less than what moves a point of contact
/// from one vertex of a mesh to the next.
const MOVED_M: f32 = 1e-5;
const TURNED: f32 = 5e-5;
const SPED_M_S: f32 = 1e-3;

impl World {
    /// Moves everything by one step. Bodies that have not moved since they were last told are left out of the poses, and
    /// contacts are in the order of their bodies' numbers.
    pub fn step(&mut self) -> ContactFrame {
        self.drive();
        for index in 0..self.bodies.len() {
            let body = &self.bodies[index];
            self.bodies[index].before = self.motion_of(body, &self.engine.bodies[body.handle]);
        }
        self.engine.step_with_events(&Sliding, &());
        self.steps += 1;
        for index in 0..self.bodies.len() {
            let body = &self.bodies[index];
            self.bodies[index].after = self.motion_of(body, &self.engine.bodies[body.handle]);
        }
        let contacts = self.contacts();
        for body in contacts.iter().filter(|c| c.phase != Phase::End).flat_map(|c| c.bodies) {
            self.bodies[body as usize].untouched = false;
        }
        let poses = self.moved();
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
                let mut bodies = self.bodies_of(pair);
                bodies.sort_unstable();
                (depth_m > OVERLAP_M).then_some(Overlap { bodies, depth_m })
            })
            .collect();
        overlaps.sort_by_key(|o| o.bodies);
        overlaps
    }

    /// Sets what pulls or leads bodies during the next step.
    fn drive(&mut self) {
        let (step_s, next_s) = (self.settings.step_s, (self.steps + 1) as f64 * self.settings.step_s);
        for body in &mut self.bodies {
            if let Some(motor) = &mut body.motor {
                motor.pull(&mut self.engine.bodies[body.handle], step_s);
            } else if !body.path.is_empty() {
                self.engine.bodies[body.handle].set_next_kinematic_position(on_path(&body.path, next_s));
            }
        }
    }

    fn contacts(&mut self) -> Vec<Contact> {
        let mut contacts = Vec::new();
        for pair in self.engine.contact_pairs() {
            let bodies = self.bodies_of(pair);
            let swapped = bodies[0] > bodies[1];
            let reader = Pair {
                bodies: bodies.map(|b| &self.bodies[b as usize]),
                swapped,
                gravity: self.settings.gravity,
                step_s: self.settings.step_s,
            };
            let points = reader.points(pair, &self.engine.bodies);
            if !points.is_empty() {
                let bodies = if swapped { [bodies[1], bodies[0]] } else { bodies };
                contacts.push(Contact { bodies, points, ..Contact::default() });
            }
        }
        contacts.sort_by_key(|c| c.bodies);
        for contact in &mut contacts {
            let next = self.contacts_made;
            let (id, last) = self.touching.entry(contact.bodies).or_insert((next, self.steps));
            let new = *id == next;
            (contact.id, *last) = (*id, self.steps);
            contact.phase = if new { Phase::Begin } else { Phase::Stay };
            self.contacts_made += u64::from(new);
        }
        let now = self.steps;
        self.touching.retain(|&bodies, &mut (id, last)| {
            if last < now {
                contacts.push(Contact { id, bodies, phase: Phase::End, points: Vec::new() });
            }
            last == now
        });
        contacts.sort_by_key(|c| c.bodies);
        contacts
    }

    fn moved(&mut self) -> Vec<Pose> {
        let mut poses = Vec::new();
        for index in 0..self.bodies.len() {
            let body = &self.bodies[index];
            let pose = self.pose_of(index as u32, body, &self.engine.bodies[body.handle]);
            if body.told.is_none_or(|told| differs(&told, &pose)) {
                self.bodies[index].told = Some(pose);
                poses.push(pose);
            }
        }
        poses
    }

    fn bodies_of(&self, pair: &ContactPair) -> [u32; 2] {
        let number = |collider: ColliderHandle| self.engine.colliders[collider].user_data as u32;
        [number(pair.collider1), number(pair.collider2)]
    }
}

fn differs(old: &Pose, new: &Pose) -> bool {
    let beyond = |a: &[f32], b: &[f32], limit: f32| a.iter().zip(b).any(|(a, b)| (a - b).abs() > limit);
    beyond(&old.position, &new.position, MOVED_M)
        || beyond(&old.rotation, &new.rotation, TURNED)
        || beyond(&old.velocity, &new.velocity, SPED_M_S)
}
