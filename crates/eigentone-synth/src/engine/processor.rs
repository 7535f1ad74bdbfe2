//! The audio side.

use super::bridge::Bridge;
use super::pending::{Pending, Waiting, What};
use super::perception::{MOST_MAKEUP, Perception, view};
use super::voices::VoicePlace;
use super::{Garbage, Message};
use crate::BLOCK;
use crate::body::decide::Harvest;
use crate::body::{Body, Hit, Scratch, World};
use crate::drive::Source;
use crate::kernel::Kernels;
use crate::policy::{self, Quality};
use crate::settings::Settings;
use crate::stats::{SharedStats, Stats};
use eigentone_core::event::{Action, BodyId};
use std::sync::Arc;

/// The audio side of an engine: turns time into sound, a block at a time.
#[derive(Debug)]
pub struct Processor {
    pub(super) world: World,
    pub(super) quality: Quality,
    pub(super) places: Vec<Place>,
    /// Number of places that have ever been taken.
    pub(super) reached: usize,
    pub(super) waiting: Waiting,
    pub(super) bridges: Vec<Bridge>,
    pub(super) voices: Vec<VoicePlace>,
    /// Number of places for voices that have ever been taken.
    pub(super) voices_reached: usize,
    pub(super) from_control: rtrb::Consumer<Message>,
    pub(super) to_control: rtrb::Producer<Garbage>,
    pub(super) scratch: Scratch,
    pub(super) perception: Perception,
    pub(super) order: Vec<(f32, u32)>,
    pub(super) clock: u64,
    frame_blocks: usize,
    block_in_frame: usize,
    pub(super) mixed: usize,
    pub(super) stats: Stats,
    shared: Arc<SharedStats>,
}

#[derive(Debug, Default)]
pub(super) struct Place {
    pub generation: u32,
    pub body: Option<Box<Body>>,
    /// Another place whose body it sounds through, and the factor of its blows.
    pub shares: Option<(BodyId, f32)>,
    /// Blocks until it is handed back, once it has been removed.
    pub leaving: Option<u32>,
    /// A visit that could not be made.
    pub overdue: bool,
}

impl Processor {
    pub(super) fn new(
        settings: &Settings,
        kernels: Kernels,
        from_control: rtrb::Consumer<Message>,
        to_control: rtrb::Producer<Garbage>,
        shared: Arc<SharedStats>,
    ) -> Self {
        let rate_hz = settings.sample_rate_hz;
        Self {
            world: World {
                kernels,
                rate_hz,
                most_force_n: finite_or(settings.most_force_n.abs(), 1e4),
                most_impulse_ns: finite_or(settings.most_impulse_ns.abs(), 100.0),
            },
            quality: settings.quality.made_safe(),
            places: (0..settings.most_bodies).map(|_| Place::default()).collect(),
            reached: 0,
            waiting: Waiting::new(settings.most_events),
            bridges: Vec::with_capacity(settings.most_bridges),
            voices: (0..settings.most_contacts).map(|_| VoicePlace::default()).collect(),
            voices_reached: 0,
            from_control,
            to_control,
            scratch: Scratch::new(settings.most_modes_per_body, settings.most_bodies),
            perception: Perception::new(),
            order: Vec::with_capacity(settings.most_bodies),
            clock: 0,
            frame_blocks: policy::frame_blocks(rate_hz),
            block_in_frame: 0,
            mixed: 0,
            stats: Stats::default(),
            shared,
        }
    }

    /// Samples rendered so far: the moment at which the next block begins.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Samples per second.
    pub fn sample_rate_hz(&self) -> f64 {
        self.world.rate_hz
    }

    /// What it has been doing.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Renders the next block of every body. Afterwards [`Processor::buses`] has their sound.
    pub fn next_block(&mut self) {
        crate::kernel::without_denormals(|| self.render_block());
    }

