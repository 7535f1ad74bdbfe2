//! Rings of round stock: how they lie, roll, spin, wobble, hang, and stay linked.

use super::*;
use eigentone_core::contact::Phase;
use eigentone_core::mesh::primitives;
use eigentone_sim::rigid::{Mass, Part};
use std::f64::consts::FRAC_1_SQRT_2;

/// The rings of `scenes/rings.toml`.
const RADIUS: f64 = 0.025;
const STOCK: f64 = 0.003;
const MASS: f64 = 0.0348;
/// Turns the axis from z to y: a ring in the plane of x and z.
const UPRIGHT: [f64; 4] = [FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2];
/// Turns the axis from z to x: a ring in the plane of y and z.
const ACROSS: [f64; 4] = [0.0, FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2];

fn ring(z: f64) -> BodySpec<'static> {
    BodySpec {
        mass: Mass::Kg(MASS),
        position: Vec3::new(0.0, 0.0, z),
        friction: 0.4,
        restitution: 0.3,
        ..BodySpec::new(Shape::Ring { radius: RADIUS, stock_radius: STOCK })
    }
}

fn height(world: &World, body: u32) -> f64 {
    f64::from(world.pose(body).unwrap().position[2])
}

fn axis(world: &World, body: u32) -> Vec3 {
    world.pose(body).unwrap().direction_to_world(Vec3::Z)
}

/// At rest the centre is at the height of the stock's radius, `Σ J_n = m g dt` in every step, and nothing moves.
#[test]
fn a_ring_comes_to_rest_and_lies_still() {
    for rotation in [[0.0, 0.0, 0.0, 1.0], [0.3, 0.2, 0.1, 0.9], [0.6, 0.0, 0.3, 0.7]] {
        let mut world = world_with_floor(0.4, 0.3);
        let body = world.add(&BodySpec { rotation, spin_damping: 0.8, ..ring(0.08) }).unwrap();
        (0..4 * 480).for_each(|_| drop(world.step()));
        for _ in 0..480 {
            let frame = world.step();
            let normal: f64 = points(&frame).map(|p| f64::from(p.normal_impulse_ns)).sum();
            assert!((normal / (MASS * G * DT) - 1.0).abs() < 0.02, "{rotation:?}: {normal}");
            assert!(frame.poses.is_empty(), "{rotation:?}: {:?}", frame.poses);
            assert!(points(&frame).all(|p| vector(p.slip_m_s).length() < 1e-3 && p.approach_m_s.abs() < 1e-3));
        }
        assert!((height(&world, body) - STOCK).abs() < 1e-4, "{rotation:?}: {}", height(&world, body));
        assert!(axis(&world, body).z.abs() > 0.999_99);
    }
}

/// Rolling without slipping keeps `v = ω (R + r)`, and the point of contact travels at `v` over both surfaces.
#[test]
fn a_ring_rolls_like_a_wheel() {
    let mut world = world_with_floor(0.6, 0.0);
    let (outer, speed) = (RADIUS + STOCK, 0.5);
    let spec = BodySpec {
        position: Vec3::new(-0.5, 0.0, outer),
        rotation: UPRIGHT,
        velocity: Vec3::new(speed, 0.0, 0.0),
        spin: Vec3::new(0.0, speed / outer, 0.0),
        restitution: 0.0,
        ..ring(0.0)
    };
    let body = world.add(&spec).unwrap();
    let mut seen = 0;
    for step in 0..480 {
        let frame = world.step();
        assert!((height(&world, body) - outer).abs() < 1e-4, "{step}: {}", height(&world, body));
        for p in points(&frame).filter(|_| step > 20) {
            let travel = p.travel_m_s.expect("a leaning ring touches in a point");
            assert!(travel.iter().all(|t| (f64::from(*t) / speed - 1.0).abs() < 0.05), "{step}: {travel:?}");
            assert!(vector(p.slip_m_s).length() < 0.02, "{step}: {:?}", p.slip_m_s);
            seen += 1;
        }
    }
    let (v, w) = (world.velocity(body).unwrap(), world.spin(body).unwrap());
    println!("after a second: {v} m/s, {w} rad/s, axis {}", axis(&world, body));
    assert!(seen > 400 && v.x > 0.95 * speed && (w.y * outer / v.x - 1.0).abs() < 0.02, "{v} {w}");
    assert!(axis(&world, body).y.abs() > 0.999, "{}", axis(&world, body));
}

