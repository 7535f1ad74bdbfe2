//! Time passes: the world's own physics or somebody else's frames, scripts, hail, soft bodies.

use super::{PLACED_EVERY, World};
use crate::error::{WorldError, check};
use crate::events::{EventKind, WorldEvent};
use crate::mover::Mover;
use eigentone_core::contact::ContactFrame;
use eigentone_core::event::Moment;

/// More time than this at once is left out, in s: nobody could wait for it.
const MAX_ADVANCE_S: f64 = 0.25;

impl World {
    /// Lets so much time pass, in s: with slow motion so much less game time, paused none. Whole steps are simulated; what is left over is owed to the next call. Of more than a quarter of a second the rest is
    /// left out, and counted.
    pub fn advance(&mut self, dt_s: f64) {
        if dt_s > 0.0 && !self.time.paused {
            let asked_s = if dt_s.is_finite() { dt_s } else { 0.0 };
            let given_s = asked_s.min(MAX_ADVANCE_S);
            self.counts.skipped_s += asked_s - given_s;
            self.time.owed_s += given_s * self.clock.speed();
            let step_s = self.settings.step_s;
            let steps = (self.time.owed_s / step_s + 1e-9).floor().max(0.0) as u64;
            self.time.owed_s = (self.time.owed_s - steps as f64 * step_s).max(0.0);
            self.run(steps);
        }
        self.tidy();
    }

    /// Simulates one step, paused or not.
    pub fn single_step(&mut self) {
        self.run(1);
        self.tidy();
    }

    fn run(&mut self, steps: u64) {
        let step_s = self.settings.step_s;
        let (begin_s, end_s) = (self.time.now_s, (self.time.steps + steps) as f64 * step_s);
        if steps > 0 {
            self.agree(begin_s, end_s);
        }
        for _ in 0..steps {
            self.step();
        }
    }

    /// The two clocks agree on when the coming game time is heard.
    fn agree(&mut self, begin_s: f64, end_s: f64) {
        let rate_hz = self.settings.sample_rate_hz;
        let now_s = self.shared.clock() as f64 / rate_hz;
        self.clock.tell(begin_s, end_s, now_s, self.shared.host_block() as f64 / rate_hz);
        let (per_game_s, at_zero) = self.clock.mapping(rate_hz);
        self.tracker.set_clock(at_zero, per_game_s);
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
        let until_s = begin_s + step_s * (1.0 - 1e-9);
        self.run_script(until_s, true);
        self.time.steps += 1;
        let frames = match &mut self.mover {
            Some(mover) => match mover.frames(begin_s, end_s) {
                Ok(frames) => frames,
                Err(why) => {
                    self.mover = None;
                    self.say(WorldEvent { time_s: begin_s, kind: EventKind::MoverFailed { why } });
                    Vec::new()
                }
            },
            None if self.time.still => vec![ContactFrame { time_s: end_s, step_s, ..ContactFrame::default() }],
            None => vec![self.rigid.get().step()],
        };
        for frame in &frames {
            self.hear(frame);
        }
        self.time.now_s = end_s;
        self.pass(end_s);
        if self.time.steps.is_multiple_of(PLACED_EVERY) {
            self.place_all();
        }
    }

    /// What somebody else's physics engine tells of a step, in place of [`advance`](Self::advance): bodies are called by their [numbers](crate::BodyKey::number), and game time is the frame's. Bodies and
    /// numbers that make no sense are passed over.
    ///
    /// # Errors
    /// If its numbers are not finite, or it comes before the last one.
    pub fn feed(&mut self, frame: &ContactFrame) -> Result<(), WorldError> {
        if !frame.is_sane(MAX_ENTRIES) {
            return Err(WorldError::Unfit("a contact frame with numbers that are not finite, or too many entries"));
        }
        let first = self.time.steps == 0;
        let (begin_s, end_s) = (frame.time_s - frame.step_s, frame.time_s);
        if !first && end_s < self.time.now_s - 1e-9 {
            let found = end_s;
            return Err(WorldError::Number { what: "the time of a contact frame", found, wanted: "after the one before it" });
        }
        check("the length of a step", frame.step_s, 1e-6..=1.0, "in s, at most one")?;
        self.time.steps += 1;
        self.agree(begin_s, end_s);
        self.run_script(begin_s + frame.step_s * (1.0 - 1e-9), true);
        self.hear(frame);
        self.time.now_s = end_s;
        self.pass(end_s);
        if first || end_s - self.time.placed_s >= 0.999 * PLACED_EVERY as f64 * self.settings.step_s {
            self.place_all();
        }
        self.tidy();
        Ok(())
    }

    /// What happens beside rigid bodies until a time.
    fn pass(&mut self, end_s: f64) {
        self.run_script(end_s, false);
        self.run_hail(end_s);
        self.run_soft(end_s);
    }

    /// Does what was scheduled until this time: what moves bodies, or what does not.
    fn run_script(&mut self, until_s: f64, moving: bool) {
        for (time_s, key, change) in self.script.due(until_s, |change| change.moves() == moving) {
            let at = self.moment(time_s);
            // A body that is gone by now is none of the script's business, and numbers were checked by nobody yet: what is refused is told.
            if let Err(error) = self.act(key, change, at, time_s)
                && self.contains(key)
            {
                let why = error.to_string();
                self.say(WorldEvent { time_s, kind: EventKind::Refused { body: key, why } });
            }
        }
    }

    /// Turns a frame into sound.
    fn hear(&mut self, frame: &ContactFrame) {
        if self.recording {
            self.frames.push(frame.clone());
        }
        for pose in &frame.poses {
            if let Some(live) = self.bodies.by_number_mut(pose.body) {
                live.pose = *pose;
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

    /// What is done between times: models that are ready, parameters that found no room, sources that are gone.
    fn tidy(&mut self) {
        self.engine.get().collect();
        while self.from_audio.get().pop().is_ok() {}
        self.take_models();
        self.take_soft();
        let waiting: Vec<_> = self.bodies.iter().filter(|(_, l)| l.next.is_some()).map(|(key, _)| key).collect();
        waiting.into_iter().for_each(|key| self.exchange(key));
        let dirty: Vec<_> =
            self.bodies.iter().filter(|(_, l)| l.dirty != Default::default()).map(|(key, _)| key).collect();
        dirty.into_iter().for_each(|key| self.flush(key));
        if self.flush_quality {
            self.set_quality(self.settings.quality);
        }
        let space = self.space.get();
        self.leaving.retain(|id| {
            space.remove(*id);
            space.knows(*id)
        });
        self.end_voices();
    }

    /// Stops time: what rings rings out, what slides fades.
    pub fn pause(&mut self) {
        if !self.time.paused {
            self.time.paused = true;
            let engine = self.engine.get();
            let quiet = self.tracker.quiet(self.time.now_s, engine);
            self.counts.shed += u64::from(quiet.is_err());
            self.tell_contacts();
        }
    }

    /// Lets time go on.
    pub fn resume(&mut self) {
        self.time.paused = false;
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
    pub fn set_mover(&mut self, mover: Option<Box<dyn Mover>>) {
        self.mover = mover;
    }

    /// Lets the world's own bodies stand still, touching nothing, while everything else goes on; or lets them move again.
    pub fn set_still(&mut self, still: bool) {
        self.time.still = still;
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
