//! Scenes made by rule, for tests, benches and demonstrations: walls are blocks of real thickness whose triangles face out of the material. In metres, z up, the
//! floor at z = 0.

use crate::probe::Region;
use eigentone_core::{
    TriMesh, Vec3,
    acoustics::{Bounds, MaterialMesh},
};

mod build;

use build::{Blocks, Door};

/// A scene, and where in it a listener may be.
#[derive(Clone, Debug)]
pub struct Room {
    /// Its name in files and messages.
    pub name: &'static str,
    /// The walls with the names of their materials.
    pub scene: MaterialMesh,
    /// Where probes make sense.
    pub regions: Vec<Region>,
    /// A point in each of its spaces, by name.
    pub spaces: Vec<(&'static str, Vec3)>,
}

/// A room from the origin to `size`, between walls of 0.3 m.
pub fn shoebox(size: Vec3, material: &str) -> Room {
    let mut blocks = Blocks::default();
    blocks.shell(Vec3::ZERO, size, 0.3, [material; 6]);
    Room {
        name: "shoebox",
        scene: blocks.scene,
        regions: vec![region([0.0; 3], size.to_array())],
        spaces: vec![("room", 0.5 * size)],
    }
}

/// Inner size of the apartment.
const FLAT: [f64; 3] = [14.0, 10.0, 2.7];

/// A flat of 14 × 10 × 2.7 m: two rooms south of a corridor and three north of it, all behind doorways 0.9 to 1.0 m wide and 2.1 m high, and one more
/// doorway from the living room to the kitchen. A bookcase 2.1 m high stands across the living room. The entrance, at the west end of the corridor, is shut.
pub fn apartment() -> Room {
    apartment_with_entrance(false)
}

/// The [`apartment`], with its entrance open or shut.
pub fn apartment_with_entrance(open: bool) -> Room {
    const OUTER: f64 = 0.3;
    let [lx, ly, lz] = FLAT;
    let mut blocks = Blocks::default();
    // Floors end under the middle of walls. From south-west to north-east.
    let floors = [
        ("carpet", [-OUTER, -OUTER], [7.0, 4.3]),
        ("concrete", [7.0, -OUTER], [lx + OUTER, 4.3]),
        ("wood", [-OUTER, 4.3], [lx + OUTER, 5.9]),
        ("wood", [-OUTER, 5.9], [5.1, ly + OUTER]),
        ("concrete", [5.1, 5.9], [9.5, ly + OUTER]),
        ("carpet", [9.5, 5.9], [lx + OUTER, ly + OUTER]),
    ];
    for (material, [x0, y0], [x1, y1]) in floors {
        blocks.block([x0, y0, -0.3], [x1, y1, 0.0], material);
    }
    blocks.block([-OUTER, -OUTER, lz], [lx + OUTER, ly + OUTER, lz + 0.3], "concrete");
    let door = |from: f64, width: f64| Door { from, to: from + width, top: 2.1 };
    // Outer walls; the western one has the entrance.
    blocks.wall_along_x([-OUTER, lx + OUTER], [-OUTER, 0.0], lz, &[], "concrete");
    blocks.wall_along_x([-OUTER, lx + OUTER], [ly, ly + OUTER], lz, &[], "concrete");
    blocks.wall_along_y([lx, lx + OUTER], [0.0, ly], lz, &[], "concrete");
    blocks.wall_along_y([-OUTER, 0.0], [0.0, ly], lz, &[door(4.6, 1.0)], "concrete");
    if !open {
        blocks.block([-0.25, 4.55, -0.05], [-0.05, 5.65, 2.15], "wood");
    }
    // Walls of the corridor, then those between rooms.
    blocks.wall_along_x([0.0, lx], [4.2, 4.4], lz, &[door(3.0, 0.9), door(10.0, 0.9)], "drywall");
    blocks.wall_along_x([0.0, lx], [5.8, 6.0], lz, &[door(2.0, 1.0), door(7.0, 0.9), door(11.5, 0.9)], "drywall");
    blocks.wall_along_y([6.9, 7.1], [0.0, 4.2], lz, &[], "drywall");
    blocks.wall_along_y([5.0, 5.2], [6.0, ly], lz, &[door(7.5, 1.0)], "drywall");
    blocks.wall_along_y([9.4, 9.6], [6.0, ly], lz, &[], "drywall");
    blocks.block([1.2, 7.3, 0.0], [3.8, 7.7, 2.1], "bookcase");
    let at = |x, y| Vec3::new(x, y, 1.4);
    let spaces = vec![
        ("study", at(3.5, 2.1)),
        ("bath", at(10.5, 2.1)),
        ("corridor", at(7.0, 5.1)),
        ("living room", at(2.5, 8.8)),
        ("kitchen", at(7.3, 8.0)),
        ("bedroom", at(11.8, 8.0)),
    ];
    Room { name: "apartment", scene: blocks.scene, regions: vec![region([0.0; 3], FLAT)], spaces }
}

/// Inner size of the [`two_rooms`], wall between them included.
const PAIR: [f64; 3] = [10.2, 5.0, 2.8];

/// Two rooms of 5 × 5 × 2.8 m side by side along x, with a wall of 0.2 m between them and a doorway in it, 1.2 m wide and 2.1 m high: a bare one that rings, from x = 0 on, and one with
/// a carpet, curtains and an acoustic ceiling that does not.
pub fn two_rooms() -> Room {
    const OUTER: f64 = 0.3;
    let [lx, ly, lz] = PAIR;
    let (left, right) = (5.0, 5.2);
    let middle = 0.5 * (left + right);
    let mut blocks = Blocks::default();
    for (x, [floor, walls, ceiling]) in [
        ([-OUTER, middle], ["tile", "drywall", "plaster"]),
        ([middle, lx + OUTER], ["carpet", "curtain", "acoustic tile"]),
    ] {
        blocks.block([x[0], -OUTER, -OUTER], [x[1], ly + OUTER, 0.0], floor);
        blocks.block([x[0], -OUTER, lz], [x[1], ly + OUTER, lz + OUTER], ceiling);
        blocks.wall_along_x(x, [-OUTER, 0.0], lz, &[], walls);
        blocks.wall_along_x(x, [ly, ly + OUTER], lz, &[], walls);
    }
    let door = Door { from: 1.9, to: 3.1, top: 2.1 };
    blocks.wall_along_y([-OUTER, 0.0], [0.0, ly], lz, &[], "drywall");
    blocks.wall_along_y([left, middle], [0.0, ly], lz, &[door], "drywall");
    blocks.wall_along_y([middle, right], [0.0, ly], lz, &[door], "curtain");
    blocks.wall_along_y([lx, lx + OUTER], [0.0, ly], lz, &[], "curtain");
    let spaces = vec![("bare room", Vec3::new(2.5, 2.5, 1.5)), ("furnished room", Vec3::new(7.7, 2.5, 1.5))];
    Room { name: "two-rooms", scene: blocks.scene, regions: vec![region([0.0; 3], PAIR)], spaces }
}

/// A nave of 40 × 18 × 14 m of stone with a wooden ceiling, tapestries on its walls, a congregation on its floor and two rows of pillars of 2 m, and through a door of 2 × 3 m in its south wall a
/// courtyard of 30 × 25 m with grass, within walls of 5 m, open to the sky. Walls are 0.8 m thick.
pub fn abbey() -> Room {
    const WALL: f64 = 0.8;
    const LINING: f64 = 0.1;
    let (nave, yard, height) = ([40.0, 18.0, 14.0], [5.0, -25.0 - WALL, 35.0, -WALL], 5.0);
    let [lx, ly, lz] = nave;
    let mut blocks = Blocks::default();
    blocks.block([-WALL, -WALL, -WALL], [lx + WALL, ly + WALL, 0.0], "audience");
    blocks.block([-WALL, -WALL, lz], [lx + WALL, ly + WALL, lz + WALL], "wood");
    let gate = Door { from: 19.0, to: 21.0, top: 3.0 };
    blocks.wall_along_x([-WALL, lx + WALL], [-WALL, 0.0], lz, &[gate], "stone");
    blocks.wall_along_x([-WALL, lx + WALL], [ly, ly + WALL], lz, &[], "stone");
    blocks.wall_along_y([-WALL, 0.0], [0.0, ly], lz, &[], "stone");
    blocks.wall_along_y([lx, lx + WALL], [0.0, ly], lz, &[], "stone");
    for (y, doors) in [([0.0, LINING], &[gate][..]), ([ly - LINING, ly], &[][..])] {
        blocks.wall_along_x([0.0, lx], y, lz, doors, "tapestry");
    }
    for x in [[0.0, LINING], [lx - LINING, lx]] {
        blocks.wall_along_y(x, [0.0, ly], lz, &[], "tapestry");
    }
    for x in (1..8).map(|k| 5.0 * f64::from(k)) {
        for y in [5.0, 13.0] {
            blocks.block([x - 1.0, y - 1.0, 0.0], [x + 1.0, y + 1.0, lz], "stone");
        }
    }
    let [x0, y0, x1, y1] = yard;
    blocks.block([x0 - WALL, y0 - WALL, -WALL], [x1 + WALL, y1, 0.0], "grass");
    blocks.wall_along_x([x0 - WALL, x1 + WALL], [y0 - WALL, y0], height, &[], "stone");
    blocks.wall_along_y([x0 - WALL, x0], [y0, y1], height, &[], "stone");
    blocks.wall_along_y([x1, x1 + WALL], [y0, y1], height, &[], "stone");
    Room {
        name: "abbey",
        scene: blocks.scene,
        regions: vec![region([0.0; 3], [lx, ly, 4.0]), region([x0, y0, 0.0], [x1, 0.0, 4.0])],
        spaces: vec![("nave", Vec3::new(20.0, 9.0, 1.6)), ("courtyard", Vec3::new(20.0, -13.0, 1.6))],
    }
}

/// Outdoors, on grass: a wooden deck on posts, walls that stand alone, a steel container with one end open, and a few posts.
pub fn deck() -> Room {
    let mut blocks = Blocks::default();
    blocks.block([-20.0, -15.0, -0.5], [20.0, 15.0, 0.0], "grass");
    // The deck, 8 × 6 m, 1 m above the ground.
    blocks.block([-4.0, -3.0, 0.8], [4.0, 3.0, 1.0], "wood");
    for [x, y] in [[-4.0, -3.0], [3.7, -3.0], [-4.0, 2.7], [3.7, 2.7]] {
        blocks.block([x, y, 0.0], [x + 0.3, y + 0.3, 0.8], "wood");
    }
    blocks.wall_along_x([-12.0, -4.0], [8.0, 8.3], 2.5, &[], "concrete");
    blocks.wall_along_y([8.0, 8.3], [-8.0, -1.0], 3.0, &[Door { from: -5.0, to: -4.0, top: 2.1 }], "brick");
    blocks.wall_along_x([2.0, 6.0], [-11.3, -11.0], 2.0, &[], "brick");
    // The container's inside is 6 × 2.4 × 2.4 m; its east end is open.
    let (lo, hi) = ([8.0, 6.0, 0.2], [14.0, 8.4, 2.6]);
    blocks.block([lo[0] - 0.2, lo[1] - 0.2, 0.0], [hi[0], hi[1] + 0.2, lo[2]], "steel");
    blocks.block([lo[0] - 0.2, lo[1] - 0.2, hi[2]], [hi[0], hi[1] + 0.2, hi[2] + 0.2], "steel");
    blocks.block([lo[0] - 0.2, lo[1] - 0.2, lo[2]], [lo[0], hi[1] + 0.2, hi[2]], "steel");
    blocks.block([lo[0], lo[1] - 0.2, lo[2]], [hi[0], lo[1], hi[2]], "steel");
    blocks.block([lo[0], hi[1], lo[2]], [hi[0], hi[1] + 0.2, hi[2]], "steel");
    for x in [-14.0, -11.0, -8.0] {
        blocks.block([x, -9.0, 0.0], [x + 0.3, -8.7, 3.0], "wood");
    }
    Room {
        name: "deck",
        scene: blocks.scene,
        regions: vec![region([-15.0, -12.0, 0.0], [15.0, 12.0, 4.0])],
        spaces: vec![
            ("deck", Vec3::new(0.0, 0.0, 2.6)),
            ("container", Vec3::new(11.0, 7.2, 1.4)),
            ("meadow", Vec3::new(-14.0, 0.0, 1.6)),
        ],
    }
}

fn region(min: [f64; 3], max: [f64; 3]) -> Region {
    Region::Box(Bounds { min: Vec3::from_array(min), max: Vec3::from_array(max) })
}
