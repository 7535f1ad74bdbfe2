//! A scene of known motion: a jelly cube and a rubber ball fall on a table, bounce, spin and wobble.

use eigentone_core::{TriMesh, Vec3, mesh::primitives};
use eigentone_io::{AnimatedMesh, AudioBuffer};
use std::f64::consts::TAU;

pub const FRAMES_PER_S: f64 = 60.0;

pub fn time_s(frame: usize) -> f64 {
    frame as f64 / FRAMES_PER_S
}

fn mesh(name: &str, color: [f32; 3], shape: &TriMesh, at: Vec3, moves: bool) -> AnimatedMesh {
    let positions = shape.positions.iter().map(|&p| (p + at).as_vec3().to_array()).collect();
    AnimatedMesh { name: name.to_owned(), color, positions, triangles: shape.triangles.clone(), moves }
}

/// Cube, table and ball; the table does not move.
pub fn meshes() -> Vec<AnimatedMesh> {
    let centred = |mut shape: TriMesh| {
        let [low, high] = shape.bounds().unwrap();
        shape.positions.iter_mut().for_each(|p| *p -= (low + high) / 2.0);
        shape
    };
    let cube = centred(primitives::cuboid(Vec3::splat(0.2), [8, 8, 8]));
    let table = centred(primitives::cuboid(Vec3::new(1.2, 0.8, 0.04), [1, 1, 1]));
    let ball = centred(primitives::sphere(0.08, 32, 20));
    vec![
        mesh("jelly cube", [0.75, 0.08, 0.12], &cube, Vec3::new(-0.2, 0.0, 0.6), true),
        mesh("table", [0.25, 0.17, 0.1], &table, Vec3::new(0.0, 0.0, -0.02), false),
        mesh("ball", [0.05, 0.3, 0.7], &ball, Vec3::new(0.25, 0.0, 0.5), true),
    ]
}

/// Height of a thing dropped from `height` that keeps the share `keeps` of its speed at each bounce, and the time since the last.
pub fn bounce(height: f64, keeps: f64, time_s: f64) -> (f64, f64) {
    const GRAVITY: f64 = 9.81;
    let mut speed = (2.0 * GRAVITY * height).sqrt();
    let first_s = speed / GRAVITY;
    if time_s < first_s {
        return (height - GRAVITY * time_s * time_s / 2.0, f64::INFINITY);
    }
    let mut since_s = time_s - first_s;
    loop {
        speed *= keeps;
        if speed < 0.05 {
            return (0.0, since_s);
        }
        let flight_s = 2.0 * speed / GRAVITY;
        if since_s < flight_s {
            return (speed * since_s - GRAVITY * since_s * since_s / 2.0, since_s);
        }
        since_s -= flight_s;
    }
}

/// Positions of the moving bodies in a frame: cube, then ball.
pub fn frame(meshes: &[AnimatedMesh], frame: usize) -> Vec<Vec<[f32; 3]>> {
    let t = time_s(frame);
    let moved = |mesh: &AnimatedMesh, centre: Vec3, motion: &dyn Fn(Vec3) -> Vec3| -> Vec<[f32; 3]> {
        let local = mesh.positions.iter().map(|&p| Vec3::from_array(p.map(f64::from)) - centre);
        local.map(|p| motion(p).as_vec3().to_array()).collect()
    };
    let (height, since_s) = bounce(0.5, 0.55, t);
    let ring = |hz: f64, decay_s: f64| {
        if since_s.is_finite() { (-since_s / decay_s).exp() * (TAU * hz * since_s).sin() } else { 0.0 }
    };
    let (squash, shear, bulge) = (0.35 * ring(3.5, 0.4), 0.3 * ring(5.0, 0.3), 4.0 * ring(8.0, 0.2));
    let spin = glam::DQuat::from_axis_angle(Vec3::Z, 3.0 * t);
    let cube = moved(&meshes[0], Vec3::new(-0.2, 0.0, 0.6), &|p| {
        let wide = 1.0 + squash / 2.0 + bulge * (0.01 - p.z * p.z);
        let p = Vec3::new(p.x * wide + shear * p.z, p.y * wide, p.z * (1.0 - squash));
        spin * p + Vec3::new(-0.2 + 0.1 * t, 0.0, height + 0.1 * (1.0 - squash))
    });
    let (height, since_s) = bounce(0.42, 0.8, t);
    let dent = if since_s.is_finite() { 0.02 * (-since_s / 0.05).exp() } else { 0.0 };
    let roll = glam::DQuat::from_axis_angle(Vec3::new(0.6, 0.8, 0.0), -7.0 * t);
    let ball = moved(&meshes[2], Vec3::new(0.25, 0.0, 0.5), &|p| {
        // The dent is below, whichever side of the ball is there.
        let p = roll * p;
        let depth = ((-p.z - 0.08 + dent) / 0.08).max(0.0) * 0.08;
        p + Vec3::new(0.25 - 0.05 * t, 0.1 * t, height + 0.08 + depth - dent)
    });
    vec![cube, ball]
}

#[allow(dead_code)]
/// A sound of the same length: a blow at each of the cube's bounces.
pub fn sound(frames: usize) -> AudioBuffer {
    let rate_hz = 48_000;
    let samples = (time_s(frames) * f64::from(rate_hz)) as usize;
    let sample = |n: usize| {
        let (_, since_s) = bounce(0.5, 0.55, n as f64 / f64::from(rate_hz));
        if since_s.is_finite() { ((-since_s / 0.08).exp() * (TAU * 180.0 * since_s).sin() * 0.6) as f32 } else { 0.0 }
    };
    AudioBuffer { sample_rate_hz: rate_hz, channels: vec![(0..samples).map(sample).collect()] }
}
