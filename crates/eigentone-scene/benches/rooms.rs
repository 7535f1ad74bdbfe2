//! How far what is heard is from what a simulation of that very pair gives.
//!
//! `cargo bench -p eigentone-scene --bench rooms -- SCENE FIELD [--quick]`, for instance `scenes/abbey.toml` and the field that `eigentone bake` made of it. Sources are put at random where probes may be, but not on
//! them, and simulated; at random points around them the parameters of the simulated response are compared with those of the response that is rendered from the field. Decays count where the simulated one is
//! within what the filters can do.
//!
//! With `--feedback` instead: a hundred bowls ring in the scene's first region while the listener is in its last one, with and without telling the synthesis what is heard of them.

use eigentone_core::acoustics::{Field, Parameters};
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::{MaterialTable, SOUND_M_S, Vec3, mesh::primitives};
use eigentone_io::read_field;
use eigentone_modal::{MeshModelSettings, Progress, model_from_mesh};
use eigentone_scene::bake;
use eigentone_scene::rooms::{Hearing, response_with};
use eigentone_scene::scene::Scene;
use eigentone_space::direct::Spatial;
use eigentone_space::room::{Place, SpaceSettings, space};
use eigentone_synth::{BodySettings, Quality, Settings};
use eigentone_wave::encode::{Encoder, Timing};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const RATE_HZ: f64 = 44_100.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|a| a == "--quick");
    let files: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let [scene, field] = files[..] else {
        println!("needs a scene and its field: -- SCENE FIELD");
        return;
    };
    let scene = Scene::read(Path::new(scene)).expect("a scene");
    let field = Arc::new(read_field(Path::new(field)).expect("a field"));
    let prepared = bake::prepare(&scene).expect("rooms");
    if arguments.iter().any(|a| a == "--feedback") {
        return feedback(&field, &prepared.probes, quick);
    }
    let acoustics = &prepared.acoustics;
    let timing = acoustics.timing();
    let mut encoder = Encoder::new(&timing);
    let (sources, listeners) = if quick { (2, 10) } else { (10, 12) };
    let mut seed = 1;
    let mut errors: [Vec<f64>; 5] = Default::default();
    let mut signed: [f64; 5] = [0.0; 5];
    // Of what the field says from the truth, and of what is heard from what the field says.
    let mut parts: [[f64; 5]; 2] = [[0.0; 5]; 2];
    let (mut pairs, mut confidence) = (0, 0.0);
    while pairs < sources * listeners {
        let source = near_a_probe(&prepared.probes, &mut seed);
        let points: Vec<Vec3> = (0..listeners).map(|_| near_a_probe(&prepared.probes, &mut seed)).collect();
        let stop = AtomicBool::new(false);
        let Some(heard) = acoustics.hear(source, &points, true, &stop) else { continue };
        for (point, response) in points.iter().zip(&heard) {
            let distance_m = point.distance(source);
            if distance_m < 2.0 {
                continue;
            }
            let Some(truth) = encoder.encode(response, distance_m) else { continue };
            let hearing = Hearing { source, listener: *point, look: source - *point };
            let rendered = response_with(&field, &hearing, RATE_HZ, Spatial::Pan);
            let found: Vec<Parameters> = rendered
                .channels
                .iter()
                .filter_map(|channel| encoder.encode(&pulsed(channel, &timing, distance_m), distance_m))
                .collect();
            let [left, right] = found[..] else { continue };
            pairs += 1;
            confidence += rendered.answer.confidence;
            let steps = |p: &Parameters| p.to_steps().map(f64::from);
            let (l, r, t) = (steps(&left), steps(&right), steps(&truth));
            let said = steps(&rendered.answer.parameters);
            for p in 0..5 {
                let found = 0.5 * (l[p] + r[p]);
                let usable = match p {
                    2 => (0.5..=3.0).contains(&truth.early_decay_s),
                    3 => (0.75..=3.0).contains(&truth.late_decay_s),
                    _ => true,
                };
                if usable {
                    // Steps of decays are 5 % each.
                    let off = |to: f64, from: f64| match p {
                        2 | 3 => 100.0 * (1.05f64.powf(to - from) - 1.0),
                        _ => to - from,
                    };
                    errors[p].push(off(found, t[p]).abs());
                    signed[p] += off(found, t[p]);
                    parts[0][p] += off(said[p], t[p]).abs();
                    parts[1][p] += off(found, said[p]).abs();
                }
            }
        }
    }
    println!("{pairs} pairs, mean confidence {:.2}", confidence / pairs as f64);
    for (p, name) in
        ["direct_db", "early_db", "early_decay_percent", "late_decay_percent", "tilt_db"].iter().enumerate()
    {
        let all = &mut errors[p];
        all.sort_unstable_by(f64::total_cmp);
        let n = all.len().max(1) as f64;
        let median = all.get(all.len() / 2).copied().unwrap_or(0.0);
        let [said, heard] = parts.map(|part| part[p] / n);
        println!("{name}: {} pairs, median {median:.2}, mean with sign {:+.2}", all.len(), signed[p] / n);
        println!("    mean of the field from the truth {said:.2}, of what is heard from the field {heard:.2}");
        println!("figure rooms.{name} = {:.2} mean", all.iter().sum::<f64>() / n);
    }
}

