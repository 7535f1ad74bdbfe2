//! Boxes that are computed by the sixth-order stencil itself: thin ones, and the sponge at the rim.

use super::COURANT;
use super::boxes::Block;
use super::domain::{AIR, Domain};

/// The second derivative: weights of a cell and of its neighbours one, two and three cells away.
const STENCIL: [f32; 4] = [-490.0 / 180.0, 270.0 / 180.0, -27.0 / 180.0, 2.0 / 180.0];

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
                for (x, cell) in row.iter_mut().enumerate() {
                    *cell = here[reflect(x as isize - 3, nx)];
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
                for x in 0..nx {
                    let mut sum = 3.0 * STENCIL[0] * here[x];
                    for m in 0..3 {
                        let sides = row[x + 2 - m] + row[x + 4 + m];
                        let others = above[m][0][x] + above[m][1][x] + beyond[m][0][x] + beyond[m][1][x];
                        sum += STENCIL[m + 1] * (sides + others);
                    }
                    old[x] = 2.0 * here[x] - old[x] + scale * sum + force[x];
                }
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

/// What is left after a step at a depth, from 1; REFERENCE D.3.
fn sponge_keeps(depth: usize, sponge: usize) -> f32 {
    if depth == 0 {
        return 1.0;
    }
    let cells = sponge as f64;
    let share = (depth as f64 - 0.5) / cells;
    (-10.0 / cells * share * share * COURANT).exp() as f32
}

/// The cell in whose place a mirror shows one outside of `n`.
fn reflect(at: isize, n: usize) -> usize {
    let at = at.rem_euclid(2 * n as isize) as usize;
    if at < n { at } else { 2 * n - 1 - at }
}
