//! Soft bodies beside rigid ones: they ring what they strike, and what they strike gives way.

mod common;

use common::{listen, peak, steel, tone};
use eigentone_core::TetMesh;
use eigentone_modal::analytic::{AnalyticSettings, PlateSupport, Shape as Form, model};
use eigentone_sim::soft::radiate::Radiation;
use eigentone_sim::soft::{SoftBody, SoftMaterial};
use eigentone_world::{Body, EventKind, Pose, Settings, Shape, SoftSpec, Vec3, World};
use std::sync::Arc;

fn cube(at: Vec3, velocity: Vec3) -> SoftSpec {
    let mut mesh = TetMesh::block(Vec3::splat(0.06), [3; 3]);
    mesh.positions.iter_mut().for_each(|p| *p += at);
    let material =
        SoftMaterial { young_pa: 5e5, poisson: 0.4, density_kg_m3: 1000.0, psi_pa_s: 5.0, ..SoftMaterial::default() };
    let body = SoftBody { velocity_m_s: velocity, ..SoftBody::new("jelly", mesh, material) };
    SoftSpec { body, start: None, radiation: Radiation::Rayleigh }
}

/// A cube of jelly dropped on a modelled steel plate: both are heard, the plate at the frequencies of its modes, from the moment of the contact on.
#[test]
fn a_soft_cube_rings_the_plate_it_falls_on() {
    let (mut world, mut out) = World::new(Settings::offline()).unwrap();
    world.set_listener(Pose::looking(Vec3::new(0.0, -1.0, 0.3), Vec3::Y));
    let form = Form::Plate { length: 0.3, width: 0.2, thickness: 0.002, support: PlateSupport::SimplySupported };
    let plate = Arc::new(model(&form, &steel(), &AnalyticSettings::default()).unwrap());
    let first_hz: Vec<f64> = plate.modes.iter().map(|m| m.frequency_hz).take(3).collect();
    let shape = Shape::plate(0.3, 0.2, 0.002);
    let plate = world.insert(Body::fixed(shape).model(plate).friction(0.5)).unwrap();
    let jelly = world.insert_soft("jelly", cube(Vec3::new(0.04, 0.03, 0.05), Vec3::Z * -1.0)).unwrap();
    let (mut sound, mut stems) = (Vec::new(), [0.0f32; 2]);
    for _ in 0..120 {
        (0..4).for_each(|_| world.single_step());
        let until = ((world.time_s() - 0.01).max(0.0) * 44_100.0) as usize;
        while sound.len() + 64 <= until {
            let [left, right] = out.process_block();
            sound.extend(left.iter().zip(right).map(|(l, r)| 0.5 * (l + r)));
            for source in out.sources() {
                let dry = source.dry.iter().fold(0.0f32, |m, y| m.max(y.abs()));
                let which = usize::from(world.key_of_source(source.source) == Some(jelly));
                stems[which] = stems[which].max(dry);
            }
        }
    }
    world.single_step();
    let touch = world.drain_events().find_map(|e| match e.kind {
        EventKind::Impact { bodies: [Some(a), Some(b)], .. } if [a, b] == [jelly, plate] => Some(e.time_s),
        _ => None,
    });
    let touch_s = touch.expect("it touches the plate");
    // From 2 cm above the plate, 1 mm of which is its own, at 1 m/s.
    let fall_s = (-1.0 + (1.0 + 2.0 * 9.81 * 0.019f64).sqrt()) / 9.81;
    assert!((touch_s - fall_s).abs() < 2e-3, "{touch_s} {fall_s}");
    assert!(stems[0] > 1e-3 && stems[1] > 1e-3, "both sound: {stems:?}");
    let onset_s = sound.iter().position(|y| y.abs() > 0.01 * peak(&sound)).unwrap() as f64 / 44_100.0;
    assert!((onset_s - touch_s - out.latency() as f64 / 44_100.0).abs() < 4e-3, "{onset_s} {touch_s}");
    let ringing = &sound[(0.3 * 44_100.0) as usize..];
    for hz in first_hz {
        let [on, off] = [hz, 1.17 * hz].map(|hz| tone(ringing, hz, 44_100.0));
        assert!(on > 3.0 * off, "{hz} Hz: {on} {off}");
    }
}

/// A cube thrown at a free block: what the block gains the cube loses.
#[test]
fn momentum_passes_between_soft_and_rigid() {
    let (mut world, _out) = World::new(Settings { gravity: Vec3::ZERO, ..Settings::offline() }).unwrap();
    let block = world.insert(Body::dynamic(Shape::cuboid(Vec3::splat(0.08))).silent().mass(0.4)).unwrap();
    let jelly = world.insert_soft("jelly", cube(Vec3::new(-0.09, 0.0, 0.0), Vec3::X * 2.0)).unwrap();
    let mass_kg = 1000.0 * 0.06f64.powi(3);
    (0..240).for_each(|_| world.single_step());
    let soft = world.soft_world().unwrap();
    let view = soft.body(0);
    let velocity: Vec3 =
        view.velocities().enumerate().map(|(n, v)| v * view.mass_kg(n)).sum::<Vec3>() / view.total_kg();
    let rigid = Vec3::from_array(world.pose(block).unwrap().velocity.map(f64::from));
    let after = mass_kg * velocity + 0.4 * rigid;
    assert!(rigid.x > 0.2, "it was struck: {rigid}");
    assert!((after.x / (2.0 * mass_kg) - 1.0).abs() < 0.01, "{after} {}", 2.0 * mass_kg);
    assert!(world.contains(jelly));
}

