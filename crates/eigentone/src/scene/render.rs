//! Plays a scene: simulates, sounds, listens.
//!
//! The simulation runs one step ahead of the sound. Each step gives a [`ContactFrame`], live or from a recording; a [`Tracker`] turns it into blows and sounding contacts; scripted
//! events and hail join them; then the engine renders up to the beginning of that step. Nothing depends on how fast the machine is or how many threads it has.

use super::ear::Ear;
use super::hail::Hail;
use super::plan::{Plan, rigid_shape};
use super::script::Script;
use super::stream::{Recorder, Replay};
use super::{ColliderChoice, Scene};
use crate::engine::{EngineSettings, Placer, Processor, engine};
use crate::level::{self, Level};
use crate::{Error, scene::cache::ModelCache};
use eigentone_core::Vec3;
use eigentone_core::contact::{ContactFrame, Pose};
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::units::Decibels;
use eigentone_modal::Progress;
use eigentone_sim::particles::ImpactMap;
use eigentone_sim::rigid::{BodySpec, Drive, Key, Kind, Mass, World, WorldSettings};
use eigentone_synth::contact::{Happening, Partner, Tracker, TrackerSettings};
use eigentone_synth::{
    BLOCK, BodySettings, BridgeSettings, Budget, Gap, Glide, Handle, Masking, Nonlinear, Playback, Quality, Settings,
    Shaper,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// What a user may set beside the scene file.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// In place of the scene's.
    pub seed: Option<u64>,
    /// In place of the scene's.
    pub budget: Option<usize>,
    /// Write the contact stream here.
    pub record: Option<PathBuf>,
    /// Take the contacts from here instead of simulating.
    pub replay: Option<PathBuf>,
    /// Where models are kept.
    pub cache: ModelCache,
    /// Threads that make models; all cores if not given. The sound does not depend on it.
    pub threads: Option<usize>,
}

/// A scene as it was heard.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// Left and right, full scale at one.
    pub channels: [Vec<f32>; 2],
    /// Samples per second.
    pub sample_rate_hz: u32,
    /// What it took.
    pub stats: RenderStats,
    /// What happened, in the order of time.
    pub events: Vec<EventRecord>,
    /// Where particles struck, if there are any.
    pub impact_map: Option<ImpactMap>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// The numbers of `render --stats`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RenderStats {
    /// Length of the sound.
    pub duration_s: f64,
    /// Samples per second.
    pub sample_rate_hz: f64,
    /// The seed that was used.
    pub seed: u64,
    /// Bodies in the scene.
    pub bodies: usize,
    /// Bodies that sounded at least once.
    pub bodies_heard: usize,
    /// How much happened.
    pub events: EventCounts,
    /// Modes that were computed, and why others were not.
    pub modes: ModeCounts,
    /// Where the time went.
    pub seconds: Seconds,
    /// Length of the sound over the time that it took, models not counted.
    pub realtime_factor: f64,
    /// Length of the sound over the time that the synthesis took.
    pub synthesis_realtime_factor: f64,
    /// Blocks in which more modes were computed than the budget allows: always zero.
    pub over_budget_blocks: u64,
    /// Loudest sample.
    pub peak_dbfs: f64,
    /// Samples that were not numbers: always zero.
    pub non_finite_samples: u64,
    /// Sound pressure of full scale, in Pa.
    pub full_scale_pa: f64,
}

/// How much happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EventCounts {
    /// Blows.
    pub impacts: usize,
    /// Contacts that slid or rolled.
    pub contacts: usize,
}

/// Modes, on the average over all blocks unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ModeCounts {
    /// Of all bodies.
    pub total: usize,
    /// Computed.
    pub mixed_mean: f64,
    /// Most that were computed at once.
    pub mixed_max: u64,
    /// Of bodies that sounded.
    pub awake_mean: f64,
    /// Left out because they were too quiet.
    pub truncated_mean: f64,
    /// Left out because others masked them.
    pub masked_mean: f64,
    /// Left out because the budget was spent.
    pub scaled_mean: f64,
}

