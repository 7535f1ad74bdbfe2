//! Reverberation times by Schroeder's backward integral of the top octave's energy.
//!
//! Hamming windows of 256 samples (at the reference step), one every 64, give E(t), the energy between ν_max/2 and ν_max; I(t) = ∫_t^∞ E is the decay
//! curve.
//!
//! - *Mean and slope* of every window are removed, weighted by the window: side lobes of a Hamming window are only 43 dB down, and the offset of a
//!   closed room is above the late sound by more than that.
//! - *Tail*: the integral ends where the response does. A line through log E over the late part goes on as the geometric series E_end·h/(1 − e^{−kh}), h the
//!   hop; without it a reverberation of 2 s would be found 27 % short.
//! - *Floor*: windows at the end with less energy than one pulse at the onset's level take no part. They hold rounding errors of the simulation.

use super::Timing;
use eigentone_core::acoustics::Parameter;
use realfft::num_complex::Complex32;
use realfft::{RealFftPlanner, RealToComplex};
use std::ops::Range;
use std::sync::Arc;

/// Windows that a line needs at least, where there are that many: the length of one window.
const LEAST_WINDOWS: usize = 4;

/// Windows, their transform, and the energies of one response.
pub struct Decay {
    fft: Arc<dyn RealToComplex<f32>>,
    input: Vec<f32>,
    spectrum: Vec<Complex32>,
    scratch: Vec<Complex32>,
    window: Vec<f32>,
    /// The window times time, and times time over ∑ window·time²: by them the slope is measured and removed.
    window_time: Vec<f32>,
    slope_of: Vec<f32>,
    /// The window over its sum: by it the mean is measured.
    mean_of: Vec<f32>,
    band: Range<usize>,
    hop: usize,
    hop_s: f64,
    /// Length of the late part in samples.
    late: usize,
    /// Energy of a window with one pulse at the onset's level.
    floor: f64,
    /// Shortest and longest reverberation time, in s.
    range_s: [f64; 2],
    /// Energies of the windows of all responses together, each response relative to its whole.
    energy: Vec<f64>,
    /// The floor in the same measure.
    least: f64,
    /// Samples of the shortest response.
    shortest: usize,
    /// Energies of the windows of one response.
    one: Vec<f64>,
    curve_db: Vec<f64>,
}

impl Decay {
    pub fn new(timing: &Timing) -> Self {
        let size = smooth_near(timing.samples(timing.decay_window_s()));
        let fft = RealFftPlanner::new().plan_fft_forward(size);
        let (input, spectrum, scratch) = (fft.make_input_vec(), fft.make_output_vec(), fft.make_scratch_vec());
        let tau = std::f64::consts::TAU;
        let window: Vec<f64> = (0..size).map(|k| 0.54 - 0.46 * (tau * k as f64 / (size - 1) as f64).cos()).collect();
        let time = |k: usize| k as f64 - 0.5 * (size - 1) as f64;
        let sum: f64 = window.iter().sum();
        let inertia: f64 = window.iter().enumerate().map(|(k, w)| w * time(k).powi(2)).sum();
        let each = |f: &dyn Fn(usize, f64) -> f64| window.iter().enumerate().map(|(k, &w)| f(k, w) as f32).collect();

        let bin_hz = 1.0 / (size as f64 * timing.step_s);
        let bin = |hz: f64| (hz / bin_hz).min(spectrum.len() as f64);
        let band =
            bin(timing.f_max_hz / 2.0).ceil() as usize..(bin(timing.f_max_hz).floor() as usize + 1).min(spectrum.len());
        let pulse_power: f64 = band
            .clone()
            .map(|k| {
                let relative = k as f64 * bin_hz / timing.f_max_hz;
                let amplitude = std::f64::consts::PI.sqrt() * timing.sigma_s() / timing.step_s;
                (amplitude * 10f64.powf(-relative * relative)).powi(2)
            })
            .sum();
        let [least, most] = Parameter::LateDecay.range();
        Self {
            window: each(&|_, w| w),
            window_time: each(&|k, w| w * time(k)),
            slope_of: each(&|k, w| w * time(k) / inertia),
            mean_of: each(&|_, w| w / sum),
            fft,
            input,
            spectrum,
            scratch,
            band,
            hop: size / 4,
            hop_s: (size / 4) as f64 * timing.step_s,
            late: timing.samples(timing.late_s),
            floor: 10f64.powf(timing.onset_db / 10.0) * pulse_power,
            range_s: [least, most].map(|steps| Parameter::LateDecay.from_steps(steps)),
            energy: Vec::new(),
            least: 0.0,
            shortest: usize::MAX,
            one: Vec::new(),
            curve_db: Vec::new(),
        }
    }

    /// Forgets all responses.
    pub fn clear(&mut self) {
        self.energy.clear();
        self.least = 0.0;
        self.shortest = usize::MAX;
    }

