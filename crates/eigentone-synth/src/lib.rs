//! From modal models and timed events to the dry sound of each body, in real time.
//!
//! - [`mod@engine`]: handle and processor, events in, sound out
//! - [`settings`], [`policy`]: how it is made, and what it may leave out
//! - [`kernel`]: the inner loops, in several instruction sets
//! - [`bank`]: the resonators as a plain reference that is easy to check
//! - [`exciter`], [`diffuse`], [`limiter`]: the force of a blow; noise in bands; the end of the line
//! - [`strike()`]: one blow on one object
//!
//! Load a model, strike it, pull a block:
//!
//! ```
//! # use eigentone_core::{Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface, Vec3};
//! use eigentone_core::event::{Action, Event, Moment};
//! use eigentone_synth::{BodySettings, Settings, engine};
//! # let model = std::sync::Arc::new(ModalModel {
//! #     info: ModelInfo::new("tuning fork", Method::Manual, "steel"),
//! #     modes: vec![Mode { frequency_hz: 440.0, decay_per_s: 2.0, output_gain: 1.0 }],
//! #     surface: Surface { positions: vec![[0.0; 3]], normals: vec![[0.0, 0.0, 1.0]], triangles: vec![] },
//! #     shapes: ShapeTable::from_fn(1, 1, |_, _| Vec3::Z),
//! #     diffuse: vec![],
//! # });
//!
//! let (mut handle, mut processor) = engine(Settings::default())?;
//! let body = handle.add(&BodySettings::new(model.clone()))?;
//! let contact = model.nearest_contact(Vec3::ZERO).unwrap();
//! let action = Action::Blow { site: contact.blend, impulse_ns: [0.0, 0.0, -0.05], duration_s: 5e-4 };
//! handle.send(Event { time: Moment::NOW, body, action })?;
//! processor.next_block();
//! for (_, bus) in processor.buses() {
//!     assert!(bus.iter().any(|&y| y != 0.0));
//! }
//! # Ok::<(), eigentone_synth::EngineError>(())
//! ```
#![deny(unsafe_code)]

pub mod bank;
mod body;
pub mod contact;
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
pub mod texture;

/// Samples per internal block: everything that changes changes between two of them, whatever block size the host asks for.
pub const BLOCK: usize = 64;

pub use bank::{ScalarBank, StepBank};
pub use body::{Glide, Nonlinear, Shaper};
pub use engine::{
    BridgeId, BridgeSettings, Bridged, ContactId, ContactSettings, Gap, Handle, Keyframe, ModeLevel, ModeLevels,
    ModeStatus, PointState, Processor, StreamWriter, engine,
};
pub use exciter::{ContactTime, HalfSine};
pub use policy::{Budget, Masking, Playback, Quality};
pub use settings::{BodySettings, EngineError, Settings};
pub use stats::Stats;
pub use strike::{Strike, ring_time_s, strike};
