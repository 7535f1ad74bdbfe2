use super::*;
use eigentone_sim::particles::Pose;

const STILL: Vec3 = Vec3::ZERO;

fn at(position: Vec3) -> Pose {
    Pose { position, ..Pose::default() }
}

fn turned(axis: Vec3, angle: f64) -> Pose {
    Pose { rotation: glam::DQuat::from_axis_angle(axis, angle).to_array(), ..Pose::default() }
}

/// A stone from `h` and a plate that rises at `u` meet where `½ g t² + u t = h`, at the speed `g t + u`, and the plate gets
/// `J = (1 + e) m (g t + u)`; thrown back at `u + e (g t + u)`, the stone meets the plate again after `2 e (g t + u) / g`.
#[test]
fn a_plate_that_rises_is_struck_harder() {
    let (h, e) = (1.5, 0.4);
    for u in [0.0, 0.5, 3.0, -2.0] {
        let cloud = Cloud { restitution: e, bounces: 1, ..throw(h * Vec3::Y, Vec3::ZERO) };
        let mut hail = Simulation::new(cloud, vec![Collider::new(floor(5.0))]).unwrap();
        hail.set_collider_pose(0, Pose::default(), u * Vec3::Y, STILL).unwrap();
        let mut strikes = Vec::new();
        hail.advance(5.0, &mut strikes);
        let meets = (-u + (u * u + 2.0 * G * h).sqrt()) / G;
        let speed = G * meets + u;
        let strike = strikes[0];
        assert!((strike.time_s - meets).abs() < 1e-9, "{u}: {} {meets}", strike.time_s);
        assert!((strike.position.y - u * meets).abs() < 1e-9 && strike.normal == Vec3::Y);
        assert!((strike.energy_j / (0.5 * strike.mass_kg * speed * speed) - 1.0).abs() < 1e-9);
        assert!((strike.impulse_ns.y / (-(1.0 + e) * strike.mass_kg * speed) - 1.0).abs() < 1e-9);
        let again = strikes[1].time_s - strikes[0].time_s;
        assert!((again / (2.0 * e * speed / G) - 1.0).abs() < 1e-6, "{u}: {again}");
    }
}

/// Hail of speed `w` on a plate that rises at `u` comes `(w + u) / w` as often, if the plate is told of step by step as a body of a simulation is, and nothing
/// passes it; told in other steps, or advanced in other cuts, the count is the same.
#[test]
fn a_plate_that_is_told_of_catches_everything() {
    let region = Region::Box { low: Vec3::new(-0.5, 0.0, -0.5), high: Vec3::new(0.5, 30.0, 0.5) };
    let cloud = Cloud {
        particles: 20_000,
        region,
        velocity_m_s: -10.0 * Vec3::Y,
        spread_m_s: 0.0,
        gravity_m_s2: Vec3::ZERO,
        bounces: 0,
        ..throw(Vec3::ZERO, Vec3::ZERO)
    };
    let count = |u: f64, step_s: f64, cuts: u32| {
        let mut hail = Simulation::new(cloud.clone(), vec![Collider::new(floor(1.0))]).unwrap();
        let mut strikes = Vec::new();
        let steps = (1.0 / step_s).round() as u32;
        for i in 0..steps {
            let from = f64::from(i) * step_s;
            hail.set_collider_pose(0, at(u * from * Vec3::Y), u * Vec3::Y, STILL).unwrap();
            (1..=cuts).for_each(|c| hail.advance(from + step_s * f64::from(c) / f64::from(cuts), &mut strikes));
        }
        assert!(strikes.windows(2).all(|w| w[0].time_s <= w[1].time_s));
        let caught = u * hail.now_s();
        assert!(hail.positions().all(|p| p.y > caught - 1e-9), "one has passed the plate");
        strikes.len()
    };
    let still = count(0.0, 1.0 / 60.0, 1);
    let expected = 20_000.0 / 30.0 * 10.0;
    assert!((still as f64 / expected - 1.0).abs() < 0.05, "{still} {expected}");
    for u in [5.0, -3.0] {
        let rising = count(u, 1.0 / 60.0, 1);
        assert!((rising as f64 / (expected * (10.0 + u) / 10.0) - 1.0).abs() < 0.05, "{u}: {rising}");
        assert_eq!(rising, count(u, 1.0 / 60.0, 7));
        assert!(rising.abs_diff(count(u, 1.0 / 480.0, 1)) <= 1);
    }
}

