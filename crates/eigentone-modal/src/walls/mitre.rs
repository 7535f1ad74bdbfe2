//! The stiff corner where two walls meet.

use eigentone_core::mesh::NearestTree;
use eigentone_core::{TriMesh, Vec3};

/// Walls that meet at more than 40° have a corner.
const SHARP: f64 = 0.766;

/// Thickness of the strip within half a thickness of the corner, as far as stiffness goes (fitted to a solid box).
const STRONGER: f64 = 1.25;

/// Places in a triangle per side; the strip's share is counted by them.
const PLACES: usize = 6;

/// What the thickness of each triangle is multiplied with for its stiffness.
///
/// A triangle is seldom as narrow as the strip. Bent across the corner, flexibilities add: with the strip's share φ the
/// factor `s` for bending is `1/s³ = 1 − φ + φ/1.25³`.
pub fn stiffness(mesh: &TriMesh, thickness_m: &[f64]) -> Vec<f64> {
    let mut lines = TriMesh { positions: mesh.positions.clone(), triangles: Vec::new() };
    for ([a, b], sharing) in mesh.edges() {
        let sharp = match sharing[..] {
            [_] => false,
            [s, t] => {
                let (m, n) = (mesh.area_normal(s as usize), mesh.area_normal(t as usize));
                m.dot(n) < SHARP * m.length() * n.length()
            }
            _ => true,
        };
        if sharp {
            lines.triangles.push([a, b, b]);
        }
    }
    if lines.triangles.is_empty() {
        return vec![1.0; mesh.triangles.len()];
    }
    let tree = NearestTree::new(lines);
    let softer = 1.0 - STRONGER.powi(-3);
    let factor = |(t, &thickness): (usize, &f64)| {
        let near = |p: Vec3| tree.nearest_where(p, 0.5 * thickness, |_| true).is_some();
        let corners = mesh.corners(t);
        let middle = corners.into_iter().sum::<Vec3>() / 3.0;
        let reach = corners.iter().map(|p| p.distance(middle)).fold(0.0, f64::max);
        if tree.nearest_where(middle, reach + 0.5 * thickness, |_| true).is_none() {
            return 1.0;
        }
        let share = places(corners).filter(|&p| near(p)).count() as f64 / (PLACES * PLACES) as f64;
        (1.0 - share * softer).powf(-1.0 / 3.0)
    };
    thickness_m.iter().enumerate().map(factor).collect()
}

/// Middles of the small triangles into which one is divided.
fn places([a, b, c]: [Vec3; 3]) -> impl Iterator<Item = Vec3> {
    let n = PLACES as f64;
    (0..PLACES).flat_map(move |i| {
        (0..2 * (PLACES - i) - 1).map(move |j| {
            // Even ones point up, odd ones down.
            let (row, column, up) = (i as f64, (j / 2) as f64, j % 2 == 0);
            let third = if up { 1.0 / 3.0 } else { 2.0 / 3.0 };
            a + (b - a) * ((column + third) / n) + (c - a) * ((row + third) / n)
        })
    })
}
