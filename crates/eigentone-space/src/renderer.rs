//! The audio side of a space: direct sound of all sources, and the six buses that all share.

use crate::BLOCK;
use crate::convolve::{INPUTS, Reverb};
use crate::direct::{Direct, Target};
use crate::room::SpaceSettings;
use eigentone_core::event::BodyId;

/// Where a source shall be, and how much of it is heard there.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    target: Target,
    heard: f32,
}

impl Goal {
    pub(crate) fn new(target: Target) -> Self {
        let energy = |gains: &[f32]| gains.iter().sum::<f32>().powi(2);
        let heard = (target.gain * target.gain + energy(&target.early) + energy(&target.late)).sqrt();
        Self { target, heard }
    }
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

/// The audio side: for each block [`begin`](Self::begin), [`add`](Self::add) for what sounds, [`finish`](Self::finish).
#[derive(Debug)]
pub struct Renderer {
    direct: Direct,
    reverb: Option<Reverb>,
    from_control: rtrb::Consumer<(BodyId, Option<Goal>)>,
    sources: Vec<Moving>,
    /// Slots that have ever been used.
    reached: usize,
    out: [[f32; BLOCK]; 2],
    buses: [[f32; BLOCK]; INPUTS],
    /// Blocks from one goal to the next.
    update: u32,
    /// Blocks that the way to the listener takes at most.
    flight: u32,
}

impl Renderer {
    pub(crate) fn new(
        direct: Direct,
        reverb: Option<Reverb>,
        from_control: rtrb::Consumer<(BodyId, Option<Goal>)>,
        settings: &SpaceSettings,
    ) -> Self {
        let blocks = |seconds: f64| (seconds * settings.sample_rate_hz / BLOCK as f64).ceil().clamp(1.0, 1e6) as u32;
        // What a delay line holds at most is heard after this.
        let flight = if settings.doppler { blocks(0.6) } else { blocks(0.003) };
        Self {
            direct,
            reverb,
            from_control,
            sources: vec![Moving::default(); settings.most_sources],
            reached: 0,
            out: [[0.0; BLOCK]; 2],
            buses: [[0.0; BLOCK]; INPUTS],
            update: blocks(settings.update_s),
            flight,
        }
    }

    /// Samples by which all direct sound is late.
    pub fn latency(&self) -> usize {
        self.direct.latency()
    }

    /// Takes in what the control side has said, and moves all sources on. `heard` is told how much of a source reaches the listener whenever that changes: a
    /// factor of amplitude, all ways together.
    pub fn begin(&mut self, mut heard: impl FnMut(BodyId, f32)) {
        while let Ok((body, goal)) = self.from_control.pop() {
            let slot = body.slot as usize;
            let Some(source) = self.sources.get_mut(slot) else { continue };
            self.reached = self.reached.max(slot + 1);
            match goal {
                Some(goal) if source.id == Some(body) => {
                    source.goal = goal.target;
                    source.left = self.update;
                    heard(body, goal.heard);
                }
                Some(goal) => {
                    if source.id.is_some() {
                        self.direct.release(slot);
                    }
                    *source = Moving { id: Some(body), now: goal.target, goal: goal.target, ..Moving::default() };
                    self.direct.aim(slot, goal.target);
                    heard(body, goal.heard);
                }
                None => source.leaving |= source.id == Some(body),
            }
        }
        for (slot, source) in self.sources[..self.reached].iter_mut().enumerate() {
            if source.left > 0 && source.id.is_some() {
                source.now = between(&source.now, &source.goal, 1.0 / source.left as f32);
                source.left -= 1;
                self.direct.aim(slot, source.now);
            }
        }
        self.out = [[0.0; BLOCK]; 2];
        self.buses = [[0.0; BLOCK]; INPUTS];
    }

    /// The dry sound of a source in this block. What has not been placed is not heard.
    pub fn add(&mut self, body: BodyId, sound: &[f32; BLOCK]) {
        let slot = body.slot as usize;
        if let Some(source) = self.sources.get_mut(slot).filter(|s| s.id == Some(body)) {
            // One more than the flight, because it is counted down at the end of this block.
            source.ringing = self.flight + 1;
            self.direct.add(slot, sound, &mut self.out, &mut self.buses);
        }
    }

    /// Adds all that is heard in this block, left and right.
    pub fn finish(&mut self, out: &mut [[f32; BLOCK]; 2]) {
        for (slot, source) in self.sources[..self.reached].iter_mut().enumerate() {
            if source.ringing > 0 {
                if source.ringing <= self.flight {
                    // Nothing new, but something is still on its way.
                    self.direct.add(slot, &[0.0; BLOCK], &mut self.out, &mut self.buses);
                }
                source.ringing -= 1;
                if source.ringing == 0 {
                    self.direct.rest(slot);
                    self.direct.aim(slot, source.now);
                }
            }
            if source.leaving && source.ringing == 0 {
                self.direct.release(slot);
                *source = Moving::default();
            }
        }
        if let Some(reverb) = &mut self.reverb {
            reverb.process(&self.buses, &mut self.out);
        }
        for (out, own) in out.iter_mut().zip(&self.out) {
            out.iter_mut().zip(own).for_each(|(y, x)| *y += x);
        }
    }

    /// Whether nothing is on its way any more.
    pub fn is_idle(&self) -> bool {
        self.reverb.as_ref().is_none_or(Reverb::is_idle) && self.sources[..self.reached].iter().all(|s| s.ringing == 0)
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
