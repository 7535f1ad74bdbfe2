//! `eigentone play`.

use crate::args::PlayArgs;
use crate::output::{self, Failure};
use crate::progress::with_bar;
use eigentone::scene::cache::ModelCache;
use eigentone::scene::{PlayOptions, PlayReport, Scene, play_headless};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub fn run(args: &PlayArgs) -> Result<(), Failure> {
    check(args)?;
    let scene = Scene::read(&args.scene)?;
    let options = PlayOptions {
        seconds: args.seconds,
        block: args.block as usize,
        seed: args.seed,
        budget: args.budget,
        budget_us: args.budget_us,
        latency_s: 1e-3 * args.latency,
        cache: if args.no_cache { ModelCache::none() } else { ModelCache::standard() },
    };
    let stop = Arc::new(AtomicBool::new(false));
    let handler = {
        let stop = stop.clone();
        move || stop.store(true, Ordering::Relaxed)
    };
    // Without a handler ctrl-c ends the program at once, which is no harm.
    let _ = ctrlc::set_handler(handler);
    if !args.headless {
        return on_device(&scene, &options, &stop);
    }
    let report = with_bar(args.json, |progress| play_headless(&scene, &options, &stop, progress))?;
    if args.json {
        output::say_json(&report);
    } else {
        tell(&report);
    }
    Ok(())
}

fn check(args: &PlayArgs) -> Result<(), Failure> {
    let wrong = |what: &str| Err(Failure::Usage(what.to_owned()));
    if args.seconds.is_some_and(|s| !(s > 0.0 && s <= 1e6)) {
        return wrong("--seconds must be above 0 and at most 1e6");
    }
    if args.budget == Some(0) {
        return wrong("--budget 0 leaves nothing to be heard; give at least 1");
    }
    if args.budget_us.is_some_and(|us| !(us > 0.0 && us <= 1e6)) {
        return wrong("--budget-us must be above 0 and at most 1e6 µs");
    }
    if !(0.0..=1000.0).contains(&args.latency) {
        return wrong("--latency must be between 0 and 1000 ms");
    }
    Ok(())
}

fn tell(report: &PlayReport) {
    let r = report;
    output::say(format_args!(
        "played {:.1} s in {} blocks, {} of them late; a block took {:.1} % of its length in the median, {:.1} % at worst",
        r.seconds,
        r.blocks,
        r.late_blocks,
        100.0 * r.block_share_median,
        100.0 * r.block_share_worst
    ));
    output::say(format_args!(
        "{:.1} times faster than real time on one core, simulation and sound; {:.0} modes on average; {:.0} ms from motion to sound; peak {:.1} dBFS",
        r.realtime_factor, r.modes_mixed_mean, r.latency_ms, r.peak_dbfs
    ));
    if r.budget_kept_share < 1.0 {
        output::say(format_args!(
            "the budget was kept in {:.2} % of all blocks of 64 samples",
            100.0 * r.budget_kept_share
        ));
    }
    if r.skipped_s > 0.0 || r.jumps > 0 {
        output::say(format_args!(
            "the machine could not keep up: {:.2} s were left out, {} gaps were jumped over",
            r.skipped_s, r.jumps
        ));
    }
    output::say_remarks(&[], &r.warnings);
}

/// Plays on the sound device, at its own rate.
#[cfg(feature = "device")]
fn on_device(scene: &Scene, options: &PlayOptions, stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    let output = eigentone::device::Output::find()?;
    let (mut live, mut out) = with_bar(false, |progress| {
        eigentone::scene::Live::new(scene, options, Some(output.sample_rate_hz()), progress)
    })?;
    let _playing = output.play(move |frames, channels| out.process(frames, channels))?;
    output::say(format_args!("playing; ctrl-c stops"));
    let begin = std::time::Instant::now();
    let seconds = options.seconds.unwrap_or(f64::INFINITY);
    while begin.elapsed().as_secs_f64() < seconds && !stop.load(Ordering::Relaxed) {
        live.frame()?;
        std::thread::sleep(std::time::Duration::from_millis(4));
    }
    Ok(())
}

#[cfg(not(feature = "device"))]
fn on_device(_: &Scene, _: &PlayOptions, _: &Arc<AtomicBool>) -> Result<(), Failure> {
    let way_out = "build it with `cargo build --release --features device`, or add --headless to play without one";
    Err(Failure::Usage(format!("play: this eigentone was built without a sound device; {way_out}")))
}
