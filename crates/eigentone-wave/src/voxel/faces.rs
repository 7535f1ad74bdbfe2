//! Materials on the sides of solid cells, by the areas of the pieces of triangles in them.
//!
//! A triangle is cut along the borders of cells: first into layers, these into rows, and these into cells. A piece that faces a direction is counted for that
//! side of its cell. If its cell is air, it covers the cell behind it, provided that is solid. Where several materials face the same way, as a carpet and the floor under it, the outermost
//! of those that cover about as much counts: it is the one that sound meets.

use super::{DIRECTIONS, Triangle, by_layer, clamped};
use eigentone_core::{
    Vec3,
    acoustics::{Bits, Lattice},
};
use rayon::prelude::*;

/// Area of a material on a side of a cell. The seventh side is the cell as a whole.
#[derive(Clone, Copy)]
struct Piece {
    cell: usize,
    side: u8,
    material: u16,
    area: f64,
    /// The area times how far out it lies, along the side's direction, in cells.
    moment: f64,
}

impl Piece {
    fn reach(&self) -> f64 {
        self.moment / self.area
    }

    fn key(&self) -> (usize, u8, u16) {
        (self.cell, self.side, self.material)
    }
}

const WHOLE: u8 = 6;

/// Solid cells in rising order, and the materials on the sides of each.
pub(super) fn materials(triangles: &[Triangle], lattice: &Lattice, solid: &Bits) -> (Vec<usize>, Vec<[u16; 6]>) {
    let lists = by_layer(triangles, lattice, 0.0);
    let layers: Vec<Vec<Piece>> = lists
        .par_iter()
        .enumerate()
        .map(|(z, list)| {
            let mut pieces = Vec::new();
            for &t in list {
                cut(&triangles[t as usize], z, lattice, solid, &mut pieces);
            }
            sum(pieces)
        })
        .collect();
    let pieces = sum(layers.concat());
    let cells: Vec<usize> = (0..solid.len()).filter(|&i| solid.get(i)).collect();
    let mut rest = &pieces[..];
    let of_cell = cells.iter().map(|&cell| {
        let skipped = rest.partition_point(|p| p.cell < cell);
        let count = rest[skipped..].partition_point(|p| p.cell == cell);
        let own = &rest[skipped..skipped + count];
        rest = &rest[skipped + count..];
        let whole = largest(own, WHOLE).unwrap_or_else(|| own.first().map_or(0, |p| p.material));
        std::array::from_fn(|side| largest(own, side as u8).unwrap_or(whole))
    });
    let materials = of_cell.collect();
    (cells, materials)
}

/// The material that is farthest out on a side, of those with at least half of the largest area; of equals the first.
fn largest(pieces: &[Piece], side: u8) -> Option<u16> {
    let on_side = || pieces.iter().filter(|p| p.side == side && p.area > 0.0);
    let most = on_side().map(|p| p.area).fold(0.0, f64::max);
    let covering = on_side().filter(|p| p.area >= 0.5 * most);
    // What differs by less than a hundredth of a cell lies in one plane; there the larger one counts.
    let before = |b: &Piece, p: &Piece| match b.reach() - p.reach() {
        ahead if ahead.abs() < 0.01 => b.area >= p.area,
        ahead => ahead > 0.0,
    };
    covering.fold(None, |best: Option<&Piece>, p| best.filter(|b| before(b, p)).or(Some(p))).map(|p| p.material)
}

/// In rising order, those of the same cell, side and material added up in the order in which they came.
fn sum(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_by_key(Piece::key);
    pieces.dedup_by(|next, kept| {
        let same = next.key() == kept.key();
        if same {
            kept.area += next.area;
            kept.moment += next.moment;
        }
        same
    });
    pieces
}

