//! Triangles to cells: which cubes of a lattice are wall, of which material, and which air is connected.
//!
//! **Rule.** Straight lines join the centres of neighbouring cells. Where a triangle crosses the line between two of them, one of the two becomes
//! solid. A path from cell to cell over faces runs along such lines, so none passes a surface without a hole: the set is 6-separating (Schwarz & Seidel
//! 2010, §4.2, with the central cross of a cell as target; Laine 2013 for the proof). Comparisons are inclusive by a billionth of a cell, so that
//! neither shared edges nor rounding leave a crack.
//!
//! **Which of the two** is free to choose without a leak. [`Side::Behind`] takes the one behind the triangle. Of a solid body whose triangles face
//! outwards exactly those cells are taken whose centre is in it: rooms and doors keep their size on average. [`Side::Nearest`], the central cross as
//! published, asks nothing of orientation, but a room loses half a cell at each of its walls.
//!
//! **Thinning.** A solid cell goes if all its crossed lines end in cells that are solid without it. A wall thinner than a cell is then one cell thick wherever it lies.
//!
//! ```
//! use eigentone_core::{Vec3, acoustics::Bounds};
//! use eigentone_wave::{rooms, voxel::{Voxels, lattice_around}};
//!
//! let scene = rooms::shoebox(Vec3::new(4.0, 3.0, 2.5), "brick").scene;
//! let bounds = Bounds::of(scene.mesh.positions.iter().copied()).unwrap();
//! let voxels = Voxels::new(&scene, lattice_around(&bounds, 0.25, 2, 1 << 24)?);
//! let inside = voxels.reachable(voxels.lattice.cube(Vec3::ONE));
//! assert_eq!(inside.count(), 16 * 12 * 10);
//! # Ok::<(), eigentone_wave::voxel::LatticeError>(())
//! ```

mod check;
mod cross;
mod faces;
mod flood;
mod lost;

pub use check::{LatticeError, SceneError, check, checked_len, lattice_around};
pub use cross::Side;
pub(crate) use flood::flood_into;
pub use lost::lost_passages;

use eigentone_core::{
    TriMesh, Vec3,
    acoustics::{Bits, Bounds, Lattice, MaterialMesh},
};

/// The six sides of a cell, −x +x −y +y −z +z, as steps to the neighbour.
pub const DIRECTIONS: [[i64; 3]; 6] = [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];

/// Spaces smaller than this, in m³, are nooks: nobody stands in them, and no probe or warning is spent on them. Chosen.
pub const LEAST_SPACE_M3: f64 = 1.0;

/// A scene in cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Voxels {
    /// The cells.
    pub lattice: Lattice,
    /// Which of them are wall. Inside a wall thicker than two cells there is air again, which nothing reaches.
    pub solid: Bits,
    /// The box around the triangles, which may be larger or smaller than the lattice; `None` without any.
    pub bounds: Option<Bounds>,
    /// Solid cells in rising order of their index.
    cells: Vec<usize>,
    /// For each of them the material on its six sides.
    materials: Vec<[u16; 6]>,
}

impl Voxels {
    /// Cells of a scene, with the cell [behind](Side::Behind) a surface taken. Triangles that are not finite or that name vertices which do
    /// not exist are passed over: refuse them with [`check`] first. Scratch memory: one byte a cell.
    ///
    /// # Panics
    /// If the cells cannot be counted or allocated: make the lattice with [`lattice_around`], or ask [`checked_len`].
    pub fn new(scene: &MaterialMesh, lattice: Lattice) -> Self {
        Self::with_side(scene, lattice, Side::Behind)
    }

