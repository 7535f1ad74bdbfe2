//! Free field through the spatial renderer: levels, balance, orientation, sources that come, sleep, wake and go.

mod common;

use common::{random, two_rooms};
use eigentone_core::acoustics::Parameters;
use eigentone_core::event::BodyId;
use eigentone_core::{DQuat, NEAREST_M, Vec3};
use eigentone_space::BLOCK;
use eigentone_space::air::Air;
use eigentone_space::canonical::Canonical;
use eigentone_space::direct::Spatial;
use eigentone_space::renderer::{Renderer, SourceSends};
use eigentone_space::room::{Place, Space, SpaceSettings, space};
use eigentone_space::sends::Sends;
use std::sync::Arc;

const RATE_HZ: f64 = 44_100.0;

fn body(slot: u32) -> BodyId {
    BodyId { slot, generation: 0 }
}

fn pan(max_sources: usize) -> (Space, Renderer) {
    space(&SpaceSettings { max_sources, spatial: Spatial::Pan, ..SpaceSettings::default() })
}

fn block(renderer: &mut Renderer, sounds: &[(BodyId, [f32; BLOCK])]) -> [[f32; BLOCK]; 2] {
    let mut out = [[0.0; BLOCK]; 2];
    renderer.begin(|_, _| {});
    sounds.iter().for_each(|(id, x)| renderer.add(*id, x));
    renderer.finish(&mut out);
    out
}

fn ramp() -> [f32; BLOCK] {
    std::array::from_fn(|n| 0.1 + 0.37 * n as f32)
}

/// In front at one metre both channels are the dry sound, to the bit and without delay; elsewhere `1/r`, and not more than at 0.25 m.
#[test]
fn one_metre_in_front_is_the_dry_sound() {
    let look = Vec3::new(0.6, 0.8, 0.0);
    for (listener, look) in [(Vec3::ZERO, Vec3::Y), (Vec3::ZERO, Vec3::X), (Vec3::new(3.0, -2.0, 1.5), look)] {
        let (mut space, mut renderer) = pan(1);
        assert_eq!(renderer.latency(), 0);
        space.listen(listener, look);
        for (distance_m, gain) in
            [(1.0, 1.0), (2.0, 0.5), (8.0, 0.125), (0.5, 2.0), (NEAREST_M, 4.0), (0.1, 4.0), (0.0, 4.0)]
        {
            let id = BodyId { slot: 0, generation: (1000.0 * distance_m) as u32 };
            space.place(id, &Place::at(listener + distance_m * look));
            let out = block(&mut renderer, &[(id, ramp())]);
            for channel in out {
                for (y, x) in channel.iter().zip(ramp()) {
                    assert!((y / (gain * x) - 1.0).abs() < 3e-7, "{distance_m} m: {y} for {}", gain * x);
                }
            }
            if listener == Vec3::ZERO && distance_m == 1.0 {
                assert_eq!(out, [ramp(); 2]);
            }
        }
    }
}

/// √2 cos and √2 sin of an angle from 0 far left to 90° far right, whatever the direction: the same power everywhere.
#[test]
fn balance_has_equal_power() {
    let mut seed = 5;
    for generation in 0..300 {
        let (mut space, mut renderer) = pan(1);
        let mut point = || Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed)) * 10.0 - 5.0;
        let (listener, look, source) = (point(), point(), point());
        space.listen(listener, look);
        let id = BodyId { slot: 0, generation };
        space.place(id, &Place::at(source));
        let out = block(&mut renderer, &[(id, [1.0; BLOCK])]);
        let away = source - listener;
        let to_right = away.normalize().dot(look.cross(Vec3::Z).normalize());
        let angle = std::f64::consts::FRAC_PI_4 * (1.0 + to_right);
        let level = std::f64::consts::SQRT_2 / away.length().max(NEAREST_M);
        for (channel, expected) in out.iter().zip([level * angle.cos(), level * angle.sin()]) {
            assert!((f64::from(channel[17]) - expected).abs() < 2e-6 * level, "{} for {expected}", channel[17]);
        }
    }
}

