use super::*;
use eigentone_core::contact::Phase;
use eigentone_sim::rigid::rapier::glamx::Quat;
use eigentone_sim::rigid::rapier::math::Pose;
use eigentone_sim::rigid::rapier::prelude::{
    CoefficientCombineRule, ColliderBuilder, PhysicsWorld, RigidBodyBuilder, Vector,
};
use eigentone_sim::rigid::{ContactReader, Mass, ReaderSettings, recommended_parameters};

/// The same scene in a rapier world of the program's own: a floor, and one body above it.
fn foreign(body: RigidBodyBuilder, collider: ColliderBuilder, friction: f32) -> PhysicsWorld {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters = recommended_parameters(1.0 / 480.0, 4);
    let floor = ColliderBuilder::cuboid(2.0, 2.0, 0.1).friction(friction).restitution(0.6).user_data(0);
    world.insert(RigidBodyBuilder::fixed().translation(Vector::new(0.0, 0.0, -0.1)), floor);
    let collider =
        collider.friction(friction).restitution(0.6).restitution_combine_rule(CoefficientCombineRule::Min).user_data(1);
    world.insert(body.can_sleep(false).soft_ccd_prediction(0.5), collider);
    world
}

fn read(world: &mut PhysicsWorld, steps: usize) -> Vec<ContactFrame> {
    let mut reader = ContactReader::new(ReaderSettings::default());
    reader.remember(&world.bodies);
    (0..steps)
        .map(|_| {
            world.step();
            reader.read(world)
        })
        .collect()
}

/// Blows: when, how fast, and how much momentum in the whole of the contact.
fn blows(frames: &[ContactFrame]) -> Vec<(f64, f64, f64)> {
    let mut blows: Vec<(f64, f64, f64)> = Vec::new();
    for frame in frames {
        for contact in &frame.contacts {
            let impulse: f64 = contact.points.iter().map(|p| f64::from(p.normal_impulse_ns)).sum();
            match contact.phase {
                Phase::Begin => {
                    let first = contact.points.iter().max_by(|a, b| a.approach_m_s.total_cmp(&b.approach_m_s)).unwrap();
                    let time = frame.time_s - frame.step_s + f64::from(first.touch_s);
                    blows.push((time, f64::from(first.approach_m_s), impulse));
                }
                Phase::Stay => blows.last_mut().unwrap().2 += impulse,
                Phase::End => {}
            }
        }
    }
    blows
}

/// A dropped ball: each of its first bounces comes at the same time (a fraction of a step), as fast, and with the same momentum as in our world, within 2 %.
/// Ours starts half a substep of gravity behind to meet the parabola, which is what is left between the two.
#[test]
fn a_foreign_drop_is_read_like_ours() {
    let body = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 0.52));
    let mut world = foreign(body, ColliderBuilder::ball(0.02).mass(0.1), 0.5);
    let theirs = blows(&read(&mut world, 720));
    let mut ours = world_with_floor(0.5, 0.6);
    let spec = BodySpec {
        mass: Mass::Kg(0.1),
        position: Vec3::new(0.0, 0.0, 0.52),
        restitution: 0.6,
        ..BodySpec::new(Shape::Sphere { radius: 0.02 })
    };
    ours.add(&spec).unwrap();
    let ours: Vec<_> = (0..720).map(|_| ours.step()).collect();
    let ours = blows(&ours);
    for (a, b) in theirs.iter().zip(&ours).take(4) {
        println!("theirs {a:?} ours {b:?}");
        assert!((a.0 - b.0).abs() < 0.02 * b.0, "{a:?} {b:?}");
        assert!((a.1 / b.1 - 1.0).abs() < 0.02 && (a.2 / b.2 - 1.0).abs() < 0.02, "{a:?} {b:?}");
    }
    assert!(ours.len() > 3 && theirs.len() > 3);
    let speed = (2.0 * G * 0.5).sqrt();
    assert!((theirs[0].1 / speed - 1.0).abs() < 0.02 && (theirs[0].2 / (1.6 * 0.1 * speed) - 1.0).abs() < 0.03);
}

