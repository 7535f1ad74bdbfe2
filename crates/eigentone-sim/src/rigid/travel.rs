//! How fast a point of contact travels over the two surfaces.
//!
//! Two spheres with centres of curvature at distances `R_i`: `v_C = (R₂ v₁ + R₁ v₂) / (R₁ + R₂)`. A round surface on a flat
//! one: `v_C = v_cv + ω_flat × (r_C − r_cv)`, with the centre of curvature `cv` of the round one. A cylinder on its side is round
//! about the nearest point of its axis. Over surface `i` the point travels at `|v_C − v_Si|`.
//!
//! A ring of axis `a` touches a flat of normal `n` below the point of its circle in the direction `e` that is nearest to it: `e` is in
//! the plane of `n` and `a` and at right angles to `a`. With `b = a × e`, `e' = b (n' · b − (n · a)(a' · b)) / (n · e) − a (e · a')`,
//! and `v_C = v_ring + R e' + ω_flat × (r_C − r_circle)`.

use super::motion::Motion;
use super::spec::Shape;
use super::{from_engine, to_engine};
use eigentone_core::Vec3;
use rapier3d::math::Pose as EnginePose;
use rapier3d::parry::shape::{Shape as EngineShape, TypedShape};

/// What is known of a body's curvature.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Surface {
    Sphere,
    Cylinder {
        half_height: f64,
    },
    Box,
    Ring {
        radius: f64,
    },
    /// Made of facets.
    Other,
    /// Round, in a way that is not followed.
    Unknown,
}

impl Surface {
    pub(super) fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Sphere { .. } => Self::Sphere,
            Shape::Cylinder { half_height, .. } => Self::Cylinder { half_height: *half_height },
            Shape::Box { .. } => Self::Box,
            Shape::Ring { radius, .. } => Self::Ring { radius: *radius },
            _ => Self::Other,
        }
    }

    /// Of one of the engine's own shapes; its cylinders stand along y instead of z.
    pub(super) fn of_engine(shape: &dyn EngineShape) -> Self {
        match shape.as_typed_shape() {
            TypedShape::Ball(_) => Self::Sphere,
            TypedShape::Cylinder(cylinder) => Self::Cylinder { half_height: f64::from(cylinder.half_height) },
            TypedShape::Cuboid(_) => Self::Box,
            TypedShape::HalfSpace(_)
            | TypedShape::Triangle(_)
            | TypedShape::TriMesh(_)
            | TypedShape::HeightField(_)
            | TypedShape::ConvexPolyhedron(_)
            | TypedShape::Voxels(_) => Self::Other,
            _ => Self::Unknown,
        }
    }
}

/// The surface around a point of contact.
enum Around {
    /// With its centre of curvature.
    Round(Vec3),
    Flat,
    /// A ring's, with the radius of its circle.
    Rim(f64),
    Sharp,
}

/// Normals within 2° of a face's or an axis' count as such: cos 2° and sin 2°.
const ALONG: f64 = 0.9994;
const ACROSS: f64 = 0.035;

fn around(surface: Surface, place: &EnginePose, point: Vec3, normal: Vec3) -> Around {
    let origin = from_engine(place.translation);
    let local = from_engine(place.rotation.inverse() * to_engine(normal)).abs();
    match surface {
        Surface::Sphere => Around::Round(origin),
        Surface::Cylinder { half_height } => {
            let axis = from_engine(place.rotation * to_engine(Vec3::Z));
            let along = (point - origin).dot(axis);
            if local.z > ALONG {
                Around::Flat
            } else if local.z < ACROSS && along.abs() < 1.01 * half_height {
                Around::Round(origin + axis * along)
            } else {
                Around::Sharp
            }
        }
        Surface::Ring { radius } => Around::Rim(radius),
        Surface::Box if local.max_element() < ALONG => Around::Sharp,
        Surface::Box | Surface::Other => Around::Flat,
        Surface::Unknown => Around::Sharp,
    }
}

/// Velocity of the point in which a ring touches a flat; a ring that lies on it touches in no single one.
fn rim(radius: f64, place: &EnginePose, [ring, flat]: [&Motion; 2], point: Vec3, normal: Vec3) -> Option<Vec3> {
    let centre = from_engine(place.translation);
    let axis = from_engine(place.rotation * to_engine(Vec3::Z));
    let out = (point - centre).reject_from_normalized(axis).normalize_or_zero();
    let (facing, around) = (normal.dot(out), axis.cross(out));
    if facing.abs() < ACROSS {
        return None;
    }
    let (axis_turns, normal_turns) = (ring.spin.cross(axis), flat.spin.cross(normal));
    let along = (normal_turns.dot(around) - normal.dot(axis) * axis_turns.dot(around)) / facing;
    let out_turns = around * along - axis * out.dot(axis_turns);
    Some(ring.at(centre) + radius * out_turns + flat.spin.cross(point - centre - radius * out))
}

/// Speeds of the point of contact over both surfaces, where their curvature tells; surfaces come with the place of their frame.
pub(super) fn travel(
    surfaces: [(Surface, EnginePose); 2],
    motions: &[Motion; 2],
    point: Vec3,
    normal: Vec3,
) -> Option<[f32; 2]> {
    let [first, second] = surfaces.each_ref().map(|(surface, place)| around(*surface, place, point, normal));
    let over_flat =
        |round: usize, centre: Vec3| motions[round].at(centre) + motions[1 - round].spin.cross(point - centre);
    let velocity = match (first, second) {
        (Around::Round(centre), Around::Flat) => over_flat(0, centre),
        (Around::Flat, Around::Round(centre)) => over_flat(1, centre),
        (Around::Rim(radius), Around::Flat) => rim(radius, &surfaces[0].1, [&motions[0], &motions[1]], point, normal)?,
        (Around::Flat, Around::Rim(radius)) => rim(radius, &surfaces[1].1, [&motions[1], &motions[0]], point, normal)?,
        (Around::Round(a), Around::Round(b)) if surfaces.iter().all(|s| s.0 == Surface::Sphere) => {
            let (ra, rb) = (point.distance(a), point.distance(b));
            (motions[0].at(a) * rb + motions[1].at(b) * ra) / (ra + rb)
        }
        _ => return None,
    };
    Some(motions.each_ref().map(|motion| (velocity - motion.at(point)).reject_from_normalized(normal).length() as f32))
}