/// Lying flat and spinning, friction acts at the radius of the circle: `dω/dt = −μ g R / (R² + ¾ r²)`.
#[test]
fn a_ring_that_spins_flat_slows_down_evenly() {
    let mut world = world_with_floor(0.4, 0.0);
    let spec = BodySpec { spin: Vec3::new(0.0, 0.0, 60.0), restitution: 0.0, ..ring(STOCK) };
    let body = world.add(&spec).unwrap();
    let rate = 0.4 * G * RADIUS / (RADIUS * RADIUS + 0.75 * STOCK * STOCK);
    for step in 1..=150 {
        world.step();
        let expected = 60.0 - rate * DT * f64::from(step);
        let spin = world.spin(body).unwrap().z;
        assert!((spin - expected).abs() < 0.02 * 60.0, "{step}: {spin} {expected}");
    }
    (0..100).for_each(|_| drop(world.step()));
    assert!(world.spin(body).unwrap().length() < 0.05);
}

/// A coin that is about to settle: with its centre at rest and the axis of rotation through the point of contact it
/// precesses at `Ω² = m g R / (I sin α)`, with `I` about a diameter, and faster as its tilt `α` wears down.
#[test]
fn a_leaning_ring_precesses_as_a_coin_does() {
    for tilt in [0.25f64, 0.5] {
        let mut world = world_with_floor(1.0, 0.0);
        let inertia = RADIUS * RADIUS / 2.0 + 5.0 / 8.0 * STOCK * STOCK;
        let (sin, cos) = tilt.sin_cos();
        let rate_at = |tilt: f64| (G * RADIUS / (inertia * tilt.sin())).sqrt();
        let rate = rate_at(tilt);
        // Lowest towards +x; the axis leans towards +x.
        let spec = BodySpec {
            position: Vec3::new(0.0, 0.0, RADIUS * sin + STOCK),
            rotation: [0.0, (0.5 * tilt).sin(), 0.0, (0.5 * tilt).cos()],
            spin: Vec3::new(cos, 0.0, -sin) * (rate * sin),
            friction: 1.0,
            restitution: 0.0,
            ..ring(0.0)
        };
        let body = world.add(&spec).unwrap();
        let (mut turned, mut last, mut tilts) = (0.0, 0.0, Vec::new());
        let steps = 240;
        for _ in 0..steps {
            world.step();
            let a = axis(&world, body);
            let angle = a.y.atan2(a.x);
            let step = angle - last;
            turned += step - std::f64::consts::TAU * (step / std::f64::consts::TAU).round();
            last = angle;
            tilts.push(a.z.acos());
        }
        let measured = turned.abs() / (f64::from(steps) * DT);
        let (low, high) = tilts.iter().fold((f64::MAX, 0.0f64), |(l, h), &t| (l.min(t), h.max(t)));
        let rate = tilts.iter().map(|&t| rate_at(t)).sum::<f64>() / f64::from(steps);
        println!("tilt {tilt}: {measured:.1} rad/s, expected {rate:.1}; between {low:.3} and {high:.3} rad");
        assert!((measured / rate - 1.0).abs() < 0.1, "{measured} {rate}");
        assert!(low > 0.6 * tilt && high < 1.1 * tilt, "{low} {high}");
    }
}

/// A ring on a peg hangs with its inner side on the peg's back: `z = z_peg + ρ − (R − r)`.
#[test]
fn a_ring_hangs_on_a_peg() {
    let peg = 0.004;
    let shapes = [
        ("cylinder", Shape::Cylinder { half_height: 0.05, radius: peg }, UPRIGHT),
        ("box", Shape::Box { half: Vec3::new(peg, 0.05, peg) }, [0.0, 0.0, 0.0, 1.0]),
        ("ball", Shape::Sphere { radius: peg }, UPRIGHT),
    ];
    for (name, shape, rotation) in shapes {
        let mut world = world();
        world.add(&BodySpec { kind: Kind::Fixed, rotation, ..BodySpec::new(shape) }).unwrap();
        let hanging = peg - (RADIUS - STOCK);
        let spec = BodySpec { rotation: UPRIGHT, restitution: 0.0, ..ring(hanging + 0.002) };
        let body = world.add(&spec).unwrap();
        (0..480).for_each(|_| drop(world.step()));
        let frame = world.step();
        let force = given_in(&frame, body);
        println!("{name}: {:.5} m, expected {hanging:.5}", height(&world, body));
        assert!((height(&world, body) - hanging).abs() < 2e-4, "{name}: {}", height(&world, body));
        assert!((force.z / (MASS * G * DT) - 1.0).abs() < 0.05, "{name}: {force}");
    }
}

