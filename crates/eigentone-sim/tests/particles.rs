//! Hail against closed forms: when, where and how hard.

#[path = "particles/moving.rs"]
mod moving;
#[path = "particles/times.rs"]
mod times;

use eigentone_core::Vec3;
use eigentone_sim::particles::{
    Cloud, Collider, EnergyLaw, Frame, Impact, ImpactMap, ParticleError, Quadric, Region, Shape, Simulation,
};

const G: f64 = 9.81;

/// The default cloud, turned so that `y` is up, as it is for all shapes here.
fn falling() -> Cloud {
    Cloud {
        region: Region::Box { low: Vec3::new(-1.0, 4.0, -1.0), high: Vec3::new(1.0, 5.0, 1.0) },
        velocity_m_s: -10.0 * Vec3::Y,
        gravity_m_s2: -G * Vec3::Y,
        ..Cloud::default()
    }
}

/// One particle that starts at a point with a velocity at time 0 and ends at its first impact.
fn throw(from: Vec3, velocity: Vec3) -> Cloud {
    Cloud {
        particles: 1,
        region: Region::Box { low: from, high: from },
        velocity_m_s: velocity,
        spread_m_s: 0.0,
        energy: EnergyLaw::Kinetic,
        bounces: 0,
        regenerate: false,
        onset_s: 0.0,
        ..falling()
    }
}

fn run(cloud: &Cloud, shapes: &[Shape], until_s: f64) -> Vec<Impact> {
    let colliders = shapes.iter().cloned().map(Collider::new).collect();
    let mut impacts = Vec::new();
    Simulation::new(cloud.clone(), colliders).expect("a scene").advance(until_s, &mut impacts);
    impacts
}

/// A level square around the origin.
fn floor(half_m: f64) -> Shape {
    Shape::Quad { corner: Vec3::new(-half_m, 0.0, -half_m), edges: [2.0 * half_m * Vec3::Z, 2.0 * half_m * Vec3::X] }
}

/// Dropped from `h`, the n-th bounce lasts `2 eⁿ √(2gh)/g` and rises to `e²ⁿ h`; the energies go the same way.
#[test]
fn bounces_rise_to_the_restitution_squared() {
    let (e, height) = (0.7, 1.5);
    let cloud = Cloud { restitution: e, bounces: 8, ..throw(height * Vec3::Y, 0.2 * Vec3::X) };
    let strikes = run(&cloud, &[floor(5.0)], 20.0);
    assert_eq!(strikes.len(), 9);
    for (n, pair) in strikes.windows(2).enumerate() {
        let lasts = pair[1].time_s - pair[0].time_s;
        let rises = G * lasts * lasts / 8.0;
        let power = e.powi(2 * (n as i32 + 1));
        assert!((rises / (power * height) - 1.0).abs() < 1e-9, "bounce {n} rises to {rises}");
        assert!((pair[1].energy_j / strikes[0].energy_j - power).abs() < 1e-9);
        assert_eq!(pair[1].bounce as usize, n + 1);
        // Nothing holds it sideways.
        assert!((pair[1].position.x - 0.2 * pair[1].time_s).abs() < 1e-9);
    }
}

/// Rebounds of `eⁿ √(2gh)` until one is slower than 1 mm/s: a countable number, also at 1000 km where places are rounded to 0.1 nm.
#[test]
fn a_ball_comes_to_rest_on_the_floor_and_not_below_it() {
    let (e, up, far) = (0.5f64, Vec3::new(1.0, 2.0, 0.5).normalize(), Vec3::new(1e6, 2e6, -1e6));
    let floor = [Shape::disc(far, up, 1.0)];
    for height in (0..20).map(|i| 1.0 + 0.05 * f64::from(i)) {
        let from = far + height * up + 0.2 * height * up.any_orthonormal_vector();
        let cloud = Cloud { restitution: e, bounces: 100, gravity_m_s2: -G * up, ..throw(from, Vec3::ZERO) };
        let strikes = run(&cloud, &floor, 20.0);
        let slowing = (1e-3 / (2.0 * G * height).sqrt()).ln() / e.ln();
        assert_eq!(strikes.len(), slowing.ceil() as usize, "from {height} m");
        let rest = (2.0 * height / G).sqrt() * (1.0 + 2.0 * e / (1.0 - e));
        assert!((strikes.last().unwrap().time_s - rest).abs() < 1e-3, "from {height} m");
    }
}

