//! Fields made by rule, for tests.
#![allow(dead_code)]

use eigentone_core::Vec3;
use eigentone_core::acoustics::{
    Bits, Field, FieldInfo, Lattice, Occupancy, Parameter, Parameters, ProbeField, encode_probe,
};
use eigentone_io::{field_bytes, read_field_bytes};

/// Where things are in [`two_rooms`]: 12 × 8 × 3 m, and a wall from 5.75 to 6.25 m.
pub const SIZE: [f64; 3] = [12.0, 8.0, 3.0];
pub const WALL: [f64; 2] = [5.75, 6.25];
/// Around the rooms, in m.
const MARGIN: f64 = 1.0;

/// Two rooms side by side without a door, cubes of 1 m and cells of 0.25 m, a probe every 2 m in both. `heard` says what arrives; between the rooms nothing does.
pub fn two_rooms(quantum: f32, heard: impl Fn(Vec3, Vec3) -> Parameters) -> Field {
    two_rooms_up_to(500.0, quantum, heard)
}

/// The same for a field that ends at another frequency.
pub fn two_rooms_up_to(f_max_hz: f64, quantum: f32, heard: impl Fn(Vec3, Vec3) -> Parameters) -> Field {
    let origin = Vec3::splat(-MARGIN);
    let cells_along = |step_m: f64| SIZE.map(|l| ((l + 2.0 * MARGIN) / step_m) as u32);
    let cells = Lattice { origin, step_m: 0.25, size: cells_along(0.25) };
    let cubes = Lattice { origin, step_m: 1.0, size: cells_along(1.0) };
    let mut solid = Bits::new(cells.len());
    for at in 0..cells.len() {
        let [nx, ny, _] = cells.size.map(|n| n as usize);
        let centre = cells.centre([at % nx, at / nx % ny, at / nx / ny].map(|i| i as i64));
        solid.set(at, side(centre).is_none());
    }
    let occupancy = Occupancy { lattice: cells, solid };
    let mut probes = Vec::new();
    for x in [1.0, 3.0, 5.0, 7.0, 9.0, 11.0] {
        for y in [1.0, 3.0, 5.0, 7.0] {
            let position = Vec3::new(x, y, 1.5);
            let mut probe = ProbeField::new(position, [0; 3], cubes.size);
            for at in 0..cubes.len() {
                let [nx, ny, _] = cubes.size.map(|n| n as usize);
                let cube = cubes.centre([at % nx, at / nx % ny, at / nx / ny].map(|i| i as i64));
                if side(cube).is_some() && side(cube) == side(position) {
                    probe.valid.set(at, true);
                    let steps = heard(position, cube).to_steps();
                    probe.values.iter_mut().zip(steps).for_each(|(values, x)| values[at] = x);
                }
            }
            probes.push(encode_probe(&probe, quantum));
        }
    }
    let info = FieldInfo::new("two rooms", f_max_hz, 0.25, quantum);
    let bytes = field_bytes(&info, &cubes, &occupancy, &probes).expect("parts that fit");
    read_field_bytes(&bytes).expect("what was written")
}

/// Which room a point is in.
pub fn side(p: Vec3) -> Option<bool> {
    let inside = (0..3).all(|a| p.to_array()[a] > 0.0 && p.to_array()[a] < SIZE[a]);
    let right = p.x > WALL[1];
    (inside && (right || p.x < WALL[0])).then_some(right)
}

/// Steps as parameters, all linear in the coordinates of both points.
pub fn linear(listener: Vec3, source: Vec3) -> Parameters {
    let x = listener.dot(Vec3::new(1.0, -0.5, 0.0)) + source.dot(Vec3::new(-0.6, 0.9, 1.2));
    Parameters::from_steps(Parameter::ALL.map(|p| x as f32 * (1.0 + 0.1 * p as u8 as f32)))
}

/// Numbers without a pattern.
pub fn random(seed: &mut u64) -> f64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}