/// Stones that fall on a plate that swings, told of 240 times a second, stay above it, however they bounce.
#[test]
fn nothing_passes_a_plate_that_swings() {
    let cloud = Cloud {
        particles: 3000,
        region: Region::Box { low: Vec3::new(-0.8, 1.0, -0.8), high: Vec3::new(0.8, 4.0, 0.8) },
        bounces: 1000,
        restitution: 0.9,
        ..throw(Vec3::ZERO, -5.0 * Vec3::Y)
    };
    let mut hail = Simulation::new(cloud, vec![Collider::new(floor(20.0))]).unwrap();
    let (mut strikes, step_s) = (Vec::new(), 1.0 / 240.0);
    let angle = |t: f64| 0.3 * (8.0 * t).sin();
    for i in 0..480 {
        let t = f64::from(i) * step_s;
        let spin = 0.3 * 8.0 * (8.0 * t).cos() * Vec3::Z;
        hail.set_collider_pose(0, turned(Vec3::Z, angle(t)), STILL, spin).unwrap();
        hail.advance(t + step_s, &mut strikes);
    }
    let t = 480.0 * step_s;
    let up = Vec3::new(-angle(t).sin(), angle(t).cos(), 0.0);
    let below = hail.positions().map(|p| p.dot(up)).fold(f64::INFINITY, f64::min);
    println!("{} strikes, lowest {below} m", strikes.len());
    assert!(strikes.len() > 3000);
    assert!(below > -1e-3, "{below}");
}

/// A plate that spins about its axis with the speed `ω` has the velocity `ω × r` where it is struck: with nothing lost, a stone on its rim leaves as
/// if a ball had struck a wall that moves so.
#[test]
fn a_paddle_strikes_with_the_speed_of_its_rim() {
    let paddle = Shape::Quad { corner: Vec3::new(0.2, 0.0, -0.1), edges: [0.4 * Vec3::X, 0.2 * Vec3::Z] };
    let cloud = Cloud { gravity_m_s2: Vec3::ZERO, restitution: 1.0, ..throw(Vec3::new(0.5, 0.02, 0.0), STILL) };
    let mut hail = Simulation::new(cloud, vec![Collider::new(paddle)]).unwrap();
    let mut strikes = Vec::new();
    hail.set_collider_pose(0, Pose::default(), STILL, 4.0 * Vec3::Z).unwrap();
    hail.advance(0.2, &mut strikes);
    let strike = strikes[0];
    let angle = (0.02f64 / 0.5).atan();
    assert!((strike.time_s - angle / 4.0).abs() < 1e-5, "{}", strike.time_s);
    let speed = 4.0 * 0.5f64.hypot(0.02);
    assert!((strike.impulse_ns.length() / (2.0 * strike.mass_kg * speed) - 1.0).abs() < 0.01, "{}", strike.impulse_ns);
    assert!(strike.impulse_ns.y < 0.0 && strike.uv[0] > 0.7 && strike.uv[0] < 0.8);
}

/// Posed at rest, a collider is the same as one whose shape is given there: quads, spheres, cylinders; impacts agree to rounding.
#[test]
fn a_pose_is_a_shape_elsewhere() {
    let offset = Vec3::new(0.3, -0.2, 0.1);
    let turn = glam::DQuat::from_rotation_z(0.3);
    let cloud = Cloud { particles: 500, bounces: 3, regenerate: false, ..falling() };
    let shapes = |origin: Vec3, turn: glam::DQuat| {
        [
            Shape::Quad {
                corner: origin + turn * Vec3::new(-1.0, 0.0, -1.0),
                edges: [turn * Vec3::Z, turn * Vec3::X].map(|e| 2.0 * e),
            },
            Shape::Sphere { centre: origin + turn * Vec3::new(0.2, 0.5, 0.0), radius_m: 0.3 },
            Shape::Quadric {
                frame: Frame { origin: origin + turn * Vec3::new(-0.4, 0.4, 0.0), axes: Vec3::AXES.map(|a| turn * a) },
                surface: Quadric::cylinder(0.2, 0.5),
            },
        ]
    };
    let direct = run(&cloud, &shapes(offset, turn), 5.0);
    let colliders = shapes(Vec3::ZERO, glam::DQuat::IDENTITY).map(Collider::new).to_vec();
    let mut hail = Simulation::new(cloud, colliders).unwrap();
    for index in 0..3 {
        let pose = Pose { position: offset, rotation: turn.to_array() };
        hail.set_collider_pose(index, pose, STILL, STILL).unwrap();
    }
    let mut posed = Vec::new();
    hail.advance(5.0, &mut posed);
    assert!(direct.len() > 300 && posed.len() == direct.len(), "{} {}", direct.len(), posed.len());
    for (a, b) in direct.iter().zip(&posed) {
        assert_eq!((a.particle, a.collider, a.bounce), (b.particle, b.collider, b.bounce));
        assert!((a.time_s - b.time_s).abs() < 1e-6 && a.position.distance(b.position) < 1e-5, "{a:?} {b:?}");
        // Places on a sphere turn with its frame.
        let turn = if a.collider == 1 { 0.3 / std::f64::consts::TAU } else { 0.0 };
        let off = (a.uv[0] - b.uv[0] - turn + 0.5).rem_euclid(1.0) - 0.5;
        assert!(off.abs() + (a.uv[1] - b.uv[1]).abs() < 1e-4, "{a:?} {b:?}");
    }
}

