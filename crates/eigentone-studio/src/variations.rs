//! Seeded variations of a blow, rendered offline with the model a body has now.
//!
//! Place, impulse and hardness of each are drawn from the seed: the place anywhere within `spread` of the body's size around the middle of the draw, impulse and hardness log-normally. The same request gives the same bytes.

use crate::fault::Fault;
use crate::request::MalletChoice;
use crate::take::wav;
use eigentone_core::{ModalModel, Noise, Vec3};
use eigentone_synth::{Strike, ring_time_s, strike};
use serde::Deserialize;
use std::sync::Arc;

/// Variations in one file at most.
const MAX_COUNT: usize = 256;

/// Longest sound, in s.
const LONGEST_S: f64 = 8.0;

/// A sound has died away when all modes are so far down, in dB.
const RANGE_DB: f64 = 70.0;

/// What is asked for.
#[derive(Clone, Debug, Deserialize)]
pub struct Variations {
    /// Which body.
    pub body: u64,
    /// How many.
    pub count: usize,
    /// Another seed, other variations.
    #[serde(default)]
    pub seed: u64,
    /// How much they differ, 0 to 1.
    #[serde(default = "half")]
    pub spread: f64,
    /// Where, in the body's own frame; where the seed says if not given.
    pub at: Option<[f64; 3]>,
    /// How hard on average, in N·s.
    #[serde(default = "tap")]
    pub impulse_ns: f64,
    /// With what.
    pub mallet: Option<MalletChoice>,
}

fn half() -> f64 {
    0.5
}

fn tap() -> f64 {
    0.05
}

/// Renders them, as WAV files named `NAME_01.wav`, ….
///
/// # Errors
/// If a number makes no sense or the model cannot be struck.
pub fn render(
    wanted: &Variations,
    model: &Arc<ModalModel>,
    name: &str,
    gain: f64,
    rate_hz: f64,
) -> Result<Vec<(String, Vec<u8>)>, Fault> {
    let sane = (1..=MAX_COUNT).contains(&wanted.count)
        && (0.0..=1.0).contains(&wanted.spread)
        && (1e-6..=100.0).contains(&wanted.impulse_ns)
        && wanted.at.iter().flatten().all(|x| x.is_finite());
    if !sane {
        let hint = format!("count 1 to {MAX_COUNT}, spread 0 to 1, impulse_ns up to 100");
        return Err(Fault::bad("variations that cannot be", hint));
    }
    let mallet = wanted.mallet.as_ref().map_or(Ok(eigentone_world::Mallet::default()), MalletChoice::mallet)?;
    if !(mallet.mass_kg > 0.0 && mallet.stiffness_n_m > 0.0) {
        return Err(Fault::bad("a mallet without mass or stiffness", "give positive numbers"));
    }
    let mut noise = Noise::new(wanted.seed ^ 0x5EED_0F5A_B10E);
    let sites = &model.surface.positions;
    let vec = |p: &[f32; 3]| Vec3::from_array(p.map(f64::from));
    let size = eigentone_core::mesh::bounds_of(sites.iter().map(vec));
    let size_m = (size[1] - size[0]).length();
    let draw = |noise: &mut Noise| sites.get((noise.uniform() * sites.len() as f64) as usize).map_or(Vec3::ZERO, vec);
    let middle = wanted.at.map_or_else(|| draw(&mut noise), Vec3::from_array);
    let mut sounds: Vec<Vec<f32>> = Vec::new();
    for _ in 0..wanted.count {
        let mut bipolar = || noise.bipolar();
        let away = Vec3::new(bipolar(), bipolar(), bipolar()) * (0.5 * wanted.spread * size_m);
        let factors = [0.5 * bipolar(), 1.0 * bipolar()].map(|x| (wanted.spread * x).exp2());
        let contact = model.nearest_contact(middle + away);
        let contact = contact.ok_or_else(|| Fault::bad("this model has no surface to strike", ""))?;
        let blow = Strike {
            contact,
            impulse_ns: wanted.impulse_ns * factors[0],
            stiffness_n_m: mallet.stiffness_n_m * factors[1] * factors[1],
            mallet_kg: mallet.mass_kg,
        };
        let duration_s = ring_time_s(model, &blow, RANGE_DB).clamp(0.1, LONGEST_S);
        sounds.push(strike(model, &blow, rate_hz, duration_s).map_err(|e| Fault::bad(e.to_string(), ""))?);
    }
    level(&mut sounds, gain);
    let stem: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(40).collect();
    let digits = wanted.count.to_string().len().max(2);
    let file = |(i, sound): (usize, Vec<f32>)| {
        (format!("{stem}_{:0digits$}.wav", i + 1), wav(sound.iter().copied(), sound.len(), 1, rate_hz as u32))
    };
    Ok(sounds.into_iter().enumerate().map(file).collect())
}

/// One gain for all: the loudest peak at −1 dBFS, times the body's own gain where that is less than one.
fn level(sounds: &mut [Vec<f32>], gain: f64) {
    let peak = sounds.iter().flatten().fold(0.0f32, |peak, x| peak.max(x.abs()));
    let factor = if peak > 0.0 { 0.891 * gain.clamp(0.0, 1.0) as f32 / peak } else { 0.0 };
    for sound in sounds.iter_mut() {
        let length = sound.len();
        let fade = (length / 20).max(1);
        for (i, x) in sound.iter_mut().enumerate() {
            let end = ((length - i) as f32 / fade as f32).min(1.0);
            *x *= factor * end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::MaterialTable;
    use eigentone_modal::analytic::{AnalyticSettings, BarSupport, Shape, model};

    /// The same seed gives the same bytes, another one others; without spread all are equal.
    #[test]
    fn the_seed_decides() {
        let steel = MaterialTable::builtin().get("steel").unwrap().clone();
        let shape = Shape::Bar { length: 0.2, width: 0.03, thickness: 0.01, support: BarSupport::Free, tuning: None };
        let bar = Arc::new(model(&shape, &steel, &AnalyticSettings::default()).unwrap());
        let wanted =
            |seed, spread| Variations { body: 1, count: 3, seed, spread, at: None, impulse_ns: 0.05, mallet: None };
        let render = |w: &Variations| render(w, &bar, "my bar", 1.0, 16_000.0).unwrap();
        let first = render(&wanted(1, 0.5));
        assert_eq!(first, render(&wanted(1, 0.5)));
        assert_ne!(first, render(&wanted(2, 0.5)));
        assert!(first[0].0 == "my_bar_01.wav" && first[0].1 != first[1].1);
        let same = render(&wanted(1, 0.0));
        assert!(same[0].1 == same[1].1 && same[1].1 == same[2].1);
    }
}
