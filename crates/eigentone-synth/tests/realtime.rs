//! The audio side allocates nothing, frees nothing and fails at nothing, whatever it is sent.

mod common;

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use common::{point, random_body};
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_core::texture::{Bumps, Foil, Friction, Loose, Profile, Rough, Texture};
use eigentone_core::{DiffuseBand, ModalModel, Noise, Vec3};
use eigentone_synth::texture::SurfaceRuntime;
use eigentone_synth::{
    BLOCK, BodySettings, BridgeSettings, Budget, ContactSettings, Glide, Keyframe, Masking, Nonlinear, PointState,
    Quality, Settings, Shaper, StepBank, StreamWriter, engine,
};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

/// Runs the audio side's work under the trap.
fn trapped(work: impl FnOnce()) {
    assert_no_alloc(work);
    assert_eq!(violation_count(), 0, "the audio side allocated or freed");
}

fn a_model(noise: &mut Noise) -> Arc<ModalModel> {
    let mut model = (*random_body(1 + (noise.uniform() * 120.0) as usize, 9.0, noise.bits())).clone();
    if noise.uniform() < 0.3 {
        model.diffuse = (0..5)
            .map(|i| DiffuseBand {
                low_hz: 300.0 * f64::from(i + 1),
                high_hz: 300.0 * f64::from(i + 2),
                gain: 0.1,
                t60_s: 0.2,
            })
            .collect();
    }
    Arc::new(model)
}

fn a_body(noise: &mut Noise) -> BodySettings {
    let mut settings = BodySettings::new(a_model(noise));
    match (noise.uniform() * 5.0) as usize {
        0 => settings.glide = Some(Glide { amount: 0.1 * noise.bipolar() as f32, energy_pa2: 0.01, focus: 0.5 }),
        1 => {
            settings.nonlinear =
                Some(Nonlinear { sections: 3, coupling: 0.9, reference_pa: 0.1, shaper: Shaper::Square })
        }
        2 => settings.strain_sensitivity = 1.0,
        _ => {}
    }
    settings
}

fn an_action(noise: &mut Noise) -> Action {
    let mut random = |scale: f64| (scale * noise.bipolar()) as f32;
    let site = SiteBlend { sites: [1, 5, 39], weights: [0.2, 0.3, 0.5] };
    let impulse_ns = [random(0.1), random(0.1), random(0.1)];
    match random(4.0) as i32 {
        -3 => Action::Damping(1.0 + random(10.0).abs()),
        -2 => Action::Frequency(1.0 + random(0.3)),
        -1 => Action::Strain(random(0.5)),
        1 => Action::Gain(random(3.0)),
        2 => Action::Emphasis(random(3.0)),
        3 => Action::Silence,
        _ if random(1.0) > 0.0 => Action::Impulse { site, impulse_ns },
        _ => Action::Blow { site, impulse_ns, duration_s: random(0.01).abs() },
    }
}

fn a_quality(noise: &mut Noise) -> Quality {
    let masking =
        Masking { compensate: noise.uniform() < 0.5, offset_db: 20.0 * noise.uniform() as f32, ..Masking::default() };
    Quality {
        truncation_pa: if noise.uniform() < 0.3 { 0.0 } else { 1e-4 },
        masking: (noise.uniform() < 0.7).then_some(masking),
        budget: (noise.uniform() < 0.5).then(|| Budget::of((noise.uniform() * 3000.0) as usize)),
    }
}

/// One surface of every kind that needs no recording.
fn surfaces(rate: f64) -> Vec<Arc<SurfaceRuntime>> {
    let profiles = [
        Profile::Smooth,
        Profile::Bumps(Bumps::default()),
        Profile::Rough(Rough::default()),
        Profile::Loose(Loose::default()),
        Profile::Foil(Foil::default()),
        Profile::Friction(Friction::default()),
    ];
    profiles
        .into_iter()
        .map(|profile| Texture { profile, direct_pa_per_n: 0.1, decay_s: 0.1, ..Texture::default() })
        .map(|texture| SurfaceRuntime::new(&texture, &[], &[], 1, rate).unwrap())
        .collect()
}

fn a_keyframe(noise: &mut Noise, sample: u64) -> Keyframe {
    let mut point = || PointState {
        force_n: (200.0 * noise.bipolar()) as f32,
        slip_m_s: noise.bipolar() as f32,
        travel_m_s: [noise.bipolar() as f32, noise.uniform() as f32],
        roughness: [noise.bipolar() as f32, 2.0 * noise.uniform() as f32],
    };
    let points = [point(), point(), PointState::default(), point()];
    let site = SiteBlend { sites: [(noise.uniform() * 39.0) as u32, 1, 2], weights: [0.5, 0.3, 0.2] };
    Keyframe { time: Moment { sample, fraction: 0.0 }, points, sites: [site; 2], directions: [[0.0, 0.6, 0.8]; 2] }
}

