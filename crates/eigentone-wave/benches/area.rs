//! How the size of a field grows with what it covers, as in figure 7 of the wave-field paper.
//!
//! `cargo bench -p eigentone-wave --bench area [-- --quick]`. The abbey, heard from its courtyard, and the deck are made larger in four steps together with the cylinder
//! that is simulated; cubes stay as large as they are. Parameters are smooth in space, so what is stored grows with the cylinder's surface, not with its volume.

use eigentone_core::acoustics::Parameter;
use eigentone_io::encode_probe;
use eigentone_wave::rooms::{self, Room};
use eigentone_wave::{Acoustics, Settings, walls};
use std::sync::atomic::AtomicBool;

/// The largest has the default cylinder.
const SCALES: [f64; 4] = [0.35, 0.5, 0.7, 1.0];

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    for (room, place) in [(rooms::abbey(), "courtyard"), (rooms::deck(), "deck")] {
        let mut points = Vec::new();
        for scale in SCALES {
            let (area_m2, bytes) = measure(&room, place, scale, quick);
            points.push((area_m2.ln(), bytes.ln()));
        }
        let n = points.len() as f64;
        let (mx, my) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
        let (xy, xx) =
            points.iter().fold((0.0, 0.0), |(xy, xx), p| (xy + (p.0 - mx) * (p.1 - my), xx + (p.0 - mx).powi(2)));
        println!("figure field.area_exponent.{} = {:.2} exponent", room.name, xy / xx);
    }
}

/// Surface of the cylinder in m², and bytes of the field.
fn measure(room: &Room, place: &str, scale: f64, quick: bool) -> (f64, f64) {
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
    (std::f64::consts::TAU * radius_m * (radius_m + height_m), bytes)
}
