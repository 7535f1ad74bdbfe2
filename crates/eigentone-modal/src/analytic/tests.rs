//! Closed forms against published tables, and every shape against the definition of a mass-normalised mode.

use super::{
    assemble::{Partial, Wanted, partials},
    disc::{Radial, edge, roots},
    numeric::integrate,
    *,
};
use eigentone_core::MaterialTable;
use std::f64::consts::{PI, TAU};

fn material(name: &str) -> Material {
    MaterialTable::builtin().get(name).unwrap().clone()
}

fn everything() -> Vec<Shape> {
    let (length, width, thickness) = (0.3, 0.2, 0.002);
    let mut shapes = vec![
        Shape::String { length: 0.65, diameter: 0.0007, pull: Pull::Fundamental(110.0) },
        Shape::Bar { length, width: 0.03, thickness, support: BarSupport::Free, tuning: Some(Tuning::marimba()) },
    ];
    for support in [BarSupport::Free, BarSupport::ClampedFree] {
        shapes.push(Shape::Bar { length, width: 0.03, thickness, support, tuning: None });
    }
    for support in [PlateSupport::Free, PlateSupport::SimplySupported] {
        shapes.push(Shape::Plate { length, width, thickness, support });
    }
    for support in [DiscSupport::Free, DiscSupport::Clamped] {
        shapes.push(Shape::Disc { radius: 0.15, thickness, support });
    }
    shapes
}

/// `∫ f dA` over the face.
fn over_face(shape: &Shape, f: impl Fn(f64, f64) -> f64) -> f64 {
    match *shape {
        Shape::String { length, diameter: width, .. } | Shape::Bar { length, width, .. } => {
            width * integrate(-0.5 * length, 0.5 * length, 60, |x| f(x, 0.0))
        }
        Shape::Plate { length, width, .. } => {
            integrate(-0.5 * length, 0.5 * length, 8, |x| integrate(-0.5 * width, 0.5 * width, 8, |y| f(x, y)))
        }
        Shape::Disc { radius, .. } => integrate(0.0, radius, 8, |r| {
            let around = 48;
            let at = |k: usize| (TAU * k as f64 / around as f64).sin_cos();
            (0..around).map(|k| f(r * at(k).1, r * at(k).0)).sum::<f64>() * TAU / around as f64 * r
        }),
    }
}

fn lowest(shape: &Shape, material: &Material, count: usize) -> Vec<Partial> {
    let mut all = partials(shape, material, Wanted { low_hz: 1.0, high_hz: 22_000.0, max_modes: count }).unwrap().0;
    all.sort_by(|a, b| a.frequency_hz.total_cmp(&b.frequency_hz));
    all.truncate(count);
    all
}

#[test]
fn every_mode_is_mass_normalised_and_orthogonal_to_the_others() {
    let steel = material("steel");
    for shape in everything() {
        let modes = lowest(&shape, &steel, 20);
        assert!(modes.len() >= 15, "{shape:?}: {}", modes.len());
        for (i, a) in modes.iter().enumerate() {
            for (k, b) in modes.iter().enumerate().skip(i) {
                let product = shape.areal_mass(&steel) * over_face(&shape, |x, y| (a.shape)(x, y) * (b.shape)(x, y));
                let truth = if i == k { 1.0 } else { 0.0 };
                assert!((product - truth).abs() < 1e-8, "{shape:?} modes {i}, {k}: {product}");
            }
        }
    }
}

#[test]
fn the_sign_of_the_net_volume_is_right() {
    let steel = material("steel");
    for shape in everything() {
        for mode in lowest(&shape, &steel, 12) {
            let net = over_face(&shape, &mode.shape);
            let scale = (shape.face_area() / shape.areal_mass(&steel)).sqrt();
            if mode.net == 0.0 {
                assert!(net.abs() < 1e-8 * scale, "{shape:?} at {} Hz: {}", mode.frequency_hz, net / scale);
            } else {
                assert!(net * mode.net > 0.0, "{shape:?} at {} Hz", mode.frequency_hz);
            }
        }
    }
}

