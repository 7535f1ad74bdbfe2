//! The shipped scenes do what they are for. All measurements are on the rendered sound, by analyses that know nothing of how it was made.

use eigentone_modal::Progress;
use eigentone_scene::scene::cache::ModelCache;
use eigentone_scene::scene::{EventKind, RenderOptions, Rendering, Scene, render};
use realfft::RealFftPlanner;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

fn scene(name: &str) -> Scene {
    Scene::read(&folder().join(format!("{name}.toml"))).unwrap()
}

fn options() -> RenderOptions {
    let cache = ModelCache::in_folder(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("models"));
    RenderOptions { cache, ..RenderOptions::default() }
}

fn play(scene: &Scene) -> Rendering {
    let rendering = render(scene, &options(), &Progress::silent()).unwrap();
    let stats = &rendering.stats;
    assert_eq!((stats.non_finite_samples, stats.over_budget_blocks), (0, 0));
    assert!(stats.peak_dbfs <= 0.0, "clips");
    rendering
}

/// The mean of both channels, from and to some seconds.
fn cut(rendering: &Rendering, from_s: f64, to_s: f64) -> Vec<f64> {
    let rate = f64::from(rendering.sample_rate_hz);
    let [left, right] = &rendering.channels;
    let range = (from_s * rate) as usize..((to_s * rate) as usize).min(left.len());
    range.map(|n| 0.5 * (f64::from(left[n]) + f64::from(right[n]))).collect()
}

fn energy(x: &[f64]) -> f64 {
    x.iter().map(|y| y * y).sum::<f64>() / x.len().max(1) as f64
}

fn db(ratio: f64) -> f64 {
    10.0 * ratio.log10()
}

/// Power spectrum under a Hann window, padded eightfold; the second is the width of a bin in Hz.
fn spectrum(x: &[f64]) -> (Vec<f64>, f64) {
    let n = (8 * x.len()).next_power_of_two();
    let mut padded = vec![0.0; n];
    for (i, y) in x.iter().enumerate() {
        padded[i] = y * (0.5 - 0.5 * (std::f64::consts::TAU * i as f64 / x.len() as f64).cos());
    }
    let fft = RealFftPlanner::<f64>::new().plan_fft_forward(n);
    let mut out = fft.make_output_vec();
    fft.process(&mut padded, &mut out).unwrap();
    (out.iter().map(|z| z.norm_sqr()).collect(), 44_100.0 / n as f64)
}

/// Frequency of the highest peak between two, and its power.
fn peak(x: &[f64], low_hz: f64, high_hz: f64) -> (f64, f64) {
    let (power, bin_hz) = spectrum(x);
    let range = (low_hz / bin_hz) as usize..(high_hz / bin_hz) as usize;
    let best = range.max_by(|&a, &b| power[a].total_cmp(&power[b])).unwrap();
    (best as f64 * bin_hz, power[best])
}

fn band(x: &[f64], low_hz: f64, high_hz: f64) -> f64 {
    let (power, bin_hz) = spectrum(x);
    power[(low_hz / bin_hz) as usize..(high_hz / bin_hz) as usize].iter().sum()
}

fn centroid(x: &[f64]) -> f64 {
    let (power, bin_hz) = spectrum(x);
    let total: f64 = power.iter().sum();
    power.iter().enumerate().map(|(k, p)| k as f64 * bin_hz * p).sum::<f64>() / total
}

#[test]
fn all_scenes_can_be_read() {
    let mut count = 0;
    for file in std::fs::read_dir(folder()).unwrap().map(|f| f.unwrap().path()) {
        if file.extension().is_some_and(|e| e == "toml") {
            Scene::read(&file).unwrap();
            count += 1;
        }
    }
    assert!(count >= 10);
}

/// Every note of the first bars within 15 cents of equal temperament, `440·2^((m − 69)/12)`, and its onset within 5 ms of the score.
#[test]
fn the_xylophone_plays_its_score_in_tune() {
    let mut scene = scene("xylophone");
    scene.melodies[0].notes = "D6:0.5 E5:0.5 C4:0.5 G5+A4:0.5".to_owned();
    let score = scene.melodies[0].score().unwrap();
    scene.bodies.retain(|b| b.template || score.iter().any(|n| b.tune == Some(n.note)));
    scene.duration_s = 2.5;
    let rendering = play(&scene);
    for note in &score {
        let hz = note.note.hz();
        let semitone = 1.06;
        let (found, _) = peak(&cut(&rendering, note.time_s + 0.01, note.time_s + 0.13), hz / semitone, hz * semitone);
        let cents = 1200.0 * (found / hz).log2();
        assert!(cents.abs() < 15.0, "{} is {cents:.1} cents off", note.note);
        // The steepest rise around the note.
        let around = cut(&rendering, note.time_s - 0.04, note.time_s + 0.04);
        let steps: Vec<f64> = around.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
        let highest = steps.iter().fold(0.0f64, |m, s| m.max(*s));
        let onset_s = steps.iter().position(|s| *s > 0.2 * highest).unwrap() as f64 / 44_100.0 - 0.04;
        assert!(onset_s.abs() < 5e-3, "{} is {:.1} ms off", note.note, 1e3 * onset_s);
    }
}

