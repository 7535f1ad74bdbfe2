//! Blocks and walls.

use super::{MaterialMesh, TriMesh, Vec3};

/// An opening in a wall, from the floor up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Door {
    /// Where along the wall it begins and ends.
    pub from: f64,
    pub to: f64,
    /// Its height.
    pub top: f64,
}

/// A scene that grows block by block.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub scene: MaterialMesh,
}

/// Corners of a box, by bits: 1 for the far end of x, 2 of y, 4 of z. Anticlockwise from outside: −x +x −y +y −z +z.
const FACES: [[u32; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

impl Blocks {
    pub fn block(&mut self, min: [f64; 3], max: [f64; 3], material: &str) {
        let corner =
            |k: usize| Vec3::from_array(std::array::from_fn(|a| if k >> a & 1 == 1 { max[a] } else { min[a] }));
        let triangles = FACES.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        let mesh = TriMesh { positions: (0..8).map(corner).collect(), triangles };
        self.scene.append(&MaterialMesh::of(mesh, material));
    }

    /// Six blocks around a box, in the order −x +x −y +y −z +z.
    pub fn shell(&mut self, min: Vec3, max: Vec3, thick: f64, materials: [&str; 6]) {
        for (side, material) in materials.into_iter().enumerate() {
            let axis = side / 2;
            // Each covers the edges, so that no corner is left open.
            let (mut lo, mut hi) = (min - thick, max + thick);
            if side % 2 == 0 {
                hi[axis] = min[axis];
            } else {
                lo[axis] = max[axis];
            }
            self.block(lo.to_array(), hi.to_array(), material);
        }
    }

    pub fn wall_along_x(&mut self, x: [f64; 2], y: [f64; 2], height: f64, doors: &[Door], material: &str) {
        for [from, to, low] in parts(x, doors) {
            self.block([from, y[0], low], [to, y[1], height], material);
        }
    }

    pub fn wall_along_y(&mut self, x: [f64; 2], y: [f64; 2], height: f64, doors: &[Door], material: &str) {
        for [from, to, low] in parts(y, doors) {
            self.block([x[0], from, low], [x[1], to, height], material);
        }
    }
}

/// The parts of a wall between doors and over them: from, to and lower edge. Doors come in rising order.
fn parts([start, end]: [f64; 2], doors: &[Door]) -> Vec<[f64; 3]> {
    let mut parts = Vec::new();
    let mut at = start;
    for door in doors {
        parts.push([at, door.from, 0.0]);
        parts.push([door.from, door.to, door.top]);
        at = door.to;
    }
    parts.push([at, end, 0.0]);
    parts
}
