//! Bodies that come and go while the world runs, and those that get out of hand.

use eigentone_core::{TetMesh, Vec3};
use eigentone_sim::soft::{
    BodyView, Collider, Partner, SoftBody, SoftError, SoftId, SoftMaterial, SoftWorld, WorldSettings,
};

fn cube(name: &str, at: Vec3, velocity_m_s: Vec3, young_pa: f64) -> SoftBody {
    let mut mesh = TetMesh::block(Vec3::splat(0.1), [3, 3, 3]);
    mesh.positions.iter_mut().for_each(|p| *p += at);
    let material = SoftMaterial { young_pa, psi_pa_s: 2.0, ..SoftMaterial::default() };
    SoftBody { velocity_m_s, ..SoftBody::new(name, mesh, material) }
}

fn settings() -> WorldSettings {
    WorldSettings { colliders: vec![Collider::ground(0.0, 0.5)], ..WorldSettings::default() }
}

/// Two that fall, hit each other and the ground.
fn two() -> Vec<SoftBody> {
    vec![
        cube("a", Vec3::new(-0.06, 0.0, 0.08), Vec3::new(1.0, 0.0, -1.0), 2e5),
        cube("b", Vec3::new(0.06, 0.01, 0.09), Vec3::new(-1.0, 0.0, -1.0), 2e5),
    ]
}

fn advance(world: &mut SoftWorld, samples: usize) {
    world.advance_samples(samples, |_| {}).unwrap();
}

fn bits(body: BodyView<'_>) -> Vec<[u64; 3]> {
    body.positions().chain(body.velocities()).map(|p| p.to_array().map(f64::to_bits)).collect()
}

fn id_of(world: &SoftWorld, name: &str) -> SoftId {
    world.bodies().find(|(_, body)| body.name() == name).unwrap().0
}

/// Bodies elsewhere come and go, before, between and behind them in all lists, fast ones and fine ones, flying and hitting the ground: two that collide move on to the same bits.
#[test]
fn others_do_not_notice() {
    let mut alone = SoftWorld::new(two(), &settings()).unwrap();
    advance(&mut alone, 3000);

    let mut bodies = two();
    let far = Vec3::new(3.0, 0.0, 0.2);
    bodies.insert(0, cube("before", far, Vec3::Z * -20.0, 2e5));
    bodies.insert(2, cube("between", 2.0 * far, Vec3::ZERO, 2e5));
    let mut busy = SoftWorld::new(bodies, &settings()).unwrap();
    assert_eq!(busy.step_s(), alone.step_s());
    advance(&mut busy, 300);
    let mut fine = cube("fine", -far, Vec3::X, 2e4);
    fine.mesh.positions.iter_mut().for_each(|p| *p = -far + 0.4 * (*p + far));
    let fine = busy.insert(fine).unwrap();
    assert_eq!(busy.step_s(), alone.step_s());
    advance(&mut busy, 150);
    let between = id_of(&busy, "between");
    assert_eq!(busy.remove(between).unwrap().name, "between");
    advance(&mut busy, 50);
    let before = id_of(&busy, "before");
    assert_eq!(busy.remove(before).unwrap().name, "before");
    advance(&mut busy, 500);
    // In the midst of a sample, too.
    busy.step().unwrap();
    busy.remove(fine).unwrap();
    let last = busy.insert(cube("last", far, Vec3::Z * -5.0, 2e5)).unwrap();
    assert!(last > fine && before < between);
    advance(&mut busy, 2000);

    assert_eq!(busy.samples(), alone.samples());
    for name in ["a", "b"] {
        let [one, other] = [&alone, &busy].map(|world| bits(world.get(id_of(world, name)).unwrap()));
        assert!(one == other, "{name}");
    }
    let touches = |world: &mut SoftWorld| {
        let (a, b) = (id_of(world, "a"), id_of(world, "b"));
        let all = world.drain_touches(true).into_iter();
        all.filter(move |t| t.body_id == a && t.partner == Partner::Body(b)).map(|t| (t.time_s, t.impulse_ns)).collect()
    };
    let (one, other): (Vec<_>, Vec<_>) = (touches(&mut alone), touches(&mut busy));
    assert!(!one.is_empty());
    assert_eq!(one, other);
}

