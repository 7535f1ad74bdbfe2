//! Plays a scene from beginning to end: the world is advanced and what it sounds is taken, in turns; the level is set last.
//!
//! The simulation runs one step ahead of the sound. Nothing depends on how fast the machine is or how many threads it has.

use super::Scene;
use super::plan::Plan;
use super::report::{
    EventCounts, EventKind, EventRecord, ModeCounts, RenderStats, Rendering, RoomCounts, Seconds, SoftCounts,
};
use super::soft::film::Film;
use super::stage::{Recorded, Stage};
use super::stream::{Recorder, Replay};
use crate::level::{self, Level, Levelled};
use crate::{Error, scene::cache::ModelCache};
use eigentone_core::units::Decibels;
use eigentone_io::{SampleFormat, Tape};
use eigentone_modal::Progress;
use eigentone_space::room::SpaceStats;
use eigentone_world::{AudioOut, Timing};
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
    /// Write the dry sound of every body that sounds into this folder, one WAV each, in Pa at one metre with full scale as in the mix.
    pub stems: Option<PathBuf>,
}

/// Plays a scene from beginning to end.
///
/// # Errors
/// If something in it cannot be made; names the scene and the body.
pub fn render(scene: &Scene, options: &RenderOptions, progress: &Progress<'_>) -> Result<Rendering, Error> {
    let mut channels: [Vec<f32>; 2] = Default::default();
    let mut play = Play::new(scene, options, progress)?;
    play.run(progress, &mut |frame| {
        channels.iter_mut().zip(frame).for_each(|(channel, x)| channel.push(x));
        Ok(())
    })?;
    let [left, right] = &mut channels;
    let levelled = level::apply(wanted_level(&play.scene), &mut [left, right]);
    let peak = channels.iter().flatten().fold(0.0f32, |m, y| m.max(y.abs()));
    let rendering = play.finish(&levelled, f64::from(peak))?;
    Ok(Rendering { channels, ..rendering })
}

/// Plays a scene into a WAV file. Memory does not grow with the duration; [`Rendering::channels`] is empty.
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
    let mut play = Play::new(scene, options, progress)?;
    let mut tape = Tape::beside(path)?;
    play.run(progress, &mut |frame| Ok(tape.push(frame)?))?;
    let levelled = level::of_peak(wanted_level(&play.scene), f64::from(tape.peak()));
    let gain = levelled.gain.amplitude() / level::FULL_SCALE_PA;
    let rendering = play.finish(&levelled, f64::from(tape.peak()) * gain)?;
    tape.write_wav(path, scene.output.sample_rate_hz as u32, gain as f32, format)?;
    Ok(rendering)
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

/// Steps of the simulation after which sound is rendered: simulation and synthesis would throw each other out of the cache.
const STEPS_AT_A_TIME: u64 = 8;

/// Full scale of the world inside: so high that its limiter has nothing to do; the level of the file is set afterwards.
const INNER_FULL_SCALE_PA: f64 = 1e6;

/// Soft bodies are heard so much after they have moved, at most, in s: their sound is filtered.
const SOFT_LATENCY_S: f64 = 0.004;

/// A scene that is being played.
struct Play {
    scene: Scene,
    plan: Plan,
    stage: Stage,
    out: AudioOut,
    pool: Option<rayon::ThreadPool>,
    film: Option<Film>,
    recorder: Option<Recorder>,
    stems: Option<super::stems::Stems>,
    events: Vec<EventRecord>,
    modes: ModeCounts,
    heard: Vec<bool>,
    blocks: u64,
    /// Samples rendered, of which the first are latency.
    rendered: usize,
    seconds: Seconds,
    over_budget: u64,
}

