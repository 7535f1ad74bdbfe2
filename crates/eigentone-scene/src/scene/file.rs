//! The scene file as a whole, and the files it may name.

use super::acoustics::Acoustics;
use super::listener::Listener;
use super::{Body, Bridge, Collider, Event, Melody, Particles, Soft, SoftPhysics, read};
use crate::Error;
use eigentone_io::ReadError;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Longer scenes are refused, in s.
pub const LONGEST_S: f64 = 600.0;

/// More bodies than this, with all copies and the drops of all melodies, are refused.
pub const MAX_BODIES: usize = 10_000;

/// Larger files are refused.
pub const LARGEST_SCENE_BYTES: u64 = 4 << 20;

/// A scene. All lengths in m, all times in s, z up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scene {
    /// The file it comes from, for messages.
    pub file: PathBuf,
    /// The folder that paths are relative to and may not leave.
    pub folder: PathBuf,
    /// Folders where files are looked for that are not in the first: what a program keeps until the scene is saved.
    pub more_folders: Vec<PathBuf>,
    /// What it is.
    pub title: String,
    /// Another seed, another scene of the same kind.
    pub seed: u64,
    /// How long it lasts, in s.
    pub duration_s: f64,
    /// `[output]`.
    pub output: Output,
    /// `[listener]`.
    pub listener: Listener,
    /// `[quality]`.
    pub quality: Quality,
    /// `[physics]`.
    pub physics: Physics,
    /// `[[body]]`, with names.
    pub bodies: Vec<Body>,
    /// `[[soft]]`, with names.
    pub softs: Vec<Soft>,
    /// `[soft_physics]`.
    pub soft_physics: SoftPhysics,
    /// `[[melody]]`.
    pub melodies: Vec<Melody>,
    /// `[[surface]]`.
    pub surfaces: Vec<Surface>,
    /// `[[event]]`.
    pub events: Vec<Event>,
    /// `[[bridge]]`.
    pub bridges: Vec<Bridge>,
    /// `[particles]`.
    pub particles: Option<Particles>,
    /// `[[collider]]`: what particles strike.
    pub colliders: Vec<Collider>,
    /// `[acoustics]`: the rooms.
    pub acoustics: Option<Acoustics>,
}

impl Default for Scene {
    /// Nothing, for five seconds.
    fn default() -> Self {
        Self {
            file: PathBuf::from("scene.toml"),
            folder: PathBuf::from("."),
            more_folders: Vec::new(),
            title: String::new(),
            seed: 0,
            duration_s: 5.0,
            output: Output::default(),
            listener: Listener::default(),
            quality: Quality::default(),
            physics: Physics::default(),
            bodies: Vec::new(),
            softs: Vec::new(),
            soft_physics: SoftPhysics::default(),
            melodies: Vec::new(),
            surfaces: Vec::new(),
            events: Vec::new(),
            bridges: Vec::new(),
            particles: None,
            colliders: Vec::new(),
            acoustics: None,
        }
    }
}

/// `[output]`: the sound file.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// 8,000 to 384,000 Hz.
    pub sample_rate_hz: f64,
    /// Sound pressure of full scale, in Pa. If not given, the loudest sample is put at −3 dBFS.
    pub full_scale_pa: Option<f64>,
    /// How long it may ring on after the end, in s.
    pub tail_s: Option<f64>,
    /// Pictures in a second of an animation.
    pub frames_per_s: f64,
}

impl Default for Output {
    fn default() -> Self {
        Self { sample_rate_hz: 44_100.0, full_scale_pa: None, tail_s: None, frames_per_s: 60.0 }
    }
}

/// `[quality]`: what may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quality {
    /// Modes quieter than this sleep, in Pa. By default 1 µPa, 26 dB below hearing: quiet scenes are turned up.
    pub truncation_pa: f64,
    /// Leave out modes that others mask. If not given: yes where `masking_db` is given.
    pub masking: Option<bool>,
    /// How far below its own level a mode masks at its own frequency, in dB. Small leaves out more; 5 is usual.
    pub masking_db: Option<f64>,
    /// Give the energy of masked modes to their neighbours.
    pub compensate: bool,
    /// How loud all that sounds together is played, in dB SPL.
    pub playback_db: f64,
    /// At most this many modes at once.
    pub budget: Option<usize>,
    /// How many modes less each body gets than the next louder one when the budget is short.
    pub slope: f64,
}

impl Default for Quality {
    fn default() -> Self {
        Self {
            truncation_pa: 1e-6,
            masking: None,
            masking_db: None,
            compensate: false,
            playback_db: 60.0,
            budget: None,
            slope: 2.0,
        }
    }
}

impl Quality {
    /// The offset to mask with, in dB; `None` if nothing is to be masked.
    pub fn masking_offset_db(&self) -> Option<f64> {
        match self.masking {
            Some(false) => None,
            Some(true) => Some(self.masking_db.unwrap_or(5.0)),
            None => self.masking_db,
        }
    }
}

/// `[physics]`: what moves things.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Physics {
    /// In m/s².
    pub gravity: [f64; 3],
    /// Length of a step in s, 1/2000 to 1/60.
    pub step_s: f64,
    /// Nothing moves after this time; what sounds rings on.
    pub stop_s: Option<f64>,
}

impl Default for Physics {
    fn default() -> Self {
        Self { gravity: [0.0, 0.0, -9.81], step_s: 1.0 / 480.0, stop_s: None }
    }
}

