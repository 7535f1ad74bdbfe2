//! What is simulated.

/// A cell without air.
pub const SOLID: u8 = 0;
/// A cell of air.
pub const AIR: u8 = 1;

/// Cells of a sponge that lets at most a fiftieth back above an eighth of the highest frequency, if its far side is a wall with the admittance of air.
pub const SPONGE_CELLS: usize = 20;

/// How fast a sponge absorbs at its far side, in passages through all of it: the rate is this times `c` over its thickness. Worse are 10 and a rigid far
/// side, which lets three times as much back at the lowest.
pub const SPONGE_RATE: f64 = 6.0;

/// Cells, with what is around them.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Cells along x, y and z.
    pub size: [usize; 3],
    /// Side of a cell in m.
    pub cell_m: f64,
    /// [`SOLID`], [`AIR`], or one more than the depth in the sponge, 1 to `sponge`; x fastest, then y, then z.
    pub cells: Vec<u8>,
    /// Cells that the sponge at the rim is thick, up to 254.
    pub sponge: usize,
    /// Faces of air cells that absorb. Others towards solids and the rim are rigid.
    pub walls: Vec<WallFace>,
}

/// A face of an air cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallFace {
    /// The cell: `x + nx (y + ny z)`.
    pub cell: usize,
    /// Towards −x, +x, −y, +y, −z, +z.
    pub direction: u8,
    /// Of the wall, relative to that of air.
    pub admittance: f32,
}

impl Domain {
    /// A box of air with the same admittance on all sides.
    pub fn shoebox(size: [usize; 3], cell_m: f64, admittance: f32) -> Self {
        let cells = vec![AIR; size.iter().product()];
        let mut domain = Self { size, cell_m, cells, sponge: SPONGE_CELLS, walls: Vec::new() };
        domain.line_with(|_, _| admittance);
        domain
    }

    /// A box of air, and around it a sponge.
    pub fn open(size: [usize; 3], cell_m: f64) -> Self {
        let full = size.map(|n| n + 2 * SPONGE_CELLS);
        let mut cells = vec![AIR; full.iter().product()];
        for (i, cell) in cells.iter_mut().enumerate() {
            let at = [i % full[0], i / full[0] % full[1], i / full[0] / full[1]];
            let outside =
                |a: usize| SPONGE_CELLS.saturating_sub(at[a]).max((at[a] + 1).saturating_sub(full[a] - SPONGE_CELLS));
            let depth = (0..3).map(outside).max().unwrap_or(0);
            *cell = AIR + depth as u8;
        }
        let mut domain = Self { size: full, cell_m, cells, sponge: SPONGE_CELLS, walls: Vec::new() };
        domain.line_with(|_, _| 1.0);
        domain
    }

    /// Place of a cell.
    pub fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.size[1] + y) * self.size[0] + x
    }

    /// Coordinates of a cell.
    pub fn at(&self, cell: usize) -> [usize; 3] {
        let [nx, ny, _] = self.size;
        [cell % nx, cell / nx % ny, cell / nx / ny]
    }

    /// The next cell in a direction; `None` at the rim.
    pub fn neighbour(&self, cell: usize, direction: u8) -> Option<usize> {
        let axis = usize::from(direction / 2);
        let mut at = self.at(cell);
        if direction.is_multiple_of(2) {
            at[axis] = at[axis].checked_sub(1)?;
        } else {
            at[axis] += 1;
            if at[axis] == self.size[axis] {
                return None;
            }
        }
        Some(self.index(at))
    }

    /// Without the layers at its sides that have no air, and how many went at the low ends. Faces must be told anew.
    pub fn cropped(&self) -> (Self, [usize; 3]) {
        let (mut low, mut high) = (self.size, [0; 3]);
        for (cell, _) in self.cells.iter().enumerate().filter(|(_, kind)| **kind != SOLID) {
            let at = self.at(cell);
            for axis in 0..3 {
                low[axis] = low[axis].min(at[axis]);
                high[axis] = high[axis].max(at[axis] + 1);
            }
        }
        let size = [0, 1, 2].map(|a| high[a].saturating_sub(low[a]));
        let mut cells = Vec::with_capacity(size.iter().product());
        for z in low[2]..high[2] {
            for y in low[1]..high[1] {
                let first = self.index([low[0], y, z]);
                cells.extend_from_slice(&self.cells[first..first + size[0]]);
            }
        }
        (Self { size, cells, walls: Vec::new(), ..*self }, low)
    }

    /// Gives every face between air and something else the admittance that `of` says for the cell and the direction; at the rim of the domain as well.
    pub fn line_with(&mut self, of: impl Fn(usize, u8) -> f32) {
        self.walls.clear();
        for cell in (0..self.cells.len()).filter(|&c| self.cells[c] != SOLID) {
            for direction in 0..6 {
                let open = self.neighbour(cell, direction).is_some_and(|n| self.cells[n] != SOLID);
                if !open {
                    let admittance = of(cell, direction);
                    if admittance > 0.0 {
                        self.walls.push(WallFace { cell, direction, admittance });
                    }
                }
            }
        }
    }
}
