//! Time passes: the world's own physics or somebody else's frames, scripts, hail, soft bodies.

use super::{PLACED_EVERY, World};
use crate::error::{WorldError, check};
use crate::events::{EventKind, WorldEvent};
use crate::motion_source::MotionSource;
use crate::settings::Timing;
use eigentone_core::Vec3;
use eigentone_core::contact::ContactFrame;
use eigentone_core::event::Moment;
use eigentone_synth::EngineError;
use glam::DQuat;
use std::collections::BTreeSet;

/// More time than this at once is left out live, in s: nobody could wait for it.
const MAX_ADVANCE_S: f64 = 0.25;

/// The same offline.
const MAX_OFFLINE_S: f64 = 3600.0;

impl World {
    /// Lets so much time pass, in s: with slow motion so much less game time, paused none. Whole steps are simulated; what is left over is owed to the next call. Live, of more than a quarter of a second the rest is
    /// left out, and counted. A world that is [fed](Self::feed) does not move by itself.
    pub fn advance(&mut self, dt_s: f64) {
        if dt_s > 0.0 && dt_s.is_finite() && !self.time.paused && !self.time.fed {
            let live = self.settings.timing != Timing::Offline;
            let given_s = if live { dt_s.min(MAX_ADVANCE_S) } else { dt_s.min(MAX_OFFLINE_S) };
            self.counts.skipped_s += dt_s - given_s;
            self.time.owed_s += given_s * self.clock.speed();
            let step_s = self.settings.step_s;
            let steps = (self.time.owed_s / step_s + 1e-9).floor().max(0.0) as u64;
            self.time.owed_s = (self.time.owed_s - steps as f64 * step_s).max(0.0);
            self.run(steps);
        }
        self.flush_all();
    }

    /// Simulates one step, paused or not. A world that is [fed](Self::feed) does not move by itself.
    pub fn single_step(&mut self) {
        if !self.time.fed {
            if self.time.paused {
                self.clock.stand();
            }
            self.run(1);
        }
        self.flush_all();
    }

    fn run(&mut self, steps: u64) {
        let (begin_s, end_s) = (self.time.now_s, (self.time.steps + steps) as f64 * self.settings.step_s);
        if steps > 0 {
            self.sync_clocks(begin_s, end_s);
        }
        for _ in 0..steps {
            self.step();
        }
    }

    /// The two clocks agree on when the coming game time is heard.
    fn sync_clocks(&mut self, begin_s: f64, end_s: f64) {
        let rate_hz = self.settings.sample_rate_hz;
        let now_s = self.shared.clock() as f64 / rate_hz;
        self.clock.tell(begin_s, end_s, now_s, self.shared.host_block() as f64 / rate_hz);
        let (per_game_s, at_zero) = self.clock.mapping(rate_hz);
        self.tracker.set_clock(at_zero, per_game_s);
    }

    /// For sound that is rendered in turns with the motion: how many samples may be rendered so far, if what happens up to so many seconds of game time ago may still be told. While time stands still there is no limit.
    pub fn sound_due(&self, held_back_s: f64) -> u64 {
        if self.time.paused {
            return u64::MAX;
        }
        ((self.clock.audio_s(self.time.now_s) - held_back_s / self.clock.speed()) * self.settings.sample_rate_hz)
            .max(0.0) as u64
    }

    /// The moment at which a game time is heard.
    pub(crate) fn moment(&self, game_s: f64) -> Moment {
        Moment::at(self.clock.audio_s(game_s), self.settings.sample_rate_hz)
    }

    fn step(&mut self) {
        let step_s = self.settings.step_s;
        let begin_s = self.time.steps as f64 * step_s;
        let end_s = (self.time.steps + 1) as f64 * step_s;
        // What moves bodies belongs to the step it falls into, from its beginning on; sums of times would count some twice and miss others.
        self.run_script(begin_s, begin_s + step_s * (1.0 - 1e-9), true);
        let frames = match &mut self.motion_source {
            Some(source) => match source.frames(begin_s, end_s) {
                Ok(frames) => frames,
                Err(why) => {
                    self.motion_source = None;
                    self.say(WorldEvent { time_s: begin_s, kind: EventKind::MotionFailed { why } });
                    Vec::new()
                }
            },
            None if self.time.still => vec![ContactFrame { time_s: end_s, step_s, ..ContactFrame::default() }],
            None => {
                let rigid = self.rigid.get();
                rigid.set_steps(self.time.steps);
                vec![rigid.step()]
            }
        };
        self.time.steps += 1;
        for frame in &frames {
            self.apply_frame(frame);
        }
        self.time.now_s = end_s;
        self.run_others(begin_s, end_s);
        self.tell_frozen();
        if self.settings.timing == Timing::Offline && self.time.steps.is_multiple_of(PLACED_EVERY) {
            self.place_all();
        }
    }

