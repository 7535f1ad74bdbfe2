//! `eigentone render`.

mod take;

use super::audible::too_soft;
use super::{need_folder, refuse_same, write_picture};
use crate::args::{Format, RenderArgs};
use crate::files::{Content, check_names};
use crate::output::{self, Failure};
use crate::progress::with_bar;
use eigentone::io::{AudioBuffer, SampleFormat, write_atomic, write_wav};
use eigentone::scene::cache::ModelCache;
use eigentone::scene::{RenderOptions, RenderStats, Rendering, Scene, render, render_to_wav};
use eigentone_studio::take_file::ENDING;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

pub fn run(args: &RenderArgs) -> Result<(), Failure> {
    if args.scene.to_string_lossy().ends_with(ENDING) {
        return take::run(args);
    }
    let written = written(args);
    if args.budget == Some(0) {
        return Err(Failure::Usage("--budget 0 leaves nothing to be heard; give at least 1".to_owned()));
    }
    // Found out now, not after the work.
    written.iter().try_for_each(|file| need_folder(file))?;
    let scene = Scene::read(&args.scene)?;
    let mut read = scene.inputs();
    read.extend(args.replay.clone());
    let mut outputs = written;
    if args.point_cache {
        outputs.extend(scene.softs.iter().map(|soft| point_cache(args, &soft.name)));
    }
    refuse_same(&read.iter().collect::<Vec<_>>(), &outputs.iter().map(Some).collect::<Vec<_>>())?;
    check_names([
        ("--output", Some(&args.output), Content::Sound),
        ("--stats", args.stats.as_ref(), Content::Json),
        ("--events", args.events.as_ref(), Content::Json),
        ("--plot", args.plot.as_ref(), Content::Picture),
        ("--animation", args.animation.as_ref(), Content::Animation),
        ("--player", args.player.as_ref(), Content::Page),
        ("--strip", args.strip.as_ref(), Content::Picture),
        ("--record", args.record.as_ref(), Content::Stream),
    ])?;
    let options = RenderOptions {
        seed: args.seed,
        budget: args.budget,
        record: args.record.clone(),
        replay: args.replay.clone(),
        cache: if args.no_cache { ModelCache::none() } else { ModelCache::standard() },
        threads: args.threads.map(usize::from),
        animation: animation(args),
        stems: args.stems.clone(),
    };
    let format = sample_format(args.format.unwrap_or(Format::Pcm24));
    let mut rendering = if args.plot.is_some() {
        // The picture needs all of the sound.
        let rendering = with_bar(args.json, |progress| render(&scene, &options, progress))?;
        let audio = AudioBuffer { sample_rate_hz: rendering.sample_rate_hz, channels: rendering.channels.to_vec() };
        write_wav(&args.output, &audio, format)?;
        rendering
    } else {
        with_bar(args.json, |progress| render_to_wav(&scene, &options, &args.output, format, progress))?
    };
    rendering.warnings.extend(way_to_rooms(&scene));
    // Where full scale was chosen by the scene, the level means something.
    let full_scale_pa = scene.output.full_scale_pa.map(|_| rendering.stats.full_scale_pa);
    let soft = too_soft(rendering.stats.peak_dbfs, format, full_scale_pa);
    soft.iter().for_each(output::warn);
    let warnings: Vec<&String> = rendering.warnings.iter().chain(&soft).collect();
    let mut stats = json!(rendering.stats);
    stats["warnings"] = json!(warnings);
    if let Some(file) = &args.stats {
        write_json(file, &stats)?;
    }
    if let Some(file) = &args.events {
        write_json(file, &rendering.events)?;
    }
    if let Some(file) = &args.plot {
        write_picture(&eigentone::plot::scene_picture(&rendering, &title(&scene)), file)?;
    }
    write_animation(args, &scene, &rendering)?;
    if args.json {
        output::say_json(&json!({
            "wav": args.output, "stats": stats, "warnings": warnings,
        }));
        return Ok(());
    }
    tell(args, &rendering);
    Ok(())
}

fn sample_format(format: Format) -> SampleFormat {
    match format {
        Format::Pcm16 => SampleFormat::Pcm16,
        Format::Pcm24 => SampleFormat::Pcm24,
        Format::Float32 => SampleFormat::Float32,
    }
}

