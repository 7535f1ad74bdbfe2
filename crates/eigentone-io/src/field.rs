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
//! Steps are quantised as in REFERENCE D.5. The paper puts the steps of a layer through DEFLATE, which must be undone for the whole layer to get at
//! one line. Here a line stands for itself: runs of equal samples and the step after them are one symbol of a static Huffman
//! code, and samples without a value take no bits. Where lines begin is not stored but found when a file is opened, because all of it is walked
//! through then anyway: a checksum finds accidents but not malice, and after the walk [`Field::line`] cannot fail.

mod encoded;
mod huffman;
mod line;
mod pack;
mod probe;
mod quantise;
mod store;
mod stream;

pub use encoded::{EncodedProbe, encode_probe};
pub use probe::ProbePlace;
pub use quantise::QUANTUM_RANGE;

use crate::{
    atomic::write_atomic,
    error::{Fault, IN_MEMORY, ReadError, WriteError, quote},
    file::read_file,
    safetensors::{Container, Writer},
};
use eigentone_core::acoustics::{Bits, FieldInfo, Lattice, Occupancy, Parameter, ProbeField};
use probe::{Codes, NO_COUNTS, PARAMETERS, Probe, codes_of};
use serde::de::DeserializeOwned;
use std::path::Path;

/// What the name of a field file ends in.
pub const FIELD_EXTENSION: &str = ".field.safetensors";

/// The format this engine writes and reads, up to the minor version.
const FORMAT: &str = "eigentone.field/1";

/// A field in memory, compressed as in its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    info: FieldInfo,
    lattice: Lattice,
    occupancy: Occupancy,
    codes: Codes,
    probes: Vec<Probe>,
    sizes: FieldSizes,
}

/// How many bytes of a file go where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldSizes {
    /// The values of each parameter, in the order of [`Parameter::ALL`].
    pub parameters: [u64; PARAMETERS],
    /// Which samples are valid.
    pub masks: u64,
    /// Which cells of the scene are solid.
    pub occupancy: u64,
    /// The rest: metadata, probes, lengths of the parts, codes.
    pub index: u64,
}

impl FieldSizes {
    /// All of the file.
    pub fn total(&self) -> u64 {
        self.parameters.iter().sum::<u64>() + self.masks + self.occupancy + self.index
    }
}

/// Writes a field. The same input gives the same bytes.
///
/// ```
/// use eigentone_core::{Vec3, acoustics::*};
/// use eigentone_io::{encode_probe, read_field, write_field};
///
/// // A row of four cubes, of which the last has no value; and a scene of one cell, which is air.
/// let mut probe = ProbeField::new(Vec3::ZERO, [0; 3], [4, 1, 1]);
/// (0..3).for_each(|x| probe.valid.set(x, true));
/// probe.values[Parameter::Early as usize] = vec![-6.0, -11.0, -17.0, 0.0];
/// let lattice = Lattice { origin: Vec3::ZERO, step_m: 1.0, size: [4, 1, 1] };
/// let cells = Lattice { size: [1, 1, 1], ..lattice };
/// let occupancy = Occupancy { lattice: cells, solid: Bits::new(1) };
/// # let info = FieldInfo { name: String::new(), f_max_hz: 500.0, cell_m: 1.0, quantum: 3.0, source_hash: String::new(),
/// #     engine_version: String::new(), settings: String::new(), warnings: Vec::new(), shard: None };
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
        .map_err(|reason| WriteError::Impossible { file: path.to_owned(), reason })?;
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
    bytes(info, lattice, occupancy, probes).map_err(|reason| WriteError::Impossible { file: IN_MEMORY.into(), reason })
}

