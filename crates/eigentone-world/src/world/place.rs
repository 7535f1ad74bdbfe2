//! Where sources are: what sounds, or is about to, is placed in space; what does not costs nothing.

use super::{Live, World};
use crate::error::WorldError;
use crate::key::BodyKey;
use crate::out::{VoiceMessage, VoiceWriter, voice};
use eigentone_core::Vec3;
use eigentone_core::event::BodyId;
use eigentone_space::directivity::Directivity;
use eigentone_space::room::{Place, Space};

impl World {
    /// Something happens to a body: it must be where it is before it is heard.
    pub(crate) fn wake(&mut self, key: BodyKey) {
        let (space, Some(live)) = (self.space.get(), self.bodies.get_mut(key)) else { return };
        live.excited = true;
        if !live.placed {
            place(space, live);
        }
        // One that sounds through another is heard where that one is.
        if let crate::body::Sound::Shared { with, .. } = live.body.sound
            && let Some(other) = self.bodies.get_mut(with)
        {
            other.excited = true;
            if !other.placed {
                place(self.space.get(), other);
            }
        }
    }

    /// Places all that sounds or has just been touched.
    pub(super) fn place_all(&mut self) {
        self.time.placed_s = self.time.now_s;
        let space = self.space.get();
        for (_, live) in self.bodies.iter_mut() {
            let Some(id) = live.engine.or(live.voice) else { continue };
            if live.excited || self.shared.is_sounding(id.slot as usize) {
                place(space, live);
                live.excited = false;
            } else {
                // Where it was last may be far from where it will be heard next.
                live.placed = false;
            }
        }
    }

    /// Opens the samples of a body that is a [voice](crate::Body::voice_at): what is written is heard from where the body is, through rooms and head like any other. `capacity` samples can wait.
    ///
    /// # Errors
    /// If the body is gone or no voice, or too many voices are open.
    pub fn voice(&mut self, key: BodyKey, capacity: usize) -> Result<VoiceWriter, WorldError> {
        if !matches!(self.live(key)?.body.sound, crate::body::Sound::Voice) {
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
        let gain = self.live(key)?.body.params.gain;
        let max = self.settings.max_voices;
        let full = WorldError::Full { what: "voices", max, setting: "max_voices" };
        let slot = self.free_voices.pop().ok_or(full.clone())?;
        self.voice_generation = self.voice_generation.wrapping_add(1);
        let id = BodyId { slot, generation: self.voice_generation };
        let (voice, writer) = voice(id, gain, capacity, begin);
        if self.to_audio.get().push(VoiceMessage::Add(voice)).is_err() {
            self.free_voices.push(slot);
            return Err(full);
        }
        let live = self.live_mut(key)?;
        let before = live.voice.replace(id);
        (live.placed, live.excited) = (false, true);
        self.owners.insert(slot, (id, key));
        if let Some(before) = before {
            self.ended_voices.push(before);
            self.end_voices();
        }
        self.wake(key);
        Ok(writer)
    }

    /// A voice that is no more, with its body.
    pub(super) fn end_voice(&mut self, live: &Live) {
        if let Some(id) = live.voice {
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
            self.owners.remove(&id.slot);
            self.leaving.push(id);
            self.free_voices.push(id.slot);
        }
    }

    pub(super) fn voice_gain(&mut self, id: BodyId, gain: f32) {
        self.counts.shed += u64::from(self.to_audio.get().push(VoiceMessage::Gain(id, gain)).is_err());
    }
}

fn place(space: &mut Space, live: &mut Live) {
    let Some(id) = live.engine.or(live.voice) else { return };
    let position = Vec3::from_array(live.pose.position.map(f64::from));
    let directivity = live.body.directivity.map(|d| Directivity { axis: live.pose.direction_to_world(d.axis), ..d });
    space.place(id, &Place { position, directivity });
    live.placed = true;
}
