//! Which part of every cell is inside a surface, by scan conversion.
//!
//! Each cell is crossed by 16 × 16 columns. All triangles are rasterised into the columns they cover; a column's crossings,
//! sorted along it and counted with their sign, give the winding number between any two of them. Where it is not zero is inside:
//! closed parts that overlap are united, a cavity (whose surface faces inward) is left out. Where the count does not return to
//! zero the column runs through a hole or past a flipped triangle; there the generalised winding number decides piece by piece.
//!
//! Along a column the inside is integrated exactly. Across, the column stands for a sixteenth by a sixteenth of a cell; it does
//! not run through the middle of that but at offsets that follow the golden ratio, so that a face along the grid which lies
//! between two rows of columns is still seen at a sixteenth of their distance.

use super::cells::{EMPTY, Grid};
use super::distance::DistanceTree;
use super::element::{GAUSS5, partial_weights};
use crate::Progress;
use eigentone_core::{TriMesh, Vec3};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Columns along each edge of a cell.
const PER_CELL: usize = 16;

/// Length of the pieces of a damaged column, in cells.
const PIECE: f64 = 0.25;

/// What a cell holds of the body.
pub enum Fill {
    /// All of it is inside.
    Full,
    /// Quadrature weights of the inside (a volume at each of the 125 Gauss points), and the share of the cell it takes up.
    Cut(Box<[f64; 125]>, f64),
}

/// Cells with something in them.
type Filled = Vec<([usize; 3], Fill)>;

/// Finds the filled cells of a grid. Counts as inside where the winding number is not zero.
pub fn fill_cells(grid: &Grid, mesh: &TriMesh, tree: &DistanceTree, progress: &Progress<'_>) -> Filled {
    let scan = Scan::new(grid, mesh, tree);
    let slabs = scan.counts[0];
    let done = AtomicUsize::new(0);
    let cells: Vec<Filled> = (0..slabs)
        .into_par_iter()
        .map(|slab| {
            let cells = scan.slab(slab);
            progress.report("cells", (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / slabs as f64);
            cells
        })
        .collect();
    cells.into_iter().flatten().collect()
}

struct Scan<'a> {
    grid: &'a Grid,
    tree: &'a DistanceTree,
    /// Which axis of the grid is the first and second across the columns, and the one along them.
    axes: [usize; 3],
    /// Cells along those axes.
    counts: [usize; 3],
    /// Vertices in units of cells, in the order of `axes`.
    vertices: Vec<Vec3>,
    triangles: &'a [[u32; 3]],
    /// Triangles that reach into each slab of cells.
    slabs: Vec<Vec<u32>>,
    /// Weights of each sixteenth of an edge.
    across: [[f64; 5]; PER_CELL],
    along: Antiderivatives,
}

/// One crossing of a column: the column within its slab, the place along it, and +1 where it enters.
type Crossing = (u32, f64, i32);

