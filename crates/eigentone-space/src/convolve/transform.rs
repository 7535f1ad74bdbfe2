//! Transforms of real blocks that can be done in parts.
//!
//! Two blocks of B samples have a product of less than 2B samples: nothing is lost if it is computed modulo z^{2B} + 1. For real numbers that is the same as
//! modulo z^B − i, where z^B stands for i: the first half of the product is then found in the real parts and the second in the imaginary ones. And
//!
//!   z^B − i = Π_r (z^M − c_r),  M = B/R,  c_r = e^{i(π/2 + 2πr)/R},
//!
//! so that a block can be transformed, multiplied and transformed back modulo each factor on its own, in R parts of equal work without anything that concerns the
//! whole. Folding a block into part r is u_r[n] = Σ_q x[n + qM]·c_r^q, unfolding u[n + qM] = (1/R)·Σ_r u_r[n]·c_r^{−q}; between these a rotation by
//! c_r^{n/M} turns z^M − c_r into z^M − 1, which is what an ordinary FFT of M complex numbers is for. With R = 1 this costs what the usual real FFT of
//! 2B samples does, and there is no odd bin at the end.

use super::Pending;
use rustfft::num_complex::Complex32;
use rustfft::{Fft, FftPlanner};
use std::sync::Arc;

/// Bins that are computed together; divides the size of every part.
pub const TILE: usize = 64;

/// Some bins of a spectrum, split for vector instructions.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// Real parts.
    pub re: [f32; TILE],
    /// Imaginary parts.
    pub im: [f32; TILE],
}

impl Tile {
    /// No sound.
    pub const SILENT: Self = Self { re: [0.0; TILE], im: [0.0; TILE] };

    /// Adds x·h for two filters.
    #[inline]
    pub fn accumulate(sums: [&mut Self; 2], x: &Self, filters: &[Self; 2]) {
        for (sum, h) in sums.into_iter().zip(filters) {
            for k in 0..TILE {
                sum.re[k] += x.re[k] * h.re[k] - x.im[k] * h.im[k];
                sum.im[k] += x.re[k] * h.im[k] + x.im[k] * h.re[k];
            }
        }
    }
}

/// One factor z^M − c.
struct Part {
    /// c^q for all folds q.
    folds: Vec<Complex32>,
    /// c^{n/M}.
    rotation: Vec<Complex32>,
}

/// Transforms of blocks of one size, with their scratch memory.
pub struct Transform {
    size: usize,
    parts: Vec<Part>,
    forward: Arc<dyn Fft<f32>>,
    inverse: Arc<dyn Fft<f32>>,
    buffer: Vec<Complex32>,
    scratch: Vec<Complex32>,
}

impl Transform {
    /// Plans transforms of `size` samples in `parts` parts. Both must be powers of two, a part not smaller than a [`TILE`].
    pub fn new(size: usize, parts: usize) -> Self {
        let part_size = size / parts;
        let mut planner = FftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(part_size), planner.plan_fft_inverse(part_size));
        let scratch = forward.get_inplace_scratch_len().max(inverse.get_inplace_scratch_len());
        let part = |r: usize| {
            let angle = std::f64::consts::TAU * (0.25 + r as f64) / parts as f64;
            let turn = |by: f64| Complex32::new((angle * by).cos() as f32, (angle * by).sin() as f32);
            Part {
                folds: (0..parts).map(|q| turn(q as f64)).collect(),
                rotation: (0..part_size).map(|n| turn(n as f64 / part_size as f64)).collect(),
            }
        };
        Self {
            size,
            parts: (0..parts).map(part).collect(),
            forward,
            inverse,
            buffer: vec![Complex32::default(); part_size],
            scratch: vec![Complex32::default(); scratch],
        }
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Tiles of the spectrum of one part.
    pub fn tiles(&self) -> usize {
        self.buffer.len() / TILE
    }

    /// What a product has to be divided by after the way there and back.
    pub fn scale(&self) -> f32 {
        self.size as f32
    }

    /// Transforms one part of a block.
    pub fn forward(&mut self, part: usize, block: &[f32], spectrum: &mut [Tile]) {
        let Part { folds, rotation } = &self.parts[part];
        self.buffer.fill(Complex32::default());
        for (samples, fold) in block.chunks_exact(self.buffer.len()).zip(folds) {
            self.buffer.iter_mut().zip(samples).for_each(|(sum, x)| *sum += fold * x);
        }
        self.buffer.iter_mut().zip(rotation).for_each(|(x, turn)| *x *= turn);
        self.forward.process_with_scratch(&mut self.buffer, &mut self.scratch);
        for (tile, bins) in spectrum.iter_mut().zip(self.buffer.chunks_exact(TILE)) {
            for (k, bin) in bins.iter().enumerate() {
                tile.re[k] = bin.re;
                tile.im[k] = bin.im;
            }
        }
    }

    /// Transforms one part of a product back and adds its share of the 2·B samples from `first` on to what is heard.
    pub fn inverse(&mut self, part: usize, spectrum: &[Tile], channel: usize, first: u64, heard: &mut Pending) {
        for (tile, bins) in spectrum.iter().zip(self.buffer.chunks_exact_mut(TILE)) {
            for (k, bin) in bins.iter_mut().enumerate() {
                *bin = Complex32::new(tile.re[k], tile.im[k]);
            }
        }
        self.inverse.process_with_scratch(&mut self.buffer, &mut self.scratch);
        let Part { folds, rotation } = &self.parts[part];
        self.buffer.iter_mut().zip(rotation).for_each(|(x, turn)| *x *= turn.conj());
        for (q, fold) in folds.iter().enumerate() {
            let first = first + (q * self.buffer.len()) as u64;
            let turned = self.buffer.iter().map(|x| (x.re * fold.re + x.im * fold.im, x.im * fold.re - x.re * fold.im));
            heard.add(channel, first, turned.clone().map(|y| y.0));
            heard.add(channel, first + self.size as u64, turned.map(|y| y.1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;

    /// Products of random blocks against their definition, in any number of parts.
    #[test]
    fn products_are_convolutions() {
        for (size, parts) in [(64, 1), (256, 1), (256, 2), (256, 4), (1024, 16)] {
            let mut noise = Noise::new(9);
            let [x, h]: [Vec<f32>; 2] =
                std::array::from_fn(|_| (0..size).map(|_| noise.bipolar() as f32).collect::<Vec<_>>());
            let mut transform = Transform::new(size, parts);
            let mut heard = Pending::new(4 * size);
            let first = 3 * size as u64 + 17;
            for part in 0..parts {
                let [mut a, mut b, mut product] = [(); 3].map(|()| vec![Tile::SILENT; transform.tiles()]);
                transform.forward(part, &x, &mut a);
                transform.forward(part, &h, &mut b);
                for ((sum, a), b) in product.iter_mut().zip(&a).zip(&b) {
                    Tile::accumulate([sum, &mut Tile::SILENT.clone()], a, &[*b, Tile::SILENT]);
                }
                transform.inverse(part, &product, 0, first, &mut heard);
            }
            for n in 0..2 * size {
                let terms = (n + 1).saturating_sub(size)..(n + 1).min(size);
                let expected: f64 = terms.map(|k| f64::from(x[k]) * f64::from(h[n - k])).sum();
                let found = heard.channels[0][(first as usize + n) % (4 * size)] / transform.scale();
                assert!((f64::from(found) - expected).abs() < 1e-4, "{size} {parts} {n}: {found} {expected}");
            }
        }
    }
}
