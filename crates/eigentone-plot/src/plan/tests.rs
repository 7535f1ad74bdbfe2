//! Walls, floors and probes are where they belong.

use super::*;

const ROOM: &str = "[acoustics]\nroom = 'shoebox'\nsize = [5, 4, 2.5]\nf_max_hz = 300\nmaterials = { wall = 'brick' }\n\
                    spacing_m = 2\n";

#[test]
fn walls_floors_and_probes_are_where_they_belong() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("room.toml");
    std::fs::write(&file, ROOM).unwrap();
    let prepared = eigentone_scene::bake::prepare(&eigentone_scene::scene::Scene::read(&file).unwrap()).unwrap();
    let plan = Plan::new(&prepared);
    let map = Map::new(MAP, &plan.ground());
    let picture = plan_picture(&prepared);
    let pixel = |x: f64, y: f64| {
        let [px, py] = map.panel.at(x, y);
        picture.pixel(px as u32, py as u32).unwrap()
    };
    let brick = style::kind(2);
    // The cells at the south wall are behind y = 0, and nearer than its thickness of 0.3 m.
    assert_eq!(pixel(2.2, -0.1), [brick[0], brick[1], brick[2]]);
    let floor = pixel(0.6, 0.6);
    assert!(floor.iter().zip(brick).all(|(a, b)| *a >= b) && floor[0] > floor[2] + 10, "{floor:?}");
    assert_eq!(pixel(-1.0, -1.0), [style::PANEL[0], style::PANEL[1], style::PANEL[2]]);
    let blue = [style::BLUE[0], style::BLUE[1], style::BLUE[2]];
    assert!(prepared.probes.iter().all(|p| pixel(p.x, p.y) == blue));
}

#[test]
fn each_material_has_a_colour_of_its_own() {
    let walls = [Some("grass"), Some("foliage"), None, Some("wood"), Some("concrete"), Some("stone")];
    let colours = colours(&walls);
    assert_eq!([colours[0], colours[3], colours[4]], [3, 0, 8].map(style::kind));
    for (k, colour) in colours.iter().enumerate() {
        assert!(!colours[..k].contains(colour), "{walls:?}");
    }
    assert_eq!(super::colours(&[None; 40]).len(), 40);
}
