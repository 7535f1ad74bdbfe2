//! Contact between bodies: nodes of one surface against triangles of another, both ways.
//!
//! A node is inside another body if it lies behind the nearest of its triangles onto which it projects, not deeper than an element. It and the triangle's corners are pushed apart
//! as in [`collider`](super::collider), with the mass 1/(1/m + Σ wᵢ²/mᵢ) that both sides resist with, w the weights of the corners; momentum is kept to the last bit of
//! rounding. Contacts of one step are taken one after the other in the order of their nodes.
//!
//! **First touch.** Where edges cross before any node is inside, a node can be deep when it is first felt. Pushed out at once it would crack like a whip. So the depth at
//! which a contact begins counts as none, and becomes depth within a millisecond.
//!
//! Which triangles are near a node is looked up in a grid of cells, anew whenever something has moved farther than the margin that was added.

use super::collider::Spring;
use super::events::{Partner, Touch, Touches};
use super::kernel::Four;
use super::world::{DEEPEST, Nodes, Part};
use eigentone_core::Vec3;
use eigentone_core::mesh::bounds_of;
use std::collections::HashMap;
use std::ops::Range;

/// Margin around triangles, in heights of their elements.
const MARGIN: f64 = 0.5;
/// Behind a triangle by more heights than this, a node has nothing to do with it.
const REACH: f64 = 1.0;

/// Which nodes may touch which triangles.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Nodes, and their part of `triangles`.
    near: Vec<(u32, Range<u32>)>,
    /// Triangles, with their body.
    triangles: Vec<(u32, u32)>,
    /// How far things may move until all is looked up again, in m.
    left_m: f64,
    /// Of each node how much of its depth does not count yet, in m, and when it was last inside, in s.
    first: Vec<(f64, f64)>,
}

/// Time within which the depth of a first touch begins to count, in s.
const FIRST_S: f64 = 5e-4;

/// When it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    pub now_s: f64,
    /// How far anything moves in this part of a step, at most, in m.
    pub farthest_m: f64,
    /// Length of this part of a step.
    pub part_s: f64,
    /// Length of a whole step.
    pub step_s: f64,
}

/// What a node touches.
struct Hit {
    triangle: [u32; 3],
    body: usize,
    weights: [f64; 3],
    normal: Vec3,
    depth_m: f64,
}

impl Pairs {
    /// Changes velocities by all contacts of a step.
    pub(super) fn touch(
        &mut self,
        nodes: &mut Nodes,
        parts: &[Part],
        triangles: &[[u32; 3]],
        time: Time,
        touches: &mut Touches,
    ) {
        if parts.len() < 2 {
            return;
        }
        self.left_m -= 2.0 * time.farthest_m;
        if self.left_m <= 0.0 {
            self.look_up(nodes, parts, triangles);
        }
        self.first.resize(nodes.positions.len(), (0.0, f64::NEG_INFINITY));
        for at in 0..self.near.len() {
            let (node, range) = self.near[at].clone();
            let near = &self.triangles[range.start as usize..range.end as usize];
            let Some(mut hit) = nearest_hit(nodes, triangles, near, node as usize) else { continue };
            let (offset_m, last_s) = &mut self.first[node as usize];
            let new = time.now_s - *last_s > 2.0 * time.step_s;
            *offset_m = if new { hit.depth_m } else { *offset_m * (-time.part_s / FIRST_S).exp() };
            *last_s = time.now_s;
            hit.depth_m = (hit.depth_m - *offset_m).max(0.0);
            push_apart(nodes, parts, node as usize, &hit, time, touches);
        }
    }

    /// All is to be looked up again.
    pub(super) fn renew(&mut self) {
        self.left_m = 0.0;
    }

    /// Some nodes are no more; those behind them have moved up.
    pub(super) fn remove(&mut self, nodes: Range<usize>) {
        self.renew();
        let known = self.first.len();
        self.first.drain(nodes.start.min(known)..nodes.end.min(known));
        // Nothing in the lists means what it did.
        self.near.clear();
        self.triangles.clear();
    }

