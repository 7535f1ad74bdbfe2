//! Triangle meshes from files: OBJ, STL, PLY, OFF and glTF.
//!
//! Readers give the mesh as the file has it, polygons cut into fans, with every index checked; what to weld and to drop
//! is the business of [`TriMesh::repair`]. Coordinates are taken as metres, with z up; glTF, which has y up, is turned. Every reader builds a [`MaterialMesh`]; those who want
//! shapes alone get its triangles.

mod gltf;
mod obj;
mod off;
mod ply;
mod ply_header;
mod scalar;
mod stl;
mod write;

pub use write::{write_glb, write_material_obj, write_obj, write_ply, write_stl};

pub(crate) use gltf::buffer_files;

use crate::{
    error::{Fault, IN_MEMORY, Place, ReadError},
    file::{extension, read_file},
};
use eigentone_core::{TriMesh, Vec3, acoustics::MaterialMesh};
use std::{collections::HashMap, path::Path};

/// Most vertices that a mesh may have: beyond it no solver of this engine would finish, and a small file that repeats a
/// mesh often enough could fill any memory.
const MAX_VERTICES: usize = 1 << 24;
/// Most triangles; see [`MAX_VERTICES`].
const MAX_TRIANGLES: usize = 1 << 25;

/// Most names of materials that a mesh may have.
const MAX_MATERIALS: usize = 1 << 16;

/// The material of triangles for which a file names none.
pub const DEFAULT_MATERIAL: &str = "default";

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
    /// OFF as text, with or without normals and colours.
    Off,
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
            "off" => Self::Off,
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
        } else if off::looks_like(head) {
            Some(Self::Off)
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
    read_material_mesh(path).map(|scene| scene.mesh)
}

/// Reads a mesh with the names of its materials: those of `usemtl` in OBJ, and of the primitives' materials in glTF. Triangles without one, and all of STL,
/// PLY and OFF, are of [`DEFAULT_MATERIAL`]. Only names in use are kept, in the order in which they appear; materials of the same name are one.
///
/// # Errors
/// As [`read_mesh`], and if there are more names than can be counted.
pub fn read_material_mesh(path: &Path) -> Result<MaterialMesh, ReadError> {
    let bytes = read_file(path)?;
    let by_content = MeshFormat::from_content(&bytes[..bytes.len().min(1 << 16)], bytes.len() as u64);
    let named = MeshFormat::from_extension(&extension(path));
    let (first, second) = match (by_content, named) {
        (Some(sure @ (MeshFormat::Glb | MeshFormat::Ply)), _) => (sure, None),
        (_, Some(named)) => (named, by_content.filter(|&guess| guess != named)),
        (Some(guess), None) => (guess, None),
        (None, None) => {
            if let Some((format, hint)) = foreign(&extension(path)) {
                let feature = format!("{format} as a mesh");
                return Err(ReadError::Unsupported { file: path.to_owned(), feature, hint });
            }
            let expected = "a mesh (.obj, .stl, .ply, .off, .gltf or .glb)";
            return Err(ReadError::UnknownFormat { file: path.to_owned(), expected });
        }
    };
    parse(first, &bytes, Some(path))
        .or_else(|fault| second.and_then(|format| parse(format, &bytes, Some(path)).ok()).ok_or(fault))
        .map_err(|fault| fault.in_file(path))
}

/// Formats that are often tried, what they are called, and how to get at their triangles.
fn foreign(extension: &str) -> Option<(&'static str, &'static str)> {
    const MODELLER: &str = "open it in Blender or another modeller and export it as glTF, OBJ, PLY or STL";
    const SLICER: &str = "open it in a slicer (PrusaSlicer, Cura) or in Blender and export it as STL, OBJ or PLY";
    const CAD: &str =
        "a CAD file has no triangles yet: open it in FreeCAD or your CAD program and export it as STL or OBJ";
    Some(match extension {
        "3mf" => ("3MF", SLICER),
        "amf" => ("AMF", SLICER),
        "blend" => ("a Blender file", "open it in Blender and export it as glTF (.glb)"),
        "fbx" => ("FBX", MODELLER),
        "dae" => ("COLLADA", MODELLER),
        "3ds" => ("3DS", MODELLER),
        "x3d" | "wrl" => ("X3D or VRML", MODELLER),
        "usd" | "usda" | "usdc" | "usdz" => ("USD", MODELLER),
        "step" | "stp" => ("STEP", CAD),
        "iges" | "igs" => ("IGES", CAD),
        _ => return None,
    })
}

