//! `eigentone bake` and `eigentone merge`.

use super::{need_folder, refuse_same};
use crate::args::{BakeArgs, MergeArgs};
use crate::files::{Content, check_names};
use crate::output::{self, Failure, say};
use crate::progress::with_bar;
use eigentone::bake::job::{self, Progress};
use eigentone::bake::{self, Options, Outcome, Prepared};
use eigentone::scene::Scene;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub fn run(args: &BakeArgs) -> Result<(), Failure> {
    if !(args.memory.is_finite() && args.memory > 0.0) {
        return Err(Failure::Usage("--memory must be above 0 GB".to_owned()));
    }
    let scene = Scene::read(&args.scene)?;
    // The field that the scene will be heard by is what a bake is for.
    let field = scene.field_file();
    let inputs = scene.inputs();
    let read: Vec<_> = inputs.iter().filter(|file| Some(*file) != field.as_ref()).collect();
    refuse_same(&read, &[args.output.as_ref()])?;
    check_names([("--output", args.output.as_ref(), Content::Field)])?;
    let prepared = bake::prepare(&scene)?;
    let output = match &args.output {
        Some(output) if !args.estimate => output,
        _ => {
            tell_estimate(&prepared, args.json);
            return Ok(());
        }
    };
    need_folder(output)?;
    if !args.json {
        tell_estimate(&prepared, false);
    }
    let options = Options {
        resume: args.resume,
        shard: args.shard,
        threads: args.threads.map(usize::from),
        memory_bytes: Some((args.memory * 1e9) as usize),
        pause: None,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    // A second time ends at once, as without us. Where no handler can be set Ctrl-C kills, which a bake survives as well.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    let start = Instant::now();
    let outcome = with_bar(args.json, |bar| {
        let report = |p: Progress| {
            let (done, left) = ((p.finished - p.resumed) as f64, (p.of - p.finished) as f64);
            let time = match done {
                0.0 => String::new(),
                _ => format!(", {} left", duration(start.elapsed().as_secs_f64() / done * left)),
            };
            bar.report(&format!("{} of {} probes{time}", p.finished, p.of), p.finished as f64 / p.of.max(1) as f64);
        };
        job::bake(&prepared, output, &options, &stop, &report)
    })?;
    finish(args, &prepared, output, &outcome, start.elapsed().as_secs_f64())
}

fn finish(args: &BakeArgs, prepared: &Prepared, output: &Path, outcome: &Outcome, seconds: f64) -> Result<(), Failure> {
    match outcome {
        Outcome::Stopped { finished, of, parts } => Err(eigentone::Error::Bake(format!(
            "stopped with {finished} of {of} probes done, which {} keeps; `--resume` continues",
            parts.display()
        ))
        .into()),
        Outcome::Done { probes, resumed } => {
            let field = eigentone::io::read_field(output)?;
            if args.json {
                output::say_json(&json!({
                    "field": output, "probes": probes, "resumed": resumed, "seconds": seconds,
                    "raw_bytes": field.raw_bytes(), "stored_bytes": field.stored_bytes(), "warnings": prepared.warnings,
                }));
                return Ok(());
            }
            let again = if *resumed > 0 { format!(" ({resumed} of them from before)") } else { String::new() };
            say(format_args!("{probes} probes{again} in {}", duration(seconds)));
            output::say_remarks(&[], &prepared.warnings);
            say(format_args!("wrote {} ({})", output.display(), output::size(output)));
            Ok(())
        }
    }
}

fn tell_estimate(prepared: &Prepared, json: bool) {
    let estimate = &prepared.estimate;
    if json {
        output::say_json(&json!({
            "estimate": estimate, "materials": prepared.materials, "warnings": prepared.warnings,
        }));
        return;
    }
    for m in &prepared.materials {
        let wall = m.wall.as_deref().unwrap_or("a number of its own");
        let from = if m.from == "scene" { "as the scene says" } else { "from its name" };
        say(format_args!("material `{}`: {wall}, absorbs {:.2} ({from})", m.name, m.absorption));
    }
    say(format_args!(
        "{} probes; up to {:.2} million cells of {:.2} m and {} steps each, {:.2} GB; about {} on one core, {} kB",
        estimate.probes,
        estimate.cells_per_probe as f64 / 1e6,
        estimate.cell_m,
        estimate.steps,
        estimate.bytes_per_probe as f64 / 1e9,
        duration(estimate.seconds_one_core),
        estimate.stored_bytes / 1000
    ));
}

/// Seconds, minutes or hours.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

pub fn merge(args: &MergeArgs) -> Result<(), Failure> {
    refuse_same(&args.fields.iter().collect::<Vec<_>>(), &[Some(&args.output)])?;
    check_names([("--output", Some(&args.output), Content::Field)])?;
    let probes = bake::merge(&args.fields, &args.output)?;
    if args.json {
        output::say_json(&json!({ "field": args.output, "probes": probes }));
    } else {
        say(format_args!("wrote {} ({}), {probes} probes", args.output.display(), output::size(&args.output)));
    }
    Ok(())
}