    /// What somebody else's physics engine tells of a step, in place of [`advance`](Self::advance): bodies are called by their [numbers](crate::BodyKey::number), and game time is the frame's. Bodies that are not there
    /// are passed over.
    ///
    /// # Errors
    /// If its numbers are not finite, it comes before the last one, or the world has moved by itself already.
    pub fn feed(&mut self, frame: &ContactFrame) -> Result<(), WorldError> {
        self.feed_all(std::slice::from_ref(frame))
    }

    /// Several steps at once, for physics engines that make up for time they lost: all are heard with their own spacing.
    ///
    /// # Errors
    /// As [`feed`](Self::feed); nothing has happened then.
    pub fn feed_all(&mut self, frames: &[ContactFrame]) -> Result<(), WorldError> {
        let (Some(first), Some(last)) = (frames.first(), frames.last()) else { return Ok(()) };
        if !self.time.fed && self.time.steps > 0 {
            return Err(WorldError::Unfit("a world that has moved by itself is not fed; `reset` it, or make another"));
        }
        let mut before_s = if self.time.fed { self.time.now_s - 1e-9 } else { f64::NEG_INFINITY };
        for frame in frames {
            if !frame.is_sane(MAX_ENTRIES) {
                return Err(WorldError::Unfit("a contact frame with numbers that are not finite, or too many entries"));
            }
            check("the length of a step", frame.step_s, 1e-6..=1.0, "in s, at most one")?;
            if frame.time_s < before_s {
                let found = frame.time_s;
                let wanted = "after the one before it";
                return Err(WorldError::Number { what: "the time of a contact frame", found, wanted });
            }
            before_s = frame.time_s;
        }
        let begin_s = first.time_s - first.step_s;
        if !self.time.fed || begin_s - self.time.now_s > MAX_ADVANCE_S {
            // Neither hail nor soft bodies fall through the gaps of somebody else's time.
            let gap_s = begin_s - self.time.now_s;
            self.hail.iter_mut().for_each(|hail| hail.began_s += gap_s);
            self.soft.shift(gap_s);
            self.time.now_s = begin_s;
        }
        self.time.fed = true;
        self.sync_clocks(begin_s, last.time_s);
        for frame in frames {
            self.run_script(frame.time_s - frame.step_s, frame.time_s - frame.step_s * 1e-9, true);
            self.apply_frame(frame);
            self.time.now_s = frame.time_s;
            self.time.steps += 1;
            self.run_others(frame.time_s - frame.step_s, frame.time_s);
            if self.settings.timing == Timing::Offline && self.time.steps.is_multiple_of(PLACED_EVERY) {
                self.place_all();
            }
        }
        self.flush_all();
        Ok(())
    }

    /// What happens beside rigid bodies until a time.
    fn run_others(&mut self, begin_s: f64, end_s: f64) {
        self.run_script(begin_s, end_s, false);
        self.run_hail(end_s);
        self.run_soft(end_s);
    }

    /// Does what was scheduled until a time, in the step that began at another: what moves bodies, or what does not.
    fn run_script(&mut self, begin_s: f64, until_s: f64, moving: bool) {
        while let Some((time_s, key, change)) = self.script.next(until_s, moving) {
            // What should have happened before is heard as soon as it can be.
            let time_s = time_s.max(begin_s);
            let at = self.moment(time_s);
            // A body that is gone by now is none of the script's business; what makes no sense is told.
            if let Err(error) = self.apply(key, change, at, time_s, true)
                && self.contains(key)
            {
                let why = error.to_string();
                self.say(WorldEvent { time_s, kind: EventKind::Refused { body: key, why } });
            }
        }
    }

    /// Turns a frame into sound.
    fn apply_frame(&mut self, frame: &ContactFrame) {
        if self.recording {
            self.frames.push(frame.clone());
        }
        for pose in &frame.poses {
            if let Some(state) = self.bodies.by_number_mut(pose.body) {
                state.pose = *pose;
                let body = &mut state.body;
                body.position = Vec3::from_array(pose.position.map(f64::from));
                body.rotation = DQuat::from_array(pose.rotation.map(f64::from)).normalize();
                body.velocity = Vec3::from_array(pose.velocity.map(f64::from));
            }
        }
        for number in frame.contacts.iter().flat_map(|c| c.bodies) {
            if let Some(key) = self.bodies.key_of(number) {
                self.wake(key);
            }
        }
        let speed = self.clock.speed() as f32;
        let shed = if speed == 1.0 {
            self.tracker.step(frame, self.engine.get()).is_err()
        } else {
            // In slow motion surfaces are read more slowly; momentum stays what it is.
            let mut slow = frame.clone();
            for point in slow.contacts.iter_mut().flat_map(|c| &mut c.points) {
                point.slip_m_s = point.slip_m_s.map(|v| v * speed);
                point.travel_m_s = point.travel_m_s.map(|t| t.map(|v| v * speed));
            }
            self.tracker.step(&slow, self.engine.get()).is_err()
        };
        self.counts.shed += u64::from(shed);
        self.tell_contacts();
    }

