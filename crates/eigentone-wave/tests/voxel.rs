//! Cells against brute force, and the promise that closed surfaces stay closed.

use eigentone_core::{
    Noise, TriMesh, Vec3,
    acoustics::{Bounds, Lattice, MaterialMesh},
    mesh::primitives,
};
use eigentone_wave::voxel::{
    self, DIRECTIONS, LatticeError, SceneError, Side, Voxels, check, checked_len, lattice_around, lost_passages,
};
use glam::DQuat;

struct Random(Noise);

impl Random {
    fn new(seed: u64) -> Self {
        Self(Noise::new(seed))
    }

    fn range(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.0.uniform()
    }

    fn point(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.range(-size, size), self.range(-size, size), self.range(-size, size))
    }
}

fn cube_of(size: u32, step_m: f64) -> Lattice {
    Lattice { origin: Vec3::splat(-0.5 * f64::from(size) * step_m), step_m, size: [size; 3] }
}

fn all(lattice: Lattice) -> impl Iterator<Item = [i64; 3]> {
    let [nx, ny, nz] = lattice.size.map(i64::from);
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}

fn step(at: [i64; 3], direction: usize) -> [i64; 3] {
    std::array::from_fn(|axis| at[axis] + DIRECTIONS[direction][axis])
}

/// Where a segment meets a triangle, as a share of its length (Möller & Trumbore 1997): independent of the code under test.
fn meets(from: Vec3, to: Vec3, [a, b, c]: [Vec3; 3]) -> Option<f64> {
    let (d, e1, e2) = (to - from, b - a, c - a);
    let p = d.cross(e2);
    let det = e1.dot(p);
    if det == 0.0 {
        return None;
    }
    let s = from - a;
    let u = s.dot(p) / det;
    let q = s.cross(e1);
    let v = d.dot(q) / det;
    let t = e2.dot(q) / det;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&t)).then_some(t)
}

fn soup(random: &mut Random, count: u32, size: f64) -> TriMesh {
    let positions = (0..3 * count).map(|_| random.point(size)).collect();
    TriMesh { positions, triangles: (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect() }
}

/// Every crossed line between centres has a solid end, every solid cell ends a crossed line, and none could be left out.
#[test]
fn cells_are_what_segments_between_centres_say() {
    for (seed, side) in (0..12).flat_map(|seed| [(seed, Side::Behind), (seed, Side::Nearest)]) {
        let mut random = Random::new(seed);
        let mesh = soup(&mut random, 1 + seed as u32, 1.6);
        let lattice = cube_of(14, 0.22);
        let voxels = Voxels::with_side(&MaterialMesh::of(mesh.clone(), "x"), lattice, side);
        let mut solid = 0;
        for at in all(lattice) {
            let from = lattice.centre(at);
            let lines: Vec<(usize, f64)> = (0..6)
                .flat_map(|d| {
                    let to = lattice.centre(step(at, d));
                    let hits =
                        (0..mesh.triangles.len()).filter_map(|t| meets(from, to, mesh.corners(t))).collect::<Vec<_>>();
                    hits.into_iter().map(move |t| (d, t))
                })
                .collect();
            for &(d, _) in &lines {
                let inside = lattice.index(step(at, d)).is_some();
                assert!(!inside || voxels.is_solid(at) || voxels.is_solid(step(at, d)), "a leak at {at:?}");
            }
            if voxels.is_solid(at) {
                solid += 1;
                assert!(!lines.is_empty(), "{at:?} touches nothing");
                if side == Side::Nearest {
                    assert!(lines.iter().any(|l| l.1 <= 0.5 + 1e-6), "{at:?}: the central cross is not touched");
                }
                assert!(lines.iter().any(|l| !voxels.is_solid(step(at, l.0))), "{at:?} could be left out");
            }
        }
        assert!(solid > 10, "the test sees something");
    }
}

/// Nothing goes from outside in: for any closed mesh, orientation, size of cells and offset.
#[test]
fn closed_meshes_hold_tight() {
    let mut random = Random::new(7);
    let shapes = [
        primitives::cuboid(Vec3::new(2.0, 1.4, 1.0), [1; 3]),
        primitives::cuboid(Vec3::new(2.0, 1.4, 1.0), [7, 5, 3]),
        primitives::sphere(0.9, 24, 13),
        primitives::sphere(0.9, 5, 4),
    ];
    for round in 0..40 {
        let mut mesh = shapes[round % shapes.len()].clone();
        let turn = match round % 5 {
            0 => DQuat::IDENTITY,
            1 => DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4),
            // Edge-on to rounding.
            2 => DQuat::from_rotation_z(1e-15) * DQuat::from_rotation_x(3e-13),
            _ => DQuat::from_scaled_axis(random.point(2.0)),
        };
        // Corners and faces on centres and borders of cells, and anywhere.
        let shift = if round % 3 == 0 { Vec3::ZERO } else { random.point(0.2) };
        mesh.transform(turn, shift);
        let flipped =
            TriMesh { triangles: mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(), ..mesh.clone() };
        for cell in [0.05, 0.1, 0.2, 0.137, 0.25] {
            for (mesh, side) in [(&mesh, Side::Behind), (&flipped, Side::Behind), (&mesh, Side::Nearest)] {
                let lattice = cube_of((3.6 / cell) as u32, cell);
                let voxels = Voxels::with_side(&MaterialMesh::of(mesh.clone(), "x"), lattice, side);
                let outside = voxels.reachable([0; 3]);
                assert!(outside.count() > 0);
                let middle = lattice.cube(shift);
                assert!(!voxels.is_solid(middle), "hollow");
                assert!(!outside.get(lattice.index(middle).unwrap()), "round {round}, cell {cell}, {side:?}");
            }
        }
    }
}

