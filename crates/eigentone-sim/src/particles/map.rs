//! The impact map: one frame's impacts as a picture per collider (van den Doel, Knott & Pai 2004).

use super::settings::require;
use super::{Impact, ParticleError};

/// A map with more cells than this is refused.
pub const MAX_CELLS: usize = 1 << 26;

/// The three channels of a cell that was struck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Which collider.
    pub collider: u32,
    /// When, in s after the beginning of the frame.
    pub offset_s: f32,
    /// Energy of the impact.
    pub energy_j: f32,
}

/// Width × height cells over the `(u, v)` space of every collider. Of two impacts in a cell during a frame the stronger is kept.
///
/// ```
/// use eigentone_sim::particles::ImpactMap;
///
/// let map = ImpactMap::new(2, 64, 32)?.with_totals();
/// assert_eq!(map.cells(1).len(), 64 * 32);
/// # Ok::<(), eigentone_sim::particles::ParticleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ImpactMap {
    width: usize,
    height: usize,
    frame_s: f64,
    cells: Vec<Option<Cell>>,
    totals_j: Vec<f64>,
}

impl ImpactMap {
    /// An empty map for this many colliders.
    pub fn new(colliders: usize, width: usize, height: usize) -> Result<Self, ParticleError> {
        let cells = colliders.saturating_mul(width).saturating_mul(height);
        require("number of cells", cells as f64, (1..=MAX_CELLS).contains(&cells), "1 to 67,108,864")?;
        Ok(Self { width, height, frame_s: 0.0, cells: vec![None; cells], totals_j: Vec::new() })
    }

    /// The same map that also adds up the energy of all impacts in a cell, over all frames.
    pub fn with_totals(mut self) -> Self {
        self.totals_j = vec![0.0; self.cells.len()];
        self
    }

    /// Forgets the impacts and begins a frame at this time; totals stay.
    pub fn clear(&mut self, frame_s: f64) {
        self.cells.fill(None);
        self.frame_s = frame_s;
    }

    /// Sets the totals to zero.
    pub fn clear_totals(&mut self) {
        self.totals_j.fill(0.0);
    }

    /// Enters an impact. One with a collider that the map does not have is left out.
    pub fn record(&mut self, impact: &Impact) {
        let place = |x: f64, count: usize| ((x * count as f64) as usize).min(count - 1);
        let (x, y) = (place(impact.uv[0], self.width), place(impact.uv[1], self.height));
        let Some(index) = self.index(impact.collider as usize, x, y) else { return };
        let cell = Cell {
            collider: impact.collider,
            offset_s: (impact.time_s - self.frame_s) as f32,
            energy_j: impact.energy_j as f32,
        };
        if self.cells[index].is_none_or(|old| cell.energy_j > old.energy_j) {
            self.cells[index] = Some(cell);
        }
        if let Some(total) = self.totals_j.get_mut(index) {
            *total += impact.energy_j;
        }
    }

    /// Cells in `u`.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Cells in `v`.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The strongest impact of this frame in a cell; `None` if there was none, or no such cell.
    pub fn cell(&self, collider: usize, x: usize, y: usize) -> Option<Cell> {
        self.index(collider, x, y).and_then(|index| self.cells[index])
    }

    /// All cells of a collider, row by row with growing `v`; empty if the map does not have it.
    pub fn cells(&self, collider: usize) -> &[Option<Cell>] {
        slice(&self.cells, collider, self.width * self.height)
    }

    /// Energy totals of a collider in the same order, in J; empty without [`with_totals`](Self::with_totals).
    pub fn totals_j(&self, collider: usize) -> &[f64] {
        slice(&self.totals_j, collider, self.width * self.height)
    }

    fn index(&self, collider: usize, x: usize, y: usize) -> Option<usize> {
        let index = (collider * self.height + y) * self.width + x;
        (x < self.width && y < self.height && index < self.cells.len()).then_some(index)
    }
}

fn slice<T>(all: &[T], collider: usize, size: usize) -> &[T] {
    all.chunks_exact(size).nth(collider).unwrap_or_default()
}
