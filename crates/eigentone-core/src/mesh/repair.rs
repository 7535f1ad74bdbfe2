//! From whatever a file contained to a mesh that a solver can use.

use super::TriMesh;
use crate::Vec3;
use serde::Serialize;
use std::collections::HashMap;
use thiserror::Error;

/// Largest coordinate a mesh may have, in metres after scaling. Beyond it, squares and volumes lose all meaning.
pub const LARGEST_COORDINATE_M: f64 = 1e6;

/// Vertices closer than this share of the bounding box's diagonal are one.
pub const WELD_SHARE: f64 = 1e-6;

/// What [`TriMesh::repair`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// Vertices merged with another at the same place.
    pub welded_vertices: usize,
    /// Vertices that no triangle used.
    pub unused_vertices: usize,
    /// Triangles without area, or with a corner twice.
    pub degenerate_triangles: usize,
    /// Triangles present more than once (in either orientation).
    pub duplicate_triangles: usize,
}

/// Why a mesh cannot be used at all.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MeshError {
    /// A coordinate is NaN or infinite.
    #[error("vertex {0} has a coordinate that is not a number")]
    NotFinite(usize),
    /// A coordinate is beyond [`LARGEST_COORDINATE_M`].
    #[error(
        "vertex {0} lies more than {LARGEST_COORDINATE_M:e} m from the origin; scale the mesh if it is not in metres"
    )]
    TooLarge(usize),
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are only {vertices} vertices")]
    BadIndex {
        /// The triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// Nothing is left to sound.
    #[error("the mesh has no triangle with an area")]
    Empty,
}

impl TriMesh {
    /// Welds vertices, drops degenerate and duplicate triangles, then vertices that nothing uses.
    ///
    /// # Errors
    /// If a coordinate or index is impossible, or nothing is left.
    pub fn repair(&mut self) -> Result<RepairReport, MeshError> {
        self.check()?;
        let mut report = RepairReport::default();
        let tolerance = WELD_SHARE * self.diagonal();
        let merged = weld_map(&self.positions, tolerance);
        for triangle in &mut self.triangles {
            *triangle = triangle.map(|v| merged[v as usize]);
        }
        report.welded_vertices = merged.iter().zip(0..).filter(|&(&m, i)| m != i).count();

        // A triangle whose height is under the weld tolerance has no area to speak of.
        let before = self.triangles.len();
        let positions = &self.positions;
        self.triangles.retain(|&[a, b, c]| {
            let [p, q, r] = [a, b, c].map(|v| positions[v as usize]);
            let longest = p.distance(q).max(q.distance(r)).max(r.distance(p));
            a != b && b != c && c != a && (q - p).cross(r - p).length() > tolerance * longest
        });
        report.degenerate_triangles = before - self.triangles.len();

        let before = self.triangles.len();
        let mut seen = std::collections::HashSet::new();
        self.triangles.retain(|&t| {
            let mut key = t;
            key.sort_unstable();
            seen.insert(key)
        });
        report.duplicate_triangles = before - self.triangles.len();
        if self.triangles.is_empty() {
            return Err(MeshError::Empty);
        }
        report.unused_vertices = self.drop_unused_vertices() - report.welded_vertices;
        Ok(report)
    }

    /// Turns triangles that face the other way than their neighbours, and returns how many. A patch that is consistent already is
    /// left alone, so that the wall of a cavity keeps facing into it; a closed patch that was not is made to face outward, an open
    /// one to face where most of it did.
    pub fn orient(&mut self) -> usize {
        let mut across: Vec<Vec<(u32, bool)>> = vec![Vec::new(); self.triangles.len()];
        let mut open = vec![false; self.triangles.len()];
        for (edge, sharing) in self.edges() {
            if let [s, t] = sharing[..] {
                let opposed = self.passes(s, edge) == self.passes(t, edge);
                across[s as usize].push((t, opposed));
                across[t as usize].push((s, opposed));
            } else {
                sharing.iter().for_each(|&t| open[t as usize] = true);
            }
        }
        let mut turned: Vec<Option<bool>> = vec![None; self.triangles.len()];
        let mut count = 0;
        for seed in 0..self.triangles.len() {
            if turned[seed].is_some() {
                continue;
            }
            turned[seed] = Some(false);
            let mut patch = vec![(seed, false)];
            let mut next = 0;
            while next < patch.len() {
                let (t, flip) = patch[next];
                next += 1;
                for &(n, opposed) in &across[t] {
                    if turned[n as usize].is_none() {
                        turned[n as usize] = Some(flip != opposed);
                        patch.push((n as usize, flip != opposed));
                    }
                }
            }
            let flips = patch.iter().filter(|p| p.1).count();
            if flips == 0 {
                continue;
            }
            let invert = if patch.iter().any(|p| open[p.0]) {
                2 * flips > patch.len()
            } else {
                let origin = self.corners(seed)[0];
                let volume = |&(t, flip): &(usize, bool)| {
                    let [a, b, c] = self.corners(t).map(|p| p - origin);
                    a.dot(b.cross(c)) * if flip { -1.0 } else { 1.0 }
                };
                patch.iter().map(volume).sum::<f64>() < 0.0
            };
            for (t, flip) in patch {
                if flip != invert {
                    self.triangles[t].swap(1, 2);
                    count += 1;
                }
            }
        }
        count
    }

