//! The audio side allocates nothing, frees nothing and fails at nothing, whatever it is sent.

mod common;

use common::{act, point, random_body, rms};
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_core::{DiffuseBand, ModalModel, Noise, Vec3};
use eigentone_synth::{
    BLOCK, BodySettings, Budget, Glide, Masking, Nonlinear, Quality, Settings, Shaper, StreamWriter, engine,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

/// Panics when the audio side allocates or frees; counts what is allocated otherwise.
struct Trap;

thread_local! {
    /// Bytes this thread holds.
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static ARMED: Cell<bool> = const { Cell::new(false) };
    static SPRUNG: Cell<usize> = const { Cell::new(0) };
}

fn touched(size: isize) {
    BYTES.set(BYTES.get() + size);
    if ARMED.get() {
        SPRUNG.set(SPRUNG.get() + 1);
    }
}

// SAFETY: all work is done by the system's allocator.
unsafe impl GlobalAlloc for Trap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        touched(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        touched(-(layout.size() as isize));
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Trap = Trap;

/// Runs the audio side's work under the trap.
fn trapped(work: impl FnOnce()) {
    ARMED.set(true);
    work();
    ARMED.set(false);
    assert_eq!(SPRUNG.get(), 0, "the audio side allocated or freed");
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

/// A storm of everything. Also bounds the output: forces and impulses are clipped, so that sound is finite.
#[test]
fn a_storm_of_events_allocates_nothing_on_the_audio_side() {
    for (rate, seed) in [(22_050.0, 1), (44_100.0, 2), (192_000.0, 3)] {
        let mut noise = Noise::new(seed);
        let settings = Settings {
            sample_rate_hz: rate,
            most_bodies: 40,
            most_modes_per_body: 128,
            most_events: 512,
            ..Settings::default()
        };
        let (mut handle, mut processor) = engine(settings).unwrap();
        let mut bodies: Vec<BodyId> = Vec::new();
        let mut writers: Vec<StreamWriter> = Vec::new();
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
                let _ = handle.bridge(a, b, &contact, [1.0, 0.0, 0.0], 0.4, 2000.0);
                writers.extend(handle.stream(b, &contact, [0.0, 0.0, 1.0], 256).ok());
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

/// Ten minutes of bodies coming and going leave memory as it was.
#[test]
fn memory_stays_flat() {
    let mut noise = Noise::new(9);
    let models: Vec<_> = (0..8).map(|_| a_model(&mut noise)).collect();
    let (mut handle, mut processor) =
        engine(Settings { most_bodies: 16, most_modes_per_body: 128, ..Settings::default() }).unwrap();
    let mut alive: Vec<BodyId> = Vec::new();
    let mut heard = 0.0;
    let mut at_start = 0;
    let seconds = 600;
    for second in 0..seconds {
        for _ in 0..4 {
            if alive.len() > 10 {
                handle.remove(alive.remove(0)).unwrap();
            }
            let model = models[(noise.uniform() * 8.0) as usize].clone();
            alive.extend(handle.add(&BodySettings::new(model)).ok());
        }
        for &body in &alive {
            handle.send(act(body, 0, Action::Impulse { site: SiteBlend::single(0), impulse_ns: [0.01; 3] })).unwrap();
        }
        for _ in 0..44_100 / BLOCK {
            trapped(|| processor.next_block());
        }
        heard += processor.buses().map(|(_, bus)| rms(bus)).sum::<f64>();
        handle.collect();
        if second == 60 {
            at_start = BYTES.get();
        }
    }
    let grown = BYTES.get() - at_start;
    assert!(heard > 0.0);
    // What is alive varies by a body or two of some 100 kB.
    assert!(grown.abs() < 1_000_000, "{grown} bytes more after ten minutes");
    assert_eq!(handle.overflow() + processor.stats().leaked, 0);
}
