//! A solid from its surface to its modes: chooses cells, assembles and solves them, and reads the motion off the surface.

use super::cells::{CellBody, Cells, Grid};
use super::distance::DistanceTree;
use super::element::Elasticity;
use super::frame::Frame;
use super::probe::{Probe, probe};
use crate::Progress;
use crate::audible::ModeCount;
use crate::detail::{Detail, ModeLimit};
use crate::eigen::{self, Band, Pencil};
use crate::mesh_model::MeshModelError;
use crate::supports::{Supports, hold_cells};
use eigentone_core::{TriMesh, Vec3};
use faer::Mat;
use std::f64::consts::TAU;

/// What bounds the work on a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidLimits {
    /// How finely.
    pub detail: Detail,
    /// Modes per band of hearing at the end, over those from which single ones are not heard: see [`Detail::limit`].
    pub reach: f64,
    /// Highest frequency that is wanted, in Hz.
    pub highest_hz: f64,
    /// At most this many modes, without rigid motions.
    pub max_modes: usize,
    /// At most this many contact sites.
    pub max_sites: usize,
    /// Edge of the cells in metres; chosen by size, wall and frequency if not given.
    pub cell_m: Option<f64>,
    /// Bodies that need more unknowns than this are refused.
    pub max_unknowns: usize,
}

/// The modes of a solid, rigid motions first.
pub struct SolidModes {
    /// `ω²` in 1/s², rising.
    pub values: Vec<f64>,
    /// Displacements at the vertices of `surface` in 1/√kg: three rows each, one column per mode.
    pub shapes: Mat<f64>,
    /// The contact sites.
    pub surface: TriMesh,
    /// Stiffness and mass.
    pub pencil: Pencil,
    /// Mass in kg.
    pub mass_kg: f64,
    /// Motions that cost no energy: six per piece, fewer where it is held.
    pub rigid_motions: usize,
    /// Where the modes end.
    pub limit: ModeLimit,
    /// What should be told about the model.
    pub notes: Vec<String>,
    /// What could not be kept.
    pub warnings: Vec<String>,
}

/// Cells of the grid over the bounding box, at most; most of them are empty where walls are thin.
const MAX_GRID_CELLS: usize = 400_000;

/// Fills a closed surface with cells and finds its modes.
///
/// # Errors
/// [`MeshModelError::NotClosed`], [`MeshModelError::TooThin`] or [`MeshModelError::Eigen`].
pub fn solve(
    mesh: &TriMesh,
    elasticity: &Elasticity,
    limits: &SolidLimits,
    supports: &Supports,
    progress: &Progress<'_>,
) -> Result<SolidModes, MeshModelError> {
    let tree = DistanceTree::new(mesh);
    let look = probe(mesh, &tree);
    if !look.closed() {
        return Err(MeshModelError::NotClosed { share: look.inside_share });
    }
    SolidPlan::new(mesh, elasticity, limits, &tree, &look, progress)?
        .solve(mesh, elasticity, limits, supports, progress)
}

/// The cells of a solid, before anything is assembled.
pub struct SolidPlan {
    cells: Cells,
    edge_m: f64,
    limit: ModeLimit,
}

impl SolidPlan {
    /// Chooses cells that are small enough for the walls and the highest frequency, but no more than can be paid for.
    ///
    /// # Errors
    /// [`MeshModelError::TooThin`] if the walls need more unknowns than allowed.
    pub fn new(
        mesh: &TriMesh,
        elasticity: &Elasticity,
        limits: &SolidLimits,
        tree: &DistanceTree,
        look: &Probe,
        progress: &Progress<'_>,
    ) -> Result<Self, MeshModelError> {
        let shape = Proportions::new(mesh, elasticity, limits, look);
        let target = if limits.cell_m.is_some() { usize::MAX } else { limits.detail.target_unknowns() };
        let coarsest = shape.coarsest_m;
        let mut edge = shape.edge_m.min(coarsest);
        loop {
            let last = edge >= coarsest;
            let affordable = if last { limits.max_unknowns } else { limits.max_unknowns.min(target) };
            let cells = shape.classify(edge, affordable, mesh, tree, progress);
            let unknowns = cells.as_ref().map_or(shape.unknowns(edge).min(1e9) as usize, Cells::unknowns);
            match cells {
                Some(cells) if unknowns <= affordable && cells.count() > 0 => {
                    return Ok(Self { cells, edge_m: edge, limit: shape.limit });
                }
                _ if last => return Err(MeshModelError::TooThin { wall_m: look.thin_m, cell_m: edge, unknowns }),
                _ => edge = (1.1 * edge).min(coarsest),
            }
        }
    }

