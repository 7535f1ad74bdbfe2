//! Plays a scene: simulates, sounds, listens.
//!
//! The simulation runs one step ahead of the sound. Each step gives a [`ContactFrame`], live or from a recording; a [`Tracker`] turns it into blows and sounding contacts; scripted
//! events and hail join them; then the engine renders up to the beginning of that step. Nothing depends on how fast the machine is or how many threads it has.

use super::hail::Hail;
use super::hearing::Hearing;
use super::plan::{Plan, Planned};
use super::report::{EventCounts, EventKind, EventRecord, ModeCounts, RenderStats, Rendering, Seconds};
use super::script::Script;
use super::soft::{self, SoftSound};
use super::stream::{Recorder, Replay};
use super::{Scene, sounding, world};
use crate::engine::{EngineSettings, Processor, engine};
use crate::level::{self, Level, Levelled};
use crate::{Error, scene::cache::ModelCache};
use eigentone_core::contact::{ContactFrame, Pose};
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::units::Decibels;
use eigentone_io::{AudioBuffer, SampleFormat, Tape, write_wav};
use eigentone_modal::Progress;
use eigentone_sim::rigid::World;
use eigentone_synth::contact::{Tracker, TrackerSettings};
use eigentone_synth::{BLOCK, Handle};
use std::path::{Path, PathBuf};
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
    /// Write the animation of soft bodies here, as `.glb` or `.gltf`.
    pub animation: Option<PathBuf>,
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
    let mut channels: [Vec<f32>; 2] = Default::default();
    let mut keep = |frame: [f32; 2]| {
        channels.iter_mut().zip(frame).for_each(|(channel, x)| channel.push(x));
        Ok(())
    };
    let soft = (!scene.softs.is_empty()).then(|| play_soft(&scene, options, progress, &mut keep)).transpose()?;
    if soft.is_none() && options.animation.is_some() {
        stage.warnings.push("there is no animation, because the scene has no [[soft]] bodies".to_owned());
    }
    stage.finish(soft.map(|soft| (soft, channels)))
}

/// Plays a scene into a WAV file. Where soft bodies are all that sounds, memory does not grow with the duration; [`Rendering::channels`] is then empty.
///
/// # Errors
/// As [`render`], or if the file cannot be written.
pub fn render_to_wav(
    scene: &Scene,
    options: &RenderOptions,
    path: &Path,
    format: SampleFormat,
    progress: &Progress<'_>,
) -> Result<Rendering, Error> {
    let streams = options.record.is_some() || options.replay.is_some();
    if scene.softs.is_empty() || streams || !scene.is_soft_alone() {
        let rendering = render(scene, options, progress)?;
        let audio = AudioBuffer { sample_rate_hz: rendering.sample_rate_hz, channels: rendering.channels.to_vec() };
        write_wav(path, &audio, format)?;
        return Ok(rendering);
    }
    scene.check()?;
    let mut tape = Tape::beside(path)?;
    let soft = play_soft(scene, options, progress, &mut |frame| Ok(tape.push(frame)?))?;
    let rate = scene.output.sample_rate_hz;
    let levelled = level::of_peak(wanted_level(scene), f64::from(tape.peak()));
    let gain = levelled.gain.amplitude() / level::FULL_SCALE_PA;
    let mut warnings = soft.warnings;
    say_of_level(&levelled, tape.peak() == 0.0, &mut warnings);
    let peak = f64::from(tape.peak()) * gain;
    let duration_s = tape.frames() as f64 / rate;
    let stats = RenderStats {
        duration_s,
        sample_rate_hz: rate,
        seed: options.seed.unwrap_or(scene.seed),
        bodies: scene.bodies.len() + scene.softs.len(),
        bodies_heard: scene.softs.iter().filter(|s| !s.silent).count(),
        events: EventCounts { impacts: soft.events.len(), contacts: 0 },
        seconds: Seconds { simulation: soft.simulation_s, ..Seconds::default() },
        realtime_factor: duration_s / soft.simulation_s.max(1e-9),
        peak_dbfs: if peak > 0.0 { Decibels::from_amplitude(peak).get() } else { -200.0 },
        non_finite_samples: tape.not_finite(),
        full_scale_pa: level::FULL_SCALE_PA / levelled.gain.amplitude(),
        soft: Some(soft.counts),
        ..RenderStats::default()
    };
    tape.write_wav(path, rate as u32, gain as f32, format)?;
    Ok(Rendering {
        channels: Default::default(),
        sample_rate_hz: rate as u32,
        stats,
        events: soft.events,
        impact_map: None,
        animation: soft.animation,
        warnings,
    })
}

