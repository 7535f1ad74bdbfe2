//! Bodies that meet.

use eigentone_core::mesh::nearest_on_triangle;
use eigentone_core::{TetMesh, Vec3};
use eigentone_sim::soft::{Collider, SoftBody, SoftMaterial, SoftWorld, WorldSettings};

fn cube(name: &str, at: Vec3, velocity_m_s: Vec3) -> SoftBody {
    let mut mesh = TetMesh::block(Vec3::splat(0.1), [3, 3, 3]);
    mesh.positions.iter_mut().for_each(|p| *p += at);
    let material = SoftMaterial { young_pa: 2e5, psi_pa_s: 2.0, ..SoftMaterial::default() };
    SoftBody { velocity_m_s, ..SoftBody::new(name, mesh, material) }
}

fn weightless() -> WorldSettings {
    WorldSettings { gravity_m_s2: Vec3::ZERO, ..WorldSettings::default() }
}

fn momentum(world: &SoftWorld) -> Vec3 {
    (0..world.len())
        .map(|b| {
            let body = world.body(b);
            body.velocities().enumerate().map(|(n, v)| v * body.mass_kg(n)).sum::<Vec3>()
        })
        .sum()
}

/// How deep the deepest node of a body is in another one: inside one of its tetrahedra, and so far from its surface.
fn depth_in(world: &SoftWorld, inner: usize, outer: usize) -> f64 {
    let outer = world.body(outer);
    let corners: Vec<Vec3> = outer.positions().collect();
    let inside = |p: Vec3| {
        outer.at_rest().mesh.tets.iter().any(|t| {
            let [a, b, c, d] = t.map(|n| corners[n as usize]);
            let volume = |a: Vec3, b: Vec3, c: Vec3, d: Vec3| (b - a).cross(c - a).dot(d - a);
            [volume(p, b, c, d), volume(a, p, c, d), volume(a, b, p, d), volume(a, b, c, p)].iter().all(|v| *v > 0.0)
        })
    };
    let from_surface = |p: Vec3| {
        let triangles = outer.triangles().map(|t| t.map(|n| corners[n as usize]));
        triangles
            .map(|t| {
                let w = nearest_on_triangle(p, t);
                p.distance(t[0] * w[0] + t[1] * w[1] + t[2] * w[2])
            })
            .fold(f64::INFINITY, f64::min)
    };
    world.body(inner).positions().filter(|p| inside(*p)).map(from_surface).fold(0.0, f64::max)
}

/// Two cubes that fly into each other, a little and much beside each other: momentum is kept, none gets into the other by more than a fifth of an element, and they part.
#[test]
fn cubes_bounce_off_each_other() {
    for offset in [Vec3::ZERO, Vec3::new(0.0, 0.007, 0.011), Vec3::new(0.0, 0.031, 0.017)] {
        let a = cube("a", Vec3::new(-0.06, 0.0, 0.0), Vec3::X);
        let b = cube("b", Vec3::new(0.06, 0.0, 0.0) + offset, -Vec3::X);
        let mut world = SoftWorld::new(vec![a, b], &weightless()).unwrap();
        let before = momentum(&world);
        let (mut deepest, mut looked): (f64, u64) = (0.0, 0);
        while world.time_s() < 0.1 {
            world.step().unwrap();
            looked += 1;
            if looked % 20 == 0 {
                deepest = deepest.max(depth_in(&world, 0, 1)).max(depth_in(&world, 1, 0));
            }
        }
        let mass: f64 = (0..64).map(|n| world.body(0).mass_kg(n)).sum();
        assert!((momentum(&world) - before).length() < 1e-9 * mass, "{}", momentum(&world));
        println!("{deepest:.5} m deep");
        assert!(deepest < 0.2 * 0.1 / 3.0, "{offset}: {deepest}");
        let speeds: Vec<f64> = (0..2).map(|b| world.body(b).velocities().map(|v| v.x).sum::<f64>() / 64.0).collect();
        assert!(speeds[0] < -0.3 && speeds[1] > 0.3, "{offset}: {speeds:?}");
        let touches = world.drain_touches(true);
        assert!((touches[0].time_s - 0.01).abs() < 0.001, "{touches:?}");
        assert!((touches[0].body, touches[0].other) == (0, 1));
        let gained: Vec3 = touches.iter().map(|t| t.impulse_ns).sum();
        let body = world.body(0);
        let changed = body.velocities().enumerate().map(|(n, v)| v * body.mass_kg(n)).sum::<Vec3>() - Vec3::X * mass;
        assert!((gained - changed).length() < 1e-9, "{gained} {changed}");
    }
}

