//! The file of a take, `NAME.take.json`: the scene it began with, and all that was asked for, by turn. Read without trust.

use crate::fault::Fault;
use crate::take::LONGEST_S;
use eigentone_io::sha256_hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How the names of such files end.
pub const ENDING: &str = ".take.json";

/// Version of the format.
pub const VERSION: u32 = 1;

/// Inputs of one take at most.
pub const MAX_INPUTS: usize = 500_000;

/// Larger files are not read, in bytes.
pub const LARGEST: u64 = 64 << 20;

/// Turns of one take at most: ten minutes of the shortest there are.
const MAX_TURNS: u64 = 100_000_000;

/// A take without its sound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakeFile {
    /// Version of the format.
    pub eigentone_take: u32,
    /// Version of the program that recorded it.
    pub engine: String,
    /// Samples per second.
    pub sample_rate_hz: f64,
    /// Length of the sound, in frames.
    pub frames: u64,
    /// Of the samples, interleaved, as 32-bit floats with the low byte first.
    pub sha256: String,
    /// Name of the scene's file; it need not be there.
    pub scene_file: String,
    /// The scene, as it would be saved.
    pub scene: String,
    /// Files that the scene reads, as it names them.
    pub files: Vec<String>,
    /// Numbers of the bodies, in the order in which the scene puts them on stage.
    pub bodies: Vec<u64>,
    /// Number of the next body that comes.
    pub next_body: u64,
    /// Grabs that were there before.
    pub next_grab: u64,
    /// Turns that it took.
    pub turns: u64,
    /// What was asked for.
    pub inputs: Vec<Input>,
    /// What keeps the sound from being what it would be without the take, or from being what was heard.
    pub differences: Vec<String>,
}

impl Default for TakeFile {
    fn default() -> Self {
        Self {
            eigentone_take: VERSION,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            sample_rate_hz: 44_100.0,
            frames: 0,
            sha256: String::new(),
            scene_file: String::new(),
            scene: String::new(),
            files: Vec::new(),
            bodies: Vec::new(),
            next_body: 1,
            next_grab: 0,
            turns: 0,
            inputs: Vec::new(),
            differences: Vec::new(),
        }
    }
}

/// Something that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Before which turn.
    pub turn: u64,
    /// Game time, in s; for people.
    pub time_s: f64,
    /// A request of the studio's protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// Or a body that was dropped on the page, as a scene of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl TakeFile {
    /// Reads a file. Never panics, whatever it is given.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let hint = "record it anew in `eigentone studio`";
        if bytes.len() as u64 > LARGEST {
            return Err(Fault::bad(format!("a take of {} bytes; at most {LARGEST} are read", bytes.len()), hint));
        }
        let text = |e: serde_json::Error| Fault::bad(format!("not a take: {e}"), hint);
        let take: Self = serde_json::from_slice(bytes).map_err(text)?;
        if take.eigentone_take != VERSION {
            let error = format!("a take of version {}; this program reads {VERSION}", take.eigentone_take);
            return Err(Fault::bad(error, "use the program that wrote it, or record it anew"));
        }
        let bad = |what: &str| Err(Fault::bad(format!("a take that cannot be: {what}"), hint));
        if !(8000.0..=384_000.0).contains(&take.sample_rate_hz) {
            return bad("its sample rate");
        }
        if take.frames as f64 > (LONGEST_S + 60.0) * take.sample_rate_hz || take.turns > MAX_TURNS {
            return bad("it is too long");
        }
        if take.inputs.len() > MAX_INPUTS || take.inputs.windows(2).any(|pair| pair[0].turn > pair[1].turn) {
            return bad("its inputs are too many or out of order");
        }
        if take.scene.len() as u64 > eigentone_scene::scene::LARGEST_SCENE_BYTES {
            return bad("its scene is too large");
        }
        let plain = !take.scene_file.is_empty() && !take.scene_file.contains(['/', '\\', ':', '\0']);
        if !plain || take.scene_file.starts_with('.') {
            return bad("the name of its scene");
        }
        if take.next_body > 1 << 53 || take.bodies.iter().any(|id| *id >= take.next_body) {
            return bad("the numbers of its bodies");
        }
        Ok(take)
    }

    /// As it is written.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Nothing in it can fail to be written: all keys are texts.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

/// The hash of samples, as a take has it.
pub fn digest(samples: &[f32]) -> String {
    let bytes: Vec<u8> = samples.iter().flat_map(|x| x.to_le_bytes()).collect();
    sha256_hex(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take() -> TakeFile {
        TakeFile {
            scene_file: "a.toml".to_owned(),
            scene: crate::shelf::EMPTY.to_owned(),
            bodies: vec![3],
            next_body: 4,
            turns: 9,
            inputs: vec![Input {
                turn: 2,
                time_s: 0.03,
                request: Some(serde_json::json!({ "do": "reset" })),
                body: None,
            }],
            ..TakeFile::default()
        }
    }

    #[test]
    fn a_take_is_read_back_as_it_was() {
        assert_eq!(TakeFile::read(&take().to_bytes()).unwrap(), take());
    }

    /// What is damaged is refused with a reason; nothing panics.
    #[test]
    fn damaged_takes_are_refused() {
        let wrong = [
            TakeFile { eigentone_take: 2, ..take() },
            TakeFile { sample_rate_hz: 1.0, ..take() },
            TakeFile { frames: u64::MAX, ..take() },
            TakeFile { turns: u64::MAX, ..take() },
            TakeFile { scene_file: "../a.toml".to_owned(), ..take() },
            TakeFile { next_body: 2, ..take() },
            TakeFile {
                inputs: [take().inputs, vec![Input { turn: 0, ..take().inputs[0].clone() }]].concat(),
                ..take()
            },
        ];
        for take in wrong {
            let fault = TakeFile::read(&take.to_bytes()).unwrap_err();
            assert!(!fault.hint.is_empty(), "{fault:?}");
        }
        let good = take().to_bytes();
        let mut noise = eigentone_core::Noise::new(4);
        for _ in 0..5000 {
            let mut bytes = good.clone();
            for _ in 0..3 {
                let at = (noise.uniform() * bytes.len() as f64) as usize;
                bytes[at] = (noise.uniform() * 256.0) as u8;
            }
            bytes.truncate((noise.uniform() * 2.0 * good.len() as f64) as usize);
            let _ = TakeFile::read(&bytes);
        }
    }
}
