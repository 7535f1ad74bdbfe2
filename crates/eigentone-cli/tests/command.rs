//! The command as a user meets it: files in, files out, exit status, messages and JSON contracts.

mod common;

use common::Bench;
use serde_json::Value;
use std::path::Path;

/// A box of 200 × 20 × 10 mm as an OBJ with quadrilaterals.
fn bar_obj() -> String {
    let mut text = String::new();
    for k in 0..8 {
        let at = |bit: u32, l: f64| if k & bit == 0 { 0.0 } else { l };
        text += &format!("v {} {} {}\n", at(1, 0.2), at(2, 0.02), at(4, 0.01));
    }
    text + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
}

fn read_wav(path: &Path) -> (f64, Vec<f64>) {
    let audio = eigentone::io::read_audio(path).unwrap();
    (f64::from(audio.sample_rate_hz), audio.channels[0].iter().map(|&x| f64::from(x)).collect())
}

/// Amplitude of a sound at one frequency over its first seconds, by projection.
fn amplitude(rate: f64, sound: &[f64], frequency_hz: f64) -> f64 {
    let (mut re, mut im) = (0.0, 0.0);
    for (n, y) in sound.iter().enumerate() {
        let phase = std::f64::consts::TAU * frequency_hz * n as f64 / rate;
        re += y * phase.cos();
        im += y * phase.sin();
    }
    re.hypot(im)
}

/// The main road: a twelve-triangle bar becomes a solid with Timoshenko's frequency, is struck, and the sound has that frequency.
#[test]
fn a_mesh_becomes_a_sound() {
    let b = Bench::new();
    b.write("bar.obj", bar_obj());
    let mesh = b.json(&["inspect", "bar.obj", "--json", "--plot", "mesh.png"]);
    assert_eq!(
        (mesh["kind"].as_str(), mesh["vertices"].as_u64(), mesh["triangles"].as_u64()),
        (Some("mesh"), Some(8), Some(12))
    );
    assert_eq!(mesh["watertight"], Value::Bool(true));
    for key in [
        "components",
        "boundary_edges",
        "nonmanifold_edges",
        "degenerate_triangles",
        "area_m2",
        "volume_m3",
        "bounds",
        "warnings",
    ] {
        assert!(!mesh[key].is_null(), "{key}");
    }
    assert_eq!(&std::fs::read(b.path("mesh.png")).unwrap()[1..4], b"PNG");

    let said = b.good(&["model", "bar.obj", "--material", "steel", "-o", "bar.modal.safetensors"]);
    assert!(said.contains("solid") && said.contains("wrote"), "{said}");
    let model = b.json(&["inspect", "bar.modal.safetensors", "--json"]);
    assert_eq!(
        (model["kind"].as_str(), model["method"].as_str(), model["material"].as_str()),
        (Some("modal"), Some("solid"), Some("steel"))
    );
    let modes = model["modes"].as_array().unwrap();
    let first = modes[0]["frequency_hz"].as_f64().unwrap();
    assert!((first / 1285.6 - 1.0).abs() < 0.02, "{first}");
    let rising = modes.windows(2).all(|w| w[0]["frequency_hz"].as_f64() <= w[1]["frequency_hz"].as_f64());
    assert!(
        rising && modes.iter().all(|m| m["decay_per_s"].is_number() && m["t60_s"].is_number() && m["gain"].is_number())
    );

    b.good(&["strike", "bar.modal.safetensors", "--at", "0.2,0.01,0.01", "--duration", "1", "-o", "bar.wav"]);
    let (rate, sound) = read_wav(&b.path("bar.wav"));
    assert_eq!(sound.len(), 44_100);
    let on = amplitude(rate, &sound, first);
    for off in [0.7, 0.9, 1.1, 1.4] {
        assert!(on > 20.0 * amplitude(rate, &sound, off * first));
    }
}

