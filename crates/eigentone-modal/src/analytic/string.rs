//! Stiff strings (Fletcher 1964): `f_n = n f₀ √(1 + B n²)` with `B = π³ E d⁴ / (64 T L²)`, `f₀ = √(T/μ)/2L`, between simply
//! supported ends, so that `φ_n = √(2/μL) sin(nπx/L)` exactly.

use super::{
    AnalyticError, Pull,
    assemble::{Partial, Wanted},
};
use eigentone_core::Material;
use std::f64::consts::{FRAC_PI_4, PI};

pub(super) fn partials(
    length: f64,
    diameter: f64,
    pull: Pull,
    material: &Material,
    wanted: Wanted,
) -> Result<Vec<Partial>, AnalyticError> {
    let line_mass = material.density_kg_m3 * FRAC_PI_4 * diameter * diameter;
    // B f₀² does not depend on the tension: it is the squared fundamental of the slack wire as a bar.
    let slack_squared =
        PI.powi(3) * material.young_pa * diameter.powi(4) / (64.0 * length.powi(2) * 4.0 * length.powi(2) * line_mass);
    let taut_squared = match pull {
        Pull::Tension(newtons) => newtons / line_mass / (4.0 * length * length),
        Pull::Fundamental(hz) => hz * hz - slack_squared,
    };
    if taut_squared <= 0.0 {
        let value = if let Pull::Fundamental(hz) = pull { hz } else { 0.0 };
        let expected = format!("above {:.2} Hz, at which this wire sounds without any tension", slack_squared.sqrt());
        return Err(AnalyticError::Measure { what: "fundamental", value, expected });
    }
    let frequency = |n: f64| n * (taut_squared + slack_squared * n * n).sqrt();
    let amplitude = (2.0 / (line_mass * length)).sqrt();
    let first = (1..).find(|&n| frequency(f64::from(n)) >= wanted.low_hz).unwrap_or(1);
    Ok((first..)
        .map(f64::from)
        .take(wanted.max_modes)
        .take_while(|&n| n == f64::from(first) || frequency(n) <= wanted.high_hz)
        .map(|n| Partial {
            frequency_hz: frequency(n),
            wavenumber: n * PI / length,
            net: if n % 2.0 == 1.0 { 1.0 } else { 0.0 },
            shape: Box::new(move |x, _| amplitude * (n * PI * (x / length + 0.5)).sin()),
        })
        .collect())
}
