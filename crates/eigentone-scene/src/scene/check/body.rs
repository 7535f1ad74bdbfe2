//! `[[body]]`.

use super::{LARGEST, LONGEST_SIDE_M, Names, Table, length};
use crate::scene::file::strays;
use crate::scene::{Body, LONGEST_S, MAX_BODIES, MAX_FACETS, Scene, Shape, read};

/// Noise bands of one body.
const MAX_BANDS: usize = 64;

/// Modes of one body.
const MAX_MODES: usize = 100_000;

pub(super) fn check(scene: &Scene, names: &Names<'_>, problems: &mut Vec<String>) {
    for (index, body) in scene.bodies.iter().enumerate() {
        let mut table = Table::new(read::label("body", index, Some(&body.name)), problems);
        form(body, &mut table);
        place(body, &mut table);
        motion(body, &mut table);
        sound(body, &mut table);
        relations(scene, names, body, &mut table);
        copy_edits(body, &mut table);
    }
}

/// What single copies have in place of it.
fn copy_edits(body: &Body, table: &mut Table<'_>) {
    let mut seen = std::collections::BTreeSet::new();
    for edit in &body.copy_edits {
        if !(1..=body.count()).contains(&edit.copy) {
            table.say(
                "copy_edits",
                &format!("there is no copy {}: they are counted from 1 to {}", edit.copy, body.count()),
            );
        }
        if !seen.insert(edit.copy) {
            table.say("copy_edits", &format!("copy {} is there twice; make one of both", edit.copy));
        }
        let mut one = Body { copies: None, copy_edits: Vec::new(), ..body.clone() };
        edit.apply(&mut one);
        form(&one, table);
        place(&one, table);
        motion(&one, table);
        sound(&one, table);
    }
}

/// Sizes and files of a shape.
pub(super) fn shape(shape: &Shape, table: &mut Table<'_>) {
    for (key, value) in shape.lengths() {
        table.positive(key, value, LONGEST_SIDE_M);
    }
    for (key, value, least) in shape.facets() {
        if !(least..=MAX_FACETS).contains(&value) {
            table.say(key, &format!("expected {least} to {MAX_FACETS}, found {value}"));
        }
    }
    if let Shape::Ring { radius, stock_radius, .. } = *shape
        && stock_radius >= radius
    {
        table.say("ring.stock_radius", &format!("must be less than the radius of {radius}, found {stock_radius}"));
    }
    if let Shape::Mesh(path) = shape
        && let Some(why) = strays(path)
    {
        table.say("mesh", &format!("the path `{path}` {why}"));
    }
}

fn form(body: &Body, table: &mut Table<'_>) {
    shape(&body.shape, table);
    if let Some(path) = &body.model
        && let Some(why) = strays(path)
    {
        table.say("model", &format!("the path `{path}` {why}"));
    }
    if body.shape == Shape::OfModel && body.model.is_none() {
        table.say("model", "is missing, and there is no other shape");
    }
    table.positive("scale", body.scale, LARGEST);
    if body.scale != 1.0 && !matches!(body.shape, Shape::Mesh(_)) {
        table.say("scale", "means something only with `mesh`; change the sizes instead");
    }
    if body.material.trim().is_empty() {
        table.say("material", "is empty; name one of the table, such as `steel`");
    }
    table.maybe_positive("thickness_m", body.thickness_m, LONGEST_SIDE_M);
    for how in &body.support {
        if let Err(wrong) = how.parse::<eigentone_modal::Support>() {
            table.say("support", &wrong);
        }
    }
    if body.grain.is_some_and(|along| along.iter().all(|x| *x == 0.0 || !x.is_finite())) {
        table.say("grain", "is no direction: one of its three numbers must differ from zero");
    }
    table.maybe_positive("mass_kg", body.mass_kg, LARGEST);
    if body.modes.is_some_and(|n| !(1..=MAX_MODES).contains(&n)) {
        table.say("modes", &format!("expected 1 to {MAX_MODES}; `silent = true` makes no sound"));
    }
    if let Some(copies) = &body.copies {
        if copies.count.contains(&0) || copies.total() > MAX_BODIES {
            let [x, y, z] = copies.count;
            table.say("copies.count", &format!("expected 1 to {MAX_BODIES} in all, found {x} × {y} × {z}"));
        }
        table.finite("copies.spacing", &copies.spacing);
        table.within("copies.jitter_m", copies.jitter_m, 0.0, LARGEST);
        table.within("copies.turn_degrees", copies.turn_degrees, 0.0, 180.0);
    }
}

