//! Scenes opened and saved, and the folders that the studio keeps.

use super::{Session, plain};
use crate::document::SceneText;
use crate::fault::Fault;
use eigentone_io::{sha256_hex, write_atomic};
use eigentone_modal::Progress;
use eigentone_scene::scene::cache::ModelCache;
use eigentone_scene::scene::{Body, CachedModels, Plan, Room};
use eigentone_scene::{Scene, Stage};
use eigentone_world::{AudioOut, BodyKey, Timing, World};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bodies that may be added to a scene.
const MORE_BODIES: usize = 256;

/// Modes that a body added later may have.
pub(super) const MODES_PER_BODY: usize = 4096;

/// Sources whose level is followed.
pub const SOURCES: usize = 16_384;

/// From motion to sound, in s.
const LATENCY_S: f64 = 0.02;

/// Sound pressure of full scale if the scene does not say, in Pa: things on a table are heard well, and a limiter looks after the rest.
const FULL_SCALE_PA: f64 = 8.0;

/// Folder of uploaded files, beside the scene and in the studio's own.
pub const UPLOADS: &str = "uploads";

/// A scene on stage, before it takes the place of another.
pub struct Prepared {
    /// The control side.
    pub world: World,
    /// The audio side.
    pub out: AudioOut,
    /// The file as it was read.
    pub scene: Scene,
    /// The same as text.
    pub text: SceneText,
    /// Its bodies, and where they stand in the file.
    pub keys: Vec<Staged>,
    /// What people should know.
    pub warnings: Vec<String>,
    /// Where it is saved.
    pub file: Option<PathBuf>,
    /// Whether sound and motion are rendered in turns, as for a take.
    pub in_turns: bool,
}

/// A body on stage.
pub struct Staged {
    /// In the world.
    pub key: BodyKey,
    /// Number of its `[[body]]`; none for what melodies drop and for soft bodies.
    pub table: Option<usize>,
    /// Whether it is one of several of the same table.
    pub copy: bool,
    /// Which of them, counted from 1; of a soft body, the number of its `[[soft]]`, counted from 0.
    pub number: usize,
    /// What the file says of it; none for soft bodies.
    pub body: Option<Body>,
}

/// Folders that the studio uses.
#[derive(Clone, Debug)]
pub struct Folders {
    /// Where the command was started: new scenes are saved here.
    pub home: PathBuf,
    /// Models.
    pub cache: ModelCache,
    /// Uploaded files and autosaves of scenes without a file.
    pub session: PathBuf,
    /// Goes away with the studio, if the session's folder is only for this run.
    #[expect(dead_code, reason = "carried to be dropped")]
    temporary: Option<Arc<tempfile::TempDir>>,
}

impl Folders {
    /// The user's own: beside the cache of models, or a temporary one if there is none.
    ///
    /// # Errors
    /// If no folder can be made.
    pub fn standard(cache: ModelCache, scene: Option<&Path>) -> std::io::Result<Self> {
        let home = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let name = match scene.and_then(|s| s.canonicalize().ok()) {
            Some(path) => sha256_hex(path.to_string_lossy().as_bytes())[..16].to_owned(),
            None => "unsaved".to_owned(),
        };
        if let Some(folder) = cache.folder() {
            let session = folder.join("studio").join(name);
            if std::fs::create_dir_all(session.join(UPLOADS)).is_ok() {
                return Ok(Self { home, cache, session, temporary: None });
            }
        }
        Self::temporary(cache, home)
    }

    /// Folders that go away with the studio.
    ///
    /// # Errors
    /// If none can be made.
    pub fn temporary(cache: ModelCache, home: PathBuf) -> std::io::Result<Self> {
        let own = tempfile::tempdir()?;
        std::fs::create_dir_all(own.path().join(UPLOADS))?;
        Ok(Self { home, cache, session: own.path().to_owned(), temporary: Some(Arc::new(own)) })
    }

    /// Where unsaved work is kept.
    pub fn autosave(&self, file: Option<&Path>) -> PathBuf {
        match file {
            Some(file) => {
                let mut name = file.as_os_str().to_owned();
                name.push(".autosave");
                name.into()
            }
            None => self.session.join("unsaved.toml.autosave"),
        }
    }

    /// Where unsaved work of the time before is kept, so that this time's does not overwrite it.
    pub fn recovery(&self, file: Option<&Path>) -> PathBuf {
        let mut name = self.autosave(file).into_os_string();
        name.push(".before");
        name.into()
    }