/// What is gone is an answer, not another body.
#[test]
fn stale_names_are_no_names() {
    let mut world = SoftWorld::new(two(), &settings()).unwrap();
    let (a, b) = (id_of(&world, "a"), id_of(&world, "b"));
    assert!(world.remove(a).is_some() && world.remove(a).is_none() && world.get(a).is_none());
    let c = world.insert(cube("c", Vec3::Z, Vec3::ZERO, 2e5)).unwrap();
    assert!(c != a && c != b && world.get(a).is_none());
    assert_eq!(world.bodies().map(|(id, body)| (id, body.name())).collect::<Vec<_>>(), [(b, "b"), (c, "c")]);
    assert_eq!((world.number(b), world.number(c), world.len()), (Some(0), Some(1), 2));
    let ground = world.colliders().next().unwrap().0;
    assert!(world.remove_collider(ground) && !world.remove_collider(ground));
    assert!(!world.move_collider(ground, Vec3::ZERO, glam::DQuat::IDENTITY, Vec3::ZERO, Vec3::ZERO));
    advance(&mut world, 10);
}

/// A stiff body makes steps short while it is there, from the next sample on; a body that falls does not care, and time goes on as it should.
#[test]
fn the_step_follows_the_stiffest() {
    for within_sample in [false, true] {
        let start = Vec3::Z * 5.0;
        let mut world = SoftWorld::new(vec![cube("falling", start, Vec3::ZERO, 2e5)], &settings()).unwrap();
        let (falling, long_s) = (id_of(&world, "falling"), world.step_s());
        advance(&mut world, 1000);
        if within_sample {
            world.step().unwrap();
        }
        let stiff = world.insert(cube("stiff", 2.0 * start, Vec3::X, 1e11)).unwrap();
        assert_eq!(world.step_s() < long_s, !within_sample);
        advance(&mut world, 300);
        let short_s = world.step_s();
        assert!(short_s < 0.1 * long_s, "{short_s} {long_s}");
        // It is as wide as it was, and flies as it was thrown.
        let [low, high] =
            [f64::min, f64::max].map(|f| world.get(stiff).unwrap().positions().map(|p| p.x).reduce(f).unwrap());
        assert!((high - low - 0.1).abs() < 1e-6, "{low} {high}");
        assert!((world.get(stiff).unwrap().centre().x - 300.0 / 44_100.0).abs() < 5e-5);
        world.remove(stiff).unwrap();
        advance(&mut world, 1700);
        assert_eq!(world.step_s(), long_s);
        assert_eq!(world.samples(), 3000);
        assert!((world.time_s() - 3000.0 / 44_100.0).abs() < 1e-12, "{}", world.time_s());
        let fallen_m = start.z - world.get(falling).unwrap().centre().z;
        let expected_m = 0.5 * 9.81 * world.time_s() * world.time_s();
        assert!((fallen_m / expected_m - 1.0).abs() < 2e-3, "{fallen_m} {expected_m}");
    }
}

/// A world that nobody is in runs, and so does one that has been left.
#[test]
fn nobody_is_no_problem() {
    let mut world = SoftWorld::new(Vec::new(), &settings()).unwrap();
    advance(&mut world, 100);
    let id = world.insert(cube("a", Vec3::Z, Vec3::ZERO, 2e5)).unwrap();
    advance(&mut world, 100);
    world.remove(id).unwrap();
    advance(&mut world, 100);
    assert!(world.is_empty() && world.samples() == 300 && world.drain_impulses().is_empty());
}

