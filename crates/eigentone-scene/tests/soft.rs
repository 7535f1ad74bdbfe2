//! Soft bodies in scenes: what is seen and heard belongs together, and what cannot be is said.

use eigentone_modal::Progress;
use eigentone_scene::scene::cache::ModelCache;
use eigentone_scene::scene::{RenderOptions, Rendering, Scene, render, render_to_wav};
use std::path::Path;

fn played(scene: &Scene, animation: Option<&Path>) -> Rendering {
    let options = RenderOptions {
        cache: ModelCache::none(),
        animation: animation.map(Path::to_owned),
        ..RenderOptions::default()
    };
    render(scene, &options, &Progress::silent()).unwrap()
}

fn scene(text: &str) -> Scene {
    Scene::parse(text, Path::new("."), "soft.toml").unwrap()
}

/// When the sound begins: the first sample over a hundredth of the loudest that follows within 20 ms of the first contact.
fn onset_s(rendering: &Rendering, around_s: f64) -> f64 {
    let rate = f64::from(rendering.sample_rate_hz);
    let until = ((around_s + 0.02) * rate) as usize;
    let level = |n: usize| rendering.channels.iter().map(|c| c[n].abs()).fold(0.0, f32::max);
    let until = until.min(rendering.channels[0].len());
    let loudest = (0..until).map(level).fold(0.0, f32::max);
    (0..until).find(|&n| level(n) > 0.01 * loudest).unwrap() as f64 / rate
}

/// For every scene that is shipped: first contact and beginning of the sound, less the time that it travels, within 2 ms. They are played only as far as that, on a
/// coarser mesh: onset and contact are where the surface is, not how finely it is filled.
#[test]
fn sound_begins_with_the_first_contact() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    for (name, until_s) in [("jelly", 0.13), ("bar", 0.04), ("drum", 0.05), ("bowl", 0.08)] {
        let mut scene = Scene::read(&folder.join(format!("{name}.toml"))).unwrap();
        scene.duration_s = until_s;
        // Sound takes its time only where that is asked for.
        scene.listener.doppler = true;
        for soft in &mut scene.softs {
            let thin = soft.thickness_m.is_some() || soft.name == "skin";
            soft.size_m = soft.size_m.map(|size| if thin { size } else { 1.3 * size });
        }
        let rendering = played(&scene, None);
        let first = rendering.events.first().unwrap_or_else(|| panic!("{name}: nothing touched"));
        let place = eigentone_core::Vec3::from_array(first.position.map(f64::from));
        let travel_s =
            place.distance(eigentone_core::Vec3::from_array(scene.listener.position)) / eigentone_core::SOUND_M_S;
        let begin_s = onset_s(&rendering, first.time_s + travel_s) - travel_s;
        println!("{name}: contact at {:.4} s, sound from {begin_s:.4} s", first.time_s);
        assert!((begin_s - first.time_s).abs() < 2e-3, "{name}: contact {} s, sound {begin_s} s", first.time_s);
        assert_eq!(rendering.stats.non_finite_samples, 0);
    }
}

const FALLING: &str = "duration_s = 0.12\n[listener]\nposition = [0, -1, 0.05]\n[[body]]\nplane = true\n\
    [[soft]]\nname = 'cube'\nbox = [0.05, 0.05, 0.05]\nelements = 150\nyoung = 1e6\nposition = [0, 0, 0.0353]\n";

/// The picture shows the contact in the frame in which it happens: a cube 10.3 mm above the ground touches it after √(2h/g) = 46 ms, between the third and the fourth frame.
#[test]
fn frames_show_what_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    let rendering = played(&scene(FALLING), Some(&folder.path().join("cube.glb")));
    let recorded = rendering.animation.as_ref().unwrap();
    assert_eq!((recorded.frames, recorded.frames_per_s), (8, 60.0));
    let lowest =
        |frame: usize| recorded.read_frame(0, frame).unwrap().iter().map(|p| p[2]).fold(f32::INFINITY, f32::min);
    let touch_s = rendering.events[0].time_s;
    assert!((touch_s - (2.0 * 0.0103f64 / 9.81).sqrt()).abs() < 1e-3, "{touch_s}");
    for frame in 0..recorded.frames {
        let time_s = frame as f64 / 60.0;
        let fallen = 0.0103 - 0.5 * 9.81 * time_s * time_s;
        if time_s < touch_s {
            assert!((f64::from(lowest(frame)) - fallen).abs() < 2e-5, "{frame}");
        } else if time_s < touch_s + 0.005 {
            assert!(lowest(frame).abs() < 2e-3, "{frame}: {}", lowest(frame));
        }
    }
    assert!(folder.path().join("cube.glb").metadata().unwrap().len() > 1000);
}

