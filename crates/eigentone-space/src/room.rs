//! All sources of a scene in its rooms: the control side says where they are, the audio side sounds.
//!
//! [`Space`] decodes: told where the listener and the sources are, it asks the field, and sends each source's gains to the [`Renderer`] through a bounded queue. That takes microseconds
//! per source and belongs to the simulation, to an offline renderer, or to [a thread of its own](crate::thread). The [`Renderer`] is the audio side: it goes in straight
//! lines from one set of gains to the next, and never allocates, locks or fails.
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

use crate::air::Air;
use crate::canonical::{Canonical, early_start_s};
use crate::convolve::Reverb;
use crate::decode::{Answer, Decoder, DecoderSettings, free_field};
use crate::direct::{Direct, Spatial, Target};
use crate::directivity::Directivity;
use crate::renderer::{Goal, Renderer};
use crate::sends::Sends;
use eigentone_core::Vec3;
use eigentone_core::acoustics::{Field, Parameter, Parameters};
use eigentone_core::event::BodyId;
use std::sync::Arc;

/// Time in which parameters follow what is asked, in s. When a source comes out from behind a corner other probes and cubes come into sight at once; sound bends around it.
const FOLLOW_S: f64 = 0.04;

/// Loss of direct sound from which on a tilt counts fully, in dB.
const SHADOW_DB: f32 = 6.0;

/// How a space is made.
#[derive(Clone, Debug)]
pub struct SpaceSettings {
    /// Samples per second.
    pub sample_rate_hz: f64,
    /// Sources at once: bodies have slots below this.
    pub most_sources: usize,
    /// How directions are heard.
    pub spatial: Spatial,
    /// Whether sound takes its time.
    pub doppler: bool,
    /// What is known of the rooms; nothing is open air.
    pub field: Option<Arc<Field>>,
    /// How it is decoded.
    pub decoder: DecoderSettings,
    /// What the air absorbs of late sound.
    pub air: Air,
    /// How often each source is placed, in s. Sound goes in straight lines over this time.
    pub update_s: f64,
}

impl Default for SpaceSettings {
    /// Open air, up to 256 sources, a spherical head.
    fn default() -> Self {
        Self {
            sample_rate_hz: 44_100.0,
            most_sources: 256,
            spatial: Spatial::Head,
            doppler: false,
            field: None,
            decoder: DecoderSettings::default(),
            air: Air::default(),
            update_s: 1.0 / 120.0,
        }
    }
}

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

/// The control side: decodes, and tells the audio side.
#[derive(Debug)]
pub struct Space {
    decoder: Option<Decoder>,
    filters: Arc<Canonical>,
    to_audio: rtrb::Producer<(BodyId, Option<Goal>)>,
    listener: Vec3,
    /// Right, forward and up of the listener.
    frame: [Vec3; 3],
    /// What each source has been told last, in steps.
    told: Vec<Option<(BodyId, [f32; Parameter::COUNT])>>,
    follow: f32,
    stats: SpaceStats,
}

