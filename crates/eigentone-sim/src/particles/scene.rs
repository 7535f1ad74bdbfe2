//! What the particles move among: colliders, and where the scene ends.

use super::ParticleError;
use super::collider::Collider;
use super::path::{Bounds, Path};
use super::pose::Placed;
use super::settings::Region;
use super::surface::{SAME_IMPACT_S, Surface};
use eigentone_core::Vec3;
use std::collections::BTreeMap;

/// The scene ends this far from what is in it, relative to its size and in m: what lies on its edge is still inside.
const SCENE_MARGIN: (f64, f64) = (0.01, 1e-3);
/// Colliders that move take the scene's end with them, up to this many times its size, and this share of the size ahead. Tuned: hail that has
/// missed everything must not fall for a minute before it starts anew.
const REACH: f64 = 2.0;
const AHEAD: f64 = 0.1;
/// Colliders that move are foreseen for this long, in s, and then turned and foreseen anew.
const WINDOW_S: f64 = 1.0 / 240.0;

/// What was told longer ago than this, in s, stood still for most of the time.
const LONGEST_WAY_S: f64 = 0.1;
/// Impacts so close to the end of a window are settled by it, so that none falls between two.
pub(super) const IMMINENT_S: f64 = 4.0 * SAME_IMPACT_S;

/// How far, in m, a particle counts as being off the surface that it has just left.
const ASIDE_M: f64 = 1e-9;

/// What a particle does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
    /// It starts in the cloud.
    Launch,
    /// It strikes a collider.
    Strike(u32),
    /// It leaves the scene.
    Leave,
    /// Nothing; it has finished.
    Nothing,
}

/// A collider made ready.
#[derive(Clone, Debug)]
struct Slot {
    surface: Surface,
    /// `None` in the world's own frame at rest.
    placed: Option<Placed>,
    present: bool,
    /// Where it was when it last stood still.
    home: Bounds,
}

/// A collider that is not where or what it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) index: u32,
    /// Its placement before and now, if it has moved on and not just appeared.
    pub(super) jump: Option<[Placed; 2]>,
    /// How long it has been on its way, in s.
    lasted_s: f64,
    /// For how long it is foreseen, in s.
    pub(super) foreseen_s: f64,
    /// Who is outside cannot have been struck on the way, and will not be as long as it is foreseen.
    pub(super) near: Bounds,
    /// No point of it was or is faster.
    pub(super) fastest_m_s: f64,
    /// Whether it stood still before or does now: then it counts for whole flights.
    pub(super) counts_for_all: bool,
}

/// What the particles move among.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) colliders: Vec<Collider>,
    slots: Vec<Slot>,
    /// Boxes around the surfaces, as far as they are foreseen; close together in memory.
    boxes: Vec<Bounds>,
    /// Around colliders and cloud; what is outside for good has left.
    bounds: Bounds,
    /// Colliders that were changed since the particles were last told, with their placement before.
    changed: BTreeMap<usize, Option<Placed>>,
    /// Until when colliders that move are foreseen; infinite if none does.
    window_s: f64,
}

impl Scene {
    pub(super) fn new(colliders: Vec<Collider>, region: &Region) -> Result<Self, ParticleError> {
        let mut slots = Vec::with_capacity(colliders.len());
        for (index, collider) in colliders.iter().enumerate() {
            slots.push(Slot::new(index, collider)?);
        }
        let boxes: Vec<Bounds> = slots.iter().map(|slot| slot.home).collect();
        let bounds = bounds_of(&boxes, region);
        Ok(Self { colliders, slots, boxes, bounds, changed: BTreeMap::new(), window_s: f64::INFINITY })
    }

    /// Adds a collider in the first free place.
    pub(super) fn add(&mut self, collider: Collider) -> Result<usize, ParticleError> {
        let index = self.slots.iter().position(|s| !s.present).unwrap_or(self.slots.len());
        let slot = Slot::new(index, &collider)?;
        let home = slot.home;
        if index == self.slots.len() {
            self.colliders.push(collider);
            self.slots.push(slot);
            self.boxes.push(home);
        } else {
            (self.colliders[index], self.slots[index], self.boxes[index]) = (collider, slot, home);
        }
        self.changed.insert(index, None);
        Ok(index)
    }

    pub(super) fn remove(&mut self, index: usize) -> Result<(), ParticleError> {
        self.check(index)?;
        self.slots[index].present = false;
        self.changed.insert(index, None);
        Ok(())
    }

    pub(super) fn contains(&self, index: usize) -> bool {
        self.slots.get(index).is_some_and(|slot| slot.present)
    }

    /// From now on a collider is placed like this.
    pub(super) fn place(&mut self, index: usize, placed: Placed) -> Result<(), ParticleError> {
        self.check(index)?;
        let old = self.slots[index].placed.unwrap_or(Placed::HOME);
        if !placed.is_like(&old) {
            self.changed.entry(index).or_insert(Some(old));
            self.slots[index].placed = (!placed.is_like(&Placed::HOME)).then_some(placed);
        }
        Ok(())
    }

