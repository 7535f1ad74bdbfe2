//! What is remembered between frames.

use super::blow::Blow;
use super::body::{ContactBody, ContactEvent, ContactEventKind};
use super::clock::Clock;
use super::follow::{Followed, mean_place};
use super::limits::limited;
use crate::engine::{ContactId, Handle};
use crate::settings::EngineError;
use crate::texture::SurfaceRuntime;
use eigentone_core::ModalModel;
use eigentone_core::contact::{Contact, ContactFrame, Phase, Pose};
use eigentone_core::event::{Action, Event, Moment};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Damping below this is not heard, and not worth changing every mode for.
const LEAST_DAMPING: f32 = 1.05;

/// When something counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackerSettings {
    /// Surfaces that meet more slowly make no blow.
    pub least_approach_m_s: f32,
    /// Time after a blow in which the same pair makes no other.
    pub refractory_s: f64,
    /// Contacts younger than this do not scrape or roll yet.
    pub least_age_s: f64,
    /// Blows per frame; of more, the strongest are kept.
    pub max_blows: usize,
    /// Contacts that scrape or roll at once; of more, those with the most power are heard.
    pub max_sounding: usize,
    /// Forces of contacts are cut to this, in N, before anything is made of them. What is cut is counted: see [`Tracker::limited`].
    pub max_force_n: f32,
    /// Speeds of slip, travel and approach are cut to this, in m/s.
    pub max_speed_m_s: f32,
    /// Impulses of blows are cut to this, in N·s, all points of a contact together.
    pub max_impulse_ns: f32,
    /// Contacts are read off as if they had travelled from here: another seed, another grain.
    pub seed: u64,
}

impl Default for TrackerSettings {
    fn default() -> Self {
        Self {
            least_approach_m_s: 0.02,
            refractory_s: 0.005,
            least_age_s: 0.008,
            max_blows: 128,
            max_sounding: 10,
            max_force_n: 1e5,
            max_speed_m_s: 100.0,
            max_impulse_ns: 1e3,
            seed: 0,
        }
    }
}

/// Turns frames of contacts into sound.
///
/// A clone knows what has happened and what goes on, and has no voices: contacts that sound will sound again at its next step. So a clone is a snapshot, for
/// [`Tracker::restore`].
#[derive(Clone, Debug)]
pub struct Tracker {
    pub(super) settings: TrackerSettings,
    pub(super) rate_hz: f64,
    pub(super) clock: Clock,
    pub(super) partners: BTreeMap<u32, ContactBody>,
    poses: BTreeMap<u32, Pose>,
    pub(super) followed: BTreeMap<u64, Followed>,
    /// When each pair last made a blow.
    struck: BTreeMap<[u32; 2], f64>,
    /// Contacts that made a blow in this frame, and the share of their impulse that it was.
    pub(super) blows: BTreeMap<u64, f32>,
    /// Damping and strain that bodies have been told.
    damping: BTreeMap<u32, f32>,
    strains: BTreeMap<u32, f32>,
    /// Damping that bodies have by themselves, where it is not one.
    own_damping: BTreeMap<u32, f32>,
    pub(super) events: Vec<ContactEvent>,
    pub(super) counter: u64,
    /// Voices that must be closed as soon as there is an engine to tell.
    pub(super) closing: Closing,
    /// When the last frame ended.
    pub(super) time_s: f64,
    pub(super) limited: u64,
}

/// Voices that nobody follows any more. A copy has none: they are somebody else's.
#[derive(Debug, Default)]
pub(super) struct Closing(pub Vec<ContactId>);

impl Clone for Closing {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// A contact that may be a blow in this frame.
struct Candidate<'a> {
    contact: &'a Contact,
    impulse_ns: f32,
    share: f32,
    approach_m_s: f32,
    time_s: f64,
}

impl Tracker {
    /// For an engine with this sample rate.
    pub fn new(settings: TrackerSettings, sample_rate_hz: f64) -> Self {
        Self {
            settings,
            rate_hz: sample_rate_hz,
            clock: Clock::new(sample_rate_hz),
            partners: BTreeMap::new(),
            poses: BTreeMap::new(),
            followed: BTreeMap::new(),
            struck: BTreeMap::new(),
            blows: BTreeMap::new(),
            damping: BTreeMap::new(),
            strains: BTreeMap::new(),
            own_damping: BTreeMap::new(),
            events: Vec::new(),
            counter: settings.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            closing: Closing::default(),
            time_s: 0.0,
            limited: 0,
        }
    }

