//! Probes and the scene's cells as tensors.

use super::pack::{pack_rows, unpack_rows};
use crate::{
    error::{Fault, quote},
    safetensors::{Container, Tensor, Writer},
};
use eigentone_core::{
    Vec3,
    acoustics::{
        Bits, CODE_SYMBOLS, CodeLengths, FieldError, Lattice, Occupancy, Parameter, ProbeCode, ProbePlace,
        QUANTUM_RANGE, check_places, is_quantum,
    },
};
use flate2::Crc;
use std::borrow::Cow;

/// For files whose parts contradict each other.
pub(super) const DAMAGED: &str = "the file is damaged: copy or download it again, or bake the scene again";

impl From<FieldError> for Fault {
    fn from(FieldError { part, expected, found }: FieldError) -> Self {
        let item = part.map_or_else(|| "field".to_owned(), |part| format!("tensor {part}"));
        Self::in_item(item, expected, found).hint(DAMAGED)
    }
}

/// Writes what all probes share, the probes, and the cells of the scene. Larger types come first, so that all are aligned.
pub(super) fn write(
    writer: &mut Writer,
    lengths: &CodeLengths,
    probes: &[ProbeCode<'_>],
    occupancy: Option<&Occupancy>,
) {
    let masks: Vec<Vec<u8>> =
        probes.iter().map(|p| pack_rows(&p.valid, 0, p.place.size[0] as usize, p.place.lines() as usize)).collect();
    let layers = occupancy.map(|occupancy| {
        let [nx, ny, nz] = occupancy.lattice.size.map(|n| n as usize);
        (0..nz).map(|z| pack_rows(&occupancy.solid, z * nx * ny, nx, ny)).collect::<Vec<_>>()
    });
    let count = probes.len();
    let position = probes.iter().flat_map(|p| p.place.position.to_array()).map(f64::to_le_bytes);
    writer.tensor("probe_position", "F64", &[count, 3], position);
    let first = probes.iter().flat_map(|p| p.place.first).map(i32::to_le_bytes);
    writer.tensor("probe_first", "I32", &[count, 3], first);
    let size = probes.iter().flat_map(|p| p.place.size).map(u32::to_le_bytes);
    writer.tensor("probe_size", "U32", &[count, 3], size);
    let sums = probes.iter().zip(&masks).map(|(p, mask)| checksum(lengths, &p.place, mask, &p.slices, p.data));
    writer.tensor("probe_checksum", "U32", &[count], sums.map(u32::to_le_bytes));
    writer.tensor("mask_bytes", "U32", &[count], masks.iter().map(|m| (m.len() as u32).to_le_bytes()));
    let slices = || probes.iter().flat_map(|p| p.slices.iter());
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
    bytes("code_length", &[Parameter::COUNT, CODE_SYMBOLS], &[lengths.as_flattened()]);
    let masks: Vec<&[u8]> = masks.iter().map(Vec::as_slice).collect();
    bytes("mask", &[total(&masks)], &masks);
    let data: Vec<&[u8]> = probes.iter().map(|p| p.data).collect();
    bytes("slice", &[total(&data)], &data);
    if let Some(layers) = &layers {
        let layers: Vec<&[u8]> = layers.iter().map(Vec::as_slice).collect();
        bytes("occupancy", &[total(&layers)], &layers);
    }
}

/// The probes of a file, read one after the other. The last item says what is left over, if anything is.
pub(super) struct Probes<'a> {
    places: std::vec::IntoIter<ProbePlace>,
    lengths: CodeLengths,
    /// Checksum and bytes of the mask for each probe.
    probes: std::vec::IntoIter<(u32, u32)>,
    /// Bytes of each layer of each probe.
    layers: std::vec::IntoIter<u32>,
    /// What is not read yet; `None` after the end.
    parts: Option<[Parts<'a>; 2]>,
    number: usize,
}

impl<'a> Probes<'a> {
    pub fn open(container: &'a Container<'_>) -> Result<Self, Fault> {
        let places = places(container)?;
        let lengths = code_lengths(container)?;
        let count = Some(places.len());
        let list = |name, count| container.tensor(name, "U32", &[count]).map(|t| t.numbers(u32::from_le_bytes));
        let (sums, mask_bytes) = (list("probe_checksum", count)?, list("mask_bytes", count)?);
        let layers: u64 = places.iter().map(|p| u64::from(p.size[2])).sum();
        let layers = list("slice_bytes", Some(layers as usize))?.into_iter();
        let parts = Some([Parts::open(container, "mask")?, Parts::open(container, "slice")?]);
        let probes = sums.into_iter().zip(mask_bytes).collect::<Vec<_>>().into_iter();
        Ok(Self { places: places.into_iter(), lengths, probes, layers, parts, number: 0 })
    }

    /// How many are still to be read.
    pub fn left(&self) -> usize {
        self.places.len()
    }

    fn probe(&mut self, place: ProbePlace, sum: u32, mask_bytes: u32) -> Result<ProbeCode<'a>, Fault> {
        let Some([masks, data]) = &mut self.parts else {
            return Err(Fault::in_item("tensor slice", "more", "its end"));
        };
        let slices: Vec<u32> = self.layers.by_ref().take(place.size[2] as usize).collect();
        let mask = masks.take(mask_bytes as usize)?;
        let data = data.take(slices.iter().fold(0, |n: usize, &k| n.saturating_add(k as usize)))?;
        let found = checksum(&self.lengths, &place, mask, &slices, data);
        // A fuzzer would get no further.
        if found != sum && !cfg!(fuzzing) {
            let expected = format!("{sum:08x} for probe {}", self.number);
            return Err(Fault::in_item("tensor probe_checksum", expected, format!("{found:08x}")).hint(DAMAGED));
        }
        self.number += 1;
        let mut valid = Bits::new(place.cubes() as usize);
        unpack_rows("tensor mask", mask, &mut valid, 0, place.size[0] as usize, place.lines() as usize)?;
        Ok(ProbeCode { place, valid: Cow::Owned(valid), slices: Cow::Owned(slices), data })
    }
}