/// Wall-clock times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Making models, or reading them.
    pub models: f64,
    /// Moving bodies and particles, and finding out what that does.
    pub simulation: f64,
    /// Sounding.
    pub synthesis: f64,
    /// Placing sounds in space.
    pub propagation: f64,
}

/// One entry of `render --events`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventRecord {
    /// When.
    pub time_s: f64,
    /// What.
    pub kind: EventKind,
    /// Name of the first body; empty for a particle.
    pub body_a: String,
    /// Name of the second.
    pub body_b: String,
    /// Where, in the world.
    pub position: [f32; 3],
    /// Momentum that passed, for blows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impulse_ns: Option<f32>,
    /// Speed at which the surfaces met, for blows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approach_m_s: Option<f32>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A blow.
    Impact,
    /// Sliding or rolling began.
    ContactBegin,
    /// It ended.
    ContactEnd,
}

/// Where contacts come from.
enum Motion {
    Live(Box<World>),
    Replay(Box<Replay>),
}

/// Plays a scene from beginning to end.
///
/// # Errors
/// If something in it cannot be made; names the scene and the body.
pub fn render(scene: &Scene, options: &RenderOptions, progress: &Progress<'_>) -> Result<Rendering, Error> {
    let mut scene = scene.clone();
    scene.seed = options.seed.unwrap_or(scene.seed);
    if options.budget.is_some() {
        scene.quality.budget = options.budget;
    }
    scene.check()?;
    let begin = Instant::now();
    let plan = match options.threads {
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|e| Error::Scene {
                file: scene.file.clone(),
                message: format!("{threads} threads cannot be had: {e}; ask for fewer"),
            })?;
            pool.install(|| Plan::new(&scene, &options.cache, progress))?
        }
        None => Plan::new(&scene, &options.cache, progress)?,
    };
    let models_s = begin.elapsed().as_secs_f64();
    let mut stage = Stage::new(&scene, &plan, options)?;
    stage.seconds.models = models_s;
    stage.play(progress)?;
    stage.finish()
}

/// A scene that is being played.
struct Stage<'a> {
    scene: &'a Scene,
    plan: &'a Plan,
    motion: Motion,
    recorder: Option<Recorder>,
    handle: Handle,
    processor: Processor,
    placer: Placer,
    tracker: Tracker,
    script: Script,
    hail: Option<Hail>,
    ear: Ear,
    /// Of each body: its sound, its pose, and the level and balance that were last sent.
    voices: Vec<Voice>,
    channels: [Vec<f32>; 2],
    events: Vec<EventRecord>,
    modes: ModeCounts,
    heard: Vec<bool>,
    blocks: u64,
    seconds: Seconds,
    over_budget: u64,
    warnings: Vec<String>,
}

#[derive(Clone, Copy)]
struct Voice {
    id: Option<BodyId>,
    pose: Pose,
    level: f64,
    balance: [f64; 2],
}

/// Steps of the simulation after which sound is rendered; a voice keeps at most 16 keyframes.
const STEPS_AT_A_TIME: u64 = 8;

/// Events that can wait in the engine.
const MOST_EVENTS: usize = 1 << 16;

/// Full scale of the engine inside: so high that its limiters have nothing to do; the level of the file is set afterwards.
const INNER_FULL_SCALE_PA: f64 = 1e6;

/// Rate at which spins die away, in 1/s: rolling resistance, tuned so that a tube rolls for a few seconds.
const SPIN_DAMPING: f64 = 0.8;

/// A change of level or balance smaller than this is not worth an event.
const SAME: f64 = 0.01;

