//! Sharing a budget of modes among bodies by loudness (Raghuvanshi & Lin 2006, section 5).
//!
//! Bodies in falling order of priority get quotas on a ramp: `b, b − S, b − 2S, …` as long as that is positive, with `b` such that the sum is
//! the budget. What a body does not need goes to the next.

/// Height of the ramp's first step and how many bodies have one.
///
/// The largest `n ≤ bodies` with `b = (T + S n(n−1)/2)/n` and `b − S(n−1) ≥ 0`.
pub fn ramp(budget: f64, slope: f64, bodies: usize) -> (f64, usize) {
    let first = |n: usize| (budget + slope * (n * (n - 1)) as f64 / 2.0) / n as f64;
    let fits = |n: usize| first(n) - slope * (n - 1) as f64 >= 0.0;
    // T ≥ S n(n−1)/2, solved for n, and then made sure against rounding.
    let estimate = if slope > 0.0 { 0.5 + (0.25 + 2.0 * budget / slope).sqrt() } else { bodies as f64 };
    let mut n = (estimate as usize).clamp(1, bodies.max(1));
    while n > 1 && !fits(n) {
        n -= 1;
    }
    while n < bodies && fits(n + 1) {
        n += 1;
    }
    (first(n), n)
}

/// The quota of the body at `rank` (0 is the loudest).
pub fn quota(ramp: (f64, usize), slope: f64, rank: usize) -> f64 {
    if rank < ramp.1 { ramp.0 - slope * rank as f64 } else { 0.0 }
}

/// Turns what bodies want, in falling order of priority, into what they get: whole modes, never more than the budget in total.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    ramp: (f64, usize),
    slope: f64,
    rank: usize,
    surplus: f64,
    left: usize,
}

impl Sharing {
    /// A budget for so many bodies.
    pub fn new(budget: usize, slope: f64, bodies: usize) -> Self {
        let slope = if slope.is_finite() { slope.max(0.0) } else { 0.0 };
        Self { ramp: ramp(budget as f64, slope, bodies), slope, rank: 0, surplus: 0.0, left: budget }
    }

    /// What the next body gets of the modes it wants.
    pub fn next(&mut self, want: usize) -> usize {
        let available = quota(self.ramp, self.slope, self.rank) + self.surplus;
        let granted = want.min((available + 1e-9) as usize).min(self.left);
        self.surplus = available - granted as f64;
        self.left -= granted;
        self.rank += 1;
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;

    /// The quotas sum to the budget; with no slope all are equal, with a steep one the first takes all.
    #[test]
    fn quotas_sum_to_the_budget() {
        let mut noise = Noise::new(13);
        for _ in 0..2000 {
            let bodies = 1 + (noise.uniform() * 200.0) as usize;
            let budget = (noise.uniform() * 1e5).ceil();
            let slope = 10f64.powf(noise.uniform() * 7.0 - 2.0);
            let r = ramp(budget, slope, bodies);
            let quotas: Vec<f64> = (0..bodies).map(|j| quota(r, slope, j)).collect();
            assert!((quotas.iter().sum::<f64>() / budget - 1.0).abs() < 1e-9);
            assert!(quotas.iter().all(|q| *q >= -1e-9 * budget) && quotas.is_sorted_by(|a, b| a >= b));
            let even = ramp(budget, 0.0, bodies);
            assert!((0..bodies).all(|j| (quota(even, 0.0, j) * bodies as f64 / budget - 1.0).abs() < 1e-9));
            assert_eq!(quota(ramp(budget, budget, bodies), budget, 0), budget);
        }
    }

    #[test]
    fn what_one_does_not_need_the_next_gets() {
        let granted = |budget, slope, wants: &[usize]| {
            let mut sharing = Sharing::new(budget, slope, wants.len());
            wants.iter().map(|&w| sharing.next(w)).collect::<Vec<_>>()
        };
        assert_eq!(granted(100, 0.0, &[10, 90, 90, 5]), [10, 40, 25, 5]);
        assert_eq!(granted(7, 1e9, &[3, 3, 3]), [3, 3, 1]);
    }
}
