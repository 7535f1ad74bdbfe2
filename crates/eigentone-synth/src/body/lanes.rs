//! The modes that are being computed, laid out for the kernels.

use super::{Body, Scratch, Status, World};
use crate::BLOCK;
use crate::body::modulation::Modulation;
use crate::body::nonlinear::MAX_SECTIONS;
use crate::drive::Force;
use crate::kernel::{Bank, Kernels, LANES, Partial};
use crate::table::{ModeTable, Pair};
use std::ops::Range;

/// A stretch of the lanes with the same role: first modes that rotate, then those in the two-pole form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub rotation: Range<usize>,
    pub two_pole: Range<usize>,
}

/// States and coefficients in the order in which they are computed. Every part begins at a multiple of [`LANES`] and is filled up with silence.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// Which mode each lane holds.
    pub index: Vec<u32>,
    pub s0: Vec<f32>,
    pub s1: Vec<f32>,
    pub c0: Vec<f32>,
    pub c1: Vec<f32>,
    jump: Pair,
    /// Samples by which coefficients have been applied less often than samples were computed, because halves of blocks were computed at once.
    jumped: u64,
    /// Whether that may be done.
    can_jump: bool,
    /// Modes that are on; more than one part for nonlinear bodies.
    pub parts: [Part; MAX_SECTIONS],
    pub entering: Part,
    pub leaving: Part,
    /// When the lanes were laid out, and when their states were last written back.
    pub loaded: u64,
    stored: u64,
    pub used: usize,
    /// Whether coefficients are the table's own.
    pub at_rest: bool,
}

impl Lanes {
    /// The index of a lane without a mode.
    pub const NOBODY: u32 = u32::MAX;

    /// Lanes for a body of `modes`: each can be there once, and every part may need filling up.
    pub fn capacity(modes: usize) -> usize {
        modes + 2 * (MAX_SECTIONS + 2) * LANES
    }

    pub fn new(modes: usize) -> Self {
        let n = Self::capacity(modes);
        Self {
            index: vec![Self::NOBODY; n],
            s0: vec![0.0; n],
            s1: vec![0.0; n],
            c0: vec![0.0; n],
            c1: vec![0.0; n],
            jump: [vec![0.0; n], vec![0.0; n]],
            jumped: 0,
            can_jump: false,
            parts: Default::default(),
            entering: Part::default(),
            leaving: Part::default(),
            loaded: 0,
            stored: 0,
            used: 0,
            at_rest: true,
        }
    }

    /// The parts that forces act on.
    pub fn driven(&self) -> [Part; MAX_SECTIONS + 1] {
        std::array::from_fn(|s| self.parts.get(s).unwrap_or(&self.entering).clone())
    }

