//! What a page may ask for over the WebSocket: JSON text, read without trust.

mod edits;

pub use edits::{MapChange, ModeAddition, ModeChange, ResonatorChange, SurfaceChange};

use crate::fault::Fault;
use eigentone_world::Mallet;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Longer messages are refused, in bytes.
pub const LARGEST_MESSAGE: usize = 64 << 10;

/// Longest name or text in a request, in bytes.
const LONGEST_TEXT: usize = 256;

/// A request and the number under which its answer is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Sent back with the answer.
    pub id: Option<Value>,
    /// What is wanted.
    pub request: Request,
    /// The same as it came, without its number.
    pub raw: Value,
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// Strikes a body; place and direction in its own frame.
    Strike {
        /// Which.
        body: u64,
        /// Where; its top if not given.
        at: Option<[f64; 3]>,
        /// Along which direction; into the surface if not given.
        direction: Option<[f64; 3]>,
        /// How hard, in N·s.
        impulse_ns: f64,
        /// With what; a wooden stick if not given.
        mallet: Option<MalletChoice>,
        /// Whether it also moves the body.
        #[serde(default)]
        push: bool,
    },
    /// Takes hold of a point of a body, in the world.
    Grab {
        /// Which.
        body: u64,
        /// Where, in the world.
        at: [f64; 3],
    },
    /// Moves a hand.
    Drag {
        /// Which grab.
        grab: u64,
        /// Where to, in the world.
        to: [f64; 3],
    },
    /// Lets go.
    Release {
        /// Which grab.
        grab: u64,
    },
    /// Holds a body still, or lets it go.
    Hold {
        /// Which.
        body: u64,
        /// Whether to hold.
        on: bool,
    },
    /// Changes parameters of a body.
    Set(Box<Set>),
    /// Adds an object of the shelf.
    Add {
        /// Its name there.
        object: String,
        /// Where, in the world; above the middle if not given.
        position: Option<[f64; 3]>,
        /// What it is made of, if not what the shelf says.
        material: Option<String>,
    },
    /// Takes a body out.
    Remove {
        /// Which.
        body: u64,
    },
    /// Makes another of the same.
    Duplicate {
        /// Which.
        body: u64,
    },
    /// Opens a shipped scene, the default one (`default`), the autosave (`autosave`) or an empty one (`empty`).
    Open {
        /// Its name.
        scene: String,
    },
    /// Saves the scene.
    Save {
        /// A file name in the folder where the studio was started, for a scene that has none.
        file: Option<String>,
    },
    /// Puts everything back to where it began.
    Reset,
    /// Makes where bodies are now where they begin: of one, or of all.
    Settle {
        /// Which; all that move if not given.
        body: Option<u64>,
    },
    /// One step back.
    Undo,
    /// One step forward.
    Redo,
    /// Stores the scene in a slot, or goes back to what is there.
    Ab {
        /// Which.
        slot: Slot,
        /// Whether to store.
        #[serde(default)]
        store: bool,
    },
    /// Lets time run, or stops it.
    Play {
        /// Whether it runs.
        on: bool,
    },
    /// Slow motion.
    Speed {
        /// Seconds of game time per second, 0.01 to 1.
        value: f64,
    },
    /// Goes to a time that has been simulated, in scenes with soft bodies.
    Seek {
        /// In s.
        time_s: f64,
    },
    /// A single step of the simulation.
    Step,
    /// Moves the listener.
    Listener {
        /// Of the head.
        position: [f64; 3],
        /// Which way it looks.
        look: [f64; 3],
        /// Where its top is; z if not given.
        up: Option<[f64; 3]>,
    },
    /// Changes what may be left out.
    Quality(QualityChange),
    /// Changes the hail.
    Hail(HailChange),
    /// Subscribes to the modes of one body.
    Modes {
        /// Which; none if not given.
        body: Option<u64>,
    },
    /// Edits one mode.
    Mode(ModeChange),
    /// Adds a mode.
    ModeAdd(ModeAddition),
    /// Changes what a body is like to the touch.
    Surface(Box<SurfaceChange>),
    /// Changes the map of a body's roughness.
    SurfaceMap(MapChange),
    /// Changes how a body resonates beside its modes.
    Resonator(Box<ResonatorChange>),
    /// Begins or ends a take.
    Record {
        /// Whether to record.
        on: bool,
        /// Whether bodies begin where they are now, at rest, and not where the scene has them begin.
        #[serde(default)]
        settle: bool,
    },
    /// Why is it silent?
    Why {
        /// Which.
        body: u64,
    },
    /// What the baked field says between two points.
    QueryField {
        /// Where the sound comes from.
        source: [f64; 3],
        /// Where it is heard; where the listener is if not given.
        listener: Option<[f64; 3]>,
    },
    /// What a bake of the scene's rooms would take.
    EstimateBake,
    /// Bakes the scene's rooms, and hears them when it is done.
    Bake,
    /// Ends a bake.
    CancelBake,
    /// Lets a bake wait, or go on.
    PauseBake {
        /// Whether it waits.
        on: bool,
    },
    /// The page has played so many frames more.
    Credit {
        /// Frames.
        frames: u64,
    },
    /// Starts the stream of sound so many frames ahead, or stops it with 0.
    Audio {
        /// Frames.
        lead: u64,
    },
}