/// Any orientation of each triangle for itself, too: what is behind changes, what is separated does not.
#[test]
fn mixed_orientations_hold_tight() {
    let mut random = Random::new(3);
    for round in 0..10 {
        let mut mesh = primitives::sphere(0.9, 40, 21);
        mesh.transform(DQuat::from_scaled_axis(random.point(2.0)), random.point(0.1));
        mesh.triangles.iter_mut().enumerate().filter(|(t, _)| (t * 7 + round) % 3 == 0).for_each(|(_, t)| t.swap(1, 2));
        for cell in [0.06, 0.11, 0.2] {
            let lattice = cube_of((3.0 / cell) as u32, cell);
            let voxels = Voxels::new(&MaterialMesh::of(mesh.clone(), "x"), lattice);
            let outside = voxels.reachable([0; 3]);
            assert!(!outside.get(lattice.index(lattice.cube(Vec3::ZERO)).unwrap()), "round {round}, cell {cell}");
        }
    }
}

fn block(min: [f64; 3], max: [f64; 3]) -> TriMesh {
    let (min, max) = (Vec3::from_array(min), Vec3::from_array(max));
    let mut mesh = primitives::cuboid(max - min, [1; 3]);
    mesh.transform(DQuat::IDENTITY, 0.5 * (min + max));
    mesh
}

/// A body that faces outwards takes the cells whose centre is in it (those that touch air, at least): no bias of its size.
#[test]
fn a_solid_takes_the_cells_whose_centres_are_in_it() {
    let mut random = Random::new(11);
    for _ in 0..20 {
        let (lo, hi) = (random.point(0.3) - 0.6, random.point(0.3) + 0.6);
        let voxels = Voxels::new(&MaterialMesh::of(block(lo.to_array(), hi.to_array()), "x"), cube_of(16, 0.2));
        let body = Bounds { min: lo, max: hi };
        let outside = voxels.reachable([0; 3]);
        for at in all(voxels.lattice) {
            let reached = outside.get(voxels.lattice.index(at).unwrap());
            assert_eq!(reached, !body.contains(voxels.lattice.centre(at)), "{at:?}");
        }
    }
}

