use super::*;

fn tone(rate: u32, seconds: f64) -> AudioBuffer {
    let channel = |hz: f64| {
        (0..(f64::from(rate) * seconds) as usize)
            .map(|t| (0.5 * (std::f64::consts::TAU * hz * t as f64 / f64::from(rate)).sin()) as f32)
            .collect()
    };
    AudioBuffer { sample_rate_hz: rate, channels: vec![channel(440.0), channel(1000.0)] }
}

fn written(audio: &AudioBuffer, format: SampleFormat) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.wav");
    write_wav(&path, audio, format).unwrap();
    std::fs::read(path).unwrap()
}

/// Largest difference of two buffers.
fn distance(a: &AudioBuffer, b: &AudioBuffer) -> f32 {
    a.channels.iter().flatten().zip(b.channels.iter().flatten()).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
}

/// Rounding errs by half a step; dither of ±1 step makes that 1.5.
#[test]
fn every_format_comes_back_within_its_precision() {
    let audio = tone(48_000, 0.25);
    for (format, tolerance) in
        [(SampleFormat::Pcm16, 1.51 / 32768.0), (SampleFormat::Pcm24, 0.51 / 8_388_608.0), (SampleFormat::Float32, 0.0)]
    {
        let again = read_audio_bytes(&written(&audio, format)).unwrap();
        assert_eq!((again.sample_rate_hz, again.frames(), again.channels.len()), (48_000, 12_000, 2));
        assert!(distance(&audio, &again) <= tolerance, "{format:?}: {}", distance(&audio, &again));
        assert_eq!(written(&audio, format), written(&audio, format));
    }
}

/// Rounding error and triangular dither are independent: their variances, 1/12 and 2/12 of a step squared, add up.
#[test]
fn dither_noise_has_a_quarter_step_squared_and_no_offset() {
    let quiet = AudioBuffer { sample_rate_hz: 48_000, channels: vec![vec![0.3 / 32768.0; 100_000]] };
    let again = read_audio_bytes(&written(&quiet, SampleFormat::Pcm16)).unwrap();
    let steps: Vec<f64> = again.channels[0].iter().map(|&x| f64::from(x) * 32768.0 - 0.3).collect();
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    let variance = steps.iter().map(|e| e * e).sum::<f64>() / steps.len() as f64;
    assert!(mean.abs() < 0.01, "{mean}");
    assert!((variance - 0.25).abs() < 0.01, "{variance}");
}

/// hound is an independent reader and writer of every integer width.
#[test]
fn the_reader_agrees_with_hound() {
    for (bits, format) in [
        (8, hound::SampleFormat::Int),
        (16, hound::SampleFormat::Int),
        (24, hound::SampleFormat::Int),
        (32, hound::SampleFormat::Int),
    ] {
        let spec = hound::WavSpec { channels: 3, sample_rate: 44_100, bits_per_sample: bits, sample_format: format };
        let mut file = io::Cursor::new(Vec::new());
        let mut writer = hound::WavWriter::new(&mut file, spec).unwrap();
        let values: Vec<i32> = (0..300).map(|k: i32| k.wrapping_mul(0x0123_4567) >> (32 - bits)).collect();
        values.iter().for_each(|&v| writer.write_sample(v).unwrap());
        writer.finalize().unwrap();
        let audio = read_audio_bytes(file.get_ref()).unwrap();
        for (k, &v) in values.iter().enumerate() {
            let expected = f64::from(v) / 2f64.powi(i32::from(bits) - 1);
            assert_eq!(audio.channels[k % 3][k / 3], expected as f32, "{bits} bits, sample {k}");
        }
    }
    let float = written(&tone(8000, 0.1), SampleFormat::Float32);
    let samples: Vec<f32> =
        hound::WavReader::new(io::Cursor::new(float)).unwrap().samples().map(Result::unwrap).collect();
    assert_eq!(samples[2], tone(8000, 0.1).channels[0][1]);
}

fn wav(tag: u16, channels: u16, rate: u32, block: u16, bits: u16, length: u32, data: &[u8]) -> Vec<u8> {
    let mut file = b"RIFF\0\0\0\0WAVEjunk\x03\0\0\0abc\0fmt \x10\0\0\0".to_vec();
    file.extend([tag.to_le_bytes(), channels.to_le_bytes()].concat());
    file.extend([rate.to_le_bytes(), (rate * u32::from(block)).to_le_bytes()].concat());
    file.extend([block.to_le_bytes(), bits.to_le_bytes()].concat());
    file.extend(b"data");
    file.extend(length.to_le_bytes());
    file.extend(data);
    file
}

#[test]
fn doubles_streams_and_odd_chunks_are_read() {
    let data: Vec<u8> = [0.25f64, -0.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let audio = read_audio_bytes(&wav(3, 1, 96_000, 8, 64, u32::MAX, &data)).unwrap();
    assert_eq!(audio, AudioBuffer { sample_rate_hz: 96_000, channels: vec![vec![0.25, -0.5]] });
    assert_eq!(audio.mono(), [0.25, -0.5]);
}

#[test]
fn what_does_not_fit_is_named() {
    let nan = f32::NAN.to_le_bytes();
    for (file, expected) in [
        (wav(3, 1, 48_000, 4, 32, 4, &nan), "channel 0, sample 0: expected finite samples"),
        (wav(1, 1, 48_000, 2, 16, 4, &[0; 2]), "expected samples (4 bytes), found only 2 bytes before the end"),
        (wav(1, 0, 48_000, 2, 16, 2, &[0; 2]), "expected 1 to 64 channels, found 0"),
        (wav(1, 1, 0, 2, 16, 2, &[0; 2]), "expected a sample rate above zero"),
        (wav(1, 1, 48_000, 2, 24, 2, &[0; 2]), "expected 8 to 32-bit integers"),
        (wav(0x55, 1, 48_000, 2, 16, 2, &[0; 2]), "WAV format 0x0055 is not supported"),
        (wav(1, 1, 1, 1, 8, 3601, &[128; 3601]), "expected at most 3600 s of sound, found 3601 samples at 1 Hz"),
        (b"OggS....".to_vec(), "byte 0: expected a WAV or FLAC file, found “OggS”"),
        (Vec::new(), "byte 0: expected a WAV or FLAC file"),
    ] {
        let error = read_audio_bytes(&file).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn nothing_but_finite_numbers_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.wav");
    let mut audio = tone(8000, 0.1);
    audio.channels[1][7] = f32::INFINITY;
    let error = write_wav(&path, &audio, SampleFormat::Float32).unwrap_err().to_string();
    assert!(error.ends_with("found inf at sample 7 of channel 1"), "{error}");
    audio.channels[1].pop();
    audio.channels[1][7] = 0.0;
    let error = write_wav(&path, &audio, SampleFormat::Float32).unwrap_err().to_string();
    assert!(error.ends_with("its channels differ in length"), "{error}");
    assert!(!path.exists());
}
