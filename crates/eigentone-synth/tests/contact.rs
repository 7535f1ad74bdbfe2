//! From contact streams to sound: what is a blow, what goes on, and what must be silent.

mod common;

use common::{mix, point, random_body};
use eigentone_core::contact::{Contact, ContactFrame, ContactPoint, Phase, Pose};
use eigentone_core::texture::{Bumps, Curve, Friction, Gain, Impact, Profile, Texture};
use eigentone_synth::contact::{ContactBody, ContactEventKind, Tracker, TrackerSettings};
use eigentone_synth::texture::{Recording, SurfaceRuntime};
use eigentone_synth::{BLOCK, BodySettings, Handle, Processor, Quality, Settings, engine};
use std::sync::Arc;

const STEP_S: f64 = 1.0 / 480.0;
const RATE: f64 = 44_100.0;
const WEIGHT_N: f32 = 0.2 * 9.81;

struct Stage {
    handle: Handle,
    processor: Processor,
    tracker: Tracker,
    sound: Vec<f32>,
    steps: u64,
}

impl Stage {
    /// A block of 200 g (body 1) on a silent floor (body 0) with this texture.
    fn new(texture: &Texture) -> Self {
        let settings = Settings { quality: Quality::FULL, ..Settings::default() };
        let (mut handle, processor) = engine(settings).unwrap();
        let model = random_body(60, 6.0, 7);
        let block = handle.add(&BodySettings::new(model.clone())).unwrap();
        let mut tracker = Tracker::new(TrackerSettings::default(), RATE);
        let surface = SurfaceRuntime::new(texture, &[], &[], 1, RATE).unwrap();
        tracker.add(0, ContactBody::silent().with_surface(surface));
        tracker.add(1, ContactBody::of(block, model, 0.2));
        Self { handle, processor, tracker, sound: Vec::new(), steps: 0 }
    }

    fn step(&mut self, phase: Phase, points: Vec<ContactPoint>) {
        self.steps += 1;
        let time_s = self.steps as f64 * STEP_S;
        let contacts = vec![Contact { id: 1, bodies: [0, 1], phase, points }];
        let poses = vec![Pose::at_origin(0), Pose::at_origin(1)];
        self.tracker
            .step(
                &ContactFrame { time_s, step_s: STEP_S, poses, contacts, ..ContactFrame::default() },
                &mut self.handle,
            )
            .unwrap();
        self.listen(time_s - STEP_S);
    }

    fn listen(&mut self, until_s: f64) {
        let blocks = ((until_s * RATE) as u64).saturating_sub(self.processor.clock()) as usize / BLOCK;
        self.sound.extend(mix(&mut self.processor, blocks));
    }

    fn impacts(&mut self) -> usize {
        self.tracker.drain().filter(|h| matches!(h.kind, ContactEventKind::Impact { .. })).count()
    }

    fn energy(&self, from_s: f64, to_s: f64) -> f64 {
        let range = (from_s * RATE) as usize..((to_s * RATE) as usize).min(self.sound.len());
        self.sound[range].iter().map(|y| f64::from(y * y)).sum()
    }
}

fn brick() -> Texture {
    Texture { name: "brick".into(), profile: Profile::Bumps(Bumps::default()), ..Texture::default() }
}

fn resting() -> ContactPoint {
    ContactPoint { normal: [0.0, 0.0, 1.0], normal_impulse_ns: WEIGHT_N * STEP_S as f32, ..ContactPoint::default() }
}

fn sliding(speed_m_s: f32, place_m: f32) -> ContactPoint {
    ContactPoint { position: [place_m, 0.0, 0.0], slip_m_s: [-speed_m_s, 0.0, 0.0], ..resting() }
}

fn landing(speed_m_s: f32) -> ContactPoint {
    ContactPoint { normal_impulse_ns: 0.2 * 1.4 * speed_m_s, approach_m_s: speed_m_s, touch_s: 1e-3, ..resting() }
}