    /// Puts unsaved work of the time before aside, if there is any that is newer than the file.
    pub fn put_aside(&self, file: Option<&Path>) {
        if self.autosave_waits(file) {
            // If that fails it is overwritten by this time's, as a file of the same name would be.
            let _ = std::fs::rename(self.autosave(file), self.recovery(file));
        }
    }

    fn autosave_waits(&self, file: Option<&Path>) -> bool {
        let time = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified()).ok();
        let kept = Some(self.autosave(file)).filter(|kept| plain::is_file(kept));
        match (kept.as_deref().and_then(time), file.and_then(time)) {
            (Some(kept), Some(saved)) => kept > saved,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}

/// Reads a scene and puts it on stage: models that are not known yet are made while it plays. `file` is where it is saved, if it has been.
///
/// # Errors
/// Says what is wrong in it.
pub fn prepare(text: &str, file: Option<PathBuf>, folders: &Folders) -> Result<Prepared, Fault> {
    stage(text, file, folders, false)
}

/// The same for a take: sound and motion are rendered in turns, exactly as `eigentone render` does it, and all models are made before it begins.
///
/// # Errors
/// Says what is wrong in it.
pub fn prepare_in_turns(text: &str, file: Option<PathBuf>, folders: &Folders) -> Result<Prepared, Fault> {
    stage(text, file, folders, true)
}

fn stage(text: &str, file: Option<PathBuf>, folders: &Folders, in_turns: bool) -> Result<Prepared, Fault> {
    let parsed = SceneText::parse(text)?;
    let folder = match &file {
        Some(file) => file.parent().filter(|f| *f != Path::new("")).unwrap_or(Path::new(".")).to_owned(),
        None => folders.session.clone(),
    };
    let name = file.as_ref().map_or_else(|| "untitled.toml".to_owned(), |f| f.to_string_lossy().into_owned());
    let mut scene = Scene::parse(&parsed.text(), &folder, &name)?;
    scene.more_folders = vec![folders.session.clone()];
    super::rooms::find_field(&mut scene, folders);
    let silent = Progress::silent();
    let plan = if in_turns { Plan::new } else { Plan::draft }(&scene, &folders.cache, &silent)?;
    let room = Room {
        timing: if in_turns { Timing::Offline } else { Timing::Live { latency_s: LATENCY_S } },
        full_scale_pa: scene.output.full_scale_pa.unwrap_or(FULL_SCALE_PA),
        more_bodies: MORE_BODIES,
        modes_per_body: MODES_PER_BODY,
        models: Arc::new(CachedModels { cache: folders.cache.clone() }),
    };
    let (stage, out) = Stage::with_room(&scene, &plan, &room, &silent)?;
    let mut places = scene
        .bodies
        .iter()
        .enumerate()
        .filter(|(_, b)| !b.template)
        .flat_map(|(index, b)| (1..=b.count()).map(move |number| (index, b.count() > 1, number)));
    let mut keys: Vec<Staged> = Vec::new();
    for (key, planned) in stage.keys.iter().zip(&plan.bodies) {
        let (table, copy, number) = places.next().map_or((None, false, 1), |(index, copy, n)| (Some(index), copy, n));
        keys.push(Staged { key: *key, table, copy, number, body: Some(planned.body.clone()) });
    }
    let soft = |(number, key): (usize, &BodyKey)| Staged { key: *key, table: None, copy: false, number, body: None };
    keys.extend(stage.softs.iter().enumerate().map(soft));
    let Stage { world, warnings, .. } = stage;
    Ok(Prepared { world, out, scene, text: parsed, keys, warnings, file, in_turns })
}

impl Session {
    /// The scene as it would be saved.
    pub fn scene_text(&self) -> String {
        self.text.text()
    }

    /// The folders it uses, and its file.
    pub fn places(&self) -> (Folders, Option<PathBuf>) {
        (self.folders.clone(), self.file.clone())
    }

    /// Puts another scene in place of this one, as a step that can be undone.
    pub fn open(&mut self, prepared: Prepared) -> Result<(), Fault> {
        let before = self.moment();
        self.history.push(before, "open", None);
        self.dirty = false;
        self.install(prepared);
        Ok(())
    }

