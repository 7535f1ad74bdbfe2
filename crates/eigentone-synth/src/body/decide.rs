//! Which modes of a body are computed.

use super::{Body, Scratch, Status, World};
use crate::BLOCK;
use crate::kernel::{Bank, LANES, Partial};
use crate::policy::masking::{Curve, Maskers};

/// Decibels by which a mode must pass its threshold before it is switched again.
const HYSTERESIS_DB: f32 = 1.0;

/// A mode that a blow wakes starts at once, without a fade, if what it still held is below this share of its new energy.
const FRESH: f32 = 0.01;

/// What the policy sees when it looks at a body.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// Masking, if it is on.
    pub hearing: Option<Hearing<'a>>,
    /// Modes below this level sleep (in dB of the engine's own mean square; minus infinity: none).
    pub truncation_db: f32,
}

#[derive(Clone, Copy)]
pub(crate) struct Hearing<'a> {
    pub curve: &'a Curve,
    /// From the engine's levels to dB SPL at the ear.
    pub shift_db: f32,
    pub offset_db: f32,
}

/// What a visit collects for the next frame.
pub(crate) struct Harvest<'a> {
    pub maskers: &'a mut Maskers,
    /// Energy of all modes and of those computed, per Bark band.
    pub bands: Option<&'a mut Bands>,
    /// Gains that make up for what is left out, per Bark band.
    pub makeup: Option<&'a [f32; BANDS]>,
    /// Samples until the next visit.
    pub frame: f32,
}

/// Bark bands.
pub(crate) const BANDS: usize = 27;

/// Energies per Bark band.
#[derive(Clone, Debug)]
pub(crate) struct Bands {
    pub all: [f32; BANDS],
    pub kept: [f32; BANDS],
}

impl Default for Bands {
    fn default() -> Self {
        Self { all: [0.0; BANDS], kept: [0.0; BANDS] }
    }
}

fn band(bark: f32) -> usize {
    (bark.max(0.0) as usize).min(BANDS - 1)
}

impl Body {
    /// Level that is added to those of the modes for the listener, in dB.
    fn gain_db(&self) -> f32 {
        20.0 * self.loudness().abs().max(1e-10).log10()
    }

    /// Why mode `k` need not be computed, if so. Bodies with sections are all or nothing: their modes drive each other.
    fn verdict(&self, k: usize, gain_db: f32, view: &View<'_>) -> Verdict {
        let level = self.level[k] + gain_db;
        if level < view.truncation_db {
            return Verdict::Truncated;
        }
        let Some(hearing) = &view.hearing else { return Verdict::Heard };
        // Half the offset at most: a mode must be able to pass its own curve.
        let margin = HYSTERESIS_DB.min(0.5 * hearing.offset_db);
        let margin = if matches!(self.status[k], Status::On | Status::Entering) { -margin } else { margin };
        let level = level + hearing.shift_db - margin;
        let heard = level > self.table.threshold[k]
            && level >= hearing.curve.at(self.table.cell[k], self.table.bark[k]) - SLACK_DB;
        if heard { Verdict::Heard } else { Verdict::Masked }
    }

    /// After a blow: switches on what it made audible, `free` modes at most. Nothing is switched off. `scratch.re`, `scratch.im` hold the states
    /// from before.
    pub(super) fn wake(&mut self, view: &View<'_>, free: usize, scratch: &mut Scratch) {
        let gain_db = self.gain_db();
        let whole = self.sections.is_some();
        scratch.select.clear();
        scratch.active.clear();
        for k in 0..self.table.len {
            if self.status[k] == Status::Off && (whole || self.verdict(k, gain_db, view) == Verdict::Heard) {
                scratch.active.push(k as u32);
            }
        }
        self.keep_loudest(free, scratch);
        let fading = self.fade_left > 0;
        for &k in &scratch.active {
            let k = k as usize;
            let before = 0.5 * (scratch.re[k] * scratch.re[k] + scratch.im[k] * scratch.im[k]);
            if fading || whole || before <= FRESH * self.energy[k] {
                self.status[k] = Status::On;
            } else {
                self.status[k] = Status::Entering;
                self.fade_left = BLOCK;
            }
        }
    }

