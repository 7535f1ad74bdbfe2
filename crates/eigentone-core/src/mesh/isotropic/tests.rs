use super::web::quality;
use super::*;
use crate::Vec3;
use crate::mesh::primitives;
use crate::mesh::repair::MeshError;
use proptest::prelude::*;

fn remesh(mesh: &TriMesh, edge_m: f64) -> Remeshed {
    mesh.remesh_isotropic(&RemeshSettings { edge_m, ..Default::default() })
}

/// Worst and mean quality.
fn qualities(mesh: &TriMesh) -> [f64; 2] {
    let all: Vec<f64> = (0..mesh.triangles.len()).map(|t| quality(mesh.corners(t))).collect();
    [all.iter().copied().fold(1.0, f64::min), all.iter().sum::<f64>() / all.len() as f64]
}

/// Greatest distance of a vertex or triangle middle of `a` from `b`.
fn distance(a: &TriMesh, b: &TriMesh) -> f64 {
    let tree = NearestTree::new(b.clone());
    let middles = (0..a.triangles.len()).map(|t| a.corners(t).into_iter().sum::<Vec3>() / 3.0);
    a.positions.iter().copied().chain(middles).map(|p| tree.nearest(p).unwrap().distance).fold(0.0, f64::max)
}

/// Vertices − edges + triangles, border loops, components.
fn topology(mesh: &TriMesh) -> (i64, usize, usize) {
    let report = mesh.report();
    let euler = report.vertices as i64 - mesh.edges().len() as i64 + report.triangles as i64;
    (euler, report.holes, report.components)
}

fn fan_sphere(radius: f64, along: usize) -> TriMesh {
    primitives::sphere(radius, 96, along)
}

#[test]
fn bad_meshes_become_even_and_keep_their_area_shape_and_topology() {
    let cases = [
        ("tube 96×1", primitives::cylinder(0.03, 0.12, 96, 1, false), 5.5e-3),
        ("tube 32×1", primitives::cylinder(0.03, 0.12, 32, 1, false), 5.5e-3),
        ("fan hemisphere 96×8", primitives::bowl(0.06, 96, 8), 6e-3),
        ("box of 12", primitives::cuboid(Vec3::new(0.098, 0.068, 0.048), [1, 1, 1]), 5.5e-3),
        ("UV sphere", fan_sphere(0.05, 48), 5e-3),
        ("dense sphere", primitives::sphere(0.05, 140, 72), 5e-3),
        ("capped tube", primitives::cylinder(0.03, 0.12, 96, 1, true), 5.5e-3),
        ("ring", primitives::ring(0.05, 0.015, 64, 24), 3e-3),
    ];
    for (name, mesh, edge) in cases {
        let even = remesh(&mesh, edge);
        let [worst, mean] = qualities(&even.mesh);
        let vertices = even.mesh.positions.len();
        let off = distance(&even.mesh, &mesh).max(distance(&mesh, &even.mesh));
        println!("{name}: {vertices} vertices, quality {worst:.2} {mean:.3}, off {:.3} mm", 1e3 * off);
        assert!(worst > 0.4 && mean > 0.9, "{name}: quality {worst} {mean}");
        assert!((even.mesh.area() / mesh.area() - 1.0).abs() < 0.01, "{name}: area {}", even.mesh.area() / mesh.area());
        assert!(off < 0.1 * edge, "{name}: {off} m from the input");
        assert_eq!(topology(&even.mesh), topology(&mesh), "{name}");
        assert_eq!(even.edge_m, edge);
        if mesh.report().watertight {
            let ratio = even.mesh.signed_volume() / mesh.signed_volume();
            assert!((ratio - 1.0).abs() < 0.01, "{name}: volume {ratio}");
            assert!(even.mesh.report().watertight, "{name}");
        }
    }
}

#[test]
fn edges_of_a_box_stay_straight_and_its_corners_in_place() {
    let size = Vec3::new(0.1, 0.07, 0.05);
    let mesh = primitives::cuboid(size, [1, 1, 1]);
    let even = remesh(&mesh, 4e-3).mesh;
    assert!((even.signed_volume() / mesh.signed_volume() - 1.0).abs() < 1e-9);
    assert!((even.area() / mesh.area() - 1.0).abs() < 1e-9);
    for corner in &mesh.positions {
        assert!(even.positions.iter().any(|p| p.distance(*corner) < 1e-12), "{corner}");
    }
}

#[test]
fn a_rim_stays_a_rim() {
    let tube = primitives::cylinder(0.03, 0.12, 96, 1, false);
    let even = remesh(&tube, 5e-3).mesh;
    for (edge, sharing) in even.edges() {
        if sharing.len() == 1 {
            let [a, b] = edge.map(|v| even.positions[v as usize]);
            assert!((a.z.abs() - 0.06).abs() < 1e-12 && (a.z - b.z).abs() < 1e-12, "{a} {b}");
            assert!((a.truncate().length() - 0.03).abs() < 1e-4);
        }
    }
}

#[test]
fn values_are_carried_to_where_they_were() {
    let mesh = primitives::cuboid(Vec3::new(0.1, 0.07, 0.05), [1, 1, 1]);
    let even = remesh(&mesh, 8e-3);
    let normals: Vec<Vec3> = (0..12).map(|t| mesh.area_normal(t).normalize()).collect();
    for (t, n) in even.carry(&normals).into_iter().enumerate() {
        assert!(even.mesh.area_normal(t).normalize().dot(n) > 0.999);
    }
}

