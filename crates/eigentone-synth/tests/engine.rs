//! Events, clocks and bodies of the engine.

mod common;

use common::{act, impulse, level_db, mix, point, random_body, rms};
use eigentone_core::Noise;
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_synth::{BLOCK, BodySettings, Budget, EngineError, Masking, Playback, Quality, Settings, engine};

fn full() -> Settings {
    Settings { quality: Quality::FULL, ..Settings::default() }
}

/// Modes asleep or masked wake in phase: the sound after a pause is that of a mode that was computed all along.
#[test]
fn sleeping_modes_wake_in_phase() {
    let model = point(&[(220.0, 0.5, 1.0), (4000.0, 0.5, 1.0)]);
    let render = |quality: Quality| {
        let (mut handle, mut processor) = engine(Settings { quality, ..Settings::default() }).unwrap();
        let body = handle.add(&BodySettings::new(model.clone())).unwrap();
        handle.send(impulse(body, 0, 1.0)).unwrap();
        // Everything is put to sleep for a second, then woken by a change of quality and a tiny blow.
        let asleep = Quality { truncation_pa: 1e3, ..Quality::FULL };
        let change = if quality == Quality::FULL { Quality::FULL } else { asleep };
        handle.set_quality(change, Moment { sample: 10_000, fraction: 0.0 }).unwrap();
        handle.set_quality(quality, Moment { sample: 50_000, fraction: 0.0 }).unwrap();
        handle.send(impulse(body, 54_000, 1e-6)).unwrap();
        let sound = mix(&mut processor, 1200);
        (sound, processor.stats().mixed)
    };
    let (always, _) = render(Quality::FULL);
    let (paused, mixed) = render(Quality { masking: None, ..Quality::default() });
    assert_eq!(mixed, 2);
    assert!(rms(&paused[20_000..40_000]) == 0.0, "asleep");
    let range = 56_000..76_000;
    let error = range.map(|n| (always[n] - paused[n]).abs()).fold(0.0, f32::max);
    assert!(error < 1e-3, "{error}");
}

/// After `ln(|z|/τ)/d` a mode is below τ, and it is asleep within two policy frames of that.
#[test]
fn truncated_modes_are_below_the_threshold() {
    let (d, tau) = (5.0, 1e-3f32);
    let quality = Quality { truncation_pa: tau, masking: None, budget: None };
    let (mut handle, mut processor) = engine(Settings { quality, ..Settings::default() }).unwrap();
    let body = handle.add(&BodySettings::new(point(&[(1000.0, d, 1.0)]))).unwrap();
    handle.send(impulse(body, 0, 1.0)).unwrap();
    let cut = ((1.0 / f64::from(tau)).ln() / d * 44_100.0) as usize;
    let sound = mix(&mut processor, cut / BLOCK);
    assert_eq!(processor.stats().mixed, 1, "not before its time");
    assert!(sound[cut - 2000..].iter().any(|y| y.abs() > tau));
    let tail = mix(&mut processor, 40);
    assert!(tail[BLOCK..].iter().all(|y| y.abs() <= tau));
    assert_eq!(processor.stats().mixed, 0);
    assert_eq!(processor.stats().sounding, 0, "a body whose modes all sleep costs nothing");
}

