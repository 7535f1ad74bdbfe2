//! From moving surfaces to sound.
//!
//! Every triangle of a surface pushes the air with its normal velocity: p = z v̄·n̂, z = ρc. What is heard at a distance r in the direction θ from its normal is
//! Rayleigh's integral, one term per triangle of area a:
//!
//! - s(t + r/c) = a cosθ/(2πcr) · dp/dt, for cosθ > 0 ([`Radiation::Rayleigh`])
//! - s(t + r/c) = a cosθ/r · p, as O'Brien and others print it; the spectrum of a piston then lacks 6 dB per octave, and the unit is not that of a pressure
//!   ([`Radiation::Printed`])
//!
//! On the way, p passes a low-pass and a DC block ([`filter`]), both at the audio rate, and each term lands between two samples ([`receiver`]). Memory depends on how many
//! triangles there are and how far the listener is, not on how long it sounds.
//!
//! A [`Radiator`] hears several bodies at several places, with the delay from each triangle to each. A [`DrySound`] is one body as it would be heard at one metre, for what brings it to the ear
//! by itself: rooms, heads, distance.
//!
//! ```
//! use eigentone_core::{TetMesh, Vec3};
//! use eigentone_sim::soft::radiate::{Radiator, RadiatorSettings};
//! use eigentone_sim::soft::{SoftBody, SoftMaterial, SoftWorld, WorldSettings};
//!
//! let corner = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|p| 0.1 * p).to_vec();
//! let mesh = TetMesh { positions: corner, tets: vec![[0, 1, 2, 3]] };
//! let body = SoftBody { spin_rad_s: Vec3::Z, ..SoftBody::new("spinning", mesh, SoftMaterial::default()) };
//! let mut world = SoftWorld::new(vec![body], &WorldSettings::default())?;
//! let settings = RadiatorSettings { listeners: vec![Vec3::X], ..RadiatorSettings::default() };
//! let mut radiator = Radiator::new(&world, &settings);
//! let mut sound = Vec::new();
//! while sound.len() < 100 {
//!     world.step()?;
//!     radiator.listen(&world, |channels| sound.push(channels[0]));
//! }
//! # Ok::<(), eigentone_sim::soft::SoftError>(())
//! ```

mod dry;
pub mod filter;
pub mod receiver;

pub use dry::DrySound;

use super::kernel::Four;
use super::{SoftId, SoftWorld};
use eigentone_core::{AIR_IMPEDANCE_PA_S_PER_M, SOUND_M_S, Vec3};
use filter::{DcBlock, LowPass, Output};
use rayon::prelude::*;
use receiver::Receiver;
use std::f64::consts::TAU;

/// Triangles from which on several threads are worth while.
const PARALLEL: usize = 2000;

/// What a triangle sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Radiation {
    /// Rayleigh's integral: pressure goes with acceleration.
    #[default]
    Rayleigh,
    /// As printed in the paper: pressure goes with velocity.
    Printed,
}

/// Who listens, and to what.
#[derive(Clone, Debug, PartialEq)]
pub struct RadiatorSettings {
    /// Samples per second; that of the world's settings.
    pub sample_rate_hz: f64,
    /// Where the low-pass is 6 dB down, in Hz.
    pub highest_hz: f64,
    /// Where the DC block is 3 dB down, in Hz.
    pub lowest_hz: f64,
    /// Which law.
    pub radiation: Radiation,
    /// One for each channel.
    pub listeners: Vec<Vec3>,
    /// Where each listener has the sound as if it were from 1 m, without delay: what a room wants of a source. Otherwise distance and delay are in it.
    pub dry: bool,
}

impl Default for RadiatorSettings {
    fn default() -> Self {
        Self {
            sample_rate_hz: 44_100.0,
            highest_hz: 20_000.0,
            lowest_hz: 20.0,
            radiation: Radiation::default(),
            listeners: vec![Vec3::new(0.0, -1.0, 1.0)],
            dry: false,
        }
    }
}

/// Listens to some bodies of a world.
#[derive(Clone)]
pub struct Radiator {
    triangles: Vec<[u32; 3]>,
    /// Of which bodies they are and how many of each, and how often bodies had been removed when they were numbered.
    bodies: Vec<(SoftId, usize)>,
    removals: u64,
    low_pass: LowPass,
    dc_block: DcBlock,
    receivers: Vec<Receiver>,
    gain: f64,
    dry: bool,
    sample_rate_hz: f64,
    /// z v̄·A of each triangle in this step.
    pressures: Vec<f64>,
    filtered: Vec<f64>,
    out: Vec<f32>,
}

impl Radiator {
    /// Listens to all bodies.
    pub fn new(world: &SoftWorld, settings: &RadiatorSettings) -> Self {
        Self::of_bodies(world, 0..world.len(), settings)
    }

    /// Listens to some bodies.
    pub fn of_bodies(world: &SoftWorld, bodies: impl IntoIterator<Item = usize>, settings: &RadiatorSettings) -> Self {
        let bodies: Vec<usize> = bodies.into_iter().collect();
        let triangles = bodies.iter().flat_map(|&b| world.body(b).surface().iter().copied()).collect();
        Self {
            bodies: bodies.iter().map(|&b| (world.body(b).id(), world.body(b).surface().len())).collect(),
            removals: world.removals,
            ..Self::of_triangles(triangles, world.steps_per_sample(settings.sample_rate_hz), settings)
        }
    }

