//! The control side: bodies with one key each, over physics, contacts, synthesis and space.

mod act;
mod bridge;
mod contact_events;
mod diff;
mod drag;
mod insert;
mod setters;
mod spatial;
mod step;
mod strike;
mod swap;

pub use bridge::Bridge;
pub(crate) use bridge::BridgeSpec;
pub use drag::Grab;

use crate::body::Body;
use crate::change::Script;
use crate::clock::GameClock;
use crate::error::{WorldError, check};
use crate::events::WorldEvent;
use crate::exclusive::Exclusive;
use crate::hail::Hail;
use crate::key::{BodyKey, Slots};
use crate::listener::Pose;
use crate::models::{TaskId, TaskStatus, Tasks};
use crate::motion_source::MotionSource;
use crate::out::{AudioOut, Voice, VoiceMessage, VoiceQueues};
use crate::settings::{Settings, Timing};
use crate::shared::{AudioStats, Shared};
use crate::soft::SoftBodies;
use crate::surfaces::Surfaces;
use act::Dirty;
use eigentone_core::contact;
use eigentone_core::event::BodyId;
use eigentone_core::{Material, ModalModel, Vec3};
use eigentone_sim::rigid;
use eigentone_space::room::{Space, SpaceSettings, space};
use eigentone_synth::contact::{ContactBody, Tracker, TrackerSettings};
use eigentone_synth::texture::SurfaceRuntime;
use eigentone_synth::{Handle, ModeLevels, Stats};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Steps of the simulation after which sources are placed anew.
pub(crate) const PLACED_EVERY: u64 = 8;

/// Events that wait to be read; of more, the oldest are forgotten.
const MAX_EVENTS: usize = 1 << 16;

/// A world: bodies that move, touch and sound. It is the control side and owns everything; what is heard comes out of its [`AudioOut`].
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) bodies: Slots<BodyState>,
    bridges: Slots<bridge::BridgeState>,
    pub(crate) engine: Exclusive<Handle>,
    space: Exclusive<Space>,
    to_audio: Exclusive<rtrb::Producer<VoiceMessage>>,
    from_audio: Exclusive<rtrb::Consumer<Box<Voice>>>,
    pub(crate) tracker: Tracker,
    pub(crate) rigid: Exclusive<rigid::World>,
    motion_source: Option<Box<dyn MotionSource>>,
    pub(crate) clock: GameClock,
    pub(crate) time: GameTime,
    pub(crate) script: Script,
    pub(crate) hail: Option<Hail>,
    pub(crate) soft: SoftBodies,
    tasks: Exclusive<Tasks>,
    pub(crate) listener: Pose,
    events: VecDeque<WorldEvent>,
    surfaces: Surfaces,
    shared: Arc<Shared>,
    /// Whose sound each engine slot and voice is.
    owners: BTreeMap<u32, (BodyId, BodyKey)>,
    /// The one that has been free for longest first: what fades in it is not cut off.
    free_voices: VecDeque<u32>,
    voice_generation: u32,
    pub(crate) grabs: u64,
    pub(crate) counts: Counts,
    /// Sources of which the space must still be told that they are gone.
    leaving: Vec<BodyId>,
    /// Bodies with parameters that the audio side has not been told yet, and those with a model that waits for room.
    dirty: BTreeSet<BodyKey>,
    waiting: BTreeSet<BodyKey>,
    /// Whether listener or rooms have changed since sources were last placed.
    moved: bool,
    /// Audio time at which sources were last placed, in samples.
    placed_at: u64,
    frozen: BTreeSet<u32>,
    /// Voices of which the audio side must still be told that they are gone.
    ended_voices: Vec<BodyId>,
    /// Resonators that the engine must still be told to remove.
    removals: Vec<BodyId>,
    /// Whether the engine must still be told of the quality.
    flush_quality: bool,
    recording: bool,
    frames: Vec<contact::ContactFrame>,
    /// What the tracker was told of bodies with a model, so that places on it are sorted once.
    partners: BTreeMap<usize, (Arc<ModalModel>, ContactBody)>,
}

/// The game's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GameTime {
    /// Steps of the world's own simulation.
    pub steps: u64,
    /// Reached, in s.
    pub now_s: f64,
    /// Passed, but less than a step, in s.
    pub owed_s: f64,
    pub paused: bool,
    /// Whether the world's own bodies stand still.
    pub still: bool,
    /// Whether frames come from somebody else's physics.
    pub fed: bool,
}

