//! Valid files of every format, as bytes, for the tests that damage them and for the seeds of the fuzzers.
#![allow(dead_code)]

pub mod rooms;

use eigentone_core::{
    DiffuseBand, Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface, TriMesh, Vec3, mesh::primitives,
};
use eigentone_io::{
    AudioBuffer, MeshFormat, SampleFormat, TableFormat, mode_rows, model_bytes, modes_text, read_audio_bytes,
    read_field_bytes, read_mesh_bytes, read_model_bytes, read_modes_bytes, read_tet_bytes, write_glb, write_obj,
    write_ply, write_stl, write_wav,
};
use std::path::Path;

/// What a reader made of some bytes: nothing, or the message of its error.
pub type Outcome = Result<(), String>;

/// A valid file and its reader.
pub struct Sample {
    pub name: &'static str,
    /// The fuzz target that reads it.
    pub target: &'static str,
    pub bytes: Vec<u8>,
    /// Whether losing the end must be noticed wherever it happens.
    pub notices_truncation: bool,
    pub read: fn(&[u8]) -> Outcome,
}

pub fn mesh() -> TriMesh {
    primitives::cuboid(Vec3::new(0.25, 0.5, 1.0), [1, 2, 1])
}

pub fn model() -> ModalModel {
    let mesh = mesh();
    let mut info = ModelInfo::new("box “ä”", Method::Shell, "steel");
    info.source_hash = "0123abcd".to_owned();
    info.mass_kg = Some(1.25);
    info.warnings = vec!["thin \"walls\"".to_owned(), "open edge".to_owned()];
    ModalModel {
        info,
        modes: (1..=4)
            .map(|n| Mode { frequency_hz: 110.7 * f64::from(n), decay_per_s: 0.3 * f64::from(n), output_gain: 2.5 })
            .collect(),
        shapes: ShapeTable::from_fn(mesh.positions.len(), 4, |s, n| Vec3::new(0.1, s as f64, n as f64 - 1.5) * 0.37),
        surface: Surface::from_mesh(&mesh),
        diffuse: vec![DiffuseBand { low_hz: 2000.0, high_hz: 4000.0, gain: 0.01, t60_s: 0.2 }],
    }
}

pub fn audio() -> AudioBuffer {
    let channel = |step: usize| (0..200).map(|t| ((t * step) % 64) as f32 / 64.0 - 0.5).collect();
    AudioBuffer { sample_rate_hz: 44_100, channels: vec![channel(3), channel(5)] }
}

fn written(write: impl FnOnce(&Path)) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write(&path);
    std::fs::read(path).unwrap()
}

fn outcome<T>(result: Result<T, eigentone_io::ReadError>) -> Outcome {
    result.map(|_| ()).map_err(|e| format!("{e} {:?}", e.hint()))
}

/// Reads a mesh and repairs it, as every caller does.
fn mesh_outcome(format: MeshFormat, bytes: &[u8]) -> Outcome {
    let mut mesh = read_mesh_bytes(format, bytes, None).map_err(|e| e.to_string())?;
    mesh.repair().map(|_| ()).map_err(|e| e.to_string())
}

const STL_TEXT: &str = "solid a b\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n\
    endfacet\nendsolid a b\n";

const PLY_HEADER: &str = "comment x\nelement vertex 4\nproperty uchar red\nproperty double z\nproperty short x\n\
    property float y\nelement extra 1\nproperty list uchar int tags\nelement face 1\nproperty uchar flags\n\
    property list uchar ushort vertex_index\nend_header\n";

fn ply_big_endian() -> Vec<u8> {
    let mut file = format!("ply\nformat binary_big_endian 1.0\n{PLY_HEADER}").into_bytes();
    for [x, y] in [[0i16, 0], [1, 0], [1, 1], [0, 1]] {
        file.push(255);
        file.extend(0.5f64.to_be_bytes());
        file.extend(x.to_be_bytes());
        file.extend(f32::from(y).to_be_bytes());
    }
    file.extend([2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 4]);
    file.extend((0..4u16).flat_map(u16::to_be_bytes));
    file
}

fn ply_text() -> Vec<u8> {
    let rows = "255 0.5 0 0\n255 0.5 1 0\n255 0.5 1 1\n255 0.5 0 1\n2 1 2\n0 4 0 1 2 3\n";
    format!("ply\nformat ascii 1.0\n{PLY_HEADER}{rows}").into_bytes()
}

