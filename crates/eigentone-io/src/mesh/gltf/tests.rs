use super::*;
use eigentone_core::{TriMesh, Vec3};
use serde_json::{Value, json};

/// A triangle (0,0,0) (1,0,0) (0,1,0) and a fourth vertex (1,1,0), then indices in three widths, as one buffer.
fn buffer() -> Vec<u8> {
    let mut bytes = Vec::new();
    for x in [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0] {
        bytes.extend(x.to_le_bytes());
    }
    bytes.extend([0u8, 1, 2, 3]); // byte 48
    bytes.extend([0u16, 1, 2, 3].iter().flat_map(|v| v.to_le_bytes())); // byte 52
    bytes.extend([0u32, 1, 2, 3].iter().flat_map(|v| v.to_le_bytes())); // byte 60
    bytes
}

fn document() -> Value {
    let bytes = buffer();
    json!({
        "asset": { "version": "2.0" },
        "buffers": [{ "byteLength": bytes.len(), "uri": format!("data:application/octet-stream;base64,{}", base64::encode(&bytes)) }],
        "bufferViews": [
            { "buffer": 0, "byteLength": 48 },
            { "buffer": 0, "byteOffset": 48, "byteLength": 28 },
        ],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4 },
            { "bufferView": 1, "byteOffset": 0, "componentType": 5121, "type": "SCALAR", "count": 4 },
            { "bufferView": 1, "byteOffset": 4, "componentType": 5123, "type": "SCALAR", "count": 4 },
            { "bufferView": 1, "byteOffset": 12, "componentType": 5125, "type": "SCALAR", "count": 4 },
        ],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1, "mode": 5 }] }],
        "nodes": [{ "mesh": 0 }],
        "scenes": [{ "nodes": [0] }],
        "scene": 0,
    })
}

fn read(document: &Value) -> Result<TriMesh, String> {
    scene(document).map(|scene| scene.mesh)
}

fn scene(document: &Value) -> Result<MaterialMesh, String> {
    parse_json(document.to_string().as_bytes(), None).map_err(|f| f.in_file("x.gltf".as_ref()).to_string())
}

#[test]
fn primitives_keep_the_names_of_their_materials() {
    let mut document = document();
    let primitive = |material: Value| json!({ "attributes": { "POSITION": 0 }, "material": material });
    let primitives = [json!(1), Value::Null, json!(0), json!(2), json!(1)].map(primitive);
    document["meshes"][0]["primitives"] = json!(primitives);
    document["materials"] = json!([{ "name": "Oak" }, { "name": "Brick.001" }, {}, { "name": "unused" }]);
    let found = scene(&document).unwrap();
    assert_eq!(found.names, ["Brick.001", "default", "Oak", "material 2"]);
    assert_eq!(found.of_triangle, [0, 1, 2, 3, 0]);
    document["meshes"][0]["primitives"][0]["material"] = json!(9);
    assert_eq!(scene(&document).unwrap().names[0], "material 9");
}

#[test]
fn every_index_width_and_none_give_the_same_strip() {
    let mut document = document();
    for indices in [json!(1), json!(2), json!(3), Value::Null] {
        document["meshes"][0]["primitives"][0]["indices"] = indices;
        assert_eq!(read(&document).unwrap().triangles, [[0, 1, 2], [2, 1, 3]]);
    }
}

