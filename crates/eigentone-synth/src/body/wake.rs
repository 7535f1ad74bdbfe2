//! Which modes a blow switches on.

use super::decide::count_below;
use super::view::View;
use super::{Body, Scratch, Status, World};
use crate::BLOCK;

/// Modes that a blow may wake on a body that has no share of the budget.
const LEAST: usize = 4;

/// Modes that a blow may wake without asking which of them hide each other.
const FEW_WAKE: usize = 24;

/// A mode that a blow wakes starts at once, without a fade, if what it still held is below this share of its new energy.
const FRESH: f32 = 0.01;

impl Body {
    /// After a blow: switches on what it made audible, `free` modes at most. Nothing is switched off. `scratch.re`, `scratch.im` hold the states
    /// from before.
    pub(super) fn wake(&mut self, view: &View<'_>, free: usize, world: &World, scratch: &mut Scratch) {
        let gain_db = self.gain_db();
        let whole = self.sections.is_some();
        let hysteresis = self.judge(gain_db, view, world, scratch);
        self.judge_by_itself(gain_db, view, hysteresis, world, scratch);
        let floor = view.truncation_db - gain_db;
        let levels = &self.level[..self.table.len];
        let is_on = |k: usize| matches!(self.status[k], Status::On | Status::Entering);
        let on = self.members.iter().filter(|&&k| is_on(k as usize));
        let (on, on_but_quiet) =
            on.fold((0, 0), |(n, quiet), &k| (n + 1, quiet + usize::from(levels[k as usize] < floor)));
        let off = self.table.len - on;
        let truncated = if whole { 0 } else { count_below(levels, floor) - on_but_quiet };
        let Scratch { margin, near, active, .. } = scratch;
        active.clear();
        let (least, mut count) = (if whole { f32::NEG_INFINITY } else { hysteresis }, 0);
        (world.kernels.wide.select)(&margin[..levels.len()], least, near, &mut count);
        let wakes = |&&k: &&u32| !is_on(k as usize) && (whole || levels[k as usize] >= floor);
        active.extend(near[..count].iter().filter(wakes));
        let heard = scratch.active.len();
        self.account.truncated = truncated;
        self.account.masked = off - truncated - heard;
        // A quiet body keeps to its share, so that there is something left for a loud one.
        let free = if self.account.energy * self.emphasis * self.emphasis >= view.served {
            free
        } else {
            free.min(self.account.granted.max(LEAST).saturating_sub(self.members.len()))
        };
        self.keep_loudest(free, scratch);
        self.account.scaled = heard - scratch.active.len();
        self.account.wanted = self.account.wanted.max(self.table.len - off + heard);
        let fading = self.fade_left > 0;
        for &k in &scratch.active {
            let k = k as usize;
            let before = 0.5 * (scratch.re[k] * scratch.re[k] + scratch.im[k] * scratch.im[k]);
            if self.status[k] == Status::Off {
                // One that was leaving is a member already, and comes back.
                self.members.push(k as u32);
                (self.makeup[k], self.makeup_rate[k]) = (1.0, 0.0);
            }
            if fading || whole || before <= FRESH * self.energy[k] {
                self.status[k] = Status::On;
            } else {
                self.status[k] = Status::Entering;
                self.fade_left = BLOCK;
            }
        }
        self.members.sort_unstable();
    }

    /// After a blow the common curve is out of date: the body's own modes hide each other as loud as they are now. Lowers the margins
    /// accordingly.
    fn judge_by_itself(&self, gain_db: f32, view: &View<'_>, hysteresis: f32, world: &World, scratch: &mut Scratch) {
        let Some(hearing) = &view.hearing else { return };
        let Scratch { margin, own_margin, near, maskers, curve, .. } = scratch;
        let (table, tones) = (&*self.table, self.tones.now(&self.table));
        let mut count = 0;
        (world.kernels.wide.select)(&margin[..table.len], hysteresis, near, &mut count);
        let loud = &near[..count];
        if loud.iter().filter(|&&k| self.status[k as usize] == Status::Off).count() <= FEW_WAKE {
            return;
        }
        maskers.clear();
        for &k in loud {
            let k = k as usize;
            maskers.offer(tones.cell[k], tones.bark[k], self.level[k] + gain_db);
        }
        let shift_db = hearing.shift_with(self.account.energy);
        curve.rebuild(maskers, shift_db, hearing.offset_db, &world.kernels);
        let own_margin = &mut own_margin[..table.padded];
        (world.kernels.wide.judge)(&self.level, self.place_under(curve), gain_db + shift_db, own_margin);
        for (m, own) in margin.iter_mut().zip(own_margin) {
            *m = m.min(*own);
        }
    }
}
