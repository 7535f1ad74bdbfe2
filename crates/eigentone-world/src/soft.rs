//! Soft bodies: finite elements whose moving surface is the sound.
//!
//! They are moved in steps of microseconds by a [`SoftWorld`]: offline in turns with everything else, live on a thread of its own, so that rigid bodies never wait. Rigid bodies are moving colliders for them; what they give to those
//! comes back with the next step, as an impulse that moves and, where a body has a model, as a force that rings.

mod keep;
mod stage;
mod tape;
mod thread;

pub(crate) use keep::SoftMotion;
pub use stage::SoftStats;
pub use tape::SoftRecord;

use crate::body::{Body, Kind};
use crate::error::WorldError;
use crate::events::{EventKind, WorldEvent};
use crate::key::BodyKey;
use crate::out::VoiceWriter;
use crate::settings::{Settings, Timing};
use crate::shape::{Collider as Form, Shape};
use crate::world::World;
use eigentone_core::Vec3;
use eigentone_core::event::Moment;
use eigentone_core::model::SiteBlend;
use eigentone_sim::soft::collider::Shape as Solid;
use eigentone_sim::soft::radiate::Radiation;
use eigentone_sim::soft::recoil::Inertia;
use eigentone_sim::soft::{Collider, SoftBody, SoftWorld};
use eigentone_synth::{Keyframe, PointState};
use stage::{Command, Impulse, NewCollider, Report, Stage, Told};
use std::collections::BTreeSet;
use tape::Tape;
use thread::Runner;

/// A soft body before it is in the world.
#[derive(Clone, Debug)]
pub struct SoftSpec {
    /// Its tetrahedra in their place, its material, its motion.
    pub body: SoftBody,
    /// Where its nodes are at first, if not at rest.
    pub start: Option<Vec<Vec3>>,
    /// What its surface sends.
    pub radiation: Radiation,
}

/// Samples of sound that soft bodies may be ahead or behind by, in s.
const ROOM_S: f64 = 1.0;

/// More than this behind, soft bodies are given no more to do until they have caught up, in s.
const BACKLOG_S: f64 = 0.25;

/// A clip of force ends in silence of this length, in s: the end of a contact is faded.
const FADE_S: f64 = 0.0101;

/// Soft bodies of a world.
pub(crate) struct SoftBodies {
    runner: Option<Runner>,
    live: bool,
    rate_hz: f64,
    step_s: Option<f64>,
    /// Whether its clock has begun.
    started: bool,
    /// Counts how often it went back or began anew, so that what is on its way from before is passed over.
    epoch: u64,
    /// Reports taken in.
    taken: u64,
    /// Game time at which the soft world's clock began.
    began_s: f64,
    /// Samples that were asked for since then.
    ordered: u64,
    /// Samples that were asked for and not reported, also from before it went back: that work has to be done as well.
    owed: u64,
    /// Rigid bodies that it knows.
    colliders: BTreeSet<u32>,
    stats: SoftStats,
    slow_told: bool,
    tape: Option<Tape>,
}

impl SoftBodies {
    pub fn new(settings: &Settings) -> Self {
        Self {
            runner: None,
            live: matches!(settings.timing, Timing::Live { .. }),
            rate_hz: settings.sample_rate_hz,
            step_s: settings.soft_step_s,
            started: false,
            epoch: 0,
            taken: 0,
            began_s: 0.0,
            ordered: 0,
            owed: 0,
            colliders: BTreeSet::new(),
            stats: SoftStats::default(),
            slow_told: false,
            tape: None,
        }
    }

    /// Begins anew with the next body.
    pub fn stop(&mut self) {
        if let Some(runner) = &mut self.runner
            && std::mem::take(&mut self.started)
        {
            self.epoch += 1;
            self.colliders.clear();
            runner.send(Command::Clear { epoch: self.epoch });
        }
    }

    /// Somebody else's time has made a jump.
    pub fn shift(&mut self, by_s: f64) {
        self.began_s += by_s;
    }