/// Kinetic: what the collider gets is what the particle loses, `J = m (v − v′) = (1+e) m vₙ`; drawn: `J = (1+e) √(2mE)`.
#[test]
fn the_impulse_is_the_momentum_that_the_particle_loses() {
    let e = 0.4;
    let cloud = Cloud { restitution: e, ..throw(Vec3::Y, Vec3::X) };
    let normal = Vec3::new(-1.0, 2.0, 0.0).normalize();
    let slope = Shape::disc(Vec3::ZERO, normal, 3.0);
    let strike = run(&cloud, std::slice::from_ref(&slope), 5.0)[0];
    let velocity = Vec3::new(1.0, -G * strike.time_s, 0.0);
    let expected = (1.0 + e) * strike.mass_kg * velocity.dot(normal) * normal;
    assert!((strike.impulse_ns - expected).length() < 1e-12 * expected.length());

    let drawn = run(&Cloud { energy: EnergyLaw::default(), ..cloud }, &[slope], 5.0)[0];
    let expected = (1.0 + e) * (2.0 * drawn.mass_kg * drawn.energy_j).sqrt();
    assert!((drawn.impulse_ns + expected * normal).length() < 1e-12 * expected);
}

/// With `slide` the tangential velocity is multiplied at every bounce: the second lands `slide · v · T` further.
#[test]
fn friction_takes_its_share_of_the_tangential_velocity() {
    let cloud = Cloud { restitution: 0.5, slide: 0.6, bounces: 1, ..throw(Vec3::Y, Vec3::X) };
    let strikes = run(&cloud, &[floor(5.0)], 5.0);
    let lasts = strikes[1].time_s - strikes[0].time_s;
    assert!((strikes[1].position.x - strikes[0].position.x - 0.6 * lasts).abs() < 1e-12);
}

/// First impacts of 100,000 stones, sorted into ten classes by `class(E) ∈ [0, 1]`, which the law makes uniform.
fn deciles(energy: EnergyLaw, class: impl Fn(f64) -> f64) -> [usize; 10] {
    let cloud = Cloud { particles: 100_000, energy, bounces: 0, regenerate: false, ..falling() };
    let strikes = run(&cloud, &[floor(20.0)], 5.0);
    assert_eq!(strikes.len(), 100_000);
    let mut counts = [0; 10];
    for strike in strikes {
        let place = class(strike.energy_j);
        assert!((-1e-9..=1.0 + 1e-9).contains(&place), "outside the law's range: {}", strike.energy_j);
        counts[((place * 10.0) as usize).min(9)] += 1;
    }
    counts
}

/// `p(E) ∝ 1/E` is uniform in `ln E`; a decile of 10⁵ has a standard deviation of 0.95 %.
#[test]
fn hail_energies_are_log_uniform() {
    let law = EnergyLaw::InverseE { most_j: 0.25, ratio: 1000.0 };
    let counts = deciles(law, |e| (e / 0.25).ln() / 1000f64.ln() + 1.0);
    assert!(counts.iter().all(|&n| n.abs_diff(10_000) < 500), "{counts:?}");
}

#[test]
fn box_energies_are_uniform() {
    let counts = deciles(EnergyLaw::Box { most_j: 0.25, ratio: 1000.0 }, |e| (e / 0.25 - 1e-3) / (1.0 - 1e-3));
    assert!(counts.iter().all(|&n| n.abs_diff(10_000) < 500), "{counts:?}");
}

/// After one bounce on the level `e²` of the drawn energy is left.
#[test]
fn drawn_energies_fade_with_the_bounces() {
    let cloud = Cloud { energy: EnergyLaw::default(), bounces: 1, restitution: 0.5, ..throw(Vec3::Y, Vec3::ZERO) };
    let strikes = run(&cloud, &[floor(1.0)], 5.0);
    assert!((strikes[1].energy_j / strikes[0].energy_j - 0.25).abs() < 1e-12);
}

