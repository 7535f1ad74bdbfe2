//! From the engine's contact manifolds to our points of contact.
//!
//! The engine finds contacts at the beginning of a step, solves, and moves the bodies; read after the step, a manifold has the
//! geometry of the beginning and the impulses of the step. Impulses belong to the points that the solver saw
//! (`solver_manifolds`, `solver_contacts`), found by their index.

use super::motion::Motion;
use super::travel::{Surface, travel};
use super::{from_engine, to_array};
use eigentone_core::Vec3;
use eigentone_core::contact::{Contact, ContactPoint};
use rapier3d::math::Pose as EnginePose;
use rapier3d::prelude::{ColliderHandle, ContactManifold, ContactPair, RigidBodySet, SolverContact};
use rapier3d::utils::OrthonormalBasis;

/// Points of contact of one pair at most; the impulses of others go to their nearest neighbours.
const MAX_POINTS: usize = 8;
/// Surfaces that pass no momentum still touch if they overlap and part more slowly than this, in m/s.
const PARTING_M_S: f64 = 1e-3;

/// One body of a pair during one step.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub(super) number: u32,
    pub(super) before: Motion,
    pub(super) after: Motion,
    /// What gravity gives it, in m/s².
    pub(super) pull: Vec3,
    pub(super) surface: Surface,
    /// Where the surface's own frame was at the beginning of the step.
    pub(super) place: EnginePose,
}

/// All pairs that touched during a step of rapier, without their numbers; `side` finds the bodies, and contacts of unknown ones are left out.
pub(super) fn contacts<'a>(
    pairs: impl Iterator<Item = &'a ContactPair>,
    set: &RigidBodySet,
    step_s: f64,
    side: impl Fn(ColliderHandle) -> Option<Side>,
) -> Vec<Contact> {
    let mut contacts: Vec<Contact> = Vec::new();
    for pair in pairs {
        let (Some(first), Some(second)) = (side(pair.collider1), side(pair.collider2)) else { continue };
        if first.number == second.number {
            continue;
        }
        let swapped = first.number > second.number;
        let points = Pair { sides: [first, second], swapped, step_s }.points(pair, set);
        if !points.is_empty() {
            let bodies = if swapped { [second.number, first.number] } else { [first.number, second.number] };
            contacts.push(Contact { bodies, points, ..Contact::default() });
        }
    }
    contacts
}

/// One contact per pair of bodies, whose colliders may be many.
pub(super) fn joined(mut contacts: Vec<Contact>) -> Vec<Contact> {
    contacts.sort_by_key(|c| c.bodies);
    contacts.dedup_by(|next, first| {
        let same = next.bodies == first.bodies;
        if same {
            first.points.append(&mut next.points);
            thin(&mut first.points);
        }
        same
    });
    contacts
}

struct Pair {
    /// In the order of the engine.
    sides: [Side; 2],
    /// Whether the engine's first body is our second.
    swapped: bool,
    step_s: f64,
}

impl Pair {
    /// Where the two touch; empty if the engine only expected them to.
    fn points(&self, contacts: &ContactPair, set: &RigidBodySet) -> Vec<ContactPoint> {
        let mut points: Vec<ContactPoint> = contacts
            .solver_manifolds()
            .iter()
            .flat_map(|m| m.data.solver_contacts.iter().filter_map(move |c| self.point(m, c, set)))
            .collect();
        thin(&mut points);
        points
    }