/// A table held at its edges: `f₁₁ = (π/2)√(D/ρh)(1/a² + 1/b²)`; a blow in the middle has it, one at the edge has not. Then the tube rolls: heard between the
/// impacts, and less the slower it gets.
#[test]
fn a_tube_strikes_the_table_in_the_middle_and_at_the_edge_and_rolls() {
    let rendering = play(&scene("cylinder"));
    let wood = eigentone_core::MaterialTable::builtin().get("wood").unwrap().clone();
    let (h, a, b): (f64, f64, f64) = (0.018, 1.0, 0.7);
    let stiffness = wood.young_pa * h.powi(3) / (12.0 * (1.0 - wood.poisson * wood.poisson));
    let fundamental_hz =
        std::f64::consts::FRAC_PI_2 * (stiffness / (wood.density_kg_m3 * h)).sqrt() * (1.0 / (a * a) + 1.0 / (b * b));
    let strongest = |from_s: f64| peak(&cut(&rendering, from_s, from_s + 0.3), 20.0, 2000.0).0;
    let (middle, edge) = (strongest(0.505), strongest(2.505));
    assert!((middle / fundamental_hz - 1.0).abs() < 0.05, "{middle} Hz is not {fundamental_hz} Hz");
    assert!(edge > 1.5 * fundamental_hz, "{edge} Hz");
    let level = |from_s: f64| band(&cut(&rendering, from_s, from_s + 0.3), 0.9 * fundamental_hz, 1.1 * fundamental_hz);
    assert!(db(level(2.505) / level(0.505)) < -15.0, "{:.1} dB", db(level(2.505) / level(0.505)));

    let impacts: Vec<f64> = rendering.events.iter().filter(|e| e.kind == EventKind::Impact).map(|e| e.time_s).collect();
    let quiet_between = |from_s: f64, to_s: f64| impacts.iter().all(|t| *t < from_s - 0.3 || *t > to_s);
    assert!(quiet_between(3.2, 3.7), "{impacts:?}");
    assert!(energy(&cut(&rendering, 3.2, 3.7)) > 0.0, "rolling is heard");
    // On the floor it gets slower and slower.
    let last = impacts.iter().copied().fold(0.0, f64::max);
    let (early, late) = (energy(&cut(&rendering, last + 0.5, last + 1.0)), energy(&cut(&rendering, 8.4, 8.9)));
    assert!(last < 7.0 && late > 0.0 && db(late / early) < -3.0, "{last} s, {:.1} dB", db(late / early));
}

/// The friction of the block lies on a mode of the bar: the strongest tone is within 1 % of one.
#[test]
fn the_squeal_has_the_pitch_of_a_mode() {
    let scene = scene("squeal");
    let rendering = play(&scene);
    let plan = eigentone_scene::scene::Plan::new(&scene, &options().cache, &Progress::silent()).unwrap();
    let model = plan.bodies[0].model.clone().unwrap();
    let (found, _) = peak(&cut(&rendering, 1.0, 3.0), 100.0, 10_000.0);
    let nearest = model.modes.iter().map(|m| (m.frequency_hz / found - 1.0).abs()).fold(f64::INFINITY, f64::min);
    assert!(nearest < 0.01, "{found} Hz");
    // It stops with the motion.
    assert!(energy(&cut(&rendering, 3.7, 4.0)) < 0.1 * energy(&cut(&rendering, 2.5, 3.2)));
}

/// A blow ten times as strong crosses the gap: the plate answers it, and not the weak one.
#[test]
fn a_rattle_buzzes_only_while_it_is_loud() {
    let rendering = play(&scene("rattle"));
    let share = |from_s: f64| {
        let sound = cut(&rendering, from_s, from_s + 0.2);
        band(&sound, 6000.0, 16_000.0) / band(&sound, 500.0, 4000.0)
    };
    let (loud, soft) = (share(0.32), share(2.32));
    assert!(db(loud / soft) > 6.0, "{:.1} dB", db(loud / soft));
}

