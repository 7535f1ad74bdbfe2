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
mod rewind;
mod settling;
pub mod uploads;
mod why;

pub use bodies::Entry;
pub use files::{Folders, Prepared, prepare};

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
    settling: settling::Settling,
    tick: u64,
}

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
        let Prepared { mut world, scene, text, keys, warnings, out, file } = prepared;
        let levels = Arc::new(Levels::new(files::SOURCES));
        let out_latency = out.latency() as u64;
        let begin = world.snapshot();
        let (audio, blocks) = AudioThread::start(Feed { out, levels: levels.clone() }, ready)?;
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
            settling: settling::Settling::default(),
            tick: 0,
            scene,
        };
        session.enter_all(&keys);
        session.hail = hail::HailState::of(&session.world);
        session.say_warnings(&warnings);
        Ok((session, blocks))
    }

    /// Puts another scene in place of this one.
    pub fn install(&mut self, prepared: Prepared) {
        let Prepared { world, scene, text, keys, warnings, out, file } = prepared;
        self.levels = Arc::new(Levels::new(files::SOURCES));
        self.out_latency = out.latency() as u64;
        self.audio.exchange(Feed { out, levels: self.levels.clone() });
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
        self.enter_all(&keys);
        self.begin = self.world.snapshot();
        self.begin_holds = true;
        self.hail = hail::HailState::of(&self.world);
        if !self.playing {
            self.world.pause();
        }
        let _ = self.world.set_speed(self.speed);
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
            Request::Step => {
                self.world.single_step();
                Ok(json!({}))
            }
            Request::Listener { position, look, up } => self.listen(position, look, up),
            Request::Quality(change) => self.quality(&change),
            Request::Hail(change) => self.set_hail(&change),
            Request::Modes { body } => self.watch(body),
            Request::Mode(change) => self.mode(&change),
            Request::Why { body } => self.why(body),
            Request::Open { .. } | Request::Credit { .. } | Request::Audio { .. } => {
                Err(Fault::bad("this is not asked of the world", ""))
            }
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
        if !self.listener_led && !self.scene.listener.path.is_empty() {
            let (position, look) = self.scene.listener.at(self.world.time_s());
            self.world.set_listener(eigentone_world::Pose::looking(position, look));
        }
        self.world.advance(dt_s);
        self.take_events();
        self.tell_settled();
        self.tick += 1;
        // Of 250 frames a second, 31 tell the state.
        if self.tick.is_multiple_of(8) {
            self.tell_state();
            self.tell_meters(heard());
            self.tell_contacts();
        }
        if self.tick.is_multiple_of(12) {
            self.tell_modes();
        }
        if self.tick.is_multiple_of(25) {
            self.audio.tidy();
            self.tell_tasks();
        }
        if self.tick.is_multiple_of(250) && self.unsaved && self.saved_at.elapsed() >= AUTOSAVE {
            self.autosave();
        }
    }

    /// Wakes or stops everything: with no page nothing runs.
    pub fn set_awake(&mut self, awake: bool) {
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
            "playing": self.playing,
            "speed": self.speed,
            "file": self.file.as_ref().and_then(|f| f.file_name()).map(|f| f.to_string_lossy().into_owned()),
            "dirty": self.dirty,
        })
    }

    /// What a page is greeted with.
    pub fn hello(&self) -> Value {
        json!({
            "event": "hello",
            "protocol": crate::PROTOCOL,
            "sample_rate_hz": self.rate_hz(),
            "title": self.scene.title,
            "autosave": self.folders.recovery(self.file.as_deref()).is_file(),
        })
    }

    pub(crate) fn tell_scene(&mut self) {
        let event = self.scene_event();
        self.hub.event(&event);
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
        let models: BTreeMap<usize, usize> = self
            .entries
            .values()
            .filter_map(|e| self.world.base_model(e.key))
            .map(|m| (Arc::as_ptr(m) as usize, 6 * m.shapes.values().len() + 64 * m.modes.len()))
            .collect();
        // Models that nobody else holds stay in memory because of this; most are shared with the moments before and after.
        let bytes = self.text.text().len() + 2048 * self.entries.len() + models.values().sum::<usize>() / 8;
        Moment {
            epoch: self.epoch,
            document,
            text: self.text.clone(),
            entries: self.entries.clone(),
            file: self.file.clone(),
            bytes,
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
