//! Measured responses for the loudest sources.
//!
//! There are a fixed number of voices. A source asks for one whenever it is aimed; if all are taken, one that is louder by 2 dB than the quietest holder sends that one back to the
//! spherical head. Both ways are cross-fades over a block, so that a voice is free one block after it was claimed, and the louder source gets it when it asks again.

use super::source::{Life, Source};
use crate::BLOCK;
use crate::direct::block::Measured;
use crate::hrtf::Hrtf;
use std::sync::Arc;

/// How much louder a source must be to claim a voice: 2 dB, lest two of them take turns.
const CLAIM: f32 = 1.26;

/// Claims after which a voice whose source is not rendered any more is taken without waiting for it.
const PATIENCE: u32 = 4096;

/// All voices.
#[derive(Debug)]
pub(super) struct Voices {
    hrtf: Arc<Hrtf>,
    voices: Vec<Voice>,
}

#[derive(Clone, Debug)]
struct Voice {
    slot: Option<usize>,
    leaving: bool,
    claims: u32,
    line: Vec<f32>,
    now: [Vec<f32>; 2],
    next: [Vec<f32>; 2],
    /// Blocks that are yet to come in before it can be heard: with an empty past it would begin with a click.
    priming: usize,
    /// Whether the next taps differ from those of now.
    moved: bool,
    /// Whether nothing has been played with it yet.
    new: bool,
    direction: [f32; 3],
    delays: [f32; 2],
}

impl Voices {
    pub(super) fn new(hrtf: Arc<Hrtf>, most: usize) -> Self {
        let taps = hrtf.taps();
        let ears = || [vec![0.0; taps], vec![0.0; taps]];
        let voice = Voice {
            slot: None,
            leaving: false,
            claims: 0,
            line: vec![0.0; taps - 1 + BLOCK],
            now: ears(),
            next: ears(),
            priming: 0,
            moved: false,
            new: true,
            direction: [0.0; 3],
            delays: [0.0; 2],
        };
        // The number fits into what a source keeps of it.
        Self { voices: vec![voice; most.min(4096)], hrtf }
    }

    /// Gives a source a voice if it has none and is loud enough. Returns the source that has to leave its own.
    pub(super) fn ask(&mut self, slot: usize, sources: &mut [Source]) -> Option<usize> {
        let loudness = sources[slot].target.gain.abs();
        if sources[slot].voice != 0 || loudness == 0.0 {
            return None;
        }
        if let Some(waiting) = self.voices.iter_mut().find(|v| v.slot.is_some() && v.leaving) {
            waiting.claims += 1;
            if waiting.claims > PATIENCE
                && let Some(gone) = waiting.slot.take().and_then(|s| sources.get_mut(s))
            {
                gone.voice = 0;
                (gone.now.measured, gone.next.measured) = (0.0, 0.0);
            }
        }
        if let Some((k, voice)) = self.voices.iter_mut().enumerate().find(|(_, v)| v.slot.is_none()) {
            // Before a new source is silence; of any other the voice knows nothing yet.
            let is_new = sources[slot].life == Life::New;
            voice.take(slot, if is_new { 0 } else { voice.line.len().div_ceil(BLOCK) - 1 });
            sources[slot].voice = k as u16 + 1;
            return None;
        }
        let level = |v: &Voice| v.slot.and_then(|s| sources.get(s)).map_or(0.0, |s| s.target.gain.abs());
        let staying = self.voices.iter_mut().filter(|v| !v.leaving);
        let quietest = staying.min_by(|a, b| level(a).total_cmp(&level(b)))?;
        (loudness > CLAIM * level(quietest)).then(|| {
            quietest.leaving = true;
            quietest.slot
        })?
    }

    /// Turns the voice of a source to its direction. Returns the delays to the ears; `None` if it has no voice, not yet, or is leaving it.
    pub(super) fn turn(&mut self, source: &Source) -> Option<[f32; 2]> {
        let voice = self.voices.get_mut(usize::from(source.voice).checked_sub(1)?)?;
        if voice.leaving || voice.priming > 0 {
            return None;
        }
        if voice.new || voice.direction != source.target.direction {
            let [left, right] = &mut voice.next;
            voice.delays = self.hrtf.blend(source.target.direction, [left, right]);
            voice.direction = source.target.direction;
            voice.moved = true;
            if voice.new {
                // Nothing to fade from.
                for (now, next) in voice.now.iter_mut().zip(&voice.next) {
                    now.copy_from_slice(next);
                }
                voice.moved = false;
                voice.new = source.life == Life::New;
            }
        }
        Some(voice.delays)
    }

    /// What the next block of a source is convolved with.
    pub(super) fn of(&mut self, source: &Source) -> Option<Measured<'_>> {
        let voice = self.voices.get_mut(usize::from(source.voice).checked_sub(1)?)?;
        let [left, right] = &voice.now;
        let next = voice.moved.then(|| [voice.next[0].as_slice(), voice.next[1].as_slice()]);
        Some(Measured { line: &mut voice.line, now: [left, right], next })
    }

    /// After a block of a source: its taps have arrived; a voice that has faded out is free. Returns whether one can be heard from now on.
    pub(super) fn settle(&mut self, source: &mut Source) -> bool {
        let Some(voice) = usize::from(source.voice).checked_sub(1).and_then(|k| self.voices.get_mut(k)) else {
            return false;
        };
        if voice.priming > 0 && !voice.leaving && source.target.gain != 0.0 {
            voice.priming -= 1;
            return voice.priming == 0;
        }
        if voice.moved {
            std::mem::swap(&mut voice.now, &mut voice.next);
        }
        (voice.moved, voice.new) = (false, false);
        if (source.now.measured, source.next.measured) == (0.0, 0.0) {
            self.free(source);
        }
        false
    }

    /// Takes the voice of a source away.
    pub(super) fn free(&mut self, source: &mut Source) {
        if let Some(voice) = usize::from(source.voice).checked_sub(1).and_then(|k| self.voices.get_mut(k)) {
            (voice.slot, voice.leaving) = (None, false);
        }
        source.voice = 0;
    }

    /// Sources that have a voice.
    #[cfg(test)]
    pub(super) fn holders(&self) -> impl Iterator<Item = usize> {
        self.voices.iter().filter_map(|v| v.slot)
    }
}

impl Voice {
    fn take(&mut self, slot: usize, priming: usize) {
        (self.slot, self.priming) = (Some(slot), priming);
        (self.leaving, self.moved, self.new, self.claims) = (false, false, true, 0);
        self.line.fill(0.0);
    }
}
