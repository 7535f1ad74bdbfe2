//! Sections of modes of which each drives the next: the brightness of gongs and crash cymbals rises with how hard they are struck.
//!
//! The modes, in order of frequency, are cut into sections. Each hears the force and `c·N(y)` of the section below, `y` being that section's
//! sound over a reference level. It only goes forward, so that it is stable whatever the level.

use crate::BLOCK;
use crate::drive::Force;
use crate::kernel::LANES;
use crate::table::ModeTable;

/// Sections at most.
pub(crate) const MAX_SECTIONS: usize = 4;

/// Deviation from a mode's pitch at which the coupling is as set, in rad/s. Products of a few modes hardly ever meet another exactly. Tuned on a gong
/// of 24 modes, whose brightness should at least double from a soft blow to a hard one.
const NEARBY: f32 = 300.0;

/// How far a section may be driven, in reference levels.
const CEILING: f32 = 100.0;

/// The curve through which a section drives the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaper {
    /// `y²` without its mean: sums and differences of frequencies.
    Square,
    /// `y|y|`: odd multiples.
    SignedSquare,
    /// `tanh³ y`: odd multiples that saturate.
    Saturating,
}

/// A nonlinear body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nonlinear {
    /// How many sections, two to four.
    pub sections: usize,
    /// How strongly each drives the next, 0 to 1: at the reference level a mode some 50 Hz off is driven up to this
    /// share of it.
    pub coupling: f32,
    /// Sound pressure at which the coupling counts, in Pa.
    pub reference_pa: f32,
    /// The curve.
    pub shaper: Shaper,
}

/// The sections of one body.
#[derive(Debug)]
pub(crate) struct Sections {
    settings: Nonlinear,
    bounds: [usize; MAX_SECTIONS + 1],
    pub weights: Vec<f32>,
    pub lane_weights: Vec<f32>,
    force: Force,
    history: [[f32; 2]; MAX_SECTIONS],
    mean: [f32; MAX_SECTIONS],
    mean_share: f32,
    heard: usize,
}

impl Sections {
    pub fn new(settings: Nonlinear, table: &ModeTable, rate_hz: f64) -> Self {
        let count = settings.sections.clamp(2, MAX_SECTIONS);
        let settings = Nonlinear {
            sections: count,
            coupling: settings.coupling.clamp(0.0, 1.0),
            reference_pa: settings.reference_pa.clamp(1e-9, 1e9),
            ..settings
        };
        let bounds = std::array::from_fn(|s| (table.len * s.min(count)) / count);
        let mut weights = vec![0.0; table.padded];
        for s in 1..count {
            let modes = bounds[s]..bounds[s + 1];
            let strongest = table.typical[modes.clone()].iter().fold(f32::MIN_POSITIVE, |a, &b| a.max(b));
            for k in modes {
                // A force of amplitude one drives a mode up to w fs/(2 max(d, δ)) if it is off its pitch by δ.
                let size = 2.0 * settings.reference_pa * NEARBY / rate_hz as f32;
                weights[k] = size * table.typical[k] / strongest;
            }
        }
        Self {
            settings,
            bounds,
            lane_weights: vec![0.0; table.padded + 2 * (MAX_SECTIONS + 2) * LANES],
            weights,
            force: Force { plain: [0.0; BLOCK], differenced: [0.0; BLOCK] },
            history: Default::default(),
            mean: [0.0; MAX_SECTIONS],
            // Removes what is slower than 20 Hz.
            mean_share: (std::f64::consts::TAU * 20.0 / rate_hz) as f32,
            heard: 0,
        }
    }

    pub fn count(&self) -> usize {
        self.settings.sections
    }

    /// First mode of each section.
    pub fn starts(&self) -> [usize; MAX_SECTIONS] {
        std::array::from_fn(|s| self.bounds[s])
    }

    pub fn begin(&mut self) {
        self.heard = 0;
    }

    /// The force that the section below puts on this one.
    pub fn coupling(&self, section: usize) -> Option<&Force> {
        (section > 0 && self.settings.coupling > 0.0).then_some(&self.force)
    }

    /// The sound of the section that was just computed; makes the force for the next.
    pub fn hear(&mut self, sound: &[f32]) {
        let s = self.heard;
        self.heard += 1;
        let scale = 1.0 / self.settings.reference_pa.max(1e-12);
        for (n, y) in sound.iter().enumerate() {
            let u = (y * scale).clamp(-CEILING, CEILING);
            let shaped = match self.settings.shaper {
                Shaper::Square => {
                    self.mean[s] += self.mean_share * (u * u - self.mean[s]);
                    u * u - self.mean[s]
                }
                Shaper::SignedSquare => u * u.abs(),
                Shaper::Saturating => u.tanh().powi(3),
            };
            let force = self.settings.coupling * shaped;
            self.force.plain[n] = force;
            self.force.differenced[n] = 0.5 * (force - self.history[s][0]);
            self.history[s] = [self.history[s][1], force];
        }
    }
}