    fn check(&self, index: usize) -> Result<(), ParticleError> {
        if self.contains(index) {
            Ok(())
        } else {
            Err(ParticleError::Collider { index, problem: "there is no such collider; add it first" })
        }
    }

    /// Whether particles must be told of colliders at a time.
    pub(super) fn is_due(&self, now_s: f64) -> bool {
        !self.changed.is_empty() || now_s >= self.window_s
    }

    pub(super) fn window_s(&self) -> f64 {
        self.window_s
    }

    /// Brings all colliders to a time and tells what has changed, and whether the scene has grown.
    pub(super) fn turn_to(&mut self, now_s: f64, region: &Region) -> (Vec<Change>, bool) {
        let mut changed = std::mem::take(&mut self.changed);
        let mut changes = Vec::new();
        self.window_s = f64::INFINITY;
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            let moves = slot.moves();
            let before = match changed.remove(&index) {
                Some(before) => before,
                None if moves => slot.placed,
                None => continue,
            };
            let lasted_s = before.map_or(0.0, |b| (now_s - b.since_s).min(LONGEST_WAY_S));
            let placed = slot.placed.unwrap_or(Placed::HOME).later(now_s);
            slot.placed = slot.placed.map(|_| placed);
            let own = slot.surface.bounds();
            self.boxes[index] = if !slot.present {
                Bounds::NOTHING
            } else if slot.placed.is_some() {
                placed.sweep(&own, if moves { WINDOW_S } else { 0.0 })
            } else {
                own
            };
            if moves {
                self.window_s = now_s + WINDOW_S;
            } else if slot.present {
                slot.home = self.boxes[index];
            }
            let jump = before.filter(|_| slot.present).map(|before| [before, placed]);
            let fastest_m_s = jump.map_or(0.0, |[before, now]| before.fastest(&own).max(now.fastest(&own)));
            let near = self.boxes[index].padded(leap(fastest_m_s, lasted_s));
            let foreseen_s = if moves { WINDOW_S } else { f64::INFINITY };
            let counts_for_all = !moves || before.is_none_or(|b| !b.moves());
            changes.push(Change { index: index as u32, jump, lasted_s, foreseen_s, near, fastest_m_s, counts_for_all });
        }
        let grown = self.grow(region);
        (changes, grown)
    }

    /// Takes the end of the scene to where colliders are now.
    fn grow(&mut self, region: &Region) -> bool {
        let still = self.slots.iter().filter(|s| s.present).fold(region.bounds(), |all, s| all.union(s.home));
        let size = (still.high - still.low).length();
        let reach = still.padded(REACH * size);
        let mut grown = false;
        for near in self.boxes.iter().filter_map(|bounds| bounds.shared(&reach)) {
            if !self.bounds.holds(&near) {
                self.bounds = self.bounds.union(near.padded(AHEAD * size));
                grown = true;
            }
        }
        grown
    }

    /// The cloud is elsewhere: the scene ends around it and the colliders.
    pub(super) fn surround(&mut self, region: &Region) {
        let boxes: Vec<Bounds> = self.slots.iter().filter(|s| s.present).map(|s| s.home).collect();
        self.bounds = bounds_of(&boxes, region);
        self.grow(region);
    }

    /// What a path that begins at `start_s` on the collider `from`, or in the air, meets first, and when; the path ends at `until` at the latest.
    pub(super) fn next_on(&self, path: &Path, start_s: f64, from: Option<u32>, until: f64) -> (Next, f64) {
        let mut end = path.leaves(&self.bounds).min(until);
        let mut next = Next::Leave;
        let reach = path.bounds(end);
        for (index, bounds) in self.boxes.iter().enumerate() {
            if bounds.overlaps(&reach)
                && let Some(t) = self.first_hit(index, path, start_s, from == Some(index as u32), end)
                && (t < end || next == Next::Leave)
            {
                (next, end) = (Next::Strike(index as u32), t);
            }
        }
        (next, end)
    }

    fn first_hit(&self, index: usize, path: &Path, start_s: f64, on_it: bool, until: f64) -> Option<f64> {
        let slot = &self.slots[index];
        let Some(placed) = &slot.placed else { return slot.surface.first_hit(path, on_it, until) };
        let until = if placed.moves() { until.min(self.window_s - start_s + 0.5 * IMMINENT_S) } else { until };
        let seen = placed.seen_from(path.position, start_s);
        slot.surface.first_hit(&seen.path_to_own(path, start_s), on_it, until)
    }

    /// Where a collider has passed through a particle: between where the particle was expected in the collider's frame and where it is. The place
    /// and the normal on the side from which it came, in the world.
    pub(super) fn swept(&self, change: &Change, leg: &Leg) -> Option<(Vec3, Vec3)> {
        let [before, now] = change.jump?;
        let time_s = now.since_s;
        let point = leg.at(time_s);
        if !change.near.contains(point) {
            return None;
        }
        let (seen, to) = (leg.seen(&before), now.point_to_own(point, time_s));
        let mut from = seen.point_to_own(point, time_s);
        if leg.from == Some(change.index) {
            // It has just left the surface, and rounding must not have it on the other side.
            let leaves = seen.path_to_own(&leg.path, time_s).velocity;
            from += ASIDE_M * leaves.normalize_or_zero();
        }
        let [a, b] = [before, now].map(|p| p.velocity_at(point, time_s).length());
        if from == to || from.distance(to) > leap(a.max(b), change.lasted_s) {
            return None;
        }
        let surface = &self.slots[change.index as usize].surface;
        let way = Path { position: from, velocity: to - from, acceleration: Vec3::ZERO };
        let own = way.at(surface.first_hit(&way, false, 1.0)?);
        let along = surface.normal_at(own).try_normalize()?;
        let normal = if along.dot(from - own) < 0.0 { -along } else { along };
        Some((now.point_to_world(own, time_s), now.direction_to_world(normal)))
    }

    pub(super) fn box_of(&self, index: u32) -> &Bounds {
        &self.boxes[index as usize]
    }

    /// Where a leg meets a collider at a time.
    pub(super) fn site(&self, collider: u32, leg: &Leg, time_s: f64) -> Site {
        let slot = &self.slots[collider as usize];
        let position = leg.at(time_s);
        let Some(placed) = &slot.placed else {
            let (along, uv) = (slot.surface.normal_at(position), slot.surface.uv_at(position));
            return Site { position, along, uv, surface: None };
        };
        let (seen, then) = (leg.seen(placed), placed.later(time_s));
        let own = seen.point_to_own(position, time_s);
        // What turns was seen going straight: the place is on the surface as it is by now.
        let position = if placed.turns() { then.point_to_world(own, time_s) } else { position };
        Site {
            position,
            along: then.direction_to_world(slot.surface.normal_at(own)),
            uv: slot.surface.uv_at(own),
            surface: placed.moves().then(|| [seen.velocity, placed.velocity_at(position, time_s)]),
        }
    }

    /// Velocity of a collider at a point of the world; `None` at rest.
    pub(super) fn velocity_at(&self, collider: u32, point: Vec3, time_s: f64) -> Option<Vec3> {
        let placed = self.slots[collider as usize].placed.as_ref().filter(|p| p.moves())?;
        Some(placed.velocity_at(point, time_s))
    }
}

