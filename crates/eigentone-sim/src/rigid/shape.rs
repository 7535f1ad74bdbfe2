//! From our shapes to the engine's colliders and mass properties.

use super::mass::Bulk;
use super::spec::{RigidError, Shape};
use super::torus::Torus;
use super::{checked, checked_turn, positive, to_engine};
use eigentone_core::{TriMesh, Vec3};
use rapier3d::glamx::Quat;
use rapier3d::math::{Pose as EnginePose, Vector};
use rapier3d::parry::transformation::vhacd::{VHACD, VHACDParameters};
use rapier3d::prelude::{SharedShape, TriMeshFlags};
use std::f32::consts::FRAC_PI_2;
use std::f64::consts::PI;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Voxels along the longest side of a mesh to be cut into parts, and how many parts at most. Tuned: finer voxels take seconds
/// per mesh, coarser ones close the hole of a ring.
const VOXELS: u32 = 48;
const MAX_PARTS: u32 = 32;

/// A shape as the engine wants it.
pub(super) struct Built {
    parts: Vec<(EnginePose, SharedShape)>,
    /// At a density of one if it encloses a volume, else at one kg/m².
    bulk: Bulk,
    closed: bool,
}

impl Built {
    /// Checks and converts a shape.
    pub(super) fn new(shape: &Shape) -> Result<Self, RigidError> {
        match shape {
            Shape::Box { half } => {
                for (what, value) in [("half x", half.x), ("half y", half.y), ("half z", half.z)] {
                    positive(what, value)?;
                }
                let mass = 8.0 * half.x * half.y * half.z;
                let shape = SharedShape::cuboid(half.x as f32, half.y as f32, half.z as f32);
                Ok(Self::whole(shape, Bulk::symmetric(mass, *half * *half * (mass / 3.0))))
            }
            Shape::Sphere { radius } => {
                let r = positive("radius", *radius)?;
                let mass = 4.0 / 3.0 * PI * r.powi(3);
                Ok(Self::whole(SharedShape::ball(r as f32), Bulk::symmetric(mass, Vec3::splat(mass * r * r / 5.0))))
            }
            Shape::Cylinder { half_height, radius } => {
                let (h, r) = (positive("half height", *half_height)?, positive("radius", *radius)?);
                let mass = 2.0 * PI * r * r * h;
                let moments = Vec3::new(r * r / 4.0, r * r / 4.0, h * h / 3.0) * mass;
                // The engine's cylinders stand along y.
                let up = EnginePose::from_parts(Vector::ZERO, Quat::from_rotation_x(FRAC_PI_2));
                let parts = vec![(up, SharedShape::cylinder(h as f32, r as f32))];
                Ok(Self { parts, bulk: Bulk::symmetric(mass, moments), closed: true })
            }
            Shape::Ring { radius, stock_radius } => {
                let (big, small) = (positive("radius", *radius)?, positive("stock radius", *stock_radius)?);
                let mass = 2.0 * PI * PI * big * small * small;
                let across = big * big / 2.0 + 3.0 / 8.0 * small * small;
                let moments = Vec3::new(across, across, small * small / 4.0) * mass;
                let torus = Torus { radius: big as f32, stock_radius: small as f32 };
                Ok(Self::whole(SharedShape::new(torus), Bulk::symmetric(mass, moments)))
            }
            Shape::Hull(mesh) => {
                let (shape, bulk) = convex_hull(&buffers(mesh)?.0)?;
                Ok(Self::whole(shape, bulk))
            }
            Shape::Decomposed(mesh) => Self::decomposed(mesh),
            Shape::Mesh(mesh) => Self::triangles(mesh),
            Shape::Compound(parts) => {
                let mut all = Self { parts: Vec::new(), bulk: Bulk::default(), closed: true };
                for part in parts {
                    let offset = to_engine(checked("offset", part.offset)?);
                    let place = EnginePose::from_parts(offset, checked_turn(part.rotation)?);
                    let built = Self::new(&part.shape)?;
                    if !built.closed || matches!(part.shape, Shape::Mesh(_)) {
                        return Err(RigidError::NotSolid);
                    }
                    all.bulk = all.bulk.with(built.bulk.moved(&place));
                    all.parts.extend(built.parts.into_iter().map(|(pose, shape)| (place * pose, shape)));
                }
                if all.parts.is_empty() { Err(RigidError::Empty { what: "the compound" }) } else { Ok(all) }
            }
        }
    }

