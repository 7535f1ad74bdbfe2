//! Soft bodies in the studio: simulated, recorded, shown and played.

use super::Session;
use super::tape::{AHEAD_S, MAX_VERTICES, PoseRow, SNAPSHOT_S, Tape, Track};
use crate::fault::Fault;
use crate::packet::{Kind, Packet};
use crate::request::Request;
use eigentone_world::{BodyKey, Kind as BodyKind, Snapshot, SoftRecord};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Samples that a voice may be ahead, in s.
const VOICE_S: f64 = 0.5;

/// Steps of the simulation in one frame of the control thread at most.
const MAX_STEPS: usize = 8;

/// What a snapshot takes beside its soft bodies, in bytes per body and per element: measured roughly, counted generously.
const SNAPSHOT_BYTES: [usize; 2] = [16_384, 160];

impl Session {
    /// A tape for the soft bodies that there are; none without any.
    pub(super) fn begin_tape(&mut self) {
        if self.turns.is_some() {
            // While a take is recorded, soft bodies are simulated in turns with the sound.
            (self.tape, self.taped) = (None, Vec::new());
            return;
        }
        let soft = self.soft_bodies();
        self.taped.clone_from(&soft);
        let mut tracks = BTreeMap::new();
        for (id, key) in soft {
            let Some(rest) = self.world.body(key).map(|b| b.shape.mesh.clone()) else { continue };
            if rest.positions.len() > MAX_VERTICES {
                let text = format!("a soft body with more than {MAX_VERTICES} vertices is heard, but not drawn moving");
                self.hub.log("warning", &text);
            }
            match self.world.voice(key, (VOICE_S * self.rate_hz()) as usize) {
                Ok(writer) => drop(tracks.insert(key, Track::new(id, rest, writer))),
                Err(error) => self.hub.log("warning", &error.to_string()),
            }
        }
        if tracks.is_empty() {
            self.world.record_soft(None);
            self.tape = None;
            return;
        }
        let vertices = tracks.values().map(|t| t.rest.positions.len()).filter(|n| *n <= MAX_VERTICES).sum();
        self.world.record_soft(Some(Tape::picture_every_s(vertices)));
        let strict = self
            .entries
            .values()
            .any(|e| self.world.body(e.key).is_some_and(|b| b.soft.is_none() && matches!(b.kind, BodyKind::Dynamic)));
        let (time_s, played) = (self.world.time_s(), self.audio.pace().frames());
        let mut tape = Tape::new(tracks, self.rate_hz(), time_s, strict, played);
        let motion = self.world.snapshot().motion;
        tape.keep(time_s, motion, self.snapshot_bytes());
        self.tape = Some(tape);
    }

    fn soft_bodies(&self) -> Vec<(u64, BodyKey)> {
        let all = self.entries.iter().map(|(id, entry)| (*id, entry.key));
        all.filter(|(_, key)| self.world.body(*key).is_some_and(|b| b.soft.is_some() && b.present)).collect()
    }

    /// Soft bodies that came or went begin another tape.
    pub(super) fn renew_tape(&mut self) {
        if self.turns.is_none() && self.soft_bodies() != self.taped {
            self.begin_tape();
            let event = self.transport();
            self.hub.event(&event);
        }
    }

    fn snapshot_bytes(&self) -> usize {
        let [body, element] = SNAPSHOT_BYTES;
        body * self.entries.len() + element * self.world.soft_stats().elements
    }

    /// Lets time pass: with soft bodies as fast as they can, in turns with what they touch.
    pub(super) fn pass_time(&mut self, dt_s: f64) {
        let Some(tape) = &mut self.tape else { return self.world.advance(dt_s) };
        let simulates = self.playing && tape.following;
        if simulates {
            tape.debt_s = (tape.debt_s + dt_s * self.speed).min(0.1);
            self.simulate();
        }
        self.world.advance(0.0);
        let records: Vec<SoftRecord> = self.world.drain_soft_records().collect();
        let Some(tape) = &mut self.tape else { return };
        let mut until_s = tape.end_s;
        for record in records {
            match record {
                SoftRecord::Surface { body, time_s, positions } => {
                    until_s = until_s.max(time_s);
                    tape.see(body, time_s, &positions);
                }
                SoftRecord::Sound { body, time_s, samples } => {
                    until_s = until_s.max(time_s + samples.len() as f64 / self.world.settings().sample_rate_hz);
                    tape.hear(body, time_s, &samples);
                }
            }
        }
        if simulates {
            tape.simulated(until_s, dt_s);
        }
        tape.play(self.audio.pace().frames(), self.playing, self.speed);
        self.record_poses();
    }

