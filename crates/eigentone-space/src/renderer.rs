//! The audio side of the spatial renderer: direct sound of all sources, and the six buses that all share.
//!
//! What a block costs follows what sounds, moves or is told anew in it, not how many sources there are.

use crate::BLOCK;
use crate::convolve::{INPUTS, Reverb};
use crate::direct::{Direct, Target};
use crate::exchange::{Exchange, Halls, Returned};
use crate::room::SpaceSettings;
use crate::slots::{SlotSet, Sounding};
use eigentone_core::event::BodyId;
use std::sync::Arc;

/// Messages taken in per block; more wait for the next ones. With some 50 ns each they take a seventh of a block's time at most.
const MAX_MESSAGES: usize = 4096;

/// Where a source shall be, and how much of it is heard there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    target: Target,
    audibility: f32,
    /// Whether a source that is silent begins there, instead of going there in a line.
    begin: bool,
}

impl Goal {
    pub(crate) fn new(target: Target, begin: bool) -> Self {
        let energy = |gains: &[f32]| gains.iter().sum::<f32>().powi(2);
        let audibility = (target.gain * target.gain + energy(&target.early) + energy(&target.late)).sqrt();
        Self { target, audibility, begin }
    }
}

/// What a source gives to each bus in a block: for stems, and for other mixers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceSends {
    /// Gain of the direct sound, `1/distance` included.
    pub direct: f32,
    /// Gains of the dry sound into the three early buses, in the order of [`EARLY_TIMES_S`](crate::canonical::EARLY_TIMES_S).
    pub early: [f32; 3],
    /// Gains of the dry sound into the three late buses, in the order of [`LATE_TIMES_S`](crate::canonical::LATE_TIMES_S).
    pub late: [f32; 3],
    /// Where the direct sound comes from in the listener's frame: right, forward, up; of unit length.
    pub direction: [f32; 3],
}

/// A source on its way from one goal to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Moving {
    id: Option<BodyId>,
    now: Target,
    goal: Target,
    /// Blocks until it is there.
    left: u32,
    /// Blocks until all that it sounded has arrived.
    ringing: u32,
    /// Removed, and to be let go when all has arrived.
    leaving: bool,
}

/// What connects a renderer with the control side.
#[derive(Debug)]
pub(crate) struct Links {
    pub goals: rtrb::Consumer<(BodyId, Option<Goal>)>,
    pub exchanges: rtrb::Consumer<Exchange>,
    pub back: rtrb::Producer<Returned>,
    pub sounding: Arc<Sounding>,
}

/// The audio side: for each block [`begin`](Self::begin), [`add`](Self::add) for what sounds, [`finish`](Self::finish). Never allocates, frees, locks or fails.
#[derive(Debug)]
pub struct Renderer {
    direct: Direct,
    halls: Halls,
    links: Links,
    sources: Vec<Moving>,
    /// Slots of sources that move, sound or leave.
    busy: SlotSet,
    out: [[f32; BLOCK]; 2],
    buses: [[f32; BLOCK]; INPUTS],
    /// Blocks from one goal to the next.
    update: u32,
    /// Blocks that the way to the listener takes at most, without and with delays.
    flights: [u32; 2],
    /// What found the way back to the control side full; nothing else is exchanged until it is gone.
    returning: Option<Returned>,
}

impl Renderer {
    pub(crate) fn new(direct: Direct, reverb: Option<Reverb>, links: Links, settings: &SpaceSettings) -> Self {
        let blocks = |seconds: f64| (seconds * settings.sample_rate_hz / BLOCK as f64).ceil().clamp(1.0, 1e6) as u32;
        Self {
            direct,
            halls: Halls::new(reverb, settings.sample_rate_hz),
            links,
            sources: vec![Moving::default(); settings.max_sources],
            busy: SlotSet::new(settings.max_sources),
            out: [[0.0; BLOCK]; 2],
            buses: [[0.0; BLOCK]; INPUTS],
            update: blocks(settings.update_s),
            // What a delay line holds at most is heard after this.
            flights: [blocks(0.003), blocks(0.6)],
            returning: None,
        }
    }

    /// Samples by which all direct sound is late: none with [`Spatial::Pan`](crate::direct::Spatial::Pan) and without Doppler.
    pub fn latency(&self) -> usize {
        self.direct.latency()
    }

    /// Takes in what the control side has said, and moves all sources on. `heard` is told how much of a source reaches the listener whenever that changes: a
    /// factor of amplitude, all ways together.
    pub fn begin(&mut self, mut heard: impl FnMut(BodyId, f32)) {
        self.out = [[0.0; BLOCK]; 2];
        self.buses = [[0.0; BLOCK]; INPUTS];
        self.exchange();
        for _ in 0..MAX_MESSAGES {
            let Ok((body, goal)) = self.links.goals.pop() else { break };
            if let Some(audibility) = self.take_in(body, goal) {
                heard(body, audibility);
            }
        }
        let mut from = 0;
        while let Some(slot) = self.busy.next(from) {
            from = slot + 1;
            let source = &mut self.sources[slot];
            if source.left > 0 && source.id.is_some() {
                source.now = between(&source.now, &source.goal, 1.0 / source.left as f32);
                source.left -= 1;
                self.direct.aim(slot, source.now);
            }
        }
    }

