//! Telling two skins apart.
//!
//! Triangles that lie opposite to each other are on different sides, neighbours on the same. A round rim leads from one
//! side to the other without an edge: so opposites are joined first, then neighbours from flat to sharp, each time unless it
//! contradicts what is known. The contradiction that is left out is the rim. (Kruskal's forest over signed edges.)

use super::parts::{Part, Parts};
use eigentone_core::TriMesh;
use eigentone_core::mesh::NearestTree;

/// Groups of triangles, each with a side relative to the first of its group.
struct Sides {
    parent: Vec<u32>,
    /// Other side than the parent.
    other: Vec<bool>,
}

impl Sides {
    fn root(&mut self, t: u32) -> (u32, bool) {
        let (mut at, mut other) = (t, false);
        while self.parent[at as usize] != at {
            other ^= self.other[at as usize];
            at = self.parent[at as usize];
        }
        // Point straight at the root.
        let (root, mut next, mut rest) = (at, t, other);
        while self.parent[next as usize] != next {
            let (parent, step) = (self.parent[next as usize], self.other[next as usize]);
            (self.parent[next as usize], self.other[next as usize]) = (root, rest);
            rest ^= step;
            next = parent;
        }
        (root, other)
    }

    fn join(&mut self, s: u32, t: u32, opposite: bool) {
        let ((r, of_s), (q, of_t)) = (self.root(s), self.root(t));
        if r != q {
            let (low, high) = (r.min(q), r.max(q));
            self.parent[high as usize] = low;
            self.other[high as usize] = of_s ^ of_t ^ opposite;
        }
    }
}

/// Pieces smaller than this share of the whole are not walls of their own.
const CRUMB: f64 = 5e-3;

/// The larger side of every connected piece: which triangles are kept.
pub fn larger_side(mesh: &TriMesh, parts: &Parts) -> Vec<bool> {
    let count = mesh.triangles.len();
    let mut sides = Sides { parent: (0..count as u32).collect(), other: vec![false; count] };
    let tree = NearestTree::new(mesh.clone());
    for t in 0..count {
        let Some(place) = parts.opposite[t] else { continue };
        let faces = |s: u32| parts.normals[s as usize].dot(parts.normals[t]) < -0.5;
        let found = tree.nearest_where(place, 0.5 * parts.thickness_m[t], faces);
        if let Some(found) = found.filter(|f| parts.part[f.triangle as usize] == Part::Wall) {
            sides.join(t as u32, found.triangle, true);
        }
    }
    let mut neighbours: Vec<&([u32; 2], f64)> =
        parts.pairs.iter().filter(|(pair, _)| pair.iter().all(|&t| parts.part[t as usize] != Part::Rim)).collect();
    neighbours.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    for ([s, t], _) in neighbours {
        sides.join(*s, *t, false);
    }
    let mut areas = vec![[0.0; 2]; count];
    let place: Vec<(u32, bool)> = (0..count as u32).map(|t| sides.root(t)).collect();
    for (t, &(root, other)) in place.iter().enumerate() {
        if parts.part[t] != Part::Rim {
            areas[root as usize][usize::from(other)] += parts.areas[t];
        }
    }
    let total: f64 = areas.iter().flatten().sum();
    let keep = |t: usize| {
        let (root, other) = place[t];
        let [first, second] = areas[root as usize];
        parts.part[t] != Part::Rim && other == (second > first) && first + second > CRUMB * total
    };
    (0..count).map(keep).collect()
}
