//! Rooms heard: a flat is baked once, and then asked, walked through and listened to.

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use eigentone_core::Vec3;
use eigentone_core::acoustics::{Field, Parameters};
use eigentone_core::event::BodyId;
use eigentone_io::read_field;
use eigentone_scene::bake::{self, Options, Outcome};
use eigentone_scene::scene::Scene;
use eigentone_space::BLOCK;
use eigentone_space::decode::{Decoder, DecoderSettings};
use eigentone_space::direct::Spatial;
use eigentone_space::renderer::Renderer;
use eigentone_space::room::{Place, Space, SpaceSettings, space};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

const FLAT: &str = "[acoustics]\nroom = 'apartment'\nf_max_hz = 500\ngrid_m = 1\nspacing_m = 2.5\nabove_floor_m = 1.5\nspacing_z_m = 3\n";

/// The apartment, baked up to 500 Hz.
fn flat() -> Arc<Field> {
    static FIELD: OnceLock<Arc<Field>> = OnceLock::new();
    FIELD
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let output = folder.path().join("flat.field.safetensors");
            let prepared = bake::prepare(&Scene::parse(FLAT, folder.path(), "flat.toml").unwrap()).unwrap();
            let stop = AtomicBool::new(false);
            let done = bake::job::bake(&prepared, &output, &Options::default(), &stop, &|_| {}).unwrap();
            assert!(matches!(done, Outcome::Done { probes, .. } if probes > 12), "{done:?}");
            Arc::new(read_field(&output).unwrap())
        })
        .clone()
}

fn decoder() -> Decoder {
    Decoder::new(flat(), DecoderSettings::default())
}

fn at(x: f64, y: f64) -> Vec3 {
    Vec3::new(x, y, 1.5)
}

/// Figure 2 of the wave-field paper: what is between a source and a listener in the same room, behind something, in another room, and seen through a door.
#[test]
fn occlusion_obstruction_and_exclusion_are_where_they_should_be() {
    let mut decoder = decoder();
    let mut heard = |source: Vec3, listener: Vec3| {
        let answer = decoder.query(source, listener);
        assert!(answer.confidence > 0.3, "{source} {listener} {answer:?}");
        answer.parameters
    };
    // 2.4 m apart in one room, in sight.
    let open = heard(at(4.3, 6.6), at(4.4, 9.0));
    // The same distance with a bookcase between.
    let obstructed = heard(at(2.5, 6.5), at(2.5, 8.9));
    // In rooms at different ends of the flat.
    let occluded = heard(at(3.5, 2.1), at(11.8, 8.0));
    // From the corridor through a door into the bedroom, in sight.
    let excluded = heard(at(11.95, 5.1), at(11.95, 8.0));
    println!("open {open:?}\nobstructed {obstructed:?}\noccluded {occluded:?}\nexcluded {excluded:?}");
    assert!(obstructed.direct_db < open.direct_db - 4.0, "obstruction: direct sound is low");
    assert!((obstructed.early_db - open.early_db).abs() < 3.0, "obstruction: early sound is kept");
    assert!(occluded.direct_db < open.direct_db - 10.0, "occlusion: direct sound is low");
    assert!(occluded.early_db < open.early_db - 10.0, "occlusion: so is early sound");
    assert!(excluded.direct_db > open.direct_db - 3.0, "exclusion: direct sound is kept");
    assert!(excluded.early_db < open.early_db - 3.0, "exclusion: early sound is low");
    assert!(obstructed.tilt_db < open.tilt_db + 0.5, "high tones bend less");
}

