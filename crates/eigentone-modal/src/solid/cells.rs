//! Finite cells: a regular grid of 27-node hexahedra laid over the body, without a mesh that follows its surface.
//!
//! Cells that the surface cuts are integrated over their inside only (Parvizian, Düster & Rank 2007): the filled part is
//! found by scan conversion ([`super::columns`]) and turned into quadrature weights that are exact for every product of shape
//! functions. The empty part keeps a stiffness of [`PENALTY`] and no mass, so that nodes outside the body cannot flutter;
//! cells filled less than [`EMPTY`] are dropped.

use super::columns::{Fill, fill_cells};
use super::dissection::dissection;
use super::distance::DistanceTree;
use super::element::{Elasticity, HEX_NODES, HexMatrices, HexTables, full_weights, hex_node, hex27};
use super::frame::Frame;
use crate::Progress;
use crate::eigen::Pencil;
use eigentone_core::{TriMesh, Vec3};
use std::collections::HashMap;

/// Stiffness of the empty part of a cut cell as a share of the material's. With 1e-7 spurious low modes appear (a sphere
/// came out 54 % low); 1e-4 shifts true modes by less than 0.1 %.
pub const PENALTY: f64 = 1e-4;

/// Cells filled less than this are left out.
pub const EMPTY: f64 = 0.02;

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
    pub fn classify(grid: Grid, mesh: &TriMesh, tree: &DistanceTree, progress: &Progress<'_>) -> Self {
        let filled = fill_cells(&grid, mesh, tree, progress);
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

    /// Numbers the nodes of all cells in use: for each cell its 27 nodes, and the place of each node in half cells.
    fn number_nodes(&self) -> (Vec<[u32; HEX_NODES]>, Vec<[u32; 3]>) {
        let [nx, ny, nz] = self.grid.cells.map(|c| 2 * c + 1);
        let mut numbers = vec![u32::MAX; nx * ny * nz];
        let mut places = Vec::new();
        let elements = self
            .filled
            .iter()
            .map(|(cell, _)| {
                std::array::from_fn(|n| {
                    let local = hex_node(n);
                    let [x, y, z] = std::array::from_fn(|k| 2 * cell[k] + local[k]);
                    let number = &mut numbers[(x * ny + y) * nz + z];
                    if *number == u32::MAX {
                        *number = places.len() as u32;
                        places.push([x, y, z].map(|c| c as u32));
                    }
                    *number
                })
            })
            .collect();
        (elements, places)
    }

    /// Number of unknowns the assembled body will have.
    pub fn unknowns(&self) -> usize {
        3 * self.number_nodes().1.len()
    }

    /// Assembles stiffness and mass. The elasticity is that along the world's axes.
    pub fn assemble(self, elasticity: &Elasticity, progress: &Progress<'_>) -> CellBody {
        let (elements, places) = self.number_nodes();
        let mut pencil = Pencil::with_groups(places.len(), elements.iter().map(|e| &e[..]));
        pencil.set_elimination_order(dissection(&places));
        let tables = HexTables::new(&elasticity.in_frame(self.grid.frame.axes), self.grid.size);
        let full = tables.integrate(&full_weights(self.grid.size));
        for (chunk, (cells, elements)) in self.filled.chunks(CHUNK).zip(elements.chunks(CHUNK)).enumerate() {
            progress.report("elements", (CHUNK * chunk) as f64 / self.filled.len() as f64);
            let cut: Vec<&[f64; 125]> = cells
                .iter()
                .filter_map(|(_, f)| if let Fill::Cut(weights, _) = f { Some(&**weights) } else { None })
                .collect();
            let mut cut_matrices = tables.integrate_many(&cut).into_iter();
            for (element, (_, fill)) in elements.iter().zip(cells) {
                match fill {
                    Fill::Full => pencil.add_element(element, &full.stiffness, &full.mass),
                    Fill::Cut(..) => {
                        if let Some(mut cut) = cut_matrices.next() {
                            stiffen_empty_part(&mut cut, &full);
                            pencil.add_element(element, &cut.stiffness, &cut.mass);
                        }
                    }
                }
            }
        }
        CellBody { cells: self, elements, pencil }
    }
}

/// Cells integrated in one matrix product.
const CHUNK: usize = 64;

fn stiffen_empty_part(cut: &mut HexMatrices, full: &HexMatrices) {
    let all = full.stiffness.as_flattened().as_flattened();
    for (k, whole) in cut.stiffness.as_flattened_mut().as_flattened_mut().iter_mut().zip(all) {
        *k += PENALTY * (whole - *k);
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