/// Live, soft bodies have a thread of their own; that they are too slow is said, and rigid bodies go on.
#[test]
fn soft_bodies_live_do_not_stop_the_world() {
    let (mut world, mut out) = World::new(Settings::default()).unwrap();
    world.insert(Body::fixed(Shape::floor()).surface("wood")).unwrap();
    world.insert_soft("jelly", cube(Vec3::Z * 0.1, Vec3::ZERO)).unwrap();
    let ball = world.insert(Body::dynamic(Shape::sphere(0.05)).silent().position(Vec3::new(0.5, 0.0, 1.0))).unwrap();
    for _ in 0..30 {
        world.advance(1.0 / 60.0);
        listen(&mut out, 735);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(world.pose(ball).unwrap().position[2] < 0.9);
    let jelly = world.bodies().find(|(_, body)| body.name == "jelly").map(|(key, _)| key).unwrap();
    world.remove(jelly).unwrap();
    world.advance(1.0 / 60.0);
    listen(&mut out, 735);
}

/// Going back while jelly lies on the floor: it moves on bit by bit as it did. Its sound begins anew without a click, and is the same as soon as the filters have forgotten that they did: after 50 ms the DC block at 20 Hz is
/// down to a five-hundredth.
#[test]
fn a_soft_body_goes_on_and_sounds_on() {
    let (mut world, mut out) = World::new(Settings::offline()).unwrap();
    world.set_listener(Pose::looking(Vec3::new(0.0, -1.0, 0.3), Vec3::Y));
    world.insert(Body::fixed(Shape::floor()).silent()).unwrap();
    let jelly = world.insert_soft("jelly", cube(Vec3::Z * 0.035, Vec3::Z * -0.5)).unwrap();
    // The offset between motion and sound moves on with every return.
    let mut go = |world: &mut World, steps: usize, returned_s: f64| {
        let (mut nodes, mut dry) = (Vec::new(), Vec::new());
        for _ in 0..steps {
            world.single_step();
            nodes.extend(world.soft_world().unwrap().body(0).positions().map(|p| p.to_array().map(f64::to_bits)));
            while (out.clock() + 64) as f64 <= (world.time_s() + returned_s - 0.005) * 44_100.0 {
                out.process_block();
                let source = out.sources().find(|source| world.key_of_source(source.source) == Some(jelly));
                dry.extend_from_slice(&source.map_or([0.0; 64], |source| *source.dry));
            }
        }
        (nodes, dry)
    };
    let (_, first) = go(&mut world, 32, 0.0);
    let snapshot = world.snapshot();
    let (nodes, expected) = go(&mut world, 96, 0.0);
    world.restore(&snapshot).unwrap();
    let (again, found) = go(&mut world, 96, 0.2);
    assert!(nodes == again, "it moves on as it did");
    // 96 steps of 1/480 s are 8820 samples: both are a whole number of them apart.
    let all: Vec<f32> = first.into_iter().chain(expected).chain(found).collect();
    let at = |s: f64| (s * 44_100.0_f64).round() as usize;
    let (before_s, length_s) = (32.0 / 480.0, 0.2);
    let window = |from_s: f64| &all[at(from_s + 0.05)..at(from_s + length_s - 0.01)];
    let (was, is) = (window(before_s), window(before_s + length_s));
    let off = was.iter().zip(is).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    println!("off by {off} of {}", peak(was));
    assert!(peak(was) > 0.0 && off < 0.01 * peak(was), "{off} {}", peak(was));
    assert!(peak(&all[at(before_s + length_s)..]) <= 1.5 * peak(&all[..at(before_s + length_s)]), "no click");
}

/// Live, on a thread of its own: the snapshot is that of all that had been asked for, whenever the thread comes to it, and what is on its way from before a return is passed over. If the world waits for the thread in each
/// step, nothing depends on when it runs: then it goes on bit by bit, and so does the block that it pushes.
#[test]
fn live_soft_bodies_go_back() {
    let (mut world, mut out) = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
    let block = world.insert(Body::dynamic(Shape::cuboid(Vec3::splat(0.08))).silent().mass(0.4)).unwrap();
    let jelly = world.insert_soft("jelly", cube(Vec3::new(-0.09, 0.0, 0.0), Vec3::X * 2.0)).unwrap();
    let mut go = |world: &mut World, steps: usize| {
        let mut seen = Vec::new();
        for _ in 0..steps {
            world.single_step();
            while world.soft_stats().behind_s > 0.0 {
                std::thread::sleep(std::time::Duration::from_micros(200));
                world.advance(0.0);
            }
            listen(&mut out, 91);
            seen.push([block, jelly].map(|key| world.pose(key).unwrap().position.map(f32::to_bits)));
        }
        seen
    };
    let begin = world.snapshot();
    let first = go(&mut world, 12);
    let middle = world.snapshot();
    let expected = go(&mut world, 24);
    assert!(expected[0][0] != expected[23][0], "the block was struck");
    world.restore(&middle).unwrap();
    assert_eq!(go(&mut world, 24), expected);
    // Asked for more than it has done when it is told to go back.
    (0..4).for_each(|_| world.single_step());
    world.restore(&begin).unwrap();
    assert_eq!((go(&mut world, 12), go(&mut world, 24)), (first, expected));
    // A world that was emptied begins anew at once.
    world.reset();
    let jelly = world.insert_soft("jelly", cube(Vec3::ZERO, Vec3::X * 2.0)).unwrap();
    for _ in 0..10 {
        world.single_step();
        while world.soft_stats().behind_s > 0.0 {
            world.advance(0.0);
        }
    }
    let x = world.pose(jelly).unwrap().position[0];
    assert!((x - 2.0 * 10.0 / 480.0).abs() < 1e-3, "{x}");
}
