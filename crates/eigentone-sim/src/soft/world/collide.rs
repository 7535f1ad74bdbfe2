//! Colliders that come, go and move, contact with them, and what they get of it.

use super::step::NODE_CHUNK;
use super::{DEEPEST, Near, Nodes, SoftWorld};
use crate::soft::ColliderId;
use crate::soft::collider::{Collider, Shape, Spring, THIN};
use crate::soft::events::{Partner, Touch};
use crate::soft::feedback::{Blow, ColliderImpulse, ContactForce};
use crate::soft::kernel::Four;
use crate::soft::motion::{DELAY_STEPS, Motion, Pose};
use crate::soft::recoil::{Inertia, Recoil};
use eigentone_core::Vec3;
use glam::DQuat;
use rayon::prelude::*;
use std::sync::Arc;

/// How fast a node that was found deep in a collider that moves is set free, in m/s. At once it would be torn off its neighbours.
const FREED_M_S: f64 = 2.0;

/// A collider in its place.
#[derive(Clone, Debug)]
pub(in crate::soft) struct Placed {
    id: ColliderId,
    collider: Arc<Collider>,
    /// `None` until it is moved: its shape is in world coordinates.
    motion: Option<Motion>,
    recoil: Option<Recoil>,
    /// In this step.
    pose: Pose,
    /// Deepest that a node may get, in m.
    deepest_m: f64,
    /// Farthest of its surface from its origin, in m.
    reach_m: f64,
}

impl Placed {
    fn new(id: ColliderId, mut collider: Collider) -> Self {
        if collider.friction.is_nan() || collider.friction < 0.0 {
            collider.friction = 0.0;
        }
        let plain = matches!(collider.shape, Shape::Plane { .. } | Shape::Sphere { .. } | Shape::Cuboid { .. });
        let deepest_m = if plain { f64::INFINITY } else { THIN * collider.shape.thickness_m() };
        let reach_m = collider.shape.reach_m();
        Self { id, collider: Arc::new(collider), motion: None, recoil: None, pose: Pose::REST, deepest_m, reach_m }
    }

    /// How deep a point is inside, and the way out; `None` outside.
    fn depth(&self, p: Vec3) -> Option<(f64, Vec3)> {
        if self.motion.is_none() {
            return self.collider.depth(p);
        }
        let (depth_m, out) = self.collider.depth(self.pose.to_local(p))?;
        Some((depth_m, self.pose.rotation * out))
    }

    /// How far a point outside is from it, at least, in m.
    pub fn distance_m(&self, p: Vec3) -> f64 {
        self.collider.distance_m(if self.motion.is_none() { p } else { self.pose.to_local(p) })
    }

    fn place(&mut self, told: Pose, now_s: f64, step_s: f64) {
        self.motion = Some(Motion::placed(told, now_s, step_s));
        self.pose = self.motion.map_or(Pose::REST, |motion| motion.at(now_s));
        self.deepest_m = THIN * self.collider.shape.thickness_m();
        if let Some(recoil) = &mut self.recoil {
            recoil.forget();
        }
    }
}

impl SoftWorld {
    /// Puts something rigid into the world. It stays where its shape is until it is moved; from then on its shape is in coordinates of its own. Where numbers of the shape make no sense, it is never
    /// touched.
    pub fn insert_collider(&mut self, collider: Collider) -> ColliderId {
        let id = ColliderId(self.next_id[1]);
        self.next_id[1] += 1;
        self.colliders.push(Placed::new(id, collider));
        self.near = Near::default();
        id
    }

    /// Takes a collider out of the world; gives false if it is gone already. Impulses that were not drained are lost.
    pub fn remove_collider(&mut self, id: ColliderId) -> bool {
        let Some(number) = self.collider_number(id) else { return false };
        self.colliders.remove(number);
        self.feedback.remove(id);
        self.touches.end(|_, partner| partner == Partner::Collider(id));
        self.near = Near::default();
        true
    }