    /// Takes rooms and delays in and hands back those that are done.
    fn exchange(&mut self) {
        if let Some(returned) = self.returning.take() {
            self.give_back(returned);
        }
        if self.returning.is_some() {
            return;
        }
        if let Some(delays) = self.direct.next_block() {
            self.give_back(Returned::Doppler(delays));
        }
        if let Some(hall) = self.returning.is_none().then(|| self.halls.done()).flatten() {
            self.give_back(Returned::Hall(hall));
        }
        while self.returning.is_none() && self.halls.has_room() {
            let Ok(exchange) = self.links.exchanges.pop() else { break };
            let refused = match exchange {
                Exchange::Field { hall, tilts } => {
                    self.direct.fade_tilts(tilts, self.halls.fade());
                    self.halls.exchange(hall).map(Returned::Hall)
                }
                Exchange::Doppler(delays) => self.direct.fade_doppler(delays).map(Returned::Doppler),
            };
            if let Some(refused) = refused {
                self.give_back(refused);
            }
        }
    }

    fn give_back(&mut self, returned: Returned) {
        if let Err(rtrb::PushError::Full(returned)) = self.links.back.push(returned) {
            self.returning = Some(returned);
        }
    }

    /// One message about a source. Returns how much of it is heard.
    fn take_in(&mut self, body: BodyId, goal: Option<Goal>) -> Option<f32> {
        let slot = body.slot as usize;
        let source = self.sources.get_mut(slot)?;
        self.busy.insert(slot);
        let Some(goal) = goal else {
            source.leaving |= source.id == Some(body);
            return None;
        };
        if source.id == Some(body) && !(goal.begin && source.ringing == 0) {
            (source.goal, source.left) = (goal.target, self.update);
        } else {
            if source.id != Some(body) {
                if source.id.is_some() {
                    self.direct.release(slot);
                    if source.ringing > 0 {
                        // What is still on its way from the one before falls silent within this block.
                        self.direct.add(slot, &[0.0; BLOCK], &mut self.out, &mut self.buses);
                    }
                }
                self.links.sounding.set(slot, false);
            }
            *source = Moving { id: Some(body), now: goal.target, goal: goal.target, ..Moving::default() };
            self.direct.aim(slot, goal.target);
        }
        // One that was to leave is wanted again.
        source.leaving = false;
        Some(goal.audibility)
    }

    /// The dry sound of a source in this block. What has not been placed is not heard.
    pub fn add(&mut self, body: BodyId, sound: &[f32; BLOCK]) {
        let slot = body.slot as usize;
        if let Some(source) = self.sources.get_mut(slot).filter(|s| s.id == Some(body)) {
            if source.ringing == 0 {
                self.links.sounding.set(slot, true);
                self.busy.insert(slot);
            }
            // One more than the flight, because it is counted down at the end of this block.
            source.ringing = self.flights[usize::from(self.direct.has_doppler())] + 1;
            self.direct.add(slot, sound, &mut self.out, &mut self.buses);
        }
    }

    /// Adds all that is heard in this block, left and right.
    pub fn finish(&mut self, out: &mut [[f32; BLOCK]; 2]) {
        let flight = self.flights[usize::from(self.direct.has_doppler())];
        let mut from = 0;
        while let Some(slot) = self.busy.next(from) {
            from = slot + 1;
            let source = &mut self.sources[slot];
            if source.ringing > 0 {
                if source.ringing <= flight {
                    // Nothing new, but something is still on its way.
                    self.direct.add(slot, &[0.0; BLOCK], &mut self.out, &mut self.buses);
                }
                source.ringing -= 1;
                if source.ringing == 0 {
                    self.direct.rest(slot);
                    self.direct.aim(slot, source.now);
                    self.links.sounding.set(slot, false);
                }
            }
            if source.leaving && source.ringing == 0 {
                self.direct.release(slot);
                *source = Moving::default();
            }
            if source.ringing == 0 && source.left == 0 {
                self.busy.remove(slot);
            }
        }
        self.halls.process(&self.buses, &mut self.out);
        for (out, own) in out.iter_mut().zip(&self.out) {
            out.iter_mut().zip(own).for_each(|(y, x)| *y += x);
        }
    }

    /// What a source gives to each bus at the end of this block; nothing if it has not been placed.
    pub fn sends(&self, body: BodyId) -> Option<SourceSends> {
        let slot = body.slot as usize;
        self.sources.get(slot).filter(|s| s.id == Some(body))?;
        let target = self.direct.target(slot)?;
        let Target { gain: direct, early, late, direction, .. } = *target;
        Some(SourceSends { direct, early, late, direction })
    }

    /// Whether nothing is on its way any more.
    pub fn is_idle(&self) -> bool {
        self.halls.is_idle() && self.busy.iter().all(|slot| self.sources[slot].ringing == 0)
    }
}

/// On the straight line from one target to another.
fn between(from: &Target, to: &Target, share: f32) -> Target {
    if share >= 1.0 {
        return *to;
    }
    let mix = |a: f32, b: f32| a + share * (b - a);
    let three = |a: [f32; 3], b: [f32; 3]| std::array::from_fn(|i| mix(a[i], b[i]));
    Target {
        gain: mix(from.gain, to.gain),
        tilt_db: mix(from.tilt_db, to.tilt_db),
        direction: three(from.direction, to.direction),
        distance_m: mix(from.distance_m, to.distance_m),
        early: three(from.early, to.early),
        late: three(from.late, to.late),
        directivity_gain: mix(from.directivity_gain, to.directivity_gain),
        directivity_cutoff_hz: to.directivity_cutoff_hz,
    }
}
