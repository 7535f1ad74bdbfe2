//! Finite cells: a regular grid of 27-node hexahedra laid over the body, without a mesh that follows its surface.
//!
//! Cells that the surface cuts are integrated over their inside only (Parvizian, Düster & Rank 2007): the filled part is
//! found by an octree of signed-distance queries and turned into quadrature weights that are exact for every product of shape
//! functions. The empty part keeps a stiffness of [`PENALTY`] and no mass, so that nodes outside the body cannot flutter;
//! cells filled less than [`EMPTY`] are dropped.

use super::distance::DistanceTree;
use super::element::{HEX_NODES, HexMatrices, HexTables, full_weights, hex_node, hex_pairs, hex27, partial_weights};
use super::frame::Frame;
use crate::Progress;
use crate::eigen::Pencil;
use eigentone_core::{Material, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Stiffness of the empty part of a cut cell as a share of the material's. With 1e-7 spurious low modes appear (a sphere
/// came out 54 % low); 1e-4 shifts true modes by less than 0.1 %.
pub const PENALTY: f64 = 1e-4;

/// Cells filled less than this are left out.
pub const EMPTY: f64 = 0.02;

/// Levels of the octree: sub-cells are 1/16 of a cell wide. Four sub-divisions per axis are too few.
const LEVELS: u32 = 4;

/// A regular grid over a body's bounding box.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Frame and box.
    pub frame: Frame,
    /// Cells along each axis.
    pub cells: [usize; 3],
    /// Edges of a cell.
    pub size: Vec3,
}

impl Grid {
    /// The grid whose cells are at most about `edges` long along the frame's axes and fit the box exactly.
    pub fn new(frame: Frame, edges: Vec3) -> Self {
        let extent = frame.high - frame.low;
        // A hair under the next integer is that integer: a box of 20 edges gets 20 cells, not 21.
        let cells = (extent / edges).to_array().map(|n| ((n - 1e-3).ceil()).clamp(1.0, 4096.0) as usize);
        let size = extent / Vec3::from_array(cells.map(|c| c as f64));
        Self { frame, cells, size }
    }

    fn low_corner(&self, cell: [usize; 3]) -> Vec3 {
        self.frame.low + self.size * Vec3::from_array(cell.map(|i| i as f64))
    }

    fn total(&self) -> usize {
        self.cells.iter().product()
    }

    fn cell(&self, index: usize) -> [usize; 3] {
        let [_, ny, nz] = self.cells;
        [index / (ny * nz), index / nz % ny, index % nz]
    }
}

/// What a cell holds of the body.
enum Fill {
    Full,
    /// Quadrature weights of the inside, and the share of the cell it takes up.
    Cut(Box<[f64; 125]>, f64),
}

/// The cells that hold some of the body.
pub struct Cells {
    grid: Grid,
    filled: Vec<([usize; 3], Fill)>,
    /// Active cell at each grid place.
    active: HashMap<[usize; 3], usize>,
}

impl Cells {
    /// Finds which cells hold something.
    pub fn classify(grid: Grid, tree: &DistanceTree, progress: &Progress<'_>) -> Self {
        progress.report("cells", 0.0);
        let filled: Vec<_> = (0..grid.total())
            .into_par_iter()
            .filter_map(|index| {
                let cell = grid.cell(index);
                fill(&grid, tree, cell).map(|f| (cell, f))
            })
            .collect();
        progress.report("cells", 1.0);
        let active = filled.iter().enumerate().map(|(k, (cell, _))| (*cell, k)).collect();
        Self { grid, filled, active }
    }

    /// Volume of the inside.
    pub fn volume(&self) -> f64 {
        let whole = self.grid.size.element_product();
        self.filled.iter().map(|(_, f)| if let Fill::Cut(_, share) = f { share * whole } else { whole }).sum()
    }

    /// Number of cells in use.
    pub fn count(&self) -> usize {
        self.filled.len()
    }

