//! The user's own materials, in TOML.
//!
//! ```toml
//! [[material]]
//! name = "old_oak"
//! base = "wood"            # whatever is not given is taken from here
//! young_pa = 12.5e9
//! tan_phi = 0.008
//! ```

use crate::Error;
use eigentone_core::{MaterialTable, Orthotropy};
use eigentone_io::read_file;
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    material: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    base: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    young_pa: Option<f64>,
    density_kg_m3: Option<f64>,
    poisson: Option<f64>,
    orthotropy: Option<Orthotropy>,
    tan_phi: Option<f64>,
    mounting_per_s: Option<f64>,
    gamma_per_s: Option<f64>,
    eta_s: Option<f64>,
    origin: Option<String>,
}

/// Adds the materials of a file to a table. A material of the same name is replaced.
///
/// # Errors
/// [`Error::Table`] with line and column if the file does not parse or a row lacks a property and names no base, and
/// [`Error::Material`] if a base is unknown or a property impossible.
pub fn add_from_file(table: &mut MaterialTable, file: &Path) -> Result<(), Error> {
    let bad = |message: String| Error::Table { file: file.to_owned(), message };
    let bytes = read_file(file)?;
    let text = std::str::from_utf8(&bytes).map_err(|e| bad(format!("not text: {e}")))?;
    add_from_text(table, text).map_err(|e| match e {
        TableError::Toml(message) | TableError::Missing(message) => bad(message),
        TableError::Material(e) => bad(e.to_string()),
    })
}

enum TableError {
    Toml(String),
    Missing(String),
    Material(eigentone_core::material::MaterialError),
}

fn add_from_text(table: &mut MaterialTable, text: &str) -> Result<(), TableError> {
    let rows: Table = toml::from_str(text).map_err(|e| TableError::Toml(e.to_string().trim_end().to_owned()))?;
    for row in rows.material {
        let base =
            row.base.as_deref().map(|name| table.get(name).cloned()).transpose().map_err(TableError::Material)?;
        let (name, anchor) = (row.name.clone(), base.clone());
        let need = |value: Option<f64>, from: fn(&eigentone_core::Material) -> f64, key: &str| {
            value.or(anchor.as_ref().map(from)).ok_or_else(|| {
                TableError::Missing(format!("material `{name}` has no `{key}`; give it, or a `base` to take it from"))
            })
        };
        let mut material =
            base.unwrap_or_else(|| table.get("steel").cloned().unwrap_or_else(|_| unreachable!("steel is built in")));
        // Wood that is stiffer along the grain than its base is so in all directions, unless said otherwise.
        let stiffer = anchor.as_ref().and_then(|m| row.young_pa.map(|young| young / m.young_pa)).unwrap_or(1.0);
        let inherited = anchor.as_ref().and_then(|m| m.orthotropy).map(|wood| wood.scaled(stiffer));
        material.orthotropy = row.orthotropy.or(inherited);
        material.young_pa = need(row.young_pa, |m| m.young_pa, "young_pa")?;
        material.density_kg_m3 = need(row.density_kg_m3, |m| m.density_kg_m3, "density_kg_m3")?;
        material.poisson = need(row.poisson, |m| m.poisson, "poisson")?;
        material.tan_phi = need(row.tan_phi, |m| m.tan_phi, "tan_phi")?;
        material.mounting_per_s = need(row.mounting_per_s, |m| m.mounting_per_s, "mounting_per_s")?;
        material.gamma_per_s = need(row.gamma_per_s, |m| m.gamma_per_s, "gamma_per_s")?;
        material.eta_s = need(row.eta_s, |m| m.eta_s, "eta_s")?;
        // One sample is its own range.
        let point = |v: f64| eigentone_core::material::Range { low: v, high: v };
        material.young_range_pa = point(material.young_pa);
        material.density_range_kg_m3 = point(material.density_kg_m3);
        material.tan_phi_range = point(material.tan_phi);
        material.origin = row.origin.unwrap_or_else(|| "user table".to_owned());
        material.name = row.name;
        material.aliases = row.aliases;
        table.insert(material).map_err(TableError::Material)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<MaterialTable, String> {
        let mut table = MaterialTable::builtin();
        add_from_text(&mut table, text).map(|()| table).map_err(|e| match e {
            TableError::Toml(m) | TableError::Missing(m) => m,
            TableError::Material(e) => e.to_string(),
        })
    }

    #[test]
    fn a_row_with_a_base_overrides_only_what_it_names() {
        let table = read("[[material]]\nname = 'old oak'\nbase = 'oak'\ntan_phi = 0.008\n").unwrap();
        let (mine, wood) = (table.get("old_oak").unwrap(), table.get("wood").unwrap());
        assert_eq!((mine.tan_phi, mine.young_pa), (0.008, wood.young_pa));
    }

    #[test]
    fn grain_is_given_or_inherited_with_its_base() {
        let table = read("[[material]]\nname = 'cedar'\nbase = 'spruce'\nyoung_pa = 5.5e9\n").unwrap();
        let (cedar, spruce) = (table.get("cedar").unwrap(), table.get("spruce").unwrap());
        let [c, s] = [cedar, spruce].map(|m| m.orthotropy.unwrap());
        assert!((c.young_r_pa / s.young_r_pa - 0.5).abs() < 1e-12 && c.poisson_lr == s.poisson_lr);
        let own = "[[material]]\nname = 'ply'\nbase = 'wood'\n[material.orthotropy]\nyoung_l_pa = 9e9\nyoung_r_pa = 6e9\n\
                   young_t_pa = 0.5e9\nshear_lr_pa = 0.6e9\nshear_lt_pa = 0.2e9\nshear_rt_pa = 0.2e9\npoisson_lr = 0.1\n\
                   poisson_lt = 0.4\npoisson_rt = ";
        let ply = read(&format!("{own}0.4\n")).unwrap().get("ply").unwrap().orthotropy.unwrap();
        assert_eq!((ply.young_r_pa, ply.poisson_rt), (6e9, 0.4));
        assert!(read(&format!("{own}4.0\n")).unwrap_err().contains("poisson_rt is 4"));
        assert!(read(&format!("{own}0.4\nyoung_x_pa = 1\n")).unwrap_err().contains("young_x_pa"));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(read("[[material]]\nname = 'x'\nbase = 'steel'\nyoung = 1\n").unwrap_err().contains("young"));
        assert!(read("[[material]]\nname = 'x'\nyoung_pa = 1e9\n").unwrap_err().contains("no `density_kg_m3`"));
        assert!(read("[[material]]\nname = 'x'\nbase = 'stel'\n").unwrap_err().contains("did you mean `steel`"));
        assert!(
            read("[[material]]\nname = 'x'\nbase = 'steel'\npoisson = 0.7\n").unwrap_err().contains("poisson is 0.7")
        );
        assert!(read("[[material]\n").is_err());
    }
}