impl<'a> Scan<'a> {
    fn new(grid: &'a Grid, mesh: &'a TriMesh, tree: &'a DistanceTree) -> Self {
        let extent = grid.frame.high - grid.frame.low;
        // Along the shortest side the surface is mostly met head on, where columns are exact.
        let last = (0..3).min_by(|&a, &b| extent[a].total_cmp(&extent[b])).unwrap_or(2);
        let axes = [(last + 1) % 3, (last + 2) % 3, last];
        let counts = axes.map(|a| grid.cells[a]);
        let vertices: Vec<Vec3> = mesh
            .positions
            .iter()
            .map(|&p| {
                let local = (grid.frame.to_local(p) - grid.frame.low) / grid.size;
                Vec3::from_array(axes.map(|a| local[a]))
            })
            .collect();
        let mut slabs = vec![Vec::new(); counts[0]];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = triangle.map(|v| vertices[v as usize].x);
            let (low, high) = (a.min(b).min(c).floor().max(0.0) as usize, a.max(b).max(c).floor().max(0.0) as usize);
            slabs[low.min(counts[0] - 1)..=high.min(counts[0] - 1)].iter_mut().for_each(|s| s.push(t as u32));
        }
        let step = 2.0 / PER_CELL as f64;
        let across = std::array::from_fn(|k| partial_weights(k as f64 * step - 1.0, (k + 1) as f64 * step - 1.0));
        let along = Antiderivatives::new();
        Self { grid, tree, axes, counts, vertices, triangles: &mesh.triangles, slabs, across, along }
    }

    /// Where column `(i, j)` stands, in cells.
    fn column(i: usize, j: usize) -> [f64; 2] {
        /// Fractional part of the golden ratio: multiples of it fill the unit interval evenly.
        const GOLDEN: f64 = 0.618_033_988_749_894_8;
        let [u, v] = [j, i].map(|k| (k as f64 * GOLDEN + 0.381_966).fract());
        [(i as f64 + u) / PER_CELL as f64, (j as f64 + v) / PER_CELL as f64]
    }

    fn slab(&self, slab: usize) -> Filled {
        let mut crossings = Vec::new();
        for &t in &self.slabs[slab] {
            self.rasterise(slab, self.triangles[t as usize], &mut crossings);
        }
        crossings.sort_unstable_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).unwrap_or(std::cmp::Ordering::Equal));
        let mut by_column = crossings.chunk_by(|a, b| a.0 == b.0).peekable();
        let mut filled = Vec::new();
        let mut tower = Tower::new(self.counts[2]);
        // Columns are numbered row of cells by row of cells.
        let per_row = (PER_CELL * PER_CELL) as u32;
        for row in 0..self.counts[1] as u32 {
            tower.clear();
            while let Some(crossings) = by_column.next_if(|c| c[0].0 / per_row == row) {
                let place = (crossings[0].0 % per_row) as usize;
                let at = Self::column(slab * PER_CELL + place / PER_CELL, row as usize * PER_CELL + place % PER_CELL);
                for [low, high] in self.inside(at, crossings) {
                    tower.add(place, low, high, &self.along);
                }
            }
            for k in 0..self.counts[2] {
                if let Some(fill) = self.fill(&tower, k) {
                    let mut cell = [0; 3];
                    for (axis, index) in self.axes.into_iter().zip([slab, row as usize, k]) {
                        cell[axis] = index;
                    }
                    filled.push((cell, fill));
                }
            }
        }
        filled
    }

    /// Adds the crossings of a triangle with the columns of a slab.
    fn rasterise(&self, slab: usize, triangle: [u32; 3], crossings: &mut Vec<Crossing>) {
        let corners = triangle.map(|v| self.vertices[v as usize]);
        let edges: [Edge; 3] = std::array::from_fn(|k| Edge::new(corners[(k + 1) % 3], corners[(k + 2) % 3]));
        let columns = |low: f64, high: f64, first: usize, end: usize| {
            let index = |x: f64| ((x * PER_CELL as f64).floor().max(0.0) as usize).clamp(first, end);
            index(low)..(index(high) + 1).min(end)
        };
        let [low, high] = [
            corners.into_iter().fold(Vec3::INFINITY, Vec3::min),
            corners.into_iter().fold(Vec3::NEG_INFINITY, Vec3::max),
        ];
        for i in columns(low.x, high.x, slab * PER_CELL, (slab + 1) * PER_CELL) {
            for j in columns(low.y, high.y, 0, self.counts[1] * PER_CELL) {
                let at = Self::column(i, j);
                let sides = edges.map(|e| e.side(at));
                let left = sides.map(|s| s.1);
                if left[0] != left[1] || left[1] != left[2] {
                    continue;
                }
                let sum = sides[0].0 + sides[1].0 + sides[2].0;
                let z = if sum > 0.0 {
                    (0..3).map(|k| sides[k].0 / sum * corners[k].z).sum()
                } else {
                    (low.z + high.z) / 2.0
                };
                let place = (j / PER_CELL * PER_CELL + i % PER_CELL) * PER_CELL + j % PER_CELL;
                // Counter-clockwise seen from above: the front looks up, the column leaves.
                crossings.push((place as u32, z, if left[0] { -1 } else { 1 }));
            }
        }
    }

    /// The parts of a column that are inside, in cells.
    fn inside(&self, at: [f64; 2], crossings: &[Crossing]) -> Vec<[f64; 2]> {
        let mut parts = Vec::new();
        if crossings.iter().map(|c| c.2).sum::<i32>() == 0 {
            let mut count = 0;
            for pair in crossings.windows(2) {
                count += pair[0].2;
                if count != 0 {
                    parts.push([pair[0].1, pair[1].1]);
                }
            }
            return parts;
        }
        let top = self.counts[2] as f64;
        let piece = PIECE.max(top / 64.0);
        let mut cuts: Vec<f64> = (0..=(top / piece).round() as usize).map(|k| (k as f64 * piece).min(top)).collect();
        cuts.extend(crossings.iter().map(|c| c.1.clamp(0.0, top)));
        cuts.sort_by(f64::total_cmp);
        for pair in cuts.windows(2).filter(|p| p[0] < p[1]) {
            let mut cell = Vec3::ZERO;
            for (axis, x) in self.axes.into_iter().zip([at[0], at[1], 0.5 * (pair[0] + pair[1])]) {
                cell[axis] = x;
            }
            let frame = &self.grid.frame;
            if self.tree.winding(frame.to_world(frame.low + cell * self.grid.size)).abs() > 0.5 {
                parts.push([pair[0], pair[1]]);
            }
        }
        parts
    }

    /// What cell `k` of a tower holds; `None` if next to nothing.
    fn fill(&self, tower: &Tower, k: usize) -> Option<Fill> {
        let moments = &tower.moments[k * PER_CELL * PER_CELL..(k + 1) * PER_CELL * PER_CELL];
        // The moments of degree zero are lengths, of two at most.
        let length = moments.iter().map(|m| m.iter().sum::<f64>()).sum::<f64>();
        let share = length / (2 * PER_CELL * PER_CELL) as f64;
        // A cell whose face coincides with the body's is full up to rounding.
        if share > 1.0 - 1e-9 {
            return Some(Fill::Full);
        }
        if share < EMPTY {
            return None;
        }
        let strides = self.axes.map(|a| [25, 5, 1][a]);
        let scale = self.grid.size.element_product() / 8.0;
        let mut weights = Box::new([0.0; 125]);
        for (row, wa) in moments.chunks_exact(PER_CELL).zip(&self.across) {
            let mut sheet = [[0.0; 5]; 5];
            for (moment, wb) in row.iter().zip(&self.across) {
                for (line, b) in sheet.iter_mut().zip(wb) {
                    line.iter_mut().zip(moment).for_each(|(x, m)| *x += b * m);
                }
            }
            for (qa, a) in wa.iter().enumerate() {
                for (qb, line) in sheet.iter().enumerate() {
                    for (qc, x) in line.iter().enumerate() {
                        weights[qa * strides[0] + qb * strides[1] + qc * strides[2]] += scale * a * x;
                    }
                }
            }
        }
        Some(Fill::Cut(weights, share))
    }
}

