//! The audio thread: renders blocks when the page asks for them, and hands them on without ever waiting for anybody.
//!
//! The page's own sound clock paces it: each played frame is a *credit* for another. While no page listens, but one is there, it renders at the pace of the clock on the wall, so that the world's two clocks stay together;
//! while no page is there, it sleeps. Blocks go through a bounded ring; if nobody empties it they are dropped and counted.

use eigentone_world::AudioOut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Frames rendered at a time.
pub const BLOCK: usize = 128;

/// Blocks that may wait to be sent: a second and a half at 44.1 kHz.
const RING_BLOCKS: usize = 512;

/// Credits beyond this are not kept, in frames.
pub const MAX_CREDIT: u64 = 48_000;

/// A page that leads the clock and has not asked for sound for so long does not hold up the others.
const STALLED: Duration = Duration::from_millis(1000);

/// Fades when one world takes over from another, in frames.
const FADE: usize = 256;

/// Blocks that are rendered before the network is woken for them: what a browser takes at once goes out as one message.
const BURST: usize = 8;

/// Priority that the audio thread asks for. Where the system refuses, it competes like any other.
const NICE: i32 = -10;

/// Rate at which a body's level falls when it is no longer so loud, per block of 64 samples: about 60 dB in 0.4 s at 44.1 kHz.
const FALL: f32 = 0.95;

/// Rendered sound.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Number of its first frame.
    pub frame: u64,
    /// Whether a page asked for it.
    pub streamed: bool,
    /// Left, right, …
    pub samples: [f32; 2 * BLOCK],
}

/// How loud each source is: generation and mean square pressure, in one number per slot of the engine.
#[derive(Debug)]
pub struct Levels(Box<[AtomicU64]>);

impl Levels {
    /// For so many sources.
    pub fn new(sources: usize) -> Self {
        Self((0..sources).map(|_| AtomicU64::new(0)).collect())
    }

    fn hear(&self, slot: u32, generation: u32, mean_square: f32) {
        let Some(place) = self.0.get(slot as usize) else { return };
        let old = place.load(Relaxed);
        let held = if (old >> 32) as u32 == generation { FALL * f32::from_bits(old as u32) } else { 0.0 };
        let now = if mean_square.is_finite() { mean_square.max(held) } else { held };
        place.store(u64::from(generation) << 32 | u64::from(now.to_bits()), Relaxed);
    }

    /// All sources that were heard: slot, generation, mean square pressure in Pa².
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, f32)> {
        self.0.iter().enumerate().filter_map(|(slot, place)| {
            let bits = place.load(Relaxed);
            (bits != 0).then(|| (slot as u32, (bits >> 32) as u32, f32::from_bits(bits as u32)))
        })
    }
}

/// Where the sound of a world comes from.
pub enum Source {
    /// Its audio side, asked by the audio thread itself.
    Own(Box<AudioOut>),
    /// Blocks that the control thread renders in turns with the motion.
    Turns {
        /// As they were rendered.
        blocks: rtrb::Consumer<InnerBlock>,
        /// Samples per second.
        rate_hz: f64,
    },
}

/// Left, right, … of one inner block of a world.
pub type InnerBlock = [f32; 2 * AudioOut::BLOCK];

impl Source {
    fn rate_hz(&self) -> f64 {
        match self {
            Self::Own(out) => out.sample_rate_hz(),
            Self::Turns { rate_hz, .. } => *rate_hz,
        }
    }

    /// Whether a block can be had without making one up.
    fn is_ready(&self) -> bool {
        match self {
            Self::Own(_) => true,
            Self::Turns { blocks, .. } => blocks.slots() * AudioOut::BLOCK >= BLOCK,
        }
    }
}

/// The next inner block of a world's audio side, as frames; tells how loud its sources are.
pub fn render_inner(out: &mut AudioOut, levels: &Levels) -> InnerBlock {
    let mut block = [0.0; 2 * AudioOut::BLOCK];
    let [left, right] = out.process_block();
    for (frame, (l, r)) in block.chunks_exact_mut(2).zip(left.iter().zip(right)) {
        frame.copy_from_slice(&[*l, *r]);
    }
    for source in out.sources() {
        let mean_square = source.dry.iter().map(|x| x * x).sum::<f32>() / source.dry.len() as f32;
        levels.hear(source.source.slot, source.source.generation, mean_square);
    }
    block
}

/// A world's sound, and where its levels go.
pub struct Feed {
    /// The sound.
    pub out: Source,
    /// Of its sources.
    pub levels: Arc<Levels>,
}