/// Threads change nothing.
#[test]
fn the_same_on_any_number_of_threads() {
    let one = |threads| {
        let options = RenderOptions { cache: ModelCache::none(), threads: Some(threads), ..RenderOptions::default() };
        render(&scene(FALLING), &options, &Progress::silent()).unwrap().channels
    };
    assert_eq!(one(1), one(2));
}

/// The louder side is the nearer one, and twice as far is half as loud.
#[test]
fn ears_are_where_they_are() {
    let peak = |x: &[f32]| x.iter().fold(0.0f32, |m, y| m.max(y.abs()));
    let left = FALLING.replace("[0, -1, 0.05]", "[0.5, 0, 0.05]");
    let rendering = played(&scene(&left), None);
    assert!(peak(&rendering.channels[0]) > 1.1 * peak(&rendering.channels[1]));
    let loudness = |y: f64| {
        let text = FALLING.replace("[0, -1, 0.05]", &format!("[0, {y}, 0.05]")) + "[output]\nfull_scale_pa = 20\n";
        peak(&played(&scene(&text), None).channels[0])
    };
    let ratio = loudness(-2.0) / loudness(-4.0);
    assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
}

#[test]
fn what_cannot_be_is_said() {
    let refused = |more: &str| {
        let text = FALLING.to_owned() + more;
        match Scene::parse(&text, Path::new("."), "soft.toml") {
            Err(e) => e.to_string(),
            Ok(scene) => {
                let options = RenderOptions { cache: ModelCache::none(), ..RenderOptions::default() };
                render(&scene, &options, &Progress::silent()).unwrap_err().to_string()
            }
        }
    };
    for (more, expected) in [
        ("psii = 3\n", "did you mean `psi`?"),
        ("poisson = 0.5\n", "poisson"),
        ("material = 'jello'\n", "jello"),
        ("size_m = 0.5\n", "use"),
        ("[[soft]]\nplane = true\n", "without end"),
        ("[[soft]]\nbowl = { radius = 0.1 }\n", "thickness_m"),
        ("[[soft]]\ntets = 'nothing.node'\n", "cannot be found"),
        ("[[soft]]\nname = 'cube'\nbox = [1, 1, 1]\n", "rename"),
        ("[[soft]]\n", "has no shape"),
        ("[soft_physics]\nstep_s = 0.01\n", "needs"),
    ] {
        let message = refused(more);
        assert!(message.contains("soft.toml") && message.contains(expected), "{more}: {message}");
    }
}

/// Tetrahedra from a file, beside a rigid body that moves.
#[test]
fn tetrahedra_can_be_imported() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("wedge.node", "5 3 0 0\n0 0 0 0\n1 50 0 0\n2 0 50 0\n3 0 0 50\n4 99 99 99\n");
    write("wedge.ele", "1 4 0\n0 0 1 2 3\n");
    let text = "duration_s = 0.06\n[[body]]\nplane = true\n[[body]]\nsphere = 0.1\nposition = [5, 0, 1]\n\
        [[soft]]\ntets = 'wedge.node'\nscale = 0.001\nyoung = 1e6\nposition = [0, 0, 0.01]\n";
    let scene = Scene::parse(text, folder.path(), "wedge.toml").unwrap();
    let rendering = played(&scene, None);
    assert_eq!(rendering.stats.soft.unwrap().elements, 1);
    assert!(rendering.warnings.iter().all(|w| !w.contains("feel")), "{:?}", rendering.warnings);
    assert!(!rendering.events.is_empty());
}

