//! Bumps (Menzies 2011, §6.2.2).
//!
//! Free bumps come from two Poisson processes: after a bump of length `Exp(mark)` a gap of length `Exp(space)`. Repeatable ones sit one to a cell of length `L = mark + space`, whose
//! number seeds the bump: width `L u^{space/mark}`, which never fills more than the cell and whose mean is `mark`, since `E[uᵃ] = 1/(1 + a)`. Both give the mean of the
//! relief over the way of one sample, and then over two of these: edges are ramps of two samples at any speed.

use super::{Motion, cell_seed};
use eigentone_core::Noise;
use eigentone_core::texture::{self, Height};

/// Most bumps and gaps that one sample may pass, to bound the work: enough for 28 m/s over the finest surface there can be, at 44.1 kHz.
const MAX_PER_SAMPLE: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Bumps {
    shape: texture::Bumps,
    seed: u64,
    noise: Noise,
    /// Height of what is being passed, and how much of it is left.
    height: f32,
    left_m: f32,
    /// Where a repeatable surface is being read.
    place_m: f64,
    /// The cell that was read last, and its bump.
    cell: i64,
    bump: Bump,
    last: f32,
    period_s: f32,
}

/// A bump in a cell: from where to where, in metres from its beginning.
#[derive(Clone, Copy, Debug)]
struct Bump {
    begin_m: f64,
    end_m: f64,
    height: f32,
}

impl Bumps {
    pub fn new(shape: texture::Bumps, seed: u64, start: u64, period_s: f32) -> Self {
        let bump = Bump { begin_m: 0.0, end_m: 0.0, height: 0.0 };
        Self {
            shape,
            seed,
            noise: Noise::new(start),
            height: 0.0,
            left_m: 0.0,
            place_m: f64::NAN,
            cell: i64::MIN,
            bump,
            last: 0.0,
            period_s,
        }
    }

    pub fn fill(&mut self, motion: &Motion, out: &mut [f32]) {
        for (n, y) in out.iter_mut().enumerate() {
            let mean = if self.shape.repeat {
                let place_m = motion.position(n);
                let from_m = if self.place_m.is_nan() { place_m } else { self.place_m };
                self.place_m = place_m;
                self.mean_between(from_m.min(place_m), from_m.max(place_m))
            } else {
                self.mean_over(motion.drive(n) * self.period_s)
            };
            *y = 0.5 * (mean + self.last);
            self.last = mean;
        }
    }

    /// The mean height over the next way.
    fn mean_over(&mut self, way_m: f32) -> f32 {
        if way_m <= 0.0 {
            return self.height;
        }
        let (mut ahead_m, mut sum) = (way_m, 0.0);
        for _ in 0..MAX_PER_SAMPLE {
            if self.left_m > ahead_m {
                break;
            }
            sum += self.height * self.left_m;
            ahead_m -= self.left_m;
            self.next_stretch();
        }
        self.left_m -= ahead_m;
        (sum + self.height * ahead_m) / way_m
    }

    fn next_stretch(&mut self) {
        let exponential = -(1.0 - self.noise.uniform()).ln() as f32;
        if self.height == 0.0 {
            self.left_m = exponential * self.shape.mark_m;
            // Never quite zero: that would be a gap.
            self.height = height(self.shape.height, exponential, self.noise.uniform() as f32).max(f32::MIN_POSITIVE);
        } else {
            self.left_m = exponential * self.shape.space_m;
            self.height = 0.0;
        }
    }

    /// The mean height between two places of a repeatable surface.
    fn mean_between(&mut self, from_m: f64, to_m: f64) -> f32 {
        let cell_m = f64::from(self.shape.mark_m) + f64::from(self.shape.space_m);
        let (first, last) = ((from_m / cell_m).floor(), (to_m / cell_m).floor());
        let (mut sum, way_m) = (0.0, to_m - from_m);
        for i in 0..(last - first).min(MAX_PER_SAMPLE as f64) as usize + 1 {
            let cell = first + i as f64;
            if self.cell != cell as i64 {
                (self.cell, self.bump) = (cell as i64, self.bump_in(cell as i64, cell_m));
            }
            let Bump { begin_m, end_m, height } = self.bump;
            let (begin, end) = (cell * cell_m + begin_m, cell * cell_m + end_m);
            if way_m == 0.0 {
                return if begin <= from_m && from_m < end { height } else { 0.0 };
            }
            sum += f64::from(height) * (end.min(to_m) - begin.max(from_m)).max(0.0);
        }
        (sum / way_m) as f32
    }

    fn bump_in(&self, cell: i64, cell_m: f64) -> Bump {
        let mut noise = Noise::new(cell_seed(self.seed, cell));
        let width_m = cell_m * noise.uniform().powf(f64::from(self.shape.space_m / self.shape.mark_m));
        let begin_m = noise.uniform() * (cell_m - width_m);
        let share = width_m as f32 / self.shape.mark_m;
        Bump { begin_m, end_m: begin_m + width_m, height: height(self.shape.height, share, noise.uniform() as f32) }
    }
}

/// Height of a bump whose width is `share` of the mean.
fn height(law: Height, share: f32, u: f32) -> f32 {
    match law {
        Height::Uniform => u,
        Height::Width => share.min(4.0),
        Height::Tail(power) => u.powf(power),
    }
}
