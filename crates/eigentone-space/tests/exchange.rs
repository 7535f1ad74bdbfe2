//! Rooms and delays that are set, exchanged and taken away while sources sound.

mod common;

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use common::two_rooms_up_to;
use eigentone_core::acoustics::Field;
use eigentone_core::acoustics::Parameters;
use eigentone_core::event::BodyId;
use eigentone_core::{SOUND_M_S, Vec3};
use eigentone_space::BLOCK;
use eigentone_space::direct::Spatial;
use eigentone_space::renderer::Renderer;
use eigentone_space::room::{Place, Space, SpaceSettings, space};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

const RATE_HZ: f64 = 44_100.0;
const BODY: BodyId = BodyId { slot: 0, generation: 0 };
const UPDATE: usize = 6;

fn room(f_max_hz: f64, early_db: f64, decay_s: f64) -> Arc<Field> {
    let heard =
        Parameters { direct_db: -2.0, early_db, early_decay_s: decay_s, late_decay_s: 1.2 * decay_s, tilt_db: -1.0 };
    Arc::new(two_rooms_up_to(f_max_hz, 1.0, |_, _| heard))
}

fn stage(spatial: Spatial, field: Option<Arc<Field>>) -> (Space, Renderer) {
    let (mut space, renderer) = space(&SpaceSettings {
        max_sources: 4,
        spatial,
        field,
        update_s: (UPDATE * BLOCK) as f64 / RATE_HZ,
        ..SpaceSettings::default()
    });
    space.listen(Vec3::new(2.0, 4.0, 1.5), Vec3::X);
    (space, renderer)
}

fn tone(block: usize) -> [f32; BLOCK] {
    std::array::from_fn(|n| (std::f64::consts::TAU * 1000.0 * (block * BLOCK + n) as f64 / RATE_HZ).sin() as f32)
}

/// Blocks of a tone, or of what follows it; the control side does `at` each block. Nothing allocates on the audio side.
fn render(
    (mut space, mut renderer): (Space, Renderer),
    blocks: usize,
    sound: impl Fn(usize) -> Option<[f32; BLOCK]>,
    mut at: impl FnMut(usize, &mut Space),
) -> [Vec<f32>; 2] {
    let mut channels: [Vec<f32>; 2] = Default::default();
    for block in 0..blocks {
        at(block, &mut space);
        if block % UPDATE == 0 {
            space.place(BODY, &Place::at(Vec3::new(4.0, 3.0, 1.5)));
        }
        let mut out = [[0.0; BLOCK]; 2];
        let before = violation_count();
        assert_no_alloc(|| {
            renderer.begin(|_, _| {});
            if let Some(x) = sound(block) {
                renderer.add(BODY, &x);
            }
            renderer.finish(&mut out);
        });
        assert_eq!(violation_count(), before, "block {block}");
        channels.iter_mut().zip(&out).for_each(|(c, o)| c.extend_from_slice(o));
    }
    channels
}

/// The largest fourth difference over stretches of 256 samples, over the loudest level: of a tone of 1 kHz 4.1e-4, of a step of 1 % 0.06 times its share of the stretch.
fn roughness(samples: &[f32]) -> f64 {
    let rms = |x: &[f64]| (x.iter().map(|y| y * y).sum::<f64>() / x.len() as f64).sqrt();
    let mut x: Vec<f64> = samples.iter().map(|&y| f64::from(y)).collect();
    let loudest = x.chunks(256).map(rms).fold(0.0, f64::max);
    for _ in 0..4 {
        x = x.windows(2).map(|w| w[1] - w[0]).collect();
    }
    x.chunks(256).map(rms).fold(0.0, f64::max) / loudest
}

/// From 0.6 s on, where the beginning of the tone has left even the longest filter of these rooms.
const START: usize = 414;

/// The tone, faded out and in within a tenth of a second: what happens to a room's sound when it comes and goes by itself.
fn faded(block: usize) -> [f32; BLOCK] {
    let gain = |n: usize| {
        let at = (block as f64 - START as f64 + n as f64 / BLOCK as f64) / 69.0;
        if at < 0.0 { 1.0 } else { 0.5 + 0.5 * (std::f64::consts::PI * at.rem_euclid(2.0)).cos() }
    };
    let tone = tone(block);
    std::array::from_fn(|n| tone[n] * gain(n) as f32)
}

/// Rooms come, change and go, and their sound is no rougher than that of a tone that comes and goes in one of them; another f_max means other filters, delays and tilts.
#[test]
fn exchanged_rooms_do_not_click() {
    let rooms = [None, Some(room(500.0, -6.0, 0.6)), Some(room(250.0, -12.0, 0.5)), Some(room(500.0, -3.0, 0.5))];
    for spatial in [Spatial::Pan, Spatial::Head] {
        let still = rooms.clone().map(|field| {
            let heard = render(stage(spatial.clone(), field), START + 360, |b| Some(faded(b)), |_, _| {});
            heard.map(|c| roughness(&c[START * BLOCK..]))
        });
        let order = [1, 2, 3, 0, 2, 1, 0, 3, 2];
        let heard = render(
            stage(spatial.clone(), None),
            START + 90 * order.len(),
            |b| Some(tone(b)),
            |block, space| {
                if block >= START && (block - START) % 90 == 45 {
                    space.set_field(rooms[order[(block - START) / 90]].clone());
                }
            },
        );
        for channel in 0..2 {
            let quiet = still.iter().map(|r| r[channel]).fold(0.0, f64::max);
            let busy = roughness(&heard[channel][START * BLOCK..]);
            println!("{spatial:?}: still {quiet:.3e}, exchanged {busy:.3e}");
            assert!(busy < 1.02 * quiet, "{spatial:?}: {busy} {quiet}");
        }
    }
}

