//! Which modes of a body are computed.

use super::tones::Heard;
use super::view::{BANDS, Harvest, View};
use super::{Body, MAX_ENERGY, Scratch, Status, World};
use crate::BLOCK;
use crate::drive::Drive;
use crate::kernel::{LANES, Levels, Place};
use crate::policy::masking::Curve;

/// Decibels by which a mode must pass its threshold before it is switched again.
pub(super) const HYSTERESIS_DB: f32 = 1.0;

/// Modes this far below what hides them are taken for possible maskers: the next frame's curve may be lower.
const NEARLY_DB: f32 = 6.0;

/// Frames after which states are read out and laid out anew even if nothing changed, to make good for rounded coefficients.
const RELOAD_FRAMES: u64 = 4;

fn band(bark: f32) -> usize {
    (bark.max(0.0) as usize).min(BANDS - 1)
}

pub(super) fn count_below(levels: &[f32], floor: f32) -> usize {
    levels.iter().map(|l| u32::from(*l < floor)).sum::<u32>() as usize
}

impl Body {
    /// Level that is added to those of the modes for the listener, in dB.
    pub(super) fn gain_db(&self) -> f32 {
        20.0 * self.audibility().abs().max(1e-10).log10()
    }

    /// Fills `scratch.margin` and returns the hysteresis.
    pub(super) fn judge(&mut self, gain_db: f32, view: &View<'_>, world: &World, scratch: &mut Scratch) -> f32 {
        let margin = &mut scratch.margin[..self.table.padded];
        let Some(hearing) = &view.hearing else {
            margin.fill(f32::INFINITY);
            return 0.0;
        };
        self.tones.follow(&self.table, &self.modulation);
        (world.kernels.wide.judge)(&self.level, self.place_under(hearing.curve), gain_db + hearing.shift_db, margin);
        // Half the offset at most: a mode must be able to pass its own curve.
        HYSTERESIS_DB.min(0.5 * hearing.offset_db)
    }

    pub(super) fn place_under<'a>(&'a self, curve: &'a Curve) -> Place<'a> {
        let Heard { threshold, cell, share, .. } = self.tones.now(&self.table);
        Place { threshold, cell, share, edges: curve.edges() }
    }

