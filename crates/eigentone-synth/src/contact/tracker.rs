//! What is remembered between frames.

use super::blow::{Blow, ignore_full};
use super::follow::{Followed, mean_place};
use super::site::SiteFinder;
use crate::engine::{ContactSettings, Handle, Keyframe, POINTS};
use crate::settings::EngineError;
use crate::texture::{ImpactShape, Prepared};
use eigentone_core::contact::{Contact, ContactFrame, Phase, Pose};
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_core::{ModalModel, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Damping below this is not heard, and not worth changing every mode for.
const LEAST_DAMPING: f32 = 1.05;

/// When something counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackerSettings {
    /// Surfaces that meet more slowly make no blow (REFERENCE E.1).
    pub least_approach_m_s: f32,
    /// Time after a blow in which the same pair makes no other.
    pub refractory_s: f64,
    /// Contacts younger than this do not scrape or roll yet.
    pub least_age_s: f64,
    /// Blows per frame; of more, the strongest are kept.
    pub most_blows: usize,
    /// Contacts that scrape or roll at once; of more, those with the most power are heard.
    pub most_sounding: usize,
    /// Contacts are read off as if they had travelled from here: another seed, another grain.
    pub seed: u64,
}

impl Default for TrackerSettings {
    fn default() -> Self {
        Self {
            least_approach_m_s: 0.02,
            refractory_s: 0.005,
            least_age_s: 0.008,
            most_blows: 128,
            most_sounding: 10,
            seed: 0,
        }
    }
}

/// A body of the simulation, as the engine knows it.
#[derive(Clone, Debug)]
pub struct Partner {
    /// Its sound; `None` if it has none of its own.
    pub body: Option<BodyId>,
    /// Infinite for one that does not move.
    pub mass_kg: f64,
    /// What it is like to the touch.
    pub surface: Arc<Prepared>,
    pub(super) finder: Option<SiteFinder>,
}

impl Partner {
    /// Something that does not move and does not sound, with a smooth surface: a floor.
    pub fn silent() -> Self {
        Self { body: None, mass_kg: f64::INFINITY, surface: Prepared::smooth(), finder: None }
    }

    /// A sounding body, with a smooth surface.
    pub fn of(body: BodyId, model: Arc<ModalModel>, mass_kg: f64) -> Self {
        Self { body: Some(body), mass_kg, finder: Some(SiteFinder::new(model)), ..Self::silent() }
    }

    /// The same for another body of the same model.
    pub fn for_body(self, body: BodyId) -> Self {
        Self { body: Some(body), ..self }
    }

    /// The same with another mass.
    pub fn with_mass(self, mass_kg: f64) -> Self {
        Self { mass_kg, ..self }
    }

    /// The same with another surface.
    pub fn with_surface(self, surface: Arc<Prepared>) -> Self {
        Self { surface, ..self }
    }
}

/// Something that was heard, for lists and pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Happening {
    /// When, in s.
    pub time_s: f64,
    /// Between whom.
    pub bodies: [u32; 2],
    /// Where, in the world.
    pub position: [f32; 3],
    /// What.
    pub what: What,
}

/// What was heard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// A blow.
    Impact {
        /// Momentum that passed, in N·s.
        impulse_ns: f32,
        /// How fast the surfaces met.
        approach_m_s: f32,
    },
    /// Scraping or rolling began.
    Begin,
    /// It ended.
    End,
}

