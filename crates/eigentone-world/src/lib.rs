//! The live world: bodies that move, touch and sound, changed while they do.
//!
//! [`World::new`] gives two halves. The [`World`] is the control side: it owns everything, knows each body by one [key](BodyKey), and can be changed at any time. The [`AudioOut`] is the audio side: it
//! goes into any callback, for any block size and number of channels, and never allocates, locks or fails.
//!
//! A bowl over a wooden floor, struck, dragged and dropped, heard in stereo by whatever asks for samples:
//!
//! ```
//! use eigentone_core::mesh::primitives;
//! use eigentone_world::{Body, Mallet, Pose, Settings, Shape, Strike, Vec3, World};
//!
//! # static OVER: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
//! # fn audio(mut fill: impl FnMut(&mut [f32])) {
//! #     while !OVER.load(std::sync::atomic::Ordering::Relaxed) {
//! #         fill(&mut [0.0; 512]);
//! #         std::thread::sleep(std::time::Duration::from_millis(2));
//! #     }
//! # }
//! let (mut world, mut out) = World::new(Settings::default())?;
//! let sound = std::thread::spawn(move || audio(move |block| out.process(block, 2)));
//!
//! world.insert(Body::fixed(Shape::floor()).surface("wood"))?;
//! let mesh = primitives::bowl(0.09, 24, 8);
//! let entity = 42;
//! let bowl = world.insert(Body::dynamic(mesh).material("steel").position(Vec3::Z).user_data(entity))?;
//! world.strike(bowl, Strike::at(Vec3::new(0.09, 0.0, 1.0)).impulse(0.02).mallet(Mallet::FELT))?;
//! let grab = world.drag(bowl, Vec3::new(0.0, 0.0, 0.95))?;
//! world.set_listener(Pose::looking(Vec3::new(0.0, -1.5, 1.6), Vec3::Y));
//! world.set_rooms(None); // or a baked field
//! for frame in 0..60 {
//!     let mouse = Vec3::new(0.01 * f64::from(frame), 0.0, 0.95);
//!     world.drag_to(grab, mouse)?;
//!     world.advance(1.0 / 60.0); // or world.feed(&reader.read(&my_rapier))
//!     for event in world.drain_events() {
//!         println!("{event:?}");
//!     }
//! }
//! world.end_drag(grab)?;
//! # assert!(world.pose(bowl).unwrap().position[0] > 0.3, "it followed the mouse");
//! # assert_eq!(world.body(bowl).unwrap().user_data, 42);
//! # std::thread::sleep(std::time::Duration::from_millis(100));
//! # OVER.store(true, std::sync::atomic::Ordering::Relaxed);
//! # sound.join().unwrap();
//! # assert!(world.stats().hits >= 1, "{:?}", world.stats());
//! # Ok::<(), eigentone_world::WorldError>(())
//! ```
//!
//! `tests/programs.rs` has two more: a program with a rapier world of its own, and one with contact frames alone.
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
mod voicing;
mod world;

pub use body::{Body, Kind, MIN_DAMPING, MaterialRef, Params, Sound, Surface};
pub use change::Change;
pub use error::WorldError;
pub use events::{EventKind, WorldEvent};
pub use hail::{HailCollider, HailSettings};
pub use key::{BodyKey, BridgeKey};
pub use listener::Pose;
pub use models::{MeshModels, ModelRequest, ModelSource, TaskControl, TaskId, TaskStatus, closed_form, step_back};
pub use motion_source::MotionSource;
pub use out::{AudioOut, SourceBlock, VoiceWriter, thread_time};
pub use settings::{FULL_SCALE_PA, Settings, Timing};
pub use shape::{Collider, FLOOR_M, Shape, WALL};
pub use shared::AudioStats;
pub use snapshot::{Document, Motion, Snapshot};
pub use soft::{SoftRecord, SoftSpec, SoftStats};
pub use strike::{Blow, Mallet, Strike, Target};
pub use surfaces::smooth;
pub use voicing::{EditKind, ModeEdit, PIVOT_HZ, Voicing};
pub use world::{Bridge, Counts, Grab, World};

/// The vocabulary this crate speaks.
pub use eigentone_core::Vec3;
