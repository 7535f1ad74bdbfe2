//! Made-up fields that behave as baked ones do: loudness that falls with distance and behind corners, decays that differ from room to
//! room, blocks without air, and noise.
#![allow(dead_code)]

use eigentone_core::{
    Vec3,
    acoustics::{Bits, FieldInfo, Lattice, Occupancy, Parameter, ProbeField, encode_probe},
};
use eigentone_io::field_bytes;

/// xorshift64*: the same numbers everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() % (1 << 32)) as f64 / 4_294_967_296.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// About normal, with a deviation of one.
    fn normal(&mut self) -> f64 {
        (0..3).map(|_| 2.0 * self.unit() - 1.0).sum()
    }
}

/// What is around one probe. The same seed has the same blocks for every probe.
pub fn room(size: [u32; 3], position: Vec3, noise: f64, seed: u64) -> ProbeField {
    let mut random = Random(seed | 1);
    let [nx, ny, nz] = size.map(f64::from);
    // A block for every thousand cubes.
    let blocks: Vec<(Vec3, Vec3)> = (0..1 + (nx * ny * nz / 1000.0) as usize)
        .map(|_| {
            let corner = Vec3::new(random.unit() * nx, random.unit() * ny, 0.0);
            (corner, corner + Vec3::new(1.0 + 5.0 * random.unit(), 1.0 + 5.0 * random.unit(), nz * random.unit()))
        })
        .collect();
    let mut field = ProbeField::new(position, [0; 3], size);
    let mut at = 0;
    for z in 0..size[2] {
        for y in 0..size[1] {
            for x in 0..size[0] {
                let p = Vec3::new(f64::from(x), f64::from(y), f64::from(z)) + Vec3::splat(0.5);
                let inside = |(low, high): &(Vec3, Vec3)| p.cmpge(*low).all() && p.cmple(*high).all();
                if !blocks.iter().any(inside) {
                    field.valid.set(at, true);
                    let steps = values(p, position, &blocks);
                    for (values, mean) in field.values.iter_mut().zip(steps) {
                        values[at] = (mean + noise * random.normal()) as f32;
                    }
                }
                at += 1;
            }
        }
    }
    for p in Parameter::ALL {
        let [least, most] = p.range();
        field.values[p as usize].iter_mut().for_each(|v| *v = v.clamp(least, most));
    }
    field
}

fn values(p: Vec3, source: Vec3, blocks: &[(Vec3, Vec3)]) -> [f64; Parameter::COUNT] {
    let r = (p - source).length().max(0.5);
    // How deep a point lies in the soft shadow of each block: 1 straight behind its middle.
    let shadow: f64 = blocks
        .iter()
        .map(|(low, high)| {
            let (to, middle) = (p - source, (*low + *high) / 2.0 - source);
            let behind = (to.length() - middle.length()).clamp(0.0, 4.0) / 4.0;
            let off = to.normalize_or_zero().cross(middle.normalize_or_zero()).length() * middle.length();
            let facing = if to.dot(middle) > 0.0 { 1.0 } else { 0.0 };
            facing * behind * (-(off / 2.5).powi(2)).exp()
        })
        .sum::<f64>()
        .min(3.0);
    let sway = |k: f64, phase: f64| (p.x / k + phase).sin() * (p.y / (1.3 * k) + 2.0 * phase).cos();
    [
        -9.0 * shadow,
        -20.0 * (r + 2.0).log10() + 4.0 + 2.0 * sway(7.0, 0.3) - 3.0 * shadow,
        8.0 * sway(15.0, 1.0) + 0.3 * p.z + 2.0 * (r / 6.0).sin(),
        6.0 + 5.0 * sway(25.0, 2.0) + 0.1 * p.z,
        -3.0 * shadow,
    ]
}

/// A scene's cells: a floor, and blocks.
pub fn occupancy(size: [u32; 3]) -> Occupancy {
    let lattice = Lattice { origin: Vec3::new(-1.0, -2.5, 0.1), step_m: 0.255, size };
    let mut solid = Bits::new(lattice.len());
    let [nx, ny, _] = size.map(|n| n as usize);
    (0..solid.len()).filter(|i| i / (nx * ny) == 0 || i % nx / 5 == 1).for_each(|i| solid.set(i, true));
    Occupancy { lattice, solid }
}

pub fn info(quantum: f32) -> FieldInfo {
    FieldInfo {
        name: "rooms “ä”".to_owned(),
        f_max_hz: 500.0,
        cell_m: 0.255,
        quantum,
        source_hash: "0123abcd".to_owned(),
        engine_version: "0.1.0".to_owned(),
        settings: "{\"probe_spacing_m\": 2.5}".to_owned(),
        warnings: vec!["open at the top".to_owned()],
        shard: None,
    }
}

/// Two probes in a file of a few kilobytes.
pub fn small_file() -> Vec<u8> {
    let lattice = Lattice { origin: Vec3::new(-1.0, 0.0, 0.5), step_m: 1.0, size: [13, 9, 3] };
    let probes: Vec<_> = [Vec3::new(2.0, 3.0, 1.0), Vec3::new(9.0, 5.5, 1.0)]
        .map(|p| encode_probe(&room(lattice.size, p, 0.5, 8), 1.0))
        .to_vec();
    field_bytes(&info(1.0), &lattice, &occupancy([21, 10, 4]), &probes).expect("a field")
}