/// `[[surface]]`: a texture, as it is written. The keys are those of `eigentone_core::texture::Texture`; whoever builds the scene reads them, on top
/// of the texture that `like` names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Unique in the scene. It replaces a built-in texture of the same name.
    pub name: String,
    /// Whatever is not given is taken from this `[[surface]]` or built-in texture.
    pub like: Option<String>,
    /// All other keys.
    pub texture: toml::Table,
}

impl Scene {
    /// Reads and checks a scene file.
    ///
    /// # Errors
    /// [`Error::Read`] if it cannot be read or is too large, [`Error::Scene`] with all that is wrong in it.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let io = |source| Error::Read(ReadError::Io { file: path.to_owned(), source });
        let file = File::open(path).map_err(io)?;
        let mut bytes = Vec::new();
        file.take(LARGEST_SCENE_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > LARGEST_SCENE_BYTES {
            let length = std::fs::metadata(path).map_or(bytes.len() as u64, |m| m.len());
            let too_large = ReadError::TooLarge { file: path.to_owned(), bytes: length, limit: LARGEST_SCENE_BYTES };
            return Err(Error::Read(too_large));
        }
        let text = String::from_utf8(bytes).map_err(|e| Error::Scene {
            file: path.to_owned(),
            message: format!("not text: {}; save it as UTF-8", e.utf8_error()),
        })?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        Self::parse_file(&text, folder, path)
    }

    /// Reads and checks a scene from text. `folder` is what its paths are relative to, `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`Error::Scene`] with all that is wrong in it.
    pub fn parse(text: &str, folder: &Path, name: &str) -> Result<Self, Error> {
        Self::parse_file(text, folder, Path::new(name))
    }

    fn parse_file(text: &str, folder: &Path, file: &Path) -> Result<Self, Error> {
        let bad = |message| Error::Scene { file: file.to_owned(), message };
        if text.len() as u64 > LARGEST_SCENE_BYTES {
            return Err(bad(format!("has {} bytes, but at most {LARGEST_SCENE_BYTES} are read", text.len())));
        }
        let mut scene = read::scene(text).map_err(bad)?;
        scene.file = file.to_owned();
        scene.folder = folder.to_owned();
        scene.check()?;
        Ok(scene)
    }

    /// Checks every number and name, as reading does. For scenes that a program has made or changed.
    ///
    /// # Errors
    /// [`Error::Scene`] with the first few problems, one per line.
    pub fn check(&self) -> Result<(), Error> {
        const SHOWN: usize = 5;
        let problems = self.problems();
        if problems.is_empty() {
            return Ok(());
        }
        let mut message = problems[..problems.len().min(SHOWN)].join("\n  ");
        if problems.len() > SHOWN {
            message += &format!("\n  … and {} more", problems.len() - SHOWN);
        }
        Err(Error::Scene { file: self.file.clone(), message })
    }

    /// Whether soft bodies are all that moves or sounds.
    pub fn is_soft_alone(&self) -> bool {
        let scenery = |body: &Body| body.is_silent() && body.is_fixed();
        self.bodies.iter().all(scenery)
            && self.particles.is_none()
            && self.melodies.is_empty()
            && self.events.is_empty()
            && self.bridges.is_empty()
    }

    /// The first body of this name.
    pub fn body(&self, name: &str) -> Option<&Body> {
        self.bodies.iter().find(|b| b.name == name)
    }

    /// The surface of this name, if this file has one.
    pub fn surface(&self, name: &str) -> Option<&Surface> {
        self.surfaces.iter().find(|s| s.name == name)
    }

    /// A file that the scene names, as a path that can be opened.
    ///
    /// # Errors
    /// [`Error::Scene`] if the path is absolute, leaves the folder of the scene (also by a link), or nothing is there.
    pub fn resolve(&self, relative: &str) -> Result<PathBuf, Error> {
        let bad = |why: &str| {
            let message = format!("the path `{relative}` {why}");
            Error::Scene { file: self.file.clone(), message }
        };
        if let Some(why) = strays(relative) {
            return Err(bad(&why));
        }
        let elsewhere =
            self.more_folders.iter().find(|f| f.join(relative).is_file() && !self.folder.join(relative).exists());
        let folder = elsewhere.unwrap_or(&self.folder);
        let full = folder.join(relative);
        let folder = folder.canonicalize().map_err(|e| {
            bad(&format!("cannot be looked up, because the folder {} cannot: {e}", self.folder.display()))
        })?;
        let real = full.canonicalize().map_err(|e| {
            bad(&format!("cannot be found: {} ({e}); paths are relative to the scene's folder", full.display()))
        })?;
        if !real.starts_with(&folder) {
            return Err(bad(&format!("leaves the folder of the scene by a link to {}{INSIDE}", real.display())));
        }
        if !real.is_file() {
            return Err(bad("is not a file; name one beside the scene"));
        }
        Ok(real)
    }
}

const INSIDE: &str = "; keep all files in the folder of the scene and name them relative to it";

/// Why a path cannot be one of the scene's, as far as its letters tell.
pub(super) fn strays(relative: &str) -> Option<String> {
    if relative.is_empty() {
        return Some("is empty; name a file beside the scene".to_owned());
    }
    // Windows would take these for separators and drives; a scene means the same everywhere.
    if relative.contains(['\\', ':', '\0']) {
        return Some("holds a backslash, a colon or a zero; separate folders by `/`".to_owned());
    }
    Path::new(relative).components().find_map(|part| match part {
        Component::Normal(_) | Component::CurDir => None,
        Component::ParentDir => Some(format!("leaves the folder of the scene by `..`{INSIDE}")),
        Component::RootDir | Component::Prefix(_) => Some(format!("is absolute{INSIDE}")),
    })
}
