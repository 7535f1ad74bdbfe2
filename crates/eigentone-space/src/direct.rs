//! The direct sound of many sources, and what each gives to the buses of reverberation.
//!
//! The control side makes a [`Direct`] and hands it to the audio side. There, for each block: [`aim`](Direct::aim) says where a source is to be at the end of the next block, and
//! [`add`](Direct::add) renders that block. Everything goes in straight lines over the block; a source that is new begins at its target. Nothing here allocates, locks or fails, and targets
//! that are not numbers are made safe.
//!
//! ```
//! use eigentone_space::BLOCK;
//! use eigentone_space::direct::{BUSES, Direct, Spatial, Target};
//!
//! let mut direct = Direct::new(44_100.0, 16, Spatial::Head);
//! let (mut out, mut buses) = ([[0.0; BLOCK]; 2], [[0.0; BLOCK]; BUSES]);
//! direct.aim(3, Target { gain: 0.5, direction: [1.0, 0.0, 0.0], ..Target::default() });
//! direct.add(3, &[1.0; BLOCK], &mut out, &mut buses);
//! assert!(out[1][20] > out[0][20], "from the right, and later at the left ear");
//! ```

pub(crate) mod block;
mod source;
#[cfg(test)]
mod tests;
mod voices;

pub use crate::direct::block::BUSES;

use crate::BLOCK;
use crate::delay::MARGIN;
use crate::direct::block::{Ears, Job, Ramped};
use crate::doppler::{self, Doppler};
use crate::hrtf::Hrtf;
use crate::one_pole::pole;
use crate::tilt::TiltTable;
use crate::{head, kernel, pan};
use source::{Life, Source};
use std::sync::Arc;
use voices::Voices;

/// Highest frequency of a field for which tilts are meant, unless [`Direct::set_field`] says otherwise.
pub const DEFAULT_F_MAX_HZ: f64 = 500.0;

/// As many sources as are worth measured responses, if nothing else is known.
pub const DEFAULT_MEASURED: usize = 16;

/// Longest delay to an ear that measured responses may have.
const LONGEST_MEASURED_S: f64 = 1e-3;

/// How a direction becomes two channels.
#[derive(Clone, Debug)]
pub enum Spatial {
    /// By level alone, for loudspeakers.
    Pan,
    /// By a [spherical head](crate::head), for headphones.
    Head,
    /// By measured responses for the loudest sources, as many as given ([`DEFAULT_MEASURED`]); by the spherical head for all others.
    Hrtf(Arc<Hrtf>, usize),
}

/// Where a source shall be at the end of the next block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Gain of the direct sound, `1/distance` included. Below −120 dB it is nothing.
    pub gain: f32,
    /// Slope of the direct sound in dB per octave, see [`tilt`](crate::tilt).
    pub tilt_db: f32,
    /// Direction in the listener's frame: right, forward, up. Its length does not matter; no length is forward.
    pub direction: [f32; 3],
    /// Way of the direct sound. Heard only as the time it takes, if [`Direct::set_doppler`] says so.
    pub distance_m: f32,
    /// Gains of the dry sound into the three early buses.
    pub early: [f32; 3],
    /// Gains of the dry sound into the three late buses.
    pub late: [f32; 3],
    /// Gain at high frequencies in the listener's direction, see [`Directivity::gain`](crate::directivity::Directivity::gain); one costs nothing.
    pub directivity_gain: f32,
    /// Frequency below which the source is omnidirectional.
    pub directivity_cutoff_hz: f32,
}

impl Default for Target {
    /// In front at one metre, without a room.
    fn default() -> Self {
        Self {
            gain: 1.0,
            tilt_db: 0.0,
            direction: [0.0, 1.0, 0.0],
            distance_m: 1.0,
            early: [0.0; 3],
            late: [0.0; 3],
            directivity_gain: 1.0,
            directivity_cutoff_hz: 500.0,
        }
    }
}

