//! Baking the acoustics of a scene: from `[acoustics]` to a `.field.safetensors` file.
//!
//! - [`prepare`]: walls, cells, materials and probes, and what it will take: [`Prepared::estimate`](Prepared#structfield.estimate)
//! - [`job`]: the bake itself, which can be stopped, killed, resumed and shared out
//! - [`merge()`]: shards to one field
//!
//! ```no_run
//! use eigentone_scene::bake::{self, Options};
//! use eigentone_scene::scene::Scene;
//! use std::{path::Path, sync::atomic::AtomicBool};
//!
//! let scene = Scene::read(Path::new("scenes/shoebox.toml"))?;
//! let prepared = bake::prepare(&scene)?;
//! println!("{} probes, about {:.0} s", prepared.probes.len(), prepared.estimate.seconds_one_core);
//! let stop = AtomicBool::new(false);
//! bake::job::bake(&prepared, Path::new("shoebox.field.safetensors"), &Options::default(), &stop, &|_| {})?;
//! # Ok::<(), eigentone_scene::Error>(())
//! ```

pub mod job;
mod merge;
mod prepare;

pub use job::{Options, Outcome};
pub use merge::merge;
pub use prepare::{Estimate, MaterialRow, Prepared, prepare, source_hash, walls};
