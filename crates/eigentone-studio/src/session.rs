//! The studio's state: one live world and the scene file it came from, changed together.

mod act;
mod adding;
mod bodies;
mod compare;
mod edit;
mod files;
mod hail;
mod inspect;
mod modes;
mod packets;
pub mod plain;
mod record;
mod resonators;
mod rewind;
pub mod rooms;
mod settling;
mod soft;
mod surface_map;
mod surfaces;
mod tape;
mod turns;
pub mod uploads;
mod why;

pub use bodies::Entry;
pub use files::{Folders, Prepared, prepare, prepare_in_turns};
pub use record::Finished;
pub use surfaces::sketch;

use crate::audio::{AudioThread, Block, Feed, Levels};
use crate::document::SceneText;
use crate::fault::Fault;
use crate::history::{History, Moment};
use crate::hub::Hub;
use crate::loudness::Heard;
use crate::request::{Request, Slot};
use eigentone_scene::Scene;
use eigentone_world::{BodyKey, Grab, Snapshot, World};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;

/// Everything that the control thread owns.
pub struct Session {
    pub(crate) world: World,
    /// As it was opened; bodies and all else are in the world and the text.
    scene: Scene,
    text: SceneText,
    folders: Folders,
    /// The file it is saved to.
    file: Option<PathBuf>,
    entries: BTreeMap<u64, Entry>,
    by_key: BTreeMap<BodyKey, u64>,
    next_id: u64,
    epoch: u64,
    /// How everything began, and whether it can still be gone back to as it was.
    begin: Snapshot,
    begin_holds: bool,
    history: History,
    compared: compare::Compared,
    grabs: BTreeMap<u64, Grab>,
    grab_count: u64,
    playing: bool,
    speed: f64,
    /// Whether the page has moved the listener, so that the scene's own way does not count any more.
    listener_led: bool,
    hail: hail::HailState,
    dirty: bool,
    /// Whether something changed that has not been written to the autosave.
    unsaved: bool,
    saved_at: Instant,
    watched: Option<u64>,
    /// Bodies of which it was said that their changes cannot be saved.
    unsaveable_told: BTreeSet<u64>,
    audio: AudioThread,
    levels: Arc<Levels>,
    out_latency: u64,
    hub: Arc<Hub>,
    contacts: Vec<packets::ContactRow>,
    tasks_told: BTreeMap<u64, (String, f32)>,
    rooms: rooms::Rooms,
    settling: settling::Settling,
    tick: u64,
    /// What soft bodies have done; none without any.
    tape: Option<tape::Tape>,
    /// The soft bodies that it is of.
    taped: Vec<(u64, BodyKey)>,
    /// Sound rendered in turns with the motion, from the beginning of a take until another world is put on stage.
    turns: Option<turns::Turns>,
    recording: Option<record::Recording>,
    finished: Option<Arc<Finished>>,
}

/// Memory of a parsed scene per byte of its text, about: keys, values and the blanks around them are kept apart.
const TEXT_FACTOR: usize = 24;

/// Memory of a body and of what the studio knows of it, about, in bytes.
const BODY_BYTES: usize = 4096;

/// How long between two autosaves at least.
const AUTOSAVE: std::time::Duration = std::time::Duration::from_secs(5);