#[test]
fn a_thin_wall_is_one_cell_thick_wherever_it_lies() {
    for thick in [0.0, 0.02, 0.2, 0.254] {
        for k in 0..21 {
            let x = 0.0511 * f64::from(k);
            let wall = if thick == 0.0 {
                let positions = [[-9., -9.], [9., -9.], [9., 9.], [-9., 9.]].map(|[y, z]| Vec3::new(x, y, z)).to_vec();
                TriMesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]] }
            } else {
                block([x, -9.0, -9.0], [x + thick, 9.0, 9.0])
            };
            for side in [Side::Behind, Side::Nearest] {
                let voxels = Voxels::with_side(&MaterialMesh::of(wall.clone(), "x"), cube_of(12, 0.255), side);
                assert_eq!(voxels.solid.count(), 144, "{thick} m at {x}, {side:?}");
                let outside = voxels.reachable([0; 3]);
                assert!(outside.count() < 12 * 144 - 144, "tight");
            }
        }
    }
}

/// A doorway keeps its width to within a cell wherever it lies.
#[test]
fn a_door_stays_open() {
    for (step_m, k) in (0..40).flat_map(|k| [(0.255, k), (0.51, k)]) {
        let (x, y) = (0.0137 * f64::from(k), 0.031 * f64::from(k));
        let mut wall = block([-9.0, y, -9.0], [x, y + 0.2, 9.0]);
        wall.append(&block([x + 0.9, y, -9.0], [9.0, y + 0.2, 9.0]));
        let voxels = Voxels::new(&MaterialMesh::of(wall, "x"), cube_of(16, step_m));
        let lattice = voxels.lattice;
        // Rows through the wall: columns that are open all the way.
        let open = (0..16).filter(|&i| (0..16).all(|j| !voxels.is_solid([i, j, 8]))).count();
        let exact = 0.9 / step_m;
        assert!((open as f64 - exact).abs() < 1.0 && open > 0, "{open} cells of {exact} at {x} {y}");
        let reached = voxels.reachable([0, 0, 0]);
        assert!(reached.get(lattice.index([0, 15, 0]).unwrap()));
    }
}

#[test]
fn sides_of_a_wall_have_their_own_materials() {
    for k in 0..16 {
        let x = 0.033 * f64::from(k);
        let mut wall = block([x, -9.0, -9.0], [x + 0.2, 9.0, 9.0]);
        let mut scene = MaterialMesh::of(wall.clone(), "edge");
        scene.names.extend(["brick".to_owned(), "drywall".to_owned()]);
        for t in 0..wall.triangles.len() {
            let n = wall.area_normal(t).normalize();
            scene.of_triangle[t] = if n.x < -0.5 {
                1
            } else if n.x > 0.5 {
                2
            } else {
                0
            };
        }
        let voxels = Voxels::new(&scene, cube_of(12, 0.255));
        for at in all(voxels.lattice).filter(|&at| voxels.is_solid(at)) {
            assert_eq!(voxels.material(at, 0), Some(1), "from −x at {x}");
            assert_eq!(voxels.material(at, 1), Some(2), "from +x at {x}");
        }
        assert_eq!(voxels.material([0; 3], 0), None);
        assert_eq!(voxels.material([-1; 3], 0), None);
        // A sheet looks the same from both sides, whichever way it faces.
        let (front, positions) = (wall.bounds().unwrap()[0].x, wall.positions.clone());
        wall.triangles.retain(|t| t.iter().all(|&v| positions[v as usize].x == front));
        let voxels = Voxels::new(&MaterialMesh::of(wall, "brick"), cube_of(12, 0.255));
        for at in all(voxels.lattice).filter(|&at| voxels.is_solid(at)) {
            assert_eq!([voxels.material(at, 0), voxels.material(at, 1)], [Some(0); 2]);
        }
    }
}

