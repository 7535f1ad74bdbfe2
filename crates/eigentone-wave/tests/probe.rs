//! Where probes are, and where they are not.

use eigentone_core::{
    TriMesh, Vec3,
    acoustics::{Bounds, MaterialMesh},
    mesh::primitives,
};
use eigentone_wave::{
    probe::{PlaceError, Refusal, Region, Settings, place},
    rooms::{self, Room},
    voxel::{Voxels, lattice_around},
};
use glam::DQuat;

fn cells(scene: &MaterialMesh) -> Voxels {
    let bounds = Bounds::of(scene.mesh.positions.iter().copied()).expect("not empty");
    Voxels::new(scene, lattice_around(&bounds, 0.255, 4, 1 << 26).expect("fits"))
}

fn region(min: [f64; 3], max: [f64; 3]) -> Region {
    Region::Box(Bounds { min: Vec3::from_array(min), max: Vec3::from_array(max) })
}

#[test]
fn probes_of_all_rooms_are_in_their_regions_and_clear_of_walls() {
    for Room { scene, regions, name, spaces } in
        [rooms::apartment(), rooms::abbey(), rooms::deck(), rooms::shoebox(Vec3::new(9.0, 7.0, 3.0), "brick")]
    {
        let voxels = cells(&scene);
        for above_floor_m in [None, Some(1.2)] {
            let settings = Settings { above_floor_m, ..Settings::default() };
            let placed = place(&scene, &voxels, &regions, &settings).expect("probes");
            println!("{name}: {} probes; {}", placed.positions.len(), placed.report);
            assert!(placed.positions.len() > 3, "{name}");
            for &p in &placed.positions {
                assert!(regions.iter().any(|r| r.contains(p)), "{name} {p}");
                assert!(voxels.is_clear(voxels.lattice.cube(p)), "{name} {p}");
            }
            for (space, p) in &spaces {
                let near = placed.positions.iter().map(|q| q.distance(*p)).fold(f64::INFINITY, f64::min);
                assert!(near < 3.0, "{name}: {space} has no probe within {near} m");
            }
            assert_eq!(placed, place(&scene, &voxels, &regions, &settings).expect("again"));
        }
    }
}

#[test]
fn probes_stand_at_their_height_above_floors() {
    let room = rooms::deck();
    let settings = Settings { above_floor_m: Some(1.5), spacing_m: 1.5, ..Settings::default() };
    let voxels = cells(&room.scene);
    let placed = place(&room.scene, &voxels, &room.regions, &settings).expect("probes");
    let lowest = |p: Vec3| {
        placed.positions.iter().filter(|q| (**q - p).truncate().length() < 1.1).map(|q| q.z).fold(9.0, f64::min)
    };
    assert!((lowest(Vec3::new(-12.0, 3.0, 0.0)) - 1.5).abs() < 0.26, "above the meadow");
    assert!(
        (lowest(Vec3::new(0.0, 0.0, 0.0)) - 2.5).abs() < 0.26,
        "above the deck; below it there is no room to stand"
    );
}

#[test]
fn a_wall_moves_probes_and_a_block_drops_them() {
    // One column of the grid is in the middle of a wall, and can move aside; others are in a block too large to leave.
    let mut scene = rooms::shoebox(Vec3::new(9.0, 9.0, 3.0), "brick").scene;
    let mut block = |min: Vec3, max: Vec3| {
        let mut mesh = primitives::cuboid(max - min, [1; 3]);
        mesh.transform(DQuat::IDENTITY, 0.5 * (min + max));
        scene.append(&MaterialMesh::of(mesh, "wood"));
    };
    block(Vec3::new(1.4, 0.5, 0.0), Vec3::new(1.6, 2.5, 3.0));
    block(Vec3::new(5.0, 5.0, 0.0), Vec3::new(9.0, 9.0, 3.0));
    let voxels = cells(&scene);
    let placed = place(&scene, &voxels, &[region([0.0; 3], [9.0, 9.0, 1.6])], &Settings::default()).expect("probes");
    assert_eq!(placed.report.points, 9);
    assert_eq!(placed.report.moved, 1, "{}", placed.report);
    assert_eq!(placed.report.in_geometry + placed.report.sealed, 1, "{}", placed.report);
    assert_eq!(placed.positions.len(), 8);
}

