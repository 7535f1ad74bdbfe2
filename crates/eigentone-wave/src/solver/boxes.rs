//! How the air is cut into boxes.
//!
//! From the cells with most air around them on: a box grows from such a cell to all sides as far as the air is free. Long boxes are then split evenly,
//! since the cost of a transform grows with its length. Boxes that are thin are computed directly instead of by modes.

use super::domain::{AIR, Domain, SOLID};

/// Longest side of a box that is computed by modes.
const LONGEST: usize = 128;
/// Shortest side for which modes pay.
const THIN: usize = 4;

/// How a box is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By its modes.
    Modal,
    /// By a stencil.
    Grid,
}

/// A box of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its lowest cell.
    pub origin: [usize; 3],
    /// Cells along x, y and z.
    pub size: [usize; 3],
    /// How it is computed.
    pub kind: Kind,
}

impl Block {
    /// Its number of cells.
    pub fn cells(&self) -> usize {
        self.size.iter().product()
    }

    /// Place of a cell of the domain in the box; `None` outside.
    pub fn index(&self, at: [usize; 3]) -> Option<usize> {
        let mut local = [0; 3];
        for axis in 0..3 {
            local[axis] = at[axis].checked_sub(self.origin[axis]).filter(|&i| i < self.size[axis])?;
        }
        Some((local[2] * self.size[1] + local[1]) * self.size[0] + local[0])
    }
}

/// Boxes that together are all cells with air, each once.
pub fn decompose(domain: &Domain) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (kind, belongs) in
        [(Kind::Modal, (|cell| cell == AIR) as fn(u8) -> bool), (Kind::Grid, |cell| cell != AIR && cell != SOLID)]
    {
        let mut free: Vec<bool> = domain.cells.iter().map(|&c| belongs(c)).collect();
        for seed in by_room(&free, domain.size) {
            if free[seed] {
                let block = grow(domain.at(seed), &mut free, domain, kind);
                split(block, &mut blocks);
            }
        }
    }
    blocks
}

/// Free cells, those with most room above them in all axes first.
fn by_room(free: &[bool], [nx, ny, nz]: [usize; 3]) -> Vec<usize> {
    // Side of the largest free cube of which a cell is the highest corner.
    let mut side = vec![0u8; free.len()];
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let i = (z * ny + y) * nx + x;
                if !free[i] {
                    continue;
                }
                let mut least = if x > 0 && y > 0 && z > 0 { u8::MAX } else { 0 };
                if least > 0 {
                    for back in [1, nx, nx * ny, nx + 1, nx * ny + 1, nx * ny + nx, nx * ny + nx + 1] {
                        least = least.min(side[i - back]);
                    }
                }
                side[i] = least.saturating_add(1);
            }
        }
    }
    let mut counts = [0usize; 257];
    for &s in &side {
        counts[256 - usize::from(s)] += 1;
    }
    let mut starts = [0usize; 257];
    for i in 1..257 {
        starts[i] = starts[i - 1] + counts[i - 1];
    }
    let mut order = vec![0usize; free.len()];
    for (i, &s) in side.iter().enumerate() {
        let slot = &mut starts[256 - usize::from(s)];
        order[*slot] = i;
        *slot += 1;
    }
    let sides = &side;
    order.retain(|&i| sides[i] > 0);
    order
}

/// Grows a box to all sides in turn and takes its cells.
fn grow(seed: [usize; 3], free: &mut [bool], domain: &Domain, kind: Kind) -> Block {
    let (mut low, mut high) = (seed, seed);
    let mut open = [true; 6];
    while open.contains(&true) {
        for (direction, open) in open.iter_mut().enumerate().filter(|(_, open)| **open) {
            let axis = direction / 2;
            let layer = if direction % 2 == 0 { low[axis].checked_sub(1) } else { Some(high[axis] + 1) };
            let (mut from, mut to) = (low, high);
            match layer.filter(|&l| l < domain.size[axis]) {
                Some(layer) => (from[axis], to[axis]) = (layer, layer),
                None => {
                    *open = false;
                    continue;
                }
            }
            if all(from, to, |at| free[domain.index(at)]) {
                if direction % 2 == 0 { low[axis] -= 1 } else { high[axis] += 1 }
            } else {
                *open = false;
            }
        }
    }
    all(low, high, |at| {
        free[domain.index(at)] = false;
        true
    });
    Block { origin: low, size: [0, 1, 2].map(|a| high[a] - low[a] + 1), kind }
}

fn all(from: [usize; 3], to: [usize; 3], mut test: impl FnMut([usize; 3]) -> bool) -> bool {
    for z in from[2]..=to[2] {
        for y in from[1]..=to[1] {
            for x in from[0]..=to[0] {
                if !test([x, y, z]) {
                    return false;
                }
            }
        }
    }
    true
}

/// Cuts a box into parts of nearly equal length.
fn split(block: Block, out: &mut Vec<Block>) {
    let thin = block.size.iter().any(|&n| n < THIN);
    let kind = if thin { Kind::Grid } else { block.kind };
    if kind == Kind::Grid {
        out.push(Block { kind, ..block });
        return;
    }
    let parts = block.size.map(|n| n.div_ceil(LONGEST));
    let edge = |axis: usize, i: usize| block.size[axis] * i / parts[axis];
    for z in 0..parts[2] {
        for y in 0..parts[1] {
            for x in 0..parts[0] {
                let part = [x, y, z];
                let origin = [0, 1, 2].map(|a| block.origin[a] + edge(a, part[a]));
                let size = [0, 1, 2].map(|a| edge(a, part[a] + 1) - edge(a, part[a]));
                out.push(Block { origin, size, kind });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;

    #[test]
    fn every_cell_of_air_is_in_exactly_one_box() {
        let mut noise = Noise::new(3);
        for _ in 0..20 {
            let size = [0; 3].map(|_| 4 + (20.0 * noise.uniform()) as usize);
            let mut domain = Domain::open(size, 1.0);
            for _ in 0..12 {
                let corner = domain.size.map(|n| (n as f64 * noise.uniform()) as usize);
                let extent = [0; 3].map(|_| 1 + (8.0 * noise.uniform()) as usize);
                let top = [0, 1, 2].map(|a| (corner[a] + extent[a]).min(domain.size[a] - 1));
                all(corner, top, |at| {
                    let i = (at[2] * domain.size[1] + at[1]) * domain.size[0] + at[0];
                    domain.cells[i] = SOLID;
                    true
                });
            }
            let mut times = vec![0; domain.cells.len()];
            for block in decompose(&domain) {
                let top = [0, 1, 2].map(|a| block.origin[a] + block.size[a] - 1);
                all(block.origin, top, |at| {
                    times[domain.index(at)] += 1;
                    true
                });
            }
            for (cell, times) in domain.cells.iter().zip(times) {
                assert_eq!(times, i32::from(*cell != SOLID));
            }
        }
    }

    #[test]
    fn a_room_is_one_box_and_a_long_one_is_cut_evenly() {
        let blocks = decompose(&Domain::shoebox([40, 30, 20], 1.0, 0.0));
        assert_eq!(blocks, [Block { origin: [0; 3], size: [40, 30, 20], kind: Kind::Modal }]);
        let sizes: Vec<usize> =
            decompose(&Domain::shoebox([200, 30, 20], 1.0, 0.0)).iter().map(|b| b.size[0]).collect();
        assert_eq!(sizes, [100, 100]);
    }
}
