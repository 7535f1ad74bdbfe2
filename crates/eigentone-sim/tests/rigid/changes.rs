use super::*;
use eigentone_core::contact::Phase;
use eigentone_core::mesh::primitives;
use eigentone_sim::rigid::{Drive, Key, Mass, RigidError};

const TURN: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

fn ball(height: f64) -> BodySpec<'static> {
    BodySpec { position: Vec3::new(0.0, 0.0, height), ..BodySpec::new(Shape::Sphere { radius: 0.02 }) }
}

/// A 0.5 kg block that lies on the floor.
fn block() -> BodySpec<'static> {
    let half = Vec3::new(0.05, 0.04, 0.02);
    BodySpec { mass: Mass::Kg(0.5), position: Vec3::new(0.0, 0.0, 0.02), ..BodySpec::new(Shape::Box { half }) }
}

fn run(world: &mut World, steps: usize) -> Vec<ContactFrame> {
    (0..steps).map(|_| world.step()).collect()
}

fn height(world: &World, body: u32) -> f64 {
    f64::from(world.pose(body).unwrap().position[2])
}

/// Numbers may be anywhere below the limit; one that is taken, too large or free is an error; `add` goes on after the largest.
#[test]
fn bodies_have_the_numbers_they_are_given() {
    let mut world = world_with_floor(0.5, 0.0);
    world.insert(700, &block()).unwrap();
    assert_eq!(world.insert(700, &block()), Err(RigidError::Taken { body: 700 }));
    assert_eq!(world.insert(10_000, &block()), Err(RigidError::TooMany { most: 10_000 }));
    assert_eq!(world.remove(3), Err(RigidError::NoBody { body: 3 }));
    assert_eq!(world.add(&ball(1.0)), Ok(701));
    assert!(world.contains(700) && world.contains(701) && !world.contains(3) && world.len() == 3);
    let frames = run(&mut world, 240);
    assert_eq!(frames[0].poses.iter().map(|p| p.body).collect::<Vec<_>>(), [0, 700, 701]);
    assert!(frames.last().unwrap().contacts.iter().any(|c| c.bodies == [0, 700]));
    world.remove(701).unwrap();
    assert_eq!(world.add(&ball(1.0)), Ok(701));
    assert!(World::new(WorldSettings { max_bodies: usize::MAX, ..Default::default() }).is_err());
}

/// What lay there is gone: its contact ends in the next frame, once; who gets its number begins one of its own, has its own mass, and
/// falls `½ g t²` like anybody.
#[test]
fn a_number_can_be_used_again() {
    let mut world = world_with_floor(0.5, 0.0);
    let drive = Some(Drive { velocity: Vec3::X, max_force_n: 5.0 });
    world.insert(4, &BodySpec { drive, ..block() }).unwrap();
    let before = run(&mut world, 120).pop().unwrap();
    let old = before.contacts[0].id;
    world.remove(4).unwrap();
    world.insert(4, &BodySpec { mass: Mass::Kg(0.2), ..block() }).unwrap();
    let frame = world.step();
    let told: Vec<_> = frame.contacts.iter().map(|c| (c.bodies, c.phase, c.id == old)).collect();
    assert_eq!(told, [([0, 4], Phase::End, true), ([0, 4], Phase::Begin, false)]);
    assert!((world.mass_kg(4).unwrap() - 0.2).abs() < 1e-6);
    let later = run(&mut world, 120);
    assert!(later.iter().all(|f| f.contacts.len() == 1 && f.contacts[0].phase == Phase::Stay));
    assert!(world.velocity(4).unwrap().length() < 1e-3, "the old body's drive does not pull");
    world.remove(4).unwrap();
    assert_eq!(world.step().contacts[0].phase, Phase::End);
    assert!(world.step().contacts.is_empty());
    world.insert(4, &ball(1.0)).unwrap();
    run(&mut world, 96);
    assert!((height(&world, 4) - (1.0 - 0.5 * G * 0.04)).abs() < 1e-4, "{}", height(&world, 4));
}

