//! From modal models and blows to sound.
//!
//! - [`bank`]: the resonators, as a plain reference that is easy to check
//! - [`exciter`]: the force of a blow over time
//! - [`diffuse`]: the part of a sound that is noise in bands
//! - [`strike()`]: all of it together, for one blow
//!
//! ```
//! use eigentone_core::{MaterialTable, Vec3};
//! use eigentone_core::{Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface};
//! use eigentone_synth::{Strike, strike};
//!
//! let model = ModalModel {
//!     info: ModelInfo::new("tuning fork", Method::Manual, "steel"),
//!     modes: vec![Mode { frequency_hz: 440.0, decay_per_s: 2.0, output_gain: 1.0 }],
//!     surface: Surface { positions: vec![[0.0; 3]], normals: vec![[0.0, 0.0, 1.0]], triangles: vec![] },
//!     shapes: ShapeTable::from_fn(1, 1, |_, _| Vec3::Z),
//!     diffuse: vec![],
//! };
//! let contact = model.nearest_contact(Vec3::ZERO).unwrap();
//! let sound = strike(&model, &Strike::new(contact), 44_100.0, 1.0);
//! assert_eq!(sound.len(), 44_100);
//! ```
#![deny(unsafe_code)]

pub mod bank;
mod body;
pub mod diffuse;
mod drive;
pub mod engine;
pub mod exciter;
#[allow(unsafe_code)]
pub mod kernel;
pub mod limiter;
pub mod policy;
pub mod settings;
pub mod stats;
mod strike;
mod table;

/// Samples per internal block: everything that changes changes between two of them, whatever block size the host asks for.
pub const BLOCK: usize = 64;

pub use bank::ScalarBank;
pub use body::{Glide, Nonlinear, Shaper};
pub use engine::{Handle, Processor, StreamWriter, engine};
pub use exciter::{ContactTime, HalfSine};
pub use policy::{Budget, Masking, Playback, Quality};
pub use settings::{BodySettings, EngineError, Settings};
pub use stats::Stats;
pub use strike::{Strike, ring_time_s, strike};
