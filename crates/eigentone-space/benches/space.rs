//! What it costs to hear a thousand sources in rooms.
//!
//! `cargo bench -p eigentone-space --bench space [-- --quick]`. A thousand sources that all sound and move, heard through the spherical head and the six filters of a room: the audio side only,
//! in percent of one core at 44.1 kHz; and the costliest of the blocks over the mean one, each taken as the least over many rounds, because the machine has other things to do.
//!
//! Then free field: what it costs to place a source, and fifty that sound among ten thousand that exist, over fifty by themselves.

use eigentone_core::Vec3;
use eigentone_core::acoustics::{Bits, Field, FieldInfo, Lattice, Occupancy, Parameters, ProbeField, encode_probe};
use eigentone_core::event::BodyId;
use eigentone_io::{field_bytes, read_field_bytes};
use eigentone_space::BLOCK;
use eigentone_space::direct::Spatial;
use eigentone_space::room::{Place, SpaceSettings, space};
use std::sync::Arc;
use std::time::Instant;

const RATE_HZ: f64 = 44_100.0;
const SOURCES: u32 = 1000;
/// Blocks from one place to the next.
const UPDATE: usize = 12;
/// Blocks after which the work of the longest filters repeats.
const CYCLE: usize = 384;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let field = Arc::new(hall());
    for sources in [1, 100, SOURCES] {
        let rounds = match (quick, sources) {
            (true, SOURCES) => 2,
            (true, _) => 4,
            (false, _) => 8,
        };
        let settings = SpaceSettings {
            max_sources: SOURCES as usize,
            field: Some(field.clone()),
            update_s: UPDATE as f64 * BLOCK as f64 / RATE_HZ,
            ..SpaceSettings::default()
        };
        let (mut space, mut renderer) = space(&settings);
        let sound: [f32; BLOCK] = std::array::from_fn(|n| (0.3 * n as f32).sin());
        let mut least = vec![f64::INFINITY; CYCLE];
        let mut decoding = 0.0;
        // The first round only fills the filters.
        for round in 0..=rounds {
            for (block, least) in least.iter_mut().enumerate() {
                if block % UPDATE == 0 {
                    let begin = Instant::now();
                    let t = (round * CYCLE + block) as f64 * BLOCK as f64 / RATE_HZ;
                    space.listen(Vec3::new(10.0, 10.0, 1.5), Vec3::new(t.cos(), t.sin(), 0.0));
                    for slot in 0..sources {
                        let angle = f64::from(slot) + (1.0 + 0.01 * f64::from(slot % 100)) * t;
                        let place = Vec3::new(10.0 + 8.0 * angle.cos(), 10.0 + 8.0 * angle.sin(), 2.0);
                        space.place(BodyId { slot, generation: 0 }, &Place::at(place));
                    }
                    decoding += begin.elapsed().as_secs_f64();
                }
                let begin = Instant::now();
                let mut out = [[0.0; BLOCK]; 2];
                renderer.begin(|_, _| {});
                for slot in 0..sources {
                    renderer.add(BodyId { slot, generation: 0 }, &sound);
                }
                renderer.finish(&mut out);
                std::hint::black_box(&out);
                if round > 0 {
                    *least = least.min(begin.elapsed().as_secs_f64());
                }
            }
        }
        let mean = least.iter().sum::<f64>() / CYCLE as f64;
        let worst = least.iter().copied().fold(0.0, f64::max);
        println!("figure space.load_{sources}_sources = {:.1} percent", 100.0 * mean * RATE_HZ / BLOCK as f64);
        println!("figure space.worst_block_{sources} = {:.2} ratio", worst / mean);
        let asked = f64::from(sources) * ((rounds + 1) * CYCLE / UPDATE) as f64;
        println!("  placing a source took {:.2} us", 1e6 * decoding / asked);
    }
    free_field();
}

