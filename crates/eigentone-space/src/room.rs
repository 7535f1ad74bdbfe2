//! The spatial renderer: all sources of a scene, in rooms or in free field. The control side says where they are, the audio side sounds.
//!
//! [`Space`] decodes: told where the listener and the sources are, it asks the field, and sends each source's gains to the [`Renderer`] through a bounded queue. In rooms that takes microseconds
//! per source and belongs to the simulation, to an offline renderer, or to [a thread of its own](crate::thread). The [`Renderer`] is the audio side: it goes in straight
//! lines from one set of gains to the next, and never allocates, locks or fails.
//!
//! A source is whatever gives dry samples, as they would be heard at 1 m in front of it: bodies, soft bodies, recordings. All have distance, direction, directivity, Doppler shift, rooms, and a number that says
//! how much of them is heard. Of many that exist only those that sound need be decoded: the others are [placed idle](Space::place_idle) and [woken](Space::wake) before they sound. Rooms and Doppler
//! can be [exchanged](Space::set_field) at any time.
//!
//! ```
//! use eigentone_core::Vec3;
//! use eigentone_core::event::BodyId;
//! use eigentone_space::BLOCK;
//! use eigentone_space::room::{Place, SpaceSettings, space};
//!
//! let (mut space, mut renderer) = space(&SpaceSettings::default());
//! space.listen(Vec3::ZERO, Vec3::Y);
//! let bell = BodyId { slot: 0, generation: 0 };
//! space.place(bell, &Place::at(Vec3::new(2.0, 0.0, 0.0)));
//! let mut out = [[0.0; BLOCK]; 2];
//! renderer.begin(|_, heard| assert!((heard - 0.5).abs() < 1e-3, "half at two metres"));
//! renderer.add(bell, &[1.0; BLOCK]);
//! renderer.finish(&mut out);
//! assert!(out[1][40] > out[0][40], "from the right");
//! ```

mod acoustics;
mod settings;

pub use settings::SpaceSettings;

use crate::decode::{Answer, Decoder, free_field};
use crate::direct::{Direct, Target};
use crate::directivity::Directivity;
use crate::renderer::{Goal, Links, Renderer};
use crate::sends::{Sends, direct_gain};
use crate::slots::Sounding;
use acoustics::Acoustics;
use eigentone_core::acoustics::Field;
use eigentone_core::acoustics::{Parameter, Parameters};
use eigentone_core::event::BodyId;
use eigentone_core::{DQuat, NEAREST_M, Vec3};
use std::sync::Arc;

/// Time in which parameters follow what is asked, in s. When a source comes out from behind a corner other probes and cubes come into sight at once; sound bends around it.
const FOLLOW_S: f64 = 0.04;

/// Time in which parameters gather speed after rooms were exchanged, in s: all of them leap then, and to follow at full speed from the first moment bends every gain at once.
const EASE_S: f64 = 0.05;

/// Time after which the audio side has faded over to other rooms for certain, in s.
const SETTLE_S: f64 = 0.15;

/// Steps from free field at which a source that comes from rooms is there: a hundredth of what is just noticeable.
const ARRIVED: f32 = 0.01;

/// Loss of direct sound from which on a tilt counts fully, in dB.
const SHADOW_DB: f32 = 6.0;

/// Where a source is, and how it radiates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its position in m.
    pub position: Vec3,
    /// Directions in which it is louder; the axis is in the frame of the scene.
    pub directivity: Option<Directivity>,
}

impl Place {
    /// Alike into all directions.
    pub fn at(position: Vec3) -> Self {
        Self { position, directivity: None }
    }
}

/// Counts of what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceStats {
    /// Times that sources were placed.
    pub placed: u64,
    /// Of these, with a decay outside the times of the filters.
    pub clamped: u64,
    /// Of these, where the field knew nothing.
    pub unknown: u64,
    /// Messages that found the queue full. The next ones make good for them.
    pub lost: u64,
}

