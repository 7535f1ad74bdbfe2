//! Measured head-related responses.
//!
//! Each response is split into the delay until it sets in and what follows: only then can neighbouring directions be blended without one cancelling the other. Both are put on a grid of
//! directions of 5° when they are [made](Hrtf::from_measurements) on the control side; the audio side blends four neighbours of the grid.

mod prepare;
#[cfg(feature = "sofa")]
mod sofa;

#[cfg(feature = "sofa")]
pub use sofa::SofaError;

/// Directions of the grid around and from below to above.
const AZIMUTHS: usize = 72;
const ELEVATIONS: usize = 37;

/// The responses of both ears to a source in one direction.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Where the source was: right, forward, up.
    pub direction: [f32; 3],
    /// Responses of the left and the right ear.
    pub responses: [Vec<f32>; 2],
    /// What the responses are late beyond what they show.
    pub delays_s: [f32; 2],
}

/// Why measurements cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HrtfError {
    /// Nothing to blend.
    #[error("there are no measurements, or all of them are silent")]
    Silent,
    /// A sample or a direction is not a number.
    #[error("the measurement with number {0} holds something that is not a finite number")]
    NotFinite(usize),
    /// No rate, or one outside 8 to 768 kHz.
    #[error("a sample rate lies outside 8 to 768 kHz")]
    Rate,
}

/// Responses on a grid of directions, at the engine's sample rate.
#[derive(Clone)]
pub struct Hrtf {
    taps: usize,
    /// By elevation, azimuth, ear; last tap first.
    responses: Vec<f32>,
    /// By elevation and azimuth, in samples.
    delays: Vec<[f32; 2]>,
}

impl std::fmt::Debug for Hrtf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hrtf({} taps)", self.taps)
    }
}

impl Hrtf {
    /// Taps of each response.
    pub fn taps(&self) -> usize {
        self.taps
    }

    /// Blends the responses for a direction of unit length (right, forward, up) into `taps`, last tap first. Returns the delays of the ears in samples.
    pub(crate) fn blend(&self, [right, forward, up]: [f32; 3], mut taps: [&mut [f32]; 2]) -> [f32; 2] {
        let turn = std::f32::consts::TAU;
        let around = (right.atan2(forward) / turn).rem_euclid(1.0) * AZIMUTHS as f32;
        let high = (up.clamp(-1.0, 1.0).asin() / (0.5 * turn) + 0.5) * (ELEVATIONS - 1) as f32;
        let (a, e) = ((around as usize).min(AZIMUTHS - 1), (high as usize).min(ELEVATIONS - 2));
        let (share_a, share_e) = ((around - a as f32).clamp(0.0, 1.0), (high - e as f32).clamp(0.0, 1.0));
        let mut delays = [0.0; 2];
        taps.iter_mut().for_each(|t| t.fill(0.0));
        for (e, weight_e) in [(e, 1.0 - share_e), (e + 1, share_e)] {
            for (a, weight_a) in [(a, 1.0 - share_a), ((a + 1) % AZIMUTHS, share_a)] {
                let (at, weight) = (e * AZIMUTHS + a, weight_e * weight_a);
                for ear in 0..2 {
                    delays[ear] += weight * self.delays[at][ear];
                    let from = (2 * at + ear) * self.taps;
                    for (tap, x) in taps[ear].iter_mut().zip(&self.responses[from..from + self.taps]) {
                        *tap += weight * x;
                    }
                }
            }
        }
        delays
    }
}

/// The direction of a point of the grid: right, forward, up.
fn grid_direction(elevation: usize, azimuth: usize) -> [f64; 3] {
    let (sin_a, cos_a) = (std::f64::consts::TAU * azimuth as f64 / AZIMUTHS as f64).sin_cos();
    let (sin_e, cos_e) = (std::f64::consts::PI * (elevation as f64 / (ELEVATIONS - 1) as f64 - 0.5)).sin_cos();
    [cos_e * sin_a, cos_e * cos_a, sin_e]
}

#[cfg(test)]
pub(crate) mod tests;