/// Source and listener may be swapped: the median pair differs by at most one step of storage in each parameter.
#[test]
fn swapping_source_and_listener_changes_little() {
    let mut decoder = decoder();
    let quantum = decoder.field().info().quantum;
    let mut seed = 11u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut differences: Vec<[f32; 5]> = Vec::new();
    while differences.len() < 300 {
        let mut point = || Vec3::new(0.5 + 13.0 * random(), 0.5 + 9.0 * random(), 1.5);
        let (a, b) = (point(), point());
        let (there, back) = (decoder.query(a, b), decoder.query(b, a));
        if there.confidence > 0.5 && back.confidence > 0.5 && a.distance(b) > 1.0 {
            let (x, y) = (there.parameters.to_steps(), back.parameters.to_steps());
            differences.push(std::array::from_fn(|p| (x[p] - y[p]).abs()));
        }
    }
    let median = |p: usize| {
        let mut all: Vec<f32> = differences.iter().map(|d| d[p]).collect();
        all.sort_unstable_by(f32::total_cmp);
        all[all.len() / 2]
    };
    let medians: Vec<f32> = (0..5).map(median).collect();
    println!("median differences {medians:?} of {quantum}");
    assert!(medians.iter().all(|m| *m <= quantum), "{medians:?}");
}

/// Ten centimetres from a wall, on both sides of it: each side has its own parameters.
#[test]
fn nothing_leaks_through_the_wall_between_bath_and_study() {
    let mut decoder = decoder();
    // The wall is from 6.9 to 7.1; both rooms open only to the corridor. A listener in the study.
    let listener = at(3.5, 2.1);
    for y in [1.0, 2.0, 3.0] {
        let inside = decoder.query(at(6.8, y), listener).parameters;
        let beyond = decoder.query(at(7.2, y), listener).parameters;
        assert!(beyond.direct_db < inside.direct_db - 6.0, "{y}: {inside:?} {beyond:?}");
        assert!(beyond.early_db < inside.early_db - 6.0, "{y}: {inside:?} {beyond:?}");
    }
}

const BODY: BodyId = BodyId { slot: 0, generation: 0 };
const UPDATE_S: f64 = 1.0 / 60.0;

fn stage(spatial: Spatial) -> (Space, Renderer) {
    space(&SpaceSettings {
        max_sources: 4,
        spatial,
        field: Some(flat()),
        update_s: UPDATE_S,
        ..SpaceSettings::default()
    })
}

/// A source that flies through the flat at 20 m/s.
fn flight(t: f64) -> Vec3 {
    let way = [
        at(1.5, 8.8),
        at(4.5, 8.5),
        at(4.4, 6.6),
        at(2.5, 6.4),
        at(2.5, 5.1),
        at(13.0, 5.1),
        at(7.45, 5.1),
        at(7.45, 9.0),
    ];
    let mut left = (20.0 * t) % 40.0;
    for leg in way.windows(2) {
        let length = leg[0].distance(leg[1]);
        if left < length {
            return leg[0].lerp(leg[1], left / length);
        }
        left -= length;
    }
    way[way.len() - 1]
}

/// A tone of 1 kHz from a source that stands or flies, to a listener who stands or turns: `[left, right]`.
fn heard(fly: bool, seconds: f64) -> [Vec<f32>; 2] {
    let (mut space, mut renderer) = stage(Spatial::Head);
    let rate = 44_100.0;
    let blocks = (seconds * rate) as usize / BLOCK;
    let per_update = (UPDATE_S * rate / BLOCK as f64) as usize;
    let mut channels: [Vec<f32>; 2] = Default::default();
    for block in 0..blocks {
        if block % per_update == 0 {
            let t = block as f64 * BLOCK as f64 / rate;
            let turn = if fly { 3.0 * t } else { 0.0 };
            space.listen(at(3.0, 9.0), Vec3::new(turn.cos(), turn.sin(), 0.0));
            space.place(BODY, &Place::at(if fly { flight(t) } else { at(4.4, 8.4) }));
        }
        let tone: [f32; BLOCK] =
            std::array::from_fn(|n| (std::f64::consts::TAU * 1000.0 * (block * BLOCK + n) as f64 / rate).sin() as f32);
        let mut out = [[0.0; BLOCK]; 2];
        renderer.begin(|_, _| {});
        renderer.add(BODY, &tone);
        renderer.finish(&mut out);
        channels.iter_mut().zip(&out).for_each(|(c, o)| c.extend_from_slice(o));
    }
    channels
}

