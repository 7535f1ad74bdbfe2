//! Why no model could be made.

use super::WayOut;
use super::prepare::LARGEST_BODY_M;
use crate::eigen::EigenError;
use crate::shell::ShellError;
use crate::walls::NotWalls;
use eigentone_core::mesh::repair::MeshError;
use thiserror::Error;

/// Why no model could be made.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MeshModelError {
    /// The mesh cannot be used.
    #[error("{0}")]
    Mesh(#[from] MeshError),
    /// The eigensolver gave up.
    #[error("{0}")]
    Eigen(#[from] EigenError),
    /// There is no wall to model.
    #[error("{0}")]
    Shell(#[from] ShellError),
    /// A setting makes no sense.
    #[error("{what} is {value}, but must be {expected}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// `solid` was asked for, but there is no inside.
    #[error("the surface does not close ({:.0} % of it has an inside), so it cannot be a solid; make it a shell with a thickness", 100.0 * share)]
    NotClosed {
        /// Share of the surface that has an inside.
        share: f64,
    },
    /// `walls` was asked for, but there are none.
    #[error("{0}, so its walls have no middle surface; make it a shell with a thickness, or a solid")]
    NotWalls(#[from] NotWalls),
    /// `solid` was asked for, but the walls are too thin for any affordable cell.
    #[error(
        "walls of {wall_m:.2e} m need cells of {cell_m:.2e} m and about {unknowns} unknowns; make it a shell, allow larger cells, or more unknowns"
    )]
    TooThin {
        /// Wall.
        wall_m: f64,
        /// Cell that would do.
        cell_m: f64,
        /// What it would cost.
        unknowns: usize,
    },
    /// Nothing that rings is this large.
    #[error(
        "the body is {size_m:.0} m across, more than the {LARGEST_BODY_M} m that can be modelled; if it is in millimetres, scale it by 0.001"
    )]
    TooLarge {
        /// Size.
        size_m: f64,
    },
    /// No mode can be struck.
    #[error("none of its {modes} modes moves one of the {sites} contact sites; allow more contact sites")]
    OutOfReach {
        /// Modes.
        modes: usize,
        /// Contact sites.
        sites: usize,
    },
    /// Nothing can be heard.
    #[error("{}", silent(*lowest_hz, *highest_hz, *nearest_hz, *overdamped, way_out.as_ref()))]
    Silent {
        /// Lower end of the band.
        lowest_hz: f64,
        /// Upper end.
        highest_hz: f64,
        /// The nearest mode outside it, if one was found.
        nearest_hz: Option<f64>,
        /// Modes that the material damps beyond ringing.
        overdamped: usize,
        /// What would make it sound, tried.
        way_out: Option<WayOut>,
    },
}

fn silent(
    lowest_hz: f64,
    highest_hz: f64,
    nearest_hz: Option<f64>,
    overdamped: usize,
    way_out: Option<&WayOut>,
) -> String {
    let cause = match nearest_hz {
        _ if overdamped > 0 => format!("its material damps all {overdamped} modes beyond ringing"),
        Some(f) if f > highest_hz => {
            format!(
                "its lowest mode is at {f:.0} Hz, above {highest_hz:.0} Hz: the body is too small or too stiff to be heard"
            )
        }
        Some(f) if f < lowest_hz => {
            format!(
                "its modes end at {f:.1} Hz, below {lowest_hz:.0} Hz: the body is too large or too limp to be heard"
            )
        }
        _ => format!("no mode lies between {lowest_hz} and {highest_hz} Hz"),
    };
    match way_out {
        Some(way_out) => format!("nothing can be heard: {cause}; {way_out}"),
        None => format!("nothing can be heard: {cause}; try another size, thickness or material"),
    }
}
