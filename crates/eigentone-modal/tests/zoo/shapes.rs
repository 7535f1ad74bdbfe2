//! Primitives of the zoo, each in three tessellations.

use crate::revolved::{skin, wall};
use eigentone_core::mesh::{primitives, thickened};
use eigentone_core::{TriMesh, Vec3};
use std::f64::consts::{PI, TAU};

/// How a shape is cut into triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// As few triangles as show the shape.
    Coarse,
    /// Long thin quads, as tools make them along straight walls.
    Long,
    /// Up to about five thousand triangles.
    Fine,
}

impl Detail {
    pub const ALL: [Self; 3] = [Self::Coarse, Self::Long, Self::Fine];

    fn pick<T>(self, coarse: T, long: T, fine: T) -> T {
        match self {
            Self::Coarse => coarse,
            Self::Long => long,
            Self::Fine => fine,
        }
    }
}

/// A name and how to make it.
pub type Shape = (&'static str, fn(Detail) -> TriMesh);

/// Everything the zoo shows.
pub const SHAPES: [Shape; 26] = [
    ("box", |d| primitives::cuboid(Vec3::new(0.12, 0.08, 0.05), d.pick([1; 3], [1, 1, 30], [20, 14, 10]))),
    ("bar", |d| primitives::cuboid(Vec3::new(0.2, 0.02, 0.01), d.pick([1; 3], [1, 8, 8], [80, 8, 4]))),
    ("thin slab", |d| primitives::cuboid(Vec3::new(0.2, 0.15, 0.002), d.pick([1; 3], [1, 24, 1], [40, 30, 1]))),
    ("sphere", |d| {
        d.pick(primitives::sphere(0.1, 8, 6), primitives::sphere(0.1, 64, 4), primitives::sphere(0.1, 48, 40))
    }),
    ("icosphere", |d| icosphere(0.1, d.pick(0, 2, 4))),
    ("cylinder", |d| d.pick(solid_of(12, 1), solid_of(64, 1), solid_of(64, 24))),
    ("open cylinder", |d| d.pick(open(12, 1), open(96, 1), open(48, 40))),
    ("tube", |d| d.pick(tube(16, 1), tube(96, 1), tube(48, 20))),
    ("washer", |d| d.pick(washer(12, 1), washer(96, 1), washer(64, 12))),
    ("cone", |d| d.pick(cone(12, 1), cone(96, 1), cone(64, 20))),
    ("pyramid", |d| cone(4, d.pick(1, 1, 12))),
    ("torus", |d| {
        d.pick(
            primitives::ring(0.06, 0.012, 12, 6),
            primitives::ring(0.06, 0.012, 96, 4),
            primitives::ring(0.06, 0.012, 64, 24),
        )
    }),
    ("plate", |d| {
        d.pick(
            primitives::plate(0.3, 0.2, 2, 2),
            primitives::plate(0.3, 0.2, 2, 60),
            primitives::plate(0.3, 0.2, 50, 40),
        )
    }),
    ("disc", |d| primitives::disc(0.12, d.pick(1, 4, 24))),
    ("bowl", |d| d.pick(primitives::bowl(0.06, 8, 3), primitives::bowl(0.06, 96, 4), primitives::bowl(0.06, 64, 24))),
    ("bell", |d| {
        d.pick(
            primitives::bell(0.05, 0.08, 10, 5),
            primitives::bell(0.05, 0.08, 96, 6),
            primitives::bell(0.05, 0.08, 48, 32),
        )
    }),
    ("tumbler", |d| {
        d.pick(
            primitives::tumbler(0.03, 0.04, 0.1, 10, 2),
            primitives::tumbler(0.03, 0.04, 0.1, 96, 1),
            primitives::tumbler(0.03, 0.04, 0.1, 48, 24),
        )
    }),
    ("cup", |d| d.pick(cup(12, 1), cup(64, 1), cup(48, 20))),
    ("hollow box", |d| hollow_box(d.pick([1; 3], [1, 1, 20], [12, 8, 6]))),
    ("L block", |d| prism(&L_BLOCK, [0.02, 0.02], 0.04, d.pick(1, 1, 20))),
    ("star prism", |d| prism(&star(d.pick(5, 12, 24)), [0.0, 0.0], 0.03, d.pick(1, 1, 20))),
    ("tray", |d| tray(d.pick(1, 2, 16))),
    ("Möbius strip", |d| d.pick(moebius(16, 1), moebius(120, 1), moebius(120, 12))),
    ("crossed plates", |d| crossed_plates(d.pick(2, 3, 24))),
    ("tetrahedron", |d| tetrahedron(d.pick(0.2, 0.03, 0.008))),
    ("foil", |d| thickened(&primitives::plate(0.1, 0.1, d.pick(2, 2, 30), d.pick(2, 40, 30)), 1e-4)),
];

fn solid_of(around: usize, along: usize) -> TriMesh {
    primitives::cylinder(0.03, 0.08, around, along, true)
}

fn open(around: usize, along: usize) -> TriMesh {
    primitives::cylinder(0.04, 0.1, around, along, false)
}

fn straight(radius: f64, height: f64, along: usize) -> Vec<[f64; 2]> {
    (0..=along).map(|k| [radius, height * k as f64 / along as f64]).collect()
}

fn tube(around: usize, along: usize) -> TriMesh {
    wall(&straight(0.031, 0.12, along), &straight(0.029, 0.12, along), around, around)
}

fn washer(around: usize, along: usize) -> TriMesh {
    wall(&straight(0.06, 0.006, along), &straight(0.03, 0.006, along), around, around)
}

fn cone(around: usize, along: usize) -> TriMesh {
    let side = (0..=along).map(|k| k as f64 / along as f64).map(|s| [0.05 * (1.0 - s), 0.1 * s]);
    skin(&std::iter::once([0.0, 0.0]).chain(side).collect::<Vec<_>>(), around)
}

fn cup(around: usize, along: usize) -> TriMesh {
    let profile = |radius: f64, low: f64| -> Vec<[f64; 2]> {
        let side = straight(radius, 0.1 - low, along).into_iter().map(|[r, z]| [r, z + low]);
        std::iter::once([0.0, low]).chain(side).collect()
    };
    wall(&profile(0.036, 0.0), &profile(0.034, 0.002), around, around)
}

fn hollow_box(cells: [usize; 3]) -> TriMesh {
    let size = Vec3::new(0.1, 0.07, 0.05);
    let mut mesh = primitives::cuboid(size, cells);
    let mut inner = primitives::cuboid(size - Vec3::splat(0.004), cells);
    let centre = |m: &TriMesh| m.bounds().map_or(Vec3::ZERO, |[low, high]| 0.5 * (low + high));
    let by = centre(&mesh) - centre(&inner);
    inner.positions.iter_mut().for_each(|p| *p += by);
    inner.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    mesh.append(&inner);
    mesh
}

const L_BLOCK: [[f64; 2]; 6] = [[0.0, 0.0], [0.1, 0.0], [0.1, 0.04], [0.04, 0.04], [0.04, 0.08], [0.0, 0.08]];

fn star(points: usize) -> Vec<[f64; 2]> {
    (0..2 * points)
        .map(|k| {
            let (sin, cos) = (PI * k as f64 / points as f64).sin_cos();
            let radius = if k % 2 == 0 { 0.05 } else { 0.03 };
            [radius * cos, radius * sin]
        })
        .collect()
}

/// A prism over a polygon all of which is seen from `middle`: caps are fans from there.
fn prism(polygon: &[[f64; 2]], middle: [f64; 2], height: f64, layers: usize) -> TriMesh {
    let n = polygon.len() as u32;
    let mut mesh = TriMesh::default();
    for layer in 0..=layers {
        let z = height * layer as f64 / layers as f64;
        mesh.positions.extend(polygon.iter().map(|&[x, y]| Vec3::new(x, y, z)));
    }
    let [low, high] = [0.0, height].map(|z| {
        mesh.positions.push(Vec3::new(middle[0], middle[1], z));
        mesh.positions.len() as u32 - 1
    });
    let top = layers as u32 * n;
    for k in 0..n {
        let next = (k + 1) % n;
        mesh.triangles.extend([[low, next, k], [high, top + k, top + next]]);
        for layer in 0..layers as u32 {
            let (a, b) = (layer * n + k, layer * n + next);
            mesh.triangles.extend([[a, b, b + n], [a, b + n, a + n]]);
        }
    }
    mesh
}

fn icosphere(radius: f64, rounds: usize) -> TriMesh {
    let g = 0.5 * (1.0 + 5f64.sqrt());
    let corners = [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ];
    let mut triangles: Vec<[Vec3; 3]> = [
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ]
    .iter()
    .map(|t| t.map(|k: usize| Vec3::from_array(corners[k]).normalize()))
    .collect();
    for _ in 0..rounds {
        triangles = triangles
            .into_iter()
            .flat_map(|[a, b, c]| {
                let [ab, bc, ca] = [a + b, b + c, c + a].map(Vec3::normalize);
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    soup(triangles.into_iter().map(|t| t.map(|p| p * radius)))
}

/// Triangles that share no vertex; repairing welds them.
fn soup(triangles: impl Iterator<Item = [Vec3; 3]>) -> TriMesh {
    let positions: Vec<Vec3> = triangles.flatten().collect();
    let triangles = (0..positions.len() as u32 / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    TriMesh { positions, triangles }
}

/// A box without a lid, one skin.
fn tray(cells: usize) -> TriMesh {
    let mut mesh = primitives::cuboid(Vec3::new(0.2, 0.15, 0.04), [cells, cells, cells]);
    let top = mesh.bounds().map_or(0.0, |[_, high]| high.z) - 1e-9;
    let positions = mesh.positions.clone();
    mesh.triangles.retain(|t| t.iter().any(|&v| positions[v as usize].z < top));
    mesh.drop_unused_vertices();
    mesh
}

fn moebius(around: usize, across: usize) -> TriMesh {
    let at = |i: usize, j: usize| {
        let angle = TAU * i as f64 / around as f64;
        let off = 0.04 * (j as f64 / across as f64 - 0.5);
        let r = 0.08 + off * (0.5 * angle).cos();
        Vec3::new(r * angle.cos(), r * angle.sin(), off * (0.5 * angle).sin())
    };
    let quads = (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    soup(quads.flat_map(|(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    }))
}

/// Two plates through each other that share no vertex.
fn crossed_plates(cells: usize) -> TriMesh {
    let mut mesh = primitives::plate(0.2, 0.1, cells, cells);
    let mut other = mesh.clone();
    other.positions.iter_mut().for_each(|p| *p = Vec3::new(p.x, p.z + 0.013, p.y));
    mesh.append(&other);
    mesh
}

fn tetrahedron(edge: f64) -> TriMesh {
    let positions = vec![Vec3::ZERO, Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.0, 0.1, 0.0), Vec3::new(0.0, 0.0, 0.1)];
    let mut mesh = TriMesh { positions, triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] };
    mesh.refine(edge, 3000);
    mesh
}
