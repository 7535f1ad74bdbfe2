//! How bodies leave: removed ones are handed back once they have faded out; of a body that was given another model, what is left of the old one rings out as a tail.

use super::Garbage;
use super::bridge::Bridge;
use super::processor::{Processor, discard, resolve};
use crate::BLOCK;
use crate::body::Body;
use crate::drive::Source;
use eigentone_core::event::BodyId;

/// Models of one body that can be fading out at once.
pub(super) const TAILS: usize = 3;

/// What is left of models that a body had before, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Tails([Option<Box<Body>>; TAILS]);

impl Tails {
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Modes being computed.
    pub fn mixed(&self) -> usize {
        self.0.iter().flatten().map(|tail| tail.mixed()).sum()
    }

    pub fn each(&mut self, change: impl FnMut(&mut Box<Body>)) {
        self.0.iter_mut().flatten().for_each(change);
    }

    /// Adds a tail and says which one had to make room for it.
    pub fn push(&mut self, tail: Box<Body>) -> Option<Box<Body>> {
        if let Some(free) = self.0.iter_mut().find(|tail| tail.is_none()) {
            *free = Some(tail);
            return None;
        }
        self.0.rotate_left(1);
        self.0[TAILS - 1].replace(tail)
    }

    /// Takes out one that is over.
    fn pop_ended(&mut self) -> Option<Box<Body>> {
        self.0.iter_mut().find(|tail| tail.as_ref().is_some_and(|t| t.has_faded()))?.take()
    }
}

impl Processor {
    /// The next block of what is left of earlier models, into the sound of the body.
    pub(super) fn render_tails(&mut self, slot: usize, body: &mut Body) {
        let tails = &mut self.places[slot].tails;
        if tails.is_empty() {
            return;
        }
        let before = tails.mixed();
        tails.each(|tail| {
            tail.render(0..BLOCK, self.clock, &self.world, &mut self.scratch);
            tail.finish(&self.world, &mut self.scratch);
            body.bus.iter_mut().zip(&tail.bus).for_each(|(y, x)| *y += x);
        });
        while let Some(tail) = tails.pop_ended() {
            discard(&mut self.to_control, &mut self.stats, Garbage::Tail(tail));
        }
        self.mixed = self.mixed + tails.mixed() - before;
    }

    /// A place will be handed back after some blocks.
    pub(super) fn depart(&mut self, slot: usize, blocks: u32) {
        if self.places[slot].leaving.replace(blocks).is_none() {
            self.departing.push(slot as u32);
        }
    }

    /// Hands back bodies that have faded out.
    pub(super) fn take_leave(&mut self) {
        // In the order of places: in which they are free again then depends on nothing else.
        self.departing.sort_unstable();
        let mut kept = 0;
        for i in 0..self.departing.len() {
            let slot = self.departing[i];
            match &mut self.places[slot as usize].leaving {
                Some(blocks @ 1..) => {
                    *blocks -= 1;
                    self.departing[kept] = slot;
                    kept += 1;
                }
                _ => self.hand_back(slot as usize),
            }
        }
        self.departing.truncate(kept);
    }

    /// Hands back the bridges that are over.
    pub(super) fn end_bridges(&mut self, over: impl Fn(&Bridge) -> bool) {
        let mut i = 0;
        while i < self.bridges.len() {
            if !over(&self.bridges[i]) {
                i += 1;
                continue;
            }
            let Bridge { link, drive, .. } = self.bridges.swap_remove(i);
            let to = resolve(&self.places, link.to).and_then(|slot| self.places[slot as usize].body.as_mut());
            if let Some(Source::Bridge(buffer)) = to.map(|b| b.drives()[drive].stop()) {
                discard(&mut self.to_control, &mut self.stats, Garbage::Bridge(link.number, buffer));
            }
        }
    }

    fn hand_back(&mut self, slot: usize) {
        let id = BodyId { slot: slot as u32, generation: self.places[slot].generation };
        // Bridges to it and from it go with it.
        self.end_bridges(|bridge| bridge.link.to == id || bridge.link.from == id);
        let place = std::mem::take(&mut self.places[slot]);
        let (body, tails) = (place.body, place.tails);
        // Its id stays known as gone until the place is given away again.
        self.places[slot].generation = id.generation.wrapping_add(u32::MAX / 2);
        if let Some(body) = &body {
            self.mixed -= body.mixed();
        }
        self.mixed -= tails.mixed();
        for tail in tails.0.into_iter().flatten() {
            discard(&mut self.to_control, &mut self.stats, Garbage::Tail(tail));
        }
        self.stats.bodies -= 1;
        discard(&mut self.to_control, &mut self.stats, Garbage::Body(id, body));
    }
}
