//! Scene files: what is read, what is refused, and how the refusal reads.

use eigentone_scene::Error;
use eigentone_scene::scene::{
    Action, ColliderChoice, ColliderShape, Energy, Impulse, LARGEST_SCENE_BYTES, Method, Note, Region, Rotation, Scene,
    Shape,
};
use proptest::prelude::*;
use std::collections::HashSet;
use std::path::Path;

fn parse(text: &str) -> Result<Scene, Error> {
    Scene::parse(text, Path::new("."), "room.toml")
}

/// The message, which must name the file.
fn refused(text: &str) -> String {
    let message = parse(text).expect_err(text).to_string();
    assert!(message.starts_with("room.toml: "), "{message}");
    message
}

fn refuses(text: &str, parts: &[&str]) {
    let message = refused(text);
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}\nof {text}");
    }
}

/// Every table and every key once.
const FULL: &str = include_str!("scenes/full.toml");

#[test]
fn an_empty_scene_has_the_documented_defaults() {
    let scene = parse("").unwrap();
    assert_eq!((scene.seed, scene.duration_s, scene.title.as_str()), (0, 5.0, ""));
    assert_eq!((scene.output.sample_rate_hz, scene.output.full_scale_pa, scene.output.tail_s), (44_100.0, None, None));
    assert_eq!((scene.listener.position, scene.listener.look), ([0.0, -2.0, 1.2], [0.0, 1.0, 0.0]));
    assert_eq!((scene.physics.gravity, scene.physics.step_s), ([0.0, 0.0, -9.81], 1.0 / 480.0));
    assert_eq!((scene.quality.masking_offset_db(), scene.quality.budget, scene.quality.slope), (None, None, 2.0));
    assert!(scene.bodies.is_empty() && scene.particles.is_none());
}

#[test]
fn a_body_needs_only_a_shape() {
    let scene = parse("[[body]]\nsphere = 1\n[[body]]\nplane = true\n[[body]]\nsphere = 0.5\n").unwrap();
    let names: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["sphere", "plane", "sphere 2"]);
    let [ball, floor, _] = &scene.bodies[..] else { panic!() };
    assert_eq!((ball.shape.clone(), ball.material.as_str(), ball.method), (Shape::Sphere(1.0), "steel", Method::Auto));
    assert_eq!((ball.gain_db, ball.emphasis, ball.damping, ball.scale), (0.0, 1.0, 1.0, 1.0));
    assert_eq!((ball.rotation.quaternion(), ball.collider), ([0.0, 0.0, 0.0, 1.0], ColliderChoice::Auto));
    assert!(!ball.is_fixed() && !ball.is_silent());
    assert!(floor.is_fixed() && floor.is_silent());
    assert!(!parse("[[body]]\nplane = true\nsilent = false\n").unwrap().bodies[0].is_silent());
}

