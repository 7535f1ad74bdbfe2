//! Simply supported rectangular plates: `f_mn = (π/2) √(D/ρh) [(m/a)² + (n/b)²]`, `φ = 2/√(ρhab) sin(mπx/a) sin(nπy/b)`.

use super::assemble::{Partial, Wanted};
use std::f64::consts::{FRAC_PI_2, PI};

pub(super) fn partials(sides: [f64; 2], areal_mass: f64, stiffness_per_mass: f64, wanted: Wanted) -> Vec<Partial> {
    let [a, b] = sides;
    let reach = wanted.plate_wavenumber(a * b, 2.0 * (a + b), stiffness_per_mass, 1.0);
    let amplitude = 2.0 / (areal_mass * a * b).sqrt();
    let count = |side: f64| (reach * side / PI).ceil().max(1.0) as usize;
    let mut found = Vec::new();
    for m in 1..=count(a) {
        for n in 1..=count(b) {
            let [m, n] = [m, n].map(|k| k as f64);
            let square = (m / a).powi(2) + (n / b).powi(2);
            let wavenumber = PI * square.sqrt();
            if wavenumber > reach && m * n > 1.0 {
                break;
            }
            found.push(Partial {
                frequency_hz: FRAC_PI_2 * stiffness_per_mass.sqrt() * square,
                wavenumber,
                net: if m % 2.0 == 1.0 && n % 2.0 == 1.0 { 1.0 } else { 0.0 },
                shape: Box::new(move |x, y| {
                    amplitude * (m * PI * (x / a + 0.5)).sin() * (n * PI * (y / b + 0.5)).sin()
                }),
            });
        }
    }
    found
}
