//! Models and worlds that several tests use.
#![allow(dead_code, reason = "every test uses some")]

use eigentone_core::acoustics::{Bits, Field, FieldInfo, Lattice, Occupancy, Parameters, ProbeField, encode_probe};
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

/// A room of 4 × 4 × 2.5 m around the origin, known in cubes of 1 m from nine probes: what arrives falls with distance.
pub fn rooms() -> Field {
    let (origin, size_m) = (Vec3::new(-3.0, -3.0, -1.0), [6.0, 6.0, 4.0]);
    let lattice = |step_m: f64| Lattice { origin, step_m, size: size_m.map(|l| (l / step_m) as u32) };
    let (cells, cubes) = (lattice(0.5), lattice(1.0));
    let inside = |p: Vec3| p.x.abs() < 2.0 && p.y.abs() < 2.0 && p.z > 0.0 && p.z < 2.5;
    let centres = |lattice: &Lattice| -> Vec<Vec3> {
        let [nx, ny, _] = lattice.size.map(|n| n as usize);
        (0..lattice.len()).map(|at| lattice.centre([at % nx, at / nx % ny, at / nx / ny].map(|i| i as i64))).collect()
    };
    let mut solid = Bits::new(cells.len());
    centres(&cells).into_iter().enumerate().for_each(|(at, p)| solid.set(at, !inside(p)));
    let mut probes = Vec::new();
    for at in 0..9 {
        let position = Vec3::new(f64::from(at % 3 - 1) * 1.5, f64::from(at / 3 - 1) * 1.5, 1.2);
        let mut probe = ProbeField::new(position, [0; 3], cubes.size);
        for (at, p) in centres(&cubes).into_iter().enumerate().filter(|(_, p)| inside(*p)) {
            probe.valid.set(at, true);
            let farther_m = position.distance(p) as f32;
            let heard = Parameters::from_steps([-farther_m, -0.5 * farther_m, 1.0, 2.0, farther_m]);
            probe.values.iter_mut().zip(heard.to_steps()).for_each(|(values, x)| values[at] = x);
        }
        probes.push(encode_probe(&probe, 1.0));
    }
    let info = FieldInfo::new("a room", 500.0, 0.5, 1.0);
    let occupancy = Occupancy { lattice: cells, solid };
    let bytes = eigentone_io::field_bytes(&info, &cubes, &occupancy, &probes).unwrap();
    eigentone_io::read_field_bytes(&bytes).unwrap()
}
