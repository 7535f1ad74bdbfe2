//! Which air matters.

use super::LEAST_SPACE_M3;
use crate::voxel::{Voxels, flood_into};
use eigentone_core::{
    TriMesh, Vec3,
    acoustics::{Bits, MaterialMesh},
};
use rayon::prelude::*;

/// A space: air that is connected.
pub(super) struct Space {
    cells: usize,
    /// Connected with a seed.
    seeded: bool,
    /// Inside of a body.
    hollow: bool,
}

/// The spaces in which points were asked for, found one by one.
pub(super) struct Air<'a> {
    scene: &'a MaterialMesh,
    voxels: &'a Voxels,
    has_seeds: bool,
    spaces: Vec<Space>,
    seen: Bits,
    /// Stretches along x of all spaces: first cell, count, and number of the space. Sorted before they are searched.
    stretches: Vec<(usize, usize, u32)>,
    sorted: usize,
}

impl<'a> Air<'a> {
    pub fn new(scene: &'a MaterialMesh, voxels: &'a Voxels, seeds: &[Vec3]) -> Self {
        let seen = Bits::new(voxels.lattice.len());
        let has_seeds = !seeds.is_empty();
        let mut air = Self { scene, voxels, has_seeds, spaces: Vec::new(), seen, stretches: Vec::new(), sorted: 0 };
        for &seed in seeds {
            if let Some(space) = air.space(voxels.lattice.cube(seed)) {
                air.spaces[space as usize].seeded = true;
            }
        }
        air
    }

    /// The number of the space around a cell of air; `None` in walls and outside.
    pub fn space(&mut self, at: [i64; 3]) -> Option<u32> {
        let cell = self.voxels.lattice.index(at).filter(|&i| !self.voxels.solid.get(i))?;
        if !self.seen.get(cell) {
            self.add(at);
        }
        if self.sorted < self.stretches.len() {
            self.stretches.sort_unstable();
            self.sorted = self.stretches.len();
        }
        let after = self.stretches.partition_point(|s| s.0 <= cell);
        let &(first, count, space) = self.stretches.get(after.checked_sub(1)?)?;
        (cell < first + count).then_some(space)
    }

    fn add(&mut self, at: [i64; 3]) {
        let number = self.spaces.len() as u32;
        let [nx, ny, nz] = self.voxels.lattice.size.map(|n| n as usize);
        let (mut cells, mut at_rim) = (0, false);
        let stretches = &mut self.stretches;
        flood_into(self.voxels, at, &mut self.seen, |[first, count]| {
            cells += count;
            let (x, y, z) = (first % nx, first / nx % ny, first / nx / ny);
            at_rim |= x == 0 || x + count == nx || y == 0 || y + 1 == ny || z == 0 || z + 1 == nz;
            stretches.push((first, count, number));
        });
        let hollow = !at_rim && winding_number(&self.scene.mesh, self.voxels.lattice.centre(at)) > 0.5;
        self.spaces.push(Space { cells, seeded: false, hollow });
    }

    /// Whether probes are wanted in a space.
    pub fn counts(&self, space: Option<u32>, also_hollow: bool) -> bool {
        let Some(space) = space.and_then(|s| self.spaces.get(s as usize)) else { return false };
        let volume = space.cells as f64 * self.voxels.lattice.step_m.powi(3);
        if self.has_seeds { space.seeded } else { volume >= LEAST_SPACE_M3 && (also_hollow || !space.hollow) }
    }
}

/// How often a mesh goes round a point: 1 inside a closed one that faces outwards, 0 outside, between the two in an open one
/// (Jacobson et al. 2013). The solid angle of a triangle is that of van Oosterom & Strackee 1983. Of vertices out of range it knows nothing.
pub(super) fn winding_number(mesh: &TriMesh, p: Vec3) -> f64 {
    let angle = |t: &[u32; 3]| {
        let corner = |k: usize| mesh.positions.get(t[k] as usize).map(|&q| q - p);
        let (Some(a), Some(b), Some(c)) = (corner(0), corner(1), corner(2)) else { return 0.0 };
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let triple = a.dot(b.cross(c));
        let angle = 2.0 * triple.atan2(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
        if angle.is_finite() { angle } else { 0.0 }
    };
    // In chunks of fixed size, so that the sum does not depend on the number of threads.
    let sums: Vec<f64> = mesh.triangles.par_chunks(1 << 14).map(|chunk| chunk.iter().map(angle).sum()).collect();
    sums.iter().sum::<f64>() / (4.0 * std::f64::consts::PI)
}
