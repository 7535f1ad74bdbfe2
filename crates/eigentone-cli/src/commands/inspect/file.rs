//! What is in a file, and what is wrong with it.

use super::field::{self, FieldInspection, nearest_probe};
use super::scene::{self, SceneInspection};
use eigentone::bake::Prepared;
use eigentone::core::acoustics::Field;
use eigentone::core::mesh::repair::RepairReport;
use eigentone::core::mesh::report::MeshReport;
use eigentone::core::{DiffuseBand, ModalModel, TriMesh};
use eigentone::io::{
    AudioBuffer, FileKind, read_audio, read_field, read_mesh, read_model, read_modes, read_tet, sniff,
};
use eigentone::modal::thickness::Thickness;
use eigentone::scene::Scene;
use eigentone::{Error, plot};
use serde::Serialize;
use std::path::Path;

/// A file's content, summed up. Serialises to the JSON that `eigentone inspect --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Inspection {
    /// A surface mesh.
    Mesh(MeshInspection),
    /// A tetrahedral mesh.
    Tetrahedra(TetInspection),
    /// A modal model.
    Modal(ModelInspection),
    /// A sound.
    Audio(AudioInspection),
    /// A scene.
    Scene(SceneInspection),
    /// An acoustic field.
    Field(Box<FieldInspection>),
}

/// A mesh after repair.
#[derive(Clone, Debug, Serialize)]
pub struct MeshInspection {
    /// Counts and measures.
    #[serde(flatten)]
    pub report: MeshReport,
    /// What repair removed.
    #[serde(flatten)]
    pub repair: RepairReport,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// A tetrahedral mesh.
#[derive(Clone, Debug, Serialize)]
pub struct TetInspection {
    /// Nodes.
    pub nodes: usize,
    /// Tetrahedra.
    pub tetrahedra: usize,
    /// Volume in m³.
    pub volume_m3: f64,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// A modal model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelInspection {
    /// Name.
    pub name: String,
    /// How it was made.
    pub method: String,
    /// Material.
    pub material: String,
    /// Contact sites.
    pub vertices: usize,
    /// Triangles of the contact surface.
    pub triangles: usize,
    /// Mass in kg, if known.
    pub mass_kg: Option<f64>,
    /// The frequency in Hz above which the body has modes that the model has not; absent if it has all of its band.
    pub tail_from_hz: Option<f64>,
    /// Modes in rising frequency.
    pub modes: Vec<ModeInspection>,
    /// Bands of noise.
    pub diffuse: Vec<DiffuseBand>,
    /// Engine that made it.
    pub engine_version: String,
    /// Hash of what it was made from.
    pub source_hash: String,
    /// Bytes its shapes take in memory and on disk.
    pub shape_bytes: usize,
    /// What was decided when it was made.
    pub notes: Vec<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// One mode.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ModeInspection {
    /// Index in the model.
    pub index: usize,
    /// Frequency in Hz.
    pub frequency_hz: f64,
    /// Decay in 1/s.
    pub decay_per_s: f64,
    /// Decay time in s.
    pub t60_s: f64,
    /// Loudness, whatever the place of the strike.
    pub gain: f64,
}

/// A sound.
#[derive(Clone, Debug, Serialize)]
pub struct AudioInspection {
    /// Sample rate in Hz.
    pub sample_rate_hz: u32,
    /// Channels.
    pub channels: usize,
    /// Length in s.
    pub duration_s: f64,
    /// Highest sample in dB re full scale; `null` for silence.
    pub peak_dbfs: Option<f64>,
    /// Root mean square in dB re full scale; `null` for silence.
    pub rms_dbfs: Option<f64>,
    /// Share of samples at full scale.
    pub clipped_share: f64,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// What was found, with what is needed to draw it.
pub struct Inspected {
    /// The summary.
    pub inspection: Inspection,
    title: String,
    content: Content,
}

enum Content {
    Mesh(TriMesh, MeshReport),
    Model(Box<ModalModel>),
    Audio(AudioBuffer),
    Scene(Box<SceneContent>),
    Field(Box<Field>),
}

struct SceneContent {
    scene: Scene,
    stage: plot::Stage,
    /// Its rooms, if it has any that can be simulated.
    rooms: Option<Prepared>,
}

impl Inspected {
    /// Looks into a mesh, tetrahedral mesh, model, mode table, sound, scene or acoustic field. Lengths of a mesh are multiplied by `scale`.
    ///
    /// # Errors
    /// If the file cannot be read or is none of these.
    pub fn new(file: &Path, scale: f64) -> Result<Self, Error> {
        let title = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let with = |(inspection, content)| Self { inspection, title: title.clone(), content };
        Ok(with(match sniff(file)? {
            FileKind::Model => inspect_model(read_model(file)?),
            FileKind::Audio => inspect_audio(read_audio(file)?),
            FileKind::Modes(_) => {
                read_modes(file)?;
                inspect_model(eigentone::object::model_from_modes(file, None)?)
            }
            FileKind::Tet => {
                let import = read_tet(file)?;
                inspect_tet(import.mesh, import.degenerate)
            }
            FileKind::Field => {
                let field = read_field(file)?;
                (Inspection::Field(Box::new(field::inspect_field(&field))), Content::Field(Box::new(field)))
            }
            FileKind::Scene => {
                let scene = Scene::read(file)?;
                let (inspection, stage, rooms) = scene::inspect_scene(&scene);
                let content = SceneContent { scene, stage, rooms };
                (Inspection::Scene(inspection), Content::Scene(Box::new(content)))
            }
            _ => {
                let mut mesh = read_mesh(file)?;
                mesh.scale(scale);
                inspect_mesh(mesh, scale).map_err(|source| Error::Mesh { file: file.to_owned(), source })?
            }
        }))
    }

