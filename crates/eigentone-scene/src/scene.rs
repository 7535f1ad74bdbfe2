//! Scene files: what there is, how it moves, who listens.
//!
//! A scene is one TOML file, described key by key in `docs/scenes.md`. Lengths are in metres, everything else in SI units; **z is up**. Every key has a
//! default, and keys that nobody knows are refused, with the one that was probably meant.
//!
//! ```
//! use eigentone_scene::scene::{Scene, Shape};
//!
//! let scene = Scene::parse(
//!     "[[body]]\nplane = true\n[[body]]\nname = 'ball'\nsphere = 0.02\nposition = [0, 0, 0.5]\n",
//!     std::path::Path::new("."),
//!     "ball.toml",
//! )?;
//! assert_eq!(scene.body("ball").unwrap().shape, Shape::Sphere(0.02));
//!
//! let slip = Scene::parse("[[body]]\nsphere = 1\npostion = [0, 0, 1]\n", std::path::Path::new("."), "ball.toml");
//! assert!(slip.unwrap_err().to_string().contains("did you mean `position`?"));
//! # Ok::<(), eigentone_scene::Error>(())
//! ```
//!
//! - [`Scene`]: the file; [`Scene::read`], [`Scene::parse`], [`Scene::check`], [`Scene::resolve`], [`Scene::inputs`]
//! - [`Body`], [`Shape`]: what rings and collides
//! - [`Soft`]: what deforms, and is heard by its surface
//! - [`Melody`], [`Event`], [`Bridge`]: what is scripted
//! - [`Particles`], [`Collider`]: hail
//! - [`acoustics`][mod@acoustics]: rooms
//! - [`Surface`]: textures, kept as they are written

pub mod acoustics;
mod body;
pub mod cache;
mod check;
mod copies;
mod counts;
mod de;
mod file;
mod hail;
mod inputs;
pub mod listener;
mod live;
mod make;
mod note;
mod particles;
mod plan;
mod play;
mod read;
mod render;
mod report;
mod rooms;
mod script;
mod shape;
mod soft;
mod stage;
mod stems;
pub mod stream;
mod suggest;
mod surfaces;

pub use cache::CachedModels;

pub use body::{
    Body, ColliderChoice, Copies, Detail, Directivity, Drive, Edges, Glide, Key, Lands, MAX_FACETS, MapFile, Method,
    ModeEdit, Nonlinear, Rotation, ShaperChoice,
};
pub use copies::CopyEdit;
pub use counts::SceneCounts;
pub use file::{LARGEST_SCENE_BYTES, LONGEST_S, MAX_BODIES, Output, Physics, Quality, Scene, Surface};
pub use listener::{Listener, Spatial, Waypoint};
pub use live::{Live, PlayOptions, PlayReport, play_headless};
pub use note::{Note, NoteError, ScoreNote};
pub use particles::{Collider, ColliderPart, ColliderShape, Energy, Particles, Region};
pub use plan::{Plan, Planned};
pub use play::{Action, Bridge, Event, Impulse, Melody};
pub use render::{RenderOptions, render, render_to_wav};
pub use report::{
    EventCounts, EventKind, EventRecord, ModeCounts, RenderStats, Rendering, RoomCounts, Seconds, SoftCounts,
};
pub use shape::Shape;
pub use soft::{Pin, Radiation, Soft, SoftPhysics};
pub use stage::{Room, Stage, resonator};
pub use surfaces::{lay_map, table as surface_table};