/// A pose that changes nothing changes no bit, however often it is said.
#[test]
fn standing_still_is_free() {
    let (cloud, colliders) = everything();
    let pieces = |told: bool| {
        let mut hail = Simulation::new(cloud.clone(), colliders.clone()).unwrap();
        let mut strikes = Vec::new();
        for i in 1..=300 {
            for index in 0..if told { colliders.len() } else { 0 } {
                hail.set_collider_pose(index, Pose::default(), STILL, STILL).unwrap();
            }
            hail.advance(0.01 * f64::from(i), &mut strikes);
        }
        strikes
    };
    assert_eq!(pieces(false), pieces(true));
}

/// Everything moves, comes and goes; how time is cut in between, and a clone half-way, change no bit; impacts stay in order.
#[test]
fn moving_hail_depends_on_the_calls_and_not_on_the_cuts() {
    let (cloud, colliders) = everything();
    let meddle = |hail: &mut Simulation, i: u32| {
        let t = f64::from(i) / 60.0;
        let lift = Pose { position: 0.2 * t.sin() * Vec3::Y, ..turned(Vec3::X, 0.3 * t) };
        hail.set_collider_pose(2, lift, 0.2 * t.cos() * Vec3::Y, 0.3 * Vec3::X).unwrap();
        if i.is_multiple_of(20) {
            hail.set_collider_pose(1, at(0.01 * f64::from(i) * Vec3::X), STILL, STILL).unwrap();
        }
        match i % 50 {
            10 => assert_eq!(hail.add_collider(Collider::new(Shape::disc(0.5 * Vec3::Y, Vec3::Y, 0.4))), Ok(5)),
            25 => hail.set_collider_pose(5, Pose::default(), 0.3 * Vec3::Y, STILL).unwrap(),
            40 => hail.remove_collider(5).unwrap(),
            45 => {
                let gravity_m_s2 = Vec3::new(0.1 * f64::from(i % 7), -9.0, 0.0);
                let cloud = Cloud { gravity_m_s2, spread_m_s: 0.2, ..hail.cloud().clone() };
                hail.set_cloud(cloud).unwrap();
            }
            _ => {}
        }
    };
    let pieces = |cuts: u32, clone: bool| {
        let mut hail = Simulation::new(cloud.clone(), colliders.clone()).unwrap();
        let mut strikes = Vec::new();
        for i in 0..180 {
            meddle(&mut hail, i);
            for c in 1..=cuts {
                hail.advance((f64::from(i) + f64::from(c) / f64::from(cuts)) / 60.0, &mut strikes);
            }
            if clone && i == 90 {
                hail = hail.clone();
            }
        }
        strikes
    };
    let whole = pieces(1, false);
    assert!(whole.len() > 3000, "{}", whole.len());
    assert!(whole.windows(2).all(|w| w[0].time_s <= w[1].time_s));
    for collider in [0, 2, 5] {
        assert!(whole.iter().any(|s| s.collider == collider), "{collider} is struck");
    }
    // 3 and 7 parts of a 60th of a second do not end on the same bits; halves do.
    assert_eq!(whole, pieces(2, true));
    assert_eq!(whole, pieces(4, false));
}

