//! What keeps a world sane whatever it is asked to do: a speed limit, and an end to what leaves it.

use super::World;
use super::body::Body;
use rapier3d::math::Vector;

/// Bodies that go further than this from the origin, in m, are frozen: single precision has 8 mm left there.
const FARTHEST_M: f32 = 1e5;
/// Speeds within this share of the limit have met it.
const AT_THE_LIMIT: f32 = 1.0 - 1e-5;

impl World {
    /// How often, in bodies times steps, a speed was at [`WorldSettings::max_speed_m_s`](super::WorldSettings::max_speed_m_s).
    pub fn clipped(&self) -> u64 {
        self.clipped
    }

    /// Bodies that have left the world (100 km from the origin) or whose motion stopped being a number. They rest where they last were and
    /// touch nothing, until [`set_pose`](Self::set_pose) or [`set_present`](Self::set_present) brings them back.
    pub fn frozen(&self) -> impl Iterator<Item = u32> + '_ {
        let frozen = |body: &Option<Body>| body.as_ref().is_some_and(|b| b.frozen);
        (0u32..).zip(&self.bodies).filter(move |(_, body)| frozen(body)).map(|(number, _)| number)
    }

    /// Before a step: what was set or pushed from outside keeps to the limit, too.
    pub(super) fn hold_speeds(&mut self) {
        let most = self.settings.max_speed_m_s as f32;
        for body in self.bodies.iter().flatten() {
            let Some(engine) = self.engine.bodies.get(body.handle) else { continue };
            let speed = engine.linvel().length();
            if speed > most && !engine.is_fixed() && body.path.is_empty() {
                // An infinite one is the engine's to quarantine.
                let held = engine.linvel() * (most / speed);
                self.engine.bodies[body.handle].set_linvel(held, true);
            }
        }
    }

    /// After a step.
    pub(super) fn freeze_lost(&mut self) {
        let most = self.settings.max_speed_m_s as f32 * AT_THE_LIMIT;
        for body in self.bodies.iter_mut().flatten() {
            let Some(engine) = self.engine.bodies.get(body.handle) else { continue };
            let moves = !engine.is_fixed() && body.path.is_empty();
            self.clipped += u64::from(moves && engine.linvel().length() >= most);
            let lost = moves && engine.is_enabled() && engine.translation().abs().max_element() > FARTHEST_M;
            // The engine itself disables what is not finite, where it last was.
            let stopped = body.present && !engine.is_enabled();
            if (lost || stopped) && !body.frozen {
                (body.frozen, body.untouched) = (true, false);
                let engine = &mut self.engine.bodies[body.handle];
                engine.set_linvel(Vector::ZERO, false);
                engine.set_angvel(Vector::ZERO, false);
                engine.reset_forces(false);
                engine.reset_torques(false);
                engine.set_enabled(false);
            }
        }
    }
}
