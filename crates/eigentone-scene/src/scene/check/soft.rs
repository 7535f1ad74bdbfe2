//! `[[soft]]` and `[soft_physics]`.

use super::{LARGEST, LONGEST_SIDE_M, Table, body};
use crate::scene::file::strays;
use crate::scene::{Pin, Scene, Shape, Soft, read};
use eigentone_sim::soft::SoftMaterial;
use std::collections::HashSet;

/// Soft bodies of one scene.
const MAX_SOFTS: usize = 200;

/// Tetrahedra of one body.
const MAX_ELEMENTS: usize = 1_000_000;

pub(super) fn check(scene: &Scene, problems: &mut Vec<String>) {
    if scene.softs.len() > MAX_SOFTS {
        problems.push(format!("{} [[soft]]s, but at most {MAX_SOFTS} are allowed; use fewer", scene.softs.len()));
        return;
    }
    let mut physics = Table::new("[soft_physics]", problems);
    physics.maybe_positive("step_s", scene.soft_physics.step_s, 1.0);
    let mut names: HashSet<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
    for (index, soft) in scene.softs.iter().enumerate() {
        let mut table = Table::new(read::label("soft", index, Some(&soft.name)), problems);
        if !names.insert(&soft.name) {
            table.say("name", "is that of another body; rename one");
        }
        form(soft, &mut table);
        material(soft, &mut table);
        place(soft, &mut table);
    }
}

fn form(soft: &Soft, table: &mut Table<'_>) {
    body::shape(&soft.shape, table);
    let open = match soft.shape {
        Shape::Plane | Shape::OfModel => {
            table.say("shape", "a soft body cannot be without end; give it a `box`");
            false
        }
        Shape::Plate(_) | Shape::Disc(_) | Shape::Bowl { .. } | Shape::Bell { .. } | Shape::Tumbler { .. } => true,
        Shape::Cylinder { capped, .. } => !capped,
        _ => false,
    };
    if open && soft.thickness_m.is_none() && soft.tets.is_none() {
        table.say("thickness_m", "is missing: this shape is a surface, and a soft body needs a wall");
    }
    if !open && soft.thickness_m.is_some() && !matches!(soft.shape, Shape::Mesh(_)) {
        table.say("thickness_m", "this shape is solid; leave it out");
    }
    if let Some(path) = &soft.tets
        && let Some(why) = strays(path)
    {
        table.say("tets", &format!("the path `{path}` {why}"));
    }
    table.positive("scale", soft.scale, LARGEST);
    table.maybe_positive("thickness_m", soft.thickness_m, LONGEST_SIDE_M);
    table.maybe_positive("size_m", soft.size_m, LONGEST_SIDE_M);
    if !(1..=MAX_ELEMENTS).contains(&soft.elements) {
        table.say("elements", &format!("expected 1 to {MAX_ELEMENTS}, found {}", soft.elements));
    }
    table.within("coarser", f64::from(soft.coarser), 0.0, 4.0);
}

fn material(soft: &Soft, table: &mut Table<'_>) {
    if soft.material.trim().is_empty() {
        table.say("material", "is empty; name one of the table, such as `rubber`");
    }
    let values = [soft.young, soft.poisson, soft.density, soft.phi, soft.psi, soft.gamma];
    for ((key, least, most), value) in SoftMaterial::RANGES.into_iter().zip(values) {
        table.maybe_within(key, value, least, most);
    }
}

fn place(soft: &Soft, table: &mut Table<'_>) {
    table.finite("position", &soft.position);
    table.rotation("rotation", &soft.rotation);
    table.finite("velocity", &soft.velocity);
    table.finite("spin", &soft.spin);
    for (key, stretch) in ["stretch[0]", "stretch[1]", "stretch[2]"].into_iter().zip(soft.stretch) {
        table.within(key, stretch, -0.5, 2.0);
    }
    for (index, pin) in soft.pinned.iter().enumerate() {
        match pin {
            Pin::Box { low, high } => {
                table.finite(&format!("pinned[{index}].box.low"), low);
                table.finite(&format!("pinned[{index}].box.high"), high);
            }
            Pin::Beyond(radius) => table.within(&format!("pinned[{index}].beyond"), *radius, 0.0, LONGEST_SIDE_M),
            Pin::BeyondBox(half) => table.finite(&format!("pinned[{index}].beyond_box"), half),
        }
    }
    table.within("friction", soft.friction, 0.0, 100.0);
    if let Some(color) = soft.color {
        color.into_iter().for_each(|x| table.within("color", x, 0.0, 1.0));
    }
    table.within("gain_db", soft.gain_db, -200.0, 200.0);
}
