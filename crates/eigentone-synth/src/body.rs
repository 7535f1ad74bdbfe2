//! One body on the audio thread: a modal resonator of which only the modes worth it are computed, with everything that acts on it.
//!
//! The state of every mode is a complex number that was true at some moment (`since`). Modes that are *on* live in the [`Lanes`], from which
//! the kernels compute; the others cost nothing until they are looked at, and are then turned and shrunk to the present in one step. At a policy visit, at
//! a blow and when the tuning changes everything is brought to the present ([`Body::settle`]), decided ([`decide`]) and laid out anew ([`Body::load`]).
//! Modes that come and go are faded over one block's length.

mod decide;
mod exchange;
mod force_spectrum;
mod forces;
mod hit;
mod lanes;
mod look;
mod modulation;
mod nonlinear;
mod render;
mod tones;
pub(crate) mod view;
mod wake;

pub(crate) use exchange::{Exchange, NONE, Relink, Same, match_modes};
pub(crate) use hit::{Gathered, Hit};
pub use look::ModeStatus;
pub use modulation::Glide;
pub use nonlinear::{Nonlinear, Shaper};

use crate::BLOCK;
use crate::diffuse::DiffuseBank;
use crate::drive::{Drive, Force};
use crate::kernel::{Kernels, LANES, Levels, Partial, advance_one};
use crate::policy::masking::{Curve, Maskers};
use crate::table::ModeTable;
use lanes::Lanes;
use modulation::Modulation;
use nonlinear::Sections;
use std::sync::Arc;
use tones::Tones;

/// Forces that can act on one body at once. A blow that finds none free is given as an impulse with the same spectrum.
pub(crate) const DRIVES: usize = 6;

/// Largest gain.
const MAX_GAIN: f32 = 1e6;

/// Largest energy that is reckoned with.
const MAX_ENERGY: f32 = 1e30;

/// What a mode is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Off,
    On,
    Entering,
    Leaving,
}

/// Memory for one body's work at a time.
#[derive(Debug)]
pub(crate) struct Scratch {
    main: [Partial; BLOCK],
    entering: [Partial; BLOCK],
    leaving: [Partial; BLOCK],
    forces: [Force; DRIVES],
    pub push: Vec<f32>,
    re: Vec<f32>,
    im: Vec<f32>,
    pub select: Vec<f32>,
    /// Decibels by which each mode is above what could hide it.
    margin: Vec<f32>,
    own_margin: Vec<f32>,
    maskers: Maskers,
    curve: Curve,
    /// Modes that are heard or nearly so.
    near: Vec<u32>,
    active: Vec<u32>,
    merged: Vec<u32>,
    zero: [Vec<f32>; 2],
    section: [f32; BLOCK],
    /// What each body may have, by rank.
    pub grants: Vec<usize>,
}

impl Scratch {
    pub fn new(max_modes: usize, max_bodies: usize) -> Self {
        let modes = max_modes.next_multiple_of(LANES);
        let room = || vec![0.0; modes];
        Self {
            main: [Partial::default(); BLOCK],
            entering: [Partial::default(); BLOCK],
            leaving: [Partial::default(); BLOCK],
            forces: std::array::from_fn(|_| Force { plain: [0.0; BLOCK], differenced: [0.0; BLOCK] }),
            push: room(),
            re: room(),
            im: room(),
            select: Vec::with_capacity(modes),
            margin: room(),
            own_margin: room(),
            maskers: Maskers::default(),
            curve: Curve::default(),
            near: vec![0; modes],
            active: Vec::with_capacity(modes),
            merged: Vec::with_capacity(modes),
            zero: [vec![0.0; Lanes::capacity(modes)], vec![0.0; Lanes::capacity(modes)]],
            section: [0.0; BLOCK],
            grants: vec![0; max_bodies],
        }
    }
}

/// What all bodies need to know about the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub kernels: Kernels,
    pub rate_hz: f64,
    /// Largest force and impulse that are let through.
    pub max_force_n: f32,
    pub max_impulse_ns: f32,
}

