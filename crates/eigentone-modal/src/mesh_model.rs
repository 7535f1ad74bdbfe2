//! From a mesh and a material to a model: decides what the body is, models it that way, and keeps what can be heard.
//!
//! The decision takes milliseconds and comes before anything is computed ([`body_kind`](crate::body_kind)):
//!
//! | the mesh | the model |
//! | --- | --- |
//! | an open surface | a thin shell along it ([`shell`](crate::shell)), on even triangles as long as its bending waves need |
//! | a closed surface around thin walls | a thin shell along their middle surface ([`walls`](crate::walls)) |
//! | a closed surface around bulk | finite cells that fill it ([`solid`](crate::solid)) |
//!
//! How many modes are computed follows from what can be heard ([`audible`](crate::audible)) and from the [`Detail`].

mod error;
mod plan;
mod prepare;
mod settings;
mod surface;
mod way_out;

pub use error::MeshModelError;
pub use settings::{MeshModelSettings, MethodChoice};
pub use way_out::WayOut;

use crate::eigen::{self, Band, Eigenpairs};
use crate::finish::Undamped;
use crate::solid::tets;
use crate::{Detail, Progress};
use eigentone_core::mesh::repair::MeshError;
use eigentone_core::{Material, Method, ModalModel, ModelInfo, TetMesh, TriMesh};
use faer::Mat;
use std::f64::consts::TAU;

/// Makes a model from a surface mesh. The mesh is repaired first; what that did, which method was chosen and why, and what was
/// left out is told in the model's notes and warnings.
///
/// # Errors
/// See [`MeshModelError`]. A body of which nothing can be heard comes with a [`WayOut`] that has been tried.
pub fn model_from_mesh(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    progress: &Progress<'_>,
) -> Result<ModalModel, MeshModelError> {
    settings.check()?;
    way_out::explained(attempt(mesh, material, settings, progress), mesh, material, settings)
}

/// The same, fast first and better later: `found` gets a draft, then the model of the detail asked for. A tool can sound the first
/// while it waits for the second.
///
/// # Errors
/// As [`model_from_mesh`]. What was found before stays good.
pub fn models_from_mesh(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    progress: &Progress<'_>,
    found: &mut dyn FnMut(ModalModel),
) -> Result<(), MeshModelError> {
    if settings.detail > Detail::Draft {
        let draft = MeshModelSettings { detail: Detail::Draft, ..settings.clone() };
        found(model_from_mesh(mesh, material, &draft, progress)?);
    }
    found(model_from_mesh(mesh, material, settings, progress)?);
    Ok(())
}

/// Modes per band of hearing at the end of a model, over those from which single ones are not heard. Weyl's law knows only the mean, and rods and rings have far fewer: where
/// modes still end too early, one goes further by as much as was missing.
const REACH: f64 = 1.4;
const ATTEMPTS: usize = 4;

fn attempt(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    progress: &Progress<'_>,
) -> Result<ModalModel, MeshModelError> {
    let mut info = ModelInfo::new(&settings.name, Method::Shell, &material.name);
    progress.report("mesh", 0.0);
    let mesh = prepare::prepared(mesh, &mut info)?;
    let settings = &MeshModelSettings { supports: settings.supports.on(&mesh), ..settings.clone() };
    let (mut last, mut reach) = (None, REACH);
    for _ in 0..ATTEMPTS {
        let mut info = info.clone();
        progress.report("mesh", 0.5);
        let plan = plan::choose(&mesh, material, settings, reach, &mut info)?;
        progress.report("mesh", 1.0);
        let (undamped, limit) = plan.solve(&mesh, material, settings, reach, progress, &mut info)?;
        info.tail_from_hz = limit.cut.then_some(limit.highest_hz * settings.frequency_scale);
        // Where limits on vertices or cells end the modes, going further changes nothing.
        let further = last.as_ref().is_none_or(|(before, _): &(Undamped, _)| undamped.len() > before.len());
        let goes_on = further && undamped.ends_sparsely(&limit) && undamped.len() < settings.max_modes;
        reach *= (1.2 * limit.modes / (undamped.len() as f64 - 6.0).max(1.0)).clamp(1.6, 20.0);
        last = Some((undamped, info));
        if !goes_on {
            break;
        }
    }
    let Some((undamped, info)) = last else { return Err(MeshError::Empty.into()) };
    undamped.into_model(info, material, settings)
}

/// Makes a model from tetrahedra, with quadratic elements.
///
/// # Errors
/// See [`MeshModelError`].
pub fn model_from_tets(
    mesh: &TetMesh,
    material: &Material,
    settings: &MeshModelSettings,
    progress: &Progress<'_>,
) -> Result<ModalModel, MeshModelError> {
    settings.check()?;
    let mut mesh = mesh.clone();
    mesh.orient();
    let (mut surface, mut nodes) = mesh.boundary();
    surface.check()?;
    if surface.triangles.is_empty() {
        return Err(MeshError::Empty.into());
    }
    let mut info = ModelInfo::new(&settings.name, Method::Solid, &material.name);
    let body = tets::assemble_elastic(&mesh, &plan::elasticity(material, settings), tets::Order::Quadratic);
    info.mass_kg = Some(body.pencil.total_mass());
    let pairs = solve_band(&body.pencil, settings, settings.highest_hz, progress)?;
    let kept = surface.simplify(settings.max_sites);
    nodes = kept.iter().map(|&k| nodes[k as usize]).collect();
    let shapes = rows_of(&pairs.vectors, &nodes);
    let expected_rigid = 6 * body.pencil.components().len();
    Undamped::new(pairs.values, shapes, surface, &body.pencil, expected_rigid).into_model(info, material, settings)
}

/// All modes up to a frequency, rigid motions included.
fn solve_band(
    pencil: &eigen::Pencil,
    settings: &MeshModelSettings,
    highest_hz: f64,
    progress: &Progress<'_>,
) -> Result<Eigenpairs, MeshModelError> {
    let upper = (TAU * highest_hz / settings.frequency_scale).powi(2);
    // Rigid motions are found along with the modes that are wanted.
    let most = settings.max_modes + 6 * pencil.components().len();
    Ok(eigen::solve(pencil, Band { upper, most }, progress)?)
}

/// The rows of some nodes, three each.
fn rows_of(vectors: &Mat<f64>, nodes: &[u32]) -> Mat<f64> {
    Mat::from_fn(3 * nodes.len(), vectors.ncols(), |r, c| vectors[(3 * nodes[r / 3] as usize + r % 3, c)])
}
