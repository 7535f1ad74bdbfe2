//! What triangles send, made fit for the ear: low-pass and DC block, of many signals side by side.
//!
//! **Low-pass.** The simulation has M steps per audio sample. The kernel K_i = Δt sinc(iΔt) win(i/w) with sinc(t) = sin(2πf t)/(πt), a Hann window and w of six
//! periods of f is scaled to a sum of one (as printed, without Δt, the sum would be 1/Δt). Its derivative, antisymmetric, has no sum and is scaled to unit slope: so a body that
//! falls without vibrating is silent at every step of the way. Only one in M values is computed: each step is added, with its coefficient, to all samples it reaches, and that for all
//! steps of a sample at once.
//!
//! **DC block.** y_i = (1 − α) y_{i−1} + (g_i − g_{i−1}), α = 2πf_c/f_s.

use crate::soft::kernel::{Weigh, best_weigh};
use std::f64::consts::{PI, TAU};
use std::ops::Range;

/// Signals that are weighed together.
const TOGETHER: usize = 256;
/// Half the length of the kernel in periods of the highest frequency.
const PERIODS: f64 = 6.0;

/// What comes out of the low-pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The signal.
    Value,
    /// Its derivative by time.
    Slope,
}

/// The kernel by `taps` values `step_s` apart, with time zero in their middle.
pub fn kernel(output: Output, highest_hz: f64, step_s: f64, taps: usize) -> Vec<f64> {
    let width_s = 0.5 * (taps + 1) as f64 * step_s;
    let value = |t: f64| {
        let window = 0.5 * (1.0 + (PI * (t / width_s).clamp(-1.0, 1.0)).cos());
        let turn = TAU * highest_hz * t;
        let sinc = if turn.abs() < 1e-9 { 2.0 * highest_hz } else { turn.sin() / (PI * t) };
        step_s * sinc * window
    };
    let times: Vec<f64> = (0..taps).map(|n| (n as f64 - 0.5 * (taps as f64 - 1.0)) * step_s).collect();
    let mut values: Vec<f64> = times.iter().map(|&t| value(t)).collect();
    let sum: f64 = values.iter().sum();
    match output {
        Output::Value => values.iter_mut().for_each(|k| *k /= sum),
        Output::Slope => {
            let near_s = 1e-3 * step_s;
            values = times.iter().map(|&t| value(t + near_s) - value(t - near_s)).collect();
            // The first moment of a slope is minus one.
            let moment: f64 = times.iter().zip(&values).map(|(t, k)| t * k).sum();
            values.iter_mut().for_each(|k| *k /= -moment);
        }
    }
    values
}

/// Decimating low-pass over many signals.
#[derive(Clone)]
pub struct LowPass {
    output: Output,
    highest_hz: f64,
    sample_rate_hz: f64,
    /// Coefficients by the step within a sample, then by the sample that it reaches, the next to be finished first.
    phases: Vec<Vec<f64>>,
    /// Sums of the samples that are not finished, all signals of one beside each other.
    sums: Vec<Vec<f64>>,
    /// Which of them is finished next.
    next: usize,
    /// Values of the steps of this sample so far.
    steps: Vec<Vec<f64>>,
    weigh: Weigh,
    phase: usize,
    /// Whether something has been pushed.
    begun: bool,
}

impl LowPass {
    /// For `steps` steps in each audio sample.
    pub fn new(output: Output, highest_hz: f64, sample_rate_hz: f64, steps: usize, signals: usize) -> Self {
        let steps = steps.max(1);
        let step_rate_hz = sample_rate_hz * steps as f64;
        // Beyond what steps can hold there is nothing to let through.
        let highest_hz = highest_hz.clamp(1.0, 0.45 * step_rate_hz);
        // Whole samples on both sides.
        let reach = (PERIODS * sample_rate_hz / highest_hz).ceil() as usize;
        let values = kernel(output, highest_hz, 1.0 / step_rate_hz, 2 * reach * steps);
        let phases = phases(&values, steps, reach);
        Self {
            output,
            highest_hz,
            sample_rate_hz,
            phases,
            sums: vec![vec![0.0; signals]; 2 * reach],
            next: 0,
            steps: vec![vec![0.0; signals]; steps],
            weigh: best_weigh(),
            phase: 0,
            begun: false,
        }
    }

    /// Steps in each audio sample.
    pub fn steps(&self) -> usize {
        self.phases.len()
    }