/// A sounding body.
#[derive(Debug)]
pub(crate) struct Body {
    pub table: Arc<ModeTable>,
    re: Vec<f32>,
    im: Vec<f32>,
    energy: Vec<f32>,
    level: Vec<f32>,
    status: Vec<Status>,
    /// Gain that makes up for masked neighbours; one unless compensation is on.
    makeup: Vec<f32>,
    /// Base-2 logarithm of its change per sample.
    makeup_rate: Vec<f32>,
    makeup_rests: bool,
    /// The moment each state is true at, for modes that are not in the lanes (lower half of the clock).
    since: Vec<u32>,
    /// Modes that are not off, in rising order.
    members: Vec<u32>,
    /// When all states were last brought to the present.
    settled: u64,
    /// When levels were last true, and whether nothing but decay has happened since.
    measured: u64,
    calm: bool,
    lanes: Lanes,
    /// Samples until entering modes are in and leaving ones out.
    fade_left: usize,
    /// What is left of sound that was silenced, and how much of it has been heard.
    tail: [f32; BLOCK],
    tail_at: usize,
    /// Samples for which it has been fading out as the tail of another model; all of them once that is over.
    fading: Option<u32>,
    drives: [Drive; DRIVES],
    /// Whether any of them acts; if not, they are not even looked at.
    forced: bool,
    modulation: Modulation,
    tones: Tones,
    sections: Option<Box<Sections>>,
    diffuse: Option<Box<DiffuseBank>>,
    /// Gain reached, emphasis included, and where gain and emphasis shall be.
    gain: f32,
    gain_goal: f32,
    pub emphasis: f32,
    /// What comes between the body and the listener, as a factor. It does not change the sound, only what is worth computing.
    heard: f32,
    /// The same when its modes were last judged.
    pub(super) judged: f32,
    /// Blocks in which it must be looked at, because a force has just begun to act and nobody knows yet which modes it moves.
    pub eager: u8,
    /// Whether the last block had sound.
    pub sounded: bool,
    /// Sound of the modes in the last block, before gain.
    pub ring: [f32; BLOCK],
    /// Sound of the body in the last block.
    pub bus: [f32; BLOCK],
    /// What the policy last found.
    pub account: Account,
    /// Spectrum of the force, if a continuous one acts.
    spectrum: Box<force_spectrum::ForceSpectrum>,
}

/// What the policy knows of a body between visits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Account {
    /// Sum of mode energies times gain squared.
    pub energy: f32,
    /// Modes that deserve to be computed.
    pub wanted: usize,
    /// Modes it may have.
    pub granted: usize,
    pub truncated: usize,
    pub masked: usize,
    pub scaled: usize,
    /// All modes are below the truncation level and nothing acts: no visit is needed until something does.
    pub asleep: bool,
}

/// How a body is made, besides its modes.
pub(crate) struct Making {
    pub glide: Option<Glide>,
    pub strain_sensitivity: f32,
    pub nonlinear: Option<Nonlinear>,
    pub diffuse: Option<Box<DiffuseBank>>,
    pub gain: f32,
}

impl Body {
    /// Allocates all a body will ever need.
    pub fn new(table: Arc<ModeTable>, making: Making, rate_hz: f64) -> Self {
        let n = table.padded;
        let capacity = Lanes::capacity(n);
        let sections = making.nonlinear.map(|settings| Box::new(Sections::new(settings, &table, rate_hz)));
        Self {
            re: vec![0.0; n],
            im: vec![0.0; n],
            energy: vec![0.0; n],
            level: vec![-400.0; n],
            status: vec![Status::Off; n],
            makeup: vec![1.0; n],
            makeup_rate: vec![0.0; n],
            makeup_rests: true,
            since: vec![0; n],
            members: Vec::with_capacity(n),
            settled: 0,
            measured: 0,
            calm: false,
            lanes: Lanes::new(n),
            fade_left: 0,
            tail: [0.0; BLOCK],
            tail_at: BLOCK,
            fading: None,
            drives: std::array::from_fn(|_| Drive::new(n, capacity)),
            forced: false,
            modulation: Modulation::new(making.glide, making.strain_sensitivity, &table),
            tones: Tones::new(n),
            sections,
            diffuse: making.diffuse,
            gain: making.gain,
            gain_goal: making.gain,
            emphasis: 1.0,
            heard: 1.0,
            judged: 1.0,
            eager: 0,
            sounded: false,
            ring: [0.0; BLOCK],
            bus: [0.0; BLOCK],
            account: Account { asleep: true, granted: usize::MAX, ..Account::default() },
            spectrum: Box::default(),
            table,
        }
    }