/// A tone that passes at 20 m/s half a metre away, placed 60 times a second: the largest fourth difference over the level at that moment stays within 5 % of that of a tone at rest. A leap of the gain once per
/// update would be 200 times as much.
#[test]
fn a_passing_source_has_no_zipper_noise() {
    let update = (RATE_HZ / 60.0 / BLOCK as f64) as usize;
    let heard = |speed_m_s: f64| {
        let (mut space, mut renderer) = space(&SpaceSettings {
            max_sources: 1,
            spatial: Spatial::Pan,
            update_s: (update * BLOCK) as f64 / RATE_HZ,
            ..SpaceSettings::default()
        });
        space.listen(Vec3::ZERO, Vec3::Y);
        let mut sound = Vec::new();
        for b in 0..600 {
            let t = ((b * BLOCK) as f64 - 300.0 * BLOCK as f64) / RATE_HZ;
            if b % update == 0 {
                space.place(body(0), &Place::at(Vec3::new(speed_m_s * t, 0.5, 0.0)));
            }
            let tone = std::array::from_fn(|n| {
                (std::f64::consts::TAU * 1000.0 * (b * BLOCK + n) as f64 / RATE_HZ).sin() as f32
            });
            sound.extend(block(&mut renderer, &[(body(0), tone)])[0]);
        }
        sound
    };
    let roughness = |x: &[f32]| {
        let rms = |x: &[f64]| (x.iter().map(|y| y * y).sum::<f64>() / x.len() as f64).sqrt();
        let mut y: Vec<f64> = x.iter().map(|y| f64::from(*y)).collect();
        let levels: Vec<f64> = y.chunks(441).map(rms).collect();
        for _ in 0..4 {
            y = y.windows(2).map(|w| w[1] - w[0]).collect();
        }
        y.chunks(441).map(rms).zip(levels).map(|(d, level)| d / level).fold(0.0, f64::max)
    };
    let (still, passing) = (roughness(&heard(0.0)), roughness(&heard(20.0)));
    println!("fourth differences over the level: still {still:.3e}, passing {passing:.3e}");
    assert!(passing < 1.05 * still, "{passing} {still}");
}

/// A pose says what a look says, and more: who leans the head to the right shoulder has above at the left. What is not a rotation changes nothing.
#[test]
fn poses_turn_the_head() {
    let balance = |set: &dyn Fn(&mut Space), source: Vec3| {
        let (mut space, mut renderer) = pan(1);
        set(&mut space);
        space.place(body(0), &Place::at(source));
        block(&mut renderer, &[(body(0), [1.0; BLOCK])]).map(|c| c[BLOCK - 1])
    };
    let source = Vec3::new(1.0, 2.0, 0.5);
    for yaw in [0.0f64, 0.7, -2.0, 3.0] {
        let look = Vec3::new(-yaw.sin(), yaw.cos(), 0.0);
        let looking = balance(&|space| space.listen(Vec3::Z, look), source);
        let posed = balance(&|space| space.listen_pose(Vec3::Z, DQuat::from_rotation_z(yaw) * 2.0), source);
        assert!(looking.iter().zip(posed).all(|(a, b)| (a - b).abs() < 1e-6), "{looking:?} {posed:?}");
    }
    let lean = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let [left, right] = balance(&|space| space.listen_pose(Vec3::ZERO, lean), Vec3::Z);
    assert!(left > 1.4 && right.abs() < 1e-6, "above is left: {left} {right}");
    let upright = balance(&|space| space.listen_pose(Vec3::ZERO, DQuat::IDENTITY), source);
    for broken in [DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0)] {
        assert_eq!(balance(&|space| space.listen_pose(Vec3::NAN, broken), source), upright);
    }
}

