//! One body as a source of sound.

use super::filter::{DcBlock, LowPass};
use super::{Radiation, RadiatorSettings, law, volume_velocity};
use crate::soft::{SoftId, SoftWorld};
use eigentone_core::{AIR_IMPEDANCE_PA_S_PER_M, Vec3};

/// What one body sends in a direction: one channel, as heard at one metre without delay.
///
/// Rayleigh's integral as in [`Radiator`](super::Radiator), with all of the body in one place: for bodies that are small against the wavelength, or where what brings the sound to the ear knows of no
/// more than one place. It follows its body through all that happens to others, and through changes of the step.
#[derive(Clone)]
pub struct DrySound {
    id: SoftId,
    sample_rate_hz: f64,
    low_pass: LowPass,
    dc_block: DcBlock,
    gain: f64,
    pressures: Vec<f64>,
    filtered: Vec<f64>,
    /// Of each triangle the cosine between its normal and the direction, or nothing behind.
    cosines: Vec<f64>,
    begun: bool,
}

impl DrySound {
    /// Of a body, at the sample rate of the world's settings. `None` if it has been removed.
    pub fn new(world: &SoftWorld, id: SoftId, sample_rate_hz: f64, radiation: Radiation) -> Option<Self> {
        let triangles = world.get(id)?.surface().len();
        let settings = RadiatorSettings::default();
        let highest_hz = settings.highest_hz.min(0.45 * sample_rate_hz);
        let (output, gain) = law(radiation);
        let steps = world.steps_per_sample(sample_rate_hz);
        let low_pass = LowPass::new(output, highest_hz, sample_rate_hz, steps, triangles);
        Some(Self {
            id,
            sample_rate_hz,
            dc_block: DcBlock::new(settings.lowest_hz, sample_rate_hz, triangles, 2 * low_pass.latency()),
            low_pass,
            gain,
            pressures: vec![0.0; triangles],
            filtered: vec![0.0; triangles],
            cosines: vec![0.0; triangles],
            begun: false,
        })
    }

    /// Which body.
    pub fn id(&self) -> SoftId {
        self.id
    }

    /// Samples by which it is late: the first belongs to the time `latency/rate` before the beginning of the audio sample in which the first step was listened to.
    pub fn latency(&self) -> usize {
        self.low_pass.latency() - 1
    }

    /// To be called after each step of the world; `sample` is called at the end of every audio sample, in Pa at 1 m. `toward` is the direction from the body to who listens, of any length. A body that is
    /// gone fades within the length of the filters.
    pub fn listen(&mut self, world: &SoftWorld, toward: Vec3, mut sample: impl FnMut(f32)) {
        let steps = world.steps_per_sample(self.sample_rate_hz);
        if self.low_pass.steps() != steps {
            self.low_pass.set_steps(steps);
        }
        let body = world.get(self.id).filter(|body| body.surface().len() == self.pressures.len());
        let (positions, velocities) = world.arrays();
        if let Some(body) = &body {
            for (pressure, triangle) in self.pressures.iter_mut().zip(body.surface()) {
                *pressure = AIR_IMPEDANCE_PA_S_PER_M * volume_velocity(positions, velocities, triangle);
            }
        }
        if !self.begun {
            self.begun = true;
            // As if it had been listened to from the beginning of this audio sample.
            let missed = world.steps_in_sample().checked_sub(1).unwrap_or(steps - 1);
            for _ in 0..missed {
                self.low_pass.push(&self.pressures, &mut self.filtered);
            }
        }
        if !self.low_pass.push(&self.pressures, &mut self.filtered) {
            return;
        }
        self.dc_block.pass(&mut self.filtered);
        if let (Some(body), Some(toward)) = (body, toward.try_normalize()) {
            for (cosine, triangle) in self.cosines.iter_mut().zip(body.surface()) {
                let [a, b, c] = triangle.map(|n| positions[n as usize].point());
                *cosine = (b - a).cross(c - a).normalize_or_zero().dot(toward).max(0.0);
            }
        }
        let sum: f64 = self.filtered.iter().zip(&self.cosines).map(|(value, cosine)| value * cosine).sum();
        let heard = (self.gain * sum) as f32;
        sample(if heard.is_finite() { heard } else { 0.0 });
    }
}
