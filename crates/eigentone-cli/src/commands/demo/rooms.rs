//! One object in two rooms, which are baked first.

use super::make::{play, write_bytes};
use eigentone::bake::{self, Options, Outcome};
use eigentone::core::Vec3;
use eigentone::io::{FIELD_EXTENSION, read_audio, read_field};
use eigentone::modal::Progress;
use eigentone::scene::Scene;
use eigentone::{Error, plot, rooms};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The rooms, and what they do to the same sound.
const ROOMS: [(&str, &str); 2] = [
    ("small-room", include_str!("../../../scenes/small-room.toml")),
    ("hall", include_str!("../../../scenes/hall.toml")),
];

/// Rooms of the demo.
#[derive(Clone, Debug, Serialize)]
pub struct DemoRooms {
    /// Each of them.
    pub rooms: Vec<DemoRoom>,
    /// The sound in all of them side by side.
    pub picture: PathBuf,
}

/// One room.
#[derive(Clone, Debug, Serialize)]
pub struct DemoRoom {
    /// Short name, the stem of its files.
    pub name: String,
    /// Title.
    pub title: String,
    /// Places from which sound was simulated.
    pub probes: usize,
    /// How long late sound takes to fall by 60 dB, from the block to the listener, in s.
    pub late_decay_s: f64,
    /// The scene file.
    pub file: PathBuf,
    /// What was baked.
    pub field: PathBuf,
    /// The sound.
    pub sound: PathBuf,
}

pub(super) fn run(folder: &Path, progress: &(dyn Fn(&str, f64) + Sync)) -> Result<DemoRooms, Error> {
    let mut made = Vec::new();
    let mut sounds = Vec::new();
    for (k, (name, text)) in ROOMS.iter().enumerate() {
        progress(name, k as f64 / ROOMS.len() as f64);
        let file = folder.join(format!("{name}.toml"));
        write_bytes(&file, text.as_bytes())?;
        let scene = Scene::read(&file)?;
        let field = folder.join(format!("{name}{FIELD_EXTENSION}"));
        // An earlier demo may have been interrupted; its rooms take seconds.
        let _ = std::fs::remove_dir_all(bake::job::parts_folder(&field));
        let prepared = bake::prepare(&scene)?;
        let outcome = bake::job::bake(&prepared, &field, &Options::default(), &AtomicBool::new(false), &|_| {})?;
        let probes = match outcome {
            Outcome::Done { probes, .. } => probes,
            // Nobody stops it.
            Outcome::Stopped { finished, .. } => finished,
        };
        let baked = Arc::new(read_field(&field)?);
        let block = scene.bodies.first().map_or([0.0; 3], |b| b.position);
        let answer = rooms::query(&baked, Vec3::from_array(block), Vec3::from_array(scene.listener.position));
        let played = play(folder, name, text, &Progress::silent())?;
        let audio = read_audio(&played.sound)?;
        sounds.push((played.title.clone(), audio));
        made.push(DemoRoom {
            name: (*name).to_owned(),
            title: played.title,
            probes,
            late_decay_s: answer.parameters.late_decay_s,
            file,
            field,
            sound: played.sound,
        });
    }
    let rate = sounds.first().map_or(44_100.0, |(_, a)| f64::from(a.sample_rate_hz));
    let channels: Vec<[Vec<f32>; 2]> =
        sounds.iter().map(|(_, audio)| [0, 1].map(|c| audio.channels.get(c).cloned().unwrap_or_default())).collect();
    let named: Vec<(&str, &[Vec<f32>; 2])> = sounds.iter().map(|(t, _)| t.as_str()).zip(&channels).collect();
    let picture = folder.join("rooms.png");
    write_bytes(&picture, &plot::responses_picture("One block of wood in two rooms", rate, &named).png_bytes())?;
    Ok(DemoRooms { rooms: made, picture })
}