    pub fn set_gravity(&mut self, gravity: Vec3) {
        if let Some(runner) = &mut self.runner {
            runner.send(Command::Gravity(gravity));
        }
    }

    pub fn remove(&mut self, key: BodyKey) {
        if let Some(runner) = &mut self.runner {
            runner.send(Command::Remove(key));
            if self.colliders.remove(&key.number()) {
                runner.send(Command::RemoveCollider(key.number()));
            }
        }
    }
}

impl World {
    /// Adds a soft body: it moves, is touched, and is heard by its surface. The world's own clock for soft bodies begins with the first.
    ///
    /// # Errors
    /// If its mesh or material makes no sense, it would need impossibly short steps, or there is no room.
    pub fn insert_soft(&mut self, name: impl Into<String>, spec: SoftSpec) -> Result<BodyKey, WorldError> {
        self.insert(Body::soft(spec).name(name))
    }

    /// Tells of contacts of soft bodies that still last, as if they ended now: at the end of a render.
    pub fn end_soft_contacts(&mut self) {
        if let Some(runner) = &mut self.soft.runner {
            runner.send(Command::End);
            self.take_soft();
        }
    }

    /// What soft bodies have taken so far.
    pub fn soft_stats(&self) -> SoftStats {
        let behind_s = self.soft.owed as f64 / self.soft.rate_hz;
        SoftStats { behind_s, ..self.soft.stats }
    }

    /// The simulation of soft bodies, for pictures; `None` without any, or while a thread of its own has it.
    pub fn soft_world(&self) -> Option<&SoftWorld> {
        self.soft.runner.as_ref().and_then(Runner::world)
    }

    /// Starts the soft body that a body is.
    pub(crate) fn start_soft(&mut self, key: BodyKey) -> Result<(), WorldError> {
        let Some(spec) = self.state(key)?.body.soft.clone() else { return Ok(()) };
        // Refused here and now, not on another thread.
        spec.body.material.check()?;
        self.need_runner()?;
        if !std::mem::replace(&mut self.soft.started, true) {
            (self.soft.began_s, self.soft.ordered) = (self.time.now_s, 0);
            let all: Vec<BodyKey> = self.bodies.iter().map(|(key, _)| key).collect();
            all.into_iter().for_each(|key| self.tell_soft(key));
        }
        let writer = self.open_soft_voice(key)?;
        if let Some(runner) = &mut self.soft.runner {
            runner.send(Command::Insert { key, spec, writer });
        }
        let report = self.soft.runner.as_mut().map(Runner::reports).unwrap_or_default();
        for report in report {
            if let Some(Told::Failed { why, .. }) = report.failed_for(key) {
                return Err(WorldError::Model { name: self.state(key)?.body.name.clone(), why: why.clone() });
            }
            self.take_report(report);
        }
        Ok(())
    }

    /// Who moves soft bodies is there.
    fn need_runner(&mut self) -> Result<(), WorldError> {
        if self.soft.runner.is_none() {
            let gravity = self.settings.gravity;
            let stage = Stage::new(gravity, self.soft.rate_hz, self.soft.step_s, self.settings.step_s)?;
            self.soft.runner = Some(if self.soft.live { Runner::thread(stage)? } else { Runner::in_turns(stage) });
        }
        Ok(())
    }

    /// The samples of a soft body, from where its world is now.
    fn open_soft_voice(&mut self, key: BodyKey) -> Result<VoiceWriter, WorldError> {
        let from_s = self.soft.began_s + self.soft.ordered as f64 / self.soft.rate_hz;
        let begin = self.moment(from_s).sample;
        self.open_voice(key, (ROOM_S * self.soft.rate_hz) as usize, Some(begin))
    }

