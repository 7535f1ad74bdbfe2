//! Blows: what they do to each mode, now and by the time they are over.

use super::decide;
use super::view::View;
use super::{Body, MAX_ENERGY, Scratch, Status, World};
use crate::drive::{Blow, Drive, Source};
use crate::exciter::HalfSine;
use crate::kernel::HalfSineFilter;
use eigentone_core::model::SiteBlend;

/// Longest blow; a physics engine that says otherwise means a contact.
const LONGEST_BLOW_S: f32 = 1.0;

/// A blow as the engine hands it over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit<'a> {
    pub site: &'a SiteBlend,
    pub impulse_ns: [f32; 3],
    /// Zero for an impulse.
    pub duration_s: f32,
    /// How long before the present sample it happens: `0 ≤ early < 1`.
    pub early: f32,
    /// Place of the present sample in its block.
    pub at: usize,
}

impl Hit<'_> {
    /// The impulse and its size, clipped so that no collision a physics engine invents can break anything after it; `None` if there is none.
    fn clipped(&self, world: &World) -> Option<([f32; 3], f32)> {
        let finite = self.impulse_ns.iter().chain([&self.duration_s]).all(|x| x.is_finite());
        let size = self.impulse_ns.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        if !finite || size == 0.0 {
            return None;
        }
        let clip = (f64::from(world.max_impulse_ns) / size).min(1.0);
        Some((self.impulse_ns.map(|x| (f64::from(x) * clip) as f32), (size * clip) as f32))
    }
}

/// Several blows that are given as one: their excitations are summed in `scratch.push`, their lengths and moments are averaged by strength.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gathered {
    size: f32,
    duration: f32,
    at: f32,
}

impl Gathered {
    /// None yet, on this body.
    pub fn new(body: &Body, scratch: &mut Scratch) -> Self {
        scratch.push[..body.table.padded].fill(0.0);
        Self::default()
    }

    pub fn duration_s(&self) -> f32 {
        if self.size > 0.0 { self.duration / self.size } else { 0.0 }
    }

    /// Sample of the block.
    pub fn at(&self) -> usize {
        if self.size > 0.0 { ((self.at / self.size) as usize).min(crate::BLOCK - 1) } else { 0 }
    }
}

impl Body {
    /// A blow at the present moment. `free` modes may be added to those computed.
    pub fn hit(&mut self, hit: Hit<'_>, now: u64, view: &View<'_>, free: usize, world: &World, scratch: &mut Scratch) {
        let Some((vector, size)) = hit.clipped(world) else { return };
        if let Some(diffuse) = &mut self.diffuse {
            diffuse.strike(size, hit.at);
        }
        let n = self.table.padded;
        let Some((rows, factors)) = self.table.excitation(hit.site, vector) else { return };
        (world.kernels.wide.combine)(rows, factors, &mut scratch.push[..n]);
        self.strike(hit.duration_s, hit.early, now, view, free, world, scratch);
    }

    /// Counts one of several blows that will be given as one: what it is after clipping, if it is one at all.
    pub fn weigh(&mut self, hit: &Hit<'_>, sum: &mut Gathered, world: &World) -> Option<[f32; 3]> {
        let (vector, size) = hit.clipped(world)?;
        if let Some(diffuse) = &mut self.diffuse {
            diffuse.strike(size, hit.at);
        }
        sum.size += size;
        sum.duration += size * hit.duration_s.clamp(0.0, LONGEST_BLOW_S);
        sum.at += size * hit.at as f32;
        Some(vector)
    }

    /// Adds an impulse at a place to the blow that is being [gathered](Gathered).
    pub fn gather(&self, site: &SiteBlend, vector: [f32; 3], world: &World, scratch: &mut Scratch) {
        let n = self.table.padded;
        let Some((rows, factors)) = self.table.excitation(site, vector) else { return };
        let Scratch { push, own_margin: one, .. } = scratch;
        (world.kernels.wide.combine)(rows, factors, &mut one[..n]);
        push[..n].iter_mut().zip(&one[..n]).for_each(|(sum, x)| *sum += x);
    }

    /// A blow that moves the modes as `scratch.push`, in units of the state, and began `early` before the present sample.
    #[allow(clippy::too_many_arguments)]
    pub fn strike(
        &mut self,
        duration_s: f32,
        early: f32,
        now: u64,
        view: &View<'_>,
        free: usize,
        world: &World,
        scratch: &mut Scratch,
    ) {
        let n = self.table.padded;
        self.settle(now, world);

        let duration_s = duration_s.clamp(0.0, LONGEST_BLOW_S);
        let length = f64::from(duration_s) * world.rate_hz;
        let free_drive = self.drives.iter().position(Drive::is_free).filter(|_| length >= 2.0);
        if let Some(d) = free_drive {
            let pulse =
                HalfSine { impulse_ns: 1.0, duration_s: f64::from(duration_s), start_samples: -f64::from(early) };
            let source = Source::Blow(Blow { origin: now, pulse, end: pulse.end(world.rate_hz) });
            self.drives[d].start(source, &scratch.push, world.rate_hz);
            self.forced = true;
        }
        // What the blow will have done to each mode when it is over; for a finite one as if at its middle.
        scratch.re[..n].copy_from_slice(&self.re);
        scratch.im[..n].copy_from_slice(&self.im);
        let mut ahead = early;
        if length >= 2.0 {
            (world.kernels.wide.soften)(
                &mut scratch.push[..n],
                &self.table.turn,
                HalfSineFilter { length: length as f32 * self.modulation.tuning()[0] },
            );
            // The sampled pulse is one sample late.
            ahead -= 0.5 * length as f32 + if free_drive.is_some() { 1.0 } else { 0.0 };
        }
        let poles = self.modulation.poles(&self.table);
        (world.kernels.wide.inject)(&mut self.re, &mut self.im, &scratch.push[..n], &self.table.slant, poles, ahead);
        self.measure(now, world);
        self.calm = self.drives.iter().all(Drive::is_free) && self.is_linear_and_at_rest();
        self.account.energy = (decide::sum(&self.energy) * self.audibility().powi(2)).min(MAX_ENERGY);
        self.wake(view, free, world, scratch);
        self.account.asleep = false;
        // What it has it may keep until the next frame knows better.
        self.account.granted = self.account.granted.max(self.members.len());
        // Modes that are on are driven through the blow sample by sample; their state must not have it already. The others have all of it.
        if let Some(d) = free_drive {
            let (weights, status) = (&mut self.drives[d].weights, &self.status);
            for (w, status) in weights.iter_mut().zip(status) {
                if !matches!(status, Status::On | Status::Entering) {
                    *w = 0.0;
                }
            }
            for &k in &self.members {
                let k = k as usize;
                if matches!(self.status[k], Status::On | Status::Entering) {
                    (self.re[k], self.im[k]) = (scratch.re[k], scratch.im[k]);
                }
            }
        }
        self.load(now, world, scratch);
    }
}
