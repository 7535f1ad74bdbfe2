//! Tables of modes for editing by hand, as CSV or JSON, and models made from them.
//!
//! A row is a mode: `frequency_hz`, its damping as `decay_per_s` or `t60_s` (T60 = ln 1000 / d), its loudness `gain` as
//! [`ModalModel::overall_gains`] gives it, and the `index` of the mode in the model the table was written from,
//! by which an edited table finds the mode shapes again. A row without an index is a new mode.
//!
//! ```
//! use eigentone_io::{TableFormat, apply_modes, read_modes_bytes};
//!
//! let rows = read_modes_bytes(TableFormat::Csv, b"frequency_hz,t60_s,gain\n440,2.5,1\n1203.5,0.8,0.3\n")?;
//! let model = apply_modes(None, &rows)?;
//! assert_eq!(model.modes[1].frequency_hz, 1203.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{
    atomic::write_atomic,
    error::{Fault, IN_MEMORY, Place, ReadError, WriteError, quote},
    file::{extension, read_file},
};
use eigentone_core::{Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface, Vec3, model::ModelError};
use half::f16;
use serde::Deserialize;
use std::path::Path;
use thiserror::Error;

/// Most that the two ways to state a decay may differ.
const DECAY_TOLERANCE: f64 = 0.01;

/// One mode of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeRow {
    /// Mode of the original model whose shape this one has; `None` for a new mode.
    pub index: Option<usize>,
    /// Frequency in Hz.
    pub frequency_hz: f64,
    /// Amplitude decay rate in 1/s.
    pub decay_per_s: f64,
    /// Loudness as [`ModalModel::overall_gains`] gives it.
    pub gain: f64,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values with a header.
    Csv,
    /// An array of objects, alone or under the key `modes`.
    Json,
}

impl TableFormat {
    fn of(path: &Path) -> Self {
        if extension(path) == "json" { Self::Json } else { Self::Csv }
    }
}

/// A row as it stands in a file.
#[derive(Deserialize)]
struct RawRow {
    #[serde(default)]
    index: Option<usize>,
    frequency_hz: f64,
    #[serde(default)]
    decay_per_s: Option<f64>,
    #[serde(default)]
    t60_s: Option<f64>,
    #[serde(alias = "output_gain")]
    gain: f64,
}

impl RawRow {
    fn check(self, place: impl Fn() -> Place) -> Result<ModeRow, Fault> {
        let bad = |expected: &str, found: String| Fault::new(place(), expected, found);
        let positive = |what: &str, x: f64| {
            if x > 0.0 && x.is_finite() { Ok(x) } else { Err(bad(&format!("{what} above zero"), x.to_string())) }
        };
        let decay = self.decay_per_s.map(|d| positive("decay_per_s", d)).transpose()?;
        let from_t60 = self.t60_s.map(|t| positive("t60_s", t).map(|t| 1000f64.ln() / t)).transpose()?;
        let decay_per_s = match (decay, from_t60) {
            (Some(d), Some(e)) if (d / e - 1.0).abs() > DECAY_TOLERANCE => {
                let found = format!("{d} and {e}");
                return Err(bad("decay_per_s and ln(1000)/t60_s to agree within 1 %", found)
                    .hint("change both, or leave the one that is not meant empty"));
            }
            (Some(d), _) | (None, Some(d)) => d,
            (None, None) => return Err(bad("decay_per_s or t60_s", "neither".to_owned())),
        };
        if !self.gain.is_finite() {
            return Err(bad("a finite gain", self.gain.to_string()));
        }
        let frequency_hz = positive("frequency_hz", self.frequency_hz)?;
        Ok(ModeRow { index: self.index, frequency_hz, decay_per_s, gain: self.gain })
    }
}

/// Reads a table: JSON if the extension is `.json`, else CSV.
///
/// # Errors
/// If the file cannot be read, or a row is incomplete or impossible.
pub fn read_modes(path: &Path) -> Result<Vec<ModeRow>, ReadError> {
    parse(TableFormat::of(path), &read_file(path)?).map_err(|fault| fault.in_file(path))
}

/// Reads a table from memory.
///
/// # Errors
/// As [`read_modes`].
pub fn read_modes_bytes(format: TableFormat, bytes: &[u8]) -> Result<Vec<ModeRow>, ReadError> {
    parse(format, bytes).map_err(|fault| fault.in_file(Path::new(IN_MEMORY)))
}

