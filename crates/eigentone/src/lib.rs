//! Physically based sound: give it a mesh and a material, and hear it.
//!
//! This crate ties the others together. Ten lines from a mesh to a sound:
//!
//! ```
//! use eigentone::prelude::*;
//! use std::sync::Arc;
//!
//! let materials = MaterialTable::builtin();
//! let steel = materials.get("steel")?;
//! let bar = primitives::bar(0.2, 0.02, 0.01);
//! let model = Arc::new(model_from_mesh(&bar, steel, &MeshModelSettings::default(), &Progress::silent())?);
//! let contact = model.nearest_contact(Vec3::new(0.1, 0.0, 0.005)).unwrap();
//! let sound = strike(&model, &Strike::new(contact), 44_100.0, 2.0)?;
//! assert!(sound.iter().any(|&y| y != 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`mod@engine`]: bodies that sound in real time
//! - [`object`]: models from files, with their settings and hashes
//! - [`inspect`]: what is in a file
//! - [`level`]: from pascals to full scale
//! - [`materials`]: the user's own materials
//! - [`bake`], [`rooms`]: rooms computed, and heard
//! - [`scene`]: scene files
//! - [`plot`][mod@plot]: pictures
//! - [`demo`][mod@demo]: the newcomer's first command
#![forbid(unsafe_code)]

pub mod bake;
pub mod demo;
#[cfg(feature = "device")]
pub mod device;
pub mod engine;
mod error;
pub mod inspect;
pub mod level;
pub mod materials;
pub mod object;
pub mod plot;
pub mod rooms;
pub mod scene;
pub mod textures;

pub use eigentone_core as core;
pub use eigentone_io as io;
pub use eigentone_modal as modal;
pub use eigentone_sim as sim;
pub use eigentone_space as space;
pub use eigentone_synth as synth;
pub use error::Error;

/// What most programs need.
pub mod prelude {
    pub use crate::Error;
    pub use crate::core::event::{Action, BodyId, Event, Moment};
    pub use crate::core::mesh::primitives;
    pub use crate::core::{Material, MaterialTable, ModalModel, Mode, TriMesh, Vec3};
    pub use crate::engine::{EngineSettings, Processor, engine};
    pub use crate::io::{read_mesh, read_model, write_model};
    pub use crate::modal::{Compression, MeshModelSettings, MethodChoice, Progress, model_from_mesh};
    pub use crate::synth::{BodySettings, Budget, Handle, Masking, Playback, Quality, Strike, strike};
}
