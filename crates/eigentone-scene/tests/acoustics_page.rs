//! docs/acoustics.md says what the code does.

use eigentone_scene::scene::acoustics::{Acoustics, Ground, Region};
use eigentone_wave::{Settings, probe, walls};
use serde::de::DeserializeOwned;

const PAGE: &str = include_str!("../../../docs/acoustics.md");

/// All keys of a table, from what is said about one that does not exist.
fn keys<T: DeserializeOwned>() -> Vec<String> {
    let error = toml::from_str::<T>("no_such_key = 1").err().expect("unknown keys are refused").to_string();
    let (_, known) = error.split_once("expected").expect("the known keys are listed");
    let keys: Vec<String> = known.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(keys.len() > 1, "{error}");
    keys
}

#[test]
fn every_key_is_on_the_page() {
    for key in keys::<Acoustics>() {
        assert!(PAGE.contains(&format!("\n| `{key}` | ")), "docs/acoustics.md has no row for `{key}`");
    }
    for key in keys::<Ground>().into_iter().chain(keys::<Region>()) {
        assert!(PAGE.contains(&format!("`{key}`")), "docs/acoustics.md lacks `{key}`");
    }
}

#[test]
fn the_defaults_on_the_page_are_those_of_the_code() {
    let d = Settings::default();
    let probes = probe::Settings::default();
    for (key, value) in [
        ("f_max_hz", d.f_max_hz),
        ("radius_m", d.radius_m),
        ("height_m", d.height_m),
        ("padding_m", d.padding_m),
        ("margin_m", d.margin_m),
        ("grid_m", d.grid_m),
        ("spacing_m", probes.spacing_m),
        ("spacing_z_m", probes.vertical_m),
        ("direct_s", d.direct_s),
        ("early_s", d.early_s),
        ("late_s", d.late_s),
        ("onset_db", d.onset_db),
        ("quantum", f64::from(d.quantum)),
    ] {
        assert!(PAGE.contains(&format!("\n| `{key}` | {value} | ")), "docs/acoustics.md: `{key}` is {value}");
    }
}

#[test]
fn the_wall_materials_on_the_page_are_those_of_the_code() {
    let table: String = walls::table()
        .iter()
        .map(|wall| format!("| {} | {:.2} | {} |\n", wall.name, wall.absorption, wall.origin))
        .collect();
    let heading = "| wall material | absorbs | origin |\n| --- | --- | --- |\n";
    assert!(
        PAGE.contains(&format!("{heading}{table}\n")),
        "the table in docs/acoustics.md should be\n{heading}{table}"
    );
}
