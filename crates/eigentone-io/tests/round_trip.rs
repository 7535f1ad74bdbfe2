//! What is written is what is read.

mod common;

use eigentone_core::{ENGINE_VERSION, TriMesh, Vec3, acoustics::MaterialMesh, mesh::primitives};
use eigentone_io::*;
use std::{collections::HashMap, path::Path};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Largest distance between the vertices of two meshes.
fn distance(a: &TriMesh, b: &TriMesh) -> f64 {
    a.positions.iter().zip(&b.positions).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max)
}

#[test]
fn meshes_come_back_with_their_triangles() {
    let mesh = primitives::bell(0.1, 0.12, 24, 12);
    let folder = folder();
    type Write = fn(&Path, &TriMesh) -> Result<(), WriteError>;
    let writers: [(&str, Write, f64); 4] =
        [("a.obj", write_obj, 0.0), ("a.ply", write_ply, 0.0), ("a.glb", write_glb, 1e-8), ("a.stl", write_stl, 1e-8)];
    for (name, write, tolerance) in writers {
        let path = folder.path().join(name);
        write(&path, &mesh).unwrap();
        let mut again = read_mesh(&path).unwrap();
        if name == "a.stl" {
            // STL repeats its vertices for every triangle.
            let report = again.repair().unwrap();
            assert_eq!(report.degenerate_triangles, 0);
            assert_eq!((again.positions.len(), again.triangles.len()), (mesh.positions.len(), mesh.triangles.len()));
            assert!((again.area() / mesh.area() - 1.0).abs() < 1e-6);
        } else {
            assert_eq!(again.triangles, mesh.triangles, "{name}");
            assert!(distance(&again, &mesh) <= tolerance, "{name}");
        }
    }
}

#[test]
fn materials_come_back_with_their_triangles() {
    let mut scene = MaterialMesh::of(primitives::plate(1.0, 2.0, 3, 4), "Old Brick.001");
    for name in ["wood", "ß 🧱", "Old Brick.001", "default"] {
        scene.append(&MaterialMesh::of(primitives::cuboid(Vec3::new(0.1, 0.2, 1.0 / 3.0), [1; 3]), name));
    }
    let folder = folder();
    let path = folder.path().join("a.obj");
    write_material_obj(&path, &scene).unwrap();
    assert_eq!(read_material_mesh(&path).unwrap(), scene);
    assert_eq!(read_mesh(&path).unwrap(), scene.mesh);
    for (name, write) in [("a.ply", write_ply as fn(&Path, &TriMesh) -> _), ("a.stl", write_stl), ("a.glb", write_glb)]
    {
        let path = folder.path().join(name);
        write(&path, &scene.mesh).unwrap();
        let again = read_material_mesh(&path).unwrap();
        assert_eq!(again.names, [DEFAULT_MATERIAL], "{name}");
        assert_eq!(again.of_triangle, vec![0; scene.mesh.triangles.len()], "{name}");
    }
    let path = folder.path().join("never.obj");
    for bad in ["", " ", "a\nb", "a#b", "a\\", "a\r"] {
        let mut scene = scene.clone();
        scene.names[1] = bad.to_owned();
        assert!(matches!(write_material_obj(&path, &scene), Err(WriteError::Impossible { .. })), "{bad:?}");
    }
    let mut short = scene.clone();
    short.of_triangle.pop();
    assert!(matches!(write_material_obj(&path, &short), Err(WriteError::Impossible { .. })));
    scene.of_triangle[0] = 99;
    assert!(matches!(write_material_obj(&path, &scene), Err(WriteError::Impossible { .. })));
    assert!(!path.exists());
}

#[test]
fn a_wrong_or_missing_extension_does_not_matter_where_content_is_clear() {
    let folder = folder();
    let path = folder.path().join("mesh.bin");
    let mesh = common::mesh();
    for write in [write_obj, write_ply, write_glb, write_stl] {
        write(&path, &mesh).unwrap();
        assert_eq!(read_mesh(&path).unwrap().triangles.len(), mesh.triangles.len());
    }
    for name in ["mesh.obj", "mesh.stl", "mesh.gltf"] {
        let wrong = folder.path().join(name);
        for write in [write_obj, write_ply, write_glb, write_stl] {
            write(&wrong, &mesh).unwrap();
            assert_eq!(read_mesh(&wrong).unwrap().triangles.len(), mesh.triangles.len(), "{name}");
        }
    }
    std::fs::write(&path, "hello").unwrap();
    let error = read_mesh(&path).unwrap_err();
    assert!(matches!(error, ReadError::UnknownFormat { .. }) && error.hint().is_some());
    assert!(matches!(read_mesh(folder.path()), Err(ReadError::Io { .. })));
    assert_eq!(read_mesh(&folder.path().join("no.obj")).unwrap_err().hint(), Some("check the spelling of the path"));
}

#[test]
fn impossible_coordinates_reach_repair_as_errors() {
    for bad in ["nan", "inf", "1e300"] {
        let text = format!("v 0 0 0\nv 1 0 0\nv 0 {bad} 0\nf 1 2 3\n");
        let mut mesh = read_mesh_bytes(MeshFormat::Obj, text.as_bytes(), None).unwrap();
        mesh.repair().unwrap_err();
    }
    let mut mesh = common::mesh();
    mesh.positions[0] = Vec3::splat(f64::NAN);
    let path = folder().path().join("x.obj");
    assert!(matches!(write_obj(&path, &mesh), Err(WriteError::Impossible { .. })));
    assert!(read_mesh_bytes(MeshFormat::Obj, b"v 0 0 0\n", None).unwrap_err().to_string().contains("without faces"));
}

