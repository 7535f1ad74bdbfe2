//! Boxes that are computed by the sixth-order stencil itself: thin ones, and the sponge at the rim.

use super::COURANT;
use super::boxes::Block;
use super::domain::{AIR, Domain, SPONGE_RATE};
use crate::kernel::stencil;

/// A box's state beside its pressures.
pub struct Grid {
    size: [usize; 3],
    /// Pressures a step ago.
    old: Vec<f32>,
    /// What is left of the pressure in each cell of a sponge after a step.
    sponge: Option<Vec<f32>>,
    /// A row with its mirror images.
    row: Vec<f32>,
}

impl Grid {
    pub fn new(block: &Block, domain: &Domain) -> Self {
        let [nx, ny, nz] = block.size;
        let mut sponge = Vec::with_capacity(block.cells());
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let at = [block.origin[0] + x, block.origin[1] + y, block.origin[2] + z];
                    let depth = domain.cells[domain.index(at)].saturating_sub(AIR);
                    sponge.push(sponge_keeps(usize::from(depth), domain.sponge));
                }
            }
        }
        let dry = sponge.iter().all(|&keeps| keeps == 1.0);
        Self {
            size: block.size,
            old: vec![0.0; block.cells()],
            sponge: (!dry).then_some(sponge),
            row: vec![0.0; nx + 6],
        }
    }

    /// A step with mirrors at all sides; interfaces are in the force.
    pub fn advance(&mut self, force: &[f32], pressure: &mut Vec<f32>) {
        let [nx, ny, nz] = self.size;
        let scale = (COURANT * COURANT) as f32;
        let Self { old, row, .. } = self;
        for z in 0..nz {
            for y in 0..ny {
                let line = |y: usize, z: usize| &pressure[(z * ny + y) * nx..][..nx];
                let here = line(y, z);
                row[3..nx + 3].copy_from_slice(here);
                for outside in 0..3 {
                    row[outside] = here[reflect(outside as isize - 3, nx)];
                    row[nx + 3 + outside] = here[reflect((nx + outside) as isize, nx)];
                }
                let above: [[&[f32]; 2]; 3] = std::array::from_fn(|m| {
                    let m = m as isize + 1;
                    [line(reflect(y as isize - m, ny), z), line(reflect(y as isize + m, ny), z)]
                });
                let beyond: [[&[f32]; 2]; 3] = std::array::from_fn(|m| {
                    let m = m as isize + 1;
                    [line(y, reflect(z as isize - m, nz)), line(y, reflect(z as isize + m, nz))]
                });
                let start = (z * ny + y) * nx;
                let (old, force) = (&mut old[start..start + nx], &force[start..start + nx]);
                stencil::row(&stencil::Row { here, row, above, beyond, force, scale }, old);
            }
        }
        std::mem::swap(old, pressure);
    }

    /// What a sponge takes: from both time levels, so that nothing is reflected by the change.
    pub fn damp(&mut self, pressure: &mut [f32]) {
        if let Some(sponge) = &self.sponge {
            for ((now, old), keeps) in pressure.iter_mut().zip(&mut self.old).zip(sponge) {
                *now *= keeps;
                *old *= keeps;
            }
        }
    }
}

/// What is left after a step at a depth, from 1.
fn sponge_keeps(depth: usize, sponge: usize) -> f32 {
    if depth == 0 {
        return 1.0;
    }
    let cells = sponge as f64;
    let share = (depth as f64 - 0.5) / cells;
    (-SPONGE_RATE / cells * share * share * COURANT).exp() as f32
}

/// The cell in whose place a mirror shows one outside of `n`.
fn reflect(at: isize, n: usize) -> usize {
    let at = at.rem_euclid(2 * n as isize) as usize;
    if at < n { at } else { 2 * n - 1 - at }
}
