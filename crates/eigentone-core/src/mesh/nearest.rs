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

/// The same for many points, and rays: boxes in boxes around the triangles.
#[derive(Clone, Debug)]
pub struct NearestTree {
    mesh: TriMesh,
    boxes: Vec<Node>,
    /// Triangles in the order of the leaves, and their corners.
    order: Vec<u32>,
    corners: Vec<[Vec3; 3]>,
}

/// Where a ray meets a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The triangle.
    pub triangle: u32,
    /// Distance from the ray's origin, in units of its direction.
    pub distance: f64,
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
    fn distance_squared(&self, point: Vec3) -> f64 {
        (self.low - point).max(point - self.high).max(Vec3::ZERO).length_squared()
    }

    fn leaf(&self) -> std::ops::Range<usize> {
        self.begin as usize..(self.begin + self.count) as usize
    }
}

/// Triangles in a leaf.
const LEAF: usize = 4;

/// Open nodes of a search: one per level, and the tree halves its triangles at each.
const STACK: usize = 64;

impl NearestTree {
    /// Sorts the triangles of a mesh.
    pub fn new(mesh: TriMesh) -> Self {
        let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
        let mut boxes = Vec::new();
        if !order.is_empty() {
            let count = order.len();
            let middles: Vec<Vec3> = (0..count).map(|t| mesh.corners(t).into_iter().sum()).collect();
            split(&mesh, &middles, &mut order, 0, count, &mut boxes);
        }
        let corners = order.iter().map(|&t| mesh.corners(t as usize)).collect();
        Self { mesh, boxes, order, corners }
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The place on the mesh nearest to `point`; of equally near ones that of the first triangle. `None` without triangles.
    pub fn nearest(&self, point: Vec3) -> Option<SurfacePoint> {
        self.nearest_where(point, f64::INFINITY, |_| true)
    }

    /// The place nearest to `point` among the triangles that `accept` names, if it is no further than `limit`.
    pub fn nearest_where(&self, point: Vec3, limit: f64, accept: impl Fn(u32) -> bool) -> Option<SurfacePoint> {
        let mut best = (limit * limit, u32::MAX, 0);
        let mut open = [0u32; STACK];
        let mut depth = usize::from(!self.boxes.is_empty());
        while depth > 0 {
            depth -= 1;
            let at = open[depth];
            let node = &self.boxes[at as usize];
            if node.distance_squared(point) > best.0 {
                continue;
            }
            if node.count > 0 {
                for place in node.leaf() {
                    let [a, b, c] = self.corners[place];
                    let w = nearest_on_triangle(point, [a, b, c]);
                    let squared = (a * w[0] + b * w[1] + c * w[2]).distance_squared(point);
                    if (squared, self.order[place]) < (best.0, best.1) && accept(self.order[place]) {
                        best = (squared, self.order[place], place);
                    }
                }
                continue;
            }
            // The nearer child first: it is taken from the end.
            let (first, second) = (at + 1, node.begin);
            let [f, s] = [first, second].map(|child| self.boxes[child as usize].distance_squared(point));
            open[depth..depth + 2].copy_from_slice(&if f <= s { [second, first] } else { [first, second] });
            depth += 2;
        }
        (best.1 != u32::MAX).then(|| self.mesh.nearest_on(best.1, point))
    }

    /// The first triangle that the ray from `origin` along `direction` meets further away than `from`.
    pub fn ray(&self, origin: Vec3, direction: Vec3, from: f64) -> Option<RayHit> {
        let mut best: Option<RayHit> = None;
        self.along(origin, direction, |hit| {
            // Of triangles that share the edge that is hit, the first.
            if hit.distance > from && best.is_none_or(|b| (hit.distance, hit.triangle) < (b.distance, b.triangle)) {
                best = Some(hit);
            }
            best.map_or(f64::INFINITY, |b| b.distance)
        });
        best
    }

    /// How often the ray from `origin` leaves the body minus how often it enters it, further away than `from`: one inside
    /// a closed surface, zero outside.
    pub fn crossings(&self, origin: Vec3, direction: Vec3, from: f64) -> i32 {
        let mut count = 0;
        self.along(origin, direction, |hit| {
            if hit.distance > from {
                count += if self.mesh.area_normal(hit.triangle as usize).dot(direction) > 0.0 { 1 } else { -1 };
            }
            f64::INFINITY
        });
        count
    }

    /// Calls `meet` for triangles that a ray meets, no further than the distance it last returned.
    fn along(&self, origin: Vec3, direction: Vec3, mut meet: impl FnMut(RayHit) -> f64) {
        let inverse = direction.recip();
        let mut limit = f64::INFINITY;
        let mut open = [0u32; STACK];
        let mut depth = usize::from(!self.boxes.is_empty());
        while depth > 0 {
            depth -= 1;
            let at = open[depth];
            let node = &self.boxes[at as usize];
            let (enter, leave) = node_interval(node, origin, inverse);
            if enter > leave.min(limit) {
                continue;
            }
            if node.count > 0 {
                for place in node.leaf() {
                    if let Some(distance) = ray_triangle(origin, direction, &self.corners[place]) {
                        limit = meet(RayHit { triangle: self.order[place], distance });
                    }
                }
                continue;
            }
            let (first, second) = (at + 1, node.begin);
            let [f, s] = [first, second].map(|child| node_interval(&self.boxes[child as usize], origin, inverse).0);
            open[depth..depth + 2].copy_from_slice(&if f <= s { [second, first] } else { [first, second] });
            depth += 2;
        }
    }
}

/// Where a ray enters and leaves a node's box, with a little slack; enters after leaving if it misses.
fn node_interval(node: &Node, origin: Vec3, inverse: Vec3) -> (f64, f64) {
    let slack = Vec3::splat(1e-9 * (node.high - node.low).max_element());
    let (low, high) = ((node.low - slack - origin) * inverse, (node.high + slack - origin) * inverse);
    // Along an axis: 0 · ∞ is NaN, which min and max below pass over.
    let (mut enter, mut leave) = (0.0f64, f64::INFINITY);
    for k in 0..3 {
        enter = enter.max(low[k].min(high[k]));
        leave = leave.min(low[k].max(high[k]));
    }
    (enter, leave)
}

/// Distance to a triangle along a ray, in lengths of `direction` (Möller & Trumbore 1997).
pub fn ray_triangle(origin: Vec3, direction: Vec3, t: &[Vec3; 3]) -> Option<f64> {
    // A ray through an edge must not slip between its two triangles.
    const SLACK: f64 = 1e-12;
    let (e1, e2) = (t[1] - t[0], t[2] - t[0]);
    let p = direction.cross(e2);
    let det = e1.dot(p);
    if det == 0.0 {
        return None;
    }
    let s = origin - t[0];
    let u = s.dot(p) / det;
    if !(-SLACK..=1.0 + SLACK).contains(&u) {
        return None;
    }
    let q = s.cross(e1);
    let v = direction.dot(q) / det;
    (v >= -SLACK && u + v <= 1.0 + SLACK).then(|| e2.dot(q) / det).filter(|&distance| distance >= 0.0)
}

/// Boxes of a stretch of triangles, halved along the longest side. `middles` are three times the centroids.
fn split(mesh: &TriMesh, middles: &[Vec3], order: &mut [u32], begin: usize, end: usize, boxes: &mut Vec<Node>) {
    let corners = order[begin..end].iter().flat_map(|&t| mesh.corners(t as usize));
    let (low, high) = corners.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
    let at = boxes.len();
    boxes.push(Node { low, high, begin: begin as u32, count: (end - begin) as u32 });
    if end - begin <= LEAF {
        return;
    }
    let size = high - low;
    let axis = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).unwrap_or(0);
    let half = (end - begin) / 2;
    order[begin..end].select_nth_unstable_by(half, |&a, &b| {
        middles[a as usize][axis].total_cmp(&middles[b as usize][axis]).then(a.cmp(&b))
    });
    split(mesh, middles, order, begin, begin + half, boxes);
    let second = boxes.len() as u32;
    split(mesh, middles, order, begin + half, end, boxes);
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

