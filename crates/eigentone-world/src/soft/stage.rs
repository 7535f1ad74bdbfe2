//! The simulation of soft bodies and their sound, commanded from outside: by the same thread or from another.
//!
//! Commands are done in the order in which they are sent, so a [`Kept`] motion is that of a well-defined step wherever it runs: all that was ordered before has been done, nothing that was ordered later.

use super::SoftSpec;
use crate::exclusive::Exclusive;
use crate::key::BodyKey;
use crate::out::VoiceWriter;
use eigentone_core::Vec3;
use eigentone_sim::soft::radiate::{DrySound, Radiation};
use eigentone_sim::soft::recoil::Inertia;
use eigentone_sim::soft::{Collider, ColliderId, Partner, SoftError, SoftId, SoftWorld, WorldSettings};
use glam::DQuat;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};

/// What the stage is told.
pub(super) enum Command {
    Insert {
        key: BodyKey,
        spec: Arc<SoftSpec>,
        writer: VoiceWriter,
    },
    Remove(BodyKey),
    Collider(Box<NewCollider>),
    RemoveCollider(u32),
    /// Contacts that last end.
    End,
    Run {
        samples: usize,
        poses: Vec<(u32, Vec3, DQuat, Vec3, Vec3)>,
        listener: Vec3,
        /// Reports that have been taken in.
        taken: u64,
        /// What is told for a tape beside the rest.
        taped: Option<Taped>,
    },
    Gravity(Vec3),
    /// Everything begins anew, without bodies.
    Clear {
        epoch: u64,
    },
    /// Keeps how everything moves.
    Keep {
        slot: Arc<OnceLock<Kept>>,
        taken: u64,
    },
    /// Goes back to how everything moved.
    Restore(Box<Restoring>),
}

/// What a tape wants of a run: the samples, and at its end where these nodes are.
pub(super) struct Taped {
    pub surfaces: Vec<(BodyKey, Arc<[u32]>)>,
}

/// How soft bodies moved at a step. Most of it is shared with the world it was taken from.
#[derive(Clone)]
pub(crate) struct Kept {
    world: SoftWorld,
    bodies: BTreeMap<BodyKey, SoftId>,
    colliders: BTreeMap<u32, ColliderId>,
    /// Impulses on rigid bodies that were on their way.
    on_the_way: Vec<Impulse>,
}

/// What is restored, and what of it still has a meaning.
pub(super) struct Restoring {
    pub kept: Arc<OnceLock<Kept>>,
    pub epoch: u64,
    /// The bodies that shall be there, with their sound.
    pub bodies: Vec<(BodyKey, Radiation, VoiceWriter)>,
    pub colliders: Vec<u32>,
}

/// A rigid body as soft ones feel it.
pub(super) struct NewCollider {
    pub number: u32,
    pub collider: Collider,
    pub inertia: Option<Inertia>,
    pub position: Vec3,
    pub rotation: DQuat,
}

/// What it has done.
#[derive(Default)]
pub(super) struct Report {
    /// What has been restored or cleared since begins another; what comes from an earlier one is over.
    pub epoch: u64,
    /// Counted from the first.
    pub number: u64,
    /// Samples done for it.
    pub samples: u64,
    pub stats: SoftStats,
    pub told: Vec<Told>,
}

impl Report {
    pub fn failed_for(&self, body: BodyKey) -> Option<&Told> {
        self.told.iter().find(|told| matches!(told, Told::Failed { key, .. } if *key == body))
    }
}

/// What a rigid body got.
#[derive(Clone, Copy, Debug)]
pub(super) struct Impulse {
    pub number: u32,
    pub impulse_ns: Vec3,
    pub local_point: Vec3,
}

