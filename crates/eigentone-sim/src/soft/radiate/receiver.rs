//! A listener, to whom sound takes its time.
//!
//! What leaves at time t arrives at t + r/c, between two samples: it is shared out over four of them by Lagrange's third-order weights, which lose 0.03 dB at a tenth of the
//! sample rate where two samples would lose 0.44 dB. When listener or body move, delays move with them, and so does the pitch.

use eigentone_core::{NEAREST_M, SOUND_M_S, Vec3};

/// What is farther away is not heard, in m.
const FARTHEST_M: f64 = 300.0;

/// A place where sound arrives.
#[derive(Clone)]
pub struct Receiver {
    position: Vec3,
    samples_per_m: f64,
    /// What has arrived or will; a ring, whose length is a power of two.
    ring: Vec<f64>,
    now: usize,
}

impl Receiver {
    /// At a place.
    pub fn new(position: Vec3, sample_rate_hz: f64) -> Self {
        Self { position, samples_per_m: sample_rate_hz / SOUND_M_S, ring: vec![0.0; 64], now: 0 }
    }

    /// Goes elsewhere.
    pub fn place(&mut self, position: Vec3) {
        self.position = position;
    }

    /// Something of strength `value` leaves a triangle now. `dry`: as if it were 1 m away, without delay.
    pub fn add(&mut self, centre: Vec3, normal: Vec3, value: f64, dry: bool) {
        let way = self.position - centre;
        let distance_m = way.length();
        let cosine = normal.dot(way) / distance_m.max(1e-9);
        if cosine <= 0.0 || distance_m.is_nan() || distance_m >= FARTHEST_M {
            return;
        }
        // One sample is what the weights need before the first.
        let (delay, near_m) =
            if dry { (1.0, 1.0) } else { (1.0 + distance_m * self.samples_per_m, distance_m.max(NEAREST_M)) };
        let whole = delay.floor();
        let arriving = value * cosine / near_m;
        let first = whole as usize - 1;
        if first + 4 > self.ring.len() {
            self.grow(first + 4);
        }
        let (at, mask) = (self.now + first, self.ring.len() - 1);
        for (k, weight) in lagrange(delay - whole).into_iter().enumerate() {
            self.ring[(at + k) & mask] += weight * arriving;
        }
    }

    /// What arrives now. One sample late, which the weights need.
    pub fn next_sample(&mut self) -> f64 {
        let value = std::mem::take(&mut self.ring[self.now]);
        self.now = (self.now + 1) & (self.ring.len() - 1);
        value
    }

    fn grow(&mut self, least: usize) {
        let mut ring = vec![0.0; (2 * least).next_power_of_two()];
        let (end, begin) = self.ring.split_at(self.now);
        ring[..begin.len()].copy_from_slice(begin);
        ring[begin.len()..self.ring.len()].copy_from_slice(end);
        (self.ring, self.now) = (ring, 0);
    }
}

/// Weights of the samples −1, 0, 1, 2 for a value at `x`, 0 to 1.
fn lagrange(x: f64) -> [f64; 4] {
    let (a, b, c) = (x + 1.0, x - 1.0, x - 2.0);
    [-x * b * c / 6.0, a * b * c / 2.0, -a * x * c / 2.0, a * x * b / 6.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two halves: weights sum to one, and the first moment is the place.
    #[test]
    fn weights_keep_place_and_sum() {
        for x in [0.0, 0.25, 0.5, 0.9] {
            let weights = lagrange(x);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let place: f64 = weights.iter().zip([-1.0, 0.0, 1.0, 2.0]).map(|(w, at)| w * at).sum();
            assert!((place - x).abs() < 1e-12);
        }
    }

    /// A click arrives after r/c, weaker with 1/r, and with the cosine of its angle.
    #[test]
    fn a_click_arrives_in_time() {
        let rate_hz = 44_100.0;
        for r in [0.5, 1.0, 10.0, 100.0] {
            let mut receiver = Receiver::new(Vec3::X * r, rate_hz);
            receiver.add(Vec3::ZERO, Vec3::new(0.6, 0.8, 0.0), 1.0, false);
            receiver.add(Vec3::ZERO, -Vec3::X, 1.0, false);
            let heard: Vec<f64> = (0..20_000).map(|_| receiver.next_sample()).collect();
            let sum: f64 = heard.iter().sum();
            let centre: f64 = heard.iter().enumerate().map(|(n, y)| n as f64 * y).sum::<f64>() / sum;
            assert!((sum - 0.6 / r).abs() < 1e-9);
            assert!((centre - 1.0 - r / SOUND_M_S * rate_hz).abs() < 1e-6, "{r} m: {centre}");
        }
    }
}