/// Slots of A/B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// The first.
    A,
    /// The second.
    B,
}

/// A mallet by name or by numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum MalletChoice {
    /// `felt`, `rubber`, `wood`, `plastic` or `metal`.
    Named(String),
    /// One of one's own.
    Own {
        /// In kg.
        mass_kg: f64,
        /// In N/m.
        stiffness_n_m: f64,
    },
}

impl MalletChoice {
    /// The mallet.
    pub fn mallet(&self) -> Result<Mallet, Fault> {
        Ok(match self {
            Self::Named(name) => match name.as_str() {
                "felt" => Mallet::FELT,
                "rubber" => Mallet::RUBBER,
                "wood" => Mallet::WOOD,
                "plastic" => Mallet::PLASTIC,
                "metal" => Mallet::METAL,
                _ => {
                    let hint = "there are felt, rubber, wood, plastic and metal, or {\"mass_kg\", \"stiffness_n_m\"}";
                    return Err(Fault::bad(format!("no mallet is called `{}`", short(name)), hint));
                }
            },
            Self::Own { mass_kg, stiffness_n_m } => Mallet { mass_kg: *mass_kg, stiffness_n_m: *stiffness_n_m },
        })
    }
}

/// Parameters of a body, those that are given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Set {
    /// Which.
    pub body: u64,
    /// Requests with the same number are one step of undo.
    pub gesture: Option<u64>,
    /// By name.
    pub material: Option<String>,
    /// By name; null or empty for the material's own.
    #[serde(deserialize_with = "given")]
    pub surface: Option<Option<String>>,
    /// All lengths as a factor.
    pub size: Option<f64>,
    /// All frequencies as a factor.
    pub pitch: Option<f64>,
    /// Factor of decay rates.
    pub damping: Option<f64>,
    /// In dB per octave.
    pub brightness: Option<f64>,
    /// Loudness as a factor.
    pub gain: Option<f64>,
    /// In the world.
    pub position: Option<[f64; 3]>,
    /// As a quaternion.
    pub rotation: Option<[f64; 4]>,
    /// In lists and in the file.
    pub name: Option<String>,
    /// Whether nothing moves it.
    pub fixed: Option<bool>,
}

/// What may be left out, as far as it is given; null switches off.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct QualityChange {
    /// Requests with the same number are one step of undo.
    pub gesture: Option<u64>,
    /// How far below its own level a mode masks, in dB.
    #[serde(deserialize_with = "given")]
    pub masking_db: Option<Option<f64>>,
    /// Level below which modes sleep, in Pa.
    #[serde(deserialize_with = "given")]
    pub truncation_pa: Option<Option<f64>>,
    /// Modes at once.
    #[serde(deserialize_with = "given")]
    pub budget_modes: Option<Option<usize>>,
    /// Processor time per 64 samples, in µs.
    #[serde(deserialize_with = "given")]
    pub budget_us: Option<Option<f64>>,
    /// How loud all together is played, in dB SPL.
    #[serde(deserialize_with = "given")]
    pub playback_db: Option<Option<f64>>,
}

/// The hail, as far as it is given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HailChange {
    /// Whether it falls.
    pub on: Option<bool>,
    /// Middle of the cloud.
    pub center: Option<[f64; 3]>,
    /// Sides of the cloud, in m.
    pub size: Option<[f64; 3]>,
    /// In flight at once.
    pub particles: Option<usize>,
    /// Of a stone, in m.
    pub radius_m: Option<f64>,
}

/// A key that is there, even if it is null.
fn given<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Some)
}

