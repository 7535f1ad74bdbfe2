//! Tetrahedra for any closed surface, by isosurface stuffing with sharp edges kept.
//!
//! Labelle & Shewchuk 2007: a body-centred cubic lattice, fine near the surface and coarser inside, is cut along
//! the surface after nodes close to it were moved on to it; what results has dihedral angles of no less than about ten degrees on
//! smooth bodies. Edges and corners would be planed off (5 % of a bar's volume, 2…5 % of its frequencies at two cells through the
//! thickness), so boundary nodes are moved on to the features of the surface, and all nodes improve
//! their worst tetrahedra. The lattice follows the flat faces of the body ([`Frame`]) and fits its box: bars and plates are exact.
//!
//! ```
//! use eigentone_core::mesh::primitives;
//! use eigentone_modal::Progress;
//! use eigentone_modal::solid::stuffing::{StuffingSettings, stuff};
//!
//! let bar = primitives::bar(0.1, 0.02, 0.01);
//! let settings = StuffingSettings { size_m: 0.005, ..StuffingSettings::default() };
//! let stuffed = stuff(&bar, &settings, &Progress::silent()).unwrap();
//! assert!((stuffed.quality.volume_share - 1.0).abs() < 0.01);
//! ```

mod cut;
mod features;
mod improve;
mod lattice;
mod quality;
mod snap;
#[cfg(test)]
mod tests;
mod topology;

pub use quality::TetQuality;

use super::distance::DistanceTree;
use super::frame::Frame;
use super::probe::probe;
use crate::Progress;
use eigentone_core::mesh::repair::MeshError;
use eigentone_core::{TetMesh, TriMesh};
use features::Features;
use improve::{GOOD, Held};
use lattice::Grid;
use thiserror::Error;

/// How a body is filled.
#[derive(Clone, Debug, PartialEq)]
pub struct StuffingSettings {
    /// Edge of the lattice's cells near the surface in metres, and so about the edge of the tetrahedra. It is stretched by up to a
    /// quarter to fit the body.
    pub size_m: f64,
    /// How many times cells may double towards the inside; 0 for equal cells.
    pub coarser: u32,
    /// Edges at which the surface turns by more are kept, in degrees.
    pub feature_angle_deg: f64,
    /// Refuses to make more tetrahedra than about this.
    pub max_tets: usize,
}

impl Default for StuffingSettings {
    fn default() -> Self {
        Self { size_m: 0.005, coarser: 0, feature_angle_deg: 35.0, max_tets: 2_000_000 }
    }
}

impl StuffingSettings {
    /// Chooses the size such that a closed surface takes about so many tetrahedra, all of equal size.
    pub fn for_tets(surface: &TriMesh, wanted_tets: usize) -> Self {
        let (volume, area) = (surface.signed_volume().abs(), surface.area());
        let fitting = size_for(volume, area, 0, wanted_tets.max(1) as f64);
        let size_m = if fitting.is_finite() && fitting > 0.0 { fitting } else { Self::default().size_m };
        Self { size_m, max_tets: Self::default().max_tets.max(2 * wanted_tets), ..Self::default() }
    }
}

/// A filled body.
#[derive(Clone, Debug)]
pub struct Stuffed {
    /// Positively oriented tetrahedra; every node is used.
    pub mesh: TetMesh,
    /// How good they are.
    pub quality: TetQuality,
    /// What was lost or could not be kept.
    pub warnings: Vec<String>,
}

/// Why a body was not filled.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StuffingError {
    /// The mesh is empty or broken.
    #[error("there is no surface to fill: {0}; check the file and its scale")]
    NoSurface(#[from] MeshError),
    /// The size is not a length.
    #[error("the size of the tetrahedra is {size_m} m, but must be above zero; about {fitting_m:.2e} m fit this body")]
    Size {
        /// The size given.
        size_m: f64,
        /// A size that would do.
        fitting_m: f64,
    },
    /// The angle of features is not one.
    #[error("the angle of sharp edges is {angle_deg}°, but must lie between 0° and 180°; 35° suits most bodies")]
    FeatureAngle {
        /// The angle given.
        angle_deg: f64,
    },
    /// The surface does not enclose anything.
    #[error(
        "the surface is not closed: only {inside_share:.0} % of it has an inside (by winding number); close its holes, or treat it \
         as a shell with a thickness"
    )]
    NotClosed {
        /// Share of the surface with an inside, in percent.
        inside_share: f64,
    },
    /// No tetrahedron lies inside.
    #[error("no tetrahedron of {size_m} m fits into the body; use {fitting_m:.2e} m or less")]
    TooLarge {
        /// The size given.
        size_m: f64,
        /// A size that would do.
        fitting_m: f64,
    },
    /// More tetrahedra than allowed.
    #[error("about {expected:.1e} tetrahedra of {size_m} m are more than the limit of {most}; {fitting_m:.2e} m fit")]
    TooMany {
        /// The size given.
        size_m: f64,
        /// About how many there would be.
        expected: f64,
        /// The limit.
        most: usize,
        /// A size that would do.
        fitting_m: f64,
    },
}

