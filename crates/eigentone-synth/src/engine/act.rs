//! What happens to bodies: one event after the other, each at its sample.

use super::pending::{Pending, PendingKind};
use super::perception::view;
use super::processor::Processor;
use crate::BLOCK;
use crate::body::{Body, Hit};
use eigentone_core::event::Action;
use std::ops::Range;

impl Processor {
    /// Lets the events `due` happen to a body and computes the sound between them. Says up to which sample, or nothing if there was nothing to be heard of them.
    pub(super) fn act_in_turn(&mut self, body: &mut Body, slot: usize, due: Range<usize>) -> Option<usize> {
        let mut done = None;
        for i in due {
            let event = *self.waiting.event(i);
            if done.is_none() && self.depart_silently(body, slot, &event) {
                continue;
            }
            let at = event.time.sample.saturating_sub(self.clock) as usize;
            // A moment between two samples is heard from the later one on.
            let fraction = if event.time.fraction > 0.0 { event.time.fraction.min(1.0) } else { 0.0 };
            let (at, early) = if fraction > 0.0 { (at + 1, 1.0 - fraction) } else { (at, 0.0) };
            let at = at.min(BLOCK).max(done.unwrap_or(0));
            let before = body.mixed();
            self.render_up_to(body, done, at);
            done = Some(at);
            self.act(body, slot, event, at, early);
            self.mixed = self.mixed + body.mixed() - before;
            self.stats.mixed_most = self.stats.mixed_most.max(self.mixed as u64);
        }
        done
    }

    pub(super) fn render_up_to(&mut self, body: &mut Body, done: Option<usize>, at: usize) {
        let done = done.unwrap_or(0);
        if at > done {
            self.stats.starved += body.render(done..at, self.clock, &self.world, &mut self.scratch) as u64;
        }
    }

    /// A body that sleeps is removed without being computed once more.
    fn depart_silently(&mut self, body: &Body, slot: usize, event: &Pending) -> bool {
        let own = event.body.slot as usize == slot;
        let silent = body.account.asleep && !body.is_sounding() && !body.sounded && self.places[slot].tails.is_empty();
        let departs = own && silent && matches!(event.what, PendingKind::Remove) && self.places[slot].leaving.is_none();
        if departs {
            self.depart(slot, 2);
        }
        departs
    }

    fn act(&mut self, body: &mut Body, slot: usize, event: Pending, at: usize, early: f32) {
        let now = self.clock + at as u64;
        let factor = self.places[event.body.slot as usize].shares.map_or(1.0, |(_, factor)| factor);
        let through_other = event.body.slot as usize != slot;
        if self.places[slot].leaving.is_some() && !through_other {
            // It has been removed; what comes after that is not heard.
            return;
        }
        match event.what {
            PendingKind::Quality(_) => {}
            PendingKind::Remove if through_other => self.depart(event.body.slot as usize, 0),
            PendingKind::Remove => {
                self.fall_silent(body, slot, now);
                self.depart(slot, 2);
            }
            PendingKind::Act(action) => {
                let (site, impulse, duration_s) = match action {
                    Action::Impulse { site, impulse_ns } => (site, impulse_ns, 0.0),
                    Action::Blow { site, impulse_ns, duration_s } => (site, impulse_ns, duration_s),
                    other => return self.adjust(body, slot, other, now),
                };
                let hit = Hit { site: &site, impulse_ns: impulse.map(|x| x * factor), duration_s, early, at };
                let free = self.free_modes();
                let view = view(&self.quality, &self.perception.curve, self.perception.levels(body.account.energy));
                let before = body.account.energy;
                body.hit(hit, now, &view, free, &self.world, &mut self.scratch);
                self.perception.total += body.account.energy - before;
                self.stats.hits += 1;
            }
        }
    }

    pub(super) fn adjust(&mut self, body: &mut Body, slot: usize, action: Action, now: u64) {
        let (world, scratch) = (&self.world, &mut self.scratch);
        match action {
            Action::Damping(x) => body.tune(|m| m.set_damping(x), now, world, scratch),
            Action::Frequency(x) => body.tune(|m| m.set_frequency(x), now, world, scratch),
            Action::Strain(x) => body.tune(|m| m.set_strain(x), now, world, scratch),
            Action::Gain(x) if x.is_finite() => {
                body.set_gain(x);
                self.places[slot].tails.each(|tail| tail.set_gain(x));
            }
            Action::Emphasis(x) if x.is_finite() => {
                body.set_emphasis(x);
                self.places[slot].tails.each(|tail| tail.set_emphasis(x));
            }
            Action::Silence => self.fall_silent(body, slot, now),
            _ => {}
        }
    }

    pub(super) fn fall_silent(&mut self, body: &mut Body, slot: usize, now: u64) {
        body.silence(now, &self.world, &mut self.scratch);
        let (world, scratch) = (&self.world, &mut self.scratch);
        let before = self.places[slot].tails.mixed();
        self.places[slot].tails.each(|tail| tail.silence(now, world, scratch));
        self.mixed = self.mixed + self.places[slot].tails.mixed() - before;
    }

    /// An event whose body is not there (any more).
    pub(super) fn act_on_nobody(&mut self, i: usize) {
        let Pending { body, what, .. } = *self.waiting.event(i);
        let place = self.places.get(body.slot as usize).filter(|p| p.generation == body.generation);
        match (what, place) {
            (PendingKind::Quality(quality), _) => self.set_quality(quality),
            // One that shared a body that has gone before it.
            (PendingKind::Remove, Some(place)) if place.shares.is_some() => self.depart(body.slot as usize, 0),
            _ => self.stats.orphaned += 1,
        }
    }
}
