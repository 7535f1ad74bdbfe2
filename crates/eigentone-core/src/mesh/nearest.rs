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
            let place = self.nearest_on(triangle as u32, point);
            if best.is_none_or(|b| place.distance < b.distance) {
                best = Some(place);
            }
        }
        best
    }

    fn nearest_on(&self, triangle: u32, point: Vec3) -> SurfacePoint {
        let corners = self.corners(triangle as usize);
        let barycentric = nearest_on_triangle(point, corners);
        let position = (0..3).map(|k| corners[k] * barycentric[k]).sum::<Vec3>();
        SurfacePoint { triangle, barycentric, position, distance: position.distance(point) }
    }
}

/// The same for many points: boxes in boxes around the triangles.
#[derive(Clone, Debug)]
pub struct NearestTree {
    mesh: TriMesh,
    boxes: Vec<Node>,
    /// Triangles in the order of the leaves.
    order: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    low: Vec3,
    high: Vec3,
    /// Of a leaf its triangles in the order, of others the second child; the first follows at once.
    begin: u32,
    /// Zero for all but leaves.
    count: u32,
}

impl Node {
    fn distance(&self, point: Vec3) -> f64 {
        (self.low - point).max(point - self.high).max(Vec3::ZERO).length()
    }
}

/// Triangles in a leaf.
const LEAF: usize = 4;

impl NearestTree {
    /// Sorts the triangles of a mesh.
    pub fn new(mesh: TriMesh) -> Self {
        let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
        let mut boxes = Vec::new();
        if !order.is_empty() {
            let count = order.len();
            split(&mesh, &mut order, 0, count, &mut boxes);
        }
        Self { mesh, boxes, order }
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The place on the mesh nearest to `point`; `None` without triangles.
    pub fn nearest(&self, point: Vec3) -> Option<SurfacePoint> {
        let mut best: Option<SurfacePoint> = None;
        let mut open = vec![0u32];
        while let Some(at) = open.pop() {
            let Some(node) = self.boxes.get(at as usize) else { break };
            if best.is_some_and(|b| node.distance(point) > b.distance) {
                continue;
            }
            if node.count > 0 {
                for &triangle in &self.order[node.begin as usize..(node.begin + node.count) as usize] {
                    let place = self.mesh.nearest_on(triangle, point);
                    // Of equally near ones the first, as without the tree.
                    if best.is_none_or(|b| (place.distance, place.triangle) < (b.distance, b.triangle)) {
                        best = Some(place);
                    }
                }
                continue;
            }
            // The nearer child first: it is taken from the end.
            let (first, second) = (at + 1, node.begin);
            let nearer = self.boxes[first as usize].distance(point) <= self.boxes[second as usize].distance(point);
            open.extend(if nearer { [second, first] } else { [first, second] });
        }
        best
    }
}

/// Boxes of a stretch of triangles, split in the middle of the longest side.
fn split(mesh: &TriMesh, order: &mut [u32], begin: usize, end: usize, boxes: &mut Vec<Node>) {
    let corners = order[begin..end].iter().flat_map(|&t| mesh.corners(t as usize));
    let (low, high) = corners.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
    let at = boxes.len();
    boxes.push(Node { low, high, begin: begin as u32, count: (end - begin) as u32 });
    if end - begin <= LEAF {
        return;
    }
    let size = high - low;
    let axis = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).unwrap_or(0);
    let middle = |t: u32| mesh.corners(t as usize).iter().map(|p| p[axis]).sum::<f64>();
    order[begin..end].sort_by(|&a, &b| middle(a).total_cmp(&middle(b)));
    let half = begin + (end - begin) / 2;
    split(mesh, order, begin, half, boxes);
    let second = boxes.len() as u32;
    split(mesh, order, half, end, boxes);
    (boxes[at].begin, boxes[at].count) = (second, 0);
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

    /// The tree gives what looking at every triangle gives.
    #[test]
    fn a_tree_finds_the_same_place() {
        let mut noise = crate::Noise::new(3);
        for mesh in [primitives::ring(1.0, 0.2, 20, 10), primitives::plate(2.0, 1.0, 9, 7)] {
            let tree = NearestTree::new(mesh.clone());
            for _ in 0..500 {
                let p = 1.5 * Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar());
                let (a, b) = (tree.nearest(p).unwrap(), mesh.nearest(p).unwrap());
                assert!((a.distance - b.distance).abs() < 1e-12 && a.position.distance(b.position) < 1e-9);
            }
        }
        assert!(NearestTree::new(TriMesh::default()).nearest(Vec3::ZERO).is_none());
    }

    #[test]
    fn no_triangle_no_point() {
        assert!(TriMesh::default().nearest(Vec3::ZERO).is_none());
    }
}