/// The level of the file.
fn wanted_level(scene: &Scene) -> Level {
    match scene.output.full_scale_pa {
        Some(pa) => Level::Physical(Decibels::from_amplitude(level::FULL_SCALE_PA / pa)),
        None => Level::Normalised(Decibels(-3.0)),
    }
}

fn say_of_level(levelled: &Levelled, silent: bool, warnings: &mut Vec<String>) {
    if levelled.turned_down {
        warnings.push("louder than full scale: turned down to −1 dBFS; raise full_scale_pa".to_owned());
    }
    if silent {
        let why = "nothing was heard: no body that sounds was struck or scraped, or all of it was quieter than `truncation_pa`";
        warnings.push(why.to_owned());
    }
}

/// The soft bodies of the scene, on as many threads as was asked for.
fn play_soft(
    scene: &Scene,
    options: &RenderOptions,
    progress: &Progress<'_>,
    hear: &mut (dyn FnMut([f32; 2]) -> Result<(), Error> + Send),
) -> Result<SoftSound, Error> {
    // From within a pool: from without, every step would wait for a thread to be woken. Zero threads are as many as there are cores.
    match rayon::ThreadPoolBuilder::new().num_threads(options.threads.unwrap_or(0)).build().ok() {
        Some(pool) => pool.install(|| soft::play(scene, options, progress, hear)),
        None => soft::play(scene, options, progress, hear),
    }
}

/// A scene that is being played.
struct Stage<'a> {
    scene: &'a Scene,
    plan: &'a Plan,
    motion: Motion,
    recorder: Option<Recorder>,
    handle: Handle,
    processor: Processor,
    tracker: Tracker,
    script: Script,
    hail: Option<Hail>,
    hearing: Hearing,
    /// Of each body: its sound, its pose, and the level that was last sent.
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
}

/// Steps of the simulation after which sound is rendered; a voice keeps at most 16 keyframes.
const STEPS_AT_A_TIME: u64 = 8;

/// Full scale of the engine inside: so high that its limiters have nothing to do; the level of the file is set afterwards.
const INNER_FULL_SCALE_PA: f64 = 1e6;

/// Steps after which bodies are placed in open air. In rooms it is as often as sound is rendered, because it goes in straight lines from one place to the next.
const PLACED_EVERY: u64 = 4;

/// A change of level smaller than this is not worth an event.
const SAME: f64 = 0.01;