    /// A picture of the content: of a field around the probe in the middle, of a scene with rooms and without bodies a plan.
    pub fn picture(&self) -> plot::Picture {
        match &self.content {
            Content::Mesh(mesh, report) => plot::mesh_picture(mesh, report, &thickness_of(mesh), &self.title),
            Content::Model(model) => plot::model_picture(model),
            Content::Audio(audio) => {
                plot::spectrogram_picture(&audio.mono(), f64::from(audio.sample_rate_hz), &self.title)
            }
            Content::Scene(content) => match &content.rooms {
                Some(rooms) if content.scene.bodies.is_empty() => plot::plan_picture(rooms),
                _ => plot::stage_picture(&content.scene, &content.stage),
            },
            Content::Field(field) => plot::field_picture(field, nearest_probe(field, None).unwrap_or(0)),
        }
    }

    /// The model, if the file holds one.
    pub fn model(&self) -> Option<&ModalModel> {
        if let Content::Model(model) = &self.content { Some(model) } else { None }
    }

    /// The acoustic field, if the file holds one.
    pub fn field(&self) -> Option<&Field> {
        if let Content::Field(field) = &self.content { Some(field) } else { None }
    }
}

/// Triangles up to which a picture shows thickness: more take seconds.
const MAX_MEASURED: usize = 300_000;

/// Thickness at each triangle in metres, where there is something opposite.
fn thickness_of(mesh: &TriMesh) -> Vec<f64> {
    if mesh.check().is_err() || mesh.triangles.len() > MAX_MEASURED {
        return Vec::new();
    }
    Thickness::of(mesh).per_triangle_m()
}

fn inspect_mesh(
    mut mesh: TriMesh,
    scale: f64,
) -> Result<(Inspection, Content), eigentone::core::mesh::repair::MeshError> {
    let repair = mesh.repair()?;
    let report = mesh.report();
    let mut warnings = Vec::new();
    let mut warn = |count: usize, text: &str| {
        if count > 0 {
            warnings.push(format!("{text}: {count}"));
        }
    };
    warn(if report.components > 1 { report.components } else { 0 }, "separate pieces, each of which rings on its own");
    warn(report.holes, "open rims or holes (unless they are small, only a shell model is possible)");
    warn(report.nonmanifold_edges, "edges shared by more than two triangles");
    warn(report.misoriented_edges, "edges whose triangles face opposite ways");
    warn(repair.degenerate_triangles, "triangles without area, dropped");
    warn(repair.duplicate_triangles, "duplicate triangles, dropped");
    warn(repair.unused_vertices, "vertices without a triangle, dropped");
    warnings.extend(crate::output::unit_advice(mesh.diagonal(), scale));
    let inspection = Inspection::Mesh(MeshInspection { report: report.clone(), repair, warnings });
    Ok((inspection, Content::Mesh(mesh, report)))
}

fn inspect_tet(mesh: eigentone::core::TetMesh, degenerate: usize) -> (Inspection, Content) {
    let warnings =
        if degenerate > 0 { vec![format!("{degenerate} tetrahedra without volume, dropped")] } else { vec![] };
    let inspection =
        TetInspection { nodes: mesh.positions.len(), tetrahedra: mesh.tets.len(), volume_m3: mesh.volume(), warnings };
    let surface = mesh.boundary().0;
    let report = surface.report();
    (Inspection::Tetrahedra(inspection), Content::Mesh(surface, report))
}

fn inspect_model(model: ModalModel) -> (Inspection, Content) {
    let modes = model
        .modes
        .iter()
        .zip(model.overall_gains())
        .enumerate()
        .map(|(index, (m, gain))| ModeInspection {
            index,
            frequency_hz: m.frequency_hz,
            decay_per_s: m.decay_per_s,
            t60_s: m.t60().get(),
            gain,
        })
        .collect();
    let inspection = ModelInspection {
        name: model.info.name.clone(),
        method: model.info.method.to_string(),
        material: model.info.material.clone(),
        vertices: model.surface.positions.len(),
        triangles: model.surface.triangles.len(),
        mass_kg: model.info.mass_kg,
        tail_from_hz: model.info.tail_from_hz,
        modes,
        diffuse: model.diffuse.clone(),
        engine_version: model.info.engine_version.clone(),
        source_hash: model.info.source_hash.clone(),
        shape_bytes: 6 * model.shapes.values().len() + 4 * model.shapes.scale().len(),
        notes: model.info.notes.clone(),
        warnings: model.info.warnings.clone(),
    };
    (Inspection::Modal(inspection), Content::Model(Box::new(model)))
}

fn inspect_audio(audio: AudioBuffer) -> (Inspection, Content) {
    let samples = || audio.channels.iter().flatten().map(|&x| f64::from(x));
    let count = samples().count().max(1) as f64;
    let peak = samples().fold(0.0, |a: f64, b| a.max(b.abs()));
    let rms = (samples().map(|x| x * x).sum::<f64>() / count).sqrt();
    let clipped_share = samples().filter(|x| x.abs() >= 0.9999).count() as f64 / count;
    let mut warnings = Vec::new();
    if clipped_share > 1e-4 {
        warnings.push(format!("{:.2} % of the samples are at full scale: the sound is clipped", 100.0 * clipped_share));
    }
    if peak == 0.0 {
        warnings.push("silence".to_owned());
    }
    let decibels = |x: f64| (x > 0.0).then(|| 20.0 * x.log10());
    let inspection = AudioInspection {
        sample_rate_hz: audio.sample_rate_hz,
        channels: audio.channels.len(),
        duration_s: audio.duration_s(),
        peak_dbfs: decibels(peak),
        rms_dbfs: decibels(rms),
        clipped_share,
        warnings,
    };
    (Inspection::Audio(inspection), Content::Audio(audio))
}
