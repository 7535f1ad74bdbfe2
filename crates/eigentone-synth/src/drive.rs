//! Forces that act on a body for longer than a moment.

use crate::BLOCK;
use crate::exciter::HalfSine;
use eigentone_core::model::SiteBlend;

/// What makes the force.
#[derive(Debug)]
pub(crate) enum Source {
    /// Nothing; the drive is free.
    None,
    /// A half-sine.
    Blow(Blow),
    /// Samples sent by the control side, in newtons.
    Stream(Box<rtrb::Consumer<f32>>),
    /// Another body's sound, through a bridge; filled in by the engine before each block.
    Bridge(Box<[f32; BLOCK]>),
    /// Contacts; their forces are summed in [`Drive::feed`] before each block.
    Contacts,
}

/// A half-sine at a place on the engine's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blow {
    /// Sample at which [`HalfSine::at`] counts zero.
    pub origin: u64,
    pub pulse: HalfSine,
    /// Samples after the origin at which it is over.
    pub end: u64,
}

/// A place on a body and a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    pub site: SiteBlend,
    pub direction: [f32; 3],
}

/// A force and how strongly it moves each mode.
#[derive(Debug)]
pub(crate) struct Drive {
    pub source: Source,
    /// Where it pushes, if it goes on.
    pub aim: Option<Aim>,
    /// Per mode, divided by the sample rate.
    pub weights: Vec<f32>,
    /// The same in the order of the lanes.
    pub lane_weights: Vec<f32>,
    /// The last two forces, for the difference that two-pole filters take.
    history: [f32; 2],
    /// Samples left after the end, while the difference still sees the force.
    tail: u32,
    /// What contacts and bridges do in the coming block.
    pub feed: Box<Feed>,
    /// Contacts that push here.
    pub riders: u32,
}

/// What contacts do in a block.
#[derive(Debug)]
pub(crate) struct Feed {
    /// Their force.
    pub force: [f32; BLOCK],
    /// What of it is heard without resonance, in Pa.
    pub direct: [f32; BLOCK],
}

impl Feed {
    pub const SILENCE: Self = Self { force: [0.0; BLOCK], direct: [0.0; BLOCK] };
}

/// The force over a stretch of a block, plain and differenced.
#[derive(Debug)]
pub(crate) struct Force {
    pub plain: [f32; BLOCK],
    pub differenced: [f32; BLOCK],
}

impl Drive {
    pub fn new(modes: usize, lanes: usize) -> Self {
        Self {
            source: Source::None,
            aim: None,
            weights: vec![0.0; modes],
            lane_weights: vec![0.0; lanes],
            history: [0.0; 2],
            tail: 0,
            feed: Box::new(Feed::SILENCE),
            riders: 0,
        }
    }

    pub fn is_free(&self) -> bool {
        matches!(self.source, Source::None) && self.tail == 0
    }

    /// Whether a blow acts.
    pub fn is_blow(&self) -> bool {
        matches!(self.source, Source::Blow(_)) || self.tail > 0
    }

    /// Whether it goes on until it is closed.
    pub fn is_continuous(&self) -> bool {
        matches!(self.source, Source::Stream(_) | Source::Bridge(_) | Source::Contacts)
    }

    /// Whether contacts push here.
    pub fn is_of_contacts(&self) -> bool {
        matches!(self.source, Source::Contacts)
    }

    /// Whether it is a stream whose writer is gone and whose samples are used up.
    pub fn is_abandoned(&self) -> bool {
        matches!(&self.source, Source::Stream(s) if s.is_abandoned() && s.is_empty())
    }

    /// The force moves the modes as `push`, per newton-second.
    pub fn weigh(&mut self, push: &[f32], rate_hz: f64) {
        for (w, g) in self.weights.iter_mut().zip(push) {
            *w = g / rate_hz as f32;
        }
    }

    /// Starts a force that moves the modes as `push`, per newton-second.
    pub fn start(&mut self, source: Source, push: &[f32], rate_hz: f64) {
        self.weigh(push, rate_hz);
        self.source = source;
        self.aim = None;
        *self.feed = Feed::SILENCE;
        self.history = [0.0; 2];
        self.tail = 0;
    }

    /// Ends the force. What comes back must be freed elsewhere.
    pub fn stop(&mut self) -> Source {
        self.tail = 2;
        std::mem::replace(&mut self.source, Source::None)
    }

    /// Goes on where another drive is, but for its source and weights.
    pub fn follow(&mut self, other: &Drive) {
        (self.aim, self.history, self.tail, self.riders) = (other.aim, other.history, other.tail, other.riders);
    }

    /// Is free at once.
    pub fn forget(&mut self) {
        (self.aim, self.history, self.tail, self.riders) = (None, [0.0; 2], 0, 0);
    }

    /// Computes the force at samples `from..from + len` of the block that begins at `block_start`. Returns how many samples of a
    /// stream were missing.
    pub fn fill(
        &mut self,
        out: &mut Force,
        block_start: u64,
        from: usize,
        len: usize,
        rate_hz: f64,
        max_n: f32,
    ) -> usize {
        let mut missing = 0;
        let plain = &mut out.plain[..len];
        match &mut self.source {
            Source::None => plain.fill(0.0),
            Source::Blow(blow) => {
                let begin = block_start + from as u64;
                for (n, f) in plain.iter_mut().enumerate() {
                    *f = blow.pulse.at((begin + n as u64).saturating_sub(blow.origin), rate_hz) as f32;
                }
                if begin + len as u64 >= blow.origin + blow.end {
                    self.stop();
                }
            }
            Source::Stream(consumer) => {
                for f in plain.iter_mut() {
                    *f = consumer.pop().unwrap_or_else(|_| {
                        missing += 1;
                        0.0
                    });
                }
            }
            Source::Bridge(buffer) => plain.copy_from_slice(&buffer[from..from + len]),
            Source::Contacts => plain.copy_from_slice(&self.feed.force[from..from + len]),
        }
        // The impulse of a blow was clipped already, and its pulse is that of a unit impulse.
        if self.is_continuous() {
            for f in plain.iter_mut() {
                *f = if f.is_finite() { f.clamp(-max_n, max_n) } else { 0.0 };
            }
        }
        for n in 0..len {
            out.differenced[n] = 0.5 * (out.plain[n] - self.history[0]);
            self.history = [self.history[1], out.plain[n]];
        }
        if matches!(self.source, Source::None) {
            self.tail = self.tail.saturating_sub(len as u32);
        }
        missing
    }
}
