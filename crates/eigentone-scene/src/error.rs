//! Everything that can go wrong between a user's file and a sound.

use eigentone_core::material::MaterialError;
use eigentone_core::mesh::repair::MeshError;
use eigentone_io::{ApplyError, ReadError, WriteError};
use eigentone_modal::MeshModelError;
use eigentone_modal::analytic::AnalyticError;
use eigentone_modal::fit::FitError;
use eigentone_synth::EngineError;
use std::path::PathBuf;
use thiserror::Error;

/// What went wrong, and in which file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The engine refuses.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The world refuses.
    #[error(transparent)]
    World(#[from] eigentone_world::WorldError),
    /// The sound device cannot be used.
    #[cfg(feature = "device")]
    #[error(transparent)]
    Device(#[from] crate::device::DeviceError),
    /// A material that does not exist or cannot.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// A material table that is not one.
    #[error("{}: {message}", file.display())]
    Table {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and where.
        message: String,
    },
    /// A scene that is not one, or that cannot be.
    #[error("{}: {message}", file.display())]
    Scene {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, where, and the way out.
        message: String,
    },
    /// A bake that cannot begin, go on or end.
    #[error("{0}")]
    Bake(String),
    /// A folder with a bake that was stopped, while another was to begin.
    #[error("{} holds an unfinished bake; resume it, or delete the folder", parts.display())]
    UnfinishedBake {
        /// The folder.
        parts: PathBuf,
    },
    /// A mesh that cannot be used.
    #[error("{}: {source}", file.display())]
    Mesh {
        /// The file.
        file: PathBuf,
        /// Why.
        source: MeshError,
    },
    /// A mesh that does not become a model.
    #[error("{}: {source}", file.display())]
    Model {
        /// The file.
        file: PathBuf,
        /// Why.
        source: MeshModelError,
    },
    /// An edited mode table that does not fit its model.
    #[error("{}: {source}", file.display())]
    Modes {
        /// The file.
        file: PathBuf,
        /// Why.
        source: ApplyError,
    },
    /// Measured responses that cannot be used.
    #[error(transparent)]
    Sofa(#[from] Box<eigentone_space::hrtf::SofaError>),
    /// A shape that cannot exist.
    #[error(transparent)]
    Shape(#[from] AnalyticError),
    /// Recordings that cannot be fitted.
    #[error("{}{source}", files.iter().map(|f| format!("{}: ", f.display())).collect::<String>())]
    Fit {
        /// The recordings concerned.
        files: Vec<PathBuf>,
        /// Why.
        source: FitError,
    },
    /// A file of a kind that this job cannot use.
    #[error("{}: {message}", file.display())]
    WrongKind {
        /// The file.
        file: PathBuf,
        /// What it is and what was expected.
        message: String,
    },
}

impl Error {
    /// What the user can do about it, if that is not in the message already.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Read(e) => e.hint().map(str::to_owned),
            Error::Write(e) => e.hint().map(str::to_owned),
            Error::Material(MaterialError::Unknown { .. }) => {
                Some("a table in TOML adds your own; see docs/materials.md".to_owned())
            }
            Error::Mesh { source: MeshError::Empty, .. }
            | Error::Model { source: MeshModelError::Mesh(MeshError::Empty), .. } => {
                Some("export the object as triangles or polygons, not as lines or points".to_owned())
            }
            Error::Model { source: MeshModelError::Silent { .. }, .. } => Some(
                "small or stiff bodies ring above the band: raise its upper end. Is the mesh in metres? If not, scale it"
                    .to_owned(),
            ),
            Error::Scene { .. } => Some("see docs/scenes.md for all keys".to_owned()),
            Error::Table { .. } => Some("see docs/materials.md for all keys".to_owned()),
            _ => None,
        }
    }
}