    /// Tells a collider where a rigid body is that it stands for, once in each step of the simulation that moves it. Between, it follows without kinks, `collider_delay_s` late (see [`motion`](crate::soft::motion)). The
    /// first time, and if it jumps, it is placed there at once. `velocity` is that of the point `position`. Gives false if there is no such collider or a number makes no sense; it then goes on
    /// as before.
    pub fn move_collider(
        &mut self,
        id: ColliderId,
        position: Vec3,
        rotation: DQuat,
        velocity: Vec3,
        spin: Vec3,
    ) -> bool {
        let told = Pose { position, rotation, velocity, spin };
        let (now_s, step_s) = (self.time_s(), self.collider_step_s);
        let Some(number) = self.collider_number(id).filter(|_| told.is_usable()) else { return false };
        let told = Pose { rotation: rotation.normalize(), ..told };
        let (placed, fall) = (&mut self.colliders[number], self.gravity * step_s);
        let followed = match &mut placed.motion {
            Some(motion) => {
                if let Some(recoil) = &mut placed.recoil {
                    recoil.follow(motion, velocity, now_s, fall);
                }
                motion.follow(told, now_s, step_s)
            }
            None => false,
        };
        if !followed {
            placed.place(told, now_s, step_s);
            self.near = Near::default();
        }
        true
    }

    /// Puts a collider somewhere else at once, at rest. Gives false if there is no such collider or a number makes no sense.
    pub fn place_collider(&mut self, id: ColliderId, position: Vec3, rotation: DQuat) -> bool {
        let told = Pose { position, rotation, ..Pose::REST };
        let (now_s, step_s) = (self.time_s(), self.collider_step_s);
        let Some(number) = self.collider_number(id).filter(|_| told.is_usable()) else { return false };
        self.colliders[number].place(Pose { rotation: rotation.normalize(), ..told }, now_s, step_s);
        self.near = Near::default();
        true
    }

    /// Tells what a collider resists with that stands for a free rigid body: it then gives way at once where soft bodies push it, not only once the rigid simulation has been told (see
    /// [`recoil`](crate::soft::recoil)). `None`, as it is at first, is for what does not give way. Gives false if there is no such collider or a number makes no sense.
    pub fn set_collider_inertia(&mut self, id: ColliderId, inertia: Option<Inertia>) -> bool {
        let Some(number) = self.collider_number(id) else { return false };
        let recoil = inertia.and_then(Recoil::new);
        let usable = recoil.is_some() == inertia.is_some();
        if usable {
            self.colliders[number].recoil = recoil;
        }
        usable
    }

    /// Steps of the simulation that moves colliders, in s; 1/480 unless it is set. What makes no sense is not taken.
    pub fn set_collider_step_s(&mut self, step_s: f64) {
        if (1e-6..=1.0).contains(&step_s) {
            self.collider_step_s = step_s;
        }
    }

    /// How late colliders follow what they are told, in s.
    pub fn collider_delay_s(&self) -> f64 {
        DELAY_STEPS * self.collider_step_s
    }

    /// A collider as it was put in, and where it is now.
    pub fn collider(&self, id: ColliderId) -> Option<(&Collider, Pose)> {
        let placed = &self.colliders[self.collider_number(id)?];
        Some((&placed.collider, placed.pose))
    }

    /// All colliders.
    pub fn colliders(&self) -> impl Iterator<Item = (ColliderId, &Collider)> {
        self.colliders.iter().map(|placed| (placed.id, &*placed.collider))
    }

    /// What colliders got of soft bodies since the last call, one for each pair that touched: to be given to rigid bodies before their next step.
    pub fn drain_impulses(&mut self) -> Vec<ColliderImpulse> {
        self.colliders.iter_mut().filter_map(|placed| placed.recoil.as_mut()).for_each(Recoil::drain);
        self.feedback.drain_impulses(self.time_s())
    }

