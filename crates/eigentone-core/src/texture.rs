//! Textures: how a surface excites what touches it, and itself (the "surface" of Menzies 2011, §5–6).
//!
//! A contact that slips at `v`, pressed by `N`, reads a [`Profile`] off the surface, which a low-pass and a gain turn into a force:
//!
//! `f_c = slip(v) · force(N) · ratio(√(m/k))`, `F = roughness · slip(v) · force(N) · low_pass(profile)`,
//!
//! with [`Curve`]s that a sound designer draws. The speed counts as `v = max(slip, rolling · e)`, where `e` follows the speed at which the contact travels and, in loose
//! surfaces, takes `decay_s` to settle.
//!
//! ```
//! use eigentone_core::texture::{Bumps, Profile, Texture};
//!
//! let brick = Texture { name: "brick".into(), profile: Profile::Bumps(Bumps::default()), ..Texture::default() };
//! brick.validate()?;
//! assert_eq!(brick.low_pass.slip.at(0.5), 7600.0);
//! # Ok::<(), eigentone_core::texture::TextureError>(())
//! ```

mod builtin;
mod check;
mod curve;
mod map;
mod profile;
mod table;

pub use curve::{Curve, CurveError, MAX_POINTS};
pub use map::{MAX_PIXELS, MapError, SurfaceMap};
pub use profile::{
    Bumps, Foil, Friction, Height, Loop, Loose, MAX_LOOPS, Playback, Profile, Recorded, Rough, Source, Synthetic,
};
pub use table::TextureTable;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How a surface sounds when it is touched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Texture {
    /// Lower-case name.
    pub name: String,
    /// Coulomb's coefficient, for the simulation.
    pub friction: f32,
    /// Share of the speed that is left after a bounce, for the simulation.
    pub restitution: f32,
    /// Contact spring `k`: 1e4 (soft) to 1e8 (steel).
    pub stiffness_n_m: f32,
    /// Depth `x₀` at which the spring has become twice as stiff; infinite for a linear one.
    pub stiffness_length_m: f32,
    /// What is read off the surface.
    pub profile: Profile,
    /// Height of the profile as a factor: the force is in proportion to it, 0–100. A [`SurfaceMap`] varies it from place to place.
    pub roughness: f32,
    /// The filter behind it.
    pub low_pass: LowPass,
    /// The gain behind that.
    pub gain: Gain,
    /// How much of the speed of a rolling contact counts as slip, 0–1.
    pub rolling: f32,
    /// System decay `τ`: how long the surface takes to settle after being disturbed; 0 if nothing is loose. Water 0.5, gravel 0.15, leaves 0.3.
    pub decay_s: f32,
    /// Sound pressure per newton of excitation that is heard without any resonator.
    pub direct_pa_per_n: f32,
    /// Factor of the decay rates of whatever lies on it: 1 none, 20 a hand.
    pub damping: f32,
    /// What blows are like.
    pub impact: Impact,
}

impl Default for Texture {
    fn default() -> Self {
        Self {
            name: String::new(),
            friction: 0.5,
            restitution: 0.4,
            stiffness_n_m: 1e6,
            stiffness_length_m: 5e-4,
            profile: Profile::Smooth,
            roughness: 1.0,
            low_pass: LowPass::default(),
            gain: Gain::default(),
            // Tuned: a wheel is quieter than a skid.
            rolling: 1.0,
            decay_s: 0.0,
            direct_pa_per_n: 0.0,
            damping: 1.0,
            impact: Impact::default(),
        }
    }
}

/// A low-pass that opens with speed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LowPass {
    /// 0 (none), 1, 2 or 4.
    pub order: u8,
    /// Cut-off in hertz by slip in m/s.
    pub slip: Curve,
    /// Factor of the cut-off by normal force in newtons.
    pub force: Curve,
    /// Factor of the cut-off by `√(m/k)` in s: soft and heavy contacts are dull.
    pub ratio: Curve,
}

impl Default for LowPass {
    /// Menzies 2011, §6.
    fn default() -> Self {
        Self {
            order: 1,
            slip: Curve::of(&[[0.0, 200.0], [1.0, 15_000.0]]),
            force: Curve::constant(1.0),
            ratio: Curve::constant(1.0),
        }
    }
}

/// How loud a contact is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gain {
    /// Factor by slip in m/s.
    pub slip: Curve,
    /// Excitation in newtons by normal force in newtons.
    pub force: Curve,
}

impl Default for Gain {
    /// After Menzies 2011: `0.05 + v` up to one, and about `∝ √N` up to 50 N; tuned to two fifths of the load at 5 N and a fifth at 50 N, so that light things do not leap.
    fn default() -> Self {
        Self {
            slip: Curve::of(&[[0.0, 0.05], [0.95, 1.0]]),
            force: Curve::of(&[[0.0, 0.0], [1.0, 0.5], [5.0, 2.0], [20.0, 5.0], [50.0, 10.0]]),
        }
    }
}

/// What blows on a surface are like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Impact {
    /// Speed in m/s that counts, by the true one: its last point is the upper limit.
    pub amplitude: Curve,
    /// Depth in which a blow also rubs, default 0.2 mm; 0 if not at all.
    pub grazing_depth_m: f32,
    /// Scale of the resonator's motion in micro-impacts while the bodies part; 0 for none.
    pub micro: f32,
    /// WAV or FLAC files of recorded blows, from soft to hard, in place of a half-sine.
    pub takes: Vec<String>,
}

impl Default for Impact {
    fn default() -> Self {
        Self { amplitude: Curve::of(&[[0.0, 0.0], [20.0, 20.0]]), grazing_depth_m: 2e-4, micro: 0.0, takes: Vec::new() }
    }
}

impl Texture {
    /// Checks that every number is possible.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn validate(&self) -> Result<(), TextureError> {
        check::texture(self)
    }
}

/// Why there is no such texture.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TextureError {
    /// No such name in the table.
    #[error("unknown texture `{name}`{}", suggestion.as_ref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The most similar known name, if any is close.
        suggestion: Option<String>,
    },
    /// A number is outside what is possible.
    #[error("texture `{name}`: {property} is {value}, but must be between {low} and {high}")]
    Impossible {
        /// The texture.
        name: String,
        /// The property.
        property: &'static str,
        /// What was given.
        value: f32,
        /// Least possible value.
        low: f32,
        /// Largest possible value.
        high: f32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_possible_by_default() {
        let profiles = [
            Profile::Smooth,
            Profile::Bumps(Bumps::default()),
            Profile::Rough(Rough::default()),
            Profile::Loose(Loose::default()),
            Profile::Foil(Foil::default()),
            Profile::Friction(Friction::default()),
        ];
        for profile in profiles {
            Texture { profile, ..Texture::default() }.validate().unwrap();
        }
        let silent = Texture { profile: Profile::Recorded(Recorded::default()), ..Texture::default() };
        assert!(silent.validate().unwrap_err().to_string().contains("recorded.loops is 0"));
    }

    #[test]
    fn impossible_numbers_are_named() {
        let bad = Texture { name: "x".into(), restitution: f32::NAN, ..Texture::default() };
        assert!(bad.validate().unwrap_err().to_string().contains("`x`: restitution is NaN"));
        let friction = Friction { slipping: 0.7, ..Friction::default() };
        let bad = Texture { profile: Profile::Friction(friction), ..Texture::default() };
        assert!(bad.validate().unwrap_err().to_string().contains("friction.dynamic is 0.7"));
        let low_pass = LowPass { order: 3, ..LowPass::default() };
        assert!(Texture { low_pass, ..Texture::default() }.validate().unwrap_err().to_string().contains("order"));
    }
}
