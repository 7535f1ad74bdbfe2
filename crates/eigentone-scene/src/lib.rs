//! Scene files: read, played to sound, and their rooms baked to acoustic fields.
//!
//! ```no_run
//! use eigentone_modal::Progress;
//! use eigentone_scene::{RenderOptions, Scene, render};
//!
//! let scene = Scene::read("scenes/rattle.toml".as_ref())?;
//! let rendering = render(&scene, &RenderOptions::default(), &Progress::silent())?;
//! println!("{} impacts, {} samples", rendering.stats.events.impacts, rendering.channels[0].len());
//! # Ok::<(), eigentone_scene::Error>(())
//! ```
//!
//! - [`scene`]: scene files, and how they play
//! - [`bake`], [`rooms`]: rooms computed, and heard
//! - [`object`]: models from files, with their settings and hashes
//! - [`level`]: from pascals to full scale
//! - [`materials`], [`textures`]: the user's own materials and surfaces
#![forbid(unsafe_code)]

pub mod bake;
#[cfg(feature = "device")]
pub mod device;
mod error;
pub mod level;
pub mod materials;
pub mod object;
pub mod rooms;
pub mod scene;
pub mod textures;

pub use error::Error;
pub use scene::{
    PlayOptions, PlayReport, RenderOptions, Rendering, Scene, Stage, play_headless, render, render_to_wav,
};
