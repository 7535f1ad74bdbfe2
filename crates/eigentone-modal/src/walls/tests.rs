use super::*;
use eigentone_core::mesh::{primitives, thickened};
use eigentone_core::{MaterialTable, Vec3};

fn material(name: &str) -> Material {
    MaterialTable::builtin().get(name).unwrap().clone()
}

fn middle_of(mesh: &TriMesh, edge_m: f64) -> Result<MiddleSurface, NotWalls> {
    let settings = WallSettings { edge_m: Some(edge_m), ..Default::default() };
    middle_surface(mesh, &material("steel"), &settings)
}

/// Area and thickness as they should be, and the mass exactly.
fn expect(name: &str, mesh: &TriMesh, edge_m: f64, area_m2: f64, thickness_m: f64, holes: usize) -> MiddleSurface {
    let surface = middle_of(mesh, edge_m).unwrap_or_else(|e| panic!("{name}: {e}"));
    let report = surface.mesh.report();
    println!(
        "{name}: {} vertices, area {:.4}, t {:.3} mm, mass {:.4}, walls {:.2}, rods {:.2}, holes {}",
        report.vertices,
        report.area_m2 / area_m2,
        1e3 * surface.median_m,
        surface.measured_volume_ratio,
        surface.wall_share,
        surface.rod_share,
        report.holes
    );
    assert!((report.area_m2 / area_m2 - 1.0).abs() < 0.01, "{name}: area {}", report.area_m2 / area_m2);
    assert!((surface.median_m / thickness_m - 1.0).abs() < 0.01, "{name}: {} m", surface.median_m);
    assert!((surface.measured_volume_ratio - 1.0).abs() < 0.01, "{name}: mass {}", surface.measured_volume_ratio);
    assert!((surface.volume() / mesh.signed_volume().abs() - 1.0).abs() < 1e-9, "{name}");
    assert_eq!((report.holes, report.components), (holes, 1), "{name}");
    assert_eq!(report.nonmanifold_edges + report.misoriented_edges, 0, "{name}");
    let count = surface.mesh.triangles.len();
    assert_eq!((surface.thickness_m.len(), surface.stiffness.len()), (count, count));
    surface
}

fn nested_boxes(size: Vec3, wall: f64) -> TriMesh {
    let mut hollow = primitives::cuboid(size, [1, 1, 1]);
    let mut cavity = primitives::cuboid(size - Vec3::splat(2.0 * wall), [1, 1, 1]);
    cavity.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    hollow.append(&cavity);
    hollow
}

/// A cup by turning: base, outer wall, rim, inner wall, inner base; fans at both poles.
fn cup(radius: f64, height: f64, wall: f64, around: usize) -> TriMesh {
    let inner = radius - wall;
    primitives::revolve(
        &[[0.0, 0.0], [radius, 0.0], [radius, height], [inner, height], [inner, wall], [0.0, wall]],
        around,
    )
}

#[test]
fn a_hollow_box_of_two_times_twelve_triangles_becomes_the_box_between() {
    let (size, wall) = (Vec3::new(0.1, 0.07, 0.05), 2e-3);
    let m = size - Vec3::splat(wall);
    let area = 2.0 * (m.x * m.y + m.y * m.z + m.z * m.x);
    let surface = expect("box", &nested_boxes(size, wall), 5.5e-3, area, wall, 0);
    let [low, high] = surface.mesh.bounds().unwrap();
    assert!(((high - low) - m).abs().max_element() < 2e-5, "{}", high - low);
    assert!(surface.thickness_m.iter().all(|t| (t / wall - 1.0).abs() < 0.01));
    // The strip of t/2 on both sides of twelve edges, as the formula has it.
    let strip = 2.0 * 4.0 * (m.x + m.y + m.z) * 0.5 * wall;
    let softer = 1.0 - 1.25f64.powi(-3);
    let found: f64 = surface
        .stiffness
        .iter()
        .enumerate()
        .map(|(t, s)| surface.mesh.triangle_area(t) * (1.0 - s.powi(-3)) / softer)
        .sum();
    assert!((found / strip - 1.0).abs() < 0.1, "{}", found / strip);
}