/// What has been sounded before the rooms are taken away or exchanged rings out in them to its end, to the byte.
#[test]
fn tails_ring_out_in_their_own_rooms() {
    let hall = room(500.0, -6.0, 1.5);
    let sound = |block: usize| (block < 100).then(|| tone(block));
    let kept = render(stage(Spatial::Head, Some(hall.clone())), 1500, sound, |_, _| {});
    for other in [None, Some(room(250.0, -10.0, 0.8))] {
        let exchanged = render(stage(Spatial::Head, Some(hall.clone())), 1500, sound, |block, space| {
            if block == 106 {
                space.set_field(other.clone());
            }
        });
        assert!(kept[0][500 * BLOCK..].iter().any(|y| y.abs() > 1e-4));
        assert!(kept == exchanged);
    }
}

/// Where the rooms are the same in all but their file, nothing but the parameters changes; and after a while in free field nothing is left of rooms.
#[test]
fn levels_are_those_of_the_last_rooms() {
    let [near, far] = [room(500.0, -6.0, 0.5), room(500.0, -26.0, 0.5)];
    let energy = |x: &[f32]| x.iter().map(|y| f64::from(y * y)).sum::<f64>();
    // A train of clicks, so that reverberation has energy of its own.
    let clicks = |b: usize| Some(std::array::from_fn(|n| if b.is_multiple_of(10) && n == 0 { 1.0 } else { 0.0 }));
    let only = |field: Option<Arc<Field>>| render(stage(Spatial::Pan, field), 1200, clicks, |_, _| {});
    let set_at_300 = |first: Option<Arc<Field>>, then: Option<Arc<Field>>| {
        render(stage(Spatial::Pan, first), 1200, clicks, |block, space| {
            if block == 300 {
                space.set_field(then.clone());
            }
        })
    };
    for (first, then) in
        [(None, Some(near.clone())), (Some(near.clone()), Some(far.clone())), (Some(room(250.0, -6.0, 0.5)), Some(far))]
    {
        let (expected, found) = (only(then.clone()), set_at_300(first, then));
        let late = 1000 * BLOCK..;
        let ratio_db = 10.0 * (energy(&found[0][late.clone()]) / energy(&expected[0][late])).log10();
        assert!(ratio_db.abs() < 0.01, "{ratio_db} dB");
    }
    // When the longest filter has ended, not a bit of the room is left.
    let [free, never] = [Some(near), None].map(|first| {
        render(stage(Spatial::Pan, first), 2900, clicks, |block, space| {
            if block == 300 {
                space.set_field(None);
            }
        })
    });
    assert!(free[0][2800 * BLOCK..] == never[0][2800 * BLOCK..]);
}

/// A hundred exchanges, faster than tails ring out: the audio side never allocates (see `render`), and the program's own memory does not grow, because what is exchanged comes back.
#[test]
fn fast_exchanges_are_bounded() {
    let rooms = [room(500.0, -6.0, 2.5), room(250.0, -6.0, 2.5)];
    let heard = render(
        stage(Spatial::Head, None),
        1000,
        |b| Some(tone(b)),
        |block, space| {
            if block % 10 == 0 {
                space.set_field(if block % 30 == 0 { None } else { Some(rooms[block / 10 % 2].clone()) });
            }
        },
    );
    assert!(heard.iter().flatten().all(|y| y.is_finite() && y.abs() < 100.0));
    assert_eq!(rooms.each_ref().map(Arc::strong_count), [1, 1], "nothing holds on to fields");
}

/// Delays are switched on and off under a tone without a click. Then a click takes `d/c`, or no time.
#[test]
fn doppler_is_switched_while_it_sounds() {
    let still = render(stage(Spatial::Pan, None), 700, |b| Some(tone(b)), |_, _| {});
    let switched = render(
        stage(Spatial::Pan, None),
        700,
        |b| Some(tone(b)),
        |block, space| {
            if block % 80 == 40 {
                space.set_doppler(block / 80 % 2 == 0);
            }
        },
    );
    let (quiet, busy) = (roughness(&still[0]), roughness(&switched[0]));
    println!("fourth differences: still {quiet:.3e}, switched {busy:.3e}");
    assert!(busy < 1.02 * quiet, "{busy} {quiet}");

    let click = |b: usize| Some(std::array::from_fn(|n| if b % 200 == 100 && n == 0 { 1.0 } else { 0.0 }));
    let clicks = render(stage(Spatial::Pan, None), 600, click, |block, space| {
        if block == 150 || block == 350 {
            space.set_doppler(block == 150);
        }
    });
    let delay = |from: usize| {
        let from = from * BLOCK;
        clicks[0][from..].iter().position(|y| y.abs() > 0.1).unwrap_or(usize::MAX)
    };
    let way = Vec3::new(2.0, -1.0, 0.0).length() / SOUND_M_S * RATE_HZ;
    assert_eq!([delay(100), delay(500)], [0, 0]);
    assert!((delay(300) as f64 - way).abs() < 6.0, "{} for {way}", delay(300));
}