    /// Reduces `scratch.active` to the loudest `most`.
    fn keep_loudest(&self, most: usize, scratch: &mut Scratch) {
        let Scratch { active, select, .. } = scratch;
        if active.len() <= most {
            return;
        }
        if most == 0 {
            active.clear();
            return;
        }
        select.clear();
        select.extend(active.iter().map(|&k| self.level[k as usize]));
        let (_, &mut cut, _) = select.select_nth_unstable_by(most - 1, |a, b| b.total_cmp(a));
        // As many of those exactly at the cut as fit.
        let mut ties = most - active.iter().filter(|&&k| self.level[k as usize] > cut).count();
        active.retain(|&k| {
            let level = self.level[k as usize];
            let tie = level == cut && ties > 0;
            ties -= usize::from(tie);
            level > cut || tie
        });
    }

    /// The regular look at a body, once per policy frame: energies, maskers for the next frame, and which modes to compute. At most `free`
    /// modes may be added. Returns false if it must be tried again because a fade is under way.
    pub fn visit(
        &mut self,
        now: u64,
        view: &View<'_>,
        free: usize,
        harvest: &mut Harvest<'_>,
        world: &World,
        scratch: &mut Scratch,
    ) -> bool {
        if self.fade_left > 0 {
            return false;
        }
        self.settle(now, world);
        self.measure(world);
        let acted_on = self.drives.iter().any(|d| !d.is_free());
        self.expect(world);
        let gain_db = self.gain_db();
        let gain = self.loudness() * self.loudness();
        let damping = self.modulation.damping();
        let whole = self.sections.is_some();

        let (mut total, mut truncated, mut masked) = (0.0, 0, 0);
        scratch.active.clear();
        for k in 0..self.table.len {
            total += self.energy[k];
            match self.verdict(k, gain_db, view) {
                Verdict::Heard => scratch.active.push(k as u32),
                Verdict::Truncated => truncated += 1,
                Verdict::Masked => masked += 1,
            }
            if let Some(hearing) = &view.hearing {
                let level = self.level[k] + gain_db;
                if level + hearing.shift_db > self.table.threshold[k] {
                    let later = level - damping * self.table.drop_db[k] * harvest.frame;
                    harvest.maskers.offer(self.table.cell[k], self.table.bark[k], later);
                }
            }
        }
        if whole {
            let awake = acted_on || truncated < self.table.len;
            scratch.active.clear();
            if awake {
                scratch.active.extend(0..self.table.len as u32);
            }
            (truncated, masked) = if awake { (0, 0) } else { (self.table.len, 0) };
        }
        let wanted = scratch.active.len();
        self.keep_loudest(self.account.granted, scratch);
        // Those already computed stay; of the others as many as there is room for.
        let staying = scratch.active.iter().filter(|&&k| self.status[k as usize] == Status::On).count();
        if scratch.active.len() - staying > free {
            self.keep_entering(free, scratch);
        }
        let kept = scratch.active.len();
        self.switch(scratch);
        self.make_up(harvest.makeup, harvest.frame);
        if let Some(bands) = &mut harvest.bands {
            for k in 0..self.table.len {
                let b = band(self.table.bark[k]);
                bands.all[b] += gain * self.energy[k];
                if matches!(self.status[k], Status::On | Status::Entering) {
                    bands.kept[b] += gain * self.energy[k];
                }
            }
        }
        self.account = super::Account {
            energy: total * gain,
            wanted,
            truncated,
            masked,
            scaled: wanted - kept,
            asleep: truncated == self.table.len && !acted_on,
            ..self.account
        };
        self.load(now, world, scratch);
        true
    }

    /// Reduces the modes that would enter to the loudest `free`.
    fn keep_entering(&mut self, free: usize, scratch: &mut Scratch) {
        let Scratch { active, select, .. } = scratch;
        let entering = |k: &u32| self.status[*k as usize] != Status::On;
        select.clear();
        select.extend(active.iter().filter(|k| entering(k)).map(|&k| self.level[k as usize]));
        let cut =
            if free == 0 { f32::INFINITY } else { *select.select_nth_unstable_by(free - 1, |a, b| b.total_cmp(a)).1 };
        let mut left = free;
        active.retain(|k| {
            let stays = !entering(k) || (self.level[*k as usize] >= cut && left > 0);
            left -= usize::from(stays && entering(k));
            stays
        });
    }

    /// Modes in `scratch.active` are on or enter, all others are off or leave.
    fn switch(&mut self, scratch: &Scratch) {
        let mut changed = false;
        let mut chosen = scratch.active.iter().copied().peekable();
        for k in 0..self.table.len {
            let on = chosen.next_if_eq(&(k as u32)).is_some();
            let status = &mut self.status[k];
            match (on, *status) {
                (true, Status::Off) => *status = Status::Entering,
                (false, Status::On) => *status = Status::Leaving,
                _ => continue,
            }
            changed = true;
        }
        if changed {
            self.fade_left = BLOCK;
        }
    }

