//! Pictures show what they should, where they should, and survive any input.

use super::*;
use eigentone_core::{Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface, TriMesh, Vec3, mesh::primitives};

fn model(frequencies: &[f64]) -> ModalModel {
    let mesh = primitives::disc(0.1, 5);
    let modes: Vec<Mode> = frequencies
        .iter()
        .map(|&f| Mode { frequency_hz: f, decay_per_s: 1.0 + 1e-3 * f, output_gain: 100.0 })
        .collect();
    let sites = mesh.positions.len();
    ModalModel {
        info: ModelInfo::new("test", Method::Manual, "steel"),
        shapes: ShapeTable::from_fn(sites, modes.len(), |_, n| Vec3::Z / (n + 1) as f64),
        modes,
        surface: Surface::from_mesh(&mesh),
        diffuse: Vec::new(),
    }
}

fn is_grey([r, g, b]: [u8; 3]) -> bool {
    r.abs_diff(g).max(g.abs_diff(b)).max(r.abs_diff(b)) < 16
}

/// Share of coloured pixels in a box.
fn coloured(picture: &Picture, x: std::ops::Range<u32>, y: std::ops::Range<u32>) -> f64 {
    let all = (x.end - x.start) * (y.end - y.start);
    let hits = y.flat_map(|v| x.clone().map(move |u| (u, v))).filter(|&(u, v)| !is_grey(picture.pixel(u, v).unwrap()));
    hits.count() as f64 / f64::from(all)
}

#[test]
fn a_stem_stands_at_its_frequency() {
    let picture = model_picture(&model(&[1000.0]));
    assert_eq!((picture.width(), picture.height()), (1200, 760));
    // 1 kHz lies at log(50)/log(1000) of the panel from 84 to 1064.
    let x = (84.0 + 980.0 * 50f64.ln() / 1000f64.ln()) as u32;
    assert!(coloured(&picture, x - 1..x + 2, 200..440) > 0.6);
    // Beside it nothing but the two curves of hearing, which are thin.
    assert!(coloured(&picture, x + 30..x + 400, 200..440) < 0.03);
    assert!(coloured(&picture, x - 400..x - 30, 200..440) < 0.03);
}

#[test]
fn a_sine_is_a_bright_line_in_its_spectrogram() {
    let sine: Vec<f32> =
        (0..88_200).map(|k| (std::f64::consts::TAU * 440.0 * f64::from(k) / 44_100.0).sin() as f32).collect();
    let picture = spectrogram_picture(&sine, 44_100.0, "440 Hz");
    let share = (440f64 / 20.0).ln() / (22_000f64 / 20.0).ln();
    let y = (670.0 - 440.0 * share) as u32;
    let bright = |y: u32| picture.pixel(600, y).unwrap().iter().map(|v| u32::from(*v)).sum::<u32>();
    assert!((y - 3..y + 4).map(bright).max().unwrap() > 600);
    assert!(bright(y - 120) < 60 && bright(y + 100) < 60);
}

#[test]
fn open_edges_and_torn_edges_have_their_colours() {
    let near = |p: [u8; 3], c: [u8; 4]| (0..3).all(|k| p[k].abs_diff(c[k]) < 25);
    let count = |mesh: &TriMesh, colour| {
        let picture = mesh_picture(mesh, &mesh.report(), &[], "mesh");
        let view = (104..694).flat_map(|y| (40..880).map(move |x| (x, y)));
        view.filter(|&(x, y)| near(picture.pixel(x, y).unwrap(), colour)).count()
    };
    let closed = primitives::cuboid(Vec3::new(0.2, 0.1, 0.05), [4, 2, 1]);
    assert_eq!(count(&closed, style::ORANGE) + count(&closed, style::RED), 0);
    let mut open = primitives::plate(0.2, 0.1, 3, 3);
    assert!(count(&open, style::ORANGE) > 500);
    let shared = open.edges().into_iter().find(|(_, t)| t.len() == 2).unwrap().0;
    open.positions.push(Vec3::new(0.0, 0.0, 0.05));
    open.triangles.push([shared[0], shared[1], 9]);
    assert!(count(&open, style::RED) > 100);
}

#[test]
fn any_model_has_a_picture() {
    let mut extreme = model(&[0.001, 20.0, 95_000.0]);
    extreme.info.name = "名前 \u{7} ".repeat(60);
    extreme.info.warnings = vec!["a long warning ".repeat(40), "another".to_owned()];
    extreme.modes[0].decay_per_s = f64::NAN;
    extreme.modes[1].output_gain = f64::INFINITY;
    let mut empty = model(&[]);
    empty.surface = Surface::default();
    for model in [model(&[]), empty, extreme, model(&[440.0; 300])] {
        assert!(model_picture(&model).png_bytes().len() > 1000);
    }
}

#[test]
fn any_sound_has_a_picture() {
    for samples in [&[][..], &[0.5], &[0.0; 4410], &[f32::NAN; 10], &[1e30, -1e30, 1e-40]] {
        for rate in [44_100.0, 0.0, f64::NAN, 8.0, 384_000.0] {
            assert!(!spectrogram_picture(samples, rate, "").png_bytes().is_empty());
            assert!(!spectrum_compare_picture(samples, &[0.1; 100], rate, "compare").png_bytes().is_empty());
        }
    }
}

#[test]
fn any_mesh_has_a_picture() {
    let report = primitives::plate(1.0, 1.0, 2, 2).report();
    let triangle = |a: Vec3, b: Vec3, c: Vec3| TriMesh { positions: vec![a, b, c], triangles: vec![[0, 1, 2]] };
    let broken = [
        TriMesh::default(),
        triangle(Vec3::ZERO, Vec3::X, Vec3::Y),
        triangle(Vec3::ZERO, Vec3::ZERO, Vec3::ZERO),
        triangle(Vec3::ZERO, Vec3::X, 2.0 * Vec3::X),
        triangle(Vec3::ZERO, Vec3::X * f64::NAN, Vec3::Y),
        triangle(Vec3::ZERO, Vec3::X * 1e300, Vec3::Y * 1e-300),
        TriMesh { positions: vec![Vec3::ZERO], triangles: vec![[0, 7, 9]] },
    ];
    for mesh in broken {
        let picture = mesh_picture(&mesh, &report, &[f64::NAN, 0.001], "broken");
        assert_eq!((picture.width(), picture.height()), (1200, 720));
    }
}

#[test]
fn the_overview_has_a_row_per_object() {
    let mesh = primitives::bowl(0.1, 24, 8);
    let model = model(&[300.0, 900.0]);
    let sound = OverviewSound { caption: "strike", samples: &[0.5; 2000], sample_rate_hz: 44_100.0 };
    let sounds = [sound, sound];
    let row = OverviewRow { name: "bowl", mesh: &mesh, model: &model, sounds: &sounds };
    let picture = overview_picture("overview", &[row; 5]);
    assert_eq!((picture.width(), picture.height()), (1600, 1826));
    assert!(overview_picture("nothing", &[]).height() > 100);
    assert!(coloured(&picture, 60..300, 180..400) > 0.1);
}