#[test]
fn a_cup_by_turning_becomes_its_middle_surface() {
    let (radius, height, wall) = (0.036, 0.1, 2e-3);
    // Of the polygon with 96 corners, as its area and volume are compared.
    let (r, sector) = (radius - 0.5 * wall, PI / 96.0);
    let area = 96.0 * (r * r * sector.sin() * sector.cos() + 2.0 * r * sector.sin() * (height - 0.5 * wall));
    let surface = expect("cup", &cup(radius, height, wall, 96), 4e-3, area, wall, 1);
    let [low, high] = surface.mesh.bounds().unwrap();
    assert!((low.z - 0.5 * wall).abs() < 5e-5 && (high.z - height).abs() < 5e-5, "{low} {high}");
    assert!(surface.stiffness.iter().all(|s| (1.0..=1.25 + 1e-9).contains(s)));
    assert!(surface.stiffness.iter().any(|s| *s > 1.05));
}

#[test]
fn bowls_tubes_plates_bells_and_bottles_have_a_middle_surface() {
    let bowl = primitives::bowl(0.06, 96, 24);
    expect("bowl", &thickened(&bowl, 2e-3), 5e-3, bowl.area(), 2e-3, 1);
    let few = primitives::bowl(0.06, 48, 6);
    // Facets of few are nearer to each other than the vertices, which were moved by 2 mm.
    let thick = thickened(&few, 2e-3);
    expect("bowl of few", &thick, 5e-3, few.area(), thick.signed_volume() / few.area(), 1);
    let tube = primitives::cylinder(0.03, 0.12, 96, 1, false);
    expect("tube", &thickened(&tube, 2e-3), 5e-3, tube.area(), 2e-3, 2);
    expect("plate", &primitives::cuboid(Vec3::new(0.3, 0.2, 0.004), [1, 1, 1]), 8e-3, 0.06, 4e-3, 1);
    let bell = primitives::bell(0.1, 0.12, 64, 32);
    expect("bell", &thickened(&bell, 4e-3), 6e-3, bell.area(), 4e-3, 1);
    let bottle = primitives::revolve(
        &[[0.0, 0.0], [0.035, 0.0], [0.035, 0.15], [0.03, 0.17], [0.015, 0.2], [0.0125, 0.22], [0.0125, 0.26]],
        64,
    );
    expect("bottle", &thickened(&bottle, 2.5e-3), 5e-3, bottle.area(), 2.5e-3, 1);
}

#[test]
fn skins_may_be_divided_differently() {
    let (radius, height, wall) = (0.03, 0.12, 2e-3);
    let outer = primitives::cylinder(radius + 0.5 * wall, height, 96, 1, false);
    let mut inner = primitives::cylinder(radius - 0.5 * wall, height, 32, 4, false);
    inner.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    // Rings that join 96 with 32 points: three triangles on the outside for one on the inside.
    let mut mesh = outer.clone();
    mesh.append(&inner);
    for z in [-0.5 * height, 0.5 * height] {
        let find = |r: f64, k: usize, n: usize| {
            let (s, c) = (2.0 * PI * k as f64 / n as f64).sin_cos();
            let p = Vec3::new(r * c, r * s, z);
            (0..mesh.positions.len() as u32).find(|&v| mesh.positions[v as usize].distance(p) < 1e-9).unwrap()
        };
        let mut ring = Vec::new();
        for k in 0..32 {
            let i = [k, k + 1].map(|k| find(radius - 0.5 * wall, k % 32, 32));
            let o = [3 * k, 3 * k + 1, 3 * k + 2, 3 * k + 3].map(|k| find(radius + 0.5 * wall, k % 96, 96));
            ring.extend([[i[0], o[0], o[1]], [i[0], o[1], o[2]], [i[0], o[2], i[1]], [i[1], o[2], o[3]]]);
        }
        if z < 0.0 {
            ring.iter_mut().for_each(|t| t.swap(0, 1));
        }
        mesh.triangles.extend(ring);
    }
    assert!(mesh.report().watertight);
    let surface = middle_of(&mesh, 5e-3).unwrap();
    assert!((surface.measured_volume_ratio - 1.0).abs() < 0.01, "{}", surface.measured_volume_ratio);
    assert_eq!(surface.mesh.report().holes, 2);
    assert!((surface.mesh.area() / (2.0 * PI * radius * height) - 1.0).abs() < 0.01);
}

