//! Sound from WAV and FLAC files, and to WAV.

use crate::{
    atomic::write_atomic,
    error::{CUT_OFF, Fault, IN_MEMORY, Place, ReadError, WriteError},
    file::read_file,
    wav,
};
use std::{io, path::Path};
use symphonia::{
    core::{
        codecs::audio::{AudioDecoder, AudioDecoderOptions},
        formats::{FormatOptions, FormatReader},
        io::MediaSourceStream,
    },
    default::{codecs::FlacDecoder, formats::FlacReader},
};

/// Longest sound that is read, in seconds: an hour.
pub const LONGEST_AUDIO_S: u64 = 3600;

/// Most samples over all channels: 2 GiB in memory. An hour of stereo at 48 kHz fits.
const MAX_SAMPLES: u64 = 1 << 29;

/// Sound in memory: one list of samples per channel, all equally long, full scale at ±1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AudioBuffer {
    /// Samples per second.
    pub sample_rate_hz: u32,
    /// Samples of each channel.
    pub channels: Vec<Vec<f32>>,
}

impl AudioBuffer {
    /// Samples per channel.
    pub fn frames(&self) -> usize {
        self.channels.first().map_or(0, Vec::len)
    }

    /// Duration in seconds.
    pub fn duration_s(&self) -> f64 {
        self.frames() as f64 / f64::from(self.sample_rate_hz.max(1))
    }

    /// The mean of all channels.
    pub fn mono(&self) -> Vec<f32> {
        let share = 1.0 / self.channels.len().max(1) as f32;
        (0..self.frames()).map(|t| self.channels.iter().filter_map(|c| c.get(t)).map(|x| x * share).sum()).collect()
    }
}

/// How samples are stored in a WAV file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleFormat {
    /// 16-bit integers with triangular dither of two steps' width, the same noise every time.
    Pcm16,
    /// 24-bit integers, rounded.
    #[default]
    Pcm24,
    /// 32-bit floats: exact, and without a ceiling at full scale.
    Float32,
}

/// Reads a WAV (8 to 32-bit integers, 32 or 64-bit floats) or FLAC file, told apart by content.
///
/// # Errors
/// If the file cannot be read, is neither, is cut off, is longer than [`LONGEST_AUDIO_S`] or holds NaN.
pub fn read_audio(path: &Path) -> Result<AudioBuffer, ReadError> {
    parse(&read_file(path)?).map_err(|fault| fault.in_file(path))
}

/// Reads a WAV or FLAC file from memory.
///
/// # Errors
/// As [`read_audio`].
pub fn read_audio_bytes(bytes: &[u8]) -> Result<AudioBuffer, ReadError> {
    parse(bytes).map_err(|fault| fault.in_file(Path::new(IN_MEMORY)))
}

fn parse(bytes: &[u8]) -> Result<AudioBuffer, Fault> {
    let audio = match bytes.get(..4) {
        Some(b"RIFF") => wav::parse(bytes)?,
        Some([b'f', b'L', b'a', b'C'] | [b'I', b'D', b'3', _]) => {
            // The decoder is not ours: should it ever panic, that is an error like any other.
            let undecodable = || Fault::new(Place::Whole, "a FLAC stream", "one that the decoder cannot follow");
            std::panic::catch_unwind(|| parse_flac(bytes)).unwrap_or_else(|_| Err(undecodable()))?
        }
        found => {
            let found = crate::error::quote(found.unwrap_or(bytes));
            return Err(Fault::at_byte(0, "a WAV or FLAC file", found).hint("convert the recording to WAV or FLAC"));
        }
    };
    match audio.channels.iter().flatten().position(|x| !x.is_finite()) {
        Some(k) => {
            let (channel, frame) = (k / audio.frames(), k % audio.frames());
            let place = Place::Item(format!("channel {channel}, sample {frame}"));
            Err(Fault::new(place, "finite samples", "one that is not a number").hint("export the recording again"))
        }
        None => Ok(audio),
    }
}

/// Refuses what would take too much memory, before it does.
pub(crate) fn check_length(frames: u64, channels: u64, rate_hz: u32) -> Result<(), Fault> {
    let hint = "cut the recording to the part that is needed";
    if frames > LONGEST_AUDIO_S * u64::from(rate_hz) {
        let found = format!("{frames} samples at {rate_hz} Hz");
        return Err(Fault::new(Place::Whole, format!("at most {LONGEST_AUDIO_S} s of sound"), found).hint(hint));
    }
    if frames.saturating_mul(channels) > MAX_SAMPLES {
        let found = format!("{frames} in each of {channels} channels");
        return Err(Fault::new(Place::Whole, format!("at most {MAX_SAMPLES} samples"), found).hint(hint));
    }
    Ok(())
}