/// `m g dt` in every step and no motion: no blow, no contact, and not a sample that is not zero.
#[test]
fn a_resting_body_is_silent() {
    let mut stage = Stage::new(&brick());
    stage.step(Phase::Begin, vec![resting()]);
    for _ in 0..480 {
        // A solver is never quite still.
        stage.step(Phase::Stay, vec![ContactPoint { slip_m_s: [1e-3, 0.0, 0.0], approach_m_s: 0.0204, ..resting() }]);
    }
    assert_eq!(stage.impacts(), 0);
    assert!(stage.sound.iter().all(|y| *y == 0.0));
}

/// A body that lands makes one blow, at the moment of touching, however its contact flickers within the refractory time.
#[test]
fn a_landing_is_one_blow_at_its_moment() {
    let mut stage = Stage::new(&brick());
    for _ in 0..9 {
        stage.step(Phase::End, vec![]);
    }
    stage.step(Phase::Begin, vec![landing(1.0)]);
    stage.step(Phase::End, vec![]);
    stage.step(Phase::Begin, vec![landing(0.5)]);
    for _ in 0..40 {
        stage.step(Phase::Stay, vec![resting()]);
    }
    assert_eq!(stage.impacts(), 1);
    let first = stage.sound.iter().position(|y| *y != 0.0).unwrap() as f64 / RATE;
    let touched = 9.0 * STEP_S + 1e-3;
    assert!((first - touched).abs() < 2.0 / RATE, "{first} {touched}");
}

/// Sliding sounds while it slides, rises with speed, and is over a fifth of a second after it has stopped; then nothing acts on the body.
#[test]
fn sliding_sounds_and_stops() {
    let mut stage = Stage::new(&brick());
    stage.step(Phase::Begin, vec![resting()]);
    let mut place = 0.0;
    for speed in [0.1f32, 0.6] {
        for _ in 0..240 {
            place += speed * STEP_S as f32;
            stage.step(Phase::Stay, vec![sliding(speed, place)]);
        }
    }
    for _ in 0..480 {
        stage.step(Phase::Stay, vec![sliding(0.0, place)]);
    }
    let (slow, fast) = (stage.energy(0.2, 0.5), stage.energy(0.7, 1.0));
    assert!(slow > 0.0 && fast > 3.0 * slow, "{slow} {fast}");
    assert_eq!(stage.processor.stats().contacts, 0, "its place on the body is free again");
    // The body rings out by itself: at least as fast as its slowest mode, 2.2 per second.
    let (early, late) = (stage.energy(1.25, 1.35), stage.energy(1.75, 1.85));
    assert!(late < early * (-2.0f64 * 2.0 * 0.5).exp() * 1.2, "nothing drives it: {early} {late}");
}

/// When a contact parts it is over within 10 ms of fade, and what it had in the engine is handed back.
#[test]
fn parting_ends_the_contact() {
    let mut stage = Stage::new(&brick());
    for round in 0..600 {
        stage.step(Phase::Begin, vec![sliding(0.5, 0.0)]);
        for k in 0..6 {
            stage.step(Phase::Stay, vec![sliding(0.5, 0.001 * k as f32)]);
        }
        stage.step(Phase::End, vec![]);
        for _ in 0..8 {
            stage.step(Phase::End, vec![]);
        }
        assert_eq!(stage.processor.stats().contacts, 0, "round {round}");
    }
    assert!(stage.energy(0.0, 1.0) > 0.0);
}

