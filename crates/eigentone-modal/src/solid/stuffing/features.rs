//! Sharp edges and corners of a surface, as curves and points.

use eigentone_core::{TriMesh, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// A line along sharp edges of the surface.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    /// Its vertices in order; the first again at the end if it is a loop.
    pub points: Vec<Vec3>,
    /// The corners at its ends; none for a loop.
    pub ends: Option<[usize; 2]>,
}

impl Curve {
    /// The point of the curve nearest to `p`, and the segment it is on.
    fn nearest_segment(&self, p: Vec3) -> Option<(Vec3, usize)> {
        let on = self.points.windows(2).zip(0..).map(|(w, k)| {
            let along = w[1] - w[0];
            let t = (p - w[0]).dot(along) / along.length_squared().max(f64::MIN_POSITIVE);
            (w[0] + along * t.clamp(0.0, 1.0), k)
        });
        on.min_by(|a, b| a.0.distance_squared(p).total_cmp(&b.0.distance_squared(p)))
    }

    /// The point of the curve nearest to `p`.
    pub fn nearest(&self, p: Vec3) -> Vec3 {
        self.nearest_segment(p).map_or(p, |(q, _)| q)
    }

    /// The direction of the curve near `p`.
    pub fn tangent(&self, p: Vec3) -> Vec3 {
        self.nearest_segment(p).map_or(Vec3::ZERO, |(_, k)| (self.points[k + 1] - self.points[k]).normalize_or_zero())
    }

    pub fn length(&self) -> f64 {
        self.points.windows(2).map(|w| w[0].distance(w[1])).sum()
    }

    /// The point after the share `t` of its length.
    pub fn at(&self, t: f64) -> Vec3 {
        let mut left = t * self.length();
        for w in self.points.windows(2) {
            let length = w[0].distance(w[1]);
            if left <= length && length > 0.0 {
                return w[0].lerp(w[1], left / length);
            }
            left -= length;
        }
        self.points.last().copied().unwrap_or_default()
    }
}

/// What of a surface must not be rounded off.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    pub corners: Vec<Vec3>,
    pub curves: Vec<Curve>,
}

impl Features {
    /// Finds edges at which the surface of a welded mesh turns by more than `angle_deg`, and corners where such edges end, meet, or
    /// turn by as much.
    pub fn of(mesh: &TriMesh, angle_deg: f64) -> Self {
        let least = angle_deg.to_radians().cos();
        let normal = |t: u32| mesh.area_normal(t as usize).normalize_or_zero();
        let mut around: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for ([a, b], triangles) in mesh.edges() {
            let sharp = match triangles[..] {
                [s, t] => normal(s).dot(normal(t)) < least,
                _ => false,
            };
            if sharp {
                around.entry(a).or_default().insert(b);
                around.entry(b).or_default().insert(a);
            }
        }
        let at = |v: u32| mesh.positions[v as usize];
        let is_corner = |v: u32, near: &BTreeSet<u32>| {
            let ways: Vec<Vec3> = near.iter().map(|&n| (at(n) - at(v)).normalize_or_zero()).collect();
            ways.len() != 2 || -ways[0].dot(ways[1]) < least
        };
        let numbers: BTreeMap<u32, usize> =
            around.iter().filter(|(v, near)| is_corner(**v, near)).map(|(&v, _)| v).zip(0..).collect();
        let corners = numbers.keys().map(|&v| at(v)).collect();
        let mut left: BTreeSet<[u32; 2]> =
            around.iter().flat_map(|(&a, near)| near.iter().map(move |&b| [a, b])).collect();
        let mut curves = Vec::new();
        // Curves from corner to corner first; what is left then are loops.
        let starts: Vec<u32> = numbers.keys().chain(around.keys()).copied().collect();
        for start in starts {
            for &towards in &around[&start] {
                if left.contains(&[start, towards]) {
                    let walk = walk(start, towards, &around, &numbers, &mut left);
                    let ends = numbers.get(&walk[0]).zip(numbers.get(&walk[walk.len() - 1])).map(|(&a, &b)| [a, b]);
                    curves.push(Curve { points: walk.into_iter().map(at).collect(), ends });
                }
            }
        }
        Self { corners, curves }
    }
}

fn walk(
    start: u32,
    towards: u32,
    around: &BTreeMap<u32, BTreeSet<u32>>,
    corners: &BTreeMap<u32, usize>,
    left: &mut BTreeSet<[u32; 2]>,
) -> Vec<u32> {
    let mut walk = vec![start, towards];
    let (mut from, mut here) = (start, towards);
    left.remove(&[from, here]);
    left.remove(&[here, from]);
    while !corners.contains_key(&here) {
        let Some(&next) = around[&here].iter().find(|&&n| n != from && left.contains(&[here, n])) else { break };
        left.remove(&[here, next]);
        left.remove(&[next, here]);
        walk.push(next);
        (from, here) = (here, next);
    }
    walk
}