/// Clones go on to the same bits; to go back is to assign. Worlds go to other threads.
#[test]
fn a_clone_is_a_snapshot() {
    fn goes_elsewhere<T: Send + Clone>(_: &T) {}
    let mut world = SoftWorld::new(two(), &settings()).unwrap();
    goes_elsewhere(&world);
    advance(&mut world, 700);
    world.step().unwrap();
    let kept = world.clone();
    let run = |world: &mut SoftWorld| {
        world.insert(cube("later", Vec3::Z, Vec3::ZERO, 4e5)).unwrap();
        advance(world, 900);
        world.bodies().map(|(_, body)| bits(body)).collect::<Vec<_>>()
    };
    let first = run(&mut world);
    world = kept;
    assert_eq!(first, run(&mut world));
    assert!(world.cost() > 0.0 && world.cost().is_finite());
}

/// What cannot be put in leaves the world as it was.
#[test]
fn bad_bodies_are_refused() {
    let mut world = SoftWorld::new(two(), &WorldSettings { step_s: Some(1e-5), ..settings() }).unwrap();
    let mut loose = cube("loose", Vec3::Z, Vec3::ZERO, 2e5);
    loose.mesh.positions.push(Vec3::ZERO);
    assert!(matches!(world.insert(loose), Err(SoftError::Mesh { .. })));
    assert!(matches!(world.insert(cube("stiff", Vec3::Z, Vec3::ZERO, 1e9)), Err(SoftError::Step { .. })));
    assert!(matches!(world.insert(cube("none", Vec3::Z, Vec3::ZERO, f64::NAN)), Err(SoftError::Material { .. })));
    let mut same = SoftWorld::new(two(), &WorldSettings { step_s: Some(1e-5), ..settings() }).unwrap();
    advance(&mut world, 500);
    advance(&mut same, 500);
    assert_eq!((world.len(), bits(world.body(0))), (2, bits(same.body(0))));
}

/// One body is pushed beyond reason, or torn: the error names it, nothing that is not a number gets out, and the others go on to the same bits, with it or once it is removed.
#[test]
fn what_gets_out_of_hand_is_named_and_left_behind() {
    let mut alone = SoftWorld::new(two(), &settings()).unwrap();
    advance(&mut alone, 1000);
    for kind in ["none", "endless", "fast", "torn", "turned to nothing"] {
        let mut bodies = two();
        bodies.insert(1, cube("bad", Vec3::Z * 3.0, Vec3::ZERO, 2e5));
        let mut world = SoftWorld::new(bodies, &settings()).unwrap();
        advance(&mut world, 100);
        let bad = id_of(&world, "bad");
        match kind {
            "none" => world.push(1, |n| if n == 5 { Vec3::NAN } else { Vec3::ZERO }),
            "endless" => world.push(1, |_| Vec3::X * f64::INFINITY),
            "fast" => world.push(1, |n| Vec3::X * if n == 7 { 1e9 } else { 0.0 }),
            "torn" => world.displace(1, |p| (p - Vec3::Z * 3.0) * 1e4),
            _ => world.displace_to(1, &[Vec3::NAN; 64]),
        }
        let mut failed = Vec::new();
        for _ in 0..400 {
            if let Err(error) = world.advance_samples(1, |_| {}) {
                failed.push(error);
            }
            for (_, body) in world.bodies() {
                assert!(body.positions().chain(body.velocities()).all(|p| p.is_finite()), "{kind}");
            }
        }
        if kind == "turned to nothing" {
            assert!(failed.is_empty(), "{failed:?}");
        } else {
            assert_eq!(failed.len(), 1, "{kind}: {failed:?}");
            match &failed[0] {
                SoftError::Exploded { body, id, .. } | SoftError::Unstable { body, id, .. } => {
                    assert_eq!((body.as_str(), *id), ("bad", bad), "{kind}");
                }
                other => panic!("{kind}: {other}"),
            }
            assert!(world.get(bad).unwrap().is_frozen());
        }
        world.remove(bad).unwrap();
        advance(&mut world, 500);
        for name in ["a", "b"] {
            let [one, other] = [&alone, &world].map(|world| bits(world.get(id_of(world, name)).unwrap()));
            assert!(one == other, "{kind}: {name}");
        }
    }
}
