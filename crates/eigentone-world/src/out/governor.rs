//! From microseconds to modes.
//!
//! The processor time of a block is taken as `a + b·n` for `n` modes. `a` and `b` follow what is measured, by least squares with a memory of about a second; a weak prior holds `b` while `n` does not vary. The limit is
//! the `n` for which `a + b·n` and four times the usual deviation fit into the budget. The time is the thread's own, so that another program does not count.

use crate::shared::AudioStats;
use std::time::Duration;

/// Share of the sums that is left after a block.
const MEMORY: f64 = 0.9985;

/// What a mode costs in a block until it is known, in µs: of a plain loop with AVX2, and the policy's share.
const MODE_US: f64 = 8e-3;

/// How much that counts, as a variance of the number of modes.
const PRIOR: f64 = 100.0;

/// Deviations that must fit in as well.
const DEVIATIONS: f64 = 4.0;

/// Part of the budget that is planned with.
const PLANNED: f64 = 0.9;

/// Least modes that are left, whatever the budget.
const LEAST_MODES: f64 = 8.0;

/// Turns microseconds into a limit on modes.
#[derive(Debug, Default)]
pub(crate) struct Governor {
    budget_us: f32,
    weight: f64,
    modes: f64,
    cost: f64,
    modes2: f64,
    product: f64,
    deviation2: f64,
    limited: bool,
}

impl Governor {
    /// Takes a block into account. Some if the limit is to be set: to so many modes, or to none any more.
    pub fn judge(
        &mut self,
        budget_us: f32,
        spent_us: f32,
        modes: f32,
        stats: &mut AudioStats,
    ) -> Option<Option<usize>> {
        if budget_us.is_nan() || budget_us <= 0.0 {
            let lift = std::mem::take(&mut self.limited);
            (stats.fixed_us, stats.mode_us, stats.mode_limit) = (0.0, 0.0, f32::INFINITY);
            return lift.then_some(None);
        }
        if budget_us != self.budget_us {
            self.budget_us = budget_us;
            (stats.budget_blocks, stats.budget_kept) = (0, 0);
        }
        stats.budget_blocks += 1;
        stats.budget_kept += u64::from(spent_us <= budget_us);
        let (n, spent) = (f64::from(modes), f64::from(spent_us));
        for (sum, x) in [
            (&mut self.weight, 1.0),
            (&mut self.modes, n),
            (&mut self.cost, spent),
            (&mut self.modes2, n * n),
            (&mut self.product, n * spent),
        ] {
            *sum = MEMORY * *sum + x;
        }
        let (mean_n, mean_cost) = (self.modes / self.weight, self.cost / self.weight);
        let variance = (self.modes2 / self.weight - mean_n * mean_n).max(0.0);
        let covariance = self.product / self.weight - mean_n * mean_cost;
        let mode_us = ((covariance + PRIOR * MODE_US) / (variance + PRIOR)).clamp(0.1 * MODE_US, 100.0 * MODE_US);
        let fixed_us = (mean_cost - mode_us * mean_n).max(0.0);
        let off = spent - fixed_us - mode_us * n;
        self.deviation2 += (1.0 - MEMORY) * 4.0 * (off * off - self.deviation2);
        let room = PLANNED * f64::from(budget_us) - fixed_us - DEVIATIONS * self.deviation2.max(0.0).sqrt();
        let limit = (room / mode_us).max(LEAST_MODES);
        (stats.fixed_us, stats.mode_us, stats.mode_limit) = (fixed_us as f32, mode_us as f32, limit as f32);
        self.limited = true;
        Some(Some(limit as usize))
    }
}

/// Processor time that this thread has taken so far: what a block costs, whatever else the machine does.
pub fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    {
        use std::sync::OnceLock;
        use std::time::Instant;
        static BEGIN: OnceLock<Instant> = OnceLock::new();
        BEGIN.get_or_init(Instant::now).elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose blocks cost 20 µs and 10 ns a mode, with noise: within a second the limit is one that keeps 200 µs, and not far below what would fit.
    #[test]
    fn the_limit_finds_what_fits() {
        let mut noise = eigentone_core::Noise::new(3);
        let (mut governor, mut stats) = (Governor::default(), AudioStats::default());
        let mut modes = 2000.0f32;
        for block in 0..2000 {
            let spent = 20.0 + 0.01 * modes * (1.0 + 0.05 * noise.bipolar() as f32);
            let limit = governor.judge(200.0, spent, modes, &mut stats).unwrap().unwrap();
            // There is always more to compute; the number varies as bodies are struck.
            modes = (limit as f32).min(modes * 1.1).max(100.0) * (0.95 + 0.05 * noise.uniform() as f32);
            if block == 1000 {
                (stats.budget_blocks, stats.budget_kept) = (0, 0);
            }
        }
        assert!(stats.budget_kept as f64 >= 0.999 * stats.budget_blocks as f64, "{stats:?}");
        assert!((8_000.0..16_000.0).contains(&stats.mode_limit), "{stats:?}");
        assert_eq!(governor.judge(0.0, 1.0, 10.0, &mut stats), Some(None));
        assert_eq!(governor.judge(0.0, 1.0, 10.0, &mut stats), None);
    }
}
