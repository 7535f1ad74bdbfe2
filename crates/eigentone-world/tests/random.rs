//! Random programs over the whole live API, as the validators of plug-ins do it: whatever is asked, the audio side allocates nothing, what comes out is finite and below full scale, and nothing panics.

mod common;
#[path = "common/program.rs"]
mod program;

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use eigentone_world::AudioOut;
use program::{Program, RATES_HZ};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

/// Renders under the trap; nothing may allocate, be above full scale or not be a number.
fn render(out: &mut AudioOut, block: &mut [f32], channels: usize, seed: u64) {
    assert_no_alloc(|| out.process(block, channels));
    assert_eq!(violation_count(), 0, "seed {seed}: the audio side allocated or freed");
    for y in block.iter() {
        assert!(y.is_finite() && y.abs() <= 1.0, "seed {seed}: {y}");
    }
}

/// One random program of about a fifth of a second of sound.
fn fuzz(seed: u64) {
    let rate_hz = RATES_HZ[seed as usize % RATES_HZ.len()];
    let (mut program, mut out) = Program::new(seed, true, rate_hz);
    let channels = 1 + program.below(3);
    let mut buffer = vec![0.0; 4096 * channels];
    let mut left = (0.2 * rate_hz) as usize;
    while left > 0 {
        for _ in 0..program.below(12) {
            program.act();
        }
        let most = 1 << (1 + program.below(12));
        let block = (1 + program.below(most)).min(left);
        program.pass(block as f64 / rate_hz);
        render(&mut out, &mut buffer[..block * channels], channels, seed);
        left -= block;
    }
    assert_eq!(out.audio_stats().non_finite_samples, 0, "seed {seed}");
    // Either side may go first.
    if program.below(2) == 0 {
        let Program { world, .. } = program;
        drop(world);
        render(&mut out, &mut buffer, channels, seed);
    } else {
        drop(out);
        for _ in 0..50 {
            program.act();
        }
        program.pass(0.01);
    }
}

/// Reads a number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

/// A thousand seeds from 0 on; `EIGENTONE_SEEDS` runs more or fewer, `EIGENTONE_FIRST_SEED` begins with another. The seed that failed is printed.
#[test]
fn whatever_is_asked_sound_stays_sound() {
    let first = setting("EIGENTONE_FIRST_SEED", 0);
    for seed in first..first + setting("EIGENTONE_SEEDS", 1000) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| fuzz(seed))) {
            eprintln!("seed {seed} failed: run EIGENTONE_FIRST_SEED={seed} EIGENTONE_SEEDS=1");
            resume_unwind(panic);
        }
    }
}

/// Ten minutes of adding, removing, swapping, dragging and changing, in blocks of 16 to 2048: finite, below full scale, no event late. That memory does not grow is measured in `memory.rs`.
#[test]
fn ten_minutes_of_changes() {
    let (mut program, mut out) = Program::new(7, false, 44_100.0);
    let mut buffer = vec![0.0; 2 * 2048];
    let (mut left, mut blocks) = (600 * 44_100usize, 0u64);
    while left > 0 {
        if program.below(3) == 0 {
            program.act();
        }
        if program.world.is_paused() {
            program.world.resume();
        }
        let block = (16usize << program.below(8)).min(left);
        program.pass(block as f64 / 44_100.0);
        render(&mut out, &mut buffer[..2 * block], 2, 7);
        left -= block;
        blocks += 1;
    }
    let stats = program.world.stats();
    assert!(blocks > 10_000);
    assert_eq!((stats.late, stats.leaked, out.audio_stats().non_finite_samples), (0, 0, 0), "{stats:?}");
    assert!(program.world.len() <= 24);
}
