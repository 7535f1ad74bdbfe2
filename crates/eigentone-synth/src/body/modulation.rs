//! Changes of pitch and decay while a body sounds.

use super::{Scratch, World};
use crate::kernel::Poles;
use crate::table::ModeTable;

/// Pitch that depends on how hard a body rings: up while it is loud for plates and cymbals (hardening), down for some gongs (softening).
///
/// `f ← f·(1 + amount · (E/E₀)/(1 + E/E₀) · (f₁/f)^focus)`, with the energy `E` of the sound smoothed over 5 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glide {
    /// Largest shift, as a share of the frequency; its sign is the direction. At most 0.3 either way.
    pub amount: f32,
    /// `E₀`: mean square pressure at which half of the shift is reached, in Pa².
    pub energy_pa2: f32,
    /// 0 shifts all modes alike, 1 the lowest most.
    pub focus: f32,
}

/// Smoothing of the energy that drives the glide, and of strain.
const GLIDE_S: f64 = 0.005;
const STRAIN_S: f64 = 0.01;

/// Least and largest factor of decay rates.
const MIN_DAMPING: f32 = 0.1;
const MAX_DAMPING: f32 = 50.0;

/// Largest shift of pitch by strain or glide.
const MAX_SHIFT: f32 = 0.3;

/// The present tuning of a body.
#[derive(Debug)]
pub(crate) struct Modulation {
    damping: f32,
    frequency: f32,
    /// The strain as it was said, and what it comes to in pitch: now and in the end.
    strained: f32,
    strain: f32,
    strain_goal: f32,
    sensitivity: f32,
    glide: Option<Glide>,
    spread: Vec<f32>,
    energy: f32,
    shift: f32,
}

impl Modulation {
    pub fn new(glide: Option<Glide>, sensitivity: f32, table: &ModeTable) -> Self {
        let focus = glide.map_or(0.0, |g| g.focus.clamp(0.0, 4.0));
        let lowest = table.frequency_hz.first().copied().unwrap_or(1.0).max(1.0);
        let spread = table.frequency_hz.iter().map(|f| if *f > 0.0 { (lowest / f).powf(focus) } else { 0.0 }).collect();
        Self {
            damping: 1.0,
            frequency: 1.0,
            strained: 0.0,
            strain: 0.0,
            strain_goal: 0.0,
            sensitivity,
            glide: glide.filter(|g| g.amount != 0.0 && g.energy_pa2 > 0.0),
            spread,
            energy: 0.0,
            shift: 0.0,
        }
    }

    pub fn set_damping(&mut self, factor: f32) {
        if factor.is_finite() {
            self.damping = factor.clamp(MIN_DAMPING, MAX_DAMPING);
        }
    }

    pub fn set_frequency(&mut self, factor: f32) {
        if factor.is_finite() {
            self.frequency = factor.clamp(0.05, 20.0);
        }
    }

    pub fn set_strain(&mut self, strain: f32) {
        if strain.is_finite() {
            self.strained = strain;
            self.strain_goal = (strain * self.sensitivity).clamp(-MAX_SHIFT, MAX_SHIFT);
        }
    }

    /// Goes on from the tuning of another model of the same body: its damping, frequency and strain, and how far it has glided.
    pub fn take_over(&mut self, other: &Self) {
        (self.damping, self.frequency, self.strain) = (other.damping, other.frequency, other.strain);
        self.set_strain(other.strained);
        if self.glide.is_some() {
            (self.energy, self.shift) = (other.energy, other.shift);
        }
    }

    /// Decay rates are those of the model times this.
    pub fn damping(&self) -> f32 {
        self.damping
    }

    pub fn poles<'a>(&self, table: &'a ModeTable) -> Poles<'a> {
        table.poles(self.frequency * (1.0 + self.strain), self.damping)
    }

    /// Factor of all frequencies, and the share by which the glide raises those it moves most.
    pub fn tuning(&self) -> [f32; 2] {
        [self.frequency * (1.0 + self.strain), self.shift]
    }

    /// Factor of one mode's frequency.
    pub fn factor(&self, k: usize) -> f32 {
        let [scale, shift] = self.tuning();
        scale * (1.0 + shift * self.spread[k])
    }

    /// Whether the model's own coefficients hold, now and until something is changed.
    pub fn is_at_rest(&self) -> bool {
        self.damping == 1.0
            && self.frequency == 1.0
            && self.strain == 0.0
            && self.strain_goal == 0.0
            && self.glide.is_none()
    }

    /// Whether the tuning changes by itself.
    pub fn moves(&self) -> bool {
        self.glide.is_some() || self.strain != self.strain_goal
    }

    /// One block further, with the energy of the sound in it. Says whether the coefficients have changed.
    pub fn step(&mut self, energy: f32, rate_hz: f64) -> bool {
        let share = |seconds: f64| (1.0 - (-(crate::BLOCK as f64) / (seconds * rate_hz)).exp()) as f32;
        let before = (self.strain, self.shift);
        let way = self.strain_goal - self.strain;
        self.strain = if way.abs() < 1e-6 { self.strain_goal } else { self.strain + share(STRAIN_S) * way };
        if let Some(glide) = self.glide {
            let energy = if energy.is_finite() { energy } else { 0.0 };
            self.energy += share(GLIDE_S) * (energy - self.energy);
            let x = (self.energy / glide.energy_pa2).min(1e9);
            let shift = glide.amount.clamp(-MAX_SHIFT, MAX_SHIFT) * x / (1.0 + x);
            // Shifts that nobody can hear are rest.
            self.shift = if shift.abs() < 1e-5 { 0.0 } else { shift };
        }
        before != (self.strain, self.shift)
    }

    /// The poles of all modes, into the scratch.
    pub fn coefficients(&self, table: &ModeTable, world: &World, scratch: &mut Scratch) {
        let n = table.padded;
        let Scratch { re, im, .. } = scratch;
        (world.kernels.wide.poles)(self.poles(table), &self.spread, self.shift, &mut re[..n], &mut im[..n]);
    }
}