/// A block that slides: `J_n = m g dt`, `J_t = μ m g dt` against the motion (up to 14 % less: our hook is not there), and the slip is its speed.
#[test]
fn a_foreign_block_slides() {
    let body = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 0.02)).linvel(Vector::new(2.0, 0.0, 0.0));
    let collider = ColliderBuilder::cuboid(0.05, 0.05, 0.02).mass(0.5);
    let mut world = foreign(body, collider, 0.3);
    let frames = read(&mut world, 150);
    for (step, frame) in frames.iter().enumerate().skip(40) {
        let given = given_in(frame, 1) / (0.5 * G * DT);
        assert!((given.z - 1.0).abs() < 0.1, "{step}: {given}");
        assert!(given.x < -0.3 * 0.8 && given.x > -0.3 * 1.05, "{step}: {given}");
        let speed = 2.0 - 0.27 * G * frame.time_s;
        for p in points(frame) {
            assert!((f64::from(-p.slip_m_s[0]) / speed - 1.0).abs() < 0.1, "{:?} {speed}", p.slip_m_s);
        }
    }
    assert_eq!(frames[0].poses.len(), 2, "both are told at first");
    assert!(frames[50].poses.iter().all(|p| p.body == 1), "then only what moves");
}

/// A cylinder of rapier's (along y) that rolls along x travels with its speed over both surfaces.
#[test]
fn a_foreign_cylinder_travels_as_it_rolls() {
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::new(-0.5, 0.0, 0.03))
        .linvel(Vector::new(0.9, 0.0, 0.0))
        .angvel(Vector::new(0.0, 30.0, 0.0));
    let mut world = foreign(body, ColliderBuilder::cylinder(0.05, 0.03).mass(0.2), 0.6);
    let frames = read(&mut world, 240);
    let mut seen = 0;
    for frame in &frames[30..] {
        let speed = f64::from(frame.poses.iter().find(|p| p.body == 1).unwrap().velocity[0]);
        for p in points(frame) {
            let travel = p.travel_m_s.expect("a round body on a flat one");
            assert!(travel.iter().all(|t| (f64::from(*t) / speed - 1.0).abs() < 0.05), "{travel:?} {speed}");
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
}

/// Two balls of one body are one contact with the floor; a collider without a body and one that nobody knows; numbers from a closure.
#[test]
fn colliders_belong_to_whom_the_program_says() {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, 0.0, -9.81);
    world.integration_parameters = recommended_parameters(1.0 / 480.0, 4);
    let turned = Quat::from_rotation_x(0.0);
    let floor = ColliderBuilder::cuboid(2.0, 2.0, 0.1)
        .position(Pose::from_parts(Vector::new(0.0, 0.0, -0.1), turned))
        .user_data(u128::from(u32::MAX) + 7);
    world.insert_collider(floor, None);
    let body = world.insert_body(RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 0.02)));
    for x in [-0.03, 0.03] {
        let ball = ColliderBuilder::ball(0.02).mass(0.1).translation(Vector::new(x, 0.0, 0.0)).user_data(5);
        world.insert_collider(ball, Some(body));
    }
    let mut reader = ContactReader::new(ReaderSettings {
        body_of: Some(Box::new(|_, collider| Some(if collider.user_data > 1000 { 9 } else { 40 }))),
        ..Default::default()
    });
    let mut deaf = ContactReader::new(ReaderSettings::default());
    let mut last = ContactFrame::default();
    for _ in 0..240 {
        world.step();
        last = reader.read(&world);
        assert!(deaf.read(&world).contacts.is_empty(), "nobody has such a number");
    }
    assert_eq!(last.contacts.len(), 1);
    assert_eq!((last.contacts[0].bodies, last.contacts[0].points.len()), ([9, 40], 2));
    let normal: f64 = points(&last).map(|p| f64::from(p.normal_impulse_ns)).sum();
    assert!((normal / (0.2 * G * DT) - 1.0).abs() < 0.02, "{normal}");
}