/// Harder is brighter, and the pitch falls as it rings out.
#[test]
fn a_gong_blooms_and_glides() {
    let rendering = play(&scene("gong"));
    let (soft, hard) = (centroid(&cut(&rendering, 0.35, 0.85)), centroid(&cut(&rendering, 4.05, 4.55)));
    assert!(hard > 1.3 * soft, "{soft} {hard}");
    let (early, _) = peak(&cut(&rendering, 4.1, 4.5), 60.0, 400.0);
    let (late, _) = peak(&cut(&rendering, 8.3, 8.9), 0.95 * early, 1.005 * early);
    assert!(early > 1.003 * late, "{early} Hz, then {late} Hz");
}

/// The pitch follows the strain that the scene writes down: at +0.18 it is 18 % higher than at rest.
#[test]
fn a_sheet_follows_its_bend() {
    let mut scene = scene("sheet");
    scene.bodies[0].strain = vec![[0.0, 0.0], [0.8, 0.0], [1.0, 0.18]];
    scene.events.truncate(1);
    scene.duration_s = 2.0;
    let rendering = play(&scene);
    let (bent, _) = peak(&cut(&rendering, 1.1, 1.9), 60.0, 400.0);
    let plan = eigentone_scene::scene::Plan::new(&scene, &options().cache, &Progress::silent()).unwrap();
    let model = plan.bodies[0].model.clone().unwrap();
    let off = |factor: f64| {
        let each = model.modes.iter().map(|m| (factor * m.frequency_hz / bent - 1.0).abs());
        each.fold(f64::INFINITY, f64::min)
    };
    assert!(off(1.18) < 0.003 && off(1.0) > 0.01, "{bent} Hz: {} {}", off(1.18), off(1.0));
}

/// Four grounds, four sounds: each is heard, and they differ in brightness. Nothing is heard of the block before and after it moves.
#[test]
fn a_block_sounds_of_the_ground_it_is_dragged_over() {
    let rendering = play(&scene("surfaces"));
    let grounds: Vec<Vec<f64>> =
        [(0.8, 1.7), (2.8, 3.7), (4.8, 5.7), (6.5, 7.3)].iter().map(|&(a, b)| cut(&rendering, a, b)).collect();
    let loudest = grounds.iter().map(|g| energy(g)).fold(0.0, f64::max);
    assert!(grounds.iter().all(|g| db(energy(g) / loudest) > -40.0));
    let bright: Vec<f64> = grounds.iter().map(|g| centroid(g)).collect();
    assert!(bright[1] > 1.1 * bright[0] && bright[2] > 1.1 * bright[0], "{bright:?}");
}

/// A crate and a ball come to rest: a fifth of a second later nothing excites them, and what is left decays by itself to nothing.
#[test]
fn nothing_drones_at_rest() {
    let rendering = play(&scene("wood"));
    let last = rendering.events.iter().map(|e| e.time_s).fold(0.0, f64::max);
    assert!(last < 2.5, "still at {last} s");
    let (peak, end) = (energy(&cut(&rendering, 0.0, 1.0)), energy(&cut(&rendering, 3.5, 4.0)));
    assert!(end < 1e-8 * peak, "{:.1} dB", db(end / peak));
}

/// The same scene twice, on one thread and on three, and from the recorded contact stream: the same bytes.
#[test]
fn a_scene_gives_the_same_bytes_every_time() {
    let mut scene = scene("rings");
    scene.duration_s = 0.6;
    let stream = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rings.contacts");
    let live = RenderOptions { record: Some(stream.clone()), threads: Some(1), ..options() };
    let again = RenderOptions { threads: Some(3), cache: ModelCache::none(), ..options() };
    let replay = RenderOptions { replay: Some(stream), ..options() };
    let [a, b, c] = [live, again, replay].map(|o| render(&scene, &o, &Progress::silent()).unwrap());
    assert!(a.stats.events.impacts > 20 && a.stats.bodies_heard > 20);
    assert_eq!((&a.channels, &a.events), (&b.channels, &b.events));
    assert_eq!((&a.channels, &a.events), (&c.channels, &c.events));
    let other = render(&scene, &RenderOptions { seed: Some(99), ..options() }, &Progress::silent()).unwrap();
    assert_ne!(a.channels, other.channels, "another seed, another fall");
}