    /// Reduces `scratch.active` to the loudest `most`.
    pub(super) fn keep_loudest(&self, most: usize, scratch: &mut Scratch) {
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
        let stale = now - self.lanes.loaded >= RELOAD_FRAMES * harvest.frame as u64;
        if view.takes_all() && self.account.granted == usize::MAX && self.makeup_rests && self.mixed() == self.table.len
        {
            // Nothing to decide; only the rounding of coefficients is made good now and then.
            if stale {
                self.settle(now, world);
                self.load(now, world, scratch);
            }
            return true;
        }
        let acted_on = self.forced && self.drives.iter().any(|d| !d.is_free());
        if self.calm {
            let out = Levels { energy: &mut self.energy, level: &mut self.level };
            let (wide, elapsed) = (&world.kernels.wide, (now - self.measured) as f32);
            if elapsed == harvest.frame {
                (wide.decay_frame)(out, &self.table.frame_fall, &self.table.frame_shrink);
            } else {
                (wide.decay)(out, &self.table.fade, elapsed);
            }
            self.measured = now;
        } else {
            self.settle(now, world);
            self.measure(now, world);
        }
        self.calm = !acted_on && self.is_linear_and_at_rest();
        self.expect(world);
        let gain_db = self.gain_db();
        let gain = self.audibility().powi(2);
        self.judged = self.heard;
        let whole = self.sections.is_some();
        let hysteresis = self.judge(gain_db, view, world, scratch);
        let floor = view.truncation_db - gain_db;

        let total = sum(&self.energy[..self.table.len]).min(MAX_ENERGY);
        // While a blow acts, modes that are on do not have all of it yet: they stay.
        let struck = acted_on && self.drives.iter().any(Drive::is_blow);
        let (table, tones) = (&*self.table, self.tones.now(&self.table));
        let levels = &self.level[..table.len];
        let mut truncated = count_below(levels, floor);
        let damping = self.modulation.damping();
        let hears = view.hearing.is_some();
        let Scratch { margin, near, active, .. } = scratch;
        active.clear();
        // Most modes are far below: nothing else need be known of them.
        let (least, mut count) = (if struck { f32::NEG_INFINITY } else { -NEARLY_DB }, 0);
        (world.kernels.wide.select)(&margin[..table.len], least, near, &mut count);
        for &k in &near[..count] {
            let (index, margin, level) = (k, margin[k as usize], levels[k as usize]);
            let k = k as usize;
            if hears && margin > -NEARLY_DB {
                // As loud as it will be when the curve is used.
                let later = level + gain_db - damping * table.frame_fall[k];
                harvest.maskers.offer(tones.cell[k], tones.bark[k], later);
            }
            let on = matches!(self.status[k], Status::On | Status::Entering);
            let heard = margin >= (if on { -hysteresis } else { hysteresis }) && level >= floor;
            if heard || (on && struck) {
                active.push(index);
            }
        }
        truncated = truncated.min(table.len - scratch.active.len());
        let mut masked = table.len - truncated - scratch.active.len();
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
        let changed = self.switch(now, scratch);
        let made_up = !self.makeup_rests;
        self.make_up(harvest.makeup, harvest.frame);
        if let Some(bands) = &mut harvest.bands {
            let bark = self.tones.now(&self.table).bark;
            for (bark, energy) in bark.iter().zip(&self.energy).take(self.table.len) {
                bands.all[band(*bark)] += gain * energy;
            }
            for &k in &scratch.active {
                bands.kept[band(bark[k as usize])] += gain * self.energy[k as usize];
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
        if changed || stale || made_up || !self.makeup_rests || !self.lanes_are_current() {
            self.store(now);
            self.load(now, world, scratch);
        }
        true
    }

    /// Whether the form in which modes are computed is the one they should have.
    fn lanes_are_current(&self) -> bool {
        self.lanes.at_rest == self.modulation.is_at_rest()
    }

    /// Reduces the modes that would enter to the loudest `free`.
    fn keep_entering(&mut self, free: usize, scratch: &mut Scratch) {
        let Scratch { active, select, .. } = scratch;
        let entering = |k: &u32| self.status[*k as usize] != Status::On;
        select.clear();
        select.extend(active.iter().filter(|k| entering(k)).map(|&k| self.level[k as usize]));
        let cut =
            if free == 0 { f32::INFINITY } else { *select.select_nth_unstable_by(free - 1, |a, b| b.total_cmp(a)).1 };
        // As many of those exactly at the cut as fit.
        let louder = active.iter().filter(|k| entering(k) && self.level[**k as usize] > cut).count();
        let mut ties = free - louder.min(free);
        active.retain(|k| {
            let level = self.level[*k as usize];
            let tie = entering(k) && level == cut && ties > 0;
            ties -= usize::from(tie);
            !entering(k) || level > cut || tie
        });
    }

    /// Modes in `scratch.active` are on or enter, all others are off or leave. Says whether that changes anything; states of members and of modes
    /// that enter are true then.
    fn switch(&mut self, now: u64, scratch: &mut Scratch) -> bool {
        let Scratch { active, merged, .. } = scratch;
        merged.clear();
        let (mut old, mut new) = (self.members.iter().copied().peekable(), active.iter().copied().peekable());
        let mut changed = false;
        // Both lists are in rising order.
        while let Some(k) = [old.peek(), new.peek()].into_iter().flatten().min().copied() {
            let was = old.next_if_eq(&k).is_some();
            let on = new.next_if_eq(&k).is_some();
            changed |= was != on;
            merged.push(k);
            let status = &mut self.status[k as usize];
            *status = match (was, on) {
                (true, false) => Status::Leaving,
                (false, _) => Status::Entering,
                (true, true) => *status,
            };
        }
        if changed {
            self.fade_left = BLOCK;
            self.store(now);
            for &k in merged.iter() {
                if self.status[k as usize] == Status::Entering {
                    self.settle_one(k as usize, now);
                }
            }
            self.members.clear();
            self.members.extend_from_slice(merged);
        } else if !self.makeup_rests {
            self.store(now);
        }
        changed
    }

    /// Levels at the listener of the modes that are computed and not fading out, as they were when last measured.
    pub fn staying_levels(&self, mut each: impl FnMut(f32)) {
        let gain_db = self.gain_db();
        let staying = self.members.iter().filter(|&&k| self.status[k as usize] != Status::Leaving);
        staying.for_each(|&k| each(self.level[k as usize] + gain_db));
    }

    /// Modes whose level at the listener is not to be kept fade out, unless a fade is under way.
    pub fn let_go(&mut self, now: u64, mut keep: impl FnMut(f32) -> bool, world: &World, scratch: &mut Scratch) {
        let gain_db = self.gain_db();
        let fading = self.fade_left > 0;
        let mut gone = 0;
        for &k in &self.members {
            let k = k as usize;
            if self.status[k] != Status::Leaving && !keep(self.level[k] + gain_db) && !fading {
                self.status[k] = Status::Leaving;
                gone += 1;
            }
        }
        if gone > 0 {
            self.store(now);
            self.fade_left = BLOCK;
            self.account.scaled += gone;
            self.account.granted = self.members.len() - gone;
            self.load(now, world, scratch);
        }
    }

    /// Sets out for the gains that make up for what is left out: new modes have them at once, others reach them in a frame.
    fn make_up(&mut self, goals: Option<&[f32; BANDS]>, frame: f32) {
        let Some(goals) = goals else {
            if !self.makeup_rests {
                self.makeup.fill(1.0);
                self.makeup_rate.fill(0.0);
                self.makeup_rests = true;
            }
            return;
        };
        self.makeup_rests = false;
        let bark = self.tones.now(&self.table).bark;
        for k in 0..self.table.len {
            let goal = goals[band(bark[k])];
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
        if !self.forced {
            return;
        }
        let spectrum = &self.spectrum;
        let (rate, [scale, _]) = (world.rate_hz as f32, self.modulation.tuning());
        for drive in self.drives.iter().filter(|d| d.is_continuous()) {
            for k in 0..self.table.len {
                let w = drive.weights[k] * rate;
                let energy = w * w * self.table.build_up[k] * spectrum.power(self.table.frequency_hz[k] * scale, rate)
                    / self.modulation.damping();
                if energy > self.energy[k] {
                    self.energy[k] = energy;
                    self.level[k] = 10.0 * energy.max(f32::MIN_POSITIVE).log10();
                }
            }
        }
    }
}

/// The sum in eight parts, which a machine can add at once.
pub(super) fn sum(x: &[f32]) -> f32 {
    let mut parts = [0.0f32; LANES];
    let chunks = x.chunks_exact(LANES);
    let rest: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (part, y) in parts.iter_mut().zip(chunk) {
            *part += y;
        }
    }
    parts.iter().sum::<f32>() + rest
}
