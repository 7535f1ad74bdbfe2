//! A random relief, read off by distance.
//!
//! Each octave is a sequence of random heights, one per cell of `grain/2ⁱ`, hashed from the number of the cell (so that it never repeats) and joined by cubics (Catmull–Rom). At a
//! speed `v` an octave sounds below `v/cell` hertz; octaves that would be above half the sample rate are faded out instead of folded down.

use super::{Motion, cell_seed};
use crate::BLOCK;
use eigentone_core::Noise;
use eigentone_core::texture;

const MAX_OCTAVES: usize = 8;

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
    octaves: [Octave; MAX_OCTAVES],
    used: usize,
    weight: [f32; MAX_OCTAVES],
    repeat: bool,
    seed: u64,
    travelled_m: f64,
    period_s: f32,
}

impl Rough {
    pub fn new(shape: &texture::Rough, seed: u64, start: u64, period_s: f32) -> Self {
        let used = usize::from(shape.octaves).clamp(1, MAX_OCTAVES);
        let mut weight = [0.0; MAX_OCTAVES];
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
        let heard: [f32; MAX_OCTAVES] = std::array::from_fn(|i| {
            let cells_per_sample = motion.fastest() * self.period_s / self.octaves[i].cell_m as f32;
            // Full up to a quarter cell per sample, gone at one: the cubic's own fall does the rest.
            self.weight[i] * ((1.0 - cells_per_sample) / 0.75).clamp(0.0, 1.0)
        });
        let mut places = [0.0; BLOCK];
        for (chunk, first) in out.chunks_mut(BLOCK).zip((0..).step_by(BLOCK)) {
            for (n, place_m) in places.iter_mut().enumerate().take(chunk.len()) {
                self.travelled_m += f64::from(motion.drive(first + n) * self.period_s);
                *place_m = if self.repeat { motion.position(first + n) } else { self.travelled_m };
            }
            chunk.fill(0.0);
            for (i, &heard) in heard.iter().enumerate().take(self.used).filter(|(_, h)| **h > 0.0) {
                self.octaves[i].add(heard, self.seed.wrapping_add(i as u64), &places, chunk);
            }
        }
    }
}

impl Octave {
    /// Adds the heights at some places.
    fn add(&mut self, weight: f32, seed: u64, places_m: &[f64; BLOCK], out: &mut [f32]) {
        let per_m = 1.0 / self.cell_m;
        // Downwards, also below zero; a call of `floor` would cost more than all the rest.
        let cell_of = |place_m: f64| (place_m * per_m) as i64 - i64::from(place_m < 0.0);
        let places_m = &places_m[..out.len()];
        let mut begin = 0;
        while begin < out.len() {
            let cell = cell_of(places_m[begin]);
            let stays = places_m[begin..].iter().take_while(|p| cell_of(**p) == cell).count();
            if self.cell != cell {
                self.cell = cell;
                self.heights = std::array::from_fn(|i| {
                    let at = cell.wrapping_add(i as i64 - 1);
                    3f32.sqrt() * Noise::new(cell_seed(seed, at)).bipolar() as f32
                });
            }
            let [a, b, c, d] = self.heights.map(|h| weight * h);
            let cubic = [b, 0.5 * (c - a), 0.5 * (2.0 * a - 5.0 * b + 4.0 * c - d), 0.5 * (3.0 * (b - c) + d - a)];
            let range = begin..begin + stays;
            for (y, place_m) in out[range.clone()].iter_mut().zip(&places_m[range]) {
                let u = (place_m * per_m - cell as f64) as f32;
                *y += cubic[0] + u * (cubic[1] + u * (cubic[2] + u * cubic[3]));
            }
            begin += stays;
        }
    }
}
