//! The background lattice: body-centred cubic, graded by an octree.
//!
//! Labelle & Shewchuk 2007, §3: every leaf of the octree has a node at its centre and at its corners. Two leaves of equal size
//! that share a face give four tetrahedra, each an edge of the face and both centres; an edge with a node in its middle gives
//! two for one. Where a leaf meets four smaller ones, the face has a node in its middle, and the larger side is made of its
//! centre with the eight triangles around it; the smaller sides are pyramids, halved along the diagonal through that node.
//! All this fits together if leaves that touch, be it at a corner, differ by a factor of two at most.

use super::super::distance::DistanceTree;
use eigentone_core::Vec3;
use std::collections::{BTreeMap, HashMap};

/// Whole-number coordinates: half an edge of the finest cells is one.
pub(super) type Place = [i32; 3];

/// Where the lattice lies in space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Position of the place `[0, 0, 0]`.
    pub origin: Vec3,
    /// Steps along the three axes of the lattice, half an edge long.
    pub steps: [Vec3; 3],
    /// Cells of the finest level along the longest side of the body.
    pub cells: u32,
}

impl Grid {
    pub fn position(&self, place: Place) -> Vec3 {
        self.origin + (0..3).map(|k| self.steps[k] * f64::from(place[k])).sum::<Vec3>()
    }

    /// Longest edge of the finest cells.
    pub fn edge(&self) -> f64 {
        2.0 * self.steps.map(Vec3::length).into_iter().fold(0.0, f64::max)
    }
}

/// Nodes and tetrahedra of the lattice that may be in the body.
pub(super) struct Lattice {
    pub positions: Vec<Vec3>,
    pub tets: Vec<[u32; 4]>,
}

/// A cell by the place of its lowest corner, to its level: `2 · 2^level` is its edge.
type Leaves = BTreeMap<Place, u32>;

/// Finest cells reach this many of their edges beyond those that the surface crosses.
const FINE_EDGES: f64 = 1.5;

/// Builds the lattice around and inside the surface of `tree`; nothing if that takes more than `most` cells.
pub(super) fn build(tree: &DistanceTree, grid: &Grid, coarser: u32, most: usize) -> Option<Lattice> {
    let mut leaves = Leaves::new();
    let levels = (grid.cells.max(1) + 4).next_power_of_two().trailing_zeros();
    // The root begins two cells below the body, at an even place, so that all leaves lie on multiples of their edges.
    divide(tree, grid, coarser, most, ([0; 3], levels), &mut leaves);
    if leaves.len() > most {
        return None;
    }
    balance(&mut leaves);
    Some(Builder::new(&leaves, grid).run())
}

fn edge_of(level: u32) -> i32 {
    2 << level
}

fn children(place: Place, level: u32) -> impl Iterator<Item = Place> {
    let half = edge_of(level) / 2;
    (0..8).map(move |c| std::array::from_fn(|k| place[k] + half * (c >> k & 1)))
}

/// Keeps what is inside or near the surface, as coarse as allowed.
fn divide(
    tree: &DistanceTree,
    grid: &Grid,
    coarser: u32,
    most: usize,
    (place, level): (Place, u32),
    leaves: &mut Leaves,
) {
    if leaves.len() > most {
        return;
    }
    let half = edge_of(level) / 2;
    let centre = grid.position(place.map(|x| x + half));
    let reach = 0.5 * 3f64.sqrt() * grid.edge() * f64::from(1u32 << level) + FINE_EDGES * grid.edge();
    if tree.nearest(centre, reach).is_none() {
        if !tree.inside(centre) {
            return;
        }
        if level <= coarser {
            leaves.insert(place, level);
            return;
        }
    } else if level == 0 {
        leaves.insert(place, 0);
        return;
    }
    children(place, level).for_each(|c| divide(tree, grid, coarser, most, (c, level - 1), leaves));
}

/// The leaf that contains the unit cube above `place`.
fn leaf_at(leaves: &Leaves, place: Place, highest: u32) -> Option<(Place, u32)> {
    (0..=highest).find_map(|level| {
        let edge = edge_of(level);
        let corner = place.map(|x| x.div_euclid(edge) * edge);
        leaves.get(&corner).filter(|&&l| l == level).map(|_| (corner, level))
    })
}

