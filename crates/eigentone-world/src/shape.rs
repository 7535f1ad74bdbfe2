//! What a body looks like: the surface that sounds, and the simpler form that collides.

use eigentone_core::mesh::primitives;
use eigentone_core::{TriMesh, Vec3};
use eigentone_sim::rigid;
use std::sync::Arc;

/// Half the side of a floor without end, in m.
pub const FLOOR_M: f64 = 50.0;

/// Thickness of a floor without end, in m.
const FLOOR_DEPTH_M: f64 = 0.5;

/// The form of a body in its own frame.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its surface.
    pub mesh: Arc<TriMesh>,
    /// What collides.
    pub collider: Collider,
    /// Thickness of a wall that the mesh is the middle or the outside of, in m; `None` for solids, or where it is to be guessed.
    pub thickness_m: Option<f64>,
}

/// What collides in place of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Collider {
    /// Nothing.
    None,
    /// The upper side of a floor without end.
    Floor,
    /// A box around the origin.
    Box {
        /// Half its sides.
        half: Vec3,
    },
    /// A sphere around the origin.
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
    /// A ring of round stock around the z axis.
    Ring {
        /// From the middle of the ring to the middle of the stock.
        radius: f64,
        /// Half the thickness of the stock.
        stock_radius: f64,
    },
    /// The convex hull of the mesh.
    Hull,
    /// The mesh cut into convex parts.
    Decomposed,
    /// The triangles: for what does not move.
    Triangles,
}

impl Shape {
    /// A mesh, colliding by convex parts if it moves and by its triangles if it does not.
    pub fn mesh(mesh: impl Into<Arc<TriMesh>>) -> Self {
        Self { mesh: mesh.into(), collider: Collider::Decomposed, thickness_m: None }
    }

    /// A floor at z = 0 in its own frame, as good as without end.
    pub fn floor() -> Self {
        let mesh = primitives::plate(2.0 * FLOOR_M, 2.0 * FLOOR_M, 2, 2);
        Self { mesh: mesh.into(), collider: Collider::Floor, thickness_m: None }
    }

    /// A box by its sides.
    pub fn cuboid(size: Vec3) -> Self {
        let longest = size.max_element().max(1e-9);
        let cells = size.to_array().map(|x| ((8.0 * x / longest).ceil() as usize).clamp(1, 8));
        let mesh = primitives::cuboid(size, cells);
        Self { mesh: mesh.into(), collider: Collider::Box { half: 0.5 * size }, thickness_m: None }
    }

    /// A ball.
    pub fn sphere(radius: f64) -> Self {
        Self {
            mesh: primitives::sphere(radius, 24, 12).into(),
            collider: Collider::Sphere { radius },
            thickness_m: None,
        }
    }

    /// A solid cylinder around z.
    pub fn cylinder(radius: f64, height: f64) -> Self {
        let mesh = primitives::cylinder(radius, height, 24, 8, true);
        let collider = Collider::Cylinder { half_height: 0.5 * height, radius };
        Self { mesh: mesh.into(), collider, thickness_m: None }
    }

    /// A flat rectangular plate across z.
    pub fn plate(x: f64, y: f64, thickness_m: f64) -> Self {
        let cells = |a: f64| ((24.0 * a / x.max(y).max(1e-9)).ceil() as usize).clamp(2, 24);
        let mesh = primitives::plate(x, y, cells(x) + 1, cells(y) + 1);
        let collider = Collider::Box { half: 0.5 * Vec3::new(x, y, thickness_m) };
        Self { mesh: mesh.into(), collider, thickness_m: Some(thickness_m) }
    }

    /// A ring of round stock around z.
    pub fn ring(radius: f64, stock_radius: f64) -> Self {
        let mesh = primitives::ring(radius, stock_radius, 32, 8);
        Self { mesh: mesh.into(), collider: Collider::Ring { radius, stock_radius }, thickness_m: None }
    }

    /// The same with another collider.
    pub fn with_collider(self, collider: Collider) -> Self {
        Self { collider, ..self }
    }

    /// The same as a wall of this thickness.
    pub fn with_thickness(self, thickness_m: f64) -> Self {
        Self { thickness_m: Some(thickness_m), ..self }
    }

    /// The same with all lengths times a factor.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut mesh = (*self.mesh).clone();
        mesh.scale(factor);
        let collider = match self.collider {
            Collider::Box { half } => Collider::Box { half: half * factor },
            Collider::Sphere { radius } => Collider::Sphere { radius: radius * factor },
            Collider::Cylinder { half_height, radius } => {
                Collider::Cylinder { half_height: half_height * factor, radius: radius * factor }
            }
            Collider::Ring { radius, stock_radius } => {
                Collider::Ring { radius: radius * factor, stock_radius: stock_radius * factor }
            }
            other => other,
        };
        Self { mesh: mesh.into(), collider, thickness_m: self.thickness_m.map(|t| t * factor) }
    }

    /// What the physics engine is told; `None` if nothing collides.
    pub(crate) fn rigid(&self, moves: bool) -> Option<rigid::Shape<'_>> {
        Some(match self.collider {
            Collider::None => return None,
            Collider::Floor => rigid::Shape::Compound(vec![rigid::Part {
                offset: Vec3::new(0.0, 0.0, -0.5 * FLOOR_DEPTH_M),
                rotation: [0.0, 0.0, 0.0, 1.0],
                shape: rigid::Shape::Box { half: Vec3::new(FLOOR_M, FLOOR_M, 0.5 * FLOOR_DEPTH_M) },
            }]),
            Collider::Box { half } => rigid::Shape::Box { half },
            Collider::Sphere { radius } => rigid::Shape::Sphere { radius },
            Collider::Cylinder { half_height, radius } => rigid::Shape::Cylinder { half_height, radius },
            Collider::Ring { radius, stock_radius } => rigid::Shape::Ring { radius, stock_radius },
            Collider::Hull => rigid::Shape::Hull(&self.mesh),
            Collider::Decomposed if moves => rigid::Shape::Decomposed(&self.mesh),
            Collider::Decomposed | Collider::Triangles => rigid::Shape::Mesh(&self.mesh),
        })
    }

    /// The mass of the shape at a density: of its wall, of its volume if it is closed, or of a guessed wall.
    pub(crate) fn mass_kg(&self, density_kg_m3: f64) -> f64 {
        let size = self.mesh.bounds().map_or(0.0, |[low, high]| (high - low).max_element());
        let kg = match self.thickness_m {
            Some(thickness_m) => self.mesh.area() * thickness_m * density_kg_m3,
            None if self.mesh.report().watertight => self.mesh.signed_volume().abs() * density_kg_m3,
            None => self.mesh.area() * WALL * size * density_kg_m3,
        };
        kg.max(1e-6)
    }
}

/// Wall of a shell whose thickness is not given, as a share of its size.
pub const WALL: f64 = 0.01;

impl From<TriMesh> for Shape {
    fn from(mesh: TriMesh) -> Self {
        Self::mesh(mesh)
    }
}

impl From<Arc<TriMesh>> for Shape {
    fn from(mesh: Arc<TriMesh>) -> Self {
        Self::mesh(mesh)
    }
}

impl From<&Arc<TriMesh>> for Shape {
    fn from(mesh: &Arc<TriMesh>) -> Self {
        Self::mesh(mesh.clone())
    }
}
