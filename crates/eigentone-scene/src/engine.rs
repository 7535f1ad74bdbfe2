//! The engine as a program uses it: a handle for the game, a processor for the audio callback.
//!
//! The [`Processor`] composes what lies between bodies and loudspeakers: each body's dry sound is limited, heard through the rooms or placed between left and right, all are
//! mixed, the mix is limited, and whatever block size the host asks for is served from blocks of 64 samples. It never allocates, locks or fails. What the listener hears of each body goes back to
//! the synthesis, which does not compute what cannot be heard.
//!
//! Load a model, strike it, pull a block:
//!
//! ```
//! use eigentone_core::event::{Action, Event, Moment};
//! use eigentone_core::{MaterialTable, Vec3, mesh::primitives};
//! use eigentone_modal::{MeshModelSettings, Progress, model_from_mesh};
//! use eigentone_scene::engine::{EngineSettings, engine};
//! use eigentone_synth::BodySettings;
//! # let steel = MaterialTable::builtin().get("steel")?.clone();
//! # let mesh = primitives::bar(0.2, 0.02, 0.01);
//! # let model = model_from_mesh(&mesh, &steel, &MeshModelSettings::default(), &Progress::silent())?;
//! let model = std::sync::Arc::new(model);
//!
//! let (mut handle, mut processor) = engine(EngineSettings::default())?;
//! let body = handle.add(&BodySettings::new(model.clone()))?;
//! let contact = model.nearest_contact(Vec3::new(0.1, 0.0, 0.005)).unwrap();
//! let action = Action::Blow { site: contact.blend, impulse_ns: [0.0, 0.0, -0.05], duration_s: 5e-4 };
//! handle.send(Event { time: Moment::NOW, body, action })?;
//! let mut block = [0.0; 480];
//! processor.process(&mut block);
//! assert!(block.iter().any(|&y| y != 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::level::FULL_SCALE_PA;
use eigentone_core::event::BodyId;
use eigentone_space::renderer::Renderer;
use eigentone_synth::limiter::Limiter;
use eigentone_synth::{BLOCK, EngineError, Handle, Settings, Stats};

/// How the engine is made.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSettings {
    /// Size, limits and quality.
    pub synth: Settings,
    /// Sound pressure that full scale stands for, in Pa.
    pub full_scale_pa: f32,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self { synth: Settings::default(), full_scale_pa: FULL_SCALE_PA as f32 }
    }
}

/// Makes an engine: the handle stays with the program, the processor goes to the audio callback.
///
/// # Errors
/// If the sample rate is not one the engine runs at.
pub fn engine(settings: EngineSettings) -> Result<(Handle, Processor), EngineError> {
    let rate = settings.synth.sample_rate_hz;
    let limiters = vec![Limiter::new(rate); settings.synth.most_bodies];
    let (handle, synth) = eigentone_synth::engine(settings.synth)?;
    let full_scale = settings.full_scale_pa;
    let scale = if full_scale.is_finite() && full_scale > 0.0 { 1.0 / full_scale } else { 1.0 };
    let processor = Processor {
        synth,
        limiters,
        mix_limiter: Limiter::new(rate),
        pans: Vec::new(),
        places: None,
        space: None,
        scale,
        ready: [[0.0; BLOCK]; 2],
        served: BLOCK,
        broken: 0,
    };
    Ok((handle, processor))
}

/// The audio side: pulls sound, in units of full scale. Nothing that comes out is above one or not a number.
#[derive(Debug)]
pub struct Processor {
    synth: eigentone_synth::Processor,
    limiters: Vec<Limiter>,
    mix_limiter: Limiter<2>,
    /// Left and right gain of each body; empty while nothing is placed.
    pans: Vec<Pan>,
    places: Option<rtrb::Consumer<(BodyId, [f32; 2])>>,
    space: Option<Rooms>,
    scale: f32,
    /// A block that is being served, left and right.
    ready: [[f32; BLOCK]; 2],
    served: usize,
    broken: u64,
}

impl Processor {
    /// Samples by which sound is late because limiters look ahead.
    pub const LATENCY: usize = 2 * BLOCK;

    /// Lets bodies be placed between left and right. Without it, both channels are the same. Call it before the processor goes to the audio side.
    pub fn placer(&mut self) -> Placer {
        self.pans = vec![Pan::default(); self.limiters.len()];
        let (to_audio, places) = rtrb::RingBuffer::new(4 * self.limiters.len());
        self.places = Some(places);
        Placer { to_audio }
    }

    /// Lets bodies be heard through rooms, where the [`Space`](eigentone_space::room::Space) says they are, in place of a [`placer`](Self::placer). Call it before the processor goes to the audio
    /// side.
    pub fn set_space(&mut self, renderer: Renderer) {
        self.space = Some(Rooms { renderer, ids: vec![None; self.limiters.len()] });
    }

    /// Fills `out` with the next samples, one channel: the mean of left and right.
    pub fn process(&mut self, out: &mut [f32]) {
        for y in out {
            let [left, right] = self.next_frame();
            *y = 0.5 * (left + right);
        }
    }

    /// Fills left and right with the next samples, as many as the shorter has room for.
    pub fn process_stereo(&mut self, left: &mut [f32], right: &mut [f32]) {
        for (l, r) in left.iter_mut().zip(right) {
            [*l, *r] = self.next_frame();
        }
    }

