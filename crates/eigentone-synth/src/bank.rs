//! A bank of damped oscillators: the scalar reference.
//!
//! The state of a mode is a complex number `z` that turns and shrinks by `P = e^{(−d + jω)/fs}` every sample. A force adds
//! `u·F/fs` to it. From `q̈ + 2dq̇ + (ω² + d²)q = u·F` follow displacement `q = Im z/ω` and velocity `q̇ = Re z − (d/ω) Im z`, exactly;
//! the sound is the sum of `output_gain · q̇`. Everything is in double precision: this bank is what faster ones are compared with.

use crate::kernel::{Bank, Kernels, LANES};
use eigentone_core::Mode;
use std::f64::consts::TAU;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Oscillator {
    /// State, real and imaginary part.
    z: [f64; 2],
    /// Turn per sample.
    turn: [f64; 2],
    /// `d/ω`.
    slant: f64,
    gain: f64,
}

/// Modes that ring.
#[derive(Clone, Debug)]
pub struct ScalarBank {
    oscillators: Vec<Oscillator>,
    sample_rate_hz: f64,
}

impl ScalarBank {
    /// A silent bank. Modes at or above half the sample rate are kept silent; they could only alias.
    pub fn new(modes: &[Mode], sample_rate_hz: f64) -> Self {
        let oscillators = modes
            .iter()
            .map(|mode| {
                let omega = TAU * mode.frequency_hz;
                let (sin, cos) = (omega / sample_rate_hz).sin_cos();
                let shrink = (-mode.decay_per_s / sample_rate_hz).exp();
                let audible = mode.frequency_hz < 0.5 * sample_rate_hz;
                Oscillator {
                    z: [0.0; 2],
                    turn: [shrink * cos, shrink * sin],
                    slant: mode.decay_per_s / omega,
                    gain: if audible { mode.output_gain } else { 0.0 },
                }
            })
            .collect();
        Self { oscillators, sample_rate_hz }
    }

    /// Number of modes.
    pub fn len(&self) -> usize {
        self.oscillators.len()
    }

    /// Whether there is no mode at all.
    pub fn is_empty(&self) -> bool {
        self.oscillators.is_empty()
    }

    /// Gives every mode the velocity `excitation[n]` at once: an impulse.
    pub fn impulse(&mut self, excitation: &[f64]) {
        for (o, g) in self.oscillators.iter_mut().zip(excitation) {
            o.z[0] += g;
        }
    }

    /// Adds the sound of the next samples to `out` while `force` (newtons, one value per sample, silence after its end) acts with
    /// the weights `excitation`.
    pub fn process(&mut self, excitation: &[f64], force: &[f64], out: &mut [f64]) {
        let period = 1.0 / self.sample_rate_hz;
        for (o, g) in self.oscillators.iter_mut().zip(excitation) {
            let push = g * period;
            for (n, sample) in out.iter_mut().enumerate() {
                o.z[0] += push * force.get(n).copied().unwrap_or(0.0);
                *sample += o.gain * (o.z[0] - o.slant * o.z[1]);
                let [re, im] = o.z;
                o.z = [re * o.turn[0] - im * o.turn[1], re * o.turn[1] + im * o.turn[0]];
            }
        }
    }

    /// Energy of each mode's velocity, `|z|²/2`.
    pub fn energies(&self) -> impl Iterator<Item = f64> {
        self.oscillators.iter().map(|o| 0.5 * (o.z[0] * o.z[0] + o.z[1] * o.z[1]))
    }
}

/// A bank that is stepped sample by sample, for feedback that closes every sample: stick-slip friction needs to know what the force of this sample
/// has done before it can give the next.
#[derive(Clone, Debug)]
pub struct StepBank {
    state: [Vec<f32>; 2],
    pole: [Vec<f32>; 2],
    weights: Vec<f32>,
    kernels: Kernels,
}

impl StepBank {
    /// A silent bank, on which a force of one newton acts with the weights `excitation` (see [`eigentone_core::ModalModel::excitation`]). What it
    /// gives is the sound: output gains are in it.
    pub fn new(modes: &[Mode], excitation: &[f64], sample_rate_hz: f64) -> Self {
        let n = modes.len().next_multiple_of(LANES);
        let mut bank = Self {
            state: [vec![0.0; n], vec![0.0; n]],
            pole: [vec![0.0; n], vec![0.0; n]],
            weights: vec![0.0; n],
            kernels: Kernels::best(),
        };
        for (i, (mode, g)) in modes.iter().zip(excitation).enumerate() {
            if mode.frequency_hz < 0.49 * sample_rate_hz {
                let (sin, cos) = (TAU * mode.frequency_hz / sample_rate_hz).sin_cos();
                let shrink = (-mode.decay_per_s / sample_rate_hz).exp();
                (bank.pole[0][i], bank.pole[1][i]) = ((shrink * cos) as f32, (shrink * sin) as f32);
                bank.weights[i] = (g * mode.output_gain / sample_rate_hz) as f32;
            }
        }
        bank
    }

