//! The composed engine: any block size, nothing above full scale, nothing allocated.

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::{Method, ModalModel, Mode, ModelInfo, Noise, ShapeTable, SiteBlend, Surface, Vec3};
use eigentone_scene::engine::{EngineSettings, Processor, engine};
use eigentone_synth::{BodySettings, Budget, Quality, Strike, strike};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

fn model(seed: u64) -> Arc<ModalModel> {
    let mut noise = Noise::new(seed);
    let mut modes: Vec<Mode> = (0..60)
        .map(|_| Mode {
            frequency_hz: 80.0 * 150f64.powf(noise.uniform()),
            decay_per_s: 1.0 + 40.0 * noise.uniform(),
            output_gain: noise.uniform(),
        })
        .collect();
    modes.sort_by(|a, b| a.frequency_hz.total_cmp(&b.frequency_hz));
    Arc::new(ModalModel {
        info: ModelInfo::new("random", Method::Manual, ""),
        surface: Surface { positions: vec![[0.0; 3]], normals: vec![[0.0, 0.0, 1.0]], triangles: vec![] },
        shapes: ShapeTable::from_fn(1, modes.len(), |_, n| Vec3::Z * (1.0 + n as f64 % 3.0)),
        modes,
        diffuse: vec![],
    })
}

/// Two seconds of blows, some far too hard, pulled in blocks of the sizes that `size` gives.
fn render(mut size: impl FnMut() -> usize, hardest_ns: f32) -> Vec<f32> {
    let mut settings = EngineSettings::default();
    settings.synth.quality.budget = Some(Budget::of(150));
    let (mut handle, mut processor) = engine(settings).unwrap();
    let bodies: Vec<BodyId> = (0..5).map(|i| handle.add(&BodySettings::new(model(i))).unwrap()).collect();
    let mut noise = Noise::new(11);
    for _ in 0..300 {
        let body = bodies[(noise.uniform() * 5.0) as usize];
        let z = hardest_ns * noise.uniform() as f32;
        let duration_s = (1e-3 * noise.uniform()) as f32;
        let action = Action::Blow { site: SiteBlend::single(0), impulse_ns: [0.0, 0.0, z], duration_s };
        handle.send(Event { time: Moment::at(2.0 * noise.uniform(), 44_100.0), body, action }).unwrap();
    }
    let mut sound = vec![0.0; 88_200];
    let mut done = 0;
    while done < sound.len() {
        let n = size().clamp(1, sound.len() - done);
        assert_no_alloc(|| processor.process(&mut sound[done..done + n]));
        done += n;
    }
    assert_eq!(violation_count(), 0, "the audio side allocated or freed");
    assert_eq!(processor.non_finite_samples(), 0);
    sound
}

#[test]
fn block_sizes_change_nothing_bit_for_bit() {
    let bits = |sound: Vec<f32>| sound.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let reference = bits(render(|| 64, 0.01));
    assert!(reference.iter().any(|b| *b != 0));
    let mut noise = Noise::new(3);
    assert!(reference == bits(render(|| 1, 0.01)));
    assert!(reference == bits(render(|| 4096, 0.01)));
    assert!(reference == bits(render(|| 1 + (noise.uniform() * 4096.0) as usize, 0.01)));
}

#[test]
fn nothing_is_above_full_scale() {
    let sound = render(|| 512, 1e6);
    let peak = sound.iter().fold(0.0f32, |m, y| m.max(y.abs()));
    assert!(peak <= 1.0 && peak > 0.9, "{peak}");
}

/// What comes out of the engine is what a single strike sounds like, later by the look-ahead of the limiters.
#[test]
fn a_soft_blow_passes_the_limiters_unchanged() {
    let model = model(1);
    let contact = model.nearest_contact(Vec3::ZERO).unwrap();
    let blow = Strike { impulse_ns: 0.001, ..Strike::new(contact) };
    let plain = strike(&model, &blow, 44_100.0, 0.5).unwrap();
    let mut settings = EngineSettings::default();
    settings.synth.quality = Quality::FULL;
    let (mut handle, mut processor) = engine(settings).unwrap();
    let body = handle.add(&BodySettings::new(model.clone())).unwrap();
    let duration_s = blow.contact_time_s(&model) as f32;
    let action = Action::Blow { site: contact.blend, impulse_ns: [0.0, 0.0, -0.001], duration_s };
    handle.send(Event { time: Moment::NOW, body, action }).unwrap();
    let mut sound = vec![0.0; 20_000];
    processor.process(&mut sound);
    let late = Processor::LATENCY;
    assert!((late..sound.len()).all(|n| (20.0 * sound[n] - plain[n - late]).abs() < 1e-6));
}
