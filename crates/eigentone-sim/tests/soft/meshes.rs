//! Blocks of tetrahedra, five to a cell, alternating so that they fit.

use eigentone_core::{TetMesh, Vec3};

/// A cuboid centred on the origin.
pub fn block(size: Vec3, cells: [usize; 3]) -> TetMesh {
    let [nx, ny, nz] = cells;
    let index = |x: usize, y: usize, z: usize| ((z * (ny + 1) + y) * (nx + 1) + x) as u32;
    let mut mesh = TetMesh::default();
    for z in 0..=nz {
        for y in 0..=ny {
            for x in 0..=nx {
                let share = Vec3::new(x as f64 / nx as f64, y as f64 / ny as f64, z as f64 / nz as f64);
                mesh.positions.push((share - 0.5) * size);
            }
        }
    }
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let c = |k: usize| index(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2 & 1));
                let five = if (x + y + z) % 2 == 0 {
                    [[0, 3, 5, 6], [1, 0, 3, 5], [2, 0, 3, 6], [4, 0, 5, 6], [7, 3, 5, 6]]
                } else {
                    [[1, 2, 4, 7], [0, 1, 2, 4], [3, 1, 2, 7], [5, 1, 4, 7], [6, 2, 4, 7]]
                };
                mesh.tets.extend(five.map(|tet: [usize; 4]| tet.map(c)));
            }
        }
    }
    mesh.orient();
    mesh
}