/// Where a particle meets a collider.
pub(super) struct Site {
    pub(super) position: Vec3,
    /// Along the normal, of either sign; zero at the tip of a cone.
    pub(super) along: Vec3,
    pub(super) uv: [f64; 2],
    /// Velocity of the surface there, as it was expected and as it is; `None` at rest.
    pub(super) surface: Option<[Vec3; 2]>,
}

/// A path and when it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub(super) path: Path,
    pub(super) since_s: f64,
    /// The collider on which it began.
    pub(super) from: Option<u32>,
}

impl Leg {
    pub(super) fn at(&self, time_s: f64) -> Vec3 {
        self.path.at(time_s - self.since_s)
    }

    /// What is left of its path at a time.
    pub(super) fn rest(&self, time_s: f64) -> Path {
        let elapsed = time_s - self.since_s;
        Path { position: self.path.at(elapsed), velocity: self.path.velocity_at(elapsed), ..self.path }
    }

    /// A collider as it was foreseen when the leg or its own motion began, whichever was later.
    fn seen(&self, placed: &Placed) -> Placed {
        let seen_s = self.since_s.max(placed.since_s);
        placed.seen_from(self.at(seen_s), seen_s)
    }
}

impl Slot {
    fn new(index: usize, collider: &Collider) -> Result<Self, ParticleError> {
        let error = |problem| ParticleError::Collider { index, problem };
        let surface = Surface::new(&collider.shape).map_err(error)?;
        if collider.parts.iter().any(|p| p.u.iter().chain(&p.v).any(|x| x.is_nan())) {
            return Err(error("the edges of its parts must be numbers"));
        }
        let home = surface.bounds();
        Ok(Self { surface, placed: None, present: true, home })
    }

    fn moves(&self) -> bool {
        self.present && self.placed.is_some_and(|p| p.moves())
    }
}

/// Who has come further than this, in m, did not move but leap: twice the way at a speed, and 5 cm for what quickens. Those who are taken along by mistake
/// are struck no harder than by a collider that was there.
fn leap(speed_m_s: f64, lasted_s: f64) -> f64 {
    2.0 * speed_m_s * lasted_s + 0.05
}

fn bounds_of(boxes: &[Bounds], region: &Region) -> Bounds {
    let all = boxes.iter().fold(region.bounds(), |all, bounds| all.union(*bounds));
    all.padded(SCENE_MARGIN.0 * (all.high - all.low).length() + SCENE_MARGIN.1)
}