/// A round rim leads from the outer to the inner skin without an edge. The middle surface ends where it begins: half a disc
/// of material is missing, `πt/8` of the wall's height, until the thickness is scaled.
#[test]
fn a_round_rim_does_not_join_the_skins() {
    let (radius, height, wall) = (0.036, 0.1, 3e-3);
    let mut profile = vec![[0.0, 0.0], [radius, 0.0], [radius, height]];
    for k in 1..8 {
        let (s, c) = (PI * k as f64 / 8.0).sin_cos();
        profile.push([radius - 0.5 * wall + 0.5 * wall * c, height + 0.5 * wall * s]);
    }
    profile.extend([[radius - wall, height], [radius - wall, wall], [0.0, wall]]);
    let surface = middle_of(&primitives::revolve(&profile, 96), 4e-3).unwrap();
    let missing = 2.0 * PI * (radius - 0.5 * wall) * PI * wall * wall / 8.0;
    let expected = 1.0 - missing / surface.volume_m3;
    assert!((surface.measured_volume_ratio / expected - 1.0).abs() < 0.01, "{}", surface.measured_volume_ratio);
    assert!((surface.volume() / surface.volume_m3 - 1.0).abs() < 1e-9);
    assert_eq!(surface.mesh.report().holes, 1);
    let r = radius - 0.5 * wall;
    let area = PI * r * r + 2.0 * PI * r * (height - 0.5 * wall);
    assert!((surface.mesh.area() / area - 1.0).abs() < 0.02, "{}", surface.mesh.area() / area);
}

/// A wall that grows linearly from 2 mm to 6 mm: thickness where it should be, and the mass.
#[test]
fn a_wall_may_be_three_times_as_thick_at_one_end() {
    let (r, h) = (0.06, 0.15);
    let profile = [[r - 3e-3, 0.0], [r + 3e-3, 0.0], [r + 1e-3, h], [r - 1e-3, h], [r - 3e-3, 0.0]];
    let tube = primitives::revolve(&profile, 96);
    assert!(tube.report().watertight);
    let surface = middle_of(&tube, 6e-3).unwrap();
    assert!((surface.measured_volume_ratio - 1.0).abs() < 0.01, "{}", surface.measured_volume_ratio);
    for (t, thickness) in surface.thickness_m.iter().enumerate() {
        let z = surface.mesh.corners(t).iter().map(|p| p.z).sum::<f64>() / 3.0;
        let exact = 6e-3 - 4e-3 * z / h;
        assert!((thickness / exact - 1.0).abs() < 0.06, "{thickness} at {z}, {exact}");
    }
}

/// A wine glass: bowl and foot are walls, the stem is a rod. Its tube has the mass of the rod.
#[test]
fn a_wine_glass_keeps_its_stem() {
    let profile = [
        [0.0, 0.0],
        [0.03, 0.0],
        [0.03, 0.0025],
        [0.004, 0.0028],
        [0.004, 0.08],
        [0.02, 0.09],
        [0.034, 0.115],
        [0.034, 0.16],
        [0.0315, 0.16],
        [0.0315, 0.1165],
        [0.0185, 0.0925],
        [0.004, 0.0835],
        [0.0, 0.0825],
    ];
    let glass = primitives::revolve(&profile, 64);
    let surface = middle_of(&glass, 4e-3).unwrap();
    println!("glass: mass {:.4}, rods {:.3}", surface.measured_volume_ratio, surface.rod_share);
    assert!(surface.rod_share > 0.05 && surface.rod_share < 0.25, "{}", surface.rod_share);
    assert_eq!(surface.mesh.components().1, 1);
}

/// The surface of the cells of a grid for which `filled` holds.
fn cells(size: f64, count: [i32; 3], filled: impl Fn([i32; 3]) -> bool) -> TriMesh {
    let mut mesh = TriMesh::default();
    for x in 0..count[0] {
        for y in 0..count[1] {
            for z in 0..count[2] {
                for axis in 0..3 {
                    for side in [0, 1] {
                        let mut next = [x, y, z];
                        next[axis] += 2 * side - 1;
                        if !filled([x, y, z]) || filled(next) {
                            continue;
                        }
                        let corner = |u: i32, v: i32| {
                            let mut at = [x, y, z];
                            at[axis] += side;
                            at[(axis + 1) % 3] += u;
                            at[(axis + 2) % 3] += v;
                            size * Vec3::from_array(at.map(f64::from))
                        };
                        let base = mesh.positions.len() as u32;
                        mesh.positions.extend([corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]);
                        let quad = [[base, base + 1, base + 2], [base, base + 2, base + 3]];
                        mesh.triangles.extend(quad.map(|[a, b, c]| if side == 1 { [a, b, c] } else { [a, c, b] }));
                    }
                }
            }
        }
    }
    mesh.repair().unwrap();
    mesh
}

