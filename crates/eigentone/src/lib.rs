//! Physically based sound: give it a mesh and a material, and hear it.
//!
//! This crate is the others under one name: no code of its own, one cargo feature for each that is optional. Ten lines from a mesh to a sound:
//!
#![cfg_attr(feature = "modal", doc = "```")]
#![cfg_attr(not(feature = "modal"), doc = "```ignore")]
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
//! | feature | module | |
//! | --- | --- | --- |
//! | | [`core`], [`synth`] | models in memory, events, real-time synthesis; always there |
//! | `modal` | `modal` | models from meshes, shapes and recordings |
//! | `io` | `io` | files |
//! | `space` | `space` | rooms and heads in real time |
//! | `sim` | `sim` | rigid bodies, hail, soft bodies |
//! | `wave` | `wave` | rooms simulated |
//! | `world` | `world` | the live world: bodies that move, touch and sound, changed while they do |
//! | `scene` | `scene`, `bake`, `level`, `materials`, `object`, `rooms`, `textures`, `Error` | scene files, and what they need |
//! | `plot` | `plot` | pictures |
//! | `device` | `device` | the sound device of this machine; not a default feature |
#![forbid(unsafe_code)]

pub use eigentone_core as core;
pub use eigentone_synth as synth;

#[cfg(feature = "io")]
pub use eigentone_io as io;
#[cfg(feature = "modal")]
pub use eigentone_modal as modal;
#[cfg(feature = "plot")]
pub use eigentone_plot as plot;
#[cfg(feature = "device")]
pub use eigentone_scene::device;
#[cfg(feature = "scene")]
pub use eigentone_scene::{Error, bake, level, materials, object, rooms, scene, textures};
#[cfg(feature = "sim")]
pub use eigentone_sim as sim;
#[cfg(feature = "space")]
pub use eigentone_space as space;
#[cfg(feature = "wave")]
pub use eigentone_wave as wave;
#[cfg(feature = "world")]
pub use eigentone_world as world;

/// What most programs need, as far as the features have it.
pub mod prelude {
    pub use crate::core::event::{Action, BodyId, Event, Moment};
    pub use crate::core::mesh::primitives;
    pub use crate::core::{Material, MaterialTable, ModalModel, Mode, TriMesh, Vec3};
    pub use crate::synth::{BodySettings, Budget, Handle, Masking, Playback, Quality, Strike, strike};

    #[cfg(feature = "scene")]
    pub use crate::Error;
    #[cfg(feature = "io")]
    pub use crate::io::{read_mesh, read_model, write_model};
    #[cfg(feature = "modal")]
    pub use crate::modal::{Compression, MeshModelSettings, MethodChoice, Progress, model_from_mesh};
    #[cfg(feature = "world")]
    pub use crate::world::{AudioOut, Body, BodyKey, Mallet, Pose, Settings, Shape, World};
}
