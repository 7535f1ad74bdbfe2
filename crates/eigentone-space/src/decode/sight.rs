//! What can be seen from where, through the fine cells of a scene.

use eigentone_core::Vec3;
use eigentone_core::acoustics::Occupancy;

/// Cells that a look passes at most; beyond it counts as clear what was clear so far.
const MAX_CELLS: usize = 4096;

/// How many cells away air is looked for.
const REACH: i64 = 6;

/// Whether all cells along the line from one point to another are air, their own included. Amanatides and Woo, "A fast voxel traversal algorithm" (1987).
pub fn is_clear(occupancy: &Occupancy, from: Vec3, to: Vec3) -> bool {
    let lattice = &occupancy.lattice;
    let (start, end) = ((from - lattice.origin) / lattice.step_m, (to - lattice.origin) / lattice.step_m);
    let way = end - start;
    let mut cell = start.floor().to_array().map(|x| x as i64);
    let last = end.floor().to_array().map(|x| x as i64);
    let (start, way) = (start.to_array(), way.to_array());
    let step = way.map(|w| if w > 0.0 { 1 } else { -1 });
    // The share of the way at which the next plane is crossed, and that between two planes.
    let per_cell = way.map(|w| if w == 0.0 { f64::INFINITY } else { (1.0 / w).abs() });
    let mut next: [f64; 3] = std::array::from_fn(|a| {
        if way[a] == 0.0 {
            return f64::INFINITY;
        }
        let plane = if way[a] > 0.0 { cell[a] as f64 + 1.0 } else { cell[a] as f64 };
        (plane - start[a]) / way[a]
    });
    for _ in 0..MAX_CELLS {
        if occupancy.is_solid(cell) {
            return false;
        }
        if cell == last {
            return true;
        }
        let axis = if next[0] <= next[1] && next[0] <= next[2] {
            0
        } else if next[1] <= next[2] {
            1
        } else {
            2
        };
        if next[axis] > 1.0 {
            return true;
        }
        cell[axis] = cell[axis].saturating_add(step[axis]);
        next[axis] += per_cell[axis];
    }
    true
}

/// The point itself if it is in air, else the middle of the nearest cell that is. Deep inside something it is the point itself.
pub fn nearest_air(occupancy: &Occupancy, point: Vec3) -> Vec3 {
    let lattice = &occupancy.lattice;
    let own = lattice.cube(point);
    if !occupancy.is_solid(own) {
        return point;
    }
    let mut best = (f64::INFINITY, point);
    for reach in 1..=REACH {
        for z in -reach..=reach {
            for y in -reach..=reach {
                // Inside the shell of this reach only its two ends along x are new.
                let step = if z.abs() == reach || y.abs() == reach { 1 } else { 2 * reach };
                for x in (-reach..=reach).step_by(step as usize) {
                    let cell = [own[0] + x, own[1] + y, own[2] + z];
                    if !occupancy.is_solid(cell) {
                        let centre = lattice.centre(cell);
                        let away = centre.distance_squared(point);
                        if away < best.0 {
                            best = (away, centre);
                        }
                    }
                }
            }
        }
        // Cells farther out are at least so far away.
        let beyond = (reach as f64 + 0.5) * lattice.step_m;
        if best.0 <= beyond * beyond {
            break;
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::acoustics::{Bits, Lattice};

    /// Cells of 0.5 m, of which those with x = 4 are a wall with a hole.
    fn wall() -> Occupancy {
        let lattice = Lattice { origin: Vec3::ZERO, step_m: 0.5, size: [10, 10, 10] };
        let mut solid = Bits::new(1000);
        for at in 0..1000 {
            let (x, y, z) = (at % 10, at / 10 % 10, at / 100);
            solid.set(at, x == 4 && (y, z) != (5, 5));
        }
        Occupancy { lattice, solid }
    }

    #[test]
    fn walls_hide_and_holes_show() {
        let wall = wall();
        let sees = |a: [f64; 3], b: [f64; 3]| {
            let (a, b) = (Vec3::from_array(a), Vec3::from_array(b));
            assert_eq!(is_clear(&wall, a, b), is_clear(&wall, b, a), "{a} {b}");
            is_clear(&wall, a, b)
        };
        assert!(!sees([0.3, 1.1, 1.1], [4.3, 1.1, 1.1]) && !sees([0.3, 0.3, 4.0], [4.8, 4.8, 0.1]));
        assert!(sees([0.3, 2.75, 2.75], [4.3, 2.75, 2.75]) && sees([1.9, 2.6, 2.6], [2.6, 2.9, 2.9]));
        assert!(sees([0.1, 0.1, 0.1], [1.9, 4.9, 4.9]) && sees([-20.0, 1.0, 1.0], [-9.0, 8.0, 1.0]));
        assert!(!sees([-20.0, 1.0, 1.0], [40.0, 1.0, 1.0]), "from outside to outside through the wall");
    }

    #[test]
    fn who_is_in_a_wall_is_moved_to_its_own_side() {
        let wall = wall();
        for (x, expected) in [(2.05, 1.75), (2.45, 2.75)] {
            let moved = nearest_air(&wall, Vec3::new(x, 1.0, 1.0));
            assert!((moved.x - expected).abs() < 1e-9, "{x}: {moved}");
        }
        let air = Vec3::new(1.0, 1.0, 1.0);
        assert_eq!(nearest_air(&wall, air), air);
    }
}
