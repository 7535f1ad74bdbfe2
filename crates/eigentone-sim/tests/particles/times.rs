//! When and where: against closed forms, and against bisection of the implicit functions.

use super::{G, floor, run, throw};
use eigentone_core::Vec3;
use eigentone_sim::particles::{Cloud, Frame, Quadric, Shape};

/// Where a throw is at a time.
fn flown(from: Vec3, velocity: Vec3, t: f64) -> Vec3 {
    from + velocity * t - 0.5 * G * t * t * Vec3::Y
}

/// The first change of sign in steps of 1 µs, then bisection: nothing in common with the solver.
fn first_crossing(f: impl Fn(f64) -> f64, until: f64) -> Option<f64> {
    let step = 1e-6;
    let before = (0..(until / step) as usize).map(|i| i as f64 * step).find(|&t| f(t) * f(t + step) < 0.0)?;
    let (mut low, mut high) = (before, before + step);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(low) * f(middle) <= 0.0 { high = middle } else { low = middle }
    }
    Some(0.5 * (low + high))
}

/// From rest: `t = √(2h/g)`. Onto the slope `y = k x`: `h + (v_y − k v_x) t − ½gt² = 0`.
#[test]
fn a_plane_is_struck_when_the_quadratic_says() {
    let fall = run(&throw(2.0 * Vec3::Y, Vec3::ZERO), &[floor(1.0)], 5.0);
    assert!((fall[0].time_s - (2.0 * 2.0 / G).sqrt()).abs() < 1e-12);

    let (k, height, vx, vy) = (0.5, 3.0, 1.2, 2.0);
    let slope =
        Shape::Quad { corner: Vec3::new(-4.0, -4.0 * k, -1.0), edges: [Vec3::new(8.0, 8.0 * k, 0.0), 2.0 * Vec3::Z] };
    let strikes = run(&throw(height * Vec3::Y, Vec3::new(vx, vy, 0.0)), &[slope], 5.0);
    let rise = vy - k * vx;
    let expected = (rise + (rise * rise + 2.0 * G * height).sqrt()) / G;
    assert!((strikes[0].time_s - expected).abs() < 1e-12, "{} {expected}", strikes[0].time_s);
    let normal = Vec3::new(-k, 1.0, 0.0).normalize();
    assert!((strikes[0].normal - normal).length() < 1e-12);
}

/// Thrown up against a ceiling, the first of the two roots counts, and the normal points down.
#[test]
fn the_underside_of_a_quad_is_struck_too() {
    let (speed, height) = (8.0, 2.0);
    let strikes = run(&throw(-height * Vec3::Y, speed * Vec3::Y), &[floor(1.0)], 5.0);
    let expected = (speed - (speed * speed - 2.0 * G * height).sqrt()) / G;
    assert!((strikes[0].time_s - expected).abs() < 1e-12);
    assert_eq!(strikes[0].normal, -Vec3::Y);
}

