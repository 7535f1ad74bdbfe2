//! Splitting long edges, collapsing short ones, flipping those that sit badly.

use super::web::{Freedom, Web, may_become, quality};
use crate::mesh::nearest_on_triangle;
use crate::{Ordered, Vec3};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Edges longer than this many wanted edges are split, shorter than the other are collapsed (Botsch & Kobbelt 2004): both
/// halves and what is left of neighbours then are nearer to the wanted length than before.
const LONG: f64 = 4.0 / 3.0;
const SHORT: f64 = 4.0 / 5.0;

/// How far collapsing may cut a corner of a crease, in wanted edges.
const CUT: f64 = 0.1;

/// Passes over all edges within a round.
const PASSES: usize = 10;

/// What a flip is good for.
#[derive(Clone, Copy, PartialEq)]
pub enum FlipFor {
    /// Six triangles at every vertex.
    Valence,
    /// The better worst triangle of the two.
    Quality,
}

impl Web {
    /// Splits edges longer than 4/3 of `edge`, longest first, while there are fewer than `most` vertices.
    pub fn split_long(&mut self, edge: f64, most: usize) {
        let long = LONG * edge;
        let mut queue = BinaryHeap::new();
        for [a, b] in self.edges() {
            let length = self.length(a, b);
            if length > long {
                queue.push((Ordered(length), Reverse([a, b])));
            }
        }
        while let Some((_, Reverse([a, b]))) = queue.pop() {
            if self.count >= most {
                break;
            }
            let (middle, opposite) = self.split(a, b);
            for end in opposite.into_iter().chain([a, b]) {
                let length = self.length(middle, end);
                if length > long {
                    queue.push((Ordered(length), Reverse([end, middle])));
                }
            }
        }
    }

    /// Collapses edges shorter than 4/5 of `edge`, shortest first.
    pub fn collapse_short(&mut self, edge: f64) {
        for _ in 0..PASSES {
            let mut short: Vec<(Ordered, [u32; 2])> = Vec::new();
            for [a, b] in self.edges() {
                let length = self.length(a, b);
                if length < SHORT * edge {
                    short.push((Ordered(length), [a, b]));
                }
            }
            short.sort_unstable();
            let mut collapsed = 0;
            for &(_, [a, b]) in &short {
                // Merging others may have moved the ends, or removed them.
                let there = self.alive(a) && self.alive(b) && self.length(a, b) < SHORT * edge;
                collapsed += usize::from(there && self.sharing(a, b).next().is_some() && self.collapse(a, b, edge));
            }
            if 100 * collapsed <= short.len() {
                break;
            }
        }
    }

    fn collapse(&mut self, a: u32, b: u32, edge: f64) -> bool {
        let (keep, drop) = if self.freedom(a) >= self.freedom(b) { (a, b) } else { (b, a) };
        let (stays, goes) = (self.freedom(keep), self.freedom(drop));
        if goes == Freedom::Fixed || (goes == Freedom::Crease && !self.is_crease(keep, drop)) {
            return false;
        }
        let [p, q] = [keep, drop].map(|v| self.positions[v as usize]);
        let place = if stays == goes { 0.5 * (p + q) } else { p };
        if goes == Freedom::Crease && !self.crease_allows(keep, drop, place, edge) {
            return false;
        }
        if !self.stays_fine(keep, drop, place) || !self.link_allows(keep, drop, place, edge) {
            return false;
        }
        self.merge(keep, drop, place);
        true
    }

    /// Whether a crease keeps its course and its ends when two of its vertices become one at `place`.
    fn crease_allows(&self, keep: u32, drop: u32, place: Vec3, edge: f64) -> bool {
        let beyond = |v: u32, not: u32| self.creases[v as usize].iter().copied().find(|&c| c != not);
        let cut = |v: u32, to: Option<u32>| {
            let Some(to) = to.map(|c| self.positions[c as usize]) else { return 0.0 };
            let w = nearest_on_triangle(self.positions[v as usize], [place, to, to]);
            (place * w[0] + to * (w[1] + w[2])).distance(self.positions[v as usize])
        };
        let next = beyond(drop, keep);
        if next.is_some_and(|c| self.creases[keep as usize].contains(&c)) || cut(drop, next) > CUT * edge {
            return false;
        }
        self.freedom(keep) == Freedom::Fixed || cut(keep, beyond(keep, drop)) <= CUT * edge
    }

    fn stays_fine(&self, keep: u32, drop: u32, place: Vec3) -> bool {
        [keep, drop].into_iter().all(|v| {
            if place == self.positions[v as usize] {
                return true;
            }
            let facing = self.facing(v);
            self.around[v as usize].iter().all(|&t| {
                let corners = self.triangles[t as usize];
                if corners.contains(&keep) && corners.contains(&drop) {
                    return true;
                }
                let after = corners.map(|w| if w == v { place } else { self.positions[w as usize] });
                may_become(self.corners(t), after, facing)
            })
        })
    }