/// Tetrahedra in a cell of the lattice.
const TETS_PER_CELL: f64 = 12.0;

/// About how many tetrahedra a body takes: the cells in its volume (in the graded case, those of a layer under its surface and few
/// more) and half a layer of cut ones. On a cube of ten cells this is 18 % too many.
fn expected_tets(volume: f64, area: f64, coarser: u32, size: f64) -> f64 {
    let skin = (3.0 * area * size).min(volume);
    let inside = skin + (volume - skin) / 8f64.powi(coarser.min(20) as i32);
    TETS_PER_CELL * (inside + 0.5 * area * size) / size.powi(3)
}

/// The size that gives about so many tetrahedra, by bisection.
fn size_for(volume: f64, area: f64, coarser: u32, wanted: f64) -> f64 {
    let guess = (TETS_PER_CELL * volume / wanted).cbrt().max((TETS_PER_CELL * area / wanted).sqrt());
    let (mut low, mut high) = (1e-3 * guess, 1e3 * guess);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if expected_tets(volume, area, coarser, middle) > wanted { low = middle } else { high = middle }
    }
    high
}

/// Fills a closed surface with tetrahedra.
///
/// # Errors
/// See [`StuffingError`].
pub fn stuff(
    surface: &TriMesh,
    settings: &StuffingSettings,
    progress: &Progress<'_>,
) -> Result<Stuffed, StuffingError> {
    stuff_in(surface, settings, progress, Frame::of)
}

/// As [`stuff`], with the lattice in a frame of one's choice.
fn stuff_in(
    surface: &TriMesh,
    settings: &StuffingSettings,
    progress: &Progress<'_>,
    frame: impl Fn(&TriMesh) -> Frame,
) -> Result<Stuffed, StuffingError> {
    let surface = prepare(surface)?;
    let volume = surface.signed_volume();
    check(&surface, settings)?;
    let tree = DistanceTree::new(&surface);
    let found = probe(&surface, &tree);
    if !found.closed() {
        return Err(StuffingError::NotClosed { inside_share: 100.0 * found.inside_share });
    }
    progress.report("laying out the lattice", 0.0);
    let grid = fit(&frame(&surface), settings.size_m);
    // The estimate goes by the enclosed volume, which means little if some pieces are inside out: hence a second look.
    let lattice = lattice::build(&tree, &grid, settings.coarser, settings.max_tets)
        .ok_or_else(|| too_many(&surface, settings, settings.max_tets as f64))?;
    progress.report("cutting the lattice", 0.0);
    let mut warnings = Vec::new();
    let mut mesh = cut::cut(&tree, lattice, &grid, settings.size_m);
    // Removing tetrahedra at one edge may leave others hanging by theirs.
    for _ in 0..HINGE_ROUNDS {
        topology::split_pinches(&mut mesh);
        if topology::open_hinges(&mut mesh) == 0 {
            break;
        }
    }
    let (dropped, lost) = topology::keep_largest_pieces(&mut mesh, surface.components().1);
    if dropped > 0 {
        let share = 100.0 * lost / volume;
        warnings.push(format!("dropped {dropped} crumbs ({share:.2} % of the volume) that thin parts left behind"));
    }
    topology::compact(&mut mesh);
    if mesh.tets.is_empty() {
        let fitting_m = (0.5 * found.median_m).min(0.5 * settings.size_m);
        return Err(StuffingError::TooLarge { size_m: settings.size_m, fitting_m });
    }
    let features = Features::of(&surface, settings.feature_angle_deg);
    let mut held = Held::new(mesh, &tree, &features, settings.size_m, settings.feature_angle_deg);
    progress.report("keeping sharp edges", 0.0);
    let snapped = snap::snap(&mut held);
    if snapped.lost_corners > 0 || snapped.missed as f64 > ROUNDED_SHARE * snapped.wanted as f64 {
        warnings.push(format!(
            "sharp edges are rounded in places: {} of {} nodes did not reach them, {} corners are missing; use a smaller size",
            snapped.missed, snapped.wanted, snapped.lost_corners
        ));
    }
    progress.report("improving tetrahedra", 0.0);
    let mesh = improved(held);
    let quality = TetQuality::of(&mesh, Some(volume));
    if (quality.volume_share - 1.0).abs() > LOST_SHARE {
        let (percent, size_m) = (100.0 * quality.volume_share, settings.size_m);
        warnings.push(format!(
            "the tetrahedra fill {percent:.1} % of the body: parts thinner than {size_m:.2e} m were lost, or its surfaces overlap; \
             use a smaller size"
        ));
    }
    progress.report("improving tetrahedra", 1.0);
    Ok(Stuffed { mesh, quality, warnings })
}

