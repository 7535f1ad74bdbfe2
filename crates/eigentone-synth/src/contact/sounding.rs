//! Contacts that go on, from frame to frame: which of them have a voice, and what it is told.

use super::blow::ignore_full;
use super::body::{ContactBody, ContactEvent, ContactEventKind};
use super::follow::{Followed, mean_place};
use super::tracker::Tracker;
use crate::engine::{ContactSettings, Handle, Keyframe, POINTS};
use crate::settings::EngineError;
use crate::texture::ImpactShape;
use eigentone_core::Vec3;
use eigentone_core::contact::{Contact, ContactFrame};
use eigentone_core::model::SiteBlend;

/// Length of the fade at the end of a voice, in s.
const FADE_S: f64 = 0.01;

impl Tracker {
    pub(super) fn follow(
        &mut self,
        contact: &Contact,
        frame: &ContactFrame,
        handle: &mut Handle,
    ) -> Result<(), EngineError> {
        let Some(partners) = self.known(contact).map(|[a, b]| [a.clone(), b.clone()]) else { return Ok(()) };
        let poses = contact.bodies.map(|body| self.pose_of(body));
        let mut followed =
            self.followed.remove(&contact.id).unwrap_or_else(|| Followed::new(contact.bodies, frame.time_s));
        // What was a blow does not press as well.
        let carried = 1.0 - self.blows.get(&contact.id).copied().unwrap_or(0.0);
        followed.step(contact, carried, poses.each_ref(), partners.each_ref(), frame.step_s);
        self.limited += u64::from(followed.limit(self.settings.max_force_n));
        let textures = partners.each_ref().map(|p| p.surface.texture());
        followed.damping = textures[0].damping.max(textures[1].damping);
        let old_enough = frame.time_s - followed.since_s >= self.settings.least_age_s;
        let rough = partners.iter().any(|p| !p.surface.is_smooth());
        let mut sent = Ok(());
        if rough && old_enough && (followed.seed.is_some() || followed.moves()) {
            followed.aim(contact, poses.each_ref(), partners.each_ref());
            let key = self.keyframe(&mut followed, frame.time_s);
            sent = match (followed.voice, followed.seed) {
                (Some(voice), _) => handle.update_contact(voice, key),
                // It sounded before, on another surface or before a pause.
                (None, Some(seed)) => {
                    self.open(&mut followed, contact, partners.each_ref(), key, seed, handle).map(|_| ())
                }
                (None, None) => self.begin(&mut followed, contact, partners.each_ref(), key, frame.time_s, handle),
            };
        } else if !rough && followed.seed.is_some() {
            // Its surface was exchanged for a smooth one; the voice is being closed.
            followed.seed = None;
            self.closing.0.extend(followed.voice.take());
            self.heard_end(&followed, frame.time_s);
        }
        // Whatever went wrong, it is not forgotten: its voice must be closed some day.
        self.followed.insert(contact.id, followed);
        sent
    }

    /// A contact begins to sound, if there is room for it.
    fn begin(
        &mut self,
        followed: &mut Followed,
        contact: &Contact,
        partners: [&ContactBody; 2],
        key: Keyframe,
        time_s: f64,
        handle: &mut Handle,
    ) -> Result<(), EngineError> {
        if !self.make_room(followed.power_w(), time_s, handle)? {
            return Ok(());
        }
        self.counter = self.counter.wrapping_add(16);
        if self.open(followed, contact, partners, key, self.counter, handle)? {
            let position = mean_place(&contact.points);
            self.events.push(ContactEvent { time_s, bodies: contact.bodies, position, kind: ContactEventKind::Begin });
        }
        Ok(())
    }

    /// Whether a contact of this power may sound. If too many do, the weakest makes room for one that is clearly stronger.
    fn make_room(&mut self, power_w: f32, time_s: f64, handle: &mut Handle) -> Result<bool, EngineError> {
        let sounding = self.followed.iter().filter(|(_, f)| f.seed.is_some());
        let (mut count, mut weakest) = (0, None::<(u64, f32)>);
        for (&id, followed) in sounding {
            count += 1;
            if weakest.is_none_or(|(_, power)| followed.power_w() < power) {
                weakest = Some((id, followed.power_w()));
            }
        }
        if count < self.settings.max_sounding {
            return Ok(true);
        }
        let weakest = weakest.filter(|(_, power)| 4.0 * power < power_w);
        let Some(weakest) = weakest.and_then(|(id, _)| self.followed.get_mut(&id)) else { return Ok(false) };
        if let Some(voice) = weakest.voice {
            handle.close_contact(voice, self.clock.moment(time_s, FADE_S))?;
        }
        (weakest.voice, weakest.seed) = (None, None);
        let (bodies, position) = (weakest.bodies, weakest.place);
        self.events.push(ContactEvent { time_s, bodies, position, kind: ContactEventKind::End });
        Ok(true)
    }

    /// Gives a contact a voice; says whether there was a place for it.
    fn open(
        &mut self,
        followed: &mut Followed,
        contact: &Contact,
        partners: [&ContactBody; 2],
        key: Keyframe,
        seed: u64,
        handle: &mut Handle,
    ) -> Result<bool, EngineError> {
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
        first.time = self.moment(self.time_s - self.settings.least_age_s);
        let opened = handle.open_contact(ContactSettings {
            bodies: partners.map(|p| p.body),
            surfaces: partners.map(|p| &p.surface),
            points: POINTS,
            mass_over_stiffness_s: shape.mass_over_stiffness_s(),
            seed,
            feedback,
            first,
        });
        let Ok(voice) = opened else { return ignore_full(opened).map(|()| false) };
        (followed.voice, followed.seed) = (Some(voice), Some(seed));
        handle.update_contact(voice, key)?;
        Ok(true)
    }

    pub(super) fn end(&mut self, id: u64, time_s: f64, handle: &mut Handle) -> Result<(), EngineError> {
        let Some(followed) = self.followed.get(&id) else { return Ok(()) };
        if let Some(voice) = followed.voice {
            handle.close_contact(voice, self.clock.moment(time_s, FADE_S))?;
        }
        if let Some(followed) = self.followed.remove(&id).filter(|f| f.seed.is_some()) {
            self.heard_end(&followed, time_s);
        }
        Ok(())
    }

    pub(super) fn heard_end(&mut self, followed: &Followed, time_s: f64) {
        let (bodies, position) = (followed.bodies, followed.place);
        self.events.push(ContactEvent { time_s, bodies, position, kind: ContactEventKind::End });
    }

    /// Closes the voices that nobody follows any more.
    pub(super) fn close_all(&mut self, time_s: f64, handle: &mut Handle) -> Result<(), EngineError> {
        while let Some(voice) = self.closing.0.pop() {
            match handle.close_contact(voice, self.clock.moment(time_s, FADE_S)) {
                // Its body, and with it the voice, may be gone.
                Ok(()) | Err(EngineError::NoSuchContact) => {}
                Err(error) => {
                    self.closing.0.push(voice);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// What a contact is like at the end of a frame. Its keyframes stay in order, wherever the clock has moved.
    fn keyframe(&self, followed: &mut Followed, time_s: f64) -> Keyframe {
        let site = |side: usize| followed.places[side].map_or(SiteBlend::single(0), |(_, site)| site);
        let mut time = self.moment(time_s);
        if time.sample < followed.told {
            (time.sample, time.fraction) = (followed.told, 0.0);
        }
        let sites = [site(0), site(1)];
        followed.told = time.sample;
        Keyframe { time, points: followed.states(), sites, directions: followed.directions }
    }
}