/// Corners that slip at different speeds read the surface at different speeds: a block that spins on its face sounds unlike one that slides as
/// fast as its fastest corner.
#[test]
fn every_corner_has_its_own_slip() {
    let corner = |k: usize, slip: f32| ContactPoint {
        position: [[0.1, 0.1], [-0.1, 0.1], [-0.1, -0.1], [0.1, -0.1]][k]
            .into_iter()
            .chain([0.0])
            .collect::<Vec<f32>>()
            .try_into()
            .unwrap(),
        slip_m_s: [slip, 0.0, 0.0],
        travel_m_s: Some([slip, 0.0]),
        normal_impulse_ns: 0.25 * WEIGHT_N * STEP_S as f32,
        ..resting()
    };
    // Bumps 2.5 mm apart, each a blow on the body: slower corners meet fewer.
    let rate = |slips: [f32; 4]| {
        let mut stage = Stage::new(&brick());
        stage.step(Phase::Begin, (0..4).map(|k| corner(k, slips[k])).collect());
        for _ in 0..960 {
            stage.step(Phase::Stay, (0..4).map(|k| corner(k, slips[k])).collect());
        }
        stage.energy(0.5, 2.0)
    };
    let (even, uneven, slow) = (rate([0.4; 4]), rate([0.4, 0.3, 0.2, 0.1]), rate([0.1; 4]));
    assert!(even > 1.3 * uneven && uneven > 1.3 * slow, "{even} {uneven} {slow}");
}

/// Ten thousand contacts that begin in one frame: the strongest are heard, the queue holds.
#[test]
fn a_flood_is_cut_to_its_strongest() {
    let mut stage = Stage::new(&brick());
    let contacts = (0..10_000)
        .map(|id| Contact {
            id,
            bodies: [0, 1 + (id % 2) as u32],
            phase: Phase::Begin,
            points: vec![landing(1.0 + 1e-4 * id as f32)],
        })
        .collect();
    let frame =
        ContactFrame { time_s: STEP_S, step_s: STEP_S, poses: vec![Pose::at_origin(1)], contacts, strains: vec![] };
    stage.tracker.step(&frame, &mut stage.handle).unwrap();
    let heard: Vec<f32> = stage
        .tracker
        .drain()
        .filter_map(
            |h| if let ContactEventKind::Impact { approach_m_s, .. } = h.kind { Some(approach_m_s) } else { None },
        )
        .collect();
    assert_eq!(heard.len(), TrackerSettings::default().max_blows);
    assert!(heard.iter().all(|v| *v > 1.97));
}

/// Stick and slip on a body with one mode near the natural rate `v k/((μ_s − μ_d) N)` locks to that mode.
#[test]
fn friction_locks_to_the_resonator() {
    // 0.1 m/s · 5000 N/m / (0.2 · 1.962 N) = 1274 Hz.
    let hz = 1230.0;
    // Newton for newton: the excitation is the force of friction itself.
    let gain =
        Gain { slip: Curve::new(&[[0.0, 1.0]]).unwrap(), force: Curve::new(&[[0.0, 0.0], [100.0, 100.0]]).unwrap() };
    let texture = Texture { profile: Profile::Friction(Friction::default()), gain, ..Texture::default() };
    let settings = Settings { quality: Quality::FULL, ..Settings::default() };
    let (mut handle, mut processor) = engine(settings).unwrap();
    let model = point(&[(hz, 4.0, 1.0)]);
    // It must move along the slip; a modal mass of 16 g.
    let mut model = (*model).clone();
    model.shapes = eigentone_core::ShapeTable::from_fn(1, 1, |_, _| eigentone_core::Vec3::new(8.0, 0.0, 0.0));
    let model = Arc::new(model);
    let body = handle.add(&BodySettings::new(model.clone())).unwrap();
    let mut tracker = Tracker::new(TrackerSettings::default(), RATE);
    tracker.add(0, ContactBody::silent().with_surface(SurfaceRuntime::new(&texture, &[], &[], 1, RATE).unwrap()));
    tracker.add(1, ContactBody::of(body, model, 0.2));
    let mut sound = Vec::new();
    for step in 1..=960u64 {
        let time_s = step as f64 * STEP_S;
        let points = vec![sliding(0.1, (0.1 * time_s) as f32)];
        let phase = if step == 1 { Phase::Begin } else { Phase::Stay };
        let contacts = vec![Contact { id: 1, bodies: [0, 1], phase, points }];
        let frame = ContactFrame { time_s, step_s: STEP_S, poses: vec![Pose::at_origin(1)], contacts, strains: vec![] };
        tracker.step(&frame, &mut handle).unwrap();
        while (processor.clock() + BLOCK as u64) as f64 <= (time_s - STEP_S) * RATE {
            sound.extend(mix(&mut processor, 1));
        }
    }
    let tail = &sound[sound.len() - 44_100..];
    let crossings = tail.windows(2).filter(|w| w[0] <= 0.0 && w[1] > 0.0).count() as f64;
    assert!((crossings / hz - 1.0).abs() < 0.01, "{crossings} Hz, the mode has {hz}");
}

