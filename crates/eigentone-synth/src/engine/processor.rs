//! The audio side.

use super::awake::Awake;
use super::bridge::Bridge;
use super::crowd::Crowd;
use super::leave::Tails;
use super::pending::Waiting;
use super::perception::{MAX_MAKEUP, Perception, view};
use super::probe::Probe;
use super::voices::VoicePlace;
use super::{Garbage, Message};
use crate::BLOCK;
use crate::body::view::Harvest;
use crate::body::{Body, Scratch, World};
use crate::drive::Source;
use crate::kernel::Kernels;
use crate::policy::{self, Quality};
use crate::settings::Settings;
use crate::stats::{SharedStats, Stats};
use eigentone_core::event::BodyId;
use std::ops::Range;
use std::sync::Arc;

/// Sleeping bodies that are looked at again in a block, after the quality has changed.
const WAKES_PER_BLOCK: usize = 256;

/// The audio side of an engine: turns time into sound, a block at a time.
#[derive(Debug)]
pub struct Processor {
    pub(super) world: World,
    pub(super) quality: Quality,
    /// Most modes that may be computed at once, as the audio side itself sees it.
    pub(super) cap: Option<usize>,
    pub(super) places: Vec<Place>,
    /// Number of places that have ever been taken.
    pub(super) reached: usize,
    pub(super) awake: Awake,
    /// Places that are being handed back.
    pub(super) departing: Vec<u32>,
    pub(super) waiting: Waiting,
    pub(super) crowd: Crowd,
    pub(super) bridges: Vec<Bridge>,
    pub(super) voices: Vec<VoicePlace>,
    /// Places of the voices that are open, in order.
    pub(super) open_voices: Vec<u32>,
    pub(super) from_control: rtrb::Consumer<Message>,
    pub(super) to_control: rtrb::Producer<Garbage>,
    pub(super) max_messages: usize,
    pub(super) scratch: Scratch,
    pub(super) perception: Perception,
    pub(super) order: Vec<(f32, u32)>,
    pub(super) clock: u64,
    /// Whether messages have been taken in for the next block.
    received: bool,
    frame_blocks: usize,
    block_in_frame: usize,
    /// The next place whose clock is looked after.
    minded: usize,
    /// The next place to be woken after a change of quality.
    rewake: usize,
    pub(super) mixed: usize,
    pub(super) stats: Stats,
    shared: Arc<SharedStats>,
    pub(super) probe: Arc<Probe>,
}

#[derive(Debug, Default)]
pub(super) struct Place {
    pub generation: u32,
    pub body: Option<Box<Body>>,
    /// What is left of models that the body had before.
    pub tails: Tails,
    /// Another place whose body it sounds through, and the factor of its blows.
    pub shares: Option<(BodyId, f32)>,
    /// Blocks until it is handed back, once it has been removed.
    pub leaving: Option<u32>,
    /// A visit that could not be made.
    pub overdue: bool,
    /// Modes of the body.
    pub modes: usize,
    /// What the policy grants it from now on, if that has changed.
    pub granted: Option<usize>,
    pub brief: Brief,
}

/// What the engine must know of a body in every block or frame, beside the others' so that bodies at rest are not touched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brief {
    /// Nothing to compute until its turn comes or something happens.
    pub idle: bool,
    pub asleep: bool,
    pub sounded: bool,
    pub energy: f32,
    /// The same, weighted by emphasis.
    pub attention: f32,
    pub wants: usize,
    modes: u32,
    truncated: u32,
    masked: u32,
    scaled: u32,
    leaving: u32,
}

impl Default for Brief {
    fn default() -> Self {
        Self {
            idle: true,
            asleep: true,
            sounded: false,
            energy: 0.0,
            attention: 0.0,
            wants: 0,
            modes: 0,
            truncated: 0,
            masked: 0,
            scaled: 0,
            leaving: 0,
        }
    }
}

impl Brief {
    fn of(body: &Body, tails: &Tails) -> Self {
        let account = &body.account;
        let counts = !account.asleep || body.mixed() > 0;
        let count = |n: usize| if counts { n as u32 } else { 0 };
        Self {
            idle: !body.is_sounding() && !body.sounded && body.eager == 0 && tails.is_empty(),
            asleep: account.asleep,
            sounded: body.sounded,
            energy: account.energy,
            attention: account.energy * (body.emphasis * body.emphasis),
            wants: account.wanted.max(body.mixed()),
            modes: count(body.table.len),
            truncated: count(account.truncated),
            masked: count(account.masked),
            scaled: count(account.scaled),
            leaving: count(body.leaving()) + tails.mixed() as u32,
        }
    }
}

