//! What a dependant builds: without features the core and the synthesis, and none of the large libraries behind the others.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// All crates that `eigentone` depends on with such features, itself included. Development and build tools do not count.
fn tree(features: &[&str]) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .current_dir(root)
        .args([
            "tree",
            "--offline",
            "--locked",
            "-p",
            "eigentone",
            "-e",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .args(["--no-default-features", "--features", &features.join(",")])
        .output()
        .expect("cargo, which runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names of crates");
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn without_features_there_are_core_and_synthesis() {
    let bare = tree(&[]);
    let ours: Vec<&String> = bare.iter().filter(|name| name.starts_with("eigentone")).collect();
    assert_eq!(ours, ["eigentone", "eigentone-core", "eigentone-synth"]);
    for heavy in ["rapier3d", "parry3d", "faer", "symphonia", "ab_glyph", "sofar", "rayon", "rustfft", "flate2", "toml"]
    {
        assert!(!bare.contains(heavy), "{heavy} in {bare:?}");
    }
}

/// Each feature brings its own crate, and only with it come the libraries behind it.
#[test]
fn features_bring_what_they_say() {
    for (feature, heavy) in [("modal", "faer"), ("io", "symphonia"), ("sim", "rapier3d"), ("wave", "rayon")] {
        let with = tree(&[feature]);
        assert!(with.contains(&format!("eigentone-{feature}")) && with.contains(heavy), "{feature}: {with:?}");
    }
    for (feature, without) in [("modal", "rapier3d"), ("io", "faer"), ("sim", "symphonia"), ("wave", "rapier3d")] {
        assert!(!tree(&[feature]).contains(without), "{without} with {feature}");
    }
    let space = tree(&["space"]);
    assert!(!space.contains("eigentone-io") && !space.contains("sofar"), "{space:?}");
    assert!(tree(&["space", "io"]).contains("sofar"));
    let scene = tree(&["scene"]);
    assert!(scene.contains("rapier3d") && !scene.contains("ab_glyph") && !scene.contains("cpal"), "{scene:?}");
    assert!(tree(&["plot"]).contains("ab_glyph"));
}