impl<'a> Stage<'a> {
    fn new(scene: &'a Scene, plan: &'a Plan, options: &RenderOptions) -> Result<Self, Error> {
        let count = plan.bodies.len();
        let most_modes = plan.bodies.iter().filter_map(|b| b.model.as_ref()).map(|m| m.modes.len()).max();
        let synth = Settings {
            sample_rate_hz: scene.output.sample_rate_hz,
            most_bodies: count.max(1),
            most_modes_per_body: most_modes.unwrap_or(1).max(1),
            most_events: MOST_EVENTS,
            most_bridges: scene.bridges.len().max(1),
            quality: quality(scene),
            ..Settings::default()
        };
        let (mut handle, mut processor) = engine(EngineSettings { synth, full_scale_pa: INNER_FULL_SCALE_PA as f32 })?;
        let placer = processor.placer();
        let settings = TrackerSettings { seed: scene.seed, ..TrackerSettings::default() };
        let mut tracker = Tracker::new(settings, scene.output.sample_rate_hz);
        let mut voices = Vec::with_capacity(count);
        for (number, planned) in plan.bodies.iter().enumerate() {
            let id = planned.model.as_ref().map(|_| handle.add(&body_settings(planned))).transpose()?;
            let pose = Pose {
                position: planned.body.position.map(|x| x as f32),
                rotation: planned.body.rotation.quaternion().map(|x| x as f32),
                ..Pose::at_origin(number as u32)
            };
            voices.push(Voice { id, pose, level: 0.0, balance: [0.0; 2] });
        }
        share(scene, plan, &mut handle, &mut voices)?;
        // Of many bodies with one model, the places on it are sorted once.
        let mut known: BTreeMap<usize, Partner> = BTreeMap::new();
        for (number, planned) in plan.bodies.iter().enumerate() {
            tracker.set_pose(voices[number].pose);
            let mass = if planned.body.is_fixed() { f64::INFINITY } else { planned.mass_kg };
            let sounding = planned.body.shares.as_ref().and_then(|s| plan.find(s)).unwrap_or(number);
            let partner = match (voices[number].id, &plan.bodies[sounding].model) {
                (Some(id), Some(model)) => {
                    let same = Arc::as_ptr(model) as usize;
                    let partner = known.entry(same).or_insert_with(|| Partner::of(id, model.clone(), mass));
                    partner.clone().for_body(id).with_mass(mass)
                }
                _ => Partner::silent().with_mass(mass),
            };
            tracker.add(number as u32, partner.with_surface(planned.surface.clone()));
        }
        let mut warnings = plan.warnings.clone();
        let motion = match &options.replay {
            Some(file) => Motion::Replay(Box::new(Replay::open(file)?)),
            None => Motion::Live(Box::new(world(scene, plan, &mut warnings)?)),
        };
        let ids: Vec<Option<BodyId>> = voices.iter().map(|v| v.id).collect();
        let script = Script::new(scene, plan, &ids, &mut handle, &mut tracker)?;
        Ok(Self {
            scene,
            plan,
            motion,
            recorder: options.record.as_deref().map(Recorder::create).transpose()?,
            script,
            over_budget: 0,
            hail: Hail::new(scene, plan, &ids)?,
            handle,
            processor,
            placer,
            tracker,
            ear: Ear::new(Vec3::from_array(scene.listener.position), Vec3::from_array(scene.listener.look)),
            heard: vec![false; count],
            voices,
            channels: Default::default(),
            events: Vec::new(),
            modes: ModeCounts::default(),
            blocks: 0,
            seconds: Seconds::default(),
            warnings,
        })
    }