#[test]
fn modes_other_than_triangles_are_cut_or_passed_over() {
    let mut document = document();
    let mode = |document: &mut Value, mode: u32| {
        document["meshes"][0]["primitives"][0]["mode"] = json!(mode);
        read(document).unwrap().triangles
    };
    assert_eq!(mode(&mut document, 6), [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mode(&mut document, 4), [[0, 1, 2]]);
    assert!(mode(&mut document, 1).is_empty());
}

#[test]
fn transforms_add_up_along_the_tree_and_mirrors_turn_triangles_round() {
    let mut document = document();
    let half = 0.5f64.sqrt();
    document["nodes"] = json!([
        { "children": [1], "translation": [10, 0, 0], "rotation": [0, 0, half, half] },
        { "mesh": 0, "scale": [2, 2, -2] },
    ]);
    let mesh = read(&document).unwrap();
    // (1,0,0) is doubled, turned a quarter about the file's z and moved along x; then its y becomes our z.
    assert!((mesh.positions[1] - Vec3::new(10.0, 0.0, 2.0)).length() < 1e-12);
    assert_eq!(mesh.triangles[0], [0, 2, 1]);
    document["nodes"] = json!([{ "mesh": 0, "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 5,6,7,1] }]);
    assert_eq!(read(&document).unwrap().positions[0], Vec3::new(5.0, -7.0, 6.0));
}

/// Up is y in glTF and z here; what faces the viewer, +z there, faces −y here. A turn, so that triangles keep their sides.
#[test]
fn up_is_z() {
    let mut document = document();
    let turned = |nodes: Value, document: &mut Value| {
        document["nodes"] = nodes;
        read(document).unwrap()
    };
    let mesh = turned(json!([{ "mesh": 0 }]), &mut document);
    assert_eq!(mesh.positions[1..3], [Vec3::X, Vec3::Z]);
    assert_eq!(mesh.area_normal(0), -Vec3::Y);
    let front = turned(json!([{ "mesh": 0, "translation": [0, 0, 3] }]), &mut document);
    assert_eq!(front.positions[0], Vec3::new(0.0, -3.0, 0.0));
}

/// The same mesh at two nodes, and thrice at another one by its table of copies, each where its rows say.
#[test]
fn copies_of_a_mesh_stand_where_they_are_placed() {
    let mut document = document();
    // Rows of x, y and z: (0,0,0), (1,0,0), (0,1,0), which are the first three vertices.
    document["accessors"].as_array_mut().unwrap().extend([
        json!({ "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3 }),
        json!({ "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4 }),
    ]);
    let copies = |accessor: usize| json!({ "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": accessor } } });
    document["scenes"][0]["nodes"] = json!([0, 1, 2]);
    document["nodes"] = json!([
        { "mesh": 0 },
        { "mesh": 0, "translation": [0, 0, -5] },
        { "mesh": 0, "scale": [2, 2, 2], "extensions": copies(4) },
    ]);
    document["extensionsRequired"] = json!(["EXT_mesh_gpu_instancing"]);
    let mesh = read(&document).unwrap();
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (20, 10));
    let first: Vec<Vec3> = mesh.positions.iter().step_by(4).copied().collect();
    assert_eq!(first, [Vec3::ZERO, 5.0 * Vec3::Y, Vec3::ZERO, 2.0 * Vec3::X, 2.0 * Vec3::Z]);
    assert_eq!(mesh.triangles[8], [16, 17, 18]);

    document["nodes"][2]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["SCALE"] = json!(5);
    assert!(read(&document).unwrap_err().contains("node 2: expected as many rows of each attribute"));
    // Copies of nothing are not free.
    document["accessors"][4] = json!({ "componentType": 5126, "type": "VEC3", "count": 1 << 20 });
    document["nodes"][2]["extensions"] = copies(4);
    assert!(read(&document).unwrap_err().contains("node 2: expected at most 1048576 placed meshes"));
}

#[test]
fn without_a_scene_roots_are_shown_and_without_nodes_meshes() {
    let mut document = document();
    for key in ["scene", "scenes"] {
        document.as_object_mut().unwrap().remove(key);
    }
    document["nodes"] = json!([{ "mesh": 0 }, { "children": [0] }]);
    assert_eq!(read(&document).unwrap().triangles.len(), 2);
    document.as_object_mut().unwrap().remove("nodes");
    assert_eq!(read(&document).unwrap().triangles.len(), 2);
}

#[test]
fn cycles_and_shared_children_are_refused() {
    let mut document = document();
    for nodes in [json!([{ "children": [0] }]), json!([{ "children": [1, 2] }, { "children": [2] }, { "mesh": 0 }])] {
        document["nodes"] = nodes;
        assert!(read(&document).unwrap_err().contains("a node with one parent"));
    }
}

#[test]
fn sparse_accessors_replace_zeros() {
    let mut document = document();
    document["accessors"][0] = json!({
        "componentType": 5126, "type": "VEC3", "count": 4,
        "sparse": {
            "count": 3,
            "indices": { "bufferView": 1, "byteOffset": 1, "componentType": 5121 },
            "values": { "bufferView": 0, "byteOffset": 12 },
        },
    });
    let plain = read(&self::document()).unwrap();
    assert_eq!(read(&document).unwrap(), plain);
    document["accessors"][0].as_object_mut().unwrap().remove("sparse");
    assert_eq!(read(&document).unwrap().positions, [Vec3::ZERO; 4]);
    document["accessors"][0]["count"] = json!(4_000_000_000u32);
    assert!(read(&document).unwrap_err().contains("without a buffer view"));
}

#[test]
fn quantised_positions_are_scaled() {
    let mut document = document();
    document["accessors"][0] =
        json!({ "bufferView": 1, "componentType": 5121, "normalized": true, "type": "VEC3", "count": 4 });
    document["bufferViews"][1]["byteStride"] = json!(4);
    document["meshes"][0]["primitives"][0]["indices"] = Value::Null;
    assert_eq!(read(&document).unwrap().positions[0], Vec3::new(0.0, -2.0, 1.0) / 255.0);
}

#[test]
fn what_does_not_fit_is_named() {
    let cases: [(&str, Value, &str); 12] = [
        ("/asset/version", json!("1.0"), "is in format glTF “1.0”, but this engine reads glTF 2.x"),
        ("/scene", json!(3), "scene 3: expected a scene below 1"),
        ("/scenes/0/nodes", json!([7]), "node 7: expected a node below 1"),
        ("/nodes/0/mesh", json!(1), "mesh 1: expected a mesh below 1"),
        ("/accessors/0/count", json!(5), "accessor 0: expected 5 elements of 12 bytes within buffer view 0"),
        ("/accessors/0/byteOffset", json!(u64::MAX), "accessor 0: expected 4 elements"),
        ("/accessors/0/type", json!("VEC2"), "accessor 0: expected type VEC3, found “VEC2”"),
        ("/accessors/1/componentType", json!(5126), "accessor 1: expected a component type for SCALAR"),
        ("/accessors/1/byteOffset", json!(4), "expected vertices"),
        ("/bufferViews/0/byteLength", json!(4000), "buffer view 0: expected a range within the 76 bytes of buffer 0"),
        ("/buffers/0/byteLength", json!(77), "buffer 0: expected 77 bytes, found 76 bytes"),
        ("/buffers/0/uri", json!("data:;base64,!"), "buffer 0: expected base64 data"),
    ];
    for (pointer, value, expected) in cases {
        let mut document = document();
        // An index too high for one vertex alone.
        if expected == "expected vertices" {
            document["accessors"][0]["count"] = json!(1);
        }
        match document.pointer_mut(pointer) {
            Some(slot) => *slot = value,
            None => document["accessors"][0]["byteOffset"] = value,
        }
        let error = read(&document).unwrap_err();
        assert!(error.contains(expected), "{pointer}: {error}");
    }
}

/// A cup, 0.1 m high along the file's y from 0.5 m on, compressed by other programs (glTF-Transform 4.5.1, with the encoders of
/// meshoptimizer and of Draco): within the steps of their grids the same cup.
#[test]
fn compressed_and_quantised_files_hold_the_same_cup() {
    let file = |bytes: &[u8]| parse_glb(bytes, None).map_err(|f| f.in_file("x.glb".as_ref()).to_string()).unwrap();
    let plain = file(include_bytes!("../../../tests/data/cup.glb"));
    let [low, high] = plain.mesh.bounds().unwrap();
    assert!(
        (low - Vec3::new(-0.04, -0.04, 0.5)).length() < 1e-8 && (high - Vec3::new(0.04, 0.04, 0.6)).length() < 1e-8
    );
    let cups: [(&[u8], f64); 3] = [
        (include_bytes!("../../../tests/data/cup-quantized.glb"), 0.05 / 8191.0),
        (include_bytes!("../../../tests/data/cup-meshopt.glb"), 0.05 / 8191.0),
        (include_bytes!("../../../tests/data/cup-draco.glb"), 0.1 / 16383.0),
    ];
    for (bytes, step) in cups {
        let cup = file(bytes);
        assert_eq!(cup.names, ["Ceramic"]);
        assert_eq!((cup.mesh.positions.len(), cup.mesh.triangles.len()), (97, 168));
        assert!(cup.mesh.positions.iter().all(|&p| plain.mesh.positions.iter().any(|q| q.distance(p) < step)));
        assert!((cup.mesh.area() / plain.mesh.area() - 1.0).abs() < 1e-3);
        // The normals of an open surface add up to what its rim says, so that they face the same way.
        let facing = |mesh: &TriMesh| (0..mesh.triangles.len()).map(|t| mesh.area_normal(t)).sum::<Vec3>();
        let (a, b) = (facing(&cup.mesh), facing(&plain.mesh));
        assert!(b.length() > 5e-3 && a.distance(b) < 1e-3 * b.length(), "{a} against {b}");
    }
}

/// Views that name the same compressed bytes again and again cannot ask for more than a file may have.
#[test]
fn what_compressed_views_stand_for_is_limited() {
    let mut document = document();
    document["bufferViews"][0]["extensions"]["EXT_meshopt_compression"] =
        json!({ "buffer": 0, "byteLength": 76, "byteStride": 4, "count": 1u64 << 28, "mode": "ATTRIBUTES" });
    assert!(read(&document).unwrap_err().contains("buffer view 0: expected"));
    document["bufferViews"][0]["extensions"]["EXT_meshopt_compression"]["count"] = json!(u64::MAX);
    assert!(read(&document).unwrap_err().contains("at most 1073741824 bytes in all compressed views"));
}

#[test]
fn external_buffers_stay_in_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let file = inner.join("x.gltf");
    std::fs::write(inner.join("my data.bin"), buffer()).unwrap();
    std::fs::write(folder.path().join("data.bin"), buffer()).unwrap();
    let mut document = document();
    let mut read = |uri: &str| {
        document["buffers"][0]["uri"] = json!(uri);
        parse_json(document.to_string().as_bytes(), Some(&file)).map_err(|f| f.in_file(&file).to_string())
    };
    assert_eq!(read("my%20data.bin").unwrap().mesh.triangles.len(), 2);
    assert!(read("../data.bin").unwrap_err().contains("inside the folder"));
    assert!(read("%2e%2e/data.bin").unwrap_err().contains("inside the folder"));
    assert!(read("https://example.org/data.bin").unwrap_err().contains("is not supported"));
}