/// Smoothes, and removes what lies flat on the boundary.
fn improved(mut held: Held<'_>) -> TetMesh {
    held.sweep(GOOD, SWEEPS);
    for _ in 0..PEELS {
        held.peel(&held.flat(held.bad(POOR)));
        // Other directions each time: a node may be stuck in one set of them.
        (0..SWEEPS).for_each(|_| held.sweep(POOR, 3));
    }
    let mut mesh = held.mesh;
    topology::compact(&mut mesh);
    mesh
}

/// Passes over the nodes. Tuned by eye.
const SWEEPS: usize = 8;

/// Share of the nodes of sharp edges that may miss them without a warning: at 2 %, less than 0.1 % of the volume.
const ROUNDED_SHARE: f64 = 0.02;

/// Tetrahedra worse than this are removed if they lie flat on the boundary, and looked after until the end. Tuned by eye: a third of
/// what the lattice has.
const POOR: f64 = 0.3;

/// How often flat ones are looked for.
const PEELS: usize = 2;

/// Rounds of removing what hangs by an edge.
const HINGE_ROUNDS: usize = 8;

/// A difference in volume that is worth a warning.
const LOST_SHARE: f64 = 0.05;

/// A welded surface that faces outward.
fn prepare(surface: &TriMesh) -> Result<TriMesh, StuffingError> {
    let mut surface = surface.clone();
    surface.repair()?;
    surface.orient();
    if surface.signed_volume() < 0.0 {
        surface.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    Ok(surface)
}

fn check(surface: &TriMesh, settings: &StuffingSettings) -> Result<(), StuffingError> {
    let size_m = settings.size_m;
    let (volume, area) = (surface.signed_volume(), surface.area());
    if !(size_m.is_finite() && size_m > 0.0) {
        return Err(StuffingError::Size { size_m, fitting_m: size_for(volume, area, 0, 20_000.0) });
    }
    let angle_deg = settings.feature_angle_deg;
    if !(angle_deg > 0.0 && angle_deg <= 180.0) {
        return Err(StuffingError::FeatureAngle { angle_deg });
    }
    let expected = expected_tets(volume, area, settings.coarser, size_m);
    if expected > settings.max_tets as f64 || surface.diagonal() > MAX_CELLS * size_m {
        return Err(too_many(surface, settings, expected));
    }
    Ok(())
}

fn too_many(surface: &TriMesh, settings: &StuffingSettings, expected: f64) -> StuffingError {
    let (size_m, most) = (settings.size_m, settings.max_tets);
    let fitting = size_for(surface.signed_volume(), surface.area(), settings.coarser, most as f64);
    // If the estimate was too low, its answer is of no use.
    let fitting_m = if fitting > size_m { fitting } else { 2.0 * size_m };
    StuffingError::TooMany { size_m, expected, most, fitting_m: fitting_m.max(surface.diagonal() / MAX_CELLS) }
}

/// Cells along the diagonal of a body: beyond, whole-number coordinates end.
const MAX_CELLS: f64 = 1e6;

/// A lattice whose planes lie in the sides of the body's box, if that takes no more than stretching by a quarter.
fn fit(frame: &Frame, size: f64) -> Grid {
    let extent = frame.high - frame.low;
    let mut cells = 0;
    let mut low = frame.low;
    let steps = std::array::from_fn(|k| {
        let count = (extent[k] / size).round().max(1.0);
        let stretched = extent[k] / (count * size);
        let edge = if (0.8..=1.25).contains(&stretched) { stretched * size } else { size };
        cells = cells.max((extent[k] / edge).ceil() as u32);
        // Two cells of room below.
        low[k] -= 2.0 * edge;
        frame.axes.col(k) * (0.5 * edge)
    });
    Grid { origin: frame.to_world(low), steps, cells }
}
