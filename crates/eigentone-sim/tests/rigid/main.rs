//! What a world of rigid bodies must get right for its sound: momentum, friction, timing, slip, travel, and an orderly stream.

mod bodies;
mod changes;
mod drag;
mod limits;
mod momentum;
mod reader;
mod rings;
mod snapshots;
mod stream;
mod surfaces;
mod zoo;

use eigentone_core::Vec3;
use eigentone_core::contact::{Contact, ContactFrame, ContactPoint};
use eigentone_sim::rigid::{BodySpec, Kind, Shape, World, WorldSettings};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 480.0;

fn world() -> World {
    World::new(WorldSettings::default()).unwrap()
}

/// A world with a floor (body 0) whose top is at `z = 0`.
fn world_with_floor(friction: f64, restitution: f64) -> World {
    let mut world = world();
    let shape = Shape::Box { half: Vec3::new(2.0, 2.0, 0.1) };
    let position = Vec3::new(0.0, 0.0, -0.1);
    world.add(&BodySpec { kind: Kind::Fixed, position, friction, restitution, ..BodySpec::new(shape) }).unwrap();
    world
}

fn vector(v: [f32; 3]) -> Vec3 {
    Vec3::from_array(v.map(f64::from))
}

/// What a contact gave to one of its bodies, in N·s.
fn given(contact: &Contact, body: u32) -> Vec3 {
    let to_first = |p: &ContactPoint| vector(p.tangent_impulse_ns) - vector(p.normal) * f64::from(p.normal_impulse_ns);
    let sum: Vec3 = contact.points.iter().map(to_first).sum();
    match contact.bodies {
        [first, _] if first == body => sum,
        [_, second] if second == body => -sum,
        _ => Vec3::ZERO,
    }
}

/// What all contacts of a frame gave to a body.
fn given_in(frame: &ContactFrame, body: u32) -> Vec3 {
    frame.contacts.iter().map(|c| given(c, body)).sum()
}

fn points(frame: &ContactFrame) -> impl Iterator<Item = &ContactPoint> {
    frame.contacts.iter().flat_map(|c| &c.points)
}