/// A strip with a transform, a data URI and a sparse accessor.
const GLTF: &str = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
"nodes":[{"children":[1],"translation":[1,2,3],"rotation":[0,0,0.6,0.8]},{"mesh":0,"scale":[2,2,-2]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":5},{"attributes":{"POSITION":1},"mode":4}]}],
"accessors":[{"bufferView":0,"componentType":5126,"type":"VEC3","count":3},
{"componentType":5126,"type":"VEC3","count":3,"sparse":{"count":3,
"indices":{"bufferView":1,"componentType":5121},"values":{"bufferView":0}}}],
"bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":4}],
"buffers":[{"byteLength":40,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAECAw=="}]}"#;

const OFF: &str = "COFF # colours\n4 2 0\n0 0 0 255 0 0 255\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 2 0.5 0.5 0.5\n";

const TET: &str =
    "# points\n5 3 0 1\n1 0 0 0 1\n2 1 0 0 1\n3 0 1 0 1\n4 0 0 1 1\n5 1 1 1 1\n---\n2 4 0\n1 1 2 3 4\n2 2 3 4 5\n";

/// Both files of a pair in one, apart by a line of dashes.
pub fn read_tet_pair(bytes: &[u8]) -> Outcome {
    let mark = b"---\n";
    let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap_or(bytes.len());
    outcome(read_tet_bytes(&bytes[..at], bytes.get(at + mark.len()..).unwrap_or_default()))
}

/// A valid file of every format.
pub fn samples() -> Vec<Sample> {
    let rows = mode_rows(&model());
    let sample =
        |name, target, bytes, notices_truncation, read| Sample { name, target, bytes, notices_truncation, read };
    let wav = |format| written(|p| write_wav(p, &audio(), format).unwrap());
    vec![
        sample("box.obj", "mesh_obj", written(|p| write_obj(p, &mesh()).unwrap()), false, |b| {
            mesh_outcome(MeshFormat::Obj, b)
        }),
        sample("box.stl", "mesh_stl", written(|p| write_stl(p, &mesh()).unwrap()), true, |b| {
            mesh_outcome(MeshFormat::Stl, b)
        }),
        sample("text.stl", "mesh_stl", STL_TEXT.into(), false, |b| mesh_outcome(MeshFormat::Stl, b)),
        sample("box.ply", "mesh_ply", written(|p| write_ply(p, &mesh()).unwrap()), true, |b| {
            mesh_outcome(MeshFormat::Ply, b)
        }),
        sample("big.ply", "mesh_ply", ply_big_endian(), true, |b| mesh_outcome(MeshFormat::Ply, b)),
        sample("text.ply", "mesh_ply", ply_text(), false, |b| mesh_outcome(MeshFormat::Ply, b)),
        sample("box.glb", "mesh_gltf", written(|p| write_glb(p, &mesh()).unwrap()), true, |b| {
            mesh_outcome(MeshFormat::Glb, b)
        }),
        sample("strip.gltf", "mesh_gltf", GLTF.into(), true, |b| mesh_outcome(MeshFormat::Gltf, b)),
        sample("cup-meshopt.glb", "mesh_gltf", include_bytes!("../data/cup-meshopt.glb").to_vec(), true, |b| {
            mesh_outcome(MeshFormat::Glb, b)
        }),
        sample("cup-draco.glb", "mesh_gltf", include_bytes!("../data/cup-draco.glb").to_vec(), true, |b| {
            mesh_outcome(MeshFormat::Glb, b)
        }),
        sample("box.off", "mesh_off", OFF.into(), false, |b| mesh_outcome(MeshFormat::Off, b)),
        sample("pair.tet", "tet", TET.into(), false, read_tet_pair),
        sample("box.modal.safetensors", "model", model_bytes(&model()), true, |b| outcome(read_model_bytes(b))),
        sample("rooms.field.safetensors", "field", rooms::small_file(), true, |b| outcome(read_field_bytes(b))),
        sample("modes.csv", "modes", modes_text(TableFormat::Csv, &rows).into(), false, |b| {
            outcome(read_modes_bytes(TableFormat::Csv, b))
        }),
        sample("modes.json", "modes", modes_text(TableFormat::Json, &rows).into(), false, |b| {
            outcome(read_modes_bytes(TableFormat::Json, b))
        }),
        sample("pcm16.wav", "audio", wav(SampleFormat::Pcm16), true, |b| outcome(read_audio_bytes(b))),
        sample("pcm24.wav", "audio", wav(SampleFormat::Pcm24), true, |b| outcome(read_audio_bytes(b))),
        sample("float.wav", "audio", wav(SampleFormat::Float32), true, |b| outcome(read_audio_bytes(b))),
        sample("steps.flac", "audio", include_bytes!("../data/steps.flac").to_vec(), true, |b| {
            outcome(read_audio_bytes(b))
        }),
    ]
}