/// From where it is put, a body falls as from anywhere: `½ g t²`, with the velocity it had.
#[test]
fn a_body_can_be_put_elsewhere() {
    let mut world = world_with_floor(0.5, 0.0);
    let body = world.add(&BodySpec { velocity: Vec3::X, ..ball(1.0) }).unwrap();
    run(&mut world, 48);
    let speed = world.velocity(body).unwrap();
    world.set_pose(body, Vec3::new(0.0, 0.0, 1.5), [0.0, 0.0, 1.0, 0.0]).unwrap();
    assert_eq!(world.velocity(body), Some(speed));
    run(&mut world, 48);
    let expected = 1.5 + speed.z * 0.1 - 0.5 * G * 0.01;
    assert!((height(&world, body) - expected).abs() < 1e-4, "{} {expected}", height(&world, body));
    assert!((f64::from(world.pose(body).unwrap().position[0]) - 0.1).abs() < 1e-4);
    assert!(world.set_pose(body, Vec3::NAN, TURN).is_err() && world.set_pose(body, Vec3::ZERO, [0.0; 4]).is_err());
}

/// `m g dt` on the floor follows the mass, and a push off the centre spins by `J r / I` with the inertia of the new one.
#[test]
fn weight_and_inertia_follow_the_mass() {
    let mut world = world_with_floor(0.5, 0.0);
    let body = world.add(&block()).unwrap();
    run(&mut world, 120);
    world.set_mass(body, 2.0).unwrap();
    let frame = run(&mut world, 120).pop().unwrap();
    let given = given_in(&frame, body).z;
    assert!((given / (2.0 * G * DT) - 1.0).abs() < 0.02, "{given}");
    world.set_gravity(Vec3::ZERO).unwrap();
    world.set_pose(body, Vec3::Z, TURN).unwrap();
    world.set_velocity(body, Vec3::ZERO, Vec3::ZERO).unwrap();
    world.push(body, Vec3::new(0.0, 0.0, 0.1), Vec3::new(0.05, 0.0, 1.0)).unwrap();
    let inertia = 2.0 * (0.1f64.powi(2) + 0.04f64.powi(2)) / 12.0;
    let spin = world.spin(body).unwrap().y;
    assert!((spin / (-0.1 * 0.05 / inertia) - 1.0).abs() < 1e-3, "{spin}");
    assert!(world.set_mass(body, 0.0).is_err() && world.set_mass(body, f64::NAN).is_err());
}

/// `v(t) = v₀ − μ g t` with the coefficient of now, and a bounce keeps the share of now.
#[test]
fn friction_and_restitution_follow() {
    let mut world = world_with_floor(0.3, 1.0);
    let spec = BodySpec { friction: 0.3, restitution: 0.0, velocity: 2.0 * Vec3::X, ..block() };
    let body = world.add(&spec).unwrap();
    run(&mut world, 48);
    let before = world.velocity(body).unwrap().x;
    world.set_friction(body, 0.1).unwrap();
    run(&mut world, 48);
    let lost = before - world.velocity(body).unwrap().x;
    assert!((lost / (0.2 * G * 0.1) - 1.0).abs() < 0.1, "{lost}: the pair has the mean of 0.3 and 0.1");
    world.remove(body).unwrap();
    let body = world.add(&BodySpec { restitution: 0.0, ..ball(0.52) }).unwrap();
    world.set_restitution(body, 0.8).unwrap();
    let (mut highest, mut struck) = (0.0_f64, false);
    for _ in 0..300 {
        struck |= world.step().contacts.iter().any(|c| c.phase == Phase::Begin);
        if struck {
            highest = highest.max(height(&world, body) - 0.02);
        }
    }
    assert!((highest / (0.64 * 0.5) - 1.0).abs() < 0.03, "{highest}");
    assert!(world.set_friction(body, -1.0).is_err() && world.set_restitution(body, 1.1).is_err());
}

