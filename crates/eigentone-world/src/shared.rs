//! What the audio side publishes, and the few numbers it looks up: all atomic, nobody waits.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Between the two sides.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Samples rendered so far: what happens before this comes late.
    clock: AtomicU64,
    /// Longest call of the host so far, in samples.
    host_block: AtomicU64,
    /// One bit for each engine slot and voice: whether it sounded in the last block.
    sounding: Box<[AtomicU64]>,
    /// Processor time that a block may take, in µs; zero without a limit.
    budget_us: AtomicU32,
    meters: [AtomicU32; METERS],
    counts: [AtomicU64; COUNTS],
}

const METERS: usize = 6;
const COUNTS: usize = 5;

/// What the audio side has been doing, beside the engine's own [`Stats`](eigentone_synth::Stats).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AudioStats {
    /// Processor time of the last block of 64 samples, in µs.
    pub block_us: f32,
    /// Part of it that does not depend on the number of modes, by the cost model, in µs. Zero while no budget in µs is set.
    pub fixed_us: f32,
    /// What a mode costs in a block, by the cost model, in µs. Zero while no budget in µs is set.
    pub mode_us: f32,
    /// Modes that the budget in µs allows now; infinite without one.
    pub mode_limit: f32,
    /// Loudest sample of the last block, full scale at one.
    pub peak: f32,
    /// Gain of the limiter.
    pub limiter_gain: f32,
    /// Blocks rendered since the budget in µs was last set.
    pub budget_blocks: u64,
    /// Of these, those that kept it.
    pub budget_kept: u64,
    /// Samples that were not numbers and became silence. Always zero, or something is wrong in the engine.
    pub non_finite_samples: u64,
    /// Samples that a voice or a soft body did not deliver in time.
    pub starved: u64,
    /// Blocks rendered.
    pub blocks: u64,
}

impl Shared {
    pub fn new(sources: usize) -> Self {
        Self {
            clock: AtomicU64::new(0),
            host_block: AtomicU64::new(0),
            sounding: (0..sources.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            budget_us: AtomicU32::new(0.0f32.to_bits()),
            meters: Default::default(),
            counts: Default::default(),
        }
    }

    pub fn clock(&self) -> u64 {
        self.clock.load(Relaxed)
    }

    pub fn set_clock(&self, samples: u64) {
        self.clock.store(samples, Relaxed);
    }

    pub fn host_block(&self) -> u64 {
        self.host_block.load(Relaxed)
    }

    pub fn saw_host_block(&self, samples: usize) {
        self.host_block.fetch_max(samples as u64, Relaxed);
    }

    pub fn budget_us(&self) -> f32 {
        f32::from_bits(self.budget_us.load(Relaxed))
    }

    pub fn set_budget_us(&self, budget_us: f32) {
        self.budget_us.store(budget_us.to_bits(), Relaxed);
    }

    pub fn is_sounding(&self, source: usize) -> bool {
        self.sounding.get(source / 64).is_some_and(|word| word.load(Relaxed) >> (source % 64) & 1 == 1)
    }

    /// Which sources sound, from their bits.
    pub fn publish_sounding(&self, bits: &[u64]) {
        self.sounding.iter().zip(bits).for_each(|(word, bits)| word.store(*bits, Relaxed));
    }

    pub fn publish(&self, stats: &AudioStats) {
        let s = stats;
        let meters = [s.block_us, s.fixed_us, s.mode_us, s.mode_limit, s.peak, s.limiter_gain];
        self.meters.iter().zip(meters).for_each(|(meter, x)| meter.store(x.to_bits(), Relaxed));
        let counts = [s.budget_blocks, s.budget_kept, s.non_finite_samples, s.starved, s.blocks];
        self.counts.iter().zip(counts).for_each(|(count, x)| count.store(x, Relaxed));
    }

    pub fn stats(&self) -> AudioStats {
        let [block_us, fixed_us, mode_us, mode_limit, peak, limiter_gain] =
            self.meters.each_ref().map(|meter| f32::from_bits(meter.load(Relaxed)));
        let [budget_blocks, budget_kept, non_finite_samples, starved, blocks] =
            self.counts.each_ref().map(|count| count.load(Relaxed));
        AudioStats {
            block_us,
            fixed_us,
            mode_us,
            mode_limit,
            peak,
            limiter_gain,
            budget_blocks,
            budget_kept,
            non_finite_samples,
            starved,
            blocks,
        }
    }
}
