//! The rooms of the session: the field that is heard, the bake that makes one, and where fields are kept.

use super::{Folders, Session};
use crate::fault::Fault;
use crate::field::{FieldView, level_db};
use crate::shelf;
use eigentone_core::Vec3;
use eigentone_core::acoustics::Field;
use eigentone_io::{FIELD_EXTENSION, path_inside, write_atomic};
use eigentone_scene::Scene;
use eigentone_scene::bake::source_hash;
use eigentone_scene::scene::Spatial;
use eigentone_space::decode::Decoder;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Folder of baked fields that have not been saved beside their scene.
const KEPT: &str = "fields";

/// Fields that are kept at most; the oldest go first.
const MAX_KEPT: usize = 8;

/// Shares of the time of a block: above the first a bake waits, below the second it goes on.
const HOLD_LOAD: [f32; 2] = [0.7, 0.5];

/// What the session knows of its rooms.
#[derive(Default)]
pub struct Rooms {
    view: Option<Arc<FieldView>>,
    decoder: Option<Decoder>,
    /// Counts fields that replaced one another.
    version: u64,
    bake: Option<Bake>,
    bakes: u64,
    turn: Arc<Mutex<()>>,
}

/// A bake under way.
struct Bake {
    number: u64,
    switches: Switches,
    /// Whether somebody asked it to wait.
    paused: bool,
    thread: Option<JoinHandle<()>>,
}

/// What a bake looks at while it runs.
#[derive(Clone, Default)]
pub struct Switches {
    /// It ends.
    pub stop: Arc<AtomicBool>,
    /// It waits.
    pub pause: Arc<AtomicBool>,
}

/// What a bake needs to begin.
pub struct BakeOrder {
    /// By which its end is told.
    pub number: u64,
    /// The rooms.
    pub scene: Scene,
    /// Where it may keep things.
    pub folders: Folders,
    /// Its switches.
    pub switches: Switches,
    /// Held while it runs: one that was left behind may still be ending.
    pub turn: Arc<Mutex<()>>,
}

/// Where a baked field is kept until it is saved, relative to the session's folder.
fn kept_name(hash: &str) -> String {
    format!("{KEPT}/{hash}{FIELD_EXTENSION}")
}

/// The file of a field that is kept, in a folder that exists; old ones make room.
///
/// # Errors
/// If the folder cannot be made.
pub fn kept_file(folders: &Folders, hash: &str) -> Result<PathBuf, Fault> {
    let folder = folders.session.join(KEPT);
    std::fs::create_dir_all(&folder)
        .map_err(|e| Fault::failed(format!("the folder {} cannot be made: {e}", folder.display()), ""))?;
    let mut all: Vec<(std::time::SystemTime, PathBuf)> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|f| Some((f.metadata().ok()?.modified().ok()?, f.path())))
        .filter(|(_, path)| path.is_file())
        .collect();
    all.sort();
    for (_, old) in all.iter().take(all.len().saturating_sub(MAX_KEPT - 1)) {
        let _ = std::fs::remove_file(old);
    }
    Ok(folders.session.join(kept_name(hash)))
}

/// Lets a scene find the field that was baked of its rooms in the studio, or that ships with it.
pub fn find_field(scene: &mut Scene, folders: &Folders) {
    if scene.acoustics.is_none() {
        return;
    }
    // A bake may come later, and directions are heard in one way as long as a scene plays.
    scene.listener.spatial.get_or_insert(Spatial::Head);
    let Ok(hash) = source_hash(scene) else { return };
    let name = kept_name(&hash);
    let file = folders.session.join(&name);
    let own = scene.acoustics.as_ref().is_some_and(|a| a.field.is_some()) || beside(&scene.file).is_file();
    if !file.is_file()
        && !own
        && let Some(bytes) = shelf::field(&hash)
        && let Ok(file) = kept_file(folders, &hash)
    {
        // Without it the scene is heard in open air, and says so.
        let _ = write_atomic(&file, |w| w.write_all(bytes));
    }
    if let Some(acoustics) = scene.acoustics.as_mut().filter(|_| file.is_file()) {
        acoustics.field = Some(name);
    }
}