/// A texture with recorded blows plays one in place of a half-sine, from the moment of touching on.
#[test]
fn recorded_takes_replace_the_blow() {
    let texture = brick();
    let samples: Vec<f32> = (0..2000).map(|n| (-(n as f32) / 300.0).exp() * (0.3 * n as f32).sin()).collect();
    let take = Recording::new(&samples, RATE);
    let settings = Settings { quality: Quality::FULL, ..Settings::default() };
    let (mut handle, processor) = engine(settings).unwrap();
    let model = random_body(60, 6.0, 7);
    let block = handle.add(&BodySettings::new(model.clone())).unwrap();
    let mut tracker = Tracker::new(TrackerSettings::default(), RATE);
    tracker.add(0, ContactBody::silent().with_surface(SurfaceRuntime::new(&texture, &[], &[take], 1, RATE).unwrap()));
    tracker.add(1, ContactBody::of(block, model, 0.2));
    let mut stage = Stage { handle, processor, tracker, sound: Vec::new(), steps: 0 };
    (0..9).for_each(|_| stage.step(Phase::End, vec![]));
    stage.step(Phase::Begin, vec![landing(1.0)]);
    (0..40).for_each(|_| stage.step(Phase::Stay, vec![resting()]));
    assert_eq!((stage.impacts(), stage.processor.stats().hits), (1, 0));
    let first = stage.sound.iter().position(|y| *y != 0.0).unwrap() as f64 / RATE;
    assert!((first - 9.0 * STEP_S - 1e-3).abs() < 5.0 / RATE, "{first}");
}

/// A blow that also slips is followed by a short rub of `(d/v)(1 + 1/e)`, and by none on smooth surfaces.
#[test]
fn a_grazing_blow_rubs() {
    let contacts = |texture: &Texture| {
        let mut stage = Stage::new(texture);
        stage.step(Phase::Begin, vec![ContactPoint { slip_m_s: [0.5, 0.0, 0.0], ..landing(0.3) }]);
        let mut most = 0;
        for _ in 0..20 {
            stage.step(Phase::End, vec![]);
            most = most.max(stage.processor.stats().contacts);
        }
        (most, stage.processor.stats().contacts)
    };
    let rough = Texture { impact: Impact { grazing_depth_m: 2e-3, ..Impact::default() }, ..brick() };
    assert_eq!(contacts(&rough), (1, 0));
    assert_eq!(contacts(&Texture::default()), (0, 0));
}

/// A body that rings while the other parts slowly hits it again; without that, the blow is one.
#[test]
fn a_ringing_body_hits_back() {
    let hits = |micro: f32| {
        let texture =
            Texture { impact: Impact { micro, ..Impact::default() }, restitution: 0.05, ..Texture::default() };
        let mut stage = Stage::new(&texture);
        stage.step(Phase::Begin, vec![landing(0.2)]);
        (0..120).for_each(|_| stage.step(Phase::End, vec![]));
        assert_eq!(stage.impacts(), 1);
        stage.processor.stats().hits
    };
    let (plain, rattling) = (hits(0.0), hits(20.0));
    assert!(plain == 1 && rattling > 1, "{plain} {rattling}");
}

