//! More than a block has time for: what is summed, put off, given up, and what is never lost.

mod common;

use common::{act, impulse, mix, point, random_body, rms};
use eigentone_core::Noise;
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_synth::{BLOCK, BodySettings, EngineError, Quality, Settings, engine};

fn full() -> Settings {
    Settings { quality: Quality::FULL, ..Settings::default() }
}

fn blow(site: u32, size: f32) -> Action {
    Action::Blow { site: SiteBlend::single(site), impulse_ns: [0.2 * size, 0.1 * size, size], duration_s: 4e-4 }
}

/// A body that is removed while as many events wait as can: it fades out like any other.
#[test]
fn a_removal_fades_however_full_the_queue() {
    let jump = |x: &[f32]| x.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f32::max);
    let (mut handle, mut processor) = engine(Settings { max_events: 64, ..full() }).unwrap();
    let body = handle.add(&BodySettings::new(point(&[(300.0, 0.1, 1.0)]))).unwrap();
    handle.send(impulse(body, 0, 1.0)).unwrap();
    let steady = jump(&mix(&mut processor, 50)[100..]);
    for k in 0..64 {
        handle.send(act(body, 1_000_000 + k, Action::Gain(1.0))).unwrap();
        mix(&mut processor, 1);
    }
    handle.remove(body).unwrap();
    let sound = mix(&mut processor, 10);
    assert!(jump(&sound) < 1.3 * steady, "{} {steady}", jump(&sound));
    assert_eq!(rms(&sound[BLOCK..]), 0.0, "and at once");
    assert_eq!((processor.stats().bodies, processor.stats().dropped), (0, 0));
}

/// A queue that nobody empties takes no more events, but still removals, exchanges and ends; it tells how much room there is.
#[test]
fn there_is_room_for_what_must_not_get_lost() {
    let (mut handle, mut processor) = engine(Settings { max_events: 64, max_bodies: 8, ..full() }).unwrap();
    let bodies: Vec<BodyId> =
        (0..8).map(|_| handle.add(&BodySettings::new(point(&[(300.0, 0.1, 1.0)]))).unwrap()).collect();
    assert_eq!(handle.room(), 64 - 8);
    assert!(!handle.drained());
    while handle.room() > 0 {
        handle.send(impulse(bodies[0], 0, 0.1)).unwrap();
    }
    assert_eq!(handle.send(impulse(bodies[0], 0, 0.1)), Err(EngineError::QueueFull));
    handle.swap(bodies[7], &BodySettings::new(point(&[(500.0, 0.1, 1.0)]))).unwrap();
    for &body in &bodies {
        handle.remove(body).unwrap();
    }
    mix(&mut processor, 6);
    assert!(handle.drained() && handle.room() == 64);
    assert_eq!((processor.stats().bodies, handle.overflow()), (0, 1));
}

/// A thousand blows on one body in a block are one blow, their sum; nothing is lost and nobody hears a difference to doing them one by one.
#[test]
fn many_blows_on_one_body_are_one() {
    let model = random_body(100, 8.0, 4);
    let render = |max_events_per_block: usize| {
        let (mut handle, mut processor) = engine(Settings { max_events_per_block, ..full() }).unwrap();
        let body = handle.add(&BodySettings::new(model.clone())).unwrap();
        mix(&mut processor, 2);
        for k in 0..1000 {
            let size = 1e-4 * (1 + k % 3) as f32;
            let action =
                Action::Impulse { site: SiteBlend::single(k % 40), impulse_ns: [0.2 * size, 0.1 * size, size] };
            handle.send(act(body, 2 * BLOCK as u64 + 30, action)).unwrap();
        }
        let sound = mix(&mut processor, 300);
        (sound, *processor.stats())
    };
    let ((truth, alone), (summed, stats)) = (render(usize::MAX), render(256));
    assert_eq!((alone.hits, alone.merged), (1000, 0));
    assert_eq!((stats.hits, stats.merged, stats.spread, stats.shed), (1000, 999, 0, 0));
    let wrong: Vec<f32> = truth.iter().zip(&summed).map(|(a, b)| a - b).collect();
    assert!(rms(&wrong) < 1e-4 * rms(&truth), "{} {}", rms(&wrong), rms(&truth));
}