    fn look_up(&mut self, nodes: &Nodes, parts: &[Part], triangles: &[[u32; 3]]) {
        self.near.clear();
        self.triangles.clear();
        let margin_m = parts.iter().map(|part| MARGIN * height_m(nodes, part)).fold(f64::INFINITY, f64::min);
        let bounds: Vec<[Vec3; 2]> =
            parts.iter().map(|part| bounds_of(part.nodes.clone().map(|n| nodes.positions[n].point()))).collect();
        let mut gap_m = f64::INFINITY;
        let mut found: Vec<(u32, u32, u32)> = Vec::new();
        for (b, part) in parts.iter().enumerate() {
            // So far that the margin, which depends on bodies elsewhere, has no say in who touches.
            let reach_m = margin_m + REACH * greatest_height_m(nodes, part);
            let others: Vec<usize> = (0..parts.len())
                .filter(|&a| a != b && !parts[a].frozen && !part.frozen)
                .filter(|&a| {
                    let apart_m = apart_m(&bounds[a], &bounds[b]);
                    if apart_m > margin_m {
                        gap_m = gap_m.min(apart_m);
                    }
                    apart_m <= margin_m
                })
                .collect();
            if others.is_empty() {
                continue;
            }
            let grid = Grid::new(nodes, triangles, part, reach_m);
            for a in others {
                for n in parts[a].nodes.clone().filter(|&n| nodes.skin[n].area_m2 > 0.0) {
                    let p = nodes.positions[n].point();
                    found.extend(grid.near(p).map(|t| (n as u32, t, b as u32)));
                }
            }
        }
        found.sort_unstable();
        for (node, triangle, body) in found {
            let at = self.triangles.len() as u32;
            self.triangles.push((triangle, body));
            match self.near.last_mut() {
                Some((last, range)) if *last == node => range.end = at + 1,
                _ => self.near.push((node, at..at + 1)),
            }
        }
        // If no two bodies are near each other, nothing happens before the gap has closed.
        self.left_m = if self.near.is_empty() && gap_m.is_finite() { margin_m.max(gap_m - margin_m) } else { margin_m };
    }
}

/// Mean height of the elements at a body's surface.
fn height_m(nodes: &Nodes, part: &Part) -> f64 {
    let skin = || nodes.skin[part.nodes.clone()].iter().filter(|s| s.area_m2 > 0.0);
    skin().map(|s| s.height_m).sum::<f64>() / skin().count().max(1) as f64
}

/// Greatest height of the elements at a body's surface.
fn greatest_height_m(nodes: &Nodes, part: &Part) -> f64 {
    nodes.skin[part.nodes.clone()].iter().filter(|s| s.area_m2 > 0.0).map(|s| s.height_m).fold(0.0, f64::max)
}

/// How far two boxes are from each other, at least.
fn apart_m(a: &[Vec3; 2], b: &[Vec3; 2]) -> f64 {
    (a[0] - b[1]).max(b[0] - a[1]).max(Vec3::ZERO).length()
}

/// Triangles of a body by the cells their boxes reach.
struct Grid<'a> {
    cell_m: f64,
    reach_m: f64,
    cells: HashMap<[i32; 3], Vec<u32>>,
    nodes: &'a Nodes,
    triangles: &'a [[u32; 3]],
}

impl<'a> Grid<'a> {
    fn new(nodes: &'a Nodes, triangles: &'a [[u32; 3]], part: &Part, reach_m: f64) -> Self {
        let corners = |t: usize| triangles[t].map(|n| nodes.positions[n as usize].point());
        let size = |t: usize| {
            let [low, high] = bounds_of(corners(t));
            (high - low).max_element()
        };
        let mean = part.triangles.clone().map(size).sum::<f64>() / part.triangles.len().max(1) as f64;
        let cell_m = (mean + 2.0 * reach_m).max(1e-9);
        let mut grid = Self { cell_m, reach_m, cells: HashMap::new(), nodes, triangles };
        for t in part.triangles.clone() {
            let [low, high] = bounds_of(corners(t));
            let [low, high] = [grid.cell(low - reach_m), grid.cell(high + reach_m)];
            // A body in pieces could reach over any number of cells.
            let many = (0..3).any(|k| high[k].saturating_sub(low[k]) > 16);
            if many {
                continue;
            }
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        grid.cells.entry([x, y, z]).or_default().push(t as u32);
                    }
                }
            }
        }
        grid
    }

    fn cell(&self, p: Vec3) -> [i32; 3] {
        (p / self.cell_m).floor().to_array().map(|x| x as i32)
    }

    fn near(&self, p: Vec3) -> impl Iterator<Item = u32> {
        let in_cell = self.cells.get(&self.cell(p)).map_or(&[][..], |list| list);
        in_cell.iter().copied().filter(move |&t| {
            let corners = self.triangles[t as usize].map(|n| self.nodes.positions[n as usize].point());
            let [low, high] = bounds_of(corners);
            (low - p).max(p - high).max_element() <= self.reach_m
        })
    }
}

