//! Keeps sliding friction at `μ N`.
//!
//! At each point the engine finds the impulse that would stop the slip `v`, `J = −K⁻¹ v` with the inverse effective mass `K` of
//! the two tangents, and shortens it to `μ N`. `K` contains how the body would turn, so that `J` does not oppose `v`: the four
//! corners of a sliding square pull 31° inward and outward, and their sum is 14 % below Coulomb's. Where a manifold slides,
//! its coefficient is divided by the mean of the cosines between `K⁻¹ v` and `v`.

use rapier3d::math::Vector;
use rapier3d::prelude::{ContactModificationContext, PhysicsHooks, RigidBody};
use rapier3d::utils::OrthonormalBasis;

/// Below this, in m/s, points stick or are about to, and nothing is corrected. A few times what friction takes off in a step.
const STICKS_M_S: f32 = 5e-3;
/// Two bodies of like size cannot lose more than this; guards against needles.
const LEAST_COSINE: f32 = 0.5;

/// The engine calls this between finding contacts and solving them.
pub(super) struct Sliding;

impl PhysicsHooks for Sliding {
    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let sides = [context.rigid_body1, context.rigid_body2].map(|b| b.and_then(|b| context.bodies.get(b)));
        let Some(manifold) = context.rigid_mut() else { return };
        let tangents = manifold.normal.orthonormal_basis();
        let (mut sum, mut count) = (0.0, 0.0);
        for contact in manifold.solver_contacts.iter() {
            sum += cosine(sides, tangents, (contact.anchor1 + contact.anchor2) * 0.5);
            count += 1.0;
        }
        if count > 0.0 {
            *manifold.friction /= (sum / count).max(LEAST_COSINE);
        }
    }
}

/// Between the slip at a point and the impulse that would stop it.
fn cosine(sides: [Option<&RigidBody>; 2], tangents: [Vector; 2], point: Vector) -> f32 {
    let velocity = |side: Option<&RigidBody>| side.map_or(Vector::ZERO, |b| b.velocity_at_point(point));
    let slip = velocity(sides[0]) - velocity(sides[1]);
    let [v, w] = tangents.map(|t| t.dot(slip));
    let speed = v.hypot(w);
    if speed < STICKS_M_S {
        return 1.0;
    }
    let mut k = [[0.0; 2]; 2];
    for body in sides.into_iter().flatten() {
        let mass = body.mass_properties();
        let arm = point - mass.world_com;
        for (i, row) in k.iter_mut().enumerate() {
            let turn = mass.effective_world_inv_inertia * arm.cross(tangents[i]);
            for (j, k) in row.iter_mut().enumerate() {
                *k += tangents[i].dot(mass.effective_inv_mass * tangents[j]) + turn.dot(arm.cross(tangents[j]));
            }
        }
    }
    // K⁻¹ v up to its length.
    let (x, y) = (k[1][1] * v - k[0][1] * w, k[0][0] * w - k[1][0] * v);
    let length = x.hypot(y);
    if length > 0.0 { (x * v + y * w) / (length * speed) } else { 1.0 }
}
