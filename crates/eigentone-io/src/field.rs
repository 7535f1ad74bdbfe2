//! Acoustic fields as `.field.safetensors`: what arrives from each probe at the cubes around it, quantised and coded so that single scan
//! lines can be decoded.
//!
//! | tensor | type and shape | |
//! | --- | --- | --- |
//! | `probe_position` | F64 `[P,3]` | where the probes were, in m |
//! | `probe_first` | I32 `[P,3]` | the cube of the common lattice with which each probe's grid begins |
//! | `probe_size` | U32 `[P,3]` | its cubes along x, y, z |
//! | `probe_checksum` | U32 `[P]` | CRC-32 of all that the probe is decoded from |
//! | `mask_bytes`, `mask` | U32 `[P]`, U8 `[…]` | which cubes have values: for each probe rows along x in whole bytes, in DEFLATE |
//! | `slice_bytes`, `slice` | U32 `[Σ size_z]`, U8 `[…]` | the values: for each probe and layer its lines, for each line the five parameters |
//! | `code_length` | U8 `[5,82]` | one Huffman code per parameter |
//! | `occupancy_bytes`, `occupancy`, `occupancy_checksum` | U32 `[Z]`, U8 `[…]`, U32 `[1]` | the scene's solid cells, per layer as `mask` |
//!
//! Metadata: `format` (`eigentone.field/1`), `lattice` and `occupancy_lattice` ([`Lattice`] in JSON), and all of [`FieldInfo`]. The code of
//! a line is described in `docs/field-format.md`.
//!
//! What is in memory, and why it can be decoded line by line: [`Field`].

mod pack;
mod probe;
mod store;

pub use probe::{probe_bytes, read_probe_bytes};

use crate::{
    atomic::write_atomic,
    error::{Fault, IN_MEMORY, ReadError, WriteError, quote},
    file::read_file,
    safetensors::{Container, Writer},
};
use eigentone_core::acoustics::{
    EncodedProbe, Field, FieldError, FieldInfo, FieldSizes, Lattice, Occupancy, Parameter, check_lattice,
};
use serde::de::DeserializeOwned;
use std::path::Path;

/// What the name of a field file ends in.
pub const FIELD_EXTENSION: &str = ".field.safetensors";

/// The format this engine writes and reads, up to the minor version.
const FORMAT: &str = "eigentone.field/1";

/// Writes a field. The same input gives the same bytes.
///
/// ```
/// use eigentone_core::{Vec3, acoustics::*};
/// use eigentone_io::{read_field, write_field};
///
/// // A row of four cubes, of which the last has no value; and a scene of one cell, which is air.
/// let mut probe = ProbeField::new(Vec3::ZERO, [0; 3], [4, 1, 1]);
/// (0..3).for_each(|x| probe.valid.set(x, true));
/// probe.values[Parameter::Early as usize] = vec![-6.0, -11.0, -17.0, 0.0];
/// let lattice = Lattice { origin: Vec3::ZERO, step_m: 1.0, size: [4, 1, 1] };
/// let cells = Lattice { size: [1, 1, 1], ..lattice };
/// let occupancy = Occupancy { lattice: cells, solid: Bits::new(1) };
/// let info = FieldInfo::new("row", 500.0, 1.0, 3.0);
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("row.field.safetensors");
/// write_field(&path, &info, &lattice, &occupancy, &[encode_probe(&probe, info.quantum)])?;
///
/// let field = read_field(&path)?;
/// let mut line = [0.0; 4];
/// let valid = field.line(0, Parameter::Early, 0, 0, &mut line);
/// assert_eq!((valid, line), (3, [-6.0, -12.0, -18.0, 0.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the parts do not fit together or are larger than what is read, or the system refuses.
pub fn write_field(
    path: &Path,
    info: &FieldInfo,
    lattice: &Lattice,
    occupancy: &Occupancy,
    probes: &[EncodedProbe],
) -> Result<(), WriteError> {
    let bytes = bytes(info, lattice, occupancy, probes)
        .map_err(|error| WriteError::Impossible { file: path.to_owned(), reason: error.to_string() })?;
    write_atomic(path, |w| w.write_all(&bytes))
}

/// The bytes of a field file: the same input gives the same bytes.
///
/// # Errors
/// As [`write_field`].
pub fn field_bytes(
    info: &FieldInfo,
    lattice: &Lattice,
    occupancy: &Occupancy,
    probes: &[EncodedProbe],
) -> Result<Vec<u8>, WriteError> {
    bytes(info, lattice, occupancy, probes)
        .map_err(|error| WriteError::Impossible { file: IN_MEMORY.into(), reason: error.to_string() })
}