/// A frame in which body 1 does this on body 0.
fn frame(time_s: f64, phase: Phase, points: Vec<ContactPoint>) -> ContactFrame {
    let contacts = vec![Contact { id: 1, bodies: [0, 1], phase, points }];
    ContactFrame { time_s, step_s: STEP_S, poses: vec![Pose::at_origin(1)], contacts, strains: vec![] }
}

/// The next owner of a number inherits nothing: its first blow counts, it is damped like any other, and contacts sound on it, not on who had the number before.
#[test]
fn a_number_that_is_given_away_again_is_a_new_one() {
    let texture = Texture { damping: 20.0, ..brick() };
    let mut stage = Stage::new(&texture);
    stage.step(Phase::Begin, vec![landing(1.0)]);
    for k in 0..60 {
        stage.step(Phase::Stay, vec![sliding(0.5, 0.001 * k as f32)]);
    }
    assert!(stage.processor.stats().contacts > 0);
    stage.impacts();
    let old = stage.tracker.partner(1).unwrap().body.unwrap();
    stage.tracker.remove(1);
    let ended = stage.tracker.drain().filter(|h| h.kind == ContactEventKind::End).count();
    assert_eq!(ended, 1, "its contact has ended");
    stage.handle.remove(old).unwrap();
    let model = point(&[(500.0, 1.0, 1.0)]);
    let new = stage.handle.add(&BodySettings::new(model.clone())).unwrap();
    stage.tracker.add(1, ContactBody::of(new, model, 0.2));
    // It strikes within the refractory time of the other's last blow, in a contact of the same name.
    stage.step(Phase::Begin, vec![landing(1.0)]);
    assert_eq!(stage.impacts(), 1);
    for k in 0..60 {
        stage.step(Phase::Stay, vec![sliding(0.5, 0.001 * k as f32)]);
    }
    let bus = |stage: &Stage| stage.processor.buses().any(|(id, bus)| id == new && bus.iter().any(|y| *y != 0.0));
    assert!(stage.processor.stats().contacts == 1 && bus(&stage), "its own contact is heard");
    // It rests, damped by 20 · its share of the masses: after half a second 0.2 nepers would be left of an undamped one's 0.5.
    for _ in 0..480 {
        stage.step(Phase::Stay, vec![resting()]);
    }
    let end = stage.sound.len() as f64 / RATE;
    let (early, late) = (stage.energy(end - 0.6, end - 0.5), stage.energy(end - 0.1, end));
    assert!(late < early * (-2.0f64 * 10.0 * 0.45).exp(), "damped: {early} {late}");
}

/// What is set while contacts sound: another surface fades over, a smooth one ends them, another model is touched where it is, another mass changes blows.
#[test]
fn bodies_change_while_they_slide() {
    let mut stage = Stage::new(&brick());
    let slide = |stage: &mut Stage, steps: usize| {
        for _ in 0..steps {
            let place = 0.5 * STEP_S as f32 * stage.steps as f32;
            stage.step(Phase::Stay, vec![sliding(0.5, place)]);
        }
    };
    stage.step(Phase::Begin, vec![sliding(0.5, 0.0)]);
    slide(&mut stage, 100);
    assert_eq!(stage.processor.stats().contacts, 1);
    let louder = Texture { gain: Gain { slip: Curve::new(&[[0.0, 30.0]]).unwrap(), ..brick().gain }, ..brick() };
    stage.tracker.set_surface(0, SurfaceRuntime::new(&louder, &[], &[], 1, RATE).unwrap());
    slide(&mut stage, 3);
    assert_eq!(stage.processor.stats().contacts, 2, "one fades out while the other fades in");
    slide(&mut stage, 100);
    assert_eq!(stage.processor.stats().contacts, 1);
    let end = stage.sound.len() as f64 / RATE;
    let (before, after) = (stage.energy(end - 0.32, end - 0.23), stage.energy(end - 0.09, end));
    assert!(after > 4.0 * before, "{before} {after}");
    // Another model, and the tracker told of it.
    let model = point(&[(700.0, 5.0, 1.0)]);
    let body = stage.tracker.partner(1).unwrap().body.unwrap();
    stage.handle.swap(body, &BodySettings::new(model.clone())).unwrap();
    stage.tracker.set_model(1, model);
    slide(&mut stage, 100);
    assert_eq!(stage.processor.stats().contacts, 1);
    let recent = &stage.sound[stage.sound.len() - 4000..];
    let level = |hz: f64| common::level_db(recent, hz, RATE);
    assert!(level(700.0) > level(500.0) + 12.0 && level(700.0) > level(1000.0) + 12.0, "the new model's one mode");
    stage.tracker.set_surface(0, SurfaceRuntime::smooth());
    slide(&mut stage, 20);
    assert_eq!(stage.processor.stats().contacts, 0);
    let heard: Vec<ContactEventKind> = stage.tracker.drain().map(|h| h.kind).collect();
    assert_eq!(heard, [ContactEventKind::Begin, ContactEventKind::End]);
    stage.tracker.set_mass(1, 5.0);
    stage.tracker.set_mass(1, f64::NAN);
    assert_eq!(stage.tracker.partner(1).unwrap().mass_kg, 5.0);
}

