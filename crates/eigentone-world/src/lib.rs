//! The live world: bodies that move, touch and sound, changed while they do.
//!
//! [`World::new`] gives two halves. The [`World`] is the control side: it owns everything, knows each body by one [key](BodyKey), and can be changed at any time. The [`AudioOut`] is the audio side: it
//! goes into any callback, for any block size and number of channels, and never allocates, locks or fails.
//!
//! - [`Body`], [`Shape`]: what is there
//! - [`World`]: everything that can be done: insert, remove, strike, drag, change, [advance](World::advance) or [feed](World::feed)
//! - [`Change`]: the same as data, to be scheduled
//! - [`ModelSource`]: makes models in the background
//! - [`Snapshot`]: what there was, to go back to
#![forbid(unsafe_code)]

mod body;
mod change;
mod clock;
mod error;
mod events;
mod exclusive;
mod hail;
mod key;
mod listener;
mod models;
mod motion_source;
mod out;
mod settings;
mod shape;
mod shared;
mod snapshot;
mod soft;
mod strike;
mod surfaces;
mod world;

pub use body::{Body, Kind, MaterialRef, Params, Sound, Surface};
pub use change::Change;
pub use error::WorldError;
pub use events::{EventKind, WorldEvent};
pub use hail::{HailCollider, HailSettings};
pub use key::BodyKey;
pub use listener::Pose;
pub use models::{MeshModels, ModelRequest, ModelSource, TaskControl, TaskId, TaskStatus, closed_form};
pub use motion_source::MotionSource;
pub use out::{AudioOut, SourceBlock, VoiceWriter, thread_time};
pub use settings::{FULL_SCALE_PA, Settings, Timing};
pub use shape::{Collider, FLOOR_M, Shape, WALL};
pub use shared::AudioStats;
pub use snapshot::{Document, Motion, Snapshot};
pub use soft::{SoftSpec, SoftStats};
pub use strike::{Blow, Mallet, Strike, Target};
pub use surfaces::smooth;
pub use world::{Bridge, Counts, Grab, World};

/// The vocabulary this crate speaks.
pub use eigentone_core::Vec3;
