//! The force of a blow: a half-sine whose length follows from mass and stiffness of the contact.
//!
//! Two bodies of masses `m₁, m₂` that meet through a spring `k` stay in contact for `T = π√(m/k)` with `1/m = 1/m₁ + 1/m₂`, and the force is
//! `F(t) = J π/(2T) · sin(πt/T)` with impulse `J = ∫F dt`. Its spectrum is 3 dB down at 0.6/T and first zero at 1.5/T: soft mallets sound dull.

/// Longest contact.
const LONGEST_S: f64 = 0.03;

/// How long a blow lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactTime {
    /// Effective mass in kg.
    pub mass_kg: f64,
    /// Stiffness of the contact in N/m: 1e4 (soft felt) to 1e8 (steel on steel).
    pub stiffness_n_m: f64,
}

impl ContactTime {
    /// `T = π√(m/k)`, at most 30 ms.
    pub fn seconds(&self) -> f64 {
        (std::f64::consts::PI * (self.mass_kg / self.stiffness_n_m).sqrt()).min(LONGEST_S)
    }

    /// The same for a spring that hardens as `F = kx(1 + (x/x₀)²)`, struck at `speed` in m/s: with `A = v√(m/k)/x₀` and `u = √(1 + 2A²) − 1`,
    /// `T = π√(m/k)/√(1 + ¾u)`, within 2 % of the integrated motion up to `A = 5`.
    pub fn hardened_seconds(&self, speed_m_s: f64, stiffness_length_m: f64) -> f64 {
        let reach = speed_m_s * (self.mass_kg / self.stiffness_n_m).sqrt() / stiffness_length_m;
        let u = (1.0 + 2.0 * reach * reach).sqrt() - 1.0;
        (std::f64::consts::PI * (self.mass_kg / self.stiffness_n_m).sqrt() / (1.0 + 0.75 * u).sqrt()).min(LONGEST_S)
    }

    /// Effective mass of a striker against a body, `1/m = 1/m₁ + 1/m₂`; a body of unknown mass does not give way.
    pub fn effective_mass_kg(striker_kg: f64, body_kg: Option<f64>) -> f64 {
        body_kg.map_or(striker_kg, |body| striker_kg * body / (striker_kg + body))
    }
}

/// A half-sine force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSine {
    /// `∫F dt` in N·s.
    pub impulse_ns: f64,
    /// Length in s.
    pub duration_s: f64,
    /// When it begins, in samples after the first; may be fractional.
    pub start_samples: f64,
}

impl HalfSine {
    /// The force in newtons at the sample times. Their sum is the impulse exactly, however short the blow.
    pub fn samples(&self, sample_rate_hz: f64) -> Vec<f64> {
        (0..self.end(sample_rate_hz)).map(|n| self.at(n, sample_rate_hz)).collect()
    }

    /// Samples after which the force is zero.
    pub fn end(&self, sample_rate_hz: f64) -> u64 {
        (self.start_samples + self.length(sample_rate_hz)).ceil() as u64 + 4
    }

    fn length(&self, sample_rate_hz: f64) -> f64 {
        (self.duration_s * sample_rate_hz).max(0.0)
    }

    /// The force at one sample.
    ///
    /// The values are means over one sample's period, which would dull the treble (by 0.27 dB at 6 kHz); for blows of two samples
    /// and more the second difference takes that back, `F − δ²F/24`. They are one sample late then: what the correction adds
    /// before the first must not be lost.
    pub fn at(&self, sample: u64, sample_rate_hz: f64) -> f64 {
        let length = self.length(sample_rate_hz);
        // Share of the impulse delivered by time t (in samples after the start): (1 − cos πt/T)/2.
        let delivered = |n: f64| {
            let t = n - self.start_samples;
            if t <= 0.0 {
                0.0
            } else if t >= length {
                1.0
            } else {
                0.5 * (1.0 - (std::f64::consts::PI * t / length).cos())
            }
        };
        let scale = self.impulse_ns * sample_rate_hz;
        let n = sample as f64;
        if length < 2.0 {
            return scale * (delivered(n + 1.0) - delivered(n));
        }
        let [a, b, c, d] = [-2.0, -1.0, 0.0, 1.0].map(|k| delivered(n + k));
        scale * ((c - b) - ((d - c) - 2.0 * (c - b) + (b - a)) / 24.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contact time π√(m/k) and impulse, against the motion of a mass on a spring integrated by velocity Verlet.
    #[test]
    fn a_mass_on_a_spring_touches_for_half_a_period() {
        let (m, k, v) = (0.02, 1e6, 1.5);
        let contact = ContactTime { mass_kg: m, stiffness_n_m: k };
        let h = 1e-9;
        let (mut x, mut speed, mut t, mut impulse) = (0.0, v, 0.0, 0.0);
        loop {
            let a = -k * x / m;
            x += h * speed + 0.5 * h * h * a;
            let b = -k * x / m;
            speed += 0.5 * h * (a + b);
            t += h;
            impulse += h * k * x.max(0.0);
            if x <= 0.0 {
                break;
            }
        }
        assert!((contact.seconds() / t - 1.0).abs() < 1e-3);
        let blow = HalfSine { impulse_ns: 2.0 * m * v, duration_s: contact.seconds(), start_samples: 0.3 };
        let sum: f64 = blow.samples(44_100.0).iter().sum::<f64>() / 44_100.0;
        assert!((sum / impulse - 1.0).abs() < 1e-3 && (sum / (2.0 * m * v) - 1.0).abs() < 1e-12);
        let peak = blow.samples(10e6).into_iter().fold(0.0, f64::max);
        assert!((peak / (v * (m * k).sqrt()) - 1.0).abs() < 1e-3, "F = v √(mk)");
    }

    /// The contact time of a hardening spring against the integrated motion.
    #[test]
    fn a_hard_blow_on_a_hardening_spring_is_shorter() {
        let (m, k, x0) = (0.01, 1e6, 5e-4);
        let contact = ContactTime { mass_kg: m, stiffness_n_m: k };
        for reach in [0.1, 0.5, 1.0, 2.0, 5.0] {
            let v = reach * x0 * f64::sqrt(k / m);
            let (mut x, mut speed, mut t, h) = (0.0, v, 0.0, 1e-9);
            let force = |x: f64| -k * x * (1.0 + (x / x0).powi(2));
            while t == 0.0 || x > 0.0 {
                let a = force(x) / m;
                x += h * speed + 0.5 * h * h * a;
                speed += 0.5 * h * (a + force(x) / m);
                t += h;
            }
            let formula = contact.hardened_seconds(v, x0);
            assert!((formula / t - 1.0).abs() < 0.02, "A = {reach}: {formula} against {t}");
        }
    }

    #[test]
    fn a_blow_shorter_than_a_sample_keeps_its_impulse() {
        let blow = HalfSine { impulse_ns: 0.1, duration_s: 1e-9, start_samples: 2.5 };
        let samples = blow.samples(48_000.0);
        assert!((samples.iter().sum::<f64>() / 48_000.0 - 0.1).abs() < 1e-12);
        assert_eq!(samples.iter().filter(|f| **f != 0.0).count(), 1);
    }
}