    /// Numbers the nodes of all cells in use: for each cell its 27 nodes, and how many there are.
    fn number_nodes(&self) -> (Vec<[u32; HEX_NODES]>, usize) {
        let mut numbers: HashMap<[usize; 3], u32> = HashMap::new();
        let elements = self
            .filled
            .iter()
            .map(|(cell, _)| {
                std::array::from_fn(|n| {
                    let local = hex_node(n);
                    let place = std::array::from_fn(|k| 2 * cell[k] + local[k]);
                    let next = numbers.len() as u32;
                    *numbers.entry(place).or_insert(next)
                })
            })
            .collect();
        (elements, numbers.len())
    }

    /// Number of unknowns the assembled body will have.
    pub fn unknowns(&self) -> usize {
        3 * self.number_nodes().1
    }

    /// Assembles stiffness and mass.
    pub fn assemble(self, material: &Material, progress: &Progress<'_>) -> CellBody {
        let (elements, nodes) = self.number_nodes();
        let mut pencil = Pencil::with_groups(nodes, elements.iter().map(|e| &e[..]));
        let tables = HexTables::new(material, self.grid.size);
        let full = tables.integrate(&full_weights(self.grid.size));
        for (chunk, (cells, elements)) in self.filled.chunks(64).zip(elements.chunks(64)).enumerate() {
            progress.report("elements", (64 * chunk) as f64 / self.filled.len() as f64);
            let matrices: Vec<Option<HexMatrices>> =
                cells.par_iter().map(|(_, fill)| cut_matrices(&tables, &full, fill)).collect();
            for (element, matrices) in elements.iter().zip(&matrices) {
                add_element(&mut pencil, element, matrices.as_ref().unwrap_or(&full));
            }
        }
        CellBody { cells: self, elements, pencil }
    }
}

fn cut_matrices(tables: &HexTables, full: &HexMatrices, fill: &Fill) -> Option<HexMatrices> {
    let Fill::Cut(weights, _) = fill else { return None };
    let mut cut = tables.integrate(weights);
    let all = full.stiffness.as_flattened().as_flattened();
    for (k, whole) in cut.stiffness.as_flattened_mut().as_flattened_mut().iter_mut().zip(all) {
        *k += PENALTY * (whole - *k);
    }
    Some(cut)
}

fn add_element(pencil: &mut Pencil, element: &[u32; HEX_NODES], matrices: &HexMatrices) {
    for (((a, b), block), &mass) in hex_pairs().zip(&matrices.stiffness).zip(&matrices.mass) {
        let (i, j) = (element[a], element[b]);
        pencil.add_stiffness(i, j, block);
        pencil.add_mass(i, j, mass);
        if a != b {
            let transposed = std::array::from_fn(|r| std::array::from_fn(|c| block[c][r]));
            pencil.add_stiffness(j, i, &transposed);
            pencil.add_mass(j, i, mass);
        }
    }
}

/// How much of a cell is inside; `None` if next to nothing.
fn fill(grid: &Grid, tree: &DistanceTree, cell: [usize; 3]) -> Option<Fill> {
    let low = grid.low_corner(cell);
    let mut octree = Octree { grid, tree, low, weights: Box::new([0.0; 125]), volume: 0.0 };
    let verdict = octree.verdict(Vec3::splat(-1.0), 2.0, 0);
    match verdict {
        Verdict::Inside => return Some(Fill::Full),
        Verdict::Outside => return None,
        Verdict::Cut(_) => octree.descend(Vec3::splat(-1.0), 2.0, 0),
    }
    let share = octree.volume / 8.0;
    // A cell cut by a face that coincides with its own is full up to rounding of the distances.
    if share > 1.0 - 1e-9 {
        return Some(Fill::Full);
    }
    let scale = grid.size.element_product() / 8.0;
    octree.weights.iter_mut().for_each(|w| *w *= scale);
    (share >= EMPTY).then_some(Fill::Cut(octree.weights, share))
}

enum Verdict {
    Inside,
    Outside,
    /// Share of the box that is inside, if the surface is flat there.
    Cut(f64),
}

struct Octree<'a> {
    grid: &'a Grid,
    tree: &'a DistanceTree,
    low: Vec3,
    weights: Box<[f64; 125]>,
    volume: f64,
}

