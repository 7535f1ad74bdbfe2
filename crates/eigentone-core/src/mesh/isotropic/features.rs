//! What a remeshed surface must keep: borders, edges that more than two triangles or two that face opposite ways share,
//! and edges sharper than a given angle; the corners where they end, meet or turn.

use super::web::{Freedom, Web};
use crate::Vec3;
use crate::mesh::TriMesh;

/// Cosine of the angle between the two sides of a crease above which it is a corner: a turn of more than 45°.
const CORNER: f64 = -std::f64::consts::FRAC_1_SQRT_2;

/// Triangles flatter than this share of the mesh's diagonal have no normal worth the name.
const FLAT: f64 = 1e-5;

impl Web {
    /// Finds creases and corners.
    pub fn mark_features(&mut self, degrees: f64) {
        let diagonal = crate::mesh::bounds_of(self.positions.iter().copied());
        let flat = FLAT * (diagonal[1] - diagonal[0]).length();
        let cosine = degrees.clamp(0.0, 180.0).to_radians().cos();
        self.creases.iter_mut().for_each(Vec::clear);
        for [a, b] in self.edges() {
            if self.is_sharp(a, b, cosine, flat) {
                self.creases[a as usize].push(b);
                self.creases[b as usize].push(a);
            }
        }
        for v in 0..self.positions.len() as u32 {
            self.fixed[v as usize] = self.turns(v) || self.fans(v) > 1;
        }
    }

    fn is_sharp(&self, a: u32, b: u32, cosine: f64, flat: f64) -> bool {
        let mut sharing = self.sharing(a, b);
        let (Some(s), Some(t), None) = (sharing.next(), sharing.next(), sharing.next()) else { return true };
        let passes = |t: u32| {
            let [p, q, r] = self.triangles[t as usize];
            [[p, q], [q, r], [r, p]].contains(&[a, b])
        };
        if passes(s) == passes(t) {
            return true;
        }
        let (m, n) = (self.normal(s), self.normal(t));
        let longest = |t: u32| {
            let [p, q, r] = self.corners(t);
            p.distance(q).max(q.distance(r)).max(r.distance(p))
        };
        m.length() > flat * longest(s) && n.length() > flat * longest(t) && m.dot(n) < cosine * m.length() * n.length()
    }

    /// Whether the creases of a vertex turn sharply there.
    fn turns(&self, v: u32) -> bool {
        let [a, b] = self.creases[v as usize][..] else { return false };
        let p = self.positions[v as usize];
        let (u, w) = (self.positions[a as usize] - p, self.positions[b as usize] - p);
        u.dot(w) > CORNER * u.length() * w.length()
    }

    /// Groups of triangles around a vertex that are connected by edges at it.
    fn fans(&self, v: u32) -> usize {
        let around = &self.around[v as usize];
        // Most vertices have one fan, and walking along it is quick; the fan at a pole may have thousands.
        let mut links: Vec<(u32, usize)> = Vec::with_capacity(2 * around.len());
        for (k, &t) in around.iter().enumerate() {
            links.extend(self.triangles[t as usize].into_iter().filter(|&w| w != v).map(|w| (w, k)));
        }
        links.sort_unstable();
        let mut parent: Vec<usize> = (0..around.len()).collect();
        fn root(parent: &mut [usize], mut k: usize) -> usize {
            while parent[k] != k {
                parent[k] = parent[parent[k]];
                k = parent[k];
            }
            k
        }
        let mut groups = around.len();
        for pair in links.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let (a, b) = (root(&mut parent, pair[0].1), root(&mut parent, pair[1].1));
            if a != b {
                parent[a] = b;
                groups -= 1;
            }
        }
        groups
    }

    /// The creases as triangles with a corner twice, for finding the nearest place on them.
    pub fn crease_lines(&self) -> TriMesh {
        let mut triangles = Vec::new();
        for (a, others) in self.creases.iter().enumerate() {
            triangles.extend(others.iter().filter(|&&b| b > a as u32).map(|&b| [a as u32, b, b]));
        }
        TriMesh { positions: self.positions.clone(), triangles }
    }

    /// How many triangles should meet at each vertex: one for every 60°.
    pub fn wanted_triangles(&self) -> Vec<f64> {
        let wanted = |v: u32| {
            if self.freedom(v) == Freedom::Surface {
                return 6.0;
            }
            let p = self.positions[v as usize];
            let angle = |&t: &u32| {
                let mut others = self.triangles[t as usize].into_iter().filter(|&w| w != v);
                let mut side = || others.next().map_or(Vec3::ZERO, |w| self.positions[w as usize] - p);
                side().angle_between(side())
            };
            let sum: f64 = self.around[v as usize].iter().map(angle).filter(|a| a.is_finite()).sum();
            (sum / std::f64::consts::FRAC_PI_3).round().max(1.0)
        };
        (0..self.positions.len() as u32).map(wanted).collect()
    }
}
