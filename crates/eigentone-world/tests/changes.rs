//! What is changed while it sounds is heard to change, and stale keys are answers.

mod common;

use common::{bar, listen, peak, tone};
use eigentone_space::direct::Spatial;
use eigentone_world::{Body, Bridge, Change, Mallet, Pose, Settings, Shape, Strike, Surface, Vec3, World, WorldError};

const RATE: f64 = 44_100.0;

fn struck(world: &mut World, model_length: f64) -> eigentone_world::BodyKey {
    let shape = Shape::cuboid(Vec3::new(model_length, 0.03, 0.01));
    let body = Body::fixed(shape).model(bar(model_length)).position(Vec3::new(0.0, 0.0, 1.0));
    let key = world.insert(body).unwrap();
    world
        .strike(key, Strike::at(Vec3::new(0.5 * model_length, 0.0, 1.005)).impulse(0.02).mallet(Mallet::METAL))
        .unwrap();
    key
}

fn offline() -> (World, eigentone_world::AudioOut) {
    World::new(Settings::offline()).unwrap()
}

/// The same blow, so much later, is as loud by so much: gain −6 dB, twice as far −6 dB, and half the size an octave higher.
#[test]
fn gain_distance_and_pitch_do_what_they_say() {
    let ring = |change: &dyn Fn(&mut World, eigentone_world::BodyKey)| {
        let (mut world, mut out) = offline();
        world.set_listener(Pose::looking(Vec3::new(0.0, -1.0, 1.0), Vec3::Y));
        let key = struck(&mut world, 0.3);
        change(&mut world, key);
        (0..12).for_each(|_| world.advance(1.0 / 60.0));
        let hz = bar(0.3).modes[0].frequency_hz;
        let sound = listen(&mut out, RATE as usize);
        [hz, 2.0 * hz, 1.5 * hz].map(|hz| tone(&sound[4410..], hz, RATE))
    };
    let plain = ring(&|_, _| {})[0];
    let quiet = ring(&|world, key| world.set_gain(key, 0.5).unwrap())[0];
    assert!((quiet / plain - 0.5).abs() < 0.02, "{quiet} {plain}");
    let far = ring(&|world, _| world.set_listener(Pose::looking(Vec3::new(0.0, -2.0, 1.0), Vec3::Y)))[0];
    assert!((far / plain - 0.5).abs() < 0.03, "{far} {plain}");
    let higher = ring(&|world, key| world.set_frequency(key, 1.5).unwrap());
    assert!(higher[2] > 0.5 * plain && higher[0] < 0.05 * plain, "{higher:?} {plain}");
    let smaller = ring(&|world, key| {
        world.set_size(key, 0.5).unwrap();
        world.strike(key, Strike::at(Vec3::new(0.0, 0.0, 1.0025)).impulse(0.02).mallet(Mallet::METAL)).unwrap();
    });
    assert!(smaller[1] > 20.0 * smaller[2], "{smaller:?}");
    let held = ring(&|world, key| world.hold(key).unwrap())[0];
    assert!(held < 0.1 * plain, "{held} {plain}");
}

/// A removed body is gone for everything that can be asked of it, its sound fades, and its number may be another's.
#[test]
fn stale_keys_are_answers() {
    let (mut world, mut out) = World::new(Settings { max_bodies: 1, ..Settings::offline() }).unwrap();
    let key = struck(&mut world, 0.3);
    listen(&mut out, 4096);
    assert!(world.is_sounding(key));
    let body = world.remove(key).unwrap();
    let another = world.insert(body).unwrap();
    assert_eq!(another.number(), key.number());
    assert!(another != key && !world.contains(key));
    let gone = Err(WorldError::Gone(key));
    assert_eq!(world.set_gain(key, 1.0), gone);
    assert_eq!(world.strike(key, Strike::at(Vec3::ZERO)), gone);
    assert_eq!(world.set_surface(key, Surface::Named("wood".into())), gone);
    assert_eq!(world.schedule(1.0, key, Change::Gain(1.0)), gone);
    assert_eq!(world.bridge(key, another, &Bridge::default()).map(|_| ()), gone);
    assert!(matches!(world.drag(key, Vec3::ZERO), Err(WorldError::Gone(_))));
    assert!(world.remove(key).is_err());
    listen(&mut out, 4096);
    assert_eq!(peak(&listen(&mut out, 4096)), 0.0);
}

/// What is scheduled is heard at its sample.
#[test]
fn scheduled_blows_are_heard_at_their_sample() {
    let settings = Settings { spatial: Spatial::Pan, ..Settings::offline() };
    let (mut world, mut out) = World::new(settings).unwrap();
    world.set_listener(Pose::looking(Vec3::new(0.0, -1.0, 0.0), Vec3::Y));
    let key = world.insert(Body::fixed(Shape::cuboid(Vec3::new(0.3, 0.03, 0.01))).model(bar(0.3))).unwrap();
    let strike = Strike::at(Vec3::new(0.1, 0.0, 0.005)).impulse(0.05).mallet(Mallet::METAL);
    for time_s in [0.1, 0.2517] {
        world.schedule(time_s, key, Change::Strike(strike)).unwrap();
    }
    let mut sound = Vec::new();
    for _ in 0..24 {
        world.advance(1.0 / 60.0);
        sound.extend(listen(&mut out, 735 - if sound.is_empty() { 92 } else { 0 }));
    }
    let onset = sound.iter().position(|y| y.abs() > 0.0).unwrap();
    let expected = (0.1 * RATE) as usize + out.latency();
    assert!(onset.abs_diff(expected) <= 2, "{onset} {expected}");
}

/// A world may be handed to another thread and looked at by several.
#[test]
fn worlds_go_anywhere() {
    fn anywhere<T: Send + Sync + 'static>() {}
    fn movable<T: Send + 'static>() {}
    anywhere::<World>();
    movable::<eigentone_world::AudioOut>();
}

/// A bad name, a number that is none: refused with a reason, and nothing has changed.
#[test]
fn what_makes_no_sense_is_refused() {
    let (mut world, _out) = offline();
    let block = || Body::dynamic(Shape::cuboid(Vec3::splat(0.1))).model(bar(0.2));
    let error = world.insert(block().surface("brik")).unwrap_err().to_string();
    assert!(error.contains("did you mean `brick`"), "{error}");
    let error = world.insert(block().material("stel")).unwrap_err().to_string();
    assert!(error.contains("steel"), "{error}");
    assert!(world.insert(block().position(Vec3::new(f64::NAN, 0.0, 0.0))).is_err());
    assert!(world.insert(block().mass(-1.0)).is_err());
    assert!(world.insert(block().gain(f32::INFINITY)).is_err());
    assert!(world.is_empty());
    let key = world.insert(block()).unwrap();
    assert!(world.set_mass(key, 0.0).is_err() && world.set_friction(key, f64::NAN).is_err());
    assert!(world.set_gain(key, f32::NAN).is_err() && world.set_size(key, 1e9).is_err());
    assert!(world.strike(key, Strike::at(Vec3::splat(f64::NAN))).is_err());
    assert!(world.set_speed(0.0).is_err());
    let small = Settings { max_bodies: 1, ..Settings::offline() };
    let (mut world, _out) = World::new(small).unwrap();
    world.insert(block()).unwrap();
    let error = world.insert(block()).unwrap_err().to_string();
    assert!(error.contains("max_bodies"), "{error}");
}