/// Reads a message. Never panics, whatever it is given; the error goes back to whoever sent it, with its id if that could be read.
pub fn read(text: &str) -> Result<Asked, (Option<Value>, Fault)> {
    let hint = "see docs/studio-protocol.md";
    if text.len() > LARGEST_MESSAGE {
        let error = format!("a message of {} bytes; at most {LARGEST_MESSAGE} are read", text.len());
        return Err((None, Fault { status: 413, error, hint: hint.to_owned() }));
    }
    let mut value: Value =
        serde_json::from_str(text).map_err(|e| (None, Fault::bad(format!("not JSON: {e}"), hint)))?;
    let id = value.as_object_mut().and_then(|object| object.remove("id"));
    let id = id.filter(|id| id.is_number() || id.as_str().is_some_and(|s| s.len() <= LONGEST_TEXT));
    match Request::deserialize(&value) {
        Ok(request) => Ok(Asked { id, request, raw: value }),
        Err(e) => Err((id, Fault::bad(format!("not a request: {}", short(&e.to_string())), hint))),
    }
}

/// The beginning of a text from outside, for messages.
pub fn short(text: &str) -> String {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_differs_from_nothing() {
        let asked = read(r#"{"do":"quality","masking_db":null,"budget_modes":100,"id":7}"#).unwrap();
        let Request::Quality(change) = asked.request else { panic!("{asked:?}") };
        assert_eq!((change.masking_db, change.budget_modes, change.budget_us), (Some(None), Some(Some(100)), None));
        assert_eq!(asked.id, Some(7.into()));
    }

    /// Valid messages with random bytes changed, cut and doubled: each is read or refused, and none panics.
    #[test]
    fn damaged_messages_are_refused() {
        let good = [
            r#"{"do":"strike","body":1,"at":[0,0.1,-2e-3],"impulse_ns":0.05,"mallet":{"mass_kg":0.1,"stiffness_n_m":1e6},"id":1}"#,
            r#"{"do":"set","body":12,"gesture":3,"surface":null,"size":1.5,"rotation":[0,0,0,1],"name":"é"}"#,
            r#"{"do":"mode","body":1,"mode":3,"frequency_hz":440,"mute":true,"solo":false}"#,
            r#"{"do":"ab","slot":"b","store":true,"id":"x"}"#,
            r#"{"do":"surface","body":1,"set":{"roughness":2,"profile":{"rough":{"grain_m":0.003}},"low_pass":{"slip":[[0,200],[1,9e3]]}}}"#,
            r#"{"do":"resonator","body":1,"glide":{"amount":0.05},"nonlinear":null,"diffuse":[{"low_hz":2e3,"high_hz":6e3,"gain":0.1,"t60_s":0.4}]}"#,
        ];
        let mut noise = eigentone_core::Noise::new(9);
        let mut accepted = 0;
        for round in 0..20_000 {
            let mut bytes = good[round % good.len()].as_bytes().to_vec();
            for _ in 0..(noise.uniform() * 4.0) as usize {
                let at = (noise.uniform() * bytes.len() as f64) as usize;
                match (noise.uniform() * 4.0) as usize {
                    0 => bytes[at] = (noise.uniform() * 256.0) as u8,
                    1 => bytes.truncate(at.max(1)),
                    2 => bytes.insert(at, b"{}[]\",:0e-"[(noise.uniform() * 10.0) as usize]),
                    _ => bytes.extend_from_within(at..),
                }
            }
            if let Ok(text) = std::str::from_utf8(&bytes) {
                accepted += usize::from(read(text).is_ok());
            }
        }
        assert!((1000..19_000).contains(&accepted), "{accepted}");
    }

    #[test]
    fn what_is_no_request_is_told_why() {
        for text in ["", "{", "[]", "{}", "null", r#"{"do":"fly"}"#, r#"{"do":"strike"}"#, r#"{"do":"set","size":"x"}"#]
        {
            let (_, fault) = read(text).unwrap_err();
            assert!(fault.status == 400 && !fault.hint.is_empty(), "{text}: {fault:?}");
        }
        let (id, _) = read(r#"{"do":"fly","id":"a"}"#).unwrap_err();
        assert_eq!(id, Some("a".into()));
        let deep = "[".repeat(40_000);
        assert!(read(&deep).unwrap_err().1.error.contains("JSON"));
        assert_eq!(read(&" ".repeat(LARGEST_MESSAGE + 1)).unwrap_err().1.status, 413);
    }
}