    /// Another number of steps in each audio sample, from the next one on. What is on its way is kept; a signal that does not change goes on as if nothing had happened.
    pub fn set_steps(&mut self, steps: usize) {
        let steps = steps.max(1);
        let reach = self.sums.len() / 2;
        let step_rate_hz = self.sample_rate_hz * steps as f64;
        let highest_hz = self.highest_hz.min(0.45 * step_rate_hz);
        let values = kernel(self.output, highest_hz, 1.0 / step_rate_hz, 2 * reach * steps);
        let new = phases(&values, steps, reach);
        if self.begun {
            // Of each sample on its way, what the old kernel has given it and the new one will, and what all of a kernel gives.
            let given = |phases: &[Vec<f64>], samples: Range<usize>| -> f64 {
                phases.iter().flat_map(|phase| &phase[samples.clone()]).sum()
            };
            let whole = match self.output {
                Output::Value => 1.0,
                Output::Slope => 0.0,
            };
            let count = self.sums.len();
            for sample in 0..count {
                let missing = whole - given(&self.phases, sample + 1..count) - given(&new, 0..sample + 1);
                let sums = &mut self.sums[(self.next + sample) % count];
                if let Some(last) = self.steps.last() {
                    (self.weigh)(missing, last, sums);
                }
            }
        }
        let signals = self.sums.first().map_or(0, Vec::len);
        let last = self.steps.pop().unwrap_or_else(|| vec![0.0; signals]);
        self.steps.resize(steps, last);
        (self.phases, self.phase) = (new, 0);
    }

    /// Leaves signals out from now on.
    pub fn remove(&mut self, signals: Range<usize>) {
        self.sums.iter_mut().chain(&mut self.steps).for_each(|all| drop(all.drain(signals.clone())));
    }

    /// Samples between what goes in and what comes out.
    pub fn latency(&self) -> usize {
        self.sums.len() / 2
    }

    /// Takes the values of one step. Gives true, and one sample of each signal, after the last step of a sample. Before the first step all was as it is then: what moves at the
    /// beginning has been moving, and makes no click.
    pub fn push(&mut self, values: &[f64], out: &mut [f64]) -> bool {
        if !self.begun {
            self.begun = true;
            for _ in 0..self.sums.len() * self.phases.len() {
                self.push(values, out);
            }
        }
        self.steps[self.phase].copy_from_slice(values);
        self.phase += 1;
        if self.phase < self.phases.len() {
            return false;
        }
        self.phase = 0;
        let count = self.sums.len();
        // In parts that stay near: all samples of a few signals, then the next few.
        for from in (0..values.len()).step_by(TOGETHER) {
            let span = from..(from + TOGETHER).min(values.len());
            for sample in 0..count {
                let sums = &mut self.sums[(self.next + sample) % count][span.clone()];
                for (coefficients, step) in self.phases.iter().zip(&self.steps) {
                    (self.weigh)(coefficients[sample], &step[span.clone()], sums);
                }
            }
        }
        out.copy_from_slice(&self.sums[self.next]);
        self.sums[self.next].fill(0.0);
        self.next = (self.next + 1) % count;
        true
    }
}

/// Coefficients of a kernel by the step within a sample, then by the sample that it reaches.
///
/// A step reaches the sample that ends with it or next after it, and later ones. Velocities belong to the middle of steps, samples to where one ends and the next begins; so the middle of
/// the kernel is between two steps.
fn phases(values: &[f64], steps: usize, reach: usize) -> Vec<Vec<f64>> {
    let coefficient = |phase: usize, sample: usize| values.get(sample * steps + steps - 1 - phase).copied();
    (0..steps).map(|phase| (0..2 * reach).map(|sample| coefficient(phase, sample).unwrap_or(0.0)).collect()).collect()
}

/// DC block over many signals.
#[derive(Clone)]
pub struct DcBlock {
    keep: f64,
    before: Vec<f64>,
    out: Vec<f64>,
    /// Samples that are still no steps: things begin as they are.
    held: usize,
}

impl DcBlock {
    /// With the frequency where it is 3 dB down. What changes in the first `held` samples is not passed: a body that is let go begins to fall, and that is no sound.
    pub fn new(lowest_hz: f64, sample_rate_hz: f64, signals: usize, held: usize) -> Self {
        let keep = 1.0 - (TAU * lowest_hz / sample_rate_hz).clamp(0.0, 1.0);
        Self { keep, before: vec![0.0; signals], out: vec![0.0; signals], held }
    }

    /// Leaves signals out from now on.
    pub fn remove(&mut self, signals: Range<usize>) {
        self.before.drain(signals.clone());
        self.out.drain(signals);
    }

