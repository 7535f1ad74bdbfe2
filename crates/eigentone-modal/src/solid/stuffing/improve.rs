//! Nodes move to make the worst of their tetrahedra better.
//!
//! A pattern search per node on the least [goodness](super::quality::Shape::goodness) of its star: the middle of its neighbours,
//! then steps in fourteen directions, halved. Nodes of the surface and of sharp edges are put back on them before they are judged.
//! The least goodness around a node never falls, hence nothing is ever turned inside out.

use super::super::distance::DistanceTree;
use super::features::Features;
use super::quality::Shape;
use super::topology::{Stars, boundary, faces, sorted};
use eigentone_core::{TetMesh, Vec3};
use glam::DQuat;
use std::collections::{BTreeSet, HashSet};
use std::f64::consts::TAU;

/// What a node may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hold {
    /// Move freely.
    Free,
    /// Slide along the surface, which faces that way.
    Surface(Vec3),
    /// Slide along a curve of the features.
    Curve(u32),
    /// Stay.
    Fixed,
}

/// Stars better than this are left alone: BCC tetrahedra have 0.707.
pub(super) const GOOD: f64 = 0.5;

/// Gains below this do not count: neighbours would be visited for nothing.
const LEAST_GAIN: f64 = 2e-3;

/// Least cosine between the normals of the boundary and of the surface next to it. The bevel of a right-angled edge has 0.7, the tip
/// of a sharp corner less than nothing; what is folded comes near to −1.
const LEAST_FACING: f64 = -0.3;

/// Cosine of the angle between faces that count as lying in a plane: 20°.
const PLANE: f64 = 0.94;

/// First step of the search as share of the size, and how often it is halved.
const STEP: f64 = 0.25;
const HALVINGS: usize = 4;

/// A mesh with what its nodes may do.
pub(super) struct Held<'a> {
    pub mesh: TetMesh,
    pub holds: Vec<Hold>,
    pub stars: Stars,
    /// Faces of the boundary, their nodes sorted.
    skin: HashSet<[u32; 3]>,
    pub tree: &'a DistanceTree,
    pub features: &'a Features,
    pub size: f64,
    /// Cosine of the angle by which the surface may turn under a node that slides.
    pub least_cosine: f64,
    /// By how much the directions of the search are turned; other ones in each sweep.
    turn: f64,
}

impl<'a> Held<'a> {
    pub fn new(mesh: TetMesh, tree: &'a DistanceTree, features: &'a Features, size: f64, angle_deg: f64) -> Self {
        let stars = Stars::new(mesh.positions.len(), &mesh.tets);
        let holds = vec![Hold::Free; mesh.positions.len()];
        let least_cosine = angle_deg.to_radians().cos();
        let skin = boundary(&mesh.tets).into_iter().map(sorted).collect();
        let mut held = Self { mesh, holds, stars, skin, tree, features, size, least_cosine, turn: 0.0 };
        for node in boundary(&held.mesh.tets).into_iter().flatten() {
            let p = held.mesh.positions[node as usize];
            let facing = tree.nearest_with_normal(p, 4.0 * size).map_or(Vec3::ZERO, |(_, n)| n);
            held.holds[node as usize] = Hold::Surface(facing);
        }
        held
    }

    /// The least goodness around a node if it were at `p`; gives up below `floor`.
    pub fn worst_around(&self, node: u32, p: Vec3, floor: f64) -> f64 {
        let mut worst = f64::INFINITY;
        for &t in self.stars.of(node) {
            let corners =
                self.mesh.tets[t as usize].map(|n| if n == node { p } else { self.mesh.positions[n as usize] });
            worst = worst.min(Shape::of(corners).goodness(self.size));
            if worst <= floor {
                break;
            }
        }
        worst
    }

    pub fn position(&self, node: u32) -> Vec3 {
        self.mesh.positions[node as usize]
    }

    /// Whether the boundary around a node would face as the surface does if the node were at `p`. Tetrahedra of positive volume are
    /// not enough: a boundary folded over itself has them, too.
    pub fn faces_outward(&self, node: u32, p: Vec3) -> bool {
        let at = |n: u32| if n == node { p } else { self.position(n) };
        let star = self.stars.of(node).iter().flat_map(|&t| faces(self.mesh.tets[t as usize]));
        star.filter(|f| f.contains(&node) && self.skin.contains(&sorted(*f))).all(|face| {
            let [a, b, c] = face.map(at);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let there = self.tree.nearest_with_normal((a + b + c) / 3.0, 4.0 * self.size);
            there.is_none_or(|(_, facing)| normal.dot(facing) > LEAST_FACING)
        })
    }