/// What the control side keeps of a source.
#[derive(Clone, Copy, Debug)]
struct Known {
    body: BodyId,
    place: Place,
    /// Parameters as they were last sent, in steps; none while the audio side does not know the source.
    last_sent: Option<[f32; Parameter::COUNT]>,
    /// Which exchange of rooms it has last heard of, and how often it has been placed since.
    exchange: u32,
    placed: u32,
}

/// The control side: decodes, and tells the audio side.
#[derive(Debug)]
pub struct Space {
    acoustics: Acoustics,
    to_audio: rtrb::Producer<(BodyId, Option<Goal>)>,
    sounding: Arc<Sounding>,
    listener: Vec3,
    /// Right, forward and up of the listener.
    frame: [Vec3; 3],
    sources: Vec<Option<Known>>,
    /// Free field in steps.
    free_steps: [f32; Parameter::COUNT],
    follow: f32,
    /// Exchanges of rooms so far, and placements after them until a source follows at full speed and until all has faded.
    exchanges: u32,
    ease: u32,
    settle: u32,
    stats: SpaceStats,
}

/// Makes a space: the [`Space`] stays with the program, the [`Renderer`] goes to the audio side.
pub fn space(settings: &SpaceSettings) -> (Space, Renderer) {
    let rate = settings.sample_rate_hz;
    let mut direct = Direct::new(rate, settings.max_sources, settings.spatial.clone());
    let (mut acoustics, (exchanges, back)) = Acoustics::new(rate, settings.max_sources, settings.air, settings.decoder);
    if let Some(field) = &settings.field {
        direct.set_field(field.info().f_max_hz);
        acoustics.set_field(Some(field.clone()), Vec3::ZERO);
    }
    if settings.doppler {
        direct.set_doppler(true);
        acoustics.has_doppler();
    }
    let reverb = acoustics.first_reverb();
    let (to_audio, goals) = rtrb::RingBuffer::new((4 * settings.max_sources).max(64));
    let sounding = Arc::new(Sounding::new(settings.max_sources));
    let links = Links { goals, exchanges, back, sounding: sounding.clone() };
    let placements = |seconds: f64| (seconds / settings.update_s).ceil().clamp(1.0, 1e6) as u32;
    let space = Space {
        acoustics,
        to_audio,
        sounding,
        listener: Vec3::ZERO,
        frame: [Vec3::X, Vec3::Y, Vec3::Z],
        sources: vec![None; settings.max_sources],
        free_steps: free_field().to_steps(),
        follow: (1.0 - (-settings.update_s / FOLLOW_S).exp()) as f32,
        exchanges: 0,
        ease: placements(EASE_S),
        settle: placements(SETTLE_S),
        stats: SpaceStats::default(),
    };
    let renderer = Renderer::new(direct, reverb, links, settings);
    (space, renderer)
}

/// How much of a tilt counts at a level of direct sound, in dB: a shadow is both quiet and dull. In plain sight, where level is not lost, reflections from the ground tilt
/// the lowest octaves as well, but that says nothing of what is above them.
fn shadow(direct_db: f32) -> f32 {
    (-direct_db / SHADOW_DB).clamp(0.0, 1.0)
}

impl Space {
    /// Where the listener is and looks; up is +z.
    pub fn listen(&mut self, position: Vec3, look: Vec3) {
        let forward = look.normalize_or(self.frame[1]);
        // Who looks straight up or down has the right hand along x.
        let right = forward.cross(Vec3::Z).normalize_or(Vec3::X);
        self.hear_from(position, [right, forward, right.cross(forward)]);
    }

    /// Where the listener is, and how the head is held: `rotation` takes +x to the right, +y forward and +z up of the head into the world, so that a head can lean to its shoulder as well.
    /// What is not a rotation leaves the head as it was.
    pub fn listen_pose(&mut self, position: Vec3, rotation: DQuat) {
        let length = rotation.length();
        let frame = if length.is_finite() && length > 1e-9 {
            let rotation = rotation.normalize();
            [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| rotation * axis)
        } else {
            self.frame
        };
        self.hear_from(position, frame);
    }

