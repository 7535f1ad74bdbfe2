//! From a closed surface around thin walls to their middle surface, with a thickness that varies from place to place.
//!
//! 1. The skins are remeshed evenly, so that long quads and fans are looked at everywhere.
//! 2. Rays inward give what lies opposite; parallel skins are walls (`parts`). Where a wall ends at a mitre, rays run along
//!    the next wall: walls grow over such places. Rims are dropped.
//! 3. The two skins are told apart by what lies opposite to what (`sides`), and the larger one is kept.
//! 4. Its vertices move to `min Σ angle·(n·(x − p) + t/2)²`, half the wall inward and right at mitres (`offset`).
//! 5. Handles, stems and knobs are as wide as thick: no two skins, but rods. A rod of diameter `D` is a tube with radius
//!    `D/√8` and wall `D/√8`: the same area `πD²/4` and second moment `πD⁴/64`, so that mass, bending and torsion are right.
//! 6. The result is remeshed, its mass compared with the volume, and the strip within `t/2` of a mitre is stiffened: the
//!    solid corner of two walls bends less than their middle surfaces would. Thickness × 1.25 there, fitted to a solid box
//!    and checked with a solid cup.

mod mitre;
mod offset;
mod parts;
mod sides;

use crate::body_kind::{BodyKind, KindReport, body_kind_of};
use crate::thickness::weighted_quantile;
use eigentone_core::mesh::{NearestTree, RemeshSettings};
use eigentone_core::{Material, TriMesh};
use std::f64::consts::PI;
use thiserror::Error;

/// How finely walls are modelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallSettings {
    /// Highest frequency that matters, in Hz.
    pub highest_hz: f64,
    /// Length of edges in metres; an eighth of the bending wave at `highest_hz` if not given.
    pub edge_m: Option<f64>,
    /// At most this many vertices of the middle surface.
    pub max_vertices: usize,
}

impl Default for WallSettings {
    fn default() -> Self {
        Self { highest_hz: 20_000.0, edge_m: None, max_vertices: 4000 }
    }
}

/// The middle surface of a body of thin walls.
#[derive(Clone, Debug, PartialEq)]
pub struct MiddleSurface {
    /// Even triangles, all facing the same way. Rims are open borders.
    pub mesh: TriMesh,
    /// Thickness of each triangle in metres: Σ area · thickness is the volume of the body.
    pub thickness_m: Vec<f64>,
    /// What the thickness of each triangle is multiplied with for its stiffness (not for its mass): 1 but for mitres.
    pub stiffness: Vec<f64>,
    /// Length of edges that was aimed for, in metres.
    pub edge_m: f64,
    /// Median thickness in metres.
    pub median_m: f64,
    /// Volume of the body in m³.
    pub volume_m3: f64,
    /// Σ area · thickness as measured, over the volume; the thickness was then scaled to make it one.
    pub measured_volume_ratio: f64,
    /// Share of the surface that is walls or rods; the rest is rims.
    pub wall_share: f64,
    /// Share of the kept surface that is rods.
    pub rod_share: f64,
}

/// Why a body cannot be modelled by a middle surface.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NotWalls {
    /// It is not closed, or solid.
    #[error("it is {reason}")]
    Kind {
        /// What it is.
        kind: BodyKind,
        /// Why, in one sentence.
        reason: String,
    },
    /// Too little of its surface is walls.
    #[error("only {:.0} % of its surface is walls, the rest is edges or bulk", 100.0 * share)]
    Share {
        /// Share of the surface.
        share: f64,
    },
    /// Too much of it is rods.
    #[error("{:.0} % of it is rods or bulk rather than walls", 100.0 * share)]
    Rods {
        /// Share of the surface that is kept.
        share: f64,
    },
    /// Its walls differ too much.
    #[error("its walls differ too much: a tenth is thinner than {:.2} mm, a tenth thicker than {:.2} mm", 1e3 * thin_m, 1e3 * thick_m)]
    Spread {
        /// Tenth percentile in metres.
        thin_m: f64,
        /// Ninetieth percentile in metres.
        thick_m: f64,
    },
    /// The middle surface has another mass than the body.
    #[error("its middle surface has {:+.1} % of its mass too much", 100.0 * (ratio - 1.0))]
    Mass {
        /// Mass of the middle surface over that of the body.
        ratio: f64,
    },
    /// Its walls are too thick for bending waves at the highest frequency.
    #[error("its walls of {:.1} mm are too thick for a shell at {highest_hz:.0} Hz; {:.1} mm would do", 1e3 * thickness_m, 1e3 * limit_m)]
    Thick {
        /// Median thickness in metres.
        thickness_m: f64,
        /// What would do, in metres.
        limit_m: f64,
        /// The frequency.
        highest_hz: f64,
    },
    /// Walls that meet in a T fall apart.
    #[error(
        "its middle surface falls into {found} pieces instead of {expected}: walls that branch have no single middle surface"
    )]
    Pieces {
        /// Pieces of the middle surface.
        found: usize,
        /// Pieces of the body.
        expected: usize,
    },
}

/// Bending waves shorter than this many thicknesses shear the wall as well, and a thin shell is more than 15 % off.
const SHORTEST_WAVE: f64 = 6.0;