    /// Where a node that wants to be at `p` may be, and its hold there.
    fn allowed(&self, node: u32, p: Vec3) -> Option<(Vec3, Hold)> {
        match self.holds[node as usize] {
            Hold::Free => Some((p, Hold::Free)),
            Hold::Fixed => None,
            Hold::Curve(c) => Some((self.features.curves[c as usize].nearest(p), Hold::Curve(c))),
            Hold::Surface(facing) => {
                let (way, normal) = self.tree.nearest_with_normal(p, self.size)?;
                let turned = facing != Vec3::ZERO && normal.dot(facing) < self.least_cosine;
                (!turned).then_some((p + way, Hold::Surface(normal)))
            }
        }
    }

    /// Tries to improve the star of a node; returns whether it did.
    pub fn improve(&mut self, node: u32) -> bool {
        if self.holds[node as usize] == Hold::Fixed {
            return false;
        }
        let mut search = Search::new(self, node);
        if search.best >= GOOD {
            return false;
        }
        let before = search.best;
        search.consider(self, self.middle(node));
        let mut step = STEP * self.size;
        for _ in 0..HALVINGS {
            // As long as a step helps, it is repeated.
            for _ in 0..3 {
                let from = search.place;
                let mut moved = false;
                for way in self.ways(node) {
                    moved |= search.consider(self, from + way * step);
                }
                if !moved {
                    break;
                }
            }
            step *= 0.5;
        }
        if search.best == before || (search.hold != Hold::Free && !self.faces_outward(node, search.place)) {
            return false;
        }
        self.mesh.positions[node as usize] = search.place;
        self.holds[node as usize] = search.hold;
        search.best > before + LEAST_GAIN
    }

    /// Directions in which a node is tried: fourteen in space, eight along the surface, two along a curve.
    fn ways(&self, node: u32) -> Vec<Vec3> {
        match self.holds[node as usize] {
            Hold::Surface(facing) if facing != Vec3::ZERO => {
                let (u, v) = facing.any_orthonormal_pair();
                let turn = |k: i32| (TAU / 8.0 * f64::from(k) + self.turn).sin_cos();
                (0..8).map(turn).map(|(sin, cos)| u * cos + v * sin).collect()
            }
            Hold::Curve(c) => {
                let along = self.features.curves[c as usize].tangent(self.position(node));
                vec![along, -along]
            }
            _ => {
                let turned = DQuat::from_scaled_axis(Vec3::new(1.0, 0.7, 0.4) * self.turn);
                (0..14).map(|k| turned * direction(k)).collect()
            }
        }
    }

    /// The mean of the nodes around.
    fn middle(&self, node: u32) -> Vec3 {
        let star = self.stars.of(node);
        let others = star.iter().flat_map(|&t| self.mesh.tets[t as usize]).filter(|&n| n != node);
        others.map(|n| self.position(n)).sum::<Vec3>() / (3 * star.len().max(1)) as f64
    }

    /// Removes tetrahedra that lie flat on the boundary with two of their faces: a node that moves may have squeezed them between
    /// the surface and the next layer. Only those of the list, and only if the boundary stays a manifold. Returns how many.
    pub fn peel(&mut self, candidates: &BTreeSet<u32>) -> usize {
        let shell = &mut self.skin;
        let pairs = |[a, b, c]: [u32; 3]| [[a, b], [b, c], [a, c]];
        let mut edges: HashSet<[u32; 2]> = shell.iter().flat_map(|&f| pairs(f)).collect();
        let mut gone = vec![false; self.mesh.tets.len()];
        for &t in candidates {
            let all = faces(self.mesh.tets[t as usize]).map(sorted);
            let (outer, inner): (Vec<_>, Vec<_>) = all.into_iter().partition(|f| shell.contains(f));
            let [first, second] = outer[..] else { continue };
            // The edge between the inner faces comes to lie on the boundary; it must not be there yet.
            let [below] = pairs(inner[0]).into_iter().filter(|e| pairs(inner[1]).contains(e)).collect::<Vec<_>>()[..]
            else {
                continue;
            };
            if edges.contains(&below) {
                continue;
            }
            edges.retain(|e| !(pairs(first).contains(e) && pairs(second).contains(e)));
            edges.insert(below);
            shell.remove(&first);
            shell.remove(&second);
            shell.extend(inner);
            gone[t as usize] = true;
        }
        let mut t = 0;
        self.mesh.tets.retain(|_| {
            t += 1;
            !gone[t - 1]
        });
        self.stars = Stars::new(self.mesh.positions.len(), &self.mesh.tets);
        gone.iter().filter(|&&g| g).count()
    }

