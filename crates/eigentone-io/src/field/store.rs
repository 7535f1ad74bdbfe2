//! Probes and the scene's cells as tensors.

use super::{
    huffman::Code,
    line::SYMBOLS,
    pack::{pack_rows, unpack_rows},
    probe::{Codes, DAMAGED, MOST_CUBES, PARAMETERS, Probe, ProbePlace},
    quantise::{QUANTUM_RANGE, is_quantum},
};
use crate::{
    error::{Fault, quote},
    safetensors::{Container, Tensor, Writer},
};
use eigentone_core::{
    Vec3,
    acoustics::{Bits, Lattice, Occupancy},
};
use flate2::Crc;

/// The most cubes of all probes together, and the most cells of a scene.
pub(super) const MOST_CELLS: u64 = 1 << 31;
/// The most lines of all probes together. Each takes 32 bytes in memory.
pub(super) const MOST_LINES: u64 = 1 << 25;

/// Writes what all probes share, the probes, and the cells of the scene. Larger types come first, so that all are aligned.
pub(super) fn write(writer: &mut Writer, codes: &Codes, probes: &[Probe], occupancy: Option<&Occupancy>) {
    let masks: Vec<Vec<u8>> =
        probes.iter().map(|p| pack_rows(&p.valid, 0, p.place.size[0] as usize, p.place.lines() as usize)).collect();
    let layers = occupancy.map(|occupancy| {
        let [nx, ny, nz] = occupancy.lattice.size.map(|n| n as usize);
        (0..nz).map(|z| pack_rows(&occupancy.solid, z * nx * ny, nx, ny)).collect::<Vec<_>>()
    });
    let (count, lengths) = (probes.len(), lengths(codes));
    let position = probes.iter().flat_map(|p| p.place.position.to_array()).map(f64::to_le_bytes);
    writer.tensor("probe_position", "F64", &[count, 3], position);
    let first = probes.iter().flat_map(|p| p.place.first).map(i32::to_le_bytes);
    writer.tensor("probe_first", "I32", &[count, 3], first);
    let size = probes.iter().flat_map(|p| p.place.size).map(u32::to_le_bytes);
    writer.tensor("probe_size", "U32", &[count, 3], size);
    let sums = probes.iter().zip(&masks).map(|(p, mask)| checksum(&lengths, &p.place, mask, &p.slices, p.data()));
    writer.tensor("probe_checksum", "U32", &[count], sums.map(u32::to_le_bytes));
    writer.tensor("mask_bytes", "U32", &[count], masks.iter().map(|m| (m.len() as u32).to_le_bytes()));
    let slices = || probes.iter().flat_map(|p| &p.slices);
    writer.tensor("slice_bytes", "U32", &[slices().count()], slices().map(|n| n.to_le_bytes()));
    if let Some(layers) = &layers {
        let bytes = layers.iter().map(|l| (l.len() as u32).to_le_bytes());
        writer.tensor("occupancy_bytes", "U32", &[layers.len()], bytes);
        writer.tensor("occupancy_checksum", "U32", &[1], [crc(layers.iter().map(Vec::as_slice)).to_le_bytes()]);
    }
    let mut bytes = |name: &str, shape: &[usize], parts: &[&[u8]]| {
        writer.tensor(name, "U8", shape, parts.iter().flat_map(|p| p.iter()).map(|b| [*b]));
    };
    let total = |parts: &[&[u8]]| parts.iter().map(|p| p.len()).sum::<usize>();
    bytes("code_length", &[PARAMETERS, SYMBOLS], &[&lengths]);
    let masks: Vec<&[u8]> = masks.iter().map(Vec::as_slice).collect();
    bytes("mask", &[total(&masks)], &masks);
    let data: Vec<&[u8]> = probes.iter().map(Probe::data).collect();
    bytes("slice", &[total(&data)], &data);
    if let Some(layers) = &layers {
        let layers: Vec<&[u8]> = layers.iter().map(Vec::as_slice).collect();
        bytes("occupancy", &[total(&layers)], &layers);
    }
}

