//! Triangle meshes from files: OBJ, STL, PLY and glTF.
//!
//! Readers give the mesh as the file has it, polygons cut into fans, with every index checked; what to weld and to drop
//! is the business of [`TriMesh::repair`]. Coordinates are taken as metres.

mod base64;
mod gltf;
mod gltf_accessor;
mod obj;
mod ply;
mod ply_header;
mod scalar;
mod stl;
mod write;

pub use write::{write_glb, write_obj, write_ply, write_stl};

use crate::{
    error::{Fault, IN_MEMORY, Place, ReadError},
    file::{extension, read_file},
};
use eigentone_core::{TriMesh, Vec3};
use std::path::Path;

/// Most vertices that a mesh may have: beyond it no solver of this engine would finish, and a small file that repeats a
/// mesh often enough could fill any memory.
const MOST_VERTICES: usize = 1 << 24;
/// Most triangles; see [`MOST_VERTICES`].
const MOST_TRIANGLES: usize = 1 << 25;

/// A mesh file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// STL, text or binary.
    Stl,
    /// Stanford PLY, text or binary of either byte order.
    Ply,
    /// glTF 2.0 as JSON.
    Gltf,
    /// glTF 2.0 in its binary container.
    Glb,
}

impl MeshFormat {
    /// The format an extension stands for.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "obj" => Self::Obj,
            "stl" => Self::Stl,
            "ply" => Self::Ply,
            "gltf" => Self::Gltf,
            "glb" => Self::Glb,
            _ => return None,
        })
    }

    /// The format that the first bytes of a file of `length` bytes give away. OBJ has no signature and is recognised by
    /// a vertex line.
    pub fn from_content(head: &[u8], length: u64) -> Option<Self> {
        let text = head.trim_ascii_start();
        let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        if head.starts_with(b"glTF") {
            Some(Self::Glb)
        } else if word == b"ply" {
            Some(Self::Ply)
        } else if stl::is_binary(head, length) || (word == b"solid" && contains(head, b"facet")) {
            Some(Self::Stl)
        } else if text.starts_with(b"{") && contains(head, b"\"asset\"") {
            Some(Self::Gltf)
        } else if obj::looks_like(head) {
            Some(Self::Obj)
        } else {
            None
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|w| w == part)
}

/// Reads a mesh. The extension says how; content overrules it where it carries an unmistakable signature, or where the
/// file makes no sense as what its name says.
///
/// # Errors
/// If the file cannot be read, is in no known format, breaks the rules of its format, or holds no triangle.
pub fn read_mesh(path: &Path) -> Result<TriMesh, ReadError> {
    let bytes = read_file(path)?;
    let by_content = MeshFormat::from_content(&bytes[..bytes.len().min(1 << 16)], bytes.len() as u64);
    let named = MeshFormat::from_extension(&extension(path));
    let (first, second) = match (by_content, named) {
        (Some(sure @ (MeshFormat::Glb | MeshFormat::Ply)), _) => (sure, None),
        (_, Some(named)) => (named, by_content.filter(|&guess| guess != named)),
        (Some(guess), None) => (guess, None),
        (None, None) => {
            let expected = "a mesh (.obj, .stl, .ply, .gltf or .glb)";
            return Err(ReadError::UnknownFormat { file: path.to_owned(), expected });
        }
    };
    parse(first, &bytes, Some(path))
        .or_else(|fault| second.and_then(|format| parse(format, &bytes, Some(path)).ok()).ok_or(fault))
        .map_err(|fault| fault.in_file(path))
}

/// Reads a mesh from memory. `file` is where the bytes came from, if anywhere: its folder holds the external buffers of
/// a `.gltf`, which are refused without it.
///
/// # Errors
/// As [`read_mesh`].
pub fn read_mesh_bytes(format: MeshFormat, bytes: &[u8], file: Option<&Path>) -> Result<TriMesh, ReadError> {
    parse(format, bytes, file).map_err(|fault| fault.in_file(file.unwrap_or(Path::new(IN_MEMORY))))
}

fn parse(format: MeshFormat, bytes: &[u8], file: Option<&Path>) -> Result<TriMesh, Fault> {
    let mesh = match format {
        MeshFormat::Obj => obj::parse(bytes),
        MeshFormat::Stl => stl::parse(bytes),
        MeshFormat::Ply => ply::parse(bytes),
        MeshFormat::Gltf => gltf::parse_json(bytes, file),
        MeshFormat::Glb => gltf::parse_glb(bytes, file),
    }?;
    if mesh.triangles.is_empty() {
        return Err(Fault::new(Place::Whole, "at least one triangle", "a mesh without faces")
            .hint("export the surface with its faces; points and lines alone cannot sound"));
    }
    Ok(mesh)
}

/// A mesh that grows within bounds.
#[derive(Debug, Default)]
struct Builder {
    mesh: TriMesh,
}

impl Builder {
    fn vertex(&mut self, position: Vec3) -> Result<(), Fault> {
        if self.mesh.positions.len() >= MOST_VERTICES {
            return Err(too_many("vertices", MOST_VERTICES));
        }
        self.mesh.positions.push(position);
        Ok(())
    }

    fn triangle(&mut self, triangle: [u32; 3]) -> Result<(), Fault> {
        if self.mesh.triangles.len() >= MOST_TRIANGLES {
            return Err(too_many("triangles", MOST_TRIANGLES));
        }
        self.mesh.triangles.push(triangle);
        Ok(())
    }

    /// Cuts a polygon into a fan around its first corner. Fewer than three corners make nothing.
    fn polygon(&mut self, corners: &[u32]) -> Result<(), Fault> {
        let Some((&first, rest)) = corners.split_first() else { return Ok(()) };
        rest.windows(2).try_for_each(|pair| self.triangle([first, pair[0], pair[1]]))
    }

    /// Cuts a strip, turning every second triangle round.
    fn strip(&mut self, corners: &[u32]) -> Result<(), Fault> {
        corners
            .windows(3)
            .enumerate()
            .try_for_each(|(k, w)| self.triangle(if k % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] }))
    }
}

fn too_many(what: &str, most: usize) -> Fault {
    Fault::new(Place::Whole, format!("at most {most} {what}"), "more").hint("simplify the mesh before reading it")
}