    pub(super) fn save(&mut self, name: Option<&str>) -> Result<Value, Fault> {
        let file = match (&self.file, name) {
            (_, Some(name)) => self.new_file(name)?,
            (Some(file), None) => file.clone(),
            (None, None) => {
                let hint = "give a `file` name, or download /api/scene.toml";
                return Err(Fault::bad("this scene has no file yet", hint));
            }
        };
        if !plain::stays_inside(&file) {
            let error = format!("{} is a link to another folder", file.display());
            return Err(Fault::bad(error, "save under another name, or open the file itself"));
        }
        self.copy_uploads(&file)?;
        self.save_field(&file)?;
        let text = self.text.text();
        write_atomic(&file, |w| w.write_all(text.as_bytes()))
            .map_err(|e| Fault::failed(e.to_string(), "is the disk full, or the folder not yours?"))?;
        for kept in [self.folders.autosave(self.file.as_deref()), self.folders.recovery(self.file.as_deref())] {
            let _ = std::fs::remove_file(kept);
        }
        self.scene.file.clone_from(&file);
        self.file = Some(file.clone());
        (self.dirty, self.unsaved) = (false, false);
        self.tell_scene();
        self.hub.log("info", &format!("saved {}", file.display()));
        Ok(json!({ "file": file.file_name().map(|f| f.to_string_lossy().into_owned()) }))
    }

    /// A new file in the folder where the studio was started.
    fn new_file(&self, name: &str) -> Result<PathBuf, Fault> {
        let plain = Path::new(name).file_name().is_some_and(|f| f == name) && !name.contains(['\\', ':', '\0']);
        if !plain || name.starts_with('.') || name.len() > 128 {
            return Err(Fault::bad("a scene is saved under a plain name", "use letters, digits and dashes"));
        }
        let name = if name.ends_with(".toml") { name.to_owned() } else { format!("{name}.toml") };
        let file = self.folders.home.join(name);
        if plain::is_taken(&file) && self.file.as_ref() != Some(&file) {
            return Err(Fault::bad(format!("{} exists already", file.display()), "choose another name"));
        }
        Ok(file)
    }

    /// Copies uploaded files that the scene names to where it is saved.
    fn copy_uploads(&self, file: &Path) -> Result<(), Fault> {
        let failed = |e: std::io::Error| Fault::failed(format!("an uploaded file could not be copied: {e}"), "");
        let folder = file.parent().unwrap_or(Path::new("."));
        for index in 0..self.text.bodies() {
            let map = |t: &toml_edit::Table| t.get("surface_map")?.get("image")?.as_str().map(str::to_owned);
            let map = self.text.body(index).and_then(map);
            for key in ["mesh", "model", "surface_map"] {
                let named = self.text.body(index).and_then(|t| t.get(key)).and_then(toml_edit::Item::as_str);
                let named = if key == "surface_map" { map.as_deref() } else { named };
                let plain_name = |n: &&str| !n.is_empty() && !n.contains(['/', '\\', ':', '\0']) && !n.starts_with('.');
                let uploaded = named.and_then(|n| n.strip_prefix(UPLOADS)?.strip_prefix('/')).filter(plain_name);
                let Some(name) = uploaded else { continue };
                let from = self.folders.session.join(UPLOADS).join(name);
                let to = folder.join(UPLOADS).join(name);
                if plain::is_file(&from) && !to.is_file() {
                    plain::folder(&folder.join(UPLOADS)).map_err(failed)?;
                    let bytes = std::fs::read(from).map_err(failed)?;
                    plain::write(&to, &bytes).map_err(|e| failed(std::io::Error::other(e)))?;
                }
            }
        }
        Ok(())
    }

    /// Writes unsaved work beside the scene, on another thread.
    pub(super) fn autosave(&mut self) {
        let write = self.autosaving();
        // Without another thread it is written with the next change.
        let _ = std::thread::Builder::new().name("eigentone-autosave".to_owned()).spawn(write);
    }

    /// The same before anything else happens.
    pub(super) fn autosave_now(&mut self) {
        self.autosaving()();
    }

    fn autosaving(&mut self) -> impl FnOnce() + Send + 'static {
        self.unsaved = false;
        self.saved_at = std::time::Instant::now();
        let (file, text) = (self.folders.autosave(self.file.as_deref()), self.text.text());
        let hub = self.hub.clone();
        move || {
            if let Err(e) = plain::write(&file, text.as_bytes()) {
                hub.log("warning", &format!("unsaved work could not be kept: {e}"));
            }
        }
    }
}
