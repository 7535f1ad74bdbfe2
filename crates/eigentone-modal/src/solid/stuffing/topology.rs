//! Pieces, pinches and boundary of a tetrahedral mesh.

use eigentone_core::{TetMesh, Vec3};
use std::collections::{BTreeMap, HashMap};

/// The faces of a positively oriented tetrahedron, outward; face `i` is opposite corner `i`.
pub(super) fn faces([a, b, c, d]: [u32; 4]) -> [[u32; 3]; 4] {
    [[b, c, d], [a, d, c], [a, b, d], [a, c, b]]
}

pub(super) fn sorted(mut face: [u32; 3]) -> [u32; 3] {
    face.sort_unstable();
    face
}

/// The tetrahedra on either side of each face.
pub(super) fn sides(tets: &[[u32; 4]]) -> HashMap<[u32; 3], [u32; 2]> {
    let mut sides = HashMap::with_capacity(2 * tets.len());
    for (t, &tet) in tets.iter().enumerate() {
        for face in faces(tet) {
            sides.entry(sorted(face)).and_modify(|s: &mut [u32; 2]| s[1] = t as u32).or_insert([t as u32, u32::MAX]);
        }
    }
    sides
}

/// Outward faces that belong to one tetrahedron only.
pub(super) fn boundary(tets: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let sides = sides(tets);
    tets.iter().flat_map(|&t| faces(t)).filter(|&f| sides[&sorted(f)][1] == u32::MAX).collect()
}

/// For each node the tetrahedra around it.
pub(super) struct Stars {
    first: Vec<u32>,
    tets: Vec<u32>,
}

impl Stars {
    pub fn new(nodes: usize, tets: &[[u32; 4]]) -> Self {
        let mut first = vec![0u32; nodes + 1];
        tets.iter().flatten().for_each(|&n| first[n as usize + 1] += 1);
        (0..nodes).for_each(|n| first[n + 1] += first[n]);
        let mut next = first.clone();
        let mut around = vec![0; first[nodes] as usize];
        for (t, tet) in tets.iter().enumerate() {
            for &n in tet {
                around[next[n as usize] as usize] = t as u32;
                next[n as usize] += 1;
            }
        }
        Self { first, tets: around }
    }