/// The codes and all probes, checked so that decoding them later cannot fail.
pub(super) fn read(container: &Container<'_>, quantum: f32) -> Result<(Codes, Vec<Probe>), Fault> {
    let places = places(container)?;
    let codes = codes(container)?;
    let lengths = lengths(&codes);
    let count = Some(places.len());
    let list = |name, count| container.tensor(name, "U32", &[count]).map(|t| t.numbers(u32::from_le_bytes));
    let sums = list("probe_checksum", count)?;
    let mask_bytes = list("mask_bytes", count)?;
    let layers: u64 = places.iter().map(|p| u64::from(p.size[2])).sum();
    let slice_bytes = list("slice_bytes", Some(layers as usize))?;
    let (mut masks, mut slices) = (Parts::open(container, "mask")?, Parts::open(container, "slice")?);
    let mut slice_bytes = slice_bytes.as_slice();
    let mut probes = Vec::with_capacity(places.len());
    for (i, place) in places.into_iter().enumerate() {
        let (mine, rest) = slice_bytes.split_at(place.size[2] as usize);
        slice_bytes = rest;
        let mask = masks.take(mask_bytes[i] as usize)?;
        let data = slices.take(mine.iter().fold(0, |n: usize, &k| n.saturating_add(k as usize)))?;
        let sum = checksum(&lengths, &place, mask, mine, data);
        // A fuzzer would get no further.
        if sum != sums[i] && !cfg!(fuzzing) {
            let expected = format!("{:08x} for probe {i}", sums[i]);
            return Err(Fault::in_item("tensor probe_checksum", expected, format!("{sum:08x}")).hint(DAMAGED));
        }
        let mut valid = Bits::new(place.cubes() as usize);
        unpack_rows("tensor mask", mask, &mut valid, 0, place.size[0] as usize, place.lines() as usize)?;
        probes.push(Probe::open(place, valid, mine.to_vec(), data, &codes, quantum)?);
    }
    masks.finish()?;
    slices.finish()?;
    Ok((codes, probes))
}

/// Where the probes were, within bounds that can be kept in memory.
fn places(container: &Container<'_>) -> Result<Vec<ProbePlace>, Fault> {
    let positions = container.tensor("probe_position", "F64", &[None, Some(3)])?;
    let rows = [Some(positions.shape[0]), Some(3)];
    let firsts = container.tensor("probe_first", "I32", &rows)?.rows(i32::from_le_bytes);
    let sizes = container.tensor("probe_size", "U32", &rows)?.rows(u32::from_le_bytes);
    let positions = positions.rows(f64::from_le_bytes);
    let places: Vec<ProbePlace> = positions
        .into_iter()
        .zip(firsts.into_iter().zip(sizes))
        .map(|(p, (first, size))| ProbePlace { position: Vec3::from_array(p), first, size })
        .collect();
    check_places(&places).map_err(|(item, expected, found)| Fault::in_item(item, expected, found).hint(DAMAGED))?;
    Ok(places)
}

/// Whether probes can be kept in memory; otherwise the tensor, what is expected and what was found.
pub(super) fn check_places(places: &[ProbePlace]) -> Result<(), (&'static str, String, String)> {
    let (mut cubes, mut lines) = (0u64, 0u64);
    for (i, place) in places.iter().enumerate() {
        if !place.position.is_finite() {
            return Err((
                "tensor probe_position",
                "finite numbers".to_owned(),
                format!("{} of probe {i}", place.position),
            ));
        }
        let (mine, rows) = (place.cubes(), place.lines());
        (cubes, lines) = (cubes.saturating_add(mine), lines.saturating_add(rows));
        if mine > MOST_CUBES || cubes > MOST_CELLS || lines > MOST_LINES {
            let expected = format!(
                "at most {MOST_CUBES} cubes of a probe, {MOST_CELLS} cubes and {MOST_LINES} lines of all together"
            );
            return Err(("tensor probe_size", expected, format!("{:?} of probe {i}", place.size)));
        }
    }
    Ok(())
}

fn codes(container: &Container<'_>) -> Result<Codes, Fault> {
    let tensor = container.tensor("code_length", "U8", &[Some(PARAMETERS), Some(SYMBOLS)])?;
    let codes: Option<Vec<Code>> = tensor
        .bytes
        .chunks_exact(SYMBOLS)
        .map(|lengths| lengths.try_into().ok().and_then(Code::from_lengths))
        .collect();
    codes.and_then(|codes| codes.try_into().ok()).ok_or_else(|| {
        Fault::in_item("tensor code_length", "lengths of Huffman codes up to 10 bits", "others").hint(DAMAGED)
    })
}