/// The field that belongs to a scene file if it names none.
fn beside(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    file.with_file_name(stem + FIELD_EXTENSION)
}

/// The field that a scene file names: where it is, or, in a folder to which the scene has not been saved before, a plain name.
fn named_field(file: &Path, named: &str) -> Result<PathBuf, Fault> {
    let plain = Path::new(named).file_name().is_some_and(|f| f == named) && !named.contains(['\\', ':', '\0']);
    path_inside(file, named).or_else(|e| {
        let refused = Fault::bad(format!("[acoustics] field: {e}"), "name a file beside the scene");
        if plain && !file.with_file_name(named).exists() { Ok(file.with_file_name(named)) } else { Err(refused) }
    })
}

impl Session {
    /// The field that is heard, if there is one.
    pub fn field_view(&mut self) -> Option<Arc<FieldView>> {
        let heard = self.world.settings().rooms.clone();
        let same = match (&heard, &self.rooms.view) {
            (Some(heard), Some(view)) => Arc::ptr_eq(heard, view.field()),
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.rooms.version += 1;
            self.rooms.decoder = None;
            self.rooms.view = heard.map(|field| Arc::new(FieldView::new(field)));
        }
        self.rooms.view.clone()
    }

    /// For the scene's event.
    pub(super) fn rooms_json(&mut self) -> Value {
        let field = self.field_view().is_some();
        json!({
            "version": self.rooms.version + (self.epoch << 32),
            "acoustics": self.scene.acoustics.is_some(),
            "field": field,
            "baking": self.rooms.bake.is_some(),
        })
    }

    /// The scene whose rooms are baked.
    ///
    /// # Errors
    /// If it has none.
    pub fn scene_with_rooms(&self) -> Result<Scene, Fault> {
        if self.scene.acoustics.is_none() {
            let hint = "open the scene `two-rooms`, or describe rooms under [acoustics] as docs/acoustics.md says";
            return Err(Fault::bad("this scene has no rooms", hint));
        }
        Ok(self.scene.clone())
    }

    /// What the field says about a source and a listener, who is where the session's is if not given.
    pub(super) fn query_field(&mut self, source: [f64; 3], listener: Option<[f64; 3]>) -> Result<Value, Fault> {
        let view = self.field_view().ok_or_else(no_field)?;
        let listener = listener.map_or(self.world.listener().position, Vec3::from_array);
        let source = Vec3::from_array(source);
        if !(source.is_finite() && listener.is_finite()) {
            return Err(Fault::bad("a source and a listener are somewhere", "give finite numbers"));
        }
        let decoder = self.rooms.decoder.get_or_insert_with(|| view.decoder());
        let answer = decoder.query(source, listener);
        let known = answer.confidence > 0.0 && view.is_surely_known(listener).unwrap_or(true);
        let mut told = serde_json::to_value(answer).unwrap_or_default();
        told["level_db"] = level_db(&answer).into();
        told["known"] = known.into();
        Ok(told)
    }

    /// Begins a bake.
    ///
    /// # Errors
    /// If the scene has no rooms, or they are being baked already.
    pub fn order_bake(&mut self) -> Result<BakeOrder, Fault> {
        if self.rooms.bake.is_some() {
            return Err(Fault::bad("the rooms are being baked already", "wait for it, or cancel it first"));
        }
        let scene = self.scene_with_rooms()?;
        self.rooms.bakes += 1;
        let (number, switches) = (self.rooms.bakes, Switches::default());
        self.rooms.bake = Some(Bake { number, switches: switches.clone(), paused: false, thread: None });
        self.hub.event(&json!({ "event": "bake", "stage": "preparing", "share": 0.0 }));
        Ok(BakeOrder { number, scene, folders: self.folders.clone(), switches, turn: self.rooms.turn.clone() })
    }