/// A contact that is still sliding when the simulation stops ends there, and the recording of it too: nothing sounds on, and the bytes are the same.
#[test]
fn what_slides_at_the_end_ends() {
    let mut scene = scene("surfaces");
    (scene.duration_s, scene.output.tail_s) = (1.2, Some(0.8));
    let stream = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slide.contacts");
    let live = RenderOptions { record: Some(stream.clone()), ..options() };
    let replay = RenderOptions { replay: Some(stream), ..options() };
    let [a, b] = [live, replay].map(|o| render(&scene, &o, &Progress::silent()).unwrap());
    assert_eq!(a.channels, b.channels);
    assert!(energy(&cut(&a, 0.8, 1.1)) > 0.0);
    assert!(energy(&cut(&a, 1.9, 2.0)) < 1e-6 * energy(&cut(&a, 0.8, 1.1)), "it drones");
}

/// A stream from another engine at 60 steps per second is heard at its own times, in a scene of 480.
#[test]
fn a_stream_with_other_steps_keeps_its_times() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slow.contacts");
    let mut text = "{\"format\":\"eigentone.contacts/1\"}\n".to_owned();
    for step in 1..=60 {
        let time_s = f64::from(step) / 60.0;
        let contacts = if step == 31 {
            "[{\"id\":1,\"bodies\":[0,1],\"phase\":\"begin\",\"points\":[{\"position\":[0,0,0],\"normal\":[0,0,1],\
             \"normal_impulse_ns\":0.1,\"approach_m_s\":1.0,\"touch_s\":0.005}]}]"
        } else {
            "[]"
        };
        text += &format!("{{\"time_s\":{time_s},\"step_s\":{},\"contacts\":{contacts}}}\n", 1.0 / 60.0);
    }
    std::fs::write(&file, text + "\n").unwrap();
    let scene = "duration_s=1\n[[body]]\nplane=true\n[[body]]\nbar=[0.2,0.02,0.01]\nposition=[0,0,0.01]\n";
    let scene = Scene::parse(scene, Path::new("."), "slow.toml").unwrap();
    let rendering = render(&scene, &RenderOptions { replay: Some(file), ..options() }, &Progress::silent()).unwrap();
    assert_eq!(rendering.events.len(), 1, "{:?}", rendering.events);
    assert!((rendering.events[0].time_s - 0.505).abs() < 1e-6);
    let first = rendering.channels[0].iter().position(|y| *y != 0.0).unwrap() as f64 / 44_100.0;
    assert!((first - 0.505).abs() < 1e-4, "{first}");
}

/// `v = J/m`, once, whatever the time: scripted pushes fall into exactly one step.
#[test]
fn a_push_happens_once() {
    for time_s in [0.075, 0.1, 0.15, 0.2, 1.0 / 480.0] {
        let text = format!(
            "duration_s=0.5\n[physics]\ngravity=[0,0,0]\n[[body]]\nname='x'\nsphere=0.05\nsilent=true\nmass_kg=1\n\
             [[event]]\ntime_s={time_s}\nbody='x'\npush_ns=[1,0,0]\n"
        );
        let stream = Path::new(env!("CARGO_TARGET_TMPDIR")).join("push.contacts");
        let scene = Scene::parse(&text, Path::new("."), "push.toml").unwrap();
        render(&scene, &RenderOptions { record: Some(stream.clone()), ..options() }, &Progress::silent()).unwrap();
        let mut replay = eigentone_scene::scene::stream::Replay::open(&stream).unwrap();
        let mut speed = 0.0;
        while let Some(frame) = replay.next_frame().unwrap() {
            speed = frame.poses.last().map_or(speed, |p| p.velocity[0]);
        }
        assert!((speed - 1.0).abs() < 1e-3, "{speed} m/s for {time_s} s");
    }
}

/// A stone's impact is heard at its time, `t = (−v + √(v² + 2gh))/g`, to one sample.
#[test]
fn hail_is_on_time() {
    let text = "duration_s = 2\n[listener]\nposition = [0, -1, 0]\n\
        [particles]\nparticles = 1\nonset_s = 0\nregion = { box = { low = [-0.1, -0.1, 1], high = [0.1, 0.1, 1.0001] } }\n\
        velocity = [0, 0, -2]\nspread_m_s = 0\nbounces = 0\nregenerate = false\n\
        [[body]]\nname = 'pane'\nplate = [1, 1]\nthickness_m = 0.001\nedges = 'supported'\nfixed = true\ncollider = 'none'\n\
        [[collider]]\nquad = { corner = [-0.5, -0.5, 0], edges = [[1, 0, 0], [0, 1, 0]] }\nbody = 'pane'\n";
    let rendering = play(&Scene::parse(text, Path::new("."), "hail.toml").unwrap());
    let time_s = rendering.events[0].time_s;
    let closed = |height: f64| (-2.0 + (4.0f64 + 2.0 * 9.81 * height).sqrt()) / 9.81;
    assert!((closed(1.0)..closed(1.0001)).contains(&time_s), "{time_s}");
    let first = rendering.channels[0].iter().position(|y| *y != 0.0).unwrap() as f64;
    assert!((first - time_s * 44_100.0).abs() <= 1.0, "{first} {}", time_s * 44_100.0);
}

