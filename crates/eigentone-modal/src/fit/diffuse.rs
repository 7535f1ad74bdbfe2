//! The rest: what is left after the modes, as bands of decaying noise.
//!
//! A band of width `B`, cut from the spectrum and transformed back alone, is an analytic signal at its critical rate:
//! one complex sample per `1/B`. For Gaussian noise these samples are independent and `|z_m|²` is exponentially
//! distributed with the mean
//!
//! ```text
//! μ_m = A h_m(d) + N,   h_m(d) = B ∫_{m/B}^{(m+1)/B} e^{−2dt} dt
//! ```
//!
//! for noise that starts with power `A` and decays at `d` above a steady floor `N`. All three follow by maximum
//! likelihood: `d` on a grid, `A` and `N` by the multiplicative updates of Itakura–Saito factorisation (Févotte, Bertin &
//! Durrieu 2009), which is the same likelihood. A band is kept if the decaying part is significant and rises above `N`.

use super::gram::C64;
use eigentone_core::{DiffuseBand, Mode, Noise};
use rayon::prelude::*;
use rustfft::FftPlanner;
use std::ops::Range;

/// Bands per octave, about a third-octave each at the top of the ear's resolution.
const BANDS_PER_OCTAVE: f64 = 2.2;
/// Lowest edge in Hz.
const LOWEST_HZ: f64 = 100.0;
/// Decays tried: 60 dB in 20 s to 10 ms.
const GRID: usize = 48;
const T60_RANGE_S: (f64, f64) = (0.01, 20.0);
/// Twice the gain in log likelihood that makes a decay credible: χ² with two degrees of freedom exceeds it once in 1600.
const CREDIBLE: f64 = 15.0;

/// Edges of the bands for a sample rate.
pub(super) fn edges(sample_rate: f64) -> Vec<(f64, f64)> {
    let top = f64::min(16_000.0, 0.45 * sample_rate);
    let octaves = (top / LOWEST_HZ).log2();
    let count = (octaves * BANDS_PER_OCTAVE).round().max(1.0);
    let edge = |k: f64| LOWEST_HZ * (octaves * k / count).exp2();
    (0..count as usize).map(|k| (edge(k as f64), edge(k as f64 + 1.0))).collect()
}

/// Fits the bands to residuals that start at the onset and run to the end of each recording. The gain is the root mean
/// square over the takes.
pub(super) fn fit_bands(residuals: &[Vec<f64>], modes: &[Mode], sample_rate: f64) -> Vec<DiffuseBand> {
    let spectra: Vec<Vec<C64>> = residuals.iter().map(|r| spectrum(r)).collect();
    let lengths: Vec<usize> = residuals.iter().map(Vec::len).collect();
    edges(sample_rate)
        .into_par_iter()
        .filter_map(|(low, high)| {
            let bands: Vec<Envelope> = spectra
                .iter()
                .zip(&lengths)
                .filter_map(|(s, n)| Envelope::new(s, *n, sample_rate, (low, high), modes))
                .collect();
            fit_band(&bands).map(|(power, decay)| DiffuseBand {
                low_hz: low,
                high_hz: high,
                gain: power.sqrt(),
                t60_s: 1000f64.ln() / decay,
            })
        })
        .collect()
}

/// Spectrum with a tenth of silence appended, so that the end does not ring into the beginning.
fn spectrum(samples: &[f64]) -> Vec<C64> {
    let size = samples.len() + samples.len() / 10 + 64;
    let mut buffer: Vec<C64> = samples.iter().map(|x| C64::new(*x, 0.0)).collect();
    buffer.resize(size, C64::default());
    FftPlanner::new().plan_fft_forward(size).process(&mut buffer);
    buffer
}

/// Magnitude above which a line is not noise but what a mode left behind: ten times the mean power, which the median
/// estimates. Noise hardly ever exceeds that; a line would be spread over its whole band.
fn ceiling(band: &[C64]) -> f64 {
    let mut powers: Vec<f64> = band.iter().map(|x| x.norm_sqr()).collect();
    let middle = powers.len() / 2;
    let median = *powers.select_nth_unstable_by(middle, f64::total_cmp).1;
    (10.0 * median / std::f64::consts::LN_2).sqrt().max(1e-300)
}

/// Raised-cosine shoulders over the outer quarters of a band, without which its beginning would ring on through its end.
fn taper(position: f64) -> f64 {
    let edge = position.min(1.0 - position);
    if edge < 0.25 { 0.5 - 0.5 * (4.0 * std::f64::consts::PI * edge).cos() } else { 1.0 }
}

