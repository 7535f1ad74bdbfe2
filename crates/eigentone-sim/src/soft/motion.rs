//! How colliders move between the steps of what moves them.
//!
//! Rigid bodies are simulated in steps of milliseconds, soft ones in steps of microseconds. A collider that jumped, or changed its velocity at once, would knock on what it touches 480
//! times a second. So it follows the poses it is told on a curve without kinks: told pose P_k, it sets out for the middle between P_{k−1} and P_k, to arrive a step later with the velocity
//! (P_k − P_{k−1})/h, by a cubic that begins with the place and velocity it has. Told in time, that is the quadratic B-spline through the poses: its velocity goes in straight
//! lines from one difference to the next, and nothing overshoots. The price is a delay of one and a half steps ([`DELAY_STEPS`]). Untold for longer, it goes on as it went, at most
//! `LONGEST_S`, and then stands still.

use eigentone_core::Vec3;
use glam::DQuat;

/// By how many steps of the rigid simulation a collider is behind what it was told.
pub const DELAY_STEPS: f64 = 1.5;
/// How long a collider goes on by itself, in s.
const LONGEST_S: f64 = 0.05;
/// Share of a delay by which the next pose is expected later.
const FOLLOW: f64 = 0.02;
/// Farther than this many times what its speed makes plausible, a pose is a jump: it is not swept there.
const JUMP: f64 = 4.0;
/// What is no jump at any speed, in m and rad.
const NO_JUMP_M: f64 = 0.005;
const NO_JUMP_RAD: f64 = 0.2;

/// Where something is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Of the origin of its coordinates, in m.
    pub position: Vec3,
    /// How it is turned.
    pub rotation: DQuat,
    /// Of its origin, in m/s.
    pub velocity: Vec3,
    /// Angular velocity, in rad/s.
    pub spin: Vec3,
}

impl Pose {
    /// At rest in the origin.
    pub const REST: Self =
        Self { position: Vec3::ZERO, rotation: DQuat::IDENTITY, velocity: Vec3::ZERO, spin: Vec3::ZERO };

    /// Whether its numbers can be used.
    pub fn is_usable(&self) -> bool {
        let points = [self.position, self.velocity, self.spin];
        points.iter().all(|p| p.is_finite() && p.length_squared() < 1e12)
            && self.rotation.is_finite()
            && (self.rotation.length_squared() - 1.0).abs() < 0.1
    }

    /// Moved on by some time without forces.
    fn later(&self, by_s: f64) -> Self {
        Self {
            position: self.position + self.velocity * by_s,
            rotation: turned(self.spin * by_s) * self.rotation,
            ..*self
        }
    }

    /// Velocity of its matter at a place in the world.
    pub fn velocity_at(&self, p: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(p - self.position)
    }

    /// A place in the world, in its own coordinates.
    pub fn to_local(self, p: Vec3) -> Vec3 {
        self.rotation.inverse() * (p - self.position)
    }
}

/// The rotation by a vector.
pub(super) fn turned(by: Vec3) -> DQuat {
    DQuat::from_scaled_axis(by).normalize()
}

/// The curve of a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Motion {
    /// As told last.
    told: Pose,
    told_s: f64,
    /// From where it set out, and when.
    from: Pose,
    from_s: f64,
    length_s: f64,
    /// Where it arrives.
    to: Pose,
    /// The rotation between.
    turn: Vec3,
}

impl Motion {
    /// Placed, without a way there.
    pub fn placed(told: Pose, now_s: f64, step_s: f64) -> Self {
        let from = told.later(-DELAY_STEPS * step_s);
        let to = from.later(step_s);
        Self { told, told_s: now_s, from, from_s: now_s, length_s: step_s, to, turn: told.spin * step_s }
    }

    /// What it was told last.
    pub fn told(&self) -> &Pose {
        &self.told
    }

    /// Told a new pose. Gives false if it is a jump.
    pub fn follow(&mut self, told: Pose, now_s: f64, step_s: f64) -> bool {
        // Told almost in time it is told in time: steps are no whole numbers of samples. Clocks that differ are followed slowly.
        let late_s = now_s - self.told_s - step_s;
        let (now_s, length_s) = if late_s.abs() < 0.5 * step_s {
            (self.told_s + step_s + FOLLOW * late_s, step_s)
        } else {
            (now_s, (now_s - self.told_s).clamp(0.5 * step_s, LONGEST_S.max(step_s)))
        };
        let way = told.position - self.told.position;
        let turn = shortest(told.rotation * self.told.rotation.inverse());
        let plausible = |a: Vec3, b: Vec3| JUMP * length_s * a.length().max(b.length());
        if way.length() > plausible(told.velocity, self.told.velocity) + NO_JUMP_M
            || turn.length() > plausible(told.spin, self.told.spin) + NO_JUMP_RAD
        {
            *self = Self::placed(told, now_s, step_s);
            return false;
        }
        let from = self.at(now_s);
        let to = Pose {
            position: self.told.position + 0.5 * way,
            rotation: turned(0.5 * turn) * self.told.rotation,
            velocity: way / length_s,
            spin: turn / length_s,
        };
        let turn = shortest(to.rotation * from.rotation.inverse());
        *self = Self { told, told_s: now_s, from, from_s: now_s, length_s, to, turn };
        true
    }

    /// How much of the way to what was told last has been gone, 0 to 1.
    pub fn progress(&self, time_s: f64) -> f64 {
        ((time_s - self.from_s) / self.length_s).clamp(0.0, 1.0)
    }