    fn play(&mut self, progress: &Progress<'_>) -> Result<(), Error> {
        let step_s = self.scene.physics.step_s;
        let end_s = self.scene.duration_s + self.scene.output.tail_s.unwrap_or(0.0);
        let steps = (end_s / step_s).ceil() as u64;
        self.place_all();
        for step in 1..=steps {
            if step % 64 == 0 {
                progress.report("rendering", step as f64 / steps as f64);
            }
            let begin = Instant::now();
            let time_s = step as f64 * step_s;
            for frame in self.frames(step)? {
                if let Some(recorder) = &mut self.recorder {
                    recorder.write(&frame)?;
                }
                for pose in &frame.poses {
                    if let Some(voice) = self.voices.get_mut(pose.body as usize) {
                        voice.pose = *pose;
                    }
                }
                self.tracker.step(&frame, &mut self.handle).map_err(|e| too_much(self.scene, e))?;
            }
            self.script.step(time_s, &mut self.handle, &mut self.tracker, &mut self.events)?;
            if let Some(hail) = &mut self.hail {
                hail.step(time_s.min(self.scene.duration_s), &mut self.handle, &mut self.events)?;
            }
            let names = |n: u32| self.plan.bodies.get(n as usize).map_or(String::new(), |b| b.body.name.clone());
            self.events.extend(self.tracker.drain().map(|h| record(&h, names)));
            self.seconds.simulation += begin.elapsed().as_secs_f64();
            if step % 4 == 0 {
                let begin = Instant::now();
                self.place_all();
                self.seconds.propagation += begin.elapsed().as_secs_f64();
            }
            // Several steps at a time: simulation and synthesis would throw each other out of the cache.
            if step % STEPS_AT_A_TIME == 0 {
                self.listen(time_s - step_s);
            }
        }
        self.listen(end_s + (Processor::LATENCY + BLOCK) as f64 / self.scene.output.sample_rate_hz);
        if let Some(recorder) = self.recorder.take() {
            recorder.finish()?;
        }
        Ok(())
    }

    /// What touches in the next step. A recording may have been made with other steps: all its frames until then.
    fn frames(&mut self, step: u64) -> Result<Vec<ContactFrame>, Error> {
        let step_s = self.scene.physics.step_s;
        let (begin_s, time_s) = ((step - 1) as f64 * step_s, step as f64 * step_s);
        let stopped = time_s > self.scene.physics.stop_s.unwrap_or(f64::INFINITY).min(self.scene.duration_s);
        let nothing = ContactFrame { time_s, step_s, ..ContactFrame::default() };
        match &mut self.motion {
            Motion::Replay(replay) => replay.until(time_s - 1e-6 * step_s, nothing),
            Motion::Live(_) if stopped => Ok(vec![nothing]),
            Motion::Live(world) => {
                move_by_hand(world, self.plan, begin_s, step_s)
                    .and_then(|()| self.script.push(world, step, step_s))
                    .map_err(|e| Error::Scene { file: self.scene.file.clone(), message: e.to_string() })?;
                Ok(vec![world.step()])
            }
        }
    }

    /// Tells bodies how loud they are at the listener, and where between left and right.
    fn place_all(&mut self) {
        for number in 0..self.voices.len() {
            let Voice { id, pose, level, balance } = self.voices[number];
            let (Some(id), Some(_)) = (id, &self.plan.bodies[number].model) else { continue };
            let place = Vec3::from_array(pose.position.map(f64::from));
            let own = Decibels(self.plan.bodies[number].body.gain_db).amplitude();
            let own = self.script.gain(number).unwrap_or(own);
            let (new_level, new_balance) = (own * self.ear.level(place), self.ear.balance(place));
            if (new_level / level - 1.0).abs() > SAME || level == 0.0 {
                let time = Moment { sample: self.processor.clock(), fraction: 0.0 };
                if self.handle.send(Event { time, body: id, action: Action::Gain(new_level as f32) }).is_ok() {
                    self.voices[number].level = new_level;
                }
            }
            if (0..2).any(|c| (new_balance[c] - balance[c]).abs() > SAME)
                && self.placer.place(id, new_balance.map(|g| g as f32))
            {
                self.voices[number].balance = new_balance;
            }
        }
    }