/// How the rooms of a scene come to be heard that was played without them.
fn way_to_rooms(scene: &Scene) -> Option<String> {
    let field = scene.field_file().filter(|field| !field.is_file())?;
    Some(format!("`eigentone bake {} -o {}` bakes the rooms", scene.file.display(), field.display()))
}

/// All files that may be written, but for point caches, whose names follow from the scene.
fn written(args: &RenderArgs) -> Vec<PathBuf> {
    let sound =
        [Some(&args.output), args.stats.as_ref(), args.events.as_ref(), args.plot.as_ref(), args.record.as_ref()];
    let seen = [animation(args), args.player.clone(), args.strip.clone()];
    sound.into_iter().flatten().cloned().chain(seen.into_iter().flatten()).collect()
}

/// Where the animation goes: beside the sound if only something that is made of it was asked for.
fn animation(args: &RenderArgs) -> Option<PathBuf> {
    let wanted = args.player.is_some() || args.strip.is_some() || args.point_cache;
    args.animation.clone().or_else(|| wanted.then(|| args.output.with_extension("glb")))
}

/// Where the point cache of a body goes.
fn point_cache(args: &RenderArgs, body: &str) -> PathBuf {
    let name: String = body.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let stem = args.output.file_stem().unwrap_or_default().to_string_lossy();
    args.output.with_file_name(format!("{stem}-{name}.pc2"))
}

/// What is made of the frames of soft bodies.
fn write_animation(args: &RenderArgs, scene: &Scene, rendering: &Rendering) -> Result<(), Failure> {
    let Some(recorded) = &rendering.animation else { return Ok(()) };
    if let Some(file) = &args.player {
        recorded.write_player(file, &args.output, &title(scene))?;
    }
    if let Some(file) = &args.strip {
        write_picture(&eigentone::plot::film_strip(recorded, &title(scene))?, file)?;
    }
    if args.point_cache {
        for body in &recorded.bodies {
            recorded.write_point_cache(body.mesh, &point_cache(args, &body.name))?;
        }
    }
    Ok(())
}

/// What the scene calls itself, or else its file.
fn title(scene: &Scene) -> String {
    let name = scene.file.file_name().map(|n| n.to_string_lossy().into_owned());
    if scene.title.is_empty() { name.unwrap_or_default() } else { scene.title.clone() }
}

fn tell(args: &RenderArgs, rendering: &Rendering) {
    let s = &rendering.stats;
    if let Some(soft) = &s.soft {
        output::say(format_args!(
            "{} soft bodies of {} tetrahedra, {} contacts; {:.2} s of sound in {:.1} s of simulation, {:.0} steps a second of sound; peak {:.1} dBFS",
            soft.bodies,
            soft.elements,
            s.events.impacts,
            s.duration_s,
            s.seconds.simulation,
            soft.steps_per_s,
            s.peak_dbfs
        ));
    }
    if s.soft.is_none() || s.modes.total > 0 {
        tell_of_modes(s);
    }
    output::say_remarks(&[], &rendering.warnings);
    // Without soft bodies there is nothing to be seen, and a warning says so.
    let of_frames = [animation(args), args.player.clone(), args.strip.clone()];
    let mut files = written(args);
    match &rendering.animation {
        Some(recorded) if args.point_cache => {
            files.extend(recorded.bodies.iter().map(|body| point_cache(args, &body.name)));
        }
        Some(_) => {}
        None => files.retain(|file| !of_frames.contains(&Some(file.clone()))),
    }
    for file in &files {
        output::say(format_args!("wrote {} ({})", file.display(), output::size(file)));
    }
}

fn tell_of_modes(s: &RenderStats) {
    output::say(format_args!(
        "{} bodies, {} impacts, {} contacts; {:.0} of {} modes at once on the average, {} at most",
        s.bodies, s.events.impacts, s.events.contacts, s.modes.mixed_mean, s.modes.total, s.modes.mixed_max
    ));
    output::say(format_args!(
        "{:.2} s of sound in {:.2} s of simulation and {:.2} s of synthesis ({:.0} times real time), after {:.1} s for models; peak {:.1} dBFS",
        s.duration_s,
        s.seconds.simulation,
        s.seconds.synthesis,
        s.synthesis_realtime_factor,
        s.seconds.models,
        s.peak_dbfs
    ));
}

fn write_json(file: &Path, value: &impl Serialize) -> Result<(), Failure> {
    Ok(write_atomic(file, |out| Ok(serde_json::to_writer_pretty(out, value)?))?)
}
