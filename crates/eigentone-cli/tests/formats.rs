//! Formats of meshes and names of files through the command: what is read, what is asked, what is refused, and that silence never goes
//! without a word.

mod common;

use common::Bench;

/// A box from the origin to these corners, as OFF with quads.
fn box_off([x, y, z]: [f64; 3]) -> String {
    let mut text = "OFF\n8 6 12\n".to_owned();
    for k in 0..8 {
        let at = |bit: u32, size: f64| if k >> bit & 1 == 1 { size } else { 0.0 };
        text += &format!("{} {} {}\n", at(0, x), at(1, y), at(2, z));
    }
    text + "4 0 2 3 1\n4 4 5 7 6\n4 0 1 5 4\n4 2 6 7 3\n4 0 4 6 2\n4 1 3 7 5\n"
}

/// A cup of the material `Ceramic`, 0.1 m high from 0.5 m on, compressed with Draco by another program.
const CUP: &[u8] = include_bytes!("../../eigentone-io/tests/data/cup-draco.glb");

#[test]
fn an_off_file_is_a_mesh_like_any_other() {
    let b = Bench::new();
    b.write("bar.off", box_off([0.2, 0.02, 0.01]));
    let mesh = b.json(&["inspect", "bar.off", "--json"]);
    assert_eq!((mesh["vertices"].as_u64(), mesh["triangles"].as_u64()), (Some(8), Some(12)));
    assert_eq!(mesh["watertight"], true);
    assert!(
        (mesh["volume_m3"].as_f64().unwrap() - 4e-5).abs() < 1e-12 && mesh["warnings"].as_array().unwrap().is_empty()
    );
    b.write("bar.3mf", "PK");
    b.bad(&["inspect", "bar.3mf"], &["bar.3mf", "3MF", "export it as STL"]);
}

/// Up is z in a scene, whatever a glTF says; a model without `--material` takes what the file names, and asks where that is unclear.
#[test]
fn a_gltf_brings_its_material_and_stands_upright() {
    let b = Bench::new();
    b.write("cup.glb", CUP);
    let mesh = b.json(&["inspect", "cup.glb", "--json"]);
    let height = |corner: usize| mesh["bounds"][corner][2].as_f64().unwrap();
    assert!((height(0) - 0.5).abs() < 1e-4 && (height(1) - 0.6).abs() < 1e-4, "{mesh}");
    let small = ["--thickness", "0.004", "--method", "shell", "--refine", "0", "--modes", "8", "-o", "cup.m", "--json"];
    let made = b.json(&[&["model", "cup.glb"], &small[..]].concat());
    assert_eq!(made["material"], "ceramic");
    assert!(made["notes"].to_string().contains("`Ceramic`"), "{made}");
    let made = b.json(&[&["model", "cup.glb", "--material", "steel"], &small[..]].concat());
    assert_eq!(made["material"], "steel");

    let obj = |first: &str, second: &str| {
        let vertices = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\n";
        format!("{vertices}usemtl {first}\nf 1 3 2\nf 1 2 4\nusemtl {second}\nf 1 4 3\nf 2 3 4\n")
    };
    let refused = |words: &[&str]| assert_eq!(b.bad(&["model", "x.obj", "-o", "x.m"], words), 2);
    b.write("x.obj", obj("Phong", "Phong"));
    refused(&["--material NAME is needed", "x.obj names `Phong`, which the table does not have"]);
    b.write("x.obj", obj("Steel.001", "oak"));
    refused(&["--material NAME is needed", "`Steel.001`, `oak`", "one material"]);
}

/// A bowl of 18 cm in millimetres: the command asks, with the factor that makes it a bowl again.
#[test]
fn sizes_that_cannot_be_meant_are_asked_about() {
    let b = Bench::new();
    b.write("bar.off", box_off([180.0, 10.0, 5.0]));
    let warning = b.json(&["inspect", "bar.off", "--json"])["warnings"].to_string();
    for part in
        ["180 m across", "if it is in millimetres use --scale 0.001 (18 cm then)", "centimetres use --scale 0.01"]
    {
        assert!(warning.contains(part), "{warning}");
    }
    assert!(b.json(&["inspect", "bar.off", "--scale", "0.001", "--json"])["warnings"].as_array().unwrap().is_empty());
    b.bad(&["model", "bar.off", "-m", "steel", "-o", "x.m"], &["180 m", "use --scale 0.001"]);
    b.write("dot.off", box_off([1.8e-4, 1e-5, 5e-6]));
    b.bad(
        &["model", "dot.off", "-m", "steel", "-o", "x.m"],
        &["if it was divided by 1000 on its way use --scale 1000"],
    );
    // A factor that was given counts.
    let twice = b.json(&["inspect", "dot.off", "--scale", "10", "--json"])["warnings"].to_string();
    assert!(twice.contains("use --scale 1000 (18 cm then)"), "{twice}");
    assert!(!b.path("x.m").exists());
}