/// What could not be done as it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Groups of events that came too late and were shifted as a whole.
    pub late_frames: u64,
    /// Gaps in time that were jumped over.
    pub jumps: u64,
    /// Seconds that were asked for at once and left out, because nobody could have waited for them.
    pub skipped_s: f64,
    /// Blows and contacts for which the way to the audio side was full.
    pub shed: u64,
    /// Seconds spent on asking where sources are and what rooms say of them.
    pub placing_s: f64,
    /// Events that nobody read and that were forgotten.
    pub unread: u64,
}

/// A body in the world.
#[derive(Clone, Debug)]
pub(crate) struct BodyState {
    /// As it would be inserted again, kept up to date.
    pub body: Body,
    pub material: Arc<Material>,
    pub surface: Arc<SurfaceRuntime>,
    pub mass_kg: f64,
    /// Its resonator.
    pub engine: Option<BodyId>,
    /// Its voice, if it is one, or its place among soft bodies' sounds.
    pub voice: Option<BodyId>,
    /// The model it sounds with, at its size, and the same at size one.
    pub model: Option<Arc<ModalModel>>,
    pub base: Option<Arc<ModalModel>>,
    /// Whose resonator it sounds through, if it is not its own.
    pub shared_with: Option<BodyId>,
    pub pose: contact::Pose,
    /// Whether it is part of the world's own physics.
    pub rigid: bool,
    /// What the engine has not been told yet.
    pub dirty: Dirty,
    /// A model that waits for room on the way to the audio side, and the task that made it.
    pub next: Option<Arc<ModalModel>>,
    pub task: Option<TaskId>,
    /// Whether the space knows it, and whether something has just happened to it.
    pub placed: bool,
    pub excited: bool,
    /// The grab that pulls it.
    pub grab: Option<u64>,
}

impl World {
    /// Makes a world, and the audio side that goes into the callback.
    ///
    /// # Errors
    /// If a setting makes no sense.
    pub fn new(settings: Settings) -> Result<(Self, AudioOut), WorldError> {
        check("Settings::full_scale_pa", settings.full_scale_pa, 1e-6..=1e12, "positive")?;
        check("Settings::max_bodies", settings.max_bodies as f64, 1.0..=1e6, "1 to 1,000,000")?;
        check("Settings::max_voices", settings.max_voices as f64, 0.0..=4096.0, "at most 4096")?;
        if let Timing::Live { latency_s } = settings.timing {
            check("the latency", latency_s, 0.0..=10.0, "0 to 10 s")?;
        } else if settings.budget_us.is_some() {
            return Err(WorldError::Unfit(
                "offline a budget is given in modes: what is heard must not depend on the machine",
            ));
        }
        let rate_hz = settings.sample_rate_hz;
        // Room for the tails of swaps and for bodies that fade while others take their place.
        let slots = settings.max_bodies + settings.max_bodies / 4 + 16;
        let (engine, synth) = eigentone_synth::engine(eigentone_synth::Settings {
            sample_rate_hz: rate_hz,
            max_bodies: slots,
            max_modes_per_body: settings.max_modes_per_body,
            max_events: settings.max_events,
            // Offline nobody waits for the sound.
            max_events_per_block: if settings.timing == Timing::Offline {
                usize::MAX
            } else {
                eigentone_synth::Settings::default().max_events_per_block
            },
            // Twice: those that were removed fade beside those that take their place.
            max_bridges: 2 * settings.max_bridges,
            max_contacts: settings.max_contacts,
            max_impulse_ns: settings.max_impulse_ns,
            max_force_n: settings.max_force_n,
            quality: settings.quality,
            ..eigentone_synth::Settings::default()
        })?;
        let rigid = rigid::World::new(rigid::WorldSettings {
            gravity: settings.gravity,
            step_s: settings.step_s,
            max_bodies: settings.max_bodies,
            ..rigid::WorldSettings::default()
        })?;
        let (space, renderer) = space(&SpaceSettings {
            sample_rate_hz: rate_hz,
            max_sources: slots + settings.max_voices,
            spatial: settings.spatial.clone(),
            doppler: settings.doppler,
            field: settings.rooms.clone(),
            update_s: PLACED_EVERY as f64 * settings.step_s,
            ..SpaceSettings::default()
        });
        let shared = Arc::new(Shared::new(slots + settings.max_voices));
        let (to_audio, from_control) = rtrb::RingBuffer::new(8 * settings.max_voices.max(8));
        let (to_control, from_audio) = rtrb::RingBuffer::new(2 * settings.max_voices.max(8));
        let voices = VoiceQueues { from_control, to_control, first_voice: slots, max_voices: settings.max_voices };
        let out = AudioOut::new(synth, renderer, voices, settings.full_scale_pa, shared.clone());
        let tracker = TrackerSettings {
            seed: settings.seed,
            max_force_n: settings.max_force_n,
            max_speed_m_s: settings.max_speed_m_s,
            max_impulse_ns: settings.max_impulse_ns,
            ..TrackerSettings::default()
        };
        let mut world = Self {
            bodies: Slots::new(settings.max_bodies),
            bridges: Slots::new(settings.max_bridges),
            engine: Exclusive::new(engine),
            space: Exclusive::new(space),
            to_audio: Exclusive::new(to_audio),
            from_audio: Exclusive::new(from_audio),
            tracker: Tracker::new(tracker, rate_hz),
            rigid: Exclusive::new(rigid),
            motion_source: None,
            clock: GameClock::new(settings.timing),
            time: GameTime::default(),
            script: Script::default(),
            hail: None,
            soft: SoftBodies::new(&settings),
            tasks: Exclusive::new(Tasks::new(settings.models.clone())),
            listener: Pose::default(),
            events: VecDeque::new(),
            surfaces: Surfaces::new(settings.surfaces.clone(), settings.seed, rate_hz),
            shared,
            owners: BTreeMap::new(),
            free_voices: (slots as u32..(slots + settings.max_voices) as u32).collect(),
            voice_generation: 0,
            grabs: 0,
            counts: Counts::default(),
            leaving: Vec::new(),
            dirty: BTreeSet::new(),
            waiting: BTreeSet::new(),
            moved: true,
            placed_at: 0,
            frozen: BTreeSet::new(),
            ended_voices: Vec::new(),
            removals: Vec::new(),
            flush_quality: false,
            recording: false,
            frames: Vec::new(),
            partners: BTreeMap::new(),
            settings,
        };
        world.set_budget_us(world.settings.budget_us);
        world.set_listener(Pose::default());
        Ok((world, out))
    }

