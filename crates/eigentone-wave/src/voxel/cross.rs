//! Which cells are solid: crossings of triangles with the lines between centres of cells, then thinning.
//!
//! Coordinates are in cells; the centre of cell k is at k + ½. Each layer of cells is one task with memory of its own, and takes its triangles in their order:
//! the result does not depend on the number of threads.

use super::{DIRECTIONS, Triangle, by_layer};
use eigentone_core::acoustics::{Bits, Lattice};
use rayon::prelude::*;

/// Which of the two cells between whose centres a triangle passes becomes solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The one behind the triangle.
    #[default]
    Behind,
    /// The one whose centre is nearer; of equals the one behind.
    Nearest,
}

/// By so much, in cells, every triangle is widened: far above rounding for lattices of a million cells a side, far below anything audible.
const WIDENED: f64 = 1e-9;
/// Thinner than this in a projection, a triangle is seen edge-on, and its neighbours cover the line.
const EDGE_ON: f64 = 1e-10;
/// Of the flags of a cell, beside one for each direction whose line is crossed: a surface runs through the centre itself.
const CENTRE: u8 = 1 << 6;
const LINES: u8 = CENTRE - 1;

pub(super) fn solid(triangles: &[Triangle], lattice: &Lattice, side: Side) -> Bits {
    let mut flags = vec![0u8; lattice.len()];
    let layer_len = lattice.size[0] as usize * lattice.size[1] as usize;
    if layer_len > 0 {
        let lists = by_layer(triangles, lattice, 0.5 + 2.0 * WIDENED);
        flags.par_chunks_mut(layer_len).zip(&lists).enumerate().for_each(|(z, (layer, list))| {
            let mut layer = Layer { flags: layer, size: lattice.size, z: z as i64, side };
            for &t in list {
                (0..3).for_each(|axis| layer.mark(&triangles[t as usize], axis));
            }
        });
    }
    thin(&flags, lattice)
}

/// One layer of cells.
struct Layer<'a> {
    flags: &'a mut [u8],
    size: [u32; 3],
    z: i64,
    side: Side,
}

impl Layer<'_> {
    /// Marks what a triangle crosses on lines along an axis `w`. The lines are points in the plane of the other two axes, u and v.
    fn mark(&mut self, triangle: &Triangle, w: usize) {
        let Some(shadow) = Shadow::new(triangle, w) else { return };
        let [u, v] = shadow.axes;
        // Lines along x and y that concern this layer lie in the plane of its centres; those along z are all of them.
        let rows = if w == 2 { centres(triangle.extent(v), self.size[v]) } else { self.z..self.z + 1 };
        for row in rows {
            let Some([mut lo, mut hi]) = shadow.span(row as f64 + 0.5) else { continue };
            if w == 2 {
                [lo, hi] = shadow.within(row as f64 + 0.5, [lo, hi], [self.z as f64 - 0.5, self.z as f64 + 1.5]);
            }
            for column in centres([lo, hi], self.size[u]) {
                let height = shadow.height(column as f64 + 0.5, row as f64 + 0.5);
                let mut at = [self.z; 3];
                at[u] = column;
                at[v] = row;
                self.crossing(at, w, height, shadow.normal_w > 0.0);
            }
        }
    }

    /// A crossing somewhere in `[lo, hi]` of the line along `w` through a cell.
    fn crossing(&mut self, mut at: [i64; 3], w: usize, [lo, hi]: [f64; 2], upward: bool) {
        let most = f64::from(self.size[w]) + 1.0;
        // Line j joins the centres j and j + 1.
        let first = (lo - 0.5 - WIDENED).max(-2.0).floor() as i64;
        let last = (hi - 0.5 + WIDENED).min(most).floor() as i64;
        for j in first..=last {
            let centre = j as f64 + 0.5;
            if lo - WIDENED <= centre && centre <= hi + WIDENED {
                at[w] = j;
                self.set(at, CENTRE | LINES);
            }
            let boundary = centre + 0.5;
            let lower = match self.side {
                Side::Behind => upward,
                Side::Nearest if (hi - boundary).abs() <= WIDENED => upward,
                Side::Nearest => hi < boundary,
            };
            // Not beyond the ends of this line, which a centre hit has covered.
            if hi > centre + WIDENED && lo < centre + 1.0 - WIDENED {
                at[w] = if lower { j } else { j + 1 };
                self.set(at, 1 << (2 * w + usize::from(lower)));
            }
        }
    }

    fn set(&mut self, at: [i64; 3], flags: u8) {
        let inside = at[2] == self.z && (0..2).all(|axis| at[axis] >= 0 && at[axis] < i64::from(self.size[axis]));
        if inside {
            self.flags[at[1] as usize * self.size[0] as usize + at[0] as usize] |= flags;
        }
    }
}

/// Cells of a row of `count` whose centres are in a range.
fn centres([lo, hi]: [f64; 2], count: u32) -> std::ops::Range<i64> {
    let first = (lo - WIDENED - 0.5).ceil().max(0.0);
    let end = (hi + WIDENED - 0.5).floor().min(f64::from(count) - 1.0) + 1.0;
    if first < end { first as i64..end as i64 } else { 0..0 }
}