    fn bank(&mut self, range: Range<usize>) -> Bank<'_> {
        Bank { s0: &mut self.s0, s1: &mut self.s1, c0: &self.c0, c1: &self.c1 }.part(range)
    }

    /// Whether these lanes, left alone, are computed in both halves of a block at once.
    fn halves(&self, rotation: &Range<usize>, len: usize) -> bool {
        self.can_jump && len == BLOCK && (1..=FEW_ROTATE).contains(&rotation.len())
    }

    /// The next `len` samples of a part, under a force or free, in place of what was in `out`.
    pub fn run(&mut self, part: &Part, drive: Option<(&[f32], &Force)>, len: usize, k: &Kernels, out: &mut [Partial]) {
        let out = &mut out[..len];
        let (rotation, two_pole) = (part.rotation.clone(), part.two_pole.clone());
        let halves = drive.is_none() && self.halves(&rotation, len);
        if !halves {
            out.fill(Partial::default());
        }
        match drive {
            Some((weights, force)) => {
                if !rotation.is_empty() {
                    (k.rotation_driven)(self.bank(rotation.clone()), &weights[rotation], &force.plain[..len], out);
                }
                if !two_pole.is_empty() {
                    (k.two_pole_driven)(
                        self.bank(two_pole.clone()),
                        &weights[two_pole],
                        &force.differenced[..len],
                        out,
                    );
                }
            }
            None => {
                if halves {
                    let jump = [&self.jump[0][rotation.clone()], &self.jump[1][rotation.clone()]];
                    let bank = Bank { s0: &mut self.s0, s1: &mut self.s1, c0: &self.c0, c1: &self.c1 };
                    (k.rotation_halves)(bank.part(rotation), jump, out);
                } else if !rotation.is_empty() {
                    (k.rotation_free)(self.bank(rotation), out);
                }
                if !two_pole.is_empty() {
                    (k.two_pole_free)(self.bank(two_pole), out);
                }
            }
        }
    }

    /// Adds the answer of some parts to a further force, to sound and state.
    #[allow(clippy::too_many_arguments)]
    pub fn add_response(
        &mut self,
        parts: impl IntoIterator<Item = Part>,
        weights: &[f32],
        force: &Force,
        len: usize,
        k: &Kernels,
        zero: &mut [Vec<f32>; 2],
        out: &mut [Partial],
    ) {
        let [z0, z1] = zero;
        for part in parts {
            for (range, two_pole) in [(part.rotation.clone(), false), (part.two_pole.clone(), true)] {
                if range.is_empty() {
                    continue;
                }
                z0[range.clone()].fill(0.0);
                z1[range.clone()].fill(0.0);
                let bank = Bank { s0: z0, s1: z1, c0: &self.c0, c1: &self.c1 }.part(range.clone());
                if two_pole {
                    (k.two_pole_driven)(bank, &weights[range.clone()], &force.differenced[..len], &mut out[..len]);
                } else {
                    (k.rotation_driven)(bank, &weights[range.clone()], &force.plain[..len], &mut out[..len]);
                }
                for i in range {
                    self.s0[i] += z0[i];
                    self.s1[i] += z1[i];
                }
            }
        }
    }

    /// Counts a block of the on-modes that was computed in halves.
    pub fn count_jump(&mut self, len: usize) {
        if self.halves(&self.parts[0].rotation, len) {
            self.jumped += BLOCK as u64 / 2;
        }
    }

    /// What was entering is in, what was leaving is gone. Only for bodies without sections.
    pub fn end_fade(&mut self) {
        // The parts follow each other: rotation of the on-modes and of those that enter, then two-pole likewise.
        self.parts[0] = Part {
            rotation: join(&self.parts[0].rotation, &self.entering.rotation),
            two_pole: join(&self.parts[0].two_pole, &self.entering.two_pole),
        };
        self.entering = Part::default();
        self.leaving = Part::default();
    }

    /// Sum of `|z|²/2` of all lanes that rotate.
    pub fn energy(&self) -> f32 {
        let parts = self.parts.iter().chain([&self.entering]);
        let sum = |r: &Range<usize>| r.clone().map(|i| self.s0[i] * self.s0[i] + self.s1[i] * self.s1[i]).sum::<f32>();
        0.5 * parts.map(|p| sum(&p.rotation)).sum::<f32>()
    }

    /// New coefficients for what is being computed; states stay.
    pub fn retune(
        &mut self,
        table: &ModeTable,
        modulation: &Modulation,
        makeup_rate: &[f32],
        world: &World,
        scratch: &mut Scratch,
    ) {
        modulation.coefficients(table, world, scratch);
        for i in 0..self.used {
            let k = self.index[i];
            if k != Self::NOBODY {
                let change = match makeup_rate[k as usize] {
                    0.0 => 1.0,
                    rate => rate.exp2(),
                };
                self.c0[i] = scratch.re[k as usize] * change;
                self.c1[i] = scratch.im[k as usize] * change;
            }
        }
    }
}

fn join(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    match (a.is_empty(), b.is_empty()) {
        (_, true) => a.clone(),
        (true, _) => b.clone(),
        _ => a.start..b.end,
    }
}

/// A role is a section of on-modes, entering or leaving; even for rotation, odd for two-pole.
const ENTERING: usize = 2 * MAX_SECTIONS;
const LEAVING: usize = ENTERING + 2;
const ROLES: usize = LEAVING + 2;

/// Modes up to which all rotate: four groups of lanes, which take no longer than one.
const FEW: usize = 4 * LANES;

/// Lanes up to which both halves of a block are computed at once.
const FEW_ROTATE: usize = 3 * LANES;

