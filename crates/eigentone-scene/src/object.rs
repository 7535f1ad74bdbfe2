//! Models from files.

use crate::Error;
use eigentone_core::{Material, ModalModel, Vec3};
use eigentone_io::{FileKind, apply_modes, read_audio, read_file, read_mesh, read_modes, read_tet, sha256_hex, sniff};
use eigentone_modal::fit::{self, Fit, FitError, FitSettings, Take};
use eigentone_modal::{MeshModelError, MeshModelSettings, Progress, model_from_mesh, model_from_tets};
use std::path::{Path, PathBuf};

/// Makes a model from a mesh or a tetrahedral mesh on disk. Lengths in the file are multiplied by `scale` to give metres.
///
/// # Errors
/// If the file cannot be read or does not become a model.
pub fn model_from_file(
    file: &Path,
    material: &Material,
    settings: &MeshModelSettings,
    scale: f64,
    progress: &Progress<'_>,
) -> Result<ModalModel, Error> {
    let in_file = |source| Error::Model { file: file.to_owned(), source };
    if !(scale.is_finite() && scale > 0.0) {
        return Err(in_file(MeshModelError::Setting { what: "the scale", value: scale, expected: "above 0" }));
    }
    let mut settings = settings.clone();
    if settings.name.is_empty() {
        settings.name = stem(file);
    }
    let mut model = match sniff(file)? {
        FileKind::Tet => {
            let mut import = read_tet(file)?;
            import.mesh.positions.iter_mut().for_each(|p| *p *= scale);
            let mut model = model_from_tets(&import.mesh, material, &settings, progress).map_err(in_file)?;
            if import.degenerate > 0 {
                model.info.warnings.push(format!("dropped {} tetrahedra without volume", import.degenerate));
            }
            model
        }
        FileKind::Model | FileKind::Audio | FileKind::Field | FileKind::Scene => {
            let message = "not a mesh, but a model, a sound, a field or a scene".to_owned();
            return Err(Error::WrongKind { file: file.to_owned(), message });
        }
        _ => {
            let mut mesh = read_mesh(file)?;
            mesh.scale(scale);
            model_from_mesh(&mesh, material, &settings, progress).map_err(in_file)?
        }
    };
    model.info.source_hash = source_hash(&read_file(file)?, material, &settings, scale);
    Ok(model)
}

/// Makes a model from an edited table of modes; with `base`, the model whose modes were exported, shapes are kept.
///
/// # Errors
/// If the table cannot be read or does not fit the base.
pub fn model_from_modes(file: &Path, base: Option<&ModalModel>) -> Result<ModalModel, Error> {
    let rows = read_modes(file)?;
    if rows.is_empty() {
        let message = "the table has no mode; a model needs at least one".to_owned();
        return Err(Error::WrongKind { file: file.to_owned(), message });
    }
    let mut model = apply_modes(base, &rows).map_err(|source| Error::Modes { file: file.to_owned(), source })?;
    if base.is_none() {
        model.info.name = stem(file);
    }
    model.info.source_hash = sha256_hex(&read_file(file)?);
    Ok(model)
}

/// Fits a model to recordings, each with the place that was struck if there are several.
///
/// # Errors
/// If a recording cannot be read, the sample rates differ, or nothing rings in them.
pub fn model_from_recordings(
    recordings: &[(PathBuf, Option<Vec3>)],
    settings: &FitSettings,
) -> Result<(Fit, Vec<Vec<f32>>, u32), Error> {
    let mut sounds = Vec::new();
    let mut rate: Option<u32> = None;
    for (file, _) in recordings {
        let audio = read_audio(file)?;
        if rate.is_some_and(|rate| rate != audio.sample_rate_hz) {
            let message = format!(
                "{} Hz, but the first recording has {} Hz; convert it",
                audio.sample_rate_hz,
                rate.unwrap_or(0)
            );
            return Err(Error::WrongKind { file: file.clone(), message });
        }
        rate = Some(audio.sample_rate_hz);
        sounds.push(audio.mono());
    }
    let rate = rate.unwrap_or(44_100);
    let takes: Vec<Take<'_>> =
        sounds.iter().zip(recordings).map(|(samples, (_, position))| Take { samples, position: *position }).collect();
    let mut settings = FitSettings { sample_rate_hz: f64::from(rate), ..settings.clone() };
    if let (Some((file, _)), "recording") = (recordings.first(), settings.name.as_str()) {
        settings.name = stem(file);
    }
    let mut fitted =
        fit::fit(&takes, &settings).map_err(|source| Error::Fit { files: files_of(&source, recordings), source })?;
    let mut bytes = Vec::new();
    for (file, place) in recordings {
        bytes.extend(read_file(file)?);
        bytes.extend(format!("{place:?}").into_bytes());
    }
    fitted.model.info.source_hash = sha256_hex(&bytes);
    Ok((fitted, sounds, rate))
}

/// The recordings that an error is about.
fn files_of(error: &FitError, recordings: &[(PathBuf, Option<Vec3>)]) -> Vec<PathBuf> {
    let about: Vec<usize> = match error {
        FitError::Empty { take }
        | FitError::NotFinite { take, .. }
        | FitError::Silent { take }
        | FitError::TooShort { take, .. }
        | FitError::NoPosition { take, .. }
        | FitError::BadPosition { take } => vec![*take],
        FitError::SamePosition { first, second } => vec![*first, *second],
        _ if recordings.len() == 1 => vec![0],
        _ => vec![],
    };
    about.into_iter().filter_map(|k| recordings.get(k)).map(|r| r.0.clone()).collect()
}

/// Hash of everything a model depends on: what was in the file, the material, the settings and the engine.
fn source_hash(bytes: &[u8], material: &Material, settings: &MeshModelSettings, scale: f64) -> String {
    let about = format!("{material:?}{settings:?}{scale}{}", eigentone_core::ENGINE_VERSION);
    sha256_hex(&[bytes, about.as_bytes()].concat())
}

/// A file's name without folders and without anything after the first dot.
pub fn stem(file: &Path) -> String {
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.split('.').next().unwrap_or_default().to_owned()
}
