//! Open shell, walls or solid? Decided in milliseconds, before anything is computed.
//!
//! - *Open*: from under the surface some rays escape, or a border spans a hole about as wide as the body is thick.
//! - *Walls*: nearly everywhere a second skin lies opposite, and half of area times thickness is the volume. (For a ball,
//!   a cube or a bar it is a third or half.)
//! - *Solid*: everything else.

use crate::thickness::{Opposite, faces_inward, tiny_m, weighted_quantile};
use eigentone_core::mesh::NearestTree;
use eigentone_core::{Noise, TriMesh, Vec3};
use std::collections::HashMap;
use std::f64::consts::PI;

/// What a body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// A surface without an inside: needs a thickness.
    OpenShell,
    /// A closed surface around thin walls.
    Walls,
    /// A closed surface around bulk.
    Solid,
}

/// The decision, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct KindReport {
    /// The decision.
    pub kind: BodyKind,
    /// Why, in one sentence.
    pub reason: String,
    /// Share of rays from under the surface that do not escape.
    pub closed_share: f64,
    /// Share of the surface with a parallel skin opposite, not much further away than the median.
    pub wall_share: f64,
    /// Median thickness in metres; infinite if nothing lies opposite.
    pub median_m: f64,
    /// Volume over half of area times thickness: 1 for walls, ½ for bars, ⅓ for balls and cubes.
    pub fullness: f64,
}

/// Places that are looked at.
const SAMPLES: usize = 1500;

/// Rays that must not escape from a closed body.
const CLOSED_SHARE: f64 = 0.9;

/// A hole is wide if it is about as wide as the body is thick (the end of a pipe), or if its diameter exceeds half of that and its area this share of the surface (the mouth of a vase): a few
/// triangles missing from a bar are damage.
const PIPE: f64 = 0.9;
const WIDE_HOLE: f64 = 0.5;
const WIDE_HOLE_AREA: f64 = 0.01;

/// Parallel skins: cosine between their normals.
pub(crate) const PARALLEL: f64 = -0.8;

/// No wall is thicker than this many medians.
pub(crate) const THICK: f64 = 3.0;

/// Least share of a body's surface that is walls, and least fullness.
const WALL_SHARE: f64 = 0.75;
const FULL: f64 = 0.75;

/// Looks at a repaired mesh and decides.
///
/// ```
/// use eigentone_core::mesh::{primitives, thickened};
/// use eigentone_modal::body_kind::{BodyKind, body_kind};
///
/// let bowl = primitives::bowl(0.1, 48, 12);
/// assert_eq!(body_kind(&bowl).kind, BodyKind::OpenShell);
/// assert_eq!(body_kind(&thickened(&bowl, 0.003)).kind, BodyKind::Walls);
/// assert_eq!(body_kind(&primitives::sphere(0.1, 48, 24)).kind, BodyKind::Solid);
/// ```
pub fn body_kind(mesh: &TriMesh) -> KindReport {
    body_kind_of(&NearestTree::new(crate::skins::oriented(mesh)))
}

