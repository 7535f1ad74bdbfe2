//! The sound of a body, from its lanes: stretch by stretch between events, with fades, forces and sections, and what remains when it is silenced.

use super::{Account, Body, DRIVES, Scratch, Status, World};
use crate::BLOCK;
use crate::kernel::Partial;
use std::ops::Range;

impl Body {
    /// All modes fall silent, and blows that act end; streams and bridges go on. What is left to be heard is a block's length of fading sound,
    /// which is computed at once, so that nothing that happens next can bring the rest back.
    pub fn silence(&mut self, now: u64, world: &World, scratch: &mut Scratch) {
        for drive in self.drives.iter_mut().filter(|d| d.is_blow()) {
            drive.stop();
        }
        let Scratch { main, entering, leaving, .. } = scratch;
        let k = &world.kernels;
        let mut sounding = [0.0; BLOCK];
        for part in self.lanes.parts.clone() {
            self.lanes.run(&part, None, BLOCK, k, main);
            sounding.iter_mut().zip(&*main).for_each(|(y, sums)| *y += sums.sum());
        }
        let (inward, outward) = (self.lanes.entering.clone(), self.lanes.leaving.clone());
        self.lanes.run(&inward, None, BLOCK, k, entering);
        self.lanes.run(&outward, None, BLOCK, k, leaving);
        let risen = if self.fade_left > 0 { 1.0 - self.fade_left as f32 / BLOCK as f32 } else { 1.0 };
        let mut tail = [0.0; BLOCK];
        for (n, y) in tail.iter_mut().enumerate() {
            let sound = sounding[n] + risen * entering[n].sum() + (1.0 - risen) * leaving[n].sum();
            let earlier = self.tail.get(self.tail_at + n).copied().unwrap_or(0.0);
            *y = sound * (1.0 - (n + 1) as f32 / BLOCK as f32) + earlier;
        }
        (self.tail, self.tail_at) = (tail, 0);
        for &k in &self.members {
            self.status[k as usize] = Status::Off;
        }
        self.members.clear();
        self.re.fill(0.0);
        self.im.fill(0.0);
        self.since.fill(now as u32);
        self.fade_left = 0;
        self.account = Account { truncated: self.table.len, masked: 0, scaled: 0, ..self.account };
        self.calm = false;
        self.load(now, world, scratch);
        if let Some(diffuse) = &mut self.diffuse {
            diffuse.silence();
        }
    }

    /// The next samples of the block: `range` of it, which begins at `block_start`.
    pub fn render(&mut self, range: Range<usize>, block_start: u64, world: &World, scratch: &mut Scratch) -> usize {
        let mut missing = 0;
        let mut from = range.start;
        while from < range.end {
            // Fades end where they end; what follows is plain.
            let len = if self.fade_left > 0 { (range.end - from).min(self.fade_left) } else { range.end - from };
            let fading = self.fade_left > 0;
            missing += self.render_stretch(from, len, block_start, world, scratch);
            from += len;
            if fading && self.fade_left == 0 {
                self.end_fade(block_start + from as u64, world, scratch);
            }
        }
        self.forced = self.forced && self.drives.iter().any(|d| !d.is_free());
        missing
    }

