//! How much of a block's time the whole audio side takes, at worst: `cargo bench -p eigentone-world --bench deadline [-- --quick]`.
//!
//! Blocks of 64 samples at 44.1 kHz, measured by the audio thread's own processor time. Each figure is a share of the block's length.

use eigentone_core::{Method, ModalModel, Mode, ModelInfo, Noise, ShapeTable, Surface, Vec3};
use eigentone_synth::Quality;
use eigentone_world::{AudioOut, Body, BodyKey, Collider, Mallet, Settings, Shape, Strike, World, thread_time};
use std::sync::Arc;

const RATE: f64 = 44_100.0;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let seconds = if quick { 3.0 } else { 20.0 };
    let mut shares = blows(200, 100, 3000.0, seconds);
    shares.sort_by(f64::total_cmp);
    println!("200 bodies of 100 modes, 3000 blows a second: median {:.3} of a block", shares[shares.len() / 2]);
    println!("figure deadline.p999_share = {:.3} of a block", shares[shares.len() * 999 / 1000]);
    println!("figure deadline.worst_share = {:.3} of a block", shares[shares.len() - 1]);
    println!("figure deadline.flood_share = {:.3} of a block", flood());
    println!("figure deadline.idle_bodies_share = {:.3} of a block", idle(if quick { 1.0 } else { 4.0 }));
}

fn model(modes: usize, seed: u64) -> Arc<ModalModel> {
    let mut noise = Noise::new(seed);
    let mut list: Vec<Mode> = (0..modes)
        .map(|_| {
            let frequency_hz = 80.0 * 150f64.powf(noise.uniform());
            Mode { frequency_hz, decay_per_s: 3.0 + 4e-3 * frequency_hz, output_gain: 0.1 + noise.uniform() }
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

fn world(bodies: usize, modes: usize, max_bodies: usize) -> (World, AudioOut, Vec<BodyKey>, Vec<Arc<ModalModel>>) {
    let settings =
        Settings { max_bodies, max_modes_per_body: modes, quality: Quality::default(), ..Settings::default() };
    let (mut world, mut out) = World::new(settings).expect("a world");
    let models: Vec<_> = (0..8).map(|seed| model(modes, seed)).collect();
    let mut block = [0.0; 128];
    let keys = (0..bodies)
        .map(|n| {
            let key = world.insert(body(&models[n % models.len()], n)).expect("room for it");
            if n % 256 == 255 {
                out.process(&mut block, 2);
                world.advance(64.0 / RATE);
            }
            key
        })
        .collect();
    (world, out, keys, models)
}

fn body(model: &Arc<ModalModel>, n: usize) -> Body {
    let shape = Shape::cuboid(Vec3::splat(0.1)).with_collider(Collider::None);
    let position = Vec3::new((n % 16) as f64 - 8.0, 2.0 + (n / 16 % 16) as f64, 0.0);
    Body::fixed(shape).model(model.clone()).position(position)
}

fn strike(noise: &mut Noise) -> Strike {
    let place = 0.05 * Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar());
    Strike::at_local(place).impulse(0.02 * noise.uniform()).mallet(Mallet::WOOD)
}

/// One block, as a share of its length.
fn block(out: &mut AudioOut) -> f64 {
    let mut buffer = [0.0; 128];
    let begin = thread_time();
    out.process(&mut buffer, 2);
    thread_time().saturating_sub(begin).as_secs_f64() * RATE / 64.0
}

fn blows(bodies: usize, modes: usize, per_s: f64, seconds: f64) -> Vec<f64> {
    let (mut world, mut out, keys, _) = world(bodies, modes, bodies);
    let mut noise = Noise::new(1);
    let mut owed = 0.0;
    (0..(seconds * RATE / 64.0) as usize)
        .map(|_| {
            owed += per_s * 64.0 / RATE;
            while owed >= 1.0 {
                owed -= 1.0;
                let key = keys[(noise.uniform() * keys.len() as f64) as usize % keys.len()];
                let _ = world.strike(key, strike(&mut noise));
            }
            world.advance(64.0 / RATE);
            block(&mut out)
        })
        .collect()
}

/// As many blows at once as can wait: the costliest of the blocks that follow.
fn flood() -> f64 {
    let (mut world, mut out, keys, _) = world(200, 100, 200);
    let mut noise = Noise::new(2);
    let mut worst = 0.0f64;
    for _ in 0..5 {
        for _ in 0..16_384 {
            let key = keys[(noise.uniform() * keys.len() as f64) as usize % keys.len()];
            let _ = world.strike(key, strike(&mut noise));
        }
        for _ in 0..64 {
            world.advance(64.0 / RATE);
            worst = worst.max(block(&mut out));
        }
    }
    worst
}

/// Ten thousand bodies, fifty of them struck in each block, one exchanged for another in each.
fn idle(seconds: f64) -> f64 {
    let (mut world, mut out, mut keys, models) = world(10_000, 60, 10_100);
    let mut noise = Noise::new(3);
    let mut shares: Vec<f64> = (0..(seconds * RATE / 64.0) as usize)
        .map(|n| {
            for _ in 0..50 {
                let key = keys[(noise.uniform() * keys.len() as f64) as usize % keys.len()];
                let _ = world.strike(key, strike(&mut noise));
            }
            let gone = (noise.uniform() * keys.len() as f64) as usize % keys.len();
            let _ = world.remove(keys[gone]);
            if let Ok(key) = world.insert(body(&models[n % models.len()], n)) {
                keys[gone] = key;
            }
            world.advance(64.0 / RATE);
            block(&mut out)
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    shares[shares.len() * 99 / 100]
}