/// The same with a tree over a mesh whose skins all face away from the material.
pub(crate) fn body_kind_of(tree: &NearestTree) -> KindReport {
    let mesh = tree.mesh();
    let sign = if faces_inward(tree) { -1.0 } else { 1.0 };
    let (mut escaped, mut count) = (0, 0);
    let mut opposite = Vec::with_capacity(SAMPLES);
    let mut random = Noise::new(1);
    let tiny = tiny_m(mesh);
    samples(mesh, |point, normal| {
        let outward = sign * normal;
        let seen = Opposite::seen_from(tree, point, outward, tiny);
        opposite.push(Opposite { facing: if seen.distance_m.is_finite() { sign * seen.facing } else { 1.0 }, ..seen });
        // Averaged over directions this is the winding number; looking inward only leaves out the surface itself.
        let aside = Vec3::new(random.bipolar(), random.bipolar(), random.bipolar()).normalize_or_zero();
        let inward = (0.95 * aside - outward).normalize_or(-outward);
        let leaves = sign * f64::from(tree.crossings(point - tiny * outward, inward, 0.0));
        escaped += usize::from(leaves < 1.0);
        count += 1;
    });
    let closed_share = 1.0 - escaped as f64 / count.max(1) as f64;
    let median_m = weighted_quantile(opposite.iter().map(|o| (o.distance_m, 1.0)), 0.5);
    let walls = opposite.iter().filter(|o| o.facing < PARALLEL && o.distance_m < THICK * median_m);
    let (wall_count, wall_sum) = walls.fold((0usize, 0.0), |(n, sum), o| (n + 1, sum + o.distance_m));
    let wall_share = wall_count as f64 / count.max(1) as f64;
    let half = 0.5 * mesh.area() * wall_sum / count.max(1) as f64;
    let fullness = if half > 0.0 { mesh.signed_volume().abs() / half } else { 0.0 };
    let hole_m = widest_hole_m(tree);
    let mouth = 0.25 * PI * hole_m * hole_m > WIDE_HOLE_AREA * mesh.area();
    let wide = hole_m > if mouth { WIDE_HOLE } else { PIPE } * median_m;
    let (kind, reason) = decide(closed_share, Some(hole_m).filter(|_| wide), median_m, wall_share, fullness);
    KindReport { kind, reason, closed_share, wall_share, median_m, fullness }
}

fn decide(closed_share: f64, hole_m: Option<f64>, median_m: f64, wall_share: f64, fullness: f64) -> (BodyKind, String) {
    let percent = 100.0 * wall_share;
    if closed_share < CLOSED_SHARE || median_m.is_infinite() {
        let share = 100.0 * (1.0 - closed_share);
        (BodyKind::OpenShell, format!("an open shell: {share:.0} % of rays from under the surface escape"))
    } else if let Some(hole_m) = hole_m {
        let reason =
            format!("an open shell: it has a hole {:.1} mm wide and is {:.1} mm across", 1e3 * hole_m, 1e3 * median_m);
        (BodyKind::OpenShell, reason)
    } else if wall_share < WALL_SHARE {
        (BodyKind::Solid, format!("solid: only {percent:.0} % of its surface has a parallel skin close behind it"))
    } else if fullness < FULL {
        let reason = format!("solid: {:.1} mm across, which is no less than it is wide", 1e3 * median_m);
        (BodyKind::Solid, reason)
    } else {
        let reason = format!("walls of {:.2} mm: {percent:.0} % of the surface has a parallel skin", 1e3 * median_m);
        (BodyKind::Walls, reason)
    }
}

/// Calls `look` for places spread evenly over the surface, with the unit normals there.
fn samples(mesh: &TriMesh, mut look: impl FnMut(Vec3, Vec3)) {
    let step = mesh.area() / SAMPLES as f64;
    let (mut next, mut passed, mut count) = (0.5 * step, 0.0, 0u32);
    for t in 0..mesh.triangles.len() {
        passed += mesh.triangle_area(t);
        // Rounding must not add samples without end.
        while next < passed && count < 2 * SAMPLES as u32 {
            next += step;
            count += 1;
            let Some(normal) = mesh.area_normal(t).try_normalize() else { continue };
            // Low-discrepancy barycentrics, so that large triangles are looked at in different places.
            let (u, v) = ((f64::from(count) * 0.754_877_67).fract(), (f64::from(count) * 0.569_840_29).fract());
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let [a, b, c] = mesh.corners(t);
            look(a + (b - a) * u + (c - a) * v, normal);
        }
    }
}

