//! Triangles that know their vertices and vertices that know their triangles: enough to split, collapse and flip edges of
//! any topology, however many triangles share one.

use crate::Vec3;
use crate::mesh::TriMesh;

/// A triangle that is no more.
const DEAD: [u32; 3] = [u32::MAX; 3];

/// How freely a vertex may be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freedom {
    /// Anywhere on the surface.
    Surface,
    /// Along its two creases.
    Crease,
    /// Not at all.
    Fixed,
}

/// A mesh that is being changed.
pub struct Web {
    pub positions: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    /// Triangles of each vertex; none if it is no more.
    pub around: Vec<Vec<u32>>,
    /// The other ends of the creases of each vertex.
    pub creases: Vec<Vec<u32>>,
    /// Corners of creases, and vertices where sheets meet in a point.
    pub fixed: Vec<bool>,
    /// A triangle of the input near each vertex.
    pub source: Vec<u32>,
    /// Vertices in use.
    pub count: usize,
    stamp: u32,
    stamps: Vec<u32>,
}

/// `4√3 A / Σ l²`: one for an equilateral triangle, zero for a degenerate one.
pub fn quality([a, b, c]: [Vec3; 3]) -> f64 {
    let squares = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    if squares > 0.0 { 2.0 * 3f64.sqrt() * (b - a).cross(c - a).length() / squares } else { 0.0 }
}

fn normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a)
}

/// Below this a triangle may not get worse than it was.
const POOR: f64 = 0.15;

/// … but for a little, so that the long triangles of a fan can be merged; and never below the other.
const LITTLE: f64 = 0.95;
const HOPELESS: f64 = 1e-5;

/// Below this the normal of a triangle says nothing.
const SLIVER: f64 = 0.02;

/// Whether a triangle may become another: it neither turns by more than 60°, nor folds over against its surroundings
/// (`facing`), nor loses its shape.
pub fn may_become(before: [Vec3; 3], after: [Vec3; 3], facing: Vec3) -> bool {
    let (was, is) = (quality(before), quality(after));
    let least = if was > HOPELESS { (LITTLE * was).max(HOPELESS) } else { was };
    if !is.is_finite() || (is < POOR && is <= least) {
        return false;
    }
    let new = normal(after);
    if was > SLIVER {
        let old = normal(before);
        old.dot(new) >= 0.5 * old.length() * new.length()
    } else {
        facing.dot(new) > 0.0
    }
}

impl Web {
    pub fn new(mesh: &TriMesh) -> Self {
        let count = mesh.positions.len();
        let mut around = vec![Vec::new(); count];
        for (t, corners) in mesh.triangles.iter().enumerate() {
            corners.iter().for_each(|&v| around[v as usize].push(t as u32));
        }
        let source = around.iter().map(|list: &Vec<u32>| list.first().copied().unwrap_or(0)).collect();
        let used = around.iter().filter(|list| !list.is_empty()).count();
        Self {
            positions: mesh.positions.clone(),
            triangles: mesh.triangles.clone(),
            around,
            creases: vec![Vec::new(); count],
            fixed: vec![false; count],
            source,
            count: used,
            stamp: 0,
            stamps: vec![0; count],
        }
    }

    pub fn corners(&self, t: u32) -> [Vec3; 3] {
        self.triangles[t as usize].map(|v| self.positions[v as usize])
    }

    pub fn normal(&self, t: u32) -> Vec3 {
        normal(self.corners(t))
    }

    /// Area-weighted normal around a vertex, not of unit length.
    pub fn facing(&self, v: u32) -> Vec3 {
        self.around[v as usize].iter().map(|&t| self.normal(t)).sum()
    }

    pub fn length(&self, a: u32, b: u32) -> f64 {
        self.positions[a as usize].distance(self.positions[b as usize])
    }

    pub fn alive(&self, v: u32) -> bool {
        !self.around[v as usize].is_empty()
    }

    /// Triangles that share an edge.
    pub fn sharing(&self, a: u32, b: u32) -> impl Iterator<Item = u32> {
        let (few, other) = if self.around[a as usize].len() <= self.around[b as usize].len() { (a, b) } else { (b, a) };
        self.around[few as usize].iter().copied().filter(move |&t| self.triangles[t as usize].contains(&other))
    }

    pub fn is_crease(&self, a: u32, b: u32) -> bool {
        self.creases[a as usize].contains(&b)
    }

    pub fn freedom(&self, v: u32) -> Freedom {
        match (self.fixed[v as usize], self.creases[v as usize].len()) {
            (false, 0) => Freedom::Surface,
            (false, 2) => Freedom::Crease,
            _ => Freedom::Fixed,
        }
    }

