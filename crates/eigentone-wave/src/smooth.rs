//! Decay times of neighbouring cubes, evened out through the air between them.
//!
//! How fast sound decays is a property of rooms, not of points: what a single response tells of it scatters by 5 to 15 % from one wavelength to the
//! next, because few modes are heard in the stretch that is observed. A cube's mean over its ears still scatters by about a step that is just
//! noticeable, everywhere, and storing that would cost as much as all else. [`Openings`] knows how much of the way from each cube to the next is air, and
//! passes the binomial filter ¼ ½ ¼ along each axis as far as it is: not through walls, and through a door only as much as it is wide.

use crate::solver::domain::{AIR, Domain};
use eigentone_core::Vec3;
use eigentone_core::acoustics::{Bits, Lattice};

/// Passes of the filter. Two together reach one cube far, as a standard deviation.
const PASSES: usize = 2;

/// For each cube of a grid and each axis the share of the way to the next cube that is air, 0 to 1.
pub struct Openings {
    size: [usize; 3],
    shares: [Vec<f32>; 3],
}

impl Openings {
    /// Of the cubes from `first` on, `size` of them along each axis. The domain's cells begin with the cell `cells_first` of `cells`.
    pub fn new(
        cubes: &Lattice,
        first: [i64; 3],
        size: [u32; 3],
        cells: &Lattice,
        domain: &Domain,
        cells_first: [i64; 3],
    ) -> Self {
        let size = size.map(|n| n as usize);
        let across = (cubes.step_m / cells.step_m).ceil().max(1.0) as usize;
        let is_air = |point: Vec3| {
            let at = cells.cube(point);
            let local = [0, 1, 2].map(|a| at[a] - cells_first[a]);
            let inside = (0..3).all(|a| local[a] >= 0 && local[a] < domain.size[a] as i64);
            inside && domain.cells[domain.index(local.map(|i| i as usize))] == AIR
        };
        let shares = [0, 1, 2].map(|axis| {
            let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
            let count = size.iter().product();
            (0..count)
                .map(|cube| {
                    let at = [cube % size[0], cube / size[0] % size[1], cube / size[0] / size[1]];
                    if at[axis] + 1 == size[axis] {
                        return 0.0;
                    }
                    let corner = Vec3::from_array([0, 1, 2].map(|a| (first[a] + at[a] as i64) as f64));
                    // From the middle of the cube to the middle of the next, in lines side by side.
                    let open = (0..across * across).filter(|line| {
                        (0..=across).all(|step| {
                            let mut offset = [0.0; 3];
                            offset[u] = (line % across) as f64 + 0.5;
                            offset[v] = (line / across) as f64 + 0.5;
                            offset[axis] = 0.5 * across as f64 + step as f64;
                            let point = corner + Vec3::from_array(offset) / across as f64;
                            is_air(cubes.origin + cubes.step_m * point)
                        })
                    });
                    open.count() as f32 / (across * across) as f32
                })
                .collect()
        });
        Self { size, shares }
    }

    /// Evens out values of the valid cubes. No value leaves the range of its neighbours, and where all is closed none changes.
    pub fn smooth(&self, values: &mut [f32], valid: &Bits) {
        let mut flow = vec![0.0f32; values.len()];
        for _ in 0..PASSES {
            for axis in 0..3 {
                let stride: usize = self.size[..axis].iter().product();
                flow.fill(0.0);
                for (cube, &share) in self.shares[axis].iter().enumerate() {
                    if share > 0.0 && valid.get(cube) && valid.get(cube + stride) {
                        let along = 0.25 * share * (values[cube + stride] - values[cube]);
                        flow[cube] += along;
                        flow[cube + stride] -= along;
                    }
                }
                values.iter_mut().zip(&flow).for_each(|(value, flow)| *value += flow);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::domain::SOLID;

    /// Eight cubes of 2 m in a row, of 4³ cells each.
    fn row(wall: impl Fn([usize; 3]) -> bool) -> (Openings, Bits) {
        let size = [32, 4, 4];
        let mut domain = Domain { size, cell_m: 0.5, cells: vec![AIR; 512], sponge: 0, walls: Vec::new() };
        for cell in 0..512 {
            if wall(domain.at(cell)) {
                domain.cells[cell] = SOLID;
            }
        }
        let lattice = |step_m, size| Lattice { origin: Vec3::ZERO, step_m, size };
        let (cubes, cells) = (lattice(2.0, [8, 1, 1]), lattice(0.5, size.map(|n| n as u32)));
        let mut valid = Bits::new(8);
        (0..8).for_each(|cube| valid.set(cube, true));
        (Openings::new(&cubes, [0; 3], [8, 1, 1], &cells, &domain, [0; 3]), valid)
    }

    #[test]
    fn in_open_air_the_filter_is_binomial_and_keeps_the_sum() {
        let (openings, valid) = row(|_| false);
        let mut values = [0.0, 0.0, 0.0, 16.0, 0.0, 0.0, 0.0, 0.0];
        openings.smooth(&mut values, &valid);
        assert_eq!(values, [0.0, 1.0, 4.0, 6.0, 4.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn nothing_passes_a_wall_and_little_a_door() {
        let step = [0.0, 0.0, 0.0, 0.0, 8.0, 8.0, 8.0, 8.0];
        let (openings, valid) = row(|at| at[0] == 16);
        let mut values = step;
        openings.smooth(&mut values, &valid);
        assert_eq!(values, step);
        // One of sixteen lines is open.
        let (openings, valid) = row(|at| at[0] == 16 && (at[1], at[2]) != (1, 2));
        let mut values = step;
        openings.smooth(&mut values, &valid);
        assert!(values[3] > 0.1 && values[3] < 0.3 && values[4] > 7.7, "{values:?}");
    }
}