/// Reads a mesh from memory. `file` is where the bytes came from, if anywhere: its folder holds the external buffers of
/// a `.gltf`, which are refused without it.
///
/// # Errors
/// As [`read_mesh`].
pub fn read_mesh_bytes(format: MeshFormat, bytes: &[u8], file: Option<&Path>) -> Result<TriMesh, ReadError> {
    read_material_mesh_bytes(format, bytes, file).map(|scene| scene.mesh)
}

/// Reads a mesh with the names of its materials from memory.
///
/// # Errors
/// As [`read_material_mesh`].
pub fn read_material_mesh_bytes(
    format: MeshFormat,
    bytes: &[u8],
    file: Option<&Path>,
) -> Result<MaterialMesh, ReadError> {
    parse(format, bytes, file).map_err(|fault| fault.in_file(file.unwrap_or(Path::new(IN_MEMORY))))
}

fn parse(format: MeshFormat, bytes: &[u8], file: Option<&Path>) -> Result<MaterialMesh, Fault> {
    let scene = match format {
        MeshFormat::Obj => obj::parse(bytes),
        MeshFormat::Stl => stl::parse(bytes).map(|mesh| MaterialMesh::of(mesh, DEFAULT_MATERIAL)),
        MeshFormat::Ply => ply::parse(bytes).map(|mesh| MaterialMesh::of(mesh, DEFAULT_MATERIAL)),
        MeshFormat::Off => off::parse(bytes).map(|mesh| MaterialMesh::of(mesh, DEFAULT_MATERIAL)),
        MeshFormat::Gltf => gltf::parse_json(bytes, file),
        MeshFormat::Glb => gltf::parse_glb(bytes, file),
    }?;
    if scene.mesh.triangles.is_empty() {
        return Err(Fault::new(Place::Whole, "at least one triangle", "a mesh without faces")
            .hint("export the surface with its faces; points and lines alone cannot sound"));
    }
    Ok(scene)
}

/// A mesh that grows within bounds.
#[derive(Debug, Default)]
struct Builder {
    mesh: TriMesh,
    materials: Materials,
}

/// Names of materials, and where in the list of triangles each begins to hold.
#[derive(Debug, Default)]
struct Materials {
    names: Vec<String>,
    numbers: HashMap<String, u16>,
    /// First triangle and material, in rising order of the triangles.
    runs: Vec<(usize, u16)>,
}

impl Builder {
    fn vertex(&mut self, position: Vec3) -> Result<(), Fault> {
        if self.mesh.positions.len() >= MAX_VERTICES {
            return Err(too_many("vertices", MAX_VERTICES));
        }
        self.mesh.positions.push(position);
        Ok(())
    }

    /// The material of the triangles to come.
    fn material(&mut self, name: &str) -> Result<(), Fault> {
        let Materials { names, numbers, runs } = &mut self.materials;
        let number = match numbers.get(name) {
            Some(&number) => number,
            None => {
                let number = u16::try_from(names.len()).map_err(|_| too_many("materials", MAX_MATERIALS))?;
                names.push(name.to_owned());
                numbers.insert(name.to_owned(), number);
                number
            }
        };
        runs.push((self.mesh.triangles.len(), number));
        Ok(())
    }

    /// The mesh with the materials that it uses.
    fn scene(mut self) -> Result<MaterialMesh, Fault> {
        let count = self.mesh.triangles.len();
        let starts_late = self.materials.runs.first().is_none_or(|run| run.0 > 0);
        if count > 0 && starts_late {
            self.material(DEFAULT_MATERIAL)?;
            self.materials.runs.rotate_right(1);
            self.materials.runs[0].0 = 0;
        }
        let Materials { names, runs, .. } = self.materials;
        let mut scene = MaterialMesh { mesh: self.mesh, names: Vec::new(), of_triangle: Vec::with_capacity(count) };
        let mut kept = vec![None; names.len()];
        let ends = runs.iter().skip(1).map(|run| run.0).chain([count]);
        for (&(from, name), to) in runs.iter().zip(ends).filter(|((from, _), to)| from < to) {
            let name = usize::from(name);
            let number = *kept[name].get_or_insert_with(|| {
                scene.names.push(names[name].clone());
                (scene.names.len() - 1) as u16
            });
            scene.of_triangle.extend(std::iter::repeat_n(number, to - from));
        }
        Ok(scene)
    }

    fn triangle(&mut self, triangle: [u32; 3]) -> Result<(), Fault> {
        if self.mesh.triangles.len() >= MAX_TRIANGLES {
            return Err(too_many("triangles", MAX_TRIANGLES));
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