/// One thing it has to tell.
pub(super) enum Told {
    Centre { key: BodyKey, centre: Vec3 },
    Impulse(Impulse),
    Force { number: u32, local_point: Vec3, local_direction: Vec3, first_sample: u64, force_n: Vec<f32> },
    Touch { time_s: f64, key: BodyKey, other: Option<BodyKey>, number: Option<u32>, position: Vec3, impulse_ns: Vec3 },
    Failed { key: BodyKey, why: String },
    Surface { key: BodyKey, time_s: f64, positions: Vec<[f32; 3]> },
    Sound { key: BodyKey, time_s: f64, samples: Vec<f32> },
}

/// What soft bodies have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoftStats {
    /// Bodies.
    pub bodies: usize,
    /// Tetrahedra of all of them.
    pub elements: usize,
    /// Steps in a second of motion.
    pub steps_per_s: f64,
    /// Into how many parts a step was divided, at most.
    pub divided_most: u32,
    /// Seconds of computation per second of motion, lately.
    pub cost: f64,
    /// Motion that has been asked for and not been reported yet, in s.
    pub behind_s: f64,
}

/// A body and its sound.
struct Sounding {
    id: SoftId,
    dry: DrySound,
    /// Samples that belong to the time before it was there.
    skip: usize,
    writer: Exclusive<VoiceWriter>,
    samples: Vec<f32>,
    /// The sample of the soft world's clock that is written next.
    next: u64,
}

/// Soft bodies, what they touch, and what they sound.
pub(super) struct Stage {
    pub world: SoftWorld,
    bodies: BTreeMap<BodyKey, Sounding>,
    colliders: BTreeMap<u32, ColliderId>,
    /// As it began.
    empty: SoftWorld,
    epoch: u64,
    reports: u64,
    /// Impulses of reports that have not been taken in, with their numbers.
    unread: VecDeque<(u64, Impulse)>,
}

impl Stage {
    pub fn new(gravity: Vec3, rate_hz: f64, step_s: Option<f64>, collider_step_s: f64) -> Result<Self, SoftError> {
        let settings = WorldSettings { gravity_m_s2: gravity, step_s, sample_rate_hz: rate_hz, colliders: Vec::new() };
        let mut world = SoftWorld::new(Vec::new(), &settings)?;
        world.set_collider_step_s(collider_step_s);
        Ok(Self {
            empty: world.clone(),
            world,
            bodies: BTreeMap::new(),
            colliders: BTreeMap::new(),
            epoch: 0,
            reports: 0,
            unread: VecDeque::new(),
        })
    }

    /// Does what it is told; `None` if there is nothing to tell.
    pub fn act(&mut self, command: Command) -> Option<Report> {
        match command {
            Command::Insert { key, spec, writer } => {
                let failed = self.insert(key, &spec, writer).err()?;
                Some(self.report(0, vec![Told::Failed { key, why: failed.to_string() }]))
            }
            Command::Remove(key) => {
                if let Some(body) = self.bodies.remove(&key) {
                    self.world.remove(body.id);
                }
                None
            }
            Command::Collider(new) => {
                let NewCollider { number, collider, inertia, position, rotation } = *new;
                let id = self.world.insert_collider(collider);
                self.world.place_collider(id, position, rotation);
                self.world.set_collider_inertia(id, inertia);
                if let Some(before) = self.colliders.insert(number, id) {
                    self.world.remove_collider(before);
                }
                None
            }
            Command::RemoveCollider(number) => {
                if let Some(id) = self.colliders.remove(&number) {
                    self.world.remove_collider(id);
                }
                None
            }
            Command::End => {
                let mut told = Vec::new();
                self.tell_touches(true, &mut told);
                Some(self.report(0, told))
            }
            Command::Run { samples, poses, listener, taken, taped } => {
                self.forget_read(taken);
                Some(self.run(samples, &poses, listener, taped))
            }
            Command::Gravity(gravity) => {
                self.world.set_gravity(gravity);
                self.empty.set_gravity(gravity);
                None
            }
            Command::Clear { epoch } => {
                self.begin(epoch);
                None
            }
            Command::Keep { slot, taken } => {
                self.forget_read(taken);
                // It is a new one, so it is empty.
                let _ = slot.set(self.keep());
                None
            }
            Command::Restore(restoring) => Some(self.restore(*restoring)),
        }
    }

