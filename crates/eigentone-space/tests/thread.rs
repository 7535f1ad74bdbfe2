//! The decoder on a thread of its own, with the audio side beside it.

mod common;

use common::two_rooms;
use eigentone_core::acoustics::Parameters;
use eigentone_core::event::BodyId;
use eigentone_core::{DQuat, Vec3};
use eigentone_space::BLOCK;
use eigentone_space::direct::Spatial;
use eigentone_space::renderer::Renderer;
use eigentone_space::room::{Place, SpaceSettings, space};
use eigentone_space::thread::DecoderThread;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sources come, move, give their slot to others and go, while blocks are rendered; all of them are heard where they are, and at the end nothing is.
#[test]
fn what_the_program_says_is_heard() {
    let field = two_rooms(1.0, |_, _| Parameters {
        direct_db: -6.0,
        early_db: -20.0,
        early_decay_s: 0.6,
        late_decay_s: 0.8,
        tilt_db: 0.0,
    });
    let settings = SpaceSettings { max_sources: 2, field: Some(Arc::new(field)), ..SpaceSettings::default() };
    let (space, mut renderer) = space(&settings);
    let thread = DecoderThread::start(space, 0.002).unwrap();
    thread.listen(Vec3::new(2.0, 4.0, 1.5), Vec3::X);
    let mut heard_of = Vec::new();
    for generation in 0..3 {
        let body = BodyId { slot: 1, generation };
        thread.place(body, Place::at(Vec3::new(4.0, 4.0, 1.5)));
        thread.place(BodyId { slot: 99, generation }, Place::at(Vec3::ZERO));
        let begin = Instant::now();
        let mut loud = 0.0f32;
        while loud < 0.2 && begin.elapsed() < Duration::from_secs(20) {
            let mut out = [[0.0; BLOCK]; 2];
            renderer.begin(|id, factor| heard_of.push((id, factor)));
            renderer.add(body, &[1.0; BLOCK]);
            renderer.finish(&mut out);
            loud = loud.max(out[0][BLOCK - 1]);
            std::thread::sleep(Duration::from_micros(300));
        }
        // Half for the distance, half for what the field says.
        assert!((loud - 0.25).abs() < 0.1, "{loud}");
        thread.remove(body);
    }
    let begin = Instant::now();
    while !renderer.is_idle() && begin.elapsed() < Duration::from_secs(20) {
        renderer.begin(|_, _| {});
        renderer.finish(&mut [[0.0; BLOCK]; 2]);
    }
    assert!(renderer.is_idle());
    for generation in 0..3 {
        assert!(heard_of.iter().any(|(id, f)| id.generation == generation && (f - 0.27).abs() < 0.1), "{heard_of:?}");
    }
    // New sources do not wait for a round, so that all this may take less time than three of them.
    let begin = Instant::now();
    while thread.rounds().0 <= 2 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(thread.rounds().0 > 2);
    assert_eq!(thread.clamped_and_unknown().1, 0);
}

fn settings(max_sources: usize) -> SpaceSettings {
    SpaceSettings { max_sources, spatial: Spatial::Pan, ..SpaceSettings::default() }
}