/// The audio side of all sources.
#[derive(Debug)]
pub struct Direct {
    sample_rate_hz: f64,
    sources: Vec<Source>,
    /// What the ears of each source got lately.
    pasts: Vec<f32>,
    /// Samples per ear.
    past: usize,
    scratch: Vec<f32>,
    tilts: TiltTable,
    /// Where the tilts go, and the blocks until they are there.
    tilt_goal: (TiltTable, u32),
    head_pole: f32,
    pan: bool,
    voices: Option<Voices>,
    doppler: Option<Box<Doppler>>,
    /// Share of the sound that takes its time, at the beginning and the end of this block.
    delayed: [f32; 2],
    delayed_goal: f32,
    render: kernel::Block,
}

impl Direct {
    /// A place for `max_sources` sources, numbered from 0. This is the control side's work: it allocates all that is ever needed.
    pub fn new(sample_rate_hz: f64, max_sources: usize, spatial: Spatial) -> Self {
        let longest_s = match &spatial {
            Spatial::Pan => 0.0,
            Spatial::Head => head::longest_delay_s(),
            Spatial::Hrtf(..) => LONGEST_MEASURED_S,
        };
        let pan = matches!(spatial, Spatial::Pan);
        let past = if pan { 0 } else { ((longest_s * sample_rate_hz).ceil() as usize + MARGIN).next_multiple_of(8) };
        let voices = match spatial {
            Spatial::Hrtf(hrtf, most) => Some(Voices::new(hrtf, most)),
            _ => None,
        };
        Self {
            sample_rate_hz,
            sources: vec![Source::default(); max_sources],
            pasts: vec![0.0; max_sources * 2 * past],
            past,
            scratch: vec![0.0; past + BLOCK],
            tilts: TiltTable::new(DEFAULT_F_MAX_HZ, sample_rate_hz),
            tilt_goal: (TiltTable::new(DEFAULT_F_MAX_HZ, sample_rate_hz), 0),
            head_pole: pole(head::pole_hz(), sample_rate_hz),
            pan,
            voices,
            doppler: None,
            delayed: [0.0; 2],
            delayed_goal: 0.0,
            render: kernel::best(),
        }
    }

    /// Takes tilts as meant for a field that ends at `f_max_hz`.
    pub fn set_field(&mut self, f_max_hz: f64) {
        self.tilts = TiltTable::new(f_max_hz, self.sample_rate_hz);
    }

    /// The same while sources sound: the filters go there over some blocks.
    pub(crate) fn fade_tilts(&mut self, tilts: TiltTable, blocks: u32) {
        self.tilt_goal = (tilts, blocks);
    }

    /// Lets sound take its time to arrive, or not. Control side, before the first source: it takes memory for half a second of up to [256](crate::MAX_DELAYED) sources.
    pub fn set_doppler(&mut self, on: bool) {
        self.doppler = on.then(|| Box::new(Doppler::new(self.sample_rate_hz, self.sources.len())));
        self.delayed_goal = f32::from(u8::from(on));
        self.delayed = [self.delayed_goal; 2];
    }

    /// The same while sources sound: as soon as all that is on its way from a source is known, it gives way to what arrives at once, over some blocks; or the other way round. Delays that are
    /// there already stay, and those that were given come back.
    pub(crate) fn fade_doppler(&mut self, doppler: Option<Box<Doppler>>) -> Option<Box<Doppler>> {
        self.delayed_goal = f32::from(u8::from(doppler.is_some()));
        if self.doppler.is_some() {
            return doppler;
        }
        // Each source fades for itself when its own way is filled.
        self.delayed = [self.delayed_goal; 2];
        self.doppler = doppler;
        None
    }

