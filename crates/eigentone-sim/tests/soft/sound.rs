//! What is heard of moving surfaces.

use eigentone_core::{AIR_IMPEDANCE_PA_S_PER_M, SOUND_M_S, TetMesh, Vec3};
use eigentone_sim::soft::kernel::Four;
use eigentone_sim::soft::radiate::{Radiation, Radiator, RadiatorSettings};
use eigentone_sim::soft::{SoftBody, SoftMaterial, SoftWorld, WorldSettings};
use std::f64::consts::TAU;

const RATE_HZ: f64 = 44_100.0;

/// A disc in the xy plane that faces up: rings of triangles.
fn disc(radius: f64) -> (Vec<Four>, Vec<[u32; 3]>) {
    let (rings, around) = (12u32, 48u32);
    let mut positions = vec![Four::default()];
    for ring in 1..=rings {
        for k in 0..around {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(around)).sin_cos();
            // As large as the circle that the polygon stands for.
            let r = radius * f64::from(ring) / f64::from(rings)
                * (TAU / f64::from(around) / (TAU / f64::from(around)).sin()).sqrt();
            positions.push(Four([r * cos, r * sin, 0.0, 0.0]));
        }
    }
    let at = |ring: u32, k: u32| if ring == 0 { 0 } else { 1 + (ring - 1) * around + k % around };
    let mut triangles = Vec::new();
    for ring in 1..=rings {
        for k in 0..around {
            triangles.push([at(ring - 1, k), at(ring, k), at(ring, k + 1)]);
            if ring > 1 {
                triangles.push([at(ring - 1, k), at(ring, k + 1), at(ring - 1, k + 1)]);
            }
        }
    }
    (positions, triangles)
}

/// Amplitude of what is heard on the axis of a piston, once it is steady.
fn piston(radius: f64, distance: f64, hz: f64, radiation: Radiation) -> f64 {
    let (positions, triangles) = disc(radius);
    let settings = RadiatorSettings { listeners: vec![Vec3::Z * distance], radiation, ..RadiatorSettings::default() };
    let steps = 4;
    let mut radiator = Radiator::of_triangles(triangles, steps, &settings);
    let mut heard = Vec::new();
    for n in 0..steps * 22_050 {
        let t = (n as f64 + 0.5) / (RATE_HZ * steps as f64);
        let velocities = vec![Four([0.0, 0.0, (TAU * hz * t).sin(), 0.0]); positions.len()];
        radiator.hear(&positions, &velocities, |sample| heard.push(f64::from(sample[0])));
    }
    let steady = &heard[11_025..];
    let (mut re, mut im) = (0.0, 0.0);
    for (k, y) in steady.iter().enumerate() {
        let (sin, cos) = (TAU * hz * k as f64 / RATE_HZ).sin_cos();
        (re, im) = (re + y * cos, im + y * sin);
    }
    2.0 * f64::hypot(re, im) / steady.len() as f64
}

/// |p| = 2ρc v |sin(½k(√(z² + a²) − z))| on the axis of a piston in a wall.
#[test]
fn a_piston_sounds_as_theory_has_it() {
    let (a, z) = (0.05, 1.0);
    for hz in [250.0, 1000.0, 4000.0] {
        let k = TAU * hz / SOUND_M_S;
        let path = f64::hypot(z, a) - z;
        let exact = 2.0 * AIR_IMPEDANCE_PA_S_PER_M * (0.5 * k * path).sin().abs();
        let found = piston(a, z, hz, Radiation::Rayleigh);
        println!("{hz} Hz: {found:.4} Pa, exact {exact:.4} ({:+.2} %)", 100.0 * (found / exact - 1.0));
        assert!((found / exact - 1.0).abs() < 0.01, "{hz} Hz: {found} {exact}");
    }
}

#[test]
fn the_printed_form_does_not_rise() {
    let [low, high] = [500.0, 2000.0].map(|hz| piston(0.02, 1.0, hz, Radiation::Printed));
    assert!((high / low - 1.0).abs() < 0.02, "{low} {high}");
    let [low, high] = [500.0, 2000.0].map(|hz| piston(0.02, 1.0, hz, Radiation::Rayleigh));
    assert!((high / low - 4.0).abs() < 0.1, "{low} {high}");
}

#[test]
fn twice_as_far_is_6_db_less() {
    let levels = [1.0, 2.0, 4.0, 8.0].map(|z| 20.0 * piston(0.02, z, 500.0, Radiation::Rayleigh).log10());
    for pair in levels.windows(2) {
        assert!((pair[0] - pair[1] - 6.02).abs() < 0.05, "{levels:?}");
    }
}

/// A jolt is heard after distance/c, within a sample; the time of the first sample is −latency.
#[test]
fn sound_takes_its_time() {
    let (positions, triangles) = disc(0.01);
    for distance in [0.5, 3.0, 34.32] {
        let settings =
            RadiatorSettings { listeners: vec![Vec3::Z * distance], lowest_hz: 0.0, ..RadiatorSettings::default() };
        let mut radiator = Radiator::of_triangles(triangles.clone(), 4, &settings);
        let mut heard: Vec<f64> = Vec::new();
        for n in 0..4 * 10_000 {
            // The velocity steps up at 20 ms: a click of acceleration.
            let t = (f64::from(n) + 0.5) / (4.0 * RATE_HZ);
            let velocities = vec![Four([0.0, 0.0, f64::from(u8::from(t > 0.02)), 0.0]); positions.len()];
            radiator.hear(&positions, &velocities, |sample| heard.push(f64::from(sample[0])));
        }
        let peak = (0..heard.len()).max_by(|&a, &b| heard[a].total_cmp(&heard[b])).unwrap();
        let time_s = (peak as f64 - radiator.latency() as f64) / RATE_HZ;
        let expected_s = 0.02 + distance / SOUND_M_S;
        assert!((time_s - expected_s).abs() < 1.0 / RATE_HZ, "{distance} m: {time_s} {expected_s}");
    }
}

/// What falls without touching anything makes no sound: at 3 m/s and 1 m less than 30 dB SPL, in all of it the ear can hear.
#[test]
fn falling_is_silent() {
    let body = SoftBody {
        velocity_m_s: Vec3::Z * -3.0,
        ..SoftBody::new("cube", TetMesh::block(Vec3::splat(0.1), [3, 3, 3]), SoftMaterial::default())
    };
    let mut world = SoftWorld::new(vec![body], &WorldSettings::default()).unwrap();
    let mut radiator =
        Radiator::new(&world, &RadiatorSettings { listeners: vec![Vec3::X], ..RadiatorSettings::default() });
    let mut heard = Vec::new();
    while heard.len() < 4410 {
        world.step().unwrap();
        radiator.listen(&world, |sample| heard.push(sample[0]));
    }
    let loudest = heard.iter().fold(0.0f32, |m, y| m.max(y.abs()));
    assert!(loudest < 6e-4, "{loudest} Pa");
}