/// Weights of the bins of a band. Bins at modes are left out, unless that would be most of them: there the residual is
/// what the fit could not know about the mode, and it lasts as long as the mode.
fn weights(bins: Range<usize>, bin_hz: f64, modes: &[Mode]) -> Vec<f64> {
    let count = bins.len() as f64;
    let smooth: Vec<f64> = (0..bins.len()).map(|k| taper((k as f64 + 0.5) / count)).collect();
    let mut notched = smooth.clone();
    for mode in modes {
        let half_hz = 3.0 * mode.decay_per_s / std::f64::consts::TAU + 2.0 * bin_hz;
        let edge = |hz: f64| ((hz / bin_hz).max(0.0) as usize).clamp(bins.start, bins.end) - bins.start;
        notched[edge(mode.frequency_hz - half_hz)..edge(mode.frequency_hz + half_hz)].fill(0.0);
    }
    let kept = |weights: &[f64]| weights.iter().sum::<f64>();
    if kept(&notched) > 0.5 * kept(&smooth) { notched } else { smooth }
}

/// Powers of one band at its critical rate.
struct Envelope {
    power: Vec<f64>,
    rate: f64,
}

impl Envelope {
    fn new(spectrum: &[C64], len: usize, sample_rate: f64, (low, high): (f64, f64), modes: &[Mode]) -> Option<Self> {
        let size = spectrum.len();
        let bin = |f: f64| ((f / sample_rate * size as f64).round() as usize).min(size / 2);
        let (low, high) = (bin(low), bin(high));
        let count = high - low;
        let rate = sample_rate * count as f64 / size as f64;
        let frames = (len as f64 / sample_rate * rate) as usize;
        if count < 4 || frames < 4 {
            return None;
        }
        let ceiling = ceiling(&spectrum[low..high]);
        let taper = weights(low..high, sample_rate / size as f64, modes);
        let power = taper.iter().map(|w| w * w).sum::<f64>() / count as f64;
        // Half a frame later, so that frame m covers m/B … (m+1)/B. Twice the positive half is the analytic signal.
        let mut band: Vec<C64> = spectrum[low..high]
            .iter()
            .zip(&taper)
            .enumerate()
            .map(|(k, (x, w))| {
                let clipped = (ceiling / x.norm()).min(1.0);
                x * C64::from_polar(w * clipped * 2.0 / size as f64, std::f64::consts::PI * k as f64 / count as f64)
            })
            .collect();
        FftPlanner::new().plan_fft_inverse(count).process(&mut band);
        Some(Self { power: band[..frames].iter().map(|z| 0.5 * z.norm_sqr() / power).collect(), rate })
    }

    fn decaying(&self, decay: f64) -> Vec<f64> {
        let step = 2.0 * decay / self.rate;
        let first = if step > 1e-6 { -(-step).exp_m1() / step } else { 1.0 };
        (0..self.power.len()).map(|m| first * (-step * m as f64).exp()).collect()
    }

    /// `A`, `N` and the log likelihood for a decay.
    fn explain(&self, decay: f64) -> (f64, f64, f64) {
        let h = self.decaying(decay);
        let mean = self.power.iter().sum::<f64>() / self.power.len() as f64;
        let tiny = 1e-12 * mean + 1e-300;
        let (mut a, mut n) = (mean / h.iter().sum::<f64>().max(1e-9) * h.len() as f64 * 0.5 + tiny, 0.5 * mean + tiny);
        for _ in 0..60 {
            let mut sums = [0.0; 4];
            for (p, h) in self.power.iter().zip(&h) {
                let inverse = 1.0 / (a * h + n);
                let ratio = p * inverse * inverse;
                sums[0] += h * ratio;
                sums[1] += h * inverse;
                sums[2] += ratio;
                sums[3] += inverse;
            }
            a = (a * sums[0] / sums[1]).max(tiny);
            n = (n * sums[2] / sums[3]).max(tiny);
        }
        let expected = h.iter().map(|h| a * h + n);
        (a, n, self.power.iter().zip(expected).map(|(p, mu)| -mu.ln() - p / mu).sum())
    }

    fn steady_likelihood(&self) -> f64 {
        let mean = self.power.iter().sum::<f64>() / self.power.len() as f64;
        -(self.power.len() as f64) * ((mean + 1e-300).ln() + 1.0)
    }
}