/// What does not reach the listener is not computed; when it does again, it sounds as if it had been all along.
#[test]
fn what_is_not_heard_costs_nothing_and_is_not_lost() {
    let quality = Quality { truncation_pa: 1e-3, masking: None, budget: None };
    let (mut handle, mut processor) = engine(Settings { quality, ..Settings::default() }).unwrap();
    let body = handle.add(&BodySettings::new(point(&[(1000.0, 0.5, 1.0)]))).unwrap();
    let (mut control, mut all) = engine(full()).unwrap();
    let twin = control.add(&BodySettings::new(point(&[(1000.0, 0.5, 1.0)]))).unwrap();
    handle.send(impulse(body, 0, 1.0)).unwrap();
    control.send(impulse(twin, 0, 1.0)).unwrap();
    mix(&mut processor, 20);
    processor.set_audibility(body, 1e-5);
    mix(&mut processor, 80);
    assert_eq!((processor.stats().mixed, processor.stats().sounding), (0, 0), "behind three walls");
    processor.set_audibility(body, f32::NAN);
    // Slowly, as somebody who comes nearer.
    for k in 0..100 {
        processor.set_audibility(body, 1e-5 * 1e5f32.powf(k as f32 / 99.0));
        mix(&mut processor, 1);
    }
    mix(&mut processor, 40);
    mix(&mut all, 240);
    let (sound, expected) = (mix(&mut processor, 50), mix(&mut all, 50));
    let wrong: Vec<f32> = sound.iter().zip(&expected).map(|(a, b)| a - b).collect();
    assert!(rms(&wrong) < 1e-3 * rms(&expected), "{} {}", rms(&wrong), rms(&expected));
}

#[test]
fn gain_emphasis_silence_and_removal() {
    let (mut handle, mut processor) = engine(full()).unwrap();
    let body = handle.add(&BodySettings::new(point(&[(1000.0, 0.1, 1.0)]))).unwrap();
    handle.send(impulse(body, 0, 1.0)).unwrap();
    let one = rms(&mix(&mut processor, 100)[2000..]);
    handle.send(act(body, 0, Action::Gain(0.25))).unwrap();
    handle.send(act(body, 0, Action::Emphasis(2.0))).unwrap();
    let half = rms(&mix(&mut processor, 100)[2000..]);
    assert!((half / one - 0.5).abs() < 0.02, "{half} {one}");
    handle.send(act(body, 0, Action::Silence)).unwrap();
    assert_eq!(rms(&mix(&mut processor, 10)[3 * BLOCK..]), 0.0);
    handle.send(impulse(body, 0, 1.0)).unwrap();
    assert!(rms(&mix(&mut processor, 10)) > 0.1, "silenced bodies can be struck again");
    handle.remove(body).unwrap();
    assert_eq!(handle.send(impulse(body, 0, 1.0)), Err(EngineError::NoSuchBody));
    mix(&mut processor, 5);
    assert_eq!(processor.stats().bodies, 0);
    handle.collect();
    let again = handle.add(&BodySettings::new(point(&[(500.0, 1.0, 1.0)]))).unwrap();
    assert_eq!(again.slot, body.slot);
    assert_ne!(again, body);
}

/// A gain or a removal makes no step in the sound beyond the tone's own.
#[test]
fn changes_do_not_click() {
    let jump = |x: &[f32]| x.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f32::max);
    let (mut handle, mut processor) = engine(full()).unwrap();
    let body = handle.add(&BodySettings::new(point(&[(300.0, 0.1, 1.0)]))).unwrap();
    handle.send(impulse(body, 0, 1.0)).unwrap();
    let steady = jump(&mix(&mut processor, 50)[100..]);
    handle.send(act(body, 4000, Action::Gain(0.1))).unwrap();
    handle.send(act(body, 6000, Action::Gain(1.0))).unwrap();
    handle.send(act(body, 8000, Action::Damping(3.0))).unwrap();
    handle.send(act(body, 9000, Action::Frequency(0.9))).unwrap();
    handle.remove_at(body, Moment { sample: 12_000, fraction: 0.0 }).unwrap();
    let changing = jump(&mix(&mut processor, 200));
    assert!(changing < 1.3 * steady, "{changing} {steady}");
}

