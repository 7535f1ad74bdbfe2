//! One file per command.

mod audible;
pub mod bake;
pub mod demo;
pub mod fit;
pub mod inspect;
pub mod materials;
pub mod model;
pub mod play;
pub mod query;
pub mod render;
pub mod shape;
pub mod strike;
pub mod studio;

use crate::args::{Damping, MaterialArgs};
use crate::output::{self, Failure};
use eigentone::core::material::DampingLaw;
use eigentone::core::{Material, MaterialTable, ModalModel};
use serde_json::json;
use std::path::{Path, PathBuf};

fn material_table(own: Option<&Path>) -> Result<MaterialTable, Failure> {
    let mut table = MaterialTable::builtin();
    if let Some(file) = own {
        eigentone::materials::add_from_file(&mut table, file)?;
    }
    Ok(table)
}

fn material(args: &MaterialArgs) -> Result<Material, Failure> {
    let Some(name) = &args.material else {
        return Err(Failure::Usage("--material NAME is needed; `eigentone materials` lists what there is".to_owned()));
    };
    Ok(material_table(args.materials.as_deref())?.get(name)?.clone())
}

fn damping_law(args: &MaterialArgs, default: DampingLaw) -> DampingLaw {
    match args.damping {
        None => default,
        Some(Damping::Rayleigh) => DampingLaw::Rayleigh,
        Some(Damping::Loss) => DampingLaw::LossFactor,
    }
}

/// Writes a model and says what it is, and what the command advises besides.
fn finish_model(model: &ModalModel, advice: &[String], file: &Path, json: bool) -> Result<(), Failure> {
    eigentone::io::write_model(file, model)?;
    let (first, last) =
        (model.modes.first().map_or(0.0, |m| m.frequency_hz), model.modes.last().map_or(0.0, |m| m.frequency_hz));
    let sites = model.surface.positions.len();
    let warnings = [&model.info.warnings[..], advice].concat();
    if json {
        output::say_json(&json!({
            "model": file, "name": model.info.name, "method": model.info.method, "material": model.info.material,
            "modes": model.modes.len(), "lowest_hz": first, "highest_hz": last, "vertices": sites, "mass_kg": model.info.mass_kg,
            "notes": model.info.notes, "warnings": warnings,
        }));
        return Ok(());
    }
    let mass = model.info.mass_kg.map(|m| format!(", {m:.3} kg")).unwrap_or_default();
    output::say(format_args!(
        "{} model of `{}`: {} modes from {first:.1} to {last:.0} Hz, {sites} contact sites{mass}",
        model.info.method,
        model.info.name,
        model.modes.len(),
    ));
    output::say_remarks(&model.info.notes, &warnings);
    output::say(format_args!("wrote {} ({})", file.display(), output::size(file)));
    Ok(())
}

/// Refuses outputs that would overwrite an input or one another.
fn refuse_same(inputs: &[&PathBuf], outputs: &[Option<&PathBuf>]) -> Result<(), Failure> {
    let along = inputs.iter().flat_map(|p| eigentone::io::companions(p));
    let mut seen: Vec<PathBuf> = inputs.iter().map(|p| form(p)).chain(along.map(|p| form(&p))).collect();
    for output in outputs.iter().flatten() {
        if seen.contains(&form(output)) && form(output) != Path::new("/dev/null") {
            return Err(Failure::Usage(format!("{} would be overwritten; choose another name", output.display())));
        }
        seen.push(form(output));
    }
    Ok(())
}

/// One form for all names of a file, also of one that does not exist yet.
fn form(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::canonicalize(file).unwrap_or_else(|_| match (std::fs::canonicalize(folder), file.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => file.to_owned(),
    })
}

/// Refuses to work for a file that cannot be written at the end.
fn need_folder(file: &Path) -> Result<(), Failure> {
    match file.parent().filter(|f| !f.as_os_str().is_empty() && !f.is_dir()) {
        Some(folder) => {
            let message = format!("the folder {} does not exist; create it first", folder.display());
            Err(eigentone::Error::WrongKind { file: file.to_owned(), message }.into())
        }
        None => Ok(()),
    }
}

/// Writes a picture.
fn write_picture(picture: &eigentone::plot::Picture, file: &Path) -> Result<(), Failure> {
    let bytes = picture.png_bytes();
    Ok(eigentone::io::write_atomic(file, |w| w.write_all(&bytes))?)
}
