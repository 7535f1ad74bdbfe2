//! Blows between two textured surfaces (Menzies 2011, §5): how long they last, how hard they are, what else is heard during them.

use super::filter::LowPass;
use super::recorded::Recording;
use crate::ContactTime;
use eigentone_core::Noise;
use eigentone_core::texture::Texture;
use std::f64::consts::PI;
use std::sync::Arc;

/// A blow: two springs in series, two masses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactShape {
    /// `1/m = 1/m₁ + 1/m₂`.
    pub mass_kg: f64,
    /// `1/k = 1/k₁ + 1/k₂`.
    pub stiffness_n_m: f64,
    /// Time of contact, shortened by the hardening of the softer surface.
    pub duration_s: f64,
    /// `(1 + e) m v`, with the speed that the surfaces' amplitude curves allow.
    pub impulse_ns: f64,
    /// That speed as a share of the limit, 0–1.
    pub strength: f64,
    /// Share of the speed that is left, `e = √(e₁e₂)`.
    pub restitution: f64,
}

impl ImpactShape {
    /// A blow at `speed_m_s` along the normal. A body that does not move has infinite mass.
    pub fn new(surfaces: [&Texture; 2], masses_kg: [f64; 2], speed_m_s: f64) -> Self {
        let series = |[a, b]: [f64; 2]| 1.0 / (1.0 / a + 1.0 / b);
        // Outside of this it would be no blow that is heard: a speck, or two mountains.
        let mass_kg = series(masses_kg).clamp(1e-9, 1e4);
        let stiffness_n_m = series(surfaces.map(|s| f64::from(s.stiffness_n_m)));
        let softer = if surfaces[0].stiffness_n_m < surfaces[1].stiffness_n_m { surfaces[0] } else { surfaces[1] };
        let limit = |s: &Texture| f64::from(s.impact.amplitude.largest());
        let speed = surfaces
            .map(|s| f64::from(s.impact.amplitude.at(speed_m_s.abs() as f32)))
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        let restitution = f64::from(surfaces[0].restitution * surfaces[1].restitution).sqrt();
        let contact = ContactTime { mass_kg, stiffness_n_m };
        Self {
            mass_kg,
            stiffness_n_m,
            duration_s: contact.hardened_seconds(speed, f64::from(softer.stiffness_length_m)),
            impulse_ns: (1.0 + restitution) * mass_kg * speed,
            strength: (speed / limit(surfaces[0]).min(limit(surfaces[1])).max(1e-9)).clamp(0.0, 1.0),
            restitution,
        }
    }

    /// Peak of the half-sine, `F = πJ/(2T)`.
    pub fn peak_n(&self) -> f64 {
        PI * self.impulse_ns / (2.0 * self.duration_s)
    }

    /// Above this a recorded blow is too bright, `0.5/T`.
    pub fn cutoff_hz(&self) -> f64 {
        0.5 / self.duration_s
    }

    /// `√(m/k)`, on which a texture's low-pass depends.
    pub fn mass_over_stiffness_s(&self) -> f32 {
        (self.mass_kg / self.stiffness_n_m).sqrt() as f32
    }

    /// How long a blow that slips also rubs: `(d/v)(1 + 1/e)`, into a depth `d` at the speed `v` and out again at `e v`, held between 1 and 100 ms.
    pub fn grazing_s(&self, depth_m: f32, approach_m_s: f32) -> f64 {
        let way_in_s = f64::from(depth_m / approach_m_s.abs().max(1e-6));
        (way_in_s * (1.0 + 1.0 / self.restitution.max(0.01))).clamp(1e-3, 0.1)
    }
}

/// Recorded blows, from soft to hard: two of them, mixed by strength, never the same pair's first twice in a row.
#[derive(Clone, Debug)]
pub struct RecordedImpact {
    takes: Arc<[Recording]>,
    chosen: [usize; 2],
    gains: [f32; 2],
    step: [f64; 2],
    /// Samples into the takes; none if all is silent.
    place: Option<[f64; 2]>,
    low_pass: LowPass,
    noise: Noise,
    rate_hz: f64,
}

impl RecordedImpact {
    /// A silent player.
    pub fn new(takes: Arc<[Recording]>, seed: u64, sample_rate_hz: f64) -> Self {
        Self {
            takes,
            chosen: [usize::MAX; 2],
            gains: [0.0; 2],
            step: [0.0; 2],
            place: None,
            low_pass: LowPass::default(),
            noise: Noise::new(seed),
            rate_hz: sample_rate_hz,
        }
    }