/// Energy above 4 kHz in each stretch of 256 samples, where a tone of 1 kHz has none: clicks.
fn clicks(samples: &[f32]) -> Vec<f64> {
    // Fourth differences: a high-pass of 24 dB per octave.
    let mut x: Vec<f64> = samples.iter().map(|&y| f64::from(y)).collect();
    for _ in 0..4 {
        x = x.windows(2).map(|w| w[1] - w[0]).collect();
    }
    // At 1 kHz each difference is a factor of 0.142; that of the tone itself remains and is the measure.
    x.chunks(256).map(|c| (c.iter().map(|y| y * y).sum::<f64>() / c.len() as f64).sqrt()).collect()
}

/// Samples after which the beginning of the tone has left the reverberation, where it is a click itself.
const START: usize = 26_460;

/// Through doors and around corners at 20 m/s, while the listener turns: nothing clicks.
#[test]
fn a_source_that_flies_through_doors_does_not_click() {
    let (still, moving) = (heard(false, 2.0), heard(true, 2.0));
    for channel in 0..2 {
        // What the loudest moment of the tone itself gives.
        let level = |x: &[f32]| {
            x.chunks(256).map(|c| (c.iter().map(|y| y * y).sum::<f32>() / c.len() as f32).sqrt()).collect::<Vec<_>>()
        };
        let ratio = |x: &[f32]| -> f64 {
            let loudest = level(x).into_iter().fold(0.0f32, f32::max);
            clicks(x)[20..].iter().copied().fold(0.0, f64::max) / f64::from(loudest)
        };
        let (quiet, busy) = (ratio(&still[channel][START..]), ratio(&moving[channel][START..]));
        println!("fourth differences over the level: still {quiet:.2e}, flying {busy:.2e}");
        assert!(busy < 1.5 * quiet, "{busy} {quiet}");
        assert!(moving[channel].iter().all(|y| y.is_finite()));
    }
}

/// What a source sends to the room and to the ears goes in steps of at most 1 dB from one block to the next.
#[test]
fn parameters_follow_without_steps() {
    let (mut space, _) = stage(Spatial::Head);
    space.listen(at(3.0, 9.0), Vec3::Y);
    // Placed as often as there are blocks, so that nothing is smoothed between.
    let block_s = BLOCK as f64 / 44_100.0;
    let follow = 1.0 - (-block_s / 0.04f64).exp();
    let mut told: Option<[f64; 5]> = None;
    let mut most = 0.0f64;
    for k in 0..((2.0 / block_s) as usize) {
        let goal = space.ask(flight(k as f64 * block_s)).parameters.to_steps().map(f64::from);
        let next = told.map_or(goal, |t| std::array::from_fn(|p| t[p] + follow * (goal[p] - t[p])));
        if let Some(before) = told {
            most = (0..2).map(|p| (next[p] - before[p]).abs()).fold(most, f64::max);
        }
        told = Some(next);
    }
    println!("largest step {most:.2} dB");
    assert!(most <= 1.0, "{most} dB");
}

/// A tail is not cut when its source goes.
#[test]
fn tails_ring_out_when_their_source_is_gone() {
    let (mut space, mut renderer) = stage(Spatial::Pan);
    space.listen(at(3.0, 9.0), Vec3::X);
    space.place(BODY, &Place::at(at(4.0, 8.5)));
    let block = |sound: Option<f32>, renderer: &mut Renderer| {
        let mut out = [[0.0; BLOCK]; 2];
        renderer.begin(|_, _| {});
        if let Some(x) = sound {
            renderer.add(BODY, &std::array::from_fn(|n| if n % 7 < 3 { x } else { -x }));
        }
        renderer.finish(&mut out);
        out.iter().flatten().map(|y| f64::from(y * y)).sum::<f64>()
    };
    let loud: f64 = (0..300).map(|_| block(Some(1.0), &mut renderer)).sum::<f64>() / 300.0;
    space.remove(BODY);
    let tail: f64 = (0..100).map(|_| block(None, &mut renderer)).sum::<f64>() / 100.0;
    assert!(tail > 1e-3 * loud, "{tail} {loud}");
    for _ in 0..3000 {
        block(None, &mut renderer);
    }
    assert_eq!(block(None, &mut renderer), 0.0);
    assert!(renderer.is_idle());
}

