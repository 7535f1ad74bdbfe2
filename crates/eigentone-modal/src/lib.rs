//! From a mesh, a shape or a recording to a [`ModalModel`](eigentone_core::ModalModel).
//!
//! - [`mesh_model`]: a mesh and a material; chooses between
//! - [`springs`], point masses and springs along the surface,
//! - [`shell`], finite elements of a thin wall along the surface, and
//! - [`solid`], finite elements that fill it
//! - [`body_kind`]: open shell, walls or solid, decided in milliseconds
//! - [`walls`]: the middle surface of a body of thin walls
//! - [`thickness`]: local thickness of a body
//! - [`analytic`]: strings, bars, plates and discs in closed form
//! - [`fit`]: recordings of a real object
//! - [`supports`]: bodies that are held, stand or hang
//! - [`audible`]: how many modes a body has and where they can no longer be told apart
//! - [`compress`]: fewer modes that sound the same
//! - [`eigen`]: the eigensolver behind the mesh methods
//!
//! ```
//! use eigentone_core::{MaterialTable, mesh::primitives};
//! use eigentone_modal::{MeshModelSettings, Progress, model_from_mesh};
//!
//! let steel = MaterialTable::builtin().get("steel").unwrap().clone();
//! let bar = primitives::bar(0.2, 0.02, 0.01);
//! let model = model_from_mesh(&bar, &steel, &MeshModelSettings::default(), &Progress::silent()).unwrap();
//! assert!((model.modes[0].frequency_hz / 1285.6 - 1.0).abs() < 0.02);
//! ```
#![forbid(unsafe_code)]

pub mod analytic;
pub mod audible;
pub mod body_kind;
pub mod compress;
mod detail;
pub mod eigen;
mod finish;
pub mod fit;
pub mod mesh_model;
mod progress;
pub mod shell;
mod skins;
pub mod solid;
pub mod springs;
pub mod supports;
pub mod thickness;
pub mod walls;

pub use compress::Compression;
pub use detail::{Detail, ModeLimit};
pub use mesh_model::{
    MeshModelError, MeshModelSettings, MethodChoice, WayOut, model_from_mesh, model_from_tets, models_from_mesh,
};
pub use progress::Progress;
pub use supports::{Support, Supports};
