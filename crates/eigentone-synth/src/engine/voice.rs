//! Contacts that go on: on the audio side each is a voice that reads both surfaces and pushes both bodies.
//!
//! The control side makes a voice with all memory it needs and then only sends it keyframes: how hard the surfaces are pressed together and how fast they
//! slip and roll, at moments on the engine's clock. Between them everything moves in straight lines, a block at a time. A voice that falls silent gives its place on the bodies free,
//! so that a resting contact costs nothing.

use crate::BLOCK;
use crate::bank::StepBank;
use crate::texture::{ContactState, Direct, Generator};
use eigentone_core::event::{BodyId, Moment};
use eigentone_core::model::SiteBlend;

/// Points of a contact that are followed one by one.
pub const POINTS: usize = 4;

/// Keyframes that can wait: a fifth of a second at 480 steps a second, for worlds that run ahead of their sound.
const KEYS: usize = 96;

/// A contact in an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContactId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// One point of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointState {
    /// Force along the normal, in N.
    pub force_n: f32,
    /// Speed at which the surfaces slip, in m/s.
    pub slip_m_s: f32,
    /// Speed at which the point travels over each surface, in m/s.
    pub travel_m_s: [f32; 2],
    /// How rough each surface is at this place, as a factor.
    pub roughness: [f32; 2],
}

impl Default for PointState {
    /// At rest.
    fn default() -> Self {
        Self { force_n: 0.0, slip_m_s: 0.0, travel_m_s: [0.0; 2], roughness: [1.0; 2] }
    }
}

impl PointState {
    fn between(&self, other: &Self, share: f32) -> Self {
        let mix = |a: f32, b: f32| a + share * (b - a);
        Self {
            force_n: mix(self.force_n, other.force_n),
            slip_m_s: mix(self.slip_m_s, other.slip_m_s),
            travel_m_s: [0, 1].map(|i| mix(self.travel_m_s[i], other.travel_m_s[i])),
            roughness: [0, 1].map(|i| mix(self.roughness[i], other.roughness[i])),
        }
    }
}

/// What a contact is like at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// When.
    pub time: Moment,
    /// Its points.
    pub points: [PointState; POINTS],
    /// Where it pushes each body.
    pub sites: [SiteBlend; 2],
    /// Along which direction, in each body's own frame.
    pub directions: [[f32; 3]; 2],
}

/// A recorded sound that plays once, as a force in newtons and as sound in pascals.
#[derive(Debug)]
pub(crate) struct Clip {
    pub begin: u64,
    pub force: Vec<f32>,
    pub direct_pa_per_n: f32,
}

/// The two surfaces at one point.
#[derive(Debug)]
pub(crate) struct Grain {
    pub generators: [Generator; 2],
    /// Way travelled over each, in m.
    pub way_m: [f64; 2],
    /// What a stick-slip contact moves here, sample by sample.
    pub feedback: Option<StepBank>,
}

/// A place on a body: a drive, and whether it is the voice's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    pub drive: usize,
    pub own: bool,
}

/// A contact at work.
#[derive(Debug)]
pub(crate) struct Voice {
    pub bodies: [Option<BodyId>; 2],
    pub seats: [Option<Seat>; 2],
    grains: Vec<Grain>,
    clip: Option<Clip>,
    mass_over_stiffness_s: f32,
    direct_paths: [Option<Direct>; 2],
    /// The keyframe that was passed last, and those to come.
    last: Keyframe,
    keys: std::collections::VecDeque<Keyframe>,
    /// When it ends, and how many samples before it fades.
    end: Option<u64>,
    /// Whether place or direction have changed since the bodies last heard of them.
    pub moved: bool,
    pub force: [f32; BLOCK],
    pub direct: [f32; BLOCK],
}

/// All points as one: the whole force, and the speeds of the points by their share in it.
fn gathered(points: &[PointState; POINTS]) -> [PointState; POINTS] {
    let force_n: f32 = points.iter().map(|p| p.force_n).sum();
    let mean = |f: &dyn Fn(&PointState) -> f32| {
        points.iter().map(|p| f(p) * p.force_n).sum::<f32>() / force_n.max(f32::MIN_POSITIVE)
    };
    let mut one = [PointState::default(); POINTS];
    one[0] = PointState {
        force_n,
        slip_m_s: mean(&|p| p.slip_m_s),
        travel_m_s: [mean(&|p| p.travel_m_s[0]), mean(&|p| p.travel_m_s[1])],
        roughness: [mean(&|p| p.roughness[0]), mean(&|p| p.roughness[1])],
    };
    one
}

/// Length of the fade at the end of a contact: 10 ms.
const FADE_S: f64 = 0.01;

/// The same in samples.
pub(super) fn fade_samples(rate_hz: f64) -> u64 {
    (FADE_S * rate_hz).max(1.0) as u64
}

impl Voice {
    pub fn new(
        bodies: [Option<BodyId>; 2],
        grains: Vec<Grain>,
        mass_over_stiffness_s: f32,
        direct: [Option<Direct>; 2],
        first: Keyframe,
    ) -> Self {
        Self {
            bodies,
            seats: [None; 2],
            grains,
            clip: None,
            mass_over_stiffness_s,
            direct_paths: direct,
            last: first,
            keys: std::collections::VecDeque::with_capacity(KEYS),
            end: None,
            moved: false,
            force: [0.0; BLOCK],
            direct: [0.0; BLOCK],
        }
    }

