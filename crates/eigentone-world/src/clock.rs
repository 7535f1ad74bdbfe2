//! Two clocks: the game's, which stutters, and the audio side's, which counts samples.
//!
//! Audio time is game time plus an offset, `audio = a₀ + (game − g₀)/speed`. After each advance the end of what was simulated should be heard one latency from now; the offset slews towards that
//! by at most half a percent of the time that passed, which nobody hears, and jumps after gaps of 100 ms. What would come too late is shifted as a group, so that the spacing of its
//! events is kept.

use crate::settings::Timing;

/// Largest change of the offset, as a share of the time that passed.
const SLEW: f64 = 0.005;

/// A longer gap is jumped over, in s.
const GAP_S: f64 = 0.1;

/// Errors below this are left alone, in s: the audio clock moves in blocks of the host.
const DEAD_S: f64 = 0.002;

/// From game time to audio time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameClock {
    timing: Timing,
    /// A pair of times that belong together.
    game_s: f64,
    audio_s: f64,
    /// Seconds of game time per second of audio.
    speed: f64,
    started: bool,
    /// Whether game time has stood still since it was told last.
    stood: bool,
    /// Groups of events that came too late and were shifted.
    pub late_frames: u64,
    /// Gaps that were jumped over.
    pub jumps: u64,
}

impl GameClock {
    pub fn new(timing: Timing) -> Self {
        Self { timing, game_s: 0.0, audio_s: 0.0, speed: 1.0, started: false, stood: false, late_frames: 0, jumps: 0 }
    }

    /// When something is heard that happens at a game time, in s of audio time.
    pub fn audio_s(&self, game_s: f64) -> f64 {
        self.audio_s + (game_s - self.game_s) / self.speed
    }

    /// Samples per second of game time, and the sample of game time zero.
    pub fn mapping(&self, rate_hz: f64) -> (f64, f64) {
        let per_game_s = rate_hz / self.speed;
        (per_game_s, self.audio_s * rate_hz - self.game_s * per_game_s)
    }

    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// From a game time on, time passes at this speed.
    pub fn set_speed(&mut self, speed: f64, game_s: f64) {
        (self.audio_s, self.game_s) = (self.audio_s(game_s), game_s);
        self.speed = speed;
    }

    /// Time stood still: the next that is told is as the first.
    pub fn restart(&mut self) {
        self.started = false;
    }

    /// Game time stands still while sound goes on: what happens next is heard from where the sound has come to by then.
    pub fn stand(&mut self) {
        self.stood = true;
    }

    /// Game time goes on from elsewhere, and is heard as what would have come next.
    pub fn set_game_time(&mut self, from_s: f64, to_s: f64) {
        (self.audio_s, self.game_s) = (self.audio_s(from_s), to_s);
    }

    /// From motion to sound, in s, before the latency of the device.
    pub fn latency_s(&self, host_block_s: f64) -> f64 {
        match self.timing {
            Timing::Live { latency_s } => latency_s + host_block_s,
            Timing::Offline => 0.0,
        }
    }

    /// The game is about to tell what happens from `begin_s` to `end_s` of its time, and the audio side has come to `now_s` of its own.
    pub fn tell(&mut self, begin_s: f64, end_s: f64, now_s: f64, host_block_s: f64) {
        let stood = std::mem::take(&mut self.stood);
        if self.timing == Timing::Offline {
            let late_s = now_s - self.audio_s(begin_s);
            self.audio_s += if stood { late_s.max(0.0) } else { 0.0 };
            return;
        }
        let wanted_s = now_s + self.latency_s(host_block_s);
        let error_s = wanted_s - self.audio_s(end_s);
        if !self.started || error_s.abs() > GAP_S {
            self.jumps += u64::from(self.started);
            self.started = true;
            (self.game_s, self.audio_s) = (end_s, wanted_s);
        } else if error_s.abs() > DEAD_S {
            let max_s = SLEW * (end_s - begin_s).max(0.0) / self.speed;
            self.audio_s += error_s.clamp(-max_s, max_s);
        }
        let late_s = now_s - self.audio_s(begin_s);
        if late_s > 0.0 {
            self.late_frames += 1;
            self.audio_s += late_s;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> GameClock {
        GameClock::new(Timing::Live { latency_s: 0.03 })
    }

    /// Clocks that differ by a tenth of a percent stay together without a jump, and the offset never moves faster than half a percent.
    #[test]
    fn clocks_that_drift_are_kept_together() {
        let mut clock = live();
        let (mut game_s, frame_s) = (5.0, 1.0 / 60.0);
        let mut last = None;
        for frame in 0..3600 {
            let now_s = 1.001 * frame as f64 * frame_s;
            clock.tell(game_s, game_s + frame_s, now_s, 0.0);
            let begin = clock.audio_s(game_s);
            if let Some(end) = last {
                let shift: f64 = begin - end;
                assert!(shift.abs() <= SLEW * frame_s + 1e-12, "{shift}");
            }
            assert!(begin >= now_s);
            game_s += frame_s;
            last = Some(clock.audio_s(game_s));
        }
        assert_eq!((clock.jumps, clock.late_frames), (0, 0));
        assert!((clock.audio_s(game_s) - 1.001 * 3600.0 * frame_s - 0.03).abs() < 0.02);
    }

    /// A pause of half a second is a jump; a hiccup that eats the latency shifts the whole group and keeps its spacing.
    #[test]
    fn gaps_are_jumped_over_and_late_groups_stay_together() {
        let mut clock = live();
        clock.tell(0.0, 0.016, 0.0, 0.0);
        clock.tell(0.016, 0.032, 0.5, 0.0);
        assert_eq!((clock.jumps, clock.late_frames), (1, 0));
        assert!((clock.audio_s(0.032) - 0.53).abs() < 1e-9);
        clock.tell(0.032, 0.048, 0.56, 0.0);
        assert_eq!((clock.jumps, clock.late_frames), (1, 1));
        assert!(clock.audio_s(0.032) >= 0.56);
        assert!((clock.audio_s(0.048) - clock.audio_s(0.032) - 0.016).abs() < 1e-12);
    }

    /// Rendered in turns, what happens after a pause of two seconds is heard two seconds later than it would have been, and nothing else is ever shifted.
    #[test]
    fn a_pause_in_turns_shifts_what_comes_after_it() {
        let mut clock = GameClock::new(Timing::Offline);
        clock.tell(1.0, 1.1, 5.0, 0.0);
        assert_eq!(clock.audio_s(1.1), 1.1);
        clock.stand();
        clock.tell(1.5, 1.6, 3.5, 0.0);
        assert_eq!(clock.audio_s(1.5), 3.5);
        clock.tell(1.6, 1.7, 9.0, 0.0);
        assert_eq!(clock.audio_s(1.5), 3.5);
    }

    /// At half speed a second of the game takes two of sound, from where it was.
    #[test]
    fn slow_motion_stretches_time_from_now_on() {
        let mut clock = GameClock::new(Timing::Offline);
        clock.set_speed(0.5, 1.0);
        assert_eq!((clock.audio_s(1.0), clock.audio_s(2.0)), (1.0, 3.0));
        let (per_s, at_zero) = clock.mapping(1000.0);
        assert_eq!(2.0 * per_s + at_zero, 3000.0);
    }
}
