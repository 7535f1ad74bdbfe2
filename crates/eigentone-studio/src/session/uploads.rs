//! Files that are dropped on the page: meshes and recordings, read without trust and kept until the scene is saved.

use super::files::{Folders, UPLOADS};
use super::plain;
use crate::document::{SceneText, put};
use crate::fault::Fault;
use eigentone_io::{
    GreyPicture, MeshFormat, read_audio_bytes, read_mesh_bytes, read_picture_bytes, sha256_hex, write_model,
};
use eigentone_modal::fit::{FitSettings, Take, fit};
use serde_json::{Value, json};
use std::path::Path;
use toml_edit::Table;

/// Meshes with more triangles collide as their hulls: cutting them into convex parts would take too long.
const MAX_DECOMPOSED: usize = 4000;

/// Longest recording that is fitted, in s.
const LONGEST_RECORDING_S: f64 = 30.0;

/// A mesh and what it is of.
#[derive(Clone, Debug)]
pub struct MeshUpload {
    /// Of the file.
    pub name: String,
    /// By name; steel if not given.
    pub material: Option<String>,
    /// Factor that makes its lengths metres.
    pub scale: f64,
    /// Thickness of its wall, if it is one.
    pub thickness_m: Option<f64>,
}

/// Reads a mesh, keeps it, and gives the `[[body]]` that names it.
///
/// # Errors
/// If it is not a mesh that can be read, or cannot be kept.
pub fn mesh(upload: &MeshUpload, bytes: &[u8], folders: &Folders) -> Result<Table, Fault> {
    if !(upload.scale.is_finite() && (1e-6..=1e6).contains(&upload.scale)) {
        return Err(Fault::bad(format!("a scale of {}", upload.scale), "give 0.001 for millimetres"));
    }
    let by_name = Path::new(&upload.name).extension().and_then(|e| MeshFormat::from_extension(&e.to_string_lossy()));
    let format = by_name.or_else(|| MeshFormat::from_content(&bytes[..bytes.len().min(4096)], bytes.len() as u64));
    let hint = "OBJ, STL, PLY, glTF and GLB are read";
    let format = format.ok_or_else(|| Fault::bad("this is not a mesh that can be read", hint))?;
    let mesh = read_mesh_bytes(format, bytes, None).map_err(|e| Fault::bad(e.to_string(), hint))?;
    if mesh.triangles.is_empty() {
        return Err(Fault::bad("there is no triangle in this mesh", "export it with its faces"));
    }
    let stored = keep(&upload.name, bytes, folders)?;
    let mut table = table_of(&upload.name, &stored, "mesh");
    put(&mut table, "material", upload.material.as_deref().unwrap_or("steel").into());
    if upload.scale != 1.0 {
        put(&mut table, "scale", upload.scale.into());
    }
    if let Some(thickness) = upload.thickness_m {
        put(&mut table, "thickness_m", thickness.into());
    }
    if mesh.triangles.len() > MAX_DECOMPOSED {
        put(&mut table, "collider", "hull".into());
    }
    Ok(table)
}

/// A recording that has become a model.
pub struct Fitted {
    /// Its `[[body]]`.
    pub table: Table,
    /// What people should know.
    pub warnings: Vec<String>,
    /// How good it is.
    pub report: Value,
}

/// Fits a model to a recording, keeps it, and gives the `[[body]]` that names it: a ball of 5 cm that sounds like it.
///
/// # Errors
/// If it cannot be read, or nothing rings in it.
pub fn recording(name: &str, bytes: &[u8], folders: &Folders) -> Result<Fitted, Fault> {
    let audio = read_audio_bytes(bytes).map_err(|e| Fault::bad(e.to_string(), "WAV and FLAC are read"))?;
    if audio.duration_s() > LONGEST_RECORDING_S {
        let error = format!("a recording of {:.0} s", audio.duration_s());
        return Err(Fault::bad(error, format!("cut it to one blow, {LONGEST_RECORDING_S} s at most")));
    }
    let stem = stem(name);
    let settings =
        FitSettings { name: stem.clone(), sample_rate_hz: f64::from(audio.sample_rate_hz), ..FitSettings::default() };
    let mono = audio.mono();
    let fitted = fit(&[Take { samples: &mono, position: None }], &settings);
    let fitted =
        fitted.map_err(|e| Fault::bad(e.to_string(), "record one blow that rings, without others before it"))?;
    let file = format!("{UPLOADS}/{}-{stem}.modal.safetensors", &sha256_hex(bytes)[..8]);
    let kept = folders.session.join(&file);
    plain::clear_link(&kept).map_err(|e| Fault::failed(e, ""))?;
    write_model(&kept, &fitted.model).map_err(|e| Fault::failed(e.to_string(), ""))?;
    let mut table = table_of(&stem, &file, "model");
    put(&mut table, "sphere", 0.05.into());
    let take = fitted.report.takes.first();
    let report = json!({
        "modes": fitted.model.modes.len(),
        "explained": take.map(|t| t.explained),
        "residual_db": take.map(|t| t.residual_db),
        "band_error_db": take.map(|t| t.band_error_db),
    });
    Ok(Fitted { table, warnings: fitted.report.warnings, report })
}

/// A picture that is kept.
pub struct Picture {
    /// Its file, as a scene names it.
    pub file: String,
    /// What is in it.
    pub grey: GreyPicture,
}

/// Reads a picture and keeps it.
///
/// # Errors
/// If it is no PNG, or cannot be kept.
pub fn picture(name: &str, bytes: &[u8], folders: &Folders) -> Result<Picture, Fault> {
    let hint = "PNG pictures of up to 2048 × 2048 pixels are read";
    let grey = read_picture_bytes(bytes).map_err(|e| Fault::bad(e.to_string(), hint))?;
    let file = keep(&format!("{}.png", stem(name)), bytes, folders)?;
    Ok(Picture { file, grey })
}

/// Keeps an uploaded file under a name that is safe and its own.
fn keep(name: &str, bytes: &[u8], folders: &Folders) -> Result<String, Fault> {
    let extension = Path::new(name).extension().map(|e| clean(&e.to_string_lossy())).unwrap_or_default();
    let file = format!("{UPLOADS}/{}-{}.{extension}", &sha256_hex(bytes)[..8], stem(name));
    plain::write(&folders.session.join(&file), bytes).map_err(|e| Fault::failed(e, "is the disk full?"))?;
    Ok(file)
}

fn clean(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_').take(48).collect()
}

/// A file's name without folders, endings and anything unusual.
fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let cleaned = clean(name.split('.').next().unwrap_or_default());
    if cleaned.is_empty() { "body".to_owned() } else { cleaned }
}

fn table_of(name: &str, file: &str, key: &str) -> Table {
    let blank = SceneText::parse("[[body]]\n").ok().and_then(|t| t.body(0).cloned());
    let mut table = blank.unwrap_or_default();
    put(&mut table, "name", stem(name).as_str().into());
    put(&mut table, key, file.into());
    table
}