#[test]
fn a_stream_of_force_drives_a_body_until_its_writer_is_dropped() {
    let model = point(&[(440.0, 20.0, 1.0), (6000.0, 20.0, 1.0)]);
    for quality in [Quality::FULL, Quality::default()] {
        let (mut handle, mut processor) = engine(Settings { quality, ..Settings::default() }).unwrap();
        let body = handle.add(&BodySettings::new(model.clone())).unwrap();
        let contact = model.nearest_contact(eigentone_core::Vec3::ZERO).unwrap();
        let mut writer = handle.stream(body, &contact, [0.0, 0.0, 1.0], 60_000).unwrap();
        let tone: Vec<f32> =
            (0..44_160).map(|n| (std::f64::consts::TAU * 440.0 * f64::from(n) / 44_100.0).sin() as f32).collect();
        assert_eq!(writer.write(&tone), tone.len());
        let sound = mix(&mut processor, 690);
        // In tune, a force of amplitude one drives a mode up to 1/(2d).
        let expected = 20.0 * (1.0f64 / (2.0 * 20.0)).log10();
        assert!((level_db(&sound[30_000..44_000], 440.0, 44_100.0) - expected).abs() < 0.2, "{quality:?}");
        drop(writer);
        let tail = mix(&mut processor, 690);
        assert!(rms(&tail[40_000..]) < 1e-6);
        assert_eq!(processor.stats().starved, 64, "only the block in which its end was noticed");
    }
}

/// Seven sequences of host block sizes cannot matter, because blocks are the engine's own; what can matter is when events arrive. Two engines
/// with the same events, sent all at once or just in time, give the same bytes.
#[test]
fn the_same_events_give_the_same_bytes() {
    let quality = Quality {
        masking: Some(Masking { compensate: true, ..Masking::default() }),
        budget: Some(Budget::of(300)),
        ..Quality::default()
    };
    let models: Vec<_> = (0..6).map(|i| random_body(150, 10.0, i)).collect();
    let mut noise = Noise::new(7);
    let mut events: Vec<(u64, f32, usize, f32)> = (0..200)
        .map(|_| ((noise.uniform() * 40_000.0) as u64, noise.uniform() as f32, (noise.uniform() * 6.0) as usize, 0.01))
        .collect();
    events.sort_by_key(|e| e.0);
    let render = |just_in_time: bool| {
        let (mut handle, mut processor) = engine(Settings { quality, ..Settings::default() }).unwrap();
        let bodies: Vec<BodyId> = models.iter().map(|m| handle.add(&BodySettings::new(m.clone())).unwrap()).collect();
        let mut queue = events.iter().peekable();
        let mut bytes = Vec::new();
        for block in 0..700u64 {
            while let Some(&&(sample, fraction, body, size)) = queue.peek() {
                if just_in_time && sample >= (block + 1) * BLOCK as u64 {
                    break;
                }
                queue.next();
                let action =
                    Action::Blow { site: SiteBlend::single(3), impulse_ns: [size, size, size], duration_s: 1e-3 };
                handle.send(Event { time: Moment { sample, fraction }, body: bodies[body], action }).unwrap();
            }
            bytes.extend(mix(&mut processor, 1).iter().flat_map(|y| y.to_le_bytes()));
        }
        bytes
    };
    let first = render(false);
    assert!(first == render(false) && first == render(true));
}

#[test]
fn shared_resonators_sum() {
    let model = point(&[(700.0, 3.0, 1.0), (7000.0, 9.0, 0.5)]);
    let render = |shared: bool| {
        let (mut handle, mut processor) = engine(full()).unwrap();
        let one = handle.add(&BodySettings::new(model.clone())).unwrap();
        let two = if shared {
            handle.share(one, 0.5).unwrap()
        } else {
            handle.add(&BodySettings::new(model.clone())).unwrap()
        };
        handle.send(impulse(one, 100, 1.0)).unwrap();
        handle.send(impulse(two, 333, if shared { 2.0 } else { 1.0 })).unwrap();
        mix(&mut processor, 100)
    };
    let (apart, together) = (render(false), render(true));
    let (n, worst) =
        (0..apart.len()).map(|n| (n, (apart[n] - together[n]).abs())).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    // Rounded coefficients are made good for every few frames only: up to 3e-4 rad in between.
    assert!(worst < 3e-4, "{worst} at sample {n}");
}

