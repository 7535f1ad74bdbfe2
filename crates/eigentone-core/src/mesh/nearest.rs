//! The point of a mesh nearest to a given one.

use super::TriMesh;
use crate::Vec3;

/// A place on a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// The triangle it lies on.
    pub triangle: u32,
    /// Weights of the triangle's corners; they sum to one.
    pub barycentric: [f64; 3],
    /// The place itself.
    pub position: Vec3,
    /// Its distance from the point asked for.
    pub distance: f64,
}

impl TriMesh {
    /// The place on the mesh nearest to `point`; of several equally near ones, the first. `None` without triangles.
    pub fn nearest(&self, point: Vec3) -> Option<SurfacePoint> {
        let mut best: Option<SurfacePoint> = None;
        for triangle in 0..self.triangles.len() {
            let corners = self.corners(triangle);
            let barycentric = nearest_on_triangle(point, corners);
            let position = (0..3).map(|k| corners[k] * barycentric[k]).sum::<Vec3>();
            let distance = position.distance(point);
            if best.is_none_or(|b| distance < b.distance) {
                best = Some(SurfacePoint { triangle: triangle as u32, barycentric, position, distance });
            }
        }
        best
    }
}

/// Barycentric coordinates of the point of a triangle nearest to `p` (Ericson 2005, section 5.1.5: find the Voronoi
/// region of `p` among corners, edges and face). Degenerate triangles give a valid, if arbitrary, answer.
pub fn nearest_on_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let ratio = |num: f64, den: f64| if den > 0.0 { num / den } else { 0.0 };

    let (d1, d2) = (ab.dot(p - a), ac.dot(p - a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (ab.dot(p - b), ac.dot(p - b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = ratio(d1, d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let (d5, d6) = (ab.dot(p - c), ac.dot(p - c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = ratio(d2, d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let w = ratio(d4 - d3, (d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    let (v, w) = (ratio(vb, sum), ratio(vc, sum));
    [1.0 - v - w, v, w]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives;

    /// On a sphere the nearest point lies on the ray from the centre, up to the flatness of the facets.
    #[test]
    fn nearest_point_of_a_sphere_lies_on_the_ray() {
        let sphere = primitives::sphere(1.0, 40, 20);
        for p in [Vec3::new(3.0, 1.0, -2.0), Vec3::new(0.1, 0.2, 0.3), Vec3::new(-5.0, 0.0, 0.01)] {
            let hit = sphere.nearest(p).unwrap();
            assert!(hit.position.distance(p.normalize()) < 0.1, "{p}: {}", hit.position);
            assert!(hit.barycentric.iter().all(|w| (-1e-12..=1.0 + 1e-12).contains(w)));
            assert!((hit.distance - (p.length() - 1.0).abs()).abs() < 0.02);
        }
    }

    #[test]
    fn no_triangle_no_point() {
        assert!(TriMesh::default().nearest(Vec3::ZERO).is_none());
    }
}
