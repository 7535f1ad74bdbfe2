//! Animations read back by an independent reader, and compared with the motion they were made from.

#[path = "common/jelly.rs"]
mod jelly;

use eigentone_io::{AnimatedMesh, AnimationWriter, Recorded};
use glam::{Mat4, Quat, Vec3};
use gltf::animation::util::ReadOutputs;
use std::path::Path;

const FRAMES: usize = 120;

fn record(path: &Path, meshes: &[AnimatedMesh], frames: usize) -> Recorded {
    let mut writer = AnimationWriter::create(path, meshes, jelly::FRAMES_PER_S).unwrap();
    for frame in 0..frames {
        let positions = jelly::frame(meshes, frame);
        writer.frame(&positions.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    }
    writer.finish().unwrap()
}

fn glb(path: &Path) -> (gltf::Document, Vec<u8>) {
    let file = gltf::Gltf::from_slice(&std::fs::read(path).unwrap()).unwrap();
    (file.document, file.blob.unwrap_or_default())
}

/// Everything that moves a node.
#[derive(Default)]
struct Tracks {
    times: Vec<f32>,
    translations: Vec<[f32; 3]>,
    rotations: Vec<[f32; 4]>,
    weights: Vec<f32>,
}

fn tracks(document: &gltf::Document, data: &[u8], node: usize) -> Tracks {
    let mut found = Tracks::default();
    let animation = document.animations().next().unwrap();
    for channel in animation.channels().filter(|c| c.target().node().index() == node) {
        let reader = channel.reader(|_| Some(data));
        found.times = reader.read_inputs().unwrap().collect();
        match reader.read_outputs().unwrap() {
            ReadOutputs::Translations(t) => found.translations = t.collect(),
            ReadOutputs::Rotations(r) => found.rotations = r.into_f32().collect(),
            ReadOutputs::MorphTargetWeights(w) => found.weights = w.into_f32().collect(),
            ReadOutputs::Scales(_) => panic!("bodies do not scale"),
        }
    }
    found
}

/// What a viewer shows of a node in a frame, z up again.
fn shown(node: &gltf::Node<'_>, data: &[u8], tracks: &Tracks, frame: usize) -> Vec<Vec3> {
    let primitive = node.mesh().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(|_| Some(data));
    let mut positions: Vec<Vec3> = reader.read_positions().unwrap().map(Vec3::from_array).collect();
    let targets: Vec<Vec<[f32; 3]>> = reader.read_morph_targets().map(|(p, ..)| p.unwrap().collect()).collect();
    for (target, weight) in targets.iter().zip(&tracks.weights[frame * targets.len()..]) {
        positions.iter_mut().zip(target).for_each(|(p, d)| *p += *weight * Vec3::from_array(*d));
    }
    let rotation = Quat::from_array(tracks.rotations[frame]);
    assert!((rotation.length() - 1.0).abs() < 1e-5);
    let local = Mat4::from_rotation_translation(rotation, Vec3::from_array(tracks.translations[frame]));
    positions.iter().map(|&p| local.transform_point3(p)).collect()
}

#[test]
fn a_viewer_shows_each_frame_within_the_error_that_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jelly.glb");
    let meshes = jelly::meshes();
    let recorded = record(&path, &meshes, FRAMES);
    let (document, data) = glb(&path);
    let root = document.default_scene().unwrap().nodes().next().unwrap();
    let (_, turn, _) = root.transform().decomposed();
    assert!((Quat::from_array(turn) * Vec3::Z).distance(Vec3::Y) < 1e-6, "z must point up");
    let children: Vec<_> = root.children().collect();
    assert_eq!(children.iter().map(|n| n.name().unwrap()).collect::<Vec<_>>(), ["jelly cube", "table", "ball"]);
    let mut worst = 0f32;
    for (body, fit) in recorded.bodies.iter().enumerate() {
        let node = &children[fit.mesh];
        let tracks = tracks(&document, &data, node.index());
        assert_eq!((tracks.times.len(), tracks.times[0]), (FRAMES, 0.0));
        assert!((tracks.times[FRAMES - 1] - 119.0 / 60.0).abs() < 1e-6);
        for pair in tracks.rotations.windows(2) {
            assert!(Quat::from_array(pair[0]).dot(Quat::from_array(pair[1])) > 0.0, "the short way round");
        }
        assert!(tracks.weights.iter().all(|w| (0.0..=1.0).contains(w)), "Blender holds them there");
        for frame in 0..FRAMES {
            let truth = &jelly::frame(&meshes, frame)[body];
            for (seen, &p) in shown(node, &data, &tracks, frame).iter().zip(truth) {
                worst = worst.max(seen.distance(Vec3::from_array(p)));
            }
        }
        assert!(fit.error_m <= fit.tolerance_m && (1..=48).contains(&fit.targets), "{fit:?}");
    }
    assert!((f64::from(worst) - recorded.error_m).abs() < 1e-6, "{worst} against {}", recorded.error_m);
}

