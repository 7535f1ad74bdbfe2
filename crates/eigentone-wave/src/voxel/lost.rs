//! Passages that the cells are too coarse for.

use super::{DIRECTIONS, LEAST_SPACE_M3, Voxels, flood_into};
use eigentone_core::{
    Vec3,
    acoustics::{Bits, Lattice, MaterialMesh},
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Cells of half the size along each side of one.
const FINER: u32 = 2;

/// Places where a passage narrower than a cell was closed: in cells of half the size the air around the points `from` goes on where it ends in these.
///
/// One point is told for each gap that leads into a space of more than [`LEAST_SPACE_M3`]: the middle of the shortest ways through walls from the air
/// that is reached to the air that is not. Needs eleven bytes for each of the given cells, and takes about ten times as long as making them.
///
/// # Panics
/// If eight times the cells cannot be allocated.
pub fn lost_passages(scene: &MaterialMesh, voxels: &Voxels, from: &[Vec3]) -> Vec<Vec3> {
    let coarse = &voxels.lattice;
    let reached = voxels.reachable_from(&cells(coarse, from));
    let fine = Lattice { step_m: coarse.step_m / f64::from(FINER), size: coarse.size.map(|n| n * FINER), ..*coarse };
    let fine = Voxels::without_materials(scene, fine);
    let passed = fine.reachable_from(&cells(&fine.lattice, from));
    let search = Search { coarse: voxels, fine: &fine.lattice, reached: &reached, passed: &passed };
    let mut points = Vec::new();
    for space in search.lost_spaces() {
        points.extend(search.gaps(&space));
    }
    points
}

fn cells(lattice: &Lattice, points: &[Vec3]) -> Vec<[i64; 3]> {
    points.iter().map(|&p| lattice.cube(p)).collect()
}

struct Search<'a> {
    coarse: &'a Voxels,
    fine: &'a Lattice,
    /// Air of the coarse cells, and of the fine ones.
    reached: &'a Bits,
    passed: &'a Bits,
}

impl Search<'_> {
    /// Spaces of coarse air that only the fine cells reach, as sets of coarse cells, without those that are too small to matter.
    fn lost_spaces(&self) -> Vec<Bits> {
        let lattice = &self.coarse.lattice;
        let least = LEAST_SPACE_M3 / lattice.step_m.powi(3);
        let mut seen = self.reached.clone();
        let mut spaces = Vec::new();
        for cell in 0..lattice.len() {
            // Air inside a thick wall may jut out of it; what is lost as a whole is another matter.
            let is_lost = |seen: &Bits| {
                !seen.get(cell) && !self.coarse.solid.get(cell) && self.passed_in(cell).count() == FINER.pow(3) as usize
            };
            if !is_lost(&seen) {
                continue;
            }
            let at = position(lattice, cell);
            let mut stretches = Vec::new();
            flood_into(self.coarse, at, &mut seen, |stretch| stretches.push(stretch));
            if stretches.iter().map(|s| s[1]).sum::<usize>() as f64 >= least {
                let mut space = Bits::new(lattice.len());
                for [first, count] in stretches {
                    (first..first + count).for_each(|i| space.set(i, true));
                }
                spaces.push(space);
            }
        }
        spaces
    }

    /// The middles of the ways from a lost space through coarse walls to reached air.
    fn gaps(&self, space: &Bits) -> Vec<Vec3> {
        let within = |i: usize, set: &Bits| {
            let at = self.coarse_of(position(self.fine, i));
            self.coarse.lattice.index(at).is_some_and(|c| set.get(c))
        };
        // Fine air in coarse walls, by its distance from the lost space, and of that by its distance from reached air.
        let starts = (0..space.len()).filter(|&c| space.get(c)).flat_map(|c| self.passed_in(c));
        let in_wall = |i: usize| self.passed.get(i) && within(i, &self.coarse.solid);
        let from_lost = self.distances(starts, in_wall);
        let at_reached = from_lost.keys().filter(|&&i| self.neighbours(i).any(|n| within(n, self.reached)));
        let from_reached = self.distances_of(at_reached.map(|&i| (i, 1)), |i| from_lost.contains_key(&i));
        let way = |i: &usize| Some(from_lost.get(i)? + from_reached.get(i)?);
        let Some(shortest) = from_lost.keys().filter_map(way).min() else { return Vec::new() };
        let near: BTreeSet<usize> =
            from_lost.keys().copied().filter(|i| way(i).is_some_and(|w| w <= shortest + 2)).collect();
        self.clusters(near)
    }

    fn distances(&self, starts: impl Iterator<Item = usize>, inside: impl Fn(usize) -> bool) -> BTreeMap<usize, u32> {
        let first: BTreeSet<usize> =
            starts.flat_map(|i| self.neighbours(i).collect::<Vec<_>>()).filter(|&i| inside(i)).collect();
        self.distances_of(first.into_iter().map(|i| (i, 1)), inside)
    }

    fn distances_of(
        &self,
        first: impl Iterator<Item = (usize, u32)>,
        inside: impl Fn(usize) -> bool,
    ) -> BTreeMap<usize, u32> {
        let mut distances: BTreeMap<usize, u32> = first.collect();
        let mut open: VecDeque<(usize, u32)> = distances.iter().map(|(&i, &d)| (i, d)).collect();
        while let Some((i, d)) = open.pop_front() {
            for n in self.neighbours(i).filter(|&n| inside(n)) {
                distances.entry(n).or_insert_with(|| {
                    open.push_back((n, d + 1));
                    d + 1
                });
            }
        }
        distances
    }

    /// Centres of what is connected over faces.
    fn clusters(&self, mut cells: BTreeSet<usize>) -> Vec<Vec3> {
        let mut centres = Vec::new();
        while let Some(first) = cells.pop_first() {
            let (mut open, mut sum, mut count) = (vec![first], Vec3::ZERO, 0.0);
            while let Some(i) = open.pop() {
                sum += self.fine.centre(position(self.fine, i));
                count += 1.0;
                open.extend(self.neighbours(i).filter(|n| cells.remove(n)));
            }
            centres.push(sum / count);
        }
        centres
    }

    /// Fine air in a coarse cell.
    fn passed_in(&self, cell: usize) -> impl Iterator<Item = usize> {
        let at = position(&self.coarse.lattice, cell).map(|i| i * i64::from(FINER));
        let within = (0..FINER.pow(3)).map(|k| [k % FINER, k / FINER % FINER, k / FINER / FINER].map(i64::from));
        let fine = within.filter_map(move |d| self.fine.index(std::array::from_fn(|axis| at[axis] + d[axis])));
        fine.filter(|&i| self.passed.get(i))
    }

    fn coarse_of(&self, fine: [i64; 3]) -> [i64; 3] {
        fine.map(|i| i / i64::from(FINER))
    }

    fn neighbours(&self, i: usize) -> impl Iterator<Item = usize> {
        let (lattice, at) = (*self.fine, position(self.fine, i));
        DIRECTIONS.into_iter().filter_map(move |d| lattice.index(std::array::from_fn(|axis| at[axis] + d[axis])))
    }
}

fn position(lattice: &Lattice, i: usize) -> [i64; 3] {
    let [nx, ny, _] = lattice.size.map(|n| n as usize);
    [i % nx, i / nx % ny, i / nx / ny].map(|c| c as i64)
}
