//! What can go wrong with a file, and what to do about it.

use eigentone_core::model::ModelError;
use std::{
    fmt, io,
    path::{Path, PathBuf},
};
use thiserror::Error;

/// Where in a file something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, counted from one.
    Line(usize),
    /// A byte, counted from zero.
    Byte(usize),
    /// A named part, such as an accessor or a tensor.
    Item(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Line(line) => write!(f, "line {line}: "),
            Place::Byte(byte) => write!(f, "byte {byte}: "),
            Place::Item(name) => write!(f, "{name}: "),
        }
    }
}

/// Why a file could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system refused.
    #[error("{}: cannot be read: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// More bytes than any reader accepts.
    #[error("{}: has {bytes} bytes, but at most {limit} are read", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Neither content nor extension says what the file is.
    #[error("{}: expected {expected}, found neither a known extension nor known content", file.display())]
    UnknownFormat {
        /// The file.
        file: PathBuf,
        /// The formats that would do.
        expected: &'static str,
    },
    /// The content breaks the rules of its format.
    #[error("{}: {place}expected {expected}, found {found}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Where in the file.
        place: Place,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
        /// What the user can do.
        hint: Option<&'static str>,
    },
    /// The content is legal, but this reader cannot make anything of it.
    #[error("{}: {feature} is not supported", file.display())]
    Unsupported {
        /// The file.
        file: PathBuf,
        /// What it uses.
        feature: String,
        /// What the user can do.
        hint: &'static str,
    },
    /// Written in a version of a format that this engine does not know.
    #[error("{}: is in format {found}, but this engine reads {supported}", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// The version in the file.
        found: String,
        /// The version this engine reads.
        supported: &'static str,
    },
    /// The parts of a model contradict each other.
    #[error("{}: {source}", file.display())]
    Model {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: ModelError,
    },
    /// A file names another one outside its own folder.
    #[error("{}: expected a path inside the folder of the file, found {path}", file.display())]
    Outside {
        /// The file.
        file: PathBuf,
        /// The path it names.
        path: String,
    },
}

impl ReadError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Some("check the spelling of the path"),
                io::ErrorKind::PermissionDenied => Some("check the permissions of the file"),
                _ => None,
            },
            Self::TooLarge { .. } => Some("simplify the mesh, cut the recording or split the field before reading it"),
            Self::UnknownFormat { .. } => Some("rename the file to the extension of its format, or export it again"),
            Self::Syntax { hint, .. } => *hint,
            Self::Unsupported { hint, .. } => Some(hint),
            Self::Version { .. } => Some("make the file again with this version of the engine, or update the engine"),
            Self::Model { .. } => Some("make the model again from its source"),
            Self::Outside { .. } => Some("copy what the file refers to into its folder"),
        }
    }

    /// The file it is about.
    pub fn file(&self) -> &Path {
        match self {
            Self::Io { file, .. }
            | Self::TooLarge { file, .. }
            | Self::UnknownFormat { file, .. }
            | Self::Syntax { file, .. }
            | Self::Unsupported { file, .. }
            | Self::Version { file, .. }
            | Self::Model { file, .. }
            | Self::Outside { file, .. } => file,
        }
    }
}

/// Why a file could not be written. Whatever was there before is untouched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system refused.
    #[error("{}: cannot be written: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A number that no file should hold.
    #[error("{}: not written: expected finite numbers, found {found}", file.display())]
    NotFinite {
        /// The file.
        file: PathBuf,
        /// Which number is what.
        found: String,
    },
    /// The data cannot be expressed in the format.
    #[error("{}: not written: {reason}", file.display())]
    Impossible {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// The parts of a model contradict each other.
    #[error("{}: not written: {source}", file.display())]
    Model {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: ModelError,
    },
}

impl WriteError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Some("create the folder first"),
                io::ErrorKind::PermissionDenied => Some("check the permissions of the folder"),
                io::ErrorKind::StorageFull => Some("free some space on the disk"),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A reader's complaint, before anyone has told it the name of the file.
#[derive(Debug)]
pub(crate) enum Fault {
    Syntax {
        place: Place,
        expected: String,
        found: String,
        hint: Option<&'static str>,
    },
    Unsupported {
        feature: String,
        hint: &'static str,
    },
    Version {
        found: String,
        supported: &'static str,
    },
    Model(ModelError),
    /// About another file, already named.
    Other(ReadError),
}

/// For files that end too early.
pub(crate) const CUT_OFF: &str = "the file seems to be cut off: copy, download or export it again";

impl Fault {
    pub fn new(place: Place, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Syntax { place, expected: expected.into(), found: found.into(), hint: None }
    }

    pub fn at_byte(byte: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(Place::Byte(byte), expected, found)
    }

    pub fn at_line(line: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(Place::Line(line), expected, found)
    }

    pub fn in_item(item: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(Place::Item(item.into()), expected, found)
    }

    pub fn hint(mut self, text: &'static str) -> Self {
        if let Self::Syntax { hint, .. } = &mut self {
            *hint = Some(text);
        }
        self
    }

    pub fn in_file(self, file: &Path) -> ReadError {
        let file = file.to_owned();
        match self {
            Self::Syntax { place, expected, found, hint } => ReadError::Syntax { file, place, expected, found, hint },
            Self::Unsupported { feature, hint } => ReadError::Unsupported { file, feature, hint },
            Self::Version { found, supported } => ReadError::Version { file, found, supported },
            Self::Model(source) => ReadError::Model { file, source },
            Self::Other(error) => error,
        }
    }
}

/// Text from a file as it may appear in a message: short, on one line and printable.
pub(crate) fn quote(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let cut = &text[..text.len().min(4 * LONGEST)];
    let lossy = String::from_utf8_lossy(cut);
    let mut short: String = lossy.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if lossy.chars().count() > LONGEST || cut.len() < text.len() {
        short.push('…');
    }
    format!("“{short}”")
}

/// The name under which errors speak of bytes that did not come from a file.
pub(crate) const IN_MEMORY: &str = "(bytes in memory)";
