//! Modal models as `.modal.safetensors`, which NumPy reads with the safetensors package.
//!
//! | tensor | type and shape | |
//! | --- | --- | --- |
//! | `frequency_hz`, `decay_per_s`, `output_gain` | F64 `[N]` | the modes |
//! | `shape` | F16 `[S,N,3]` | mode shapes at the contact sites, to be multiplied by |
//! | `shape_scale` | F32 `[N]` | one scale per mode |
//! | `position`, `normal` | F32 `[V,3]` | the contact sites; `V = S` |
//! | `triangle` | U32 `[T,3]` | the surface between them; may be empty |
//! | `diffuse` | F64 `[B,4]` | optional: lower and upper edge in Hz, gain, T60 in s |
//!
//! Metadata: `format` (`eigentone.modal/1`), `name`, `material`, `method`, `source_hash`, `engine_version`, `mass_kg` (absent
//! if unknown), `tail_from_hz` (absent if all modes of the band are there), `notes` and `warnings` (JSON arrays of strings). Tensors and keys that this reader does not know are passed over.

use crate::{
    atomic::write_atomic,
    error::{Fault, IN_MEMORY, ReadError, WriteError, quote},
    file::read_file,
    safetensors::{Container, Tensor, Writer},
};
use eigentone_core::{DiffuseBand, Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface};
use half::f16;
use serde::{Deserialize, de::IntoDeserializer};
use std::path::Path;

/// What the name of a model file ends in.
pub const MODEL_EXTENSION: &str = ".modal.safetensors";

/// The format this engine writes and reads, up to the minor version.
const FORMAT: &str = "eigentone.modal/1";

/// Reads a model.
///
/// # Errors
/// If the file cannot be read, is of another version, or its parts do not fit together.
pub fn read_model(path: &Path) -> Result<ModalModel, ReadError> {
    let bytes = read_file(path)?;
    let mut model = parse(&bytes).map_err(|fault| fault.in_file(path))?;
    if model.info.name.is_empty() {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        model.info.name = name.split('.').next().unwrap_or_default().to_owned();
    }
    Ok(model)
}

/// Reads a model from memory.
///
/// # Errors
/// As [`read_model`].
pub fn read_model_bytes(bytes: &[u8]) -> Result<ModalModel, ReadError> {
    parse(bytes).map_err(|fault| fault.in_file(Path::new(IN_MEMORY)))
}

/// Writes a model. The same model gives the same bytes.
///
/// # Errors
/// If the model does not fit together or the system refuses.
pub fn write_model(path: &Path, model: &ModalModel) -> Result<(), WriteError> {
    model.validate().map_err(|source| WriteError::Model { file: path.to_owned(), source })?;
    write_atomic(path, |w| w.write_all(&model_bytes(model)))
}

fn parse(bytes: &[u8]) -> Result<ModalModel, Fault> {
    let container = Container::open(bytes)?;
    check_version(container.metadata("format"))?;
    let info = info(&container)?;
    let list = |name, n| container.tensor(name, "F64", &[n]).map(|t| t.numbers(f64::from_le_bytes));
    let frequency_hz: Vec<f64> = list("frequency_hz", None)?;
    let count = frequency_hz.len();
    let decay_per_s = list("decay_per_s", Some(count))?;
    let output_gain = list("output_gain", Some(count))?;
    let modes = (0..count)
        .map(|n| Mode { frequency_hz: frequency_hz[n], decay_per_s: decay_per_s[n], output_gain: output_gain[n] })
        .collect();

    let positions = container.tensor("position", "F32", &[None, Some(3)])?;
    let sites = positions.shape[0];
    let scale = container.tensor("shape_scale", "F32", &[Some(count)])?.numbers(f32::from_le_bytes);
    let shape = container.tensor("shape", "F16", &[Some(sites), Some(count), Some(3)])?;
    let shapes = ShapeTable::from_stored(count, scale, shape.rows(f16::from_le_bytes)).map_err(Fault::Model)?;
    let surface = Surface {
        positions: positions.rows(f32::from_le_bytes),
        normals: container.tensor("normal", "F32", &[Some(sites), Some(3)])?.rows(f32::from_le_bytes),
        triangles: container.tensor("triangle", "U32", &[None, Some(3)])?.rows(u32::from_le_bytes),
    };
    let diffuse = if container.has("diffuse") {
        diffuse(&container.tensor("diffuse", "F64", &[None, Some(4)])?)
    } else {
        Vec::new()
    };
    let model = ModalModel { info, modes, surface, shapes, diffuse };
    model.validate().map_err(Fault::Model)?;
    Ok(model)
}

fn diffuse(tensor: &Tensor<'_>) -> Vec<DiffuseBand> {
    tensor
        .numbers(f64::from_le_bytes)
        .chunks_exact(4)
        .map(|c| DiffuseBand { low_hz: c[0], high_hz: c[1], gain: c[2], t60_s: c[3] })
        .collect()
}

