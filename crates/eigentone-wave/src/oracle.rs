//! The wave equation by the plainest scheme there is: second-order differences over seven points. Slow, and obviously right: what the
//! [solver](crate::solver) is measured against.
//!
//! It runs on the same cells, each cut into `refine³`: dispersion falls with the square of the cells per wavelength, and ten are needed for what the solver does
//! with two and two thirds.

use crate::solver::domain::{AIR, Domain, SOLID, SPONGE_RATE};

/// Cells that a wave travels in a step; the scheme is stable up to 1/√3.
pub const COURANT: f64 = 0.57;

/// A simulation.
pub struct Oracle {
    /// Cells along x, y and z, with a layer of solid around.
    size: [usize; 3],
    refine: usize,
    coarse: [usize; 3],
    cell_m: f64,
    now: Vec<f32>,
    old: Vec<f32>,
    /// For each cell how many neighbours have air, and one if it has air itself: as numbers, so that nothing is decided in the inner loop.
    neighbours: Vec<f32>,
    air: Vec<f32>,
    losses: Vec<Loss>,
    /// Cells of the sponge, with what is left after a step.
    sponge: Vec<(usize, f32)>,
}

/// A cell at walls that absorb.
struct Loss {
    cell: usize,
    /// Half the sum of its faces' admittances, times the Courant number.
    strength: f32,
    /// Its pressure two steps ago.
    before: f32,
}

impl Oracle {
    /// Silence.
    pub fn new(domain: &Domain, refine: usize) -> Self {
        let size = domain.size.map(|n| n * refine + 2);
        let len = size.iter().product();
        let mut oracle = Self {
            size,
            refine,
            coarse: domain.size,
            cell_m: domain.cell_m / refine as f64,
            now: vec![0.0; len],
            old: vec![0.0; len],
            neighbours: vec![0.0; len],
            air: vec![0.0; len],
            losses: Vec::new(),
            sponge: Vec::new(),
        };
        let mut kinds = vec![SOLID; len];
        for (cell, &kind) in domain.cells.iter().enumerate() {
            for fine in oracle.fine_cells(cell) {
                kinds[fine] = kind;
            }
        }
        let strides = oracle.strides();
        for i in (0..len).filter(|&i| kinds[i] != SOLID) {
            let with_air = |stride: &usize| u8::from(kinds[i - stride] != SOLID) + u8::from(kinds[i + stride] != SOLID);
            oracle.neighbours[i] = f32::from(strides.iter().map(with_air).sum::<u8>());
            oracle.air[i] = 1.0;
            if kinds[i] != AIR {
                // The same sponge per metre, in steps of our own.
                let share = (f64::from(kinds[i] - AIR) - 0.5) / domain.sponge as f64;
                let rate = SPONGE_RATE / (domain.sponge * refine) as f64 * share * share;
                oracle.sponge.push((i, (-rate * COURANT).exp() as f32));
            }
        }
        let mut losses = std::collections::BTreeMap::<usize, f32>::new();
        for wall in &domain.walls {
            let axis = usize::from(wall.direction / 2);
            for fine in oracle.fine_cells(wall.cell) {
                let at_wall = if wall.direction % 2 == 0 { fine - strides[axis] } else { fine + strides[axis] };
                if kinds[at_wall] == SOLID {
                    *losses.entry(fine).or_default() += wall.admittance * (0.5 * COURANT) as f32;
                }
            }
        }
        oracle.losses = losses.into_iter().map(|(cell, strength)| Loss { cell, strength, before: 0.0 }).collect();
        oracle
    }

    fn strides(&self) -> [usize; 3] {
        [1, self.size[0], self.size[0] * self.size[1]]
    }

    /// The cells that one of the domain is cut into.
    fn fine_cells(&self, cell: usize) -> impl Iterator<Item = usize> + use<> {
        let ([nx, ny, _], refine, strides) = (self.coarse, self.refine, self.strides());
        let [x, y, z] = [cell % nx, cell / nx % ny, cell / nx / ny].map(|i| i * refine + 1);
        (0..refine.pow(3)).map(move |i| {
            let [a, b, c] = [i % refine, i / refine % refine, i / refine / refine];
            (x + a) + (y + b) * strides[1] + (z + c) * strides[2]
        })
    }

    /// The cells around the middle of one of the domain: one, or eight if it is cut into an even number.
    fn middle(&self, cell: usize) -> Vec<usize> {
        let refine = self.refine;
        // By how much a cell's middle is off, in half cells.
        let central = |i: usize| (2 * i + 1).abs_diff(refine) <= (refine + 1) % 2;
        let cells = self.fine_cells(cell).enumerate();
        cells
            .filter(|(i, _)| [i % refine, i / refine % refine, i / refine / refine].into_iter().all(central))
            .map(|c| c.1)
            .collect()
    }

    /// Time step in s.
    pub fn step_s(&self) -> f64 {
        COURANT * self.cell_m / eigentone_core::SOUND_M_S
    }

    /// The pressure in the middle of a cell of the domain.
    pub fn pressure(&self, cell: usize) -> f64 {
        let cells = self.middle(cell);
        cells.iter().map(|&i| f64::from(self.now[i])).sum::<f64>() / cells.len() as f64
    }

    /// A step, with a source in the middle of a cell of the domain. `strength` is the pressure that it has at 1 m in free field.
    pub fn step(&mut self, source: Option<(usize, f64)>) {
        let courant = (COURANT * COURANT) as f32;
        let [nx, ny, nz] = self.size;
        let [_, row, layer] = self.strides();
        for loss in &mut self.losses {
            loss.before = self.old[loss.cell];
        }
        for z in 1..nz - 1 {
            for y in 1..ny - 1 {
                let first = z * layer + y * row + 1;
                let n = nx - 2;
                let line = |at: usize| &self.now[at..at + n];
                let here = line(first);
                let (left, right) = (line(first - 1), line(first + 1));
                let (front, back) = (line(first - row), line(first + row));
                let (below, above) = (line(first - layer), line(first + layer));
                let (neighbours, air) = (&self.neighbours[first..first + n], &self.air[first..first + n]);
                let old = &mut self.old[first..first + n];
                for i in 0..n {
                    // Solids hold no pressure, so that the sum over all six is that over those with air.
                    let sum = left[i] + right[i] + front[i] + back[i] + below[i] + above[i];
                    old[i] = air[i] * (2.0 * here[i] - old[i] + courant * (sum - neighbours[i] * here[i]));
                }
            }
        }
        std::mem::swap(&mut self.now, &mut self.old);
        if let Some((cell, strength)) = source {
            let cells = self.middle(cell);
            let amount = 4.0 * std::f64::consts::PI * COURANT * COURANT / self.cell_m * strength / cells.len() as f64;
            for i in cells {
                self.now[i] += amount as f32;
            }
        }
        // ∂p/∂n = −(b/c) ∂p/∂t, the derivative over two steps: implicit, and solved for the new pressure.
        for loss in &self.losses {
            let p = &mut self.now[loss.cell];
            *p = (*p + loss.strength * loss.before) / (1.0 + loss.strength);
        }
        for &(i, keeps) in &self.sponge {
            self.now[i] *= keeps;
            self.old[i] *= keeps;
        }
    }
}