/// Ratios 1 : 2.7565 : 5.4039 : 8.9330 : 13.344 and 1 : 6.267 : 17.55 : 34.39.
#[test]
fn bars_have_the_textbook_partials() {
    let free = [4.730_040_74, 7.853_204_62, 10.995_607_84, 14.137_165_49];
    let clamped = [1.875_104_07, 4.694_091_13, 7.854_757_44, 10.995_540_73];
    for k in 0..4 {
        assert!((bar::root(k + 1, false) - free[k]).abs() < 1e-8);
        assert!((bar::root(k + 1, true) - clamped[k]).abs() < 1e-8);
    }
    let shape = Shape::Bar { length: 0.2, width: 0.02, thickness: 0.004, support: BarSupport::Free, tuning: None };
    let modes = lowest(&shape, &material("steel"), 5);
    for (mode, truth) in modes.iter().zip([1.0, 2.7565, 5.4039, 8.9330, 13.344]) {
        assert!((mode.frequency_hz / modes[0].frequency_hz / truth - 1.0).abs() < 4e-5);
    }
}

#[test]
fn the_thirtieth_mode_of_a_bar_is_free_of_cancellation() {
    for clamped in [false, true] {
        for n in [1, 2, 7, 29, 30, 120] {
            let beta = bar::root(n, clamped);
            let at = |x: f64| bar::shape(n, beta, clamped, x);
            assert!((at(1.0).abs() - 2.0).abs() < 1e-9, "free ends move twice the rms: {}", at(1.0));
            assert!((integrate(0.0, 1.0, 2 * n + 4, |x| at(x).powi(2)) - 1.0).abs() < 1e-9);
            if clamped {
                assert!(at(0.0).abs() < 1e-12 && ((at(1e-6) - at(0.0)) / 1e-6 / beta).abs() < 1e-3, "{n}");
            } else {
                assert!((at(0.0).abs() - 2.0).abs() < 1e-9);
            }
            // Mirror symmetry and smoothness away from the ends: φ″″ = β⁴φ with a central difference.
            let h = 0.02 / beta;
            let x = 0.37;
            let fourth = at(x - 2.0 * h) - 4.0 * at(x - h) + 6.0 * at(x) - 4.0 * at(x + h) + at(x + 2.0 * h);
            assert!((fourth / (beta * h).powi(4) - at(x)).abs() < 1e-3, "{clamped} {n}");
        }
    }
}

#[test]
fn tuned_bars_have_their_ratios_and_rise() {
    for (tuning, second, third) in [(Tuning::xylophone(), 3.0, 6.0), (Tuning::marimba(), 4.0, 9.2)] {
        let tuning = Tuning { fundamental_hz: Some(440.0), ..tuning };
        let shape =
            Shape::Bar { length: 0.3, width: 0.05, thickness: 0.02, support: BarSupport::Free, tuning: Some(tuning) };
        let modes = lowest(&shape, &material("rosewood"), 6);
        assert!((modes[0].frequency_hz - 440.0).abs() < 1e-9);
        assert!((modes[1].frequency_hz - 440.0 * second).abs() < 1e-9);
        assert!((modes[2].frequency_hz - 440.0 * third).abs() < 1e-9);
        assert!(modes.windows(2).all(|m| m[0].frequency_hz < m[1].frequency_hz));
    }
}

/// `f_n = n f₀ √(1 + B n²)` with `B = π³ E d⁴ / (64 T L²)`.
#[test]
fn strings_are_harmonic_but_for_their_stiffness() {
    let steel = material("steel");
    let (length, diameter, tension) = (0.65, 0.001, 150.0);
    let shape = Shape::String { length, diameter, pull: Pull::Tension(tension) };
    let modes = lowest(&shape, &steel, 30);
    let line_mass = steel.density_kg_m3 * PI / 4.0 * diameter * diameter;
    let f0 = (tension / line_mass).sqrt() / (2.0 * length);
    let b = PI.powi(3) * steel.young_pa * diameter.powi(4) / (64.0 * tension * length * length);
    for (k, mode) in modes.iter().enumerate() {
        let n = (k + 1) as f64;
        assert!((mode.frequency_hz / (n * f0 * (1.0 + b * n * n).sqrt()) - 1.0).abs() < 1e-12);
    }
    let tuned = Shape::String { length, diameter, pull: Pull::Fundamental(220.0) };
    assert!((lowest(&tuned, &steel, 1)[0].frequency_hz - 220.0).abs() < 1e-9);
    let slack = Shape::String { length: 0.1, diameter: 0.005, pull: Pull::Fundamental(100.0) };
    let error = model(&slack, &steel, &AnalyticSettings::default()).unwrap_err();
    assert!(error.to_string().contains("without any tension"), "{error}");
}