/// Who is idle costs no message; who is woken begins at once where it was last put; who is silent again is known to be.
#[test]
fn idle_sources_are_remembered_and_woken() {
    let (mut space, mut renderer) = pan(100);
    space.listen(Vec3::ZERO, Vec3::Y);
    for slot in 0..100 {
        space.place_idle(body(slot), &Place::at(Vec3::Y * f64::from(slot + 1)));
    }
    space.place_idle(body(3), &Place::at(Vec3::Y * 2.0));
    let mut told = Vec::new();
    renderer.begin(|id, factor| told.push((id, factor)));
    renderer.add(body(3), &[1.0; BLOCK]);
    let mut out = [[0.0; BLOCK]; 2];
    renderer.finish(&mut out);
    assert_eq!((told.len(), out, space.stats().placed), (0, [[0.0; BLOCK]; 2], 0));

    assert!(space.wake(body(3)) && !space.wake(BodyId { slot: 3, generation: 1 }) && !space.wake(body(100)));
    renderer.begin(|id, factor| told.push((id, factor)));
    assert_eq!(told, [(body(3), 0.5)]);
    assert!(!space.sounds(body(3)));
    renderer.add(body(3), &[1.0; BLOCK]);
    renderer.finish(&mut out);
    assert_eq!(out, [[0.5; BLOCK]; 2]);
    assert!(space.sounds(body(3)) && !space.sounds(body(4)));
    for _ in 0..10 {
        block(&mut renderer, &[]);
    }
    assert!(!space.sounds(body(3)) && renderer.is_idle());

    // Far away in its sleep: it does not glide there when it wakes.
    space.place_idle(body(3), &Place::at(Vec3::Y * 8.0));
    space.wake(body(3));
    assert_eq!(block(&mut renderer, &[(body(3), [1.0; BLOCK])]), [[0.125; BLOCK]; 2]);
    // One that sounds goes there in a line.
    space.place_idle(body(3), &Place::at(Vec3::Y));
    space.wake(body(3));
    let [left, _] = block(&mut renderer, &[(body(3), [1.0; BLOCK])]);
    assert!(left[0] < 0.2 && left[BLOCK - 1] > left[0] && left[BLOCK - 1] < 0.9, "{left:?}");

    // The slot goes to another: the former is gone on both sides.
    let next = BodyId { slot: 3, generation: 1 };
    space.place_idle(next, &Place::at(Vec3::Y));
    assert!(!space.knows(body(3)) && space.knows(next));
    space.remove(next);
    assert!(!space.knows(next) && !space.wake(next));
    for _ in 0..10 {
        block(&mut renderer, &[]);
    }
    assert_eq!(renderer.sends(body(3)), None);
    space.place(body(4), &Place::at(Vec3::Y));
    assert_eq!(block(&mut renderer, &[(body(4), [1.0; BLOCK])]), [[1.0; BLOCK]; 2], "placing wakes");
}

/// A slot goes to another source while sound of the first is on its way: that falls silent over a block instead of being cut. The largest second difference is that of a line over 64 samples, not of a step.
#[test]
fn a_slot_that_is_taken_over_does_not_click() {
    let (mut space, mut renderer) =
        space(&SpaceSettings { max_sources: 1, spatial: Spatial::Pan, doppler: true, ..SpaceSettings::default() });
    space.listen(Vec3::ZERO, Vec3::Y);
    space.place(body(0), &Place::at(Vec3::Y));
    let mut sound = Vec::new();
    for b in 0..60usize {
        if b == 40 {
            space.place(BodyId { slot: 0, generation: 1 }, &Place::at(Vec3::Y));
        }
        let tone = std::array::from_fn(|n| (0.04 * (b * BLOCK + n) as f32).sin());
        let sounds = [(body(0), tone)];
        sound.extend(block(&mut renderer, if b < 40 { &sounds } else { &[] })[0]);
    }
    let loud = sound[35 * BLOCK..40 * BLOCK].iter().fold(0.0f32, |m, y| m.max(y.abs()));
    let bend = sound[10 * BLOCK..].windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).fold(0.0, f32::max);
    assert!(loud > 0.9 && bend < 0.03, "{loud} {bend}");
    assert!(sound[41 * BLOCK..].iter().all(|y| *y == 0.0));
}

