//! Finer or coarser triangles, for the solvers and for the contact surface.
//!
//! [`TriMesh::refine`] splits the longest edges first until none is longer than wanted; [`TriMesh::simplify`] collapses
//! edges onto one of their ends, cheapest first by the quadric error of Garland & Heckbert (1997). Both work on any
//! topology and keep the remaining vertices where they were.

use super::TriMesh;
use crate::{Ordered, Vec3};
use glam::{DMat3, DVec4};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

fn key(i: u32, j: u32) -> [u32; 2] {
    [i.min(j), i.max(j)]
}

impl TriMesh {
    /// Splits edges at their middle, longest first, until none exceeds `longest` or the mesh has `max_vertices`.
    /// Every triangle that shares an edge is split with it, so no crack opens. Existing vertices keep their index.
    pub fn refine(&mut self, longest: f64, max_vertices: usize) {
        let mut sharing: HashMap<[u32; 2], Vec<u32>> = HashMap::new();
        let mut queue = BinaryHeap::new();
        let length = |positions: &[Vec3], e: [u32; 2]| positions[e[0] as usize].distance(positions[e[1] as usize]);
        for (edge, triangles) in self.edges() {
            queue.push((Ordered(length(&self.positions, edge)), Reverse(edge)));
            sharing.insert(edge, triangles);
        }
        while let Some((Ordered(l), Reverse(edge))) = queue.pop() {
            if l <= longest || l.is_nan() || self.positions.len() >= max_vertices {
                break;
            }
            let Some(triangles) = sharing.remove(&edge) else { continue };
            let middle = self.positions.len() as u32;
            self.positions.push(0.5 * (self.positions[edge[0] as usize] + self.positions[edge[1] as usize]));
            for t in triangles {
                let corners = self.triangles[t as usize];
                let [a, b] = edge;
                let Some(&apex) = corners.iter().find(|&&v| v != a && v != b) else { continue };
                let fresh = self.triangles.len() as u32;
                // The old triangle keeps the side of `a`, the new one that of `b`.
                self.triangles[t as usize] = corners.map(|v| if v == b { middle } else { v });
                self.triangles.push(corners.map(|v| if v == a { middle } else { v }));
                for (e, add) in [([b, apex], vec![fresh]), ([a, middle], vec![t]), ([middle, b], vec![fresh])] {
                    let e = key(e[0], e[1]);
                    let list = sharing.entry(e).or_default();
                    if e == key(b, apex) {
                        list.retain(|&old| old != t);
                    }
                    list.extend(add);
                }
                sharing.entry(key(middle, apex)).or_default().extend([t, fresh]);
                queue.push((Ordered(length(&self.positions, key(middle, apex))), Reverse(key(middle, apex))));
            }
            for end in edge {
                queue.push((Ordered(0.5 * l), Reverse(key(middle, end))));
            }
        }
    }