    /// The thread of a bake that has begun; waited for at the end.
    pub fn own_bake(&mut self, number: u64, thread: JoinHandle<()>) {
        if let Some(bake) = self.rooms.bake.as_mut().filter(|b| b.number == number) {
            bake.thread = Some(thread);
        }
    }

    /// A bake has ended: with a field, without one because it was cancelled, or with an error.
    pub fn end_bake(&mut self, number: u64, result: Result<Option<Arc<Field>>, Fault>) {
        if self.rooms.bake.as_ref().is_none_or(|b| b.number != number) {
            return;
        }
        self.rooms.bake = None;
        match result {
            Ok(Some(field)) => {
                self.begin_step("bake", None, 0);
                self.differ("the rooms changed");
                self.world.set_rooms(Some(field));
                self.changed();
                self.tell_scene();
                self.hub.event(&json!({ "event": "bake", "stage": "done", "share": 1.0 }));
                self.hub.log("info", "the rooms are baked and heard; save the scene to keep them");
            }
            Ok(None) => self.hub.event(&json!({ "event": "bake", "stage": "cancelled", "share": 0.0 })),
            Err(fault) => {
                let told = json!({ "event": "bake", "stage": "failed", "share": 0.0, "error": fault.error, "hint": fault.hint });
                self.hub.event(&told);
                self.hub.log("error", &format!("the rooms could not be baked: {}", fault.error));
            }
        }
    }

    pub(super) fn cancel_bake(&mut self) -> Result<Value, Fault> {
        let bake = self.rooms.bake.as_ref().ok_or_else(|| Fault::bad("nothing is being baked", ""))?;
        bake.switches.stop.store(true, Relaxed);
        Ok(json!({}))
    }

    pub(super) fn pause_bake(&mut self, on: bool) -> Result<Value, Fault> {
        let bake = self.rooms.bake.as_mut().ok_or_else(|| Fault::bad("nothing is being baked", ""))?;
        bake.paused = on;
        bake.switches.pause.store(on, Relaxed);
        self.hub.event(&json!({ "event": "bake", "stage": if on { "paused" } else { "baking" } }));
        Ok(json!({}))
    }

    /// A bake waits while the sound needs the processor.
    pub(super) fn steer_bake(&mut self) {
        let load = self.world.audio_stats().block_us * self.rate_hz() as f32 / 64e6;
        if let Some(bake) = &self.rooms.bake {
            let waits = bake.switches.pause.load(Relaxed);
            let limit = if waits { HOLD_LOAD[1] } else { HOLD_LOAD[0] };
            bake.switches.pause.store(bake.paused || load > limit, Relaxed);
        }
    }

    /// Another scene comes, or the studio ends: what is being baked is not wanted any more.
    pub(super) fn drop_bake(&mut self, wait: bool) {
        if let Some(bake) = self.rooms.bake.take() {
            bake.switches.stop.store(true, Relaxed);
            self.hub.event(&json!({ "event": "bake", "stage": "cancelled", "share": 0.0 }));
            if let Some(thread) = bake.thread.filter(|_| wait) {
                let _ = thread.join();
            }
        }
    }

    /// Writes a field that was baked here, or came with the scene, to where the scene file finds it.
    pub(super) fn save_field(&self, file: &Path) -> Result<(), Fault> {
        let Some(field) = self.world.settings().rooms.as_ref().filter(|_| self.text.has("acoustics")) else {
            return Ok(());
        };
        let kept = self.folders.session.join(kept_name(&field.info().source_hash));
        let Ok(bytes) = std::fs::read(kept) else { return Ok(()) };
        let target = match self.text.string("acoustics", "field") {
            Some(named) => named_field(file, named)?,
            None => beside(file),
        };
        if std::fs::read(&target).is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        write_atomic(&target, |w| w.write_all(&bytes))
            .map_err(|e| Fault::failed(e.to_string(), "is the disk full, or the folder not yours?"))
    }
}

/// There is nothing to look into.
pub fn no_field() -> Fault {
    Fault::missing("no rooms are heard", "bake them, or open the scene `two-rooms`")
}
