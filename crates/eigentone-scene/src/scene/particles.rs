//! `[particles]` and `[[collider]]`: a hail of particles, and what it falls on.

use serde::Deserialize;

/// A cloud of particles: see `Cloud` of `eigentone-sim`. **z is up here**, as everywhere in a scene.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Particles {
    /// How many are in flight.
    pub particles: usize,
    /// Impacts per second to aim for, by adapting the number of particles in flight. That number stands if not given.
    pub rate: Option<f64>,
    /// Where they start.
    pub region: Region,
    /// Mean velocity at the start, in m/s.
    pub velocity: [f64; 3],
    /// Each component of the velocity is off its mean by up to this, in m/s.
    pub spread_m_s: f64,
    /// In m/s². The scene's if not given.
    pub gravity: Option<[f64; 3]>,
    /// Smallest and largest mass in kg.
    pub mass_kg: [f64; 2],
    /// How hard they strike.
    pub energy: Energy,
    /// Share of the normal velocity that a bounce gives back.
    pub restitution: f64,
    /// Share of the tangential velocity that a bounce leaves.
    pub slide: f64,
    /// How often a particle bounces.
    pub bounces: u32,
    /// Whether particles start anew after their last bounce.
    pub regenerate: bool,
    /// First starts are spread over this time, in s.
    pub onset_s: f64,
    /// A particle that has struck nothing for this long has left the scene, in s.
    pub longest_flight_s: f64,
    /// In place of the scene's.
    pub seed: Option<u64>,
    /// Stiffness of their contacts in N/m, or what they are made of, as for an event.
    #[serde(deserialize_with = "super::play::hardness")]
    pub hardness: f64,
    /// Length of their impacts in s. If not given, it follows from mass and hardness.
    pub duration_s: Option<f64>,
}

impl Default for Particles {
    /// Hailstones of 0.2–5 g over a square of 2 m.
    fn default() -> Self {
        Self {
            particles: 1000,
            rate: None,
            region: Region::default(),
            velocity: [0.0, 0.0, -10.0],
            spread_m_s: 0.5,
            gravity: None,
            mass_kg: [0.2e-3, 5e-3],
            energy: Energy::default(),
            restitution: 0.3,
            slide: 1.0,
            bounces: 2,
            regenerate: true,
            onset_s: 0.5,
            longest_flight_s: 60.0,
            seed: None,
            hardness: 1e6,
            duration_s: None,
        }
    }
}

/// Where particles start, uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Region {
    /// `{ box = { low, high } }`: parallel to the axes.
    Box {
        /// Smallest coordinates.
        low: [f64; 3],
        /// Largest coordinates.
        high: [f64; 3],
    },
    /// `{ disc = { centre, normal, radius } }`.
    Disc {
        /// Its centre.
        centre: [f64; 3],
        /// Perpendicular to it, of any length.
        #[serde(default = "up")]
        normal: [f64; 3],
        /// Its radius.
        radius: f64,
    },
}

impl Default for Region {
    /// 2 m × 2 m, 4–5 m above the origin.
    fn default() -> Self {
        Self::Box { low: [-1.0, -1.0, 4.0], high: [1.0, 1.0, 5.0] }
    }
}

/// How the energy of an impact is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Energy {
    /// `{ inverse_e = { most_j, ratio } }`: `p(E) ∝ 1/E` on `[most/ratio, most]`.
    InverseE {
        /// Largest energy in J.
        most_j: f64,
        /// Largest over smallest.
        ratio: f64,
    },
    /// `{ box = { most_j, ratio } }`: uniform on `[most/ratio, most]`.
    Box {
        /// Largest energy in J.
        most_j: f64,
        /// Largest over smallest.
        ratio: f64,
    },
    /// `"kinetic"`: that of the motion along the normal.
    Kinetic,
}

impl Default for Energy {
    fn default() -> Self {
        Self::InverseE { most_j: 0.25, ratio: 1000.0 }
    }
}

/// A surface that particles strike from both sides.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Collider {
    /// Where it is, by one of the keys that [`ColliderShape`] lists.
    #[serde(skip)]
    pub shape: ColliderShape,
    /// Which body sounds; none if not given.
    pub body: Option<String>,
    /// Other bodies in parts of it: the first that contains an impact sounds.
    pub parts: Vec<ColliderPart>,
}

/// A rectangle of a collider that is another body.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColliderPart {
    /// From and to, in `[0, 1]`.
    #[serde(default = "unit")]
    pub u: [f64; 2],
    /// From and to, in `[0, 1]`.
    #[serde(default = "unit")]
    pub v: [f64; 2],
    /// Which body sounds.
    pub body: String,
}

/// The form of a collider, and how `(u, v)` runs over it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ColliderShape {
    /// `quad = { corner, edges }`: `corner + u edges[0] + v edges[1]`.
    Quad {
        /// One of its corners.
        corner: [f64; 3],
        /// The edges that meet there.
        edges: [[f64; 3]; 2],
    },
    /// `disc = { centre, normal, radius }`.
    Disc {
        /// Its centre.
        centre: [f64; 3],
        /// Perpendicular to it, of any length.
        #[serde(default = "up")]
        normal: [f64; 3],
        /// Its radius.
        radius: f64,
    },
    /// `ellipse = { centre, axes }`: `centre + s axes[0] + t axes[1]`, `s² + t² ≤ 1`; `u = (s+1)/2`, `v = (t+1)/2`.
    Ellipse {
        /// Its centre.
        centre: [f64; 3],
        /// Its half axes.
        axes: [[f64; 3]; 2],
    },
    /// `sphere = { centre, radius }`: `u` is the angle about z from −π to π, `v` the height.
    Sphere {
        /// Its centre.
        centre: [f64; 3],
        /// Its radius.
        radius: f64,
    },
    /// `cylinder = { base, axis, radius }`: an open wall; `u` is the angle about the axis, `v` the place along it.
    Cylinder {
        /// Centre of one end.
        base: [f64; 3],
        /// From there to the centre of the other end.
        axis: [f64; 3],
        /// Its radius.
        radius: f64,
    },
    /// `quadric = { a, b, c, low, high }`: `xᵀ A x + b·x + c = 0` in a box; `u` is the angle about the third axis, `v` the place along it.
    Quadric {
        /// Where its own origin is.
        #[serde(default)]
        origin: [f64; 3],
        /// Its own axes: perpendicular unit vectors. Those of the world if not given.
        #[serde(default = "world_axes")]
        axes: [[f64; 3]; 3],
        /// Rows of `A`.
        a: [[f64; 3]; 3],
        /// The linear part.
        #[serde(default)]
        b: [f64; 3],
        /// The constant.
        c: f64,
        /// Smallest own coordinates.
        low: [f64; 3],
        /// Largest own coordinates.
        high: [f64; 3],
    },
}

/// The keys of [`ColliderShape`].
pub(super) const COLLIDER_KEYS: &[&str] = &["quad", "disc", "ellipse", "sphere", "cylinder", "quadric"];

impl Default for ColliderShape {
    /// A square of 2 m on the ground, about the origin.
    fn default() -> Self {
        Self::Quad { corner: [-1.0, -1.0, 0.0], edges: [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]] }
    }
}

fn up() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

fn unit() -> [f64; 2] {
    [0.0, 1.0]
}

fn world_axes() -> [[f64; 3]; 3] {
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
}