    /// Collapses edges until at most `max_vertices` remain, or none can be collapsed without folding the surface over.
    /// The remaining vertices keep their places; the result says which vertices of the original they are.
    pub fn simplify(&mut self, max_vertices: usize) -> Vec<u32> {
        let mut alive = self.positions.len();
        let mut around: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); self.positions.len()];
        for (t, triangle) in self.triangles.iter().enumerate() {
            for &v in triangle {
                around[v as usize].insert(t as u32);
            }
        }
        let mut quadrics = self.vertex_quadrics();
        let mut version = vec![0u32; self.positions.len()];
        let mut queue = BinaryHeap::new();
        let push = |queue: &mut BinaryHeap<_>, mesh: &TriMesh, quadrics: &[Quadric], version: &[u32], e: [u32; 2]| {
            for [from, onto] in [e, [e[1], e[0]]] {
                let cost = quadrics[from as usize].error(quadrics[onto as usize], mesh.positions[onto as usize]);
                queue.push(Reverse((Ordered(cost), [from, onto], [version[from as usize], version[onto as usize]])));
            }
        };
        for edge in self.edges().into_keys() {
            push(&mut queue, self, &quadrics, &version, edge);
        }
        let mut dead_triangle = vec![false; self.triangles.len()];
        while alive > max_vertices {
            let Some(Reverse((_, [from, onto], versions))) = queue.pop() else { break };
            let stale = versions != [version[from as usize], version[onto as usize]];
            if stale || around[from as usize].is_empty() || self.would_pinch(from, onto, &around) {
                continue;
            }
            if self.would_fold(from, onto, &around[from as usize]) {
                continue;
            }
            for t in std::mem::take(&mut around[from as usize]) {
                let corners = self.triangles[t as usize];
                if corners.contains(&onto) {
                    dead_triangle[t as usize] = true;
                    for v in corners {
                        around[v as usize].remove(&t);
                    }
                } else {
                    self.triangles[t as usize] = corners.map(|v| if v == from { onto } else { v });
                    around[onto as usize].insert(t);
                }
            }
            quadrics[onto as usize] = quadrics[onto as usize].plus(quadrics[from as usize]);
            version[from as usize] += 1;
            version[onto as usize] += 1;
            alive -= 1;
            let ring: BTreeSet<u32> =
                around[onto as usize].iter().flat_map(|&t| self.triangles[t as usize]).filter(|&v| v != onto).collect();
            for v in ring {
                push(&mut queue, self, &quadrics, &version, key(onto, v));
            }
        }
        let mut dead = dead_triangle.iter();
        self.triangles.retain(|_| !dead.next().copied().unwrap_or(false));
        let mut used = vec![false; self.positions.len()];
        self.triangles.iter().flatten().for_each(|&v| used[v as usize] = true);
        let kept = (0..self.positions.len() as u32).filter(|&v| used[v as usize]).collect();
        self.drop_unused_vertices();
        kept
    }

    /// Whether merging two vertices joins sheets that only meet there: they have a common neighbour that is no corner of a
    /// triangle on their edge (the link condition of Dey et al. 1999).
    fn would_pinch(&self, from: u32, onto: u32, around: &[BTreeSet<u32>]) -> bool {
        let ring = |v: u32| -> BTreeSet<u32> {
            around[v as usize].iter().flat_map(|&t| self.triangles[t as usize]).filter(|&w| w != v).collect()
        };
        let shared = around[from as usize].intersection(&around[onto as usize]).count();
        ring(from).intersection(&ring(onto)).count() != shared
    }

    /// Whether moving `from` onto `onto` turns a triangle over or flattens it.
    fn would_fold(&self, from: u32, onto: u32, around: &BTreeSet<u32>) -> bool {
        let target = self.positions[onto as usize];
        around.iter().any(|&t| {
            let corners = self.triangles[t as usize];
            if corners.contains(&onto) {
                return false;
            }
            let before = self.area_normal(t as usize);
            let [a, b, c] = corners.map(|v| if v == from { target } else { self.positions[v as usize] });
            let after = (b - a).cross(c - a);
            let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
            before.dot(after) < 0.2 * before.length() * after.length() || after.length() < 0.05 * longest
        })
    }

    /// Squared distance to the planes around each vertex, with stiff walls along open edges so that a rim keeps its shape.
    fn vertex_quadrics(&self) -> Vec<Quadric> {
        let mut quadrics = vec![Quadric::ZERO; self.positions.len()];
        for (t, triangle) in self.triangles.iter().enumerate() {
            let n = self.area_normal(t);
            let plane = Quadric::plane(n.normalize_or_zero(), self.corners(t)[0], n.length());
            for &v in triangle {
                quadrics[v as usize] = quadrics[v as usize].plus(plane);
            }
        }
        // A little cost for every collapse keeps flat regions evenly sampled instead of emptying one corner first.
        let areas = self.vertex_areas();
        for ((quadric, &p), area) in quadrics.iter_mut().zip(&self.positions).zip(areas) {
            *quadric = quadric.plus(Quadric::point(p, 1e-3 * area));
        }
        for ([i, j], sharing) in self.edges() {
            if let [t] = sharing[..] {
                let (a, b) = (self.positions[i as usize], self.positions[j as usize]);
                let wall = (b - a).cross(self.area_normal(t as usize)).normalize_or_zero();
                let plane = Quadric::plane(wall, a, 10.0 * a.distance_squared(b));
                for v in [i, j] {
                    quadrics[v as usize] = quadrics[v as usize].plus(plane);
                }
            }
        }
        quadrics
    }
}