/// Row 18: `λ²` of the reference tables (Bessel determinants, five digits).
#[test]
fn discs_have_the_tabulated_roots() {
    let clamped: [(usize, &[f64]); 5] = [
        (0, &[10.2158, 39.7711, 89.1041, 158.184]),
        (1, &[21.2604, 60.8287, 120.079]),
        (2, &[34.8770, 84.5826, 153.815]),
        (3, &[51.0300, 111.021]),
        (4, &[69.6658, 140.108]),
    ];
    let free: [(usize, &[f64]); 5] = [
        (2, &[5.3583, 35.2601, 84.366]),
        (0, &[9.0031, 38.4432, 87.750]),
        (3, &[12.439, 53.008]),
        (1, &[20.4746, 59.8116]),
        (4, &[21.8352, 73.543]),
    ];
    for (support, table) in [(DiscSupport::Clamped, clamped), (DiscSupport::Free, free)] {
        for (n, truth) in table {
            let found = roots(n, 13.0, 0.3, support);
            for (k, t) in truth.iter().enumerate() {
                assert!((found[k].powi(2) / t - 1.0).abs() < 1e-4, "{support:?} n={n} k={k}: {}", found[k].powi(2));
            }
        }
    }
    for (n, truth) in [(2, 5.262), (0, 9.069), (3, 12.244)] {
        assert!((roots(n, 5.0, 0.33, DiscSupport::Free)[0].powi(2) / truth - 1.0).abs() < 1e-4);
    }
}

#[test]
fn disc_shapes_satisfy_their_boundary_conditions() {
    for support in [DiscSupport::Free, DiscSupport::Clamped] {
        for n in [0, 1, 2, 5, 30] {
            for lambda in roots(n, 60.0, 0.3, support) {
                let radial = Radial::new(n, lambda, 0.3, support);
                for row in edge(n, lambda, 0.3, support) {
                    let residual = row[0] + radial.hyperbolic * row[1];
                    let size = row[0].abs() + (radial.hyperbolic * row[1]).abs() + 1e-3 * lambda;
                    assert!(residual.abs() < 1e-9 * size, "{support:?} {n} {lambda}: {residual}");
                }
                if support == DiscSupport::Clamped {
                    assert!(radial.at(1.0).abs() < 1e-12);
                    // ∫ W² r dr = J_n(λ)² for a clamped edge.
                    let norm = integrate(0.0, 1.0, 64, |r| radial.at(r).powi(2) * r);
                    assert!((norm / bessel::j(n, lambda)[0].powi(2) - 1.0).abs() < 1e-8, "{n} {lambda}");
                }
            }
        }
    }
}

/// Row 18: `ω a² √(ρh/D)`, ν = 0.3; the square is Leissa's.
#[test]
fn free_plates_have_the_tabulated_frequencies() {
    let table: [(f64, &[f64]); 4] = [
        (1.0, &[13.468, 19.596, 24.270, 34.801, 34.801, 61.093, 61.093, 63.686]),
        (1.5, &[20.096, 21.413, 46.347, 49.910, 57.713, 67.030]),
        (2.0, &[21.463, 26.575, 58.482, 59.606, 88.010, 101.503]),
        (2.5, &[21.454, 32.989, 59.629, 70.803, 116.42, 118.27]),
    ];
    for (aspect, truth) in table {
        let found = ritz_free_plate(aspect, 1.0, 1.0, 1.0, 0.3, truth.len());
        for (f, t) in found.iter().zip(truth) {
            let value = TAU * f * aspect * aspect;
            assert!((value / t - 1.0).abs() < 1e-4, "a/b = {aspect}: {value} for {t}");
        }
        assert_eq!(found.len(), truth.len());
    }
}

/// A plate ten times as long as wide bends first like a bar: `f = 22.373/(2πL²) √(Et²/12ρ)`, within the plate's own correction.
#[test]
fn a_slender_free_plate_is_a_bar() {
    let steel = material("steel");
    let d = steel.bending_stiffness_n_m(0.001);
    let plate = ritz_free_plate(0.5, 0.05, d, 0.001 * steel.density_kg_m3, steel.poisson, 1)[0];
    let shape = Shape::Bar { length: 0.5, width: 0.05, thickness: 0.001, support: BarSupport::Free, tuning: None };
    let bar = lowest(&shape, &steel, 1)[0].frequency_hz;
    assert!((plate / bar - 1.0).abs() < 0.01, "{plate} {bar}");
}