    /// Renders until this time.
    fn listen(&mut self, until_s: f64) {
        let begin = Instant::now();
        let until = (until_s * self.scene.output.sample_rate_hz) as usize;
        let mut block = [[0.0; BLOCK]; 2];
        while self.channels[0].len() + BLOCK <= until {
            let [left, right] = &mut block;
            self.processor.process_stereo(left, right);
            self.channels[0].extend_from_slice(left);
            self.channels[1].extend_from_slice(right);
            let stats = self.processor.stats();
            self.modes.mixed_mean += stats.mixed as f64;
            self.modes.awake_mean += stats.modes as f64;
            self.modes.truncated_mean += stats.truncated as f64;
            self.modes.masked_mean += stats.masked as f64;
            self.modes.scaled_mean += stats.scaled as f64;
            self.over_budget += u64::from(self.scene.quality.budget.is_some_and(|b| stats.mixed > b as u64));
            self.blocks += 1;
        }
        self.seconds.synthesis += begin.elapsed().as_secs_f64();
        for (id, _) in self.processor.sounding() {
            if let Some(heard) = self.heard.get_mut(id.slot as usize) {
                *heard = true;
            }
        }
    }

    fn finish(mut self) -> Result<Rendering, Error> {
        let rate = self.scene.output.sample_rate_hz;
        let end_s = self.scene.duration_s + self.scene.output.tail_s.unwrap_or(0.0);
        let length = (end_s * rate) as usize;
        for channel in &mut self.channels {
            channel.drain(..Processor::LATENCY.min(channel.len()));
            channel.resize(length, 0.0);
            channel.iter_mut().for_each(|y| *y *= INNER_FULL_SCALE_PA as f32);
        }
        let [left, right] = &mut self.channels;
        let wanted = match self.scene.output.full_scale_pa {
            Some(pa) => Level::Physical(Decibels::from_amplitude(level::FULL_SCALE_PA / pa)),
            None => Level::Normalised(Decibels(-3.0)),
        };
        let levelled = level::apply(wanted, &mut [left, right]);
        if levelled.turned_down {
            self.warnings.push("louder than full scale: turned down to −1 dBFS; raise full_scale_pa".to_owned());
        }
        if self.channels.iter().flatten().all(|y| *y == 0.0) {
            let why = "nothing was heard: no body that sounds was struck or scraped, or all of it was quieter than `truncation_pa`";
            self.warnings.push(why.to_owned());
        }
        let peak = self.channels.iter().flatten().fold(0.0f32, |m, y| m.max(y.abs()));
        self.events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let stats = *self.processor.stats();
        let blocks = self.blocks.max(1) as f64;
        let m = &self.modes;
        let modes = ModeCounts {
            total: self.plan.bodies.iter().filter_map(|b| b.model.as_ref()).map(|m| m.modes.len()).sum(),
            mixed_mean: m.mixed_mean / blocks,
            mixed_max: stats.mixed_most,
            awake_mean: m.awake_mean / blocks,
            truncated_mean: m.truncated_mean / blocks,
            masked_mean: m.masked_mean / blocks,
            scaled_mean: m.scaled_mean / blocks,
        };
        let kinds = |kind| self.events.iter().filter(|e| e.kind == kind).count();
        let s = self.seconds;
        let stats = RenderStats {
            duration_s: end_s,
            sample_rate_hz: rate,
            seed: self.scene.seed,
            bodies: self.plan.bodies.len(),
            bodies_heard: self.heard.iter().filter(|h| **h).count(),
            events: EventCounts { impacts: kinds(EventKind::Impact), contacts: kinds(EventKind::ContactBegin) },
            modes,
            seconds: s,
            realtime_factor: end_s / (s.simulation + s.synthesis + s.propagation).max(1e-9),
            synthesis_realtime_factor: end_s / s.synthesis.max(1e-9),
            over_budget_blocks: self.over_budget,
            peak_dbfs: if peak > 0.0 { Decibels::from_amplitude(f64::from(peak)).get() } else { -200.0 },
            non_finite_samples: self.processor.non_finite_samples(),
            full_scale_pa: level::FULL_SCALE_PA / levelled.gain.amplitude(),
        };
        Ok(Rendering {
            channels: self.channels,
            sample_rate_hz: rate as u32,
            stats,
            events: self.events,
            impact_map: self.hail.map(Hail::into_map),
            warnings: self.warnings,
        })
    }
}