/// Writes a table: JSON if the extension is `.json`, else CSV.
///
/// # Errors
/// If the system refuses.
pub fn write_modes(path: &Path, rows: &[ModeRow]) -> Result<(), WriteError> {
    write_atomic(path, |w| w.write_all(modes_text(TableFormat::of(path), rows).as_bytes()))
}

fn parse(format: TableFormat, bytes: &[u8]) -> Result<Vec<ModeRow>, Fault> {
    match format {
        TableFormat::Csv => parse_csv(bytes),
        TableFormat::Json => parse_json(bytes),
    }
}

fn parse_csv(bytes: &[u8]) -> Result<Vec<ModeRow>, Fault> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).flexible(false).from_reader(bytes);
    let fault = |e: csv::Error| {
        let line = e.position().map_or(1, |p| p.line()) as usize;
        Fault::at_line(line, "a table of modes", e.to_string())
            .hint("write the modes of a model to a table to see its columns")
    };
    let headers = reader.headers().map_err(fault)?.clone();
    for name in ["frequency_hz", "gain"] {
        let alias = if name == "gain" { "output_gain" } else { name };
        if !headers.iter().any(|h| h == name || h == alias) {
            let found = quote(headers.iter().collect::<Vec<_>>().join(",").as_bytes());
            let expected = format!("a header with the column {name}");
            return Err(
                Fault::at_line(1, expected, found).hint("the columns are index,frequency_hz,decay_per_s,t60_s,gain")
            );
        }
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(fault)?;
        let line = record.position().map_or(1, |p| p.line()) as usize;
        let raw: RawRow = record.deserialize(Some(&headers)).map_err(|e| {
            Fault::at_line(line, "numbers in every column (index, decay_per_s or t60_s may be empty)", e.to_string())
        })?;
        rows.push(raw.check(|| Place::Line(line))?);
    }
    Ok(rows)
}

fn parse_json(bytes: &[u8]) -> Result<Vec<ModeRow>, Fault> {
    #[derive(Deserialize)]
    struct Document {
        modes: Vec<RawRow>,
    }
    let rows: Result<Vec<RawRow>, _> = match bytes.trim_ascii_start().first() {
        Some(b'[') => serde_json::from_slice(bytes),
        _ => serde_json::from_slice(bytes).map(|d: Document| d.modes),
    };
    let rows = rows.map_err(|e| Fault::at_line(e.line(), "an array `modes` of objects", e.to_string()))?;
    rows.into_iter().enumerate().map(|(n, raw)| raw.check(|| Place::Item(format!("mode {n}")))).collect()
}

/// A table as text. All digits are kept: reading it back gives the same numbers.
pub fn modes_text(format: TableFormat, rows: &[ModeRow]) -> String {
    let t60 = |row: &ModeRow| 1000f64.ln() / row.decay_per_s;
    match format {
        TableFormat::Csv => {
            let mut text = "index,frequency_hz,decay_per_s,t60_s,gain\n".to_owned();
            for row in rows {
                let index = row.index.map(|n| n.to_string()).unwrap_or_default();
                let (f, d, g) = (row.frequency_hz, row.decay_per_s, row.gain);
                text += &format!("{index},{f},{d},{},{g}\n", t60(row));
            }
            text
        }
        TableFormat::Json => {
            let object = |row: &ModeRow| {
                serde_json::json!({
                    "index": row.index, "frequency_hz": row.frequency_hz, "decay_per_s": row.decay_per_s,
                    "t60_s": t60(row), "gain": row.gain,
                })
            };
            let rows: Vec<String> = rows.iter().map(|row| format!("    {}", object(row))).collect();
            format!("{{\n  \"modes\": [\n{}\n  ]\n}}\n", rows.join(",\n"))
        }
    }
}

/// The table of a model.
pub fn mode_rows(model: &ModalModel) -> Vec<ModeRow> {
    let row = |(index, (mode, gain)): (usize, (&Mode, f64))| ModeRow {
        index: Some(index),
        frequency_hz: mode.frequency_hz,
        decay_per_s: mode.decay_per_s,
        gain,
    };
    model.modes.iter().zip(model.overall_gains()).enumerate().map(row).collect()
}