/// `ω(t) = ω₀ e^{−kt}` with the damping of now.
#[test]
fn spin_dies_away_at_the_rate_of_now() {
    let mut world = World::new(WorldSettings { gravity: Vec3::ZERO, ..Default::default() }).unwrap();
    let body = world.add(&BodySpec { spin: 10.0 * Vec3::Z, ..ball(0.0) }).unwrap();
    run(&mut world, 480);
    assert!((world.spin(body).unwrap().z - 10.0).abs() < 0.02, "{}", world.spin(body).unwrap());
    world.set_spin_damping(body, 2.0).unwrap();
    run(&mut world, 480);
    let expected = 10.0 * (-2.0f64).exp();
    assert!((world.spin(body).unwrap().z / expected - 1.0).abs() < 0.01, "{}", world.spin(body).unwrap());
}

/// Held, a body stays; let go, it falls `½ g t²`; led and let go, it flies on as it was led; taken over by a path it is on the path.
#[test]
fn bodies_are_held_and_let_go() {
    let mut world = world_with_floor(0.5, 0.0);
    let body = world.add(&BodySpec { mass: Mass::Kg(0.3), ..ball(1.0) }).unwrap();
    run(&mut world, 48);
    let held = height(&world, body);
    world.set_kind(body, Kind::Fixed).unwrap();
    run(&mut world, 48);
    assert_eq!(height(&world, body), held);
    assert_eq!((world.mass_kg(body), world.velocity(body)), (Some(0.0), Some(Vec3::ZERO)));
    world.set_kind(body, Kind::Dynamic).unwrap();
    assert!((world.mass_kg(body).unwrap() - 0.3).abs() < 1e-6);
    run(&mut world, 96);
    assert!((held - height(&world, body) - 0.5 * G * 0.04).abs() < 1e-4);

    world.set_kind(body, Kind::Kinematic).unwrap();
    world.set_pose(body, Vec3::new(0.0, 0.0, 1.0), TURN).unwrap();
    world.set_velocity(body, Vec3::new(0.5, 0.0, 0.0), Vec3::ZERO).unwrap();
    run(&mut world, 48);
    assert!((f64::from(world.pose(body).unwrap().position[0]) - 0.05).abs() < 1e-5);
    world.set_kind(body, Kind::Dynamic).unwrap();
    run(&mut world, 96);
    let place = vector(world.pose(body).unwrap().position);
    let expected = Vec3::new(0.15, 0.0, 1.0 - 0.5 * G * 0.04);
    assert!(place.distance(expected) < 2e-4, "{place} {expected}");

    let key = |time_s, x| Key { time_s, position: Vec3::new(x, 0.0, 1.0), rotation: TURN };
    world.set_kind(body, Kind::Path(vec![key(0.0, 0.0), key(10.0, 10.0)])).unwrap();
    run(&mut world, 48);
    assert!((f64::from(world.pose(body).unwrap().position[0]) - world.time_s()).abs() < 1e-4);
    assert_eq!(world.set_pose(body, Vec3::ZERO, TURN), Err(RigidError::OnPath { body }));
    world.set_kind(body, Kind::Dynamic).unwrap();
    let speed = world.velocity(body).unwrap();
    assert!(speed.distance(Vec3::X) < 1e-3, "it leaves the path as fast as the path went: {speed}");
    assert_eq!(world.set_kind(body, Kind::Path(vec![])), Err(RigidError::Empty { what: "the path" }));
}

