//! How the size of a field grows with what it covers, as in figure 7 of the wave-field paper.
//!
//! `cargo bench -p eigentone-wave --bench area [-- --quick]`. The abbey, heard from its courtyard, and the deck are made larger in four steps together with the cylinder
//! that is simulated; cubes stay as large as they are. Parameters are smooth in space, so what is stored grows with the cylinder's surface, not with its volume.

use eigentone_core::acoustics::{Parameter, encode_probe};
use eigentone_wave::rooms::{self, Room};
use eigentone_wave::{Acoustics, Settings, walls};
use std::sync::atomic::AtomicBool;

/// The largest has the default cylinder.
const SCALES: [f64; 4] = [0.35, 0.5, 0.7, 1.0];

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let mut worst = 0.0f64;
    for (room, place) in [(rooms::abbey(), "courtyard"), (rooms::deck(), "deck")] {
        let measured = SCALES.map(|scale| measure(&room, place, scale, quick));
        let bytes = exponent(measured.map(|[area_m2, _, bytes]| [area_m2, bytes]));
        let cubes = exponent(measured.map(|[area_m2, cubes, _]| [area_m2, cubes]));
        println!("{}: bytes grow with the surface to the {bytes:.2}, cubes with air to the {cubes:.2}", room.name);
        worst = worst.max(bytes);
    }
    println!("figure field.area_exponent = {worst:.2} exponent");
}

/// Of a power law through the points.
fn exponent(points: [[f64; 2]; 4]) -> f64 {
    let points = points.map(|point| point.map(f64::ln));
    let mean = [0, 1].map(|axis| points.iter().map(|p| p[axis]).sum::<f64>() / points.len() as f64);
    let moment = |axis: usize| points.iter().map(|p| (p[0] - mean[0]) * (p[axis] - mean[axis])).sum::<f64>();
    moment(1) / moment(0)
}

/// Surface of the cylinder in m², cubes with air, and bytes of the field.
fn measure(room: &Room, place: &str, scale: f64, quick: bool) -> [f64; 3] {
    let absorptions: Vec<f64> =
        room.scene.names.iter().map(|n| walls::match_name(n).map_or(0.1, |w| w.absorption)).collect();
    let plain = Settings::default();
    let settings = Settings {
        f_max_hz: if quick { 125.0 } else { 250.0 },
        radius_m: scale * plain.radius_m,
        height_m: scale * plain.height_m,
        ..plain
    };
    let (radius_m, height_m, quantum) = (settings.radius_m, settings.height_m, settings.quantum);
    let mut scene = room.scene.clone();
    scene.mesh.positions.iter_mut().for_each(|p| *p *= scale);
    let acoustics = Acoustics::new(&scene, &absorptions, settings).expect("a scene");
    let (_, probe) = *room.spaces.iter().find(|(name, _)| *name == place).expect("a place of the room");
    let field = acoustics.simulate(scale * probe, true, &AtomicBool::new(false)).expect("air");
    let sizes = encode_probe(&field, quantum).sizes();
    let cubes = field.valid.count() as f64;
    let bytes = sizes.iter().sum::<u64>() as f64;
    let each: Vec<String> =
        Parameter::ALL.iter().zip(sizes).map(|(p, n)| format!("{} {:.3}", p.name(), n as f64 / cubes)).collect();
    println!("{} × {scale:4.2}: {cubes:6} cubes, {bytes:6} bytes; each {}", room.name, each.join(", "));
    [std::f64::consts::TAU * radius_m * (radius_m + height_m), cubes, bytes]
}
