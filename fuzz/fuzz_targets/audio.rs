#![no_main]

use eigentone_io::read_audio_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    if let Some(sealed) = sealed_flac(bytes) {
        read(&sealed);
    }
});

fn read(bytes: &[u8]) {
    if let Ok(audio) = read_audio_bytes(bytes) {
        assert!(audio.channels.iter().all(|c| c.len() == audio.frames() && c.iter().all(|x| x.is_finite())));
    }
}

/// The same stream with good checksums, taking everything after the metadata as one frame: without them the fuzzer would
/// never get into the decoder.
fn sealed_flac(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut stream = bytes.to_vec();
    let mut at = bytes.starts_with(b"fLaC").then_some(4)?;
    stream.get_mut(26..42)?.fill(0);
    loop {
        let header: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        at += 4 + (u32::from_be_bytes(header) & 0xff_ffff) as usize;
        if header[0] & 0x80 != 0 {
            break;
        }
    }
    let codes = *stream.get(at + 2)?;
    // The frame number is coded like a character of UTF-8.
    let number = (stream.get(at + 4)?.leading_ones() as usize).max(1);
    let block_size = match codes >> 4 {
        6 => 1,
        7 => 2,
        _ => 0,
    };
    let rate = match codes & 15 {
        12 => 1,
        13 | 14 => 2,
        _ => 0,
    };
    let crc_at = at + 4 + number + block_size + rate;
    let end = stream.len().checked_sub(2).filter(|&end| end > crc_at)?;
    stream[crc_at] = crc(&stream[at..crc_at], 8, 0x07) as u8;
    let footer = crc(&stream[at..end], 16, 0x8005) as u16;
    stream[end..].copy_from_slice(&footer.to_be_bytes());
    Some(stream)
}

fn crc(bytes: &[u8], bits: u32, polynomial: u32) -> u32 {
    bytes.iter().fold(0, |crc, &b| {
        let start = crc ^ u32::from(b) << (bits - 8);
        (0..8)
            .fold(start, |c, _| if c >> (bits - 1) & 1 != 0 { c << 1 ^ polynomial } else { c << 1 } & ((1 << bits) - 1))
    })
}