    /// Tetrahedra worse than `floor`.
    pub fn bad(&self, floor: f64) -> BTreeSet<u32> {
        let shape = |tet: [u32; 4]| Shape::of(tet.map(|n| self.position(n)));
        (0..).zip(&self.mesh.tets).filter(|&(_, &tet)| shape(tet).goodness(self.size) < floor).map(|(t, _)| t).collect()
    }

    /// Those of `bad` with two faces on the boundary that lie almost in a plane: nothing is lost with them.
    pub fn flat(&self, bad: BTreeSet<u32>) -> BTreeSet<u32> {
        let normal = |face: [u32; 3]| {
            let [a, b, c] = face.map(|n| self.position(n));
            (b - a).cross(c - a).normalize_or_zero()
        };
        let is_flat = |t: &u32| {
            let outer = faces(self.mesh.tets[*t as usize]).into_iter().filter(|f| self.skin.contains(&sorted(*f)));
            matches!(outer.map(normal).collect::<Vec<_>>()[..], [a, b] if a.dot(b) > PLANE)
        };
        bad.into_iter().filter(is_flat).collect()
    }

    /// Tetrahedra around a node that would be worse than `floor` if it were at `p`.
    pub fn bad_around(&self, node: u32, p: Vec3, floor: f64) -> Vec<u32> {
        let at = |n: u32| if n == node { p } else { self.position(n) };
        let worse = |t: &u32| Shape::of(self.mesh.tets[*t as usize].map(at)).goodness(self.size) <= floor;
        self.stars.of(node).iter().copied().filter(worse).collect()
    }

    /// Goes over the nodes of the tetrahedra worse than `floor`, and those around nodes that moved, at most `sweeps` times.
    pub fn sweep(&mut self, floor: f64, sweeps: usize) {
        let mut open: BTreeSet<u32> = self.bad(floor).into_iter().flat_map(|t| self.mesh.tets[t as usize]).collect();
        for _ in 0..sweeps {
            let mut next = BTreeSet::new();
            for &node in &open {
                if self.improve(node) {
                    next.extend(self.stars.of(node).iter().flat_map(|&t| self.mesh.tets[t as usize]));
                }
            }
            self.turn += 0.3;
            open = next;
        }
    }
}

/// A search for a better place of one node.
struct Search {
    node: u32,
    place: Vec3,
    hold: Hold,
    best: f64,
    /// Corners of the tetrahedra around, and which of them is the node. The one that refused a place comes first: it is likely to
    /// refuse the next.
    star: Vec<([Vec3; 4], usize)>,
}

impl Search {
    fn new(held: &Held<'_>, node: u32) -> Self {
        let mut star: Vec<([Vec3; 4], usize)> = Vec::with_capacity(32);
        let mut worst = (f64::INFINITY, 0);
        for &t in held.stars.of(node) {
            let tet = held.mesh.tets[t as usize];
            let corners = tet.map(|n| held.position(n));
            let goodness = Shape::of(corners).goodness(held.size);
            if goodness < worst.0 {
                worst = (goodness, star.len());
            }
            star.push((corners, tet.iter().position(|&n| n == node).unwrap_or(0)));
        }
        if !star.is_empty() {
            star.swap(0, worst.1);
        }
        Self { node, place: held.position(node), hold: held.holds[node as usize], best: worst.0, star }
    }

    fn consider(&mut self, held: &Held<'_>, p: Vec3) -> bool {
        let Some((p, hold)) = held.allowed(self.node, p) else { return false };
        let mut worst = f64::INFINITY;
        for k in 0..self.star.len() {
            let (mut corners, me) = self.star[k];
            corners[me] = p;
            worst = worst.min(Shape::of(corners).goodness(held.size));
            if worst <= self.best {
                self.star.swap(0, k);
                return false;
            }
        }
        (self.best, self.place, self.hold) = (worst, p, hold);
        true
    }
}

/// The six ways along the axes and the eight along the diagonals.
fn direction(k: usize) -> Vec3 {
    let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
    match k {
        0..8 => Vec3::new(sign(0), sign(1), sign(2)) / 3f64.sqrt(),
        8 | 9 => Vec3::X * sign(0),
        10 | 11 => Vec3::Y * sign(0),
        _ => Vec3::Z * sign(0),
    }
}
