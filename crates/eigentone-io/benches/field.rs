//! How small fields are, and how fast their lines are decoded.
//!
//! `cargo bench -p eigentone-io --bench field [-- --quick]`. Made-up probes with smooth parameters, shadows, blocks without air and noise
//! of half a just noticeable step, at three such steps to a quantum. Bytes are those of the values alone, per cube and parameter, so
//! that ours and DEFLATE per layer can be compared; `field.file_bytes_per_sample` counts everything in the file.

#[path = "../tests/common/rooms.rs"]
mod rooms;

use eigentone_core::{
    Vec3,
    acoustics::{Lattice, Parameter, encode_probe},
};
use eigentone_io::{deflate_baseline, field_bytes, read_field_bytes};
use std::{hint::black_box, time::Instant};

const SIZE: [u32; 3] = [48, 40, 10];

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let (probes, rounds) = if quick { (8, 5) } else { (40, 20) };
    let lattice = Lattice { origin: Vec3::ZERO, step_m: 1.0, size: SIZE };
    for (name, noise, quantum) in [("", 0.5, 3.0), ("smooth_", 0.0, 3.0), ("fine_", 0.5, 1.0)] {
        let fields: Vec<_> = (0..probes)
            .map(|i| {
                rooms::room(SIZE, Vec3::new(2.0 + f64::from(i % 8) * 6.0, 3.0 + f64::from(i / 8) * 7.0, 2.0), noise, 5)
            })
            .collect();
        let start = Instant::now();
        let coded: Vec<_> = fields.iter().map(|f| encode_probe(f, quantum)).collect();
        let encode_s = start.elapsed().as_secs_f64();
        let bytes =
            field_bytes(&rooms::info(quantum), &lattice, &rooms::occupancy([192, 160, 40]), &coded).expect("a field");
        let start = Instant::now();
        let field = read_field_bytes(&bytes).expect("what was written");
        let open_s = start.elapsed().as_secs_f64();

        let samples = field.raw_bytes() as f64;
        let ours = field.sizes().parameters.iter().sum::<u64>() as f64;
        let deflate = deflate_baseline(&field).iter().sum::<u64>() as f64;
        println!("figure field.{name}bytes_per_sample = {:.4} bytes", ours / samples);
        println!("figure field.{name}deflate_bytes_per_sample = {:.4} bytes", deflate / samples);
        println!("figure field.{name}deflate_ratio = {:.3} ratio", ours / deflate);
        println!("figure field.{name}file_bytes_per_sample = {:.4} bytes", field.stored_bytes() as f64 / samples);
        println!("figure field.{name}encode_ns = {:.1} ns per sample", 1e9 * encode_s / samples);
        println!("figure field.{name}open_ns = {:.1} ns per sample", 1e9 * open_s / samples);

        // Lines in the order of a generator, so that neither the cache nor the branch predictor knows them.
        let mut random = rooms::Random(1);
        let lines: Vec<_> = (0..20_000)
            .map(|_| {
                let [y, z] = [random.below(SIZE[1] as usize), random.below(SIZE[2] as usize)].map(|n| n as u32);
                (random.below(probes as usize), Parameter::ALL[random.below(Parameter::COUNT)], y, z)
            })
            .collect();
        let mut out = [0.0; SIZE[0] as usize];
        let mut best = f64::INFINITY;
        for _ in 0..rounds {
            let start = Instant::now();
            for &(probe, parameter, y, z) in &lines {
                field.line(probe, parameter, y, z, &mut out);
                black_box(&out);
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("figure field.{name}decode_ns = {:.2} ns per sample", 1e9 * best / (lines.len() * out.len()) as f64);
    }
}