#[test]
fn an_ellipse_is_struck_inside_its_rim_only_and_at_the_time_of_its_plane() {
    let (a, b, height, k) = (0.4, 0.1, 2.5, 0.3);
    // Tilted: y = k x, so that the half axis along x is a·(1, k, 0).
    let disc = Shape::Disc { centre: Vec3::ZERO, axes: [a * Vec3::new(1.0, k, 0.0), b * Vec3::Z] };
    for angle in (0..32).map(|i| 0.1 + f64::from(i) * 0.196) {
        for (share, inside) in [(0.3, true), (0.999_999, true), (1.000_001, false)] {
            let (x, z) = (share * a * f64::cos(angle), share * b * f64::sin(angle));
            let strikes = run(&throw(Vec3::new(x, height, z), Vec3::ZERO), std::slice::from_ref(&disc), 5.0);
            assert_eq!(strikes.len(), usize::from(inside), "{share} at {angle}");
            for strike in strikes {
                let expected = (2.0 * (height - k * x) / G).sqrt();
                assert!((strike.time_s - expected).abs() < 1e-12);
                let uv = [0.5 * (x / a + 1.0), 0.5 * (z / b + 1.0)];
                assert!((strike.uv[0] - uv[0]).abs() + (strike.uv[1] - uv[1]).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_sphere_is_struck_when_the_distance_to_its_centre_is_its_radius() {
    let (centre, radius_m) = (Vec3::new(1.0, 0.5, -0.2), 0.3);
    let mut hits = 0;
    for i in 0..40 {
        let velocity = Vec3::new(1.5, 4.0 - 0.2 * f64::from(i), -0.3);
        let from = Vec3::new(0.0, 1.0, 0.0);
        let strikes = run(&throw(from, velocity), &[Shape::Sphere { centre, radius_m }], 3.0);
        let expected = first_crossing(|t| flown(from, velocity, t).distance(centre) - radius_m, 1.5);
        assert_eq!(strikes.len(), usize::from(expected.is_some()), "throw {i}");
        for (strike, expected) in strikes.iter().zip(expected) {
            assert!((strike.time_s - expected).abs() < 1e-9, "throw {i}: {} {expected}", strike.time_s);
            assert!((strike.normal - (strike.position - centre) / radius_m).length() < 1e-9);
            hits += 1;
        }
    }
    assert!(hits > 10 && hits < 40, "the throws test hits and misses: {hits}");
}

/// Straight down on the pole, where the sphere touches its box: `t = √(2(h − r)/g)`.
#[test]
fn the_pole_of_a_sphere_is_not_clipped_away() {
    for centre in [Vec3::ZERO, Vec3::new(0.1, 0.7, 0.3)] {
        let strikes = run(&throw(centre + 3.0 * Vec3::Y, Vec3::ZERO), &[Shape::Sphere { centre, radius_m: 0.1 }], 5.0);
        assert!((strikes[0].time_s - (2.0 * 2.9 / G).sqrt()).abs() < 1e-12);
    }
}

/// A throw whose top dips into a sphere from below by `d` meets it at `t_top − √(2d/g)`, and twice within `2√(2d/g)`; so does a
/// straight line that passes `d` below the top of a sphere, at `x = −√(r² − (r−d)²)`.
#[test]
fn grazing_impacts_are_found() {
    let radius_m = 0.5;
    for depth in [1e-3, 1e-6, 1e-9, 1e-11] {
        let speed = 4.0;
        let bottom = speed * speed / (2.0 * G) - depth;
        let ball = Shape::Sphere { centre: (bottom + radius_m) * Vec3::Y, radius_m };
        let strikes = run(&throw(Vec3::ZERO, speed * Vec3::Y), &[ball, floor(1.0)], 0.5);
        let expected = speed / G - (2.0 * depth / G).sqrt();
        assert!((strikes[0].time_s - expected).abs() < 1e-7, "{depth}: {} {expected}", strikes[0].time_s);

        let from = Vec3::new(-2.0, radius_m - depth, 0.0);
        let line = Cloud { gravity_m_s2: Vec3::ZERO, ..throw(from, 3.0 * Vec3::X) };
        let strikes = run(&line, &[Shape::Sphere { centre: Vec3::ZERO, radius_m }], 5.0);
        let expected = (2.0 - (depth * (2.0 * radius_m - depth)).sqrt()) / 3.0;
        assert!((strikes[0].time_s - expected).abs() < 1e-7, "{depth}: {} {expected}", strikes[0].time_s);
    }
}

/// A lying cylinder, a leaning ellipsoid and a bowl `y = x² + z²`, against their implicit functions.
#[test]
fn quadrics_are_struck_where_their_functions_vanish() {
    let axis = Vec3::new(0.3, 0.1, 1.0).normalize();
    let cylinder = Shape::Cylinder { base: -axis, axis: 2.0 * axis, radius_m: 0.25 };
    let frame = Frame::along(Vec3::new(0.1, 0.0, 0.0), Vec3::new(1.0, 2.0, 3.0));
    let radii = Vec3::new(0.5, 0.3, 0.2);
    let ellipsoid = Shape::Quadric { frame, surface: Quadric::ellipsoid(radii) };
    let bowl = Quadric {
        a: [Vec3::X, Vec3::ZERO, Vec3::Z],
        b: -Vec3::Y,
        c: 0.0,
        low: Vec3::new(-1.0, -0.5, -1.0),
        high: Vec3::new(1.0, 0.5, 1.0),
    };
    let bowl = Shape::Quadric { frame: Frame::at(Vec3::ZERO), surface: bowl };
    type Function<'a> = &'a dyn Fn(Vec3) -> f64;
    let round: Function = &|p| (p - axis * axis.dot(p)).length() - 0.25;
    let egg: Function = &|p| {
        let own = frame.axes.map(|a| a.dot(p - frame.origin));
        (0..3).map(|i| (own[i] / radii[i]).powi(2)).sum::<f64>() - 1.0
    };
    let cup: Function = &|p| p.y - p.x * p.x - p.z * p.z;
    for (shape, function) in [(cylinder, round), (ellipsoid, egg), (bowl, cup)] {
        for i in 0..12 {
            let from = Vec3::new(-0.6 + 0.05 * f64::from(i), 2.0, 0.07);
            let velocity = Vec3::new(0.6, -0.5 + 0.1 * f64::from(i), 0.02);
            let strikes = run(&throw(from, velocity), std::slice::from_ref(&shape), 3.0);
            let expected = first_crossing(|t| function(flown(from, velocity, t)), 1.2);
            assert_eq!(strikes.len(), usize::from(expected.is_some()), "{shape:?} {i}");
            for (strike, expected) in strikes.iter().zip(expected) {
                assert!((strike.time_s - expected).abs() < 1e-9, "{shape:?} {i}: {} {expected}", strike.time_s);
            }
        }
    }
}