/// A collider under the hail takes what the floor would have had; once it is gone the floor has it again. Its index is used again.
#[test]
fn colliders_come_and_go() {
    let cloud = Cloud { particles: 400, spread_m_s: 0.0, bounces: 0, ..falling() };
    let mut hail = Simulation::new(cloud, vec![Collider::new(floor(3.0))]).unwrap();
    let mut strikes = Vec::new();
    hail.advance(2.0, &mut strikes);
    let roof = hail.add_collider(Collider::new(Shape::disc(Vec3::Y, Vec3::Y, 3.0))).unwrap();
    assert_eq!(roof, 1);
    strikes.clear();
    hail.advance(4.0, &mut strikes);
    let late = |collider, from: f64| strikes.iter().filter(move |s| s.collider == collider && s.time_s > from).count();
    // Who was below the roof when it came still falls on the floor, for the last metre.
    assert!(late(0, 2.1) == 0 && late(1, 2.1) > 300, "{} {}", late(0, 2.1), late(1, 2.1));
    hail.remove_collider(roof).unwrap();
    assert!(!hail.contains_collider(roof) && hail.contains_collider(0));
    strikes.clear();
    hail.advance(6.0, &mut strikes);
    assert!(strikes.iter().all(|s| s.collider == 0) && strikes.len() > 300);
    assert!(hail.remove_collider(roof).is_err() && hail.remove_collider(77).is_err());
    assert_eq!(hail.add_collider(Collider::new(Shape::disc(Vec3::Y, Vec3::Y, 3.0))), Ok(1));
    assert!(hail.add_collider(Collider::new(Shape::Sphere { centre: Vec3::ZERO, radius_m: -1.0 })).is_err());
    assert!(hail.set_collider_pose(0, at(Vec3::NAN), STILL, STILL).is_err());
    assert!(hail.set_collider_pose(0, Pose { rotation: [0.0; 4], ..Pose::default() }, STILL, STILL).is_err());
    assert!(hail.set_collider_pose(9, Pose::default(), STILL, STILL).is_err());
}

/// What leaps strikes nobody: a table that is put elsewhere is elsewhere.
#[test]
fn a_leap_strikes_nobody() {
    let cloud = Cloud { particles: 1000, onset_s: 0.0, bounces: 0, regenerate: false, ..falling() };
    let mut hail = Simulation::new(cloud, vec![Collider::new(floor(3.0))]).unwrap();
    let mut strikes = Vec::new();
    hail.advance(0.2, &mut strikes);
    assert!(strikes.is_empty());
    hail.set_collider_pose(0, at(20.0 * Vec3::Y), STILL, STILL).unwrap();
    hail.advance(0.21, &mut strikes);
    assert!(strikes.is_empty(), "the table went through the cloud, and struck {}", strikes.len());
}

/// Mass, velocity, spread and law of what starts from now on.
#[test]
fn the_cloud_can_be_changed_while_it_hails() {
    let cloud = Cloud { bounces: 0, ..falling() };
    let mut hail = Simulation::new(cloud.clone(), vec![Collider::new(floor(20.0))]).unwrap();
    let mut strikes = Vec::new();
    hail.advance(2.0, &mut strikes);
    let heavy = Cloud {
        mass_kg: [0.1, 0.2],
        velocity_m_s: Vec3::new(3.0, -10.0, 0.0),
        energy: EnergyLaw::Kinetic,
        spread_m_s: 0.0,
        ..cloud
    };
    hail.set_cloud(heavy.clone()).unwrap();
    hail.advance(4.0, &mut strikes);
    let before = strikes.iter().filter(|s| s.time_s < 2.0);
    assert!(before.clone().count() > 1000 && before.clone().all(|s| s.mass_kg <= 5e-3));
    let mut after = strikes.iter().filter(|s| s.time_s > 3.0);
    assert!(after.clone().count() > 1000);
    // From 4 to 5 m at 10 m/s: ½ m (v² + 2 g h).
    assert!(after.all(|s| {
        let e = s.energy_j / (0.5 * s.mass_kg);
        (0.1..=0.2).contains(&s.mass_kg) && (100.0 + 8.0 * G - 1e-6..=100.0 + 10.0 * G + 1e-6).contains(&e)
    }));
    assert!(hail.set_cloud(Cloud { restitution: 2.0, ..heavy.clone() }).is_err());
    assert_eq!(hail.cloud().restitution, heavy.restitution);
}