#[test]
fn there_are_never_more_vertices_than_allowed() {
    for mesh in
        [fan_sphere(0.1, 60), primitives::cylinder(0.03, 0.12, 2000, 1, false), primitives::plate(1.0, 1.0, 2, 2)]
    {
        for max_vertices in [50, 300, 1000] {
            let settings = RemeshSettings { edge_m: 1e-3, max_vertices, ..Default::default() };
            let even = mesh.remesh_isotropic(&settings);
            let count = even.mesh.positions.len();
            assert!(count <= max_vertices && 2 * count > max_vertices, "{count} of {max_vertices}");
            assert!(even.edge_m > 1e-3);
        }
    }
}

#[test]
fn a_fin_stays_a_fin_and_touching_bodies_stay_two() {
    let mut fin = primitives::plate(0.1, 0.1, 2, 2);
    fin.positions.extend([Vec3::new(-0.05, -0.05, 0.05), Vec3::new(0.05, 0.05, 0.05)]);
    let diagonal = fin.edges().into_iter().find(|(_, t)| t.len() == 2).unwrap().0;
    fin.triangles.extend([[diagonal[0], diagonal[1], 4], [diagonal[1], 5, 4]]);
    let even = remesh(&fin, 8e-3).mesh;
    assert!(even.report().nonmanifold_edges > 5);
    assert!((even.area() / fin.area() - 1.0).abs() < 1e-6);
    let mut pair = primitives::cuboid(Vec3::splat(0.1), [1, 1, 1]);
    let mut other = pair.clone();
    other.positions.iter_mut().for_each(|p| *p += Vec3::splat(0.1));
    pair.append(&other);
    pair.repair().unwrap();
    let even = remesh(&pair, 0.02).mesh;
    assert!((even.signed_volume() / 0.002 - 1.0).abs() < 1e-9);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let mesh = primitives::sphere(0.05, 60, 31);
    assert_eq!(remesh(&mesh, 6e-3), remesh(&mesh, 6e-3));
}

#[test]
fn nothing_and_nonsense_are_given_back() {
    assert!(remesh(&TriMesh::default(), 1e-3).mesh.triangles.is_empty());
    let plate = primitives::plate(1.0, 1.0, 3, 3);
    for edge_m in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
        let even = plate.remesh_isotropic(&RemeshSettings { edge_m, max_vertices: 200, ..Default::default() });
        assert!(even.mesh.positions.iter().all(|p| p.is_finite()));
    }
}

fn soup() -> impl Strategy<Value = TriMesh> {
    let point = prop_oneof![
        (0u8..4, 0u8..4, 0u8..4).prop_map(|(x, y, z)| Vec3::new(x.into(), y.into(), z.into())),
        (-1.0..4.0, -1.0..4.0, -1.0..4.0f64).prop_map(|(x, y, z)| Vec3::new(x, y, z)),
    ];
    let triangles = proptest::collection::vec((0u32..20, 0u32..20, 0u32..20), 1..40);
    (proptest::collection::vec(point, 20), triangles).prop_map(|(positions, triangles)| TriMesh {
        positions,
        triangles: triangles.into_iter().map(|(a, b, c)| [a, b, c]).collect(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_soup_survives(mut mesh in soup(), edge in 0.05..3.0f64) {
        match mesh.repair() {
            Err(MeshError::Empty) => return Ok(()),
            other => prop_assert!(other.is_ok()),
        }
        let even = mesh.remesh_isotropic(&RemeshSettings { edge_m: edge, max_vertices: 2000, ..Default::default() });
        prop_assert!(even.mesh.check().is_ok());
        prop_assert_eq!(even.source.len(), even.mesh.triangles.len());
        for t in 0..even.mesh.triangles.len() {
            let [a, b, c] = even.mesh.triangles[t];
            prop_assert!(a != b && b != c && c != a);
            prop_assert!(even.mesh.triangle_area(t) > 0.0);
        }
        prop_assert_eq!(even.mesh.components().1, mesh.components().1);
    }

    #[test]
    fn a_crumpled_surface_keeps_its_topology(
        kind in 0usize..4, seed in 0u64..1000, noise in 0.0..0.3f64, edge in 0.1..0.6f64,
    ) {
        let mut mesh = match kind {
            0 => primitives::sphere(1.0, 24, 12),
            1 => primitives::ring(1.0, 0.4, 24, 10),
            2 => primitives::cylinder(0.5, 2.0, 24, 3, false),
            _ => primitives::plate(2.0, 1.5, 12, 9),
        };
        let mut random = crate::Noise::new(seed);
        for p in &mut mesh.positions {
            *p += 0.3 * noise * Vec3::new(random.bipolar(), random.bipolar(), random.bipolar());
        }
        mesh.repair().unwrap();
        let even = mesh.remesh_isotropic(&RemeshSettings { edge_m: edge, ..Default::default() }).mesh;
        prop_assert_eq!(topology(&even), topology(&mesh));
        prop_assert_eq!(even.report().nonmanifold_edges, 0);
        prop_assert!(even.positions.iter().all(|p| p.is_finite()));
    }
}
