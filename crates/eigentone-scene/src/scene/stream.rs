//! Contact streams in files: one frame per line, as JSON, so that any program can write and read them.
//!
//! The first line names the format, every other is a [`ContactFrame`]. Numbers are written so that they come back exactly: a replay gives the same bytes as the live scene.

use crate::Error;
use eigentone_core::contact::ContactFrame;
use eigentone_io::{ReadError, WriteError};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const FORMAT: &str = "eigentone.contacts/1";

/// Longest line that is read.
const MAX_LINE: u64 = 64 << 20;

/// Most entries of any list in a frame.
const MAX_ENTRIES: usize = 1_000_000;

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
}

/// Writes a stream beside its place and renames it when it is finished.
#[derive(Debug)]
pub struct Recorder {
    file: BufWriter<File>,
    beside: PathBuf,
    path: PathBuf,
}

impl Recorder {
    /// Begins a stream.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".partial");
        let beside = path.with_file_name(name);
        let file = File::create(&beside).map_err(|e| write_error(path, e))?;
        let mut recorder = Self { file: BufWriter::new(file), beside, path: path.to_owned() };
        recorder.line(&Header { format: FORMAT.to_owned() })?;
        Ok(recorder)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_string(value).map_err(|e| write_error(&self.path, e.into()))?;
        writeln!(self.file, "{text}").map_err(|e| write_error(&self.path, e))
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, frame: &ContactFrame) -> Result<(), Error> {
        self.line(frame)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If that fails.
    pub fn finish(mut self) -> Result<(), Error> {
        self.file.flush().map_err(|e| write_error(&self.path, e))?;
        std::fs::rename(&self.beside, &self.path).map_err(|e| write_error(&self.path, e))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Nothing is there any more if it was finished.
        let _ = std::fs::remove_file(&self.beside);
    }
}

/// Reads a stream frame by frame.
#[derive(Debug)]
pub struct Replay {
    lines: BufReader<File>,
    path: PathBuf,
    number: usize,
    last_s: f64,
    /// Read already, but not due yet.
    next: Option<ContactFrame>,
}

impl Replay {
    /// Opens a stream.
    ///
    /// # Errors
    /// If there is no such file or it is none.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| ReadError::Io { file: path.to_owned(), source })?;
        let mut replay = Self {
            lines: BufReader::new(file),
            path: path.to_owned(),
            number: 0,
            last_s: f64::NEG_INFINITY,
            next: None,
        };
        let line = replay.line()?.unwrap_or_default();
        match serde_json::from_str::<Header>(&line) {
            Ok(header) if header.format == FORMAT => Ok(replay),
            Ok(header) => Err(replay.wrong(format!("format `{}`, but this program reads `{FORMAT}`", header.format))),
            Err(_) => {
                Err(replay.wrong(format!("not a contact stream: the first line should be {{\"format\":\"{FORMAT}\"}}")))
            }
        }
    }

    fn wrong(&self, message: String) -> Error {
        Error::WrongKind { file: self.path.clone(), message }
    }

    fn line(&mut self) -> Result<Option<String>, Error> {
        let mut line = String::new();
        let read = (&mut self.lines).take(MAX_LINE).read_line(&mut line);
        self.number += 1;
        match read {
            Ok(0) => Ok(None),
            Ok(n) if n as u64 == MAX_LINE => Err(self.wrong(format!("line {} is too long", self.number))),
            Ok(_) => Ok(Some(line)),
            Err(source) => Err(ReadError::Io { file: self.path.clone(), source }.into()),
        }
    }

    /// The frames whose steps begin before this time: what happens in them must be known before it is heard. After the last one `nothing`, so that
    /// what still touches is seen to have parted.
    ///
    /// # Errors
    /// Names the line that is wrong.
    pub fn until(&mut self, time_s: f64, nothing: ContactFrame) -> Result<Vec<ContactFrame>, Error> {
        let mut frames = Vec::new();
        loop {
            let frame = match self.next.take() {
                Some(frame) => Some(frame),
                None => self.next_frame()?,
            };
            match frame {
                Some(frame) if frame.time_s - frame.step_s >= time_s => {
                    self.next = Some(frame);
                    return Ok(frames);
                }
                Some(frame) => frames.push(frame),
                None if frames.is_empty() => return Ok(vec![nothing]),
                None => return Ok(frames),
            }
        }
    }

    /// The next frame, or `None` at the end.
    ///
    /// # Errors
    /// Names the line that is wrong.
    pub fn next_frame(&mut self) -> Result<Option<ContactFrame>, Error> {
        let line = loop {
            match self.line()? {
                None => return Ok(None),
                Some(line) if line.trim().is_empty() => {}
                Some(line) => break line,
            }
        };
        let frame: ContactFrame =
            serde_json::from_str(&line).map_err(|e| self.wrong(format!("line {}: {e}", self.number)))?;
        if !frame.is_sane(MAX_ENTRIES) || frame.time_s < self.last_s {
            return Err(self.wrong(format!(
                "line {}: a frame must have finite numbers and come after the one before it",
                self.number
            )));
        }
        self.last_s = frame.time_s;
        Ok(Some(frame))
    }
}

fn write_error(path: &Path, source: std::io::Error) -> Error {
    WriteError::Io { file: path.to_owned(), source }.into()
}
