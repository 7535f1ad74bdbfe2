//! The frame in which a body is cut into cells.
//!
//! Cells whose faces lie in the body's faces are exact; cut cells are merely good. So the frame follows the body's flat faces
//! where it has some, its axes of inertia otherwise, and the cells fit its bounding box.

use eigentone_core::{TriMesh, Vec3};
use glam::DMat3;
use std::collections::BTreeMap;

/// An orthonormal frame and the bounding box of a body in it.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Columns are the axes in world coordinates.
    pub axes: DMat3,
    /// Lowest corner in the frame.
    pub low: Vec3,
    /// Highest corner in the frame.
    pub high: Vec3,
}

impl Frame {
    /// World to frame.
    pub fn to_local(&self, p: Vec3) -> Vec3 {
        self.axes.transpose() * p
    }

    /// Frame to world.
    pub fn to_world(&self, p: Vec3) -> Vec3 {
        self.axes * p
    }

    /// Chooses, among the axes of inertia and the frames of the largest flat faces, the one with the smallest box.
    pub fn of(mesh: &TriMesh) -> Self {
        let mut candidates = vec![DMat3::IDENTITY, inertia_axes(mesh)];
        let normals = main_normals(mesh);
        for (k, &z) in normals.iter().enumerate() {
            for &n in normals.iter().skip(k + 1) {
                let x = (n - z * n.dot(z)).normalize_or_zero();
                if x != Vec3::ZERO && n.dot(z).abs() < 0.5 {
                    candidates.push(DMat3::from_cols(x, z.cross(x), z));
                }
            }
        }
        let boxed = |axes: DMat3| {
            let local = mesh.positions.iter().map(|&p| axes.transpose() * p);
            let (low, high) = local.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
            Frame { axes, low, high }
        };
        let volume = |f: &Frame| (f.high - f.low).element_product();
        // The first of equal candidates; later ones must be better by more than rounding.
        candidates
            .into_iter()
            .map(boxed)
            .fold(None, |best: Option<Frame>, f| match best {
                Some(b) if volume(&f) >= volume(&b) * (1.0 - 1e-6) => Some(b),
                _ => Some(f),
            })
            .unwrap_or(Frame { axes: DMat3::IDENTITY, low: Vec3::ZERO, high: Vec3::ZERO })
    }
}

/// Eigenvectors of the area-weighted covariance of the surface.
fn inertia_axes(mesh: &TriMesh) -> DMat3 {
    let areas = mesh.vertex_areas();
    let total: f64 = areas.iter().sum();
    let centre = mesh.positions.iter().zip(&areas).map(|(p, a)| *p * *a).sum::<Vec3>() / total;
    let mut covariance = faer::Mat::<f64>::zeros(3, 3);
    for (p, a) in mesh.positions.iter().zip(&areas) {
        let d = *p - centre;
        for r in 0..3 {
            for c in 0..3 {
                covariance[(r, c)] += a * d[r] * d[c];
            }
        }
    }
    let Ok((_, v)) = crate::eigen::dense::symmetric(covariance.as_ref()) else { return DMat3::IDENTITY };
    let column = |c: usize| Vec3::new(v[(0, c)], v[(1, c)], v[(2, c)]);
    let (x, y) = (column(2), column(1));
    DMat3::from_cols(x, y, x.cross(y))
}

/// Directions (without sign) of the flat faces that carry most of the area, largest first, at most six.
fn main_normals(mesh: &TriMesh) -> Vec<Vec3> {
    /// Directions closer than about this (in radians) are one.
    const ALIKE: f64 = 0.02;
    let mut groups: BTreeMap<[i32; 3], (Vec3, f64)> = BTreeMap::new();
    for t in 0..mesh.triangles.len() {
        let n = mesh.area_normal(t);
        let unit = n.normalize_or_zero();
        // Opposite directions are one: the largest component decides the sign.
        let unit = if unit[unit.abs().max_position()] < 0.0 { -unit } else { unit };
        let key = (unit / ALIKE).round().to_array().map(|x| x as i32);
        groups.entry(key).or_insert((unit, 0.0)).1 += 0.5 * n.length();
    }
    let mut groups: Vec<(Vec3, f64)> = groups.into_values().collect();
    groups.sort_by(|a, b| b.1.total_cmp(&a.1));
    groups.into_iter().take(6).map(|g| g.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::mesh::primitives;

    /// Also for a bar with a square section, whose axes of inertia are undetermined.
    #[test]
    fn a_rotated_box_is_found_again() {
        for size in [Vec3::new(0.2, 0.02, 0.01), Vec3::new(0.2, 0.02, 0.02)] {
            let mut bar = primitives::cuboid(size, [10, 2, 1]);
            bar.transform(glam::DQuat::from_scaled_axis(Vec3::new(0.3, -1.1, 0.7)), Vec3::new(1.0, 2.0, 3.0));
            let frame = Frame::of(&bar);
            let mut found = (frame.high - frame.low).to_array();
            found.sort_by(f64::total_cmp);
            let mut truth = size.to_array();
            truth.sort_by(f64::total_cmp);
            assert!(found.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        }
    }
}
