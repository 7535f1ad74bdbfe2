//! Is there an inside, and how thick is it?

use super::distance::DistanceTree;
use eigentone_core::{TriMesh, Vec3};

/// What a few hundred samples say about a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Share of samples just under the surface that the winding number calls inside.
    pub inside_share: f64,
    /// Thickness that nine tenths of the surface exceed, in metres; infinite if nothing lies opposite.
    pub thin_m: f64,
    /// Median thickness.
    pub median_m: f64,
}

impl Probe {
    /// The surface closes, up to small holes.
    pub fn closed(&self) -> bool {
        self.inside_share > 0.9
    }
}

/// Samples of the surface, at most.
const SAMPLES: usize = 400;

/// Looks inward from points spread evenly over the surface.
pub fn probe(mesh: &TriMesh, tree: &DistanceTree) -> Probe {
    let step = mesh.area() / SAMPLES as f64;
    let tiny = 1e-6 * mesh.diagonal();
    let (mut next, mut passed) = (0.5 * step, 0.0);
    let (mut inside, mut samples) = (0, 0);
    let mut thickness = Vec::new();
    for t in 0..mesh.triangles.len() {
        passed += mesh.triangle_area(t);
        while next < passed {
            next += step;
            let corners = mesh.corners(t);
            // Low-discrepancy barycentrics, so that large triangles are sampled in different places.
            let (u, v) = ((samples as f64 * 0.754_877_67).fract(), (samples as f64 * 0.569_840_29).fract());
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let point = corners[0] + (corners[1] - corners[0]) * u + (corners[2] - corners[0]) * v;
            let inward = -mesh.area_normal(t).normalize_or(Vec3::Z);
            let across = tree.ray(point, inward, tiny).unwrap_or(f64::INFINITY);
            thickness.push(across);
            let depth = if across.is_finite() { 0.5 * across } else { 10.0 * tiny };
            let winding = tree.winding(point + inward * depth);
            // Where closed pieces overlap the winding number is two or more; that is inside, too.
            inside += usize::from(winding > 0.7 && across.is_finite());
            samples += 1;
        }
    }
    thickness.sort_by(f64::total_cmp);
    let quantile = |q: f64| thickness.get((q * thickness.len() as f64) as usize).copied().unwrap_or(f64::INFINITY);
    Probe { inside_share: inside as f64 / samples.max(1) as f64, thin_m: quantile(0.1), median_m: quantile(0.5) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::mesh::primitives;

    fn look(mesh: &TriMesh) -> Probe {
        probe(mesh, &DistanceTree::new(mesh))
    }

    #[test]
    fn a_box_is_closed_and_as_thick_as_it_is() {
        let p = look(&primitives::cuboid(Vec3::new(0.2, 0.02, 0.01), [20, 2, 1]));
        assert!(p.closed());
        assert!((p.median_m - 0.01).abs() < 1e-9, "{p:?}");
    }

    #[test]
    fn open_surfaces_are_not_closed_but_a_small_hole_does_not_matter() {
        for open in [
            primitives::plate(0.3, 0.2, 30, 20),
            primitives::bowl(0.1, 48, 12),
            primitives::cylinder(0.1, 0.1, 48, 8, false),
        ] {
            assert!(!look(&open).closed(), "{:?}", look(&open));
        }
        let mut overlapping = primitives::cuboid(Vec3::new(0.2, 0.05, 0.05), [4, 1, 1]);
        overlapping.append(&primitives::cuboid(Vec3::new(0.05, 0.2, 0.04), [1, 4, 1]));
        assert!(look(&overlapping).closed(), "{:?}", look(&overlapping));
        let mut holed = primitives::sphere(0.1, 48, 24);
        holed.triangles.drain(500..510);
        assert!(look(&holed).closed(), "{:?}", look(&holed));
    }
}
