//! Hail over the picnic of van den Doel, Knott & Pai 2004: does it fall faster than real time?
//!
//! `cargo bench -p eigentone-sim --bench particles [-- --quick]`: 100,000 stones in flight over four roof panes, a table, three plates and a can with its lid, in
//! frames of 1/60 s on one core. The clock starts when the hail has become even.

use eigentone_core::Vec3;
use eigentone_sim::particles::{Cloud, Collider, Region, Shape, Simulation};
use std::time::Instant;

const PARTICLES: usize = 100_000;
const FRAME_S: f64 = 1.0 / 60.0;

/// Two huts with two roof panes each, and a table between them.
fn picnic() -> Vec<Collider> {
    let pane = |ridge: f64, side: f64| Shape::Quad {
        corner: Vec3::new(ridge, 3.0, -1.5),
        edges: [Vec3::new(side, -0.8, 0.0), 3.0 * Vec3::Z],
    };
    let plate = |x: f64, z: f64, radius_m: f64| Shape::disc(Vec3::new(x, 0.77, z), Vec3::Y, radius_m);
    let can = Vec3::new(0.6, 0.75, 0.2);
    let shapes = [
        pane(-2.5, -1.2),
        pane(-2.5, 1.2),
        pane(2.5, -1.2),
        pane(2.5, 1.2),
        Shape::Quad { corner: Vec3::new(-0.9, 0.75, -0.5), edges: [1.8 * Vec3::X, 1.0 * Vec3::Z] },
        plate(-0.6, 0.0, 0.15),
        plate(-0.1, 0.1, 0.12),
        plate(0.3, -0.2, 0.1),
        Shape::Cylinder { base: can, axis: 0.12 * Vec3::Y, radius_m: 0.033 },
        Shape::disc(can + 0.12 * Vec3::Y, Vec3::Y, 0.033),
    ];
    shapes.into_iter().map(Collider::new).collect()
}

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let seconds = if quick { 5.0 } else { 30.0 };
    let cloud = Cloud {
        particles: PARTICLES,
        region: Region::Box { low: Vec3::new(-4.0, 6.0, -1.5), high: Vec3::new(4.0, 7.0, 1.5) },
        velocity_m_s: -10.0 * Vec3::Y,
        gravity_m_s2: -9.81 * Vec3::Y,
        ..Cloud::default()
    };
    let mut hail = Simulation::new(cloud, picnic()).expect("a scene");
    let mut impacts = Vec::new();
    let warm_up_s = 3.0;
    hail.advance(warm_up_s, &mut impacts);

    let mut struck = vec![0usize; hail.colliders().len()];
    let start = Instant::now();
    let frames = (seconds / FRAME_S) as usize;
    for frame in 1..=frames {
        impacts.clear();
        hail.advance(warm_up_s + frame as f64 * FRAME_S, &mut impacts);
        for impact in &impacts {
            struck[impact.collider as usize] += 1;
        }
    }
    let wall_s = start.elapsed().as_secs_f64();
    let simulated_s = frames as f64 * FRAME_S;
    let total: usize = struck.iter().sum();
    println!("{} in flight; impacts per collider in {simulated_s:.1} s: {struck:?}", hail.in_flight());
    println!("figure particles.impacts_per_simulated_second = {:.0} 1/s", total as f64 / simulated_s);
    println!("figure particles.impacts_per_wall_second = {:.0} 1/s", total as f64 / wall_s);
    println!("figure particles.realtime_factor = {:.1} ratio", simulated_s / wall_s);
}