impl Octree<'_> {
    /// Where the box with lowest corner `at` and edge `edge` (local coordinates −1…1) lies.
    ///
    /// A box further from the surface than its own half-diagonal is not cut. From the second level on, the surface is taken
    /// for the plane through its nearest point: with normal `n`, the box reaches `½ Σ|n_k| l_k` towards it. Faces along the grid are
    /// then settled early, and the share of a cut box is exact for them.
    fn verdict(&self, at: Vec3, edge: f64, level: u32) -> Verdict {
        let frame = &self.grid.frame;
        let centre = frame.to_world(self.low + self.grid.size * (at + 0.5 * edge + 1.0) / 2.0);
        let reach = 0.25 * edge * self.grid.size.length();
        let inside = self.tree.inside(centre);
        let uncut = if inside { Verdict::Inside } else { Verdict::Outside };
        let Some(way) = self.tree.nearest(centre, 1.001 * reach) else { return uncut };
        let distance = way.length();
        let normal = frame.to_local(way.normalize_or_zero()).abs();
        let towards = if normal == Vec3::ZERO { reach } else { 0.25 * edge * normal.dot(self.grid.size) };
        if distance >= reach || (level >= 2 && distance >= towards * (1.0 - 1e-9)) {
            return uncut;
        }
        let signed = if inside { distance } else { -distance };
        Verdict::Cut((0.5 + 0.5 * signed / towards).clamp(0.0, 1.0))
    }

    fn descend(&mut self, at: Vec3, edge: f64, level: u32) {
        let share = match self.verdict(at, edge, level) {
            Verdict::Outside => return,
            Verdict::Inside => 1.0,
            Verdict::Cut(_) if level < LEVELS => {
                for child in 0..8u32 {
                    let corner = Vec3::from_array([4, 2, 1].map(|bit| f64::from(u32::from(child & bit != 0))));
                    self.descend(at + 0.5 * edge * corner, 0.5 * edge, level + 1);
                }
                return;
            }
            // The smallest boxes: filled in proportion to how deep their centre lies.
            Verdict::Cut(share) => share,
        };
        let [x, y, z] = at.to_array().map(|low| partial_weights(low, low + edge));
        self.volume += share * edge * edge * edge;
        for (q, weight) in self.weights.iter_mut().enumerate() {
            *weight += share * x[q / 25] * y[q / 5 % 5] * z[q % 5];
        }
    }
}

/// A body made of cells, assembled.
pub struct CellBody {
    cells: Cells,
    elements: Vec<[u32; HEX_NODES]>,
    /// Stiffness and mass.
    pub pencil: Pencil,
}

impl CellBody {
    /// Nodes and weights whose weighted displacement is that of the body at a world point; points outside all cells are taken
    /// from the nearest cell. Also the rotation from the grid's frame to the world applies to displacements.
    pub fn interpolation(&self, point: Vec3) -> ([u32; HEX_NODES], [f64; HEX_NODES]) {
        let grid = &self.cells.grid;
        let local = (grid.frame.to_local(point) - grid.frame.low) / grid.size;
        let index = self.nearest_cell(local);
        let (cell, _) = &self.cells.filled[index];
        let at = (local - Vec3::from_array(cell.map(|i| i as f64))) * 2.0 - 1.0;
        // A little extrapolation is accurate, much of it is not.
        let at = at.clamp(Vec3::splat(-1.5), Vec3::splat(1.5));
        (self.elements[index], hex27(at, grid.size).0)
    }

    /// A displacement in the grid's frame, in the world's.
    pub fn to_world(&self, displacement: Vec3) -> Vec3 {
        self.cells.grid.frame.to_world(displacement)
    }

    fn nearest_cell(&self, local: Vec3) -> usize {
        let grid = &self.cells.grid;
        let home: [usize; 3] = std::array::from_fn(|k| (local[k].floor().max(0.0) as usize).min(grid.cells[k] - 1));
        if let Some(&index) = self.cells.active.get(&home) {
            return index;
        }
        let distance = |cell: &[usize; 3]| (Vec3::from_array(cell.map(|i| i as f64 + 0.5)) - local).length_squared();
        (0..self.cells.filled.len())
            .min_by(|&a, &b| distance(&self.cells.filled[a].0).total_cmp(&distance(&self.cells.filled[b].0)))
            .unwrap_or(0)
    }
}