    fn render_stretch(
        &mut self,
        from: usize,
        len: usize,
        block_start: u64,
        world: &World,
        scratch: &mut Scratch,
    ) -> usize {
        let mut missing = 0;
        let Scratch { main, entering, leaving, forces, zero, section, .. } = scratch;
        let k = &world.kernels;
        let ring = &mut self.ring[from..from + len];
        let fading = self.fade_left > 0;
        // All forces first: the states may only move on once, by the first force; the answers to others are added after that.
        let acts: [bool; DRIVES] = std::array::from_fn(|d| self.forced && !self.drives[d].is_free());
        let first = acts.iter().position(|acts| *acts);
        for d in (0..DRIVES).filter(|&d| acts[d]) {
            let force = &mut forces[d];
            missing += self.drives[d].fill(force, block_start, from, len, world.rate_hz, world.max_force_n);
            if self.drives[d].is_continuous() {
                self.spectrum.listen(&force.plain[..len], world);
                if let Some(diffuse) = &mut self.diffuse {
                    diffuse.push(&force.plain[..len], from);
                }
            }
        }
        let drive = first.map(|d| (&self.drives[d].lane_weights[..], &forces[d]));

        if let Some(sections) = &mut self.sections {
            sections.begin();
            ring.fill(0.0);
            for s in 0..sections.count() {
                let part = self.lanes.parts[s].clone();
                self.lanes.run(&part, drive, len, k, main);
                if let Some(coupled) = sections.coupling(s) {
                    self.lanes.add_response([part], &sections.lane_weights, coupled, len, k, zero, main);
                }
                (k.fold)(&main[..len], &mut section[..len]);
                sections.hear(&section[..len]);
                for (y, x) in ring.iter_mut().zip(&section[..len]) {
                    *y += x;
                }
            }
        } else {
            let part = self.lanes.parts[0].clone();
            self.lanes.run(&part, drive, len, k, main);
            if drive.is_none() {
                self.lanes.count_jump(len);
            }
            (k.fold)(&main[..len], ring);
        }
        if fading {
            let (inward, outward) = (self.lanes.entering.clone(), self.lanes.leaving.clone());
            self.lanes.run(&inward, drive, len, k, entering);
            self.lanes.run(&outward, None, len, k, leaving);
            let begun = BLOCK - self.fade_left;
            let (mut coming, mut going) = ([0.0; BLOCK], [0.0; BLOCK]);
            (k.fold)(&entering[..len], &mut coming[..len]);
            (k.fold)(&leaving[..len], &mut going[..len]);
            for (n, y) in ring.iter_mut().enumerate() {
                let rise = (begun + n + 1) as f32 * (1.0 / BLOCK as f32);
                *y += rise * coming[n] + (1.0 - rise) * going[n];
            }
        }
        for d in (0..DRIVES).filter(|&d| acts[d] && Some(d) != first) {
            // By superposition: the answer to each further force from rest is added to sound and state.
            main[..len].fill(Partial::default());
            let weights = &self.drives[d].lane_weights;
            let parts = self.lanes.driven();
            self.lanes.add_response(parts, weights, &forces[d], len, k, zero, main);
            (k.fold)(&main[..len], &mut section[..len]);
            ring.iter_mut().zip(&section[..len]).for_each(|(y, x)| *y += x);
        }
        if fading {
            self.fade_left -= len;
        }
        if self.tail_at < BLOCK {
            let left = self.tail.iter().skip(self.tail_at);
            ring.iter_mut().zip(left).for_each(|(y, t)| *y += t);
            self.tail_at = (self.tail_at + len).min(BLOCK);
        }
        missing
    }

    fn end_fade(&mut self, now: u64, world: &World, scratch: &mut Scratch) {
        // With sections, what has entered belongs to several parts: all is laid out anew.
        let anew = self.sections.is_some();
        if anew {
            self.store(now);
        }
        let Self { members, status, .. } = self;
        members.retain(|&k| {
            let status = &mut status[k as usize];
            *status = if *status == Status::Leaving { Status::Off } else { Status::On };
            *status == Status::On
        });
        if anew {
            self.load(now, world, scratch);
        } else {
            self.lanes.end_fade();
        }
    }

    /// Ends a block: noise, gain, and changes that go on by themselves.
    pub fn finish(&mut self, world: &World, scratch: &mut Scratch) {
        self.bus = self.ring;
        if let Some(diffuse) = &mut self.diffuse {
            diffuse.add(&mut self.bus);
        }
        let (drives, bus) = (if self.forced { &self.drives[..] } else { &[] }, &mut self.bus);
        for drive in drives.iter().filter(|d| d.is_continuous()) {
            bus.iter_mut().zip(&drive.feed.direct).for_each(|(y, x)| *y += x);
        }
        self.fade_out(world.rate_hz);
        let (from, to) = (self.gain, self.loudness());
        if (from, to) != (1.0, 1.0) {
            let step = (to - from) / BLOCK as f32;
            for (n, y) in self.bus.iter_mut().enumerate() {
                *y *= from + step * (n + 1) as f32;
            }
            self.gain = to;
        }
        if self.modulation.moves() {
            let energy = self.lanes.energy();
            if self.modulation.step(energy, world.rate_hz) {
                self.lanes.retune(&self.table, &self.modulation, &self.makeup_rate, world, scratch);
            }
        }
    }
}