#[test]
fn a_room_drawn_as_a_lone_box_counts_but_a_solid_in_a_room_does_not() {
    let lone = MaterialMesh::of(primitives::cuboid(Vec3::new(8.0, 8.0, 4.0), [1; 3]), "x");
    let voxels = cells(&lone);
    let placed = place(&lone, &voxels, &[], &Settings::default()).expect("a room");
    assert!(placed.positions.len() >= 4 && placed.report.sealed == 0, "{}", placed.report);
    let mut both = rooms::shoebox(Vec3::new(12.0, 12.0, 4.0), "x").scene;
    let mut solid = primitives::cuboid(Vec3::new(5.0, 5.0, 3.0), [1; 3]);
    solid.transform(DQuat::IDENTITY, Vec3::new(6.0, 6.0, 1.7));
    both.append(&MaterialMesh::of(solid, "x"));
    let voxels = cells(&both);
    let placed = place(
        &both,
        &voxels,
        &[region([0.0; 3], [12.0, 12.0, 4.0])],
        &Settings { spacing_m: 2.0, ..Settings::default() },
    )
    .expect("probes");
    assert!(placed.report.sealed > 0, "{}", placed.report);
    assert!(placed.positions.iter().all(|p| (p.x - 6.0).abs() > 2.5 || (p.y - 6.0).abs() > 2.5 || p.z > 3.2));
}

#[test]
fn seeds_choose_the_air_and_hands_have_their_way() {
    let room = rooms::apartment();
    let voxels = cells(&room.scene);
    let everywhere = [region([-1.0; 3], [15.0, 11.0, 4.0])];
    let settings = Settings {
        seeds: vec![room.spaces[0].1],
        extra: vec![
            Vec3::new(0.4, 0.4, 1.0),
            Vec3::new(7.0, 2.0, 1.0),
            Vec3::splat(99.0),
            Vec3::new(-0.8, 2.0, 1.0),
            Vec3::NAN,
        ],
        ..Settings::default()
    };
    let placed = place(&room.scene, &voxels, &everywhere, &settings).expect("probes");
    assert_eq!(placed.positions.last(), Some(&settings.extra[0]));
    let why: Vec<Refusal> = placed.report.refused.iter().map(|r| r.1).collect();
    assert_eq!(why, [Refusal::InWall, Refusal::Outside, Refusal::Sealed, Refusal::Outside]);
    let inside = Bounds { min: Vec3::ZERO, max: Vec3::new(14.0, 10.0, 2.7) };
    assert!(placed.positions.iter().all(|&p| inside.contains(p)));
    assert!(placed.report.to_string().contains("is in a wall"));
}

#[test]
fn meshes_are_regions_whichever_way_they_face() {
    let scene = rooms::shoebox(Vec3::new(12.0, 12.0, 8.0), "x").scene;
    let voxels = cells(&scene);
    let mut ball = primitives::sphere(3.5, 32, 17);
    ball.transform(DQuat::IDENTITY, Vec3::new(6.0, 6.0, 4.0));
    let flipped = TriMesh { triangles: ball.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(), ..ball.clone() };
    let settings = Settings { spacing_m: 1.0, vertical_m: 1.0, ..Settings::default() };
    let placed = [ball, flipped].map(|m| place(&scene, &voxels, &[Region::Mesh(m)], &settings).expect("probes"));
    assert_eq!(placed[0], placed[1]);
    assert!(placed[0].positions.iter().all(|p| p.distance(Vec3::new(6.0, 6.0, 4.0)) < 3.5));
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 3.5f64.powi(3);
    assert!((placed[0].positions.len() as f64 / volume - 1.0).abs() < 0.15);
}

#[test]
fn having_no_probe_is_an_error_that_says_what_to_do() {
    let room = rooms::shoebox(Vec3::new(6.0, 6.0, 3.0), "x");
    let voxels = cells(&room.scene);
    let fails = |regions: &[Region], settings: &Settings| {
        let error = place(&room.scene, &voxels, regions, settings).expect_err("nothing");
        println!("{error}");
        error
    };
    let outside = fails(&[region([100.0; 3], [110.0; 3])], &Settings::default());
    assert!(outside.to_string().contains("outside the simulated box"));
    let in_wall = fails(&[region([-0.3, 0.0, 0.0], [0.0, 6.0, 3.0])], &Settings::default());
    assert!(in_wall.to_string().contains("walls"));
    let seeds = vec![Vec3::new(-0.9, 0.0, 0.0)];
    let sealed = fails(&room.regions, &Settings { seeds, ..Settings::default() });
    assert!(sealed.to_string().contains("sealed"));
    for spacing_m in [0.0, -1.0, f64::NAN] {
        assert!(matches!(
            fails(&room.regions, &Settings { spacing_m, ..Settings::default() }),
            PlaceError::Spacing { .. }
        ));
    }
    assert!(matches!(
        fails(&[region([0.0; 3], [f64::NAN; 3])], &Settings::default()),
        PlaceError::Region { region: 0 }
    ));
    assert!(matches!(
        fails(&[Region::Mesh(TriMesh::default())], &Settings::default()),
        PlaceError::Region { region: 0 }
    ));
    let fine = Settings { spacing_m: 1e-6, ..Settings::default() };
    assert!(matches!(fails(&room.regions, &fine), PlaceError::TooMany { .. }));
    assert!(matches!(fails(&[region([-1e300; 3], [1e300; 3])], &Settings::default()), PlaceError::TooMany { .. }));
}