    /// To be called before each block if anything fades. Returns delays that are not heard any more.
    pub(crate) fn next_block(&mut self) -> Option<Box<Doppler>> {
        let (tilts, left) = &mut self.tilt_goal;
        if *left > 0 {
            self.tilts = self.tilts.towards(tilts, 1.0 / *left as f32);
            *left -= 1;
        }
        let step = doppler::fade_step(self.sample_rate_hz);
        let now = self.delayed[1];
        self.delayed = [now, self.delayed_goal.clamp(now - step, now + step)];
        if self.delayed == [0.0; 2] { self.doppler.take() } else { None }
    }

    /// Whether sound takes its time.
    pub(crate) fn has_doppler(&self) -> bool {
        self.doppler.is_some()
    }

    /// What a source was last aimed at, made safe.
    pub(crate) fn target(&self, slot: usize) -> Option<&Target> {
        self.sources.get(slot).filter(|s| s.life != Life::Free).map(|s| &s.target)
    }

    /// Samples by which all direct sound is late.
    pub fn latency(&self) -> usize {
        let lead = crate::delay::LEAD;
        if self.pan { 0 } else { lead }.saturating_add(if self.doppler.is_some() { lead } else { 0 })
    }

    /// Sets where a source shall be at the end of the next block. One that is new, or was [released](Self::release), begins there, with silence before it.
    pub fn aim(&mut self, slot: usize, target: Target) {
        let Some(source) = self.sources.get_mut(slot) else { return };
        let new = matches!(source.life, Life::Free | Life::Leaving);
        let target = source::made_safe(target);
        if new {
            if let Some(voices) = &mut self.voices {
                voices.free(source);
            }
            *source = Source::default();
            source.life = Life::New;
            self.pasts[slot * 2 * self.past..(slot + 1) * 2 * self.past].fill(0.0);
        }
        let quiet = source.life != Life::On;
        source.set(target, self.sample_rate_hz);
        // One that does not sound now needs no measured responses.
        if !quiet {
            self.ask(slot);
        }
        self.place(slot);
        if let Some(doppler) = &mut self.doppler {
            doppler.aim(slot, target.distance_m, quiet);
        }
    }

    /// Gives a source measured responses if it is loud enough for them.
    fn ask(&mut self, slot: usize) {
        if let Some(voices) = &mut self.voices
            && let Some(loser) = voices.ask(slot, &mut self.sources)
        {
            self.place(loser);
        }
    }

    /// Lets a source rest that has been silent until nothing of it is on its way any more: when it sounds again, it begins where it is then.
    pub fn rest(&mut self, slot: usize) {
        let Some(source) = self.sources.get_mut(slot).filter(|s| s.life == Life::On) else { return };
        if let Some(voices) = &mut self.voices {
            voices.free(source);
        }
        *source = Source::default();
        source.life = Life::New;
        self.pasts[slot * 2 * self.past..(slot + 1) * 2 * self.past].fill(0.0);
        if let Some(doppler) = &mut self.doppler {
            doppler.rest(slot);
        }
    }

    /// Lets a source go: it falls silent over the next block that is [added](Self::add), if one is, and its place is free.
    pub fn release(&mut self, slot: usize) {
        let Some(source) = self.sources.get_mut(slot) else { return };
        if matches!(source.life, Life::New | Life::Free) {
            if let Some(voices) = &mut self.voices {
                voices.free(source);
            }
            source.life = Life::Free;
            if let Some(doppler) = &mut self.doppler {
                doppler.rest(slot);
            }
            return;
        }
        source.life = Life::Leaving;
        let target = Target { gain: 0.0, early: [0.0; 3], late: [0.0; 3], ..source.target };
        source.set(target, self.sample_rate_hz);
        self.place(slot);
    }

    /// Whether adding this source now would give nothing but silence.
    pub fn is_silent(&self, slot: usize) -> bool {
        self.sources.get(slot).is_none_or(|s| s.life == Life::Free || (!s.sends() && !s.audible()))
    }