    /// What is done between times: models that are ready, parameters that were changed, sources that came or went, places.
    fn flush_all(&mut self) {
        self.engine.get().collect();
        while self.from_audio.get().pop().is_ok() {}
        let engine = self.engine.get();
        self.removals.retain(|id| engine.remove(*id) == Err(EngineError::QueueFull));
        self.take_models();
        self.take_soft();
        std::mem::take(&mut self.waiting).into_iter().for_each(|key| self.swap(key));
        std::mem::take(&mut self.dirty).into_iter().for_each(|key| self.flush(key));
        self.flush_bridges();
        if self.flush_quality {
            self.set_quality(self.settings.quality);
        }
        let space = self.space.get();
        space.collect();
        self.leaving.retain(|id| {
            space.remove(*id);
            space.knows(*id)
        });
        self.end_voices();
        // In heard time, so that heads turn and rooms change also while the game stands still.
        let now = self.shared.clock();
        let due = now - self.placed_at.min(now)
            >= (PLACED_EVERY as f64 * self.settings.step_s * self.settings.sample_rate_hz) as u64;
        if self.settings.timing != Timing::Offline && (due || self.moved) {
            self.placed_at = now;
            self.place_all();
        }
    }

    /// Bodies whose motion broke, once each.
    fn tell_frozen(&mut self) {
        let frozen: BTreeSet<u32> = self.rigid.get().frozen().collect();
        if frozen != self.frozen {
            for &number in frozen.difference(&self.frozen.clone()) {
                if let Some(body) = self.bodies.key_of(number) {
                    self.say(WorldEvent { time_s: self.time.now_s, kind: EventKind::Frozen { body } });
                }
            }
            self.frozen = frozen;
        }
    }

    /// Stops time: what rings rings out, what slides fades.
    pub fn pause(&mut self) {
        if !self.time.paused {
            self.time.paused = true;
            self.clock.stand();
            let engine = self.engine.get();
            let quiet = self.tracker.quiet(self.time.now_s, engine);
            self.counts.shed += u64::from(quiet.is_err());
            self.tell_contacts();
        }
    }

    /// Lets time go on.
    pub fn resume(&mut self) {
        if self.time.paused {
            self.time.paused = false;
            self.clock.restart();
        }
    }

    /// Whether time stands still.
    pub fn is_paused(&self) -> bool {
        self.time.paused
    }

    /// Slow motion: seconds of game time per second, 0.01 to 1. Contacts are stretched, ringing is not.
    ///
    /// # Errors
    /// If the speed is out of range.
    pub fn set_speed(&mut self, speed: f64) -> Result<(), WorldError> {
        check("the speed", speed, 0.01..=1.0, "0.01 to 1; `pause` stops time")?;
        self.clock.set_speed(speed, self.time.now_s);
        let (per_game_s, at_zero) = self.clock.mapping(self.settings.sample_rate_hz);
        self.tracker.set_clock(at_zero, per_game_s);
        Ok(())
    }

    /// Lets somebody else tell what touches, in place of the world's own physics, or gives it back.
    pub fn set_motion_source(&mut self, source: Option<Box<dyn MotionSource>>) {
        self.motion_source = source;
    }

    /// Switches the world's own physics off, while everything else goes on, or on again. Off, bodies stand still and touch nothing.
    pub fn set_physics_enabled(&mut self, enabled: bool) {
        self.time.still = !enabled;
    }

    /// Keeps the contact frames of the steps that follow, for [`drain_frames`](Self::drain_frames), or stops keeping them.
    pub fn set_recording(&mut self, recording: bool) {
        self.recording = recording;
    }

    /// Contact frames since the last call, while they are [kept](Self::set_recording).
    pub fn drain_frames(&mut self) -> impl Iterator<Item = ContactFrame> {
        self.frames.drain(..)
    }
}

/// Most entries of any list in a frame.
const MAX_ENTRIES: usize = 1_000_000;