    /// What has been taken in is no longer on its way.
    fn forget_read(&mut self, taken: u64) {
        while self.unread.front().is_some_and(|(number, _)| *number < taken) {
            self.unread.pop_front();
        }
    }

    fn begin(&mut self, epoch: u64) {
        self.world = self.empty.clone();
        self.bodies.clear();
        self.colliders.clear();
        self.unread.clear();
        self.epoch = epoch;
    }

    fn keep(&self) -> Kept {
        Kept {
            world: self.world.clone(),
            bodies: self.bodies.iter().map(|(key, body)| (*key, body.id)).collect(),
            colliders: self.colliders.clone(),
            on_the_way: self.unread.iter().map(|(_, impulse)| *impulse).collect(),
        }
    }

    /// Goes back. Sound begins anew: filters know nothing of what was.
    fn restore(&mut self, restoring: Restoring) -> Report {
        let Restoring { kept, epoch, bodies, colliders } = restoring;
        // One's own has been filled before this was sent; another world's will be.
        let kept = kept.wait();
        self.begin(epoch);
        self.world = kept.world.clone();
        self.empty.set_gravity(self.world.gravity_m_s2());
        for (key, radiation, writer) in bodies {
            if let Some(&id) = kept.bodies.get(&key) {
                self.listen_to(key, id, radiation, writer);
            }
        }
        for (key, id) in &kept.bodies {
            if !self.bodies.contains_key(key) {
                self.world.remove(*id);
            }
        }
        self.colliders.clone_from(&kept.colliders);
        for (number, id) in &kept.colliders {
            if !colliders.contains(number) {
                self.world.remove_collider(*id);
                self.colliders.remove(number);
            }
        }
        let told = kept.on_the_way.iter().map(|impulse| Told::Impulse(*impulse)).collect();
        self.report(0, told)
    }

    fn insert(&mut self, key: BodyKey, spec: &SoftSpec, writer: VoiceWriter) -> Result<(), SoftError> {
        let id = self.world.insert(spec.body.clone())?;
        if let (Some(start), Some(number)) = (&spec.start, self.world.number(id)) {
            self.world.displace_to(number, start);
        }
        self.listen_to(key, id, spec.radiation, writer);
        Ok(())
    }

    fn listen_to(&mut self, key: BodyKey, id: SoftId, radiation: Radiation, writer: VoiceWriter) {
        let rate_hz = self.world.sample_rate_hz();
        if let Some(dry) = DrySound::new(&self.world, id, rate_hz, radiation) {
            let (skip, next) = (dry.latency(), self.world.samples());
            let writer = Exclusive::new(writer);
            self.bodies.insert(key, Sounding { id, dry, skip, writer, samples: Vec::new(), next });
        }
    }

    /// What there is to tell, with where it stands.
    fn report(&mut self, samples: u64, told: Vec<Told>) -> Report {
        let stats = SoftStats {
            bodies: self.world.len(),
            elements: self.world.element_count(),
            steps_per_s: 1.0 / self.world.step_s(),
            divided_most: self.world.divided_most(),
            cost: self.world.cost(),
            behind_s: 0.0,
        };
        let number = self.reports;
        self.reports += 1;
        self.unread.extend(told.iter().filter_map(|told| match told {
            Told::Impulse(impulse) => Some((number, *impulse)),
            _ => None,
        }));
        Report { epoch: self.epoch, number, samples, stats, told }
    }

