//! Walls that absorb: `∂p/∂n = −(b/c) ∂p/∂t`, as a correction after each step.
//!
//! The pressure at the wall itself is taken from the cells in front of it by a filter of up to six taps, since a cell's own is half a cell away, and at
//! two and two thirds cells per wavelength that matters.

use super::COURANT;
use super::boxes::Block;
use super::domain::Domain;

/// Cells in front of a wall that say what the pressure at it is.
const TAPS: usize = 6;

/// The faces of a box towards one direction.
pub struct Wall {
    /// Steps from a face's cell to the next one further in.
    inward: isize,
    taps: usize,
    weights: [f32; TAPS],
    /// Sum of the weights' squares.
    squares: f32,
    faces: Vec<Face>,
}

struct Face {
    cell: u32,
    /// `b c Δt/(2Δ)`.
    strength: f32,
    /// Pressure at the wall now and a step ago.
    now: f32,
    before: f32,
    /// What is added to the pressures in front of it, times the taps' weights.
    amount: f32,
}

/// The faces of each box, by direction.
pub fn sort(domain: &Domain, blocks: &[Block]) -> Vec<Vec<Wall>> {
    // Which box a cell is in, for those that have walls.
    let mut of_cell = vec![u32::MAX; domain.cells.len()];
    for (b, block) in blocks.iter().enumerate() {
        let [nx, ny, nz] = block.size;
        for z in 0..nz {
            for y in 0..ny {
                let first = domain.index([block.origin[0], block.origin[1] + y, block.origin[2] + z]);
                of_cell[first..first + nx].fill(b as u32);
            }
        }
    }
    let mut faces: Vec<[Vec<Face>; 6]> = blocks.iter().map(|_| Default::default()).collect();
    for wall in &domain.walls {
        let b = of_cell[wall.cell] as usize;
        let Some(cell) = blocks.get(b).and_then(|block| block.index(domain.at(wall.cell))) else { continue };
        let strength = (f64::from(wall.admittance) * COURANT / 2.0) as f32;
        faces[b][usize::from(wall.direction)].push(Face {
            cell: cell as u32,
            strength,
            now: 0.0,
            before: 0.0,
            amount: 0.0,
        });
    }
    let directions = |(block, faces): (&Block, [Vec<Face>; 6])| {
        let strides = [1, block.size[0] as isize, (block.size[0] * block.size[1]) as isize];
        let walls = faces.into_iter().enumerate().filter(|(_, faces)| !faces.is_empty());
        walls
            .map(|(direction, mut faces)| {
                faces.sort_by_key(|f| f.cell);
                let axis = direction / 2;
                let inward = strides[axis] * if direction % 2 == 0 { 1 } else { -1 };
                Wall::new(inward, block.size[axis], faces)
            })
            .collect()
    };
    blocks.iter().zip(faces).map(directions).collect()
}

impl Wall {
    fn new(inward: isize, depth: usize, faces: Vec<Face>) -> Self {
        let taps = depth.min(TAPS);
        let raw = |k: usize| {
            let (place, sign) = (k as f64 + 0.5, if k.is_multiple_of(2) { 1.0 } else { -1.0 });
            let window = (std::f64::consts::PI * place / (2 * taps) as f64).cos().powi(2);
            sign / (2 * k + 1) as f64 * window
        };
        let sum: f64 = (0..taps).map(raw).sum();
        let mut weights = [0.0; TAPS];
        for (k, weight) in weights[..taps].iter_mut().enumerate() {
            *weight = (raw(k) / sum) as f32;
        }
        Self { inward, taps, weights, squares: weights.iter().map(|w| w * w).sum(), faces }
    }

    /// What each face takes, from the pressures as they are.
    fn weigh(&mut self, pressure: &[f32]) {
        let (weights, inward, squares) = (&self.weights[..self.taps], self.inward, self.squares);
        for face in &mut self.faces {
            let free = face.hear(pressure, weights, inward);
            let damping = face.strength * squares;
            let after = (free + damping * face.before) / (1.0 + damping);
            face.amount = -face.strength * (after - face.before);
        }
    }

    /// Takes it.
    fn take(&self, pressure: &mut [f32]) {
        for face in &self.faces {
            for (k, weight) in self.weights[..self.taps].iter().enumerate() {
                pressure[face.tap(k, self.inward)] += face.amount * weight;
            }
        }
    }

    /// Remembers the pressure at each face.
    fn remember(&mut self, pressure: &[f32]) {
        let (weights, inward) = (&self.weights[..self.taps], self.inward);
        for face in &mut self.faces {
            (face.before, face.now) = (face.now, face.hear(pressure, weights, inward));
        }
    }
}

impl Face {
    #[inline(always)]
    fn tap(&self, k: usize, inward: isize) -> usize {
        (self.cell as usize).wrapping_add_signed(inward * k as isize)
    }

    /// The pressure at the face.
    #[inline(always)]
    fn hear(&self, pressure: &[f32], weights: &[f32], inward: isize) -> f32 {
        weights.iter().enumerate().map(|(k, w)| w * pressure[self.tap(k, inward)]).sum()
    }
}

/// Takes from the pressures what all walls of a box absorb, and adds that change to `change`. All of them at once: if one came after the other, corners
/// would not be reciprocal.
pub fn absorb(walls: &mut [Wall], pressure: &mut [f32], change: Option<&mut [f32]>) {
    walls.iter_mut().for_each(|wall| wall.weigh(pressure));
    walls.iter().for_each(|wall| wall.take(pressure));
    if let Some(change) = change {
        walls.iter().for_each(|wall| wall.take(change));
    }
    walls.iter_mut().for_each(|wall| wall.remember(pressure));
}