/// Renders blocks until `done` says so of the last sample of both channels; false after 20 s.
fn until(renderer: &mut Renderer, body: BodyId, mut done: impl FnMut([f32; 2]) -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(20) {
        let mut out = [[0.0; BLOCK]; 2];
        renderer.begin(|_, _| {});
        renderer.add(body, &[1.0; BLOCK]);
        renderer.finish(&mut out);
        if done(out.map(|c| c[BLOCK - 1])) {
            return true;
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    false
}

/// Half a million words about two sources are two sources: the last word counts, and the queue to the audio side, which does not listen meanwhile, is not asked to hold more than it can.
#[test]
fn only_the_last_word_counts() {
    let (space, mut renderer) = space(&settings(2));
    let thread = DecoderThread::start(space, 0.001).unwrap();
    let body = BodyId { slot: 1, generation: 4 };
    for k in 0..500_000u32 {
        let id = BodyId { slot: k % 2, generation: k % 5 };
        thread.place(id, Place::at(Vec3::Y * f64::from(1 + k % 7)));
        if k % 3 == 0 {
            thread.remove(id);
        }
    }
    thread.place(body, Place::at(Vec3::Y * 5.0));
    assert!(until(&mut renderer, body, |heard| heard.iter().all(|y| (y - 0.2).abs() < 1e-4)));
}

/// The thread sleeps for a second between rounds, but ends at once, and a source that is woken is heard at once.
#[test]
fn it_ends_and_wakes_promptly() {
    let (space, mut renderer) = space(&settings(1000));
    let thread = DecoderThread::start(space, 1.0).unwrap();
    let body = BodyId { slot: 700, generation: 0 };
    for slot in 0..1000 {
        thread.place_idle(BodyId { slot, generation: 0 }, Place::at(Vec3::Y * 2.0));
    }
    // The first round is over.
    while thread.rounds().0 == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let begin = Instant::now();
    thread.wake(body);
    assert!(until(&mut renderer, body, |heard| heard == [0.5; 2]));
    drop(thread);
    assert!(begin.elapsed() < Duration::from_millis(900), "{:?}", begin.elapsed());
}

/// A woken source is followed while it sounds, and sleeps a second after.
#[test]
fn woken_sources_are_followed_while_they_sound() {
    let (space, mut renderer) = space(&settings(10));
    let thread = DecoderThread::start(space, 0.002).unwrap();
    let body = BodyId { slot: 3, generation: 0 };
    thread.place_idle(body, Place::at(Vec3::Y));
    thread.wake(body);
    assert!(until(&mut renderer, body, |heard| heard.iter().all(|y| (y - 1.0).abs() < 1e-4)));
    thread.place_idle(body, Place::at(Vec3::Y * 4.0));
    assert!(until(&mut renderer, body, |heard| heard.iter().all(|y| (y - 0.25).abs() < 1e-4)));
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(1500) {
        renderer.begin(|_, _| {});
        renderer.finish(&mut [[0.0; BLOCK]; 2]);
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut told = 0;
    for _ in 0..20 {
        renderer.begin(|_, _| told += 1);
        renderer.finish(&mut [[0.0; BLOCK]; 2]);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(told, 0, "asleep");
}

/// Pose and rooms go through the thread: what was in front is to the right of who turns left, and reverberation comes with a field and goes with it.
#[test]
fn poses_and_rooms_go_through_the_thread() {
    let (space, mut renderer) = space(&settings(2));
    let thread = DecoderThread::start(space, 0.002).unwrap();
    let body = BodyId { slot: 0, generation: 0 };
    thread.place(body, Place::at(Vec3::new(4.0, 4.0, 1.5)));
    thread.listen_pose(Vec3::new(2.0, 4.0, 1.5), DQuat::IDENTITY);
    assert!(until(&mut renderer, body, |[left, right]| left.abs() < 1e-6 && (right - 0.707).abs() < 1e-3));
    thread.listen_pose(Vec3::new(2.0, 4.0, 1.5), DQuat::from_rotation_z(std::f64::consts::PI));
    assert!(until(&mut renderer, body, |[left, right]| right.abs() < 1e-6 && (left - 0.707).abs() < 1e-3));
    let heard = Parameters { direct_db: 0.0, early_db: -3.0, early_decay_s: 0.6, late_decay_s: 0.8, tilt_db: 0.0 };
    thread.set_field(Some(Arc::new(two_rooms(1.0, |_, _| heard))));
    let sends = |renderer: &Renderer| renderer.sends(body).map_or(0.0, |s| s.early.iter().sum::<f32>());
    let mut early = 0.0;
    for _ in 0..100_000 {
        if early > 0.5 {
            break;
        }
        until(&mut renderer, body, |_| true);
        early = sends(&renderer);
        std::thread::sleep(Duration::from_micros(200));
    }
    assert!((early - 0.707).abs() < 0.21, "{early}");
    thread.set_field(None);
    for _ in 0..100_000 {
        if early == 0.0 {
            break;
        }
        until(&mut renderer, body, |_| true);
        early = sends(&renderer);
        std::thread::sleep(Duration::from_micros(200));
    }
    assert_eq!(early, 0.0);
}