    /// The sound of each body that sounded in the last block, in pascals.
    pub fn buses(&self) -> impl Iterator<Item = (BodyId, &[f32; BLOCK])> {
        self.places[..self.reached].iter().enumerate().filter_map(|(slot, place)| {
            let body = place.body.as_ref().filter(|b| b.sounded)?;
            Some((BodyId { slot: slot as u32, generation: place.generation }, &body.bus))
        })
    }

    /// How much of a body reaches the listener, as a factor of amplitude; 1 at first. It changes nothing in the sound of its bus, only what of it is worth
    /// computing: what rings behind three walls costs next to nothing. To be called between two blocks, on the audio side.
    pub fn set_heard(&mut self, id: BodyId, factor: f32) {
        // One that sounds through another body is heard where that one is.
        let place = self.places.get_mut(id.slot as usize).filter(|p| p.generation == id.generation);
        if let Some(body) = place.and_then(|p| p.body.as_mut()).filter(|_| factor.is_finite()) {
            body.set_heard(factor);
        }
    }

    fn render_block(&mut self) {
        self.receive();
        if self.block_in_frame == 0 {
            self.begin_frame();
        }
        self.carry_bridges();
        self.run_voices();
        let places = &self.places;
        self.waiting.collect(self.clock + BLOCK as u64, |id| resolve(places, id).unwrap_or(u32::MAX));
        let mut next = 0;
        for slot in 0..self.reached {
            let due = self.waiting.due();
            let begin = next;
            while next < due.len() && resolve(&self.places, due[next].body).is_some_and(|s| s as usize == slot) {
                next += 1;
            }
            self.render_place(slot, begin, next);
        }
        for i in next..self.waiting.due().len() {
            let Pending { body, what, .. } = self.waiting.due()[i];
            let place = self.places.get_mut(body.slot as usize).filter(|p| p.generation == body.generation);
            match (what, place) {
                (What::Quality(quality), _) => self.set_quality(quality),
                // One that shared a body that has gone before it.
                (What::Remove, Some(place)) if place.shares.is_some() => place.leaving = Some(0),
                _ => self.stats.orphaned += 1,
            }
        }
        self.take_leave();
        self.account();
        self.clock += BLOCK as u64;
        self.block_in_frame = (self.block_in_frame + 1) % self.frame_blocks;
    }

    /// One body's block: a look at it if it is its turn, then its events and the sound between them.
    fn render_place(&mut self, slot: usize, first: usize, last: usize) {
        let due = first < last;
        let Some(mut body) = self.places[slot].body.take() else { return };
        let mixed_before = body.mixed();
        body.keep_time(self.clock, &self.world, &mut self.scratch);
        let turn = slot % self.frame_blocks == self.block_in_frame;
        let eager = body.eager > 0;
        body.eager = body.eager.saturating_sub(1);
        if (turn || eager || self.places[slot].overdue) && !body.account.asleep {
            let free = self.free_modes();
            let view = view(&self.quality, &self.perception.curve, self.perception.levels(body.account.energy));
            let compensate = self.quality.masking.is_some_and(|m| m.compensate);
            let mut harvest = Harvest {
                maskers: &mut self.perception.maskers,
                bands: compensate.then_some(&mut self.perception.bands),
                makeup: compensate.then_some(&self.perception.makeup),
                frame: (self.frame_blocks * BLOCK) as f32,
            };
            let visited = body.visit(self.clock, &view, free, &mut harvest, &self.world, &mut self.scratch);
            self.places[slot].overdue = !visited;
        }
        self.mixed = self.mixed + body.mixed() - mixed_before;
        let mut done = 0;
        for i in first..last {
            let event = self.waiting.due()[i];
            let at = event.time.sample.saturating_sub(self.clock) as usize;
            self.stats.late += u64::from(event.time.sample < self.clock && event.time.sample > 0);
            // A moment between two samples is heard from the later one on.
            let fraction = if event.time.fraction > 0.0 { event.time.fraction.min(1.0) } else { 0.0 };
            let (at, early) = if fraction > 0.0 { (at + 1, 1.0 - fraction) } else { (at, 0.0) };
            let at = at.min(BLOCK);
            let before = body.mixed();
            if at > done {
                self.stats.starved += body.render(done..at, self.clock, &self.world, &mut self.scratch) as u64;
                done = at;
            }
            self.act(&mut body, slot, event, done, early);
            self.mixed = self.mixed + body.mixed() - before;
            self.stats.mixed_most = self.stats.mixed_most.max(self.mixed as u64);
        }
        let before = body.mixed();
        if body.is_sounding() || done > 0 || due {
            self.stats.starved += body.render(done..BLOCK, self.clock, &self.world, &mut self.scratch) as u64;
            body.finish(&self.world, &mut self.scratch);
            body.sounded = true;
        } else if body.sounded {
            body.rest();
        }
        // Counted with those that left during the block: they were computed in it.
        self.stats.mixed_most = self.stats.mixed_most.max(self.mixed as u64);
        self.mixed = self.mixed + body.mixed() - before;
        for drive in body.drives() {
            if drive.is_abandoned() {
                let source = drive.stop();
                discard(&mut self.to_control, &mut self.stats, Garbage::Source(source));
            }
        }
        self.places[slot].body = Some(body);
    }

