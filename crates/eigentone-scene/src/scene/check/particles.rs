//! `[particles]` and `[[collider]]`.

use super::{LARGEST, LONGEST_SIDE_M, Names, Table, length};
use crate::scene::{Collider, ColliderShape, Energy, Particles, Region, Scene, read};

/// As many as the simulation takes.
const MAX_PARTICLES: usize = 10_000_000;
const MAX_BOUNCES: u32 = 1000;

/// Colliders, and parts of one.
const MAX_COLLIDERS: usize = 10_000;

pub(super) fn check(scene: &Scene, names: &Names<'_>, problems: &mut Vec<String>) {
    match &scene.particles {
        Some(particles) => {
            cloud(particles, &mut Table::new("[particles]", problems));
            if scene.colliders.is_empty() {
                problems.push("[particles] fall on nothing; add a [[collider]]".to_owned());
            }
        }
        None if !scene.colliders.is_empty() => {
            problems.push("[[collider]] is struck by nothing; add [particles], or remove it".to_owned());
        }
        None => {}
    }
    if scene.colliders.len() > MAX_COLLIDERS {
        problems.push(format!("{} [[collider]]s, but at most {MAX_COLLIDERS} are allowed", scene.colliders.len()));
        return;
    }
    for (index, collider) in scene.colliders.iter().enumerate() {
        check_collider(names, collider, &mut Table::new(read::label("collider", index, None), problems));
    }
}

fn cloud(cloud: &Particles, table: &mut Table<'_>) {
    if !(1..=MAX_PARTICLES).contains(&cloud.particles) {
        table.say("particles", &format!("expected 1 to {MAX_PARTICLES}, found {}", cloud.particles));
    }
    table.maybe_positive("rate", cloud.rate, 1e7);
    match &cloud.region {
        Region::Box { low, high } => {
            table.finite("region.box.low", low);
            table.finite("region.box.high", high);
            if low.iter().zip(high).any(|(l, h)| l > h) {
                table.say("region.box", "`low` is beyond `high`; exchange them");
            }
        }
        Region::Disc { centre, normal, radius } => {
            table.finite("region.disc.centre", centre);
            table.direction("region.disc.normal", normal);
            table.within("region.disc.radius", *radius, 0.0, LONGEST_SIDE_M);
        }
    }
    table.finite("velocity", &cloud.velocity);
    table.within("spread_m_s", cloud.spread_m_s, 0.0, LARGEST);
    if let Some(gravity) = &cloud.gravity {
        table.finite("gravity", gravity);
    }
    let [least, most] = cloud.mass_kg;
    table.positive("mass_kg[0]", least, LARGEST);
    if !(most >= least && most <= LARGEST) {
        table.say("mass_kg[1]", &format!("must be no less than the smallest mass, {least}, found {most}"));
    }
    if let Energy::InverseE { most_j, ratio } | Energy::Box { most_j, ratio } = cloud.energy {
        table.positive("energy.most_j", most_j, LARGEST);
        table.within("energy.ratio", ratio, 1.0, 1e12);
    }
    table.within("restitution", cloud.restitution, 0.0, 1.0);
    table.within("slide", cloud.slide, 0.0, 1.0);
    if cloud.bounces > MAX_BOUNCES {
        table.say("bounces", &format!("expected 0 to {MAX_BOUNCES}, found {}", cloud.bounces));
    }
    table.within("onset_s", cloud.onset_s, 0.0, LARGEST);
    table.positive("longest_flight_s", cloud.longest_flight_s, LARGEST);
    table.within("hardness", cloud.hardness, 1.0, 1e12);
    table.maybe_positive("duration_s", cloud.duration_s, 1.0);
}

fn check_collider(names: &Names<'_>, collider: &Collider, table: &mut Table<'_>) {
    form(&collider.shape, table);
    if let Some(body) = &collider.body {
        names.need_body(table, "body", body);
    }
    if collider.parts.len() > MAX_COLLIDERS {
        return table.say("parts", &format!("at most {MAX_COLLIDERS} are allowed, found {}", collider.parts.len()));
    }
    for (i, part) in collider.parts.iter().enumerate() {
        names.need_body(table, &format!("parts[{i}].body"), &part.body);
        for (key, [from, to]) in [("u", part.u), ("v", part.v)] {
            if !(0.0 <= from && from < to && to <= 1.0) {
                table.say(
                    &format!("parts[{i}].{key}"),
                    &format!("expected rising numbers in 0 to 1, found [{from}, {to}]"),
                );
            }
        }
    }
}

fn form(shape: &ColliderShape, table: &mut Table<'_>) {
    match shape {
        ColliderShape::Quad { corner, edges } => {
            table.finite("quad.corner", corner);
            spanned("quad.edges", edges, table);
        }
        ColliderShape::Disc { centre, normal, radius } => {
            table.finite("disc.centre", centre);
            table.direction("disc.normal", normal);
            table.positive("disc.radius", *radius, LONGEST_SIDE_M);
        }
        ColliderShape::Ellipse { centre, axes } => {
            table.finite("ellipse.centre", centre);
            spanned("ellipse.axes", axes, table);
        }
        ColliderShape::Sphere { centre, radius } => {
            table.finite("sphere.centre", centre);
            table.positive("sphere.radius", *radius, LONGEST_SIDE_M);
        }
        ColliderShape::Cylinder { base, axis, radius } => {
            table.finite("cylinder.base", base);
            table.direction("cylinder.axis", axis);
            table.positive("cylinder.radius", *radius, LONGEST_SIDE_M);
        }
        ColliderShape::Quadric { origin, axes, a, b, c, low, high } => {
            table.finite("quadric.origin", origin);
            table.finite("quadric.b", b);
            table.finite("quadric.c", &[*c]);
            table.finite("quadric.low", low);
            table.finite("quadric.high", high);
            for (i, row) in a.iter().enumerate() {
                // Thin ellipsoids have large coefficients.
                if let Some(x) = row.iter().find(|x| !(-1e12..=1e12).contains(*x)) {
                    table.say(&format!("quadric.a[{i}]"), &format!("expected numbers within ±1e12, found {x}"));
                }
            }
            if low.iter().zip(high).any(|(l, h)| l >= h) {
                table.say("quadric.low", "must be below `high` in every direction");
            }
            let dot = |u: &[f64; 3], v: &[f64; 3]| u.iter().zip(v).map(|(x, y)| x * y).sum::<f64>();
            let off = |i: usize, j: usize| (dot(&axes[i], &axes[j]) - f64::from(u8::from(i == j))).abs();
            if !(0..3).all(|i| (0..3).all(|j| off(i, j) <= 1e-6)) {
                table.say("quadric.axes", "must be three unit vectors, perpendicular to each other");
            }
        }
    }
}

/// Two vectors that span an area.
fn spanned(key: &str, [u, v]: &[[f64; 3]; 2], table: &mut Table<'_>) {
    table.finite(&format!("{key}[0]"), u);
    table.finite(&format!("{key}[1]"), v);
    let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    if length(&cross) <= 1e-9 * length(u) * length(v) {
        table.say(key, "span no area; expected two vectors that are not parallel");
    }
}
