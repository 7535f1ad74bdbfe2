//! What a closed mesh encloses.
//!
//! The nearest place on the surface is found in a tree of boxes ([`NearestTree`]). Whether a point is inside is told by the normal there: that of the face, the sum of both at an edge, and at a
//! corner the sum weighted by angles, which never errs (Bærentzen and Aanæs 2005, "Signed distance computation using the angle weighted pseudonormal").

use crate::soft::SoftError;
use eigentone_core::mesh::nearest::NearestTree;
use eigentone_core::{TriMesh, Vec3};
use std::collections::HashMap;

/// A closed mesh, prepared for questions.
#[derive(Clone, Debug)]
pub struct SolidMesh {
    tree: NearestTree,
    faces: Vec<Vec3>,
    edges: HashMap<[u32; 2], Vec3>,
    corners: Vec<Vec3>,
    low: Vec3,
    high: Vec3,
    reach_m: f64,
    thickness_m: f64,
}

impl PartialEq for SolidMesh {
    fn eq(&self, other: &Self) -> bool {
        self.tree.mesh() == other.tree.mesh()
    }
}

fn edge(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl SolidMesh {
    /// Of a mesh that is closed; it is turned around if its triangles face inwards.
    ///
    /// # Errors
    /// [`SoftError::Collider`] if it is not closed, has no volume, or is no mesh.
    pub fn new(mut mesh: TriMesh) -> Result<Self, SoftError> {
        let bad = |problem: String| SoftError::Collider { problem };
        if let Err(e) = mesh.check() {
            return Err(bad(format!("its mesh cannot be used: {e}")));
        }
        let report = mesh.report();
        let volume_m3 = mesh.signed_volume();
        if !report.watertight || volume_m3 == 0.0 || !volume_m3.is_finite() {
            return Err(bad("its mesh is not closed; repair it, give it a thickness, or use its hull".to_owned()));
        }
        if volume_m3 < 0.0 {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let faces: Vec<Vec3> = (0..mesh.triangles.len()).map(|t| mesh.area_normal(t).normalize_or_zero()).collect();
        let mut edges: HashMap<[u32; 2], Vec3> = HashMap::new();
        let mut corners = vec![Vec3::ZERO; mesh.positions.len()];
        for (triangle, normal) in mesh.triangles.iter().zip(&faces) {
            for k in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|n| triangle[(k + n) % 3]);
                *edges.entry(edge(a, b)).or_default() += *normal;
                let [at, to, from] = [a, b, c].map(|n| mesh.positions[n as usize]);
                corners[a as usize] += *normal * angle(to - at, from - at);
            }
        }
        let [low, high] = mesh.bounds().unwrap_or_default();
        let reach_m = mesh.positions.iter().map(|p| p.length()).fold(0.0, f64::max);
        let thickness_m = 2.0 * volume_m3.abs() / mesh.area();
        Ok(Self { tree: NearestTree::new(mesh), faces, edges, corners, low, high, reach_m, thickness_m })
    }

    /// The mesh, facing outwards.
    pub fn mesh(&self) -> &TriMesh {
        self.tree.mesh()
    }

    /// How deep a point is inside, and the way out; `None` outside.
    pub fn depth(&self, p: Vec3) -> Option<(f64, Vec3)> {
        if self.outside_box_m(p) > 0.0 {
            return None;
        }
        let (signed_m, out) = self.signed(p)?;
        (signed_m < 0.0).then_some((-signed_m, out))
    }

    /// How far a point outside is from it, at least, in m; negative or zero inside.
    pub fn distance_m(&self, p: Vec3) -> f64 {
        // Far away, the distance to its box will do.
        let box_m = self.outside_box_m(p);
        if box_m > 0.5 * (self.high - self.low).max_element() {
            return box_m;
        }
        self.signed(p).map_or(f64::INFINITY, |(signed_m, _)| signed_m)
    }

    fn outside_box_m(&self, p: Vec3) -> f64 {
        (self.low - p).max(p - self.high).max(Vec3::ZERO).length()
    }

    /// The distance, negative inside, and the way out or away.
    fn signed(&self, p: Vec3) -> Option<(f64, Vec3)> {
        if !p.is_finite() {
            return None;
        }
        let place = self.tree.nearest(p)?;
        let triangle = self.mesh().triangles[place.triangle as usize];
        let zero = place.barycentric.map(|w| w <= 0.0);
        let normal = match zero {
            [false, false, false] => self.faces[place.triangle as usize],
            [false, true, true] => self.corners[triangle[0] as usize],
            [true, false, true] => self.corners[triangle[1] as usize],
            [true, true, false] => self.corners[triangle[2] as usize],
            [true, ..] => self.edges[&edge(triangle[1], triangle[2])],
            [_, true, _] => self.edges[&edge(triangle[2], triangle[0])],
            [.., true] => self.edges[&edge(triangle[0], triangle[1])],
        };
        let away = p - place.position;
        let inside = away.dot(normal) < 0.0;
        // On the surface itself the way away has no direction.
        let out = away.try_normalize().map_or(normal.normalize_or(Vec3::Z), |way| if inside { -way } else { way });
        Some((if inside { -place.distance } else { place.distance }, out))
    }

    pub(super) fn reach_m(&self) -> f64 {
        self.reach_m
    }

    pub(super) fn thickness_m(&self) -> f64 {
        self.thickness_m
    }
}

fn angle(a: Vec3, b: Vec3) -> f64 {
    a.cross(b).length().atan2(a.dot(b))
}