    /// As [`new`](Self::new), with a choice of the cell that a surface takes.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn with_side(scene: &MaterialMesh, lattice: Lattice, side: Side) -> Self {
        let triangles = in_cells(scene, &lattice);
        let solid = cross::solid(&triangles, &lattice, side);
        let (cells, materials) = faces::materials(&triangles, &lattice, &solid);
        let corners = triangles.iter().flat_map(|t| t.corners);
        let bounds = Bounds::of(corners.map(|p| lattice.origin + lattice.step_m * p));
        Self { lattice, solid, bounds, cells, materials }
    }

    /// Only which cells are solid.
    fn without_materials(scene: &MaterialMesh, lattice: Lattice) -> Self {
        let solid = cross::solid(&in_cells(scene, &lattice), &lattice, Side::Behind);
        Self { lattice, solid, bounds: None, cells: Vec::new(), materials: Vec::new() }
    }

    /// Whether a cell is wall; outside none is.
    pub fn is_solid(&self, at: [i64; 3]) -> bool {
        self.lattice.index(at).is_some_and(|i| self.solid.get(i))
    }

    /// Index into the scene's names of the material on one side of a solid cell, in the order of [`DIRECTIONS`]; `None` in air and outside.
    ///
    /// It is that of the largest area which faces that way, in the cell itself or in the air before it. Where nothing faces that way (a sheet without thickness
    /// seen from behind) it is that of the largest area of the cell.
    pub fn material(&self, at: [i64; 3], direction: usize) -> Option<u16> {
        let cell = self.cells.binary_search(&self.lattice.index(at)?).ok()?;
        self.materials[cell].get(direction).copied()
    }

    /// The air that is connected with a cell over faces; nothing if that is solid or outside.
    pub fn reachable(&self, from: [i64; 3]) -> Bits {
        self.reachable_from(&[from])
    }

    /// The air that is connected with any of some cells.
    pub fn reachable_from(&self, from: &[[i64; 3]]) -> Bits {
        let mut seen = Bits::new(self.lattice.len());
        for &cell in from {
            flood_into(self, cell, &mut seen, |_| {});
        }
        seen
    }

    /// Whether a cell and all 26 around it are air within the lattice.
    pub fn is_clear(&self, at: [i64; 3]) -> bool {
        let around = |axis: usize| at[axis].saturating_sub(1)..=at[axis].saturating_add(1);
        self.lattice.index(at).is_some()
            && around(2).all(|z| around(1).all(|y| around(0).all(|x| !self.is_solid([x, y, z]))))
    }
}

/// Ground of a material under all of a box, as two triangles that face up: append it to the scene before making cells of it. The box is usually that of the
/// lattice; the ground reaches beyond by its size.
pub fn ground(under: &Bounds, z: f64, material: &str) -> MaterialMesh {
    let size = under.max - under.min;
    let (lo, hi) = (under.min - size, under.max + size);
    let positions = [[lo.x, lo.y], [hi.x, lo.y], [hi.x, hi.y], [lo.x, hi.y]].map(|[x, y]| Vec3::new(x, y, z)).to_vec();
    MaterialMesh::of(TriMesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]] }, material)
}

/// A triangle in units of cells, with the lattice's origin at zero.
struct Triangle {
    corners: [Vec3; 3],
    material: u16,
}

impl Triangle {
    fn extent(&self, axis: usize) -> [f64; 2] {
        let [a, b, c] = self.corners.map(|p| p[axis]);
        [a.min(b).min(c), a.max(b).max(c)]
    }

    /// Normal with the length of twice the area.
    fn normal(&self) -> Vec3 {
        let [a, b, c] = self.corners;
        (b - a).cross(c - a)
    }
}

fn in_cells(scene: &MaterialMesh, lattice: &Lattice) -> Vec<Triangle> {
    let corner = |&v: &u32| {
        let p = (*scene.mesh.positions.get(v as usize)? - lattice.origin) / lattice.step_m;
        p.is_finite().then_some(p)
    };
    let all = scene.mesh.triangles.iter().enumerate();
    all.filter_map(|(t, [a, b, c])| {
        let material = scene.of_triangle.get(t).copied().unwrap_or(0);
        Some(Triangle { corners: [corner(a)?, corner(b)?, corner(c)?], material })
    })
    .collect()
}

/// For each layer of cells the triangles that come within `margin` cells of it, in their order.
fn by_layer(triangles: &[Triangle], lattice: &Lattice, margin: f64) -> Vec<Vec<u32>> {
    let layers = lattice.size[2] as usize;
    let mut lists = vec![Vec::new(); layers];
    for (t, triangle) in triangles.iter().enumerate() {
        let [lo, hi] = triangle.extent(2);
        if let Some([first, last]) = clamped(lo - margin, hi + margin, layers) {
            lists[first..=last].iter_mut().for_each(|list| list.push(t as u32));
        }
    }
    lists
}

/// The cells of a row of `count` that a range touches; `None` if it touches none.
fn clamped(lo: f64, hi: f64, count: usize) -> Option<[usize; 2]> {
    let (first, last) = (lo.floor().max(0.0), hi.floor().min(count as f64 - 1.0));
    (first <= last).then_some([first as usize, last as usize])
}
