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

/// Ten simulated minutes, or as many as `EIGENTONE_MINUTES` says.
fn minutes() -> usize {
    std::env::var("EIGENTONE_MINUTES").ok().map_or(10, |text| text.parse().expect("a number"))
}

fn median(cycles: &[isize]) -> isize {
    let mut sorted = cycles.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

/// Ten minutes of everything that can be asked: bodies, models, bridges, rooms, hail, soft bodies, voices, snapshots. Every ten seconds all is taken out, and what is then held in the second half of the time is what was held in the first, but for its first minute.
#[test]
fn memory_stays_flat() {
    let (mut program, mut out) = Program::new(7, false, 44_100.0);
    let mut buffer = vec![0.0; 2 * 2048];
    let mut after_cycle = Vec::new();
    for _ in 0..6 * minutes() {
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
        for _ in 0..150 {
            program.world.advance(2048.0 / 44_100.0);
            out.process(&mut buffer, 2);
        }
        while program.world.soft_stats().behind_s > 0.0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
            program.world.advance(0.0);
        }
        // What comes after the last that they report: they are emptied.
        std::thread::sleep(std::time::Duration::from_millis(20));
        program.world.advance(0.0);
        program.world.drain_events().for_each(drop);
        after_cycle.push(held());
    }
    println!("bytes held after every cycle: {after_cycle:?}");
    let (early, late) = after_cycle[6..].split_at((after_cycle.len() - 6) / 2);
    let grown = median(late) - median(early);
    println!("figure world.memory_growth = {grown} bytes in {} minutes", minutes() / 2);
    assert!(grown < 64 * 1024, "{grown} bytes more: {after_cycle:?}");
    // Now and then something is still on its way; nothing piles up.
    let most = |cycles: &[isize]| cycles.iter().copied().max().unwrap_or(0);
    assert!(most(late) < most(early) + 512 * 1024, "{after_cycle:?}");
}