/// Done right, a doubled impulse is twice as loud, and a strike in the middle of a bar does not excite its second bending mode.
#[test]
fn strikes_follow_impulse_and_place() {
    let b = Bench::new();
    b.good(&[
        "shape",
        "bar",
        "--length",
        "0.3",
        "--width",
        "0.03",
        "--thickness",
        "0.01",
        "--material",
        "steel",
        "-o",
        "bar.m",
    ]);
    let model = b.json(&["inspect", "bar.m", "--json"]);
    let second = model["modes"][1]["frequency_hz"].as_f64().unwrap();
    for (name, at, impulse) in [("end", "0.15,0,0", "1e-3"), ("middle", "0,0,0", "1e-3"), ("hard", "0.15,0,0", "2e-3")]
    {
        b.good(&["strike", "bar.m", "--at", at, "--impulse", impulse, "--duration", "1", "-o", &format!("{name}.wav")]);
    }
    let [end, middle, hard] = ["end", "middle", "hard"].map(|n| read_wav(&b.path(&format!("{n}.wav"))));
    let peak = |sound: &[f64]| sound.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    assert!((peak(&hard.1) / peak(&end.1) - 2.0).abs() < 1e-3);
    assert!(amplitude(end.0, &end.1, second) > 100.0 * amplitude(middle.0, &middle.1, second));
}

/// Modes exported, edited and taken back: the edit is heard, everything else stays.
#[test]
fn modes_can_be_edited_by_hand() {
    let b = Bench::new();
    b.good(&[
        "shape",
        "plate",
        "--length",
        "0.3",
        "--width",
        "0.2",
        "--thickness",
        "0.002",
        "--material",
        "glass",
        "--modes",
        "5",
        "-o",
        "p.m",
    ]);
    b.good(&["inspect", "p.m", "--export", "modes.csv"]);
    let table = std::fs::read_to_string(b.path("modes.csv")).unwrap();
    let edited: Vec<&str> = table.lines().enumerate().filter(|(n, _)| *n != 2).map(|(_, l)| l).collect();
    b.write("edited.csv", edited.join("\n"));
    b.good(&["model", "edited.csv", "--base", "p.m", "-o", "q.m"]);
    let (before, after) = (b.json(&["inspect", "p.m", "--json"]), b.json(&["inspect", "q.m", "--json"]));
    let frequency = |m: &Value, n: usize| m["modes"][n]["frequency_hz"].as_f64().unwrap();
    assert_eq!(after["modes"].as_array().unwrap().len(), 4);
    assert!((frequency(&after, 1) - frequency(&before, 2)).abs() < 1e-9);
    b.good(&["model", "edited.csv", "-o", "alone.m"]);
    b.good(&["strike", "alone.m", "-o", "alone.wav"]);
}

