//! What a body is before the world knows it.

use eigentone_core::{TriMesh, Vec3};

/// The shape of a body in its own frame, which is the frame of its mesh: [`primitives`](eigentone_core::mesh::primitives) of the same
/// name and size coincide with these.
#[derive(Clone, Debug)]
pub enum Shape<'a> {
    /// A box centred on the origin, by half its sides (a `cuboid` of `2 half`).
    Box {
        /// Half the side lengths.
        half: Vec3,
    },
    /// A sphere centred on the origin.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A solid cylinder around the z axis, centred on the origin.
    Cylinder {
        /// Half its height.
        half_height: f64,
        /// Its radius.
        radius: f64,
    },
    /// A ring of round stock around the z axis, centred on the origin: a torus.
    Ring {
        /// Radius of the circle in the middle of the stock.
        radius: f64,
        /// Radius of the stock; where it is more than `radius`, mass counts twice.
        stock_radius: f64,
    },
    /// The convex hull of a mesh's vertices, solid.
    Hull(&'a TriMesh),
    /// A mesh cut into convex parts: what a moving concave body should be. Mass and inertia are the mesh's own.
    Decomposed(&'a TriMesh),
    /// The triangles themselves: for fixed bodies, or for moving ones at some 60 times the cost of a hull.
    Mesh(&'a TriMesh),
    /// Several shapes as one body; where they overlap, mass counts twice.
    Compound(Vec<Part<'a>>),
}

impl Shape<'_> {
    /// Whether it is a ring or has one among its parts.
    pub(super) fn has_rings(&self) -> bool {
        match self {
            Self::Ring { .. } => true,
            Self::Compound(parts) => parts.iter().any(|p| p.shape.has_rings()),
            _ => false,
        }
    }
}

/// One shape of a [compound](Shape::Compound).
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// Where its frame's origin is in the body's frame.
    pub offset: Vec3,
    /// How it is turned, as a quaternion `[x, y, z, w]`.
    pub rotation: [f64; 4],
    /// What it is.
    pub shape: Shape<'a>,
}

/// How heavy a moving body is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mass {
    /// In kg/m³; needs a shape that encloses a volume.
    Density(f64),
    /// In kg. An open mesh is then a shell of even thickness.
    Kg(f64),
}

/// What moves a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Kind {
    /// Nothing.
    Fixed,
    /// Forces.
    #[default]
    Dynamic,
    /// Its velocity and spin, whatever is in the way.
    Kinematic,
    /// A path, linear between its keys and at rest beyond them, whatever is in the way.
    Path(Vec<Key>),
}

/// Where a body on a path is at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// When, in s since the beginning.
    pub time_s: f64,
    /// Of the origin of its mesh.
    pub position: Vec3,
    /// As a quaternion `[x, y, z, w]`.
    pub rotation: [f64; 4],
}

/// A pull at the centre of mass that holds a speed: drags a block over a table and leaves the load on the table as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// The velocity to hold. The pull acts along it only; other directions stay free.
    pub velocity: Vec3,
    /// The strongest pull, in N.
    pub max_force_n: f64,
}

/// A body to be [added](super::World::add).
#[derive(Clone, Debug)]
pub struct BodySpec<'a> {
    /// Its shape.
    pub shape: Shape<'a>,
    /// Its mass; only read if forces move it.
    pub mass: Mass,
    /// Of the origin of its mesh.
    pub position: Vec3,
    /// As a quaternion `[x, y, z, w]`.
    pub rotation: [f64; 4],
    /// Of its centre of mass, in m/s.
    pub velocity: Vec3,
    /// In rad/s.
    pub spin: Vec3,
    /// Coulomb's coefficient; a pair has the mean of its two.
    pub friction: f64,
    /// Share of the speed that a bounce keeps; a pair has the smaller of its two.
    pub restitution: f64,
    /// Rate at which its spin dies away, in 1/s: what rolls comes to rest.
    pub spin_damping: f64,
    /// Coefficient of rolling resistance: the torque against its spin as a share of the normal force times the distance of its contacts from its centre of mass.
    pub rolling_resistance: f64,
    /// What moves it.
    pub kind: Kind,
    /// A pull that holds a speed; only for a dynamic body.
    pub drive: Option<Drive>,
}

impl<'a> BodySpec<'a> {
    /// A dynamic body of water's density at rest in the origin, friction 0.5, restitution 0.3.
    pub fn new(shape: Shape<'a>) -> Self {
        Self {
            shape,
            mass: Mass::Density(1000.0),
            position: Vec3::ZERO,
            rotation: [0.0, 0.0, 0.0, 1.0],
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            friction: 0.5,
            restitution: 0.3,
            spin_damping: 0.0,
            rolling_resistance: 0.0,
            kind: Kind::Dynamic,
            drive: None,
        }
    }
}

/// Why a world, a body or a change was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RigidError {
    /// A number that is infinite, not a number, or too large.
    #[error("{what} must be finite and below 1e6")]
    NotFinite {
        /// Of what.
        what: &'static str,
    },
    /// A number that must be larger.
    #[error("{what} must be positive, found {found}")]
    NotPositive {
        /// Of what.
        what: &'static str,
        /// What it was.
        found: f64,
    },
    /// A number outside its range.
    #[error("{what} must be between {low} and {high}, found {found}")]
    OutOfRange {
        /// Of what.
        what: &'static str,
        /// Least.
        low: f64,
        /// Most.
        high: f64,
        /// What it was.
        found: f64,
    },
    /// A mesh without triangles, a compound without parts or a path without keys.
    #[error("{what} is empty")]
    Empty {
        /// What.
        what: &'static str,
    },
    /// A triangle names a vertex that is not there.
    #[error("a triangle names vertex {vertex}, but the mesh has {vertices}")]
    BadIndex {
        /// Named.
        vertex: u32,
        /// There are.
        vertices: usize,
    },
    /// The vertices lie in a plane or the parts enclose nothing.
    #[error("the mesh is flat: it has no convex hull with a volume; give it a thickness, or use a thin box")]
    Flat,
    /// A density for a mesh that does not enclose a volume.
    #[error("the mesh is open, so its density gives no mass; give the mass in kg")]
    Open,
    /// Triangles or an open mesh within a compound.
    #[error("a compound cannot hold bare triangles or an open mesh; use `Hull`, or one mesh for the whole body")]
    NotSolid,
    /// Keys whose times do not rise.
    #[error("the times of a path's keys must rise")]
    PathOrder,
    /// The physics engine refused the triangles.
    #[error("the mesh cannot collide: {why}")]
    Mesh {
        /// As the engine put it.
        why: String,
    },
    /// More bodies than the settings allow.
    #[error("more than {most} bodies; raise `WorldSettings::max_bodies`")]
    TooMany {
        /// Allowed.
        most: usize,
    },
    /// The number belongs to another body.
    #[error("there is a body {body} already; remove it first, or take another number")]
    Taken {
        /// The number.
        body: u32,
    },
    /// A path decides where the body is.
    #[error("body {body} follows a path; change its kind before its pose")]
    OnPath {
        /// The number.
        body: u32,
    },
    /// No body has this number.
    #[error("there is no body {body}")]
    NoBody {
        /// The number.
        body: u32,
    },
}