#[test]
fn a_model_comes_back_exactly_and_its_bytes_are_always_the_same() {
    let model = common::model();
    let folder = folder();
    let path = folder.path().join("box.modal.safetensors");
    write_model(&path, &model).unwrap();
    assert_eq!(read_model(&path).unwrap(), model);
    assert_eq!(std::fs::read(&path).unwrap(), model_bytes(&model));
    assert_eq!(sniff(&path).unwrap(), FileKind::Model);

    let mut silent = model.clone();
    silent.modes.clear();
    silent.shapes = eigentone_core::ShapeTable::default();
    silent.diffuse.clear();
    silent.info.name.clear();
    write_model(&path, &silent).unwrap();
    assert_eq!(read_model(&path).unwrap().info.name, "box");

    let mut bad = model;
    bad.modes[0].decay_per_s = -1.0;
    assert!(matches!(write_model(&path, &bad), Err(WriteError::Model { .. })));
}

/// The reference implementation of the container reads ours, and we read what it writes.
#[test]
fn the_container_is_that_of_the_reference_implementation() {
    let model = common::model();
    let bytes = model_bytes(&model);
    let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = metadata.metadata().clone().unwrap();
    assert_eq!(metadata["format"], "eigentone.modal/1");
    assert_eq!(metadata["engine_version"], ENGINE_VERSION);
    let theirs = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let shape = theirs.tensor("shape").unwrap();
    assert_eq!(shape.shape(), [model.surface.positions.len(), 4, 3]);
    assert_eq!(shape.dtype(), safetensors::Dtype::F16);
    let written = safetensors::serialize(theirs.tensors(), Some(metadata)).unwrap();
    assert_eq!(read_model_bytes(&written).unwrap(), model);
}

fn with_metadata(change: impl FnOnce(&mut HashMap<String, String>)) -> Result<(), String> {
    let bytes = model_bytes(&common::model());
    let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let mut metadata = metadata.metadata().clone().unwrap();
    change(&mut metadata);
    let mut tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap().tensors();
    let extra = safetensors::tensor::TensorView::new(safetensors::Dtype::I16, vec![1], &[0; 2]).unwrap();
    tensors.push(("of_the_future".to_owned(), extra));
    let bytes = safetensors::serialize(tensors, Some(metadata)).unwrap();
    read_model_bytes(&bytes).map(|_| ()).map_err(|e| e.to_string())
}

#[test]
fn versions_and_metadata_are_checked() {
    let set =
        |key: &'static str, value: &'static str| with_metadata(|m| drop(m.insert(key.to_owned(), value.to_owned())));
    set("format", "eigentone.modal/1.9").unwrap();
    set("note", "unknown keys are passed over").unwrap();
    with_metadata(|m| drop(m.remove("mass_kg"))).unwrap();
    for (key, value, expected) in [
        ("format", "eigentone.modal/2", "is in format eigentone.modal/2, but this engine reads eigentone.modal/1"),
        ("format", "eigentone.modal/10", "is in format eigentone.modal/10"),
        ("format", "eigentone.field/1", "expected \"eigentone.modal/1\", found “eigentone.field/1”"),
        ("method", "magic", "expected shell, walls, springs, solid, analytic, fit or manual, found “magic”"),
        ("mass_kg", "heavy", "metadata mass_kg: expected a mass in kilograms"),
        ("tail_from_hz", "high", "metadata tail_from_hz: expected a frequency in hertz"),
        ("warnings", "{}", "metadata warnings: expected a JSON array of strings"),
    ] {
        let error = set(key, value).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    assert!(with_metadata(HashMap::clear).unwrap_err().contains("metadata format: expected"));
}

/// Written with sox from the same numbers, with prediction, entropy coding, a comment block and a checksum.
#[test]
fn flac_is_decoded_to_the_last_bit() {
    let audio = read_audio(Path::new("tests/data/steps.flac")).unwrap();
    assert_eq!((audio.sample_rate_hz, audio.channels.len(), audio.frames()), (8000, 2, 1500));
    for k in 0..1500i64 {
        let expected = [(k * k * 7) % 2001 - 1000, (k % 50) * 300 - 7350].map(|v| v as f32 / 32768.0);
        assert_eq!([audio.channels[0][k as usize], audio.channels[1][k as usize]], expected);
    }
    let mut tagged = b"ID3\x04\0\0\0\0\0\x05hello".to_vec();
    tagged.extend(std::fs::read("tests/data/steps.flac").unwrap());
    assert_eq!(read_audio_bytes(&tagged).unwrap(), audio);
}

#[test]
fn tables_of_modes_come_back_exactly() {
    let rows = mode_rows(&common::model());
    let folder = folder();
    for name in ["modes.csv", "modes.json"] {
        let path = folder.path().join(name);
        write_modes(&path, &rows).unwrap();
        assert_eq!(read_modes(&path).unwrap(), rows);
        assert!(matches!(sniff(&path).unwrap(), FileKind::Modes(_)));
    }
}
