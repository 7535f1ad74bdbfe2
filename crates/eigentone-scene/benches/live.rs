//! Scenes live: `cargo bench -p eigentone-scene --bench live [-- --quick]`.
//!
//! `rings.realtime_factor` is seconds of the scene per second of one core, simulation and sound together, advanced and processed in turns in blocks of 256 samples; the same for hail with 100,000 stones and the
//! xylophone. `budget.kept_share` is the share of blocks of 64 samples that keep 200 µs, live, in a scene that needs ten times that.

use eigentone_core::{Method, ModalModel, Mode, ModelInfo, Noise, ShapeTable, Surface, Vec3};
use eigentone_modal::Progress;
use eigentone_scene::scene::cache::ModelCache;
use eigentone_scene::scene::{Live, PlayOptions, Scene};
use eigentone_synth::Quality;
use eigentone_world::{Body, Collider, Mallet, Settings, Shape, Strike, World, thread_time};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let seconds = if quick { 2.5 } else { 10.0 };
    for name in ["rings", "hail", "xylophone"] {
        let (factor, worst) = play(name, seconds);
        println!("{name}: the costliest block of 256 took {:.2} of its length", worst);
        println!("figure {name}.realtime_factor = {factor:.2} x");
    }
    let kept = kept_share(if quick { 3.0 } else { 15.0 });
    println!("figure budget.kept_share = {kept:.5} of blocks");
}

/// Plays a scene in turns, as fast as it goes.
fn play(name: &str, seconds: f64) -> (f64, f64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut scene = Scene::read(&folder.join(format!("{name}.toml"))).expect("a shipped scene");
    if let (Some(particles), "hail") = (&mut scene.particles, name) {
        (particles.particles, particles.rate) = (100_000, None);
    }
    let options = PlayOptions { cache: ModelCache::standard(), ..PlayOptions::default() };
    let (mut live, mut out) = Live::new(&scene, &options, None, &Progress::silent()).expect("it plays");
    let rate_hz = out.sample_rate_hz();
    let mut buffer = [0.0; 512];
    let (mut worst, begin) = (0.0f64, thread_time());
    let mut played_s = 0.0;
    while played_s < seconds {
        live.advance(256.0 / rate_hz).expect("it goes on");
        let before = thread_time();
        out.process(&mut buffer, 2);
        worst = worst.max(thread_time().saturating_sub(before).as_secs_f64() * rate_hz / 256.0);
        played_s += 256.0 / rate_hz;
    }
    (seconds / thread_time().saturating_sub(begin).as_secs_f64(), worst)
}

/// Bodies that would need about 2 ms per block of 64 samples, within 200 µs.
fn kept_share(seconds: f64) -> f64 {
    const BODIES: usize = 100;
    let settings = Settings {
        max_bodies: BODIES,
        max_modes_per_body: 2048,
        quality: Quality { masking: None, truncation_pa: 1e-7, budget: None },
        budget_us: Some(200.0),
        ..Settings::default()
    };
    let (mut world, mut out) = World::new(settings).expect("a world");
    let models: Vec<_> = (0..4).map(|seed| model(1500, seed)).collect();
    let mut keys = Vec::new();
    for n in 0..BODIES {
        let shape = Shape::cuboid(Vec3::splat(0.1)).with_collider(Collider::None);
        let at = Vec3::new((n % 20) as f64 - 10.0, 1.0 + (n / 20) as f64, 0.0);
        keys.push(world.insert(Body::fixed(shape).model(models[n % 4].clone()).position(at)).expect("room"));
        out.process(&mut [0.0; 128], 2);
        world.advance(0.001);
    }
    let over = Arc::new(AtomicBool::new(false));
    let audio = std::thread::spawn({
        let over = over.clone();
        move || {
            let mut buffer = [0.0; 128];
            let length = Duration::from_secs_f64(64.0 / out.sample_rate_hz());
            while !over.load(Ordering::Relaxed) {
                out.process(&mut buffer, 2);
                std::thread::sleep(length);
            }
            out
        }
    });
    let mut noise = Noise::new(1);
    let begin = std::time::Instant::now();
    let mut warm = false;
    while begin.elapsed().as_secs_f64() < seconds {
        for _ in 0..2 {
            let key = keys[(noise.uniform() * BODIES as f64) as usize % BODIES];
            let place = 0.05 * Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar());
            let _ = world.strike(key, Strike::at_local(place).impulse(0.05).mallet(Mallet::METAL));
        }
        world.advance(0.005);
        if !warm && begin.elapsed().as_secs_f64() > 1.0 {
            // The cost model has seen enough: from here on it counts.
            warm = true;
            world.set_budget_us(Some(200.000_1));
        }
        std::thread::sleep(Duration::from_millis(4));
    }
    over.store(true, Ordering::Relaxed);
    let stats = world.audio_stats();
    // What it would take without the limit: all modes, all the time.
    println!(
        "budget: all {} modes would take {:.0} µs;",
        BODIES * 1500,
        f64::from(stats.fixed_us) + f64::from(stats.mode_us) * (BODIES * 1500) as f64
    );
    println!(
        "budget: {:.0} µs fixed, {:.1} ns a mode, limit {:.0} modes",
        stats.fixed_us,
        1e3 * stats.mode_us,
        stats.mode_limit
    );
    let _ = audio.join();
    stats.budget_kept as f64 / stats.budget_blocks.max(1) as f64
}

fn model(modes: usize, seed: u64) -> Arc<ModalModel> {
    let mut noise = Noise::new(seed);
    let mut list: Vec<Mode> = (0..modes)
        .map(|_| {
            let frequency_hz = 80.0 * 150f64.powf(noise.uniform());
            Mode { frequency_hz, decay_per_s: 1.0 + 1e-3 * frequency_hz, output_gain: 0.1 + noise.uniform() }
        })
        .collect();
    list.sort_by(|a, b| a.frequency_hz.total_cmp(&b.frequency_hz));
    let surface = Surface::from_mesh(&eigentone_core::mesh::primitives::cuboid(Vec3::splat(0.1), [2; 3]));
    let sites = surface.positions.len();
    Arc::new(ModalModel {
        info: ModelInfo::new("random", Method::Manual, "steel"),
        shapes: ShapeTable::from_fn(sites, modes, |s, n| {
            let x = (s * 31 + n * 17) as f64;
            Vec3::new(x.sin(), (1.3 * x).sin(), (1.7 * x).cos())
        }),
        surface,
        modes: list,
        diffuse: vec![],
    })
}
