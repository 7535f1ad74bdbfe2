//! A spring from a point of a body to a moving target: how a hand or a mouse takes hold of things.
//!
//! At a point with the arm `r` from the centre of mass a force `F` gives the acceleration `K F`, with
//! `K = 1/m + [r]ᵀ I⁻¹ [r]` (matrices, `[r] x = r × x`). The spring is meant for the mass that is felt there, `K⁻¹`, so that the point follows
//! `x″ + 2 ζ ω x′ + ω² x = 0` whatever the body.
//!
//! The equation is not integrated but solved: over a step of length `h` its solutions obey `xₙ₊₁ = T xₙ − D xₙ₋₁` with
//! `T = e^{λ₁h} + e^{λ₂h}`, `D = e^{(λ₁+λ₂)h}` and `λ² + 2ζωλ + ω² = 0`. The engine spreads a force over `n` parts of a step, so that a change
//! of velocity `Δv` moves the point by `β h Δv`, `β = (n + 1) / 2n`. With `h Δv = −a x − b h v` its motion has the trace `2 − βa − b` and the
//! determinant `1 − b + (1 − β) a`; these are `T` and `D` for `a = 1 + D − T` and `b = 2 − T − βa`. Both roots lie within the unit circle
//! for every frequency and step: nothing is too stiff.
//!
//! Farther away than the strongest pull `F` can follow the spring, the way counts for no more than leads to the speed `√(x F/m)`, from which the pull
//! can stop the body on half of the way.

use super::spec::RigidError;
use super::{checked, from_engine, in_range, positive, to_engine};
use eigentone_core::Vec3;
use rapier3d::prelude::RigidBody;

/// Weights of the body (at 9.81 m/s²) that an unlimited drag pulls with at most, and what it adds for light ones, in N. Tuned: a hand can shake what
/// it can hold, and does not throw a ball through a wall.
const MAX_WEIGHTS: f64 = 50.0;
const LEAST_FORCE_N: f64 = 1.0;
const GRAVITY_M_S2: f64 = 9.81;
/// The pull at an arm makes a pendulum of the body. It swings by no more than this angle per step, in rad: a stronger pull acts nearer to the centre of mass,
/// and a tenth of the spin is lost in each step.
const MAX_SWING: f64 = 0.5;
/// Held, a body that turns by more than this per step, in rad, loses a tenth of the excess: its point could not be followed.
const MAX_TURN: f64 = 0.1;
const TURN_LOSS: f64 = 0.1;

/// A pull from a point of a body to a target, for [`World::set_drag`](super::World::set_drag). A body that hangs from it sags by `g/ω²`, 1 cm at 5 Hz. One that
/// is so light, or pulled so hard, that it would turn further in a step than can be followed, is pulled nearer to its centre of mass.
///
/// ```
/// use eigentone_core::Vec3;
/// use eigentone_sim::rigid::{BodySpec, Drag, Shape, World, WorldSettings};
///
/// let mut world = World::new(WorldSettings { gravity: Vec3::ZERO, ..Default::default() })?;
/// let block = world.add(&BodySpec::new(Shape::Box { half: Vec3::splat(0.05) }))?;
/// for step in 0..480 {
///     let mouse = Vec3::new(0.3 * f64::from(step.min(240)) / 240.0, 0.0, 0.0);
///     world.set_drag(block, Some(Drag { local: Vec3::new(0.05, 0.0, 0.0), target: mouse, ..Drag::default() }))?;
///     world.step();
/// }
/// assert!((world.pose(block).unwrap().position[0] - 0.25).abs() < 1e-3);
/// # Ok::<(), eigentone_sim::rigid::RigidError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    /// The point that is held, in the body's frame.
    pub local: Vec3,
    /// Where it is pulled to, in the world.
    pub target: Vec3,
    /// Frequency of the spring with the mass that is felt at the point.
    pub frequency_hz: f64,
    /// 1 is critical: as fast as possible without overshoot.
    pub damping_ratio: f64,
    /// The strongest pull, in N. Infinite stands for 50 times the body's weight on Earth and 1 N.
    pub max_force_n: f64,
}

impl Default for Drag {
    /// From the body's origin to the world's: 5 Hz, critically damped, with up to 50 times the body's weight and 1 N.
    fn default() -> Self {
        Self {
            local: Vec3::ZERO,
            target: Vec3::ZERO,
            frequency_hz: 5.0,
            damping_ratio: 1.0,
            max_force_n: f64::INFINITY,
        }
    }
}

impl Drag {
    pub(super) fn check(&self) -> Result<(), RigidError> {
        checked("the drag's point", self.local)?;
        checked("the drag's target", self.target)?;
        in_range("the drag's frequency", self.frequency_hz, 1e-3, 1e6)?;
        in_range("the drag's damping ratio", self.damping_ratio, 1e-3, 1e3)?;
        if self.max_force_n == f64::INFINITY {
            return Ok(());
        }
        positive("the drag's force", self.max_force_n).map(|_| ())
    }

