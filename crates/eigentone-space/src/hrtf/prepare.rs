//! From measurements to a grid of aligned responses.

use super::{AZIMUTHS, ELEVATIONS, Hrtf, HrtfError, Measurement, grid_direction};
use crate::head;
use crate::one_pole::{pole, power};
use std::f64::consts::PI;

/// What is kept of a response after it sets in. Later come reflections of the room it was measured in.
const LENGTH_S: f64 = 3e-3;

/// What is kept before it sets in.
const BEFORE_S: f64 = 1e-4;

/// A response sets in where it first reaches this share of its peak, between samples. More than the 22 % to which a band-limited impulse rings before itself: whether its samples show that depends on where they
/// fall, and delays would err by up to two samples.
const ONSET: f64 = 0.3;

/// Steps per sample in which the onset is looked for.
const FINE: usize = 8;

/// Measurements blended for a point of the grid.
const NEAREST: usize = 3;

/// Half the width of the interpolating kernel, in samples, and steps per sample of its table.
const HALF: usize = 16;
const STEPS: usize = 512;

impl Hrtf {
    /// Responses at `sample_rate_hz` from measurements at `measured_hz`. In front they are as loud as the [spherical head](crate::head).
    pub fn from_measurements(
        measurements: &[Measurement],
        measured_hz: f64,
        sample_rate_hz: f64,
    ) -> Result<Self, HrtfError> {
        if ![measured_hz, sample_rate_hz].iter().all(|hz| (8e3..=768e3).contains(hz)) {
            return Err(HrtfError::Rate);
        }
        for (i, m) in measurements.iter().enumerate() {
            let mut numbers = m.direction.iter().chain(&m.delays_s).chain(m.responses.iter().flatten());
            if !numbers.all(|x| x.is_finite()) {
                return Err(HrtfError::NotFinite(i));
            }
        }
        let usable: Vec<(usize, [f64; 3])> =
            measurements.iter().enumerate().filter_map(|(i, m)| Some((i, unit(m)?))).collect();
        let longest = measurements.iter().flat_map(|m| &m.responses).map(Vec::len).max().unwrap_or(0);
        let length_s = (BEFORE_S + LENGTH_S).min(longest as f64 / measured_hz);
        let taps = ((length_s * sample_rate_hz).ceil() as usize).next_multiple_of(8).max(8);
        let kernel = kernel();
        let mut aligned: Vec<Option<Aligned>> = vec![None; measurements.len()];
        let mut responses = vec![0.0f64; AZIMUTHS * ELEVATIONS * 2 * taps];
        let mut delays_s = vec![[0.0f64; 2]; AZIMUTHS * ELEVATIONS];
        for e in 0..ELEVATIONS {
            for a in 0..AZIMUTHS {
                let at = e * AZIMUTHS + a;
                for (i, weight) in nearest(&usable, grid_direction(e, a)) {
                    let one = aligned[i]
                        .get_or_insert_with(|| align(&measurements[i], measured_hz, sample_rate_hz, taps, &kernel));
                    for (ear, delay_s) in delays_s[at].iter_mut().enumerate() {
                        *delay_s += weight * one.delays_s[ear];
                        let from = (2 * at + ear) * taps;
                        for (k, x) in one.taps[ear].iter().enumerate() {
                            responses[from + taps - 1 - k] += weight * x;
                        }
                    }
                }
            }
        }
        let front = (ELEVATIONS / 2) * AZIMUTHS * 2 * taps;
        let energy = 0.5 * responses[front..front + 2 * taps].iter().map(|x| x * x).sum::<f64>();
        if !(energy.is_finite() && energy > 1e-20) {
            return Err(HrtfError::Silent);
        }
        let scale = (head_energy(sample_rate_hz, measured_hz) / energy).sqrt();
        let earliest_s = delays_s.iter().flatten().fold(f64::INFINITY, |m, d| m.min(*d));
        Ok(Self {
            taps,
            responses: responses.iter().map(|x| (x * scale) as f32).collect(),
            delays: delays_s.iter().map(|d| d.map(|d| ((d - earliest_s) * sample_rate_hz) as f32)).collect(),
        })
    }
}

/// A response that begins where it sets in.
#[derive(Clone)]
struct Aligned {
    taps: [Vec<f64>; 2],
    delays_s: [f64; 2],
}

/// The direction with unit length, if the measurement has one and sounds.
fn unit(m: &Measurement) -> Option<[f64; 3]> {
    let [x, y, z] = m.direction.map(f64::from);
    let length = (x * x + y * y + z * z).sqrt();
    let sounds = m.responses.iter().all(|r| r.iter().any(|x| x.abs() > 1e-12));
    (length > 1e-9 && sounds).then(|| [x / length, y / length, z / length])
}