    /// Every edge once, lower vertex first, in rising order.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut keys: Vec<u64> = Vec::with_capacity(3 * self.triangles.len());
        for &[a, b, c] in self.triangles.iter().filter(|&&t| t != DEAD) {
            for [i, j] in [[a, b], [b, c], [c, a]] {
                keys.push(u64::from(i.min(j)) << 32 | u64::from(i.max(j)));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().map(|key| [(key >> 32) as u32, key as u32]).collect()
    }

    /// Neighbours of a vertex, each once.
    pub fn ring(&mut self, v: u32) -> Vec<u32> {
        self.stamp += 1;
        let mut ring = Vec::with_capacity(8);
        for &t in &self.around[v as usize] {
            for w in self.triangles[t as usize] {
                if w != v && self.stamps[w as usize] != self.stamp {
                    self.stamps[w as usize] = self.stamp;
                    ring.push(w);
                }
            }
        }
        ring
    }

    /// Whether a vertex was in the ring that was last asked for.
    pub fn in_last_ring(&self, v: u32) -> bool {
        self.stamps[v as usize] == self.stamp
    }

    /// Puts a vertex in the middle of an edge and halves every triangle that shares it. Returns the vertex and the corners
    /// opposite to the edge.
    pub fn split(&mut self, a: u32, b: u32) -> (u32, Vec<u32>) {
        let middle = self.positions.len() as u32;
        let sharing: Vec<u32> = self.sharing(a, b).collect();
        self.positions.push(0.5 * (self.positions[a as usize] + self.positions[b as usize]));
        self.source.push(self.source[a as usize]);
        self.fixed.push(false);
        self.stamps.push(0);
        self.around.push(Vec::with_capacity(8));
        let mut opposite = Vec::with_capacity(2);
        for t in sharing {
            let corners = self.triangles[t as usize];
            let fresh = self.triangles.len() as u32;
            self.triangles[t as usize] = corners.map(|v| if v == b { middle } else { v });
            self.triangles.push(corners.map(|v| if v == a { middle } else { v }));
            for corner in corners {
                if corner == b {
                    let list = &mut self.around[b as usize];
                    list.iter_mut().filter(|old| **old == t).for_each(|old| *old = fresh);
                } else if corner != a {
                    self.around[corner as usize].push(fresh);
                    opposite.push(corner);
                }
            }
            self.around[middle as usize].extend([t, fresh]);
        }
        let crease = self.is_crease(a, b);
        self.creases.push(if crease { vec![a, b] } else { Vec::new() });
        if crease {
            for (end, other) in [(a, b), (b, a)] {
                self.creases[end as usize].iter_mut().filter(|c| **c == other).for_each(|c| *c = middle);
            }
        }
        self.count += 1;
        (middle, opposite)
    }

    /// Merges `drop` into `keep`, which moves to `place`. The caller has made sure that it may be.
    pub fn merge(&mut self, keep: u32, drop: u32, place: Vec3) {
        self.positions[keep as usize] = place;
        for t in std::mem::take(&mut self.around[drop as usize]) {
            let corners = self.triangles[t as usize];
            if corners.contains(&keep) {
                for v in corners {
                    self.around[v as usize].retain(|&old| old != t);
                }
                self.triangles[t as usize] = DEAD;
            } else {
                self.triangles[t as usize] = corners.map(|v| if v == drop { keep } else { v });
                self.around[keep as usize].push(t);
            }
        }
        for other in std::mem::take(&mut self.creases[drop as usize]) {
            self.creases[other as usize].retain(|&c| c != drop);
            if other != keep {
                self.creases[other as usize].push(keep);
                self.creases[keep as usize].push(other);
            }
        }
        self.count -= 1;
    }

    /// Gives two triangles other corners.
    pub fn replace(&mut self, pair: [u32; 2], corners: [[u32; 3]; 2]) {
        for (t, new) in pair.into_iter().zip(corners) {
            for v in self.triangles[t as usize] {
                self.around[v as usize].retain(|&old| old != t);
            }
            self.triangles[t as usize] = new;
            for v in new {
                self.around[v as usize].push(t);
            }
        }
    }

    /// The mesh as it is now.
    pub fn into_mesh(self) -> TriMesh {
        let triangles = self.triangles.into_iter().filter(|&t| t != DEAD).collect();
        let mut mesh = TriMesh { positions: self.positions, triangles };
        mesh.drop_unused_vertices();
        mesh
    }
}