/// Mean starting power over the takes and common decay of one band; `None` if nothing decays above the noise.
fn fit_band(takes: &[Envelope]) -> Option<(f64, f64)> {
    let grid = |k: f64| {
        let (short, long) = T60_RANGE_S;
        1000f64.ln() / (long * (short / long).powf(k / (GRID - 1) as f64))
    };
    let judge = |k: f64| takes.iter().map(|t| t.explain(grid(k)).2).sum::<f64>();
    let scores: Vec<f64> = (0..GRID).map(|k| judge(k as f64)).collect();
    let best = (0..GRID).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)))?;
    let steady: f64 = takes.iter().map(Envelope::steady_likelihood).sum();
    if takes.is_empty() || 2.0 * (scores[best] - steady) < CREDIBLE * takes.len() as f64 {
        return None;
    }
    let mut position = best as f64;
    if (1..GRID - 1).contains(&best) {
        let bend = scores[best - 1] - 2.0 * scores[best] + scores[best + 1];
        if bend < 0.0 {
            position += (0.5 * (scores[best - 1] - scores[best + 1]) / bend).clamp(-0.5, 0.5);
        }
    }
    let decay = grid(position);
    let fits: Vec<(f64, f64, f64)> = takes.iter().map(|t| t.explain(decay)).collect();
    let power = fits.iter().map(|f| f.0).sum::<f64>() / fits.len() as f64;
    let noise = fits.iter().map(|f| f.1).sum::<f64>() / fits.len() as f64;
    (power > noise && power > 0.0 && power.is_finite()).then_some((power, decay))
}

/// Band noise from a fixed seed: what the bands stand for, `len` samples from the onset.
pub(super) fn synthesise(bands: &[DiffuseBand], sample_rate: f64, len: usize, seed: u64) -> Vec<f64> {
    let mut out = vec![0.0; len];
    let size = len + len / 10 + 64;
    let mut planner = FftPlanner::new();
    let (forward, inverse) = (planner.plan_fft_forward(size), planner.plan_fft_inverse(size));
    let mut white: Vec<C64> = noise(seed).take(size).map(|x| C64::new(x, 0.0)).collect();
    forward.process(&mut white);
    for band in bands {
        let bin = |f: f64| ((f / sample_rate * size as f64).round() as usize).min(size / 2);
        let (low, high) = (bin(band.low_hz), bin(band.high_hz));
        if high <= low {
            continue;
        }
        let mut buffer = vec![C64::default(); size];
        // White noise of unit variance has 2·count/size of its power in the band.
        let scale = band.gain * (size as f64 / (2.0 * (high - low) as f64)).sqrt() * 2.0 / size as f64;
        buffer[low..high].iter_mut().zip(&white[low..high]).for_each(|(b, w)| *b = w * scale);
        inverse.process(&mut buffer);
        let step = (-1000f64.ln() / band.t60_s / sample_rate).exp();
        let mut envelope = 1.0;
        for (y, b) in out.iter_mut().zip(&buffer) {
            *y += envelope * b.re;
            envelope *= step;
        }
    }
    out
}

/// Gaussian noise of unit variance: the sum of twelve uniform numbers.
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut source = Noise::new(seed);
    std::iter::repeat_with(move || (0..12).map(|_| source.uniform()).sum::<f64>() - 6.0)
}

/// Root mean square over bands of the level difference of two signals, in dB.
pub(super) fn band_difference_db(a: &[f64], b: &[f64], sample_rate: f64) -> f64 {
    let (a, b) = (spectrum(a), spectrum(b));
    let size = a.len() as f64;
    let energies: Vec<(f64, f64)> = edges(sample_rate)
        .into_iter()
        .map(|(low, high)| {
            let range = (low / sample_rate * size) as usize..(high / sample_rate * size) as usize;
            let energy = |s: &[C64]| s[range.clone()].iter().map(|x| x.norm_sqr()).sum::<f64>();
            (energy(&a), energy(&b))
        })
        .collect();
    let strongest = energies.iter().map(|e| e.0).fold(0.0, f64::max);
    let differences: Vec<f64> = energies
        .iter()
        .filter(|e| e.0 > 1e-5 * strongest)
        .map(|e| (10.0 * ((e.1 + 1e-30) / e.0).log10()).powi(2))
        .collect();
    (differences.iter().sum::<f64>() / differences.len().max(1) as f64).sqrt()
}