/// The cells above each other at one place of the grid: for each cell and column the integrals of the Lagrange polynomials through
/// the Gauss points over the inside of the column.
struct Tower {
    moments: Vec<[f64; 5]>,
    cells: usize,
}

impl Tower {
    fn new(cells: usize) -> Self {
        Self { moments: vec![[0.0; 5]; cells * PER_CELL * PER_CELL], cells }
    }

    fn clear(&mut self) {
        self.moments.fill([0.0; 5]);
    }

    fn add(&mut self, column: usize, low: f64, high: f64, along: &Antiderivatives) {
        let (low, high) = (low.max(0.0), high.min(self.cells as f64));
        if low >= high {
            return;
        }
        for cell in low as usize..self.cells.min(high.ceil() as usize) {
            let local = |x: f64| (2.0 * (x - cell as f64) - 1.0).clamp(-1.0, 1.0);
            let (a, b) = (local(low), local(high));
            let moments = &mut self.moments[cell * PER_CELL * PER_CELL + column];
            if a == -1.0 && b == 1.0 {
                moments.iter_mut().zip(GAUSS5).for_each(|(m, g)| *m += g.1);
            } else {
                let (below, above) = (along.at(a), along.at(b));
                (0..5).for_each(|q| moments[q] += above[q] - below[q]);
            }
        }
    }
}

