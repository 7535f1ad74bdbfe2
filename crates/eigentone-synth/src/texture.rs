//! Contacts that sound: from the motion of a contact over a [`Texture`] to the force that excites both bodies (Menzies 2011, §6.1).
//!
//! `F = roughness · slip(v) · force(N) · low_pass(profile)`. [`SurfaceRuntime`] is what the control side makes of a texture, once; a [`Generator`] is one contact on it and can be made on the audio side, since it owns no memory of its own.
//! Each call of [`Generator::fill`] takes the [`ContactState`] at its end and ramps there from the last one.
//!
//! - profiles: `bumps`, `rough`, `loose` (and foil), `friction`, `recorded`
//! - [`ImpactShape`], [`RecordedImpact`]: blows
//! - [`MicroImpacts`]: what rattles
//!
//! ```
//! use eigentone_core::texture::{Bumps, Profile, Texture};
//! use eigentone_synth::texture::{ContactState, Generator, SurfaceRuntime};
//!
//! let brick = Texture { profile: Profile::Bumps(Bumps::default()), ..Texture::default() };
//! let surface = SurfaceRuntime::new(&brick, &[], &[], 1, 44_100.0)?;
//! let mut contact = Generator::new(surface, 7);
//! let mut force_n = [0.0; 1024];
//! let state = ContactState { slip_m_s: 0.5, travel_m_s: 0.5, force_n: 10.0, ..ContactState::default() };
//! force_n.chunks_mut(64).for_each(|block| contact.fill(&state, block));
//! assert!(force_n.iter().any(|&f| f != 0.0));
//! # Ok::<(), eigentone_synth::texture::PrepareError>(())
//! ```

mod bumps;
mod filter;
mod friction;
mod impact;
mod loose;
mod rattle;
mod recorded;
mod rough;
mod synthetic;

pub use impact::{ImpactShape, RecordedImpact};
pub use rattle::MicroImpacts;
pub use recorded::Recording;
pub use synthetic::synthesise;

use eigentone_core::Noise;
use eigentone_core::texture::{Profile, Texture, TextureError};
use std::sync::Arc;
use thiserror::Error;

/// Below this a contact rests: 1e-5 of the 1 m/s at which the default curves are full.
const REST_M_S: f32 = 1e-5;

/// Below this a contact fades out towards rest: friction stops here.
const SLOW_M_S: f32 = 1e-3;

/// Fastest speed and largest force that count.
const MAX_M_S: f32 = 100.0;
const MAX_N: f32 = 1e5;

/// Largest factor of roughness at a place that counts.
const MAX_ROUGHNESS: f32 = 100.0;

/// How a contact moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactState {
    /// Speed of the surfaces against each other.
    pub slip_m_s: f32,
    /// Speed of the contact over this surface.
    pub travel_m_s: f32,
    /// Normal force.
    pub force_n: f32,
    /// `√(m/k)` of the contact.
    pub mass_over_stiffness_s: f32,
    /// Where on this surface it is, along its way: what repeatable surfaces go by.
    pub position_m: f64,
    /// How rough the surface is at this place, as a factor.
    pub roughness: f32,
}

impl Default for ContactState {
    /// At rest.
    fn default() -> Self {
        Self {
            slip_m_s: 0.0,
            travel_m_s: 0.0,
            force_n: 0.0,
            mass_over_stiffness_s: 0.0,
            position_m: 0.0,
            roughness: 1.0,
        }
    }
}

impl ContactState {
    /// Finite and within bounds.
    fn sane(&self) -> Self {
        let speed = |v: f32| if v.is_nan() || v.abs() < REST_M_S { 0.0 } else { v.abs().min(MAX_M_S) };
        let clip = |x: f32, most: f32| if x.is_nan() { 0.0 } else { x.clamp(0.0, most) };
        Self {
            slip_m_s: speed(self.slip_m_s),
            travel_m_s: speed(self.travel_m_s),
            force_n: clip(self.force_n, MAX_N),
            mass_over_stiffness_s: clip(self.mass_over_stiffness_s, 1.0),
            position_m: if self.position_m.is_finite() { self.position_m.clamp(-1e6, 1e6) } else { 0.0 },
            roughness: clip(self.roughness, MAX_ROUGHNESS),
        }
    }
}