impl Session {
    /// A session with a scene, and the ring out of which its sound comes.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn new(
        prepared: Prepared,
        folders: Folders,
        hub: Arc<Hub>,
        ready: Arc<Notify>,
    ) -> std::io::Result<(Self, rtrb::Consumer<Block>)> {
        let Prepared { mut world, scene, text, keys, warnings, out, file, in_turns } = prepared;
        let levels = Arc::new(Levels::new(files::SOURCES));
        let out_latency = out.latency() as u64;
        let begin = world.snapshot();
        let (turns, source) = turns::seat(out, &scene, &levels, in_turns);
        let (audio, blocks) = AudioThread::start(Feed { out: source, levels: levels.clone() }, ready)?;
        let mut session = Self {
            world,
            text,
            folders,
            file,
            entries: BTreeMap::new(),
            by_key: BTreeMap::new(),
            next_id: 1,
            epoch: 0,
            begin,
            begin_holds: true,
            history: History::default(),
            compared: compare::Compared::default(),
            grabs: BTreeMap::new(),
            grab_count: 0,
            playing: true,
            speed: 1.0,
            listener_led: false,
            hail: hail::HailState::default(),
            dirty: false,
            unsaved: false,
            saved_at: Instant::now(),
            watched: None,
            unsaveable_told: BTreeSet::new(),
            audio,
            levels,
            out_latency,
            hub,
            contacts: Vec::new(),
            tasks_told: BTreeMap::new(),
            rooms: rooms::Rooms::default(),
            settling: settling::Settling::default(),
            tick: 0,
            tape: None,
            taped: Vec::new(),
            turns,
            recording: None,
            finished: None,
            scene,
        };
        session.enter_all(&keys);
        session.hail = hail::HailState::of(&session.world);
        session.begin_tape();
        session.say_warnings(&warnings);
        Ok((session, blocks))
    }

    /// Puts another scene in place of this one.
    pub fn install(&mut self, prepared: Prepared) {
        self.install_with(prepared, false);
    }

    /// The same; if it is the same scene again, bodies keep the numbers that they have.
    fn install_with(&mut self, prepared: Prepared, again: bool) {
        self.end_take();
        let numbers = if again { self.numbers() } else { BTreeMap::new() };
        let Prepared { world, scene, text, keys, warnings, out, file, in_turns } = prepared;
        self.drop_bake(false);
        self.levels = Arc::new(Levels::new(files::SOURCES));
        self.out_latency = out.latency() as u64;
        let (turns, source) = turns::seat(out, &scene, &self.levels, in_turns);
        self.turns = turns;
        self.audio.exchange(Feed { out: source, levels: self.levels.clone() });
        self.world = world;
        (self.scene, self.text, self.file) = (scene, text, file);
        self.epoch += 1;
        self.entries.clear();
        self.by_key.clear();
        self.grabs.clear();
        self.watched = None;
        self.tasks_told.clear();
        self.settling = settling::Settling::default();
        self.end_comparison();
        self.listener_led = false;
        self.enter_named(&keys, numbers);
        self.begin = self.world.snapshot();
        self.begin_holds = true;
        self.hail = hail::HailState::of(&self.world);
        if !self.playing {
            self.world.pause();
        }
        let _ = self.world.set_speed(self.speed);
        self.begin_tape();
        self.say_warnings(&warnings);
        self.tell_scene();
    }

    fn say_warnings(&self, warnings: &[String]) {
        for warning in warnings.iter().take(10) {
            self.hub.log("warning", warning);
        }
    }

    /// Does what is asked; gives what is to be answered beside `ok`.
    ///
    /// # Errors
    /// Says what was wrong; nothing has changed then.
    pub fn request(&mut self, request: Request) -> Result<Value, Fault> {
        self.leave_tape(&request)?;
        match request {
            Request::Strike { body, at, direction, impulse_ns, mallet, push } => {
                self.strike(body, at, direction, impulse_ns, mallet.as_ref(), push)
            }
            Request::Grab { body, at } => self.grab(body, at),
            Request::Drag { grab, to } => self.drag(grab, to),
            Request::Release { grab } => self.release(grab),
            Request::Hold { body, on } => self.hold(body, on),
            Request::Set(set) => self.set(&set),
            Request::Add { object, position, material } => self.add_object(&object, position, material.as_deref()),
            Request::Remove { body } => self.remove(body),
            Request::Duplicate { body } => self.duplicate(body),
            Request::Save { file } => self.save(file.as_deref()),
            Request::Reset => self.reset(),
            Request::Settle { body } => self.settle(body),
            Request::Undo => self.undo(),
            Request::Redo => self.redo(),
            Request::Ab { slot, store } => self.ab(usize::from(slot == Slot::B), store),
            Request::Play { on } => self.play(on),
            Request::Speed { value } => self.set_speed(value),
            Request::Seek { time_s } => self.seek(time_s),
            Request::Step => {
                self.world.single_step();
                Ok(json!({}))
            }
            Request::Listener { position, look, up } => self.listen(position, look, up),
            Request::Quality(change) => self.quality(&change),
            Request::Hail(change) => self.set_hail(&change),
            Request::Modes { body } => self.watch(body),
            Request::Mode(change) => self.mode(&change),
            Request::ModeAdd(addition) => self.add_mode(&addition),
            Request::Surface(change) => self.surface(&change),
            Request::SurfaceMap(change) => self.surface_map(&change),
            Request::Resonator(change) => self.resonator(&change),
            Request::Why { body } => self.why(body),
            Request::QueryField { source, listener } => self.query_field(source, listener),
            Request::CancelBake => self.cancel_bake(),
            Request::PauseBake { on } => self.pause_bake(on),
            Request::Open { .. }
            | Request::Record { .. }
            | Request::Credit { .. }
            | Request::Audio { .. }
            | Request::EstimateBake
            | Request::Bake => Err(Fault::bad("this is not asked of the world", "")),
        }
    }

    fn play(&mut self, on: bool) -> Result<Value, Fault> {
        self.playing = on;
        if on {
            self.world.resume();
        } else {
            self.world.pause();
        }
        self.tell_scene();
        Ok(json!({}))
    }

    fn set_speed(&mut self, value: f64) -> Result<Value, Fault> {
        self.world.set_speed(value)?;
        self.speed = value;
        self.tell_scene();
        Ok(json!({}))
    }

    /// Lets time pass, and tells what came of it.
    pub fn frame(&mut self, dt_s: f64, heard: impl FnOnce() -> Heard) {
        if self.turns.is_some() {
            self.take_turns();
        } else {
            self.advance(dt_s);
        }
        self.take_events();
        self.tell_settled();
        self.tick += 1;
        // Of 250 frames a second, 31 tell the state.
        if self.tick.is_multiple_of(8) {
            self.tell_state();
            self.tell_soft();
            self.tell_meters(heard());
            self.tell_contacts();
        }
        if self.tick.is_multiple_of(12) {
            self.tell_modes();
        }
        if self.tick.is_multiple_of(25) {
            self.audio.tidy();
            self.renew_tape();
            self.tell_tasks();
            self.steer_bake();
        }
        if self.tick.is_multiple_of(125) && self.recording.is_some() {
            self.tell_take();
        }
    }

    /// Writes unsaved work now and then, whether a page is there or not.
    pub fn keep_work(&mut self) {
        if self.unsaved && self.saved_at.elapsed() >= AUTOSAVE {
            self.autosave();
        }
    }

    fn advance(&mut self, dt_s: f64) {
        if !self.listener_led && !self.scene.listener.path.is_empty() {
            let (position, look) = self.scene.listener.at(self.world.time_s());
            self.world.set_listener(eigentone_world::Pose::looking(position, look));
        }
        self.pass_time(dt_s);
    }

    /// Wakes or stops everything: with no page nothing runs.
    pub fn set_awake(&mut self, awake: bool) {
        if !awake {
            self.end_take();
        }
        self.audio.set_awake(awake);
        if awake && self.playing {
            self.world.resume();
        } else {
            self.world.pause();
        }
        if !awake && self.unsaved {
            self.autosave();
        }
    }

    /// The studio ends: unsaved work is kept, or what was kept is not needed any more.
    pub fn finish(&mut self) {
        self.drop_bake(true);
        if self.unsaved {
            self.autosave_now();
        }
    }

    /// The audio thread.
    pub fn audio(&self) -> &AudioThread {
        &self.audio
    }

    /// Samples per second.
    pub fn rate_hz(&self) -> f64 {
        self.world.settings().sample_rate_hz
    }

    /// The whole scene, for a page that has just come.
    pub fn scene_event(&mut self) -> Value {
        let ids: Vec<u64> = self.entries.keys().copied().collect();
        let bodies: Vec<Value> = ids.into_iter().filter_map(|id| self.body_json(id)).collect();
        let listener = self.world.listener();
        json!({
            "event": "scene",
            "title": self.scene.title,
            "bodies": bodies,
            "listener": { "position": listener.position.to_array(), "look": listener.look().to_array() },
            "hail": self.hail.to_json(&self.world),
            "quality": self.quality_json(),
            "rooms": self.rooms_json(),
            "playing": self.playing,
            "speed": self.speed,
            "file": self.file.as_ref().and_then(|f| f.file_name()).map(|f| f.to_string_lossy().into_owned()),
            "dirty": self.dirty,
            "take": self.take_json(),
        })
    }

    /// What a page is greeted with.
    pub fn hello(&self) -> Value {
        json!({
            "event": "hello",
            "protocol": crate::PROTOCOL,
            "sample_rate_hz": self.rate_hz(),
            "title": self.scene.title,
            "autosave": plain::is_file(&self.folders.recovery(self.file.as_deref())),
        })
    }

    pub(crate) fn tell_scene(&mut self) {
        let event = self.scene_event();
        self.hub.event(&event);
        let transport = self.transport();
        self.hub.event(&transport);
        let history = self.history_event();
        self.hub.event(&history);
    }

    /// The steps that can be undone.
    pub fn history_event(&self) -> Value {
        let (undo, redo, label) = self.history.counts();
        json!({ "event": "history", "undo": undo, "redo": redo, "label": label })
    }

    /// What the scene is now.
    fn moment(&mut self) -> Moment {
        let document = self.world.document();
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        let mut bytes = TEXT_FACTOR * self.text.text().len();
        for entry in self.entries.values() {
            if let Some(model) = self.world.base_model(entry.key) {
                let size = size_of_val(model.shapes.values()) + size_of_val(&model.modes[..]);
                shared.insert(Arc::as_ptr(model) as usize, size + size_of_val(&model.surface.positions[..]));
            }
            if let Some(body) = self.world.body(entry.key) {
                let mesh = &body.shape.mesh;
                let size = size_of_val(&mesh.positions[..]) + size_of_val(&mesh.triangles[..]);
                shared.insert(Arc::as_ptr(mesh) as usize, size);
                bytes += size_of_val(&body.voicing.edits[..]);
            }
            bytes += BODY_BYTES + 64 * entry.modes.len();
        }
        Moment {
            epoch: self.epoch,
            document,
            text: self.text.clone(),
            entries: self.entries.clone(),
            file: self.file.clone(),
            bytes,
            shared: shared.into_iter().collect(),
        }
    }

    /// Something is about to change.
    fn begin_step(&mut self, label: &str, gesture: Option<u64>, body: u64) {
        if !self.history.continues(gesture, body) {
            let before = self.moment();
            self.history.push(before, label, gesture.map(|g| (g, body)));
        }
    }

    /// Something has changed.
    fn changed(&mut self) {
        self.end_comparison();
        let was = std::mem::replace(&mut self.dirty, true);
        self.unsaved = true;
        if !was {
            self.tell_scene();
        } else {
            let history = self.history_event();
            self.hub.event(&history);
        }
    }

    pub(crate) fn key(&self, id: u64) -> Result<BodyKey, Fault> {
        self.entries.get(&id).map(|e| e.key).ok_or_else(|| Fault::no_body(id))
    }
}
