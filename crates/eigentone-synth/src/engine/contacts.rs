//! What the control side does with contacts: makes their [voices](super::voice) with all the memory they will need, sends them keyframes, ends them.

use super::Message;
use super::handle::Handle;
use super::voice::{Clip, ContactId, Grain, Keyframe, POINTS, Voice};
use crate::bank::StepBank;
use crate::settings::EngineError;
use crate::texture::{Direct, Generator, SurfaceRuntime};
use eigentone_core::event::{BodyId, Moment};
use std::sync::Arc;

/// A place for a contact, as the control side knows it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContactPlace {
    generation: u32,
    pub(super) alive: bool,
}

/// A contact to be opened.
#[derive(Debug)]
pub struct ContactSettings<'a> {
    /// The bodies; those that do not sound are `None`.
    pub bodies: [Option<BodyId>; 2],
    /// Their surfaces.
    pub surfaces: [&'a Arc<SurfaceRuntime>; 2],
    /// Points of it that are followed one by one, at most [`POINTS`].
    pub points: usize,
    /// `√(m/k)` of the contact, in s.
    pub mass_over_stiffness_s: f32,
    /// Each contact needs its own, so that none repeats another.
    pub seed: u64,
    /// What a stick-slip surface moves: gives the velocity of the surface along the slip, in m/s, under a force there.
    pub feedback: Option<StepBank>,
    /// What it is like at first.
    pub first: Keyframe,
}

impl Handle {
    /// Opens a contact that goes on: both surfaces sound and push both bodies. Send [keyframes](Handle::update_contact) as it changes.
    ///
    /// # Errors
    /// If there is no room.
    pub fn open_contact(&mut self, settings: ContactSettings<'_>) -> Result<ContactId, EngineError> {
        let mut seed = settings.seed;
        let mut generator = |side: usize| {
            seed = seed.wrapping_add(1);
            Generator::new(settings.surfaces[side].clone(), seed)
        };
        let grains = (0..settings.points.clamp(1, POINTS))
            .map(|_| Grain {
                generators: [generator(0), generator(1)],
                way_m: [0.0; 2],
                feedback: settings.feedback.clone(),
            })
            .collect();
        let direct = settings.surfaces.map(|s| Some(Direct::new(s)));
        let ratio = settings.mass_over_stiffness_s;
        self.open_voice(Voice::new(settings.bodies, grains, ratio, direct, settings.first))
    }

    /// Lets a recording act on two bodies once, in newtons, from a moment on: a recorded blow.
    ///
    /// # Errors
    /// If there is no room.
    pub fn play(
        &mut self,
        bodies: [Option<BodyId>; 2],
        force_n: Vec<f32>,
        direct_pa_per_n: f32,
        first: Keyframe,
    ) -> Result<ContactId, EngineError> {
        let clip = Clip { begin: first.time.sample, force: force_n, direct_pa_per_n };
        self.open_voice(Voice::clip(bodies, clip, first))
    }

    fn open_voice(&mut self, voice: Voice) -> Result<ContactId, EngineError> {
        self.collect();
        let slot = self.free_contacts.pop().ok_or(EngineError::Contacts(self.contacts.len()))?;
        let generation = self.contacts[slot as usize].generation.wrapping_add(1);
        let id = ContactId { slot, generation };
        if let Err(error) = self.send_message(Message::OpenContact(id, Box::new(voice))) {
            self.free_contacts.push(slot);
            return Err(error);
        }
        self.contacts[slot as usize] = ContactPlace { generation, alive: true };
        Ok(id)
    }

    fn contact(&self, id: ContactId) -> Result<(), EngineError> {
        let place = self.contacts.get(id.slot as usize).filter(|p| p.alive && p.generation == id.generation);
        place.map(|_| ()).ok_or(EngineError::NoSuchContact)
    }

    /// Says what a contact will be like at a moment. Keyframes of a contact must be sent in the order of time.
    ///
    /// # Errors
    /// If it is closed, or the queue is full.
    pub fn update_contact(&mut self, id: ContactId, key: Keyframe) -> Result<(), EngineError> {
        self.contact(id)?;
        self.send_message(Message::Key(id, key))
    }

    /// Ends a contact: it fades out in the last 10 ms before `end`. There is always room for that in the queue.
    ///
    /// # Errors
    /// If it is closed already, or the audio side is gone.
    pub fn close_contact(&mut self, id: ContactId, end: Moment) -> Result<(), EngineError> {
        self.contact(id)?;
        self.send_vital(Message::CloseContact(id, end.sample))?;
        self.contacts[id.slot as usize].alive = false;
        Ok(())
    }
}
