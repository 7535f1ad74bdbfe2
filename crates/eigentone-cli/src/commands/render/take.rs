//! `eigentone render` of a take of the studio.

use super::sample_format;
use crate::args::{Format, RenderArgs};
use crate::commands::{need_folder, refuse_same};
use crate::files::{Content, check_names};
use crate::output::{self, Failure};
use crate::progress::with_bar;
use eigentone::io::{AudioBuffer, write_wav};
use eigentone::scene::cache::ModelCache;
use eigentone_studio::render_take;
use serde_json::json;

pub fn run(args: &RenderArgs) -> Result<(), Failure> {
    let others = [
        ("--stats", args.stats.is_some()),
        ("--events", args.events.is_some()),
        ("--plot", args.plot.is_some()),
        ("--animation", args.animation.is_some()),
        ("--player", args.player.is_some()),
        ("--strip", args.strip.is_some()),
        ("--point-cache", args.point_cache),
        ("--budget", args.budget.is_some()),
        ("--seed", args.seed.is_some()),
        ("--record", args.record.is_some()),
        ("--replay", args.replay.is_some()),
        ("--stems", args.stems.is_some()),
    ];
    if let Some((option, _)) = others.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!("{option} is for scenes; a take is rendered as it was recorded")));
    }
    need_folder(&args.output)?;
    refuse_same(&[&args.scene], &[Some(&args.output)])?;
    check_names([("--output", Some(&args.output), Content::Sound)])?;
    let cache = if args.no_cache { ModelCache::none() } else { ModelCache::standard() };
    let rendered = with_bar(args.json, |progress| render_take(&args.scene, cache, progress)).map_err(|fault| {
        let hint = if fault.hint.is_empty() { String::new() } else { format!("; {}", fault.hint) };
        Failure::Other(format!("{}: {}{hint}", args.scene.display(), fault.error))
    })?;
    let channel = |first: usize| rendered.samples.iter().skip(first).step_by(2).copied().collect::<Vec<f32>>();
    let audio = AudioBuffer { sample_rate_hz: rendered.sample_rate_hz, channels: vec![channel(0), channel(1)] };
    let format = args.format.unwrap_or(Format::Float32);
    write_wav(&args.output, &audio, sample_format(format))?;
    let mut differences = rendered.differences;
    differences.extend(rendered.missing.iter().map(|file| format!("{} is missing", file.display())));
    if args.json {
        output::say_json(&json!({ "wav": args.output, "same": rendered.same, "differences": differences }));
        return Ok(());
    }
    let seconds = rendered.samples.len() as f64 / 2.0 / f64::from(rendered.sample_rate_hz);
    let how = if rendered.same { "bit for bit what was recorded" } else { "not bit for bit what was recorded" };
    output::say(format_args!("{seconds:.2} s of sound, {how}"));
    output::say_remarks(&[], &differences);
    output::say(format_args!("wrote {} ({})", args.output.display(), output::size(&args.output)));
    Ok(())
}