/// A pause fades all contacts; when time goes on they sound again, the same contacts as before.
#[test]
fn a_pause_is_quiet() {
    let mut stage = Stage::new(&brick());
    stage.step(Phase::Begin, vec![sliding(0.5, 0.0)]);
    (0..100).for_each(|k| stage.step(Phase::Stay, vec![sliding(0.5, 0.001 * k as f32)]));
    assert_eq!(stage.processor.stats().contacts, 1);
    stage.tracker.quiet(stage.steps as f64 * STEP_S, &mut stage.handle).unwrap();
    mix(&mut stage.processor, 20);
    assert_eq!(stage.processor.stats().contacts, 0);
    // The clock of the simulation stood still for 20 blocks.
    stage.tracker.set_clock(20.0 * BLOCK as f64, RATE);
    (100..120).for_each(|k| stage.step(Phase::Stay, vec![sliding(0.5, 0.001 * k as f32)]));
    assert_eq!(stage.processor.stats().contacts, 1);
    assert_eq!(stage.tracker.drain().map(|h| h.kind).collect::<Vec<_>>(), [ContactEventKind::Begin]);
}

/// What a restored tracker sends is what an uninterrupted one does: the same blows, the same seeds, the same damping.
#[test]
fn a_restored_tracker_goes_on_as_if_nothing_had_been() {
    let texture = Texture { damping: 3.0, ..brick() };
    let points = |k: usize| match k % 50 {
        0 => (Phase::Begin, vec![landing(1.0)]),
        1..=40 => (Phase::Stay, vec![sliding(0.5, 0.001 * k as f32)]),
        _ => (Phase::End, vec![]),
    };
    let run = |interrupted: bool| {
        let mut stage = Stage::new(&texture);
        for k in 0..70 {
            let (phase, points) = points(k);
            stage.step(phase, points);
        }
        if interrupted {
            let saved = stage.tracker.clone();
            for k in 70..130 {
                let (phase, points) = points(k + 13);
                let time_s = (k + 1) as f64 * STEP_S;
                stage.tracker.step(&frame(time_s, phase, points), &mut stage.handle).unwrap();
            }
            stage.tracker.restore(&saved, 70.0 * STEP_S, &mut stage.handle).unwrap();
            stage.tracker.drain().count();
        } else {
            stage.tracker.drain().count();
        }
        let mut heard = Vec::new();
        for k in 70..400 {
            let (phase, points) = points(k);
            stage.tracker.step(&frame((k + 1) as f64 * STEP_S, phase, points), &mut stage.handle).unwrap();
            heard.extend(stage.tracker.drain());
            mix(&mut stage.processor, 2);
        }
        (heard, format!("{:?}", stage.tracker.clone()))
    };
    let (first, state) = run(false);
    let (again, restored) = run(true);
    assert!(first.len() > 10);
    assert_eq!(first, again);
    assert_eq!(state, restored);
}

