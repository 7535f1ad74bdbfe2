//! Stick and slip (Menzies 2011, §6.2.4).
//!
//! A lateral spring `k` is stretched by `x' = v − κ v_r`, with `v_r` the velocity of the resonator's surface along the slip. It sticks until `k|x| > μ_s N`, then slips back by `(μ_s − μ_d)N/k`: a sawtooth of
//! `v k/((μ_s − μ_d) N)` hertz. The signal is `k x/N` less its mean `(μ_s + μ_d)/2`.
//!
//! If every slip took the same length off, there would be as many of them as fit into the way of the slider, whatever the resonator does: it could never lock. So a slip is longer by the share
//! `κ v_r/v`, at most by half, when the surface moves along with the slider at its beginning, and shorter when it moves against it. Above its frequency a resonator moves along at that moment and below it
//! against (the phase of its response), and both pull the pitch towards it, as an injected tone does (Adler 1946). That half is tuned: locks within about ±10 % of a mode.

use eigentone_core::texture;

/// How much longer or shorter a slip may become.
const PULL: f32 = 0.5;

#[derive(Clone, Copy, Debug)]
pub(super) struct Friction {
    shape: texture::Friction,
    /// Stretch of the spring in units of `N/k`, so that it does not jump when the force does.
    stretch: f32,
    /// What is left of a slip, in the same unit and with its sign, and how much of it goes per sample.
    slip: f32,
    slip_step: f32,
    surface_m_s: f32,
    period_s: f32,
}

impl Friction {
    pub fn new(shape: texture::Friction, period_s: f32) -> Self {
        let stretch = 0.5 * (shape.sticking + shape.slipping);
        Self { shape, stretch, slip: 0.0, slip_step: 0.0, surface_m_s: 0.0, period_s }
    }

    /// The velocity that the last force gave to the surface.
    pub fn feel(&mut self, surface_m_s: f32) {
        self.surface_m_s = if surface_m_s.is_finite() { self.shape.feedback * surface_m_s } else { 0.0 };
    }

    #[inline]
    pub fn step(&mut self, slip_m_s: f32, force_n: f32) -> f32 {
        let texture::Friction { sticking, slipping, stiffness_n_m, slip_time_s, .. } = self.shape;
        // A force that vanishes would be a spring that is infinitely stiff.
        let per_metre = stiffness_n_m / force_n.max(1e-3);
        self.stretch += (slip_m_s - self.surface_m_s) * self.period_s * per_metre;
        if self.slip == 0.0 && self.stretch.abs() > sticking {
            let along = self.stretch.signum();
            let pull = (along * self.surface_m_s / slip_m_s.max(1e-4)).clamp(-PULL, PULL);
            self.slip = along * (sticking - slipping) * (1.0 + pull);
            self.slip_step = self.slip.abs() * (self.period_s / slip_time_s.max(self.period_s));
        }
        let back = self.slip.clamp(-self.slip_step, self.slip_step);
        self.stretch = (self.stretch - back).clamp(-2.0 * sticking, 2.0 * sticking);
        self.slip = if self.slip.abs() <= 1.001 * self.slip_step { 0.0 } else { self.slip - back };
        // Too fast to stick: the teeth fade before they fold down at half the sample rate.
        let cycles_per_sample = slip_m_s * self.period_s * per_metre / (sticking - slipping);
        (self.stretch - 0.5 * (sticking + slipping)) * ((0.25 - cycles_per_sample) / 0.125).clamp(0.0, 1.0)
    }
}
