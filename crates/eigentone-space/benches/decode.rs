//! What it costs to ask a field.
//!
//! `cargo bench -p eigentone-space --bench decode [-- --quick] [FIELD]`. Without a file: a hall of 90 × 90 × 20 m with cubes of 2 m and a probe every 3 m, whose parameters
//! waver by about a step of storage from cube to cube, so that a value takes a quarter of a byte, as in bakes of real rooms.

use eigentone_core::Vec3;
use eigentone_core::acoustics::{Bits, Field, FieldInfo, Lattice, Occupancy, ProbeField, encode_probe};
use eigentone_io::{field_bytes, read_field, read_field_bytes};
use eigentone_space::decode::{Decoder, DecoderSettings};
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|a| a == "--quick");
    let file = arguments.iter().find(|a| !a.starts_with('-'));
    let field = Arc::new(match file {
        Some(file) => read_field(file.as_ref()).expect("a field"),
        None => hall(),
    });
    let values = field.probes().enumerate().map(|(i, _)| field.valid(i).count()).sum::<usize>() * 5;
    println!(
        "{} probes, {values} values, {:.2} bytes each",
        field.probes().len(),
        field.sizes().parameters.iter().sum::<u64>() as f64 / values as f64
    );
    let probes: Vec<Vec3> = field.probes().map(|p| p.position).collect();
    let mut seed = 1;
    let near = |at: Vec3, m: f64, seed: &mut u64| {
        at + Vec3::new(m * (2.0 * random(seed) - 1.0), m * (2.0 * random(seed) - 1.0), random(seed) - 0.5)
    };

    // A listener who walks at 1.5 m/s among sources that move at 5 m/s, thirty times a second.
    let (sources, frames) = (50, if quick { 300 } else { 1500 });
    let mut decoder = Decoder::new(field.clone(), DecoderSettings::default());
    // They go round in circles of 4 m.
    let mut places: Vec<(Vec3, f64)> = (0..sources)
        .map(|k| (near(probes[(k * 7919) % probes.len()], 1.0, &mut seed), random(&mut seed) * std::f64::consts::TAU))
        .collect();
    let (mut listener, mut heading) = (probes[probes.len() / 2], 0.3f64);
    let mut confidence = 0.0;
    let begin = Instant::now();
    for _ in 0..frames {
        heading += 0.02;
        listener += 0.05 * Vec3::new(heading.cos(), heading.sin(), 0.0);
        decoder.listen(listener);
        for (place, heading) in &mut places {
            *heading += 5.0 / 30.0 / 2.0;
            confidence += decoder.ask(*place + 2.0 * Vec3::new(heading.cos(), heading.sin(), 0.0)).confidence;
        }
    }
    let each = 1e6 * begin.elapsed().as_secs_f64() / f64::from(frames) / sources as f64;
    println!("figure decode.walking_us = {each:.2} us");
    println!("mean confidence {:.2}; {}", confidence / f64::from(frames) / sources as f64, said(&decoder));

    let pairs = if quick { 10_000 } else { 100_000 };
    let mut decoder = Decoder::new(field.clone(), DecoderSettings::default());
    let begin = Instant::now();
    let mut confidence = 0.0;
    for _ in 0..pairs {
        let pick = |seed: &mut u64| probes[(random(seed) * probes.len() as f64) as usize];
        let (source, listener) = (pick(&mut seed), pick(&mut seed));
        let (source, listener) = (near(source, 1.5, &mut seed), near(listener, 1.5, &mut seed));
        confidence += decoder.query(source, listener).confidence;
    }
    println!("figure decode.random_us = {:.2} us", 1e6 * begin.elapsed().as_secs_f64() / f64::from(pairs));
    println!("mean confidence {:.2}; {}", confidence / f64::from(pairs), said(&decoder));
}

fn said(decoder: &Decoder) -> String {
    let stats = decoder.stats();
    format!("{:.0} % of lines were in the cache", 100.0 * (1.0 - stats.decoded as f64 / stats.lines.max(1) as f64))
}

/// Numbers without a pattern.
fn random(seed: &mut u64) -> f64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}

fn hall() -> Field {
    let cubes = Lattice { origin: Vec3::ZERO, step_m: 2.0, size: [45, 45, 10] };
    let cells = Lattice { origin: Vec3::ZERO, step_m: 0.25, size: [360, 360, 80] };
    let mut solid = Bits::new(cells.len());
    // Pillars of 1 m every 6 m, so that not all is in sight.
    for at in 0..cells.len() {
        let (x, y) = (at % 360 % 24, at / 360 % 360 % 24);
        solid.set(at, x < 4 && y < 4);
    }
    let mut seed = 5;
    let mut probes = Vec::new();
    for x in 0..14 {
        for y in 0..14 {
            for z in [1.6, 3.2] {
                let position = Vec3::new(2.0 + 6.0 * f64::from(x) + 1.5, 2.0 + 6.0 * f64::from(y) + 1.5, z);
                let mut probe = ProbeField::new(position, [0; 3], cubes.size);
                for at in 0..cubes.len() {
                    let centre = cubes.centre([at % 45, at / 45 % 45, at / 45 / 45].map(|i| i as i64));
                    let away = centre.distance(position);
                    probe.valid.set(at, true);
                    for (p, values) in probe.values.iter_mut().enumerate() {
                        values[at] = (-0.3 * away + 2.4 * random(&mut seed) + p as f64) as f32;
                    }
                }
                probes.push(encode_probe(&probe, 3.0));
            }
        }
    }
    let info = FieldInfo::new("hall", 500.0, 0.25, 3.0);
    let bytes = field_bytes(&info, &cubes, &Occupancy { lattice: cells, solid }, &probes).expect("parts that fit");
    read_field_bytes(&bytes).expect("what was written")
}
