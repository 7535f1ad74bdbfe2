//! glTF 2.0, as `.gltf` and `.glb`: the triangles of the scene, each with the transforms of its nodes applied, and turned from the y up of
//! the format to z up.
//!
//! A reader of its own, because it needs few fields and must not trust any of them. Of materials it takes the names; skins, morph targets
//! and animations are passed over. Besides the core it knows the extensions that change the geometry: `KHR_mesh_quantization`,
//! `EXT_meshopt_compression`, `KHR_meshopt_compression`, `KHR_draco_mesh_compression` and `EXT_mesh_gpu_instancing`.
//!
//! - [`document`]: the fields that are read
//! - [`accessor`]: numbers out of buffers; [`meshopt`], [`draco`]: out of compressed ones
//! - [`place`]: where meshes stand

mod accessor;
mod document;
mod draco;
mod meshopt;
mod place;
#[cfg(test)]
mod tests;

use super::{Builder, DEFAULT_MATERIAL};
use crate::{
    base64,
    bytes::Bytes,
    error::{Fault, quote},
    file::{LARGEST_FILE_BYTES, path_inside, read_at_most},
};
use accessor::{Buffer, Store};
use document::{Document, Material, Primitive};
use eigentone_core::{Vec3, acoustics::MaterialMesh};
use glam::DMat4;
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

/// Reads a `.gltf`. External buffers are looked up beside `file`.
pub(super) fn parse_json(json: &[u8], file: Option<&Path>) -> Result<MaterialMesh, Fault> {
    parse(json, None, file)
}

/// Reads a `.glb`: a header of 12 bytes, a JSON chunk, and usually a binary one.
pub(super) fn parse_glb(bytes: &[u8], file: Option<&Path>) -> Result<MaterialMesh, Fault> {
    let mut bytes = Bytes::new(bytes);
    let magic = bytes.take(4, "glTF")?;
    if magic != b"glTF" {
        return Err(Fault::at_byte(0, "glTF", quote(magic)));
    }
    let version = bytes.u32_le("the version")?;
    if version != 2 {
        return Err(Fault::Version { found: format!("glTF {version}"), supported: "glTF 2" });
    }
    let length = bytes.u32_le("the length of the file")? as usize;
    let rest = length.checked_sub(12).ok_or_else(|| Fault::at_byte(8, "a length of 12 or more", length.to_string()))?;
    let mut chunks = Bytes::new(bytes.take(rest, "the rest of the file")?);
    let (mut json, mut binary) = (None, None);
    while chunks.remaining() > 0 {
        let size = chunks.u32_le("the length of a chunk")? as usize;
        let kind = chunks.array::<4>("the type of a chunk")?;
        let content = chunks.take(size, "a chunk")?;
        match &kind {
            b"JSON" if json.is_none() => json = Some(content),
            b"BIN\0" if binary.is_none() => binary = Some(content),
            _ => {}
        }
    }
    let json = json.ok_or_else(|| Fault::at_byte(12, "a JSON chunk", "none"))?;
    parse(json, binary, file)
}

fn parse(json: &[u8], binary: Option<&[u8]>, file: Option<&Path>) -> Result<MaterialMesh, Fault> {
    let document: Document = serde_json::from_slice(json).map_err(|e| {
        Fault::at_line(e.line(), "a glTF document", e.to_string()).hint("export the file again as glTF 2.0")
    })?;
    if !document.asset.version.starts_with("2.") {
        let found = format!("glTF {}", quote(document.asset.version.as_bytes()));
        return Err(Fault::Version { found, supported: "glTF 2.x" });
    }
    let buffers = buffers(&document.buffers, binary, file)?;
    let store = Store::new(buffers, &document.accessors, &document.buffer_views);
    let streams = draco::Streams::default();
    let mut builder = Builder::default();
    for (mesh, transform) in place::placed_meshes(&document, &store)? {
        let primitives = document.meshes.get(mesh).map(|m| &m.primitives);
        for primitive in primitives.ok_or_else(|| missing("mesh", mesh, document.meshes.len()))? {
            builder.material(&material_name(primitive, &document.materials))?;
            add_primitive(primitive, transform, &store, &streams, &mut builder)?;
        }
    }
    builder.scene()
}

/// The name of a primitive's material. One without a name, or one that does not exist, which does no harm to the shape, is called by its number.
fn material_name<'a>(primitive: &Primitive, materials: &'a [Material]) -> Cow<'a, str> {
    let Some(index) = primitive.material else { return Cow::Borrowed(DEFAULT_MATERIAL) };
    let name = materials.get(index).and_then(|m| m.name.as_deref()).filter(|name| !name.is_empty());
    name.map_or_else(|| Cow::Owned(format!("material {index}")), Cow::Borrowed)
}

pub(super) fn missing(what: &str, index: usize, count: usize) -> Fault {
    Fault::in_item(format!("{what} {index}"), format!("a {what} below {count}"), "no such one")
}

const TRIANGLES: u32 = 4;
const STRIP: u32 = 5;
const FAN: u32 = 6;

/// Vertices, and corners that make triangles in one of the ways above.
struct Surface {
    positions: Vec<Vec3>,
    corners: Vec<u32>,
    mode: u32,
}

