//! How much of a block's duration the engine takes at worst.
//!
//! `cargo bench -p eigentone-synth --bench deadline [-- --quick]`. Times are those of the thread's own clock, so that what else the machine does does not count; a share of one would be as
//! long as the block of 64 samples lasts. A time that is lost to an interrupt counts, so the worst of several runs of the same blocks is the smallest over the runs.
//!
//! - `engine.p999_share`, `engine.worst_share`: 200 bodies of 100 modes, 3000 blows a second
//! - `engine.flood_share`: the worst block after 16,384 events that are all due in one
//! - `engine.idle_bodies_share`: the worst block with 10,000 bodies of which 50 are struck in each, while 20 are removed and 20 added

#[path = "../tests/common/mod.rs"]
mod common;

use common::random_body;
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_core::{ModalModel, Noise};
use eigentone_synth::{BLOCK, BodySettings, Handle, Processor, Settings, Stats, engine};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::sync::Arc;

const RATE: f64 = 44_100.0;

fn thread_s() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

fn next_block_s(processor: &mut Processor) -> f64 {
    let begin = thread_s();
    processor.next_block();
    for (_, bus) in processor.buses() {
        black_box(bus);
    }
    thread_s() - begin
}

/// Blow at a random place on a random body.
fn strike(handle: &mut Handle, bodies: &[BodyId], sample: u64, size: f32, noise: &mut Noise) {
    let body = bodies[(noise.uniform() * bodies.len() as f64) as usize];
    let site = SiteBlend::single((noise.uniform() * 40.0) as u32);
    let size = size * noise.uniform() as f32;
    let action = Action::Blow { site, impulse_ns: [0.3 * size, 0.2 * size, size], duration_s: 4e-4 };
    let time = Moment { sample, fraction: noise.uniform() as f32 };
    handle.send(Event { time, body, action }).expect("room");
}

fn models() -> Vec<Arc<ModalModel>> {
    (0..10).map(|i| random_body(100, 8.0, i)).collect()
}

/// 200 bodies of 100 modes, 3000 blows a second.
fn usual(blocks: usize) -> (Vec<f64>, Stats) {
    let (mut handle, mut processor) = engine(Settings::default()).expect("an engine");
    let models = models();
    let bodies: Vec<BodyId> =
        (0..200).map(|i| handle.add(&BodySettings::new(models[i % 10].clone())).expect("room")).collect();
    let (mut noise, mut owed) = (Noise::new(1), 0.0);
    let mut times = Vec::new();
    for block in 0..blocks as u64 {
        owed += 3000.0 * BLOCK as f64 / RATE;
        while owed >= 1.0 {
            owed -= 1.0;
            let sample = block * BLOCK as u64 + (noise.uniform() * BLOCK as f64) as u64;
            strike(&mut handle, &bodies, sample, 0.01, &mut noise);
        }
        times.push(next_block_s(&mut processor));
    }
    (times, *processor.stats())
}

/// 16,384 events for one block, sent ahead; 200 bodies that ring already.
fn flood() -> (Vec<f64>, Stats) {
    let (mut handle, mut processor) = engine(Settings::default()).expect("an engine");
    let models = models();
    let bodies: Vec<BodyId> =
        (0..200).map(|i| handle.add(&BodySettings::new(models[i % 10].clone())).expect("room")).collect();
    let mut noise = Noise::new(2);
    let due = 40 * BLOCK as u64;
    let mut times = Vec::new();
    for block in 0..80u64 {
        if block == 1 {
            for _ in 0..200 {
                strike(&mut handle, &bodies, 0, 0.01, &mut noise);
            }
        }
        if block == 20 {
            while handle.room() > 0 {
                strike(&mut handle, &bodies, due + (noise.uniform() * BLOCK as f64) as u64, 0.01, &mut noise);
            }
        }
        times.push(next_block_s(&mut processor));
    }
    times.drain(..10);
    (times, *processor.stats())
}

