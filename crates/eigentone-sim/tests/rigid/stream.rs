use super::*;
use eigentone_core::contact::Phase;
use eigentone_core::{Noise, mesh::primitives};
use std::collections::BTreeMap;

/// Fifty assorted bodies fall onto the floor and each other.
fn messy(steps: usize) -> Vec<ContactFrame> {
    let ring = primitives::ring(0.03, 0.008, 16, 8);
    let mut noise = Noise::new(7);
    let mut world = world_with_floor(0.5, 0.4);
    for i in 0..50 {
        let mut random = |scale: f64| Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar()) * scale;
        let shape = match i % 5 {
            0 => Shape::Sphere { radius: 0.02 },
            1 => Shape::Box { half: Vec3::new(0.03, 0.02, 0.01) },
            2 => Shape::Cylinder { half_height: 0.03, radius: 0.012 },
            3 => Shape::Hull(&ring),
            _ => Shape::Decomposed(&ring),
        };
        let turn = random(1.0);
        let spec = BodySpec {
            position: random(0.15) + Vec3::new(0.0, 0.0, 0.15 + 0.05 * f64::from(i)),
            rotation: [turn.x, turn.y, turn.z, 1.0],
            velocity: random(1.0),
            spin: random(10.0),
            restitution: 0.4,
            ..BodySpec::new(shape)
        };
        world.add(&spec).unwrap();
    }
    (0..steps).map(|_| world.step()).collect()
}

/// A contact begins, stays, and ends, once each in this order, under one number that no other has meanwhile; a frame has no
/// pair twice; the same calls give the same frames.
#[test]
fn contacts_begin_stay_and_end() {
    let frames = messy(960);
    let mut live: BTreeMap<u64, [u32; 2]> = BTreeMap::new();
    let mut begun = 0;
    for frame in &frames {
        assert!(frame.is_sane(1000));
        let before = live.clone();
        for contact in &frame.contacts {
            assert!(contact.bodies[0] < contact.bodies[1]);
            match contact.phase {
                Phase::Begin => {
                    assert!(live.values().all(|b| *b != contact.bodies));
                    assert_eq!(live.insert(contact.id, contact.bodies), None);
                    begun += 1;
                }
                Phase::Stay => assert_eq!(before.get(&contact.id), Some(&contact.bodies)),
                Phase::End => assert_eq!(live.remove(&contact.id), Some(contact.bodies)),
            }
            assert_eq!(contact.points.is_empty(), contact.phase == Phase::End);
            assert!(contact.points.len() <= 8);
        }
        assert!(before.keys().all(|id| frame.contacts.iter().any(|c| c.id == *id)), "a contact was left out");
    }
    println!("{begun} contacts begun, {} last", live.len());
    assert!(begun > 300 && live.len() > 30);
    assert_eq!(frames, messy(960));
}

/// `n` spheres far apart cost `O(n)`: a step of 10,000 of them takes less than 40 times one of 1,000 (caches have
/// their share).
#[test]
fn ten_thousand_bodies_take_no_quadratic_time() {
    let time = |count: u32| {
        let mut world = world_with_floor(0.5, 0.0);
        for i in 1..count {
            let position = Vec3::new(f64::from(i % 100) - 50.0, f64::from(i / 100) - 50.0, 0.0) * 0.03 + Vec3::Z * 0.01;
            let shape = Shape::Sphere { radius: 0.01 };
            world.add(&BodySpec { position, restitution: 0.0, ..BodySpec::new(shape) }).unwrap();
        }
        (0..4).for_each(|_| drop(world.step()));
        let timed = |_| {
            let start = std::time::Instant::now();
            assert_eq!(world.step().contacts.len(), count as usize - 1);
            start.elapsed().as_secs_f64()
        };
        (0..8).map(timed).fold(f64::INFINITY, f64::min)
    };
    let (few, many) = (time(1_000), time(10_000));
    println!("{:.2} ms and {:.2} ms per step", 1e3 * few, 1e3 * many);
    assert!(many < 40.0 * few, "{few} {many}");
}