impl Play {
    fn new(scene: &Scene, options: &RenderOptions, progress: &Progress<'_>) -> Result<Self, Error> {
        let mut scene = scene.clone();
        scene.seed = options.seed.unwrap_or(scene.seed);
        if options.budget.is_some() {
            scene.quality.budget = options.budget;
        }
        scene.check()?;
        let begin = Instant::now();
        // Zero threads are as many as there are cores.
        let threads = options.threads.unwrap_or(0);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = match pool {
            Ok(pool) => Some(pool),
            Err(_) if options.threads.is_none() => None,
            Err(e) => {
                let message = format!("{threads} threads cannot be had: {e}; ask for fewer");
                return Err(Error::Scene { file: scene.file.clone(), message });
            }
        };
        let make = || Plan::new(&scene, &options.cache, progress);
        let plan = pool.as_ref().map_or_else(make, |pool| pool.install(make))?;
        let (mut stage, out) = Stage::new(&scene, &plan, Timing::Offline, INNER_FULL_SCALE_PA, progress)?;
        if let Some(file) = &options.replay {
            stage.replay(Box::new(Recorded { stream: Replay::open(file)?, step_s: scene.physics.step_s }));
        }
        let film = match (&options.animation, stage.world.soft_world()) {
            (Some(path), Some(world)) => Some(Film::new(path, &scene, &scene.softs, world)?),
            (Some(_), None) => {
                let message = "there is no animation, because the scene has no [[soft]] bodies";
                stage.warnings.push(message.to_owned());
                None
            }
            _ => None,
        };
        let stems = options.stems.as_deref().map(|folder| super::stems::Stems::new(folder, &scene)).transpose()?;
        Ok(Self {
            film,
            recorder: options.record.as_deref().map(Recorder::create).transpose()?,
            stems,
            events: Vec::new(),
            modes: ModeCounts::default(),
            heard: vec![false; plan.bodies.len() + scene.softs.len()],
            blocks: 0,
            rendered: 0,
            seconds: Seconds { models: begin.elapsed().as_secs_f64(), ..Seconds::default() },
            over_budget: 0,
            pool,
            scene,
            plan,
            stage,
            out,
        })
    }

    fn end_s(&self) -> f64 {
        self.scene.duration_s + self.scene.output.tail_s.unwrap_or(0.0)
    }

    /// Plays to the end; `hear` gets the samples of both channels one after the other, in Pa.
    fn run(
        &mut self,
        progress: &Progress<'_>,
        hear: &mut (dyn FnMut([f32; 2]) -> Result<(), Error> + Send),
    ) -> Result<(), Error> {
        // From within a pool: from without, every step of a soft body would wait for a thread to be woken.
        match self.pool.take() {
            Some(pool) => pool.install(|| self.run_here(progress, hear)),
            None => self.run_here(progress, hear),
        }
    }

    fn run_here(
        &mut self,
        progress: &Progress<'_>,
        hear: &mut (dyn FnMut([f32; 2]) -> Result<(), Error> + Send),
    ) -> Result<(), Error> {
        let step_s = self.scene.physics.step_s;
        let end_s = self.end_s();
        let held_back_s = step_s + if self.scene.softs.is_empty() { 0.0 } else { SOFT_LATENCY_S };
        let after_s = (self.out.latency() + AudioOut::BLOCK) as f64 / self.scene.output.sample_rate_hz;
        let steps = ((end_s + after_s + held_back_s) / step_s).ceil() as u64;
        self.stage.world.set_recording(self.recorder.is_some());
        for step in 1..=steps {
            if step % 64 == 0 {
                progress.report("rendering", (step as f64 / steps as f64).min(1.0));
            }
            let begin = Instant::now();
            let time_s = step as f64 * step_s;
            if let (Some(film), Some(world)) = (&mut self.film, self.stage.world.soft_world())
                && world.time_s() <= end_s
            {
                film.look(world)?;
            }
            self.stage.direct(time_s);
            if step % STEPS_AT_A_TIME == 0 {
                self.stage.listen(time_s);
            }
            self.stage.world.single_step();
            if let Some(recorder) = &mut self.recorder {
                let frames: Vec<_> = self.stage.world.drain_frames().collect();
                if time_s <= end_s + step_s {
                    frames.iter().try_for_each(|frame| recorder.write(frame))?;
                }
            }
            self.events.extend(self.stage.events()?);
            self.seconds.simulation += begin.elapsed().as_secs_f64();
            if step % STEPS_AT_A_TIME == 0 || step == steps {
                self.listen((time_s - held_back_s).min(end_s + after_s), hear)?;
            }
        }
        self.stage.world.end_soft_contacts();
        self.events.extend(self.stage.events()?);
        if let Some(recorder) = self.recorder.take() {
            recorder.finish()?;
        }
        if let Some(stems) = self.stems.take() {
            stems.finish(&self.scene)?;
        }
        self.events.retain(|event| event.time_s <= end_s);
        Ok(())
    }

