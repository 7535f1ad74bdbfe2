//! One step, and many.

use super::{Chunk, Nodes, Part, SoftWorld};
use crate::soft::SoftError;
use crate::soft::kernel::Four;
use crate::soft::pairs::Time;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Parts into which a step is divided, at most.
const MAX_PARTS: f64 = 256.0;
/// Stretch is looked at every so many steps; between, it cannot change by much.
const MEASURED_EVERY: u64 = 4;
/// How much of the margin of a step may be spent on elements that have become stiffer.
const SPENT: f64 = std::f64::consts::SQRT_2;
/// How many chunks make it worth while to have several threads.
const PARALLEL: usize = 12;
/// Nodes that one thread takes at a time.
pub(super) const NODE_CHUNK: usize = 512;
/// What is faster than any wave in any solid has got out of hand, in m/s.
const FASTEST_M_S: f64 = 1e5;
/// Simulated time over which costs are averaged, in s.
const COST_OVER_S: f64 = 0.25;

impl SoftWorld {
    /// Moves everything on by one step.
    ///
    /// A body that gets out of hand is frozen: it stays where it was last, touches nothing, and everything else moves on. The step is complete even so; the error is given once, and names the body. It can be
    /// [removed](SoftWorld::remove).
    ///
    /// # Errors
    /// [`SoftError::Unstable`] if elements are so stretched that no step would do; [`SoftError::Exploded`] if nodes are faster than anything should be.
    pub fn step(&mut self) -> Result<(), SoftError> {
        if self.in_sample == 0 {
            self.change_step();
        }
        // A divided step is looked at in each of its parts: what divided it may grow.
        let mut left_s = self.step_s;
        let mut parts = self.parts_of_step;
        while left_s > 1e-9 * self.step_s {
            let measure = parts > 1 || self.steps.is_multiple_of(MEASURED_EVERY) || std::mem::take(&mut self.look);
            self.find_forces(measure);
            if measure {
                let stable_s = self.stable_s(left_s);
                parts = ((left_s / stable_s).ceil() as u32).max(1);
                self.parts_of_step = (self.step_s / stable_s).ceil() as u32;
                self.divided_most = self.divided_most.max(self.parts_of_step);
            }
            let step_s = left_s / f64::from(parts.max(1));
            let kick_s = 0.5 * (self.last_s + step_s);
            if self.colliders.is_empty() && self.parts.len() < 2 {
                let bad = self.kick(kick_s, step_s);
                self.freeze_exploded(bad);
            } else {
                let bad = self.kick(kick_s, 0.0);
                self.freeze_exploded(bad);
                let now_s = self.time_s() + self.step_s - left_s;
                let farthest_m = self.fastest_m_s() * step_s;
                let time = Time { farthest_m, now_s, part_s: step_s, step_s: self.step_s };
                self.pairs.touch(&mut self.nodes, &self.parts, &self.triangles, time, &mut self.touches);
                let by_m = self.move_colliders(now_s, step_s);
                self.near.moved(farthest_m + by_m, &self.colliders, &self.nodes.positions, self.margin_m);
                self.drift(step_s, now_s);
            }
            self.last_s = step_s;
            left_s -= step_s;
            parts -= 1;
        }
        self.steps += 1;
        self.in_sample += 1;
        if self.in_sample >= self.per_sample {
            self.in_sample = 0;
            self.samples += 1;
        }
        self.failures.pop_front().map_or(Ok(()), Err)
    }

    /// Moves on to the end of the `samples`-th audio sample from now; `hear` is called after each step. All of them are made, whatever happens.
    ///
    /// # Errors
    /// The first of what [`SoftWorld::step`] had to say.
    pub fn advance_samples(&mut self, samples: usize, mut hear: impl FnMut(&Self)) -> Result<(), SoftError> {
        let (begin, from_s) = (Instant::now(), self.time_s());
        let until = self.samples + samples as u64;
        let mut result = Ok(());
        while self.samples < until {
            let made = self.step();
            result = result.and(made);
            hear(self);
        }
        let simulated_s = self.time_s() - from_s;
        if simulated_s > 0.0 {
            let cost = begin.elapsed().as_secs_f64() / simulated_s;
            let share = if self.cost > 0.0 { -(-simulated_s / COST_OVER_S).exp_m1() } else { 1.0 };
            self.cost += share * (cost - self.cost);
        }
        result
    }