fn place(body: &Body, table: &mut Table<'_>) {
    table.finite("position", &body.position);
    table.rotation("rotation", &body.rotation);
    table.finite("velocity", &body.velocity);
    table.finite("spin", &body.spin);
    table.maybe_within("friction", body.friction, 0.0, 100.0);
    table.maybe_within("restitution", body.restitution, 0.0, 1.0);
    table.within("rolling_resistance", body.rolling_resistance, 0.0, 1.0);
    table.maybe_within("appears_s", body.appears_s, 0.0, LONGEST_S);
    table.maybe_positive("lives_s", body.lives_s, LARGEST);
    table.rising("path", body.path.iter().map(|k| k.time_s));
    for (i, key) in body.path.iter().enumerate() {
        table.finite(&format!("path[{i}].position"), &key.position);
        table.rotation(&format!("path[{i}].rotation"), &key.rotation);
    }
    if let Some(drive) = &body.drive {
        table.direction("drive.velocity", &drive.velocity);
        table.positive("drive.force_n", drive.force_n, LARGEST);
        table.within("drive.from_s", drive.from_s, 0.0, LONGEST_S);
        if let Some(to) = drive.to_s.filter(|to| !(*to > drive.from_s && *to <= LARGEST)) {
            table.say("drive.to_s", &format!("must be later than `from_s`, {}, found {to}", drive.from_s));
        }
    }
}

/// Only one thing moves a body.
fn motion(body: &Body, table: &mut Table<'_>) {
    let held = [
        ("plane", body.shape == Shape::Plane),
        ("fixed", body.fixed),
        ("kinematic", body.kinematic),
        ("path", !body.path.is_empty()),
    ];
    let others = [("drive", body.drive.is_some()), ("lands", body.lands.is_some())];
    let movers: Vec<&str> = held.iter().chain(&others).filter(|m| m.1).map(|m| m.0).collect();
    // A plane is fixed anyway, and what lands may be dragged afterwards.
    let fine = matches!(movers[..], [] | [_] | ["plane", "fixed"] | ["drive", "lands"]);
    if !fine {
        table.say(movers[1], &format!("excludes `{}`; only one of them can move a body: leave one out", movers[0]));
    }
    if body.is_fixed() && (length(&body.velocity) > 0.0 || length(&body.spin) > 0.0) {
        table.say(
            "velocity",
            "a fixed body has neither velocity nor spin; use `kinematic = true` for one that nothing stops",
        );
    }
    if body.template && (body.copies.is_some() || body.lands.is_some() || body.is_fixed()) {
        table.say("template", "is dropped by melodies, so it has no `copies` and no `lands`, and is not fixed");
    }
    if body.edges != super::super::Edges::Free && !matches!(body.shape, super::super::Shape::Plate(_)) {
        table.say("edges", "is for a `plate`; leave it out");
    }
    if body.lands.is_some() {
        if body.copies.is_some() {
            table.say("lands", "excludes `copies`, which would all fall on the same place");
        }
        if body.appears_s.is_some() {
            table.say("lands", "excludes `appears_s`, which follows from it; leave that out");
        }
        if length(&body.position) > 0.0 || body.velocity[2] != 0.0 {
            table.say("lands", "excludes `position` and a `velocity` along z, which follow from it; leave them out");
        }
    }
}

