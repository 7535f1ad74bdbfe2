//! What soft bodies have done, kept so that it can be seen and heard in time: they are slower to compute than to hear, mostly by far.
//!
//! The world simulates as fast as it can; pictures of the surfaces, samples of the sound and, every quarter of a second, a snapshot go on a tape of bounded size. A playhead runs over it at the pace of the sound card. At the end of
//! the tape it follows the simulation: with sound if that keeps up, else without, in as slow motion as it happens. Anywhere before, it plays what there is, and the simulation waits.

use eigentone_core::Vec3;
use eigentone_world::{BodyKey, Motion, VoiceWriter};
use std::collections::{BTreeMap, VecDeque};

/// Memory of a tape, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Length of a tape, in s.
const LONGEST_S: f64 = 60.0;

/// Between two snapshots, in s.
pub(super) const SNAPSHOT_S: f64 = 0.25;

/// Between two pictures at least, in s.
const PICTURE_S: f64 = 1.0 / 30.0;

/// Pictures together take no more than this, in bytes per second of motion.
const PICTURE_RATE: f64 = 4e6;

/// Surfaces with more vertices are not drawn moving.
pub(super) const MAX_VERTICES: usize = 100_000;

/// From the playhead to the sound card, in s: as much may a frame of the control thread be late.
pub(super) const AHEAD_S: f64 = 0.06;

/// Over so much time it is seen whether the simulation keeps up, in s.
const WINDOW_S: f64 = 0.5;

/// A surface at a time: where each vertex is relative to its place at rest, in steps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Picture {
    pub time_s: f64,
    pub offset: [f32; 3],
    pub step_m: f32,
    pub moved: Vec<[i16; 3]>,
}

impl Picture {
    /// Of positions in the world; none if they are not of this surface.
    pub fn of(time_s: f64, rest: &[Vec3], positions: &[[f32; 3]]) -> Option<Self> {
        if rest.len() != positions.len() || rest.is_empty() {
            return None;
        }
        let moved: Vec<Vec3> =
            rest.iter().zip(positions).map(|(r, p)| Vec3::from_array(p.map(f64::from)) - *r).collect();
        let offset = (moved.iter().copied().sum::<Vec3>() / moved.len() as f64).as_vec3();
        let offset_m = offset.as_dvec3();
        let largest = moved.iter().map(|d| (*d - offset_m).abs().max_element()).fold(0.0, f64::max);
        let step_m = (largest / f64::from(i16::MAX)).max(1e-9) as f32;
        let steps = |d: &Vec3| ((*d - offset_m) / f64::from(step_m)).to_array().map(|x| x.round() as i16);
        Some(Self { time_s, offset: offset.to_array(), step_m, moved: moved.iter().map(steps).collect() })
    }

    fn bytes(&self) -> usize {
        64 + 6 * self.moved.len()
    }
}

/// Where a rigid body was.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoseRow {
    pub id: u64,
    pub position: [f32; 3],
    pub rotation: [f32; 4],
}

/// One soft body on the tape.
pub(super) struct Track {
    pub id: u64,
    pub rest: std::sync::Arc<eigentone_core::TriMesh>,
    pub pictures: VecDeque<Picture>,
    /// Time of the first sample that is kept, in s.
    sound_from_s: f64,
    sound: VecDeque<f32>,
    pub writer: VoiceWriter,
    /// Time of the picture that pages have.
    pub told_s: Option<f64>,
}

impl Track {
    pub fn new(id: u64, rest: std::sync::Arc<eigentone_core::TriMesh>, writer: VoiceWriter) -> Self {
        Self { id, rest, pictures: VecDeque::new(), sound_from_s: 0.0, sound: VecDeque::new(), writer, told_s: None }
    }

    /// The picture at a time: the last one before it.
    pub fn picture(&self, time_s: f64) -> Option<&Picture> {
        let after = self.pictures.partition_point(|p| p.time_s <= time_s + 1e-9);
        self.pictures.get(after.saturating_sub(1))
    }

    fn hear(&mut self, time_s: f64, samples: &[f32], rate_hz: f64) {
        let expected_s = self.sound_from_s + self.sound.len() as f64 / rate_hz;
        if self.sound.is_empty() {
            self.sound_from_s = time_s;
        } else if time_s > expected_s {
            // After a jump the sound begins a little later, since filters begin anew: until then nothing is known.
            let missing = ((time_s - expected_s) * rate_hz).round().min(rate_hz) as usize;
            self.sound.extend(std::iter::repeat_n(0.0, missing));
        }
        self.sound.extend(samples);
    }

