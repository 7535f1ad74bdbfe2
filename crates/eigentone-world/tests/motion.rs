//! What was kept is gone on from bit for bit; what was removed comes back under its key; time can be slowed and stopped.

mod common;

use common::{bar, listen, peak, random_model};
use eigentone_core::contact::ContactFrame;
use eigentone_sim::particles::{Cloud, Collider, EnergyLaw, Region, Shape as HailShape};
use eigentone_world::{
    Body, BodyKey, Change, EventKind, HailCollider, HailSettings, Pose, Settings, Shape, Strike, Surface, Vec3, World,
};

fn heap() -> (World, eigentone_world::AudioOut, Vec<BodyKey>) {
    let (mut world, out) = World::new(Settings { max_bodies: 64, ..Settings::offline() }).unwrap();
    world.insert(Body::fixed(Shape::floor()).surface("brick")).unwrap();
    let mut keys = Vec::new();
    for n in 0..12 {
        let shape = match n % 4 {
            0 => Shape::cuboid(Vec3::new(0.1, 0.06, 0.04)),
            1 => Shape::sphere(0.04),
            2 => Shape::ring(0.05, 0.006),
            _ => Shape::cylinder(0.03, 0.1),
        };
        let at = Vec3::new(0.05 * f64::from(n % 3), 0.04 * f64::from(n % 2), 0.2 + 0.12 * f64::from(n));
        let body = Body::dynamic(shape).model(random_model(20, n as u64)).surface("wood").position(at);
        keys.push(world.insert(body.spin(Vec3::new(1.0, 2.0, 0.5)).mass(0.3)).unwrap());
    }
    let shape = HailShape::disc(Vec3::Z * 0.02, Vec3::Z, 0.4);
    let collider =
        HailCollider { collider: Collider::new(shape), moves_with: Some(keys[0]), parts: vec![Some(keys[0])] };
    let cloud = Cloud {
        particles: 400,
        region: Region::Box { low: Vec3::new(-0.2, -0.2, 1.0), high: Vec3::new(0.3, 0.3, 1.5) },
        energy: EnergyLaw::Kinetic,
        velocity_m_s: Vec3::Z * -5.0,
        gravity_m_s2: Vec3::Z * -9.81,
        ..Cloud::default()
    };
    let hail = HailSettings { cloud, colliders: vec![collider], hardness_n_m: 1e6, duration_s: None };
    world.set_hail(Some(hail)).unwrap();
    world.schedule(0.9, keys[3], Change::Push { impulse_ns: Vec3::new(0.3, 0.0, 0.2), at: None }).unwrap();
    world.set_recording(true);
    (world, out, keys)
}

/// Steps, with their sound: what has faded makes room.
fn steps(
    world: &mut World,
    out: &mut eigentone_world::AudioOut,
    count: usize,
) -> (Vec<ContactFrame>, Vec<eigentone_world::WorldEvent>) {
    for _ in 0..count {
        world.single_step();
        listen(out, 92);
    }
    (world.drain_frames().collect(), world.drain_events().collect())
}

/// Restored, with bodies removed, added and changed in between, the next 300 steps have the same frames and the same events, bit for bit.
#[test]
fn going_back_and_on_is_as_if_nothing_had_happened() {
    let (mut world, mut out, keys) = heap();
    steps(&mut world, &mut out, 250);
    listen(&mut out, 4096);
    let grab = world.drag(keys[5], Vec3::new(0.1, 0.1, 0.1)).unwrap();
    steps(&mut world, &mut out, 10);
    let snapshot = world.snapshot();
    let (frames, events) = steps(&mut world, &mut out, 300);
    assert!(events.iter().any(|e| matches!(e.kind, EventKind::Impact { .. })));
    assert!(events.iter().any(|e| matches!(e.kind, EventKind::Impact { particle: Some(_), .. })));

    world.end_drag(grab).unwrap();
    world.remove(keys[2]).unwrap();
    world.remove(keys[7]).unwrap();
    world.insert(Body::dynamic(Shape::sphere(0.1)).model(bar(0.2)).position(Vec3::Z)).unwrap();
    world.set_mass(keys[1], 5.0).unwrap();
    world.set_size(keys[4], 1.5).unwrap();
    world.hold(keys[6]).unwrap();
    world.set_surface(keys[8], Surface::Named("ice".into())).unwrap();
    world.place_cloud(Region::Box { low: Vec3::Z, high: Vec3::ONE }).unwrap();
    steps(&mut world, &mut out, 100);
    listen(&mut out, 4096);

    world.restore(&snapshot).unwrap();
    world.drain_frames().for_each(drop);
    world.drain_events().for_each(drop);
    assert!(keys.iter().all(|key| world.contains(*key)), "removed bodies have their keys again");
    let (again, events_again) = steps(&mut world, &mut out, 300);
    for (n, (a, b)) in frames.iter().zip(&again).enumerate() {
        assert_eq!(a, b, "frame {n}");
    }
    assert_eq!(frames.len(), again.len());
    for (n, (a, b)) in events.iter().zip(&events_again).enumerate() {
        assert_eq!(a, b, "event {n}");
    }
    assert_eq!(events.len(), events_again.len());
    world.drag_to(grab, Vec3::Z).unwrap();
}

