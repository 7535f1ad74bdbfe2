//! Loops that are computed when they are loaded, so that nothing has to be shipped: bubbles, crackling leaves, crumpled film. Always the same.

use super::filter::BandPass;
use super::recorded::Recording;
use eigentone_core::Noise;
use eigentone_core::texture::Synthetic;
use std::f64::consts::TAU;

/// Length of a loop.
const LENGTH_S: f64 = 2.0;

/// A loop with about this many events per second.
pub fn synthesise(kind: Synthetic, events_per_s: f64, sample_rate_hz: f64) -> Recording {
    let mut noise = Noise::new(0x7E87 + kind as u64);
    let samples = (LENGTH_S * sample_rate_hz) as usize;
    let mut sound = vec![0.0f32; samples];
    for _ in 0..(LENGTH_S * events_per_s.clamp(1.0, 1e4)) as usize {
        let at = (noise.uniform() * samples as f64) as usize;
        // Around the loop: an event that is cut off by its end goes on at its beginning.
        let mut add = |n: usize, y: f64| sound[(at + n) % samples] += y as f32;
        match kind {
            Synthetic::Water => bubble(&mut noise, sample_rate_hz, &mut add),
            Synthetic::Leaves => crackle(&mut noise, [3000.0, 8000.0], [1.0, 3.0], 1.5e-3, sample_rate_hz, &mut add),
            Synthetic::Plastic => crackle(&mut noise, [1200.0, 5000.0], [4.0, 15.0], 4e-3, sample_rate_hz, &mut add),
        }
    }
    Recording::new(&sound, sample_rate_hz)
}

/// A bubble of radius `r` (van den Doel 2005): `f = 3/r`, decay `0.13/r + 0.0072 r^{−3/2}`, loudness growing with size, pitch rising as it surfaces.
fn bubble(noise: &mut Noise, rate_hz: f64, add: &mut impl FnMut(usize, f64)) {
    let radius_m = 0.7e-3 * (5e-3f64 / 0.7e-3).powf(noise.uniform());
    let decay = 0.13 / radius_m + 0.0072 * radius_m.powf(-1.5);
    let loudness = noise.uniform().powi(2) * radius_m;
    let rise = 0.1 * decay * noise.uniform();
    let mut phase = 0.0f64;
    for n in 0..(7.0 / decay * rate_hz) as usize {
        let t = n as f64 / rate_hz;
        // Over half a millisecond, lest it begin with a click.
        let attack = (t / 5e-4).min(1.0);
        add(n, loudness * attack * phase.sin() * (-decay * t).exp());
        phase += TAU * 3.0 / radius_m * (1.0 + rise * t) / rate_hz;
    }
}

/// A burst of noise in a band of its own, with a long tail of loud ones.
fn crackle(noise: &mut Noise, hz: [f64; 2], q: [f64; 2], decay_s: f64, rate_hz: f64, add: &mut impl FnMut(usize, f64)) {
    let mut between = |[low, high]: [f64; 2]| low * (high / low).powf(noise.uniform());
    let mut band = BandPass::tuned((between(hz) / rate_hz) as f32, between(q) as f32);
    let decay_s = decay_s * between([0.5, 2.0]);
    let loudness = noise.uniform().powi(3);
    for n in 0..(8.0 * decay_s * rate_hz) as usize {
        let level = loudness * (-(n as f64) / (decay_s * rate_hz)).exp();
        add(n, level * f64::from(band.step(noise.bipolar() as f32)));
    }
}
