//! What may come of a mesh: a model that can be heard, or a refusal that helps.

use eigentone_core::{Method, ModalModel, Vec3};

/// Threshold of hearing in Pa.
const AUDIBLE_PA: f64 = 2e-5;

/// Velocity that the simulated blow gives to the whole body, in m/s.
const BLOW_M_S: f64 = 1.0;

/// Everything wrong with a model; empty if it can be heard.
pub fn faults(model: &ModalModel, band_hz: [f64; 2]) -> Vec<String> {
    let mut faults = contradictions(model);
    if let Err(error) = model.validate() {
        faults.push(format!("not valid: {error}"));
    }
    let good =
        |f: f64, d: f64, g: f64| (band_hz[0]..=band_hz[1]).contains(&f) && d.is_finite() && d > 0.0 && g.is_finite();
    for mode in &model.modes {
        if !good(mode.frequency_hz, mode.decay_per_s, mode.output_gain) {
            faults.push(format!("impossible mode: {mode:?}"));
            break;
        }
    }
    match model.info.mass_kg {
        Some(mass) if mass.is_finite() && mass > 0.0 => {
            let peak = blow_pa(model, mass * BLOW_M_S);
            if peak.is_nan() || peak < AUDIBLE_PA {
                faults.push(format!("{} modes, but a blow of {BLOW_M_S} m/s gives {peak:.1e} Pa", model.modes.len()));
            }
        }
        other => faults.push(format!("mass {other:?}")),
    }
    faults
}

/// Peak pressure at one metre within 30 ms after a blow along the normal, at the loudest of up to 24 sites.
fn blow_pa(model: &ModalModel, impulse_n_s: f64) -> f64 {
    const RATE: f64 = 44_100.0;
    let sites = model.shapes.sites();
    let mut peak = 0.0;
    for site in (0..sites).step_by(sites.div_ceil(24).max(1)) {
        let normal = Vec3::from_array(model.surface.normals[site].map(f64::from));
        let mut sound = vec![0.0; 1323];
        for (n, mode) in model.modes.iter().enumerate() {
            let start = mode.output_gain * model.shapes.get(site, n).dot(normal) * impulse_n_s;
            let (step, decay) = (std::f64::consts::TAU * mode.frequency_hz / RATE, (-mode.decay_per_s / RATE).exp());
            let mut amplitude = start;
            for (k, y) in sound.iter_mut().enumerate() {
                *y += amplitude * (step * k as f64).cos();
                amplitude *= decay;
            }
        }
        peak = sound.iter().fold(peak, |m: f64, y: &f64| m.max(y.abs()));
    }
    peak
}

/// Notes and warnings of which not all can be true.
fn contradictions(model: &ModalModel) -> Vec<String> {
    let said: Vec<&String> = model.info.notes.iter().chain(&model.info.warnings).collect();
    let mut found = Vec::new();
    let walls: Vec<(&String, [f64; 2])> =
        said.iter().filter(|s| speaks_of_walls(s)).filter_map(|s| millimetres(s).map(|range| (*s, range))).collect();
    for (k, (one, a)) in walls.iter().enumerate() {
        for (other, b) in &walls[k + 1..] {
            if a[0] > 1.05 * b[1] || b[0] > 1.05 * a[1] {
                found.push(format!("two thicknesses: “{one}” and “{other}”"));
            }
        }
    }
    let starts = |with: &str| said.iter().any(|s| s.starts_with(with));
    for (method, other) in [(Method::Shell, "solid, because"), (Method::Solid, "shell, because")] {
        if model.info.method == method && starts(other) {
            found.push(format!("a {method}, but it says “{other}”"));
        }
    }
    found
}

fn speaks_of_walls(text: &str) -> bool {
    ["thick", "wall", "skin"].iter().any(|word| text.contains(word))
}

/// Least and largest number before “mm” in a text.
fn millimetres(text: &str) -> Option<[f64; 2]> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let values: Vec<f64> =
        words.windows(2).filter(|pair| pair[1].starts_with("mm")).filter_map(|pair| pair[0].parse().ok()).collect();
    let least = values.iter().copied().reduce(f64::min)?;
    Some([least, values.into_iter().fold(least, f64::max)])
}

/// What a refusal tells the user to do.
#[derive(Debug, PartialEq)]
pub enum WayOut {
    /// “scale it by 0.001”
    Scale(f64),
    /// “a thickness of 0.5 mm”
    Thickness(f64),
    /// Something only a person can do.
    Words,
}

/// The way out that a refusal names, if it names one.
pub fn way_out(text: &str) -> Option<WayOut> {
    let after = |mark: &str| {
        let rest = &text[text.find(mark)? + mark.len()..];
        rest.split_whitespace().next()?.trim_end_matches([',', ';', '.', ')']).parse::<f64>().ok()
    };
    if let Some(factor) = after("scale it by ") {
        return Some(WayOut::Scale(factor));
    }
    if let Some(mm) = after("thickness of ") {
        return Some(WayOut::Thickness(1e-3 * mm));
    }
    let verbs =
        ["make ", "give ", "allow ", "scale ", "raise ", "lower ", "choose ", "use ", "remove ", "close ", "check "];
    verbs.iter().any(|verb| text.contains(verb)).then_some(WayOut::Words)
}

/// Modes must reach the end of the band, or the frequency from which the ear hears bands instead of single modes: ten in an ERB (Glasberg & Moore 1990), as the
/// model states it.
pub fn ends_early(model: &ModalModel) -> Option<String> {
    let end_hz = model.info.tail_from_hz?;
    let erb_hz = 24.7 * (4.37e-3 * end_hz + 1.0);
    let last = model.modes.iter().filter(|m| m.frequency_hz > end_hz - erb_hz && m.frequency_hz <= end_hz).count();
    (last < 10).then(|| {
        format!(
            "modes end at {end_hz:.0} Hz with only {last} in the last band of {erb_hz:.0} Hz ({} modes in all)",
            model.modes.len()
        )
    })
}