fn bytes(
    info: &FieldInfo,
    lattice: &Lattice,
    occupancy: &Occupancy,
    probes: &[EncodedProbe],
) -> Result<Vec<u8>, String> {
    for (name, number) in [("f_max_hz", info.f_max_hz), ("cell_m", info.cell_m)] {
        if !number.is_finite() {
            return Err(format!("expected finite numbers, found {name} = {number}"));
        }
    }
    for (name, lattice) in [("lattice", lattice), ("occupancy_lattice", &occupancy.lattice)] {
        if !is_lattice(lattice) {
            return Err(format!("expected a {LATTICE}, found {lattice:?} for the {name}"));
        }
    }
    if occupancy.solid.len() != occupancy.lattice.len() {
        return Err(format!(
            "expected {} cells of the scene, found {}",
            occupancy.lattice.len(),
            occupancy.solid.len()
        ));
    }
    if let Some(other) = probes.iter().find(|p| p.quantum != info.quantum) {
        return Err(format!("expected probes of quantum {}, found one of {}", info.quantum, other.quantum));
    }
    let places: Vec<ProbePlace> = probes.iter().map(|p| *p.place()).collect();
    store::check_places(&places)
        .map_err(|(item, expected, found)| format!("{item}: expected {expected}, found {found}"))?;

    // One code per parameter for all probes: their tables stay in the cache whichever probes are decoded.
    let mut counts = NO_COUNTS;
    let levels = |p: &EncodedProbe| p.probe.levels(&p.codes);
    probes.iter().for_each(|p| Probe::count(p.place(), &p.probe.valid, &levels(p), &mut counts));
    let codes = codes_of(&counts);
    let recoded: Vec<Probe> =
        probes.iter().map(|p| Probe::encode(*p.place(), p.probe.valid.clone(), &levels(p), &codes)).collect();

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
    store::write(&mut writer, &codes, &recoded, Some(occupancy));
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
    let (codes, probes) = store::read(&container, info.quantum)?;
    let size = |name| container.tensor(name, "U8", &[None]).map(|t| t.bytes.len() as u64);
    let mut sizes = FieldSizes { masks: size("mask")?, occupancy: size("occupancy")?, ..FieldSizes::default() };
    for p in 0..PARAMETERS {
        sizes.parameters[p] = probes.iter().map(|probe| probe.bits[p]).sum::<u64>() / 8;
    }
    sizes.index = (bytes.len() as u64).saturating_sub(sizes.total());
    Ok(Field { info, lattice, occupancy, codes, probes, sizes })
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

/// What a lattice must be, for messages.
const LATTICE: &str = "lattice with a finite origin, a positive step and at most 2³¹ cubes";

fn is_lattice(lattice: &Lattice) -> bool {
    let cubes = lattice.size.iter().try_fold(1u64, |n, &k| n.checked_mul(u64::from(k)));
    lattice.origin.is_finite()
        && lattice.step_m.is_finite()
        && lattice.step_m > 0.0
        && cubes.is_some_and(|n| n <= store::MOST_CELLS)
        // Also without the empty axes: rows and layers are counted as well.
        && lattice.size.iter().all(|&n| u64::from(n) <= store::MOST_CELLS)
}

fn lattice(container: &Container<'_>, key: &'static str) -> Result<Lattice, Fault> {
    let lattice = json(container, key, "origin, step_m and size in JSON")?;
    if is_lattice(&lattice) {
        return Ok(lattice);
    }
    Err(Fault::in_item(format!("metadata {key}"), format!("a {LATTICE}"), format!("{lattice:?}")))
}

fn json<T: DeserializeOwned>(container: &Container<'_>, key: &str, expected: &str) -> Result<T, Fault> {
    let text = container.metadata(key).unwrap_or_default();
    serde_json::from_str(text).map_err(|_| Fault::in_item(format!("metadata {key}"), expected, quote(text.as_bytes())))
}

impl Field {
    /// What it was made with and from.
    pub fn info(&self) -> &FieldInfo {
        &self.info
    }

    /// The lattice that all probes share.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The solid cells of the scene.
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// Where the probes were and which cubes each covers.
    pub fn probes(&self) -> impl ExactSizeIterator<Item = &ProbePlace> {
        self.probes.iter().map(|p| &p.place)
    }

    /// Which cubes of a probe have values, in the order x fastest, then y, then z.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn valid(&self, probe: usize) -> &Bits {
        &self.probes[probe].valid
    }

    /// Decodes all of a probe; zero where there are no values.
    ///
    /// # Panics
    /// If there is no such probe.
    pub fn probe(&self, probe: usize) -> ProbeField {
        self.probes[probe].decode(&self.codes, self.info.quantum)
    }

    /// Decodes a scan line of one parameter: as many samples from x = 0 on as `out` takes, at most the whole line, zero where [`valid`](Self::valid)
    /// says that there is none. `y` and `z` count from the probe's first cube. Returns how many of the samples are valid. Allocates nothing and cannot fail:
    /// the data was checked when the field was read.
    ///
    /// # Panics
    /// If there is no such probe or line, or `out` is longer than it.
    pub fn line(&self, probe: usize, parameter: Parameter, y: u32, z: u32, out: &mut [f32]) -> usize {
        self.probes[probe].line(&self.codes, self.info.quantum, parameter, [y, z], out)
    }

    /// What the field would take uncompressed with one byte per quantised sample: cubes of all probes times parameters.
    pub fn raw_bytes(&self) -> u64 {
        self.probes().map(ProbePlace::cubes).sum::<u64>() * PARAMETERS as u64
    }

    /// The size of the file.
    pub fn stored_bytes(&self) -> u64 {
        self.sizes.total()
    }

    /// What the bytes of the file are for.
    pub fn sizes(&self) -> &FieldSizes {
        &self.sizes
    }

    /// What the values of each parameter would take with DEFLATE per layer instead of our code. It takes a while: everything is
    /// decoded and compressed again.
    pub fn deflate_baseline(&self) -> [u64; PARAMETERS] {
        self.probes.iter().fold([0; PARAMETERS], |mut sum, probe| {
            let sizes = encoded::deflate_sizes(probe, &self.codes, self.info.quantum);
            sum.iter_mut().zip(sizes).for_each(|(sum, size)| *sum += size);
            sum
        })
    }
}
