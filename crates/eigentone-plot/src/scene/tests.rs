//! Events stand where and when they happened, and any rendering has a picture.

use super::*;
use eigentone_core::{Noise, Vec3};
use eigentone_scene::scene::{EventKind, EventRecord, RenderStats, Scene};
use eigentone_sim::particles::{Impact, ImpactMap};
use std::ops::Range;
use std::path::Path;

const RATE: u32 = 8000;

fn rendering(seconds: usize, events: Vec<EventRecord>) -> Rendering {
    let mut noise = Noise::new(1);
    let mut channel = || (0..seconds * RATE as usize).map(|_| 0.1 * noise.bipolar() as f32).collect::<Vec<f32>>();
    Rendering {
        animation: None,
        channels: [channel(), channel()],
        sample_rate_hz: RATE,
        stats: RenderStats::default(),
        events,
        impact_map: None,
        warnings: Vec::new(),
    }
}

fn event(time_s: f64, kind: EventKind, bodies: [&str; 2], impulse: f32) -> EventRecord {
    EventRecord {
        time_s,
        kind,
        body_a: bodies[0].to_owned(),
        body_b: bodies[1].to_owned(),
        position: [0.0; 3],
        impulse_ns: (kind == EventKind::Impact).then_some(impulse),
        approach_m_s: None,
    }
}

fn impact(time_s: f64, bodies: [&str; 2], impulse: f32) -> EventRecord {
    event(time_s, EventKind::Impact, bodies, impulse)
}

/// Pixels in a box that are rather blue, and rather red or orange.
fn inks(picture: &Picture, x: Range<f32>, y: Range<f32>) -> [usize; 2] {
    let mut found = [0; 2];
    for v in y.start as u32..y.end as u32 {
        for u in x.start as u32..x.end as u32 {
            let [r, _, b] = picture.pixel(u, v).unwrap().map(i32::from);
            found[0] += usize::from(b - r > 24);
            found[1] += usize::from(r - b > 24);
        }
    }
    found
}

/// Where a time lies in the panels of a rendering of two seconds.
fn at(time_s: f32) -> f32 {
    EVENTS.x + 0.5 * EVENTS.w * time_s
}

const ROWS: Range<f32> = EVENTS.y + 2.0..EVENTS.y + EVENTS.h - 2.0;

#[test]
fn an_impact_stands_at_its_time_and_rises_with_its_impulse() {
    let pair = ["ball", "floor"];
    let picture = scene_picture(&rendering(2, vec![impact(0.5, pair, 1e-3), impact(1.5, pair, 1.0)]), "two blows");
    assert_eq!((picture.width(), picture.height()), (WIDTH, HEIGHT));
    let [weak, strong] = [0.5, 1.5].map(|t| inks(&picture, at(t) - 5.0..at(t) + 6.0, ROWS)[0]);
    assert!(strong > 150 && weak < strong / 4, "{weak} {strong}");
    assert_eq!(inks(&picture, at(0.6)..at(1.4), ROWS), [0, 0]);
}

#[test]
fn a_contact_lasts_from_its_beginning_to_its_end() {
    let begin = event(0.5, EventKind::ContactBegin, ["ball", "floor"], 0.0);
    // The other way round is the same pair.
    let end = event(1.0, EventKind::ContactEnd, ["floor", "ball"], 0.0);
    let endless = event(1.5, EventKind::ContactBegin, ["ball", "floor"], 0.0);
    let picture = scene_picture(&rendering(2, vec![begin, end, endless]), "a slide");
    let share = |from: f32, to: f32| {
        let columns = at(to) - at(from);
        inks(&picture, at(from)..at(to), EVENTS.bottom() - 8.0..EVENTS.bottom() - 7.0)[1] as f32 / columns
    };
    assert!(share(0.51, 0.99) > 0.98 && share(1.51, 1.99) > 0.98);
    assert_eq!(share(0.1, 0.49) + share(1.01, 1.49), 0.0);
}

#[test]
fn many_pairs_become_few_rows() {
    let names: Vec<String> = (1..40).map(|k| if k == 1 { "pea".to_owned() } else { format!("pea {k}") }).collect();
    let mut events: Vec<EventRecord> = names.iter().map(|pea| impact(0.1, [pea, "bowl"], 1.0)).collect();
    events.extend(names.windows(2).map(|w| impact(0.2, [&w[0], &w[1]], 1.0)));
    let rows = |events: &[EventRecord]| EventRows::new(events, 1.0).rows;
    let found = rows(&events);
    assert_eq!(found.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["bowl – 39 × pea", "among 39 × pea"]);
    assert_eq!((found[0].impacts.len(), found[1].impacts.len()), (39, 38));
    // Copies keep their own rows as long as there are few.
    assert_eq!(rows(&events[..5]).len(), 5);
    // Drops of a melody are one family; the bars that they fall on are told apart.
    let bar = |k: usize| format!("bar {}", char::from(b'a' + (k % 8) as u8));
    let drops: Vec<_> = (0..64).map(|k| impact(0.5, [&format!("drop for note {k} (C5)"), &bar(k)], 1.0)).collect();
    assert_eq!(rows(&drops).len(), 8);
    assert_eq!(rows(&drops[..9]).len(), 8);
    // Nobody is lost when there are no families at all.
    let strangers: Vec<_> = (0..200).map(|k| impact(0.5, [&format!("n{k:03}"), "floor"], 1.0)).collect();
    let found = rows(&strangers);
    assert_eq!((found.len(), found[16].name.as_str(), found[16].impacts.len()), (17, "184 others", 184));
}