/// The motion during one block: begin and end of what is ramped.
#[derive(Clone, Copy, Debug)]
struct Motion {
    /// One over the samples.
    each: f32,
    drive_m_s: [f32; 2],
    slip_m_s: [f32; 2],
    force_n: [f32; 2],
    gain: [f32; 2],
    position_m: [f64; 2],
}

impl Motion {
    #[inline]
    fn ramp(&self, [from, to]: [f32; 2], n: usize) -> f32 {
        from + (to - from) * ((n + 1) as f32 * self.each)
    }

    /// Speed at which the profile is read.
    #[inline]
    fn drive(&self, n: usize) -> f32 {
        self.ramp(self.drive_m_s, n)
    }

    fn fastest(&self) -> f32 {
        self.drive_m_s[0].max(self.drive_m_s[1])
    }

    #[inline]
    fn position(&self, n: usize) -> f64 {
        let [from, to] = self.position_m;
        from + (to - from) * (f64::from(self.each) * (n + 1) as f64)
    }
}

/// The seed of a cell of a surface.
fn cell_seed(seed: u64, cell: i64) -> u64 {
    Noise::new(seed ^ (cell as u64).wrapping_mul(0xD1B5_4A32_D192_ED03)).bits()
}

/// Why a texture cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PrepareError {
    /// It is impossible.
    #[error(transparent)]
    Texture(#[from] TextureError),
    /// Its recordings are missing.
    #[error("texture `{name}` needs {wanted} loops, but {found} were given; load each before preparing it")]
    Loops {
        /// The texture.
        name: String,
        /// How many it names.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
    /// Not a rate at which sound is made.
    #[error("a sample rate of {0} Hz; it must be between 8000 and 768000")]
    SampleRate(f64),
}

/// A texture made ready for a sample rate. Keep one `Arc` on the control side: the audio side must not be the one to free it.
#[derive(Debug)]
pub struct SurfaceRuntime {
    texture: Texture,
    loops: Option<Arc<recorded::Loops>>,
    takes: Arc<[Recording]>,
    seed: u64,
    rate_hz: f32,
}

impl SurfaceRuntime {
    /// Needs a recording for each of the texture's loops and takes, in order. Surfaces with the same seed have the same relief where it is repeatable.
    ///
    /// # Errors
    /// If the texture is impossible, a loop is missing, or the sample rate is out of range.
    pub fn new(
        texture: &Texture,
        loops: &[Recording],
        takes: &[Recording],
        seed: u64,
        sample_rate_hz: f64,
    ) -> Result<Arc<Self>, PrepareError> {
        texture.validate()?;
        if !(8e3..=768e3).contains(&sample_rate_hz) {
            return Err(PrepareError::SampleRate(sample_rate_hz));
        }
        let loops = match &texture.profile {
            Profile::Recorded(wanted) if wanted.loops.len() != loops.len() => {
                let (name, wanted, found) = (texture.name.clone(), wanted.loops.len(), loops.len());
                return Err(PrepareError::Loops { name, wanted, found });
            }
            Profile::Recorded(wanted) => Some(Arc::new(recorded::Loops::new(wanted, loops))),
            _ => None,
        };
        let (texture, takes, rate_hz) = (texture.clone(), takes.into(), sample_rate_hz as f32);
        Ok(Arc::new(Self { texture, loops, takes, seed, rate_hz }))
    }

    /// Another texture with the recordings of this one; `None` if it needs others.
    ///
    /// # Errors
    /// If the texture is impossible.
    pub fn with_texture(&self, texture: &Texture) -> Result<Option<Arc<Self>>, PrepareError> {
        texture.validate()?;
        let recorded =
            |t: &Texture| if let Profile::Recorded(recorded) = &t.profile { Some(recorded.clone()) } else { None };
        if recorded(&self.texture) != recorded(texture) || self.texture.impact.takes != texture.impact.takes {
            return Ok(None);
        }
        let (texture, loops, takes) = (texture.clone(), self.loops.clone(), self.takes.clone());
        Ok(Some(Arc::new(Self { texture, loops, takes, seed: self.seed, rate_hz: self.rate_hz })))
    }

    /// A surface that excites nothing.
    pub fn smooth() -> Arc<Self> {
        Arc::new(Self { texture: Texture::default(), loops: None, takes: Arc::new([]), seed: 0, rate_hz: 44_100.0 })
    }

    /// Whether it excites nothing however it is touched.
    pub fn is_smooth(&self) -> bool {
        matches!(self.texture.profile, Profile::Smooth)
    }

    /// Whether it sticks and slips.
    pub fn sticks(&self) -> bool {
        matches!(self.texture.profile, Profile::Friction(_))
    }

    /// What it was made from.
    pub fn texture(&self) -> &Texture {
        &self.texture
    }

    /// Its recorded blows, for [`RecordedImpact`].
    pub fn takes(&self) -> &Arc<[Recording]> {
        &self.takes
    }

    fn profile(&self, start: u64) -> Running {
        let period_s = 1.0 / self.rate_hz;
        match (&self.texture.profile, &self.loops) {
            (Profile::Bumps(b), _) => Running::Bumps(bumps::Bumps::new(*b, self.seed, start, period_s)),
            (Profile::Rough(r), _) => Running::Rough(rough::Rough::new(r, self.seed, start, period_s)),
            (Profile::Loose(l), _) => Running::Grains(loose::Grains::loose(l, start, period_s)),
            (Profile::Foil(f), _) => Running::Grains(loose::Grains::foil(f, start, period_s)),
            (Profile::Friction(f), _) => Running::Friction(friction::Friction::new(*f, period_s)),
            (_, Some(loops)) => Running::Recorded(recorded::Player::new(loops.clone(), start, self.rate_hz)),
            _ => Running::Smooth,
        }
    }
}

/// A profile that is being read.
#[derive(Clone, Debug)]
enum Running {
    Smooth,
    Bumps(bumps::Bumps),
    Rough(rough::Rough),
    Grains(loose::Grains),
    Friction(friction::Friction),
    Recorded(recorded::Player),
}

impl Running {
    fn fill(&mut self, motion: &Motion, out: &mut [f32]) {
        match self {
            Running::Smooth | Running::Friction(_) => out.fill(0.0),
            Running::Bumps(p) => p.fill(motion, out),
            Running::Rough(p) => p.fill(motion, out),
            Running::Grains(p) => p.fill(motion, out),
            Running::Recorded(p) => p.fill(motion, out),
        }
    }
}

/// One contact on a textured surface.
#[derive(Clone, Debug)]
pub struct Generator {
    surface: Arc<SurfaceRuntime>,
    profile: Running,
    low_pass: filter::LowPass,
    last: ContactState,
    /// Agitation: the speed of travel, as far as it has not settled; and the force that belongs to it.
    drive_m_s: f32,
    held_n: f32,
    gain: f32,
    silent: bool,
}

impl Generator {
    /// A contact that rests. Allocates nothing.
    pub fn new(surface: Arc<SurfaceRuntime>, seed: u64) -> Self {
        Self {
            profile: surface.profile(Noise::new(seed).bits()),
            surface,
            low_pass: filter::LowPass::default(),
            last: ContactState::default(),
            drive_m_s: 0.0,
            held_n: 0.0,
            gain: 0.0,
            silent: true,
        }
    }

    /// The surface.
    pub fn surface(&self) -> &Arc<SurfaceRuntime> {
        &self.surface
    }

    /// Whether it feels the motion of what it excites.
    pub fn feels(&self) -> bool {
        matches!(self.profile, Running::Friction(_))
    }

    /// Whether the last block was nothing but zeros and the next will be, unless the contact moves.
    pub fn is_silent(&self) -> bool {
        self.silent
    }

    /// The excitation of the next samples, in newtons, by whose end the contact has come to `state`.
    pub fn fill(&mut self, state: &ContactState, out: &mut [f32]) {
        self.fill_with(state, out, |_| 0.0);
    }

    /// The same for a resonator that acts back: `feedback` is given the force of each sample, in newtons, and returns the velocity in m/s that the resonator's surface then has along the slip. Only
    /// friction feels it.
    pub fn fill_with(&mut self, state: &ContactState, out: &mut [f32], mut feedback: impl FnMut(f32) -> f32) {
        if out.is_empty() {
            return;
        }
        let motion = self.advance(&state.sane(), out.len());
        self.silent = motion.gain == [0.0; 2];
        if self.silent {
            self.rest();
        }
        if let (Running::Friction(friction), false) = (&mut self.profile, self.silent) {
            for (n, y) in out.iter_mut().enumerate() {
                let tooth = friction.step(motion.ramp(motion.slip_m_s, n), motion.ramp(motion.force_n, n));
                *y = motion.ramp(motion.gain, n) * self.low_pass.step(tooth);
                friction.feel(feedback(*y));
            }
            return;
        }
        if self.silent {
            out.fill(0.0)
        } else {
            self.profile.fill(&motion, out)
        }
        for (n, y) in out.iter_mut().enumerate() {
            *y = motion.ramp(motion.gain, n) * self.low_pass.step(*y);
            feedback(*y);
        }
    }

    /// Policy per block: where everything is ramped to.
    fn advance(&mut self, next: &ContactState, samples: usize) -> Motion {
        let surface = &self.surface;
        let texture = &surface.texture;
        let keep =
            if texture.decay_s > 0.0 { (-(samples as f32) / (texture.decay_s * surface.rate_hz)).exp() } else { 0.0 };
        let settling = self.drive_m_s * keep;
        let drive = next.travel_m_s.max(if settling < REST_M_S { 0.0 } else { settling });
        let held = next.force_n.max(self.held_n * keep);
        let speed = next.slip_m_s.max(texture.rolling * drive);
        let moving = if matches!(self.profile, Running::Friction(_)) { next.slip_m_s } else { drive };
        let gain = match self.profile {
            Running::Smooth => 0.0,
            _ => {
                let rough = texture.roughness * next.roughness;
                rough * texture.gain.slip.at(speed) * texture.gain.force.at(held) * (moving / SLOW_M_S).min(1.0)
            }
        };
        let low_pass = &texture.low_pass;
        let cutoff_hz =
            low_pass.slip.at(speed) * low_pass.force.at(held) * low_pass.ratio.at(next.mass_over_stiffness_s);
        self.low_pass.tune(low_pass.order, f64::from(cutoff_hz / surface.rate_hz));
        let motion = Motion {
            each: 1.0 / samples as f32,
            drive_m_s: [self.drive_m_s, drive],
            slip_m_s: [self.last.slip_m_s, next.slip_m_s],
            force_n: [self.held_n, held],
            gain: [self.gain, gain],
            // A contact begins where it is.
            position_m: [if self.silent { next.position_m } else { self.last.position_m }, next.position_m],
        };
        (self.drive_m_s, self.held_n, self.gain, self.last) = (drive, held, gain, *next);
        motion
    }

    fn rest(&mut self) {
        self.low_pass.reset();
        if let Running::Grains(grains) = &mut self.profile {
            grains.rest();
        }
    }
}

/// What of a texture's excitation is heard without a resonator: pressure per newton, without what is below 20 Hz.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    pa_per_n: f32,
    keep: f32,
    mean: f32,
}

impl Direct {
    /// For contacts on a surface.
    pub fn new(surface: &SurfaceRuntime) -> Self {
        let keep = (-std::f32::consts::TAU * 20.0 / surface.rate_hz).exp();
        Self { pa_per_n: surface.texture.direct_pa_per_n, keep, mean: 0.0 }
    }

    /// Adds the pressure of some samples of excitation.
    pub fn add(&mut self, force_n: &[f32], out: &mut [f32]) {
        for (o, f) in out.iter_mut().zip(force_n) {
            self.mean = f + self.keep * (self.mean - f);
            *o += self.pa_per_n * (f - self.mean);
        }
    }
}