#[test]
fn every_key_is_read() {
    let scene = parse(FULL).unwrap();
    assert_eq!((scene.title.as_str(), scene.seed), ("everything", u64::MAX));
    assert_eq!(scene.quality.masking_offset_db(), Some(7.5));
    assert_eq!(scene.bodies.len(), 18);
    let shapes: Vec<&str> = scene.bodies.iter().map(|b| b.shape.key()).collect();
    for key in [
        "box", "sphere", "cylinder", "ring", "plate", "disc", "bar", "bowl", "bell", "tumbler", "mesh", "plane",
        "model",
    ] {
        assert!(shapes.contains(&key), "{key}");
    }
    assert_eq!(
        scene.body("can").unwrap().shape,
        Shape::Cylinder { radius: 0.03, height: 0.1, facets: 32, capped: true }
    );
    assert_eq!(scene.body("bell").unwrap().diffuse.as_ref().unwrap()[0].t60_s, 0.4);
    let hung = scene.body("hung").unwrap();
    assert_eq!(hung.rotation, Rotation::Axis { axis: [0.0, 2.0, 0.0], degrees: 90.0 });
    let half = 0.5_f64.sqrt();
    let expected = [0.0, half, 0.0, half];
    assert!(hung.rotation.quaternion().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
    assert_eq!(scene.body("C5").unwrap().tune, Some(Note { midi: 72 }));
    let peas = scene.body("pea").unwrap();
    assert_eq!((peas.count(), peas.copy_name(0), peas.copy_name(5)), (24, "pea".into(), "pea 6".into()));
    let place = peas.copies.unwrap().offset(4 + 4 * 3 + 1);
    assert!(place.iter().zip([0.01, 0.02, 0.03]).all(|(a, b)| (a - b).abs() < 1e-12), "{place:?}");
    assert_eq!(scene.events[0].action, Action::ImpulseNs(Impulse::Inward(0.05)));
    assert_eq!(scene.events[0].hardness, Some(1e6));
    assert_eq!(scene.events[1].action, Action::ImpulseNs(Impulse::Vector([0.0, 0.0, -0.1])));
    assert_eq!(scene.events.iter().filter(|e| e.action == Action::Silence).count(), 1);
    let gravel = scene.surface("my gravel").unwrap();
    assert_eq!(gravel.like.as_deref(), Some("gravel"));
    assert_eq!(gravel.texture["friction"].as_float(), Some(0.7));
    assert!(gravel.texture["low_pass"].is_table() && !gravel.texture.contains_key("name"));
    let particles = scene.particles.unwrap();
    assert_eq!(particles.energy, Energy::Box { most_j: 0.1, ratio: 10.0 });
    assert!(matches!(particles.region, Region::Disc { normal: [0.0, 0.0, 1.0], .. }));
    assert_eq!(scene.colliders.len(), 6);
    assert!(matches!(scene.colliders[5].shape, ColliderShape::Quadric { c: -1.0, .. }));
}

/// Every key that can be written stands in the page about scenes, as code.
#[test]
fn every_key_is_documented() {
    let page = include_str!("../../../docs/scenes.md").replace("```toml", "`").replace("```", "`");
    let is_key = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let documented: HashSet<&str> =
        page.split('`').skip(1).step_by(2).flat_map(|code| code.split(|c| !is_key(c))).collect();
    fn keys(table: &toml::Table, found: &mut HashSet<String>) {
        for (key, value) in table {
            found.insert(key.clone());
            match value {
                toml::Value::Table(table) => keys(table, found),
                toml::Value::Array(list) => list.iter().filter_map(|v| v.as_table()).for_each(|t| keys(t, found)),
                _ => {}
            }
        }
    }
    let mut written = HashSet::new();
    // Their integers have 63 bits, our seed 64.
    keys(&toml::from_str(&FULL.replace(&u64::MAX.to_string(), "7")).unwrap(), &mut written);
    assert!(written.len() > 120, "{}", written.len());
    for key in written {
        assert!(documented.contains(key.as_str()), "docs/scenes.md lacks `{key}`");
    }
}

#[test]
fn unknown_keys_are_refused_with_what_was_meant() {
    refuses(
        "[[body]]\nsphere = 1\n[[body]]\nsphere = 1\n[[body]]\nname = 'bar'\nsphere = 1\npostion = [0, 0, 1]\n",
        &["line 8, column 1", "unknown key `postion` in [[body]] no. 3 (`bar`); did you mean `position`?"],
    );
    refuses("[[body]]\nspere = 1\n", &["unknown key `spere` in [[body]] no. 1; did you mean `sphere`?"]);
    refuses(
        "[output]\nsample_rate = 8000\n",
        &["unknown key `sample_rate` in [output]; did you mean `sample_rate_hz`?"],
    );
    refuses("[[bodys]]\nsphere = 1\n", &["unknown key `bodys` at the top of the scene; did you mean `body`?"]);
    refuses("zzzzzz = 1\n", &["unknown key `zzzzzz`", "known are `title`"]);
    refuses(
        "[[body]]\nsphere = 1\nglide = { amout = 0.1 }\n",
        &["unknown key `glide.amout` in [[body]] no. 1; did you mean `amount`?"],
    );
    refuses("[[body]]\ncylinder = { radius = 1, height = 1, facet = 3 }\n", &["cylinder.facet`", "`facets`?"]);
    refuses(
        "[[body]]\nsphere = 1\npath = [{ time_s = 1, postion = [0,0,0] }]\n",
        &["`path[0].postion`", "`position`?"],
    );
    refuses("[[body]]\nsphere = 1\nrotation = { axis = [0,0,1], degree = 3 }\n", &["`rotation.degree`", "`degrees`?"]);
    refuses("[[body]]\nsphere = 1\ndiffuse = [{low_hz = 1, high_hz = 2, gain = 1, t60 = 1}]\n", &["`diffuse[0].t60`"]);
    refuses("[[event]]\nbody = 'x'\nimpulse = 1\n", &["[[event]] no. 1", "did you mean `impulse_ns`?"]);
    refuses(
        "[particles]\nenergy = { inverse = { most_j = 1, ratio = 2 } }\n",
        &["`energy` in [particles]", "`inverse_e`"],
    );
}

#[test]
fn impossible_acoustics_are_refused() {
    refuses("[acoustics]\nf_max = 250\n", &["f_max", "f_max_hz"]);
    refuses("[acoustics]\nf_max_hz = nan\n", &["[acoustics]", "f_max_hz"]);
    refuses("[acoustics]\nroom = \"abbey\"\nsize = [1, 2, 3]\n", &["size", "shoebox"]);
    refuses("[acoustics]\nprobes = [[0, 0, inf]]\n", &["probes"]);
}

#[test]
fn what_is_to_come_is_not_called_unknown() {
    refuses("[[soft]]\n", &["has no shape, nor `tets`"]);
}

#[test]
fn syntax_errors_have_line_and_column() {
    refuses("title = 'x'\nseed = = 3\n", &["line 2, column 8"]);
    refuses("[[body]\n", &["line 1, column"]);
    refuses("seed = 1\nseed = 2\n", &["line 2, column 1", "duplicate"]);
}

#[test]
fn wrong_types_are_told_in_plain_words() {
    refuses(
        "[[body]]\nsphere = 'big'\n",
        &["line 2", "`sphere` in [[body]] no. 1: expected a number, found the text \"big\""],
    );
    refuses("seed = -1\n", &["`seed` in the scene: expected a whole number, 0 or more, found -1"]);
    refuses("[[body]]\nbox = [1, 2]\n", &["`box`", "expected a list of length 3"]);
    refuses("[[body]]\nbox = [1, 2, 3, 4]\n", &["`box`", "expected 3 values, found 4"]);
    refuses("[[body]]\nbox = [1, 'a', 3]\n", &["`box[1]`", "expected a number"]);
    refuses("[[body]]\nsphere = 1\nrotation = 3\n", &["`rotation`", "axis", "quaternion"]);
    refuses("[[body]]\nsphere = 1\nmethod = 'solids'\n", &["`method`", "`shell`", "did you mean `solid`?"]);
    refuses("[[body]]\nsphere = 1\nfixed = 1\n", &["`fixed`", "`true` or `false`"]);
    refuses("[[body]]\nplane = false\n", &["write `plane = true`, or leave it out"]);
    refuses("[[body]]\ncylinder = { radius = 1 }\n", &["`cylinder.height` is missing in [[body]] no. 1"]);
    refuses("[body]\nsphere = 1\n", &["write [[body]] with double brackets"]);
    refuses("[[output]]\n", &["there is only one [output]"]);
    refuses("output = 3\n", &["expected a table [output]"]);
    refuses("title = 1979-05-27\n", &["dates mean nothing"]);
    refuses("[[event]]\nbody = 'x'\nimpulse_ns = 1\nhardness = 'stone'\n", &["`hardness`", "`felt`, `rubber`"]);
}

#[test]
fn exactly_one_shape_and_one_action() {
    refuses("[[body]]\nname = 'x'\n", &["[[body]] no. 1 (`x`): has no shape; give one of `box`, `sphere`"]);
    refuses("[[body]]\nsphere = 1\nbox = [1,1,1]\n", &["`sphere` and `box` exclude each other; leave one out"]);
    refuses("[[event]]\nbody = 'x'\n", &["[[event]] no. 1: has no action; give one of `impulse_ns`"]);
    refuses("[[collider]]\n", &["[[collider]] no. 1: has no shape; give one of `quad`"]);
    assert_eq!(parse("[[body]]\nmodel = 'x.modal.safetensors'\n").unwrap().bodies[0].shape, Shape::OfModel);
}

/// A body that is fine but for one line.
fn body_refuses(line: &str, parts: &[&str]) {
    refuses(&format!("[[body]]\nname = 'x'\nsphere = 0.1\n{line}\n"), &[&["[[body]] no. 1 (`x`)"], parts].concat());
}

#[test]
fn impossible_numbers_are_refused_with_the_possible_ones() {
    for key in ["position", "velocity", "spin"] {
        for bad in ["nan", "inf", "-inf", "1e300"] {
            body_refuses(&format!("{key} = [0, {bad}, 0]"), &[&format!("`{key}[1]`"), "within ±1e6"]);
        }
    }
    for key in ["thickness_m", "mass_kg", "lives_s"] {
        for bad in ["0", "-1", "nan", "inf"] {
            body_refuses(&format!("{key} = {bad}"), &[&format!("`{key}`"), "more than 0"]);
        }
    }
    for (key, bad) in [
        ("restitution", "1.5"),
        ("rolling_resistance", "-0.1"),
        ("friction", "-0.1"),
        ("damping", "0.05"),
        ("gain_db", "nan"),
        ("emphasis", "-1"),
        ("tune_hz", "0"),
        ("appears_s", "-1"),
        ("strain_sensitivity", "inf"),
    ] {
        body_refuses(&format!("{key} = {bad}"), &[&format!("`{key}`"), "expected"]);
    }
    body_refuses("rotation = [0, 0, 0, 0]", &["`rotation`", "no direction"]);
    body_refuses("rotation = { axis = [0,0,0], degrees = 1 }", &["`rotation.axis`", "no direction"]);
    body_refuses("strain = [[1, 0], [1, 0.1]]", &["`strain[1]`", "must rise"]);
    body_refuses("path = [{time_s = 2}, {time_s = 1}]", &["`path[1]`", "must rise"]);
    body_refuses("glide = { amount = 0.5 }", &["`glide.amount`", "-0.3 to 0.3"]);
    body_refuses("nonlinear = { sections = 9 }", &["`nonlinear.sections`", "2 to 4"]);
    body_refuses(
        "diffuse = [{low_hz = 2, high_hz = 1, gain = 1, t60_s = 1}]",
        &["`diffuse[0]`", "`low_hz` < `high_hz`"],
    );
    body_refuses("drive = { velocity = [1,0,0], force_n = 0 }", &["`drive.force_n`"]);
    body_refuses("modes = 0", &["`modes`", "silent = true"]);
    body_refuses("scale = 2", &["`scale`", "only with `mesh`"]);
    for (text, part) in [
        ("box = [1, 0, 1]", "`box[1]`"),
        ("sphere = -1", "`sphere`"),
        ("sphere = nan", "`sphere`"),
        ("disc = inf", "`disc`"),
        ("ring = { radius = 0.1, stock_radius = 0.2 }", "less than the radius"),
        ("bowl = { radius = 0.1, around = 100000 }", "3 to 512"),
    ] {
        refuses(&format!("[[body]]\n{text}\n"), &[part, "[[body]] no. 1"]);
    }
    refuses("duration_s = 601\n", &["`duration_s` in the scene", "at most 600", "601"]);
    refuses("duration_s = nan\n", &["`duration_s`"]);
    refuses("[output]\nsample_rate_hz = 100\n", &["`sample_rate_hz` in [output]", "8000 to 384000"]);
    refuses("[physics]\nstep_s = 0.1\n", &["`step_s` in [physics]", "1/2000 to 1/60"]);
    refuses("[listener]\nlook = [0, 0, 0]\n", &["`look` in [listener]", "no direction"]);
    refuses("[quality]\nbudget = 0\n", &["`budget` in [quality]", "leave it out"]);
    refuses("[[surface]]\nname = 'a'\nfriction = nan\n", &["`friction` in [[surface]] no. 1 (`a`)"]);
    refuses("[[surface]]\nname = 'a'\ngain = { slip = [[0, nan]] }\n", &["`gain.slip[0][1]`"]);
}

#[test]
fn contradictions_are_named() {
    body_refuses("fixed = true\nkinematic = true", &["`kinematic`", "excludes `fixed`"]);
    body_refuses("fixed = true\nvelocity = [1, 0, 0]", &["neither velocity nor spin"]);
    body_refuses("path = [{time_s = 0}]\ndrive = { force_n = 1 }", &["`drive`", "excludes `path`"]);
    body_refuses("tune = 'A4'\ntune_hz = 440", &["`tune_hz`", "excludes `tune`"]);
    body_refuses("template = true\ncopies = { count = [2, 1, 1] }", &["`template`", "no `copies`"]);
    let floor = "[[body]]\nplane = true\n[[body]]\nsphere = 0.1\n";
    refuses(&format!("{floor}lands = {{ on = 'plane' }}\nposition = [0, 0, 1]\n"), &["`lands`", "`position`"]);
    refuses(&format!("{floor}lands = {{ on = 'plane' }}\nappears_s = 1\n"), &["`appears_s`", "leave that out"]);
    let early = format!("{floor}lands = {{ on = 'plane', at_s = 0.1, height_m = 0.2 }}\n");
    // √(2·0.2/9.81) = 0.2019
    refuses(&early, &["`lands.at_s`", "0.202 s"]);
    refuses(
        &format!("physics = {{ gravity = [0, 0, 0] }}\n{floor}lands = {{ on = 'plane' }}\n"),
        &["does not point down"],
    );
    assert!(parse(&early.replace("0.1, h", "0.21, h")).is_ok());
    let event = |rest: &str| format!("{floor}[[event]]\nbody = 'sphere'\n{rest}\n");
    refuses(&event("damping = 2\nhardness = 10"), &["`hardness` in [[event]] no. 1", "only with `impulse_ns`"]);
    refuses(&event("silence = true\nat = [0, 0, 0]"), &["`at`", "leave it out"]);
    refuses(&event("impulse_ns = 1\nduration_s = 0.1\nmass_kg = 1"), &["`duration_s`", "excludes"]);
    refuses("[particles]\n", &["fall on nothing; add a [[collider]]"]);
    refuses("[[collider]]\nsphere = { centre = [0,0,0], radius = 1 }\n", &["struck by nothing; add [particles]"]);
    let quad = "[particles]\n[[collider]]\nquad = { corner = [0,0,0], edges = [[1,0,0],[2,0,0]] }\n";
    refuses(quad, &["`quad.edges` in [[collider]] no. 1", "not parallel"]);
}

#[test]
fn names_must_be_unique_and_known() {
    refuses(
        "[[body]]\nname = 'a'\nsphere = 1\n[[body]]\nname = 'a'\nsphere = 1\n",
        &["[[body]] no. 2 (`a`)", "rename one"],
    );
    refuses(
        "[[body]]\nname = 'a'\nsphere = 1\ncopies = { count = [2,1,1] }\n[[body]]\nname = 'a 2'\nsphere = 1\n",
        &["[[body]] no. 2 (`a 2`)", "copies"],
    );
    // Names that are made up keep out of the way.
    assert!(parse("[[body]]\nsphere = 1\ncopies = { count = [3,1,1] }\n[[body]]\nsphere = 1\n").is_ok());
    let bar = "[[body]]\nname = 'bar C5'\nsphere = 1\n";
    refuses(
        &format!("{bar}[[event]]\nbody = 'bar C6'\nsilence = true\n"),
        &["there is no body `bar C6`; did you mean `bar C5`?"],
    );
    refuses(&format!("{bar}[[event]]\nsilence = true\n"), &["`body` in [[event]] no. 1: is missing"]);
    refuses(
        &format!("{bar}[[bridge]]\nfrom = 'bar C5'\nto = 'bra C5'\n"),
        &["`to` in [[bridge]] no. 1", "did you mean `bar C5`?"],
    );
    refuses(&format!("{bar}lands = {{ on = 'baar' }}\n"), &["`lands.on`", "there is no body `baar`"]);
    refuses(&format!("{bar}shares = 'bar C5'\n"), &["`shares`", "its own"]);
    refuses(
        &format!("{bar}[[body]]\nsphere = 1\ntemplate = true\n[[event]]\nbody = 'sphere'\nsilence = true\n"),
        &["is a template"],
    );
    refuses("[[surface]]\nfriction = 1\n", &["[[surface]] no. 1: has no `name`"]);
    refuses("[[surface]]\nname = 'a'\n[[surface]]\nname = 'a'\n", &["`name` in [[surface]] no. 2 (`a`)", "rename one"]);
    refuses("[[surface]]\nname = 'a'\nlike = 'b'\n[[surface]]\nname = 'b'\nlike = 'a'\n", &["`like`", "comes back"]);
    assert!(parse("[[surface]]\nname = 'gravel'\nlike = 'gravel'\n").is_ok());
    // A copy can be named.
    assert!(
        parse(
            "[[body]]\nname = 'p'\nsphere = 1\ncopies = { count = [2,1,1] }\n[[event]]\nbody = 'p 2'\nsilence = true\n"
        )
        .is_ok()
    );
}

#[test]
fn several_problems_are_told_at_once() {
    let message = refused("duration_s = -1\n[[body]]\nsphere = -1\nmass_kg = 0\n");
    assert!(
        message.contains("`duration_s`") && message.contains("`sphere`") && message.contains("`mass_kg`"),
        "{message}"
    );
    let many = refused(&"[[body]]\nsphere = -1\n".repeat(20));
    assert!(many.contains("… and 15 more"), "{many}");
}

#[test]
fn ten_thousand_bodies_are_enough() {
    let scene = |count: &str| format!("[[body]]\nname = 'pea'\nsphere = 0.003\ncopies = {{ count = {count} }}\n");
    assert_eq!(parse(&scene("[100, 10, 10]")).unwrap().bodies[0].count(), 10_000);
    refuses(&scene("[101, 10, 10]"), &["`copies.count` in [[body]] no. 1 (`pea`)", "at most 10000"]);
    refuses(&scene("[18446744073709551615, 18446744073709551615, 2]"), &["at most 10000"]);
    refuses(&scene("[0, 1, 1]"), &["`copies.count`", "0 × 1 × 1"]);
    refuses(&format!("{}[[body]]\nsphere = 1\n", scene("[100, 10, 10]")), &["10001 bodies"]);
    refuses(&"[[body]]\nsphere=1\n".repeat(10_001), &["10001 [[body]]s"]);
}

/// The equal temperament: `f = 440 · 2^((m − 69)/12)`.
#[test]
fn notes_have_their_pitch() {
    for (name, midi, hz) in [
        ("A4", 69, 440.0),
        ("C4", 60, 261.625_565_301),
        ("C-1", 0, 8.175_798_916),
        ("G9", 127, 12_543.853_951),
        ("Bb3", 58, 233.081_880_759),
    ] {
        let note: Note = name.parse().unwrap();
        assert_eq!(note.midi, midi, "{name}");
        assert!((note.hz() / hz - 1.0).abs() < 1e-8, "{name}: {}", note.hz());
    }
    for midi in 0..=127 {
        let note = Note { midi };
        assert_eq!(note.to_string().parse::<Note>(), Ok(note));
        assert!((note.hz() - 440.0 * 2_f64.powf((f64::from(midi) - 69.0) / 12.0)).abs() < 1e-9);
    }
    let same = |a: &str, b: &str| a.parse::<Note>().unwrap() == b.parse::<Note>().unwrap();
    assert!(same("D#5", "Eb5") && same("cb4", "B3") && same("E♯4", "F4"));
    for bad in ["", "H5", "C", "5", "C##4", "C#b4", "C+4", "C 4", "G#9", "Cb-1", "C99999999999", "é4"] {
        assert!(bad.parse::<Note>().is_err(), "{bad}");
    }
    body_refuses("tune = 'H5'", &["`tune`", "`H5` is not a note", "like `F#4`"]);
}

/// Bodies tuned to these notes, a die, and a melody.
fn band(tunes: &[&str], melody: &str) -> String {
    let bars: String =
        tunes.iter().map(|t| format!("[[body]]\nbar = [0.2, 0.03, 0.01]\nfixed = true\ntune = '{t}'\n")).collect();
    format!(
        "{bars}[[body]]\nname = 'die'\nbox = [0.01, 0.01, 0.01]\ntemplate = true\n[[melody]]\nbody = 'die'\n{melody}\n"
    )
}

#[test]
fn melodies_become_notes_at_times() {
    let scene = parse(&band(
        &["D5", "Eb5", "C4", "E4", "G4"],
        "tempo_bpm = 90\nstart_s = 2\nnotes = '''D5:0.5 D#5:0.5 | r:0.25\n C4+E4+G4:1 D5'''",
    ))
    .unwrap();
    let score = scene.melodies[0].score().unwrap();
    let beat = 60.0 / 90.0;
    let expected = [(0.0, 74), (0.5, 75), (1.25, 60), (1.25, 64), (1.25, 67), (2.25, 74)];
    assert_eq!(score.len(), expected.len());
    for (note, (beats, midi)) in score.iter().zip(expected) {
        assert!((note.time_s - (2.0 + beats * beat)).abs() < 1e-12, "{note:?}");
        assert_eq!(note.note.midi, midi);
        assert!((note.note.hz() / (440.0 * 2_f64.powf((f64::from(midi) - 69.0) / 12.0)) - 1.0).abs() < 1e-12);
    }
    assert!((score[1].length_s - 0.5 * beat).abs() < 1e-12);
}

#[test]
fn wrong_melodies_are_refused() {
    let refuse =
        |melody: &str, parts: &[&str]| refuses(&band(&["C5"], melody), &[&["in [[melody]] no. 1"], parts].concat());
    refuse("notes = 'C5 H4'", &["`notes`", "`H4` is not a note"]);
    refuse("notes = 'C5:x'", &["`C5:x` has no valid length", "like `C5:0.5`"]);
    refuse("notes = 'C5:-1'", &["no valid length"]);
    refuse("notes = 'C5 D5 E5 D5'", &["no body is tuned to `D5`, `E5`;"]);
    refuse("notes = ''", &["`notes`", "is empty"]);
    refuse("notes = 'r r'", &["`notes`", "is empty"]);
    refuse("notes = 'C5'\nstart_s = 0", &["`start_s`", "takes 0.202 s"]);
    refuse("notes = 'C5'\ntempo_bpm = 0", &["`tempo_bpm`", "1 to 1000"]);
    refuses(
        &band(&["C5"], "notes = 'C5'").replace("= 'die'\nn", "= 'dye'\nn"),
        &["no template `dye`; did you mean `die`?"],
    );
    refuses(&band(&["C5"], "notes = 'C5'").replace("template = true", "silent = true"), &["`die` is no template"]);
    refuses(&band(&["C5"], &format!("notes = '{}'", "C5 ".repeat(10_001))), &["10002 bodies"]);
}

#[test]
fn files_stay_in_the_folder() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("scenes");
    std::fs::create_dir_all(folder.join("meshes")).unwrap();
    std::fs::write(folder.join("meshes/cup.obj"), "x").unwrap();
    std::fs::write(root.path().join("secret.obj"), "x").unwrap();
    std::fs::write(folder.join("a.toml"), "[[body]]\nmesh = 'meshes/cup.obj'\n").unwrap();
    let scene = Scene::read(&folder.join("a.toml")).unwrap();
    assert!(scene.resolve("meshes/cup.obj").unwrap().ends_with("scenes/meshes/cup.obj"));
    assert!(scene.resolve("./meshes/cup.obj").is_ok());
    let absolute = root.path().join("secret.obj");
    for (path, why) in [
        ("../secret.obj", "leaves the folder of the scene by `..`"),
        ("meshes/../../secret.obj", "leaves the folder of the scene by `..`"),
        ("meshes/../meshes/cup.obj", "by `..`"),
        (absolute.to_str().unwrap(), "is absolute"),
        ("meshes\\cup.obj", "backslash"),
        ("a\0b", "a zero"),
        ("", "is empty"),
        ("meshes", "is not a file"),
        ("meshes/saucer.obj", "cannot be found"),
    ] {
        let message = scene.resolve(path).unwrap_err().to_string();
        assert!(message.contains("a.toml: the path `") && message.contains(why), "{path}: {message}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(root.path(), folder.join("out")).unwrap();
        std::os::unix::fs::symlink(folder.join("meshes"), folder.join("in")).unwrap();
        let message = scene.resolve("out/secret.obj").unwrap_err().to_string();
        assert!(message.contains("leaves the folder of the scene by a link"), "{message}");
        assert!(scene.resolve("in/cup.obj").is_ok());
    }
    refuses("[[body]]\nmesh = '../x.obj'\n", &["`mesh` in [[body]] no. 1", "`../x.obj` leaves the folder", "`..`"]);
    refuses("[[body]]\nmodel = '/x.modal.safetensors'\n", &["`model`", "is absolute"]);
}

#[test]
fn unreadable_files_are_named() {
    let root = tempfile::tempdir().unwrap();
    let refused = |path: &Path| Scene::read(path).unwrap_err().to_string();
    assert!(refused(&root.path().join("none.toml")).contains("none.toml: cannot be read"));
    let binary = root.path().join("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    assert!(refused(&binary).contains("binary.toml: not text") && refused(&binary).contains("UTF-8"));
    let large = root.path().join("large.toml");
    std::fs::write(&large, vec![b'#'; LARGEST_SCENE_BYTES as usize + 1]).unwrap();
    assert!(refused(&large).contains("large.toml: has 4194305 bytes, but at most 4194304 are read"));
    refuses(&"#".repeat(LARGEST_SCENE_BYTES as usize + 1), &["at most 4194304"]);
    assert!(refused(root.path()).contains("cannot be read"));
}

/// A program that changes a scene can have it checked again.
#[test]
fn changed_scenes_are_checked() {
    let mut scene = Scene::default();
    assert!(scene.check().is_ok());
    scene.duration_s = f64::NAN;
    assert!(scene.check().unwrap_err().to_string().contains("`duration_s`"));
}

#[test]
fn deep_and_wide_junk_is_refused_quickly() {
    let start = std::time::Instant::now();
    let _ = parse(&format!("x = {}", "[".repeat(1_000_000)));
    let _ = parse(&"[a.".repeat(500_000));
    let _ = parse(&format!("[[surface]]\nname='a'\nx={}1{}", "{a=".repeat(70), "}".repeat(70)));
    let names: String = (0..9_999).map(|i| format!("[[body]]\nname='b{i}'\nsphere=1\nshares='x{i}'\n")).collect();
    let events: String = (0..50_000).map(|i| format!("[[event]]\nbody='c{i}'\nsilence=true\n")).collect();
    let _ = parse(&(names + &events));
    let likes: String = (0..1000).map(|i| format!("[[surface]]\nname='s{i}'\nlike='s{}'\n", i + 1)).collect();
    let _ = parse(&likes);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn mutated_scenes_never_panic(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..40, "[ -~\n]{0,12}"), 1..6),
    ) {
        let mut text = FULL.to_owned();
        for (place, length, new) in edits {
            let from = place.index(text.len());
            let to = (from + length).min(text.len());
            text.replace_range(from..to, &new);
        }
        if let Ok(scene) = parse(&text) {
            prop_assert!(scene.check().is_ok());
        }
    }

    /// Other values for known keys reach the checks, not just the parser.
    #[test]
    fn strange_numbers_never_panic(
        line in any::<prop::sample::Index>(),
        value in prop::sample::select(vec![
            "nan", "inf", "-inf", "-1", "0", "1e308", "-1e308", "1e-320", "18446744073709551615", "true", "''", "[]", "{}",
            "[nan, nan, nan]", "[1e308, 1e308, 1e308]", "9223372036854775807", "[0, 0, 0]", "[[1]]",
        ]),
    ) {
        let mut lines: Vec<String> = FULL.lines().map(str::to_owned).collect();
        let place = line.index(lines.len());
        if let Some((key, _)) = lines[place].clone().split_once('=') {
            lines[place] = format!("{key}= {value}");
        }
        let _ = parse(&lines.join("\n"));
    }
}