impl<'a> Iterator for Probes<'a> {
    type Item = Result<ProbeCode<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if let (Some(place), Some((sum, mask_bytes))) = (self.places.next(), self.probes.next()) {
            return Some(self.probe(place, sum, mask_bytes));
        }
        self.parts.take()?.into_iter().find_map(|part| part.finish().err()).map(Err)
    }
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
    check_places(&places)?;
    Ok(places)
}

/// The bits of all codes, not yet checked.
pub(super) fn code_lengths(container: &Container<'_>) -> Result<CodeLengths, Fault> {
    let tensor = container.tensor("code_length", "U8", &[Some(Parameter::COUNT), Some(CODE_SYMBOLS)])?;
    let mut lengths = [[0; CODE_SYMBOLS]; Parameter::COUNT];
    lengths.as_flattened_mut().iter_mut().zip(tensor.bytes).for_each(|(length, &byte)| *length = byte);
    Ok(lengths)
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

/// CRC-32 of all that a probe is decoded from.
fn checksum(lengths: &CodeLengths, place: &ProbePlace, mask: &[u8], slices: &[u32], data: &[u8]) -> u32 {
    let position = place.position.to_array().map(f64::to_le_bytes);
    let first = place.first.map(i32::to_le_bytes);
    let size = place.size.map(u32::to_le_bytes);
    let slices: Vec<u8> = slices.iter().flat_map(|n| n.to_le_bytes()).collect();
    crc([
        lengths.as_flattened(),
        position.as_flattened(),
        first.as_flattened(),
        size.as_flattened(),
        mask,
        &slices,
        data,
    ])
}

fn crc<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut crc = Crc::new();
    parts.into_iter().for_each(|part| crc.update(part));
    crc.sum()
}

/// Accepts the major version of `supported` (`eigentone.field/1`) with any minor one (`eigentone.field/1.7`).
pub(super) fn check_version(container: &Container<'_>, supported: &'static str) -> Result<(), Fault> {
    let bad = |found: String| {
        Fault::in_item("metadata format", format!("{supported:?}"), found).hint("make a field by baking a scene")
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