/// The picnic without its can: in heavier hail more modes are hidden by others, and a larger offset hides fewer.
#[test]
fn heavier_hail_masks_more() {
    let mut scene = scene("hail");
    scene.bodies.retain(|b| b.name != "can");
    scene.colliders.retain(|c| c.body.as_deref() != Some("can"));
    scene.duration_s = 3.0;
    let mut masked = |particles: usize, offset_db: f64| {
        scene.particles.as_mut().unwrap().particles = particles;
        scene.quality.masking_db = Some(offset_db);
        play(&scene).stats.modes.masked_mean
    };
    let (light, heavy, cautious) = (masked(30, 5.0), masked(600, 5.0), masked(600, 20.0));
    assert!(heavy > light && cautious < heavy, "{light} {heavy} {cautious}");
}

/// What cannot be is refused with the name of the body and the way out; what is merely odd is rendered.
#[test]
fn odd_scenes_end_well() {
    let parse = |text: &str| Scene::parse(text, Path::new("."), "odd.toml");
    let refused = |text: &str, words: &[&str]| {
        let error = parse(text).and_then(|s| render(&s, &options(), &Progress::silent())).unwrap_err().to_string();
        assert!(words.iter().all(|w| error.contains(w)), "{error}");
    };
    refused("[[body]]\nname='x'\nsphere=0.1\nmaterial='stele'\n", &["odd.toml", "`x`", "stele", "steel"]);
    refused("[[body]]\nname='x'\nsphere=0.1\nsurface='gravle'\n", &["odd.toml", "`x`", "gravle", "gravel"]);
    refused("[[body]]\nname='x'\nmesh='../x.obj'\n", &["odd.toml", "../x.obj"]);
    refused("[[body]]\nname='x'\nsphere=0.1\nmass_kg=-1\n", &["odd.toml", "mass_kg"]);
    refused("[[surface]]\nname='s'\nlike='wood'\nprofile.bumps.mark=1\n", &["odd.toml", "mark"]);

    let mut overlapping = parse(
        "duration_s=0.5\n[[body]]\nplane=true\n[[body]]\nbox=[0.1,0.1,0.1]\nmaterial='wood'\nposition=[0,0,0.06]\n\
         [[body]]\nbox=[0.1,0.1,0.1]\nmaterial='wood'\nposition=[0.02,0,0.08]\n",
    )
    .unwrap();
    let rendering = play(&overlapping);
    assert!(rendering.warnings.iter().any(|w| w.contains("overlap")), "{:?}", rendering.warnings);
    overlapping.physics.stop_s = Some(0.1);
    let stopped = play(&overlapping);
    assert!(stopped.events.iter().all(|e| e.time_s < 0.12));

    let crowd = parse(
        "duration_s=0.01\n[[body]]\nplane=true\n[[body]]\nname='pea'\nsphere=0.004\nsilent=true\nposition=[0,0,0.02]\n\
         copies={count=[99,101,1],spacing=[0.01,0.01,0.01]}\n",
    )
    .unwrap();
    let rendering = play(&crowd);
    assert_eq!(rendering.stats.bodies, 10_000);
    assert!(rendering.warnings.iter().any(|w| w.contains("nothing was heard")));
}

/// What excites the rolling tube is not periodic: the intervals between bumps of the floor have a standard deviation of 40 % of their mean and more.
#[test]
fn rolling_is_no_buzz() {
    use eigentone_synth::texture::{ContactState, Generator};
    let table = eigentone_scene::textures::builtin();
    let mut concrete = table.get("concrete").unwrap().clone();
    concrete.low_pass.order = 0;
    let mut generator = Generator::new(eigentone_scene::textures::prepare(&concrete, None, 1, 44_100.0).unwrap(), 5);
    let state = ContactState { travel_m_s: 0.4, force_n: 4.5, ..ContactState::default() };
    let mut force = vec![0.0; 64 * 2000];
    force.chunks_mut(64).for_each(|block| generator.fill(&state, block));
    let onsets: Vec<usize> = (1..force.len()).filter(|&n| force[n - 1] == 0.0 && force[n] != 0.0).collect();
    let gaps: Vec<f64> = onsets.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    assert!(gaps.len() > 300 && deviation > 0.4 * mean, "{} intervals, {mean:.1} ± {deviation:.1}", gaps.len());
}