    /// Begins a blow; one that is still heard is cut off.
    pub fn start(&mut self, blow: &ImpactShape) {
        let n = self.takes.len();
        if n == 0 {
            return;
        }
        let first = self.draw(n, self.chosen[0]);
        let second = self.draw(n, first);
        // Takes are sorted: the later of the two is the harder.
        self.chosen = if n > 1 { [first, second] } else { [0, 0] };
        let (hard, soft) = (std::f64::consts::FRAC_PI_2 * blow.strength).sin_cos();
        let by_order = if first < second { [soft, hard] } else { [hard, soft] };
        let peak_n = blow.peak_n().min(1e6);
        self.gains = if n > 1 { by_order.map(|g| (peak_n * g) as f32) } else { [peak_n as f32, 0.0] };
        for (step, &take) in self.step.iter_mut().zip(&self.chosen) {
            *step = self.takes[take].sample_rate_hz() / self.rate_hz * (1.0 + 0.02 * self.noise.bipolar());
        }
        self.low_pass.reset();
        self.low_pass.tune(2, blow.cutoff_hz() / self.rate_hz);
        self.place = Some([0.0; 2]);
    }

    /// A random take that is not `last`.
    fn draw(&mut self, n: usize, last: usize) -> usize {
        let others = if last < n && n > 1 { n - 1 } else { n };
        let drawn = (self.noise.uniform() * others as f64) as usize;
        if last < n && n > 1 && drawn >= last { drawn + 1 } else { drawn }
    }

    /// Which takes the last blow was made of.
    pub fn chosen(&self) -> [usize; 2] {
        self.chosen
    }

    /// Whether nothing is heard.
    pub fn is_silent(&self) -> bool {
        self.place.is_none()
    }

    /// The force of the next samples, in newtons.
    pub fn fill(&mut self, out: &mut [f32]) {
        out.fill(0.0);
        let Some(mut place) = self.place else { return };
        for y in out.iter_mut() {
            let mut sum = 0.0;
            for (i, at) in place.iter_mut().enumerate() {
                sum += self.gains[i] * self.takes[self.chosen[i]].at(*at, false);
                *at += self.step[i];
            }
            *y = self.low_pass.step(sum);
        }
        // A tenth of a second for the filter, whose time of contact is at most 30 ms, to ring out.
        let over = |i: usize| place[i] > self.takes[self.chosen[i]].samples().len() as f64 + 0.1 * self.rate_hz;
        self.place = if over(0) && over(1) { None } else { Some(place) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::texture::{Curve, Impact};

    /// 0.2 mm at 0.1 m/s are 2 ms in; out again as long at e = 1, twice as long at e = 0.5. Fast blows rub for 1 ms, slow ones for 100 ms.
    #[test]
    fn a_blow_rubs_as_long_as_the_way_in_and_out() {
        for (approach_m_s, e, expected_s) in [
            (0.1, 1.0, 4e-3),
            (0.1, 0.5, 6e-3),
            (-0.1, 0.5, 6e-3),
            (100.0, 1.0, 1e-3),
            (1e-4, 0.5, 0.1),
            (0.0, 0.0, 0.1),
        ] {
            let surface = Texture { restitution: e, ..Texture::default() };
            let blow = ImpactShape::new([&surface, &surface], [0.1, 0.1], f64::from(approach_m_s));
            let found_s = blow.grazing_s(2e-4, approach_m_s);
            assert!((found_s / expected_s - 1.0).abs() < 1e-6, "{approach_m_s} m/s, e = {e}: {found_s} s");
        }
    }

    /// Springs in series, masses likewise, rows 46 and 47 for the time, and the upper limit of the amplitude.
    #[test]
    fn a_blow_has_the_time_and_impulse_of_its_surfaces() {
        let [hard, soft] = [1e8, 1e5].map(|stiffness_n_m| Texture {
            stiffness_n_m,
            stiffness_length_m: f32::INFINITY,
            restitution: 0.5,
            ..Texture::default()
        });
        let blow = ImpactShape::new([&hard, &soft], [0.1, f64::INFINITY], 2.0);
        let k = 1.0 / (1e-8 + 1e-5);
        assert!((blow.duration_s / (std::f64::consts::PI * (0.1f64 / k).sqrt()) - 1.0).abs() < 1e-6);
        assert!((blow.impulse_ns - 1.5 * 0.1 * 2.0).abs() < 1e-9 && (blow.stiffness_n_m / k - 1.0).abs() < 1e-6);
        assert!((blow.peak_n() * 2.0 * blow.duration_s / std::f64::consts::PI - blow.impulse_ns).abs() < 1e-9);
        let hardening = Texture { stiffness_length_m: 5e-4, ..soft.clone() };
        assert!(ImpactShape::new([&hard, &hardening], [0.1, f64::INFINITY], 2.0).duration_s < 0.8 * blow.duration_s);
        let amplitude = Curve::new(&[[0.0, 0.0], [0.5, 0.6], [2.0, 1.0]]).unwrap();
        let limited = Texture { impact: Impact { amplitude, ..Impact::default() }, ..soft };
        let [usual, wild] = [2.0, 200.0].map(|v| ImpactShape::new([&hard, &limited], [0.1, 0.2], v));
        assert_eq!((usual.impulse_ns, usual.strength), (wild.impulse_ns, 1.0));
    }
}