/// A scene that asks for more than the engine has room for.
fn too_much(scene: &Scene, error: eigentone_synth::EngineError) -> Error {
    match error {
        eigentone_synth::EngineError::QueueFull => Error::Scene {
            file: scene.file.clone(),
            message: format!("more than {MOST_EVENTS} things happen within one step; spread them, or leave some out"),
        },
        other => other.into(),
    }
}

fn record(h: &Happening, name: impl Fn(u32) -> String) -> EventRecord {
    use eigentone_synth::contact::What;
    let (kind, impulse_ns, approach_m_s) = match h.what {
        What::Impact { impulse_ns, approach_m_s } => (EventKind::Impact, Some(impulse_ns), Some(approach_m_s)),
        What::Begin => (EventKind::ContactBegin, None, None),
        What::End => (EventKind::ContactEnd, None, None),
    };
    EventRecord {
        time_s: h.time_s,
        kind,
        body_a: name(h.bodies[0]),
        body_b: name(h.bodies[1]),
        position: h.position,
        impulse_ns,
        approach_m_s,
    }
}

/// What may be left out. Unlike the engine's own default nothing is masked unless the scene says so: a file is listened to more than once.
fn quality(scene: &Scene) -> Quality {
    let q = &scene.quality;
    Quality {
        truncation_pa: q.truncation_pa as f32,
        masking: q.masking_offset_db().map(|offset_db| Masking {
            offset_db: offset_db as f32,
            playback: Playback::TotalAt(q.playback_db as f32),
            compensate: q.compensate,
        }),
        budget: q.budget.map(|modes| Budget { modes, slope: q.slope as f32 }),
    }
}

fn body_settings(planned: &super::plan::Planned) -> BodySettings {
    let body = &planned.body;
    let Some(model) = planned.model.clone() else { unreachable!("only bodies with a model are added") };
    let mut settings = BodySettings::new(model);
    settings.strain_sensitivity = body.strain_sensitivity as f32;
    settings.glide =
        body.glide.map(|g| Glide { amount: g.amount as f32, energy_pa2: g.energy_pa2 as f32, focus: g.focus as f32 });
    settings.nonlinear = body.nonlinear.map(|n| Nonlinear {
        sections: n.sections,
        coupling: n.coupling as f32,
        reference_pa: n.reference_pa as f32,
        shaper: match n.shaper {
            super::ShaperChoice::Square => Shaper::Square,
            super::ShaperChoice::SignedSquare => Shaper::SignedSquare,
            super::ShaperChoice::Saturating => Shaper::Saturating,
        },
    });
    if let Some(bands) = &body.diffuse {
        settings.diffuse = bands.clone();
    }
    settings
}

/// Bodies that sound through others.
fn share(scene: &Scene, plan: &Plan, handle: &mut Handle, voices: &mut [Voice]) -> Result<(), Error> {
    for (number, planned) in plan.bodies.iter().enumerate() {
        let Some(other) = &planned.body.shares else { continue };
        let with = plan.find(other).and_then(|other| voices[other].id).ok_or_else(|| Error::Scene {
            file: scene.file.clone(),
            message: format!("body `{}` shares `{other}`, which does not sound", planned.body.name),
        })?;
        voices[number].id = Some(handle.share(with, 1.0)?);
    }
    for bridge in &scene.bridges {
        let find = |name: &str| plan.find(name).and_then(|n| Some((n, voices[n].id?)));
        let silent = |name: &str| Error::Scene {
            file: scene.file.clone(),
            message: format!("a [[bridge]] names `{name}`, which does not sound"),
        };
        let (_, from) = find(&bridge.from).ok_or_else(|| silent(&bridge.from))?;
        let (to_number, to) = find(&bridge.to).ok_or_else(|| silent(&bridge.to))?;
        let Some(model) = &plan.bodies[to_number].model else { return Err(silent(&bridge.to)) };
        let at = bridge.at.map_or_else(|| super::script::top(model), Vec3::from_array);
        let Some(contact) = model.nearest_contact(at) else { return Err(silent(&bridge.to)) };
        handle.bridge(&BridgeSettings {
            low_pass_hz: bridge.low_pass_hz,
            gap: Gap { size_pa: bridge.gap_pa.unwrap_or(0.0) as f32, one_sided: bridge.one_sided },
            direct: bridge.direct as f32,
            ..BridgeSettings::new(from, to, &contact, bridge.direction.map(|x| x as f32), bridge.coupling as f32)
        })?;
    }
    Ok(())
}

