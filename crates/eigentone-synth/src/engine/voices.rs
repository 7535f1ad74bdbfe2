//! What the processor does with [voices](super::voice): runs them before the bodies and lets them push.

use super::processor::{Processor, discard, resolve};
use super::voice::{Keyframe, Seat, Voice};
use super::{ContactId, Garbage};
use crate::body::Body;
use crate::drive::Feed;
use eigentone_core::event::BodyId;
use eigentone_core::model::SiteBlend;

/// More sounding contacts than this are a crowd, in which single points are not told apart.
const CROWD: u64 = 4;

/// A place for a voice.
#[derive(Debug, Default)]
pub(super) struct VoicePlace {
    generation: u32,
    voice: Option<Box<Voice>>,
}

impl VoicePlace {
    /// Changes where a voice pushes, on bodies that `of` says.
    pub fn move_sites(&mut self, of: impl Fn(BodyId) -> bool, to: impl Fn(&mut SiteBlend)) {
        let Some(voice) = &mut self.voice else { return };
        for side in 0..2 {
            if voice.bodies[side].is_some_and(&of) {
                voice.move_sites(side, &to);
            }
        }
    }
}

impl Processor {
    pub(super) fn open_voice(&mut self, id: ContactId, voice: Box<Voice>) {
        self.voices[id.slot as usize] = VoicePlace { generation: id.generation, voice: Some(voice) };
        // In the order of places, so that sums do not depend on who came when.
        if let Err(at) = self.open_voices.binary_search(&id.slot) {
            self.open_voices.insert(at, id.slot);
        }
    }

    fn voice(&mut self, id: ContactId) -> Option<&mut Voice> {
        let place = self.voices.get_mut(id.slot as usize).filter(|p| p.generation == id.generation);
        place?.voice.as_deref_mut()
    }

    pub(super) fn key_voice(&mut self, id: ContactId, key: Keyframe) {
        let taken = self.voice(id).is_some_and(|voice| voice.push(key));
        self.stats.dropped += u64::from(!taken);
    }

    pub(super) fn close_voice(&mut self, id: ContactId, at: u64) {
        let soonest = self.clock + super::voice::fade_samples(self.world.rate_hz);
        if let Some(voice) = self.voice(id) {
            voice.close(at.max(soonest));
        }
    }

    /// Computes the forces of all contacts in the coming block.
    pub(super) fn run_voices(&mut self) {
        let crowd = self.stats.contacts > CROWD;
        self.stats.contacts = 0;
        for i in 0..self.open_voices.len() {
            let slot = self.open_voices[i] as usize;
            let Some(mut voice) = self.voices[slot].voice.take() else { continue };
            if voice.is_over(self.clock) {
                self.unseat(&mut voice);
                let id = ContactId { slot: slot as u32, generation: self.voices[slot].generation };
                discard(&mut self.to_control, &mut self.stats, Garbage::Voice(id, voice));
                continue;
            }
            if voice.render(self.clock, self.world.rate_hz, crowd) {
                self.stats.contacts += 1;
                self.seat(&mut voice);
            } else {
                self.unseat(&mut voice);
            }
            self.voices[slot].voice = Some(voice);
        }
        let voices = &self.voices;
        self.open_voices.retain(|&slot| voices[slot as usize].voice.is_some());
        // Feeds are shared: all are emptied before any is filled.
        for fill in [false, true] {
            for i in 0..self.open_voices.len() {
                let slot = self.open_voices[i] as usize;
                let Some(voice) = self.voices[slot].voice.take() else { continue };
                for side in 0..2 {
                    let drive = voice.seats[side].map(|seat| seat.drive);
                    let Some((body, drive)) = self.body_of(&voice, side).zip(drive) else { continue };
                    let feed = &mut *body.drives()[drive].feed;
                    if fill {
                        feed.force.iter_mut().zip(&voice.force).for_each(|(y, x)| *y += x);
                        // What needs no resonator is heard once, with the first body that can be pushed.
                        if side == 0 || voice.seats[0].is_none() {
                            feed.direct.iter_mut().zip(&voice.direct).for_each(|(y, x)| *y += x);
                        }
                    } else {
                        *feed = Feed::SILENCE;
                    }
                }
                self.voices[slot].voice = Some(voice);
            }
        }
    }

    fn body_of(&mut self, voice: &Voice, side: usize) -> Option<&mut Body> {
        let slot = resolve(&self.places, voice.bodies[side]?)?;
        self.places[slot as usize].body.as_deref_mut()
    }

    /// Sees to it that a voice can push its bodies, at the right place.
    fn seat(&mut self, voice: &mut Voice) {
        let (sites, directions) = voice.sites();
        for side in 0..2 {
            let Some(slot) = voice.bodies[side].and_then(|id| resolve(&self.places, id)) else {
                voice.seats[side] = None;
                continue;
            };
            let Some(body) = self.places[slot as usize].body.as_deref_mut() else { continue };
            let (site, direction) = (&sites[side], directions[side]);
            match voice.seats[side] {
                Some(Seat { drive, own: true }) if voice.moved => {
                    body.aim(drive, site, direction, &self.world, &mut self.scratch);
                }
                // Whoever is left alone on a drive that was another's takes it over.
                Some(Seat { drive, own: false }) if body.drives()[drive].riders == 1 => {
                    voice.seats[side] = Some(Seat { drive, own: true });
                    body.aim(drive, site, direction, &self.world, &mut self.scratch);
                }
                Some(_) => {}
                None => {
                    let before = body.mixed();
                    let seat = body.seat(site, direction, self.clock, &self.world, &mut self.scratch);
                    self.mixed = self.mixed + body.mixed() - before;
                    voice.seats[side] = seat.map(|(drive, own)| Seat { drive, own });
                    self.woke(slot as usize);
                }
            }
        }
        voice.moved = false;
    }

    fn unseat(&mut self, voice: &mut Voice) {
        for side in 0..2 {
            if let Some(seat) = voice.seats[side].take()
                && let Some(body) = self.body_of(voice, side)
            {
                body.unseat(seat.drive);
            }
        }
    }
}