/// A quadratic form `xᵀAx + 2b·x + c`.
#[derive(Clone, Copy)]
struct Quadric {
    a: DMat3,
    bc: DVec4,
}

impl Quadric {
    const ZERO: Self = Self { a: DMat3::ZERO, bc: DVec4::ZERO };

    /// Weighted squared distance to the plane through `point` with unit normal `n`.
    fn plane(n: Vec3, point: Vec3, weight: f64) -> Self {
        let d = -n.dot(point);
        let a = DMat3::from_cols(n * n.x, n * n.y, n * n.z) * weight;
        Self { a, bc: (n * d).extend(d * d) * weight }
    }

    /// Weighted squared distance to a point.
    fn point(p: Vec3, weight: f64) -> Self {
        Self { a: DMat3::IDENTITY * weight, bc: (-p).extend(p.length_squared()) * weight }
    }

    fn plus(self, other: Self) -> Self {
        Self { a: self.a + other.a, bc: self.bc + other.bc }
    }

    fn error(self, other: Self, x: Vec3) -> f64 {
        let q = self.plus(other);
        (x.dot(q.a * x) + 2.0 * q.bc.truncate().dot(x) + q.bc.w).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives;

    #[test]
    fn refining_keeps_area_volume_and_closure() {
        let mut cube = primitives::cuboid(Vec3::new(1.0, 0.5, 0.25), [1, 1, 1]);
        let first = cube.positions.clone();
        cube.refine(0.1, 100_000);
        let report = cube.report();
        assert!(report.watertight, "{report:?}");
        assert!((report.volume_m3 - 0.125).abs() < 1e-12 && (report.area_m2 - 1.75).abs() < 1e-12);
        let longest = cube
            .edges()
            .into_keys()
            .map(|[i, j]| cube.positions[i as usize].distance(cube.positions[j as usize]))
            .fold(0.0, f64::max);
        assert!(longest <= 0.1);
        assert_eq!(cube.positions[..8], first[..]);
    }

    #[test]
    fn refining_stops_at_the_cap_and_splits_fins_together() {
        let mut fin = primitives::plate(1.0, 1.0, 2, 2);
        fin.positions.push(Vec3::Z);
        fin.triangles.push([0, 3, 4]);
        fin.triangles.push([1, 2, 4]);
        let area = fin.area();
        fin.refine(0.01, 500);
        assert_eq!(fin.positions.len(), 500);
        assert!((fin.area() - area).abs() < 1e-9);
        assert_eq!(fin.components().1, 1);
    }

    #[test]
    fn a_simplified_sphere_is_still_closed_and_round() {
        let mut sphere = primitives::sphere(1.0, 80, 40);
        let original = sphere.clone();
        let kept = sphere.simplify(500);
        assert!(sphere.positions.len() <= 500 && kept.len() == sphere.positions.len());
        assert!(kept.iter().zip(&sphere.positions).all(|(&k, p)| original.positions[k as usize] == *p));
        let report = sphere.report();
        assert!(report.watertight, "{report:?}");
        assert!((report.volume_m3 / original.signed_volume() - 1.0).abs() < 0.03, "{}", report.volume_m3);
    }

    #[test]
    fn a_simplified_plate_keeps_its_outline_and_even_spacing() {
        let mut plate = primitives::plate(0.3, 0.2, 60, 40);
        plate.simplify(300);
        assert!((plate.area() - 0.06).abs() < 1e-9, "{}", plate.area());
        let report = plate.report();
        let longest = plate
            .edges()
            .into_keys()
            .map(|[i, j]| plate.positions[i as usize].distance(plate.positions[j as usize]))
            .fold(0.0, f64::max);
        assert!(longest < 3.5 * report.mean_edge_m, "{longest} against {}", report.mean_edge_m);
    }
}
