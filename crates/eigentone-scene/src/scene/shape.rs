//! The shapes that a body can have.

use serde::Deserialize;

/// What a body looks like in its own frame: the generators of [`primitives`](eigentone_core::mesh::primitives) under their own keys, or a file.
/// Lengths in metres.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Shape {
    /// `box = [x, y, z]`: full side lengths, centred on the origin.
    Box([f64; 3]),
    /// `sphere = radius`, centred on the origin.
    Sphere(f64),
    /// `cylinder = { radius, height }`: around the z axis, centred on the origin.
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Along z.
        height: f64,
        /// Sides of the polygon that stands for the circle.
        #[serde(default = "facets")]
        facets: usize,
        /// Closed by flat caps, or an open tube.
        #[serde(default = "yes")]
        capped: bool,
    },
    /// `ring = { radius, stock_radius }`: a torus around the z axis.
    Ring {
        /// From the centre of the ring to that of its stock.
        radius: f64,
        /// Of the round stock.
        stock_radius: f64,
        /// Facets around the ring.
        #[serde(default = "around")]
        around: usize,
        /// Facets around the stock.
        #[serde(default = "along")]
        across: usize,
    },
    /// `plate = [x, y]`: a rectangle in the xy plane, as thick as `thickness_m`.
    Plate([f64; 2]),
    /// `disc = radius`: a circle in the xy plane, as thick as `thickness_m`.
    Disc(f64),
    /// `bar = [length, width, thickness]`: solid, along x, centred on the origin.
    Bar([f64; 3]),
    /// `bowl = { radius }`: half a sphere, rim up, its centre in the origin.
    Bowl {
        /// Its radius.
        radius: f64,
        /// Facets around it.
        #[serde(default = "around")]
        around: usize,
        /// Facets from bottom to rim.
        #[serde(default = "along")]
        along: usize,
    },
    /// `bell = { lip_radius, height }`: crown up, its lip at `z = 0`.
    Bell {
        /// At the mouth.
        lip_radius: f64,
        /// From lip to crown.
        height: f64,
        /// Facets around it.
        #[serde(default = "around")]
        around: usize,
        /// Facets from lip to crown.
        #[serde(default = "along")]
        along: usize,
    },
    /// `tumbler = { base_radius, rim_radius, height }`: a drinking glass, its base at `z = 0`.
    Tumbler {
        /// Of the base.
        base_radius: f64,
        /// Of the rim.
        rim_radius: f64,
        /// From base to rim.
        height: f64,
        /// Facets around it.
        #[serde(default = "around")]
        around: usize,
        /// Facets from the centre of the base to the rim.
        #[serde(default = "along")]
        along: usize,
    },
    /// `mesh = "file.obj"`: a mesh beside the scene, in metres after [`Body::scale`](super::Body::scale).
    Mesh(String),
    /// `plane = true`: a floor without end, its top at `z = 0` of its own frame. Fixed, and silent unless `silent = false`.
    Plane,
    /// No shape key, but a `model`: the mesh that the model was made from.
    #[serde(skip)]
    OfModel,
}

/// The keys of [`Shape`].
pub(super) const KEYS: &[&str] =
    &["box", "sphere", "cylinder", "ring", "plate", "disc", "bar", "bowl", "bell", "tumbler", "mesh", "plane"];

impl Default for Shape {
    /// A box of 10 cm.
    fn default() -> Self {
        Self::Box([0.1; 3])
    }
}

impl Shape {
    /// The key under which it is written, `model` if it comes from there.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Box(_) => "box",
            Self::Sphere(_) => "sphere",
            Self::Cylinder { .. } => "cylinder",
            Self::Ring { .. } => "ring",
            Self::Plate(_) => "plate",
            Self::Disc(_) => "disc",
            Self::Bar(_) => "bar",
            Self::Bowl { .. } => "bowl",
            Self::Bell { .. } => "bell",
            Self::Tumbler { .. } => "tumbler",
            Self::Mesh(_) => "mesh",
            Self::Plane => "plane",
            Self::OfModel => "model",
        }
    }

    /// Its lengths by name, all of which must be positive.
    pub(super) fn lengths(&self) -> Vec<(&'static str, f64)> {
        match *self {
            Self::Box([x, y, z]) => vec![("box[0]", x), ("box[1]", y), ("box[2]", z)],
            Self::Bar([l, w, t]) => vec![("bar[0]", l), ("bar[1]", w), ("bar[2]", t)],
            Self::Plate([x, y]) => vec![("plate[0]", x), ("plate[1]", y)],
            Self::Sphere(r) => vec![("sphere", r)],
            Self::Disc(r) => vec![("disc", r)],
            Self::Cylinder { radius, height, .. } => vec![("cylinder.radius", radius), ("cylinder.height", height)],
            Self::Ring { radius, stock_radius, .. } => {
                vec![("ring.radius", radius), ("ring.stock_radius", stock_radius)]
            }
            Self::Bowl { radius, .. } => vec![("bowl.radius", radius)],
            Self::Bell { lip_radius, height, .. } => vec![("bell.lip_radius", lip_radius), ("bell.height", height)],
            Self::Tumbler { base_radius, rim_radius, height, .. } => vec![
                ("tumbler.base_radius", base_radius),
                ("tumbler.rim_radius", rim_radius),
                ("tumbler.height", height),
            ],
            Self::Mesh(_) | Self::Plane | Self::OfModel => vec![],
        }
    }

    /// Its numbers of facets by name, with the least that makes the shape.
    pub(super) fn facets(&self) -> Vec<(&'static str, usize, usize)> {
        match *self {
            Self::Cylinder { facets, .. } => vec![("cylinder.facets", facets, 3)],
            Self::Ring { around, across, .. } => vec![("ring.around", around, 3), ("ring.across", across, 3)],
            Self::Bowl { around, along, .. } => vec![("bowl.around", around, 3), ("bowl.along", along, 2)],
            Self::Bell { around, along, .. } => vec![("bell.around", around, 3), ("bell.along", along, 4)],
            Self::Tumbler { around, along, .. } => vec![("tumbler.around", around, 3), ("tumbler.along", along, 4)],
            _ => vec![],
        }
    }
}

fn facets() -> usize {
    32
}

fn around() -> usize {
    48
}

fn along() -> usize {
    16
}

fn yes() -> bool {
    true
}