#[test]
fn a_hundred_thousand_events_are_drawn_as_a_density() {
    let mut noise = Noise::new(7);
    let events: Vec<EventRecord> = (0..100_000)
        .map(|k| {
            let impulse = 10f64.powf(-3.0 + 1.5 * noise.bipolar()) as f32;
            let (a, b) = (format!("bead {}", k % 300), format!("tray {}", k % 7));
            let kind = [EventKind::Impact, EventKind::Impact, EventKind::ContactBegin, EventKind::ContactEnd][k % 4];
            event(1.0 + 0.5 * noise.bipolar(), kind, [&a, &b], impulse)
        })
        .collect();
    let rendering = rendering(2, events);
    let begin = std::time::Instant::now();
    let picture = scene_picture(&rendering, "a hundred thousand");
    assert!(begin.elapsed().as_secs_f64() < 20.0, "{:?}", begin.elapsed());
    let [busy, _] = inks(&picture, at(0.6)..at(1.4), ROWS);
    let share = busy as f32 / ((at(1.4) - at(0.6)) * EVENTS.h);
    assert!(share > 0.05 && share < 0.8, "{share}");
    assert_eq!(inks(&picture, at(0.05)..at(0.48), ROWS)[0], 0);
}

#[test]
fn a_struck_cell_is_bright_where_it_lies() {
    let mut map = ImpactMap::new(2, 8, 8).unwrap().with_totals();
    map.record(&Impact {
        time_s: 0.1,
        particle: 0,
        collider: 1,
        part: 0,
        bounce: 0,
        uv: [0.9, 0.1],
        position: Vec3::ZERO,
        normal: Vec3::Z,
        mass_kg: 1e-3,
        energy_j: 0.02,
        impulse_ns: -Vec3::Z,
    });
    let picture = scene_picture(&Rendering { impact_map: Some(map), ..rendering(1, Vec::new()) }, "hail");
    assert!(picture.height() > HEIGHT + 200);
    // Two maps of 260 pixels; the cell is the last but none in the lowest row of the second.
    let bright = |x: u32, y: u32| picture.pixel(x, HEIGHT + 68 + y).unwrap().iter().map(|v| u32::from(*v)).sum::<u32>();
    let second = 84 + 260 + 28;
    assert!(bright(second + 245, 245) > 600);
    assert!(bright(second + 20, 245) < 30 && bright(second + 245, 20) < 30 && bright(84 + 245, 245) < 30);
}

#[test]
fn any_rendering_has_a_picture() {
    let strange = [f64::NAN, -1.0, 1e9, 0.5]
        .map(|t| [impact(t, ["", ""], f32::NAN), event(t, EventKind::ContactEnd, ["名", "x"], 0.0)])
        .concat();
    let silent = Rendering { channels: [vec![0.0; 100], vec![]], ..rendering(1, strange) };
    let broken = Rendering { channels: [vec![f32::NAN; 5000], vec![1e30; 3]], ..rendering(1, Vec::new()) };
    let nothing = Rendering { channels: [vec![], vec![]], sample_rate_hz: 0, ..rendering(1, Vec::new()) };
    for rendering in [silent, broken, nothing] {
        assert!(scene_picture(&rendering, "").png_bytes().len() > 1000);
    }
    let unstruck = ImpactMap::new(20, 3, 5).unwrap();
    let picture = scene_picture(&Rendering { impact_map: Some(unstruck), ..rendering(1, Vec::new()) }, "dry");
    assert!(picture.height() > HEIGHT + 400);
}

fn stage(text: &str) -> Picture {
    let scene = Scene::parse(text, Path::new("."), "scene.toml").unwrap();
    let (stage, warnings) = Stage::new(&scene);
    assert!(warnings.is_empty(), "{warnings:?}");
    stage_picture(&scene, &stage)
}

#[test]
fn a_stage_shows_bodies_at_their_places() {
    let text = "[listener]\nposition = [0, -1, 1]\n[[body]]\nplane = true\n[[body]]\nname = 'left'\nbox = [0.2, 0.2, 0.2]\n\
                position = [-0.9, 0, 0.1]\n[[body]]\nname = 'right'\nsphere = 0.1\nposition = [0.9, 0, 0.1]\n";
    let picture = stage(text);
    // The box fills its square at the left edge of the side view, 2.2 m wide with a margin.
    let per_m = 590.0 / (1.16 * (2.0 + 0.4));
    let place = |x: f32, z: f32| [92.0 + 295.0 + x * per_m, 140.0 + 280.0 - (z - 0.5) * per_m];
    let [x, y] = place(-0.9, 0.1);
    let half = 0.09 * per_m;
    let around =
        |x: f32, y: f32| inks(&picture, x - half..x + half, y - half..y + half)[0] as f32 / (4.0 * half * half);
    assert!(around(x, y) > 0.9, "{}", around(x, y));
    let [x, y] = place(0.0, 0.4);
    assert_eq!(around(x, y), 0.0);
    let [x, y] = place(0.0, 1.0);
    assert!(inks(&picture, x - 10.0..x + 10.0, y - 10.0..y + 10.0)[1] > 60);
}

#[test]
fn a_floor_is_drawn_where_it_is() {
    let text = "[[body]]\nplane = true\nposition = [7, 3, -0.2]\n[[body]]\nbox = [0.4, 0.1, 0.1]\n";
    let picture = stage(text);
    // Between the floor at −0.2 m and the top of the box at 0.05 m, with a tenth of 0.4 m around them.
    let per_m = 590.0 / (1.16 * (0.4 + 0.08));
    let y = 140.0 + 280.0 + 0.125 * per_m;
    let dark = |y: f32| picture.pixel(200, y as u32).unwrap().iter().all(|v| *v < 180);
    assert!((-2..=2).any(|d| dark(y + d as f32)) && !(-20..-4).any(|d| dark(y + d as f32)));
}