/// The nearest measurements and their weights, which fall with the square of the angle and sum to one.
fn nearest(all: &[(usize, [f64; 3])], to: [f64; 3]) -> impl Iterator<Item = (usize, f64)> {
    let mut best = [(f64::INFINITY, 0); NEAREST];
    for (i, d) in all {
        // The square of the chord.
        let far = 2.0 - 2.0 * (d[0] * to[0] + d[1] * to[1] + d[2] * to[2]);
        if far < best[NEAREST - 1].0 {
            best[NEAREST - 1] = (far, *i);
            best.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
    }
    let weights = best.map(|(far, _)| 1.0 / (far.max(0.0) + 1e-6));
    let sum = weights.iter().sum::<f64>().max(1e-30);
    (0..NEAREST).filter(move |k| best[*k].0.is_finite()).map(move |k| (best[k].1, weights[k] / sum))
}

fn align(m: &Measurement, measured_hz: f64, rate_hz: f64, taps: usize, kernel: &[f64]) -> Aligned {
    let mut delays_s = [0.0; 2];
    let taps = [0, 1].map(|ear| {
        let response = &m.responses[ear];
        let onset = onset(response, kernel);
        delays_s[ear] = onset / measured_hz + f64::from(m.delays_s[ear]);
        let step = measured_hz / rate_hz;
        let begin = onset - BEFORE_S * measured_hz;
        let fade = taps / 8;
        let tap = |k: usize| {
            let left = (taps - k) as f64 / fade as f64;
            let window = if left < 1.0 { 0.5 - 0.5 * (PI * left).cos() } else { 1.0 };
            window * step * value(response, begin + step * k as f64, step.max(1.0), kernel)
        };
        (0..taps).map(tap).collect()
    });
    Aligned { taps, delays_s }
}

/// Where a response first reaches a share of its peak, in samples.
fn onset(response: &[f32], kernel: &[f64]) -> f64 {
    let level = |n: usize| f64::from(response[n].abs());
    let Some(peak) = (0..response.len()).max_by(|a, b| level(*a).total_cmp(&level(*b))) else { return 0.0 };
    let at = |step: usize| value(response, step as f64 / FINE as f64, 1.0, kernel).abs();
    let around = (FINE * peak).saturating_sub(FINE)..=FINE * (peak + 1);
    let highest = around.clone().map(at).fold(0.0, f64::max);
    // Samples are at most the peak between them, and what they show of it is more than half.
    let first = (0..peak).find(|n| level(*n) >= 0.5 * ONSET * highest).unwrap_or(peak);
    let mut before = 0.0;
    for step in (FINE * first).saturating_sub(FINE)..=*around.end() {
        let here = at(step);
        if here >= ONSET * highest {
            let back = if here > before { (here - ONSET * highest) / (here - before) } else { 0.0 };
            return (step as f64 - back) / FINE as f64;
        }
        before = here;
    }
    peak as f64
}

/// The band-limited value at a place between samples; `wide` > 1 also removes what a lower rate cannot hold.
fn value(response: &[f32], place: f64, wide: f64, kernel: &[f64]) -> f64 {
    let reach = HALF as f64 * wide;
    let first = (place - reach).ceil().max(0.0) as usize;
    let last = (place + reach).floor().min(response.len() as f64 - 1.0);
    if last < first as f64 {
        return 0.0;
    }
    let sum = (first..=last as usize).map(|n| {
        let at = (place - n as f64).abs() / wide * STEPS as f64;
        let below = (at as usize).min(kernel.len() - 2);
        f64::from(response[n]) * (kernel[below] + (at - below as f64) * (kernel[below + 1] - kernel[below]))
    });
    sum.sum::<f64>() / wide
}

/// A sine over its argument under half a raised cosine.
fn kernel() -> Vec<f64> {
    let at = |i: usize| {
        let x = i as f64 / STEPS as f64;
        let window = 0.5 + 0.5 * (PI * (x / HALF as f64).min(1.0)).cos();
        window * if i == 0 { 1.0 } else { (PI * x).sin() / (PI * x) }
    };
    (0..HALF * STEPS + 2).map(at).collect()
}

/// Energy of the spherical head's response to a source in front, in the band that was measured.
fn head_energy(rate_hz: f64, measured_hz: f64) -> f64 {
    let band_hz = 0.5 * rate_hz.min(measured_hz);
    let dry = f64::from(head::ears(0.0)[0].shadow);
    let p = f64::from(pole(head::pole_hz(), rate_hz));
    let steps = 1000;
    let hz = |i: usize| (i as f64 + 0.5) / f64::from(steps) * band_hz;
    let mean = (0..steps as usize).map(|i| power(dry, 1.0 - dry, p, hz(i), rate_hz)).sum::<f64>() / f64::from(steps);
    mean * band_hz / (0.5 * rate_hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A band-limited impulse sets in equally long before its peak, wherever its samples fall.
    #[test]
    fn onsets_do_not_depend_on_where_samples_fall() {
        let kernel = kernel();
        let leads = (0..50).map(|k| {
            let peak = 40.0 + f64::from(k) / 50.0;
            let impulse = |n: usize| {
                let x = (n as f64 - peak).abs().max(1e-9);
                (0.5 + 0.5 * (PI * (x / 24.0).min(1.0)).cos()) * (PI * x).sin() / (PI * x)
            };
            let response: Vec<f32> = (0..128).map(|n| impulse(n) as f32).collect();
            peak - onset(&response, &kernel)
        });
        let [least, most] = leads.fold([f64::INFINITY, 0.0], |[a, b], x: f64| [a.min(x), b.max(x)]);
        assert!(most - least < 0.05 && (0.7..0.85).contains(&least), "{least} to {most} samples");
    }
}
