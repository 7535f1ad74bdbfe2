//! Tetrahedral meshes, as imported from a `.node`/`.ele` pair.

use crate::{TriMesh, Vec3};
use std::collections::BTreeMap;

/// A volume cut into tetrahedra with four corner nodes each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Node positions in metres.
    pub positions: Vec<Vec3>,
    /// Corner nodes of each tetrahedron; positively oriented after [`TetMesh::orient`].
    pub tets: Vec<[u32; 4]>,
}

impl TetMesh {
    /// Signed volume of one tetrahedron: `((b−a)×(c−a))·(d−a)/6`.
    pub fn signed_volume(&self, tet: [u32; 4]) -> f64 {
        let [a, b, c, d] = tet.map(|i| self.positions[i as usize]);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    /// Total volume in cubic metres.
    pub fn volume(&self) -> f64 {
        self.tets.iter().map(|&t| self.signed_volume(t).abs()).sum()
    }

    /// Swaps two corners of every tetrahedron with negative volume.
    pub fn orient(&mut self) {
        for t in 0..self.tets.len() {
            if self.signed_volume(self.tets[t]) < 0.0 {
                self.tets[t].swap(2, 3);
            }
        }
    }

    /// The faces that belong to exactly one tetrahedron, with outward orientation, and for each vertex of the returned
    /// mesh the node it came from.
    pub fn boundary(&self) -> (TriMesh, Vec<u32>) {
        let mut faces: BTreeMap<[u32; 3], ([u32; 3], u32)> = BTreeMap::new();
        for &t in &self.tets {
            let [a, b, c, d] = if self.signed_volume(t) < 0.0 { [t[0], t[1], t[3], t[2]] } else { t };
            for face in [[a, c, b], [a, b, d], [b, c, d], [a, d, c]] {
                let mut key = face;
                key.sort_unstable();
                faces.entry(key).or_insert((face, 0)).1 += 1;
            }
        }
        let mut node_of_vertex = Vec::new();
        let mut vertex_of_node = BTreeMap::new();
        let mut mesh = TriMesh::default();
        for (face, count) in faces.into_values() {
            if count == 1 {
                mesh.triangles.push(face.map(|node| {
                    *vertex_of_node.entry(node).or_insert_with(|| {
                        node_of_vertex.push(node);
                        mesh.positions.push(self.positions[node as usize]);
                        (mesh.positions.len() - 1) as u32
                    })
                }));
            }
        }
        (mesh, node_of_vertex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_of_a_tetrahedron_encloses_its_volume() {
        let mut tet = TetMesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], tets: vec![[0, 2, 1, 3]] };
        tet.orient();
        let (surface, nodes) = tet.boundary();
        assert_eq!((surface.triangles.len(), nodes.len()), (4, 4));
        assert!((surface.signed_volume() - 1.0 / 6.0).abs() < 1e-15);
    }
}
