//! Where to simulate from: probes on a grid within regions of interest, in air and off the walls.
//!
//! Points of the grid that are in a wall, or have one within a cell, move to the nearest cell that is free within half a spacing, or are dropped. What remains
//! must be in air that matters:
//!
//! - With [`Settings::seeds`]: air connected with one of them.
//! - Without: spaces of at least [`LEAST_SPACE_M3`]. The hollow inside of a solid body does not count: a space that is sealed off from the rim of the lattice and
//!   surrounded by triangles that face away from it (winding number above ½). If nothing else is left, these count after all, because a lone box that
//!   faces outwards is then meant as a room.
//!
//! ```
//! use eigentone_core::{Vec3, acoustics::Bounds};
//! use eigentone_wave::{probe, rooms, voxel::{Voxels, lattice_around}};
//!
//! let room = rooms::apartment();
//! let bounds = Bounds::of(room.scene.mesh.positions.iter().copied()).unwrap();
//! let voxels = Voxels::new(&room.scene, lattice_around(&bounds, 0.255, 2, 1 << 24)?);
//! let placed = probe::place(&room.scene, &voxels, &room.regions, &probe::Settings::default())?;
//! println!("{} probes; {}", placed.positions.len(), placed.report);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod air;
mod grid;

use crate::voxel::{LEAST_SPACE_M3, Voxels};
use eigentone_core::{
    TriMesh, Vec3,
    acoustics::{Bounds, MaterialMesh},
};
use std::fmt;
use thiserror::Error;

/// Most points of a grid: more are a mistake in the spacing.
const MAX_POINTS: f64 = 1e7;

/// Where probes are wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// In a box.
    Box(Bounds),
    /// In a closed mesh, whichever way it faces: where its winding number is beyond ½.
    Mesh(TriMesh),
}

impl Region {
    /// Whether a point is in it.
    pub fn contains(&self, p: Vec3) -> bool {
        match self {
            Self::Box(bounds) => bounds.contains(p),
            Self::Mesh(mesh) => {
                self.bounds().is_some_and(|b| b.contains(p)) && air::winding_number(mesh, p).abs() > 0.5
            }
        }
    }

    /// The box around it; `None` if there is nothing in it.
    pub fn bounds(&self) -> Option<Bounds> {
        match self {
            Self::Box(bounds) => Some(*bounds),
            Self::Mesh(mesh) => Bounds::of(mesh.positions.iter().copied()),
        }
    }
}

/// How probes are placed.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Distance of neighbours in x and y, in m.
    pub spacing_m: f64,
    /// Distance of neighbours in z, in m.
    pub vertical_m: f64,
    /// Follow floors: in each column the first probe stands so high, in m, above each floor, the next ones further up. Floors are known to within a cell. Without,
    /// layers are level.
    pub above_floor_m: Option<f64>,
    /// Points from which all air must be reachable that gets probes; see [`self`].
    pub seeds: Vec<Vec3>,
    /// More probes by hand, in regions or not. They need air, but no distance from walls.
    pub extra: Vec<Vec3>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { spacing_m: 3.0, vertical_m: 1.6, above_floor_m: None, seeds: Vec::new(), extra: Vec::new() }
    }
}

/// Why a probe that was set by hand is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Its cell is a wall.
    InWall,
    /// It is beyond the cells.
    Outside,
    /// It is not connected with any seed, or in a nook smaller than [`LEAST_SPACE_M3`].
    Sealed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InWall => "is in a wall; move it by a cell or more",
            Self::Outside => "is outside the simulated box; move it, or enlarge the box",
            Self::Sealed => "is in a space that is sealed off; move it",
        })
    }
}

/// What became of the points of the grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Points of the grid within regions.
    pub points: usize,
    /// Of these, moved to a free cell nearby.
    pub moved: usize,
    /// Dropped: in or at geometry with no free cell nearby.
    pub in_geometry: usize,
    /// Dropped: outside the lattice.
    pub outside: usize,
    /// Dropped: in nooks, hollow solids, or out of reach of the seeds.
    pub sealed: usize,
    /// Dropped: another probe is in the same cell.
    pub duplicate: usize,
    /// Probes set by hand that are not used, and why.
    pub refused: Vec<(Vec3, Refusal)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { points, moved, in_geometry, outside, sealed, duplicate, refused } = self;
        write!(f, "of {points} points on the grid {moved} were moved off walls")?;
        let dropped = [
            (in_geometry, "in or at geometry"),
            (outside, "outside the simulated box"),
            (sealed, "in sealed spaces"),
            (duplicate, "in the cell of another"),
        ];
        for (count, why) in dropped.into_iter().filter(|d| *d.0 > 0) {
            write!(f, ", {count} dropped {why}")?;
        }
        refused.iter().try_for_each(|(p, why)| write!(f, "; the probe at {p} {why}"))
    }
}

