//! Where the modes of a body lie for the ear: as its model says, or, while it is tuned otherwise, where they are now.
//!
//! A body whose frequencies are multiplied, that is strained or glides, masks and is masked at the frequencies that are heard. Places on the Bark scale and thresholds of hearing
//! are computed anew when the tuning has moved by half a per cent, a thirtieth of a critical band.

use super::modulation::Modulation;
use crate::policy::hearing;
use crate::policy::masking::{self, CELLS, CELLS_PER_BARK};
use crate::table::ModeTable;
use std::sync::LazyLock;

/// Changes of tuning that move no mode noticeably along the Bark scale, as a share of the frequency.
const SAME: f32 = 0.005;

/// Threshold of hearing at the edges of the masking curve's cells, in dB SPL.
static THRESHOLDS_DB: LazyLock<[f32; CELLS + 1]> = LazyLock::new(|| {
    std::array::from_fn(|edge| {
        let bark = edge as f64 / f64::from(CELLS_PER_BARK);
        // The scale rises with frequency: halving finds its inverse.
        let (mut low_hz, mut high_hz) = (1.0, 1e6);
        for _ in 0..60 {
            let middle_hz = 0.5 * (low_hz + high_hz);
            if hearing::bark(middle_hz) < bark {
                low_hz = middle_hz;
            } else {
                high_hz = middle_hz;
            }
        }
        hearing::threshold_db(low_hz) as f32
    })
});

/// Bark rates, thresholds and cells of a body's modes.
#[derive(Debug)]
pub(super) struct Tones {
    bark: Vec<f32>,
    threshold: Vec<f32>,
    cell: Vec<u16>,
    share: Vec<f32>,
    /// The tuning they were computed for; `None` while the table's own hold.
    tuned: Option<[f32; 2]>,
}

/// The same, of the table or of the present tuning.
#[derive(Clone, Copy)]
pub(super) struct Heard<'a> {
    pub bark: &'a [f32],
    pub threshold: &'a [f32],
    pub cell: &'a [u16],
    pub share: &'a [f32],
}

impl Tones {
    /// For a body of so many modes, in tune. Called on the control side: it also makes the table of thresholds.
    pub fn new(modes: usize) -> Self {
        LazyLock::force(&THRESHOLDS_DB);
        let blank = || vec![0.0; modes];
        Self { bark: blank(), threshold: blank(), cell: vec![0; modes], share: blank(), tuned: None }
    }

    /// Follows the tuning.
    pub fn follow(&mut self, table: &ModeTable, modulation: &Modulation) {
        let now = modulation.tuning();
        let near = |other: [f32; 2]| (now[0] / other[0] - 1.0).abs() < SAME && (now[1] - other[1]).abs() < SAME;
        if self.tuned.map_or(near([1.0, 0.0]), near) {
            return;
        }
        if near([1.0, 0.0]) {
            self.tuned = None;
            return;
        }
        self.tuned = Some(now);
        for k in 0..table.len {
            let bark = hearing::bark(f64::from(table.frequency_hz[k] * modulation.factor(k))) as f32;
            let (cell, share) = masking::cell(bark);
            let [low, high] = [0, 1].map(|edge| THRESHOLDS_DB[usize::from(cell) + edge]);
            (self.bark[k], self.cell[k], self.share[k]) = (bark, cell, share);
            self.threshold[k] = low + share * (high - low);
        }
    }

    /// What holds now.
    pub fn now<'a>(&'a self, table: &'a ModeTable) -> Heard<'a> {
        if self.tuned.is_some() {
            Heard { bark: &self.bark, threshold: &self.threshold, cell: &self.cell, share: &self.share }
        } else {
            Heard { bark: &table.bark, threshold: &table.threshold, cell: &table.cell, share: &table.share }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between the edges of cells the threshold is that of the formula, where hearing is fine.
    #[test]
    fn thresholds_by_cell_are_those_of_the_formula() {
        let mut hz: f64 = 40.0;
        while hz < 15_000.0 {
            let (cell, share) = masking::cell(hearing::bark(hz) as f32);
            let [low, high] = [0, 1].map(|edge| THRESHOLDS_DB[usize::from(cell) + edge]);
            let error = f64::from(low + share * (high - low)) - hearing::threshold_db(hz);
            assert!(error.abs() < 0.3, "{hz} Hz: {error} dB");
            hz *= 1.03;
        }
    }
}
