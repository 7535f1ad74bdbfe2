//! Where a source meets the room: what sounds, or is about to, is placed in space.

use super::{BodyState, World};
use crate::body::Sound;
use crate::error::WorldError;
use crate::key::BodyKey;
use crate::out::{VoiceMessage, VoiceWriter, voice};
use crate::settings::Timing;
use eigentone_core::Vec3;
use eigentone_core::event::BodyId;
use eigentone_space::directivity::Directivity;
use eigentone_space::room::{Place, Space};
use std::time::Instant;

impl World {
    /// Something happens to a body: it must be where it is before it is heard.
    pub(crate) fn wake(&mut self, key: BodyKey) {
        // One that sounds through another is heard where that one is.
        let root = match self.bodies.get(key).map(|state| &state.body.sound) {
            Some(Sound::Shared { with, .. }) => Some(*with),
            _ => None,
        };
        let space = self.space.get();
        for key in [Some(key), root].into_iter().flatten() {
            if let Some(state) = self.bodies.get_mut(key) {
                state.excited = true;
                if !state.placed {
                    place(space, state, true);
                }
            }
        }
    }

    /// Places all that sounds or has just been touched. What does not sound costs nothing.
    pub(super) fn place_all(&mut self) {
        let (all, begin) = (self.settings.timing == Timing::Offline, Instant::now());
        self.moved = false;
        let (space, shared) = (self.space.get(), &self.shared);
        for (_, state) in self.bodies.iter_mut() {
            let Some(id) = state.engine.or(state.voice) else { continue };
            if all || state.excited || shared.is_sounding(id.slot as usize) {
                place(space, state, !state.placed);
                state.excited = false;
            } else {
                // Where it was last may be far from where it will be heard next.
                state.placed = false;
            }
        }
        self.counts.placing_s += begin.elapsed().as_secs_f64();
    }

    /// Opens the samples of a body that is a [voice](crate::Body::voice_at): what is written is heard from where the body is, through rooms and head like any other. `capacity` samples can wait.
    ///
    /// # Errors
    /// If the body is gone or no voice, or too many voices are open.
    pub fn voice(&mut self, key: BodyKey, capacity: usize) -> Result<VoiceWriter, WorldError> {
        if !matches!(self.state(key)?.body.sound, Sound::Voice) {
            return Err(WorldError::Unfit("the body is no voice; make it with `Body::voice_at`"));
        }
        self.open_voice(key, capacity.min(1 << 24), None)
    }

    /// Opens samples that are heard from a sample of the audio clock on, or as soon as they are written.
    pub(crate) fn open_voice(
        &mut self,
        key: BodyKey,
        capacity: usize,
        begin: Option<u64>,
    ) -> Result<VoiceWriter, WorldError> {
        let gain = self.state(key)?.body.params.gain;
        let max = self.settings.max_voices;
        let full = WorldError::Full { what: "voices", max, setting: "max_voices" };
        if self.free_voices.is_empty() {
            // There is no other place than the one it has.
            let before = self.state_mut(key)?.voice.take();
            self.ended_voices.extend(before);
            self.end_voices();
        }
        let slot = self.free_voices.pop_front().ok_or(full.clone())?;
        self.voice_generation = self.voice_generation.wrapping_add(1);
        let id = BodyId { slot, generation: self.voice_generation };
        let (voice, writer) = voice(id, gain, capacity, begin);
        if self.to_audio.get().push(VoiceMessage::Add(voice)).is_err() {
            self.free_voices.push_back(slot);
            return Err(full);
        }
        while self.from_audio.get().pop().is_ok() {}
        let state = self.state_mut(key)?;
        let before = state.voice.replace(id);
        (state.placed, state.excited) = (false, true);
        self.owners.insert(slot, (id, key));
        if let Some(before) = before {
            self.ended_voices.push(before);
            self.end_voices();
        }
        self.wake(key);
        Ok(writer)
    }

    /// A voice that is no more, with its body.
    pub(super) fn end_voice(&mut self, state: &BodyState) {
        if let Some(id) = state.voice {
            self.ended_voices.push(id);
            self.end_voices();
        }
    }

    /// Tells the audio side of voices that have ended, as far as there is room.
    pub(super) fn end_voices(&mut self) {
        while let Some(id) = self.ended_voices.last().copied() {
            if self.to_audio.get().push(VoiceMessage::Remove(id)).is_err() {
                return;
            }
            self.ended_voices.pop();
            self.leaving.push(id);
            self.free_voices.push_back(id.slot);
        }
    }
}

/// Tells the space where a source is; one that begins there does not come slowly from where it was last.
fn place(space: &mut Space, state: &mut BodyState, begins: bool) {
    let Some(id) = state.engine.or(state.voice) else { return };
    let position = Vec3::from_array(state.pose.position.map(f64::from));
    let directivity = state.body.directivity.map(|d| Directivity { axis: state.pose.direction_to_world(d.axis), ..d });
    let place = Place { position, directivity };
    if begins {
        space.place_idle(id, &place);
        space.wake(id);
    } else {
        space.place(id, &place);
    }
    state.placed = true;
}