    fn point(&self, manifold: &ContactManifold, contact: &SolverContact, set: &RigidBodySet) -> Option<ContactPoint> {
        let data = &manifold.points.get(contact.contact_indices()[0] as usize)?.data;
        let normal = from_engine(manifold.data.normal).normalize_or_zero();
        let before = self.sides.map(|s| s.before);
        // The engine keeps the arm to each centre of mass, or a point of the world for a side that cannot move.
        let start = if manifold.data.relative_dominance <= 0 {
            before[0].centre + from_engine(data.solver_dp1)
        } else {
            before[1].centre + from_engine(data.solver_dp2)
        };
        let gap = f64::from(contact.dist);
        let (touch_s, approach) = self.meet(&before, start, normal, gap);
        let impulse = f64::from(data.impulse);
        if !(impulse > 0.0 || gap <= 0.0 && approach > -PARTING_M_S) {
            return None;
        }
        let push = -manifold.data.normal;
        let across = push.orthonormal_vector();
        let friction = across * data.tangent_impulse.x + push.cross(across) * data.tangent_impulse.y;
        // Friction does the work `J · (v_before + v_after) / 2`: the mean is the slip that it was felt at.
        let mean = [0, 1].map(|i| before[i].halfway(&self.sides[i].after));
        let slip = (mean[0].at(start) - mean[1].at(start)).reject_from_normalized(normal);
        let travelled = travel(self.sides.map(|s| (s.surface, s.place)), &mean, start, normal);
        let (one, two) = manifold.data.solver_contact_world_points(contact, set);
        let sign = if self.swapped { -1.0 } else { 1.0 };
        let point = ContactPoint {
            position: to_array(from_engine((one + two) * 0.5)),
            normal: to_array(normal * sign),
            normal_impulse_ns: impulse.max(0.0) as f32,
            tangent_impulse_ns: to_array(from_engine(friction) * sign),
            slip_m_s: to_array(slip * sign),
            approach_m_s: approach as f32,
            touch_s: touch_s as f32,
            travel_m_s: travelled.map(|[a, b]| if self.swapped { [b, a] } else { [a, b] }),
        };
        is_finite(&point).then_some(point)
    }

    /// When the gap closes and how fast, as if nothing but gravity acted: `gap = v t + a t² / 2`, `v(t) = v + a t`.
    fn meet(&self, before: &[Motion; 2], point: Vec3, normal: Vec3, gap: f64) -> (f64, f64) {
        let closing = (before[0].at(point) - before[1].at(point)).dot(normal);
        let quickening = (self.sides[0].pull - self.sides[1].pull).dot(normal);
        let root = closing * closing + 2.0 * quickening * gap;
        let touch = if gap <= 0.0 {
            0.0
        } else if root > 0.0 && closing + root.sqrt() > 0.0 {
            (2.0 * gap / (closing + root.sqrt())).min(self.step_s)
        } else {
            self.step_s
        };
        (touch, closing + quickening * touch)
    }
}

/// What a solver that has failed leaves behind does not go into a frame.
fn is_finite(point: &ContactPoint) -> bool {
    let numbers = [point.position, point.normal, point.tangent_impulse_ns, point.slip_m_s];
    numbers.iter().flatten().all(|x| x.is_finite())
        && [point.normal_impulse_ns, point.approach_m_s, point.touch_s].iter().all(|x| x.is_finite())
        && point.travel_m_s.is_none_or(|t| t.iter().all(|x| x.is_finite()))
}

/// Keeps the strongest points.
fn thin(points: &mut Vec<ContactPoint>) {
    if points.len() > MAX_POINTS {
        points.sort_by(|a, b| b.normal_impulse_ns.total_cmp(&a.normal_impulse_ns));
        let rest = points.split_off(MAX_POINTS);
        rest.iter().for_each(|p| merge(points, p));
    }
}

/// Adds a point's impulses to those of the nearest.
fn merge(points: &mut [ContactPoint], extra: &ContactPoint) {
    let at = |p: &ContactPoint| Vec3::from_array(p.position.map(f64::from));
    let nearest = points.iter_mut().min_by(|a, b| {
        let [a, b] = [a, b].map(|p| at(p).distance_squared(at(extra)));
        a.total_cmp(&b)
    });
    if let Some(point) = nearest {
        point.normal_impulse_ns += extra.normal_impulse_ns;
        (0..3).for_each(|k| point.tangent_impulse_ns[k] += extra.tangent_impulse_ns[k]);
    }
}
