//! Damaged files: cut off anywhere, or with bytes changed. No reader may panic, and binary formats must notice that
//! something is missing.

mod common;

use common::{Sample, samples};

/// xorshift64*: any generator would do, as long as a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }
}

#[test]
fn the_undamaged_files_are_read() {
    for Sample { name, bytes, read, .. } in samples() {
        read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn a_file_cut_off_anywhere_is_an_error_and_never_a_panic() {
    for Sample { name, bytes, read, notices_truncation, .. } in samples() {
        let step = (bytes.len() / 1500).max(1);
        for length in (0..bytes.trim_ascii_end().len()).step_by(step) {
            let outcome = read(&bytes[..length]);
            assert!(outcome.is_err() || !notices_truncation, "{name} cut to {length} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn changed_bytes_never_make_a_reader_panic() {
    const VALUES: [u8; 12] = [0, 1, 2, 0x7f, 0x80, 0xff, b'0', b'9', b'-', b' ', b'\n', b'"'];
    for Sample { name, bytes, read, .. } in samples() {
        let mut random = Random(0x1234_5678_9abc_def1);
        let mut refused = 0;
        for _ in 0..4000 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(4) {
                // Headers are where the damage is worst.
                let reach = if random.below(2) == 0 { bytes.len() } else { bytes.len().min(256) };
                let at = random.below(reach);
                match random.below(4) {
                    0 => damaged[at] ^= 1 << random.below(8),
                    1 => damaged[at] = VALUES[random.below(VALUES.len())],
                    2 => damaged[at] = random.below(256) as u8,
                    _ => {
                        let end = (at + 4).min(damaged.len());
                        damaged[at..end].fill(if random.below(2) == 0 { 0xff } else { 0x7f });
                    }
                }
            }
            refused += usize::from(read(&damaged).is_err());
        }
        assert!(refused > 0, "{name}: no damage was noticed");
    }
}

/// Bytes lost, doubled, or from another file.
#[test]
fn spliced_files_never_make_a_reader_panic() {
    let samples = samples();
    let mut random = Random(99);
    for Sample { bytes, read, .. } in &samples {
        for _ in 0..500 {
            let donor = &samples[random.below(samples.len())].bytes;
            let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
            let part = random.below(donor.len());
            let spliced =
                [&bytes[..from], &donor[part..(part + random.below(64)).min(donor.len())], &bytes[to..]].concat();
            let _ = read(&spliced);
        }
    }
    for Sample { read, .. } in &samples {
        samples.iter().for_each(|other| drop(read(&other.bytes)));
    }
}

/// CRC-16 of FLAC frames (RFC 9639 §9.3): polynomial 0x8005, starting from zero.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &b| {
        (0..8).fold(crc ^ u16::from(b) << 8, |c, _| if c & 0x8000 != 0 { c << 1 ^ 0x8005 } else { c << 1 })
    })
}

/// The decoder believes a frame whose checksum fits, so damage has to fit it to get anywhere.
#[test]
fn damaged_flac_frames_with_good_checksums_never_make_the_reader_panic() {
    let mut bytes = include_bytes!("data/steps.flac").to_vec();
    // Without the checksum of the whole (the last 16 bytes of the stream information).
    bytes[26..42].fill(0);
    let frame = bytes.windows(2).rposition(|w| w == [0xff, 0xf8]).unwrap();
    let end = bytes.len() - 2;
    assert_eq!(crc16(&bytes[frame..end]).to_be_bytes(), bytes[end..]);
    let mut random = Random(7);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut damaged = bytes.clone();
        for _ in 0..=random.below(4) {
            let reach = if random.below(2) == 0 { 40 } else { end - frame - 16 };
            damaged[frame + 8 + random.below(reach)] = random.below(256) as u8;
        }
        let crc = crc16(&damaged[frame..end]);
        damaged[end..].copy_from_slice(&crc.to_be_bytes());
        accepted += usize::from(eigentone_io::read_audio_bytes(&damaged).is_ok());
    }
    assert!(accepted > 100, "{accepted}");
}