    /// A body as it is now: what [`insert`](Self::insert) would need to make it again.
    pub fn body(&self, key: BodyKey) -> Option<&Body> {
        self.bodies.get(key).map(|live| &live.body)
    }

    /// Whether there is such a body.
    pub fn contains(&self, key: BodyKey) -> bool {
        self.bodies.get(key).is_some()
    }

    /// All bodies, in the order of their numbers.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyKey, &Body)> {
        self.bodies.iter().map(|(key, live)| (key, &live.body))
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bodies.len() == 0
    }

    /// The body with this number in contact frames.
    pub fn key_of_number(&self, number: u32) -> Option<BodyKey> {
        self.bodies.key_of(number)
    }

    /// The body that a source of the [audio side](AudioOut::sources) belongs to.
    pub fn key_of_source(&self, source: BodyId) -> Option<BodyKey> {
        self.owners.get(&source.slot).filter(|(id, _)| *id == source).map(|(_, key)| *key)
    }

    /// Where a body is and how it moves.
    pub fn pose(&self, key: BodyKey) -> Option<&contact::Pose> {
        self.bodies.get(key).map(|live| &live.pose)
    }

    /// A body's mass, in kg.
    pub fn mass_kg(&self, key: BodyKey) -> Option<f64> {
        self.bodies.get(key).map(|live| live.mass_kg)
    }

    /// The model that a body sounds with now: a provisional one until its own is ready.
    pub fn model(&self, key: BodyKey) -> Option<&Arc<ModalModel>> {
        let live = self.bodies.get(key)?;
        match live.body.sound {
            crate::body::Sound::Shared { with, .. } => self.bodies.get(with)?.model.as_ref(),
            _ => live.model.as_ref(),
        }
    }

    /// The same as it was made: at size one, without its [voicing](crate::Voicing).
    pub fn base_model(&self, key: BodyKey) -> Option<&Arc<ModalModel>> {
        self.bodies.get(key)?.base.as_ref()
    }

    /// What a body is made of.
    pub fn material_of(&self, key: BodyKey) -> Option<&Arc<Material>> {
        self.bodies.get(key).map(|live| &live.material)
    }

    /// What a body is like to the touch, made ready.
    pub fn surface_of(&self, key: BodyKey) -> Option<&Arc<SurfaceRuntime>> {
        self.bodies.get(key).map(|live| &live.surface)
    }

    /// Whether a body sounded in the last block.
    pub fn is_sounding(&self, key: BodyKey) -> bool {
        let live = self.bodies.get(key);
        live.and_then(|l| l.engine.or(l.voice)).is_some_and(|id| self.shared.is_sounding(id.slot as usize))
    }

    /// Watches the modes of one body while they ring, or of none.
    pub fn watch_modes(&mut self, key: Option<BodyKey>) {
        let id = key.and_then(|key| self.bodies.get(key)).and_then(|state| state.engine);
        self.engine.get().watch_modes(id);
    }

    /// What the modes of the [watched](Self::watch_modes) body are doing. False if nothing is known of them.
    pub fn mode_levels(&mut self, key: BodyKey, levels: &mut ModeLevels) -> bool {
        let id = self.bodies.get(key).and_then(|state| state.engine);
        id.is_some_and(|id| self.engine.get().mode_levels(id, levels))
    }

    /// Models that are being made.
    pub fn tasks(&mut self) -> Vec<TaskStatus> {
        self.tasks.get().status().collect()
    }

    /// Whether a model is being made for a body, or is made and waits for room on the way to the audio side.
    pub fn is_model_pending(&mut self, key: BodyKey) -> bool {
        self.bodies.get(key).is_some_and(|state| state.task.is_some()) || self.is_being_made(key)
    }

    /// Whether a model is being made for a body.
    pub(crate) fn is_being_made(&mut self, key: BodyKey) -> bool {
        self.tasks.get().status().any(|status| status.body == key)
    }

    /// Bodies that overlap by more than a tenth of a millimetre, and by how much in m: they will be pushed apart. Nothing moves.
    pub fn initial_overlaps(&mut self) -> Vec<([BodyKey; 2], f64)> {
        let overlaps = self.rigid.get().initial_overlaps();
        let keys = |bodies: [u32; 2]| Some([self.bodies.key_of(bodies[0])?, self.bodies.key_of(bodies[1])?]);
        overlaps.into_iter().filter_map(|o| Some((keys(o.bodies)?, o.depth_m))).collect()
    }

    /// How it was made.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Game time, in s.
    pub fn time_s(&self) -> f64 {
        self.time.now_s
    }

    /// From motion to sound, in s, before the [latency of the mix](AudioOut::latency) and that of the device.
    pub fn latency_s(&self) -> f64 {
        self.clock.latency_s(self.shared.host_block() as f64 / self.settings.sample_rate_hz)
    }

    /// What could not be done as it was asked for.
    pub fn counts(&self) -> Counts {
        Counts { late_frames: self.clock.late_frames, jumps: self.clock.jumps, ..self.counts }
    }

    /// What the synthesis has been doing.
    pub fn stats(&mut self) -> Stats {
        self.engine.get().stats()
    }

    /// What the audio side has been doing around it.
    pub fn audio_stats(&self) -> AudioStats {
        self.shared.stats()
    }

    /// What the rooms were asked for.
    pub fn space_stats(&mut self) -> eigentone_space::room::SpaceStats {
        self.space.get().stats()
    }

    /// What happened since the last call, in the order in which it was found out.
    pub fn drain_events(&mut self) -> impl Iterator<Item = WorldEvent> {
        self.events.drain(..)
    }

    /// Where the listener is.
    pub fn listener(&self) -> Pose {
        self.listener
    }

    pub(crate) fn say(&mut self, event: WorldEvent) {
        if self.events.len() >= MAX_EVENTS {
            self.events.pop_front();
            self.counts.unread += 1;
        }
        self.events.push_back(event);
    }

    pub(crate) fn state(&self, key: BodyKey) -> Result<&BodyState, WorldError> {
        self.bodies.get(key).ok_or(WorldError::Gone(key))
    }

    pub(crate) fn state_mut(&mut self, key: BodyKey) -> Result<&mut BodyState, WorldError> {
        self.bodies.get_mut(key).ok_or(WorldError::Gone(key))
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World")
            .field("settings", &self.settings)
            .field("bodies", &self.bodies.len())
            .field("time_s", &self.time.now_s)
            .finish_non_exhaustive()
    }
}

/// A place that is a number.
pub(crate) fn finite(what: &'static str, v: Vec3) -> Result<Vec3, WorldError> {
    let worst = v.abs().max_element();
    if v.is_finite() && worst <= 1e6 {
        Ok(v)
    } else {
        Err(WorldError::Number {
            what,
            found: if v.is_finite() { worst } else { f64::NAN },
            wanted: "finite and below 1e6",
        })
    }
}
