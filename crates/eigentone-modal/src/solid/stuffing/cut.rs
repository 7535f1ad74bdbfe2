//! The lattice meets the surface: nodes close to it are moved on to it, the edges still crossed are cut.
//!
//! Labelle & Shewchuk 2007, §4: a node is moved if the surface crosses one of its edges within the share `α` of the edge's length;
//! `α` is such that no stencil below is worse than about ten degrees. Then each tetrahedron has nodes inside (+), on (0) and
//! outside (−); what is inside of it is a tetrahedron, a pyramid or a prism. Quadrilaterals are halved from the node that comes
//! first, and nodes of the lattice come before cuts: an order of all nodes, so that neighbours agree and no prism is left over.

use super::super::distance::DistanceTree;
use super::lattice::{Grid, Lattice};
use eigentone_core::{TetMesh, Vec3};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// The safe shares of long and short edges, Labelle & Shewchuk table 2.
const ALPHA_LONG: f64 = 0.249_99;
const ALPHA_SHORT: f64 = 0.411_89;

/// Nodes closer than this share of a cell count as on the surface.
const ON_SURFACE: f64 = 1e-6;

/// Tetrahedra with all nodes on the surface are kept if their middle is deeper than this share of a cell: a quarter of the least
/// altitude that is worth having.
const WALL: f64 = 0.08;

struct Cutter<'a> {
    tree: &'a DistanceTree,
    size: f64,
    /// Directions of the lattice.
    axes: [Vec3; 3],
    lattice: Lattice,
    /// Positions before nodes were moved: there, no tetrahedron is flat.
    rest: Vec<Vec3>,
    /// Distance from the surface, positive inside; beyond a few cells merely something large.
    depth: Vec<f64>,
    /// The sign of the depth, 0 for nodes on the surface.
    side: Vec<i8>,
    cuts: HashMap<[u32; 2], u32>,
    tets: Vec<[u32; 4]>,
}

/// Cuts the lattice. The nodes of the result's boundary lie on the surface, more or less.
pub(super) fn cut(tree: &DistanceTree, lattice: Lattice, grid: &Grid, size: f64) -> TetMesh {
    let axes = grid.steps.map(Vec3::normalize_or_zero);
    let far = 4.0 * size;
    let depth: Vec<f64> = lattice
        .positions
        .par_iter()
        .map(|&p| {
            let distance = tree.nearest(p, far).map_or(far, Vec3::length);
            if distance < ON_SURFACE * size {
                0.0
            } else if tree.inside(p) {
                distance
            } else {
                -distance
            }
        })
        .collect();
    let side = depth.iter().map(|&d| (d > 0.0) as i8 - (d < 0.0) as i8).collect();
    let rest = lattice.positions.clone();
    let mut cutter = Cutter { tree, size, axes, lattice, rest, depth, side, cuts: HashMap::new(), tets: Vec::new() };
    for n in 0..cutter.side.len() {
        if cutter.side[n] == 0 {
            cutter.put_on_surface(n);
        }
    }
    cutter.warp();
    for tet in std::mem::take(&mut cutter.lattice.tets) {
        cutter.stencil(tet);
    }
    TetMesh { positions: cutter.lattice.positions, tets: cutter.tets }
}