    /// Assembles the cells and finds the modes.
    ///
    /// # Errors
    /// [`MeshModelError::Eigen`].
    pub fn solve(
        self,
        mesh: &TriMesh,
        elasticity: &Elasticity,
        limits: &SolidLimits,
        supports: &Supports,
        progress: &Progress<'_>,
    ) -> Result<SolidModes, MeshModelError> {
        let mut limit = self.limit;
        let mut warnings = Vec::new();
        // A shear wave two quadratic cells long is the shortest that is carried at all; a hair of tolerance, so that cells
        // chosen for a frequency carry it.
        let carried = 1.001 * elasticity.wave_speeds_m_s()[0] / (2.0 * self.edge_m);
        if carried < limit.highest_hz {
            limit = ModeLimit { highest_hz: carried, cut: true, ..limit };
            warnings.push(format!(
                "cells of {:.2} mm carry waves up to {carried:.0} Hz; modes above are left out",
                1e3 * self.edge_m
            ));
        }
        let mut surface = mesh.clone();
        // Sites about as close as the cells are, so that a strike in the middle of a large face is heard there.
        surface.refine(self.edge_m, limits.max_sites);
        surface.simplify(limits.max_sites);
        let mut body = self.cells.assemble(elasticity, progress);
        let mass_kg = body.pencil.total_mass();
        let pieces = body.pencil.components().len();
        let rigid_motions =
            if supports.list.is_empty() { 6 * pieces } else { hold_cells(&mut body, &surface, supports) };
        let most = limit.most + rigid_motions;
        let band = Band { upper: (TAU * limit.highest_hz).powi(2), most };
        let pairs = eigen::solve(&body.pencil, band, progress)?;
        let limit = limit.solved(&pairs.values, most);
        progress.report("surface", 0.0);
        let shapes = shapes_on(&body, &pairs.vectors, &surface.positions);
        progress.report("surface", 1.0);
        let notes = limit.note().into_iter().collect();
        Ok(SolidModes {
            values: pairs.values,
            shapes,
            surface,
            pencil: body.pencil,
            mass_kg,
            rigid_motions,
            limit,
            notes,
            warnings,
        })
    }
}

/// What the choice of cells depends on.
struct Proportions {
    frame: Frame,
    volume: f64,
    area: f64,
    slab: Option<Slab>,
    by_size_m: f64,
    edge_m: f64,
    coarsest_m: f64,
    limit: ModeLimit,
}

impl Proportions {
    fn new(mesh: &TriMesh, elasticity: &Elasticity, limits: &SolidLimits, look: &Probe) -> Self {
        let frame = Frame::of(mesh);
        let (volume, area) = (mesh.signed_volume().abs(), mesh.area());
        let speeds = elasticity.wave_speeds_m_s();
        let mut count = ModeCount::solid(volume, area, speeds);
        if look.median_m.is_finite() {
            count = count.or_at_least(ModeCount::plate(0.5 * area, bending_q(elasticity, look.median_m)));
        }
        let limit = limits.detail.limit(&count, limits.highest_hz, limits.max_modes, limits.reach);
        let by_size_m = (volume / limits.detail.fewest_cells()).cbrt();
        let by_wave = speeds[0] / (limits.detail.cells_per_wave() * limit.highest_hz);
        let by_wall = 1.25 * look.thin_m;
        let edge_m = limits.cell_m.unwrap_or(by_size_m.min(by_wave).min(by_wall));
        // Twice the wall still has eight columns across it; beyond that a cell no longer sees the wall.
        let coarsest_m = limits.cell_m.unwrap_or((2.0 * look.thin_m).min(by_size_m.max(by_wall)));
        let slab = Slab::of(&frame, look, elasticity, limit.highest_hz);
        Self { frame, volume, area, slab, by_size_m, edge_m, coarsest_m, limit }
    }

