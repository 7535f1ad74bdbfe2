use super::*;
use eigentone_core::{Noise, TriMesh, mesh::primitives};
use eigentone_sim::rigid::{ContactReader, Drag, Drive, Key, Part, Snapshot};

fn ring() -> TriMesh {
    primitives::ring(0.03, 0.008, 16, 8)
}

fn spec<'a>(i: u32, noise: &mut Noise, ring: &'a TriMesh) -> BodySpec<'a> {
    let mut random = |scale: f64| Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar()) * scale;
    let turn = random(1.0);
    let part = |x: f64| Part {
        offset: Vec3::new(x, 0.0, 0.0),
        rotation: [0.0, 0.0, 0.0, 1.0],
        shape: Shape::Box { half: Vec3::new(0.01, 0.02, 0.01) },
    };
    let shape = match i % 7 {
        0 => Shape::Sphere { radius: 0.02 },
        1 => Shape::Box { half: Vec3::new(0.03, 0.02, 0.01) },
        2 => Shape::Cylinder { half_height: 0.03, radius: 0.012 },
        3 => Shape::Hull(ring),
        4 => Shape::Decomposed(ring),
        5 => Shape::Mesh(ring),
        _ => Shape::Compound(vec![part(-0.02), part(0.02)]),
    };
    BodySpec {
        position: random(0.12) + Vec3::new(0.0, 0.0, 0.15 + 0.03 * f64::from(i)),
        rotation: [turn.x, turn.y, turn.z, 1.0],
        velocity: random(1.0),
        spin: random(10.0),
        restitution: 0.4,
        ..BodySpec::new(shape)
    }
}

/// Thirty bodies of all shapes; some are driven, dragged, led along a path.
fn messy(ring: &TriMesh) -> (World, Noise) {
    let mut noise = Noise::new(11);
    let mut world = world_with_floor(0.5, 0.4);
    for i in 1..=30 {
        world.insert(3 * i, &spec(i, &mut noise, ring)).unwrap();
    }
    world.set_drive(3, Some(Drive { velocity: 0.2 * Vec3::X, max_force_n: 1.0 })).unwrap();
    let target = Vec3::new(0.1, 0.1, 0.2);
    world.set_drag(6, Some(Drag { local: Vec3::new(0.0, 0.01, 0.0), target, ..Drag::default() })).unwrap();
    let key = |time_s, x| Key { time_s, position: Vec3::new(x, 0.0, 0.05), rotation: [0.0, 0.0, 0.0, 1.0] };
    world.set_kind(9, Kind::Path(vec![key(0.0, -0.3), key(2.0, 0.3)])).unwrap();
    (world, noise)
}

/// Changes of every kind, the same for the same step and noise.
fn meddle(world: &mut World, step: u32, noise: &mut Noise, ring: &TriMesh) {
    match step % 40 {
        5 => world.remove(3 * (10 + step / 40)).unwrap_or_default(),
        15 => drop(world.insert(200 + step, &spec(step, noise, ring))),
        20 => world.set_mass(12, 0.05 + noise.uniform()).unwrap_or_default(),
        25 => {
            let target = Vec3::new(noise.bipolar(), noise.bipolar(), 1.0) * 0.2;
            world.set_drag(6, Some(Drag { target, ..Drag::default() })).unwrap_or_default();
        }
        30 => world.set_kind(18, if step % 80 < 40 { Kind::Fixed } else { Kind::Dynamic }).unwrap_or_default(),
        35 => world.set_shape(21, &Shape::Sphere { radius: 0.02 + 0.01 * noise.uniform() }).unwrap_or_default(),
        _ => {}
    }
}

/// Bits, not numbers: −0 is not 0.
fn bits(frames: &[ContactFrame]) -> String {
    format!("{frames:?}")
}

fn go_on(world: &mut World, mut noise: Noise, ring: &TriMesh, from: u32, meddling: bool) -> (String, Snapshot) {
    let mut frames = Vec::new();
    for step in from..from + 200 {
        if meddling {
            meddle(world, step, &mut noise, ring);
        }
        frames.push(world.step());
    }
    assert!(frames.iter().any(|f| f.contacts.len() > 10));
    (bits(&frames), world.snapshot())
}

/// 200 steps; a snapshot; 200 steps; back; the same 200 steps bit for bit, in the same world, in a clone's and in one that had other bodies; also
/// when bodies came, went and changed before and after.
#[test]
fn restored_worlds_go_on_bit_for_bit() {
    let ring = ring();
    for meddling in [false, true] {
        let (mut world, mut noise) = messy(&ring);
        for step in 0..200 {
            if meddling {
                meddle(&mut world, step, &mut noise, &ring);
            }
            world.step();
        }
        let kept = world.snapshot();
        let (first, end) = go_on(&mut world, noise.clone(), &ring, 200, meddling);
        world.restore(&kept);
        let (again, _) = go_on(&mut world, noise.clone(), &ring, 200, meddling);
        assert_eq!(first, again, "meddling {meddling}: in the same world");

        let mut other = world_with_floor(0.1, 0.9);
        (0..20).for_each(|i| drop(other.insert(i + 5, &spec(i, &mut Noise::new(3), &ring))));
        (0..50).for_each(|_| drop(other.step()));
        other.restore(&kept.clone());
        let (elsewhere, _) = go_on(&mut other, noise.clone(), &ring, 200, meddling);
        assert_eq!(first, elsewhere, "meddling {meddling}: in another world");

        // A snapshot of what was restored is as good.
        world.restore(&end);
        let (later, _) = go_on(&mut world, noise.clone(), &ring, 400, meddling);
        other.restore(&end);
        assert_eq!(later, go_on(&mut other, noise, &ring, 400, meddling).0);
    }
}

/// Taking a snapshot does not disturb.
#[test]
fn snapshots_leave_the_world_alone() {
    let ring = ring();
    let run = |snapshots: bool| {
        let (mut world, _) = messy(&ring);
        let mut frames = Vec::new();
        for _ in 0..200 {
            frames.push(world.step());
            if snapshots {
                let kept = world.snapshot();
                world.restore(&kept);
            }
        }
        bits(&frames)
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn worlds_and_snapshots_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<World>();
    crosses::<Snapshot>();
    crosses::<ContactReader>();
}