/// Diameter of the widest hole, in metres: that of a disc of the area which a border encloses. A border that another
/// piece covers, as of an unwelded lid, is no hole.
fn widest_hole_m(tree: &NearestTree) -> f64 {
    let mesh = tree.mesh();
    let borders = crate::skins::borders(mesh);
    if borders.is_empty() {
        return 0.0;
    }
    let mut lines = TriMesh { positions: mesh.positions.clone(), triangles: Vec::new() };
    lines.triangles.extend(borders.iter().map(|&[a, b]| [a, b, b]));
    lines.drop_unused_vertices();
    let (component, _) = lines.components();
    let mut loops: HashMap<u32, (Vec3, Vec3, f64)> = HashMap::new();
    for &[a, b, _] in &lines.triangles {
        let (p, q) = (lines.positions[a as usize], lines.positions[b as usize]);
        let at = loops.entry(component[a as usize]).or_default();
        *at = (at.0 + 0.5 * p.cross(q), at.1 + p.distance(q) * 0.5 * (p + q), at.2 + p.distance(q));
    }
    let diameters = loops.into_values().map(|(area, moment, length)| {
        let radius = (area.length() / PI).sqrt();
        let centre = moment / length.max(f64::MIN_POSITIVE);
        let covered = tree.nearest_where(centre, 0.3 * radius, |_| true).is_some();
        if covered { 0.0 } else { 2.0 * radius }
    });
    diameters.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::mesh::{primitives, thickened};

    fn expect(kind: BodyKind, name: &str, mesh: &TriMesh) {
        let report = body_kind(mesh);
        assert_eq!(report.kind, kind, "{name}: {report:?}");
    }

    #[test]
    fn surfaces_without_an_inside_are_open_shells() {
        expect(BodyKind::OpenShell, "plate", &primitives::plate(0.3, 0.2, 30, 20));
        expect(BodyKind::OpenShell, "bowl", &primitives::bowl(0.1, 48, 12));
        expect(BodyKind::OpenShell, "tube", &primitives::cylinder(0.1, 0.1, 48, 8, false));
        expect(BodyKind::OpenShell, "long pipe", &primitives::cylinder(0.01, 1.0, 48, 40, false));
        expect(BodyKind::OpenShell, "tumbler", &primitives::tumbler(0.03, 0.035, 0.1, 48, 24));
        expect(BodyKind::OpenShell, "bell", &primitives::bell(0.1, 0.12, 48, 24));
        expect(BodyKind::OpenShell, "nothing", &TriMesh::default());
    }

    #[test]
    fn bulk_is_solid_even_with_a_small_hole_or_inside_out() {
        let mut holed = primitives::sphere(0.1, 48, 24);
        holed.triangles.drain(500..510);
        expect(BodyKind::Solid, "sphere with a small hole", &holed);
        expect(BodyKind::Solid, "cube", &primitives::cuboid(Vec3::splat(0.1), [1, 1, 1]));
        expect(BodyKind::Solid, "bar", &primitives::bar(0.2, 0.02, 0.01));
        expect(BodyKind::Solid, "rod", &primitives::cylinder(0.01, 0.2, 48, 8, true));
        expect(BodyKind::Solid, "ring", &primitives::ring(0.1, 0.01, 48, 12));
        let mut flipped = primitives::sphere(0.1, 48, 24);
        flipped.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        expect(BodyKind::Solid, "sphere inside out", &flipped);
        let mut overlapping = primitives::cuboid(Vec3::new(0.2, 0.05, 0.05), [4, 1, 1]);
        overlapping.append(&primitives::cuboid(Vec3::new(0.05, 0.2, 0.04), [1, 4, 1]));
        expect(BodyKind::Solid, "two boxes that overlap", &overlapping);
    }

    #[test]
    fn two_skins_are_walls_whichever_way_the_cavity_faces() {
        expect(BodyKind::Walls, "bowl", &thickened(&primitives::bowl(0.1, 48, 12), 3e-3));
        expect(BodyKind::Walls, "thin plate", &primitives::cuboid(Vec3::new(0.3, 0.2, 0.005), [1, 1, 1]));
        expect(BodyKind::Walls, "bell", &thickened(&primitives::bell(0.1, 0.12, 48, 24), 4e-3));
        let mut hollow = primitives::cuboid(Vec3::new(0.1, 0.07, 0.05), [1, 1, 1]);
        let mut cavity = primitives::cuboid(Vec3::new(0.096, 0.066, 0.046), [1, 1, 1]);
        hollow.append(&cavity);
        expect(BodyKind::Walls, "box, cavity facing outward", &hollow);
        hollow.triangles.truncate(12);
        hollow.positions.truncate(8);
        cavity.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        hollow.append(&cavity);
        expect(BodyKind::Walls, "box", &hollow);
    }
}
