//! `eigentone model`.

use super::{damping_law, finish_model, material, refuse_same};
use crate::args::{MethodArg, ModelArgs, SpringsArg};
use crate::output::Failure;
use crate::progress::with_bar;
use eigentone::core::material::DampingLaw;
use eigentone::core::{Material, ModalModel};
use eigentone::io::{FileKind, read_model, sniff};
use eigentone::modal::shell::Springs;
use eigentone::modal::{Compression, MeshModelSettings, MethodChoice};
use eigentone::object::{model_from_file, model_from_modes};
use eigentone::synth::policy;

pub fn run(args: &ModelArgs) -> Result<(), Failure> {
    let inputs: Vec<_> = [Some(&args.mesh), args.base.as_ref()].into_iter().flatten().collect();
    refuse_same(&inputs, &[Some(&args.output)])?;
    let model = if matches!(sniff(&args.mesh)?, FileKind::Modes(_)) {
        let base = args.base.as_deref().map(read_model).transpose()?;
        model_from_modes(&args.mesh, base.as_ref())?
    } else if args.base.is_some() {
        return Err(Failure::Usage(format!("--base goes with a mode table, but {} is none", args.mesh.display())));
    } else {
        from_mesh(args, &material(&args.material)?)?
    };
    let model = if args.compress { compress(args, model) } else { model };
    let model = match args.self_mask {
        Some(offset_db) => self_mask(offset_db, model)?,
        None => model,
    };
    finish_model(&model, &args.output, args.json)
}

fn from_mesh(args: &ModelArgs, material: &Material) -> Result<ModalModel, Failure> {
    let mut settings = MeshModelSettings {
        method: match args.method {
            MethodArg::Auto => MethodChoice::Auto,
            MethodArg::Shell => MethodChoice::Shell,
            MethodArg::Solid => MethodChoice::Solid,
        },
        thickness_m: args.thickness,
        springs: match args.springs {
            SpringsArg::Area => Springs::AreaWeighted,
            SpringsArg::Uniform => Springs::Uniform,
        },
        damping: damping_law(&args.material, DampingLaw::Rayleigh),
        highest_hz: args.max_frequency,
        max_modes: args.modes,
        max_sites: args.sites,
        refine_vertices: args.refine,
        max_vertices: args.max_vertices,
        cell_m: args.cell,
        max_unknowns: args.max_unknowns,
        ..Default::default()
    };
    let build = |settings: &MeshModelSettings| {
        with_bar(args.json, |progress| model_from_file(&args.mesh, material, settings, args.scale, progress))
    };
    if let Some(wanted) = args.tune {
        if !(1.0..=20_000.0).contains(&wanted) {
            return Err(Failure::Usage(format!("--tune {wanted} must be between 1 and 20000 Hz")));
        }
        let first = build(&MeshModelSettings { max_modes: 1, ..settings.clone() })?.modes[0].frequency_hz;
        settings.frequency_scale = wanted / first;
    }
    Ok(build(&settings)?)
}

fn compress(args: &ModelArgs, model: ModalModel) -> ModalModel {
    let compression = Compression { keep_beats: args.keep_beats, ..Default::default() };
    let mut merged = compression.apply(&model);
    merged.info.notes.push(format!("compressed from {} to {} modes", model.modes.len(), merged.modes.len()));
    merged
}

/// Level at which a model is heard when it is reduced to what can be heard, in dB SPL.
const LISTENING_DB: f64 = 60.0;

fn self_mask(offset_db: f64, model: ModalModel) -> Result<ModalModel, Failure> {
    if !(0.0..=100.0).contains(&offset_db) {
        return Err(Failure::Usage(format!("--self-mask {offset_db} must be between 0 and 100 dB")));
    }
    let heard = policy::self_mask(&model, offset_db, LISTENING_DB).heard;
    let mut reduced = model.with_modes(|n| heard[n]);
    reduced.info.notes.push(format!(
        "self-masking at {offset_db} dB left {} of {} modes",
        reduced.modes.len(),
        model.modes.len()
    ));
    Ok(reduced)
}