/// The world of a scene at its beginning.
fn world(scene: &Scene, plan: &Plan, warnings: &mut Vec<String>) -> Result<World, Error> {
    let bad = |name: &str, e: &dyn std::fmt::Display| Error::Scene {
        file: scene.file.clone(),
        message: format!("body `{name}`: {e}"),
    };
    let settings = WorldSettings {
        gravity: Vec3::from_array(scene.physics.gravity),
        step_s: scene.physics.step_s,
        ..WorldSettings::default()
    };
    let mut world = World::new(settings).map_err(|e| bad("world", &e))?;
    for planned in &plan.bodies {
        let body = &planned.body;
        let texture = planned.surface.texture();
        let kind = if body.collider == ColliderChoice::None || body.is_fixed() {
            Kind::Fixed
        } else if !body.path.is_empty() {
            Kind::Path(
                body.path
                    .iter()
                    .map(|k| Key {
                        time_s: k.time_s,
                        position: Vec3::from_array(k.position),
                        rotation: k.rotation.quaternion(),
                    })
                    .collect(),
            )
        } else if body.kinematic {
            Kind::Kinematic
        } else {
            Kind::Dynamic
        };
        let spec = BodySpec {
            mass: Mass::Kg(planned.mass_kg),
            position: Vec3::from_array(body.position),
            rotation: body.rotation.quaternion(),
            velocity: Vec3::from_array(body.velocity),
            spin: Vec3::from_array(body.spin),
            friction: body.friction.unwrap_or(f64::from(texture.friction)),
            restitution: body.restitution.unwrap_or(f64::from(texture.restitution)),
            spin_damping: SPIN_DAMPING,
            kind,
            drive: None,
            ..BodySpec::new(rigid_shape(planned))
        };
        let number = world.add(&spec).map_err(|e| bad(&body.name, &e))?;
        let absent = body.collider == ColliderChoice::None || !planned.is_present();
        if absent {
            world.set_present(number, false).map_err(|e| bad(&body.name, &e))?;
        }
    }
    for overlap in world.initial_overlaps().into_iter().take(5) {
        let [a, b] = overlap.bodies.map(|n| &plan.bodies[n as usize].body.name);
        let depth = 1e3 * overlap.depth_m;
        warnings.push(format!("`{a}` and `{b}` overlap by {depth:.1} mm at the beginning and will be pushed apart"));
    }
    Ok(world)
}

/// What the scene does to bodies by itself in the step that begins now: they enter and leave, and are pulled.
fn move_by_hand(
    world: &mut World,
    plan: &Plan,
    now_s: f64,
    step_s: f64,
) -> Result<(), eigentone_sim::rigid::RigidError> {
    let due = |time_s: f64| (now_s - 0.5 * step_s..now_s + 0.5 * step_s).contains(&time_s);
    for (number, planned) in plan.bodies.iter().enumerate() {
        let (body, number) = (&planned.body, number as u32);
        if body.collider == ColliderChoice::None {
            continue;
        }
        if body.appears_s.is_some_and(|t| t > 0.0 && due(t)) {
            world.set_present(number, true)?;
        }
        if body.lives_s.is_some_and(|lives_s| due(body.appears_s.unwrap_or(0.0).max(0.0) + lives_s)) {
            world.set_present(number, false)?;
        }
        if let Some(drive) = &body.drive {
            if due(drive.from_s.max(0.0)) {
                let pull = Drive { velocity: Vec3::from_array(drive.velocity), most_force_n: drive.force_n };
                world.set_drive(number, Some(pull))?;
            }
            if drive.to_s.is_some_and(due) {
                world.set_drive(number, None)?;
            }
        }
    }
    Ok(())
}
