//! Bakes as a user meets them: from a scene to a field and what it says, in parts, killed, and with scenes that cannot be.

mod common;

use common::Bench;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SHOEBOX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/shoebox.toml");

/// A box from the origin as an OBJ in one material.
fn box_obj([x, y, z]: [f64; 3], material: &str) -> String {
    let corner = |k: u32, bit: u32, l: f64| if k & bit == 0 { 0.0 } else { l };
    let corners: String =
        (0..8).map(|k| format!("v {} {} {}\n", corner(k, 1, x), corner(k, 2, y), corner(k, 4, z))).collect();
    format!("{corners}usemtl {material}\nf 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

/// A box of 8 × 6 × 3 m whose walls absorb a tenth reverberates for 0.161 V / (α S) = 1.3 s by Sabine, and that is what the field says.
#[test]
fn a_room_is_baked_and_says_what_sabine_says() {
    let b = Bench::new();
    let report = b.json(&["bake", SHOEBOX, "-o", "room.field.safetensors", "--json"]);
    let probes = report["probes"].as_u64().unwrap();
    assert!(probes > 3, "{report}");

    let field = b.json(&["inspect", "room.field.safetensors", "--json", "--plot", "room.png"]);
    assert_eq!((field["kind"].as_str(), field["probes"].as_u64()), (Some("field"), Some(probes)));
    for key in ["f_max_hz", "cells_per_probe", "raw_bytes", "stored_bytes", "grid_m", "quantum", "ratio", "samples"] {
        assert!(number(&field, key) > 0.0, "{key}");
    }
    assert_eq!(
        number(&field, "stored_bytes"),
        std::fs::metadata(b.path("room.field.safetensors")).unwrap().len() as f64
    );
    assert!(field["warnings"].is_array() && field["settings"]["f_max_hz"].as_f64() == Some(250.0));
    let corner = |end: usize, axis: usize| field["bounds"][end][axis].as_f64().unwrap();
    for (axis, size) in [8.0, 6.0, 3.0].into_iter().enumerate() {
        let (low, high) = (corner(0, axis), corner(1, axis));
        assert!(low < 0.5 && low > -2.5 && high > size - 0.5 && high < size + 2.5, "{axis}: {low} to {high}");
    }
    let parameters = field["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 5);
    assert!(parameters.iter().all(|p| number(p, "stored_bytes") < number(p, "deflate_bytes")), "{field}");
    assert_eq!(&std::fs::read(b.path("room.png")).unwrap()[1..4], b"PNG");
    let said = b.good(&["inspect", "room.field.safetensors"]);
    assert!(said.contains("late_decay") && said.contains("250 Hz"), "{said}");

    let ask = ["query", "room.field.safetensors", "--source", "2,2,1.5", "--listener", "6,4,1.5", "--json"];
    let answer = b.json(&ask);
    for key in ["direct_db", "early_db", "early_decay_s", "late_decay_s", "distance_m", "confidence"] {
        number(&answer, key);
    }
    assert!((number(&answer, "distance_m") - 20f64.sqrt()).abs() < 1e-9 && number(&answer, "confidence") > 0.3);
    // The impulse response begins with the direct sound and is as long as the late filters.
    let told = b.json(&[&ask[..], &["--ir", "ir.wav", "--plot", "ir.png", "--rate", "48000"]].concat());
    assert_eq!(told["ir"].as_str(), Some("ir.wav"), "{told}");
    let sound = b.json(&["inspect", "ir.wav", "--json"]);
    assert_eq!((sound["sample_rate_hz"].as_f64(), sound["channels"].as_u64()), (Some(48_000.0), Some(2)), "{sound}");
    assert!(number(&sound, "duration_s") > 1.5, "{sound}");
    assert_eq!(&std::fs::read(b.path("ir.png")).unwrap()[1..4], b"PNG");
    b.bad(&[&ask[..], &["--ir", "missing/ir.wav"]].concat(), &["missing"]);
    assert_eq!(b.bad(&[&ask[..], &["--rate", "10"]].concat(), &["--rate"]), 2);

    let (volume, area) = (8.0 * 6.0 * 3.0, 2.0 * (48.0 + 24.0 + 18.0));
    let sabine_s = 0.161 * volume / (0.1 * area);
    let found = number(&answer, "late_decay_s");
    assert!(found > 0.75 * sabine_s && found < 1.4 * sabine_s, "{found} s, by Sabine {sabine_s} s");
}

/// Which probe is drawn can be chosen, and only of a field.
#[test]
fn the_probe_that_is_drawn_can_be_chosen() {
    let b = Bench::new();
    b.good(&["bake", SHOEBOX, "-o", "f.field.safetensors"]);
    let draw = |name: &str, with: &[&str]| {
        b.good(&[&["inspect", "f.field.safetensors", "--plot", name], with].concat());
        std::fs::read(b.path(name)).unwrap()
    };
    assert_eq!(draw("a.png", &["--probe", "0"]), draw("b.png", &["--at", "0,0,1"]));
    assert_ne!(draw("c.png", &["--probe", "5"]), draw("d.png", &["--probe", "0"]));
    let bad = |args: &[&str], words: &[&str]| assert_eq!(b.bad(&[&["inspect"], args].concat(), words), 2);
    bad(&["f.field.safetensors", "--plot", "x.png", "--probe", "99"], &["--probe", "6 probes"]);
    bad(&["f.field.safetensors", "--probe", "0"], &["--plot"]);
    bad(&[SHOEBOX, "--plot", "x.png", "--at", "1,1,1"], &["need a field"]);
    assert!(!b.path("x.png").exists());
}

#[test]
fn shards_merge_to_the_bytes_of_one_bake() {
    let b = Bench::new();
    b.good(&["bake", SHOEBOX, "-o", "all.field.safetensors"]);
    for (shard, name) in [("0/2", "0.field.safetensors"), ("1/2", "1.field.safetensors")] {
        b.good(&["bake", SHOEBOX, "--shard", shard, "--threads", "1", "-o", name]);
        let part = b.json(&["inspect", name, "--json"]);
        assert_eq!(part["shard"][1].as_u64(), Some(2));
        assert!(part["warnings"].to_string().contains("eigentone merge"), "{part}");
    }
    b.bad(&["merge", "1.field.safetensors", "-o", "x.field.safetensors"], &["missing are 0/2"]);
    b.good(&["merge", "1.field.safetensors", "0.field.safetensors", "-o", "merged.field.safetensors"]);
    let bytes = |name: &str| std::fs::read(b.path(name)).unwrap();
    assert!(bytes("merged.field.safetensors") == bytes("all.field.safetensors"));
    b.bad(&["merge", "all.field.safetensors", "-o", "x.field.safetensors"], &["all.field.safetensors", "not a shard"]);
    assert!(!b.path("x.field.safetensors").exists());
}

#[test]
fn damaged_fields_are_refused() {
    let b = Bench::new();
    b.good(&["bake", SHOEBOX, "-o", "f.field.safetensors"]);
    let bytes = std::fs::read(b.path("f.field.safetensors")).unwrap();
    for share in [0, 1, 4, 9] {
        b.write("cut.field.safetensors", &bytes[..bytes.len() * share / 10]);
        b.bad(&["inspect", "cut.field.safetensors", "--plot", "x.png"], &["cut.field.safetensors"]);
        b.bad(
            &["query", "cut.field.safetensors", "--source", "1,1,1", "--listener", "2,2,1"],
            &["cut.field.safetensors"],
        );
    }
    let mut flipped = bytes.clone();
    let at = bytes.len() - 40;
    flipped[at] ^= 4;
    b.write("flipped.field.safetensors", flipped);
    b.bad(&["inspect", "flipped.field.safetensors"], &["flipped.field.safetensors"]);
    assert!(!b.path("x.png").exists());
}

/// Each has the way out in its message, and nothing is written.
#[test]
fn scenes_that_cannot_be_baked_say_what_to_do() {
    let b = Bench::new();
    let bad = |name: &str, scene: &str, words: &[&str]| {
        b.write(name, scene);
        assert_eq!(b.bad(&["bake", name, "-o", "out.field.safetensors"], words), 1);
    };
    b.write("room.obj", box_obj([4.0, 3.0, 2.5], "Material.003"));
    let room = "[acoustics]\nmesh = 'room.obj'\nf_max_hz = 400\n";
    bad("unknown.toml", room, &["unknown.toml", "`Material.003`", "[acoustics.materials]", "\"brick\""]);
    let known = format!("{room}[acoustics.materials]\n'Material.003' = ");
    bad("name.toml", &format!("{known}'bricks of old'\n"), &["bricks of old", "concrete"]);
    bad("share.toml", &format!("{known}1.5\n"), &["0 to 1", "1.5"]);
    b.write("good.toml", format!("{known}'brick'\n"));
    let estimate = b.json(&["bake", "good.toml", "--estimate", "--json"]);
    assert_eq!(estimate["materials"][0]["wall"].as_str(), Some("brick"), "{estimate}");

    let shoebox = "[acoustics]\nroom = 'shoebox'\nsize = [4, 3, 2.5]\nmaterials = { wall = 0.1 }\nf_max_hz = 200\n";
    let wall = format!("{shoebox}[[acoustics.region]]\nmin = [-0.3, 0.5, 0.5]\nmax = [-0.1, 2.5, 2]\n");
    bad("wall.toml", &wall, &["wall.toml", "no probe is left"]);

    b.write("wide.obj", box_obj([1000.0, 1000.0, 3.0], "brick"));
    let wide = "[acoustics]\nmesh = 'wide.obj'\nf_max_hz = 1000\n";
    bad("wide.toml", wide, &["wide.toml", "1000 × 1000 × 3 m", "268435456 cells", "lower frequency"]);

    b.write("nan.obj", box_obj([4.0, f64::NAN, 2.5], "brick"));
    bad("nan.toml", "[acoustics]\nmesh = 'nan.obj'\n", &["nan.toml", "vertex 2", "finite"]);
    bad("missing.toml", "[acoustics]\nmesh = 'missing.obj'\n", &["missing.obj"]);
    bad("nothing.toml", "title = 'silence'\n", &["nothing.toml", "[acoustics]"]);
    bad("slip.toml", "[acoustics]\nroom = 'shoebox'\nspacing = 2\n", &["slip.toml", "spacing_m"]);
    bad("palace.toml", "[acoustics]\nroom = 'palace'\n", &["palace", "`apartment`"]);
    assert!(!b.path("out.field.safetensors").exists() && !b.path("out.field.safetensors.parts").exists());
    // Inspecting tells the same, as a warning.
    let scene = b.json(&["inspect", "wide.toml", "--json"]);
    assert!(scene["acoustics"]["warnings"][0].as_str().unwrap().contains("lower frequency"), "{scene}");
}

#[test]
fn a_scene_with_rooms_has_a_plan() {
    let b = Bench::new();
    let scene = b.json(&["inspect", SHOEBOX, "--json", "--plot", "plan.png"]);
    let acoustics = &scene["acoustics"];
    assert_eq!((scene["kind"].as_str(), acoustics["probes"].as_u64()), (Some("scene"), Some(6)));
    assert!(number(acoustics, "cell_m") > 0.4 && acoustics["warnings"].is_array());
    assert_eq!(acoustics["materials"][0]["wall"].as_str(), Some("drywall"));
    assert_eq!(number(&acoustics["materials"][0], "absorption"), 0.1);
    assert_eq!(&std::fs::read(b.path("plan.png")).unwrap()[1..4], b"PNG");
    assert!(b.good(&["inspect", SHOEBOX]).contains("drywall"));
}

fn finished(parts: &Path) -> usize {
    let names = std::fs::read_dir(parts).into_iter().flatten().flatten().map(|e| e.file_name());
    names.filter(|n| n.to_string_lossy().ends_with(".probe")).count()
}

/// Killed without warning at any moment, as by a power cut: what was finished stays, and the field is the same to the byte.
#[test]
fn a_bake_that_is_killed_goes_on_where_it_was() {
    let b = Bench::new();
    let scene = "[acoustics]\nroom = 'shoebox'\nsize = [12, 9, 3]\nmaterials = { wall = 'brick' }\nf_max_hz = 250\nspacing_m = 2.4\n";
    b.write("hall.toml", scene);
    let start = Instant::now();
    b.good(&["bake", "hall.toml", "-o", "whole.field.safetensors"]);
    let whole_s = start.elapsed().as_secs_f64();
    let parts = b.path("f.field.safetensors.parts");
    // Any sequence will do that does not repeat.
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed as f64 / u64::MAX as f64
    };
    let (mut kept, mut killed) = (0, 0);
    for _ in 0..20 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_eigentone"))
            .current_dir(b.path(""))
            .args(["bake", "hall.toml", "-o", "f.field.safetensors", "--resume"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs_f64(0.15 * whole_s * random()));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            break;
        }
        killed += 1;
        assert!(finished(&parts) >= kept, "finished probes are gone");
        kept = finished(&parts);
    }
    assert!(killed >= 10, "too fast to be killed: {whole_s} s");
    if parts.exists() {
        b.bad(&["bake", "hall.toml", "-o", "f.field.safetensors"], &["f.field.safetensors.parts", "--resume"]);
        b.write("other.toml", scene.replace("brick", "carpet"));
        b.bad(&["bake", "other.toml", "-o", "f.field.safetensors", "--resume"], &["another scene"]);
    }
    let report = b.json(&["bake", "hall.toml", "-o", "f.field.safetensors", "--resume", "--threads", "1", "--json"]);
    assert!(kept == 0 || report["resumed"].as_u64() == Some(kept as u64), "{report}");
    let bytes = |name: &str| std::fs::read(b.path(name)).unwrap();
    assert!(bytes("f.field.safetensors") == bytes("whole.field.safetensors"));
    assert!(!parts.exists());
}
