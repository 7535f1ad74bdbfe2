//! Who need not be asked: particles that cannot yet be near a collider that moves.
//!
//! Colliders that move are looked at hundreds of times a second, and most particles are far from them. Each is kept in a box with some room, which is
//! laid anew when it is left, and no box may travel faster than a limit `s`. A particle at the distance `d` from all boxes, of speed `v` and acceleration
//! `a`, then stays outside of them for as long as `(v + s) t + ½ a t² < d`, whatever the colliders do; and until its parabola enters a larger box around
//! all of them. If a collider breaks the limit or leaves the larger box, that is set anew and all is forgotten.

use super::path::{Bounds, Path};
use super::scene::Change;
use std::collections::BTreeMap;

/// Room around a collider, in m. Tuned: half and twice of it are slower.
const ROOM_M: f64 = 0.05;
/// Rounding of the times, in s.
const ROUNDING_S: f64 = 1e-6;
/// The limit is this many times the greatest speed that was seen, and more by this, in m/s. Boxes are laid anew in leaps, hence more than once.
const LIMIT: (f64, f64) = (3.0, 1.0);

/// Room around all of them: a share of their extent, and in m; and how much larger than needed it may be.
const WIDE: (f64, f64) = (0.25, 0.1);
const TOO_WIDE: f64 = 3.0;

/// Until when particles are far from all that moves.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// Boxes by the colliders' indices, and since when they hold.
    boxes: BTreeMap<u32, (Bounds, f64)>,
    /// Around all boxes.
    around: Bounds,
    limit_m_s: f64,
    /// `−∞` if it is not known.
    far_until_s: Vec<f64>,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { boxes: BTreeMap::new(), around: Bounds::NOTHING, limit_m_s: 0.0, far_until_s: Vec::new() }
    }

    pub(super) fn add_particle(&mut self) {
        self.far_until_s.push(f64::NEG_INFINITY);
    }

    /// A particle does something else.
    pub(super) fn forget(&mut self, particle: usize) {
        self.far_until_s[particle] = f64::NEG_INFINITY;
    }

    pub(super) fn forget_all(&mut self) {
        self.far_until_s.fill(f64::NEG_INFINITY);
    }

    /// Follows the colliders to where they are now.
    pub(super) fn follow(&mut self, changes: &[Change], now_s: f64) {
        let moving = || changes.iter().filter(|c| c.foreseen_s.is_finite());
        self.boxes.retain(|index, _| moving().any(|c| c.index == *index));
        if moving().next().is_none() {
            return;
        }
        let mut broken = false;
        for change in moving() {
            let roomy = change.near.padded(ROOM_M);
            let (kept, since_s) = self.boxes.entry(change.index).or_insert((roomy, now_s));
            if kept.holds(&change.near) && roomy.holds(&kept.padded(-2.0 * ROOM_M)) {
                continue;
            }
            broken |= !kept.padded(self.limit_m_s * (now_s - *since_s)).holds(&roomy);
            (*kept, *since_s) = (roomy, now_s);
        }
        if broken {
            let fastest = moving().map(|c| c.fastest_m_s).fold(0.0, f64::max);
            self.limit_m_s = LIMIT.0 * fastest + LIMIT.1;
            self.forget_all();
        }
        let all = self.boxes.values().fold(Bounds::NOTHING, |all, (kept, _)| all.union(*kept));
        let wide = all.padded(WIDE.0 * (all.high - all.low).length() + WIDE.1);
        let size = |bounds: &Bounds| (bounds.high - bounds.low).element_product();
        if !self.around.holds(&all) || size(&self.around) > TOO_WIDE * size(&wide) {
            self.around = wide;
            self.forget_all();
        }
    }

    /// Whether a particle stays outside until a time.
    pub(super) fn is_far(&self, particle: usize, until_s: f64) -> bool {
        self.far_until_s[particle] > until_s + ROUNDING_S
    }

    /// Notes for how long a particle is far, by what is left of its path now.
    pub(super) fn note(&mut self, particle: usize, rest: &Path, now_s: f64) {
        let enters = rest.enters(&self.around);
        let away = self.boxes.values().map(|(b, _)| b.distance(rest.position)).fold(f64::INFINITY, f64::min);
        let speed = rest.velocity.length() + self.limit_m_s;
        let root = (speed * speed + 2.0 * rest.acceleration.length() * away).sqrt();
        let far = if away.is_finite() { 2.0 * away / (speed + root) } else { 0.0 };
        self.far_until_s[particle] = now_s + far.max(enters);
    }
}
