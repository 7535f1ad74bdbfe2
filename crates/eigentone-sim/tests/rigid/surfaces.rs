use super::*;
use eigentone_core::mesh::primitives;
use eigentone_sim::rigid::{Drive, Key, Mass};

/// A 0.5 kg block that lies on the floor.
fn block() -> BodySpec<'static> {
    let half = Vec3::new(0.05, 0.04, 0.02);
    BodySpec { mass: Mass::Kg(0.5), position: Vec3::new(0.0, 0.0, 0.02), ..BodySpec::new(Shape::Box { half }) }
}

/// At rest `Σ J_n = m g dt` in every step, and nothing slips or approaches.
#[test]
fn a_resting_block_passes_its_weight_to_the_floor() {
    let mesh = primitives::cuboid(Vec3::new(0.1, 0.08, 0.04), [4, 4, 2]);
    let half = Vec3::new(0.05, 0.04, 0.02);
    for shape in [Shape::Box { half }, Shape::Hull(&mesh), Shape::Mesh(&mesh)] {
        let mut world = world_with_floor(0.5, 0.3);
        world.add(&BodySpec { shape, ..block() }).unwrap();
        let frames: Vec<_> = (0..960).map(|_| world.step()).collect();
        assert_eq!(frames[0].poses.len(), 2);
        for frame in &frames[240..] {
            let normal: f64 = points(frame).map(|p| f64::from(p.normal_impulse_ns)).sum();
            assert!((normal / (0.5 * G * DT) - 1.0).abs() < 0.02, "{normal}");
            assert!(points(frame).all(|p| vector(p.slip_m_s).length() < 1e-3 && p.approach_m_s.abs() < 1e-3));
            assert!(frame.poses.is_empty() && frame.contacts.len() == 1);
        }
    }
}

/// `J_t = μ m g dt` against the motion, and `v(t) = v₀ − μ g t`, for flat and tall, long and square blocks in any direction.
#[test]
fn a_sliding_block_feels_coulomb_friction() {
    for (half, angle) in [([0.05, 0.04, 0.02], 0.0), ([0.05, 0.05, 0.005], 0.5), ([0.1, 0.02, 0.02], 1.57)] {
        let mut world = world_with_floor(0.3, 0.0);
        let (sin, cos) = f64::sin_cos(angle);
        let ahead = Vec3::new(cos, sin, 0.0);
        let half = Vec3::from_array(half);
        let spec = BodySpec { shape: Shape::Box { half }, friction: 0.3, restitution: 0.0, ..block() };
        let position = Vec3::new(0.0, 0.0, half.z);
        let body = world.add(&BodySpec { position, velocity: 2.0 * ahead, ..spec }).unwrap();
        let mut worst = 0.0_f64;
        for step in 1..=200 {
            let frame = world.step();
            let given = given_in(&frame, body) / (0.5 * G * DT);
            if step > 10 {
                worst = worst.max((given.dot(ahead) / -0.3 - 1.0).abs());
                assert!((given.z - 1.0).abs() < 0.1, "{half} {step}: {given}");
            }
            let speed = 2.0 - 0.3 * G * DT * f64::from(step);
            assert!((world.velocity(body).unwrap().dot(ahead) - speed).abs() < 0.03, "{half} {step}");
        }
        println!("{half} at {angle}: friction off by at most {:.1} %", 100.0 * worst);
        assert!(worst < 0.1, "{half} {worst}");
    }
}

/// `|slip| = ω r` at each point of a block that spins flat on a face.
#[test]
fn a_spinning_block_slips_faster_at_its_corners() {
    let mut world = world_with_floor(0.1, 0.0);
    let half = Vec3::new(0.06, 0.02, 0.02);
    let spec = BodySpec { shape: Shape::Box { half }, friction: 0.1, restitution: 0.0, ..block() };
    let body = world.add(&BodySpec { spin: Vec3::new(0.0, 0.0, 20.0), ..spec }).unwrap();
    let mut seen = 0;
    for _ in 0..120 {
        let before = world.spin(body).unwrap().z;
        let frame = world.step();
        let spin = 0.5 * (before + world.spin(body).unwrap().z);
        let centre = world.centre_of_mass(body).unwrap();
        for p in points(&frame) {
            let arm = (vector(p.position) - centre).reject_from_normalized(Vec3::Z).length();
            let slip = vector(p.slip_m_s).length();
            assert!((slip / (spin * arm) - 1.0).abs() < 0.05, "{slip} {}", spin * arm);
            seen += 1;
        }
    }
    assert!(seen > 400, "{seen}");
}