/// Reads a FLAC stream (RFC 9639). Metadata blocks other than the stream information never reach the decoder.
fn parse_flac(bytes: &[u8]) -> Result<AudioBuffer, Fault> {
    let (stream, has_checksum) = bare_flac(bytes)?;
    let bad =
        |e: symphonia::core::errors::Error| Fault::new(Place::Whole, "a FLAC stream", e.to_string()).hint(CUT_OFF);
    let source = MediaSourceStream::new(Box::new(io::Cursor::new(stream)), Default::default());
    let mut reader = FlacReader::try_new(source, FormatOptions::default()).map_err(bad)?;
    let track = reader.tracks().first().and_then(|t| Some((t.codec_params.as_ref()?.audio()?.clone(), t.num_frames)));
    let (params, num_frames) = track.ok_or_else(|| Fault::new(Place::Whole, "an audio track", "none"))?;
    let mut options = AudioDecoderOptions::default();
    options.verify = has_checksum;
    let mut decoder = FlacDecoder::try_new(&params, &options).map_err(bad)?;

    let mut audio = AudioBuffer::default();
    let mut planes: Vec<Vec<f32>> = Vec::new();
    while let Some(packet) = reader.next_packet().map_err(bad)? {
        let decoded = decoder.decode(&packet).map_err(bad)?;
        let rate = decoded.spec().rate();
        decoded.copy_to_vecs_planar(&mut planes);
        if audio.channels.is_empty() {
            audio = AudioBuffer { sample_rate_hz: rate, channels: vec![Vec::new(); planes.len()] };
        }
        if rate != audio.sample_rate_hz || planes.len() != audio.channels.len() || rate == 0 {
            return Err(Fault::new(Place::Whole, "one sample rate and number of channels", "a change midway"));
        }
        let frames = audio.frames() as u64 + planes.first().map_or(0, Vec::len) as u64;
        check_length(frames, planes.len() as u64, rate)?;
        audio.channels.iter_mut().zip(&planes).for_each(|(channel, plane)| channel.extend_from_slice(plane));
    }
    let frames = audio.frames() as u64;
    if num_frames.is_some_and(|n| n != frames) || frames == 0 {
        let expected = num_frames.map_or("some samples".to_owned(), |n| format!("{n} samples"));
        return Err(Fault::new(Place::Whole, expected, frames.to_string()).hint(CUT_OFF));
    }
    if decoder.finalize().verify_ok == Some(false) {
        return Err(Fault::new(Place::Whole, "samples that fit the checksum", "others").hint(CUT_OFF));
    }
    Ok(audio)
}

/// The stream with its first metadata block (the stream information, 34 bytes) alone, and whether that holds a checksum. An
/// ID3v2 tag in front is passed over.
fn bare_flac(bytes: &[u8]) -> Result<(Vec<u8>, bool), Fault> {
    const STREAM_INFO: [u8; 4] = [0, 0, 0, 34];
    let mut rest = crate::bytes::Bytes::new(bytes);
    let mut marker = rest.array::<4>("fLaC")?;
    if marker.starts_with(b"ID3") {
        let header = rest.array::<6>("an ID3 tag")?;
        let length = header[2..].iter().fold(0usize, |n, &b| n << 7 | usize::from(b & 0x7f));
        rest.take(length, "an ID3 tag")?;
        marker = rest.array("fLaC")?;
    }
    if &marker != b"fLaC" {
        return Err(Fault::at_byte(rest.at() - 4, "fLaC", crate::error::quote(&marker)));
    }
    let mut info = None;
    loop {
        let at = rest.at();
        let header = rest.array::<4>("a metadata block")?;
        let [kind, size @ ..] = header;
        let length = size.iter().fold(0usize, |n, &b| n << 8 | usize::from(b));
        let block = rest.take(length, "a metadata block")?;
        match (&info, [kind & 0x7f, size[0], size[1], size[2]]) {
            (None, STREAM_INFO) => info = Some(block),
            (None, _) => return Err(Fault::at_byte(at, "a stream information block of 34 bytes", "another block")),
            _ => {}
        }
        if kind & 0x80 != 0 {
            break;
        }
    }
    let info = info.unwrap_or_default();
    let mut stream = Vec::with_capacity(42 + rest.remaining());
    stream.extend_from_slice(b"fLaC\x80\x00\x00\x22");
    stream.extend_from_slice(info);
    stream.extend_from_slice(rest.take(rest.remaining(), "frames")?);
    Ok((stream, info.iter().skip(18).any(|&b| b != 0)))
}

/// Writes a WAV file. In the integer formats, samples beyond full scale are clipped.
///
/// # Errors
/// If a sample is not finite, channels differ in length, the file would pass 4 GiB, or the system refuses.
pub fn write_wav(path: &Path, audio: &AudioBuffer, format: SampleFormat) -> Result<(), WriteError> {
    let frames = audio.frames();
    for (number, channel) in audio.channels.iter().enumerate() {
        if let Some((frame, x)) = channel.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            let found = format!("{x} at sample {frame} of channel {number}");
            return Err(WriteError::NotFinite { file: path.to_owned(), found });
        }
    }
    let reason = if audio.channels.is_empty() || audio.channels.len() > wav::MAX_CHANNELS {
        Some(format!("a WAV file holds 1 to {} channels", wav::MAX_CHANNELS))
    } else if audio.channels.iter().any(|c| c.len() != frames) {
        Some("its channels differ in length".to_owned())
    } else if audio.sample_rate_hz == 0 {
        Some("its sample rate is zero".to_owned())
    } else if frames as u64 * audio.channels.len() as u64 * 4 > u64::from(u32::MAX) - 4096 {
        Some("a WAV file holds at most 4 GiB".to_owned())
    } else {
        None
    };
    if let Some(reason) = reason {
        return Err(WriteError::Impossible { file: path.to_owned(), reason });
    }
    write_atomic(path, |w| wav::write(w, audio, format))
}

#[cfg(test)]
#[path = "audio_tests.rs"]
mod tests;
