//! A scene live: the world is advanced by one thread, in step with the clock on the wall, and its sound is taken by another.
//!
//! Without a sound device [`play_headless`] takes the place of one: it asks for a block whenever a device would, and reports what it took. A scene begins anew when it is over.

use super::plan::Plan;
use super::stage::Stage;
use super::{Scene, cache::ModelCache};
use crate::Error;
use crate::level::FULL_SCALE_PA;
use eigentone_modal::Progress;
use eigentone_world::{AudioOut, Snapshot, Timing, WorldError, thread_time};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How a scene is played live.
#[derive(Clone, Debug)]
pub struct PlayOptions {
    /// For how long, in s; until it is stopped if not given.
    pub seconds: Option<f64>,
    /// Samples that the host asks for at a time.
    pub block: usize,
    /// In place of the scene's.
    pub seed: Option<u64>,
    /// Modes at once, in place of the scene's.
    pub budget: Option<usize>,
    /// Processor time per 64 samples, in µs.
    pub budget_us: Option<f64>,
    /// From motion to sound, in s.
    pub latency_s: f64,
    /// Where models are kept.
    pub cache: ModelCache,
}

impl Default for PlayOptions {
    fn default() -> Self {
        Self {
            seconds: None,
            block: 256,
            seed: None,
            budget: None,
            budget_us: None,
            latency_s: 0.03,
            cache: ModelCache::default(),
        }
    }
}

/// What playing live took.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlayReport {
    /// How long it played.
    pub seconds: f64,
    /// Blocks that the host asked for.
    pub blocks: u64,
    /// Blocks that took more of the audio thread's own time than they last.
    pub late_blocks: u64,
    /// What a block took of its length, in the median and at worst.
    pub block_share_median: f64,
    /// At worst.
    pub block_share_worst: f64,
    /// From motion to sound, the mix included, the device not.
    pub latency_ms: f64,
    /// Seconds played per second of processor time, simulation and sound together.
    pub realtime_factor: f64,
    /// Modes computed on average.
    pub modes_mixed_mean: f64,
    /// Blocks of 64 samples that kept the budget in µs, as a share; one without a budget.
    pub budget_kept_share: f64,
    /// Groups of events that came too late and were shifted.
    pub late_frames: u64,
    /// Gaps in time that were jumped over.
    pub jumps: u64,
    /// Events that were served after their time.
    pub late_events: u64,
    /// Blows and contacts for which there was no room.
    pub shed: u64,
    /// Seconds that the simulation could not keep up with.
    pub skipped_s: f64,
    /// Loudest sample.
    pub peak_dbfs: f64,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// A scene that plays live: the control side; the audio side has gone to whoever asks for sound.
pub struct Live {
    stage: Stage,
    begin: Snapshot,
    loops_s: f64,
    last: Instant,
    cpu: Duration,
}

/// How long the control side sleeps between two frames: 250 a second, as a game that is in a hurry.
const FRAME: Duration = Duration::from_millis(4);

impl Live {
    /// Makes a scene ready to be played. `rate_hz` is the device's own, in place of the scene's.
    ///
    /// # Errors
    /// As for rendering it.
    pub fn new(
        scene: &Scene,
        options: &PlayOptions,
        rate_hz: Option<f64>,
        progress: &Progress<'_>,
    ) -> Result<(Self, AudioOut), Error> {
        let mut scene = scene.clone();
        scene.seed = options.seed.unwrap_or(scene.seed);
        scene.output.sample_rate_hz = rate_hz.unwrap_or(scene.output.sample_rate_hz);
        if options.budget.is_some() {
            scene.quality.budget = options.budget;
        }
        scene.check()?;
        let plan = Plan::new(&scene, &options.cache, progress)?;
        let full_scale_pa = scene.output.full_scale_pa.unwrap_or(FULL_SCALE_PA);
        let timing = Timing::Live { latency_s: options.latency_s };
        let (mut stage, out) = Stage::new(&scene, &plan, timing, full_scale_pa, progress)?;
        stage.world.set_budget_us(options.budget_us);
        let begin = stage.world.snapshot();
        let loops_s = scene.duration_s.max(scene.physics.step_s);
        Ok((Self { stage, begin, loops_s, last: Instant::now(), cpu: Duration::ZERO }, out))
    }

    /// Lets the time pass that has passed on the wall. To be called some hundred times a second.
    ///
    /// # Errors
    /// If what moves bodies broke down.
    pub fn frame(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        let dt_s = (now - self.last).as_secs_f64();
        self.last = now;
        self.advance(dt_s)
    }

