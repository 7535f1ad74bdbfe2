//! What is in a mesh, and what is wrong with it.

use super::TriMesh;
use crate::Vec3;
use serde::Serialize;

/// Counts and measures of a mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeshReport {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Connected pieces.
    pub components: usize,
    /// Every edge has exactly two triangles, which pass it in opposite directions.
    pub watertight: bool,
    /// Edges with one triangle.
    pub boundary_edges: usize,
    /// Closed loops of boundary edges (counted as connected groups).
    pub holes: usize,
    /// Edges with three or more triangles.
    pub nonmanifold_edges: usize,
    /// Edges whose two triangles pass them in the same direction: neighbours that face opposite ways.
    pub misoriented_edges: usize,
    /// Area in m².
    pub area_m2: f64,
    /// Enclosed volume in m³ (meaningful only if watertight).
    pub volume_m3: f64,
    /// Lowest and highest corner of the bounding box.
    pub bounds: [[f64; 3]; 2],
    /// Mean edge length in m.
    pub mean_edge_m: f64,
}

impl TriMesh {
    /// Counts and measures this mesh.
    pub fn report(&self) -> MeshReport {
        let edges = self.edges();
        let mut boundary = TriMesh { positions: self.positions.clone(), triangles: Vec::new() };
        let (mut nonmanifold_edges, mut misoriented_edges, mut length) = (0, 0, 0.0);
        for (&[i, j], sharing) in &edges {
            length += self.positions[i as usize].distance(self.positions[j as usize]);
            match sharing[..] {
                [_] => boundary.triangles.push([i, j, j]),
                [s, t] => misoriented_edges += usize::from(self.passes(s, [i, j]) == self.passes(t, [i, j])),
                _ => nonmanifold_edges += 1,
            }
        }
        let boundary_edges = boundary.triangles.len();
        let holes = if boundary_edges == 0 {
            0
        } else {
            boundary.drop_unused_vertices();
            boundary.components().1
        };
        MeshReport {
            vertices: self.positions.len(),
            triangles: self.triangles.len(),
            components: self.components().1,
            watertight: !edges.is_empty() && boundary_edges + nonmanifold_edges + misoriented_edges == 0,
            boundary_edges,
            holes,
            nonmanifold_edges,
            misoriented_edges,
            area_m2: self.area(),
            volume_m3: self.signed_volume().abs(),
            bounds: self.bounds().unwrap_or([Vec3::ZERO; 2]).map(|p| p.to_array()),
            mean_edge_m: if edges.is_empty() { 0.0 } else { length / edges.len() as f64 },
        }
    }

    /// Whether a triangle passes an edge from its first vertex to its second.
    pub(super) fn passes(&self, triangle: u32, [i, j]: [u32; 2]) -> bool {
        let [a, b, c] = self.triangles[triangle as usize];
        [[a, b], [b, c], [c, a]].contains(&[i, j])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives;

    #[test]
    fn a_cube_is_watertight_and_has_its_volume() {
        let report = primitives::cuboid(Vec3::new(0.1, 0.2, 0.3), [2, 3, 4]).report();
        assert!(report.watertight);
        assert_eq!((report.components, report.boundary_edges, report.holes), (1, 0, 0));
        assert!((report.volume_m3 - 0.006).abs() < 1e-12);
        assert!((report.area_m2 - 0.22).abs() < 1e-12);
    }

    #[test]
    fn an_open_cylinder_has_two_holes() {
        let report = primitives::cylinder(0.05, 0.1, 32, 4, false).report();
        assert!(!report.watertight);
        assert_eq!((report.holes, report.boundary_edges), (2, 64));
    }

    #[test]
    fn a_fin_on_a_plate_is_not_manifold_and_a_flipped_face_is_seen() {
        let mut fin = primitives::plate(1.0, 1.0, 2, 2);
        fin.positions.push(Vec3::Z);
        let [a, b, _] = fin.triangles[0];
        let shared = fin.edges().into_iter().find(|(_, t)| t.len() == 2).unwrap().0;
        fin.triangles.push([shared[0], shared[1], 4]);
        assert_eq!(fin.report().nonmanifold_edges, 1);
        let mut flipped = primitives::cuboid(Vec3::ONE, [1, 1, 1]);
        flipped.triangles[0].swap(0, 1);
        assert_eq!(flipped.report().misoriented_edges, 3);
        assert!(a != b);
    }
}
