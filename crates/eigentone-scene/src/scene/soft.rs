//! `[[soft]]`: bodies of finite elements, whose moving surface is the sound.

pub(super) mod film;
pub(super) mod make;

use super::{Rotation, Shape};
use serde::Deserialize;

/// One `[[soft]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Soft {
    /// Unique in the scene. If it is not given, `soft`, numbered from the second on.
    pub name: String,
    /// Its form, by one of the keys that [`Shape`] lists.
    #[serde(skip)]
    pub shape: Shape,
    /// `tets = "file.node"`: tetrahedra beside the scene, with the `.ele` file of the same name, in place of a shape.
    pub tets: Option<String>,
    /// Factor that makes the lengths of a file metres.
    pub scale: f64,
    /// Wall of a shape that is a surface, in m.
    pub thickness_m: Option<f64>,
    /// Length of the edges of its tetrahedra in m. If not given, such that there are about `elements`.
    pub size_m: Option<f64>,
    /// How many tetrahedra it should have, roughly.
    pub elements: usize,
    /// How many times tetrahedra may double in size towards the inside.
    pub coarser: u32,
    /// What it is made of, from the material table; the following replace single numbers of it.
    pub material: String,
    /// Young's modulus in Pa.
    pub young: Option<f64>,
    /// Poisson's ratio.
    pub poisson: Option<f64>,
    /// Density in kg/m³.
    pub density: Option<f64>,
    /// Viscosity against changes of volume, in Pa·s.
    pub phi: Option<f64>,
    /// Viscosity against changes of shape, in Pa·s.
    pub psi: Option<f64>,
    /// Braking of all motion, in 1/s.
    pub gamma: Option<f64>,
    /// Of its shape's origin, in m.
    pub position: [f64; 3],
    /// How it is turned.
    pub rotation: Rotation,
    /// In m/s.
    pub velocity: [f64; 3],
    /// Angular velocity in rad/s.
    pub spin: [f64; 3],
    /// By how much it is stretched at the beginning along its own axes: 0.1 is a tenth longer than at rest.
    pub stretch: [f64; 3],
    /// Where it is held; places in its own frame, stretched.
    pub pinned: Vec<Pin>,
    /// Coulomb's coefficient.
    pub friction: f64,
    /// Red, green and blue in the animation, 0 to 1.
    pub color: Option<[f64; 3]>,
    /// Loudness, in dB.
    pub gain_db: f64,
    /// Moves and collides, but is not heard.
    pub silent: bool,
}

impl Default for Soft {
    fn default() -> Self {
        Self {
            name: String::new(),
            shape: Shape::default(),
            tets: None,
            scale: 1.0,
            thickness_m: None,
            size_m: None,
            elements: 1000,
            coarser: 0,
            material: "rubber".to_owned(),
            young: None,
            poisson: None,
            density: None,
            phi: None,
            psi: None,
            gamma: None,
            position: [0.0; 3],
            rotation: Rotation::default(),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            stretch: [0.0; 3],
            pinned: Vec::new(),
            friction: 0.5,
            color: None,
            gain_db: 0.0,
            silent: false,
        }
    }
}

/// Where a soft body is held.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pin {
    /// `{ box = { low, high } }`: whatever is inside.
    Box {
        /// Smallest coordinates.
        low: [f64; 3],
        /// Largest coordinates.
        high: [f64; 3],
    },
    /// `{ beyond = radius }`: whatever is farther from the z axis.
    Beyond(f64),
    /// `{ beyond_box = [x, y] }`: whatever is farther than this from the z axis along x or along y.
    BeyondBox([f64; 2]),
}

/// `[soft_physics]`: how soft bodies are simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SoftPhysics {
    /// Length of a step in s; the longest that is stable if not given.
    pub step_s: Option<f64>,
    /// What surfaces send.
    pub radiation: Radiation,
}

/// Law of radiation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Radiation {
    /// Rayleigh's integral: pressure goes with acceleration.
    #[default]
    Rayleigh,
    /// As the paper prints it: pressure goes with velocity.
    Printed,
}

/// The law of radiation that the simulation knows.
pub(super) fn law(radiation: Radiation) -> eigentone_sim::soft::radiate::Radiation {
    match radiation {
        Radiation::Rayleigh => eigentone_sim::soft::radiate::Radiation::Rayleigh,
        Radiation::Printed => eigentone_sim::soft::radiate::Radiation::Printed,
    }
}