    /// Lets so much time pass.
    ///
    /// # Errors
    /// If what moves bodies broke down.
    pub fn advance(&mut self, dt_s: f64) -> Result<(), Error> {
        let begin = thread_time();
        let world = &mut self.stage.world;
        if world.time_s() >= self.loops_s {
            world.restore(&self.begin).map_err(|e| self.stage.refused(&e))?;
        }
        let time_s = self.stage.world.time_s() + dt_s;
        self.stage.direct(time_s.min(self.loops_s));
        self.stage.listen(time_s);
        self.stage.world.advance(dt_s);
        self.stage.events()?;
        self.cpu += thread_time().saturating_sub(begin);
        Ok(())
    }

    /// The scene in its world.
    pub fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }
}

fn refused(scene: &Scene, error: &WorldError) -> Error {
    Error::Scene { file: scene.file.clone(), message: error.to_string() }
}

/// What the audio thread measures.
#[derive(Default)]
struct Heard {
    shares: Vec<f32>,
    late: u64,
    cpu: Duration,
    peak: f32,
}

/// Plays a scene against the clock on the wall, without a device, until `stop` or for as long as was asked for.
///
/// # Errors
/// As for rendering it.
pub fn play_headless(
    scene: &Scene,
    options: &PlayOptions,
    stop: &Arc<AtomicBool>,
    progress: &Progress<'_>,
) -> Result<PlayReport, Error> {
    let (mut live, out) = Live::new(scene, options, None, progress)?;
    let rate_hz = out.sample_rate_hz();
    let block = options.block.clamp(1, 1 << 16);
    let latency = out.latency();
    let over = Arc::new(AtomicBool::new(false));
    let audio = std::thread::Builder::new().name("eigentone-audio".to_owned()).spawn({
        let over = over.clone();
        move || listen(out, block, &over)
    });
    let audio = audio.map_err(|_| refused(scene, &WorldError::Unfit("the system has no more threads")))?;
    let begin = Instant::now();
    live.last = begin;
    let mut result = Ok(());
    let seconds = options.seconds.unwrap_or(f64::INFINITY);
    while result.is_ok() && begin.elapsed().as_secs_f64() < seconds && !stop.load(Ordering::Relaxed) {
        result = live.frame();
        progress.report("playing", (begin.elapsed().as_secs_f64() / seconds).min(1.0));
        std::thread::sleep(FRAME);
    }
    over.store(true, Ordering::Relaxed);
    let (out, mut heard) =
        audio.join().map_err(|_| refused(scene, &WorldError::Unfit("the audio thread broke down")))?;
    result?;
    heard.shares.sort_by(f32::total_cmp);
    let seconds = begin.elapsed().as_secs_f64();
    let counts = live.stage.world.counts();
    let (stats, audio_stats) = (out.stats(), out.audio_stats());
    Ok(PlayReport {
        seconds,
        blocks: heard.shares.len() as u64,
        late_blocks: heard.late,
        block_share_median: heard.shares.get(heard.shares.len() / 2).map_or(0.0, |x| f64::from(*x)),
        block_share_worst: heard.shares.last().map_or(0.0, |x| f64::from(*x)),
        latency_ms: 1e3 * (live.stage.world.latency_s() + latency as f64 / rate_hz),
        realtime_factor: seconds / (live.cpu + heard.cpu).as_secs_f64().max(1e-9),
        modes_mixed_mean: stats.mixed_sum as f64 / stats.blocks.max(1) as f64,
        budget_kept_share: match audio_stats.budget_blocks {
            0 => 1.0,
            blocks => audio_stats.budget_kept as f64 / blocks as f64,
        },
        late_frames: counts.late_frames,
        jumps: counts.jumps,
        late_events: stats.late,
        shed: counts.shed,
        skipped_s: counts.skipped_s,
        peak_dbfs: 20.0 * f64::from(heard.peak).max(1e-10).log10(),
        warnings: live.stage.warnings.clone(),
    })
}

/// Asks for blocks as a device would.
fn listen(mut out: AudioOut, block: usize, over: &AtomicBool) -> (AudioOut, Heard) {
    let length_s = block as f64 / out.sample_rate_hz();
    let mut buffer = vec![0.0f32; 2 * block];
    let mut heard = Heard::default();
    let begin = Instant::now();
    let mut blocks = 0u32;
    while !over.load(Ordering::Relaxed) {
        let due = begin + Duration::from_secs_f64(f64::from(blocks) * length_s);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let before = thread_time();
        out.process(&mut buffer, 2);
        let spent = thread_time().saturating_sub(before);
        heard.cpu += spent;
        let share = spent.as_secs_f64() / length_s;
        heard.late += u64::from(share > 1.0);
        heard.shares.push(share as f32);
        heard.peak = buffer.iter().fold(heard.peak, |peak, y| peak.max(y.abs()));
        blocks += 1;
    }
    (out, heard)
}