/// A body struck in the very block in which it was silenced sounds like a fresh one; one that shares a body which is removed before it
/// gives its place back too.
#[test]
fn endings_do_not_haunt() {
    let model = point(&[(700.0, 1.0, 1.0)]);
    let (mut handle, mut processor) = engine(full()).unwrap();
    let body = handle.add(&BodySettings::new(model.clone())).unwrap();
    handle.send(impulse(body, 0, 1.0)).unwrap();
    handle.send(act(body, 10_000, Action::Silence)).unwrap();
    handle.send(impulse(body, 10_020, 1e-3)).unwrap();
    let sound = mix(&mut processor, 300);
    assert!(rms(&sound[..5000]) > 0.5 && rms(&sound[10_100..]) < 2e-3);
    let other = handle.share(body, 1.0).unwrap();
    let third = handle.share(other, 2.0).unwrap();
    handle.send(impulse(third, 0, 0.5)).unwrap();
    assert!(rms(&mix(&mut processor, 10)) > 0.5, "one that shares by way of another");
    handle.remove(body).unwrap();
    mix(&mut processor, 5);
    handle.remove(other).unwrap();
    handle.remove(third).unwrap();
    mix(&mut processor, 5);
    assert_eq!(processor.stats().bodies, 0);
    // An impulse beyond all measure is clipped, not lost.
    let body = handle.add(&BodySettings::new(model)).unwrap();
    handle.send(impulse(body, 0, 1e30)).unwrap();
    assert!((rms(&mix(&mut processor, 10)) / (100.0 * 0.5f64.sqrt()) - 1.0).abs() < 0.1);
}

/// However short a blow, its impulse arrives: a low mode does not care whether it takes 10 or 150 µs.
#[test]
fn short_blows_are_as_strong_as_long_ones() {
    for rate in [44_100.0, 192_000.0] {
        let render = |duration_s: f32| {
            let (mut handle, mut processor) = engine(Settings { sample_rate_hz: rate, ..full() }).unwrap();
            let body = handle.add(&BodySettings::new(point(&[(200.0, 1.0, 1.0), (300.0, 1.0, 1.0)]))).unwrap();
            let action = Action::Blow { site: SiteBlend::single(0), impulse_ns: [0.0, 0.0, 1.0], duration_s };
            handle.send(act(body, 0, action)).unwrap();
            rms(&mix(&mut processor, 500)[1000..])
        };
        let truth = render(0.0);
        for duration_s in [1e-5, 3e-5, 5e-5, 8e-5, 1.5e-4] {
            let share = render(duration_s) / truth;
            assert!((share - 1.0).abs() < 0.02, "{duration_s} s at {rate} Hz: {share}");
        }
    }
}

/// Modes of a nonlinear body that come and go under a tight budget stay finite and end up in their sections.
#[test]
fn nonlinear_bodies_live_with_a_budget() {
    use eigentone_synth::{Nonlinear, Shaper};
    let quality = Quality { truncation_pa: 1e-6, masking: None, budget: Some(Budget::of(60)) };
    let (mut handle, mut processor) = engine(Settings { quality, ..Settings::default() }).unwrap();
    let nonlinear = Nonlinear { sections: 3, coupling: 0.8, reference_pa: 0.1, shaper: Shaper::Square };
    let gong = BodySettings { nonlinear: Some(nonlinear), ..BodySettings::new(random_body(150, 6.0, 2)) };
    let bodies = [handle.add(&gong).unwrap(), handle.add(&BodySettings::new(random_body(100, 6.0, 3))).unwrap()];
    let mut noise = Noise::new(8);
    for i in 0..60 {
        let body = bodies[i % 2];
        let action = Action::Blow { site: SiteBlend::single(i as u32 % 40), impulse_ns: [0.01; 3], duration_s: 1e-3 };
        let time = Moment { sample: (noise.uniform() * 60_000.0) as u64, fraction: noise.uniform() as f32 };
        handle.send(Event { time, body, action }).unwrap();
    }
    let sound = mix(&mut processor, 1200);
    assert!(sound.iter().all(|y| y.abs() < 1e3), "bounded");
    assert!(processor.stats().mixed_most <= 60);
}