impl Cutter<'_> {
    fn put_on_surface(&mut self, node: usize) {
        let p = &mut self.lattice.positions[node];
        *p += self.tree.nearest(*p, 4.0 * self.size).unwrap_or(Vec3::ZERO);
    }

    /// Share of the way from `a` to `b` at which the surface is crossed.
    fn crossing(&self, a: usize, b: usize) -> f64 {
        self.depth[a] / (self.depth[a] - self.depth[b])
    }

    /// Long edges of the lattice lie along its axes, short ones along the diagonals of its cells.
    fn is_long(&self, edge: Vec3) -> bool {
        self.axes.iter().any(|axis| edge.dot(*axis).abs() > 0.99 * edge.length())
    }

    /// Moves nodes that are too close to a cut on to the surface, the closest first.
    fn warp(&mut self) {
        let mut crossed: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for tet in &self.lattice.tets {
            for (i, &a) in tet.iter().enumerate() {
                for &b in &tet[i + 1..] {
                    if self.side[a as usize] * self.side[b as usize] < 0 {
                        crossed.entry(a).or_default().push(b);
                        crossed.entry(b).or_default().push(a);
                    }
                }
            }
        }
        let mut order: Vec<u32> = crossed.keys().copied().collect();
        let depth = |n: u32| self.depth[n as usize].abs();
        order.sort_by(|&a, &b| depth(a).total_cmp(&depth(b)).then(a.cmp(&b)));
        for node in order {
            let a = node as usize;
            let violated = crossed[&node].iter().any(|&other| {
                let b = other as usize;
                let alpha = if self.is_long(self.rest[b] - self.rest[a]) { ALPHA_LONG } else { ALPHA_SHORT };
                self.side[b] != 0 && self.crossing(a, b) < alpha
            });
            if violated {
                self.put_on_surface(a);
                self.side[a] = 0;
            }
        }
    }

    /// The node where the surface crosses an edge.
    fn cut(&mut self, inside: u32, outside: u32) -> u32 {
        let key = [inside.min(outside), inside.max(outside)];
        if let Some(&node) = self.cuts.get(&key) {
            return node;
        }
        let (a, b) = (inside as usize, outside as usize);
        let node = self.rest.len() as u32;
        let t = self.crossing(a, b);
        self.lattice.positions.push(self.lattice.positions[a].lerp(self.lattice.positions[b], t));
        self.rest.push(self.rest[a].lerp(self.rest[b], t));
        self.put_on_surface(node as usize);
        self.cuts.insert(key, node);
        node
    }

    fn add(&mut self, mut tet: [u32; 4]) {
        let [a, b, c, d] = tet.map(|n| self.rest[n as usize]);
        if (b - a).cross(c - a).dot(d - a) < 0.0 {
            tet.swap(2, 3);
        }
        self.tets.push(tet);
    }

    fn stencil(&mut self, tet: [u32; 4]) {
        let of = |wanted: i8| tet.iter().copied().filter(|&n| self.side[n as usize] == wanted).collect::<Vec<u32>>();
        let (inside, on, outside) = (of(1), of(0), of(-1));
        match (&inside[..], &on[..], &outside[..]) {
            // In a thin wall, all nodes may have been moved on to one side or the other.
            ([], on, []) if on.len() == 4 => {
                let middle = tet.map(|n| self.lattice.positions[n as usize]).iter().sum::<Vec3>() / 4.0;
                if self.tree.nearest(middle, WALL * self.size).is_none() && self.tree.inside(middle) {
                    self.tets.push(tet);
                }
            }
            ([], ..) => {}
            (.., []) => self.tets.push(tet),
            (&[a], on, outside) => {
                let mut nodes = vec![a];
                nodes.extend_from_slice(on);
                nodes.extend(outside.iter().map(|&o| self.cut(a, o)));
                self.add([nodes[0], nodes[1], nodes[2], nodes[3]]);
            }
            (&[a, b], &[zero], &[o]) => {
                let (first, second) = (a.min(b), a.max(b));
                let (near, far) = (self.cut(first, o), self.cut(second, o));
                self.add([zero, first, second, far]);
                self.add([zero, first, far, near]);
            }
            (&[a, b], _, &[c, d]) => {
                let one = [a, self.cut(a, c), self.cut(a, d)];
                let other = [b, self.cut(b, c), self.cut(b, d)];
                self.prism(one, other);
            }
            (&[a, b, c], _, &[o]) => {
                let cuts = [self.cut(a, o), self.cut(b, o), self.cut(c, o)];
                self.prism([a, b, c], cuts);
            }
            _ => {}
        }
    }

    /// Three tetrahedra of a prism between two triangles whose corners belong together.
    fn prism(&mut self, mut low: [u32; 3], mut high: [u32; 3]) {
        let first = (0..3).min_by_key(|&k| low[k].min(high[k])).unwrap_or(0);
        if high[first] < low[first] {
            std::mem::swap(&mut low, &mut high);
        }
        let k = [first, (first + 1) % 3, (first + 2) % 3];
        let ([a, b, c], [d, e, f]) = (k.map(|k| low[k]), k.map(|k| high[k]));
        // `a` halves both of its quadrilaterals; the third, (b, c, f, e), is halved by its own first node.
        self.add([a, d, e, f]);
        if b.min(f) < c.min(e) {
            self.add([a, b, c, f]);
            self.add([a, b, f, e]);
        } else {
            self.add([a, b, c, e]);
            self.add([a, c, f, e]);
        }
    }
}
