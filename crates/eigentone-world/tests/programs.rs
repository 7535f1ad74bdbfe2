//! The three ways to use a world, as programs: its own physics, somebody else's rapier, contact frames alone.

mod common;

use common::{bar, listen, peak, tone};
use eigentone_core::contact::{Contact, ContactFrame, ContactPoint, Phase};
use eigentone_sim::rigid::rapier::prelude::*;
use eigentone_sim::rigid::{ContactReader, ReaderSettings};
use eigentone_world::{Body, EventKind, Settings, Shape, Vec3, World};

const RATE: f64 = 44_100.0;

/// A program with a rapier world of its own: a bar falls on a floor and rings at the model's pitch, when rapier says so.
#[test]
fn a_rapier_world_of_ones_own_is_heard() {
    let (mut world, mut out) = World::new(Settings::default()).unwrap();
    let floor = world.insert(Body::external(Shape::floor()).silent().surface("concrete")).unwrap();
    let model = bar(0.3);
    let first_hz = model.modes[0].frequency_hz;
    let chime = world.insert(Body::external(Shape::cuboid(Vec3::new(0.3, 0.03, 0.01))).model(model).mass(0.7)).unwrap();

    let mut physics = PhysicsWorld::new();
    physics.gravity = Vector::new(0.0, 0.0, -9.81);
    physics.integration_parameters = eigentone_sim::rigid::recommended_parameters(1.0 / 240.0, 4);
    physics.insert(
        RigidBodyBuilder::fixed().translation(Vector::new(0.0, 0.0, -0.5)),
        ColliderBuilder::cuboid(5.0, 5.0, 0.5).user_data(u128::from(floor.number())),
    );
    physics.insert(
        RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.0, 0.3)).rotation(Vector::new(0.0, 0.3, 0.0)),
        ColliderBuilder::cuboid(0.15, 0.015, 0.005).mass(0.7).user_data(u128::from(chime.number())),
    );
    let mut reader = ContactReader::new(ReaderSettings::default());

    let mut sound = Vec::new();
    for _ in 0..240 {
        physics.step();
        world.feed(&reader.read(&physics)).unwrap();
        sound.extend(listen(&mut out, (RATE / 240.0) as usize));
    }
    let events: Vec<_> = world.drain_events().collect();
    let first = events.iter().find_map(|e| match e.kind {
        EventKind::Impact { bodies, impulse_ns, .. } => Some((e.time_s, bodies, impulse_ns)),
        _ => None,
    });
    let (time_s, bodies, impulse_ns) = first.expect("it lands");
    assert_eq!(bodies, [Some(floor), Some(chime)]);
    // The lower end falls 0.3 m less half the tilted bar.
    let drop_m: f64 = 0.3 - 0.15 * 0.3f64.sin() - 0.005;
    assert!((time_s - (2.0 * drop_m / 9.81).sqrt()).abs() < 0.01, "{time_s}");
    assert!((0.2..3.0).contains(&impulse_ns), "{impulse_ns}");
    let onset = sound.iter().position(|y| y.abs() > 1e-4).unwrap() as f64 / RATE;
    let expected = time_s + world.latency_s() + out.latency() as f64 / RATE;
    assert!((onset - expected).abs() < 0.02, "{onset} {expected}");
    let ringing = &sound[(0.5 * RATE) as usize..];
    let [own, beside] = [first_hz, 1.13 * first_hz].map(|hz| tone(ringing, hz, RATE));
    assert!(own > 10.0 * beside, "{own} {beside}");
}

/// A program that has nothing but contacts: one blow, then a slide.
#[test]
fn contact_frames_alone_are_heard() {
    let (mut world, mut out) = World::new(Settings::default()).unwrap();
    let table = world.insert(Body::external(Shape::floor()).silent().surface("brick")).unwrap();
    let block = world.insert(Body::external(Shape::cuboid(Vec3::splat(0.1))).model(bar(0.2)).surface("wood").mass(0.5));
    let block = block.unwrap();
    let step_s = 1.0 / 240.0;
    let mut loudest = [0.0f32; 3];
    for step in 1..=240 {
        let (lands, slides) = (step == 60, step > 120);
        let point = ContactPoint {
            normal: [0.0, 0.0, 1.0],
            normal_impulse_ns: if lands { 0.5 } else { 0.5 * 9.81 * step_s as f32 },
            approach_m_s: if lands { 1.0 } else { 0.0 },
            slip_m_s: if slides { [-0.5, 0.0, 0.0] } else { [0.0; 3] },
            travel_m_s: slides.then_some([0.5, 0.0]),
            ..ContactPoint::default()
        };
        let phase = if lands { Phase::Begin } else { Phase::Stay };
        let bodies = [table.number(), block.number()];
        let contacts = if step < 60 { vec![] } else { vec![Contact { id: 1, bodies, phase, points: vec![point] }] };
        let frame = ContactFrame { time_s: f64::from(step) * step_s, step_s, contacts, ..ContactFrame::default() };
        world.feed(&frame).unwrap();
        let heard = peak(&listen(&mut out, (RATE * step_s) as usize));
        let part = if step <= 60 {
            0
        } else if step <= 130 {
            1
        } else {
            2
        };
        loudest[part] = loudest[part].max(heard);
    }
    assert!(loudest[0] == 0.0 && loudest[1] > 1e-3 && loudest[2] > 1e-5, "{loudest:?}");
    let kinds: Vec<_> = world.drain_events().map(|e| e.kind).collect();
    assert_eq!(kinds.iter().filter(|k| matches!(k, EventKind::Impact { .. })).count(), 1);
    assert_eq!(kinds.iter().filter(|k| matches!(k, EventKind::ContactBegin { .. })).count(), 1);
}

/// The same frames twice, and frames that make no sense, are answers and not sounds.
#[test]
fn frames_that_make_no_sense_are_refused() {
    let (mut world, _out) = World::new(Settings::default()).unwrap();
    let frame = ContactFrame { time_s: 1.0, step_s: 0.01, ..ContactFrame::default() };
    world.feed(&frame).unwrap();
    assert!(world.feed(&ContactFrame { time_s: 0.5, ..frame.clone() }).is_err());
    assert!(world.feed(&ContactFrame { time_s: f64::NAN, ..frame.clone() }).is_err());
    assert!(world.feed(&ContactFrame { time_s: 2.0, step_s: -1.0, ..frame }).is_err());
}
