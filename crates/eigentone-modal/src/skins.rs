//! Which way the skins of a body face.

use eigentone_core::mesh::{NearestTree, bounds_of};
use eigentone_core::{TriMesh, Vec3};

/// Pieces that are looked at for being inside one another; more of them are left as they are.
const MAX_PIECES: usize = 32;

/// Edges with one triangle, as it passes them.
pub(crate) fn borders(mesh: &TriMesh) -> Vec<[u32; 2]> {
    let mut edges: Vec<([u32; 2], bool)> = Vec::with_capacity(3 * mesh.triangles.len());
    for &[a, b, c] in &mesh.triangles {
        edges.extend([[a, b], [b, c], [c, a]].map(|[i, j]| ([i.min(j), i.max(j)], i < j)));
    }
    edges.sort_unstable();
    let alone = edges.chunk_by(|p, q| p.0 == q.0).filter(|group| group.len() == 1);
    alone.map(|group| if group[0].1 { group[0].0 } else { [group[0].0[1], group[0].0[0]] }).collect()
}

/// The mesh with every closed piece facing away from the material: outward, or into its cavity where a piece lies within
/// another. Open pieces are left alone.
pub(crate) fn oriented(mesh: &TriMesh) -> TriMesh {
    let mut mesh = mesh.clone();
    let (component, count) = mesh.components();
    if count > MAX_PIECES {
        return mesh;
    }
    let mut open = vec![false; count];
    borders(&mesh).iter().for_each(|&[a, _]| open[component[a as usize] as usize] = true);
    let pieces: Vec<TriMesh> = (0..count).map(|k| piece(&mesh, &component, k as u32)).collect();
    let boxes: Vec<[Vec3; 2]> = pieces.iter().map(|p| bounds_of(p.positions.iter().copied())).collect();
    let within = |k: usize, other: usize| {
        let inside = boxes[k][0].cmpgt(boxes[other][0]).all() && boxes[k][1].cmplt(boxes[other][1]).all();
        k != other && !open[other] && inside && encloses(&pieces[other], &pieces[k])
    };
    let turn: Vec<bool> = (0..count)
        .map(|k| {
            let depth = (0..count).filter(|&other| within(k, other)).count();
            !open[k] && (pieces[k].signed_volume() < 0.0) != (depth % 2 == 1)
        })
        .collect();
    for t in &mut mesh.triangles {
        if turn[component[t[0] as usize] as usize] {
            t.swap(1, 2);
        }
    }
    mesh
}

/// How many bodies there are: closed pieces that face outward, and open ones.
pub(crate) fn bodies(mesh: &TriMesh) -> usize {
    let (component, count) = mesh.components();
    let mut volumes = vec![0.0; count];
    let origin = mesh.positions.first().copied().unwrap_or_default();
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = mesh.corners(t).map(|p| p - origin);
        volumes[component[corners[0] as usize] as usize] += a.dot(b.cross(c));
    }
    volumes.iter().filter(|v| **v > 0.0).count()
}

fn piece(mesh: &TriMesh, component: &[u32], k: u32) -> TriMesh {
    let triangles = mesh.triangles.iter().copied().filter(|t| component[t[0] as usize] == k).collect();
    let mut piece = TriMesh { positions: mesh.positions.clone(), triangles };
    piece.drop_unused_vertices();
    piece
}

/// Whether the vertices of `inner` lie inside the closed surface `outer`, by a few of them.
fn encloses(outer: &TriMesh, inner: &TriMesh) -> bool {
    let tree = NearestTree::new(outer.clone());
    // Along no edge or diagonal of anything drawn on a grid.
    let direction = Vec3::new(0.310_723, 0.497_877, 0.809_711);
    let step = inner.positions.len().div_ceil(16).max(1);
    inner.positions.iter().step_by(step).all(|&p| tree.crossings(p, direction, 0.0) % 2 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::mesh::primitives;

    #[test]
    fn nested_boxes_enclose_the_volume_between_them() {
        for (flip_outer, flip_inner) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut outer = primitives::cuboid(Vec3::splat(1.0), [1, 1, 1]);
            let mut inner = primitives::cuboid(Vec3::splat(0.5), [2, 2, 2]);
            for (mesh, flip) in [(&mut outer, flip_outer), (&mut inner, flip_inner)] {
                if flip {
                    mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
                }
            }
            outer.append(&inner);
            assert!((oriented(&outer).signed_volume() - 0.875).abs() < 1e-12);
        }
        assert_eq!(borders(&primitives::plate(1.0, 1.0, 3, 3)).len(), 8);
    }
}
