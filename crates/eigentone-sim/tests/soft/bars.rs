//! Direct simulation against the modes of the very same mesh.

use eigentone_core::{Material, MaterialTable, TetMesh, Vec3};
use eigentone_modal::Progress;
use eigentone_modal::eigen::{self, Band, Eigenpairs};
use eigentone_modal::solid::tets::{Order, assemble};
use eigentone_sim::soft::{SoftBody, SoftMaterial, SoftWorld, WorldSettings};
use std::f64::consts::TAU;

const RATE_HZ: f64 = 44_100.0;
const ETA_S: f64 = 2e-6;

struct Bar {
    body: SoftBody,
    modes: Eigenpairs,
}

/// Hard rubber, 120 × 24 × 12 mm, free.
fn bar() -> Bar {
    let soft = SoftMaterial { young_pa: 5e7, poisson: 0.3, density_kg_m3: 1200.0, ..SoftMaterial::default() };
    let mesh = TetMesh::block(Vec3::new(0.12, 0.024, 0.012), [12, 3, 2]);
    let rubber = MaterialTable::builtin().get("rubber").unwrap().clone();
    let material =
        Material { young_pa: soft.young_pa, poisson: soft.poisson, density_kg_m3: soft.density_kg_m3, ..rubber };
    let pencil = assemble(&mesh, &material, Order::Linear).pencil;
    let band = Band { upper: f64::INFINITY, most: usize::MAX };
    let modes =
        eigen::dense::solve(&pencil, 1e30).or_else(|_| eigen::solve(&pencil, band, &Progress::silent())).unwrap();
    Bar { body: SoftBody::new("bar", mesh, soft.with_rayleigh(0.0, ETA_S)), modes }
}

fn world(body: SoftBody) -> SoftWorld {
    let settings = WorldSettings { gravity_m_s2: Vec3::ZERO, sample_rate_hz: RATE_HZ, ..WorldSettings::default() };
    SoftWorld::new(vec![body], &settings).unwrap()
}

/// Share of a mode's kinetic energy along an axis.
fn share(modes: &Eigenpairs, mode: usize, axis: usize) -> f64 {
    let nodes = modes.vectors.nrows() / 3;
    let sum = |k: usize| (0..nodes).map(|n| modes.vectors[(3 * n + k, mode)].powi(2)).sum::<f64>();
    sum(axis) / (sum(0) + sum(1) + sum(2))
}

/// A mode that was set going rings at its own frequency.
#[test]
fn bending_and_longitudinal_vibrations_have_their_frequencies() {
    let Bar { body, modes } = bar();
    let first = |axis: usize| {
        (0..modes.values.len()).find(|&m| modes.values[m] > 1e4 && share(&modes, m, axis) > 0.75).unwrap()
    };
    for mode in [first(2), first(1), first(0)] {
        let mut world = world(SoftBody {
            material: SoftMaterial { phi_pa_s: 0.0, psi_pa_s: 0.0, ..body.material },
            ..body.clone()
        });
        let shape: Vec<Vec3> = (0..body.mesh.positions.len())
            .map(|n| Vec3::from_array([0, 1, 2].map(|k| modes.vectors[(3 * n + k, mode)])))
            .collect();
        let largest = shape.iter().map(|v| v.length()).fold(0.0, f64::max);
        world.push(0, |n| shape[n] * (0.01 / largest));
        let loudest = (0..shape.len()).max_by(|&a, &b| shape[a].length().total_cmp(&shape[b].length())).unwrap();
        let frequency_hz = modes.values[mode].sqrt() / TAU;
        // The motion at the loudest place crosses zero twice in each of twenty periods.
        let (mut crossings, mut before) = (Vec::new(), 0.0);
        while crossings.len() < 41 {
            world.step().unwrap();
            let now = world.body(0).velocities().nth(loudest).unwrap().dot(shape[loudest]);
            if before * now < 0.0 {
                crossings.push(world.time_s() - world.step_s() * now / (now - before));
            }
            before = now;
        }
        let found_hz = 20.0 / (crossings[40] - crossings[0]);
        println!("{found_hz:.2} Hz, modes say {frequency_hz:.2}");
        assert!((found_hz / frequency_hz - 1.0).abs() < 0.02, "{found_hz} {frequency_hz}");
    }
}

/// What a blow at one corner does at another, by modes: v(t) = Σ φ_out φ_in J e^{−dt}(cos ω_d t − d/ω_d sin ω_d t), d = ½ηω².
fn by_modes(modes: &Eigenpairs, at: [usize; 2], impulse: f64, t: f64) -> f64 {
    (0..modes.values.len())
        .map(|m| {
            let square = modes.values[m].max(0.0);
            let (d, both) =
                (0.5 * ETA_S * square, modes.vectors[(3 * at[0] + 2, m)] * modes.vectors[(3 * at[1] + 2, m)]);
            let damped = square - d * d;
            if damped <= 0.0 {
                // Rigid, or so damped that nothing is left of it.
                return if square < 1.0 { both * impulse } else { 0.0 };
            }
            let w = damped.sqrt();
            both * impulse * (-d * t).exp() * ((w * t).cos() - d / w * (w * t).sin())
        })
        .sum()
}