/// A storm of everything. Also bounds the output: forces and impulses are clipped, so that sound is finite.
#[test]
fn a_storm_of_events_allocates_nothing_on_the_audio_side() {
    for (rate, seed) in [(22_050.0, 1), (44_100.0, 2), (192_000.0, 3)] {
        let mut noise = Noise::new(seed);
        let settings = Settings {
            sample_rate_hz: rate,
            max_bodies: 40,
            max_modes_per_body: 128,
            max_events: 512,
            max_events_per_block: if seed == 2 { 4 } else { 256 },
            ..Settings::default()
        };
        let (mut handle, mut processor) = engine(settings).unwrap();
        let mut bodies: Vec<BodyId> = Vec::new();
        let mut writers: Vec<StreamWriter> = Vec::new();
        let (surfaces, mut contacts) = (surfaces(rate), Vec::new());
        let contact = point(&[(100.0, 1.0, 1.0)]).nearest_contact(Vec3::ZERO).unwrap();
        for block in 0..6000u64 {
            let now = block * BLOCK as u64;
            if noise.uniform() < 0.2 {
                bodies.extend(handle.add(&a_body(&mut noise)).ok());
            }
            if noise.uniform() < 0.05 && bodies.len() > 1 {
                let pick = |noise: &mut Noise| bodies[(noise.uniform() * bodies.len() as f64) as usize];
                let (a, b) = (pick(&mut noise), pick(&mut noise));
                bodies.extend(handle.share(a, 0.5).ok());
                let _ = handle.bridge(&BridgeSettings {
                    low_pass_hz: 2000.0,
                    ..BridgeSettings::new(a, b, &contact, [1.0, 0.0, 0.0], 0.4)
                });
                writers.extend(handle.stream(b, &contact, [0.0, 0.0, 1.0], 256).ok());
            }
            if noise.uniform() < 0.1 && bodies.len() > 1 {
                let mut pick = || (noise.uniform() * bodies.len() as f64) as usize;
                let pair = [Some(bodies[pick()]), Some(bodies[pick()]).filter(|_| block % 3 > 0)];
                let surface = |noise: &mut Noise| &surfaces[(noise.uniform() * surfaces.len() as f64) as usize];
                let settings = ContactSettings {
                    bodies: pair,
                    surfaces: [surface(&mut noise), surface(&mut noise)],
                    points: 4,
                    mass_over_stiffness_s: 1e-4,
                    seed: block,
                    feedback: (block % 2 == 0).then(|| StepBank::new(&point(&[(440.0, 5.0, 1.0)]).modes, &[1.0], rate)),
                    first: a_keyframe(&mut noise, now),
                };
                contacts.extend(handle.open_contact(settings).ok());
            }
            for &contact in &contacts {
                let key = a_keyframe(&mut noise, now + 64);
                let _ = handle.update_contact(contact, key);
            }
            if noise.uniform() < 0.1 && !contacts.is_empty() {
                let end = Moment { sample: now + (noise.uniform() * 900.0) as u64, fraction: 0.0 };
                let _ = handle.close_contact(contacts.swap_remove(0), end);
            }
            if noise.uniform() < 0.05 && !writers.is_empty() {
                writers.swap_remove(0);
            }
            for writer in &mut writers {
                let force: Vec<f32> = (0..BLOCK).map(|_| 100.0 * noise.bipolar() as f32).collect();
                writer.write(&force);
            }
            if noise.uniform() < 0.1 && !bodies.is_empty() {
                let at = (noise.uniform() * bodies.len() as f64) as usize;
                let time = Moment { sample: now + (noise.uniform() * 1000.0) as u64, fraction: 0.0 };
                let _ = handle.remove_at(bodies.swap_remove(at), time);
            }
            if noise.uniform() < 0.1 && !bodies.is_empty() {
                let body = bodies[(noise.uniform() * bodies.len() as f64) as usize];
                let _ = handle.swap(body, &a_body(&mut noise));
            }
            if noise.uniform() < 0.02 {
                processor.limit_modes((noise.uniform() < 0.5).then(|| (noise.uniform() * 1000.0) as usize));
            }
            if noise.uniform() < 0.01 {
                let _ = handle.set_quality(a_quality(&mut noise), Moment { sample: now + 7, fraction: 0.0 });
            }
            for &body in &bodies {
                if noise.uniform() < 0.1 {
                    let time =
                        Moment { sample: now + (noise.uniform() * 500.0) as u64, fraction: noise.uniform() as f32 };
                    let _ = handle.send(Event { time, body, action: an_action(&mut noise) });
                }
            }
            trapped(|| processor.next_block());
            assert!(processor.buses().all(|(_, bus)| bus.iter().all(|y| y.is_finite())), "block {block}");
            let stats = processor.stats();
            assert_eq!(stats.leaked, 0);
        }
        let stats = processor.stats();
        assert!(stats.hits > 1000 && stats.bodies > 10, "{stats:?}");
    }
}

/// The trap itself: an allocation is noticed.
#[test]
fn the_trap_springs() {
    assert_no_alloc(|| drop(std::hint::black_box(Box::new(1))));
    assert!(violation_count() > 0);
}