/// What the threads share with the audio thread.
#[derive(Debug, Default)]
pub struct Pace {
    /// Frames that may be rendered.
    credit: AtomicU64,
    /// Whether a page listens.
    streaming: AtomicBool,
    /// Whether any page is there.
    awake: AtomicBool,
    over: AtomicBool,
    /// Frames rendered so far.
    frames: AtomicU64,
    /// Blocks that found no room.
    dropped: AtomicU64,
    /// How much quieter than it is everything is played, as the bits of the difference of a gain from one.
    quieter: AtomicU32,
}

impl Pace {
    /// Frames rendered so far.
    pub fn frames(&self) -> u64 {
        self.frames.load(Relaxed)
    }

    /// Blocks that nobody took.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Plays everything at this gain from now on.
    pub fn set_gain(&self, gain: f32) {
        self.quieter.store((1.0 - gain).to_bits(), Relaxed);
    }

    fn gain(&self) -> f32 {
        1.0 - f32::from_bits(self.quieter.load(Relaxed))
    }
}

/// Paces the audio thread, from any other.
#[derive(Clone, Debug)]
pub struct Throttle {
    pace: Arc<Pace>,
    thread: Thread,
}

impl Throttle {
    /// A page has played so many frames more.
    pub fn credit(&self, frames: u64) {
        let more = |credit: u64| Some((credit + frames.min(MAX_CREDIT)).min(MAX_CREDIT));
        let _ = self.pace.credit.fetch_update(Relaxed, Relaxed, more);
        self.thread.unpark();
    }

    /// A page begins to listen so many frames ahead, or nobody does any more.
    pub fn stream(&self, lead: Option<u64>) {
        self.pace.credit.store(lead.unwrap_or(0).min(MAX_CREDIT), Relaxed);
        self.pace.streaming.store(lead.is_some(), Relaxed);
        self.thread.unpark();
    }
}

/// The audio thread, and the way on which it gets other worlds.
#[derive(Debug)]
pub struct AudioThread {
    throttle: Throttle,
    handle: Option<JoinHandle<()>>,
    feeds: Sender<Box<Feed>>,
    /// Worlds that are not heard any more.
    returned: Receiver<Box<Feed>>,
}

impl AudioThread {
    /// Starts it with a world; gives the ring out of which blocks come.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn start(feed: Feed, ready: Arc<Notify>) -> std::io::Result<(Self, rtrb::Consumer<Block>)> {
        let (producer, consumer) = rtrb::RingBuffer::new(RING_BLOCKS);
        let (feeds, incoming) = channel();
        let (outgoing, returned) = channel();
        let pace = Arc::new(Pace::default());
        let renderer = Renderer {
            feed: Box::new(feed),
            next: None,
            incoming,
            outgoing,
            producer,
            ready,
            pace: pace.clone(),
            fade: 0,
            gain: 1.0,
            unsent: 0,
        };
        let handle = std::thread::Builder::new().name("eigentone-audio".to_owned()).spawn(move || renderer.run())?;
        let throttle = Throttle { pace, thread: handle.thread().clone() };
        Ok((Self { throttle, handle: Some(handle), feeds, returned }, consumer))
    }

    /// What it has been doing.
    pub fn pace(&self) -> &Arc<Pace> {
        &self.throttle.pace
    }

    /// Paces it.
    pub fn throttle(&self) -> &Throttle {
        &self.throttle
    }

    /// Plays another world from now on.
    pub fn exchange(&self, feed: Feed) {
        // If it is gone, nobody will hear it.
        let _ = self.feeds.send(Box::new(feed));
        self.throttle.thread.unpark();
    }

    /// Frees worlds that are not heard any more.
    pub fn tidy(&self) {
        while self.returned.try_recv().is_ok() {}
    }

    /// Whether any page is there.
    pub fn set_awake(&self, awake: bool) {
        self.throttle.pace.awake.store(awake, Relaxed);
        self.throttle.thread.unpark();
    }
}

