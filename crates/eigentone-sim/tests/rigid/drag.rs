use super::*;
use eigentone_sim::rigid::{Drag, Mass};

fn weightless() -> World {
    World::new(WorldSettings { gravity: Vec3::ZERO, ..Default::default() }).unwrap()
}

fn bar(mass: f64) -> BodySpec<'static> {
    BodySpec { mass: Mass::Kg(mass), ..BodySpec::new(Shape::Box { half: Vec3::new(0.1, 0.01, 0.01) }) }
}

/// Without overshoot `x(t) = x₀ (1 + ωt) e^{−ωt}`: within 1.5 % of the way at every step, at 0.5 to 20 Hz and for any mass.
#[test]
fn a_drag_follows_the_critically_damped_oscillator() {
    for (frequency_hz, mass) in [(0.5, 0.3), (5.0, 1e-3), (5.0, 50.0), (20.0, 0.3)] {
        let mut world = weightless();
        let body = world.add(&bar(mass)).unwrap();
        let target = Vec3::new(0.02, -0.01, 0.03);
        let drag = Drag { target, frequency_hz, max_force_n: 1e5, ..Drag::default() };
        world.set_drag(body, Some(drag)).unwrap();
        let omega = std::f64::consts::TAU * frequency_hz;
        let mut worst = 0.0_f64;
        for step in 1..=480 {
            world.step();
            let t = f64::from(step) * DT;
            let expected = target * (1.0 - (1.0 + omega * t) * (-omega * t).exp());
            worst = worst.max(vector(world.pose(body).unwrap().position).distance(expected) / target.length());
        }
        println!("{frequency_hz} Hz, {mass} kg: off by at most {:.2} %", 100.0 * worst);
        assert!(worst < 0.015, "{frequency_hz} Hz, {mass} kg: {worst}");
    }
}

/// Held at its end, a bar feels `1/K = m/4`: the point still follows the closed form while the angle is small, and the bar turns.
#[test]
fn a_drag_pulls_at_its_point() {
    let mut world = weightless();
    let body = world.add(&bar(0.3)).unwrap();
    let target = Vec3::new(0.1, 0.002, 0.0);
    world.set_drag(body, Some(Drag { local: 0.1 * Vec3::X, target, ..Drag::default() })).unwrap();
    let omega = std::f64::consts::TAU * 5.0;
    for step in 1..=48 {
        world.step();
        let t = f64::from(step) * DT;
        let expected = 0.002 * (1.0 - (1.0 + omega * t) * (-omega * t).exp());
        let pose = world.pose(body).unwrap();
        let end = pose.to_world(0.1 * Vec3::X).y;
        assert!((end - expected).abs() < 0.02 * 0.002, "{step}: {end} {expected}");
    }
    // A blow on the end of a rod leaves its centre with a quarter of the end's velocity.
    assert!(world.spin(body).unwrap().z > 0.0);
    let angle = 2.0 * f64::from(world.pose(body).unwrap().rotation[2]);
    let centre = f64::from(world.pose(body).unwrap().position[1]);
    assert!((centre / (centre + 0.1 * angle) - 0.25).abs() < 0.02, "{centre} {angle}");
}