/// The cube deforms in three ways only, and turns rigidly: so many shapes, and hardly any error, are enough.
#[test]
fn a_body_with_three_ways_to_deform_needs_few_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = record(&folder.path().join("jelly.glb"), &jelly::meshes(), 600);
    assert!(recorded.bodies[0].targets <= 5, "{recorded:?}");
}

#[test]
fn frames_come_back_exactly_and_as_a_point_cache() {
    let folder = tempfile::tempdir().unwrap();
    let meshes = jelly::meshes();
    let recorded = record(&folder.path().join("jelly.glb"), &meshes, 10);
    assert_eq!(recorded.read_frame(2, 7).unwrap(), jelly::frame(&meshes, 7)[1]);
    assert_eq!(recorded.read_frame(1, 7).unwrap(), meshes[1].positions);
    let path = folder.path().join("ball.pc2");
    recorded.write_point_cache(2, &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let vertices = meshes[2].positions.len();
    assert_eq!(bytes.len(), 32 + 10 * vertices * 12);
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    let word = |at: usize| <[u8; 4]>::try_from(&bytes[at..at + 4]).unwrap();
    assert_eq!([word(12), word(16), word(28)].map(i32::from_le_bytes), [1, vertices as i32, 10]);
    assert_eq!([word(20), word(24)].map(f32::from_le_bytes), [0.0, 1.0]);
    let y = f32::from_le_bytes(word(32 + (7 * vertices + 5) * 12 + 4));
    assert_eq!(y, jelly::frame(&meshes, 7)[1][5][1]);
    let error = recorded.write_point_cache(1, &path).unwrap_err().to_string();
    assert!(error.ends_with("ball.pc2: not written: mesh “table” does not move"), "{error}");
}

#[test]
fn few_frames_and_still_lives_are_valid_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jelly.glb");
    let meshes = jelly::meshes();
    for frames in 0..2 {
        let recorded = record(&path, &meshes, frames);
        let (document, data) = glb(&path);
        assert_eq!((recorded.frames, document.animations().count(), document.meshes().count()), (frames, 0, 3));
        // It is where its only frame, or its rest shape, has it.
        let node = document.nodes().next().unwrap();
        let (translation, rotation, _) = node.transform().decomposed();
        let weights = node.mesh().unwrap().weights().unwrap_or_default().to_vec();
        let tracks = Tracks { translations: vec![translation], rotations: vec![rotation], weights, times: vec![0.0] };
        let truth = if frames == 1 { jelly::frame(&meshes, 0)[0].clone() } else { meshes[0].positions.clone() };
        for (seen, p) in shown(&node, &data, &tracks, 0).iter().zip(truth) {
            assert!(seen.distance(Vec3::from_array(p)) < 1e-3);
        }
    }
    let still: Vec<AnimatedMesh> = meshes.into_iter().filter(|m| !m.moves).collect();
    let mut writer = AnimationWriter::create(&path, &still, 60.0).unwrap();
    writer.frame(&[]).unwrap();
    assert_eq!(writer.finish().unwrap().error_m, 0.0);
    assert_eq!(glb(&path).0.meshes().count(), 1);
    for path in [path, folder.path().join("none.gltf")] {
        AnimationWriter::create(&path, &[], 60.0).unwrap().finish().unwrap();
        assert_eq!(glb(&path).0.meshes().count(), 0);
    }
}

#[test]
fn text_and_binary_hold_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (text, binary) = (folder.path().join("jelly.gltf"), folder.path().join("jelly.glb"));
    record(&text, &jelly::meshes(), 12);
    record(&binary, &jelly::meshes(), 12);
    let mesh = |path: &Path| eigentone_io::read_mesh(path).unwrap();
    assert_eq!(mesh(&text).positions, mesh(&binary).positions);
    let (document, data) = glb(&binary);
    let coded = gltf::Gltf::from_slice(&std::fs::read(&text).unwrap()).unwrap();
    assert_eq!(coded.accessors().count(), document.accessors().count());
    assert_eq!(coded.buffers().next().unwrap().length(), data.len());
}