    fn simulate(&mut self) {
        let step_s = self.world.settings().step_s;
        for _ in 0..MAX_STEPS {
            let Some(tape) = &mut self.tape else { return };
            // What soft bodies give to rigid ones must be known before those move on.
            let may_wait_s = if tape.strict { 0.5 } else { 1.5 } * step_s;
            if tape.debt_s < step_s || self.world.soft_stats().behind_s > may_wait_s {
                return;
            }
            tape.debt_s -= step_s;
            let before_s = self.world.time_s();
            self.world.single_step();
            let now_s = self.world.time_s();
            if (now_s / SNAPSHOT_S + 1e-6).floor() > (before_s / SNAPSHOT_S + 1e-6).floor() {
                let (motion, bytes) = (self.world.snapshot().motion, self.snapshot_bytes());
                if let Some(tape) = &mut self.tape {
                    tape.keep(now_s, motion, bytes);
                }
            }
        }
    }

    /// Rigid bodies go on the tape as often as pictures do.
    fn record_poses(&mut self) {
        let Some(tape) = &mut self.tape else { return };
        let now_s = self.world.time_s();
        if !tape.following || tape.poses.back().is_some_and(|(time_s, _)| now_s < time_s + 1.0 / 31.0) {
            return;
        }
        let row = |(id, entry): (&u64, &super::Entry)| {
            let moves =
                self.world.body(entry.key).is_some_and(|b| b.soft.is_none() && !matches!(b.kind, BodyKind::Fixed));
            let pose = self.world.pose(entry.key).filter(|_| moves)?;
            Some(PoseRow { id: *id, position: pose.position, rotation: pose.rotation })
        };
        let rows = self.entries.iter().filter_map(row).collect();
        tape.poses.push_back((now_s, rows));
    }

    /// The surfaces at the playhead, and where it is.
    pub(super) fn tell_soft(&mut self) {
        let ahead = (AHEAD_S * self.rate_hz()) as u64;
        let frame = self.audio.pace().frames() + ahead + self.out_latency;
        let Some(tape) = &mut self.tape else { return };
        // What has not changed is told again now and then, for pages that came later.
        let again = self.tick.is_multiple_of(64);
        for track in tape.tracks.values_mut() {
            let Some(time_s) = track.picture(tape.playhead_s).map(|picture| picture.time_s) else { continue };
            if track.told_s.replace(time_s) == Some(time_s) && !again {
                continue;
            }
            let Some(picture) = track.picture(tape.playhead_s) else { continue };
            let mut packet = Packet::new(Kind::Soft, 48 + 6 * picture.moved.len());
            packet.u64(frame).f64(picture.time_s).f64(track.id as f64);
            packet.u32(picture.moved.len() as u32).f32s(&[picture.step_m]).f32s(&picture.offset).u32(0);
            packet.i16s(picture.moved.iter().flatten().copied());
            self.hub.packet(packet.finish());
        }
        if self.tick.is_multiple_of(24) {
            let event = self.transport();
            self.hub.event(&event);
        }
    }

    /// Where the playhead is and what has been simulated.
    pub(super) fn transport(&self) -> Value {
        let Some(tape) = &self.tape else { return json!({ "event": "transport", "recorded": false }) };
        json!({
            "event": "transport", "recorded": true, "time_s": tape.playhead_s, "begin_s": tape.begin_s, "end_s": tape.end_s,
            "simulating": self.playing && tape.following, "factor": tape.factor,
        })
    }

    pub(super) fn seek(&mut self, time_s: f64) -> Result<Value, Fault> {
        let hint = "only scenes with soft bodies are recorded; `reset` brings the others back to their beginning";
        let tape = self.tape.as_mut().ok_or_else(|| Fault::bad("there is nothing to seek in", hint))?;
        if !time_s.is_finite() {
            return Err(Fault::bad("the time is not a number", "give it in s"));
        }
        tape.seek(time_s);
        let answer = json!({ "time_s": tape.playhead_s });
        let event = self.transport();
        self.hub.event(&event);
        Ok(answer)
    }

    /// Whoever moves something in what was, changes what comes after: the world goes back to there.
    pub(super) fn leave_tape(&mut self, request: &Request) -> Result<(), Fault> {
        let moves = matches!(request, Request::Strike { push: true, .. } | Request::Grab { .. } | Request::Step);
        let Some(tape) = self.tape.as_mut().filter(|tape| moves && !tape.following) else { return Ok(()) };
        let Some(motion) = tape.branch() else { return Ok(()) };
        let document = self.world.document();
        self.world.restore(&Snapshot { document, motion })?;
        let room = (VOICE_S * self.rate_hz()) as usize;
        let keys: Vec<BodyKey> = self.tape.iter().flat_map(|tape| tape.tracks.keys().copied()).collect();
        for key in keys {
            let writer = self.world.voice(key, room)?;
            if let Some(track) = self.tape.as_mut().and_then(|tape| tape.tracks.get_mut(&key)) {
                track.writer = writer;
            }
        }
        // What was on its way from before belongs to a time that has not been.
        self.world.drain_soft_records().for_each(drop);
        Ok(())
    }
}
