//! Samples, walls and probes are where they belong, and any field has a picture.

use super::*;
use eigentone_core::acoustics::{EncodedProbe, FieldInfo, Lattice, encode_probe};
use eigentone_io::{field_bytes, read_field_bytes};

fn info(name: &str) -> FieldInfo {
    FieldInfo::new(name, 500.0, 0.5, 1.0)
}

fn field(origin: Vec3, probes: &[EncodedProbe], solid: impl Fn([u32; 3]) -> bool) -> Field {
    let lattice = Lattice { origin, step_m: 1.0, size: [8, 6, 3] };
    let cells = Lattice { origin, step_m: 0.5, size: [16, 12, 6] };
    let mut occupancy = Occupancy { lattice: cells, solid: Bits::new(cells.len()) };
    for at in 0..cells.len() as u32 {
        occupancy.solid.set(at as usize, solid([at % 16, at / 16 % 12, at / 192]));
    }
    read_field_bytes(&field_bytes(&info("test"), &lattice, &occupancy, probes).unwrap()).unwrap()
}

/// Loud in the west, faint in the east, nothing known in the last column.
fn probe(position: Vec3) -> EncodedProbe {
    let mut probe = ProbeField::new(position, [0; 3], [8, 6, 3]);
    for at in (0..144).filter(|at| at % 8 != 7) {
        probe.valid.set(at, true);
        let loud = if at % 8 < 4 { 10.0 } else { -30.0 };
        probe.values.iter_mut().for_each(|values| values[at] = loud);
    }
    encode_probe(&probe, 1.0)
}

#[test]
fn samples_walls_and_probes_are_where_they_belong() {
    let places = [Vec3::new(2.5, 2.5, 1.5), Vec3::new(6.5, 4.5, 1.5)];
    // A wall at x = 4 to 4.5 m, in the south.
    let field = field(Vec3::ZERO, &places.map(probe), |[x, y, _]| x == 8 && y < 8);
    let picture = field_picture(&field, 0);
    let ground = Slice::new(&field, field.probe(0)).ground();
    let part = (WIDTH as f32 - 2.0 * LEFT) / 3.0;
    let room = Area::new(0.0, 0.0, part - SIDES[0] - SIDES[1], MAX_HEIGHT);
    let height = Map::new(room, &ground).panel.area.h;
    for (k, parameter) in Parameter::ALL.into_iter().enumerate() {
        let corner = [LEFT + part * (k % 3) as f32, TOP + (HEAD + height + FOOT) * (k / 3) as f32];
        let map = Map::new(Area::new(corner[0] + SIDES[0], corner[1] + HEAD, room.w, room.h), &ground);
        let pixel = |x: f64, y: f64| {
            let [px, py] = map.panel.at(x, y);
            picture.pixel(px as u32, py as u32).unwrap()
        };
        let ink = |c: Colour| [c[0], c[1], c[2]];
        let axis = Slice::new(&field, field.probe(0)).axis(parameter);
        let of = |steps: f32| ink(colour(parameter, f64::from(axis.share(parameter.from_steps(steps)))));
        assert_eq!(pixel(1.5, 1.3), of(10.0), "{parameter:?}");
        assert_eq!(pixel(6.5, 1.5), of(-30.0), "{parameter:?}");
        assert_eq!(pixel(4.25, 1.0), ink(style::WALL), "{parameter:?}");
        assert_eq!(pixel(4.25, 5.0), of(-30.0), "the wall ends at 4 m");
        assert_eq!(pixel(7.5, 3.0), ink(style::PANEL), "nothing is known there");
        assert_eq!(pixel(2.5, 2.5), ink(style::BLUE), "the probe");
        assert_eq!(pixel(6.5, 4.5), ink(style::PAPER), "another probe");
    }
}

/// Behind a wall without a door nothing is drawn, even if a cube reaches through it.
#[test]
fn nothing_is_drawn_behind_a_closed_wall() {
    let field = field(Vec3::ZERO, &[probe(Vec3::new(2.5, 2.5, 1.5))], |[x, ..]| x == 8);
    let air = reached(field.occupancy(), Vec3::new(2.5, 2.5, 1.5)).unwrap();
    let at = |x: f64| field.occupancy().lattice.index(field.occupancy().lattice.cube(Vec3::new(x, 1.0, 1.0))).unwrap();
    assert!(air.get(at(3.9)) && !air.get(at(4.2)) && !air.get(at(4.8)));
}

#[test]
fn a_scale_is_never_narrower_than_what_can_be_heard() {
    let mut flat = ProbeField::new(Vec3::splat(1.5), [0; 3], [8, 6, 3]);
    (0..144).for_each(|at| flat.valid.set(at, true));
    let field = field(Vec3::ZERO, &[encode_probe(&flat, 1.0)], |_| false);
    let slice = Slice::new(&field, field.probe(0));
    for parameter in [Parameter::Direct, Parameter::Early, Parameter::Tilt] {
        let axis = slice.axis(parameter);
        assert!(axis.low <= -3.0 && axis.high >= 3.0, "{parameter:?}");
    }
    let axis = slice.axis(Parameter::LateDecay);
    assert!((axis.high / axis.low - 2.0).abs() < 1e-9 && axis.ticks(5).iter().any(|t| t.label.is_some()));
}

#[test]
fn any_field_has_a_picture() {
    let nothing = ProbeField::new(Vec3::ZERO, [i32::MAX - 9, 0, -9], [2, 2, 2]);
    let far = Vec3::new(1e12, -1e300, 5.0);
    for (origin, probes) in [
        (Vec3::ZERO, vec![]),
        (Vec3::ZERO, vec![encode_probe(&nothing, 1.0)]),
        (far, vec![probe(far), probe(Vec3::ZERO)]),
        (Vec3::ZERO, vec![probe(Vec3::new(2.0, 3.0, -70.0))]),
    ] {
        let field = field(origin, &probes, |[x, y, _]| (x + y) % 3 == 0);
        for number in [0, 1, usize::MAX] {
            assert!(field_picture(&field, number).png_bytes().len() > 1000);
        }
    }
}
