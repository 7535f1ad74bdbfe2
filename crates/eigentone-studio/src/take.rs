//! What was heard last: up to ten minutes, to be kept as a file.

use std::collections::VecDeque;

/// Longest take, in s.
pub const LONGEST_S: f64 = 600.0;

/// The last minutes of sound, in stereo. Memory grows as it is used.
#[derive(Debug)]
pub struct Take {
    samples: VecDeque<f32>,
    max: usize,
    rate_hz: u32,
}

impl Take {
    /// Nothing yet.
    pub fn new(rate_hz: f64) -> Self {
        Self { samples: VecDeque::new(), max: 2 * (LONGEST_S * rate_hz) as usize, rate_hz: rate_hz as u32 }
    }

    /// Appends frames; of more than ten minutes the oldest are forgotten.
    pub fn push(&mut self, samples: &[f32]) {
        let over = (self.samples.len() + samples.len()).saturating_sub(self.max);
        self.samples.drain(..over.min(self.samples.len()));
        self.samples.extend(samples);
    }

    /// Frames that are kept.
    pub fn frames(&self) -> usize {
        self.samples.len() / 2
    }

    /// The last seconds, or all, as a WAV file of 32-bit floats.
    pub fn wav(&self, seconds: Option<f64>) -> Vec<u8> {
        let wanted = seconds.map_or(usize::MAX, |s| (s.max(0.0) * f64::from(self.rate_hz)) as usize);
        let skipped = 2 * self.frames().saturating_sub(wanted);
        wav(self.samples.iter().skip(skipped).copied(), self.samples.len() - skipped, 2, self.rate_hz)
    }
}

/// A WAV file of 32-bit floats (format 3, with the `fact` chunk that it needs).
pub fn wav(samples: impl Iterator<Item = f32>, count: usize, channels: u16, rate_hz: u32) -> Vec<u8> {
    let data = 4 * count as u32;
    let mut file = Vec::with_capacity(58 + data as usize);
    file.extend(b"RIFF");
    file.extend((50 + data).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(18u32.to_le_bytes());
    file.extend(3u16.to_le_bytes());
    file.extend(channels.to_le_bytes());
    file.extend(rate_hz.to_le_bytes());
    file.extend((rate_hz * 4 * u32::from(channels)).to_le_bytes());
    file.extend((4 * channels).to_le_bytes());
    file.extend(32u16.to_le_bytes());
    file.extend(0u16.to_le_bytes());
    file.extend(b"fact");
    file.extend(4u32.to_le_bytes());
    file.extend((count as u32 / u32::from(channels.max(1))).to_le_bytes());
    file.extend(b"data");
    file.extend(data.to_le_bytes());
    file.extend(samples.flat_map(f32::to_le_bytes));
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_take_is_read_back_as_it_was() {
        let mut take = Take::new(8000.0);
        take.push(&[0.5, -0.25, 1.5, 0.0]);
        let back = eigentone_io::read_audio_bytes(&take.wav(None)).unwrap();
        assert_eq!((back.sample_rate_hz, back.channels), (8000, vec![vec![0.5, 1.5], vec![-0.25, 0.0]]));
        let last = eigentone_io::read_audio_bytes(&take.wav(Some(1.0 / 8000.0))).unwrap();
        assert_eq!(last.channels, vec![vec![1.5], vec![0.0]]);
    }

    #[test]
    fn ten_minutes_are_kept() {
        let mut take = Take::new(100.0);
        for second in 0..700 {
            take.push(&[second as f32; 200]);
        }
        assert_eq!(take.frames(), 60_000);
        let back = eigentone_io::read_audio_bytes(&take.wav(None)).unwrap();
        assert_eq!((back.channels[0][0], back.channels[0].last()), (100.0, Some(&699.0)));
    }
}