    fn whole(shape: SharedShape, bulk: Bulk) -> Self {
        Self { parts: vec![(EnginePose::IDENTITY, shape)], bulk, closed: true }
    }

    fn decomposed(mesh: &TriMesh) -> Result<Self, RigidError> {
        let (vertices, triangles) = buffers(mesh)?;
        // A flat mesh has no parts with a volume either.
        let (hull, _) = convex_hull(&vertices)?;
        let mut parts = convex_parts(&vertices, &triangles);
        if parts.is_empty() {
            parts.push((EnginePose::IDENTITY, hull));
        }
        Ok(Self::like_mesh(parts, mesh, mesh.report().watertight))
    }

    fn triangles(mesh: &TriMesh) -> Result<Self, RigidError> {
        let (vertices, triangles) = buffers(mesh)?;
        let closed = mesh.report().watertight;
        // Smooth over the edges within a surface that has an inside; an open one must stop bodies from both sides.
        let flags = if closed { TriMeshFlags::FIX_INTERNAL_EDGES } else { TriMeshFlags::empty() };
        let shape = SharedShape::trimesh_with_flags(vertices, triangles, flags)
            .map_err(|e| RigidError::Mesh { why: e.to_string() })?;
        Ok(Self::like_mesh(vec![(EnginePose::IDENTITY, shape)], mesh, closed))
    }

    fn like_mesh(parts: Vec<(EnginePose, SharedShape)>, mesh: &TriMesh, closed: bool) -> Self {
        Self { parts, bulk: if closed { Bulk::solid(mesh) } else { Bulk::shell(mesh) }, closed }
    }

    /// Mass, centre and moments of the whole, and whether it encloses a volume.
    pub(super) fn bulk(&self) -> (Bulk, bool) {
        (self.bulk, self.closed)
    }

    /// One collider for the whole body, and its place in the body's frame.
    pub(super) fn into_collider(mut self) -> (EnginePose, SharedShape) {
        match self.parts.len() {
            1 => self.parts.swap_remove(0),
            _ => (EnginePose::IDENTITY, SharedShape::compound(self.parts)),
        }
    }
}

/// A mesh cut into convex parts; none if the engine finds none in it. Single triangles and points leave it without a voxel that has a volume, and its
/// hulls of such parts fail an assertion instead of telling: then, too, there are none.
fn convex_parts(vertices: &[Vector], triangles: &[[u32; 3]]) -> Vec<(EnginePose, SharedShape)> {
    let params = VHACDParameters { resolution: VOXELS, max_convex_hulls: MAX_PARTS, ..Default::default() };
    let cut = || {
        let hulls =
            VHACD::decompose(&params, vertices, triangles, true).compute_exact_convex_hulls(vertices, triangles);
        let shapes = hulls.into_iter().filter_map(|(points, faces)| SharedShape::convex_mesh(points, &faces));
        shapes.map(|shape| (EnginePose::IDENTITY, shape)).collect()
    };
    // Nothing outlives the call but what it returns.
    catch_unwind(AssertUnwindSafe(cut)).unwrap_or_default()
}

/// The engine's hull of points that do not lie in a plane, with its mass at density one.
fn convex_hull(vertices: &[Vector]) -> Result<(SharedShape, Bulk), RigidError> {
    let shape = catch_unwind(|| SharedShape::convex_hull(vertices)).ok().flatten().ok_or(RigidError::Flat)?;
    let (points, triangles) = shape.as_convex_polyhedron().ok_or(RigidError::Flat)?.to_trimesh();
    let mesh = TriMesh { positions: points.into_iter().map(super::from_engine).collect(), triangles };
    let bulk = Bulk::solid(&mesh);
    if bulk.mass > 1e-6 * mesh.diagonal().powi(3) { Ok((shape, bulk)) } else { Err(RigidError::Flat) }
}

/// Vertices and triangles for the engine, once they are known to be sound.
fn buffers(mesh: &TriMesh) -> Result<(Vec<Vector>, Vec<[u32; 3]>), RigidError> {
    if mesh.triangles.is_empty() {
        return Err(RigidError::Empty { what: "the mesh" });
    }
    let vertices = mesh.positions.len();
    if let Some(&vertex) = mesh.triangles.iter().flatten().find(|&&v| v as usize >= vertices) {
        return Err(RigidError::BadIndex { vertex, vertices });
    }
    let positions: Result<Vec<_>, _> = mesh.positions.iter().map(|p| checked("a vertex", *p).map(to_engine)).collect();
    Ok((positions?, mesh.triangles.clone()))
}