/// A body that was too quiet to be computed is heard again when its gain is turned up.
#[test]
fn gain_wakes_what_sleeps() {
    let (mut handle, mut processor) = engine(Settings::default()).unwrap();
    let body = handle.add(&BodySettings::new(point(&[(500.0, 0.2, 1.0)]))).unwrap();
    handle.send(impulse(body, 0, 1.0)).unwrap();
    handle.send(act(body, 5000, Action::Gain(0.0))).unwrap();
    handle.send(act(body, 40_000, Action::Gain(1.0))).unwrap();
    let sound = mix(&mut processor, 1000);
    assert_eq!(rms(&sound[20_000..39_000]), 0.0);
    assert!(rms(&sound[45_000..]) > 0.4);
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    assert!(engine(Settings { sample_rate_hz: 4000.0, ..Settings::default() }).is_err());
    let (mut handle, processor) = engine(Settings { max_bodies: 1, max_modes_per_body: 2, ..full() }).unwrap();
    let three = point(&[(1.0e2, 1.0, 1.0), (2.0e2, 1.0, 1.0), (3.0e2, 1.0, 1.0)]);
    let error = handle.add(&BodySettings::new(three)).unwrap_err();
    assert!(error.to_string().contains("3 modes, more than the 2"), "{error}");
    let body = handle.add(&BodySettings::new(point(&[(100.0, 1.0, 1.0)]))).unwrap();
    assert_eq!(handle.add(&BodySettings::new(point(&[(100.0, 1.0, 1.0)]))), Err(EngineError::Bodies(1)));
    drop(processor);
    assert_eq!(handle.send(impulse(body, 0, 1.0)), Err(EngineError::Closed));
}

/// Every sample rate, every odd event: finite and no panic.
#[test]
fn nonsense_is_harmless() {
    for rate in [22_050.0, 48_000.0, 96_000.0, 192_000.0] {
        let (mut handle, mut processor) = engine(Settings { sample_rate_hz: rate, ..Settings::default() }).unwrap();
        let body = handle.add(&BodySettings::new(random_body(100, 8.0, 3))).unwrap();
        let site = SiteBlend { sites: [0, 1, 9999], weights: [f64::NAN, 1.0, 2.0] };
        let blow =
            |impulse_ns: [f32; 3], duration_s: f32, site: SiteBlend| Action::Blow { site, impulse_ns, duration_s };
        let good = SiteBlend::single(2);
        let nowhere = SiteBlend { sites: [0, 1, 2], weights: [f64::NAN, f64::INFINITY, 2.0] };
        for action in [
            blow([f32::NAN; 3], 0.0, good),
            blow([f32::INFINITY, 0.0, 0.0], 0.0, good),
            blow([1e30; 3], 0.0, good),
            blow([0.1; 3], f32::NAN, good),
            blow([0.1; 3], f32::INFINITY, good),
            blow([0.1; 3], -3.0, good),
            blow([0.1; 3], 1e9, good),
            blow([0.1; 3], 0.01, site),
            blow([0.1; 3], 0.01, nowhere),
            blow([0.1; 3], 0.0, nowhere),
            blow([0.1; 3], 3e38, good),
            Action::Gain(3e38),
            Action::Gain(1.0),
            Action::Damping(f32::NAN),
            Action::Damping(-4.0),
            Action::Frequency(1e20),
            Action::Frequency(0.0),
            Action::Strain(f32::NEG_INFINITY),
            Action::Gain(f32::NAN),
            Action::Emphasis(f32::INFINITY),
            blow([0.1; 3], 0.001, good),
        ] {
            handle.send(act(body, 0, action)).unwrap();
            let sound = mix(&mut processor, 20);
            assert!(sound.iter().all(|y| y.is_finite()), "{action:?} at {rate} Hz");
        }
    }
}

