//! glTF 2.0, as `.gltf` and `.glb`: the triangles of the scene, each with the transforms of its nodes applied.
//!
//! A reader of its own, because it needs few fields and must not trust any of them. Of materials it takes the names; skins, morph targets
//! and animations are passed over.

use super::{
    Builder, DEFAULT_MATERIAL,
    gltf_accessor::{Accessor, Buffer, BufferView, Store},
};
use crate::{
    base64,
    bytes::Bytes,
    error::{Fault, quote},
    file::{LARGEST_FILE_BYTES, path_inside, read_at_most},
};
use eigentone_core::{Vec3, acoustics::MaterialMesh};
use glam::{DMat4, DQuat};
use serde::Deserialize;
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

/// Extensions without which the geometry would be missing or wrong.
const UNSUPPORTED: [&str; 4] =
    ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression", "EXT_mesh_gpu_instancing"];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Document {
    asset: Asset,
    extensions_required: Vec<String>,
    scene: Option<usize>,
    scenes: Vec<Scene>,
    nodes: Vec<Node>,
    meshes: Vec<Mesh>,
    materials: Vec<Material>,
    accessors: Vec<Accessor>,
    buffer_views: Vec<BufferView>,
    buffers: Vec<Buffer>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Asset {
    version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Scene {
    nodes: Vec<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Node {
    children: Vec<usize>,
    mesh: Option<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

impl Node {
    fn transform(&self) -> DMat4 {
        match &self.matrix {
            Some(columns) => DMat4::from_cols_array(columns),
            None => DMat4::from_scale_rotation_translation(
                self.scale.map_or(Vec3::ONE, Vec3::from_array),
                self.rotation.map_or(DQuat::IDENTITY, DQuat::from_array),
                self.translation.map_or(Vec3::ZERO, Vec3::from_array),
            ),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Mesh {
    primitives: Vec<Primitive>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    material: Option<usize>,
    mode: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Material {
    name: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
}

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
    if let Some(extension) = document.extensions_required.iter().find(|e| UNSUPPORTED.contains(&e.as_str())) {
        return Err(Fault::Unsupported {
            feature: format!("the glTF extension {extension}"),
            hint: "export the file again without compression or instancing extensions",
        });
    }
    let store = Store {
        buffers: buffers(&document.buffers, binary, file)?,
        accessors: &document.accessors,
        views: &document.buffer_views,
    };
    let mut builder = Builder::default();
    for (mesh, transform) in placed_meshes(&document)? {
        let primitives = document.meshes.get(mesh).map(|m| &m.primitives);
        for primitive in primitives.ok_or_else(|| missing("mesh", mesh, document.meshes.len()))? {
            builder.material(&material_name(primitive, &document.materials))?;
            add_primitive(primitive, transform, &store, &mut builder)?;
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

/// The meshes of the scene with the transforms of their nodes. A file without scenes shows all its root nodes, and one
/// without nodes all its meshes.
fn placed_meshes(document: &Document) -> Result<Vec<(usize, DMat4)>, Fault> {
    if document.nodes.is_empty() && document.scenes.is_empty() {
        return Ok((0..document.meshes.len()).map(|mesh| (mesh, DMat4::IDENTITY)).collect());
    }
    let scene = document.scene.unwrap_or(0);
    let roots = match document.scenes.get(scene) {
        Some(scene) => scene.nodes.clone(),
        None if document.scenes.is_empty() && document.scene.is_none() => {
            let mut is_root = vec![true; document.nodes.len()];
            for &child in document.nodes.iter().flat_map(|n| &n.children) {
                if let Some(root) = is_root.get_mut(child) {
                    *root = false;
                }
            }
            (0..is_root.len()).filter(|&n| is_root[n]).collect()
        }
        None => return Err(missing("scene", scene, document.scenes.len())),
    };
    // Nodes form trees (glTF 2.0 §3.5.2): one that is reached twice is part of a cycle or has two parents.
    let mut reached = vec![false; document.nodes.len()];
    let mut meshes = Vec::new();
    let mut open: Vec<(usize, DMat4)> = roots.into_iter().rev().map(|n| (n, DMat4::IDENTITY)).collect();
    while let Some((index, parent)) = open.pop() {
        let node = document.nodes.get(index).ok_or_else(|| missing("node", index, document.nodes.len()))?;
        if std::mem::replace(&mut reached[index], true) {
            return Err(Fault::in_item(format!("node {index}"), "a node with one parent", "one reached twice"));
        }
        let transform = parent * node.transform();
        meshes.extend(node.mesh.map(|mesh| (mesh, transform)));
        open.extend(node.children.iter().rev().map(|&child| (child, transform)));
    }
    Ok(meshes)
}

fn add_primitive(primitive: &Primitive, transform: DMat4, store: &Store, builder: &mut Builder) -> Result<(), Fault> {
    const TRIANGLES: u32 = 4;
    const STRIP: u32 = 5;
    const FAN: u32 = 6;
    let mode = primitive.mode.unwrap_or(TRIANGLES);
    let Some(position) = primitive.attributes.position.filter(|_| (TRIANGLES..=FAN).contains(&mode)) else {
        return Ok(()); // points and lines
    };
    let base = builder.mesh.positions.len() as u32;
    let positions = store.positions(position)?;
    let count = positions.len() as u32;
    for p in positions {
        builder.vertex(transform.transform_point3(p))?;
    }
    let mut corners = match primitive.indices {
        Some(index) => store.indices(index, count)?,
        None => (0..count).collect(),
    };
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
        let bytes: Cow<'a, [u8]> = match (&buffer.uri, binary) {
            (None, Some(chunk)) if index == 0 => Cow::Borrowed(chunk),
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
        if buffer.uri.is_some() && (bytes.len() as u64) < buffer.byte_length {
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

#[cfg(test)]
#[path = "gltf_tests.rs"]
mod tests;
