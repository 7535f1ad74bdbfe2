//! The generated scenes are sealed where they should be and open where they should be, for any cells.

use eigentone_core::{
    Vec3,
    acoustics::{Bits, Bounds},
};
use eigentone_wave::{
    rooms::{self, Room},
    voxel::{self, Voxels, lattice_around},
};

/// Cells of a scene with a margin, shifted by a share of a cell.
fn cells(room: &Room, step_m: f64, shift: Vec3) -> Voxels {
    voxel::check(&room.scene).expect("a good scene");
    assert!(room.scene.mesh.triangles.len() < 5000, "{}", room.name);
    let bounds = Bounds::of(room.scene.mesh.positions.iter().copied()).expect("not empty");
    let mut lattice = lattice_around(&bounds, step_m, 3, 1 << 26).expect("fits");
    lattice.origin += step_m * shift;
    Voxels::new(&room.scene, lattice)
}

fn at(voxels: &Voxels, reached: &Bits, p: Vec3) -> bool {
    voxels.lattice.index(voxels.lattice.cube(p)).is_some_and(|i| reached.get(i))
}

fn space(room: &Room, name: &str) -> Vec3 {
    room.spaces.iter().find(|s| s.0 == name).expect("such a space").1
}

/// A cell at the rim of the lattice: the open.
fn rim(voxels: &Voxels) -> Vec3 {
    voxels.lattice.centre(voxels.lattice.size.map(|n| i64::from(n) - 1))
}

const SHIFTS: [[f64; 3]; 6] =
    [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.25, 0.7, 0.1], [0.9, 0.3, 0.6], [0.13, 0.37, 0.77], [-0.4, 0.05, 0.95]];

#[test]
fn rooms_of_the_apartment_are_connected_and_sealed_behind_the_shut_entrance() {
    for step_m in [0.255, 0.51, 0.1] {
        for shift in SHIFTS.map(Vec3::from_array) {
            let (shut, open) = (rooms::apartment(), rooms::apartment_with_entrance(true));
            let voxels = cells(&shut, step_m, shift);
            let reached = voxels.reachable(voxels.lattice.cube(space(&shut, "corridor")));
            for (name, p) in &shut.spaces {
                assert!(at(&voxels, &reached, *p), "{name} at {step_m} m, {shift}");
            }
            assert!(!at(&voxels, &reached, rim(&voxels)), "leaks at {step_m} m, {shift}");
            let voxels = cells(&open, step_m, shift);
            let reached = voxels.reachable(voxels.lattice.cube(space(&open, "corridor")));
            assert!(at(&voxels, &reached, rim(&voxels)), "shut at {step_m} m, {shift}");
        }
    }
}

#[test]
fn volume_of_air_in_the_apartment_is_that_of_its_rooms() {
    // Floor area less walls, times the height, plus the doorways.
    let walls = 14.0 * 0.2 * 2.0 + 4.2 * 0.2 + 4.0 * 0.2 * 2.0;
    let doors = 0.2 * 2.1 * (0.9 * 4.0 + 1.0 * 2.0);
    let bookcase = 2.6 * 0.4 * 2.1;
    let truth = (14.0 * 10.0 - walls) * 2.7 + doors - bookcase;
    let room = rooms::apartment();
    let mut error = 0.0;
    for shift in SHIFTS.map(Vec3::from_array) {
        let voxels = cells(&room, 0.255, shift);
        let reached = voxels.reachable(voxels.lattice.cube(space(&room, "corridor")));
        error += (reached.count() as f64 * 0.255f64.powi(3) / truth - 1.0) / SHIFTS.len() as f64;
    }
    assert!(error.abs() < 0.03, "mean error of the volume {error}");
}

#[test]
fn nave_reaches_the_courtyard_and_that_the_sky() {
    let room = rooms::abbey();
    for step_m in [0.255, 0.51] {
        for shift in SHIFTS.map(Vec3::from_array).into_iter().take(if step_m > 0.3 { 6 } else { 2 }) {
            let voxels = cells(&room, step_m, shift);
            let reached = voxels.reachable(voxels.lattice.cube(space(&room, "nave")));
            assert!(at(&voxels, &reached, space(&room, "courtyard")), "{step_m} {shift}");
            assert!(at(&voxels, &reached, rim(&voxels)), "{step_m} {shift}");
            // Straight up from the courtyard there is nothing; from the nave there is the roof.
            let column =
                |p: Vec3| (0..200).any(|k| voxels.is_solid(voxels.lattice.cube(p + 0.1 * f64::from(k) * Vec3::Z)));
            assert!(!column(space(&room, "courtyard")) && column(space(&room, "nave")));
        }
    }
}

#[test]
fn nave_is_sealed_once_its_door_is_shut() {
    let mut room = rooms::abbey();
    let mut leaf = rooms::shoebox(Vec3::new(2.2, 0.1, 3.1), "wood").scene;
    leaf.mesh.positions.iter_mut().for_each(|p| *p += Vec3::new(18.9, -0.45, -0.05));
    room.scene.append(&leaf);
    for shift in SHIFTS.map(Vec3::from_array) {
        let voxels = cells(&room, 0.51, shift);
        let reached = voxels.reachable(voxels.lattice.cube(space(&room, "nave")));
        assert!(!at(&voxels, &reached, rim(&voxels)), "{shift}");
    }
}

#[test]
fn spaces_of_the_deck_are_all_in_the_open() {
    let room = rooms::deck();
    for step_m in [0.255, 0.51] {
        for shift in SHIFTS.map(Vec3::from_array) {
            let voxels = cells(&room, step_m, shift);
            let reached = voxels.reachable(voxels.lattice.cube(rim(&voxels)));
            for (name, p) in &room.spaces {
                assert!(at(&voxels, &reached, *p), "{name} at {step_m} m, {shift}");
            }
            let below =
                |p: Vec3| (0..40).any(|k| voxels.is_solid(voxels.lattice.cube(p - 0.1 * f64::from(k) * Vec3::Z)));
            assert!(room.spaces.iter().all(|s| below(s.1)), "everything stands on something");
        }
    }
}

#[test]
fn shoebox_keeps_its_size_when_it_fits_the_cells() {
    let room = rooms::shoebox(Vec3::new(5.1, 3.825, 2.55), "brick");
    let voxels = cells(&room, 0.255, Vec3::ZERO);
    let inside = voxels.reachable(voxels.lattice.cube(Vec3::ONE));
    assert_eq!(inside.count(), 20 * 15 * 10);
    for name in &room.scene.names {
        assert_eq!(name, "brick");
    }
}