/// What a primitive holds; `None` for points and lines.
fn surface(primitive: &Primitive, store: &Store, streams: &draco::Streams) -> Result<Option<Surface>, Fault> {
    let mode = primitive.mode.unwrap_or(TRIANGLES);
    let Some(position) = primitive.attributes.position.filter(|_| (TRIANGLES..=FAN).contains(&mode)) else {
        return Ok(None);
    };
    if let Some(draco) = primitive.draco() {
        // Its faces are triangles, whatever they were before.
        let attribute = draco.attributes.position.and_then(|a| u32::try_from(a).ok());
        let view = draco.buffer_view;
        let attribute = attribute
            .ok_or_else(|| Fault::in_item(format!("buffer view {view}"), "the number of its places", "none"))?;
        let (positions, corners) = streams.triangles(store, view, attribute, position)?;
        return Ok(Some(Surface { positions, corners, mode: TRIANGLES }));
    }
    let positions = store.positions(position)?;
    let count = positions.len() as u32;
    let corners = match primitive.indices {
        Some(index) => store.indices(index, count)?,
        None => (0..count).collect(),
    };
    Ok(Some(Surface { positions, corners, mode }))
}

fn add_primitive(
    primitive: &Primitive,
    transform: DMat4,
    store: &Store,
    streams: &draco::Streams,
    builder: &mut Builder,
) -> Result<(), Fault> {
    let Some(Surface { positions, mut corners, mode }) = surface(primitive, store, streams)? else { return Ok(()) };
    let base = builder.mesh.positions.len() as u32;
    for p in positions {
        builder.vertex(transform.transform_point3(p))?;
    }
    corners.iter_mut().for_each(|v| *v += base);
    let first = builder.mesh.triangles.len();
    match mode {
        STRIP => builder.strip(&corners)?,
        FAN => builder.polygon(&corners)?,
        _ => corners.chunks_exact(3).try_for_each(|c| builder.triangle([c[0], c[1], c[2]]))?,
    }
    // A mirroring transform turns the triangles inside out (glTF 2.0 §3.7.4).
    if transform.determinant() < 0.0 {
        builder.mesh.triangles[first..].iter_mut().for_each(|t| t.swap(1, 2));
    }
    Ok(())
}

/// The bytes of every buffer: from the binary chunk, a data URI or a file beside this one.
fn buffers<'a>(buffers: &[Buffer], binary: Option<&'a [u8]>, file: Option<&Path>) -> Result<Vec<Cow<'a, [u8]>>, Fault> {
    let mut budget = LARGEST_FILE_BYTES;
    let mut loaded = Vec::new();
    for (index, buffer) in buffers.iter().enumerate() {
        let item = || format!("buffer {index}");
        let uri = buffer.uri.as_ref().filter(|_| !buffer.is_fallback());
        let bytes: Cow<'a, [u8]> = match (uri, binary) {
            (None, Some(chunk)) if index == 0 && buffer.uri.is_none() => Cow::Borrowed(chunk),
            // Legal, for data that some extension supplies; harmless unless something refers to it.
            (None, _) => Cow::Borrowed(&[]),
            (Some(uri), _) => Cow::Owned(match uri.strip_prefix("data:") {
                Some(data) => data
                    .split_once(";base64,")
                    .and_then(|(_, text)| base64::decode(text.as_bytes()))
                    .ok_or_else(|| Fault::in_item(item(), "base64 data", quote(data.as_bytes())))?,
                None => external(uri, file, budget)?,
            }),
        };
        budget = budget.saturating_sub(bytes.len() as u64);
        if uri.is_some() && (bytes.len() as u64) < buffer.byte_length {
            let found = format!("{} bytes", bytes.len());
            return Err(Fault::in_item(item(), format!("{} bytes", buffer.byte_length), found));
        }
        loaded.push(bytes);
    }
    Ok(loaded)
}

fn external(uri: &str, file: Option<&Path>, limit: u64) -> Result<Vec<u8>, Fault> {
    let hint = "use a .glb, or a .gltf with its buffers beside it";
    let unsupported = || Fault::Unsupported { feature: format!("the buffer {}", quote(uri.as_bytes())), hint };
    let file = file.filter(|_| !uri.contains("://")).ok_or_else(unsupported)?;
    let path = percent_decoded(uri).ok_or_else(unsupported)?;
    let path = path_inside(file, &path).map_err(Fault::Other)?;
    read_at_most(&path, limit).map_err(Fault::Other)
}

/// The files beside a glTF that its buffers lie in, as far as it tells.
pub(crate) fn buffer_files(bytes: &[u8], file: &Path) -> Vec<PathBuf> {
    // In the binary form the JSON follows a header of 12 bytes, its own length and type.
    let json = match bytes {
        [b'g', b'l', b'T', b'F', _, _, _, _, _, _, _, _, a, b, c, d, _, _, _, _, rest @ ..] => {
            &rest[..rest.len().min(u32::from_le_bytes([*a, *b, *c, *d]) as usize)]
        }
        _ => bytes,
    };
    let Ok(document) = serde_json::from_slice::<serde_json::Value>(json) else { return Vec::new() };
    let buffers = document.get("buffers").and_then(|b| b.as_array()).map_or(&[][..], Vec::as_slice);
    let uris = buffers.iter().filter_map(|b| b.get("uri")?.as_str()).filter(|uri| !uri.starts_with("data:"));
    uris.filter_map(|uri| path_inside(file, &percent_decoded(uri)?).ok()).collect()
}

fn percent_decoded(uri: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(uri.len());
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            _ => byte,
        });
    }
    String::from_utf8(decoded).ok()
}