/// Of several materials the one with the larger area is taken.
#[test]
fn the_larger_area_decides_on_the_material() {
    let mut scene = MaterialMesh::of(block([-9.0, -9.0, -2.0], [9.0, 9.0, 0.0]), "concrete");
    // Squares of 0.07 m with carpet on every cell of 0.255 m, a hair above the floor: less than half.
    let mut carpet = TriMesh::default();
    for at in 0..144 {
        let at = Vec3::new(f64::from(at % 12 - 6), f64::from(at / 12 - 6), 0.0) * 0.255;
        carpet.append(&block((at + 0.05).with_z(0.0005).to_array(), (at + 0.12).with_z(0.001).to_array()));
    }
    scene.append(&MaterialMesh::of(carpet, "carpet"));
    let lattice = Lattice { origin: Vec3::splat(-6.0 * 0.255) + Vec3::Z * 0.05, step_m: 0.255, size: [12; 3] };
    let voxels = Voxels::new(&scene, lattice);
    let top = all(lattice).filter(|&at| voxels.is_solid(at) && !voxels.is_solid(step(at, 5)));
    assert_eq!(top.filter(|&at| voxels.material(at, 5) == Some(0)).count(), 144);
}

/// Two rooms with a gap between them that is half a cell wide.
#[test]
fn a_lost_passage_is_found_where_it_is() {
    let gap = |width: f64| {
        let mut mesh = TriMesh::default();
        // The wall between stands at x = 0, the gap at y = 0.6.
        for (lo, hi) in [
            ([-3.3, -3.3, -3.3], [3.3, 3.3, -3.0]),
            ([-3.3, -3.3, 3.0], [3.3, 3.3, 3.3]),
            ([-3.3, -3.3, -3.3], [3.3, -3.0, 3.3]),
            ([-3.3, 3.0, -3.3], [3.3, 3.3, 3.3]),
            ([-3.3, -3.3, -3.3], [-3.0, 3.3, 3.3]),
            ([3.0, -3.3, -3.3], [3.3, 3.3, 3.3]),
            ([0.0, -3.1, -3.1], [0.6, 0.6 - 0.5 * width, 3.1]),
            ([0.0, 0.6 + 0.5 * width, -3.1], [0.6, 3.1, 3.1]),
        ] {
            mesh.append(&block(lo, hi));
        }
        MaterialMesh::of(mesh, "x")
    };
    let from = [Vec3::new(-1.5, 0.0, 0.0)];
    let lattice = cube_of(24, 0.3);
    let reaches = |scene: &MaterialMesh| {
        let voxels = Voxels::new(scene, lattice);
        let reached = voxels.reachable(lattice.cube(from[0]));
        (reached.get(lattice.index(lattice.cube(Vec3::new(1.5, 0.0, 0.0))).unwrap()), voxels)
    };
    let scene = gap(0.2);
    let (open, voxels) = reaches(&scene);
    assert!(!open, "the gap lies between centres of cells");
    let lost = lost_passages(&scene, &voxels, &from);
    assert!(!lost.is_empty() && lost.len() <= 2, "{lost:?}");
    for p in lost {
        assert!((p.y - 0.6).abs() < 0.3 && (-0.3..0.9).contains(&p.x), "{p}");
    }
    for (width, opens) in [(0.7, true), (0.0, false)] {
        let scene = gap(width);
        let (open, voxels) = reaches(&scene);
        assert_eq!(open, opens);
        assert!(lost_passages(&scene, &voxels, &from).is_empty());
    }
}

#[test]
fn ground_covers_all_cells() {
    let lattice = cube_of(10, 0.3);
    let voxels = Voxels::new(&voxel::ground(&lattice.bounds(), -0.7, "grass"), lattice);
    assert_eq!(voxels.solid.count(), 100);
    assert!(voxels.reachable([0, 0, 9]).count() < 900);
}

