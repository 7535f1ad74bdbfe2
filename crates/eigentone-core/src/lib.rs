//! The vocabulary of the Eigentone sound engine.
//!
//! Plain data that every other crate agrees on: [units], [materials](material), [meshes](mesh) in memory and the
//! [`ModalModel`], the form in which a sounding object travels from the offline solvers to the real-time engine.
//!
//! ```
//! use eigentone_core::{MaterialTable, mesh::primitives};
//!
//! let steel = MaterialTable::builtin().get("steel").unwrap().clone();
//! let plate = primitives::plate(0.3, 0.2, 30, 20);
//! let mass = plate.area() * 0.002 * steel.density_kg_m3;
//! assert!((mass - 0.942).abs() < 1e-3);
//! ```
#![forbid(unsafe_code)]

pub mod acoustics;
pub mod air;
pub mod contact;
pub mod event;
pub mod material;
pub mod mesh;
pub mod model;
pub mod noise;
mod ordered;
pub mod tet;
pub mod texture;
pub mod units;

pub use air::{AIR_IMPEDANCE_PA_S_PER_M, HEAD_RADIUS_M, NEAREST_M, SOUND_M_S};
/// A rotation.
pub use glam::DQuat;
/// A point or direction in space, in metres unless stated.
pub use glam::DVec3 as Vec3;
pub use material::{Damping, Grain, Material, MaterialTable, Orthotropy};
pub use mesh::TriMesh;
pub use model::{DiffuseBand, Method, ModalModel, Mode, ModelInfo, ShapeTable, SiteBlend, SiteTree, Surface};
pub use noise::Noise;
pub use ordered::Ordered;
pub use tet::TetMesh;

/// Version of the engine, written into every file it makes.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The band in which modes are kept by default, in hertz.
pub const AUDIBLE_HZ: std::ops::RangeInclusive<f64> = 20.0..=22_000.0;