    /// The same for a device: the first two channels of a frame are left and right; a single one gets the mean, others nothing.
    pub fn process_interleaved(&mut self, out: &mut [f32], channels: usize) {
        for frame in out.chunks_mut(channels.max(1)) {
            let [left, right] = self.next_frame();
            match frame {
                [one] => *one = 0.5 * (left + right),
                [l, r, others @ ..] => {
                    (*l, *r) = (left, right);
                    others.fill(0.0);
                }
                [] => {}
            }
        }
    }

    fn next_frame(&mut self) -> [f32; 2] {
        if self.served == BLOCK {
            self.next_block();
        }
        self.served += 1;
        [self.ready[0][self.served - 1], self.ready[1][self.served - 1]]
    }

    fn next_block(&mut self) {
        if let Some(places) = &mut self.places {
            while let Ok((body, gains)) = places.pop() {
                if let Some(pan) = self.pans.get_mut(body.slot as usize) {
                    pan.aim(body, gains);
                }
            }
        }
        if let Some(rooms) = &mut self.space {
            let synth = &mut self.synth;
            rooms.renderer.begin(|body, heard| synth.set_heard(body, heard));
        }
        self.synth.next_block();
        let mut mix = [[0.0f32; BLOCK]; 2];
        let mut buses = self.synth.buses().peekable();
        for (slot, limiter) in self.limiters.iter_mut().enumerate() {
            let bus = buses.next_if(|(id, _)| id.slot as usize == slot);
            if bus.is_none() && limiter.is_idle() {
                continue;
            }
            let mut block = [bus.map_or([0.0; BLOCK], |(_, bus)| bus.map(|y| y * self.scale))];
            // Through rooms what is loud at the body may be quiet at the listener; only the mix is limited then.
            let ceiling = if self.space.is_some() { f32::MAX.sqrt() } else { 1.0 };
            self.broken += limiter.process(&mut block, ceiling) as u64;
            if let Some(rooms) = &mut self.space {
                rooms.add(slot, bus.map(|(id, _)| id), &block[0]);
                continue;
            }
            match self.pans.get_mut(slot) {
                Some(pan) => pan.add(&block[0], &mut mix),
                None => mix[0].iter_mut().zip(block[0]).for_each(|(m, y)| *m += y),
            }
        }
        match &mut self.space {
            Some(rooms) => rooms.renderer.finish(&mut mix),
            None if self.pans.is_empty() => mix[1] = mix[0],
            None => {}
        }
        self.broken += self.mix_limiter.process(&mut mix, 1.0) as u64;
        self.ready = mix;
        self.served = 0;
    }

    /// Bodies that sounded in the last block, before limiters.
    pub fn sounding(&self) -> impl Iterator<Item = (BodyId, &[f32; BLOCK])> {
        self.synth.buses()
    }

    /// The engine's clock: events for an earlier moment than this come late.
    pub fn clock(&self) -> u64 {
        self.synth.clock()
    }

    /// Samples per second.
    pub fn sample_rate_hz(&self) -> f64 {
        self.synth.sample_rate_hz()
    }

    /// What it has been doing.
    pub fn stats(&self) -> &Stats {
        self.synth.stats()
    }

    /// Samples that were not numbers and became silence. Always zero, or something is wrong in the engine.
    pub fn non_finite_samples(&self) -> u64 {
        self.broken
    }
}

/// Rooms, and whose sound each limiter holds.
#[derive(Debug)]
struct Rooms {
    renderer: Renderer,
    ids: Vec<Option<BodyId>>,
}

impl Rooms {
    /// What comes out of a limiter, which is late, belongs to the body that last went in.
    fn add(&mut self, slot: usize, id: Option<BodyId>, block: &[f32; BLOCK]) {
        let known = &mut self.ids[slot];
        *known = id.or(*known);
        if let Some(id) = *known {
            self.renderer.add(id, block);
        }
    }
}

/// Places bodies between left and right, from the control side.
#[derive(Debug)]
pub struct Placer {
    to_audio: rtrb::Producer<(BodyId, [f32; 2])>,
}

impl Placer {
    /// Left and right gain of a body from now on, reached in the course of a block. False if too many wait; the next call makes good for it.
    pub fn place(&mut self, body: BodyId, gains: [f32; 2]) -> bool {
        self.to_audio.push((body, gains)).is_ok()
    }
}

/// Where a body is between left and right.
#[derive(Clone, Copy, Debug)]
struct Pan {
    generation: u32,
    now: [f32; 2],
    goal: [f32; 2],
}

impl Default for Pan {
    fn default() -> Self {
        Self { generation: 0, now: [1.0; 2], goal: [1.0; 2] }
    }
}

impl Pan {
    fn aim(&mut self, body: BodyId, gains: [f32; 2]) {
        let gains = gains.map(|g| if g.is_finite() { g.clamp(-1e6, 1e6) } else { 0.0 });
        if self.generation != body.generation {
            // Another body than before: it begins where it is.
            *self = Self { generation: body.generation, now: gains, goal: gains };
        }
        self.goal = gains;
    }

    fn add(&mut self, sound: &[f32; BLOCK], mix: &mut [[f32; BLOCK]; 2]) {
        for (channel, mix) in mix.iter_mut().enumerate() {
            let step = (self.goal[channel] - self.now[channel]) / BLOCK as f32;
            for (n, (m, y)) in mix.iter_mut().zip(sound).enumerate() {
                *m += y * (self.now[channel] + step * (n + 1) as f32);
            }
        }
        self.now = self.goal;
    }
}