#[test]
fn files_are_not_written_under_names_that_lie() {
    let b = Bench::new();
    b.write("bar.off", box_off([0.2, 0.02, 0.01]));
    b.write("scene.toml", "duration_s = 0.1\n[[body]]\nplane = true\n[acoustics]\nroom = 'shoebox'\n");
    let bar = ["shape", "bar", "--length", "0.3", "--width", "0.03", "--thickness", "0.01", "-m", "steel", "-o"];
    b.good(&[&bar[..], &["bar.m"]].concat());
    b.good(&["strike", "bar.m", "--duration", "0.1", "-o", "take.wav"]);
    let refused = |args: &[&str], better: &str| assert_eq!(b.bad(args, &[better]), 2, "{args:?}");
    refused(&["strike", "bar.m", "-o", "x.mp3"], "written as WAV, not as .mp3; use x.wav, and convert it");
    refused(&["strike", "bar.m", "-o", "x.wav", "--plot", "x.jpg"], "use x.png");
    refused(&["model", "bar.off", "-m", "steel", "-o", "x.wav"], "use x.modal.safetensors");
    refused(&[&bar[..], &["x.obj"]].concat(), "use x.modal.safetensors");
    refused(&["fit", "take.wav", "-o", "x.field.safetensors"], "use x.modal.safetensors");
    refused(&["fit", "take.wav", "-o", "x.m", "--compare", "x.flac"], "use x.wav");
    refused(&["inspect", "bar.m", "--export", "x.xlsx"], "CSV or JSON");
    refused(&["inspect", "bar.m", "--plot", "x.svg"], "use x.png");
    refused(&["render", "scene.toml", "-o", "x.ogg"], "use x.wav");
    for (flag, name, better) in [
        ("--stats", "x.csv", "x.json"),
        ("--events", "x.txt", "x.json"),
        ("--plot", "x.gif", "x.png"),
        ("--animation", "x.mp4", "x.glb"),
        ("--player", "x.mp4", "x.html"),
        ("--strip", "x.gif", "x.png"),
        ("--record", "x.wav", "x.jsonl"),
    ] {
        refused(&["render", "scene.toml", "-o", "y.wav", flag, name], &format!("use {better}"));
    }
    refused(&["bake", "scene.toml", "-o", "x.json"], "use x.field.safetensors");
    refused(&["merge", "bar.m", "-o", "x.wav"], "use x.field.safetensors");
    refused(&["query", "x", "--source", "0,0,0", "--listener", "1,0,0", "--ir", "x.mp3"], "use x.wav");
    let made = std::fs::read_dir(b.path(".")).unwrap().count();
    assert_eq!(made, 4, "only what was asked for in good form");
}

#[test]
fn a_strike_beside_the_body_says_where_it_went() {
    let b = Bench::new();
    b.good(&[
        "shape",
        "plate",
        "--length",
        "0.18",
        "--width",
        "0.1",
        "--thickness",
        "0.002",
        "-m",
        "steel",
        "-o",
        "p.m",
    ]);
    let strike = |at: &str| {
        let out = b.run(&["strike", "p.m", "--at", at, "--duration", "0.2", "-o", "p.wav", "--json"]);
        let told: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        (told["warnings"].clone(), String::from_utf8(out.stderr).unwrap())
    };
    let (warnings, said) = strike("0.09,0.05,4");
    let warning = warnings[0].as_str().unwrap();
    assert!(warning.contains("4.0 m away") && warning.contains("21 cm across"), "{warning}");
    assert!(warning.contains("0.0900,0.0500,0.0000") && said.contains(&format!("warning: {warning}")), "{said}");
    let (warnings, said) = strike("0.09,0.05,0.01");
    assert!(warnings.as_array().unwrap().is_empty() && said.is_empty(), "{said}");
}

/// What cannot be heard is an error that names the cause, and what nobody would hear a warning.
#[test]
fn silence_never_goes_without_a_word() {
    let b = Bench::new();
    let table = |frequency: f64, gain: f64| {
        b.write("t.csv", format!("frequency_hz,t60_s,gain\n{frequency},1,{gain}\n"));
        b.good(&["model", "t.csv", "-o", "t.m"]);
    };
    let strike = |more: &[&str]| b.run(&[&["strike", "t.m", "-o", "t.wav", "--json"], more].concat());
    for (frequency, gain, more, word) in [
        (30_000.0, 1.0, &["--rate", "96000"][..], "outside of what is heard"),
        (5.0, 1.0, &[], "outside of what is heard"),
        (7000.0, 1.0, &["--rate", "8000"], "use --rate 44100"),
        (440.0, 0.0, &[], "are zero"),
    ] {
        table(frequency, gain);
        let out = strike(more);
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(1), "{frequency} Hz: {said}");
        assert!(said.contains("t.m: ") && said.contains(word), "{said}");
        assert!(!b.path("t.wav").exists());
    }
    table(440.0, 1e-7);
    let told = b.json(&["strike", "t.m", "-o", "t.wav", "--impulse", "1e-3", "--json"]);
    assert!(told["warnings"][0].as_str().unwrap().contains("the file is silent"), "{told}");
    table(440.0, 6e-3);
    let out = strike(&["--impulse", "1e-3"]);
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(told["warnings"][0].as_str().unwrap().contains("below the threshold of hearing"), "{told}");
    assert!(String::from_utf8(out.stderr).unwrap().contains("warning: nobody would hear it"));

    b.write("scene.toml", "duration_s = 0.1\n[[body]]\nplane = true\n[[body]]\nsphere = 0.05\nposition = [0, 0, 3]\n");
    let out = b.run(&["render", "scene.toml", "-o", "s.wav", "--stats", "s.json", "--no-cache"]);
    assert!(out.status.success());
    assert!(String::from_utf8(out.stderr).unwrap().contains("warning: the file is silent"));
    let stats: serde_json::Value = serde_json::from_slice(&std::fs::read(b.path("s.json")).unwrap()).unwrap();
    let warnings = stats["warnings"].to_string();
    assert!(warnings.contains("nothing was heard") && warnings.contains("the file is silent"), "{warnings}");
}
