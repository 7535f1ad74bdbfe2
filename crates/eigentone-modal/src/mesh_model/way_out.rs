//! A way out for bodies of which nothing can be heard: tried before it is told.

use super::{MeshModelError, MeshModelSettings, attempt};
use crate::{Detail, Progress};
use eigentone_core::{Material, MaterialTable, ModalModel, TriMesh};
use std::fmt;

/// A change with which the body sounds, and where its first mode is then.
#[derive(Clone, Debug, PartialEq)]
pub enum WayOut {
    /// All lengths multiplied.
    Scale {
        /// By this.
        factor: f64,
        /// The unit that the file may have been in, if it is one.
        unit: Option<&'static str>,
        /// First mode, in Hz.
        first_hz: f64,
    },
    /// Another wall.
    Thickness {
        /// In metres.
        thickness_m: f64,
        /// First mode, in Hz.
        first_hz: f64,
    },
    /// Another material.
    Material {
        /// Its name.
        name: String,
        /// First mode, in Hz.
        first_hz: f64,
    },
}

impl fmt::Display for WayOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale { factor, unit, first_hz } => {
                let unit = unit.map(|unit| format!(" (is it in {unit}?)")).unwrap_or_default();
                write!(f, "scale it by {factor}{unit} and it sounds, from {first_hz:.0} Hz")
            }
            Self::Thickness { thickness_m, first_hz } => {
                write!(f, "give it a thickness of {:.4} mm and it sounds, from {first_hz:.0} Hz", 1e3 * thickness_m)
            }
            Self::Material { name, first_hz } => write!(f, "make it of {name} and it sounds, from {first_hz:.0} Hz"),
        }
    }
}

/// Factors that mistaken units make, with the unit that the file is in then, and some between.
const SMALLER: [(f64, Option<&str>); 6] = [
    (0.1, None),
    (0.0254, Some("inches")),
    (0.01, Some("centimetres")),
    (0.3, None),
    (0.001, Some("millimetres")),
    (1e-4, None),
];
const LARGER: [(f64, Option<&str>); 6] =
    [(10.0, None), (100.0, None), (1000.0, None), (3.0, None), (25.4, None), (1e4, None)];

/// Materials that ring where others do not.
const RINGING: [&str; 2] = ["wood", "steel"];

/// Gives a failure for want of sound its way out.
pub(super) fn explained(
    result: Result<ModalModel, MeshModelError>,
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
) -> Result<ModalModel, MeshModelError> {
    let Err(MeshModelError::Silent { lowest_hz, highest_hz, nearest_hz, overdamped, .. }) = result else {
        return result;
    };
    let draft = MeshModelSettings { detail: Detail::Draft, max_modes: settings.max_modes.min(12), ..settings.clone() };
    let first = |mesh: &TriMesh, material: &Material, settings: &MeshModelSettings| {
        attempt(mesh, material, settings, &Progress::silent()).ok().map(|model| model.modes[0].frequency_hz)
    };
    // Without the band's ends there is a lowest mode, which tells into which direction to go.
    let nearest_hz = nearest_hz.or_else(|| {
        first(mesh, material, &MeshModelSettings { lowest_hz: 1.0, highest_hz: 96_000.0, ..draft.clone() })
    });
    let way_out = if overdamped > 0 {
        other_material(|other| first(mesh, other, &draft))
    } else {
        let smaller = nearest_hz.is_some_and(|f| f < lowest_hz);
        other_size(mesh, smaller, |mesh| first(mesh, material, &draft))
            .or_else(|| other_wall(&draft, smaller, |settings| first(mesh, material, settings)))
            .or_else(|| other_material(|other| first(mesh, other, &draft)))
    };
    Err(MeshModelError::Silent { lowest_hz, highest_hz, nearest_hz, overdamped, way_out })
}

fn other_size(mesh: &TriMesh, smaller: bool, first: impl Fn(&TriMesh) -> Option<f64>) -> Option<WayOut> {
    let factors = if smaller { &SMALLER } else { &LARGER };
    factors.iter().find_map(|&(factor, unit)| {
        let mut scaled = mesh.clone();
        scaled.scale(factor);
        first(&scaled).map(|first_hz| WayOut::Scale { factor, unit, first_hz })
    })
}

fn other_wall(
    settings: &MeshModelSettings,
    smaller: bool,
    first: impl Fn(&MeshModelSettings) -> Option<f64>,
) -> Option<WayOut> {
    let given = settings.thickness_m?;
    // A thinner wall is limper: lower.
    let factors = if smaller { [10.0, 100.0] } else { [0.1, 0.01] };
    factors.into_iter().find_map(|factor| {
        let thickness_m = given * factor;
        let settings = MeshModelSettings { thickness_m: Some(thickness_m), ..settings.clone() };
        first(&settings).map(|first_hz| WayOut::Thickness { thickness_m, first_hz })
    })
}

fn other_material(first: impl Fn(&Material) -> Option<f64>) -> Option<WayOut> {
    let table = MaterialTable::builtin();
    RINGING.into_iter().find_map(|name| {
        let first_hz = first(table.get(name).ok()?)?;
        Some(WayOut::Material { name: name.to_owned(), first_hz })
    })
}