impl<'a> Stage<'a> {
    fn new(scene: &'a Scene, plan: &'a Plan, options: &RenderOptions) -> Result<Self, Error> {
        let synth = sounding::settings(scene, plan);
        let (mut handle, mut processor) = engine(EngineSettings { synth, full_scale_pa: INNER_FULL_SCALE_PA as f32 })?;
        let settings = TrackerSettings { seed: scene.seed, ..TrackerSettings::default() };
        let mut tracker = Tracker::new(settings, scene.output.sample_rate_hz);
        let ids = sounding::add_bodies(scene, plan, &mut handle)?;
        sounding::add_partners(plan, &ids, &mut tracker);
        let voice = |(number, planned): (usize, &Planned)| Voice {
            id: ids[number],
            pose: planned.pose(number as u32),
            level: 0.0,
        };
        let voices = plan.bodies.iter().enumerate().map(voice).collect();
        let mut warnings = plan.warnings.clone();
        let motion = match &options.replay {
            Some(file) => Motion::Replay(Box::new(Replay::open(file)?)),
            None => Motion::Live(Box::new(world::build(scene, plan, &mut warnings)?)),
        };
        let script = Script::new(scene, plan, &ids, &mut handle, &mut tracker)?;
        let update_s = STEPS_AT_A_TIME as f64 * scene.physics.step_s;
        let hearing = Hearing::new(scene, plan, &mut processor, update_s, &mut warnings)?;
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
            tracker,
            hearing,
            heard: vec![false; plan.bodies.len()],
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
        self.place_all(0.0);
        let placed_every = if self.hearing.is_spatial() { STEPS_AT_A_TIME } else { PLACED_EVERY };
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
                self.tracker.step(&frame, &mut self.handle).map_err(|e| sounding::too_much(self.scene, e))?;
            }
            self.script.step(time_s, &mut self.handle, &mut self.tracker, &mut self.events)?;
            if let Some(hail) = &mut self.hail {
                hail.step(time_s.min(self.scene.duration_s), &mut self.handle, &mut self.events)?;
            }
            let names = |n: u32| self.plan.bodies.get(n as usize).map_or(String::new(), |b| b.body.name.clone());
            self.events.extend(self.tracker.drain().map(|h| EventRecord::heard(&h, names)));
            self.seconds.simulation += begin.elapsed().as_secs_f64();
            if step % placed_every == 0 {
                let begin = Instant::now();
                self.place_all(time_s);
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
                world::move_by_hand(world, self.plan, begin_s, step_s)
                    .and_then(|()| self.script.push(world, step, step_s))
                    .map_err(|e| Error::Scene { file: self.scene.file.clone(), message: e.to_string() })?;
                Ok(vec![world.step()])
            }
        }
    }

    /// Tells where bodies and listener are, and how loud bodies are.
    fn place_all(&mut self, time_s: f64) {
        let (position, look) = self.scene.listener.at(time_s);
        self.hearing.listen(position, look);
        for number in 0..self.voices.len() {
            let Voice { id, pose, level } = self.voices[number];
            let planned = &self.plan.bodies[number];
            let (Some(id), Some(_)) = (id, &planned.model) else { continue };
            let own = Decibels(planned.body.gain_db).amplitude();
            let own = self.script.gain(number).unwrap_or(own);
            let new_level = own * self.hearing.place(number, id, &pose, planned);
            if (new_level / level - 1.0).abs() > SAME || level == 0.0 {
                let time = Moment { sample: self.processor.clock(), fraction: 0.0 };
                if self.handle.send(Event { time, body: id, action: Action::Gain(new_level as f32) }).is_ok() {
                    self.voices[number].level = new_level;
                }
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
            self.modes.add(stats);
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

    fn finish(mut self, soft: Option<(SoftSound, [Vec<f32>; 2])>) -> Result<Rendering, Error> {
        let rate = self.scene.output.sample_rate_hz;
        let end_s = self.scene.duration_s + self.scene.output.tail_s.unwrap_or(0.0);
        let length = (end_s * rate) as usize;
        for channel in &mut self.channels {
            channel.drain(..Processor::LATENCY.min(channel.len()));
            channel.resize(length, 0.0);
            channel.iter_mut().for_each(|y| *y *= INNER_FULL_SCALE_PA as f32);
        }
        let (mut soft_counts, mut animation, mut non_finite) = (None, None, 0);
        if let Some((soft, channels)) = soft {
            for (channel, sound) in self.channels.iter_mut().zip(&channels) {
                for (y, x) in channel.iter_mut().zip(sound) {
                    non_finite += u64::from(!x.is_finite());
                    *y += if x.is_finite() { *x } else { 0.0 };
                }
            }
            self.events.extend(soft.events);
            self.warnings.extend(soft.warnings);
            self.seconds.simulation += soft.simulation_s;
            (soft_counts, animation) = (Some(soft.counts), soft.animation);
        }
        let [left, right] = &mut self.channels;
        let levelled = level::apply(wanted_level(self.scene), &mut [left, right]);
        say_of_level(&levelled, self.channels.iter().flatten().all(|y| *y == 0.0), &mut self.warnings);
        let peak = self.channels.iter().flatten().fold(0.0f32, |m, y| m.max(y.abs()));
        self.events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let stats = *self.processor.stats();
        let modes = ModeCounts {
            total: self.plan.bodies.iter().filter_map(|b| b.model.as_ref()).map(|m| m.modes.len()).sum(),
            mixed_max: stats.mixed_most,
            ..self.modes.averaged(self.blocks)
        };
        let kinds = |kind| self.events.iter().filter(|e| e.kind == kind).count();
        let s = self.seconds;
        let stats = RenderStats {
            duration_s: end_s,
            sample_rate_hz: rate,
            seed: self.scene.seed,
            bodies: self.plan.bodies.len() + self.scene.softs.len(),
            bodies_heard: self.heard.iter().filter(|h| **h).count(),
            events: EventCounts { impacts: kinds(EventKind::Impact), contacts: kinds(EventKind::ContactBegin) },
            modes,
            seconds: s,
            realtime_factor: end_s / (s.simulation + s.synthesis + s.propagation).max(1e-9),
            synthesis_realtime_factor: end_s / s.synthesis.max(1e-9),
            over_budget_blocks: self.over_budget,
            peak_dbfs: if peak > 0.0 { Decibels::from_amplitude(f64::from(peak)).get() } else { -200.0 },
            non_finite_samples: self.processor.non_finite_samples() + non_finite,
            full_scale_pa: level::FULL_SCALE_PA / levelled.gain.amplitude(),
            rooms: self.hearing.counts(),
            soft: soft_counts,
        };
        Ok(Rendering {
            channels: self.channels,
            sample_rate_hz: rate as u32,
            stats,
            events: self.events,
            impact_map: self.hail.map(Hail::into_map),
            animation,
            warnings: self.warnings,
        })
    }
}