    /// The next sample under a force in newtons.
    pub fn step(&mut self, force_n: f32) -> f32 {
        let [s0, s1] = &mut self.state;
        let [c0, c1] = &self.pole;
        (self.kernels.rotation_step)(Bank { s0, s1, c0, c1 }, &self.weights, force_n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stepped and in blocks, in single and in double precision: the same sound.
    #[test]
    fn a_stepped_bank_sounds_like_the_reference() {
        let modes: Vec<Mode> = (0..20).map(|i| mode(100.0 * 1.3f64.powi(i), 10.0)).collect();
        let excitation: Vec<f64> = (0..20).map(|i| f64::from(i % 5) - 2.0).collect();
        let force: Vec<f64> = (0..2000).map(|n| if n < 50 { f64::from(n % 7) } else { 0.0 }).collect();
        let mut truth = vec![0.0; 2000];
        ScalarBank::new(&modes, 44_100.0).process(&excitation, &force, &mut truth);
        let mut bank = StepBank::new(&modes, &excitation, 44_100.0);
        let peak = truth.iter().fold(0.0f64, |m, y| m.max(y.abs()));
        for (y, f) in truth.iter().zip(&force) {
            // The reference also has the phase d/ω.
            assert!((f64::from(bank.step(*f as f32)) - y).abs() < 0.02 * peak);
        }
    }

    /// The energy of a mode is half the square of its amplitude, from 20 Hz to 20 kHz, at any phase.
    #[test]
    fn the_energy_is_half_the_square_of_the_amplitude() {
        for hz in [20.0, 440.0, 2000.0, 8000.0, 20_000.0] {
            for samples in [1, 3, 10, 333] {
                let mut bank = ScalarBank::new(&[mode(hz, 1e-9)], 44_100.0);
                bank.impulse(&[0.3]);
                bank.process(&[0.0], &[], &mut vec![0.0; samples]);
                let energy = bank.energies().next().unwrap();
                assert!((energy / 0.045 - 1.0).abs() < 1e-6, "{hz} Hz after {samples}: {energy}");
            }
        }
    }

    fn mode(frequency_hz: f64, decay_per_s: f64) -> Mode {
        Mode { frequency_hz, decay_per_s, output_gain: 1.0 }
    }

    /// The poles of `q̈ + (γ + ηλ)q̇ + λq = δ(t)`, integrated by Runge–Kutta, agree with the bank's closed form to 1e-6.
    #[test]
    fn the_impulse_response_solves_the_equation_of_motion() {
        // Lightly damped, and so heavily that it hardly swings.
        for (gamma, eta) in [(20.0, 3e-7), (5000.0, 5e-5)] {
            compare_with_the_equation_of_motion(gamma, eta, (TAU * 500.0f64).powi(2));
        }
    }

    fn compare_with_the_equation_of_motion(gamma: f64, eta: f64, lambda: f64) {
        let d = 0.5 * (gamma + eta * lambda);
        let frequency_hz = (lambda - d * d).sqrt() / TAU;
        let rate = 8000.0;
        let mut bank = ScalarBank::new(&[mode(frequency_hz, d)], rate);
        bank.impulse(&[1.0]);
        let mut sound = vec![0.0; 800];
        bank.process(&[0.0], &[], &mut sound);

        let slope = |[q, v]: [f64; 2]| [v, -(gamma + eta * lambda) * v - lambda * q];
        let (mut state, steps) = ([0.0, 1.0], 64);
        let h = 1.0 / (rate * f64::from(steps));
        for (n, y) in sound.iter().enumerate() {
            assert!((state[1] - y).abs() < 1e-6, "sample {n}: {} {y}", state[1]);
            for _ in 0..steps {
                let ahead = |k: [f64; 2], by: f64| [state[0] + by * k[0], state[1] + by * k[1]];
                let k1 = slope(state);
                let k2 = slope(ahead(k1, 0.5 * h));
                let k3 = slope(ahead(k2, 0.5 * h));
                let k4 = slope(ahead(k3, h));
                state = std::array::from_fn(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
            }
        }
    }

    /// `|z|` decays as `e^{−dt}`, to 1e-12 over a second, from 20 Hz to 20 kHz.
    #[test]
    fn the_state_decays_exponentially() {
        let modes: Vec<Mode> = [20.0, 440.0, 5000.0, 20_000.0].into_iter().map(|f| mode(f, 3.0)).collect();
        let mut bank = ScalarBank::new(&modes, 44_100.0);
        bank.impulse(&[1.0; 4]);
        bank.process(&[0.0; 4], &[], &mut [0.0; 44_100]);
        for energy in bank.energies() {
            assert!((energy / (0.5 * (-6.0f64).exp()) - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn modes_above_half_the_sample_rate_do_not_alias() {
        let mut bank = ScalarBank::new(&[mode(30_000.0, 5.0)], 44_100.0);
        bank.impulse(&[1.0]);
        let mut sound = vec![0.0; 100];
        bank.process(&[0.0], &[], &mut sound);
        assert!(sound.iter().all(|&y| y == 0.0));
    }
}