/// Cuts the part of a triangle that is in a layer into cells.
fn cut(triangle: &Triangle, z: usize, lattice: &Lattice, solid: &Bits, pieces: &mut Vec<Piece>) {
    let normal = triangle.normal();
    let double_area = normal.length();
    if !(double_area > 0.0 && double_area.is_finite()) {
        return;
    }
    let unit = normal / double_area;
    let [nx, ny, _] = lattice.size.map(|n| n as usize);
    let (mut layer, mut row, mut cell) = (Polygon::default(), Polygon::default(), Polygon::default());
    Polygon::of(&triangle.corners).slab(2, z as f64, &mut layer);
    let Some([first, last]) = layer.extent(1).and_then(|[lo, hi]| clamped(lo, hi, ny)) else { return };
    for y in first..=last {
        layer.slab(1, y as f64, &mut row);
        let Some([first, last]) = row.extent(0).and_then(|[lo, hi]| clamped(lo, hi, nx)) else { continue };
        for x in first..=last {
            row.slab(0, x as f64, &mut cell);
            let area = cell.area();
            let at = [x, y, z].map(|i| i as i64);
            let index = (z * ny + y) * nx + x;
            let own = solid.get(index).then_some(index);
            let cell_middle = cell.middle();
            if let Some(cell) = own {
                pieces.push(Piece { cell, side: WHOLE, material: triangle.material, area, moment: 0.0 });
            }
            for axis in (0..3).filter(|&axis| unit[axis].abs() > 1e-6) {
                let side = 2 * axis + usize::from(unit[axis] > 0.0);
                let behind = || {
                    let cell = lattice.index(std::array::from_fn(|k| at[k] - DIRECTIONS[side][k]));
                    cell.filter(|&i| solid.get(i))
                };
                if let Some(cell) = own.or_else(behind) {
                    let area = area * unit[axis].abs();
                    let moment = area * unit[axis].signum() * cell_middle[axis];
                    pieces.push(Piece { cell, side: side as u8, material: triangle.material, area, moment });
                }
            }
        }
    }
}

/// A convex polygon: a triangle cut by six planes has at most nine corners.
#[derive(Clone, Copy, Default)]
struct Polygon {
    corners: [Vec3; 10],
    len: usize,
}

impl Polygon {
    fn of(corners: &[Vec3]) -> Self {
        let mut polygon = Self::default();
        corners.iter().for_each(|&p| polygon.push(p));
        polygon
    }

    fn push(&mut self, p: Vec3) {
        // Rounding may split a corner; the twelfth part of nothing is not missed.
        if self.len < self.corners.len() {
            self.corners[self.len] = p;
            self.len += 1;
        }
    }

    fn extent(&self, axis: usize) -> Option<[f64; 2]> {
        let along = self.corners[..self.len].iter().map(|p| p[axis]);
        along.fold(None, |all, x| Some(all.map_or([x; 2], |[lo, hi]: [f64; 2]| [lo.min(x), hi.max(x)])))
    }

    /// The part with a coordinate from `from` to `from + 1`.
    fn slab(&self, axis: usize, from: f64, out: &mut Self) {
        let mut above = Self::default();
        self.half(axis, from, 1.0, &mut above);
        above.half(axis, from + 1.0, -1.0, out);
    }

    /// The part on one side of a plane across an axis (Sutherland & Hodgman 1974).
    fn half(&self, axis: usize, at: f64, sign: f64, out: &mut Self) {
        out.len = 0;
        for k in 0..self.len {
            let (p, q) = (self.corners[k], self.corners[(k + 1) % self.len]);
            let (dp, dq) = (sign * (p[axis] - at), sign * (q[axis] - at));
            if dp >= 0.0 {
                out.push(p);
            }
            if (dp < 0.0) != (dq < 0.0) {
                let mut cut = p + (q - p) * (dp / (dp - dq));
                cut[axis] = at;
                out.push(cut);
            }
        }
    }

    /// The mean of its corners.
    fn middle(&self) -> Vec3 {
        self.corners[..self.len].iter().sum::<Vec3>() / self.len.max(1) as f64
    }

    fn area(&self) -> f64 {
        let origin = self.corners[0];
        let fan = self.corners[..self.len].windows(2).map(|w| (w[0] - origin).cross(w[1] - origin));
        0.5 * fan.fold(Vec3::ZERO, |sum, n| sum + n).length()
    }
}