    /// Forces on colliders in the audio samples that have ended since the last call, one for each pair that touched. What nobody takes is kept for a second.
    pub fn drain_forces(&mut self, force: impl FnMut(&ContactForce<'_>)) {
        self.feedback.drain_forces(self.time_s(), self.samples, self.rate_hz, force);
    }

    fn collider_number(&self, id: ColliderId) -> Option<usize> {
        self.colliders.binary_search_by_key(&id, |placed| placed.id).ok()
    }

    /// Moves colliders to where they are in this step. Gives how far a surface moves in it, at most.
    pub(super) fn move_colliders(&mut self, now_s: f64, step_s: f64) -> f64 {
        let mut farthest_m: f64 = 0.0;
        for placed in &mut self.colliders {
            let Some(motion) = &placed.motion else { continue };
            let before = placed.pose;
            placed.pose = match &mut placed.recoil {
                Some(recoil) => recoil.at(motion, now_s, step_s),
                None => motion.at(now_s),
            };
            let moved_m = before.position.distance(placed.pose.position);
            // Twice what it has turned: neither spin is quite that of the time between.
            let turned = 2.0 * before.spin.length().max(placed.pose.spin.length()) * step_s;
            let by_turn_m = if turned > 0.0 { turned * placed.reach_m } else { 0.0 };
            farthest_m = farthest_m.max(moved_m + by_turn_m);
        }
        farthest_m
    }

    /// Contact with what is rigid, then x += Δt v.
    pub(super) fn drift(&mut self, step_s: f64, now_s: f64) {
        let bodies = self.parts.len();
        let most = self.rate_hz as usize;
        // Nodes inside as well: a body that is squeezed flat would else fall through its own skin.
        for &(n, number) in &self.near.pairs {
            let (n, number) = (n as usize, number as usize);
            let (p, placed) = (self.nodes.positions[n].point(), &mut self.colliders[number]);
            let Some((depth_m, out)) = placed.depth(p) else { continue };
            if self.nodes.inverse_kg[n] == 0.0 {
                continue;
            }
            let (skin, part) = (self.nodes.skin[n], &self.parts[self.nodes.body[n] as usize]);
            let mass_kg = self.nodes.mass_kg[n];
            let area_m2 = if skin.area_m2 > 0.0 { skin.area_m2 } else { skin.height_m * skin.height_m };
            let spring = Spring {
                // Of the whole step: a spring that grew stiffer while it is pressed would make energy.
                stiffness_n_m: Spring::stiffness_n_m(part.young_pa, area_m2, skin.height_m, mass_kg, self.step_s),
                mass_kg,
                deepest_m: (DEEPEST * skin.height_m).min(placed.deepest_m),
                friction: (placed.collider.friction * part.friction).sqrt(),
            };
            let surface = if placed.motion.is_some() { placed.pose.velocity_at(p) } else { Vec3::ZERO };
            let relative = self.nodes.velocities[n].point() - surface;
            let change = spring.change(depth_m, out, relative, step_s);
            self.nodes.velocities[n] = self.nodes.velocities[n].plus(1.0, Four::from_point(change));
            let impulse_ns = mass_kg * change;
            let body = self.nodes.body[n] as usize;
            self.touches.add(Touch {
                time_s: now_s,
                end_s: now_s,
                body,
                other: bodies + number,
                body_id: part.id,
                partner: Partner::Collider(placed.id),
                position: p,
                impulse_ns,
            });
            if let Some(recoil) = &mut placed.recoil {
                recoil.push(&placed.pose, p, -impulse_ns);
            }
            let blow = Blow {
                time_s: now_s,
                sample: self.samples,
                point: p,
                local_point: placed.pose.to_local(p),
                impulse_ns: -impulse_ns,
                local_impulse_ns: placed.pose.rotation.inverse() * -impulse_ns,
                normal: out,
                approach_m_s: (-relative.dot(out)).max(0.0),
            };
            self.feedback.add(placed.id, part.id, blow, most);
            // Others may have pushed it in deeper.
            let too_deep_m = (depth_m - spring.deepest_m).max(0.0);
            let freed_m = if placed.motion.is_some() { too_deep_m.min(FREED_M_S * step_s) } else { too_deep_m };
            self.nodes.positions[n] = self.nodes.positions[n].plus(freed_m, Four::from_point(out));
        }
        let Nodes { positions, velocities, .. } = &mut self.nodes;
        let drift = |(x, v): (&mut Four, &Four)| *x = x.plus(step_s, *v);
        if positions.len() < 4 * NODE_CHUNK {
            positions.iter_mut().zip(velocities.iter()).for_each(drift);
        } else {
            positions.par_iter_mut().zip(velocities.par_iter()).with_min_len(NODE_CHUNK).for_each(drift);
        }
    }
}