/// Turns frames of contacts into sound.
#[derive(Debug)]
pub struct Tracker {
    pub(super) settings: TrackerSettings,
    rate_hz: f64,
    partners: BTreeMap<u32, Partner>,
    poses: BTreeMap<u32, Pose>,
    followed: BTreeMap<u64, Followed>,
    /// When each pair last made a blow.
    struck: BTreeMap<[u32; 2], f64>,
    /// Contacts that made a blow in this frame, and the share of their impulse that it was.
    blows: BTreeMap<u64, f32>,
    damping: BTreeMap<u32, f32>,
    /// Damping that bodies have by themselves, where it is not one.
    own_damping: BTreeMap<u32, f32>,
    happenings: Vec<Happening>,
    counter: u64,
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
            partners: BTreeMap::new(),
            poses: BTreeMap::new(),
            followed: BTreeMap::new(),
            struck: BTreeMap::new(),
            blows: BTreeMap::new(),
            damping: BTreeMap::new(),
            own_damping: BTreeMap::new(),
            happenings: Vec::new(),
            counter: settings.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        }
    }

    /// Makes a body of the simulation known. Contacts of others are not heard.
    pub fn add(&mut self, number: u32, partner: Partner) {
        self.partners.insert(number, partner);
    }

    /// Forgets a body.
    pub fn remove(&mut self, number: u32) {
        self.partners.remove(&number);
        self.poses.remove(&number);
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

    /// What was heard since the last call.
    pub fn drain(&mut self) -> impl Iterator<Item = Happening> {
        self.happenings.drain(..)
    }

    /// Takes in the next frame and sends what follows from it. Contacts of bodies that are not known, and numbers that are not finite, are passed over.
    ///
    /// # Errors
    /// If the engine's queue is full.
    pub fn step(&mut self, frame: &ContactFrame, handle: &mut Handle) -> Result<(), EngineError> {
        if !frame.is_sane(usize::MAX) {
            return Ok(());
        }
        for pose in &frame.poses {
            self.poses.insert(pose.body, *pose);
        }
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
        self.damp(frame, handle)
    }

    fn known(&self, contact: &Contact) -> Option<[&Partner; 2]> {
        let [a, b] = contact.bodies.map(|body| self.partners.get(&body));
        Some([a?, b?])
    }

    fn pose_of(&self, body: u32) -> Pose {
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
        if candidates.len() > self.settings.most_blows {
            candidates.sort_by(|a, b| b.impulse_ns.total_cmp(&a.impulse_ns));
            candidates.truncate(self.settings.most_blows);
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
                seed: self.counter,
            };
            blow.send(handle)?;
            self.struck.insert(c.contact.bodies, c.time_s);
            self.blows.insert(c.contact.id, c.share);
            self.happenings.push(Happening {
                time_s: c.time_s,
                bodies: c.contact.bodies,
                position: mean_place(&c.contact.points),
                what: What::Impact { impulse_ns: c.impulse_ns, approach_m_s: c.approach_m_s },
            });
        }
        Ok(())
    }

    fn follow(&mut self, contact: &Contact, frame: &ContactFrame, handle: &mut Handle) -> Result<(), EngineError> {
        let Some(partners) = self.known(contact).map(|[a, b]| [a.clone(), b.clone()]) else { return Ok(()) };
        let poses = contact.bodies.map(|body| self.pose_of(body));
        let mut followed =
            self.followed.remove(&contact.id).unwrap_or_else(|| Followed::new(contact.bodies, frame.time_s));
        // What was a blow does not press as well.
        let carried = 1.0 - self.blows.get(&contact.id).copied().unwrap_or(0.0);
        followed.step(contact, carried, poses.each_ref(), frame.step_s);
        let textures = partners.each_ref().map(|p| p.surface.texture());
        followed.damping = textures[0].damping.max(textures[1].damping);
        let old_enough = frame.time_s - followed.since_s >= self.settings.least_age_s;
        let rough = partners.iter().any(|p| !p.surface.is_smooth());
        if rough && old_enough && (followed.voice.is_some() || followed.moves()) {
            followed.aim(contact, poses.each_ref(), partners.each_ref());
            let key = keyframe(&followed, frame.time_s, self.rate_hz);
            let sent = match followed.voice {
                Some(voice) => handle.update_contact(voice, key),
                None => self.make_room(followed.power_w(), frame.time_s, handle).and_then(|room| match room {
                    true => self.open(&mut followed, contact, partners.each_ref(), key, frame.time_s, handle),
                    false => Ok(()),
                }),
            };
            // Whatever went wrong, it is not forgotten: its voice must be closed some day.
            self.followed.insert(contact.id, followed);
            return sent;
        }
        self.followed.insert(contact.id, followed);
        Ok(())
    }

    /// Whether a contact of this power may sound. If too many do, the weakest makes room for one that is clearly stronger.
    fn make_room(&mut self, power_w: f32, time_s: f64, handle: &mut Handle) -> Result<bool, EngineError> {
        let sounding = self.followed.values_mut().filter(|f| f.voice.is_some());
        let (mut count, mut weakest) = (0, None::<&mut Followed>);
        for followed in sounding {
            count += 1;
            if weakest.as_ref().is_none_or(|w| followed.power_w() < w.power_w()) {
                weakest = Some(followed);
            }
        }
        if count < self.settings.most_sounding {
            return Ok(true);
        }
        let Some(weakest) = weakest.filter(|w| 4.0 * w.power_w() < power_w) else { return Ok(false) };
        let Some(voice) = weakest.voice else { return Ok(false) };
        handle.close_contact(voice, Moment::at(time_s + 0.01, self.rate_hz))?;
        weakest.voice = None;
        let (bodies, position) = (weakest.bodies, weakest.place);
        self.happenings.push(Happening { time_s, bodies, position, what: What::End });
        Ok(true)
    }

    fn open(
        &mut self,
        followed: &mut Followed,
        contact: &Contact,
        partners: [&Partner; 2],
        key: Keyframe,
        time_s: f64,
        handle: &mut Handle,
    ) -> Result<(), EngineError> {
        self.counter = self.counter.wrapping_add(16);
        let textures = partners.map(|p| p.surface.texture());
        let shape = ImpactShape::new(textures, partners.map(|p| p.mass_kg), 0.0);
        let place = mean_place(&contact.points);
        // Friction feels the body that can move more.
        let side = if partners[0].finder.is_none() || partners[1].mass_kg < partners[0].mass_kg { 1 } else { 0 };
        let pose = self.pose_of(contact.bodies[side]);
        let direction = pose.direction_to_world(Vec3::from_array(key.directions[side].map(f64::from)));
        let feels = partners.iter().any(|p| p.surface.sticks());
        let feedback = if feels { partners[side].small_bank(&pose, place, direction, self.rate_hz) } else { None };
        // From silence, where the contact began to count.
        let mut first = key;
        first.points.iter_mut().for_each(|p| p.force_n = 0.0);
        first.time = Moment::at(time_s - self.settings.least_age_s, self.rate_hz);
        let opened = handle.open_contact(ContactSettings {
            bodies: partners.map(|p| p.body),
            surfaces: partners.map(|p| &p.surface),
            points: POINTS,
            mass_over_stiffness_s: shape.mass_over_stiffness_s(),
            seed: self.counter,
            feedback,
            first,
        });
        let Ok(voice) = opened else { return ignore_full(opened) };
        followed.voice = Some(voice);
        handle.update_contact(voice, key)?;
        self.happenings.push(Happening { time_s, bodies: contact.bodies, position: place, what: What::Begin });
        Ok(())
    }

    fn end(&mut self, id: u64, time_s: f64, handle: &mut Handle) -> Result<(), EngineError> {
        let Some(followed) = self.followed.get(&id) else { return Ok(()) };
        if let Some(voice) = followed.voice {
            handle.close_contact(voice, Moment::at(time_s + 0.01, self.rate_hz))?;
            let (bodies, position) = (followed.bodies, followed.place);
            self.happenings.push(Happening { time_s, bodies, position, what: What::End });
        }
        self.followed.remove(&id);
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
                let time = Moment::at(frame.time_s, self.rate_hz);
                handle.send(Event { time, body: id, action: Action::Damping(damping) })?;
            }
        }
        now.retain(|_, damping| *damping != 1.0);
        self.damping = now;
        Ok(())
    }
}

fn keyframe(followed: &Followed, time_s: f64, rate_hz: f64) -> Keyframe {
    let site = |side: usize| followed.places[side].map_or(SiteBlend::single(0), |(_, site)| site);
    Keyframe {
        time: Moment::at(time_s, rate_hz),
        points: followed.states(),
        sites: [site(0), site(1)],
        directions: followed.directions,
    }
}
