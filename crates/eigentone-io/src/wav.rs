//! RIFF WAVE. Reading is done here, so that sizes in the file are never trusted; writing is left to hound.

use crate::{
    atomic::WriteSeek,
    audio::{AudioBuffer, SampleFormat, check_length},
    bytes::Bytes,
    error::{Fault, quote},
};
use eigentone_core::Noise;
use std::io;

/// Most channels of a file.
pub(crate) const MAX_CHANNELS: usize = 64;

/// Format tags of the `fmt ` chunk (Microsoft, *Multiple channel audio data and WAVE files*).
const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xfffe;

/// The length that a program writes into the header if it cannot go back to fill it in.
const STREAMED: u32 = u32::MAX;

/// The contents of the `fmt ` chunk.
struct Format {
    float: bool,
    channels: usize,
    rate_hz: u32,
    /// Bytes per sample of one channel.
    width: usize,
}

/// Reads a WAV file.
pub(crate) fn parse(file: &[u8]) -> Result<AudioBuffer, Fault> {
    let mut bytes = Bytes::new(file);
    bytes.take(8, "a RIFF header")?;
    let kind = bytes.take(4, "WAVE")?;
    if kind != b"WAVE" {
        return Err(Fault::at_byte(8, "WAVE", quote(kind)));
    }
    let mut format = None;
    loop {
        let at = bytes.at();
        let name = bytes.array::<4>("a data chunk")?;
        let length = bytes.u32_le("the length of a chunk")?;
        match &name {
            b"fmt " => format = Some(parse_format(bytes.take(length as usize, "the format chunk")?, at + 8)?),
            b"data" => {
                let format = format.ok_or_else(|| Fault::at_byte(at, "a format chunk before the data", "none"))?;
                let count = if length == STREAMED { bytes.remaining() } else { length as usize };
                return samples(&format, bytes.take(count, "samples")?);
            }
            _ => {
                bytes.take(length as usize, "a chunk")?;
            }
        }
        // Chunks start at even bytes.
        if length % 2 == 1 && bytes.remaining() > 0 {
            bytes.take(1, "padding")?;
        }
    }
}

fn parse_format(chunk: &[u8], at: usize) -> Result<Format, Fault> {
    let mut bytes = Bytes::new(chunk);
    let mut tag = bytes.u16_le("the format tag")?;
    let channels = usize::from(bytes.u16_le("the number of channels")?);
    let rate_hz = bytes.u32_le("the sample rate")?;
    bytes.u32_le("the byte rate")?;
    let block = usize::from(bytes.u16_le("the block size")?);
    let bits = bytes.u16_le("the sample size")?;
    if tag == EXTENSIBLE {
        bytes.take(8, "the format extension")?;
        tag = bytes.u16_le("the format of the extension")?;
    }
    let bad = |expected: &str, found: String| Fault::at_byte(at, expected, found);
    if !(1..=MAX_CHANNELS).contains(&channels) {
        return Err(bad("1 to 64 channels", channels.to_string()));
    }
    if rate_hz == 0 {
        return Err(bad("a sample rate above zero", "0 Hz".to_owned()));
    }
    let width = block / channels;
    let fits = block % channels == 0 && usize::from(bits) <= 8 * width;
    match (tag, width) {
        (PCM, 1..=4) | (FLOAT, 4 | 8) if fits => Ok(Format { float: tag == FLOAT, channels, rate_hz, width }),
        (PCM | FLOAT, _) => Err(bad(
            "8 to 32-bit integers, or 32 or 64-bit floats",
            format!("{bits} bits in blocks of {block} bytes for {channels} channels"),
        )),
        _ => Err(Fault::Unsupported {
            feature: format!("WAV format {tag:#06x}"),
            hint: "convert the recording to plain PCM or float WAV",
        }),
    }
}

fn samples(format: &Format, data: &[u8]) -> Result<AudioBuffer, Fault> {
    let Format { float, channels, rate_hz, width } = *format;
    let frames = data.len() / (channels * width);
    check_length(frames as u64, channels as u64, rate_hz)?;
    let decode = |b: &[u8]| -> f32 {
        let mut padded = [0; 8];
        // Integers are aligned to the top of their container, floats fill it.
        padded[8 - width..].copy_from_slice(b);
        let top = i32::from_le_bytes([padded[4], padded[5], padded[6], padded[7]]);
        match (float, width) {
            (true, 8) => f64::from_le_bytes(padded) as f32,
            (true, _) => f32::from_bits(top as u32),
            // 8-bit samples are unsigned.
            (false, 1) => (f32::from(b[0]) - 128.0) / 128.0,
            (false, _) => (f64::from(top) / 2f64.powi(31)) as f32,
        }
    };
    let channel = |c: usize| data.chunks_exact(channels * width).map(|f| decode(&f[c * width..][..width])).collect();
    Ok(AudioBuffer { sample_rate_hz: rate_hz, channels: (0..channels).map(channel).collect() })
}

/// Writes a buffer whose shape has been checked.
pub(crate) fn write(w: &mut dyn WriteSeek, audio: &AudioBuffer, format: SampleFormat) -> io::Result<()> {
    let next = |frame: usize, out: &mut [f32]| {
        out.iter_mut().zip(&audio.channels).for_each(|(x, channel)| *x = channel[frame]);
        Ok(())
    };
    write_frames(w, audio.channels.len(), audio.sample_rate_hz, audio.frames(), format, next)
}

/// Writes frames one by one; `next` gives each.
pub(crate) fn write_frames(
    mut w: &mut dyn WriteSeek,
    channels: usize,
    sample_rate_hz: u32,
    frames: usize,
    format: SampleFormat,
    mut next: impl FnMut(usize, &mut [f32]) -> io::Result<()>,
) -> io::Result<()> {
    let (bits_per_sample, sample_format) = match format {
        SampleFormat::Pcm16 => (16, hound::SampleFormat::Int),
        SampleFormat::Pcm24 => (24, hound::SampleFormat::Int),
        SampleFormat::Float32 => (32, hound::SampleFormat::Float),
    };
    let mut out = vec![0.0; channels];
    let channels = channels as u16;
    let spec = hound::WavSpec { channels, sample_rate: sample_rate_hz, bits_per_sample, sample_format };
    let to_io = |e| match e {
        hound::Error::IoError(e) => e,
        e => io::Error::other(e.to_string()),
    };
    let mut writer = hound::WavWriter::new(&mut w, spec).map_err(to_io)?;
    let mut dither = Noise::new(0x9e37_79b9_7f4a_7c15);
    for frame in 0..frames {
        next(frame, &mut out)?;
        for &x in &out {
            match format {
                SampleFormat::Pcm16 => writer.write_sample(quantise(x, 15, triangular(&mut dither))),
                SampleFormat::Pcm24 => writer.write_sample(quantise(x, 23, 0.0)),
                SampleFormat::Float32 => writer.write_sample(x),
            }
            .map_err(to_io)?;
        }
    }
    writer.finalize().map_err(to_io)
}

/// The nearest integer to a sample plus dither, with full scale at `2^bits`.
fn quantise(x: f32, bits: i32, dither: f64) -> i32 {
    let scale = 2f64.powi(bits);
    (f64::from(x) * scale + dither).round().clamp(-scale, scale - 1.0) as i32
}

/// Triangular noise between −1 and 1 steps: it makes the rounding error independent of the signal (Lipshitz, Wannamaker and
/// Vanderkooy 1992).
fn triangular(noise: &mut Noise) -> f64 {
    noise.uniform() - noise.uniform()
}
