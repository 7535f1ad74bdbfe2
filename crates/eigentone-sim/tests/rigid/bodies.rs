use super::*;
use eigentone_core::TriMesh;
use eigentone_core::contact::Phase;
use eigentone_core::mesh::primitives;
use eigentone_sim::rigid::{Drive, Key, Mass, Part, RigidError};

/// `m = ρ V`, and the pose is the mesh's origin while the centre of mass is elsewhere.
#[test]
fn bodies_have_their_mass_and_its_centre() {
    let mut mesh = primitives::cuboid(Vec3::new(0.1, 0.1, 0.2), [2, 2, 4]);
    mesh.positions.iter_mut().for_each(|p| *p += Vec3::new(0.3, 0.0, 0.0));
    let part = Part {
        offset: Vec3::new(0.3, 0.0, 0.0),
        rotation: [0.0, 0.0, 0.0, 1.0],
        shape: Shape::Box { half: Vec3::new(0.05, 0.05, 0.1) },
    };
    let shapes = [Shape::Hull(&mesh), Shape::Decomposed(&mesh), Shape::Mesh(&mesh), Shape::Compound(vec![part])];
    for shape in shapes {
        let mut world = world();
        let position = Vec3::new(0.0, 0.0, 1.0);
        let spec = BodySpec { position, mass: Mass::Density(500.0), ..BodySpec::new(shape) };
        let body = world.add(&spec).unwrap();
        assert!((world.mass_kg(body).unwrap() - 1.0).abs() < 1e-4, "{:?}", world.mass_kg(body));
        let centre = world.centre_of_mass(body).unwrap();
        assert!(centre.distance(Vec3::new(0.3, 0.0, 1.0)) < 1e-4, "{centre}");
        assert_eq!(world.pose(body).unwrap().position, [0.0, 0.0, 1.0]);
    }
}

/// An impulse `J` at the end of a rod: `v = J / m` and `ω = J r / I`, with `I = m (L² + w²) / 12`.
#[test]
fn a_push_off_the_centre_spins_a_body() {
    let mesh = primitives::bar(0.4, 0.02, 0.02);
    for shape in [Shape::Box { half: Vec3::new(0.2, 0.01, 0.01) }, Shape::Hull(&mesh), Shape::Decomposed(&mesh)] {
        let mut world = World::new(WorldSettings { gravity: Vec3::ZERO, ..Default::default() }).unwrap();
        let body = world.add(&BodySpec { mass: Mass::Kg(0.2), ..BodySpec::new(shape) }).unwrap();
        world.push(body, Vec3::new(0.0, 0.01, 0.0), Vec3::new(0.2, 0.0, 0.0)).unwrap();
        let spin = 0.01 * 0.2 / (0.2 * (0.16 + 0.0004) / 12.0);
        assert!((world.velocity(body).unwrap().y / 0.05 - 1.0).abs() < 1e-3);
        assert!((world.spin(body).unwrap().z / spin - 1.0).abs() < 0.01, "{}", world.spin(body).unwrap());
        world.set_velocity(body, Vec3::X, Vec3::ZERO).unwrap();
        world.step();
        assert!(world.velocity(body).unwrap().distance(Vec3::X) < 1e-6);
    }
}

/// Cylinders stand along z and touch where the mesh of the same name does.
#[test]
fn shapes_coincide_with_the_meshes_of_the_same_name() {
    let mesh = primitives::cylinder(0.02, 0.1, 64, 4, true);
    for shape in [Shape::Cylinder { half_height: 0.05, radius: 0.02 }, Shape::Hull(&mesh)] {
        let mut world = world_with_floor(0.5, 0.0);
        let body = world.add(&BodySpec { position: Vec3::new(0.0, 0.0, 0.055), ..BodySpec::new(shape) }).unwrap();
        (0..240).for_each(|_| drop(world.step()));
        assert!((world.pose(body).unwrap().position[2] - 0.05).abs() < 5e-4, "{:?}", world.pose(body));
    }
}

/// Half the depth in each direction at most: two boxes that overlap by 2 cm are found, and part below 2 m/s.
#[test]
fn overlapping_boxes_part_gently() {
    let mut world = World::new(WorldSettings { gravity: Vec3::ZERO, ..Default::default() }).unwrap();
    let block = BodySpec::new(Shape::Box { half: Vec3::splat(0.03) });
    world.add(&block).unwrap();
    world.add(&BodySpec { position: Vec3::new(0.04, 0.001, 0.002), ..block.clone() }).unwrap();
    world.add(&BodySpec { position: Vec3::new(1.0, 0.0, 0.0), ..block }).unwrap();
    let overlaps = world.initial_overlaps();
    assert_eq!(overlaps.len(), 1);
    assert_eq!(overlaps[0].bodies, [0, 1]);
    assert!((overlaps[0].depth_m - 0.02).abs() < 1e-4, "{overlaps:?}");
    let mut fastest = 0.0_f64;
    for _ in 0..480 {
        world.step();
        fastest = fastest.max(world.velocity(0).unwrap().length()).max(world.velocity(1).unwrap().length());
    }
    println!("fastest {fastest:.3} m/s");
    assert!(fastest < 2.0, "{fastest}");
    assert!(world.initial_overlaps().is_empty(), "{:?}", world.initial_overlaps());
}