/// A ring dropped over a post falls down along it and lies around it: there is a hole.
#[test]
fn a_ring_falls_around_a_post() {
    let mut world = world_with_floor(0.4, 0.3);
    let post = Shape::Cylinder { half_height: 0.1, radius: 0.015 };
    world.add(&BodySpec { kind: Kind::Fixed, position: Vec3::new(0.0, 0.0, 0.1), ..BodySpec::new(post) }).unwrap();
    let body = world.add(&BodySpec { rotation: [0.1, 0.05, 0.0, 1.0], spin_damping: 0.8, ..ring(0.22) }).unwrap();
    for _ in 0..4 * 480 {
        world.step();
        let at = vector(world.pose(body).unwrap().position);
        assert!(at.truncate().length() < RADIUS - STOCK - 0.015 + 5e-3, "{at}");
    }
    assert!((height(&world, body) - STOCK).abs() < 1e-4, "{}", height(&world, body));
}

/// How deep, in m, bodies are in one that carries so many of them: in a world with rings the engine pushes bodies apart like a spring
/// of frequency `f` = 240 Hz on their reduced mass `m / 2`, which yields by `2 g / (2πf)²` for each. On fixed ones it is less.
fn yields(carried: usize) -> f64 {
    carried as f64 * 2.0 * G / (2.0 * std::f64::consts::PI * 240.0).powi(2)
}

/// Two linked rings hang from each other with their centres `2 (R − r)` apart.
#[test]
fn linked_rings_stay_linked() {
    let mut world = world();
    world.add(&BodySpec { kind: Kind::Fixed, rotation: UPRIGHT, ..ring(0.0) }).unwrap();
    let apart = 2.0 * (RADIUS - STOCK);
    let links: Vec<u32> = [(-apart + 0.001, ACROSS), (-2.0 * apart + 0.002, UPRIGHT)]
        .into_iter()
        .map(|(z, rotation)| world.add(&BodySpec { rotation, spin_damping: 0.8, ..ring(z) }).unwrap())
        .collect();
    (0..2 * 480).for_each(|_| drop(world.step()));
    for (k, &link) in links.iter().enumerate() {
        let low = height(&world, link) + apart * (k + 1) as f64;
        println!("link {k}: {:.1} µm", 1e6 * low);
        assert!(low.abs() < yields(3) + 1e-5, "{k}: {low}");
    }
    let frame = world.step();
    let carried = given_in(&frame, 0).z;
    assert!((carried / (-2.0 * MASS * G * DT) - 1.0).abs() < 0.05, "{carried}");
}

/// A ring that lies across two others is a stock higher, and each of a coaxial stack another; none moves or sinks deeper than the
/// engine yields.
#[test]
fn rings_lie_on_rings() {
    let mut world = world_with_floor(0.4, 0.3);
    let at = |x: f64, z: f64| BodySpec { position: Vec3::new(x, 0.0, z), spin_damping: 0.8, ..ring(0.0) };
    for x in [-0.03, 0.03] {
        world.add(&at(x, STOCK)).unwrap();
    }
    let bridge = world.add(&at(0.0, 3.0 * STOCK + 1e-3)).unwrap();
    let stack: Vec<u32> =
        (0..4).map(|k| world.add(&at(0.3, f64::from(2 * k + 1) * STOCK + 1e-4 * f64::from(k))).unwrap()).collect();
    (0..4 * 480).for_each(|_| drop(world.step()));
    for _ in 0..240 {
        let frame = world.step();
        assert!(frame.poses.is_empty(), "{:?}", frame.poses);
        let carried = given_in(&frame, bridge).z;
        assert!((carried / (MASS * G * DT) - 1.0).abs() < 0.05, "{carried}");
    }
    // Of what was there when they were put down, the engine leaves a tenth of a millimetre per contact.
    let low = height(&world, bridge) - 3.0 * STOCK;
    assert!(low.abs() < yields(2) + 2e-4, "{low}");
    for (k, &body) in stack.iter().enumerate() {
        let low = height(&world, body) - (2 * k + 1) as f64 * STOCK;
        println!("stack {k}: {:.1} µm", 1e6 * low);
        assert!(low.abs() < yields(4 + 3 + 2 + 1) + 1e-4 * (k + 1) as f64, "{k}: {low}");
    }
}