/// A flood on many bodies: each block does what it has time for, the loudest first. What is loud sounds at once; nothing comes later than 20 ms; all is accounted for, and the same every time.
#[test]
fn a_flood_is_served_by_audibility() {
    let models: Vec<_> = (0..5).map(|i| random_body(400, 8.0, i)).collect();
    let run = || {
        let settings = Settings { max_events_per_block: 96, max_bodies: 600, ..full() };
        let (mut handle, mut processor) = engine(settings).unwrap();
        let bodies: Vec<BodyId> =
            (0..600).map(|i| handle.add(&BodySettings::new(models[i % 5].clone())).unwrap()).collect();
        mix(&mut processor, 20);
        let now = processor.clock();
        let mut noise = Noise::new(3);
        for (k, &body) in bodies.iter().enumerate() {
            // Every sixtieth is a hundred times as loud.
            let size = if k % 60 == 0 { 0.1 } else { 0.001 };
            let time = Moment { sample: now + (noise.uniform() * 60.0) as u64, fraction: 0.0 };
            handle.send(Event { time, body, action: blow(k as u32 % 40, size) }).unwrap();
        }
        let mut sound = mix(&mut processor, 1);
        let first: Vec<u32> = processor.buses().map(|(id, _)| id.slot).collect();
        assert!(bodies.iter().step_by(60).all(|b| first.contains(&b.slot)), "{first:?}");
        assert!(first.len() < 40, "no more than there was time for: {}", first.len());
        sound.extend(mix(&mut processor, 40));
        (sound, *processor.stats())
    };
    let (sound, stats) = run();
    assert_eq!(stats.hits + stats.shed, 600, "{stats:?}");
    assert!(stats.hits > 400 && stats.shed > 50 && stats.spread > 500 && stats.late == 0, "{stats:?}");
    assert!(sound.iter().all(|y| y.is_finite()));
    assert_eq!(run(), (sound, stats));
}

/// Parameters and silences are put off, never given up, and their order is kept: the last value counts.
#[test]
fn settings_survive_a_flood() {
    let settings = Settings { max_events_per_block: 4, max_bodies: 200, ..full() };
    let (mut handle, mut processor) = engine(settings).unwrap();
    let model = point(&[(500.0, 0.5, 1.0)]);
    let bodies: Vec<BodyId> = (0..200).map(|_| handle.add(&BodySettings::new(model.clone())).unwrap()).collect();
    for &body in &bodies {
        for gain in [3.0, 0.0, 0.25] {
            handle.send(act(body, 0, Action::Gain(gain))).unwrap();
            handle.send(act(body, 0, Action::Damping(2.0))).unwrap();
        }
        handle.send(impulse(body, 0, 1.0)).unwrap();
        handle.send(act(body, 0, Action::Silence)).unwrap();
    }
    mix(&mut processor, 200);
    assert_eq!(rms(&mix(&mut processor, 10)), 0.0, "all are silent in the end");
    assert_eq!(processor.stats().waiting_most, 1600);
    for &body in &bodies {
        handle.send(impulse(body, 0, 1.0)).unwrap();
        mix(&mut processor, 1);
        let bus = processor.buses().find(|(id, _)| *id == body).unwrap().1;
        let loudest = bus.iter().fold(0.0f32, |m, y| m.max(y.abs()));
        assert!((loudest - 0.25).abs() < 0.01, "{loudest}");
        handle.send(act(body, 0, Action::Silence)).unwrap();
        mix(&mut processor, 3);
    }
}

/// Sixteen thousand messages at once: a block takes in some, in order, and nothing is lost.
#[test]
fn messages_come_in_portions() {
    let settings = Settings { max_messages_per_block: 100, max_bodies: 1000, ..full() };
    let (mut handle, mut processor) = engine(settings).unwrap();
    let model = point(&[(500.0, 0.5, 1.0)]);
    for _ in 0..1000 {
        handle.add(&BodySettings::new(model.clone())).unwrap();
    }
    mix(&mut processor, 1);
    assert_eq!(processor.stats().bodies, 100);
    mix(&mut processor, 9);
    assert_eq!(processor.stats().bodies, 1000);
    assert!(handle.drained());
}