/// Energy of a signal around a frequency, by a Hann window.
fn power_at(signal: &[f64], hz: f64, rate_hz: f64) -> f64 {
    let n = signal.len() as f64;
    let (mut re, mut im) = (0.0, 0.0);
    for (k, x) in signal.iter().enumerate() {
        let window = 0.5 - 0.5 * (TAU * k as f64 / n).cos();
        let (sin, cos) = (TAU * hz * k as f64 / rate_hz).sin_cos();
        (re, im) = (re + window * x * cos, im + window * x * sin);
    }
    re * re + im * im
}

/// Peaks within 2 %, decay within 15 %, early spectrum within 3 dB in octaves.
#[test]
fn a_struck_bar_sounds_like_its_modes() {
    let Bar { body, modes } = bar();
    let corner = |x: f64, y: f64| {
        let place = Vec3::new(0.06 * x, 0.012 * y, 0.006);
        (0..body.mesh.positions.len()).find(|&n| body.mesh.positions[n].distance(place) < 1e-9).unwrap()
    };
    let at = [corner(1.0, 1.0), corner(-1.0, 1.0)];
    let mut world = world(body.clone());
    let speed = 0.02;
    world.push(0, |n| if n == at[0] { Vec3::Z * speed } else { Vec3::ZERO });
    let impulse = speed * world.body(0).mass_kg(at[0]);
    let steps = world.steps_per_sample(RATE_HZ);
    let (mut direct, mut modal) = (Vec::new(), Vec::new());
    while direct.len() < 8192 {
        for _ in 0..steps {
            world.step().unwrap();
        }
        direct.push(world.body(0).velocities().nth(at[1]).unwrap().z);
        modal.push(by_modes(&modes, at, impulse, world.time_s() - 0.5 * world.step_s()));
    }
    let close: f64 =
        direct.iter().zip(&modal).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / modal.iter().map(|b| b * b).sum::<f64>();
    println!("waveforms differ by {:.1} dB", 10.0 * close.log10());
    // Peaks of the six modes that are heard best of those that stand apart.
    let frequency = |m: usize| modes.values[m].max(0.0).sqrt();
    let apart = |m: usize| {
        frequency(m) - frequency(m - 1) > 0.05 * frequency(m) && frequency(m + 1) - frequency(m) > 0.05 * frequency(m)
    };
    let mut heard: Vec<usize> =
        (0..modes.values.len()).filter(|&m| modes.values[m] > 1e4).take(30).filter(|&m| apart(m)).collect();
    let strength = |m: usize| (modes.vectors[(3 * at[0] + 2, m)] * modes.vectors[(3 * at[1] + 2, m)]).abs();
    heard.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)));
    for &mode in &heard[..6] {
        let expected_hz = modes.values[mode].sqrt() / TAU;
        let peak = |signal: &[f64]| {
            let around = (-60..=60).map(|k| expected_hz * (1.0 + 0.0005 * f64::from(k)));
            around.max_by(|a, b| power_at(signal, *a, RATE_HZ).total_cmp(&power_at(signal, *b, RATE_HZ))).unwrap()
        };
        let (found_hz, modal_hz) = (peak(&direct), peak(&modal));
        assert!((found_hz / modal_hz - 1.0).abs() < 0.02, "{found_hz} {modal_hz}");
        // Decay between two windows, where something is left.
        let decay = |signal: &[f64]| {
            let [a, b] = [0, 2048].map(|from| power_at(&signal[from..from + 2048], modal_hz, RATE_HZ));
            0.5 * (a / b).ln() / (2048.0 / RATE_HZ)
        };
        let [found, expected] = [decay(&direct), decay(&modal)];
        println!("{found_hz:.1} Hz ({modal_hz:.1}), decays with {found:.1} ({expected:.1}) per s");
        assert!((found / expected - 1.0).abs() < 0.15, "{modal_hz} Hz: {found} {expected}");
    }
    for octave in 0..5 {
        let low = 200.0 * 2f64.powi(octave);
        let level = |signal: &[f64]| {
            let early = &signal[..2048];
            10.0 * (0..64).map(|k| power_at(early, low * 2f64.powf(f64::from(k) / 64.0), RATE_HZ)).sum::<f64>().log10()
        };
        let off_db = level(&direct) - level(&modal);
        assert!(off_db.abs() < 3.0, "octave from {low} Hz: {off_db} dB");
    }
}