/// Antiderivatives of the five Lagrange polynomials through the Gauss points, as coefficients of rising powers.
struct Antiderivatives([[f64; 6]; 5]);

impl Antiderivatives {
    fn new() -> Self {
        Self(std::array::from_fn(|k| {
            let mut lagrange = [1.0, 0.0, 0.0, 0.0, 0.0];
            for j in (0..5).filter(|&j| j != k) {
                let (root, scale) = (GAUSS5[j].0, 1.0 / (GAUSS5[k].0 - GAUSS5[j].0));
                for d in (0..5).rev() {
                    lagrange[d] = scale * (if d > 0 { lagrange[d - 1] } else { 0.0 } - root * lagrange[d]);
                }
            }
            std::array::from_fn(|d| if d > 0 { lagrange[d - 1] / d as f64 } else { 0.0 })
        }))
    }

    fn at(&self, x: f64) -> [f64; 5] {
        self.0.map(|c| c.iter().rev().fold(0.0, |sum, c| sum * x + c))
    }
}

/// An edge seen from above. Both triangles at an edge compute its sides from the same numbers in the same order, so that no column
/// slips between them.
#[derive(Clone, Copy)]
struct Edge {
    from: [f64; 2],
    way: [f64; 2],
    turned: bool,
}

impl Edge {
    fn new(p: Vec3, q: Vec3) -> Self {
        let turned = (q.x, q.y) < (p.x, p.y);
        let (p, q) = if turned { (q, p) } else { (p, q) };
        Self { from: [p.x, p.y], way: [q.x - p.x, q.y - p.y], turned }
    }

    /// Twice the area spanned with a point, and whether that lies to the left.
    fn side(&self, at: [f64; 2]) -> (f64, bool) {
        let area = self.way[0] * (at[1] - self.from[1]) - self.way[1] * (at[0] - self.from[0]);
        (area.abs(), (area >= 0.0) != self.turned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solid::frame::Frame;
    use eigentone_core::mesh::primitives;
    use glam::DMat3;

    fn fill(mesh: &TriMesh, edge: f64) -> (Grid, Filled) {
        let [low, high] = mesh.bounds().unwrap();
        let grid = Grid::new(Frame { axes: DMat3::IDENTITY, low, high }, Vec3::splat(edge));
        let filled = fill_cells(&grid, mesh, &DistanceTree::new(mesh), &Progress::silent());
        (grid, filled)
    }

    fn volume(mesh: &TriMesh, edge: f64) -> f64 {
        let (grid, filled) = fill(mesh, edge);
        let share = |f: &Fill| if let Fill::Cut(_, share) = f { *share } else { 1.0 };
        filled.iter().map(|(_, f)| share(f)).sum::<f64>() * grid.size.element_product()
    }

    /// Every column of a ball is inside exactly where `r < R`, up to the facets.
    #[test]
    fn columns_of_a_ball_are_inside_where_the_ball_is() {
        let mesh = primitives::sphere(1.0, 144, 72);
        let [low, high] = mesh.bounds().unwrap();
        let grid = Grid::new(Frame { axes: DMat3::IDENTITY, low, high }, Vec3::splat(0.5));
        let tree = DistanceTree::new(&mesh);
        let scan = Scan::new(&grid, &mesh, &tree);
        // The facets lie this far under the sphere at most.
        let sag = 1.0 - (std::f64::consts::PI / 72.0).cos();
        let mut seen = 0;
        for slab in 0..grid.cells[0] {
            let mut crossings = Vec::new();
            scan.slabs[slab].iter().for_each(|&t| scan.rasterise(slab, mesh.triangles[t as usize], &mut crossings));
            crossings.sort_unstable_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).unwrap());
            for column in crossings.chunk_by(|a, b| a.0 == b.0) {
                let (row, place) = (column[0].0 as usize / 256, column[0].0 as usize % 256);
                let at = Scan::column(slab * 16 + place / 16, row * 16 + place % 16);
                assert_eq!(column.iter().map(|c| c.2).sum::<i32>(), 0);
                let parts = scan.inside(at, column);
                assert_eq!(parts.len(), 1);
                for z in parts[0] {
                    let p = grid.frame.low
                        + Vec3::from_array(std::array::from_fn(|k| {
                            let along = scan.axes.iter().position(|&a| a == k).unwrap();
                            [at[0], at[1], z][along]
                        })) * grid.size;
                    assert!(p.length() < 1.0 + 1e-9 && p.length() > 1.0 - 2.0 * sag, "{p}");
                }
                seen += 1;
            }
        }
        // π/4 of the 64 × 64 columns.
        assert!((f64::from(seen) / 4096.0 - std::f64::consts::FRAC_PI_4).abs() < 0.004, "{seen}");
    }