    /// Samples from a time on.
    fn samples(&self, from_s: f64, count: usize, rate_hz: f64) -> Vec<f32> {
        let first = ((from_s - self.sound_from_s) * rate_hz).round() as i64;
        let at = |n: usize| usize::try_from(first + n as i64).ok().and_then(|n| self.sound.get(n).copied());
        (0..count).map(|n| at(n).unwrap_or(0.0)).collect()
    }

    fn cut_before(&mut self, time_s: f64, rate_hz: f64) {
        while self.pictures.len() > 1 && self.pictures[1].time_s <= time_s {
            self.pictures.pop_front();
        }
        let gone = (((time_s - self.sound_from_s) * rate_hz).max(0.0) as usize).min(self.sound.len());
        self.sound.drain(..gone);
        self.sound_from_s += gone as f64 / rate_hz;
    }

    fn cut_after(&mut self, time_s: f64, rate_hz: f64) {
        self.pictures.retain(|p| p.time_s <= time_s + 1e-9);
        self.sound.truncate(((time_s - self.sound_from_s) * rate_hz).round().max(0.0) as usize);
    }

    fn bytes(&self) -> usize {
        4 * self.sound.len() + self.pictures.iter().map(Picture::bytes).sum::<usize>()
    }
}

/// How everything moved at a time, to go on from there.
pub(super) struct Kept {
    pub time_s: f64,
    pub motion: Motion,
    bytes: usize,
}

/// A tape and where it is played.
pub(super) struct Tape {
    pub tracks: BTreeMap<BodyKey, Track>,
    pub poses: VecDeque<(f64, Vec<PoseRow>)>,
    pub kept: VecDeque<Kept>,
    rate_hz: f64,
    pub begin_s: f64,
    pub end_s: f64,
    pub playhead_s: f64,
    /// At the end, where the simulation goes on.
    pub following: bool,
    /// Whether it is heard.
    sounding: bool,
    /// Whether rigid bodies move: then soft ones and they take turns.
    pub strict: bool,
    /// Time that may still be simulated, in s.
    pub debt_s: f64,
    /// Seconds of motion per second, lately; none until that is known.
    pub factor: Option<f64>,
    window: (f64, f64),
    played: u64,
}

impl Tape {
    pub fn new(tracks: BTreeMap<BodyKey, Track>, rate_hz: f64, time_s: f64, strict: bool, played: u64) -> Self {
        Self {
            tracks,
            poses: VecDeque::new(),
            kept: VecDeque::new(),
            rate_hz,
            begin_s: time_s,
            end_s: time_s,
            playhead_s: time_s,
            following: true,
            sounding: false,
            strict,
            debt_s: 0.0,
            factor: None,
            window: (0.0, 0.0),
            played,
        }
    }

    /// Between two pictures, in s, for so many vertices.
    pub fn picture_every_s(vertices: usize) -> f64 {
        PICTURE_S.max(6.0 * vertices as f64 / PICTURE_RATE)
    }

    pub fn hear(&mut self, body: BodyKey, time_s: f64, samples: &[f32]) {
        let rate_hz = self.rate_hz;
        if let Some(track) = self.tracks.get_mut(&body) {
            track.hear(time_s, samples, rate_hz);
        }
    }

    pub fn see(&mut self, body: BodyKey, time_s: f64, positions: &[[f32; 3]]) {
        if let Some(track) = self.tracks.get_mut(&body).filter(|t| t.rest.positions.len() <= MAX_VERTICES)
            && let Some(picture) = Picture::of(time_s, &track.rest.positions, positions)
        {
            track.pictures.push_back(picture);
        }
    }

    pub fn keep(&mut self, time_s: f64, motion: Motion, bytes: usize) {
        self.kept.push_back(Kept { time_s, motion, bytes });
    }

    /// The simulation has come so far, in so much time of ours.
    pub fn simulated(&mut self, until_s: f64, wall_s: f64) {
        self.window = (self.window.0 + (until_s - self.end_s).max(0.0), self.window.1 + wall_s);
        self.end_s = self.end_s.max(until_s);
        if self.window.1 >= WINDOW_S {
            self.factor = Some(self.window.0 / self.window.1);
            self.window = (0.0, 0.0);
        }
        self.shorten();
    }

    fn bytes(&self) -> usize {
        let poses: usize = self.poses.iter().map(|(_, rows)| 32 + 40 * rows.len()).sum();
        self.tracks.values().map(Track::bytes).sum::<usize>() + poses + self.kept.iter().map(|k| k.bytes).sum::<usize>()
    }

    /// Takes the oldest off until it fits.
    fn shorten(&mut self) {
        while self.end_s - self.begin_s > LONGEST_S || (self.bytes() > MAX_BYTES && self.end_s > self.begin_s) {
            self.begin_s = (self.begin_s + 1.0).min(self.end_s);
            let (begin_s, rate_hz) = (self.begin_s, self.rate_hz);
            self.tracks.values_mut().for_each(|track| track.cut_before(begin_s, rate_hz));
            while self.poses.len() > 1 && self.poses[1].0 <= begin_s {
                self.poses.pop_front();
            }
            self.kept.retain(|kept| kept.time_s >= begin_s);
            self.playhead_s = self.playhead_s.max(begin_s);
        }
    }