    /// Soft bodies learn of a rigid one.
    pub(crate) fn tell_soft(&mut self, key: BodyKey) {
        let (Some(live), true) = (self.bodies.get(key), self.soft.started) else { return };
        let number = key.number();
        let known = self.soft.colliders.contains(&number);
        let wanted = if live.rigid && live.body.present { solid(&live.body.shape) } else { None };
        let friction = live.body.friction.unwrap_or(f64::from(live.surface.texture().friction));
        let moves = live.body.moves();
        let inertia = moves.then(|| inertia(&live.body.shape, live.mass_kg));
        let position = Vec3::from_array(live.pose.position.map(f64::from));
        let rotation = glam::DQuat::from_array(live.pose.rotation.map(f64::from));
        let name = live.body.name.clone();
        let Some(runner) = &mut self.soft.runner else { return };
        if known {
            runner.send(Command::RemoveCollider(number));
            self.soft.colliders.remove(&number);
        }
        if let Some(shape) = wanted {
            let collider = Collider { name, shape, friction };
            runner.send(Command::Collider(Box::new(NewCollider { number, collider, inertia, position, rotation })));
            self.soft.colliders.insert(number);
        }
    }

    /// Lets soft bodies move until a game time.
    pub(crate) fn run_soft(&mut self, end_s: f64) {
        let (Some(runner), true) = (&mut self.soft.runner, self.soft.started) else { return };
        let until = ((end_s - self.soft.began_s) * self.soft.rate_hz + 1e-6).max(0.0) as u64;
        let behind_s = self.soft.owed as f64 / self.soft.rate_hz;
        if until <= self.soft.ordered || behind_s > BACKLOG_S {
            return;
        }
        let mut poses = Vec::new();
        let rigid = self.rigid.get();
        for &number in &self.soft.colliders {
            if let (Some(pose), Some(velocity), Some(spin)) =
                (rigid.pose(number), rigid.origin_velocity(number), rigid.spin(number))
            {
                let position = Vec3::from_array(pose.position.map(f64::from));
                let rotation = glam::DQuat::from_array(pose.rotation.map(f64::from));
                poses.push((number, position, rotation, velocity, spin));
            }
        }
        let samples = (until - self.soft.ordered) as usize;
        let span_s = [self.soft.ordered, until].map(|n| self.soft.began_s + n as f64 / self.soft.rate_hz);
        let taped = self.soft.tape.as_mut().map(|tape| tape.order(span_s, &self.bodies));
        let listener = self.listener.position;
        runner.send(Command::Run { samples, poses, listener, taken: self.soft.taken, taped });
        self.soft.ordered = until;
        self.soft.owed += samples as u64;
        self.take_soft();
    }

    /// Takes in what soft bodies have done.
    pub(crate) fn take_soft(&mut self) {
        let reports = self.soft.runner.as_mut().map(Runner::reports).unwrap_or_default();
        reports.into_iter().for_each(|report| self.take_report(report));
    }

    fn take_report(&mut self, report: Report) {
        self.soft.taken = report.number + 1;
        self.soft.owed = self.soft.owed.saturating_sub(report.samples);
        if report.epoch != self.soft.epoch {
            return;
        }
        self.soft.stats = report.stats;
        let slow = self.soft.live && report.stats.cost > 1.0;
        if slow && !self.soft.slow_told {
            let times_real_time = report.stats.cost;
            self.say(WorldEvent { time_s: self.time.now_s, kind: EventKind::SoftTooSlow { times_real_time } });
        }
        self.soft.slow_told = slow;
        for told in report.told {
            match told {
                Told::Centre { key, centre } => {
                    if let Some(live) = self.bodies.get_mut(key) {
                        live.pose.position = centre.to_array().map(|x| x as f32);
                        live.excited = true;
                    }
                }
                Told::Impulse(impulse) => self.push_back(&impulse),
                Told::Force { number, local_point, local_direction, first_sample, force_n } => {
                    self.ring(number, local_point, local_direction, first_sample, force_n);
                }
                Told::Touch { time_s, key, other, number, position, impulse_ns } => {
                    let other = other.or(number.and_then(|n| self.bodies.key_of(n)));
                    let kind = EventKind::Impact {
                        bodies: [Some(key), other],
                        position: position.to_array().map(|x| x as f32),
                        impulse_ns: impulse_ns.length() as f32,
                        approach_m_s: None,
                        particle: None,
                    };
                    self.say(WorldEvent { time_s: self.soft.began_s + time_s, kind });
                }
                Told::Surface { key, time_s, positions } => {
                    let time_s = self.soft.began_s + time_s;
                    self.keep_record(SoftRecord::Surface { body: key, time_s, positions });
                }
                Told::Sound { key, time_s, samples } => {
                    let time_s = self.soft.began_s + time_s;
                    self.keep_record(SoftRecord::Sound { body: key, time_s, samples });
                }
                Told::Failed { key, why } => {
                    self.say(WorldEvent { time_s: self.time.now_s, kind: EventKind::SoftFailed { body: key, why } });
                }
            }
        }
    }

