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
    pub gain: f32,
    samples: rtrb::Consumer<f32>,
    /// The sample of the clock at which the first one sounds; `None` is whenever there is one.
    begin: Option<u64>,
    /// Samples taken so far.
    taken: u64,
    pub block: [f32; BLOCK],
    pub sounded: bool,
}

/// Makes a voice: the writer stays on the control side. `begin` is the sample of the audio clock at which the first sample is heard.
pub(crate) fn voice(id: BodyId, gain: f32, capacity: usize, begin: Option<u64>) -> (Box<Voice>, VoiceWriter) {
    let (producer, samples) = rtrb::RingBuffer::new(capacity.max(BLOCK));
    let voice = Voice { id, gain, samples, begin, taken: 0, block: [0.0; BLOCK], sounded: false };
    (Box::new(voice), VoiceWriter { samples: producer })
}

impl Voice {
    /// Takes the samples of the block that begins at `now`, and says how many are missing. Those that come too late are skipped, so that what follows is in time.
    pub fn fill(&mut self, now: u64) -> u64 {
        let begin = *self.begin.get_or_insert(if self.samples.is_empty() { u64::MAX } else { now });
        if begin == u64::MAX {
            // Nothing has been written yet.
            self.begin = None;
            self.sounded = false;
            return 0;
        }
        let ended = self.samples.is_abandoned();
        let mut missing = 0;
        self.block = [0.0; BLOCK];
        self.sounded = false;
        for (n, y) in self.block.iter_mut().enumerate() {
            let Some(wanted) = (now + n as u64).checked_sub(begin) else { continue };
            while self.taken < wanted && self.samples.pop().is_ok() {
                self.taken += 1;
            }
            if self.taken == wanted
                && let Ok(x) = self.samples.pop()
            {
                *y = x;
                self.taken += 1;
                self.sounded |= x != 0.0;
            } else {
                missing += u64::from(!ended);
            }
        }
        missing
    }
}

/// Writes the samples of a voice, in Pa at one metre. Dropping it ends the voice after what was written.
#[derive(Debug)]
pub struct VoiceWriter {
    samples: rtrb::Producer<f32>,
}

impl VoiceWriter {
    /// Writes as many samples as there is room for, and says how many that were.
    pub fn write(&mut self, samples: &[f32]) -> usize {
        let room = self.samples.slots().min(samples.len());
        samples[..room].iter().take_while(|x| self.samples.push(**x).is_ok()).count()
    }

    /// Samples that can be written now.
    pub fn room(&self) -> usize {
        self.samples.slots()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was written late is skipped, so that every later sample is heard at its own time.
    #[test]
    fn every_sample_has_its_time() {
        let (mut voice, mut writer) = voice(BodyId { slot: 0, generation: 0 }, 1.0, 1024, Some(100));
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
}