    /// Makes a body of the simulation known, or replaces what is known of it. Contacts of bodies that are not known are not heard. Those of one that is replaced go on; where its surface or its sound is
    /// another, their voices fade over to new ones.
    pub fn add(&mut self, number: u32, partner: ContactBody) {
        let Some(old) = self.partners.insert(number, partner) else { return };
        let new = &self.partners[&number];
        let same_voice = old.body == new.body && Arc::ptr_eq(&old.surface, &new.surface);
        let same_sites = match (&old.finder, &new.finder) {
            (Some(old), Some(new)) => Arc::ptr_eq(old.model(), new.model()),
            (None, None) => true,
            _ => false,
        };
        self.reopen(number, !same_voice, !same_sites);
        if old.body != self.partners[&number].body {
            // Another body has been told nothing.
            self.damping.remove(&number);
            self.strains.remove(&number);
        }
    }

    /// Forgets a body and all that was known of its contacts; those that sound fade out from the next step on.
    pub fn remove(&mut self, number: u32) {
        self.partners.remove(&number);
        self.poses.remove(&number);
        self.damping.remove(&number);
        self.strains.remove(&number);
        self.own_damping.remove(&number);
        self.struck.retain(|pair, _| !pair.contains(&number));
        let (gone, kept) =
            std::mem::take(&mut self.followed).into_iter().partition(|(_, f)| f.bodies.contains(&number));
        self.followed = kept;
        let gone: BTreeMap<u64, Followed> = gone;
        for followed in gone.into_values().filter(|f| f.seed.is_some()) {
            self.closing.0.extend(followed.voice);
            self.heard_end(&followed, self.time_s);
        }
    }

    /// A body has another mass, in kg; infinite for one that does not move.
    pub fn set_mass(&mut self, number: u32, mass_kg: f64) {
        if let Some(partner) = self.partners.get_mut(&number).filter(|_| mass_kg > 0.0) {
            partner.mass_kg = mass_kg;
        }
    }

    /// A body has another surface. Contacts on it that sound fade over to it.
    pub fn set_surface(&mut self, number: u32, surface: Arc<SurfaceRuntime>) {
        if let Some(partner) = self.partners.get(&number) {
            self.add(number, partner.clone().with_surface(surface));
        }
    }

    /// A body has another model, after [`Handle::swap`]: places are looked up on it from now on.
    pub fn set_model(&mut self, number: u32, model: Arc<ModalModel>) {
        if let Some(partner) = self.partners.get(&number) {
            self.add(number, partner.clone().with_model(model));
        }
    }

    /// What is known of a body.
    pub fn partner(&self, number: u32) -> Option<&ContactBody> {
        self.partners.get(&number)
    }

    /// The voices of a body's contacts, or their places, are not the right ones any more.
    fn reopen(&mut self, number: u32, voices: bool, places: bool) {
        for followed in self.followed.values_mut().filter(|f| f.bodies.contains(&number)) {
            if voices {
                self.closing.0.extend(followed.voice.take());
            }
            if places {
                let sides = followed.bodies.map(|body| body == number);
                followed.forget_places(sides);
            }
        }
    }

    /// Where a body is, for those that frames never tell of.
    pub fn set_pose(&mut self, pose: Pose) {
        self.poses.insert(pose.body, pose);
    }

    /// Where a body was last, if it has been told.
    pub fn pose(&self, number: u32) -> Option<&Pose> {
        self.poses.get(&number)
    }

    /// Damping that a body has by itself, from the next frame on; what touches it damps it further.
    pub fn set_damping(&mut self, number: u32, damping: f32) {
        self.own_damping.insert(number, damping);
    }