    pub fn of(&self, node: u32) -> &[u32] {
        &self.tets[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}

struct Groups(Vec<u32>);

impl Groups {
    fn new(members: usize) -> Self {
        Self((0..members as u32).collect())
    }

    fn root(&mut self, mut m: u32) -> u32 {
        while self.0[m as usize] != m {
            self.0[m as usize] = self.0[self.0[m as usize] as usize];
            m = self.0[m as usize];
        }
        m
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// Gives each bunch of tetrahedra that meets the others in a single node or edge nodes of its own.
pub(super) fn split_pinches(mesh: &mut TetMesh) {
    let sides = sides(&mesh.tets);
    let stars = Stars::new(mesh.positions.len(), &mesh.tets);
    let old = mesh.tets.clone();
    for node in 0..mesh.positions.len() as u32 {
        let star = stars.of(node);
        let mut groups = Groups::new(star.len());
        for (i, &t) in star.iter().enumerate() {
            for face in faces(old[t as usize]).into_iter().filter(|f| f.contains(&node)) {
                let [a, b] = sides[&sorted(face)];
                let other = if a == t { b } else { a };
                if let Some(j) = star.iter().position(|&s| s == other) {
                    groups.join(i as u32, j as u32);
                }
            }
        }
        let mut copies: BTreeMap<u32, u32> = BTreeMap::new();
        for (i, &t) in star.iter().enumerate() {
            let root = groups.root(i as u32);
            if root == 0 {
                continue;
            }
            let copy = *copies.entry(root).or_insert_with(|| {
                mesh.positions.push(mesh.positions[node as usize]);
                mesh.positions.len() as u32 - 1
            });
            mesh.tets[t as usize].iter_mut().filter(|n| **n == node).for_each(|n| *n = copy);
        }
    }
}

/// Removes bunches of tetrahedra that meet others in an edge only, but for the largest at each edge. Returns how many tetrahedra.
pub(super) fn open_hinges(mesh: &mut TetMesh) -> usize {
    let mut around: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    for [a, b, c] in boundary(&mesh.tets) {
        for [i, j] in [[a, b], [b, c], [c, a]] {
            around.entry([i.min(j), i.max(j)]).or_default().push(0);
        }
    }
    around.retain(|_, faces| faces.len() > 2);
    around.values_mut().for_each(Vec::clear);
    for (t, tet) in (0..).zip(&mesh.tets) {
        for (i, &a) in tet.iter().enumerate() {
            for &b in &tet[i + 1..] {
                if let Some(fan) = around.get_mut(&[a.min(b), a.max(b)]) {
                    fan.push(t);
                }
            }
        }
    }
    let mut gone = vec![false; mesh.tets.len()];
    for fan in around.values() {
        let shared =
            |s: u32, t: u32| mesh.tets[s as usize].iter().filter(|n| mesh.tets[t as usize].contains(n)).count();
        let mut groups = Groups::new(fan.len());
        for i in 0..fan.len() {
            (0..i).filter(|&j| shared(fan[i], fan[j]) == 3).for_each(|j| groups.join(i as u32, j as u32));
        }
        let mut bunches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        (0..).zip(fan).for_each(|(i, &t)| bunches.entry(groups.root(i)).or_default().push(t));
        let volume =
            |bunch: &[u32]| bunch.iter().map(|&t| mesh.signed_volume(mesh.tets[t as usize]).abs()).sum::<f64>();
        let largest = bunches.iter().max_by(|a, b| volume(a.1).total_cmp(&volume(b.1))).map(|(&root, _)| root);
        for (_, bunch) in bunches.iter().filter(|b| Some(*b.0) != largest) {
            bunch.iter().for_each(|&t| gone[t as usize] = true);
        }
    }
    let mut t = 0;
    mesh.tets.retain(|_| {
        t += 1;
        !gone[t - 1]
    });
    gone.iter().filter(|&&g| g).count()
}

/// Keeps the `most` largest pieces (by volume) that hang together by faces; returns how many were dropped and their volume.
pub(super) fn keep_largest_pieces(mesh: &mut TetMesh, most: usize) -> (usize, f64) {
    let mut groups = Groups::new(mesh.tets.len());
    for [a, b] in sides(&mesh.tets).into_values() {
        if b != u32::MAX {
            groups.join(a, b);
        }
    }
    let mut volumes: BTreeMap<u32, f64> = BTreeMap::new();
    for t in 0..mesh.tets.len() {
        *volumes.entry(groups.root(t as u32)).or_default() += mesh.signed_volume(mesh.tets[t]).abs();
    }
    let mut order: Vec<(u32, f64)> = volumes.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let dropped = order.split_off(most.min(order.len()));
    let mut t = 0;
    let keep: Vec<bool> = (0..mesh.tets.len()).map(|t| dropped.iter().all(|d| d.0 != groups.root(t as u32))).collect();
    mesh.tets.retain(|_| {
        t += 1;
        keep[t - 1]
    });
    (dropped.len(), dropped.iter().map(|d| d.1).sum())
}

/// Drops nodes that no tetrahedron uses.
pub(super) fn compact(mesh: &mut TetMesh) {
    let mut number = vec![u32::MAX; mesh.positions.len()];
    mesh.tets.iter().flatten().for_each(|&n| number[n as usize] = 0);
    let mut kept: Vec<Vec3> = Vec::new();
    for (n, p) in number.iter_mut().zip(&mesh.positions).filter(|(n, _)| **n == 0) {
        *n = kept.len() as u32;
        kept.push(*p);
    }
    mesh.positions = kept;
    mesh.tets.iter_mut().flatten().for_each(|n| *n = number[*n as usize]);
}