    /// Renders one block of a source: adds its direct sound to `out` (left, right) and its dry sound to `buses` (three early, three late). A block with samples that are not finite counts as
    /// silence; a place where no source is gives nothing.
    pub fn add(
        &mut self,
        slot: usize,
        x: &[f32; BLOCK],
        out: &mut [[f32; BLOCK]; 2],
        buses: &mut [[f32; BLOCK]; BUSES],
    ) {
        if self.sources.get(slot).is_none_or(|s| s.life == Life::Free) {
            return;
        }
        if self.voices.is_some() && self.sources[slot].life == Life::New {
            self.ask(slot);
            self.place(slot);
        }
        let source = &mut self.sources[slot];
        let x = if is_finite(x) { x } else { &[0.0; BLOCK] };
        let arrived = self.doppler.as_mut().map(|doppler| {
            let arrived = doppler.pass(slot, source.target.distance_m, source.life != Life::New, x);
            if self.delayed == [1.0; 2] {
                arrived
            } else {
                doppler::between(x, &arrived, self.delayed.map(doppler::smooth))
            }
        });
        let (sends, direct) = (source.sends(), source.audible());
        if sends || direct {
            let mut poles = source.advance(&self.tilts, (self.past.saturating_sub(MARGIN)) as f32);
            poles.head = self.head_pole;
            let measured = self.voices.as_mut().and_then(|voices| voices.of(source));
            let past = &mut self.pasts[slot * 2 * self.past..(slot + 1) * 2 * self.past];
            let ears = (!self.pan).then(|| {
                let (left, right) = past.split_at_mut(self.past);
                Ears { past: [left, right], scratch: &mut self.scratch, measured }
            });
            (self.render)(Job {
                x: arrived.as_ref().unwrap_or(x),
                now: &source.now,
                next: &source.next,
                poles,
                filters: &mut source.filters,
                direct,
                ears,
                out,
                buses,
            });
            source.finish(self.past.div_ceil(BLOCK) as u8);
        }
        let voiced = self.voices.as_mut().is_some_and(|voices| voices.settle(source));
        if !source.audible() || !source.filters.is_finite() {
            source.filters = Default::default();
            if direct {
                self.pasts[slot * 2 * self.past..(slot + 1) * 2 * self.past].fill(0.0);
            }
            if source.life == Life::Leaving && !source.sends() {
                source.life = Life::Free;
                if let Some(doppler) = &mut self.doppler {
                    doppler.rest(slot);
                }
            }
        }
        if voiced {
            self.place(slot);
        }
    }

    /// From the target of a source to what its next block goes to.
    fn place(&mut self, slot: usize) {
        let Some(source) = self.sources.get_mut(slot) else { return };
        let Target { gain, direction, early, late, directivity_gain: d, .. } = source.target;
        let rate = self.sample_rate_hz as f32;
        let mut next = Ramped {
            sends: [early[0], early[1], early[2], late[0], late[1], late[2]],
            directivity: [d, 1.0 - d],
            ..Ramped::default()
        };
        if self.pan {
            next.ears = pan::gains(direction[0]).map(|g| [gain * g, 0.0]);
        } else if let Some(delays) = self.voices.as_mut().and_then(|voices| voices.turn(source)) {
            next.measured = gain;
            source.delays = delays;
        } else {
            let ears = head::ears(direction[0]);
            next.ears = ears.map(|ear| [gain * ear.shadow, gain * (1.0 - ear.shadow)]);
            source.delays = ears.map(|ear| ear.delay_s * rate);
        }
        source.go_to(next, self.past.div_ceil(BLOCK) as u8);
    }
}

/// Whether all samples are: `0 · x` is zero if `x` is a number.
fn is_finite(x: &[f32; BLOCK]) -> bool {
    let mut lanes = [0.0f32; 8];
    for eight in x.as_chunks::<8>().0 {
        for l in 0..8 {
            lanes[l] += 0.0 * eight[l];
        }
    }
    lanes.iter().all(|l| *l == 0.0)
}
