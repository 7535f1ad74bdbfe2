//! Queries between all kinds of points, of fields whose truth is known.

mod common;

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use common::{SIZE, WALL, linear, random, side, two_rooms};
use eigentone_core::Vec3;
use eigentone_core::acoustics::Parameters;
use eigentone_space::decode::{Decoder, DecoderSettings, free_field, silence};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

fn decoder(quantum: f32, heard: impl Fn(Vec3, Vec3) -> Parameters) -> Decoder {
    Decoder::new(Arc::new(two_rooms(quantum, heard)), DecoderSettings::default())
}

/// Different on either side of the wall.
fn by_side(_: Vec3, source: Vec3) -> Parameters {
    let level = if source.x > WALL[1] { -12.0 } else { -3.0 };
    Parameters { direct_db: level, early_db: 2.0 * level, early_decay_s: 1.0, late_decay_s: 2.0, tilt_db: 0.0 }
}

/// What is linear in both points comes back as it was, wherever there are probes and cubes all around.
#[test]
fn blending_is_exact_for_what_is_linear() {
    let mut decoder = decoder(0.1, linear);
    let mut seed = 7;
    for _ in 0..500 {
        let mut point = |from: f64, to: f64| {
            let part = [from, 0.6, 0.6].map(|low| low + random(&mut seed));
            Vec3::new(from + (to - from) * part[0].fract(), 1.0 + 6.0 * part[1].fract(), 1.0 + part[2].fract())
        };
        // Between the outermost probes and middles of cubes of the left room.
        let (source, listener) = (point(0.6, 4.4), point(1.1, 4.9));
        let answer = decoder.query(source, listener);
        let found = answer.parameters.to_steps();
        let expected = linear(Vec3::new(listener.x, listener.y, 1.5), source).to_steps();
        for (found, expected) in found.iter().zip(expected) {
            // Half a step of what is stored, and the little that farther probes count.
            assert!((found - expected).abs() < 0.08, "{source} to {listener}: {found} for {expected}");
        }
        assert!(answer.confidence > 0.97, "{answer:?} {source} {listener}");
        assert!((answer.distance_m - source.distance(listener)).abs() < 1e-12);
    }
}

/// Two points at either side of the wall, each heard from its own: nothing of the other room.
#[test]
fn nothing_leaks_through_a_wall() {
    let mut decoder = decoder(3.0, by_side);
    for y in [0.3, 2.0, 4.1, 7.7] {
        for z in [0.2, 1.5, 2.8] {
            for into_wall in [-0.05, 0.05, 0.2] {
                let left = Vec3::new(WALL[0] + into_wall, y, z);
                let right = Vec3::new(WALL[1] - into_wall, y, z);
                for (at, level) in [(left, -3.0), (right, -12.0)] {
                    let answer = decoder.query(at, Vec3::new(if at == left { 2.2 } else { 9.1 }, 3.3, 1.5));
                    assert!((answer.parameters.direct_db - level).abs() < 1e-4, "{at}: {answer:?}");
                    assert!(answer.confidence > 0.0);
                }
                // The listener at the wall, and the source in the other room: no sound.
                let answer = decoder.query(right, left);
                assert_eq!(answer.parameters, silence(), "{left} {right}");
            }
        }
    }
}

/// In walls, above the roof, far away, nowhere: an answer, finite, with a confidence.
#[test]
fn every_query_answers() {
    let mut decoder = decoder(3.0, by_side);
    let listener = Vec3::new(2.0, 2.0, 1.5);
    let far = decoder.query(Vec3::new(-1e4, 2.0, 1.5), listener);
    assert!((far.parameters.direct_db + 3.0).abs() < 1e-4 && far.parameters.early_db < -60.0, "{far:?}");
    assert!(far.confidence > 0.0 && far.confidence < 1e-3);
    let wild = [0.0, -1.0, 3.3, 1e3, -1e8, 1e30, f64::INFINITY, f64::NAN];
    for &x in &wild {
        for &y in &wild {
            for &z in &wild {
                for (source, listener) in [(Vec3::new(x, y, z), listener), (listener, Vec3::new(z, x, y))] {
                    let answer = decoder.query(source, listener);
                    assert!(answer.parameters.to_array().iter().all(|p| p.is_finite()), "{source} {listener}");
                    assert!((0.0..=1.0).contains(&answer.confidence), "{answer:?}");
                }
            }
        }
    }
    let stats = decoder.stats();
    assert!(stats.queries > 1000 && stats.beyond > 100 && stats.lines > stats.decoded);
}

/// A field without any probe is open air.
#[test]
fn without_probes_it_is_the_free_field() {
    let field = two_rooms(3.0, by_side);
    let bytes =
        eigentone_io::field_bytes(field.info(), field.lattice(), field.occupancy(), &[]).expect("parts that fit");
    let field = eigentone_io::read_field_bytes(&bytes).expect("a field without probes");
    let mut decoder = Decoder::new(Arc::new(field), DecoderSettings::default());
    let answer = decoder.query(Vec3::ONE, Vec3::new(2.0, 3.0, 1.0));
    assert_eq!((answer.parameters, answer.confidence), (free_field(), 0.0));
}

/// A cache too small for anything gives the same answers, and no query allocates.
#[test]
fn answers_do_not_depend_on_the_cache_and_nothing_allocates() {
    let field = Arc::new(two_rooms(3.0, linear));
    let mut large = Decoder::new(field.clone(), DecoderSettings::default());
    let mut small = Decoder::new(field, DecoderSettings { cache_bytes: 0 });
    let mut seed = 3;
    let points: Vec<Vec3> =
        (0..2000).map(|_| Vec3::from_array(SIZE.map(|l| 1.2 * l * random(&mut seed) - 0.1 * l))).collect();
    let mut wrong = 0;
    let before = violation_count();
    assert_no_alloc(|| {
        for pair in points.windows(2) {
            wrong += usize::from(large.query(pair[0], pair[1]) != small.query(pair[0], pair[1]));
        }
    });
    assert_eq!((wrong, violation_count()), (0, before));
    assert!(small.stats().decoded > 2 * large.stats().decoded);
}

/// Along any way the parameters go in small steps, but where another probe or cube comes into sight.
#[test]
fn parameters_are_continuous_along_the_way() {
    let mut decoder = decoder(3.0, linear);
    let listener = Vec3::new(2.1, 3.9, 1.5);
    let at = |t: f64| Vec3::new(0.3 + 5.0 * t, 0.4 + 7.0 * t, 0.3 + 2.0 * t);
    let mut last = decoder.query(at(0.0), listener).parameters.to_steps();
    for k in 1..=2000 {
        let now = decoder.query(at(f64::from(k) / 2000.0), listener).parameters.to_steps();
        let most = now.iter().zip(last).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most < 0.1, "{k}: {most}");
        last = now;
    }
    let way = |t: f64| Vec3::new(0.5 + 4.8 * t, 7.4 - 6.8 * t, 1.5);
    let source = Vec3::new(3.3, 4.4, 1.2);
    let mut last = decoder.query(source, way(0.0)).parameters.to_steps();
    for k in 1..=2000 {
        let now = decoder.query(source, way(f64::from(k) / 2000.0)).parameters.to_steps();
        let most = now.iter().zip(last).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most < 0.1, "{k}: {most} at {}", way(f64::from(k) / 2000.0));
        last = now;
    }
    assert!(side(listener) == Some(false));
}