    /// A voice that plays a recording and ends.
    pub fn clip(bodies: [Option<BodyId>; 2], clip: Clip, first: Keyframe) -> Self {
        let end = clip.begin + clip.force.len() as u64;
        Self { clip: Some(clip), end: Some(end), ..Self::new(bodies, Vec::new(), 0.0, [None; 2], first) }
    }

    /// Takes in a keyframe; false if too many wait. They come in the order of time.
    pub fn push(&mut self, key: Keyframe) -> bool {
        let room = self.keys.len() < KEYS;
        if room {
            self.keys.push_back(key);
        }
        room
    }

    /// Ends at this sample; the fade is over then.
    pub fn close(&mut self, at: u64) {
        self.end = Some(self.end.map_or(at, |end| end.min(at)));
    }

    pub fn sites(&self) -> ([SiteBlend; 2], [[f32; 3]; 2]) {
        (self.last.sites, self.last.directions)
    }

    /// Moves the places at which it pushes one of its bodies, now and in keyframes to come.
    pub fn move_sites(&mut self, side: usize, to: impl Fn(&mut SiteBlend)) {
        let keys = self.keys.iter_mut().chain([&mut self.last]);
        keys.for_each(|key| to(&mut key.sites[side]));
        self.moved = true;
    }

    /// Whether it has ended before `clock`.
    pub fn is_over(&self, clock: u64) -> bool {
        self.end.is_some_and(|end| end <= clock)
    }

    /// Computes the block that begins at `clock`; false if it is silent. A crowd of contacts is told apart no longer by its points: all force is then in one.
    pub fn render(&mut self, clock: u64, rate_hz: f64, crowd: bool) -> bool {
        let mut states = self.advance(clock + BLOCK as u64);
        if crowd {
            states = gathered(&states);
        }
        (self.force, self.direct) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut sounds = false;
        for (grain, state) in self.grains.iter_mut().zip(&states) {
            let mut felt = false;
            for side in 0..2 {
                let generator = &mut grain.generators[side];
                let moves = state.slip_m_s > 0.0 || state.travel_m_s[side] > 0.0;
                if generator.is_silent() && !(moves && state.force_n > 0.0) {
                    continue;
                }
                grain.way_m[side] += f64::from(state.travel_m_s[side]) * BLOCK as f64 / rate_hz;
                let state = ContactState {
                    slip_m_s: state.slip_m_s,
                    travel_m_s: state.travel_m_s[side],
                    force_n: state.force_n,
                    mass_over_stiffness_s: self.mass_over_stiffness_s,
                    position_m: grain.way_m[side],
                    roughness: state.roughness[side],
                };
                let mut out = [0.0; BLOCK];
                // Of two surfaces that stick, the first moves the body: a bank must not be stepped twice.
                match grain.feedback.as_mut().filter(|_| generator.feels() && !felt) {
                    Some(bank) => {
                        felt = true;
                        generator.fill_with(&state, &mut out, |f| bank.step(f));
                    }
                    None => generator.fill(&state, &mut out),
                }
                if generator.is_silent() {
                    continue;
                }
                sounds = true;
                self.force.iter_mut().zip(&out).for_each(|(y, x)| *y += x);
                if let Some(direct) = &mut self.direct_paths[side] {
                    direct.add(&out, &mut self.direct);
                }
            }
        }
        sounds |= self.play_clip(clock);
        if sounds {
            self.fade(clock, rate_hz);
        }
        sounds
    }

    /// The states at `target`.
    fn advance(&mut self, target: u64) -> [PointState; POINTS] {
        while let Some(key) = self.keys.front().filter(|k| k.time.sample <= target).copied() {
            self.moved |= key.sites != self.last.sites || key.directions != self.last.directions;
            self.last = key;
            self.keys.pop_front();
        }
        let Some(next) = self.keys.front() else { return self.last.points };
        let (from, to) = (self.last.time.sample as f64, next.time.sample as f64);
        let share = if to > from { ((target as f64 - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
        std::array::from_fn(|i| self.last.points[i].between(&next.points[i], share as f32))
    }

    fn play_clip(&mut self, clock: u64) -> bool {
        let Some(clip) = &self.clip else { return false };
        let mut any = false;
        for n in 0..BLOCK {
            let at = (clock + n as u64).checked_sub(clip.begin).map(|at| at as usize);
            if let Some(f) = at.and_then(|at| clip.force.get(at)) {
                self.force[n] += f;
                self.direct[n] += f * clip.direct_pa_per_n;
                any = true;
            }
        }
        any
    }

    fn fade(&mut self, clock: u64, rate_hz: f64) {
        let Some(end) = self.end else { return };
        let length = fade_samples(rate_hz) as f32;
        for n in 0..BLOCK {
            let left = end.saturating_sub(clock + n as u64) as f32;
            let gain = (left / length).min(1.0);
            self.force[n] *= gain;
            self.direct[n] *= gain;
        }
    }
}
