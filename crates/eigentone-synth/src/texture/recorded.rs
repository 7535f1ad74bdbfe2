//! Recordings: loops that sound as long as a contact moves (Menzies 2011, §6.2.1).
//!
//! The ends of a loop are cross-faded once, when it is loaded. Of several loops the two whose event rates are the neighbours of the wanted one are mixed with equal power. In stretched loops the
//! micro-impacts are located once, when they are loaded; each is played as it was recorded, but begins when the speed of the contact has got there.

use super::Motion;
use eigentone_core::Noise;
use eigentone_core::texture::{self, MAX_LOOPS, Playback};
use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

/// Cross-fade at the ends of a loop.
const FADE_S: f64 = 0.05;

/// Shortest distance between two micro-impacts, and by how much one begins before it is noticed. Tuned: the ear does not tell closer ones apart.
const APART_S: f64 = 5e-3;
const BEFORE_S: f64 = 1e-3;

/// How much louder than the last 20 ms a micro-impact must be. Tuned.
const STANDS_OUT: f32 = 3.0;

/// Samples in which one micro-impact is faded out before the next.
const RELEASE: f64 = 64.0;

/// Fastest reading, as a multiple of the speed of the recording.
const FASTEST: f32 = 8.0;

/// Sound in memory, full scale at one.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    samples: Arc<[f32]>,
    sample_rate_hz: f64,
}

impl Recording {
    /// Scales a sound to full scale. What is not finite is silence.
    pub fn new(samples: &[f32], sample_rate_hz: f64) -> Self {
        let finite = |x: f32| if x.is_finite() { x } else { 0.0 };
        let peak = samples.iter().fold(0.0f32, |m, &x| m.max(finite(x).abs()));
        let scale = if peak > 0.0 { 1.0 / peak } else { 0.0 };
        Self { samples: samples.iter().map(|&x| scale * finite(x)).collect(), sample_rate_hz }
    }

    /// Joins the end to the beginning: 50 ms (a quarter of shorter sounds) are cross-faded with equal power, by which it becomes shorter.
    pub fn looped(&self) -> Self {
        let n = self.samples.len();
        let fade = ((FADE_S * self.sample_rate_hz) as usize).min(n / 4);
        let joined: Vec<f32> = (0..n - fade)
            .map(|i| match self.samples.get(n - fade + i) {
                Some(tail) => {
                    let (rising, falling) = (FRAC_PI_2 * (i as f32 + 0.5) / fade as f32).sin_cos();
                    rising * self.samples[i] + falling * tail
                }
                None => self.samples[i],
            })
            .collect();
        Self::new(&joined, self.sample_rate_hz)
    }

    /// The samples.
    pub fn samples(&self) -> &[f32] {
        &self.samples
    }

    /// Samples per second.
    pub fn sample_rate_hz(&self) -> f64 {
        self.sample_rate_hz
    }

    /// Where micro-impacts begin: where the envelope of the last millisecond stands out of the slow one. One at least.
    fn onsets(&self) -> Vec<f64> {
        let [fast, slow] = [1e-3, 0.02].map(|t| (-1.0 / (t * self.sample_rate_hz)).exp() as f32);
        let [apart, before] = [APART_S, BEFORE_S].map(|t| t * self.sample_rate_hz);
        let (mut quick, mut level) = (0.0f32, 0.0f32);
        let mut found: Vec<f64> = Vec::new();
        for (n, x) in self.samples.iter().enumerate() {
            quick = x.abs().max(fast * quick);
            // Full scale is one: what is 60 dB below does not count.
            let stands_out = quick > STANDS_OUT * level + 1e-3;
            level = quick + slow * (level - quick);
            let place = (n as f64 - before).max(0.0);
            if stands_out && found.last().is_none_or(|last| place > last + apart) {
                found.push(place);
            }
        }
        if found.is_empty() { vec![0.0] } else { found }
    }

    /// The value between samples, by a cubic; `place` is inside.
    #[inline]
    pub(super) fn at(&self, place: f64, wrap: bool) -> f32 {
        let n = self.samples.len();
        if n == 0 {
            return 0.0;
        }
        let whole = place as usize;
        let u = (place - whole as f64) as f32;
        let get = |i: usize| {
            let i = if wrap { i % n } else { i };
            self.samples.get(i).copied().unwrap_or(0.0)
        };
        let before = if whole > 0 {
            get(whole - 1)
        } else if wrap {
            get(n - 1)
        } else {
            0.0
        };
        let [a, b, c, d] = [before, get(whole), get(whole + 1), get(whole + 2)];
        b + 0.5 * u * ((c - a) + u * ((2.0 * a - 5.0 * b + 4.0 * c - d) + u * (3.0 * (b - c) + d - a)))
    }
}