    /// Renders until this time.
    fn listen(
        &mut self,
        until_s: f64,
        hear: &mut (dyn FnMut([f32; 2]) -> Result<(), Error> + Send),
    ) -> Result<(), Error> {
        let begin = Instant::now();
        let rate_hz = self.scene.output.sample_rate_hz;
        let (latency, length) = (self.out.latency(), (self.end_s() * rate_hz) as usize);
        let until = (until_s * rate_hz).max(0.0) as usize;
        while self.rendered + AudioOut::BLOCK <= until {
            let [left, right] = self.out.process_block();
            for (l, r) in left.iter().zip(right) {
                if (latency..latency + length).contains(&self.rendered) {
                    hear([l, r].map(|x| x * INNER_FULL_SCALE_PA as f32))?;
                }
                self.rendered += 1;
            }
            let stats = self.out.stats();
            self.modes.add(stats);
            self.over_budget += u64::from(self.scene.quality.budget.is_some_and(|b| stats.mixed > b as u64));
            self.blocks += 1;
            if let Some(stems) = &mut self.stems {
                stems.take(&self.stage, &self.out)?;
            }
        }
        self.seconds.synthesis += begin.elapsed().as_secs_f64();
        for source in self.out.sources() {
            let key = self.stage.world.key_of_source(source.source);
            if let Some(heard) = key.and_then(|key| self.heard.get_mut(key.number() as usize)) {
                *heard = true;
            }
        }
        Ok(())
    }

    fn finish(mut self, levelled: &Levelled, peak: f64) -> Result<Rendering, Error> {
        let rate = self.scene.output.sample_rate_hz;
        let mut warnings = std::mem::take(&mut self.stage.warnings);
        say_of_level(levelled, peak == 0.0, &mut warnings);
        let animation = self.film.take().map(Film::finish).transpose()?.map(std::sync::Arc::new);
        self.events.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let stats = *self.out.stats();
        let modes = ModeCounts {
            total: self.plan.bodies.iter().filter_map(|b| b.model.as_ref()).map(|m| m.modes.len()).sum(),
            mixed_max: stats.mixed_most,
            ..self.modes.averaged(self.blocks)
        };
        let kinds = |kind| self.events.iter().filter(|e| e.kind == kind).count();
        let placing_s = self.stage.world.counts().placing_s;
        let s = Seconds {
            simulation: (self.seconds.simulation - placing_s).max(0.0),
            propagation: placing_s,
            ..self.seconds
        };
        let end_s = self.end_s();
        let SpaceStats { placed, clamped, unknown, .. } = self.stage.world.space_stats();
        let in_rooms = self.stage.world.settings().rooms.is_some();
        let soft = self.stage.world.soft_stats();
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
            peak_dbfs: if peak > 0.0 { Decibels::from_amplitude(peak).get() } else { -200.0 },
            non_finite_samples: self.out.audio_stats().non_finite_samples,
            full_scale_pa: level::FULL_SCALE_PA / levelled.gain.amplitude(),
            rooms: in_rooms.then_some(RoomCounts { asked: placed, clamped, unknown }),
            soft: self.stage.least_dihedral_deg.map(|least_dihedral_deg| SoftCounts {
                bodies: soft.bodies,
                elements: soft.elements,
                steps_per_s: soft.steps_per_s,
                divided_most: soft.divided_most,
                least_dihedral_deg,
            }),
        };
        Ok(Rendering {
            channels: Default::default(),
            sample_rate_hz: rate as u32,
            stats,
            events: self.events,
            impact_map: self.stage.impact_map,
            animation,
            warnings,
        })
    }
}
