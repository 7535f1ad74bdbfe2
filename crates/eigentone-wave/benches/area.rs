//! How the size of a field grows with what it covers.
//!
//! `cargo bench -p eigentone-wave --bench area [-- --quick]`. The abbey's courtyard, simulated from one probe within cylinders of four sizes: what is stored
//! grows with their surface, not with their volume, because parameters are smooth in space.

use eigentone_core::Vec3;
use eigentone_io::encode_probe;
use eigentone_wave::{Acoustics, Settings, rooms, walls};
use std::sync::atomic::AtomicBool;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let room = rooms::abbey();
    let absorptions: Vec<f64> =
        room.scene.names.iter().map(|n| walls::match_name(n).map_or(0.1, |w| w.absorption)).collect();
    let mut points = Vec::new();
    for radius_m in [6.0, 9.0, 13.5, 20.0] {
        let settings = Settings {
            f_max_hz: if quick { 125.0 } else { 250.0 },
            radius_m,
            height_m: radius_m,
            grid_m: if quick { 1.5 } else { 1.0 },
            margin_m: 20.0,
            ..Settings::default()
        };
        let acoustics = Acoustics::new(&room.scene, &absorptions, settings).expect("a scene");
        let field = acoustics.simulate(Vec3::new(20.0, -12.0, 3.0), true, &AtomicBool::new(false)).expect("air");
        let bytes = encode_probe(&field, 3.0).sizes().iter().sum::<u64>() as f64;
        let area = 2.0 * std::f64::consts::PI * radius_m * (radius_m + radius_m);
        let samples = 5 * field.valid.count();
        println!("radius {radius_m:4.1} m: {samples} samples, {bytes} bytes, {:.3} each", bytes / samples as f64);
        points.push((area.ln(), bytes.ln()));
    }
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let (xy, xx) =
        points.iter().fold((0.0, 0.0), |(xy, xx), p| (xy + (p.0 - mx) * (p.1 - my), xx + (p.0 - mx).powi(2)));
    println!("figure field.area_exponent = {:.2} exponent", xy / xx);
}
