use super::*;
use crate::{AudioBuffer, SampleFormat, base64, write_wav};

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

/// Five frames of a falling body with a name that would end a script, and its sound of as many samples as a frame has.
fn page(folder: &Path) -> (Recorded, String) {
    let body = AnimatedMesh { name: "</script>".to_owned(), ..tetrahedron() };
    let still = AnimatedMesh { moves: false, ..tetrahedron() };
    let mut writer = AnimationWriter::create(&folder.join("a.glb"), &[still, body], 10.0).unwrap();
    for frame in 0..5u8 {
        let fallen: Vec<[f32; 3]> =
            tetrahedron().positions.iter().map(|p| [p[0], p[1], p[2] - 0.05 * f32::from(frame)]).collect();
        writer.frame(&[&fallen]).unwrap();
    }
    let recorded = writer.finish().unwrap();
    let samples = vec![0.0, 0.5, -0.25, 0.125];
    let sound = AudioBuffer { sample_rate_hz: 8, channels: vec![samples] };
    write_wav(&folder.join("a.wav"), &sound, SampleFormat::Pcm24).unwrap();
    recorded.write_player(&folder.join("a.html"), &folder.join("a.wav"), "Glass <1> & \"co\"").unwrap();
    (recorded, std::fs::read_to_string(folder.join("a.html")).unwrap())
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before).unwrap().1.split_once(after).unwrap().0
}

#[test]
fn the_page_holds_sound_and_frames() {
    let folder = tempfile::tempdir().unwrap();
    let (recorded, page) = page(folder.path());
    assert!(page.contains("<title>Glass &lt;1&gt; &amp; &quot;co&quot;</title>"));
    assert!(!page.contains("{{"), "every slot is filled");
    assert!(!page.contains("http"), "nothing from elsewhere");
    let sound = base64::decode(between(&page, "data:audio/wav;base64,", "\"").as_bytes()).unwrap();
    assert_eq!(sound, std::fs::read(folder.path().join("a.wav")).unwrap());
    let scene = between(&page, "id=\"scene\">", "</script>");
    let scene: serde_json::Value = serde_json::from_str(scene).unwrap();
    assert_eq!((&scene["frames"], &scene["framesPerSecond"]), (&5.into(), &10.0.into()));
    assert_eq!(scene["meshes"][1]["name"], "</script>");
    let waveform = base64::decode(scene["waveform"].as_str().unwrap().as_bytes()).unwrap();
    assert_eq!(waveform.iter().map(|&b| b as i8).collect::<Vec<_>>(), [0, 0, 0, 127, -64, 0, 0, 32]);
    let frames = base64::decode(between(&page, "class=\"frames\">", "</script>").as_bytes()).unwrap();
    assert_eq!(frames.len(), 5 * (24 + 4 * 6));
    for (frame, bytes) in frames.chunks_exact(48).enumerate() {
        let float = |k: usize| f32::from_le_bytes(bytes[4 * k..4 * k + 4].try_into().unwrap());
        let share = |k: usize| f32::from(u16::from_le_bytes([bytes[24 + 2 * k], bytes[25 + 2 * k]])) / 65535.0;
        for (v, p) in recorded.read_frame(1, frame).unwrap().iter().enumerate() {
            for (k, x) in p.iter().enumerate() {
                assert!((float(k) + float(3 + k) * share(3 * v + k) - x).abs() < 0.1 / 65535.0);
            }
        }
    }
}

#[test]
fn a_page_needs_frames_and_a_sound() {
    let folder = tempfile::tempdir().unwrap();
    let (recorded, _) = page(folder.path());
    let path = folder.path().join("b.html");
    let error = recorded.write_player(&path, &folder.path().join("none.wav"), "").unwrap_err().to_string();
    assert!(
        error.contains("b.html: not written: its sound ") && error.contains("none.wav cannot be read: "),
        "{error}"
    );
    let error = recorded.write_player(&path, &folder.path().join("a.glb"), "").unwrap_err().to_string();
    assert!(error.contains("cannot be read"), "{error}");
    let writer = AnimationWriter::create(&folder.path().join("a.glb"), &[tetrahedron()], 60.0).unwrap();
    let empty = writer.finish().unwrap();
    let wav = folder.path().join("a.wav");
    assert!(empty.write_player(&path, &wav, "").unwrap_err().to_string().contains("there are no frames"));
    assert!(empty.write_point_cache(0, &path).unwrap_err().to_string().contains("there are no frames"));
    assert!(!path.exists());
}