/// Who goes where.
struct Roles {
    sections: usize,
    starts: [usize; MAX_SECTIONS],
    two_pole: bool,
}

impl Roles {
    #[inline]
    fn of(&self, k: usize, status: Status, plain: bool) -> usize {
        // While the tuning moves everything rotates; so do few modes, because one call of a kernel is cheaper than two.
        let two_pole = usize::from(plain && self.two_pole);
        two_pole
            + match status {
                Status::Entering => ENTERING,
                Status::Leaving => LEAVING,
                _ if self.sections == 1 => 0,
                _ => 2 * self.starts[1..self.sections].iter().filter(|start| k >= **start).count(),
            }
    }

    /// The order in memory. What enters follows the last section's modes of its form, so that the two can be joined when the fade is over.
    fn layout(&self) -> impl Iterator<Item = usize> {
        let last = 2 * (self.sections - 1);
        (0..last).chain([last, ENTERING, last + 1, ENTERING + 1, LEAVING, LEAVING + 1])
    }
}

impl Body {
    /// Writes the lanes' states back, with what their rounded coefficients lacked.
    pub(super) fn store(&mut self, now: u64) {
        if self.lanes.stored == now {
            return;
        }
        self.lanes.stored = now;
        let Self { lanes, table, re, im, since, makeup, makeup_rate, .. } = self;
        let n = (now - lanes.loaded) as f32;
        let turns = (now - lanes.loaded - lanes.jumped) as f32;
        let [rotation_drift, two_pole_drift] = [&table.rotation_drift, &table.two_pole_drift];
        let mut gain_of = |k: usize| {
            if makeup_rate[k] != 0.0 {
                makeup[k] *= (n * makeup_rate[k]).exp2();
            }
            1.0 / makeup[k]
        };
        let all = lanes.parts.iter().chain([&lanes.entering, &lanes.leaving]);
        for part in all {
            for i in part.rotation.clone() {
                let k = lanes.index[i] as usize;
                if k < table.len {
                    let gain = gain_of(k);
                    let (zr, zi) = (lanes.s0[i] * gain, lanes.s1[i] * gain);
                    let (mut cr, mut ci) = (1.0, 0.0);
                    if lanes.at_rest {
                        (cr, ci) = (1.0 + turns * rotation_drift[0][k], turns * rotation_drift[1][k]);
                    }
                    (re[k], im[k]) = (zr * cr - zi * ci, zr * ci + zi * cr);
                    since[k] = now as u32;
                }
            }
            for i in part.two_pole.clone() {
                let k = lanes.index[i] as usize;
                if k < table.len {
                    let gain = gain_of(k);
                    let (y1, y2) = (lanes.s0[i] * gain, lanes.s1[i] * gain);
                    // y1 = Re w and y2 = Re wP⁻¹ with w = zP⁻¹.
                    let (br, bi) = (table.back[0][k], table.back[1][k]);
                    let wi = (y1 * br - y2) / bi;
                    let (pr, pi) = (table.rotation[0][k], table.rotation[1][k]);
                    let (zr, zi) = (y1 * pr - wi * pi, y1 * pi + wi * pr);
                    let (cr, ci) = (1.0 + n * two_pole_drift[0][k], n * two_pole_drift[1][k]);
                    (re[k], im[k]) = (zr * cr - zi * ci, zr * ci + zi * cr);
                    since[k] = now as u32;
                }
            }
        }
    }

