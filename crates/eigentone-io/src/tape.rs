//! Sound on the disk instead of in memory, until its level is known.

use crate::audio::SampleFormat;
use crate::{atomic::write_atomic, error::WriteError, file::folder_of, wav};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Two channels that grow sample by sample in a file without a name, little-endian `f32`; nothing is left behind, not even by a crash.
///
/// ```
/// use eigentone_io::{SampleFormat, Tape, read_audio};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("ramp.wav");
/// let mut tape = Tape::beside(&path)?;
/// for n in 0..100u8 {
///     tape.push([f32::from(n), 0.0])?;
/// }
/// assert_eq!((tape.frames(), tape.peak()), (100, 99.0));
/// tape.write_wav(&path, 44_100, 0.5 / 99.0, SampleFormat::Float32)?;
/// assert_eq!(read_audio(&path)?.channels[0][99], 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tape {
    path: PathBuf,
    file: BufWriter<File>,
    frames: u64,
    peak: f32,
    not_finite: u64,
}

impl Tape {
    /// In the folder of `path`, where there must be room for the result anyway.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn beside(path: &Path) -> Result<Self, WriteError> {
        let folder = folder_of(path);
        let file = tempfile::tempfile_in(folder).map_err(|source| WriteError::Io { file: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), frames: 0, peak: 0.0, not_finite: 0 })
    }

    /// Adds a sample of both channels. What is not a number becomes silence, and is counted.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn push(&mut self, frame: [f32; 2]) -> Result<(), WriteError> {
        for x in frame {
            self.not_finite += u64::from(!x.is_finite());
            let x = if x.is_finite() { x } else { 0.0 };
            self.peak = self.peak.max(x.abs());
            let written = self.file.write_all(&x.to_le_bytes());
            written.map_err(|source| WriteError::Io { file: self.path.clone(), source })?;
        }
        self.frames += 1;
        Ok(())
    }

    /// Samples so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The loudest of them.
    pub fn peak(&self) -> f32 {
        self.peak
    }

    /// Numbers that were none.
    pub fn not_finite(&self) -> u64 {
        self.not_finite
    }

    /// Writes all of it, times `gain`.
    ///
    /// # Errors
    /// If it would pass 4 GiB, or the system refuses.
    pub fn write_wav(
        self,
        path: &Path,
        sample_rate_hz: u32,
        gain: f32,
        format: SampleFormat,
    ) -> Result<(), WriteError> {
        let io = |source| WriteError::Io { file: path.to_owned(), source };
        if self.frames * 8 > u64::from(u32::MAX) - 4096 || sample_rate_hz == 0 {
            let reason = "a WAV file holds at most 4 GiB, at a rate above zero".to_owned();
            return Err(WriteError::Impossible { file: path.to_owned(), reason });
        }
        let mut file = self.file.into_inner().map_err(|e| io(e.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        let mut file = BufReader::new(file);
        write_atomic(path, |w| {
            let next = |_: usize, out: &mut [f32]| {
                for x in out {
                    let mut bytes = [0; 4];
                    file.read_exact(&mut bytes)?;
                    *x = gain * f32::from_le_bytes(bytes);
                }
                io::Result::Ok(())
            };
            wav::write_frames(w, 2, sample_rate_hz, self.frames as usize, format, next)
        })
    }
}
