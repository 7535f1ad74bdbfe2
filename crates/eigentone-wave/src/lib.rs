//! Wave acoustics of scenes: from a triangle soup to a field of perceptual parameters.
//!
//! - [`voxel`]: triangles to cells; [`probe`]: where to simulate from; [`rooms`]: scenes made by rule
//! - [`solver`]: the wave equation in a voxelised scene; [`oracle`]: the same by plain finite differences
//! - [`walls`]: what handbooks say walls absorb; [`absorption`]: from that to walls that are simulated
//! - [`encode`]: from the response at a point to five numbers
//! - [`simulate`]: all of it for one probe, as [`Settings`] say
//!
//! ```no_run
//! use eigentone_wave::{Acoustics, Settings, rooms};
//! use std::sync::atomic::AtomicBool;
//!
//! let room = rooms::abbey();
//! let absorptions = vec![0.03; room.scene.names.len()];
//! let settings = Settings { f_max_hz: 250.0, ..Settings::default() };
//! let abbey = Acoustics::new(&room.scene, &absorptions, settings)?;
//! let (_, nave) = room.spaces[0];
//! let field = abbey.simulate(nave, true, &AtomicBool::new(false)).expect("the nave has air");
//! println!("{} cubes with sound", field.valid.count());
//! # Ok::<(), eigentone_wave::SetupError>(())
//! ```

#![deny(unsafe_code)]

pub mod absorption;
pub mod encode;
#[allow(unsafe_code)]
mod kernel;
pub mod oracle;
pub mod probe;
pub mod rooms;
pub mod settings;
pub mod simulate;
mod smooth;
pub mod solver;
pub mod voxel;
pub mod walls;

pub use settings::Settings;
pub use simulate::{Acoustics, Cost, Pace, SetupError, Surroundings};