/// Rolling without slipping, the contact travels at `|v|` over both surfaces; two spheres follow
/// `v_C = (R₂ v₁ + R₁ v₂) / (R₁ + R₂)`.
#[test]
fn a_rolling_contact_travels_with_the_body() {
    let lying = [std::f64::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f64::consts::FRAC_1_SQRT_2];
    let sphere = Shape::Sphere { radius: 0.03 };
    let cylinder = Shape::Cylinder { half_height: 0.05, radius: 0.03 };
    for (shape, rotation) in [(sphere, [0.0, 0.0, 0.0, 1.0]), (cylinder, lying)] {
        let mut world = world_with_floor(0.6, 0.0);
        let spec = BodySpec {
            position: Vec3::new(-0.5, 0.0, 0.03),
            rotation,
            velocity: Vec3::new(0.9, 0.0, 0.0),
            spin: Vec3::new(0.0, 30.0, 0.0),
            restitution: 0.0,
            ..BodySpec::new(shape)
        };
        let body = world.add(&spec).unwrap();
        let mut seen = 0;
        for step in 0..480 {
            let frame = world.step();
            let speed = world.velocity(body).unwrap().length();
            assert!(speed > 0.85, "{speed}");
            for p in points(&frame).filter(|_| step > 20) {
                let travel = p.travel_m_s.expect("a round body on a flat one");
                assert!(travel.iter().all(|t| (f64::from(*t) / speed - 1.0).abs() < 0.05), "{travel:?} {speed}");
                assert!(vector(p.slip_m_s).length() < 0.02, "{:?}", p.slip_m_s);
                seen += 1;
            }
        }
        assert!(seen > 400, "{seen}");
    }
}

/// Dragged at constant speed: `v` is held within 1 %, the pull balances friction and `Σ J_n` stays `m g dt`.
#[test]
fn a_drive_holds_its_speed_and_leaves_the_load() {
    let mut world = world_with_floor(0.4, 0.0);
    let drive = Some(Drive { velocity: Vec3::new(0.0, 0.25, 0.0), max_force_n: 20.0 });
    let body = world.add(&BodySpec { friction: 0.4, restitution: 0.0, drive, ..block() }).unwrap();
    for step in 0..480 {
        let frame = world.step();
        if step > 60 {
            assert!((world.velocity(body).unwrap() - Vec3::new(0.0, 0.25, 0.0)).length() < 2.5e-3);
            let given = given_in(&frame, body) / (0.5 * G * DT);
            assert!((given.z - 1.0).abs() < 0.02 && (given.y + 0.4).abs() < 0.02, "{given}");
        }
    }
    world.set_drive(body, None).unwrap();
    (0..240).for_each(|_| drop(world.step()));
    assert!(world.velocity(body).unwrap().length() < 1e-3);
}

/// A table that moves at `v` under a block drags it along: at first the slip is `v`, and `J_t = μ m g dt`.
#[test]
fn bodies_on_paths_carry_others() {
    for kind in 0..2 {
        let mut world = world();
        let key = |time_s, x| Key { time_s, position: Vec3::new(x, 0.0, -0.1), rotation: [0.0, 0.0, 0.0, 1.0] };
        let table = BodySpec {
            position: Vec3::new(0.0, 0.0, -0.1),
            velocity: Vec3::new(0.5, 0.0, 0.0),
            kind: if kind == 0 { Kind::Kinematic } else { Kind::Path(vec![key(0.0, 0.0), key(4.0, 2.0)]) },
            ..BodySpec::new(Shape::Box { half: Vec3::new(2.0, 1.0, 0.1) })
        };
        world.add(&table).unwrap();
        let body = world.add(&BodySpec { restitution: 0.0, ..block() }).unwrap();
        let frames: Vec<_> = (0..480).map(|_| world.step()).collect();
        let early = &frames[10];
        assert!((given_in(early, body).x / (0.5 * 0.5 * G * DT) - 1.0).abs() < 0.1, "{}", given_in(early, body));
        assert!(points(early).all(|p| p.slip_m_s[0] > 0.3), "first body against the second");
        assert!((world.velocity(body).unwrap().x - 0.5).abs() < 5e-3);
        assert!((f64::from(world.pose(0).unwrap().position[0]) - 0.5).abs() < 2e-3);
    }
}
