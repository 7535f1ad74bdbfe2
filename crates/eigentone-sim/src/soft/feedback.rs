//! What soft bodies do to colliders: impulses for a simulation of rigid bodies, and forces by the sample for what rings.

use super::events::SAME_S;
use super::{ColliderId, SoftId};
use eigentone_core::Vec3;
use std::collections::BTreeMap;

/// What a collider got of a soft body since impulses were drained last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColliderImpulse {
    /// Who got it.
    pub collider: ColliderId,
    /// Of whom.
    pub body: SoftId,
    /// All of it, friction included, in N·s. The soft body got the opposite.
    pub impulse_ns: Vec3,
    /// Where, in the world: the mean by pressure.
    pub point: Vec3,
    /// The same place in the collider's coordinates: where a rigid body should get it, which is not quite where the collider is.
    pub local_point: Vec3,
    /// Unit vector out of the collider, the mean by pressure.
    pub normal: Vec3,
    /// Speed with which they approached, at the fastest place that touched, in m/s.
    pub approach_m_s: f64,
    /// When they touched first, in s of the soft world.
    pub time_s: f64,
    /// Whether they had not touched just before.
    pub new: bool,
}

/// The force of a soft body on a collider, sample by sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce<'a> {
    /// On whom.
    pub collider: ColliderId,
    /// Of whom.
    pub body: SoftId,
    /// Where, in the collider's coordinates: the mean by pressure.
    pub local_point: Vec3,
    /// Unit vector of the whole impulse, in the collider's coordinates.
    pub local_direction: Vec3,
    /// Audio sample of the first, counted from the beginning of the world; it lasts from there to the next.
    pub first_sample: u64,
    /// Along the direction, the mean of each sample, in N. Their sum over the rate is the whole impulse.
    pub force_n: &'a [f32],
}

/// What one node does in one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blow {
    pub time_s: f64,
    pub sample: u64,
    pub point: Vec3,
    pub local_point: Vec3,
    /// On the collider.
    pub impulse_ns: Vec3,
    pub local_impulse_ns: Vec3,
    pub normal: Vec3,
    pub approach_m_s: f64,
}

/// Sums of one audio sample.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    impulse_ns: Vec3,
    /// Places times weights.
    point: Vec3,
    weight: f64,
}

#[derive(Clone, Debug)]
struct Pair {
    /// Since drained last.
    impulse: Option<ColliderImpulse>,
    weight: f64,
    last_s: f64,
    first_sample: u64,
    samples: Vec<Sample>,
}

/// Collects what is done to colliders.
#[derive(Clone, Debug, Default)]
pub(super) struct Feedback {
    pairs: BTreeMap<(ColliderId, SoftId), Pair>,
    force_n: Vec<f32>,
}

impl Feedback {
    /// Adds a blow. Forces that nobody drains are kept for `most` samples.
    pub fn add(&mut self, collider: ColliderId, body: SoftId, blow: Blow, most: usize) {
        let weight = blow.impulse_ns.dot(blow.normal).abs();
        if !(weight.is_finite() && blow.impulse_ns.is_finite()) {
            return;
        }
        let pair = self.pairs.entry((collider, body)).or_insert_with(|| Pair {
            impulse: None,
            weight: 0.0,
            last_s: f64::NEG_INFINITY,
            first_sample: blow.sample,
            samples: Vec::new(),
        });
        let new = blow.time_s - pair.last_s > SAME_S;
        let sum = pair.impulse.get_or_insert(ColliderImpulse {
            collider,
            body,
            impulse_ns: Vec3::ZERO,
            point: blow.point,
            local_point: blow.local_point,
            normal: blow.normal,
            approach_m_s: 0.0,
            time_s: blow.time_s,
            new: false,
        });
        sum.new |= new;
        sum.impulse_ns += blow.impulse_ns;
        sum.approach_m_s = sum.approach_m_s.max(blow.approach_m_s);
        pair.weight += weight;
        if pair.weight > 0.0 {
            let share = weight / pair.weight;
            sum.point += share * (blow.point - sum.point);
            sum.local_point += share * (blow.local_point - sum.local_point);
            sum.normal += share * (blow.normal - sum.normal);
        }
        pair.last_s = blow.time_s;

        if pair.samples.is_empty() {
            pair.first_sample = blow.sample;
        }
        let at = blow.sample.saturating_sub(pair.first_sample) as usize;
        if at >= most.max(2) {
            let lost = (at - most.max(2) / 2).min(pair.samples.len());
            pair.samples.drain(..lost);
            pair.first_sample = if pair.samples.is_empty() { blow.sample } else { pair.first_sample + lost as u64 };
        }
        let at = blow.sample.saturating_sub(pair.first_sample) as usize;
        if at >= pair.samples.len() {
            pair.samples.resize(at + 1, Sample::default());
        }
        let sample = &mut pair.samples[at];
        sample.impulse_ns += blow.local_impulse_ns;
        sample.point += weight * blow.local_point;
        sample.weight += weight;
    }

    /// Takes all impulses.
    pub fn drain_impulses(&mut self, now_s: f64) -> Vec<ColliderImpulse> {
        let mut all = Vec::new();
        for pair in self.pairs.values_mut() {
            if let Some(mut sum) = pair.impulse.take() {
                sum.normal = sum.normal.normalize_or(Vec3::Z);
                all.push(sum);
                pair.weight = 0.0;
            }
        }
        self.prune(now_s);
        all
    }

    /// Takes the forces of all samples before one.
    pub fn drain_forces(&mut self, now_s: f64, before: u64, rate_hz: f64, mut force: impl FnMut(&ContactForce<'_>)) {
        for ((collider, body), pair) in &mut self.pairs {
            let done = (before.saturating_sub(pair.first_sample) as usize).min(pair.samples.len());
            let done = &pair.samples[..done];
            let sum = done.iter().fold(Sample::default(), |sum, sample| Sample {
                impulse_ns: sum.impulse_ns + sample.impulse_ns,
                point: sum.point + sample.point,
                weight: sum.weight + sample.weight,
            });
            if let Some(direction) = sum.impulse_ns.try_normalize() {
                self.force_n.clear();
                self.force_n.extend(done.iter().map(|s| (s.impulse_ns.dot(direction) * rate_hz) as f32));
                force(&ContactForce {
                    collider: *collider,
                    body: *body,
                    local_point: if sum.weight > 0.0 { sum.point / sum.weight } else { Vec3::ZERO },
                    local_direction: direction,
                    first_sample: pair.first_sample,
                    force_n: &self.force_n,
                });
            }
            let done = done.len();
            pair.samples.drain(..done);
            pair.first_sample += done as u64;
        }
        self.prune(now_s);
    }

    /// Forgets a collider.
    pub fn remove(&mut self, collider: ColliderId) {
        self.pairs.retain(|key, _| key.0 != collider);
    }

    fn prune(&mut self, now_s: f64) {
        self.pairs
            .retain(|_, pair| pair.impulse.is_some() || !pair.samples.is_empty() || now_s - pair.last_s <= SAME_S);
    }
}