    /// The link condition (Dey et al. 1999): the only vertices next to both ends are those opposite to the edge, and no two
    /// triangles become one; also no edge may become too long.
    fn link_allows(&mut self, keep: u32, drop: u32, place: Vec3, edge: f64) -> bool {
        let shared = self.sharing(keep, drop).count();
        let of_drop = self.ring(drop);
        let longest = |web: &Self, v: u32, ring: &[u32]| ring.iter().map(|&w| web.length(v, w)).fold(0.0, f64::max);
        let before = longest(self, drop, &of_drop);
        let of_keep = self.ring(keep);
        // Edges that are too long already, as in long fans, may stay so until they are split.
        let limit = (LONG * edge).max(1.05 * before.max(longest(self, keep, &of_keep)));
        let common = of_drop.iter().filter(|&&w| w != keep && self.in_last_ring(w)).count();
        let mut ends = of_drop.iter().chain(&of_keep).filter(|&&w| w != keep && w != drop);
        if common != shared || ends.any(|&w| self.positions[w as usize].distance(place) > limit) {
            return false;
        }
        // A border of three edges would close, a tetrahedron would fold flat.
        let twin = self.around[drop as usize].iter().any(|&t| {
            let corners = self.triangles[t as usize];
            let mut others = corners.into_iter().filter(|&w| w != drop);
            let (Some(x), Some(y)) = (others.next(), others.next()) else { return true };
            x != keep
                && y != keep
                && self.in_last_ring(x)
                && self.in_last_ring(y)
                && self.sharing(x, y).any(|s| self.triangles[s as usize].contains(&keep))
        });
        !twin && !self.closes_a_border(keep, drop)
    }

    /// Whether an edge is a border of a triangle whose other two edges are borders, too.
    fn closes_a_border(&self, keep: u32, drop: u32) -> bool {
        self.sharing(keep, drop).any(|t| {
            let opposite = self.triangles[t as usize].into_iter().find(|&w| w != keep && w != drop);
            opposite.is_none_or(|w| {
                let border = |v: u32| self.sharing(v, w).count() == 1;
                border(keep) && border(drop)
            })
        })
    }

    /// Flips edges until none gains by it, or a few times over all of them.
    pub fn flip(&mut self, gain: FlipFor) {
        let wanted = if gain == FlipFor::Valence { self.wanted_triangles() } else { Vec::new() };
        for _ in 0..4 {
            let mut flipped = 0;
            for [a, b] in self.edges() {
                flipped += usize::from(!self.is_crease(a, b) && self.flip_edge(a, b, gain, &wanted));
            }
            if flipped == 0 {
                break;
            }
        }
    }

    fn flip_edge(&mut self, a: u32, b: u32, gain: FlipFor, wanted: &[f64]) -> bool {
        let mut sharing = self.sharing(a, b);
        let (Some(s), Some(t), None) = (sharing.next(), sharing.next(), sharing.next()) else { return false };
        drop(sharing);
        let opposite = |t: u32| self.triangles[t as usize].into_iter().find(|&w| w != a && w != b);
        let (Some(c), Some(d)) = (opposite(s), opposite(t)) else { return false };
        if c == d || self.sharing(c, d).next().is_some() {
            return false;
        }
        // Seen from c, the first triangle passes its far edge from p to q.
        let at = self.triangles[s as usize].iter().position(|&w| w == c).unwrap_or(0);
        let [p, q] = [1, 2].map(|k| self.triangles[s as usize][(at + k) % 3]);
        let new = [[c, p, d], [c, d, q]];
        let at = |t: [u32; 3]| t.map(|v| self.positions[v as usize]);
        let worst = |x: f64, y: f64| x.min(y);
        let before = worst(quality(self.corners(s)), quality(self.corners(t)));
        let after = worst(quality(at(new[0])), quality(at(new[1])));
        let better = match gain {
            FlipFor::Quality => after > before + 1e-9,
            FlipFor::Valence => {
                let off = |v: u32, by: f64| (self.around[v as usize].len() as f64 + by - wanted[v as usize]).powi(2);
                let now = off(a, 0.0) + off(b, 0.0) + off(c, 0.0) + off(d, 0.0);
                off(a, -1.0) + off(b, -1.0) + off(c, 1.0) + off(d, 1.0) < now && after > before.min(0.2)
            }
        };
        if !better {
            return false;
        }
        let both = self.normal(s) + self.normal(t);
        let faces = |t: [u32; 3]| {
            let [x, y, z] = at(t);
            let n = (y - x).cross(z - x);
            n.dot(both) > 0.7 * n.length() * both.length()
        };
        if !faces(new[0]) || !faces(new[1]) {
            return false;
        }
        self.replace([s, t], new);
        true
    }
}