/// 10,000 pebbles, of which 50 are struck in every block, and a coming and going.
fn idle(blocks: usize) -> (Vec<f64>, Stats) {
    let settings = Settings { max_bodies: 11_000, ..Settings::default() };
    let (mut handle, mut processor) = engine(settings).expect("an engine");
    // They fall by 60 dB within 70 ms or less.
    let pebbles: Vec<Arc<ModalModel>> = (0..10)
        .map(|seed| {
            let mut model = (*random_body(30, 8.0, seed)).clone();
            model.modes.iter_mut().for_each(|m| m.decay_per_s = 100.0 + 0.02 * m.frequency_hz);
            Arc::new(model)
        })
        .collect();
    let add = |handle: &mut Handle, k: usize| handle.add(&BodySettings::new(pebbles[k % 10].clone())).expect("room");
    let mut bodies: Vec<BodyId> = Vec::new();
    while bodies.len() < 10_000 {
        bodies.push(add(&mut handle, bodies.len()));
        if bodies.len().is_multiple_of(1000) {
            processor.next_block();
        }
    }
    let mut noise = Noise::new(3);
    let mut times = Vec::new();
    for block in 0..blocks {
        for k in 0..20 {
            let at = (noise.uniform() * bodies.len() as f64) as usize;
            handle.remove(bodies.swap_remove(at)).expect("room");
            bodies.push(add(&mut handle, block + k));
        }
        for _ in 0..50 {
            let sample = processor.clock() + (noise.uniform() * BLOCK as f64) as u64;
            strike(&mut handle, &bodies, sample, 0.01, &mut noise);
        }
        times.push(next_block_s(&mut processor));
    }
    (times, *processor.stats())
}

/// The time of each block, the smallest of some runs of the same: what an interrupt took is not the engine's.
fn least(runs: usize, run: impl Fn() -> (Vec<f64>, Stats)) -> (Vec<f64>, Stats) {
    let (mut times, stats) = run();
    for _ in 1..runs {
        let (again, same) = run();
        assert_eq!(stats, same, "the same every time");
        times.iter_mut().zip(again).for_each(|(t, other)| *t = t.min(other));
    }
    (times, stats)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let quick = args.iter().any(|a| a == "--quick");
    // Some of them, if they are named.
    let names = ["usual", "flood", "idle"];
    let all = !args.iter().any(|a| names.contains(&a.as_str()));
    let wanted = |name: &str| all || args.iter().any(|a| a == name);
    let block_s = BLOCK as f64 / RATE;
    let runs = if quick { 2 } else { 5 };
    let worst = |times: &[f64]| times.iter().copied().fold(0.0, f64::max) / block_s;
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64 / block_s;

    if wanted("usual") {
        let (mut times, stats) = least(runs, || usual(if quick { 2000 } else { 10_000 }));
        println!("200 bodies of 100 modes, 3000 blows a second: mean share {:.3}, {stats:?}", mean(&times));
        times.sort_by(f64::total_cmp);
        let p999 = times[(times.len() as f64 * 0.999) as usize] / block_s;
        println!("figure engine.p999_share = {p999:.3} share");
        println!("figure engine.worst_share = {:.3} share", worst(&times));
    }
    if wanted("flood") {
        let (times, stats) = least(runs, flood);
        let shares: Vec<String> = times[25..50].iter().map(|t| format!("{:.2}", t / block_s)).collect();
        println!("16,384 events in a block: {stats:?}\n{}", shares.join(" "));
        println!("figure engine.flood_share = {:.3} share", worst(&times));
    }
    if wanted("idle") {
        let (times, stats) = least(runs.min(3), || idle(if quick { 500 } else { 2000 }));
        println!("10,000 bodies: mean share {:.3}, {stats:?}", mean(&times));
        println!("figure engine.idle_bodies_share = {:.3} share", worst(&times));
    }
}