/// A ball that covers 60 mm per step stops at a sheet of 1 mm, and at `h / v` to 0.2 ms.
#[test]
fn fast_balls_do_not_pass_thin_sheets() {
    let sheet = primitives::plate(1.0, 1.0, 5, 5);
    for shape in [Shape::Box { half: Vec3::new(0.5, 0.5, 5e-4) }, Shape::Mesh(&sheet)] {
        let top = if let Shape::Box { half } = shape { half.z } else { 0.0 };
        let mut world = world();
        world.add(&BodySpec { kind: Kind::Fixed, ..BodySpec::new(shape) }).unwrap();
        let position = Vec3::new(0.1, 0.03, 0.505 + top);
        let velocity = Vec3::new(0.0, 0.0, -30.0);
        let ball = BodySpec { position, velocity, ..BodySpec::new(Shape::Sphere { radius: 0.005 }) };
        let body = world.add(&ball).unwrap();
        let frame = (0..48).map(|_| world.step()).find(|f| !f.contacts.is_empty()).expect("it was stopped");
        let touched = frame.time_s - frame.step_s + f64::from(points(&frame).next().unwrap().touch_s);
        assert!((touched - 0.5 / 30.0).abs() < 2e-4, "{touched}");
        assert!(world.velocity(body).unwrap().z > 8.0, "{}", world.velocity(body).unwrap());
    }
}

/// Energy only falls: a ball let go at the rim of a bowl of radius `R` stays within it, below `√(2 g R)`.
#[test]
fn a_ball_stays_in_a_bowl_of_triangles() {
    let bowl = primitives::bowl(0.15, 48, 16);
    let mut world = world();
    world.add(&BodySpec { kind: Kind::Fixed, ..BodySpec::new(Shape::Mesh(&bowl)) }).unwrap();
    let ball = BodySpec { position: Vec3::new(0.1, 0.0, 0.0), ..BodySpec::new(Shape::Sphere { radius: 0.015 }) };
    let body = world.add(&ball).unwrap();
    let mut fastest = 0.0_f64;
    for _ in 0..960 {
        world.step();
        fastest = fastest.max(world.velocity(body).unwrap().length());
        let place = vector(world.pose(body).unwrap().position);
        assert!(place.length() < 0.14 && place.z < 0.01, "{place}");
    }
    assert!(fastest > 0.5 && fastest < (2.0 * G * 0.15).sqrt(), "{fastest}");
}

#[test]
fn bad_specs_are_errors() {
    let ball = || BodySpec::new(Shape::Sphere { radius: 0.1 });
    let (flat, bowl) = (primitives::plate(0.1, 0.1, 3, 3), primitives::bowl(0.1, 16, 8));
    let bad_index = TriMesh { positions: vec![Vec3::ZERO; 3], triangles: vec![[0, 1, 7]] };
    let not_a_number = TriMesh { positions: vec![Vec3::NAN; 3], triangles: vec![[0, 1, 2]] };
    let (point, empty) = (TriMesh { positions: vec![Vec3::ONE; 3], triangles: vec![[0, 1, 2]] }, TriMesh::default());
    let turn = [0.0, 0.0, 0.0, 1.0];
    let part = |shape| Shape::Compound(vec![Part { offset: Vec3::ZERO, rotation: turn, shape }]);
    let key = |time_s| Key { time_s, position: Vec3::ZERO, rotation: turn };
    let drive = |max_force_n| Some(Drive { velocity: Vec3::X, max_force_n });
    let bad = [
        BodySpec { position: Vec3::NAN, ..ball() },
        BodySpec { velocity: Vec3::splat(1e9), ..ball() },
        BodySpec { spin: Vec3::splat(f64::INFINITY), ..ball() },
        BodySpec { rotation: [0.0; 4], ..ball() },
        BodySpec { mass: Mass::Kg(-1.0), ..ball() },
        BodySpec { mass: Mass::Kg(f64::NAN), ..ball() },
        BodySpec { mass: Mass::Density(0.0), ..ball() },
        BodySpec { friction: -0.1, ..ball() },
        BodySpec { restitution: 1.5, ..ball() },
        BodySpec { drive: drive(0.0), ..ball() },
        BodySpec { kind: Kind::Path(vec![]), ..ball() },
        BodySpec { kind: Kind::Path(vec![key(1.0), key(0.5)]), ..ball() },
        BodySpec::new(Shape::Sphere { radius: -0.1 }),
        BodySpec::new(Shape::Box { half: Vec3::new(0.1, 0.0, 0.1) }),
        BodySpec::new(Shape::Cylinder { half_height: f64::NAN, radius: 0.1 }),
        BodySpec::new(Shape::Ring { radius: 0.1, stock_radius: 0.0 }),
        BodySpec::new(Shape::Ring { radius: f64::INFINITY, stock_radius: 0.01 }),
        BodySpec::new(Shape::Hull(&empty)),
        BodySpec::new(Shape::Hull(&flat)),
        BodySpec::new(Shape::Hull(&point)),
        BodySpec::new(Shape::Hull(&not_a_number)),
        BodySpec::new(Shape::Decomposed(&flat)),
        BodySpec::new(Shape::Decomposed(&bad_index)),
        BodySpec::new(Shape::Mesh(&empty)),
        BodySpec::new(Shape::Mesh(&bad_index)),
        BodySpec::new(Shape::Mesh(&point)),
        BodySpec::new(Shape::Mesh(&bowl)),
        BodySpec::new(Shape::Compound(vec![])),
        BodySpec::new(part(Shape::Mesh(&bowl))),
        BodySpec::new(part(Shape::Decomposed(&bowl))),
    ];
    let mut world = world();
    for (i, spec) in bad.iter().enumerate() {
        let error = world.add(spec).expect_err(&format!("spec {i}"));
        println!("{i}: {error}");
    }
    assert!(world.is_empty());
    world.add(&BodySpec { mass: Mass::Kg(0.2), ..BodySpec::new(Shape::Mesh(&bowl)) }).unwrap();
    world.add(&BodySpec { mass: Mass::Kg(0.2), ..BodySpec::new(Shape::Decomposed(&bowl)) }).unwrap();
    assert_eq!(world.push(9, Vec3::X, Vec3::ZERO), Err(RigidError::NoBody { body: 9 }));
    let mut small = World::new(WorldSettings { max_bodies: 1, ..Default::default() }).unwrap();
    small.add(&ball()).unwrap();
    assert_eq!(small.add(&ball()), Err(RigidError::TooMany { most: 1 }));
    assert!(World::new(WorldSettings { step_s: 0.0, ..Default::default() }).is_err());
    assert!(World::new(WorldSettings { gravity: Vec3::NAN, ..Default::default() }).is_err());
}

