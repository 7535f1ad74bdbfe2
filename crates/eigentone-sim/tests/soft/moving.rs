//! Colliders that move, and what they get.

use eigentone_core::mesh::primitives;
use eigentone_core::{TetMesh, Vec3};
use eigentone_sim::soft::{Collider, ColliderId, Shape, SoftBody, SoftMaterial, SoftWorld, WorldSettings};
use glam::DQuat;

const RATE_HZ: f64 = 44_100.0;
const STEP_S: f64 = 1.0 / 480.0;

fn cube(at: Vec3, velocity_m_s: Vec3, psi_pa_s: f64) -> SoftBody {
    let mut mesh = TetMesh::block(Vec3::splat(0.1), [3, 3, 3]);
    mesh.positions.iter_mut().for_each(|p| *p += at);
    let material = SoftMaterial { young_pa: 2e5, psi_pa_s, ..SoftMaterial::default() };
    SoftBody { velocity_m_s, friction: 0.5, ..SoftBody::new("cube", mesh, material) }
}

fn collider(shape: Shape) -> Collider {
    Collider { name: "moving".to_owned(), shape, friction: 0.5 }
}

fn floor() -> Shape {
    Shape::Plane { point: Vec3::ZERO, normal: Vec3::Z }
}

fn momentum(world: &SoftWorld) -> Vec3 {
    let of = |b: usize| world.body(b).velocities().enumerate().map(|(n, v)| v * world.body(b).mass_kg(n)).sum::<Vec3>();
    (0..world.len()).map(of).sum()
}

/// Runs a world for some steps of 1/480 s, which are no whole numbers of samples; the collider moves as `at` and its slope say.
fn run(
    world: &mut SoftWorld,
    id: ColliderId,
    steps: std::ops::Range<usize>,
    at: impl Fn(f64) -> Vec3,
    mut each: impl FnMut(&mut SoftWorld),
) {
    for k in steps {
        let t = k as f64 * STEP_S;
        let velocity = (at(t + 1e-5) - at(t - 1e-5)) / 2e-5;
        assert!(world.move_collider(id, at(t), DQuat::IDENTITY, velocity, Vec3::ZERO));
        let until = ((k + 1) as f64 * STEP_S * RATE_HZ).round() as u64;
        world.advance_samples((until - world.samples()) as usize, |_| {}).unwrap();
        each(world);
    }
}

/// A belt that runs at 0.5 m/s below a block takes it along: μg until it is as fast.
#[test]
fn friction_acts_against_the_surface() {
    let mut world = SoftWorld::new(vec![cube(Vec3::Z * 0.0502, Vec3::ZERO, 60.0)], &WorldSettings::default()).unwrap();
    let id = world.insert_collider(collider(floor()));
    // It comes to rest first.
    run(&mut world, id, 0..240, |_| Vec3::ZERO, |_| {});
    let mut speeds = Vec::new();
    let mass_kg = world.body(0).total_kg();
    // It speeds up within 5 ms.
    let way = |t: f64| Vec3::X * 0.5 * (t - 0.5 - 0.005 * (1.0 - (-(t - 0.5).max(0.0) / 0.005).exp())).max(0.0);
    run(&mut world, id, 240..480, way, |world| speeds.push(momentum(world).x / mass_kg));
    let slope = (speeds[35] - speeds[15]) / (20.0 * STEP_S);
    assert!((slope / (0.5 * 9.81) - 1.0).abs() < 0.1, "{slope}");
    assert!((speeds[239] - 0.5).abs() < 0.02, "{}", speeds[239]);
}

/// On a lift that is told 480 times a second and gains 2 m/s every second, a cube presses with m(g + a), without a hum of 480 Hz.
#[test]
fn a_lift_does_not_hum() {
    let mut world = SoftWorld::new(vec![cube(Vec3::Z * 0.0502, Vec3::ZERO, 300.0)], &WorldSettings::default()).unwrap();
    let id = world.insert_collider(collider(floor()));
    let mass_kg = world.body(0).total_kg();
    let mut forces: Vec<f64> = Vec::new();
    let start_s = 0.1;
    let way = |t: f64| Vec3::Z * (t - start_s).max(0.0).powi(2);
    run(&mut world, id, 0..480, way, |world| {
        world.drain_forces(|force| {
            assert!((force.local_direction + Vec3::Z).length() < 0.05, "{}", force.local_direction);
            let missing = force.first_sample as usize - forces.len();
            forces.extend(vec![0.0; missing]);
            forces.extend(force.force_n.iter().map(|f| f64::from(*f)));
        });
    });
    let late = &forces[22_050..44_100 - 200];
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    let expected = mass_kg * (9.81 + 2.0);
    assert!((mean / expected - 1.0).abs() < 0.005, "{mean} {expected}");
    for hz in [480.0, 960.0, 1440.0] {
        let (mut re, mut im) = (0.0, 0.0);
        for (n, f) in late.iter().enumerate() {
            let (sin, cos) = (std::f64::consts::TAU * hz * n as f64 / RATE_HZ).sin_cos();
            let window = 1.0 - (std::f64::consts::TAU * n as f64 / late.len() as f64).cos();
            (re, im) = (re + window * f * cos, im + window * f * sin);
        }
        let amplitude = 2.0 * f64::hypot(re, im) / late.len() as f64;
        println!("{hz} Hz: {:.2e} of the weight", amplitude / expected);
        assert!(amplitude < 2e-3 * expected, "{hz} Hz: {amplitude} N of {expected}");
    }
}

