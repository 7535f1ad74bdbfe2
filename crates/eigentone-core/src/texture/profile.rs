//! What a surface is like under the finger: the signal that a contact reads off it (Menzies 2011, §6.2).

use serde::{Deserialize, Serialize};

/// How the excitation is generated, before low-pass and gain. All but friction are of the order of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Profile {
    /// No excitation.
    #[default]
    Smooth,
    /// Fixed grains: brick, wood.
    Bumps(Bumps),
    /// A continuous relief, for what rolls.
    Rough(Rough),
    /// Loose particles: gravel, sand.
    Loose(Loose),
    /// Loose particles each with a resonance of its own.
    Foil(Foil),
    /// Stick and slip. The signal is the departure of the friction coefficient from its mean: with a gain of one newton per newton it is a force.
    Friction(Friction),
    /// Recordings: water, leaves.
    Recorded(Recorded),
}

/// Bumps whose widths and distances come from two Poisson processes: the rate is `v/(mark + space)`, the duty `mark/(mark + space)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bumps {
    /// Mean width of a bump, .1–2 mm.
    pub mark_m: f32,
    /// Mean distance between bumps, .5–10 mm.
    pub space_m: f32,
    /// How high they are.
    pub height: Height,
    /// Whether the same place always has the same bumps.
    pub repeat: bool,
}

impl Default for Bumps {
    fn default() -> Self {
        Self { mark_m: 5e-4, space_m: 2e-3, height: Height::Uniform, repeat: false }
    }
}

/// How the height of bumps is spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Height {
    /// Evenly between 0 and 1.
    #[default]
    Uniform,
    /// As the width, mean 1, at most 4.
    Width,
    /// `uᵖ` with `p` of 1–4: many low ones and a few high ones.
    Tail(f32),
}

/// A random relief of several octaves, read off at the place of the contact: its spectrum shifts with the speed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rough {
    /// Longest features.
    pub grain_m: f32,
    /// How many octaves of ever finer features, 1–8.
    pub octaves: u8,
    /// Height of each octave as a share of the one before: ½ for a fractal surface of roughness exponent one.
    pub persistence: f32,
    /// Whether the same place always has the same height.
    pub repeat: bool,
}

impl Default for Rough {
    fn default() -> Self {
        Self { grain_m: 4e-3, octaves: 4, persistence: 0.6, repeat: false }
    }
}

/// PhISEM (Cook 1997): random events, each a decaying burst of noise, in a band.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Loose {
    /// Events per second at an agitation of 1 m/s, 10–2000.
    pub events_per_m: f32,
    /// Decay of a burst, 1–20 ms.
    pub burst_s: f32,
    /// Lowest and highest centre frequency of the generators.
    pub band_hz: [f32; 2],
    /// Quality of their band-passes: gravel 1–3, sand 0.7.
    pub q: f32,
    /// Generators, 1–6, that share the events.
    pub voices: u8,
}

impl Default for Loose {
    fn default() -> Self {
        Self { events_per_m: 400.0, burst_s: 5e-3, band_hz: [1000.0, 4000.0], q: 2.0, voices: 3 }
    }
}

/// As [`Loose`], but each event draws a resonance and a decay of its own: a new patch of the foil.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Foil {
    /// Events per second at an agitation of 1 m/s.
    pub events_per_m: f32,
    /// Shortest and longest decay of a burst.
    pub burst_s: [f32; 2],
    /// Lowest and highest resonance.
    pub band_hz: [f32; 2],
    /// Lowest and highest quality.
    pub q: [f32; 2],
    /// Generators, 1–6.
    pub voices: u8,
}

impl Default for Foil {
    fn default() -> Self {
        Self { events_per_m: 150.0, burst_s: [2e-3, 15e-3], band_hz: [2000.0, 10_000.0], q: [5.0, 40.0], voices: 4 }
    }
}

/// A lateral spring that sticks up to `μ_s N` and then slips back to `μ_d N`: a sawtooth of `v k/((μ_s − μ_d) N)` hertz.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Friction {
    /// Coefficient `μ_s` up to which it sticks.
    #[serde(rename = "static")]
    pub sticking: f32,
    /// Coefficient `μ_d` to which it slips.
    #[serde(rename = "dynamic")]
    pub slipping: f32,
    /// Lateral spring.
    pub stiffness_n_m: f32,
    /// How long a slip takes.
    pub slip_time_s: f32,
    /// How much of the resonator's motion is felt, 0–1.
    pub feedback: f32,
}

impl Default for Friction {
    fn default() -> Self {
        Self { sticking: 0.6, slipping: 0.4, stiffness_n_m: 5e3, slip_time_s: 2e-4, feedback: 1.0 }
    }
}

/// Loops that are played as long as the contact moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recorded {
    /// The loops, in rising event rate; at most [`MAX_LOOPS`].
    pub loops: Vec<Loop>,
    /// Event rate that is aimed at, per second at 1 m/s: between its neighbours the loops are cross-faded.
    pub events_per_m: f32,
    /// How the loops follow the speed.
    pub playback: Playback,
}

/// Most loops of a texture.
pub const MAX_LOOPS: usize = 8;

/// A recording that is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Where it comes from.
    pub source: Source,
    /// Events per second in it.
    #[serde(default)]
    pub events_per_s: f32,
}

/// Where a recording comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Computed when it is loaded.
    Synthetic(Synthetic),
    /// A WAV or FLAC file.
    File(String),
}

/// Recordings that nobody recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Synthetic {
    /// Bubbles.
    Water,
    /// Dry crackling.
    Leaves,
    /// Crumpled film.
    Plastic,
}

/// How loops follow the speed of the contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Playback {
    /// Not at all: loose surfaces and fluids.
    #[default]
    OriginalRate,
    /// Faster and higher: recorded at this speed in m/s.
    Resampled(f32),
    /// Its micro-impacts follow each other faster, each as it was recorded: recorded at this speed in m/s. For recordings in which they are distinct.
    Stretched(f32),
}