/// Accepts `eigentone.modal/1` and any minor version of it (`eigentone.modal/1.7`).
fn check_version(format: Option<&str>) -> Result<(), Fault> {
    let expected = format!("{FORMAT:?}");
    let bad = |found: String| {
        Fault::in_item("metadata format", &expected, found).hint("make a model from a mesh, a shape or a recording")
    };
    let format = format.ok_or_else(|| bad("none".to_owned()))?;
    let Some(version) = format.strip_prefix("eigentone.modal/") else { return Err(bad(quote(format.as_bytes()))) };
    if version == "1" || version.starts_with("1.") {
        return Ok(());
    }
    Err(Fault::Version { found: format.chars().take(40).flat_map(char::escape_debug).collect(), supported: FORMAT })
}

fn info(container: &Container<'_>) -> Result<ModelInfo, Fault> {
    let text = |key| container.metadata(key).unwrap_or_default().to_owned();
    let bad =
        |key: &str, expected, found: &str| Fault::in_item(format!("metadata {key}"), expected, quote(found.as_bytes()));
    let method = container.metadata("method").unwrap_or("manual");
    let known: Result<Method, serde::de::value::Error> = Method::deserialize(method.into_deserializer());
    let number = |key: &'static str, expected: &'static str| match container.metadata(key) {
        None | Some("") => Ok(None),
        Some(text) => {
            let number = text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
            number.map(Some).ok_or_else(|| bad(key, expected, text))
        }
    };
    let list = |key: &'static str| {
        let text = container.metadata(key).unwrap_or("[]");
        serde_json::from_str(text).map_err(|_| bad(key, "a JSON array of strings", text))
    };
    Ok(ModelInfo {
        name: text("name"),
        method: known.map_err(|_| bad("method", "shell, walls, springs, solid, analytic, fit or manual", method))?,
        material: text("material"),
        source_hash: text("source_hash"),
        engine_version: text("engine_version"),
        mass_kg: number("mass_kg", "a mass in kilograms")?,
        tail_from_hz: number("tail_from_hz", "a frequency in hertz")?,
        notes: list("notes")?,
        warnings: list("warnings")?,
    })
}

/// The bytes of a model file: the same model gives the same bytes.
pub fn model_bytes(model: &ModalModel) -> Vec<u8> {
    let mut writer = Writer::default();
    let info = &model.info;
    let list = |lines: &[String]| serde_json::json!(lines).to_string();
    let pairs = [
        ("format", FORMAT.to_owned()),
        ("name", info.name.clone()),
        ("material", info.material.clone()),
        ("method", info.method.to_string()),
        ("source_hash", info.source_hash.clone()),
        ("engine_version", info.engine_version.clone()),
        ("notes", list(&info.notes)),
        ("warnings", list(&info.warnings)),
    ];
    pairs.into_iter().for_each(|(key, value)| writer.metadata(key, value));
    for (key, value) in [("mass_kg", info.mass_kg), ("tail_from_hz", info.tail_from_hz)] {
        if let Some(value) = value {
            writer.metadata(key, value.to_string());
        }
    }
    let (modes, surface) = (&model.modes, &model.surface);
    let n = [modes.len()];
    writer.tensor("frequency_hz", "F64", &n, modes.iter().map(|m| m.frequency_hz.to_le_bytes()));
    writer.tensor("decay_per_s", "F64", &n, modes.iter().map(|m| m.decay_per_s.to_le_bytes()));
    writer.tensor("output_gain", "F64", &n, modes.iter().map(|m| m.output_gain.to_le_bytes()));
    if !model.diffuse.is_empty() {
        let rows = model.diffuse.iter().flat_map(|b| [b.low_hz, b.high_hz, b.gain, b.t60_s]);
        writer.tensor("diffuse", "F64", &[model.diffuse.len(), 4], rows.map(f64::to_le_bytes));
    }
    let floats = |rows: &[[f32; 3]]| rows.iter().flatten().map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    let sites = surface.positions.len();
    writer.tensor("position", "F32", &[sites, 3], floats(&surface.positions));
    writer.tensor("normal", "F32", &[surface.normals.len(), 3], floats(&surface.normals));
    writer.tensor("shape_scale", "F32", &n, model.shapes.scale().iter().map(|s| s.to_le_bytes()));
    let triangles = surface.triangles.iter().flatten().map(|v| v.to_le_bytes());
    writer.tensor("triangle", "U32", &[surface.triangles.len(), 3], triangles);
    let shape = model.shapes.values().iter().flatten().map(|x| x.to_le_bytes());
    writer.tensor("shape", "F16", &[sites, modes.len(), 3], shape);
    writer.finish()
}