/// What the cube gets and what the collider gets are opposite to the last bit of rounding, whether asked for in impulses or in forces; and a collider that is turned knows where.
#[test]
fn forces_add_up_to_impulses() {
    let rotation = DQuat::from_rotation_y(0.3);
    let (normal, at) = (rotation * Vec3::Z, Vec3::new(0.4, 0.2, 0.0));
    let body = cube(Vec3::new(0.43, 0.25, 0.09), -2.0 * normal, 2.0);
    let settings = WorldSettings { gravity_m_s2: Vec3::ZERO, ..WorldSettings::default() };
    let mut world = SoftWorld::new(vec![body], &settings).unwrap();
    let half_m = Vec3::new(0.3, 0.3, 0.02);
    let id =
        world.insert_collider(collider(Shape::Cuboid { centre: Vec3::Z * -0.02, half_m, rotation: DQuat::IDENTITY }));
    assert!(world.place_collider(id, at, rotation));
    let before = momentum(&world);
    let (mut impulse, mut from_forces, mut first, mut count) = (Vec3::ZERO, Vec3::ZERO, None, 0);
    for _ in 0..60 {
        world.advance_samples(92, |_| {}).unwrap();
        for got in world.drain_impulses() {
            assert_eq!((got.collider, got.body), (id, world.body(0).id()));
            assert_eq!(got.new, count == 0, "{got:?}");
            assert!((got.normal - normal).length() < 1e-6, "{}", got.normal);
            if got.new {
                assert!((got.approach_m_s - 2.0).abs() < 0.05, "{got:?}");
                first = Some(got.time_s);
            }
            assert!((rotation * got.local_point + at - got.point).length() < 1e-9);
            impulse += got.impulse_ns;
            count += 1;
        }
        world.drain_forces(|force| {
            let sum: f64 = force.force_n.iter().map(|f| f64::from(*f)).sum::<f64>() / RATE_HZ;
            from_forces += rotation * force.local_direction * sum;
            assert!(first.is_some_and(|t| force.first_sample as f64 >= t * RATE_HZ - 1.0));
            // Below the middle of the cube, on the upper side.
            let below = rotation.inverse() * (world_centre() - at);
            assert!((force.local_point - Vec3::new(below.x, below.y, 0.0)).length() < 0.06, "{}", force.local_point);
            assert!(force.local_point.z.abs() < 0.004);
        });
    }
    let lost = before - momentum(&world);
    assert!((first.unwrap() - touch_s()).abs() < 5e-4, "{first:?} {}", touch_s());
    assert!(lost.length() > 2.5, "{lost}");
    assert!((impulse - lost).length() < 1e-9 * lost.length(), "{impulse} {lost}");
    assert!((from_forces - lost).length() < 1e-5 * lost.length(), "{from_forces} {lost}");
    assert!(world.drain_impulses().is_empty());

    fn world_centre() -> Vec3 {
        Vec3::new(0.43, 0.25, 0.09)
    }
    // The lowest corner of the cube above the plate, at 2 m/s.
    fn touch_s() -> f64 {
        let inverse = DQuat::from_rotation_y(-0.3);
        let corner = |x: f64| (inverse * (Vec3::new(0.43 + x, 0.2, 0.04) - Vec3::new(0.4, 0.2, 0.0))).z;
        corner(-0.05).min(corner(0.05)) / 2.0
    }
}