    /// Lays out the modes that are on, entering or leaving, from their states at `now`.
    pub(super) fn load(&mut self, now: u64, world: &World, scratch: &mut Scratch) {
        let at_rest = self.modulation.is_at_rest();
        if !at_rest {
            self.modulation.coefficients(&self.table, world, scratch);
        }
        self.lanes.at_rest = at_rest;
        (self.lanes.loaded, self.lanes.stored) = (now, now);
        self.lanes.jumped = 0;
        self.lanes.can_jump = at_rest && self.makeup_rests && self.sections.is_none();
        let sections = self.sections.as_ref().map_or(1, |s| s.count());
        let starts = self.sections.as_ref().map_or([0; MAX_SECTIONS], |s| s.starts());
        let roles = Roles { sections, starts, two_pole: at_rest && self.mixed() > FEW };
        // How many of each role, then where each begins, then everybody to their place.
        let mut counts = [0usize; ROLES];
        for &index in &self.members {
            let k = index as usize;
            counts[roles.of(k, self.status[k], self.table.plain[k])] += 1;
        }
        let mut ranges: [Range<usize>; ROLES] = Default::default();
        let mut at = 0;
        for role in roles.layout() {
            ranges[role] = at..at + counts[role].next_multiple_of(LANES);
            at = ranges[role].end;
        }
        self.lanes.used = at;
        let mut next = ranges.each_ref().map(|r| r.start);
        for m in 0..self.members.len() {
            let index = self.members[m];
            let role = roles.of(index as usize, self.status[index as usize], self.table.plain[index as usize]);
            let i = next[role];
            next[role] += 1;
            self.place(i, index, role % 2 == 1, scratch);
        }
        for (range, next) in ranges.iter().zip(next) {
            for i in next..range.end {
                self.lanes.index[i] = Lanes::NOBODY;
                let [j0, j1] = &mut self.lanes.jump;
                for array in [&mut self.lanes.s0, &mut self.lanes.s1, &mut self.lanes.c0, &mut self.lanes.c1, j0, j1] {
                    array[i] = 0.0;
                }
            }
        }
        let part = |first: usize| Part { rotation: ranges[first].clone(), two_pole: ranges[first + 1].clone() };
        self.lanes.parts = std::array::from_fn(|s| part(2 * s));
        self.lanes.entering = part(ENTERING);
        self.lanes.leaving = part(LEAVING);
        self.load_weights();
        debug_assert!(self.fade_left <= BLOCK);
    }

    /// Puts mode `index` into lane `i`.
    fn place(&mut self, i: usize, index: u32, two_pole: bool, scratch: &Scratch) {
        let Self { lanes, table, re, im, makeup, makeup_rate, .. } = self;
        let k = index as usize;
        lanes.index[i] = index;
        let (zr, zi) = (re[k] * makeup[k], im[k] * makeup[k]);
        if two_pole {
            let (br, bi) = (table.back[0][k], table.back[1][k]);
            let (wr, wi) = (zr * br - zi * bi, zr * bi + zi * br);
            (lanes.s0[i], lanes.s1[i]) = (wr, wr * br - wi * bi);
            (lanes.c0[i], lanes.c1[i]) = (table.two_pole[0][k], table.two_pole[1][k]);
        } else {
            (lanes.s0[i], lanes.s1[i]) = (zr, zi);
            (lanes.jump[0][i], lanes.jump[1][i]) = (table.jump[0][k], table.jump[1][k]);
            (lanes.c0[i], lanes.c1[i]) = if lanes.at_rest {
                (table.rotation[0][k], table.rotation[1][k])
            } else {
                (scratch.re[k], scratch.im[k])
            };
        }
        if makeup_rate[k] != 0.0 {
            // The gain moves with the decay: no steps.
            let change = makeup_rate[k].exp2();
            lanes.c0[i] *= change;
            lanes.c1[i] *= if two_pole { change * change } else { change };
        }
    }

    /// Weights of everything that acts, in the order of the lanes.
    pub(super) fn load_weights(&mut self) {
        let Self { lanes, table, makeup, drives, forced, sections, .. } = self;
        if !*forced && sections.is_none() {
            return;
        }
        let two_pole = |i: usize| {
            let all = lanes.parts.iter().chain([&lanes.entering, &lanes.leaving]);
            all.into_iter().any(|p| p.two_pole.contains(&i))
        };
        let live = drives.iter_mut().filter(|d| !d.is_free()).map(|d| (&d.weights[..], &mut d.lane_weights[..]));
        let coupled = sections.iter_mut().map(|s| {
            let s = &mut **s;
            (&s.weights[..], &mut s.lane_weights[..])
        });
        for (weights, lane_weights) in live.chain(coupled) {
            for (i, weight) in lane_weights.iter_mut().enumerate().take(lanes.used) {
                let k = lanes.index[i] as usize;
                *weight = if k >= table.len {
                    0.0
                } else {
                    weights[k] * makeup[k] * if two_pole(i) { table.two_pole_push[k] } else { 1.0 }
                };
            }
        }
    }
}
