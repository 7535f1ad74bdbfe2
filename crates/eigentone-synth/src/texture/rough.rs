//! A random relief, read off by distance.
//!
//! Each octave is a sequence of random heights, one per cell of `grain/2ⁱ`, hashed from the number of the cell (so that it never repeats) and joined by cubics (Catmull–Rom). At a
//! speed `v` an octave sounds below `v/cell` hertz; octaves that would be above half the sample rate are faded out instead of folded down.

use super::{Motion, cell_seed};
use eigentone_core::Noise;
use eigentone_core::texture;

const MOST_OCTAVES: usize = 8;

/// Variance of cubically joined independent heights of unit variance, averaged over a cell: `∫Σw² du` of the four Catmull–Rom weights.
const JOINED_VARIANCE: f32 = 57.0 / 70.0;

#[derive(Clone, Copy, Debug)]
struct Octave {
    cell_m: f64,
    cell: i64,
    heights: [f32; 4],
}

#[derive(Clone, Debug)]
pub(super) struct Rough {
    octaves: [Octave; MOST_OCTAVES],
    used: usize,
    weight: [f32; MOST_OCTAVES],
    repeat: bool,
    seed: u64,
    travelled_m: f64,
    period_s: f32,
}

impl Rough {
    pub fn new(shape: &texture::Rough, seed: u64, start: u64, period_s: f32) -> Self {
        let used = usize::from(shape.octaves).clamp(1, MOST_OCTAVES);
        let mut weight = [0.0; MOST_OCTAVES];
        (0..used).for_each(|i| weight[i] = shape.persistence.powi(i as i32));
        let norm = (JOINED_VARIANCE * weight.iter().map(|w| w * w).sum::<f32>()).sqrt();
        Self {
            octaves: std::array::from_fn(|i| Octave {
                cell_m: f64::from(shape.grain_m) / f64::from(1 << i),
                cell: i64::MIN,
                heights: [0.0; 4],
            }),
            used,
            weight: weight.map(|w| w / norm),
            repeat: shape.repeat,
            seed,
            // Where on the surface a contact begins.
            travelled_m: Noise::new(start).uniform() * 1000.0,
            period_s,
        }
    }

    pub fn fill(&mut self, motion: &Motion, out: &mut [f32]) {
        let heard: [f32; MOST_OCTAVES] = std::array::from_fn(|i| {
            let cells_per_sample = motion.fastest() * self.period_s / self.octaves[i].cell_m as f32;
            // Full up to a quarter cell per sample, gone at one: the cubic's own fall does the rest.
            self.weight[i] * ((1.0 - cells_per_sample) / 0.75).clamp(0.0, 1.0)
        });
        for (n, y) in out.iter_mut().enumerate() {
            self.travelled_m += f64::from(motion.drive(n) * self.period_s);
            let place_m = if self.repeat { motion.position(n) } else { self.travelled_m };
            *y = (0..self.used).filter(|&i| heard[i] > 0.0).map(|i| heard[i] * self.height(i, place_m)).sum();
        }
    }

    fn height(&mut self, octave: usize, place_m: f64) -> f32 {
        let o = &mut self.octaves[octave];
        let cells = place_m / o.cell_m;
        let cell = cells.floor();
        if o.cell != cell as i64 {
            o.cell = cell as i64;
            let seed = self.seed.wrapping_add(octave as u64);
            o.heights = std::array::from_fn(|i| {
                let at = o.cell.wrapping_add(i as i64 - 1);
                3f32.sqrt() * Noise::new(cell_seed(seed, at)).bipolar() as f32
            });
        }
        let (u, [a, b, c, d]) = ((cells - cell) as f32, o.heights);
        b + 0.5 * u * ((c - a) + u * ((2.0 * a - 5.0 * b + 4.0 * c - d) + u * (3.0 * (b - c) + d - a)))
    }
}