    fn act(&mut self, body: &mut Body, slot: usize, event: Pending, at: usize, early: f32) {
        let now = self.clock + at as u64;
        let factor = self.places[event.body.slot as usize].shares.map_or(1.0, |(_, factor)| factor);
        let through_other = event.body.slot as usize != slot;
        if self.places[slot].leaving.is_some() && !through_other {
            // It has been removed; what comes after that is not heard.
            return;
        }
        match event.what {
            What::Quality(_) => {}
            What::Remove if through_other => self.places[event.body.slot as usize].leaving = Some(0),
            What::Remove => {
                body.silence(now, &self.world, &mut self.scratch);
                self.places[slot].leaving = Some(2);
            }
            What::Act(action) => {
                let (site, impulse, duration_s) = match action {
                    Action::Impulse { site, impulse_ns } => (site, impulse_ns, 0.0),
                    Action::Blow { site, impulse_ns, duration_s } => (site, impulse_ns, duration_s),
                    other => return self.adjust(body, other, now),
                };
                let hit = Hit { site: &site, impulse_ns: impulse.map(|x| x * factor), duration_s, early, at };
                let free = self.free_modes();
                let view = view(&self.quality, &self.perception.curve, self.perception.levels(body.account.energy));
                let before = body.account.energy;
                body.hit(hit, now, &view, free, &self.world, &mut self.scratch);
                self.perception.total += body.account.energy - before;
                self.stats.hits += 1;
            }
        }
    }

    fn adjust(&mut self, body: &mut Body, action: Action, now: u64) {
        let (world, scratch) = (&self.world, &mut self.scratch);
        match action {
            Action::Damping(x) => body.tune(|m| m.set_damping(x), now, world, scratch),
            Action::Frequency(x) => body.tune(|m| m.set_frequency(x), now, world, scratch),
            Action::Strain(x) => body.tune(|m| m.set_strain(x), now, world, scratch),
            Action::Gain(x) if x.is_finite() => body.set_gain(x),
            Action::Emphasis(x) if x.is_finite() => body.set_emphasis(x),
            Action::Silence => body.silence(now, world, scratch),
            _ => {}
        }
    }

    /// Changes what may be left out. What sleeps is looked at again: it may be worth computing now.
    fn set_quality(&mut self, quality: Quality) {
        self.quality = quality.made_safe();
        for body in self.places[..self.reached].iter_mut().filter_map(|p| p.body.as_mut()) {
            body.account.asleep = false;
        }
    }

    /// Modes that may be added without exceeding the budget.
    fn free_modes(&self) -> usize {
        self.quality.budget.map_or(usize::MAX, |b| b.modes.saturating_sub(self.mixed))
    }