fn bytes(
    info: &FieldInfo,
    lattice: &Lattice,
    occupancy: &Occupancy,
    probes: &[EncodedProbe],
) -> Result<Vec<u8>, FieldError> {
    let field = Field::new(info.clone(), *lattice, occupancy.clone(), probes)?;
    let mut writer = Writer::default();
    let pairs = [
        ("format", FORMAT.to_owned()),
        ("name", info.name.clone()),
        ("f_max_hz", info.f_max_hz.to_string()),
        ("cell_m", info.cell_m.to_string()),
        ("quantum", info.quantum.to_string()),
        ("source_hash", info.source_hash.clone()),
        ("engine_version", info.engine_version.clone()),
        ("settings", info.settings.clone()),
        ("warnings", serde_json::json!(info.warnings).to_string()),
        ("lattice", serde_json::json!(lattice).to_string()),
        ("occupancy_lattice", serde_json::json!(occupancy.lattice).to_string()),
    ];
    pairs.into_iter().for_each(|(key, value)| writer.metadata(key, value));
    if let Some(shard) = info.shard {
        writer.metadata("shard", serde_json::json!(shard).to_string());
    }
    store::write(&mut writer, &field.code_lengths(), &field.code().collect::<Vec<_>>(), Some(occupancy));
    Ok(writer.finish())
}

/// Reads a field.
///
/// # Errors
/// If the file cannot be read, is of another version, damaged, or its parts do not fit together.
pub fn read_field(path: &Path) -> Result<Field, ReadError> {
    parse(&read_file(path)?).map_err(|fault| fault.in_file(path))
}

/// Reads a field from memory.
///
/// # Errors
/// As [`read_field`].
pub fn read_field_bytes(bytes: &[u8]) -> Result<Field, ReadError> {
    parse(bytes).map_err(|fault| fault.in_file(Path::new(IN_MEMORY)))
}

fn parse(bytes: &[u8]) -> Result<Field, Fault> {
    let container = Container::open(bytes)?;
    store::check_version(&container, FORMAT)?;
    let info = info(&container)?;
    let lattice = self::lattice(&container, "lattice")?;
    let occupancy = store::read_occupancy(&container, self::lattice(&container, "occupancy_lattice")?)?;
    let probes = store::Probes::open(&container)?;
    let lengths = store::code_lengths(&container)?;
    let field = Field::open(info, lattice, occupancy, &lengths, probes)?;
    let size = |name| container.tensor(name, "U8", &[None]).map(|t| t.bytes.len() as u64);
    let mut sizes = FieldSizes { masks: size("mask")?, occupancy: size("occupancy")?, ..*field.sizes() };
    sizes.index = (bytes.len() as u64).saturating_sub(sizes.total());
    Ok(field.with_sizes(sizes))
}

fn info(container: &Container<'_>) -> Result<FieldInfo, Fault> {
    let text = |key| container.metadata(key).unwrap_or_default().to_owned();
    let number = |key: &'static str| {
        let text = text(key);
        let number = text.parse().ok().filter(|n: &f64| n.is_finite());
        number.ok_or_else(|| Fault::in_item(format!("metadata {key}"), "a number", quote(text.as_bytes())))
    };
    Ok(FieldInfo {
        name: text("name"),
        f_max_hz: number("f_max_hz")?,
        cell_m: number("cell_m")?,
        quantum: store::quantum(container)?,
        source_hash: text("source_hash"),
        engine_version: text("engine_version"),
        settings: text("settings"),
        warnings: json(container, "warnings", "a JSON array of strings")?,
        shard: match container.metadata("shard") {
            Some(_) => Some(json(container, "shard", "a JSON array of two numbers")?),
            None => None,
        },
    })
}

fn lattice(container: &Container<'_>, key: &'static str) -> Result<Lattice, Fault> {
    let lattice = json(container, key, "origin, step_m and size in JSON")?;
    match check_lattice(&lattice) {
        Ok(()) => Ok(lattice),
        Err(error) => Err(Fault::in_item(format!("metadata {key}"), error.expected, error.found)),
    }
}

fn json<T: DeserializeOwned>(container: &Container<'_>, key: &str, expected: &str) -> Result<T, Fault> {
    let text = container.metadata(key).unwrap_or_default();
    serde_json::from_str(text).map_err(|_| Fault::in_item(format!("metadata {key}"), expected, quote(text.as_bytes())))
}

/// What the values of each parameter would take with DEFLATE per layer, as in the paper, instead of our code: one byte per cube, two where the quantum is so small
/// that steps do not fit, zero where there is nothing valid. It takes a while: everything is decoded and compressed again.
pub fn deflate_baseline(field: &Field) -> [u64; Parameter::COUNT] {
    let wide = field.info().quantum < 1.0;
    let mut sum = [0; Parameter::COUNT];
    for (i, place) in field.probes().enumerate() {
        let [nx, ny, _] = place.size.map(|n| n as usize);
        let valid = field.valid(i);
        for (sum, levels) in sum.iter_mut().zip(field.levels(i)) {
            let mut levels = levels.into_iter();
            let mut last = 0;
            let steps = (0..valid.len()).map(|at| {
                last = if at % nx == 0 { 0 } else { last };
                let level = if valid.get(at) { levels.next().unwrap_or(last) } else { last };
                let step = level - last;
                last = level;
                step
            });
            let bytes: Vec<u8> =
                steps.flat_map(|q| q.to_le_bytes().into_iter().take(if wide { 2 } else { 1 })).collect();
            let layer = nx * ny * if wide { 2 } else { 1 };
            *sum += bytes.chunks(layer.max(1)).map(|layer| pack::deflate(layer).len() as u64).sum::<u64>();
        }
    }
    sum
}