/// Splits leaves until neighbours, also over edges and corners, differ by one level at most.
fn balance(leaves: &mut Leaves) {
    let highest = leaves.values().copied().max().unwrap_or(0);
    for level in 0..highest.saturating_sub(1) {
        let mut fine: Vec<Place> = leaves.iter().filter(|&(_, &l)| l == level).map(|(&p, _)| p).collect();
        while let Some(place) = fine.pop() {
            let edge = edge_of(level);
            for n in 0..27 {
                let offset = [n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1];
                let beside = std::array::from_fn(|k| place[k] + edge * offset[k]);
                while let Some((corner, found)) = leaf_at(leaves, beside, highest).filter(|&(_, l)| l > level + 1) {
                    leaves.remove(&corner);
                    leaves.extend(children(corner, found).map(|c| (c, found - 1)));
                }
            }
        }
    }
}

struct Builder<'a> {
    leaves: &'a Leaves,
    grid: &'a Grid,
    highest: u32,
    nodes: HashMap<Place, u32>,
    lattice: Lattice,
}

/// Corners of a face in a ring, as multiples of half the edge along the two axes of the face.
const RING: [[i32; 2]; 4] = [[0, 0], [2, 0], [2, 2], [0, 2]];

impl<'a> Builder<'a> {
    fn new(leaves: &'a Leaves, grid: &'a Grid) -> Self {
        let highest = leaves.values().copied().max().unwrap_or(0);
        let lattice = Lattice { positions: Vec::new(), tets: Vec::new() };
        let mut builder = Self { leaves, grid, highest, nodes: HashMap::new(), lattice };
        // All corners first: whether an edge has a node in its middle is asked below.
        for (&place, &level) in leaves {
            let edge = edge_of(level);
            (0..8).for_each(|c| builder.node(std::array::from_fn(|k| place[k] + edge * (c >> k & 1))));
            builder.node(place.map(|x| x + edge / 2));
        }
        builder
    }

    fn node(&mut self, place: Place) {
        let next = self.lattice.positions.len() as u32;
        if let std::collections::hash_map::Entry::Vacant(free) = self.nodes.entry(place) {
            free.insert(next);
            self.lattice.positions.push(self.grid.position(place));
        }
    }

    fn tet(&mut self, places: [Place; 4]) {
        let mut tet = places.map(|p| self.nodes[&p]);
        let [a, b, c, d] = tet.map(|n| self.lattice.positions[n as usize]);
        if (b - a).cross(c - a).dot(d - a) < 0.0 {
            tet.swap(2, 3);
        }
        self.lattice.tets.push(tet);
    }

    fn run(mut self) -> Lattice {
        for (&place, &level) in self.leaves {
            for axis in 0..3 {
                for upper in [false, true] {
                    self.face(place, level, axis, upper);
                }
            }
        }
        self.lattice
    }

    fn face(&mut self, place: Place, level: u32, axis: usize, upper: bool) {
        let (edge, half) = (edge_of(level), edge_of(level) / 2);
        let centre = place.map(|x| x + half);
        let on_face = |[a, b]: [i32; 2]| {
            let mut corner = place;
            corner[axis] += if upper { edge } else { 0 };
            corner[(axis + 1) % 3] += half * a;
            corner[(axis + 2) % 3] += half * b;
            corner
        };
        let middle = on_face([1, 1]);
        let ring = RING.map(on_face);
        let mut beside = place;
        beside[axis] += if upper { edge } else { -edge };
        match leaf_at(self.leaves, beside, self.highest) {
            Some((_, l)) if l == level => {
                if upper {
                    let other = beside.map(|x| x + half);
                    self.around(ring, |a, b| [centre, other, a, b]);
                }
            }
            Some((corner, l)) if l > level => {
                // The node in the middle of the larger face is one of our corners.
                let large_middle: Place =
                    std::array::from_fn(|k| if k == axis { middle[k] } else { corner[k] + edge_of(l) / 2 });
                let at = ring.iter().position(|&c| c == large_middle).unwrap_or(0);
                for side in [1, 3] {
                    self.tet([centre, ring[at], ring[(at + 2) % 4], ring[(at + side) % 4]]);
                }
            }
            Some(_) => self.around(ring, |a, b| [centre, middle, a, b]),
            None => {
                // Nothing beyond or smaller leaves of which the nearest is missing: either way outside, unless the middle exists.
                if self.nodes.contains_key(&middle) {
                    self.around(ring, |a, b| [centre, middle, a, b]);
                }
            }
        }
    }

    /// A tetrahedron for each edge of the ring, two where the edge has a node in its middle.
    fn around(&mut self, ring: [Place; 4], tet: impl Fn(Place, Place) -> [Place; 4]) {
        for k in 0..4 {
            let (a, b) = (ring[k], ring[(k + 1) % 4]);
            let middle: Place = std::array::from_fn(|i| (a[i] + b[i]) / 2);
            if self.nodes.contains_key(&middle) {
                self.tet(tet(a, middle));
                self.tet(tet(middle, b));
            } else {
                self.tet(tet(a, b));
            }
        }
    }
}