/// A table of 2 × 1 m with a plate in a corner (part 3) and another model on its right half (part 1).
#[test]
fn the_place_of_an_impact_chooses_the_part() {
    let table = Shape::Quad { corner: Vec3::ZERO, edges: [2.0 * Vec3::X, Vec3::Z] };
    let table = Collider::new(table).with_part([0.6, 0.8], [0.1, 0.5], 3).with_part([0.5, 1.0], [0.0, 1.0], 1);
    for (x, z, part) in [(0.3, 0.3, 0), (1.4, 0.3, 3), (1.4, 0.7, 1), (1.99, 0.99, 1), (1.1, 0.05, 1)] {
        let mut hail = Simulation::new(throw(Vec3::new(x, 1.0, z), Vec3::ZERO), vec![table.clone()]).unwrap();
        let mut strikes = Vec::new();
        hail.advance(2.0, &mut strikes);
        assert_eq!(strikes[0].part, part, "at {x}, {z}");
        assert!((strikes[0].uv[0] - x / 2.0).abs() + (strikes[0].uv[1] - z).abs() < 1e-12);
    }
}

#[test]
fn the_map_keeps_the_stronger_impact_and_adds_up_the_energy() {
    let impact = |time_s, energy_j, uv, collider| {
        let strike = run(&throw(Vec3::Y, Vec3::ZERO), &[floor(1.0)], 1.0)[0];
        Impact { time_s, energy_j, uv, collider, ..strike }
    };
    let mut map = ImpactMap::new(2, 8, 4).unwrap().with_totals();
    map.clear(1.0);
    map.record(&impact(1.001, 0.5, [0.3, 0.6], 1));
    map.record(&impact(1.002, 2.0, [0.3, 0.6], 1));
    map.record(&impact(1.003, 1.0, [0.3, 0.6], 1));
    map.record(&impact(1.003, 1.0, [1.0, 1.0], 0));
    map.record(&impact(1.003, 1.0, [0.0, 0.0], 7));
    let cell = map.cell(1, 2, 2).expect("struck");
    assert_eq!((cell.collider, cell.energy_j), (1, 2.0));
    assert!((cell.offset_s - 0.002).abs() < 1e-6);
    assert_eq!(map.totals_j(1)[2 * 8 + 2], 3.5);
    assert!(map.cell(0, 7, 3).is_some() && map.cell(0, 8, 3).is_none());
    assert_eq!(map.cells(0).iter().chain(map.cells(1)).flatten().count(), 2);
    map.clear(2.0);
    assert!(map.cells(1).iter().all(Option::is_none) && map.totals_j(1)[18] == 3.5);
}

#[test]
fn regeneration_keeps_the_number_in_flight() {
    for (regenerate, left) in [(true, 500), (false, 0)] {
        let cloud = Cloud { particles: 500, regenerate, ..falling() };
        let shapes = [floor(0.6), Shape::Sphere { centre: Vec3::Y, radius_m: 0.4 }];
        let mut hail = Simulation::new(cloud, shapes.map(Collider::new).to_vec()).unwrap();
        let mut strikes = Vec::new();
        hail.advance(0.5, &mut strikes);
        assert!(hail.in_flight() > 300);
        for step in 1..50 {
            hail.advance(0.5 + 0.3 * f64::from(step), &mut strikes);
            if regenerate {
                // The few that ended sooner than a flight may be have a millisecond to wait.
                assert!(hail.in_flight() >= 499);
            }
        }
        assert!(hail.in_flight().abs_diff(left) <= 1 && hail.positions().count() == hail.in_flight());
    }
}

/// A scene with everything in it, and enough bounces between its colliders.
fn everything() -> (Cloud, Vec<Collider>) {
    let shapes = [
        floor(1.0),
        Shape::Disc { centre: 0.02 * Vec3::Y, axes: [0.4 * Vec3::X, 0.2 * Vec3::Z] },
        Shape::Sphere { centre: Vec3::new(0.5, 0.8, 0.0), radius_m: 0.3 },
        Shape::Cylinder { base: Vec3::new(-0.5, 0.0, 0.2), axis: 0.4 * Vec3::Y, radius_m: 0.2 },
        // Coplanar with the floor: the first of two at the same place counts.
        Shape::disc(Vec3::ZERO, Vec3::Y, 0.5),
    ];
    (Cloud { particles: 2000, bounces: 5, restitution: 0.6, seed: 7, ..falling() }, shapes.map(Collider::new).to_vec())
}