    /// A ray from the middle of a sphere meets it at its radius, and leaves it once.
    #[test]
    fn rays_meet_a_sphere_at_its_radius() {
        let tree = NearestTree::new(primitives::sphere(1.0, 80, 40));
        let mut noise = crate::Noise::new(5);
        for _ in 0..200 {
            let d = Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar()).normalize_or(Vec3::X);
            let hit = tree.ray(Vec3::ZERO, d, 0.0).unwrap();
            assert!((hit.distance - 1.0).abs() < 3e-3, "{hit:?}");
            assert_eq!(tree.crossings(0.3 * Vec3::X, d, 0.0), 1);
            assert_eq!(tree.crossings(2.0 * Vec3::X, d, 0.0), 0);
        }
        // Along the axes, where a component of the direction is zero.
        for d in [Vec3::X, -Vec3::Y, Vec3::Z] {
            assert!((tree.ray(Vec3::splat(1e-3), d, 0.0).unwrap().distance - 1.0).abs() < 6e-3);
        }
        assert!(tree.ray(Vec3::new(0.0, 0.0, 3.0), Vec3::X, 0.0).is_none());
    }

    #[test]
    fn no_triangle_no_point() {
        assert!(TriMesh::default().nearest(Vec3::ZERO).is_none());
    }
}