    fn hear_from(&mut self, position: Vec3, frame: [Vec3; 3]) {
        self.listener = if position.is_finite() { position } else { self.listener };
        self.frame = frame;
        if let Some(decoder) = &mut self.acoustics.decoder {
            decoder.listen(self.listener);
        }
        self.acoustics.deliver();
    }

    /// Frees what the audio side has given back of rooms that have rung out, and sends it what has waited for that. Placing and listening do this too.
    pub fn collect(&mut self) {
        self.acoustics.deliver();
    }

    /// Other rooms, or free field, from now on, while everything sounds. All that is needed is made here, which takes milliseconds; the audio side cross-fades over a tenth of a second, and what sounded in
    /// the old rooms rings out in them. Each source is heard in the new ones when it is placed next.
    pub fn set_field(&mut self, field: Option<Arc<Field>>) {
        self.acoustics.set_field(field, self.listener);
        self.exchanges = self.exchanges.wrapping_add(1);
        self.acoustics.deliver();
    }

    /// The rooms; none is free field.
    pub fn field(&self) -> Option<&Arc<Field>> {
        self.acoustics.decoder.as_ref().map(Decoder::field)
    }

    /// Lets sound take its time to arrive, or not, while everything sounds: within 30 ms what arrives at once gives way to what is on its way, or the other way round. Makes 22 MB of
    /// delays at 44.1 kHz.
    pub fn set_doppler(&mut self, on: bool) {
        self.acoustics.doppler = on;
        self.acoustics.deliver();
    }

    /// What would be heard from here now, without following slowly.
    pub fn ask(&mut self, source: Vec3) -> Answer {
        match &mut self.acoustics.decoder {
            Some(decoder) => decoder.ask(source),
            None => Answer { parameters: free_field(), distance_m: source.distance(self.listener), confidence: 1.0 },
        }
    }

    /// Tells where a source is: to be called for every source that sounds each time [`SpaceSettings::update_s`] has passed. A source that is new begins there.
    /// One that is nowhere stays where it was.
    pub fn place(&mut self, body: BodyId, place: &Place) {
        if place.position.is_finite() {
            self.decode(body, place, false);
        }
    }

    /// Remembers where a source is that does not sound: nothing is decoded, nothing is sent. [`wake`](Self::wake) it before it sounds, or [`place`](Self::place) it.
    pub fn place_idle(&mut self, body: BodyId, place: &Place) {
        if !place.position.is_finite() {
            return;
        }
        let Some(source) = self.sources.get_mut(body.slot as usize) else { return };
        match source {
            Some(known) if known.body == body => known.place = *place,
            _ => {
                // The one that had the slot before is not heard any more.
                let known =
                    Known { body, place: *place, last_sent: None, exchange: self.exchanges, placed: self.settle };
                let before = source.replace(known);
                if let Some(before) = before.filter(|before| before.last_sent.is_some()) {
                    self.send(before.body, None);
                }
            }
        }
    }

    /// Decodes and sends the place that was remembered: the source is about to sound, and begins there. False if nothing is known of it.
    pub fn wake(&mut self, body: BodyId) -> bool {
        let Some(known) = self.known(body).copied() else { return false };
        self.decode(body, &known.place, true);
        true
    }

    /// Whether sound of a source was on its way to the listener in the last block. One that is silent need not be placed again until it is about to sound.
    pub fn sounds(&self, body: BodyId) -> bool {
        self.known(body).is_some_and(|known| known.last_sent.is_some()) && self.sounding.get(body.slot as usize)
    }

    /// A source that is no more. What it has sounded is heard to its end.
    pub fn remove(&mut self, body: BodyId) {
        let Some(known) = self.known(body) else { return };
        if known.last_sent.is_none() || self.send(body, None) {
            self.sources[body.slot as usize] = None;
        }
    }

    /// Whether it is still told about a source: a removal that found the queue full is to be repeated.
    pub fn knows(&self, body: BodyId) -> bool {
        self.known(body).is_some()
    }

    /// Slots of sources are below this.
    pub fn max_sources(&self) -> usize {
        self.sources.len()
    }

    /// What it has been asked for.
    pub fn stats(&self) -> SpaceStats {
        self.stats
    }