/// `sample = time · rate + offset`; keyframes stay in order when the offset jumps back, so that the contact sounds on.
#[test]
fn the_clock_can_be_moved() {
    let mut tracker = Tracker::new(TrackerSettings::default(), RATE);
    assert_eq!(tracker.moment(0.5), eigentone_core::event::Moment::at(0.5, RATE));
    tracker.set_clock(1000.25, 2.0 * RATE);
    let moment = tracker.moment(0.5);
    assert_eq!((moment.sample, moment.fraction), (45_100, 0.25));
    tracker.set_clock(f64::NAN, RATE);
    tracker.set_clock(0.0, 0.0);
    assert_eq!(tracker.moment(0.5), moment, "what makes no sense changes nothing");

    let mut stage = Stage::new(&brick());
    stage.step(Phase::Begin, vec![sliding(0.5, 0.0)]);
    for k in 0..200 {
        stage.tracker.set_clock(if k % 20 < 10 { 300.0 } else { -300.0 }, RATE);
        stage.step(Phase::Stay, vec![sliding(0.5, 0.001 * k as f32)]);
    }
    assert_eq!(stage.processor.stats().contacts, 1);
    assert_eq!(stage.processor.stats().dropped, 0);
}

/// Strain in a frame shifts the pitch of its body, once it has changed; forces, speeds and impulses beyond all measure are cut and counted.
#[test]
fn strains_are_told_and_excesses_cut() {
    let settings = Settings { quality: Quality::FULL, ..Settings::default() };
    let (mut handle, mut processor) = engine(settings).unwrap();
    let model = point(&[(1000.0, 1.0, 1.0)]);
    let body = handle.add(&BodySettings { strain_sensitivity: 1.0, ..BodySettings::new(model.clone()) }).unwrap();
    let mut tracker = Tracker::new(TrackerSettings::default(), RATE);
    tracker.add(0, ContactBody::silent().with_surface(SurfaceRuntime::new(&brick(), &[], &[], 1, RATE).unwrap()));
    tracker.add(1, ContactBody::of(body, model, 0.2));
    let mut strained = frame(STEP_S, Phase::End, vec![]);
    strained.strains = vec![eigentone_core::contact::Strain { body: 1, strain: 0.1 }];
    let room = handle.room();
    tracker.step(&strained, &mut handle).unwrap();
    assert_eq!(handle.room(), room - 1);
    strained.time_s += STEP_S;
    tracker.step(&strained, &mut handle).unwrap();
    assert_eq!(handle.room(), room - 1, "told once");
    handle.send(common::impulse(body, 10_000, 1.0)).unwrap();
    let sound = mix(&mut processor, 400);
    let level = |hz: f64| common::level_db(&sound[12_000..], hz, RATE);
    assert!(level(1100.0) > level(1000.0) + 20.0, "{} {}", level(1100.0), level(1000.0));
    assert_eq!(tracker.limited(), 0);
    let wild = ContactPoint {
        normal_impulse_ns: 1e30,
        approach_m_s: 1e20,
        slip_m_s: [1e25, 0.0, 0.0],
        travel_m_s: Some([1e9, -1e9]),
        ..resting()
    };
    for k in 3..40 {
        let phase = if k == 3 { Phase::Begin } else { Phase::Stay };
        tracker.step(&frame(k as f64 * STEP_S, phase, vec![wild]), &mut handle).unwrap();
        let sound = mix(&mut processor, 2);
        assert!(sound.iter().all(|y| y.is_finite()));
    }
    assert!(tracker.limited() >= 37);
    let loudest = tracker.drain().filter_map(|h| match h.kind {
        ContactEventKind::Impact { impulse_ns, approach_m_s } => Some((impulse_ns, approach_m_s)),
        _ => None,
    });
    assert!(loudest.fold((0.0f32, 0.0f32), |m, x| (m.0.max(x.0), m.1.max(x.1))) <= (1001.0, 100.0));
}
