//! Nested dissection (George 1973): an order of elimination for nodes on a lattice that leaves little fill.
//!
//! A plane of nodes between two layers of cells cuts the body in two; both halves are numbered before it, each cut in turn. For
//! `n` nodes in space the factor has about `n^(4/3)` entries.

/// Parts with fewer nodes than this are not cut any further: their matrices are almost dense.
const SMALLEST: usize = 60;

/// Order in which to eliminate nodes at the given places (in half cells: even numbers lie between cells).
pub fn dissection(places: &[[u32; 3]]) -> Vec<u32> {
    let mut order = Vec::with_capacity(places.len());
    cut((0..places.len() as u32).collect(), places, &mut order);
    order
}

fn cut(nodes: Vec<u32>, places: &[[u32; 3]], order: &mut Vec<u32>) {
    let planes = if nodes.len() < SMALLEST { None } else { (0..3).filter_map(|k| best_plane(&nodes, places, k)).min() };
    let Some((_, axis, plane)) = planes else {
        order.extend(nodes);
        return;
    };
    let at = |n: &u32| places[*n as usize][axis];
    let part = |keep: &dyn Fn(u32) -> bool| nodes.iter().copied().filter(|n| keep(at(n))).collect::<Vec<_>>();
    let separator = part(&|x| x == plane);
    cut(part(&|x| x < plane), places, order);
    cut(part(&|x| x > plane), places, order);
    order.extend(separator);
}

/// The best plane between cells across an axis: its cost, the axis, and where it lies. Cost is the number of nodes in the plane,
/// over the share of the smaller half. `None` if no plane has something on both sides.
fn best_plane(nodes: &[u32], places: &[[u32; 3]], axis: usize) -> Option<(u64, usize, u32)> {
    let at = |n: &u32| places[*n as usize][axis];
    let (low, high) = nodes.iter().fold((u32::MAX, 0), |(l, h), n| (l.min(at(n)), h.max(at(n))));
    let mut counts = vec![0u64; (high - low + 1) as usize];
    nodes.iter().for_each(|n| counts[(at(n) - low) as usize] += 1);
    let total = nodes.len() as u64;
    let mut below = 0;
    let mut best = None;
    for (k, &count) in counts.iter().enumerate() {
        let plane = low + k as u32;
        let above = total - below - count;
        if plane.is_multiple_of(2) && below > 0 && above > 0 {
            let cost = 1000 * count * total / below.min(above);
            best = best.min(Some((cost, axis, plane))).or(Some((cost, axis, plane)));
        }
        below += count;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every node once, and the last ones are the middle plane across the longest side.
    #[test]
    fn a_block_is_cut_across_its_longest_side() {
        let places: Vec<[u32; 3]> =
            (0..17).flat_map(|x| (0..5).flat_map(move |y| (0..5).map(move |z| [x, y, z]))).collect();
        let order = dissection(&places);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(k, &n)| k == n as usize) && sorted.len() == places.len());
        assert!(order[order.len() - 25..].iter().all(|&n| places[n as usize][0] == 8));
    }
}
