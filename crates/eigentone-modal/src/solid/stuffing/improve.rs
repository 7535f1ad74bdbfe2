//! Nodes move to make the worst of their tetrahedra better.
//!
//! A pattern search per node on the least [goodness](super::quality::Shape::goodness) of its star: the middle of its neighbours,
//! then steps in fourteen directions, halved. Nodes of the surface and of sharp edges are put back on them before they are judged.
//! The least goodness around a node never falls, hence nothing is ever turned inside out.

use super::super::distance::DistanceTree;
use super::features::Features;
use super::quality::Shape;
use super::topology::{Stars, boundary};
use eigentone_core::{TetMesh, Vec3};

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
const GOOD: f64 = 0.5;

/// First step of the search as share of the size, and how often it is halved.
const STEP: f64 = 0.25;
const HALVINGS: usize = 4;

/// A mesh with what its nodes may do.
pub(super) struct Held<'a> {
    pub mesh: TetMesh,
    pub holds: Vec<Hold>,
    pub stars: Stars,
    pub tree: &'a DistanceTree,
    pub features: &'a Features,
    pub size: f64,
    /// Cosine of the angle by which the surface may turn under a node that slides.
    pub least_cosine: f64,
}

impl<'a> Held<'a> {
    pub fn new(mesh: TetMesh, tree: &'a DistanceTree, features: &'a Features, size: f64, angle_deg: f64) -> Self {
        let stars = Stars::new(mesh.positions.len(), &mesh.tets);
        let holds = vec![Hold::Free; mesh.positions.len()];
        let least_cosine = angle_deg.to_radians().cos();
        let mut held = Self { mesh, holds, stars, tree, features, size, least_cosine };
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
        let mut best = self.worst_around(node, self.position(node), f64::NEG_INFINITY);
        if best >= GOOD || self.holds[node as usize] == Hold::Fixed {
            return false;
        }
        let before = best;
        self.consider(node, self.middle(node), &mut best);
        let mut step = STEP * self.size;
        for _ in 0..HALVINGS {
            // As long as a step helps, it is repeated.
            for _ in 0..3 {
                let from = self.position(node);
                let mut moved = false;
                for k in 0..14 {
                    moved |= self.consider(node, from + direction(k) * step, &mut best);
                }
                if !moved {
                    break;
                }
            }
            step *= 0.5;
        }
        best > before + 1e-9
    }

    fn consider(&mut self, node: u32, p: Vec3, best: &mut f64) -> bool {
        let Some((p, hold)) = self.allowed(node, p) else { return false };
        let worst = self.worst_around(node, p, *best);
        let better = worst > *best;
        if better {
            *best = worst;
            self.mesh.positions[node as usize] = p;
            self.holds[node as usize] = hold;
        }
        better
    }

    /// The mean of the nodes around.
    fn middle(&self, node: u32) -> Vec3 {
        let star = self.stars.of(node);
        let others = star.iter().flat_map(|&t| self.mesh.tets[t as usize]).filter(|&n| n != node);
        others.map(|n| self.position(n)).sum::<Vec3>() / (3 * star.len().max(1)) as f64
    }

    /// Goes over all nodes, at most `sweeps` times.
    pub fn sweep(&mut self, sweeps: usize) {
        let mut open: Vec<bool> = vec![true; self.holds.len()];
        for _ in 0..sweeps {
            let mut next = vec![false; open.len()];
            let mut any = false;
            for node in (0..open.len() as u32).filter(|&n| open[n as usize]) {
                if self.improve(node) {
                    any = true;
                    for &t in self.stars.of(node) {
                        self.mesh.tets[t as usize].iter().for_each(|&n| next[n as usize] = true);
                    }
                }
            }
            open = next;
            if !any {
                break;
            }
        }
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