#[test]
fn impacts_depend_on_the_seed_and_not_on_the_cuts() {
    let (cloud, colliders) = everything();
    let pieces = |cloud: &Cloud, count: u32| {
        let mut hail = Simulation::new(cloud.clone(), colliders.clone()).unwrap();
        let mut strikes = Vec::new();
        for i in 1..=count {
            hail.advance(4.0 * f64::from(i) / f64::from(count), &mut strikes);
        }
        strikes
    };
    let whole = pieces(&cloud, 1);
    assert!(whole.len() > 5000, "{}", whole.len());
    assert!(whole.windows(2).all(|w| (w[0].time_s, w[0].particle) < (w[1].time_s, w[1].particle)));
    assert!((0..4).all(|i| whole.iter().any(|s| s.collider == i)), "every collider is struck");
    for count in [1, 7, 1000] {
        assert_eq!(whole, pieces(&cloud, count), "{count} pieces");
    }
    assert_ne!(whole, pieces(&Cloud { seed: 8, ..cloud }, 1));
}

/// Nothing passes through a wall, however often it bounces: an elastic hail stays inside a room, and inside a ball.
#[test]
fn closed_surfaces_hold_what_is_inside() {
    let walls = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|axis| {
        let (x, y) = axis.any_orthonormal_pair();
        [-1.0, 1.0].map(|side| Shape::Quad { corner: side * axis - x - y, edges: [2.0 * x, 2.0 * y] })
    });
    let inside = Region::Box { low: Vec3::splat(-0.3), high: Vec3::splat(0.3) };
    let cloud = Cloud {
        particles: 300,
        region: inside,
        velocity_m_s: Vec3::ZERO,
        spread_m_s: 5.0,
        restitution: 1.0,
        bounces: 1000,
        ..throw(Vec3::ZERO, Vec3::ZERO)
    };
    type Room = (Vec<Shape>, fn(Vec3) -> f64);
    let rooms: [Room; 2] = [
        (walls.collect(), |p| p.abs().max_element()),
        (vec![Shape::Sphere { centre: Vec3::ZERO, radius_m: 1.0 }], Vec3::length),
    ];
    for (shapes, reach) in rooms {
        let mut hail = Simulation::new(cloud.clone(), shapes.into_iter().map(Collider::new).collect()).unwrap();
        let mut strikes = Vec::new();
        hail.advance(20.0, &mut strikes);
        assert!(strikes.len() > 10_000, "{}", strikes.len());
        assert_eq!(hail.in_flight(), 300);
        assert!(hail.positions().all(|p| reach(p) < 1.0 + 1e-9));
    }
}

/// Twice the stones, twice the impacts; counts of n have a spread of √n.
#[test]
fn heavier_clouds_strike_in_proportion() {
    let count = |particles| {
        let cloud = Cloud { particles, bounces: 0, ..falling() };
        run(&cloud, &[floor(0.5)], 10.0).len() as f64
    };
    let (one, four) = (count(1000), count(4000));
    assert!((four / one / 4.0 - 1.0).abs() < 5.0 * (1.0 / one + 1.0 / four).sqrt(), "{one} {four}");
}

/// The user's cloud: it moves, and its density changes while it hails.
#[test]
fn the_cloud_can_be_moved_and_thinned_while_it_hails() {
    let cloud = Cloud { particles: 400, spread_m_s: 0.0, ..falling() };
    let mut hail = Simulation::new(cloud, vec![Collider::new(floor(20.0))]).unwrap();
    let mut strikes = Vec::new();
    hail.advance(3.0, &mut strikes);
    assert!(strikes.iter().all(|s| s.position.x.abs() <= 1.0));
    hail.place_cloud(Region::Disc { centre: Vec3::new(10.0, 5.0, 0.0), normal: Vec3::Y, radius_m: 0.5 }).unwrap();
    hail.set_particles(100).unwrap();
    hail.advance(8.0, &mut strikes);
    assert_eq!(hail.in_flight(), 100);
    hail.set_particles(600).unwrap();
    strikes.clear();
    hail.advance(12.0, &mut strikes);
    assert_eq!(hail.in_flight(), 600);
    assert!(strikes.iter().all(|s| s.position.distance(10.0 * Vec3::X) <= 0.5 + 1e-9));
    assert!(hail.set_particles(0).is_err());
}

