//! Readers and writers of untrusted files: meshes, tetrahedra, modal models, mode tables, acoustic fields and
//! audio; writers of animations.
//!
//! Every reader checks sizes before it allocates, never panics, and says in its error which file is wrong, where,
//! what was expected and what was found. Every writer writes beside its target and renames, so that nothing is ever
//! overwritten halfway.
//!
//! ```
//! use eigentone_core::mesh::primitives;
//! use eigentone_io::{read_mesh, write_ply};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("plate.ply");
//! write_ply(&path, &primitives::plate(0.3, 0.2, 4, 3))?;
//!
//! let mut mesh = read_mesh(&path)?;
//! mesh.repair()?;
//! assert_eq!(mesh.positions.len(), 12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod animation;
mod atomic;
mod audio;
mod base64;
mod bytes;
mod companions;
mod error;
mod field;
mod file;
mod hash;
mod mesh;
mod model;
mod modes;
mod picture;
mod safetensors;
mod sniff;
mod tape;
mod tet;
mod text;
mod wav;

pub use animation::{AnimatedMesh, AnimationWriter, BodyFit, Recorded};
pub use atomic::{WriteSeek, write_atomic};
pub use audio::{AudioBuffer, LONGEST_AUDIO_S, SampleFormat, read_audio, read_audio_bytes, write_wav};
pub use companions::companions;
pub use error::{Place, ReadError, WriteError};
pub use field::{
    FIELD_EXTENSION, deflate_baseline, field_bytes, probe_bytes, read_field, read_field_bytes, read_probe_bytes,
    write_field,
};
pub use file::{LARGEST_FILE_BYTES, path_inside, read_file};
pub use hash::sha256_hex;
pub use mesh::{
    DEFAULT_MATERIAL, MeshFormat, read_material_mesh, read_material_mesh_bytes, read_mesh, read_mesh_bytes, write_glb,
    write_material_obj, write_obj, write_ply, write_stl,
};
pub use model::{MODEL_EXTENSION, model_bytes, read_model, read_model_bytes, write_model};
pub use modes::{
    ApplyError, ModeRow, TableFormat, apply_modes, mode_rows, modes_text, read_modes, read_modes_bytes, write_modes,
};
pub use picture::{GreyPicture, read_picture, read_picture_bytes};
pub use sniff::{FileKind, sniff, sniff_bytes};
pub use tape::Tape;
pub use tet::{TetImport, read_tet, read_tet_bytes};
