//! `eigentone model`.

use super::{damping_law, finish_model, material, material_table, refuse_same};
use crate::args::{DetailArg, MethodArg, ModelArgs, SpringsArg};
use crate::files::{Content, check_names};
use crate::output::{self, Failure};
use crate::progress::with_bar;
use eigentone::core::material::DampingLaw;
use eigentone::core::mesh::bounds_of;
use eigentone::core::mesh::repair::MeshError;
use eigentone::core::{Grain, Material, ModalModel, Vec3};
use eigentone::io::{DEFAULT_MATERIAL, FileKind, read_material_mesh, read_mesh, read_model, sniff};
use eigentone::modal::springs::Springs;
use eigentone::modal::{Compression, Detail, MeshModelError, MeshModelSettings, MethodChoice, Supports};
use eigentone::object::{model_from_file, model_from_modes};
use eigentone::synth::policy;

pub fn run(args: &ModelArgs) -> Result<(), Failure> {
    let inputs: Vec<_> = [Some(&args.mesh), args.base.as_ref()].into_iter().flatten().collect();
    refuse_same(&inputs, &[Some(&args.output)])?;
    check_names([("--output", Some(&args.output), Content::Model)])?;
    let mut advice = None;
    let model = if matches!(sniff(&args.mesh)?, FileKind::Modes(_)) {
        let base = args.base.as_deref().map(read_model).transpose()?;
        model_from_modes(&args.mesh, base.as_ref())?
    } else if args.base.is_some() {
        return Err(Failure::Usage(format!("--base goes with a mode table, but {} is none", args.mesh.display())));
    } else {
        let (material, note) = material_of(args)?;
        let mut model = from_mesh(args, &material)?;
        model.info.notes.extend(note);
        let [low, high] = bounds_of(model.surface.positions.iter().map(|p| Vec3::from_array(p.map(f64::from))));
        advice = output::unit_advice((high - low).length(), args.scale);
        model
    };
    let model = if args.compress { compress(args, model) } else { model };
    let model = match args.self_mask {
        Some(offset_db) => self_mask(offset_db, model)?,
        None => model,
    };
    finish_model(&model, advice.as_slice(), &args.output, args.json)
}

/// The material that was asked for, or else the one that the mesh names, with a note that says so.
fn material_of(args: &ModelArgs) -> Result<(Material, Option<String>), Failure> {
    let is_mesh = matches!(sniff(&args.mesh)?, FileKind::Mesh(_));
    if args.material.material.is_some() || !is_mesh {
        return Ok((material(&args.material)?, None));
    }
    let table = material_table(args.material.materials.as_deref())?;
    let mut named = read_material_mesh(&args.mesh)?.names;
    named.retain(|name| name != DEFAULT_MATERIAL);
    let list = || named.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let needed = |why: String| {
        Err(Failure::Usage(format!("--material NAME is needed{why}; `eigentone materials` lists what there is")))
    };
    let Ok(found) = named.iter().map(|name| table.get(without_number(name))).collect::<Result<Vec<_>, _>>() else {
        return needed(format!(": {} names {}, which the table does not have", args.mesh.display(), list()));
    };
    match found.split_first() {
        None => needed(String::new()),
        Some((first, rest)) if rest.iter().all(|m| m.name == first.name) => {
            Ok(((*first).clone(), Some(format!("material `{}`, as the file has it ({})", first.name, list()))))
        }
        Some(_) => needed(format!(": {} names {}, and a model is of one material", args.mesh.display(), list())),
    }
}

/// A name without the number by which Blender tells copies apart.
fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, number)) if number.len() == 3 && number.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => name,
    }
}

/// A failure that the unit of the mesh may be the reason of comes with what its size suggests.
fn advised(error: eigentone::Error, args: &ModelArgs) -> Failure {
    let about_size = matches!(
        error,
        eigentone::Error::Model {
            source: MeshModelError::TooLarge { .. }
                | MeshModelError::Silent { .. }
                | MeshModelError::Mesh(MeshError::TooLarge(_)),
            ..
        }
    );
    let mesh = about_size.then(|| read_mesh(&args.mesh).ok()).flatten();
    match mesh.and_then(|mesh| output::unit_advice(mesh.diagonal() * args.scale, args.scale)) {
        Some(advice) => Failure::Advised(Box::new(error), advice),
        None => Failure::Job(error),
    }
}

fn from_mesh(args: &ModelArgs, material: &Material) -> Result<ModalModel, Failure> {
    let mut settings = MeshModelSettings {
        method: match args.method {
            MethodArg::Auto => MethodChoice::Auto,
            MethodArg::Shell => MethodChoice::Shell,
            MethodArg::Walls => MethodChoice::Walls,
            MethodArg::Solid => MethodChoice::Solid,
            MethodArg::Springs => MethodChoice::Springs,
        },
        detail: match args.detail {
            DetailArg::Draft => Detail::Draft,
            DetailArg::Normal => Detail::Normal,
            DetailArg::Fine => Detail::Fine,
        },
        supports: Supports { list: args.support.clone() },
        grain: args.grain.map_or(Grain::default(), |along| Grain { along, ..Grain::default() }),
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
            .map_err(|error| advised(error, args))
    };
    if let Some(wanted) = args.tune {
        if !(1.0..=20_000.0).contains(&wanted) {
            return Err(Failure::Usage(format!("--tune {wanted} must be between 1 and 20000 Hz")));
        }
        let first = build(&MeshModelSettings { max_modes: 1, ..settings.clone() })?.modes[0].frequency_hz;
        settings.frequency_scale = wanted / first;
    }
    build(&settings)
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