    /// What a rigid body got of a soft one moves it in its next step.
    fn push_back(&mut self, &Impulse { number, impulse_ns, local_point }: &Impulse) {
        let rigid = self.rigid.get();
        if let Some(pose) = rigid.pose(number) {
            // A body that has been removed meanwhile needs no push.
            let _ = rigid.push(number, impulse_ns, pose.to_world(local_point));
        }
    }

    /// A soft body that presses on one with a model rings it, sample by sample.
    fn ring(&mut self, number: u32, local_point: Vec3, local_direction: Vec3, first_sample: u64, force_n: Vec<f32>) {
        let Some(key) = self.bodies.key_of(number) else { return };
        let Some(id) = self.bodies.get(key).and_then(|live| live.engine) else { return };
        let Some(contact) = self.model(key).and_then(|model| model.nearest_contact(local_point)) else { return };
        let time_s = self.soft.began_s + first_sample as f64 / self.soft.rate_hz;
        let direction = local_direction.to_array().map(|x| x as f32);
        let first = Keyframe {
            time: Moment { fraction: 0.0, ..self.moment(time_s) },
            points: [PointState::default(); eigentone_synth::engine::POINTS],
            sites: [contact.blend, SiteBlend::single(0)],
            directions: [direction, [0.0; 3]],
        };
        let mut force = force_n;
        force.resize(force.len() + (FADE_S * self.soft.rate_hz) as usize, 0.0);
        self.wake(key);
        let played = self.engine.get().play([Some(id), None], force, 0.0, first);
        self.counts.shed += u64::from(played.is_err());
    }
}

impl Body {
    /// A body of finite elements, that deforms and is heard by its surface.
    pub fn soft(spec: SoftSpec) -> Self {
        let shape = Shape::mesh(spec.body.surface().0).with_collider(Form::None);
        let body = Self::voice_at(centre_of(&spec.body));
        Self { kind: Kind::External, shape, soft: Some(std::sync::Arc::new(spec)), ..body }
    }
}

fn centre_of(body: &SoftBody) -> Vec3 {
    let count = body.mesh.positions.len().max(1) as f64;
    body.mesh.positions.iter().copied().sum::<Vec3>() / count
}

/// What soft bodies feel of a shape, in its own frame; `None` if they do not.
fn solid(shape: &Shape) -> Option<Solid> {
    let (centre, rotation) = (Vec3::ZERO, glam::DQuat::IDENTITY);
    Some(match shape.collider {
        Form::None => return None,
        Form::Floor => Solid::Plane { point: Vec3::ZERO, normal: Vec3::Z },
        Form::Box { half } => Solid::Cuboid { centre, half_m: half, rotation },
        Form::Sphere { radius } => Solid::Sphere { centre, radius_m: radius },
        Form::Cylinder { half_height, radius } => {
            Solid::Cylinder { centre, radius_m: radius, half_height_m: half_height, rotation }
        }
        Form::Hull => Solid::hull(&shape.mesh.positions).ok()?,
        Form::Ring { .. } | Form::Decomposed | Form::Triangles => Solid::mesh((*shape.mesh).clone()).ok()?,
    })
}

/// What a free rigid body resists with, as a ball of the same size.
fn inertia(shape: &Shape, mass_kg: f64) -> Inertia {
    Inertia::uniform(mass_kg, 0.4 * 0.5 * shape.mesh.diagonal())
}
