//! Air that is connected over faces.

use super::Voxels;
use eigentone_core::acoustics::Bits;

/// Adds to `seen` the air connected with a cell, and tells of each stretch along x: the index of its first cell, and how many there are. What `seen` has already is
/// a wall to it.
pub(crate) fn flood_into(voxels: &Voxels, from: [i64; 3], seen: &mut Bits, mut found: impl FnMut([usize; 2])) {
    let [nx, ny, nz] = voxels.lattice.size.map(|n| n as usize);
    let Some(start) = voxels.lattice.index(from) else { return };
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        let free = |i: usize, seen: &Bits| !voxels.solid.get(i) && !seen.get(i);
        if !free(at, seen) {
            continue;
        }
        let row = at / nx * nx;
        let (mut first, mut last) = (at, at);
        while first > row && free(first - 1, seen) {
            first -= 1;
        }
        while last + 1 < row + nx && free(last + 1, seen) {
            last += 1;
        }
        (first..=last).for_each(|i| seen.set(i, true));
        found([first, last + 1 - first]);
        let (y, z) = (row / nx % ny, row / nx / ny);
        let beside = [
            (y > 0).then(|| first.wrapping_sub(nx)),
            (y + 1 < ny).then_some(first + nx),
            (z > 0).then(|| first.wrapping_sub(nx * ny)),
            (z + 1 < nz).then_some(first + nx * ny),
        ];
        for other in beside.into_iter().flatten() {
            let mut inside = false;
            for i in other..=other + (last - first) {
                let air = free(i, seen);
                if air && !inside {
                    open.push(i);
                }
                inside = air;
            }
        }
    }
}