/// A square mug of 2 mm walls with a handle of 6 mm by 6 mm: mass within 3 %, the handle attached.
#[test]
fn a_mug_keeps_its_handle() {
    let inside = |x: i32, low: i32, high: i32| x >= low && x < high;
    let mug = |[x, y, z]: [i32; 3]| {
        let outer = inside(x, 0, 36) && inside(y, 0, 36) && inside(z, 0, 48);
        let hollow = inside(x, 1, 35) && inside(y, 1, 35) && z >= 1;
        outer && !hollow
    };
    let handle = |[x, y, z]: [i32; 3]| {
        let arms = inside(x, 36, 48) && (inside(z, 9, 12) || inside(z, 36, 39));
        inside(y, 16, 19) && (arms || (inside(x, 45, 48) && inside(z, 9, 39)))
    };
    let mesh = cells(2e-3, [50, 40, 50], |at| mug(at) || handle(at));
    assert!(mesh.report().watertight);
    let surface = middle_of(&mesh, 4e-3).unwrap();
    println!("mug: mass {:.4}, rods {:.3}", surface.measured_volume_ratio, surface.rod_share);
    assert!(surface.rod_share > 0.05);
    assert_eq!(surface.mesh.components().1, 1);
    let [low, high] = surface.mesh.bounds().unwrap();
    assert!(low.x < 1.2e-3 && high.x > 0.094, "{low} {high}");
}

#[test]
fn bulk_is_refused_with_a_reason() {
    let l_block = {
        let outline = [[0.0, 0.0], [0.1, 0.0], [0.1, 0.04], [0.04, 0.04], [0.04, 0.1], [0.0, 0.1]];
        let mut mesh = TriMesh::default();
        for z in [0.0, 0.04] {
            mesh.positions.extend(outline.map(|[x, y]| Vec3::new(x, y, z)));
        }
        for k in 0..6u32 {
            let n = (k + 1) % 6;
            mesh.triangles.extend([[k, n, n + 6], [k, n + 6, k + 6]]);
        }
        for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
            mesh.triangles.extend([[a, c, b], [a + 6, b + 6, c + 6]]);
        }
        mesh
    };
    assert!(l_block.report().watertight);
    let cases = [
        ("cube", primitives::cuboid(Vec3::splat(0.1), [1, 1, 1])),
        ("sphere", primitives::sphere(0.05, 64, 32)),
        ("bar", primitives::bar(0.2, 0.02, 0.01)),
        ("L-block", l_block),
        ("rod", primitives::cylinder(0.01, 0.2, 48, 8, true)),
    ];
    for (name, mesh) in cases {
        let refused = middle_of(&mesh, 5e-3).unwrap_err();
        println!("{name}: {refused}");
        assert!(matches!(refused, NotWalls::Kind { kind: BodyKind::Solid, .. }), "{name}: {refused}");
    }
    let open = middle_of(&primitives::bowl(0.1, 48, 12), 5e-3).unwrap_err();
    assert!(matches!(open, NotWalls::Kind { kind: BodyKind::OpenShell, .. }));
    let thick = thickened(&primitives::plate(2.0, 2.0, 9, 9), 0.05);
    assert!(matches!(middle_of(&thick, 0.1).unwrap_err(), NotWalls::Thick { .. }));
}

#[test]
fn limits_of_thin_walls_follow_the_bending_wave() {
    let steel = material("steel");
    let t = thickest_wall_m(&steel, 10_000.0);
    // At the limit the wave is six thicknesses, and an edge an eighth of it.
    assert!((8.0 * edge_for_wall_m(&steel, t, 10_000.0) / t - 6.0).abs() < 1e-9);
}
