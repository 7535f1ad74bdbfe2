//! Compression on the square plate, whose modes come in pairs.

use eigentone_core::mesh::primitives;
use eigentone_core::{MaterialTable, ModalModel, ShapeTable, SiteBlend, Vec3};
use eigentone_modal::{Compression, MeshModelSettings, Progress, model_from_mesh};

fn square_plate() -> ModalModel {
    let steel = MaterialTable::builtin().get("steel").unwrap().clone();
    let settings = MeshModelSettings { thickness_m: Some(0.002), refine_vertices: 1200, ..Default::default() };
    model_from_mesh(&primitives::plate(0.3, 0.3, 26, 26), &steel, &settings, &Progress::silent()).unwrap()
}

/// Energy of the first ten milliseconds of the sound of unit strikes along the normal at some sites: `Σ_t y²` with
/// `y = Σ a_n e^{−d_n t} cos ω_n t`. That is the blow; what follows is a decay in which merged modes no longer beat.
fn strike_energies(model: &ModalModel, sites: &[u32]) -> Vec<f64> {
    let rate = 44_100.0;
    let ring: Vec<Vec<f64>> = model
        .modes
        .iter()
        .map(|m| {
            let at = |k: usize| k as f64 / rate;
            let wave = |t: f64| (-m.decay_per_s * t).exp() * (std::f64::consts::TAU * m.frequency_hz * t).cos();
            (0..441).map(|k| m.output_gain * wave(at(k))).collect()
        })
        .collect();
    sites
        .iter()
        .map(|&site| {
            let push = model.excitation(&SiteBlend::single(site), Vec3::Z);
            (0..441).map(|k| ring.iter().zip(&push).map(|(r, p)| r[k] * p).sum::<f64>().powi(2)).sum()
        })
        .collect()
}

/// Flipping the sign of any eigenvector (and with it of its output gain) changes nothing.
#[test]
fn signs_of_eigenvectors_do_not_matter() {
    let model = square_plate();
    let mut flipped = model.clone();
    let turned = |n: usize| (n * 2_654_435_761) % 7 < 3;
    flipped.shapes = ShapeTable::from_fn(model.shapes.sites(), model.shapes.modes(), |s, n| {
        model.shapes.get(s, n) * if turned(n) { -1.0 } else { 1.0 }
    });
    for (n, mode) in flipped.modes.iter_mut().enumerate().filter(|(n, _)| turned(*n)) {
        assert!(n < model.modes.len());
        mode.output_gain = -mode.output_gain;
    }
    let (a, b) = (Compression::default().apply(&model), Compression::default().apply(&flipped));
    assert!(a.modes.len() < model.modes.len());
    for site in [0, 100, 337, 600] {
        let sound = |m: &ModalModel| -> Vec<f64> {
            let push = m.excitation(&SiteBlend::single(site), Vec3::Z);
            m.modes.iter().zip(push).map(|(mode, p)| mode.output_gain * p).collect()
        };
        let largest = sound(&a).iter().fold(0.0, |x: f64, y| x.max(y.abs()));
        assert!(sound(&a).iter().zip(sound(&b)).all(|(x, y)| (x - y).abs() <= 1e-9 * largest));
    }
    for (x, y) in a.modes.iter().zip(&b.modes) {
        assert!(
            (x.frequency_hz / y.frequency_hz - 1.0).abs() < 1e-12
                && (x.decay_per_s / y.decay_per_s - 1.0).abs() < 1e-12
        );
    }
}

/// The energy of a strike stays within 0.5 dB rms over the strike points.
#[test]
fn strike_energy_survives() {
    let model = square_plate();
    let merged = Compression::default().apply(&model);
    let sites: Vec<u32> = (0..model.shapes.sites() as u32).step_by(3).collect();
    let pairs = strike_energies(&merged, &sites).into_iter().zip(strike_energies(&model, &sites));
    let errors: Vec<f64> = pairs.map(|(a, b)| 10.0 * (a / b).log10()).collect();
    let rms = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
    assert!(rms < 0.5, "{rms} dB rms, {} to {} modes", model.modes.len(), merged.modes.len());
    println!(
        "{rms:.3} dB rms over {} strike points, {} to {} modes",
        sites.len(),
        model.modes.len(),
        merged.modes.len()
    );
}
