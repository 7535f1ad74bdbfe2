//! Models and worlds that several tests use.
#![allow(dead_code, reason = "every test uses some")]

use eigentone_core::{Material, MaterialTable, Method, ModalModel, Mode, ModelInfo, Noise, ShapeTable, Surface, Vec3};
use eigentone_modal::analytic::{AnalyticSettings, BarSupport, Shape, model};
use eigentone_world::AudioOut;
use std::sync::Arc;

pub fn steel() -> Material {
    MaterialTable::builtin().get("steel").unwrap().clone()
}

/// A free steel bar along x.
pub fn bar(length: f64) -> Arc<ModalModel> {
    let shape = Shape::Bar { length, width: 0.03, thickness: 0.01, support: BarSupport::Free, tuning: None };
    Arc::new(model(&shape, &steel(), &AnalyticSettings { max_modes: 24, ..AnalyticSettings::default() }).unwrap())
}

/// A random body with its sites on a cube of 10 cm.
pub fn random_model(modes: usize, seed: u64) -> Arc<ModalModel> {
    let mut noise = Noise::new(seed);
    let mut list: Vec<Mode> = (0..modes)
        .map(|_| {
            let frequency_hz = 80.0 * 150f64.powf(noise.uniform());
            Mode { frequency_hz, decay_per_s: 3.0 + 4e-3 * frequency_hz, output_gain: 0.5 + noise.uniform() }
        })
        .collect();
    list.sort_by(|a, b| a.frequency_hz.total_cmp(&b.frequency_hz));
    let surface = Surface::from_mesh(&eigentone_core::mesh::primitives::cuboid(Vec3::splat(0.1), [2; 3]));
    let sites = surface.positions.len();
    let shapes: Vec<Vec3> =
        (0..sites * modes).map(|_| Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar())).collect();
    Arc::new(ModalModel {
        info: ModelInfo::new("random", Method::Manual, "steel"),
        surface,
        shapes: ShapeTable::from_fn(sites, modes, |s, n| shapes[s * modes + n]),
        modes: list,
        diffuse: vec![],
    })
}

/// So many samples, left and right after each other.
pub fn listen(out: &mut AudioOut, samples: usize) -> Vec<f32> {
    let mut block = vec![0.0; 2 * samples];
    out.process(&mut block, 2);
    block.chunks(2).map(|frame| 0.5 * (frame[0] + frame[1])).collect()
}

/// Amplitude of a tone in a sound, by correlation with a Hann window.
pub fn tone(sound: &[f32], frequency_hz: f64, rate_hz: f64) -> f64 {
    let n = sound.len() as f64;
    let (mut re, mut im) = (0.0, 0.0);
    for (i, y) in sound.iter().enumerate() {
        let window = 1.0 - (std::f64::consts::TAU * i as f64 / n).cos();
        let phase = std::f64::consts::TAU * frequency_hz * i as f64 / rate_hz;
        re += f64::from(*y) * window * phase.cos();
        im += f64::from(*y) * window * phase.sin();
    }
    2.0 * re.hypot(im) / n
}

pub fn peak(sound: &[f32]) -> f32 {
    sound.iter().fold(0.0, |m, y| m.max(y.abs()))
}
