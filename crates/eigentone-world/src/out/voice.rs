//! Sources of ready-made samples: recordings, external voices, soft bodies.

use eigentone_core::event::BodyId;
use eigentone_synth::BLOCK;

/// From the control side.
#[derive(Debug)]
pub(crate) enum VoiceMessage {
    Add(Box<Voice>),
    Gain(BodyId, f32),
    Remove(BodyId),
}

/// One source on the audio side.
#[derive(Debug)]
pub(crate) struct Voice {
    pub id: BodyId,
    /// Where the gain shall be at the end of the next block; zero and `leaving` once it is removed.
    pub gain: f32,
    pub leaving: bool,
    last_gain: f32,
    samples: rtrb::Consumer<f32>,
    /// Whether every sample has its time; else it is whenever there is one.
    timed: bool,
    /// The sample of the clock at which the first one sounds, and how many have been taken since.
    begin: Option<u64>,
    taken: u64,
    pub block: [f32; BLOCK],
    pub sounded: bool,
}

/// Makes a voice: the writer stays on the control side. `begin` is the sample of the audio clock at which the first sample is heard; without it, samples are heard as they come.
pub(crate) fn voice(id: BodyId, gain: f32, capacity: usize, begin: Option<u64>) -> (Box<Voice>, VoiceWriter) {
    let (producer, samples) = rtrb::RingBuffer::new(capacity.max(BLOCK));
    let voice = Voice {
        id,
        gain,
        leaving: false,
        last_gain: gain,
        samples,
        timed: begin.is_some(),
        begin,
        taken: 0,
        block: [0.0; BLOCK],
        sounded: false,
    };
    (Box::new(voice), VoiceWriter { samples: producer })
}

impl Voice {
    /// Takes the samples of the block that begins at `now`, gain included, and says how many are missing. Timed ones that come too late are skipped, so that what follows is in time; others go on where they
    /// stopped.
    pub fn fill(&mut self, now: u64) -> u64 {
        self.block = [0.0; BLOCK];
        self.sounded = false;
        let begin = match self.begin {
            Some(begin) => begin,
            None if self.samples.is_empty() => return 0,
            None => {
                self.taken = 0;
                *self.begin.insert(now)
            }
        };
        if now + BLOCK as u64 <= begin {
            return 0;
        }
        let first = begin.saturating_sub(now) as usize;
        self.skip((now + first as u64 - begin).saturating_sub(self.taken));
        let wanted = now + first as u64 - begin;
        let ready = if self.taken == wanted { self.samples.slots().min(BLOCK - first) } else { 0 };
        if let Ok(chunk) = self.samples.read_chunk(ready) {
            let (one, two) = chunk.as_slices();
            self.block[first..].iter_mut().zip(one.iter().chain(two)).for_each(|(y, x)| *y = *x);
            chunk.commit_all();
            self.taken += ready as u64;
        }
        let step = (self.gain - self.last_gain) / BLOCK as f32;
        for (n, y) in self.block.iter_mut().enumerate() {
            *y *= self.last_gain + step * (n + 1) as f32;
            self.sounded |= *y != 0.0;
        }
        self.last_gain = self.gain;
        let missing = BLOCK - first - ready;
        if missing > 0 && !self.timed {
            // From the next that comes on.
            self.begin = None;
        }
        if self.samples.is_abandoned() { 0 } else { missing as u64 }
    }

    fn skip(&mut self, late: u64) {
        let late = late.min(self.samples.slots() as u64);
        if let Ok(chunk) = self.samples.read_chunk(late as usize) {
            chunk.commit_all();
            self.taken += late;
        }
    }
}

/// Writes the samples of a voice, in Pa at one metre. Dropping it ends the voice after what was written.
#[derive(Debug)]
pub struct VoiceWriter {
    samples: rtrb::Producer<f32>,
}

impl VoiceWriter {
    /// Writes as many samples as there is room for, and says how many that were. What is not a number becomes silence.
    pub fn write(&mut self, samples: &[f32]) -> usize {
        let room = self.samples.slots().min(samples.len());
        let safe = |x: &f32| if x.is_finite() { x.clamp(-1e9, 1e9) } else { 0.0 };
        samples[..room].iter().take_while(|x| self.samples.push(safe(x)).is_ok()).count()
    }

    /// Samples that can be written now.
    pub fn room(&self) -> usize {
        self.samples.slots()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: BodyId = BodyId { slot: 0, generation: 0 };

    /// What was written late is skipped, so that every later sample is heard at its own time.
    #[test]
    fn every_timed_sample_has_its_time() {
        let (mut voice, mut writer) = voice(ID, 1.0, 1024, Some(100));
        writer.write(&[1.0; 10]);
        assert_eq!(voice.fill(64), 64 - 36 - 10);
        assert!(voice.block[..36].iter().all(|x| *x == 0.0) && voice.block[36..46].iter().all(|x| *x == 1.0));
        // Eighteen were missing; forty come, of which those eighteen are over.
        writer.write(&(0..40).map(|n| n as f32).collect::<Vec<_>>());
        assert_eq!(voice.fill(128), 64 - 22);
        assert_eq!(voice.block[0], 18.0);
        drop(writer);
        assert_eq!(voice.fill(192), 0);
    }

    /// A writer that was late once is heard again from its next sample on, and a change of gain is a ramp.
    #[test]
    fn untimed_samples_go_on_after_a_gap() {
        let (mut voice, mut writer) = voice(ID, 1.0, 1024, None);
        assert_eq!(voice.fill(0), 0);
        writer.write(&[1.0; 70]);
        assert_eq!((voice.fill(64), voice.block[0]), (0, 1.0));
        assert_eq!((voice.fill(128), voice.block[5], voice.block[6]), (58, 1.0, 0.0));
        assert_eq!(voice.fill(192), 0);
        writer.write(&[2.0; 64]);
        voice.gain = 0.0;
        assert_eq!((voice.fill(256), voice.block[31], voice.block[63]), (0, 1.0, 0.0));
    }
}
