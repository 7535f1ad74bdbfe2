//! The rigid bodies of a scene: what they collide as, and what the scene does to them by itself.

use super::make::FLOOR_M;
use super::plan::{Plan, Planned};
use super::{Body, ColliderChoice, Scene, Shape};
use crate::Error;
use eigentone_core::Vec3;
use eigentone_sim::rigid::{BodySpec, Drive, Key, Kind, Mass, Part, RigidError, Shape as Rigid, World, WorldSettings};

/// Thickness of a floor without end, in m.
const FLOOR_DEPTH_M: f64 = 0.5;

/// Rate at which spins die away, in 1/s: rolling resistance, tuned so that a tube rolls for a few seconds.
const SPIN_DAMPING: f64 = 0.8;

/// The world of a scene at its beginning.
pub(super) fn build(scene: &Scene, plan: &Plan, warnings: &mut Vec<String>) -> Result<World, Error> {
    let bad = |name: &str, e: &dyn std::fmt::Display| Error::Scene {
        file: scene.file.clone(),
        message: format!("body `{name}`: {e}"),
    };
    let settings = WorldSettings {
        gravity: Vec3::from_array(scene.physics.gravity),
        step_s: scene.physics.step_s,
        ..WorldSettings::default()
    };
    let mut world = World::new(settings).map_err(|e| bad("world", &e))?;
    for planned in &plan.bodies {
        let body = &planned.body;
        let texture = planned.surface.texture();
        let spec = BodySpec {
            mass: Mass::Kg(planned.mass_kg),
            position: Vec3::from_array(body.position),
            rotation: body.rotation.quaternion(),
            velocity: Vec3::from_array(body.velocity),
            spin: Vec3::from_array(body.spin),
            friction: body.friction.unwrap_or(f64::from(texture.friction)),
            restitution: body.restitution.unwrap_or(f64::from(texture.restitution)),
            spin_damping: SPIN_DAMPING,
            kind: kind(body),
            drive: None,
            ..BodySpec::new(rigid_shape(planned))
        };
        let number = world.add(&spec).map_err(|e| bad(&body.name, &e))?;
        let absent = body.collider == ColliderChoice::None || !planned.is_present();
        if absent {
            world.set_present(number, false).map_err(|e| bad(&body.name, &e))?;
        }
    }
    for overlap in world.initial_overlaps().into_iter().take(5) {
        let [a, b] = overlap.bodies.map(|n| &plan.bodies[n as usize].body.name);
        let depth = 1e3 * overlap.depth_m;
        warnings.push(format!("`{a}` and `{b}` overlap by {depth:.1} mm at the beginning and will be pushed apart"));
    }
    Ok(world)
}

/// How a body moves.
fn kind(body: &Body) -> Kind {
    let key = |k: &super::Key| Key {
        time_s: k.time_s,
        position: Vec3::from_array(k.position),
        rotation: k.rotation.quaternion(),
    };
    if body.collider == ColliderChoice::None || body.is_fixed() {
        Kind::Fixed
    } else if !body.path.is_empty() {
        Kind::Path(body.path.iter().map(key).collect())
    } else if body.kinematic {
        Kind::Kinematic
    } else {
        Kind::Dynamic
    }
}

/// What the scene does to bodies by itself in the step that begins now: they enter and leave, and are pulled.
pub(super) fn move_by_hand(world: &mut World, plan: &Plan, now_s: f64, step_s: f64) -> Result<(), RigidError> {
    let due = |time_s: f64| (now_s - 0.5 * step_s..now_s + 0.5 * step_s).contains(&time_s);
    for (number, planned) in plan.bodies.iter().enumerate() {
        let (body, number) = (&planned.body, number as u32);
        if body.collider == ColliderChoice::None {
            continue;
        }
        if body.appears_s.is_some_and(|t| t > 0.0 && due(t)) {
            world.set_present(number, true)?;
        }
        if body.lives_s.is_some_and(|lives_s| due(body.appears_s.unwrap_or(0.0).max(0.0) + lives_s)) {
            world.set_present(number, false)?;
        }
        if let Some(drive) = &body.drive {
            if due(drive.from_s.max(0.0)) {
                let pull = Drive { velocity: Vec3::from_array(drive.velocity), most_force_n: drive.force_n };
                world.set_drive(number, Some(pull))?;
            }
            if drive.to_s.is_some_and(due) {
                world.set_drive(number, None)?;
            }
        }
    }
    Ok(())
}

/// The form in which a body collides.
fn rigid_shape(planned: &Planned) -> Rigid<'_> {
    let (body, mesh, s) = (&planned.body, &*planned.mesh, planned.scale);
    let slab = |x: f64, y: f64, thickness: f64| Rigid::Box { half: Vec3::new(0.5 * x, 0.5 * y, 0.5 * thickness) };
    match (body.collider, &body.shape) {
        (_, Shape::Plane) => Rigid::Compound(vec![Part {
            offset: Vec3::new(0.0, 0.0, -0.5 * FLOOR_DEPTH_M),
            rotation: [0.0, 0.0, 0.0, 1.0],
            shape: slab(2.0 * FLOOR_M, 2.0 * FLOOR_M, FLOOR_DEPTH_M),
        }]),
        (ColliderChoice::Hull, _) => Rigid::Hull(mesh),
        (ColliderChoice::Decomposed, _) => Rigid::Decomposed(mesh),
        (ColliderChoice::Mesh, _) => Rigid::Mesh(mesh),
        (_, Shape::Box(size) | Shape::Bar(size)) => Rigid::Box { half: 0.5 * s * Vec3::from_array(*size) },
        (_, Shape::Sphere(radius)) => Rigid::Sphere { radius: s * radius },
        (_, Shape::Plate([x, y])) => slab(s * x, s * y, planned.wall_m()),
        (_, Shape::Disc(radius)) => Rigid::Cylinder { half_height: 0.5 * planned.wall_m(), radius: s * radius },
        (_, Shape::Ring { radius, stock_radius, .. }) => {
            Rigid::Ring { radius: s * radius, stock_radius: s * stock_radius }
        }
        // Round, whatever the facets of its mesh: on those it would rattle. Who wants that asks for the hull.
        (_, &Shape::Cylinder { radius, height, capped: true, .. }) => {
            Rigid::Cylinder { half_height: 0.5 * s * height, radius: s * radius }
        }
        _ if body.is_fixed() => Rigid::Mesh(mesh),
        _ => Rigid::Decomposed(mesh),
    }
}