    /// Adds a response without its direct sound that starts at the onset and was multiplied by `scale`.
    pub fn add(&mut self, response: &[f32], scale: f64) {
        self.one.clear();
        let mut from = 0;
        while let Some(samples) = response.get(from..from + self.window.len()) {
            let energy = self.energy_of(samples);
            self.one.push(energy);
            from += self.hop;
        }
        let whole: f64 = self.one.iter().sum();
        if whole <= 0.0 {
            return;
        }
        if self.shortest == usize::MAX {
            self.energy.resize(self.one.len(), 0.0);
        }
        // What only some have heard is no sum of all.
        self.energy.truncate(self.one.len());
        self.energy.iter_mut().zip(&self.one).for_each(|(sum, e)| *sum += e / whole);
        self.least += self.floor * scale * scale / whole;
        self.shortest = self.shortest.min(response.len());
    }

    /// Early and late reverberation time of what was added. Changes it: to be called once.
    pub fn times_s(&mut self) -> [f64; 2] {
        let floor = self.least;
        let used = self.energy.iter().rposition(|&e| e > floor).map_or(0, |last| last + 1);
        self.energy.truncate(used);
        if used < 2 {
            return [self.range_s[0]; 2];
        }
        // Energies between may be zero (a lone echo after silence); their logarithms must be finite.
        self.energy.iter_mut().for_each(|e| *e = e.max(1e-3 * floor).max(f64::MIN_POSITIVE));

        let late_start = self.shortest.saturating_sub(self.late).div_ceil(self.hop);
        let late = late_start.min(used.saturating_sub(LEAST_WINDOWS))..used;
        self.integrate(late.clone());
        [self.early_s(), self.time_s(-line(&self.curve_db[late], self.hop_s).0)]
    }

    fn energy_of(&mut self, samples: &[f32]) -> f64 {
        let mean = dot(samples, &self.mean_of);
        let slope = dot(samples, &self.slope_of);
        for (((x, p), w), wt) in self.input.iter_mut().zip(samples).zip(&self.window).zip(&self.window_time) {
            *x = (p - mean) * w - slope * wt;
        }
        self.fft
            .process_with_scratch(&mut self.input, &mut self.spectrum, &mut self.scratch)
            .expect("buffers are those the plan asks for");
        self.spectrum[self.band.clone()].iter().map(|x| f64::from(x.norm_sqr())).sum()
    }

    /// I in dB from E, with the tail that a line through `late` foretells.
    fn integrate(&mut self, late: Range<usize>) {
        self.curve_db.clear();
        self.curve_db.extend(self.energy[late].iter().map(|e| 10.0 * e.log10()));
        let (slope_db, end_db) = line(&self.curve_db, self.hop_s);
        let slope_db = (-slope_db).max(60.0 / self.range_s[1]);
        let per_hop = 10f64.powf(-0.1 * slope_db * self.hop_s);
        let tail = 10f64.powf(0.1 * end_db) * per_hop / (1.0 - per_hop);
        self.curve_db.clear();
        let mut sum = tail;
        self.curve_db.extend(self.energy.iter().rev().map(|e| {
            sum += e;
            10.0 * sum.log10()
        }));
        self.curve_db.reverse();
    }

    /// From a line through the curve where it falls from −3 to −13 dB. The root mean square of its slopes, as in the paper, makes of every wavering of the curve a faster decay.
    fn early_s(&self) -> f64 {
        let last = self.curve_db.len() - 1;
        let below = |db: f64| self.curve_db.iter().position(|&i| i < self.curve_db[0] - db);
        let to = below(13.0).unwrap_or(last).max(1);
        // A curve that falls by 10 dB within one hop or does not fall by 3 dB at all has at least its one difference.
        let from = below(3.0).unwrap_or(0).min(to - 1);
        self.time_s(-line(&self.curve_db[from..=to], self.hop_s).0)
    }

    fn time_s(&self, fall_db_s: f64) -> f64 {
        let [least, most] = self.range_s;
        if fall_db_s > 0.0 { (60.0 / fall_db_s).clamp(least, most) } else { most }
    }
}

/// Least squares: slope per second and value at the last point, of values one `step_s` apart. There are at least two.
fn line(values: &[f64], step_s: f64) -> (f64, f64) {
    let centre = 0.5 * (values.len() - 1) as f64;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (mut moment, mut inertia) = (0.0, 0.0);
    for (k, v) in values.iter().enumerate() {
        let t = k as f64 - centre;
        moment += t * (v - mean);
        inertia += t * t;
    }
    let slope = moment / inertia;
    (slope / step_s, mean + slope * centre)
}

/// In eight sums, so that they run side by side.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a.zip(b) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += x * y);
    }
    sums.iter().sum::<f32>() + rest
}

/// The multiple of four nearest to `n` that has no prime factors but 2, 3 and 5: fast to transform, and divisible into hops.
fn smooth_near(n: usize) -> usize {
    let without = |n: usize, p: usize| {
        let mut n = n;
        while n.is_multiple_of(p) {
            n /= p;
        }
        n
    };
    let is_smooth = |n: usize| n >= 16 && n.is_multiple_of(4) && [2, 3, 5].into_iter().fold(n, without) == 1;
    (0..).flat_map(|d| [n.saturating_sub(d), n + d]).find(|&n| is_smooth(n)).expect("powers of two go on")
}