/// The cells of the scene.
pub(super) fn read_occupancy(container: &Container<'_>, lattice: Lattice) -> Result<Occupancy, Fault> {
    let [nx, ny, nz] = lattice.size.map(|n| n as usize);
    let bytes = container.tensor("occupancy_bytes", "U32", &[Some(nz)])?.numbers(u32::from_le_bytes);
    let sum = container.tensor("occupancy_checksum", "U32", &[Some(1)])?.numbers(u32::from_le_bytes);
    let mut layers = Parts::open(container, "occupancy")?;
    if sum != [crc([layers.rest])] && !cfg!(fuzzing) {
        return Err(Fault::in_item("tensor occupancy_checksum", format!("{sum:08x?}"), "another").hint(DAMAGED));
    }
    // DEFLATE makes at most 1032 bytes of one, and a row takes at least a byte.
    let mut solid = Bits::new(0);
    if lattice.len().div_ceil(8) <= layers.rest.len().saturating_mul(1032) {
        solid = Bits::new(lattice.len());
    }
    for (z, &bytes) in bytes.iter().enumerate() {
        if solid.len() < lattice.len() {
            let found = format!("{} bytes", layers.rest.len());
            return Err(Fault::in_item("tensor occupancy", format!("{} cells", lattice.len()), found).hint(DAMAGED));
        }
        unpack_rows("tensor occupancy", layers.take(bytes as usize)?, &mut solid, z * nx * ny, nx, ny)?;
    }
    layers.finish()?;
    Ok(Occupancy { lattice, solid })
}

/// Bytes taken from a tensor one part after the other.
struct Parts<'a> {
    name: &'static str,
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    fn open(container: &'a Container<'_>, name: &'static str) -> Result<Self, Fault> {
        container.tensor(name, "U8", &[None]).map(|Tensor { bytes, .. }| Self { name, rest: bytes })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (part, rest) = self.rest.split_at_checked(count).ok_or_else(|| {
            let found = format!("{} before its end", self.rest.len());
            Fault::in_item(format!("tensor {}", self.name), format!("{count} more bytes"), found).hint(DAMAGED)
        })?;
        self.rest = rest;
        Ok(part)
    }

    fn finish(self) -> Result<(), Fault> {
        match self.rest.len() {
            0 => Ok(()),
            n => Err(Fault::in_item(format!("tensor {}", self.name), "its end", format!("{n} bytes")).hint(DAMAGED)),
        }
    }
}

fn lengths(codes: &Codes) -> Vec<u8> {
    codes.iter().flat_map(|code| *code.lengths()).collect()
}

/// CRC-32 of all that a probe is decoded from.
fn checksum(lengths: &[u8], place: &ProbePlace, mask: &[u8], slices: &[u32], data: &[u8]) -> u32 {
    let position = place.position.to_array().map(f64::to_le_bytes);
    let first = place.first.map(i32::to_le_bytes);
    let size = place.size.map(u32::to_le_bytes);
    let slices: Vec<u8> = slices.iter().flat_map(|n| n.to_le_bytes()).collect();
    crc([lengths, position.as_flattened(), first.as_flattened(), size.as_flattened(), mask, &slices, data])
}

fn crc<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut crc = Crc::new();
    parts.into_iter().for_each(|part| crc.update(part));
    crc.sum()
}

/// Accepts the major version of `supported` (`eigentone.field/1`) with any minor one (`eigentone.field/1.7`).
pub(super) fn check_version(container: &Container<'_>, supported: &'static str) -> Result<(), Fault> {
    let bad = |found: String| {
        Fault::in_item("metadata format", format!("{supported:?}"), found).hint("make a field with `eigentone bake`")
    };
    let format = container.metadata("format").ok_or_else(|| bad("none".to_owned()))?;
    let kind = supported.split_inclusive('/').next().unwrap_or_default();
    let Some(version) = format.strip_prefix(kind) else { return Err(bad(quote(format.as_bytes()))) };
    match version.split('.').next() {
        Some("1") => Ok(()),
        _ => Err(Fault::Version { found: format.chars().take(40).flat_map(char::escape_debug).collect(), supported }),
    }
}

/// The quantum in the metadata.
pub(super) fn quantum(container: &Container<'_>) -> Result<f32, Fault> {
    let text = container.metadata("quantum").unwrap_or_default();
    text.parse().ok().filter(|&q| is_quantum(q)).ok_or_else(|| {
        let [least, most] = QUANTUM_RANGE;
        Fault::in_item("metadata quantum", format!("a number from {least} to {most}"), quote(text.as_bytes()))
    })
}