/// Why a table does not fit a model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ApplyError {
    /// A row refers to a mode that does not exist.
    #[error("row {row} has index {index}, but the model has {modes} modes; leave the index of new modes empty")]
    Index {
        /// The row, counted from zero.
        row: usize,
        /// Its index.
        index: usize,
        /// Modes of the model.
        modes: usize,
    },
    /// A mode that moves along the surface only cannot be made louder by its gain.
    #[error(
        "row {row} has gain {gain}, but mode {index} does not move along the normals and has gain 0; leave it at 0"
    )]
    Silent {
        /// The row, counted from zero.
        row: usize,
        /// Its index.
        index: usize,
        /// The gain it should get.
        gain: f64,
    },
    /// The result is not a model.
    #[error("{0}")]
    Model(#[from] ModelError),
}

/// Makes a model from a table.
///
/// With a `base`, rows keep the mode shapes of their index and take the frequency, decay and gain of the table; modes
/// without a row vanish; rows without an index become modes that move evenly along the normals. An unchanged table gives
/// the same model. Without a `base`, indices are ignored
/// and the model is a single contact site at the origin facing +Z.
///
/// # Errors
/// If an index does not exist, a gain cannot be reached, or the result is not a model.
pub fn apply_modes(base: Option<&ModalModel>, rows: &[ModeRow]) -> Result<ModalModel, ApplyError> {
    let point = Surface { positions: vec![[0.0; 3]], normals: vec![[0.0, 0.0, 1.0]], triangles: Vec::new() };
    let empty = ModalModel {
        info: ModelInfo::new("modes", Method::Manual, ""),
        modes: Vec::new(),
        surface: point,
        shapes: ShapeTable::default(),
        diffuse: Vec::new(),
    };
    let base = base.filter(|b| !b.surface.positions.is_empty());
    // Without a model to refer to, the indices of an exported table mean nothing.
    let index_of = |row: &ModeRow| base.and(row.index);
    let base = base.unwrap_or(&empty);
    let gains = base.overall_gains();
    let normals: Vec<[f16; 3]> = base.surface.normals.iter().map(|n| n.map(f16::from_f32)).collect();
    let along = |n: &[f16; 3]| Vec3::from_array(n.map(f16::to_f64));
    let even = normals.iter().zip(&base.surface.normals).map(|(u, n)| along(u).dot(vec3(*n)).powi(2)).sum::<f64>();
    let even = (even / normals.len().max(1) as f64).sqrt();

    let mut sorted: Vec<(usize, &ModeRow)> = rows.iter().enumerate().collect();
    sorted.sort_by(|a, b| a.1.frequency_hz.total_cmp(&b.1.frequency_hz));
    let mut modes = Vec::with_capacity(rows.len());
    for &(number, row) in &sorted {
        let output_gain = match index_of(row) {
            None => row.gain / if even > 0.0 { even } else { 1.0 },
            Some(index) => {
                let old =
                    base.modes.get(index).ok_or(ApplyError::Index { row: number, index, modes: base.modes.len() })?;
                rescaled(old.output_gain, gains[index], row.gain).ok_or(ApplyError::Silent {
                    row: number,
                    index,
                    gain: row.gain,
                })?
            }
        };
        modes.push(Mode { frequency_hz: row.frequency_hz, decay_per_s: row.decay_per_s, output_gain });
    }
    let scale = sorted.iter().map(|(_, row)| index_of(row).map_or(1.0, |n| base.shapes.scale()[n])).collect();
    let stored = |site: usize, n: usize| base.shapes.values()[site * base.modes.len() + n];
    let values = (0..normals.len())
        .flat_map(|site| sorted.iter().map(move |(_, row)| (site, index_of(row))))
        .map(|(site, index)| index.map_or(normals[site], |n| stored(site, n)))
        .collect();
    let model = ModalModel {
        info: base.info.clone(),
        shapes: ShapeTable::from_stored(modes.len(), scale, values)?,
        modes,
        surface: base.surface.clone(),
        diffuse: base.diffuse.clone(),
    };
    model.validate()?;
    Ok(model)
}

/// The output gain that turns an overall gain of `old` into `new`; exactly the same if nothing changed.
fn rescaled(output_gain: f64, old: f64, new: f64) -> Option<f64> {
    if new == old {
        return Some(output_gain);
    }
    (old > 0.0).then(|| output_gain * (new / old))
}

fn vec3(v: [f32; 3]) -> Vec3 {
    Vec3::from_array(v.map(f64::from))
}

#[cfg(test)]
#[path = "modes_tests.rs"]
mod tests;
