//! Local thickness of a body by rays: from a place on its surface along the inward normal to what lies opposite
//! (a single ray of the shape diameter function of Shapira et al. 2008).

use eigentone_core::mesh::NearestTree;
use eigentone_core::{TriMesh, Vec3};
use rayon::prelude::*;

/// What lies opposite to a place on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opposite {
    /// Distance along the inward normal in metres; infinite if there is nothing.
    pub distance_m: f64,
    /// Cosine between the outward normals here and there: −1 for parallel skins, +1 if there is nothing.
    pub facing: f64,
}

impl Opposite {
    /// Nothing is there.
    pub const NOTHING: Self = Self { distance_m: f64::INFINITY, facing: 1.0 };

    /// Looks from `point` against the unit normal `outward`; what is nearer than `tiny` is the place itself.
    pub fn seen_from(tree: &NearestTree, point: Vec3, outward: Vec3, tiny: f64) -> Self {
        tree.ray(point, -outward, tiny).map_or(Self::NOTHING, |hit| {
            let there = tree.mesh().area_normal(hit.triangle as usize).normalize_or_zero();
            Self { distance_m: hit.distance, facing: there.dot(outward) }
        })
    }
}

/// Thickness of a body at the middle of each of its triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Thickness {
    /// What lies opposite to the middle of each triangle.
    pub opposite: Vec<Opposite>,
    /// Share of the area that has something opposite.
    pub hit_share: f64,
    /// The triangles face inward, and were looked through from their other side.
    pub flipped: bool,
    areas: Vec<f64>,
}

/// Distances below this share of the diagonal are those of a surface from itself.
const TINY: f64 = 1e-6;

/// Rays that decide whether a mesh faces inward.
const FLIP_SAMPLES: usize = 300;

/// The distance below which a ray has not left the surface it started from, in metres.
pub(crate) fn tiny_m(mesh: &TriMesh) -> f64 {
    TINY * mesh.diagonal()
}

pub(crate) fn middle(mesh: &TriMesh, t: usize) -> Vec3 {
    mesh.corners(t).into_iter().sum::<Vec3>() / 3.0
}

/// Whether more of the surface has something in front of it than behind it: its triangles then face inward.
pub(crate) fn faces_inward(tree: &NearestTree) -> bool {
    let mesh = tree.mesh();
    let tiny = tiny_m(mesh);
    let step = mesh.triangles.len().div_ceil(FLIP_SAMPLES).max(1);
    let (mut behind, mut before) = (0.0, 0.0);
    for t in (0..mesh.triangles.len()).step_by(step) {
        let n = mesh.area_normal(t);
        let Some(unit) = n.try_normalize() else { continue };
        let seen = |outward: Vec3| Opposite::seen_from(tree, middle(mesh, t), outward, tiny).distance_m.is_finite();
        behind += if seen(unit) { n.length() } else { 0.0 };
        before += if seen(-unit) { n.length() } else { 0.0 };
    }
    before > 1.01 * behind
}

impl Thickness {
    /// Measures a mesh. Works for any: where it is open, rays meet nothing.
    pub fn of(mesh: &TriMesh) -> Self {
        Self::of_tree(&NearestTree::new(mesh.clone()))
    }

    /// The same with a tree that exists already.
    pub fn of_tree(tree: &NearestTree) -> Self {
        let mesh = tree.mesh();
        let tiny = tiny_m(mesh);
        let flipped = faces_inward(tree);
        let sign = if flipped { -1.0 } else { 1.0 };
        let opposite: Vec<Opposite> = (0..mesh.triangles.len())
            .into_par_iter()
            .map(|t| match mesh.area_normal(t).try_normalize() {
                Some(n) => Opposite::seen_from(tree, middle(mesh, t), sign * n, tiny),
                None => Opposite::NOTHING,
            })
            .map(|o| Opposite { facing: if o.distance_m.is_finite() { sign * o.facing } else { 1.0 }, ..o })
            .collect();
        let areas: Vec<f64> = (0..mesh.triangles.len()).map(|t| mesh.triangle_area(t)).collect();
        let hit: f64 = opposite.iter().zip(&areas).filter(|(o, _)| o.distance_m.is_finite()).map(|(_, a)| a).sum();
        let hit_share = hit / areas.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        Self { opposite, hit_share, flipped, areas }
    }

    /// Thickness at each triangle in metres, infinite where nothing lies opposite: what a picture shows as colour.
    pub fn per_triangle_m(&self) -> Vec<f64> {
        self.opposite.iter().map(|o| o.distance_m).collect()
    }

    /// The thickness that the share `q` of the area does not exceed, in metres.
    pub fn quantile_m(&self, q: f64) -> f64 {
        weighted_quantile(self.opposite.iter().map(|o| o.distance_m).zip(self.areas.iter().copied()), q)
    }
}

/// The value that the share `q` of the weight does not exceed; infinite without any weight.
pub(crate) fn weighted_quantile(values: impl Iterator<Item = (f64, f64)>, q: f64) -> f64 {
    let mut sorted: Vec<(f64, f64)> = values.collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = sorted.iter().map(|v| v.1).sum();
    let mut passed = 0.0;
    for (value, weight) in sorted {
        passed += weight;
        if passed >= q * total && passed > 0.0 {
            return value;
        }
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::mesh::{primitives, thickened};

    #[test]
    fn plates_tubes_and_spheres_are_as_thick_as_they_are() {
        let cases = [
            (thickened(&primitives::plate(0.3, 0.2, 20, 14), 4e-3), 4e-3),
            (thickened(&primitives::cylinder(0.03, 0.12, 96, 10, false), 2e-3), 2e-3),
            (primitives::sphere(0.05, 96, 48), 0.1),
        ];
        for (mesh, thickness) in cases {
            let measured = Thickness::of(&mesh);
            assert!((measured.quantile_m(0.5) / thickness - 1.0).abs() < 0.01, "{}", measured.quantile_m(0.5));
            assert!(measured.hit_share > 0.999 && !measured.flipped);
            let mut inside_out = mesh.clone();
            inside_out.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            let turned = Thickness::of(&inside_out);
            assert!(turned.flipped && turned.hit_share > 0.999);
            assert!((turned.quantile_m(0.5) / measured.quantile_m(0.5) - 1.0).abs() < 1e-9);
            assert!(turned.opposite.iter().zip(&measured.opposite).all(|(a, b)| (a.facing - b.facing).abs() < 1e-6));
        }
    }

    #[test]
    fn an_open_plate_has_nothing_behind_it() {
        let open = Thickness::of(&primitives::plate(0.3, 0.2, 20, 14));
        assert_eq!((open.hit_share, open.flipped), (0.0, false));
        assert_eq!(open.quantile_m(0.5), f64::INFINITY);
        assert_eq!(Thickness::of(&TriMesh::default()).quantile_m(0.5), f64::INFINITY);
    }
}
