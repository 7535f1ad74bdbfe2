//! The engine as a program uses it: a handle for the game, a processor for the audio callback.
//!
//! The [`Processor`] composes what lies between bodies and loudspeakers: each body's dry sound is limited, all are mixed, the mix is limited, and
//! whatever block size the host asks for is served from blocks of 64 samples. It never allocates, locks or fails.
//!
//! Load a model, strike it, pull a block:
//!
//! ```
//! use eigentone::prelude::*;
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
        scale,
        ready: [0.0; BLOCK],
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
    mix_limiter: Limiter,
    scale: f32,
    /// A block that is being served.
    ready: [f32; BLOCK],
    served: usize,
    broken: u64,
}

impl Processor {
    /// Samples by which sound is late because limiters look ahead.
    pub const LATENCY: usize = 2 * BLOCK;

    /// Fills `out` with the next samples, one channel.
    pub fn process(&mut self, out: &mut [f32]) {
        let mut done = 0;
        while done < out.len() {
            if self.served == BLOCK {
                self.next_block();
            }
            let n = (BLOCK - self.served).min(out.len() - done);
            out[done..done + n].copy_from_slice(&self.ready[self.served..self.served + n]);
            self.served += n;
            done += n;
        }
    }

    /// The same for a device: every channel of a frame gets the same.
    pub fn process_interleaved(&mut self, out: &mut [f32], channels: usize) {
        for frame in out.chunks_mut(channels.max(1)) {
            let mut one = [0.0];
            self.process(&mut one);
            frame.fill(one[0]);
        }
    }

    fn next_block(&mut self) {
        self.synth.next_block();
        let mut mix = [0.0f32; BLOCK];
        let mut buses = self.synth.buses().peekable();
        for (slot, limiter) in self.limiters.iter_mut().enumerate() {
            let bus = buses.next_if(|(id, _)| id.slot as usize == slot);
            if bus.is_none() && limiter.is_idle() {
                continue;
            }
            let mut block = bus.map_or([0.0; BLOCK], |(_, bus)| bus.map(|y| y * self.scale));
            self.broken += limiter.process(&mut block, 1.0) as u64;
            mix.iter_mut().zip(block).for_each(|(m, y)| *m += y);
        }
        self.broken += self.mix_limiter.process(&mut mix, 1.0) as u64;
        self.ready = mix;
        self.served = 0;
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