/// What it saves to know what is heard: the time of the synthesis and the modes it computes, with that knowledge and without.
fn feedback(field: &Arc<Field>, probes: &[Vec3], quick: bool) {
    let materials = MaterialTable::builtin();
    let settings = MeshModelSettings { thickness_m: Some(0.003), ..Default::default() };
    let bowl = primitives::bowl(0.09, 32, 12);
    let model = model_from_mesh(&bowl, materials.get("brass").expect("a metal"), &settings, &Progress::silent());
    let model = Arc::new(model.expect("a model"));
    let contact = model.nearest_contact(Vec3::new(0.09, 0.0, 0.0)).expect("a rim");
    // The listener is at the probe that is farthest south, the bowls at those farthest north.
    let mut places = probes.to_vec();
    places.sort_by(|a, b| a.y.total_cmp(&b.y));
    let (listener, far) = (places[0], &places[places.len() / 2..]);
    let blocks = ((if quick { 1.0 } else { 4.0 }) * RATE_HZ / 64.0) as usize;
    let mut seconds = [0.0f64; 2];
    for (told, seconds) in [false, true].into_iter().zip(&mut seconds) {
        let quality = Quality { truncation_pa: 2e-5, ..Quality::default() };
        let synth = Settings { max_bodies: 101, quality, ..Settings::default() };
        let (mut handle, mut processor) = eigentone_synth::engine(synth).expect("an engine");
        let max_sources = 101;
        let (mut space, mut renderer) =
            space(&SpaceSettings { max_sources, field: Some(field.clone()), ..SpaceSettings::default() });
        space.listen(listener, Vec3::Y);
        let bodies: Vec<BodyId> =
            (0..101).map(|_| handle.add(&BodySettings::new(model.clone())).expect("room for it")).collect();
        let mut seed = 5;
        let mut mixed = 0;
        for block in 0..blocks {
            if block % 100 == 1 {
                for (k, body) in bodies.iter().enumerate() {
                    // One is right before the listener.
                    let place = if k == 0 { listener + Vec3::Y } else { far[k % far.len()] };
                    space.place(*body, &Place::at(place));
                }
            }
            for body in &bodies {
                if random(&mut seed) < 0.005 {
                    let time = Moment { sample: (block * 64) as u64, fraction: 0.0 };
                    let action = Action::Blow { site: contact.blend, impulse_ns: [-0.02, 0.0, 0.0], duration_s: 4e-4 };
                    handle.send(Event { time, body: *body, action }).expect("room in the queue");
                }
            }
            renderer.begin(|body, heard| {
                if told {
                    processor.set_audibility(body, heard);
                }
            });
            let begin = Instant::now();
            processor.next_block();
            *seconds += begin.elapsed().as_secs_f64();
            mixed += processor.stats().mixed;
        }
        println!(
            "{}: {:.0} of {} modes on the average, synthesis {:.2} % of one core",
            if told { "told what is heard" } else { "not told" },
            mixed as f64 / blocks as f64,
            101 * model.modes.len(),
            100.0 * *seconds * RATE_HZ / 64.0 / blocks as f64
        );
    }
    println!("figure rooms.feedback_ratio = {:.1} ratio", seconds[0] / seconds[1].max(1e-9));
}

/// A point within a metre and a half of a probe.
fn near_a_probe(probes: &[Vec3], seed: &mut u64) -> Vec3 {
    let probe = probes[(random(seed) * probes.len() as f64) as usize];
    probe + Vec3::new(3.0 * random(seed) - 1.5, 3.0 * random(seed) - 1.5, 0.6 * random(seed) - 0.3)
}

/// What a simulation would have recorded of an impulse response: the pulse in place of each of its samples, after the time that sound takes.
fn pulsed(response: &[f32], timing: &Timing, distance_m: f64) -> Vec<f32> {
    let steps = (timing.duration_s(distance_m) / timing.step_s) as usize;
    let width_s = 5.0 * timing.sigma_s();
    (0..steps)
        .map(|k| {
            let t = k as f64 * timing.step_s - distance_m / SOUND_M_S;
            // The pulse is at its peak 5 σ after it begins.
            let from = ((t - timing.pulse_delay_s() - width_s) * RATE_HZ).max(0.0) as usize;
            let to = (((t - timing.pulse_delay_s() + width_s) * RATE_HZ).max(0.0) as usize).min(response.len());
            (from..to.max(from)).map(|n| f64::from(response[n]) * timing.pulse(t - n as f64 / RATE_HZ)).sum::<f64>()
                as f32
        })
        .collect()
}

/// Numbers without a pattern.
fn random(seed: &mut u64) -> f64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}