/// What was fixed has mass and inertia once it is let go; an open mesh without a mass in kg cannot be.
#[test]
fn what_was_fixed_can_fall() {
    let bowl = primitives::bowl(0.1, 16, 8);
    let mut world = world();
    let spec = BodySpec { kind: Kind::Fixed, mass: Mass::Kg(0.2), ..BodySpec::new(Shape::Mesh(&bowl)) };
    let body = world.add(&spec).unwrap();
    world.set_kind(body, Kind::Dynamic).unwrap();
    assert!((world.mass_kg(body).unwrap() - 0.2).abs() < 1e-6);
    let centre = world.centre_of_mass(body).unwrap();
    assert!((centre.z + 0.05).abs() < 2e-3, "{centre}");
    let weightless = BodySpec { mass: Mass::Density(1000.0), ..spec };
    let other = world.add(&weightless).unwrap();
    assert_eq!(world.set_kind(other, Kind::Dynamic), Err(RigidError::Open));
    world.set_mass(other, 0.1).unwrap();
    world.set_kind(other, Kind::Dynamic).unwrap();
}

/// A ball that grows to twice its radius lies at twice the height and has eight times the mass, by its density.
#[test]
fn a_body_can_grow() {
    let mut world = world_with_floor(0.5, 0.0);
    let body = world.add(&ball(0.02)).unwrap();
    run(&mut world, 48);
    let mass = world.mass_kg(body).unwrap();
    world.set_shape(body, &Shape::Sphere { radius: 0.04 }).unwrap();
    assert!((world.mass_kg(body).unwrap() / mass - 8.0).abs() < 1e-4);
    let frame = run(&mut world, 240).pop().unwrap();
    assert!((height(&world, body) - 0.04).abs() < 2e-4, "{}", height(&world, body));
    assert!((given_in(&frame, body).z / (8.0 * mass * G * DT) - 1.0).abs() < 0.02);
    assert!(world.set_shape(body, &Shape::Sphere { radius: -1.0 }).is_err());
    assert!((world.mass_kg(body).unwrap() / mass - 8.0).abs() < 1e-4, "a refused shape changes nothing");
}

/// Bodies in flight keep their velocity when gravity turns, and fall with the new one.
#[test]
fn gravity_can_turn() {
    let mut world = world();
    let body = world.add(&ball(0.0)).unwrap();
    run(&mut world, 240);
    let speed = world.velocity(body).unwrap();
    assert!((speed.z + 0.5 * G).abs() < 1e-3, "{speed}");
    world.set_gravity(Vec3::new(5.0, 0.0, 0.0)).unwrap();
    assert!(world.velocity(body).unwrap().distance(speed) < 1e-6);
    run(&mut world, 240);
    let place = vector(world.pose(body).unwrap().position);
    let expected = Vec3::new(0.5 * 5.0 * 0.25, 0.0, -0.5 * G * 0.25 + speed.z * 0.5);
    assert!(place.distance(expected) < 1e-3, "{place} {expected}");
    assert!(world.set_gravity(Vec3::NAN).is_err());
}

/// Bodies may be fixed, let go and moved before anything has moved, and whenever it has; the others fall as before.
#[test]
fn bodies_are_fixed_before_the_first_step_and_later() {
    for before in [0, 1, 2, 30, 300] {
        for fixed in 1..4 {
            let mut world = world_with_floor(0.5, 0.0);
            for number in 1..4 {
                let position = Vec3::new(0.1 * f64::from(number), 0.0, 0.02);
                world.insert(number, &BodySpec { position, ..ball(0.02) }).unwrap();
            }
            world.initial_overlaps();
            run(&mut world, before);
            world.set_kind(fixed, Kind::Fixed).unwrap();
            world.set_pose(fixed, Vec3::new(0.1, 0.3, 0.02), TURN).unwrap();
            run(&mut world, 400);
            assert!((height(&world, fixed) - 0.02).abs() < 1e-6);
            world.set_kind(fixed, Kind::Dynamic).unwrap();
            run(&mut world, 400);
            assert!((1..4).all(|number| (height(&world, number) - 0.02).abs() < 1e-3));
        }
    }
}