/// A cloud in the plane of a collider, without motion, or leaving at once must not stop the clock.
#[test]
fn degenerate_flights_come_to_an_end() {
    let on_floor = Cloud { regenerate: true, ..throw(Vec3::ZERO, Vec3::ZERO) };
    let still = Cloud { gravity_m_s2: Vec3::ZERO, ..on_floor.clone() };
    let away = Cloud { gravity_m_s2: Vec3::ZERO, ..Cloud { velocity_m_s: 1e9 * Vec3::Y, ..on_floor.clone() } };
    for cloud in [on_floor, still, away] {
        assert!(run(&cloud, &[floor(1.0)], 100.0).is_empty());
    }
    let mut nothing = Simulation::new(falling(), Vec::new()).unwrap();
    let mut strikes = Vec::new();
    nothing.advance(f64::NAN, &mut strikes);
    nothing.advance(f64::INFINITY, &mut strikes);
    assert_eq!(nothing.now_s(), 0.0);
    nothing.advance(10.0, &mut strikes);
    assert!(strikes.is_empty() && nothing.in_flight() > 990);
}

#[test]
fn bad_settings_are_refused_by_name() {
    let default = falling;
    let nan_disc = Region::Disc { centre: Vec3::ZERO, normal: Vec3::ZERO, radius_m: 1.0 };
    let clouds = [
        (Cloud { particles: 0, ..default() }, "number of particles is 0"),
        (Cloud { particles: 10_000_001, ..default() }, "number of particles"),
        (Cloud { restitution: 1.1, ..default() }, "restitution is 1.1"),
        (Cloud { restitution: f64::NAN, ..default() }, "restitution is NaN"),
        (Cloud { mass_kg: [0.0, 1.0], ..default() }, "smallest mass"),
        (Cloud { mass_kg: [2.0, 1.0], ..default() }, "largest mass"),
        (Cloud { velocity_m_s: Vec3::NAN, ..default() }, "velocity"),
        (Cloud { gravity_m_s2: Vec3::INFINITY, ..default() }, "gravity"),
        (Cloud { onset_s: -1.0, ..default() }, "onset"),
        (Cloud { bounces: 1001, ..default() }, "bounces"),
        (Cloud { region: nan_disc, ..default() }, "normal of the cloud"),
        (Cloud { energy: EnergyLaw::Box { most_j: 1.0, ratio: 0.5 }, ..default() }, "ratio"),
        (Cloud { energy: EnergyLaw::InverseE { most_j: 0.0, ratio: 10.0 }, ..default() }, "energy"),
    ];
    for (cloud, message) in clouds {
        let error = Simulation::new(cloud, Vec::new()).expect_err(message).to_string();
        assert!(error.contains(message), "{error}");
    }
    let flat = Quadric { high: Vec3::new(1.0, 1.0, 0.0), ..Quadric::cylinder(1.0, 1.0) };
    let shapes = [
        Shape::Quad { corner: Vec3::ZERO, edges: [Vec3::X, 2.0 * Vec3::X] },
        Shape::Quad { corner: Vec3::NAN, edges: [Vec3::X, Vec3::Y] },
        Shape::disc(Vec3::ZERO, Vec3::ZERO, 1.0),
        Shape::disc(Vec3::ZERO, Vec3::Y, 0.0),
        Shape::Sphere { centre: Vec3::ZERO, radius_m: -1.0 },
        Shape::Cylinder { base: Vec3::ZERO, axis: Vec3::ZERO, radius_m: 1.0 },
        Shape::Quadric { frame: Frame::at(Vec3::ZERO), surface: flat },
        Shape::Quadric {
            frame: Frame { axes: [Vec3::X; 3], ..Frame::at(Vec3::ZERO) },
            surface: Quadric::cylinder(1.0, 1.0),
        },
    ];
    for shape in shapes {
        let colliders = vec![Collider::new(floor(1.0)), Collider::new(shape.clone())];
        let error = Simulation::new(falling(), colliders).expect_err("degenerate");
        assert!(matches!(error, ParticleError::Collider { index: 1, .. }), "{shape:?}: {error}");
    }
    assert!(ImpactMap::new(1, 0, 4).is_err() && ImpactMap::new(usize::MAX, 64, 64).is_err());
}