    /// Modes being computed, those fading included.
    pub fn mixed(&self) -> usize {
        self.members.len()
    }

    /// Whether there is anything to compute in the next block.
    pub fn is_sounding(&self) -> bool {
        self.mixed() > 0
            || self.tail_at < BLOCK
            || self.forced
            || self.diffuse.as_ref().is_some_and(|d| d.is_sounding())
    }

    /// Brings all states to the present.
    fn settle(&mut self, now: u64, world: &World) {
        let poles = self.modulation.poles(&self.table);
        (world.kernels.wide.advance)(&mut self.re, &mut self.im, poles, &self.since, now as u32);
        self.since.fill(now as u32);
        self.settled = now;
        self.store(now);
    }

    /// Brings one state that is not in the lanes to the present.
    fn settle_one(&mut self, k: usize, now: u64) {
        let poles = self.modulation.poles(&self.table);
        let elapsed = (now as u32).wrapping_sub(self.since[k]);
        let z = (self.re[k], self.im[k]);
        (self.re[k], self.im[k]) = advance_one(z, poles.turn[k], poles.fade[k], poles.scale, poles.damping, elapsed);
        self.since[k] = now as u32;
    }

    /// Before the clock's lower half comes round, once in a day.
    pub fn keep_time(&mut self, now: u64, world: &World, scratch: &mut Scratch) {
        if now - self.settled > 1 << 31 {
            self.settle(now, world);
            self.load(now, world, scratch);
        }
    }

    fn measure(&mut self, now: u64, world: &World) {
        (world.kernels.wide.levels)(&self.re, &self.im, Levels { energy: &mut self.energy, level: &mut self.level });
        self.measured = now;
    }

    /// Changes decay rates, frequencies or strain.
    pub fn tune(&mut self, change: impl FnOnce(&mut Modulation), now: u64, world: &World, scratch: &mut Scratch) {
        self.settle(now, world);
        change(&mut self.modulation);
        self.calm = false;
        self.load(now, world, scratch);
    }

    /// The gain moves to this in the course of a block. What was too quiet to be computed may not be any more.
    pub fn set_gain(&mut self, gain: f32) {
        self.gain_goal = gain.clamp(-MAX_GAIN, MAX_GAIN);
        self.account.asleep = false;
    }

    pub fn set_emphasis(&mut self, emphasis: f32) {
        self.emphasis = emphasis.abs().min(MAX_GAIN);
        self.account.asleep = false;
    }

    /// Its share at the listener, from now on. What sleeps is looked at again only if it might be heard now.
    pub fn set_audibility(&mut self, heard: f32) {
        self.heard = heard.abs().min(MAX_GAIN);
        // However slowly it has come to this.
        if self.heard > 1.1 * self.judged {
            self.account.asleep = false;
            self.judged = self.heard;
        }
    }

    /// Whether nothing but free decay can happen to modes that are left alone.
    fn is_linear_and_at_rest(&self) -> bool {
        self.sections.is_none() && self.modulation.is_at_rest()
    }

    /// Gain at the end of the current block, as amplitude.
    pub fn loudness(&self) -> f32 {
        self.gain_goal * self.emphasis
    }

    /// Gain at the listener, by which modes are judged.
    pub fn audibility(&self) -> f32 {
        self.loudness() * self.heard
    }

    /// Modes that fade out.
    pub fn leaving(&self) -> usize {
        if self.fade_left == 0 {
            return 0;
        }
        self.members.iter().filter(|&&k| self.status[k as usize] == Status::Leaving).count()
    }

    /// Forgets the sound of the last block.
    pub fn rest(&mut self) {
        self.ring = [0.0; BLOCK];
        self.bus = [0.0; BLOCK];
        self.gain = self.loudness();
        self.sounded = false;
    }
}