/// Hanging, a body sags by `g/ω²`, and a limit on the force is a limit: `m g` more than it can hold falls with `g − F/m`.
#[test]
fn a_body_hangs_from_its_drag() {
    let mut world = world();
    let body = world.add(&bar(0.3)).unwrap();
    world.set_drag(body, Some(Drag::default())).unwrap();
    (0..960).for_each(|_| drop(world.step()));
    let sag = -f64::from(world.pose(body).unwrap().position[2]);
    let expected = G / (std::f64::consts::TAU * 5.0).powi(2);
    assert!((sag / expected - 1.0).abs() < 0.1, "{sag} {expected}");

    world.set_pose(body, Vec3::ZERO, [0.0, 0.0, 0.0, 1.0]).unwrap();
    world.set_velocity(body, Vec3::ZERO, Vec3::ZERO).unwrap();
    world.set_drag(body, Some(Drag { target: 5.0 * Vec3::Z, max_force_n: 0.3, ..Drag::default() })).unwrap();
    (0..240).for_each(|_| drop(world.step()));
    let speed = world.velocity(body).unwrap().z;
    assert!((speed / ((1.0 - G) * 0.5) - 1.0).abs() < 0.01, "{speed}");

    world.set_drag(body, None).unwrap();
    (0..240).for_each(|_| drop(world.step()));
    let after = world.velocity(body).unwrap().z;
    assert!(((after - speed) / (-G * 0.5) - 1.0).abs() < 0.01, "let go, it falls: {after}");
}

/// Whatever is asked for, nothing explodes: energy stays below what the force can have done, and in the end the point is at the target.
#[test]
fn no_drag_explodes() {
    let shapes = [
        ("gram", 1e-3, Shape::Box { half: Vec3::new(0.01, 0.002, 0.001) }),
        ("needle", 1e-3, Shape::Cylinder { half_height: 0.2, radius: 0.001 }),
        ("stone", 5.0, Shape::Sphere { radius: 0.1 }),
    ];
    for (name, mass, shape) in shapes {
        for (frequency_hz, damping_ratio) in [(5.0, 1.0), (50.0, 1.0), (50.0, 0.2), (1e5, 1.0), (200.0, 5.0)] {
            let mut world = world();
            let spec = BodySpec { mass: Mass::Kg(mass), spin_damping: 0.5, ..BodySpec::new(shape.clone()) };
            let body = world.add(&spec).unwrap();
            let local = Vec3::new(0.01, 0.002, 0.005);
            let mut fastest = 0.0_f64;
            for step in 0..4800u32 {
                // The target leaps by 100 m and back four times, then stays.
                let far = step < 3840 && (step / 480).is_multiple_of(2);
                let target = if far { Vec3::new(60.0, -60.0, 52.0) } else { Vec3::ZERO };
                let drag = Drag { local, target, frequency_hz, damping_ratio, ..Drag::default() };
                world.set_drag(body, Some(drag)).unwrap();
                assert!(world.step().is_sane(10));
                fastest = fastest.max(world.velocity(body).unwrap().length());
            }
            let held = world.pose(body).unwrap().to_world(local);
            println!(
                "{name} at {frequency_hz} Hz, {damping_ratio}: fastest {fastest:.0} m/s, off by {:.1e} m",
                held.length()
            );
            assert!(fastest <= 400.1, "{name} {frequency_hz}: {fastest}");
            // The sag, and the arm: what turns too fast for its step is held nearer to its centre.
            let sag = G / (std::f64::consts::TAU * frequency_hz).powi(2);
            assert!(
                held.length() < 1.1 * (sag + local.length()),
                "{name} at {frequency_hz} Hz, {damping_ratio}: {held}"
            );
            assert_eq!(world.frozen().count(), 0);
        }
    }
}

#[test]
fn bad_drags_are_errors() {
    let mut world = world();
    let body = world.add(&bar(0.3)).unwrap();
    let bad = [
        Drag { target: Vec3::NAN, ..Drag::default() },
        Drag { target: Vec3::splat(1e9), ..Drag::default() },
        Drag { local: Vec3::INFINITY, ..Drag::default() },
        Drag { frequency_hz: 0.0, ..Drag::default() },
        Drag { frequency_hz: f64::INFINITY, ..Drag::default() },
        Drag { damping_ratio: f64::NAN, ..Drag::default() },
        Drag { max_force_n: 0.0, ..Drag::default() },
        Drag { max_force_n: f64::NAN, ..Drag::default() },
    ];
    for drag in bad {
        assert!(world.set_drag(body, Some(drag)).is_err(), "{drag:?}");
    }
    assert!(world.set_drag(9, None).is_err());
}