/// Makes a space: the [`Space`] stays with the program, the [`Renderer`] goes to the audio side.
pub fn space(settings: &SpaceSettings) -> (Space, Renderer) {
    let rate = settings.sample_rate_hz;
    let filters = Canonical::new(rate, &settings.air);
    let filters = Arc::new(match &settings.field {
        Some(field) => filters.for_field(field.info().f_max_hz),
        None => filters,
    });
    let mut direct = Direct::new(rate, settings.most_sources, settings.spatial.clone());
    if let Some(field) = &settings.field {
        direct.set_field(field.info().f_max_hz);
    }
    direct.set_doppler(settings.doppler);
    let reverb =
        settings.field.as_ref().map(|field| Reverb::starting(rate, &filters, early_start_s(field.info().f_max_hz)));
    let (to_audio, from_control) = rtrb::RingBuffer::new((4 * settings.most_sources).max(64));
    let decoder = settings.field.clone().map(|field| Decoder::new(field, settings.decoder));
    let space = Space {
        decoder,
        filters,
        to_audio,
        listener: Vec3::ZERO,
        frame: [Vec3::X, Vec3::Y, Vec3::Z],
        told: vec![None; settings.most_sources],
        follow: (1.0 - (-settings.update_s / FOLLOW_S).exp()) as f32,
        stats: SpaceStats::default(),
    };
    let renderer = Renderer::new(direct, reverb, from_control, settings);
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
        self.listener = if position.is_finite() { position } else { self.listener };
        let forward = look.normalize_or(self.frame[1]);
        // Who looks straight up or down has the right hand along x.
        let right = forward.cross(Vec3::Z).normalize_or(Vec3::X);
        self.frame = [right, forward, right.cross(forward)];
        if let Some(decoder) = &mut self.decoder {
            decoder.listen(self.listener);
        }
    }

    /// What would be heard from here now, without following slowly.
    pub fn ask(&mut self, source: Vec3) -> Answer {
        match &mut self.decoder {
            Some(decoder) => decoder.ask(source),
            None => Answer { parameters: free_field(), distance_m: source.distance(self.listener), confidence: 1.0 },
        }
    }

    /// Tells where a source is: to be called for every source each time [`SpaceSettings::update_s`] has passed. A source that is new begins there.
    /// One that is nowhere stays where it was.
    pub fn place(&mut self, body: BodyId, place: &Place) {
        if !place.position.is_finite() {
            return;
        }
        let answer = self.ask(place.position);
        let Some(told) = self.told.get_mut(body.slot as usize) else { return };
        let goal_steps = answer.parameters.to_steps();
        let steps = match told {
            Some((id, before)) if *id == body => {
                let mut steps = *before;
                steps.iter_mut().zip(goal_steps).for_each(|(x, goal)| *x += self.follow * (goal - *x));
                steps
            }
            _ => goal_steps,
        };
        *told = Some((body, steps));
        let (sends, clamped) = Sends::new(&Parameters::from_steps(steps), answer.distance_m, &self.filters);
        self.stats.placed += 1;
        self.stats.clamped += u64::from(clamped.early || clamped.late);
        self.stats.unknown += u64::from(answer.confidence == 0.0);
        let away = (place.position - self.listener).clamp_length_max(1e6);
        let directivity = place.directivity.unwrap_or_default();
        let reverberant = self.decoder.is_some();
        let target = Target {
            gain: sends.direct,
            tilt_db: steps[Parameter::Tilt as usize] * shadow(steps[Parameter::Direct as usize]),
            direction: self.frame.map(|axis| axis.dot(away) as f32),
            distance_m: answer.distance_m as f32,
            early: if reverberant { sends.early } else { [0.0; 3] },
            late: if reverberant { sends.late } else { [0.0; 3] },
            directivity_gain: directivity.gain(-away),
            directivity_cutoff_hz: directivity.cutoff_hz,
        };
        self.send(body, Some(Goal::new(target)));
    }

    /// A source that is no more. What it has sounded is heard to its end.
    pub fn remove(&mut self, body: BodyId) {
        let slot = body.slot as usize;
        let known = self.told.get(slot).is_some_and(|t| t.is_some_and(|(id, _)| id == body));
        if known && self.send(body, None) {
            self.told[slot] = None;
        }
    }

    /// Whether it is still told about a source: a removal that found the queue full is to be repeated.
    pub fn knows(&self, body: BodyId) -> bool {
        self.told.get(body.slot as usize).is_some_and(|t| t.is_some_and(|(id, _)| id == body))
    }

    fn send(&mut self, body: BodyId, goal: Option<Goal>) -> bool {
        let sent = self.to_audio.push((body, goal)).is_ok();
        self.stats.lost += u64::from(!sent);
        sent
    }

    /// Slots of sources are below this.
    pub fn most_sources(&self) -> usize {
        self.told.len()
    }

    /// What it has been asked for.
    pub fn stats(&self) -> SpaceStats {
        self.stats
    }
}
