use super::*;
use eigentone_sim::rigid::Mass;

/// No faster than the settings say, however it came to be, and counted.
#[test]
fn speeds_are_held_and_counted() {
    let settings = WorldSettings { gravity: Vec3::ZERO, max_speed_m_s: 100.0, ..Default::default() };
    for kind in [Kind::Dynamic, Kind::Kinematic] {
        let mut world = World::new(settings).unwrap();
        let spec =
            BodySpec { kind: kind.clone(), mass: Mass::Kg(0.1), ..BodySpec::new(Shape::Sphere { radius: 0.02 }) };
        let body = world.add(&spec).unwrap();
        world.set_velocity(body, Vec3::new(99.0, 0.0, 0.0), Vec3::ZERO).unwrap();
        world.step();
        assert_eq!(world.clipped(), 0);
        world.set_velocity(body, Vec3::new(0.0, 3e5, 4e5), Vec3::ZERO).unwrap();
        let before = vector(world.pose(body).unwrap().position);
        (0..10).for_each(|_| drop(world.step()));
        let went = vector(world.pose(body).unwrap().position) - before;
        assert!((went.length() / (100.0 * 10.0 * DT) - 1.0).abs() < 1e-3, "{kind:?}: {went}");
        assert!(went.normalize().distance(Vec3::new(0.0, 0.6, 0.8)) < 1e-3);
        assert_eq!(world.clipped(), 10, "{kind:?}");
    }
}

/// Beyond 100 km a body rests, is reported, and comes back if it is put somewhere.
#[test]
fn what_leaves_is_frozen() {
    let mut world = world_with_floor(0.5, 0.0);
    let position = Vec3::new(99_999.0, 0.0, 1.0);
    let lost = BodySpec { position, velocity: 300.0 * Vec3::X, ..BodySpec::new(Shape::Sphere { radius: 0.02 }) };
    let lost = world.add(&lost).unwrap();
    for _ in 0..48 {
        assert!(world.step().is_sane(10));
    }
    assert_eq!(world.frozen().collect::<Vec<_>>(), [lost]);
    let rests = world.pose(lost);
    world.step();
    assert_eq!(world.pose(lost), rests);
    assert_eq!(world.velocity(lost), Some(Vec3::ZERO));
    world.set_pose(lost, Vec3::new(0.0, 0.0, 0.5), [0.0, 0.0, 0.0, 1.0]).unwrap();
    assert_eq!(world.frozen().count(), 0);
    let frames: Vec<_> = (0..240).map(|_| world.step()).collect();
    assert!(frames.iter().any(|f| !f.contacts.is_empty()), "it falls on the floor again");
}

/// The strongest pushes that are allowed on the lightest bodies: infinite and worse within the engine, never in a frame.
#[test]
fn no_push_makes_a_frame_insane() {
    let mut world = world_with_floor(0.5, 0.5);
    let tiny = BodySpec { mass: Mass::Kg(1e-12), ..BodySpec::new(Shape::Box { half: Vec3::splat(1e-3) }) };
    let heap: Vec<u32> = (0..4)
        .map(|i| {
            world.add(&BodySpec { position: Vec3::new(0.0, 0.0, 1e-3 + 2e-3 * f64::from(i)), ..tiny.clone() }).unwrap()
        })
        .collect();
    (0..24).for_each(|_| drop(world.step()));
    for step in 0..48u32 {
        let body = heap[step as usize % heap.len()];
        world.push(body, Vec3::splat(1e6), Vec3::new(1e6, -1e6, f64::from(step))).unwrap();
        let frame = world.step();
        assert!(frame.is_sane(100), "{frame:?}");
        for body in &heap {
            assert!(world.velocity(*body).unwrap().is_finite() && world.spin(*body).unwrap().is_finite());
        }
    }
    println!("{} clipped, {} frozen", world.clipped(), world.frozen().count());
    assert!(world.clipped() > 0 || world.frozen().count() > 0);
}
