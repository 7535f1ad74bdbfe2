//! Notes by name, in equal temperament with A4 = 440 Hz: `f = 440 · 2^((m − 69)/12)` for the MIDI number `m`.

use serde::{Deserialize, Deserializer};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A pitch of the equal temperament. `D#5` and `Eb5` are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Note {
    /// Its MIDI number, 0 (`C-1`) to 127 (`G9`); 69 is A4.
    pub midi: u8,
}

impl Note {
    /// Its frequency in Hz.
    pub fn hz(self) -> f64 {
        440.0 * ((f64::from(self.midi) - 69.0) / 12.0).exp2()
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 12] = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"];
        write!(f, "{}{}", NAMES[usize::from(self.midi % 12)], i32::from(self.midi / 12) - 1)
    }
}

impl FromStr for Note {
    type Err = NoteError;

    fn from_str(text: &str) -> Result<Self, NoteError> {
        let bad = || NoteError::Name { found: shortened(text) };
        let mut letters = text.chars();
        let letter = letters.next().ok_or_else(bad)?;
        let base = match letter.to_ascii_uppercase() {
            'C' => 0,
            'D' => 2,
            'E' => 4,
            'F' => 5,
            'G' => 7,
            'A' => 9,
            'B' => 11,
            _ => return Err(bad()),
        };
        let rest = letters.as_str();
        let (shift, octave) = match rest.chars().next() {
            Some('#' | '♯') => (1, rest.trim_start_matches(['#', '♯'])),
            Some('b' | '♭') => (-1, rest.trim_start_matches(['b', '♭'])),
            _ => (0, rest),
        };
        // One accidental only, and no `+5` or ` 5`.
        let signs = rest.chars().count() - octave.chars().count();
        if signs > 1 || !octave.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            return Err(bad());
        }
        let octave: i32 = octave.parse().map_err(|_| bad())?;
        let midi = octave.checked_add(1).and_then(|o| o.checked_mul(12)).map(|o| o + base + shift);
        let midi = midi.and_then(|m| u8::try_from(m).ok()).filter(|&m| m <= 127);
        midi.map(|midi| Self { midi }).ok_or_else(|| NoteError::Range { found: shortened(text) })
    }
}

impl<'de> Deserialize<'de> for Note {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A note of a [`Melody`](super::Melody), at its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreNote {
    /// When it sounds, in s since the beginning of the scene.
    pub time_s: f64,
    /// How long until the next, in s.
    pub length_s: f64,
    /// Its pitch.
    pub note: Note,
}

/// Reads a list of notes: `D5:0.5 r:0.25 C4+E4+G4:1`, lengths in beats, one beat if not given. Bar lines `|` mean nothing.
pub(super) fn score(notes: &str, beat_s: f64, start_s: f64) -> Result<Vec<ScoreNote>, NoteError> {
    let mut beats = 0.0;
    let mut score = Vec::new();
    for word in notes.split_whitespace().filter(|w| *w != "|") {
        let (chord, length) = word.split_once(':').unwrap_or((word, "1"));
        let length: f64 = length
            .parse()
            .ok()
            .filter(|l: &f64| l.is_finite() && *l > 0.0 && *l <= 1e6)
            .ok_or_else(|| NoteError::Length { found: shortened(word) })?;
        if !matches!(chord, "r" | "R") {
            for name in chord.split('+') {
                let note = name.parse()?;
                score.push(ScoreNote { time_s: start_s + beats * beat_s, length_s: length * beat_s, note });
            }
        }
        beats += length;
    }
    Ok(score)
}

/// Long junk does not belong into a message.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 24 { text.to_owned() } else { text.chars().take(24).chain(['…']).collect() }
}

/// Why something is not a note.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoteError {
    /// Not the name of a note.
    #[error("`{found}` is not a note; write a letter A–G, `#` or `b` if needed, and the octave, like `F#4` or `Bb3`")]
    Name {
        /// What was there.
        found: String,
    },
    /// Too high or too low.
    #[error("the note `{found}` is out of range; the lowest is `C-1`, the highest `G9`")]
    Range {
        /// What was there.
        found: String,
    },
    /// A length that is none.
    #[error("`{found}` has no valid length; write beats after a colon, like `C5:0.5`")]
    Length {
        /// What was there.
        found: String,
    },
}