/// Who is not heard still falls, for as long as the scene lasts.
#[test]
fn silent_bodies_fall_in_silence() {
    let rendering = played(&scene(&(FALLING.to_owned() + "silent = true\n")), None);
    assert_eq!(rendering.channels.each_ref().map(Vec::len), [5292; 2]);
    assert!(rendering.channels.iter().flatten().all(|y| *y == 0.0));
    assert!(!rendering.events.is_empty());
    assert!(rendering.warnings.iter().any(|w| w.contains("nothing was heard")), "{:?}", rendering.warnings);
}

/// To a file, with the sound on the disk until its level is known, it is the same sound.
#[test]
fn files_hold_what_is_rendered() {
    use eigentone_io::{SampleFormat, read_audio};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cube.wav");
    let options = RenderOptions { cache: ModelCache::none(), ..RenderOptions::default() };
    let scene = scene(FALLING);
    let told = render_to_wav(&scene, &options, &path, SampleFormat::Float32, &Progress::silent()).unwrap();
    let (kept, file) = (played(&scene, None), read_audio(&path).unwrap());
    assert!(told.channels.iter().all(Vec::is_empty));
    for (kept, file) in kept.channels.iter().zip(&file.channels) {
        assert_eq!(kept.len(), file.len());
        assert!(kept.iter().zip(file).all(|(a, b)| (a - b).abs() < 1e-6));
    }
    let (a, b) = (&told.stats, &kept.stats);
    assert_eq!((a.duration_s, a.bodies, a.events, a.soft), (b.duration_s, b.bodies, b.events, b.soft));
    assert!((a.peak_dbfs - b.peak_dbfs).abs() < 1e-3 && (a.full_scale_pa / b.full_scale_pa - 1.0).abs() < 1e-6);
    assert_eq!(told.events, kept.events);
}

/// In a room that was baked, a cube is heard longer than in the open, and from as far.
#[test]
fn rooms_answer_soft_bodies() {
    use eigentone_scene::bake::{self, Options};
    let folder = tempfile::tempdir().unwrap();
    let room = "duration_s = 0.5\n[acoustics]\nroom = 'shoebox'\nsize = [4, 3, 2.5]\nf_max_hz = 250\ngrid_m = 1\nspacing_m = 2\n\
        [acoustics.materials]\nwall = 0.1\n[listener]\nposition = [2.8, 1.5, 1.2]\nlook = [-1, 0, 0]\n[[body]]\nplane = true\n\
        [[soft]]\nbox = [0.05, 0.05, 0.05]\nelements = 400\nyoung = 1e6\npsi = 60\nposition = [1, 1.5, 0.0353]\n";
    let scene = Scene::parse(room, folder.path(), "room.toml").unwrap();
    let open = played(&scene, None);
    assert!(open.warnings.iter().any(|w| w.contains("have not been baked")), "{:?}", open.warnings);
    let prepared = bake::prepare(&scene).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let field = folder.path().join("room.field.safetensors");
    bake::job::bake(&prepared, &field, &Options::default(), &stop, &|_| {}).unwrap();
    let baked =
        Scene::parse(&room.replace("room = ", "field = 'room.field.safetensors'\nroom = "), folder.path(), "room.toml");
    let rooms = played(&baked.unwrap(), None);
    assert!(rooms.warnings.iter().all(|w| !w.contains("baked")), "{:?}", rooms.warnings);
    // Energy from 150 ms after the first contact on, relative to all of it.
    let late_db = |rendering: &Rendering| {
        let rate = f64::from(rendering.sample_rate_hz);
        let from = ((rendering.events[0].time_s + 0.15) * rate) as usize;
        let energy = |x: &[f32]| x.iter().map(|y| f64::from(*y).powi(2)).sum::<f64>();
        let channel = &rendering.channels[0];
        10.0 * (energy(&channel[from..]) / energy(channel)).log10()
    };
    let (dry, wet) = (late_db(&open), late_db(&rooms));
    println!("late sound {dry:.1} dB in the open, {wet:.1} dB in the room");
    assert!(wet > dry + 6.0, "{dry} {wet}");
}
