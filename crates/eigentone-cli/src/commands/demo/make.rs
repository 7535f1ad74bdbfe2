//! The newcomer's first command: five objects made, struck at two places each, three scenes played, and two rooms baked and heard; drawn and written up.

use super::{page, rooms};
use eigentone::core::mesh::primitives;
use eigentone::core::units::Decibels;
use eigentone::core::{MaterialTable, ModalModel, TriMesh, Vec3};
use eigentone::io::{AudioBuffer, SampleFormat, WriteError, write_atomic, write_model, write_obj, write_wav};
use eigentone::level::{self, Level};
use eigentone::modal::{MeshModelSettings, Progress, model_from_mesh};
use eigentone::scene::cache::ModelCache;
use eigentone::scene::{RenderOptions, Scene, render};
use eigentone::synth::{Strike, strike};
use eigentone::{Error, plot};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SAMPLE_RATE_HZ: u32 = 44_100;
const DURATION_S: f64 = 3.0;

/// One object of the demo.
struct Exhibit {
    name: &'static str,
    title: &'static str,
    story: &'static str,
    mesh: TriMesh,
    material: &'static str,
    thickness_m: Option<f64>,
    mallet: Mallet,
    places: [(&'static str, Vec3); 2],
}

#[derive(Clone, Copy)]
struct Mallet {
    mass_kg: f64,
    stiffness_n_m: f64,
}

const HARD: Mallet = Mallet { mass_kg: 0.01, stiffness_n_m: 2e7 };
const WOODEN: Mallet = Mallet { mass_kg: 0.02, stiffness_n_m: 2e6 };

fn exhibits() -> [Exhibit; 5] {
    [
        Exhibit {
            name: "bar",
            title: "Steel bar",
            story: "200 × 20 × 10 mm, solid finite elements. Struck in the middle of its width at one end all bending modes ring; in the \
                    middle of its length those with a node there are missing.",
            mesh: primitives::bar(0.2, 0.02, 0.01),
            material: "steel",
            thickness_m: None,
            mallet: HARD,
            places: [("end", Vec3::new(0.098, 0.0, 0.005)), ("middle", Vec3::new(0.0, 0.0, 0.005))],
        },
        Exhibit {
            name: "glass",
            title: "Drinking glass",
            story: "110 mm tall, 2 mm wall, a shell. The rim gives; the base is stiff.",
            mesh: primitives::tumbler(0.028, 0.038, 0.11, 40, 18),
            material: "glass",
            thickness_m: Some(0.002),
            mallet: WOODEN,
            places: [("rim", Vec3::new(0.038, 0.0, 0.108)), ("near the base", Vec3::new(0.030, 0.0, 0.02))],
        },
        Exhibit {
            name: "plate",
            title: "Wooden plate",
            story: "400 × 300 × 12 mm, a shell. The centre speaks low, the edge brings in the higher modes.",
            mesh: primitives::plate(0.4, 0.3, 28, 21),
            material: "wood",
            thickness_m: Some(0.012),
            mallet: WOODEN,
            places: [("centre", Vec3::new(0.0, 0.0, 0.0)), ("edge", Vec3::new(0.2, 0.05, 0.0))],
        },
        Exhibit {
            name: "bell",
            title: "Bronze bell",
            story: "160 mm wide, 6 mm wall, a shell. On the lip it rings; on the crown it only clinks.",
            mesh: primitives::bell(0.08, 0.13, 44, 20),
            material: "bronze",
            thickness_m: Some(0.006),
            mallet: WOODEN,
            places: [("lip", Vec3::new(0.08, 0.0, 0.0)), ("crown", Vec3::new(0.02, 0.0, 0.13))],
        },
        Exhibit {
            name: "bowl",
            title: "Brass bowl",
            story: "180 mm wide, 3 mm wall, a shell, as used for singing bowls.",
            mesh: primitives::bowl(0.09, 44, 14),
            material: "brass",
            thickness_m: Some(0.003),
            mallet: WOODEN,
            places: [("rim", Vec3::new(0.09, 0.0, 0.0)), ("bottom", Vec3::new(0.02, 0.0, -0.088))],
        },
    ]
}

/// What was made, for the report and for `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct DemoReport {
    /// The folder.
    pub folder: PathBuf,
    /// The page to open.
    pub page: PathBuf,
    /// The overview picture.
    pub overview: PathBuf,
    /// The objects.
    pub objects: Vec<DemoObject>,
    /// The scenes.
    pub scenes: Vec<DemoScene>,
    /// One object in two rooms.
    pub rooms: rooms::DemoRooms,
}

/// One scene.
#[derive(Clone, Debug, Serialize)]
pub struct DemoScene {
    /// Short name, the stem of its files.
    pub name: String,
    /// Title.
    pub title: String,
    /// Bodies in it.
    pub bodies: usize,
    /// Blows in it.
    pub impacts: usize,
    /// Contacts that slide or roll.
    pub contacts: usize,
    /// The sound.
    pub sound: PathBuf,
    /// Its events and spectrogram.
    pub picture: PathBuf,
    /// The scene file.
    pub file: PathBuf,
}

/// Scenes that the demo plays.
const SCENES: [(&str, &str); 3] = [
    ("xylophone", include_str!("../../../scenes/xylophone.toml")),
    ("cylinder", include_str!("../../../scenes/cylinder.toml")),
    ("surfaces", include_str!("../../../scenes/surfaces.toml")),
];

/// Shares of the work that objects and scenes are; the rest is rooms.
const OBJECTS_SHARE: f64 = 0.6;
const SCENES_SHARE: f64 = 0.3;

/// One object.
#[derive(Clone, Debug, Serialize)]
pub struct DemoObject {
    /// Short name, the stem of its files.
    pub name: String,
    /// Title.
    pub title: String,
    /// What to listen for.
    pub story: String,
    /// Material.
    pub material: String,
    /// Shell or solid.
    pub method: String,
    /// Number of modes.
    pub modes: usize,
    /// The lowest frequencies in Hz.
    pub first_hz: Vec<f64>,
    /// Decay time of the lowest mode in s.
    pub first_t60_s: f64,
    /// Mass in kg.
    pub mass_kg: f64,
    /// The model file.
    pub model: PathBuf,
    /// Sounds: where it was struck, and the file.
    pub sounds: Vec<(String, PathBuf)>,
}

/// Makes the demo in a folder, which is created if need be. `progress` hears the name of each object and the share that is done.
///
/// # Errors
/// If the folder or a file in it cannot be written.
pub fn run(folder: &Path, progress: &Progress<'_>) -> Result<DemoReport, Error> {
    std::fs::create_dir_all(folder)
        .map_err(|source| Error::Write(WriteError::Io { file: folder.to_owned(), source }))?;
    let materials = MaterialTable::builtin();
    let exhibits = exhibits();
    let mut made = Vec::new();
    for (k, exhibit) in exhibits.iter().enumerate() {
        let share =
            |_: &str, s: f64| progress.report(exhibit.title, OBJECTS_SHARE * (k as f64 + s) / exhibits.len() as f64);
        made.push(make(exhibit, &materials, &Progress::new(&share))?);
    }
    let mut objects = Vec::new();
    for (exhibit, (model, sounds)) in exhibits.iter().zip(&made) {
        objects.push(write(folder, exhibit, model, sounds)?);
    }
    let mut scenes = Vec::new();
    for (k, (name, text)) in SCENES.iter().enumerate() {
        let share = |_: &str, s: f64| {
            progress.report(name, OBJECTS_SHARE + SCENES_SHARE * (k as f64 + s) / SCENES.len() as f64);
        };
        scenes.push(play(folder, name, text, &Progress::new(&share))?);
    }
    let before = OBJECTS_SHARE + SCENES_SHARE;
    let rooms = rooms::run(folder, &|name, s| progress.report(name, before + (1.0 - before) * s))?;
    let overview = folder.join("overview.png");
    write_bytes(&overview, &draw_overview(&exhibits, &made).png_bytes())?;
    let page = folder.join("index.html");
    write_bytes(&page, page::html(&objects, &scenes, &rooms).as_bytes())?;
    Ok(DemoReport { folder: folder.to_owned(), page, overview, objects, scenes, rooms })
}

pub(super) fn play(folder: &Path, name: &str, text: &str, progress: &Progress<'_>) -> Result<DemoScene, Error> {
    let scene = Scene::parse(text, folder, &format!("{name}.toml"))?;
    let options = RenderOptions { cache: ModelCache::standard(), ..RenderOptions::default() };
    let rendering = render(&scene, &options, progress)?;
    let at = |extension: &str| folder.join(format!("{name}.{extension}"));
    let (sound, picture, file) = (at("wav"), at("png"), at("toml"));
    let audio = AudioBuffer { sample_rate_hz: rendering.sample_rate_hz, channels: rendering.channels.to_vec() };
    write_wav(&sound, &audio, SampleFormat::Pcm24)?;
    write_bytes(&picture, &plot::scene_picture(&rendering, &scene.title).png_bytes())?;
    write_bytes(&file, text.as_bytes())?;
    Ok(DemoScene {
        name: name.to_owned(),
        title: scene.title,
        bodies: rendering.stats.bodies,
        impacts: rendering.stats.events.impacts,
        contacts: rendering.stats.events.contacts,
        sound,
        picture,
        file,
    })
}

fn make(
    exhibit: &Exhibit,
    materials: &MaterialTable,
    progress: &Progress<'_>,
) -> Result<(Arc<ModalModel>, Vec<Vec<f32>>), Error> {
    let settings = MeshModelSettings {
        name: exhibit.name.to_owned(),
        thickness_m: exhibit.thickness_m,
        refine_vertices: 1400,
        ..Default::default()
    };
    let model = model_from_mesh(&exhibit.mesh, materials.get(exhibit.material)?, &settings, progress)
        .map_err(|source| Error::Model { file: exhibit.name.into(), source })?;
    let model = Arc::new(model);
    let mut sounds: Vec<Vec<f32>> = exhibit
        .places
        .iter()
        .filter_map(|(_, place)| model.nearest_contact(*place))
        .map(|contact| {
            let blow = Strike {
                stiffness_n_m: exhibit.mallet.stiffness_n_m,
                mallet_kg: exhibit.mallet.mass_kg,
                ..Strike::new(contact)
            };
            strike(&model, &blow, f64::from(SAMPLE_RATE_HZ), DURATION_S)
        })
        .collect::<Result<_, _>>()?;
    // One gain for both places, so that they can be compared.
    let mut slices: Vec<&mut [f32]> = sounds.iter_mut().map(|s| &mut s[..]).collect();
    level::apply(Level::Normalised(Decibels(-1.0)), &mut slices);
    Ok((model, sounds))
}

fn write(folder: &Path, exhibit: &Exhibit, model: &ModalModel, sounds: &[Vec<f32>]) -> Result<DemoObject, Error> {
    let model_file = folder.join(format!("{}{}", exhibit.name, eigentone::io::MODEL_EXTENSION));
    write_model(&model_file, model)?;
    write_obj(&folder.join(format!("{}.obj", exhibit.name)), &exhibit.mesh)?;
    write_bytes(&folder.join(format!("{}.png", exhibit.name)), &plot::model_picture(model).png_bytes())?;
    let mut files = Vec::new();
    for ((place, _), sound) in exhibit.places.iter().zip(sounds) {
        let file = folder.join(format!("{}-{}.wav", exhibit.name, place.replace(' ', "-")));
        let audio = AudioBuffer { sample_rate_hz: SAMPLE_RATE_HZ, channels: vec![sound.clone()] };
        write_wav(&file, &audio, SampleFormat::Pcm24)?;
        files.push(((*place).to_owned(), file));
    }
    Ok(DemoObject {
        name: exhibit.name.to_owned(),
        title: exhibit.title.to_owned(),
        story: exhibit.story.to_owned(),
        material: exhibit.material.to_owned(),
        method: model.info.method.to_string(),
        modes: model.modes.len(),
        first_hz: model.modes.iter().take(5).map(|m| m.frequency_hz).collect(),
        first_t60_s: model.modes.first().map_or(0.0, |m| m.t60().get()),
        mass_kg: model.info.mass_kg.unwrap_or(0.0),
        model: model_file,
        sounds: files,
    })
}

fn draw_overview(exhibits: &[Exhibit], made: &[(Arc<ModalModel>, Vec<Vec<f32>>)]) -> plot::Picture {
    let sounds: Vec<Vec<plot::OverviewSound<'_>>> = exhibits
        .iter()
        .zip(made)
        .map(|(exhibit, (_, sounds))| {
            let pairs = exhibit.places.iter().zip(sounds);
            pairs
                .map(|((place, _), samples)| plot::OverviewSound {
                    caption: place,
                    samples,
                    sample_rate_hz: f64::from(SAMPLE_RATE_HZ),
                })
                .collect()
        })
        .collect();
    let rows: Vec<plot::OverviewRow<'_>> = exhibits
        .iter()
        .zip(made)
        .zip(&sounds)
        .map(|((exhibit, (model, _)), sounds)| plot::OverviewRow {
            name: exhibit.title,
            mesh: &exhibit.mesh,
            model,
            sounds,
        })
        .collect();
    plot::overview_picture("Eigentone: five objects, struck at two places each", &rows)
}

pub(super) fn write_bytes(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    Ok(write_atomic(file, |w| w.write_all(bytes))?)
}