/// Edges for a bending wave.
const EDGES_PER_WAVE: f64 = 8.0;

/// Limits of what is accepted: share of walls, of rods, ninetieth over tenth percentile, error of the mass.
const WALL_SHARE: f64 = 0.8;
const ROD_SHARE: f64 = 0.3;
const SPREAD: f64 = 3.0;
const MASS_ERROR: f64 = 0.03;

/// `q/t` of the bending wavelength `λ = √(2π q/f)`, in m/s.
fn plate_speed(material: &Material) -> f64 {
    (material.young_pa / (12.0 * material.density_kg_m3 * (1.0 - material.poisson * material.poisson))).sqrt()
}

/// The thickest wall that bending waves at a frequency leave thin, in metres: `λ = 6 t`.
pub fn thickest_wall_m(material: &Material, highest_hz: f64) -> f64 {
    2.0 * PI * plate_speed(material) / (SHORTEST_WAVE * SHORTEST_WAVE * highest_hz)
}

/// An eighth of the bending wave in a wall, in metres.
pub fn edge_for_wall_m(material: &Material, thickness_m: f64, highest_hz: f64) -> f64 {
    (2.0 * PI * plate_speed(material) * thickness_m / highest_hz).sqrt() / EDGES_PER_WAVE
}

/// The middle surface of a repaired mesh, or why it has none.
///
/// # Errors
/// If the mesh is open or solid, or its middle surface would not sound like it.
pub fn middle_surface(mesh: &TriMesh, material: &Material, settings: &WallSettings) -> Result<MiddleSurface, NotWalls> {
    let tree = NearestTree::new(crate::skins::oriented(mesh));
    let KindReport { kind, reason, median_m, .. } = body_kind_of(&tree);
    if kind != BodyKind::Walls {
        return Err(NotWalls::Kind { kind, reason });
    }
    let (highest_hz, limit_m) = (settings.highest_hz, thickest_wall_m(material, settings.highest_hz));
    if median_m > limit_m {
        return Err(NotWalls::Thick { thickness_m: median_m, limit_m, highest_hz });
    }
    let edge_m = settings.edge_m.unwrap_or_else(|| edge_for_wall_m(material, median_m, highest_hz));
    let volume_m3 = tree.mesh().signed_volume().abs();

    let remesh = RemeshSettings { edge_m, max_vertices: 2 * settings.max_vertices + 200, ..Default::default() };
    let even = tree.mesh().remesh_isotropic(&remesh);
    let parts = parts::Parts::of(&even, &tree, median_m);
    let wall_share = parts.share();
    if wall_share < WALL_SHARE {
        return Err(NotWalls::Share { share: wall_share });
    }
    let kept = sides::larger_side(&even.mesh, &parts);
    let rough = offset::offset(&even.mesh, &parts, &kept);
    if rough.mesh.triangles.is_empty() || rough.rod_share > ROD_SHARE {
        return Err(NotWalls::Rods { share: rough.rod_share });
    }
    let fine = rough.mesh.remesh_isotropic(&RemeshSettings {
        edge_m: even.edge_m,
        max_vertices: settings.max_vertices,
        rounds: 4,
        ..Default::default()
    });
    let thickness_m = fine.carry(&rough.thickness_m);
    let mut surface = MiddleSurface {
        stiffness: mitre::stiffness(&fine.mesh, &thickness_m),
        mesh: fine.mesh,
        thickness_m,
        edge_m: fine.edge_m,
        median_m,
        volume_m3,
        measured_volume_ratio: 1.0,
        wall_share,
        rod_share: rough.rod_share,
    };
    surface.check(tree.mesh())?;
    Ok(surface)
}

impl MiddleSurface {
    /// Area times thickness, in m³.
    pub fn volume(&self) -> f64 {
        self.thickness_m.iter().enumerate().map(|(t, thickness)| self.mesh.triangle_area(t) * thickness).sum()
    }

    /// Compares with the body, and scales the thickness so that the mass is right.
    fn check(&mut self, body: &TriMesh) -> Result<(), NotWalls> {
        let weighted = || self.thickness_m.iter().enumerate().map(|(t, &d)| (d, self.mesh.triangle_area(t)));
        let (thin_m, thick_m) = (weighted_quantile(weighted(), 0.1), weighted_quantile(weighted(), 0.9));
        if thick_m > SPREAD * thin_m {
            return Err(NotWalls::Spread { thin_m, thick_m });
        }
        self.measured_volume_ratio = self.volume() / self.volume_m3;
        if (self.measured_volume_ratio - 1.0).abs() > MASS_ERROR {
            return Err(NotWalls::Mass { ratio: self.measured_volume_ratio });
        }
        let (found, expected) = (self.mesh.components().1, crate::skins::bodies(body));
        if found > expected {
            return Err(NotWalls::Pieces { found, expected });
        }
        let scale = 1.0 / self.measured_volume_ratio;
        self.thickness_m.iter_mut().for_each(|t| *t *= scale);
        self.median_m =
            weighted_quantile(self.thickness_m.iter().enumerate().map(|(t, &d)| (d, self.mesh.triangle_area(t))), 0.5);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