/// A body out of the world stays where it is and touches nothing; back in it, it falls `½gt²` from there.
#[test]
fn a_body_can_leave_the_world_and_come_back() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let floor = Shape::Box { half: Vec3::new(1.0, 1.0, 0.1) };
    world.add(&BodySpec { kind: Kind::Fixed, position: Vec3::new(0.0, 0.0, -0.1), ..BodySpec::new(floor) }).unwrap();
    let ball = BodySpec { position: Vec3::new(0.0, 0.0, 0.52), ..BodySpec::new(Shape::Sphere { radius: 0.02 }) };
    let ball = world.add(&ball).unwrap();
    world.set_present(ball, false).unwrap();
    for _ in 0..240 {
        assert!(world.step().contacts.is_empty());
    }
    assert!((world.pose(ball).unwrap().position[2] - 0.52).abs() < 1e-6);
    world.set_present(ball, true).unwrap();
    let touched = (0..480).map(|_| world.step()).find(|f| !f.contacts.is_empty()).unwrap();
    let touch_s = touched.time_s - touched.step_s + f64::from(touched.contacts[0].points[0].touch_s);
    assert!((touch_s - 0.5 - (2.0 * 0.5f64 / 9.81).sqrt()).abs() < 2e-4, "{touch_s}");
    world.set_present(ball, false).unwrap();
    assert!(world.step().contacts.iter().all(|c| c.phase == Phase::End));
}

/// A ball that rolls without slipping is slowed by `c N r` on `(2/5 + 1) m r²`, which is `5/7 c g`; then it lies still.
#[test]
fn rolling_resistance_slows_a_ball_by_five_sevenths_of_its_share_of_gravity() {
    let (radius, speed, share) = (0.05, 0.4, 0.02);
    let mut world = world_with_floor(0.8, 0.0);
    let ball = BodySpec {
        position: Vec3::new(0.0, 0.0, radius),
        velocity: Vec3::new(speed, 0.0, 0.0),
        spin: Vec3::new(0.0, speed / radius, 0.0),
        friction: 0.8,
        restitution: 0.0,
        rolling_resistance: share,
        ..BodySpec::new(Shape::Sphere { radius })
    };
    let ball = world.add(&ball).unwrap();
    let slowing = 5.0 / 7.0 * share * G;
    let stops_s = speed / slowing;
    let run = |world: &mut eigentone_sim::rigid::World, seconds: f64| {
        for _ in 0..(seconds / DT) as usize {
            world.step();
        }
        world.velocity(ball).unwrap().length()
    };
    let halfway = run(&mut world, 0.5 * stops_s);
    assert!((halfway / (0.5 * speed) - 1.0).abs() < 0.03, "{halfway} m/s halfway");
    let after = run(&mut world, 0.7 * stops_s);
    assert!(after < 1e-4, "{after} m/s after it should have stopped");
}