    fn edges(&self, edge: f64) -> Vec3 {
        self.slab.as_ref().map_or(Vec3::splat(edge), |slab| slab.edges(edge, self.by_size_m))
    }

    /// About how many unknowns cells of this size will have: those inside and along the surface, about thirty each; right within a
    /// factor of 1.5.
    fn unknowns(&self, edge: f64) -> f64 {
        let size = self.edges(edge);
        30.0 * (self.volume / size.element_product() + 0.5 * self.area / (size.max_element() * size.max_element()))
    }

    /// The cells, unless a look at their number tells that they cannot be paid for.
    fn classify(
        &self,
        edge: f64,
        affordable: usize,
        mesh: &TriMesh,
        tree: &DistanceTree,
        progress: &Progress<'_>,
    ) -> Option<Cells> {
        let grid = Grid::new(self.frame, self.edges(edge));
        let hopeless =
            self.unknowns(edge) > 1.5 * affordable as f64 || grid.cells.iter().product::<usize>() > MAX_GRID_CELLS;
        (!hopeless).then(|| Cells::classify(grid, mesh, tree, progress))
    }
}

/// `q = √(D/ρt)` of a plate of this thickness, in m²/s, from the mean plane-stress stiffness.
fn bending_q(elasticity: &Elasticity, thickness_m: f64) -> f64 {
    let c = &elasticity.stiffness_pa;
    let plane =
        (0..3).map(|k| c[k][k] - c[k][(k + 1) % 3] * c[k][(k + 2) % 3] / c[(k + 1) % 3][(k + 1) % 3]).sum::<f64>()
            / 3.0;
    thickness_m * (plane.max(0.0) / (12.0 * elasticity.density_kg_m3)).sqrt()
}

/// A body that is as thick as its frame's shortest side: a flat plate. Quadratic cells may be longer than high there.
struct Slab {
    across: usize,
    longest_m: f64,
}

impl Slab {
    fn of(frame: &Frame, look: &Probe, elasticity: &Elasticity, highest_hz: f64) -> Option<Self> {
        let extent = frame.high - frame.low;
        let across = (0..3).min_by(|&a, &b| extent[a].total_cmp(&extent[b]))?;
        let thickness = extent[across];
        // Two and a half quadratic cells for a bending wave, `λ = √(2πq/f)`, and no cell longer than four times its height.
        let per_wave = 0.4 * (TAU * bending_q(elasticity, thickness) / highest_hz).sqrt();
        (thickness <= 1.3 * look.thin_m).then(|| Self { across, longest_m: per_wave.min(4.0 * thickness) })
    }

    /// Edges of a cell that is `edge` high; along the plate no longer than `by_size` either.
    fn edges(&self, edge: f64, by_size: f64) -> Vec3 {
        let mut edges = Vec3::splat(edge.max(self.longest_m.min(by_size)));
        edges[self.across] = edge;
        edges
    }
}

/// Displacements of a cell body's modes at points of its surface, three rows per point.
fn shapes_on(body: &CellBody, vectors: &Mat<f64>, points: &[Vec3]) -> Mat<f64> {
    let places: Vec<_> = points.iter().map(|&p| body.interpolation(p)).collect();
    let mut shapes = Mat::zeros(3 * points.len(), vectors.ncols());
    for c in 0..vectors.ncols() {
        for (s, (nodes, weights)) in places.iter().enumerate() {
            let at = |n: u32| Vec3::from_array(std::array::from_fn(|k| vectors[(3 * n as usize + k, c)]));
            let u = body.to_world(nodes.iter().zip(weights).map(|(&n, &w)| at(n) * w).sum::<Vec3>());
            (0..3).for_each(|k| shapes[(3 * s + k, c)] = u[k]);
        }
    }
    shapes
}
