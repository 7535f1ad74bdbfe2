//! The diffuse part of a sound: noise in bands, each dying away at its own pace.
//!
//! For every band, white noise passes a fourth-order band-pass (two RBJ sections) and is scaled by the square root of an energy that blows
//! raise and time shrinks by `10^{−6t/T60}`. A continuous force passes the same band-pass before it raises the energy. The noise is seeded: the same model
//! sounds the same every time. Bands are computed eight at a time.

use crate::BLOCK;
use eigentone_core::{DiffuseBand, Noise};
use std::f64::consts::{PI, TAU};

const LANES: usize = 8;
type Eight = [f32; LANES];

/// Energies below this share of what a unit impulse leaves are silence.
const SILENCE: f32 = 1e-16;

/// The diffuse resonator of one body.
#[derive(Clone, Debug)]
pub struct DiffuseBank {
    groups: Vec<Group>,
    /// Squares of the impulses of this block, by sample.
    blows: [f32; BLOCK],
    /// Impulse per sample of the continuous forces of this block.
    force: [f32; BLOCK],
    /// Blocks for which a force may still be heard in the filters.
    forced: u32,
    sounding: bool,
    stopping: bool,
    period_s: f32,
}

/// Eight bands.
#[derive(Clone, Debug)]
struct Group {
    filter: BandPass8,
    /// States of the filters for noise and for force.
    noise: [[Eight; 2]; 2],
    input: [[Eight; 2]; 2],
    seed: [u32; LANES],
    /// One over the power that white noise keeps in the band.
    norm: Eight,
    /// Square of the band's amplitude after a unit impulse.
    gain: Eight,
    /// Factor of the energy per sample.
    shrink: Eight,
    energy: Eight,
}

#[derive(Clone, Copy, Debug)]
struct BandPass8 {
    b0: Eight,
    a1: Eight,
    a2: Eight,
}

impl BandPass8 {
    #[inline(always)]
    fn step(&self, states: &mut [[Eight; 2]; 2], mut x: Eight) -> Eight {
        for state in states {
            for l in 0..LANES {
                let y = self.b0[l] * x[l] + state[0][l];
                state[0][l] = state[1][l] - self.a1[l] * y;
                state[1][l] = -self.b0[l] * x[l] - self.a2[l] * y;
                x[l] = y;
            }
        }
        x
    }
}

impl DiffuseBank {
    /// A silent bank; `None` if no band lies below half the sample rate.
    pub fn new(bands: &[DiffuseBand], sample_rate_hz: f64) -> Option<Self> {
        let audible: Vec<DiffuseBand> = bands
            .iter()
            .map(|b| DiffuseBand { high_hz: b.high_hz.min(0.49 * sample_rate_hz), ..*b })
            .filter(|b| b.high_hz > b.low_hz && b.gain != 0.0)
            .collect();
        if audible.is_empty() {
            return None;
        }
        let groups = audible.chunks(LANES).enumerate().map(|(g, bands)| Group::new(bands, g, sample_rate_hz)).collect();
        Some(Self {
            groups,
            blows: [0.0; BLOCK],
            force: [0.0; BLOCK],
            forced: 0,
            sounding: false,
            stopping: false,
            period_s: (1.0 / sample_rate_hz) as f32,
        })
    }

    /// A blow at a sample of the coming block, in N·s.
    pub fn strike(&mut self, impulse_ns: f32, at: usize) {
        self.blows[at.min(BLOCK - 1)] += impulse_ns * impulse_ns;
        self.sounding = true;
    }

    /// A force over some samples of the coming block, in newtons.
    pub fn push(&mut self, force_n: &[f32], from: usize) {
        for (held, f) in self.force[from..].iter_mut().zip(force_n) {
            *held += f * self.period_s;
        }
        self.forced = 8;
        self.sounding = true;
    }

    /// Whether anything can be heard.
    pub fn is_sounding(&self) -> bool {
        self.sounding
    }

    /// Fades out in the coming block.
    pub fn silence(&mut self) {
        self.blows = [0.0; BLOCK];
        self.force = [0.0; BLOCK];
        self.forced = 0;
        self.stopping = true;
    }

