//! What the caller refuses before cells are made: scenes that are not finite, lattices that do not fit.

use eigentone_core::{
    Vec3,
    acoustics::{Bounds, Lattice, MaterialMesh},
};
use thiserror::Error;

/// Why a scene cannot be made into cells.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SceneError {
    /// Nothing there.
    #[error("expected at least one triangle, found none; export the scene with its faces")]
    Empty,
    /// A coordinate is not a number, or infinite.
    #[error("vertex {vertex}: expected finite coordinates, found {position}; repair or export the mesh again")]
    Vertex {
        /// The first such vertex.
        vertex: usize,
        /// Where it claims to be.
        position: Vec3,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle}: expected vertices below {count}, found {found}")]
    Triangle {
        /// The first such triangle.
        triangle: usize,
        /// The vertex it names.
        found: u32,
        /// How many there are.
        count: usize,
    },
    /// A triangle names a material that does not exist.
    #[error("triangle {triangle}: expected a material below {count}, found {found}")]
    Material {
        /// The first such triangle.
        triangle: usize,
        /// The material it names.
        found: u16,
        /// How many there are.
        count: usize,
    },
    /// Not one material for each triangle.
    #[error("expected a material for each of {triangles} triangles, found {materials}")]
    Materials {
        /// How many triangles there are.
        triangles: usize,
        /// How many have a material.
        materials: usize,
    },
}

/// Whether a scene is fit for cells: finite, with every index in range.
///
/// # Errors
/// Names the first vertex or triangle that is not.
pub fn check(scene: &MaterialMesh) -> Result<(), SceneError> {
    let (positions, triangles) = (&scene.mesh.positions, &scene.mesh.triangles);
    if triangles.is_empty() {
        return Err(SceneError::Empty);
    }
    if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
        return Err(SceneError::Vertex { vertex, position: positions[vertex] });
    }
    let count = positions.len();
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(&found) = corners.iter().find(|&&v| v as usize >= count) {
            return Err(SceneError::Triangle { triangle, found, count });
        }
    }
    if scene.of_triangle.len() != triangles.len() {
        return Err(SceneError::Materials { triangles: triangles.len(), materials: scene.of_triangle.len() });
    }
    let count = scene.names.len();
    match scene.of_triangle.iter().position(|&m| usize::from(m) >= count) {
        Some(triangle) => Err(SceneError::Material { triangle, found: scene.of_triangle[triangle], count }),
        None => Ok(()),
    }
}

/// Why there is no lattice around a scene.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LatticeError {
    /// The side of a cell is not a positive number.
    #[error("expected a cell of positive size, found {step_m} m")]
    Step {
        /// What was asked for.
        step_m: f64,
    },
    /// The box is empty or not finite.
    #[error("expected a finite box, found {min} to {max}")]
    Bounds {
        /// Its lowest corner.
        min: Vec3,
        /// Its highest corner.
        max: Vec3,
    },
    /// More cells than allowed.
    #[error(
        "expected at most {most} cells, found {cells:.3e} ({} × {} × {} m in cells of {step_m} m); simulate a lower frequency, or cut the scene",
        size.x, size.y, size.z
    )]
    TooLarge {
        /// How many there would be.
        cells: f64,
        /// How many may be.
        most: usize,
        /// Size of the box, in m.
        size: Vec3,
        /// Side of a cell, in m.
        step_m: f64,
    },
}

/// How many cells a lattice has; `None` if that is more than can be counted.
pub fn checked_len(lattice: &Lattice) -> Option<usize> {
    lattice.size.iter().try_fold(1usize, |product, &n| product.checked_mul(n as usize))
}

/// Cells around a box with so many more on each side, and their origin on a multiple of the cell's side, so that neither the margin nor the
/// box decides where in a wall the cells lie. Nothing is allocated.
///
/// # Errors
/// If the box or the side make no sense, or there would be more than `most` cells.
pub fn lattice_around(bounds: &Bounds, step_m: f64, margin: u32, most: usize) -> Result<Lattice, LatticeError> {
    if !(step_m.is_finite() && step_m > 0.0) {
        return Err(LatticeError::Step { step_m });
    }
    let Bounds { min, max } = *bounds;
    let size = max - min;
    if !(min.is_finite() && max.is_finite() && size.is_finite() && size.min_element() >= 0.0) {
        return Err(LatticeError::Bounds { min, max });
    }
    // A wall that ends on the border of a cell needs none beyond.
    const HAIR: f64 = 1e-9;
    let first = (min / step_m + HAIR).floor() - f64::from(margin);
    let count = (max / step_m - HAIR).ceil() + f64::from(margin) - first;
    let count = count.max(Vec3::ONE);
    let cells = count.element_product();
    let too_large = LatticeError::TooLarge { cells, most, size, step_m };
    if cells > most as f64 || count.max_element() > f64::from(u32::MAX) {
        return Err(too_large);
    }
    let lattice = Lattice { origin: first * step_m, step_m, size: count.to_array().map(|n| n as u32) };
    match checked_len(&lattice) {
        Some(len) if len <= most => Ok(lattice),
        _ => Err(too_large),
    }
}