impl Processor {
    pub(super) fn new(
        settings: &Settings,
        kernels: Kernels,
        from_control: rtrb::Consumer<Message>,
        to_control: rtrb::Producer<Garbage>,
        shared: Arc<SharedStats>,
        probe: Arc<Probe>,
    ) -> Self {
        let rate_hz = settings.sample_rate_hz;
        let crowd = Crowd::new(settings.max_events_per_block, settings.max_bodies);
        Self {
            world: World {
                kernels,
                rate_hz,
                max_force_n: finite_or(settings.max_force_n.abs(), 1e4),
                max_impulse_ns: finite_or(settings.max_impulse_ns.abs(), 100.0),
            },
            quality: settings.quality.made_safe(),
            cap: None,
            places: (0..settings.max_bodies).map(|_| Place::default()).collect(),
            reached: 0,
            awake: Awake::new(settings.max_bodies),
            departing: Vec::with_capacity(settings.max_bodies),
            waiting: Waiting::new(settings.max_events, super::vital_events(settings), crowd.max_seen()),
            crowd,
            bridges: Vec::with_capacity(settings.max_bridges),
            voices: (0..settings.max_contacts).map(|_| VoicePlace::default()).collect(),
            open_voices: Vec::with_capacity(settings.max_contacts),
            from_control,
            to_control,
            max_messages: settings.max_messages_per_block.max(1),
            scratch: Scratch::new(settings.max_modes_per_body, settings.max_bodies),
            perception: Perception::new(),
            order: Vec::with_capacity(settings.max_bodies),
            clock: 0,
            received: false,
            frame_blocks: policy::frame_blocks(rate_hz),
            block_in_frame: 0,
            minded: 0,
            rewake: usize::MAX,
            mixed: 0,
            stats: Stats::default(),
            shared,
            probe,
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
        self.awake.slots().iter().filter_map(|&slot| {
            let place = &self.places[slot as usize];
            let body = place.body.as_ref().filter(|_| place.brief.sounded)?;
            Some((BodyId { slot, generation: place.generation }, &body.bus))
        })
    }

    /// How much of a body reaches the listener, as a factor of amplitude; 1 at first. It changes nothing in the sound of its bus, only what of it is worth
    /// computing: what rings behind three walls costs next to nothing. To be called between two blocks, on the audio side.
    pub fn set_audibility(&mut self, id: BodyId, factor: f32) {
        // One that sounds through another body is heard where that one is.
        let place = self.places.get_mut(id.slot as usize).filter(|p| p.generation == id.generation);
        if let Some(body) = place.and_then(|p| p.body.as_mut()).filter(|_| factor.is_finite()) {
            body.set_audibility(factor);
            if !body.account.asleep {
                self.woke(id.slot as usize);
            }
        }
    }

    /// A body is not asleep any more, or has something to do.
    pub(super) fn woke(&mut self, slot: usize) {
        let place = &mut self.places[slot];
        let Some(body) = &place.body else { return };
        (place.brief.asleep, place.brief.idle) = (body.account.asleep, false);
        self.awake.add(slot);
    }

    /// Takes in what the control side has sent, as much as a block has time for, before the block is rendered; [`Processor::next_block`] does so itself if it was not called. For hosts with a second queue: what it says
    /// of bodies that are known by then has been sent before.
    pub fn receive_messages(&mut self) {
        if !std::mem::replace(&mut self.received, true) {
            // Those that come now are not among them that slept when the quality changed.
            self.wake_some();
            self.receive();
        }
    }

    fn render_block(&mut self) {
        self.receive_messages();
        self.received = false;
        self.mind_one();
        self.awake.sort();
        if self.block_in_frame == 0 {
            self.begin_frame();
            self.tell_modes();
        }
        self.keep_cap();
        self.carry_bridges();
        self.run_voices();
        let places = &self.places;
        let slot = |id| resolve(places, id).unwrap_or(u32::MAX);
        self.stats.spread += self.waiting.collect(self.clock, self.clock + BLOCK as u64, slot);
        for due in self.waiting.due().iter().take_while(|due| due.slot != u32::MAX) {
            self.awake.add(due.slot as usize);
        }
        let crowded = self.choose();
        self.awake.sort();
        let mut next = 0;
        for i in 0..self.awake.slots().len() {
            let slot = self.awake.slots()[i];
            let begin = next;
            while self.waiting.due().get(next).is_some_and(|due| due.slot == slot) {
                next += 1;
            }
            self.render_place(slot as usize, begin..next, crowded);
        }
        for i in next..self.waiting.due().len() {
            self.act_on_nobody(i);
        }
        self.waiting.finish();
        self.take_leave();
        self.account();
        let places = &self.places;
        self.awake.retain(|slot| {
            let place = &places[slot];
            place.body.is_some() && !(place.brief.idle && place.brief.asleep)
        });
        self.clock += BLOCK as u64;
        self.block_in_frame = (self.block_in_frame + 1) % self.frame_blocks;
    }

    /// One body's block: a look at it if it is its turn, then its events and the sound between them.
    fn render_place(&mut self, slot: usize, due: Range<usize>, crowded: bool) {
        let turn = slot % self.frame_blocks == self.block_in_frame;
        let place = &mut self.places[slot];
        if place.brief.idle && due.is_empty() && !turn && !place.overdue {
            return;
        }
        let Some(mut body) = place.body.take() else { return };
        if let Some(granted) = place.granted.take() {
            body.account.granted = granted;
        }
        let mixed_before = body.mixed();
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
        let acted =
            if crowded { self.act_together(&mut body, slot, due) } else { self.act_in_turn(&mut body, slot, due) };
        let before = body.mixed();
        if body.is_sounding() || acted.is_some() || !self.places[slot].tails.is_empty() {
            let done = acted.unwrap_or(0);
            self.stats.starved += body.render(done..BLOCK, self.clock, &self.world, &mut self.scratch) as u64;
            body.finish(&self.world, &mut self.scratch);
            body.sounded = true;
        } else if body.sounded {
            body.rest();
        }
        // Counted with those that left during the block: they were computed in it.
        self.stats.mixed_most = self.stats.mixed_most.max(self.mixed as u64);
        self.mixed = self.mixed + body.mixed() - before;
        for drive in body.acting() {
            if drive.is_abandoned() {
                let source = drive.stop();
                discard(&mut self.to_control, &mut self.stats, Garbage::Source(source));
            }
        }
        self.render_tails(slot, &mut body);
        let place = &mut self.places[slot];
        place.brief = Brief::of(&body, &place.tails);
        place.body = Some(body);
    }

    /// Changes what may be left out. What sleeps is looked at again: it may be worth computing now.
    pub(super) fn set_quality(&mut self, quality: Quality) {
        self.quality = quality.made_safe();
        self.rewake = 0;
    }

    /// Wakes some of those that slept when the quality changed.
    fn wake_some(&mut self) {
        if self.rewake >= self.reached {
            return;
        }
        let end = (self.rewake + WAKES_PER_BLOCK).min(self.reached);
        for slot in self.rewake..end {
            if let Some(body) = &mut self.places[slot].body {
                body.account.asleep = false;
                self.woke(slot);
            }
        }
        self.rewake = if end < self.reached { end } else { usize::MAX };
    }

    /// The lower half of a body's clock comes round once in a day: one after the other is looked after, asleep or not.
    fn mind_one(&mut self) {
        self.minded = if self.minded + 1 < self.reached { self.minded + 1 } else { 0 };
        if let Some(body) = self.places.get_mut(self.minded).and_then(|p| p.body.as_mut()) {
            body.keep_time(self.clock, &self.world, &mut self.scratch);
        }
    }

    /// Fills the bridges' forces from the sounds of the last block.
    fn carry_bridges(&mut self) {
        // Modes that make up for masked ones are louder than they are: not around a loop.
        let scale = if self.quality.masking.is_some_and(|m| m.compensate) { 1.0 / MAX_MAKEUP } else { 1.0 };
        self.end_bridges(|bridge| bridge.has_faded());
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

    fn account(&mut self) {
        let s = &mut self.stats;
        (s.sounding, s.modes, s.truncated, s.masked, s.scaled, s.leaving) = (0, 0, 0, 0, 0, 0);
        for &slot in self.awake.slots() {
            let place = &self.places[slot as usize];
            let brief = place.brief;
            if place.body.is_some() {
                s.sounding += u64::from(brief.sounded);
                s.modes += u64::from(brief.modes);
                s.truncated += u64::from(brief.truncated);
                s.masked += u64::from(brief.masked);
                s.scaled += u64::from(brief.scaled);
                s.leaving += u64::from(brief.leaving);
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