/// The loops of a texture, ready to play.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    recordings: Vec<Recording>,
    /// Where the micro-impacts of each begin, in samples.
    onsets: Vec<Vec<f64>>,
    /// Events per second of each.
    events_per_s: Vec<f32>,
    events_per_m: f32,
    playback: Playback,
}

impl Loops {
    pub fn new(shape: &texture::Recorded, recordings: &[Recording]) -> Self {
        let recordings: Vec<Recording> = recordings.iter().map(Recording::looped).collect();
        Self {
            onsets: recordings.iter().map(Recording::onsets).collect(),
            recordings,
            events_per_s: shape.loops.iter().map(|l| l.events_per_s).collect(),
            events_per_m: shape.events_per_m,
            playback: shape.playback,
        }
    }

    /// How loud each loop is at a speed.
    fn mix(&self, speed_m_s: f32) -> [f32; MAX_LOOPS] {
        let mut gains = [0.0; MAX_LOOPS];
        let wanted = self.events_per_m * speed_m_s;
        let right = self.events_per_s.partition_point(|&rate| rate <= wanted).min(self.events_per_s.len() - 1);
        let left = right.saturating_sub(1);
        let (low, high) = (self.events_per_s[left], self.events_per_s[right]);
        let share = if high > low { ((wanted - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
        (gains[right], gains[left]) = if left == right { (1.0, 1.0) } else { (FRAC_PI_2 * share).sin_cos() };
        gains
    }
}

/// Where a loop is being read.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    place: f64,
    /// The micro-impacts that are heard, the new and the old: where each is and where it ends.
    heard: [[f64; 2]; 2],
    /// Which comes next.
    next: usize,
}

/// What plays the loops of one contact.
#[derive(Clone, Debug)]
pub(super) struct Player {
    loops: Arc<Loops>,
    heads: [Head; MAX_LOOPS],
    gains: [f32; MAX_LOOPS],
    rate_hz: f32,
}

impl Player {
    pub fn new(loops: Arc<Loops>, start: u64, rate_hz: f32) -> Self {
        let mut noise = Noise::new(start);
        let mut heads = [Head::default(); MAX_LOOPS];
        for ((head, recording), onsets) in heads.iter_mut().zip(&loops.recordings).zip(&loops.onsets) {
            head.place = noise.uniform() * recording.samples.len() as f64;
            head.next = onsets.partition_point(|&onset| onset <= head.place) % onsets.len();
        }
        Self { gains: loops.mix(0.0), loops, heads, rate_hz }
    }

    pub fn fill(&mut self, motion: &Motion, out: &mut [f32]) {
        out.fill(0.0);
        let next = self.loops.mix(motion.drive(out.len().saturating_sub(1)));
        let each = 1.0 / out.len().max(1) as f32;
        for (i, recording) in self.loops.recordings.iter().enumerate() {
            let (from, to) = (self.gains[i], next[i]);
            if from == 0.0 && to == 0.0 || recording.samples.is_empty() {
                continue;
            }
            let (head, original) = (&mut self.heads[i], recording.sample_rate_hz / f64::from(self.rate_hz));
            for (n, y) in out.iter_mut().enumerate() {
                let heard = match self.loops.playback {
                    Playback::OriginalRate => head.read(recording, original),
                    Playback::Resampled(speed) => {
                        head.read(recording, original * f64::from((motion.drive(n) / speed).min(FASTEST)))
                    }
                    Playback::Stretched(speed) => {
                        let pace = f64::from((motion.drive(n) / speed).min(FASTEST));
                        head.stretch(recording, &self.loops.onsets[i], original, pace)
                    }
                };
                *y += (from + (to - from) * (n + 1) as f32 * each) * heard;
            }
        }
        self.gains = next;
    }
}

impl Head {
    #[inline]
    fn read(&mut self, recording: &Recording, step: f64) -> f32 {
        let y = recording.at(self.place, true);
        self.place = (self.place + step) % recording.samples.len() as f64;
        y
    }

    fn stretch(&mut self, recording: &Recording, onsets: &[f64], step: f64, pace: f64) -> f32 {
        let length = recording.samples.len() as f64;
        let before = self.place;
        self.place = (before + pace * step) % length;
        let onset = onsets[self.next];
        let passed = if self.place >= before {
            before < onset && onset <= self.place
        } else {
            onset > before || onset <= self.place
        };
        if passed {
            self.next = (self.next + 1) % onsets.len();
            let following = onsets[self.next];
            let [at, end] = self.heard[0];
            self.heard =
                [[onset, if following > onset { following } else { following + length }], [at, end.min(at + RELEASE)]];
        }
        let mut y = 0.0;
        for [at, end] in &mut self.heard {
            if *at < *end {
                y += ((*end - *at) / RELEASE).min(1.0) as f32 * recording.at(*at % length, true);
                *at += step;
            }
        }
        y
    }
}
