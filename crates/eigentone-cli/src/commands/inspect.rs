//! `eigentone inspect`.

mod field;
mod file;
mod scene;
#[cfg(test)]
mod tests;

use super::{refuse_same, write_picture};
use crate::args::InspectArgs;
use crate::files::{Content, check_names};
use crate::output::{self, Failure, say};
use eigentone::io::{mode_rows, write_modes};
use eigentone::plot::{Picture, field_picture};
use field::{FieldInspection, nearest_probe};
use file::{AudioInspection, Inspected, Inspection, MeshInspection, ModelInspection, TetInspection};
use scene::{AcousticsInspection, SceneInspection};

/// Modes listed on a terminal; `--json` and `--export` have all.
const LISTED: usize = 24;

pub fn run(args: &InspectArgs) -> Result<(), Failure> {
    if !(args.scale.is_finite() && args.scale > 0.0) {
        return Err(Failure::Usage("--scale must be above 0".to_owned()));
    }
    refuse_same(&[&args.file], &[args.plot.as_ref(), args.export.as_ref()])?;
    check_names([
        ("--plot", args.plot.as_ref(), Content::Picture),
        ("--export", args.export.as_ref(), Content::Table),
    ])?;
    let inspected = Inspected::new(&args.file, args.scale)?;
    if let Some(file) = &args.plot {
        write_picture(&picture(args, &inspected)?, file)?;
    }
    if let Some(file) = &args.export {
        let Some(model) = inspected.model() else {
            return Err(Failure::Usage(format!("--export needs a model, but {} is none", args.file.display())));
        };
        write_modes(file, &mode_rows(model))?;
    }
    if args.json {
        output::say_json(&inspected.inspection);
        return Ok(());
    }
    match &inspected.inspection {
        Inspection::Mesh(mesh) => print_mesh(mesh),
        Inspection::Tetrahedra(tets) => print_tets(tets),
        Inspection::Modal(model) => print_model(model),
        Inspection::Audio(audio) => print_audio(audio),
        Inspection::Scene(scene) => print_scene(scene),
        Inspection::Field(field) => print_field(field),
    }
    for file in [&args.plot, &args.export].into_iter().flatten() {
        say(format_args!("wrote {} ({})", file.display(), output::size(file)));
    }
    Ok(())
}

fn picture(args: &InspectArgs, inspected: &Inspected) -> Result<Picture, Failure> {
    if args.probe.is_none() && args.at.is_none() {
        return Ok(inspected.picture());
    }
    let Some(field) = inspected.field() else {
        return Err(Failure::Usage(format!("--probe and --at need a field, but {} is none", args.file.display())));
    };
    let probes = field.probes().len();
    match args.probe.or_else(|| nearest_probe(field, args.at)) {
        Some(probe) if probe < probes => Ok(field_picture(field, probe)),
        _ => Err(Failure::Usage(format!("--probe: {} has {probes} probes, counted from 0", args.file.display()))),
    }
}

fn print_mesh(mesh: &MeshInspection) {
    let r = &mesh.report;
    let [low, high] = r.bounds;
    say(format_args!("mesh: {} vertices, {} triangles, {} piece(s)", r.vertices, r.triangles, r.components));
    say(format_args!(
        "size: {:.4} × {:.4} × {:.4} m, area {:.5} m², volume {:.3e} m³, mean edge {:.2} mm",
        high[0] - low[0],
        high[1] - low[1],
        high[2] - low[2],
        r.area_m2,
        r.volume_m3,
        1e3 * r.mean_edge_m
    ));
    say(if r.watertight { "closed: every edge has two triangles" } else { "not watertight" });
    output::say_remarks(&[], &mesh.warnings);
}

fn print_tets(tets: &TetInspection) {
    say(format_args!(
        "tetrahedra: {} nodes, {} elements, volume {:.3e} m³",
        tets.nodes, tets.tetrahedra, tets.volume_m3
    ));
    output::say_remarks(&[], &tets.warnings);
}