    fn run(
        &mut self,
        samples: usize,
        poses: &[(u32, Vec3, DQuat, Vec3, Vec3)],
        listener: Vec3,
        taped: Option<Taped>,
    ) -> Report {
        for &(number, position, rotation, velocity, spin) in poses {
            if let Some(&id) = self.colliders.get(&number) {
                self.world.move_collider(id, position, rotation, velocity, spin);
            }
        }
        let mut told = Vec::new();
        let Self { world, bodies, colliders, .. } = self;
        let toward: Vec<Vec3> =
            bodies.values().map(|body| world.get(body.id).map_or(Vec3::Z, |view| listener - view.centre())).collect();
        let failed = world.advance_samples(samples, |world| {
            for (body, toward) in bodies.values_mut().zip(&toward) {
                let Sounding { dry, samples, .. } = body;
                dry.listen(world, *toward, |y| samples.push(y));
            }
        });
        for (key, body) in bodies.iter_mut() {
            let skipped = body.skip.min(body.samples.len());
            body.skip -= skipped;
            // What finds no room is late already: the audio side has stopped.
            let written = &body.samples[skipped..];
            body.writer.get().write(written);
            if taped.is_some() && !written.is_empty() {
                let time_s = body.next as f64 / world.sample_rate_hz();
                told.push(Told::Sound { key: *key, time_s, samples: written.to_vec() });
            }
            body.next += written.len() as u64;
            body.samples.clear();
            if let Some(view) = world.get(body.id) {
                told.push(Told::Centre { key: *key, centre: view.centre() });
            }
        }
        if let Err(error) = failed {
            let culprit = error.body_id().and_then(|id| bodies.iter().find(|(_, b)| b.id == id).map(|(key, _)| *key));
            if let Some(key) = culprit {
                told.push(Told::Failed { key, why: error.to_string() });
                if let Some(body) = bodies.remove(&key) {
                    world.remove(body.id);
                }
            }
        }
        let number_of = |id: ColliderId| colliders.iter().find(|(_, known)| **known == id).map(|(number, _)| *number);
        for impulse in world.drain_impulses() {
            if let Some(number) = number_of(impulse.collider) {
                let (impulse_ns, local_point) = (impulse.impulse_ns, impulse.local_point);
                told.push(Told::Impulse(Impulse { number, impulse_ns, local_point }));
            }
        }
        world.drain_forces(|force| {
            if let Some(number) = number_of(force.collider) {
                told.push(Told::Force {
                    number,
                    local_point: force.local_point,
                    local_direction: force.local_direction,
                    first_sample: force.first_sample,
                    force_n: force.force_n.to_vec(),
                });
            }
        });
        for (key, nodes) in taped.into_iter().flat_map(|taped| taped.surfaces) {
            let Some(view) = bodies.get(&key).and_then(|body| world.get(body.id)) else { continue };
            let all: Vec<[f32; 3]> = view.positions().map(|p| p.as_vec3().to_array()).collect();
            let positions = nodes.iter().filter_map(|node| all.get(*node as usize).copied()).collect();
            told.push(Told::Surface { key, time_s: world.samples() as f64 / world.sample_rate_hz(), positions });
        }
        self.tell_touches(false, &mut told);
        self.report(samples as u64, told)
    }

    /// Contacts that are over, or all of them.
    fn tell_touches(&mut self, all: bool, told: &mut Vec<Told>) {
        let Self { world, bodies, colliders, .. } = self;
        let number_of = |id: ColliderId| colliders.iter().find(|(_, known)| **known == id).map(|(number, _)| *number);
        let key_of = |id: SoftId| bodies.iter().find(|(_, body)| body.id == id).map(|(key, _)| *key);
        for touch in world.drain_touches(all) {
            let Some(key) = key_of(touch.body_id) else { continue };
            let (other, number) = match touch.partner {
                Partner::Body(id) => (key_of(id), None),
                Partner::Collider(id) => (None, number_of(id)),
            };
            told.push(Told::Touch {
                time_s: touch.time_s,
                key,
                other,
                number,
                position: touch.position,
                impulse_ns: touch.impulse_ns,
            });
        }
    }
}