/// A triangle seen along an axis.
struct Shadow {
    axes: [usize; 2],
    corners: [[f64; 2]; 3],
    /// 1 if the corners run anticlockwise, else −1.
    turn: f64,
    normal_w: f64,
    /// Height over the first corner per step in u and v.
    slope: [f64; 2],
    /// Height of the first corner, and the range of heights.
    base: f64,
    extent: [f64; 2],
}

impl Shadow {
    /// `None` if it is seen edge-on.
    fn new(triangle: &Triangle, w: usize) -> Option<Self> {
        let axes = [[1, 2], [0, 2], [0, 1]][w];
        let corners = triangle.corners.map(|p| axes.map(|axis| p[axis]));
        let normal = triangle.normal();
        let longest = (0..3).map(|k| length(corners[k], corners[(k + 1) % 3])).fold(0.0, f64::max);
        // The pair (x, z) is left-handed as seen along y.
        let turn = if w == 1 { -normal[w].signum() } else { normal[w].signum() };
        (normal[w].abs() > EDGE_ON * longest).then(|| Self {
            axes,
            corners,
            turn,
            normal_w: normal[w],
            slope: axes.map(|axis| -normal[axis] / normal[w]),
            base: triangle.corners[0][w],
            extent: triangle.extent(w),
        })
    }

    /// The range of u on the line of a v that is in the triangle.
    fn span(&self, v: f64) -> Option<[f64; 2]> {
        let [mut lo, mut hi] = [f64::NEG_INFINITY, f64::INFINITY];
        for k in 0..3 {
            let (from, to) = (self.corners[k], self.corners[(k + 1) % 3]);
            // Inside is turn · (d × (p − from)) ≥ −widened · |d|.
            let [du, dv] = [self.turn * (to[0] - from[0]), self.turn * (to[1] - from[1])];
            let room = du * (v - from[1]) + WIDENED * length(from, to);
            if dv > 0.0 {
                hi = hi.min(from[0] + room / dv);
            } else if dv < 0.0 {
                lo = lo.max(from[0] + room / dv);
            } else if room < 0.0 {
                return None;
            }
        }
        (lo <= hi).then_some([lo, hi])
    }

    /// The part of a range of u where the height is in a range.
    fn within(&self, v: f64, [lo, hi]: [f64; 2], [least, most]: [f64; 2]) -> [f64; 2] {
        let slope = self.slope[0];
        let at_first = self.base + self.slope[1] * (v - self.corners[0][1]);
        let spare = self.spare() + 1e-6;
        if slope.abs() < 1e-6 {
            return [lo, hi];
        }
        let ends = [least - spare, most + spare].map(|h| self.corners[0][0] + (h - at_first) / slope);
        [lo.max(ends[0].min(ends[1])), hi.min(ends[0].max(ends[1]))]
    }

    /// By how much the height is uncertain where the place is known to the width by which triangles are widened.
    fn spare(&self) -> f64 {
        2.0 * WIDENED * self.slope[0].hypot(self.slope[1])
    }

    /// The range in which the height over a point lies.
    fn height(&self, u: f64, v: f64) -> [f64; 2] {
        let h = self.base + self.slope[0] * (u - self.corners[0][0]) + self.slope[1] * (v - self.corners[0][1]);
        let [least, most] = self.extent;
        [-1.0, 1.0].map(|sign| (h + sign * self.spare()).clamp(least, most))
    }
}

fn length(a: [f64; 2], b: [f64; 2]) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

/// The marked cells without those whose crossed lines all end in cells that stay. Cells with few crossings go first: a cell in a doorway that only
/// touches the jamb rather than the wall beside it.
fn thin(flags: &[u8], lattice: &Lattice) -> Bits {
    let mut solid = Bits::new(flags.len());
    let marked: Vec<usize> = flags.iter().enumerate().filter(|(_, f)| **f != 0).map(|(i, _)| i).collect();
    marked.iter().for_each(|&i| solid.set(i, true));
    let [nx, ny, _] = lattice.size.map(|n| n as usize);
    for crossings in 1..=6 {
        for &i in marked.iter().filter(|&&i| (flags[i] & LINES).count_ones() == crossings && flags[i] & CENTRE == 0) {
            let at = [i % nx, i / nx % ny, i / nx / ny].map(|c| c as i64);
            let needed = (0..6).any(|d| {
                let neighbour = lattice.index(std::array::from_fn(|axis| at[axis] + DIRECTIONS[d][axis]));
                let theirs = neighbour.map_or(0, |n| flags[n]);
                let crossed = flags[i] >> d & 1 == 1 || theirs >> (d ^ 1) & 1 == 1;
                crossed && !neighbour.is_some_and(|n| solid.get(n))
            });
            if !needed {
                solid.set(i, false);
            }
        }
    }
    solid
}
