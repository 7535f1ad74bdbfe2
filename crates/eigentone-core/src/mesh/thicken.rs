//! A wall for a surface that has none.

use super::TriMesh;
use crate::Vec3;

/// The closed surface of a wall of this thickness, half of it on either side of `mesh`: two copies moved along the normals, joined along the open edges. Triangles must be oriented
/// alike and share their vertices; what turns by more than the thickness over one triangle may cut itself.
pub fn thickened(mesh: &TriMesh, thickness_m: f64) -> TriMesh {
    let normals = mesh.vertex_normals();
    let moved = |by: f64| mesh.positions.iter().zip(&normals).map(move |(p, n)| *p + *n * (by * thickness_m));
    let positions: Vec<Vec3> = moved(0.5).chain(moved(-0.5)).collect();
    let count = mesh.positions.len() as u32;
    let mut triangles = mesh.triangles.clone();
    triangles.extend(mesh.triangles.iter().map(|&[a, b, c]| [a, c, b].map(|v| v + count)));
    let edges = mesh.edges();
    for &[a, b, c] in &mesh.triangles {
        for [a, b] in [[a, b], [b, c], [c, a]] {
            if edges.get(&[a.min(b), a.max(b)]).is_some_and(|at| at.len() == 1) {
                triangles.extend([[b, a, a + count], [b, a + count, b + count]]);
            }
        }
    }
    TriMesh { positions, triangles }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives;

    #[test]
    fn a_wall_is_closed_and_has_its_volume() {
        let plate = thickened(&primitives::plate(0.3, 0.2, 7, 5), 0.01);
        assert!(plate.report().watertight);
        assert!((plate.signed_volume() - 0.3 * 0.2 * 0.01).abs() < 1e-12);
        // Half a sphere of radius r and thickness t: 2πr²t + πt³/6.
        let (r, t) = (0.1, 0.006);
        let bowl = thickened(&primitives::bowl(r, 96, 32), t);
        let exact = std::f64::consts::PI * (2.0 * r * r * t + t * t * t / 6.0);
        assert!(bowl.report().watertight);
        assert!((bowl.signed_volume() / exact - 1.0).abs() < 0.01, "{} {exact}", bowl.signed_volume());
    }
}