    /// Fills the bridges' forces from the sounds of the last block.
    fn carry_bridges(&mut self) {
        // Modes that make up for masked ones are louder than they are: not around a loop.
        let scale = if self.quality.masking.is_some_and(|m| m.compensate) { 1.0 / MOST_MAKEUP } else { 1.0 };
        for i in 0..self.bridges.len() {
            let link = self.bridges[i].link;
            let silence = [0.0; BLOCK];
            let from = resolve(&self.places, link.from).and_then(|slot| self.places[slot as usize].body.as_ref());
            let sound = from.map_or(silence, |b| b.ring);
            let drive = self.bridges[i].drive;
            let to = resolve(&self.places, link.to).map(|slot| slot as usize);
            let to = to.and_then(|slot| self.places[slot].body.as_mut());
            if let Some(drive) = to.map(|b| &mut b.drives()[drive])
                && let Source::Bridge(buffer) = &mut drive.source
            {
                self.bridges[i].carry(&sound, buffer, &mut drive.feed.direct, scale);
            }
        }
    }

    /// Hands back bodies that have faded out.
    fn take_leave(&mut self) {
        for slot in 0..self.reached {
            match &mut self.places[slot].leaving {
                None => {}
                Some(0) => self.hand_back(slot),
                Some(blocks) => *blocks -= 1,
            }
        }
    }

    fn hand_back(&mut self, slot: usize) {
        let id = BodyId { slot: slot as u32, generation: self.places[slot].generation };
        let mut body = std::mem::take(&mut self.places[slot]).body;
        // Its id stays known as gone until the place is given away again.
        self.places[slot].generation = id.generation.wrapping_add(u32::MAX / 2);
        if let Some(body) = &mut body {
            self.mixed -= body.mixed();
        }
        // Bridges to it and from it go with it.
        let mut i = 0;
        while i < self.bridges.len() {
            let Bridge { link, drive, .. } = self.bridges[i];
            if link.to != id && link.from != id {
                i += 1;
                continue;
            }
            self.bridges.swap_remove(i);
            let to = if link.to == id {
                body.as_mut()
            } else {
                resolve(&self.places, link.to).and_then(|slot| self.places[slot as usize].body.as_mut())
            };
            if let Some(Source::Bridge(buffer)) = to.map(|b| b.drives()[drive].stop()) {
                discard(&mut self.to_control, &mut self.stats, Garbage::Buffer(buffer));
            }
        }
        self.stats.bodies -= 1;
        discard(&mut self.to_control, &mut self.stats, Garbage::Body(id, body));
    }

    fn account(&mut self) {
        let s = &mut self.stats;
        (s.sounding, s.modes, s.truncated, s.masked, s.scaled, s.leaving) = (0, 0, 0, 0, 0, 0);
        for body in self.places[..self.reached].iter().filter_map(|p| p.body.as_ref()) {
            s.sounding += u64::from(body.sounded);
            if !body.account.asleep || body.mixed() > 0 {
                s.modes += body.table.len as u64;
                s.truncated += body.account.truncated as u64;
                s.masked += body.account.masked as u64;
                s.scaled += body.account.scaled as u64;
                s.leaving += body.leaving() as u64;
            }
        }
        s.blocks += 1;
        s.mixed = self.mixed as u64;
        s.mixed_sum += self.mixed as u64;
        self.shared.publish(s);
    }
}

/// The place of the body that an id sounds through; `None` if there is none any more.
pub(super) fn resolve(places: &[Place], id: BodyId) -> Option<u32> {
    let there = |id: BodyId| places.get(id.slot as usize).filter(|p| p.generation == id.generation);
    let own = there(id)?.shares.map_or(id, |(other, _)| other);
    there(own)?.body.as_ref().map(|_| own.slot)
}

fn finite_or(x: f32, otherwise: f32) -> f32 {
    if x.is_finite() { x } else { otherwise }
}

/// Hands something back for freeing. If the control side is gone, leaking is all that can be done without freeing here.
pub(super) fn discard(to_control: &mut rtrb::Producer<Garbage>, stats: &mut Stats, garbage: Garbage) {
    if let Err(rtrb::PushError::Full(garbage)) = to_control.push(garbage) {
        stats.leaked += 1;
        std::mem::forget(garbage);
    }
}
