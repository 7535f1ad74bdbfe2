//! Memory that a world takes, it gives back. Alone in its program, because the counter is that of the whole program.

mod common;
#[path = "common/program.rs"]
mod program;

use program::Program;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that are allocated now.
fn held() -> isize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as isize - stats.bytes_deallocated as isize
}

/// Ten minutes of everything that can be asked: bodies, models, bridges, rooms, hail, soft bodies, voices, snapshots. Every ten seconds all is taken out, and what is then held is the same as it was after the second minute.
#[test]
fn memory_stays_flat() {
    let (mut program, mut out) = Program::new(7, false, 44_100.0);
    let mut buffer = vec![0.0; 2 * 2048];
    let mut after_cycle = Vec::new();
    for _ in 0..60 {
        let mut left = 10 * 44_100usize;
        while left > 0 {
            if program.below(3) == 0 {
                program.act();
            }
            if program.world.is_paused() {
                program.world.resume();
            }
            let block = (16usize << program.below(8)).min(left);
            program.pass(block as f64 / 44_100.0);
            out.process(&mut buffer[..2 * block], 2);
            left -= block;
        }
        program.clear();
        // Until what fades has faded and come back, soft bodies have caught up and old rooms have rung out.
        for _ in 0..100 {
            program.world.advance(2048.0 / 44_100.0);
            out.process(&mut buffer, 2);
        }
        program.world.drain_events().for_each(drop);
        after_cycle.push(held());
    }
    println!("bytes held after every cycle: {after_cycle:?}");
    let most = |cycles: &[isize]| cycles.iter().copied().max().unwrap_or(0);
    let grown = most(&after_cycle[48..]) - most(&after_cycle[12..24]);
    println!("figure world.memory_growth_8_minutes = {grown} bytes");
    assert!(grown < 64 * 1024, "{grown} bytes more: {after_cycle:?}");
}
