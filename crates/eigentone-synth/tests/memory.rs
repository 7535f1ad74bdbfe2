//! Memory that the engine takes, it gives back. Alone in its program, because the counter is that of the whole program.

mod common;

use common::{act, random_body, rms};
use eigentone_core::Noise;
use eigentone_core::event::{Action, BodyId};
use eigentone_core::model::SiteBlend;
use eigentone_synth::{BLOCK, BodySettings, Settings, engine};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that are allocated now.
fn held() -> isize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as isize - stats.bytes_deallocated as isize
}

/// Ten minutes of bodies coming and going leave memory as it was.
#[test]
fn memory_stays_flat() {
    let mut noise = Noise::new(9);
    let models: Vec<_> = (0..8).map(|i| random_body(20 + 15 * i, 9.0, i as u64)).collect();
    let (mut handle, mut processor) =
        engine(Settings { max_bodies: 16, max_modes_per_body: 128, ..Settings::default() }).unwrap();
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
            processor.next_block();
        }
        heard += processor.buses().map(|(_, bus)| rms(bus)).sum::<f64>();
        handle.collect();
        if second == 60 {
            at_start = held();
        }
    }
    let grown = held() - at_start;
    assert!(heard > 0.0);
    // What is alive varies by a body or two of some 100 kB.
    assert!(grown.abs() < 1_000_000, "{grown} bytes more after ten minutes");
    assert_eq!(handle.overflow() + processor.stats().leaked, 0);
}
