//! From the time of a simulation to that of the engine.

use eigentone_core::event::Moment;

/// `sample = time_s · rate_hz + offset_samples`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clock {
    sample_rate_hz: f64,
    rate_hz: f64,
    offset_samples: f64,
}

impl Clock {
    /// Both times are one.
    pub fn new(sample_rate_hz: f64) -> Self {
        Self { sample_rate_hz, rate_hz: sample_rate_hz, offset_samples: 0.0 }
    }

    /// Numbers that make no sense change nothing.
    pub fn set(&mut self, offset_samples: f64, rate_hz: f64) {
        if offset_samples.is_finite() && rate_hz.is_finite() && rate_hz > 0.0 {
            (self.offset_samples, self.rate_hz) = (offset_samples, rate_hz);
        }
    }

    /// The moment of a time in the simulation, and some seconds of sound after it.
    pub fn moment(&self, time_s: f64, later_s: f64) -> Moment {
        let time_s = time_s + later_s * (self.sample_rate_hz / self.rate_hz);
        let samples = (time_s * self.rate_hz + self.offset_samples).max(0.0);
        Moment { sample: samples as u64, fraction: samples.fract() as f32 }
    }
}
