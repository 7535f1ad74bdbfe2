//! From pascals to the numbers of a sound file.

use eigentone_core::units::Decibels;

/// The pressure that full scale stands for, in Pa: 120 dB above 20 µPa. Loud enough for a hammer on an anvil, and 24 bits still reach
/// the threshold of hearing.
pub use eigentone_world::FULL_SCALE_PA;

/// How loud a sound file is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// The peak is at this level re full scale; above full scale it is turned down to −1 dBFS.
    Normalised(Decibels),
    /// Full scale is [`FULL_SCALE_PA`] at one metre, times this gain. A sound that would clip is turned down to −1 dBFS.
    Physical(Decibels),
}

/// What was done to reach the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levelled {
    /// Gain from pascals (in units of full scale) to the file, in dB.
    pub gain: Decibels,
    /// Whether the sound had to be turned down so as not to clip.
    pub turned_down: bool,
}

/// Scales several sounds by one common gain.
pub fn apply(level: Level, sounds: &mut [&mut [f32]]) -> Levelled {
    let peak = sounds.iter().flat_map(|s| s.iter()).fold(0.0, |a: f32, b| a.max(b.abs()));
    let levelled = of_peak(level, f64::from(peak));
    let gain = levelled.gain.amplitude();
    for sample in sounds.iter_mut().flat_map(|s| s.iter_mut()) {
        *sample = (f64::from(*sample) * gain / FULL_SCALE_PA) as f32;
    }
    levelled
}

/// What is to be done with a sound whose loudest sample is this, in Pa.
pub fn of_peak(level: Level, peak_pa: f64) -> Levelled {
    let peak = peak_pa / FULL_SCALE_PA;
    let (gain, turned_down) = match level {
        _ if peak == 0.0 => (1.0, false),
        Level::Normalised(to) if to.get() > 0.0 => (Decibels(-1.0).amplitude() / peak, true),
        Level::Normalised(to) => (to.amplitude() / peak, false),
        Level::Physical(gain) if gain.amplitude() * peak > 1.0 => (Decibels(-1.0).amplitude() / peak, true),
        Level::Physical(gain) => (gain.amplitude(), false),
    };
    Levelled { gain: Decibels::from_amplitude(gain), turned_down }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sounds_keep_their_relation_and_never_clip() {
        let (mut a, mut b) = (vec![0.5f32, -1.0], vec![0.25f32]);
        apply(Level::Normalised(Decibels(-6.0)), &mut [&mut a, &mut b]);
        assert!((f64::from(a[1].abs()) - Decibels(-6.0).amplitude()).abs() < 1e-6);
        assert!((b[0] / a[0] - 0.5).abs() < 1e-6);

        let mut loud = vec![100.0f32];
        let done = apply(Level::Physical(Decibels(0.0)), &mut [&mut loud]);
        assert!(done.turned_down && loud[0] < 1.0);
        let mut soft = vec![2.0f32];
        let done = apply(Level::Physical(Decibels(0.0)), &mut [&mut soft]);
        assert!(!done.turned_down && (soft[0] - 0.1).abs() < 1e-7);
        let mut silent = vec![0.0f32; 3];
        apply(Level::Normalised(Decibels(-3.0)), &mut [&mut silent]);
        assert_eq!(silent, [0.0; 3]);
    }
}
