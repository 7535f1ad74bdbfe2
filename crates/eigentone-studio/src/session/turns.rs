//! Sound rendered in turns with the motion, on the control thread, exactly as `eigentone render` does it: what a take is made of.
//!
//! A *turn* is some steps of the world and then all sound that follows from them. Whatever is asked for comes between two turns, so that the number of the turn says all there is to know about when it happened: the same requests
//! before the same turns give the same samples, on any machine however fast. The audio thread only hands the blocks on, at the pace of the page; if they come too late it waits, and nothing is left out.

use super::Session;
use crate::audio::{InnerBlock, Levels, Source, render_inner};
use eigentone_scene::Scene;
use eigentone_world::{AudioOut, Pose};
use std::collections::VecDeque;
use std::sync::Arc;

/// Steps of one turn at normal speed: as many as `eigentone render` makes before it renders sound.
const STEPS: f64 = 8.0;

/// While fewer frames than this wait to be heard, another turn is made.
const LOW: usize = 512;

/// Turns in one frame of the control thread at most: it has other things to do as well.
const MAX_TURNS: usize = 4;

/// Inner blocks on the way to the audio thread.
const RING: usize = 64;

/// Soft bodies are heard so much after they have moved, at most, in s: as for `eigentone render`.
const SOFT_LATENCY_S: f64 = 0.004;

/// The audio side of a world that is rendered in turns.
pub struct Turns {
    out: AudioOut,
    levels: Arc<Levels>,
    ring: rtrb::Producer<InnerBlock>,
    /// What the ring has no room for.
    waiting: VecDeque<InnerBlock>,
    /// For how long something may still be told after it happened, in s of game time.
    held_back_s: f64,
    step_s: f64,
    /// Turns made so far.
    pub count: u64,
}

/// Gives the audio side of a world its place: with the audio thread, or here.
pub fn seat(out: AudioOut, scene: &Scene, levels: &Arc<Levels>, in_turns: bool) -> (Option<Turns>, Source) {
    if !in_turns {
        return (None, Source::Own(Box::new(out)));
    }
    let (ring, blocks) = rtrb::RingBuffer::new(RING);
    let rate_hz = out.sample_rate_hz();
    let step_s = scene.physics.step_s;
    let held_back_s = step_s + if scene.softs.is_empty() { 0.0 } else { SOFT_LATENCY_S };
    let turns = Turns { out, levels: levels.clone(), ring, waiting: VecDeque::new(), held_back_s, step_s, count: 0 };
    (Some(turns), Source::Turns { blocks, rate_hz })
}

impl Turns {
    /// Samples by which all sound is late.
    pub fn latency(&self) -> usize {
        self.out.latency()
    }

    /// Frames that wait to be heard.
    fn ahead(&self) -> usize {
        let sent = self.ring.buffer().capacity() - self.ring.slots();
        (sent + self.waiting.len()) * AudioOut::BLOCK
    }

    /// Sends what there is room for.
    fn send(&mut self) {
        while let Some(block) = self.waiting.front() {
            if self.ring.push(*block).is_err() {
                return;
            }
            self.waiting.pop_front();
        }
    }
}

impl Session {
    /// Makes as many turns as the page will hear soon.
    pub(super) fn take_turns(&mut self) {
        for _ in 0..MAX_TURNS {
            if self.turns.as_ref().is_none_or(|turns| turns.ahead() >= LOW) {
                break;
            }
            self.turn(true);
        }
        if let Some(turns) = &mut self.turns {
            turns.send();
        }
    }

    /// One turn; it is `heard` if somebody waits for its sound.
    pub(crate) fn turn(&mut self, heard: bool) {
        let Some(mut turns) = self.turns.take() else { return };
        let rate_hz = self.rate_hz();
        let steps = if self.world.is_paused() { 0 } else { (STEPS * self.speed).round().max(1.0) as u64 };
        for left in (0..steps).rev() {
            if left == 0 && !self.listener_led {
                let next = (self.world.time_s() / turns.step_s).round() + 1.0;
                let (position, look) = self.scene.listener.at(next * turns.step_s);
                self.world.set_listener(Pose::looking(position, look));
            }
            self.world.single_step();
        }
        if steps == 0 {
            // What was asked for is told to the audio side; time stands still.
            self.world.advance(0.0);
        }
        let paused_until = turns.out.clock() + (STEPS * turns.step_s * rate_hz) as u64;
        let until = self.world.sound_due(turns.held_back_s).min(if steps == 0 { paused_until } else { u64::MAX });
        while turns.out.clock() + AudioOut::BLOCK as u64 <= until {
            let block = render_inner(&mut turns.out, &turns.levels);
            if let Some(recording) = &mut self.recording {
                recording.hear(&block);
            }
            if heard {
                turns.waiting.push_back(block);
            }
        }
        turns.count += 1;
        self.turns = Some(turns);
        if self.recording.as_ref().is_some_and(super::record::Recording::is_full) {
            self.hub.log("warning", "the take is as long as a take can be, and has ended");
            self.end_take();
        }
    }
}
