//! What is scripted: `[[melody]]`, `[[event]]`, `[[bridge]]`.

use super::note::{self, NoteError, ScoreNote};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// Notes that are played by dropping a body on others.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Melody {
    /// What is played: `"D5:0.5 D#5:0.5 r:0.25 C4+E4+G4:1"`. Lengths in beats, `r` a rest, `+` a chord, `|` nothing.
    pub notes: String,
    /// Beats per minute.
    pub tempo_bpm: f64,
    /// When the first note sounds, in s.
    pub start_s: f64,
    /// Name of the `template` that is dropped, for each note onto the first body whose `tune` is that note.
    pub body: String,
    /// How deep it falls, in m.
    pub height_m: f64,
    /// Where it strikes, in m along x and y from the middle of the body.
    pub offset: [f64; 2],
}

impl Default for Melody {
    fn default() -> Self {
        Self {
            notes: String::new(),
            tempo_bpm: 120.0,
            start_s: 1.0,
            body: String::new(),
            height_m: 0.2,
            offset: [0.0; 2],
        }
    }
}

impl Melody {
    /// Its notes in order of time.
    ///
    /// # Errors
    /// If the list holds something that is no note.
    pub fn score(&self) -> Result<Vec<ScoreNote>, NoteError> {
        note::score(&self.notes, 60.0 / self.tempo_bpm, self.start_s)
    }
}

/// Something that happens to a body at a given time.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Event {
    /// When, in s.
    pub time_s: f64,
    /// To which body.
    pub body: String,
    /// Where an `impulse_ns` or `push_ns` acts, in m in the frame of the body's mesh. If not given, a blow strikes the top, a push the centre of mass.
    pub at: Option<[f64; 3]>,
    /// Length of a blow in s. If not given, it follows from `hardness` and `mass_kg`.
    pub duration_s: Option<f64>,
    /// Stiffness of the contact of a blow, in N/m, or what strikes: `"felt"`, `"rubber"`, `"wood"`, `"plastic"`, `"metal"` (1e4 to 1e8).
    #[serde(deserialize_with = "some_hardness")]
    pub hardness: Option<f64>,
    /// Mass of what strikes, in kg.
    pub mass_kg: Option<f64>,
    /// What happens, by one of the keys that [`Action`] lists.
    #[serde(skip)]
    pub action: Action,
}

/// What can happen to a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// `impulse_ns = 0.05` or `[x, y, z]`: a blow that is heard and moves nothing, in N·s.
    ImpulseNs(Impulse),
    /// `damping = 20`: decay rates are multiplied by this from now on, 0.1 to 50.
    Damping(f64),
    /// `frequency = 1.5`: frequencies are multiplied by this from now on, 0.05 to 20.
    Frequency(f64),
    /// `strain = 0.01`: the body is strained by this from now on.
    Strain(f64),
    /// `gain_db = -6`: its loudness from now on, in place of the body's own.
    GainDb(f64),
    /// `emphasis = 2`: its importance from now on.
    Emphasis(f64),
    /// `silence = true`: it stops sounding.
    #[default]
    Silence,
    /// `push_ns = [x, y, z]`: a push that moves it and is not heard by itself, in N·s in the world.
    PushNs([f64; 3]),
    /// `velocity = [x, y, z]`: it has this velocity now, in m/s.
    Velocity([f64; 3]),
}

/// The keys of [`Action`].
pub(super) const ACTION_KEYS: &[&str] =
    &["impulse_ns", "damping", "frequency", "strain", "gain_db", "emphasis", "silence", "push_ns", "velocity"];

/// A blow's momentum in N·s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Impulse {
    /// Into the surface, against its normal.
    Inward(f64),
    /// In the frame of the body's mesh.
    Vector([f64; 3]),
}

impl<'de> Deserialize<'de> for Impulse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Impulse;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or [x, y, z]")
            }
            fn visit_f64<E: serde::de::Error>(self, x: f64) -> Result<Impulse, E> {
                Ok(Impulse::Inward(x))
            }
            fn visit_i64<E: serde::de::Error>(self, x: i64) -> Result<Impulse, E> {
                Ok(Impulse::Inward(x as f64))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Impulse, A::Error> {
                <[f64; 3]>::deserialize(SeqAccessDeserializer::new(seq)).map(Impulse::Vector)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A body whose sound is a force on another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bridge {
    /// Whose sound.
    pub from: String,
    /// On which body.
    pub to: String,
    /// Where, in m in the frame of the second's mesh; on top if not given.
    pub at: Option<[f64; 3]>,
    /// Of the force, in the frame of the second's mesh; any length.
    pub direction: [f64; 3],
    /// How strong, 0 to 0.7: at 1 the second's strongest resonance would answer as loud as the first sounds.
    pub coupling: f64,
    /// Cut-off of what is carried, in Hz.
    pub low_pass_hz: f64,
    /// Buzzing: only what exceeds this sound pressure is carried, in Pa. Linear if not given.
    pub gap_pa: Option<f64>,
    /// Buzzing on one side only: as of something that lies on the body, not of something between two stops.
    pub one_sided: bool,
    /// Share of the force that is heard straight away, as pressure in Pa.
    pub direct: f64,
}

impl Default for Bridge {
    fn default() -> Self {
        Self {
            from: String::new(),
            to: String::new(),
            at: None,
            direction: [0.0, 0.0, 1.0],
            coupling: 0.3,
            low_pass_hz: 5000.0,
            gap_pa: None,
            one_sided: false,
            direct: 0.0,
        }
    }
}

fn some_hardness<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    hardness(deserializer).map(Some)
}

/// A stiffness in N/m, or the name of one.
pub(super) fn hardness<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct Either;
    impl Visitor<'_> for Either {
        type Value = f64;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a stiffness in N/m, or `felt`, `rubber`, `wood`, `plastic` or `metal`")
        }
        fn visit_f64<E: serde::de::Error>(self, x: f64) -> Result<f64, E> {
            Ok(x)
        }
        fn visit_i64<E: serde::de::Error>(self, x: i64) -> Result<f64, E> {
            Ok(x as f64)
        }
        fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<f64, E> {
            match name {
                "felt" => Ok(1e4),
                "rubber" => Ok(1e5),
                "wood" => Ok(1e6),
                "plastic" => Ok(5e6),
                "metal" => Ok(1e8),
                _ => Err(E::invalid_value(serde::de::Unexpected::Str(name), &self)),
            }
        }
    }
    deserializer.deserialize_any(Either)
}