    /// Seconds that [`SoftWorld::advance_samples`] has taken for a simulated one, listening included, over the last quarter of a second: above one it is slower than real time. Zero before it has been
    /// called.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Forces of all elements; if asked, how stiff they are.
    pub(super) fn find_forces(&mut self, measure: bool) {
        let (per_s, kernel) = (self.last_s.recip(), self.kernel);
        let positions = &self.nodes.positions;
        let run = |chunk: &mut Chunk| chunk.run(kernel, positions, per_s, measure);
        if self.chunks.len() < PARALLEL {
            self.chunks.iter_mut().for_each(run);
        } else {
            self.chunks.par_iter_mut().with_min_len(2).for_each(run);
        }
    }

    /// The longest step that is stable now. Bodies for which no step would do are frozen.
    fn stable_s(&mut self, left_s: f64) -> f64 {
        // Of a body that came within a sample the step may still have to become shorter.
        let most = MAX_PARTS * (self.next_per_sample as f64 / self.per_sample as f64).max(1.0);
        loop {
            let stiffest = |part: &Part| self.chunks[part.chunks.clone()].iter().map(|c| c.stiffer).fold(1.0, f64::max);
            let of = |(number, part): (usize, &Part)| (part.limit.step_s(stiffest(part)), number);
            let moving = self.parts.iter().enumerate().filter(|(_, part)| !part.frozen);
            let Some((stable_s, number)) = moving.map(of).min_by(|a, b| a.0.total_cmp(&b.0)) else {
                return self.step_s;
            };
            let stable_s = SPENT * stable_s.max(f64::MIN_POSITIVE);
            if left_s / stable_s <= most {
                return stable_s;
            }
            let (body, id) = (self.parts[number].name.clone(), self.parts[number].id);
            self.failures.push_back(SoftError::Unstable { body, id, time_s: self.time_s(), needed_s: stable_s });
            self.freeze(number);
        }
    }

    fn freeze_exploded(&mut self, bad: Option<usize>) {
        if let Some(number) = bad {
            let (body, id) = (self.parts[number].name.clone(), self.parts[number].id);
            self.failures.push_back(SoftError::Exploded { body, id, time_s: self.time_s(), max_m_s: FASTEST_M_S });
            self.freeze(number);
        }
    }

    /// Stops a body for good.
    fn freeze(&mut self, number: usize) {
        let part = &mut self.parts[number];
        part.frozen = true;
        self.nodes.velocities[part.nodes.clone()].fill(Four::default());
        self.nodes.inverse_kg[part.nodes.clone()].fill(0.0);
        self.pairs.remove(0..0);
    }

    /// v += Δt (f/m + g − γv), and if nothing is to happen in between, x += `drift_s` v. Gives the first body that would have had a velocity beyond reason; such nodes stay as they are.
    pub(super) fn kick(&mut self, step_s: f64, drift_s: f64) -> Option<usize> {
        let chunks = &self.chunks;
        let gravity = Four::from_point(self.gravity * step_s);
        let (first, incident, parts) = (&self.first, &self.incident, &self.parts);
        let Nodes { positions, velocities, inverse_kg, body: bodies, .. } = &mut self.nodes;
        let (inverse_kg, bodies) = (&*inverse_kg, &*bodies);
        let bad = AtomicU32::new(u32::MAX);
        let kick = |(n, (v, x)): (usize, (&mut Four, &mut Four))| {
            if inverse_kg[n] == 0.0 {
                return;
            }
            let mut force = Four::default();
            for &[chunk, local] in &incident[first[n] as usize..first[n + 1] as usize] {
                force = force.plus(1.0, chunks[chunk as usize].forces[local as usize]);
            }
            let mut next = v.plus(step_s * inverse_kg[n], force).plus(1.0, gravity);
            let gamma_per_s = parts[bodies[n] as usize].gamma_per_s;
            if gamma_per_s > 0.0 {
                next = Four::default().plus(1.0 / (1.0 + step_s * gamma_per_s), next);
            }
            // Written so that what is no number is bad as well.
            if next.point().length_squared() <= FASTEST_M_S * FASTEST_M_S {
                *v = next;
                *x = x.plus(drift_s, next);
            } else {
                bad.fetch_min(bodies[n], Ordering::Relaxed);
            }
        };
        if velocities.len() < 4 * NODE_CHUNK {
            velocities.iter_mut().zip(positions).enumerate().for_each(kick);
        } else {
            velocities.par_iter_mut().zip(positions).with_min_len(NODE_CHUNK).enumerate().for_each(kick);
        }
        let bad = bad.into_inner();
        (bad != u32::MAX).then_some(bad as usize)
    }

    /// Speed of the fastest node.
    fn fastest_m_s(&self) -> f64 {
        self.nodes.velocities.iter().map(|v| v.point().length_squared()).fold(0.0, f64::max).sqrt()
    }
}