#[test]
fn hundreds_of_plate_modes_are_found_in_the_number_that_weyl_predicts() {
    let (a, b) = (0.3, 0.2);
    let hz = ritz_free_plate(a, b, 1.0, 1.0, 0.3, 250);
    assert_eq!(hz.len(), 250);
    let k = (TAU * hz[249]).sqrt();
    let weyl = a * b * k * k / (4.0 * PI);
    assert!((0.75..1.0).contains(&(weyl / 250.0)), "{weyl}");
}

/// Huang's determinant for steel, 200 × 20 × 10 mm.
#[test]
fn thick_bars_sound_lower() {
    let steel = material("steel");
    assert!((timoshenko_free_bar(0.2, 0.01, &steel, 1)[0] - 1285.6).abs() < 0.05);
    let wide = timoshenko_free_bar(0.2, 0.02, &steel, 4);
    assert!((wide[0] - 2506.5).abs() < 0.05, "{wide:?}");
    assert!(wide.windows(2).all(|f| f[1] > 1.5 * f[0]), "{wide:?}");
    // Slender: Euler–Bernoulli again.
    let shape = Shape::Bar { length: 0.2, width: 0.02, thickness: 2e-4, support: BarSupport::Free, tuning: None };
    let thin = timoshenko_free_bar(0.2, 2e-4, &steel, 3);
    for (t, e) in thin.iter().zip(lowest(&shape, &steel, 3)) {
        assert!((t / e.frequency_hz - 1.0).abs() < 1e-4);
    }
}

#[test]
fn a_strike_at_a_node_does_not_excite_the_mode() {
    let steel = material("steel");
    let settings = AnalyticSettings::default();
    // Nodes of the free bar's first mode at 0.2242 L from its ends; centre of a string for even partials.
    let bar = Shape::Bar { length: 0.2, width: 0.02, thickness: 0.004, support: BarSupport::Free, tuning: None };
    let bar = model(&bar, &steel, &settings).unwrap();
    let string = Shape::String { length: 0.65, diameter: 0.0007, pull: Pull::Fundamental(110.0) };
    let string = model(&string, &steel, &settings).unwrap();
    for (model, x, mode) in [(&bar, 0.2 * (0.224_158 - 0.5), 0), (&string, 0.0, 1), (&string, 0.0, 3)] {
        let at = |x: f64| {
            let contact = model.nearest_contact(Vec3::new(x, 0.0, 0.0)).unwrap();
            model.excitation(&contact.blend, Vec3::Z)[mode].abs()
        };
        let peak = (0..400).map(|k| at(0.65 * (f64::from(k) / 400.0 - 0.5))).fold(0.0, f64::max);
        assert!(at(x) < 2e-3 * peak, "{} mode {mode}: {} of {peak}", model.info.name, at(x));
    }
}

#[test]
fn models_are_valid_and_louder_where_they_should_be() {
    let steel = material("steel");
    for shape in everything() {
        let model = model(&shape, &steel, &AnalyticSettings::default()).unwrap();
        model.validate().unwrap();
        assert!(model.shapes.sites() <= 1024, "{shape:?}");
        assert!((model.info.mass_kg.unwrap() / shape.mass_kg(&steel) - 1.0).abs() < 1e-12);
        // The gain is that of core's definition, evaluated on the contact mesh.
        let mesh = model.surface.to_mesh();
        let square: f64 =
            mesh.vertex_areas().iter().enumerate().map(|(s, a)| a * model.shapes.get(s, 0).z.powi(2)).sum();
        let gain = eigentone_core::AIR_IMPEDANCE_PA_S_PER_M / (4.0 * PI).sqrt() * square.sqrt();
        let ratio = model.modes[0].output_gain.abs() / gain;
        assert!((ratio - 1.0).abs() < 0.03, "{shape:?}: {ratio}");
    }
}

#[test]
fn a_pickup_hears_a_mode_as_far_as_it_moves_there() {
    let steel = material("steel");
    let shape = Shape::String { length: 0.65, diameter: 0.0007, pull: Pull::Fundamental(110.0) };
    let at = |x: f64| {
        let settings = AnalyticSettings { pickup: Some(Vec3::new(x, 1.0, 2.0)), ..Default::default() };
        model(&shape, &steel, &settings).unwrap()
    };
    let middle = at(0.0);
    assert!(middle.modes[1].output_gain.abs() < 1e-9 * middle.modes[0].output_gain.abs());
    // Averaged over all pickup points the power is that of the radiation gain.
    let all = model(&shape, &steel, &AnalyticSettings::default()).unwrap();
    let mean = integrate(-0.5, 0.5, 4, |u| at(0.65 * u).modes[2].output_gain.powi(2));
    assert!((mean.sqrt() / all.modes[2].output_gain.abs() - 1.0).abs() < 1e-6);
}