    /// Adds the next block.
    pub fn add(&mut self, out: &mut [f32; BLOCK]) {
        if !self.sounding {
            return;
        }
        let mut loudest = 0.0f32;
        for group in &mut self.groups {
            for (n, y) in out.iter_mut().enumerate() {
                let left = if self.stopping { 1.0 - (n + 1) as f32 / BLOCK as f32 } else { 1.0 };
                *y += left * group.step(self.blows[n], self.force[n], self.forced > 0);
            }
            if self.stopping {
                group.energy = [0.0; LANES];
            }
            loudest =
                group.energy.iter().zip(&group.gain).fold(loudest, |m, (e, g)| m.max(e / g.max(f32::MIN_POSITIVE)));
        }
        self.blows = [0.0; BLOCK];
        self.force = [0.0; BLOCK];
        self.forced = self.forced.saturating_sub(1);
        self.stopping = false;
        self.sounding = self.forced > 0 || loudest > SILENCE;
    }
}

impl Group {
    fn new(bands: &[DiffuseBand], group: usize, rate_hz: f64) -> Self {
        let mut g = Self {
            filter: BandPass8 { b0: [0.0; LANES], a1: [0.0; LANES], a2: [0.0; LANES] },
            noise: Default::default(),
            input: Default::default(),
            seed: std::array::from_fn(|l| Noise::new(0xD1FF + (group * LANES + l) as u64).bits() as u32 | 1),
            norm: [0.0; LANES],
            gain: [0.0; LANES],
            shrink: [0.0; LANES],
            energy: [0.0; LANES],
        };
        let mut longest = 0.0f64;
        for (l, band) in bands.iter().enumerate() {
            let width = band.high_hz - band.low_hz;
            let centre = (band.low_hz.max(10.0) * band.high_hz).sqrt();
            let w = (TAU * centre / rate_hz).min(0.98 * PI);
            // A band-pass of peak gain one (Bristow-Johnson's cookbook).
            let alpha = w.sin() * 0.5 * width / centre;
            let a0 = 1.0 + alpha;
            (g.filter.b0[l], g.filter.a1[l], g.filter.a2[l]) =
                ((alpha / a0) as f32, (-2.0 * w.cos() / a0) as f32, ((1.0 - alpha) / a0) as f32);
            g.gain[l] = (band.gain * band.gain) as f32;
            g.shrink[l] = 10f64.powf(-6.0 / (band.t60_s * rate_hz)) as f32;
            longest = longest.max(rate_hz / width);
        }
        g.norm = g.power().map(|p| if p > 0.0 { 1.0 / p } else { 0.0 });
        // Until the filters have settled.
        for _ in 0..(4.0 * longest).min(1e6) as usize {
            g.white_noise();
        }
        g
    }

    /// Mean power of unit white noise after the filter, by summing the squared impulse response.
    fn power(&self) -> Eight {
        let mut states = <[[Eight; 2]; 2]>::default();
        let mut sum = [0.0; LANES];
        let (mut input, mut quiet) = ([1.0; LANES], 0);
        // A band too narrow to settle within seconds is as good as silent.
        for _ in 0..2_000_000 {
            if quiet >= 400 {
                break;
            }
            let y = self.filter.step(&mut states, input);
            input = [0.0; LANES];
            let grows = (0..LANES).fold(false, |grows, l| {
                sum[l] += y[l] * y[l];
                grows || y[l] * y[l] > 1e-8 * sum[l]
            });
            quiet = if grows { 0 } else { quiet + 1 };
        }
        sum
    }

    /// Noise in each band, of unit variance after `norm`.
    #[inline(always)]
    fn white_noise(&mut self) -> Eight {
        let mut white = [0.0; LANES];
        for (white, seed) in white.iter_mut().zip(&mut self.seed) {
            // Marsaglia's xorshift.
            let mut x = *seed;
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            *seed = x;
            *white = x as i32 as f32 * (1.732_050_8 / 2_147_483_648.0);
        }
        self.filter.step(&mut self.noise, white)
    }

