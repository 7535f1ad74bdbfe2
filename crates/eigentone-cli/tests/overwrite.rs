//! What a scene is made of is not written over, whatever the output is called.

mod common;

use common::Bench;

const SCENE: &str = r#"
duration_s = 0.2
[listener]
spatial = "hrtf"
sofa = "head.sofa"
[acoustics]
mesh = "walls.gltf"
[[acoustics.region]]
mesh = "inside.ply"
[[surface]]
name = "paper"
impact = { takes = ["takes/tap.wav"] }
[[body]]
name = "ball"
mesh = "ball.obj"
surface = "paper"
[[body]]
name = "bell"
model = "bell.modal.safetensors"
[[soft]]
name = "jelly"
tets = "jelly.node"
"#;

const READ: [&str; 12] = [
    "scene.toml",
    "scene.field.safetensors",
    "materials.toml",
    "head.sofa",
    "walls.gltf",
    "walls.bin",
    "inside.ply",
    "takes/tap.wav",
    "ball.obj",
    "bell.modal.safetensors",
    "jelly.node",
    "jelly.ele",
];

fn scene() -> Bench {
    let b = Bench::new();
    std::fs::create_dir_all(b.path("takes")).unwrap();
    READ.iter().for_each(|name| drop(b.write(name, name)));
    b.write("walls.gltf", r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"walls.bin","byteLength":9}]}"#);
    b.write("scene.toml", SCENE);
    b
}

#[test]
fn renders_do_not_overwrite_what_the_scene_reads() {
    let b = scene();
    let before: Vec<Vec<u8>> = READ.iter().map(|name| std::fs::read(b.path(name)).unwrap()).collect();
    for name in READ {
        // Another name of the same file.
        let other = format!("takes/../{name}");
        let refused = |args: &[&str]| assert_eq!(b.bad(args, &["would be overwritten"]), 2, "{args:?}");
        refused(&["render", "scene.toml", "-o", name]);
        refused(&["render", "scene.toml", "-o", &other]);
        for flag in ["--stats", "--events", "--plot", "--record", "--animation", "--player", "--strip"] {
            refused(&["render", "scene.toml", "-o", "out.wav", flag, name]);
        }
        // The field is what a bake makes.
        if name != "scene.field.safetensors" {
            refused(&["bake", "scene.toml", "-o", name]);
        }
    }
    let after: Vec<Vec<u8>> = READ.iter().map(|name| std::fs::read(b.path(name)).unwrap()).collect();
    assert!(before == after && !b.path("out.wav").exists());
}

/// A field that is not baked yet has its name kept free, and point caches of soft bodies are outputs like any other.
#[test]
fn names_that_will_be_needed_are_kept_free() {
    let b = scene();
    std::fs::remove_file(b.path("scene.field.safetensors")).unwrap();
    b.bad(&["render", "scene.toml", "-o", "scene.field.safetensors"], &["would be overwritten"]);
    let text = SCENE.replace("ball.obj", "out-jelly.pc2");
    b.write("scene.toml", text);
    b.write("out-jelly.pc2", "a mesh under a strange name");
    b.bad(&["render", "scene.toml", "-o", "out.wav", "--point-cache"], &["out-jelly.pc2 would be overwritten"]);
}

/// A scene that plays: its mesh is still there after the attempt, and the sound is after another name.
#[test]
fn a_scene_that_plays_keeps_its_mesh() {
    let b = Bench::new();
    let mesh = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    b.write("stone.obj", mesh);
    b.write("scene.toml", "duration_s = 0.1\n[[body]]\nplane = true\n[[body]]\nmesh = 'stone.obj'\nsilent = true\n");
    b.bad(&["render", "scene.toml", "-o", "out.wav", "--stats", "stone.obj"], &["stone.obj would be overwritten"]);
    assert_eq!(std::fs::read_to_string(b.path("stone.obj")).unwrap(), mesh);
    b.good(&["render", "scene.toml", "-o", "out.wav", "--stats", "stats.json"]);
    assert!(b.path("out.wav").exists() && b.path("stats.json").exists());
}