/// The nearest of the triangles in front of which the node should be and is not.
fn nearest_hit(nodes: &Nodes, triangles: &[[u32; 3]], near: &[(u32, u32)], node: usize) -> Option<Hit> {
    let p = nodes.positions[node].point();
    let mut best: Option<Hit> = None;
    for &(t, body) in near {
        let triangle = triangles[t as usize];
        let [a, b, c] = triangle.map(|n| nodes.positions[n as usize].point());
        let normal = (b - a).cross(c - a);
        let square = normal.length_squared();
        if square == 0.0 {
            continue;
        }
        let away = p - a;
        let wb = away.cross(c - a).dot(normal) / square;
        let wc = (b - a).cross(away).dot(normal) / square;
        let weights = [1.0 - wb - wc, wb, wc];
        let normal = normal / square.sqrt();
        let depth_m = -away.dot(normal);
        let deepest = triangle.iter().map(|&n| nodes.skin[n as usize].height_m).fold(0.0, f64::max) * REACH;
        let behind = depth_m > 0.0 && depth_m < deepest;
        if behind && weights.iter().all(|w| *w >= -1e-6) && best.as_ref().is_none_or(|hit| depth_m < hit.depth_m) {
            best = Some(Hit { triangle, body: body as usize, weights, normal, depth_m });
        }
    }
    best
}

fn push_apart(nodes: &mut Nodes, parts: &[Part], node: usize, hit: &Hit, time: Time, touches: &mut Touches) {
    let corners = || hit.triangle.iter().zip(&hit.weights).map(|(n, w)| (*n as usize, *w));
    let resisting: f64 = corners().map(|(n, w)| w * w * nodes.inverse_kg[n]).sum::<f64>() + nodes.inverse_kg[node];
    if resisting == 0.0 {
        return;
    }
    let mass_kg = resisting.recip();
    let own = &parts[nodes.body[node] as usize];
    let other = &parts[hit.body];
    let skin = nodes.skin[node];
    let young_pa = own.young_pa.min(other.young_pa);
    let spring = Spring {
        stiffness_n_m: Spring::stiffness_n_m(young_pa, skin.area_m2, skin.height_m, mass_kg, time.step_s),
        mass_kg,
        deepest_m: DEEPEST * skin.height_m.min(nodes.skin[hit.triangle[0] as usize].height_m),
        friction: (own.friction * other.friction).sqrt(),
    };
    let surface: Vec3 = corners().map(|(n, w)| nodes.velocities[n].point() * w).sum();
    let change = spring.change(hit.depth_m, hit.normal, nodes.velocities[node].point() - surface, time.part_s);
    let impulse = change * mass_kg;
    let position = nodes.positions[node].point();
    let mut push = |n: usize, impulse: Vec3| {
        nodes.velocities[n] = nodes.velocities[n].plus(nodes.inverse_kg[n], Four::from_point(impulse));
    };
    push(node, impulse);
    corners().for_each(|(n, w)| push(n, impulse * -w));
    let (a, b) = (nodes.body[node] as usize, hit.body);
    let (body, other) = (a.min(b), a.max(b));
    touches.add(Touch {
        time_s: time.now_s,
        end_s: time.now_s,
        body,
        other,
        body_id: parts[body].id,
        partner: Partner::Body(parts[other].id),
        position,
        impulse_ns: if a < b { impulse } else { -impulse },
    });
}
