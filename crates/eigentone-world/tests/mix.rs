//! The mix: any block size, nothing above full scale, and a blow that comes out as it went in.

mod common;

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use common::random_model;
use eigentone_core::Noise;
use eigentone_space::direct::Spatial;
use eigentone_synth::{Budget, Quality, Strike as Blow, strike};
use eigentone_world::{Body, Change, Collider, Mallet, Pose, Settings, Shape, Strike, Vec3, World};

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

fn shape() -> Shape {
    Shape::cuboid(Vec3::splat(0.1)).with_collider(Collider::None)
}

/// Two seconds of blows, some far too hard, pulled in blocks of the sizes that `size` gives.
fn render(mut size: impl FnMut() -> usize, hardest_ns: f64) -> Vec<f32> {
    let quality = Quality { budget: Some(Budget::of(150)), ..Quality::default() };
    let settings = Settings { quality, max_impulse_ns: 1e6, ..Settings::offline() };
    let (mut world, mut out) = World::new(settings).unwrap();
    let keys: Vec<_> = (0..5)
        .map(|n| world.insert(Body::fixed(shape()).model(random_model(60, n)).position(Vec3::X * n as f64)).unwrap())
        .collect();
    let mut noise = Noise::new(11);
    for _ in 0..300 {
        let key = keys[(noise.uniform() * 5.0) as usize];
        let place = 0.05 * Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar());
        let blow = Strike::at_local(place).impulse(hardest_ns * noise.uniform()).duration(1e-3 * noise.uniform());
        world.schedule(2.0 * noise.uniform(), key, Change::Strike(blow)).unwrap();
    }
    // Everything is known before anything is heard: what is asked for at a time changes nothing.
    world.advance(2.1);
    let mut sound = vec![0.0; 2 * 88_200];
    let mut done = 0;
    while done < sound.len() {
        let n = (2 * size()).clamp(2, sound.len() - done);
        assert_no_alloc(|| out.process(&mut sound[done..done + n], 2));
        done += n;
    }
    assert_eq!(violation_count(), 0, "the audio side allocated or freed");
    assert_eq!(out.audio_stats().non_finite_samples, 0);
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
    let sound = render(|| 512, 1e5);
    let peak = sound.iter().fold(0.0f32, |m, y| m.max(y.abs()));
    assert!(peak <= 1.0 && peak > 0.9, "{peak}");
}

/// What comes out, one metre in front, is what a single strike sounds like, later by the latency that is told.
#[test]
fn a_soft_blow_passes_unchanged() {
    let model = random_model(60, 1);
    let contact = model.nearest_contact(Vec3::new(0.0, 0.0, 0.05)).unwrap();
    let blow = Blow { impulse_ns: 0.001, ..Blow::new(contact) };
    let plain = strike(&model, &blow, 44_100.0, 0.5).unwrap();
    let settings = Settings { quality: Quality::FULL, spatial: Spatial::Pan, ..Settings::offline() };
    let (mut world, mut out) = World::new(settings).unwrap();
    world.set_listener(Pose::looking(-Vec3::Y, Vec3::Y));
    let key = world.insert(Body::fixed(shape()).model(model).name("cube")).unwrap();
    let mallet = Mallet { mass_kg: blow.mallet_kg, stiffness_n_m: blow.stiffness_n_m };
    world.strike(key, Strike::at_local(contact.position).impulse(0.001).mallet(mallet)).unwrap();
    world.advance(0.1);
    let mut sound = vec![0.0; 20_000];
    out.process(&mut sound, 1);
    let late = out.latency();
    let worst = (late..sound.len()).map(|n| (20.0 * sound[n] - plain[n - late]).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-6, "{worst}");
}