/// Probes, and what became of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// Where they are: the grid's, x fastest, then y, then z from the ground up, and last those set by hand. No two share a cell.
    pub positions: Vec<Vec3>,
    /// What became of the others.
    pub report: Report,
}

/// Why there are no probes.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// A distance is not a positive number.
    #[error("expected {what} to be positive, found {found} m")]
    Spacing {
        /// Which distance.
        what: &'static str,
        /// What it is.
        found: f64,
    },
    /// A region that is empty or not finite.
    #[error("region {region}: expected a finite box or mesh with some volume")]
    Region {
        /// Which one, counted from zero.
        region: usize,
    },
    /// More points than anyone would wait for.
    #[error("expected at most 1e7 points on the grid, found {points:.1e}; widen the spacing or narrow the regions")]
    TooMany {
        /// How many there would be.
        points: f64,
    },
    /// Not one remained.
    #[error("no probe is left: {report}; {hint}")]
    Nothing {
        /// What became of them.
        report: Box<Report>,
        /// What to do.
        hint: &'static str,
    },
}

/// Places probes in the regions; without any, in the box around the scene.
///
/// # Errors
/// If a distance or a region makes no sense, or no probe is left.
pub fn place(
    scene: &MaterialMesh,
    voxels: &Voxels,
    regions: &[Region],
    settings: &Settings,
) -> Result<Placement, PlaceError> {
    let points = grid::points(voxels, regions, settings)?;
    let mut report = Report { points: points.len(), ..Report::default() };
    let mut air = air::Air::new(scene, voxels, &settings.seeds);
    let mut found = Vec::new();
    for point in points {
        match grid::free_near(voxels, regions, settings, point) {
            Ok((position, moved)) => found.push((position, moved, air.space(voxels.lattice.cube(position)))),
            Err(grid::Lost::Outside) => report.outside += 1,
            Err(grid::Lost::InGeometry) => report.in_geometry += 1,
        }
    }
    let only_hollow = !found.iter().any(|(.., space)| air.counts(*space, false));
    let mut taken = std::collections::HashSet::new();
    let mut positions = Vec::new();
    for (position, moved, space) in found {
        if !air.counts(space, only_hollow) {
            report.sealed += 1;
        } else if !taken.insert(voxels.lattice.cube(position)) {
            report.duplicate += 1;
        } else {
            report.moved += usize::from(moved);
            positions.push(position);
        }
    }
    for &position in &settings.extra {
        let cell = voxels.lattice.cube(position);
        let refusal = if !position.is_finite() || voxels.lattice.index(cell).is_none() {
            Some(Refusal::Outside)
        } else if voxels.is_solid(cell) {
            Some(Refusal::InWall)
        } else {
            let space = air.space(cell);
            (!air.counts(space, true)).then_some(Refusal::Sealed)
        };
        match refusal {
            Some(why) => report.refused.push((position, why)),
            None if taken.insert(cell) => positions.push(position),
            None => report.duplicate += 1,
        }
    }
    if positions.is_empty() {
        let hint = hint(&report);
        return Err(PlaceError::Nothing { report: Box::new(report), hint });
    }
    Ok(Placement { positions, report })
}

fn hint(report: &Report) -> &'static str {
    if report.points == 0 {
        "the regions are smaller than the spacing or do not overlap the scene: check their coordinates (metres, z up) or narrow the spacing"
    } else if report.outside >= report.in_geometry.max(report.sealed) {
        "the regions lie outside the simulated box: move them, or enlarge the box"
    } else if report.in_geometry >= report.sealed {
        "the regions lie in walls, or in spaces too narrow for the cells: move them, or simulate with smaller cells"
    } else {
        "the regions lie in sealed spaces: put a seed or a probe by hand into the air that matters"
    }
}