    /// Adds the pull for the next step to the forces of a body; `velocity` is that of its centre of mass.
    pub(super) fn pull(&self, body: &mut RigidBody, velocity: Vec3, step_s: f64, substeps: u32) {
        let (centre, spin) = (from_engine(body.center_of_mass()), from_engine(body.angvel()));
        let arm = from_engine(body.position() * to_engine(self.local)) - centre;
        let mass_kg = f64::from(body.mass());
        let most = if self.max_force_n.is_finite() {
            self.max_force_n
        } else {
            MAX_WEIGHTS * GRAVITY_M_S2 * mass_kg + LEAST_FORCE_N
        };
        let change = |arm: Vec3| {
            let (away, speed) = (centre + arm - self.target, velocity + spin.cross(arm));
            self.change(away, speed, most / mass_kg, step_s, substeps)
        };
        let strongest = (mass_kg * change(arm).length() / step_s).min(most);
        let share = resolved_share(body, arm, strongest, step_s);
        let arm = arm * share;
        let force = (felt_mass(body, arm) * (change(arm) / step_s)).clamp_length_max(most);
        if force.is_finite() {
            body.add_force_at_point(to_engine(force), to_engine(centre + arm), false);
        }
        let turn = spin.length() * step_s;
        let excess = if share < 1.0 { 1.0 } else { 1.0 - (MAX_TURN / turn).min(1.0) };
        if turn > 0.0 && excess > 0.0 {
            body.set_angvel(to_engine(spin * (1.0 - TURN_LOSS * excess)), false);
        }
    }

    /// The change of the point's velocity that is asked for in a step, if no more than `most` m/s² can be had.
    fn change(&self, mut away: Vec3, speed: Vec3, most: f64, step_s: f64, substeps: u32) -> Vec3 {
        let far = away.length();
        let [mut place, mut pace] = self.gains(step_s, substeps);
        let follows = most * step_s * step_s / place;
        if far > follows {
            // From out there, nobody swings.
            let slow = Self { damping_ratio: self.damping_ratio.max(1.0), ..*self };
            [place, pace] = slow.gains(step_s, substeps);
            let reach = (most * far).sqrt() * pace * step_s / place;
            away *= (reach.max(follows) / far).min(1.0);
        }
        -(place * away + pace * step_s * speed) / step_s
    }

    /// `a` and `b`.
    fn gains(&self, step_s: f64, substeps: u32) -> [f64; 2] {
        let turn = std::f64::consts::TAU * self.frequency_hz * step_s;
        let z = self.damping_ratio;
        let trace = if z < 1.0 {
            2.0 * (-z * turn).exp() * (turn * (1.0 - z * z).sqrt()).cos()
        } else {
            let root = (z * z - 1.0).sqrt();
            // The slow root without cancellation: its product with the other is 1.
            (-turn * (z + root)).exp() + (-turn / (z + root)).exp()
        };
        let product = (-2.0 * z * turn).exp();
        let n = f64::from(substeps);
        let a = 1.0 + product - trace;
        [a, 2.0 - trace - a * (n + 1.0) / (2.0 * n)]
    }
}

/// How much of the arm a force may have: `F r / I` is the square of the pendulum's frequency.
fn resolved_share(body: &RigidBody, arm: Vec3, force_n: f64, step_s: f64) -> f64 {
    let Some(along) = arm.try_normalize() else { return 1.0 };
    let inertia = body.mass_properties().effective_world_inv_inertia;
    let ease = |axis: Vec3| from_engine(inertia * to_engine(axis)).dot(axis);
    let (x, y) = along.any_orthonormal_pair();
    let swing = force_n * arm.length() * ease(x).max(ease(y)) * step_s * step_s;
    if swing > MAX_SWING * MAX_SWING { MAX_SWING * MAX_SWING / swing } else { 1.0 }
}

/// `K⁻¹` at an arm from the centre of mass, in double precision (light bodies have inverses that single precision does not multiply); zero if nothing
/// can move.
fn felt_mass(body: &RigidBody, arm: Vec3) -> glam::DMat3 {
    let mass = body.mass_properties();
    let turn = |v: Vec3| from_engine(mass.effective_world_inv_inertia * to_engine(v));
    // Columns of K: how the point quickens under a unit force along each axis.
    let column = |axis: Vec3| axis * f64::from(1.0 / body.mass()) + turn(arm.cross(axis)).cross(arm);
    let k = glam::DMat3::from_cols(column(Vec3::X), column(Vec3::Y), column(Vec3::Z));
    let inverse = k.inverse();
    if inverse.is_finite() { inverse } else { glam::DMat3::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the frequency and the damping, the motion of a step has its roots within the unit circle, and its trace and
    /// determinant are those of `e^{λ₁h}`, `e^{λ₂h}`.
    #[test]
    fn no_spring_is_too_stiff() {
        for exponent in -3..=6 {
            for damping_ratio in [0.001, 0.1, 0.7, 1.0, 3.0, 1000.0] {
                let drag = Drag { frequency_hz: 10f64.powi(exponent), damping_ratio, ..Drag::default() };
                let (h, n) = (1.0 / 480.0, 4);
                let [a, b] = drag.gains(h, n);
                let beta = 0.625;
                let trace: f64 = 2.0 - beta * a - b;
                let product: f64 = 1.0 - b + (1.0 - beta) * a;
                // Jury's conditions for z² − T z + D.
                assert!(product <= 1.0 + 1e-9, "{drag:?}: {product}");
                assert!(trace.abs() <= 1.0 + product + 1e-9, "{drag:?}: {trace} {product}");
            }
        }
    }
}
