//! A limit on modes that the audio side sets itself, from one block to the next: what a budget of time comes to.

use super::processor::Processor;
use crate::policy::Budget;

/// Levels are told apart by a decibel, from this one up.
const LOWEST_DB: f32 = -200.0;
const LEVELS: usize = 300;

fn bin(level_db: f32) -> usize {
    ((level_db - LOWEST_DB) as usize).min(LEVELS - 1)
}

impl Processor {
    /// At most so many modes are computed at once from the next block on, whatever the quality allows; `None` leaves it to the quality. To be called between two blocks, on the audio side.
    ///
    /// Modes beyond a lowered limit fade out in the next block, the quietest first; bodies that are fading already follow in the one after. A render that shall be the same every time
    /// never calls this: it keeps to [`Quality::budget`](crate::Quality::budget).
    pub fn limit_modes(&mut self, most: Option<usize>) {
        self.cap = most;
    }

    /// The budget that holds: the quality's or the audio side's own, whichever is smaller.
    pub(super) fn budget(&self) -> Option<Budget> {
        match (self.quality.budget, self.cap) {
            (budget, None) => budget,
            (None, Some(cap)) => Some(Budget::of(cap)),
            (Some(budget), Some(cap)) => Some(Budget { modes: budget.modes.min(cap), ..budget }),
        }
    }

    /// Modes that may be added without exceeding the budget.
    pub(super) fn free_modes(&self) -> usize {
        self.budget().map_or(usize::MAX, |b| b.modes.saturating_sub(self.mixed))
    }

    /// Lets the quietest modes go if there are more than the audio side allows.
    pub(super) fn keep_cap(&mut self) {
        let Some(cap) = self.cap.filter(|&cap| self.mixed > cap) else { return };
        let mut counts = [0usize; LEVELS];
        for &slot in self.awake.slots() {
            if let Some(body) = self.places[slot as usize].body.as_ref().filter(|b| b.mixed() > 0) {
                body.staying_levels(|level_db| counts[bin(level_db)] += 1);
            }
        }
        // From the loudest down, as far as the limit reaches.
        let (mut level, mut left) = (LEVELS, cap);
        while level > 0 && counts[level - 1] <= left {
            level -= 1;
            left -= counts[level];
        }
        for &slot in self.awake.slots() {
            let place = &mut self.places[slot as usize];
            if let Some(body) = place.body.as_mut().filter(|b| b.mixed() > 0) {
                // Those just below what is kept stay as long as there is room.
                let keep = |level_db: f32| {
                    let one = bin(level_db) + 1;
                    let tie = one == level && left > 0;
                    left -= usize::from(tie);
                    one > level || tie
                };
                body.let_go(self.clock, keep, &self.world, &mut self.scratch);
            }
        }
    }
}