/// What a source gives to each bus is what the field's parameters make of it.
#[test]
fn sends_are_those_of_the_field() {
    let heard = Parameters { direct_db: -6.0, early_db: -9.0, early_decay_s: 0.8, late_decay_s: 1.1, tilt_db: -1.0 };
    let field = Arc::new(two_rooms(1.0, |_, _| heard));
    let (mut rooms, mut renderer) =
        space(&SpaceSettings { max_sources: 2, field: Some(field.clone()), ..SpaceSettings::default() });
    let (listener, source) = (Vec3::new(2.0, 4.0, 1.5), Vec3::new(4.0, 4.0, 1.5));
    rooms.listen(listener, Vec3::X);
    rooms.place(body(1), &Place::at(source));
    block(&mut renderer, &[(body(1), [0.0; BLOCK])]);
    let found = renderer.sends(body(1)).expect("placed");
    let filters = Canonical::new(RATE_HZ, &Air::default()).for_field(field.info().f_max_hz);
    let (sends, _) = Sends::new(&rooms.ask(source).parameters, 2.0, &filters);
    assert_eq!((found.direct, found.early, found.late), (sends.direct, sends.early, sends.late));
    assert_eq!(found.direction, [0.0, 1.0, 0.0]);
    assert_eq!(renderer.sends(body(0)), None);
    assert_eq!(renderer.sends(body(7)), None);

    let (mut open, mut renderer) = pan(1);
    open.place(body(0), &Place::at(Vec3::new(0.0, 4.0, 0.0)));
    block(&mut renderer, &[]);
    let expected = SourceSends { direct: 0.25, early: [0.0; 3], late: [0.0; 3], direction: [0.0, 1.0, 0.0] };
    assert_eq!(renderer.sends(body(0)), Some(expected));
}

/// Five sources among ten thousand that exist sound as five among five, to the byte, with tails and all.
#[test]
fn those_that_only_exist_change_nothing() {
    let render = |limit: usize, slots: [u32; 5], crowd: bool| {
        let (mut space, mut renderer) =
            space(&SpaceSettings { max_sources: limit, spatial: Spatial::Head, ..SpaceSettings::default() });
        space.listen(Vec3::ZERO, Vec3::Y);
        if crowd {
            (0..9000).for_each(|slot| space.place(body(slot), &Place::at(Vec3::X * 3.0)));
            for _ in 0..4 {
                block(&mut renderer, &[]);
            }
        }
        let mut heard = Vec::new();
        for b in 0..200usize {
            if b % 12 == 0 {
                for (k, slot) in slots.into_iter().enumerate() {
                    let angle = 0.05 * b as f64 + k as f64;
                    space.place(
                        BodyId { slot, generation: 1 },
                        &Place::at(Vec3::new(angle.cos(), angle.sin(), 0.2) * (1.0 + k as f64)),
                    );
                }
            }
            let sounds: Vec<_> = slots
                .into_iter()
                .enumerate()
                .filter(|(k, _)| (b / 7 + k) % 3 != 0)
                .map(|(k, slot)| {
                    let x = std::array::from_fn(|n| (0.1 * (k + 1) as f32 * (b * BLOCK + n) as f32).sin());
                    (BodyId { slot, generation: 1 }, x)
                })
                .collect();
            heard.extend(block(&mut renderer, &sounds));
        }
        heard
    };
    let few = render(5, [0, 1, 2, 3, 4], false);
    assert_eq!(few, render(10_000, [3, 64, 4095, 4096, 9999], false));
    assert_eq!(few, render(10_000, [0, 100, 5000, 5001, 9999], true));
}