    /// Where it is.
    pub fn at(&self, time_s: f64) -> Pose {
        let after_s = time_s - self.from_s - self.length_s;
        if after_s >= 0.0 {
            let there = self.to.later(after_s.min(LONGEST_S));
            return if after_s < LONGEST_S { there } else { Pose { velocity: Vec3::ZERO, spin: Vec3::ZERO, ..there } };
        }
        // A little before it set out the cubic is as good as the one before.
        let h = self.length_s;
        let u = (time_s - self.from_s) / h;
        let cubic = Cubic::at(u);
        let way = self.to.position - self.from.position;
        let [v0, v1] = [self.from.velocity * h, self.to.velocity * h];
        // ω = θ̇ + ½ θ × θ̇ for a rotation by θ, to second order.
        let [w0, w1] = [self.from.spin * h, self.to.spin * h];
        let w1 = w1 - 0.5 * self.turn.cross(w1);
        let (turn, turning) = (cubic.value(w0, self.turn, w1), cubic.slope(w0, self.turn, w1) / h);
        Pose {
            position: self.from.position + cubic.value(v0, way, v1),
            rotation: turned(turn) * self.from.rotation,
            velocity: cubic.slope(v0, way, v1) / h,
            spin: turning + 0.5 * turn.cross(turning),
        }
    }
}

/// A rotation as a vector, the short way round.
fn shortest(rotation: DQuat) -> Vec3 {
    (if rotation.w < 0.0 { -rotation } else { rotation }).to_scaled_axis()
}

/// Hermite's cubic from zero.
struct Cubic {
    u: f64,
}

impl Cubic {
    fn at(u: f64) -> Self {
        Self { u }
    }

    /// From zero with slope `v0` to `way` with slope `v1`.
    fn value(&self, v0: Vec3, way: Vec3, v1: Vec3) -> Vec3 {
        let u = self.u;
        v0 * (u * (1.0 - u) * (1.0 - u)) + way * (u * u * (3.0 - 2.0 * u)) + v1 * (u * u * (u - 1.0))
    }

    fn slope(&self, v0: Vec3, way: Vec3, v1: Vec3) -> Vec3 {
        let u = self.u;
        v0 * ((1.0 - u) * (1.0 - 3.0 * u)) + way * (6.0 * u * (1.0 - u)) + v1 * (u * (3.0 * u - 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP_S: f64 = 1.0 / 480.0;

    /// A path as an engine of rigid bodies tells it: thrown and spinning.
    fn told(k: usize) -> Pose {
        let t = k as f64 * STEP_S;
        Pose {
            position: Vec3::new(2.0 * t, 0.3, 3.0 * t - 4.9 * t * t),
            rotation: DQuat::from_rotation_y(10.0 * t + 20.0 * t * t),
            velocity: Vec3::new(2.0, 0.0, 3.0 - 9.8 * t),
            spin: Vec3::Y * (10.0 + 40.0 * t),
        }
    }

    /// The path a step and a half later, within micrometres; position and velocity without jumps, and the velocity is the slope of the position.
    #[test]
    fn it_follows_smoothly_with_the_delay_told() {
        // 91.875 samples per step: told at whole samples only.
        let sample_s = 1.0 / 44_100.0;
        let mut motion = Motion::placed(told(0), 0.0, STEP_S);
        let (mut next, mut before): (usize, Option<Pose>) = (1, None);
        for n in 0..20_000 {
            let t = n as f64 * sample_s;
            if t >= next as f64 * STEP_S {
                assert!(motion.follow(told(next), t, STEP_S));
                next += 1;
            }
            let now = motion.at(t);
            let exact = told(0).position + {
                let t = t - DELAY_STEPS * STEP_S;
                Vec3::new(2.0 * t, 0.0, 3.0 * t - 4.9 * t * t)
            };
            if n > 300 {
                // A B-spline is off by a h²/8, and what is told late by part of a sample by some of the way in it.
                assert!(now.position.distance(exact) < 2.0 * sample_s * now.velocity.length() + 1e-5, "{n}");
            }
            if let Some(before) = before {
                let moved = (now.position - before.position) / sample_s;
                let mean = 0.5 * (now.velocity + before.velocity);
                assert!(moved.distance(mean) < 5e-3, "{n}: {moved} {mean}");
                // 9.8 m/s², not 480 jolts a second.
                assert!(now.velocity.distance(before.velocity) / sample_s < 15.0, "{n}");
                let turned = shortest(now.rotation * before.rotation.inverse()) / sample_s;
                assert!(turned.distance(0.5 * (now.spin + before.spin)) < 0.02, "{n}: {turned} {}", now.spin);
                assert!(now.spin.distance(before.spin) / sample_s < 60.0, "{n}: {} {}", now.spin, before.spin);
            }
            before = Some(now);
        }
    }

    /// Untold it goes on, not for ever; far away it is placed.
    #[test]
    fn silence_and_jumps() {
        let mut motion = Motion::placed(told(0), 0.0, STEP_S);
        assert_eq!(motion.at(1.0).velocity, Vec3::ZERO);
        assert!(motion.at(1.0).position.length() < 0.5);
        let far = Pose { position: Vec3::X * 3.0, ..Pose::REST };
        assert!(!motion.follow(far, 1.1, STEP_S));
        assert_eq!(motion.at(1.1).position, far.position);
        // Slowly told is slowly gone.
        let near = Pose { position: Vec3::X * 3.004, ..Pose::REST };
        assert!(motion.follow(near, 1.15, STEP_S));
        assert!(motion.at(1.17).velocity.length() < 0.2);
    }
}