    #[inline(always)]
    fn step(&mut self, blow: f32, force: f32, forced: bool) -> f32 {
        let mut fresh = [blow; LANES];
        if forced {
            let heard = self.filter.step(&mut self.input, [force; LANES]);
            for l in 0..LANES {
                fresh[l] += heard[l] * heard[l] * self.norm[l];
            }
        }
        let noise = self.white_noise();
        let mut sum = [0.0; LANES];
        for l in 0..LANES {
            let energy = self.energy[l] + self.gain[l] * fresh[l];
            sum[l] = (energy * self.norm[l]).sqrt() * noise[l];
            self.energy[l] = energy * self.shrink[l];
        }
        sum.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(bank: &mut DiffuseBank, blocks: usize) -> Vec<f64> {
        let mut out = Vec::new();
        for _ in 0..blocks {
            let mut block = [0.0; BLOCK];
            bank.add(&mut block);
            out.extend(block.map(f64::from));
        }
        out
    }

    /// Mean power over a time.
    fn power(sound: &[f64], from_s: f64, to_s: f64) -> f64 {
        let range = (from_s * 44_100.0) as usize..(to_s * 44_100.0) as usize;
        let n = range.len() as f64;
        sound[range].iter().map(|x| x * x).sum::<f64>() / n
    }

    /// Level at the start and, the decay time by Schroeder's backward integration within 5 %, over several seeds of noise.
    #[test]
    fn a_band_has_its_level_and_decay() {
        for t60_s in [0.1, 0.5, 1.5] {
            let band = DiffuseBand { low_hz: 1000.0, high_hz: 2000.0, gain: 0.3, t60_s };
            let (mut level_error, mut decay_error, takes) = (0.0, 0.0, 8);
            let mut bank = DiffuseBank::new(&[band], 44_100.0).unwrap();
            for _ in 0..takes {
                bank.strike(2.0, 0);
                let sound = render(&mut bank, (2.0 * t60_s * 44_100.0) as usize / BLOCK);
                bank.silence();
                render(&mut bank, 1);
                // Energy shrinks by 10^{−6t/T60}; over a tenth of the time its mean is known.
                let (k, early) = (6.0 * 10f64.ln() / t60_s, 0.1 * t60_s);
                let expected = 0.36 * (1.0 - (-k * early).exp()) / (k * early);
                level_error += 10.0 * (power(&sound, 0.0, early) / expected).log10() / f64::from(takes);
                let mut remaining: Vec<f64> = sound
                    .iter()
                    .rev()
                    .scan(0.0, |sum, x| {
                        *sum += x * x;
                        Some(*sum)
                    })
                    .collect();
                remaining.reverse();
                let when =
                    |db: f64| remaining.iter().position(|e| *e < remaining[0] * 10f64.powf(-db / 10.0)).unwrap() as f64;
                let found = 2.0 * (when(35.0) - when(5.0)) / 44_100.0;
                decay_error += (found / t60_s - 1.0) / f64::from(takes);
            }
            assert!(level_error.abs() < 0.8, "T60 {t60_s}: {level_error} dB");
            assert!(decay_error.abs() < 0.05, "T60 {t60_s}: {decay_error}");
        }
    }

    /// A steady noise force holds the band at the level where gain and loss balance.
    #[test]
    fn a_force_keeps_the_noise_going() {
        let band = DiffuseBand { low_hz: 1000.0, high_hz: 2000.0, gain: 1.0, t60_s: 0.3 };
        let mut bank = DiffuseBank::new(&[band], 44_100.0).unwrap();
        let mut noise = Noise::new(3);
        let mut sound = Vec::new();
        for _ in 0..1400 {
            let force: [f32; BLOCK] = std::array::from_fn(|_| 44_100.0 * 3f32.sqrt() * noise.bipolar() as f32);
            bank.push(&force, 0);
            sound.extend(render(&mut bank, 1));
        }
        // Unit variance per sample comes in; 1 − 10^{−6/(T60 fs)} of what is there goes.
        let expected = 1.0 / (1.0 - 10f64.powf(-6.0 / (0.3 * 44_100.0)));
        let found = power(&sound, 1.0, 2.0);
        assert!((10.0 * (found / expected).log10()).abs() < 1.0, "{found} {expected}");
    }

    #[test]
    fn it_ends() {
        let mut bank =
            DiffuseBank::new(&[DiffuseBand { low_hz: 200.0, high_hz: 400.0, gain: 1.0, t60_s: 0.2 }], 48_000.0)
                .unwrap();
        assert!(!bank.is_sounding());
        bank.strike(1.0, 5);
        render(&mut bank, 1000);
        assert!(!bank.is_sounding());
        assert!(
            DiffuseBank::new(&[DiffuseBand { low_hz: 30_000.0, high_hz: 40_000.0, gain: 1.0, t60_s: 0.2 }], 48_000.0)
                .is_none()
        );
    }
}