/// A struck model fitted from its own sound has the same modes.
#[test]
fn a_fit_finds_the_modes_of_a_struck_model() {
    let b = Bench::new();
    b.good(&[
        "shape",
        "bar",
        "--length",
        "0.3",
        "--width",
        "0.03",
        "--thickness",
        "0.008",
        "--material",
        "brass",
        "--modes",
        "6",
        "-o",
        "bar.m",
    ]);
    b.good(&["strike", "bar.m", "--at", "0.15,0,0", "--hardness", "metal", "--duration", "1.5", "-o", "bar.wav"]);
    let report = b.json(&["fit", "bar.wav", "-o", "fit.m", "--compare", "both.wav", "--plot", "both.png", "--json"]);
    assert!(report["takes"][0]["explained"].as_f64().unwrap() > 0.99, "{report}");
    let (truth, found) = (b.json(&["inspect", "bar.m", "--json"]), b.json(&["inspect", "fit.m", "--json"]));
    for mode in truth["modes"].as_array().unwrap().iter().take(4) {
        let (f, d) = (mode["frequency_hz"].as_f64().unwrap(), mode["decay_per_s"].as_f64().unwrap());
        let near = found["modes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|m| (m["frequency_hz"].as_f64().unwrap() / f - 1.0).abs() < 1e-3);
        let decay = near.unwrap_or_else(|| panic!("no mode near {f}"))["decay_per_s"].as_f64().unwrap();
        assert!((decay / d - 1.0).abs() < 0.05, "{f} Hz: {decay} against {d}");
    }
    assert_eq!(eigentone::io::read_audio(&b.path("both.wav")).unwrap().channels.len(), 2);
    b.good(&["strike", "fit.m", "-o", "again.wav"]);
}

/// Every kind of bad file and flag ends in an error that names it, and never in a panic or a half-written file.
#[test]
fn bad_input_is_refused_with_a_reason() {
    let b = Bench::new();
    b.write("bar.obj", bar_obj());
    let model = |mesh: &'static str| ["model", mesh, "--material", "steel", "-o", "out.m"];
    b.bad(&model("missing.obj"), &["missing.obj"]);
    b.write("empty.obj", "");
    b.bad(&model("empty.obj"), &["empty.obj"]);
    b.write("nan.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    b.bad(&model("nan.obj"), &["nan.obj"]);
    b.write("huge.obj", "v 0 0 1e30\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    b.bad(&model("huge.obj"), &["huge.obj", "--scale"]);
    b.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    b.bad(&model("flat.obj"), &["flat.obj", "no triangle"]);
    b.write("lines.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
    b.bad(&model("lines.obj"), &["lines.obj"]);
    for name in [
        "x.stl",
        "x.ply",
        "x.glb",
        "x.gltf",
        "x.node",
        "x.modal.safetensors",
        "x.wav",
        "x.flac",
        "x.csv",
        "x.json",
        "x",
    ] {
        b.write(name, b"\x00\x01garbage that is no file of any kind\xff\xfe");
        // Of a .node file its .ele sibling is missed first.
        let named = if name == "x.node" { "x.ele" } else { name };
        b.bad(&["inspect", name], &[named]);
        b.bad(&["strike", name, "-o", "out.wav"], &[name]);
        b.bad(&["fit", name, "-o", "out.m"], &[name]);
    }
    b.bad(&["model", "bar.obj", "--material", "steal", "-o", "out.m"], &["steal", "did you mean `steel`"]);
    assert_eq!(b.bad(&["model", "bar.obj", "-o", "out.m"], &["--material"]), 2);
    b.bad(&["model", "bar.obj", "--material", "steel", "--thickness", "0", "-o", "out.m"], &["bar.obj", "thickness"]);
    b.bad(&["model", "bar.obj", "--material", "steel", "--scale", "-1", "-o", "out.m"], &["scale"]);
    b.bad(&["model", "bar.obj", "--material", "steel", "--scale", "1e-9", "-o", "out.m"], &["bar.obj"]);
    b.bad(&["model", "bar.obj", "--material", "steel", "--modes", "0", "-o", "out.m"], &["modes"]);
    b.bad(&["model", "bar.obj", "--material", "steel", "-o", "no/such/folder/out.m"], &["no/such/folder"]);
    assert_eq!(b.bad(&["strike", "bar.obj", "--at", "1,2", "-o", "out.wav"], &["--at"]), 2);
    assert_eq!(b.bad(&["no-such-command"], &[]), 2);
    b.bad(
        &["shape", "disc", "--radius", "nan", "--thickness", "0.01", "--material", "steel", "-o", "out.m"],
        &["radius"],
    );
    b.write("mine.toml", "[[material]]\nname = 'x'\nyung_pa = 1\n");
    b.bad(&["materials", "--materials", "mine.toml"], &["mine.toml", "yung_pa"]);
    assert!(!b.path("out.m").exists() && !b.path("out.wav").exists());
}

/// A model file cut short or of a later major version is refused; a later version is named with ours.
#[test]
fn damaged_models_are_refused() {
    let b = Bench::new();
    b.good(&["shape", "disc", "--radius", "0.1", "--thickness", "0.003", "--material", "bronze", "-o", "d.m"]);
    let bytes = std::fs::read(b.path("d.m")).unwrap();
    for share in [1, 3, 7, 9] {
        b.write("cut.modal.safetensors", &bytes[..bytes.len() * share / 10]);
        b.bad(&["strike", "cut.modal.safetensors", "-o", "x.wav"], &["cut.modal.safetensors"]);
    }
    let at = bytes.windows(17).position(|w| w == b"eigentone.modal/1").unwrap();
    let mut later = bytes.clone();
    later[at + 16] = b'7';
    b.write("later.modal.safetensors", later);
    b.bad(&["inspect", "later.modal.safetensors"], &["eigentone.modal/7", "eigentone.modal/1"]);
}

/// `demo` makes its page, picture, models and sounds, and the page names only files that exist.
#[test]
fn the_demo_is_complete() {
    let b = Bench::new();
    let report = b.json(&["demo", "-o", "d", "--json"]);
    assert_eq!(report["objects"].as_array().unwrap().len(), 5);
    let page = std::fs::read_to_string(b.path("d/index.html")).unwrap();
    let named: Vec<&str> =
        page.split("src=\"").chain(page.split("href=\"")).skip(1).filter_map(|p| p.split('"').next()).collect();
    assert!(named.len() > 10);
    for object in report["objects"].as_array().unwrap() {
        for sound in object["sounds"].as_array().unwrap() {
            let (rate, samples) = read_wav(&b.path(sound[1].as_str().unwrap()));
            assert_eq!((rate, samples.len()), (44_100.0, 132_300));
            assert!(samples.iter().any(|y| y.abs() > 0.01) && samples.iter().all(|y| y.abs() <= 1.0));
        }
    }
    for name in page.split("src=\"").skip(1).filter_map(|p| p.split('"').next()) {
        assert!(b.path("d").join(name).exists(), "{name}");
    }
}

#[test]
fn materials_are_listed_with_their_origin() {
    let b = Bench::new();
    let table = b.json(&["materials", "--json"]);
    let names: Vec<&str> = table.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    for name in [
        "steel",
        "aluminium",
        "brass",
        "bronze",
        "glass",
        "ceramic",
        "wood",
        "rosewood",
        "plastic",
        "rubber",
        "stone",
        "ice",
        "concrete",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(table.as_array().unwrap().iter().all(|m| !m["origin"].as_str().unwrap().is_empty()));
    b.write("mine.toml", "[[material]]\nname = 'old_oak'\nbase = 'oak'\nyoung_pa = 13e9\n");
    assert!(b.good(&["materials", "--materials", "mine.toml"]).contains("old_oak"));
}

/// `--self-mask` leaves out what cannot be heard and says how much; `--play` without a device and a strike without any output are usage errors.
#[test]
fn self_masking_and_playing() {
    let b = Bench::new();
    b.good(&[
        "shape",
        "plate",
        "--length",
        "0.6",
        "--width",
        "0.5",
        "--thickness",
        "0.002",
        "-m",
        "steel",
        "-o",
        "plate.m",
    ]);
    b.good(&["inspect", "plate.m", "--export", "plate.csv"]);
    b.good(&["model", "plate.csv", "--base", "plate.m", "--self-mask", "0", "-o", "less.m"]);
    let modes = |file: &str| b.json(&["inspect", file, "--json"])["modes"].as_array().unwrap().len();
    let (all, kept) = (modes("plate.m"), modes("less.m"));
    assert!(kept > 5 && kept < all, "{kept} of {all}");
    b.good(&["strike", "less.m", "-o", "less.wav"]);
    assert_eq!(
        b.bad(&["model", "plate.csv", "--base", "plate.m", "--self-mask", "-3", "-o", "x.m"], &["--self-mask"]),
        2
    );
    assert_eq!(b.bad(&["strike", "less.m"], &["--output"]), 2);
    if !cfg!(feature = "device") {
        assert_eq!(b.bad(&["strike", "less.m", "--play"], &["--features device", "-o"]), 2);
    }
}
