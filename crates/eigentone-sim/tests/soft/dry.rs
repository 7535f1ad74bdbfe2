//! One body as a source, against the same body heard at two ears.

use eigentone_core::{TetMesh, Vec3};
use eigentone_sim::soft::radiate::{DrySound, Radiation, Radiator, RadiatorSettings};
use eigentone_sim::soft::{SoftBody, SoftMaterial, SoftWorld, WorldSettings};
use std::f64::consts::TAU;

const RATE_HZ: f64 = 44_100.0;

fn cube(name: &str, size: f64, at: Vec3, young_pa: f64) -> SoftBody {
    let mut mesh = TetMesh::block(Vec3::splat(size), [2, 2, 2]);
    mesh.positions.iter_mut().for_each(|p| *p += at);
    SoftBody::new(name, mesh, SoftMaterial { young_pa, ..SoftMaterial::default() })
}

fn still() -> WorldSettings {
    WorldSettings { gravity_m_s2: Vec3::ZERO, ..WorldSettings::default() }
}

/// Shakes a body as a whole: v = cos(2πft) along x, by the middle of the step that comes.
fn shake(world: &mut SoftWorld, body: usize, hz: f64, speed: &mut f64) {
    let next = (TAU * hz * (world.time_s() + 0.5 * world.step_s())).cos();
    let by = Vec3::X * (next - *speed);
    world.push(body, |_| by);
    *speed = next;
}

fn amplitude(signal: &[f32], hz: f64) -> f64 {
    let (mut re, mut im) = (0.0, 0.0);
    for (n, y) in signal.iter().enumerate() {
        let (sin, cos) = (TAU * hz * n as f64 / RATE_HZ).sin_cos();
        let window = 1.0 - (TAU * n as f64 / signal.len() as f64).cos();
        (re, im) = (re + window * f64::from(*y) * cos, im + window * f64::from(*y) * sin);
    }
    2.0 * f64::hypot(re, im) / signal.len() as f64
}

/// A cube of 4 mm, a tenth of the shortest wavelength, 2 m away in several directions: the level at both ears is that of the dry sound over the distance.
#[test]
fn at_a_distance_it_is_the_dry_sound_over_r() {
    for radiation in [Radiation::Rayleigh, Radiation::Printed] {
        for hz in [125.0, 500.0, 2000.0, 8000.0] {
            for toward in [Vec3::X, Vec3::new(1.0, 0.7, 0.0).normalize(), Vec3::new(-0.6, 0.3, 0.8).normalize()] {
                let mut world = SoftWorld::new(vec![cube("cube", 0.004, Vec3::ZERO, 1e6)], &still()).unwrap();
                let ears = [-0.09, 0.09].map(|side| 2.0 * toward + side * toward.any_orthonormal_vector());
                let settings = RadiatorSettings { listeners: ears.to_vec(), radiation, ..RadiatorSettings::default() };
                let mut radiator = Radiator::new(&world, &settings);
                let mut dry = DrySound::new(&world, world.body(0).id(), RATE_HZ, radiation).unwrap();
                let (mut heard, mut single, mut speed) = ([Vec::new(), Vec::new()], Vec::new(), 0.0);
                while single.len() < 6000 {
                    shake(&mut world, 0, hz, &mut speed);
                    world.step().unwrap();
                    radiator.listen(&world, |y| heard.iter_mut().zip(y).for_each(|(h, y)| h.push(*y)));
                    dry.listen(&world, toward, |y| single.push(y));
                }
                let level = |signal: &[f32]| amplitude(&signal[2000..], hz);
                for (ear, place) in heard.iter().zip(ears) {
                    let off_db = 20.0 * (level(ear) * place.length() / level(&single)).log10();
                    assert!(off_db.abs() < 0.5, "{radiation:?} {hz} Hz toward {toward}: {off_db} dB");
                }
            }
        }
    }
}