    /// One sample of each.
    pub fn pass(&mut self, values: &mut [f64]) {
        for ((x, before), out) in values.iter_mut().zip(&mut self.before).zip(&mut self.out) {
            let step = if self.held == 0 { *x - *before } else { 0.0 };
            *out = self.keep * *out + step;
            *before = *x;
            *x = *out;
        }
        self.held = self.held.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain_db(values: &[f64], hz: f64, step_s: f64) -> f64 {
        let (mut re, mut im) = (0.0, 0.0);
        for (n, k) in values.iter().enumerate() {
            let phase = TAU * hz * n as f64 * step_s;
            (re, im) = (re + k * phase.cos(), im + k * phase.sin());
        }
        10.0 * (re * re + im * im).log10()
    }

    /// With f_max = 20 kHz and w = 60 at 200 kHz: −6 dB at 20 kHz, −26 at 22, −52 at 24.
    #[test]
    fn the_kernel_lets_through_what_it_should() {
        let values = kernel(Output::Value, 20_000.0, 5e-6, 119);
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (hz, db, within) in
            [(1000.0, 0.0, 0.01), (10_000.0, 0.0, 0.02), (20_000.0, -6.0, 0.1), (22_000.0, -26.0, 1.5)]
        {
            let found = gain_db(&values, hz, 5e-6);
            assert!((found - db).abs() < within, "{hz} Hz: {found} dB");
        }
        assert!(gain_db(&values, 24_000.0, 5e-6) < -45.0);
    }

    #[test]
    fn the_derivative_is_one() {
        let slopes = kernel(Output::Slope, 20_000.0, 5e-6, 119);
        assert!(slopes.iter().sum::<f64>().abs() < 1e-9);
        for hz in [100.0, 1000.0, 8000.0] {
            let expected_db = 20.0 * (TAU * hz).log10();
            let found = gain_db(&slopes, hz, 5e-6);
            assert!((found - expected_db).abs() < 0.1, "{hz} Hz: {found} {expected_db}");
        }
    }

    /// Whatever the number of steps: unit gain, and a delay of `latency` samples.
    #[test]
    fn decimation_keeps_time_and_level() {
        for steps in [1, 2, 3, 8, 25] {
            let rate_hz = 44_100.0;
            let mut low_pass = LowPass::new(Output::Value, 18_000.0, rate_hz, steps, 1);
            let wave = |t: f64| (TAU * 3000.0 * t).sin();
            let (mut out, mut heard) = ([0.0], Vec::new());
            for n in 0..400 * steps {
                // Values belong to the middle of their steps.
                let t = (n as f64 + 0.5) / (rate_hz * steps as f64);
                if low_pass.push(&[wave(t)], &mut out) {
                    heard.push(out[0]);
                }
            }
            let latency = low_pass.latency() as f64;
            for (k, y) in heard.iter().enumerate().skip(100) {
                // The sample belongs to the end of its last step.
                let expected = wave((k as f64 + 1.0 - latency) / rate_hz);
                assert!((y - expected).abs() < 0.02, "{steps} steps, sample {k}: {y} {expected}");
            }
        }
    }

    /// Steps may become shorter or longer on the way: what does not change makes no click, and a tone stays what it is.
    #[test]
    fn steps_change_without_a_click() {
        let rate_hz = 44_100.0;
        let changes = [4, 25, 3, 8, 2];
        for (output, hz) in
            [(Output::Slope, 0.0), (Output::Value, 0.0), (Output::Value, 3000.0), (Output::Slope, 3000.0)]
        {
            let wave = |t: f64| (TAU * hz * t).cos();
            let mut low_pass = LowPass::new(output, 18_000.0, rate_hz, changes[0], 1);
            let (mut out, mut heard) = ([0.0], Vec::new());
            for n in 0..500 {
                let steps = changes[n / 100];
                if low_pass.steps() != steps {
                    low_pass.set_steps(steps);
                }
                for k in 0..steps {
                    let t = (n as f64 + (k as f64 + 0.5) / steps as f64) / rate_hz;
                    if low_pass.push(&[wave(t)], &mut out) {
                        heard.push(out[0]);
                    }
                }
            }
            assert_eq!(heard.len(), 500);
            for (k, y) in heard.iter().enumerate().skip(50) {
                let t = (k as f64 + 1.0 - low_pass.latency() as f64) / rate_hz;
                let w = TAU * hz;
                let (expected, within) = match output {
                    Output::Value => (wave(t), if hz > 0.0 { 0.02 } else { 1e-9 }),
                    Output::Slope => (-w * (w * t).sin(), if hz > 0.0 { 0.03 * w } else { 1e-9 * 18_000.0 }),
                };
                assert!((y - expected).abs() < within, "{output:?} {hz} Hz, sample {k}: {y} {expected}");
            }
        }
    }

    /// α = 2πf_c/f_s is 3 dB down at f_c, and has hardly a say an octave and a half above.
    #[test]
    fn the_dc_block_is_3_db_down_where_it_should() {
        for (hz, db, within) in [(20.0, -3.0, 0.1), (100.0, -0.16, 0.03)] {
            let mut block = DcBlock::new(20.0, 44_100.0, 1, 1);
            let (mut energy, mut count): (f64, f64) = (0.0, 0.0);
            for n in 0..441_000 {
                let mut x = [(TAU * hz * n as f64 / 44_100.0).sin()];
                block.pass(&mut x);
                if n >= 220_500 {
                    energy += x[0] * x[0];
                    count += 0.5;
                }
            }
            let found = 10.0 * (energy / count).log10();
            assert!((found - db).abs() < within, "{hz} Hz: {found}");
        }
    }
}
