//! Where the bodies of a scene are when it begins, as points that outline them. No model is made: tuned bodies have the
//! size that the file gives, and copies are where they are before jitter.

use eigentone_core::Vec3;
use eigentone_core::mesh::primitives;
use eigentone_scene::Error;
use eigentone_scene::scene::{Body, ColliderShape, Lands, MAX_BODIES, Region, Scene, Shape};
use glam::DQuat;
use std::collections::HashMap;
use std::sync::Arc;

/// Forms of more points are reduced to those that stand out.
const MAX_POINTS: usize = 400;
/// Thickness of what has none, as a share of its size.
const WALL: f64 = 0.01;

/// Something to draw: the outline of these points.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub name: String,
    /// In its own frame; `None` for a floor without end, whose top is `z = 0`.
    pub points: Option<Arc<Vec<Vec3>>>,
    pub position: Vec3,
    pub rotation: DQuat,
    pub sounding: bool,
    /// Not there from the beginning.
    pub later: bool,
    /// How many copies there are, at the first; 0 at the others and at what melodies drop.
    pub copies: usize,
}

impl Placed {
    /// The outline in the world; nothing for a floor.
    pub fn world(&self) -> impl Iterator<Item = Vec3> + '_ {
        self.points.iter().flat_map(|p| p.iter()).map(|p| self.rotation * *p + self.position)
    }
}

/// Everything that a sketch of a scene shows.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    pub(super) bodies: Vec<Placed>,
    /// Outlines of what particles strike.
    pub(super) colliders: Vec<Vec<Vec3>>,
    /// Outline of where particles start.
    pub(super) region: Option<Vec<Vec3>>,
    /// Whether a body has a pitch, so that its size will be another.
    pub(super) tuned: bool,
}

impl Stage {
    /// Places everything. Also returns what cannot be drawn because its file cannot be read.
    pub fn new(scene: &Scene) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let mut bodies: Vec<Placed> = Vec::new();
        let mut falling: Vec<(usize, Lands)> = Vec::new();
        let mut forms: HashMap<&str, Option<Arc<Vec<Vec3>>>> = HashMap::new();
        for body in &scene.bodies {
            let form = match form(scene, body) {
                Ok(form) => form,
                Err(e) => {
                    warnings.push(format!("body `{}`: {e}", body.name));
                    Some(Vec::new())
                }
            };
            let form = form.map(Arc::new);
            forms.insert(&body.name, form.clone());
            for copy in 0..body.count().min(MAX_BODIES.saturating_sub(bodies.len())) {
                falling.extend(body.lands.clone().map(|lands| (bodies.len(), lands)));
                bodies.push(place(body, form.clone(), copy));
            }
        }
        for melody in &scene.melodies {
            let Some(template) = scene.body(&melody.body) else { continue };
            for note in melody.score().unwrap_or_default() {
                let Some(target) = scene.bodies.iter().find(|b| b.tune == Some(note.note)) else { continue };
                let (at_s, height_m, offset) = (note.time_s, melody.height_m, melody.offset);
                falling.push((bodies.len(), Lands { on: target.name.clone(), at_s, height_m, offset }));
                let form = forms.get(template.name.as_str()).cloned().flatten();
                bodies.push(Placed { copies: 0, ..place(template, form.or_else(|| Some(Arc::default())), 0) });
            }
        }
        land(&mut bodies, &falling);
        let colliders = scene.colliders.iter().map(|c| collider(&c.shape)).collect();
        let region = scene.particles.as_ref().map(|p| region(&p.region));
        let tuned = scene.bodies.iter().any(|b| b.pitch_hz().is_some());
        (Self { bodies, colliders, region, tuned }, warnings)
    }
}

fn place(body: &Body, points: Option<Arc<Vec<Vec3>>>, copy: usize) -> Placed {
    let offset = body.copies.as_ref().map_or([0.0; 3], |c| c.offset(copy));
    // Who is on a path begins where the path does.
    let (position, rotation) = body.path.first().map_or((body.position, body.rotation), |k| (k.position, k.rotation));
    let [x, y, z, w] = rotation.quaternion();
    Placed {
        name: body.copy_name(copy),
        points,
        position: Vec3::from_array(position) + Vec3::from_array(offset),
        rotation: DQuat::from_xyzw(x, y, z, w),
        sounding: !body.is_silent(),
        later: body.appears_s.is_some_and(|t| t > 0.0),
        copies: if copy == 0 { body.count() } else { 0 },
    }
}

/// Puts bodies that fall onto others above these.
fn land(bodies: &mut [Placed], falling: &[(usize, Lands)]) {
    let numbers: HashMap<String, usize> = bodies.iter().enumerate().rev().map(|(k, b)| (b.name.clone(), k)).collect();
    for (number, lands) in falling {
        let Some(target) = numbers.get(&lands.on).map(|k| &bodies[*k]) else { continue };
        let [low, high] = bounds(target.world()).unwrap_or([target.position; 2]);
        let body = &bodies[*number];
        let below = body.world().map(|p| p.z - body.position.z).fold(0.0, f64::min);
        let middle = 0.5 * (low + high);
        bodies[*number].position =
            Vec3::new(middle.x + lands.offset[0], middle.y + lands.offset[1], high.z - below + lands.height_m);
        bodies[*number].later = true;
    }
}