#[test]
fn bad_scenes_are_named_and_do_no_harm() {
    let good = block([-0.5; 3], [0.5; 3]);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let mut scene = MaterialMesh::of(good.clone(), "x");
        scene.mesh.positions[3].y = bad;
        match check(&scene) {
            Err(SceneError::Vertex { vertex: 3, .. }) => {}
            Ok(()) => assert_eq!(bad, 1e300),
            other => panic!("{other:?}"),
        }
        Voxels::new(&scene, cube_of(8, 0.2));
    }
    let mut scene = MaterialMesh::of(good.clone(), "x");
    scene.mesh.triangles[4][1] = 99;
    assert!(matches!(check(&scene), Err(SceneError::Triangle { triangle: 4, found: 99, .. })));
    Voxels::new(&scene, cube_of(8, 0.2));
    let mut scene = MaterialMesh::of(good.clone(), "x");
    scene.of_triangle[2] = 5;
    assert!(matches!(check(&scene), Err(SceneError::Material { triangle: 2, found: 5, count: 1 })));
    scene.of_triangle.pop();
    assert!(matches!(check(&scene), Err(SceneError::Materials { .. })));
    assert!(matches!(check(&MaterialMesh::default()), Err(SceneError::Empty)));
    // Triangles without area: a point, a needle, and a line.
    let p = Vec3::splat(0.05);
    let needles = TriMesh {
        positions: vec![p, p + Vec3::X, p + 2.0 * Vec3::X],
        triangles: vec![[0, 0, 0], [0, 1, 1], [0, 1, 2]],
    };
    let voxels = Voxels::new(&MaterialMesh::of(needles, "x"), cube_of(8, 0.1));
    assert_eq!(voxels.solid.count(), 0);
    assert_eq!(Voxels::new(&MaterialMesh::of(good, "x"), Lattice { size: [0; 3], ..cube_of(1, 1.0) }).solid.len(), 0);
}

#[test]
fn huge_lattices_are_refused_before_anything_is_allocated() {
    let huge = Lattice { size: [u32::MAX; 3], ..cube_of(1, 1.0) };
    assert_eq!(checked_len(&huge), None);
    let bounds = |side: f64| Bounds { min: Vec3::ZERO, max: Vec3::splat(side) };
    for side in [1e4, 1e9, 1e30, 1e300] {
        let error = lattice_around(&bounds(side), 0.255, 10, 1 << 30).expect_err("too large");
        assert!(matches!(error, LatticeError::TooLarge { .. }), "{error}");
    }
    assert!(matches!(lattice_around(&bounds(f64::NAN), 0.2, 1, 9), Err(LatticeError::Bounds { .. })));
    assert!(matches!(lattice_around(&bounds(f64::INFINITY), 0.2, 1, 9), Err(LatticeError::Bounds { .. })));
    for step_m in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(lattice_around(&bounds(1.0), step_m, 1, 9), Err(LatticeError::Step { .. })));
    }
    let fits = lattice_around(&bounds(2.55), 0.255, 2, 1 << 20).expect("small");
    assert_eq!(fits.size, [14; 3]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut random = Random::new(5);
    let mut scene = MaterialMesh::of(soup(&mut random, 3000, 2.0), "a");
    scene.append(&MaterialMesh::of(soup(&mut random, 3000, 2.0), "b"));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| Voxels::new(&scene, cube_of(30, 0.1)))
    };
    assert!(with(1) == with(4));
}

/// A carpet on a floor, both within one cell: sound meets the carpet, whichever comes first in the file.
#[test]
fn the_outermost_of_materials_in_one_cell_counts() {
    for carpet_first in [false, true] {
        let slab = |top: f64, bottom: f64, name: &str| {
            let size = Vec3::new(4.0, 4.0, top - bottom);
            let mut mesh = eigentone_core::mesh::primitives::cuboid(size, [1; 3]);
            mesh.positions.iter_mut().for_each(|p| p.z += 0.5 * (top + bottom));
            MaterialMesh::of(mesh, name)
        };
        let (floor, carpet) = (slab(0.1, -0.9, "concrete"), slab(0.2, 0.1, "carpet"));
        let mut scene = if carpet_first { carpet.clone() } else { floor.clone() };
        scene.append(if carpet_first { &floor } else { &carpet });
        let lattice = Lattice { origin: Vec3::splat(-3.0), step_m: 0.5, size: [12; 3] };
        let voxels = Voxels::new(&scene, lattice);
        let cell = voxels.lattice.cube(Vec3::new(0.2, 0.2, 0.15));
        let cell = if voxels.is_solid(cell) { cell } else { [cell[0], cell[1], cell[2] - 1] };
        let material = voxels.material(cell, 5).map(|m| scene.names[usize::from(m)].clone());
        assert_eq!(material.as_deref(), Some("carpet"), "carpet first: {carpet_first}");
    }
}
