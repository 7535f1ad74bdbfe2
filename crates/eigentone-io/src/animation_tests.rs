use super::*;

fn tetrahedron() -> AnimatedMesh {
    AnimatedMesh {
        name: "drop".to_owned(),
        color: [0.5; 3],
        positions: vec![[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.0, 0.1, 1.0], [0.0, 0.0, 1.1]],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        moves: true,
    }
}

#[test]
fn memory_does_not_grow_with_frames() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = AnimationWriter::create(&folder.path().join("a.glb"), &[tetrahedron()], 60.0).unwrap();
    writer.frame(&[&tetrahedron().positions]).unwrap();
    let after_one = writer.memory_bytes();
    for _ in 0..5000 {
        writer.frame(&[&tetrahedron().positions]).unwrap();
    }
    assert_eq!(writer.memory_bytes(), after_one);
    let nameless = std::fs::read_dir(folder.path()).unwrap().count();
    if cfg!(unix) {
        assert_eq!(nameless, 0);
    }
    writer.finish().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_bad_frame_names_its_mesh_and_number_and_leaves_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = AnimationWriter::create(&folder.path().join("a.glb"), &[tetrahedron()], 60.0).unwrap();
    let good = tetrahedron().positions;
    writer.frame(&[&good]).unwrap();
    let mut bad = good.clone();
    bad[2][1] = f32::NAN;
    let error = writer.frame(&[&bad]).unwrap_err().to_string();
    assert!(error.ends_with("expected finite numbers, found NaN at vertex 2 of mesh “drop” in frame 1"), "{error}");
    bad[2][1] = -2e6;
    let error = writer.frame(&[&bad]).unwrap_err().to_string();
    assert!(error.contains("within 1e6 m, found -2000000 at vertex 2"), "{error}");
    let error = writer.frame(&[&good[..3]]).unwrap_err().to_string();
    assert!(error.ends_with("frame 1: expected 4 vertices of mesh “drop”, found 3"), "{error}");
    let error = writer.frame(&[]).unwrap_err().to_string();
    assert!(error.ends_with("frame 1: expected 1 moving meshes, found 0"), "{error}");
    writer.frame(&[&good]).unwrap();
    let recorded = writer.finish().unwrap();
    assert_eq!(recorded.frames, 2);
    assert_eq!(recorded.read_frame(0, 1).unwrap(), good);
    assert!(recorded.read_frame(0, 2).unwrap_err().to_string().ends_with("expected a frame below 2, found 2"));
    assert!(recorded.read_frame(1, 0).unwrap_err().to_string().ends_with("expected a mesh below 1, found 1"));
}

#[test]
fn meshes_that_contradict_themselves_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = |name: &str, mesh: AnimatedMesh, rate: f64| {
        let result = AnimationWriter::create(&folder.path().join(name), &[mesh], rate);
        result.err().expect("an error").to_string()
    };
    let empty = AnimatedMesh { positions: Vec::new(), ..tetrahedron() };
    assert!(refuse("a.glb", empty, 60.0).ends_with("mesh “drop” is empty: leave it out"));
    let bare = AnimatedMesh { triangles: Vec::new(), ..tetrahedron() };
    assert!(refuse("a.glb", bare, 60.0).ends_with("mesh “drop” is empty: leave it out"));
    let wrong = AnimatedMesh { triangles: vec![[0, 1, 4]], ..tetrahedron() };
    assert!(refuse("a.glb", wrong, 60.0).ends_with("expected corners below 4, found 4"));
    let mut infinite = tetrahedron();
    infinite.positions[0][0] = f32::INFINITY;
    assert!(refuse("a.glb", infinite, 60.0).ends_with("found inf at vertex 0 of mesh “drop” at rest"));
    assert!(refuse("a.glb", AnimatedMesh { color: [2.0; 3], ..tetrahedron() }, 60.0).contains("a colour of 0 to 1"));
    assert!(refuse("a.mp4", tetrahedron(), 60.0).ends_with("expected a name that ends in .glb or .gltf"));
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refuse("a.glb", tetrahedron(), rate).contains("frames per second above zero"));
    }
}