/// Lowest and highest coordinates; `None` of nothing.
pub(super) fn bounds(points: impl Iterator<Item = Vec3>) -> Option<[Vec3; 2]> {
    points
        .filter(|p| p.is_finite())
        .fold(None, |all: Option<[Vec3; 2]>, p| Some(all.map_or([p, p], |[low, high]| [low.min(p), high.max(p)])))
}

/// Points that outline a body in its own frame; `None` for a floor.
fn form(scene: &Scene, body: &Body) -> Result<Option<Vec<Vec3>>, Error> {
    let slab = |x: f64, y: f64, z: f64| block(-0.5 * Vec3::new(x, y, z), 0.5 * Vec3::new(x, y, z));
    let points = match body.shape {
        Shape::Box([x, y, z]) | Shape::Bar([x, y, z]) => slab(x, y, z),
        Shape::Plate([x, y]) => slab(x, y, body.thickness_m.unwrap_or(WALL * x.max(y))),
        Shape::Sphere(radius) => primitives::sphere(radius, 24, 12).positions,
        Shape::Disc(radius) => {
            primitives::cylinder(radius, body.thickness_m.unwrap_or(2.0 * WALL * radius), 40, 1, true).positions
        }
        Shape::Cylinder { radius, height, .. } => primitives::cylinder(radius, height, 40, 1, true).positions,
        Shape::Ring { radius, stock_radius, .. } => primitives::ring(radius, stock_radius, 40, 8).positions,
        Shape::Bowl { radius, .. } => primitives::bowl(radius, 32, 10).positions,
        Shape::Bell { lip_radius, height, .. } => primitives::bell(lip_radius, height, 32, 10).positions,
        Shape::Tumbler { base_radius, rim_radius, height, .. } => {
            primitives::tumbler(base_radius, rim_radius, height, 32, 8).positions
        }
        Shape::Mesh(ref file) => {
            let mesh = eigentone_io::read_mesh(&scene.resolve(file)?)?;
            mesh.positions.into_iter().map(|p| body.scale * p).collect()
        }
        Shape::OfModel => match &body.model {
            Some(file) => eigentone_io::read_model(&scene.resolve(file)?)?.surface.to_mesh().positions,
            None => Vec::new(),
        },
        Shape::Plane => return Ok(None),
        // Kinds that came later have no outline yet.
        _ => Vec::new(),
    };
    Ok(Some(reduced(points)))
}

/// Of many points those that lie furthest out, in directions all around.
fn reduced(points: Vec<Vec3>) -> Vec<Vec3> {
    if points.len() <= MAX_POINTS {
        return points;
    }
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let furthest =
        |direction: Vec3| points.iter().copied().max_by(|a, b| a.dot(direction).total_cmp(&b.dot(direction)));
    (0..MAX_POINTS)
        .filter_map(|k| {
            let z = 1.0 - (2 * k + 1) as f64 / MAX_POINTS as f64;
            let (sin, cos) = (golden * k as f64).sin_cos();
            furthest((1.0 - z * z).sqrt() * Vec3::new(cos, sin, 0.0) + z * Vec3::Z)
        })
        .collect()
}

/// Corners of a box.
fn block(low: Vec3, high: Vec3) -> Vec<Vec3> {
    let pick = |k: usize, bit: usize, axis: usize| if k >> bit & 1 == 0 { low[axis] } else { high[axis] };
    (0..8).map(|k| Vec3::new(pick(k, 0, 0), pick(k, 1, 1), pick(k, 2, 2))).collect()
}

/// Points on an ellipse.
fn ellipse(centre: Vec3, [a, b]: [Vec3; 2]) -> impl Iterator<Item = Vec3> {
    (0..40).map(move |k| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 40.0).sin_cos();
        centre + cos * a + sin * b
    })
}

/// Half axes of a circle perpendicular to a vector.
fn circle(normal: Vec3, radius: f64) -> [Vec3; 2] {
    let normal = normal.normalize_or(Vec3::Z);
    let a = normal.any_orthonormal_vector();
    [radius * a, radius * normal.cross(a)]
}

fn collider(shape: &ColliderShape) -> Vec<Vec3> {
    let v = Vec3::from_array;
    match *shape {
        ColliderShape::Quad { corner, edges } => {
            let (corner, [a, b]) = (v(corner), edges.map(v));
            vec![corner, corner + a, corner + a + b, corner + b]
        }
        ColliderShape::Disc { centre, normal, radius } => ellipse(v(centre), circle(v(normal), radius)).collect(),
        ColliderShape::Ellipse { centre, axes } => ellipse(v(centre), axes.map(v)).collect(),
        ColliderShape::Sphere { centre, radius } => {
            primitives::sphere(radius, 24, 12).positions.into_iter().map(|p| p + v(centre)).collect()
        }
        ColliderShape::Cylinder { base, axis, radius } => {
            let axes = circle(v(axis), radius);
            ellipse(v(base), axes).chain(ellipse(v(base) + v(axis), axes)).collect()
        }
        ColliderShape::Quadric { origin, axes, low, high, .. } => {
            let [x, y, z] = axes.map(v);
            block(v(low), v(high)).into_iter().map(|p| v(origin) + p.x * x + p.y * y + p.z * z).collect()
        }
        _ => Vec::new(),
    }
}

fn region(region: &Region) -> Vec<Vec3> {
    let v = Vec3::from_array;
    match *region {
        Region::Box { low, high } => block(v(low), v(high)),
        Region::Disc { centre, normal, radius } => ellipse(v(centre), circle(v(normal), radius)).collect(),
    }
}