fn free_field() {
    let settings = |max_sources| SpaceSettings { max_sources, spatial: Spatial::Pan, ..SpaceSettings::default() };
    let (mut space, mut renderer) = space(&settings(SOURCES as usize));
    let mut least = f64::INFINITY;
    for round in 0..200 {
        let begin = Instant::now();
        for slot in 0..SOURCES {
            let place = Vec3::new(f64::from(slot % 40), f64::from(round), 2.0);
            space.place(BodyId { slot, generation: 0 }, &Place::at(place));
        }
        least = least.min(begin.elapsed().as_secs_f64());
        renderer.begin(|_, _| {});
        renderer.finish(&mut [[0.0; BLOCK]; 2]);
    }
    println!("figure space.place_free_field = {:.3} us", 1e6 * least / f64::from(SOURCES));
    let few = fifty_among(&settings(50), 50);
    println!("  fifty sources by themselves: {:.1} us per block", 1e6 * few);
    println!("figure space.crowd_of_10000 = {:.2} ratio", fifty_among(&settings(10_000), 10_000) / few);
}

/// Seconds per block of fifty sources that sound and are placed every [`UPDATE`] blocks, while all others have been placed once.
fn fifty_among(settings: &SpaceSettings, exist: u32) -> f64 {
    let (mut space, mut renderer) = space(settings);
    let place = |slot: u32, t: f64| Place::at(Vec3::new(f64::from(slot % 70) - 35.0, 5.0 + t, 1.0));
    let id = |slot: u32| BodyId { slot, generation: 0 };
    for first in (0..exist).step_by(1000) {
        (first..exist.min(first + 1000)).for_each(|slot| space.place(id(slot), &place(slot, 0.0)));
        renderer.begin(|_, _| {});
        renderer.finish(&mut [[0.0; BLOCK]; 2]);
    }
    let sound: [f32; BLOCK] = std::array::from_fn(|n| (0.3 * n as f32).sin());
    let apart = exist / 50;
    let mut least = [f64::INFINITY; UPDATE];
    for block in 0..200 * UPDATE {
        if block % UPDATE == 0 {
            (0..50).for_each(|k| space.place(id(k * apart), &place(k * apart, 1e-3 * block as f64)));
        }
        let begin = Instant::now();
        let mut out = [[0.0; BLOCK]; 2];
        renderer.begin(|_, _| {});
        (0..50).for_each(|k| renderer.add(id(k * apart), &sound));
        renderer.finish(&mut out);
        std::hint::black_box(&out);
        least[block % UPDATE] = least[block % UPDATE].min(begin.elapsed().as_secs_f64());
    }
    least.iter().sum::<f64>() / UPDATE as f64
}

/// A hall of 20 × 20 × 4 m in which all parameters vary a little, so that every gain moves.
fn hall() -> Field {
    let cubes = Lattice { origin: Vec3::ZERO, step_m: 2.0, size: [10, 10, 2] };
    let cells = Lattice { origin: Vec3::ZERO, step_m: 1.0, size: [20, 20, 4] };
    let mut probes = Vec::new();
    for k in 0..49 {
        let position = Vec3::new(1.0 + 3.0 * f64::from(k % 7), 1.0 + 3.0 * f64::from(k / 7), 1.5);
        let mut probe = ProbeField::new(position, [0; 3], cubes.size);
        for at in 0..cubes.len() {
            let centre = cubes.centre([at % 10, at / 10 % 10, at / 100].map(|i| i as i64));
            let wave = (centre.x + 2.0 * centre.y + position.x).sin();
            let parameters = Parameters {
                direct_db: -6.0 + 3.0 * wave,
                early_db: -12.0 + 3.0 * wave,
                early_decay_s: 1.2 + 0.4 * wave,
                late_decay_s: 1.6 + 0.4 * wave,
                tilt_db: -2.0 + wave,
            };
            probe.valid.set(at, true);
            probe.values.iter_mut().zip(parameters.to_steps()).for_each(|(values, x)| values[at] = x);
        }
        probes.push(encode_probe(&probe, 1.0));
    }
    let info = FieldInfo::new("hall", 500.0, 1.0, 1.0);
    let occupancy = Occupancy { lattice: cells, solid: Bits::new(cells.len()) };
    let bytes = field_bytes(&info, &cubes, &occupancy, &probes).expect("parts that fit");
    read_field_bytes(&bytes).expect("what was written")
}