/// A ring over the edge of a table stays if its centre is over the table, and falls if it is not.
#[test]
fn a_ring_lies_over_an_edge() {
    for (beyond, falls) in [(-0.006, false), (0.006, true)] {
        let mut world = world();
        let table = Shape::Box { half: Vec3::new(0.1, 0.1, 0.01) };
        let position = Vec3::new(-0.1 - beyond, 0.0, -0.01);
        world.add(&BodySpec { kind: Kind::Fixed, position, ..BodySpec::new(table) }).unwrap();
        let body = world.add(&BodySpec { restitution: 0.0, ..ring(STOCK) }).unwrap();
        (0..480).for_each(|_| drop(world.step()));
        if falls {
            assert!(height(&world, body) < -0.1, "{}", height(&world, body));
        } else {
            assert!((height(&world, body) - STOCK).abs() < 2e-4, "{}", height(&world, body));
        }
    }
}

/// On triangles, on hulls and as a part of a compound a ring is the same ring.
#[test]
fn rings_meet_every_kind_of_shape() {
    let slab = primitives::cuboid(Vec3::new(0.4, 0.4, 0.04), [8, 8, 1]);
    for shape in [Shape::Mesh(&slab), Shape::Hull(&slab)] {
        let mut world = world();
        let position = Vec3::new(0.0, 0.0, -0.02);
        world.add(&BodySpec { kind: Kind::Fixed, position, friction: 0.4, ..BodySpec::new(shape) }).unwrap();
        let pair = |x| Part { offset: Vec3::new(x, 0.0, 0.0), rotation: [0.0, 0.0, 0.0, 1.0], shape: ring(0.0).shape };
        let bodies = [
            world.add(&BodySpec { rotation: [0.2, 0.1, 0.0, 1.0], spin_damping: 0.8, ..ring(0.05) }).unwrap(),
            world
                .add(&BodySpec {
                    shape: Shape::Compound(vec![pair(-0.025), pair(0.025)]),
                    position: Vec3::new(0.1, 0.0, 0.05),
                    spin_damping: 0.8,
                    ..ring(0.0)
                })
                .unwrap(),
        ];
        (0..3 * 480).for_each(|_| drop(world.step()));
        for body in bodies {
            assert!((height(&world, body) - STOCK).abs() < 1e-4, "{body}: {}", height(&world, body));
            assert!(world.velocity(body).unwrap().length() < 1e-3, "{body}: {}", world.velocity(body).unwrap());
        }
    }
}

/// A hundred rings thrown on a heap come to rest: they do not creep, tremble or fall through one another, and contacts stay. (Chains
/// of cylinders rattled on: two thousand contacts began in every second.)
#[test]
fn a_heap_of_rings_comes_to_rest() {
    let mut world = world_with_floor(0.4, 0.3);
    let bodies: Vec<u32> = (0..100)
        .map(|k| {
            let (turn, column, layer) = (f64::from(k), f64::from(k % 9), f64::from(k / 9));
            let centre = Vec3::new(0.05 * (column / 3.0).floor(), 0.05 * (column % 3.0), 0.05 + 0.03 * layer);
            let position = centre + 0.005 * Vec3::new(turn.sin(), turn.cos(), 0.0);
            let rotation = [0.3 * (1.7 * turn).sin(), 0.3 * (2.3 * turn).cos(), 0.0, 1.0];
            world.add(&BodySpec { position, rotation, spin_damping: 0.8, ..ring(0.0) }).unwrap()
        })
        .collect();
    (0..5 * 480).for_each(|_| drop(world.step()));
    let begun = |frame: ContactFrame| frame.contacts.iter().filter(|c| c.phase == Phase::Begin).count();
    let (mut began, mut fastest) = (0, 0.0f64);
    for _ in 0..480 {
        began += begun(world.step());
        fastest = bodies.iter().map(|&b| world.velocity(b).unwrap().length()).fold(fastest, f64::max);
    }
    let deepest = world.initial_overlaps().into_iter().map(|o| o.depth_m).fold(0.0, f64::max);
    println!("{began} contacts began, fastest {:.2} mm/s, deepest {:.2} mm", 1e3 * fastest, 1e3 * deepest);
    assert!(bodies.iter().all(|&b| height(&world, b) > STOCK - 2e-4));
    assert!(began < 100 && fastest < 0.05, "{began} {fastest}");
    // A ring wedged between others is pressed with more than the weight above it; a tenth of the stock is nothing one sees.
    assert!(deepest < 0.2 * STOCK, "{deepest}");
}