    #[test]
    fn volumes_of_balls_and_rotated_boxes_are_right() {
        let ball = primitives::sphere(1.0, 96, 48);
        assert!((volume(&ball, 0.4) / ball.signed_volume() - 1.0).abs() < 1e-3, "{}", volume(&ball, 0.4));
        let mut block = primitives::cuboid(Vec3::new(1.0, 0.7, 0.4), [1; 3]);
        for k in 0..4 {
            block.transform(glam::DQuat::from_scaled_axis(Vec3::new(0.3 + 0.2 * f64::from(k), -0.4, 0.9)), Vec3::ONE);
            assert!((volume(&block, 0.2) / 0.28 - 1.0).abs() < 3e-3, "{}", volume(&block, 0.2));
        }
    }

    /// A step whose face lies between grid lines: exact to a sixteenth of a sixteenth of a cell.
    #[test]
    fn faces_between_grid_lines_are_found() {
        let mut pair = primitives::cuboid(Vec3::new(1.0, 1.0, 0.5), [1; 3]);
        let mut upper = primitives::cuboid(Vec3::new(0.437, 1.0, 0.5), [1; 3]);
        upper.transform(glam::DQuat::IDENTITY, Vec3::new(-0.2815, 0.0, 0.5));
        pair.append(&upper);
        let truth = 0.5 + 0.437 * 0.5;
        assert!((volume(&pair, 0.25) / truth - 1.0).abs() < 1e-3, "{}", volume(&pair, 0.25) / truth);
    }

    /// Parts that interpenetrate count once, a cavity not at all, and a hole in the surface does not leak.
    #[test]
    fn overlaps_are_united_and_cavities_and_holes_understood() {
        let mut cross = primitives::cuboid(Vec3::new(1.0, 0.5, 0.5), [1; 3]);
        cross.append(&primitives::cuboid(Vec3::new(0.5, 1.0, 0.5), [1; 3]));
        assert!((volume(&cross, 0.25) / 0.375 - 1.0).abs() < 1e-9, "{}", volume(&cross, 0.25));

        let mut shell = primitives::cuboid(Vec3::ONE, [1; 3]);
        let mut cavity = primitives::cuboid(Vec3::splat(0.5), [1; 3]);
        cavity.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        shell.append(&cavity);
        assert!((volume(&shell, 0.25) / 0.875 - 1.0).abs() < 1e-9, "{}", volume(&shell, 0.25));

        let mut holed = primitives::cuboid(Vec3::ONE, [10; 3]);
        holed.triangles.drain(40..44);
        assert!((volume(&holed, 0.25) - 1.0).abs() < 5e-3, "{}", volume(&holed, 0.25));
    }
}