/// Placing and sounding allocate nothing, whatever the places.
#[test]
fn nothing_allocates_in_rooms() {
    let (mut space, mut renderer) = stage(Spatial::Head);
    let before = violation_count();
    let mut bad = 0;
    assert_no_alloc(|| {
        for k in 0..2000u32 {
            let t = f64::from(k) * 0.01;
            let wild = [f64::NAN, 1e12, -4.0, 0.0][k as usize % 4];
            space.listen(if k % 50 == 7 { Vec3::splat(wild) } else { at(3.0, 9.0) }, Vec3::new(t.cos(), t.sin(), 0.0));
            for slot in 0..4 {
                let body = BodyId { slot, generation: k / 500 };
                let place = if (k + slot) % 31 == 0 { Vec3::new(wild, 1.0, t) } else { flight(t + f64::from(slot)) };
                space.place(body, &Place::at(place));
                if k % 97 == 0 {
                    space.remove(body);
                }
            }
            let mut out = [[0.0; BLOCK]; 2];
            renderer.begin(|_, heard| bad += usize::from(!heard.is_finite()));
            for slot in 0..4 {
                renderer.add(BodyId { slot, generation: k / 500 }, &[if k % 3 == 0 { f32::NAN } else { 0.1 }; BLOCK]);
            }
            renderer.finish(&mut out);
            bad += out.iter().flatten().filter(|y| !y.is_finite()).count();
        }
    });
    assert_eq!((violation_count() - before, bad), (0, 0));
}

/// The whole audio side, from blows to the limited mix, heard through rooms: nothing allocates, nothing is louder than full scale, and a body behind walls is not computed.
#[test]
fn the_engine_with_rooms_never_allocates() {
    use eigentone_core::MaterialTable;
    use eigentone_core::mesh::primitives;
    use eigentone_modal::{MeshModelSettings, Progress, model_from_mesh};
    use eigentone_synth::Quality;
    use eigentone_world::{Body, Change, Collider, Mallet, Pose, Settings, Shape, Strike, World};
    let materials = MaterialTable::builtin();
    let mesh = primitives::bar(0.2, 0.02, 0.01);
    let steel = materials.get("steel").unwrap();
    let model = Arc::new(model_from_mesh(&mesh, steel, &MeshModelSettings::default(), &Progress::silent()).unwrap());
    let settings = Settings {
        max_bodies: 4,
        quality: Quality { truncation_pa: 1e-4, ..Quality::default() },
        rooms: Some(flat()),
        ..Settings::offline()
    };
    let (mut world, mut out) = World::new(settings).unwrap();
    world.set_listener(Pose::looking(at(3.0, 9.0), Vec3::X));
    // One beside the listener, one in the bath.
    let [near, far] = [at(4.4, 8.6), at(12.0, 1.0)].map(|place| {
        let shape = Shape::mesh(mesh.clone()).with_collider(Collider::None);
        world.insert(Body::fixed(shape).model(model.clone()).position(place)).unwrap()
    });
    for key in [near, far] {
        for k in 0..20 {
            let blow = Strike::at_local(Vec3::new(0.1, 0.0, 0.005)).impulse(0.02).mallet(Mallet::METAL);
            world.schedule(0.1 * f64::from(k), key, Change::Strike(blow)).unwrap();
        }
    }
    let mut block = [0.0f32; 200];
    let (mut peak, mut blocks, mut sounding) = (0.0f32, 0, [0; 2]);
    let before = violation_count();
    for k in 0..800u32 {
        let look = Vec3::new(f64::from(k / 10).cos(), f64::from(k / 10).sin(), 0.0);
        world.set_listener(Pose::looking(at(3.0, 9.0), look));
        world.advance(100.0 / 44_100.0);
        assert_no_alloc(|| out.process(&mut block, 2));
        peak = block.iter().fold(peak, |m, y| m.max(y.abs()));
        blocks += 1;
        for source in out.sources() {
            sounding[usize::from(world.key_of_source(source.source) == Some(far))] += 1;
        }
    }
    assert_eq!((violation_count() - before, out.audio_stats().non_finite_samples), (0, 0));
    assert!(peak > 1e-4 && peak <= 1.0, "{peak}");
    assert!(sounding[1] < sounding[0], "heard less, computed less: {sounding:?} of {blocks}");
}

