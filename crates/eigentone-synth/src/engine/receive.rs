//! What the processor does with messages from the control side: takes bodies in, lets events wait, attaches sources.

use super::bridge::Bridge;
use super::pending::What;
use super::processor::{Place, Processor, discard, resolve};
use super::{Garbage, Message};
use crate::drive::Source;
use eigentone_core::SiteBlend;
use eigentone_core::event::{BodyId, Moment};

impl Processor {
    /// Takes in what the control side has sent.
    pub(super) fn receive(&mut self) {
        while let Ok(message) = self.from_control.pop() {
            match message {
                Message::Add(id, body) => {
                    let old = std::mem::replace(
                        &mut self.places[id.slot as usize],
                        Place { generation: id.generation, body: Some(body), ..Place::default() },
                    );
                    debug_assert!(old.body.is_none(), "a place is given away only after it was handed back");
                    self.reached = self.reached.max(id.slot as usize + 1);
                    self.stats.bodies += 1;
                }
                Message::Share(id, with, factor) => {
                    self.places[id.slot as usize] =
                        Place { generation: id.generation, shares: Some((with, factor)), ..Place::default() };
                    self.reached = self.reached.max(id.slot as usize + 1);
                    self.stats.bodies += 1;
                }
                Message::Remove(time, body) => self.wait(time, body, What::Remove),
                Message::Event(event) => self.wait(event.time, event.body, What::Act(event.action)),
                Message::Quality(time, quality) => {
                    self.wait(time, BodyId { slot: u32::MAX, generation: 0 }, What::Quality(quality));
                }
                Message::Stream { body, source, site, direction } => {
                    self.attach(body, Source::Stream(source), &site, direction);
                }
                Message::OpenContact(id, voice) => self.open_voice(id, voice),
                Message::Key(id, key) => self.key_voice(id, key),
                Message::CloseContact(id, at) => self.close_voice(id, at),
                Message::Bridge(link, buffer) => {
                    let room = self.bridges.len() < self.bridges.capacity();
                    if !room {
                        discard(&mut self.to_control, &mut self.stats, Garbage::Buffer(buffer));
                    } else if let Some(drive) = self.attach(link.to, Source::Bridge(buffer), &link.site, link.direction)
                    {
                        self.bridges.push(Bridge::new(link, drive));
                    }
                }
            }
        }
        self.stats.waiting_most = self.stats.waiting_most.max(self.waiting.len() as u64);
    }

    fn wait(&mut self, time: Moment, body: BodyId, what: What) {
        if !self.waiting.push(time, body, what) {
            // A removal must not get lost: the place would never be free again. It happens at once instead.
            match what {
                What::Remove if resolve(&self.places, body).is_some() => {
                    self.places[body.slot as usize].leaving = Some(2);
                }
                _ => self.stats.dropped += 1,
            }
        }
    }

    fn attach(&mut self, id: BodyId, source: Source, site: &SiteBlend, direction: [f32; 3]) -> Option<usize> {
        let target = resolve(&self.places, id).map(|slot| slot as usize);
        let body = target.and_then(|slot| self.places[slot].body.as_mut());
        let refused = match body {
            Some(body) => {
                let before = body.mixed();
                let outcome = body.attach(source, site, direction, self.clock, &self.world, &mut self.scratch);
                self.mixed = self.mixed + body.mixed() - before;
                match outcome {
                    Ok(drive) => return Some(drive),
                    Err(source) => source,
                }
            }
            None => source,
        };
        self.stats.orphaned += 1;
        let garbage = match refused {
            Source::Bridge(buffer) => Garbage::Buffer(buffer),
            other => Garbage::Source(other),
        };
        discard(&mut self.to_control, &mut self.stats, garbage);
        None
    }
}