/// One cube comes to rest on another, on the ground: the lower one bears both.
#[test]
fn cubes_pile_up() {
    let lower = cube("lower", Vec3::new(0.0, 0.0, 0.0501), Vec3::ZERO);
    let upper = cube("upper", Vec3::new(0.012, 0.008, 0.1503), Vec3::ZERO);
    let mut bodies = vec![lower, upper];
    bodies.iter_mut().for_each(|b| b.material.psi_pa_s = 600.0);
    let settings = WorldSettings { colliders: vec![Collider::ground(0.0, 0.8)], ..WorldSettings::default() };
    let mut world = SoftWorld::new(bodies, &settings).unwrap();
    while world.time_s() < 1.0 {
        world.step().unwrap();
    }
    let fastest = (0..2).flat_map(|b| world.body(b).velocities()).map(|v| v.length()).fold(0.0, f64::max);
    let lowest = world.body(0).positions().map(|p| p.z).fold(f64::INFINITY, f64::min);
    let (a, b) = (world.body(0).centre(), world.body(1).centre());
    assert!(fastest < 0.02, "{fastest}");
    assert!(lowest > -0.1 * 0.1 / 3.0, "{lowest}");
    assert!(b.z - a.z > 0.09 && b.z - a.z < 0.1 && (b - a).x > 0.005, "{a} {b}");
}

/// A block on a slope of 20°: with μ = 0.5 it stays, with μ = 0.2 it slides with a = g(sin − μ cos).
#[test]
fn friction_holds_or_slides() {
    let angle = 20f64.to_radians();
    for (friction, slides) in [(0.5, false), (0.2, true)] {
        let mut body = cube("block", Vec3::Z * 0.0502, Vec3::ZERO);
        body.friction = friction;
        body.material.psi_pa_s = 60.0;
        let gravity_m_s2 = 9.81 * Vec3::new(angle.sin(), 0.0, -angle.cos());
        let settings = WorldSettings {
            gravity_m_s2,
            colliders: vec![Collider::ground(0.0, friction)],
            ..WorldSettings::default()
        };
        let mut world = SoftWorld::new(vec![body], &settings).unwrap();
        let mut speeds = Vec::new();
        for until_s in [0.4, 0.8] {
            while world.time_s() < until_s {
                world.step().unwrap();
            }
            speeds.push(world.body(0).velocities().map(|v| v.x).sum::<f64>() / 64.0);
        }
        let expected = if slides { 9.81 * (angle.sin() - 0.2 * angle.cos()) } else { 0.0 };
        let found = (speeds[1] - speeds[0]) / 0.4;
        assert!((found - expected).abs() < 0.1, "{friction}: {found} {expected}");
    }
}

/// Something pinned stays where it is, and what hangs on it swings.
#[test]
fn pins_hold() {
    let mut body = cube("hanging", Vec3::ZERO, Vec3::ZERO);
    body.pinned = (0..64).filter(|&n| body.mesh.positions[n as usize].z > 0.049).collect();
    let pinned = body.pinned.clone();
    let before = body.mesh.positions.clone();
    let mut world = SoftWorld::new(vec![body], &WorldSettings::default()).unwrap();
    // It swings between no and twice the static ρgL²/2Y of 0.25 mm, less what its width keeps from narrowing.
    let mut lowest = f64::INFINITY;
    while world.time_s() < 0.05 {
        world.step().unwrap();
        lowest = lowest.min(world.body(0).positions().map(|p| p.z).fold(f64::INFINITY, f64::min));
    }
    let now: Vec<Vec3> = world.body(0).positions().collect();
    assert!(pinned.iter().all(|&n| now[n as usize] == before[n as usize]));
    let sunk = -0.05 - lowest;
    assert!(sunk > 1.2 * 2.45e-4 && sunk < 2.1 * 2.45e-4, "{sunk}");
}