/// A scene with a field beside it is heard through it: it rings on after the blow, and says so in its numbers.
#[test]
fn a_scene_is_heard_in_its_rooms() {
    let folder = tempfile::tempdir().unwrap();
    let scene = format!(
        "duration_s = 1\n{FLAT}[listener]\nposition = [3, 9, 1.5]\n[[body]]\nname = 'block'\nbox = [0.24, 0.08, 0.05]\nmaterial = 'wood'\nposition = [4.2, 8.6, 1.5]\nfixed = true\n\
         collider = 'none'\n[[event]]\ntime_s = 0.1\nbody = 'block'\nimpulse_ns = 0.2\nhardness = 'wood'\nmass_kg = 0.05\n"
    );
    let file = folder.path().join("flat.toml");
    std::fs::write(&file, scene).unwrap();
    let play = || {
        let scene = Scene::read(&file).unwrap();
        eigentone_scene::scene::render(&scene, &Default::default(), &eigentone_modal::Progress::silent()).unwrap()
    };
    let dry = play();
    assert!(dry.warnings.iter().any(|w| w.contains("not been baked")), "{:?}", dry.warnings);
    let field = flat();
    write_copy(&field, &folder.path().join("flat.field.safetensors"));
    let wet = play();
    assert!(
        wet.warnings.is_empty() && wet.stats.rooms.is_some_and(|r| r.asked > 10 && r.unknown == 0),
        "{:?}",
        wet.warnings
    );
    let late = |r: &eigentone_scene::scene::Rendering| {
        let x = &r.channels[0];
        let energy = |from: f64, to: f64| {
            x[(from * 44_100.0) as usize..(to * 44_100.0) as usize].iter().map(|y| y * y).sum::<f32>()
        };
        energy(0.3, 0.6) / energy(0.1, 0.6)
    };
    assert!(late(&wet) > 10.0 * late(&dry) && late(&wet) > 1e-3, "{} {}", late(&wet), late(&dry));
    assert_eq!(wet.channels, play().channels, "the same bytes again");
}

/// Writes a field as it was read.
fn write_copy(field: &Field, path: &Path) {
    use eigentone_core::acoustics::encode_probe;
    use eigentone_io::write_field;
    let probes: Vec<_> =
        (0..field.probes().len()).map(|i| encode_probe(&field.probe(i), field.info().quantum)).collect();
    write_field(path, field.info(), field.lattice(), field.occupancy(), &probes).unwrap();
}

/// The answer for a point is what was simulated there, within half a step of storage and what blending makes of it.
#[test]
fn answers_are_finite_and_within_range_everywhere() {
    let mut decoder = decoder();
    for k in 0..2000 {
        let p = |n: u32| f64::from((k * 7919 + n * 104_729) % 1009) / 1009.0;
        let source = Vec3::new(20.0 * p(1) - 3.0, 16.0 * p(2) - 3.0, 5.0 * p(3) - 1.0);
        let listener = Vec3::new(20.0 * p(4) - 3.0, 16.0 * p(5) - 3.0, 5.0 * p(6) - 1.0);
        let answer = decoder.query(source, listener);
        let Parameters { direct_db, early_decay_s, .. } = answer.parameters;
        assert!(direct_db.is_finite() && direct_db < 30.0 && early_decay_s > 0.0, "{source} {listener} {answer:?}");
        assert!((0.0..=1.0).contains(&answer.confidence));
    }
}