fn sound(body: &Body, table: &mut Table<'_>) {
    table.within("gain_db", body.gain_db, -200.0, 200.0);
    table.within("emphasis", body.emphasis, 0.0, 1000.0);
    if let Some(d) = &body.directivity {
        table.direction("directivity.axis", &d.axis);
        table.within("directivity.pattern", d.pattern, 0.0, 1.0);
        table.positive("directivity.cutoff_hz", d.cutoff_hz, 1e5);
    }
    table.within("damping", body.damping, 0.1, 50.0);
    table.within("size", body.size, 1e-3, 1e3);
    table.within("pitch", body.pitch, 0.01, 100.0);
    table.within("brightness_db", body.brightness_db, -48.0, 48.0);
    for (i, edit) in body.mode_edits.iter().enumerate() {
        table.within(&format!("mode_edits[{i}].frequency"), edit.frequency, 1e-3, 1e3);
        table.within(&format!("mode_edits[{i}].decay"), edit.decay, 1e-6, 1e6);
        table.within(&format!("mode_edits[{i}].gain"), edit.gain, -1e6, 1e6);
        if edit.add && edit.delete {
            table.say(&format!("mode_edits[{i}].delete"), "excludes `add`; leave one out");
        }
    }
    table.within("strain_sensitivity", body.strain_sensitivity, -1e4, 1e4);
    table.rising("strain", body.strain.iter().map(|k| k[0]));
    for (i, key) in body.strain.iter().enumerate() {
        table.within(&format!("strain[{i}][1]"), key[1], -10.0, 10.0);
    }
    let bands = body.diffuse.as_deref().unwrap_or(&[]);
    if bands.len() > MAX_BANDS {
        table.say("diffuse", &format!("at most {MAX_BANDS} bands, found {}", bands.len()));
    }
    for (i, band) in bands.iter().enumerate() {
        if band.validate().is_err() || !(0.0..=LARGEST).contains(&band.gain) {
            let rule = "expected 0 ≤ `low_hz` < `high_hz`, `gain` from 0 on and `t60_s` above 0";
            table.say(&format!("diffuse[{i}]"), rule);
        }
    }
    if let Some(glide) = &body.glide {
        table.within("glide.amount", glide.amount, -0.3, 0.3);
        table.positive("glide.energy_pa2", glide.energy_pa2, 1e12);
        table.within("glide.focus", glide.focus, 0.0, 4.0);
    }
    if let Some(nonlinear) = &body.nonlinear {
        if !(2..=4).contains(&nonlinear.sections) {
            table.say("nonlinear.sections", &format!("expected 2 to 4, found {}", nonlinear.sections));
        }
        table.within("nonlinear.coupling", nonlinear.coupling, 0.0, 1.0);
        table.positive("nonlinear.reference_pa", nonlinear.reference_pa, 1e9);
    }
    table.maybe_within("tune_hz", body.tune_hz, 10.0, 20_000.0);
    if body.tune.is_some() && body.tune_hz.is_some() {
        table.say("tune_hz", "excludes `tune`; leave one out");
    }
    if let Some(map) = &body.surface_map {
        table.within("surface_map.dark", map.dark, 0.0, 100.0);
        table.within("surface_map.bright", map.bright, 0.0, 100.0);
    }
    if body.surface.as_deref().is_some_and(|s| s.trim().is_empty()) {
        table.say("surface", "is empty; name a [[surface]] or a built-in texture, or leave it out");
    }
}

fn relations(scene: &Scene, names: &Names<'_>, body: &Body, table: &mut Table<'_>) {
    if let Some(lands) = &body.lands {
        names.need_body(table, "lands.on", &lands.on);
        if lands.on == body.name {
            table.say("lands.on", "a body cannot land on itself; name another");
        }
        fall(scene, lands.height_m, lands.at_s, "lands.at_s", "lands.height_m", table);
        table.within("lands.at_s", lands.at_s, 0.0, LONGEST_S);
        table.finite("lands.offset", &lands.offset);
    }
    if let Some(shares) = &body.shares {
        names.need_body(table, "shares", shares);
        if *shares == body.name {
            table.say("shares", "a body cannot share its own resonator; name another, or leave it out");
        } else if let Some(other) = names.tables.get(shares.as_str()) {
            if let Some(root) = &other.shares {
                table.say("shares", &format!("`{shares}` itself sounds through `{root}`; name that one"));
            } else if other.is_silent() {
                table.say("shares", &format!("`{shares}` is silent; name a body that sounds"));
            }
        }
    }
}

/// A fall from rest must begin within the scene.
pub(super) fn fall(scene: &Scene, height_m: f64, at_s: f64, time: &str, height: &str, table: &mut Table<'_>) {
    table.positive(height, height_m, 1000.0);
    let fall_s = scene.fall_s(height_m);
    if fall_s.is_infinite() {
        table.say(time, "nothing falls here: `gravity` in [physics] does not point down (−z)");
    } else if at_s < fall_s {
        let message = format!(
            "falling {height_m} m takes {fall_s:.3} s, so it cannot strike at {at_s} s; raise `{time}` or lower `{height}`"
        );
        table.say(time, &message);
    }
}
