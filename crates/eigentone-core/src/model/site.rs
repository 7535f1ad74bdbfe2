//! From a place to the contact sites around it.

use super::Surface;
use crate::Vec3;
use crate::mesh::nearest::NearestTree;
use crate::mesh::{SurfacePoint, TriMesh};

/// A point on the surface as a weighted mean of contact sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteBlend {
    /// Sites.
    pub sites: [u32; 3],
    /// Weights; they sum to one.
    pub weights: [f64; 3],
}

impl SiteBlend {
    /// One site alone.
    pub fn single(site: u32) -> Self {
        Self { sites: [site; 3], weights: [1.0, 0.0, 0.0] }
    }

    /// A place on a triangle, as its corners.
    fn on_triangle(mesh: &TriMesh, place: &SurfacePoint) -> Self {
        Self { sites: mesh.triangles[place.triangle as usize], weights: place.barycentric }
    }

    /// The three sites nearest to `point`, by inverse squared distance; on a site, that site alone. `None` without sites.
    fn of_isolated(sites: &[Vec3], point: Vec3) -> Option<Self> {
        let mut nearest: Vec<(f64, u32)> = sites.iter().zip(0..).map(|(p, i)| (p.distance_squared(point), i)).collect();
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0));
        let &(closest, site) = nearest.first()?;
        let mut blend = Self::single(site);
        if closest > 1e-12 {
            for (k, &(distance, site)) in nearest.iter().take(3).enumerate() {
                blend.sites[k] = site;
                blend.weights[k] = 1.0 / distance;
            }
            let sum: f64 = blend.weights.iter().sum();
            blend.weights = blend.weights.map(|w| w / sum);
        }
        Some(blend)
    }
}

/// Finds the contact sites of one surface for many places.
///
/// ```
/// use eigentone_core::{SiteTree, Surface, Vec3, mesh::primitives};
///
/// let plate = Surface::from_mesh(&primitives::plate(1.0, 1.0, 3, 3));
/// let corner = SiteTree::new(&plate).nearest(Vec3::new(-9.0, -9.0, 0.0)).unwrap();
/// let site = corner.sites[corner.weights.iter().position(|w| *w == 1.0).unwrap()];
/// assert_eq!(plate.positions[site as usize], [-0.5, -0.5, 0.0]);
/// ```
#[derive(Clone, Debug)]
pub struct SiteTree {
    tree: NearestTree,
}

impl SiteTree {
    /// Sorts the triangles of a surface.
    pub fn new(surface: &Surface) -> Self {
        Self { tree: NearestTree::new(surface.to_mesh()) }
    }

    /// The surface.
    pub fn mesh(&self) -> &TriMesh {
        self.tree.mesh()
    }

    /// The sites around the place of the surface nearest to `point`, as [`ModalModel::nearest_contact`](super::ModalModel::nearest_contact) blends them.
    /// `None` without sites.
    pub fn nearest(&self, point: Vec3) -> Option<SiteBlend> {
        self.on_triangle(point).or_else(|| SiteBlend::of_isolated(&self.mesh().positions, point))
    }

    /// The same for surfaces that are more than isolated sites; `None` without triangles.
    pub fn on_triangle(&self, point: Vec3) -> Option<SiteBlend> {
        self.tree.nearest(point).map(|place| SiteBlend::on_triangle(self.mesh(), &place))
    }
}

impl Surface {
    /// What [`SiteTree::nearest`] finds, and where that is, for a single place: to look at every triangle once is quicker than to sort them.
    pub(super) fn nearest(&self, point: Vec3) -> Option<(SiteBlend, Vec3)> {
        let mesh = self.to_mesh();
        match mesh.nearest(point) {
            Some(place) => Some((SiteBlend::on_triangle(&mesh, &place), place.position)),
            None => SiteBlend::of_isolated(&mesh.positions, point).map(|blend| (blend, point)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Noise;
    use crate::mesh::primitives;

    /// The place that a blend stands for.
    fn place(surface: &Surface, blend: &SiteBlend) -> Vec3 {
        let site = |k: usize| Vec3::from_array(surface.positions[blend.sites[k] as usize].map(f64::from));
        (0..3).map(|k| site(k) * blend.weights[k]).sum()
    }

    /// Sorted or one by one: the same place, for surfaces with triangles and without.
    #[test]
    fn a_tree_finds_what_looking_at_everything_finds() {
        let mut noise = Noise::new(5);
        let whole = Surface::from_mesh(&primitives::ring(1.0, 0.2, 20, 10));
        let isolated = Surface { triangles: Vec::new(), ..whole.clone() };
        for surface in [whole, isolated] {
            let tree = SiteTree::new(&surface);
            for _ in 0..200 {
                let point = 1.5 * Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar());
                let (by_tree, (one_by_one, _)) = (tree.nearest(point).unwrap(), surface.nearest(point).unwrap());
                assert!(place(&surface, &by_tree).distance(place(&surface, &one_by_one)) < 1e-9);
                assert_eq!(tree.on_triangle(point).is_some(), !surface.triangles.is_empty());
            }
        }
        assert!(SiteTree::new(&Surface::default()).nearest(Vec3::ZERO).is_none());
    }

    /// Sites at 1, 2 and 3 m weigh as 1, 1/4 and 1/9: 36, 9 and 4 parts of 49.
    #[test]
    fn isolated_sites_weigh_by_inverse_squared_distance() {
        let positions = vec![[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 9.0], [0.0, -3.0, 0.0]];
        let surface = Surface { normals: vec![[0.0, 0.0, 1.0]; 4], positions, triangles: Vec::new() };
        let blend = SiteTree::new(&surface).nearest(Vec3::ZERO).unwrap();
        assert_eq!(blend.sites, [1, 0, 3]);
        let expected = [36.0, 9.0, 4.0].map(|parts| parts / 49.0);
        assert!((0..3).all(|k| (blend.weights[k] - expected[k]).abs() < 1e-12), "{blend:?}");
    }
}
