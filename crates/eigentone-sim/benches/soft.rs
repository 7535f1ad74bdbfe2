//! How fast soft bodies are: `cargo bench -p eigentone-sim --bench soft [-- --quick]`.
//!
//! Element-steps per second of one core, of the loop as it is used and of the equations written one element after the other; and what a second core brings. Then what contact costs: a cube on
//! colliders of all kinds that move, relative to the same cube in free fall.

use eigentone_core::mesh::primitives;
use eigentone_core::{TetMesh, Vec3};
use eigentone_sim::soft::element::Element;
use eigentone_sim::soft::{Collider, Shape, SoftBody, SoftMaterial, SoftWorld, WorldSettings};
use glam::DQuat;
use std::time::Instant;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let steps = 200;
    let mesh = TetMesh::block(Vec3::splat(0.1), [14; 3]);
    println!("{} tetrahedra, {} nodes, {steps} steps", mesh.tets.len(), mesh.positions.len());
    let elements = mesh.tets.len() as f64;
    let mut best = [f64::INFINITY; 3];
    // The best of many: other guests of the machine take a core away now and then.
    for _ in 0..if quick { 5 } else { 25 } {
        for (threads, best) in [1, 2].into_iter().zip(&mut best) {
            *best = best.min(on(threads, || world_seconds(&mesh, steps)));
        }
        best[2] = best[2].min(plain_seconds(&mesh, steps / 5) * 5.0);
    }
    let rate = |seconds: f64| elements * steps as f64 / seconds;
    let [one, two, plain] = best;
    println!(
        "one core {:.1} M, two cores {:.1} M, one by one {:.1} M element-steps per second",
        rate(one) / 1e6,
        rate(two) / 1e6,
        rate(plain) / 1e6
    );
    println!("figure soft.element_steps_per_s = {:.3e} 1/s", rate(one));
    println!("figure soft.kernel_ratio = {:.2} ratio", plain / one);
    println!("figure soft.two_core_speedup = {:.2} ratio", one / two);
    contact(quick);
}

/// Seconds of a cube of 5000 tetrahedra that lies on a collider, with impulses and forces drained, over those without one.
fn contact(quick: bool) {
    let (centre, rotation) = (Vec3::ZERO, DQuat::IDENTITY);
    let slab = primitives::cuboid(Vec3::new(0.4, 0.4, 0.05), [16, 16, 2]);
    println!("a cube of 5000 tetrahedra on colliders that move; the mesh has {} triangles", slab.triangles.len());
    let shapes = [
        ("free", None),
        ("plane", Some(Shape::Plane { point: Vec3::Z * 0.025, normal: Vec3::Z })),
        ("cuboid", Some(Shape::Cuboid { centre, half_m: Vec3::new(0.2, 0.2, 0.025), rotation })),
        ("cylinder", Some(Shape::Cylinder { centre, radius_m: 0.2, half_height_m: 0.025, rotation })),
        ("hull", Shape::hull(&slab.positions).ok()),
        ("mesh", Shape::mesh(slab).ok()),
    ];
    let mut best = [f64::INFINITY; 6];
    for _ in 0..if quick { 2 } else { 8 } {
        for ((_, shape), best) in shapes.iter().zip(&mut best) {
            *best = best.min(on(1, || contact_seconds(shape.clone())));
        }
    }
    for ((name, _), seconds) in shapes.iter().zip(best).skip(1) {
        println!("figure soft.contact_{name}_ratio = {:.2} ratio", seconds / best[0]);
    }
}

fn contact_seconds(shape: Option<Shape>) -> f64 {
    let mut mesh = TetMesh::block(Vec3::splat(0.1), [10; 3]);
    mesh.positions.iter_mut().for_each(|p| p.z += 0.0749);
    let material = SoftMaterial { young_pa: 1e5, ..SoftMaterial::default() };
    let mut world =
        SoftWorld::new(vec![SoftBody::new("cube", mesh, material)], &WorldSettings::default()).expect("a world");
    let id = shape.map(|shape| world.insert_collider(Collider { name: String::new(), shape, friction: 0.5 }));
    let begin = Instant::now();
    for _ in 0..10 {
        if let Some(id) = id {
            world.move_collider(id, Vec3::ZERO, DQuat::IDENTITY, Vec3::ZERO, Vec3::ZERO);
        }
        world.advance_samples(92, |_| {}).expect("stable");
        std::hint::black_box(world.drain_impulses());
        world.drain_forces(|force| {
            std::hint::black_box(force.force_n);
        });
    }
    begin.elapsed().as_secs_f64()
}

fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

/// Whole steps of a world: elements, nodes, motion.
fn world_seconds(mesh: &TetMesh, steps: usize) -> f64 {
    let body = SoftBody { spin_rad_s: Vec3::Z * 5.0, ..SoftBody::new("cube", mesh.clone(), SoftMaterial::default()) };
    let mut world = SoftWorld::new(vec![body], &WorldSettings::default()).expect("a world");
    (0..20).for_each(|_| world.step().expect("a step"));
    let begin = Instant::now();
    (0..steps).for_each(|_| world.step().expect("a step"));
    begin.elapsed().as_secs_f64()
}

/// The same motion as one would write it down: one element after the other, forces added to nodes.
fn plain_seconds(mesh: &TetMesh, steps: usize) -> f64 {
    let material = SoftMaterial::default();
    let elements: Vec<Element> =
        mesh.tets.iter().map(|t| Element::new(t.map(|n| mesh.positions[n as usize]))).collect();
    let mut masses = vec![0.0; mesh.positions.len()];
    for (element, tet) in elements.iter().zip(&mesh.tets) {
        tet.iter().for_each(|&n| masses[n as usize] += 0.25 * material.density_kg_m3 * element.volume_m3);
    }
    let mut positions = mesh.positions.clone();
    let mut velocities: Vec<Vec3> = positions.iter().map(|p| (Vec3::Z * 5.0).cross(*p)).collect();
    let mut forces = vec![Vec3::ZERO; positions.len()];
    let step_s = 1e-5;
    let begin = Instant::now();
    for _ in 0..steps {
        forces.fill(Vec3::ZERO);
        for (element, tet) in elements.iter().zip(&mesh.tets) {
            let of = |all: &[Vec3]| tet.map(|n| all[n as usize]);
            for (force, n) in element.forces(&material, &of(&positions), &of(&velocities)).into_iter().zip(tet) {
                forces[*n as usize] += force;
            }
        }
        for n in 0..positions.len() {
            velocities[n] += (forces[n] / masses[n] + Vec3::Z * -9.81) * step_s;
            positions[n] += velocities[n] * step_s;
        }
    }
    std::hint::black_box(&positions);
    begin.elapsed().as_secs_f64()
}
