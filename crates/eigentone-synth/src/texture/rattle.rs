//! What a vibrating body does to one that hardly touches it any more: micro-impacts while two bodies part (Menzies 2011, §5.3).

/// Longest time in which micro-impacts are looked for.
const LONGEST_S: f32 = 0.2;

/// Shortest, in which the resonator has begun to move.
const SHORTEST_S: f32 = 2e-3;

/// Samples between two of them: at most `fs/8` a second.
const REFRACTORY: u32 = 8;

/// Blows of a resonator against the body that has just hit it and moves away: their distance is `s = v t − κ y`, and each time it falls to zero an impulse `m |ṡ| (1 + e)` passes, never more than the blow itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct MicroImpacts {
    speed_m: f32,
    scale: f32,
    /// `m (1 + e)` times the sample rate twice: from metres per sample to newtons over one sample.
    weight: f32,
    max_n: f32,
    distance_m: f32,
    largest_m: f32,
    wait: u32,
    /// Samples since the blow, and how many there may be.
    age: u32,
    ages: [u32; 2],
}

impl MicroImpacts {
    /// Begins when two bodies part at `speed_m_s` after a blow of `impulse_ns`, of effective mass `mass_kg`. `scale` is κ; zero for none.
    pub fn new(scale: f32, speed_m_s: f32, mass_kg: f32, restitution: f32, impulse_ns: f32, rate_hz: f32) -> Self {
        let good = scale > 0.0 && [scale, speed_m_s, mass_kg, restitution, impulse_ns].iter().all(|x| x.is_finite());
        if !good {
            return Self::default();
        }
        Self {
            speed_m: speed_m_s.max(1e-3) / rate_hz,
            scale,
            weight: mass_kg * (1.0 + restitution) * rate_hz * rate_hz,
            max_n: impulse_ns.abs() * rate_hz,
            ages: [SHORTEST_S, LONGEST_S].map(|t| (t * rate_hz) as u32),
            ..Self::default()
        }
    }

    /// Whether no more will come.
    pub fn is_over(&self) -> bool {
        self.age >= self.ages[1]
    }

    /// The force of the next samples in newtons. `displacement_m` is given that of each and returns how far the resonator has come out towards the other body.
    pub fn fill(&mut self, out: &mut [f32], mut displacement_m: impl FnMut(f32) -> f32) {
        let mut force_n = 0.0;
        for f in out {
            let y = displacement_m(force_n);
            force_n = if self.is_over() { 0.0 } else { self.step(y) };
            *f = force_n;
        }
    }

    fn step(&mut self, displacement_m: f32) -> f32 {
        let out_m = if displacement_m.is_finite() { self.scale * displacement_m } else { 0.0 };
        let (before, now) = (self.distance_m, self.speed_m * self.age as f32 - out_m);
        self.distance_m = now;
        self.largest_m = self.largest_m.max(out_m.abs());
        self.age += 1;
        self.wait = self.wait.saturating_sub(1);
        if self.age > self.ages[0] && self.distance_m > 3.0 * self.largest_m {
            self.age = self.ages[1];
        }
        if before > 0.0 && now <= 0.0 && self.wait == 0 {
            self.wait = REFRACTORY;
            (self.weight * (before - now)).min(self.max_n)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 44_100.0;

    /// A body that moves away is only hit again by a resonator that comes after it.
    #[test]
    fn micro_impacts_need_a_resonator_that_vibrates() {
        let hits = |amplitude_m: f64, scale: f32| {
            let mut micro = MicroImpacts::new(scale, 0.1, 0.05, 0.5, 0.0125, RATE as f32);
            let (mut out, mut n) = (vec![0.0; 12_000], 0);
            micro.fill(&mut out, |_| {
                n += 1;
                let t = f64::from(n) / RATE;
                (amplitude_m * (std::f64::consts::TAU * 300.0 * t).sin() * (-20.0 * t).exp()) as f32
            });
            assert!(micro.is_over());
            // Never more than the blow, never faster than fs/8.
            assert!(out.iter().all(|f| (0.0..=0.0125 * RATE as f32 * 1.001).contains(f)));
            let places: Vec<usize> = (0..out.len()).filter(|&n| out[n] > 0.0).collect();
            assert!(places.windows(2).all(|w| w[1] - w[0] >= 8));
            places.len()
        };
        // 2π·300 Hz·A is 0.094, 0.94 and 9.4 m/s, against 0.1 m/s.
        assert_eq!([hits(0.0, 1.0), hits(1e-5, 1.0), hits(1e-3, 0.0)], [0, 0, 0]);
        let (some, many) = (hits(5e-4, 1.0), hits(5e-3, 1.0));
        assert!(some >= 1 && many > some, "{some} {many}");
    }
}