    /// Listens to any triangles, whose nodes are told step by step, `steps` of them in an audio sample.
    pub fn of_triangles(triangles: Vec<[u32; 3]>, steps: usize, settings: &RadiatorSettings) -> Self {
        let rate_hz = settings.sample_rate_hz;
        let (output, gain) = law(settings.radiation);
        let low_pass = LowPass::new(output, settings.highest_hz, rate_hz, steps, triangles.len());
        Self {
            // Until what the low-pass gives is all of the time after the beginning.
            dc_block: DcBlock::new(settings.lowest_hz, rate_hz, triangles.len(), 2 * low_pass.latency()),
            receivers: settings.listeners.iter().map(|p| Receiver::new(*p, rate_hz)).collect(),
            pressures: vec![0.0; triangles.len()],
            filtered: vec![0.0; triangles.len()],
            out: vec![0.0; settings.listeners.len()],
            gain,
            dry: settings.dry,
            bodies: Vec::new(),
            removals: 0,
            sample_rate_hz: rate_hz,
            triangles,
            low_pass,
        }
    }

    /// Samples by which what [`Radiator::listen`] gives is late: the first belongs to the time −latency/rate.
    pub fn latency(&self) -> usize {
        self.low_pass.latency()
    }

    /// Moves a listener.
    pub fn place(&mut self, channel: usize, position: Vec3) {
        if let Some(receiver) = self.receivers.get_mut(channel) {
            receiver.place(position);
        }
    }

    /// To be called after each step of the world; `sample` is called once for every audio sample, with one number per listener, in Pa.
    pub fn listen(&mut self, world: &SoftWorld, sample: impl FnMut(&[f32])) {
        if self.removals != world.removals {
            self.find_bodies(world);
        }
        let steps = world.steps_per_sample(self.sample_rate_hz);
        if self.low_pass.steps() != steps {
            self.low_pass.set_steps(steps);
        }
        let (positions, velocities) = world.arrays();
        self.hear(positions, velocities, sample);
    }

    /// Nodes have other numbers since a body was removed. A body that is gone is heard no more.
    fn find_bodies(&mut self, world: &SoftWorld) {
        self.removals = world.removals;
        let mut triangles = Vec::new();
        let mut at = 0;
        self.bodies.retain(|(id, count)| {
            let Some(body) = world.get(*id) else {
                let gone = at..at + *count;
                self.low_pass.remove(gone.clone());
                self.dc_block.remove(gone.clone());
                self.pressures.drain(gone.clone());
                self.filtered.drain(gone);
                return false;
            };
            triangles.extend_from_slice(body.surface());
            at += *count;
            true
        });
        self.triangles = triangles;
    }

    /// The same for nodes at `positions` that have moved there with `velocities`.
    pub fn hear(&mut self, positions: &[Four], velocities: &[Four], mut sample: impl FnMut(&[f32])) {
        let send = |(pressure, triangle): (&mut f64, &[u32; 3])| {
            *pressure = AIR_IMPEDANCE_PA_S_PER_M * volume_velocity(positions, velocities, triangle);
        };
        if self.triangles.len() < PARALLEL {
            self.pressures.iter_mut().zip(&self.triangles).for_each(send);
        } else {
            self.pressures.par_iter_mut().zip(&self.triangles).with_min_len(PARALLEL / 4).for_each(send);
        }
        if !self.low_pass.push(&self.pressures, &mut self.filtered) {
            return;
        }
        self.dc_block.pass(&mut self.filtered);
        let (filtered, triangles, gain, dry) = (&self.filtered, &self.triangles, self.gain, self.dry);
        let arrive = |receiver: &mut Receiver| {
            for (value, triangle) in filtered.iter().zip(triangles) {
                let [a, b, c] = triangle.map(|n| positions[n as usize].point());
                let normal = (b - a).cross(c - a).normalize_or_zero();
                receiver.add((a + b + c) / 3.0, normal, gain * value, dry);
            }
        };
        if triangles.len() < PARALLEL {
            self.receivers.iter_mut().for_each(arrive);
        } else {
            self.receivers.par_iter_mut().for_each(arrive);
        }
        for (out, receiver) in self.out.iter_mut().zip(&mut self.receivers) {
            *out = receiver.next_sample() as f32;
        }
        sample(&self.out);
    }
}

/// What comes out of the low-pass for a law, and by what it is multiplied.
fn law(radiation: Radiation) -> (Output, f64) {
    match radiation {
        Radiation::Rayleigh => (Output::Slope, 1.0 / (TAU * SOUND_M_S)),
        Radiation::Printed => (Output::Value, 1.0),
    }
}

/// v̄·A, the air that a triangle pushes away, in m³/s.
fn volume_velocity(positions: &[Four], velocities: &[Four], triangle: &[u32; 3]) -> f64 {
    let [a, b, c] = triangle.map(|n| positions[n as usize].point());
    let [u, v, w] = triangle.map(|n| velocities[n as usize].point());
    (u + v + w).dot((b - a).cross(c - a)) / 6.0
}