/// Undoing a removal brings a body back where it was, under its key, sounding as it did; motion goes on.
#[test]
fn undoing_a_removal_revives_the_key() {
    let (mut world, mut out, keys) = heap();
    steps(&mut world, &mut out, 400);
    world.set_gain(keys[1], 0.25).unwrap();
    let document = world.document();
    let before = world.pose(keys[1]).unwrap().position;
    world.remove(keys[1]).unwrap();
    steps(&mut world, &mut out, 20);
    assert!(world.strike(keys[1], Strike::at(Vec3::ZERO)).is_err());
    let time_s = world.time_s();
    world.restore_document(&document).unwrap();
    assert_eq!((world.pose(keys[1]).unwrap().position, world.time_s()), (before, time_s));
    assert_eq!(world.body(keys[1]).unwrap().params.gain, 0.25);
    listen(&mut out, 44_100);
    world.strike(keys[1], Strike::at(Vec3::from_array(before.map(f64::from)))).unwrap();
    world.single_step();
    assert!(peak(&listen(&mut out, 4096)) > 0.0);
}

/// At a quarter of the speed the second blow comes four times as late, and rings at the same pitch.
#[test]
fn slow_motion_stretches_contacts_not_ringing() {
    let bounce = |speed: f64| {
        let (mut world, mut out) = World::new(Settings { seed: 3, ..Settings::offline() }).unwrap();
        world.set_listener(Pose::looking(-Vec3::Y, Vec3::Y));
        world.insert(Body::fixed(Shape::floor()).surface("glass")).unwrap();
        let ball = Body::dynamic(Shape::sphere(0.03)).model(bar(0.15)).surface("glass").mass(0.05);
        world.insert(ball.position(Vec3::Z * 0.1)).unwrap();
        world.set_speed(speed).unwrap();
        let mut onsets = Vec::new();
        let mut rendered = 0;
        for _ in 0..240 {
            world.advance(1.0 / 120.0);
            let until = ((world.time_s() / speed - 1.0 / 240.0).max(0.0) * 44_100.0) as usize;
            for (n, y) in listen(&mut out, until - rendered).iter().enumerate() {
                if y.abs() > 1e-3 && onsets.last().is_none_or(|last| rendered + n - last > 4410) {
                    onsets.push(rendered + n);
                } else if y.abs() > 1e-3 && !onsets.is_empty() {
                    let last = onsets.len() - 1;
                    if rendered + n - onsets[last] <= 4410 {
                        continue;
                    }
                }
            }
            rendered = until;
        }
        world
            .drain_events()
            .filter(|e| matches!(e.kind, EventKind::Impact { .. }))
            .map(|e| e.time_s)
            .zip(onsets)
            .next()
            .expect("it lands")
    };
    let (time, onset) = bounce(1.0);
    let (slow_time, slow_onset) = bounce(0.25);
    assert!((time - slow_time).abs() < 1e-9, "the same game: {time} {slow_time}");
    let [normal, slow] = [onset, slow_onset].map(|n| n as f64 / 44_100.0);
    assert!((slow - 4.0 * normal).abs() < 0.01, "{slow} {normal}");
}

/// Paused, nothing happens any more, what rings rings on, and single steps go one by one.
#[test]
fn time_stands_still_when_it_is_told_to() {
    let (mut world, _out, _) = heap();
    world.advance(0.5);
    let time_s = world.time_s();
    world.pause();
    world.advance(0.5);
    assert_eq!(world.time_s(), time_s);
    world.single_step();
    assert!((world.time_s() - time_s - 1.0 / 480.0).abs() < 1e-12);
    world.resume();
    world.advance(0.1);
    assert!(world.time_s() > time_s + 0.09);
}