    /// How the time of frames becomes that of the engine, from the next frame on: `sample = time_s · rate_hz + offset_samples`. At first the rate is the sample rate and the offset zero. Another rate is
    /// slow motion: contacts are stretched, blows and what rings are not. Keyframes of a contact stay in order however the offset moves.
    pub fn set_clock(&mut self, offset_samples: f64, rate_hz: f64) {
        self.clock.set(offset_samples, rate_hz);
    }

    /// The engine's moment for a time of the simulation.
    pub fn moment(&self, time_s: f64) -> Moment {
        self.clock.moment(time_s, 0.0)
    }

    /// What was heard since the last call.
    pub fn drain(&mut self) -> impl Iterator<Item = ContactEvent> {
        self.events.drain(..)
    }

    /// Forces, speeds and impulses that were beyond the limits of the settings.
    pub fn limited(&self) -> u64 {
        self.limited
    }

    /// Fades all contacts out that sound, for a pause. At the next step those that still move fade in again.
    ///
    /// # Errors
    /// If the audio side is gone.
    pub fn quiet(&mut self, time_s: f64, handle: &mut Handle) -> Result<(), EngineError> {
        self.closing.0.extend(self.followed.values_mut().filter_map(|f| f.voice.take()));
        self.close_all(time_s, handle)
    }

    /// Goes back to what was known when `saved` was cloned: what touched, what was a blow when, damping and counters. The bodies, the clock and what the engine has been told stay as they are. What sounds now fades out.
    ///
    /// # Errors
    /// If the audio side is gone.
    pub fn restore(&mut self, saved: &Self, time_s: f64, handle: &mut Handle) -> Result<(), EngineError> {
        self.quiet(time_s, handle)?;
        let now = std::mem::replace(self, saved.clone());
        (self.settings, self.clock, self.partners) = (now.settings, now.clock, now.partners);
        (self.damping, self.strains, self.limited) = (now.damping, now.strains, now.limited);
        (self.closing, self.events) = (now.closing, now.events);
        self.followed.retain(|_, f| f.bodies.iter().all(|body| self.partners.contains_key(body)));
        self.followed.values_mut().for_each(|f| f.forget_places([true; 2]));
        Ok(())
    }

    /// Takes in the next frame and sends what follows from it. Contacts of bodies that are not known, and numbers that are not finite, are passed over.
    ///
    /// # Errors
    /// If the engine's queue is full.
    pub fn step(&mut self, frame: &ContactFrame, handle: &mut Handle) -> Result<(), EngineError> {
        if !frame.is_sane(usize::MAX) {
            return Ok(());
        }
        self.time_s = frame.time_s;
        self.close_all(frame.time_s, handle)?;
        for pose in &frame.poses {
            self.poses.insert(pose.body, *pose);
        }
        let limited = limited(frame, &self.settings);
        self.limited += limited.as_ref().map_or(0, |(_, count)| *count);
        let frame = limited.as_ref().map_or(frame, |(frame, _)| frame);
        // What has parted first, said or not: a contact of which nothing is heard any more must not sound on.
        let there: BTreeSet<u64> =
            frame.contacts.iter().filter(|c| c.phase != Phase::End && !c.points.is_empty()).map(|c| c.id).collect();
        let parted: Vec<u64> = self.followed.keys().filter(|id| !there.contains(id)).copied().collect();
        for id in parted {
            self.end(id, frame.time_s, handle)?;
        }
        self.find_blows(frame, handle)?;
        for contact in frame.contacts.iter().filter(|c| there.contains(&c.id)) {
            self.follow(contact, frame, handle)?;
        }
        self.blows.clear();
        self.strain(frame, handle)?;
        self.damp(frame, handle)
    }

    pub(super) fn known(&self, contact: &Contact) -> Option<[&ContactBody; 2]> {
        let [a, b] = contact.bodies.map(|body| self.partners.get(&body));
        Some([a?, b?])
    }

    pub(super) fn pose_of(&self, body: u32) -> Pose {
        self.poses.get(&body).copied().unwrap_or(Pose::at_origin(body))
    }

