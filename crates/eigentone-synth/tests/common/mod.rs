//! Models and ways to drive an engine that several tests use.
#![allow(dead_code, reason = "every test uses some")]

use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_core::{Method, ModalModel, Mode, ModelInfo, Noise, ShapeTable, Surface, Vec3};
use eigentone_synth::{BLOCK, Processor};
use std::sync::Arc;

/// A point that moves along z with every mode.
pub fn point(modes: &[(f64, f64, f64)]) -> Arc<ModalModel> {
    let modes: Vec<Mode> = modes
        .iter()
        .map(|&(frequency_hz, decay_per_s, output_gain)| Mode { frequency_hz, decay_per_s, output_gain })
        .collect();
    Arc::new(ModalModel {
        info: ModelInfo::new("point", Method::Manual, ""),
        surface: Surface { positions: vec![[0.0; 3]], normals: vec![[0.0, 0.0, 1.0]], triangles: vec![] },
        shapes: ShapeTable::from_fn(1, modes.len(), |_, _| Vec3::Z),
        modes,
        diffuse: vec![],
    })
}

/// A random body: modes from 60 Hz up, levels scattered by `sigma_db`, a hundred sites.
pub fn random_body(modes: usize, sigma_db: f64, seed: u64) -> Arc<ModalModel> {
    let mut noise = Noise::new(seed);
    let mut gauss = move || (0..12).map(|_| noise.uniform()).sum::<f64>() - 6.0;
    let mut noise = Noise::new(seed ^ 0xABCD);
    let mut list: Vec<Mode> = (0..modes)
        .map(|_| {
            let frequency_hz = 60.0 + 10_440.0 * noise.uniform();
            let tilt = -3.0 * (frequency_hz / 1000.0).log2();
            let output_gain = 10f64.powf((tilt + sigma_db * gauss()) / 20.0);
            Mode { frequency_hz, decay_per_s: 2.0 + frequency_hz * 1e-3 * std::f64::consts::PI, output_gain }
        })
        .collect();
    list.sort_by(|a, b| a.frequency_hz.total_cmp(&b.frequency_hz));
    let sites = 40;
    let mut noise = Noise::new(seed ^ 0x5175);
    let shapes: Vec<Vec3> =
        (0..sites * modes).map(|_| Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar())).collect();
    Arc::new(ModalModel {
        info: ModelInfo::new("random", Method::Manual, ""),
        surface: Surface {
            positions: (0..sites).map(|i| [i as f32, 0.0, 0.0]).collect(),
            normals: vec![[0.0, 0.0, 1.0]; sites],
            triangles: vec![],
        },
        shapes: ShapeTable::from_fn(sites, modes, |s, n| shapes[s * modes + n]),
        modes: list,
        diffuse: vec![],
    })
}

pub fn impulse(body: BodyId, sample: u64, newton_seconds: f32) -> Event {
    let action = Action::Impulse { site: SiteBlend::single(0), impulse_ns: [0.0, 0.0, newton_seconds] };
    Event { time: Moment { sample, fraction: 0.0 }, body, action }
}

pub fn act(body: BodyId, sample: u64, action: Action) -> Event {
    Event { time: Moment { sample, fraction: 0.0 }, body, action }
}

/// The sum of all buses over some blocks.
pub fn mix(processor: &mut Processor, blocks: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(blocks * BLOCK);
    for _ in 0..blocks {
        processor.next_block();
        let mut block = [0.0; BLOCK];
        for (_, bus) in processor.buses() {
            block.iter_mut().zip(bus).for_each(|(o, b)| *o += b);
        }
        out.extend(block);
    }
    out
}

/// Complex amplitude of a tone: the sum of `x e^{−jωn}` under a Hann window, over its mean.
pub fn tone(x: &[f32], hz: f64, rate: f64) -> (f64, f64) {
    let (mut re, mut im, mut norm) = (0.0, 0.0, 0.0);
    for (n, &y) in x.iter().enumerate() {
        let window = 0.5 - 0.5 * (std::f64::consts::TAU * (n as f64 + 0.5) / x.len() as f64).cos();
        let phase = std::f64::consts::TAU * hz * n as f64 / rate;
        re += window * f64::from(y) * phase.cos();
        im -= window * f64::from(y) * phase.sin();
        norm += 0.5 * window;
    }
    (re / norm, im / norm)
}

pub fn level_db(x: &[f32], hz: f64, rate: f64) -> f64 {
    let (re, im) = tone(x, hz, rate);
    20.0 * re.hypot(im).log10()
}

pub fn rms(x: &[f32]) -> f64 {
    (x.iter().map(|y| f64::from(*y).powi(2)).sum::<f64>() / x.len() as f64).sqrt()
}
