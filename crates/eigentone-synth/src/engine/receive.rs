//! What the processor does with messages from the control side: takes bodies in, exchanges their models, lets events wait, attaches sources.

use super::bridge::{Bridge, Link};
use super::pending::PendingKind;
use super::processor::{Place, Processor, discard, resolve};
use super::{Garbage, Message};
use crate::BLOCK;
use crate::body::Exchange;
use crate::drive::Source;
use eigentone_core::SiteBlend;
use eigentone_core::event::{BodyId, Moment};

/// Messages that an exchange of models counts for: it moves states of all modes and looks at everything that waits.
const EXCHANGE: usize = 64;

impl Processor {
    /// Takes in what the control side has sent, as much as a block has time for.
    pub(super) fn receive(&mut self) {
        let mut left = self.max_messages;
        while left > 0
            && let Ok(message) = self.from_control.pop()
        {
            left = left.saturating_sub(if matches!(message, Message::Exchange(..)) { EXCHANGE } else { 1 });
            self.take_in(message);
        }
        self.stats.waiting_most = self.stats.waiting_most.max(self.waiting.len() as u64);
    }

    fn take_in(&mut self, message: Message) {
        match message {
            Message::Add(id, body) => {
                let modes = body.table.len;
                self.take_place(id, Place { modes, body: Some(body), ..Place::default() });
            }
            Message::Share(id, with, factor) => {
                self.take_place(id, Place { shares: Some((with, factor)), ..Place::default() });
            }
            Message::Exchange(id, exchange) => self.exchange(id, exchange),
            Message::Remove(time, body) => self.wait(time, body, PendingKind::Remove),
            Message::Event(event) => self.wait(event.time, event.body, PendingKind::Act(event.action)),
            Message::Quality(time, quality) => {
                self.wait(time, BodyId { slot: u32::MAX, generation: 0 }, PendingKind::Quality(quality));
            }
            Message::Stream { body, source, site, direction } => {
                if let Err(source) = self.attach(body, Source::Stream(source), &site, direction) {
                    self.stats.orphaned += 1;
                    discard(&mut self.to_control, &mut self.stats, Garbage::Source(source));
                }
            }
            Message::OpenContact(id, voice) => self.open_voice(id, voice),
            Message::Key(id, key) => self.key_voice(id, key),
            Message::CloseContact(id, at) => self.close_voice(id, at),
            Message::Bridge(link, buffer) => self.take_bridge(link, buffer),
        }
    }

    fn take_bridge(&mut self, link: Link, buffer: Box<[f32; BLOCK]>) {
        if self.bridges.len() == self.bridges.capacity() {
            return discard(&mut self.to_control, &mut self.stats, Garbage::Bridge(link.number, buffer));
        }
        match self.attach(link.to, Source::Bridge(buffer), &link.site, link.direction) {
            Ok(drive) => self.bridges.push(Bridge::new(link, drive)),
            Err(source) => {
                self.stats.orphaned += 1;
                if let Source::Bridge(buffer) = source {
                    discard(&mut self.to_control, &mut self.stats, Garbage::Bridge(link.number, buffer));
                }
            }
        }
    }

    fn take_place(&mut self, id: BodyId, place: Place) {
        let place = Place { generation: id.generation, ..place };
        let old = std::mem::replace(&mut self.places[id.slot as usize], place);
        debug_assert!(old.body.is_none(), "a place is given away only after it was handed back");
        self.reached = self.reached.max(id.slot as usize + 1);
        self.stats.bodies += 1;
    }

    fn wait(&mut self, time: Moment, body: BodyId, what: PendingKind) {
        let late = time.sample < self.clock && time.sample > 0;
        self.stats.late += u64::from(late);
        if self.waiting.push(time, body, what, late) {
            return;
        }
        match what {
            // There is room for every removal; a change of quality beyond all measure happens at once.
            PendingKind::Quality(quality) => self.set_quality(quality),
            _ => self.stats.dropped += 1,
        }
    }

    /// Gives a body another model. What sounds goes on as far as the two have modes in common.
    fn exchange(&mut self, id: BodyId, mut exchange: Box<Exchange>) {
        let slot = resolve(&self.places, id).map(|slot| slot as usize);
        let Some(slot) = slot.filter(|&slot| self.places[slot].leaving.is_none()) else {
            self.stats.orphaned += 1;
            return discard(&mut self.to_control, &mut self.stats, Garbage::Exchange(exchange));
        };
        let place = &mut self.places[slot];
        let (Some(body), Some(mut other)) = (&mut place.body, exchange.body.take()) else { return };
        let before = body.mixed() + place.tails.mixed();
        let (now, world, scratch) = (self.clock, &self.world, &mut self.scratch);
        if exchange.same.table {
            body.refit(&mut other, &exchange, now, world, scratch);
        } else {
            std::mem::swap(body, &mut other);
            body.take_over(&mut other, &exchange, now, world, scratch);
        }
        place.modes = body.table.len;
        let left = if other.is_sounding() { place.tails.push(other) } else { Some(other) };
        if let Some(mut left) = left {
            body.swallow(&mut left, now, world, scratch);
            discard(&mut self.to_control, &mut self.stats, Garbage::Tail(left));
        }
        self.mixed = self.mixed + body.mixed() + place.tails.mixed() - before;
        self.woke(slot);
        let places = &self.places;
        let of = |id: BodyId| resolve(places, id).is_some_and(|s| s as usize == slot);
        self.waiting.move_sites(of, |site| exchange.move_site(site));
        for &voice in &self.open_voices {
            self.voices[voice as usize].move_sites(of, |site| exchange.move_site(site));
        }
        for relink in &exchange.links {
            if let Some(bridge) = self.bridges.iter_mut().find(|b| b.link.number == relink.number) {
                bridge.link.force_per_pa = relink.force_per_pa;
                exchange.move_site(&mut bridge.link.site);
            }
        }
        discard(&mut self.to_control, &mut self.stats, Garbage::Exchange(exchange));
    }

    /// Starts a force, or gives it back.
    fn attach(&mut self, id: BodyId, source: Source, site: &SiteBlend, direction: [f32; 3]) -> Result<usize, Source> {
        let Some(slot) = resolve(&self.places, id).map(|slot| slot as usize) else { return Err(source) };
        let Some(body) = self.places[slot].body.as_mut() else { return Err(source) };
        let before = body.mixed();
        let drive = body.attach(source, site, direction, self.clock, &self.world, &mut self.scratch)?;
        self.mixed = self.mixed + body.mixed() - before;
        self.woke(slot);
        Ok(drive)
    }
}