    /// Sets out for the gains that make up for what is left out: new modes have them at once, others reach them in a frame.
    fn make_up(&mut self, goals: Option<&[f32; BANDS]>, frame: f32) {
        let Some(goals) = goals else {
            self.makeup.fill(1.0);
            self.makeup_rate.fill(0.0);
            return;
        };
        for k in 0..self.table.len {
            let goal = goals[band(self.table.bark[k])];
            match self.status[k] {
                Status::On => self.makeup_rate[k] = (goal / self.makeup[k]).log2() / frame,
                Status::Entering => (self.makeup[k], self.makeup_rate[k]) = (goal, 0.0),
                Status::Off | Status::Leaving => self.makeup_rate[k] = 0.0,
            }
        }
    }

    /// Raises levels to what a continuous force will make of them: in the long run a mode holds `w² P(f)/(4 d fs)` under a force with
    /// power `P(f)` per sample.
    fn expect(&mut self, world: &World) {
        let Some(spectrum) = &self.spectrum else { return };
        let rate = world.rate_hz as f32;
        for drive in self.drives.iter().filter(|d| d.is_continuous()) {
            for k in 0..self.table.len {
                let w = drive.weights[k] * rate;
                let energy = w * w * self.table.build_up[k] * spectrum.power(self.table.frequency_hz[k], rate)
                    / self.modulation.damping();
                if energy > self.energy[k] {
                    self.energy[k] = energy;
                    self.level[k] = 10.0 * energy.max(f32::MIN_POSITIVE).log10();
                }
            }
        }
    }
}

/// Tolerance for rounding when a mode meets its own curve.
const SLACK_DB: f32 = 0.01;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Heard,
    Masked,
    Truncated,
}

/// The spectrum of a force, as the energies of a row of resonators that listen to it.
#[derive(Debug)]
pub(crate) struct ForceSpectrum {
    re: [f32; Self::POINTS],
    im: [f32; Self::POINTS],
    c0: [f32; Self::POINTS],
    c1: [f32; Self::POINTS],
    rate_hz: f32,
}

impl Default for ForceSpectrum {
    fn default() -> Self {
        Self {
            re: [0.0; Self::POINTS],
            im: [0.0; Self::POINTS],
            c0: [0.0; Self::POINTS],
            c1: [0.0; Self::POINTS],
            rate_hz: 0.0,
        }
    }
}

impl ForceSpectrum {
    const POINTS: usize = 32;
    /// Lowest point, and octaves from there to the highest: a point every 3.4 semitones.
    const LOWEST_HZ: f32 = 40.0;
    const OCTAVES: f32 = 9.0;
    /// Decay of the listening resonators in 1/s: they remember some 10 ms.
    const MEMORY: f32 = 100.0;

    fn tune(&mut self, rate_hz: f32) {
        for i in 0..Self::POINTS {
            let hz = Self::LOWEST_HZ * (Self::OCTAVES * i as f32 / (Self::POINTS - 1) as f32).exp2();
            let shrink = if hz < 0.49 * rate_hz { (-Self::MEMORY / rate_hz).exp() } else { 0.0 };
            let theta = std::f32::consts::TAU * hz / rate_hz;
            (self.c0[i], self.c1[i]) = (shrink * theta.cos(), shrink * theta.sin());
        }
        self.rate_hz = rate_hz;
    }

    /// Hears the next samples of the force.
    pub fn listen(&mut self, force: &[f32], world: &World) {
        if self.rate_hz != world.rate_hz as f32 {
            self.tune(world.rate_hz as f32);
        }
        let mut out = [Partial::default(); BLOCK];
        let bank = Bank { s0: &mut self.re, s1: &mut self.im, c0: &self.c0, c1: &self.c1 };
        (world.kernels.rotation_driven)(bank, &[1.0; Self::POINTS], force, &mut out[..force.len()]);
    }

    /// Power per sample near a frequency: the variance of white noise that would sound the same there.
    fn power(&self, hz: f32, rate_hz: f32) -> f32 {
        let place = (hz / Self::LOWEST_HZ).log2() / Self::OCTAVES * (Self::POINTS - 1) as f32;
        let i = (place.round().max(0.0) as usize).min(Self::POINTS - 1);
        // Noise of variance s keeps |z|² at s fs/(2d).
        (self.re[i] * self.re[i] + self.im[i] * self.im[i]) * 2.0 * Self::MEMORY / rate_hz
    }
}

const _: () = assert!(ForceSpectrum::POINTS.is_multiple_of(LANES));