/// Qualities of all sizes, with every field at its ends: finite, and no panic.
#[test]
fn extreme_qualities_are_harmless() {
    let ends =
        [f32::MIN, -1e6, -300.0, -1.0, 0.0, f32::MIN_POSITIVE, 1.0, 94.0, 1e3, 1e6, f32::MAX, f32::INFINITY, f32::NAN];
    let mut qualities = Vec::new();
    for &db in &ends {
        for playback in [Playback::TotalAt(db), Playback::PascalAt(db)] {
            for (k, &offset_db) in ends.iter().enumerate() {
                let masking = Some(Masking { offset_db, playback, compensate: k % 2 == 0 });
                let budget =
                    [None, Some(0), Some(1), Some(usize::MAX)][k % 4].map(|modes| Budget { modes, slope: ends[k] });
                qualities.push(Quality { truncation_pa: ends[(3 * k + 1) % ends.len()], masking, budget });
            }
        }
    }
    let (mut handle, mut processor) = engine(Settings::default()).unwrap();
    let bodies = [0, 1].map(|seed| handle.add(&BodySettings::new(random_body(120, 9.0, seed))).unwrap());
    for quality in qualities {
        handle.set_quality(quality, Moment::NOW).unwrap();
        for (body, size) in bodies.into_iter().zip([1.0, 1e-3]) {
            let action = Action::Blow { site: SiteBlend::single(3), impulse_ns: [size; 3], duration_s: 1e-3 };
            handle.send(act(body, 0, action)).unwrap();
        }
        let sound = mix(&mut processor, 18);
        assert!(sound.iter().all(|y| y.is_finite()), "{quality:?}");
    }
    let (mut handle, mut processor) = engine(Settings {
        quality: Quality {
            masking: Some(Masking { playback: Playback::PascalAt(1e6), ..Masking::default() }),
            ..Quality::default()
        },
        ..Settings::default()
    })
    .unwrap();
    let body = handle.add(&BodySettings::new(random_body(20, 9.0, 1))).unwrap();
    handle.send(impulse(body, 0, 1.0)).unwrap();
    assert!(rms(&mix(&mut processor, 40)) > 0.0);
}

/// A loud tone hides its neighbour. Retuned by an octave it hides it no longer, and one that is retuned to where the loud tone is, is hidden.
#[test]
fn masking_follows_the_tuning() {
    let mixed = |loud: f32, quiet: f32, quiet_hz: f64| {
        let (mut handle, mut processor) = engine(Settings::default()).unwrap();
        let one = handle.add(&BodySettings::new(point(&[(1000.0, 0.1, 1.0)]))).unwrap();
        let two = handle.add(&BodySettings::new(point(&[(quiet_hz, 0.1, 1.0)]))).unwrap();
        handle.send(act(one, 0, Action::Frequency(loud))).unwrap();
        handle.send(act(two, 0, Action::Frequency(quiet))).unwrap();
        handle.send(impulse(one, 0, 1.0)).unwrap();
        handle.send(impulse(two, 3000, 0.03)).unwrap();
        mix(&mut processor, 200);
        processor.stats().mixed
    };
    assert_eq!(mixed(1.0, 1.0, 1030.0), 1, "hidden");
    assert_eq!(mixed(2.0, 1.0, 1030.0), 2, "the loud one has left");
    assert_eq!(mixed(2.0, 2.0, 1030.0), 1, "both have");
    assert_eq!(mixed(1.0, 0.5, 2060.0), 1, "the quiet one has come");
    assert_eq!(mixed(1.0, 1.0, 2060.0), 2);
}
