//! Mesh writers: the plainest form of each format.

use crate::{
    atomic::{WriteSeek, write_atomic},
    error::{WriteError, quote},
};
use eigentone_core::{TriMesh, acoustics::MaterialMesh};
use serde_json::json;
use std::{io, path::Path};

/// Writes a mesh as OBJ, with all digits of its coordinates.
///
/// # Errors
/// If a coordinate or index is impossible or the system refuses.
pub fn write_obj(path: &Path, mesh: &TriMesh) -> Result<(), WriteError> {
    write_checked(path, mesh, |w| {
        write_vertices(w, mesh)?;
        mesh.triangles.iter().try_for_each(|t| write_face(w, t))
    })
}

/// Writes a mesh as OBJ with a `usemtl` wherever the material changes. There is no file of materials beside it: names are all there is.
///
/// # Errors
/// If a coordinate, an index or a name is impossible or the system refuses.
pub fn write_material_obj(path: &Path, scene: &MaterialMesh) -> Result<(), WriteError> {
    let impossible = |reason: String| WriteError::Impossible { file: path.to_owned(), reason };
    let (triangles, materials) = (scene.mesh.triangles.len(), scene.of_triangle.len());
    if triangles != materials {
        return Err(impossible(format!("expected a material for each of {triangles} triangles, found {materials}")));
    }
    if let Some(&material) = scene.of_triangle.iter().find(|&&m| usize::from(m) >= scene.names.len()) {
        return Err(impossible(format!("expected a material below {}, found {material}", scene.names.len())));
    }
    // What would be read as the end of the line, a comment, or a continued line.
    let legal = |name: &str| {
        !name.is_empty() && name.trim_ascii() == name && !name.ends_with('\\') && !name.contains(['\n', '\r', '#'])
    };
    if let Some(name) = scene.names.iter().find(|name| !legal(name)) {
        return Err(impossible(format!("expected a name of one line without #, found {}", quote(name.as_bytes()))));
    }
    write_checked(path, &scene.mesh, |w| {
        write_vertices(w, &scene.mesh)?;
        let mut current = None;
        for (triangle, &material) in scene.mesh.triangles.iter().zip(&scene.of_triangle) {
            if current.replace(material) != Some(material) {
                writeln!(w, "usemtl {}", scene.names[usize::from(material)])?;
            }
            write_face(w, triangle)?;
        }
        Ok(())
    })
}

fn write_vertices(w: &mut dyn WriteSeek, mesh: &TriMesh) -> io::Result<()> {
    mesh.positions.iter().try_for_each(|p| writeln!(w, "v {} {} {}", p.x, p.y, p.z))
}

fn write_face(w: &mut dyn WriteSeek, triangle: &[u32; 3]) -> io::Result<()> {
    let [a, b, c] = triangle.map(|v| u64::from(v) + 1);
    writeln!(w, "f {a} {b} {c}")
}

/// Writes a mesh as binary STL, in single precision.
///
/// # Errors
/// If a coordinate or index is impossible or the system refuses.
pub fn write_stl(path: &Path, mesh: &TriMesh) -> Result<(), WriteError> {
    write_checked(path, mesh, |w| {
        w.write_all(&[b' '; 80])?;
        w.write_all(&(mesh.triangles.len() as u32).to_le_bytes())?;
        for t in 0..mesh.triangles.len() {
            let normal = mesh.area_normal(t).normalize_or_zero();
            for p in std::iter::once(normal).chain(mesh.corners(t)) {
                write_floats(w, p.as_vec3().to_array())?;
            }
            w.write_all(&[0; 2])?;
        }
        Ok(())
    })
}

/// Writes a mesh as binary little-endian PLY, in double precision.
///
/// # Errors
/// If a coordinate or index is impossible or the system refuses.
pub fn write_ply(path: &Path, mesh: &TriMesh) -> Result<(), WriteError> {
    write_checked(path, mesh, |w| {
        write!(
            w,
            "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double y\n\
             property double z\nelement face {}\nproperty list uchar uint vertex_indices\nend_header\n",
            mesh.positions.len(),
            mesh.triangles.len()
        )?;
        for x in mesh.positions.iter().flat_map(|p| p.to_array()) {
            w.write_all(&x.to_le_bytes())?;
        }
        for triangle in &mesh.triangles {
            w.write_all(&[3])?;
            write_indices(w, triangle)?;
        }
        Ok(())
    })
}

/// Writes a mesh as `.glb`, in single precision. Its node turns the z up of the mesh to the y up of the format.
///
/// # Errors
/// If a coordinate or index is impossible or the system refuses.
pub fn write_glb(path: &Path, mesh: &TriMesh) -> Result<(), WriteError> {
    let (positions, indices) = (12 * mesh.positions.len(), 12 * mesh.triangles.len());
    let bounds = mesh.bounds().unwrap_or_default().map(|p| p.as_vec3().to_array());
    let document = json!({
        "asset": { "version": "2.0", "generator": concat!("eigentone ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0, "matrix": [1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1] }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": mesh.positions.len(),
              "min": bounds[0], "max": bounds[1] },
            { "bufferView": 1, "componentType": 5125, "type": "SCALAR", "count": 3 * mesh.triangles.len() },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": positions, "target": 34962 },
            { "buffer": 0, "byteOffset": positions, "byteLength": indices, "target": 34963 },
        ],
        "buffers": [{ "byteLength": positions + indices }],
    });
    let mut json = document.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let length = 12 + 8 + json.len() + 8 + positions + indices;
    let reason = "a .glb holds at most 4 GiB".to_owned();
    let length = u32::try_from(length).map_err(|_| WriteError::Impossible { file: path.to_owned(), reason })?;
    write_checked(path, mesh, |w| {
        w.write_all(b"glTF")?;
        write_indices(w, &[2, length, json.len() as u32])?;
        w.write_all(b"JSON")?;
        w.write_all(&json)?;
        write_indices(w, &[(positions + indices) as u32])?;
        w.write_all(b"BIN\0")?;
        for p in &mesh.positions {
            write_floats(w, p.as_vec3().to_array())?;
        }
        mesh.triangles.iter().try_for_each(|t| write_indices(w, t))
    })
}

fn write_checked(
    path: &Path,
    mesh: &TriMesh,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> Result<(), WriteError> {
    mesh.check().map_err(|e| WriteError::Impossible { file: path.to_owned(), reason: e.to_string() })?;
    write_atomic(path, content)
}

fn write_floats(w: &mut dyn WriteSeek, floats: [f32; 3]) -> io::Result<()> {
    floats.iter().try_for_each(|x| w.write_all(&x.to_le_bytes()))
}

fn write_indices(w: &mut dyn WriteSeek, indices: &[u32]) -> io::Result<()> {
    indices.iter().try_for_each(|v| w.write_all(&v.to_le_bytes()))
}