    fn find_blows(&mut self, frame: &ContactFrame, handle: &mut Handle) -> Result<(), EngineError> {
        let mut candidates: Vec<Candidate<'_>> = Vec::new();
        for contact in frame.contacts.iter().filter(|c| c.phase != Phase::End && self.known(c).is_some()) {
            let Some((approach_m_s, touch_s)) = self.is_blow(&contact.points, frame.step_s) else { continue };
            let time_s = frame.time_s - frame.step_s + touch_s;
            let last = self.struck.get(&contact.bodies).copied().unwrap_or(f64::NEG_INFINITY);
            if time_s - last < self.settings.refractory_s {
                continue;
            }
            let total: f32 = contact.points.iter().map(|p| p.normal_impulse_ns.max(0.0)).sum();
            // What it carried before, it carries on.
            let carried = self.followed.get(&contact.id).map_or(0.0, |f| f.force_n * frame.step_s) as f32;
            let share = ((total - carried) / total.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
            if share > 0.3 {
                candidates.push(Candidate { contact, impulse_ns: total * share, share, approach_m_s, time_s });
            }
        }
        // A flood is cut to its strongest; the order in time stays.
        if candidates.len() > self.settings.max_blows {
            candidates.sort_by(|a, b| b.impulse_ns.total_cmp(&a.impulse_ns));
            candidates.truncate(self.settings.max_blows);
        }
        candidates.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        for c in candidates {
            self.counter = self.counter.wrapping_add(16);
            let poses = c.contact.bodies.map(|body| self.pose_of(body));
            let Some(partners) = self.known(c.contact) else { continue };
            let blow = Blow {
                partners,
                poses: poses.each_ref(),
                points: &c.contact.points,
                share: c.share,
                approach_m_s: c.approach_m_s,
                time_s: c.time_s,
                rate_hz: self.rate_hz,
                clock: self.clock,
                later_s: 0.0,
                seed: self.counter,
            };
            blow.send(handle)?;
            self.struck.insert(c.contact.bodies, c.time_s);
            self.blows.insert(c.contact.id, c.share);
            self.events.push(ContactEvent {
                time_s: c.time_s,
                bodies: c.contact.bodies,
                position: mean_place(&c.contact.points),
                kind: ContactEventKind::Impact { impulse_ns: c.impulse_ns, approach_m_s: c.approach_m_s },
            });
        }
        Ok(())
    }

    /// Tells bodies how they are strained, where that has changed.
    fn strain(&mut self, frame: &ContactFrame, handle: &mut Handle) -> Result<(), EngineError> {
        for strain in &frame.strains {
            let body = self.partners.get(&strain.body).and_then(|p| p.body);
            if let Some(body) = body.filter(|_| self.strains.get(&strain.body) != Some(&strain.strain)) {
                let time = self.moment(frame.time_s);
                handle.send(Event { time, body, action: Action::Strain(strain.strain) })?;
                self.strains.insert(strain.body, strain.strain);
            }
        }
        Ok(())
    }

    /// Tells bodies by how much what touches them damps them, where that has changed.
    fn damp(&mut self, frame: &ContactFrame, handle: &mut Handle) -> Result<(), EngineError> {
        let mut now = self.own_damping.clone();
        for followed in self.followed.values().filter(|f| f.damping > 1.0) {
            for (side, body) in followed.bodies.into_iter().enumerate() {
                let other = followed.bodies[1 - side];
                let [own, other] = [body, other].map(|b| self.partners.get(&b).map_or(0.0, |p| p.mass_kg));
                // What is light hardly damps what is heavy.
                let share = if own.is_infinite() { 0.0 } else { 1.0 / (1.0 + own / other) };
                let damping = 1.0 + (followed.damping - 1.0) * share as f32;
                if damping > LEAST_DAMPING {
                    *now.entry(body).or_insert(1.0) *= damping;
                }
            }
        }
        let gone: Vec<u32> = self.damping.keys().filter(|body| !now.contains_key(body)).copied().collect();
        for body in gone {
            now.insert(body, 1.0);
        }
        for (&body, &damping) in &now {
            if self.damping.get(&body).copied().unwrap_or(1.0) != damping
                && let Some(id) = self.partners.get(&body).and_then(|p| p.body)
            {
                let time = self.moment(frame.time_s);
                handle.send(Event { time, body: id, action: Action::Damping(damping) })?;
            }
        }
        now.retain(|_, damping| *damping != 1.0);
        self.damping = now;
        Ok(())
    }
}