impl Drop for AudioThread {
    fn drop(&mut self) {
        self.throttle.pace.over.store(true, Relaxed);
        self.throttle.thread.unpark();
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

struct Renderer {
    feed: Box<Feed>,
    /// The world that comes next, while this one fades out.
    next: Option<Box<Feed>>,
    incoming: Receiver<Box<Feed>>,
    outgoing: Sender<Box<Feed>>,
    producer: rtrb::Producer<Block>,
    ready: Arc<Notify>,
    pace: Arc<Pace>,
    /// Frames of the fade that are left: out while there is a next one, then in.
    fade: usize,
    /// Gain at the end of the last block.
    gain: f32,
    /// Blocks of which the network has not been told yet.
    unsent: usize,
}

impl Renderer {
    fn run(mut self) {
        step_forward();
        let mut asked = Instant::now();
        let mut due: Option<Instant> = None;
        while !self.pace.over.load(Relaxed) {
            self.exchange();
            if !self.pace.awake.load(Relaxed) {
                (due, asked) = (None, Instant::now());
                std::thread::park_timeout(Duration::from_millis(100));
                continue;
            }
            let streaming = self.pace.streaming.load(Relaxed);
            if self.next.is_none() && !self.feed.out.is_ready() {
                // It is on its way; nothing is left out and nothing made up.
                (due, asked) = (None, Instant::now());
                std::thread::park_timeout(Duration::from_millis(1));
            } else if streaming && self.pace.credit.load(Relaxed) >= BLOCK as u64 {
                self.pace.credit.fetch_sub(BLOCK as u64, Relaxed);
                (due, asked) = (None, Instant::now());
                self.render(true);
            } else if streaming && asked.elapsed() < STALLED {
                due = None;
                std::thread::park_timeout(Duration::from_millis(20));
            } else {
                due = Some(self.keep_pace(due.unwrap_or_else(Instant::now)));
            }
        }
    }

    /// Renders what is due by the clock on the wall and sleeps until the next is.
    fn keep_pace(&mut self, due: Instant) -> Instant {
        let now = Instant::now();
        // After a gap nobody wants to catch up.
        let due = if now.saturating_duration_since(due) > Duration::from_millis(250) { now } else { due };
        if due > now {
            std::thread::park_timeout((due - now).min(Duration::from_millis(20)));
            return due;
        }
        self.render(false);
        due + Duration::from_secs_f64(BLOCK as f64 / self.feed.out.rate_hz())
    }

    fn exchange(&mut self) {
        while let Ok(feed) = self.incoming.try_recv() {
            if let Some(passed_over) = self.next.replace(feed) {
                let _ = self.outgoing.send(passed_over);
            }
            self.fade = FADE;
        }
    }

    fn render(&mut self, streamed: bool) {
        let mut block = Block { frame: self.pace.frames.load(Relaxed), streamed, samples: [0.0; 2 * BLOCK] };
        for half in block.samples.chunks_exact_mut(2 * AudioOut::BLOCK) {
            match &mut self.feed.out {
                Source::Own(out) => half.copy_from_slice(&render_inner(out, &self.feed.levels)),
                // Nothing is left of it only while another world takes over.
                Source::Turns { blocks, .. } => {
                    half.copy_from_slice(&blocks.pop().unwrap_or([0.0; 2 * AudioOut::BLOCK]))
                }
            }
        }
        self.fade_over(&mut block.samples);
        self.follow_gain(&mut block.samples);
        self.pace.frames.store(block.frame + BLOCK as u64, Relaxed);
        if self.producer.push(block).is_err() {
            self.pace.dropped.fetch_add(1, Relaxed);
        }
        self.unsent += 1;
        let more = streamed && self.pace.credit.load(Relaxed) >= BLOCK as u64;
        if !more || self.unsent >= BURST {
            self.unsent = 0;
            self.ready.notify_one();
        }
    }

    /// From the gain of the last block to the one that is wanted.
    fn follow_gain(&mut self, samples: &mut [f32]) {
        let (from, to) = (self.gain, self.pace.gain());
        if (from, to) == (1.0, 1.0) {
            return;
        }
        for (i, frame) in samples.chunks_exact_mut(2).enumerate() {
            let gain = from + (to - from) * (i + 1) as f32 / BLOCK as f32;
            frame.iter_mut().for_each(|x| *x *= gain);
        }
        self.gain = to;
    }

    /// Out of the old world, then into the new one.
    fn fade_over(&mut self, samples: &mut [f32]) {
        if self.fade == 0 {
            return;
        }
        for frame in samples.chunks_exact_mut(2) {
            let left = self.fade as f32 / FADE as f32;
            let gain = if self.next.is_some() { left } else { 1.0 - left };
            frame.iter_mut().for_each(|x| *x *= gain);
            self.fade = self.fade.saturating_sub(1);
        }
        if self.fade == 0
            && let Some(next) = self.next.take()
        {
            let old = std::mem::replace(&mut self.feed, next);
            // If the control side is gone, there is nobody to free it but us.
            let _ = self.outgoing.send(old);
            // A take begins in silence, and is heard as it is kept.
            self.fade = if matches!(self.feed.out, Source::Own(_)) { FADE } else { 0 };
        }
    }
}

/// Raises the priority of this thread.
fn step_forward() {
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
    }
}