    /// Checks coordinates and indices without changing anything.
    ///
    /// # Errors
    /// The first impossible coordinate or index.
    pub fn check(&self) -> Result<(), MeshError> {
        for (i, p) in self.positions.iter().enumerate() {
            if !p.is_finite() {
                return Err(MeshError::NotFinite(i));
            }
            if p.abs().max_element() > LARGEST_COORDINATE_M {
                return Err(MeshError::TooLarge(i));
            }
        }
        let vertices = self.positions.len();
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
                return Err(MeshError::BadIndex { triangle, vertex, vertices });
            }
        }
        Ok(())
    }

    /// Removes vertices that no triangle uses and returns how many there were.
    pub fn drop_unused_vertices(&mut self) -> usize {
        let mut new_index = vec![u32::MAX; self.positions.len()];
        for &v in self.triangles.iter().flatten() {
            new_index[v as usize] = 0;
        }
        let mut kept = Vec::with_capacity(self.positions.len());
        for (index, &position) in new_index.iter_mut().zip(&self.positions) {
            if *index == 0 {
                *index = kept.len() as u32;
                kept.push(position);
            }
        }
        let dropped = self.positions.len() - kept.len();
        self.positions = kept;
        self.triangles.iter_mut().for_each(|t| *t = t.map(|v| new_index[v as usize]));
        dropped
    }
}

/// For each vertex the first one within `tolerance` of it (itself if there is none), by a hash grid.
fn weld_map(positions: &[Vec3], tolerance: f64) -> Vec<u32> {
    let cell_size = tolerance.max(f64::MIN_POSITIVE) * 2.0;
    let cell = |p: Vec3| (p / cell_size).round().to_array().map(|x| x as i64);
    let mut grid: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut map = Vec::with_capacity(positions.len());
    for (i, &p) in positions.iter().enumerate() {
        let [x, y, z] = cell(p);
        let offsets = (-1..=1).flat_map(|dx| (-1..=1).flat_map(move |dy| (-1..=1).map(move |dz| [dx, dy, dz])));
        let found = offsets
            .filter_map(|[dx, dy, dz]| grid.get(&[x.saturating_add(dx), y.saturating_add(dy), z.saturating_add(dz)]))
            .flatten()
            .copied()
            .filter(|&j| positions[j as usize].distance(p) <= tolerance)
            .min();
        match found {
            Some(j) => map.push(j),
            None => {
                grid.entry([x, y, z]).or_default().push(i as u32);
                map.push(i as u32);
            }
        }
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives;

    /// A box taken apart into a soup of 12 triangles comes back as 8 vertices.
    #[test]
    fn a_soup_is_welded_back_together() {
        let cube = primitives::cuboid(Vec3::ONE, [1, 1, 1]);
        let mut soup = TriMesh::default();
        for t in 0..cube.triangles.len() {
            let base = soup.positions.len() as u32;
            soup.positions.extend(cube.corners(t).map(|p| p + Vec3::splat(1e-8 * t as f64)));
            soup.triangles.push([base, base + 1, base + 2]);
        }
        let report = soup.repair().unwrap();
        assert_eq!((soup.positions.len(), soup.triangles.len(), report.welded_vertices), (8, 12, 28));
    }

    #[test]
    fn what_cannot_sound_is_dropped_and_counted() {
        let mut mesh = primitives::plate(1.0, 1.0, 2, 2);
        mesh.positions.push(Vec3::splat(0.3));
        mesh.triangles.push([0, 0, 1]);
        let copy = mesh.triangles[0];
        mesh.triangles.push([copy[1], copy[0], copy[2]]);
        let report = mesh.repair().unwrap();
        assert_eq!(
            report,
            RepairReport { welded_vertices: 0, unused_vertices: 1, degenerate_triangles: 1, duplicate_triangles: 1 }
        );
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 2));
    }

    #[test]
    fn flipped_triangles_are_turned_outward_and_cavities_stay() {
        let whole = primitives::cuboid(Vec3::ONE, [2, 2, 2]);
        let mut flipped = whole.clone();
        for t in [0, 7, 11, 30] {
            flipped.triangles[t].swap(0, 1);
        }
        assert_eq!(flipped.orient(), 4);
        assert!((flipped.signed_volume() - 1.0).abs() < 1e-12 && flipped.report().watertight);

        let mut hollow = whole;
        let mut inner = primitives::cuboid(Vec3::splat(0.5), [1, 1, 1]);
        inner.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        hollow.append(&inner);
        assert_eq!(hollow.orient(), 0);
        assert!((hollow.signed_volume() - 0.875).abs() < 1e-12);
    }

    #[test]
    fn impossible_meshes_are_refused() {
        let good = primitives::plate(1.0, 1.0, 2, 2);
        let mut bad = good.clone();
        bad.positions[1].y = f64::NAN;
        assert_eq!(bad.repair(), Err(MeshError::NotFinite(1)));
        let mut bad = good.clone();
        bad.positions[2].x = 1e30;
        assert_eq!(bad.repair(), Err(MeshError::TooLarge(2)));
        let mut bad = good.clone();
        bad.triangles[0][0] = 7;
        assert_eq!(bad.repair(), Err(MeshError::BadIndex { triangle: 0, vertex: 7, vertices: 4 }));
        assert_eq!(TriMesh::default().repair(), Err(MeshError::Empty));
        let mut flat = good;
        flat.positions.iter_mut().for_each(|p| *p = Vec3::ZERO);
        assert_eq!(flat.repair(), Err(MeshError::Empty));
    }
}