    fn known(&self, body: BodyId) -> Option<&Known> {
        self.sources.get(body.slot as usize)?.as_ref().filter(|known| known.body == body)
    }

    fn send(&mut self, body: BodyId, goal: Option<Goal>) -> bool {
        let sent = self.to_audio.push((body, goal)).is_ok();
        self.stats.lost += u64::from(!sent);
        sent
    }

    /// Asks what is heard of a source and sends it. Parameters follow slowly, unless it begins here.
    fn decode(&mut self, body: BodyId, place: &Place, begin: bool) {
        let slot = body.slot as usize;
        if slot >= self.sources.len() {
            return;
        }
        self.acoustics.deliver();
        let known = self.known(body).filter(|_| !begin);
        let last_sent = known.and_then(|known| known.last_sent);
        let placed = match known {
            Some(known) if known.exchange == self.exchanges => known.placed.saturating_add(1).min(self.settle),
            Some(_) => 1,
            None => self.settle,
        };
        let away = (place.position - self.listener).clamp_length_max(1e6);
        let directivity = place.directivity.unwrap_or_default();
        let directivity_gain = if place.directivity.is_some() { directivity.gain(-away) } else { 1.0 };
        let mut target = Target {
            direction: self.frame.map(|axis| axis.dot(away) as f32),
            directivity_gain,
            directivity_cutoff_hz: directivity.cutoff_hz,
            ..Target::default()
        };
        let steps = if self.acoustics.decoder.is_some() || last_sent.is_some_and(|steps| steps != self.free_steps) {
            self.decode_rooms(place.position, last_sent, placed, &mut target)
        } else {
            let distance_m = place.position.distance(self.listener);
            (target.gain, target.distance_m) = ((1.0 / distance_m.max(NEAREST_M)) as f32, distance_m as f32);
            self.free_steps
        };
        self.stats.placed += 1;
        self.sources[slot] =
            Some(Known { body, place: *place, last_sent: Some(steps), exchange: self.exchanges, placed });
        self.send(body, Some(Goal::new(target, begin)));
    }

    /// What the field says, or on the way from a field that was to free field. Returns the parameters in steps.
    fn decode_rooms(
        &mut self,
        position: Vec3,
        last_sent: Option<[f32; Parameter::COUNT]>,
        placed: u32,
        target: &mut Target,
    ) -> [f32; Parameter::COUNT] {
        let answer = self.ask(position);
        let mut steps = answer.parameters.to_steps();
        let reverberant = self.acoustics.decoder.is_some();
        let follow = self.follow * (placed as f32 / self.ease as f32).min(1.0);
        for (p, (before, x)) in last_sent.iter().flatten().zip(&mut steps).enumerate() {
            // What reverberation comes in or goes out altogether is faded by the audio side. To fade what goes into it as well would only bend it.
            let reflected = p != Parameter::Direct as usize && p != Parameter::Tilt as usize;
            match (reverberant, reflected && placed < self.settle) {
                (false, true) => *x = *before,
                (true, true) if last_sent == Some(self.free_steps) => {}
                _ => *x = before + follow * (*x - before),
            }
        }
        let near = |p: Parameter| (steps[p as usize] - self.free_steps[p as usize]).abs() < ARRIVED;
        let left_rooms = !reverberant && placed >= self.settle;
        if left_rooms && near(Parameter::Direct) && near(Parameter::Tilt) {
            steps = self.free_steps;
        }
        let parameters = Parameters::from_steps(steps);
        target.distance_m = answer.distance_m as f32;
        target.tilt_db = steps[Parameter::Tilt as usize] * shadow(steps[Parameter::Direct as usize]);
        target.gain = direct_gain(&parameters, answer.distance_m);
        self.stats.unknown += u64::from(answer.confidence == 0.0);
        if let Some(filters) = self.acoustics.filters.as_ref().filter(|_| !left_rooms) {
            let (sends, clamped) = Sends::new(&parameters, answer.distance_m, filters);
            (target.early, target.late) = (sends.early, sends.late);
            self.stats.clamped += u64::from(clamped.early || clamped.late);
        }
        steps
    }
}
