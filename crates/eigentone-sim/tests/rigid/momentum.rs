use super::*;
use eigentone_core::mesh::primitives;
use eigentone_sim::rigid::{Mass, Part};

fn part(offset: Vec3, half: Vec3) -> Part<'static> {
    Part { offset, rotation: [0.0, 0.0, 0.0, 1.0], shape: Shape::Box { half } }
}

/// Two bars that meet at a right angle.
fn angle() -> Shape<'static> {
    Shape::Compound(vec![
        part(Vec3::new(0.05, 0.0, 0.0), Vec3::new(0.05, 0.01, 0.01)),
        part(Vec3::new(0.0, 0.05, 0.0), Vec3::new(0.01, 0.05, 0.01)),
    ])
}

/// `Σ J = m (v_end − v_start) − m g t`, and in every step `|J − m Δv + m g dt|` stays below 1 % of the largest impulse.
#[test]
fn impulses_of_a_bouncing_body_are_its_change_of_momentum() {
    let ring = primitives::ring(0.05, 0.012, 24, 10);
    let block = primitives::cuboid(Vec3::new(0.08, 0.05, 0.03), [3, 2, 1]);
    let shapes = [
        ("box", Shape::Box { half: Vec3::new(0.04, 0.025, 0.015) }),
        ("cylinder", Shape::Cylinder { half_height: 0.04, radius: 0.02 }),
        ("ring", Shape::Ring { radius: 0.05, stock_radius: 0.012 }),
        ("hull", Shape::Hull(&block)),
        ("compound", angle()),
        ("decomposed", Shape::Decomposed(&ring)),
        ("mesh", Shape::Mesh(&ring)),
    ];
    for (name, shape) in shapes {
        let mut world = world_with_floor(0.4, 0.6);
        let spec = BodySpec {
            mass: Mass::Kg(0.3),
            position: Vec3::new(0.0, 0.0, 0.4),
            rotation: [0.3, 0.2, 0.1, 0.9],
            velocity: Vec3::new(0.7, -0.3, 0.0),
            spin: Vec3::new(3.0, -5.0, 2.0),
            friction: 0.4,
            restitution: 0.6,
            ..BodySpec::new(shape)
        };
        let body = world.add(&spec).unwrap();
        let (mut sum, mut worst, mut largest, mut struck) = (Vec3::ZERO, 0.0_f64, 0.0_f64, 0);
        for _ in 0..720 {
            let before = world.velocity(body).unwrap();
            let frame = world.step();
            let given = given_in(&frame, body);
            let change = (world.velocity(body).unwrap() - before) * 0.3 + Vec3::new(0.0, 0.0, 0.3 * G * DT);
            sum += given - change;
            worst = worst.max((given - change).length());
            largest = largest.max(given.length());
            struck += usize::from(given.length() > 0.01);
        }
        println!("{name}: largest {largest:.4} N·s, worst step {worst:.2e}, sum {:.2e}, {struck} hits", sum.length());
        assert!(largest > 0.3 && struck > 2, "{name}: {largest} {struck}");
        assert!(worst < 0.01 * largest, "{name}: {worst} of {largest}");
        assert!(sum.length() < 0.01 * largest, "{name}: {sum}");
    }
}

/// Without gravity `m₁ Δv₁ = J = −m₂ Δv₂`, and with restitution `e` on the line of centres `J = (1 + e) m₁ m₂ / (m₁ + m₂) v`.
#[test]
fn two_bodies_in_free_flight_exchange_momentum() {
    let mut world = World::new(WorldSettings { gravity: Vec3::ZERO, ..Default::default() }).unwrap();
    let ball = |mass, x, speed| BodySpec {
        mass: Mass::Kg(mass),
        position: Vec3::new(x, 0.0, 0.0),
        velocity: Vec3::new(speed, 0.0, 0.0),
        restitution: 0.7,
        ..BodySpec::new(Shape::Sphere { radius: 0.03 })
    };
    world.add(&ball(0.2, -0.1, 1.5)).unwrap();
    world.add(&ball(0.5, 0.1, -0.5)).unwrap();
    let mut sums = [Vec3::ZERO; 2];
    for _ in 0..240 {
        let frame = world.step();
        sums = [0, 1].map(|b| sums[b as usize] + given_in(&frame, b));
    }
    let changes = [0.2 * (world.velocity(0).unwrap().x - 1.5), 0.5 * (world.velocity(1).unwrap().x + 0.5)];
    let expected = 1.7 * 0.2 * 0.5 / 0.7 * 2.0;
    for (sum, change) in sums.into_iter().zip(changes) {
        assert!((sum.x - change).abs() < 1e-3 * expected, "{sum} {change}");
        assert!((sum.x.abs() / expected - 1.0).abs() < 0.01, "{sum} {expected}");
    }
}

/// `m₁ Δv₁ = J = −m₂ Δv₂` for boxes that spin and rub as well.
#[test]
fn tumbling_boxes_in_free_flight_exchange_momentum() {
    let mut world = World::new(WorldSettings { gravity: Vec3::ZERO, ..Default::default() }).unwrap();
    let block = |x: f64, spin: f64| BodySpec {
        mass: Mass::Kg(0.4),
        position: Vec3::new(x, 0.01, 0.0),
        velocity: Vec3::new(-10.0 * x, 0.0, 0.0),
        spin: Vec3::new(spin, 5.0, -spin),
        ..BodySpec::new(Shape::Box { half: Vec3::new(0.03, 0.04, 0.02) })
    };
    world.add(&block(-0.1, 7.0)).unwrap();
    world.add(&block(0.1, 2.0)).unwrap();
    let start = [0, 1].map(|b| world.velocity(b).unwrap());
    let mut sums = [Vec3::ZERO; 2];
    for _ in 0..240 {
        let frame = world.step();
        sums = [0, 1].map(|b| sums[b as usize] + given_in(&frame, b));
    }
    for (body, sum) in sums.into_iter().enumerate() {
        let change = 0.4 * (world.velocity(body as u32).unwrap() - start[body]);
        assert!(sum.length() > 0.2 && (sum - change).length() < 1e-3 * sum.length(), "{sum} {change}");
    }
}

/// `t = √(2 h / g)`, to 0.2 ms, and the speed of approach is `√(2 g h)`.
#[test]
fn a_fall_ends_on_time() {
    for height in [0.02, 0.1, 0.35, 1.0, 1.7] {
        for shape in [Shape::Sphere { radius: 0.02 }, Shape::Box { half: Vec3::splat(0.02) }] {
            let mut world = world_with_floor(0.5, 0.3);
            let position = Vec3::new(0.0, 0.0, height + 0.02);
            world.add(&BodySpec { position, ..BodySpec::new(shape) }).unwrap();
            let frame = (0..480).map(|_| world.step()).find(|f| !f.contacts.is_empty()).unwrap();
            let first = points(&frame).next().unwrap();
            let touched = frame.time_s - frame.step_s + f64::from(first.touch_s);
            let expected = (2.0 * height / G).sqrt();
            println!("{height} m: {:+.4} ms, {} m/s", 1e3 * (touched - expected), first.approach_m_s);
            assert!((touched - expected).abs() < 2e-4, "{height}: {touched} {expected}");
            let speed = (2.0 * G * height).sqrt();
            assert!((f64::from(first.approach_m_s) / speed - 1.0).abs() < 0.01, "{height}: {}", first.approach_m_s);
        }
    }
}