    /// Goes to a time that has been simulated.
    pub fn seek(&mut self, time_s: f64) {
        self.playhead_s = time_s.clamp(self.begin_s, self.end_s);
        self.following = self.playhead_s >= self.end_s;
        self.sounding = false;
    }

    /// Forgets what came after the last snapshot that is not later than the playhead, and gives it.
    pub fn branch(&mut self) -> Option<Motion> {
        let count = self.kept.partition_point(|kept| kept.time_s <= self.playhead_s + 1e-9).max(1);
        self.kept.truncate(count);
        let kept = self.kept.back()?;
        let (time_s, motion, rate_hz) = (kept.time_s, kept.motion.clone(), self.rate_hz);
        self.tracks.values_mut().for_each(|track| track.cut_after(time_s, rate_hz));
        self.poses.retain(|(at_s, _)| *at_s <= time_s + 1e-9);
        (self.end_s, self.playhead_s, self.following, self.sounding) = (time_s, time_s, true, false);
        Some(motion)
    }

    /// Plays on until so many frames have been rendered.
    pub fn play(&mut self, frames: u64, playing: bool, speed: f64) {
        let passed = frames.saturating_sub(self.played) as f64 / self.rate_hz;
        self.played = frames;
        if !playing || passed <= 0.0 {
            self.sounding &= playing;
            return;
        }
        let wanted_s = passed.min(0.25) * speed;
        let left_s = self.end_s - self.playhead_s;
        if self.following && !self.sounding {
            let keeps_up = self.factor.is_none_or(|f| f >= 0.98) && speed == 1.0;
            if !keeps_up {
                self.playhead_s = self.end_s;
            } else if self.factor.is_some() && left_s >= 2.0 * AHEAD_S {
                self.begin_sound();
            }
            return;
        }
        if !self.sounding {
            self.begin_sound();
        }
        let step_s = wanted_s.min(left_s);
        if speed == 1.0 {
            let count = (step_s * self.rate_hz).round() as usize;
            for track in self.tracks.values_mut() {
                let samples = track.samples(self.playhead_s, count, self.rate_hz);
                track.writer.write(&samples);
            }
        }
        self.playhead_s += step_s;
        if step_s < wanted_s {
            (self.following, self.sounding) = (true, false);
        }
    }

    /// The sound card has some silence in store, so that a late frame leaves no gap.
    fn begin_sound(&mut self) {
        self.sounding = true;
        let silence = vec![0.0; (AHEAD_S * self.rate_hz) as usize];
        for track in self.tracks.values_mut() {
            track.writer.write(&silence);
        }
    }

    /// Rigid bodies as they were at the playhead; none at the end, where they are what they are.
    pub fn replayed(&self) -> Option<&[PoseRow]> {
        if self.following && self.playhead_s >= self.end_s {
            return None;
        }
        let after = self.poses.partition_point(|(time_s, _)| *time_s <= self.playhead_s + 1e-9);
        self.poses.get(after.saturating_sub(1)).map(|(_, rows)| rows.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each coordinate is off by at most half a step, and the step is the largest displacement beside the common one in 32767 parts.
    #[test]
    fn a_picture_is_exact_to_half_a_step() {
        let mut noise = eigentone_core::Noise::new(3);
        let mut point = |size: f64| Vec3::new(noise.uniform(), noise.uniform(), noise.uniform()) * size;
        let rest: Vec<Vec3> = (0..500).map(|_| point(0.1)).collect();
        let moved: Vec<Vec3> = rest.iter().map(|r| *r + Vec3::new(3.0, -2.0, 10.0) + point(0.01)).collect();
        let given: Vec<[f32; 3]> = moved.iter().map(|p| p.as_vec3().to_array()).collect();
        let picture = Picture::of(0.0, &rest, &given).unwrap();
        assert!(picture.step_m < 0.01 / 32767.0 * 1.01);
        for ((r, p), q) in rest.iter().zip(&given).zip(&picture.moved) {
            for k in 0..3 {
                let drawn = r[k] + f64::from(picture.offset[k]) + f64::from(picture.step_m) * f64::from(q[k]);
                // Half a step, and the rounding of positions of ten metres to f32.
                assert!((drawn - f64::from(p[k])).abs() <= 0.5 * f64::from(picture.step_m) + 1e-6);
            }
        }
        assert!(Picture::of(0.0, &rest, &given[1..]).is_none());
    }
}
