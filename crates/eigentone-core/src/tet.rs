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

/// Gradients of the four barycentric coordinates of a tetrahedron, in 1/m, and its signed volume. Each is the normal of the opposite face over six volumes.
pub fn barycentric_gradients([a, b, c, d]: [Vec3; 4]) -> ([Vec3; 4], f64) {
    let six_volumes = (b - a).cross(c - a).dot(d - a);
    let gb = (c - a).cross(d - a) / six_volumes;
    let gc = (d - a).cross(b - a) / six_volumes;
    let gd = (b - a).cross(c - a) / six_volumes;
    ([-(gb + gc + gd), gb, gc, gd], six_volumes / 6.0)
}

impl TetMesh {
    /// A cuboid centred on the origin, in cells of five tetrahedra each that alternate so that they fit.
    pub fn block(size: Vec3, [nx, ny, nz]: [usize; 3]) -> Self {
        let node = |x: usize, y: usize, z: usize| ((x * (ny + 1) + y) * (nz + 1) + z) as u32;
        let mut mesh = Self::default();
        for n in 0..(nx + 1) * (ny + 1) * (nz + 1) {
            let [x, y, z] = [n / (nz + 1) / (ny + 1), n / (nz + 1) % (ny + 1), n % (nz + 1)];
            let share = Vec3::new(x as f64 / nx as f64, y as f64 / ny as f64, z as f64 / nz as f64);
            mesh.positions.push((share - 0.5) * size);
        }
        const EVEN: [[usize; 4]; 5] = [[0, 4, 2, 1], [6, 2, 4, 7], [5, 4, 1, 7], [3, 1, 2, 7], [1, 4, 2, 7]];
        const ODD: [[usize; 4]; 5] = [[4, 0, 6, 5], [2, 6, 0, 3], [1, 0, 5, 3], [7, 5, 6, 3], [0, 6, 5, 3]];
        for cell in 0..nx * ny * nz {
            let [x, y, z] = [cell / nz / ny, cell / nz % ny, cell % nz];
            let corner = |c: usize| node(x + (c >> 2), y + (c >> 1 & 1), z + (c & 1));
            let five = if (x + y + z) % 2 == 0 { EVEN } else { ODD };
            mesh.tets.extend(five.map(|tet| tet.map(corner)));
        }
        mesh.orient();
        mesh
    }

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

    /// Gradients are those of linear functions that are one at their corner and zero at the others; a block fills its volume and closes.
    #[test]
    fn gradients_and_blocks() {
        let corners = [Vec3::ZERO, Vec3::new(1.0, 0.2, 0.0), Vec3::new(0.1, 1.0, 0.3), Vec3::new(0.0, 0.2, 2.0)];
        let (gradients, volume) = barycentric_gradients(corners);
        for (i, gradient) in gradients.iter().enumerate() {
            for (j, corner) in corners.iter().enumerate() {
                let expected = f64::from(u8::from(i == j)) - f64::from(u8::from(i == 0));
                assert!((gradient.dot(*corner) - expected).abs() < 1e-12);
            }
        }
        let mesh = TetMesh { positions: corners.to_vec(), tets: vec![[0, 1, 2, 3]] };
        assert!((volume - mesh.signed_volume(mesh.tets[0])).abs() < 1e-12);
        let block = TetMesh::block(Vec3::new(0.3, 0.2, 0.1), [3, 2, 2]);
        assert_eq!((block.tets.len(), block.positions.len()), (60, 36));
        assert!((block.volume() - 0.006).abs() < 1e-15);
        let (surface, _) = block.boundary();
        assert!(surface.report().watertight && (surface.signed_volume() - 0.006).abs() < 1e-15);
    }

    #[test]
    fn the_boundary_of_a_tetrahedron_encloses_its_volume() {
        let mut tet = TetMesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], tets: vec![[0, 2, 1, 3]] };
        tet.orient();
        let (surface, nodes) = tet.boundary();
        assert_eq!((surface.triangles.len(), nodes.len()), (4, 4));
        assert!((surface.signed_volume() - 1.0 / 6.0).abs() < 1e-15);
    }
}