fn print_model(model: &ModelInspection) {
    let mass = model.mass_kg.map(|m| format!(", {m:.3} kg")).unwrap_or_default();
    let material = if model.material.is_empty() { "unknown material" } else { &model.material };
    say(format_args!(
        "{} model `{}`: {material}{mass}, {} modes, {} contact sites",
        model.method,
        model.name,
        model.modes.len(),
        model.vertices
    ));
    let loudest = model.modes.iter().map(|m| m.gain).fold(0.0, f64::max);
    say("   mode   frequency Hz     T60 s   level dB");
    for mode in model.modes.iter().take(LISTED) {
        say(format_args!(
            "{:>7} {:>14.2} {:>9.3} {:>10.1}",
            mode.index,
            mode.frequency_hz,
            mode.t60_s,
            20.0 * (mode.gain / loudest).log10()
        ));
    }
    if model.modes.len() > LISTED {
        say(format_args!("    … {} more; --json or --export TABLE.csv has all", model.modes.len() - LISTED));
    }
    for band in &model.diffuse {
        say(format_args!(
            "  noise {:>6.0}–{:<6.0} Hz, level {:.2e}, T60 {:.3} s",
            band.low_hz, band.high_hz, band.gain, band.t60_s
        ));
    }
    output::say_remarks(&model.notes, &model.warnings);
}

fn print_audio(audio: &AudioInspection) {
    let level = |x: Option<f64>| x.map_or("-∞".to_owned(), |x| format!("{x:.1}"));
    say(format_args!(
        "sound: {} channel(s) at {} Hz, {:.3} s, peak {} dBFS, rms {} dBFS",
        audio.channels,
        audio.sample_rate_hz,
        audio.duration_s,
        level(audio.peak_dbfs),
        level(audio.rms_dbfs)
    ));
    output::say_remarks(&[], &audio.warnings);
}

fn print_scene(scene: &SceneInspection) {
    let title = if scene.title.is_empty() { "without a title" } else { &scene.title };
    say(format_args!("scene: {title}, {} s at {:.0} Hz, seed {}", scene.duration_s, scene.sample_rate_hz, scene.seed));
    let counts = [
        (scene.melody_notes, "notes"),
        (scene.events, "scripted events"),
        (scene.bridges, "bridges"),
        (scene.soft, "soft bodies"),
        (scene.particles, "particles"),
        (scene.colliders, "colliders"),
    ];
    let mut parts = vec![format!("{} bodies, {} of which sound", scene.bodies, scene.sounding)];
    parts.extend(counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    say(parts.join("; "));
    if !scene.surfaces.is_empty() {
        say(format_args!("surfaces: {}", scene.surfaces.join(", ")));
    }
    output::say_remarks(&[], &scene.warnings);
    if let Some(acoustics) = &scene.acoustics {
        print_acoustics(acoustics);
    }
}

fn print_acoustics(acoustics: &AcousticsInspection) {
    if let Some(estimate) = &acoustics.estimate {
        say(format_args!("acoustics: {} probes, cells of {:.3} m", acoustics.probes, estimate.cell_m));
    }
    for m in &acoustics.materials {
        let wall = m.wall.as_deref().unwrap_or("a number of its own");
        say(format_args!("material `{}`: {wall}, absorbs {:.2}", m.name, m.absorption));
    }
    output::say_remarks(&[], &acoustics.warnings);
}

fn print_field(field: &FieldInspection) {
    let name = if field.name.is_empty() { "without a name" } else { &field.name };
    let [low, high] = field.bounds;
    say(format_args!(
        "field: {name}, {} probes, up to {:.0} Hz; {:.1} × {:.1} × {:.1} m from ({:.1}, {:.1}, {:.1}) on",
        field.probes,
        field.f_max_hz,
        high[0] - low[0],
        high[1] - low[1],
        high[2] - low[2],
        low[0],
        low[1],
        low[2]
    ));
    say(format_args!(
        "{} samples in cubes of {} m, {} cubes a probe; steps of {} just noticeable ones",
        field.samples, field.grid_m, field.cells_per_probe, field.quantum
    ));
    say("   parameter      bytes   per sample   with DEFLATE");
    for p in &field.parameters {
        say(format_args!("{:>12} {:>10} {:>12.3} {:>14}", p.name, p.stored_bytes, p.bytes_per_sample, p.deflate_bytes));
    }
    for (name, bytes) in
        [("validity", field.mask_bytes), ("solid cells", field.occupancy_bytes), ("the rest", field.index_bytes)]
    {
        say(format_args!("{name:>12} {bytes:>10}"));
    }
    say(format_args!("{:>12} {:>10} {:>12.3}", "all", field.stored_bytes, field.bytes_per_sample));
    say(format_args!(
        "compression {:.1} against a byte for each value, {:.1} against one also in cubes without any ({} bytes)",
        field.sample_ratio, field.ratio, field.raw_bytes
    ));
    output::say_remarks(&[], &field.warnings);
}