/// A cube comes down on all kinds of shapes at 3 m/s, 45 mm plates and foils of 1 mm, and stays on top.
#[test]
fn shapes_hold() {
    let (centre, rotation) = (Vec3::ZERO, DQuat::IDENTITY);
    let slab = primitives::cuboid(Vec3::new(0.4, 0.4, 0.045), [4, 4, 1]);
    let part = |x: f64| Shape::Cuboid { centre: Vec3::X * x, half_m: Vec3::new(0.1, 0.2, 0.0225), rotation };
    let foil = Shape::Cuboid { centre, half_m: Vec3::new(0.2, 0.2, 0.0005), rotation };
    let disc = Shape::mesh(primitives::cylinder(0.2, 0.001, 48, 1, true)).unwrap();
    for (name, shape, top_m) in [
        ("hull", Shape::hull(&slab.positions).unwrap(), 0.0225),
        ("mesh", Shape::mesh(slab).unwrap(), 0.0225),
        ("compound", Shape::Compound(vec![part(-0.1), part(0.1)].into()), 0.0225),
        ("cylinder", Shape::Cylinder { centre, radius_m: 0.2, half_height_m: 0.0225, rotation }, 0.0225),
        ("thin cylinder", Shape::Cylinder { centre, radius_m: 0.2, half_height_m: 0.0005, rotation }, 0.0005),
        ("foil", foil, 0.0005),
        ("thin mesh", disc, 0.0005),
    ] {
        // Turned as a whole, gravity as well: shapes know where they are.
        let turn = DQuat::from_rotation_x(0.8);
        let mut body = cube(Vec3::Z * (0.051 + top_m), turn * Vec3::Z * -3.0, 30.0);
        body.mesh.positions.iter_mut().for_each(|p| *p = turn * *p + Vec3::Y);
        let settings = WorldSettings { gravity_m_s2: turn * Vec3::Z * -9.81, ..WorldSettings::default() };
        let mut world = SoftWorld::new(vec![body], &settings).unwrap();
        let id = world.insert_collider(collider(shape));
        assert!(world.place_collider(id, Vec3::Y, turn));
        let mass_kg = world.body(0).total_kg();
        let mut impulse = Vec3::ZERO;
        for _ in 0..50 {
            world.advance_samples(441, |_| {}).unwrap();
            impulse += world.drain_impulses().iter().map(|i| i.impulse_ns).sum::<Vec3>();
            let low =
                world.body(0).positions().map(|p| (turn.inverse() * (p - Vec3::Y)).z).fold(f64::INFINITY, f64::min);
            assert!(low > top_m - 0.0035, "{name}: {low} at {}", world.time_s());
        }
        // All of what it had, gravity's since, less what it has now.
        let momentum_before = mass_kg * 3.0 + mass_kg * 9.81 * world.time_s();
        let expected = momentum_before + (turn.inverse() * momentum(&world)).z;
        let found = -(turn.inverse() * impulse).z;
        assert!((found / expected - 1.0).abs() < 2e-3, "{name}: {found} {expected}");
    }
}

/// Capsules and spheres part what falls on them: it slides off to one side, and gets what it gives.
#[test]
fn round_ones_deflect() {
    let rotation = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    for shape in [
        Shape::Sphere { centre: Vec3::ZERO, radius_m: 0.1 },
        Shape::Capsule { centre: Vec3::ZERO, radius_m: 0.1, half_height_m: 0.2, rotation },
        Shape::Cylinder { centre: Vec3::ZERO, radius_m: 0.1, half_height_m: 0.2, rotation },
    ] {
        let mut world =
            SoftWorld::new(vec![cube(Vec3::new(0.0, 0.06, 0.152), Vec3::Z * -1.0, 30.0)], &WorldSettings::default())
                .unwrap();
        let id = world.insert_collider(collider(shape.clone()));
        assert!(world.place_collider(id, Vec3::ZERO, DQuat::IDENTITY));
        world.advance_samples(17_640, |_| {}).unwrap();
        let (centre, p) = (world.body(0).centre(), momentum(&world) / world.body(0).total_kg());
        assert!(centre.y > 0.1 && p.y > 0.1, "{shape:?}: {centre} {p}");
        let deepest = world.body(0).positions().filter_map(|p| shape.depth(p)).map(|(d, _)| d).fold(0.0, f64::max);
        assert!(deepest < 0.004, "{shape:?}: {deepest}");
    }
}

/// Numbers that are none change nothing.
#[test]
fn nonsense_is_not_followed() {
    let mut world = SoftWorld::new(vec![cube(Vec3::Z, Vec3::ZERO, 2.0)], &WorldSettings::default()).unwrap();
    let id = world.insert_collider(Collider { friction: f64::NAN, ..collider(floor()) });
    for bad in [f64::NAN, f64::INFINITY, 1e300] {
        assert!(!world.move_collider(id, Vec3::X * bad, DQuat::IDENTITY, Vec3::ZERO, Vec3::ZERO));
        assert!(!world.move_collider(id, Vec3::ZERO, DQuat::IDENTITY, Vec3::X * bad, Vec3::ZERO));
        assert!(!world.move_collider(id, Vec3::ZERO, DQuat::IDENTITY, Vec3::ZERO, Vec3::Z * bad));
        assert!(!world.place_collider(id, Vec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, bad)));
        world.set_collider_step_s(bad);
    }
    assert!(!world.place_collider(id, Vec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)));
    assert_eq!(world.collider_delay_s(), 1.5 / 480.0);
    world.advance_samples(20_000, |_| {}).unwrap();
    assert!(world.body(0).centre().is_finite());
}
