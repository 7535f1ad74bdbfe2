//! What passes between boxes that touch: the difference between the stencil across their common face and that of a mirror there.

use super::COURANT;
use super::boxes::Block;
use std::collections::HashMap;
use std::ops::Range;

/// Weights of neighbours one, two and three cells away, for boxes of one, two, and three and more cells: each the highest order that fits.
const STENCILS: [[f32; 3]; 3] =
    [[1.0, 0.0, 0.0], [4.0 / 3.0, -1.0 / 12.0, 0.0], [270.0 / 180.0, -27.0 / 180.0, 2.0 / 180.0]];

/// A face that a box has in common with another one, seen from the one.
pub struct Link {
    other: usize,
    /// Place of the first cell of the common face in either box.
    own_first: usize,
    other_first: usize,
    /// Steps from a cell to the next one further in.
    own_inward: isize,
    other_inward: isize,
    /// Along the face: how many cells, and the steps between them in either box; the second is the faster one.
    counts: [usize; 2],
    own_steps: [usize; 2],
    other_steps: [usize; 2],
    weights: [f32; 3],
    depth: usize,
}

/// For each box what it has in common with others.
pub fn find(blocks: &[Block], size: [usize; 3]) -> Vec<Vec<Link>> {
    let mut links: Vec<Vec<Link>> = blocks.iter().map(|_| Vec::new()).collect();
    for (axis, &cells) in size.iter().enumerate() {
        // Boxes by where they begin along the axis.
        let mut begins: HashMap<usize, Vec<usize>> = HashMap::new();
        for (i, block) in blocks.iter().enumerate() {
            begins.entry(block.origin[axis]).or_default().push(i);
        }
        for (low, block) in blocks.iter().enumerate() {
            let end = block.origin[axis] + block.size[axis];
            if end >= cells {
                continue;
            }
            for &high in begins.get(&end).into_iter().flatten() {
                let sides = [(axis + 1) % 3, (axis + 2) % 3];
                let common = sides.map(|side| overlap(block, &blocks[high], side));
                if common.iter().all(|c| !c.is_empty()) {
                    links[low].push(Link::new(blocks, low, high, axis, true, sides, &common));
                    links[high].push(Link::new(blocks, high, low, axis, false, sides, &common));
                }
            }
        }
    }
    // In one order, whatever the map's was: sums must not depend on it.
    for links in &mut links {
        links.sort_by_key(|l| (l.other, l.own_first));
    }
    links
}

fn overlap(a: &Block, b: &Block, axis: usize) -> Range<usize> {
    let start = a.origin[axis].max(b.origin[axis]);
    let end = (a.origin[axis] + a.size[axis]).min(b.origin[axis] + b.size[axis]);
    start..end.max(start)
}

impl Link {
    fn new(
        blocks: &[Block],
        own: usize,
        other: usize,
        axis: usize,
        at_end: bool,
        sides: [usize; 2],
        common: &[Range<usize>; 2],
    ) -> Self {
        // The faster side last.
        let order = if sides[0] < sides[1] { [1, 0] } else { [0, 1] };
        let strides = |b: &Block| [1, b.size[0], b.size[0] * b.size[1]];
        let first = |b: &Block, at_end: bool| {
            let mut at = b.origin;
            at[axis] = if at_end { b.origin[axis] + b.size[axis] - 1 } else { b.origin[axis] };
            for (side, common) in sides.iter().zip(common) {
                at[*side] = common.start;
            }
            b.index(at).unwrap_or_default()
        };
        let (a, b) = (&blocks[own], &blocks[other]);
        let depth = a.size[axis].min(b.size[axis]).min(3);
        let inward = |b: &Block, at_end: bool| strides(b)[axis] as isize * if at_end { -1 } else { 1 };
        Self {
            other,
            own_first: first(a, at_end),
            other_first: first(b, !at_end),
            own_inward: inward(a, at_end),
            other_inward: inward(b, !at_end),
            counts: order.map(|o| common[o].len()),
            own_steps: order.map(|o| strides(a)[sides[o]]),
            other_steps: order.map(|o| strides(b)[sides[o]]),
            weights: STENCILS[depth - 1],
            depth,
        }
    }

    /// Adds the force of the other box on this one.
    pub fn push(&self, pressures: &[Vec<f32>], own: &[f32], force: &mut [f32]) {
        let other = &pressures[self.other][..];
        let scale = (COURANT * COURANT) as f32;
        let weights = self.weights.map(|w| scale * w);
        let inner = |first: usize, inward: isize, m: usize| first.wrapping_add_signed(inward * m as isize);
        for row in 0..self.counts[0] {
            let a = self.own_first + row * self.own_steps[0];
            let b = self.other_first + row * self.other_steps[0];
            if self.own_steps[1] == 1 && self.other_steps[1] == 1 {
                let n = self.counts[1];
                for m in 0..self.depth {
                    let (own, other) =
                        (&own[inner(a, self.own_inward, m)..][..n], &other[inner(b, self.other_inward, m)..][..n]);
                    for (k, weight) in (0..self.depth - m).zip(&weights[m..]) {
                        let force = &mut force[inner(a, self.own_inward, k)..][..n];
                        for ((f, o), q) in force.iter_mut().zip(other).zip(own) {
                            *f += weight * (o - q);
                        }
                    }
                }
            } else {
                for i in 0..self.counts[1] {
                    let (a, b) = (a + i * self.own_steps[1], b + i * self.other_steps[1]);
                    for m in 0..self.depth {
                        let difference = other[inner(b, self.other_inward, m)] - own[inner(a, self.own_inward, m)];
                        for (k, weight) in (0..self.depth - m).zip(&weights[m..]) {
                            force[inner(a, self.own_inward, k)] += weight * difference;
                        }
                    }
                }
            }
        }
    }
}