#[test]
fn impossible_shapes_are_refused_with_a_reason() {
    let steel = material("steel");
    let bar = |length: f64, thickness: f64| Shape::Bar {
        length,
        width: 0.02,
        thickness,
        support: BarSupport::Free,
        tuning: None,
    };
    for (length, thickness) in [(0.0, 0.01), (-1.0, 0.01), (f64::NAN, 0.01), (0.2, f64::INFINITY), (0.2, 0.15)] {
        let error = model(&bar(length, thickness), &steel, &AnalyticSettings::default()).unwrap_err();
        assert!(matches!(error, AnalyticError::Measure { .. }), "{error}");
    }
    let tiny = model(&bar(0.01, 0.005), &steel, &AnalyticSettings::default()).unwrap_err();
    assert!(matches!(tiny, AnalyticError::NoModes { lowest_hz: Some(f), .. } if f > 22_000.0), "{tiny}");
    let tiny = Shape::Disc { radius: 0.002, thickness: 0.001, support: DiscSupport::Free };
    let tiny = model(&tiny, &steel, &AnalyticSettings::default()).unwrap_err();
    assert!(matches!(tiny, AnalyticError::NoModes { lowest_hz: Some(f), .. } if f > 22_000.0), "{tiny}");
    let thick = model(&bar(0.2, 0.02), &steel, &AnalyticSettings::default()).unwrap();
    assert!(thick.info.warnings[0].contains("six thicknesses"), "{:?}", thick.info.warnings);
}

#[test]
fn extreme_shapes_answer_quickly_and_soundly() {
    let rubber = material("rubber");
    for (size, thickness) in [(99.0_f64, 2e-6_f64), (99.0, 40.0), (5.0, 1e-4), (1e-4, 1e-5), (0.05, 0.02)] {
        for shape in everything() {
            let sized = match shape {
                Shape::String { .. } => {
                    Shape::String { length: size, diameter: thickness.min(0.1 * size), pull: Pull::Tension(1.0) }
                }
                Shape::Bar { support, tuning, .. } => {
                    Shape::Bar { length: size, width: size, thickness, support, tuning }
                }
                Shape::Plate { support, .. } => Shape::Plate { length: size, width: 0.9 * size, thickness, support },
                Shape::Disc { support, .. } => Shape::Disc { radius: 0.5 * size, thickness, support },
            };
            let settings = AnalyticSettings { max_modes: 40, ..Default::default() };
            if let Ok(model) = model(&sized, &rubber, &settings) {
                model.validate().unwrap();
            }
        }
    }
}

#[test]
fn slender_plates_and_impossible_plates_are_answered() {
    let hz = ritz_free_plate(0.49, 0.01, 1.0, 1.0, 0.3, 40);
    assert_eq!(hz.len(), 40);
    let [aspect_1000, nan] = [1000.0, f64::NAN].map(|a| ritz_free_plate(a, 1.0, 1.0, 1.0, 0.3, 5));
    assert!(aspect_1000.iter().all(|f| f.is_finite()));
    assert!(nan.is_empty() && ritz_free_plate(1.0, 1.0, 1.0, 1.0, 1.5, 5).is_empty());
}

/// Weyl's law counts `A k²/4π` modes and more for free edges, fewer for clamped ones.
#[test]
fn no_mode_of_a_disc_is_missed() {
    let steel = material("steel");
    for (support, low, high) in [(DiscSupport::Free, 0.8, 1.0), (DiscSupport::Clamped, 1.0, 1.3)] {
        let shape = Shape::Disc { radius: 0.5, thickness: 0.001, support };
        let modes = lowest(&shape, &steel, 250);
        let weyl = 0.25 * (0.5 * modes[249].wavenumber).powi(2);
        assert!((low..high).contains(&(weyl / 250.0)), "{support:?}: {weyl}");
        for n in 0..30 {
            let all = roots(n, 60.0, 0.29, support);
            // Gaps fall towards π; a root that was stepped over would leave one twice as wide.
            assert!(all.windows(3).all(|r| r[2] - r[1] < r[1] - r[0] + 0.1), "{support:?} {n} {all:?}");
        }
    }
}