/// The phase says when: what is told of the latency holds to a tenth of a sample.
#[test]
fn it_is_as_late_as_told() {
    let hz = 1000.0;
    for begin in [0, 1, 2] {
        let mut world = SoftWorld::new(vec![cube("cube", 0.01, Vec3::ZERO, 1e7)], &still()).unwrap();
        assert!(world.steps_per_sample(RATE_HZ) > 2);
        let mut speed = 0.0;
        for _ in 0..begin {
            shake(&mut world, 0, hz, &mut speed);
            world.step().unwrap();
        }
        let mut dry = DrySound::new(&world, world.body(0).id(), RATE_HZ, Radiation::Printed).unwrap();
        let mut heard = Vec::new();
        while heard.len() < 8000 {
            shake(&mut world, 0, hz, &mut speed);
            world.step().unwrap();
            dry.listen(&world, Vec3::X, |y| heard.push(y));
        }
        let (mut re, mut im) = (0.0, 0.0);
        for (n, y) in heard.iter().enumerate().skip(3590) {
            let t = (n as f64 - dry.latency() as f64) / RATE_HZ;
            (re, im) = (re + f64::from(*y) * (TAU * hz * t).cos(), im + f64::from(*y) * (TAU * hz * t).sin());
        }
        // The DC block is ahead by 20/1000 of a radian.
        let late = (f64::atan2(im, re) + 0.02) / (TAU * hz) * RATE_HZ;
        assert!(late.abs() < 0.1, "{late} samples");
    }
}

/// Others come, with shorter steps, and go: the tone goes on without a click.
#[test]
fn it_outlives_what_happens_to_others() {
    let hz = 1000.0;
    let run = |busy: bool| {
        let bodies = vec![cube("other", 0.1, Vec3::Y * 5.0, 1e6), cube("cube", 0.1, Vec3::ZERO, 1e6)];
        let mut world = SoftWorld::new(bodies, &still()).unwrap();
        let id = world.body(1).id();
        let mut dry = DrySound::new(&world, id, RATE_HZ, Radiation::Rayleigh).unwrap();
        let mut all = Radiator::new(&world, &RadiatorSettings { listeners: vec![Vec3::X], ..Default::default() });
        let (mut heard, mut also, mut speed, mut stiff) = (Vec::new(), Vec::new(), 0.0, None);
        while heard.len() < 5000 {
            if busy && world.steps_in_sample() == 0 {
                match heard.len() {
                    1000 => stiff = Some(world.insert(cube("stiff", 0.1, Vec3::Y * -5.0, 1e9)).unwrap()),
                    2000 => drop(world.remove(world.body(0).id()).unwrap()),
                    3000 => drop(world.remove(stiff.take().unwrap()).unwrap()),
                    _ => {}
                }
            }
            let number = world.number(id).unwrap();
            shake(&mut world, number, hz, &mut speed);
            world.step().unwrap();
            dry.listen(&world, Vec3::X, |y| heard.push(y));
            all.listen(&world, |y| also.push(y[0]));
        }
        (heard, also)
    };
    let (quiet, busy) = (run(false), run(true));
    for (quiet, busy) in [(quiet.0, busy.0), (quiet.1, busy.1)] {
        assert_eq!(quiet.len(), busy.len());
        let loudest = quiet[500..].iter().fold(0f32, |m, y| m.max(y.abs()));
        let differ = quiet.iter().zip(&busy).skip(500).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        println!("{loudest} Pa, {differ} other");
        assert!(loudest > 0.0 && differ < 0.01 * loudest, "{differ} of {loudest}");
    }
}

/// A body that is removed falls silent, and has no sound anew.
#[test]
fn what_is_gone_is_silent() {
    let mut world = SoftWorld::new(vec![cube("cube", 0.05, Vec3::ZERO, 1e6)], &still()).unwrap();
    let id = world.body(0).id();
    let mut dry = DrySound::new(&world, id, RATE_HZ, Radiation::Rayleigh).unwrap();
    let (mut heard, mut speed) = (Vec::new(), 0.0);
    while heard.len() < 1000 {
        shake(&mut world, 0, 1000.0, &mut speed);
        world.step().unwrap();
        dry.listen(&world, Vec3::X, |y| heard.push(y));
    }
    world.remove(id).unwrap();
    assert!(DrySound::new(&world, id, RATE_HZ, Radiation::Rayleigh).is_none());
    while heard.len() < 6000 {
        world.step().unwrap();
        dry.listen(&world, Vec3::X, |y| heard.push(y));
    }
    let loudest = |part: &[f32]| part.iter().fold(0f32, |m, y| m.max(y.abs()));
    assert!(loudest(&heard[5000..]) < 1e-3 * loudest(&heard[500..1000]));
    assert!(loudest(&heard[1000..]) < 1.5 * loudest(&heard[500..1000]));
}
